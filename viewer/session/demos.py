"""Demos of whole figures, posed by goals and moved by physics, and the table of all demos."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial

import numpy as np

from viewer.document import Document, DocumentContact, Prop, Shape, SolverSettings, measured
from viewer.document.document_contact import grip_id, touches_of
from viewer.document.document_goal import LEVELS, DocumentBalance, balance_words
from viewer.document.solve_report import current_errors, standing
from viewer.errors import InputError, unknown_name
from viewer.formats.files import data_dir
from viewer.ik.contact.volumes import TOUCHES
from viewer.ik.findings import metres
from viewer.ik.goals import Goal, Vector
from viewer.ik.solver import Solver
from viewer.session.demo_parts import FLAT, PREFIX, Demo, DemoText, Push, Ring, Throw, Trial, opened, sample
from viewer.session.figures import Placement
from viewer.session.ik_drag import Chase, FigureEight, Made, Orbit, TargetMotion
from viewer.session.lessons import LESSONS
from viewer.session.solving import Solvers, settle
from viewer.skeleton import Pose, Skeleton, fk, project_pose
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, exp, from_axis_angle, multiply, rotate

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

# A pose near the solved one: from there numpy needs a tenth of a second, from the relaxed pose four seconds.
_BY_TABLE = (0.134, 0.913, -0.109), {
    "Hips": (7.3, -42.1, -3), "Spine": (13.1, -6.9, -4.9), "Spine1": (9.6, -9.5, -3.2), "Spine2": (4.6, -9.9, -5.3),
    "Neck": (-10.7, -10.6, 31.2), "LeftShoulder": (-1.2, -5.2, -10.1), "LeftArm": (-22.5, 13.7, -14.2),
    "LeftForeArm": (0, -22.9, 0), "LeftHand": (0, -20, 45), "LeftUpLeg": (-33.5, 36.2, 4.1), "LeftLeg": (40.2, 0, 0),
    "LeftFoot": (-15.6, 6.8, 6.6), "RightArm": (50.7, 51.1, 54), "RightForeArm": (0, 115.2, 0),
    "RightUpLeg": (-32.2, 36, 1.4), "RightFoot": (2.4, 6.1, 9.6),
}  # fmt: skip


# The claw


def _grip(seconds: float) -> tuple[Floats, Floats, float]:
    """Position (3,) of the gripped thing, direction (3,) of the grip, and distance of the fingers from it."""
    phase = math.tau * seconds / _GRIP
    position = np.array(_THING) + np.array([0.12 * math.sin(phase), 0.04 * math.sin(2.0 * phase), 0.0])
    tilt, side = math.radians(55.0 + 15.0 * math.sin(phase)), 0.25 * math.sin(phase)
    direction = np.array([side, -math.cos(tilt), math.sin(tilt)])
    return position, direction / np.linalg.norm(direction), 0.06 + 0.015 * math.sin(3.0 * phase)


def _fingertip(number: int, seconds: float) -> Floats:
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


def _apart(document: Document) -> DemoText:
    targets = np.array([document.goal(name).position for name in _FINGERS])
    worst = max((error.metres or 0.0) for error in measured(document).values())
    apart = np.linalg.norm(targets - targets.mean(axis=0), axis=1).mean()
    return DemoText(f"Grip {2000.0 * apart:.0f} mm wide, fingers off by {1000.0 * worst:.1f} mm at most")


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


def _errors(document: Document) -> DemoText:
    found = measured(document).values()
    metres = max((error.metres for error in found if error.metres is not None), default=None)
    degrees = max((error.degrees for error in found if error.degrees is not None), default=0.0)
    far = "" if metres is None else f"{1000.0 * metres:.1f} mm from its distance, "
    return DemoText(f"{far}{degrees:.1f}\N{DEGREE SIGN} from facing it")


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
    contact = DocumentContact(on=True, props=(_TABLE, _FRUIT))
    return _on_its_feet("bodies", goals, begin=_BY_TABLE, contact=contact)


def _on_its_feet(
    name: str,
    goals: list[Goal],
    *,
    skeleton: Skeleton | None = None,
    begin: tuple[Vector, Mapping[str, Vector]] | None = None,
    **changes: object,
) -> Document:
    """A biped, the sample unless given, solved on pinned feet.

    ``begin`` is where the solve begins, if not in the relaxed pose: the place of the root, metres, and rotation vectors
    of joints, degrees.
    """
    skeleton = skeleton or sample("biped")
    pose, pinned = skeleton.relaxed_pose(), [Goal.pin(foot) for foot in ("LeftFoot", "RightFoot")]
    document = opened(name, skeleton, pose, [*goals, *pinned], **changes)
    if begin is not None:
        rotations, translations = pose.rotations.copy(), pose.translations.copy()
        translations[0], turns = begin
        rotations[[skeleton.index(joint) for joint in turns]] = exp(np.radians([*turns.values()]))
        document = document.with_pose(project_pose(skeleton, Pose(rotations, translations)))
    return settle(document, Solvers()).document


def _deepest(document: Document) -> DemoText:
    """How deep the figure is in anything of the demo, whether or not that counts now."""
    contact = replace(document.contact, on=True)
    found = touches_of(contact, document.skeleton, document.pose)
    if not found or found[0].depth_m <= TOUCHES:
        return DemoText("Nothing goes through anything", "ok")
    return DemoText(f"{found[0].body} is {metres(found[0].depth_m)} in {found[0].other}", "warn")


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
    skeleton = replace(person, effectors=ends)
    return _on_its_feet("grip", [], skeleton=skeleton, contact=contact)


def _held(document: Document) -> DemoText:
    grips, errors = dict(document.contact.grips), current_errors(document)
    if not grips or not document.contact.on:
        return DemoText("The hands are open")
    missed = [hand for hand in grips if (error := errors.get(grip_id(hand))) is None or not error.reached]
    if missed:
        return DemoText(f"{missed[0]} does not hold the {grips[missed[0]]}", "warn")
    return DemoText(" and ".join(f"the {prop}" for prop in grips.values()).capitalize() + " are held", "ok")


# Balance and levels


@cache
def balance() -> Document:
    """A body that reaches far in front of it and stays on its feet."""
    return _on_its_feet("balance", [Goal.position("RightHand", _FAR_OFF)], balance=DocumentBalance(on=True))


def _stance(document: Document) -> DemoText:
    found = standing(document)
    words = balance_words(found)
    return DemoText(words[:1].upper() + words[1:], "ok" if found.margin >= 0.0 else "warn")


@cache
def levels() -> Document:
    """A body whose hands have targets that are too far apart, one of which has priority."""
    goals = [Goal.position(name, place) for name, place in zip(_HANDS, _APART, strict=True)]
    goals = [replace(goal, level=level) for goal, level in zip(goals, (0, 2), strict=True)]
    return _on_its_feet("levels", goals)


def _gave_way(document: Document) -> DemoText:
    """The hand of the last level that gives way."""
    errors = current_errors(document)
    missed = {name: error.metres or 0.0 for name in _HANDS if (error := errors.get(name)) and not error.reached}
    if not missed:
        return DemoText("Both hands are at their targets", "ok")
    first = max(missed, key=lambda name: document.goal(name).level)
    return DemoText(f"{LEVELS[document.goal(first).level]} gave way: {first} {metres(missed[first])}", "warn")


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


# --- physics: figures that are hit, pushed and swung, and come back

_PUSHES = tuple(
    Push(1.0 + 3.0 * number, "Spine2", impulse)
    for number, impulse in enumerate(((0.0, 0.0, 40.0), (40.0, 0.0, 0.0), (0.0, 0.0, -40.0), (-40.0, 0.0, 0.0)))
)

_FROM_MIDDLE = 0.75
"""Metres from the middle of the three figures to each; the first is at the origin, its back to the middle."""
_STAND = 0.0, math.radians(120.0), math.radians(-120.0)
"""Radians: their headings."""

_SWEEP = Orbit((0.0, 0.46, 0.24), (-0.38, 0.0, 0.0), (0.0, 0.0, 0.06), 4.0)
_LOW_TABLE = Prop(name="table", shape=Shape.BOX, center=(0.0, 0.17, 0.42), size=(0.5, 0.34, 0.22))
_CRATE = Prop(name="crate", shape=Shape.BOX, center=(0.12, 0.401, 0.42), size=(0.1, 0.12, 0.1), mass=0.3)

_GRAB_S = 10.0
_DOWN = from_axis_angle(np.array((1.0, 0.0, 0.0)), np.array(math.radians(170.0)))
"""The wrist of a claw that points down, slightly forwards."""
_OPEN, _CLOSED = (-22.0, 0.0, 0.0), (6.0, 6.0, 6.0)
"""Degrees of the three joints of each finger."""
_BALL_AT, _BALL_RADIUS, _BALL_AHEAD = np.array((0.0, 0.1655, 0.4)), 0.045, 0.15
"""The ball, and how far in front of the wrist's effector it is gripped, metres."""
_POSTS = tuple(
    Prop(
        name=f"post {number + 1}",
        shape=Shape.BOX,
        center=(0.02 * x, 0.0625, 0.4 + 0.02 * z),
        size=(0.012, 0.125, 0.012),
    )
    for number, (x, z) in enumerate(((-1, -1), (-1, 1), (1, -1), (1, 1)))
)
_GRABBED = Prop(name="ball", center=(0.0, 0.1655, 0.4), radius=_BALL_RADIUS, mass=0.5)


def _place(skeleton: Skeleton, effector: str) -> list[float]:
    """(3,) where an effector is in the relaxed pose."""
    found = next(one for one in skeleton.effectors if one.name == effector)
    place: list[float] = fk(skeleton, skeleton.relaxed_pose()).point(found.joint, found.offset).tolist()
    return place


def _stands(name: str, skeleton: Skeleton) -> Document:
    """A figure in its relaxed pose, feet pinned."""
    pins = [Goal.pin(foot) for foot in ("LeftFoot", "RightFoot") if foot in skeleton.names]
    return opened(name, skeleton, skeleton.relaxed_pose(), pins)


# A claw that is hit


def claw_hit() -> Document:
    """The arm holds its claw still."""
    skeleton = sample("claw-arm")
    pose = skeleton.relaxed_pose()
    tips = [effector.name for effector in skeleton.effectors if effector.name.startswith("claw")]
    goals = [Goal.position(tip, tuple(_place(skeleton, tip))) for tip in tips]
    return opened("claw-hit", skeleton, pose, goals)


def _at_claw() -> tuple[Throw, ...]:
    """Balls from the front, the left and the right at the wrist."""
    x, y, z = _place(sample("claw-arm"), "wrist")
    away, speed = 1.2, 6.0
    up = 0.5 * 9.81 * away / speed
    found = []
    for number, degrees in enumerate((0.0, 75.0, -75.0)):
        side, ahead = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
        start = (x + away * side, y, z + away * ahead)
        found.append(Throw(1.0 + 2.5 * number, start, (-speed * side, up, -speed * ahead)))
    return tuple(found)


# A person that is pushed, and three in a ring of balls


def _three() -> tuple[tuple[str, Document, Placement], ...]:
    """Two further people, back to back with the first."""
    return tuple(
        (
            name,
            _stands("ring", sample("biped")),
            Placement((_FROM_MIDDLE * math.sin(angle), 0.0, _FROM_MIDDLE * (math.cos(angle) - 1.0)), angle),
        )
        for name, angle in zip(("second", "third"), _STAND[1:], strict=True)
    )


def _ring() -> tuple[Throw, ...]:
    """Twelve balls from all around at the chests of the three in turn, 0.4 s apart."""
    height, away, speed = 1.25, 2.5, 8.0
    up = 0.5 * 9.81 * away / speed
    found = []
    for number in range(12):
        stands = _STAND[number % 3]
        angle = stands + math.radians((-25.0, 0.0, 25.0, 45.0)[number // 3])
        x, z = _FROM_MIDDLE * math.sin(stands), _FROM_MIDDLE * (math.cos(stands) - 1.0)
        side, ahead = math.sin(angle), math.cos(angle)
        start = (x + away * side, height, z + away * ahead)
        found.append(Throw(1.0 + 0.4 * number, start, (-speed * side, up, -speed * ahead)))
    return tuple(found)


# A tail that hangs


def tail() -> Document:
    """A raptor whose head sways; its joints are weak, and the tail swings behind."""
    skeleton = sample("raptor")
    goals = [Goal.pin(foot) for foot in ("LeftFoot", "RightFoot")]
    goals.append(Goal.position("Head", tuple(_place(skeleton, "Head"))))
    return opened("tail", skeleton, skeleton.relaxed_pose(), goals)


def _sway() -> FigureEight:
    x, y, z = _place(sample("raptor"), "Head")
    return FigureEight((x, y - 0.03, z - 0.05), (0.3, 0.0, 0.0), (0.0, 0.06, 0.0), 2.4)


# An arm that smacks a crate


def smack() -> Document:
    """The claw sweeps over a table on which a crate stands."""
    skeleton = sample("claw-arm")
    goals = [Goal.position("wrist", tuple(_SWEEP(0.0).tolist()))]
    contact = DocumentContact(props=(_LOW_TABLE, _CRATE))
    return opened("smack", skeleton, skeleton.relaxed_pose(), goals, contact=contact)


# A claw that grabs a ball


def _ramp(seconds: float, start: float, end: float) -> float:
    x = min(max((seconds - start) / (end - start), 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


def _wrist(seconds: float) -> Floats:
    """(3,) the wrist goes down, up, down and up; the ball is in the claw in between."""
    t = seconds % _GRAB_S
    up = 1.0 - _ramp(t, 0.0, 1.4) + _ramp(t, 2.6, 4.0) - _ramp(t, 5.8, 7.2) + _ramp(t, 8.3, 10.0)
    ahead = _BALL_AHEAD * rotate(_DOWN, np.array((0.0, 1.0, 0.0)))
    aside = 0.04 * math.sin(math.pi * _ramp(t, 3.8, 6.0))
    return np.asarray(_BALL_AT - ahead + np.array((aside, 0.1 * up, 0.0)))


@cache
def _tips_of(closed: int) -> Floats:
    """(3, 3) fingertips in the frame of the wrist's effector; ``closed`` from 0 to 100."""
    skeleton = sample("claw-arm")
    degrees = np.array(_OPEN) + 0.01 * closed * (np.array(_CLOSED) - _OPEN)
    rotations = skeleton.rest_rotations.copy()
    for joint, name in enumerate(skeleton.names):
        if name.startswith("finger"):
            turn = from_axis_angle(skeleton.axes[joint, 0], np.radians(degrees[int(name[-1]) - 1]))
            rotations[joint] = multiply(rotations[joint], turn)
    world = fk(skeleton, Pose(rotations, skeleton.offsets))
    places = {one.name: (one.joint, np.array(one.offset)) for one in skeleton.effectors}
    joint, offset = places["wrist"]
    middle, back = world.point(joint, offset), conjugate(world.rotations[joint])
    return np.array([rotate(back, world.point(*places[tip]) - middle) for tip in _FINGERS])


def _tip(number: int, seconds: float) -> Floats:
    """(3,) the target of a fingertip."""
    t = seconds % _GRAB_S
    closed = 100.0 * (_ramp(t, 1.5, 2.4) - _ramp(t, 7.15, 8.4))
    first = min(int(closed), 99)
    part = closed - first
    tip = (1.0 - part) * _tips_of(first)[number] + part * _tips_of(first + 1)[number]
    return _wrist(seconds) + rotate(_DOWN, tip)


@cache
def grab() -> Document:
    """A claw above a ball on four posts."""
    skeleton = sample("claw-arm")
    goals = [Goal.position(tip, _tip(number, 0.0)) for number, tip in enumerate(_FINGERS)]
    goals.append(Goal.pose("wrist", _wrist(0.0), _DOWN))
    pose = Solver(skeleton, goals, backend="numpy").solve(skeleton.relaxed_pose()).pose
    contact = DocumentContact(props=(*_POSTS, _GRABBED))
    return opened("grab", skeleton, pose, goals, contact=contact)


PHYSICS: tuple[Demo, ...] = (
    Demo(
        id="claw-hit",
        title="The claw that is hit",
        words=(
            "The goals say where the fingertips belong, torques hold them there, and balls knock the arm away.",
            "Shift+K throws one where you point; drag a bone to pull it, or a diamond to move the goal.",
        ),
        build=claw_hit,
        view="right",
        room=((0.0, 0.0, -1.0), (0.0, 1.15, 0.7)),
        trial=Trial(strength=3.0, throws=_at_claw(), period=7.5, ball_mass=1.0, ball_radius=0.05),
    ),
    Demo(
        id="pushed",
        title="Pushed from four sides",
        words=(
            "40 newton seconds at the chest, from behind, left, the front, right; 0.3 of its weight at most helps it.",
            "Choose Balance: Off and see it fall; Ctrl+Home puts it back on its feet.",
        ),
        build=lambda: _stands("pushed", sample("biped")),
        trial=Trial(assist="helped", pushes=_PUSHES, period=12.0),
    ),
    Demo(
        id="ring",
        title="In a ring of balls",
        words=(
            "Three stand back to back, simulated as one; balls of a kilogram come at each in turn, thrown hard.",
            "Lower the strength, and each leaves more of a trace; pull one into the others.",
        ),
        build=lambda: _stands("ring", sample("biped")),
        beside=_three,
        view="front",
        room=((-1.2, 0.0, -1.6), (1.2, 1.75, 0.6)),
        trial=Trial(throws=_ring(), period=8.0),
    ),
    Demo(
        id="tail",
        title="The tail that swings",
        words=(
            "The solver moves the head; weak joints let neck and tail follow late, as weight does.",
            "Raise the strength: at 10 Hz the tail is stiff. Space pauses.",
        ),
        build=tail,
        motions=(TargetMotion("Head", _sway()),),
        view="right",
        trial=Trial(strength=1.6),
    ),
    Demo(
        id="grab",
        title="The claw that grabs a ball",
        words=(
            "The fingertips have goals inside the ball: what they cannot reach is the force that holds it.",
            "It weighs 0.5 kg, and is held while the wrist moves sideways. Ctrl+Home puts it back.",
        ),
        build=grab,
        room=((-0.2, 0.0, 0.5), (0.2, 0.0, 0.4)),
        motions=(
            TargetMotion("wrist", Made(_wrist, _GRAB_S)),
            *(
                TargetMotion(tip, Made(partial(_tip, number), _GRAB_S), shown=False)
                for number, tip in enumerate(_FINGERS)
            ),
        ),
        trial=Trial(),
    ),
    Demo(
        id="smack",
        title="The arm that smacks a crate",
        words=(
            "The crate has a mass, the table has none: one is knocked away, the other stands.",
            "Ctrl+Home puts the crate back. Give the table a mass, too, in the inspector.",
        ),
        build=smack,
        motions=(TargetMotion("wrist", _SWEEP),),
        view="front",
        room=((-0.5, 0.0, 0.5), (0.75, 0.8, 0.0)),
        trial=Trial(),
    ),
)

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
