"""What holds for every method of the catalogue: limits, numbers, stopping, stillness, odd systems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from inside.ik import BUDGET, CONVERGED, DIVERGED, METHODS, STALLED, UNREACHABLE, Settings, Tuning, dls_settings, engine
from inside.spatial import angle_between
from method_cases import ITERATIVE, NAMES, TOLERANCE, Case, planar, random_tree, rig, some_pose

from viewer.ik import Goal
from viewer.skeleton import JointKind, limit_violation

EVERY = pytest.mark.parametrize("method", [*NAMES, "default"])
FIXED, BALL = JointKind.FIXED, JointKind.BALL


def test_catalogue() -> None:
    assert list(METHODS) == [
        "two-link", "single-bone", "ccd", "ccd-from-base", "fabrik", "transpose", "pseudo-inverse", "dls", "sdls",
    ]  # fmt: skip
    assert all(name == method.name for name, method in METHODS.items())


def goals_for(random: np.random.Generator) -> list[Goal]:
    """Goals of every built-in kind, reachable or not."""
    return [
        Goal.position("j7.tip", random.normal(size=3)),
        Goal.pose("j6", random.normal(size=3), (0.5, 0.5, -0.5, 0.5), rotation_weight=0.2),
        Goal.rotation("j5", (0.0, 0.0, 1.0, 0.0), rotation_weight=0.5),
        Goal.distance("j4", 0.3, random.normal(size=3)),
        Goal.aim("j3", random.normal(size=3), (0.0, 1.0, 0.0), rotation_weight=0.2),
    ]


@EVERY
@settings(max_examples=4)
@given(seed=st.integers(0, 10_000))
def test_limits_numbers_and_stopping_on_random_trees(method: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    case = Case(random_tree(seed), goals_for(random), root=str(random.choice(["free", "translate", "locked"])))
    start = some_pose(case, random)
    case.state.x[:], case.state.q[:], case.state.t[:] = start.x, start.q, start.t
    code, iterations, error = case.solve(method, max_iterations=12, restarts=2)
    assert code in {CONVERGED, UNREACHABLE, STALLED, DIVERGED, BUDGET}
    assert iterations <= 12
    answer = case.answer
    assert np.isfinite(answer.rotations).all()
    assert np.isfinite(answer.translations).all()
    np.testing.assert_allclose(np.linalg.norm(answer.rotations, axis=1), 1.0, atol=1e-9)
    assert limit_violation(case.skeleton, answer).max() < 1e-6
    assert error == pytest.approx(float(case.state.e @ case.state.e))


@EVERY
def test_limits_can_be_ignored(method: str) -> None:
    target = (-1.0, 1.5, 0.0)
    case = Case(planar(4, 5.0), [Goal.position("j3.tip", target)], limits=False)
    case.solve(method, max_iterations=500)
    if method in {*ITERATIVE, "default"}:
        np.testing.assert_allclose(case.tip(), target, atol=2e-3)
    assert limit_violation(case.skeleton, case.answer).max() > 0.1


@EVERY
def test_unreachable_targets_are_kept_still_at_the_nearest_pose(method: str) -> None:
    """Twice as far as the arm is long: it points there, and goes on pointing."""
    case = Case(planar(3), [Goal.position("j2.tip", (0.0, 6.0, 0.0))])
    if method == "single-bone":
        pytest.skip("moves one joint of three")
    case.solve(method, max_iterations=300)
    miss = np.linalg.norm(case.tip() - (0.0, 6.0, 0.0))
    if method != "two-link":
        assert miss == pytest.approx(3.0, abs=0.01)
    before = case.answer.rotations
    for _ in range(5):
        case.solve(method, max_iterations=1)
        assert np.degrees(angle_between(before, case.answer.rotations)).max() < 0.1
        before = case.answer.rotations


@EVERY
def test_unreachable_pairs_of_goals_are_kept_still(method: str) -> None:
    """One tip cannot be at two places."""
    goals = [Goal.position("j3.tip", (2.0, 2.0, 0.0)), Goal.position("j3.tip", (1.0, 2.5, 0.0))]
    case = Case(planar(4, 90.0), goals)
    case.state.x[:] = 0.1
    assert case.solve(method, max_iterations=1000)[0] in {STALLED, UNREACHABLE, BUDGET}
    case.solve(method, max_iterations=100)
    before = case.answer.rotations
    case.solve(method, max_iterations=1)
    assert np.degrees(angle_between(before, case.answer.rotations)).max() < 0.1


@EVERY
def test_goal_that_is_met_moves_nothing(method: str) -> None:
    case = Case(planar(4), [Goal.position("j3.tip", (4.0, 0.0, 0.0))])
    before = case.state.x.copy()
    assert case.solve(method)[:2] == (CONVERGED, 0)
    np.testing.assert_array_equal(case.state.x, before)


@EVERY
def test_nothing_that_can_move(method: str) -> None:
    """Fixed joints only; a chain that is wholly stiff; a goal on a locked root."""
    offsets = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]
    goal = Goal.position("j1", (0.0, 2.0, 0.0))
    for case in (
        Case(rig([-1, 0], offsets, [FIXED, FIXED]), [goal]),
        Case(rig([-1, 0], offsets, [BALL, BALL], stiffness=np.ones(2)), [goal]),
        Case(rig([-1, 0], offsets, [JointKind.FREE, BALL]), [Goal.position("j0", (0.0, 2.0, 0.0))], root="locked"),
    ):
        before = case.answer
        code, iterations, _ = case.solve(method)
        assert code in {STALLED, UNREACHABLE}
        assert iterations <= 12
        np.testing.assert_array_equal(case.answer.rotations, before.rotations)
        np.testing.assert_array_equal(case.answer.translations, before.translations)


@EVERY
def test_no_goals_are_met_at_once(method: str) -> None:
    assert Case(planar(2), [Goal.position("j1", (0.0, 0.0, 0.0), enabled=False)]).solve(method)[:2] == (CONVERGED, 0)


@EVERY
def test_zero_length_chain(method: str) -> None:
    skeleton = rig([-1, 0], np.zeros((2, 3)), [BALL, BALL], tip=(0.0, 0.0, 0.0))
    case = Case(skeleton, [Goal.position("j1.tip", (1.0, 0.0, 0.0))])
    assert case.solve(method)[0] in {STALLED, UNREACHABLE}
    assert np.isfinite(case.answer.rotations).all()


@EVERY
@pytest.mark.parametrize("size", [1e12, 1e100, 1e300])
def test_targets_out_of_all_proportion(method: str, size: float) -> None:
    for goal in (
        Goal.position("j7.tip", (size, -size, 0.5 * size)),
        Goal.aim("j7", (size, -size, 0.5 * size), (0.0, 1.0, 0.0)),
        Goal.distance("j7", size, (size, 0.0, 0.0)),
        Goal.position("j7.tip", (1.0, 0.0, 0.0), weight=size),
    ):
        case = Case(random_tree(4), [goal])
        code, _, _ = case.solve(method, max_iterations=20)
        assert code in {CONVERGED, UNREACHABLE, STALLED, DIVERGED, BUDGET}
        assert np.isfinite(case.answer.rotations).all()
        assert np.isfinite(case.answer.translations).all()
        assert limit_violation(case.skeleton, case.answer).max() < 1e-6


@EVERY
def test_scratch_holds_the_misses_of_the_answer(method: str) -> None:
    case = Case(random_tree(3), [Goal.position("j7.tip", (0.3, 0.2, -0.4)), Goal.rotation("j6", (1.0, 0.0, 0.0, 0.0))])
    case.solve(method, max_iterations=7)
    kinds = case.system.goal_kind
    place, turn = (int(np.flatnonzero(kinds == kind)[0]) for kind in (0, 1))
    assert case.work.miss[place, 0] == pytest.approx(np.linalg.norm(case.tip() - (0.3, 0.2, -0.4)))
    assert case.work.miss[turn, 1] == pytest.approx(angle_between(case.world.rotations[6], (1.0, 0.0, 0.0, 0.0)))


@EVERY
def test_same_bits_each_time(method: str) -> None:
    answers = []
    for _ in range(2):
        case = Case(random_tree(5), goals_for(np.random.default_rng(0)))
        case.solve(method, max_iterations=15)
        answers.append(case.answer)
    assert answers[0].same_as(answers[1])


def test_converged_means_within_tolerance() -> None:
    random = np.random.default_rng(7)
    for method in ITERATIVE:
        for _ in range(5):
            case = Case(planar(4), [Goal.position("j3.tip", (*random.uniform(-2.5, 2.5, size=2), 0.0))])
            case.state.x[:] = 0.2
            case.begin(case.answer)
            code, _, _ = case.solve(method, max_iterations=400)
            miss = np.linalg.norm(case.tip() - case.system.goal_target[0])
            assert (code == CONVERGED) == (miss <= TOLERANCE[0])


def test_default_over_rows_is_the_numpy_backends() -> None:
    """With built-in goals alone, to the last bit."""
    for seed in range(2):
        goals = goals_for(np.random.default_rng(seed))
        one, other = (Case(random_tree(seed), goals) for _ in range(2))
        recipe = Settings(pull=0.02, restarts=3, max_iterations=60)
        expected = engine.minimise(other.system, other.work, other.state, recipe)
        assert one.solve("default", pull=0.02, restarts=3, max_iterations=60) == expected
        assert one.answer.same_as(other.answer)


def test_dls_is_the_driver_without_restarts_and_pull() -> None:
    plain = dls_settings(Settings(pull=0.2, restarts=9), Tuning())
    assert (plain.pull, plain.restarts, plain.guarded) == (0.0, 0, True)
    fixed = dls_settings(Settings(), Tuning(damping=0.1))
    assert fixed.damping == pytest.approx(0.01)
    assert (fixed.damping_scale, fixed.guarded) == (0.0, False)
    assert dls_settings(Settings(), Tuning(damping=0.1, guarded=True)).guarded


def test_dls_takes_no_pull_from_a_solve_before() -> None:
    """The scratch may be shared with solves of the default, which leave their pull in it."""
    answers = []
    for left in (0.0, 0.3):
        case = Case(planar(4), [Goal.position("j3.tip", (1.0, 2.0, 0.0))])
        case.work.pull[:] = left
        case.solve("dls")
        answers.append(case.state.x.copy())
    np.testing.assert_array_equal(answers[0], answers[1])
