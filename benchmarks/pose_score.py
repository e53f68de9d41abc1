"""How similar solved poses are to a person's: recorded poses are solved again from hands, feet and head.

A solver gets the positions of wrists, ankles and head of a frame, and starts from the relaxed pose; its pose is
compared with the hidden one. The solver must know nothing of the clip that is scored: limits derived from it are
removed. Where a figure's rest pose is not a person's, only its motion shows how it bends: its relaxed pose and spreads
come from limits derived from the first half of its clip, and it is scored on the second half, without limits.

Dragging: the five effectors follow two seconds of a motion; jerk is the mean third difference of the joints' positions,
divided by that of the person's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from viewer.choices import Backend, RootMode
from viewer.cli.bench_measures import Plan
from viewer.cli.job import Json
from viewer.errors import ViewerError
from viewer.formats.file_formats import SAMPLE
from viewer.formats.load import load
from viewer.ik.goals import Goal
from viewer.ik.mobility import spreads
from viewer.ik.solver import Solver
from viewer.progress import watched
from viewer.skeleton import Character, Clip, Figure, Pose, Skeleton, World, find_figure, fk, tip_positions
from viewer.skeleton.clip_limits import limits_from_clip
from viewer.skeleton.limbs import limb_places
from viewer.skeleton.tree import above, at_or_below
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import angle_between

Solve = Callable[[Skeleton, list[Goal], Pose, str], Pose]
'(skeleton, goals, start, "free" or "locked" root) -> pose.'

PERSON_CM = 175.0
"""Errors are scaled to a figure of this height."""
BENT = np.radians(20.0)
"""Elbows and knees that are bent this much in the hidden pose can be found bent the wrong way ..."""
_SOLVED_BENT = np.radians(5.0)
"""... if they are bent at all in the solved one."""
REACHED_M = 2e-3
REACHED = np.radians(1.0)

_FRAMES = 40
_FEWEST = 60
"""Frames that a clip must have."""
_WINDOW_S, _WINDOWS, _ITERATIONS = 2.0, 3, 2
_CALIBRATION = 1
"""Frames to skip at the start: many clips begin with a calibration pose."""


class Given(StrEnum):
    """Information for the solver besides the five positions of the recorded pose."""

    ROOT = "a"
    """Position and rotation of the root."""
    NOTHING = "b"
    """Nothing."""
    TURNS = "c"
    """The rotations of the five effectors; nothing about the root."""


class PoseScore(NamedTuple):
    """Means over the frames of a clip.

    Attributes:
        position_cm: distance of joints from their hidden places, of a person of 1.75 m.
        angle_deg: between local rotations, found and hidden; roots excepted.
        flips_percent: of the elbows and knees that are bent, those bent more than 90 degrees the wrong way; 0 of none.
        reach_percent: of the frames, those with all goals met to 2 mm (and 1 degree).
    """

    position_cm: float
    angle_deg: float
    flips_percent: float
    reach_percent: float


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A clip prepared for scoring: the skeleton without what was derived from the frames (F,) that are scored.

    ``ends`` (5,) are hands, feet and head; ``joints`` (N,), fingers excepted, are compared; ``height`` is in metres.
    """

    skeleton: Skeleton
    figure: Figure
    clip: Clip
    frames: Ints
    ends: Ints
    joints: Ints
    height: float


def prepare(character: Character, frames: int = 40) -> Trial | None:
    """Prepare ``frames`` of a character's first clip, evenly spread; None without two arms, legs and a head."""
    clip = character.clip
    if clip is None or len(clip) < 2:
        return None
    skeleton = character.skeleton
    if character.limits_derived:
        skeleton = replace(skeleton, limits=(None,) * len(skeleton))
    figure, first = find_figure(skeleton), 0
    if figure is not None and not figure.upright and character.limits_derived:
        first = len(clip) // 2
        seen = limits_from_clip(skeleton, clip.frames(0, first - 1))
        relaxed = MappingProxyType({"relaxed": seen.relaxed_pose()})
        skeleton = replace(skeleton, poses=relaxed, mobility=spreads(seen))
    if figure is None or figure.head is None:
        return None
    ends = [limb.end for limb in figure.limbs if limb.end is not None]
    if len(ends) != 4:
        return None
    return Trial(
        skeleton=skeleton,
        figure=figure,
        clip=clip,
        frames=np.unique(np.linspace(first, len(clip) - 1, frames).round().astype(np.intp)),
        ends=np.array([*ends, figure.head]),
        joints=_compared(figure),
        height=_height(skeleton, figure),
    )


def _compared(figure: Figure) -> Ints:
    """The joints of a figure, each once."""
    joints = [figure.pelvis, *figure.spine, *figure.neck, figure.head]
    for limb in figure.limbs:
        joints += [*limb.girdle, limb.upper, limb.lower, limb.end, limb.toe]
    return np.unique([joint for joint in joints if joint is not None])


def _height(skeleton: Skeleton, figure: Figure) -> float:
    """Height of the relaxed pose, of the pelvis and all below it in the tree."""
    world = fk(skeleton, skeleton.relaxed_pose())
    below = at_or_below(skeleton, figure.pelvis)
    tips = tip_positions(skeleton, world)[below[skeleton.tip_parents]]
    heights = np.concatenate([world.positions[below], tips]) @ figure.up
    return float(heights.max() - heights.min())


def score(trial: Trial, given: Given, solve: Solve) -> PoseScore:
    """Solve every frame from its effectors and compare with the recording."""
    skeleton = _held(trial) if given is Given.ROOT else trial.skeleton
    relaxed = skeleton.relaxed_pose()
    rows, flips = [], []
    for frame in trial.frames.tolist():
        hidden = trial.clip.pose(frame)
        truth = fk(skeleton, hidden)
        goals = _goals(trial, truth, turns=given is Given.TURNS)
        if given is Given.ROOT:
            start = relaxed.with_joints(hidden, above(skeleton, trial.figure.pelvis))
            found = solve(skeleton, goals, start, "locked")
        else:
            found = solve(skeleton, goals, relaxed, "free")
        world = fk(skeleton, found)
        rows.append(_errors(trial, hidden, truth, found, world, turns=given is Given.TURNS))
        flips.append(_flips(trial, truth, world))
    bent, flipped = np.sum(flips, axis=0)
    position, angle, reached = np.mean(rows, axis=0)
    return PoseScore(float(position), float(angle), 100.0 * float(flipped) / max(1, int(bent)), 100.0 * float(reached))


def _held(trial: Trial) -> Skeleton:
    """The skeleton with all that carries the pelvis held still."""
    stiffness = trial.skeleton.stiffness.copy()
    stiffness[above(trial.skeleton, trial.figure.pelvis)] = 1.0
    return replace(trial.skeleton, stiffness=stiffness)


def _goals(trial: Trial, truth: World, *, turns: bool) -> list[Goal]:
    names = [trial.skeleton.names[joint] for joint in trial.ends.tolist()]
    places, rotations = truth.positions[trial.ends], truth.rotations[trial.ends]
    return [Goal.pose(name, p, q if turns else None) for name, p, q in zip(names, places, rotations, strict=True)]


def _errors(
    trial: Trial, hidden: Pose, truth: World, found: Pose, world: World, *, turns: bool
) -> tuple[float, float, bool]:
    """Mean distance in cm of a person, mean angle in degrees, and whether all goals are met."""
    joints, ends = trial.joints, trial.ends
    away = np.linalg.norm(world.positions - truth.positions, axis=1)
    below = joints[trial.skeleton.parents[joints] >= 0]
    angles = angle_between(found.rotations[below], hidden.rotations[below])
    met = bool((away[ends] <= REACHED_M).all())
    if turns:
        met = met and bool((angle_between(world.rotations[ends], truth.rotations[ends]) <= REACHED).all())
    return float(away[joints].mean()) * PERSON_CM / trial.height, float(np.degrees(angles).mean()), met


def _flips(trial: Trial, truth: World, world: World) -> tuple[int, int]:
    """How many elbows and knees are bent, and how many of them are bent the wrong way."""
    hidden, found = _bends(trial, truth), _bends(trial, world)
    sizes, solved = np.linalg.norm(hidden, axis=1), np.linalg.norm(found, axis=1)
    bent: Bools = sizes >= BENT
    wrong = bent & (np.einsum("ij,ij->i", hidden, found) < 0.0) & (solved >= _SOLVED_BENT)
    return int(bent.sum()), int(wrong.sum())


def _bends(trial: Trial, world: World) -> Floats:
    """(4, 3) rotation vectors in the world from upper to lower bones."""
    vectors = []
    for limb in trial.figure.limbs:
        shoulder, elbow, wrist = limb_places(world, limb)
        upper, lower = elbow - shoulder, wrist - elbow
        normal = np.cross(upper, lower)
        sine = float(np.linalg.norm(normal))
        angle = float(np.arctan2(sine, upper @ lower))
        vectors.append(normal * (angle / sine) if sine > 0.0 else np.zeros(3))
    return np.array(vectors)


AT_MOST_CM = {Given.ROOT: 2.3, Given.NOTHING: 5.5, Given.TURNS: 3.3}
AIM_CM = {Given.ROOT: 1.8, Given.NOTHING: 4.2, Given.TURNS: 2.2}


def measure_poses(plan: Plan) -> dict[str, Json]:
    """By clip and by what is given; means; dragging."""
    ready = trials([SAMPLE + "walk"] if plan.quick else clip_files(), plan.at_most(_FRAMES))
    clips: dict[str, Json] = {}
    means: dict[str, list[PoseScore]] = {}
    drags: list[dict[str, float]] = []
    for name, trial in watched("poses", list(ready.items()), len(ready)):
        found: dict[str, Json] = {}
        for given in Given:
            one = score(trial, given, partial(_solve, plan.backend))
            means.setdefault(given.value, []).append(one)
            found[given.value] = one._asdict()
        dragged = _dragged(plan, trial)
        drags += dragged
        clips[name] = found | {"dragging": _over(np.median, dragged)}
    return {
        "clips": clips,
        "means": {given: PoseScore(*np.mean(rows, axis=0).tolist())._asdict() for given, rows in means.items()},
        "at_most_cm": {given.value: most for given, most in AT_MOST_CM.items()},
        "aim_cm": {given.value: aim for given, aim in AIM_CM.items()},
        "dragging": _over(np.median, drags),
        "dragging_mean": _over(np.mean, drags),
    }


def _over(what: Callable[[list[float]], np.floating[Any]], drags: list[dict[str, float]]) -> Json:
    """Median or mean of the windows."""
    return {key: float(what([one[key] for one in drags])) for key in drags[0]} if drags else None


def clip_files() -> list[Path | str]:
    """BVH files in ``data/bvh`` of $IKVIEWER_SHARED (default ``shared`` beside the checkout), else the bundled walk."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("IKVIEWER_SHARED", beside)) / "data" / "bvh"
    return [*sorted(folder.glob("*.bvh"))] or [SAMPLE + "walk"]


def trials(files: Sequence[Path | str], frames: int) -> dict[str, Trial]:
    """Clips of figures with two arms, two legs and a head, long enough, ready for scoring."""
    result = {}
    for file in files:
        try:
            character = load(file)
        except ViewerError:  # the folder may hold broken files for tests
            continue
        if character.clip is None or len(character.clip) < _FEWEST:
            continue
        trial = prepare(character, frames)
        if trial is not None:
            result[Path(str(file)).stem] = trial
    return result


def _solve(backend: Backend, skeleton: Skeleton, goals: list[Goal], start: Pose, root: RootMode) -> Pose:
    """Our default solver, as `score` takes one."""
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
