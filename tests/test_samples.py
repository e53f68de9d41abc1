"""The bundled skeletons: loaded by the real loader, inside their limits, symmetric, standing, made by their scripts."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from conftest import ROOT
from inside.formats import sample_names
from inside.skeleton import joint_space
from inside.spatial import angle_between
from sample_poses import bent, place, skeleton_of, tips

from viewer import load
from viewer.errors import InputError
from viewer.skeleton import EffectorGoal, JointKind, Pose, fk, limit_violation, project_pose

if TYPE_CHECKING:
    from pathlib import Path


SKELETONS = ["biped", "biped-hands", "claw-arm", "piston", "quadruped", "raptor", "serpent", "two-link"]
SIDED = ["biped", "biped-hands", "quadruped", "raptor"]
REFLECTION = np.array([-1.0, 1.0, 1.0])
REFLECTED_TURN = np.array([1.0, -1.0, -1.0, 1.0])

# Joints by file: the numbers the issue and other tests speak of.
JOINTS = {"biped": 22, "biped-hands": 52, "claw-arm": 13, "piston": 7, "quadruped": 32, "raptor": 54, "serpent": 25,
          "two-link": 2}  # fmt: skip


def test_all_samples_are_bundled() -> None:
    assert set(sample_names()) == {*SKELETONS, "walk"}


@pytest.mark.parametrize("name", SKELETONS)
def test_each_loads_without_a_warning(name: str) -> None:
    character = load(f"sample:{name}")
    assert character.warnings == ()
    assert character.skeleton.name == name
    assert len(character.skeleton) == JOINTS[name]
    assert (character.source.units, character.source.up, character.source.license) == ("m", "y", "CC0-1.0")
    assert character.limits_from == "file"


@pytest.mark.parametrize("name", SKELETONS)
def test_each_has_effectors_that_are_on(name: str) -> None:
    effectors = skeleton_of(name).effectors
    assert any(effector.goal is not EffectorGoal.OFF for effector in effectors)
    assert len({effector.name for effector in effectors}) == len(effectors)


@pytest.mark.parametrize("name", SKELETONS)
def test_only_roots_and_fixed_joints_are_unlimited(name: str) -> None:
    skeleton = skeleton_of(name)
    unlimited = {JointKind.FREE, JointKind.FIXED}
    assert all(
        (limits is None) == (kind in unlimited) for kind, limits in zip(skeleton.kinds, skeleton.limits, strict=True)
    )
    space = joint_space(skeleton)
    ranged = [limits is not None for limits in skeleton.limits]
    wide = space.upper[ranged, 0] > space.lower[ranged, 0]
    assert wide.all()


@pytest.mark.parametrize("name", SKELETONS)
def test_rest_and_relaxed_are_inside_the_limits(name: str) -> None:
    skeleton = skeleton_of(name)
    assert limit_violation(skeleton, skeleton.rest_pose()).max() == 0.0
    assert set(skeleton.poses) == {"relaxed"}
    relaxed = skeleton.relaxed_pose()
    # The file keeps 7 decimals of a quaternion.
    assert limit_violation(skeleton, relaxed).max() < 1e-6
    held = project_pose(skeleton, relaxed)
    assert angle_between(held.rotations, relaxed.rotations).max() < 1e-6
    assert not relaxed.same_as(skeleton.rest_pose())


@pytest.mark.parametrize("name", SIDED)
def test_left_and_right_are_mirror_images(name: str) -> None:
    """Any pose inside the limits, seen in the mirror, is inside them too and stands where the mirror shows it."""
    skeleton = skeleton_of(name)
    other = [skeleton.index(_other_side(joint)) for joint in skeleton.names]
    assert sum(i != j for i, j in enumerate(other)) >= len(skeleton) // 2
    np.testing.assert_array_equal(skeleton.offsets[other], skeleton.offsets * REFLECTION)
    np.testing.assert_array_equal(skeleton.stiffness[other], skeleton.stiffness)
    space, rest = joint_space(skeleton), skeleton.rest_pose()
    lower, upper = (np.nan_to_num(bound, posinf=0.0, neginf=0.0) for bound in (space.lower, space.upper))
    generator = np.random.default_rng(7)
    for _ in range(20):
        values = generator.uniform(lower, upper)
        pose = Pose(*space.rebuild(values, rest.rotations, rest.translations))
        seen = Pose((pose.rotations * REFLECTED_TURN)[other], (pose.translations * REFLECTION)[other])
        assert limit_violation(skeleton, seen).max() < 1e-9
        expected = fk(skeleton, pose).positions[other] * REFLECTION
        np.testing.assert_allclose(fk(skeleton, seen).positions, expected, atol=1e-12)
        shown = sorted(map(tuple, np.round(tips(skeleton, pose) * REFLECTION, 9).tolist()))
        assert sorted(map(tuple, np.round(tips(skeleton, seen), 9).tolist())) == pytest.approx(np.array(shown))


@pytest.mark.parametrize(("name", "height"), [("biped", 1.75), ("biped-hands", 1.75), ("raptor", 1.175)])
def test_two_legged_ones_stand_on_the_floor_in_both_poses(name: str, height: float) -> None:
    skeleton = skeleton_of(name)
    rest, relaxed = tips(skeleton, skeleton.rest_pose()), tips(skeleton, skeleton.relaxed_pose())
    assert rest[:, 1].min() == pytest.approx(0.0, abs=1e-9)
    assert rest[:, 1].max() == pytest.approx(height, abs=1e-3)
    feet = rest[:, 1] < 0.05
    assert feet.sum() >= 4
    np.testing.assert_allclose(relaxed[feet], rest[feet], atol=2e-4)
    assert relaxed[~feet, 1].max() < rest[~feet, 1].max()


def test_the_quadruped_stands_on_four_paws() -> None:
    skeleton = skeleton_of("quadruped")
    low = tips(skeleton, skeleton.rest_pose())
    assert np.isclose(low[:, 1], 0.0, atol=1e-9).sum() == 4
    assert place(skeleton, skeleton.rest_pose(), "LeftScapula")[1] == pytest.approx(0.6)


def test_the_claw_closes_on_its_axis() -> None:
    skeleton = skeleton_of("claw-arm")
    closed = bent(skeleton, {f"finger_{name}{number}": (10.0,) for name in "abc" for number in (1, 2, 3)})
    opened, shut = (tips(skeleton, pose) for pose in (skeleton.rest_pose(), closed))
    assert np.hypot(opened[:, 0], opened[:, 2]) == pytest.approx(np.full(3, 0.045), abs=1e-4)
    assert (np.hypot(shut[:, 0], shut[:, 2]) < 0.5 * np.hypot(opened[:, 0], opened[:, 2])).all()
    assert [effector.name for effector in skeleton.effectors][:3] == ["claw_a", "claw_b", "claw_c"]
    assert skeleton.kinds[0] is JointKind.FIXED


def test_the_two_link_stays_in_its_plane() -> None:
    skeleton = skeleton_of("two-link")
    tip = tips(skeleton, bent(skeleton, {"shoulder": (90.0,), "elbow": (90.0,)}))[0]
    np.testing.assert_allclose(tip, [-0.8, 1.0, 0.0], atol=1e-12)


def test_the_piston_slides_out_by_its_ranges() -> None:
    skeleton = skeleton_of("piston")
    space, rest = joint_space(skeleton), skeleton.rest_pose()
    slides = [i for i, kind in enumerate(skeleton.kinds) if kind is JointKind.SLIDE]
    assert len(slides) == 3
    values = np.zeros((len(skeleton), 3))
    values[slides, 0] = space.upper[slides, 0]
    out = Pose(*space.rebuild(values, rest.rotations, rest.translations))
    moved = place(skeleton, out, "hook") - place(skeleton, rest, "hook")
    np.testing.assert_allclose(moved, [0.0, -6.0, 5.0], atol=1e-12)


def test_the_relaxed_serpent_lies_on_the_ground_with_its_head_up() -> None:
    skeleton = skeleton_of("serpent")
    world = fk(skeleton, skeleton.relaxed_pose()).positions
    assert skeleton.kinds.count(JointKind.BALL) == 24
    assert world[:, 1].min() == pytest.approx(0.03, abs=1e-6)
    assert world[skeleton.index("Head"), 1] > 0.2


def test_the_scripts_make_the_files_that_are_kept(tmp_path: Path) -> None:
    script = ROOT / "skeletons" / "source" / "make_samples.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, capture_output=True, env=environment)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted([*(f"{name}.json" for name in SKELETONS), "walk.bvh"])
    for name in made:
        assert (tmp_path / name).read_bytes() == (ROOT / "skeletons" / name).read_bytes(), name


def _other_side(name: str) -> str:
    for side, other in (("Left", "Right"), ("Right", "Left")):
        if name.startswith(side):
            return other + name.removeprefix(side)
    return name


def test_what_is_no_name_of_a_file_is_refused() -> None:
    with pytest.raises(InputError, match=r'^expected the name of a file, found "3"$'):
        load(3)  # type: ignore[arg-type]
