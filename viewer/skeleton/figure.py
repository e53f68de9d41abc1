"""Recognising a figure: which joints are its arms, legs, spine, neck and head, from names and from the tree at rest.

Names in the common conventions are believed; where they say nothing, the shape of the tree does: limbs are twin
branches of two long bones. A figure has two legs or two arms, or both; quadrupeds and machines are none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import is_
from typing import TYPE_CHECKING

import numpy as np

from viewer.skeleton.kinematics import tip_positions
from viewer.skeleton.limbs import (
    ARM,
    LEG,
    Limb,
    Pair,
    find_axes,
    named_pair,
    on_all_fours,
    rest_world,
    toe_of,
    twin_pairs,
    unit,
)
from viewer.skeleton.names import body_part
from viewer.spatial.checks import Floats

if TYPE_CHECKING:
    from viewer.skeleton.skeleton import Skeleton

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


_CLEARLY_LOWER = 0.2
"""Ends this much lower, in parts of the figure's longest path, are feet."""
_MOST_BENT = np.cos(np.radians(60.0))
"""A leg that stands bent more than this at rest is not a person's: animals walk on their toes."""
_MOST_OF_IT = 0.4
"""Twins on their own, without names, are limbs if they are this part of the figure: a gripper's fingers are less."""
_STRAIGHT = 1.15
"""Joints between a limb's two ends may not make its way longer than this."""


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """What the joints of a skeleton are.

    Attributes:
        root: the joint without a parent that carries the figure.
        trunk: the joint that pelvis and chest hang on: what else is above it, up to the root, is none of the body's.
        pelvis: the joint that the legs hang on; the root where there are none.
        chest: the joint that the arms hang on; the pelvis where there are none.
        spine: joints between, from the pelvis (not among them) to the chest (among them).
        neck: joints from the chest (not among them) to the head (not among them).
        head: or None.
        arms: left and right, or none.
        legs: left and right, or none.
        up, left, forward: (3,) unit vectors, world frame, right-angled: how the figure stands at rest.
        upright: False: the rest pose is no person's (its bones lie anywhere and the motion turns them), and the
            three directions are those that a pose should have: Y up, facing Z.
    """

    root: int
    trunk: int
    pelvis: int
    chest: int
    spine: tuple[int, ...]
    neck: tuple[int, ...]
    head: int | None
    arms: tuple[Limb, ...]
    legs: tuple[Limb, ...]
    up: Floats
    left: Floats
    forward: Floats
    upright: bool

    @property
    def limbs(self) -> tuple[Limb, ...]:
        """Arms, then legs."""
        return (*self.arms, *self.legs)


class _Shape:
    """A skeleton as a key: equal to one of the same names, tree and lengths, whatever its limits are."""

    __slots__ = ("arrays", "skeleton")

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.arrays = (
            skeleton.names, skeleton.parents, skeleton.offsets, skeleton.rest_rotations,
            skeleton.tip_parents, skeleton.tip_offsets,
        )  # fmt: skip

    def __hash__(self) -> int:
        # Skeletons made of one another share their arrays, which are read-only: the same ones are equal ones.
        return hash(tuple(map(id, self.arrays)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Shape) and all(map(is_, self.arrays, other.arrays))


def find_figure(skeleton: Skeleton) -> Figure | None:
    """The figure that a skeleton is, or None."""
    return _found(_Shape(skeleton))


@lru_cache(maxsize=16)
def _found(shape: _Shape) -> Figure | None:
    tree = RestTree(shape.skeleton)
    if not tree.size > 0:
        return None
    arms, legs = _arms_and_legs(tree)
    if not (arms or legs) or not all(_is_straight(tree, limb) for limb in (*arms, *legs)):
        return None
    return _figure(tree, arms, legs)


def _figure(tree: RestTree, arms: tuple[Limb, ...], legs: tuple[Limb, ...]) -> Figure | None:
    hips, shoulders = _trunk(tree, legs), _trunk(tree, arms)
    first = hips if hips is not None else shoulders
    assert first is not None
    root = tree.above(first)[-1]
    pelvis = hips if hips is not None else root
    chest = shoulders if shoulders is not None else pelvis
    if tree.above(chest)[-1] != root:
        return None
    head = _head(tree, pelvis, chest, (*arms, *legs))
    if on_all_fours(tree, pelvis, chest, arms, legs):
        return None
    axes = find_axes(tree, pelvis, chest, head, arms, legs)
    if axes is None:
        return None
    up, left, forward, upright = axes
    if upright and any(_bend(tree, leg) < _MOST_BENT for leg in legs):
        return None
    meeting = tree.common([pelvis, chest])
    assert meeting is not None
    neck = tree.between(chest, head)[:-1] if head is not None else []
    return Figure(
        root=root,
        trunk=meeting,
        pelvis=pelvis,
        chest=chest,
        spine=(*tree.between(meeting, pelvis)[-2::-1], *tree.between(meeting, chest)),
        neck=tuple(neck),
        head=head,
        arms=_sided(tree, arms, left),
        legs=_sided(tree, legs, left),
        up=up,
        left=left,
        forward=forward,
        upright=upright,
    )


def _trunk(tree: RestTree, limbs: tuple[Limb, ...]) -> int | None:
    return tree.common([limb.upper for limb in limbs]) if limbs else None


def _arms_and_legs(tree: RestTree) -> tuple[tuple[Limb, ...], tuple[Limb, ...]]:
    """Both pairs, by name where possible; () for one that is not there."""
    arms, legs = named_pair(tree, ARM), named_pair(tree, LEG)
    if arms and legs:
        return arms, legs
    known = arms or legs
    taken = {branch for limb in known or () for branch in _branch(tree, limb)}
    shapes = _outermost(tree, twin_pairs(tree, taken), known)
    if not known and len(shapes) == 1 and tree.depth[shapes[0][0].upper] < _MOST_OF_IT * tree.size:
        return (), ()
    if not known and len(shapes) > 1:
        first, second = shapes[:2]
        arms, legs = (first, second) if _is_lower(tree, second, first) else (second, first)
    elif shapes and (legs or (not arms and not _stands_on(tree, shapes[0]))):
        arms = shapes[0]
    elif shapes:
        legs = shapes[0]
    return _of_kind(tree, arms, ARM), _of_kind(tree, legs, LEG)


def _of_kind(tree: RestTree, pair: Pair | None, kind: str) -> tuple[Limb, ...]:
    return tuple(replace(limb, kind=kind, toe=toe_of(tree, kind, limb.end)) for limb in pair or ())


def _branch(tree: RestTree, limb: Limb) -> list[int]:
    """All joints of a limb and below it."""
    return tree.below(limb.girdle[0] if limb.girdle else limb.upper)


def _outermost(tree: RestTree, pairs: list[Pair], known: Pair | None) -> list[Pair]:
    """The pairs, longest first, that do not hang on a limb of another: hands are no bodies."""
    taken = {joint for limb in known or () for joint in _branch(tree, limb)}
    kept: list[Pair] = []
    for pair in pairs:
        if not any(limb.upper in taken for limb in pair):
            kept.append(pair)
            taken.update(joint for limb in pair for joint in _branch(tree, limb))
    return kept


def _ends(tree: RestTree, pair: Iterable[Limb]) -> Floats:
    """Places (2, 3) of the lower bones' joints: knees, elbows."""
    return np.array([tree.place(limb.lower) for limb in pair])


def _is_lower(tree: RestTree, pair: Pair, other: Pair) -> bool:
    """Whether the first of two pairs is the legs: lower at rest, else nearer to the root."""
    lower = float(_ends(tree, other)[:, 1].mean() - _ends(tree, pair)[:, 1].mean())
    if abs(lower) > _CLEARLY_LOWER * tree.size:
        return lower > 0
    return len(tree.above(pair[0].upper)) <= len(tree.above(other[0].upper))


def _stands_on(tree: RestTree, pair: Pair) -> bool:
    """Whether an only pair is legs: its bones point down and nothing of the figure is much lower."""
    hips = np.array([tree.place(limb.upper) for limb in pair])
    down = unit(_ends(tree, pair) - hips)[:, 1] < -0.7
    return bool(down.all() and hips[:, 1].min() > tree.world.positions[:, 1].min() + _CLEARLY_LOWER * tree.size)


def _is_straight(tree: RestTree, limb: Limb) -> bool:
    """Whether joints between upper, lower and end (twist bones) lie on the way: else there are more than two bones."""
    for start, stop, ends in ((limb.upper, limb.lower, []), (limb.lower, limb.tip[0], [tree.end(limb.tip)])):
        way = np.array([tree.place(start), *(tree.place(joint) for joint in tree.between(start, stop)), *ends])
        length = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
        if length > _STRAIGHT * float(np.linalg.norm(way[-1] - way[0])):
            return False
    return True


def _bend(tree: RestTree, limb: Limb) -> float:
    """Cosine of the bend between the two bones at rest."""
    middle = tree.place(limb.lower)
    return float(unit(middle - tree.place(limb.upper)) @ unit(tree.end(limb.tip) - middle))


def _head(tree: RestTree, pelvis: int, chest: int, limbs: tuple[Limb, ...]) -> int | None:
    """The joint below the chest called head, else the last one of the longest branch that is no limb or spine."""
    for joint, part in enumerate(tree.parts):
        if part.part == "head" and not part.helper and chest in tree.above(joint)[1:]:
            return joint
    used = {limb.girdle[0] if limb.girdle else limb.upper for limb in limbs} | set(tree.above(pelvis))
    free = [child for child in tree.children[chest] if child not in used and not tree.parts[child].side]
    if not free:
        return None
    return tree.longest(max(free, key=lambda child: tree.depth[child]))[-1]


def _sided(tree: RestTree, limbs: tuple[Limb, ...], left: Floats) -> tuple[Limb, ...]:
    """Left, then right: by names if they tell them apart, else by place."""
    sides = {limb.side for limb in limbs}
    if not limbs or sides == {"left", "right"}:
        return tuple(sorted(limbs, key=lambda limb: limb.side))
    one, other = sorted(limbs, key=lambda limb: -float(tree.place(limb.upper) @ left))
    return replace(one, side="left"), replace(other, side="right")
