"""Demos in space: the claw, a reach of the whole body, a serpent that watches, an arm after a ball."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from viewer.ik.goals import Goal
from viewer.session.demos.demo import Demo, Ring, Says
from viewer.session.demos.paths import Chase, FigureEight, Made, Motion, Orbit
from viewer.session.demos.rigs import opened, sample
from viewer.session.measuring import measured
from viewer.session.solver_settings import SolverSettings

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.spatial.checks import Floats

# The claw

_FINGERS = ("claw_a", "claw_b", "claw_c")
_THING = (0.0, 0.28, 0.42)
_GRIP = 9.0


def _grip(seconds: float) -> tuple[Floats, Floats, float]:
    """Where the thing is, the direction (3,) from which it is gripped, and how far from it the fingers are."""
    phase = math.tau * seconds / _GRIP
    place = np.array(_THING) + np.array([0.12 * math.sin(phase), 0.04 * math.sin(2.0 * phase), 0.0])
    tilt, side = math.radians(55.0 + 15.0 * math.sin(phase)), 0.25 * math.sin(phase)
    way = np.array([side, -math.cos(tilt), math.sin(tilt)])
    return place, way / np.linalg.norm(way), 0.06 + 0.015 * math.sin(3.0 * phase)


def _fingertip(number: int, seconds: float) -> Floats:
    """(3,) where one of the three fingertips is to be."""
    place, way, apart = _grip(seconds)
    across = np.cross(way, (1.0, 0.0, 0.0))
    across /= np.linalg.norm(across)
    angle = math.tau * number / 3.0 + 0.4 * math.sin(math.tau * seconds / _GRIP)
    return place + apart * (math.cos(angle) * across + math.sin(angle) * np.cross(across, way))


def claw() -> Document:
    """Three fingers on one arm, each with a goal of its own."""
    skeleton = sample("claw-arm")
    goals = [Goal.position(name, _fingertip(number, 0.0)) for number, name in enumerate(_FINGERS)]
    return opened("claw", skeleton, skeleton.relaxed_pose(), goals)


def _thing(document: Document) -> tuple[Ring, ...]:
    targets = np.array([document.handle(name).position for name in _FINGERS])
    centre = targets.mean(axis=0)
    return (Ring(tuple(centre.tolist()), 0.03, filled=True),)


def _apart(document: Document) -> Says:
    targets = np.array([document.handle(name).position for name in _FINGERS])
    worst = max((error.metres or 0.0) for error in measured(document).values())
    apart = np.linalg.norm(targets - targets.mean(axis=0), axis=1).mean()
    return Says(f"Grip {2000.0 * apart:.0f} mm wide, fingers off by {1000.0 * worst:.1f} mm at most")


# The reach

_REACH = FigureEight((-0.1, 1.0, 0.5), (0.35, 0.0, 0.0), (0.0, 0.35, 0.05), 10.0)
_GAZE = Chase(_REACH, 0.3)


def reach() -> Document:
    """A body whose feet are pinned, whose hand goes far and whose head looks after it."""
    skeleton = sample("biped")
    pose = skeleton.relaxed_pose()
    goals = [Goal.position("RightHand", (-0.366, 0.882, -0.02)), Goal.aim("Head", _GAZE(0.0), (0.0, 0.0, 1.0))]
    goals += [Goal.pin(foot) for foot in ("LeftFoot", "RightFoot")]
    return opened("reach", skeleton, pose, goals)


# The serpent

_PREY = FigureEight((0.2, 0.28, 1.15), (0.75, 0.0, -0.3), (0.0, 0.16, 0.25), 6.0)


def serpent() -> Document:
    """A serpent that looks at something."""
    skeleton = sample("serpent")
    goals = [Goal.aim("Head", _PREY(0.0), (0.0, -0.13, 0.99))]
    return opened("serpent", skeleton, skeleton.relaxed_pose(), goals, solver=SolverSettings(root="locked"))


# The arm and the ball

_HOVER, _KEEN = 0.27, 5.0
_BALL = Orbit((0.0, 0.62, 0.42), (0.38, 0.0, 0.0), (0.0, 0.26, 0.12), 5.0)


def ball() -> Document:
    """An arm whose wrist stays at a distance from a ball and points at it."""
    skeleton = sample("claw-arm")
    aim = Goal.aim("wrist", _BALL(0.0), (0.0, 1.0, 0.0), rotation_weight=_KEEN)
    goals = [Goal.distance("wrist", _HOVER, _BALL(0.0)), aim]
    return opened("ball", skeleton, skeleton.relaxed_pose(), goals)


def _aimed(document: Document) -> tuple[Ring, ...]:
    name = "Head" if "Head" in document.skeleton.names else "wrist"
    place = document.handle(name).position
    return () if place is None else (Ring(place, 0.04 if name == "Head" else 0.035, filled=True),)


def _errors(document: Document) -> Says:
    found = measured(document).values()
    metres = max((error.metres for error in found if error.metres is not None), default=None)
    degrees = max((error.degrees for error in found if error.degrees is not None), default=0.0)
    far = "" if metres is None else f"{1000.0 * metres:.1f} mm from its distance, "
    return Says(f"{far}{degrees:.1f}\N{DEGREE SIGN} from facing it")


BODIES = (
    Demo(
        id="claw",
        title="The claw",
        words=(
            "Three fingers and the arm that they share are posed in one solve, while grip and approach change.",
            "Space holds it still; drag a fingertip then, and see the arm give way.",
        ),
        build=claw,
        motions=tuple(
            Motion(name, Made(partial(_fingertip, number), _GRIP), shown=False) for number, name in enumerate(_FINGERS)
        ),
        rings=_thing,
        says=_apart,
        room=((-0.35, 0.0, 0.0), (0.35, 0.7, 0.55)),
    ),
    Demo(
        id="reach",
        title="Full-body reach",
        words=(
            "The feet are pinned, the hand goes far, the gaze chases it, and the whole body helps in one solve.",
            "Space holds it still; drag the hand or the hips then, or select a foot and press Delete to let it go.",
        ),
        build=reach,
        motions=(Motion("RightHand", _REACH), Motion("Head", _GAZE, shown=False)),
        room=((-0.4, 0.0, 0.0), (0.4, 1.65, 0.55)),
    ),
    Demo(
        id="serpent",
        title="The serpent that watches",
        words=(
            "The head has an aim goal and nothing else: it faces what moves, and the body turns as far as that takes.",
            "Space holds it still; drag the target behind it then, and it whips round.",
        ),
        build=serpent,
        motions=(Motion("Head", _PREY),),
        rings=_aimed,
        says=_errors,
        room=((-0.5, 0.0, 1.2), (0.9, 0.4, 1.0)),
    ),
    Demo(
        id="ball",
        title="The arm and the ball",
        words=(
            "A distance goal and an aim goal on one wrist: the arm chases the ball and faces it.",
            "Space holds it still; drag the ball out of reach then, and the arm points at it all the same.",
        ),
        build=ball,
        motions=(Motion("wrist", _BALL), Motion("wrist_2", _BALL, shown=False)),
        rings=_aimed,
        says=_errors,
        room=((-0.5, 0.0, 0.0), (0.5, 0.95, 0.6)),
    ),
)
"""Those of this file, in the order of the menu."""
