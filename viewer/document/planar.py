"""Bodies that stay in a plane of the world: poses rotated into it, and the rig by which they are solved there.

A bone across the plane, as shoulders are seen from the side, stays across it; its descendants move in a parallel plane
at constant distance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from viewer.errors import InputError, unknown_name
from viewer.ik.mobility import MOST, REFERENCE, spread_about, spreads
from viewer.ik.solution import Solution
from viewer.skeleton import (
    Bodies,
    FreeNames,
    Inertia,
    JointKind,
    JointLimits,
    Pose,
    Skeleton,
    World,
    fk,
    joint_space,
    limit_violation,
    project_pose,
    world_of,
)
from viewer.skeleton.limits import Mimic, kept_mimics
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import (
    IDENTITY,
    angle_between,
    between,
    conjugate,
    from_axis_angle,
    multiply,
    rotate,
    slerp,
)

PLANES = ("xy", "yz", "zx")
"""World planes, named by the axes that span them."""
_STEEPEST, _TURN = np.sin(np.radians(60.0)), np.cos(np.radians(60.0))
"""Bones and hinges more than this out of the plane stay as they are."""
_FAINT = 1e-6
"""Relative weight of the plane's normal against the bones' directions."""
_SEEN = 0.5 * np.radians(0.5)
"""Half of the smallest rotation that is visible."""
_ALONG = 1e-6
"""Angle, radians, below which an axis and a direction are parallel."""
_STEPS = 72
"""Samples of a full turn before the ends of a range are bisected."""
_HALVINGS = 28
_INSIDE = 1e-10
_ONE_OF_TWO = 0.999
"""Cosine above which an axis is parallel to the normal."""
_FLAT = 1e-6
"""Distance from a plane, radians or metres, within which a pose is in it."""
_OUTSIDE = 1e-9
"""Distance from limits, radians or metres, within which a pose is inside."""
_BISECTIONS = 40


def flattened(skeleton: Skeleton, pose: Pose, plane: str, *, limits: bool) -> Pose:
    """The pose with its bones rotated into a plane of the world, from the roots outwards, each as little as possible.

    Where limits bind, a joint whose limits exclude the plane goes as near to it as they allow.
    """
    normal = normal_of(plane)
    start = project_pose(skeleton, pose) if limits else pose
    rotations, world = start.rotations.copy(), np.zeros_like(pose.rotations)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        above = world[parent] if parent >= 0 else IDENTITY
        world[joint] = multiply(above, rotations[joint])
        wanted = _wanted(skeleton, start, joint, world[joint], normal)
        rotation = _correction(skeleton, joint, world[joint], wanted, normal)
        if rotation is None:
            continue
        rotations[joint] = multiply(conjugate(above), multiply(rotation, world[joint]))
        if limits and skeleton.limits[joint] is not None:
            rotations[joint] = project_pose(skeleton, Pose(rotations, start.translations)).rotations[joint]
        world[joint] = multiply(above, rotations[joint])
    return Pose(rotations, start.translations)


def out_of(skeleton: Skeleton, pose: Pose, plane: str) -> list[int]:
    """Joints whose bones are visibly out of a plane and could be turned into it if limits allowed it."""
    normal, world, found = normal_of(plane), world_of(skeleton, pose).rotations, []
    for joint in range(len(skeleton)):
        wanted = _wanted(skeleton, pose, joint, world[joint], normal)
        rotation = _correction(skeleton, joint, world[joint], wanted, normal)
        if rotation is not None and float(np.linalg.norm(rotation[:3])) > _SEEN:
            found.append(joint)
    return found


def _correction(skeleton: Skeleton, joint: int, world: Floats, wanted: Floats, normal: Floats) -> Floats | None:
    """(4,) rotation, world frame, that brings a direction to the normal, or as near as a hinge can; None: leave it."""
    kind = skeleton.kinds[joint]
    if wanted @ normal < _TURN or kind not in {JointKind.BALL, JointKind.FREE, JointKind.HINGE}:
        return None
    if kind is not JointKind.HINGE:
        return between(wanted, normal)
    axis = rotate(world, skeleton.axes[joint, 0])
    directions = [direction - (direction @ axis) * axis for direction in (wanted, normal)]
    if min(np.linalg.norm(direction) for direction in directions) < _FAINT:
        return None
    return between(*directions)


def _wanted(skeleton: Skeleton, pose: Pose, joint: int, rotation: Floats, normal: Floats) -> Floats:
    """(3,) the unit direction that a joint should rotate to the normal: of hinge children first, then of its bones."""
    axes, bones = [], []
    for child in np.flatnonzero(skeleton.parents == joint).tolist():
        bones.append(rotate(rotation, pose.translations[child]))
        if skeleton.kinds[child] is JointKind.HINGE:
            axis = rotate(multiply(rotation, skeleton.rest_rotations[child]), skeleton.axes[child, 0])
            axes.append(axis if axis @ normal >= 0.0 else -axis)
    tips = skeleton.tip_offsets[skeleton.tip_parents == joint]
    bones += [rotate(rotation, tip) for tip in tips]
    near = [axis for axis in axes if np.linalg.norm(np.cross(axis, normal)) <= _STEEPEST]
    if near:
        total = np.sum(near, axis=0)
        return np.asarray(total / np.linalg.norm(total))
    flat = [bone for bone in bones if abs(bone @ normal) <= _STEEPEST * np.linalg.norm(bone)]
    spread = np.einsum("ni,nj->ij", flat, flat) if flat else np.zeros((3, 3))
    size = float(np.trace(spread))
    if size == 0.0:
        return normal
    # Directions across all bones are kept, those along a bone nearly vanish; applied twice for precision.
    across = np.linalg.inv(spread / size + _FAINT * np.eye(3))
    found = across @ across @ normal
    return np.asarray(found / np.linalg.norm(found))


def normal_of(plane: str) -> Floats:
    """(3,) the unit normal of a plane, towards the viewer."""
    if plane not in PLANES:
        raise InputError(unknown_name("plane", plane, PLANES))
    result = np.zeros(3)
    result[("yz", "zx", "xy").index(plane)] = 1.0
    return result


def _able(skeleton: Skeleton, world: World, normal: Floats, joint: int) -> bool:
    """Whether a joint can rotate about the normal (slides: move across it); True for fixed joints."""
    kind, (first, second) = skeleton.kinds[joint], skeleton.axes[joint]
    if not kind.axes:
        return True
    if kind is JointKind.HINGE:
        return _along(rotate(world.rotations[joint], first), normal)
    parent = int(skeleton.parents[joint])
    above = skeleton.rest_rotations[joint]
    if parent >= 0:
        above = multiply(world.rotations[parent], above)
    if kind is JointKind.SLIDE:
        return bool(abs(rotate(above, first) @ normal) < _ALONG)
    return _along(rotate(above, first), normal) or _along(rotate(world.rotations[joint], second), normal)


def _along(axis: Floats, normal: Floats) -> bool:
    return bool(np.linalg.norm(np.cross(axis, normal)) < _ALONG)


def ranges(skeleton: Skeleton, pose: Pose, axes: Floats, joints: Bools) -> Floats:
    """(J, 2) ranges, radians, by which joints can rotate about axes of their own frames within their limits.

    From a pose outside the limits: the nearest range inside, or (0, 0) if there is none. Infinite if no limit is met
    in a full turn.

    The pose is the zero of the angles, axes (J, 3) are unit vectors; rows of joints that are not in the mask are
    undefined.
    """
    result = np.tile([-np.inf, np.inf], (len(skeleton), 1))
    limited = [joint for joint in np.flatnonzero(joints).tolist() if skeleton.limits[joint] is not None]
    if not limited:
        return result
    space, around = joint_space(skeleton), np.linspace(-np.pi, np.pi, _STEPS + 1)

    def inside(angles: Floats) -> Bools:
        """(N, J) whether joints rotated by angles (N, J) are within their limits."""
        turned = multiply(pose.rotations, from_axis_angle(axes, angles))
        excess = space.excess(space.measure(turned, np.broadcast_to(pose.translations, (*turned.shape[:-1], 3))))
        return np.asarray(excess <= _INSIDE)

    found = inside(np.repeat(around[:, None], len(skeleton), axis=1))
    ends, beyond = np.zeros((2, len(skeleton))), np.zeros((2, len(skeleton)))
    middle = _STEPS // 2
    for joint in limited:
        good = np.flatnonzero(found[:, joint])
        if len(good) == 0:
            result[joint] = 0.0
        elif len(good) < len(around):
            low = high = int(good[np.argmin(np.abs(good - middle))])
            while low > 0 and found[low - 1, joint]:
                low -= 1
            while high < _STEPS and found[high + 1, joint]:
                high += 1
            ends[:, joint] = around[[low, high]]
            beyond[:, joint] = around[[max(low - 1, 0), min(high + 1, _STEPS)]]
            result[joint] = ends[:, joint]
    for _ in range(_HALVINGS):
        half = 0.5 * (ends + beyond)
        good_now = inside(half)
        ends, beyond = np.where(good_now, half, ends), np.where(good_now, beyond, half)
    return np.where(np.isfinite(result[:, :1]), ends.T, result)


@dataclass(frozen=True, slots=True, eq=False)
class PlanarRig:
    """The skeleton that the solver gets for a planar document.

    A free root is the child of two slides within the plane, which come first; all other joints follow in order.
    Joints that cannot move within the plane are fixed.

    Attributes:
        skeleton: slides and joints.
        still: (S,) slides of the document's skeleton that cannot move within the plane.
        places: (S, 3) their translations, metres.
        roots: (R,) indices of the free roots in the document's skeleton.
        origins: (R, 3) their positions while their slides are at 0, metres.
        across: (2, 3) unit directions of the slides, world frame.
        base: the document's pose at which all angles are 0, inside the limits that bind.
        limited: the document's skeleton with the limits that bind; None if none do.
    """

    skeleton: Skeleton
    still: Ints
    places: Floats
    roots: Ints
    origins: Floats
    across: Floats
    base: Pose
    limited: Skeleton | None

    @property
    def _slides(self) -> int:
        return 2 * len(self.roots)

    def lifted(self, pose: Pose) -> Pose:
        """Convert a pose of the document's skeleton to the rig; a root's distance from its plane is lost."""
        rotations = np.concatenate([np.tile(IDENTITY, (self._slides, 1)), pose.rotations])
        moved = pose.translations.copy()
        moved[self.still] = self.places
        along = (moved[self.roots] - self.origins) @ self.across.T
        first = self.origins + along[:, :1] * self.across[0]
        second = along[:, 1:] * self.across[1]
        moved[self.roots] = 0.0
        slid = np.stack([first, second], axis=1).reshape(-1, 3)
        return Pose(rotations, np.concatenate([slid, moved]))

    def lowered(self, pose: Pose) -> Pose:
        """Convert a pose of the rig to the document's skeleton."""
        rotations, translations = pose.rotations[self._slides :], pose.translations[self._slides :].copy()
        slid = pose.translations[: self._slides].reshape(-1, 2, 3)
        translations[self.roots] += slid.sum(axis=1)
        return Pose(rotations, translations)

    def nearest(self, pose: Pose, *, limits: bool) -> Pose:
        """The nearest pose, joint by joint, in the planes and, if ``limits``, within the limits."""
        found = self.lowered(project_pose(self.skeleton, self.lifted(pose), limits=limits))
        return self._inside(found) if limits else found

    def _inside(self, pose: Pose) -> Pose:
        """The pose with joints rotated back towards the base until they are within their limits.

        Ranges about the normal are sampled: between two angles inside, one may be just outside.
        """
        skeleton = self.limited
        if skeleton is None or not (limit_violation(skeleton, pose) > _OUTSIDE).any():
            return pose
        inside, outside = np.zeros(len(skeleton)), np.ones(len(skeleton))
        for _ in range(_BISECTIONS):
            part = 0.5 * (inside + outside)
            turned = slerp(self.base.rotations, pose.rotations, part)
            good = limit_violation(skeleton, Pose(turned, pose.translations)) <= _OUTSIDE
            inside, outside = np.where(good, part, inside), np.where(good, outside, part)
        over = limit_violation(skeleton, pose) > _OUTSIDE
        turned = slerp(self.base.rotations, pose.rotations, inside)
        return Pose(np.where(over[:, None], turned, pose.rotations), pose.translations)

    def holds(self, pose: Pose) -> bool:
        """Whether a pose of the document's skeleton is in the planes of this rig."""
        flat = self.nearest(pose, limits=False)
        turned = float(angle_between(flat.rotations, pose.rotations).max())
        return max(turned, float(np.abs(flat.translations - pose.translations).max())) < _FLAT

    def solution(self, found: Solution) -> Solution:
        """Convert a solution to the document's skeleton."""
        return found.with_pose(self._inside(self.lowered(found.pose)))

    def locked(self, names: Iterable[str], root: str) -> frozenset[str]:
        """Names of the rig's joints that may not move: the document's, and the slides of locked roots."""
        joints = set(names)
        own = self.skeleton.names[self._slides :]
        for index, joint in enumerate(self.roots.tolist()):
            if root == "locked" or own[joint] in joints:
                joints.update(self.skeleton.names[2 * index : 2 * index + 2])
            if root != "free":
                joints.add(own[joint])
        return frozenset(joints)


@dataclass(frozen=True, slots=True, eq=False)
class _Turns:
    """How the joints of a pose can rotate about a normal.

    Attributes:
        pose: the zero of the angles.
        axes: (J, 3) the normal in the joints' frames; constant while joints rotate about it.
        hinges: (J,) joints that become hinges about it.
        stuck: (J,) joints that cannot rotate about it, or slides that do not move across it.
        ranges: (J, 2) radians, of the hinges.
    """

    pose: Pose
    axes: Floats
    hinges: Bools
    stuck: Bools
    ranges: Floats

    @classmethod
    def of(cls, skeleton: Skeleton, pose: Pose, normal: Floats) -> _Turns:
        """For a pose."""
        world = fk(skeleton, pose)
        able = np.array([_able(skeleton, world, normal, joint) for joint in range(len(skeleton))])
        axes = rotate(conjugate(world.rotations), normal)
        hinges = skeleton.of_kind(JointKind.BALL, JointKind.UNIVERSAL, JointKind.FREE) & able
        return cls(pose, axes, hinges, ~able, ranges(skeleton, pose, axes, hinges))

    @classmethod
    def inside(cls, skeleton: Skeleton, pose: Pose, normal: Floats) -> _Turns:
        """For the pose with joints brought inside their limits if no rotation about the normal does that.

        Limits have priority over the plane: such a joint leaves it, and its descendants move in a plane of their own.
        """
        found, asked = cls.of(skeleton, pose, normal), np.ones(len(skeleton), dtype=np.bool_)
        while True:
            none = found.stuck | (found.hinges & (found.ranges == 0.0).all(axis=1))
            barred = asked & none & (limit_violation(skeleton, found.pose) > _OUTSIDE)
            if not barred.any():
                return found
            # Descendants of these joints now have other axes, so their ranges are computed again.
            asked &= ~barred
            found = cls.of(skeleton, found.pose.with_joints(project_pose(skeleton, found.pose), barred), normal)


@lru_cache(maxsize=8)
def planar_rig(skeleton: Skeleton, limited: Skeleton, pose: Pose, plane: str, limits_on: bool) -> PlanarRig:
    """The rig of a skeleton in a pose; the same object for the same arguments.

    ``limited`` is the skeleton with the limits that bind, if ``limits_on``.
    """
    normal = normal_of(plane)
    turns = (_Turns.inside if limits_on else _Turns.of)(limited, pose, normal)
    pose, axes, hinges, stuck, found = turns.pose, turns.axes, turns.hinges, turns.stuck, turns.ranges
    kinds = [JointKind.FIXED if still else kind for kind, still in zip(skeleton.kinds, stuck.tolist(), strict=True)]
    bounds = list(limited.limits)
    for joint in np.flatnonzero(hinges | stuck).tolist():
        kinds[joint] = JointKind.HINGE if hinges[joint] else JointKind.FIXED
        low, high = found[joint].tolist()
        bounds[joint] = JointLimits.coordinates((low, high)) if hinges[joint] and np.isfinite(low) else None
    turned = (hinges | stuck)[:, None]
    flat = replace(
        limited,
        kinds=tuple(kinds),
        limits=tuple(bounds),
        rest_rotations=np.where(turned, pose.rotations, skeleton.rest_rotations),
        axes=np.where(hinges[:, None, None], np.stack([axes, np.zeros_like(axes)], axis=1), skeleton.axes),
        mobility=_spreads(skeleton, axes, hinges),
        mobility_matrices=None,
        poses={},
        mimics=tuple(_flat_mimics(skeleton, hinges, axes, kinds)),
    )
    roots = np.flatnonzero(skeleton.of_kind(JointKind.FREE))
    across = np.eye(3)[normal == 0.0]
    slides = skeleton.of_kind(JointKind.SLIDE)
    still = np.flatnonzero(slides & stuck)
    return PlanarRig(
        skeleton=_on_slides(flat, roots, pose, across),
        still=still,
        places=pose.translations[still],
        roots=roots,
        origins=pose.translations[roots],
        across=across,
        base=pose,
        limited=limited if limits_on else None,
    )


def _spreads(skeleton: Skeleton, axes: Floats, hinges: Bools) -> Floats:
    """(J, 3) mobility of each degree of freedom; of new hinges, about their axis."""
    own, matrices = spreads(skeleton), skeleton.mobility_matrices
    about = np.zeros_like(own)
    about[:, 0] = np.linalg.norm(own * axes, axis=1)
    for joint in np.flatnonzero(hinges).tolist():
        if skeleton.kinds[joint] is JointKind.UNIVERSAL:
            # One of its two axes is the normal, and the second rotates with the joint.
            about[joint, 0] = own[joint, int(abs(skeleton.axes[joint, 1] @ axes[joint]) > _ONE_OF_TWO)]
        elif matrices is not None and not np.isnan(matrices[joint, 0, 0]):
            about[joint, 0] = min(MOST, float(spread_about(matrices[joint], axes[joint])))
    return np.where(hinges[:, None], about, own)


def _on_slides(skeleton: Skeleton, roots: Ints, pose: Pose, across: Floats) -> Skeleton:
    """The skeleton with two slides under each of some roots."""
    count = 2 * len(roots)
    if not count:
        return skeleton
    parents = np.where(skeleton.parents < 0, -1, skeleton.parents + count)
    parents[roots] = 2 * np.arange(len(roots)) + 1
    offsets = skeleton.offsets.copy()
    offsets[roots] = 0.0
    first = np.zeros((count, 3))
    first[::2] = pose.translations[roots]
    axes = np.zeros((count, 2, 3))
    axes[:, 0] = np.tile(across, (len(roots), 1))
    letters = ["xyz"[int(np.argmax(direction))] for direction in across]
    free = FreeNames(skeleton.names)
    names = [free.take(f"{skeleton.names[root]} along {letter}") for root in roots for letter in letters]
    own = skeleton.mobility if skeleton.mobility is not None else np.full((len(skeleton), 3), np.nan)
    bodies = skeleton.bodies
    return replace(
        skeleton,
        names=(*names, *skeleton.names),
        parents=np.concatenate([_slide_parents(len(roots)), parents]),
        offsets=np.concatenate([first, offsets]),
        rest_rotations=np.concatenate([np.tile(IDENTITY, (count, 1)), skeleton.rest_rotations]),
        kinds=(*(JointKind.SLIDE,) * count, *skeleton.kinds),
        axes=np.concatenate([axes, skeleton.axes]),
        limits=(*(None,) * count, *skeleton.limits),
        stiffness=np.concatenate([np.zeros(count), skeleton.stiffness]),
        tip_parents=skeleton.tip_parents + count,
        effectors=tuple(replace(effector, joint=effector.joint + count) for effector in skeleton.effectors),
        mobility=np.concatenate([np.full((count, 3), REFERENCE), own]),
        bodies=bodies and Bodies(tuple(replace(one, joint=one.joint + count) for one in bodies.capsules)),
        inertias=(*(Inertia(0.0),) * count, *skeleton.inertias) if skeleton.inertias else (),
        motors=(*(None,) * count, *skeleton.motors) if skeleton.motors else (),
    )


def _flat_mimics(skeleton: Skeleton, hinges: Bools, axes: Floats, kinds: list[JointKind]) -> Iterator[Mimic]:
    """Mimics of hinges that turn in the plane, counted from the pose shown and about the plane's normal."""
    for one in kept_mimics(skeleton.mimics, skeleton.names, kinds):
        joints = [skeleton.index(name) for name in (one.joint, one.leader)]
        if hinges[joints].all():
            own, other = (float(np.sign(axes[joint] @ skeleton.axes[joint, 0])) for joint in joints)
            yield replace(one, ratio=one.ratio * own * other, offset=0.0)
        elif not hinges[joints].any():
            yield one


def _slide_parents(roots: int) -> Ints:
    """(2 R,) parents of the slides: each second slide is a child of the first."""
    parents = np.arange(-1, 2 * roots - 1)
    parents[::2] = -1
    return parents
