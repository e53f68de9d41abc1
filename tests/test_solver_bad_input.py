"""Wrong input for a solver: a clear error or a right answer, never NaN, never an endless loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from inside.ik import ONE_SHOT, Tuning
from inside.spatial import IDENTITY
from method_cases import rig
from rigs import chain, random_goals, random_pose, random_skeleton

import viewer
from viewer import Goal, Solver, Status
from viewer.skeleton import JointKind, Pose

ARM = chain(3)
REST = ARM.rest_pose()
TIP = Goal.position("j2.tip", (0.4, 0.4, 0.1))
EVERY = (
    "default",
    "two-link",
    "single-bone",
    "ccd",
    "ccd-from-base",
    "fabrik",
    "transpose",
    "pseudo-inverse",
    "dls",
    "sdls",
)


def refused(call: Any, *arguments: Any, **options: Any) -> str:  # noqa: ANN401 - any call
    with pytest.raises(viewer.InputError) as caught:
        call(*arguments, **options)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    return message


def numpy_solver(*goals: Goal, skeleton: viewer.Skeleton = ARM, **options: Any) -> Solver:  # noqa: ANN401 - keywords
    return Solver(skeleton, goals, backend="numpy", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "ddls"}, 'no method "ddls"; did you mean "dls" or "sdls"?'),
        ({"method": "defualt"}, 'no method "defualt"; did you mean "default"?'),
        ({"backend": "nunba"}, 'no backend "nunba"; did you mean "numba"?'),
        ({"root": "fre"}, 'no root mode "fre"; did you mean "free"?'),
        ({"tolerance_m": 0.0}, "tolerance_m: expected a finite number above 0, found 0"),
        ({"tolerance_deg": -1}, "tolerance_deg: expected a finite number above 0, found -1"),
        ({"tolerance_m": float("nan")}, "tolerance_m: expected a finite number above 0, found nan"),
        ({"tolerance_m": "1"}, 'tolerance_m: expected a number, found "1"'),
        ({"max_iterations": -1}, "max_iterations: expected a whole number, 0 or more, found -1"),
        ({"max_iterations": 2.5}, "max_iterations: expected a whole number, 0 or more, found 2.5"),
        ({"seed": -3}, "seed: expected a whole number, 0 or more, found -3"),
        ({"seed": True}, "seed: expected a whole number, 0 or more, found True"),
        ({"limits": "no"}, 'limits: expected True or False, found "no"'),
        ({"restarts": 3}, "restarts: expected True or False, found 3"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], message: str) -> None:
    assert refused(Solver, ARM, [TIP], **options) == message


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"damping": -1.0}, "damping: expected a finite number, 0 or more, found -1"),
        ({"damping": float("nan")}, "damping: expected a finite number, 0 or more, found nan"),
        ({"step_cap": 0.0}, "step_cap: expected a finite number above 0, found 0"),
        ({"limit_passes": -1}, "limit_passes: expected a whole number, 0 or more, found -1"),
        ({"guarded": 1}, "guarded: expected True or False, found 1"),
    ],
)
def test_settings_that_are_refused(numbers: dict[str, Any], message: str) -> None:
    assert refused(Solver, ARM, [TIP], settings=ONE_SHOT._replace(**numbers)) == f"settings: {message}"


def test_options_that_there_are_not() -> None:
    assert refused(Solver, ARM, [TIP], metod="dls") == 'Solver: no option "metod"; did you mean "method"?'
    said = refused(Solver, ARM, [TIP], wibble=1)
    assert said.startswith('Solver: no option "wibble"; there is "method", "backend", "root", ')
    say = 'position goal: no option "wieght"; did you mean "weight"?'
    assert refused(Goal.position, "j2", (0, 0, 0), wieght=2) == say
    assert refused(Goal.function, len, target=2).startswith('function goal: no option "target"; there is "weight", ')


@pytest.mark.parametrize("name", ["method", "limits", "max_iterations", "skeleton", "options"])
def test_options_of_a_solver_do_not_change(name: str) -> None:
    solver = numpy_solver(TIP)
    with pytest.raises(AttributeError, match=f'^a solver\'s "{name}" does not change: make another Solver$'):
        setattr(solver, name, "dls")
    assert (solver.options.method, solver.skeleton) == ("default", ARM)


@pytest.mark.parametrize("name", ["goal", "targets", "assembly", "one_shot", "wibble"])
def test_what_a_solver_does_not_have_cannot_be_set(name: str) -> None:
    with pytest.raises(AttributeError, match=f'^a solver has no "{name}" to be set: only its "goals" can be$'):
        setattr(numpy_solver(TIP), name, [TIP])


@pytest.mark.parametrize("value", [ARM, REST, TIP, viewer.Character(ARM), numpy_solver(TIP).solve(REST)])
def test_values_take_no_attributes_of_other_names(value: object) -> None:
    with pytest.raises((AttributeError, TypeError)):
        setattr(value, "wibble", 1)  # noqa: B010 - types know nothing of it


def test_the_most_iterations_are_those_of_the_settings_unless_said() -> None:
    far = Goal.position("j2.tip", (0.1, 0.1, 0.01))
    three = ONE_SHOT._replace(max_iterations=3)

    def most(**options: Any) -> int:  # noqa: ANN401 - keywords
        return numpy_solver(far, tolerance_m=1e-14, **options).solve(REST).iterations

    assert most(settings=three) == 3
    assert most(settings=three, max_iterations=7) == most(max_iterations=7) == 7
    assert most(settings=ONE_SHOT) > 7
    assert numpy_solver(far, settings=three).options.max_iterations == 3
    assert numpy_solver(far, settings=three, max_iterations=200).options.max_iterations == 200
    assert refused(Solver, ARM, [TIP], settings=three._replace(max_iterations=-1)) == (
        "settings: max_iterations: expected a whole number, 0 or more, found -1"
    )


@pytest.mark.parametrize(
    ("method", "numbers"),
    [
        ("default", {"damping": 0.5, "truncation": 0.5, "most_turn": 0.01, "guarded": False, "bend": 1}),
        ("dls", {"truncation": 0.5, "most_turn": 0.01, "bend": 1, "geometric": True}),
        ("sdls", {"damping": 0.5, "truncation": 0.5, "bend": 1}),
        ("ccd", {"damping": 0.5, "truncation": 0.5, "most_turn": 0.01, "guarded": False, "step": 0.5, "bend": 1}),
        ("two-link", {"damping": 0.5, "truncation": 0.5, "most_turn": 0.01, "guarded": False, "step": 0.5}),
    ],
)
def test_methods_leave_the_numbers_of_others(method: str, numbers: dict[str, Any]) -> None:
    plain, tuned = (numpy_solver(TIP, method=method, tuning=each).solve(REST) for each in (Tuning(), Tuning(**numbers)))
    assert tuned.pose.same_as(plain.pose)
    assert tuned.iterations == plain.iterations


def test_what_is_no_skeleton_settings_or_tuning() -> None:
    assert refused(Solver, ARM, [TIP], settings=None) == 'settings: expected Settings, found "None"'
    assert refused(Solver, ARM, [TIP], tuning=0.5) == 'tuning: expected Tuning, found "0.5"'
    biped = viewer.load("sample:biped")
    assert refused(Solver, biped, [TIP]) == "expected a skeleton, found a Character: pass character.skeleton"
    assert refused(Goal.position, "j2", (0, 0, 0), enabled="no").endswith('enabled: expected True or False, found "no"')


@pytest.mark.parametrize("name", ["method", "backend", "root"])
def test_names_that_are_no_text(name: str) -> None:
    for value in (None, 3):
        assert refused(Solver, ARM, [TIP], **{name: value}).startswith("no ")


def test_numbers_of_numpy_are_numbers() -> None:
    solver = numpy_solver(TIP, tolerance_m=np.float32(1e-3), seed=np.int64(3), max_iterations=np.int32(50))
    assert solver.solve(REST).status is Status.CONVERGED


def test_no_goals() -> None:
    none = "a solver needs at least one goal that is enabled"
    assert refused(Solver, ARM, []) == none
    assert refused(Solver, ARM, [Goal.position("j2", (0, 0, 0), enabled=False)]) == none
    assert refused(Solver, ARM, [TIP, "j2"]) == 'expected a list of goals, found "j2" in it'
    assert refused(Solver, ARM, None) == 'expected a list of goals, found "None"'
    assert refused(Solver, ARM, TIP).startswith("expected a list of goals, found")
    assert numpy_solver(*(goal for goal in [TIP])).solve(REST).status is Status.CONVERGED
    assert Solver(ARM, iter([TIP]), backend="numpy").solve(REST).status is Status.CONVERGED  # type: ignore[arg-type]  # any iterable will do


def test_unknown_effectors() -> None:
    biped = viewer.load("sample:biped").skeleton
    message = refused(Solver, biped, [Goal.position("LeftHnad", (0, 0, 0))])
    assert message.startswith('no effector, joint or tip "LeftHnad"; did you mean "LeftHand"')
    assert refused(Solver, biped, [Goal.aim("zzz", (0, 0, 0), (0, 0, 1))]).startswith(
        'no effector, joint or tip "zzz"; there is '
    )


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf"), None, "1"])
def test_weights(weight: object) -> None:
    for name in ("weight", "rotation_weight"):
        message = refused(Goal.position, "j2", (0, 0, 0), **{name: weight})
        assert message.startswith(f'position goal for "j2": {name.replace("_", " ")}: expected')


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_goals_of_no_place(number: float) -> None:
    bad = (number, 0.0, 0.0)
    refused(Goal.position, "j2", bad)
    refused(Goal.distance, "j2", 1.0, bad)
    refused(Goal.distance, "j2", number, (0, 0, 0))
    refused(Goal.aim, "j2", bad, (0, 0, 1))
    refused(Goal.aim, "j2", (0, 0, 1), bad)
    refused(Goal.position, "j2", (0, 0, 0), offset=bad)
    refused(Goal.rotation, "j2", (number, 0, 0, 1))
    refused(Goal.rotation, "j2", (0, 0, 0, 0))
    refused(Goal.aim, "j2", (0, 0, 1), (0, 0, 0))


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([[np.inf, 0, 0]], "targets: expected finite numbers (or NaN: leave it), found infinity"),
        ([0, 0, 0], "targets: expected shape (1, 3), a row per goal, found (3,)"),
        ([[0, 0, 0]] * 2, "targets: expected shape (1, 3), a row per goal, found (2, 3)"),
        ([[0, 0]], "targets: expected shape (1, 3), a row per goal, found (1, 2)"),
        ([["a", "b", "c"]], "targets: expected numbers of shape (1, 3), a row per goal"),
        ([["1", "2", "3"]], "targets: expected numbers of shape (1, 3), a row per goal"),
        ([[0, 0, 1j]], "targets: expected numbers of shape (1, 3), a row per goal"),
        ([[0, 0], [0]], "targets: expected numbers of shape (1, 3), a row per goal"),
        ([[0, 0, None]], "targets: expected rows of numbers, or of NaN alone (leave it), found NaN beside numbers"),
        ([[10**400, 0, 0]], "targets: expected numbers of shape (1, 3), a row per goal"),
    ],
)
def test_targets_that_are_refused(targets: Any, message: str) -> None:  # noqa: ANN401
    solver = numpy_solver(TIP)
    assert refused(solver.solve, REST, targets=targets) == message
    assert refused(solver.drag(REST).move, targets) == message


def test_target_rotations_that_are_refused() -> None:
    solver = numpy_solver(Goal.rotation("j2", IDENTITY))
    say = "target rotations: expected "
    assert refused(solver.solve, REST, target_rotations=[[0, 0, 0, 0]]) == (
        say + "unit quaternions (x, y, z, w), found length 0"
    )
    assert refused(solver.solve, REST, target_rotations=[[0, 0, 0, 1e200]]).startswith(say + "unit quaternions")
    assert refused(solver.solve, REST, target_rotations=[[0, 0, 0, np.inf]]).startswith(say + "finite numbers")
    assert refused(solver.solve, REST, target_rotations=[0, 0, 0, 1]) == say + (
        "shape (1, 4), a row per goal, found (4,)"
    )
    near = solver.solve(REST, target_rotations=[[0, 0, 0, 1.0005]])
    assert near.status is Status.CONVERGED


@pytest.mark.parametrize("joints", [2, 4])
def test_poses_of_another_skeleton(joints: int) -> None:
    other = chain(joints).rest_pose()
    say = f"pose: expected 3 joints as the skeleton has, found {joints}"
    for goal in (TIP, Goal.pin("j2")):
        solver = numpy_solver(goal)
        assert refused(solver.solve, other) == say
        assert refused(solver.drag, other) == say
        assert refused(solver.solve_batch, other) == say
        assert refused(solver.solve_batch, [REST, other]) == say
        assert refused(solver.solve, REST.rotations).startswith("expected a pose to start from, found ")
        assert refused(solver.solve, None) == 'expected a pose to start from, found "None"'


@pytest.mark.parametrize("number", [np.nan, np.inf, 0.0])
def test_poses_that_are_none(number: float) -> None:
    rotations, translations = REST.rotations.copy(), REST.translations.copy()
    rotations[1] = number
    assert refused(Pose, rotations, translations).startswith("pose rotations of joint 1: expected")
    translations[2, 0] = np.nan if number == 0.0 else number
    assert refused(Pose, REST.rotations, translations).startswith("pose translations of joint 2: expected")


def test_poses_that_are_nearly_unit_are_taken() -> None:
    nearly = Pose(REST.rotations * 1.0005, REST.translations)
    solution = numpy_solver(TIP).solve(nearly)
    assert solution.status is Status.CONVERGED
    np.testing.assert_allclose(np.linalg.norm(solution.pose.rotations[:3], axis=1), 1.0, atol=1e-3)


@pytest.mark.parametrize("method", EVERY)
def test_chains_that_cannot_move_or_have_no_length(method: str) -> None:
    fixed = rig((-1, 0), [(0, 0, 0), (1, 0, 0)], [JointKind.FIXED] * 2)
    flat = rig((-1, 0, 1), [(0, 0, 0)] * 3, [JointKind.BALL] * 3, tip=(0, 0, 0))
    for skeleton in (fixed, flat):
        end = f"j{len(skeleton) - 1}.tip"
        solution = numpy_solver(Goal.position(end, (0, 2, 0)), skeleton=skeleton, method=method).solve(
            skeleton.rest_pose()
        )
        assert solution.status is Status.UNREACHABLE
        assert np.isfinite(solution.pose.rotations).all()
        assert np.isfinite(solution.pose.translations).all()
        assert solution.diagnosis
        assert all(line.isprintable() for line in solution.diagnosis)


def test_a_goal_on_the_root() -> None:
    biped = viewer.load("sample:biped").skeleton
    goal = Goal.position(biped.names[0], (1.0, 1.0, 1.0))
    solution = numpy_solver(goal, skeleton=biped).solve(biped.relaxed_pose())
    assert solution.status is Status.CONVERGED
    np.testing.assert_allclose(solution.pose.translations[0], (1, 1, 1), atol=1e-3)
    still = numpy_solver(goal, skeleton=biped, root="locked").solve(biped.relaxed_pose())
    assert still.status is Status.UNREACHABLE
    assert still.pose.same_as(biped.relaxed_pose())


def test_two_goals_that_contradict() -> None:
    turns = (Goal.rotation("j2", IDENTITY), Goal.rotation("j2", (0, 0, 1, 0)))
    for goals in (turns, (TIP, Goal.position("j2.tip", (-0.4, 0, 0)))):
        solution = numpy_solver(*goals).solve(REST)
        assert solution.status in {Status.UNREACHABLE, Status.STALLED}
        assert any("conflict" in line for line in solution.diagnosis), solution.diagnosis


def test_no_iterations_are_a_right_answer() -> None:
    for method in EVERY:
        solution = numpy_solver(TIP, method=method, max_iterations=0).solve(REST)
        assert (solution.iterations, solution.pose.same_as(REST)) == (0, True)
        assert solution.status in {Status.BUDGET, Status.STALLED}


def test_a_chain_of_five_thousand() -> None:
    long = viewer.load("sample:chain-5000").skeleton
    end = long.effectors[0].name
    start = long.relaxed_pose()
    here = viewer.fk(long, start).point(long.effectors[0].joint, np.array(long.effectors[0].offset))
    solution = numpy_solver(
        Goal.position(end, here + np.array([-0.1, 0.0, 0.2])), skeleton=long, max_iterations=60
    ).solve(start)
    assert np.isfinite(solution.pose.rotations).all()
    assert solution.status in {Status.CONVERGED, Status.BUDGET}
    assert solution.iterations <= 60


@pytest.mark.parametrize("size", [1e12, 1e200, 1e300])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_out_of_all_proportion(size: float) -> None:
    far = numpy_solver(TIP).solve(Pose(REST.rotations, REST.translations + size))
    assert np.isfinite(far.pose.rotations).all()
    assert np.isfinite(far.pose.translations).all()
    for method in EVERY:
        solution = numpy_solver(Goal.position("j2.tip", (size, 0, 0)), method=method, max_iterations=20).solve(REST)
        assert solution.status is not Status.CONVERGED
        assert np.isfinite(solution.pose.rotations).all()


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), method=st.sampled_from(EVERY))
def test_any_rig_and_any_goals_give_numbers(seed: int, method: str) -> None:
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, int(random.integers(1, 10)))
    goals = random_goals(random, skeleton)
    start = random_pose(random, skeleton, 2.0)
    options: dict[str, Any] = {"root": str(random.choice(["free", "translate", "locked"]))}
    solver = numpy_solver(*goals, skeleton=skeleton, method=method, max_iterations=30, **options)
    solution = solver.solve(start)
    assert solution.iterations <= 30
    assert np.isfinite(solution.pose.rotations).all()
    assert np.isfinite(solution.pose.translations).all()
    np.testing.assert_allclose(np.linalg.norm(solution.pose.rotations, axis=1), 1.0, atol=1e-9)
    asked = [goal.kind in {"position", "position+rotation", "distance"} for goal in goals]
    assert np.isfinite(solution.errors_m).tolist() == asked
