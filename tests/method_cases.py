"""Rigs for the tests of the methods, made in code, and how a method is run on them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from inside.ik import (
    EVERY_METHOD,
    METHODS,
    Settings,
    Tuning,
    UserRows,
    assemble,
    dof_table_of,
    into_limits,
    make_state,
    make_work,
    move,
    seeds_for,
)
from inside.spatial import EULER_ORDERS, IDENTITY, normalized

from viewer.ik import Goal
from viewer.skeleton import JointKind, JointLimits, Pose, Skeleton, World, fk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inside.ik import State, System, Work
    from inside.spatial import Floats

NAMES = tuple(METHODS)
ITERATIVE = tuple(name for name, method in METHODS.items() if "step_cap_deg" in method.takes)
JACOBIAN = tuple(name for name, method in METHODS.items() if method.has_jacobian)
TOLERANCE = (1e-3, math.radians(0.5))
Z = (0.0, 0.0, 1.0)
_KINDS = (JointKind.HINGE, JointKind.UNIVERSAL, JointKind.SLIDE, *[JointKind.BALL] * 3)


def rig(
    parents: Sequence[int],
    offsets: Sequence[Sequence[float]] | Floats,
    kinds: Sequence[JointKind],
    *,
    axes: Floats | None = None,
    limits: Sequence[JointLimits | None] | None = None,
    rest: Floats | None = None,
    tip: Sequence[float] | Floats = (1.0, 0.0, 0.0),
    stiffness: Floats | None = None,
) -> Skeleton:
    """A skeleton whose joints are j0, j1, ... with an end site on the last one."""
    count = len(parents)
    return Skeleton(
        name="rig",
        names=tuple(f"j{k}" for k in range(count)),
        parents=np.array(parents),
        offsets=np.array(offsets, dtype=np.float64),
        rest_rotations=np.tile(IDENTITY, (count, 1)) if rest is None else rest,
        kinds=tuple(kinds),
        axes=np.zeros((count, 2, 3)) if axes is None else axes,
        limits=tuple(limits) if limits is not None else (None,) * count,
        stiffness=np.zeros(count) if stiffness is None else stiffness,
        tip_parents=np.array([count - 1]),
        tip_offsets=np.array([tip], dtype=np.float64),
    )


def planar(links: int, limit_deg: float | None = None, length: float = 1.0) -> Skeleton:
    """A chain of hinges about z from the origin along x, each limited to +-limit_deg."""
    axes = np.zeros((links, 2, 3))
    axes[:, 0] = Z
    bound = None if limit_deg is None else math.radians(limit_deg)
    return rig(
        range(-1, links - 1),
        [(0.0, 0.0, 0.0)] + [(length, 0.0, 0.0)] * (links - 1),
        [JointKind.HINGE] * links,
        axes=axes,
        limits=[None if bound is None else JointLimits.coordinates((-bound, bound))] * links,
        tip=(length, 0.0, 0.0),
    )


def random_tree(seed: int, joints: int = 8, *, limited: bool = True) -> Skeleton:
    """A tree of joints of every kind, with limits in every form, turned rest rotations and some stiffness."""
    random = np.random.default_rng(seed)
    kinds = [JointKind.FREE if seed % 2 else JointKind.BALL]
    some = [*_KINDS, *[JointKind.HINGE] * (joints - 1 - len(_KINDS))]
    kinds += [some[k] for k in random.permutation(len(some))]
    parents = [-1] + [int(random.integers(max(0, k - 3), k)) for k in range(1, joints)]
    axes = np.zeros((joints, 2, 3))
    limits: list[JointLimits | None] = []
    for k, kind in enumerate(kinds):
        basis, _ = np.linalg.qr(random.normal(size=(3, 3)))
        count = {JointKind.HINGE: 1, JointKind.SLIDE: 1, JointKind.UNIVERSAL: 2}.get(kind, 0)
        axes[k, :count] = basis[:count]
        limits.append(_some_limits(kind, random) if limited else None)
    return rig(
        parents,
        random.normal(size=(joints, 3)) * 0.3,
        kinds,
        axes=axes,
        limits=limits,
        rest=normalized(random.normal(size=(joints, 4))),
        tip=random.normal(size=3) * 0.3,
        stiffness=random.choice([0.0, 0.3], size=joints),
    )


def _some_limits(kind: JointKind, random: np.random.Generator) -> JointLimits | None:
    ranges = [(-float(a), float(b)) for a, b in random.uniform(0.1, 1.2, size=(3, 2))]
    if kind in (JointKind.HINGE, JointKind.SLIDE):
        return JointLimits.coordinates(ranges[0])
    if kind is JointKind.UNIVERSAL:
        return JointLimits.coordinates(*ranges[:2])
    if kind is JointKind.BALL:
        return (
            JointLimits.swing_twist(int(random.integers(3)), *ranges),
            JointLimits.euler(EULER_ORDERS[random.choice([0, 4, 2])], *ranges),
            None,
        )[int(random.integers(3))]
    return None


@dataclass
class Case:
    """A skeleton with goals, ready to be solved by any method."""

    skeleton: Skeleton
    goals: Sequence[Goal]
    limits: bool = True
    root: str = "free"
    spread: float = 1.0
    tolerance: tuple[float, float] = TOLERANCE

    def __post_init__(self) -> None:
        dofs = dof_table_of(
            self.skeleton, np.full((len(self.skeleton), 3), self.spread), limits=self.limits, root=self.root
        )
        self.assembly = assemble(dofs, self.goals, self.tolerance)
        seeds = seeds_for(self.assembly.system, self.skeleton, 0)
        self.system: System = self.assembly.system._replace(seeds=seeds)
        functions = [goal for goal in self.goals if goal.residuals is not None and goal.enabled]
        self.extra = UserRows(self.skeleton, functions) if functions else None
        self.work: Work = make_work(self.system)
        self.state = make_state(self.system)
        self.begin(self.skeleton.rest_pose())

    def begin(self, pose: Pose) -> None:
        """Start from a pose, brought inside the limits."""
        joints = self.assembly.joints
        self.pose = pose
        self.state.q[:], self.state.t[:] = pose.rotations[joints], pose.translations[joints]
        into_limits(self.system, self.work, self.state.q, self.state.t, self.state.x)
        for name in ("x", "q", "t"):
            getattr(self.work.anchor, name)[:] = getattr(self.state, name)

    def solve(self, method: str, tuning: Tuning | None = None, **settings: float) -> tuple[int, int, float]:
        """Run a method from where the state is."""
        run = EVERY_METHOD[method].run
        return run(
            self.system,
            self.work,
            self.state,
            Settings()._replace(**settings),  # type: ignore[arg-type]  # fields by name
            extra=self.extra,
            tuning=tuning or Tuning(),
        )

    @property
    def answer(self) -> Pose:
        """The pose of the whole skeleton that the state means."""
        rotations, translations = self.pose.rotations.copy(), self.pose.translations.copy()
        rotations[self.assembly.joints], translations[self.assembly.joints] = self.state.q, self.state.t
        return Pose(rotations, translations)

    @property
    def world(self) -> World:
        """Where the joints of the answer are."""
        return fk(self.skeleton, self.answer)

    def tip(self) -> Floats:
        """World place of the end site."""
        return self.world.point(int(self.skeleton.tip_parents[0]), self.skeleton.tip_offsets[0])


def some_pose(case: Case, random: np.random.Generator, size: float = 1.0) -> State:
    """A random pose inside the limits, as a state of its own."""
    s = case.system
    state = make_state(s)
    state.q[:], state.t[:], state.x[:] = case.state.q, case.state.t, case.state.x
    lower, upper = np.maximum(s.lower, -size), np.minimum(s.upper, size)
    move(s, case.work, random.uniform(lower, upper) - state.x, state.x, state.q, state.t)
    return state


def arm(target: tuple[float, float, float], links: int = 4, start: float = 0.3) -> Case:
    """An unlimited planar arm, each joint bent by ``start``."""
    case = Case(planar(links), [Goal.position(f"j{links - 1}.tip", target)])
    bend(case, start)
    return case


def bend(case: Case, angle: float) -> None:
    """Move every dof by the same angle."""
    move(case.system, case.work, np.full(len(case.state.x), angle), case.state.x, case.state.q, case.state.t)


def jacobian_of(case: Case) -> tuple[Floats, Floats]:
    """J (3, n) and the error (3,) of a planar arm, from its geometry alone."""
    tip = case.tip()
    return np.cross(Z, tip - case.world.positions).T, case.system.goal_target[0] - tip


def step_of(case: Case, method: str, tuning: Tuning | None = None) -> Floats:
    """What one iteration changes."""
    before = case.state.x.copy()
    case.solve(method, tuning, max_iterations=1)
    return np.asarray(case.state.x - before)
