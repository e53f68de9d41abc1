"""What pictures without a window write and mark themselves: texts, and goals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.opengl import marks_of, pictures, write_texts
from inside.spatial import from_axis_angle

import viewer
from viewer.scene import Text

if TYPE_CHECKING:
    from collections.abc import Callable


def test_marks_say_how_far_each_kind_of_goal_is_missed() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    world = viewer.fk(skeleton, skeleton.rest_pose())
    hand, at = skeleton.index("LeftHand"), world.positions[skeleton.index("LeftHand")]
    quarter = from_axis_angle(np.array([0.0, 1.0, 0.0]), 0.5 * np.pi)
    goals = [
        viewer.Goal.position("LeftHand", np.add(at, (0, 0.2, 0))),
        viewer.Goal.pin("LeftHand"),
        viewer.Goal.pose("LeftHand", at, quarter),
        viewer.Goal.distance("LeftHand", 0.5, np.add(at, (0, 2.0, 0))),
        viewer.Goal.aim("LeftHand", np.add(at, (0, 0, 3.0)), (0, 0, 1)),
        viewer.Goal.aim("LeftHand", np.add(at, (0, 0, -3.0)), (0, 0, 1)),
        viewer.Goal.position("LeftHand", at, enabled=False),
        viewer.Goal.function(lambda _world: np.zeros(1)),
    ]
    marks = marks_of(goals, skeleton, replace(world, rotations=np.tile([0.0, 0, 0, 1], (len(skeleton), 1))))
    assert [mark.reached for mark in marks] == [False, True, False, False, True, False]
    assert [mark.error_m for mark in marks] == pytest.approx([0.2, 0, 0, 1.5, 0, 0], abs=1e-9)
    assert [mark.pin_position for mark in marks] == [False, True, False, False, False, False]
    assert all(mark.joint == hand for mark in marks)
    assert marks[3].target == pytest.approx(np.add(at, (0, 1.5, 0)))
    assert marks[4].target is None


def text(words: str, x: float, y: float, **more: Any) -> Text:  # noqa: ANN401 - fields of a text
    return Text(words, x, y, (1.0, 1.0, 1.0, 1.0), halo=False, **more)


@pytest.mark.parametrize("without_roboto", [False, True])
def test_texts_stand_where_their_anchor_says(monkeypatch: pytest.MonkeyPatch, without_roboto: bool) -> None:
    if without_roboto:
        monkeypatch.setattr(pictures, "find_spec", lambda _name: None)
    pictures._font.cache_clear()  # fonts are kept, and must be found again
    black = np.zeros((60, 200, 3), np.uint8)
    boxes: dict[str, Callable[[np.ndarray], bool]] = {
        "left": lambda x: abs(x.min() - 100) <= 3,
        "centre": lambda x: abs(x.min() + x.max() - 200) <= 4,
        "right": lambda x: abs(x.max() - 100) <= 3,
    }
    for anchor, stands in boxes.items():
        picture = write_texts(black, [text("178 mm short", 100, 30, anchor=anchor)])
        rows, columns = np.nonzero(picture.max(axis=-1) > 100)
        assert stands(columns), anchor
        assert abs(rows.mean() - 30) < 3
        assert 6 <= np.ptp(rows) <= 13
    assert not black.any()
    large = write_texts(black, [text("178", 100, 30)], scale=2.0)
    assert np.ptp(np.nonzero(large.max(axis=-1) > 100)[0]) >= 14
    pictures._font.cache_clear()


def test_a_halo_is_darker_than_what_is_under_it_and_texts_blend() -> None:
    white = np.full((40, 100, 3), 255, np.uint8)
    haloed = write_texts(white, [Text("short", 10, 20, (1.0, 0.5, 0.0, 1.0))])
    assert haloed.min() < 130
    faint = write_texts(white, [Text("short", 10, 20, (0.0, 0.0, 0.0, 0.25), halo=False)])
    assert 180 <= faint.min() <= 200
    assert write_texts(white, []) is white
    assert (write_texts(white, [Text("", 10, 20, (0.0, 0.0, 0.0, 1.0))]) == white).all()


@pytest.mark.parametrize("anchor", ["left", "centre", "right"])
@pytest.mark.parametrize("place", [(-8.25, 20.5), (100.0, -4.0), (96.75, 42.0), (3.0, 60.0), (300.0, 20.0)])
def test_a_text_at_an_edge_is_cut_there_and_nothing_else(anchor: str, place: tuple[float, float]) -> None:
    rng = np.random.default_rng(3)
    wide = rng.integers(0, 255, (240, 700, 3)).astype(np.uint8)
    around = 100
    inner = np.ascontiguousarray(wide[around : around + 40, around : around + 100])
    words = replace(text("gjÅ|Left", *place, anchor=anchor, size=15), halo=True)
    there = replace(words, x=words.x + around, y=words.y + around)
    cut = write_texts(wide, [there], 1.5)[around : around + 40, around : around + 100]
    np.testing.assert_array_equal(write_texts(inner, [words], 1.5), cut)
