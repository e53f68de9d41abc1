"""Joints rotated so that the bones below them point at known positions, from the root outwards, all frames at once.

A joint with several bones turns them all onto their positions (Kabsch, "A solution for the best rotation to relate two
sets of vectors", 1976). A joint with one bone turns as the joint above does, and from there the shortest way onto the
bone. An arm or leg turns about its upper bone so that its elbow or knee bends in the plane of the limb; where it is
straight, the angle is interpolated. A hinge turns about its own axis. Joints that are turned in the same way, and are
not above each other, are turned at once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from viewer.skeleton import JointKind, Skeleton, rest_world
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import (
    IDENTITY,
    between,
    conjugate,
    cross,
    dot,
    from_axis_angle,
    from_matrix,
    multiply,
    norm,
    normalized,
    rotate,
    twist_about,
    unit,
    wrapped,
)

_COINCIDE = 1e-6
"""Metres below which two joints coincide."""
LINE, NOISY_LINE = 0.02, 0.08
"""Bones whose second extent is less than this part of the first lie on a line; the larger number is for noise."""
_STRAIGHT, _BENT = 0.05, 0.2
"""Sines of the bend between which the weight of a limb's plane rises from 0 to 1."""
_SURE = 0.35
"""Sine of the bend below which a limb may be slightly hyperextended."""


class Arm(NamedTuple):
    """A bone that a joint turns: to a node with a known position, (3,) at rest in the world."""

    joint: int
    node: int
    rest: Floats


class _Way(IntEnum):
    """How a joint is turned; ways that come first are done first."""

    NOT = 0
    BY_SEVERAL = 1
    BY_LINE = 2
    TOP_BY_LINE = 3
    AS_HINGE = 4
    AS_LIMB = 5


class Turning:
    """Rotates the joints of a skeleton so that its nodes (joints, then end sites) come to their positions."""

    def __init__(
        self,
        skeleton: Skeleton,
        seen: Bools,
        limbs: Sequence[tuple[int, int, Floats]],
        *,
        line: float = LINE,
        loose: Collection[int] = (),
    ) -> None:
        """The bones and what turns them.

        Args:
            skeleton: its joints.
            seen: (J,) or (J + E,) nodes with known positions.
            limbs: upper and lower joint, and the flexion axis (3,) at rest in the world.
            line: bones are on one line by this part of their extent.
            loose: joints that are placed by themselves, without a bone from the joint above.
        """
        self.skeleton, self.rest = skeleton, rest_world(skeleton)
        self.parents = skeleton.parents.tolist()
        self.seen = seen[: len(skeleton)]
        fixed = skeleton.of_kind(JointKind.FIXED, JointKind.SLIDE)
        self.active = self.seen & ~(fixed & (skeleton.parents >= 0))
        self.line = line
        self.arms: dict[int, list[Arm]] = {}
        self.tops: list[int] = []
        for joint in np.flatnonzero(self.seen).tolist():
            if joint in loose:
                self.tops.append(joint)
            else:
                self._add(joint, joint, self.rest.positions[joint])
        for tip in np.flatnonzero(seen[len(skeleton) :]).tolist():
            joint = int(skeleton.tip_parents[tip])
            place = self.rest.positions[joint] + rotate(self.rest.rotations[joint], skeleton.tip_offsets[tip])
            self._add(len(skeleton) + tip, joint, place, own=True)
        self._limbs = limbs

    def _add(self, node: int, joint: int, place: Floats, *, own: bool = False) -> None:
        anchor = joint if own else self.parents[joint]
        while anchor >= 0 and not self.active[anchor]:
            anchor = self.parents[anchor]
        if anchor < 0:
            self.tops.append(node)
            return
        way = place - self.rest.positions[anchor]
        if float(np.linalg.norm(way)) > _COINCIDE:
            self.arms.setdefault(anchor, []).append(Arm(anchor, node, way))

    def solve(self, places: Floats, off: Floats) -> tuple[Floats, Floats]:
        """World rotations (F, J, 4) and positions (F, J, 3); the topmost joints are ``off`` (F, J, 3) their places."""
        skeleton, rest = self.skeleton, self.rest
        paths = np.ascontiguousarray(places.swapaxes(0, 1))
        # The rotation of each joint from rest, in the world. The joint axis comes first, so that several joints are
        # turned at once.
        away = np.empty((len(skeleton), len(places), 4))
        world = np.empty((len(skeleton), len(places), 3))
        for way, joints in self._steps:
            above = skeleton.parents[joints]
            if above[0] < 0:
                before = np.tile(IDENTITY, (len(joints), len(places), 1))
                world[joints] = rest.positions[joints][:, None]
            else:
                before = away[above]
                world[joints] = world[above] + rotate(before, (rest.positions[joints] - rest.positions[above])[:, None])
            tops = [joint for joint in joints.tolist() if joint in self.tops]
            world[tops] = paths[tops] + off[:, tops].swapaxes(0, 1)
            away[joints] = before if way is _Way.NOT else self._turned(way, joints.tolist(), before, world, paths)
        self._share_twist(away)
        turned = np.ascontiguousarray(away.swapaxes(0, 1))
        return normalized(multiply(turned, rest.rotations)), np.ascontiguousarray(world.swapaxes(0, 1))

    @cached_property
    def _steps(self) -> list[tuple[_Way, Ints]]:
        """Joints that are turned at once, after those above them. Limbs come last, arms with legs."""
        ways = [self._way(joint) for joint in range(len(self.skeleton))]
        below: dict[int, list[int]] = {}
        for joint, parent in enumerate(self.parents):
            below.setdefault(parent, []).append(joint)
        ready, steps = set(below[-1]), []
        while ready:
            way, *alike = min(ways[joint] for joint in ready)
            joints = sorted(joint for joint in ready if ways[joint] == (way, *alike))
            steps.append((way, np.array(joints)))
            ready = ready.difference(joints).union(*(below.get(joint, ()) for joint in joints))
        return steps

    def _way(self, joint: int) -> tuple[_Way, bool, int]:
        """How a joint is turned; those with the same result can be turned at once."""
        inner, arms = self.parents[joint] >= 0, self.arms.get(joint, []) if self.active[joint] else []
        if not arms:
            return _Way.NOT, inner, 0
        if self.skeleton.kinds[joint] is JointKind.HINGE:
            return _Way.AS_HINGE, inner, len(arms)
        if joint in self._planes and len(arms) == 1:
            return _Way.AS_LIMB, inner, 1
        if not self._is_line(arms):
            return _Way.BY_SEVERAL, inner, len(arms)
        return (_Way.TOP_BY_LINE, inner, joint) if joint in self.tops else (_Way.BY_LINE, inner, 0)

    def _turned(self, way: _Way, joints: list[int], before: Floats, world: Floats, paths: Floats) -> Floats:
        """(N, F, 4) some joints turned.

        ``before`` (N, F, 4): turned as the joints above them; ``world`` (J, F, 3): positions of joints so far;
        ``paths`` (N, F, 3): known positions of nodes.
        """
        arms = [self.arms[joint] for joint in joints]
        ways = [paths[[arm.node for arm in own]] - world[joint] for own, joint in zip(arms, joints, strict=True)]
        if way is _Way.AS_HINGE:
            return self._hinged(joints, before, np.stack(ways))
        if way is _Way.AS_LIMB:
            return self._in_plane(joints, before, paths, np.concatenate(ways))
        if way is _Way.BY_SEVERAL:
            rests = [rests_of(own) for own in arms]
            return np.stack([kabsch(rest, seen.swapaxes(0, 1), 1.0 / norm(rest))
                             for rest, seen in zip(rests, ways, strict=True)])  # fmt: skip
        lines = [_main(*each) for each in zip(arms, ways, strict=True)]
        if way is _Way.TOP_BY_LINE:
            hint = self._hint(joints[0], paths)
            return (_carried(*lines[0]) if hint is None else _by_two(*lines[0], *hint))[None]
        bones = rotate(before, np.stack([rest for rest, _ in lines])[:, None])
        return multiply(between(bones, _safe(np.stack([seen for _, seen in lines]), bones)), before)

    def _hint(self, joint: int, paths: Floats) -> tuple[Floats, Floats] | None:
        """A bone of a joint that coincides with the topmost one, as a spine above a pelvis: it shows where up is."""
        for other, arms in self.arms.items():
            apart = np.linalg.norm(self.rest.positions[other] - self.rest.positions[joint])
            if other != joint and apart < _COINCIDE:
                return arms[0].rest, paths[arms[0].node] - paths[joint]
        return None

    def _hinged(self, joints: list[int], before: Floats, ways: Floats) -> Floats:
        """Rotated about the hinges' axes by the angles that bring their bones nearest to ``ways`` (N, A, F, 3)."""
        axes = rotate(before, rotate(self.rest.rotations[joints], self.skeleton.axes[joints, 0])[:, None])
        axis = axes[:, None]
        bones = rotate(before[:, None], np.stack([rests_of(self.arms[joint]) for joint in joints])[:, :, None])
        flat = bones - dot(bones, axis)[..., None] * axis
        sine, cosine = dot(ways, cross(axis, flat)).sum(axis=1), dot(ways, flat).sum(axis=1)
        return multiply(from_axis_angle(axes, np.arctan2(sine, cosine)), before)

    def _in_plane(self, uppers: list[int], before: Floats, paths: Floats, ways: Floats) -> Floats:
        """Upper bones of limbs: onto their positions, and about themselves so that the limbs bend about their axes."""
        lowers = [self._planes[upper][0] for upper in uppers]
        elbows, wrists = ([self.arms[joint][0].node for joint in joints] for joints in (uppers, lowers))
        rests = np.stack([self.arms[upper][0].rest for upper in uppers])
        bones = rotate(before, rests[:, None])
        ways = _safe(ways, bones)
        swung, along = multiply(between(bones, ways), before), unit(ways)
        axes, rests = np.stack([self._planes[upper][1] for upper in uppers]), unit(rests)
        carried = rotate(swung, unit(axes - dot(axes, rests)[:, None] * rests)[:, None])
        normal = cross(along, unit(paths[wrists] - paths[elbows]))
        bend = norm(normal)
        angle = np.arctan2(dot(cross(carried, normal), along), dot(carried, normal))
        hinges = [self.skeleton.kinds[lower] is JointKind.HINGE for lower in lowers]
        twist = [_steady(*each, exact=hinge) for *each, hinge in zip(angle, bend, hinges, strict=True)]
        return multiply(from_axis_angle(along, np.stack(twist)), swung)

    @cached_property
    def _planes(self) -> dict[int, tuple[int, Floats]]:
        """Lower joint and flexion axis (3,) by the upper joint of each limb with known positions."""
        return {upper: (lower, axis) for upper, lower, axis in self._limbs if self._is_limb(upper, lower)}

    def _is_limb(self, upper: int, lower: int) -> bool:
        above, below = self.arms.get(upper, []), self.arms.get(lower, [])
        return len(above) == 1 and above[0].node == lower and len(below) >= 1 and self._is_line(below)

    def _share_twist(self, away: Floats) -> None:
        """Spread the twist between two joints with known rotations over the joints with one bone between them."""
        limbs = {joint for upper, lower, _ in self._limbs for joint in (upper, lower)}
        for joint, arms in self.arms.items():
            if self._is_line(arms) or self.skeleton.kinds[joint] is not JointKind.BALL:
                continue
            chain: list[int] = []
            above = self.parents[joint]
            while above >= 0 and self._is_middle(above, limbs):
                chain.insert(0, above)
                above = self.parents[above]
            if not chain or above < 0:
                continue
            last = self.arms[chain[-1]][0]
            relative = multiply(conjugate(away[chain[-1]]), away[joint])
            along = unit(last.rest)
            twist = twist_about(relative, along)
            for place, middle in enumerate(chain, start=1):
                part = from_axis_angle(unit(self.arms[middle][0].rest), twist * place / (len(chain) + 1))
                away[middle] = multiply(away[middle], part)

    def _is_line(self, arms: Sequence[Arm]) -> bool:
        return is_line(rests_of(arms), self.line)

    def _is_middle(self, joint: int, limbs: set[int]) -> bool:
        ball = self.skeleton.kinds[joint] is JointKind.BALL and joint not in limbs
        return ball and bool(self.active[joint]) and len(self.arms.get(joint, [])) == 1


def rests_of(arms: Sequence[Arm]) -> Floats:
    """(A, 3) bones at rest, in the world."""
    return np.array([arm.rest for arm in arms])


def is_line(rests: Floats, part: float) -> bool:
    """Whether bones (A, 3) lie on one line through their joint, so that its rotation about the line is unknown."""
    if len(rests) < 2:
        return True
    extents = np.linalg.svd(unit(rests), compute_uv=False)
    return bool(extents[1] < part * extents[0])


def _main(arms: Sequence[Arm], ways: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Bones on one line as a single bone: (3,) at rest, (F, 3) now."""
    first = arms[0].rest
    signs = [1.0 if arm.rest @ first > 0.0 else -1.0 for arm in arms]
    rest = np.sum([sign * arm.rest for sign, arm in zip(signs, arms, strict=True)], axis=0)
    return rest, np.sum([sign * way for sign, way in zip(signs, ways, strict=True)], axis=0)


def _safe(ways: Floats, otherwise: Floats) -> Floats:
    """Directions (F, 3), or others where they have no length."""
    known = np.linalg.norm(ways, axis=-1, keepdims=True) > _COINCIDE
    return np.where(known, ways, otherwise)


def _by_two(rest: Floats, way: Floats, hint: Floats, shown: Floats) -> Floats:
    """The rotation that turns a bone onto its position, and a second one as near as possible to its own."""

    def frame(first: Floats, second: Floats) -> Floats:
        x = unit(first)
        z = unit(cross(x, second))
        return np.stack([x, cross(z, x), z], axis=-1)

    return from_matrix(frame(way, shown) @ np.swapaxes(frame(rest, hint), -1, -2))


def _carried(rest: Floats, ways: Floats) -> Floats:
    """Each frame rotated from the one before by the shortest rotation, so that nothing spins about the bone."""
    turned = np.empty((len(ways), 4))
    now, direction = np.array([0.0, 0.0, 0.0, 1.0]), rest
    for frame, way in enumerate(ways):
        if float(np.linalg.norm(way)) > _COINCIDE:
            now = normalized(multiply(between(direction, way), now))
            direction = way
        turned[frame] = now
    return turned


def kabsch(rests: Floats, ways: Floats, weights: Floats) -> Floats:
    """(F, 4) the rotations that turn bones (A, 3) nearest to (F, A, 3), by weighted least squares."""
    product = np.einsum("a,fai,aj->fij", weights**2, ways, rests)
    u, _, vt = np.linalg.svd(product)
    u[..., 2] *= np.sign(np.linalg.det(u) * np.linalg.det(vt))[:, None]
    return from_matrix(u @ vt)


def _steady(angle: Floats, bend: Floats, *, exact: bool) -> Floats:
    """(F,) angles about a limb: from its plane where it is bent, interpolated where it is straight.

    ``angle`` (F,): radians, by the limb's plane; ``bend`` (F,): sine of the angle between the two bones; ``exact``: the
    lower joint is a hinge: the plane counts wherever there is one.
    """
    sure = np.flatnonzero(bend > _SURE)
    if not sure.size:
        sure = np.flatnonzero(bend >= max(float(bend.max()), _STRAIGHT))
    if not sure.size and not exact:
        return np.zeros_like(angle)
    if not sure.size:
        sure = np.array([int(np.argmax(bend))])
    between_sure = np.interp(np.arange(len(angle)), sure, np.unwrap(angle[sure]))
    off = wrapped(angle - between_sure)
    # A nearly straight limb may be hyperextended, which flips the normal of its plane.
    wrong = (np.abs(off) > 0.5 * np.pi) & (bend < _SURE)
    off = np.where(wrong, off - np.sign(off) * np.pi, off)
    low, high = (1e-6, 1e-5) if exact else (_STRAIGHT, _BENT)
    return np.asarray(between_sure + np.clip((bend - low) / (high - low), 0.0, 1.0) * off)
