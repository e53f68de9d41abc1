"""Random rotations, vectors, skeletons of every kind of joint and limit, poses and clips, for property tests.

The numbers of a figure come from one seed that hypothesis chooses and prints: that is quick, and shrinks to few joints.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import settings, strategies as st
from inside.skeleton import UNLIMITED
from inside.spatial import EULER_ORDERS, exp, multiply, normalized

from viewer.skeleton import Clip, JointKind, JointLimits, Pose, Skeleton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inside.spatial import Floats

ALL_KINDS = tuple(JointKind)
TINY = (0.0, 1e-300, 1e-17, 1e-13, 1e-9, 1e-6, 1e-3)
"""Distances from an exact value at which formulas switch branches or lose digits."""

quickly = settings(max_examples=(settings.default.max_examples if settings.default else 100) * 2 // 5)
"""For tests whose every example is a whole figure, of many joints at once."""

seeds = st.integers(0, 2**32 - 1)
unit_floats = st.floats(0.0, 1.0)


@st.composite
def vectors(draw: st.DrawFn, largest: float = 10.0) -> Floats:
    """(3,) of any direction, axes and zero included."""
    component = st.floats(-largest, largest, allow_subnormal=False)
    return np.array([draw(component) for _ in range(3)])


@st.composite
def directions(draw: st.DrawFn) -> Floats:
    """(3,) unit vectors, with the axes and their neighbours more often than chance would have them."""
    axis = np.zeros(3)
    axis[draw(st.integers(0, 2))] = draw(st.sampled_from([-1.0, 1.0]))
    aside = np.random.default_rng(draw(seeds)).normal(size=3)
    vector = axis + draw(st.sampled_from([0.0, 1e-9, 1e-4, 1e2])) * aside
    return np.asarray(vector / np.linalg.norm(vector))


def angles() -> st.SearchStrategy[float]:
    """Radians in 0 .. pi, often very near to either end."""
    near = st.sampled_from(TINY)
    return st.one_of(st.floats(0.0, math.pi), near, near.map(lambda distance: math.pi - distance))


@st.composite
def rotation_vectors(draw: st.DrawFn) -> Floats:
    """(3,) of length 0 .. pi."""
    return np.asarray(draw(angles()) * draw(directions()))


@st.composite
def unit_quaternions(draw: st.DrawFn) -> Floats:
    """(4,) of either sign: near the identity, near half turns, and anywhere."""
    angle, axis, sign = draw(angles()), draw(directions()), draw(st.sampled_from([1.0, -1.0]))
    return np.array([*(sign * math.sin(0.5 * angle) * axis), sign * math.cos(0.5 * angle)])


def random_quaternions(random: np.random.Generator, *shape: int) -> Floats:
    """(..., 4) evenly spread over all rotations."""
    return normalized(random.normal(size=(*shape, 4)))


def random_range(random: np.random.Generator, most: float = math.pi) -> tuple[float, float]:
    """Around 0, beside it, locked, up to an end that is exactly ``most``, or none."""
    low, high = np.sort(random.uniform(-most, most, size=2)).tolist()
    choice = int(random.integers(7))
    if choice == 0:
        return UNLIMITED
    return ((-abs(low), abs(high)), (low, high), (low, low), (-abs(low), most), (-most, abs(high)), (0.0, abs(high)))[
        choice - 1
    ]


def random_limits(random: np.random.Generator, kind: JointKind) -> JointLimits | None:
    """Limits that a joint of this kind can have: of balls in both forms, and sometimes none."""
    if kind in (JointKind.FIXED, JointKind.FREE) or random.integers(5) == 0:
        return None
    if kind is JointKind.UNIVERSAL:
        return JointLimits.coordinates(random_range(random), random_range(random))
    if kind is not JointKind.BALL:
        return JointLimits.coordinates(random_range(random))
    ranges = [random_range(random) for _ in range(3)]
    if random.integers(2):
        twist_axis = int(random.integers(3))
        while np.linalg.norm([np.clip(0.0, *ends) for axis, ends in enumerate(ranges) if axis != twist_axis]) > math.pi:
            ranges = [random_range(random) for _ in range(3)]  # no rotation has a swing of more
        return JointLimits.swing_twist(twist_axis, *ranges)
    order = EULER_ORDERS[random.integers(6)]
    ranges["xyz".index(order[1])] = random_range(random, 0.5 * math.pi)
    return JointLimits.euler(order, *ranges)


def random_axes(random: np.random.Generator, kind: JointKind) -> Floats:
    """(2, 3): one unit axis, two at right angles or none, as the kind has them."""
    basis, _ = np.linalg.qr(random.normal(size=(3, 3)))
    if random.integers(2):
        basis = np.eye(3)[random.permutation(3)] * random.choice([-1.0, 1.0], size=(3, 1))
    used = {JointKind.HINGE: 1, JointKind.SLIDE: 1, JointKind.UNIVERSAL: 2}.get(kind, 0)
    axes = np.zeros((2, 3))
    axes[:used] = basis[:used]
    return axes


def random_skeleton(seed: int, count: int, kinds: Sequence[JointKind] = ALL_KINDS) -> Skeleton:
    """A skeleton of ``count`` joints of these kinds, with several roots now and then, turned rests and end sites."""
    random = np.random.default_rng(seed)
    parents = np.array([-1 if random.random() < 0.1 else int(random.integers(-1, j)) for j in range(count)])
    some = [kinds[int(random.integers(len(kinds)))] for _ in range(count)]
    own = [JointKind.BALL if k is JointKind.FREE and p >= 0 else k for k, p in zip(some, parents, strict=True)]
    rest = random_quaternions(random, count)
    rest[random.random(count) < 0.3] = (0.0, 0.0, 0.0, 1.0)
    tips = np.sort(random.integers(count, size=int(random.integers(4))))
    return Skeleton(
        name=f"random-{seed}",
        names=tuple(f"joint_{number}" for number in range(count)),
        parents=parents,
        offsets=random.normal(size=(count, 3)) * (random.random((count, 1)) < 0.9),
        rest_rotations=rest,
        kinds=tuple(own),
        axes=np.array([random_axes(random, kind) for kind in own]),
        limits=tuple(random_limits(random, kind) for kind in own),
        stiffness=random.random(count),
        tip_parents=tips,
        tip_offsets=random.normal(size=(len(tips), 3)),
    )


def random_pose(seed: int, skeleton: Skeleton) -> Pose:
    """Any rotations, far from rest or very near to it, and any translations: kinds and limits are not asked."""
    random = np.random.default_rng(seed)
    size = random.choice([1e-9, 1e-2, 1.0, 3.0], size=(len(skeleton), 1))
    rotations = multiply(skeleton.rest_rotations, exp(size * random.normal(size=(len(skeleton), 3))))
    return Pose(
        normalized(rotations), skeleton.offsets + random.choice([0.0, 0.1]) * random.normal(size=(len(skeleton), 3))
    )


def random_clip(seed: int, skeleton: Skeleton, frames: int) -> Clip:
    """Any rotations in every frame; some joints have translations."""
    random = np.random.default_rng(seed)
    translated = np.flatnonzero(random.random(len(skeleton)) < 0.4)
    return Clip(
        name=f"clip-{seed}",
        frame_time=float(random.choice([1 / 30, 1 / 120, 0.0333333, 0.5, 1.0])),
        rotations=random_quaternions(random, frames, len(skeleton)),
        translated=translated,
        translations=random.normal(size=(frames, len(translated), 3)),
        offsets=skeleton.offsets,
    )


def skeletons(most: int = 12, kinds: Sequence[JointKind] = ALL_KINDS) -> st.SearchStrategy[Skeleton]:
    """Skeletons of 1 to ``most`` joints of these kinds."""
    return st.builds(random_skeleton, seeds, st.integers(1, most), st.just(kinds))


@st.composite
def posed_skeletons(draw: st.DrawFn, most: int = 12, kinds: Sequence[JointKind] = ALL_KINDS) -> tuple[Skeleton, Pose]:
    """A skeleton and any pose of it."""
    skeleton = draw(skeletons(most, kinds))
    return skeleton, random_pose(draw(seeds), skeleton)


@st.composite
def clips(draw: st.DrawFn, most: int = 6, frames: int = 8) -> tuple[Skeleton, Clip]:
    """A skeleton of a few joints and a clip of 1 to ``frames`` frames."""
    skeleton = draw(skeletons(most))
    return skeleton, random_clip(draw(seeds), skeleton, draw(st.integers(1, frames)))
