"""Goals are values that hold only what a solver can use."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.ik import PIN_WEIGHT

from viewer.errors import InputError
from viewer.ik import Goal

if TYPE_CHECKING:
    from collections.abc import Callable

HALF = math.sqrt(0.5)
TURN = (0.0, HALF, 0.0, HALF)


def test_each_constructor_makes_its_kind() -> None:
    here = (1.0, 2.0, 3.0)
    goal = Goal.position("a", [1, 2, 3])
    assert (goal.kind, goal.effector, goal.target) == ("position", "a", here)
    assert (goal.weight, goal.rotation_weight, goal.offset) == (1.0, 1.0, (0.0, 0.0, 0.0))
    assert (goal.enabled, goal.pinned) == (True, False)
    goal = Goal.rotation("a", TURN)
    assert (goal.kind, goal.target, goal.target_rotation) == ("rotation", None, TURN)
    goal = Goal.pose("a", np.array([1, 2, 3]), np.array(TURN))
    assert (goal.kind, goal.target, goal.target_rotation) == ("position+rotation", here, TURN)
    goal = Goal.distance("a", 0.3, from_=here)
    assert (goal.kind, goal.target, goal.target_distance) == ("distance", here, 0.3)
    goal = Goal.aim("a", point=here, axis=(0, 3, 4))
    assert (goal.kind, goal.target, goal.axis) == ("aim", here, (0.0, 0.6, 0.8))


def test_a_function_goal_holds_its_function() -> None:
    goal = Goal.function(lambda world: world.positions[0] - 1.0, weight=2.0)
    assert (goal.kind, goal.effector, goal.weight) == ("function", "", 2.0)
    assert callable(goal.residuals)


def test_a_pin_holds_what_it_is_told() -> None:
    pin = Goal.pin("foot")
    assert (pin.kind, pin.target, pin.target_rotation, pin.pinned) == ("position+rotation", None, None, True)
    assert (pin.weight, pin.rotation_weight) == (PIN_WEIGHT, PIN_WEIGHT)
    assert Goal.pin("foot", rotation=False).kind == "position"
    assert Goal.pin("foot", position=False).kind == "rotation"
    placed = Goal.pin("foot", position=(1, 2, 3), rotation=TURN, weight=4.0)
    assert (placed.target, placed.target_rotation) == ((1.0, 2.0, 3.0), TURN)
    assert (placed.weight, placed.rotation_weight) == (4.0, PIN_WEIGHT)


def test_options_are_taken_by_all() -> None:
    options: dict[str, Any] = {"weight": 2, "rotation_weight": 0.5, "offset": [0, 1, 0], "enabled": False, "level": 2}
    for goal in (
        Goal.position("a", (0, 0, 0), **options),
        Goal.rotation("a", TURN, **options),
        Goal.pose("a", (0, 0, 0), TURN, **options),
        Goal.pin("a", **options),
        Goal.distance("a", 1, (0, 0, 0), **options),
        Goal.aim("a", (0, 0, 0), (0, 0, 1), **options),
        Goal.function(lambda world: world.positions[0], **options),
    ):
        assert (goal.weight, goal.rotation_weight, goal.offset) == (2.0, 0.5, (0.0, 1.0, 0.0))
        assert (goal.enabled, goal.level) == (False, 2)


def test_goals_are_values() -> None:
    goal = Goal.position("a", [1, 2, 3])
    assert goal == Goal.position("a", np.array([1.0, 2.0, 3.0]))
    assert hash(goal) == hash(Goal.position("a", (1, 2, 3)))
    with pytest.raises(FrozenInstanceError):
        goal.weight = 3.0  # type: ignore[misc] # what the test is about
    assert replace(goal, target=(4, 5, 6)).target == (4.0, 5.0, 6.0)
    with pytest.raises(InputError):
        replace(goal, weight=math.nan)


def test_rotations_nearly_unit_are_normalised() -> None:
    turn = Goal.rotation("a", (0.70711, 0, 0, 0.70711)).target_rotation
    assert turn is not None
    assert math.dist(turn, (0, 0, 0, 0)) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Goal.position("", (0, 0, 0)), 'position goal: expected an effector\'s name, found ""'),
        (lambda: Goal.position(3, (0, 0, 0)), 'position goal: expected an effector\'s name, found "3"'),  # type: ignore[arg-type] # wrong on purpose
        (
            lambda: Goal.position("a", (0, math.nan, 0)),
            'position goal for "a": target: expected finite numbers, found nan',
        ),
        (lambda: Goal.position("a", (0, 0)), 'position goal for "a": target: expected shape (3,), found (2,)'),
        (lambda: Goal.position("a", "here"), 'position goal for "a": target: expected numbers of shape (3,)'),
        (
            lambda: Goal.rotation("a", (0, 0, 0, 0)),
            'rotation goal for "a": target rotation: expected a unit quaternion (x, y, z, w), found length 0',
        ),
        (
            lambda: Goal.pose("a", (0, 0, math.inf), TURN),
            'position+rotation goal for "a": target: expected finite numbers, found inf',
        ),
        (lambda: Goal.pin("a", False, False), 'pin of "a": expected a position or rotation to hold, found neither'),
        (
            lambda: Goal.distance("a", -0.1, (0, 0, 0)),
            'distance goal for "a": target distance: expected a finite number, 0 or more, found -0.1',
        ),
        (
            lambda: Goal.distance("a", 10**400, (0, 0, 0)),
            'distance goal for "a": target distance: expected a finite number, 0 or more, found inf',
        ),
        (
            lambda: Goal.aim("a", (0, 0, 0), (0, 0, 0)),
            'aim goal for "a": axis: expected a direction, found the zero vector',
        ),
        (
            lambda: Goal.position("a", (0, 0, 0), weight=0),
            'position goal for "a": weight: expected a finite number, more than 0, found 0',
        ),
        (
            lambda: Goal.position("a", (0, 0, 0), rotation_weight=-1.0),
            'position goal for "a": rotation weight: expected a finite number, more than 0, found -1',
        ),
        (
            lambda: Goal.position("a", (0, 0, 0), weight=1e-320),
            'position goal for "a": weight: expected a finite number, 1e-300 or more, found 9.99989e-321',
        ),
        (
            lambda: Goal.position("a", (0, 0, 0), weight=True),
            'position goal for "a": weight: expected a number, found "True"',
        ),
        (
            lambda: Goal.position("a", (0, 0, 0), offset=(0, 0, math.nan)),
            'position goal for "a": offset: expected finite numbers, found nan',
        ),
        (
            lambda: Goal.function(3),  # type: ignore[arg-type] # wrong on purpose
            'function goal: expected a function of the world, found "3"',
        ),
        (
            lambda: Goal.position("a", (0, 0, 0), level=4),
            'position goal for "a": level: expected a whole number, 0 to 3, found "4"',
        ),
        (
            lambda: Goal.function(lambda world: world.positions[0], level=True),
            'function goal: level: expected a whole number, 0 to 3, found "True"',
        ),
        (lambda: Goal(kind="aim", effector="a"), 'aim goal for "a": expected a target, found none'),
    ],
)
def test_what_no_solver_could_use_is_refused(make: Callable[[], Goal], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message
