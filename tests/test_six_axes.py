"""Six-axis arms in closed form: every pose that puts the tool there, and of those inside the limits the nearest.

Arms: one goal at the end of hinges and slides. What is left out of their arithmetic changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.ik import Backend, State, arm_steps, copy_state, dual_system, joints, make_state, make_work, step
from inside.spatial import angle_between
from rigs import Problem, chain, problem, random_pose, random_skeleton
from sessions import QUICK

import viewer
from viewer import Goal, Solver, Status
from viewer.skeleton import JointKind, JointLimits, joint_space

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.skeleton import Pose, Skeleton


WRIST, PARALLEL, NEITHER = "wrist", "parallel", "neither"
FAMILIES = WRIST, PARALLEL
BACKENDS: tuple[Backend, ...] = "numpy", "numba"


def unit(v: Floats) -> Floats:
    return np.asarray(v / np.linalg.norm(v))


def arm(
    family: str, seed: int, *, error: float = 0.0, limits: tuple[float, float] | None = None, stiffness: float = 0.0
) -> viewer.Skeleton:
    """An arm with random lengths, offsets and angles between its axes.

    With an error its axes are off by so much; with a stiffness its third joint is stiff.
    """
    random = np.random.default_rng(seed)
    axes = np.array([unit(axis) for axis in random.normal(size=(6, 3))])
    points = np.cumsum(random.uniform(-0.4, 0.4, size=(6, 3)), axis=0)
    first, parallel = {WRIST: (3, 3), PARALLEL: (4, 4), NEITHER: (6, 1)}[family]
    # A joint may be anywhere on its axis.
    meeting = points[first - 1] + random.uniform(-0.3, 0.3, size=3)
    for joint in range(first, 6):
        points[joint] = meeting + random.uniform(-0.2, 0.2) * axes[joint]
    for joint in range(2, parallel):
        axes[joint] = axes[1] * random.choice([-1.0, 1.0])
    axes = np.array([unit(axis + error * random.normal(size=3)) for axis in axes])
    builder = viewer.Builder().add("base", None, (0.1, 0.2, -0.1), kind="fixed")
    above, place = "base", np.array([0.1, 0.2, -0.1])
    for joint, (axis, point) in enumerate(zip(axes, points, strict=True)):
        stiff = stiffness if joint == 2 else 0.0
        builder = builder.add(
            f"j{joint}", above, point - place, kind="hinge", axis=axis, limits=limits, stiffness=stiff
        )
        above, place = f"j{joint}", point
    return builder.add("tool", above, (0.05, 0.1, 0.02), kind="fixed").skeleton


def tool_of(rig: viewer.Skeleton, pose: viewer.Pose) -> tuple[Floats, Floats]:
    world, tool = viewer.fk(rig, pose), rig.index("tool")
    return world.positions[tool], world.rotations[tool]


def reached(rig: viewer.Skeleton, seed: int, most: float = math.pi) -> tuple[Floats, Goal]:
    """Random coordinates, and a goal for the tool that they meet."""
    values = np.random.default_rng(seed).uniform(-most, most, rig.dof)
    return values, Goal.pose("tool", *tool_of(rig, viewer.pose_at(rig, values)))


def solver_of(rig: viewer.Skeleton, goal: Goal, backend: Backend = "numpy", **options: Any) -> Solver:  # noqa: ANN401
    return Solver(rig, [goal], backend=backend, root="locked", natural=False, **options)


def check_meets(rig: viewer.Skeleton, pose: viewer.Pose, goal: Goal, metres: float = 1e-8) -> None:
    place, turn = tool_of(rig, pose)
    assert float(np.linalg.norm(place - np.array(goal.target))) < metres
    assert float(angle_between(turn, np.array(goal.target_rotation))) < max(10.0 * metres, 1e-7)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(12))
def test_all_poses_are_found_and_the_one_that_made_the_goal_is_among_them(family: str, seed: int) -> None:
    rig = arm(family, seed)
    values, goal = reached(rig, 100 + seed)
    found = viewer.all_solutions(solver_of(rig, goal), rig.rest_pose())
    assert 1 <= len(found) <= 8
    assert len(found) % 2 == 0
    for solution in found:
        check_meets(rig, solution.pose, goal)
    turned = [np.cos(viewer.coordinates(rig, one.pose) - values).min() for one in found]
    assert max(turned) > 1.0 - 1e-9


@pytest.mark.parametrize("family", FAMILIES)
def test_descents_from_random_starts_find_no_other_pose(family: str) -> None:
    rig = arm(family, 3)
    _, goal = reached(rig, 4)
    solver = solver_of(rig, goal, tolerance_m=1e-7, tolerance_deg=1e-5, restarts=False, backend="numpy")
    known = [viewer.coordinates(rig, one.pose) for one in viewer.all_solutions(solver, rig.rest_pose())]
    random, met = np.random.default_rng(5), set()
    for _ in range(60):
        solution = solver.solve(viewer.pose_at(rig, random.uniform(-math.pi, math.pi, rig.dof)))
        if solution.status is Status.CONVERGED:
            apart = [1.0 - np.cos(viewer.coordinates(rig, solution.pose) - one).min() for one in known]
            assert min(apart) < 1e-6
            met.add(int(np.argmin(apart)))
    assert len(met) >= 2


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(2))
def test_a_solve_takes_the_nearest_of_them_in_one_iteration(family: str, seed: int, backend: Backend) -> None:
    rig = arm(family, seed, limits=(-3.0, 3.0))
    for number in range(8):
        _, goal = reached(rig, 50 * seed + number, 3.0)
        start = viewer.pose_at(rig, np.random.default_rng(number).uniform(-1.0, 1.0, rig.dof))
        solver = solver_of(rig, goal, backend)
        solution = solver.solve(start)
        assert (solution.status, solution.iterations) == (Status.CONVERGED, 1)
        check_meets(rig, solution.pose, goal)
        begun = viewer.coordinates(rig, start)
        far = [
            np.square(viewer.coordinates(rig, one.pose) - begun).sum() for one in viewer.all_solutions(solver, start)
        ]
        moved = np.square(viewer.coordinates(rig, solution.pose) - begun).sum()
        assert moved == pytest.approx(min(far), abs=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_angles_are_inside_limits_of_more_than_a_turn(family: str) -> None:
    rig = arm(family, 1, limits=(-4.0, 5.5))
    values, goal = reached(rig, 2, 3.9)
    start = viewer.pose_at(rig, values + np.random.default_rng(3).uniform(-0.1, 0.1, rig.dof))
    solution = solver_of(rig, goal).solve(start)
    np.testing.assert_allclose(np.cos(viewer.coordinates(rig, solution.pose) - values), 1.0, atol=1e-9)
    assert solution.iterations == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_outside_limits_there_is_no_such_pose(family: str) -> None:
    rig = arm(family, 6, limits=(-0.4, 0.4))
    _, goal = reached(rig, 7)
    solver = solver_of(rig, goal)
    assert viewer.all_solutions(solver, rig.rest_pose()) == ()
    solution = solver.solve(rig.rest_pose())
    assert solution.status is not Status.CONVERGED
    assert np.abs(viewer.coordinates(rig, solution.pose)).max() < 0.4 + 1e-9
    assert viewer.all_solutions(solver_of(rig, goal, limits=False), rig.rest_pose())


@pytest.mark.parametrize("family", FAMILIES)
def test_an_arm_as_built_is_solved_too(family: str) -> None:
    """Axes of a measured robot are a fraction of a degree off: what a closed form leaves, a step or two take away."""
    iterations = []
    for seed in range(8):
        rig = arm(family, seed, error=2e-4)
        _, goal = reached(rig, 20 + seed)
        solution = solver_of(rig, goal, tolerance_m=1e-8, tolerance_deg=1e-6).solve(rig.rest_pose())
        assert solution.status is Status.CONVERGED
        check_meets(rig, solution.pose, goal, 1e-7)
        iterations.append(solution.iterations)
    assert 1 < np.median(iterations) <= 4


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_turn_that_nothing_decides_stays(family: str, backend: Backend) -> None:
    """With the fourth axis along the sixth, or the sixth along the parallel ones, one turn can be made by others."""
    y, z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    axes = (y, z, z, y, z, y) if family == WRIST else (y, z, z, z, y, z)
    builder = viewer.Builder().add("base", None, (0.0, 0.0, 0.0), kind="fixed")
    above = "base"
    for joint, (axis, length) in enumerate(zip(axes, (0.3, 0.1, 0.5, 0.4, 0.0, 0.0), strict=True)):
        builder = builder.add(f"j{joint}", above, (0.1 * length, length, 0.0), kind="hinge", axis=axis)
        above = f"j{joint}"
    rig = builder.add("tool", above, (0.0, 0.1, 0.0), kind="fixed").skeleton
    values = np.array([0.3, -0.4, 0.7, 0.5, 0.0, -0.6])
    goal = Goal.pose("tool", *tool_of(rig, viewer.pose_at(rig, values)))
    start = viewer.pose_at(rig, values + np.array((0.05, -0.05, 0.05, 0.0, 0.05, 0.0)))
    solution = solver_of(rig, goal, backend).solve(start)
    assert solution.status is Status.CONVERGED
    check_meets(rig, solution.pose, goal)
    kept = 3 if family == WRIST else 5
    assert viewer.coordinates(rig, solution.pose)[kept] == pytest.approx(values[kept], abs=1e-6)


def upright(axes: str, *offsets: tuple[float, float, float]) -> viewer.Skeleton:
    """An arm whose axes are those of space, its joints and its tool offset one from another."""
    builder, above = viewer.Builder().add("base", None, (0.0, 0.0, 0.0), kind="fixed"), "base"
    for joint, (axis, offset) in enumerate(zip(axes, offsets, strict=False)):
        builder = builder.add(f"j{joint}", above, offset, kind="hinge", axis=np.eye(3)["xyz".index(axis)])
        above = f"j{joint}"
    return builder.add("tool", above, offsets[-1], kind="fixed").skeleton


UR5 = upright(
    "yzzzyz", (0, 0.09, 0), (0, 0, 0.136), (0.425, 0, -0.12), (0.39, 0, 0), (0, 0, 0.09), (0, -0.1, 0), (0, 0, 0.08)
)  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("beside", [0.0, 1e-10, 1e-8, 1e-7, 1e-6])
def test_where_two_axes_fall_together_each_shoulder_still_has_its_poses(beside: float, backend: Backend) -> None:
    """With the fifth angle at 0 the sixth may have any value of a range, but not any value at all.

    The value it has at the start may be out of that range, and then the solutions of this shoulder are beside it.
    """
    for seed in range(5):
        values = np.random.default_rng(seed).uniform(-2.5, 2.5, 6)
        values[4] = beside
        pose = viewer.pose_at(UR5, values)
        goal = Goal.pose("tool", *tool_of(UR5, pose))
        found = viewer.all_solutions(solver_of(UR5, goal, backend), UR5.rest_pose())
        for solution in found:
            check_meets(UR5, solution.pose, goal, 2e-6)
        angles = np.array([viewer.coordinates(UR5, one.pose) for one in found])
        own = (np.cos(angles[:, 0] - values[0]) > 1.0 - 1e-6) & (np.cos(angles[:, 4]) > 1.0 - 1e-6)
        assert 1 <= np.count_nonzero(own) <= 4
        assert solver_of(UR5, goal, backend).solve(UR5.rest_pose()).iterations <= 2


@pytest.mark.parametrize("bend", [0.0, 1e-9, 1e-7, 1e-5, 1e-4])
def test_a_straight_arm_has_finitely_many_poses(bend: float) -> None:
    """Where elbow up and down are one pose, no freedom is left, though the Jacobian loses a rank."""
    for seed in range(4):
        values = np.random.default_rng(seed).uniform(-2.5, 2.5, 6)
        values[2] = bend
        goal = Goal.pose("tool", *tool_of(UR5, viewer.pose_at(UR5, values)))
        found = viewer.all_solutions(solver_of(UR5, goal), UR5.rest_pose())
        turned = [np.cos(viewer.coordinates(UR5, one.pose) - values).min() for one in found]
        assert max(turned) > 1.0 - 1e-4


def test_above_the_first_axis_its_turn_stays() -> None:
    """A wrist above the first joint does not say how that is turned: as at the start."""
    rig = upright("yzzyzy", (0, 0.3, 0), (0, 0, 0), (0, 0.5, 0), (0, 0.4, 0), (0, 0, 0), (0, 0, 0), (0, 0.1, 0))
    second = 0.4
    third = -math.asin(0.5 * math.sin(second) / 0.4) - second
    values = np.array([0.9, second, third, 0.3, 0.8, -0.2])
    goal = Goal.pose("tool", *tool_of(rig, viewer.pose_at(rig, values)))
    start = viewer.pose_at(rig, np.array([0.5, 0.3, -0.3, 0.2, 0.5, 0.1]))
    solution = solver_of(rig, goal).solve(start)
    check_meets(rig, solution.pose, goal)
    assert viewer.coordinates(rig, solution.pose)[0] == pytest.approx(0.5, abs=1e-9)


def test_other_arms_and_goals_are_solved_as_before() -> None:
    rig = arm(NEITHER, 0)
    values, goal = reached(rig, 1)
    solution = solver_of(rig, goal).solve(viewer.pose_at(rig, values + 0.1))
    assert solution.status is Status.CONVERGED
    assert solution.iterations > 1
    rig = arm(WRIST, 0)
    place, _ = tool_of(rig, viewer.pose_at(rig, values))
    solution = solver_of(rig, Goal.position("tool", place)).solve(rig.rest_pose())
    assert solution.status is Status.CONVERGED
    assert solution.iterations > 1


@pytest.mark.parametrize("family", FAMILIES)
def test_a_place_that_is_too_far_is_missed_by_as_little_as_by_descents(family: str) -> None:
    rig = arm(family, 2)
    goal = Goal.pose("tool", (9.0, 1.0, 2.0), (0.0, 0.0, 0.0, 1.0))
    solution = solver_of(rig, goal).solve(rig.rest_pose())
    assert solution.status is Status.UNREACHABLE
    assert viewer.all_solutions(solver_of(rig, goal), rig.rest_pose()) == ()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_joint_that_may_not_move_stays(family: str) -> None:
    rig = arm(family, 2, stiffness=1.0)
    values, goal = reached(rig, 3, 1.0)
    values[2] += 0.3
    solution = solver_of(rig, goal).solve(viewer.pose_at(rig, values))
    assert viewer.coordinates(rig, solution.pose)[2] == pytest.approx(values[2], abs=1e-9)


def branch_goes_on(rig: viewer.Skeleton, values: Floats, way: Floats) -> bool:
    """Whether the solution at a start goes on, in small steps, as far as the tool moves along a way."""
    place, turn = tool_of(rig, viewer.pose_at(rig, values))
    for part in np.linspace(0.0, 1.0, 16)[1:].tolist():
        goal = Goal.pose("tool", np.asarray(place) + part * way, turn)
        found = viewer.all_solutions(solver_of(rig, goal, QUICK), viewer.pose_at(rig, values))
        steps = [wrapped(viewer.coordinates(rig, one.pose) - values) for one in found]
        least = min(steps, key=lambda step: float(np.abs(step).max()), default=np.full(6, np.inf))
        if np.abs(least).max() > 0.5:
            return False
        values = values + least
    return True


def wrapped(angles: Floats) -> Floats:
    return np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi


def test_a_drag_arrives_wherever_its_branch_of_solutions_goes_on() -> None:
    ends = 0
    for seed in range(8):
        random = np.random.default_rng(seed)
        values, way = random.uniform(-2.5, 2.5, 6), random.normal(size=3)
        way *= 0.25 / np.linalg.norm(way)
        if not branch_goes_on(UR5, values, way):
            ends += 1
            continue
        start = viewer.pose_at(UR5, values)
        place, turn = tool_of(UR5, start)
        drag = solver_of(UR5, Goal.pose("tool", place, turn), QUICK).drag(start)
        for frame in range(1, 61):
            there = np.asarray(place) + min(frame / 40, 1.0) * way
            solution = drag.move([there], target_rotations=[turn], iterations=4)
        assert solution.status is Status.CONVERGED
    assert 0 < ends < 4  # so that both are seen


KINDS = (JointKind.FIXED, JointKind.HINGE, JointKind.HINGE, JointKind.SLIDE)
GOALS = (
    Goal.pose("j8.tip", (0.3, 0.2, 0.1), (0.0, 0.6, 0.0, 0.8), weight=2.0, rotation_weight=0.5),
    Goal.position("j8", (0.3, 0.2, 0.1)),
    Goal.rotation("j7", (0.0, 0.6, 0.0, 0.8)),
)


def random_arm(random: np.random.Generator) -> tuple[Skeleton, Pose]:
    skeleton = random_skeleton(random, 9, KINDS, range(-1, 8))
    return skeleton, random_pose(random, skeleton)


def posed(seed: int, goal: Goal) -> tuple[Problem, State]:
    """An arm with joined bones, and coordinates inside its limits with the local motion that they mean."""
    random = np.random.default_rng(seed)
    skeleton, pose = random_arm(random)
    case = problem(skeleton, [goal], pose)
    s, state = case.system, make_state(case.system)
    copy_state(case.state, case.work.start)
    arm_steps.join_bones(s, case.work)
    state.x[:] = np.clip(random.normal(size=len(s.lower)) * 4.0, s.lower, s.upper)
    state.q[:], state.t[:] = case.state.q, case.state.t
    for k in np.flatnonzero(np.diff(s.first)).tolist():
        joints.set_local(s, k, state.x, state.q, state.t)
    return case, state


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("seed", range(12))
def test_an_arm_has_the_residuals_and_rows_of_any_figure(seed: int, goal: Goal) -> None:
    case, state = posed(seed, goal)
    s, work = case.system, make_work(case.system)
    assert arm_steps.is_arm(s)
    error, worst = joints.residuals(s, work, state.q, state.t, state.e)
    step.linearise(s, work, state.x)
    e = np.full(len(state.e), np.nan)
    found = arm_steps.reach_of(s, case.work, state.x, e)
    arm_steps.linearise_arm(s, case.work)
    np.testing.assert_allclose(e, state.e, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found, (error, worst), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(case.work.miss, work.miss, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(case.work.jacobian, work.jacobian, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("seed", range(20))
def test_six_rows_are_solved_by_pairs(seed: int) -> None:
    random, damping = np.random.default_rng(seed), 10.0 ** -(seed % 6)
    columns = random.normal(size=(6, 1 + seed % 9))  # few columns leave the matrix without full rank
    gram, e, y = np.zeros((8, 8)), random.normal(size=6), np.zeros(6)
    gram[:6, :6] = np.triu(columns @ columns.T)
    dual_system.solve_six(gram, e, damping, y)
    expected = np.linalg.solve(columns @ columns.T + damping * np.eye(6), e)
    np.testing.assert_allclose(y, expected, rtol=1e-6, atol=1e-6 / damping)


def test_other_figures_are_no_arms() -> None:
    random = np.random.default_rng(0)
    skeleton, pose = random_arm(random)
    goals = [GOALS[0], Goal.position("j5", (0.0, 0.1, 0.2))]
    assert not arm_steps.is_arm(problem(skeleton, goals, pose).system)
    for goal in (Goal.aim("j8", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), Goal.distance("j8", 0.4, (0.0, 0.0, 0.0))):
        assert not arm_steps.is_arm(problem(skeleton, [goal], pose).system)
    balls = chain(3)
    assert not arm_steps.is_arm(problem(balls, [Goal.position("j2", (0.1, 0.2, 0.3))], balls.rest_pose()).system)
    biped = viewer.load("sample:biped").skeleton
    assert not arm_steps.is_arm(problem(biped, [Goal.position("Head", (0.0, 1.0, 0.0))], biped.rest_pose()).system)


def outside(skeleton: Skeleton, pose: Pose) -> float:
    """How far the joints are outside their limits: radians, metres."""
    space = joint_space(skeleton)
    return float(space.excess(space.measure(pose.rotations, pose.translations)).max())


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("seed", range(6))
def test_poses_that_exist_are_found_within_limits(seed: int, backend: Backend) -> None:
    if backend == "numba":
        pytest.importorskip("numba")
    random = np.random.default_rng(seed)
    skeleton = six_axes(random)
    start, end = skeleton.rest_pose(), skeleton.index("j8")
    solver = Solver(skeleton, [Goal.pose("j8", (0, 0, 0), (0, 0, 0, 1))], backend=backend, natural=False)
    system, met = solver.prepared.assembly.system, 0
    for _ in range(8):
        state = make_state(system)
        state.x[:] = random.uniform(np.maximum(system.lower, -3.0), np.minimum(system.upper, 3.0))
        state.q[:], state.t[:] = start.rotations, start.translations
        for k in np.flatnonzero(np.diff(system.first)).tolist():
            joints.set_local(system, k, state.x, state.q, state.t)
        wanted = viewer.fk(skeleton, viewer.Pose(state.q, state.t))
        place, turn = wanted.positions[end], wanted.rotations[end]
        found = solver.solve(start, targets=place[None], target_rotations=turn[None])
        if found.status is not Status.CONVERGED:
            continue
        met += 1
        reached = viewer.fk(skeleton, found.pose)
        assert np.linalg.norm(reached.positions[end] - place) < 1e-3
        assert np.degrees(angle_between(reached.rotations[end], turn)) < 0.5
        assert outside(skeleton, found.pose) < 1e-9
        np.testing.assert_array_equal(found.pose.rotations[2::3], start.rotations[2::3])
        np.testing.assert_allclose(found.pose.translations, start.translations, atol=1e-12)
    assert met >= 7  # of 8: few ways lead to a pose that six axes with limits have


def six_axes(random: np.random.Generator) -> Skeleton:
    """Six hinges with random axes, half of them limited, and fixed joints between."""
    joints = 9
    made = random_skeleton(random, joints, (JointKind.HINGE,), range(-1, joints - 1))
    kinds = tuple(JointKind.FIXED if j % 3 == 2 else JointKind.HINGE for j in range(joints))
    limited = JointLimits.coordinates((-2.0, 1.5))
    limits = tuple(limited if kind is JointKind.HINGE and j % 2 else None for j, kind in enumerate(kinds))
    axes = made.axes.copy()
    axes[2::3] = 0.0
    return replace(made, kinds=kinds, axes=axes, limits=limits, stiffness=np.zeros(joints))
