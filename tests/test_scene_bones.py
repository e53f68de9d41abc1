"""Bones and joint spheres: where they are, how thick, which colour says what, at any scale and in any direction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from figures import JOINTS, nameless, person
from hypothesis import given, strategies as st
from inside.scene import SIDES, look_of
from inside.spatial import from_axis_angle, multiply
from rigs import chain
from scenes import SCALES, biped, random_scene, seen, standing
from strategies import directions, seeds

from viewer.scene import PALETTE, Ghost, Scene, cell_of, draw_list, facing, figure_height, floor_of
from viewer.skeleton import Character, Pose, fk

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.skeleton import Skeleton

UNIT = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.12, 0.0], [0.0, 0.12, 1.0], [-1.0, 0.12, 0.0]])


def drawn(frame: Floats) -> Floats:
    """Where a record puts head, tail and three corners of the belt."""
    matrix = np.asarray(frame, dtype=np.float64)
    return UNIT @ matrix[:, :3].T + matrix[:, 3]


def one_bone(direction: Floats, length: float = 0.3, turn: Floats | None = None) -> Scene:
    skeleton = replace(chain(1), tip_offsets=(length * direction)[None])
    pose = skeleton.rest_pose()
    if turn is not None:
        pose = Pose(turn[None], pose.translations)
    return Scene(skeleton, fk(skeleton, pose))


@given(directions(), st.sampled_from([1e-4, 0.3, 100.0]))
def test_a_bone_reaches_from_head_to_tail_in_every_direction(direction: Floats, length: float) -> None:
    scene = one_bone(direction, length)
    (record,) = draw_list(scene, seen(scene)).bones
    head, tail, *belt = drawn(record["frame"])
    size = np.abs(direction * length).max()
    np.testing.assert_allclose(head, 0.0, atol=1e-6 * size)
    np.testing.assert_allclose(tail, direction * length, atol=1e-6 * size)
    middle = head + 0.12 * (tail - head)
    radii = np.linalg.norm(belt - middle, axis=1)
    np.testing.assert_allclose(radii, radii[0], rtol=1e-5)
    np.testing.assert_allclose((belt - middle) @ direction, 0.0, atol=1e-6 * length)
    np.testing.assert_allclose(belt[0] - middle, -(belt[2] - middle), atol=1e-6 * length)
    assert np.linalg.det(record["frame"][:, :3].astype(np.float64)) > 0.0, "no mirror image"


def test_a_twist_of_the_joint_turns_the_belt() -> None:
    up = np.array([0.0, 1.0, 0.0])
    still, twisted = (
        drawn(draw_list(scene, seen(scene)).bones[0]["frame"])[2]
        for scene in (one_bone(up), one_bone(up, turn=from_axis_angle(up, 0.4)))
    )
    angle = np.arccos(np.clip(still[[0, 2]] @ twisted[[0, 2]] / (still[[0, 2]] @ still[[0, 2]]), -1.0, 1.0))
    assert angle == pytest.approx(0.4, abs=1e-4)


def test_radii_by_hand() -> None:
    """H = 1: 0.12 of the length, between 0.0085 and 0.025."""
    skeleton = replace(
        chain(4), offsets=np.array([(0, 0, 0), (0, 0.70, 0), (0, 0.15, 0), (0, 0.05, 0)]),
        tip_offsets=np.array([[0, 0.10, 0]]),
    )  # fmt: skip
    scene = Scene(skeleton, fk(skeleton, skeleton.rest_pose()))
    drawing = draw_list(scene, seen(scene))
    radii = np.linalg.norm(drawing.bones["frame"][:, :, 0], axis=1)
    np.testing.assert_allclose(radii, [0.025, 0.018, 0.0085, 0.012], rtol=1e-5)
    np.testing.assert_allclose(drawing.spheres["radius"], 0.62 * np.array([0.025, 0.025, 0.018, 0.012]), rtol=1e-5)
    assert drawing.ground.height == pytest.approx(1.0)


@pytest.mark.parametrize("factor", SCALES)
def test_a_figure_looks_the_same_at_any_scale(factor: float) -> None:
    """Same pixels, and metres in proportion."""
    plain, large = standing(biped()), standing(biped(factor))
    one, other = draw_list(plain, seen(plain)), draw_list(large, seen(large))
    np.testing.assert_allclose(other.bones["frame"], factor * one.bones["frame"], rtol=1e-4, atol=1e-6 * factor)
    np.testing.assert_allclose(other.spheres["radius"], factor * one.spheres["radius"], rtol=1e-4)
    np.testing.assert_allclose(other.flat["position"], one.flat["position"], atol=1e-2)
    assert other.ground.height == pytest.approx(factor * one.ground.height)


def test_bones_of_no_length_are_none_and_their_joints_are_one_sphere() -> None:
    offsets = np.array([(0, 0, 0), (0, 0, 0), (0, 1, 0), (0, 1e-7, 0), (1, 0, 0)], dtype=float)
    skeleton = replace(chain(5), offsets=offsets)
    scene = Scene(skeleton, fk(skeleton, skeleton.rest_pose()), selected=frozenset([3]))
    drawing = draw_list(scene, seen(scene))
    assert len(drawing.bones) == 3, "1 to 2, 3 to 4 and the tip"
    np.testing.assert_allclose(drawing.spheres["centre"], [(0, 0, 0), (0, 1, 0), (1, 1, 0)], atol=1e-6)
    chosen = np.abs(drawing.spheres["colour"][:, :3] - PALETTE["accent"]).max(axis=1) < 1e-6
    assert chosen.tolist() == [False, True, False], "a place is selected if any joint there is"


def test_twins_that_hang_at_one_place_are_one_sphere() -> None:
    skeleton = replace(
        chain(3), parents=np.array([-1, 0, 0]), offsets=np.array([(0, 0, 0), (0, 1, 0), (0, 1, 0)], dtype=float)
    )
    scene = Scene(skeleton, fk(skeleton, skeleton.rest_pose()))
    assert len(draw_list(scene, seen(scene)).spheres) == 2


def test_states_of_bones_by_hand() -> None:
    scene = standing(biped())
    arm, leg, head = (scene.skeleton.index(name) for name in ("LeftArm", "LeftLeg", "Head"))
    scene = replace(scene, selected=frozenset([arm]), at_limit=frozenset([leg]), hovered=head)
    drawing = draw_list(scene, seen(scene), scale=2.0)
    look = look_of(scene.skeleton)
    left, accent, limit = (np.array(PALETTE[name]) for name in ("left", "accent", "limit"))
    bone = {owner: drawing.bones[row] for row, owner in enumerate(look.owners.tolist())}
    np.testing.assert_allclose(bone[arm]["colour"], [*(0.45 * left + 0.55 * accent), 1.0], atol=1e-6)
    np.testing.assert_allclose(bone[arm]["outline"], [*accent, 4.4], atol=1e-6)
    np.testing.assert_allclose(bone[leg]["colour"], [*(0.62 * left + 0.38 * limit), 1.0], atol=1e-6)
    np.testing.assert_allclose(bone[head]["outline"], [*PALETTE["hovered"], 3.0], atol=1e-6)
    sphere = drawing.spheres
    np.testing.assert_allclose(sphere["colour"][leg, :3], limit, atol=1e-6)
    plain = draw_list(standing(biped()), seen(scene)).spheres
    assert sphere["radius"][leg] / plain["radius"][leg] == pytest.approx(1.15, rel=1e-5)
    assert sphere["radius"][arm] / plain["radius"][arm] == pytest.approx(1.12, rel=1e-5)
    np.testing.assert_allclose(plain["colour"][leg, :3], 0.8 * left, atol=1e-6)
    assert (sphere["least_px"] == 5.0).all()


def test_stretched_bones_are_dashed() -> None:
    scene = standing(biped())
    leg = scene.skeleton.index("LeftLeg")
    scene = replace(scene, stretched=frozenset([leg]))
    dashed = draw_list(scene, seen(scene)).bones["dashed"]
    assert np.flatnonzero(dashed).tolist() == np.flatnonzero(look_of(scene.skeleton).children == leg).tolist()


def mirrored(skeleton: Skeleton) -> list[int]:
    """Of each joint the one on the other side."""
    swap = {"Left": "Right", "Right": "Left"}
    return [
        skeleton.index(next((swap[side] + name[len(side) :] for side in swap if name.startswith(side)), name))
        for name in skeleton.names
    ]


def test_a_symmetric_figure_has_a_symmetric_drawing() -> None:
    scene = standing(biped())
    drawing = draw_list(scene, seen(scene, "front"))
    other = mirrored(scene.skeleton)
    np.testing.assert_allclose(
        drawing.spheres["centre"][other], drawing.spheres["centre"] * (-1.0, 1.0, 1.0), atol=1e-6
    )
    np.testing.assert_allclose(drawing.spheres["radius"][other], drawing.spheres["radius"], rtol=1e-6)
    corners = np.array([[1, 0.12, 0], [0, 0.12, 1], [-1, 0.12, 0], [0, 0.12, -1], [0, 1, 0], [0, 0, 0]])
    shapes = [corners @ frame[:, :3].T + frame[:, 3] for frame in drawing.bones["frame"].astype(np.float64)]
    reflected = [shape * (-1.0, 1.0, 1.0) for shape in shapes]
    for shape in reflected:
        apart = [np.linalg.norm(shape[:, None] - twin[None], axis=2).min(axis=1).max() for twin in shapes]
        assert min(apart) < 1e-6
    pixels = drawing.flat["position"].astype(np.float64)
    there = {tuple(row) for row in np.rint(pixels * 4.0).astype(int).tolist()}
    back = (seen(scene, "front").size[0] - pixels[:, 0], pixels[:, 1])
    near = np.rint(np.stack(back, axis=1) * 4.0).astype(int)
    steps = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    assert len(near) > 1000
    assert all(any((x + dx, y + dy) in there for dx, dy in steps) for x, y in near.tolist())


@given(seeds, st.sampled_from(SCALES))
def test_nothing_drawn_is_ever_not_a_number(seed: int, factor: float) -> None:
    scene = random_scene(seed, 12, factor)
    scene = replace(scene, selected=frozenset(range(12)), display=replace(scene.display, names=True, axes=True))
    drawing = draw_list(scene, seen(scene))
    for records in (drawing.bones, drawing.spheres, drawing.lines, drawing.triangles, drawing.flat):
        for field in records.dtype.names or ():
            assert np.isfinite(records[field]).all(), field


def test_ghosts_are_faint_figures_with_a_label_above_the_head() -> None:
    scene = standing(biped())
    aside = replace(scene.world, positions=scene.world.positions + np.array([0.4, 0.0, 0.0]))
    scene = replace(scene, ghosts=(Ghost(aside, 0.15, "+12"), Ghost(aside, 0.08, "")))
    projection = seen(scene, "front")
    drawing = draw_list(scene, projection)
    assert len(drawing.ghosts) == 2 * len(drawing.bones)
    np.testing.assert_allclose(sorted(set(drawing.ghosts["colour"][:, 3].tolist())), [0.08, 0.15], rtol=1e-6)
    moved = drawing.bones["frame"] + np.array([[0, 0, 0, 0.4], [0] * 4, [0] * 4])
    np.testing.assert_allclose(drawing.ghosts["frame"][: len(drawing.bones)], moved, atol=1e-6)
    (label,) = drawing.texts
    head = projection.project(aside.positions[scene.skeleton.index("Head")])
    assert label.text == "+12"
    assert label.x == pytest.approx(head[0], abs=3.0)
    assert label.y < head[1]


@pytest.mark.parametrize(("height", "cell"), [(1.75, 0.1), (0.002, 1e-4), (100.0, 10.0), (0.8, 0.1), (8.0, 1.0)])
def test_cells_of_the_grid_by_hand(height: float, cell: float) -> None:
    assert cell_of(height) == pytest.approx(cell)


def test_sides_are_read_from_names_else_from_the_shape() -> None:
    expected = ["left" if "Left" in name else "right" if "Right" in name else "centre" for name in JOINTS]
    for skeleton in (person(20.0), nameless(person(20.0))):
        assert [SIDES[side] for side in look_of(skeleton).sides.tolist()] == expected


@pytest.mark.parametrize(
    ("names", "sides"),
    [
        (["base", "l1", "l2", "l3"], ["centre"] * 4),  # the links of an arm
        (["base", "l1", "r1", "x"], ["centre", "left", "right", "right"]),
        (["LeftArm", "LeftForeArm", "x", "LeftHand"], ["left"] * 4),
    ],
)
def test_a_letter_is_a_side_where_there_is_another_side_or_a_part_of_the_body(
    names: list[str], sides: list[str]
) -> None:
    skeleton = replace(chain(4), names=tuple(names))
    assert [SIDES[side] for side in look_of(skeleton).sides.tolist()] == sides


def test_facing_follows_the_hips() -> None:
    skeleton = person()
    np.testing.assert_allclose(facing(skeleton), (0.0, 0.0, 1.0), atol=1e-9)
    for angle in (-2.0, 0.7, 3.0):
        pose = skeleton.rest_pose()
        turned = pose.rotations.copy()
        turned[0] = multiply(from_axis_angle((0.0, 1.0, 0.0), angle), turned[0])
        world = fk(skeleton, Pose(turned, pose.translations))
        np.testing.assert_allclose(facing(skeleton, world), (np.sin(angle), 0.0, np.cos(angle)), atol=1e-9)
    np.testing.assert_allclose(facing(chain(3)), (0.0, 0.0, 1.0))


def test_height_and_floor() -> None:
    skeleton = person()
    assert figure_height(skeleton) == pytest.approx(1.75, abs=0.2)
    assert figure_height(chain(3)) == pytest.approx(1.0), "flat: the largest side"
    assert floor_of(skeleton) == 0.0
    sunk = replace(skeleton, offsets=skeleton.offsets - np.where(np.arange(len(skeleton)) == 0, 0.95, 0.0)[:, None])
    assert floor_of(Character(sunk)) == pytest.approx(-0.95 + floor_gap(skeleton))


def floor_gap(skeleton: Skeleton) -> float:
    """How far above 0 the lowest place is."""
    world = fk(skeleton, skeleton.rest_pose())
    tips = world.positions[skeleton.tip_parents] + skeleton.tip_offsets
    return float(min(world.positions[:, 1].min(), tips[:, 1].min()))
