"""Two links in closed form as limbs of a rig: any base, turn and scale, balls and hinges, limits, pole, wrist."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.ik import CONVERGED, METHODS, STALLED, UNREACHABLE, Mechanism, Problem, Settings, Tuning, find_limb
from inside.spatial import angle_between, exp, from_axis_angle, multiply, normalized, rotate
from method_cases import Case, bend as turned, planar, rig

from viewer.ik import Goal
from viewer.skeleton import JointKind, JointLimits, Pose, Skeleton, limit_violation

if TYPE_CHECKING:
    from inside.spatial import Floats

EXACT = (1e-9, 1e-8)
BALL, HINGE, FIXED = JointKind.BALL, JointKind.HINGE, JointKind.FIXED
Z = (0.0, 0.0, 1.0)
TIP = Goal.position("j3.tip", (0.0, 0.0, 0.0))


def limb_rig(
    kinds: tuple[JointKind, JointKind],
    random: np.random.Generator,
    scale: float = 1.0,
    elbow: JointLimits | None = None,
) -> Skeleton:
    """A turned base, a shoulder, a fixed joint inside the upper link, an elbow and a tip: links 1 and 0.8 long."""
    axes = np.zeros((4, 2, 3))
    for k, kind in zip((1, 3), kinds, strict=True):
        if kind is HINGE:
            axes[k, 0] = Z
    unturned = np.tile([0.0, 0.0, 0.0, 1.0], (2, 1))
    return rig(
        [-1, 0, 1, 2],
        scale * np.array([random.normal(size=3), random.normal(size=3), (0.4, 0.0, 0.0), (0.6, 0.0, 0.0)]),
        [FIXED, kinds[0], FIXED, kinds[1]],
        axes=axes,
        limits=[None, None, None, elbow],
        rest=normalized(np.concatenate([random.normal(size=(2, 4)), unturned])),
        tip=(0.8 * scale, 0.0, 0.0),
    )


def some_pose(case: Case, random: np.random.Generator) -> Pose:
    """A random pose of a limb."""
    rotations = case.skeleton.rest_rotations.copy()
    for k in (1, 3):
        ball = case.skeleton.kinds[k] is BALL
        turn = exp(random.normal(size=3)) if ball else from_axis_angle(Z, random.uniform(-2.5, 2.5))
        rotations[k] = multiply(rotations[k], turn)
    return Pose(rotations, case.skeleton.offsets)


def aimed(case: Case, random: np.random.Generator) -> Pose:
    """Put the case into a random pose, its target where the tip is in another one."""
    case.begin(some_pose(case, random))
    target = case.tip()
    start = some_pose(case, random)
    case.begin(start)
    case.system.goal_target[0] = target
    return start


@pytest.mark.parametrize("kinds", [(BALL, BALL), (BALL, HINGE), (HINGE, HINGE), (HINGE, BALL)])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_limbs_anywhere_are_exact(kinds: tuple[JointKind, JointKind], scale: float) -> None:
    random = np.random.default_rng(3)
    for _ in range(25):
        case = Case(limb_rig(kinds, random, scale), [TIP], tolerance=(1e-9 * scale, 1.0))
        aimed(case, random)
        code, iterations, _ = case.solve("two-link")
        assert np.linalg.norm(case.tip() - case.system.goal_target[0]) < 1e-6 * scale
        assert (code, iterations) == (CONVERGED, 1)


@pytest.mark.parametrize("geometric", [False, True])
@pytest.mark.parametrize("bend", [1, -1])
def test_planar_limb_takes_the_branch_asked_for(bend: int, geometric: bool) -> None:
    random = np.random.default_rng(4)
    for _ in range(20):
        case = Case(planar(2), [Goal.position("j1.tip", (0.0, 0.0, 0.0))], tolerance=EXACT)
        angle, distance = random.uniform(-math.pi, math.pi), random.uniform(0.1, 1.95)
        case.system.goal_target[0] = distance * math.cos(angle), distance * math.sin(angle), 0.0
        assert case.solve("two-link", Tuning(bend=bend, geometric=geometric))[0] == CONVERGED
        assert np.linalg.norm(case.tip() - case.system.goal_target[0]) < 1e-6
        assert bend * math.remainder(case.state.x[1], 2.0 * math.pi) > 0.0


def test_limb_that_is_there_changes_sides_when_asked() -> None:
    case = Case(planar(2), [Goal.position("j1.tip", (1.0, 0.7, 0.0))], tolerance=EXACT)
    elbows = []
    for bend in (1, -1, -1, 1):
        assert case.solve("two-link", Tuning(bend=bend))[0] == CONVERGED
        elbows.append(math.copysign(1.0, math.remainder(case.state.x[1], 2.0 * math.pi)))
    assert elbows == [1.0, -1.0, -1.0, 1.0]


@pytest.mark.parametrize("bend", [1, -1])
def test_limb_in_space_takes_the_branch_asked_for(bend: int) -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        case = Case(limb_rig((BALL, HINGE), random), [TIP], tolerance=EXACT)
        aimed(case, random)
        assert case.solve("two-link", Tuning(bend=bend))[0] == CONVERGED
        assert bend * math.remainder(case.state.x[-1], 2.0 * math.pi) > 0.0


@pytest.mark.parametrize("geometric", [False, True])
def test_elbow_is_up_or_down_wherever_the_target_is(geometric: bool) -> None:
    random = np.random.default_rng(11)
    for _ in range(30):
        angle, distance = random.uniform(-math.pi, math.pi), random.uniform(0.1, 1.95)
        target = np.array([distance * math.cos(angle), distance * math.sin(angle), 0.0])
        heights = []
        for elbow in (1, -1):
            case = Case(planar(2), [Goal.position("j1.tip", target)], tolerance=EXACT)
            turned(case, random.uniform(-2.0, 2.0))
            assert case.solve("two-link", Tuning(elbow=elbow, geometric=geometric))[0] == CONVERGED
            assert np.linalg.norm(case.tip() - target) < 1e-6
            heights.append(case.world.positions[1][1])
        # Mirrored on the line to the target: one is above its middle by as much as the other is below.
        assert heights[0] >= heights[1]
        assert sum(heights) == pytest.approx(target[1], abs=1e-6)


@pytest.mark.parametrize("elbow", [1, -1])
def test_elbow_is_where_limits_let_it_be(elbow: int) -> None:
    axes = np.zeros((2, 2, 3))
    axes[:, 0, 2] = 1.0
    limits = [None, JointLimits.coordinates((0.0, 2.5))]  # one side only: the target comes first
    skeleton = rig([-1, 0], [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], [HINGE] * 2, axes=axes, limits=limits)
    case = Case(skeleton, [Goal.position("j1.tip", (1.2, 0.3, 0.0))], tolerance=EXACT)
    assert case.solve("two-link", Tuning(elbow=elbow))[0] == CONVERGED
    assert case.state.x[1] > 0.0


def test_elbow_out_of_reach_is_the_nearest_pose_all_the_same() -> None:
    for elbow in (1, -1):
        case = Case(planar(2), [Goal.position("j1.tip", (3.0, 4.0, 0.0))])
        assert case.solve("two-link", Tuning(elbow=elbow))[0] == UNREACHABLE
        np.testing.assert_allclose(case.tip(), (1.2, 1.6, 0.0), atol=1e-6)


def test_target_beside_the_plane_is_approached_as_near_as_the_plane_allows() -> None:
    case = Case(planar(2), [Goal.position("j1.tip", (0.7, 0.9, 0.4))], tolerance=EXACT)
    assert case.solve("two-link")[0] == UNREACHABLE
    np.testing.assert_allclose(case.tip(), (0.7, 0.9, 0.0), atol=1e-9)


def test_limb_stays_in_its_bend_plane_and_on_its_side() -> None:
    random = np.random.default_rng(6)

    def side(pose: Pose) -> Floats:
        """The direction in which the lower link leaves the upper one's line, in the upper one's frame."""
        lower = rotate(pose.rotations[3], (1.0, 0.0, 0.0))[1:]
        return np.asarray(lower / np.linalg.norm(lower))

    for _ in range(30):
        case = Case(limb_rig((BALL, BALL), random), [TIP], tolerance=EXACT)
        start = aimed(case, random)
        case.solve("two-link")
        np.testing.assert_allclose(side(case.answer), side(start), atol=1e-6)


def test_shoulder_turns_the_shortest_way() -> None:
    random = np.random.default_rng(7)
    for _ in range(20):
        case = Case(limb_rig((BALL, HINGE), random), [TIP], tolerance=EXACT)
        start = aimed(case, random)
        shoulder = case.world.positions[1]
        case.solve("two-link")
        bent = Pose(np.concatenate([start.rotations[:3], case.answer.rotations[3:]]), start.translations)
        case.begin(bent)
        from_, to = case.tip() - shoulder, case.system.goal_target[0] - shoulder
        angle = math.acos(np.clip(from_ @ to / np.linalg.norm(from_) / np.linalg.norm(to), -1.0, 1.0))
        case.solve("two-link")
        assert angle_between(start.rotations[1], case.answer.rotations[1]) == pytest.approx(angle, abs=1e-6)


@pytest.mark.parametrize("kinds", [(BALL, BALL), (BALL, HINGE), (HINGE, HINGE)])
def test_straight_limb_can_be_bent(kinds: tuple[JointKind, JointKind]) -> None:
    case = Case(limb_rig(kinds, np.random.default_rng(8)), [TIP], tolerance=EXACT)
    shoulder = case.world.positions[1]
    case.system.goal_target[0] = shoulder + 0.6 * (case.tip() - shoulder)
    assert case.solve("two-link")[0] == CONVERGED


def test_pose_goal_turns_the_wrist_as_well() -> None:
    random = np.random.default_rng(9)
    offsets = [(0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.5, 0.0, 0.0), (0.4, 0.0, 0.0)]
    skeleton = rig([-1, 0, 1, 2], offsets, [FIXED, BALL, BALL, BALL], tip=(0.1, 0.0, 0.0))
    for _ in range(20):
        turn, away = normalized(random.normal(size=(2, 4)))
        point = np.array([0.0, 1.0, 0.0]) + rotate(away, (0.6, 0.0, 0.0)) + rotate(turn, (0.1, 0.0, 0.0))
        case = Case(skeleton, [Goal.pose("j3.tip", point, turn)], tolerance=EXACT)
        assert case.solve("two-link")[0] == CONVERGED
        np.testing.assert_allclose(case.tip(), point, atol=1e-6)
        assert angle_between(case.world.rotations[3], turn) < 1e-6


@pytest.mark.parametrize("kinds", [(BALL, BALL), (BALL, HINGE), (HINGE, HINGE)])
@pytest.mark.parametrize(("distance", "nearest"), [(3.0, 1.8), (0.05, 0.2)])
@pytest.mark.parametrize("bend", [0, 1, -1])
def test_too_far_and_too_near_give_the_nearest_pose(
    kinds: tuple[JointKind, JointKind], distance: float, nearest: float, bend: int
) -> None:
    random = np.random.default_rng(10)
    for _ in range(10):
        case = Case(limb_rig(kinds, random), [TIP])
        aimed(case, random)
        shoulder = case.world.positions[1]
        arm = case.tip() - shoulder
        case.system.goal_target[0] = target = shoulder + distance * arm / np.linalg.norm(arm)
        assert case.solve("two-link", Tuning(bend=bend))[0] == UNREACHABLE
        assert np.linalg.norm(case.tip() - target) == pytest.approx(abs(distance - nearest), abs=1e-6)
        answer = case.answer
        assert case.solve("two-link", Tuning(bend=bend))[0] == UNREACHABLE
        assert angle_between(answer.rotations, case.answer.rotations).max() < 1e-6


def test_out_of_its_own_reach_is_not_out_of_the_figures() -> None:
    # The third joint of the chain, which two links leave alone, would bring the end there.
    case = Case(planar(3), [Goal.position("j2.tip", (-0.5, 1.5, 0.0))])
    assert case.solve("two-link")[0] == STALLED
    assert case.solve("default")[0] == CONVERGED


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_knee_that_bends_one_way_takes_that_branch(sign: float) -> None:
    knee = JointLimits.coordinates((0.0, 2.5))
    case = Case(limb_rig((HINGE, HINGE), np.random.default_rng(11), elbow=knee), [TIP])
    shoulder, normal = case.world.positions[1], rotate(case.world.rotations[1], Z)
    arm = case.tip() - shoulder
    case.system.goal_target[0] = shoulder + rotate(from_axis_angle(normal, sign * 0.7), 0.7 * arm)
    assert case.solve("two-link")[0] == CONVERGED
    assert case.state.x[1] > 0.0
    assert limit_violation(case.skeleton, case.answer).max() < 1e-9


def test_ball_knee_with_limits_bends_the_way_they_leave() -> None:
    ranges = [(-0.01, 0.01), (-0.01, 0.01), (-2.5, 0.0)]
    for limits in (JointLimits.euler("xyz", *ranges), JointLimits.swing_twist(0, *ranges)):
        case = Case(limb_rig((BALL, BALL), np.random.default_rng(12), elbow=limits), [TIP])
        shoulder = case.world.positions[1]
        case.system.goal_target[0] = shoulder + 0.7 * (case.tip() - shoulder)
        assert case.solve("two-link")[0] == CONVERGED
        assert limit_violation(case.skeleton, case.answer).max() < 1e-9


def test_limits_that_block_the_limb_are_kept_and_said() -> None:
    narrow = JointLimits.coordinates((-0.1, 0.1))
    case = Case(limb_rig((HINGE, HINGE), np.random.default_rng(13), elbow=narrow), [TIP])
    shoulder = case.world.positions[1]
    case.system.goal_target[0] = shoulder + 0.5 * (case.tip() - shoulder)
    assert case.solve("two-link")[0] == STALLED
    assert limit_violation(case.skeleton, case.answer).max() < 1e-9


def limb_of(skeleton: Skeleton, goal: Goal) -> tuple[int, int, int] | None:
    case = Case(skeleton, [goal])
    limb = find_limb(Mechanism(Problem.made(case.system, case.work, case.state, Settings(), None, Tuning())), 0)
    return None if limb is None else (limb.shoulder, limb.elbow, limb.wrist)


def test_limb_is_the_two_joints_that_can_move_the_end() -> None:
    axes = np.zeros((5, 2, 3))
    axes[2, 0], axes[3, 0] = (1.0, 0.0, 0.0), Z
    offsets = [(0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.5, 0.0, 0.0), (0.1, 0.0, 0.0), (0.5, 0.0, 0.0)]
    skeleton = rig(range(-1, 4), offsets, [BALL, BALL, HINGE, HINGE, BALL], axes=axes, tip=(0.1, 0.0, 0.0))
    nowhere, unturned = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
    # j2 rolls about the line to the end and does not move it; a wrist does not move where it stands.
    assert limb_of(skeleton, Goal.position("j4", nowhere)) == (1, 3, -1)
    assert limb_of(skeleton, Goal.position("j4.tip", nowhere)) == (3, 4, -1)
    assert limb_of(skeleton, Goal.pose("j4.tip", nowhere, unturned)) == (1, 3, 4)
    assert limb_of(skeleton, Goal.position("j1", nowhere)) is None
    assert limb_of(skeleton, Goal.rotation("j4", unturned)) is None
    assert {kind.word for kind in METHODS["two-link"].serves} == {"position", "position+rotation"}


def test_goal_without_a_limb_leaves_the_pose_alone() -> None:
    case = Case(planar(2), [Goal.position("j1", (0.0, 0.5, 0.0))])
    before = case.state.x.copy()
    assert case.solve("two-link")[0] == STALLED
    np.testing.assert_array_equal(case.state.x, before)


def test_two_limbs_are_served_in_one_call() -> None:
    offsets = [(0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (1.0, 0.0, 0.0), (-0.2, 0.0, 0.0), (-1.0, 0.0, 0.0)]
    skeleton = rig([-1, 0, 1, 0, 3], offsets, [FIXED, *[BALL] * 4], tip=(-1.0, 0.0, 0.0))
    goals = [
        Goal.position("j4.tip", (-0.7, 0.8, 0.3)),
        Goal.position("j2", (0.9, 0.9, 0.2), offset=(1.0, 0.0, 0.0)),
    ]
    assert Case(skeleton, goals, tolerance=EXACT).solve("two-link")[0] == CONVERGED


def test_stiff_joints_still_reach_in_closed_form() -> None:
    offsets = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]
    skeleton = rig([-1, 0], offsets, [BALL, BALL], stiffness=np.array([0.5, 0.9]))
    case = Case(skeleton, [Goal.position("j1.tip", (0.4, 1.0, -0.3))], tolerance=EXACT)
    assert case.solve("two-link")[0] == CONVERGED
