"""FABRIK beside the points of its paper, on chains, trees, hinges and under limits."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import ROOT
from inside.spatial import Floats, from_axis_angle
from method_cases import planar

import viewer
from viewer import Goal, Solver, Status

BIPED = viewer.load(str(ROOT / "skeletons" / "biped.json")).skeleton


def chain(count: int) -> viewer.Skeleton:
    """A chain of bones of equal length, 1 m in all, with ball joints; its end is the last joint."""
    builder = viewer.Builder().add("j0", None, (0.0, 0.0, 0.0))
    for k in range(1, count + 1):
        builder = builder.add(f"j{k}", f"j{k - 1}", (0.0, 1.0 / count, 0.0))
    return builder.skeleton


def reference(points: Floats, target: Floats, iterations: int) -> Floats:
    """The two passes of the paper over the points of one chain: Aristidou and Lasenby 2011, algorithm 1."""
    points, lengths = points.copy(), np.linalg.norm(np.diff(points, axis=0), axis=1)
    start = points[0].copy()
    for _ in range(iterations):
        points[-1] = target
        for i in range(len(points) - 2, -1, -1):
            away = points[i] - points[i + 1]
            points[i] = points[i + 1] + away * lengths[i] / np.linalg.norm(away)
        points[0] = start
        for i in range(len(points) - 1):
            away = points[i + 1] - points[i]
            points[i + 1] = points[i] + away * lengths[i] / np.linalg.norm(away)
    return points


@pytest.mark.parametrize("count", [2, 5, 12])
def test_joints_are_where_the_points_of_the_paper_are(count: int) -> None:
    rig, random = chain(count), np.random.default_rng(count)
    bent = viewer.Pose(from_axis_angle(np.array([1.0, 0.0, 0.0]), random.uniform(-0.5, 0.5, len(rig))), rig.offsets)
    before = viewer.fk(rig, bent).positions
    target = random.normal(size=3)
    target *= 0.7 / np.linalg.norm(target)
    goals = [Goal.position(f"j{count}", target)]
    for iterations in (1, 2, 3):
        solver = Solver(
            rig, goals, method="fabrik", limits=False, root="locked", max_iterations=iterations, tolerance_m=1e-12
        )
        found = viewer.fk(rig, solver.solve(bent).pose).positions
        np.testing.assert_allclose(found, reference(before, target, iterations), atol=1e-9)


@pytest.mark.parametrize("count", [4, 10, 30, 100])
def test_long_chains_take_a_few_iterations(count: int) -> None:
    rig, counts = chain(count), []
    for seed in range(5):
        random = np.random.default_rng(seed)
        target = random.normal(size=3)
        target *= random.uniform(0.2, 0.9) / np.linalg.norm(target)
        solver = Solver(rig, [Goal.position(f"j{count}", target)], method="fabrik", limits=False, root="locked")
        solution = solver.solve(rig.rest_pose())
        assert solution.status is Status.CONVERGED
        counts.append(solution.iterations)
    assert np.median(counts) <= 6


def test_a_tree_with_a_free_root_and_hinges_reaches_several_goals() -> None:
    start = BIPED.rest_pose()
    world = viewer.fk(BIPED, start)
    places = {one.name: world.point(one.joint, np.array(one.offset)) for one in BIPED.effectors}
    goals = [Goal.position(name, places[name]) for name in ("LeftFoot", "RightFoot", "RightHand")]
    goals.append(Goal.position("LeftHand", places["LeftHand"] + (-0.3, -0.2, 0.3)))
    solution = Solver(BIPED, goals, method="fabrik", limits=False).solve(start)
    assert solution.status is Status.CONVERGED
    kinds = [kind for kind in BIPED.kinds if kind is viewer.JointKind.HINGE]
    assert kinds  # elbows and knees turned about their axes alone
    assert viewer.project_pose(BIPED, solution.pose, limits=False).is_near(solution.pose)


def test_limits_hold_even_where_it_gets_stuck() -> None:
    goals = [Goal.position("LeftHand", (0.5, 1.3, 0.4)), Goal.position("RightHand", (-0.2, 0.9, 0.5))]
    solution = Solver(BIPED, goals, method="fabrik", root="locked").solve(BIPED.relaxed_pose())
    assert viewer.limit_violation(BIPED, solution.pose).max() < 1e-9


def test_the_rotation_of_a_pose_goal_is_met_and_other_kinds_are_unserved() -> None:
    rig = chain(6)
    turn = from_axis_angle(np.array([0.0, 0.0, 1.0]), np.array(0.8))
    goals = [Goal.pose("j6", (0.3, 0.5, 0.2), turn), Goal.aim("j3", (1.0, 1.0, 1.0), axis=(0.0, 1.0, 0.0))]
    solution = Solver(rig, goals, method="fabrik", limits=False, root="locked").solve(rig.rest_pose())
    assert solution.errors_deg[0] < 0.5
    assert solution.errors_m[0] < 1e-3
    assert solution.unserved == ("j3",)


def test_a_straight_chain_with_its_target_on_the_line_is_bent() -> None:
    arm = planar(3)
    solution = Solver(arm, [Goal.position("j2.tip", (1.5, 0.0, 0.0))], method="fabrik").solve(arm.rest_pose())
    assert solution.status is Status.CONVERGED
