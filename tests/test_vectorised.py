"""What the numpy backend keeps from call to call never belongs to another system, pose or backend.

The block of a solve's arrays: its parts, its header, and who may change what.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from inside.ik import (
    System,
    arrays_in,
    cross,
    difference,
    engine_residuals as residuals,
    entries_of,
    exponential,
    in_block,
    joints_of,
    kept,
    linearise,
    logarithm,
    make_many,
    make_state,
    make_work,
    matrices,
    move,
    multiply,
    places,
    rows_of,
    since,
    tree_of,
)
from inside.spatial import normalized, quaternion
from rigs import Problem, chain, copied, problem, random_problem, random_skeleton

from viewer.ik import Goal, Solver
from viewer.skeleton import JointKind, Pose


def evaluated(case: Problem) -> tuple[System, list[np.ndarray]]:
    """All that an evaluation leaves, in scratch of its own."""
    work, state = make_work(case.system), copied(case.state)
    residuals(case.system, work, state.q, state.t, state.e)
    linearise(case.system, work, state.x)
    return case.system, [state.e, work.turn, work.place, work.point, work.miss, work.by_turn, work.jacobian]


def test_a_pose_asked_about_again_is_told_to_other_scratch_too() -> None:
    case = random_problem(5, 9)
    for one, other in zip(evaluated(case)[1], evaluated(case)[1], strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_same_pose_of_another_tree_is_another() -> None:
    random, three = np.random.default_rng(2), [JointKind.BALL] * 3
    row = random_skeleton(random, 3, three, [-1, 0, 1])
    fan = replace(row, parents=np.array([-1, 0, 0]))
    goals = [Goal.position("j2", (0.0, 0.0, 0.0)), Goal.position("j1", (0.0, 0.0, 0.0))]
    rotations = normalized(random.normal(size=(3, 4)))
    found = []
    for skeleton in (row, fan):
        case = problem(skeleton, goals, Pose(rotations, row.offsets))
        case.state.q[:], case.state.t[:] = rotations, row.offsets
        residuals(case.system, case.work, case.state.q, case.state.t, case.state.e)
        found.append(case.work.place.copy())
    assert np.abs(found[0][2] - found[1][2]).max() > 1e-3


def test_rows_follow_the_scratch_and_not_what_was_evaluated_last() -> None:
    case, work = random_problem(7, 8), make_work(random_problem(7, 8).system)
    first, other = copied(case.state), copied(case.state)
    residuals(case.system, work, first.q, first.t, first.e)
    linearise(case.system, work, first.x)
    expected = work.jacobian.copy()
    other.q[:] = normalized(other.q + 0.3)
    residuals(case.system, make_work(case.system), other.q, other.t, other.e)
    work.jacobian[:] = 0.0
    linearise(case.system, work, first.x)
    np.testing.assert_allclose(work.jacobian, expected, rtol=0.0, atol=1e-14)


def test_tables_are_kept_by_what_they_depend_on() -> None:
    s = random_problem(3, 6).system
    moved = s._replace(goal_target=s.goal_target + 1.0, spread=s.spread.copy())
    for tables in (tree_of, rows_of, joints_of):
        table = tables(s)
        assert tables(moved) is table
        assert tables(s._replace(first=s.first.copy())) is not table
        assert tables(s) is table


def test_tables_of_several_systems_are_kept_in_turn() -> None:
    systems = [random_problem(seed, 6).system for seed in range(8)]
    look_up = kept(lambda _: object())
    tables = [look_up(s) for s in systems]
    assert [look_up(s) for s in systems] == tables


@pytest.mark.parametrize(
    ("indices", "found"),
    [([], slice(0, 0)), ([4], slice(4, 5, 1)), ([1, 2, 3], slice(1, 4, 1)), ([7, 10, 13], slice(7, 14, 3))],
)
def test_evenly_spaced_places_are_slices(indices: list[int], found: slice) -> None:
    assert places(np.array(indices, dtype=np.intp)) == found
    assert np.arange(20)[found].tolist() == indices


@pytest.mark.parametrize("indices", [[1, 2, 4], [3, 2, 1], [2, 2]])
def test_other_places_stay_as_they_are(indices: list[int]) -> None:
    given = np.array(indices)
    assert places(given) is given


def test_products_are_those_of_the_general_forms() -> None:
    random = np.random.default_rng(0)
    p, q = normalized(random.normal(size=(2, 9, 4)))
    a, b = random.normal(size=(2, 9, 3))
    a[0] = 0.0
    np.testing.assert_allclose(multiply(p.T, q.T).T, quaternion.multiply(p, q), atol=1e-15)
    np.testing.assert_allclose(since(p.T, q.T).T, quaternion.multiply(quaternion.conjugate(p), q), atol=1e-15)
    np.testing.assert_allclose(cross(a.T, b.T).T, np.cross(a, b), atol=1e-14)
    np.testing.assert_allclose(matrices(q.T).transpose(2, 0, 1), quaternion.to_matrix(q), atol=1e-15)
    np.testing.assert_allclose(exponential(a.T).T, quaternion.exp(a), atol=1e-15)
    vectors, angles = logarithm(q.T)
    np.testing.assert_allclose(vectors.T, quaternion.log(q), atol=1e-14)
    np.testing.assert_allclose(angles, np.linalg.norm(quaternion.log(q), axis=1), atol=1e-14)


@pytest.mark.parametrize("joints", [3, 12])
def test_free_turns_few_or_many_go_where_a_difference_says(joints: int) -> None:
    random, skeleton = np.random.default_rng(joints), chain(joints)
    case = problem(skeleton, [Goal.position(f"j{joints - 1}.tip", (0.1, 0.2, 0.3))], skeleton.rest_pose())
    assert bool(joints_of(case.system).few) == (joints < 5)
    there, state = copied(case.state), copied(case.state)
    there.q[:] = normalized(random.normal(size=there.q.shape))
    step = np.zeros(len(state.x))
    difference(case.system, case.work, state.x, state.q, state.t, there.x, there.q, there.t, step)
    move(case.system, case.work, step, state.x, state.q, state.t)
    np.testing.assert_allclose(np.abs(np.einsum("ki,ki->k", state.q, there.q)), 1.0, atol=1e-13)


def test_a_start_that_is_known_is_solved_from_as_at_first() -> None:
    skeleton = random_skeleton(np.random.default_rng(11), 8, [JointKind.BALL])
    solver = Solver(skeleton, [Goal.position("j7", (0.3, 0.4, 0.2))], backend="numpy")
    outside = Pose(normalized(np.random.default_rng(1).normal(size=(8, 4))), skeleton.offsets)
    rest = skeleton.rest_pose()
    first = [solver.solve(pose) for pose in (outside, rest)]
    assert first[0].start_outside
    for pose, expected in ((rest, first[1]), (outside, first[0]), (outside, first[0]), (rest, first[1])):
        again = solver.solve(pose)
        assert again.pose.same_as(expected.pose)
        assert (again.status, again.iterations, again.start_outside) == (
            expected.status, expected.iterations, expected.start_outside
        )  # fmt: skip


def test_parts_of_a_block_are_the_arrays_given_and_apart_from_each_other() -> None:
    case = random_problem(3)
    groups = (case.system, case.work, case.state, make_many(case.system, 2))
    block, copies = in_block(groups)
    for group, copy in zip(groups, copies, strict=True):
        assert type(copy) is type(group)
        for array, part in zip(arrays_in(group), arrays_in(copy), strict=True):
            assert part.dtype == array.dtype
            np.testing.assert_array_equal(part, array)
            assert np.shares_memory(part, block) or part.size == 0
            assert not np.shares_memory(part, array)
    parts = [part for copy in copies for part in arrays_in(copy) if part.size]
    for part in parts:
        part[...] = 1
    assert all((part == 1).all() for part in parts)
    parts[0][...] = 0
    assert all((part == 1).all() for part in parts[1:])


def test_the_header_says_where_the_arrays_are_and_how_long() -> None:
    case = random_problem(4)
    groups = (case.system, make_state(case.system))
    block, copies = in_block(groups)
    place = 0
    for group in copies:
        *entries, end = _entries_of_arrays(group)
        for part, entry in zip(arrays_in(group), entries, strict=True):
            begin, *lengths = block[place + entry : place + entry + 1 + part.ndim].tolist()
            assert tuple(lengths) == part.shape
            if part.size:
                assert part.ctypes.data - block.ctypes.data == 8 * begin
                assert part.ctypes.data % 64 == 0
        place += end


def _entries_of_arrays(group: tuple[Any, ...]) -> list[int]:
    """The offsets of a group's arrays, and of those of the groups in it; the last one is its length."""
    *entries, end = entries_of(group)
    found = []
    for one, entry in zip(group, entries, strict=True):
        if isinstance(one, np.ndarray):
            found.append(entry)
        else:
            found += [entry + inner for inner in _entries_of_arrays(one)[:-1]]
    return [*found, end]
