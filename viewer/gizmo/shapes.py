"""What handles are drawn with: strokes, fills and letters in pixels, by the names of the palette."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from viewer.spatial.checks import frozen

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Stroke:
    """A line through points.

    Attributes:
        points: (N, 2) pixels from the top left, N >= 2.
        width: pixels.
        colour: name in the palette.
        alpha: 0 .. 1.
        closed: whether the last point is joined to the first.
    """

    points: Floats
    width: float
    colour: str
    alpha: float = 1.0
    closed: bool = False

    def __post_init__(self) -> None:
        """Take a read-only array."""
        object.__setattr__(self, "points", frozen(self.points))


@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """A convex area.

    Attributes:
        points: (N, 2) pixels from the top left, N >= 3, in turn around it, either way.
        colour: name in the palette.
        alpha: 0 .. 1.
    """

    points: Floats
    colour: str
    alpha: float = 1.0

    def __post_init__(self) -> None:
        """Take a read-only array."""
        object.__setattr__(self, "points", frozen(self.points))


@dataclass(frozen=True, slots=True, eq=False)
class Letter:
    """A letter that names an axis.

    Attributes:
        text: one letter.
        at: (2,) pixels from the top left of the letter's middle.
        colour: name in the palette.
        alpha: 0 .. 1.
    """

    text: str
    at: Floats
    colour: str
    alpha: float = 1.0

    def __post_init__(self) -> None:
        """Take a read-only array."""
        object.__setattr__(self, "at", frozen(self.at))


Shape: TypeAlias = Stroke | Fill | Letter
