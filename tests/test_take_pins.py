"""Pins between keys: the frames between two keys that hold the same pin are solved once, and kept."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from inside.document import Blend, Key, baked_clip, frame_pose, layered, motion_of
from inside.document import actions as act
from sessions import FOOT, HAND, drag, place, session, target_of
from takes import take_of, turn

from viewer.document import Document, Item, stand_of
from viewer.session import Session
from viewer.skeleton import Pose

FEET = ("LeftFoot", "RightFoot")


def hips(made: Session) -> Item:
    return Item("joint", made.document.skeleton.names[0])


def crouch(made: Session, way: tuple[float, float, float]) -> None:
    """Move the pelvis; the feet are pinned."""
    drag(made, hips(made), made.document.pose.translations[0] + np.array(way))
    made.commit()


def crouched(*ways: tuple[float, float, float], apart: int = 20) -> Session:
    """Keys every so many frames, the pelvis moved from one to the next, feet pinned all the time."""
    made = session()
    made.dispatch(act.KeyPose())
    for number, way in enumerate(ways, 1):
        made.seek(apart * number)
        crouch(made, way)
        made.dispatch(act.KeyPose())
    return made


def slip(document: Document, pose: Pose, effector: str) -> float:
    """Metres that an effector is off its pin."""
    handle = document.goal(effector)
    assert handle.position is not None
    return float(np.linalg.norm(stand_of(document.skeleton, pose, handle).position - np.array(handle.position)))


def blended(document: Document, frame: int) -> Pose:
    """A frame as the keys alone have it."""
    frames = layered(motion_of(document), frame, 1)
    return Pose(frames.rotations[0], frames.translations[0])


DOWN, SIDE = (0.05, -0.25, 0.05), (-0.1, 0.15, 0.0)


@pytest.mark.parametrize("blend", Blend)
def test_pinned_feet_stay_between_keys(blend: Blend) -> None:
    made = crouched(DOWN, SIDE)
    made.dispatch(act.SetBlend(None, blend))
    document = made.document
    for frame in range(41):
        for foot in FEET:
            assert slip(document, frame_pose(document, frame), foot) < 1e-3
    slipped = max(slip(document, blended(document, frame), foot) for frame in range(41) for foot in FEET)
    assert slipped > 0.02 or blend is Blend.STEP  # else there was nothing to solve
    np.testing.assert_array_equal(frame_pose(document, 10).translations[0], blended(document, 10).translations[0])


def test_frames_are_smooth_up_to_the_keys() -> None:
    document = crouched(DOWN, SIDE).document
    poses = [frame_pose(document, frame).rotations for frame in range(41)]
    steps = [float(np.abs(b - a).max()) for a, b in itertools.pairwise(poses)]
    assert max(abs(b - a) for a, b in itertools.pairwise(steps)) < 0.02
    assert steps[0] < 0.02


def test_without_pins_nothing_is_solved() -> None:
    made = session()
    for foot in FEET:
        made.dispatch(act.SetPin(foot, position=False, rotation=False))
    made.dispatch(act.KeyPose())
    made.seek(20)
    crouch(made, DOWN)
    made.dispatch(act.KeyPose())
    assert take_of(made.document).pins == {}
    assert take_of(made.document).solved == ()


def test_a_pin_that_was_taken_off_between_is_not_held() -> None:
    made = crouched(DOWN)
    made.seek(40)
    for foot in FEET:
        made.dispatch(act.SetPin(foot, position=False, rotation=False))
    made.dispatch(act.KeyPose())
    assert [(some.first, len(some)) for some in take_of(made.document).solved] == [(1, 19)]


def test_a_pin_that_was_put_elsewhere_is_not_the_same() -> None:
    made = crouched(DOWN)
    made.seek(40)
    at = np.array(made.document.goal("LeftFoot").position) + np.array([0.0, 0.1, 0.1])
    made.dispatch(act.MoveTargets({"LeftFoot": (at, None)}))
    made.dispatch(act.KeyPose())
    document = made.document
    _, second = take_of(document).solved
    assert second.first == 21
    left, right = (document.skeleton.index(foot) for foot in FEET)
    assert right in second.joints
    assert left not in second.joints
    assert max(slip(document, frame_pose(document, frame), "RightFoot") for frame in range(20, 41)) < 1e-3


def test_a_pin_that_a_key_does_not_stand_at_is_not_held_there() -> None:
    made = session("walk")
    for foot in FEET:
        made.dispatch(act.SetPin(foot, position=True, rotation=True))
    made.dispatch(act.KeyPose())
    made.seek(made.document.frames - 1)  # the pins stay behind
    pose = made.document.pose
    made.dispatch(act.KeyPose())
    before = take_of(made.document).solved
    assert [some.joints.size for some in before] == [0] * len(before)
    assert made.document.pose.same_as(pose)
    turn(made, "LeftArm", (0.0, 0.0, 0.3))
    made.dispatch(act.KeyPose(joints=("LeftArm",)))
    assert before
    assert all(a is b for a, b in zip(take_of(made.document).solved, before, strict=True))


def test_pins_are_held_on_a_clip() -> None:
    made = session("walk")
    start = made.document.pose
    made.dispatch(act.KeyPose())
    made.seek(8)
    made.dispatch(act.SetPose(start))
    for foot in FEET:
        made.dispatch(act.SetPin(foot, position=True, rotation=True))
    made.dispatch(act.KeyPose())
    document = made.document
    assert max(slip(document, blended(document, frame), foot) for frame in range(9) for foot in FEET) > 2e-3
    assert max(slip(document, frame_pose(document, frame), foot) for frame in range(9) for foot in FEET) < 1e-3


def test_a_stretch_is_solved_anew_only_when_its_keys_change() -> None:
    made = crouched(DOWN, SIDE, DOWN)
    made.dispatch(act.SetBlend(None, Blend.LINEAR))
    first, second, third = take_of(made.document).solved
    made.seek(60)
    crouch(made, (0.0, 0.05, 0.0))
    made.dispatch(act.KeyPose())
    after = take_of(made.document).solved
    assert after[0] is first
    assert after[1].digest == second.digest  # a straight way does not ask what comes after its keys
    assert after[2].digest != third.digest
    made.dispatch(act.SetRange(0, 70))
    made.dispatch(act.SetSolver(tolerance_m=0.01))
    made.dispatch(act.SetLimits(on=False))
    assert all(a is b for a, b in zip(take_of(made.document).solved, after, strict=True))
    made.dispatch(act.DeleteKeys(frame=60))
    assert [some.first for some in take_of(made.document).solved] == [1, 21]


def test_a_key_of_an_arm_leaves_the_feet_pinned_and_one_of_a_knee_does_not() -> None:
    made = crouched(DOWN)
    (whole,) = take_of(made.document).solved
    made.seek(10)
    turn(made, "LeftArm", (0.0, 0.0, 0.3))
    made.dispatch(act.KeyPose(joints=("LeftArm",)))
    document = made.document
    assert [(some.first, len(some)) for some in take_of(document).solved] == [(1, 19)]
    assert max(slip(document, frame_pose(document, frame), foot) for frame in range(21) for foot in FEET) < 1e-3
    assert frame_pose(document, 10).rotations[document.skeleton.index("LeftArm")] == pytest.approx(
        document.pose.rotations[document.skeleton.index("LeftArm")]
    )
    made.undo()
    assert take_of(made.document).solved[0] is whole


def test_keys_on_longer_legs_are_solved_anew() -> None:
    made = crouched(DOWN)
    before = take_of(made.document).solved[0]
    length = float(np.linalg.norm(made.document.skeleton.offsets[made.document.skeleton.index("LeftLeg")]))
    made.dispatch(act.SetLength("LeftUpLeg", 1.01 * length))
    assert take_of(made.document).solved[0].digest != before.digest
    made.undo()
    assert take_of(made.document).solved[0] is before


def test_an_effector_that_is_gone_is_pinned_no_more() -> None:
    made = crouched(DOWN)
    gone = [handle for handle in made.document.goals if handle.effector in FEET]
    skeleton = made.document.skeleton
    effectors = tuple(one for one in skeleton.effectors if one.name not in FEET)
    handles = tuple(handle for handle in made.document.goals if handle not in gone)
    made.replace(replace(made.document, skeleton=replace(skeleton, effectors=effectors), goals=handles))
    made.seek(40)
    made.dispatch(act.KeyPose())
    assert frame_pose(made.document, 40).same_as(made.document.pose)


def test_what_was_solved_is_played_and_exported_alike() -> None:
    made = crouched(DOWN, SIDE)
    document, clip = made.document, baked_clip(made.document)
    shown = []
    made.seek(0)
    made.play()
    for tick in range(41):
        made.tick(tick / 30.0)
        shown.append(made.document.pose)
        assert made.document.frame == tick
    for frame in range(41):
        assert clip.pose(frame).same_as(frame_pose(document, frame))
        assert clip.pose(frame).same_as(shown[frame])


def test_moved_keys_take_their_pins_along() -> None:
    made = crouched(DOWN)
    made.dispatch(act.MoveKeys(take_of(made.document).keys_at(20), 10))
    document = made.document
    assert tuple(take_of(document).pins) == (0, 30)
    assert max(slip(document, frame_pose(document, frame), foot) for frame in range(31) for foot in FEET) < 1e-3
    knee = document.skeleton.index("LeftLeg")
    made.dispatch(act.MoveKeys((Key(knee, 30),), 10))
    assert tuple(take_of(made.document).pins) == (0, 30, 40)


def test_a_pin_stands_where_the_keys_about_a_frame_hold_it_and_not_where_it_was_put_last() -> None:
    made = session()
    made.dispatch(act.KeyPose())
    first = place(made.document, "LeftFoot")
    made.seek(30)
    drag(made, FOOT, first + np.array([0.0, 0.05, 0.3]))
    made.commit()
    made.dispatch(act.KeyPose())
    last = target_of(made.document, "LeftFoot")
    for frame, there in ((0, first), (30, last), (50, last), (0, first)):
        made.seek(frame)
        np.testing.assert_allclose(target_of(made.document, "LeftFoot"), there, atol=1e-9)
    made.seek(15)
    np.testing.assert_allclose(target_of(made.document, "LeftFoot"), place(made.document, "LeftFoot"), atol=1e-12)
    made.seek(0)
    drag(made, HAND, place(made.document, "LeftHand") + np.array([0.0, 0.1, 0.1]))
    made.commit()
    np.testing.assert_allclose(place(made.document, "LeftFoot"), first, atol=1e-3)


def test_a_pin_that_no_key_holds_yet_stays_in_the_world() -> None:
    made = session()
    made.dispatch(act.KeyPose())
    made.seek(30)
    crouch(made, (0.0, -0.1, 0.1))
    made.dispatch(act.KeyPose())
    made.dispatch(act.SetPin("RightHand", position=True))
    there = target_of(made.document, "RightHand")
    made.seek(0)
    np.testing.assert_array_equal(target_of(made.document, "RightHand"), there)
