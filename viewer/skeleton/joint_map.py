"""Finds the corresponding joints of two skeletons.

Parts of the body decide where both are figures: ``LeftShoulder`` is a collarbone in one file and an upper arm in
another. Joints that are no part of a figure, and all joints of machines and animals, are paired by their names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, quote, unknown_name
from viewer.skeleton.figure import NECK, PELVIS, ROOT, SPINE, TRUNK, find_slots
from viewer.skeleton.names import body_part
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Ints

SURE = 0.75
"""Pairs of at least this certainty need no check by the user."""
_SAME, _NAMED, _PART, _ALIKE, _SPREAD = 1.0, 0.95, 0.9, 0.6, 0.55
"""Certainties of pairs, by how they were found."""
_LENGTHS_AGREE = 0.01
"""Two trees are the same if the lengths of their bones have one ratio, within this part."""
_LETTERS = re.compile(r"[^0-9a-z]+")
_CHAINS = (SPINE, NECK)

Reference = str | int
"""Where a skeleton's neutral pose is: "auto", "rest", or a frame of its clip."""


@dataclass(frozen=True, slots=True)
class Map:
    """Pairs of joints of two skeletons, a source and a target.

    Attributes:
        pairs: names of the target's joints by names of the source's.
        certainty: 0 to 1 of each pair, by the source's joint: `SURE` and more need no check. 1: given by hand.
        unmatched: the target's joints without a partner; they keep their rest rotation under their parents.
        by_hand: the source's joints whose pairs a user gave; those of them that are not in ``pairs`` have no partner.
        source_reference, target_reference: where the neutral poses are: "auto", "rest" or a frame.
    """

    pairs: Mapping[str, str]
    certainty: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    unmatched: tuple[str, ...] = ()
    by_hand: frozenset[str] = frozenset()
    source_reference: Reference = "auto"
    target_reference: Reference = "auto"

    def __repr__(self) -> str:
        return f"<Map: {len(self.pairs)} pairs, {len(self.doubtful)} to check, {len(self.unmatched)} without a partner>"

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The source's joints of the pairs that are less than `SURE`."""
        return tuple(name for name in self.pairs if self.certainty.get(name, 1.0) < SURE)


class JointPair(NamedTuple):
    """One pair: joints of source and target, and how certain it is."""

    source: int
    target: int
    certainty: float


def find_map(source: Skeleton, target: Skeleton) -> Map:
    """The pairs that names, parts of the body and order under a common parent show."""
    return map_of(source, target, find_pairs(source, target))


def map_of(source: Skeleton, target: Skeleton, pairs: Iterable[JointPair]) -> Map:
    """A `Map` of joints by name, in the order of the source's joints."""
    ordered = sorted(pairs, key=lambda pair: pair.source)
    paired = {pair.target for pair in ordered}
    return Map(
        pairs=MappingProxyType({source.names[pair.source]: target.names[pair.target] for pair in ordered}),
        certainty=MappingProxyType({source.names[pair.source]: pair.certainty for pair in ordered}),
        unmatched=tuple(name for joint, name in enumerate(target.names) if joint not in paired),
    )


def without_crossings(source: Skeleton, target: Skeleton, pairs: Iterable[JointPair]) -> list[JointPair]:
    """The pairs without those that are above the partner of an ancestor, as in a spine that hangs on the chest."""
    ancestors = _ancestors(target)
    by_source = {pair.source: pair for pair in pairs}
    kept: list[JointPair] = []
    # Of each joint of the source: the target's joints that are above the partners of its ancestors.
    over: list[set[int]] = []
    for joint, parent in enumerate(source.parents.tolist()):
        above = over[parent] if parent >= 0 else set()
        pair = by_source.get(joint)
        if pair is not None and pair.target not in above:
            kept.append(pair)
            above = above | ancestors[pair.target]
        over.append(above)
    return kept


def with_pairs(automatic: Map, given: Mapping[str, str | None], source: Skeleton, target: Skeleton) -> Map:
    """The map with pairs that a user gives in place of its own: the target's joints by the source's, None: no partner.

    Raises:
        InputError: unknown names (similar ones are offered), two joints on one, a joint that is mapped above
            the partner of its ancestor.
    """
    taken: dict[str, str] = {}
    for name, other in given.items():
        if name not in source.names:
            raise InputError(f"map: source: {unknown_name('joint', name, source.names)}")
        if other is None:
            continue
        if other not in target.names:
            raise InputError(f"map: target: {unknown_name('joint', other, target.names)}")
        first = taken.setdefault(other, name)
        if first != name:
            raise InputError(f"map: {quote(first)} and {quote(name)} are both mapped to {quote(other)}: expected one")
    kept = {name: other for name, other in automatic.pairs.items() if name not in given and other not in taken}
    pairs = kept | {name: other for name, other in given.items() if other is not None}
    _check_order(pairs, given, source, target)
    ordered = {name: pairs[name] for name in source.names if name in pairs}
    partners = set(ordered.values())
    return Map(
        pairs=MappingProxyType(ordered),
        certainty=MappingProxyType({n: 1.0 if n in given else automatic.certainty.get(n, 1.0) for n in ordered}),
        unmatched=tuple(name for name in target.names if name not in partners),
        by_hand=automatic.by_hand | given.keys(),
        source_reference=automatic.source_reference,
        target_reference=automatic.target_reference,
    )


def _check_order(pairs: dict[str, str], given: Mapping[str, str | None], source: Skeleton, target: Skeleton) -> None:
    """Raise InputError where a pair given by hand puts a joint above the partner of one of its ancestors.

    Pairs found without a hand that cross one given by hand are dropped.
    """
    for name in [name for name in given if name in pairs]:
        joint, other = source.index(name), target.index(pairs[name])
        for second in [second for second in pairs if second != name]:
            joint2, other2 = source.index(second), target.index(pairs[second])
            crossed = (_is_above(source, joint2, joint) and _is_above(target, other, other2)) or (
                _is_above(source, joint, joint2) and _is_above(target, other2, other)
            )
            if not crossed:
                continue
            if second not in given:
                del pairs[second]
                continue
            child, parent = (name, second) if _is_above(source, joint2, joint) else (second, name)
            raise InputError(
                f"map: {quote(child)} is below {quote(parent)}, but its partner {quote(pairs[child])} is above "
                f"{quote(pairs[parent])}: expected the same order"
            )


def _is_above(skeleton: Skeleton, ancestor: int, joint: int) -> bool:
    return ancestor in _ancestors(skeleton)[joint]


@lru_cache(maxsize=16)
def _ancestors(skeleton: Skeleton) -> list[set[int]]:
    found: list[set[int]] = []
    for parent in skeleton.parents.tolist():
        found.append({parent} | found[parent] if parent >= 0 else set())
    return found


def counterparts(source: Skeleton, target: Skeleton) -> Ints:
    """(J,) for each joint of the target its joint of the source, or -1."""
    found = np.full(len(target), -1, dtype=np.intp)
    for pair in find_pairs(source, target):
        found[pair.target] = pair.source
    return found


def find_pairs(
    source: Skeleton,
    target: Skeleton,
    source_slots: Mapping[str, int] | None = None,
    target_slots: Mapping[str, int] | None = None,
) -> list[JointPair]:
    """Pairs of joints, in the order in which they were found.

    The same tree under other names and in another scale is paired joint by joint. Otherwise figures are paired by slot,
    their spines and necks from both ends; then joints with equal names, with names that are equal without prefix, case
    and separators, and joints whose names have the same side and part of the body.

    Joints by slot are, unless given, as `find_slots` has them.
    """
    if is_same_tree(source, target):
        same = source.names == target.names
        return [JointPair(joint, joint, _SAME if same else _NAMED) for joint in range(len(source))]
    its = find_slots(source) if source_slots is None else source_slots
    mine = find_slots(target) if target_slots is None else target_slots
    found = _Found()
    if its and mine:
        for slot, joint in mine.items():
            if slot in its and not slot.startswith(_CHAINS):
                known = body_part(target.names[joint]).part and body_part(source.names[its[slot]]).part
                found.take(its[slot], joint, _NAMED if known or slot in (PELVIS, ROOT) else _PART)
        for chain in _CHAINS:
            found.spread(joints_of_chain(its, chain), joints_of_chain(mine, chain))
        for extra in (TRUNK, ROOT):
            if extra in mine and extra not in its and PELVIS in its and PELVIS not in mine:
                found.take(its[PELVIS], mine[extra], _ALIKE)
    in_figure = set(its.values()), set(mine.values())
    keys: list[tuple[Callable[[Skeleton], dict[str, int]], float]] = [
        (lambda skeleton: {name: joint for joint, name in enumerate(skeleton.names)}, _SAME),
        (_plain_names, _PART),
        (_parts, _ALIKE),
    ]
    for keyed, certainty in keys:
        others = keyed(source)
        for key, joint in keyed(target).items():
            other = others.get(key, -1)
            # A part whose slot the other figure lacks is not paired with something else of the same name.
            if other >= 0 and not (its and mine and (other in in_figure[0]) != (joint in in_figure[1])):
                found.take(other, joint, certainty)
    return [pair for pair in found.pairs if not (its and mine) or not _crosses(source, target, pair, found.pairs)]


class _Found:
    """Pairs so far, each joint in one of them."""

    def __init__(self) -> None:
        self.pairs: list[JointPair] = []
        self._sources: set[int] = set()
        self._targets: set[int] = set()

    def take(self, source: int, target: int, certainty: float) -> None:
        if source not in self._sources and target not in self._targets:
            self.pairs.append(JointPair(source, target, certainty))
            self._sources.add(source)
            self._targets.add(target)

    def spread(self, its: Sequence[int], mine: Sequence[int]) -> None:
        """Pair two chains: each joint of the shorter one gets the nearest of the longer, counted from the end."""
        few, many = sorted((len(mine), len(its)))
        certainty = _NAMED if few == many else _SPREAD
        for place in range(few):
            at = round((place + 1) * many / few) - 1
            self.take(its[place if len(its) == few else at], mine[place if len(mine) == few else at], certainty)


def _crosses(source: Skeleton, target: Skeleton, pair: JointPair, pairs: Sequence[JointPair]) -> bool:
    """Whether a doubtful pair contradicts the order of a surer one."""
    return pair.certainty < SURE and any(
        _is_above(source, other.source, pair.source) and _is_above(target, pair.target, other.target)
        for other in pairs
        if other.certainty > pair.certainty
    )


def joints_of_chain(slots: Mapping[str, int], chain: str) -> list[int]:
    """The joints of a chain such as ``spine``, in the order of its slots."""
    return [joint for slot, joint in slots.items() if slot.startswith(f"{chain} ")]


@lru_cache(maxsize=16)
def is_same_tree(one: Skeleton, other: Skeleton) -> bool:
    """Whether two skeletons have the same joints in the same order but for names, frames and scale."""
    if len(one) != len(other) or not np.array_equal(one.parents, other.parents):
        return False
    lengths = [np.linalg.norm(skeleton.offsets[skeleton.parents >= 0], axis=1) for skeleton in (one, other)]
    totals = [float(some.sum()) for some in lengths]
    if not all(total > 0.0 for total in totals):
        return one.names == other.names
    shares = [some / total for some, total in zip(lengths, totals, strict=True)]
    return bool(np.abs(shares[0] - shares[1]).max() < _LENGTHS_AGREE * shares[0].max())


def _plain_names(skeleton: Skeleton) -> dict[str, int]:
    """Joints by bare name, if only one has it."""
    return _unique([_LETTERS.sub("", name.rpartition(":")[2].casefold()) for name in skeleton.names])


def _parts(skeleton: Skeleton) -> dict[str, int]:
    """Joints by side and part of the body, if only one has them."""
    parts = [body_part(name) for name in skeleton.names]
    return _unique([f"{part.side} {part.part}" if part.part and not part.helper else "" for part in parts])


def _unique(keys: Sequence[str]) -> dict[str, int]:
    counts = Counter(keys)
    return {key: joint for joint, key in enumerate(keys) if key and counts[key] == 1}
