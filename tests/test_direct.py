"""Targets that compiled code takes as they are mean what they mean to numpy, to the last bit."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.ik import Targets, make_call, make_many, needs_projection, take_targets
from inside.spatial import exp, multiply, normalized
from rigs import chain, random_pose, random_skeleton

from viewer import Goal, Solver
from viewer.errors import InputError
from viewer.skeleton import Pose

if TYPE_CHECKING:
    from inside.spatial import Floats

NOWHERE, UNTURNED = np.full(3, np.nan), np.full(4, np.nan)
GOALS = (
    Goal.position("j1", (0.1, 0.2, 0.3)),
    Goal.rotation("j2", (0.0, 0.6, 0.0, 0.8)),
    Goal.pose("j3.tip", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)),
    Goal.distance("j2", 0.5, (0.0, 1.0, 0.0)),
)
EMPTY = np.empty((0, 3)), np.empty((0, 4))


def taken(places: Floats, turns: Floats, *, settled: bool = False) -> tuple[Floats, Floats] | None:
    """What `take_targets` makes of targets, run as Python."""
    solver = Solver(chain(4), GOALS, backend="numpy")
    assembly, targets = solver.prepared.assembly, solver.prepared.targets
    call, many = make_call(assembly.joints, assembly.goals, targets, 4), make_many(assembly.system, 1)
    answer = np.zeros(7 * len(GOALS) + 5)
    with np.errstate(over="ignore"):  # compiled code says nothing of it
        settles = take_targets(call, many, places, turns, settled, answer)
    if not settles:
        return None
    ends = answer[5:17].reshape(-1, 3), answer[17:].reshape(-1, 4)
    np.testing.assert_array_equal(many.target[0], ends[0][assembly.goals])
    np.testing.assert_array_equal(many.rotation[0], ends[1][assembly.goals])
    return ends


def settled(places: Floats | None, turns: Floats | None) -> tuple[Floats, Floats]:
    skeleton = chain(4)
    return Targets(skeleton, GOALS).settle(skeleton.rest_pose(), places, turns)


@pytest.mark.parametrize("seed", range(8))
def test_targets_are_settled_alike(seed: int) -> None:
    random = np.random.default_rng(seed)
    places, turns = random.normal(size=(4, 3)), normalized(random.normal(size=(4, 4))) * (1.0 + 1e-5 * seed)
    places[random.random(4) < 0.3] = NOWHERE
    turns[random.random(4) < 0.3] = UNTURNED
    places[1, random.integers(3)] = np.nan  # a goal without a place: nobody looks
    expected, found = settled(places, turns), taken(places, turns)
    assert found is not None
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("number", [0, 1, 2])
def test_rows_that_are_nan_in_part_are_looked_at(number: int) -> None:
    places, turns = np.tile(NOWHERE, (4, 1)), np.tile(UNTURNED, (4, 1))
    places[3] = 1.0
    places[3, number] = np.nan
    assert taken(places, turns) is None
    with pytest.raises(InputError, match=r"^targets: .* found NaN beside numbers$"):
        settled(places, turns)
    places[3], turns[1] = NOWHERE, (0.0, 0.0, 0.0, 1.0)
    turns[1, number] = np.nan
    assert taken(places, turns) is None
    with pytest.raises(InputError, match=r"^target rotations: .* found NaN beside numbers$"):
        settled(places, turns)


def test_what_is_not_given_is_the_goals_own() -> None:
    expected, found = settled(None, None), taken(*EMPTY)
    assert found is not None
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def test_settled_targets_are_taken_as_they_are() -> None:
    random = np.random.default_rng(3)
    places, turns = random.normal(size=(4, 3)), random.normal(size=(4, 4))
    places[1], turns[0] = NOWHERE, UNTURNED
    found = taken(places, turns, settled=True)
    assert found is not None
    np.testing.assert_array_equal(found[0], places)
    np.testing.assert_array_equal(found[1], turns)


@pytest.mark.parametrize(
    ("place", "turn"),
    [((np.inf, 0.0, 0.0), None), ((np.nan, 0.0, -np.inf), None), (None, (0.0, 0.0, 0.0, 1.1)), (None, (0.0,) * 4),
     (None, (np.nan, 0.0, 0.0, np.inf)), (None, (1e200, 0.0, 0.0, 1e200))],
)  # fmt: skip
def test_what_numpy_refuses_is_left_to_it(place: tuple[float, ...] | None, turn: tuple[float, ...] | None) -> None:
    places, turns = np.full((4, 3), 0.5), np.tile([0.0, 0.0, 0.0, 1.0], (4, 1))
    if place is not None:
        places[2] = place
    if turn is not None:
        turns[2] = turn
    with pytest.raises(InputError):
        settled(places, turns)
    assert taken(places, turns) is None


def test_rows_that_no_goal_reads_may_hold_anything() -> None:
    places, turns = np.full((4, 3), 0.5), np.tile([0.0, 0.0, 0.0, 1.0], (4, 1))
    places[1], turns[0] = np.inf, (3.0, np.inf, 0.0, 0.0)
    expected, found = settled(places, turns), taken(places, turns)
    assert found is not None
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.fixture(scope="module")
def compiled() -> Solver:
    pytest.importorskip("numba")
    return Solver(chain(4), GOALS[2:3], backend="numba")


def test_arrays_of_every_kind_give_the_same_answer(compiled: Solver) -> None:
    pose, places = chain(4).rest_pose(), np.array([[0.2, 0.5, 0.3]])
    expected = compiled.solve(pose, targets=places).pose
    frozen = places.copy()
    frozen.flags.writeable = False
    padded = np.zeros((1, 6))
    padded[:, ::2] = places
    swapped = places.astype(places.dtype.newbyteorder())
    loaded, matrix = pickle.loads(pickle.dumps(places)), places.view(np.matrix)
    for given in (places.tolist(), frozen, padded[:, ::2], np.asfortranarray(places), swapped, loaded, matrix):
        assert compiled.solve(pose, targets=given).pose.same_as(expected)


def test_a_start_pose_given_again_gives_the_same_bits(compiled: Solver) -> None:
    random = np.random.default_rng(5)
    skeleton = compiled.skeleton
    one, other = skeleton.rest_pose(), skeleton.relaxed_pose()
    places = random.uniform(-0.5, 0.5, (6, 1, 3))
    again = [compiled.solve(pose, targets=place).pose for place in places for pose in (one, one, other, one)]
    fresh = [
        Solver(skeleton, GOALS[2:3], backend="numba").solve(pose, targets=place).pose
        for place in places
        for pose in (one, one, other, one)
    ]
    assert all(first.same_as(second) for first, second in zip(again, fresh, strict=True))


def test_arrays_of_poses_need_not_be_contiguous(compiled: Solver) -> None:
    given, places = compiled.skeleton.relaxed_pose(), np.array([[0.2, 0.5, 0.3]])
    padded = np.repeat(given.rotations, 2, axis=1), np.repeat(given.translations, 2, axis=1)
    pose = Pose.trusted(padded[0][:, ::2], padded[1][:, ::2])
    expected, found = compiled.solve(given, targets=places), compiled.solve(pose, targets=places)
    assert found.pose.same_as(expected.pose)
    assert compiled.drag(pose).move(places).pose.same_as(compiled.drag(given).move(places).pose)


@pytest.mark.parametrize("shape", [(0, 3), (2, 3), (1, 4), (3,), (1, 1, 3)])
def test_targets_of_another_shape_are_refused(compiled: Solver, shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"^targets: expected shape \(1, 3\), a row per goal, found "):
        compiled.solve(compiled.skeleton.rest_pose(), targets=np.zeros(shape))


def test_refused_targets_leave_the_solver_as_it_was(compiled: Solver) -> None:
    pose, places = compiled.skeleton.relaxed_pose(), np.array([[0.2, 0.5, 0.3]])
    expected = Solver(compiled.skeleton, GOALS[2:3], backend="numba").solve(pose, targets=places).pose
    with pytest.raises(InputError, match="expected finite numbers"):
        compiled.solve(pose, targets=np.full((1, 3), np.inf))
    assert compiled.solve(pose, targets=places).pose.same_as(expected)


def test_answers_do_not_change_afterwards(compiled: Solver) -> None:
    pose = compiled.skeleton.rest_pose()
    targets = np.array([[0.2, 0.5, 0.3]])
    first = compiled.solve(pose, targets=targets)
    kept, errors = first.pose.rotations.copy(), first.errors_m.copy()
    targets[:] = 0.1
    compiled.solve(pose, targets=targets)
    np.testing.assert_array_equal(first.pose.rotations, kept)
    np.testing.assert_array_equal(first.errors_m, errors)
    assert not first.pose.rotations.flags.writeable
    assert not first.pose.translations.flags.writeable


def test_what_is_asked_for_later_is_that_of_its_own_solve(compiled: Solver) -> None:
    pose = compiled.skeleton.rest_pose()
    targets = np.array([[[0.2, 0.5, 0.3]], [[-0.3, 0.4, 0.1]]])
    now = [compiled.solve(pose, targets=target) for target in targets]
    shown = [(one.pose, one.errors_m, one.at_limit, repr(one)) for one in now]
    later = [compiled.solve(pose, targets=target) for target in targets]
    compiled.solve(compiled.skeleton.relaxed_pose(), targets=np.array([[0.1, 0.1, 0.6]]))
    for one, (posed, errors, limits, words) in zip(later, shown, strict=True):
        copied = pickle.loads(pickle.dumps(one))
        for other in (one, copied):
            assert other.pose.same_as(posed)
            np.testing.assert_array_equal(other.errors_m, errors)
            assert (other.at_limit, repr(other), other.diagnosis) == (limits, words, ())
    assert not later[0].pose.same_as(later[1].pose)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.float16, np.object_])
def test_arrays_of_other_numbers_are_converted(compiled: Solver, dtype: type) -> None:
    pose, places = compiled.skeleton.rest_pose(), np.array([[0.0, 1.0, 0.0]])
    expected = compiled.solve(pose, targets=places)
    given: Any = places.astype(dtype)
    given.flags.writeable = False
    found = compiled.solve(pose, targets=given)
    assert (found.status, found.iterations) == (expected.status, expected.iterations)
    assert found.pose.same_as(expected.pose)


@pytest.mark.parametrize("seed", range(18))
def test_start_poses_that_compiled_code_takes_are_those_that_numpy_leaves_alone(seed: int) -> None:
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, 9)
    solver = Solver(skeleton, [Goal.position("j2", (0.1, 0.2, 0.3))], backend="numpy")
    dofs, tables = solver.prepared.foundation.dofs, solver.prepared.starts.tables(solver.prepared.foundation.dofs)
    inside = solver.prepared.starts.start(random_pose(random, skeleton))[0]
    assert dofs.skeleton is skeleton
    assert not needs_projection(tables, inside.rotations, inside.translations)
    turned = multiply(inside.rotations, exp(random.normal(size=(9, 3)) * 10.0 ** -(seed % 9)))
    moved = inside.translations + random.normal(size=(9, 3)) * 10.0 ** -(seed % 9)
    for joint in range(9):  # one at a time: each kind is looked at
        rotations, translations = inside.rotations.copy(), inside.translations.copy()
        rotations[joint], translations[joint] = turned[joint], moved[joint]
        pose = Pose(rotations, translations)
        start, outside = solver.prepared.starts.start(pose)
        if outside or start is not pose:
            assert needs_projection(tables, pose.rotations, pose.translations)


@pytest.mark.parametrize("seed", range(6))
def test_solves_from_poses_seen_first_by_compiled_code_are_those_from_poses_seen_by_numpy(seed: int) -> None:
    pytest.importorskip("numba")
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, 9)
    goals = [Goal.position("j2", (0.1, 0.2, 0.3)), Goal.position("j5", (0.2, 0.0, 0.1))]
    quick, slow = (Solver(skeleton, goals, backend="numba") for _ in range(2))
    quick.solve(skeleton.rest_pose())
    for wild in (0.0, 1.0):
        pose = random_pose(random, skeleton)
        pose = Pose(multiply(pose.rotations, exp(random.normal(size=(9, 3)) * wild)), pose.translations)
        slow.prepared.starts.start(pose)
        one, other = quick.solve(pose), slow.solve(pose)
        assert (one.status, one.iterations, one.start_outside) == (other.status, other.iterations, other.start_outside)
        assert one.pose.same_as(other.pose)
