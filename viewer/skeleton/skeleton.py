"""The skeleton: a tree of joints as arrays, parents first; and a pose of it. Both are checked when they are made.

File readers make skeletons through the same checks: any skeleton that they accept can be made in Python, and any that
is made in Python can be written and read again. Arrays are checked as a block; single joints only for an error message.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from viewer.errors import InputError, prefixed, quote, unknown_name
from viewer.notebook import png
from viewer.skeleton.attached import Bodies, Inertia
from viewer.skeleton.limits import (
    JointKind,
    JointLimits,
    LoopClosure,
    Mimic,
    Motor,
    checked_loops,
    checked_matrices,
    checked_mimics,
    checked_mobility,
    limits_for,
)
from viewer.skeleton.names import Effector
from viewer.spatial.checks import (
    UNIT_ENOUGH,
    Bools,
    Floats,
    Ints,
    Reduced,
    Vector,
    as_floats,
    check_type,
    finite_floats,
    frozen,
    handed_over,
    member,
    nearly_unit,
    not_unit,
    put,
    reduced,
    text,
    unit_axis,
    whole_numbers,
)
from viewer.spatial.quaternion import IDENTITY, dot, multiply, norm, rotate

_LEFT_OUT: Any = None
"""The default of a field that becomes what `_usual` says."""
_PERPENDICULAR = 1e-6
"""Largest cosine of the angle between the two axes of a universal joint."""
_NEAR = 1e-9
"""Poses are near if quaternion components and metres differ by less than this."""

DERIVED_POSES: dict[str, Callable[[Skeleton], Pose]] = {}
"""Makes a pose that a file does not have, by name. `viewer.skeleton.relaxed` adds its own: it poses by kinematics,
which import this module."""


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """Local rotations and translations of J joints, in the skeleton's joint order.

    Attributes:
        rotations: (J, 4) unit quaternions (x, y, z, w), parent_from_joint, the rest rotation included.
        translations: (J, 3) metres in the parent's frame: the joint's offset, except where a root
            moves, a slide slides or a file animates positions.
    """

    rotations: Floats
    translations: Floats

    def __post_init__(self) -> None:
        """Take read-only copies, rotations normalised where they are nearly unit."""
        rotations = as_floats(self.rotations, (-1, 4), "pose rotations")
        translations = as_floats(self.translations, (len(rotations), 3), "pose translations")
        rotations = nearly_unit(rotations, lambda row, *bad: not_unit(f"pose rotations of joint {row}", *bad))
        if not np.isfinite(translations).all():
            finite_floats(translations, translations.shape, "pose translations", lambda at: f" of joint {at[0]}")
        put(self, rotations=frozen(rotations), translations=frozen(translations))

    def __repr__(self) -> str:
        return f"<Pose: {len(self.rotations)} joints>"

    def __reduce__(self) -> Reduced:
        return reduced(self)

    @classmethod
    def trusted(cls, rotations: Floats, translations: Floats) -> Pose:
        """A pose of valid read-only arrays (J, 4) and (J, 3), such as those of a solver or a clip, without checks.

        Poses are made in every step of a drag, where checking them would take as long as half a step.
        """
        made = object.__new__(cls)
        object.__setattr__(made, "rotations", rotations)
        object.__setattr__(made, "translations", translations)
        return made

    def same_as(self, other: Pose) -> bool:
        """Equal to the last bit."""
        return np.array_equal(self.rotations, other.rotations) and np.array_equal(self.translations, other.translations)

    def is_near(self, other: Pose) -> bool:
        """Whether both poses are equal up to rounding, with the same number of joints."""
        if self is other or self.rotations.shape != other.rotations.shape:
            return self is other
        pairs = (self.rotations, other.rotations), (self.translations, other.translations)
        return all(float(np.abs(mine - its).max()) < _NEAR for mine, its in pairs)

    def differs(self, other: Pose, by: float = 0.0) -> Bools:
        """(J,) which joints differ by more than this: in a quaternion component, of either sign, or in metres."""
        turned, moved = self.rotations, np.abs(self.translations - other.translations).max(axis=-1)
        same, opposite = (np.abs(turned - sign * other.rotations).max(axis=-1) for sign in (1.0, -1.0))
        return np.asarray(np.maximum(np.minimum(same, opposite), moved) > by)

    def with_joints(self, other: Pose, joints: int | slice | Sequence[int] | Ints | Bools) -> Pose:
        """The pose with some joints, by index or mask, as in another pose."""
        rotations, translations = self.rotations.copy(), self.translations.copy()
        rotations[joints], translations[joints] = other.rotations[joints], other.translations[joints]
        return Pose.trusted(handed_over(rotations), handed_over(translations))


@dataclass(frozen=True, slots=True, eq=False)
class Skeleton:
    """J joints, parents first (``parents[j] < j``), any number of roots (parent -1).

    World rotation of a joint W_j = W_parent * q_j, world position p_j = p_parent + W_parent * t_j, with q and
    t from a `Pose`. Metres, Y up, right-handed.

    Attributes:
        name: of the skeleton.
        names: (J,) unique joint names.
        parents: (J,) index of each joint's parent, -1 for roots.
        offsets: (J, 3) rest translation in the parent's frame.
        rest_rotations: (J, 4) rest rotation (x, y, z, w), parent_from_joint; limits are measured from it. None: no
            rotation.
        kinds: (J,) how each joint moves. None: roots are free, other joints are balls. The other fields that may be
            None are then zeros or empty.
        axes: (J, 2, 3) unit axes in the joint's rest frame: [0] of hinges and slides, both of universals; else 0.
        limits: (J,) the ranges of each joint, None where unlimited.
        stiffness: (J,) 0 (free) to 1 (does not move in IK).
        tip_parents: (T,) the joint that each end site hangs on, ascending.
        tip_offsets: (T, 3) in that joint's frame.
        effectors: the places that goals are for, in the file's order.
        poses: named poses of the file.
        mobility: (J, 3) radians (metres of slides), how far each degree of freedom commonly moves as the file states
            it, NaN where it does not (see `viewer.ik.mobility`); None where it states none.
        mobility_matrices: (J, 3, 3) the same about every direction, in the joint's own axes: see
            `viewer.skeleton.limits`; NaN where the file states none: then ``mobility`` counts.
        bodies: the volumes that the file states; None where it states none: then `viewer.skeleton.bodies.fit_bodies`
            makes them.
        inertias: (J,) what each joint carries rigidly as the file states it, None where it does not; () where it states
            none: then `viewer.skeleton.balance.inertias_of` estimates them from the bodies.
        motors: (J,) how strong and fast what drives each joint is, as the file states it, None where it does not; ()
            where it states none.
        mimics: hinges and slides that follow others; in a chain of them, all follow the leader of the last one.
        loops: places that stay together; the solver closes them before all goals.
    """

    name: str
    names: tuple[str, ...]
    parents: Ints
    offsets: Floats
    rest_rotations: Floats = _LEFT_OUT
    kinds: tuple[JointKind, ...] = _LEFT_OUT
    axes: Floats = _LEFT_OUT
    limits: tuple[JointLimits | None, ...] = _LEFT_OUT
    stiffness: Floats = _LEFT_OUT
    tip_parents: Ints = _LEFT_OUT
    tip_offsets: Floats = _LEFT_OUT
    effectors: tuple[Effector, ...] = ()
    poses: Mapping[str, Pose] = field(default_factory=lambda: MappingProxyType({}))
    mobility: Floats | None = None
    mobility_matrices: Floats | None = None
    bodies: Bodies | None = None
    inertias: tuple[Inertia | None, ...] = ()
    motors: tuple[Motor | None, ...] = ()
    mimics: tuple[Mimic, ...] = ()
    loops: tuple[LoopClosure, ...] = ()

    def __post_init__(self) -> None:
        """Take lists as read-only arrays, words as kinds, axes at unit length."""
        put(self, **_checked_fields(self))

    def __repr__(self) -> str:
        return f"<Skeleton {quote(self.name)}: {len(self)} joints, {self.dof} degrees of freedom>"

    def _repr_png_(self) -> bytes | None:
        """The picture that notebooks show: the relaxed pose."""
        return png(self)

    def __reduce__(self) -> Reduced:
        return reduced(self)

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """The index of the joint of that name.

        Raises:
            InputError: no such joint (the message suggests similar names), or not a text.
        """
        found: object = name
        if not isinstance(found, str):
            raise InputError(f"expected the name of a joint, found {quote(found)}")
        number = _indices(self).get(name)
        if number is None:
            effector = _effectors_by_name(self).get(name)
            if effector is not None:
                raise InputError(f"no joint {quote(name)}: it is an effector of {quote(self.names[effector.joint])}")
            raise InputError(unknown_name("joint", name, self.names))
        return number

    def effector(self, name: str) -> Effector:
        """The effector of that name: one of `effectors`, a joint, or an end site, ``PARENT.tip``.

        Its place in the world is ``world.point(effector.joint, effector.offset)``.

        Raises:
            InputError: nothing has that name (the message suggests similar names).
        """
        return effector_of(self, name)

    @property
    def roots(self) -> Ints:
        """Indices of the joints without a parent."""
        return np.flatnonzero(self.parents < 0)

    @property
    def dof(self) -> int:
        """Degrees of freedom of all joints together; those that follow others have none of their own."""
        return sum(kind.dofs for kind in self.kinds) - len(self.mimics)

    @property
    def dof_names(self) -> tuple[str, ...]:
        """A name for each joint's coordinates, in joint order: ``elbow``, ``hip.rx``, ``root.ty``."""
        joints = zip(self.names, self.kinds, strict=True)
        return tuple(name + suffix for name, kind in joints for suffix in kind.dof_suffixes)

    def of_kind(self, *kinds: JointKind) -> Bools:
        """(J,) which joints are of one of these kinds."""
        return np.array([kind in kinds for kind in self.kinds], dtype=np.bool_)

    @property
    def tip_names(self) -> tuple[str, ...]:
        """``PARENT.tip`` for every end site, ``PARENT.tip2`` for a parent's second one."""
        return _tip_names(self.names, self.tip_parents)

    @property
    def has_mobility_matrix(self) -> Bools:
        """(J,) whether the mobility of a joint is stated as a matrix."""
        if self.mobility_matrices is None:
            return np.zeros(len(self), dtype=np.bool_)
        return ~np.isnan(self.mobility_matrices[:, 0, 0])

    @property
    def states_mobility(self) -> Bools:
        """(J,) whether the mobility of a joint is stated at all."""
        found = self.has_mobility_matrix
        return found if self.mobility is None else found | ~np.isnan(self.mobility).all(axis=-1)

    def rest_pose(self) -> Pose:
        """Every joint at its rest rotation and offset."""
        return Pose.trusted(self.rest_rotations, self.offsets)

    def relaxed_pose(self) -> Pose:
        """A good start for IK: limbs slightly bent, in their natural direction.

        The file's pose "relaxed"; else the derived one of a recognised figure (`viewer.skeleton.relaxed`); else the
        rest pose.
        """
        relaxed = self.poses.get("relaxed")
        return DERIVED_POSES["relaxed"](self) if relaxed is None else relaxed


@lru_cache(maxsize=512)
def effector_of(skeleton: Skeleton, name: str) -> Effector:
    """The effector of a name: a defined effector, a joint, or an end site ``PARENT.tip``, in this order. Cached."""
    if (effector := _effectors_by_name(skeleton).get(name)) is not None:
        return effector
    if name in skeleton.names:
        return Effector(name, skeleton.index(name))
    tips = skeleton.tip_names
    if name in tips:
        tip = tips.index(name)
        x, y, z = skeleton.tip_offsets[tip].tolist()
        return Effector(name, int(skeleton.tip_parents[tip]), (x, y, z))
    known = dict.fromkeys([e.name for e in skeleton.effectors] + [*skeleton.names, *tips])
    raise InputError(unknown_name("effector, joint or tip", name, known))


NO_OFFSET = 0.0, 0.0, 0.0


def point_of(skeleton: Skeleton, name: str, offset: Vector = NO_OFFSET) -> tuple[int, Vector]:
    """The joint of what `effector_of` finds, and in its frame its point, or one ``offset`` metres beside it."""
    effector = effector_of(skeleton, name)
    x, y, z = np.add(effector.offset, offset).tolist()
    return effector.joint, (x, y, z)


def effector_names(skeleton: Skeleton) -> set[str]:
    """The names of joints, end sites and effectors: what goals, layers and pins may name."""
    return {*skeleton.names, *skeleton.tip_names, *(effector.name for effector in skeleton.effectors)}


def moved_roots(
    roots: Ints | Bools, rotations: Floats, translations: Floats, turn: Floats, way: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """Copies of local rotations (..., J, 4) and translations (..., J, 3) with the roots turned, then moved.

    ``roots`` are indices, or (J,) which joints they are; ``turn`` (4,) is about the origin, ``way`` (3,) in metres,
    0.0: none.
    """
    turns, places = rotations.copy(), translations.copy()
    turns[..., roots, :] = multiply(turn, turns[..., roots, :])
    places[..., roots, :] = rotate(turn, places[..., roots, :]) + way
    return turns, places


@lru_cache(maxsize=8)
def _indices(skeleton: Skeleton) -> dict[str, int]:
    return {name: index for index, name in enumerate(skeleton.names)}


@lru_cache(maxsize=8)
def _effectors_by_name(skeleton: Skeleton) -> dict[str, Effector]:
    return {effector.name: effector for effector in skeleton.effectors}


def _checked_fields(given: Skeleton) -> dict[str, object]:
    names = checked_names(given.names)
    count = len(names)
    parents = _parents(given.parents, names)
    usual = _usual(parents)

    def stated(name: str) -> Any:  # noqa: ANN401 - of any field that may be left out
        return usual[name] if getattr(given, name) is _LEFT_OUT else getattr(given, name)

    kinds = _kinds(stated("kinds"), names, parents)
    tip_parents = _tip_parents(stated("tip_parents"), count)
    mobility, matrices = given.mobility, given.mobility_matrices
    if mobility is not None:
        mobility = checked_mobility(as_floats(mobility, (count, 3), "skeleton mobility"))
    if matrices is not None:
        matrices = checked_matrices(as_floats(matrices, (count, 3, 3), "skeleton mobility_matrices"), names)
    return {
        "name": text(given.name, "skeleton name"),
        "names": names,
        "parents": frozen(parents, np.intp),
        "offsets": frozen(_numbers(given.offsets, (count, 3), "offsets", names)),
        "rest_rotations": frozen(_rotations(stated("rest_rotations"), names)),
        "kinds": kinds,
        "axes": frozen(_axes(stated("axes"), kinds, names)),
        "limits": _limits(stated("limits"), kinds, names),
        "stiffness": frozen(_stiffness(stated("stiffness"), names)),
        "tip_parents": frozen(tip_parents, np.intp),
        "tip_offsets": frozen(
            _numbers(stated("tip_offsets"), (len(tip_parents), 3), "tip_offsets", [names[j] for j in tip_parents])
        ),
        "effectors": _effectors(given.effectors, names),
        "poses": _poses(given.poses, count),
        "mobility": mobility,
        "mobility_matrices": matrices,
        "bodies": _bodies(given.bodies, names),
        "inertias": _stated(given.inertias, Inertia, "inertias", names),
        "motors": _stated(given.motors, Motor, "motors", names),
        "mimics": checked_mimics(given.mimics, names, kinds),
        "loops": _loops(given, (*names, *_tip_names(names, tip_parents))),
    }


def _usual(parents: Ints) -> dict[str, object]:
    """The fields that may be left out: balls under free roots, without limits, end sites or rotations at rest."""
    count = len(parents)
    return {
        "rest_rotations": np.broadcast_to(IDENTITY, (count, 4)),
        "kinds": [JointKind.FREE if parent < 0 else JointKind.BALL for parent in parents.tolist()],
        "axes": np.zeros((count, 2, 3)),
        "limits": (None,) * count,
        "stiffness": np.zeros(count),
        "tip_parents": np.zeros(0, dtype=np.intp),
        "tip_offsets": np.zeros((0, 3)),
    }


def _loops(given: Skeleton, places: tuple[str, ...]) -> tuple[LoopClosure, ...]:
    return checked_loops(given.loops, {*places, *(one.name for one in given.effectors)}) if given.loops else ()


def _tip_names(names: Sequence[str], tip_parents: Ints) -> tuple[str, ...]:
    found: list[str] = []
    seen: dict[int, int] = {}
    for parent in tip_parents.tolist():
        seen[parent] = seen.get(parent, 0) + 1
        found.append(f"{names[parent]}.tip{'' if seen[parent] == 1 else seen[parent]}")
    return tuple(found)


def check_perpendicular(first: Vector, second: Vector) -> None:
    """Raise InputError unless two unit axes are perpendicular."""
    cosine = sum(a * b for a, b in zip(first, second, strict=True))
    if abs(cosine) > _PERPENDICULAR:
        degrees = math.degrees(math.acos(min(1.0, max(-1.0, cosine))))
        raise InputError(f"expected perpendicular axes, found {degrees:.7g} degrees between them")


def checked_names(given: Iterable[str]) -> tuple[str, ...]:
    """The names of joints."""
    names = _listed(given, "names")
    if not names:
        raise InputError("a skeleton needs at least one joint")
    if set(map(type, names)) != {str} or "" in names or not "".join(names).isascii():
        names = tuple(text(name, f"skeleton names[{joint}]", empty=False) for joint, name in enumerate(names))
    if len(set(names)) != len(names):
        again = next(name for joint, name in enumerate(names) if name in names[:joint])
        raise InputError(f"joint names must be unique, found {quote(again)} twice")
    return names


def _listed(given: object, what: str) -> tuple[Any, ...]:
    if isinstance(given, tuple):
        return given
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise InputError(f"skeleton {what}: expected a list, found {quote(given)}")
    return tuple(given)


def _one_each(given: object, what: str, names: Sequence[str]) -> tuple[Any, ...]:
    found = _listed(given, what)
    if len(found) != len(names):
        raise InputError(f"skeleton {what}: expected {len(names)}, one of each joint, found {len(found)}")
    return found


def _numbers(given: Floats, shape: tuple[int, ...], what: str, names: Sequence[str]) -> Floats:
    return finite_floats(given, shape, f"skeleton {what}", lambda index: f" of {quote(names[index[0]])}")


def _parents(given: Ints, names: Sequence[str]) -> Ints:
    parents = whole_numbers(given, (len(names),), "skeleton parents")
    wrong = np.flatnonzero((parents < -1) | (parents >= np.arange(len(names))))
    if wrong.size:
        joint = int(wrong[0])
        problem = f"expected each parent before its children and -1 for roots, found {parents[joint]}"
        raise InputError(f"skeleton parents of {quote(names[joint])}: {problem} for joint {joint}")
    return parents


def _rotations(given: Floats, names: Sequence[str]) -> Floats:
    rotations = as_floats(given, (len(names), 4), "skeleton rest_rotations")
    return nearly_unit(rotations, lambda row, *bad: not_unit(f"skeleton rest_rotations of {quote(names[row])}", *bad))


def _kinds(given: Iterable[JointKind], names: Sequence[str], parents: Ints) -> tuple[JointKind, ...]:
    kinds = _one_each(given, "kinds", names)
    if set(map(type, kinds)) != {JointKind}:
        kinds = tuple(
            member(JointKind, kind, f"skeleton kinds of {quote(name)}") for kind, name in zip(kinds, names, strict=True)
        )
    if JointKind.FREE in kinds:
        for kind, name, parent in zip(kinds, names, parents.tolist(), strict=True):
            if kind is JointKind.FREE and parent >= 0:
                raise InputError(
                    f"skeleton kinds of {quote(name)}: expected free on roots only, found it on a joint with a parent"
                )
    return kinds


def _axes(given: Floats, kinds: Sequence[JointKind], names: Sequence[str]) -> Floats:
    """Unit axes (J, 2, 3), 0 where a kind has none."""
    axes = _numbers(given, (len(kinds), 2, 3), "axes", names)
    counts = np.array([kind.axes for kind in kinds], dtype=np.intp)
    if not counts.any():
        return axes if not axes.any() else np.zeros_like(axes)
    used = counts[:, None] > np.arange(2)
    with np.errstate(over="ignore"):
        lengths = norm(axes)
    across = dot(axes[:, 0], axes[:, 1])
    if (np.abs(lengths - used) <= UNIT_ENOUGH).all() and (np.abs(across) <= _PERPENDICULAR).all():
        return axes
    result = np.zeros_like(axes)
    for joint in np.flatnonzero(counts).tolist():
        with prefixed(f"skeleton axes of {quote(names[joint])}"):
            own = [unit_axis(tuple(axis)) for axis in axes[joint, : counts[joint]].tolist()]
            check_perpendicular(*own) if len(own) > 1 else None
        result[joint, : len(own)] = own
    return result


def _limits(
    given: Iterable[JointLimits | None], kinds: Sequence[JointKind], names: Sequence[str]
) -> tuple[JointLimits | None, ...]:
    limits = _one_each(given, "limits", names)
    if set(limits) == {None}:
        return limits
    found = []
    for own, kind, name in zip(limits, kinds, names, strict=True):
        try:
            found.append(limits_for(kind, own))
        except InputError as error:
            raise InputError(f"skeleton limits of {quote(name)}: {error}") from None
    return tuple(found)


def _stiffness(given: Floats, names: Sequence[str]) -> Floats:
    stiffness = _numbers(given, (len(names),), "stiffness", names)
    wrong = np.flatnonzero((stiffness < 0.0) | (stiffness > 1.0))
    if wrong.size:
        joint = int(wrong[0])
        problem = f"expected 0 to 1, found {stiffness[joint]:g}"
        raise InputError(f"skeleton stiffness of {quote(names[joint])}: {problem}")
    return stiffness


def _tip_parents(given: Ints, count: int) -> Ints:
    parents = whole_numbers(given, (-1,), "skeleton tip_parents")
    if parents.size and not (parents.min() >= 0 and parents.max() < count and (np.diff(parents) >= 0).all()):
        raise InputError("skeleton tip_parents: expected joint indices, ascending")
    return parents


def _effectors(given: Iterable[Effector], names: Sequence[str]) -> tuple[Effector, ...]:
    effectors = _listed(given, "effectors")
    seen: set[str] = set()
    for effector in effectors:
        check_type(effector, Effector, "skeleton effectors: expected Effectors")
        if effector.name in seen:
            raise InputError(f"skeleton effectors: expected names of their own, found {quote(effector.name)} twice")
        if effector.joint >= len(names):
            found = f"expected a joint from 0 to {len(names) - 1}, found {effector.joint}"
            raise InputError(f"skeleton effectors: joint of {quote(effector.name)}: {found}")
        seen.add(effector.name)
    return effectors


def _bodies(given: Bodies | None, names: Sequence[str]) -> Bodies | None:
    if given is None:
        return None
    check_type(given, Bodies, "skeleton bodies: expected Bodies")
    for place, capsule in enumerate(given.capsules):
        if capsule.joint >= len(names):
            problem = f"expected a joint from 0 to {len(names) - 1}, found {capsule.joint}"
            raise InputError(f"skeleton bodies: joint of capsule {place}: {problem}")
    return given


def _stated(given: Iterable[object], kind: type, what: str, names: Sequence[str]) -> tuple[Any, ...]:
    """One of a kind or None for each joint; () if all are None."""
    found = _listed(given, what)
    if not found or all(one is None for one in found):
        return ()
    found = _one_each(found, what, names)
    for one, name in zip(found, names, strict=True):
        if not (one is None or isinstance(one, kind)):
            expected = f"expected {kind.__name__} or None"
            raise InputError(f"skeleton {what} of {quote(name)}: {expected}, found {quote(one)}")
    return found


def _poses(given: Mapping[str, Pose], count: int) -> Mapping[str, Pose]:
    if not hasattr(given, "items"):
        raise InputError(f"skeleton poses: expected poses by name, found {quote(given)}")
    for name, pose in given.items():
        text(name, "skeleton poses: name")
        check_type(pose, Pose, f"skeleton poses: {quote(name)}: expected a pose")
        if len(pose.rotations) != count:
            raise InputError(f"skeleton poses: {quote(name)}: expected {count} joints, found {len(pose.rotations)}")
    return given if isinstance(given, MappingProxyType) else MappingProxyType(dict(given))
