"""Which way a drag bends what may bend either way.

A finger that is straight where a drag begins, and bends back by five degrees and forward by eighty, may take the short
way when its tip comes nearer to its root: it is stuck at its limit soon after, and no small step leads out. So what the
goals leave free is drawn to a pose in which such joints are bent a little the way that is free, as people's are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from viewer.ik.system import System
    from viewer.spatial.checks import Floats

_WIDE = math.radians(20.0)
"""A joint that turns by more than this about one of its axes, and about no other, folds."""
_BEND = math.radians(15.0)
_OF_RANGE = 0.25
"""How far from its limit, and at most which part of its range, such a joint is bent."""
_INSIDE = 1e-6


def prebent(system: System, x: Floats) -> Floats:
    """Coordinates (n,) with the joints that fold, and are nearly at a limit of it, bent away from that.

    Who stands at the very limit cannot fold beyond it, and is left there.
    """
    width = np.where(system.bounded & system.turning, system.upper - system.lower, 0.0)
    owner = np.repeat(np.arange(len(system.parent)), np.diff(system.first))
    folds = np.bincount(owner, weights=width > _WIDE, minlength=len(system.parent))[owner] == 1
    bend = np.where(folds & (width > _WIDE), np.minimum(_BEND, _OF_RANGE * width), 0.0)
    up = (x - system.lower > _INSIDE) & (x - system.lower < bend)
    down = (system.upper - x > _INSIDE) & (system.upper - x < bend)
    return np.where(up, system.lower + bend, np.where(down, system.upper - bend, x))
