"""Problems, one after the other: the start of each, the use of its iterations, and its status.

Each backend runs this with its own functions, like `viewer.ik.levenberg_marquardt`.
"""

from __future__ import annotations

import math

from viewer.ik.algebra import fill_row, put_table, scale_row
from viewer.ik.arm_steps import is_arm, join_bones
from viewer.ik.goals.balance_goal import find_support
from viewer.ik.kernels.dual_system import gram, scale_columns, solve_dual
from viewer.ik.kernels.joints import into_limits, residuals
from viewer.ik.kernels.starts import (
    central_goal,
    draw_nearer,
    far_out,
    is_afloat,
    is_chain,
    put_near,
    stretch,
    went,
)
from viewer.ik.kernels.step import linearise, spread_step
from viewer.ik.levels import (
    count_islands,
    count_levels,
    follow,
    keep_island,
    may_drift,
    note_weights,
    scale_by,
    serve_levels,
    single_out,
    went_off,
)
from viewer.ik.levenberg_marquardt import (
    AS_NEAR,
    BUDGET,
    CONVERGED,
    MOST_WEIGHT,
    STALLED,
    UNREACHABLE,
    begin,
    copy,
    keeps_apart,
    limited,
    minimise,
    squared,
    stand_or_lie,
    try_step,
    weigh_overlaps,
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
_CARRIES = 10
"""Steps of carrying a figure at most."""
_OUT = 1e12
"""Reaches beyond which a figure is not moved: the numbers would have no digits left for its joints."""
_UNDAMPED, _SHORTER = 1e-8, 100.0
"""Damping that leaves as much of the way as rounding, in parts of the largest diagonal entry; its factor for less."""
_AGREED = 3
"""Descents that end as near as the best: with this many, no nearer pose is expected."""


def solve_batch(
    s: System,
    w: Work,
    state: State,
    settings: Settings,
    many: Many,
    onward: bool,
) -> None:
    """Solve one problem after the other: starts, targets and answers are in ``many``.

    ``state`` is scratch, and afterwards the last answer; ``onward``: go on from its pose, anchored where ``w.anchor``
    is, instead of from the problems' starts.
    """
    # The steps of an arm are those of these settings.
    plain = settings.guarded and settings.clamp_to_limit and settings.limit_gain == 1.0 and not settings.settle
    as_arm = plain and settings.restarts > 0 and not onward and is_arm(s)
    outside = many.outside[0]
    for i in range(len(many.code)):
        if onward:
            w.room[0] += _ROOM_FOR * went(s, many.target[i], many.rotation[i])
        if keeps_apart(s):
            weigh_overlaps(w, not onward)
        put_table(many.target[i], s.goal_target)
        put_table(many.rotation[i], s.goal_rotation)
        if not onward:
            if not many.again[i]:
                outside = put_start(s, w, many, i)
            many.outside[i] = outside
            w.since[0] = 0
            w.yielding[0] = 1.0
            scale_row(w.before, 0.0)
        w.as_arm[0] = as_arm and not far_out(s, w.start.t)
        if w.as_arm[0]:
            code, used = pose_arm(s, w, state, settings)
        else:
            code, used = pose_figure(s, w, state, settings, many, i, onward)
        many.code[i] = code
        many.iterations[i] = used
        many.overlap[i] = w.contact.overlap[1]
        put_table(state.q, many.q[i])
        put_table(state.t, many.t[i])
        put_table(w.miss, many.miss[i])


def pose_figure(
    s: System, w: Work, state: State, settings: Settings, many: Many, i: int, onward: bool
) -> tuple[int, int]:
    """Solve problem ``i``, whose start is in ``w.start``, or in ``state`` if ``onward``; status and iterations."""
    if not onward:
        begin(s, w, w.start)
        copy(w.anchor if settings.settle else w.start, state)
    if len(s.mass) > 0:
        residuals(s, w, state.q, state.t, state.e)
        find_support(s, w)
    far = far_out(s, state.t)
    stretched = place_body(s, w, state, settings, far, onward)
    # The anchor of a drag with a preferred pose is that one, wherever the drag begins.
    anchored = not onward and (settings.settle or len(s.preference) == 0)
    if anchored:
        copy(state, w.anchor)
    if count_islands(s) > 1 or may_drift(s):
        code, used = solve_islands(s, w, state, settings, onward, not stretched, anchored)
    else:
        code, used = meet_goals(s, w, state, settings, onward, not stretched)
    if far:
        # The targets were brought nearer during the solve: measure the misses against the real ones.
        put_table(many.target[i], s.goal_target)
        _, worst = residuals(s, w, state.q, state.t, state.e)
        if worst > 1.0 and code == CONVERGED:
            code = STALLED
    return code, used


def pose_arm(s: System, w: Work, state: State, settings: Settings) -> tuple[int, int]:
    """`pose_figure` of an arm whose target is not far out."""
    copy(w.start, state)
    if settings.max_iterations < _ENOUGH:
        code, used, _ = minimise(s, w, state, settings)
        return code, used
    code, used, agreed = search(s, w, state, settings, settings.max_iterations)
    return UNREACHABLE if code == STALLED and agreed else code, used


def put_start(s: System, w: Work, many: Many, i: int) -> bool:
    """Bring the start pose of a problem inside its limits, into ``w.start``; whether it was outside."""
    put_table(many.q[i], w.start.q)
    put_table(many.t[i], w.start.t)
    outside = into_limits(s, w, w.start.q, w.start.t, w.start.x)
    if is_arm(s):
        join_bones(s, w)
    return outside


def place_body(s: System, w: Work, state: State, settings: Settings, far: bool, onward: bool) -> bool:
    """Move a body to where its goals are, if they are ``far`` out, or if the settings ask for its standing pose.

    Returns:
        Whether the pose is now that of a chain which is stretched towards its goal, out of its reach: the nearest one.
    """
    # A solve of no iterations moves nothing.
    moves = not onward and settings.max_iterations > 0
    stands = moves and settings.stand
    lone = moves and settings.restarts > 0 and is_chain(s) and not keeps_apart(s)
    error, worst = 0.0, 0.0
    if far or lone or stands:
        error, worst = residuals(s, w, state.q, state.t, state.e)
    if far:
        approach(s, w, state, moves)
        error, worst = residuals(s, w, state.q, state.t, state.e)
    if stands and worst > 1.0:
        stand_or_lie(s, w, state, error)
    return lone and stretch(s, w, state.q, state.t)


def approach(s: System, w: Work, state: State, moves: bool) -> None:
    """Take targets that are far out nearer, in place; what may go there goes first, if anything ``moves``.

    The pose is the one that `residuals` was last called with.
    """
    for k in range(len(s.parent)):
        if s.parent[k] < 0:
            centre = central_goal(s, w, state.t, k) if is_afloat(s, k) else -1
            if moves:
                carry(s, w, state, k, centre)
            draw_nearer(s, w, k, centre, state.t)


def carry(s: System, w: Work, state: State, k: int, centre: int) -> None:
    """Move what is below a root towards the goals near its central one, if they are farther than its limbs reach.

    By least squares of what goes without end alone: a free root, slides, what they follow. The places depend linearly
    on these, so one step is all the way but for rounding, which the next one corrects, except to spheres: there it is
    damped until it leads nearer.
    """
    longest = put_near(s, w, state.t, k, centre, w.scales)
    damping, carried = _UNDAMPED, False
    for _ in range(_CARRIES):
        linearise(s, w, state.x)
        for d in range(len(w.step)):
            if not s.carries[d]:
                fill_row(w.jacobian[d], 0.0)
        scale_columns(w.jacobian, w.scales)
        gram(s, w)
        most = 0.0
        for r in range(len(state.e)):
            w.wanted[r] = w.scales[r] * state.e[r]
            most = max(most, w.gram[r, r])
        if most == 0.0:
            return
        solve_dual(w, w.wanted, damping * most, w.y)
        fill_row(w.pull, 0.0)
        fill_row(w.frozen, False)
        spread_step(s, w, w.frozen, w.y, w.pull, w.step)
        length = math.sqrt(squared(w.step))
        last = length <= 2.0 * longest
        if (last and not carried) or not length < _OUT * max(longest, s.scale[0]):
            return
        try_step(s, w, state)
        scale_by(w.trial.e, w.scales)
        if squared(w.trial.e) < squared(w.wanted):
            copy(w.trial, state)
            damping, carried = _UNDAMPED, True
        else:
            damping *= _SHORTER
        residuals(s, w, state.q, state.t, state.e)
        if last:
            return


def solve_islands(
    s: System, w: Work, state: State, settings: Settings, onward: bool, searches: bool, anchored: bool
) -> tuple[int, int]:
    """`meet_goals` for all goals together; where that misses some, or a root drifts away, for each island by itself.

    Arguments are those of `meet_goals`, and ``anchored``: each island's anchor is where it begins.
    """
    islands, room = count_islands(s), w.room[0]
    copy(state, w.begun)
    copy(state, w.solved)
    code, used = meet_goals(s, w, state, settings, onward, searches and islands == 1)
    if islands == 0 or (code == CONVERGED and not went_off(s, w, state.t)):
        return code, used
    note_weights(s, w)
    answer, most = CONVERGED, 0
    for island in range(islands):
        single_out(s, w, island)
        copy(w.begun, state)
        w.since[0] = 0
        w.room[0] = room
        if anchored:
            copy(state, w.anchor)
        code, used = meet_goals(s, w, state, settings, onward, searches)
        keep_island(s, w, island, state)
        most = max(most, used)
        answer = worse_of(answer, code)
    single_out(s, w, -1)
    copy(w.solved, state)
    w.since[0] = 0
    residuals(s, w, state.q, state.t, state.e)
    return answer, most


def worse_of(one: int, other: int) -> int:
    """The status of two islands together: the first that is not met, but a spent budget or a stall before others."""
    if other == CONVERGED:
        return one
    if one == CONVERGED or other == BUDGET or (one == STALLED and other != STALLED):
        return other
    return one


def meet_goals(s: System, w: Work, state: State, settings: Settings, onward: bool, searches: bool) -> tuple[int, int]:
    """Move ``state`` to where the goals are met, or as near as possible.

    ``onward``: a step of a drag; ``searches``: go on to other poses where a descent stalls.

    Returns:
        Status and iterations.
    """
    thorough = searches and not onward and settings.restarts > 0 and settings.max_iterations >= _ENOUGH
    levelled, touching = count_levels(s) > 1, keeps_apart(s)
    if levelled and not thorough:
        code, used, _ = follow(s, w, state, settings)
        return code, used
    if not thorough:
        once = settings if searches else limited(settings, settings.max_iterations, 0)
        code, used, _ = minimise(s, w, state, once)
        return code, used
    budget = settings.max_iterations - (_LAST if touching else 0)
    if levelled:
        searching = limited(settings, budget, settings.restarts)
        code, used = serve_levels(s, w, state, searching)
        agreed = w.tally[0] >= _AGREED
    else:
        code, used, agreed = search(s, w, state, settings, budget)
    if touching and w.contact.overlap[1] > 1.0:
        # Heavy goals have pushed bodies into each other: separating them comes first.
        w.contact.weight[0] = MOST_WEIGHT
        last = limited(settings, settings.max_iterations - used, 0)
        code, iterations, _ = follow(s, w, state, last)
        used += iterations
    return UNREACHABLE if code == STALLED and agreed else code, used


def search(s: System, w: Work, state: State, settings: Settings, budget: int) -> tuple[int, int, bool]:
    """A descent with restarts; where it does not meet the goals, the nearest pose.

    The pose that the start leads to without a restart may be as near as the best of the restarts; it is preferred, so
    that a solve that begins at the nearest pose ends there. The nearer of both comes to rest with the iterations that
    are left.

    Returns:
        Status, iterations, and whether as many descents as count ended equally near.
    """
    searching = limited(settings, int(_SEARCH * settings.max_iterations), settings.restarts)
    code, used, nearest = minimise(s, w, state, searching)
    if code == CONVERGED:
        return code, used, False
    agreed = w.tally[0] >= _AGREED
    w.as_arm[0] = False  # the steps of an arm are for searches alone
    copy(state, w.found)
    copy(w.start, state)
    begin(s, w, w.start)
    w.since[0] = 0
    direct = limited(settings, (budget - used) * 4 // 5, 0)
    code, iterations, error = minimise(s, w, state, direct)
    used += iterations
    if code == CONVERGED:
        return code, used, agreed
    if error > AS_NEAR * nearest:
        copy(w.found, state)
        w.since[0] = 0
    elif code != BUDGET:
        return code, used, agreed
    code, iterations, _ = minimise(s, w, state, limited(settings, budget - used, 0))
    return code, used + iterations, agreed
