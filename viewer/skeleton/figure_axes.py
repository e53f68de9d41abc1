"""Which way a figure stands and faces at rest: up from its trunk and legs, forward from its feet or its sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from viewer.skeleton.limbs import Limb
    from viewer.skeleton.rest_tree import RestTree
    from viewer.spatial.checks import Floats

_SNAP = np.cos(np.radians(30.0))
"""Up is the coordinate axis within this angle of the body's own: people lean, floors do not."""
_HANGS = -0.5
"""Legs hang if they point this much against the trunk (a cosine)."""
_DOWN = -0.7
_LYING = 0.6
_TOE = 0.25
"""A foot shows where it points if this much of it, in its own length, is level."""

Axes = tuple["Floats", "Floats", "Floats", bool]


def unit(vectors: Floats) -> Floats:
    """(..., 3) scaled to length 1; zero where there is none."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def find_axes(
    tree: RestTree, pelvis: int, chest: int, head: int | None, arms: tuple[Limb, ...], legs: tuple[Limb, ...]
) -> Axes | None:
    """Up, left and forward (3,), and whether the rest pose is a standing person's.

    None where it is not and names do not vouch for the figure either.
    """
    trunk = _trunk(tree, pelvis, chest, head, arms)
    if not _stands(tree, trunk, legs):
        return (np.eye(3)[1], np.eye(3)[0], np.eye(3)[2], False) if all(a.named for a in (*arms, *legs)) else None
    up = _up(tree, trunk, legs)
    across = _across(tree, legs or arms, up)
    if across is None:
        return None
    forward = unit(np.cross(across, up))
    shown = _toes(tree, legs, up) @ forward
    if abs(shown) > 1e-6:
        forward = forward if shown > 0 else -forward
    elif (legs or arms)[0].side == "" and forward[int(np.argmax(np.abs(forward)))] < 0:
        # Neither feet nor names say it: most files face along an axis, not against it.
        forward = -forward
    return up, np.cross(up, forward), forward, True


def on_all_fours(tree: RestTree, pelvis: int, chest: int, arms: tuple[Limb, ...], legs: tuple[Limb, ...]) -> bool:
    """Whether arms and legs alike reach down from a level spine: a quadruped."""
    if not (arms and legs):
        return False
    spine = unit(tree.place(chest) - tree.place(pelvis))
    if chest == pelvis or abs(float(spine[1])) > _LYING:
        return False
    return all(float(_direction(tree, limb)[1]) < _DOWN for limb in (*arms, *legs))


def _direction(tree: RestTree, limb: Limb) -> Floats:
    """From shoulder or hip to hand or foot."""
    return unit(tree.end(limb.tip) - tree.place(limb.upper))


def _trunk(tree: RestTree, pelvis: int, chest: int, head: int | None, arms: tuple[Limb, ...]) -> Floats:
    """Direction (3,) from the pelvis to the head, else the shoulders; zero where there is nothing above."""
    low = tree.place(pelvis)
    tops = [tree.place(head)] if head is not None else []
    tops += [np.mean([tree.place(arm.upper) for arm in arms], axis=0)] if arms else []
    tops += [tree.place(chest)]
    return next((unit(top - low) for top in tops if tree.apart(top, low)), np.zeros(3))


def _stands(tree: RestTree, trunk: Floats, legs: tuple[Limb, ...]) -> bool:
    """Whether the legs hang from the trunk, both on one side of it."""
    if not legs:
        return bool(trunk.any())
    directions = [_direction(tree, leg) for leg in legs]
    if not trunk.any():
        return float(directions[0] @ directions[1]) > -_HANGS
    return all(float(direction @ trunk) < _HANGS for direction in directions)


def _up(tree: RestTree, trunk: Floats, legs: tuple[Limb, ...]) -> Floats:
    """The body's own up, or the coordinate axis near it."""
    own = unit(trunk - np.sum([_direction(tree, leg) for leg in legs], axis=0)) if legs else trunk
    axis = int(np.argmax(np.abs(own)))
    if abs(float(own[axis])) < _SNAP:
        return own
    return np.asarray(np.sign(own[axis]) * np.eye(3)[axis])


def _across(tree: RestTree, pair: tuple[Limb, ...], up: Floats) -> Floats | None:
    """Level direction from the second limb of a pair to the first, None if one stands above the other."""
    between = tree.place(pair[0].upper) - tree.place(pair[1].upper)
    level = between - (between @ up) * up
    return unit(level) if tree.apart(level, np.zeros(3)) else None


def _toes(tree: RestTree, legs: tuple[Limb, ...], up: Floats) -> Floats:
    """Sum of the level directions in which the feet point; zero where they show none."""
    total = np.zeros(3)
    for leg in legs:
        if leg.end is not None:
            reach = foot_direction(tree, leg.end)
            level = reach - (reach @ up) * up
            if np.linalg.norm(level) > _TOE * np.linalg.norm(reach):
                total += unit(level)
    return total


def foot_direction(tree: RestTree, foot: int) -> Floats:
    """(3,) from the foot's joint to the end site or joint below it that is farthest away, at rest; zero if none."""
    here = tree.place(foot)
    below = tree.below(foot)
    points = [tree.place(joint) for joint in below[1:]] + [tip for joint in below for tip in tree.tips[joint]]
    return max((point - here for point in points), key=lambda way: float(np.linalg.norm(way)), default=np.zeros(3))
