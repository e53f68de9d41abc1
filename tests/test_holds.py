"""Who stays while others are moved: holds for what is on, pins for the feet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from inside.ik import PIN_WEIGHT, holds

import viewer
from viewer import Goal
from viewer.skeleton import EffectorGoal

BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
WORLD = viewer.fk(BIPED, RELAXED)


def test_every_effector_that_is_on_is_held_and_feet_are_pinned() -> None:
    on = [effector for effector in BIPED.effectors if effector.goal is not EffectorGoal.OFF]
    held = holds(BIPED, RELAXED)
    assert [goal.effector for goal in held] == [effector.name for effector in on]
    for goal, effector in zip(held, on, strict=True):
        foot = "Foot" in effector.name
        assert goal.pinned is foot
        assert goal.weight == (PIN_WEIGHT if foot else 1.0)
        assert (goal.kind == "position+rotation") >= foot
        place = WORLD.point(effector.joint, np.array(effector.offset))
        if goal.target is not None:
            np.testing.assert_allclose(goal.target, place)
        if goal.target_rotation is not None:
            np.testing.assert_allclose(goal.target_rotation, WORLD.rotations[effector.joint])
    assert {goal.effector for goal in held if goal.pinned} == {"LeftFoot", "RightFoot"}


def test_a_pin_weighs_thirty_holds() -> None:
    assert PIN_WEIGHT == 30.0


def test_effectors_hold_what_they_are_for() -> None:
    kinds = (EffectorGoal.POSITION, EffectorGoal.ROTATION, EffectorGoal.POSE, EffectorGoal.OFF)
    hands = [replace(BIPED.effectors[0], name=f"e{i}", goal=kind) for i, kind in enumerate(kinds)]
    skeleton = replace(BIPED, effectors=tuple(hands))
    assert [goal.kind for goal in holds(skeleton, RELAXED)] == [
        "position", "rotation", "position+rotation",
    ]  # fmt: skip


def test_goals_that_are_set_take_the_place_of_holds() -> None:
    others = [Goal.position("LeftHand", (1, 1, 1)), Goal.position("RightFoot", (0, 0, 0), enabled=False)]
    names = [goal.effector for goal in holds(BIPED, RELAXED, others)]
    assert "LeftHand" not in names
    assert "RightFoot" not in names
    assert "LeftFoot" in names
    assert holds(BIPED, RELAXED, [Goal.function(lambda world: world.positions[0])]) == holds(BIPED, RELAXED)


def test_holds_are_met_where_they_stand() -> None:
    solution = viewer.Solver(BIPED, holds(BIPED, RELAXED), backend="numpy").solve(RELAXED)
    assert solution.status == "converged"
    assert solution.iterations == 0


def test_a_skeleton_without_effectors_holds_nothing() -> None:
    assert holds(replace(BIPED, effectors=()), RELAXED) == ()


def test_feet_of_legs_with_few_joints_are_pinned_by_their_position_alone() -> None:
    # Three hinges, as of most robots on four legs, and six: pinned by both, three would hold the body fast.
    builder = viewer.Builder().add("trunk", None, (0, 0.5, 0), kind="free")
    for side, axes in (("left", "xzz"), ("right", "xzzzxy")):
        above = "trunk"
        for place, axis in enumerate(axes):
            way = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}[axis]
            name = f"{side}_joint_{place}"
            builder = builder.add(name, above, (0, -0.5 / len(axes), 0), kind="hinge", axis=way)
            above = name
        builder = builder.add(f"{side}_foot", above, kind="fixed").effector(f"{side}_foot", f"{side}_foot")
    skeleton = builder.skeleton
    kinds = {goal.effector: (goal.kind, goal.pinned) for goal in holds(skeleton, skeleton.rest_pose())}
    assert kinds == {"left_foot": ("position", True), "right_foot": ("position+rotation", True)}
