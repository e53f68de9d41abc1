"""Frames of the timeline: how many there are, which are played, which have keys; also before anything was keyed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from viewer.session.actions import Action
from viewer.session.take.changing import take_of
from viewer.session.take.values import FRAMES, check_frame

if TYPE_CHECKING:
    from viewer.session import Document


@dataclass(frozen=True, slots=True)
class OpenTimeline(Action):
    """Go to a frame of a figure that has neither clip nor keys: from now on it has a take, without any."""

    frame: int
    saved: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Frame {self.frame}"

    def apply(self, document: Document) -> Document:
        """The document with an empty take."""
        check_frame(self.frame)
        return replace(document, take=take_of(document), frame=self.frame)


def frame_count(document: Document) -> int:
    """Frames of the timeline: also where nothing has been keyed yet."""
    return document.frames or FRAMES


def last_frame(document: Document) -> int:
    """The last frame of the timeline."""
    return frame_count(document) - 1


def played_range(document: Document) -> tuple[int, int]:
    """The first and the last frame that are played: also where nothing has been keyed yet."""
    return document.played if document.frames else (0, FRAMES - 1)


def key_frames(document: Document) -> tuple[int, ...]:
    """Frames with keys: of the take, and those that the clip came with."""
    clip, take = document.clip_data, document.take
    own = () if take is None else take.frames
    return tuple(sorted({*own, *clip.keys})) if clip is not None and clip.keys else own
