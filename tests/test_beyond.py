"""What a diagnosis says beyond geometry: limits that cost more, poses not at rest, what a method does not serve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from arms import BALL, FIXED, FOREARM, FREE, X, arm
from characters import rig
from inside.ik import METHODS, MethodName, metres as length_of
from inside.skeleton import chain
from sessions import QUICK

import viewer
from viewer import Goal, Solver, Status

if TYPE_CHECKING:
    from viewer import Solution
    from viewer.skeleton import Skeleton

LOOSE = arm(BALL)


def solve(skeleton: Skeleton, *goals: Goal, **options: Any) -> Solution:  # noqa: ANN401 - options of any type
    return Solver(skeleton, goals, backend=QUICK, natural=False, **options).solve(skeleton.rest_pose())


def diagnosis(skeleton: Skeleton, *goals: Goal, **options: Any) -> tuple[str, ...]:  # noqa: ANN401
    solution = solve(skeleton, *goals, **options)
    assert solution.status is not Status.CONVERGED
    return solution.diagnosis


def hand(*point: float) -> Goal:
    return Goal.position("c", point)


def test_a_limit_that_costs_more_than_geometry_does_is_named_beside_it() -> None:
    near, limits = diagnosis(arm(BALL, 0, 150), hand(0, 1, 0.012))
    assert near == "c is too near: its chain folds to 59 mm, the target is 12 mm away"
    assert limits == "also blocked by limits: b 150°"
    # Stretched out, the arm is as near as geometry lets it be: no limit costs anything.
    assert diagnosis(arm(BALL, 0, 150), hand(0, 1, 0.919)) == diagnosis(LOOSE, hand(0, 1, 0.919))
    pinned = diagnosis(arm(FREE, 0, 150), Goal.pin("a"), hand(0, 1, 0.012))
    assert [line.partition(":")[0] for line in pinned] == ["goals conflict", "also blocked by limits"]
    apart = Goal.distance("c", 0.012, (0, 1, 0))
    assert diagnosis(arm(BALL, 0, 150), apart) == (
        "c is too near: its chain folds to 59 mm, the target is 0 mm away, to be kept 12 mm off",
        "also blocked by limits: b 150°",
    )


def test_limits_that_keep_an_arm_from_getting_away_are_named_beside_what_geometry_says() -> None:
    bent = rig(FIXED, {"kind": "hinge", "axis": X, "offset": [0, 0.4, 0], "limits": {"angle": [60, 90]}}, FOREARM)
    assert diagnosis(bent.skeleton, Goal.distance("c", 2.0, (0, 1, 0))) == (
        "c is 1259 mm too near: it gets 741 mm away from its point at most, 2000 mm are asked",
    )
    lines = diagnosis(bent.skeleton, Goal.distance("c", 0.75, (0, 1, 0)))
    assert lines[1:] == ("also blocked by limits: b 60°",)


def test_goals_that_a_method_does_not_serve_count_in_what_is_said() -> None:
    free = arm(FREE)
    goals = [hand(0, 1, 1), Goal.pose("a", (0, 1, 0), (0, 0, 0, 1))]
    solution = solve(free, *goals, method="single-bone")
    assert (solution.status, solution.unserved) == (Status.UNREACHABLE, ("a",))
    conflict, yet = solution.diagnosis
    assert conflict.startswith("goals conflict: ")
    assert "259 mm too far apart: the chain between them reaches 741 mm" in conflict
    assert yet.startswith("c is ")
    assert " mm off yet: the default method brings it to " in yet


def test_what_only_a_method_that_does_not_serve_it_misses_is_named() -> None:
    turn = Goal.rotation("b", (1, 0, 0, 0))
    assert diagnosis(LOOSE, turn, method="two-link") == ("b is 180° off: two-link cannot serve it",)
    higher = Goal.function(lambda world: world.positions[2] - 1.0)
    assert diagnosis(LOOSE, Goal.rotation("b", (0, 0, 0, 1)), higher, method="single-bone") == (
        "the function goals are not met: single-bone cannot serve them",
    )
    here = hand(0, 1.2, 0.4)
    assert diagnosis(LOOSE, here, higher, method="ccd", max_iterations=1) == (
        "in reach: the default method meets every goal but functions",
    )


def test_a_goal_without_joints_to_serve_it_is_unserved() -> None:
    free = arm(FREE)
    for method in ("two-link", "single-bone"):
        solution = solve(free, Goal.position("a", (0, 2, 0)), hand(0, 1.2, 0.4), method=method)
        assert solution.unserved == ("a",)
    assert solve(free, hand(0, 1.2, 0.4), method="two-link").unserved == ()
    # One bone alone is no limb.
    assert solve(LOOSE, Goal.position("b", (0, 1, 0.4)), method="two-link").unserved == ("b",)


def test_a_pose_that_is_not_at_rest_out_of_reach_says_so() -> None:
    goal = hand(0, 0, 1.5)
    solution = solve(LOOSE, goal, max_iterations=1)
    assert solution.status is Status.UNREACHABLE
    short, yet = solution.diagnosis
    assert short.startswith("c is 1062 mm short: its chain reaches 741 mm")
    assert yet.startswith("c is ")
    assert yet.endswith(" off yet: more iterations bring it to 1062 mm")
    assert solve(LOOSE, goal).diagnosis == (short,)
    # Exact or nothing: the pose is the start, and nobody wants it nearer.
    assert solve(LOOSE, goal, max_iterations=1, exact=True).diagnosis == (short,)


def test_distances_of_two_goals_are_said_in_their_own_terms() -> None:
    free, base = arm(FREE), Goal.position("a", (0, 1, 0))

    def said(*goals: Goal) -> str:
        (line,) = diagnosis(free, *goals)
        return line.removeprefix("goals conflict: ")

    wide = "with a in place c is 3259 mm too near to its point: it gets 1741 mm away at most, 5000 mm are asked"
    assert said(base, Goal.distance("c", 5.0, (0, 2, 0))) == wide
    who, far = said(base, Goal.distance("c", 0.2, (0, 2, 0))).split(" are ", 1)
    assert who == "a and c (200 mm from its point)"
    assert far == "59 mm too far apart: the chain between them reaches 741 mm, their targets are 1000 mm apart"
    who, how = said(Goal.distance("a", 0.1, (0, 1, 0)), Goal.distance("c", 5.0, (0, 1, 0))).split(" in place ")
    assert who == "with a (100 mm from its point)"
    assert how == "c is 4159 mm too near to its point: it gets 841 mm away at most, 5000 mm are asked"
    who, how = said(Goal.distance("c", 0.2, (0, 1, 0)), Goal.distance("c", 0.4, (0, 1, 0))).split(" are ", 1)
    assert who == "c distance (goal 1) (200 mm from its point) and c distance (goal 2) (400 mm from its point)"
    assert how == "at one place, their targets are 0 mm apart"


def test_a_target_too_far_for_numbers_is_said_to_be() -> None:
    free = arm(FREE)
    for metres, said in ((1e50, "1e50 m"), (1e160, "over 1e150 m")):
        assert diagnosis(free, hand(metres, 1, 0)) == (
            f"c is {said} off: too far for numbers to tell which pose is nearer",
        )


def straight(rig: str) -> tuple[Skeleton, Goal]:
    """A rig in one straight line, and a goal exactly behind it, twice as far off as it reaches."""
    skeleton = chain(int(rig)) if rig.isdigit() else viewer.load("sample:two-link").skeleton
    end, world = skeleton.effectors[0], viewer.fk(skeleton, skeleton.rest_pose())
    arm = world.point(end.joint, np.array(end.offset)) - world.positions[0]
    return skeleton, Goal.position(end.name, world.positions[0] - 2.0 * arm)


@pytest.mark.parametrize("rig", ["1", "2", "4", "10", "two-link"])
@pytest.mark.parametrize("method", ["default", *METHODS])
def test_a_pose_is_called_the_nearest_only_where_it_is(method: MethodName, rig: str) -> None:
    skeleton, goal = straight(rig)
    solver = Solver(skeleton, [goal], method=method, backend=QUICK, root="locked")
    solution = solver.solve(skeleton.rest_pose())
    reach, found = float(np.linalg.norm(goal.target)) / 2.0, float(solution.errors_m[0])  # type: ignore[arg-type]
    nearest = found < 1.01 * reach
    assert solution.status is (Status.UNREACHABLE if nearest else Status.STALLED)
    short, *more = solution.diagnosis
    assert " short: its chain reaches " in short
    begin, end = f"{goal.effector} is {length_of(found)} off", f"the default method brings it to {length_of(reach)}"
    assert [line.startswith(begin) and line.endswith(end) for line in more] == ([] if nearest else [True])
    if method in {"dls", "sdls", "pseudo-inverse", "transpose"}:
        assert nearest or f"{method} stopped in a singular pose" in more[0]


def test_a_batch_calls_a_pose_the_nearest_only_where_it_is() -> None:
    skeleton, goal = straight("4")
    ahead = -np.array([goal.target])
    solver = Solver(skeleton, [goal], method="dls", backend=QUICK, root="locked")
    found = solver.solve_batch(skeleton.rest_pose(), np.stack([[goal.target], ahead]))
    assert found.status.tolist() == [Status.STALLED, Status.UNREACHABLE]


def test_a_method_that_pins_hold_back_does_not_call_its_pose_the_nearest() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    goals = [Goal.pin("LeftFoot"), Goal.pin("RightFoot"), Goal.position("LeftHand", (2.5, 1.6, 1.5))]
    solver = Solver(skeleton, goals, method="transpose", backend=QUICK, max_iterations=60)
    solution = solver.solve(skeleton.relaxed_pose())
    best = Solver(skeleton, goals, backend=QUICK).solve(skeleton.relaxed_pose())
    assert best.status is Status.UNREACHABLE
    assert solution.errors_m[2] > 1.2 * best.errors_m[2]
    assert solution.status in {Status.STALLED, Status.BUDGET}
    assert any("the default method brings it to" in line for line in solution.diagnosis)
