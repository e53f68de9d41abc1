"""Goals for a bend: an elbow or a knee at an angle, by itself and beside other goals of the same limb."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from inside.formats import goals_file_from_text, goals_to_json
from inside.ik import KINDS, Backend, goal_ids
from inside.opengl import marks_of
from rigs import Problem, problem, random_pose, random_skeleton
from test_rows import analytic, assert_rows_agree

import viewer
from viewer import Goal, Solver
from viewer.errors import FormatError, InputError
from viewer.skeleton import Skeleton, fk

BIPED = viewer.load("skeletons/biped.json").skeleton
RELAXED = BIPED.relaxed_pose()
WORLD = fk(BIPED, RELAXED)
BACKENDS: tuple[Backend, ...] = ("numpy", "numba")


def place(name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array(WORLD.positions[BIPED.names.index(name)])


def bendable(skeleton: Skeleton) -> list[str]:
    names = []
    for name in skeleton.names:
        try:
            Solver(skeleton, [Goal.bend(name, 0.5)])
        except InputError:
            continue
        names.append(name)
    return names


def random_bends(seed: int) -> Problem | None:
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, 12)
    names = bendable(skeleton)
    if not names:
        return None
    pose = random_pose(random, skeleton)
    goals = [Goal.bend(names[random.integers(len(names))], random.uniform(0.1, 3.0), rotation_weight=2.0)]
    goals += [Goal.position(skeleton.names[-1], random.normal(size=3)), Goal.bend(names[-1], 1.0)]
    return problem(skeleton, goals, pose)


@pytest.mark.parametrize("seed", range(12))
def test_its_row_is_the_derivative_of_its_residual_in_both_backends(seed: int) -> None:
    case = random_bends(seed)
    if case is None:
        pytest.skip("no joint between two bones")
    assert_rows_agree(case)


def test_no_other_joint_changes_it() -> None:
    case = problem(BIPED, [Goal.bend("LeftForeArm", 1.0)], RELAXED)
    rows = analytic(case)
    owners = np.repeat(case.assembly.joints, np.diff(case.system.first))
    assert np.unique(owners[np.abs(rows[:, 0]) > 1e-12]).tolist() == [BIPED.names.index("LeftForeArm")]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("degrees", [0.0, 5.0, 40.0, 90.0, 139.0])
@pytest.mark.parametrize("joint", ["LeftLeg", "RightForeArm"])
def test_a_solve_bends_the_joint(joint: str, degrees: float, backend: Backend) -> None:
    solution = Solver(BIPED, [Goal.bend(joint, math.radians(degrees))], backend=backend).solve(RELAXED)
    assert solution.status == "converged"
    assert np.isnan(solution.errors_m).all()
    miss = KINDS["bend"].missed(Goal.bend(joint, math.radians(degrees)), BIPED, fk(BIPED, solution.pose))
    assert miss[1] == pytest.approx(solution.errors_deg[0], abs=1e-6)
    assert miss[1] < 0.5


@pytest.mark.parametrize("backend", BACKENDS)
def test_from_straight_it_bends_to_the_natural_side(backend: Backend) -> None:
    straight = Solver(BIPED, [Goal.bend("LeftLeg", 0.0)]).solve(RELAXED).pose
    bent = Solver(BIPED, [Goal.bend("LeftLeg", 0.5)], backend=backend).solve(straight)
    assert bent.status == "converged"
    assert bent.at_limit == ()


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_limits_forbid_is_said(backend: Backend) -> None:
    solution = Solver(BIPED, [Goal.bend("LeftLeg", math.radians(150.0))], backend=backend).solve(RELAXED)
    assert solution.status == "unreachable"
    assert solution.errors_deg[0] == pytest.approx(10.0, abs=0.01)
    assert solution.diagnosis == ("blocked by limits: LeftLeg 140°",)
    stiff = replace(BIPED, stiffness=np.where(np.array(BIPED.names) == "LeftLeg", 1.0, BIPED.stiffness))
    solution = Solver(stiff, [Goal.bend("LeftLeg", 1.0)], backend=backend).solve(RELAXED)
    assert solution.status == "unreachable"
    assert solution.diagnosis == (
        f"LeftLeg is at least {math.degrees(1.0) - 20.0:.0f}° off: no joint turns it that way",
    )


BESIDE = {
    "bend": Goal.bend("LeftForeArm", math.radians(70.0)),
    "aim": Goal.aim("LeftHand", (0.0, 1.0, 3.0), (1.0, 0.0, 0.0)),
    "distance": Goal.distance("LeftHand", 0.5, place("LeftHand")),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("beside", BESIDE)
def test_one_hand_has_several_goals(beside: str, backend: Backend) -> None:
    shift = (0.3, 0.4, 0.0) if beside == "distance" else (0.05, 0.1, 0.1)
    goals = [Goal.position("LeftHand", place("LeftHand") + shift), BESIDE[beside]]
    solution = Solver(BIPED, goals, backend=backend).solve(RELAXED)
    assert solution.status == "converged"


def test_batches_and_drags_keep_it() -> None:
    goals = [Goal.bend("LeftLeg", 1.0), Goal.position("LeftHand", place("LeftHand"))]
    solver = Solver(BIPED, goals, backend="numba")
    batch = solver.solve_batch([RELAXED, BIPED.relaxed_pose()])
    assert [status.value for status in batch.status] == ["converged", "converged"]
    assert (batch.errors_deg[:, 0] < 0.5).all()
    drag = solver.drag(RELAXED)
    for step in range(30):
        solution = drag.move([[np.nan] * 3, place("LeftHand") + np.array([0.0, 0.01 * step, 0.0])])
    assert solution.status == "converged"


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ("Hips", 'bend goal for "Hips": expected a joint between two bones, found a root'),
        ("Head.tip", 'bend goal for "Head.tip": expected a joint between two bones, found a point beside its joint'),
    ],
)
def test_what_is_no_joint_of_a_limb_is_refused(joint: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Solver(BIPED, [Goal.bend(joint, 1.0)])
    assert str(caught.value) == message
    with pytest.raises(FormatError) as refused:
        goals_file_from_text(json.dumps({"goals": [{"bend": joint, "angle": 40}]}), "g.json", BIPED)
    assert str(refused.value) == f"g.json: goals[0]: {message}"


@pytest.mark.parametrize("angle", [-0.1, 3.2, math.nan])
def test_angles_are_from_straight_to_folded(angle: float) -> None:
    with pytest.raises(InputError, match='bend goal for "LeftLeg": angle: expected'):
        Goal.bend("LeftLeg", angle)


def test_methods_that_turn_bodies_whole_name_it() -> None:
    solution = Solver(BIPED, [Goal.bend("LeftLeg", 1.0)], method="ccd").solve(RELAXED)
    assert solution.unserved == ("LeftLeg",)
    assert Solver(BIPED, [Goal.bend("LeftLeg", 1.0)], method="sdls").solve(RELAXED).status == "converged"


def test_its_mark_is_where_the_bone_would_end() -> None:
    goal = Goal.bend("LeftLeg", 1.0)
    (mark,) = marks_of([goal], BIPED, WORLD)
    assert not mark.reached
    assert np.allclose(mark.position, place("LeftFoot"))
    assert mark.target is not None
    (there,) = marks_of([goal], BIPED, fk(BIPED, Solver(BIPED, [goal]).solve(RELAXED).pose))
    assert there.reached
    knee = place("LeftLeg")
    assert np.linalg.norm(mark.target - knee) == pytest.approx(np.linalg.norm(mark.position - knee))


# Files of version 2


def test_a_file_says_which_version_it_needs() -> None:
    goals = (Goal.position("LeftHand", (0, 1, 0)), Goal.aim("LeftHand", (0, 1, 3), (1, 0, 0)))
    assert json.loads(goals_to_json(goals))["version"] == 1
    for newer in (Goal.bend("LeftLeg", math.radians(40.0)), replace(goals[0], hold=True), replace(goals[0], id="a")):
        text = goals_to_json((*goals, newer))
        assert json.loads(text)["version"] == 2
        assert goals_file_from_text(text, "f", BIPED).goals == (*goals, newer)
    assert json.loads(text)["goals"][2] == {"effector": "LeftHand", "position": [0, 1, 0], "id": "a"}


def test_a_bend_is_written_in_degrees() -> None:
    (goal,) = goals_file_from_text('{"version": 2, "goals": [{"bend": "LeftLeg", "angle": 40}]}', "f", BIPED).goals
    assert goal == Goal.bend("LeftLeg", math.radians(40.0))
    assert json.loads(goals_to_json((goal,)))["goals"] == [{"bend": "LeftLeg", "angle": 40}]


@pytest.mark.parametrize(
    ("goals", "message"),
    [
        ([{"bend": "LeftLeg"}], 'g.json: goals[0]: expected "angle" beside "bend", found none'),
        ([{"bend": "LeftLeg", "angle": 181}], "g.json: goals[0].angle: expected 180 or less, found 181"),
        (
            [{"bend": "LeftLeg", "angle": 1, "effector": "LeftLeg"}],
            "g.json: goals[0]: expected one of effector and bend, found both",
        ),
        (
            [{"effector": "Head", "pin": True, "id": "a"}, {"effector": "Head", "pin": True, "id": "a"}],
            'g.json: goals: expected ids that differ, found "a" twice',
        ),
    ],
)
def test_files_that_are_refused(goals: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        goals_file_from_text(json.dumps({"version": 2, "goals": goals}), "g.json", BIPED)
    assert str(caught.value) == message


def test_a_later_version_is_refused() -> None:
    with pytest.raises(FormatError, match=r"version: expected 2, found 3: the file is from a later program"):
        goals_file_from_text('{"version": 3, "goals": []}', "g.json", BIPED)


def test_ids_are_made_where_there_are_none() -> None:
    goals = [
        Goal.position("LeftHand", (0, 0, 0)),
        Goal.bend("LeftHand", 1.0),
        Goal.position("Head", (0, 0, 0), id="LeftHand 2"),
        Goal.function(lambda world: world.positions[0]),
    ]
    assert goal_ids(goals) == ("LeftHand", "LeftHand 3", "LeftHand 2", "function")
    with pytest.raises(InputError, match='found "LeftHand 2" twice'):
        Solver(BIPED, [*goals, replace(goals[2], weight=2.0)])
