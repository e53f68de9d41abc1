"""Random rigs of every joint kind, goals of most kinds, and their systems: what the solver's tests are run on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from inside.ik import KINDS as GOALS, Number, assemble, dof_table_of, into_limits, make_state, make_work
from inside.skeleton import UNLIMITED
from inside.spatial import EULER_ORDERS, exp, multiply, normalized, perpendicular

from viewer.ik import Goal
from viewer.skeleton import JointKind, JointLimits, Pose, Skeleton, project_pose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inside.ik import Assembly, State, System, Work
    from inside.spatial import Floats

KINDS = tuple(JointKind)
NONE = (0.0, 0.0, 0.0)
GOAL_KINDS = ("position", "rotation", "pose", "distance", "aim")
"""Of random problems: more kinds would make other problems of the same seeds."""
OTHER_KINDS = tuple(
    word
    for word, kind in GOALS.items()
    if kind.rows
    and not (kind.sets_pose or kind.of_several_limbs or kind.of_one_joint or kind.of_limb)
    and word not in GOAL_KINDS
)
"""The other kinds about an effector on any joint."""
KINDS_OF_TWO = tuple(word for word, kind in GOALS.items() if kind.of_two)


@dataclass(frozen=True)
class Problem:
    """A rig, its goals as arrays, a pose inside its limits, and scratch."""

    skeleton: Skeleton
    assembly: Assembly
    system: System
    work: Work
    state: State


def random_limits(random: np.random.Generator, kind: JointKind) -> JointLimits | None:
    """Ranges around or beside 0, now and then locked or open; None for kinds that have none."""
    if kind in (JointKind.FIXED, JointKind.FREE) or random.random() < 0.25:
        return None
    count = {JointKind.HINGE: 1, JointKind.SLIDE: 1, JointKind.UNIVERSAL: 2}.get(kind, 3)
    ranges = []
    for _ in range(count):
        low = random.uniform(-1.2, 0.3)
        high = low + random.uniform(0.2, 1.2)
        open_end = (low, high if kind is JointKind.SLIDE else np.inf)
        ranges.append(random.choice([(low, high), (low, high), (low, low), open_end, UNLIMITED]))
    if kind is not JointKind.BALL:
        return JointLimits.coordinates(*ranges)
    if random.random() < 0.5:
        return JointLimits.swing_twist(int(random.integers(3)), *ranges)
    order = EULER_ORDERS[random.integers(6)]
    ranges[order_middle(order)] = (-1.2, 1.3)
    return JointLimits.euler(order, *ranges)


def order_middle(order: str) -> int:
    """The axis of an Euler order's middle angle."""
    return "xyz".index(order[1])


def random_skeleton(
    random: np.random.Generator,
    joints: int = 12,
    kinds: Sequence[JointKind] = KINDS,
    parents: Sequence[int] | None = None,
) -> Skeleton:
    """A tree with one root, or the given parents; only roots are free."""
    above = [int(random.integers(max(0, j - 3), j)) if j else -1 for j in range(joints)] if parents is None else parents
    some = [JointKind(kind) for kind in random.choice(list(kinds), joints)]
    some = [JointKind.BALL if kind is JointKind.FREE and p >= 0 else kind for kind, p in zip(some, above, strict=True)]
    axes = np.zeros((joints, 2, 3))
    for joint, kind in enumerate(some):
        if kind in (JointKind.HINGE, JointKind.SLIDE, JointKind.UNIVERSAL):
            axes[joint, 0] = normalized(np.append(random.normal(size=3), 0.0))[:3]
        if kind is JointKind.UNIVERSAL:
            axes[joint, 1] = perpendicular(axes[joint, 0])
    return Skeleton(
        name="random",
        names=tuple(f"j{joint}" for joint in range(joints)),
        parents=np.array(above),
        offsets=random.normal(size=(joints, 3)) * 0.3,
        rest_rotations=normalized(random.normal(size=(joints, 4))),
        kinds=tuple(some),
        axes=axes,
        limits=tuple(random_limits(random, kind) for kind in some),
        stiffness=np.where(random.random(joints) < 0.2, random.choice([0.5, 1.0], joints), 0.0),
        tip_parents=np.array([joints - 1]),
        tip_offsets=np.array([[0.0, 0.2, 0.1]]),
    )


def chain(joints: int, kind: JointKind = JointKind.BALL) -> Skeleton:
    """A straight chain 1 m long, along x, without limits."""
    axis = NONE if kind is JointKind.BALL else (0.0, 0.0, 1.0)
    return Skeleton(
        name="chain",
        names=tuple(f"j{joint}" for joint in range(joints)),
        parents=np.arange(-1, joints - 1),
        offsets=np.array([NONE] + [(1.0 / joints, 0.0, 0.0)] * (joints - 1)),
        rest_rotations=np.tile([0.0, 0.0, 0.0, 1.0], (joints, 1)),
        kinds=(kind,) * joints,
        axes=np.tile([axis, NONE], (joints, 1, 1)),
        limits=(None,) * joints,
        stiffness=np.zeros(joints),
        tip_parents=np.array([joints - 1]),
        tip_offsets=np.array([[1.0 / joints, 0.0, 0.0]]),
    )


def random_pose(random: np.random.Generator, skeleton: Skeleton, size: float = 0.5) -> Pose:
    """Turns of about ``size`` radians and slides of a decimetre away from rest, inside the limits."""
    count = len(skeleton)
    turned = multiply(skeleton.rest_rotations, exp(random.normal(size=(count, 3)) * size))
    moved = skeleton.offsets + random.normal(size=(count, 3)) * 0.1
    pose = project_pose(skeleton, Pose(turned, moved))
    slid = np.array([kind is JointKind.SLIDE for kind in skeleton.kinds]) | (skeleton.parents < 0)
    return Pose(pose.rotations, np.where(slid[:, None], pose.translations, skeleton.offsets))


def random_goal(random: np.random.Generator, effector: str, kind: str, other: str = "") -> Goal:
    """A goal of one kind with random weights, offset and target; ``other`` is the second effector, if it has one."""
    point, turn = random.normal(size=3), normalized(random.normal(size=4))
    weight, rotation_weight = random.uniform(0.5, 2.0, 2).tolist()
    make = {
        "position": lambda: Goal.position(effector, point),
        "rotation": lambda: Goal.rotation(effector, turn),
        "pose": lambda: Goal.pose(effector, point, turn),
        "balance": lambda: Goal.balance(random.uniform(0.0, 0.05)),
        "relative": lambda: Goal.relative(effector, other, point, turn),
        "relative position": lambda: Goal.relative(effector, other, point, rotation=False),
        "relative rotation": lambda: Goal.relative(effector, other, position=False, rotation=turn),
    }
    x, y, z = (random.normal(size=3) * 0.2).tolist()
    goal = make[kind]() if kind in make else _goal_of(random, effector, kind, point, other)
    return replace(goal, weight=weight, rotation_weight=rotation_weight, offset=(x, y, z))


def _goal_of(random: np.random.Generator, effector: str, kind: str, point: Floats, other: str) -> Goal:
    """A goal of a kind with numbers of its own: those that are wrong together are drawn again."""
    about = GOALS[kind]
    while about.check(numbers := {number.name: _number(random, number) for number in about.numbers}):
        pass
    x, y, z = point.tolist()
    return Goal(
        kind=kind,
        effector=effector,
        to=other if about.of_two else "",
        target=(x, y, z) if about.has_point else None,
        numbers=(*numbers.items(),),
    )


def _number(random: np.random.Generator, number: Number) -> float | tuple[float, float, float]:
    if number.is_direction:
        x, y, z = normalized(random.normal(size=3)).tolist()
        return x, y, z
    return float(random.uniform(max(number.least, -1.0), min(number.most, 1.0)))


def random_goals(random: np.random.Generator, skeleton: Skeleton, kinds: Sequence[str] = GOAL_KINDS) -> list[Goal]:
    """A goal of each of the kinds, on any joints."""
    return [random_goal(random, skeleton.names[random.integers(len(skeleton))], kind) for kind in kinds]


def problem(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    pose: Pose,
    spreads: Floats | None = None,
    root: str = "free",
    *,
    limits: bool = True,
    bases: Floats | None = None,
) -> Problem:
    """The arrays of a solve that starts at a pose; ``bases``: the axes of joints that turn freely, if not their own."""
    spreads = np.ones((len(skeleton), 3)) if spreads is None else spreads
    principal = None if bases is None else (bases, spreads)
    dofs = dof_table_of(skeleton, spreads, limits=limits, root=root, principal=principal)
    assembly = assemble(dofs, goals, (1e-3, 0.01))
    system = assembly.system
    work, state = make_work(system), make_state(system)
    state.q[:], state.t[:] = pose.rotations[assembly.joints], pose.translations[assembly.joints]
    into_limits(system, work, state.q, state.t, state.x)
    return Problem(skeleton, assembly, system, work, state)


def random_problem(seed: int, joints: int = 12, goal_kinds: Sequence[str] = GOAL_KINDS, root: str = "free") -> Problem:
    """All of it from a seed."""
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, joints)
    pose = random_pose(random, skeleton)
    spreads = random.uniform(0.3, 1.5, (joints, 3))
    goals = random_goals(random, skeleton, goal_kinds)
    return problem(skeleton, goals, pose, spreads, root, bases=normalized(random.normal(size=(joints, 4))))


def copied(state: State) -> State:
    """A pose of its own arrays."""
    return type(state)(*(array.copy() for array in state))
