"""A person made in code, in any rest pose, with any names, turned and built in any way: what figures are tested on."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from inside.spatial import IDENTITY, conjugate, from_axis_angle, multiply, normalized, rotate

from viewer.skeleton import JointKind, Skeleton, fk

if TYPE_CHECKING:
    from collections.abc import Callable

    from inside.spatial import Floats

    from viewer.skeleton import Pose

TRUNK = (("Hips", "", (0.0, 0.95, 0.0)), ("Spine", "Hips", (0.0, 0.12, 0.0)), ("Chest", "Spine", (0.0, 0.2, 0.0)),
         ("Neck", "Chest", (0.0, 0.2, 0.0)), ("Head", "Neck", (0.0, 0.1, 0.02)))  # fmt: skip
LIMBS = (("Shoulder", "Chest", (0.03, 0.13, 0.0)), ("Arm", "Shoulder", (0.15, 0.0, 0.0)),
         ("ForeArm", "Arm", (0.28, 0.0, 0.0)), ("Hand", "ForeArm", (0.26, 0.0, 0.0)),
         ("UpLeg", "Hips", (0.09, -0.03, 0.0)), ("Leg", "UpLeg", (0.0, -0.42, 0.0)),
         ("Foot", "Leg", (0.0, -0.42, 0.0)), ("Toe", "Foot", (0.0, -0.06, 0.13)))  # fmt: skip
TIPS = {"Head": (0.0, 0.17, 0.0), "Hand": (0.18, 0.0, 0.0), "Toe": (0.0, -0.01, 0.07)}
"""A T-pose, facing Z, left along X, feet on the ground; limbs are the left ones."""

JOINTS = tuple(name for name, *_ in TRUNK) + tuple(side + name for side in ("Left", "Right") for name, *_ in LIMBS)


def person(arms_down: float = 0.0) -> Skeleton:
    """The person, arms ``arms_down`` degrees below a T; identity rest rotations."""
    rows: list[tuple[str, str, Floats]] = [(name, parent, np.array(offset)) for name, parent, offset in TRUNK]
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        turn = from_axis_angle((0.0, 0.0, 1.0), -sign * np.radians(arms_down))
        for name, parent, (x, y, z) in LIMBS:
            offset: Floats = np.array([sign * x, y, z])
            if name in {"ForeArm", "Hand"}:
                offset = rotate(turn, offset)
            rows.append((side + name, parent if parent in JOINTS else side + parent, offset))
    names = tuple(name for name, *_ in rows)
    tips: list[tuple[int, Floats]] = []
    for joint, name in enumerate(names):
        part = name.removeprefix("Left").removeprefix("Right")
        if part in TIPS:
            tip = np.array(TIPS[part]) * (-1.0 if name.startswith("Right") else 1.0, 1.0, 1.0)
            sign = -1.0 if name.startswith("Right") else 1.0
            turn = from_axis_angle((0.0, 0.0, 1.0), -sign * np.radians(arms_down))
            tips.append((joint, rotate(turn, tip) if part == "Hand" else tip))
    count = len(names)
    return Skeleton(
        name="person",
        names=names,
        parents=np.array([names.index(parent) if parent else -1 for _, parent, _ in rows]),
        offsets=np.array([offset for *_, offset in rows]),
        rest_rotations=np.tile(IDENTITY, (count, 1)),
        kinds=(JointKind.FREE, *(JointKind.BALL,) * (count - 1)),
        axes=np.zeros((count, 2, 3)),
        limits=(None,) * count,
        stiffness=np.zeros(count),
        tip_parents=np.array([joint for joint, _ in tips]),
        tip_offsets=np.array([tip for _, tip in tips]),
    )


def renamed(skeleton: Skeleton, name_of: Callable[[str], str]) -> Skeleton:
    """The skeleton with other names."""
    return replace(skeleton, names=tuple(name_of(name) for name in skeleton.names))


def nameless(skeleton: Skeleton) -> Skeleton:
    """The skeleton with names that say nothing."""
    return replace(skeleton, names=tuple(f"bone_{joint:03}" for joint in range(len(skeleton))))


def turned(skeleton: Skeleton, turn: Floats) -> Skeleton:
    """The skeleton turned in the world: its root's rest rotation and place."""
    rest, offsets = skeleton.rest_rotations.copy(), skeleton.offsets.copy()
    rest[0], offsets[0] = multiply(turn, rest[0]), rotate(turn, offsets[0])
    return replace(skeleton, rest_rotations=rest, offsets=offsets)


def reframed(skeleton: Skeleton, frames: Floats) -> Skeleton:
    """The same figure, joint j's own frame turned by frames[j] (J, 4): other local numbers, the same world."""
    parents = skeleton.parents
    above = np.where(parents[:, None] >= 0, frames[parents], IDENTITY)
    back = conjugate(above)
    return replace(
        skeleton,
        offsets=rotate(back, skeleton.offsets),
        rest_rotations=normalized(multiply(multiply(back, skeleton.rest_rotations), frames)),
        axes=rotate(conjugate(frames)[:, None], skeleton.axes),
        tip_offsets=rotate(conjugate(frames)[skeleton.tip_parents], skeleton.tip_offsets),
    )


def resting_as(skeleton: Skeleton, pose: Pose) -> Skeleton:
    """The same figure whose rest pose is another pose of it."""
    return replace(skeleton, rest_rotations=pose.rotations, offsets=pose.translations)


def with_relaxed(skeleton: Skeleton, pose: Pose) -> Skeleton:
    """The skeleton with a pose "relaxed" in its file."""
    return replace(skeleton, poses=MappingProxyType({"relaxed": pose}))


def world_positions(skeleton: Skeleton, pose: Pose) -> Floats:
    """(J, 3)."""
    return fk(skeleton, pose).positions


def random_turns(count: int, seed: int) -> Floats:
    """(count, 4) any rotations."""
    return normalized(np.random.default_rng(seed).normal(size=(count, 4)))


def without(skeleton: Skeleton, *gone: str) -> Skeleton:
    """The skeleton without the joints whose name has one of these words; nothing else hangs on them."""
    kept = [joint for joint, name in enumerate(skeleton.names) if not any(word in name for word in gone)]
    place = {joint: new for new, joint in enumerate(kept)} | {-1: -1}
    tips = [tip for tip, joint in enumerate(skeleton.tip_parents.tolist()) if joint in place]
    return replace(
        skeleton,
        names=tuple(skeleton.names[joint] for joint in kept),
        parents=np.array([place[int(skeleton.parents[joint])] for joint in kept]),
        offsets=skeleton.offsets[kept],
        rest_rotations=skeleton.rest_rotations[kept],
        kinds=tuple(skeleton.kinds[joint] for joint in kept),
        axes=skeleton.axes[kept],
        limits=tuple(skeleton.limits[joint] for joint in kept),
        stiffness=skeleton.stiffness[kept],
        tip_parents=np.array([place[int(skeleton.tip_parents[tip])] for tip in tips], dtype=np.intp),
        tip_offsets=skeleton.tip_offsets[tips],
    )


def inserted(skeleton: Skeleton, above: str, name: str, part: float) -> Skeleton:
    """The skeleton with a joint on the way to ``above``, at a part of its offset; above a root it is the root."""
    joint = skeleton.index(above)
    own = skeleton.kinds[joint]
    kinds = (own, JointKind.BALL) if skeleton.parents[joint] < 0 else (JointKind.BALL, own)
    parents = np.where(skeleton.parents >= joint, skeleton.parents + 1, skeleton.parents)
    parents = np.insert(parents, joint, skeleton.parents[joint])
    parents[joint + 1] = joint
    offsets = np.insert(skeleton.offsets, joint, part * skeleton.offsets[joint], axis=0)
    offsets[joint + 1] *= 1.0 - part
    return replace(
        skeleton,
        poses={},
        effectors=tuple(replace(one, joint=one.joint + (one.joint >= joint)) for one in skeleton.effectors),
        names=(*skeleton.names[:joint], name, *skeleton.names[joint:]),
        parents=parents,
        offsets=offsets,
        rest_rotations=np.insert(skeleton.rest_rotations, joint, IDENTITY, axis=0),
        kinds=(*skeleton.kinds[:joint], *kinds, *skeleton.kinds[joint + 1 :]),
        axes=np.insert(skeleton.axes, joint, 0.0, axis=0),
        limits=(*skeleton.limits[:joint], None, *skeleton.limits[joint:]),
        stiffness=np.insert(skeleton.stiffness, joint, 0.0),
        tip_parents=np.where(skeleton.tip_parents >= joint, skeleton.tip_parents + 1, skeleton.tip_parents),
    )
