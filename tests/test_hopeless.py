"""A goal without hope spoils nothing for those that share its joints; what is out of reach ends at the nearest pose.

A one-shot solve begins with the body where its goals are: upright, or lying where these say so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from inside.ik import Backend, RootMode
from inside.skeleton import chain
from inside.spatial import angle_between, exp, multiply, rotate
from sessions import QUICK

import viewer
from viewer import Goal, Solver, Status, load
from viewer.skeleton import JointKind, JointLimits, Pose, fk

BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
BACKENDS = ("numpy", "numba")
BACKWARDS = (0.0, 1.0, 0.0, 0.0)
HANDS = [(0.6, 1.3, 0.5), (0.4, 1.2, 0.3), (0.2, 0.9, 0.4), (0.5, 1.5, 0.1)]
AHEAD = (0.0, 0.0, 1.0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("hand", HANDS)
def test_a_hopeless_goal_leaves_those_in_reach_met(hand: tuple[float, float, float], backend: Backend) -> None:
    """Hips that may not turn are half a turn off, which no pose changes."""
    reached = [Goal.position("LeftHand", hand)]
    for hopeless, places in (
        (Goal.rotation("Hips", BACKWARDS), []),
        (Goal.pose("Hips", (0.0, 1.0, 0.1), BACKWARDS), [Goal.position("Hips", (0.0, 1.0, 0.1))]),
    ):
        alone = Solver(BIPED, [*places, *reached], root="translate", backend=backend).solve(RELAXED)
        assert alone.status is Status.CONVERGED
        solution = Solver(BIPED, [hopeless, *reached], root="translate", backend=backend).solve(RELAXED)
        assert solution.status is Status.UNREACHABLE
        assert np.nanmax(solution.errors_m) <= 1e-3
        assert solution.diagnosis == ("Hips is at least 180° off: no joint turns it that way",)


def test_a_function_that_is_never_met_leaves_a_goal_in_reach_met() -> None:
    goals = [Goal.function(lambda _: 5.0), Goal.position("LeftHand", (0.4, 1.2, 0.3))]
    solution = Solver(BIPED, goals, root="locked").solve(RELAXED)
    assert solution.status is not Status.CONVERGED
    assert solution.errors_m[1] <= 1e-3
    assert solution.diagnosis == ("the function goals are not met",)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_solve_from_beside_a_hopeless_goal_moves_nothing(backend: Backend) -> None:
    solver = Solver(
        BIPED,
        [Goal.rotation("Hips", BACKWARDS), Goal.position("LeftHand", HANDS[0])],
        root="translate",
        backend=backend,
    )
    once = solver.solve(RELAXED)
    again = solver.solve(once.pose)
    assert np.degrees(angle_between(once.pose.rotations, again.pose.rotations)).max() < 1e-3


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("direction", [(0.7, -0.7, 0.1), (0.0, -1.0, 0.0), (0.0, 1.0, 0.0), (0.3, 0.2, -0.9)])
@pytest.mark.parametrize(("count", "beyond"), [(1, 0.5), (30, 0.01), (200, 3.0)])
def test_a_chain_that_is_too_short_ends_straight(
    count: int, beyond: float, direction: tuple[float, float, float], backend: Backend
) -> None:
    skeleton = chain(count)
    goal = Goal.position("tip", (1.0 + beyond) * np.array(direction) / np.linalg.norm(direction))
    start = skeleton.rest_pose()
    solution = Solver(skeleton, [goal], root="locked", backend=backend).solve(start)
    assert solution.status is Status.UNREACHABLE
    assert solution.errors_m[0] == pytest.approx(beyond, abs=1e-6)
    again = Solver(skeleton, [goal], root="locked", backend=backend).solve(solution.pose)
    assert np.degrees(angle_between(solution.pose.rotations, again.pose.rotations)).max() < 1e-3


@pytest.mark.parametrize("backend", BACKENDS)
def test_rigid_links_between_balls_do_not_keep_a_chain_from_its_nearest_pose(backend: Backend) -> None:
    """Fixed joints that bend the way make the chain shorter than its bones."""
    skeleton = chain(9)
    kinds = tuple(JointKind.FIXED if joint in {0, 3, 4, 8} else JointKind.BALL for joint in range(9))
    rest = exp(np.random.default_rng(4).normal(size=(9, 3)))
    skeleton = replace(skeleton, kinds=kinds, rest_rotations=rest, poses={})
    start = skeleton.rest_pose()
    world = viewer.fk(skeleton, start)
    tip = world.positions[8] + rotate(world.rotations[8], skeleton.tip_offsets[0])
    places = [world.positions[joint] for joint in (1, 2, 5, 6, 7)]
    reach = sum(np.linalg.norm(np.diff([*places, tip], axis=0), axis=-1))
    ahead = np.array((0.6, 0.0, -0.8))
    goal = Goal.position("tip", places[0] + (reach + 0.5) * ahead)
    solution = Solver(skeleton, [goal], root="locked", backend=backend).solve(start)
    assert solution.errors_m[0] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("beyond", [0.01, 0.5])
def test_links_that_cannot_point_ahead_end_no_farther_off_than_from_elsewhere(beyond: float) -> None:
    """With a limit in the way the straight pose is none of the chain's: it is solved as usual, inside the limits."""
    skeleton = chain(4)
    limits = (None, JointLimits.swing_twist(1, (-0.5, 0.5), (-0.5, 0.5), (-0.5, 0.5)), None, None)
    skeleton = replace(skeleton, limits=limits)
    goal = Goal.position("tip", (1.0 + beyond, 0.0, 0.0))
    solution = Solver(skeleton, [goal], root="locked").solve(skeleton.rest_pose())
    assert viewer.limit_violation(skeleton, solution.pose).max() < 1e-6
    assert solution.errors_m[0] == pytest.approx(beyond, abs=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("root", ["free", "translate"])
def test_aims_that_exclude_each_other_leave_a_figure_where_it_is(root: RootMode, backend: Backend) -> None:
    # Of two points there is one line, from which both are in one direction; of three there is none.
    points = ((0.0, 1.6, 3.0), (3.0, 1.6, 0.0), (0.0, 5.0, 0.0))
    goals = [Goal.aim("Head", point, AHEAD) for point in points]
    solver = Solver(BIPED, goals, root=root, backend=backend)
    solution = solver.solve(RELAXED)
    assert solution.status is not Status.CONVERGED
    assert solution.pose.translations[0] == pytest.approx(RELAXED.translations[0], abs=1e-12)
    drag = solver.drag(RELAXED)
    for _ in range(20):
        moved = drag.move(iterations=3)
    assert moved.pose.translations[0] == pytest.approx(RELAXED.translations[0], abs=1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_figure_still_goes_where_its_aims_can_be_met(backend: Backend) -> None:
    """Nothing but a step to the side lets hips that keep their turn look at a point."""
    world = viewer.fk(BIPED, RELAXED).rotations[BIPED.index("Hips")]
    for point in ((0.1, 1.0, 1.0), (0.6, 1.3, 2.0), (2.0, 1.6, 1.0), (0.0, 3.0, 1.0)):
        goals = [Goal.rotation("Hips", world), Goal.aim("Hips", point, AHEAD)]
        assert Solver(BIPED, goals, root="translate", backend=backend).solve(RELAXED).status is Status.CONVERGED


SKELETON = load("sample:biped").skeleton
ENDS = ("LeftHand", "RightHand", "LeftFoot", "RightFoot", "Head")
JOINTS = [SKELETON.index(name) for name in ENDS]


def turned_over(vector: tuple[float, float, float]) -> Pose:
    """The relaxed pose, turned as a whole about its root by a rotation vector in radians, and moved."""
    pose = SKELETON.relaxed_pose()
    root = SKELETON.roots[0]
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    rotations[root] = multiply(exp(np.array(vector)), rotations[root])
    translations[root] += (0.3, -0.6, 0.2)
    return Pose(rotations, translations)


@pytest.mark.parametrize("vector", [(1.5, 0.0, 0.0), (-2.0, 0.0, 0.5), (0.0, 0.0, 1.5), (1.2, 2.0, -1.0)])
def test_a_body_that_lies_or_tumbles_is_turned_over_whole(vector: tuple[float, float, float]) -> None:
    hidden = turned_over(vector)
    places = fk(SKELETON, hidden).positions[JOINTS]
    goals = [Goal.position(name, tuple(place)) for name, place in zip(ENDS, places.tolist(), strict=True)]
    found = Solver(SKELETON, goals, backend=QUICK).solve(SKELETON.relaxed_pose())
    assert found.status == "converged"
    assert found.iterations <= 2
    assert np.degrees(angle_between(found.pose.rotations, hidden.rotations)).max() < 1.0


def test_places_that_a_body_reaches_upright_tilt_it_little() -> None:
    world = fk(SKELETON, SKELETON.relaxed_pose())
    places = world.positions[JOINTS] + np.array([(0.0, 0.5, 0.2)] * 2 + [(0.0, 0.0, 0.0)] * 2 + [(0.0, -0.05, 0.05)])
    goals = [Goal.position(name, tuple(place)) for name, place in zip(ENDS, places.tolist(), strict=True)]
    found = Solver(SKELETON, goals, backend=QUICK).solve(SKELETON.relaxed_pose())
    up = rotate(fk(SKELETON, found.pose).rotations[SKELETON.roots[0]], np.array([0.0, 1.0, 0.0]))
    assert found.status == "converged"
    assert up[1] > np.cos(np.radians(20.0))


@pytest.mark.parametrize("vector", [(0.4, 0.0, 0.0), (2.0, 1.0, 0.5)])
def test_to_solve_again_from_an_answer_moves_nothing(vector: tuple[float, float, float]) -> None:
    places = fk(SKELETON, turned_over(vector)).positions[JOINTS] + np.array([0.0, 0.02, 0.0]) * np.arange(5)[:, None]
    goals = [Goal.position(name, tuple(place)) for name, place in zip(ENDS, places.tolist(), strict=True)]
    solver = Solver(SKELETON, goals, backend=QUICK)
    first = solver.solve(SKELETON.relaxed_pose())
    assert first.status == "converged"
    assert first.iterations > 0
    again = solver.solve(first.pose)
    assert again.iterations == 0
    assert np.abs(again.pose.rotations - first.pose.rotations).max() < 1e-12
    assert np.abs(again.pose.translations - first.pose.translations).max() < 1e-12
