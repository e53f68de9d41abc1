"""Generalised coordinates, as in robotics: a pose as one vector with a number per degree of freedom.

In joint order; D numbers, whose names are `Skeleton.dof_names`. A joint that follows another one (`Skeleton.mimics`)
has its number, too; on input it is ignored.

hinge      elbow                   radians about its axis
universal  wrist.r0, .r1           radians about its first and second axis
slide      lift                    metres along its axis
ball       hip.rx, .ry, .rz        radians, by the form of its limits; a ball without limits: its rotation vector
free       root.tx, .ty, .tz       metres: its position
           root.rx, .ry, .rz       radians: its rotation vector

All are measured from the rest rotation. Fixed joints have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError
from viewer.skeleton.character import check_pose, check_skeleton, wrong_kind
from viewer.skeleton.clip import Clip
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.limits import JointKind
from viewer.skeleton.skeleton import Pose, Skeleton
from viewer.spatial.checks import Floats, Ints, finite_floats
from viewer.spatial.quaternion import conjugate, exp, log, multiply


@dataclass(frozen=True, slots=True, eq=False)
class Dofs:
    """The layout of the vector: the positions of each joint's numbers.

    Attributes:
        first: (J + 1,) the first number of each joint.
        joint, column: (C,) the coordinates of `viewer.skeleton.coordinates` that are numbers of the vector.
        place: (C,) their indices in it.
        turned: (T,) the joints with a rotation vector: free joints and balls without limits.
        vector: (T, 3) indices of these vectors.
        moved: (M,) the free joints.
        position: (M, 3) indices of their positions.
    """

    first: Ints
    joint: Ints
    column: Ints
    place: Ints
    turned: Ints
    vector: Ints
    moved: Ints
    position: Ints


@lru_cache(maxsize=16)
def dofs_of(skeleton: Skeleton) -> Dofs:
    """The layout of a skeleton's vector, cached."""
    counts = [kind.dofs for kind in skeleton.kinds]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    free = skeleton.of_kind(JointKind.FREE)
    unlimited = np.array(
        [kind is JointKind.BALL and own is None for kind, own in zip(skeleton.kinds, skeleton.limits, strict=True)]
    )
    turned, moved = np.flatnonzero(free | unlimited), np.flatnonzero(free)
    joint = np.repeat(np.arange(len(skeleton)), np.where(free | unlimited, 0, counts))
    column = np.concatenate([np.arange(n) for n in np.where(free | unlimited, 0, counts)]).astype(np.intp)
    xyz = np.arange(3)
    return Dofs(
        first=first,
        joint=joint,
        column=column,
        place=first[joint] + column,
        turned=turned,
        vector=first[turned + 1][:, None] - 3 + xyz,
        moved=moved,
        position=first[moved][:, None] + xyz,
    )


def coordinates(skeleton: Skeleton, motion: Pose | Clip) -> Floats:
    """The numbers (D,) of a pose, or (F, D) of a clip: radians, metres of slides and positions.

    A rotation that a hinge or universal cannot have is measured as the nearest one that it can have.

    Raises:
        InputError: no pose and no clip, or one of another skeleton.
    """
    check_skeleton(skeleton)
    if isinstance(motion, Clip):
        rotations, translations = motion.rotations, motion.local_translations()
    else:
        if not isinstance(motion, Pose):
            raise wrong_kind(motion, "a pose or clip")
        rotations, translations = motion.rotations, motion.translations
    dofs = dofs_of(skeleton)
    measured = joint_space(skeleton).measure(rotations, translations)
    result = np.empty((*rotations.shape[:-2], int(dofs.first[-1])))
    result[..., dofs.place] = measured[..., dofs.joint, dofs.column]
    rest = skeleton.rest_rotations[dofs.turned]
    result[..., dofs.vector] = log(multiply(conjugate(rest), rotations[..., dofs.turned, :]))
    result[..., dofs.position] = translations[..., dofs.moved, :]
    return result


def pose_at(skeleton: Skeleton, values: ArrayLike, base: Pose | None = None) -> Pose:
    """The pose whose `coordinates` are these (D,).

    Args:
        skeleton: the joints.
        values: radians and metres; limits are not applied (see `project_pose`).
        base: gives the translations that no coordinate has; None: the rest pose.

    Raises:
        InputError: another number of values, numbers that are not finite, a base of another skeleton.
    """
    check_skeleton(skeleton)
    start = skeleton.rest_pose() if base is None else base
    check_pose(start, "base: ")
    if len(start.rotations) != len(skeleton):
        raise InputError(f"base: expected {len(skeleton)} joints, found {len(start.rotations)}")
    given = finite_floats(
        values, (len(skeleton.dof_names),), "coordinates", lambda at: f" of {skeleton.dof_names[at[0]]}"
    )
    return Pose(*_rebuilt(skeleton, given, start.rotations, start.translations))


def clip_at(skeleton: Skeleton, values: ArrayLike, *, fps: float = 30.0, name: str = "clip") -> Clip:
    """The clip whose `coordinates` are these (F, D), such as the trajectory of a planner.

    Raises:
        InputError: another number of columns, numbers that are not finite, no frames.
    """
    check_skeleton(skeleton)
    given = finite_floats(values, (-1, len(skeleton.dof_names)), "coordinates", lambda at: f" of frame {at[0]}")
    shape = (len(given), len(skeleton))
    rest = skeleton.rest_pose()
    rotations, translations = (
        np.broadcast_to(array, (*shape, array.shape[-1])) for array in (rest.rotations, rest.translations)
    )
    return Clip.from_arrays(skeleton, *_rebuilt(skeleton, given, rotations, translations), fps=fps, name=name)


def coordinate_limits(skeleton: Skeleton) -> tuple[Floats, Floats]:
    """The lowest and highest values (D,) that the limits allow each coordinate, infinite where there are none."""
    check_skeleton(skeleton)
    dofs, space = dofs_of(skeleton), joint_space(skeleton)
    lower, upper = (np.full(int(dofs.first[-1]), end) for end in (-np.inf, np.inf))
    lower[dofs.place] = space.lower[dofs.joint, dofs.column]
    upper[dofs.place] = space.upper[dofs.joint, dofs.column]
    return lower, upper


def _rebuilt(skeleton: Skeleton, values: Floats, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
    dofs = dofs_of(skeleton)
    table = np.zeros((*values.shape[:-1], len(skeleton), 3))
    table[..., dofs.joint, dofs.column] = values[..., dofs.place]
    space = joint_space(skeleton)
    turns, moves = space.rebuild(space.following.followed(table), rotations, translations)
    rest = skeleton.rest_rotations[dofs.turned]
    turns[..., dofs.turned, :] = multiply(rest, exp(values[..., dofs.vector]))
    moves[..., dofs.moved, :] = values[..., dofs.position]
    return turns, moves
