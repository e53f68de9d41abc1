"""Which channels each joint is written with: those it was read with, or the usual ones, widened where they must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import quote
from viewer.formats.bvh.angles import channel_angles, held
from viewer.formats.bvh.channels import kinds_and_axes, position_axes, rotation_axes
from viewer.skeleton.kinds import JointKind
from viewer.skeleton.limits import LimitForm

if TYPE_CHECKING:
    from viewer.skeleton.character import BvhLayout
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats

_POSITIONS = ("Xposition", "Yposition", "Zposition")
_USUAL_ORDER = "zxy"
_NOISE = 1e-12


def rotation_channels(order: str) -> tuple[str, ...]:
    """Channel names of an order such as "zxy"."""
    return tuple(f"{axis.upper()}rotation" for axis in order)


def usual_channels(skeleton: Skeleton) -> tuple[tuple[str, ...], ...]:
    """Roots: positions XYZ and rotations ZXY; others ZXY, or the order of their limits; slides positions as well."""
    channels: list[tuple[str, ...]] = []
    for kind, limits, parent in zip(skeleton.kinds, skeleton.limits, skeleton.parents.tolist(), strict=True):
        order = limits.order if limits is not None and limits.form is LimitForm.EULER else _USUAL_ORDER
        positions = _POSITIONS if parent < 0 or kind is JointKind.SLIDE else ()
        channels.append(positions + rotation_channels(order))
    return tuple(channels)


def own_channels(skeleton: Skeleton, layout: BvhLayout | None) -> tuple[tuple[str, ...], ...]:
    """Those that the joints were read with; the usual ones where there is no layout, or one of another skeleton."""
    fits = layout is not None and len(layout.channels) == len(skeleton)
    return layout.channels if layout is not None and fits else usual_channels(skeleton)


def own_kinds(skeleton: Skeleton, layout: BvhLayout | None) -> tuple[JointKind, ...]:
    """(J,) the joints' kinds as they come back from those channels."""
    return kinds_and_axes(own_channels(skeleton, layout), skeleton.parents)[0]


def channels_for(
    skeleton: Skeleton, layout: BvhLayout | None, rotations: Floats, translations: Floats, offsets: Floats
) -> tuple[tuple[tuple[str, ...], ...], list[str]]:
    """The channels of every joint, able to hold the motion, and a warning for each that had to be widened.

    Args:
        skeleton: the joints.
        layout: how they were read, or None.
        rotations: (F, J, 4) local, in the axes that are written.
        translations: (F, J, 3) local, in the units and axes that are written.
        offsets: (J, 3) as written in the hierarchy.
    """
    channels = list(own_channels(skeleton, layout))
    # Units were converted there and back: differences in the last digits are no motion.
    noise = _NOISE * np.maximum(np.abs(offsets), np.abs(translations))
    moves = np.any(np.abs(translations - offsets) > noise, axis=0)
    warnings: list[str] = []
    for joint, names in enumerate(channels):
        widened = _with_positions(names, moves[joint].tolist())
        widened = _with_rotations(widened, rotations[:, joint : joint + 1])
        if widened != names:
            added = ", ".join(name for name in widened if name not in names)
            warnings.append(f"joint {quote(skeleton.names[joint])}: its channels cannot hold the motion; added {added}")
            channels[joint] = widened
    return tuple(channels), warnings


def _with_positions(names: tuple[str, ...], moves: list[bool]) -> tuple[str, ...]:
    has = position_axes(names)
    if not any(moving and axis not in has for axis, moving in zip("xyz", moves, strict=True)):
        return names
    return _POSITIONS + rotation_channels(rotation_axes(names))


def _with_rotations(names: tuple[str, ...], rotations: Floats) -> tuple[str, ...]:
    axes = rotation_axes(names)
    if held(rotations, axes).all():
        return names
    return names + rotation_channels("".join(axis for axis in _USUAL_ORDER if axis not in axes))


def channel_values(channels: tuple[tuple[str, ...], ...], rotations: Floats, translations: Floats) -> list[Floats]:
    """Per joint (F, n): its channels' values, rotations in degrees; joints of one rotation order are done together."""
    values = [np.zeros((len(rotations), len(names))) for names in channels]
    groups: dict[str, list[int]] = {}
    for joint, names in enumerate(channels):
        groups.setdefault(rotation_axes(names), []).append(joint)
        for column, name in enumerate(names):
            if name.endswith("position"):
                values[joint][:, column] = translations[:, joint, "xyz".index(name[0].lower())]
    for axes, joints in groups.items():
        angles = np.degrees(channel_angles(rotations[:, joints], axes))
        for place, joint in enumerate(joints):
            columns = [i for i, name in enumerate(channels[joint]) if name.endswith("rotation")]
            values[joint][:, columns] = angles[:, place]
    return values
