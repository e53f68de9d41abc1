"""What overlaps at the start of a simulation: it is to come apart, and what cannot is let be as deep as it is.

A part that hangs on the world beside its joint, or one whose joints are at their limits, may lie in the floor however
hard the floor pushes. Contacts that such a part cannot leave would push in vain for ever.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from viewer.spatial.checks import Floats, Ints

TRIAL_STEPS = 6
"""Steps in which what can come apart shows that it does."""
_STAYS = 0.7
"""Where more than this part of the depth is left by then, nothing comes apart: of what moves freely a third is."""


class Stuck(NamedTuple):
    """A part that cannot leave what it overlaps at the start.

    Attributes:
        joint: whose part it is.
        other: the joint or object that it is in, or "floor".
        depth: metres.
    """

    joint: str
    other: str
    depth: float

    @property
    def words(self) -> str:
        """The line for the user."""
        other = "the floor" if self.other == "floor" else self.other
        return f"{self.joint} is {1e3 * self.depth:.3g} mm deep in {other} and cannot leave it: it stays there"


class Overlaps(NamedTuple):
    """Pairs of shapes that overlap.

    Attributes:
        pairs: (P,) ascending, each a number of two shapes: see `_pairs_of`.
        depths: (P,) metres.
        shapes: how many shapes the model has.
    """

    pairs: Ints
    depths: Floats
    shapes: int

    @classmethod
    def none(cls, shapes: int) -> Overlaps:
        """Nothing overlaps."""
        return cls(np.zeros(0, dtype=np.intp), np.zeros(0), shapes)

    @classmethod
    def found(cls, data: Any, shapes: int, least: float) -> Overlaps:  # noqa: ANN401
        """The contacts of a `mujoco.MjData` that are deeper than ``least`` metres."""
        deep = data.contact.dist < -least
        pairs, which = np.unique(_pairs_of(data.contact.geom[deep], shapes), return_inverse=True)
        depths = np.zeros(len(pairs))
        np.maximum.at(depths, which, -data.contact.dist[deep])
        return cls(pairs, depths, shapes)

    def at(self, geoms: Ints) -> Floats:
        """(C,) the depths of contacts between shapes (C, 2); 0 of what is not among these pairs."""
        if not self.pairs.size:
            return np.zeros(len(geoms))
        pairs = _pairs_of(geoms, self.shapes)
        places = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        return np.where(self.pairs[places] == pairs, self.depths[places], 0.0)

    def staying(self, later: Overlaps) -> Overlaps:
        """Those of the pairs that are hardly less deep after `TRIAL_STEPS`."""
        left = later.at(np.stack([self.pairs // self.shapes, self.pairs % self.shapes], axis=1))
        stay = left > _STAYS * self.depths
        return Overlaps(self.pairs[stay], np.maximum(self.depths, left)[stay], self.shapes)

    def shrunk(self, part: float) -> Overlaps:
        """The same pairs, less deep."""
        return self._replace(depths=part * self.depths)

    def geoms(self) -> list[tuple[int, int]]:
        """The two shapes of each pair."""
        return [divmod(pair, self.shapes) for pair in self.pairs.tolist()]


def _pairs_of(geoms: Ints, shapes: int) -> Ints:
    """(C,) a number for each two shapes (C, 2), in whatever order."""
    low, high = geoms.min(axis=1), geoms.max(axis=1)
    return np.asarray(low.astype(np.intp) * shapes + high)
