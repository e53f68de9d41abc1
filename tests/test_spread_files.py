"""A spread as a matrix in files: read, refused, written as typed, kept by sessions, lent by rigs.

A spread as a matrix: three numbers where it is diagonal, and the same figure in any frame.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import rig_of, same
from inside.formats import skeleton_from_text, skeleton_schema, skeleton_to_json
from inside.ik import LEAST, MOST, REFERENCE, Backend, principal, spreads
from inside.skeleton import with_rig
from inside.spatial import IDENTITY, angle_between, conjugate, from_axis_angle, multiply, rotate, to_matrix
from jsonschema import Draft202012Validator
from spreads import SLANTED, read, stated_matrix
from test_session_files import there_and_back
from test_turned_frames import figure, goals_at, turned_pose, turned_skeleton, turns_of, wanted

from viewer import Goal, Solver, load, save
from viewer.document import new_document
from viewer.errors import ViewerError
from viewer.skeleton import Character, JointKind, JointLimits, fk

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Floats

    from viewer.skeleton import Skeleton


@lru_cache(maxsize=1)
def stated() -> Character:
    """Every kind of joint with a matrix, degrees typed by hand, in centimetres and Z up."""
    rows = [[30, 12.5, 0], [12.5, 20, -4.1], [0, -4.1, 6]]
    joints = [
        {"name": "root", "kind": "free", "spread": rows, "rotation": [0.5, 0.5, 0.5, 0.5]},
        {"name": "ball", "parent": "root", "offset": [0, 0, 3], "spread": rows},
        {"name": "three", "parent": "root", "offset": [0, 0, 3], "spread": [10.1, 20.2, 0]},
        {"name": "hinge", "parent": "ball", "offset": [1, 0, 0], "kind": "hinge", "axis": [0, 1, 0], "spread": rows},
        {"name": "straight", "parent": "hinge", "kind": "hinge", "axis": [0, 1, 0], "offset": [0, 1, 0],
         "spread": [[5, 0, 0], [0, 6, 0], [0, 0, 7]]},
        {"name": "slide", "parent": "hinge", "kind": "slide", "axis": [0, 1, 0], "offset": [0, 1, 0], "spread": rows},
        {"name": "none", "parent": "slide", "offset": [0, 1, 0]},
    ]  # fmt: skip
    return skeleton_from_text(json.dumps({"units": "cm", "up": "z", "joints": joints}), "stated.json")


def test_json_comes_back_to_the_bit_and_as_typed(tmp_path: Path) -> None:
    assert stated().warnings == ()
    text = skeleton_to_json(stated())
    assert same(skeleton_from_text(text, "a.json").skeleton, replace(stated().skeleton, name="stated"))
    written = {joint["name"]: joint.get("spread") for joint in json.loads(text)["joints"]}
    rows = [[30, 12.5, 0], [12.5, 20, -4.1], [0, -4.1, 6]]
    assert [written[name] for name in ("root", "ball", "hinge", "slide")] == [rows] * 4
    assert written["three"] == [10.1, 20.2, 0]
    assert written["straight"] == [[5, 0, 0], [0, 6, 0], [0, 0, 7]]
    assert written["none"] is None
    Draft202012Validator(skeleton_schema()).validate(json.loads(text))
    metres = skeleton_from_text(skeleton_to_json(stated(), units="m", up="y"), "a.json").skeleton
    save(stated(), tmp_path / "a.npz")
    for again in (metres, load(tmp_path / "a.npz").skeleton):
        for joint in (0, 1, again.index("hinge"), again.index("slide")):
            np.testing.assert_allclose(stated_matrix(again, joint), stated_matrix(stated().skeleton, joint), rtol=1e-14)


def test_a_diagonal_matrix_of_python_is_written_as_three_numbers() -> None:
    matrices = np.full((2, 3, 3), np.nan)
    matrices[0] = np.diag(np.radians([10.0, 20.0, 30.0]))
    text = skeleton_to_json(Character(replace(read([1, 1, 1]).skeleton, mobility=None, mobility_matrices=matrices)))
    assert json.loads(text)["joints"][0]["spread"] == [10, 20, 30]


def test_sessions_keep_it(tmp_path: Path) -> None:
    again = there_and_back(stated(), tmp_path).skeleton
    assert same(again, stated().skeleton)


def test_formats_without_a_place_for_it_say_so(tmp_path: Path) -> None:
    said = save(Character(replace(read(SLANTED).skeleton, effectors=())), tmp_path / "a.bvh")
    assert any("no place for" in warning and "spreads" in warning for warning in said)


def test_a_rig_lends_a_matrix_over_three_numbers_and_the_other_way_round() -> None:
    three, matrix = read([10, 20, 30]), read(SLANTED)
    lent = with_rig(three, matrix).skeleton
    np.testing.assert_array_equal(stated_matrix(lent), stated_matrix(matrix.skeleton))
    np.testing.assert_array_equal(spreads(lent), spreads(matrix.skeleton))
    back = with_rig(matrix, three).skeleton
    np.testing.assert_array_equal(spreads(back), spreads(three.skeleton))
    np.testing.assert_array_equal(principal(back)[0][0], IDENTITY)
    kept = with_rig(matrix, Character(figure_named(matrix.skeleton))).skeleton
    np.testing.assert_array_equal(stated_matrix(kept), stated_matrix(matrix.skeleton))


def figure_named(skeleton: Skeleton) -> Skeleton:
    """A rig that states no spreads."""
    return replace(skeleton, mobility=None, mobility_matrices=None)


BAD = {
    "[[1, 2, 3], [1, 2, 3]]": ": expected three numbers, or three rows of three, found 2 rows",
    "[[1, 2, 3], 4, 5]": ": expected three numbers, or three rows of three, found some of each",
    "[[1, 0, 0], [0, 2, 0], [0, 3]]": "[2]: expected a list of 3 numbers, found 2",
    "[[1, 1, 0], [0, 2, 0], [0, 0, 3]]": ": expected a symmetric matrix, found 1 in row 1, column 2 and 0 across",
    "[[1, 2, 0], [2, 1, 0], [0, 0, 3]]": ": expected a spread of 0 or more about every direction, found -1",
    "[[1, 2, 0], [2, 4, 0], [0, 0, -3]]": ": expected a spread of 0 or more about every direction, found -3",
    "[[1, NaN, 0], [NaN, 4, 0], [0, 0, 3]]": "[0][1]: expected a number, found NaN",
    '[[1, "x", 0], [0, 4, 0], [0, 0, 3]]': '[0][1]: expected a number, found the text "x"',
    "[]": ": expected three numbers, or three rows of three, found 0 numbers",
    "[1, -2, 3]": "[1]: expected 0 or more, found -2",
}


@pytest.mark.parametrize("spread", BAD)
def test_what_is_no_matrix_of_spreads_is_refused_in_one_line(spread: str) -> None:
    text = f'{{"joints": [{{"name": "a", "spread": {spread}}}]}}'
    with pytest.raises(ViewerError) as refused:
        skeleton_from_text(text, "a.json")
    assert str(refused.value) == f'a.json: joints[0] "a".spread{BAD[spread]}'


def test_what_the_schema_refuses_of_a_spread() -> None:
    valid = Draft202012Validator(skeleton_schema()).is_valid
    good: list[object] = [[1, 2, 0], SLANTED, None]
    bad: list[object] = [
        [1, 2], [1, 2, -3], [1, 2, [3, 4, 5]], [[1, 2, 3]] * 2, [[1, 2]] * 3, [["a", 2, 3]] * 3, 5, "wide",
    ]  # fmt: skip
    for spread in good:
        assert valid({"joints": [{"name": "a", "spread": spread}]})
    for spread in bad:
        assert not valid({"joints": [{"name": "a", "spread": spread}]})


def test_halves_that_differ_by_rounding_are_made_even() -> None:
    uneven = np.array([[0.3, 0.1, 0.0], [0.1 + 1e-9, 0.2, 0.0], [0.0, 0.0, 0.1]])
    matrices = np.stack([uneven, np.full((3, 3), np.nan)])
    kept = stated_matrix(replace(read([1, 1, 1]).skeleton, mobility_matrices=matrices))
    np.testing.assert_array_equal(kept, kept.T)
    assert kept[0, 1] == pytest.approx(0.1 + 5e-10, abs=1e-16)


def test_what_is_typed_with_few_digits_is_taken() -> None:
    # 20 degrees about (1, 2, 3), rounded: the least eigenvalue is a little below 0.
    axis = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    rounded = np.round(20.0 * np.outer(axis, axis), 2)
    assert np.linalg.eigvalsh(rounded)[0] < 0.0
    assert principal(read(rounded.tolist()).skeleton)[1][0].max() == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("matrix", "problem"),
    [
        (np.full((3, 3), np.inf), "expected finite numbers, found NaN or infinity"),
        (np.array([[1.0, np.nan, 0.0]] * 3), "expected finite numbers, found NaN or infinity"),
        (np.diag([1.0, 1.0, -1.0]), "expected a spread of 0 or more about every direction, found -1"),
        (np.triu(np.ones((3, 3))), "expected a symmetric matrix, found 1 in row 1, column 2 and 0 across"),
    ],
)
def test_python_is_told_which_joint(matrix: Floats, problem: str) -> None:
    matrices = np.full((2, 3, 3), np.nan)
    matrices[1] = matrix
    with pytest.raises(ViewerError) as refused:
        replace(read([1, 1, 1]).skeleton, mobility_matrices=matrices)
    assert str(refused.value) == f"skeleton mobility_matrices of b: {problem}"


def test_python_s_shapes_and_three_numbers_are_looked_at() -> None:
    skeleton = read([1, 1, 1]).skeleton
    with pytest.raises(ViewerError, match=r"skeleton mobility_matrices: expected shape \(2, 3, 3\), found \(2, 3\)"):
        replace(skeleton, mobility_matrices=np.ones((2, 3)))
    with pytest.raises(ViewerError, match="skeleton mobility: expected finite numbers of 0 or more, found -1"):
        replace(skeleton, mobility=np.array([[1.0, 1.0, 1.0], [1.0, -1.0, np.nan]]))


BACKENDS = ("numpy", "numba")


def widths(seed: int) -> Floats:
    """(J, 3) radians from 2 to 40 degrees."""
    return np.radians(np.random.default_rng(seed).uniform(2.0, 40.0, size=(len(figure()), 3)))


def matrices_of(table: Floats, frames: Floats) -> Floats:
    """(J, 3, 3) with these spreads (J, 3) about the axes that rotations (J, 4) turn x, y, z into."""
    axes = to_matrix(frames)
    return np.asarray(np.einsum("jik,jk,jlk->jil", axes, table, axes))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("limits", [True, False])
def test_a_diagonal_matrix_is_three_numbers_to_the_bit(backend: Backend, limits: bool) -> None:
    skeleton = figure()
    ranges = JointLimits.swing_twist(1, (-0.5, 0.6), (-0.7, 0.2), (-1.2, 1.0))
    skeleton = replace(skeleton, limits=tuple(ranges if joint % 2 else None for joint in range(len(skeleton))))
    table = widths(1)
    three = replace(skeleton, mobility=table)
    matrix = replace(skeleton, mobility_matrices=table[:, :, None] * np.eye(3))
    goals = goals_at(wanted(5), np.tile(IDENTITY, (len(skeleton), 1)))
    start = skeleton.relaxed_pose()
    one, other = (Solver(rig, goals, backend=backend, limits=limits).solve(start) for rig in (three, matrix))
    assert one.iterations > 1
    np.testing.assert_array_equal(one.pose.rotations, other.pose.rotations)
    np.testing.assert_array_equal(one.pose.translations, other.pose.translations)
    assert same(read(np.diag([10, 20, 30]).tolist()).skeleton, read([10, 20, 30]).skeleton)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["x", "slanted", "random"])
def test_a_matrix_that_turns_with_its_joint_s_frame_solves_to_the_same_places(name: str, backend: Backend) -> None:
    turns, plain, table = turns_of(name), figure(), widths(2)
    slanted = np.tile(from_axis_angle((0.48, 0.6, 0.64), 0.7), (len(plain), 1))
    rig = replace(plain, mobility_matrices=matrices_of(table, slanted))
    turned = replace(turned_skeleton(turns), mobility_matrices=matrices_of(table, multiply(conjugate(turns), slanted)))
    forgetful = turned_skeleton(turns)
    start = plain.relaxed_pose()
    there = turned_pose(start, turns)
    for seed in range(3):
        one = Solver(rig, goals_at(wanted(seed), np.tile(IDENTITY, (len(plain), 1))), backend=backend)
        other = Solver(turned, goals_at(wanted(seed), turns), backend=backend)
        found, same = one.solve(start), other.solve(there)
        assert (found.status, found.iterations) == (same.status, same.iterations)
        places = fk(rig, found.pose).positions
        np.testing.assert_allclose(fk(turned, same.pose).positions, places, atol=1e-6)
        without = Solver(forgetful, goals_at(wanted(seed), turns), backend=backend).solve(there)
        assert np.abs(fk(forgetful, without.pose).positions - places).max() > 1e-3
        drags = one.drag(start), other.drag(there)
        for _ in range(6):
            poses = [drag.move().pose for drag in drags]
        np.testing.assert_allclose(fk(turned, poses[1]).positions, fk(rig, poses[0]).positions, atol=1e-6)


def test_joints_that_turn_freely_are_weighed_about_the_principal_axes() -> None:
    frame = from_axis_angle((0.6, 0.0, 0.8), 0.9)
    table = np.radians([5.0, 10.0, 40.0])
    knee = figure().index("LeftLeg")
    matrices = np.full((len(figure()), 3, 3), np.nan)
    matrices[knee] = matrices_of(table[None], frame[None])[0]
    bases, ready = principal(replace(figure(), mobility_matrices=matrices))
    order = np.argsort(ready[knee])
    np.testing.assert_allclose(ready[knee][order], table / REFERENCE)
    for place, axis in zip(order.tolist(), np.eye(3), strict=True):
        along = rotate(bases[knee], np.eye(3)[place]) @ rotate(frame, axis)
        assert abs(along) == pytest.approx(1.0)
    others = np.arange(len(figure())) != knee
    for mine, plain in zip((bases, ready), principal(figure()), strict=True):
        np.testing.assert_array_equal(mine[others], plain[others])


@pytest.mark.parametrize(
    ("words", "axes"),
    [
        ({"kind": "hinge", "axis": [0, 3, 4]}, [[0.0, 0.6, 0.8]]),
        ({"kind": "universal", "axes": [[0, 1, 0], [0.6, 0, 0.8]]}, [[0.0, 1.0, 0.0], [0.6, 0.0, 0.8]]),
        ({"limits": {"x": [-90, 90], "y": [-40, 40], "z": [-60, 60]}}, np.eye(3).tolist()),
        ({"limits": {"order": "zxy", "x": [-70, 70], "y": [-40, 40], "z": [-60, 60]}}, np.eye(3).tolist()),
    ],
)
def test_a_coordinate_takes_the_root_of_the_variance_about_its_axis(
    words: dict[str, object], axes: list[list[float]]
) -> None:
    matrix = np.radians(np.array(SLANTED, dtype=np.float64))
    found = spreads(read(SLANTED, **words).skeleton)[0]
    for place, axis in enumerate(np.array(axes)):
        assert found[place] == pytest.approx(np.sqrt(axis @ matrix @ matrix @ axis), rel=1e-12)
    # The same as of turns drawn with that spread: their parts along the axis vary by so much.
    drawn = np.random.default_rng(0).normal(size=(200_000, 3)) @ matrix
    np.testing.assert_allclose(np.std(drawn @ np.array(axes).T, axis=0), found[: len(axes)], rtol=0.01)


def test_a_slide_takes_the_part_along_its_axis_in_the_file_s_units() -> None:
    skeleton = read(SLANTED, kind="slide", axis=[1, 1, 0]).skeleton
    expected = np.linalg.norm(0.01 * np.array(SLANTED) @ np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0))
    assert spreads(skeleton)[0, 0] == pytest.approx(expected)
    np.testing.assert_allclose(stated_matrix(skeleton), 0.01 * np.array(SLANTED))


def test_a_hinge_whose_frame_turns_with_its_matrix_moves_as_readily() -> None:
    axis, turn = np.array([0.36, 0.48, 0.8]), from_axis_angle((0.6, 0.64, 0.48), 1.1)
    turned = to_matrix(turn) @ np.array(SLANTED) @ to_matrix(turn).T
    one = read(SLANTED, kind="hinge", axis=axis.tolist())
    other = read(turned.tolist(), kind="hinge", axis=rotate(turn, axis).tolist())
    assert spreads(one.skeleton)[0, 0] == pytest.approx(spreads(other.skeleton)[0, 0], rel=1e-12)
    diagonal = read(np.diag([10, 20, 30]).tolist(), kind="hinge", axis=[0, 1, 0])
    assert np.degrees(spreads(diagonal.skeleton)[0, 0]) == pytest.approx(20.0)


def test_no_spread_counts_as_less_than_one_degree_or_more_than_half_a_turn() -> None:
    flat = [[4, 8, 0], [8, 16, 0], [0, 0, 0]]  # of rank 1: 20 degrees about (1, 2, 0), nothing about the others
    np.testing.assert_allclose(np.sort(principal(read(flat).skeleton)[1][0]), np.array([1.0, 1.0, 20.0]) / 20.0)
    np.testing.assert_array_equal(spreads(read([0, 5, 1e30]).skeleton)[0], [LEAST, np.radians(5.0), MOST])
    huge = read((1e300 * (np.eye(3) + 0.1)).tolist()).skeleton
    np.testing.assert_array_equal(spreads(huge)[0], MOST)
    np.testing.assert_array_equal(principal(huge)[1][0], MOST / REFERENCE)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_joint_turns_most_about_the_axis_of_a_matrix_of_rank_one(backend: Backend) -> None:
    # Two joints in one place share a turn; the upper one is ready for it about z alone, which is not its own axis.
    joints = [
        {"name": "root", "kind": "fixed"},
        {"name": "upper", "parent": "root", "spread": [[10, 10, 0], [10, 10, 0], [0, 0, 0]]},
        {"name": "lower", "parent": "upper", "offset": [0, 0, 0], "spread": [[10, -10, 0], [-10, 10, 0], [0, 0, 0]]},
        {"name": "end", "parent": "lower", "offset": [0, 0, 1]},
    ]
    skeleton = skeleton_from_text(json.dumps({"joints": joints}), "a.json").skeleton
    for axis, turns, stays in (((1.0, 1.0, 0.0), 1, 2), ((1.0, -1.0, 0.0), 2, 1)):
        target = rotate(from_axis_angle(np.array(axis) / np.sqrt(2.0), 0.5), np.array([0.0, 0.0, 1.0]))
        found = Solver(skeleton, [Goal.position("end", target)], backend=backend).solve(skeleton.rest_pose())
        assert found.status == "converged"
        angles = angle_between(found.pose.rotations, skeleton.rest_rotations)
        assert angles[turns] > 0.48
        assert angles[stays] < 0.02


@pytest.mark.parametrize(("plane", "axis"), [("xy", (0.0, 0.0, 1.0)), ("yz", (1.0, 0.0, 0.0))])
def test_in_a_plane_a_ball_is_as_ready_as_its_matrix_about_the_normal(plane: str, axis: tuple[float, ...]) -> None:
    character = read(SLANTED)
    turn = from_axis_angle((0.48, 0.6, 0.64), 0.8)  # its own axes lie at a slant to the plane
    skeleton = replace(character.skeleton, rest_rotations=np.stack([turn, IDENTITY]))
    document = replace(new_document(replace(character, skeleton=skeleton)), planar=plane)
    rig = rig_of(document)
    assert rig is not None
    hinge = rig.skeleton.index("a")
    assert rig.skeleton.kinds[hinge] is JointKind.HINGE
    normal = rotate(conjugate(document.pose.rotations[0]), np.array(axis))
    expected = np.linalg.norm(np.radians(SLANTED) @ normal)
    assert spreads(rig.skeleton)[hinge, 0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("plane", "expected"), [("xy", 30.0), ("yz", 10.0)])
def test_in_a_plane_a_universal_is_as_ready_as_about_the_axis_that_it_turns_by(plane: str, expected: float) -> None:
    character = read([10, 30, 5], kind="universal", axes=[[1, 0, 0], [0, 0, 1]])
    rig = rig_of(replace(new_document(character), planar=plane))
    assert rig is not None
    assert np.degrees(spreads(rig.skeleton)[rig.skeleton.index("a"), 0]) == pytest.approx(expected)
