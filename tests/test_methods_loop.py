"""The loop that the Jacobian methods share: what it serves, numeric Jacobians, and when it stops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from inside.ik import BUDGET, CONVERGED, DIVERGED, STALLED, Problem, Settings, Tuning
from method_cases import JACOBIAN, Case, arm, random_tree, rig, some_pose

from viewer.errors import InputError
from viewer.ik import Goal
from viewer.skeleton import JointKind


@pytest.mark.parametrize("method", JACOBIAN)
def test_reaches_places_turns_distances_and_aims(method: str) -> None:
    ball = JointKind.BALL
    skeleton = rig(range(-1, 3), [(0.0, 0.0, 0.0), *[(0.5, 0.0, 0.0)] * 3], [ball] * 4, tip=(0.5, 0.0, 0.0))
    for goal in (
        Goal.position("j3.tip", (0.9, 0.7, 0.4)),
        Goal.rotation("j3", (0.5, 0.5, 0.5, 0.5)),
        Goal.distance("j3.tip", 0.8, (0.5, 0.5, 0.2)),
        Goal.aim("j3", (-0.4, 1.0, 0.3), (0.0, 0.0, 1.0)),
        Goal.pose("j3.tip", (0.9, 0.7, 0.4), (0.0, 0.6, 0.0, 0.8)),
    ):
        case = Case(skeleton, [goal])
        case.state.q[:] = [(0.0, 0.0, math.sin(0.1), math.cos(0.1))] * 4
        assert case.solve(method, max_iterations=1000)[0] == CONVERGED, goal.kind


@pytest.mark.parametrize("method", JACOBIAN)
def test_numeric_jacobian_gives_the_same_steps(method: str) -> None:
    for seed in range(4):
        skeleton = random_tree(seed)
        goals = [
            Goal.pose("j7.tip", (0.3, 0.4, -0.2), (0.5, -0.5, 0.5, 0.5)),
            Goal.aim("j5", (1.0, 0.2, 0.3), (0.0, 1.0, 0.0), rotation_weight=0.3),
            Goal.distance("j6", 0.4, (0.2, 0.1, 0.0), weight=2.0),
        ]
        answers = []
        for numeric in (False, True):
            case = Case(skeleton, goals)
            case.solve(method, Tuning(numeric=numeric), max_iterations=1)
            answers.append(case.answer)
        np.testing.assert_allclose(answers[0].rotations, answers[1].rotations, atol=1e-5)
        np.testing.assert_allclose(answers[0].translations, answers[1].translations, atol=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_numeric_rows_are_the_analytic_ones(seed: int) -> None:
    """Of every joint kind, kind of goal and form of limits, away from rest: the rows that all methods take."""
    skeleton = random_tree(seed)
    goals = [
        Goal.position("j4", (0.1, 0.3, 0.2), weight=2.0, offset=(0.1, 0.0, 0.2)),
        Goal.rotation("j6", (0.5, 0.5, 0.5, 0.5)),
        Goal.pose("j7.tip", (0.3, 0.4, -0.2), (0.5, -0.5, 0.5, 0.5), rotation_weight=0.4),
        Goal.aim("j5", (1.0, 0.2, 0.3), (0.0, 1.0, 0.0), rotation_weight=0.3),
        Goal.distance("j6", 0.4, (0.2, 0.1, 0.0), weight=2.0),
    ]
    rows = []
    for numeric in (False, True):
        case = Case(skeleton, goals)
        pose = some_pose(case, np.random.default_rng(seed))
        case.state.x[:], case.state.q[:], case.state.t[:] = pose.x, pose.q, pose.t
        problem = Problem.made(case.system, case.work, case.state, Settings(), None, Tuning(numeric=numeric))
        problem.evaluate(problem.state)
        problem.rows.linearise(problem.s, problem.w, problem.state.x)
        rows.append(problem.w.jacobian.copy())
    assert np.abs(rows[0]).max() > 0.1
    assert not np.array_equal(rows[0], rows[1])
    np.testing.assert_allclose(rows[1], rows[0], atol=1e-5)


@pytest.mark.parametrize("method", JACOBIAN)
def test_half_turns_are_no_trouble_for_differences(method: str) -> None:
    skeleton = rig([-1, 0], [(0.0, 0.0, 0.0), (0.5, 0.0, 0.0)], [JointKind.BALL] * 2, tip=(0.5, 0.0, 0.0))
    for goal in (Goal.rotation("j1", (1.0, 0.0, 0.0, 0.0)), Goal.aim("j1", (-5.0, 0.0, 0.0), (1.0, 0.0, 0.0))):
        case = Case(skeleton, [goal])
        assert case.solve(method, Tuning(numeric=True))[0] == CONVERGED


def test_divergence_is_said_and_the_last_good_pose_kept() -> None:
    case = arm((0.0, 0.0, 0.0), start=0.5)
    case.system.goal_target[0] = case.tip() + np.array([2e-3, 0.0, 0.0])
    before = case.state.x.copy()
    code, iterations, _ = case.solve("transpose", Tuning(step=1e4, guarded=False))
    assert (code, iterations) == (DIVERGED, 1)
    np.testing.assert_array_equal(case.state.x, before)


@pytest.mark.parametrize("method", JACOBIAN)
def test_budget_is_kept(method: str) -> None:
    case = arm((1.0, 3.0, 0.0), start=0.05)
    before = case.state.x.copy()
    assert case.solve(method, max_iterations=0)[:2] == (BUDGET, 0)
    np.testing.assert_array_equal(case.state.x, before)
    assert case.solve(method, max_iterations=2)[:2] == (BUDGET, 2)


@pytest.mark.parametrize("method", JACOBIAN)
def test_no_way_to_go_is_a_stall(method: str) -> None:
    """Straight, and pulled straight inwards: no joint has a lever."""
    case = arm((2.0, 0.0, 0.0), start=0.0)
    assert case.solve(method)[0] == STALLED


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"damping": 0.0}, "damping: expected a finite number above 0, found 0"),
        ({"damping": math.nan}, "damping: expected a finite number above 0, found nan"),
        ({"step": -1.0}, "step: expected a finite number above 0, found -1"),
        ({"most_turn": math.inf}, "most_turn: expected a finite number above 0, found inf"),
        ({"truncation": 1.0}, "truncation: expected a finite number, 0 or more and less than 1, found 1"),
        ({"bend": 2}, "bend: expected -1, 0 or 1, found 2"),
        ({"elbow": 2}, "elbow: expected -1, 0 or 1, found 2"),
    ],
)
def test_bad_tuning_is_refused(bad: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}$"):
        Tuning(**bad)  # type: ignore[arg-type]  # bad on purpose
