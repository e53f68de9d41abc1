"""How similar solved poses are to a person's: recorded poses are solved again from hands, feet and head.

`viewer.ik.pose_score` describes the score. Dragging: the five effectors follow two seconds of a motion; jerk is the
mean third difference of the joints' positions, divided by that of the person's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import viewer
from viewer.cli.bench.plan import Plan
from viewer.cli.output import Json
from viewer.errors import ViewerError
from viewer.formats.file_formats import SAMPLE
from viewer.formats.load import load
from viewer.formats.progress import watched
from viewer.ik.goals import Goal
from viewer.ik.pose_score import PERSON_CM, Given, Trial, prepare, score
from viewer.ik.solver import Solver
from viewer.ik.solver_options import Backend, RootMode
from viewer.skeleton import Pose, Skeleton, fk
from viewer.spatial.checks import Floats

AT_MOST_CM = {Given.ROOT: 2.3, Given.NOTHING: 5.5, Given.TURNS: 3.3}
AIM_CM = {Given.ROOT: 1.8, Given.NOTHING: 4.2, Given.TURNS: 2.2}
_FRAMES = 40
_FEWEST = 60
"""Frames that a clip must have."""
_WINDOW_S, _WINDOWS, _ITERATIONS = 2.0, 3, 2
_CALIBRATION = 1
"""Frames to skip at the start: many clips begin with a calibration pose."""


def measure_poses(plan: Plan) -> Json:
    """By clip and by what is given; means; dragging."""
    trials = _trials(plan)
    clips: dict[str, Json] = {}
    means: dict[str, list[list[float]]] = {}
    drags: list[dict[str, float]] = []
    for name, trial in watched("poses", list(trials.items()), len(trials)):
        found: dict[str, Json] = {}
        for given in Given:
            one = score(trial, given, partial(_solve, plan.backend))
            numbers = [one.position_cm, one.angle_deg, one.flips_percent, one.reach_percent]
            means.setdefault(given.value, []).append(numbers)
            found[given.value] = _named(numbers)
        dragged = _dragged(plan, trial)
        drags += dragged
        clips[name] = found | {"dragging": _over(np.median, dragged)}
    return {
        "clips": clips,
        "means": {given: _named(np.mean(rows, axis=0).tolist()) for given, rows in means.items()},
        "at_most_cm": {given.value: most for given, most in AT_MOST_CM.items()},
        "aim_cm": {given.value: aim for given, aim in AIM_CM.items()},
        "dragging": _over(np.median, drags),
        "dragging_mean": _over(np.mean, drags),
    }


def _over(what: Callable[[list[float]], np.floating[Any]], drags: list[dict[str, float]]) -> Json:
    """Median or mean of the windows."""
    return {key: float(what([one[key] for one in drags])) for key in drags[0]} if drags else None


def _named(numbers: list[float]) -> Json:
    return dict(zip(("position_cm", "angle_deg", "flips_percent", "reach_percent"), numbers, strict=True))


def clip_files() -> list[Path | str]:
    """BVH files in ``data/bvh`` of $IKVIEWER_SHARED (default ``shared`` beside the checkout), else the bundled walk."""
    beside = Path(viewer.__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("IKVIEWER_SHARED", beside)) / "data" / "bvh"
    return [*sorted(folder.glob("*.bvh"))] or [SAMPLE + "walk"]


def _trials(plan: Plan) -> dict[str, Trial]:
    """Clips of figures with two arms, two legs and a head, long enough."""
    result = {}
    for file in [SAMPLE + "walk"] if plan.quick else clip_files():
        try:
            character = load(file)
        except ViewerError:  # the folder may hold broken files for tests
            continue
        if character.clip is None or len(character.clip) < _FEWEST:
            continue
        trial = prepare(character, plan.at_most(_FRAMES))
        if trial is not None:
            result[Path(str(file)).stem] = trial
    return result


def _solve(backend: Backend, skeleton: Skeleton, goals: list[Goal], start: Pose, root: RootMode) -> Pose:
    """Our default solver, as `viewer.ik.pose_score.score` takes one."""
    return Solver(skeleton, goals, root=root, backend=backend).solve(start).pose


def _dragged(plan: Plan, trial: Trial) -> list[dict[str, float]]:
    """Figures of dragging in some windows of a clip, each from the recorded pose."""
    length = round(_WINDOW_S / trial.clip.frame_time)
    last = len(trial.clip) - 1 - length
    if last < 0:
        return []
    starts = np.unique(np.linspace(min(_CALIBRATION, last), last, plan.at_most(_WINDOWS)).astype(int)).tolist()
    names = [trial.skeleton.names[joint] for joint in trial.ends.tolist()]
    goals = [Goal.position(name, (0.0, 0.0, 0.0)) for name in names]
    solver = Solver(trial.skeleton, goals, backend=plan.backend)
    result = []
    for start in starts:
        truth = [fk(trial.skeleton, trial.clip.pose(start + frame)).positions for frame in range(length + 1)]
        drag = solver.drag(trial.clip.pose(start))
        posed = [drag.move(places[trial.ends], iterations=_ITERATIONS).pose for places in truth]
        found = np.array([fk(trial.skeleton, pose).positions[trial.joints] for pose in posed])
        real = np.array(truth)[:, trial.joints]
        away = np.linalg.norm(found[-1] - real[-1], axis=-1).mean()
        result.append({"end_cm": float(away) * PERSON_CM / trial.height, "jerk_ratio": _jerk(found) / _jerk(real)})
    return result


def _jerk(places: Floats) -> float:
    """Mean third difference of places (F, N, 3)."""
    return float(np.linalg.norm(np.diff(places, n=3, axis=0), axis=-1).mean())
