"""A demo: a small scene that shows one idea; the parts of demos, and those of chains in a plane."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from viewer.choices import Assist, MethodName
from viewer.document import Action, Document, DocumentGoal, Item, Mode, SolverSettings, measured, new_document, stand_of
from viewer.formats.file_formats import SAMPLE
from viewer.formats.load import load
from viewer.ik.findings import metres
from viewer.ik.goals import Goal
from viewer.ik.lab import Trace
from viewer.session.figures import Arrangement, Placement, StageFigure, State, name_of
from viewer.session.ik_drag import TargetMotion
from viewer.session.solving import Solvers, settle
from viewer.skeleton import Character, JointKind, JointLimits, Pose, Skeleton, Source, fk
from viewer.spatial.checks import Vector
from viewer.spatial.quaternion import from_axis_angle

Tone = Literal["ok", "warn", "idle"]
View = Literal["planar", "front", "right", "left", "three-quarter"]

PREFIX = "demo:"
"""Prefix of demo names where files are named; the source path of a demo's document."""


class DemoText(NamedTuple):
    """One line of text that a demo shows about the present document. Its tone is good, bad or neutral."""

    text: str
    tone: Tone = "idle"


class Ring(NamedTuple):
    """A circle drawn in the view: a ball, or a target area.

    Its centre (3,) and radius are metres, world frame. ``filled``: drawn as a ball. Its tone is "ok" once the target is
    inside.
    """

    centre: Vector
    radius: float
    filled: bool = False
    tone: Tone = "idle"


class Push(NamedTuple):
    """A push of a joint's bone. ``at`` is in seconds after the start; the impulse (3,) in newton seconds."""

    at: float
    joint: str
    impulse: Vector


class Throw(NamedTuple):
    """A ball that is thrown.

    ``at`` is in seconds after the start; origin (3,) metres, velocity (3,) metres per second.
    """

    at: float
    origin: Vector
    velocity: Vector


class Trial(NamedTuple):
    """The physics of a demo: its settings, and pushes and throws at the figure.

    Attributes:
        strength: how quickly joints answer, hertz.
        assist: how a free root is held: "held", "helped" or "off".
        pushes, throws: the events.
        period: seconds after which they repeat; 0: never.
        ball_mass, ball_radius: kilograms and metres; None: by the figure's.
    """

    strength: float = 6.0
    assist: Assist = "held"
    pushes: tuple[Push, ...] = ()
    throws: tuple[Throw, ...] = ()
    period: float = 0.0
    ball_mass: float | None = None
    ball_radius: float | None = None

    def within(self, start: float, end: float) -> tuple[Push | Throw, ...]:
        """The events after ``start`` and up to ``end``, seconds."""
        found: list[Push | Throw] = []
        events: list[Push | Throw] = [*self.pushes, *self.throws]
        for one in events:
            turn = math.floor((end - one.at) / self.period) * self.period if self.period > 0.0 else 0.0
            if start < one.at + max(turn, 0.0) <= end:
                found.append(one)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Demo:
    """A scene that shows one idea.

    Attributes:
        id: such as ``two-link``, opened as ``demo:two-link``.
        title: of its menu entry and card.
        words: two sentences: what it shows and what to try.
        build: makes the initial document, always the same.
        view: initial view; "planar": perpendicular to its plane.
        motions: targets that move along paths.
        follows: goal whose target follows the pointer; "": none.
        click_moves: goal whose target moves to where the view is clicked; "": none.
        methods: solvers offered on its card.
        rings: circles to draw for the present document.
        says: text about the present document.
        room: points that the initial view includes besides the figure.
        shows_bodies: the figure's bodies are shown until another document is opened.
        shows_balance: so is its centre of mass, also while balance is not kept.
        trial: its physics; it opens in the workspace Physics.
        lab: methods that are compared: it is a lesson, and opens in the workspace Lab.
        check: text about their traces, by method.
        panel: of the workspace Lab, which it opens with; "": Convergence.
        beside: names, documents and places of further figures, seen from the first.
        solves: the plot shows the demo's first solve when it opens and after each choice of a method on its card.
    """

    id: str
    title: str
    words: tuple[str, str]
    build: Callable[[], Document]
    view: View = "three-quarter"
    motions: tuple[TargetMotion, ...] = ()
    follows: str = ""
    click_moves: str = ""
    methods: tuple[MethodName, ...] = ()
    rings: Callable[[Document], tuple[Ring, ...]] = lambda _: ()
    says: Callable[[Document], DemoText | None] = lambda _: None
    room: tuple[Vector, ...] = ()
    shows_bodies: bool = False
    shows_balance: bool = False
    solves: bool = False
    trial: Trial | None = None
    lab: tuple[MethodName, ...] = ()
    check: Callable[[Mapping[str, Trace]], DemoText | None] = lambda _: None
    panel: str = ""
    beside: Callable[[], tuple[tuple[str, Document, Placement], ...]] = tuple

    def figures(self, document: Document) -> Arrangement | None:
        """All figures, of which a document is the first one's; None if it stands alone."""
        others = self.beside()
        if not others:
            return None
        first = StageFigure(name_of(document), State.at_rest(document))
        return Arrangement((first, *(StageFigure(name, State.at_rest(other), place) for name, other, place in others)))


@dataclass(frozen=True, slots=True)
class StartOver(Action):
    """Restore a demo's initial document, with the chosen solver."""

    document: Document
    words: ClassVar[str] = "Start over"

    def apply(self, document: Document) -> Document:  # noqa: ARG002 - of any kind
        """The document of the demo."""
        return self.document


@dataclass(frozen=True, slots=True)
class SolveAfresh(StartOver):
    """Restore a demo's initial document and solve it."""

    solves: ClassVar[bool] = True
    restarts: ClassVar[bool] = True


@cache
def sample(name: str) -> Skeleton:
    """The skeleton of a bundled sample, the same object each time."""
    return load(SAMPLE + name).skeleton


def opened(name: str, skeleton: Skeleton, pose: Pose, goals: Sequence[Goal], **changes: object) -> Document:
    """The document of a demo; goals of other effectors are off, unless they are pinned."""
    character = Character(replace(skeleton, name=name), source=Source(path=PREFIX + name))
    document = new_document(character, pose=pose, goals=goals)
    asked = len(document.skeleton.effectors) - len(skeleton.effectors)
    names = {goal.effector for goal in goals} | {e.name for e in document.skeleton.effectors[-asked:] if asked}
    held = tuple(
        goal if goal.effector in names or goal.pinned else replace(goal, enabled=False) for goal in document.goals
    )
    return replace(document, goals=held, **changes)  # type: ignore[arg-type]


# --- chains in a plane

_CHAIN = 14
_CIRCLE, _RADIUS = (0.42, 0.2, 0.0), 0.04
_S_START, _S_TARGET = (45.0, -45.0, -45.0, 45.0), (-0.219, 0.667, 0.0)


def hinged(skeleton: Skeleton, degrees: float | None) -> Skeleton:
    """A chain whose joints are hinges about z, limited to ``degrees`` either way; None: without limits."""
    count = len(skeleton)
    axes = np.zeros((count, 2, 3))
    axes[:, 0, 2] = 1.0
    limit = math.inf if degrees is None else math.radians(degrees)
    limits = None if degrees is None else JointLimits.coordinates((-limit, limit))
    kinds = (JointKind.HINGE,) * count
    return replace(skeleton, kinds=kinds, axes=axes, limits=(limits,) * count, poses={})


def bent(skeleton: Skeleton, degrees: Sequence[float]) -> Pose:
    """The pose of a chain whose joints are turned about z by these angles."""
    return Pose(from_axis_angle(np.array([0.0, 0.0, 1.0]), np.radians(degrees)), skeleton.offsets)


def _tip(document: Document) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """(3,) position of the end of the chain."""
    return stand_of(document, DocumentGoal(effector="tip", enabled=False)).point


def two_links(name: str, degrees: tuple[float, float], target: tuple[float, float]) -> Document:
    """An arm of 1 m and 0.8 m with unlimited joints, not solved yet."""
    skeleton = hinged(sample("two-link"), None)
    goals, solver = [Goal.position("tip", (*target, 0.0))], SolverSettings(method="two-link", restarts=False)
    return opened(name, skeleton, bent(skeleton, degrees), goals, solver=solver, planar="xy")


def _lengths(document: Document) -> tuple[float, float]:
    """Lengths of the two links, metres."""
    skeleton = document.skeleton
    return float(np.linalg.norm(skeleton.offsets[1])), float(np.linalg.norm(skeleton.effectors[0].offset))


def _reach(document: Document) -> DemoText | None:
    lengths, shoulder, target = _lengths(document), document.pose.translations[0], document.goal("tip").position
    if target is None:
        return None
    distance = float(np.linalg.norm(np.array(target) - shoulder))
    nearest, farthest = abs(lengths[0] - lengths[1]), sum(lengths)
    away = f"the target is {distance:.3f} m away"
    if distance > farthest + document.solver.tolerance_m:
        return DemoText(f"Too far by {distance - farthest:.3f} m: {away}", "warn")
    if distance < nearest - document.solver.tolerance_m:
        return DemoText(f"Too near by {nearest - distance:.3f} m: {away}", "warn")
    return DemoText(f"In reach: {away}", "ok")


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


def s_lock(name: str = "s-lock", method: MethodName = "ccd") -> Document:
    """Four links limited to 45 degrees either way, bent in an S: all at their limits, not solved yet."""
    skeleton = hinged(sample("chain-4"), 45.0)
    goals, settings = [Goal.position("tip", _S_TARGET)], SolverSettings(method=method)
    return opened(name, skeleton, bent(skeleton, _S_START), goals, solver=settings, planar="xy")


def _lock(document: Document) -> DemoText | None:
    error = measured(document).get("tip")
    if error is None or error.metres is None:
        return None
    if error.reached:
        return DemoText("The target is reached", "ok")
    return DemoText(f"{metres(error.metres)} short", "warn")


def puzzle() -> Document:
    """Three links whose end the user brings into a circle, angle by angle."""
    skeleton = hinged(sample("chain-3"), 120.0)
    document = opened("puzzle", skeleton, bent(skeleton, (20.0, 15.0, 10.0)), [Goal.position("tip", _CIRCLE)])
    goals = tuple(replace(goal, enabled=False) for goal in document.goals)
    second = (Item("joint", skeleton.names[1]),)
    return replace(document, goals=goals, mode=Mode.FK, selection=second, planar="xy")


def _left(document: Document) -> float:
    return float(np.linalg.norm(_tip(document) - np.array(_CIRCLE)))


def _progress(document: Document) -> DemoText:
    left = _left(document)
    if left <= _RADIUS:
        return DemoText("Solved: the tip is in the circle", "ok")
    return DemoText(f"{100.0 * (left - _RADIUS):.1f} cm to go")


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
        build=lambda: settle(two_links("two-link", (7.0, 83.0), (0.9, 1.0)), Solvers()).document,
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
