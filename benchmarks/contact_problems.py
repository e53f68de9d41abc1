"""Figures, and problems for contact: built from poses in which nothing touches, from points beside the body, and paths.

Poses come from the public API: `viewer.pose_at` of coordinates within `viewer.coordinate_limits`, and `viewer.contacts`
says which of them are free.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from contact_distances import Floats, bodies_with_pairs, joint_frames

import viewer

LEAST_PAIRS = 5
"""Random figures whose bodies make fewer pairs are left out."""
_PARTS = (0.1, 0.7)
"""How much of each joint's range a random pose uses, from rest on."""
_TRIES = 40
"""Poses that are drawn before one uses less of the ranges."""


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A skeleton and what is asked of it.

    Attributes:
        name: in tables.
        skeleton: its rest pose is where problems begin.
        effectors: (G,) names; each gets a position.
        joints, offsets: (G,) and (G, 3) where they are.
    """

    name: str
    skeleton: viewer.Skeleton
    effectors: tuple[str, ...]
    joints: tuple[int, ...]
    offsets: Floats

    def goals(self, targets: Floats | None = None) -> list[viewer.Goal]:
        """A position for each effector: at targets (G, 3), or any."""
        places = np.zeros((len(self.effectors), 3)) if targets is None else targets
        return [viewer.Goal.position(name, place) for name, place in zip(self.effectors, places, strict=True)]

    def places(self, pose: viewer.Pose) -> Floats:
        """(G, 3) where the effectors are in a pose, by matrices."""
        at, turns = joint_frames(self.skeleton, pose)
        joints = list(self.joints)
        return np.asarray(at[joints] + np.einsum("gij,gj->gi", turns[joints], self.offsets))

    @property
    def size(self) -> float:
        """Metres: the longest side of the box around the rest pose."""
        places = joint_frames(self.skeleton, self.skeleton.rest_pose())[0]
        return float(np.ptp(np.concatenate([places, self.places(self.skeleton.rest_pose())]), axis=0).max())


def figure_of(name: str, skeleton: viewer.Skeleton, effectors: tuple[str, ...] = ()) -> Figure:
    """A figure with these of the skeleton's effectors, or all that have places."""
    chosen = [one for one in skeleton.effectors if (one.name in effectors if effectors else True)]
    return Figure(
        name,
        skeleton,
        tuple(one.name for one in chosen),
        tuple(one.joint for one in chosen),
        np.array([one.offset for one in chosen]).reshape(-1, 3),
    )


def sample(name: str) -> Figure:
    """A bundled skeleton with all its effectors."""
    return figure_of(name, viewer.load(f"sample:{name}").skeleton)


def random_figures(count: int, seed: int) -> Iterator[Figure]:
    """Trunks of two to four joints with two to four limbs of two to five, whose bodies can touch."""
    number = 0
    while count:
        made = figure_of(f"random {number}", _random_skeleton(number, seed))
        number += 1
        if len(bodies_with_pairs(made.skeleton).pairs) >= LEAST_PAIRS:
            count -= 1
            yield made


def _random_skeleton(number: int, seed: int) -> viewer.Skeleton:
    random = np.random.default_rng([seed, number, 71])
    made = viewer.Builder(name=f"random {number}")
    made.add("trunk0", offset=(0.0, 1.0, 0.0), kind="free" if random.random() < 0.5 else "ball")
    trunk = int(random.integers(2, 5))
    for k in range(1, trunk):
        up = (random.uniform(-0.05, 0.05), random.uniform(0.1, 0.3), random.uniform(-0.05, 0.05))
        made.add(f"trunk{k}", f"trunk{k - 1}", up, limits=_ball(random, 0.6))
    for limb in range(int(random.integers(2, 5))):
        parent = f"trunk{random.integers(trunk)}"
        way = _direction(random)
        offset = way * random.uniform(0.05, 0.2)
        for k in range(int(random.integers(2, 6))):
            name = f"limb{limb}.{k}"
            kind = "ball" if k == 0 else str(random.choice(["hinge", "ball", "universal"]))
            aside = np.linalg.qr(np.stack([way, _direction(random), _direction(random)], axis=1))[0].T
            if kind == "hinge":
                made.add(name, parent, offset, kind="hinge", axis=aside[1], limits=_range(random, 2.0))
            elif kind == "universal":
                limits = [_range(random, 1.2), _range(random, 1.2)]
                made.add(name, parent, offset, kind="universal", axis=aside[1:], limits=limits)
            else:
                made.add(name, parent, offset, limits=_ball(random, 1.6))
            parent, offset = name, (way + 0.3 * _direction(random)) * random.uniform(0.12, 0.35)
        made.tip(parent, offset).effector(f"limb{limb}", parent, offset)
    return made.skeleton


def _direction(random: np.random.Generator) -> Floats:
    vector = random.normal(size=3)
    return np.asarray(vector / np.linalg.norm(vector))


def _range(random: np.random.Generator, most: float) -> tuple[float, float]:
    """About 0, wider to one side."""
    low, high = -random.uniform(0.0, 0.5), random.uniform(0.5 * most, most)
    return (low, high) if random.random() < 0.5 else (-high, -low)


def _ball(random: np.random.Generator, most: float) -> list[tuple[float, float]]:
    return [(-turn, turn) for turn in random.uniform(0.3 * most, most, 3).tolist()]


def free_poses(figure: Figure, count: int, seed: int) -> list[viewer.Pose]:
    """Random poses inside the limits in which no two bodies touch."""
    skeleton = figure.skeleton
    random = np.random.default_rng([seed, zlib.crc32(figure.name.encode()), 73])
    lower, upper = viewer.coordinate_limits(skeleton)
    home = np.clip(viewer.coordinates(skeleton, skeleton.rest_pose()), lower, upper)
    limited = np.isfinite(lower) & np.isfinite(upper)
    moves = np.array([name.rsplit(".", 1)[-1] in {"tx", "ty", "tz"} for name in skeleton.dof_names])
    contact, size = viewer.Contact(bodies=True), figure.size
    found: list[viewer.Pose] = []
    while len(found) < count:
        part = random.uniform(*_PARTS)
        for attempt in range(400):
            if attempt and attempt % _TRIES == 0:
                part *= 0.8
            drawn = np.where(limited, random.uniform(np.where(limited, lower, 0.0), np.where(limited, upper, 0.0)), 0.0)
            loose = random.normal(size=len(home)) * np.where(moves, 0.1 * size, 0.4)
            values = home + np.where(limited, part * (drawn - home), loose)
            pose = viewer.pose_at(skeleton, values)
            if not viewer.contacts(skeleton, pose, contact):
                found.append(pose)
                break
        else:
            raise RuntimeError(f"{figure.name}: no free pose found")
    return found


PERSON_HANDS = ("LeftHand", "RightHand")
PERSON_FEET = ("LeftFoot", "RightFoot")
_BESIDE_M, _CLEAR_M = 0.45, 0.14
"""Metres from the axis of the body, and between a target and the axes of trunk and head."""


def beside_the_body(skeleton: viewer.Skeleton, count: int, seed: int) -> Floats:
    """(N, 2, 3) places for both hands of a person, near the trunk but outside of it as the figure stands relaxed."""
    random = np.random.default_rng([seed, 79])
    places = joint_frames(skeleton, skeleton.relaxed_pose())[0]
    trunk = np.array([places[skeleton.index(name)] for name in ("Hips", "Spine", "Spine1", "Neck", "Head")])
    parts = np.linspace(0.0, 1.0, 25)[:, None, None]
    column = np.concatenate([(1.0 - parts) * trunk[:-1] + parts * trunk[1:]]).reshape(-1, 3)
    low, high = trunk[0, 1] - 0.15, trunk[-1, 1]
    found: list[Floats] = []
    while len(found) < count:
        around, way = random.uniform(0.0, 2.0 * np.pi, 2), _BESIDE_M * np.sqrt(random.uniform(0.0, 1.0, 2))
        pair = np.stack([way * np.cos(around), random.uniform(low, high, 2), way * np.sin(around)], axis=1)
        pair[:, [0, 2]] += trunk[0, [0, 2]]
        apart = np.linalg.norm(pair[:, None] - column, axis=-1).min()
        if apart > _CLEAR_M and np.linalg.norm(pair[0] - pair[1]) > 0.1:
            found.append(pair)
    return np.array(found)


def through_the_body(start: Floats, middle: Floats, random: np.random.Generator, frames: int) -> Floats:
    """(F, 3) a straight path from ``start`` past a point within 5 cm of ``middle``, out on the other side, and back."""
    past = 1.6 * (middle + 0.05 * _direction(random) - start)
    eased = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, frames))
    return np.asarray(start + eased[:, None] * past)
