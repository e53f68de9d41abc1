"""How close solved poses are to a person's: frames of real motion are posed again from five effectors.

A solver gets the positions of wrists, ankles and head of a frame, and starts from the relaxed pose; its pose is
compared with the hidden one. The solver must know nothing of the clip that is scored: limits derived from it are
removed. Where a figure's rest pose is not a person's, only its motion shows how it bends: its relaxed pose and spreads
come from limits derived from the first half of its clip, and it is scored on the second half, without limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

import numpy as np

from viewer.ik.goals import Goal
from viewer.ik.mobility_priors import spreads
from viewer.skeleton import Character, Clip, Figure, Pose, Skeleton, World, find_figure, fk, tip_positions
from viewer.skeleton.clip_limits import limits_from_clip
from viewer.skeleton.limbs import limb_places
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


class Given(StrEnum):
    """Information for the solver besides the five positions of the recorded pose."""

    ROOT = "a"
    """Position and rotation of the root."""
    NOTHING = "b"
    """Nothing."""
    TURNS = "c"
    """The rotations of the five effectors; nothing about the root."""


@dataclass(frozen=True, slots=True)
class PoseScore:
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
    """A clip prepared for scoring.

    Attributes:
        skeleton: without what was derived from the frames.
        figure: the skeleton's.
        clip: the motion.
        frames: (F,) that are scored.
        ends: (5,) hands, feet and head.
        joints: (N,) of the figure, fingers excepted: those that are compared.
        height: metres.
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
    """Extent of the relaxed pose along up, of what hangs on the pelvis."""
    world = fk(skeleton, skeleton.relaxed_pose())
    below = np.zeros(len(skeleton), dtype=np.bool_)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        below[joint] = joint == figure.pelvis or (parent >= 0 and below[parent])
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
            found = solve(skeleton, goals, _with_root(trial, relaxed, hidden), "locked")
        else:
            found = solve(skeleton, goals, relaxed, "free")
        world = fk(skeleton, found)
        rows.append(_errors(trial, hidden, truth, found, world, turns=given is Given.TURNS))
        flips.append(_flips(trial, truth, world))
    bent, flipped = np.sum(flips, axis=0)
    position, angle, reached = np.mean(rows, axis=0)
    return PoseScore(float(position), float(angle), 100.0 * float(flipped) / max(1, int(bent)), 100.0 * float(reached))


def _line(trial: Trial) -> list[int]:
    """The joints from the root to the pelvis."""
    line = [trial.figure.pelvis]
    while (parent := int(trial.skeleton.parents[line[-1]])) >= 0:
        line.append(parent)
    return line


def _held(trial: Trial) -> Skeleton:
    """The skeleton with all that carries the pelvis held still."""
    stiffness = trial.skeleton.stiffness.copy()
    stiffness[_line(trial)] = 1.0
    return replace(trial.skeleton, stiffness=stiffness)


def _with_root(trial: Trial, start: Pose, hidden: Pose) -> Pose:
    """The start with the hidden pose's root."""
    rotations, translations = start.rotations.copy(), start.translations.copy()
    line = _line(trial)
    rotations[line], translations[line] = hidden.rotations[line], hidden.translations[line]
    return Pose(rotations, translations)


def _goals(trial: Trial, truth: World, *, turns: bool) -> list[Goal]:
    names = [trial.skeleton.names[joint] for joint in trial.ends.tolist()]
    places, rotations = truth.positions[trial.ends], truth.rotations[trial.ends]
    if turns:
        return [Goal.pose(name, p, q) for name, p, q in zip(names, places, rotations, strict=True)]
    return [Goal.position(name, p) for name, p in zip(names, places, strict=True)]


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
