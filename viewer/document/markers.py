"""Markers: names of frames."""

from __future__ import annotations

from dataclasses import dataclass

from viewer.document.take import check_frame
from viewer.errors import InputError, quote

LONGEST = 100
"""Most characters of a marker's name."""


@dataclass(frozen=True, slots=True, order=True)
class Marker:
    """A name of a frame.

    Attributes:
        frame: that is named.
        name: what it is, such as ``Contact``; need not be unique.
    """

    frame: int
    name: str

    def __post_init__(self) -> None:
        """Take a name without spaces around it.

        Raises:
            InputError: no such frame; an empty name, a long one, or one of several lines.
        """
        check_frame(self.frame, "marker: frame")
        object.__setattr__(self, "frame", int(self.frame))
        given: object = self.name
        name = given.strip() if isinstance(given, str) else ""
        if not name or not name.isprintable() or len(name) > LONGEST:
            raise InputError(f"marker: expected a name of 1 to {LONGEST} characters in a line, found {quote(given)}")
        object.__setattr__(self, "name", name)


def marker_at(markers: tuple[Marker, ...], frame: int) -> Marker | None:
    """The marker of a frame, or None."""
    return next((marker for marker in markers if marker.frame == frame), None)
