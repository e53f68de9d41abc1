"""Diagnosis: the words for every reason why a goal is missed, on rigs where the reason is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import rigs
from arms import BALL, FIXED, FREE, X, arm
from characters import rig
from hypothesis import given, settings, strategies as st
from inside.ik import Cause, RootMode, degrees, listed, metres, together
from sessions import QUICK

from viewer import Goal, Solver, Status

if TYPE_CHECKING:
    from viewer import Solution
    from viewer.skeleton import Skeleton

Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

LOOSE = arm(BALL)
ELBOW = arm(FIXED, 0, 90)


def solve(skeleton: Skeleton, *goals: Goal, **options: Any) -> Solution:  # noqa: ANN401 - options of any type
    return Solver(skeleton, goals, backend=QUICK, natural=False, **options).solve(skeleton.rest_pose())


def diagnosis(skeleton: Skeleton, *goals: Goal, **options: Any) -> tuple[str, ...]:  # noqa: ANN401
    solution = solve(skeleton, *goals, **options)
    assert solution.status is not Status.CONVERGED
    assert solution.diagnosis == solution.diagnosis
    return solution.diagnosis


def hand(*point: float) -> Goal:
    return Goal.position("c", point)


def forearm_at(angle: float) -> Goal:
    """Where the hand is with the elbow at so many degrees and the shoulder at rest."""
    return hand(0, 1.4 + 0.341 * math.cos(math.radians(angle)), 0.341 * math.sin(math.radians(angle)))


def test_nothing_is_said_of_goals_that_are_met() -> None:
    assert solve(LOOSE, hand(0, 1.2, 0.4)).diagnosis == ()


def test_too_far() -> None:
    solution = solve(LOOSE, hand(0, 1, 0.919))
    assert solution.status is Status.UNREACHABLE
    assert solution.diagnosis == ("c is 178 mm short: its chain reaches 741 mm, the target is 919 mm away",)
    np.testing.assert_allclose(solution.errors_m, 0.178, atol=1e-4)


def test_too_near() -> None:
    solution = solve(LOOSE, hand(0, 1, 0.012))
    assert solution.status is Status.UNREACHABLE
    assert solution.diagnosis == ("c is too near: its chain folds to 59 mm, the target is 12 mm away",)


def test_distances_that_cannot_be_kept() -> None:
    assert diagnosis(LOOSE, Goal.distance("c", 0.2, (0, 1, 1))) == (
        "c is 59 mm short: its chain reaches 741 mm, the target is 1000 mm away, to be kept 200 mm off",
    )
    assert diagnosis(LOOSE, Goal.distance("c", 2.0, (0, 1, 1))) == (
        "c is 259 mm too near: it gets 1741 mm away from its point at most, 2000 mm are asked",
    )


def test_goals_of_what_cannot_move() -> None:
    stiff = rig(FIXED, FIXED, {}).skeleton
    assert diagnosis(stiff, Goal.position("b", (0, 2, 0.5))) == ("b is 500 mm short: no joint brings it nearer",)
    assert diagnosis(stiff, Goal.rotation("b", (0, 0, 1, 0))) == ("b is at least 180° off: no joint turns it that way",)


@pytest.mark.parametrize(("angle", "limit"), [(-30, "b 0°"), (120, "b 90°")])
def test_an_elbow_at_its_limit_is_named(angle: float, limit: str) -> None:
    assert diagnosis(ELBOW, forearm_at(angle)) == (f"blocked by limits: {limit}",)
    assert solve(ELBOW, forearm_at(angle), limits=False).status is Status.CONVERGED


def test_every_kind_of_limit_has_a_name() -> None:
    reach: dict[str, Any] = {"offset": [0, 0.5, 0], "kind": "fixed"}

    def said(joint: dict[str, Any], goal: Goal) -> str:
        (line,) = diagnosis(rig(FIXED, joint | {"offset": [0, 0, 0]}, reach).skeleton, goal)
        return line.removeprefix("blocked by limits: ")

    narrow = {"x": [-20, 20], "y": [-30, 30], "z": [-10, 10]}
    up = hand(0, 1 + 0.5 * math.cos(1.0), 0.5 * math.sin(1.0))
    quarter = (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5))
    assert said({"twist_axis": "y", "limits": narrow}, up) == "b swing"
    assert said({"twist_axis": "y", "limits": narrow}, Goal.rotation("c", quarter)) == "b twist"
    assert said({"limits": narrow | {"order": "xyz"}}, up) == "b x 20°"
    assert said({"kind": "universal", "axes": [X, Z], "limits": {"angles": [[-5.5, 5.5], [0, 9]]}}, up) == "b 5.5°"
    slide = {"kind": "slide", "axis": Y, "limits": {"distance": [-0.05, 0.2]}}
    turned = {"kind": "slide", "axis": Y, "limits": {"distance": [0, 0.2]}}
    assert diagnosis(rig(BALL, slide, turned).skeleton, hand(0, 1, 0)) == (
        "c is too near: its chain folds to 1950 mm, the target is 0 mm away",
    )


def test_only_the_limits_that_matter_are_named() -> None:
    # The wrist, too, stands at its limit, but the target asks nothing of it.
    wrist = {"kind": "hinge", "axis": Y, "limits": {"angle": [0, 30]}, "offset": [0, 0.341, 0]}
    skeleton = rig(
        FIXED, {"kind": "hinge", "axis": X, "offset": [0, 0.4, 0], "limits": {"angle": [0, 90]}}, wrist
    ).skeleton
    solution = solve(skeleton, forearm_at(-30))
    assert solution.at_limit == ("b", "c")
    assert solution.diagnosis == ("blocked by limits: b 0°",)


def test_limits_that_hold_a_stuck_drag_are_those_of_the_nearest_pose() -> None:
    # Straight, the arm does not know which way to bend; bent as far as it goes it is still too long.
    bent = arm(BALL, 0, 150)
    solver = Solver(bent, [hand(0, 1.1, 0)], backend=QUICK, natural=False)
    assert solver.drag(bent.rest_pose()).move().diagnosis == ("blocked by limits: b 150°",)


def test_two_goals_that_pull_apart_are_named() -> None:
    lines = diagnosis(arm(FREE), Goal.position("a", (0, 1, 0)), hand(0, 1, 1))
    apart = "a and c are 259 mm too far apart: the chain between them reaches 741 mm, their targets are 1000 mm apart"
    assert lines == (f"goals conflict: {apart}",)
    assert diagnosis(arm(FREE), hand(0, 1, 0), hand(0, 1, 1)) == (
        "goals conflict: c position (goal 1) and c position (goal 2) are at one place, their targets are 1000 mm apart",
    )
    rigid = rig(FREE, FIXED).skeleton
    assert diagnosis(rigid, Goal.position("a", (0, 0, 0)), Goal.position("b", (0, 0, 0.5))) == (
        "goals conflict: a and b are fixed 1000 mm apart, their targets are 500 mm apart",
    )


def test_goals_that_only_solving_shows_to_conflict_are_named() -> None:
    # With the hand there and the forearm upright, the elbow would not be 400 mm from the shoulder.
    lines = diagnosis(LOOSE, hand(0, 1.4, 0.5), Goal.aim("b", (0, 9, 0.5), Y))
    assert lines == ("goals conflict: c and b cannot both be met (each alone can)",)


def test_a_place_and_a_turn_that_exclude_each_other() -> None:
    lines = diagnosis(LOOSE, Goal.pose("c", (0, 1.4, 0.5), (0, 0, 1, 0)))
    assert len(lines) == 1
    assert lines[0].startswith("c can meet its position goal or its rotation goal, not both: at its position it is ")


def test_how_far_a_rotation_is_missed_where_its_position_is_met() -> None:
    # Two hinges about z in a plane: at a place the arm has two poses, the hand along or across.
    hinge: dict[str, Any] = {"kind": "hinge", "axis": Z}
    flat = rig(hinge, hinge | {"offset": [0, 0.4, 0]}, {"kind": "fixed", "offset": [0, 0.4, 0]}).skeleton
    place = (math.sin(0.5) * 0.4, 1.0 + 0.4 * (1.0 + math.cos(0.5)), 0.0)  # shoulder 0, elbow -0.5; or -0.5 and 0.5
    turned = (0.0, 0.0, math.sin(0.25), math.cos(0.25))  # 0.5: nearer to the second, whose hand is at 0
    assert diagnosis(flat, Goal.pose("c", place, turned)) == (
        "c can meet its position goal or its rotation goal, not both: at its position it is 29° off",
    )


FIGURE = rig(
    FREE,
    {"offset": [0.2, 0, 0]},
    {"offset": [0.5, 0, 0], "kind": "fixed"},
    {"offset": [-0.2, 0, 0], "parent": "a"},
    {"offset": [-0.5, 0, 0], "kind": "fixed"},
    {"offset": [0, -0.2, 0], "parent": "a"},
    {"offset": [0, -0.5, 0], "kind": "fixed"},
).skeleton
"""A root and three limbs of 500 mm: c, e and g."""


def test_the_goal_at_odds_with_most_others_is_blamed_and_others_give_way() -> None:
    goals = [Goal.position("g", (0, 0.3, 0)), Goal.position("e", (-0.7, 1, 0)), Goal.position("c", (3, 1, 0))]
    apart, line = diagnosis(FIGURE, *goals)
    assert apart.startswith("goals conflict: c and e are 2300 mm too far apart: the chain between them reaches 1400 mm")
    assert line.startswith("g (")
    assert line.endswith(" mm) gives way to c")


def test_disabled_and_unserved_goals_are_left_out() -> None:
    off = Goal.position("b", (9, 9, 9), enabled=False)
    far = hand(0, 1, 0.919)
    assert diagnosis(LOOSE, off, far) == diagnosis(LOOSE, far)
    turn = Goal.rotation("b", (0, 0, 1, 0))
    solution = solve(LOOSE, turn, far, method="two-link")
    assert solution.unserved == ("b",)
    assert solution.diagnosis == diagnosis(LOOSE, far)


def test_what_is_in_reach_is_said_to_be() -> None:
    goal = hand(0, 1.2, 0.4)
    assert diagnosis(LOOSE, goal, max_iterations=1) == ("in reach: more iterations meet every goal",)
    assert diagnosis(LOOSE, goal, max_iterations=1, exact=True) == ("in reach: more iterations meet every goal",)
    assert diagnosis(LOOSE, goal, method="transpose", max_iterations=1) == (
        "in reach: the default method meets every goal",
    )
    # Straight towards the base a straight arm does not bend by itself.
    solver = Solver(LOOSE, [hand(0, 1.2, 0)], backend=QUICK, natural=False)
    stuck = solver.drag(LOOSE.rest_pose()).move()
    assert stuck.diagnosis == ("in reach: restarts find a pose that meets every goal",)


def test_function_goals_are_not_looked_into_but_mentioned() -> None:
    never = Goal.function(lambda world: world.positions[0] - 5.0)
    assert diagnosis(LOOSE, never) == ("the function goals are not met",)
    lower = Goal.function(lambda world: 3.0 * (world.positions[2] - 1.0))
    assert diagnosis(LOOSE, hand(0, 1.2, 0.4), lower) == ("goals conflict: c and the function goals cannot all be met",)


def test_reasons_have_a_cause_their_goals_and_a_brief_text() -> None:
    def why(*goals: Goal, skeleton: Skeleton = LOOSE) -> tuple[Cause, tuple[int, ...], str]:
        (reason,) = solve(skeleton, *goals).reasons
        return reason.cause, reason.goals, reason.brief

    other = Goal.position("b", (9, 9, 9), enabled=False)
    assert why(other, hand(0, 1, 0.919)) == (Cause.FAR, (1,), "")
    assert why(other, hand(0, 1, 0.012)) == (Cause.NEAR, (1,), "Too near: c, chain folds to 59 mm")
    assert why(Goal.distance("c", 2.0, (0, 1, 1))) == (Cause.NEAR, (0,), "")
    stiff = rig(FIXED, FIXED, {}).skeleton
    turn = "No joint turns b that way: at least 180° off"
    assert why(Goal.rotation("b", (0, 0, 1, 0)), skeleton=stiff) == (Cause.TURN, (0,), turn)
    assert why(forearm_at(-30), skeleton=ELBOW) == (Cause.LIMITS, (), "Blocked by limits: b 0°")
    conflict = "Goals conflict: c and b"
    assert why(hand(0, 1.4, 0.5), Goal.aim("b", (0, 9, 0.5), Y)) == (Cause.CONFLICT, (0, 1), conflict)
    cause, goals, brief = why(Goal.pose("c", (0, 1.4, 0.5), (0, 0, 1, 0)))
    assert (cause, goals) == (Cause.EITHER, (0,))
    assert brief.startswith("Position or rotation, not both: c, ")
    assert brief.endswith("° off at its position")


@settings(max_examples=6)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_miss_gets_a_readable_line(seed: int) -> None:
    random = np.random.default_rng(seed)
    skeleton = rigs.random_skeleton(random, int(random.integers(1, 8)))
    kinds = random.choice(list(rigs.GOAL_KINDS), int(random.integers(1, 4))).tolist()
    goals = rigs.random_goals(random, skeleton, kinds)
    if random.random() < 0.1:
        goals.append(Goal.position(skeleton.names[0], random.normal(size=3) * 10.0 ** random.integers(1, 300)))
    root: RootMode = random.choice(["free", "translate", "locked"])
    solver = Solver(skeleton, goals, backend=QUICK, root=root, limits=bool(random.integers(2)), max_iterations=60)
    solution = solver.solve(rigs.random_pose(random, skeleton))
    lines = solution.diagnosis
    assert bool(lines) is (solution.status is not Status.CONVERGED)
    assert len(set(lines)) == len(lines)
    for line in lines:
        assert "nan" not in line
        assert "inf " not in line
        assert "-0 " not in line


def test_lengths_angles_and_lists_read_well() -> None:
    said = {
        0.0: "0 mm", 2e-5: "20 µm", 0.00321: "3.2 mm", 0.0123: "12 mm", 0.178: "178 mm", 3.2: "3200 mm",
        9.9996: "10.0 m", 12.34: "12.3 m", 123456.0: "123 km", 1.5e12: "1.5e12 m", 3e100: "3e100 m",
        2e150: "over 1e150 m", math.inf: "over 1e150 m",
    }  # fmt: skip
    assert {length: metres(length) for length in said} == said
    angles = [degrees(math.radians(angle)) for angle in (0.0, -0.01, 5.5, 44.6, -120.0)]
    assert angles == ["0°", "0°", "5.5°", "45°", "-120°"]
    assert listed(["a", "b", "a"]) == "a, b"
    assert listed("abcdefgh") == "a, b, c, d, e, f and 2 more"
    assert [together("a"), together("ab"), together("abc")] == ["a", "a and b", "a, b and c"]
