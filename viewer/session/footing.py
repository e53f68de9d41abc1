"""What a body stands on, and the plane between its sides there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.session.standing import below
from viewer.skeleton.effectors import find_place
from viewer.skeleton.figure import find_figure
from viewer.skeleton.kinematics import fk
from viewer.skeleton.pose import Pose
from viewer.spatial.quaternion import conjugate, multiply, rotate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.session.document import Document
    from viewer.skeleton.kinematics import World
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats, Ints

_UP = np.array([0.0, 1.0, 0.0])
_BESIDE = float(np.cos(np.radians(15.0)))
"""Feet stand beside one another where the line between them is no farther than this from across where they point."""
_ALIKE = 0.5
"""Feet that point farther apart from the body than 60 degrees say nothing of where it faces."""
_LEVEL = 0.1
"""Feet whose heights differ by less than this part of a leg both stand."""


def pinned_supports(document: Document, partner: Ints) -> tuple[int, ...]:
    """Joints that pins hold and that a body is mirrored about: the feet, and of what is no figure pairs.

    Args:
        document: with the pins.
        partner: (J,) each joint's on the other side.
    """
    skeleton, figure = document.skeleton, find_figure(document.skeleton)
    pins = [one for one in document.handles if one.pinned and one.pin_position and one.position is not None]
    held = {find_place(skeleton, one.effector).joint for one in pins}
    if figure is not None and figure.legs:
        legs = below(skeleton, [leg.upper for leg in figure.legs])
        held = {joint for joint in held if legs[joint]}
    pairs = {joint for joint in held if partner[joint] != joint and int(partner[joint]) in held}
    return tuple(sorted(pairs or (held if figure is not None and figure.legs else ())))


def standing_on(skeleton: Skeleton, world: World, supports: Sequence[int]) -> tuple[int, ...]:
    """The supports given, else the figure's feet: both, or the lower one where the other is lifted; else none."""
    figure = find_figure(skeleton)
    if supports or figure is None:
        return tuple(supports)
    feet = [leg.end for leg in figure.legs if leg.end is not None]
    if len(feet) != len(figure.legs) or not feet:
        return ()
    heights = world.positions[feet, 1]
    leg = float(np.linalg.norm(world.positions[figure.legs[0].upper] - world.positions[figure.legs[0].lower]))
    return tuple(feet) if float(np.ptp(heights)) < 2.0 * _LEVEL * leg else (feet[int(np.argmin(heights))],)


def standing_across(
    skeleton: Skeleton, moments: tuple[World, World], across: Floats, supports: Sequence[int]
) -> Floats:
    """(3,) the level unit direction from side to side of a body that stands on something.

    Along the line between feet that stand side by side: each one's image then falls on the other. Else across where
    the feet point together, or the root does.

    Args:
        skeleton: of the body.
        moments: at rest, and as it stands.
        across: (3,) that direction at rest.
        supports: joints, one or more.
    """
    rest, world = moments
    facing = turned_across(rest, world, across, root_of(skeleton)[supports[0]])
    if len(supports) == 1:
        return facing
    figure = find_figure(skeleton)
    if figure is not None and figure.upright:
        joints = list(supports)
        away = multiply(world.rotations[joints], conjugate(rest.rotations[joints]))
        feet = _level(rotate(away, across).sum(axis=0))
        facing = feet if feet is not None and float(feet @ facing) > _ALIKE else facing
    side = (rest.positions[list(supports)] - rest.positions[list(supports)].mean(axis=0)) @ across
    line = _level(np.sign(side) @ world.positions[list(supports)])
    return line if line is not None and float(line @ facing) > _BESIDE else facing


def _level(way: Floats) -> Floats | None:
    flat = way - (way @ _UP) * _UP
    length = float(np.linalg.norm(flat))
    return np.asarray(flat / length) if length > 1e-3 else None


def turned_across(rest: World, world: World, across: Floats, root: int) -> Floats:
    """The direction from side to side of a posed body, level: at rest's own level where it lies on its side."""
    way = rotate(multiply(world.rotations[root], conjugate(rest.rotations[root])), across)
    level = way - (way @ _UP) * _UP + (across @ _UP) * _UP
    length = float(np.linalg.norm(level))
    return np.asarray(level / length) if length > 1e-3 else across


def root_of(skeleton: Skeleton) -> list[int]:
    """By joint the one without a parent that it hangs on."""
    roots: list[int] = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        roots.append(joint if parent < 0 else roots[parent])
    return roots


def moved_over(skeleton: Skeleton, mirrored: Pose, before: World, supports: Sequence[int], partner: Ints) -> Pose:
    """A mirrored pose moved so that the middle between its supports is where that was before.

    Args:
        skeleton: of both.
        mirrored: with its roots anywhere.
        before: what was mirrored.
        supports: joints that it stood on; it stands on their partners.
        partner: (J,) each joint's on the other side.
    """
    joints = list(supports)
    middle = before.positions[joints].mean(axis=0)
    now = fk(skeleton, mirrored).positions[partner[joints]].mean(axis=0)
    root = root_of(skeleton)[joints[0]]
    translations = mirrored.translations.copy()
    translations[root] += middle - now
    return Pose(mirrored.rotations, translations)
