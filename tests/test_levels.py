"""Goals of several levels: the lower one gives way, the higher one is met as if it stood alone."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from inside.cli import problems, rig
from inside.ik import (
    CONVERGED,
    ONE_SHOT,
    Backend,
    MethodName,
    Workspace,
    count_levels,
    descend,
    descending,
    engine,
    holds,
)
from numpy.typing import NDArray
from sessions import QUICK

import viewer
from viewer import Goal, Solver

BIPED = viewer.load("sample:biped").skeleton
START = BIPED.relaxed_pose()
PINS = (Goal.pin("LeftFoot", level=0), Goal.pin("RightFoot", level=0))
APART = ((1.0, 1.4, 0.3), (-1.0, 1.4, 0.3))
"""Places for both hands that are farther from each other than they reach."""
TOLERANCE_M, TOLERANCE_DEG = 1e-3, 0.5
BACKENDS = ("numpy", "numba")


def hands(left: int, right: int, *, hold: bool = False) -> list[Goal]:
    return [
        *PINS,
        Goal.position("LeftHand", APART[0], level=left),
        Goal.position("RightHand", APART[1], level=right, hold=hold),
    ]


def apart(one: viewer.Pose, other: viewer.Pose) -> float:
    """Metres between a joint in both poses, at most."""
    places = [viewer.fk(BIPED, pose).positions for pose in (one, other)]
    return float(np.linalg.norm(places[0] - places[1], axis=1).max())


def missed(solution: viewer.Solution, some: NDArray[np.bool_]) -> float:
    """By how many tolerances, beyond one each, goals are missed together."""
    metres, degrees = solution.errors_m[some] / TOLERANCE_M, solution.errors_deg[some] / TOLERANCE_DEG
    return float(np.nansum(np.maximum(metres - 1.0, 0.0)) + np.nansum(np.maximum(degrees - 1.0, 0.0)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("left", "right"), [(1, 2), (2, 1), (1, 3), (3, 2)])
def test_the_hand_of_the_higher_level_is_met(backend: Backend, left: int, right: int) -> None:
    solution = Solver(BIPED, hands(left, right), backend=backend).solve(START)
    first, second = (2, 3) if left < right else (3, 2)
    assert solution.errors_m[first] < 2e-4
    assert solution.errors_m[:2].max() < 2e-4
    # As near as the other one lets it: their targets are 515 mm too far apart.
    assert 0.5 < solution.errors_m[second] < 0.53
    assert solution.yields.tolist() == [False, False, first == 3, first == 2]
    assert solution.status != "converged"


def test_with_one_level_both_hands_are_off() -> None:
    solution = Solver(BIPED, hands(1, 1)[2:], backend=QUICK).solve(START)
    both = Solver(BIPED, [replace(goal, level=3) for goal in hands(1, 1)[2:]], backend=QUICK).solve(START)
    assert solution.errors_m.min() > 0.2
    assert not solution.yields.any()
    assert np.array_equal(solution.pose.rotations, both.pose.rotations)


@pytest.mark.parametrize("name", ["humanoid", "claw", "fingers", "biped", "biped-hands"])
def test_a_lower_level_does_not_draw_a_higher_one_away(name: str) -> None:
    """The law of levels, on a few problems; benchmarks/levels.py runs a thousand."""
    one, count = rig(name), 4
    random = np.random.default_rng([count, len(name)])
    found = problems(one, "medium", 2 * count, 3)
    start, kept = one.skeleton.rest_pose(), 0
    for i in range(count):
        which = random.permutation(np.arange(len(one.effectors)) % 2)
        goals = [replace(goal, level=int(level)) for goal, level in zip(one.goals(), which, strict=True)]
        targets, turns = (array[2 * i + which, np.arange(len(goals))] for array in (found.targets, found.turns))
        solution = Solver(one.skeleton, goals, backend=QUICK).solve(start, targets, turns)
        first = which == 0
        solver = Solver(one.skeleton, [goal for goal in goals if goal.level == 0], backend=QUICK)
        alone = solver.solve(start, targets[first], turns[first])
        kept += missed(solution, first) <= missed(alone, np.full(int(first.sum()), fill_value=True)) + 1.0
    assert kept >= count - 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_goals_that_can_be_met_are_met_as_without_levels(backend: Backend) -> None:
    one = rig("biped")
    found = problems(one, "medium", 20, 5)
    goals = [replace(goal, level=level) for goal, level in zip(one.goals(), (0, 1, 2, 3, 1), strict=True)]
    start = one.skeleton.rest_pose()
    levels = Solver(one.skeleton, goals, backend=backend).solve_batch(start, found.targets, found.turns)
    plain = Solver(one.skeleton, one.goals(), backend=backend).solve_batch(start, found.targets, found.turns)
    assert (levels.status == "converged").all()
    assert levels.iterations.tolist() == plain.iterations.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_batch_is_as_one_by_one(backend: Backend) -> None:
    solver = Solver(BIPED, hands(1, 2), backend=backend)
    one, many = solver.solve(START), solver.solve_batch([START] * 3, threads=2)
    assert np.array_equal(many.rotations[2], one.pose.rotations)
    assert many.status.tolist() == [one.status] * 3


def test_weights_do_not_lift_a_goal_over_a_higher_level() -> None:
    heavy = hands(1, 2)
    heavy[3] = replace(heavy[3], weight=1000.0)
    solution = Solver(BIPED, heavy, backend=QUICK).solve(START)
    assert solution.errors_m[2] < 2e-4
    assert 0.5 < solution.errors_m[3] < 0.53


def test_a_goal_out_of_reach_leaves_the_other_levels_alone() -> None:
    goals = [*PINS, Goal.position("LeftHand", (3.0, 1.4, 0.3), level=1), Goal.position("RightHand", (-0.5, 1.2, 0.3))]
    goals[3] = replace(goals[3], level=0)
    solution = Solver(BIPED, goals, backend=QUICK).solve(START)
    assert solution.status == "unreachable"
    assert solution.errors_m[[0, 1, 3]].max() < TOLERANCE_M


def test_a_hold_that_gives_way_is_no_failure() -> None:
    solution = Solver(BIPED, hands(1, 2, hold=True), backend=QUICK).solve(START)
    assert solution.status == "converged"
    assert solution.diagnosis == ()
    assert solution.yields.tolist() == [False, False, False, True]
    batch = Solver(BIPED, hands(1, 2, hold=True), backend=QUICK).solve_batch(START)
    assert batch.status.tolist() == ["converged"]


def test_the_diagnosis_says_which_level_gives_way() -> None:
    solution = Solver(BIPED, hands(1, 2), backend=QUICK).solve(START)
    assert "515 mm too far apart" in solution.diagnosis[0]
    assert solution.diagnosis[1:] == (f"RightHand ({1e3 * solution.errors_m[3]:.0f} mm) gives way to level 1",)


def test_a_copy_knows_which_goals_give_way() -> None:
    solution = Solver(BIPED, hands(1, 2), backend=QUICK).solve(START)
    assert pickle.loads(pickle.dumps(solution)).yields.tolist() == solution.yields.tolist()


@pytest.mark.parametrize("method", ["dls", "ccd", "transpose"])
def test_methods_that_know_no_levels_say_so(method: MethodName) -> None:
    solver = Solver(BIPED, hands(1, 2), method=method, backend=QUICK)
    solution = solver.solve(START)
    assert solution.unserved == ("levels",)
    assert not solution.yields.any()
    assert Solver(BIPED, [replace(goal, level=2) for goal in hands(2, 2)], method=method).solve(START).unserved == ()


def test_beside_a_function_goal_all_levels_are_one() -> None:
    function = Goal.function(lambda world: world.positions[0] * 0.0)
    assert Solver(BIPED, [*hands(1, 2), function], max_iterations=1).solve(START).unserved == ("levels",)


@pytest.mark.parametrize("backend", BACKENDS)
def test_in_a_drag_the_dragged_hand_is_met_and_all_comes_back(backend: Backend) -> None:
    """The left hand goes where it cannot be while the head and the other hand stay."""
    there = np.array([1.01, 1.67, 0.37])
    goals = [replace(goal, level=0 if goal.pinned else 2, hold=not goal.pinned) for goal in holds(BIPED, START)]
    left = next(i for i, goal in enumerate(goals) if goal.effector == "LeftHand")
    here = np.array(goals[left].target)
    goals[left] = replace(goals[left], level=1, hold=False)
    drag = Solver(BIPED, goals, backend=backend).drag(START)
    targets = np.full((len(goals), 3), np.nan)
    solutions = []
    for part in [*np.linspace(0.0, 1.0, 41)[1:], *[1.0] * 60, *np.linspace(1.0, 0.0, 41)[1:], *[0.0] * 60]:
        targets[left] = here + part * (there - here)
        solutions.append(drag.move(targets))
    far = solutions[99]
    assert far.errors_m[left] < TOLERANCE_M
    assert far.status == "converged"
    assert far.yields.any()
    assert apart(START, solutions[-1].pose) < 1e-6


def test_what_is_at_rest_stays() -> None:
    """A descent that begins where one came to rest moves nothing."""
    solver = Solver(BIPED, hands(1, 2), backend="numpy", max_iterations=1000)
    space = Workspace(BIPED, solver.prepared.assembly)
    space.pose_at(START.rotations, START.translations)
    space.aim_at(*solver.prepared.targets.settle(START, None, None))
    space.begin()
    arrays = (space.system, space.work, space.state)
    run = engine._twins["descend"]  # the numpy backend's
    assert count_levels(space.system) == 3
    code, _, loss = run(*arrays, descending(ONE_SHOT, 1000), 0.0)
    assert code != CONVERGED
    pose = space.state.x.copy()
    again, iterations, same = run(*arrays, descending(ONE_SHOT, 1000), 0.0)
    assert (again, iterations, same) == (code, 1, loss)
    assert np.array_equal(space.state.x, pose)
    assert run is not descend
