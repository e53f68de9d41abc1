"""The surroundings of a simulated figure: gravity, a floor, balls to throw, objects that stand still or move.

Of several figures in one simulation the joints become those of one skeleton with several roots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from viewer.errors import InputError, quote, unknown_name
from viewer.ik.contact import Box, Mesh, Object, Sphere
from viewer.ik.contact.values import placed
from viewer.skeleton import Clip, FreeNames, Pose, Skeleton
from viewer.skeleton.clip import clip_like
from viewer.skeleton.skeleton import moved_roots
from viewer.spatial.checks import Floats, Ints, as_number
from viewer.spatial.quaternion import conjugate, from_wxyz, normalized, rotate, to_wxyz

MuJoCo: TypeAlias = Any
"""The module, a specification, a model or its data: MuJoCo has no types."""
GRAVITY = 9.81
BODIES, FLOOR = 1, 2
"""Bits that determine what collides with what."""
OBJECT_PREFIX = "object//"
"""Prefixes of the names of their bodies, which no joint's name has."""


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
