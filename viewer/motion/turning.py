"""Joints rotated so that the bones below them point at known positions, from the root outwards, all frames at once.

A joint with several bones turns them all onto their positions (Kabsch, "A solution for the best rotation to relate two
sets of vectors", 1976). A joint with one bone turns as the joint above does, and from there the shortest way onto the
bone. An arm or leg turns about its upper bone so that its elbow or knee bends in the plane of the limb; where it is
straight, the angle is interpolated. A hinge turns about its own axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viewer.skeleton import JointKind, Skeleton, fk
from viewer.skeleton.tree import unit
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import between, conjugate, from_axis_angle, from_matrix, multiply, normalized, rotate

_COINCIDE = 1e-6
"""Metres below which two joints coincide."""
LINE, NOISY_LINE = 0.02, 0.08
"""Bones whose second extent is less than this part of the first lie on a line; the larger number is for noise."""
_STRAIGHT, _BENT = 0.05, 0.2
"""Sines of the bend between which the weight of a limb's plane rises from 0 to 1."""
_SURE = 0.35
"""Sine of the bend below which a limb may be slightly hyperextended."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A bone that a joint turns: to a node with a known position, (3,) at rest in the world."""

    joint: int
    node: int
    rest: Floats


class Turning:
    """Rotates the joints of a skeleton so that its nodes (joints, then end sites) come to their positions."""

    def __init__(self, skeleton: Skeleton, seen: Bools, limbs: Sequence[tuple[int, int, Floats]]) -> None:
        """``seen`` (J,): joints with known positions; ``limbs``: upper and lower joint, flexion axis at rest."""
        self.skeleton, self.rest = skeleton, fk(skeleton, skeleton.rest_pose())
        self.parents = skeleton.parents.tolist()
        fixed = np.array([kind in (JointKind.FIXED, JointKind.SLIDE) for kind in skeleton.kinds])
        self.active = seen & ~(fixed & (skeleton.parents >= 0))
        self.seen = seen
        self.line = LINE
        self.arms: dict[int, list[Arm]] = {}
        self.tops: list[int] = []
        for joint in np.flatnonzero(seen).tolist():
            self._add(joint, joint, self.rest.positions[joint])
        self._limbs = limbs

    def add_tips(self, seen: Bools) -> None:
        """Add end sites with known positions; ``seen`` (E,)."""
        skeleton, count = self.skeleton, len(self.skeleton)
        for tip in np.flatnonzero(seen).tolist():
            joint = int(skeleton.tip_parents[tip])
            place = self.rest.positions[joint] + rotate(self.rest.rotations[joint], skeleton.tip_offsets[tip])
            self._add(count + tip, joint, place, own=True)

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
        frames, count = len(places), len(skeleton)
        # The rotation of each joint from rest, in the world.
        away = np.empty((frames, count, 4))
        world = np.empty((frames, count, 3))
        planes = {upper: (lower, axis) for upper, lower, axis in self._limbs if self._is_limb(upper, lower)}
        hinges = {j for j, kind in enumerate(skeleton.kinds) if kind is JointKind.HINGE}
        for joint, parent in enumerate(self.parents):
            before = away[:, parent] if parent >= 0 else np.broadcast_to((0.0, 0.0, 0.0, 1.0), (frames, 4))
            if joint in self.tops:
                world[:, joint] = places[:, joint] + off[:, joint]
            elif parent < 0:
                world[:, joint] = rest.positions[joint]
            else:
                world[:, joint] = world[:, parent] + rotate(before, rest.positions[joint] - rest.positions[parent])
            arms = self.arms.get(joint, []) if self.active[joint] else []
            ways = [places[:, arm.node] - world[:, joint] for arm in arms]
            if joint in hinges:
                away[:, joint] = self._hinged(joint, before, arms, ways)
            elif joint in planes and len(arms) == 1:
                away[:, joint] = self._in_plane(joint, *planes[joint], before, places, ways[0])
            else:
                away[:, joint] = self._turned(joint, before, arms, ways, places)
        self._share_twist(away)
        return normalized(multiply(away, rest.rotations)), world

    def _is_limb(self, upper: int, lower: int) -> bool:
        above, below = self.arms.get(upper, []), self.arms.get(lower, [])
        return len(above) == 1 and above[0].node == lower and len(below) >= 1 and self._is_line(below)

    def _turned(self, joint: int, before: Floats, arms: list[Arm], ways: list[Floats], places: Floats) -> Floats:
        if not arms:
            return before
        if joint in self.tops and self._is_line(arms):
            hint = self._hint(joint, places)
            if hint is not None:
                return _by_two(*_main(arms, ways), *hint)
            return _carried(*_main(arms, ways))
        if not self._is_line(arms):
            return kabsch(rests_of(arms), np.stack(ways, axis=1), 1.0 / np.linalg.norm(rests_of(arms), axis=-1))
        rest, way = _main(arms, ways)
        return multiply(between(rotate(before, rest), _safe(way, rotate(before, rest))), before)

    def _hint(self, joint: int, places: Floats) -> tuple[Floats, Floats] | None:
        """A bone of a joint that coincides with the topmost one, as a spine above a pelvis: it shows where up is."""
        for other, arms in self.arms.items():
            apart = np.linalg.norm(self.rest.positions[other] - self.rest.positions[joint])
            if other != joint and apart < _COINCIDE:
                return arms[0].rest, places[:, arms[0].node] - places[:, joint]
        return None

    def _hinged(self, joint: int, before: Floats, arms: list[Arm], ways: list[Floats]) -> Floats:
        """Rotated about the hinge's axis by the angle that brings its bones nearest to their positions."""
        axis = rotate(self.rest.rotations[joint], self.skeleton.axes[joint, 0])
        turned_axis = rotate(before, axis)
        sine, cosine = np.zeros(len(before)), np.zeros(len(before))
        for arm, way in zip(arms, ways, strict=True):
            bone = rotate(before, arm.rest)
            flat = bone - np.einsum("fi,fi->f", bone, turned_axis)[:, None] * turned_axis
            cosine += np.einsum("fi,fi->f", way, flat)
            sine += np.einsum("fi,fi->f", way, np.cross(turned_axis, flat))
        return multiply(from_axis_angle(turned_axis, np.arctan2(sine, cosine)), before)

    def _in_plane(self, upper: int, lower: int, axis: Floats, before: Floats, places: Floats, way: Floats) -> Floats:
        """The upper bone of a limb: onto its position, and about itself so that the limb bends about ``axis``."""
        own = self.arms[upper][0]
        bone = rotate(before, own.rest)
        swung = multiply(between(bone, _safe(way, bone)), before)
        along = unit(_safe(way, bone))
        onward = places[:, self.arms[lower][0].node] - places[:, own.node]
        square = unit(axis - (axis @ unit(own.rest)) * unit(own.rest))
        carried = rotate(swung, square)
        normal = np.cross(along, unit(onward))
        bend = np.linalg.norm(normal, axis=-1)
        angle = np.arctan2(np.einsum("fi,fi->f", np.cross(carried, normal), along), (carried * normal).sum(axis=-1))
        is_hinge = self.skeleton.kinds[lower] is JointKind.HINGE
        twist = _steady(angle, bend, exact=is_hinge)
        return multiply(from_axis_angle(along, twist), swung)

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
            relative = multiply(conjugate(away[:, chain[-1]]), away[:, joint])
            along = unit(last.rest)
            twist = 2.0 * np.arctan2(relative[:, :3] @ along, relative[:, 3])
            twist = (twist + np.pi) % (2.0 * np.pi) - np.pi
            for place, middle in enumerate(chain, start=1):
                part = from_axis_angle(unit(self.arms[middle][0].rest), twist * place / (len(chain) + 1))
                away[:, middle] = multiply(away[:, middle], part)

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
    """Bones on one line as one: (3,) at rest, (F, 3) now."""
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
        z = unit(np.cross(x, second))
        return np.stack([x, np.cross(z, x), z], axis=-1)

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

    Args:
        angle: (F,) radians, by the limb's plane.
        bend: (F,) sine of the angle between the two bones.
        exact: the lower joint is a hinge: the plane counts wherever there is one.
    """
    sure = np.flatnonzero(bend > _SURE)
    if not sure.size:
        sure = np.flatnonzero(bend >= max(float(bend.max()), _STRAIGHT))
    if not sure.size and not exact:
        return np.zeros_like(angle)
    if not sure.size:
        sure = np.array([int(np.argmax(bend))])
    between_sure = np.interp(np.arange(len(angle)), sure, np.unwrap(angle[sure]))
    off = (angle - between_sure + np.pi) % (2.0 * np.pi) - np.pi
    # A nearly straight limb may be hyperextended, which flips the normal of its plane.
    wrong = (np.abs(off) > 0.5 * np.pi) & (bend < _SURE)
    off = np.where(wrong, off - np.sign(off) * np.pi, off)
    low, high = (1e-6, 1e-5) if exact else (_STRAIGHT, _BENT)
    return np.asarray(between_sure + np.clip((bend - low) / (high - low), 0.0, 1.0) * off)
