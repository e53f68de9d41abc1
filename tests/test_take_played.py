"""What is played of keys: interpolation, range, rate, auto-key, simplifying; each clip's own keys."""

from __future__ import annotations

import numpy as np
from inside.document import Blend, baked_clip, frame_pose
from inside.document import actions as act
from sessions import HAND, drag, session, shifted
from takes import all_poses, apart, clip_of, keyed, loose, take_of, turn

from viewer.session import Loop


def test_interpolation_of_single_keys_and_of_all() -> None:
    made = keyed([0, 10, 20])
    take = take_of(made.document)
    assert {track.blends.tolist()[0] for track in take.tracks} == {2}
    made.dispatch(act.SetBlend(take.keys_at(0), Blend.STEP))
    assert frame_pose(made.document, 9).same_as(frame_pose(made.document, 0))
    assert not frame_pose(made.document, 15).same_as(frame_pose(made.document, 10))
    made.dispatch(act.SetBlend(None, Blend.STEP))
    assert frame_pose(made.document, 19).same_as(frame_pose(made.document, 10))
    depth = made.history.index
    made.dispatch(act.SetBlend(None, Blend.STEP))
    assert made.history.index == depth
    made.seek(10)
    turn(made, "Spine", (0.0, 0.1, 0.0))
    made.dispatch(act.KeyPose())
    assert {tuple(track.blends.tolist()) for track in take_of(made.document).tracks} == {(0, 0, 0)}


def test_the_range_is_what_is_played_and_exported() -> None:
    made = keyed([0, 10, 20])
    made.dispatch(act.SetRange(5, 15))
    made.clock.loop = Loop.LOOP
    made.seek(12)
    made.play()
    frames = []
    for tick in range(40):
        made.tick(tick / 30.0)
        frames.append(made.document.frame)
    assert frames[:6] == [12, 13, 14, 15, 5, 6]
    assert set(frames) == set(range(5, 16))
    assert made.document.pose.same_as(frame_pose(made.document, made.document.frame))
    clip = baked_clip(made.document)
    assert (len(clip), clip.keys) == (11, (5,))
    made.stop()
    made.seek(0)
    made.play()
    assert made.document.frame == 5


def test_the_rate_of_a_take() -> None:
    made = keyed([0, 10])
    made.dispatch(act.SetTakeRate(60))
    assert made.document.frame_time == 1 / 60
    assert take_of(made.document).frames == (0, 10)
    walk = session("walk")
    walk.dispatch(act.SetTakeRate(50))
    assert clip_of(walk.document).frame_time == 1 / 50


def test_each_clip_has_its_own_keys_and_the_figure_without_one_too() -> None:
    made = keyed([3], "walk")
    take = take_of(made.document)
    made.dispatch(act.SetClip(None))
    assert made.document.frames == 0
    made.dispatch(act.KeyPose())
    other = take_of(made.document)
    made.dispatch(act.SetClip(take.base))
    assert take_of(made.document) is take
    made.dispatch(act.SetClip(None))
    assert take_of(made.document) is other


def test_auto_key_sets_keys_of_the_joints_that_an_edit_changed() -> None:
    made = loose()
    made.dispatch(act.SetAutoKey(on=True))
    made.dispatch(act.KeyPose())
    made.seek(15)
    turn(made, "LeftArm", (0.0, 0.0, 0.4))
    arm, other = (made.document.skeleton.index(name) for name in ("LeftArm", "RightArm"))
    assert take_of(made.document).keys_of(arm) == (0, 15)
    assert take_of(made.document).keys_of(other) == (0,)
    assert made.history.labels == ("Auto-key on", "Key pose", "Turn LeftArm")
    made.undo()
    assert take_of(made.document).keys_of(arm) == (0,)
    made.seek(20)
    assert made.history.index == 2
    assert take_of(made.document).frames == (0,)


def test_auto_key_after_a_drag() -> None:
    made = session()
    made.dispatch(act.SetAutoKey(on=True))
    drag(made, HAND, shifted(made.document, "LeftHand", (0.1, 0.2, 0.1)))
    made.commit()
    take, arm = take_of(made.document), made.document.skeleton.index("LeftArm")
    assert take.keys_of(arm) == (0,)
    assert made.document.pose.same_as(frame_pose(made.document, 0))
    assert made.history.index == 2
    made.undo()
    assert made.document.take is None


def test_any_keys_make_poses_that_can_be_shown() -> None:
    made = keyed([0, 3, 4, 9, 30], seed=5)
    for blend in Blend:
        made.dispatch(act.SetBlend(None, blend))
        for pose in all_poses(made.document):
            np.testing.assert_allclose(np.linalg.norm(pose.rotations, axis=-1), 1.0, atol=1e-12)


def test_simplifying_keeps_every_frame_within_the_tolerance() -> None:
    made = keyed([0])
    for frame in range(1, 60):
        turn(made, "LeftArm", (0.0, 0.0, 0.02 * np.sin(0.1 * frame)))
        turn(made, "Spine", (0.001 * (frame % 7), 0.0, 0.0))
        made.dispatch(act.KeyPose(frame, blend=Blend.LINEAR))
    before = all_poses(made.document)
    for tolerance in (0.2, 2.0):
        made.dispatch(act.SimplifyKeys(tolerance))
        worst = max(apart(a, b) for a, b in zip(before, all_poses(made.document), strict=True))
        assert worst <= np.radians(tolerance) + 1e-9
        made.undo()
    made.dispatch(act.SimplifyKeys(2.0))
    assert 2 <= len(take_of(made.document).frames) < 20


def test_simplifying_a_smooth_take_keeps_to_the_tolerance_too() -> None:
    made = keyed(list(range(0, 60, 4)), seed=3)
    before = all_poses(made.document)
    made.dispatch(act.SimplifyKeys(6.0))
    worst = max(apart(a, b) for a, b in zip(before, all_poses(made.document), strict=True))
    assert worst <= np.radians(6.0) + 1e-9


def test_an_empty_take_leaves_the_pose_alone() -> None:
    made = loose()
    made.dispatch(act.SetRange(0, 9))
    turn(made, "Spine", (0.3, 0.0, 0.0))
    pose = made.document.pose
    made.seek(7)
    assert made.document.pose.same_as(pose)
    assert len(baked_clip(made.document)) == 10
