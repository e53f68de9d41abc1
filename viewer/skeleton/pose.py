"""A pose: rotation and translation of every joint of a skeleton relative to its parent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from viewer.spatial.checks import (
    Bools,
    Floats,
    Ints,
    as_floats,
    finite_floats,
    frozen,
    handed_over,
    nearly_unit,
    not_unit,
    put,
)
from viewer.spatial.quaternion import multiply, rotate

_NEAR = 1e-9
"""Poses are near if quaternion components and metres differ by less than this."""
Reduced: TypeAlias = tuple[Any, tuple[Any, ...]]
"""Result of `object.__reduce__`: a function and its arguments."""


def reduced(value: Any) -> Reduced:  # noqa: ANN401 - of any dataclass
    """The ``__reduce__`` of a value, by its fields; read-only maps, which cannot be pickled, are converted."""
    given = {field.name: getattr(value, field.name) for field in fields(value)}
    maps = {name for name, content in given.items() if isinstance(content, MappingProxyType)}
    return _made, (type(value), given | {name: dict(given[name]) for name in maps}, maps)


def _made(kind: type[Any], given: dict[str, Any], maps: set[str]) -> object:
    return kind(**given | {name: MappingProxyType(given[name]) for name in maps})


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
