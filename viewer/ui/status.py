"""The status line: the result of the solve, errors, limits, and short names of effectors."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from viewer.document import (
    Document,
    DocumentGoal,
    GoalError,
    Mode,
    Report,
    joint_of,
    joints_at_limit,
    stand_of,
    world_of,
)
from viewer.document.document_contact import grip_id
from viewer.document.document_goal import LEVELS
from viewer.document.key_editing import shows_take
from viewer.document.scope import limb_of
from viewer.document.solve_report import standing
from viewer.errors import WORD, plural, shown
from viewer.ik.findings import FAR, Cause, Reason, blocked_by
from viewer.ik.goals import KINDS
from viewer.ik.solution import Status
from viewer.scene import look_of
from viewer.session import Session
from viewer.skeleton import (
    JointKind,
    LimitForm,
    Pose,
    Skeleton,
    above,
    at_or_below,
    coordinates_of,
    effector_of,
    joint_space,
)
from viewer.ui import number_format
from viewer.ui.contact import named, notable_touches
from viewer.ui.drag_targets import can_follow
from viewer.ui.number_format import error_decimals

_AT = re.compile(r" at its (?:(swing|twist) )?limit")
_SIDES = {"left": "L", "l": "L", "right": "R", "r": "R"}
_AT_LIMIT = 1e-4
"""Radians or metres from the end of its range within which a joint is at its limit."""

_BELOW = 2
"""The first level of goals that are below the others."""
Tone = Literal["ok", "warn", "err", "idle"]

COMPILING_AFTER = 0.3
"""Seconds of compiling after which the status line mentions it."""
COMPILING = "Compiling kernels, numpy meanwhile"

_HYPHEN = re.compile(r"(?<= )-(?=\d)")
_OUT = Reason(Cause.FAR, "", brief="Out of reach")
_LEAST_SAID = 5e-4
"""Metres: of a goal that is missed by less, the degrees are said."""
_LEAST_TURN = 0.1
"""Degrees that are said beside the metres."""
_LEANS = 3.0
"""Tolerances of a position within which the centre of mass is at the edge of its margin."""
_MOST_LIMITS, _MOST_NAMED, _MOST_ERRORS = 2, 2, 6
"""Most joints at limits, and most dragged effectors, that are named; most goals whose errors are all listed."""


@lru_cache(maxsize=1024)
def short_name(name: str) -> str:
    """A short name: ``R hand`` for ``mixamorig:RightHand`` or ``hand.R``; names without a side stay."""
    words = WORD.findall(name.rpartition(":")[2])
    side = next((word for word in words if word.casefold() in _SIDES), None)
    rest = " ".join(word.casefold() for word in words if word is not side)
    if side is None or not any(letter.isalpha() for letter in rest):  # L3 is a link or a vertebra
        return shown(name.rpartition(":")[2] or name)
    return shown(f"{_SIDES[side.casefold()]} {rest}")


def limit_words(skeleton: Skeleton, pose: Pose, joint: int) -> str:
    """Text of the limit that a joint is at: ``RightForeArm at its limit 0°``; only its name if at none."""
    name, limits = shown(skeleton.names[joint]), skeleton.limits[joint]
    if limits is None:
        return name
    space = joint_space(skeleton)
    values = coordinates_of(skeleton, pose)[joint]
    gaps = np.minimum(np.abs(values - space.lower[joint]), np.abs(values - space.upper[joint]))
    index = int(np.argmax(gaps < _AT_LIMIT))  # the first of several, because their order may differ in the last bits
    if not gaps[index] < _AT_LIMIT:
        # A swing range bounds both components together: it can be met between their ends.
        return f"{name} at its swing limit" if limits.form is LimitForm.SWING_TWIST else name
    value = float(values[index])
    if skeleton.kinds[joint] is JointKind.SLIDE:
        return f"{name} at its limit {number_format.short(value)}"
    angle = f"{number_format.fixed(np.degrees(value), 0)}°"
    if limits.form is LimitForm.SWING_TWIST:
        return f"{name} at its {'twist' if index == limits.twist_axis else 'swing'} limit {angle}"
    axis = f" {'xyz'[index]}" if limits.form is LimitForm.EULER else ""
    return f"{name} at its limit{axis} {angle}"


def limit_name(skeleton: Skeleton, pose: Pose, joint: int) -> str:
    """The same without the word limit: ``RightForeArm 0°``, ``LeftUpLeg swing``."""
    return _AT.sub(lambda found: f" {found[1]}" if found[1] else "", limit_words(skeleton, pose, joint))


def too_near(document: Document, report: Report | None) -> frozenset[str]:
    """Ids of goals whose targets are nearer than their chains can fold.

    From the diagnosis of the last solve; during a drag, which has none, from the lengths.
    """
    if report is None or report.status is Status.CONVERGED:
        return frozenset()
    names = {name for reason in report.reasons if reason.cause is Cause.NEAR for name in report.named(reason)}
    errors = report.errors
    missed = [one for one in document.goals if one.id in errors and not errors[one.id].reached]
    names |= {goal.id for goal in missed if _folds_too_far(document, goal)}
    return frozenset(names)


def _folds_too_far(document: Document, goal: DocumentGoal) -> bool:
    """Whether a target is certainly too near: the longest rigid part of the chain exceeds the others and the distance.

    Rigid parts are between joints that rotate. A chain whose base can move has no such bound.
    """
    if not goal.sets_pose or not KINDS[goal.kind].sets_position or goal.position is None:
        return False
    skeleton, world = document.skeleton, world_of(document.skeleton, document.pose)
    stand = stand_of(document, goal)
    path = above(skeleton, stand.joint)
    turning = [joint for joint in path if skeleton.kinds[joint] is not JointKind.FIXED]
    if not turning or can_follow(document, turning[-1]) or JointKind.SLIDE in {skeleton.kinds[j] for j in turning}:
        return False
    points = np.array([stand.point, *(world.positions[joint] for joint in turning)])
    parts = np.linalg.norm(np.diff(points, axis=0), axis=1)
    away = float(np.linalg.norm(np.array(goal.position) - points[-1]))
    return bool(2.0 * parts.max() - parts.sum() > away + document.solver.tolerance_m)


class StatusLine(NamedTuple):
    """Parts of the line, from left to right; little room cuts it from the right.

    Attributes:
        icon: "check", "warn", "cross" or "dot".
        state: in bold.
        tone: colour of the state.
        goals: errors per goal, or what prevents a goal from being met.
        figures: iterations, milliseconds, frames per second.
        modes: unusual modes: limits off, FK, compiling kernels.
        yields: holds that give way, after ``goals``.
    """

    icon: str
    state: str
    tone: Tone
    goals: str
    figures: str
    modes: tuple[str, ...]
    yields: str = ""


def status_line(
    session: Session,
    report: Report | None,
    *,
    dragging: bool,
    compiling_for: float,
    fps: float | None,
    balance: str = "",
    touches: str = "",
) -> StatusLine:
    """Make the status line of a session's document.

    The report of a drag that rests has reasons; while one is ``dragging``, nothing slow may be computed. Kernels have
    been compiling for some seconds, else 0; ``balance`` and ``touches`` are texts.
    """
    document = session.document
    finest = error_decimals(look_of(document.skeleton).height)
    recorded = session.recorder.seconds if session.recorder.recording else None
    modes = (
        *(words for words in (touches, balance) if words),
        *_modes(document, compiling_for, recorded),
        *(("Recording actions",) if session.action_log is not None else ()),
    )
    if report is None or session.clock.playing:
        state = "Playing" if session.clock.playing else "As in the motion" if shows_take(document) else "Not solved"
        return StatusLine(
            "dot", state, "idle", _errors(_of_effectors(session.errors, document), finest), _figures(None, fps), modes
        )
    yields = session.yields
    stuck = not dragging and session.escape.offered
    icon, state, tone, cause = _state(document, report, yields, dragging=dragging, stuck=stuck)
    if tone in {"ok", "idle"}:
        met_at_a_cost = tone == "ok" and report.status is not Status.CONVERGED
        others, miss = worst(report.errors) if met_at_a_cost else ("", "")
        asked = {name: error for name, error in report.errors.items() if name not in yields}
        goals = f"{others} {miss}" if others else _errors(_of_effectors(asked, document), finest)
    else:
        # What the state says of limits is not said twice.
        limits_said = cause is Cause.LIMITS
        goals = " ".join(worst(_reported_errors(document, report))) if limits_said else _limits(document, report)
    return StatusLine(icon, state, tone, goals, _figures(report, fps), modes, _yielding(report, yields))


def _of_effectors(errors: Mapping[str, GoalError], document: Document) -> dict[str, GoalError]:
    """Errors without that of balance, which has words of its own; further goals of an effector by their kind."""
    further = {goal.id: f"{goal.effector} {_kind_of(goal)}" for goal in document.goals if goal.id != goal.effector}
    kept = {name: error for name, error in errors.items() if not document.balance.on or name != document.balance_id}
    called: dict[str, GoalError] = {}
    for name, error in kept.items():
        called[name if (words := further.get(name, name)) in called else words] = error
    return called


def _kind_of(goal: DocumentGoal) -> str:
    """``together``, ``midpoint``, ``distance``."""
    return "together" if goal.relative else KINDS[goal.kind].title.lower()


def _yielding(report: Report, yields: Collection[str]) -> str:
    """The holds that give way, the farthest first: ``Head yields 71 cm, R hand 12 mm``."""
    some = sorted(yields, key=lambda name: -(report.errors[name].metres or 0.0))
    parts = [f"{short_name(name)} yields {_miss(report.errors[name])}" for name in some[:1]]
    parts += [f"{short_name(name)} {_miss(report.errors[name])}" for name in some[1:_MOST_NAMED]]
    if len(some) > _MOST_NAMED:
        parts.append(f"{len(some) - _MOST_NAMED} more")
    return ", ".join(parts)


def _miss(error: GoalError) -> str:
    """How far a goal is missed: ``71 cm``, ``3.2°``."""
    metres, degrees, _ = error
    if metres is not None and (metres >= _LEAST_SAID or degrees is None):
        return number_format.short(metres)
    return f"{number_format.fixed(degrees or 0.0, 1)}°"


def _state(
    document: Document, report: Report, yields: Collection[str] = (), *, dragging: bool, stuck: bool = False
) -> tuple[str, str, Tone, Cause | None]:
    """Icon, state, tone, and the cause that the state tells; ``stuck``: a pose is offered, also without a diagnosis."""
    if report.status is Status.CONVERGED:
        return "check", "Converged", "ok", None
    if report.status is Status.DIVERGED:
        return "cross", "Diverged, last good pose kept", "err", None
    if report.status is Status.BUDGET and dragging:
        return "dot", "Solving", "idle", None
    spoken = {name: error for name, error in _reported_errors(document, report).items() if name not in yields}
    name, miss = worst(spoken)
    if not name and worst(report.errors)[0]:
        return "check", f"{' and '.join(list(spoken)[:_MOST_NAMED])} reached", "ok", None
    if name in too_near(document, report):
        miss = miss.replace("short", "too near")
    if report.status is Status.STALLED and name != document.balance_id and _leans(document):
        return "warn", f"Held back by balance: {name} {miss}", "warn", None
    if stuck:
        return "warn", f"Stuck here: {name} {miss}".rstrip(), "warn", None
    why = _why(report, name) or _gave_way(document, report, name)
    if why is None and report.status is Status.UNREACHABLE:
        why = _OUT
    if why is None and report.status is Status.STALLED and not report.reasons:
        # In a drag there is no time to ask for more.
        why = _touched(document, name) or _held_back(document, report)
    if why is not None:
        said = f"{why.brief}: {name} {miss}".rstrip() if why is _OUT else why.brief
        return "warn", said, "warn", why.cause
    if report.status is Status.STALLED:
        return "warn", f"Stuck: {name} {miss}".rstrip(": "), "warn", None
    steps = report.steps[-1] if report.steps else report.iterations  # of the whole drag, not of one tick
    return "warn", f"Stopped after {plural(steps, 'iteration')}, {_error_text(report, document)}", "warn", None


def _reported_errors(document: Document, report: Report) -> dict[str, GoalError]:
    """Errors that the line reports: of selected (dragged) goals, of grips of their hands, and of missed pins.

    All errors if no goal is selected.
    """
    chosen = {item.name for item in document.selected_on_figure}
    if document.contact.grips:
        names = document.skeleton.names
        chosen |= {grip_id(names[joint_of(document, item)]) for item in document.selected_on_figure}
    errors = {name: error for name, error in report.errors.items() if name in chosen}
    pins = {goal.id for goal in document.goals if goal.pinned}
    missed = {name: error for name, error in report.errors.items() if name in pins and not error.reached}
    return errors | missed if errors else dict(report.errors)


def _gave_way(document: Document, report: Report, name: str) -> Reason | None:
    """The level of a goal that the user put below the others, if it is missed because of them: ``Keep gave way``."""
    levels = {name: goal.level for name, goal in document.solver_goals().items()}
    level = levels.get(name, 0)
    if level < _BELOW or name not in report.yields:
        return None
    return Reason(Cause.LEVEL, "", brief=f"{LEVELS[level]} gave way: {name} {_miss(report.errors[name])}")


def _leans(document: Document) -> bool:
    """Whether the centre of mass is as near to falling as the margin allows."""
    balance = document.balance
    return balance.on and bool(standing(document).margin <= balance.margin + _LEANS * document.solver.tolerance_m)


def _why(report: Report, name: str) -> Reason | None:
    """The reason, of the goal ``name`` if it has one, else the first; nothing during a drag.

    None if there is no wording for it here.
    """
    # Which level gives way to which is no reason.
    own = (one for one in report.reasons if name in report.named(one) and one.cause is not Cause.LEVEL)
    found = next(own, next(iter(report.reasons), None))
    if found is not None and found.brief:
        return found._replace(brief=_HYPHEN.sub(number_format.MINUS, found.brief))
    return _OUT if found is not None and found.cause is Cause.FAR else None


def _touched(document: Document, name: str) -> Reason | None:
    """What the goal's limb touches: ``Blocked: LeftForeArm touches Spine2``."""
    if all(goal.id != name for goal in document.goals):
        return None
    skeleton = document.skeleton
    joint = effector_of(skeleton, document.goal(name).effector).joint
    own = {skeleton.names[j] for j in np.flatnonzero(limb_of(skeleton, joint) | at_or_below(skeleton, joint)).tolist()}
    found = next((touch for touch in notable_touches(document) if not own.isdisjoint((touch.body, touch.other))), None)
    if found is None:
        return None
    first, second = named(document, found)
    return Reason(Cause.CONTACT, "", brief=f"Blocked: {shown(first)} touches {shown(second)}")


def _held_back(document: Document, report: Report) -> Reason | None:
    """Limits that joints of the worst goal's chain are at: ``Blocked by limits: LeftLeg 0°``."""
    limits = [limit_name(document.skeleton, document.pose, joint) for joint in limiting_joints(document, report)]
    return blocked_by(Cause.LIMITS, limits[:_MOST_LIMITS]) if limits else None


def worst(errors: Mapping[str, GoalError]) -> tuple[str, str]:
    """The goal with the largest error, and the error: ``RightHand``, ``178 mm short, 3.2° off``; "" if all are met."""
    missed = {name: error for name, error in errors.items() if not error[2]}
    if not missed:
        return "", ""
    name = max(missed, key=lambda n: (missed[n][0] or 0.0, missed[n][1] or 0.0))
    metres, degrees, _ = missed[name]
    off = metres is None or (metres < _LEAST_SAID and degrees is not None)
    also = "" if off or (degrees or 0.0) < _LEAST_TURN else f", {number_format.fixed(degrees or 0.0, 1)}° off"
    return name, f"{_miss(missed[name])} {'off' if off else 'short'}{also}"


def _error_text(report: Report, document: Document) -> str:
    """The largest error, as in ``Stopped after 60 iterations, 3.2 mm``."""
    errors = _reported_errors(document, report).values()
    metres = max((error[0] or 0.0 for error in errors), default=0.0)
    degrees = max((error[1] or 0.0 for error in errors), default=0.0)
    if metres <= document.solver.tolerance_m and degrees > document.solver.tolerance_deg:
        return f"{number_format.fixed(degrees, 1)}°"
    return number_format.error(metres, error_decimals(look_of(document.skeleton).height))


def _errors(errors: Mapping[str, GoalError], finest: int) -> str:
    """Errors per goal: ``R hand 0.0 L hand 0.0 Head 0.1 mm``; each with its unit if one is in metres.

    Of more than `_MOST_ERRORS` goals the largest are named: the fingers of a robot would fill the line.
    """
    errors = {name: error for name, error in errors.items() if error.metres is not None}
    if len(errors) > _MOST_ERRORS:
        digits = max(finest, 0)
        sizes = {name: round(1e3 * (error.metres or 0.0), digits) for name, error in errors.items()}
        first = sorted(errors, key=lambda name: -sizes[name])[:_MOST_NAMED]
        rest = max(error.metres or 0.0 for name, error in errors.items() if name not in first)
        named = _errors({name: errors[name] for name in first}, finest)
        return f"{named}, {len(errors) - len(first)} others {number_format.error(rest, finest)}"
    if any([(metres or 0.0) >= FAR for metres, _, _ in errors.values()]):  # noqa: C419 - one call, not one for each
        several = ((name, error[0]) for name, error in errors.items() if error[0] is not None)
        return " ".join(f"{short_name(name)} {number_format.error(metres, finest)}" for name, metres in several)
    parts = [
        f"{short_name(name)} {number_format.millimetres(metres, finest)}"
        for name, (metres, _, _) in errors.items() if metres is not None
    ]  # fmt: skip
    return f"{' '.join(parts)} mm" if parts else ""


def _limits(document: Document, report: Report) -> str:
    """Joints of the worst goal's chain at a limit: ``RightForeArm at its limit 0°``."""
    words = [limit_words(document.skeleton, document.pose, joint) for joint in limiting_joints(document, report)]
    return "  ".join([*_missed_pins(document, report), *words[:_MOST_LIMITS]])


def _missed_pins(document: Document, report: Report) -> list[str]:
    """The pins that are missed because of goals that the line names: ``LeftFoot 2.2 mm off its pin``."""
    said, _ = worst(_reported_errors(document, report))
    pins = [goal.id for goal in document.goals if goal.pinned and goal.id in report.errors and goal.id != said]
    missed = [name for name in pins if not report.errors[name].reached]
    return [f"{name} {_miss(report.errors[name])} off its pin" for name in missed[:_MOST_NAMED]]


def limiting_joints(document: Document, report: Report) -> list[int]:
    """Joints that hold back the worst goal and are at a limit, nearest first.

    For a goal those of its chain; for a dragged joint also those between it and held goals: hips go down only as far as
    the knees, between them and the feet, bend.
    """
    name, _ = worst(_reported_errors(document, report))
    skeleton, limited = document.skeleton, set(joints_at_limit(document))
    effectors = {goal.id: goal.effector for goal in document.goals}
    if name in effectors:
        chain = above(skeleton, effector_of(skeleton, effectors[name]).joint)
    else:
        joint = name.removesuffix(" point")
        chain = _between(document, report, skeleton.index(joint)) if joint in skeleton.names else []
    return [joint for joint in chain if skeleton.names[joint] in limited]


def _between(document: Document, report: Report, joint: int) -> list[int]:
    """Joints on the ways from a dragged joint to the places that are held, then those above it."""
    skeleton = document.skeleton
    own = above(skeleton, joint)
    found: list[int] = []
    for goal in document.goals:
        if goal.sets_pose and goal.id in report.errors and goal.id not in report.yielding_holds:
            other = above(skeleton, effector_of(skeleton, goal.effector).joint)
            found += [one for one in own if one not in other] + [one for one in reversed(other) if one not in own]
    return [*dict.fromkeys([*found, *own])]


def _figures(report: Report | None, fps: float | None) -> str:
    """Figures: ``11 it · 0.42 ms · 60 fps``; of a drag that rests or is over, of all its ticks: ``Drag 525 it``."""
    of_drag = "Drag " if report is not None and report.of_drag else ""
    parts = [] if report is None else [f"{of_drag}{report.iterations} it", number_format.milliseconds(report.seconds)]
    return " · ".join([*parts, *([f"{fps:.0f} fps"] if fps else [])])


def _is_unkeyed(document: Document) -> bool:
    """Whether the pose shown differs from keys and clip, and would be lost by going to another frame."""
    return document.has_motion and not (document.auto_key or shows_take(document))


def _modes(document: Document, compiling_for: float, recorded: float | None) -> tuple[str, ...]:
    said = {
        "Limits off": not document.limits_on,
        "FK": document.mode is Mode.FK,
        COMPILING: compiling_for > COMPILING_AFTER,
    }
    recording = () if recorded is None else (f"Recording {number_format.clock(recorded)}",)
    if recorded is None and _is_unkeyed(document):
        recording = ("Pose not keyed",)
    return (*recording, *(words for words, holds in said.items() if holds))
