"""What a simulated figure is among and stands on: a floor, objects, balls, other figures; its soles, a base made free.

Of several figures in one simulation the joints become those of one skeleton with several roots.

A sole goes from heel to ball under the ankle's joint, and on to the tip under the toes' joint. Robots' feet are often
only an ankle: the part that stands on the ground is in the meshes. A humanoid's file hangs its pelvis on the world, at
the origin, with the feet below: the file does not say what carries it. In a simulation it stands on the ground.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from viewer.choices import Base
from viewer.errors import InputError, quote, unknown_name
from viewer.ik.contact import Box, Mesh, Object, Sphere
from viewer.ik.contact.values import placed
from viewer.skeleton import (
    Clip,
    FreeNames,
    JointKind,
    Pose,
    Skeleton,
    Skin,
    at_or_below,
    bodies_of,
    find_figure,
    fk,
    rest_world,
    tip_positions,
)
from viewer.skeleton.balance import standing_points
from viewer.skeleton.clip import clip_like
from viewer.skeleton.skeleton import moved_roots
from viewer.spatial.checks import Floats, Ints, as_number
from viewer.spatial.quaternion import conjugate, from_matrix, from_wxyz, multiply, normalized, rotate, to_wxyz

MuJoCo: TypeAlias = Any
"""The module, a specification, a model or its data: MuJoCo has no types."""
GRAVITY = 9.81
BODIES, FLOOR = 1, 2
"""Bits that determine what collides with what."""
OBJECT_PREFIX = "object//"
"""Prefixes of the names of their bodies, which no joint's name has."""

_UP = np.array([0.0, 1.0, 0.0])
_SHORTEST = 1e-6
"""Metres of a sole."""
_FARTHER = 2.0
"""Meshes show a foot that the skeleton does not have if they reach this many times as far ahead of the ankle."""

_FEET, _HIGH, _LEVEL, _WIDE = 3, 0.3, 0.05, 0.1
"""Feet of an animal, around its root: how many at least; how far below it, how nearly at one height, and how far from
the vertical through it, in heights of the figure."""
_HERE = 1e-6
"""Metres, or components of a rotation, within which a base is where the file has it."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a simulation contains besides the figure.

    Attributes:
        gravity: metres per second squared, downwards.
        ground: height of the floor, metres; None: there is none.
        friction: of all that touches.
        self_contact: whether the figure's capsules touch each other; None: up to `MOST_PAIRS` pairs.
        ball_mass, ball_radius: of balls that are thrown: kilograms and metres; None: 1/70 of the figure's mass, 1 kg
            at most, and 3 % of its height.
        objects: solid things around the figure; meshes touch by their convex hulls.
        masses: kilograms of the objects that can move, by name; the others stand still.
    """

    gravity: float = GRAVITY
    ground: float | None = 0.0
    friction: float = 0.9
    self_contact: bool | None = None
    ball_mass: float | None = None
    ball_radius: float | None = None
    objects: tuple[Object, ...] = ()
    masses: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise InputError for two objects of one name, a mass that is not above 0, or of no object."""
        object.__setattr__(self, "objects", tuple(self.objects))
        names: list[str] = []
        for one in self.objects:
            if not isinstance(one, Sphere | Box | Mesh):
                raise InputError(f"physics: objects: expected Sphere, Box or Mesh, found {type(one).__name__}")
            if one.name in names:
                raise InputError(f"physics: objects: two are called {quote(one.name)}")
            names.append(one.name)
        for name, mass in self.masses.items():
            if name not in names:
                raise InputError(f"physics: masses: {unknown_name('object', name, names)}")
            as_number(mass, f"physics: mass of {quote(name)}", above=0.0)


def add_object(mujoco: MuJoCo, spec: MuJoCo, one: Object, mass: float | None, friction: float) -> None:
    """Add an object to a model; without a mass it stands still. A mesh touches by its convex hull."""
    quat = to_wxyz(np.array(one.rotation))
    body = spec.worldbody.add_body(name=OBJECT_PREFIX + one.name, pos=one.center, quat=quat)
    shape: dict[str, Any]
    if isinstance(one, Sphere):
        shape = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [one.radius, 0.0, 0.0]}
    elif isinstance(one, Box):
        shape = {"type": mujoco.mjtGeom.mjGEOM_BOX, "size": [0.5 * side for side in one.size]}
    else:
        assert one.vertices is not None
        assert one.faces is not None
        mesh = spec.add_mesh(name=OBJECT_PREFIX + one.name)
        mesh.uservert, mesh.userface = (one.scale * one.vertices).ravel(), one.faces.astype(np.int32).ravel()
        shape = {"type": mujoco.mjtGeom.mjGEOM_MESH, "meshname": mesh.name}
    if mass is not None:
        body.add_freejoint()
        shape["mass"] = mass
    # Torsional friction, too (condim 4): an object held by two fingers does not spin between them.
    body.add_geom(
        contype=BODIES | FLOOR, conaffinity=BODIES | FLOOR, condim=4, friction=[friction, 0.005, 0.0001], **shape
    )


@dataclass(frozen=True, eq=False)
class Movers:
    """The objects of a model, where they began, and those that move, by name.

    ``qpos`` and ``dof`` (M,) are their first coordinate and degree of freedom, ``radius`` (M,) of a ball around each,
    metres.
    """

    objects: tuple[Object, ...] = ()
    names: tuple[str, ...] = ()
    qpos: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    dof: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    radius: Floats = field(default_factory=lambda: np.zeros(0))

    def placed(self, qpos: Floats) -> tuple[Object, ...]:
        """All objects, where they are at these coordinates (nq,)."""
        rows = dict(zip(self.names, self.qpos.tolist(), strict=True))
        return tuple(
            _placed(one, qpos[rows[one.name] : rows[one.name] + 7]) if one.name in rows else one for one in self.objects
        )


def find_movers(mj: MuJoCo, surroundings: Surroundings) -> Movers:
    """Find the objects in a compiled model."""
    names = tuple(one.name for one in surroundings.objects if one.name in surroundings.masses)
    bodies = [mj.body(OBJECT_PREFIX + name) for name in names]
    joints = np.array([int(body.jntadr[0]) for body in bodies], dtype=np.intp)
    geoms = np.array([int(body.geomadr[0]) for body in bodies], dtype=np.intp)
    return Movers(
        surroundings.objects,
        names,
        mj.jnt_qposadr[joints].astype(np.intp),
        mj.jnt_dofadr[joints].astype(np.intp),
        np.array(mj.geom_rbound[geoms], dtype=np.float64),
    )


def _placed(one: Object, place: Floats) -> Object:
    """An object at MuJoCo's place and rotation (7,)."""
    x, y, z = place[:3].tolist()
    a, b, c, w = normalized(from_wxyz(place[3:])).tolist()
    return placed(one, one.name, (x, y, z), (a, b, c, w))


# --- several figures as one


class Standing(NamedTuple):
    """A figure and where it stands: metres (3,) from the simulation's origin, and (4,) simulation_from_figure."""

    skeleton: Skeleton
    offset: Floats
    rotation: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Figures as one: the joints of all in order, under their own names; ``first`` (N,) is that of each figure."""

    skeleton: Skeleton
    figures: tuple[Standing, ...]
    first: tuple[int, ...]

    @classmethod
    def of(cls, figures: Sequence[Standing]) -> Together:
        """Put figures together."""
        free, names, firsts = FreeNames(), list[str](), list[int]()
        skeletons = [figure.skeleton for figure in figures]
        for one in skeletons:
            firsts.append(len(names))
            names += [free.take(name) for name in one.names]
        each = list(zip(skeletons, firsts, strict=True))
        moved = [
            moved_roots(one.skeleton.roots, one.skeleton.rest_rotations, one.skeleton.offsets, one.rotation, one.offset)
            for one in figures
        ]
        made = Skeleton(
            name=skeletons[0].name,
            names=tuple(names),
            parents=np.concatenate([np.where(one.parents < 0, -1, one.parents + first) for one, first in each]),
            offsets=np.concatenate([offsets for _, offsets in moved]),
            rest_rotations=np.concatenate([turns for turns, _ in moved]),
            axes=np.concatenate([one.axes for one in skeletons]),
            kinds=tuple(kind for one in skeletons for kind in one.kinds),
            limits=tuple(limits for one in skeletons for limits in one.limits),
            stiffness=np.concatenate([one.stiffness for one in skeletons]),
            inertias=tuple(inertia for one in skeletons for inertia in one.inertias or (None,) * len(one)),
            motors=tuple(motor for one in skeletons for motor in one.motors or (None,) * len(one)),
            tip_parents=np.concatenate([one.tip_parents + first for one, first in each]),
            tip_offsets=np.concatenate([one.tip_offsets for one in skeletons]),
            mimics=tuple(
                replace(
                    mimic,
                    joint=names[first + one.index(mimic.joint)],
                    leader=names[first + one.index(mimic.leader)],
                )
                for one, first in each
                for mimic in one.mimics
            ),
        )
        return cls(made, tuple(figures), tuple(firsts))

    def pose(self, poses: Sequence[Pose]) -> Pose:
        """The pose of all, of one pose for each figure."""
        moved = [
            moved_roots(one.skeleton.roots, pose.rotations, pose.translations, one.rotation, one.offset)
            for one, pose in zip(self.figures, poses, strict=True)
        ]
        return Pose(*map(np.concatenate, zip(*moved, strict=True)))

    def split(self, pose: Pose) -> list[Pose]:
        """The pose of each figure, in its own coordinates."""
        return [Pose(*self._own(number, pose.rotations, pose.translations)) for number in range(len(self.figures))]

    def clip(self, clip: Clip, number: int) -> Clip:
        """The motion of one figure, in its own coordinates."""
        rotations, translations = self._own(number, clip.rotations, clip.local_translations())
        return clip_like(clip, self.figures[number].skeleton, rotations, translations)

    def _own(self, number: int, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
        figure, first = self.figures[number], self.first[number]
        some = slice(first, first + len(figure.skeleton))
        own, back = (rotations[..., some, :], translations[..., some, :]), conjugate(figure.rotation)
        return moved_roots(figure.skeleton.roots, *own, back, -rotate(back, figure.offset))


# --- feet and bases


class Sole(NamedTuple):
    """The part of a sole that is fixed to one joint: a rectangle.

    Attributes:
        joint: index.
        center: (3,) in its frame, metres.
        rotation: (4,) joint_from_sole; x is forward, y up.
        length, width: metres.
    """

    joint: int
    center: Floats
    rotation: Floats
    length: float
    width: float

    @property
    def corners(self) -> Floats:
        """(4, 3) in the joint's frame."""
        signs = np.array([(x, 0.0, z) for x in (-0.5, 0.5) for z in (-0.5, 0.5)])
        return self.center + rotate(self.rotation, signs * (self.length, 0.0, self.width))


@lru_cache(maxsize=16)
def soles_of(skeleton: Skeleton) -> tuple[Sole, ...]:
    """The soles in the relaxed pose; () without feet."""
    figure = find_figure(skeleton)
    if figure is None or not figure.legs:
        return ()
    world, made = fk(skeleton, skeleton.relaxed_pose()), list[Sole]()
    points, _ = standing_points(skeleton, 0.0, ())
    places = points.at(world)
    for part, leg in enumerate(figure.legs):
        rows = np.flatnonzero(points.parts == part)
        if leg.end is None or len(rows) < 6:
            continue
        heel, ball, tip = (places[rows[k : k + 2]] for k in (0, 2, 4))
        for joint, back, front in ((leg.end, heel, ball), (int(points.joints[rows[4]]), ball, tip)):
            middles = back.mean(axis=0), front.mean(axis=0)
            length, width = float(np.linalg.norm(middles[1] - middles[0])), float(np.linalg.norm(back[1] - back[0]))
            if length < _SHORTEST or width < _SHORTEST:
                continue
            forward = (middles[1] - middles[0]) / length
            turn = from_matrix(np.column_stack([forward, _UP, np.cross(forward, _UP)]))
            back_to_joint = conjugate(world.rotations[joint])
            center = rotate(back_to_joint, 0.5 * (middles[0] + middles[1]) - world.positions[joint])
            made.append(Sole(joint, center, multiply(back_to_joint, turn), length, width))
    return tuple(made)


def soled(skeleton: Skeleton) -> set[int]:
    """The joints of feet with soles: their capsules do not touch the floor."""
    figure, joints = find_figure(skeleton), {sole.joint for sole in soles_of(skeleton)}
    feet = [leg.end for leg in figure.legs if leg.end in joints] if figure is not None else []
    return set(np.flatnonzero(at_or_below(skeleton, *feet)).tolist())


@lru_cache(maxsize=8)
def with_feet(skeleton: Skeleton, skin: Skin | None) -> Skeleton:
    """The skeleton, with an end site at the toes of feet that reach `_FARTHER` in the meshes, as low as these."""
    figure = find_figure(skeleton)
    if figure is None or skin is None or not skin.follows_joints:
        return skeleton
    world = rest_world(skeleton)
    tips = list(zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True))
    for leg in figure.legs:
        if leg.end is None:
            continue
        ankle, below = world.positions[leg.end], at_or_below(skeleton, leg.end)
        known = [world.point(sole.joint, corner) for sole in soles_of(skeleton) if below[sole.joint]
                 for corner in sole.corners]  # fmt: skip
        feet = [
            (joint, rotate(world.rotations[joint], points) + world.positions[joint])
            for joint in np.flatnonzero(below).tolist()
            if len(points := _vertices(skin, joint))
        ]
        if not feet:
            continue
        joint, points = min(feet, key=lambda foot: float(foot[1][:, 1].min()))
        ahead = float(((points - ankle) @ figure.forward).max())
        if ahead < _FARTHER * max((float((corner - ankle) @ figure.forward) for corner in known), default=0.0):
            continue
        toe = ankle + ahead * figure.forward
        toe[1] = points[:, 1].min()
        tips.append((joint, rotate(conjugate(world.rotations[joint]), toe - world.positions[joint])))
    if len(tips) == len(skeleton.tip_parents):
        return skeleton
    tips.sort(key=lambda tip: tip[0])
    parents, offsets = zip(*tips, strict=True)
    return replace(skeleton, tip_parents=np.array(parents), tip_offsets=np.array(offsets))


def _vertices(skin: Skin, joint: int) -> Floats:
    """(V, 3) of the meshes that follow a joint most, in its frame."""
    found = [np.zeros((0, 3))]
    for mesh in skin.meshes:
        first = np.take_along_axis(mesh.bindings, np.argmax(mesh.weights, axis=1)[:, None], axis=1)[:, 0]
        own = skin.joints[first] == joint
        transforms = skin.transforms[first[own]]
        positions = mesh.positions[own].astype(np.float64)
        found.append(np.einsum("vij,vj->vi", transforms[:, :, :3], positions) + transforms[:, :, 3])
    return np.concatenate(found)


class Footing(NamedTuple):
    """What a figure with a freed base stands on.

    ``offsets`` (P, 3) of points that may stand, in the frames of joints (P,), and the ``room`` (P,) that each keeps
    above the ground, metres.
    """

    root: int
    joints: Ints
    offsets: Floats
    room: Floats


def freed(skeleton: Skeleton, figures: Sequence[Skeleton], base: Base) -> tuple[Skeleton, tuple[Footing, ...]]:
    """The skeleton of figures, one after the other, with free bases; and the footing of those whose base was fixed."""
    kinds, footings, first = list(skeleton.kinds), list[Footing](), 0
    for figure in figures:
        if base != "fixed" and (base == "free" or _has_legs(figure)):
            roots = [root for root in figure.roots.tolist() if figure.kinds[root] is JointKind.FIXED]
            for root in roots:
                kinds[first + root] = JointKind.FREE
            if len(roots) == len(figure.roots) == 1:
                footings.append(_footing(figure, first))
        first += len(figure)
    return (replace(skeleton, kinds=tuple(kinds)) if tuple(kinds) != skeleton.kinds else skeleton), tuple(footings)


def _has_legs(figure: Skeleton) -> bool:
    """Whether a figure has the legs of a person or its root is above three feet or more, as an animal's."""
    found = find_figure(figure)
    return (found is not None and found.legs != ()) or _is_on_feet(figure)


def _is_on_feet(figure: Skeleton) -> bool:
    """Whether the lowest ends at rest are far below the root and all around it."""
    world = rest_world(figure)
    inner = set(figure.parents.tolist()) | set(figure.tip_parents.tolist())
    leaves = [joint for joint in range(len(figure)) if joint not in inner]
    ends = np.concatenate([world.positions[leaves], tip_positions(figure, world)])
    root, lowest = world.positions[figure.roots[0]], float(ends[:, 1].min())
    height = float(np.ptp(np.concatenate([ends, world.positions])[:, 1]))
    if not root[1] - lowest > _HIGH * height:
        return False
    feet = ends[ends[:, 1] < lowest + _LEVEL * height][:, [0, 2]] - root[[0, 2]]
    apart = np.linalg.norm(feet, axis=1) > _WIDE * height
    angles = np.sort(np.arctan2(feet[apart, 1], feet[apart, 0]))
    return len(angles) >= _FEET and float(np.diff(angles, append=angles[:1] + 2.0 * np.pi).max()) < np.pi


def _footing(figure: Skeleton, first: int) -> Footing:
    """The soles of a figure, and the ends of the capsules of everything except these feet."""
    bodies, on_soles = bodies_of(figure), soled(figure)
    rows: list[tuple[int, ArrayLike, float]] = [
        (first + one.joint, end, min(clear, one.radius))
        for one, room in zip(bodies.capsules, bodies.clearances.tolist(), strict=True)
        for end, clear in zip((one.a, one.b), room, strict=True)
        if one.joint not in on_soles
    ]
    rows += [(first + sole.joint, corner, 0.0) for sole in soles_of(figure) for corner in sole.corners]
    joints, offsets, room = zip(*rows, strict=True) if rows else ((), (), ())
    root = first + int(figure.roots[0])
    places = np.array(offsets, dtype=np.float64).reshape(-1, 3)
    return Footing(root, np.array(joints, dtype=np.intp), places, np.array(room, dtype=np.float64))


def stood(skeleton: Skeleton, pose: Pose, footings: Sequence[Footing], ground: float | None) -> Pose:
    """The pose with each of these figures on the ground: lifted if below, lowered only from its place in the file.

    A pose that was kept from a simulation may be on top of something.
    """
    if ground is None or not footings:
        return pose
    world = fk(skeleton, pose)
    translations = pose.translations.copy()
    for one in footings:
        root = one.root
        moved = np.abs(pose.translations[root] - skeleton.offsets[root]).max()
        turned = 1.0 - abs(float(pose.rotations[root] @ skeleton.rest_rotations[root]))
        if not len(one.joints):
            continue
        points = world.points(one.joints, one.offsets)
        lift = ground - float((points[:, 1] - one.room).min())
        if lift > 0.0 or max(moved, turned) <= _HERE:
            translations[root, 1] += lift
    return Pose(pose.rotations, translations)
