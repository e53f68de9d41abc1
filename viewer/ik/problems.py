"""Problems, one after the other: the start of each, the use of its iterations, and its status.

Each backend runs this with its own functions, like `viewer.ik.levenberg_marquardt`.
"""

from __future__ import annotations

from viewer.ik.active_set import MOST_WEIGHT, keeps_apart, weigh_overlaps
from viewer.ik.algebra import put_table, scale_row
from viewer.ik.arm_search import is_arm, join_bones, search_arm
from viewer.ik.goals.balance_goal import find_support
from viewer.ik.kernels.forward import residuals
from viewer.ik.kernels.goal_islands import (
    count_islands,
    keep,
    keep_island,
    may_drift,
    note_weights,
    single_out,
    take_back,
    went_off,
)
from viewer.ik.kernels.joints import into_limits
from viewer.ik.kernels.starts import approach, far_out, is_chain, stretch, went
from viewer.ik.levels import count_levels, follow, serve_levels
from viewer.ik.levenberg_marquardt import (
    AS_NEAR,
    BUDGET,
    CONVERGED,
    STALLED,
    UNREACHABLE,
    begin,
    copy,
    limited,
    minimise,
    stand_or_lie,
)
from viewer.ik.system import Many, Settings, State, System, Work

_SEARCH = 0.6
"""Part of the iterations after which no restart begins: the rest is for coming to rest at the nearest pose."""
_ENOUGH = 50
"""The least number of iterations of which that part is kept."""
_ROOM_FOR = 4.0
"""Radians that a drag may turn a joint by for each unit of length, or radian, of the cursor's motion."""
_LAST = 25
"""Iterations for separating bodies that still overlap."""
_AGREED = 3
"""Descents that end as near as the best: with this many, no nearer pose is expected."""


def solve_batch(
    s: System,
    w: Work,
    state: State,
    trial: State,
    best: State,
    anchor: State,
    start: State,
    settings: Settings,
    many: Many,
    onward: bool,
) -> None:
    """Solve one problem after the other: starts, targets and answers are in ``many``.

    Args:
        s: the system.
        w: scratch.
        state: scratch; afterwards the last answer.
        trial: scratch.
        best: scratch.
        anchor: scratch; with ``onward`` the pose that the pull leads back to.
        start: the last problem's start, inside its limits: problems that begin there ``again`` find it here.
        settings: how the solve runs: damping, step cap, pull and others.
        many: the problems.
        onward: go on from the pose in ``state``, anchored where ``anchor`` is, instead of from the problems' starts.
    """
    outside = many.outside[0]
    groups = count_islands(s)
    apart = groups > 1 or may_drift(s)
    levelled, touching, arm = count_levels(s) > 1, keeps_apart(s), is_arm(s)
    for i in range(len(many.code)):
        if onward:
            w.room[0] += _ROOM_FOR * went(s, many.target[i], many.rotation[i])
        room = w.room[0]
        if touching:
            weigh_overlaps(w, not onward)
        put_table(many.target[i], s.goal_target)
        put_table(many.rotation[i], s.goal_rotation)
        if not onward:
            if not many.again[i]:
                put_table(many.q[i], start.q)
                put_table(many.t[i], start.t)
                outside = into_limits(s, w, start.q, start.t, start.x)
                if arm:
                    join_bones(s, w, start)
            many.outside[i] = outside
            begin(s, w, start, anchor)
            copy(anchor if settings.settle else start, state)
        if len(s.mass) > 0:
            residuals(s, w, state.q, state.t, state.e)
            find_support(s, w)
        # A solve of no iterations moves nothing.
        moves = not onward and settings.max_iterations > 0
        far, error, worst = far_out(s, state.t), 0.0, 0.0
        lone = moves and settings.restarts > 0 and is_chain(s) and not touching
        if far or lone or (moves and settings.stand):
            error, worst = residuals(s, w, state.q, state.t, state.e)
        if far:
            approach(s, w, state.q, state.t, moves)
            error, worst = residuals(s, w, state.q, state.t, state.e)
        if moves and settings.stand and worst > 1.0:
            stand_or_lie(s, w, state, trial, error)
        # Where that is the nearest pose nothing else is tried.
        stretched = lone and stretch(s, w, state.q, state.t)
        # The anchor of a drag with a preferred pose is that one, wherever the drag begins.
        anchored = not onward and (settings.settle or len(s.preference) == 0)
        if anchored:
            copy(state, anchor)
        if not onward:
            w.since[0] = 0
            w.yielding[0] = 1.0
            scale_row(w.before, 0.0)
        if apart:
            keep(s, w, 0, state)
            keep(s, w, 1, state)
        plain = settings.guarded and settings.filling and settings.limit_gain == 1.0 and not settings.settle
        searches_arm = arm and plain and not onward and not far
        answer, most = CONVERGED, 0
        # First all goals together; then, if they have no joint in common, or a root may drift, and are not all met,
        # group by group.
        for group in range(-1, groups if apart else 0):
            if group == 0:
                note_weights(s, w)
                answer, most = CONVERGED, 0
            if group >= 0:
                single_out(s, w, group)
                take_back(s, w, 0, state)
                w.since[0] = 0
                w.room[0] = room
                if anchored:
                    copy(state, anchor)
            chosen, nearest, used = settings, 0.0, 0
            thorough = not onward and settings.restarts > 0 and settings.max_iterations >= _ENOUGH
            if stretched or (group < 0 and groups > 1):
                thorough = False
                chosen = limited(settings, settings.max_iterations, 0)
            if thorough:
                chosen = limited(settings, int(_SEARCH * settings.max_iterations), settings.restarts)
            code, agreed = BUDGET, False
            if levelled and thorough:
                kept = settings.max_iterations - (_LAST if touching else 0)
                searching = limited(settings, kept, settings.restarts)
                code, used = serve_levels(s, w, state, trial, best, anchor, start, searching)
                agreed = w.tally[0] >= _AGREED
            elif levelled:
                code, used, error = follow(s, w, state, trial, best, anchor, settings)
            for attempt in range(0 if levelled else 3):
                if attempt == 0 and searches_arm and chosen.restarts > 0:
                    code, iterations, error = search_arm(s, w, state, trial, best, start, chosen)
                else:
                    code, iterations, error = minimise(s, w, state, trial, best, anchor, chosen)
                used += iterations
                if not thorough or code == CONVERGED or attempt == 2:
                    break
                left = settings.max_iterations - used - (_LAST if touching else 0)
                if attempt == 0:
                    # Nothing meets the goals. Where the start leads to without a leap may be as near as the best of
                    # the restarts; so a solve that begins at the nearest pose ends there.
                    agreed = w.tally[0] >= _AGREED
                    nearest = error
                    put_table(state.q, many.q[i])
                    put_table(state.t, many.t[i])
                    copy(start, state)
                    begin(s, w, start, anchor)
                    left = left * 4 // 5
                    w.since[0] = 0
                elif error > AS_NEAR * nearest:
                    put_table(many.q[i], state.q)
                    put_table(many.t[i], state.t)
                    into_limits(s, w, state.q, state.t, state.x)
                    w.since[0] = 0
                elif code != BUDGET:
                    break
                chosen = limited(settings, left, 0)
            if touching and thorough and w.contact.overlap[1] > 1.0:
                # Goals that weigh much have pushed bodies into each other: what does not move must win.
                w.contact.weight[0] = MOST_WEIGHT
                last = limited(settings, settings.max_iterations - used, 0)
                code, iterations, error = follow(s, w, state, trial, best, anchor, last)
                used += iterations
            if code == STALLED and agreed:
                code = UNREACHABLE
            most = max(most, used)
            if code != CONVERGED and (answer == CONVERGED or code == BUDGET or (answer == STALLED and code != STALLED)):
                answer = code
            if group < 0 and code == CONVERGED and not (apart and went_off(s, w, state.t)):
                break
            if group >= 0:
                keep_island(s, w, 1, group, state)
                if group == groups - 1:
                    single_out(s, w, -1)
                    take_back(s, w, 1, state)
                    w.since[0] = 0
                    residuals(s, w, state.q, state.t, state.e)
        if far:
            put_table(many.target[i], s.goal_target)
            _, worst = residuals(s, w, state.q, state.t, state.e)
            if worst > 1.0 and answer == CONVERGED:
                answer = STALLED
        many.code[i] = answer
        many.iterations[i] = most
        many.overlap[i] = w.contact.overlap[1]
        put_table(state.q, many.q[i])
        put_table(state.t, many.t[i])
        put_table(w.miss, many.miss[i])
