"""Actions that put keys elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from viewer.errors import InputError
from viewer.session.actions.base import Action
from viewer.session.take import editing
from viewer.session.take.changing import take_of, with_take
from viewer.session.take.chosen_keys import checked_keys, counted, last_frame, present_take
from viewer.session.take.evaluate import base_pose
from viewer.session.take.values import check_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.session.document import Document
    from viewer.session.take.values import Key


@dataclass(frozen=True, slots=True)
class MoveKeys(Action):
    """Move keys to later frames, or to earlier ones; keys that they come to stand on are replaced."""

    keys: tuple[Key, ...]
    by_frames: int

    @property
    def label(self) -> str:
        """What the history calls it."""
        return counted(self.keys, "Move")

    def apply(self, document: Document) -> Document:
        """The document with the keys moved."""
        return _displaced(document, self.keys, self.by_frames, stay=False)


@dataclass(frozen=True, slots=True)
class CopyKeys(Action):
    """Put copies of keys at other frames; keys that stand there are replaced."""

    keys: tuple[Key, ...]
    by_frames: int

    @property
    def label(self) -> str:
        """What the history calls it."""
        return counted(self.keys, "Duplicate")

    def apply(self, document: Document) -> Document:
        """The document with the copies."""
        return _displaced(document, self.keys, self.by_frames, stay=True)


def _displaced(document: Document, keys: Sequence[tuple[int, int]], by_frames: int, *, stay: bool) -> Document:
    take, some = present_take(document), checked_keys(document, keys)
    entries = editing.shifted(editing.taken_out(take, some), by_frames, last_frame(document))
    if by_frames == 0 or not some:
        return document
    rest = base_pose(document, take, 0)
    left = take if stay else editing.without(take, some)
    after = editing.with_entries(left, entries, rest)
    last = take.last if take.is_trimmed else after.last
    after = replace(after, last=last, pins=editing.pins_along(after, take, some, by_frames))
    return with_take(document, after)


@dataclass(frozen=True, slots=True, eq=False)
class CopiedKeys:
    """Keys that were copied; frames count from the first of them.

    Attributes:
        layered: whether they are what is added to a clip.
        names: of the joints.
        entries: their keys.
    """

    layered: bool
    names: tuple[str, ...]
    entries: tuple[editing.Entry, ...]


def copied_keys(document: Document, keys: Sequence[tuple[int, int]]) -> CopiedKeys:
    """Keys to paste elsewhere, as `PasteKeys` does.

    Raises:
        InputError: none, or some that are not there.
    """
    take, some = present_take(document), checked_keys(document, keys)
    if not some:
        raise InputError("no keys are selected")
    start = min(key.frame for key in some)
    entries = tuple(replace(one, frames=one.frames - start) for one in editing.taken_out(take, some))
    names = tuple(document.skeleton.names[one.joint] for one in entries)
    return CopiedKeys(take.base is not None, names, entries)


@dataclass(frozen=True, slots=True)
class PasteKeys(Action):
    """Put copied keys down, the first of them at a frame; keys that stand there are replaced.

    Attributes:
        copied: by `copied_keys`, here or in another document.
        frame: of the first; None: the frame shown.
    """

    copied: CopiedKeys
    frame: int | None = None

    @property
    def label(self) -> str:
        """What the history calls it."""
        return "Paste keys"

    def apply(self, document: Document) -> Document:
        """The document with the keys."""
        frame = document.frame if self.frame is None else self.frame
        check_frame(frame)
        take = take_of(document)
        if self.copied.layered != (document.clip is not None):
            ours = "on a clip" if self.copied.layered else "on no clip"
            raise InputError(f"these keys were copied from a take {ours}: they mean nothing here")
        joints = [document.skeleton.index(name) for name in self.copied.names]
        entries = [replace(one, joint=joint) for one, joint in zip(self.copied.entries, joints, strict=True)]
        moved = editing.shifted(entries, int(frame), last_frame(document))
        return with_take(document, editing.with_entries(take, moved, base_pose(document, take, 0)))
