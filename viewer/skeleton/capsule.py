"""The volumes of a skeleton: capsules that are fixed to its joints, and which of them are tested against each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from viewer.errors import InputError, quote
from viewer.spatial.checks import Floats, Ints, finite_floats, frozen, whole, whole_numbers
from viewer.spatial.quaternion import rotate

Vector: TypeAlias = tuple[float, float, float]

MOST_CAPSULES = 1000
"""Most capsules of a skeleton: the number of pairs that are tested grows with its square."""

_NO_PAIRS = frozen(np.empty((0, 2)), np.intp)
_NO_CLEARANCES = frozen(np.empty((0, 2)))


@dataclass(frozen=True, slots=True)
class Capsule:
    """All points within a radius of a segment; the segment may be a point, and the capsule is then a ball.

    Attributes:
        joint: index of the joint that it is fixed to.
        a, b: the segment's ends, metres, in that joint's frame.
        radius: metres, above 0.
        mass: kilograms, above 0; None where it is not stated.
    """

    joint: int
    a: Vector
    b: Vector
    radius: float
    mass: float | None = None

    def __repr__(self) -> str:
        """Its joint, length and radius."""
        length = float(np.linalg.norm(np.subtract(self.b, self.a)))
        return f"<Capsule: joint {self.joint}, length {length:.4g}, radius {self.radius:.4g}>"

    def __post_init__(self) -> None:
        """Take plain numbers.

        Raises:
            InputError: no index of a joint, ends that are no finite vectors, a radius or mass that is not above 0.
        """
        object.__setattr__(self, "joint", whole(self.joint, "capsule: joint"))
        for name in ("a", "b"):
            x, y, z = finite_floats(getattr(self, name), (3,), f"capsule: {name}").tolist()
            object.__setattr__(self, name, (x, y, z))
        for name, unit in (("radius", "metres"), ("mass", "kilograms")):
            value = getattr(self, name)
            if value is not None or name == "radius":
                number = float(finite_floats(value, (), f"capsule: {name}"))
                if not number > 0.0:
                    raise InputError(f"capsule: {name}: expected more than 0 {unit}, found {number:g}")
                object.__setattr__(self, name, number)


@dataclass(frozen=True, slots=True)
class Bodies:
    """The volumes of one skeleton. Two are equal if their capsules are.

    Attributes:
        capsules: (C,) in any order.
        pairs: (P, 2) indices of the capsules that are tested against each other, ascending; none until
            `viewer.skeleton.bodies.bodies_of` has chosen them.
        clearances: (C, 2) metres that the ends of each capsule stay above a floor: their radius, or less where they
            are lower in the poses of the figure; empty until they are known.
    """

    capsules: tuple[Capsule, ...]
    pairs: Ints = field(default_factory=lambda: _NO_PAIRS, compare=False)
    clearances: Floats = field(default_factory=lambda: _NO_CLEARANCES, compare=False)

    def __repr__(self) -> str:
        """How many there are."""
        return f"<Bodies: {len(self.capsules)} capsules, {len(self.pairs)} pairs>"

    def __len__(self) -> int:
        """Number of capsules."""
        return len(self.capsules)

    def __post_init__(self) -> None:
        """Take read-only arrays.

        Raises:
            InputError: values that are no capsules; pairs or clearances that do not fit them.
        """
        given: object = self.capsules
        if not isinstance(given, Iterable):
            raise InputError(f"bodies: expected Capsules, found {quote(given)}")
        capsules = tuple(given)
        wrong = next((one for one in capsules if not isinstance(one, Capsule)), None)
        if wrong is not None:
            raise InputError(f"bodies: expected Capsules, found {quote(wrong)}")
        if len(capsules) > MOST_CAPSULES:
            raise InputError(f"bodies: expected at most {MOST_CAPSULES:,} capsules, found {len(capsules):,}")
        pairs = whole_numbers(self.pairs, (-1, 2), "bodies: pairs")
        if pairs.size and not 0 <= pairs.min() <= pairs.max() < len(capsules):
            raise InputError(f"bodies: pairs: expected capsules from 0 to {len(capsules) - 1}")
        clearances = finite_floats(self.clearances, (-1, 2), "bodies: clearances")
        if len(clearances) not in {0, len(capsules)}:
            raise InputError(f"bodies: clearances: expected {len(capsules)} rows or none, found {len(clearances)}")
        object.__setattr__(self, "capsules", capsules)
        object.__setattr__(self, "pairs", frozen(pairs, np.intp))
        object.__setattr__(self, "clearances", frozen(clearances))

    @property
    def table(self) -> CapsuleTable:
        """The capsules as arrays."""
        return CapsuleTable(
            np.array([one.joint for one in self.capsules], dtype=np.intp),
            np.array([one.a for one in self.capsules], dtype=np.float64).reshape(-1, 3),
            np.array([one.b for one in self.capsules], dtype=np.float64).reshape(-1, 3),
            np.array([one.radius for one in self.capsules], dtype=np.float64),
        )


class CapsuleTable(NamedTuple):
    """Capsules as arrays: joint (C,), ends a and b (C, 3) in the joints' frames, radius (C,), metres."""

    joint: Ints
    a: Floats
    b: Floats
    radius: Floats

    def ends(self, positions: Floats, rotations: Floats) -> tuple[Floats, Floats]:
        """World places (..., C, 3) of the ends a and b, of joints at (..., J, 3), turned as (..., J, 4)."""
        place, turn = positions[..., self.joint, :], rotations[..., self.joint, :]
        return np.asarray(place + rotate(turn, self.a)), np.asarray(place + rotate(turn, self.b))
