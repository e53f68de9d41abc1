"""Recording over motion that is there: what a hand moves is kept, all else goes on as it did."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import actions as act, frame_pose
from inside.spatial import exp, multiply
from sessions import HAND, place, session
from takes import apart, loose, take_of, turn

from viewer.document import Item, Scope
from viewer.session import Session

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.document import Document
    from viewer.skeleton import Pose

ARM = ("LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand")
FIRST, COUNT = 12, 25


def arm_only(name: str = "walk") -> Session:
    """A session in which a drag moves the arm alone."""
    made = session(name)
    made.dispatch(act.SetScope(Scope.LIMB))
    made.replace(made.document)
    return made


def keyed_walk() -> Session:
    """The biped, keyed so that arms and legs swing; no clip."""
    made = loose()
    made.dispatch(act.SetScope(Scope.LIMB))
    for frame, swing in ((0, 0.5), (20, -0.5), (40, 0.5), (60, -0.5)):
        made.seek(frame) if made.document.frames else None
        for joint, sign in (("LeftArm", 1.0), ("RightArm", -1.0), ("LeftUpLeg", -1.0), ("RightUpLeg", 1.0)):
            turn(made, joint, (sign * swing, 0.0, 0.0))
        made.dispatch(act.KeyPose(frame))
    made.replace(made.document)
    return made


def overdub(made: Session, count: int = COUNT, way: float = 0.12, ticks: int = 2) -> dict[int, Pose]:
    """Record from `FIRST` on, the hand held away from where it was, the pointer going along with the body.

    What was seen at each frame.
    """
    made.seek(FIRST)
    root = made.document.pose.translations[0]
    step = made.document.frame_time / ticks
    seen: dict[int, Pose] = {}
    made.record()
    made.tick(0.0)
    start = place(made.document, HAND.name)
    made.begin_drag((HAND,))
    for tick in range(count * ticks + 1):
        part = min(1.0, tick / (4 * ticks))
        frame = min(FIRST + (tick + 1) // ticks, made.document.frames - 1)
        along = frame_pose(made.document, frame).translations[0] - root
        made.gestures.drag_to({HAND: (start + along + part * way * np.array([0.3, 1.0, 0.3]), None)})
        made.tick(tick * step)
        seen.setdefault(made.document.frame, made.document.pose)  # as it was at the frame's own time
    return seen


def names_keyed(document: Document) -> set[str]:
    return {document.skeleton.names[track.joint] for track in take_of(document).tracks}


def apart_in(one: Pose, other: Pose, joints: list[int]) -> float:
    return float(np.abs(one.rotations[joints] - other.rotations[joints]).max())


def others(document: Document) -> list[int]:
    return [joint for joint, name in enumerate(document.skeleton.names) if name not in ARM]


def test_joints_that_nobody_moves_go_on_walking_and_get_no_keys() -> None:
    made = arm_only()
    clip = made.document.clip_data
    assert clip is not None
    rest = others(made.document)
    seen = overdub(made)
    assert sorted(seen) == list(range(FIRST, FIRST + COUNT + 1))
    for frame, pose in seen.items():
        np.testing.assert_allclose(pose.rotations[rest], clip.pose(frame).rotations[rest], atol=1e-14)
        np.testing.assert_allclose(pose.translations[rest], clip.pose(frame).translations[rest], atol=1e-14)
    made.commit()
    made.stop_recording()
    assert names_keyed(made.document) <= set(ARM)
    assert "LeftArm" in names_keyed(made.document)
    for frame in range(made.document.frames):
        np.testing.assert_array_equal(frame_pose(made.document, frame).rotations[rest], clip.rotations[frame][rest])
    for frame, pose in seen.items():
        assert apart(frame_pose(made.document, frame), pose) < 1e-9
    assert len(made.history) == 1


def test_keys_that_nobody_moves_stay_and_play_on() -> None:
    made = keyed_walk()
    before = made.document
    rest = others(before)
    seen = overdub(made)
    made.commit()
    made.stop_recording()
    after = made.document
    for frame in range(70):
        np.testing.assert_array_equal(
            frame_pose(after, frame).rotations[rest], frame_pose(before, frame).rotations[rest]
        )
    for frame, pose in seen.items():
        assert apart(frame_pose(after, frame), pose) < 1e-9
        assert apart_in(pose, frame_pose(before, frame), rest) < 1e-14
    legs = [before.skeleton.index(name) for name in ("LeftUpLeg", "RightUpLeg", "RightArm")]
    assert all(take_of(after).keys_of(joint) == (0, 20, 40, 60) for joint in legs)
    arm = before.skeleton.index("LeftArm")
    assert take_of(after).keys_of(arm) == (0, *range(FIRST, FIRST + COUNT + 1), 40, 60)
    made.undo()
    assert made.document.same_as(before) or made.document.frame == FIRST
    assert made.document.take is before.take


def test_between_drags_the_motion_goes_on_as_it_is() -> None:
    made = arm_only()
    clip = made.document.clip_data
    assert clip is not None
    seen = overdub(made, 6)
    made.commit()
    step, last = made.document.frame_time, max(seen)
    for tick in range(7, 30):
        made.tick(tick * step)
        if made.document.frame > last + 10:  # what was added has faded
            assert made.document.pose.same_as(clip.pose(made.document.frame))
    assert made.document.frame == FIRST + 29
    made.stop_recording()
    frames = take_of(made.document).frames
    assert frames == tuple(range(FIRST, last + 1))


def test_the_whole_body_may_answer_and_the_walk_still_shows() -> None:
    made = session("walk")
    clip = made.document.clip_data
    assert clip is not None
    seen = overdub(made)
    reached = made.errors[HAND.name].reached
    made.commit()
    assert reached
    feet = [[place_in(made.document, one, "LeftFoot") for one in (pose, clip.pose(f))] for f, pose in seen.items()]
    stands, walked = np.array(feet).swapaxes(0, 1)
    assert np.ptp(walked[:, 2]) > 0.3
    np.testing.assert_allclose(stands, walked, atol=0.02)  # the pins go along with the walk
    assert 0.1 < max(apart(pose, clip.pose(frame)) for frame, pose in seen.items()) < 1.2
    made.stop_recording()
    for frame, pose in seen.items():
        assert apart(frame_pose(made.document, frame), pose) < 1e-9


def place_in(document: Document, pose: Pose, effector: str) -> Floats:
    return place(replace(document, pose=pose), effector)


def test_a_joint_that_is_turned_by_hand_stays_so_while_the_rest_walks() -> None:
    made = session("walk")
    clip = made.document.clip_data
    assert clip is not None
    made.seek(5)
    made.record()
    made.tick(0.0)
    made.begin("Turn LeftArm")
    arm = made.document.skeleton.index("LeftArm")
    rest = [joint for joint in range(len(made.document.skeleton)) if joint != arm]
    turned = multiply(made.document.pose.rotations[arm], exp(np.array([0.0, 0.0, 0.3])))
    made.dispatch(act.SetLimits(on=False))
    made.begin("Turn LeftArm")
    for tick in range(12):
        if tick < 4:
            made.gestures.update(act.TurnJoint("LeftArm", turned))
        made.tick(tick * clip.frame_time)
        shown = made.document.pose
        np.testing.assert_array_equal(shown.rotations[rest], clip.pose(5 + tick).rotations[rest])
        np.testing.assert_allclose(shown.rotations[arm], turned, atol=1e-9)
    made.commit()
    made.stop_recording()
    assert names_keyed(made.document) == {"LeftArm"}
    assert take_of(made.document).frames == tuple(range(5, 17))


@pytest.mark.parametrize("name", ["walk", "biped"])
def test_a_press_that_moves_nothing_records_nothing(name: str) -> None:
    made = session(name)
    before = made.document
    made.record()
    made.begin_drag((HAND,))
    for tick in range(20):
        made.tick(tick / 30.0)
        if made.document.clip_data is not None:
            assert made.document.pose.same_as(frame_pose(made.document, made.document.frame))
    made.commit()
    made.tick(1.0)
    made.stop_recording()
    assert made.history.index == 0
    assert made.document.take is before.take


def test_a_cancelled_drag_leaves_the_motion_as_it_is() -> None:
    made = arm_only()
    clip = made.document.clip_data
    assert clip is not None
    seen = overdub(made, 8)
    made.cancel()
    assert made.document.frame == max(seen)
    assert made.document.pose.same_as(clip.pose(made.document.frame))
    made.stop_recording()
    assert made.history.index == 0
    assert made.document.take is None


def test_slow_ticks_record_the_underlying_motion_frame_by_frame() -> None:
    made = arm_only()
    clip = made.document.clip_data
    assert clip is not None
    rest = others(made.document)
    made.seek(FIRST)
    made.record()
    made.tick(0.0)
    start = place(made.document, HAND.name)
    made.begin_drag((HAND,))
    for tick in range(1, 8):
        made.gestures.drag_to({HAND: (start + np.array([0.0, 0.02 * tick, 0.0]), None)})
        made.tick(tick * 3 * clip.frame_time)
    made.commit()
    made.stop_recording()
    arm = made.document.skeleton.index("LeftArm")
    keys = take_of(made.document).keys_of(arm)
    assert keys == tuple(range(keys[0], keys[-1] + 1))
    assert keys[-1] == FIRST + 21
    for frame in keys:
        np.testing.assert_array_equal(frame_pose(made.document, frame).rotations[rest], clip.rotations[frame][rest])


def test_simplifying_leaves_keys_alone_that_were_not_recorded() -> None:
    made = keyed_walk()
    leg = made.document.skeleton.index("LeftUpLeg")
    made.seek(18)
    for frame in range(14, 30):
        made.dispatch(act.KeyPose(frame, ("LeftUpLeg",)))
    before = take_of(made.document).keys_of(leg)
    made.recorder.tolerance_deg = 5.0
    overdub(made)
    made.commit()
    made.stop_recording()
    assert take_of(made.document).keys_of(leg) == before


def test_a_second_drag_goes_on_from_what_the_first_one_left() -> None:
    made = loose()
    made.dispatch(act.SetScope(Scope.LIMB))
    foot = Item("effector", "LeftFoot")
    for handle in (HAND, foot):
        made.dispatch(act.HoldEffector(handle.name))
    made.replace(made.document)
    made.record()
    seen: dict[int, Pose] = {}
    now = 0.0
    for item in (HAND, foot):
        start = place(made.document, item.name)
        made.begin_drag((item,))
        for tick in range(10):
            made.gestures.drag_to({item: (start + np.array([0.0, 0.01 * tick, 0.02 * tick]), None)})
            now += 1.0 / 30.0
            made.tick(now)
            seen[made.document.frame] = made.document.pose
        made.commit()
    made.stop_recording()
    for frame, pose in seen.items():
        assert apart(frame_pose(made.document, frame), pose) < 1e-9
    take = take_of(made.document)
    skeleton = made.document.skeleton
    assert max(take.keys_of(skeleton.index("LeftForeArm"))) < max(take.keys_of(skeleton.index("LeftLeg")))


def test_out_and_back_comes_back_to_the_walk() -> None:
    made = session("walk")
    made.dispatch(act.SetLimits(on=False))
    made.replace(made.document)
    clip = made.document.clip_data
    assert clip is not None
    made.seek(FIRST)
    made.record()
    made.tick(0.0)
    made.begin_drag((HAND,))
    far, ticks = [], 4
    for tick in range(1, 45 * ticks):
        frame = min(FIRST + tick // ticks, len(clip) - 1)
        aside = 0.25 * np.sin(np.pi * min(1.0, tick / (25 * ticks))) ** 2 * np.array([0.2, 1.0, 0.5])
        made.gestures.drag_to({HAND: (place_in(made.document, clip.pose(frame), HAND.name) + aside, None)})
        made.tick(tick * clip.frame_time / ticks)
        far.append(apart(made.document.pose, clip.pose(made.document.frame)))
    assert max(far) > 0.5
    assert far[-1] < 0.02
