"""Shells, where goals let their effectors be. Here distance goals have others than spheres: flat, wide, one-sided."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from characters import rig
from hypothesis import given, strategies as st
from inside.ik import Backend, Kind, MethodName, Miss, Reach, Shell, nearest_in_shell
from rigs import problem, random_pose
from test_reach import TWO_ARMS
from test_rows import assert_rows_agree, rig_of

import viewer
from viewer.ik import Goal, Solution, Solver, Status
from viewer.skeleton import Pose, Skeleton, fk

if TYPE_CHECKING:
    from inside.spatial import Floats

BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
FEET = (Goal.pin("LeftFoot"), Goal.pin("RightFoot"))
BACKENDS: tuple[Backend, ...] = ("numpy", "numba")
X, UP, SLANTED = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.6, 0.0, 0.8)
Keep = Callable[..., Goal]


@pytest.fixture
def keep(monkeypatch: pytest.MonkeyPatch) -> Keep:
    """Make a goal that keeps an effector in a shell about a point, by default the origin."""
    shells: dict[str, Shell] = {}
    own = Kind.shell

    def shell(kind: Kind, goal: Goal) -> Shell | None:
        return shells[goal.effector] if kind.word == "distance" and goal.effector in shells else own(kind, goal)

    def made(effector: str, shell: Shell, point: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Goal:
        shells[effector] = shell
        return Goal.distance(effector, 1.0, point)

    monkeypatch.setattr(Kind, "shell", shell)
    return made


def place(skeleton: Skeleton, pose: Pose, name: str) -> Floats:
    return np.asarray(fk(skeleton, pose).positions[skeleton.index(name)])


def solved(backend: Backend, *goals: Goal) -> Solution:
    return Solver(BIPED, goals, backend=backend).solve(RELAXED)


numbers = st.floats(-3.0, 3.0)
points = st.tuples(numbers, numbers, numbers)


@given(points, points, st.sampled_from([(0.0, 0.0, 0.0), UP, SLANTED]), numbers, numbers, points)
def test_no_place_in_a_shell_is_nearer(
    at: tuple[float, float, float],
    target: tuple[float, float, float],
    along: tuple[float, float, float],
    one: float,
    other: float,
    elsewhere: tuple[float, float, float],
) -> None:
    least, most = sorted((one, other) if any(along) else (abs(one), abs(other)))

    def nearest(place: tuple[float, float, float]) -> Floats:
        return np.array(nearest_in_shell(place, target, along, least, most))

    def out(place: Floats) -> float:
        away = place - target
        return float(away @ along if any(along) else np.linalg.norm(away))

    here, there = nearest(at), nearest(elsewhere)
    assert least - 1e-9 <= out(here) <= most + 1e-9
    assert math.dist(here, at) <= math.dist(there, at) + 1e-9
    if least <= out(np.array(at)) <= most:
        assert math.dist(here, at) < 1e-9


@pytest.mark.parametrize(
    "shell",
    [
        Shell(0.4, 0.4, SLANTED),
        Shell(-9.0, -8.0, UP),
        Shell(9.0, math.inf, UP),
        Shell(-9.0, 9.0, UP),
        Shell(0.1, 90.0),
        Shell(80.0, 90.0),
    ],
)
def test_rows_are_the_derivatives_of_residuals(keep: Keep, shell: Shell) -> None:
    random = np.random.default_rng(3)
    skeleton = rig_of("euler", random)
    goals = [keep(name, shell, (0.1, 0.2, 0.3)) for name in ("j8", "j4")]
    assert_rows_agree(problem(skeleton, goals, random_pose(random, skeleton)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("far", [50.0, 1000.0, -1000.0, 1e6])
@pytest.mark.parametrize("along", [UP, SLANTED])
def test_a_figure_goes_straight_to_a_flat_shell(
    keep: Keep, backend: Backend, far: float, along: tuple[float, float, float]
) -> None:
    solution = solved(backend, keep("LeftHand", Shell(far, far, along)))
    assert (solution.status, solution.iterations) == (Status.CONVERGED, 0)
    moved = solution.pose.translations[0] - RELAXED.translations[0]
    wanted = far - place(BIPED, RELAXED, "LeftHand") @ along
    np.testing.assert_allclose(moved, np.multiply(along, wanted), atol=1e-9 * abs(far))
    np.testing.assert_allclose(solution.pose.rotations, RELAXED.rotations, atol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_figure_goes_to_where_flat_shells_meet(keep: Keep, backend: Backend) -> None:
    crossing = keep("LeftHand", Shell(1000.0, 1000.0, SLANTED)), keep("RightHand", Shell(-700.0, -600.0, X))
    solution = solved(backend, *crossing, keep("Head", Shell(500.0, math.inf, UP)))
    assert solution.status is Status.CONVERGED
    assert solution.iterations < 10
    assert place(BIPED, solution.pose, "LeftHand") @ SLANTED == pytest.approx(1000.0, abs=1e-3)
    assert -700.001 < place(BIPED, solution.pose, "RightHand")[0] < -599.999
    assert place(BIPED, solution.pose, "Head")[1] > 499.999


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_a_flat_shell_leaves_open_is_decided_by_the_others(keep: Keep, backend: Backend) -> None:
    """The figure goes to the foot's target, along the hand's shell, in either order."""
    goals = keep("LeftHand", Shell(1.5, 1.5, UP)), Goal.position("RightFoot", (900.0, 0.1, -900.0))
    for order in (goals, goals[::-1]):
        solution = solved(backend, *order)
        assert (solution.status, solution.iterations < 10) == (Status.CONVERGED, True)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("low", "high", "short"), [(3.0, 3.0, "815 mm"), (3.0, 9.0, "815 mm"), (-9.0, -5.0, "2952 mm")]
)
def test_beside_pins_it_says_how_far_a_flat_shell_is(
    keep: Keep, backend: Backend, low: float, high: float, short: str
) -> None:
    solution = solved(backend, keep("LeftHand", Shell(low, high, UP)), *FEET)
    assert solution.status is Status.UNREACHABLE
    assert f"LeftHand and LeftFoot are {short} too far apart" in solution.diagnosis[0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_beside_pins_a_figure_stretches_towards_a_flat_shell(keep: Keep, backend: Backend) -> None:
    near, far = (solved(backend, keep("LeftHand", Shell(h, h, UP)), *FEET) for h in (10.0, 1000.0))
    highest = [place(BIPED, one.pose, "LeftHand")[1] for one in (near, far)]
    assert highest == pytest.approx([2.094, 2.094], abs=1e-3)
    assert far.status is Status.UNREACHABLE


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("height", [9.0, 1e3, 1e6])
def test_an_arm_that_stands_stretches_towards_a_flat_shell(keep: Keep, backend: Backend, height: float) -> None:
    arm = viewer.load("sample:claw-arm").skeleton
    solution = Solver(arm, [keep("claw_a", Shell(height, height, UP))], backend=backend).solve(arm.rest_pose())
    assert solution.status is Status.UNREACHABLE
    assert height - solution.errors_m[0] == pytest.approx(1.027, abs=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_inside_of_a_shell_nothing_moves(keep: Keep, backend: Backend) -> None:
    solution = solved(backend, keep("LeftHand", Shell(-9.0, math.inf, UP)), keep("Head", Shell(0.0, 9.0)), *FEET)
    assert (solution.status, solution.iterations) == (Status.CONVERGED, 0)


@pytest.mark.parametrize("method", ["dls", "ccd", "ccd-from-base", "fabrik"])
@pytest.mark.parametrize("shell", [Shell(1.8, 1.8, UP), Shell(-0.3, -0.2, SLANTED), Shell(0.5, 0.6)])
def test_methods_serve_every_shell(keep: Keep, method: MethodName, shell: Shell) -> None:
    feet = [Goal.pin(name, rotation=False) for name in ("LeftFoot", "RightFoot")]
    goal = keep("LeftHand", shell, (0.0, 0.0, 0.0) if any(shell.along) else (0.3, 1.4, 0.3))
    solution = Solver(BIPED, [*feet, goal], method=method).solve(RELAXED)
    assert (solution.status, solution.unserved) == (Status.CONVERGED, ())


@pytest.mark.parametrize(
    ("shells", "short"),
    [
        # b is 1 m and c 2 m to the right of a; d at a's place 0.3 m to the left, e 1 m above.
        ({"c": Shell(9.0, 9.5, UP), "e": Shell(1.0, 2.0, UP)}, 9.0 - 2.0 - 2.8),
        ({"c": Shell(9.0, 9.5, UP), "e": Shell(-2.0, -1.0, (0.0, -1.0, 0.0))}, 9.0 - 2.0 - 2.8),
        ({"c": Shell(9.0, 9.5, UP), "e": Shell(-2.0, math.inf, (0.0, -1.0, 0.0))}, 9.0 - 2.0 - 2.8),
        ({"c": Shell(9.0, 9.5, UP), "e": Shell(-math.inf, 1.0, UP)}, 9.0 - 1.0 - 2.8),
        ({"c": Shell(9.0, 9.5, UP), "e": Shell(4.0, math.inf, UP)}, None),
        ({"c": Shell(9.0, 9.5, UP), "e": Shell(1.0, 2.0, X)}, None),
        ({"c": Shell(-4.0, -3.5, UP), "e": Shell(0.1, 0.2)}, 3.5 - 0.2 - 2.8),
        ({"c": Shell(0.1, 0.2), "e": Shell(-4.0, -3.5, UP)}, 3.5 - 0.2 - 2.8),
        ({"c": Shell(-9.0, 9.0, UP), "e": Shell(0.1, 0.2)}, None),
    ],
)
def test_two_shells_that_no_chain_joins(keep: Keep, shells: dict[str, Shell], short: float | None) -> None:
    skeleton = rig(*TWO_ARMS).skeleton
    case = problem(skeleton, [keep(name, shell) for name, shell in shells.items()], skeleton.rest_pose())
    found = Reach(case.system).gaps(case.system, case.state.q, case.state.t)
    assert [gap.miss for gap in found] == ([] if short is None else [Miss.FAR])
    assert [gap.short for gap in found] == pytest.approx([] if short is None else [short])


def test_a_shell_without_an_end_may_be_wider_than_an_arm_is_long(keep: Keep) -> None:
    skeleton = rig({"kind": "ball"}, {"kind": "ball"}, {"kind": "ball"}).skeleton
    case = problem(skeleton, [keep("c", Shell(3.5, math.inf), (0.0, 1.0, 0.0))], skeleton.rest_pose())
    (gap,) = Reach(case.system).gaps(case.system, case.state.q, case.state.t)
    assert gap.miss is Miss.WIDE
    assert gap.short == pytest.approx(1.5)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "goal",
    [Goal.midpoint("c", "e", (9.0, 3.0, 2.0)), Goal.relative("e", "c", (9.0, 3.0, 2.0), rotation=False)],
)
def test_three_lengths_that_are_no_position_stretch_both_arms(backend: Backend, goal: Goal) -> None:
    ball = {"kind": "ball"}
    arms = ball, {**ball, "offset": [0.5, 1, 0]}, ball, {**ball, "offset": [-0.5, 1, 0], "parent": "a"}, ball
    skeleton = rig(*arms).skeleton
    solution = Solver(skeleton, [goal], backend=backend).solve(skeleton.rest_pose())
    assert solution.status is Status.UNREACHABLE


def test_two_link_leaves_a_limb_alone_whose_goal_it_does_not_serve() -> None:
    goals = (
        Goal.position("LeftHand", (0.4, 1.2, 0.2)),
        Goal.relative("Head", "RightHand", (0.1, -0.3, 0.4), rotation=False),
    )
    solution = Solver(BIPED, goals, method="two-link").solve(RELAXED)
    assert solution.unserved == ("Head",)
    assert place(BIPED, solution.pose, "RightHand") == pytest.approx(place(BIPED, RELAXED, "RightHand"), abs=1e-12)
