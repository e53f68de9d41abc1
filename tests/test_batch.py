"""Many solves at once: each is that of `solve`, to the bit, whatever the number of threads."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from inside.ik import MethodName, solver as solver_module
from inside.spatial import from_axis_angle, multiply
from rigs import chain, random_pose

import viewer
from viewer import BatchSolution, Goal, Solver, Status

BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
WORLD = viewer.fk(BIPED, RELAXED)
GOALS = (
    Goal.position("LeftHand", (0, 0, 0)),
    Goal.pose("Head", (0, 0, 0), WORLD.rotations[BIPED.index("Head")]),
    Goal.pin("RightFoot"),
    Goal.position("RightHand", (9, 9, 9), enabled=False),
)
COUNT = 9


def problems(seed: int = 0) -> tuple[list[viewer.Pose], Any, Any]:
    """Start poses and targets, some of them out of reach, some left as they are."""
    random = np.random.default_rng(seed)
    poses = [random_pose(random, BIPED, 0.2) for _ in range(COUNT)]
    places = np.full((COUNT, 4, 3), np.nan)
    spread = random.choice([0.03, 2.0], size=(COUNT, 1))
    for row, joint in enumerate(("LeftHand", "Head")):
        places[:, row] = WORLD.positions[BIPED.index(joint)] + random.normal(size=(COUNT, 3)) * spread
    turns = np.full((COUNT, 4, 4), np.nan)
    turns[: COUNT - 2, 1] = multiply(
        WORLD.rotations[BIPED.index("Head")], from_axis_angle((0, 1, 0), random.uniform(-0.3, 0.3, COUNT - 2))
    )
    return poses, places, turns


def assert_same(solver: Solver, many: BatchSolution, poses: Any, places: Any, turns: Any) -> None:  # noqa: ANN401
    for i in range(COUNT):
        one = solver.solve(
            poses if isinstance(poses, viewer.Pose) else poses[i],
            targets=places[i],
            target_rotations=None if turns is None else turns[i],
        )
        assert many.pose(i).same_as(one.pose)
        assert many.status[i] is one.status
        assert many.iterations[i] == one.iterations
        np.testing.assert_array_equal(many.errors_m[i], one.errors_m)
        np.testing.assert_array_equal(many.errors_deg[i], one.errors_deg)


@pytest.mark.parametrize(("threads", "exact"), [(1, False), (2, True), (None, False)])
def test_each_is_that_of_solve(monkeypatch: pytest.MonkeyPatch, threads: int | None, exact: bool) -> None:
    monkeypatch.setattr(solver_module, "_CHUNK", 2)
    solver = Solver(BIPED, GOALS, backend="numpy", max_iterations=25, exact=exact)
    poses, places, turns = problems()
    many = solver.solve_batch(poses, places, turns, threads=threads)
    assert_same(solver, many, poses, places, turns)
    assert many.rotations.shape == (COUNT, len(BIPED), 4)
    assert many.translations.shape == (COUNT, len(BIPED), 3)
    assert many.status.shape == many.iterations.shape == (COUNT,)
    assert many.errors_m.shape == many.errors_deg.shape == (COUNT, 4)
    met = many.status == "converged"
    assert met.any()
    assert not met.all()
    assert met.tolist() == [status is Status.CONVERGED for status in many.status]


def test_one_pose_for_all_and_goals_of_places_only() -> None:
    turn = np.array([0.1, 0.0, 0.05, 0.99]) * 1.0003
    solver = Solver(BIPED, [GOALS[0], Goal.rotation("Head", turn / np.linalg.norm(turn))], backend="numpy")
    places = WORLD.positions[BIPED.index("LeftHand")] + np.random.default_rng(1).normal(size=(COUNT, 2, 3)) * 0.1
    assert_same(solver, solver.solve_batch(RELAXED, places), RELAXED, places, None)
    places[3, 0] = np.nan
    assert_same(solver, solver.solve_batch(RELAXED, places), RELAXED, places, None)


def test_targets_alone_and_poses_alone() -> None:
    solver = Solver(BIPED, GOALS[2:3], backend="numpy")
    starts = problems()[0]
    many = solver.solve_batch(starts)
    assert [many.pose(i).same_as(solver.solve(start).pose) for i, start in enumerate(starts)] == [True] * COUNT
    assert len(solver.solve_batch(RELAXED).status) == 1


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
def test_compiled_batches_are_compiled_solves() -> None:
    solver = Solver(BIPED, GOALS, backend="numba", max_iterations=60)
    poses, places, turns = problems(4)
    for threads in (1, 2):
        assert_same(solver, solver.solve_batch(poses, places, turns, threads=threads), poses, places, turns)


def refused(*arguments: Any, goals: Any = None, method: MethodName = "default", **options: Any) -> str:  # noqa: ANN401
    arm = chain(2)
    solver = Solver(arm, goals or [Goal.position("j1.tip", (0, 1, 0))], method=method, backend="numpy")
    with pytest.raises(viewer.InputError) as caught:
        solver.solve_batch(*arguments, **options)
    return str(caught.value)


def test_batches_that_are_refused() -> None:
    rest = chain(2).rest_pose()
    places = np.zeros((3, 1, 3))
    assert refused([]) == "solve_batch: expected at least one pose, found none"
    assert refused(None) == 'solve_batch: expected a pose or a list of poses, found "None"'
    assert refused([rest, 3]) == 'expected a pose to start from, found "3"'
    numbers = "solve_batch: expected as many poses (or one) as rows of targets, and some; found "
    assert refused([rest] * 2, places) == numbers + "2 and 3"
    assert refused(rest, places, np.zeros((2, 1, 4))) == numbers + "2 and 3"
    assert refused(rest, places[:0]) == numbers + "0"
    shape = "solve_batch: targets: expected shape (N, 1, 3), a row per goal, found "
    assert refused(rest, places[0]) == shape + "(1, 3)"
    assert refused(rest, np.zeros((3, 2, 3))) == shape + "(3, 2, 3)"
    assert refused(rest, [["a"]]) == "solve_batch: targets: expected numbers of shape (N, 1, 3), a row per goal"
    assert refused(rest, places + np.inf) == "targets: expected finite numbers (or NaN: leave it), found infinity"
    assert refused(rest, places, threads=0) == "threads: expected a whole number, 1 or more, found 0"
    plain = 'solve_batch: expected the method "default" or "dls", built-in goals and analytic rows'
    assert refused(rest, places, method="sdls") == plain
    assert refused(rest, goals=[Goal.function(lambda world: world.positions[0])]) == plain
