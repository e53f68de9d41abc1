"""What a drag does to what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from viewer.spatial.checks import frozen
from viewer.spatial.quaternion import multiply, rotate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from viewer.spatial.checks import Floats

IDENTITY = frozen([0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """A turn about a pivot and then a shift, both counted from where the drag began.

    Attributes:
        translation: (3,) metres in the world.
        rotation: (4,) unit quaternion in the world.
        pivot: (3,) metres in the world: what turns, turns about this.
        readout: how far, in words: ``ΔZ 0.124 m``.
    """

    translation: Floats
    rotation: Floats
    pivot: Floats
    readout: str = ""

    def __post_init__(self) -> None:
        """Take read-only arrays."""
        for name in ("translation", "rotation", "pivot"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def moves(self) -> bool:
        """Whether it shifts anything."""
        return bool(self.translation.any())

    @property
    def turns(self) -> bool:
        """Whether it turns anything."""
        return bool(self.rotation[:3].any())

    @overload
    def apply(self, position: ArrayLike, rotation: ArrayLike) -> tuple[Floats, Floats]: ...

    @overload
    def apply(self, position: ArrayLike, rotation: None) -> tuple[Floats, None]: ...

    def apply(self, position: ArrayLike, rotation: ArrayLike | None) -> tuple[Floats, Floats | None]:
        """Where things go that stood at positions (..., 3) with rotations (..., 4), or without any (None).

        What it neither moves nor turns comes back to the bit.
        """
        place = np.asarray(position, dtype=np.float64)
        if self.turns:
            place = self.pivot + rotate(self.rotation, place - self.pivot)
        if self.moves:
            place = place + self.translation
        if rotation is None:
            return place, None
        turned = np.asarray(rotation, dtype=np.float64)
        return place, multiply(self.rotation, turned) if self.turns else turned
