"""A pose: where every joint of one skeleton is, relative to its parent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import InputError
from viewer.skeleton.copies import reduced
from viewer.spatial.checks import finite_floats, frozen, unit_quaternions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from viewer.skeleton.copies import Reduced
    from viewer.spatial.checks import Floats


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
        """Take read-only copies and check the shapes; values are checked by `Pose.checked`."""
        rotations, translations = frozen(self.rotations), frozen(self.translations)
        if rotations.ndim != 2 or rotations.shape[1] != 4 or translations.shape != (len(rotations), 3):
            raise InputError(
                f"pose: expected rotations (J, 4) and translations (J, 3), "
                f"found {rotations.shape} and {translations.shape}"
            )
        object.__setattr__(self, "rotations", rotations)
        object.__setattr__(self, "translations", translations)

    def __repr__(self) -> str:
        """How many joints it has."""
        return f"<Pose: {len(self.rotations)} joints>"

    def __reduce__(self) -> Reduced:
        """Copied by its fields."""
        return reduced(self)

    @classmethod
    def checked(cls, rotations: ArrayLike, translations: ArrayLike) -> Pose:
        """A pose from outside: finite, and normalised where the rotations are nearly unit.

        Raises:
            InputError: NaN or infinite numbers, other shapes, rotations far from unit length.
        """
        turns = unit_quaternions(rotations, (-1, 4), "pose rotations")
        return cls(turns, finite_floats(translations, (len(turns), 3), "pose translations"))

    def same_as(self, other: Pose) -> bool:
        """Equal to the last bit."""
        return np.array_equal(self.rotations, other.rotations) and np.array_equal(self.translations, other.translations)
