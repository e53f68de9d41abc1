"""A one-shot solve begins with the body where its goals are: upright, or lying where these say so."""

from __future__ import annotations

import numpy as np
import pytest
from inside.spatial import angle_between, exp, multiply, rotate

from viewer import Goal, Solver, load
from viewer.skeleton import Pose, fk

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
    found = Solver(SKELETON, goals, backend="numpy").solve(SKELETON.relaxed_pose())
    assert found.status == "converged"
    assert found.iterations <= 2
    assert np.degrees(angle_between(found.pose.rotations, hidden.rotations)).max() < 1.0


def test_places_that_a_body_reaches_upright_tilt_it_little() -> None:
    world = fk(SKELETON, SKELETON.relaxed_pose())
    places = world.positions[JOINTS] + np.array([(0.0, 0.5, 0.2)] * 2 + [(0.0, 0.0, 0.0)] * 2 + [(0.0, -0.05, 0.05)])
    goals = [Goal.position(name, tuple(place)) for name, place in zip(ENDS, places.tolist(), strict=True)]
    found = Solver(SKELETON, goals, backend="numpy").solve(SKELETON.relaxed_pose())
    up = rotate(fk(SKELETON, found.pose).rotations[SKELETON.roots[0]], np.array([0.0, 1.0, 0.0]))
    assert found.status == "converged"
    assert up[1] > np.cos(np.radians(20.0))


@pytest.mark.parametrize("vector", [(0.4, 0.0, 0.0), (2.0, 1.0, 0.5)])
def test_to_solve_again_from_an_answer_moves_nothing(vector: tuple[float, float, float]) -> None:
    places = fk(SKELETON, turned_over(vector)).positions[JOINTS] + np.array([0.0, 0.02, 0.0]) * np.arange(5)[:, None]
    goals = [Goal.position(name, tuple(place)) for name, place in zip(ENDS, places.tolist(), strict=True)]
    solver = Solver(SKELETON, goals, backend="numpy")
    first = solver.solve(SKELETON.relaxed_pose())
    assert first.status == "converged"
    assert first.iterations > 0
    again = solver.solve(first.pose)
    assert again.iterations == 0
    assert np.abs(again.pose.rotations - first.pose.rotations).max() < 1e-12
    assert np.abs(again.pose.translations - first.pose.translations).max() < 1e-12
