"""Numbers typed during a drag, how far a drag has gone in words, and the unit of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import to_matrix

LETTERS: Final = "XYZ"

LONGEST: Final = 12
"""Characters of a number, without its sign."""

_SIGNS = "-\N{MINUS SIGN}"
_POINTS = ".,"

MINUS = "\N{MINUS SIGN}"

_MOST_DECIMALS = 9


class Tool(StrEnum):
    """Which handles are shown."""

    SELECT = "select"
    MOVE = "move"
    ROTATE = "rotate"


class Space(StrEnum):
    """The space whose axes the handles have."""

    WORLD = "world"
    LOCAL = "local"
    PARENT = "parent"
    VIEW = "view"


class Part(StrEnum):
    """A handle: an arrow or a ring by its axis, a square by its plane, or one that faces the eye."""

    X = "x"
    Y = "y"
    Z = "z"
    XY = "xy"
    YZ = "yz"
    ZX = "zx"
    SCREEN = "screen"
    VIEW_RING = "view ring"


AXES: Final = (Part.X, Part.Y, Part.Z)
PLANES: Final = (Part.YZ, Part.ZX, Part.XY)
"""By the axis perpendicular to each."""

PARTS: Final = {
    Tool.SELECT: (),
    Tool.MOVE: (*AXES, *PLANES, Part.SCREEN),
    Tool.ROTATE: (*AXES, Part.VIEW_RING),
}
"""The handles that each tool shows."""

AXIS_OF: Final = {part: axis for parts in (AXES, PLANES) for axis, part in enumerate(parts)}
"""The axis (0, 1, 2) of an arrow or a ring, or the normal of a square."""


def axes_of(
    space: Space,
    joint_rotation: ArrayLike | None,
    parent_rotation: ArrayLike | None,
    projection: Projection,
) -> Floats:
    """(3, 3) whose columns are the x, y and z axes of a space, in the world; the view's point right, up and at the eye.

    The rotations (4,) are in the world: of what is moved, and of its parent; None: the world's axes are used.
    """
    if space is Space.VIEW:
        return np.stack([projection.right, projection.up, projection.back], axis=1)
    rotation = {Space.LOCAL: joint_rotation, Space.PARENT: parent_rotation}.get(space)
    return np.eye(3) if rotation is None else to_matrix(rotation)


class TypedNumbers:
    """The typed text of each number of a drag; an empty one counts as 0.

    A minus flips the sign, wherever it is typed.
    """

    def __init__(self, count: int) -> None:
        """Begin with ``count`` empty texts, at the first."""
        self._texts = [""] * count
        self._index = 0

    @property
    def active(self) -> bool:
        """Whether anything is typed; then the pointer is ignored."""
        return any(self._texts)

    @property
    def text(self) -> str:
        """The text that is being typed."""
        return self._texts[self._index]

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts, in the order of the numbers."""
        return tuple(self._texts)

    @property
    def index(self) -> int:
        """The index of the text that is being typed."""
        return self._index

    @property
    def values(self) -> tuple[float, ...]:
        """The numbers."""
        return tuple(_value(text) for text in self._texts)

    def add(self, text: str) -> bool:
        """Append digits, a point or comma, or a minus; returns whether any character was one of them."""
        taken = [self._add(character) for character in text]
        return any(taken)

    def erase(self) -> None:
        """Delete the last character; in an empty text, return to the previous one."""
        if self.text:
            self._texts[self._index] = self.text[:-1]
        elif self._index:
            self._index -= 1

    def next(self) -> None:
        """Move to the next text; from the last to the first."""
        self._index = (self._index + 1) % len(self._texts)

    def spread(self, count: int, index: int) -> None:
        """Change to ``count`` texts; the one being typed becomes that at ``index``."""
        typed, self._texts = self.text, [""] * count
        self._texts[index], self._index = typed, index

    def resize(self, count: int) -> None:
        """Change the number of texts; those that remain stay, and a removed one being typed becomes the first."""
        typed = self.text
        kept = self._texts[:count] + [""] * (count - len(self._texts))
        if self._index >= count:
            self._index, kept[0] = 0, typed
        self._texts = kept

    def _add(self, character: str) -> bool:
        text = self.text
        if character in _SIGNS:
            self._texts[self._index] = text[1:] if text.startswith("-") else "-" + text
            return True
        character = "." if character in _POINTS else character
        digits = text.removeprefix("-")
        allowed = character in "0123456789" or (character == "." and "." not in digits)
        if not allowed or len(digits) >= LONGEST:
            return False
        self._texts[self._index] = text + character
        return True


def _value(text: str) -> float:
    return float(text) if any(character.isdigit() for character in text) else 0.0


class LengthUnit(NamedTuple):
    """A unit of length: its name after numbers, metres per unit, least number of decimals."""

    name: str = "m"
    metres: float = 1.0
    decimals: int = 3


METRE = LengthUnit()


def decimals_for(metre: float, unit: LengthUnit) -> int:
    """Decimals that distinguish neighbouring pixels of this many metres; at least the unit's."""
    if not (math.isfinite(metre) and metre > 0.0):
        return unit.decimals
    return min(max(math.ceil(-math.log10(metre / unit.metres)), unit.decimals), _MOST_DECIMALS)


def number(value: float, decimals: int) -> str:
    """The number in words: with a typographic minus, and none before a zero."""
    text = f"{value:.{decimals}f}"
    return text.replace("-", "" if float(text) == 0.0 else MINUS)


def in_lengths(names: Sequence[str], numbers: Sequence[str], unit: LengthUnit = METRE) -> str:
    """``ΔX 0.124  ΔY 0.010 m``."""
    parts = (f"{name} {text}" for name, text in zip(names, numbers, strict=True))
    return f"{'  '.join(parts)} {unit.name}"


def in_degrees(name: str, text: str) -> str:
    """``ΔX 35.0°``."""
    return f"{name} {text}°"


def while_typed(texts: Sequence[str]) -> list[str]:
    """Numbers as typed so far; 0 for an empty one."""
    return [text.replace("-", MINUS) or "0" for text in texts]
