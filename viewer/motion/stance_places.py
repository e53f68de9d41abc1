"""Where heel and ball of a foot stand: one consistent pair of places for each stance, another one after a pivot."""

from __future__ import annotations

import numpy as np

from viewer.motion.contacts import BALL, HEEL, WANDERS, stretches
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.smoothing import median
from viewer.spatial.vectors import norm

_MIDDLE = 0.2
"""Share of a run ignored at either end, where the foot still rolls."""
_SAME = 1e-12

Pair = tuple[Floats, Floats]
"""Places (3,) of heel and ball."""
Places = tuple[Floats | None, Floats | None]
"""Places (S, 3) of heel and ball in the frames of a stance; None: it does not touch."""


def runs_of(flags: Bools, piece: slice) -> list[slice]:
    """The runs of True within a piece."""
    return [slice(first + piece.start, last + piece.start + 1) for first, last in stretches(flags[piece])]


def longest_run(flags: Bools, piece: slice) -> slice | None:
    """The longest run of True within a piece."""
    return max(runs_of(flags, piece), key=_length, default=None)


def stance_places(stance: slice, touches: dict[str, Bools], heel: Floats, ball: Floats | None, length: float) -> Places:
    """The places of a stance, as far apart as the foot is long where heel and ball touch at once.

    A foot that turns on its heel, or on its ball, and sets the other point down elsewhere has another place there.

    Args:
        stance: its frames.
        touches: (F,) whether heel and ball touch.
        heel: (F, 3) world positions.
        ball: (F, 3) world positions, if the foot has one.
        length: of the leg, metres.
    """
    flat = [] if ball is None else runs_of(touches[HEEL] & touches[BALL], stance)
    if ball is None or not flat:
        found: list[Floats | None] = []
        for point, path in ((HEEL, heel), (BALL, ball)):
            run = longest_run(touches[point], stance)
            found.append(
                None if run is None or path is None else np.tile(median(path[_middle(run)]), (_length(stance), 1))
            )
        return found[0], found[1]
    pairs = _pairs(flat, touches, heel, ball, WANDERS * length)
    made = []
    for number, point in enumerate((HEEL, BALL)):
        places = np.tile(pairs[0][number], (_length(stance), 1))
        for run in runs_of(touches[point], stance):
            near = min(range(len(flat)), key=lambda k: max(flat[k].start - run.stop, run.start - flat[k].stop))
            places[run.start - stance.start : run.stop - stance.start] = pairs[near][number]
        made.append(places)
    return made[0], made[1]


def _pairs(flat: list[slice], touches: dict[str, Bools], heel: Floats, ball: Floats, farthest: float) -> list[Pair]:
    """The places of each run in which a foot is flat: those of the longest one, but after or before a pivot."""
    main = max(range(len(flat)), key=lambda number: _length(flat[number]))
    pairs = {main: _pair(flat[main], heel, ball)}
    for numbers in (range(main + 1, len(flat)), range(main - 1, -1, -1)):
        before = main
        for number in numbers:
            (at_heel, at_ball), own = pairs[before], _pair(flat[number], heel, ball)
            between = slice(min(flat[number].stop, flat[before].stop), max(flat[number].start, flat[before].start))
            if max(np.linalg.norm(own[0] - at_heel), np.linalg.norm(own[1] - at_ball)) <= farthest:
                own = at_heel, at_ball
            elif touches[HEEL][between].all():
                own = at_heel, at_heel + own[1] - own[0]
            elif touches[BALL][between].all():
                own = at_ball + own[0] - own[1], at_ball
            pairs[number], before = own, number
    return [pairs[number] for number in range(len(flat))]


def _pair(run: slice, heel: Floats, ball: Floats) -> Pair:
    """The medians of heel and ball, set apart by the foot's own median length."""
    middle = _middle(run)
    at_heel, at_ball = median(heel[middle]), median(ball[middle])
    length = float(median(norm(ball[middle] - heel[middle])))
    along, centre = at_ball - at_heel, 0.5 * (at_heel + at_ball)
    along *= 0.5 * length / max(float(np.linalg.norm(along)), _SAME)
    return centre - along, centre + along


def _middle(run: slice) -> slice:
    """The middle 60 % of a run."""
    out = int(_MIDDLE * _length(run))
    return slice(run.start + out, run.stop - out)


def _length(run: slice) -> int:
    return int(run.stop - run.start)
