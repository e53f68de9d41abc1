"""One motion: what is played, baked and found in files again is the same, whatever it was made of."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import Blend, baked_character, baked_clip, frame_pose, frames_shown, joint_at
from inside.document import actions as act
from inside.spatial import angle_between
from sessions import HAND, drag, session
from sessions import place as place_of
from takes import loose, take_of, turn

import viewer
from viewer import save
from viewer.document import Item
from viewer.session import Loop, Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from viewer.document import Document


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
