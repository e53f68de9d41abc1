"""Actions that pose by hand and change joints, and their messages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from inside.document import actions as act, frame_pose, mirrored_pose, partners
from inside.session import document_data, document_of
from inside.skeleton import joint_space
from inside.spatial import angle_between, from_axis_angle, multiply
from sessions import HAND, character, drag, item_place, place, session, shifted, target_of

import viewer
from viewer import InputError
from viewer.document import Item
from viewer.skeleton import Pose, Skeleton, effector_of, fk, limit_violation


def turned(pose: Pose, joint: int, axis: tuple[float, float, float], angle: float) -> np.ndarray:
    return multiply(pose.rotations[joint], from_axis_angle(axis, angle))


def test_turning_a_joint_moves_the_holds_below_it_along_and_no_others() -> None:
    made = session()
    before = made.document
    joint = before.skeleton.index("LeftArm")
    made.dispatch(act.TurnJoint("LeftArm", turned(before.pose, joint, (0, 0, 1), 0.2)))
    moved = [a.effector for a, b in zip(made.document.goals, before.goals, strict=True) if a != b]
    assert moved == ["LeftHand"]
    np.testing.assert_array_equal(target_of(made.document, "LeftHand"), place(made.document, "LeftHand"))
    assert np.linalg.norm(place(made.document, "LeftHand") - place(before, "LeftHand")) > 0.05
    assert all(error.reached for error in made.errors.values())
    others = np.arange(len(before.skeleton)) != joint
    np.testing.assert_array_equal(made.document.pose.rotations[others], before.pose.rotations[others])


def test_hand_edits_are_bound_by_limits_when_these_are_on() -> None:
    made = session()
    joint = made.document.skeleton.index("LeftForeArm")
    wild = turned(made.document.pose, joint, made.document.skeleton.axes[joint, 0].tolist(), 2.5)
    made.dispatch(act.TurnJoint("LeftForeArm", wild))
    assert limit_violation(made.document.skeleton, made.document.pose).max() <= 1e-9
    made.undo()
    made.dispatch(act.SetJointLimits("LeftForeArm", False))
    made.dispatch(act.TurnJoint("LeftForeArm", wild))
    assert limit_violation(made.document.skeleton, made.document.pose)[joint] > 0.1


def test_a_coordinate_is_what_was_set_or_the_end_of_its_range() -> None:
    made = session()
    joint, space = made.document.skeleton.index("LeftForeArm"), joint_space(made.document.skeleton)
    low, high = space.lower[joint, 0], space.upper[joint, 0]
    for value in (low - 1.0, 0.5 * (low + high), high + 1.0):
        made.dispatch(act.SetCoordinate("LeftForeArm", 0, value))
        now = space.measure(made.document.pose.rotations, made.document.pose.translations)[joint, 0]
        assert now == pytest.approx(min(max(value, low), high), abs=1e-9)
    made.dispatch(act.SetLimits(False))
    made.dispatch(act.SetCoordinate("LeftForeArm", 0, high + 0.3))
    now = space.measure(made.document.pose.rotations, made.document.pose.translations)[joint, 0]
    assert now == pytest.approx(high + 0.3, abs=1e-9)


def test_slides_are_set_in_metres() -> None:
    made = session("piston")
    skeleton = made.document.skeleton
    joint = next(j for j, kind in enumerate(skeleton.kinds) if kind == "slide")
    made.dispatch(act.SetCoordinate(skeleton.names[joint], 0, 0.1))
    moved = made.document.pose.translations[joint] - skeleton.offsets[joint]
    assert np.linalg.norm(moved) == pytest.approx(0.1)


def test_a_longer_bone_keeps_the_goals_in_ik_and_takes_them_along_in_fk() -> None:
    made = session()
    before = made.document
    joint = before.skeleton.index("LeftHand")
    length = float(np.linalg.norm(before.skeleton.offsets[joint]))
    made.dispatch(act.SetLength("LeftForeArm", 1.2 * length))
    assert np.linalg.norm(made.document.skeleton.offsets[joint]) == pytest.approx(1.2 * length)
    np.testing.assert_array_equal(made.document.pose.translations[joint], made.document.skeleton.offsets[joint])
    assert made.document.goals == before.goals
    assert all(error.reached for error in made.errors.values())
    made.undo()
    made.dispatch(act.SetMode("fk"))  # type: ignore[arg-type]
    made.dispatch(act.SetLength("LeftForeArm", 1.2 * length))
    np.testing.assert_array_equal(made.document.pose.rotations, before.pose.rotations)
    gap = np.linalg.norm(place(made.document, "LeftHand") - place(before, "LeftHand"))
    assert gap == pytest.approx(0.2 * length)
    made.dispatch(act.SetLength("LeftForeArm", length))
    np.testing.assert_array_equal(made.document.skeleton.offsets, before.skeleton.offsets)


def test_a_bone_to_an_end_site_has_a_length_that_is_set_and_undone(tmp_path: Path) -> None:
    made = session()
    skeleton = made.document.skeleton
    tip = skeleton.tip_names.index("LeftToeBase.tip")
    own, toes = skeleton.tip_offsets[tip], effector_of(skeleton, "LeftToes")
    assert toes.offset == tuple(own)
    made.dispatch(act.SetLength("LeftToeBase", 2.0 * float(np.linalg.norm(own))))
    assert made.history.labels[-1] == "Length of LeftToeBase"
    longer = made.document.skeleton
    np.testing.assert_allclose(longer.tip_offsets[tip], 2.0 * own, atol=1e-15)
    np.testing.assert_array_equal(np.delete(longer.tip_offsets, tip, 0), np.delete(skeleton.tip_offsets, tip, 0))
    np.testing.assert_array_equal(longer.offsets, skeleton.offsets)
    assert effector_of(longer, "LeftToes").offset == tuple(longer.tip_offsets[tip])
    stored = document_of(document_data(made.document), tmp_path).skeleton
    np.testing.assert_array_equal(stored.tip_offsets, longer.tip_offsets)
    made.dispatch(act.SetLength("LeftToeBase", float(np.linalg.norm(own)), "LeftToeBase.tip"))
    np.testing.assert_array_equal(made.document.skeleton.tip_offsets, skeleton.tip_offsets)
    made.undo()
    made.undo()
    assert made.document.skeleton is skeleton


def test_lengths_stay_when_the_file_is_read_in_other_units() -> None:
    made = session("walk")
    skeleton = made.document.skeleton
    ends = [*skeleton.parents.tolist(), *skeleton.tip_parents.tolist()]
    joint = next(end for end in skeleton.tip_parents.tolist() if ends.count(end) == 1)
    length = float(np.linalg.norm(skeleton.tip_offsets[skeleton.tip_parents == joint]))
    made.dispatch(act.SetLength(skeleton.names[joint], 3.0 * length))
    made.dispatch(act.SetUnits("m", "y", viewer.load("sample:walk", units="m", up="y")))
    now = made.document.skeleton
    assert np.linalg.norm(now.tip_offsets[now.tip_parents == joint]) == pytest.approx(300.0 * length)


def test_clips_are_played_on_bones_of_the_length_they_have() -> None:
    made = session("walk")
    clip = made.document.clip_data
    made.dispatch(act.SetLength("LeftUpLeg", 0.6))
    made.seek(4)
    joint = made.document.skeleton.index("LeftLeg")
    assert made.document.clip_data is clip
    assert clip is not None
    assert np.linalg.norm(made.document.pose.translations[joint]) == pytest.approx(0.6)
    np.testing.assert_array_equal(made.document.pose.rotations, clip.pose(4).rotations)
    made.dispatch(act.SetMode("fk"))  # type: ignore[arg-type]
    made.dispatch(act.SetLength("LeftUpLeg", float(np.linalg.norm(made.document.character.skeleton.offsets[joint]))))
    assert frame_pose(made.document, 4).same_as(clip.pose(4))


def test_a_stiff_joint_does_not_move() -> None:
    made = session()
    for name in ("LeftForeArm", "LeftArm"):
        made.dispatch(act.SetStiffness(name, 1.0))
    before = made.document.pose
    made.dispatch(act.MoveTargets({"LeftHand": (shifted(made.document, "LeftHand", (0.1, 0.1, 0.1)), None)}))
    for name in ("LeftForeArm", "LeftArm"):
        joint = made.document.skeleton.index(name)
        np.testing.assert_allclose(made.document.pose.rotations[joint], before.rotations[joint], atol=1e-12)
    assert not made.document.pose.same_as(before)


def test_weights_decide_between_goals_that_cannot_both_be_met() -> None:
    made = session()
    far = shifted(made.document, "LeftHand", (3.0, 0.0, 0.0))
    misses = []
    for weight in (0.2, 5.0):
        made.dispatch(act.SetWeight("Head", weight))
        made.dispatch(act.MoveTargets({"LeftHand": (far, None)}))
        misses.append(made.errors["Head"].metres or 0.0)
        made.undo()
    assert misses[1] < misses[0]


def test_reset_goes_back_to_the_relaxed_pose_or_to_the_clip() -> None:
    for name in ("biped", "walk"):
        made = session(name)
        home = made.document.pose
        arm = made.document.skeleton.index("LeftArm")
        made.dispatch(act.MoveTargets({"LeftHand": (shifted(made.document, "LeftHand", (0.2, 0.3, 0.1)), None)}))
        assert not made.document.pose.same_as(home)
        made.dispatch(act.ResetPose(("LeftArm",), position=False))
        np.testing.assert_allclose(made.document.pose.rotations[arm], home.rotations[arm], atol=1e-12)
        made.dispatch(act.ResetPose())
        np.testing.assert_allclose(made.document.pose.rotations, home.rotations, atol=1e-9)
        assert all(error.reached for error in made.errors.values())


def test_partners_have_the_other_sides_name() -> None:
    skeleton = character("biped").skeleton
    for name, partner in (("LeftHand", "RightHand"), ("RightUpLeg", "LeftUpLeg"), ("Spine", "Spine")):
        assert skeleton.names[partners(skeleton)[skeleton.index(name)]] == partner


@pytest.mark.parametrize(
    ("left", "right"),
    [("LeftHand", "RightHand"), ("hand.L", "hand.R"), ("Hand_l", "Hand_r"), ("l_hand", "r_hand"), ("LHand", "RHand"),
     ("lhand", "rhand"), ("mixamorig:LeftHand", "mixamorig:RightHand"), ("LEFTHAND", "RIGHTHAND"),
     ("b_LeftHand_011", "b_RightHand_08"), ("Hand_L_12", "Hand_R_7")],
)  # fmt: skip
def test_names_of_every_style_have_partners(left: str, right: str) -> None:
    skeleton = character("two-link").skeleton
    names = (left, right, *(f"x{k}" for k in range(len(skeleton) - 2)))
    renamed = replace(skeleton, names=names)
    assert partners(renamed)[:2].tolist() == [1, 0]


def test_numbers_of_names_count_where_names_are_equal_without_them() -> None:
    names = ("LeftFinger_1", "LeftFinger_2", "RightFinger_2", "RightFinger_1", "LeftToe_3", "RightToe_4", "RightToe_5")
    skeleton = Skeleton("hand", names, np.full(7, -1), np.zeros((7, 3)))
    assert partners(skeleton).tolist() == [3, 2, 1, 0, 4, 5, 6]


def test_a_mirrored_pose_is_the_reflection_and_twice_is_the_pose() -> None:
    skeleton = character("biped").skeleton
    made = session()
    made.dispatch(act.MoveTargets({"LeftHand": (shifted(made.document, "LeftHand", (0.2, 0.3, 0.3)), None)}))
    hips = skeleton.index("Hips")
    rotations = made.document.pose.rotations.copy()
    rotations[hips] = multiply(from_axis_angle((0.0, 1.0, 0.0), 0.7), rotations[hips])
    pose = Pose(rotations, made.document.pose.translations)
    mirrored = mirrored_pose(skeleton, pose)
    here, there = fk(skeleton, pose), fk(skeleton, mirrored)
    partner = partners(skeleton)
    # Distances from the root and heights are those of the partner; the body faces the way it did.
    for joint in range(len(skeleton)):
        a, b = here.positions[joint] - here.positions[hips], there.positions[partner[joint]] - there.positions[hips]
        assert np.linalg.norm(a) == pytest.approx(np.linalg.norm(b), abs=2e-3)
        assert a[1] == pytest.approx(b[1], abs=2e-2)
    assert angle_between(mirrored.rotations[hips], pose.rotations[hips]) < 0.2
    twice = mirrored_pose(skeleton, mirrored)
    assert angle_between(twice.rotations, pose.rotations).max() < 1e-6
    np.testing.assert_allclose(twice.translations, pose.translations, atol=1e-12)


@pytest.mark.parametrize("turned", [0.0, 0.9])
@pytest.mark.parametrize("flipped", [False, True])
def test_a_mirrored_figure_stands_where_it_stood(turned: float, flipped: bool) -> None:
    made = session()
    root = made.document.pose.rotations[0]
    made.dispatch(act.TurnJoint("Hips", multiply(from_axis_angle((0.0, 1.0, 0.0), turned), root)))
    made.replace(made.document)
    drag(made, HAND, shifted(made.document, "LeftHand", (0.4, 0.5, 0.1)))
    made.commit()
    before = made.document
    feet = place(before, "LeftFoot"), place(before, "RightFoot")
    middle = np.mean(feet, axis=0)
    away = before.pose.translations[0] - middle
    made.dispatch(act.PastePose(before.pose, flipped=True) if flipped else act.MirrorPose())
    after = made.document
    assert np.hypot(away[0], away[2]) > 0.05  # the hips went along with the hand
    np.testing.assert_allclose(place(after, "LeftFoot"), feet[0], atol=1e-5)  # where the right one's image falls
    np.testing.assert_allclose(place(after, "RightFoot"), feet[1], atol=1e-5)
    np.testing.assert_allclose((place(after, "LeftFoot") + place(after, "RightFoot")) / 2.0, middle, atol=1e-6)
    for name in ("LeftFoot", "RightFoot"):
        np.testing.assert_allclose(target_of(after, name), place(after, name), atol=1e-9)
    side = feet[0] - feet[1]
    side /= np.linalg.norm(side)
    for one, other in (("LeftHand", "RightHand"), ("RightHand", "LeftHand"), ("Head", "Head")):
        reflected = place(before, one) - 2.0 * side * (side @ (place(before, one) - middle))
        np.testing.assert_allclose(place(after, other), reflected, atol=5e-3)


def test_feet_in_a_stride_keep_their_middle_and_where_they_point() -> None:
    made = session()
    made.dispatch(act.MoveTargets({"LeftFoot": (shifted(made.document, "LeftFoot", (0.0, 0.0, 0.3)), None)}))
    before = made.document
    middle = (place(before, "LeftFoot") + place(before, "RightFoot")) / 2.0
    made.dispatch(act.MirrorPose())
    after = made.document
    np.testing.assert_allclose((place(after, "LeftFoot") + place(after, "RightFoot")) / 2.0, middle, atol=1e-6)
    assert place(after, "RightFoot")[2] - place(after, "LeftFoot")[2] == pytest.approx(
        place(before, "LeftFoot")[2] - place(before, "RightFoot")[2], abs=2e-3
    )
    hips = after.skeleton.index("Hips")
    assert angle_between(after.pose.rotations[hips], before.pose.rotations[hips]) < 0.35


def test_mirror_and_paste_flipped_swap_the_arms() -> None:
    made = session()
    made.dispatch(act.MoveTargets({"LeftHand": (shifted(made.document, "LeftHand", (0.1, 0.3, 0.3)), None)}))
    left = place(made.document, "LeftHand")[1]
    copied, skeleton = made.document.pose, made.document.skeleton
    made.dispatch(act.PastePose(copied, ("LeftArm", "LeftForeArm", "LeftHand"), flipped=True))
    away = angle_between(made.document.pose.rotations, skeleton.rest_rotations)
    for part in ("Arm", "ForeArm", "Hand"):
        one, other = skeleton.index(f"Left{part}"), skeleton.index(f"Right{part}")
        assert away[one] == pytest.approx(away[other], abs=1e-9)
        np.testing.assert_array_equal(made.document.pose.rotations[one], copied.rotations[one])
    made.undo()
    made.dispatch(act.MirrorPose())
    assert place(made.document, "RightHand")[1] == pytest.approx(left, abs=0.02)
    assert made.history.labels[-1] == "Mirror pose"


def test_other_units_keep_the_work() -> None:
    made = session("walk")
    made.dispatch(act.SetLength("LeftUpLeg", 0.5))
    made.dispatch(act.MoveTargets({"LeftHand": (shifted(made.document, "LeftHand", (0.0, 0.1, 0.1)), None)}))
    before = made.document
    made.dispatch(act.SetUnits("m"))
    assert made.document.character.source.units == "m"
    joints = viewer.fk(before.skeleton, before.pose).positions
    np.testing.assert_allclose(
        viewer.fk(made.document.skeleton, made.document.pose).positions, 100.0 * joints, rtol=1e-9
    )
    np.testing.assert_allclose(target_of(made.document, "Head"), 100.0 * np.array(before.goal("Head").position))
    made.dispatch(act.SetUnits("cm", "z", viewer.load("sample:walk", units="cm", up="z")))
    tall = item_place(made.document, Item("joint", "Head")) - item_place(made.document, Item("joint", "Hips"))
    was = item_place(before, Item("joint", "Head")) - item_place(before, Item("joint", "Hips"))
    np.testing.assert_allclose(tall, (was[0], was[2], -was[1]), atol=1e-9)
    assert all(error.reached for error in made.errors.values())


def test_the_frame_time_is_corrected_and_the_frames_stay() -> None:
    made = session("walk")
    clip = made.document.clip_data
    made.dispatch(act.SetFrameTime(0.5))
    now = made.document.clip_data
    assert clip is not None
    assert now is not None
    assert now.frame_time == 0.5
    assert now.rotations is clip.rotations


def test_selecting() -> None:
    made = session()
    hips, hand = Item("joint", "Hips"), Item("effector", "LeftHand")
    seen = []
    for action in (
        act.Select((hips,)),
        act.Select((hand,), "add"),
        act.Select((hips,), "add"),
        act.Select((hips,), "toggle"),
        act.RemoveEffector("LeftHand"),
    ):
        made.dispatch(action)
        seen.append((made.document.selection, made.document.active))
    assert seen == [((hips,), hips), ((hips, hand), hand), ((hand, hips), hips), ((hand,), hand), ((), None)]


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (act.Select((Item("bone", "Hips"),)), 'no kind of item "bone"'),  # type: ignore[arg-type]
        (act.Select((Item("joint", "Hips"),), "all"), 'no way to select "all"'),  # type: ignore[arg-type]
        (act.TurnJoint("Hips", (0, 0, 0, 0)), 'rotation of "Hips": expected a unit quaternion'),
        (act.TurnJoint("LeftArn", (0, 0, 0, 1)), 'no joint "LeftArn"; did you mean "LeftArm"'),
        (act.SetCoordinate("LeftForeArm", 3, 0.0), 'joint "LeftForeArm": no coordinate 3, it has 0 to '),
        (act.SetCoordinate("Hips", 0, 0.0), 'joint "Hips": no coordinate 0, it has none'),
        (act.SetCoordinate("LeftForeArm", 0, float("nan")), "expected a finite number, found nan"),
        (act.SetLength("", 1.0, "Hips"), 'joint "Hips" is a root: it has no parent'),
        (act.SetLength("Hips", 1.0), 'joint "Hips": expected one bone, found 3'),
        (act.SetLength("Head", 1.0, "LeftHand"), 'joint "Head": expected a bone to "LeftHand", found none'),
        (act.SetLength("", 1.0, "LeftHnad"), 'no joint or tip "LeftHnad"; did you mean "LeftHand"'),
        (act.SetLength("LeftArm", 0.0), 'length of "LeftArm": expected a finite number, 1e-06 to 1e+06, found 0'),
        (act.SetStiffness("LeftArm", 1.5), 'stiffness of "LeftArm": expected a finite number, 0 to 1, found 1.5'),
        (act.SetLimits("on"), 'joint limits: expected True or False, found "on"'),  # type: ignore[arg-type]
        (act.SetGoalKind("Head", "up"), 'no goal "up"'),
        (act.SetGoal("Head", wheight=1.0), 'no attribute of a goal "wheight"; did you mean "weight"'),
        (act.SetSolver(methode="dls"), 'no solver setting "methode"; did you mean "method"'),
        (act.SetSolver(method="dsl"), 'no method "dsl"; did you mean'),
        (act.SetSolver(iterations=0), "iterations: expected a whole number, 1 or more, found 0"),
        (act.SetSolver(damping=-1.0), "damping: expected a finite number above 0, found -1"),
        (act.SetSolver(damping=1e200), "damping: expected a finite number, at most 1e+100, found 1e+200"),
        (act.SetSolver(max_iterations=1.5), "max_iterations: expected a whole number, 1 or more, found 1.5"),
        (act.SetSolver(truncation=1.0), "truncation: expected a finite number, 0 or more and less than 1, found 1"),
        (act.MakeEffector("LeftHand"), '"LeftHand" is an effector already: "LeftHand"'),
        (act.MakeEffector("Hand"), 'no effector, joint or tip "Hand"'),
        (act.RemoveEffector("Hips"), 'no effector "Hips"'),
        (act.SetFrame(3), "no clip is loaded"),
        (act.SetFrameTime(0.1), "no clip is loaded"),
        (act.SetClip("run"), 'no clip "run": there is none'),
        (act.SetUnits("cm", "y", character("claw-arm")), "expected the same file in other units"),
        (act.PastePose(character("claw-arm").skeleton.rest_pose()), "pose: expected 22 joints, found 13"),
        (act.ResetPose("Hips"), "joints: expected a list of names"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_and_all_stays_as_it_was(action: act.Action, words: str) -> None:
    made = session()
    before, revision = made.document, made.stage.revision
    with pytest.raises(InputError) as caught:
        made.dispatch(action)
    assert words in str(caught.value)
    assert made.document is before
    assert (made.stage.revision, made.history.index) == (revision, 0)


def test_mirroring_needs_sides() -> None:
    made = session("claw-arm")
    with pytest.raises(InputError, match="no two joints are named as left and right: there is nothing to mirror"):
        made.dispatch(act.MirrorPose())
