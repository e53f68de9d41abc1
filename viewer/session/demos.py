"""Demos: chains in a plane, whole bodies, and the table of all, with those of physics and the lessons."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, partial

import numpy as np

from viewer.document import (
    Document,
    DocumentContact,
    DocumentGoal,
    Item,
    Mode,
    Prop,
    Shape,
    SolverSettings,
    measured,
    stand_of,
)
from viewer.document.document_contact import grip_id, touches_of
from viewer.document.document_goal import LEVELS, DocumentBalance, balance_words
from viewer.document.solve_report import current_errors, standing
from viewer.errors import InputError, unknown_name
from viewer.ik.contact.volumes import TOUCHES
from viewer.ik.findings import metres
from viewer.ik.goals import Goal
from viewer.resources import data_dir
from viewer.session.demo_parts import PREFIX, Demo, Ring, Says, bent, hinged, opened, s_lock, sample
from viewer.session.ik_drag import Chase, FigureEight, Made, Orbit, TargetMotion
from viewer.session.lessons import LESSONS
from viewer.session.physics_demos import PHYSICS
from viewer.session.solving import Solvers, settle
from viewer.skeleton import Skeleton, fk
from viewer.spatial.checks import Floats

# Chains in a plane

_CHAIN = 14
_CIRCLE, _RADIUS = (0.42, 0.2, 0.0), 0.04

_FINGERS = ("claw_a", "claw_b", "claw_c")
_THING = (0.0, 0.28, 0.42)
_GRIP = 9.0

_REACH = FigureEight((-0.1, 1.0, 0.5), (0.35, 0.0, 0.0), (0.0, 0.35, 0.05), 10.0)
_GAZE = Chase(_REACH, 0.3)

_PREY = FigureEight((0.2, 0.28, 1.15), (0.75, 0.0, -0.3), (0.0, 0.16, 0.25), 6.0)

_HOVER, _KEEN = 0.27, 5.0
_BALL = Orbit((0.0, 0.62, 0.42), (0.38, 0.0, 0.0), (0.0, 0.26, 0.12), 5.0)

_UNDER_FLOOR, _AT_SIDE = (-0.3, -0.12, 0.35), (0.35, 0.55, 0.05)
_IN_BELLY, _IN_TABLE, _UPRIGHT = (0.0, 1.1, -0.05), (0.35, 0.62, 0.48), (0.03, 1.47, 0.1)
_TABLE = Prop(name="table", shape=Shape.BOX, center=(0.35, 0.375, 0.5), size=(0.45, 0.75, 0.45))
_FRUIT = Prop(name="ball", center=(0.45, 0.82, 0.6), radius=0.07)

_MUG, _IN_LEFT, _BAR = (-0.22, 1.0, 0.4), (0.22, 1.0, 0.4), (0.0, 0.8, 0.5)

_FAR_OFF = (-0.35, 0.75, 0.9)
_APART = (0.9, 1.3, 0.25), (-0.8, 1.1, 0.3)

_HANDS = ("LeftHand", "RightHand")


def _tip(document: Document) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """(3,) position of the end of the chain."""
    return stand_of(document.skeleton, document.pose, DocumentGoal(effector="tip", enabled=False)).point


def two_link() -> Document:
    """An arm of 1 m and 0.8 m with unlimited joints."""
    skeleton = hinged(sample("two-link"), None)
    settings = SolverSettings(method="two-link", restarts=False)
    goals = [Goal.position("tip", (0.9, 1.0, 0.0))]
    document = opened("two-link", skeleton, bent(skeleton, (7.0, 83.0)), goals, solver=settings, planar="xy")
    return settle(document, Solvers()).document


def _lengths(document: Document) -> tuple[float, float]:
    """Lengths of the two links, metres."""
    skeleton = document.skeleton
    return float(np.linalg.norm(skeleton.offsets[1])), float(np.linalg.norm(skeleton.effectors[0].offset))


def _reach(document: Document) -> Says | None:
    lengths, shoulder, target = _lengths(document), document.pose.translations[0], document.goal("tip").position
    if target is None:
        return None
    distance = float(np.linalg.norm(np.array(target) - shoulder))
    nearest, farthest = abs(lengths[0] - lengths[1]), sum(lengths)
    away = f"the target is {distance:.3f} m away"
    if distance > farthest + document.solver.tolerance_m:
        return Says(f"Too far by {distance - farthest:.3f} m: {away}", "warn")
    if distance < nearest - document.solver.tolerance_m:
        return Says(f"Too near by {nearest - distance:.3f} m: {away}", "warn")
    return Says(f"In reach: {away}", "ok")


def _shell(document: Document) -> tuple[Ring, ...]:
    """Circles of the farthest and the nearest reach."""
    lengths, (x, y, z) = _lengths(document), document.pose.translations[0].tolist()
    return Ring((x, y, z), sum(lengths)), Ring((x, y, z), abs(lengths[0] - lengths[1]))


def ccd_chain() -> Document:
    """An upright chain of many links."""
    skeleton = hinged(sample(f"chain-{_CHAIN}"), None)
    pose = bent(skeleton, [-60.0 / _CHAIN] * _CHAIN)
    end = fk(skeleton, pose).point(_CHAIN - 1, skeleton.tip_offsets[0])
    goals = [Goal.position("tip", end + np.array([0.01, 0.0, 0.0]))]
    return opened("ccd-chain", skeleton, pose, goals, solver=SolverSettings(method="ccd", iterations=8), planar="xy")


def _lock(document: Document) -> Says | None:
    error = measured(document).get("tip")
    if error is None or error.metres is None:
        return None
    if error.reached:
        return Says("The target is reached", "ok")
    return Says(f"{metres(error.metres)} short", "warn")


def puzzle() -> Document:
    """Three links whose end the user brings into a circle, angle by angle."""
    skeleton = hinged(sample("chain-3"), 120.0)
    document = opened("puzzle", skeleton, bent(skeleton, (20.0, 15.0, 10.0)), [Goal.position("tip", _CIRCLE)])
    goals = tuple(replace(goal, enabled=False) for goal in document.goals)
    second = (Item("joint", skeleton.names[1]),)
    return replace(document, goals=goals, mode=Mode.FK, selection=second, planar="xy")


def _left(document: Document) -> float:
    return float(np.linalg.norm(_tip(document) - np.array(_CIRCLE)))


def _progress(document: Document) -> Says:
    left = _left(document)
    if left <= _RADIUS:
        return Says("Solved: the tip is in the circle", "ok")
    return Says(f"{100.0 * (left - _RADIUS):.1f} cm to go")


def _circle(document: Document) -> tuple[Ring, ...]:
    return (Ring(_CIRCLE, _RADIUS, tone="ok" if _left(document) <= _RADIUS else "idle"),)


FLAT = (
    Demo(
        id="two-link",
        title="Two-link arm",
        words=(
            "Two links are solved in closed form, and the arm says when its target is too far or too near.",
            "Click anywhere to put the target there, or drag it.",
        ),
        build=two_link,
        view="planar",
        click_moves="tip",
        rings=_shell,
        says=_reach,
        room=((-4.3, -1.8, 0.0), (1.8, 1.9, 0.0)),
    ),
    Demo(
        id="ccd-chain",
        title="Chain after the pointer",
        words=(
            "Cyclic coordinate descent rotates one joint after the other, each so that the tip points at the target.",
            "Move the pointer: the chain follows it. Space pauses it.",
        ),
        build=ccd_chain,
        view="planar",
        follows="tip",
        methods=("ccd", "ccd-from-base", "default"),
        room=((-1.05, -0.6, 0.0), (1.05, 1.05, 0.0)),
    ),
    Demo(
        id="s-lock",
        title="The S-lock",
        words=(
            "In this S shape no single joint can improve the pose: CCD locks, although the target is in reach.",
            "Choose Default: it gets stuck, too, then restarts from another pose. The solver's plot shows both.",
        ),
        build=s_lock,
        view="planar",
        methods=("ccd", "default"),
        says=_lock,
        room=((-1.3, -0.15, 0.0), (0.55, 1.15, 0.0)),
        solves=True,
    ),
    Demo(
        id="puzzle",
        title="Puzzle: into the circle",
        words=(
            "Without a solver: bring the tip into the circle by rotating the three joints.",
            "Drag the bones, or select a joint and use its slider.",
        ),
        build=puzzle,
        view="planar",
        rings=_circle,
        says=_progress,
        room=((-1.5, -0.35, 0.0), (0.9, 1.2, 0.0)),
    ),
)
"""In the order of the menu."""


# The claw


def _grip(seconds: float) -> tuple[Floats, Floats, float]:
    """Position (3,) of the gripped thing, direction (3,) of the grip, and distance of the fingers from it."""
    phase = math.tau * seconds / _GRIP
    position = np.array(_THING) + np.array([0.12 * math.sin(phase), 0.04 * math.sin(2.0 * phase), 0.0])
    tilt, side = math.radians(55.0 + 15.0 * math.sin(phase)), 0.25 * math.sin(phase)
    direction = np.array([side, -math.cos(tilt), math.sin(tilt)])
    return position, direction / np.linalg.norm(direction), 0.06 + 0.015 * math.sin(3.0 * phase)


def _fingertip(number: int, seconds: float) -> Floats:
    """(3,) target of one of the three fingertips."""
    position, direction, apart = _grip(seconds)
    across = np.cross(direction, (1.0, 0.0, 0.0))
    across /= np.linalg.norm(across)
    angle = math.tau * number / 3.0 + 0.4 * math.sin(math.tau * seconds / _GRIP)
    return position + apart * (math.cos(angle) * across + math.sin(angle) * np.cross(across, direction))


def claw() -> Document:
    """Three fingers on one arm, each with a goal of its own."""
    skeleton = sample("claw-arm")
    goals = [Goal.position(name, _fingertip(number, 0.0)) for number, name in enumerate(_FINGERS)]
    return opened("claw", skeleton, skeleton.relaxed_pose(), goals)


def _thing(document: Document) -> tuple[Ring, ...]:
    targets = np.array([document.goal(name).position for name in _FINGERS])
    centre = targets.mean(axis=0)
    return (Ring(tuple(centre.tolist()), 0.03, filled=True),)


def _apart(document: Document) -> Says:
    targets = np.array([document.goal(name).position for name in _FINGERS])
    worst = max((error.metres or 0.0) for error in measured(document).values())
    apart = np.linalg.norm(targets - targets.mean(axis=0), axis=1).mean()
    return Says(f"Grip {2000.0 * apart:.0f} mm wide, fingers off by {1000.0 * worst:.1f} mm at most")


# The reach


def reach() -> Document:
    """A body with pinned feet that reaches far with one hand and follows it with its gaze."""
    skeleton = sample("biped")
    pose = skeleton.relaxed_pose()
    goals = [Goal.position("RightHand", (-0.366, 0.882, -0.02)), Goal.aim("Head", _GAZE(0.0), (0.0, 0.0, 1.0))]
    goals += [Goal.pin(foot) for foot in ("LeftFoot", "RightFoot")]
    return opened("reach", skeleton, pose, goals)


# The serpent


def serpent() -> Document:
    """A serpent that looks at a moving target."""
    skeleton = sample("serpent")
    goals = [Goal.aim("Head", _PREY(0.0), (0.0, -0.13, 0.99))]
    return opened(
        "serpent", skeleton, skeleton.relaxed_pose(), goals, solver=SolverSettings(root="locked", firm_holds=False)
    )


# The arm and the ball


def ball() -> Document:
    """An arm whose wrist keeps a distance from a ball and points at it."""
    skeleton = sample("claw-arm")
    aim = Goal.aim("wrist", _BALL(0.0), (0.0, 1.0, 0.0), rotation_weight=_KEEN)
    goals = [Goal.distance("wrist", _HOVER, _BALL(0.0)), aim]
    return opened("ball", skeleton, skeleton.relaxed_pose(), goals)


def _aimed(document: Document) -> tuple[Ring, ...]:
    name = "Head" if "Head" in document.skeleton.names else "wrist"
    position = document.goal(name).position
    return () if position is None else (Ring(position, 0.04 if name == "Head" else 0.035, filled=True),)


def _errors(document: Document) -> Says:
    found = measured(document).values()
    metres = max((error.metres for error in found if error.metres is not None), default=None)
    degrees = max((error.degrees for error in found if error.degrees is not None), default=0.0)
    far = "" if metres is None else f"{1000.0 * metres:.1f} mm from its distance, "
    return Says(f"{far}{degrees:.1f}\N{DEGREE SIGN} from facing it")


# The floor and the body


@cache
def floor() -> Document:
    """A body whose hand has its target under the floor."""
    goals = [Goal.position("RightHand", _UNDER_FLOOR), Goal.position("LeftHand", _AT_SIDE)]
    return _on_its_feet("floor", goals, contact=DocumentContact(on=True, bodies=False))


@cache
def bodies() -> Document:
    """A body whose hands have their targets in its own belly and in a table."""
    goals = [
        Goal.position("RightHand", _IN_BELLY),
        Goal.position("LeftHand", _IN_TABLE),
        Goal.position("Head", _UPRIGHT),
    ]
    return _on_its_feet("bodies", goals, contact=DocumentContact(on=True, props=(_TABLE, _FRUIT)))


def _on_its_feet(name: str, goals: list[Goal], *, skeleton: Skeleton | None = None, **changes: object) -> Document:
    """A biped, the sample unless given, on pinned feet, solved by numpy: the same whether or not kernels are ready."""
    skeleton = skeleton or sample("biped")
    pinned = [Goal.pin(foot) for foot in ("LeftFoot", "RightFoot")]
    document = opened(name, skeleton, skeleton.relaxed_pose(), [*goals, *pinned], **changes)
    plain = replace(document, solver=replace(document.solver, backend="numpy"))
    return replace(settle(plain, Solvers()).document, solver=document.solver)


def _deepest(document: Document) -> Says:
    """How deep the figure is in anything of the demo, whether or not that counts now."""
    contact = replace(document.contact, on=True)
    found = touches_of(contact, document.skeleton, document.pose)
    if not found or found[0].depth_m <= TOUCHES:
        return Says("Nothing goes through anything", "ok")
    return Says(f"{found[0].body} is {metres(found[0].depth_m)} in {found[0].other}", "warn")


# Grips


@cache
def grip() -> Document:
    """A body whose hands close on a mug and a ball."""
    mug = Prop(name="mug", shape=Shape.MESH, center=_MUG, path=str(data_dir("skeletons") / "mug.obj"))
    ball = Prop(name="ball", center=_IN_LEFT, radius=0.045)
    bar = Prop(name="bar", shape=Shape.BOX, center=_BAR, size=(0.3, 0.04, 0.04))
    held = (("RightHand", "mug"), ("LeftHand", "ball"))
    contact = DocumentContact(on=True, floor=False, props=(mug, ball, bar), grips=held)
    person = sample("biped-hands")
    # Effectors of fingertips would hide the props.
    ends = tuple(one for one in person.effectors if one.name in sample("biped").names)
    return _on_its_feet("grip", [], skeleton=replace(person, effectors=ends), contact=contact)


def _held(document: Document) -> Says:
    """Which hands hold what they grip."""
    grips, errors = dict(document.contact.grips), current_errors(document)
    if not grips or not document.contact.on:
        return Says("The hands are open")
    missed = [hand for hand in grips if (error := errors.get(grip_id(hand))) is None or not error.reached]
    if missed:
        return Says(f"{missed[0]} does not hold the {grips[missed[0]]}", "warn")
    return Says(" and ".join(f"the {prop}" for prop in grips.values()).capitalize() + " are held", "ok")


# Balance and levels


@cache
def balance() -> Document:
    """A body that reaches far in front of it and stays on its feet."""
    return _on_its_feet("balance", [Goal.position("RightHand", _FAR_OFF)], balance=DocumentBalance(on=True))


def _stance(document: Document) -> Says:
    found = standing(document)
    words = balance_words(found)
    return Says(words[:1].upper() + words[1:], "ok" if found.margin >= 0.0 else "warn")


@cache
def levels() -> Document:
    """A body whose hands have targets that are too far apart, one of which has priority."""
    goals = [Goal.position(name, place) for name, place in zip(_HANDS, _APART, strict=True)]
    goals = [replace(goal, level=level) for goal, level in zip(goals, (0, 2), strict=True)]
    return _on_its_feet("levels", goals)


def _gave_way(document: Document) -> Says:
    """The hand of the last level that gives way."""
    errors = current_errors(document)
    missed = {name: error.metres or 0.0 for name in _HANDS if (error := errors.get(name)) and not error.reached}
    if not missed:
        return Says("Both hands are at their targets", "ok")
    first = max(missed, key=lambda name: document.goal(name).level)
    return Says(f"{LEVELS[document.goal(first).level]} gave way: {first} {metres(missed[first])}", "warn")


BODIES = (
    Demo(
        id="floor",
        title="The floor",
        words=(
            "The target of the right hand is 12 cm under the floor; the hand rests on the floor above it.",
            "Drag it along the floor, or press C and see it go through.",
        ),
        build=floor,
        says=_deepest,
        room=((-0.6, 0.0, 0.0), (0.5, 1.5, 0.8)),
        shows_bodies=True,
    ),
    Demo(
        id="bodies",
        title="Bodies and props",
        words=(
            "The target of one hand is in the belly, that of the other in the table: both hands stay outside.",
            "Drag the hands, the table or the ball; F4 shows the bones, C lets them through.",
        ),
        build=bodies,
        says=_deepest,
        room=((-0.5, 0.0, 0.0), (0.6, 1.65, 0.8)),
        shows_bodies=True,
    ),
    Demo(
        id="grip",
        title="Grip",
        words=(
            "The fingers close on a mug and a ball until they touch: contact stops them, none goes through.",
            "Drag the mug or the ball, the hand goes with it; Ctrl+Shift+G opens the hand that is selected.",
        ),
        build=grip,
        says=_held,
        view="front",
        room=((-1.0, 0.5, 0.4), (0.6, 1.8, 0.4)),
        shows_bodies=True,
    ),
    Demo(
        id="balance",
        title="Balance",
        words=(
            "The hand reaches far, and the hips go back, so that the centre of mass stays above the feet.",
            "Drag the hand as far as it goes; press Shift+B and see the body fall.",
        ),
        build=balance,
        says=_stance,
        room=((-0.6, 0.0, 0.0), (0.5, 1.7, 0.9), (-0.9, 1.9, -0.6)),
        shows_balance=True,
    ),
    Demo(
        id="levels",
        title="Levels",
        words=(
            "The targets of the hands are too far apart: the left one, Must, is met; the right one, Keep, gives way.",
            "Drag either hand; then select one and choose another level in the inspector.",
        ),
        build=levels,
        view="front",
        says=_gave_way,
        room=((-0.95, 0.0, 0.0), (1.05, 1.9, 0.3)),
        solves=True,
    ),
    Demo(
        id="claw",
        title="The claw",
        words=(
            "Three fingers and the arm that they share are posed in one solve, while grip and approach change.",
            "Space pauses it; then drag a fingertip and see the arm yield.",
        ),
        build=claw,
        motions=tuple(
            TargetMotion(name, Made(partial(_fingertip, number), _GRIP), shown=False)
            for number, name in enumerate(_FINGERS)
        ),
        rings=_thing,
        says=_apart,
        room=((-0.35, 0.0, 0.0), (0.35, 0.7, 0.55)),
    ),
    Demo(
        id="reach",
        title="Full-body reach",
        words=(
            "The feet are pinned, the hand reaches far, the gaze follows it, and the whole body helps in one solve.",
            "Space pauses it; then drag the hand or the hips, or select a foot and press Delete to release it.",
        ),
        build=reach,
        motions=(TargetMotion("RightHand", _REACH), TargetMotion("Head", _GAZE, shown=False)),
        room=((-0.4, 0.0, 0.0), (0.4, 1.65, 0.55)),
    ),
    Demo(
        id="serpent",
        title="The serpent that watches",
        words=(
            "The head has only an aim goal: it faces the moving target, and the body turns as far as needed.",
            "Space pauses it; then drag the target behind the serpent, and it turns around.",
        ),
        build=serpent,
        motions=(TargetMotion("Head", _PREY),),
        rings=_aimed,
        says=_errors,
        room=((-0.5, 0.0, 1.2), (0.9, 0.4, 1.0)),
    ),
    Demo(
        id="ball",
        title="The arm and the ball",
        words=(
            "A distance goal and an aim goal on one wrist: the arm follows the ball and faces it.",
            "Space pauses it; then drag the ball out of reach: the arm still points at it.",
        ),
        build=ball,
        motions=(TargetMotion("wrist", _BALL), TargetMotion("wrist_2", _BALL, shown=False)),
        rings=_aimed,
        says=_errors,
        room=((-0.5, 0.0, 0.0), (0.5, 0.95, 0.6)),
    ),
)
"""In the order of the menu."""

DEMOS: tuple[Demo, ...] = (*FLAT, *BODIES, *PHYSICS, *LESSONS)
"""All demos, in the order of the menu."""


def find_demo(name: str) -> Demo:
    """The demo with a name such as ``two-link`` or ``demo:two-link``."""
    wanted = name.removeprefix(PREFIX)
    found = next((demo for demo in DEMOS if demo.id == wanted), None)
    if found is None:
        raise InputError(unknown_name("demo", wanted, [demo.id for demo in DEMOS]))
    return found


def demo_of(document: Document) -> Demo | None:
    """The demo that a document was opened from, also after saving; or None."""
    path = document.character.source.path
    if path is None or not path.startswith(PREFIX):
        return None
    return next((demo for demo in DEMOS if PREFIX + demo.id == path), None)
