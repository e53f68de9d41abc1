"""The units of a problem, the weights of its goals, and which of them depend on each other.

The solver's settings fit figures of about a metre and goals of weight 1. Everything is therefore measured in the
problem's own units: a mouse and a crane, and goals that all weigh a thousand times as much, are solved in the same way.
Units are powers of 16: multiplying by them costs no digits, and figures of about a metre are measured in metres.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from viewer.ik.goals import KINDS, Goal
from viewer.spatial.checks import Bools, Floats, Integers, Ints

_MOST_RATIO = 300.0
"""Weights that differ by more than this factor are drawn together: squared they would leave the lighter goals to the
rounding of the heavier. With that ratio the heavier goal misses by less than a tolerance already."""
LEVEL_RATIO = 100.0
"""How many times as hard the lightest goal of a level pulls as the heaviest of the one below."""
_MOST_POWER = 250
"""Largest power of 16, near the end of the range of floats."""


def unit_near(value: float) -> float:
    """The power of 16 that is nearest to a number, by factors; 1 for 0."""
    if not 0.0 < value < math.inf:
        return 1.0
    power = round(math.log(value, 16.0))
    return float(16.0 ** min(max(power, -_MOST_POWER), _MOST_POWER))


def lengths_above(parent: Ints, offset: Floats) -> Floats:
    """(K,) metres of bones from the root to each joint, parents before children."""
    return summed_from_root(parent, np.where(parent < 0, 0.0, np.linalg.norm(offset, axis=-1)))


def summed_from_root(parent: Ints, own: Floats) -> Floats:
    """(K,) the sum of a number of each joint and of all above it, parents before children."""
    result = own.tolist()
    for k, above in enumerate(parent.tolist()):
        if above >= 0:
            result[k] += result[above]
    return np.array(result)


def balanced_weights(goals: Sequence[Goal], unit: float) -> tuple[Floats, Floats, float]:
    """Weights per metre (G,) and per radian (G,) as the solver counts them, and the unit that they are measured in.

    Args:
        goals: G goals.
        unit: metres, the unit of length.
    """
    places, turns = (np.array([getattr(goal, name) for goal in goals]) for name in ("weight", "rotation_weight"))
    # A radian counts as much as a length of the figure's own size.
    turns = turns * unit
    with np.errstate(over="ignore"):
        logs = np.log(np.stack([places, turns])) if len(goals) else np.zeros((2, 0))
    logs[0] += math.log(unit)
    asked = _asked(goals).T
    if not asked.any():
        return places, turns, 1.0
    least, most = float(logs[asked].min()), float(logs[asked].max())
    ratio = most - least
    own = unit_near(math.exp(min(max(least, -700.0), 700.0)))
    if ratio <= math.log(_MOST_RATIO):
        return places / own, turns / own, own
    # Their order stays, and so does the proportion between the logarithms of their ratios.
    drawn = np.exp((logs - least) * (math.log(_MOST_RATIO) / ratio))
    drawn = np.where(asked, drawn, 1.0)
    return drawn[0] / unit, drawn[1], own


def _asked(goals: Sequence[Goal]) -> Bools:
    """(G, 2) whether goals have lengths, and whether they have angles."""
    kinds = [KINDS[goal.kind] for goal in goals]
    return np.array([(kind.metres, kind.radians) for kind in kinds], dtype=np.bool_).reshape(-1, 2)


def levels_of(goals: Sequence[Goal]) -> Integers:
    """(G,) how many of the levels that goals have are below each one's: 0 for the lowest, whose number is largest."""
    numbers = [goal.level for goal in goals]
    below = sorted(set(numbers), reverse=True)
    return np.array([below.index(number) for number in numbers], dtype=np.int64)


def level_forces(goals: Sequence[Goal], levels: Integers) -> Floats:
    """(G, 2) how hard each goal's place and turn pull: in the lowest level 1 or more, by the weights.

    The lightest goal of a level pulls `LEVEL_RATIO` times as hard as the heaviest of the one below. Within a level
    weights that differ by more than that are drawn together.
    """
    asked = _asked(goals)
    logs = np.log([(goal.weight, goal.rotation_weight) for goal in goals]).reshape(-1, 2)
    forces, base, most = np.ones((len(goals), 2)), 0.0, math.log(LEVEL_RATIO)
    for level in range(int(levels.max(initial=-1)) + 1):
        here = (levels == level)[:, None] & asked
        if here.any():
            above = logs[here] - logs[here].min()
            above *= min(1.0, most / max(float(above.max()), most))
            forces[here] = np.exp(base + above)
            base += float(above.max()) + most
    return forces


def groups_of(live: Bools, goals_from: Integers, goals_to: Integers, count: int) -> tuple[Integers, Integers]:
    """The groups of goals that share a joint that can move, directly or through other goals.

    Args:
        live: (K,) whether a joint can move.
        goals_from: (K,) the first goal below each joint.
        goals_to: (K,) the one after the last.
        count: G, of goals.

    Returns:
        (G,) the group of each goal, counted from 0, and (K,) of each joint; -1 for joints that move none.
    """
    some = live & (goals_to > goals_from)
    # A joint moves goals that follow each other: it joins each of them, but the last, to the next one.
    joins = np.bincount(goals_from[some], minlength=count) - np.bincount(goals_to[some] - 1, minlength=count)
    goal_group = np.cumsum(np.append(0, np.cumsum(joins)[:-1] == 0))[:count].astype(np.int64)
    group = np.full(len(live), -1, dtype=np.int64)
    group[some] = goal_group[goals_from[some]]
    return goal_group, group
