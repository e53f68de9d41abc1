"""Goals for two effectors that hold together: one keeps its place and turn in the frame of the other."""

from __future__ import annotations

import json

import numpy as np
import pytest
from inside.formats import goals_file_from_text, goals_to_json
from inside.ik import Backend
from inside.spatial import Floats, exp, multiply

import viewer
from viewer import Goal, Solver
from viewer.errors import FormatError, InputError
from viewer.skeleton import Pose

BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
WORLD = viewer.fk(BIPED, RELAXED)
LEFT, RIGHT = BIPED.index("LeftHand"), BIPED.index("RightHand")
HELD = Goal.relative("LeftHand", "RightHand")
FEET = [Goal.pin("LeftFoot"), Goal.pin("RightFoot")]
BACKENDS: tuple[Backend, ...] = ("numpy", "numba")


def grip(pose: Pose) -> tuple[Floats, Floats]:
    """Where the right hand is in the left one's frame, and its matrix there, by matrices."""
    world = viewer.fk(BIPED, pose)
    left, right = (viewer.quaternions.to_matrix(world.rotations[joint]) for joint in (LEFT, RIGHT))
    return left.T @ (world.positions[RIGHT] - world.positions[LEFT]), left.T @ right


def slip(pose: Pose, start: Pose = RELAXED) -> tuple[float, float]:
    """Millimetres and degrees by which the right hand has moved in the left one."""
    (point, turn), (wanted, asked) = grip(pose), grip(start)
    cosine = 0.5 * (np.trace(turn.T @ asked) - 1.0)
    return 1e3 * float(np.linalg.norm(point - wanted)), float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def reaches(count: int, goals: int, seed: int = 0) -> Floats:
    """Targets (N, G, 3) of the left hand, the third goal, around where it hangs."""
    random = np.random.default_rng(seed)
    targets = np.full((count, goals, 3), np.nan)
    targets[:, 2] = WORLD.positions[LEFT] + 0.15 * random.normal(size=(count, 3))
    return targets


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_hands_hold_together_wherever_one_goes(backend: Backend) -> None:
    solver = Solver(BIPED, [*FEET, Goal.position("LeftHand", WORLD.positions[LEFT]), HELD], backend=backend)
    apart = Solver(BIPED, solver.goals[:3], backend=backend)
    for targets in reaches(30, 4):
        solution = solver.solve(RELAXED, targets)
        millimetres, degrees = slip(solution.pose)
        assert solution.status == "converged"
        assert millimetres <= 0.5
        assert degrees <= 0.26
        assert millimetres == pytest.approx(1e3 * solution.errors_m[3], abs=1e-6)
        assert slip(apart.solve(RELAXED, targets[:3]).pose)[0] > 5.0


def test_both_backends_and_batches_give_the_same_poses() -> None:
    goals = [*FEET, Goal.position("LeftHand", (0.0, 0.0, 0.0)), HELD, Goal.balance()]
    one, other = (Solver(BIPED, goals, backend=backend) for backend in BACKENDS)
    targets = reaches(24, 5, seed=3)
    batches = [solver.solve_batch(RELAXED, targets) for solver in (one, other)]
    np.testing.assert_allclose(batches[0].rotations, batches[1].rotations, atol=1e-9)
    for i in range(24):
        assert np.array_equal(other.solve(RELAXED, targets[i]).pose.rotations, batches[1].rotations[i])


def test_a_batch_holds_what_each_of_its_starts_has() -> None:
    random = np.random.default_rng(5)
    solver = Solver(BIPED, [*FEET, HELD, Goal.position("Head", WORLD.positions[BIPED.index("Head")] - (0, 0.1, 0))])
    shoulder = BIPED.index("RightArm")
    starts = []
    for turn in random.normal(size=(6, 3)) * 0.2:
        rotations = np.array(RELAXED.rotations)
        rotations[shoulder] = multiply(rotations[shoulder], exp(turn))
        starts.append(Pose(rotations, RELAXED.translations))
    solved = solver.solve_batch(starts)
    for i, start in enumerate(starts):
        assert slip(solved.pose(i), solver.prepared.starts.start(start)[0])[0] <= 0.5


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_drag_takes_the_other_hand_along(backend: Backend) -> None:
    drag = Solver(BIPED, [*FEET, Goal.position("LeftHand", WORLD.positions[LEFT]), HELD], backend=backend).drag(RELAXED)
    for i in range(30):
        targets = np.full((4, 3), np.nan)
        targets[2] = WORLD.positions[LEFT] + np.array([0.2 * np.sin(i / 9), 0.2 * np.sin(i / 7), 0.2 * np.sin(i / 8)])
        solution = drag.move(targets, iterations=8)
        assert slip(solution.pose)[0] <= 1.0
    assert solution.errors_m[2] <= 1e-3


@pytest.mark.parametrize(("position", "rotation"), [(True, False), (False, True)])
def test_place_and_turn_may_be_held_alone(position: bool, rotation: bool) -> None:
    goal = Goal.relative("LeftHand", "RightHand", position, rotation)
    solver = Solver(BIPED, [*FEET, Goal.position("LeftHand", (0.0, 0.0, 0.0)), goal])
    slips = [slip(solver.solve(RELAXED, targets).pose) for targets in reaches(10, 4, seed=8)]
    millimetres, degrees = (max(values) for values in zip(*slips, strict=True))
    assert (millimetres <= 0.5, degrees <= 0.26) == (position, rotation)
    errors = solver.solve(RELAXED, reaches(1, 4)[0])
    assert (np.isnan(errors.errors_m[3]), np.isnan(errors.errors_deg[3])) == (not position, not rotation)


def test_numbers_state_where_the_other_hand_is_to_be_in_the_frame_of_the_first() -> None:
    goal = Goal.relative("LeftHand", "RightHand", (0.02, 0.05, 0.2), (0.0, 0.0, 0.0, 1.0))
    solution = Solver(BIPED, [*FEET, Goal.position("LeftHand", (0.1, 1.1, 0.35)), goal]).solve(RELAXED)
    point, turn = grip(solution.pose)
    assert solution.status == "converged"
    np.testing.assert_allclose(point, (0.02, 0.05, 0.2), atol=5e-4)
    np.testing.assert_allclose(turn, np.eye(3), atol=5e-3)


def test_joints_above_both_do_not_change_it() -> None:
    jacobian = Solver(BIPED, [*FEET, HELD]).jacobian(RELAXED)
    rows = [i for i, name in enumerate(jacobian.rows) if name.startswith("LeftHand")]
    assert [jacobian.rows[i].rpartition(".")[2] for i in rows] == ["x", "y", "z", "rx", "ry", "rz"]
    moved = {name for name, column in zip(jacobian.dofs, jacobian.matrix[rows].T, strict=True) if column.any()}
    assert {name.split(".")[0] for name in moved} == {
        f"{side}{part}" for side in ("Left", "Right") for part in ("Shoulder", "Arm", "ForeArm", "Hand")
    }


def test_a_gap_that_no_pose_closes_is_missed_and_explained() -> None:
    goal = Goal.relative("LeftHand", "RightHand", (3.0, 0.0, 0.0), rotation=False)
    solution = Solver(BIPED, [*FEET, goal]).solve(RELAXED)
    assert solution.status != "converged"
    assert 0.5 < solution.errors_m[2] < 3.0
    assert solution.diagnosis
    assert all("nan" not in line for line in solution.diagnosis)


def test_methods_that_cannot_serve_it_say_so() -> None:
    goals = [*FEET, HELD]
    for method in ("ccd", "two-link", "single-bone"):
        solution = Solver(BIPED, goals, method=method).solve(RELAXED)
        assert "LeftHand" in solution.unserved
    for method in ("dls", "sdls", "pseudo-inverse", "transpose"):
        assert Solver(BIPED, goals, method=method).solve(RELAXED).unserved == ()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("effector", "to", "message"),
    [
        ("LeftHand", "LeftHand", 'relative goal for "LeftHand": expected another effector, found itself'),
        ("LeftHand", "", 'relative goal for "LeftHand": expected a second effector\'s name, found ""'),
        (
            "LeftHand",
            "LeftHand.tip",
            'relative goal: expected effectors of two joints, found "LeftHand" and "LeftHand.tip" of one',
        ),
    ],
)
def test_relative_to_itself_is_refused_by_name(effector: str, to: str, message: str) -> None:
    with pytest.raises(InputError) as found:
        Solver(BIPED, [Goal.relative(effector, to)])
    assert str(found.value) == message


def test_neither_place_nor_turn_is_refused() -> None:
    with pytest.raises(InputError, match=r'^relative goal for "a": expected a position or rotation, found neither$'):
        Goal.relative("a", "b", position=False, rotation=False)


def test_other_goals_have_no_second_effector() -> None:
    with pytest.raises(InputError, match=r'^position goal for "a": expected no second effector, found "b"$'):
        Goal(kind="position", effector="a", to="b", target=(0.0, 0.0, 0.0))


FILE = """{"version": 2, "type": "goals", "goals": [
 {"relative": "LeftHand", "to": "RightHand", "position": true, "rotation": true},
 {"relative": "LeftHand", "to": "RightHand", "position": [0.0, 0.1, 0.2], "rotation": false, "id": "grip"},
 {"relative": "RightHand", "to": "Head", "position": false, "rotation": [0.0, 0.0, 0.0, 1.0], "level": 0}]}"""


def test_goals_files_hold_them() -> None:
    goals = goals_file_from_text(FILE, "goals.json", BIPED).goals
    assert goals == (
        HELD,
        Goal.relative("LeftHand", "RightHand", (0.0, 0.1, 0.2), rotation=False, id="grip"),
        Goal.relative("RightHand", "Head", position=False, rotation=(0.0, 0.0, 0.0, 1.0), level=0),
    )
    written = goals_to_json(goals)
    assert json.loads(written) == json.loads(FILE) | {"version": 2}
    assert goals_file_from_text(written, "goals.json", BIPED).goals == goals


def test_what_is_left_out_of_a_file_is_held_as_it_is() -> None:
    assert goals_file_from_text('{"goals": [{"relative": "LeftHand", "to": "RightHand"}]}', "g", BIPED).goals == (HELD,)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('{"relative": "LeftHand"}', 'goals[0]: expected "to" beside "relative", found none'),
        ('{"effector": "Head", "position": true}', 'goals[0]: "position": expected numbers, found true'),
        (
            '{"relative": "LeftHand", "to": "RightHand", "pin": true}',
            'goals[0]: expected no "pin" beside "relative", found one',
        ),
        (
            '{"effector": "Head", "position": [0, 0, 0], "to": "LeftHand"}',
            'goals[0]: expected no "to" without "relative" or "midpoint", found one',
        ),
        (
            '{"relative": "LeftHand", "to": "RightHand", "position": [1, 2]}',
            "goals[0].position: expected a list of 3 numbers, found 2",
        ),
    ],
)
def test_files_that_do_not_say_what_to_hold_are_refused(entry: str, message: str) -> None:
    with pytest.raises(FormatError) as found:
        goals_file_from_text(f'{{"version": 2, "goals": [{entry}]}}', "goals.json", BIPED)
    assert str(found.value) == f"goals.json: {message}"
