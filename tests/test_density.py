"""Where a clip takes a bone: patches on the sphere of its directions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from inside.document import Select
from inside.scene import CONE_LENGTH, density_of, limited_joint
from ui_person import Person

import viewer
from viewer.document import Item
from viewer.scene import Camera, Display, Scene, draw_list
from viewer.skeleton import Builder, Clip

WALK = viewer.load("sample:walk")
SKELETON, CLIP = WALK.skeleton, next(iter(WALK.clips.values()))
SEEN = Camera(np.array((0.0, 1.0, 0.0)), distance=4.0).projection((800, 600))
CELL = 0.06


@pytest.mark.parametrize("joint", ["LeftUpLeg", "RightArm", "LeftLeg", "Spine1"])
def test_every_frame_is_in_a_patch_and_every_patch_has_a_frame(joint: str) -> None:
    index = SKELETON.index(joint)
    found = density_of(SKELETON, CLIP, index)
    assert found is not None
    assert found.shares.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(np.linalg.norm(found.ways, axis=1), 1.0)
    child = SKELETON.parents.tolist().index(index)
    parent = int(SKELETON.parents[index])
    ways = []
    for frame in range(len(CLIP)):
        world = viewer.fk(SKELETON, CLIP.pose(frame))
        rest = viewer.quaternions.multiply(world.rotations[parent], SKELETON.rest_rotations[index])
        way = world.positions[child] - world.positions[index]
        ways.append(viewer.quaternions.rotate(viewer.quaternions.conjugate(rest), way / np.linalg.norm(way)))
    apart = np.linalg.norm(np.array(ways)[:, None] - found.ways[None], axis=2)
    assert apart.min(axis=1).max() < CELL * np.sqrt(3.0)
    assert apart.min(axis=0).max() < CELL * np.sqrt(3.0)


def test_a_long_clip_is_sampled() -> None:
    index = SKELETON.index("LeftUpLeg")
    rotations = np.concatenate([CLIP.rotations] * 120)
    translations = np.concatenate([CLIP.translations] * 120)
    long = Clip("long", CLIP.frame_time, rotations, CLIP.translated, translations, CLIP.offsets)
    found = density_of(SKELETON, long, index)
    assert found is not None
    assert found.shares.min() >= 1.0 / 3000.0 - 1e-12


def test_patches_are_drawn_where_the_rim_is_while_ranges_are_shown() -> None:
    index = SKELETON.index("LeftUpLeg")
    found = density_of(SKELETON, CLIP, index)
    assert found is not None
    world = viewer.fk(SKELETON, CLIP.pose(0))
    scene = Scene(SKELETON, world, selected=frozenset([index]), display=Display(limits="selected"))
    without = len(draw_list(scene, SEEN).triangles)
    painted = draw_list(replace(scene, densities={index: found}), SEEN).triangles
    assert len(painted) == without + 6 * len(found.ways)
    far = np.linalg.norm(painted["position"][-6 * len(found.ways) :] - world.positions[index], axis=1)
    radius = CONE_LENGTH * limited_joint(SKELETON, index).length
    assert np.abs(far / radius - 1.0).max() < 0.01
    hidden = replace(scene, densities={index: found}, display=Display(limits="none"))
    assert len(draw_list(hidden, SEEN).triangles) == 0


def test_what_cannot_be_painted_is_not() -> None:
    assert density_of(viewer.load("sample:two-link").skeleton, CLIP, 0) is None  # a clip of other joints
    free = Builder().add("a").add("b", "a", (0.0, 1.0, 0.0)).skeleton
    rotations = np.tile([0.0, 0.0, 0.0, 1.0], (3, len(free), 1))
    clip = Clip("c", 0.1, rotations, np.zeros(0, dtype=np.intp), np.zeros((3, 0, 3)), free.offsets)
    assert density_of(free, clip, 0) is None  # no limits


def test_the_joint_selected_last_is_painted() -> None:
    person = Person(WALK)
    assert person.controller.scene().densities == {}
    person.controller.session.dispatch(Select((Item("joint", "LeftUpLeg"), Item("joint", "RightArm"))))
    assert list(person.controller.scene().densities) == [SKELETON.index("RightArm")]
    still = Person()  # no clip
    still.controller.session.dispatch(Select((Item("joint", "LeftUpLeg"),)))
    assert still.controller.scene().densities == {}
