"""Cyclic coordinate descent: it gets nearer with every sweep, stays inside limits, always stops, and locks up.

FABRIK beside the points of its paper, on chains, trees, hinges and under limits.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import ROOT
from inside.ik import (
    BUDGET,
    CONVERGED,
    STALLED,
    UNTURNED,
    best_angle,
    best_turn,
    cost,
    quaternion,
    rotate as turned,
    scaled,
    unit,
    vector,
)
from inside.spatial import Floats, Vector, angle_between, from_axis_angle, normalized, rotate
from method_cases import Case, bend, planar, random_tree, rig, some_pose

import viewer
from viewer import Solver, Status
from viewer.ik import Goal
from viewer.skeleton import JointKind, JointLimits, limit_violation

ORDERS = pytest.mark.parametrize("method", ["ccd", "ccd-from-base"])
BALL = JointKind.BALL


def triples(random: np.random.Generator, count: int) -> list[Vector]:
    return [vector(row) for row in random.normal(size=(count, 3)).tolist()]


def test_best_angle_beats_all_others() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        pairs = [
            (r, d, float(random.uniform(0.1, 2.0))) for r, d in zip(triples(random, 3), triples(random, 3), strict=True)
        ]
        axis = unit(triples(random, 1)[0])
        costs = [
            cost(pairs, quaternion(from_axis_angle(axis, angle).tolist()))
            for angle in (best_angle(pairs, axis), *np.linspace(-math.pi, math.pi, 181))
        ]
        assert costs[0] == pytest.approx(min(costs))


def test_best_angle_is_right_at_0_and_180_degrees_and_without_a_lever() -> None:
    z = (0.0, 0.0, 1.0)
    assert best_angle([((1.0, 0.0, 0.0), (2.0, 0.0, 0.0), 1.0)], z) == 0.0
    assert abs(best_angle([((1.0, 0.0, 0.0), (-2.0, 0.0, 0.0), 1.0)], z)) == math.pi
    assert best_angle([((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), 1.0)], z) == 0.0
    assert best_angle([], z) == 0.0


def test_best_turn_beats_all_others() -> None:
    random = np.random.default_rng(1)
    for count in (1, 2, 3, 5):
        pairs = [(r, d, 1.0) for r, d in zip(triples(random, count), triples(random, count), strict=True)]
        least = cost(pairs, best_turn(pairs))
        others = normalized(random.normal(size=(500, 4))).tolist()
        assert all(least <= cost(pairs, quaternion(other)) + 1e-9 for other in others)


def test_best_turn_recovers_a_turn_and_twists_no_more_than_needed() -> None:
    random = np.random.default_rng(2)
    for turn in normalized(random.normal(size=(50, 4))):
        q = quaternion(turn.tolist())
        pairs = [(r, turned(q, r), 1.0) for r in triples(random, 3)]
        assert angle_between(best_turn(pairs), turn) < 1e-7
        # All on one line: the turn about the line is left open, and none is made.
        line = triples(random, 1)[0]
        pairs = [(scaled(line, a), turned(q, scaled(line, a)), 1.0) for a in (1.0, 2.0)]
        shortest = 2.0 * math.asin(np.linalg.norm(np.subtract(pairs[0][0], pairs[0][1])) / np.linalg.norm(line) / 2.0)
        assert angle_between(best_turn(pairs), UNTURNED) == pytest.approx(shortest, abs=1e-5)


@ORDERS
def test_every_sweep_gets_nearer(method: str) -> None:
    for seed in range(6):
        skeleton = random_tree(seed)
        goals = [Goal.position("j7.tip", (0.6, 0.4, -0.5)), Goal.position("j5", (-0.5, 0.5, 0.2), weight=2.0)]
        case = Case(skeleton, goals)
        errors = [case.solve(method, max_iterations=1)[2] for _ in range(25)]
        assert (np.diff(errors) <= 1e-12).all()
        assert errors[-1] < errors[0]


@ORDERS
def test_reaches_every_kind_of_goal_of_many_effectors(method: str) -> None:
    """Two arms on a common trunk of ball joints."""
    parents = [-1, 0, 1, 2, 3, 1, 5, 6]
    offsets = [(0.0, 0.0, 0.0), (0.0, 0.3, 0.0), *[(0.3, 0.1, 0.0)] * 3, *[(-0.3, 0.1, 0.0)] * 3]
    skeleton = rig(parents, offsets, [BALL] * 8, tip=(-0.2, 0.0, 0.0))
    goals = [
        Goal.pose("j4", (0.6, 0.6, 0.4), (0.0, 0.6, 0.0, 0.8), rotation_weight=0.3),
        Goal.distance("j7.tip", 0.5, (-1.0, 0.6, 0.4)),
        Goal.aim("j7", (0.0, 1.0, 2.0), (0.0, 0.0, 1.0), rotation_weight=0.3),
    ]
    case = Case(skeleton, goals)
    assert case.solve(method, max_iterations=1000)[0] == CONVERGED


@ORDERS
def test_effector_that_faces_exactly_away_turns_round(method: str) -> None:
    skeleton = rig([-1], [(0.0, 0.0, 0.0)], [BALL])
    for goal in (Goal.aim("j0", (-3.0, 0.0, 0.0), (1.0, 0.0, 0.0)), Goal.rotation("j0", (0.0, 1.0, 0.0, 0.0))):
        assert Case(skeleton, [goal]).solve(method)[0] == CONVERGED


@ORDERS
def test_free_root_moves(method: str) -> None:
    skeleton = rig([-1, 0], [(0.0, 1.0, 0.0), (0.5, 0.0, 0.0)], [JointKind.FREE, BALL], tip=(0.5, 0.0, 0.0))
    case = Case(skeleton, [Goal.pose("j1.tip", (5.0, -2.0, 1.0), (0.0, 0.6, 0.0, 0.8))])
    assert case.solve(method)[0] == CONVERGED
    case = Case(skeleton, [Goal.position("j1.tip", (5.0, -2.0, 1.0))], root="translate")
    assert case.solve(method)[0] == CONVERGED
    np.testing.assert_array_equal(case.answer.rotations[0], skeleton.rest_rotations[0])


@ORDERS
def test_slide_goes_as_far_as_it_may(method: str) -> None:
    axes = np.zeros((2, 2, 3))
    axes[1, 0] = (0.0, 1.0, 0.0)
    kinds = [JointKind.FIXED, JointKind.SLIDE]
    limits = [None, JointLimits.coordinates((-0.1, 0.4))]
    skeleton = rig([-1, 0], np.zeros((2, 3)), kinds, axes=axes, limits=limits, tip=(0.0, 1.0, 0.0))
    for height, slid in ((1.25, 0.25), (3.0, 0.4), (0.0, -0.1)):
        case = Case(skeleton, [Goal.position("j1.tip", (0.0, height, 0.0))])
        case.solve(method)
        assert case.state.x[0] == pytest.approx(slid, abs=1e-9)


@ORDERS
def test_straight_arm_can_be_pulled_straight_inwards(method: str) -> None:
    case = Case(planar(4), [Goal.position("j3.tip", (2.0, 0.0, 0.0))])
    assert case.solve(method, max_iterations=500)[0] == CONVERGED


@ORDERS
def test_stays_inside_limits_and_always_stops(method: str) -> None:
    random = np.random.default_rng(3)
    for seed in range(12):
        case = Case(
            random_tree(seed), [Goal.position("j7.tip", random.normal(size=3)), Goal.rotation("j6", (1, 0, 0, 0))]
        )
        start = some_pose(case, random)
        case.state.x[:], case.state.q[:], case.state.t[:] = start.x, start.q, start.t
        code, iterations, _ = case.solve(method, max_iterations=60)
        assert iterations <= 60
        assert code in {CONVERGED, STALLED, BUDGET}
        assert limit_violation(case.skeleton, case.answer).max() < 1e-9


@ORDERS
def test_angle_that_is_shut_one_way_goes_the_other(method: str) -> None:
    """From 160 to 200 degrees a hinge that ends at 170 has to go round by 0."""
    axes = np.zeros((1, 2, 3))
    axes[0, 0] = (0.0, 0.0, 1.0)
    limit = JointLimits.coordinates((math.radians(-170.0), math.radians(170.0)))
    skeleton = rig([-1], np.zeros((1, 3)), [JointKind.HINGE], axes=axes, limits=[limit])
    target = rotate(from_axis_angle((0.0, 0.0, 1.0), math.radians(-160.0)), (1.0, 0.0, 0.0))
    case = Case(skeleton, [Goal.position("j0.tip", target)])
    bend(case, math.radians(160.0))
    assert case.solve(method, step_cap=10.0)[0] == CONVERGED
    assert case.state.x[0] == pytest.approx(math.radians(-160.0))


@ORDERS
def test_stiff_joints_move_less_and_still_arrive(method: str) -> None:
    skeleton = rig(
        range(-1, 2), [(0.0, 0.0, 0.0), *[(0.5, 0.0, 0.0)] * 2], [BALL] * 3, stiffness=np.array([0.5, 0.2, 1.0])
    )
    case = Case(skeleton, [Goal.position("j2.tip", (0.9, 0.9, 0.3))])
    assert case.solve(method, max_iterations=500)[0] == CONVERGED
    np.testing.assert_array_equal(case.answer.rotations[2], skeleton.rest_rotations[2])


def s_lock_arm() -> Case:
    """Four links, each joint limited to +-45 degrees."""
    return Case(planar(4, 45.0, 0.25), [Goal.position("j3.tip", (0.0, 0.0, 0.0))])


def tip_of(angles: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[float]:
    headings = np.cumsum(angles)
    return [0.25 * float(np.cos(headings).sum()), 0.25 * float(np.sin(headings).sum()), 0.0]


def stuck_part(case: Case, method: str, *, dragged: bool, goals: int = 40, restarts: int = 0) -> float:
    """Part of places in reach that are missed: each from the straight arm, or each from the one before."""
    random = np.random.default_rng(4)
    stuck = 0
    case.begin(case.skeleton.rest_pose())
    for angles in random.uniform(-math.pi / 4.0, math.pi / 4.0, size=(goals, 4)):
        if not dragged:
            case.begin(case.skeleton.rest_pose())
        case.system.goal_target[0] = tip_of(angles)
        stuck += case.solve(method, restarts=restarts)[0] != CONVERGED
        assert limit_violation(case.skeleton, case.answer).max() < 1e-9
    return stuck / goals


def test_limited_ccd_locks_up_and_the_default_does_not() -> None:
    case = s_lock_arm()
    assert 0.05 < stuck_part(case, "ccd", dragged=True) < 0.6
    assert stuck_part(case, "ccd", dragged=False) > 0.0
    assert stuck_part(case, "default", dragged=False, restarts=16) == 0.0


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
