"""The target's hips on the source's scaled path, and its limbs' ends at the source's scaled places."""

from __future__ import annotations

import numpy as np

from viewer.motion.limb_chain import limb_joints, pose_limbs
from viewer.motion.pairing import Pairing
from viewer.motion.reference import Body, standing_frames
from viewer.skeleton import JointKind, Limb, World, at_or_below, fk_arrays
from viewer.skeleton.coordinates import nearest_turns
from viewer.skeleton.joint_map import is_same_tree
from viewer.skeleton.limbs import LEG
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, normalized, rotate

_THERE = 1e-6
"""A limb's end that is nearer to its goal than this part of the limb stays as it is."""


def place_hips(
    pairing: Pairing, rotations: Floats, translations: Floats, world: World, *, in_place: bool
) -> tuple[Floats, Floats, World]:
    """The target with its hips, or its topmost paired joint, on the source's scaled path, its height above soles."""
    skeleton = pairing.target.skeleton
    carrier, its_middle, middle = _carried(pairing, world)
    shift = _path(pairing, its_middle, in_place=in_place) - middle
    translations = translations.copy()
    above = int(skeleton.parents[carrier])
    translations[:, carrier] += shift if above < 0 else rotate(conjugate(world.rotations[:, above]), shift)
    if carrier == 0:
        return rotations, translations, World(world.positions + shift[:, None], world.rotations)
    return rotations, translations, fk_arrays(skeleton.parents, rotations, translations)


def _carried(pairing: Pairing, world: World) -> tuple[int, Floats, Floats]:
    """The joint that carries the target's body, and the points (F, 3) of source and target that go together."""
    source, target = pairing.source, pairing.target
    legs = pairing.limbs(LEG)
    top = min(pairing.pairs)
    if target.figure is not None:
        top = target.figure.trunk
    if legs:
        its = pairing.moving.positions[:, [leg.upper for leg, _ in legs]].mean(axis=1)
        mine = world.positions[:, [leg.upper for _, leg in legs]].mean(axis=1)
        return top, its, mine
    other = pairing.pairs.get(top, source.figure.trunk if source.figure is not None else min(pairing.pairs.values()))
    return top, pairing.moving.positions[:, other].copy(), world.positions[:, top]


def _path(pairing: Pairing, middle: Floats, *, in_place: bool) -> Floats:
    """(F, 3) where the target's hips go: level as far as the scale says, as high as its legs are long."""
    goal = pairing.scale * middle
    goal[:, 1] = pairing.ratio * middle[:, 1] + _above_between(pairing)
    if in_place:
        goal[:, [0, 2]] = goal[:1, [0, 2]]
    return goal


def _above_between(pairing: Pairing) -> float:
    """Metres by which the target's ankles are higher above its soles than the source's, scaled."""
    legs = pairing.limbs(LEG)
    if not legs or is_same_tree(pairing.source.skeleton, pairing.target.skeleton):
        return 0.0
    above = [
        _above_sole(body, [pair[index] for pair in legs]) for index, body in enumerate((pairing.source, pairing.target))
    ]
    return 0.0 if above[0] is None or above[1] is None else above[1] - pairing.ratio * above[0]


def beside_hips(pairing: Pairing, world: World, points: Floats) -> Floats:
    """Places (F, 3) that lie to the target's hips as the source's points lie to its own, scaled."""
    _, its_middle, middle = _carried(pairing, world)
    return middle + pairing.ratio * (points - its_middle)


def _above_sole(body: Body, legs: list[Limb]) -> float | None:
    """Metres from the soles up to the ankles: in a neutral pose that can be trusted, else where the feet stand.

    None where neither is known, or nothing is below an ankle.
    """
    if not body.trusted and body.moving is None:
        return None
    heights = []
    for leg in legs:
        if leg.end is None:
            return None
        below = np.flatnonzero(at_or_below(body.skeleton, leg.end))
        tips = np.flatnonzero(np.isin(body.skeleton.tip_parents, below))
        if not len(tips) and len(below) == 1:
            return None
        motion, up = body.neutral, rotate(body.axes, np.array([0.0, 1.0, 0.0]))
        if not body.trusted and body.moving is not None:
            standing = standing_frames(body.moving, leg.end)
            motion, up = (
                World(body.moving.positions[standing], body.moving.rotations[standing]),
                np.array([0.0, 1.0, 0.0]),
            )
        joints, offsets = body.skeleton.tip_parents[tips], body.skeleton.tip_offsets[tips]
        points = motion.positions[..., joints, :] + rotate(motion.rotations[..., joints, :], offsets)
        lowest = (np.concatenate([motion.positions[..., below, :], points], axis=-2) @ up).min(axis=-1)
        heights.append(float(np.median(motion.positions[..., leg.end, :] @ up - lowest)))
    return float(np.mean(heights))


def follow(
    pairing: Pairing,
    limbs: list[tuple[Limb, Limb]],
    rotations: Floats,
    translations: Floats,
    world: World,
    wanted: dict[int, Floats],
) -> tuple[Floats, World]:
    """The target's limbs with their ends where the source's are, scaled."""
    goals = [beside_hips(pairing, world, pairing.moving.point(*its.tip)) for its, _ in limbs]
    return reach(pairing, list(zip(limbs, goals, strict=True)), rotations, translations, world, wanted)


def reach(
    pairing: Pairing,
    limbs: list[tuple[tuple[Limb, Limb], Floats]],
    rotations: Floats,
    translations: Floats,
    world: World,
    wanted: dict[int, Floats],
) -> tuple[Floats, World]:
    """Limbs of the target with their ends at goals (F, 3); hands and feet turn as before."""
    skeleton, changed = pairing.target.skeleton, False
    rotations = rotations.copy()
    for (_, limb), goals in limbs:
        away = np.linalg.norm(world.point(*limb.tip) - goals, axis=1)
        length = float(np.linalg.norm(np.diff(world.positions[0, [limb.upper, limb.lower]], axis=0)))
        moved = away > _THERE * length
        if not moved.any():
            continue
        changed = True
        some = World(world.positions[moved], world.rotations[moved])
        turns = None
        if limb.end is not None:
            turns = wanted[limb.end][moved] if limb.end in wanted else some.rotations[:, limb.end]
        axis = None
        if pairing.target.figure is not None:
            axis = rotate(pairing.frames[1][limb.lower], np.array([1.0, 0.0, 0.0]))
        found = pose_limbs(skeleton, limb, some, goals[moved], turns, axis)
        for column, joint in enumerate(limb_joints(limb)):
            local = found[:, column]
            if skeleton.kinds[joint] is not JointKind.BALL:
                local = nearest_turns(skeleton, joint, local)
            rotations[moved, joint] = local
    if not changed:
        return rotations, world
    return rotations, fk_arrays(skeleton.parents, normalized(rotations), translations)
