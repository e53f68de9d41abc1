"""Reach: exact numbers on small rigs, and targets that a pose of the rig reaches are never called unreachable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import rigs
from characters import rig
from hypothesis import given, settings, strategies as st
from inside.ik import AIM, DISTANCE, ROTATION, Gap, Miss, Reach, engine_residuals as residuals, move
from inside.spatial import angle_between, from_axis_angle, multiply, rotate

from viewer.ik import Goal
from viewer.skeleton import JointKind, Pose

if TYPE_CHECKING:
    from viewer.skeleton import Skeleton

X = (1.0, 0.0, 0.0)
BALL: dict[str, Any] = {"kind": "ball"}
FIXED: dict[str, Any] = {"kind": "fixed"}
FREE: dict[str, Any] = {"kind": "free"}
ARM: tuple[dict[str, Any], ...] = (
    BALL,
    {"kind": "hinge", "axis": X, "offset": [0, 0.4, 0]},
    {**FIXED, "offset": [0, 0.341, 0]},
)
"""Its base stands at (0, 1, 0)."""


def arm(*joints: dict[str, Any]) -> Skeleton:
    return rig(*(joints or ARM)).skeleton


def gaps(skeleton: Skeleton, *goals: Goal, root: str = "free", pose: Pose | None = None) -> list[Gap]:
    """What is out of reach; both questions must agree."""
    problem = rigs.problem(skeleton, goals, pose or skeleton.rest_pose(), root=root)
    system, state = problem.system, problem.state
    # Goals without a turn have NaN there, as in a solver.
    system.goal_rotation[~np.isin(system.goal_kind, [ROTATION])] = np.nan
    reach = Reach(system)
    found = reach.gaps(system, state.q, state.t)
    assert reach.out_of_reach(system, state.q, state.t) is bool(found)
    return found


def only(skeleton: Skeleton, *goals: Goal, root: str = "free", pose: Pose | None = None) -> Gap:
    (gap,) = gaps(skeleton, *goals, root=root, pose=pose)
    return gap


def at(*point: float) -> Goal:
    return Goal.position("c", point)


def test_too_far_says_by_how_much() -> None:
    gap = only(arm(), at(0, 1, 0.919))
    assert (gap.miss, gap.goals) == (Miss.FAR, (0,))
    assert (gap.short, gap.reach, gap.distance) == pytest.approx((0.178, 0.741, 0.919))


def test_too_near_says_how_short_the_chain_folds() -> None:
    gap = only(arm(), at(0, 1.02, 0))
    assert gap.miss is Miss.NEAR
    assert (gap.short, gap.fold, gap.distance) == pytest.approx((0.039, 0.059, 0.02))


def test_what_is_within_the_tolerance_is_in_reach() -> None:
    for distance in (0.0585, 0.3, 0.7415):
        assert gaps(arm(), at(0, 1, distance)) == []
    assert gaps(arm(), at(0, 1, 0.7421)) != []
    assert gaps(arm(), at(0, 1, 0.0579)) != []


def test_offsets_of_goals_are_links() -> None:
    assert gaps(arm(), Goal.position("c", (0, 1, 0.84), offset=(0, 0.1, 0))) == []
    assert only(arm(), Goal.position("c", (0, 1, 0.9), offset=(0, 0.1, 0))).reach == pytest.approx(0.841)
    assert only(arm(), Goal.position("b", (0, 1, 1), offset=(0.3, 0, 0.4))).reach == pytest.approx(0.9)


def test_a_fixed_joint_makes_one_link_of_two_that_keep_their_angle() -> None:
    bent = arm(BALL, {**FIXED, "offset": [0, 0.3, 0]}, {**FIXED, "offset": [0.4, 0, 0]})
    gap = only(bent, at(0, 1, 0.6))
    assert (gap.reach, gap.fold) == pytest.approx((0.5, 0.5))
    # A joint that is stiff altogether is fixed, too.
    stiff = arm(BALL, {**BALL, "stiffness": 1, "offset": [0, 0.3, 0]}, {**FIXED, "offset": [0.4, 0, 0]})
    assert only(stiff, at(0, 1, 0.6)).reach == pytest.approx(0.5)


def test_a_root_that_may_move_reaches_everything_and_one_that_may_not_does_not() -> None:
    free = arm(FREE, *ARM[1:])
    far = at(50, 0, 0)
    assert gaps(free, far) == []
    assert gaps(free, far, root="translate") == []
    locked = only(free, far, root="locked")
    # A root that is locked does not turn either: its first link is part of the base.
    assert locked.distance == pytest.approx(np.hypot(50, 1.4))
    assert locked.reach == pytest.approx(0.341)
    stiff = arm({**FREE, "stiffness": 1}, *ARM[1:])
    assert only(stiff, far).reach == pytest.approx(0.341)


def test_a_base_that_slides_is_as_near_as_it_can_slide() -> None:
    slide = {"kind": "slide", "axis": X, "limits": {"distance": [-1, 2]}}
    sled = arm(slide, {**BALL, "offset": [0, 0, 0]}, {**FIXED, "offset": [0, 0.5, 0]})
    for target in ((2.5, 1, 0), (-1.5, 1, 0), (0.3, 1.5, 0)):
        assert gaps(sled, at(*target)) == []
    gap = only(sled, at(6, 1, 3))
    assert (gap.distance, gap.reach, gap.short) == pytest.approx((5, 0.5, 4.5))
    assert only(sled, Goal.distance("c", 9, (0, 1, 0))).short == pytest.approx(6.5)


def test_a_slide_in_a_chain_makes_a_link_longer_and_shorter() -> None:
    piston = {"kind": "slide", "axis": [0, 1, 0], "limits": {"distance": [-0.1, 0.2]}, "offset": [0, 0.3, 0]}
    leg = arm(BALL, piston, {**FIXED, "offset": [0, 0.1, 0]})
    for distance in (0.3, 0.45, 0.6):
        assert gaps(leg, at(0, 1, distance)) == []
    assert only(leg, at(0, 1, 0.7)).reach == pytest.approx(0.6)
    assert only(leg, at(0, 1, 0.2)).fold == pytest.approx(0.3)
    endless = arm(BALL, {**piston, "limits": {}}, {**FIXED, "offset": [0, 0.1, 0]})
    assert gaps(endless, at(0, 1, 500)) == []


def test_a_distance_goal_is_out_of_reach_on_either_side() -> None:
    def keep(distance: float, z: float) -> list[Gap]:
        return gaps(arm(), Goal.distance("c", distance, (0, 1, z)))

    assert keep(0.3, 1.0) == keep(1.7, 1.0) == keep(0.5, 0.0) == []
    far, wide, near = keep(0.2, 1.0)[0], keep(1.8, 1.0)[0], keep(0.01, 0.0)[0]
    assert (far.miss, wide.miss, near.miss) == (Miss.FAR, Miss.WIDE, Miss.NEAR)
    assert (far.short, wide.short, near.short) == pytest.approx((0.059, 0.059, 0.049))


TWO_ARMS: tuple[dict[str, Any], ...] = (
    FREE,
    {"offset": [0.5, 0, 0]},
    {"offset": [1, 0, 0]},
    {"offset": [-0.3, 0, 0], "parent": "a"},
    {},
)


@pytest.mark.parametrize(
    ("away", "shell", "miss", "short"),
    [
        (0.941, (0.1, 0.3), None, 0.0),  # on the near side
        (0.941, (0.1, 0.15), Miss.FAR, 0.05),
        (0.941, (1.6, 1.9), None, 0.0),  # on the far side
        (0.941, (1.8, 1.9), Miss.WIDE, 0.118),
        (0.0, (0.01, 0.05), Miss.NEAR, 0.009),
        (0.0, (0.01, 0.1), None, 0.0),
    ],
)
def test_a_goal_that_lets_its_effector_be_within_a_shell(
    away: float, shell: tuple[float, float], miss: Miss | None, short: float
) -> None:
    """Between two distances from its target, as rows of a kind may say (`Rows.shell`)."""
    skeleton = arm()
    problem = rigs.problem(skeleton, [Goal.distance("c", 0.5, (0.0, 1.0, away))], skeleton.rest_pose())
    problem.system.goal_shell[0] = shell
    found = Reach(problem.system).gaps(problem.system, problem.state.q, problem.state.t)
    assert [gap.miss for gap in found] == ([] if miss is None else [miss])
    assert [gap.short for gap in found] == pytest.approx([] if miss is None else [short])


def test_two_goals_are_held_against_each_other_through_what_joins_them() -> None:
    skeleton = rig(*TWO_ARMS).skeleton  # a: b, c to the right, d, e (1 m up) to the left; b to d: 0.8 m
    gap = only(skeleton, Goal.position("c", (2, 0, 0)), Goal.position("e", (-1, 0, 0)))
    assert (gap.miss, gap.goals) == (Miss.FAR, (0, 1))
    assert (gap.short, gap.reach, gap.distance) == pytest.approx((0.2, 2.8, 3.0))
    near = only(skeleton, Goal.position("b", (0, 0, 0)), Goal.position("d", (0, 0, 0.3)))
    assert near.miss is Miss.NEAR
    assert (near.short, near.fold) == pytest.approx((0.5, 0.8))
    assert gaps(skeleton, Goal.position("c", (1.8, 0, 0)), Goal.distance("e", 0.4, (-1.4, 0, 0))) == []
    wide = only(skeleton, Goal.position("c", (0, 0, 0)), Goal.distance("e", 4.0, (0, 0, 1)))
    assert wide.miss is Miss.WIDE
    assert wide.short == pytest.approx(0.2)


def test_one_effector_cannot_be_in_two_places() -> None:
    gap = only(arm(FREE, *ARM[1:]), at(0, 1, 0), at(0, 1, 0.5))
    assert (gap.reach, gap.short) == (0.0, 0.5)


def test_turns_of_what_cannot_turn() -> None:
    fixed = arm(FIXED, FIXED, BALL)
    quarter = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))
    gap = only(fixed, Goal.rotation("b", quarter))
    assert gap.miss is Miss.TURN
    assert gap.short == pytest.approx(np.pi / 2)
    assert gaps(fixed, Goal.rotation("b", (0, 0, 0, -1)), Goal.rotation("c", quarter)) == []
    aim = only(fixed, Goal.aim("b", (0, 2, 5), (0, 1, 0)))
    assert aim.miss is Miss.TURN
    assert aim.short == pytest.approx(np.pi / 2)
    assert gaps(fixed, Goal.aim("b", (0, 9, 0), (0, 1, 0)), Goal.aim("b", (0, 2, 0), (0, 1, 0))) == []
    # A root that moves but does not turn.
    moving = arm(FREE, FIXED)
    assert only(moving, Goal.rotation("b", quarter), root="translate").miss is Miss.TURN
    assert gaps(moving, Goal.rotation("b", quarter)) == []


def test_turns_about_one_axis_or_two_are_all_that_hinges_reach() -> None:
    # Two hinges about z after one about x: the rotations X(a) Z(b), whatever the pose.
    leg = arm({"kind": "hinge", "axis": X}, *[{"kind": "hinge", "axis": (0, 0, 1), "offset": (0, -0.4, 0)}] * 2)
    random = np.random.default_rng(5)
    angles = np.linspace(-np.pi, np.pi, 721)
    about_x, about_z = (from_axis_angle(axis, angles) for axis in (X, (0, 0, 1)))
    for _ in range(8):
        wanted = random.normal(size=4)
        wanted /= np.linalg.norm(wanted)
        bent = leg.rest_pose()
        turns = multiply(bent.rotations, from_axis_angle(np.array([X, (0, 0, 1), (0, 0, 1)]), random.normal(size=3)))
        gap = only(leg, Goal.rotation("c", wanted), pose=Pose(turns, bent.translations))
        every = angle_between(multiply(about_x[:, None], about_z[None]), wanted)
        assert (gap.miss, gap.goals) == (Miss.TURN, (0,))
        assert gap.short == pytest.approx(every.min(), abs=1e-3)
        # Only the first two joints, of which one is stiff: one axis is left.
        stiff = arm({"kind": "hinge", "axis": X, "stiffness": 1}, {"kind": "hinge", "axis": (0, 0, 1)})
        assert only(stiff, Goal.rotation("b", wanted)).short == pytest.approx(
            angle_between(about_z, wanted).min(), abs=1e-3
        )


def test_a_third_axis_may_reach_any_rotation() -> None:
    wanted = np.array([0.5, 0.5, -0.5, 0.5])
    axes = (X, (0, 0, 1), (0, 1, 0))
    assert gaps(arm(*[{"kind": "hinge", "axis": axis} for axis in axes]), Goal.rotation("c", wanted)) == []
    # Axes that a file rounds are one, with what that leaves open.
    rounded = arm({"kind": "hinge", "axis": X}, {"kind": "hinge", "axis": (1, 4e-5, 0)}, {"kind": "fixed"})
    gap = only(rounded, Goal.rotation("c", (0, 0, np.sin(0.5), np.cos(0.5))))
    assert gap.short == pytest.approx(1.0, abs=1e-4)
    assert gap.short < 1.0


def test_places_of_the_pose_count_not_those_of_the_file() -> None:
    skeleton = arm()
    rest = skeleton.rest_pose()
    longer = rest.translations.copy()
    longer[0] += (7, 0, 0)
    longer[2] *= 2
    moved = Pose(rest.rotations, longer)
    assert gaps(skeleton, at(7, 1, 1), pose=moved) == []
    assert only(skeleton, at(7, 1, 2), pose=moved).reach == pytest.approx(1.082)


def test_a_new_pose_of_what_stands_still_is_noticed() -> None:
    problem = rigs.problem(arm(), [at(7, 1.5, 0)], arm().rest_pose())
    system, q, t = problem.system, problem.state.q, problem.state.t
    reach = Reach(system)
    assert reach.out_of_reach(system, q, t)
    t[0] += (7, 0, 0)
    assert not reach.out_of_reach(system, q, t)


def test_numbers_whose_squares_overflow_are_far() -> None:
    gap = only(arm(), Goal.position("c", (1e300, 0, 0)))
    assert gap.miss is Miss.FAR
    assert gap.short > 1e149


@pytest.mark.parametrize("root", ["free", "translate", "locked"])
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_a_pose_of_the_rig_reaches_is_never_out_of_reach(root: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    joints = int(random.integers(1, 14))
    parents = [-1 if random.random() < 0.1 else int(random.integers(max(0, j - 3), j)) for j in range(1, joints)]
    skeleton = rigs.random_skeleton(random, joints, parents=[-1, *parents])
    start = rigs.random_pose(random, skeleton)
    start = Pose(start.rotations, start.translations + 0.1 * random.integers(2) * random.normal(size=(joints, 3)))
    kinds = random.choice(list(rigs.GOAL_KINDS), int(random.integers(1, 6))).tolist()
    problem = rigs.problem(skeleton, rigs.random_goals(random, skeleton, kinds), start, root=root)
    # Hardly any tolerance: sure means sure.
    system = problem.system._replace(tolerance=np.array([1e-11, 1e-9]))
    reach = Reach(system)
    for size in (0.1, 1.0, 3.0):
        state = rigs.copied(problem.state)
        step = np.where(system.spread > 0.0, size * random.normal(size=len(system.lower)), 0.0)
        move(system, problem.work, step, state.x, state.q, state.t)
        residuals(system, problem.work, state.q, state.t, state.e)
        aim_where_they_are(random, problem)
        found = reach.gaps(system, problem.state.q, problem.state.t)
        assert found == []


def aim_where_they_are(random: np.random.Generator, problem: rigs.Problem) -> None:
    """Targets that the pose last evaluated meets."""
    system, work = problem.system, problem.work
    for g, kind in enumerate(system.goal_kind.tolist()):
        point, turn = work.point[g], work.turn[system.goal_joint[g]]
        system.goal_target[g], system.goal_rotation[g] = point, turn
        if kind == DISTANCE:
            away = random.normal(size=3)
            system.goal_target[g] -= away * system.goal_numbers[g, 0] / np.linalg.norm(away)
        elif kind == AIM:
            system.goal_target[g] += random.uniform(0.1, 2.0) * rotate(turn, system.goal_numbers[g, :3])


@settings(max_examples=50)
@given(lengths=st.lists(st.floats(0.01, 2.0), min_size=2, max_size=6), seed=st.integers(0, 2**32 - 1))
def test_a_chain_of_balls_reaches_all_that_is_not_excluded(lengths: list[float], seed: int) -> None:
    # Closed polygons exist exactly where no side is longer than all others together.
    random = np.random.default_rng(seed)
    chain = rigs.chain(len(lengths), JointKind.BALL)
    ends = np.cumsum(lengths)
    pose = Pose(chain.rest_rotations, np.array([(0.0, 0.0, 0.0)] + [(length, 0.0, 0.0) for length in lengths[:-1]]))
    tip = f"j{len(lengths) - 1}"
    fold = max(0.0, 2 * max(lengths) - ends[-1])
    for distance in random.uniform(0.0, 1.2 * ends[-1], 5).tolist():
        goal = Goal.position(tip, (0.0, distance, 0.0), offset=(lengths[-1], 0.0, 0.0))
        in_reach = bool(fold - 1e-3 <= distance <= ends[-1] + 1e-3)
        assert (gaps(chain, goal, pose=pose) == []) is in_reach
