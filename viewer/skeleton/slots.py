"""The parts of a figure by name, its fingers too: ``left forearm``, ``spine 2``, ``right index 1``.

A slot is a name that two figures of different joints share. Limbs, trunk and head come from `find_figure`; fingers
from their names, and without names from their order under the hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from viewer.skeleton.figure import find_figure
from viewer.skeleton.limbs import ARM, Figure, Limb
from viewer.skeleton.names import FINGERS, finger_of, is_in_palm
from viewer.skeleton.skeleton import Skeleton
from viewer.skeleton.tree import RestTree
from viewer.spatial.checks import Floats

ROOT, TRUNK, PELVIS, HEAD = "root", "trunk", "pelvis", "head"
SPINE, NECK = "spine", "neck"
_LIMB = {
    ARM: ("girdle", "upper arm", "forearm", "hand"),
    "leg": ("hip girdle", "thigh", "shin", "foot"),
}
TOE = "toe"


def find_slots(skeleton: Skeleton, figure: Figure | None = None) -> Mapping[str, int]:
    """Joints by slot, in the order trunk, head, arms with fingers, legs; empty for a skeleton without limbs.

    ``root`` is the topmost joint where it is no part of the body, ``trunk`` the body's first joint where it is not the
    pelvis; ``spine 1`` and ``neck 1`` are the lowest of their chains, ``left index 1`` is nearest to the hand and
    ``left index 0`` lies in the palm.

    Args:
        skeleton: at any rest pose.
        figure: of the skeleton; None: the one that `find_figure` finds.
    """
    if figure is None:
        return _found(skeleton)
    slots: dict[str, int] = {}
    if figure.root not in (figure.trunk, figure.pelvis):
        slots[ROOT] = figure.root
    if figure.trunk != figure.pelvis:
        slots[TRUNK] = figure.trunk
    slots[PELVIS] = figure.pelvis
    for chain, joints in ((SPINE, figure.spine), (NECK, figure.neck)):
        slots.update({f"{chain} {number}": joint for number, joint in enumerate(joints, 1)})
    if figure.head is not None:
        slots[HEAD] = figure.head
    tree = RestTree(skeleton)
    for limb in figure.limbs:
        slots.update(_limb_slots(tree, limb))
    return MappingProxyType(_once(slots))


@lru_cache(maxsize=16)
def _found(skeleton: Skeleton) -> Mapping[str, int]:
    figure = find_figure(skeleton, any_rest=True)
    return MappingProxyType({}) if figure is None else find_slots(skeleton, figure)


def _once(slots: dict[str, int]) -> dict[str, int]:
    """Each joint under its last slot: a chest that is the pelvis too keeps the name that says more."""
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
        # Fewer than five without names: the thumb is the one that may be missing least, the little finger most.
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
    ordered = sorted(chains, key=lambda chain: _apart(tree, hand, chain))
    if len(chains) < 3:
        return ordered
    thumb, long = ordered[0], ordered[1:]
    bases = np.array([_base(tree, chain) for chain in long])
    _, _, directions = np.linalg.svd(bases - bases.mean(axis=0))
    along = (bases - bases.mean(axis=0)) @ directions[0]
    if float((_base(tree, thumb) - bases.mean(axis=0)) @ directions[0]) < 0.0:
        along = -along
    return [thumb, *(long[index] for index in np.argsort(-along, kind="stable"))]


def _base(tree: RestTree, chain: list[int]) -> Floats:
    return tree.place(chain[0])


def _apart(tree: RestTree, hand: int, chain: list[int]) -> float:
    return float(np.linalg.norm(_base(tree, chain) - tree.place(hand)))
