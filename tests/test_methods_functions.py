"""Goals given as functions of the user's: rows by central differences, for every Jacobian method and the default."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.ik import CONVERGED, METHODS, STALLED, Problem, Settings, Tuning
from inside.spatial import rotate
from method_cases import JACOBIAN, Case, planar, random_tree, some_pose

from viewer.errors import InputError
from viewer.ik import Goal
from viewer.skeleton import limit_violation

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.skeleton import Skeleton, World

TARGET = np.array([0.3, 0.2, 0.1])
SERVING = (*JACOBIAN, "default")


def place_of(skeleton: Skeleton) -> Goal:
    """The built-in position goal for the tip, as a function."""
    joint, offset = int(skeleton.tip_parents[0]), skeleton.tip_offsets[0]
    return Goal.function(lambda world: world.point(joint, offset) - TARGET, weight=1.5)


def linearised(case: Case) -> tuple[Floats, Floats]:
    """Jacobian and error of all rows at the case's pose."""
    problem = Problem.made(case.system, case.work, case.state, Settings(), case.extra, Tuning())
    problem.evaluate(problem.state)
    problem.rows.linearise(problem.s, problem.w, problem.state.x)
    return problem.w.jacobian.copy(), problem.state.e.copy()


@pytest.mark.parametrize("seed", range(6))
def test_rows_agree_with_the_analytic_ones(seed: int) -> None:
    skeleton = random_tree(seed)
    name = skeleton.tip_names[0]
    case = Case(skeleton, [Goal.position(name, TARGET, weight=1.5), place_of(skeleton)])
    pose = some_pose(case, np.random.default_rng(seed))
    case.state.x[:], case.state.q[:], case.state.t[:] = pose.x, pose.q, pose.t
    jacobian, e = linearised(case)
    np.testing.assert_allclose(jacobian[:, 3:], jacobian[:, :3], atol=1e-7)
    np.testing.assert_allclose(e[3:], e[:3], atol=1e-12)


@pytest.mark.parametrize("method", SERVING)
def test_function_alone_is_solved(method: str) -> None:
    skeleton = planar(4)
    goal = Goal.function(lambda world: world.point(3, skeleton.tip_offsets[0])[:2] - (1.2, 2.3))
    case = Case(skeleton, [goal])
    case.state.x[:] = 0.1
    assert case.solve(method, max_iterations=1000)[0] == CONVERGED
    np.testing.assert_allclose(case.tip()[:2], (1.2, 2.3), atol=1.1e-3)


@pytest.mark.parametrize("method", SERVING)
def test_function_and_built_in_goals_share_one_solve(method: str) -> None:
    """The tip at a place, and the second joint at a height."""
    skeleton = planar(4)
    goals = [Goal.position("j3.tip", (1.5, 2.0, 0.0)), Goal.function(lambda world: [world.positions[2][1] - 1.2])]
    case = Case(skeleton, goals)
    assert case.solve(method, max_iterations=3000)[0] == CONVERGED
    np.testing.assert_allclose(case.tip(), (1.5, 2.0, 0.0), atol=1e-3)
    assert case.world.positions[2][1] == pytest.approx(1.2, abs=1e-3)


def test_limits_hold_for_function_goals() -> None:
    skeleton = planar(4, 40.0)
    goal = Goal.function(lambda world: world.point(3, skeleton.tip_offsets[0]) - (-2.0, 1.0, 0.0))
    for method in SERVING:
        case = Case(skeleton, [goal])
        case.solve(method, restarts=4)
        assert limit_violation(skeleton, case.answer).max() < 1e-9


def test_default_restarts_over_function_rows() -> None:
    """From the straight arm, pulled straight inwards, no step helps: only a restart does."""
    skeleton = planar(4, 120.0)
    goal = Goal.function(lambda world: world.point(3, skeleton.tip_offsets[0]) - (1.0, 0.0, 0.0))
    case = Case(skeleton, [goal])
    assert case.solve("default", restarts=0)[0] == STALLED
    case = Case(skeleton, [goal])
    assert case.solve("default", restarts=8)[0] == CONVERGED


def test_joint_order_of_the_world_is_the_skeletons() -> None:
    """Depth first the system's order differs: a tree whose first branch goes on after the second has begun."""
    seen: list[World] = []
    skeleton = random_tree(2)

    def look(world: World) -> Floats:
        seen.append(world)
        return np.zeros(1)

    case = Case(skeleton, [Goal.function(look)])
    assert case.solve("dls")[0] == CONVERGED
    np.testing.assert_allclose(seen[0].positions, case.world.positions, atol=1e-12)
    np.testing.assert_allclose(np.abs(seen[0].rotations), np.abs(case.world.rotations), atol=1e-12)


def test_methods_that_cannot_serve_functions_serve_the_rest_and_do_not_claim_to_be_done() -> None:
    goals = [Goal.position("j3.tip", (1.5, 2.0, 0.0)), Goal.function(lambda _: [1.0])]
    for method in ("ccd", "ccd-from-base"):
        case = Case(planar(4), goals)
        case.state.x[:] = 0.1
        code, _, error = case.solve(method)
        assert code == STALLED
        assert error > 1.0
        np.testing.assert_allclose(case.tip(), (1.5, 2.0, 0.0), atol=1e-3)
        assert "function" not in {kind.word for kind in METHODS[method].serves}


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda _: [math.nan, 1.0], "function goal: expected finite residuals at the start pose, found nan"),
        (lambda _: "near", r"function goal: expected residuals of shape \(any,\), found <U4 of \(\)"),
        (lambda _: np.zeros((2, 2)), r"function goal: expected residuals of shape \(any,\), found float64 of \(2, 2\)"),
        (lambda _: [1j], r"function goal: expected residuals of shape \(any,\), found complex128 of \(1,\)"),
        (lambda _: None, r"function goal: expected residuals of shape \(any,\), found object of \(\)"),
        (lambda _: [[1], [1, 2]], r"function goal: expected residuals of shape \(any,\), found no array of numbers"),
    ],
)
def test_functions_that_give_no_numbers_are_refused(f: object, message: str) -> None:
    case = Case(planar(2), [Goal.function(f)])  # type: ignore[arg-type]  # bad on purpose
    with pytest.raises(InputError, match=f"^{message}$"):
        case.solve("dls")


def test_a_function_must_give_as_many_numbers_each_time() -> None:
    counts = iter([1, 1, 1, 1, 2, 2, 2, 2])
    case = Case(planar(2), [Goal.function(lambda _: np.ones(next(counts)))])
    with pytest.raises(InputError, match=r"^function goal: expected 1 residuals as at the start pose, found 2$"):
        case.solve("dls")


@pytest.mark.parametrize("method", SERVING)
def test_a_function_without_a_value_somewhere_keeps_the_pose_a_number(method: str) -> None:
    """The logarithm of the tip's height: NaN below 0, infinite at it."""
    skeleton = planar(3)

    def height(world: World) -> Floats:
        y = (world.positions[2] + rotate(world.rotations[2], (1.0, 0.0, 0.0)))[1]
        with np.errstate(all="ignore"):
            return np.asarray([np.log(y) + 3.0])

    case = Case(skeleton, [Goal.function(height)])
    case.begin(case.answer)
    case.state.q[0] = (0.0, 0.0, math.sin(0.4), math.cos(0.4))
    case.state.x[0] = 0.8
    case.solve(method, guarded=False)
    assert np.isfinite(case.answer.rotations).all()


def test_scalar_and_no_residuals_are_fine() -> None:
    for goal in (Goal.function(lambda _: 0.0), Goal.function(lambda _: [])):
        assert Case(planar(2), [goal]).solve("dls")[0] == CONVERGED
