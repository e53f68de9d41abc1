"""Runs of samples: frames on end in which the body was moved by hand, and the keys that they become."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.session.take.baking import shown_on_own_bones
from viewer.session.take.editing import Entry, differences, with_entries
from viewer.session.take.evaluate import Frames, layered, motion_of
from viewer.session.take.values import CODES, Blend

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.session.take.evaluate import Motion
    from viewer.session.take.values import Pin, Take
    from viewer.skeleton.pose import Pose
    from viewer.spatial.checks import Bools, Ints

_MOVED = 1e-10
"""Of a quaternion's component, or metres: a joint that differs by more from what would have played was moved."""


@dataclass(slots=True)
class Run:
    """Samples of frames on end.

    Attributes:
        poses: by frame, on the bones of the file.
        pins: what was pinned, likewise.
    """

    poses: dict[int, Pose] = field(default_factory=dict)
    pins: dict[int, tuple[Pin, ...]] = field(default_factory=dict)

    def put(self, frame: int, pose: Pose, pins: tuple[Pin, ...]) -> None:
        """Take a sample."""
        last = next(reversed(self.pins.values()), ())
        self.poses[frame] = pose
        self.pins[frame] = last if pins == last else pins  # one tuple for all frames that are alike


@dataclass(frozen=True, slots=True)
class Recorded:
    """A take with a run in it.

    Attributes:
        take: with keys of the joints that were moved; the very same one where none was.
        joints: those.
        ends: the first and the last frame.
    """

    take: Take
    joints: tuple[int, ...]
    ends: tuple[int, int]


def recorded(document: Document, take: Take, rest: Pose | None, run: Run) -> Recorded:
    """A take with the samples of a run as keys, at each frame, of the joints that were moved otherwise than it has it.

    Args:
        document: on whose clip and bones the take is.
        take: without the run.
        rest: the take's rest pose where it is on no clip.
        run: one sample or more.
    """
    frames = np.array(sorted(run.poses), dtype=np.intp)
    ends = int(frames[0]), int(frames[-1])
    poses = [run.poses[frame] for frame in frames.tolist()]
    samples = Frames(np.stack([p.rotations for p in poses]), np.stack([p.translations for p in poses]))
    motion = motion_of(document)
    base = _base(motion, take, rest, ends)
    played = base if take.is_empty else shown_on_own_bones(motion._replace(take=take), *ends)
    turned, moved = _differ(samples.rotations, played.rotations), _differ(samples.translations, played.translations)
    joints = tuple(np.flatnonzero(turned | moved).tolist())
    if not joints:
        return Recorded(take, (), ends)
    after = with_entries(take, _entries(take, base, samples, joints, frames), rest or poses[0])
    kept = {frame: held for frame, held in take.pins.items() if not ends[0] <= frame <= ends[1]}
    pins = kept | {frame: held for frame, held in run.pins.items() if held}
    # What was solved between the keys that were there says nothing of frames that have keys of their own now.
    solved = tuple(s for s in take.solved if s.first + len(s) <= ends[0] or s.first > ends[1])
    return Recorded(replace(after, pins=pins, solved=solved), joints, ends)


def _base(motion: Motion, take: Take, rest: Pose | None, ends: tuple[int, int]) -> Frames:
    """What keys are added to, on the bones of the file."""
    bare = replace(take, tracks=(), rest=rest, solved=())
    return layered(motion._replace(take=bare, edited=motion.own), ends[0], ends[1] - ends[0] + 1)


def _differ(one: np.ndarray, other: np.ndarray) -> Bools:
    return np.asarray((np.abs(one - other).max(axis=-1) > _MOVED).any(axis=0))


def _entries(take: Take, base: Frames, samples: Frames, joints: tuple[int, ...], frames: Ints) -> list[Entry]:
    turns, ways = differences(base, samples)
    away = (ways != 0.0).any(axis=(0, 2))
    if take.base is None:
        turns, ways = samples
    blends = np.full(len(frames), CODES[Blend.LINEAR])
    entries = []
    for joint in joints:
        track = take.track(joint)
        wanted = away[joint] or (track is not None and track.translations is not None)
        entries.append(Entry(joint, frames, turns[:, joint], ways[:, joint] if wanted else None, blends))
    return entries
