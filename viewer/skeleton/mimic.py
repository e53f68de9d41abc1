"""Joints coupled across the tree: those that follow others (``mimic`` in URDF), and closed loops such as a four-bar."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, quote, unknown_name
from viewer.skeleton.limits import JointKind
from viewer.spatial.checks import Floats, Ints, finite_floats

_SAME = 1e-12
"""A coordinate this near to the one that its leader prescribes is not changed."""
_SINGLE = (JointKind.HINGE, JointKind.SLIDE)


@dataclass(frozen=True, slots=True)
class Mimic:
    """A hinge or slide that follows another one: its coordinate is ratio * leader's + offset.

    Attributes:
        joint: name of the follower.
        leader: name of its leader.
        ratio: radians or metres of the follower per radian or metre of the leader.
        offset: radians, or metres of a slide.
    """

    joint: str
    leader: str
    ratio: float = 1.0
    offset: float = 0.0


def checked_mimics(given: Iterable[Mimic], names: Sequence[str], kinds: Sequence[JointKind]) -> tuple[Mimic, ...]:
    """Mimics whose leaders follow nothing: chains are followed to their end.

    Raises:
        InputError: unknown joints, joints of other kinds, with two leaders, or in a cycle.
    """
    mimics = tuple(given)
    if not mimics:
        return ()
    index = {name: joint for joint, name in enumerate(names)}
    own: dict[str, Mimic] = {}
    for one in mimics:
        if not isinstance(one, Mimic):
            raise InputError(f"skeleton mimics: expected a Mimic, found {quote(one)}")
        for name in (one.joint, one.leader):
            if name not in index:
                raise InputError(f"skeleton mimics: {unknown_name('joint', name, names)}")
            if kinds[index[name]] not in _SINGLE:
                found = f"{quote(name)} is a {kinds[index[name]].value}"
                raise InputError(f"mimic {quote(one.joint)}: expected hinges or slides, and {found}")
        if one.joint in own:
            raise InputError(f"mimic {quote(one.joint)}: it follows {quote(own[one.joint].leader)} already")
        ratio, offset = (
            float(finite_floats(getattr(one, part), (), f"mimic {quote(one.joint)}: {part}"))
            for part in ("ratio", "offset")
        )
        own[one.joint] = replace(one, ratio=ratio, offset=offset)
    return tuple(_to_the_end(one, own) for one in own.values())


def _to_the_end(mimic: Mimic, own: dict[str, Mimic]) -> Mimic:
    """A joint's mimic of the last leader of its chain."""
    passed = [mimic.joint]
    while mimic.leader in own:
        if mimic.leader in passed:
            raise InputError(f"mimic {quote(passed[0])}: joints follow each other in a circle")
        passed.append(mimic.leader)
        above = own[mimic.leader]
        ratio, offset = mimic.ratio * above.ratio, mimic.ratio * above.offset + mimic.offset
        mimic = Mimic(mimic.joint, above.leader, ratio, offset)
    if mimic.leader in passed:
        raise InputError(f"mimic {quote(passed[0])}: joints follow each other in a circle")
    return mimic


def kept_mimics(mimics: Iterable[Mimic], names: Sequence[str], kinds: Sequence[JointKind]) -> tuple[Mimic, ...]:
    """The mimics whose joints still exist and are hinges or slides."""
    single = {name for name, kind in zip(names, kinds, strict=True) if kind in _SINGLE}
    return tuple(one for one in mimics if {one.joint, one.leader} <= single)


def renamed_mimics(mimics: Iterable[Mimic], names: Mapping[str, str]) -> list[Mimic]:
    """The mimics with new names of joints, by old names."""
    return [
        replace(one, joint=names.get(one.joint, one.joint), leader=names.get(one.leader, one.leader)) for one in mimics
    ]


class Following(NamedTuple):
    """The mimics of a skeleton as arrays; P of them.

    Attributes:
        joint, leader: (P,) indices of joints.
        ratio, offset: (P,) the coordinate is ratio * leader's + offset.
    """

    joint: Ints
    leader: Ints
    ratio: Floats
    offset: Floats

    def followed(self, coordinates: Floats) -> Floats:
        """A copy of coordinates (..., J, 3) in which followers have what their leaders prescribe."""
        if not self.joint.size:
            return coordinates
        own = coordinates[..., self.joint, 0]
        wanted = self.ratio * coordinates[..., self.leader, 0] + self.offset
        result = coordinates.copy()
        result[..., self.joint, 0] = np.where(np.abs(own - wanted) <= _SAME, own, wanted)
        return result

    def family(self, joints: Iterable[int]) -> list[int]:
        """The joints with their leaders, followers and the other followers of their leaders."""
        found = dict.fromkeys(joints)
        pairs = list(zip(self.joint.tolist(), self.leader.tolist(), strict=True))
        leaders = {leader for joint, leader in pairs if joint in found or leader in found}
        for joint, leader in pairs:
            if leader in leaders:
                found |= {leader: None, joint: None}
        return list(found)

    def lead(self, coordinates: Floats, joints: Iterable[int]) -> Floats:
        """A copy of coordinates (..., J, 3) in which leaders match those of their followers that were moved."""
        moved, result = set(joints), coordinates.copy()
        for joint, leader, ratio, offset in zip(*self, strict=True):
            if joint in moved and leader not in moved and ratio:
                result[..., leader, 0] = (coordinates[..., joint, 0] - offset) / ratio
        return result

    def shrunk(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Ranges (J, 3) in which leaders go only as far as their followers may; a range that would be empty stays."""
        lower, upper = lower.copy(), upper.copy()
        for joint, leader, ratio, offset in zip(*self, strict=True):
            if ratio == 0.0:
                continue
            ends = sorted(((lower[joint, 0] - offset) / ratio, (upper[joint, 0] - offset) / ratio))
            low, high = max(lower[leader, 0], ends[0]), min(upper[leader, 0], ends[1])
            if low <= high:
                lower[leader, 0], upper[leader, 0] = low, high
        return lower, upper


def following(mimics: Iterable[Mimic], names: Sequence[str]) -> Following:
    """The mimics as arrays."""
    index = {name: joint for joint, name in enumerate(names)}
    rows = [(index[one.joint], index[one.leader], one.ratio, one.offset) for one in mimics]
    joint, leader, ratio, offset = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Following(
        np.array(joint, dtype=np.intp), np.array(leader, dtype=np.intp), np.array(ratio, dtype=np.float64),
        np.array(offset, dtype=np.float64),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoopClosure:
    """Two places of a skeleton that stay together.

    Attributes:
        a, b: names of joints, effectors or tips.
        rigid: their joints also keep the rotation that they have to each other at rest.
    """

    a: str
    b: str
    rigid: bool = False


def checked_loops(given: Iterable[LoopClosure], known: Collection[str]) -> tuple[LoopClosure, ...]:
    """The loops whose places exist: edits that remove one open the loop.

    Raises:
        InputError: a value that is no loop, or a loop of a place with itself.
    """
    found = []
    for one in given:
        if not isinstance(one, LoopClosure):
            raise InputError(f"skeleton loops: expected a LoopClosure, found {quote(one)}")
        if one.a == one.b:
            raise InputError(f"skeleton loops: {quote(one.a)} cannot be closed with itself")
        if one.a in known and one.b in known:
            found.append(one)
    return tuple(found)


def renamed_loops(loops: Iterable[LoopClosure], names: Mapping[str, str]) -> tuple[LoopClosure, ...]:
    """The loops with new names of places, by old names."""
    return tuple(replace(one, a=names.get(one.a, one.a), b=names.get(one.b, one.b)) for one in loops)
