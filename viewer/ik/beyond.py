"""What is missed by clearly more than geometry explains: the limits that cost the rest, or a pose that is not at rest.

A target that is 13 mm too near may be missed by 144 mm: by that much the elbow's limit keeps the hand away. To find
out, each goal is asked for no more than geometry allows, and the limits that still keep it from there are named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from viewer.ik.findings import listed, metres
from viewer.ik.goals import GoalKind
from viewer.ik.methods import METHODS
from viewer.ik.reach import END, Miss
from viewer.ik.released import without_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from viewer.ik.reach import Gap
    from viewer.ik.trials import Trial, Trials

_ONWARD = 80
"""Iterations at most, from the pose on."""
_CLEARLY, _TOLERANCES = 0.1, 10.0
"""More than this part of what geometry explains, and than so many tolerances, is clearly more."""
_HALF = 0.5
"""Limits that cost less than this part of the rest are not what matters."""
_AT_REST = 0.9
"""A pose is not at rest if goals come to less than this part of their miss."""
_AT_LIMIT = 1e-6


class _Excess(NamedTuple):
    """By how much goals are missed more than geometry explains: which is missed most, metres of it, and of the gap."""

    goal: int
    gap: Gap
    metres: float


def beyond(trials: Trials, seen: Trial, gaps: Sequence[Gap], names: Sequence[str]) -> Iterator[str]:
    """What else there is to say of goals that are out of reach.

    Args:
        trials: where to solve.
        seen: the pose as it is.
        gaps: what is out of reach, by places in the list of goals.
        names: of all goals.
    """
    gaps = _of_places(gaps)
    rest, stuck = _nearer(trials, seen, gaps) if gaps else (seen, False)
    for i in dict.fromkeys(_worst(seen, gap) for gap in gaps):
        now, then = _miss(seen, i), _miss(rest, i)
        if rest.error < seen.error and then < _AT_REST * now and not trials.options.exact:
            by_default = trials.options.method in METHODS
            yield _stopped(trials, seen, names[i], now, then) if stuck else _unrest(names[i], now, then, by_default)
    excesses = [_excess(rest, gap) for gap in gaps]
    clear = [one for one in excesses if _is_clear(trials, one)]
    if clear and trials.options.limits:
        yield from _limits(trials, clear)


def is_nearest(trials: Trials, gaps: Sequence[Gap]) -> bool:
    """Whether a pose that a method of the catalogue ended in is about as near as it gets to what is out of reach.

    Where its goals are missed by no more than geometry explains, it is. Else the default method tries to get nearer.

    Args:
        trials: where to solve.
        gaps: what is out of reach, by places in the list of goals.
    """
    seen = trials.look()
    gaps = [gap for gap in _of_places(gaps) if set(gap.goals) <= set(trials.served)]
    gaps = [gap for gap in gaps if _is_clear(trials, _excess(seen, gap))]
    if not gaps:
        return True
    rest, _ = _nearer(trials, seen, gaps)
    return not any(_miss(rest, i) < _AT_REST * _miss(seen, i) for i in {_worst(seen, gap) for gap in gaps})


def _of_places(gaps: Sequence[Gap]) -> list[Gap]:
    return [gap for gap in gaps if gap.miss is not Miss.TURN and gap.short < END]


def _nearer(trials: Trials, seen: Trial, gaps: Sequence[Gap]) -> tuple[Trial, bool]:
    """Where solving on from the pose leads, and whether that took other poses to begin at: from here no step did."""
    rest = trials.solve(trials.asked, _ONWARD)
    if trials.options.method not in METHODS or not any(_is_clear(trials, _excess(rest, gap)) for gap in gaps):
        return rest, False
    escaped = trials.solve(trials.asked, _ONWARD, restarts=True)
    if not escaped.error < _AT_REST * rest.error:
        return rest, False
    return escaped, rest.error > _AT_REST * seen.error


def _is_clear(trials: Trials, excess: _Excess) -> bool:
    return excess.metres > _TOLERANCES * trials.options.tolerance_m + _CLEARLY * excess.gap.short


def _stopped(trials: Trials, seen: Trial, name: str, now: float, then: float) -> str:
    """Of a pose from which no step leads nearer, though others are."""
    system, x = seen.workspace.system, seen.workspace.state.x
    near = _AT_LIMIT * system.unit
    limited = bool(((x - system.lower < near) | (system.upper - x < near)).any())
    where = "against its limits" if limited else "in a singular pose"
    by_default = f"the default method brings it to {metres(then)}"
    return f"{name} is {metres(now)} off: {trials.options.method} stopped {where}, {by_default}"


def _unrest(name: str, now: float, then: float, by_default: bool) -> str:
    how = "the default method brings" if by_default else "more iterations bring"
    return f"{name} is {metres(now)} off yet: {how} it to {metres(then)}"


def _limits(trials: Trials, clear: Sequence[_Excess]) -> Iterator[str]:
    """The limits without which goals come to about where geometry lets them."""
    kept: dict[int, float] = {}
    for goal, gap, more in clear:
        kept[goal] = max(_allowed(trials, goal, gap, _HALF * more), 0.0)
    stuck = trials.solve(trials.asked, _ONWARD, kept=kept)
    if stuck.missed:
        escaped = trials.solve(trials.asked, _ONWARD, kept=kept, restarts=True)
        stuck = escaped if escaped.error < stuck.error else stuck
    if not stuck.missed:
        return
    freed, limits = without_limits(trials, stuck)
    if limits and not freed.missed.keys() & kept.keys():
        yield f"also blocked by limits: {listed(limits)}"


def _allowed(trials: Trials, i: int, gap: Gap, more: float) -> float:
    """Metres from its target at which geometry, and some more, lets a goal be."""
    goal = trials.goals[i]
    own = goal.target_distance or 0.0 if goal.kind is GoalKind.DISTANCE else 0.0
    return own - gap.short - more if gap.miss is Miss.WIDE and own > 0.0 else own + gap.short + more


def _excess(trial: Trial, gap: Gap) -> _Excess:
    return _Excess(_worst(trial, gap), gap, sum(_miss(trial, i) for i in gap.goals) - gap.short)


def _worst(trial: Trial, gap: Gap) -> int:
    """The goal of a gap that is missed most."""
    return max(gap.goals, key=lambda i: _miss(trial, i))


def _miss(trial: Trial, i: int) -> float:
    """Metres by which a goal is missed."""
    return trial.missed.get(i, (0.0, 0.0))[0]
