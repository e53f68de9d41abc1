"""A drag of a handle: from the pointer, the axis keys and typed numbers to a motion."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from viewer.gizmo.constraint import MINUS, Constraint, Path, RigidMotion, Track
from viewer.gizmo.gizmo import (
    AXES,
    AXIS_OF,
    LETTERS,
    PLANES,
    RING,
    VIEW_RING,
    Fill,
    Gizmo,
    LengthUnit,
    Part,
    Shape,
    Stroke,
    Tool,
    held_shapes,
    ring_frame,
    shapes_at,
)
from viewer.spatial.checks import Floats
from viewer.spatial.projection import LinearView, Projection, linear_view, same_view
from viewer.spatial.quaternion import unit

SNAP_M: Final = 0.05
SNAP_DEG: Final = 5.0

_LONGEST = 12
"""Characters of a typed number, without its sign."""
_SIGNS = "-" + MINUS
_POINTS = ".,"
_MOST_DECIMALS = 9

LINE_WIDTH: Final = 1.5
SECTOR_ALPHA: Final = 0.16
TICKS: Final = 5
"""How many steps are shown to either side."""

TICK: Final = 4.0
TICK_TAKEN: Final = 8.0
TICK_MAJOR: Final = 6.0
"""Lengths in pixels."""

_MAJOR_DEG = 45.0
_MOST_TICKS = 720
_CLOSEST = 4.0
"""Pixels between ticks below which none are drawn."""

_SHORTEST = 0.02
"""Foreshortening below which an axis is not drawn."""


class GizmoDrag:
    """A drag of one handle, from the press to the release.

    A motion is always the total since the press: it applies to the state at the press, and cancelling applies none.
    """

    def __init__(
        self,
        gizmo: Gizmo,
        projection: Projection,
        part: Part,
        x: float,
        y: float,
        *,
        snap_m: float = SNAP_M,
        snap_deg: float = SNAP_DEG,
    ) -> None:
        """Start to drag a handle of a gizmo from a pixel; SCREEN and VIEW_RING can be held in any tool.

        ``snap_m`` and ``snap_deg`` are the steps of snapping, metres and degrees; 0: none.
        """
        self._gizmo, self._projection, self._part, self._unit = gizmo, projection, part, gizmo.unit
        self._turning = part is Part.VIEW_RING or (part in AXES and gizmo.tool is Tool.ROTATE)
        step = snap_deg if self._turning else snap_m
        self._step = step if math.isfinite(step) and step > 0.0 else 0.0
        self._lock: tuple[Part, bool] | None = None
        self._everywhere = False
        self._snap = False
        self._view = linear_view(projection, gizmo.position)
        self._decimals = _decimals_for(self._view.metre if self._view is not None else 0.0, gizmo.unit)
        out = projection.back if self._view is None else -self._view.sight
        self._facing = np.stack([projection.right, projection.up, out], axis=1)
        self._path = Path(x, y)
        self._constraint: Constraint
        self._begin_tracking()
        self._typed = TypedNumbers(self._fields)
        self._motion = self._moved()

    @property
    def part(self) -> Part:
        """What is held now: the handle that was pressed, or the axis or plane that a key has locked."""
        return self._constraint.part

    @property
    def locked(self) -> bool:
        """Whether a key has locked an axis or a plane."""
        return self._lock is not None

    @property
    def turning(self) -> bool:
        """Whether it rotates rather than translates."""
        return self._turning

    @property
    def motion(self) -> RigidMotion:
        """The whole motion since the press."""
        return self._motion

    @property
    def readout(self) -> str:
        """The distance or angle in words."""
        return self._motion.readout

    @property
    def typing(self) -> bool:
        """Whether any number is typed; then the pointer is ignored."""
        return self._typed.active

    @property
    def typed(self) -> str:
        """The number that is being typed, "" if none is."""
        return self._typed.text

    def move(
        self, x: float, y: float, projection: Projection | None = None, *, snap: bool = False, fine: bool = False
    ) -> RigidMotion:
        """Follow the pointer to a pixel of the view; returns the whole motion since the press.

        With ``snap`` in full steps from the start; with ``fine`` from now on a tenth as far.
        """
        if projection is not None and not same_view(projection, self._projection):
            self._look_through(projection)
        self._path.go(x, y, fine=fine)
        self._track.go(*self._path.end, fine=fine)
        self._snap = snap
        return self._update()

    def lock(self, axis: Literal["x", "y", "z"], plane: bool = False) -> RigidMotion:
        """Constrain to one axis, or to the plane perpendicular to it; a rotation is about the axis in either case.

        A second call takes the gizmo's other axes (the world's, if there are none and it does not have those already),
        a third one releases the lock. The pointer's path is measured again from its start.
        """
        index = AXES.index(Part(axis))
        part = PLANES[index] if plane and not self._turning else AXES[index]
        if self._lock == (part, False) and self._other_axes is not None:
            self._lock = (part, True)
        elif self._lock is not None and self._lock[0] is part:
            self._lock = None
        else:
            self._lock = (part, False)
        self._everywhere = False
        self._begin_tracking()
        self._typed.resize(self._fields)
        return self._update()

    def type(self, text: str) -> RigidMotion:
        """Type into the number: digits, a point or comma, a minus; other characters are ignored."""
        self._typed.add(text)
        return self._update()

    def backspace(self) -> RigidMotion:
        """Delete the last typed character; without any, the drag follows the pointer again."""
        self._typed.erase()
        return self._update()

    def next_field(self) -> RigidMotion:
        """Move to the next axis's number; in a drag along one axis this opens the numbers of the other two."""
        index = AXIS_OF.get(self.part)
        if not self._turning and index is not None and self._fields == 1:
            self._everywhere = True
            self._constraint = replace(self._constraint, typed_everywhere=True)
            self._typed.spread(self._fields, index)
        self._typed.next()
        return self._update()

    def shapes(self, projection: Projection, scale: float = 1.0) -> list[Shape]:
        """The shapes drawn during the drag: guides below the handles, and the other handles faintly."""
        step = self._step if self._snap and not self._typed.active else 0.0
        guided = self._turning or step > 0.0 or bool(self._constraint.indices)
        below = self._guides(projection, scale, step) if guided else []
        return below + self._held_shapes(projection, scale)

    def _guides(self, projection: Projection, scale: float, step: float) -> list[Shape]:
        extent = Extent(
            position=self._gizmo.position,
            first=float(self._track.first[0]) if self._turning else 0.0,
            numbers=self._numbers,
            step=step,
            locked=self.locked,
        )
        same = same_view(projection, self._projection)
        view = self._view if same else linear_view(projection, self._gizmo.position)
        return [] if view is None else guides(self._constraint, extent, projection, view, scale)

    def _held_shapes(self, projection: Projection, scale: float) -> list[Shape]:
        """The handles at their current position; only the held one where the tool does not show it."""
        view = linear_view(projection, self._motion.apply(self._gizmo.position, None)[0])
        if view is None:
            return []
        tool, axes = Tool.ROTATE if self._turning else Tool.MOVE, self._constraint.axes
        if self._gizmo.tool is tool:
            return shapes_at(tool, axes, view, scale, held=self.part)
        return held_shapes(tool, self.part, axes, view, scale)

    @property
    def _other_axes(self) -> Floats | None:
        if self._gizmo.other_axes is not None:
            return self._gizmo.other_axes
        return None if np.array_equal(self._gizmo.axes, np.eye(3)) else np.eye(3)

    @property
    def _fields(self) -> int:
        return len(self._constraint.names(typed=True))

    @property
    def _numbers(self) -> Floats:
        """(k,) metres or degrees, typed or from the pointer."""
        if self._typed.active:
            return np.array(self._typed.values) * (1.0 if self._turning else self._unit.metres)
        numbers = np.degrees(self._track.amount) if self._turning else self._track.amount
        return np.round(numbers / self._step) * self._step + 0.0 if self._snap and self._step else numbers

    def _begin_tracking(self, base: Floats | None = None) -> None:
        """Measure by the current constraint: along the whole path, or from its end if a distance was covered before."""
        part, other = self._lock or (self._part, False)
        axes = self._other_axes if other else None
        axes = self._gizmo.axes if axes is None else axes
        self._constraint = Constraint(part, axes, self._turning, self._facing, self._everywhere)
        start = self._path.start if base is None else self._path.end
        measure = self._constraint.measure(self._projection, self._view, self._gizmo.position, start)
        self._track = Track(measure, start, base)
        self._track.follow(self._path.legs if base is None else self._path.legs[-1:])

    def _look_through(self, projection: Projection) -> None:
        """Continue in another view: changing the view moves nothing."""
        covered = self._track.amount
        self._projection, self._view = projection, linear_view(projection, self._gizmo.position)
        self._begin_tracking(covered)

    def _update(self) -> RigidMotion:
        self._motion = self._moved()
        return self._motion

    def _moved(self) -> RigidMotion:
        typed = self._typed.texts if self._typed.active else None
        return self._constraint.motion(self._numbers, self._gizmo.position, self._decimals, typed, self._unit)


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
        if not allowed or len(digits) >= _LONGEST:
            return False
        self._texts[self._index] = text + character
        return True


def _value(text: str) -> float:
    return float(text) if any(character.isdigit() for character in text) else 0.0


def _decimals_for(metre: float, unit: LengthUnit) -> int:
    """Decimals that distinguish neighbouring pixels of this many metres; at least the unit's."""
    if not (math.isfinite(metre) and metre > 0.0):
        return unit.decimals
    return min(max(math.ceil(-math.log10(metre / unit.metres)), unit.decimals), _MOST_DECIMALS)


@dataclass(frozen=True, slots=True, eq=False)
class Extent:
    """The state of a drag.

    Attributes:
        position: (3,) metres in the world where it began.
        first: radians about a ring's middle at which it began.
        numbers: (k,) metres or degrees since.
        step: of snapping, in the same units; 0 = it does not snap.
        locked: whether a key has locked the axis or plane.
    """

    position: Floats
    first: float
    numbers: Floats
    step: float
    locked: bool


def guides(
    constraint: Constraint, extent: Extent, projection: Projection, view: LinearView, scale: float
) -> list[Shape]:
    """All guides of a drag; ``view``: where it began."""
    shapes: list[Shape] = []
    if not constraint.turning or extent.locked:
        for axis in constraint.indices:
            line = line_across(projection, view, constraint.axes[:, axis])
            alpha = 0.5 if constraint.part in PLANES else 0.9
            if line is not None:
                shapes.append(Stroke(line, LINE_WIDTH * scale, LETTERS[axis].lower(), alpha))
    if constraint.turning:
        return shapes + _angle(constraint, extent, view, scale)
    return shapes + _steps(constraint, extent, projection, view, scale)


def line_across(projection: Projection, view: LinearView, axis: Floats) -> Floats | None:
    """(2, 2) ends of the visible part of an infinite line, pixels; None if nothing is visible."""
    if view.foreshortening(axis) < _SHORTEST:
        return None
    along, recede = view.spread @ axis * view.metre, float(view.recede @ axis) * view.metre
    # The picture of the place t pixels along is centre + along * t / (1 + recede t): it ends at the vanishing point.
    low, high = -math.inf, math.inf
    if recede > 0.0:
        high = 1.0 / recede
    elif recede < 0.0:
        low = 1.0 / recede
    for start, run, size in zip(view.centre.tolist(), along.tolist(), projection.size, strict=True):
        if abs(run) < _SHORTEST * 1e-6:
            if not 0.0 <= start <= size:
                return None
            continue
        ends = sorted(((0.0 - start) / run, (size - start) / run))
        low, high = max(low, ends[0]), min(high, ends[1])
    return view.centre + np.multiply.outer([low, high], along) if low < high else None


def _steps(
    constraint: Constraint, extent: Extent, projection: Projection, view: LinearView, scale: float
) -> list[Shape]:
    """Ticks to either side of where the drag began, and of where it is, along each of its directions."""
    directions = constraint.directions()
    if extent.step <= 0.0 or len(extent.numbers) != directions.shape[1]:
        return []
    shapes: list[Shape] = []
    for direction, amount in zip(directions.T, extent.numbers.tolist(), strict=True):
        spacing = extent.step * float(np.linalg.norm(view.spread @ direction))
        if view.foreshortening(direction) < _SHORTEST or spacing < _CLOSEST * scale:
            continue
        taken = round(amount / extent.step)
        steps = sorted({*range(-TICKS, TICKS + 1), *range(taken - TICKS, taken + TICKS + 1)})
        places = projection.project(extent.position + np.multiply.outer(np.array(steps) * extent.step, direction))
        along = unit(view.spread @ direction)
        shapes += _ticks(steps, places, np.array([-along[1], along[0]]), taken, scale)
    return shapes


def _ticks(steps: list[int], places: Floats, across: Floats, taken: int, scale: float) -> list[Shape]:
    shapes: list[Shape] = []
    for step, place in zip(steps, places, strict=True):
        if np.isfinite(place).all():
            half = 0.5 * scale * (TICK_TAKEN if step == taken else TICK) * across
            colour = "text" if step == taken else "text2"
            shapes.append(Stroke(np.stack([place - half, place + half]), LINE_WIDTH * scale, colour))
    return shapes


def _angle(constraint: Constraint, extent: Extent, view: LinearView, scale: float) -> list[Shape]:
    """The sector turned, and the steps around the ring."""
    if constraint.part is Part.VIEW_RING:
        frame, radius, colour = np.array([[1.0, 0.0], [0.0, -1.0]]), VIEW_RING * scale, "text"
    else:
        axis = constraint.directions()[:, 0]
        frame = view.pixels(np.stack(ring_frame(axis, view)))
        radius, colour = RING * scale, LETTERS[constraint.indices[0]].lower()
    turned = float(np.clip(extent.numbers[0], -360.0, 360.0))
    angles = extent.first + np.linspace(0.0, math.radians(turned), 1 + max(math.ceil(abs(turned) / 5.0), 1))
    rim = view.centre + radius * _directions(angles) @ frame
    # A fill is convex: a sector of up to half a turn.
    sectors = [rim[begin : begin + 37] for begin in range(0, len(rim) - 1, 36)]
    shapes: list[Shape] = [
        Fill(np.concatenate([view.centre[None], sector]), colour, SECTOR_ALPHA) for sector in sectors
    ]
    shapes += [Stroke(np.stack([view.centre, end]), LINE_WIDTH * scale, colour, 0.8) for end in (rim[0], rim[-1])]
    return shapes + _ring_ticks(extent, view, frame, radius, scale)


def _ring_ticks(extent: Extent, view: LinearView, frame: Floats, radius: float, scale: float) -> list[Shape]:
    count = round(360.0 / extent.step) if extent.step > 0.0 else 0
    if not 0 < count <= _MOST_TICKS:
        return []
    taken = round(float(extent.numbers[0]) / extent.step) % count
    angles = extent.first + np.radians(extent.step * np.arange(count))
    outward = _directions(angles) @ frame
    # Where the ring runs towards the eye, ticks are too close to tell apart.
    apart = np.linalg.norm(_directions(angles + 0.5 * np.pi) @ frame, axis=-1) * 2.0 * np.pi * radius / count
    shapes: list[Shape] = []
    for step in np.flatnonzero((apart >= _CLOSEST * scale) | (np.arange(count) == taken)).tolist():
        major = math.isclose(math.remainder(step * extent.step, _MAJOR_DEG), 0.0, abs_tol=1e-6)
        length = TICK_TAKEN if step == taken else TICK_MAJOR if major else TICK
        ends = view.centre + np.multiply.outer([radius, radius + length * scale], outward[step])
        shapes.append(Stroke(ends, LINE_WIDTH * scale, "text" if step == taken else "text2", 1.0 if major else 0.7))
    return shapes


def _directions(angles: Floats) -> Floats:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)
