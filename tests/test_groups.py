"""Goals that have nothing to do with each other do not spoil each other, and targets far away spoil nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from inside.ik import Backend
from inside.spatial import angle_between
from rigs import chain, random_pose, random_skeleton

import viewer
from viewer import Goal, Solver, Status

BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
FOOT = Goal.position("LeftFoot", (0.15, 0.3, 0.4))
BLOCKED = "blocked by limits: "
BACKENDS = ("numpy", "numba")


def hand(x: float, y: float = 1.3, z: float = 0.0) -> Goal:
    return Goal.position("LeftHand", (x, y, z))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("distance", [1.0, 5.0, 1e3, 1e200])
def test_a_hopeless_goal_leaves_one_that_shares_no_joint_alone(distance: float, backend: Backend) -> None:
    solver = Solver(BIPED, [hand(distance), FOOT], root="locked", backend=backend)
    solution = solver.solve(RELAXED)
    assert solution.status is not Status.CONVERGED
    assert solution.errors_m[1] <= 1e-3
    assert not any("LeftFoot" in line for line in solution.diagnosis)
    drag = solver.drag(RELAXED)
    for _ in range(5):
        moved = drag.move(iterations=2)
    assert moved.errors_m[1] <= 1e-3


def test_a_group_is_solved_as_it_is_alone() -> None:
    alone = Solver(BIPED, [FOOT], root="locked", backend="numpy").solve(RELAXED)
    both = Solver(BIPED, [hand(2.0), FOOT], root="locked", backend="numpy").solve(RELAXED)
    for name in ("LeftUpLeg", "LeftLeg", "LeftFoot"):
        joint = BIPED.index(name)
        assert both.pose.rotations[joint] == pytest.approx(alone.pose.rotations[joint], abs=1e-12)


def test_the_hand_gets_no_less_near_to_what_is_farther_away() -> None:
    """How far the hand gets towards a target straight ahead does not depend on how far that is."""
    gains = []
    for distance in (2.0, 50.0, 1e6):
        solution = Solver(BIPED, [hand(distance)], root="locked", backend="numpy").solve(RELAXED)
        gains.append(distance - solution.errors_m[0])
    assert max(gains) - min(gains) < 0.02


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("distance", [5.0, 50.0, 1e3, 1e4, 1e6])
def test_a_free_figure_goes_wherever_its_goals_are(distance: float, backend: Backend) -> None:
    there = (
        Goal.pose("LeftHand", (distance, 1.3, 0.3), (0.0, 0.0, 0.0, 1.0)),
        Goal.position("RightHand", (distance + 0.3, 1.3, 0.3)),
    )
    solution = Solver(BIPED, there, backend=backend).solve(RELAXED)
    assert solution.status is Status.CONVERGED
    apart = Solver(BIPED, [Goal.distance("LeftHand", distance, (0.0, 0.0, 0.0))], backend=backend).solve(RELAXED)
    assert apart.status is Status.CONVERGED


def test_pins_hold_a_free_figure_whatever_one_hand_is_asked() -> None:
    for distance in (10.0, 1e6):
        goals = [hand(distance), Goal.pin("LeftFoot"), Goal.pin("RightFoot")]
        solution = Solver(BIPED, goals, backend="numpy").solve(RELAXED)
        assert solution.status is Status.UNREACHABLE
        assert solution.errors_m[1:].max() < 0.01
        assert solution.errors_m[0] < distance


def test_targets_are_given_back_as_they_were() -> None:
    solver = Solver(BIPED, [hand(1e3)], root="locked", backend="numpy")
    world = viewer.fk(BIPED, solver.solve(RELAXED).pose)
    miss = np.linalg.norm(world.positions[BIPED.index("LeftHand")] - (1e3, 1.3, 0.0))
    assert solver.solve(RELAXED).errors_m[0] == pytest.approx(miss)


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_iterations_move_nothing(backend: Backend) -> None:
    goals = [hand(3.0), Goal.position("RightHand", (3.0, 1.0, 1.0)), Goal.pin("LeftFoot", (3.0, 0.0, 0.3))]
    start = viewer.project_pose(BIPED, RELAXED)
    solution = Solver(BIPED, goals, max_iterations=0, backend=backend).solve(start)
    assert (solution.status, solution.iterations) == (Status.BUDGET, 0)
    assert angle_between(solution.pose.rotations, start.rotations).max() < 1e-7
    assert solution.pose.translations == pytest.approx(start.translations)


def test_where_every_restart_ends_as_near_there_is_no_such_pose() -> None:
    turned = Goal.rotation("LeftHand", (0.0, 0.0, 0.0, 1.0)), Goal.rotation("LeftHand", (1.0, 0.0, 0.0, 0.0))
    assert Solver(BIPED, turned, backend="numpy").solve(RELAXED).status is Status.UNREACHABLE
    once = Solver(BIPED, turned, backend="numpy", restarts=False).solve(RELAXED)
    assert once.status is Status.STALLED


@pytest.mark.parametrize("seed", range(20))
def test_what_a_pose_of_the_rig_itself_meets_is_never_called_unreachable(seed: int) -> None:
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, 9)
    skeleton = replace(skeleton, stiffness=np.zeros(9))
    posed = random_pose(random, skeleton, 1.0)
    world = viewer.fk(skeleton, posed)
    goals = [
        Goal.pose(name, world.positions[skeleton.index(name)], world.rotations[skeleton.index(name)])
        for name in skeleton.names[-3:]
    ]
    roots = skeleton.parents[:, None] < 0
    start = viewer.Pose(
        np.where(roots, posed.rotations, skeleton.rest_rotations),
        np.where(roots, posed.translations, skeleton.offsets),
    )
    assert Solver(skeleton, goals, backend="numpy", root="locked").solve(start).status is not Status.UNREACHABLE


def test_a_straight_chain_without_limits_is_one_group() -> None:
    solver = Solver(chain(5), [Goal.position("j4.tip", (0.5, 0.5, 0.0)), Goal.position("j2", (0.3, 0.1, 0.0))])
    assert solver.prepared.assembly.system.goal_group.tolist() == [0, 0]


def test_goals_that_share_no_joint_are_never_said_to_conflict() -> None:
    # Both feet are pulled to where limits do not let them; each alone is as far off.
    goals = [Goal.position("LeftFoot", (0.15, 1.0, -0.6)), Goal.position("RightFoot", (-0.15, 1.0, -0.6)), hand(1e3)]
    solution = Solver(BIPED, goals, root="locked", backend="numpy").solve(RELAXED)
    assert solution.status is Status.UNREACHABLE
    assert not any("conflict" in line or "way to" in line for line in solution.diagnosis)


def test_what_is_said_to_block_is_enough_to_free() -> None:
    """A pose that the rig would have without limits is out of reach; without the limits that are named it is not."""
    blocked = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        skeleton = replace(random_skeleton(random, 5, parents=range(-1, 4)), stiffness=np.zeros(5))
        bare = replace(skeleton, limits=(None,) * 5)
        posed = random_pose(random, bare, 1.5)
        goal = Goal.position("j4.tip", viewer.fk(bare, posed).point(4, bare.tip_offsets[0]))
        at_base = skeleton.parents[:, None] < 0
        start = viewer.Pose(skeleton.rest_rotations, np.where(at_base, posed.translations, skeleton.offsets))
        solution = Solver(skeleton, [goal], backend="numpy").solve(start)
        for line in (line for line in solution.diagnosis if line.startswith(BLOCKED)):
            named = {part.split()[0] for part in line.removeprefix(BLOCKED).split(", ")}
            kept = [None if name in named else own for name, own in zip(skeleton.names, skeleton.limits, strict=True)]
            freed = Solver(replace(skeleton, limits=tuple(kept)), [goal], backend="numpy")
            assert freed.solve(solution.pose).status is Status.CONVERGED, line
            blocked += 1
    assert blocked >= 3
