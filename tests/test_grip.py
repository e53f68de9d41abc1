"""Grips: the fingers of a hand close on an object of the contact, which stops them at its surface."""

from __future__ import annotations

import pickle
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from inside.formats import goals_to_json, read_goals_file
from inside.ik import Backend
from sessions import QUICK

import viewer
from viewer import Box, Contact, Goal, Mesh, Solver, Sphere, Status

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from contact_distances import Judge
from grip import Grasp, grasps, random_grasps

HANDS = viewer.load("sample:biped-hands").skeleton
RELAXED = HANDS.relaxed_pose()
FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")
BALL = Sphere("ball", (-0.3, 1.1, 0.35), 0.04)
NO_OBJECTS = 'expected a contact with the object "ball"'
NO_FINGERS = "expected a hand, a joint with 2 or more fingers"
FEET = [Goal.pin("LeftFoot"), Goal.pin("RightFoot")]


@cache
def all_grasps() -> dict[str, Grasp]:
    """The objects beside the hand, by name; found when the first test asks, not while tests are collected."""
    return {one.name: one for one in (*grasps(), *random_grasps(3, 77))}


@pytest.fixture
def grasp(request: pytest.FixtureRequest) -> Grasp:
    """The one that a test names."""
    return all_grasps()[request.param]


def finger_gaps(pose: viewer.Pose, contact: Contact) -> list[float]:
    """Metres of each finger of the right hand from the objects, by dense sampling."""
    judge = Judge(HANDS, contact)
    gaps = judge.object_gaps(pose)[0]
    owners = [HANDS.names[joint] for joint in judge.joint.tolist()]
    return [min(g for g, owner in zip(gaps, owners, strict=True) if f"RightHand{one}" in owner) for one in FINGERS]


def closed(grasp: Grasp, backend: Backend = QUICK) -> tuple[viewer.Solution, Contact]:
    """The right hand, held in place, closes on an object."""
    contact = Contact(bodies=True, objects=[grasp.thing])
    goals = [Goal.grip("RightHand", grasp.thing.name), Goal.pin("RightHand")]
    return Solver(HANDS, goals, contact=contact, root="locked", backend=backend).solve(RELAXED), contact


EACH = pytest.mark.parametrize(
    ("grasp", "backend"),
    [("ball 35 mm", "numba"), ("ball 45 mm", "numpy"), ("box", "numba"), ("mug", "numpy"), ("mug", "numba")],
    indirect=["grasp"],
)


@EACH
def test_all_fingers_close_on_an_object(grasp: Grasp, backend: Backend) -> None:
    solution, contact = closed(grasp, backend)
    assert solution.status is Status.CONVERGED
    assert solution.errors_m[0] == 0.0
    assert solution.errors_m[1] < 1e-3
    assert solution.diagnosis == ()
    assert max(finger_gaps(solution.pose, contact)) <= 2e-3
    assert Judge(HANDS, contact).depths(solution.pose).least >= -1e-3


@EACH
def test_a_grip_that_is_all_that_is_asked_for_closes_the_hand_where_it_is(grasp: Grasp, backend: Backend) -> None:
    contact = Contact(bodies=True, objects=[grasp.thing])
    goals = [Goal.grip("RightHand", grasp.thing.name)]
    solution = Solver(HANDS, goals, contact=contact, backend=backend).solve(RELAXED)
    assert solution.status is Status.CONVERGED
    assert solution.errors_m.tolist() == [0.0]
    assert Judge(HANDS, contact).depths(solution.pose).least >= -1e-3
    before, after = (viewer.fk(HANDS, pose).positions for pose in (RELAXED, solution.pose))
    still = [j for j, name in enumerate(HANDS.names) if not name.startswith("RightHand") or name == "RightHand"]
    assert np.abs(after[still] - before[still]).max() < 1e-3


def test_a_grip_of_something_far_away_brings_the_figure_there() -> None:
    grasp = all_grasps()["ball 35 mm"]
    assert isinstance(grasp.thing, Sphere)
    ball = Sphere("ball", tuple(np.add(grasp.thing.center, (0.0, 0.0, 0.3))), 0.035)
    contact = Contact(bodies=True, objects=[ball])
    solver = Solver(HANDS, [Goal.grip("RightHand", "ball")], contact=contact)
    solution = solver.solve(RELAXED)
    assert solution.status is Status.CONVERGED
    assert max(finger_gaps(solution.pose, contact)) <= 2e-3
    nearer = np.array([ball.center]) - (0.0, 0.0, 0.3)
    again = solver.solve(RELAXED, nearer)  # no row of a grip is a target
    np.testing.assert_allclose(again.pose.rotations, solution.pose.rotations, atol=1e-9)


@pytest.mark.parametrize("grasp", [f"random {number}" for number in range(3)], indirect=True)
def test_an_object_of_any_kind_and_turn_is_not_gone_into(grasp: Grasp) -> None:
    solution, contact = closed(grasp, QUICK)
    assert Judge(HANDS, contact).depths(solution.pose).least >= -1e-3
    error = float(solution.errors_m[0])
    off = [gap for gap in finger_gaps(solution.pose, contact) if gap > 2.1e-3]
    assert (error == 0.0) == (solution.status is Status.CONVERGED)
    assert error == 0.0 or any(abs(error - gap) < 1e-3 for gap in off)
    assert len(solution.diagnosis) <= len(off)


@pytest.mark.parametrize("thing", [BALL, Box("ball", BALL.center, (0.09, 0.05, 0.05))])
def test_a_hand_reaches_for_an_object_and_closes_on_it(thing: Sphere | Box) -> None:
    contact = Contact(bodies=True, objects=[thing])
    solution = Solver(HANDS, [Goal.grip("RightHand", "ball"), *FEET], contact=contact).solve(RELAXED)
    assert solution.status is Status.CONVERGED
    assert {touch.body[:9] for touch in solution.contacts if touch.other == "ball"} == {"RightHand"}
    assert max(finger_gaps(solution.pose, contact)) <= 2e-3


def test_other_goals_of_the_hand_come_first_and_missing_fingers_are_named() -> None:
    contact = Contact(objects=[BALL])
    solution = Solver(HANDS, [Goal.grip("RightHand", "ball"), Goal.pin("RightHand")], contact=contact).solve(RELAXED)
    assert solution.status is Status.UNREACHABLE
    assert solution.errors_m[1] < 1e-3
    pinky = viewer.fk(HANDS, solution.pose).positions[HANDS.index("RightHandPinky3")]
    far = float(solution.errors_m[0])
    assert far == pytest.approx(float(np.linalg.norm(pinky - BALL.center)) - BALL.radius, abs=0.04)
    line = f"the pinky of RightHand does not reach the ball: {1000.0 * far:.0f} mm off"
    why, *fingers = solution.reasons
    assert (why.brief, why.goals) == ("RightHand's own goal keeps it from the ball", (0,))
    assert line in solution.diagnosis
    assert all(one.text.startswith("the ") and "of RightHand does not reach the ball" in one.text for one in fingers)
    free = [Goal.grip("RightHand", "ball"), Goal.pin("LeftHand"), Goal.pin("Hips")]
    out = Solver(HANDS, free, contact=Contact(objects=[Sphere("ball", (-3.0, 1.0, 0.0), 0.04)])).solve(RELAXED)
    assert all("of RightHand does not reach the ball" in text for text in out.diagnosis)


def test_a_batch_is_the_same_as_single_solves() -> None:
    goals = [Goal.position("RightHand", BALL.center), Goal.grip("RightHand", "ball"), *FEET]
    solver = Solver(HANDS, goals, contact=Contact(objects=[BALL]), backend="numpy")
    nothing = [np.nan] * 3
    targets = [[(-0.3, 1.15, 0.25), nothing, nothing, nothing], [(-0.25, 1.2, 0.3), nothing, nothing, nothing]]
    batch = solver.solve_batch(RELAXED, targets)
    for i, row in enumerate(targets):
        one = solver.solve(RELAXED, row)
        assert batch.status[i] == one.status
        np.testing.assert_allclose(batch.errors_m[i], one.errors_m, atol=1e-9)
        np.testing.assert_allclose(batch.rotations[i], one.pose.rotations, atol=1e-8)


def test_a_drag_of_the_hand_keeps_the_grip_until_the_object_is_out_of_reach() -> None:
    grasp = all_grasps()["ball 35 mm"]
    hand = viewer.fk(HANDS, RELAXED).positions[HANDS.index("RightHand")]
    contact = Contact(objects=[grasp.thing])
    goals = [Goal.grip("RightHand", grasp.thing.name), Goal.position("RightHand", hand), *FEET]
    drag = Solver(HANDS, goals, contact=contact, backend="numpy").drag(RELAXED)
    rows = np.full((4, 3), np.nan)
    for step in range(40):
        rows[1] = np.add(hand, (0.0, 0.0005 * min(step, 10), 0.0))
        solution = drag.move(rows)
    assert solution.status is Status.CONVERGED
    rows[1] = np.add(hand, (0.0, 0.4, 0.0))
    for _ in range(60):
        solution = drag.move(rows)
    assert solution.errors_m[0] > 0.05
    assert solution.errors_m[1] < 1e-3


def test_methods_without_contact_name_the_grip() -> None:
    goals = [Goal.grip("RightHand", "ball"), Goal.position("LeftHand", (0.3, 1.2, 0.3))]
    for method in ("dls", "ccd"):
        solution = Solver(HANDS, goals, contact=Contact(objects=[BALL]), method=method).solve(RELAXED)
        assert solution.unserved == ("RightHand", "contact")
        assert np.isnan(solution.errors_m[0])
        assert solution.errors_m.shape == (2,)


def test_a_grip_that_is_off_asks_for_nothing() -> None:
    goals = [Goal.grip("RightHand", "ball", enabled=False), Goal.pin("RightHand")]
    solution = Solver(HANDS, goals, contact=Contact(objects=[BALL])).solve(RELAXED)
    np.testing.assert_allclose(solution.pose.rotations, RELAXED.rotations, atol=1e-6)
    assert np.isnan(solution.errors_m[0])


def test_solvers_and_solutions_are_copied_with_grips() -> None:
    solver = Solver(HANDS, [Goal.grip("RightHand", "ball"), *FEET], contact=Contact(objects=[BALL]))
    assert pickle.loads(pickle.dumps(solver)).goals == solver.goals
    assert repr(solver) == "<Solver: default, 3 goals, 52 joints>"
    solution = solver.solve(RELAXED)
    again = pickle.loads(pickle.dumps(solution))
    assert (again.status, repr(again)) == (solution.status, repr(solution))
    np.testing.assert_array_equal(again.errors_m, solution.errors_m)


def test_a_mesh_is_gripped_at_its_own_middle_wherever_its_origin_is() -> None:
    grasp = all_grasps()["mug"]
    assert isinstance(grasp.thing, Mesh)
    vertices = grasp.thing.vertices
    assert vertices is not None
    shift = np.array([0.0, 0.3, 0.0])
    center = np.subtract(grasp.thing.center, viewer.quaternions.rotate(np.array(grasp.thing.rotation), shift))
    moved = Mesh(
        "mug", vertices=vertices + shift, faces=grasp.thing.faces, center=tuple(center), rotation=grasp.thing.rotation
    )
    here, there = closed(grasp, QUICK)[0], closed(replace_thing(grasp, moved), QUICK)[0]
    assert here.status is there.status is Status.CONVERGED


def replace_thing(grasp: Grasp, thing: Mesh) -> Grasp:
    """The same place, another object."""
    return grasp._replace(thing=thing)


@pytest.mark.parametrize(
    ("goal", "contact", "message"),
    [
        (Goal.grip("RightHand", "bal"), Contact(objects=[BALL]), 'no object "bal"; did you mean "ball"?'),
        (Goal.grip("RightHand", "ball"), None, f"{NO_OBJECTS}, found no objects"),
        (Goal.grip("RightHand", "ball"), Contact(floor=0.0), f"{NO_OBJECTS}, found no objects"),
        (Goal.grip("LeftFoot", "ball"), Contact(objects=[BALL]), f"{NO_FINGERS}, found one"),
        (Goal.grip("RightThumb", "ball"), Contact(objects=[BALL]), f"{NO_FINGERS}, found none"),
    ],
)
def test_a_grip_that_cannot_be_is_refused_by_name(goal: Goal, contact: Contact | None, message: str) -> None:
    with pytest.raises(viewer.InputError) as caught:
        Solver(HANDS, [goal], contact=contact)
    assert str(caught.value) == f'grip goal for "{goal.effector}": {message}'


def test_a_finger_that_may_go_through_the_object_cannot_grip_it() -> None:
    thumb = [(name, "ball") for name in HANDS.names if name.startswith("RightHandThumb")]
    with pytest.raises(viewer.InputError) as caught:
        Solver(HANDS, [Goal.grip("RightHand", "ball")], contact=Contact(objects=[BALL], exclude=thumb))
    assert str(caught.value) == 'grip goal for "RightHand": the thumb has no body that may touch "ball"'


def test_an_object_needs_a_name() -> None:
    with pytest.raises(viewer.InputError) as caught:
        Goal.grip("RightHand", "")
    assert str(caught.value) == 'grip goal for "RightHand": expected an object\'s name, found ""'


def test_goals_files_have_grips(tmp_path: Path) -> None:
    path = tmp_path / "goals.json"
    given = (Goal.grip("RightHand", "ball", id="hold"), FEET[0])
    contact = Contact(objects=[BALL])
    path.write_text(
        '{"version": 2, "type": "goals", "goals": [{"grip": "RightHand", "object": "ball", "id": "hold"},'
        ' {"effector": "LeftFoot", "pin": true}],'
        ' "contact": {"objects": [{"name": "ball", "sphere": {"center": [-0.3, 1.1, 0.35], "radius": 0.04}}]}}'
    )
    assert read_goals_file(path, str(path), HANDS) == (given, contact, None)
    path.write_text(goals_to_json(given, contact))
    assert read_goals_file(path, str(path), HANDS) == (given, contact, None)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_a_hand_without_a_goal_goes_to_the_object_and_a_grip_that_holds_stays(backend: Backend) -> None:
    if backend == "numba":
        pytest.importorskip("numba")
    ball = Sphere("ball", (0.25, 1.3, 0.45), 0.045)
    feet = [Goal.pin(name, level=0) for name in ("LeftFoot", "RightFoot")]
    solver = Solver(
        HANDS, [*feet, Goal.grip("LeftHand", "ball")], contact=Contact(bodies=True, objects=[ball]), backend=backend
    )
    found = solver.solve(RELAXED)
    assert found.status is Status.CONVERGED
    assert found.errors_m.max() < 1e-3
    again = solver.solve(found.pose)
    assert again.iterations == 0
    np.testing.assert_allclose(again.pose.rotations, found.pose.rotations, atol=1e-9)
