"""What is written for Blender to read: the bundled samples in motion, and figures that are hard to write."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from viewer.document import actions as act, new_document
from viewer.document.import_export import baked_character
from viewer.formats.load import load, sample_names
from viewer.formats.save import with_pose
from viewer.session import Session
from viewer.skeleton import BvhLayout, Character, Clip, JointKind, Skeleton, joint_space
from viewer.spatial.quaternion import exp, from_axis_angle, multiply

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats

FRAMES = 48
"""Of motion that is made up."""
REACH = 0.7
"""How far made-up motion goes: a part of what the limits allow, radians where there are none."""


def characters() -> dict[str, Character]:
    """All that are checked, by what is special about them."""
    samples = {f"sample:{name}": load(f"sample:{name}") for name in sample_names()}
    biped, walk = samples["sample:biped"], samples["sample:walk"]
    found = {name: character if character.clips else moving(character) for name, character in samples.items()}
    found["chain of 300"] = moving(load("sample:chain-300"))
    found["every order of rotations"] = orders()
    found["all roots of a cut biped"] = moving(cut(biped))
    found["a biped of 2 cm"] = moving(scaled(biped, 0.01))
    found["a biped of 200 m"] = moving(scaled(biped, 100.0))
    found["joints that slide about"] = sliding(biped)
    found["two clips"] = two_clips(walk)
    found["at rest for a second"] = resting(biped)
    found["walk with keys"] = keyed()
    found["relaxed, no motion"] = with_pose(biped, biped.skeleton.relaxed_pose())
    found["at rest, no motion"] = biped
    return found


def moving(character: Character, seed: int = 4) -> Character:
    """Every joint does what its kind can, within its limits; roots turn round and round."""
    skeleton = character.skeleton
    random, space = np.random.default_rng(seed), joint_space(skeleton)
    joints, time = len(skeleton), np.linspace(0.0, 2.0 * np.pi, FRAMES)[:, None, None]
    waves = np.sin(random.uniform(0.5, 1.5, (joints, 3)) * time + random.uniform(0.0, 6.0, (joints, 3)))
    low, high = np.maximum(space.lower, -1.0), np.minimum(space.upper, 1.0)
    balls = multiply(skeleton.rest_rotations, exp(REACH * waves))
    moved = np.repeat(skeleton.offsets[None], FRAMES, axis=0)
    rotations, translations = space.rebuild((high + low) / 2 + REACH * waves * (high - low) / 2, balls, moved)
    for joint in range(joints):
        if skeleton.kinds[joint] is JointKind.FREE:
            rotations[:, joint] = from_axis_angle(np.array([0.6, 0.0, 0.8]), 2.0 * time[:, 0, 0])
            translations[:, joint] += np.ptp(skeleton.offsets, axis=0).max() * waves[:, joint]
    return in_motion(character, "moving", rotations, translations)


def in_motion(character: Character, name: str, rotations: Floats, translations: Floats) -> Character:
    """A character with that as its motion: (F, J, 4) and (F, J, 3)."""
    offsets = character.skeleton.offsets
    moved = np.flatnonzero((translations != offsets).any(axis=(0, 2)))
    clip = Clip(name, 1 / 24, rotations, moved, translations[:, moved], offsets)
    return replace(character, clips=MappingProxyType({name: clip}))


def cut(character: Character) -> Character:
    """Several roots: what hung on the first joint is on its own."""
    skeleton = character.skeleton
    loose = skeleton.parents == 0
    kinds = tuple(JointKind.FREE if own else kind for own, kind in zip(loose, skeleton.kinds, strict=True))
    limits = tuple(None if own else limit for own, limit in zip(loose, skeleton.limits, strict=True))
    parents = np.where(loose, -1, skeleton.parents)
    return replace(character, skeleton=replace(skeleton, parents=parents, kinds=kinds, limits=limits))


def scaled(character: Character, by: float) -> Character:
    """Larger or smaller."""
    skeleton = character.skeleton
    offsets, tips = by * skeleton.offsets, by * skeleton.tip_offsets
    return replace(character, skeleton=replace(skeleton, offsets=offsets, tip_offsets=tips, poses={}))


def sliding(character: Character) -> Character:
    """Joints that move away from where they hang, as motion of some captures has it."""
    turning = moving(character)
    assert turning.clip is not None
    waves = 0.1 * np.sin(np.linspace(0.0, 6.0, FRAMES)[:, None, None] * np.arange(1.0, 4.0))
    return in_motion(character, "sliding", turning.clip.rotations, character.skeleton.offsets + waves)


def two_clips(character: Character) -> Character:
    """Joints that move in one clip and stand still in the other."""
    clip, (still, wave) = character.clip, (resting(character).clip, moving(character).clip)
    assert clip is not None
    assert still is not None
    assert wave is not None
    return replace(character, clips=MappingProxyType({"walk": clip, "rest": replace(still, name="rest"), "wave": wave}))


def resting(character: Character) -> Character:
    """A motion in which nothing moves."""
    skeleton = character.skeleton
    rotations = np.repeat(skeleton.rest_rotations[None], 25, axis=0)
    return in_motion(character, "resting", rotations, np.repeat(skeleton.offsets[None], 25, axis=0))


def keyed() -> Character:
    """The walk with one arm raised by a key and its range trimmed, as the window would export it."""
    session = Session(new_document(load("sample:walk")))
    session.seek(20)
    pose, skeleton = session.document.pose, session.document.skeleton
    arm = skeleton.names.index("LeftArm")
    session.dispatch(act.TurnJoint("LeftArm", multiply(pose.rotations[arm], exp(np.array([0.2, 0.9, 0.4])))))
    session.dispatch(act.KeyPose())
    session.dispatch(act.SetRange(5, 50))
    return baked_character(session.document)


def orders() -> Character:
    """A root and six balls, one for each order of rotations, that turn smoothly."""
    channels = [tuple(f"{axis}rotation" for axis in order) for order in permutations("XYZ")]
    random = np.random.default_rng(4)
    count, frames = 7, 60
    skeleton = Skeleton(
        name="orders",
        names=("root", *("".join(name[0] for name in order) for order in channels)),
        parents=np.array([-1, 0, 1, 2, 0, 4, 5]),
        offsets=random.normal(size=(count, 3)),
        rest_rotations=np.tile([0.0, 0, 0, 1], (count, 1)),
        kinds=(JointKind.FREE, *[JointKind.BALL] * (count - 1)),
        axes=np.zeros((count, 2, 3)),
        limits=(None,) * count,
        stiffness=np.zeros(count),
        tip_parents=np.array([3, 6]),
        tip_offsets=random.normal(size=(2, 3)),
    )
    axes = random.normal(size=(count, 3))
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    angles = np.linspace(0, 5, frames)[:, None] + np.zeros(count)
    turns = from_axis_angle(np.broadcast_to(axes, (frames, count, 3)), angles)
    places = np.repeat(skeleton.offsets[None], frames, axis=0)
    places[:, 0] = np.linspace(0, 3, frames * 3).reshape(frames, 3)
    plain = in_motion(Character(skeleton), "turns", turns, places)
    positions = ("Xposition", "Yposition", "Zposition")
    layout = BvhLayout(skeleton.names, (positions + channels[0], *channels))
    return replace(plain, source=replace(plain.source, layout=layout))
