"""Arms: one goal at the end of hinges and slides. What is left out of their arithmetic changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.ik import Backend, State, arm_search, copy_state, dual_system, joints, make_state, make_work, step
from inside.spatial import angle_between
from rigs import Problem, chain, problem, random_pose, random_skeleton

import viewer
from viewer import Goal, Solver, Status
from viewer.skeleton import JointKind, JointLimits, joint_space

if TYPE_CHECKING:
    from viewer.skeleton import Pose, Skeleton

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
    arm_search.join_bones(s, case.work)
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
    assert arm_search.is_arm(s)
    error, worst = joints.residuals(s, work, state.q, state.t, state.e)
    step.linearise(s, work, state.x)
    e = np.full(len(state.e), np.nan)
    found = arm_search.reach_of(s, case.work, state.x, e)
    arm_search.linearise_arm(s, case.work)
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
    assert not arm_search.is_arm(problem(skeleton, goals, pose).system)
    for goal in (Goal.aim("j8", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), Goal.distance("j8", 0.4, (0.0, 0.0, 0.0))):
        assert not arm_search.is_arm(problem(skeleton, [goal], pose).system)
    balls = chain(3)
    assert not arm_search.is_arm(problem(balls, [Goal.position("j2", (0.1, 0.2, 0.3))], balls.rest_pose()).system)
    biped = viewer.load("sample:biped").skeleton
    assert not arm_search.is_arm(problem(biped, [Goal.position("Head", (0.0, 1.0, 0.0))], biped.rest_pose()).system)


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
