"""Goals that cannot all be met: islands are solved one by one, and of levels the lower one gives way.

Goal islands are groups of goals without a common joint. A goal that cannot be met would disturb the others: damping,
guard and stops depend on the error of all together. Roots whose only goals are aims do not move there: seen from
farther and farther away all points are in one direction, so that conflicting aims would send a figure away without end.

Of several levels the higher one is met exactly. Every goal pulls with a bounded force: its loss is quadratic within a
tolerance and grows with the distance beyond it (pseudo-Huber: Hartley and Zisserman, "Multiple View Geometry", 2nd ed.
2004, appendix 6.8). A sum of such losses is an exact penalty (Nocedal and Wright, "Numerical Optimization", 2nd ed.
2006, section 17.2): a level that pulls a few times as hard as the one below is met as if that did not exist. With
squared losses it would miss by a part of what the lower one misses, and weights stiff enough to prevent that stop a
drag.

`descend` minimises the sum by iteratively reweighted least squares (Holland and Welsch 1977): each step is the damped
one of `viewer.ik.levenberg_marquardt`, of rows scaled by how hard each goal pulls here. Both engines run this source.
"""

from __future__ import annotations

import math

from viewer.ik.algebra import fill_row, put_row, scale_row
from viewer.ik.kernels.contact_rows import penalty
from viewer.ik.kernels.dual_system import scale_columns
from viewer.ik.kernels.joints import difference, residuals
from viewer.ik.kernels.starts import is_afloat
from viewer.ik.kernels.step import cap, excess_loss, less_pull, linearise, predicted_ease, put_excess, shorten, stiffen
from viewer.ik.levenberg_marquardt import (
    BUDGET,
    CONVERGED,
    MET,
    STALLED,
    begin,
    copy,
    follow_curve,
    limited,
    minimise,
    propose,
    try_step,
)
from viewer.ik.system import Settings, State, System, Work
from viewer.spatial.checks import Floats, Integers

_ROUND = 4.0
"""A figure may go this many times as far as the distance to an aim's target, to aim from elsewhere."""


def count_islands(s: System) -> int:
    """The number of goal islands."""
    return highest(s.goal_group) + 1


def count_levels(s: System) -> int:
    """The number of levels that have goals."""
    return highest(s.goal_level) + 1


def highest(numbers: Integers) -> int:
    """The highest number; -1 of none."""
    most = -1
    for g in range(len(numbers)):
        most = max(most, numbers[g])
    return most


def only_aims(s: System, k: int) -> bool:
    """Whether the goals below a root are aims, without any position or other length."""
    aims = False
    for g in range(s.goals_from[k], s.goals_to[k]):
        if s.goal_lengths[g] > 0:
            return False
        aims = aims or s.goal_aims[g]
    return aims


def may_drift(s: System) -> bool:
    """Whether there is a free root that no goal keeps at a position."""
    for k in range(len(s.parent)):  # noqa: SIM110 - compiled code takes a loop
        if s.parent[k] < 0 and is_afloat(s, k) and only_aims(s, k):
            return True
    return False


def went_off(s: System, w: Work, t: Floats) -> bool:
    """Whether such a root has moved farther from ``w.begun`` than any aim's target is away."""
    for k in range(len(s.parent)):
        if s.parent[k] >= 0 or not (is_afloat(s, k) and only_aims(s, k)):
            continue
        gone = most = 0.0
        for i in range(3):
            gone += (t[k, i] - w.begun.t[k, i]) ** 2
        for g in range(s.goals_from[k], s.goals_to[k]):
            if s.goal_aims[g]:
                away = 0.0
                for i in range(3):
                    away += (s.goal_target[g, i] - w.begun.t[k, i]) ** 2
                most = max(most, _ROUND * (math.sqrt(away) + s.goal_reach[g]))
        if gone > most * most:
            return True
    return False


def keep_island(s: System, w: Work, group: int, state: State) -> None:
    """Store the joints of one island in ``w.solved``, among those of the others."""
    for k in range(len(s.parent)):
        if s.group[k] == group:
            for d in range(s.first[k], s.first[k + 1]):
                w.solved.x[d] = state.x[d]
            for i in range(4):
                w.solved.q[k, i] = state.q[k, i]
            for i in range(3):
                w.solved.t[k, i] = state.t[k, i]


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
        still = group >= 0 and s.moves[k] == 3 and only_aims(s, k)
        for d in range(s.first[k], s.first[k + 1]):
            stays = not here or (still and d < s.first[k] + s.moves[k])
            s.spread[d] = 0.0 if stays else w.spreads[d]


_SHARP = 1e-3
"""Units of length, or radians, at which a loss turns from a parabola to a cone; the tolerance if that is less."""
_WORTH = 0.01
"""A step is taken if some level gains this part of the loss of one of its goals at its tolerance."""
_MUCH_MORE, _MORE, _LESS = 8.0, 2.0, 0.25
"""Factors of damping: after a rejected step, one that gains far less than predicted, one that gains as predicted."""
_EASE_WORTH = 1e-8
"""A step is taken if the loss of joints beyond their ease falls by this much."""
_DAMPED, _DAMPED_FAR = 3.0, 10.0
"""Times the damping of `viewer.ik.system.Settings`, near and far from the goals: rows weigh up to 1e6 here."""
_AS_PREDICTED, _UNLIKE = 0.75, 0.25
"""Parts of the predicted gain."""
_MOST_DAMPING, _LEAST_DAMPING = 1e6, 0.01
"""With more there is hardly any step; with less, joints that the goals leave free would jump."""
BEFORE, AFTER, WORTH = range(3)
"""Rows of ``Work.losses``: the levels' losses before and after a step, and the gains for which a step is taken.

The last two of each are of dofs beyond their ease (`viewer.ik.kernels.step`) and of what overlaps, which is
above all levels.
"""


def sharpness(s: System, part: int) -> float:
    """Where the loss of lengths (part 0) or angles (1) turns from a parabola to a cone."""
    tolerance: float = s.tolerance[1] if part == 1 else s.tolerance[0] / s.scale[0]
    return min(_SHARP, tolerance)


def part_of(s: System, g: int, part: int) -> tuple[int, int, float]:
    """The rows of a goal's lengths (part 0) or angles (1): the first, the one after the last, and their weight.

    The weight is per unit of length, or per radian; 0 where there are no such rows, or the goal is left out.
    """
    row = s.goal_row[g]
    middle = row + s.goal_lengths[g]
    if part == 0:
        return row, middle, s.goal_weight[g] * s.scale[0] if middle > row else 0.0
    end = middle + s.goal_angles[g]
    return middle, end, s.goal_rotation_weight[g] if end > middle else 0.0


def squared_miss(e: Floats, first: int, end: int, weight: float) -> float:
    """The squared length of some residuals without their weight."""
    total = 0.0
    for r in range(first, end):
        total += e[r] * e[r]
    return total / (weight * weight)


def add_losses(s: System, e: Floats, overlap: float, uneasy: float, out: Floats) -> float:
    """The loss of each level, 0 the lowest, of uneasy dofs, and of overlaps into ``out``; returns their sum."""
    fill_row(out, 0.0)
    out[len(out) - 2], out[len(out) - 1] = uneasy, overlap
    for g in range(len(s.goal_kind)):
        for part in range(2):
            first, end, weight = part_of(s, g, part)
            if weight > 0.0:
                c, miss = sharpness(s, part), squared_miss(e, first, end, weight)
                # c (sqrt(1 + (r / c)^2) - 1), without the difference of nearly equal numbers.
                out[s.goal_level[g]] += s.goal_force[g, part] * 2.0 * _SHARP * miss / (math.sqrt(c * c + miss) + c)
    total = 0.0
    for level in range(len(out)):
        total += out[level]
    return total


def ease_loss(s: System, w: Work, state: State) -> float:
    """The loss of the dofs that are beyond their ease in a pose."""
    put_excess(s, state.x, w.anchor.x, w.tried)
    return excess_loss(w, w.tried)


def reweight(s: System, w: Work, e: Floats) -> float:
    """Scale the rows of ``w.jacobian`` and of ``e`` by the square roots of how hard the goals pull here.

    Returns:
        What damping follows: the squared error with the levels' forces left out, so that the lowest can still move.
    """
    follows = 0.0
    fill_row(w.losses[WORTH], math.inf)
    w.losses[WORTH, w.losses.shape[1] - 2] = _EASE_WORTH
    w.losses[WORTH, w.losses.shape[1] - 1] = _WORTH * penalty(s, w, s.contact.slack[0])
    for g in range(len(s.goal_kind)):
        level = s.goal_level[g]
        for part in range(2):
            first, end, weight = part_of(s, g, part)
            factor = 0.0
            if weight > 0.0:
                c, miss, force = sharpness(s, part), squared_miss(e, first, end, weight), s.goal_force[g, part]
                pull = _SHARP / math.sqrt(c * c + miss)
                follows += pull * miss
                factor = math.sqrt(force * pull) / weight
                w.losses[WORTH, level] = min(w.losses[WORTH, level], _WORTH * force * _SHARP * c)
            for r in range(first, end):
                w.scales[r] = factor
    scale_columns(w.jacobian, w.scales)
    scale_by(e, w.scales)
    return follows


def scale_by(values: Floats, factors: Floats) -> None:
    """Multiply elementwise, in place."""
    for i in range(len(values)):
        values[i] *= factors[i]


def predicted(s: System, w: Work, e: Floats) -> float:
    """By how much the linearised goals say that ``w.step`` lowers the loss at least."""
    put_row(w.step, w.held)
    less_pull(s, w, w.frozen, w.step, e, w.wanted)
    gain = 0.0
    for r in range(len(e)):
        gain += e[r] * e[r] - w.wanted[r] * w.wanted[r]
    return gain


def worthwhile(w: Work) -> bool:
    """Whether a step lowers some level's loss by enough: in the sum, distant goals would hide the others."""
    for level in range(w.losses.shape[1]):
        if w.losses[BEFORE, level] - w.losses[AFTER, level] > w.losses[WORTH, level]:
            return True
    return False


def descending(settings: Settings, iterations: int) -> Settings:
    """The settings of a descent of a number of iterations."""
    return limited(settings, iterations, 0, _DAMPED, _DAMPED_FAR)


def descend(s: System, w: Work, state: State, settings: Settings, pull: float) -> tuple[int, int, float]:
    """Move ``state`` to where the goals are met, or to a nearby minimum of the sum of their losses.

    ``state`` begins inside its limits; ``pull``: part of the way back to the anchor that what the goals leave free goes
    in one step.

    Returns:
        Status (CONVERGED, STALLED: at rest, or BUDGET), iterations, the loss.
    """
    _, worst = residuals(s, w, state.q, state.t, state.e)
    put_row(s.spread, w.mobility)
    loss = add_losses(s, state.e, w.contact.overlap[0], ease_loss(s, w, state), w.losses[BEFORE])
    damping, iterations, status = 1.0, 0, BUDGET
    while iterations < settings.max_iterations and w.room[0] > 0.0:
        if worst <= 1.0 and iterations >= settings.least_iterations:
            break
        iterations += 1
        fresh = damping == 1.0
        put_row(w.mobility, s.spread)
        linearise(s, w, state.x)
        follows = reweight(s, w, state.e)
        fill_row(w.posture, 0.0)
        pulled = pull > 0.0 and (iterations == 1 or worst <= 1.0)
        if pulled:
            difference(s, w, state.x, state.q, state.t, w.anchor.x, w.anchor.q, w.anchor.t, w.posture)
            scale_row(w.posture, pull)
            cap(s, w.posture, settings.pull_cap)
        put_excess(s, state.x, w.anchor.x, w.excess)
        taken, tries = False, 0
        while not taken and damping <= _MOST_DAMPING:
            stiffen(s, w, (settings.damping_scale * follows + settings.damping) * damping)
            # As in `minimise`: a step that is cut short at a limit may raise the error of the others.
            largest = propose(s, w, state, settings, follows, damping, settings.clamp_to_limit or tries > 1)
            tries += 1
            shorten(s, w.step, state.x, settings.limit_gain)
            _, new_worst = try_step(s, w, state)
            expected = predicted(s, w, state.e) + predicted_ease(w)
            new_loss = add_losses(s, w.trial.e, w.contact.overlap[0], ease_loss(s, w, w.trial), w.losses[AFTER])
            if new_loss >= loss:
                # Stiff goals let the others move only along a curve: the step is corrected by how far it leaves that
                # curve.
                scale_by(w.trial.e, w.scales)
                _, new_worst = follow_curve(
                    s, w, state, (settings.damping_scale * follows + settings.damping) * damping
                )
                new_loss = add_losses(s, w.trial.e, w.contact.overlap[0], ease_loss(s, w, w.trial), w.losses[AFTER])
            taken = new_worst <= MET or (new_loss < loss and (worthwhile(w) or (pulled and new_worst <= 1.0)))
            if taken:
                if loss - new_loss > _AS_PREDICTED * expected:
                    damping = max(_LEAST_DAMPING, _LESS * damping)
                elif loss - new_loss < _UNLIKE * expected:
                    damping *= _MORE
                copy(w.trial, state)
                put_row(w.losses[AFTER], w.losses[BEFORE])
                loss, worst = new_loss, new_worst
                w.room[0] -= largest
            elif pulled:
                fill_row(w.posture, 0.0)
                pulled = False
            elif new_loss < loss:
                break
            else:
                damping *= _MUCH_MORE
        if not taken:
            _, worst = residuals(s, w, state.q, state.t, state.e)
            # At rest: an iteration that begins like the first of a solve changes nothing, so another solve would not,
            # either.
            if fresh:
                status = STALLED
                break
            damping = 1.0
    put_row(w.mobility, s.spread)
    return CONVERGED if worst <= 1.0 else status, iterations, loss


def follow(s: System, w: Work, state: State, settings: Settings) -> tuple[int, int, float]:
    """`minimise` or, where levels differ, `descend`: a solve without restarts, such as a step of a drag."""
    if count_levels(s) > 1:
        near = descending(settings, settings.max_iterations)
        return descend(s, w, state, near, settings.pull)
    return minimise(s, w, state, settings)


_SEARCHED = 0.6
"""Part of the iterations for the search; the rest is for the descents."""
_CLEARLY = 0.995
"""A distant answer must have less than this part of the loss of the nearby one."""


def serve_levels(s: System, w: Work, state: State, settings: Settings) -> tuple[int, int]:
    """Move ``state`` to where the goals are met, or else to the least loss of a few descents.

    First all goals together as if they had one level; where these cannot be met, from the start and from there by
    `descend`. Where that misses a goal above the lowest level, goals below may have kept it away from a distant pose:
    before another descent, a search starts that considers only the levels from that one up. Where it misses goals of
    the lowest alone, the best descent goes on with the iterations that are left.

    Returns:
        Status as in `viewer.ik.levenberg_marquardt`, iterations. ``w.tally`` is that of the search.
    """
    most = settings.max_iterations
    code, used, _ = minimise(s, w, state, limited(settings, int(_SEARCHED * most), settings.restarts))
    if code == CONVERGED:
        return code, used
    agreed = w.tally[0]
    copy(state, w.found)
    copy(w.start, state)
    begin(s, w, w.start)
    code, iterations, loss = descend(s, w, state, descending(settings, (most - used) // 3), 0.0)
    used += iterations
    copy(state, w.nearest)
    copy(w.found, state)
    code, used, loss = nearer(s, w, state, descending(settings, (most - used) // 2), code, used, loss)
    level = highest_missed(s, w, state)
    if level > 0:
        leave_out_below(s, w, level)
        copy(w.start, state)
        again = limited(settings, (most - used) // 2, settings.restarts)
        _, iterations, _ = minimise(s, w, state, again)
        used += iterations
        take_in(s, w)
        code, used, loss = nearer(s, w, state, descending(settings, most - used), code, used, loss)
    elif code == BUDGET:
        code, iterations, loss = descend(s, w, state, descending(settings, most - used), 0.0)
        used += iterations
    w.tally[0] = agreed
    return code, used


def nearer(
    s: System, w: Work, state: State, settings: Settings, code: int, used: int, loss: float
) -> tuple[int, int, float]:
    """`descend` from another pose; afterwards ``state`` is the better one of its answer and the best so far.

    ``code``: how the descent to the best so far ended, after ``used`` iterations, and ``loss``: that of the best, which
    ``w`` keeps.

    Returns:
        The same three of the better one.
    """
    new_code, iterations, new_loss = descend(s, w, state, settings, 0.0)
    if new_code == CONVERGED or (code != CONVERGED and new_loss < _CLEARLY * loss):
        code, loss = new_code, new_loss
        copy(state, w.nearest)
    else:
        copy(w.nearest, state)
        residuals(s, w, state.q, state.t, state.e)
    return code, used + iterations, loss


def highest_missed(s: System, w: Work, state: State) -> int:
    """The highest level with a goal that is missed in the pose that `residuals` was last called with; -1: none."""
    highest = -1
    for g in range(len(s.goal_kind)):
        lengths = s.goal_weight[g] > 0.0 and s.goal_lengths[g] > 0 and w.miss[g, 0] > s.tolerance[0]
        angles = s.goal_rotation_weight[g] > 0.0 and s.goal_angles[g] > 0 and w.miss[g, 1] > s.tolerance[1]
        if lengths or angles:
            highest = max(highest, s.goal_level[g])
    return highest


def leave_out_below(s: System, w: Work, level: int) -> None:
    """Leave out the goals of the levels below one: they weigh nothing until `take_in`."""
    put_row(s.goal_weight, w.weights[2])
    put_row(s.goal_rotation_weight, w.weights[3])
    for g in range(len(s.goal_level)):
        if s.goal_level[g] < level:
            s.goal_weight[g] = s.goal_rotation_weight[g] = 0.0


def take_in(s: System, w: Work) -> None:
    """Undo `leave_out_below`."""
    put_row(w.weights[2], s.goal_weight)
    put_row(w.weights[3], s.goal_rotation_weight)
