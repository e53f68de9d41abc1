"""The solver's public face: its signature, its goals, and what a solution says."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace

import numpy as np
import pytest
from inside.ik import METHOD_NAMES, Backend, Options, holds
from inside.spatial import IDENTITY, angle_between, from_axis_angle, rotate
from method_cases import planar
from rigs import chain

import viewer
from viewer import Goal, Solver, Status

BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
WORLD = viewer.fk(BIPED, RELAXED)
HAND = BIPED.index("LeftHand")
BESIDE = WORLD.positions[HAND] + (0.1, 0.2, 0.1)
ABOVE = np.array([0.0, 0.05, 0.0])
METHODS = (
    "default", "two-link", "single-bone", "ccd", "ccd-from-base", "fabrik", "transpose", "pseudo-inverse", "dls",
    "sdls",
)  # fmt: skip
ITERATIVE = METHODS[3:]


def numpy_solver(skeleton: viewer.Skeleton, *goals: Goal, **options: object) -> Solver:
    return Solver(skeleton, goals, **{"backend": "numpy", **options})  # type: ignore[arg-type]  # by name


def test_signatures_are_the_contracts() -> None:
    options = {name: field.default for name, field in inspect.signature(Options).parameters.items()}
    wanted = {
        "method": "default", "limits": True, "backend": "auto", "root": "free", "tolerance_m": 1e-3,
        "tolerance_deg": 0.5, "max_iterations": 200, "restarts": True, "seed": 0, "natural": True,
    }  # fmt: skip
    assert {name: options[name] for name in wanted} == wanted
    assert list(inspect.signature(Solver).parameters)[:2] == ["skeleton", "goals"]
    assert list(inspect.signature(Solver.solve).parameters) == ["self", "pose", "targets", "target_rotations"]
    assert list(inspect.signature(Solver.solve_batch).parameters)[:3] == ["self", "poses", "targets"]
    assert list(inspect.signature(Solver.drag).parameters) == ["self", "pose"]
    assert METHOD_NAMES == METHODS
    assert [status.value for status in Status] == ["converged", "unreachable", "stalled", "diverged", "budget"]


@pytest.mark.usefixtures("kernels_not_ready")
def test_the_contracts_example() -> None:
    goals = [Goal.position("LeftHand", BESIDE), Goal.pin("RightFoot")]
    solver = Solver(
        BIPED, goals, method="default", limits=True, backend="auto", root="free",
        tolerance_m=1e-3, tolerance_deg=0.5, max_iterations=200, restarts=True, seed=0,
    )  # fmt: skip
    solution = solver.solve(RELAXED)
    assert solution.status == "converged"
    assert solution.backend == "numpy"
    assert (solution.unserved, solution.diagnosis, solution.start_outside) == ((), (), False)
    assert solution.iterations > 0
    assert solution.seconds > 0.0
    assert solution.errors_m.shape == solution.errors_deg.shape == (2,)
    assert (solution.errors_m <= 1e-3).all()
    assert math.isnan(solution.errors_deg[0])
    assert solution.errors_deg[1] <= 0.5
    world = viewer.fk(BIPED, solution.pose)
    foot = BIPED.index("RightFoot")
    assert np.linalg.norm(world.positions[HAND] - BESIDE) == pytest.approx(solution.errors_m[0], abs=1e-12)
    assert np.linalg.norm(world.positions[foot] - WORLD.positions[foot]) <= 1e-3
    assert np.degrees(angle_between(world.rotations[foot], WORLD.rotations[foot])) <= 0.5
    assert all(name in BIPED.names for name in solution.at_limit)


def test_joints_without_a_goal_below_them_are_as_they_were() -> None:
    pose = numpy_solver(BIPED, Goal.position("LeftHand", BESIDE), root="locked").solve(RELAXED).pose
    for name in ("RightUpLeg", "RightLeg", "Head", "RightForeArm"):
        joint = BIPED.index(name)
        assert pose.rotations[joint].tolist() == RELAXED.rotations[joint].tolist()
    assert pose.translations.tolist() == RELAXED.translations.tolist()


def test_goals_are_added_removed_and_retargeted() -> None:
    solver = numpy_solver(BIPED, Goal.position("LeftHand", BESIDE))
    solver.goals = (*solver.goals, Goal.position("Head", WORLD.positions[BIPED.index("Head")]))
    both = solver.solve(RELAXED)
    assert both.errors_m.shape == (2,)
    assert both.status is Status.CONVERGED
    moved = solver.solve(RELAXED, targets=[BESIDE + ABOVE, [np.nan] * 3])
    world = viewer.fk(BIPED, moved.pose)
    np.testing.assert_allclose(world.positions[HAND], BESIDE + ABOVE, atol=1e-3)
    np.testing.assert_allclose(world.positions[BIPED.index("Head")], WORLD.positions[BIPED.index("Head")], atol=1e-3)
    assert solver.solve(RELAXED).pose.same_as(both.pose)
    solver.goals = solver.goals[1:]
    assert solver.solve(RELAXED).pose.same_as(numpy_solver(BIPED, *solver.goals).solve(RELAXED).pose)


def test_goals_that_are_refused_leave_the_solver_as_it_was() -> None:
    solver = numpy_solver(BIPED, Goal.position("LeftHand", BESIDE))
    before = solver.solve(RELAXED)
    for goals in ([], [Goal.position("LeftHnad", BESIDE)]):
        with pytest.raises(viewer.InputError):
            solver.goals = goals
    assert len(solver.goals) == 1
    assert solver.solve(RELAXED).pose.same_as(before.pose)


def test_rows_without_that_part_are_left_as_they_are() -> None:
    turn = from_axis_angle((0.0, 1.0, 0.0), 0.2)
    goals = (Goal.position("LeftHand", BESIDE), Goal.rotation("Head", turn))
    solver = numpy_solver(BIPED, *goals)
    plain = solver.solve(RELAXED)
    places, turns = np.array([BESIDE, [np.inf, 0, 0]]), np.array([[0, 0, 0, 0], [np.nan] * 4])
    odd = solver.solve(RELAXED, targets=places, target_rotations=turns)
    assert odd.pose.same_as(plain.pose)


def test_targets_move_the_points_of_distances_and_aims() -> None:
    arm = chain(4)
    point = np.array([0.3, 0.5, 0.2])
    distance = numpy_solver(arm, Goal.distance("j3.tip", 0.25, (9, 9, 9))).solve(arm.rest_pose(), targets=[point])
    end = viewer.fk(arm, distance.pose).point(3, arm.tip_offsets[0])
    assert np.linalg.norm(end - point) == pytest.approx(0.25, abs=1e-3)
    aim = numpy_solver(arm, Goal.aim("j3", (9, 9, 9), (0, 0, 1))).solve(arm.rest_pose(), targets=[point])
    world = viewer.fk(arm, aim.pose)
    way = point - world.positions[3]
    cosine = rotate(world.rotations[3], np.array([0.0, 0.0, 1.0])) @ way / np.linalg.norm(way)
    assert cosine >= math.cos(math.radians(0.5))


def test_open_pins_hold_what_the_pose_has() -> None:
    solver = numpy_solver(BIPED, Goal.pin("RightHand"), Goal.position("LeftHand", BESIDE))
    hand = BIPED.index("RightHand")
    for start in (RELAXED, BIPED.rest_pose()):
        there, then = viewer.fk(BIPED, start), viewer.fk(BIPED, solver.solve(start).pose)
        np.testing.assert_allclose(then.positions[hand], there.positions[hand], atol=1e-3)
        assert np.degrees(angle_between(then.rotations[hand], there.rotations[hand])) <= 0.5


def test_the_heavier_of_two_conflicting_goals_wins() -> None:
    arm = chain(3)
    misses = []
    for weight in (1.0, 5.0, 25.0):
        goals = (Goal.position("j2.tip", (0.5, 0.5, 0)), Goal.position("j2.tip", (0.5, -0.5, 0), weight=weight))
        solution = numpy_solver(arm, *goals).solve(arm.rest_pose())
        assert solution.status in {Status.UNREACHABLE, Status.STALLED}
        assert any("conflict" in line for line in solution.diagnosis)
        misses.append(solution.errors_m.tolist())
    assert misses[0] == pytest.approx([0.5, 0.5], abs=0.01)
    assert misses[0][1] > misses[1][1] > misses[2][1]
    assert misses[2][1] < 0.05


def test_stiff_joints_move_less_and_rigid_ones_never() -> None:
    arm = chain(4)
    turned = []
    for stiffness in (0.0, 0.8, 1.0):
        stiff = replace(arm, stiffness=np.array([0.0, stiffness, 0.0, 0.0]))
        solution = numpy_solver(stiff, Goal.position("j3.tip", (0.4, 0.5, 0.1)), natural=False).solve(stiff.rest_pose())
        assert solution.status is Status.CONVERGED
        turned.append(float(angle_between(solution.pose.rotations[1], IDENTITY)))
    assert turned[0] > turned[1] > turned[2] == 0.0


@pytest.mark.parametrize("method", ["default", *ITERATIVE])
def test_what_roots_may_do(method: str) -> None:
    far = BESIDE + np.array([0.0, 0.0, 2.0])
    free = numpy_solver(BIPED, Goal.position("LeftHand", far), method=method).solve(RELAXED)
    slid = numpy_solver(BIPED, Goal.position("LeftHand", far), method=method, root="translate").solve(RELAXED)
    locked = numpy_solver(BIPED, Goal.position("LeftHand", far), method=method, root="locked").solve(RELAXED)
    assert np.linalg.norm(free.pose.translations[0] - RELAXED.translations[0]) > 0.5
    assert slid.pose.rotations[0].tolist() == RELAXED.rotations[0].tolist()
    assert np.linalg.norm(slid.pose.translations[0] - RELAXED.translations[0]) > 0.5
    assert locked.pose.translations[0].tolist() == RELAXED.translations[0].tolist()
    assert locked.pose.rotations[0].tolist() == RELAXED.rotations[0].tolist()
    assert locked.status is Status.UNREACHABLE
    if method == "default":
        assert free.status is slid.status is Status.CONVERGED


def test_what_the_goals_leave_free_stays_near_the_start() -> None:
    goals = (Goal.position("LeftHand", BESIDE), *holds(BIPED, RELAXED, [Goal.position("LeftHand", BESIDE)]))
    solution = numpy_solver(BIPED, *goals).solve(RELAXED)
    assert solution.status is Status.CONVERGED
    turned = np.degrees(angle_between(solution.pose.rotations, RELAXED.rotations))
    for name in ("RightLeg", "LeftLeg", "RightUpLeg", "LeftUpLeg", "RightForeArm", "Head"):
        assert turned[BIPED.index(name)] < 12.0, name


def test_a_goal_that_is_met_moves_nothing() -> None:
    for method in METHODS:
        solution = numpy_solver(BIPED, Goal.position("LeftHand", WORLD.positions[HAND]), method=method).solve(RELAXED)
        assert solution.status is Status.CONVERGED
        assert np.degrees(angle_between(solution.pose.rotations, RELAXED.rotations)).max() < 0.01, method


def test_exact_or_nothing() -> None:
    far = Goal.position("LeftHand", BESIDE + np.array([0.0, 0.0, 5.0]))
    near = numpy_solver(BIPED, Goal.position("LeftHand", BESIDE), root="locked", exact=True)
    assert near.solve(RELAXED).pose.same_as(numpy_solver(BIPED, near.goals[0], root="locked").solve(RELAXED).pose)
    for method in METHODS:
        solution = numpy_solver(BIPED, far, root="locked", exact=True, method=method).solve(RELAXED)
        assert solution.status is not Status.CONVERGED
        assert solution.pose.same_as(RELAXED)
        # What is said is said of the pose that is given back.
        there = np.linalg.norm(WORLD.positions[HAND] - np.array(far.target))
        assert solution.errors_m[0] == pytest.approx(there)
        assert solution.diagnosis


def test_exact_or_nothing_brings_a_start_inside_its_limits() -> None:
    arm = planar(3, 30.0)
    bent = viewer.Pose(from_axis_angle((0, 0, 1), np.array([1.0, 0.0, 0.0])), arm.offsets)
    solver = numpy_solver(arm, Goal.position("j2.tip", (-9.0, 0, 0)), exact=True)
    solution = solver.solve(bent)
    assert solution.start_outside
    np.testing.assert_allclose(angle_between(solution.pose.rotations, IDENTITY), [math.radians(30), 0, 0], atol=1e-9)
    many = solver.solve_batch([bent])
    assert many.pose(0).same_as(solution.pose)
    assert many.errors_m[0].tolist() == solution.errors_m.tolist()


def test_unreachable_gives_the_nearest_pose_and_stays_there() -> None:
    arm = chain(4)
    target = np.array([3.0, 4.0, 0.0])
    solver = numpy_solver(arm, Goal.position("j3.tip", target))
    solution = solver.solve(arm.rest_pose())
    assert solution.status is Status.UNREACHABLE
    assert solution.errors_m[0] == pytest.approx(4.0, abs=1e-3)
    assert "is 4000 mm short" in solution.diagnosis[0]
    again = solver.solve(solution.pose)
    assert np.degrees(angle_between(again.pose.rotations, solution.pose.rotations)).max() < 0.1
    drag = solver.drag(solution.pose)
    last = solution.pose
    for _ in range(20):
        pose = drag.move([target]).pose
        assert np.degrees(angle_between(pose.rotations, last.rotations)).max() < 0.1
        last = pose


def test_facing_exactly_away_turns_round() -> None:
    arm = chain(3)
    for method in ("default", *ITERATIVE, "single-bone"):
        if method == "fabrik":  # which knows places alone
            continue
        solution = numpy_solver(arm, Goal.aim("j2", (-5.0, 0.0, 0.0), (1, 0, 0)), method=method).solve(arm.rest_pose())
        assert solution.status is Status.CONVERGED, method
        assert solution.errors_deg[0] <= 0.5
        assert math.isnan(solution.errors_m[0])


def test_distance_and_aim_together() -> None:
    arm, point = chain(5), np.array([0.2, 0.6, 0.3])
    goals = (Goal.distance("j4.tip", 0.3, point), Goal.aim("j4.tip", point, (1, 0, 0)))
    solution = numpy_solver(arm, *goals).solve(arm.rest_pose())
    assert solution.status is Status.CONVERGED
    world = viewer.fk(arm, solution.pose)
    end = world.point(4, arm.tip_offsets[0])
    way = point - end
    assert np.linalg.norm(way) == pytest.approx(0.3, abs=1e-3)
    cosine = rotate(world.rotations[4], np.array([1.0, 0.0, 0.0])) @ way / np.linalg.norm(way)
    assert cosine >= math.cos(math.radians(0.5))


def test_function_goals_beside_built_in_ones() -> None:
    left, right = BIPED.index("LeftHand"), BIPED.index("RightHand")
    wanted = WORLD.positions[left] + (-0.05, 0.15, 0.1)
    goals = (
        Goal.function(lambda world: world.positions[right, 1] - world.positions[left, 1]),
        Goal.position("LeftHand", wanted),
    )
    solution = numpy_solver(BIPED, *goals).solve(RELAXED)
    assert solution.status is Status.CONVERGED
    world = viewer.fk(BIPED, solution.pose)
    assert world.positions[right, 1] == pytest.approx(world.positions[left, 1], abs=1.1e-3)
    np.testing.assert_allclose(world.positions[left], wanted, atol=1e-3)
    apart = abs(world.positions[right, 1] - world.positions[left, 1])
    assert solution.errors_m[0] == pytest.approx(apart, abs=1e-12)
    alone = numpy_solver(BIPED, *goals, method="ccd").solve(RELAXED)
    assert alone.unserved == ("function",)
    assert alone.errors_m[0] > 1e-3


def test_effectors_in_the_middle_and_offsets_of_goals() -> None:
    arm = chain(6)
    middle, end = (0.35, 0.3, 0.0), (0.3, 0.35, 0.4)
    goals = (Goal.position("j3", middle), Goal.position("j5.tip", end, offset=(0.0, 0.05, 0.0)))
    solution = numpy_solver(arm, *goals).solve(arm.rest_pose())
    assert solution.status is Status.CONVERGED
    world = viewer.fk(arm, solution.pose)
    np.testing.assert_allclose(world.positions[3], middle, atol=1e-3)
    np.testing.assert_allclose(world.point(5, arm.tip_offsets[0] + (0, 0.05, 0)), end, atol=1e-3)


def test_a_planar_arm_stays_in_its_plane() -> None:
    arm = planar(6, 120.0)
    random = np.random.default_rng(3)
    solver = numpy_solver(arm, Goal.position("j5.tip", (1, 1, 0)))
    for _ in range(5):
        angles = random.uniform(-1.2, 1.2, 6)
        hidden = viewer.Pose(from_axis_angle((0, 0, 1), angles), arm.offsets)
        target = viewer.fk(arm, hidden).point(5, arm.tip_offsets[0])
        solution = solver.solve(arm.rest_pose(), targets=[target])
        assert solution.status is Status.CONVERGED
        assert np.abs(solution.pose.rotations[:, :2]).max() == 0.0
        assert np.abs(viewer.fk(arm, solution.pose).positions[:, 2]).max() == 0.0
    beside = solver.solve(arm.rest_pose(), targets=[(2.0, 2.0, 0.5)])
    assert beside.errors_m[0] == pytest.approx(0.5, abs=1e-3)
    assert beside.status in {Status.UNREACHABLE, Status.STALLED}


def test_what_a_method_cannot_serve_it_names() -> None:
    goals = (Goal.position("LeftHand", BESIDE), Goal.rotation("Head", IDENTITY), Goal.distance("RightHand", 1, BESIDE))
    for method, unserved in (("two-link", ("Head", "RightHand")), ("single-bone", ("RightHand",)), ("dls", ())):
        assert numpy_solver(BIPED, *goals, method=method).solve(RELAXED).unserved == unserved
    assert numpy_solver(BIPED, Goal.position("LeftHand", BESIDE), method="two-link").solve(RELAXED).unserved == ()


def test_disabled_goals_ask_for_nothing() -> None:
    off = Goal.position("Head", (9, 9, 9), enabled=False)
    on = Goal.position("LeftHand", BESIDE)
    solution = numpy_solver(BIPED, off, on).solve(RELAXED)
    assert solution.status is Status.CONVERGED
    assert math.isnan(solution.errors_m[0])
    assert solution.pose.same_as(numpy_solver(BIPED, on).solve(RELAXED).pose)


def test_goals_that_only_move_solve_as_those_of_a_new_solver() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    pose = skeleton.relaxed_pose()
    before = [Goal.position("LeftHand", (0.4, 1.3, 0.4)), Goal.position("RightHand", (-0.4, 1.2, 0.3))]
    after = [Goal.position("LeftHand", (0.3, 1.1, 0.5)), Goal.position("RightHand", (-0.2, 1.5, 0.2))]
    kept = Solver(skeleton, before)
    kept.solve(pose)
    kept.goals = after
    again, fresh = kept.solve(pose), Solver(skeleton, after).solve(pose)
    assert np.array_equal(again.pose.rotations, fresh.pose.rotations)
    kept.goals = [after[0], replace(after[1], weight=3.0)]
    weighed = Solver(skeleton, kept.goals)
    assert np.array_equal(kept.prepared.assembly.system.goal_weight, weighed.prepared.assembly.system.goal_weight)


def test_new_weights_give_what_a_new_solver_gives() -> None:
    goals = [
        Goal.position("LeftHand", BESIDE, level=0),
        Goal.pose("Head", BESIDE + ABOVE, (0, 0, 0, 1)),
        Goal.pin("RightFoot"),
    ]
    solver = numpy_solver(BIPED, *goals)
    for weight in (3.0, 1e-3, 1e4):
        changed = [replace(goals[0], weight=weight), replace(goals[1], rotation_weight=2.0 * weight), goals[2]]
        solver.goals = changed
        new = numpy_solver(BIPED, *changed)
        system, other = solver.prepared.assembly.system, new.prepared.assembly.system
        for field, kept, made in zip(system._fields, system, other, strict=True):
            if isinstance(kept, np.ndarray):
                np.testing.assert_array_equal(kept, made, err_msg=field)
        assert solver.solve(RELAXED).pose.same_as(new.solve(RELAXED).pose)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_arrays_that_are_kept_for_other_targets_and_weights_give_the_bits_of_new_ones(backend: Backend) -> None:
    solver = Solver(
        BIPED,
        [Goal.position("LeftHand", BESIDE), Goal.pin("RightFoot"), Goal.pose("Head", BESIDE, IDENTITY)],
        backend=backend,
    )
    drag, started = solver.drag(RELAXED), Solver(BIPED, solver.goals, backend=backend).drag(RELAXED)
    for step, weight in enumerate((2.0, 0.3, 2.0)):
        place = BESIDE + 0.1 * step
        # A pin has the place of its joint, or one of its own, and then that of its joint again.
        foot = Goal.pin("RightFoot") if step != 1 else Goal.pin("RightFoot", (0.1, 0.1, 0.1))
        solver.goals = [Goal.position("LeftHand", place, weight=weight), foot, Goal.pose("Head", BESIDE, IDENTITY)]
        new = Solver(BIPED, solver.goals, backend=backend)
        assert solver.solve(RELAXED).pose.same_as(new.solve(RELAXED).pose)
        # A drag keeps the goals that it began with.
        there = np.array([place, (np.nan,) * 3, BESIDE + ABOVE])
        assert drag.move(there).pose.same_as(started.move(there).pose)


def test_another_solver_with_other_goals_is_like_one_made_anew_and_leaves_the_first_alone() -> None:
    goals, others = [Goal.position("LeftHand", BESIDE)], [Goal.position("RightHand", BESIDE), Goal.pin("LeftFoot")]
    first = numpy_solver(BIPED, *goals, restarts=False)
    before = first.solve(RELAXED)
    second = first.with_goals(others)
    expected = numpy_solver(BIPED, *others, restarts=False).solve(RELAXED)
    assert second.solve(RELAXED).pose.same_as(expected.pose)
    assert second.options == first.options
    assert first.goals == tuple(goals)
    assert first.solve(RELAXED).pose.same_as(before.pose)
    with pytest.raises(viewer.InputError, match="a solver needs at least one goal"):
        first.with_goals([])


def test_where_restarts_stall_other_seeds_are_tried() -> None:
    """They were only for goals that leave no degree of freedom: *goals conflict* was said of these."""
    skeleton = viewer.load("sample:claw-arm").skeleton
    random = np.random.default_rng(142)
    lower, upper = viewer.coordinate_limits(skeleton)
    unlimited = ~np.isfinite(lower)
    lower, upper = np.where(unlimited, -1.0, lower), np.where(unlimited, 1.0, upper)
    world = viewer.fk(skeleton, viewer.pose_at(skeleton, random.uniform(lower, upper)))
    goals = []
    for one in skeleton.effectors:
        if one.goal.value == "off":
            continue
        place, turn = world.point(one.joint, one.offset), world.rotations[one.joint]
        goals.append(Goal.pose(one.name, place, turn) if random.random() < 0.4 else Goal.position(one.name, place))
    solver = numpy_solver(skeleton, *goals)
    assert solver.solve(skeleton.relaxed_pose()).status is Status.CONVERGED
    assert solver.solve_batch(skeleton.relaxed_pose()).status.tolist() == [Status.CONVERGED]


@pytest.mark.parametrize("far", [0.3, 5.0, 100.0, 1e5])
@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (0.6, 0.0, 0.8)])
def test_a_base_on_slides_without_ends_goes_anywhere_at_once(far: float, axis: tuple[float, float, float]) -> None:
    """It took hundreds of short steps, and 100 m were called too far. The slides need not be square to each other."""
    builder = viewer.Builder(name="base")
    builder.add("x", None, (0, 0, 0), kind="slide", axis=(1, 0, 0))
    builder.add("z", "x", (0, 0, 0), kind="slide", axis=axis)
    builder.add("yaw", "z", (0, 0, 0), kind="hinge", axis=(0, 1, 0))
    builder.add("shoulder", "yaw", (0, 0.5, 0), kind="hinge", axis=(0, 0, 1))
    builder.add("elbow", "shoulder", (0.3, 0, 0), kind="hinge", axis=(0, 0, 1))
    builder.effector("hand", "elbow", (0.3, 0, 0))
    skeleton = builder.skeleton
    world = viewer.fk(skeleton, viewer.pose_at(skeleton, (far, -0.5 * far, 1.0, 0.5, -1.0)))
    goals = Goal.position("hand", world.point(4, (0.3, 0, 0))), Goal.position("elbow", world.positions[4])
    solution = numpy_solver(skeleton, *goals).solve(skeleton.rest_pose())
    assert solution.status is Status.CONVERGED
    assert solution.iterations < 10


@pytest.mark.parametrize("far", [0.3, 5.0, 100.0, 1e5])
@pytest.mark.parametrize("between", ["a slide that follows", "a slide that is locked", "a slide with ends"])
def test_a_base_goes_anywhere_at_once_whatever_slides_there_are_besides(far: float, between: str) -> None:
    """Such slides counted as if they had no ends themselves: the base was not carried, and 100 m were too far."""
    builder = viewer.Builder(name="base")
    builder.add("x", None, (0, 0, 0), kind="slide", axis=(1, 0, 0))
    if between == "a slide that follows":
        builder.add("more", "x", (0, 0, 0), kind="slide", axis=(1, 0, 0)).mimic("more", "x", 1.0, 0.2)
    elif between == "a slide that is locked":
        builder.add("more", "x", (0, 0, 0), kind="slide", axis=(0, 0, 1), stiffness=1.0)
    else:
        builder.add("more", "x", (0, 0, 0), kind="slide", axis=(0, 0, 1), limits=(-0.1, 0.1))
    builder.add("yaw", "more", (0, 0, 0), kind="hinge", axis=(0, 1, 0))
    builder.add("elbow", "yaw", (0.3, 0, 0), kind="hinge", axis=(0, 0, 1))
    builder.effector("hand", "elbow", (0.3, 0, 0))
    skeleton = builder.skeleton
    more = {"a slide that follows": far + 0.2, "a slide that is locked": 0.0, "a slide with ends": 0.05}[between]
    world = viewer.fk(skeleton, viewer.pose_at(skeleton, (far, more, 1.0, -1.0)))
    solution = numpy_solver(skeleton, Goal.position("hand", world.point(3, (0.3, 0, 0)))).solve(skeleton.rest_pose())
    assert solution.status is Status.CONVERGED
    assert solution.iterations < 20
