"""From columns of channel values to local rotations and translations, and the kinds that channels imply."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from viewer.skeleton.kinds import JointKind
from viewer.spatial.euler import from_axis_sequence

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats, Ints

_BLOCK = 1 << 14
"""Joint-frames converted together: the angles' sines and cosines stay in the processor's cache."""

ROTATION_KINDS = {0: JointKind.FIXED, 1: JointKind.HINGE, 2: JointKind.UNIVERSAL, 3: JointKind.BALL}


def rotation_axes(channels: tuple[str, ...]) -> str:
    """The axes of the rotation channels in order, such as "zxy"."""
    return "".join(name[0].lower() for name in channels if name.endswith("rotation"))


def position_axes(channels: tuple[str, ...]) -> str:
    """The axes of the position channels in order, such as "xyz"."""
    return "".join(name[0].lower() for name in channels if name.endswith("position"))


def first_columns(channels: tuple[tuple[str, ...], ...]) -> list[int]:
    """Per joint the column of its first channel; one more at the end: the number of columns."""
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
    """What each joint's rotation channels let it do: 3 ball, 2 universal, 1 hinge, 0 fixed; roots are free."""
    kinds: list[JointKind] = []
    axes = np.zeros((len(channels), 2, 3))
    for joint, names in enumerate(channels):
        turns = rotation_axes(names)
        kinds.append(JointKind.FREE if parents[joint] < 0 else ROTATION_KINDS[len(turns)])
        if kinds[-1] in {JointKind.HINGE, JointKind.UNIVERSAL}:
            for place, axis in enumerate(turns):
                axes[joint, place, "xyz".index(axis)] = 1.0
    return tuple(kinds), axes
