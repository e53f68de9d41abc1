"""A spread as a matrix in files: read, refused, written as typed, kept by sessions, lent by rigs."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import same_skeleton
from inside.formats import skeleton_from_text, skeleton_schema, skeleton_to_json
from inside.ik import principal, spreads
from inside.skeleton import lend_rig
from inside.spatial import IDENTITY
from jsonschema import Draft202012Validator
from spreads import SLANTED, read, stated_matrix
from test_storage import there_and_back

from viewer import load, save
from viewer.errors import ViewerError
from viewer.skeleton import Character

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
    assert same_skeleton(skeleton_from_text(text, "a.json").skeleton, replace(stated().skeleton, name="stated"))
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
    assert same_skeleton(again, stated().skeleton)


def test_formats_without_a_place_for_it_say_so(tmp_path: Path) -> None:
    said = save(Character(replace(read(SLANTED).skeleton, effectors=())), tmp_path / "a.bvh")
    assert any("no place for" in warning and "spreads" in warning for warning in said)


def test_a_rig_lends_a_matrix_over_three_numbers_and_the_other_way_round() -> None:
    three, matrix = read([10, 20, 30]), read(SLANTED)
    lent = lend_rig(three, matrix).skeleton
    np.testing.assert_array_equal(stated_matrix(lent), stated_matrix(matrix.skeleton))
    np.testing.assert_array_equal(spreads(lent), spreads(matrix.skeleton))
    back = lend_rig(matrix, three).skeleton
    np.testing.assert_array_equal(spreads(back), spreads(three.skeleton))
    np.testing.assert_array_equal(principal(back)[0][0], IDENTITY)
    kept = lend_rig(matrix, Character(figure_named(matrix.skeleton))).skeleton
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
