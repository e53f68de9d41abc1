"""One joint per goal that points its effector at the target."""

from __future__ import annotations

import math

import numpy as np
import pytest
from inside.ik import BUDGET, CONVERGED, METHODS, STALLED, UNREACHABLE, length, rotate, shortest_turn, vector
from inside.spatial import angle_between, normalized
from method_cases import Case, planar, rig

from viewer.ik import Goal
from viewer.skeleton import JointKind, JointLimits, Skeleton, limit_violation

EXACT = (1e-9, 1e-8)
BALL = JointKind.BALL
DIRECTIONS = [
    (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0), (-1.0, 1e-9, 0.0), (-1.0, 0.0, 1e-5),
    (1.0, 1e-9, 0.0), (0.3, -0.4, 0.5), (-0.9, -0.1, 0.2),
]  # fmt: skip


def bone() -> Skeleton:
    """A ball joint turned at rest, away from the origin, with a bone along x."""
    turned = normalized([[0.3, -0.2, 0.5, 0.7]])
    return rig([-1], [(0.5, 1.0, -0.3)], [BALL], rest=turned)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_points_at_its_target_from_anywhere(direction: tuple[float, float, float]) -> None:
    case = Case(bone(), [Goal.position("j0.tip", (0.0, 0.0, 0.0))], tolerance=EXACT)
    # In the bone's own frame: 0 and 180 degrees are among these directions.
    along = np.array(rotate(vector_of(case), vector(list(direction))))
    case.system.goal_target[0] = case.world.positions[0] + along / np.linalg.norm(along)
    code, iterations, _ = case.solve("single-bone")
    assert code == CONVERGED
    assert iterations <= 1
    np.testing.assert_allclose(case.tip(), case.system.goal_target[0], atol=1e-9)


def vector_of(case: Case) -> tuple[float, float, float, float]:
    x, y, z, w = case.world.rotations[0].tolist()
    return x, y, z, w


def test_turn_is_the_shortest() -> None:
    random = np.random.default_rng(0)
    for a, b in random.normal(size=(100, 2, 3)).tolist():
        turn = shortest_turn(vector(a), vector(b))
        cosine = np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b)
        assert angle_between(turn, (0.0, 0.0, 0.0, 1.0)) == pytest.approx(math.acos(cosine), abs=1e-7)
        np.testing.assert_allclose(
            rotate(turn, vector(a)), np.multiply(b, np.linalg.norm(a) / np.linalg.norm(b)), atol=1e-9
        )


@pytest.mark.parametrize("sine", [0.0, 1e-300, 1e-15, 1e-9, 1e-6, 1e-3])
def test_shortest_turn_near_0_and_180_degrees(sine: float) -> None:
    for cosine in (1.0, -1.0):
        there = (cosine, sine, 0.0)
        got = rotate(shortest_turn((1.0, 0.0, 0.0), there), (1.0, 0.0, 0.0))
        np.testing.assert_allclose(got, np.divide(there, length(there)), atol=1e-14)


@pytest.mark.parametrize("distance", [0.4, 2.0])
def test_wrong_distance_is_pointed_at_and_said(distance: float) -> None:
    case = Case(bone(), [Goal.position("j0.tip", (0.5 + distance, 1.0, -0.3))])
    assert case.solve("single-bone")[0] == UNREACHABLE
    np.testing.assert_allclose(case.tip(), (1.5, 1.0, -0.3), atol=1e-9)


def test_wrong_distance_that_another_joint_would_mend_is_not_out_of_reach() -> None:
    case = Case(planar(2), [Goal.position("j1.tip", (0.5, 0.9, 0.0))])
    assert case.solve("single-bone")[0] == STALLED
    assert case.solve("default")[0] == CONVERGED


def test_last_joint_that_can_move_the_effector_is_used() -> None:
    case = Case(planar(3), [Goal.position("j2.tip", (2.0, 1.0, 0.0))], tolerance=EXACT)
    assert case.solve("single-bone")[0] == CONVERGED
    np.testing.assert_allclose(case.state.x, (0.0, 0.0, math.pi / 2.0), atol=1e-9)
    case = Case(planar(3), [Goal.position("j2", (1.0, -1.0, 0.0))], tolerance=EXACT)
    assert case.solve("single-bone")[0] == CONVERGED


@pytest.mark.parametrize("angle", [0.0, 1.0, math.pi])
def test_aims_with_an_effector_off_its_joint(angle: float) -> None:
    skeleton = bone()
    point = (0.5 + 3.0 * math.cos(angle), 1.0 + 3.0 * math.sin(angle), -0.3)
    goal = Goal.aim("j0", point, (0.0, 0.0, 1.0), offset=(0.2, 0.3, 0.1))
    assert Case(skeleton, [goal], tolerance=EXACT).solve("single-bone")[0] == CONVERGED


def test_turns_as_asked() -> None:
    turn = normalized([0.1, 0.9, -0.4, 0.2])
    case = Case(bone(), [Goal.rotation("j0", turn)], tolerance=EXACT)
    assert case.solve("single-bone")[0] == CONVERGED
    assert angle_between(case.world.rotations[0], turn) < 1e-8


def test_limits_stop_it() -> None:
    axes = np.zeros((1, 2, 3))
    axes[0, 0] = (0.0, 0.0, 1.0)
    limit = JointLimits.coordinates((-0.5, 0.5))
    skeleton = rig([-1], np.zeros((1, 3)), [JointKind.HINGE], axes=axes, limits=[limit])
    case = Case(skeleton, [Goal.position("j0.tip", (0.0, 1.0, 0.0))])
    assert case.solve("single-bone")[0] == STALLED
    assert case.state.x[0] == pytest.approx(0.5)
    assert limit_violation(skeleton, case.answer).max() < 1e-9


def test_what_it_cannot_serve_it_names_and_leaves() -> None:
    assert {kind.word for kind in METHODS["single-bone"].serves} == {"position", "rotation", "aim"}
    case = Case(bone(), [Goal.distance("j0.tip", 9.0, (0.0, 0.0, 0.0))])
    before = case.answer.rotations
    case.solve("single-bone")
    np.testing.assert_array_equal(case.answer.rotations, before)


def test_budget_of_none_moves_nothing() -> None:
    case = Case(bone(), [Goal.position("j0.tip", (0.5, 2.0, -0.3))])
    assert case.solve("single-bone", max_iterations=0)[:2] == (BUDGET, 0)
