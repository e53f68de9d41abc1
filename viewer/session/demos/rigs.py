"""Figures of the demos, made from the bundled samples."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from viewer.formats.load import SAMPLE, load
from viewer.session.opening import new_document
from viewer.session.values import Wanted
from viewer.skeleton.character import Character, Source
from viewer.skeleton.kinds import JointKind
from viewer.skeleton.limits import JointLimits
from viewer.skeleton.pose import Pose
from viewer.spatial.quaternion import from_axis_angle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.ik.goals import Goal
    from viewer.session.document import Document
    from viewer.skeleton.skeleton import Skeleton

PREFIX = "demo:"
"""What names of demos begin with where files are named: a document knows by it which demo it is of."""


@cache
def sample(name: str) -> Skeleton:
    """The skeleton of a bundled sample."""
    return load(SAMPLE + name).skeleton


def hinged(skeleton: Skeleton, degrees: float | None) -> Skeleton:
    """A skeleton in the plane XY: hinges about Z, that far to either side or (None) all the way round."""
    count = len(skeleton)
    axes = np.zeros((count, 2, 3))
    axes[:, 0, 2] = 1.0
    turn = math.inf if degrees is None else math.radians(degrees)
    limits = None if degrees is None else JointLimits.coordinates((-turn, turn))
    kinds = (JointKind.HINGE,) * count
    return replace(skeleton, kinds=kinds, axes=axes, limits=(limits,) * count, poses={})


def bent(skeleton: Skeleton, degrees: Sequence[float]) -> Pose:
    """The pose of a skeleton of hinges about Z that are turned so far from rest."""
    return Pose(from_axis_angle(np.array([0.0, 0.0, 1.0]), np.radians(degrees)), skeleton.offsets)


def opened(name: str, skeleton: Skeleton, pose: Pose, goals: Sequence[Goal], **changes: object) -> Document:
    """The document of a demo: what its goals do not ask for is let go, unless that is pinned.

    Args:
        name: the demo's id.
        skeleton: its figure.
        pose: to begin in.
        goals: what is asked.
        changes: other fields of the document.
    """
    character = Character(replace(skeleton, name=name), source=Source(path=PREFIX + name))
    document = new_document(character, pose=pose, goals=goals)
    asked = len(document.skeleton.effectors) - len(skeleton.effectors)
    names = {goal.effector for goal in goals} | {e.name for e in document.skeleton.effectors[-asked:] if asked}
    handles = tuple(
        handle if handle.effector in names or handle.pinned else replace(handle, kind=Wanted.OFF)
        for handle in document.handles
    )
    return replace(document, handles=handles, **changes)  # type: ignore[arg-type]
