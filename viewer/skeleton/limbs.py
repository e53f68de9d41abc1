"""Finding the arms and legs of a skeleton: by the names of hands and feet, else by the shape of the tree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from viewer.skeleton.rest_tree import RestTree
    from viewer.spatial.checks import Floats

ARM, LEG = "arm", "leg"
_ENDS = {ARM: ("hand", "wrist"), LEG: ("foot", "ankle")}
_MIDDLES = {ARM: "elbow", LEG: "knee"}
_UPPERS = {ARM: "upper arm", LEG: "upper leg"}

_LONG = 0.25
"""A branch this long, measured in the figure's longest path, may be a limb: fingers are shorter."""
_UNLIKE = 0.2
"""Twin branches differ less than this: bone by bone, in parts of their lengths."""
_MOST_BRANCHES = 6
_MIDDLE = 0.1
"""Twin bones that start nearer to each other than this, in their length, start in the middle of the body."""


@dataclass(frozen=True, slots=True)
class Limb:
    """An arm or a leg.

    Attributes:
        kind: "arm" or "leg".
        side: "left" or "right"; "" until it is known.
        girdle: its own joints between the body and the upper bone, such as a clavicle, from the body outwards.
        upper: upper arm or thigh: turns about the shoulder or hip.
        lower: forearm or shin: turns about the elbow or knee.
        end: hand or foot; None where the lower bone ends in an end site.
        tip: where the lower bone ends: a joint, and a place (3,) in its frame. The hand or foot itself; else an end
            site, of the lower joint or of one that stands in the same place.
        toe: first joint of the toes, or None.
        named: found by name, not by shape.
    """

    kind: str
    side: str
    girdle: tuple[int, ...]
    upper: int
    lower: int
    end: int | None
    tip: tuple[int, Floats]
    toe: int | None = None
    named: bool = False


Pair = tuple[Limb, Limb]


def named_pair(tree: RestTree, kind: str) -> Pair | None:
    """Left and right arm or leg by the names of their ends, or of elbows and knees where these end in an end site."""
    for words, ends in ((_ENDS[kind], True), ((_MIDDLES[kind],), False)):
        found = [_first(tree, side, words) for side in ("left", "right")]
        left, right = found
        if left is not None and right is not None:
            trunk = tree.common([left, right])
            if trunk is None or trunk in found:
                return None
            limbs = [_named(tree, kind, side, trunk, joint, ends) for side, joint in (("left", left), ("right", right))]
            return (limbs[0], limbs[1]) if limbs[0] and limbs[1] else None
    return None


def _first(tree: RestTree, side: str, words: tuple[str, ...]) -> int | None:
    """The joint of that side nearest to the root whose name is one of these parts."""
    for joint, part in enumerate(tree.parts):
        if part.side == side and part.part in words and not part.helper:
            return joint
    return None


def _named(tree: RestTree, kind: str, side: str, trunk: int, last: int, ends: bool) -> Limb | None:
    path = tree.between(trunk, last)
    end, above = (last, path[:-1]) if ends else (None, path)
    tip = (last, np.zeros(3)) if ends else tree.end_site(last)
    lower = None if tip is None else _nearest(tree, above, tree.end(tip), _MIDDLES[kind])
    if tip is None or lower is None:
        return None
    above = above[: above.index(lower)]
    upper = _nearest(tree, above, tree.place(lower), _UPPERS[kind])
    if upper is None:
        return None
    girdle = tuple(above[: above.index(upper)])
    return Limb(kind, side, girdle, upper, lower, end, tip, toe_of(tree, kind, end), named=True)


def _nearest(tree: RestTree, path: list[int], place: Floats, part: str) -> int | None:
    """Of a path the topmost joint whose name is the part, else the last that is apart from the place."""
    able = [joint for joint in path if tree.apart(tree.place(joint), place)]
    named = [joint for joint in able if tree.parts[joint].part == part and not tree.parts[joint].helper]
    plain = [joint for joint in able if not tree.parts[joint].helper] or able
    return named[0] if named else (plain[-1] if plain else None)


def toe_of(tree: RestTree, kind: str, foot: int | None) -> int | None:
    """The joint below a foot that is farthest from it, of its own children."""
    if kind != LEG or foot is None:
        return None
    here = tree.place(foot)
    toes = [child for child in tree.children[foot] if tree.apart(tree.place(child), here)]
    return max(toes, key=lambda toe: float(np.linalg.norm(tree.place(toe) - here)), default=None)


def twin_pairs(tree: RestTree, taken: set[int]) -> list[Pair]:
    """Pairs of long branches of one joint that are alike, longest first; legs are not told from arms yet."""
    pairs: list[tuple[float, Pair]] = []
    for children in tree.children:
        long = [child for child in children if child not in taken and tree.depth[child] > _LONG * tree.size]
        if not 2 <= len(long) <= _MOST_BRANCHES:
            continue
        lines = {child: _nodes(tree, child) for child in long}
        alike = [(unlike, a, b) for a, b in combinations(long, 2) if (unlike := _unlike(lines[a], lines[b])) < _UNLIKE]
        # Three alike are the fingers of a claw or the legs of a spider.
        if len(alike) == 1:
            _, a, b = alike[0]
            limbs = [_shaped(tree, one, lines[one], lines[other]) for one, other in ((a, b), (b, a))]
            if limbs[0] and limbs[1]:
                pairs.append((tree.depth[a], (limbs[0], limbs[1])))
    return [pair for _, pair in sorted(pairs, key=lambda found: -found[0])]


Nodes = list[tuple[int | None, "Floats"]]


def _nodes(tree: RestTree, child: int) -> Nodes:
    """Joints and places down the longest path, of joints in one place the first; an end site comes last."""
    nodes: Nodes = []
    for joint in tree.longest(child):
        if not nodes or tree.apart(nodes[-1][1], tree.place(joint)):
            nodes.append((joint, tree.place(joint)))
    last = tree.end_site(tree.longest(child)[-1])
    return [*nodes, (None, tree.end(last))] if last is not None else nodes


def _lengths(nodes: Nodes) -> Floats:
    places = np.array([place for _, place in nodes])
    return np.asarray(np.linalg.norm(np.diff(places, axis=0), axis=1))


def _unlike(a: Nodes, b: Nodes) -> float:
    """Difference of two lines bone by bone, in parts of their lengths: 0 for twins."""
    first, second = _lengths(a), _lengths(b)
    count = max(len(first), len(second))
    first, second = np.pad(first, (0, count - len(first))), np.pad(second, (0, count - len(second)))
    total = float(first.sum() + second.sum())
    return 2.0 * float(np.abs(first - second).sum()) / total if total > 0 else 1.0


def _shaped(tree: RestTree, child: int, nodes: Nodes, twin: Nodes) -> Limb | None:
    """The limb whose two long bones are the longest neighbours of a line; ``kind`` is still "" here.

    Collarbones may be as long, but start where those of the twin do: in the middle of the body.
    """
    lengths = _lengths(nodes)
    if len(lengths) < 2:
        return None
    gaps = [float(np.linalg.norm(a - b)) for (_, a), (_, b) in zip(nodes, twin, strict=False)]
    gaps += [np.inf] * (len(lengths) - len(gaps))
    able = [gap > _MIDDLE * length for gap, length in zip(gaps, lengths, strict=False)]
    products = [a * b * (beside or not any(able)) for (a, b), beside in zip(pairwise(lengths), able, strict=False)]
    (upper, _), (lower, _), (end, _) = nodes[int(np.argmax(products)) :][:3]
    tip = (end, np.zeros(3)) if end is not None else tree.end_site(tree.longest(child)[-1])
    if upper is None or lower is None or tip is None:
        return None
    path = tree.between(tree.parents[child], upper)
    sides = [tree.parts[joint].side for joint in (*path, lower) if tree.parts[joint].side]
    return Limb("", sides[0] if sides else "", tuple(path[:-1]), upper, lower, end, tip)
