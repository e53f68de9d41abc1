"""Keys: set, removed, moved, copied; on a clip and on none; all undone.

What is played of keys: interpolation, range, rate, auto-key, simplifying; each clip's own keys.

One motion: what is played, baked and found in files again is the same, whatever it was made of.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import (
    Blend,
    Key,
    Take,
    actions as act,
    baked_character,
    baked_clip,
    frame_pose,
    frames_shown,
    joint_at,
)
from inside.spatial import angle_between
from sessions import HAND, drag, place as place_of, session, shifted
from takes import all_poses, apart, clip_of, keyed, loose, shows_motion, take_of, turn

import viewer
from viewer import InputError, save
from viewer.document import Item, new_document
from viewer.session import Loop, Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from viewer.document import Document


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
        (made, act.MoveKeys(key, 0.5), "frames to move by: expected a whole number, found 0.5"),  # type: ignore[arg-type]
        (made, act.KeyPose(-1), "frame: expected a whole number, 0 to 999999, found -1"),
        (made, act.KeyPose(True), "frame: expected a whole number, 0 to 999999, found True"),
        (made, act.KeyPose(joints=("LeftArn",)), 'no joint "LeftArn"; did you mean "LeftArm"'),
        (made, act.KeyPose(joints=()), "joints: expected at least one to key"),
        (made, act.KeyPose(joints="LeftArm"), "joints: expected a list of names, found 'LeftArm'"),  # type: ignore[arg-type]
        (made, act.KeyPose(blend="linear"), 'blend: expected one of "step", "slerp", "smooth", found "linear"'),  # type: ignore[arg-type]
        (made, act.SetBlend(key, "fast"), 'blend: expected one of "step", "slerp", "smooth", found "fast"'),  # type: ignore[arg-type]
        (made, act.SetRange(9, 3), "range: expected the first frame not after the last, found 9 to 3"),
        (made, act.SetRange(-1, 3), "first frame: expected a whole number, 0 to 999999, found -1"),
        (made, act.SetTakeRate(0), "frames per second: expected a finite number above 0, found 0"),
        (made, act.SetAutoKey(1), "auto-key: expected True or False, found 1"),  # type: ignore[arg-type]
        (made, act.SimplifyKeys(-1.0), "degrees: expected a finite number above 0, found -1"),
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


def _pinned() -> Session:
    """Frames solved between keys that hold the feet, and a range that begins among them."""
    made = session()
    made.dispatch(act.KeyPose())
    made.seek(20)
    drag(made, Item("joint", "Hips"), made.document.pose.translations[0] + np.array([0.05, -0.25, 0.05]))
    made.commit()
    made.dispatch(act.KeyPose())
    made.dispatch(act.SetRange(5, 30))
    assert sum(len(some.joints) for some in take_of(made.document).solved) > 0
    return made


def _planar() -> Session:
    made = session()
    made.dispatch(act.SetPlanar("yz"))
    made.dispatch(act.KeyPose())
    made.seek(15)
    drag(made, Item("joint", "Hips"), made.document.pose.translations[0] + np.array([0.0, -0.25, 0.1]))
    made.commit()
    made.dispatch(act.KeyPose())
    made.dispatch(act.SetRange(0, 18))
    return made


def _faded() -> Session:
    """One key on a clip, at its very end, and one that fades both ways."""
    made = loose("walk")
    for frame in (20, made.document.frames - 1):
        made.seek(frame)
        turn(made, "LeftArm", (0.0, 0.0, 0.5))
        made.dispatch(act.KeyPose(blend=Blend.SMOOTH))
    return made


def _recorded() -> Session:
    """A hand that was dragged over a walk."""
    made = session("walk")
    made.seek(10)
    made.record()
    made.tick(0.0)
    start = place_of(made.document, HAND.name)
    made.begin_drag((HAND,))
    for tick in range(1, 13):
        made.gestures.drag_to({HAND: (start + np.array([0.0, 0.02 * tick, 0.03 * tick]), None)})
        made.tick(tick * made.document.frame_time)
    made.commit()
    made.stop_recording()
    return made


def _stepped() -> Session:
    """Keys at every second frame, at a film's rate, on a longer arm."""
    made = loose()
    made.dispatch(act.SetLength("LeftArm", 0.4))
    for frame in range(0, 12, 2):
        turn(made, "LeftArm", (0.0, 0.1, 0.3))
        turn(made, "Spine", (0.1, 0.0, 0.0))
        made.dispatch(act.KeyPose(frame, blend=Blend.STEP if frame % 4 else Blend.LINEAR))
    made.dispatch(act.SetTakeRate(23.976))
    made.dispatch(act.SetRange(0, 11))
    return made


def _single() -> Session:
    """A range of one frame."""
    made = loose("walk")
    made.seek(7)
    turn(made, "Head", (0.0, 0.4, 0.0))
    made.dispatch(act.KeyPose())
    made.dispatch(act.SetRange(7, 7))
    return made


MADE: dict[str, Callable[[], Session]] = {
    "pinned": _pinned, "planar": _planar, "faded": _faded, "recorded": _recorded, "stepped": _stepped,
    "single": _single,
}  # fmt: skip
# Formats with numbers as they are, in the file's own precision, and as angles of a limited order.
CLOSE = {".json": 1e-9, ".npz": 1e-9, ".glb": 2e-6, ".bvh": 2e-5}


@cache
def _document(name: str) -> Document:
    return MADE[name]().document


@pytest.mark.parametrize("name", MADE)
def test_playing_shows_what_is_baked_to_the_bit(name: str) -> None:
    document = _document(name)
    made, clip = Session(document), baked_clip(document)
    first, last = document.played
    assert len(clip) == last - first + 1
    made.clock.loop = Loop.OFF
    made.seek(first)
    made.play()
    seen = set()
    for tick in range(len(clip) + 2):
        made.tick(tick * document.frame_time)
        frame = made.document.frame
        assert made.document.pose.same_as(clip.pose(frame - first))
        assert made.document.pose.same_as(frame_pose(document, frame))
        seen.add(frame)
    assert seen == set(range(first, last + 1))
    assert not made.clock.direction


@pytest.mark.parametrize("suffix", CLOSE)
@pytest.mark.parametrize("name", MADE)
def test_files_hold_what_is_played(name: str, suffix: str, tmp_path: Path) -> None:
    document = _document(name)
    character = baked_character(document)
    save(character, tmp_path / f"a{suffix}")
    units = character.source.metres_per_unit if suffix == ".bvh" else "auto"
    loaded = viewer.load(tmp_path / f"a{suffix}", units=units)
    first, last = document.played
    if first < last:
        assert loaded.clip is not None
        assert len(loaded.clip) == last - first + 1
        assert loaded.clip.frame_time == pytest.approx(document.frame_time, rel=1e-5)
    where = [loaded.skeleton.names.index(name) for name in character.skeleton.names]
    for frame in range(first, last + 1):
        ours = viewer.fk(character.skeleton, frame_pose(document, frame))
        # A single frame is how glTF's nodes stand: no motion is needed for it.
        pose = loaded.skeleton.rest_pose() if loaded.clip is None else loaded.clip.pose(frame - first)
        theirs = viewer.fk(loaded.skeleton, pose)
        np.testing.assert_allclose(theirs.positions[where], ours.positions, atol=CLOSE[suffix])
        assert angle_between(theirs.rotations[where], ours.rotations).max() < 10.0 * CLOSE[suffix]


@pytest.mark.parametrize("name", [*MADE, "clip alone"])
def test_frames_asked_for_together_are_those_asked_for_one_by_one(name: str) -> None:
    document = session("walk").document if name == "clip alone" else _document(name)
    first, last = document.played
    shown = frames_shown(document, first, last)
    for place, frame in enumerate(range(first, last + 1)):
        np.testing.assert_array_equal(shown.rotations[place], frame_pose(document, frame).rotations)
        np.testing.assert_array_equal(shown.translations[place], frame_pose(document, frame).translations)


@pytest.mark.parametrize("name", [*MADE, "clip alone"])
def test_one_joint_at_scattered_frames_is_as_in_the_whole_poses(name: str) -> None:
    document = session("walk").document if name == "clip alone" else _document(name)
    first, last = document.played
    frames = np.arange(first, last + 1, 3)
    for joint in range(len(document.skeleton)):
        found = joint_at(document, joint, frames)
        for place, frame in enumerate(frames.tolist()):
            pose = frame_pose(document, frame)
            np.testing.assert_allclose(found.rotations[place], pose.rotations[joint], atol=1e-12)
            np.testing.assert_allclose(found.translations[place], pose.translations[joint], atol=1e-12)
