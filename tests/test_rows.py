"""The rows of the Jacobian: what a goal's residual does when a dof moves, against central differences."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.ik import engine_residuals as residuals, joints, linearise, make_work, move, step
from inside.spatial import EULER_ORDERS, exp, multiply, perpendicular, rotate
from rigs import (
    GOAL_KINDS,
    KINDS_OF_TWO,
    OTHER_KINDS,
    Problem,
    copied,
    problem,
    random_goal,
    random_pose,
    random_problem,
    random_skeleton,
)

from viewer.ik import Goal
from viewer.skeleton import JointKind, JointLimits, Pose

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.skeleton import Skeleton

WIDE = (-3.0, 3.0)
STEP = 1e-6


def analytic(case: Problem) -> Floats:
    residuals(case.system, case.work, case.state.q, case.state.t, case.state.e)
    linearise(case.system, case.work, case.state.x)
    return case.work.jacobian[:, : len(case.work.wanted)].copy()


def by_plain_kernels(case: Problem) -> Floats:
    work, state = make_work(case.system), copied(case.state)
    joints.residuals(case.system, work, state.q, state.t, state.e)
    step.linearise(case.system, work, state.x)
    return work.jacobian[:, : len(work.wanted)]


def by_differences(case: Problem, step: float = STEP) -> Floats:
    """(n, m): how much target minus current falls per unit of each dof, times its spread."""
    count = len(case.system.lower)
    unlimited = case.system._replace(lower=np.full(count, -np.inf), upper=np.full(count, np.inf))
    work, sides = make_work(case.system), []
    for sign in (-step, step):
        rows = []
        for d in range(count):
            state, dx = copied(case.state), np.zeros(count)
            dx[d] = sign
            move(unlimited, work, dx, state.x, state.q, state.t)
            residuals(case.system, work, state.q, state.t, state.e)
            rows.append(state.e)
        sides.append(np.array(rows).reshape(count, len(case.state.e)))
    return np.asarray((sides[0] - sides[1]) / (2.0 * step) * case.system.spread[:, None])


def assert_rows_agree(case: Problem, tolerance: float = 1e-5) -> None:
    expected = by_differences(case)
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    for rows in (analytic(case), by_plain_kernels(case)):
        np.testing.assert_allclose(rows, expected, rtol=0.0, atol=tolerance * scale)


def limits_of(form: str, index: int) -> JointLimits | None:
    if form == "swing-twist":
        return JointLimits.swing_twist(index % 3, WIDE, WIDE, WIDE)
    order, middle = EULER_ORDERS[index % 6], (-1.57, 1.57)
    ranges = [middle if axis == order[1] else WIDE for axis in "xyz"]
    return JointLimits.euler(order, *ranges) if form == "euler" else None


def rig_of(form: str, random: np.random.Generator) -> Skeleton:
    """A free root and two branches of joints of one form."""
    kind = JointKind.BALL if form in ("turns", "swing-twist", "euler") else JointKind(form)
    skeleton = random_skeleton(random, 9, [kind], [-1, 0, 1, 2, 3, 1, 5, 6, 7])
    limits = tuple(limits_of(form, index) for index in range(9))
    kinds = (JointKind.FREE, *skeleton.kinds[1:])
    return replace(skeleton, kinds=kinds, limits=(None, *limits[1:]), stiffness=np.linspace(0.0, 0.8, 9))


@pytest.mark.parametrize("form", ["turns", "swing-twist", "euler", "hinge", "universal", "slide", "fixed"])
@pytest.mark.parametrize("kind", [*GOAL_KINDS, *OTHER_KINDS])
def test_rows_are_the_derivatives_of_residuals(form: str, kind: str) -> None:
    random = np.random.default_rng([*form.encode(), *kind.encode()])
    skeleton = rig_of(form, random)
    goals = [random_goal(random, name, kind) for name in ("j8", "j4", "j2", "j0")]
    case = problem(skeleton, goals, random_pose(random, skeleton), random.uniform(0.2, 2.0, (9, 3)))
    assert_rows_agree(case)


@pytest.mark.parametrize("form", ["turns", "swing-twist", "euler", "hinge", "universal", "slide", "fixed"])
@pytest.mark.parametrize("kind", KINDS_OF_TWO)
def test_rows_of_two_effectors_are_the_derivatives_of_residuals(form: str, kind: str) -> None:
    random = np.random.default_rng([*form.encode(), *kind.encode()])
    skeleton = rig_of(form, random)
    pairs = [("j8", "j4"), ("j2", "j6"), ("j1", "j8"), ("j3", "j0")]
    goals = [random_goal(random, one, kind, other) for one, other in pairs] + [random_goal(random, "j7", "pose")]
    case = problem(skeleton, goals, random_pose(random, skeleton), random.uniform(0.2, 2.0, (9, 3)))
    assert_rows_agree(case, tolerance=1e-6)


@pytest.mark.parametrize("form", ["turns", "swing-twist", "euler", "hinge", "universal", "slide"])
@pytest.mark.parametrize("corners", [1, 2, 3, 4])
def test_rows_of_the_centre_of_mass_are_the_derivatives_of_residuals(form: str, corners: int) -> None:
    random = np.random.default_rng([*form.encode(), corners])
    skeleton = rig_of(form, random)
    goals = [random_goal(random, "j7", "pose"), random_goal(random, "", "balance")]
    case = problem(skeleton, goals, random_pose(random, skeleton), random.uniform(0.2, 2.0, (9, 3)))
    square = np.array([(0.0, 0.0), (0.0, 0.3), (0.3, 0.3), (0.3, 0.0)]) + random.uniform(3.0, 4.0, 2)
    case.system.support[:corners], case.system.corners[0] = square[:corners], corners
    assert_rows_agree(case, tolerance=1e-6)
    assert case.state.e[-2:].all()


def test_a_centre_of_mass_inside_its_support_asks_for_nothing() -> None:
    random = np.random.default_rng(5)
    skeleton = rig_of("turns", random)
    case = problem(skeleton, [random_goal(random, "", "balance")], random_pose(random, skeleton))
    case.system.support[:4], case.system.corners[0] = [(-9, -9), (-9, 9), (9, 9), (9, -9)], 4
    assert not analytic(case).any()
    assert not by_plain_kernels(case).any()
    assert not case.state.e.any()
    assert case.work.miss[0, 0] == 0.0


@pytest.mark.parametrize("seed", range(25))
def test_rows_on_random_rigs(seed: int) -> None:
    assert_rows_agree(random_problem(seed, 3 + seed % 9, root=("free", "translate", "locked")[seed % 3]))


def facing(angle: float, distance: float = 0.7) -> Problem:
    """A free root and a hinge; the hinge's joint aims ``angle`` beside its target."""
    random = np.random.default_rng(7)
    skeleton = random_skeleton(random, 2, [JointKind.HINGE])
    skeleton = replace(skeleton, kinds=(JointKind.FREE, JointKind.HINGE), limits=(None, None))
    goal = replace(Goal.aim("j1", (0.0, 0.0, 0.0), (1.0, 2.0, -1.0)), offset=(0.1, -0.2, 0.3), rotation_weight=1.3)
    case = problem(skeleton, [goal], random_pose(random, skeleton))
    residuals(case.system, case.work, case.state.q, case.state.t, case.state.e)
    axis = rotate(case.work.turn[1], case.system.goal_numbers[0, :3])
    aside = perpendicular(axis)
    case.system.goal_target[0] = case.work.point[0] + distance * (math.cos(angle) * axis + math.sin(angle) * aside)
    return case


@pytest.mark.parametrize("angle", [0.0, 1e-8, 1e-5, 0.9e-4, 1.1e-4, 1e-3, 1.0, math.pi / 2, 3.0, math.pi - 1e-2])
def test_rows_of_aims_at_any_angle(angle: float) -> None:
    case = facing(angle)
    assert_rows_agree(case)
    assert case.work.miss[0, 1] == pytest.approx(angle, abs=1e-9)


@pytest.mark.parametrize("beside", [1e-3, 1e-4, 3e-5])
def test_rows_of_aims_that_face_almost_away(beside: float) -> None:
    """The axis of the shortest turn spins there: derivatives grow as pi / beside, differences need smaller steps."""
    case = facing(math.pi - beside)
    expected = by_differences(case, 1e-3 * beside)
    assert np.abs(expected).max() > 1.0 / beside
    np.testing.assert_allclose(analytic(case) * beside, expected * beside, rtol=0.0, atol=1e-5)
    np.testing.assert_allclose(by_plain_kernels(case) * beside, expected * beside, rtol=0.0, atol=1e-5)


def test_an_aim_that_faces_exactly_away_has_half_a_turn_to_go_and_rows_to_go_it() -> None:
    case = facing(math.pi)
    rows = analytic(case)
    assert np.isfinite(rows).all()
    assert np.linalg.norm(case.state.e) == pytest.approx(1.3 * math.pi)
    assert np.linalg.norm(rows[3:6] @ case.state.e) > 1.0
    np.testing.assert_allclose(by_plain_kernels(case), rows, atol=1e-12)


def test_an_aim_at_the_effectors_own_place_asks_for_nothing() -> None:
    case = facing(1.0, distance=0.0)
    assert not analytic(case).any()
    assert not by_plain_kernels(case).any()
    assert not case.state.e.any()
    assert case.work.miss[0, 1] == 0.0


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 0.9e-3, 1.1e-3, 1.0, 3.0, math.pi - 1e-3, math.pi - 1e-5])
def test_rows_of_rotations_at_any_angle(angle: float) -> None:
    random = np.random.default_rng(11)
    skeleton = random_skeleton(random, 4, [JointKind.BALL])
    case = problem(skeleton, [Goal.rotation("j3", (0.0, 0.0, 0.0, 1.0))], random_pose(random, skeleton))
    residuals(case.system, case.work, case.state.q, case.state.t, case.state.e)
    off = exp(angle * perpendicular([0.6, 0.0, 0.8]))
    case.system.goal_rotation[0] = multiply(off, case.work.turn[case.system.goal_joint[0]])
    assert_rows_agree(case)
    assert case.work.miss[0, 1] == pytest.approx(angle, abs=1e-12)


def test_rows_at_the_point_to_keep_a_distance_from_lead_along_x() -> None:
    skeleton = rig_of("turns", np.random.default_rng(3))
    case = problem(skeleton, [Goal.distance("j0", 0.5, skeleton.offsets[0])], skeleton.rest_pose())
    rows = analytic(case)
    assert case.state.e.tolist() == [0.5]
    np.testing.assert_allclose(rows[:3, 0], case.system.spread[:3] * [1.0, 0.0, 0.0])
    np.testing.assert_allclose(by_plain_kernels(case), rows, atol=1e-12)


def test_rows_scale_with_weights_and_spreads() -> None:
    case = random_problem(5)
    before, e = analytic(case), case.state.e.copy()
    case.system.goal_weight[:] *= 3.0
    case.system.goal_rotation_weight[:] *= 3.0
    np.testing.assert_allclose(analytic(case), 3.0 * before, atol=1e-12)
    np.testing.assert_allclose(case.state.e, 3.0 * e, atol=1e-12)
    case.system.spread[:] *= 0.5
    np.testing.assert_allclose(analytic(case), 1.5 * before, atol=1e-12)


def test_stiff_joints_have_rows_of_zeros() -> None:
    random = np.random.default_rng(1)
    skeleton = rig_of("turns", random)
    skeleton = replace(skeleton, stiffness=np.where(np.arange(9) == 2, 1.0, 0.0))
    case = problem(skeleton, [random_goal(random, "j4", "pose")], random_pose(random, skeleton))
    stiff = case.system.first[2]
    rows = analytic(case)
    assert not rows[stiff : stiff + 3].any()
    assert rows[stiff + 3 : stiff + 6].any()


def test_rows_do_not_depend_on_where_the_rig_stands() -> None:
    skeleton = rig_of("euler", np.random.default_rng(2))
    random = np.random.default_rng(2)
    goals = [random_goal(random, "j8", kind) for kind in ("position", "aim")]
    far = np.array([1e3, -2e3, 3e3])
    moved = [replace(goal, target=tuple(np.add(goal.target, far))) for goal in goals if goal.target is not None]
    rest = skeleton.rest_pose()
    there = Pose(rest.rotations, rest.translations + far * (skeleton.parents < 0)[:, None])
    rows = [analytic(problem(skeleton, some, pose)) for some, pose in ((goals, rest), (moved, there))]
    np.testing.assert_allclose(rows[1], rows[0], atol=1e-9)
