"""What panels work out before they draw: typed numbers, rows of the tree, the page of keys, ticks."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.app import (
    DEGREES,
    METRES,
    Angles,
    Folds,
    arranged,
    below,
    coordinates,
    error_words,
    evaluate,
    found_keys,
    found_rows,
    number_step,
    outline,
    rows_within,
    size_words,
    tree_rows,
)
from inside.document import joints_at_limit
from inside.formats import ErrorScale, sample_names
from inside.spatial import from_euler
from inside.ui import GROUPS

import viewer
from viewer.document import GoalError, new_document
from viewer.errors import InputError
from viewer.ui import help_rows


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", 1.5), ("−2", -2.0), ("1+2*3", 7.0), ("(1 + 2) × 3", 9.0), ("2^3", 8.0), ("12 cm", 0.12),  # noqa: RUF001
     ("1 m - 5 mm", 0.995), ("1,5", 1.5), ("sqrt(4)", 2.0), ("pi", math.pi), ("3 inch", 0.0762), (".5", 0.5)],
)  # fmt: skip
def test_what_is_typed_means(text: str, value: float) -> None:
    assert evaluate(text, METRES) == pytest.approx(value)


def test_radians_may_be_typed_where_degrees_are_shown() -> None:
    assert evaluate("pi rad", DEGREES) == pytest.approx(180.0)
    assert evaluate("90°", DEGREES) == 90.0


@pytest.mark.parametrize(
    "text",
    ["", " ", "abc", "1/0", "9**9**9", "__import__('os')", "1 if 2 else 3", "[1]", "1e999", "True", "x" * 200,
     "(1).real", "lambda: 1", "1;2", "(" * 70 + "1"],
)  # fmt: skip
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected a number, found"):
        evaluate(text)


@given(st.text(max_size=60))
def test_no_text_raises_anything_else(text: str) -> None:
    with suppress(InputError):
        assert math.isfinite(evaluate(text, METRES))


def test_a_tree_that_fits_is_all_open_and_one_that_does_not_folds_fingers_first() -> None:
    skeleton = viewer.load("sample:biped-hands").skeleton
    marked = {effector.joint for effector in skeleton.effectors}
    folds = Folds()
    folds.show(skeleton, -1, marked, len(skeleton))
    assert len(tree_rows(skeleton, folds)) == len(skeleton)
    folds.show(skeleton, -1, marked, len(skeleton) - 1)
    rows = tree_rows(skeleton, folds)
    assert len(rows) < len(skeleton)
    assert all(row.joint in marked for row in rows if row.folded)


@given(st.data())
def test_the_joint_wanted_is_always_among_the_rows(data: st.DataObject) -> None:
    skeleton = viewer.load("sample:biped-hands").skeleton
    folds = Folds()
    joints = st.integers(0, len(skeleton) - 1)
    for joint in data.draw(st.lists(joints, max_size=6)):
        folds.toggle(joint)
    wanted, fits = data.draw(joints), data.draw(st.integers(1, 40))
    folds.show(skeleton, wanted, {effector.joint for effector in skeleton.effectors}, fits)
    assert wanted in [row.joint for row in tree_rows(skeleton, folds)]


def test_rows_of_a_tree_come_with_parents_first_and_depths() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    rows = tree_rows(skeleton, Folds())
    assert sorted(row.joint for row in rows) == list(range(len(skeleton)))
    seen: dict[int, int] = {-1: -1}
    for row in rows:
        assert row.depth == seen[int(skeleton.parents[row.joint])] + 1
        seen[row.joint] = row.depth


def test_a_search_finds_every_word_in_any_case() -> None:
    skeleton = viewer.load("sample:walk").skeleton
    names = [skeleton.names[row.joint] for row in found_rows(skeleton, "left ARM")]
    assert names == ["LeftArm", "LeftForeArm"]
    assert found_rows(skeleton, "hnad") == []


def test_below_is_the_joint_and_all_that_hang_on_it() -> None:
    skeleton = viewer.load("sample:walk").skeleton
    names = [skeleton.names[j] for j in below(skeleton, skeleton.index("RightShoulder"))]
    assert names == ["RightShoulder", "RightArm", "RightForeArm", "RightHand"]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_page_of_keys_has_every_row_once_in_any_number_of_columns(count: int) -> None:
    groups = found_keys("", "simple")
    columns = arranged(groups, count)
    assert len(columns) == count
    assert sorted(heading for column in columns for heading, _ in column) == sorted(GROUPS)
    assert sum(len(rows) for column in columns for _, rows in column) == sum(map(len, help_rows("simple").values()))


def test_the_page_of_keys_is_filtered_by_keys_and_words() -> None:
    assert "Undo" in [row.words for _, rows in found_keys("ctrl+z", "simple") for row in rows]
    assert all("undo" in row.words.casefold() for _, rows in found_keys("undo", "simple") for row in rows)
    assert found_keys("no such key", "simple") == []
    assert arranged([], 3) == []


@given(st.floats(0.01, 1e6))
def test_numbers_of_the_ruler_stand_at_round_frames(frames: float) -> None:
    step = number_step(frames)
    assert step >= frames or step == 1
    assert str(step)[0] in "125"
    assert set(str(step)[1:]) <= {"0"}
    assert step <= max(1.0, 2.5 * frames)


def test_sliders_of_a_joint_are_in_degrees_and_know_their_ends() -> None:
    document = new_document(viewer.load("sample:walk"))
    skeleton = document.skeleton
    for joint in range(len(skeleton)):
        for one in coordinates(document, joint):
            least, most = one.bounds.least, one.bounds.most
            assert least is not None
            assert most is not None
            assert -180.0 <= least <= one.bounds.rest <= most <= 180.0


@given(st.integers(0, 10_000))
def test_a_joint_at_a_limit_has_a_slider_at_an_end(seed: int) -> None:
    """Also a ball with ranges of swing: each of its swings has a range of its own."""
    skeleton = viewer.load("sample:biped").skeleton
    random = np.random.default_rng(seed)
    bent = viewer.pose_at(skeleton, random.uniform(-3.0, 3.0, len(skeleton.dof_names)))
    document = replace(new_document(viewer.load("sample:biped")), pose=viewer.project_pose(skeleton, bent))
    limited = joints_at_limit(document)
    assert limited
    for name in limited:
        assert any(one.bounds.at_limit for one in coordinates(document, skeleton.index(name)))
        off = replace(document, unlimited=frozenset({name}))
        assert not any(one.bounds.at_limit for one in coordinates(off, skeleton.index(name)))


def test_angles_stay_the_ones_that_were_set() -> None:
    angles = Angles()
    angles.of("hand", from_euler(np.radians([170.0, 10.0, 0.0]), "xyz").tolist())
    turn = angles.turned(1, 100.0).tolist()
    assert angles.of("hand", turn) == pytest.approx((170.0, 100.0, 0.0))
    assert abs(from_euler(np.radians(Angles().of("hand", turn)), "xyz") @ turn) == pytest.approx(1.0)


def test_every_sample_has_a_drawing_inside_its_card() -> None:
    for name in sample_names():
        places = np.array(outline(name))
        assert len(places)
        assert places.min() >= -1e-9
        assert places.max() <= 1.0 + 1e-9


def test_the_plot_shows_the_tolerance_and_all_errors() -> None:
    scale = ErrorScale.of([0.5, 0.003, 0.0002], 0.001, metres=True)
    assert 0.0 < scale.part(0.001) < scale.part(0.5) <= 1.0


def test_sizes_in_words() -> None:
    words = [size_words(size) for size in (0, 999, 1500, 2_500_000, 7 * 10**9)]
    assert words == ["0 B", "999 B", "1.5 kB", "2.5 MB", "7.0 GB"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (GoalError(0.1777, None, reached=False), "177.7 mm"),
        (GoalError(0.0, 0.2, reached=True), "0.0 mm"),
        (GoalError(0.0004, 12.3, reached=False), "12.3°"),
        (GoalError(0.2, 12.3, reached=False), "200.0 mm"),
        (GoalError(None, 3.0, reached=False), "3.0°"),
        (GoalError(1.5, None, reached=False), "1500 mm"),
        (None, "\N{EN DASH}"),
    ],
)
def test_the_error_of_a_goal_says_what_is_missed(error: GoalError | None, words: str) -> None:
    assert error_words(error, 1e-3) == words


def test_items_go_to_the_next_row_where_they_have_no_room() -> None:
    assert rows_within([40, 30, 50], 100, 10) == [[0, 1], [2]]
    assert rows_within([40, 30, 20], 110, 10) == [[0, 1, 2]]
    assert rows_within([200, 30], 100, 10) == [[0], [1]]
    assert rows_within([], 100, 10) == []
