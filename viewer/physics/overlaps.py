"""Overlaps at the start of a simulation: they are separated; those that cannot be keep their depth.

A part that hangs on the world beside its joint, or one whose joints are at their limits, may lie in the floor no matter
how hard the floor pushes. Contacts that such a part cannot leave would push forever without effect.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from viewer.errors import listed
from viewer.physics.surroundings import MuJoCo
from viewer.spatial.checks import Bools, Floats, Ints


def _depth(metres: float) -> str:
    """A depth in words, as the window shows errors: in millimetres, from 0.1 m on in metres."""
    return f"{1e3 * metres:.3g} mm" if metres < 0.1 else f"{metres:.3g} m"


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
        return f"{self.joint} is {_depth(self.depth)} deep in {other} and cannot leave it: it stays there"


class Sunk(NamedTuple):
    """Joints whose parts start so deep in the floor, metres, that they do not touch it."""

    joints: tuple[str, ...]
    depth: float

    @property
    def words(self) -> str:
        """The line for the user."""
        verb = "start" if len(self.joints) > 1 else "starts"
        return f"{listed(self.joints, 1)} {verb} up to {_depth(self.depth)} deep in the floor and will not touch it"


class Overlaps(NamedTuple):
    """Pairs (P,) of shapes that overlap, ascending, each a number of two (see `_pairs_of`), and depths (P,), metres."""

    pairs: Ints
    depths: Floats
    shapes: int

    @classmethod
    def none(cls, shapes: int) -> Overlaps:
        """Nothing overlaps."""
        return cls(np.zeros(0, dtype=np.intp), np.zeros(0), shapes)

    @classmethod
    def found(cls, data: MuJoCo, shapes: int, least: float) -> Overlaps:
        """The contacts of a `mujoco.MjData` that are deeper than ``least`` metres."""
        deep = data.contact.dist < -least
        pairs, which = np.unique(_pairs_of(data.contact.geom[deep], shapes), return_inverse=True)
        depths = np.zeros(len(pairs))
        np.maximum.at(depths, which, -data.contact.dist[deep])
        return cls(pairs, depths, shapes)

    def at(self, geoms: Ints) -> Floats:
        """(C,) the depths of contacts between shapes (C, 2); 0 for pairs that are not among these."""
        if not self.pairs.size:
            return np.zeros(len(geoms))
        pairs = _pairs_of(geoms, self.shapes)
        places = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        return np.where(self.pairs[places] == pairs, self.depths[places], 0.0)

    def among(self, others: Overlaps) -> Overlaps:
        """Those of the pairs that are among others."""
        return self._some(np.isin(self.pairs, others.pairs))

    def without(self, others: Overlaps) -> Overlaps:
        """Those of the pairs that are not among others."""
        return self._some(~np.isin(self.pairs, others.pairs))

    def joined(self, others: Overlaps) -> Overlaps:
        """These and others, which are different pairs."""
        pairs, depths = np.concatenate([self.pairs, others.pairs]), np.concatenate([self.depths, others.depths])
        order = np.argsort(pairs)
        return Overlaps(pairs[order], depths[order], self.shapes)

    def _some(self, which: Bools) -> Overlaps:
        return Overlaps(self.pairs[which], self.depths[which], self.shapes)

    def geoms(self) -> list[tuple[int, int]]:
        """The two shapes of each pair."""
        return [divmod(pair, self.shapes) for pair in self.pairs.tolist()]


def _pairs_of(geoms: Ints, shapes: int) -> Ints:
    """(C,) a number for each pair of shapes (C, 2), in either order."""
    low, high = geoms.min(axis=1), geoms.max(axis=1)
    return np.asarray(low.astype(np.intp) * shapes + high)
