"""Frames between two keys, solved so that what both hold stays where it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from viewer.ik.goals import Goal
from viewer.ik.solver import Solver
from viewer.session.bounds import bound_skeleton
from viewer.session.planar_rig import rig_of
from viewer.session.standing import above
from viewer.session.take.evaluate import Frames
from viewer.session.take.values import Stretch
from viewer.skeleton.pose import Pose
from viewer.spatial.quaternion import slerp

if TYPE_CHECKING:
    from viewer.ik.options import SolverOptions
    from viewer.session.document import Document
    from viewer.session.planar_rig import PlanarRig
    from viewer.session.take.pins import Held
    from viewer.spatial.checks import Floats, Ints

_CLOSE = 1e-4, 0.05
"""Metres and degrees within which pins are to be held between keys."""
_HELD = 1e-3
"""Metres: where all frames hold their pins so well with the root as it was keyed, the root stays so."""


class _Answer(NamedTuple):
    """Solved frames, and the farthest that any pin is missed, metres."""

    frames: Frames
    miss: float


def solved_between(document: Document, first: int, frames: Frames, held: list[Held], digest: str) -> Stretch:
    """The stretch of frames between keys with the pins held.

    Where it can be done with the roots as they were keyed, they stay; else the document's root mode decides.

    Args:
        document: gives limits and solver.
        first: the frame of the first key.
        frames: as blended between the keys, from the first key to the last.
        held: the pins that both keys of their spans stand at; two at least have a frame between.
        digest: of all this.
    """
    answer = _solve(document, first, frames, held, "locked")
    if answer.miss > _HELD and document.solver.root != "locked":
        freer = _solve(document, first, frames, held, document.solver.root)
        answer = freer if freer.miss < 0.5 * answer.miss else answer
    chain = np.array(sorted({joint for one in held for joint in above(document.skeleton, one.span.place.joint)}))
    inner = slice(1, -1)
    rotations, translations = answer.frames.rotations[inner], answer.frames.translations[inner]
    turned = chain[(rotations[:, chain] != frames.rotations[inner, chain]).any(axis=(0, 2))]
    moved = chain[(translations[:, chain] != frames.translations[inner, chain]).any(axis=(0, 2))]
    return Stretch(first + 1, digest, turned, rotations[:, turned], moved, translations[:, moved])


def _solve(document: Document, first: int, frames: Frames, held: list[Held], root: str) -> _Answer:
    """All frames, those with the same pins together."""
    rotations, translations, worst = frames.rotations.copy(), frames.translations.copy(), 0.0
    count = len(rotations)
    inside = np.array([[one.span.first - first < f < one.span.last - first for f in range(count)] for one in held])
    patterns, which = np.unique(inside, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        some = [one for one, active in zip(held, pattern.tolist(), strict=True) if active]
        chosen = np.flatnonzero(which.reshape(-1) == number)
        if not some:
            continue
        places, turns = _targets(some, chosen + first)
        starts = [Pose(rotations[f], translations[f]) for f in chosen.tolist()]
        rig = plane_of(document, starts)
        solver = _solver(document, some, root, rig)
        answer = solver.solve_batch(starts if rig is None else [rig.lifted(pose) for pose in starts], places, turns)
        good = np.isfinite(answer.rotations).all(axis=(1, 2)) & np.isfinite(answer.translations).all(axis=(1, 2))
        for place in np.flatnonzero(good).tolist():
            pose = Pose(answer.rotations[place], answer.translations[place])
            pose = pose if rig is None else rig.lowered(pose)
            rotations[chosen[place]], translations[chosen[place]] = pose.rotations, pose.translations
        missed = np.nan_to_num(answer.errors_m, nan=0.0) + np.nan_to_num(np.radians(answer.errors_deg), nan=0.0)
        worst = max(worst, float(missed.max(initial=0.0)), 0.0 if good.all() else np.inf)
    return _Answer(Frames(rotations, translations), worst)


def plane_of(document: Document, poses: list[Pose]) -> PlanarRig | None:
    """The rig that keeps poses in the document's plane; None where it has none, or where they are in no plane.

    Keys that were made in space, and frames of a clip, are no business of a plane that was chosen later.
    """
    rig = rig_of(replace(document, pose=poses[0]))
    return None if rig is None or not all(rig.holds(pose) for pose in poses) else rig


def _solver(document: Document, held: list[Held], root: str, rig: PlanarRig | None) -> Solver:
    goals = []
    for one in held:
        pin, position, rotation = one.span.pin, one.positions[0], one.rotations[0]
        offset = pin.offset
        if pin.position is None:
            goals.append(Goal.rotation(pin.effector, rotation, offset=offset))
        elif pin.rotation is None:
            goals.append(Goal.position(pin.effector, position, offset=offset))
        else:
            goals.append(Goal.pose(pin.effector, position, rotation, offset=offset))
    chosen = replace(document.solver, method="default", restarts=False, root=root, exact=False)
    tight = replace(
        chosen, tolerance_m=min(chosen.tolerance_m, _CLOSE[0]), tolerance_deg=min(chosen.tolerance_deg, _CLOSE[1])
    )
    options = tight.options(limits=document.limits_on)
    names = (*options.__dataclass_fields__,)
    keywords = cast("SolverOptions", {name: getattr(options, name) for name in names})
    if rig is not None:
        return Solver(bound_skeleton(rig.skeleton, locked=rig.locked((), root)), goals, **keywords)
    return Solver(bound_skeleton(document.skeleton, document.unlimited), goals, **keywords)


def _targets(held: list[Held], frames: Ints) -> tuple[Floats, Floats]:
    """(N, G, 3) and (N, G, 4): from where a key's effector stands to where the next one's does, a hair's breadth."""
    places, turns = [], []
    for one in held:
        part = (frames - one.span.first) / (one.span.last - one.span.first)
        places.append(one.positions[0] + part[:, None] * (one.positions[1] - one.positions[0]))
        turns.append(slerp(one.rotations[0], one.rotations[1], part))
    return np.stack(places, axis=1), np.stack(turns, axis=1)
