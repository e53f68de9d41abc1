"""Kinds of joints and what binds them: limits (ranges of their dofs, in one of three forms), motors, couplings.

For ball joints the form defines the coordinates of the motion d = rest^-1 * q. The ranges of hinges, universals and
slides are those of their own coordinates.

Mobility is how far each joint commonly rotates, about its own axes or, with a matrix, about any direction. With S
symmetric and positive semi-definite, the mobility about a unit direction u is |S u|, the root of the variance u S S u.
About the principal axes it is an eigenvalue, and S = diag(a, b, c) is equivalent to the numbers a, b, c.

Couplings are joints that follow others (``mimic`` in URDF), and closed loops such as a four-bar.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, prefixed, quote, shown, unknown_name
from viewer.spatial.checks import (
    Bools,
    Floats,
    Ints,
    Reduced,
    as_floats,
    check_type,
    finite_floats,
    frozen,
    member,
    put,
    reduced,
    whole,
)
from viewer.spatial.quaternion import EULER_ORDERS, EulerOrder

AXIS_NAMES = "xyz"

UNLIMITED = (-math.inf, math.inf)
MOST_TURN = 4.0 * math.pi
"""Radians: the largest end of a range of hinges and universals; a range this wide is unlimited."""
_RIGHT_ANGLE = 0.5 * math.pi
"""Radians that every angle of every form can reach."""
_SINGLE = 1e-6
"""Relative error of half a turn in single precision."""

_UP = 1

_EVEN = 1e-6
"""Largest asymmetry relative to the largest number, which rounding explains."""
_BELOW = 1e-3
"""Largest negative eigenvalue relative to the largest number, for matrices typed with few digits."""
_NOTHING = 1e-12
"""Numbers off the diagonal count as 0 up to this fraction of the largest number."""

_SAME = 1e-12
"""A coordinate this near to the one that its leader prescribes is not changed."""


class JointKind(StrEnum):
    """How a joint moves relative to its parent; the values are the words of the skeleton file.

    Attributes:
        axes: how many of `Skeleton.axes` it has; its coordinates are about or along them.
        dof_suffixes: suffixes of the names of its degrees of freedom.
    """

    axes: int
    dof_suffixes: tuple[str, ...]

    def __new__(cls, word: str, axes: int = 0, dof_suffixes: tuple[str, ...] = ()) -> Self:
        """A kind of that word."""
        kind = str.__new__(cls, word)
        kind._value_, kind.axes, kind.dof_suffixes = word, axes, dof_suffixes
        return kind

    BALL = "ball", 0, (".rx", ".ry", ".rz")
    """Three rotations about one point."""
    HINGE = "hinge", 1, ("",)
    """One rotation: q = rest * R(axis, angle)."""
    UNIVERSAL = "universal", 2, (".r0", ".r1")
    """Two rotations: q = rest * R(axes[0], a) * R(axes[1], b), the axes perpendicular."""
    SLIDE = "slide", 1, ("",)
    """One translation: t = offset + R(rest) * axis * distance."""
    FIXED = "fixed"
    """None."""
    FREE = "free", 0, (".tx", ".ty", ".tz", ".rx", ".ry", ".rz")
    """Six: roots only, unlimited."""

    @property
    def dofs(self) -> int:
        """Degrees of freedom."""
        return len(self.dof_suffixes)

    @property
    def turns(self) -> bool:
        """Whether it rotates at all."""
        return self is not JointKind.FIXED and self is not JointKind.SLIDE

    @property
    def turns_freely(self) -> bool:
        """Whether it rotates about every axis: it has no axes of its own."""
        return self is JointKind.BALL or self is JointKind.FREE

    @property
    def hinged(self) -> bool:
        """Whether it rotates about one or two axes of its own."""
        return self is JointKind.HINGE or self is JointKind.UNIVERSAL


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
        """
        form = member(LimitForm, self.form, "joint limits: form")
        if self.order not in EULER_ORDERS:
            raise InputError(
                f"joint limits: order: expected one of {', '.join(EULER_ORDERS)}, found {quote(self.order)}"
            )
        twist_axis = whole(self.twist_axis, "joint limits: twist axis")
        if twist_axis >= len(AXIS_NAMES):
            raise InputError(f"joint limits: twist axis: expected 0, 1 or 2 for x, y or z, found {twist_axis}")
        put(self, form=form, twist_axis=twist_axis)
        lower, upper = (as_floats(side, (-1,), "joint limits") for side in (self.lower, self.upper))
        pairs = list(zip(lower.tolist(), upper.tolist(), strict=False))
        counts = (1, 2) if form is LimitForm.COORDINATES else (3,)
        if len(lower) != len(upper) or len(pairs) not in counts:
            wanted = " or ".join(map(str, counts))
            raise InputError(f"{form} limits: expected {wanted} lower and upper ends, found {len(lower)}, {len(upper)}")
        ends = [self._ends(axis, pair) for axis, pair in enumerate(pairs)]
        if ends != pairs:
            lower, upper = _bounds(ends)
        put(self, lower=frozen(lower), upper=frozen(upper))
        if not self.is_possible():
            raise InputError(
                f"{self.form} limits: expected ranges that leave a swing of 180 degrees or less, found none"
            )

    def _ends(self, axis: int, pair: tuple[float, float]) -> tuple[float, float]:
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
        for name, value in (("effort", self.effort), ("velocity", self.velocity)):
            if value is None:
                continue
            number = float(finite_floats(value, (), f"motor: {name}"))
            if not number > 0.0:
                raise InputError(f"motor: {name}: expected a number above 0, found {number:g}")
            put(self, **{name: number})


def limits_for(kind: JointKind, limits: JointLimits | None) -> JointLimits | None:
    """The limits of a joint of a kind, in the normal form that files have.

    A range of angles with one end gets half a turn as the other, where its equivalents begin; a range of two turns or
    more is unlimited, and so is a slide without ends.
    """
    if limits is None:
        return None
    check_type(limits, JointLimits, "expected JointLimits or None")
    if kind in (JointKind.FIXED, JointKind.FREE):
        raise InputError(f"expected None: a joint that is {kind} has no limits")
    coordinates = limits.form is LimitForm.COORDINATES
    if coordinates != bool(kind.axes) or (coordinates and len(limits.lower) != kind.axes):
        wanted = f"coordinates, {kind.axes} of them" if kind.axes else "swing-twist or euler"
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


def default_twist_axis(direction: ArrayLike) -> int:
    """The coordinate axis (0, 1, 2 for x, y, z) nearest to a direction or its opposite.

    Args:
        direction: (3,) in the joint's frame, of any length: to its first child or tip.

    Returns:
        The axis; of equally near axes the first. A direction of length 0, for a joint without children, gives y.
    """
    lengths = np.abs(np.asarray(direction, dtype=np.float64))
    return int(np.argmax(lengths)) if lengths.any() else _UP


def checked_mobility(mobility: Floats) -> Floats:
    """Mobility (J, 3), read-only."""
    bad = np.isinf(mobility) | (mobility < 0.0)
    if bad.any():
        raise InputError(f"skeleton mobility: expected finite numbers of 0 or more, found {mobility[bad][0]:g}")
    return frozen(mobility)


def checked_matrices(matrices: Floats, names: Sequence[str]) -> Floats:
    """Mobility matrices (J, 3, 3) of the named joints, read-only and exactly symmetric; NaN for joints without one."""
    given = np.asarray(~np.isnan(matrices).all(axis=(-2, -1)))
    if _are_good(matrices[given]):
        return frozen(np.where(given[:, None, None], _even(matrices), np.nan))
    for joint in np.flatnonzero(given).tolist():
        with prefixed(f"skeleton mobility_matrices of {shown(names[joint])}"):
            checked_matrix(matrices[joint])
    raise AssertionError


def checked_matrix(matrix: Floats) -> Floats:
    """A mobility matrix (3, 3), made exactly symmetric."""
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


@dataclass(frozen=True, slots=True)
class Mimic:
    """A hinge or slide that follows another one: its coordinate is ratio * leader's + offset.

    Attributes:
        joint: name of the follower.
        leader: name of its leader.
        ratio: radians or metres of the follower per radian or metre of the leader.
        offset: radians, or metres of a slide.
    """

    joint: str
    leader: str
    ratio: float = 1.0
    offset: float = 0.0


def checked_mimics(given: Iterable[Mimic], names: Sequence[str], kinds: Sequence[JointKind]) -> tuple[Mimic, ...]:
    """Mimics whose leaders follow nothing: chains are followed to their end."""
    mimics = tuple(given)
    if not mimics:
        return ()
    index = {name: joint for joint, name in enumerate(names)}
    own: dict[str, Mimic] = {}
    for one in mimics:
        check_type(one, Mimic, "skeleton mimics: expected a Mimic")
        for name in (one.joint, one.leader):
            if name not in index:
                raise InputError(f"skeleton mimics: {unknown_name('joint', name, names)}")
            if kinds[index[name]].dofs != 1:
                found = f"{quote(name)} is a {kinds[index[name]].value}"
                raise InputError(f"mimic {quote(one.joint)}: expected hinges or slides, and {found}")
        if one.joint in own:
            raise InputError(f"mimic {quote(one.joint)}: it follows {quote(own[one.joint].leader)} already")
        ratio, offset = (
            float(finite_floats(getattr(one, part), (), f"mimic {quote(one.joint)}: {part}"))
            for part in ("ratio", "offset")
        )
        own[one.joint] = replace(one, ratio=ratio, offset=offset)
    return tuple(_to_the_end(one, own) for one in own.values())


def _to_the_end(mimic: Mimic, own: dict[str, Mimic]) -> Mimic:
    """A joint's mimic of the last leader of its chain."""
    passed = [mimic.joint]
    while mimic.leader in own and mimic.leader not in passed:
        passed.append(mimic.leader)
        above = own[mimic.leader]
        ratio, offset = mimic.ratio * above.ratio, mimic.ratio * above.offset + mimic.offset
        mimic = Mimic(mimic.joint, above.leader, ratio, offset)
    if mimic.leader in passed:
        raise InputError(f"mimic {quote(passed[0])}: joints follow each other in a circle")
    return mimic


def kept_mimics(mimics: Iterable[Mimic], names: Sequence[str], kinds: Sequence[JointKind]) -> tuple[Mimic, ...]:
    """The mimics whose joints still exist and are hinges or slides."""
    single = {name for name, kind in zip(names, kinds, strict=True) if kind.dofs == 1}
    return tuple(one for one in mimics if {one.joint, one.leader} <= single)


def renamed_mimics(mimics: Iterable[Mimic], names: Mapping[str, str]) -> list[Mimic]:
    """The mimics with new names of joints, by old names."""
    return [
        replace(one, joint=names.get(one.joint, one.joint), leader=names.get(one.leader, one.leader)) for one in mimics
    ]


class Following(NamedTuple):
    """The mimics of a skeleton as arrays; P of them.

    ``joint`` and ``leader`` (P,) are indices; the coordinate is ``ratio`` (P,) * leader's + ``offset`` (P,).
    """

    joint: Ints
    leader: Ints
    ratio: Floats
    offset: Floats

    def followed(self, coordinates: Floats) -> Floats:
        """A copy of coordinates (..., J, 3) in which followers have what their leaders prescribe."""
        if not self.joint.size:
            return coordinates
        own = coordinates[..., self.joint, 0]
        wanted = self.ratio * coordinates[..., self.leader, 0] + self.offset
        result = coordinates.copy()
        result[..., self.joint, 0] = np.where(np.abs(own - wanted) <= _SAME, own, wanted)
        return result

    def family(self, joints: Iterable[int]) -> list[int]:
        """The joints with their leaders, followers and the other followers of their leaders."""
        found = dict.fromkeys(joints)
        pairs = list(zip(self.joint.tolist(), self.leader.tolist(), strict=True))
        leaders = {leader for joint, leader in pairs if joint in found or leader in found}
        for joint, leader in pairs:
            if leader in leaders:
                found |= {leader: None, joint: None}
        return list(found)

    def lead(self, coordinates: Floats, joints: Iterable[int]) -> Floats:
        """A copy of coordinates (..., J, 3) in which leaders match those of their followers that were moved."""
        moved, result = set(joints), coordinates.copy()
        for joint, leader, ratio, offset in zip(*self, strict=True):
            if joint in moved and leader not in moved and ratio:
                result[..., leader, 0] = (coordinates[..., joint, 0] - offset) / ratio
        return result

    def shrunk(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Ranges (J, 3) in which leaders go only as far as their followers may; a range that would be empty stays."""
        lower, upper = lower.copy(), upper.copy()
        for joint, leader, ratio, offset in zip(*self, strict=True):
            if ratio == 0.0:
                continue
            ends = sorted(((lower[joint, 0] - offset) / ratio, (upper[joint, 0] - offset) / ratio))
            low, high = max(lower[leader, 0], ends[0]), min(upper[leader, 0], ends[1])
            if low <= high:
                lower[leader, 0], upper[leader, 0] = low, high
        return lower, upper


def following(mimics: Iterable[Mimic], names: Sequence[str]) -> Following:
    """The mimics as arrays."""
    index = {name: joint for joint, name in enumerate(names)}
    rows = [(index[one.joint], index[one.leader], one.ratio, one.offset) for one in mimics]
    joint, leader, ratio, offset = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Following(
        np.array(joint, dtype=np.intp), np.array(leader, dtype=np.intp), np.array(ratio, dtype=np.float64),
        np.array(offset, dtype=np.float64),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoopClosure:
    """Two places of a skeleton that stay together.

    Attributes:
        a, b: names of joints, effectors or tips.
        rigid: their joints also keep the rotation that they have to each other at rest.
    """

    a: str
    b: str
    rigid: bool = False


def checked_loops(given: Iterable[LoopClosure], known: Collection[str]) -> tuple[LoopClosure, ...]:
    """The loops whose places exist: edits that remove one open the loop."""
    found = []
    for one in given:
        check_type(one, LoopClosure, "skeleton loops: expected a LoopClosure")
        if one.a == one.b:
            raise InputError(f"skeleton loops: {quote(one.a)} cannot be closed with itself")
        if one.a in known and one.b in known:
            found.append(one)
    return tuple(found)


def renamed_loops(loops: Iterable[LoopClosure], names: Mapping[str, str]) -> tuple[LoopClosure, ...]:
    """The loops with new names of places, by old names."""
    return tuple(replace(one, a=names.get(one.a, one.a), b=names.get(one.b, one.b)) for one in loops)
