"""Goals of several levels: the lower one gives way, the higher one is met as if it stood alone.

Goals that have nothing to do with each other do not spoil each other, and targets far away spoil nothing.
"""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from conftest import ROOT
from inside.cli import problems
from inside.ik import (
    CONVERGED,
    ONE_SHOT,
    Backend,
    Buffers,
    MethodName,
    count_levels,
    descend,
    descending,
    engine,
    holds,
)
from inside.spatial import angle_between
from numpy.typing import NDArray
from rigs import chain, random_pose, random_skeleton
from sessions import QUICK

import viewer
from viewer import Goal, Solver, Status

sys.path.insert(0, str(ROOT / "benchmarks"))
from problem_sets import find_rig as rig

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
    solver = Solver(BIPED, hands(1, 2), backend=QUICK, max_iterations=1000)
    buffers = Buffers(BIPED, solver.prepared.assembly)
    buffers.pose_at(START.rotations, START.translations)
    buffers.aim_at(*solver.prepared.targets.settle(START, None, None))
    buffers.begin()
    arrays = (buffers.system, buffers.work, buffers.state)
    run = engine._twins["descend"]  # the numpy backend's
    assert count_levels(buffers.system) == 3
    code, _, loss = run(*arrays, descending(ONE_SHOT, 1000), 0.0)
    assert code != CONVERGED
    pose = buffers.state.x.copy()
    again, iterations, same = run(*arrays, descending(ONE_SHOT, 1000), 0.0)
    assert (again, iterations, same) == (code, 1, loss)
    assert np.array_equal(buffers.state.x, pose)
    assert run is not descend


RELAXED = BIPED.relaxed_pose()
FOOT = Goal.position("LeftFoot", (0.15, 0.3, 0.4))
BLOCKED = "blocked by limits: "


def hand(x: float, y: float = 1.3, z: float = 0.0) -> Goal:
    return Goal.position("LeftHand", (x, y, z))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("distance", [1.0, 5.0, 1e3, 1e200])
def test_a_hopeless_goal_leaves_one_that_shares_no_joint_alone(distance: float, backend: Backend) -> None:
    solver = Solver(BIPED, [hand(distance), FOOT], root="locked", backend=backend)
    solution = solver.solve(RELAXED)
    assert solution.status is not Status.CONVERGED
    assert solution.errors_m[1] <= 1e-3
    assert not any("LeftFoot" in line for line in solution.diagnosis)
    drag = solver.drag(RELAXED)
    for _ in range(5):
        moved = drag.move(iterations=2)
    assert moved.errors_m[1] <= 1e-3


def test_a_group_is_solved_as_it_is_alone() -> None:
    alone = Solver(BIPED, [FOOT], root="locked", backend=QUICK).solve(RELAXED)
    both = Solver(BIPED, [hand(2.0), FOOT], root="locked", backend=QUICK).solve(RELAXED)
    for name in ("LeftUpLeg", "LeftLeg", "LeftFoot"):
        joint = BIPED.index(name)
        assert both.pose.rotations[joint] == pytest.approx(alone.pose.rotations[joint], abs=1e-12)


def test_the_hand_gets_no_less_near_to_what_is_farther_away() -> None:
    """How far the hand gets towards a target straight ahead does not depend on how far that is."""
    gains = []
    for distance in (2.0, 50.0, 1e6):
        solution = Solver(BIPED, [hand(distance)], root="locked", backend=QUICK).solve(RELAXED)
        gains.append(distance - solution.errors_m[0])
    assert max(gains) - min(gains) < 0.02


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("distance", [5.0, 50.0, 1e3, 1e4, 1e6])
def test_a_free_figure_goes_wherever_its_goals_are(distance: float, backend: Backend) -> None:
    there = (
        Goal.pose("LeftHand", (distance, 1.3, 0.3), (0.0, 0.0, 0.0, 1.0)),
        Goal.position("RightHand", (distance + 0.3, 1.3, 0.3)),
    )
    solution = Solver(BIPED, there, backend=backend).solve(RELAXED)
    assert solution.status is Status.CONVERGED
    apart = Solver(BIPED, [Goal.distance("LeftHand", distance, (0.0, 0.0, 0.0))], backend=backend).solve(RELAXED)
    assert apart.status is Status.CONVERGED


def test_pins_hold_a_free_figure_whatever_one_hand_is_asked() -> None:
    for distance in (10.0, 1e6):
        goals = [hand(distance), Goal.pin("LeftFoot"), Goal.pin("RightFoot")]
        solution = Solver(BIPED, goals, backend=QUICK).solve(RELAXED)
        assert solution.status is Status.UNREACHABLE
        assert solution.errors_m[1:].max() < 0.01
        assert solution.errors_m[0] < distance


def test_targets_are_given_back_as_they_were() -> None:
    solver = Solver(BIPED, [hand(1e3)], root="locked", backend=QUICK)
    world = viewer.fk(BIPED, solver.solve(RELAXED).pose)
    miss = np.linalg.norm(world.positions[BIPED.index("LeftHand")] - (1e3, 1.3, 0.0))
    assert solver.solve(RELAXED).errors_m[0] == pytest.approx(miss)


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_iterations_move_nothing(backend: Backend) -> None:
    goals = [hand(3.0), Goal.position("RightHand", (3.0, 1.0, 1.0)), Goal.pin("LeftFoot", (3.0, 0.0, 0.3))]
    start = viewer.project_pose(BIPED, RELAXED)
    solution = Solver(BIPED, goals, max_iterations=0, backend=backend).solve(start)
    assert (solution.status, solution.iterations) == (Status.BUDGET, 0)
    assert angle_between(solution.pose.rotations, start.rotations).max() < 1e-7
    assert solution.pose.translations == pytest.approx(start.translations)


def test_where_every_restart_ends_as_near_there_is_no_such_pose() -> None:
    turned = Goal.rotation("LeftHand", (0.0, 0.0, 0.0, 1.0)), Goal.rotation("LeftHand", (1.0, 0.0, 0.0, 0.0))
    assert Solver(BIPED, turned, backend=QUICK).solve(RELAXED).status is Status.UNREACHABLE
    once = Solver(BIPED, turned, backend=QUICK, restarts=False).solve(RELAXED)
    assert once.status is Status.STALLED


@pytest.mark.parametrize("seed", range(20))
def test_what_a_pose_of_the_rig_itself_meets_is_never_called_unreachable(seed: int) -> None:
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, 9)
    skeleton = replace(skeleton, stiffness=np.zeros(9))
    posed = random_pose(random, skeleton, 1.0)
    world = viewer.fk(skeleton, posed)
    goals = [
        Goal.pose(name, world.positions[skeleton.index(name)], world.rotations[skeleton.index(name)])
        for name in skeleton.names[-3:]
    ]
    roots = skeleton.parents[:, None] < 0
    start = viewer.Pose(
        np.where(roots, posed.rotations, skeleton.rest_rotations),
        np.where(roots, posed.translations, skeleton.offsets),
    )
    assert Solver(skeleton, goals, backend=QUICK, root="locked").solve(start).status is not Status.UNREACHABLE


def test_a_straight_chain_without_limits_is_one_group() -> None:
    solver = Solver(chain(5), [Goal.position("j4.tip", (0.5, 0.5, 0.0)), Goal.position("j2", (0.3, 0.1, 0.0))])
    assert solver.prepared.assembly.system.goal_group.tolist() == [0, 0]


def test_goals_that_share_no_joint_are_never_said_to_conflict() -> None:
    # Both feet are pulled to where limits do not let them; each alone is as far off.
    goals = [Goal.position("LeftFoot", (0.15, 1.0, -0.6)), Goal.position("RightFoot", (-0.15, 1.0, -0.6)), hand(1e3)]
    solution = Solver(BIPED, goals, root="locked", backend=QUICK).solve(RELAXED)
    assert solution.status is Status.UNREACHABLE
    assert not any("conflict" in line or "way to" in line for line in solution.diagnosis)


def test_what_is_said_to_block_is_enough_to_free() -> None:
    """A pose that the rig would have without limits is out of reach; without the limits that are named it is not."""
    blocked = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        skeleton = replace(random_skeleton(random, 5, parents=range(-1, 4)), stiffness=np.zeros(5))
        bare = replace(skeleton, limits=(None,) * 5)
        posed = random_pose(random, bare, 1.5)
        goal = Goal.position("j4.tip", viewer.fk(bare, posed).point(4, bare.tip_offsets[0]))
        at_base = skeleton.parents[:, None] < 0
        start = viewer.Pose(skeleton.rest_rotations, np.where(at_base, posed.translations, skeleton.offsets))
        solution = Solver(skeleton, [goal], backend=QUICK).solve(start)
        for line in (line for line in solution.diagnosis if line.startswith(BLOCKED)):
            named = {part.split()[0] for part in line.removeprefix(BLOCKED).split(", ")}
            kept = [None if name in named else own for name, own in zip(skeleton.names, skeleton.limits, strict=True)]
            freed = Solver(replace(skeleton, limits=tuple(kept)), [goal], backend=QUICK)
            assert freed.solve(solution.pose).status is Status.CONVERGED, line
            blocked += 1
    assert blocked >= 3
