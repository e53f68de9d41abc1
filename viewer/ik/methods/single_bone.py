"""One joint per goal: the last one that can turn the effector points it at its target.

The turn from the direction r to the direction d is about r x d, by atan2(|r x d|, r . d): the common acos(r . d) loses
its digits near 0 and near 180 degrees. At 180 degrees r x d is 0, and any axis at right angles to r will do (a fixed
one, such as Z, would fail for an r along it).
"""

from __future__ import annotations

from viewer.ik.goals import ROW_KINDS, Measure
from viewer.ik.levenberg_marquardt import BUDGET, CONVERGED, STALLED, UNREACHABLE
from viewer.ik.methods.ccd import fit_axis, fit_ball, pairs_for
from viewer.ik.methods.common import Problem
from viewer.ik.methods.limb import freed, moves_point
from viewer.ik.methods.mechanism import Mechanism, length, minus

_POINTED = ({Measure.POINT}, {Measure.ROTATION}, {Measure.DIRECTION})
SERVED = tuple(code for code, kind in enumerate(ROW_KINDS) if kind.measures in _POINTED)
"""Codes of the goals that one joint can point: those with one measure."""
_STILL = 1e-12


def solve(problem: Problem) -> tuple[int, int]:
    """Rotate every goal's joint until nothing moves; an aim needs a few passes, a position one."""
    _, worst = problem.evaluate(problem.state)
    mechanism, iterations, moved = Mechanism(freed(problem)), 0, 1.0
    while worst > 1.0 or iterations < problem.settings.least_iterations:
        if moved < _STILL:
            return (STALLED if _in_reach(mechanism) else UNREACHABLE), iterations
        if iterations >= problem.settings.max_iterations:
            return BUDGET, iterations
        iterations += 1
        moved = _turn_all(mechanism)
        mechanism.store(problem.state)
        _, worst = problem.evaluate(problem.state)
    return CONVERGED, iterations


def pointing_joint(mechanism: Mechanism, g: int) -> int:
    """The last joint above goal g that can rotate its effector; -1: none."""
    k = mechanism.goal_joint[g] if mechanism.kind[g] in SERVED else -1
    while k >= 0:
        turns = mechanism.ball[k] or bool(mechanism.angles[k])
        if turns and (mechanism.goal_lengths[g] != 3 or moves_point(mechanism, k, mechanism.point[g])):
            return k
        k = mechanism.parent[k]
    return -1


def joints_of(mechanism: Mechanism, g: int) -> tuple[int, ...]:
    """The joint that points for a goal, or none if no joint can rotate."""
    k = pointing_joint(mechanism, g)
    return (k,) if k >= 0 else ()


def _turn_all(mechanism: Mechanism) -> float:
    """Rotate every pointing joint once; returns the sine of half the largest angle."""
    pointing: dict[int, list[int]] = {}
    for g in range(len(mechanism.kind)):
        k = pointing_joint(mechanism, g)
        if k >= 0:
            pointing.setdefault(k, []).append(g)
    largest = 0.0
    for k, goals in sorted(pointing.items()):
        made = []
        if mechanism.ball[k]:
            made.append(fit_ball(mechanism, k, pairs_for(mechanism, goals, mechanism.place[k])))
            mechanism.refresh()
        for i in mechanism.angles[k]:
            made.append(fit_axis(mechanism, k, i, pairs_for(mechanism, goals, mechanism.place[k])))
            mechanism.refresh()
        largest = max(largest, *(length(turn[:3]) for turn in made))
    return largest


def _in_reach(mechanism: Mechanism) -> bool:
    """Whether each position target is as far from the pointing joint as the effector, or other joints change that."""
    for g in range(len(mechanism.kind)):
        k = pointing_joint(mechanism, g)
        if mechanism.goal_lengths[g] == 3 and k >= 0 and not mechanism.moved_by_others(g, [k]):
            pivot = mechanism.place[k]
            apart = length(minus(mechanism.point[g], pivot)) - length(minus(mechanism.target[g], pivot))
            if abs(apart) > mechanism.tolerance:
                return False
    return True
