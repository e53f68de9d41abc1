"""Dragging: warm steps without restarts or pops, out and back to the same pose, and the way out of a trap."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.ik import MethodName, holds, prebent
from inside.spatial import angle_between, from_axis_angle
from method_cases import planar
from rigs import chain
from sessions import QUICK

import viewer
from viewer import Goal, Solver, Status
from viewer.skeleton import JointLimits, Pose

if TYPE_CHECKING:
    from inside.ik import Drag
    from inside.spatial import Floats

BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
PLACES = viewer.fk(BIPED, RELAXED).positions
AT = (0.5, 0.5, 0.0)
TIP = Goal.position("j3.tip", AT)


def degrees_between(one: Pose, other: Pose) -> float:
    """Of the joint that turned most."""
    return float(np.degrees(angle_between(one.rotations, other.rotations)).max())


def dragged(effector: str, start: Pose = RELAXED) -> tuple[Drag, Floats]:
    """A drag of one effector of the biped with all others held, and where it stands."""
    place = viewer.fk(BIPED, start).positions[BIPED.index(effector)]
    goal = Goal.position(effector, place)
    solver = Solver(BIPED, [goal, *holds(BIPED, start, [goal])], backend=QUICK)
    return solver.drag(start), place


def hyperextending(lower: float, upper: float, others: int = 1) -> viewer.Skeleton:
    """Hinges in a plane; the outer two between these degrees, straight at 0."""
    limits = JointLimits.coordinates((math.radians(lower), math.radians(upper)))
    arm = planar(others + 2, 120.0)
    return replace(arm, limits=(*arm.limits[:others], limits, limits))


def rows(place: Floats) -> Floats:
    """Targets of a call: the first goal's, the four others left as they are."""
    return np.array([place, *[[np.nan] * 3] * 4])


def out_and_back(drag: Drag, place: Floats, way: Floats, frames: int = 30) -> float:
    """Degrees that the pose is off after a line out and back and 30 still frames."""
    there = np.sin(np.linspace(0.0, math.pi, 2 * frames))
    last = drag.start
    for part in [*there.tolist(), *[0.0] * 30]:
        solution = drag.move(rows(place + part * way), iterations=2)
        assert degrees_between(solution.pose, last) < 15.0
        assert solution.iterations <= 2
        last = solution.pose
    return degrees_between(last, drag.start)


def test_out_and_back_comes_back() -> None:
    random = np.random.default_rng(5)
    left = []
    for effector in ("LeftHand", "RightHand", "LeftFoot", "Head"):
        for _ in range(2):
            way = random.normal(size=3)
            drag, place = dragged(effector)
            left.append(out_and_back(drag, place, 0.2 * way / np.linalg.norm(way)))
    assert np.median(left) < 0.5, left
    assert max(left) < 5.0, left


def looped(way: Floats, across: Floats) -> list[Pose]:
    """The poses of a loop of one tip of the claw, while the two others hold, and of still frames at its end."""
    claw, tips = viewer.load("sample:claw-arm").skeleton, ("claw_a", "claw_b", "claw_c")
    start = claw.relaxed_pose()
    world, claws = viewer.fk(claw, start), [effector for effector in claw.effectors if effector.name in tips]
    places = [world.point(effector.joint, np.array(effector.offset)) for effector in claws]
    drag = Solver(claw, [Goal.position(tip, (0, 0, 0)) for tip in tips], backend=QUICK).drag(start)
    poses = [start]
    for angle in [*np.linspace(0.0, 2.0 * math.pi, 41).tolist(), *[0.0] * 50]:
        targets = np.array(places)
        targets[0] += 0.1 * ((1.0 - math.cos(angle)) * way + math.sin(angle) * across)
        poses.append(drag.move(targets, iterations=2).pose)
    return poses


def test_a_loop_comes_back_even_if_the_chain_has_folded_the_other_way() -> None:
    random = np.random.default_rng(3)
    farthest = 0.0
    for _ in range(5):
        way, across = np.linalg.qr(random.normal(size=(3, 2)))[0].T
        poses = looped(way, across)
        farthest = max(farthest, degrees_between(poses[42], poses[0]))
        assert degrees_between(poses[-1], poses[0]) < 0.01
    assert farthest > 30.0  # it is not the pull alone that leads back


def test_a_straight_finger_is_bent_the_way_that_is_free_and_straight_again_at_home() -> None:
    finger = hyperextending(-80.0, 5.0, others=3)
    start = Pose(from_axis_angle((0, 0, 1), np.array([0.9, -0.8, -0.7, 0.0, 0.0])), finger.offsets)
    place = viewer.fk(finger, start).point(4, finger.tip_offsets[0])
    drag = Solver(finger, [Goal.position("j4.tip", (0, 0, 0))], backend=QUICK).drag(start)
    aside = np.array([0.05, 0.05, 0.0])
    for part in np.linspace(0.0, 1.0, 40).tolist():
        away = drag.move([place + part * aside]).pose
    assert (2.0 * np.degrees(np.arctan2(away.rotations[3:, 2], away.rotations[3:, 3])) < -2.0).all()
    for part in [*np.linspace(1.0, 0.0, 40).tolist(), *[0.0] * 15]:
        back = drag.move([place + part * aside]).pose
    assert degrees_between(back, start) < 0.01


@pytest.mark.parametrize(
    ("lower", "upper", "drawn"), [(-80, 5, -10), (-5, 80, 10), (0, 80, 0), (-40, 40, 0), (-5, 5, 0)]
)
def test_what_may_bend_either_way_is_drawn_the_way_that_is_free(lower: float, upper: float, drawn: float) -> None:
    solver = Solver(hyperextending(lower, upper), [Goal.position("j2.tip", (1, 0, 0))], backend="numpy")
    np.testing.assert_allclose(np.degrees(prebent(solver.prepared.assembly.system, np.zeros(3))[1:]), drawn)


def test_a_drag_that_rests_elsewhere_stays_there() -> None:
    drag, place = dragged("LeftHand")
    for part in np.linspace(0.0, 1.0, 20):
        drag.move(rows(place + part * np.array([0.1, 0.1, 0.05])))
    still = [drag.move(rows(place + np.array([0.1, 0.1, 0.05]))).pose for _ in range(80)]
    assert degrees_between(still[-1], still[-2]) < 0.01
    assert degrees_between(still[-1], drag.start) > 1.0


def test_a_drag_out_of_reach_and_back_is_smooth() -> None:
    drag, place = dragged("LeftHand")
    out_and_back(drag, place, np.array([0.9, 0.4, 0.3]), frames=120)
    still = drag.move(rows(place + np.array([3.0, 0.0, 0.0])), iterations=30).pose
    for _ in range(60):
        still = drag.move(rows(place + np.array([3.0, 0.0, 0.0])), iterations=2).pose
    after = drag.move(rows(place + np.array([3.0, 0.0, 0.0])), iterations=2).pose
    assert degrees_between(still, after) < 0.1


def out_of_reach(name: str) -> tuple[Solver, Pose]:
    """All effectors of a sample half a metre farther from the root than it can reach, and where to begin."""
    skeleton = viewer.load(f"sample:{name}").skeleton
    start = skeleton.relaxed_pose()
    world = viewer.fk(skeleton, start)
    goals = []
    for effector in skeleton.effectors:
        place = world.point(effector.joint, np.array(effector.offset))
        away = place - world.positions[0]
        goals.append(Goal.position(effector.name, place + 0.5 * away / np.linalg.norm(away)))
    return Solver(skeleton, goals, backend=QUICK), start


@pytest.mark.parametrize(("name", "iterations"), [("biped", 1), ("claw-arm", 2), ("biped-hands", 2)])
def test_held_out_of_reach_it_comes_to_rest(name: str, iterations: int) -> None:
    solver, start = out_of_reach(name)
    drag = solver.drag(start)
    poses = [drag.move(iterations=iterations).pose for _ in range(110 // iterations)]
    assert drag.solution is not None
    assert drag.solution.status is not Status.CONVERGED
    assert max(degrees_between(one, poses[-1]) for one in poses[-20:]) < 0.1


@pytest.mark.parametrize("name", ["biped", "claw-arm", "biped-hands"])
def test_a_solve_from_the_nearest_pose_stays_there(name: str) -> None:
    solver, start = out_of_reach(name)
    nearest = solver.solve(start)
    again = solver.solve(nearest.pose)
    assert nearest.status is not Status.CONVERGED
    assert nearest.iterations <= 200
    assert degrees_between(again.pose, nearest.pose) < 0.1
    assert np.abs(again.pose.translations - nearest.pose.translations).max() < 1e-3


def test_a_slow_drag_follows() -> None:
    drag, place = dragged("RightHand")
    for part in np.linspace(0.0, 1.0, 25):
        solution = drag.move(rows(place + part * np.array([-0.05, 0.25, 0.15])), iterations=4)
    assert solution.status is Status.CONVERGED
    assert (solution.errors_m[np.isfinite(solution.errors_m)] <= 1e-3).all()


def test_a_step_has_at_most_so_many_iterations_and_no_restart() -> None:
    drag = Solver(chain(4), [TIP], backend=QUICK).drag(chain(4).rest_pose())
    for iterations in (1, 2, 7):
        assert drag.move([(0.1 * iterations, 0.6, 0.0)], iterations=iterations).iterations <= iterations
    bad: list[Any] = [0, -1, 1.5, True]
    for few in bad:
        with pytest.raises(viewer.InputError, match=r"^iterations: expected a whole number, 1 or more, found "):
            drag.move(iterations=few)


def test_without_targets_it_goes_to_the_goals_own() -> None:
    arm = chain(4)
    drag = Solver(arm, [TIP], backend=QUICK).drag(arm.rest_pose())
    for _ in range(12):
        solution = drag.move()
    assert solution is drag.solution
    np.testing.assert_allclose(viewer.fk(arm, solution.pose).point(3, arm.tip_offsets[0]), AT, atol=1e-3)


@pytest.mark.parametrize("method", ["ccd", "dls", "sdls", "transpose", "pseudo-inverse", "two-link"])
def test_every_method_can_be_dragged(method: MethodName) -> None:
    arm = planar(2)
    solver = Solver(arm, [Goal.position("j1.tip", (1.5, 0.5, 0.0))], method=method, backend=QUICK)
    drag = solver.drag(arm.rest_pose())
    for _ in range(30):
        solution = drag.move([(1.2, 0.7, 0.0)], iterations=3)
        assert solution.iterations <= 3
    assert solution.errors_m[0] < 0.05


def test_pins_hold_what_the_drag_began_with() -> None:
    solver = Solver(BIPED, [Goal.position("LeftHand", (0, 0, 0)), Goal.pin("RightFoot")], backend=QUICK)
    drag = solver.drag(RELAXED)
    hand, foot = PLACES[BIPED.index("LeftHand")], BIPED.index("RightFoot")
    for part in np.linspace(0.0, 0.3, 20):
        pose = drag.move([hand + np.array([0.0, part, part]), [np.nan] * 3], iterations=4).pose
    np.testing.assert_allclose(viewer.fk(BIPED, pose).positions[foot], PLACES[foot], atol=1e-3)


def test_other_solves_and_other_goals_meanwhile_do_not_disturb_a_drag() -> None:
    arm = chain(4)
    alone, other = (Solver(arm, [TIP], backend=QUICK) for _ in range(2))
    one, two = alone.drag(arm.rest_pose()), other.drag(arm.rest_pose())
    for step in range(10):
        target = [(0.6 - 0.03 * step, 0.1 * step, 0.05)]
        pose = one.move(target).pose
        other.solve(arm.rest_pose(), targets=[(0.0, 0.0, 0.9)] * len(other.goals))
        if step == 5:
            other.goals = [Goal.position("j1", (1, 0, 0)), Goal.rotation("j2", (0, 0, 0, 1))]
        assert two.move(target).pose.same_as(pose)


def trapped() -> tuple[Drag, Floats]:
    """A planar arm with limits that has locked up on its way to a reachable target."""
    arm = planar(4, 45.0)
    random = np.random.default_rng(1)
    for _ in range(200):
        start, end = (Pose(from_axis_angle((0, 0, 1), random.uniform(-0.785, 0.785, 4)), arm.offsets) for _ in range(2))
        target = viewer.fk(arm, end).point(3, arm.tip_offsets[0])
        drag = Solver(arm, [Goal.position("j3.tip", (0, 0, 0))], backend=QUICK).drag(start)
        for _ in range(60):
            drag.move([target], iterations=2)
        assert drag.solution is not None
        if drag.solution.errors_m[0] > 0.05:
            return drag, target
    pytest.skip("no drag of these locks up")


def test_escape_is_offered_where_a_drag_stalls() -> None:
    drag, target = trapped()
    stalled = drag.solution
    assert stalled is not None
    escaped = drag.escape()
    assert escaped is not None
    assert escaped.status is Status.CONVERGED
    arm = planar(4, 45.0)
    np.testing.assert_allclose(viewer.fk(arm, escaped.pose).point(3, arm.tip_offsets[0]), target, atol=1e-3)
    # Without taking it, one goes on where the drag was.
    assert drag.solution is stalled
    assert degrees_between(drag.move([target], iterations=2).pose, stalled.pose) < 1.0


def test_no_escape_is_offered_where_none_is_needed_or_there_is_none() -> None:
    arm = chain(4)
    drag = Solver(arm, [TIP], backend=QUICK).drag(arm.rest_pose())
    assert drag.escape() is None
    for _ in range(15):
        drag.move()
    assert drag.solution is not None
    assert drag.solution.status is Status.CONVERGED
    assert drag.escape() is None
    for _ in range(15):
        drag.move([(3.0, 0.0, 0.0)])
    assert drag.escape() is None


def test_a_drag_comes_to_rest_by_the_goals_that_it_began_with() -> None:
    hands = ("LeftHand", "RightHand")
    goals = [Goal.position(hand, PLACES[BIPED.index(hand)] + (0.0, 0.1, 0.1)) for hand in hands]

    def rest(later: list[Goal] | None) -> viewer.Solution:
        solver = Solver(BIPED, goals, preferred=BIPED.rest_pose(), preferred_weight=0.5, backend="numpy")
        drag = solver.drag(RELAXED)
        for _ in range(60):
            drag.move()
        if later is not None:
            solver.goals = later
        found = drag.rest()
        assert found is not None
        return found

    assert rest([replace(goal, weight=9.0) for goal in goals]).pose.same_as(rest(None).pose)
