"""Two bodies whose joints are paired: neutral poses and frames that compare, and the ratio of the legs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viewer.errors import InputError, quote
from viewer.motion.anatomy import Frames, aligned_frames, anatomical_frames
from viewer.motion.reference import Body, matching_poses, neutral_at
from viewer.skeleton import Limb, World
from viewer.skeleton.joint_map import is_same_tree
from viewer.skeleton.transfer import leg_ratio
from viewer.spatial.quaternion import conjugate, multiply, rotate


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Two bodies whose joints are paired, as retargeting needs them.

    Attributes:
        source: with motion.
        target: gets it.
        pairs: the source's joints by the target's.
        frames: anatomical frames of both, by joint; see `anatomy`.
        moving: the source's motion in the world.
        scale: of the path.
        ratio: how many times as long the target's legs are.
    """

    source: Body
    target: Body
    pairs: dict[int, int]
    frames: tuple[Frames, Frames]
    moving: World
    scale: float
    ratio: float

    def limbs(self, kind: str) -> list[tuple[Limb, Limb]]:
        """Limbs of both figures whose upper and lower bones are paired: source, target."""
        if self.source.figure is None or self.target.figure is None:
            return []
        return [
            (one, two)
            for one in self.source.figure.limbs
            for two in self.target.figure.limbs
            if one.kind == kind and self.pairs.get(two.upper) == one.upper and self.pairs.get(two.lower) == one.lower
        ]


def comparable_bodies(
    source: Body, target: Body, pairs: dict[int, int], *, free: bool
) -> tuple[Body, Body, tuple[Frames, Frames]]:
    """The bodies and their anatomical frames."""
    if free and is_same_tree(source.skeleton, target.skeleton) and all(s == t for t, s in pairs.items()):
        found = matching_poses(source, target)
        if found is not None:
            (its, mine), turn = found
            source, target = neutral_at(source, its), neutral_at(target, mine)
            frames = (
                dict(enumerate(conjugate(source.neutral.rotations))),
                dict(enumerate(conjugate(multiply(turn, target.neutral.rotations)))),
            )
            return source, target, frames
    if source.figure is not None and target.figure is not None:
        return source, target, anatomical_frames(source, target)
    return source, target, aligned_frames(source, target, pairs)


def leg_length_ratio(source: Body, target: Body) -> float:
    """How many times as long the target's legs are as the source's."""
    its, mine = leg_length(source), leg_length(target)
    if its is None or mine is None:
        return leg_ratio(source.skeleton, target.skeleton)
    for body, length, side in ((source, its, "source"), (target, mine, "target")):
        if not length > 0.0:
            raise InputError(f"{side} {quote(body.skeleton.name)}: expected legs of some length, found 0")
    return mine / its


def leg_length(body: Body) -> float | None:
    """Thigh and shank, metres, the mean of both legs, as the clip has them if it has other offsets."""
    if body.figure is None or not body.figure.legs:
        return None
    total = 0.0
    for leg in body.figure.legs:
        joint, offset = leg.tip
        end = body.neutral.positions[joint] + rotate(body.neutral.rotations[joint], np.asarray(offset))
        upper, lower = body.neutral.positions[leg.upper], body.neutral.positions[leg.lower]
        total += float(np.linalg.norm(lower - upper) + np.linalg.norm(end - lower))
    return total / len(body.figure.legs)
