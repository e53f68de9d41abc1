"""The solver's settings for single solves and drags, and the seed poses of restarts."""

from __future__ import annotations

import math
import zlib
from functools import lru_cache

import numpy as np

from viewer.ik.checks import check_count, check_flag, check_range
from viewer.ik.restarts import CHOICE
from viewer.ik.system import Settings, System
from viewer.skeleton import Skeleton
from viewer.spatial.checks import Floats

RESTARTS = 16
ONE_SHOT = Settings(limit_passes=4, pull=0.02, restarts=RESTARTS, filling=True)
"""A single solve: targets may be far; restarts where it stalls; a weak pull to the start pose."""
DRAGGING = Settings(pull=0.3, restarts=0, least_iterations=1)
"""A step of a drag: near already; never a restart, which would pop; a strong pull to the pose at the drag's start,
without which a hand that goes out and back would leave the pose changed (the idea of Liegeois, "Automatic supervisory
control of the configuration and behavior of multibody mechanisms", IEEE Trans. SMC 7, 1977)."""

INSIDE = 0.98
"""Solves stop a little inside the tolerances, so that another program's arithmetic agrees that they are met."""


def check_settings(settings: Settings) -> None:
    """Raise InputError where a setting is out of its range."""
    for name in ("max_iterations", "least_iterations", "limit_passes", "restarts"):
        check_count(f"settings: {name}", getattr(settings, name), least=0)
    for name in ("damping", "damping_scale", "pull"):
        check_range(f"settings: {name}", getattr(settings, name), least=0.0)
    for name in ("step_cap", "pull_cap"):
        check_range(f"settings: {name}", getattr(settings, name), above=0.0)
    for name in ("limit_gain", "least_gain"):
        check_range(f"settings: {name}", getattr(settings, name), least=0.0, most=1.0)
    for name in ("stand", "guarded", "filling", "settle"):
        check_flag(f"settings: {name}", getattr(settings, name))


_TURN = 0.6
"""Standard deviation, radians, of an unlimited joint's turn in a restart."""
_LIMB = 30
"""Unlimited dofs of which each may turn so far; of more, each turns less."""
_WIDER = 3.0
"""Factor on these turns in the later half of the restarts, after poses nearby have been tried."""
_MOVE = 0.3
"""That of a root's move, in reaches of the figure."""


@lru_cache(maxsize=4)
def _draws(seed: int, content: int, dofs: int) -> tuple[Floats, Floats]:
    """Uniform and normal numbers (R, n): setting the same goals again, elsewhere, asks for the same ones."""
    random = np.random.default_rng([seed, content])
    size = (RESTARTS * CHOICE, dofs)
    return random.uniform(size=size), random.normal(size=size)


def seeds_for(system: System, skeleton: Skeleton, seed: int) -> Floats:
    """(R, n) poses to restart from, `CHOICE` for each restart, drawn inside the limits.

    Always the same for the same content and seed.
    """
    content = zlib.crc32("\0".join(skeleton.names).encode("utf-8", "surrogatepass"))
    content = zlib.crc32((skeleton.offsets / system.scale[0]).tobytes(), content)
    content = zlib.crc32(system.goal_joint.tobytes() + system.goal_kind.tobytes(), content)
    uniform, normal = _draws(seed, content, len(system.lower))
    lower = np.where(system.bounded, system.lower, 0.0)
    upper = np.where(system.bounded, system.upper, 0.0)
    # Many joints in a row would coil up: the turns of a long chain add up to as much as those of a limb.
    free = max(1, int(np.count_nonzero(~system.bounded)))
    turn = np.full((RESTARTS * CHOICE, 1), _TURN * min(1.0, math.sqrt(_LIMB / free)))
    if free <= _LIMB:
        turn[len(turn) // 2 :] *= _WIDER
    seeds = np.where(system.bounded, lower + uniform * (upper - lower), turn * system.unit * normal)
    reach = float(np.linalg.norm(system.offset, axis=-1).max(initial=0.0))
    for k in np.flatnonzero(system.moves).tolist():
        first = system.first[k]
        seeds[:, first : first + 3] = _MOVE * reach * normal[:, first : first + 3]
    seeds[:, system.spread == 0.0] = 0.0
    return seeds
