"""Loops that numba compiles: the two ends of a whole call, where targets come in and the answer goes out.

The scalar twins of `viewer.ik.targets` and of what `viewer.ik.workspace` does with arrays: a handful of numpy's
functions take longer than an easy solve.
"""

from __future__ import annotations

import math
from typing import Any

from viewer.ik.problems import solve_batch
from viewer.ik.system import Call, Integers, Many, Settings, State, System, Work
from viewer.spatial.checks import UNIT_TOLERANCE, Floats

UNSETTLED = -1
"""What is said instead of how a solve ended."""


def groups_in(block: Integers) -> tuple[Any, ...]:
    """The groups of arrays that stand in a block; compiled code has an intrinsic function in place of this."""
    raise NotImplementedError


def solve_in_block(block: Integers, onward: bool, settled: bool, places: Floats, turns: Floats, answer: Floats) -> int:
    """`solve_call` on the arrays in a block. Python calls this."""
    s, w, state, trial, best, anchor, start, many, call = groups_in(block)
    n = call.numbers
    settings = Settings(
        int(n[0]), int(n[1]), n[2], n[3], n[4], int(n[5]), n[6], n[7], n[8], int(n[9]), n[10],
        n[11] != 0.0, n[12] != 0.0, n[13] != 0.0, n[14], n[15] != 0.0,
    )  # fmt: skip
    return solve_call(
        s, w, state, trial, best, anchor, start, many, call, settings, onward, settled, places, turns, answer
    )


def solve_call(
    s: System,
    w: Work,
    state: State,
    trial: State,
    best: State,
    anchor: State,
    start: State,
    many: Many,
    call: Call,
    settings: Settings,
    onward: bool,
    settled: bool,
    places: Floats,
    turns: Floats,
    answer: Floats,
) -> int:
    """`solve_batch`; with room for an answer also what is before and after it: settled targets, the answer in one row.

    Returns:
        How the (last) solve ended; `UNSETTLED` for targets that need to be looked at, nothing being solved.
    """
    if len(answer) > 0 and not take_targets(call, many, places, turns, settled, answer):
        return UNSETTLED
    solve_batch(s, w, state, trial, best, anchor, start, settings, many, onward)
    if len(answer) > 0:
        put_answer(call, w, state, answer)
    return int(many.code[len(many.code) - 1])


def take_targets(call: Call, many: Many, places: Floats, turns: Floats, settled: bool, answer: Floats) -> bool:
    """Settle the targets given, (G, 3) and (G, 4), into the end of ``answer`` and into the one problem in ``many``.

    Args:
        call: what stands where nothing is given.
        many: one problem.
        places: NaN rows, and rows of goals without a place, are left as they are; so are all if it is empty.
        turns: likewise.
        settled: take them as they are.
        answer: see `put_answer`.

    Returns:
        False for numbers that `viewer.ik.targets.Targets.settle` has something to say about.
    """
    goals = len(call.has_place)
    at = len(answer) - 7 * goals
    by = at + 3 * goals
    for g in range(goals):
        x, y, z = call.places[g, 0], call.places[g, 1], call.places[g, 2]
        if len(places) > 0 and (settled or call.has_place[g]):
            u, v, w = places[g, 0], places[g, 1], places[g, 2]
            if not settled and (abs(u) == math.inf or abs(v) == math.inf or abs(w) == math.inf):
                return False
            unknown = int(math.isnan(u)) + int(math.isnan(v)) + int(math.isnan(w))
            if settled or unknown == 0:
                x, y, z = u, v, w
            elif unknown < 3:
                return False
        answer[at + 3 * g], answer[at + 3 * g + 1], answer[at + 3 * g + 2] = x, y, z
        x, y, z, r = call.turns[g, 0], call.turns[g, 1], call.turns[g, 2], call.turns[g, 3]
        if len(turns) > 0 and (settled or call.has_turn[g]):
            u, v, w, c = turns[g, 0], turns[g, 1], turns[g, 2], turns[g, 3]
            if settled:
                x, y, z, r = u, v, w, c
            elif abs(u) == math.inf or abs(v) == math.inf or abs(w) == math.inf or abs(c) == math.inf:
                return False
            elif math.isnan(u) and math.isnan(v) and math.isnan(w) and math.isnan(c):
                pass
            else:
                # In the order in which numpy adds them, and not fused: the same bits.
                length = math.sqrt(u * u + v * v + w * w + c * c)
                if not abs(length - 1.0) <= UNIT_TOLERANCE:  # nor is one that is NaN in part
                    return False
                x, y, z, r = u / length, v / length, w / length, c / length
        answer[by + 4 * g], answer[by + 4 * g + 1], answer[by + 4 * g + 2], answer[by + 4 * g + 3] = x, y, z, r
    for g in range(len(call.goals)):
        for i in range(3):
            many.target[0, g, i] = answer[at + 3 * call.goals[g] + i]
        for i in range(4):
            many.rotation[0, g, i] = answer[by + 4 * call.goals[g] + i]
    return True


def put_answer(call: Call, w: Work, state: State, answer: Floats) -> None:
    """The answer as one row of numbers.

    That is, one after the other: rotations (J, 4), translations (J, 3), coordinates (n,), misses (G', 2) of the goals
    that are enabled; then, by `take_targets`, settled places (G, 3) and turns (G, 4).
    """
    joints = len(call.rotations)
    by = 4 * joints
    for j in range(joints):
        for i in range(4):
            answer[4 * j + i] = call.rotations[j, i]
        for i in range(3):
            answer[by + 3 * j + i] = call.translations[j, i]
    for k in range(len(call.joints)):
        j = call.joints[k]
        for i in range(4):
            answer[4 * j + i] = state.q[k, i]
        for i in range(3):
            answer[by + 3 * j + i] = state.t[k, i]
    at = 7 * joints
    for d in range(len(state.x)):
        answer[at + d] = state.x[d]
    at += len(state.x)
    for g in range(len(w.miss)):
        answer[at + 2 * g], answer[at + 2 * g + 1] = w.miss[g, 0], w.miss[g, 1]
