"""Trees of joints: orders, the sample chain, and positions, paths and lengths of a tree at rest."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from viewer.errors import InputError
from viewer.skeleton.kinematics import World, fk, tip_positions
from viewer.skeleton.limits import JointKind
from viewer.skeleton.names import Effector, body_part
from viewer.skeleton.skeleton import Pose, Skeleton
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import IDENTITY, from_axis_angle

MOST_LINKS = 10_000
_TURN = np.radians(60.0)
"""Total bend of the relaxed chain; a straight chain could not be pulled inwards."""

_APART = 1e-3
"""Positions nearer than this fraction of the figure's longest path count as equal."""


def depth_first(skeleton: Skeleton) -> list[int]:
    """Joint indices in depth-first order; children of a joint are in joint order."""
    children: list[list[int]] = [[] for _ in range(len(skeleton))]
    stack: list[int] = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        (children[parent] if parent >= 0 else stack).append(joint)
    stack.reverse()
    order: list[int] = []
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack += reversed(children[joint])
    return order


class CycleError(ValueError):
    """A joint that is its own ancestor."""

    def __init__(self, joint: int) -> None:
        """``joint``: one of those in the cycle."""
        super().__init__(f"joint {joint} is its own ancestor")
        self.joint = joint


def parents_first(parents: Sequence[int]) -> list[int]:
    """Indices of all joints in their own order, except that each one comes after its ancestors.

    Args:
        parents: of each joint, in any order; -1 for roots.

    Raises:
        CycleError: a joint is its own ancestor.
    """
    order: list[int] = []
    placed = [False] * len(parents)
    for start in range(len(parents)):
        branch, joint = [], start
        while joint >= 0 and not placed[joint]:
            placed[joint] = True
            branch.append(joint)
            joint = parents[joint]
        if joint in branch:
            raise CycleError(joint)
        order += reversed(branch)
    return order


def at_or_below(skeleton: Skeleton, *tops: int) -> NDArray[np.bool_]:
    """(J,) whether each joint is one of some joints or of their descendants."""
    below = [False] * (len(skeleton) + 1)
    for top in tops:
        below[top] = True
    for joint, parent in enumerate(skeleton.parents.tolist()):
        below[joint] |= below[parent]  # a root's parent, -1, is the spare element at the end
    return np.array(below[:-1])


def above(skeleton: Skeleton, joint: int) -> list[int]:
    """A joint and its ancestors up to the root, nearest first; empty for -1."""
    return upwards(skeleton.parents, joint)


def upwards(parents: Ints, joint: int) -> list[int]:
    """`above`, of joints with these parents."""
    path = []
    while joint >= 0:
        path.append(joint)
        joint = int(parents[joint])
    return path


def at_or_above(parents: Ints, some: Iterable[int]) -> Bools:
    """(J,) whether joints with these parents, which come before them, are among some or above one; -1: none."""
    found = [False] * (len(parents) + 1)  # a root's parent, -1, is the spare element at the end
    for joint in some:
        found[joint] = True
    for joint, parent in reversed([*enumerate(parents.tolist())]):
        found[parent] |= found[joint]
    return np.array(found[:-1], dtype=np.bool_)


def nearest_among(skeleton: Skeleton, joint: int, some: Container[int]) -> int:
    """The first of some joints on the way from a joint, itself included, up to its root; -1 without any."""
    return next((one for one in above(skeleton, joint) if one in some), -1)


def chain(links: int) -> Skeleton:
    """A chain of equal links, one metre long in all, standing upright on an unlimited ball joint.

    Raises:
        InputError: fewer than 1 or more than `MOST_LINKS` links.
    """
    if not 1 <= links <= MOST_LINKS:
        raise InputError(f"a chain has 1 to {MOST_LINKS} links, found {links}")
    length = 1.0 / links
    offsets = np.zeros((links, 3))
    offsets[1:, 1] = length
    rest = np.tile(IDENTITY, (links, 1))
    bent = np.tile(from_axis_angle((0.0, 0.0, 1.0), -_TURN / links), (links, 1))
    return Skeleton(
        name=f"chain-{links}",
        names=tuple(f"link_{number}" for number in range(1, links + 1)),
        parents=np.arange(-1, links - 1),
        offsets=offsets,
        rest_rotations=rest,
        kinds=(JointKind.BALL,) * links,
        tip_parents=np.array([links - 1]),
        tip_offsets=np.array([[0.0, length, 0.0]]),
        effectors=(Effector("tip", links - 1, (0.0, length, 0.0)),),
        poses=MappingProxyType({"relaxed": Pose(bent, offsets)}),
    )


@lru_cache(maxsize=16)
def rest_world(skeleton: Skeleton) -> World:
    """Forward kinematics of the rest pose."""
    return fk(skeleton, skeleton.rest_pose())


class RestTree:
    """A skeleton at rest.

    Attributes:
        world: places (J, 3) and rotations (J, 4) at rest.
        parents, children: of each joint.
        tips: of each joint the world places (3,) of its end sites.
        parts: what each joint's name says.
        depth: (J,) metres from each joint along its bones to the farthest leaf or end site below.
        size: the longest such path from a root.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.world = rest_world(skeleton)
        self.parents: list[int] = skeleton.parents.tolist()
        self.children: list[list[int]] = [[] for _ in self.parents]
        self.tips: list[list[Floats]] = [[] for _ in self.parents]
        self.parts = [body_part(name) for name in skeleton.names]
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                self.children[parent].append(joint)
        for joint, place in zip(skeleton.tip_parents.tolist(), tip_positions(skeleton, self.world), strict=True):
            self.tips[joint].append(place)
        self.depth = self._depths()
        self.size = max((self.depth[joint] for joint in skeleton.roots), default=0.0)

    def _depths(self) -> list[float]:
        bones = np.linalg.norm(self.skeleton.offsets, axis=1).tolist()
        depth = [0.0] * len(self.parents)
        for joint, length in zip(
            self.skeleton.tip_parents.tolist(), np.linalg.norm(self.skeleton.tip_offsets, axis=1).tolist(), strict=True
        ):
            depth[joint] = max(depth[joint], length)
        for joint in range(len(self.parents) - 1, -1, -1):
            parent = self.parents[joint]
            if parent >= 0:
                depth[parent] = max(depth[parent], bones[joint] + depth[joint])
        return depth

    def place(self, joint: int) -> Floats:
        """World place (3,) of a joint at rest."""
        return np.asarray(self.world.positions[joint])

    def end(self, tip: tuple[int, Floats]) -> Floats:
        """World place (3,) at rest of a point fixed to a joint: where a limb ends."""
        joint, offset = tip
        return self.world.point(joint, offset) if offset.any() else self.place(joint)

    def apart(self, a: Floats, b: Floats) -> bool:
        """Whether two positions differ."""
        return math.dist(a, b) > _APART * self.size

    def above(self, joint: int) -> list[int]:
        """The joint and its ancestors, from the joint up to its root."""
        return above(self.skeleton, joint)

    def between(self, trunk: int, joint: int) -> list[int]:
        """The joints from below ``trunk``, an ancestor, down to ``joint``."""
        line = self.above(joint)
        return line[: line.index(trunk)][::-1]

    def common(self, joints: Sequence[int]) -> int | None:
        """The lowest common ancestor of ``joints``, one of which it may be; None where their roots differ."""
        shared = set(self.above(joints[0])).intersection(*(self.above(joint) for joint in joints[1:]))
        return max(shared, default=None)

    def below(self, joint: int) -> list[int]:
        """The joint and all its descendants."""
        found = [joint]
        for one in found:
            found += self.children[one]
        return found

    def longest(self, joint: int) -> list[int]:
        """The joints of the longest path down from ``joint``, itself first; of equal paths the first."""
        line = [joint]
        while below := self.children[line[-1]]:
            here = self.place(line[-1])
            lengths = [float(np.linalg.norm(self.place(child) - here)) + self.depth[child] for child in below]
            if max(lengths) + _APART * self.size < self.depth[line[-1]]:
                break
            line.append(below[int(np.argmax(lengths))])
        return line

    def end_site(self, joint: int) -> tuple[int, Floats] | None:
        """The joint and, in its frame, the place (3,) of its farthest end site that is apart from it, or None."""
        offsets = self.skeleton.tip_offsets[self.skeleton.tip_parents == joint]
        farthest = max(offsets, key=lambda tip: float(np.linalg.norm(tip)), default=np.zeros(3))
        return (joint, farthest) if self.apart(farthest, np.zeros(3)) else None


@lru_cache(maxsize=16)
def rest_tree(skeleton: Skeleton) -> RestTree:
    """The `RestTree` of a skeleton."""
    return RestTree(skeleton)
