"""Goals for a pole: an elbow or a knee points towards a point, about the line between the ends of its limb."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from inside.formats import goals_file_from_text, goals_to_json
from inside.ik import KINDS, Backend, swivel_circle
from inside.opengl import marks_of
from rigs import problem, random_pose, random_skeleton
from test_rows import assert_rows_agree
from ui_person import Person

import viewer
from viewer import Goal, Solver
from viewer.document import Item, actions as act, new_document
from viewer.errors import FormatError, InputError
from viewer.scene import Mark
from viewer.session import Session
from viewer.skeleton import Builder, Character, Pose, Skeleton, World, fk
from viewer.ui import Controller

BIPED = viewer.load("skeletons/biped.json").skeleton
RELAXED = BIPED.relaxed_pose()
WORLD = fk(BIPED, RELAXED)
BACKENDS: tuple[Backend, ...] = ("numpy", "numba")
FEET = [Goal.pin("LeftFoot"), Goal.pin("RightFoot")]
Vector = np.ndarray[Any, np.dtype[np.float64]]


def swivel(world: World, skeleton: Skeleton, joints: tuple[str, str, str], pole: Vector) -> float:
    """Radians about the line from the first to the last joint between the pole and the middle one, by projections."""
    start, middle, end = (np.array(world.positions[skeleton.index(name)]) for name in joints)
    line = (end - start) / np.linalg.norm(end - start)
    flat = [v - line * (v @ line) for v in (middle - start, pole - start)]
    a, b = (v / np.linalg.norm(v) for v in flat)
    return math.acos(float(np.clip(a @ b, -1.0, 1.0)))


def around(start: Vector, end: Vector, angle: float) -> Vector:
    line = (end - start) / np.linalg.norm(end - start)
    one = np.cross(line, (0.0, 1.0, 0.3))
    one = one / np.linalg.norm(one)
    other = np.cross(line, one)
    return np.asarray(0.5 * (start + end) + math.cos(angle) * one + math.sin(angle) * other)


@pytest.mark.parametrize("seed", range(12))
def test_its_row_is_the_derivative_of_its_residual_in_both_backends(seed: int) -> None:
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, 12)
    goals = []
    for name in skeleton.names:
        goal = Goal.pole(name, random.normal(size=3), rotation_weight=random.uniform(0.5, 2.0))
        try:
            Solver(skeleton, [goal])
        except InputError:
            continue
        goals.append(goal)
    if not goals:
        pytest.skip("no joint between two bones")
    goals = [*goals[:3], Goal.position(skeleton.names[-1], random.normal(size=3))]
    assert_rows_agree(problem(skeleton, goals, random_pose(random, skeleton)))


ARM, LEG = ("LeftArm", "LeftForeArm", "LeftHand"), ("RightUpLeg", "RightLeg", "RightFoot")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("limb", "at"), [(ARM, (0.3, 1.2, 0.35)), (ARM, (0.45, 1.3, 0.1)), (LEG, (-0.1, 0.3, 0.2))])
def test_the_limb_turns_to_its_pole_from_anywhere_and_keeps_its_end(
    limb: tuple[str, str, str], at: tuple[float, float, float], backend: Backend
) -> None:
    start, end = np.array(WORLD.positions[BIPED.index(limb[0])]), np.array(at)
    for degrees in range(-180, 180, 45):
        pole = around(start, end, math.radians(degrees))
        goals = [Goal.position(limb[2], end), Goal.pole(limb[1], pole), *(FEET if limb is ARM else FEET[:1])]
        solution = Solver(BIPED, goals, limits=False, backend=backend).solve(RELAXED)
        assert solution.status == "converged", degrees
        world = fk(BIPED, solution.pose)
        assert np.linalg.norm(world.positions[BIPED.index(limb[2])] - end) < 1e-3
        assert math.degrees(swivel(world, BIPED, limb, pole)) < 0.5
        assert solution.errors_deg[1] == pytest.approx(math.degrees(swivel(world, BIPED, limb, pole)), abs=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_straight_limb_is_not_bent_for_it(backend: Backend) -> None:
    straight = Solver(BIPED, [Goal.bend("LeftLeg", 0.0)]).solve(RELAXED).pose
    solution = Solver(BIPED, [Goal.bend("LeftLeg", 0.0), Goal.pole("LeftLeg", (0.0, 0.5, 3.0))], backend=backend).solve(
        straight
    )
    assert solution.status == "converged"
    assert solution.errors_deg[0] < 0.5


@pytest.mark.parametrize("backend", BACKENDS)
def test_beside_a_straight_arm_a_bent_one_still_finds_its_pole(backend: Backend) -> None:
    rest = BIPED.rest_pose()  # both arms straight out
    start = np.array(fk(BIPED, rest).positions[BIPED.index("LeftArm")])
    end = start + np.array((0.3, -0.1, 0.2))
    pole = around(start, end, 1.0)
    goals = [Goal.position("LeftHand", end), Goal.pole("LeftForeArm", pole), *FEET]
    solution = Solver(BIPED, goals, limits=False, backend=backend).solve(rest)
    assert solution.status == "converged"
    assert math.degrees(swivel(fk(BIPED, solution.pose), BIPED, ARM, pole)) < 0.5


def test_backends_agree() -> None:
    goals = [Goal.position("LeftHand", (0.3, 1.2, 0.35)), Goal.pole("LeftForeArm", (1.0, 0.5, -0.5)), *FEET]
    one, two = (Solver(BIPED, goals, backend=backend).solve(RELAXED) for backend in BACKENDS)
    assert one.iterations == two.iterations
    assert np.abs(one.pose.rotations - two.pose.rotations).max() < 1e-9


def test_batches_and_drags_follow_it() -> None:
    hand = np.array((0.3, 1.2, 0.35))
    start = np.array(WORLD.positions[BIPED.index("LeftArm")])
    goals = [Goal.position("LeftHand", hand), Goal.pole("LeftForeArm", around(start, hand, 0.0)), *FEET]
    solver = Solver(BIPED, goals, backend="numba", limits=False)
    poles = [around(start, hand, angle) for angle in np.linspace(0.0, 3.0, 40)]
    nothing = [[np.nan] * 3] * 2
    batch = solver.solve_batch([RELAXED] * 40, np.array([[hand, pole, *nothing] for pole in poles]))
    assert {status.value for status in batch.status} == {"converged"}
    drag = solver.drag(solver.solve(RELAXED).pose)
    largest = 0.0
    before = drag.start
    for pole in poles:
        solution = drag.move(np.array([hand, pole, *nothing]))
        turned = np.abs(np.sum(solution.pose.rotations * before.rotations, axis=1)).clip(0, 1)
        largest = max(largest, math.degrees(float(2.0 * np.arccos(turned.min()))))
        before = solution.pose
    assert solution.status == "converged"
    assert largest < 15.0


def test_whatever_the_size_of_the_figure() -> None:
    counts = []
    for size in (1e-3, 1.0, 1e3):
        skeleton = viewer.load("skeletons/biped.json").skeleton
        scaled = replace(skeleton, offsets=skeleton.offsets * size, tip_offsets=skeleton.tip_offsets * size)
        pose = Pose(RELAXED.rotations, RELAXED.translations * size)
        goals = [
            Goal.position("LeftHand", np.array((0.3, 1.2, 0.35)) * size),
            Goal.pole("LeftForeArm", np.array((1.0, 0.5, -0.5)) * size),
        ]
        solution = Solver(scaled, goals, tolerance_m=1e-3 * size, limits=False).solve(pose)
        assert solution.status == "converged"
        counts.append(solution.iterations)
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("where", ["on the line", "at the joint", "at the origin", "far out"])
def test_poles_that_say_nothing_or_are_far_out_are_harmless(where: str) -> None:
    start, elbow, hand = (np.array(WORLD.positions[BIPED.index(name)]) for name in ARM)
    point = {
        "on the line": 0.5 * (start + hand), "at the joint": elbow, "at the origin": np.zeros(3),
        "far out": np.array((1e12, 0.0, 0.0)),
    }[where]  # fmt: skip
    goals = [Goal.position("LeftHand", hand + np.array((0.05, 0.1, 0.05))), Goal.pole("LeftForeArm", point), *FEET]
    for backend in BACKENDS:
        solution = Solver(BIPED, goals, backend=backend).solve(RELAXED)
        assert np.isfinite(solution.pose.rotations).all()
        assert np.isfinite(solution.errors_deg[1])
        assert solution.errors_m[0] < 1e-3


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ("Hips", 'pole goal for "Hips": expected a joint between two bones, found a root'),
        ("Head.tip", 'pole goal for "Head.tip": expected a joint between two bones, found a point beside its joint'),
    ],
)
def test_what_is_no_joint_of_a_limb_is_refused(joint: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Solver(BIPED, [Goal.pole(joint, (0, 0, 1))])
    assert str(caught.value) == message
    with pytest.raises(FormatError) as refused:
        goals_file_from_text(json.dumps({"goals": [{"pole": joint, "toward": [0, 0, 1]}]}), "g.json", BIPED)
    assert str(refused.value) == f"g.json: goals[0]: {message}"


def test_methods_that_turn_bodies_whole_name_it() -> None:
    goals = [Goal.pole("LeftForeArm", (0.0, 1.0, 3.0))]
    assert Solver(BIPED, goals, method="ccd").solve(RELAXED).unserved == ("LeftForeArm",)
    for method in ("dls", "sdls", "pseudo-inverse", "transpose"):
        solution = Solver(BIPED, goals, method=method, limits=False).solve(RELAXED)
        assert solution.unserved == ()
        assert solution.errors_deg[0] < 0.5


def test_files_hold_it() -> None:
    (goal,) = goals_file_from_text(
        '{"version": 2, "goals": [{"pole": "LeftForeArm", "toward": [0, 1, -1]}]}', "f", BIPED
    ).goals
    assert goal == Goal.pole("LeftForeArm", (0.0, 1.0, -1.0))
    written = json.loads(goals_to_json((goal,)))
    assert written["version"] == 2
    assert written["goals"] == [{"pole": "LeftForeArm", "toward": [0, 1, -1]}]
    with pytest.raises(FormatError) as caught:
        goals_file_from_text('{"version": 2, "goals": [{"pole": "LeftForeArm"}]}', "g.json", BIPED)
    assert str(caught.value) == 'g.json: goals[0]: expected "toward" beside "pole", found none'


def test_a_pole_of_another_limb_than_an_arm_or_leg_is_about_the_two_bones_at_the_joint() -> None:
    chain = viewer.load("sample:chain-4").skeleton
    start = chain.rest_pose()
    tip = np.array(fk(chain, start).positions[-1]) * 0.6 + (0.2, 0.0, 0.1)
    goals = [Goal.position(chain.names[-1], tip), Goal.pole(chain.names[2], (0.0, 1.0, 5.0))]
    solution = Solver(chain, goals, limits=False).solve(start)
    assert solution.status == "converged"
    pole = np.array((0.0, 1.0, 5.0))
    limb = (chain.names[1], chain.names[2], chain.names[3])
    assert math.degrees(swivel(fk(chain, solution.pose), chain, limb, pole)) < 0.5


def test_its_mark_is_the_joint_and_the_pole() -> None:
    goal = Goal.pole("LeftForeArm", (0.0, 1.0, -2.0))
    (mark,) = marks_of([goal], BIPED, WORLD)
    assert np.allclose(mark.position, WORLD.positions[BIPED.index("LeftForeArm")])
    assert mark.target is not None
    assert np.allclose(mark.target, (0.0, 1.0, -2.0))
    met = KINDS["pole"].missed(goal, BIPED, WORLD)
    assert math.isnan(met[0])
    assert met[1] > 1.0


# The window


def test_a_new_pole_is_met_and_stands_before_the_joint() -> None:
    session = Session(new_document(viewer.load("sample:biped")))
    session.dispatch(act.MakeEffector("RightLeg"))
    session.dispatch(act.SetGoalKind("RightLeg", "pole"))
    goal = session.document.goal("RightLeg")
    knee = np.array(fk(session.document.skeleton, session.document.pose).positions[BIPED.index("RightLeg")])
    assert goal.position is not None
    away = np.array(goal.position) - knee
    assert 0.2 < np.linalg.norm(away) < 0.6
    assert away[2] > 0.9 * np.linalg.norm(away)
    assert session.errors["RightLeg"].reached


@pytest.mark.parametrize("chosen", ["LeftHand", "LeftForeArm", "LeftShoulder"])
def test_the_command_adds_it_to_the_limb_of_what_is_selected_in_one_step(chosen: str) -> None:
    controller = Controller(Session(new_document(viewer.load("sample:biped"))))
    session = controller.session
    session.dispatch(act.Select((Item("effector" if chosen == "LeftHand" else "joint", chosen),)))
    before = session.document
    controller.run("goal.add_pole")
    assert session.document.goal("LeftForeArm").kind == "pole"
    assert [goal.id for goal in session.document.goals if goal.id not in {g.id for g in before.goals}] == [
        "LeftForeArm"
    ]
    session.undo()
    assert session.document.goals == before.goals


def pole_mark(controller: Controller) -> Mark | None:
    return next((mark for mark in controller.scene().marks if mark.free_pole), None)


def test_the_selected_limb_shows_a_free_cone_which_a_drag_sets_in_one_step() -> None:
    person = Person()
    controller = person.controller
    assert pole_mark(controller) is None
    controller.session.dispatch(act.Select((Item("effector", "LeftHand"),)))
    mark = pole_mark(controller)
    assert mark is not None
    assert mark.name == "LeftForeArm"
    assert mark.target is not None
    before = person.document
    x, y = person.pixel(mark.target)
    person.drag((x, y), (40.0, -30.0))
    goal = person.document.goal("LeftForeArm")
    assert goal.kind == "pole"
    assert goal.position is not None
    assert np.linalg.norm(np.array(goal.position) - mark.target) > 0.02
    assert (controller.session.errors["LeftForeArm"].degrees or 0.0) < 0.5
    assert controller.session.history.labels[-1] == "Pole of LeftForeArm"
    assert pole_mark(controller) is None
    person.key("ctrl+z")
    assert person.document.goals == before.goals
    assert np.array_equal(person.document.pose.rotations, before.pose.rotations)
    controller.run("mode.fk")
    assert pole_mark(controller) is None


def test_the_swivel_circle_keeps_both_bones_lengths() -> None:
    circle = swivel_circle(BIPED, WORLD, "LeftForeArm")
    start, elbow, hand = (np.array(WORLD.positions[BIPED.index(name)]) for name in ARM)
    assert np.allclose(circle[0], elbow)
    assert np.allclose(np.linalg.norm(circle - start, axis=1), np.linalg.norm(elbow - start))
    assert np.allclose(np.linalg.norm(circle - hand, axis=1), np.linalg.norm(elbow - hand))
    session = Session(new_document(viewer.load("sample:biped")))
    session.dispatch(act.Select((Item("effector", "LeftHand"),)))
    mark = pole_mark(Controller(session))
    assert mark is not None
    assert mark.swivel is not None
    assert np.allclose(mark.swivel, circle)


def test_a_joint_that_takes_no_pole_says_so_and_leaves_all_as_it_was() -> None:
    controller = Controller(Session(new_document(viewer.load("sample:biped"))))
    session = controller.session
    session.dispatch(act.Select((Item("joint", "Spine2"),)))
    session.dispatch(act.Select((Item("joint", "Hips"),)))
    before = session.document
    controller.run("goal.add_pole")
    assert session.document is before
    assert session.gestures.open_step is None


def two_legs(twist: str) -> Skeleton:
    """Legs with another joint in the same place as the knee: above it, or below it with the lower bone on it."""
    builder = Builder().add("Hips")
    for side, x in (("Left", 0.2), ("Right", -0.2)):
        upper, knee, other = f"{side}UpLeg", f"{side}Leg", f"{side}Twist"
        first, second = (knee, other) if twist == "below" else (other, knee)
        builder = builder.add(upper, "Hips", (x, 0.0, 0.0)).add(first, upper, (0.0, -0.5, 0.0))
        builder = builder.add(second, first, (0.0, 0.0, 0.0)).add(f"{side}Foot", second, (0.0, -0.5, 0.0))
    return builder.skeleton


@pytest.mark.parametrize("twist", ["above", "below"])
@pytest.mark.parametrize("joint", ["LeftLeg", "LeftTwist"])
def test_joints_in_the_same_place_are_one_elbow_or_knee(twist: str, joint: str) -> None:
    skeleton = two_legs(twist)
    start = random_pose(np.random.default_rng(3), skeleton)
    foot, pole = np.array((0.3, -0.6, 0.1)), np.array((0.5, -0.2, 2.0))
    goals = [Goal.position("LeftFoot", foot), Goal.pole(joint, pole)]
    assert_rows_agree(problem(skeleton, goals, start))
    for backend in BACKENDS:
        solution = Solver(skeleton, goals, limits=False, backend=backend).solve(start)
        assert solution.status == "converged"
        limb = ("LeftUpLeg", "LeftLeg", "LeftFoot")
        assert math.degrees(swivel(fk(skeleton, solution.pose), skeleton, limb, pole)) < 0.5
    bent = "LeftTwist" if twist == "below" else "LeftLeg"
    with pytest.raises(
        InputError, match=f'bend goal for "{bent}": expected a joint between two bones, found none above'
    ):
        Solver(skeleton, [Goal.bend(bent, 0.5)])


def test_a_limb_whose_lower_bone_is_on_another_joint_has_a_cone_that_can_be_added() -> None:
    controller = Controller(Session(new_document(Character(two_legs("below")))))
    session = controller.session
    session.dispatch(act.Select((Item("joint", "LeftLeg"),)))
    mark = pole_mark(controller)
    assert mark is not None
    assert mark.name == "LeftLeg"
    assert mark.swivel is not None
    controller.run("goal.add_pole")
    assert session.document.goal("LeftLeg").kind == "pole"
    assert session.errors["LeftLeg"].reached
