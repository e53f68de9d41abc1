"""Recognising a figure: which joints are its arms, legs, spine, neck and head, from names and from the tree at rest.

Names in the common conventions decide; without them, the shape of the tree: limbs are twin branches of two long bones.
A figure has two legs or two arms, or both; quadrupeds and machines are not figures.

`find_slots` names the parts of a figure, its fingers too: ``left forearm``, ``spine 2``, ``right index 1``. A slot is a
name that two figures of different joints share. `partners` pairs the joints of left and right.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, starmap
from operator import is_
from types import MappingProxyType

import numpy as np

from viewer.skeleton.limbs import (
    ARM,
    LEG,
    STANDARD_AXES,
    Figure,
    Limb,
    Pair,
    find_axes,
    named_pair,
    on_all_fours,
    toe_of,
    twin_pairs,
)
from viewer.skeleton.names import FINGERS, body_part, finger_of, is_in_palm, swapped_names
from viewer.skeleton.skeleton import Skeleton
from viewer.skeleton.tree import RestTree, nearest_among, rest_tree, rest_world
from viewer.spatial.checks import Floats, Ints, frozen
from viewer.spatial.quaternion import unit

_CLEARLY_LOWER = 0.2
"""Ends that are lower by this part of the figure's longest path are feet."""
_MOST_BENT = np.cos(np.radians(60.0))
"""A leg bent more than this at rest is not a person's: animals walk on their toes."""
_MOST_OF_IT = 0.4
"""Without names, a single pair of twins are limbs if they are this part of the figure: a gripper's fingers are shorter.
"""
_SIDES = {"left", "right"}
_NUMBER = re.compile(r"_\d+$")
_STRAIGHT = 1.15
"""A limb's path may be this much longer than the straight line between its ends."""

ROOT, TRUNK, PELVIS, HEAD = "root", "trunk", "pelvis", "head"
SPINE, NECK = "spine", "neck"
_LIMB = {
    ARM: ("girdle", "upper arm", "forearm", "hand"),
    "leg": ("hip girdle", "thigh", "shin", "foot"),
}
TOE = "toe"


@lru_cache(maxsize=64)
def limb_middle(skeleton: Skeleton, joint: int) -> int | None:
    """The elbow or knee of the limb of a joint, fingers and toes included; None for joints of no limb. Cached."""
    figure = find_figure(skeleton)
    if figure is None:
        return None
    tops = {top: limb.lower for limb in figure.limbs for top in (limb.upper, *limb.girdle)}
    return tops.get(nearest_among(skeleton, joint, tops))


class _Shape:
    """A skeleton as a key: equal to one of the same names, tree and lengths, even if limits differ."""

    __slots__ = ("arrays", "skeleton")

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.arrays = (
            skeleton.names, skeleton.parents, skeleton.offsets, skeleton.rest_rotations,
            skeleton.tip_parents, skeleton.tip_offsets,
        )  # fmt: skip

    def __hash__(self) -> int:
        # Skeletons made from one another share their arrays, which are read-only: identical arrays are equal.
        return hash(tuple(map(id, self.arrays)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Shape) and all(map(is_, self.arrays, other.arrays))


@lru_cache(maxsize=32)
def find_figure(skeleton: Skeleton, *, any_rest: bool = False) -> Figure | None:
    """The figure that a skeleton is, or None. Cached: it is asked for everywhere, and comparing shapes takes time, too.

    ``any_rest``: every rest pose counts, such as one frame of a motion, and animals: only names and lengths of bones
    decide. Figures with a standing rest pose are found as usual; for others `Figure.upright` is False.
    """
    shape = _Shape(skeleton)
    return _found(shape) or (_found_at_any_rest(shape) if any_rest else None)


def body_joint(skeleton: Skeleton, root: int) -> int:
    """The joint of a root's tree where legs, arms and spine meet, an animal's too; the root if there are no limbs.

    Exports of games often have a root on the floor, above the body's own first joint.
    """
    path = body_path(skeleton)
    return path[0] if root in path else root


def body_path(skeleton: Skeleton) -> tuple[int, ...]:
    """The joints from where legs, arms and spine meet up to the root; () without legs.

    Those after the first carry the body and are no part of it.
    """
    return _path(_Shape(skeleton))


@lru_cache(maxsize=16)
def _path(shape: _Shape) -> tuple[int, ...]:
    tree = rest_tree(shape.skeleton)
    arms, legs = _limbs(tree) or ((), ())
    meeting = tree.common([limb.upper for limb in (*arms, *legs)]) if legs else None
    return () if meeting is None else tuple(tree.above(meeting))


@lru_cache(maxsize=16)
def _found(shape: _Shape) -> Figure | None:
    tree = rest_tree(shape.skeleton)
    limbs = _limbs(tree)
    return None if limbs is None else _figure(tree, *limbs)


@lru_cache(maxsize=16)
def _found_at_any_rest(shape: _Shape) -> Figure | None:
    tree = rest_tree(shape.skeleton)
    arms, legs = _arms_and_legs(tree) if tree.size > 0 else ((), ())
    return _figure(tree, arms, legs, any_rest=True) if arms or legs else None


def _limbs(tree: RestTree) -> tuple[tuple[Limb, ...], tuple[Limb, ...]] | None:
    """Arms and legs, one pair of which may be missing; None for a skeleton without limbs."""
    if not tree.size > 0:
        return None
    arms, legs = _arms_and_legs(tree)
    if not (arms or legs) or not all(_is_straight(tree, limb) for limb in (*arms, *legs)):
        return None
    return arms, legs


def _figure(tree: RestTree, arms: tuple[Limb, ...], legs: tuple[Limb, ...], *, any_rest: bool = False) -> Figure | None:
    hips, shoulders = _trunk(tree, legs), _trunk(tree, arms)
    first = hips if hips is not None else shoulders
    assert first is not None
    root = tree.above(first)[-1]
    pelvis = hips if hips is not None else root
    chest = shoulders if shoulders is not None else pelvis
    if tree.above(chest)[-1] != root:
        return None
    head = _head(tree, pelvis, chest, (*arms, *legs))
    named = all(limb.named for limb in (*arms, *legs))
    if not (any_rest and named) and on_all_fours(tree, pelvis, chest, arms, legs):
        return None
    axes = find_axes(tree, pelvis, chest, head, arms, legs)
    if axes is None and not any_rest:
        return None
    up, left, forward, upright = axes or STANDARD_AXES
    if upright and any(_bend(tree, leg) < _MOST_BENT for leg in legs) and not any_rest:
        return None
    upright = upright and not any_rest
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
    """Both pairs, by name where possible; () for a missing one."""
    arms, legs = named_pair(tree, ARM), named_pair(tree, LEG)
    if arms and legs:
        return arms, legs
    known = arms or legs
    taken = {branch for limb in known or () for branch in tree.below(limb.first)}
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
    """The left and right limb of a kind, as far as names identify them."""
    found = [replace(limb, kind=kind, toe=toe_of(tree, kind, limb.end)) for limb in pair or ()]
    return tuple(sorted(found, key=lambda limb: limb.side) if {limb.side for limb in found} == _SIDES else found)


def _outermost(tree: RestTree, pairs: list[Pair], known: Pair | None) -> list[Pair]:
    """The pairs, longest first, that do not hang on a limb of another pair: fingers are no limbs."""
    taken = {joint for limb in known or () for joint in tree.below(limb.first)}
    kept: list[Pair] = []
    for pair in pairs:
        if not any(limb.upper in taken for limb in pair):
            kept.append(pair)
            taken.update(joint for limb in pair for joint in tree.below(limb.first))
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
    """Whether the only pair is legs: its bones point down and no part of the figure is much lower."""
    hips = np.array([tree.place(limb.upper) for limb in pair])
    down = unit(_ends(tree, pair) - hips)[:, 1] < -0.7
    return bool(down.all() and hips[:, 1].min() > tree.world.positions[:, 1].min() + _CLEARLY_LOWER * tree.size)


def _is_straight(tree: RestTree, limb: Limb) -> bool:
    """Whether joints between upper, lower and end (twist bones) lie on the line: else there are more than two bones."""
    for start, stop, ends in ((limb.upper, limb.lower, []), (limb.lower, limb.tip[0], [tree.end(limb.tip)])):
        way = [tree.place(start), *(tree.place(joint) for joint in tree.between(start, stop)), *ends]
        if sum(starmap(math.dist, pairwise(way))) > _STRAIGHT * math.dist(way[0], way[-1]):
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
    used = {limb.first for limb in limbs} | set(tree.above(pelvis))
    free = [child for child in tree.children[chest] if child not in used and not tree.parts[child].side]
    if not free:
        return None
    return tree.longest(max(free, key=lambda child: tree.depth[child]))[-1]


def _sided(tree: RestTree, limbs: tuple[Limb, ...], left: Floats) -> tuple[Limb, ...]:
    """The two limbs as left, right: by names if these differ in side, else by position."""
    sides = {limb.side for limb in limbs}
    if not limbs or sides == _SIDES:
        return tuple(sorted(limbs, key=lambda limb: limb.side))
    one, other = sorted(limbs, key=lambda limb: -float(tree.place(limb.upper) @ left))
    return replace(one, side="left"), replace(other, side="right")


@lru_cache(maxsize=16)
def partners(skeleton: Skeleton) -> Ints:
    """(J,) the joint of the same name on the other side; joints without one are their own partners.

    Where no joint has just that name, a number at the end of names does not count: ``LeftHand_011``, ``RightHand_08``.
    """
    places = {name: joint for joint, name in enumerate(skeleton.names)}
    bare = [_NUMBER.sub("", name) for name in skeleton.names]  # programs that export glTF number its nodes
    counts = Counter(bare)
    bare_places = {name: joint for joint, name in enumerate(bare) if counts[name] == 1}
    found = np.arange(len(skeleton))
    for joint, name in enumerate(skeleton.names):
        others = [places[other] for other in swapped_names(name) if other in places]
        others += [bare_places[other] for other in swapped_names(bare[joint]) if other in bare_places]
        if body_part(name).side and others and others[0] != joint:
            found[joint] = others[0]
    # Partnership must be mutual.
    mutual = found[found] == np.arange(len(found))
    result: Ints = frozen(np.where(mutual, found, np.arange(len(found))), np.intp)
    return result


def across_of(skeleton: Skeleton) -> Floats:
    """(3,) unit direction from right to left at rest: of the figure, else from partner to partner."""
    figure = find_figure(skeleton)
    if figure is not None and figure.upright:
        return figure.left
    partner, places = partners(skeleton), rest_world(skeleton).positions
    left = [j for j, name in enumerate(skeleton.names) if partner[j] != j and body_part(name).side == "left"]
    direction = (places[left] - places[partner[left]]).sum(axis=0) if left else np.zeros(3)
    length = float(np.linalg.norm(direction))
    return direction / length if length > 0.0 else np.array([1.0, 0.0, 0.0])


@lru_cache(maxsize=16)
def find_slots(skeleton: Skeleton, figure: Figure | None = None) -> Mapping[str, int]:
    """Joints by slot, in the order trunk, head, arms with fingers, legs; empty for a skeleton without limbs.

    ``root`` is the topmost joint where it is no part of the body, ``trunk`` the body's first joint where it is not the
    pelvis; ``spine 1`` and ``neck 1`` are the lowest of their chains, ``left index 1`` is nearest to the hand and
    ``left index 0`` lies in the palm.

    Without a ``figure`` it is the one that `find_figure` finds.
    """
    figure = find_figure(skeleton, any_rest=True) if figure is None else figure
    slots: dict[str, int] = {}
    if figure is None:
        return MappingProxyType(slots)
    if figure.root not in (figure.trunk, figure.pelvis):
        slots[ROOT] = figure.root
    if figure.trunk != figure.pelvis:
        slots[TRUNK] = figure.trunk
    slots[PELVIS] = figure.pelvis
    for chain, joints in ((SPINE, figure.spine), (NECK, figure.neck)):
        slots.update({f"{chain} {number}": joint for number, joint in enumerate(joints, 1)})
    if figure.head is not None:
        slots[HEAD] = figure.head
    tree = rest_tree(skeleton)
    for limb in figure.limbs:
        slots.update(_limb_slots(tree, limb))
    return MappingProxyType(_once(slots))


def _once(slots: dict[str, int]) -> dict[str, int]:
    """Keep each joint under its last slot only: a chest that is also the pelvis keeps the more specific name."""
    last = {joint: slot for slot, joint in slots.items()}
    return {slot: joint for slot, joint in slots.items() if last[joint] == slot}


def _limb_slots(tree: RestTree, limb: Limb) -> dict[str, int]:
    girdle, upper, lower, end = (f"{limb.side} {part}" for part in _LIMB[limb.kind])
    slots = {f"{girdle} {number}": joint for number, joint in enumerate(limb.girdle, 1)}
    slots |= {upper: limb.upper, lower: limb.lower}
    if limb.end is not None:
        slots[end] = limb.end
    if limb.toe is not None:
        slots[f"{limb.side} {TOE}"] = limb.toe
    if limb.kind == ARM and limb.end is not None:
        for finger, joints in _fingers(tree, limb.end).items():
            first = 0 if len(joints) > 1 and is_in_palm(tree.skeleton.names[joints[0]]) else 1
            slots.update({f"{limb.side} {finger} {number}": joint for number, joint in enumerate(joints, first)})
    return slots


def _fingers(tree: RestTree, hand: int) -> dict[str, list[int]]:
    """Joints of the fingers under a hand, from the palm outwards, by finger; names first, then order."""
    chains = [chain for child in tree.children[hand] for chain in _chains(tree, child)]
    chains = [chain for chain in chains if not all(tree.parts[joint].helper for joint in chain)]
    named: dict[str, list[int]] = {}
    rest = []
    for chain in chains:
        word = next((word for joint in chain if (word := finger_of(tree.skeleton.names[joint]))), "")
        if word and word not in named:
            named[word] = chain
        elif not word:
            rest.append(chain)
    free = [finger for finger in FINGERS if finger not in named]
    rest = _from_thumb(tree, hand, rest)
    if len(rest) < len(free) and free[:1] == ["thumb"] and len(rest) + len(named) < len(FINGERS):
        # With fewer than five chains without names, the little finger is missing first, the thumb last.
        free = free if len(rest) > 1 else ["middle", *(finger for finger in free if finger != "middle")]
    found = named | dict(zip(free, rest, strict=False))
    return {finger: found[finger] for finger in FINGERS if finger in found}


def _chains(tree: RestTree, joint: int) -> list[list[int]]:
    """The chains at and below a joint: where it forks, one for each branch."""
    line = [joint]
    while len(tree.children[line[-1]]) == 1:
        line.append(tree.children[line[-1]][0])
    forks = [chain for child in tree.children[line[-1]] for chain in _chains(tree, child)]
    return forks or [line]


def _from_thumb(tree: RestTree, hand: int, chains: list[list[int]]) -> list[list[int]]:
    """Chains without names in the order of a hand: the thumb starts nearest to the wrist, the index beside it."""
    ordered = sorted(chains, key=lambda chain: float(np.linalg.norm(tree.place(chain[0]) - tree.place(hand))))
    if len(chains) < 3:
        return ordered
    thumb, long = ordered[0], ordered[1:]
    bases = np.array([tree.place(chain[0]) for chain in long])
    _, _, directions = np.linalg.svd(bases - bases.mean(axis=0))
    along = (bases - bases.mean(axis=0)) @ directions[0]
    if float((tree.place(thumb[0]) - bases.mean(axis=0)) @ directions[0]) < 0.0:
        along = -along
    return [thumb, *(long[index] for index in np.argsort(-along, kind="stable"))]
