"""Demos of chains in a plane: two links, CCD, the lock of an S, a puzzle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viewer.document import Document, measured, stand_of
from viewer.document.goal import DocumentGoal, Item, Mode
from viewer.document.solver_settings import SolverSettings
from viewer.ik.findings import metres
from viewer.ik.goals import Goal
from viewer.session.demo import Demo, Ring, Says, bent, hinged, opened, sample
from viewer.session.solving import Solvers, settle
from viewer.skeleton import fk

_CHAIN = 14
_S_START, _S_TARGET = (45.0, -45.0, -45.0, 45.0), (-0.219, 0.667, 0.0)
_CIRCLE, _RADIUS = (0.42, 0.2, 0.0), 0.04


def _tip(document: Document) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """(3,) position of the end of the chain."""
    return stand_of(document.skeleton, document.pose, DocumentGoal(effector="tip", enabled=False)).position


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


def s_lock(name: str = "s-lock", method: str = "ccd") -> Document:
    """Four links limited to 45 degrees either way, bent in an S: all at their limits, not solved yet."""
    skeleton = hinged(sample("chain-4"), 45.0)
    goals, settings = [Goal.position("tip", _S_TARGET)], SolverSettings(method=method)
    return opened(name, skeleton, bent(skeleton, _S_START), goals, solver=settings, planar="xy")


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
