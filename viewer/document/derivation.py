"""The closed form of the two-link method with the numbers of a document, for the solver panel."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from viewer.document.document import Document
from viewer.document.document_goal import DocumentGoal
from viewer.ik.goals import KINDS
from viewer.ik.methods.limb import two_link_algebraic
from viewer.skeleton import JointKind, find_place, world_of
from viewer.spatial.checks import Floats

_AXES = {"xy": (0, 1), "yz": (1, 2), "zx": (2, 0)}
_SHORT = 1e-9
"""Shortest link, metres."""
_STILL = {JointKind.FIXED, JointKind.SLIDE}


class Derivation(NamedTuple):
    """Two links and their target in the plane of the limb, with both solutions.

    Attributes:
        effector: of the goal.
        joints: names of the first link's joint and of the joint between the links.
        lengths: L1 and L2, metres.
        distance: d, metres from the first joint to the target.
        cosine: of theta2, by (d^2 - L1^2 - L2^2) / (2 L1 L2): beyond -1 .. 1 the target is out of reach.
        up: theta1 and theta2, degrees, of the solution with the higher elbow: theta1 is measured from the plane's
            first axis in a planar document, else from the line to the target.
        down: those of the other solution.
        now: the solution nearer to the pose shown, "up" or "down".
    """

    effector: str
    joints: tuple[str, str]
    lengths: tuple[float, float]
    distance: float
    cosine: float
    up: tuple[float, float]
    down: tuple[float, float]
    now: str


def derivation(document: Document) -> Derivation | None:
    """The derivation for the active goal, else the first goal with a position; None if no two links serve one."""
    item = document.active_on_figure
    chosen = [h for h in document.goals if item is not None and item.kind == "effector" and h.id == item.name]
    for goal in (*chosen, *document.goals):
        if goal.placed and KINDS[goal.kind].has_point and goal.position is not None:
            found = _of_limb(document, goal, np.array(goal.position))
            if found is not None:
                return found
    return None


def _of_limb(document: Document, goal: DocumentGoal, target: Floats) -> Derivation | None:
    """The derivation for the two joints above a goal's effector."""
    skeleton, world = document.skeleton, world_of(document.skeleton, document.pose)
    effector = find_place(skeleton, goal.effector)
    joint, end = effector.joint, world.point(effector.joint, np.add(effector.offset, goal.offset))
    if KINDS[goal.kind].has_rotation:  # its own joint rotates it, those above
        target, end = target + world.positions[joint] - end, world.positions[joint]
    points: list[Floats] = [end]
    joints: list[int] = []
    while joint >= 0 and len(joints) < 2:
        here = world.positions[joint]
        if skeleton.kinds[joint] not in _STILL and np.linalg.norm(points[-1] - here) > _SHORT:
            points.append(here)
            joints.append(joint)
        joint = int(skeleton.parents[joint])
    if len(joints) < 2:
        return None
    first, second = points[1] - points[2], points[0] - points[1]
    x, y = _plane(document, first, second, target - points[2])
    if document.planar is None:
        lengths = float(np.linalg.norm(first)), float(np.linalg.norm(second))
    else:
        lengths = math.hypot(first @ x, first @ y), math.hypot(second @ x, second @ y)
    if min(lengths) < _SHORT:
        return None
    to = float((target - points[2]) @ x), float((target - points[2]) @ y)
    bend = float((first @ x) * (second @ y) - (first @ y) * (second @ x))
    solutions = [tuple(math.degrees(angle) for angle in two_link_algebraic(*to, lengths, side)) for side in (-1, 1)]
    # By the method's own rule: which solution has the higher elbow in the world.
    heights = [math.cos(math.radians(one)) * x[1] + math.sin(math.radians(one)) * y[1] for one, _ in solutions]
    turned = bool(heights[0] < heights[1] - _SHORT)
    up, down = reversed(solutions) if turned else solutions
    distance = math.hypot(*to)
    cosine = (distance**2 - lengths[0] ** 2 - lengths[1] ** 2) / (2.0 * lengths[0] * lengths[1])
    names = skeleton.names[joints[1]], skeleton.names[joints[0]]
    return Derivation(
        goal.effector,
        names,
        lengths,
        distance,
        cosine,
        (up[0], up[1]),
        (down[0], down[1]),
        "up" if (bend < 0.0) != turned else "down",
    )


def _plane(document: Document, first: Floats, second: Floats, to: Floats) -> tuple[Floats, Floats]:
    """(3,) and (3,): axes of the limb's plane; in space x is the line to the target and y points upwards."""
    if document.planar is not None:
        x, y = (np.eye(3)[axis] for axis in _AXES[document.planar])
        return x, y
    x = to / max(float(np.linalg.norm(to)), _SHORT)
    normal = np.cross(first, second)
    if np.linalg.norm(normal) < _SHORT:
        normal = np.cross(x, np.eye(3)[int(np.argmin(np.abs(x)))])
    y = np.cross(normal / np.linalg.norm(normal), x)
    y /= max(float(np.linalg.norm(y)), _SHORT)
    return x, y if y[1] >= 0.0 else -y
