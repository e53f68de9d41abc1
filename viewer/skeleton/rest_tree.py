"""The tree of a skeleton at rest: places, paths and lengths, which recognising limbs and figures is about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from viewer.skeleton.kinematics import World, fk, tip_positions
from viewer.skeleton.names import body_part
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats


def unit(vectors: Floats) -> Floats:
    """(..., 3) scaled to length 1; zero where there is none."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


@lru_cache(maxsize=16)
def rest_world(skeleton: Skeleton) -> World:
    """Forward kinematics of the rest pose."""
    return fk(skeleton, skeleton.rest_pose())


_APART = 1e-3
"""Places nearer than this part of the figure's longest path are one place: joints of no length stand between bones."""


class RestTree:
    """A skeleton at rest.

    Attributes:
        skeleton: its joints.
        world: places (J, 3) and rotations (J, 4) at rest.
        parents, children: of each joint.
        tips: of each joint the world places (3,) of its end sites.
        parts: what each joint's name says.
        depth: (J,) metres from each joint along its bones to the farthest leaf or end site below.
        size: the longest such path from a root.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        """Measure the tree: one pass, linear in the number of joints."""
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
        """Whether two places are not one and the same."""
        return float(np.linalg.norm(a - b)) > _APART * self.size

    def above(self, joint: int) -> list[int]:
        """The joint and its ancestors, from the joint up to its root."""
        line = [joint]
        while (parent := self.parents[line[-1]]) >= 0:
            line.append(parent)
        return line

    def between(self, trunk: int, joint: int) -> list[int]:
        """The joints from below ``trunk``, an ancestor, down to ``joint``."""
        line = self.above(joint)
        return line[: line.index(trunk)][::-1]

    def common(self, joints: Sequence[int]) -> int | None:
        """The lowest joint that all of ``joints`` are at or below; None where their roots differ."""
        shared = set(self.above(joints[0])).intersection(*(self.above(joint) for joint in joints[1:]))
        return max(shared, default=None)

    def below(self, joint: int) -> list[int]:
        """The joint and all its descendants."""
        found = [joint]
        for one in found:
            found += self.children[one]
        return found

    def longest(self, joint: int) -> list[int]:
        """The joints of the longest path down from ``joint``, itself first; of equal ones the first."""
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
