"""Kinds of joints, joint limits (ranges of the degrees of freedom, in one of three forms), motors, and mobility.

For ball joints the form defines the coordinates of the motion d = rest^-1 * q. The ranges of hinges, universals and
slides are those of their own coordinates.

Mobility is how far each joint commonly rotates, about its own axes or, with a matrix, about any direction. With S
symmetric and positive semi-definite, the mobility about a unit direction u is |S u|, the root of the variance u S S u.
About the principal axes it is an eigenvalue, and S = diag(a, b, c) is equivalent to the numbers a, b, c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, prefixed, quote, shown
from viewer.skeleton.pose import Reduced, reduced
from viewer.spatial.checks import Bools, Floats, as_floats, finite_floats, frozen, member, whole
from viewer.spatial.quaternion import EULER_ORDERS, EulerOrder


class JointKind(StrEnum):
    """How a joint moves relative to its parent; the values are the words of the skeleton file."""

    BALL = "ball"
    """Three rotations about one point."""
    HINGE = "hinge"
    """One rotation: q = rest * R(axis, angle)."""
    UNIVERSAL = "universal"
    """Two rotations: q = rest * R(axes[0], a) * R(axes[1], b), the axes perpendicular."""
    SLIDE = "slide"
    """One translation: t = offset + R(rest) * axis * distance."""
    FIXED = "fixed"
    """None."""
    FREE = "free"
    """Six: roots only, unlimited."""


DOFS: dict[JointKind, int] = {
    JointKind.BALL: 3,
    JointKind.HINGE: 1,
    JointKind.UNIVERSAL: 2,
    JointKind.SLIDE: 1,
    JointKind.FIXED: 0,
    JointKind.FREE: 6,
}
"""Degrees of freedom of each kind."""

DOF_SUFFIXES: dict[JointKind, tuple[str, ...]] = {
    JointKind.BALL: (".rx", ".ry", ".rz"),
    JointKind.HINGE: ("",),
    JointKind.UNIVERSAL: (".r0", ".r1"),
    JointKind.SLIDE: ("",),
    JointKind.FIXED: (),
    JointKind.FREE: (".tx", ".ty", ".tz", ".rx", ".ry", ".rz"),
}
"""Suffixes of the names of a joint's degrees of freedom."""


AXIS_NAMES = "xyz"


class LimitForm(StrEnum):
    """What the numbers of a `JointLimits` mean."""

    COORDINATES = "coordinates"
    """Per coordinate of a hinge (1), universal (2) or slide (1)."""
    SWING_TWIST = "swing-twist"
    """Ball: d = swing * twist, twist acts first; per axis x, y, z: the twist angle on the twist
    axis, the components of the swing's rotation vector on the two others."""
    EULER = "euler"
    """Ball: d = R1(a) R2(b) R3(c) in the order given; per axis x, y, z, the middle within +-90 degrees."""


@dataclass(frozen=True, slots=True, eq=False)
class JointLimits:
    """Ranges of one joint.

    Attributes:
        form: how the ranges are measured.
        lower, upper: (n,) radians, metres for a slide; n = 3 in axis order x, y, z for balls (in any Euler order), else
        one per coordinate. -inf and +inf where unlimited.
        twist_axis: swing-twist form: 0, 1 or 2 for x, y or z.
        order: Euler form: three letters, the first acts last ("xyz": R = Rx Ry Rz).
    """

    form: LimitForm
    lower: Floats
    upper: Floats
    twist_axis: int = 1
    order: EulerOrder = "xyz"

    def __post_init__(self) -> None:
        """Take the ranges as read-only arrays.

        A ball's range with one end gets the farthest possible angle as the other. Ends that exceed the farthest angle
        by the rounding of single precision are set to it.

        Raises:
            InputError: an unknown form or order, ranges that are upside down, too wide, NaN or of another number than
                the form has; swings that no rotation has.
        """
        form = member(LimitForm, self.form, "joint limits: form")
        if self.order not in EULER_ORDERS:
            raise InputError(
                f"joint limits: order: expected one of {', '.join(EULER_ORDERS)}, found {quote(self.order)}"
            )
        twist_axis = whole(self.twist_axis, "joint limits: twist axis")
        if twist_axis >= len(AXIS_NAMES):
            raise InputError(f"joint limits: twist axis: expected 0, 1 or 2 for x, y or z, found {twist_axis}")
        object.__setattr__(self, "form", form)
        object.__setattr__(self, "twist_axis", twist_axis)
        lower, upper = (as_floats(side, (-1,), "joint limits") for side in (self.lower, self.upper))
        pairs = list(zip(lower.tolist(), upper.tolist(), strict=False))
        counts = (1, 2) if form is LimitForm.COORDINATES else (3,)
        if len(lower) != len(upper) or len(pairs) not in counts:
            wanted = " or ".join(map(str, counts))
            raise InputError(f"{form} limits: expected {wanted} lower and upper ends, found {len(lower)}, {len(upper)}")
        ends = [self._ends(axis, pair) for axis, pair in enumerate(pairs)]
        if ends != pairs:
            lower, upper = _bounds(ends)
        object.__setattr__(self, "lower", frozen(lower))
        object.__setattr__(self, "upper", frozen(upper))
        if not self.is_possible():
            raise InputError(
                f"{self.form} limits: expected ranges that leave a swing of 180 degrees or less, found none"
            )

    def _ends(self, axis: int, pair: tuple[float, float]) -> tuple[float, float]:
        """A range as it is stored."""
        low, high = pair
        if not low <= high or low == math.inf or high == -math.inf:
            found = "found NaN" if math.isnan(low + high) else f"found {low:g}, {high:g}"
            raise InputError(f"{self._range(axis)}: expected the lower end first, {found}")
        if self.form is LimitForm.COORDINATES or pair == UNLIMITED or -_RIGHT_ANGLE <= low <= high <= _RIGHT_ANGLE:
            return pair
        most = math.pi
        if self.form is LimitForm.EULER and self.order[1] == AXIS_NAMES[axis]:
            most = _RIGHT_ANGLE
        finite = [abs(end) for end in pair if math.isfinite(end)]
        if max(finite) > most * (1.0 + _SINGLE):
            hint = ": degrees?" if max(finite) > 2.0 * math.pi else ""
            middle = f" for the middle angle of {self.order}" if most < math.pi else ""
            raise InputError(
                f"{self._range(axis)}: expected a range within +-{most:.6g} radians{middle}, "
                f"found {low:g}, {high:g}{hint}"
            )
        return max(low, -most), min(high, most)

    def _range(self, axis: int) -> str:
        if self.form is LimitForm.COORDINATES:
            return f"{self.form} limits: range {axis}"
        return f"{self.form} limits about {AXIS_NAMES[axis]}"

    def __repr__(self) -> str:
        """Its form and ranges: degrees of angles of balls, radians or metres of other joints."""
        ends = zip(self.lower.tolist(), self.upper.tolist(), strict=True)
        if self.form is LimitForm.COORDINATES:
            return f"<JointLimits: {', '.join(f'{low:.4g} to {high:.4g}' for low, high in ends)}>"
        form = self.order if self.form is LimitForm.EULER else f"twist about {AXIS_NAMES[self.twist_axis]}"
        angles = (f"{math.degrees(low):.4g} to {math.degrees(high):.4g}" for low, high in ends)
        ranges = ", ".join(f"{axis} {ends}" for axis, ends in zip(AXIS_NAMES, angles, strict=True))
        return f"<JointLimits: {self.form} ({form}), {ranges} degrees>"

    def __reduce__(self) -> Reduced:
        """Copied by its fields."""
        return reduced(self)

    @classmethod
    def coordinates(cls, *ranges: tuple[float, float]) -> JointLimits:
        """Limits of a hinge (radians), universal (two pairs, radians) or slide (metres)."""
        return cls(LimitForm.COORDINATES, *_bounds(ranges))

    @classmethod
    def swing_twist(cls, twist_axis: int, *ranges: tuple[float, float]) -> JointLimits:
        """Limits of a ball joint about x, y, z (radians): twist on its axis, swing on the others."""
        return cls(LimitForm.SWING_TWIST, *_bounds(ranges), twist_axis=twist_axis)

    @classmethod
    def euler(cls, order: EulerOrder, *ranges: tuple[float, float]) -> JointLimits:
        """Limits of a ball joint about x, y, z (radians) as intrinsic angles of ``order``."""
        return cls(LimitForm.EULER, *_bounds(ranges), order=order)

    def is_possible(self) -> bool:
        """Whether any rotation is inside the ranges; a swing is a vector of at most half a turn."""
        if self.form is not LimitForm.SWING_TWIST:
            return True
        pairs = enumerate(zip(self.lower.tolist(), self.upper.tolist(), strict=True))
        swing = [max(low, min(high, 0.0)) for axis, (low, high) in pairs if axis != self.twist_axis]
        return math.hypot(*swing) <= math.pi

    def same_as(self, other: JointLimits | None) -> bool:
        """Equal in every number (arrays have no truth value, so there is no ``==``)."""
        return (
            other is not None
            and (self.form, self.twist_axis, self.order) == (other.form, other.twist_axis, other.order)
            and np.array_equal(self.lower, other.lower)
            and np.array_equal(self.upper, other.upper)
        )


@dataclass(frozen=True, slots=True)
class Motor:
    """How strong and how fast what drives a joint is, about each of its axes; None where nothing is stated.

    Attributes:
        effort: the largest torque, newton metres; the largest force of slides, newtons.
        velocity: the highest speed, radians per second; metres per second of slides.
    """

    effort: float | None = None
    velocity: float | None = None

    def __post_init__(self) -> None:
        """Take plain numbers.

        Raises:
            InputError: a number that is not finite and above 0.
        """
        for name, value in (("effort", self.effort), ("velocity", self.velocity)):
            if value is None:
                continue
            number = float(finite_floats(value, (), f"motor: {name}"))
            if not number > 0.0:
                raise InputError(f"motor: {name}: expected a number above 0, found {number:g}")
            object.__setattr__(self, name, number)


UNLIMITED = (-math.inf, math.inf)
"""The range of an unlimited coordinate."""
MOST_TURN = 4.0 * math.pi
"""Radians: the largest end of a range of hinges and universals; a range this wide is unlimited."""
_RIGHT_ANGLE = 0.5 * math.pi
"""Radians that every angle of every form can reach."""
_SINGLE = 1e-6
"""Relative error of half a turn in single precision."""

_COORDINATES = {JointKind.HINGE: 1, JointKind.UNIVERSAL: 2, JointKind.SLIDE: 1}


def limits_for(kind: JointKind, limits: JointLimits | None) -> JointLimits | None:
    """The limits of a joint of a kind, in the normal form that files have.

    A range of angles with one end gets half a turn as the other, where its equivalents begin; a range of two turns or
    more is unlimited, and so is a slide without ends.

    Raises:
        InputError: limits of another kind, angles that are not plausible in radians, a slide with one end.
    """
    if limits is None:
        return None
    if not isinstance(limits, JointLimits):
        raise InputError(f"expected JointLimits or None, found {quote(limits)}")
    if kind in (JointKind.FIXED, JointKind.FREE):
        raise InputError(f"expected None: a joint that is {kind} has no limits")
    coordinates = limits.form is LimitForm.COORDINATES
    if coordinates != (kind in _COORDINATES) or (coordinates and len(limits.lower) != _COORDINATES[kind]):
        count = _COORDINATES.get(kind)
        wanted = f"coordinates, {count} of them" if count else "swing-twist or euler"
        raise InputError(f"expected limits of a {kind} ({wanted}), found {limits.form}, {len(limits.lower)}")
    if not coordinates:
        return limits
    pairs = list(zip(limits.lower.tolist(), limits.upper.tolist(), strict=True))
    if kind is JointKind.SLIDE:
        low, high = pairs[0]
        if math.isfinite(low) != math.isfinite(high):
            raise InputError(f"expected two finite ends of a slide, or None, found {low:g}, {high:g}")
        return limits if math.isfinite(low) else None
    ends = [_angles(*pair) for pair in pairs]
    return limits if ends == pairs else JointLimits.coordinates(*ends)


def _angles(low: float, high: float) -> tuple[float, float]:
    farthest = max((abs(end) for end in (low, high) if math.isfinite(end)), default=0.0)
    if farthest > MOST_TURN * (1.0 + _SINGLE):
        raise InputError(f"expected angles within +-{MOST_TURN:.6g} radians, found {low:g}, {high:g}: degrees?")
    if math.isinf(low) != math.isinf(high):
        low, high = max(low, min(-math.pi, high)), min(high, max(math.pi, low))
    return (low, high) if high - low < MOST_TURN else UNLIMITED


def _bounds(ranges: Sequence[tuple[float, float]]) -> tuple[Floats, Floats]:
    pairs = as_floats(ranges, (len(ranges), 2), "joint limits: ranges (lowest, highest)")
    return pairs[:, 0], pairs[:, 1]


_UP = 1


def default_twist_axis(direction: ArrayLike) -> int:
    """The coordinate axis (0, 1, 2 for x, y, z) nearest to a direction or its opposite.

    Args:
        direction: (3,) in the joint's frame, of any length: to its first child or tip.

    Returns:
        The axis; of equally near axes the first. A direction of length 0, for a joint without children, gives y.
    """
    lengths = np.abs(np.asarray(direction, dtype=np.float64))
    return int(np.argmax(lengths)) if lengths.any() else _UP


_EVEN = 1e-6
"""Largest asymmetry relative to the largest number, which rounding explains."""
_BELOW = 1e-3
"""Largest negative eigenvalue relative to the largest number, for matrices typed with few digits."""
_NOTHING = 1e-12
"""Numbers off the diagonal count as 0 up to this fraction of the largest number."""


def checked_mobility(mobility: Floats) -> Floats:
    """Mobility (J, 3), read-only.

    Raises:
        InputError: one below 0, or infinite.
    """
    bad = np.isinf(mobility) | (mobility < 0.0)
    if bad.any():
        raise InputError(f"skeleton mobility: expected finite numbers of 0 or more, found {mobility[bad][0]:g}")
    return frozen(mobility)


def checked_matrices(matrices: Floats, names: Sequence[str]) -> Floats:
    """Mobility matrices (J, 3, 3) of the named joints, read-only and exactly symmetric; NaN for joints without one.

    Raises:
        InputError: an invalid matrix.
    """
    given = np.asarray(~np.isnan(matrices).all(axis=(-2, -1)))
    if _are_good(matrices[given]):
        return frozen(np.where(given[:, None, None], _even(matrices), np.nan))
    for joint in np.flatnonzero(given).tolist():
        with prefixed(f"skeleton mobility_matrices of {shown(names[joint])}"):
            checked_matrix(matrices[joint])
    raise AssertionError


def checked_matrix(matrix: Floats) -> Floats:
    """A mobility matrix (3, 3), made exactly symmetric.

    Raises:
        InputError: NaN or infinite, not symmetric, an eigenvalue below 0.
    """
    if not np.isfinite(matrix).all():
        raise InputError("expected finite numbers, found NaN or infinity")
    largest = float(np.abs(matrix).max())
    uneven = np.argwhere(np.abs(matrix - matrix.T) > _EVEN * largest)
    if len(uneven):
        row, column = uneven[0].tolist()
        here, there = matrix[row, column], matrix[column, row]
        raise InputError(
            f"expected a symmetric matrix, found {here:g} in row {row + 1}, column {column + 1} and {there:g} across"
        )
    lowest = _lowest(matrix)
    if lowest < -_BELOW:
        raise InputError(f"expected a spread of 0 or more about every direction, found {lowest * largest:g}")
    return _even(matrix)


def _are_good(matrices: Floats) -> bool:
    """Whether `checked_matrix` takes all of them: skeletons are made often, and the answer is nearly always yes."""
    if not np.isfinite(matrices).all():
        return False
    largest = np.abs(matrices).max(axis=(-2, -1), initial=0.0)[:, None, None]
    even = np.abs(matrices - matrices.swapaxes(-2, -1)) <= _EVEN * largest
    return bool(even.all()) and bool((_lowest(matrices) >= -_BELOW).all())


def _even(matrices: Floats) -> Floats:
    # Halved first, because the sum of two large numbers might overflow.
    return 0.5 * matrices + 0.5 * matrices.swapaxes(-2, -1)


def _lowest(matrices: Floats) -> Floats:
    """(...) the lowest eigenvalues relative to the largest number."""
    largest = np.abs(matrices).max(axis=(-2, -1), keepdims=True)
    return np.asarray(np.linalg.eigvalsh(_even(matrices / np.where(largest > 0.0, largest, 1.0)))[..., 0])


def are_diagonal(matrices: Floats) -> Bools:
    """(...) whether matrices (..., 3, 3) are diagonal."""
    off = np.abs(matrices) * (1.0 - np.eye(3))
    return np.asarray(off.max(axis=(-2, -1)) <= _NOTHING * np.abs(matrices).max(axis=(-2, -1)))
