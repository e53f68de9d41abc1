"""Scale: neither the size of a figure nor a factor on all weights decides whether its goals are met."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from inside.ik import Backend, balanced_weights, groups_of, lengths_above, unit_near
from rigs import random_pose, random_skeleton
from sessions import QUICK

import viewer
from viewer import Contact, Goal, Solver, Status
from viewer.skeleton import JointKind, JointLimits, Pose

if TYPE_CHECKING:
    from viewer import Solution
    from viewer.skeleton import Skeleton

BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
BESIDE = (0.4, 1.3, 0.3)


def scaled(skeleton: Skeleton, factor: float) -> Skeleton:
    """The same figure, larger: bones, end sites, effectors and poses."""
    limits = [
        JointLimits.coordinates((factor * float(found.lower[0]), factor * float(found.upper[0])))
        if found is not None and kind is JointKind.SLIDE
        else found
        for kind, found in zip(skeleton.kinds, skeleton.limits, strict=True)
    ]
    return replace(
        skeleton,
        offsets=factor * skeleton.offsets,
        limits=tuple(limits),
        tip_offsets=factor * skeleton.tip_offsets,
        effectors=tuple(replace(one, offset=tuple(factor * np.array(one.offset))) for one in skeleton.effectors),
        poses={name: Pose(pose.rotations, factor * pose.translations) for name, pose in skeleton.poses.items()},
    )


@cache
def rig_solved(seed: int, factor: float, backend: Backend = "numpy") -> Solution:
    """A random rig, its goals where a pose of it has them, all of it so many times as large."""
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, 7)
    posed = random_pose(random, skeleton)
    large, wanted = scaled(skeleton, factor), Pose(posed.rotations, factor * posed.translations)
    world = viewer.fk(large, wanted)
    goals = [Goal.position(name, world.positions[large.index(name)]) for name in skeleton.names[-2:]]
    roots = large.parents[:, None] < 0
    start = np.where(roots, wanted.translations, large.offsets)
    # A fixed root stays where it is put and as it is turned there.
    put = roots & np.array([kind is JointKind.FIXED for kind in large.kinds])[:, None]
    solver = Solver(large, goals, tolerance_m=1e-3 * factor, backend=backend)
    return solver.solve(Pose(np.where(put, wanted.rotations, large.rest_rotations), start))


@settings(max_examples=10)
@given(st.integers(0, 40))
def test_a_figure_16_times_as_large_is_solved_in_the_same_steps(seed: int) -> None:
    small, large = rig_solved(seed, 16.0**-3), rig_solved(seed, 16.0**2)
    assert (small.status, small.iterations) == (large.status, large.iterations)
    np.testing.assert_array_equal(small.pose.rotations, large.pose.rotations)
    np.testing.assert_array_equal(16.0**5 * small.pose.translations, large.pose.translations)


@pytest.mark.parametrize("factor", [1e-6, 0.1, 10.0, 1e6])
def test_any_size_is_solved_as_often_as_a_metre(factor: float) -> None:
    ordinary, other = ([rig_solved(seed, size).status for seed in range(12)] for size in (1.0, factor))
    assert ordinary.count(Status.CONVERGED) >= 11
    assert other.count(Status.CONVERGED) >= ordinary.count(Status.CONVERGED) - 1


@pytest.mark.parametrize("factor", [1e-300, 1e-8, 1e-4, 1e4, 1e300])
def test_a_common_factor_of_all_weights_does_not_matter(factor: float) -> None:
    hand = Goal.position("LeftHand", BESIDE, weight=factor)
    foot = Goal.pin("RightFoot", weight=30.0 * factor, rotation_weight=30.0 * factor)
    solution = Solver(BIPED, [hand, foot], backend=QUICK).solve(RELAXED)
    ordinary = Solver(BIPED, [Goal.position("LeftHand", BESIDE), Goal.pin("RightFoot")], backend=QUICK).solve(RELAXED)
    assert solution.status is Status.CONVERGED
    assert abs(solution.iterations - ordinary.iterations) <= 1


@pytest.mark.parametrize("weight", [1e-300, 1e-12, 1e-3, 1e-2, 1e4, 1e6, 1e12, 1e300])
def test_goals_that_can_be_met_are_met_however_much_one_outweighs_the_other(weight: float) -> None:
    goals = [Goal.position("LeftHand", BESIDE, weight=weight), Goal.pin("RightFoot")]
    assert Solver(BIPED, goals, backend=QUICK).solve(RELAXED).status is Status.CONVERGED


def test_the_heavier_goal_is_missed_less_whatever_the_ratio() -> None:
    misses = []
    for weight in (1.0, 10.0, 1e3, 1e9):
        goals = [Goal.position("LeftHand", (0.4, 1.2, 0.3), weight=weight), Goal.position("LeftHand", (0.2, 1.2, 0.3))]
        misses.append(Solver(BIPED, goals, backend=QUICK).solve(RELAXED).errors_m)
    assert misses[0] == pytest.approx(0.1, abs=1e-3)
    for one, other in misses[1:]:
        assert one < 0.05 * other


def test_units_are_powers_of_16_and_1_for_people() -> None:
    assert [unit_near(value) for value in (0.0, 0.26, 1.0, 3.9, 4.1, 60.0, 0.2)] == [
        1.0,
        1.0,
        1.0,
        1.0,
        16.0,
        16.0,
        1 / 16,
    ]
    assert math.isfinite(unit_near(1e308))
    assert unit_near(5e-324) > 0.0


def test_lengths_are_added_up_from_the_root() -> None:
    offsets = np.array([[9.0, 9.0, 9.0], [0.0, 3.0, 4.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    assert lengths_above(np.array([-1, 0, 1, 0]), offsets).tolist() == [0.0, 5.0, 6.0, 2.0]


def test_weights_keep_their_ratios_up_to_300_and_their_order_beyond() -> None:
    goals = [Goal.position("a", (0, 0, 0), weight=weight) for weight in (1.0, 30.0, 0.5)]
    places, _, unit = balanced_weights(goals, 1.0)
    assert (places.tolist(), unit) == ([1.0, 30.0, 0.5], 1.0)
    goals = [Goal.position("a", (0, 0, 0), weight=weight) for weight in (1.0, 1e6, 1e3)]
    places, _, _ = balanced_weights(goals, 1.0)
    assert places == pytest.approx([1.0, 300.0, math.sqrt(300.0)])


def test_goals_are_grouped_by_the_joints_that_can_move_them() -> None:
    # Joint 0 is above all, 1 above goals 0 and 1, 2 above goal 2 only.
    low, high = np.array([0, 0, 2]), np.array([3, 2, 3])
    apart = groups_of(np.array([False, True, True]), low, high, 3)
    assert [found.tolist() for found in apart] == [[0, 0, 1], [-1, 0, 1]]
    together = groups_of(np.array([True, True, True]), low, high, 3)
    assert [found.tolist() for found in together] == [[0, 0, 0], [0, 0, 0]]
    still = groups_of(np.zeros(3, dtype=np.bool_), low, high, 3)
    assert [found.tolist() for found in still] == [[0, 1, 2], [-1, -1, -1]]


BIPED_WORLD = viewer.fk(BIPED, RELAXED)


def mixed_goals(factor: float) -> list[list[Goal]]:
    """Every sort of goal beside another, so many times as large."""
    hand, head = (BIPED_WORLD.positions[BIPED.index(name)] for name in ("LeftHand", "Head"))
    turn = np.array((0.1, -0.15, 0.05, 0.98)) / np.linalg.norm((0.1, -0.15, 0.05, 0.98))
    feet = [Goal.pin("LeftFoot"), Goal.pin("RightFoot")]
    near, ahead = factor * (hand + np.array((0.05, 0.12, 0.1))), factor * (head + np.array((0.2, -0.1, 1.0)))
    return [
        [Goal.position("LeftHand", near), Goal.rotation("Head", turn)],
        [Goal.pose("LeftHand", near, turn), Goal.aim("Head", ahead, (0.0, 0.0, 1.0)), *feet],
        [Goal.distance("LeftHand", 0.3 * factor, ahead - (0.0, 0.0, factor)), Goal.bend("LeftLeg", 0.8), *feet],
        [Goal.position("LeftHand", near), Goal.pole("LeftForeArm", ahead), *feet],
        [Goal.position("LeftHand", near), Goal.balance(0.03 * factor), *feet],
        [Goal.position("LeftHand", near), Goal.relative("RightHand", "LeftHand"), *feet],
        [Goal.position("LeftHand", near, level=1), Goal.position("Head", factor * head, level=2), *feet],
    ]


@pytest.mark.parametrize("factor", [1e-6, 0.01, 0.05, 10.0, 1e6])
def test_places_and_rotations_weigh_alike_at_any_size(factor: float) -> None:
    large, pose = scaled(BIPED, factor), Pose(RELAXED.rotations, factor * RELAXED.translations)
    iterations = np.zeros(2)
    for ordinary, other in zip(mixed_goals(1.0), mixed_goals(factor), strict=True):
        one = Solver(BIPED, ordinary, backend=QUICK).solve(RELAXED)
        two = Solver(large, other, tolerance_m=1e-3 * factor, backend=QUICK).solve(pose)
        assert (one.status, two.status) == (Status.CONVERGED, Status.CONVERGED)
        iterations += one.iterations, two.iterations
    # Units are powers of 16: what is 10 times as large is measured in other ones, and takes another way.
    assert iterations[1] <= 5 * iterations[0]


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 0.1, 10.0, 1e6])
def test_hands_beside_the_body_are_solved_alike_at_any_size(factor: float) -> None:
    iterations = []
    for size in (1.0, factor):
        places = {"LeftHand": (-0.1, 1.0, 0.2), "RightHand": (0.15, 1.3, 0.2)}
        goals = [Goal.position(name, size * np.array(place)) for name, place in places.items()]
        solver = Solver(
            scaled(BIPED, size),
            [*goals, Goal.pin("LeftFoot"), Goal.pin("RightFoot")],
            tolerance_m=1e-3 * size,
            contact=Contact(floor=0.0, bodies=True),
            backend=QUICK,
        )
        solution = solver.solve(Pose(RELAXED.rotations, size * RELAXED.translations))
        assert solution.status is Status.CONVERGED
        iterations.append(solution.iterations)
    assert abs(iterations[1] - iterations[0]) <= 2


@pytest.mark.parametrize("factor", [1e-6, 0.01, 0.1, 1e6])
def test_a_drag_among_turned_goals_follows_alike_at_any_size(factor: float) -> None:
    figure, pose = scaled(BIPED, factor), Pose(RELAXED.rotations, factor * RELAXED.translations)
    names = ("LeftHand", "RightHand", "Head", "LeftFoot", "RightFoot")
    world = viewer.fk(figure, pose)
    places = [world.positions[figure.index(name)] for name in names]
    goals = [
        Goal.pose(name, place, world.rotations[figure.index(name)]) for name, place in zip(names, places, strict=True)
    ]
    goals[0] = Goal.position(names[0], places[0])
    drag = Solver(figure, goals, tolerance_m=1e-3 * factor, backend=QUICK).drag(pose)
    targets = np.full((5, 3), np.nan)
    for step in range(40):
        targets[0] = places[0] + factor * np.array((0.1 * math.sin(step / 20), 0.25 * math.sin(step / 40), 0.0))
        solution = drag.move(targets)
        assert np.nanmax(solution.errors_m) < 1e-3 * factor
