"""Keys: set, removed, moved, copied; on a clip and on none; all undone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from inside.document import Blend, Key, Take, baked_clip, frame_pose
from inside.document import actions as act
from sessions import drag, session
from takes import all_poses, apart, clip_of, keyed, loose, shows_motion, take_of, turn

from viewer import InputError
from viewer.document import Item, new_document
from viewer.session import Session


def test_a_key_shows_its_pose_and_between_two_the_body_moves() -> None:
    made = loose()
    first = made.document.pose
    made.dispatch(act.KeyPose())
    made.seek(30)
    turn(made, "LeftArm", (0.0, 0.0, 0.8))
    second = made.document.pose
    made.dispatch(act.KeyPose())
    assert take_of(made.document).frames == (0, 30)
    assert frame_pose(made.document, 0).same_as(first)
    assert frame_pose(made.document, 30).same_as(second)
    assert 0.1 < apart(frame_pose(made.document, 15), first) < 0.7
    assert frame_pose(made.document, 119).same_as(second)  # beyond the last key it stays
    assert made.history.labels == ("Key pose", "Turn LeftArm", "Key pose")


def test_only_the_joints_asked_for_are_keyed() -> None:
    made = loose()
    start = made.document.pose
    made.dispatch(act.KeyPose(joints=("LeftArm",)))
    made.seek(20)
    turn(made, "LeftArm", (0.0, 0.0, 0.5))
    turn(made, "RightArm", (0.0, 0.0, 0.5))
    made.dispatch(act.KeyPose(joints=("LeftArm",)))
    arm, other = (made.document.skeleton.index(name) for name in ("LeftArm", "RightArm"))
    assert take_of(made.document).keys_of(arm) == (0, 20)
    assert take_of(made.document).keys_of(other) == ()
    shown = frame_pose(made.document, 20)
    np.testing.assert_array_equal(shown.rotations[other], start.rotations[other])
    assert (shown.rotations[arm] != start.rotations[arm]).any()
    assert made.history.labels[-1] == "Key LeftArm"


def test_a_clip_that_nothing_is_added_to_stays_as_it_is_to_the_bit() -> None:
    made = session("walk")
    clip = clip_of(made.document)
    for frame in (3, 9):
        made.seek(frame)
        made.dispatch(act.KeyPose())
    assert take_of(made.document).frames == (3, 9)
    assert all(pose.same_as(clip.pose(frame)) for frame, pose in enumerate(all_poses(made.document)))
    assert made.document.clip_data is clip


def test_a_key_on_a_clip_is_blended_in_and_out_over_ten_frames() -> None:
    made = loose("walk")
    clip, joint = clip_of(made.document), made.document.skeleton.index("LeftArm")
    made.seek(14)
    turn(made, "LeftArm", (0.0, 0.0, 0.6))
    wanted = made.document.pose
    made.dispatch(act.KeyPose(joints=("LeftArm",)))
    assert apart(frame_pose(made.document, 14), wanted) < 1e-12
    assert made.document.pose.same_as(frame_pose(made.document, 14))
    for frame, pose in enumerate(all_poses(made.document)):
        part = max(0.0, 1.0 - abs(frame - 14) / 10)
        assert apart(pose, clip.pose(frame)) == pytest.approx(0.6 * part, abs=1e-6)
        others = np.delete(np.arange(len(pose.rotations)), joint)
        np.testing.assert_array_equal(pose.rotations[others], clip.pose(frame).rotations[others])
        if part == 0.0:
            assert pose.same_as(clip.pose(frame))
    made.seek(20)
    made.dispatch(act.ResetPose())
    assert made.document.pose.same_as(clip.pose(20))  # the clip's own frame, without what was added


def test_a_root_that_is_moved_on_a_clip_is_moved_as_far_at_its_key() -> None:
    made = loose("walk")
    root = made.document.skeleton.names[0]
    made.seek(5)
    drag(made, Item("joint", root), made.document.pose.translations[0] + np.array([0.0, 0.2, 0.0]))
    made.commit()
    wanted = made.document.pose
    made.dispatch(act.KeyPose())
    assert apart(frame_pose(made.document, 5), wanted) < 1e-9


@pytest.mark.parametrize("name", ["biped", "walk"])
def test_longer_bones_are_no_part_of_keys(name: str) -> None:
    made = keyed([4, 12], name)
    length = float(np.linalg.norm(made.document.skeleton.offsets[made.document.skeleton.index("LeftForeArm")]))
    made.dispatch(act.SetLength("LeftArm", 1.5 * length))
    made.seek(4)
    joint = made.document.skeleton.index("LeftForeArm")
    assert np.linalg.norm(made.document.pose.translations[joint]) == pytest.approx(1.5 * length)
    made.dispatch(act.KeyPose())
    made.dispatch(act.SetLength("LeftArm", length))
    made.seek(4)
    assert made.document.pose.translations[joint] == pytest.approx(made.document.skeleton.offsets[joint], abs=1e-12)


def test_deleting_all_keys_at_a_frame_and_single_ones() -> None:
    made = keyed([0, 10, 20])
    arm = made.document.skeleton.index("LeftArm")
    made.dispatch(act.DeleteKeys((Key(arm, 10),)))
    assert take_of(made.document).keys_of(arm) == (0, 20)
    made.dispatch(act.DeleteKeys(frame=10))
    assert take_of(made.document).frames == (0, 20)
    made.seek(20)
    made.dispatch(act.DeleteKeys())
    assert take_of(made.document).frames == (0,)
    made.dispatch(act.DeleteKeys(frame=0))
    assert take_of(made.document).is_empty
    assert made.history.labels[-4:] == ("Delete key", "Delete keys", "Delete keys", "Delete keys")


def test_the_pose_shown_follows_its_keys_but_an_edited_one_stays() -> None:
    made = keyed([0, 20])
    made.seek(20)
    made.dispatch(act.DeleteKeys())
    assert made.document.pose.same_as(frame_pose(made.document, 0))
    made.undo()
    turn(made, "Spine", (0.2, 0.0, 0.0))
    edited = made.document.pose
    made.dispatch(act.DeleteKeys())
    assert made.document.pose is edited


@pytest.mark.parametrize("name", ["biped", "walk"])
def test_with_auto_key_the_pose_shown_is_always_that_of_the_motion(name: str) -> None:
    made = keyed([0, 20], name)
    made.seek(10)
    turn(made, "Spine", (0.2, 0.0, 0.0))
    made.dispatch(act.SetAutoKey(on=True))  # keys what was edited before
    assert shows_motion(made)
    spine = made.document.skeleton.index("Spine")
    assert take_of(made.document).keys_at(10) == (Key(spine, 10),)
    turn(made, "LeftArm", (0.0, 0.0, 0.5))
    made.seek(15)
    before = made.document.pose.rotations[spine]
    made.dispatch(act.SetKeyValue("Spine", 20, 0, -0.3))
    assert shows_motion(made)
    assert np.abs(made.document.pose.rotations[spine] - before).max() > 0.01
    made.dispatch(act.SetBlend(None, Blend.STEP))
    assert shows_motion(made)
    made.undo()
    assert shows_motion(made)


@pytest.mark.parametrize("name", ["biped", "walk"])
def test_keys_moved_there_and_back_are_as_before(name: str) -> None:
    made = keyed([2, 8, 12], name)
    before, poses = take_of(made.document), all_poses(made.document)
    keys = before.keys_at(8)
    made.dispatch(act.MoveKeys(keys, 3))
    assert take_of(made.document).frames == (2, 11, 12)
    made.dispatch(act.MoveKeys(tuple(Key(key.joint, 11) for key in keys), -3))
    assert take_of(made.document).same_as(before)
    assert all(a.same_as(b) for a, b in zip(all_poses(made.document), poses, strict=True))


def test_moved_and_copied_keys_replace_what_they_come_to_stand_on() -> None:
    made = keyed([0, 10, 20])
    first = frame_pose(made.document, 0)
    made.dispatch(act.CopyKeys(take_of(made.document).keys_at(0), 20))
    assert take_of(made.document).frames == (0, 10, 20)
    assert frame_pose(made.document, 20).same_as(first)
    made.dispatch(act.MoveKeys(take_of(made.document).keys_at(10), -10))
    assert take_of(made.document).frames == (0, 20)
    assert not frame_pose(made.document, 0).same_as(first)
    assert frame_pose(made.document, 20).same_as(first)
    assert made.history.labels[-2:] == (f"Duplicate {len(first.rotations)} keys", f"Move {len(first.rotations)} keys")


def test_a_take_without_a_clip_grows_with_its_keys() -> None:
    made = keyed([0, 10])
    assert (made.document.frames, made.document.played) == (120, (0, 119))
    made.dispatch(act.MoveKeys(take_of(made.document).keys_at(10), 300))
    assert made.document.frames == 311
    made.seek(310)
    made.dispatch(act.KeyPose(frame=500))
    assert made.document.played == (0, 500)


def test_copied_keys_are_pasted_here_and_in_another_document() -> None:
    made = keyed([0, 10])
    poses = [frame_pose(made.document, frame) for frame in (0, 10)]
    keys = (*take_of(made.document).keys_at(0), *take_of(made.document).keys_at(10))
    copied = act.copied_keys(made.document, keys)
    made.dispatch(act.PasteKeys(copied, 40))
    assert take_of(made.document).frames == (0, 10, 40, 50)
    other = loose()
    other.dispatch(act.PasteKeys(copied))
    for found, frames in ((made.document, (40, 50)), (other.document, (0, 10))):
        assert all(frame_pose(found, f).same_as(pose) for f, pose in zip(frames, poses, strict=True))
    with pytest.raises(InputError, match="these keys were copied from a take on no clip: they mean nothing here"):
        session("walk").dispatch(act.PasteKeys(copied))


def test_all_is_undone_and_done_again() -> None:
    made = keyed([0, 10, 20], "walk")
    steps = (
        act.DeleteKeys(frame=10),
        act.KeyPose(frame=12),
        act.CopyKeys(take_of(made.document).keys_at(0), 4),
        act.MoveKeys(take_of(made.document).keys_at(0), 2),
        act.SetBlend(None, Blend.SMOOTH),
        act.SetRange(2, 18),
        act.SetAutoKey(on=True),
        act.SimplifyKeys(170.0, 10.0),
        act.SetTakeRate(25),
    )
    documents = [made.document]
    for step in steps:
        made.dispatch(step)
        documents.append(made.document)
    clip = documents[0].clip_data
    for document in reversed(documents[:-1]):
        assert made.undo()
        assert made.document is document
        assert document.clip_data is clip  # no copy of what never changes
    for document in documents[1:]:
        assert made.redo()
        assert made.document is document


def test_what_changes_nothing_is_no_step() -> None:
    made = keyed([0, 10])
    made.seek(10)
    depth = made.history.index
    made.dispatch(act.KeyPose())
    made.dispatch(act.MoveKeys(take_of(made.document).keys_at(0), 0))
    made.dispatch(act.DeleteKeys(()))
    made.dispatch(act.SetRange(0, 119))
    made.dispatch(act.SetTakeRate(30))
    made.dispatch(act.SetAutoKey(on=False))
    assert made.history.index == depth


def test_what_cannot_be_done_is_said_and_changes_nothing() -> None:
    bare, made, walk = loose(), keyed([0, 10]), keyed([3], "walk")
    last = walk.document.frames - 1
    arm = made.document.skeleton.index("LeftArm")
    key = (Key(arm, 10),)
    for some, action, words in (
        (bare, act.DeleteKeys(), "there are no keys"),
        (bare, act.SimplifyKeys(), "there are no keys"),
        (bare, act.MoveKeys(key, 2), "there are no keys"),
        (made, act.DeleteKeys(frame=7), "there is no key at frame 7"),
        (made, act.DeleteKeys((Key(arm, 7),)), 'no key of joint "LeftArm" at frame 7'),
        (made, act.DeleteKeys((Key(999, 7),)), "no key of joint number 999 at frame 7"),
        (made, act.DeleteKeys(("x",)), 'key: expected a joint\'s index and a frame, found "x"'),  # type: ignore[arg-type]
        (made, act.MoveKeys(key, -11), "a key would be at frame -1: expected 0 to 999999"),
        (made, act.MoveKeys(key, 0.5), 'frames to move by: expected an integer, found "0.5"'),  # type: ignore[arg-type]
        (made, act.KeyPose(-1), "frame: expected 0 to 999999, found -1"),
        (made, act.KeyPose(True), 'frame: expected an integer, found "True"'),
        (made, act.KeyPose(joints=("LeftArn",)), 'no joint "LeftArn"; did you mean "LeftArm"'),
        (made, act.KeyPose(joints=()), "joints: expected at least one to key"),
        (made, act.KeyPose(joints="LeftArm"), "joints: expected a list of names, found 'LeftArm'"),  # type: ignore[arg-type]
        (made, act.KeyPose(blend="linear"), 'no blend "linear"'),  # type: ignore[arg-type]
        (made, act.SetBlend(key, "fast"), 'no blend "fast"; there is "step", "slerp", "smooth"'),  # type: ignore[arg-type]
        (made, act.SetRange(9, 3), "range: expected the first frame not after the last, found 9 to 3"),
        (made, act.SetRange(-1, 3), "first frame: expected 0 to 999999, found -1"),
        (made, act.SetTakeRate(0), "frames per second: expected a number above 0, found 0"),
        (made, act.SetAutoKey(1), 'auto-key: expected True or False, found "1"'),  # type: ignore[arg-type]
        (made, act.SimplifyKeys(-1.0), "degrees: expected a number above 0, found -1"),
        (walk, act.KeyPose(last + 1), f"no frame {last + 1}: the clip has 0 to {last}"),
        (walk, act.MoveKeys((Key(arm, 3),), last), f"a key would be at frame {last + 3}: expected 0 to {last}"),
        (walk, act.SetRange(0, last + 1), f"last frame: expected 0 to {last}, found {last + 1}"),
    ):
        before = some.document
        with pytest.raises(InputError) as raised:
            some.dispatch(action)
        assert str(raised.value).startswith(words)
        assert some.document is before
    with pytest.raises(InputError, match="no frame 120: the take has 0 to 119"):
        made.seek(120)
    with pytest.raises(InputError, match="no keys are selected"):
        act.copied_keys(made.document, ())
    with pytest.raises(InputError, match="take: expected one track for each joint, in order"):
        Take(base="x", tracks=take_of(made.document).tracks[::-1])


@pytest.mark.parametrize("action", [act.MirrorPose(), act.ResetPose()])
def test_what_changes_a_keyed_pose_by_rounding_alone_leaves_it_keyed(action: act.Action) -> None:
    made = session()  # stands symmetrically, relaxed
    made.dispatch(act.KeyPose())
    depth = made.history.index
    made.dispatch(action)
    assert made.history.index == depth
    assert made.document.pose.same_as(frame_pose(made.document, 0))


def test_a_clip_of_one_frame_has_keys_but_no_time() -> None:
    walk = session("walk").document.character
    assert walk.clip is not None
    made = Session(new_document(replace(walk, clips={"one": walk.clip.frames(5, 5)}), clip="one"))
    made.dispatch(act.SetLimits(on=False))
    turn(made, "LeftArm", (0.0, 0.0, 0.5))
    made.dispatch(act.KeyPose())
    assert take_of(made.document).frames == (0,)
    assert len(baked_clip(made.document)) == 1
    made.play()
    made.tick(0.0)
    made.tick(1.0)
    assert (made.clock.direction, made.document.frame) == (0, 0)
    before = made.document
    with pytest.raises(InputError, match="a clip of one frame leaves no time to record"):
        made.record()
    with pytest.raises(InputError, match="last frame: expected 0 to 0, found 1"):
        made.dispatch(act.SetRange(0, 1))
    assert made.document is before


@pytest.mark.parametrize("fps", [1000.0, 23.976, 12.5])
def test_keys_stay_at_their_frames_at_any_rate_and_a_second_is_a_second(fps: float) -> None:
    made = keyed([0, 10, 40])
    made.dispatch(act.SetTakeRate(fps))
    assert take_of(made.document).frames == (0, 10, 40)
    assert baked_clip(made.document).frame_time == made.document.frame_time == pytest.approx(1.0 / fps)
    made.seek(0)
    made.play()
    made.tick(0.0)
    made.tick(0.05)
    assert made.document.frame == int(0.05 * fps + 1e-6)


def test_keys_beyond_the_range_are_kept_and_shown_but_not_exported() -> None:
    made = keyed([0, 10, 40])
    poses = all_poses(made.document)
    made.dispatch(act.SetRange(5, 20))
    assert take_of(made.document).frames == (0, 10, 40)
    assert made.document.frames == 41
    assert len(baked_clip(made.document)) == 16
    assert baked_clip(made.document).keys == (5,)  # the one at 10
    assert all(a.same_as(b) for a, b in zip(all_poses(made.document), poses, strict=False))
    made.seek(35)
    made.dispatch(act.KeyPose())
    made.dispatch(act.MoveKeys(take_of(made.document).keys_at(40), 3))
    assert made.document.played == (5, 20)
    made.dispatch(act.DeleteKeys(frame=43))
    assert take_of(made.document).frames == (0, 10, 35)
