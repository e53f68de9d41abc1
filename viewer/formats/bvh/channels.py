"""BVH channels: from columns of values to local rotations and translations, and back to continuous angles."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from viewer.skeleton import JointKind
from viewer.spatial.angles import from_axis_sequence, nearest_equivalent, to_euler
from viewer.spatial.checks import Bools, Floats, Ints

_BLOCK = 1 << 14
"""Joints times frames converted together, so that intermediate results stay in the processor's cache."""

ROTATION_KINDS = {0: JointKind.FIXED, 1: JointKind.HINGE, 2: JointKind.UNIVERSAL, 3: JointKind.BALL}


def rotation_axes(channels: tuple[str, ...]) -> str:
    """The axes of the rotation channels in order, such as "zxy"."""
    return "".join(name[0].lower() for name in channels if name.endswith("rotation"))


def position_axes(channels: tuple[str, ...]) -> str:
    """The axes of the position channels in order, such as "xyz"."""
    return "".join(name[0].lower() for name in channels if name.endswith("position"))


def first_columns(channels: tuple[tuple[str, ...], ...]) -> list[int]:
    """Per joint the column of its first channel, and at the end the number of columns."""
    return list(accumulate((len(names) for names in channels), initial=0))


def local_rotations(values: Floats, channels: tuple[tuple[str, ...], ...]) -> Floats:
    """(F, J, 4): the product of each joint's rotation channels in file order, R = R1 R2 R3.

    Args:
        values: (F, C) channel values; rotations in degrees.
        channels: per joint, in file order.
    """
    rotations = np.zeros((len(values), len(channels), 4))
    rotations[..., 3] = 1.0
    groups: dict[str, list[tuple[int, list[int]]]] = {}
    for joint, (names, first) in enumerate(zip(channels, first_columns(channels), strict=False)):
        columns = [first + i for i, name in enumerate(names) if name.endswith("rotation")]
        if columns:
            groups.setdefault(rotation_axes(names), []).append((joint, columns))
    for axes, members in groups.items():
        joints = np.array([joint for joint, _ in members])
        columns_of = np.array([columns for _, columns in members])
        step = max(1, _BLOCK // len(members))
        for start in range(0, len(values), step):
            angles = np.radians(values[start : start + step, columns_of])
            rotations[start : start + step, joints] = from_axis_sequence(angles, axes)
    return rotations


def local_translations(values: Floats, channels: tuple[tuple[str, ...], ...], offsets: Floats) -> tuple[Ints, Floats]:
    """(T,) the joints with position channels and (F, T, 3) their translations in the file's units.

    A position channel replaces the offset on its axis; an axis without one keeps it.
    """
    moved = [joint for joint, names in enumerate(channels) if position_axes(names)]
    translations = np.repeat(offsets[moved][None], len(values), axis=0)
    firsts = first_columns(channels)
    for place, joint in enumerate(moved):
        for i, name in enumerate(channels[joint]):
            if name.endswith("position"):
                translations[:, place, "xyz".index(name[0].lower())] = values[:, firsts[joint] + i]
    return np.array(moved, dtype=np.intp), translations


def kinds_and_axes(channels: tuple[tuple[str, ...], ...], parents: Ints) -> tuple[tuple[JointKind, ...], Floats]:
    """Kinds (J,) by number of rotation channels (3 ball, 2 universal, 1 hinge, 0 fixed; roots free), axes (J, 2, 3)."""
    kinds: list[JointKind] = []
    axes = np.zeros((len(channels), 2, 3))
    for joint, names in enumerate(channels):
        turns = rotation_axes(names)
        kinds.append(JointKind.FREE if parents[joint] < 0 else ROTATION_KINDS[len(turns)])
        if kinds[-1] in {JointKind.HINGE, JointKind.UNIVERSAL}:
            for place, axis in enumerate(turns):
                axes[joint, place, "xyz".index(axis)] = 1.0
    return tuple(kinds), axes


_HELD = 1e-8
"""Radians: fewer than three channels hold a rotation if their nearest one is within this, half the sixth decimal."""
_CALM = 0.5 * np.pi
"""If the angles of a joint change by less than this in sum, no equivalent ones are nearer: those differ by half a turn
in two angles."""


def channel_angles(rotations: Floats, axes: str) -> Floats:
    """Radians (F, n, len(axes)) of rotations (F, n, 4), continuous over the frames.

    Each frame takes the equivalent angles that are nearest to those of the frame before, so that no angle jumps by
    more than half a turn. Fewer than three angles give the nearest rotation that they can express.
    """
    if len(axes) < 3:
        return np.asarray(np.unwrap(_few_angles(rotations, axes), axis=0)) if len(rotations) else _none(rotations, axes)
    angles = to_euler(rotations, axes)
    direct = np.asarray(np.unwrap(angles, axis=0)) if len(angles) else angles
    rough = np.abs(np.diff(direct, axis=0)).sum(axis=-1).max(axis=0, initial=0.0) >= _CALM
    if rough.any():
        followed = angles[:, rough]
        for frame in range(1, len(followed)):
            followed[frame] = nearest_equivalent(followed[frame], followed[frame - 1])
        direct[:, rough] = followed
    return direct


def held(rotations: Floats, axes: str) -> Bools:
    """(n,) whether angles about ``axes`` express all frames of the rotations (F, n, 4)."""
    if len(axes) == 3:
        return np.ones(rotations.shape[1], dtype=np.bool_)
    nearest = from_axis_sequence(_few_angles(rotations, axes), axes)
    same_side = np.sign(np.einsum("fni,fni->fn", nearest, rotations))[..., None]
    apart = 2.0 * np.linalg.norm(nearest * same_side - rotations, axis=-1)
    return np.asarray((apart < _HELD).all(axis=0))


def _few_angles(rotations: Floats, axes: str) -> Floats:
    """Radians (F, n, 0 to 2) of the nearest rotations to (F, n, 4) that up to two angles can express.

    R1(a) R2(b) has the quaternion w = cos a/2 cos b/2, x = sin a/2 cos b/2, y = cos a/2 sin b/2 on its axes and
    z = sin a/2 sin b/2 on their cross product: its dot product with any other is a sum of one cosine of
    (a + b) / 2 and one of (a - b) / 2, and greatest at these two arctangents.
    """
    on = ["xyz".index(axis) for axis in axes]
    w = rotations[..., 3]
    if not on:
        return _none(rotations, axes)
    if len(on) == 1:
        return 2.0 * np.arctan2(rotations[..., on], w[..., None])
    parity = 1.0 if (on[1] - on[0]) % 3 == 1 else -1.0
    x, y, z = rotations[..., on[0]], rotations[..., on[1]], parity * rotations[..., 3 - sum(on)]
    total, difference = np.arctan2(x + y, w - z), np.arctan2(x - y, w + z)
    angles = np.stack([total + difference, total - difference], axis=-1)
    return np.asarray(angles - 2.0 * np.pi * np.rint(angles / (2.0 * np.pi)))


def _none(rotations: Floats, axes: str) -> Floats:
    return np.zeros((*rotations.shape[:-1], len(axes)))
