"""Why goals are missed: the reasons of a diagnosis and their wording."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from viewer.errors import listed as first_of, shown
from viewer.ik import algebra
from viewer.ik.goals import Goal
from viewer.ik.reach import END, Gap, Miss
from viewer.ik.system import System
from viewer.spatial.checks import Floats

FAR = 9.9995
"""Misses of this many metres or more are printed in metres: 10,000 mm is hard to read."""
_FINE = 5e-5
"""Metres below which a tenth of a millimetre means nothing."""
_MOST_NAMES, _FEW_NAMES = 6, 3
"""Most names that are listed, and where there is little room; others are counted."""


class Cause(StrEnum):
    """What keeps a goal from being met."""

    FAR = "far"
    """No pose gets nearer to its target."""
    NEAR = "near"
    """Its target is nearer than the chain can fold."""
    TURN = "turn"
    """No joint turns its effector that way."""
    EITHER = "either"
    """It can have its position or its rotation, not both."""
    LIMITS = "limits"
    CONTACT = "contact"
    CONFLICT = "conflict"
    """Other goals."""
    LEVEL = "level"
    """A goal of a higher level, to which it gives way."""
    OTHER = "other"


class Reason(NamedTuple):
    """Why goals are missed.

    Attributes:
        cause: what keeps them from being met.
        text: one line that says all.
        goals: places in the list of the goals that it is about; empty: not about certain ones.
        brief: the text for where there is little room; "" if there is none.
    """

    cause: Cause
    text: str
    goals: tuple[int, ...] = ()
    brief: str = ""


def other(text: str) -> Reason:
    """A reason of no special cause."""
    return Reason(Cause.OTHER, text)


def blocked_by(cause: Cause, what: Sequence[str]) -> Reason:
    """Limits or contacts, each in words, that keep goals from being met."""
    few, by = first_of(list(dict.fromkeys(what)), _FEW_NAMES), " by limits" if cause is Cause.LIMITS else ""
    return Reason(cause, f"blocked by {cause}: {listed(what)}", brief=f"Blocked{by}: {few}")


def metres(length: float) -> str:
    """A length with a readable unit."""
    if not length < FAR:
        return far(length)
    if length == 0.0:
        return "0 mm"
    if length < _FINE:
        return f"{1e6 * length:.2g} µm"
    return f"{1000.0 * length:.0f} mm" if length >= 0.01 else f"{1000.0 * length:.1f} mm"


def far(length: float) -> str:
    """A length of ten metres or more: ``12.3 m``, ``123 km``, ``1.5e12 m``; infinite where squares overflowed."""
    if length < 9999.5:
        return f"{length:.1f} m"
    if length < 1e9:
        return f"{length / 1000.0:.0f} km"
    return f"{length:.2g} m".replace("e+", "e") if length < END else f"over {END:g} m".replace("e+", "e")


def degrees(angle: float) -> str:
    """Radians as text in whole degrees, with a decimal below ten degrees."""
    value = round(math.degrees(angle), 0 if abs(angle) >= math.radians(10.0) else 1)
    return f"{value + 0.0:g}°"


def listed(names: Iterable[str]) -> str:
    """A list of names, each once; of many, the first ones and the number of the rest."""
    return first_of(list(dict.fromkeys(names)), _MOST_NAMES)


def together(names: Sequence[str]) -> str:
    """``A and B``, ``A, B and C``."""
    if len(names) > _MOST_NAMES:
        return listed(names)
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def off(miss: tuple[float, float], tolerance: Floats) -> str:
    """How far a goal is missed, as text: the metres and radians that exceed their tolerances."""
    parts = [(metres(miss[0]), miss[0] > tolerance[0]), (degrees(miss[1]), miss[1] > tolerance[1])]
    return " and ".join(text for text, counts in parts if counts)


def labels(goals: Sequence[Goal]) -> list[str]:
    """Labels of the goals: the effector; where several goals have it, also the kind or a number."""
    enabled = [goal for goal in goals if goal.enabled]
    effectors = Counter(goal.effector for goal in enabled)
    kinds = Counter((goal.effector, goal.kind) for goal in enabled)
    names = []
    for number, goal in enumerate(goals, start=1):
        kind = f" {goal.kind}" if effectors[goal.effector] > 1 and goal.effector else ""
        again = f" (goal {number})" if kinds[goal.effector, goal.kind] > 1 else ""
        names.append(shown(goal.effector or goal.kind) + kind + again)
    return names


def gap_reason(gap: Gap, names: Sequence[str], kept: Sequence[float]) -> Reason:
    """What is out of reach, and by how much.

    ``gap`` names goals by their places in the list of ``names``; ``kept``: metres that each of them is to keep from its
    target; 0: none.
    """
    short, reach, distance = metres(gap.short), metres(gap.reach), metres(gap.distance)
    if len(gap.goals) > 1:
        return Reason(Cause.CONFLICT, f"goals conflict: {_pair_line(gap, names, kept)}", gap.goals)
    name = names[0]
    if gap.miss is Miss.TURN:
        least = degrees(gap.short)
        text = f"{name} is at least {least} off: no joint turns it that way"
        return Reason(Cause.TURN, text, gap.goals, f"No joint turns {name} that way: at least {least} off")
    if gap.miss is Miss.WIDE:
        most = metres(gap.asked - gap.short)
        text = f"{name} is {short} too near: it gets {most} away from its point at most, {metres(gap.asked)} are asked"
        return Reason(Cause.NEAR, text, gap.goals)
    keep = f", to be kept {metres(gap.asked)} off" if gap.asked > 0.0 else ""
    if gap.miss is Miss.NEAR:
        fold = f"chain folds to {metres(gap.fold)}"
        text = f"{name} is too near: its {fold}, the target is {distance} away{keep}"
        return Reason(Cause.NEAR, text, gap.goals, f"Too near: {name}, {fold}")
    if gap.reach == 0.0:
        return Reason(Cause.FAR, f"{name} is {short} short: no joint brings it nearer{keep}", gap.goals)
    text = f"{name} is {short} short: its chain reaches {reach}, the target is {distance} away{keep}"
    return Reason(Cause.FAR, text, gap.goals)


def _pair_line(gap: Gap, names: Sequence[str], kept: Sequence[float]) -> str:
    """The line for two goals whose targets are too far apart, or too near, for the chain between them."""
    if gap.miss is Miss.WIDE and gap.reach > 0.0:
        return _wide_line(gap, names, kept)
    who = together([_at(name, distance) for name, distance in zip(names, kept, strict=True)])
    if gap.reach == 0.0:
        how = "at one place"
    elif gap.reach == gap.fold:
        how = f"fixed {metres(gap.reach)} apart"
    elif gap.miss is Miss.NEAR:
        how = f"{metres(gap.short)} too near each other: the chain between them folds to {metres(gap.fold)}"
    else:
        how = f"{metres(gap.short)} too far apart: the chain between them reaches {metres(gap.reach)}"
    return f"{who} are {how}, their targets are {metres(gap.distance)} apart"


def _wide_line(gap: Gap, names: Sequence[str], kept: Sequence[float]) -> str:
    """The line for a distance goal that is longer than another goal allows."""
    wide = 0 if kept[0] >= kept[1] else 1
    most = metres(kept[wide] - gap.short)
    other, name, short = _at(names[1 - wide], kept[1 - wide]), names[wide], metres(gap.short)
    return (
        f"with {other} in place {name} is {short} too near to its point: "
        f"it gets {most} away at most, {metres(kept[wide])} are asked"
    )


def _at(name: str, kept: float) -> str:
    """The name of a goal, with how far from its target it is to be."""
    return f"{name} ({metres(kept)} from its point)" if kept > 0.0 else name


def limit_name(system: System, names: Sequence[str], dof: int, value: float) -> str:
    """A joint at a limit: ``LeftLeg 0°``, ``LeftUpLeg swing``, ``Arm twist``, ``Neck x 30°``, ``Piston 200 mm``.

    ``dof``: its place in the system, whose joints have these ``names``; ``value``: of the limit, radians or metres.
    """
    k = int(system.first.searchsorted(dof, side="right")) - 1
    form, place = int(system.form[k]), dof - int(system.first[k]) - int(system.moves[k])
    if form == algebra.SWING_TWIST:
        return f"{shown(names[k])} {'swing' if place < 2 else 'twist'}"
    if form == algebra.SLIDE:
        return f"{shown(names[k])} {metres(value) if value >= 0.0 else '-' + metres(-value)}"
    axis = f" {'xyz'[system.order[k, place]]}" if form == algebra.EULER else ""
    return f"{shown(names[k])}{axis} {degrees(value)}"
