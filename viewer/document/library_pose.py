"""A pose of a library on the figure: for its skeleton, perhaps flipped, where the figure stands and as it faces."""

from __future__ import annotations

import math

import numpy as np

from viewer.document.document import Document
from viewer.document.mirror import mirrored_pose, standing_on, turned_across
from viewer.document.scope import inside_at
from viewer.errors import InputError
from viewer.skeleton import Pose, Skeleton, fk
from viewer.skeleton.figure import across_of, partners
from viewer.skeleton.transfer import Transfer, transferred
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import multiply, rotate

_STILL = 1e-9
"""Headings that differ by less than this, radians, are the same: the pose keeps its exact numbers."""


def fitted(document: Document, source: Skeleton, pose: Pose, *, flipped: bool = False) -> Transfer:
    """A pose of any skeleton for a document's figure, which stays in its place and keeps its heading.

    Args:
        document: with the figure in its present pose.
        source: the skeleton that the pose is of.
        pose: to be fitted.
        flipped: with left and right swapped.

    Raises:
        InputError: no joint of the pose is one of the figure's; nothing to flip.
    """
    skeleton = document.skeleton
    found = transferred(source, pose, skeleton, document.pose)
    if not found.joints:
        raise InputError(f"the pose is for {source.name}: none of its joints is one of this skeleton's")
    pose, joints = found.pose, found.joints
    if flipped:
        partner = partners(skeleton)
        if (partner == np.arange(len(skeleton))).all():
            raise InputError("no joint's name says left or right: there is nothing to flip")
        pose = mirrored_pose(skeleton, pose)
        joints = tuple(sorted(partner[list(joints)].tolist()))
    # Inside the limits first: they bend the legs, and the feet stay where they are.
    pose = inside_at(document, pose, joints)
    return Transfer(on_the_spot(skeleton, pose, document.pose), joints)


def on_the_spot(skeleton: Skeleton, pose: Pose, now: Pose) -> Pose:
    """A pose whose roots are moved horizontally and turned about the vertical to where another pose stands.

    The feet that it stands on come to where they are in the other pose; without feet, the first root does. Heights and
    inclinations stay those of the pose.

    Args:
        skeleton: of both poses.
        pose: to be moved.
        now: gives place and heading.
    """
    roots = skeleton.roots
    first = int(roots[0])
    turn = _heading(skeleton, pose, now, first)
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    if abs(turn) > _STILL:
        about = np.array([0.0, math.sin(0.5 * turn), 0.0, math.cos(0.5 * turn)])
        rotations[roots] = multiply(about, pose.rotations[roots])
        translations[roots] = rotate(about, pose.translations[roots])
    world = fk(skeleton, Pose(rotations, translations))
    standing = list(standing_on(skeleton, world, ())) or [first]
    step = fk(skeleton, now).positions[standing].mean(axis=0) - world.positions[standing].mean(axis=0)
    translations[roots] += step * (1.0, 0.0, 1.0)
    return Pose(rotations, translations)


def _heading(skeleton: Skeleton, pose: Pose, now: Pose, root: int) -> float:
    """Radians about the vertical from a pose's heading to another's."""
    across, rest = across_of(skeleton), fk(skeleton, skeleton.rest_pose())
    wanted = turned_across(rest, fk(skeleton, now), across, root)
    found = turned_across(rest, fk(skeleton, pose), across, root)
    return _angle(found, wanted)


def _angle(first: Floats, second: Floats) -> float:
    """Radians about Y from one direction to another, both seen from above."""
    sine = first[2] * second[0] - first[0] * second[2]
    return math.atan2(float(sine), float(first[0] * second[0] + first[2] * second[2]))
