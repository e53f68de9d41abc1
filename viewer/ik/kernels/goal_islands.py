"""Goal islands: groups of goals without a common joint, solved one by one where they cannot be met together.

A goal that cannot be met would disturb the others: damping, guard and stops depend on the error of all together.
Roots whose only goals are aims do not move there: seen from farther and farther away all points are in one direction,
so that conflicting aims would send a figure away without end.
"""

from __future__ import annotations

import math

from viewer.ik.algebra import put_row, put_table
from viewer.ik.kernels.starts import is_afloat
from viewer.ik.system import State, System, Work
from viewer.spatial.checks import Floats

_ROUND = 4.0
"""A figure may go this many times as far as the distance to an aim's target, to aim from elsewhere."""


def count_islands(s: System) -> int:
    """The number of goal islands."""
    most = -1
    for g in range(len(s.goal_group)):
        most = max(most, s.goal_group[g])
    return most + 1


def only_looks(s: System, k: int) -> bool:
    """Whether the goals below a root are aims, without any position or other length."""
    looks = False
    for g in range(s.goals_from[k], s.goals_to[k]):
        if s.goal_lengths[g] > 0:
            return False
        looks = looks or s.goal_looks[g]
    return looks


def may_drift(s: System) -> bool:
    """Whether there is a free root that no goal keeps at a position."""
    for k in range(len(s.parent)):  # noqa: SIM110 - compiled code takes a loop
        if s.parent[k] < 0 and is_afloat(s, k) and only_looks(s, k):
            return True
    return False


def went_off(s: System, w: Work, t: Floats) -> bool:
    """Whether such a root has moved farther from the pose kept in slot 0 than any aim's target is away."""
    for k in range(len(s.parent)):
        if s.parent[k] >= 0 or not (is_afloat(s, k) and only_looks(s, k)):
            continue
        gone = most = 0.0
        for i in range(3):
            gone += (t[k, i] - w.kept_t[0, k, i]) ** 2
        for g in range(s.goals_from[k], s.goals_to[k]):
            if s.goal_looks[g]:
                away = 0.0
                for i in range(3):
                    away += (s.goal_target[g, i] - w.kept_t[0, k, i]) ** 2
                most = max(most, _ROUND * (math.sqrt(away) + s.goal_reach[g]))
        if gone > most * most:
            return True
    return False


def keep(s: System, w: Work, place: int, state: State) -> None:
    """Store a pose in one of two slots."""
    put_row(state.x, w.kept_x[place])
    put_table(state.q, w.kept_q[place])
    put_table(state.t, w.kept_t[place])


def take_back(s: System, w: Work, place: int, state: State) -> None:
    """Restore the pose of a slot."""
    put_row(w.kept_x[place], state.x)
    put_table(w.kept_q[place], state.q)
    put_table(w.kept_t[place], state.t)


def keep_island(s: System, w: Work, place: int, group: int, state: State) -> None:
    """Store the joints of one island, among those of the others."""
    for k in range(len(s.parent)):
        if s.group[k] == group:
            for d in range(s.first[k], s.first[k + 1]):
                w.kept_x[place, d] = state.x[d]
            for i in range(4):
                w.kept_q[place, k, i] = state.q[k, i]
            for i in range(3):
                w.kept_t[place, k, i] = state.t[k, i]


def note_weights(s: System, w: Work) -> None:
    """Remember what `single_out` changes."""
    put_row(s.goal_weight, w.weights[0])
    put_row(s.goal_rotation_weight, w.weights[1])
    put_row(s.spread, w.spreads)


def single_out(s: System, w: Work, group: int) -> None:
    """Leave out all goals but one island's: the others weigh 0, and their joints do not move. -1 restores all.

    Roots that no goal holds at a place stay where they are.
    """
    for g in range(len(s.goal_group)):
        here = group < 0 or s.goal_group[g] == group
        s.goal_weight[g] = w.weights[0, g] if here else 0.0
        s.goal_rotation_weight[g] = w.weights[1, g] if here else 0.0
    for k in range(len(s.parent)):
        here = group < 0 or s.group[k] == group
        still = group >= 0 and s.moves[k] == 3 and only_looks(s, k)
        for d in range(s.first[k], s.first[k + 1]):
            stays = not here or (still and d < s.first[k] + s.moves[k])
            s.spread[d] = 0.0 if stays else w.spreads[d]
