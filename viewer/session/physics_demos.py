"""Demos of physics: figures that are hit, pushed and swung, and come back; one that smacks a crate off a table."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np

from viewer.document import Document, DocumentContact, Prop, Shape
from viewer.ik.goals import Goal
from viewer.ik.solver import Solver
from viewer.session.demo_parts import Demo, Push, Throw, Trial, opened, sample
from viewer.session.figures import Placement
from viewer.session.ik_drag import FigureEight, Made, Orbit, TargetMotion
from viewer.skeleton import Pose, Skeleton, fk
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, from_axis_angle, multiply, rotate

_PUSHES = tuple(
    Push(1.0 + 3.0 * number, "Spine2", impulse)
    for number, impulse in enumerate(((0.0, 0.0, 40.0), (40.0, 0.0, 0.0), (0.0, 0.0, -40.0), (-40.0, 0.0, 0.0)))
)

_APART = 0.75
"""Metres from the middle of the three figures to each; the first is at the origin, its back to the middle."""
_STAND = 0.0, math.radians(120.0), math.radians(-120.0)
"""Radians: their headings."""

_SWEEP = Orbit((0.0, 0.46, 0.24), (-0.38, 0.0, 0.0), (0.0, 0.0, 0.06), 4.0)
_TABLE = Prop(name="table", shape=Shape.BOX, center=(0.0, 0.17, 0.42), size=(0.5, 0.34, 0.22))
_CRATE = Prop(name="crate", shape=Shape.BOX, center=(0.12, 0.401, 0.42), size=(0.1, 0.12, 0.1), mass=0.3)

_GRAB_S = 10.0
_DOWN = from_axis_angle(np.array((1.0, 0.0, 0.0)), np.array(math.radians(170.0)))
"""The wrist of a claw that points down, slightly forwards."""
_OPEN, _CLOSED = (-22.0, 0.0, 0.0), (6.0, 6.0, 6.0)
"""Degrees of the three joints of each finger."""
_BALL_AT, _BALL_RADIUS, _BALL_AHEAD = np.array((0.0, 0.1655, 0.4)), 0.045, 0.15
"""The ball, and how far in front of the wrist's effector it is gripped, metres."""
_TIPS = ("claw_a", "claw_b", "claw_c")
_POSTS = tuple(
    Prop(
        name=f"post {number + 1}",
        shape=Shape.BOX,
        center=(0.02 * x, 0.0625, 0.4 + 0.02 * z),
        size=(0.012, 0.125, 0.012),
    )
    for number, (x, z) in enumerate(((-1, -1), (-1, 1), (1, -1), (1, 1)))
)
_PREY = Prop(name="ball", center=(0.0, 0.1655, 0.4), radius=_BALL_RADIUS, mass=0.5)


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
            Placement((_APART * math.sin(angle), 0.0, _APART * (math.cos(angle) - 1.0)), angle),
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
        x, z = _APART * math.sin(stands), _APART * (math.cos(stands) - 1.0)
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
    contact = DocumentContact(props=(_TABLE, _CRATE))
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
    return np.array([rotate(back, world.point(*places[tip]) - middle) for tip in _TIPS])


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
    goals = [Goal.position(tip, _tip(number, 0.0)) for number, tip in enumerate(_TIPS)]
    goals.append(Goal.pose("wrist", _wrist(0.0), _DOWN))
    pose = Solver(skeleton, goals, backend="numpy").solve(skeleton.relaxed_pose()).pose
    contact = DocumentContact(props=(*_POSTS, _PREY))
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
            *(TargetMotion(tip, Made(partial(_tip, number), _GRAB_S), shown=False) for number, tip in enumerate(_TIPS)),
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
"""In the order of the menu."""
