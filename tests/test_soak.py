"""Long sessions: nothing breaks, memory does not grow, everything can be undone; long takes need little memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import KeyPose, SetClip, TurnJoint
from inside.session import load_session, save_session
from restless import faults
from soaking import Round, rounds, wear

import viewer
from viewer.document import new_document
from viewer.session import Session
from viewer.skeleton import Clip, Pose

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Floats

    from viewer.skeleton import Character

ROUNDS = 12


@pytest.mark.slow
def test_random_work_leaves_good_documents_and_steady_memory() -> None:
    seen = [one for one, _ in zip(rounds(seed=1, things=14), range(ROUNDS), strict=False)]
    assert wear(seen) == [], "\n".join(map(str, seen))
    assert sum(one.refused for one in seen) < 0.2 * sum(one.done for one in seen)


def test_faults_are_seen() -> None:
    """A test that cannot fail tests nothing."""
    document = new_document(viewer.load("sample:biped"))
    assert faults(document) == []
    rotations = document.pose.rotations.copy()
    rotations[3] *= 1.001
    assert faults(replace(document, pose=Pose.trusted(rotations, document.pose.translations)))
    rotations[3] = np.nan
    assert "the pose is not finite" in faults(
        replace(document, pose=Pose.trusted(rotations, document.pose.translations))
    )
    grown = [Round(number, 40, 0, 3 + number, 100_000 + 5_000 * number, 0) for number in range(ROUNDS)]
    assert wear(grown) == ["documents: 6 early, 14 late", "objects: 115,000 early, 155,000 late"]


# Long takes

FRAMES, JOINTS = 100_000, 60


def long_character(frames: int = FRAMES) -> tuple[Character, int]:
    """A chain of 60 joints that moves for so many frames, and the bytes of its numbers."""
    character = viewer.load("sample:chain-400")
    skeleton = character.skeleton
    kept = replace(
        skeleton,
        names=skeleton.names[:JOINTS],
        parents=skeleton.parents[:JOINTS],
        offsets=skeleton.offsets[:JOINTS],
        rest_rotations=skeleton.rest_rotations[:JOINTS],
        kinds=skeleton.kinds[:JOINTS],
        axes=skeleton.axes[:JOINTS],
        limits=skeleton.limits[:JOINTS],
        stiffness=skeleton.stiffness[:JOINTS],
        tip_parents=np.array([JOINTS - 1]),
        tip_offsets=skeleton.offsets[1:2],
        effectors=(),
        poses={},
        mobility=None,
    )
    rotations = turning(frames)
    rotations.setflags(write=False)
    clip = Clip("long", 1.0 / 120.0, rotations, np.zeros(0, dtype=np.intp), np.zeros((frames, 0, 3)), kept.offsets, ())
    return replace(character, skeleton=kept, clips=MappingProxyType({"long": clip})), rotations.nbytes


def turning(frames: int) -> Floats:
    """(frames, JOINTS, 4) turns about x, each joint at its own pace."""
    rotations = np.zeros((frames, JOINTS, 4))
    for joint in range(JOINTS):
        half = 0.1 * np.sin(np.arange(frames) * 0.001 * (joint + 1))
        rotations[:, joint, 0], rotations[:, joint, 3] = np.sin(half), np.cos(half)
    return rotations


@pytest.mark.slow
def test_a_hundred_thousand_frames_scrub_in_the_memory_of_their_numbers() -> None:
    character, size = long_character()
    assert size == FRAMES * JOINTS * 4 * 8
    tracemalloc.start()
    try:
        session = Session(new_document(character, clip="long"))
        for frame in range(0, FRAMES, 997):
            session.seek(frame)
            session.tick(frame / 120.0)
        assert (session.document.pose.rotations == character.clips["long"].rotations[99_700]).all()
        opened, scrubbed = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for frame in (0, 50_000, 99_999):
            session.dispatch(KeyPose(frame))
            session.dispatch(TurnJoint(character.skeleton.names[3], (0.1, 0.0, 0.0, 0.995)))
        for frame in range(0, FRAMES, 997):
            session.seek(frame)
        keyed = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The frames themselves are there already: opening, scrubbing and keying them copies none of them.
    assert opened < 0.01 * size, f"{opened:,} bytes are kept"
    assert scrubbed < 0.02 * size, f"{scrubbed:,} bytes are used for a moment"
    assert keyed < 0.02 * size, f"{keyed:,} bytes are used once there are keys"


@pytest.mark.slow
def test_undo_over_a_long_clip_shares_its_frames() -> None:
    character, size = long_character()
    session = Session(new_document(character, clip="long"))
    tracemalloc.start()
    try:
        for _ in range(100):
            session.dispatch(SetClip(None))
            session.dispatch(SetClip("long"))
        used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert used < 0.02 * size


def test_saving_and_opening_take_a_few_times_the_memory_of_the_numbers(tmp_path: Path) -> None:
    character, _ = long_character(10_000)
    document, path = new_document(character, clip="long"), tmp_path / "long.ikv.json"
    size = character.clips["long"].rotations.nbytes
    tracemalloc.start()
    try:
        save_session(document, path)
        saving = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        again = load_session(path)
        opening = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert again.same_as(document)
    assert saving < 4 * size, f"{saving / size:.1f} times"
    assert opening < 6 * size, f"{opening / size:.1f} times"
