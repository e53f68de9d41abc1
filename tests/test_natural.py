"""Spreads: widest where people bend, narrow elsewhere, alike where nothing is known; and a start that stands near."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from figures import JOINTS, nameless, person, renamed
from inside.formats import skeleton_to_json
from inside.ik import REFERENCE, metric, spreads
from inside.skeleton import chain, with_rig
from inside.spatial import from_axis_angle, rotate

from viewer import load
from viewer.errors import ViewerError
from viewer.skeleton import Character, JointKind, JointLimits

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Floats

    from viewer.skeleton import Skeleton


def degrees(skeleton: Skeleton, name: str) -> Floats:
    return np.asarray(np.degrees(spreads(skeleton)[skeleton.index(name)]))


@pytest.mark.parametrize("name", ["LeftForeArm", "LeftLeg", "LeftFoot", "RightForeArm", "RightLeg", "RightFoot"])
def test_elbows_knees_and_ankles_are_wide_about_their_bending_axis_alone(name: str) -> None:
    bending = 1 if "Arm" in name else 0
    across = [axis for axis in range(3) if axis != bending]
    found = degrees(person(), name)
    assert found[bending] >= 1.99 * found[across].max()
    assert found[across].min() > 3.99
    assert found[across].max() < 8.01


def test_shoulders_and_hips_are_wide_and_the_joints_between_narrow() -> None:
    skeleton = person()
    wide = min(degrees(skeleton, name).max() for name in ("LeftArm", "LeftUpLeg"))
    for name in ("Spine", "Chest", "Neck", "Head", "LeftShoulder", "LeftHand"):
        assert degrees(skeleton, name).max() < 0.5 * wide
    assert degrees(skeleton, "Hips")[1] > 3.0 * degrees(skeleton, "Hips")[[0, 2]].max()


def test_left_and_right_are_alike_and_names_do_not_matter() -> None:
    skeleton = person()
    found = spreads(skeleton)
    for joint, name in enumerate(JOINTS):
        other = JOINTS.index(name.replace("Left", "X").replace("Right", "Left").replace("X", "Right"))
        np.testing.assert_allclose(found[joint], found[other], atol=1e-12)
    np.testing.assert_array_equal(spreads(nameless(skeleton)), found)


def test_a_spine_of_many_joints_bends_as_much_as_one_of_few() -> None:
    few, many = load("sample:biped").skeleton, person()
    for skeleton, joints in ((few, ("Spine", "Spine1", "Spine2")), (many, ("Spine", "Chest"))):
        bare = replace(skeleton, limits=(None,) * len(skeleton))
        total = np.sqrt(sum(degrees(bare, name)[0] ** 2 for name in joints))
        assert total == pytest.approx(15.0)


def test_turned_frames_turn_the_spreads_along() -> None:
    # A quarter turn about x of the knee's own frame: its y is then what its z was.
    skeleton = person()
    joint = skeleton.index("LeftLeg")
    turn = from_axis_angle((1.0, 0.0, 0.0), np.pi / 2)
    rest = skeleton.rest_rotations.copy()
    rest[joint] = turn
    offsets = skeleton.offsets.copy()
    foot = skeleton.index("LeftFoot")
    offsets[foot] = rotate(from_axis_angle((1.0, 0.0, 0.0), -np.pi / 2), offsets[foot])
    before = spreads(skeleton)[joint]
    after = spreads(replace(skeleton, rest_rotations=rest, offsets=offsets))[joint]
    np.testing.assert_allclose(after, before[[0, 2, 1]], atol=1e-12)


def test_hinges_and_universals_have_a_spread_per_coordinate() -> None:
    skeleton = person()
    kinds, axes = list(skeleton.kinds), skeleton.axes.copy()
    knee, elbow = skeleton.index("LeftLeg"), skeleton.index("LeftForeArm")
    kinds[knee], axes[knee, 0] = JointKind.HINGE, (1.0, 0.0, 0.0)
    kinds[elbow], axes[elbow] = JointKind.UNIVERSAL, ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    rigged = replace(skeleton, kinds=tuple(kinds), axes=axes)
    assert degrees(rigged, "LeftLeg")[0] == pytest.approx(degrees(skeleton, "LeftLeg")[0])
    np.testing.assert_allclose(degrees(rigged, "LeftForeArm")[:2], degrees(skeleton, "LeftForeArm")[:2])


def test_what_is_not_recognised_moves_alike() -> None:
    np.testing.assert_array_equal(spreads(chain(9)), np.full((9, 3), REFERENCE))
    np.testing.assert_array_equal(metric(chain(9)), np.ones((9, 3)))


def test_limits_narrow_and_never_lock_the_metric() -> None:
    links = chain(4)
    ranges = ((-0.3, 0.3), (-3.0, 3.0), (0.1, 0.1))
    limited = replace(links, limits=(None, JointLimits.swing_twist(1, *ranges), None, None))
    found = spreads(limited)[1]
    np.testing.assert_allclose(found, (0.1, REFERENCE, np.radians(1.0)))
    stiff = person()
    knee = stiff.index("LeftLeg")
    limits = [
        None if joint != knee else JointLimits.swing_twist(1, *[(-0.05, 0.05)] * 3) for joint in range(len(stiff))
    ]
    found = spreads(replace(stiff, limits=tuple(limits)))[knee]
    assert (found <= 0.05).all()
    assert (found > 0.0).all()


@pytest.mark.parametrize(
    "sample", ["biped", "biped-hands", "claw-arm", "piston", "raptor", "quadruped", "serpent", "walk", "chain-3"]
)
def test_every_sample_has_finite_positive_spreads(sample: str) -> None:
    skeleton = load(f"sample:{sample}").skeleton
    found = spreads(skeleton)
    assert found.shape == (len(skeleton), 3)
    assert np.isfinite(found).all()
    assert (found > 0.0).all()
    assert not found.flags.writeable


SPREAD_FILE = """{"units": "cm", "joints": [
 {"name": "a", "spread": [10, 20, 30]},
 {"name": "b", "parent": "a", "offset": [0, 1, 0], "kind": "slide", "axis": [0, 1, 0], "spread": [5, 5, 5]},
 {"name": "c", "parent": "b", "offset": [0, 1, 0]}]}"""


def test_the_file_s_own_spreads_stand_and_come_back(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(SPREAD_FILE, encoding="utf-8")
    character = load(tmp_path / "a.json")
    assert character.warnings == ()
    stated = character.skeleton.mobility
    assert stated is not None
    np.testing.assert_allclose(stated, np.stack([np.radians([10, 20, 30]), np.full(3, 0.05), np.full(3, np.nan)]))
    np.testing.assert_allclose(spreads(character.skeleton)[[0, 1]], stated[[0, 1]])
    np.testing.assert_array_equal(spreads(character.skeleton)[2], REFERENCE)
    (tmp_path / "b.json").write_text(skeleton_to_json(character), encoding="utf-8")
    again = load(tmp_path / "b.json").skeleton.mobility
    assert again is not None
    np.testing.assert_array_equal(again, stated)
    assert '"spread": [10, 20, 30]' in (tmp_path / "b.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("spread", ["[1, 2]", "[1, -2, 3]", '"wide"', "[1, 2, NaN]"])
def test_a_bad_spread_is_refused(tmp_path: Path, spread: str) -> None:
    (tmp_path / "a.json").write_text(SPREAD_FILE.replace("[10, 20, 30]", spread), encoding="utf-8")
    with pytest.raises(ViewerError, match=r"a\.json"):
        load(tmp_path / "a.json")


def test_a_spread_of_a_fixed_joint_is_named_in_a_warning(tmp_path: Path) -> None:
    text = SPREAD_FILE.replace('"name": "a",', '"name": "a", "kind": "fixed",')
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    assert any('"spread" means nothing' in warning for warning in load(tmp_path / "a.json").warnings)


def test_a_rig_lends_its_spreads() -> None:
    skeleton = person()
    stated = np.full((len(skeleton), 3), np.nan)
    stated[skeleton.index("LeftArm")] = 0.3
    rig = renamed(replace(skeleton, mobility=stated), lambda name: "Other" if name == "Head" else name)
    lent = with_rig(Character(skeleton), Character(rig)).skeleton
    assert lent.mobility is not None
    assert np.flatnonzero(~np.isnan(lent.mobility[:, 0])).tolist() == [skeleton.index("LeftArm")]
    np.testing.assert_array_equal(spreads(lent)[skeleton.index("LeftArm")], 0.3)
    assert with_rig(Character(skeleton), Character(skeleton)).skeleton.mobility is None
