"""Actions on markers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from viewer.document.document import Action, Document
from viewer.document.key_editing import last_frame
from viewer.document.markers import Marker, marker_at
from viewer.document.take import check_frame
from viewer.errors import InputError


@dataclass(frozen=True, slots=True)
class SetMarker(Action):
    """Name a frame, which may have a name already.

    Attributes:
        frame: None: the frame shown.
        name: "": the first free one of ``Marker 1``, ``Marker 2`` and so on.
    """

    frame: int | None = None
    name: str = ""

    @property
    def label(self) -> str:
        return f"Marker {self.name}".rstrip()

    def apply(self, document: Document) -> Document:
        frame = document.frame if self.frame is None else self.frame
        names = {marker.name for marker in document.markers}
        free = next(name for number in count(1) if (name := f"Marker {number}") not in names)
        made = Marker(frame, self.name or free)
        most = last_frame(document)
        if most is not None and made.frame > most:
            raise InputError(f"marker: expected a frame from 0 to {most}, found {made.frame}")
        return _with(document, [*(one for one in document.markers if one.frame != made.frame), made])


@dataclass(frozen=True, slots=True)
class MoveMarker(Action):
    """Move a marker to a frame that has none."""

    frame: int
    to: int

    @property
    def label(self) -> str:
        return "Move marker"

    def apply(self, document: Document) -> Document:
        marker = _marker(document, self.frame)
        check_frame(self.to, "marker: frame")
        other = marker_at(document.markers, self.to)
        if other is not None and other is not marker:
            raise InputError(f"frame {self.to} has a marker already: {other.name}")
        others = [one for one in document.markers if one is not marker]
        return _with(document, [*others, replace(marker, frame=self.to)])


@dataclass(frozen=True, slots=True)
class RemoveMarker(Action):
    """Remove the marker of a frame."""

    frame: int

    @property
    def label(self) -> str:
        return "Remove marker"

    def apply(self, document: Document) -> Document:
        marker = _marker(document, self.frame)
        return _with(document, [one for one in document.markers if one is not marker])


def _marker(document: Document, frame: int) -> Marker:
    marker = marker_at(document.markers, frame)
    if marker is None:
        raise InputError(f"there is no marker at frame {frame}")
    return marker


def _with(document: Document, markers: list[Marker]) -> Document:
    ordered = tuple(sorted(markers))
    return document if ordered == document.markers else replace(document, markers=ordered)
