"""Limits on: no solver gives a pose beyond them, on rigs of every kind. Off: they are ignored, in the same call."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from inside.ik import METHOD_NAMES, Backend, MethodName, RootMode
from inside.spatial import IDENTITY, angle_between, from_axis_angle
from method_cases import planar
from rigs import random_goals, random_pose, random_skeleton
from sessions import QUICK
from strategies import random_skeleton as any_skeleton

import viewer
from viewer import Goal, JointKind, Solver, Status

EVERY = pytest.mark.parametrize("method", METHOD_NAMES)
SLIDE = 1e-6
TURN = 1e-3


def assert_inside(skeleton: viewer.Skeleton, pose: viewer.Pose, where: object) -> None:
    """Limits of all joints: 1e-3 rad, slides 1e-6 m."""
    slides = np.array([kind is JointKind.SLIDE for kind in skeleton.kinds])
    excess = viewer.limit_violation(skeleton, pose)
    assert excess[slides].max(initial=0.0) <= SLIDE, where
    assert excess[~slides].max(initial=0.0) <= TURN, where


@EVERY
@settings(max_examples=4)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_solution_exceeds_them(method: MethodName, seed: int) -> None:
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, int(random.integers(2, 11)))
    goals = random_goals(random, skeleton)
    start = random_pose(random, skeleton, 1.0)
    root: RootMode = random.choice(["free", "translate", "locked"])
    solver = Solver(skeleton, goals, method=method, root=root, backend=QUICK, max_iterations=40)
    assert_inside(skeleton, solver.solve(start).pose, "solve")
    drag = solver.drag(start)
    for _ in range(3):
        moved = drag.move(random.normal(size=(len(goals), 3)), iterations=2)
        assert_inside(skeleton, moved.pose, "drag")


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_start_on_any_skeleton_is_brought_inside(seed: int) -> None:
    random = np.random.default_rng(seed)
    skeleton = any_skeleton(seed, int(random.integers(1, 10)))
    # Ranges that no rotation is within cannot be kept; files with such are refused.
    assume(all(limits is None or limits.is_possible() for limits in skeleton.limits))
    leaves = [name for joint, name in enumerate(skeleton.names) if joint not in skeleton.parents]
    goals = [Goal.position(name, random.normal(size=3)) for name in leaves]
    axes = random.normal(size=(len(skeleton), 3))
    unit_axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    turned = from_axis_angle(unit_axes, random.uniform(-3, 3, len(skeleton)))
    start = viewer.Pose(turned, skeleton.offsets)
    assert_inside(skeleton, Solver(skeleton, goals, backend=QUICK, max_iterations=15).solve(start).pose, "start")


@EVERY
def test_off_they_are_ignored(method: MethodName) -> None:
    arm = planar(2, 30.0)
    target = (0.5, 1.2, 0.0) if method != "single-bone" else (0.0, 2.0, 0.0)
    on, off = (
        Solver(arm, [Goal.position("j1.tip", target)], method=method, limits=limits, backend=QUICK).solve(
            arm.rest_pose()
        )
        for limits in (True, False)
    )
    assert on.status is not Status.CONVERGED
    assert_inside(arm, on.pose, method)
    assert viewer.limit_violation(arm, off.pose).max() > 0.3
    if method not in {"single-bone", "ccd-from-base"}:
        assert off.status is Status.CONVERGED
    assert off.at_limit == ()
    if method != "fabrik":  # its points know nothing of limits: the best pose is one on its way
        assert on.at_limit


@EVERY
def test_a_start_outside_is_brought_inside_and_said(method: MethodName) -> None:
    arm = planar(3, 30.0)
    bent = viewer.Pose(from_axis_angle((0, 0, 1), np.array([0.0, 1.2, 0.1])), arm.offsets)
    goal = Goal.position("j2.tip", (2.6, 1.0, 0.0))
    outside = Solver(arm, [goal], method=method, backend=QUICK).solve(bent)
    assert outside.start_outside
    assert_inside(arm, outside.pose, method)
    inside = Solver(arm, [goal], method=method, backend=QUICK).solve(outside.pose)
    assert not inside.start_outside
    free = Solver(arm, [goal], method=method, limits=False, backend=QUICK).solve(bent)
    assert not free.start_outside


def test_what_is_at_its_limit_is_named() -> None:
    arm = planar(3, 30.0)
    solution = Solver(arm, [Goal.position("j2.tip", (0.0, 2.5, 0.0))], backend=QUICK).solve(arm.rest_pose())
    assert solution.status is not Status.CONVERGED
    assert set(solution.at_limit) == {"j0", "j1", "j2"}
    assert any("limit" in line for line in solution.diagnosis)
    np.testing.assert_allclose(angle_between(solution.pose.rotations, IDENTITY), math.radians(30.0), atol=1e-6)


def test_bvh_limits_contain_the_clip_and_bind_the_solve() -> None:
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    start = walk.clip.pose(0)
    goals = [Goal.position("LeftHand", (0.3, 2.2, 0.4)), Goal.pin("RightFoot")]
    solution = Solver(walk.skeleton, goals, backend=QUICK).solve(start)
    assert not solution.start_outside
    assert_inside(walk.skeleton, solution.pose, "walk")


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_joints_that_no_goal_moves_are_brought_inside_too(backend: Backend) -> None:
    if backend == "numba":
        pytest.importorskip("numba")
    skeleton = viewer.load("sample:biped").skeleton
    relaxed = skeleton.relaxed_pose()
    knee, rotations = skeleton.index("LeftLeg"), relaxed.rotations.copy()
    rotations[knee] = from_axis_angle((1.0, 0.0, 0.0), -1.0)
    bent = viewer.Pose(rotations, relaxed.translations)
    assert viewer.limit_violation(skeleton, bent)[knee] > 0.5
    solver = Solver(skeleton, [Goal.position("RightHand", (-0.3, 1.6, 0.2))], backend=backend)
    for solution in (solver.solve(bent), solver.drag(bent).move()):
        assert_inside(skeleton, solution.pose, backend)
        assert solution.start_outside
    assert not solver.solve(relaxed).start_outside
    many = solver.solve_batch([bent, relaxed])
    assert_inside(skeleton, many.pose(0), backend)
    assert many.pose(1).rotations[knee].tolist() == relaxed.rotations[knee].tolist()
    ignored = Solver(skeleton, solver.goals, backend=backend, limits=False).solve(bent)
    assert ignored.pose.rotations[knee].tolist() == bent.rotations[knee].tolist()
