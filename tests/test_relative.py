"""Goals for two effectors that hold together: one keeps its place, and how it is turned, in the frame of the other."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.formats import goals_from_text, goals_to_json
from inside.ik import BACKENDS
from inside.spatial import angle_between, conjugate, multiply, rotate

import viewer
from viewer import Goal, Solver
from viewer.errors import FormatError, InputError

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.skeleton import Pose, Skeleton

BIPED = viewer.load("sample:biped").skeleton
FEET = (Goal.pin("LeftFoot"), Goal.pin("RightFoot"))
HALF_MILLIMETRE = 5e-4


def relation(skeleton: Skeleton, pose: Pose, one: str = "LeftHand", other: str = "RightHand") -> tuple[Floats, Floats]:
    """Where the other joint is in the frame of one, and how it is turned there."""
    world, a, b = viewer.fk(skeleton, pose), skeleton.index(one), skeleton.index(other)
    back = conjugate(world.rotations[a])
    return rotate(back, world.positions[b] - world.positions[a]), multiply(back, world.rotations[b])


def held_to(start: Pose, pose: Pose) -> tuple[float, float]:
    """Metres and degrees by which the hands are not to each other as they were."""
    (point, turn), (place, rotation) = relation(BIPED, start), relation(BIPED, pose)
    return float(np.linalg.norm(point - place)), float(np.degrees(angle_between(turn, rotation)))


def together(start: Pose) -> Pose:
    """The hands before the chest, near each other."""
    world = viewer.fk(BIPED, start)
    chest = world.positions[BIPED.index("Hips")] + (0.0, 0.25, 0.3)
    goals = [Goal.position("LeftHand", chest + (0.1, 0, 0)), Goal.position("RightHand", chest - (0.1, 0, 0)), *FEET]
    return Solver(BIPED, goals).solve(start).pose


START = together(BIPED.relaxed_pose())
HANDS = viewer.fk(BIPED, START).positions[[BIPED.index("LeftHand"), BIPED.index("RightHand")]]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("position", "rotation"), [(True, True), (True, False), (False, True)])
def test_the_other_hand_follows(backend: str, position: bool, rotation: bool) -> None:
    random = np.random.default_rng(7)
    goal = Goal.relative("LeftHand", "RightHand", position, rotation)
    solver = Solver(BIPED, [Goal.position("LeftHand", (0, 0, 0)), goal, *FEET], backend=backend)
    for _ in range(6):
        target = HANDS[0] + random.uniform(-0.15, 0.15, 3)
        solution = solver.solve(START, [target, (np.nan,) * 3, (np.nan,) * 3, (np.nan,) * 3])
        assert solution.status == "converged"
        metres, degrees = held_to(START, solution.pose)
        assert not position or metres <= HALF_MILLIMETRE
        assert not rotation or degrees <= 0.5
        assert np.isnan(solution.errors_m[1]) is not position
        assert np.isnan(solution.errors_deg[1]) is not rotation


def test_it_is_the_same_from_either_hand() -> None:
    target = HANDS[1] + (-0.05, 0.1, 0.05)
    goals = [Goal.position("RightHand", target), Goal.relative("LeftHand", "RightHand"), *FEET]
    solution = Solver(BIPED, goals).solve(START)
    assert solution.status == "converged"
    assert held_to(START, solution.pose)[0] <= HALF_MILLIMETRE


def test_numbers_state_where_the_other_is() -> None:
    turn = (0.0, 0.0, 0.0, 1.0)
    goal = Goal.relative("LeftHand", "RightHand", (0.05, 0.1, 0.02), turn, offset=(0.01, 0.0, 0.0))
    solution = Solver(BIPED, [goal, *FEET]).solve(START)
    assert solution.status == "converged"
    point, rotation = relation(BIPED, solution.pose)
    np.testing.assert_allclose(point, (0.06, 0.1, 0.02), atol=HALF_MILLIMETRE)
    assert np.degrees(angle_between(rotation, np.array(turn))) < 0.1


@pytest.mark.parametrize("backend", BACKENDS)
def test_drags_keep_the_hands_together(backend: str) -> None:
    goals = [Goal.position("LeftHand", HANDS[0]), Goal.relative("LeftHand", "RightHand"), *FEET]
    drag = Solver(BIPED, goals, backend=backend).drag(START)
    for step in range(60):
        target = HANDS[0] + 0.1 * np.array([np.sin(step / 10), np.sin(step / 7), 0.5 * np.sin(step / 5)])
        solution = drag.move([target, (np.nan,) * 3, (np.nan,) * 3, (np.nan,) * 3])
    metres, degrees = held_to(START, solution.pose)
    assert metres <= 2e-3
    assert degrees <= 0.5


def test_a_batch_takes_what_each_start_has() -> None:
    goals = [Goal.position("LeftHand", HANDS[0] + (0.0, 0.1, 0.0)), Goal.relative("LeftHand", "RightHand"), *FEET]
    solver = Solver(BIPED, goals)
    starts = [START, BIPED.relaxed_pose()]
    batch = solver.solve_batch(starts)
    for index, start in enumerate(starts):
        assert batch.pose(index).is_near(solver.solve(start).pose)


def test_backends_agree() -> None:
    goals = [Goal.position("LeftHand", HANDS[0] + (0.1, 0.1, 0.0)), Goal.relative("LeftHand", "RightHand"), *FEET]
    one, other = (Solver(BIPED, goals, backend=backend).solve(START) for backend in ("numpy", "numba"))
    assert one.iterations == other.iterations
    np.testing.assert_allclose(one.pose.rotations, other.pose.rotations, atol=1e-9)


def test_joints_that_move_both_change_nothing_between_them() -> None:
    """The whole body turned and moved: what is asked is met there as before."""
    goal = Goal.relative("LeftHand", "RightHand", *(tuple(part.tolist()) for part in relation(BIPED, START)))
    rotations, translations = START.rotations.copy(), START.translations.copy()
    rotations[0] = multiply(np.array([0.0, np.sin(0.4), 0.0, np.cos(0.4)]), rotations[0])
    translations[0] += (1.0, 0.0, -2.0)
    solution = Solver(BIPED, [goal]).solve(replace(START, rotations=rotations, translations=translations))
    assert solution.status == "converged"
    assert solution.iterations == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Goal.relative("LeftHand", "LeftHand"),
            'relative goal for "LeftHand": expected another effector, found itself',
        ),
        (
            lambda: Goal.relative("LeftHand", "RightHand", position=False, rotation=False),
            'relative goal for "LeftHand": expected a position or rotation, found neither',
        ),
        (
            lambda: Goal.relative("LeftHand", ""),
            'relative goal for "LeftHand": expected a second effector\'s name, found ""',
        ),
        (
            lambda: Solver(BIPED, [Goal.relative("LeftHand", "LeftHand.tip")]),
            'relative goal: expected effectors of two joints, found "LeftHand" and "LeftHand.tip" of one',
        ),
    ],
)
def test_what_is_no_pair_is_refused(make: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()  # type: ignore[operator]
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "goal",
    [
        Goal.relative("LeftHand", "RightHand"),
        Goal.relative("LeftHand", "RightHand", rotation=False),
        Goal.relative("LeftHand", "RightHand", position=False, weight=2.0),
        Goal.relative("LeftHand", "RightHand", (0.0, 0.1, 0.25), (0.0, 1.0, 0.0, 0.0), id="both hands"),
        Goal.relative("LeftHand", "RightHand", (0.0, 0.1, 0.25), offset=(0.0, 0.125, 0.0)),
    ],
)
def test_files_hold_it(goal: Goal) -> None:
    text = goals_to_json((goal,))
    assert goals_from_text(text, "goals.json", BIPED) == (goal,)
    assert json.loads(text)["version"] == 2


def test_a_file_that_says_no_more_holds_both_parts() -> None:
    text = '{"goals": [{"relative": "LeftHand", "to": "RightHand"}]}'
    assert goals_from_text(text, "goals.json", BIPED) == (Goal.relative("LeftHand", "RightHand"),)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"relative": "LeftHand"}, 'expected "to" beside "relative", found none'),
        ({"effector": "LeftHand", "to": "RightHand"}, 'expected "relative" beside "to", found none'),
        (
            {"effector": "LeftHand", "position": True},
            'expected numbers for "position" without "relative", found true',
        ),
        (
            {"relative": "LeftHand", "to": "RightHand", "pin": True},
            'expected no "pin" beside "relative", found one',
        ),
        (
            {"relative": "LeftHand", "to": "RightHand", "angle": 30.0},
            'expected no "angle" beside "relative", found one',
        ),
        (
            {"relative": "LeftHand", "to": "LeftHand"},
            'relative goal for "LeftHand": expected another effector, found itself',
        ),
    ],
)
def test_files_that_say_something_else_are_refused(entry: dict[str, object], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        goals_from_text(json.dumps({"goals": [entry]}), "goals.json", BIPED)
    assert str(caught.value) == f"goals.json: goals[0]: {message}"


def test_an_unknown_second_effector_is_refused_by_name() -> None:
    with pytest.raises(FormatError, match=r'goals\[0\]: no effector, joint or tip "Nose"'):
        goals_from_text('{"goals": [{"relative": "LeftHand", "to": "Nose"}]}', "goals.json", BIPED)
