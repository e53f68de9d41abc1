"""Flat shapes: their triangles cover what the shapes do, edges fade over a pixel, nothing breaks them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.scene import Path, box, circle, clipped, dashes, tessellate, text_width
from scenes import SIZE
from strategies import seeds

from viewer.scene import rgba

if TYPE_CHECKING:
    from inside.scene import Records
    from inside.spatial import Bools
    from numpy.typing import ArrayLike

WHITE = (1.0, 1.0, 1.0, 1.0)


def stroke(
    points: ArrayLike, width: float, colour: tuple[float, float, float, float], *, closed: bool = False
) -> Records:
    return tessellate([Path(np.asarray(points, dtype=np.float64), colour, width, closed)])


def fill(points: ArrayLike, colour: tuple[float, float, float, float]) -> Records:
    return tessellate([Path(np.asarray(points, dtype=np.float64), colour)])


def covered(flat: Records) -> float:
    """Pixels covered: the integral of opacity, which a feather on both sides of an edge keeps."""
    corners = flat["position"].astype(np.float64).reshape(-1, 3, 2)
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    areas = 0.5 * np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    return float((areas * flat["colour"][:, 3].reshape(-1, 3).mean(axis=1)).sum())


@given(st.floats(2.0, 200.0), st.floats(1.0, 10.0))
def test_a_circle_covers_its_area_filled_and_its_length_stroked(radius: float, width: float) -> None:
    outline = circle((50.0, 60.0), radius)
    assert covered(fill(outline, WHITE)) == pytest.approx(math.pi * radius**2, rel=0.06)
    wide = min(width, radius)
    line = covered(stroke(outline, wide, WHITE, closed=True))
    assert line == pytest.approx(2.0 * math.pi * radius * wide, rel=0.06)


@given(seeds, st.floats(0.2, 8.0))
def test_a_line_covers_its_length_times_its_width(seed: int, width: float) -> None:
    ends = np.random.default_rng(seed).uniform(0.0, 500.0, (2, 2))
    length = float(np.linalg.norm(ends[1] - ends[0]))
    line = stroke(ends, width, (1.0, 0.5, 0.0, 0.5))
    # Ends and edges fade by equal parts outside and inside, but for corners.
    assert covered(line) == pytest.approx(0.5 * length * width, rel=1e-3, abs=0.2)
    np.testing.assert_allclose(line["colour"][:, :3], np.tile([1.0, 0.5, 0.0], (len(line), 1)))


@given(seeds)
def test_a_filled_shape_is_the_same_either_way_round(seed: int) -> None:
    turns = (np.arange(7) + np.random.default_rng(seed).uniform(0.0, 0.5, 7)) * (2.0 * math.pi / 7)
    outline = 100.0 + 60.0 * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    one, other = covered(fill(outline, WHITE)), covered(fill(outline[::-1], WHITE))
    x, y = outline.T
    area = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
    assert one == pytest.approx(other, rel=2e-3)
    assert one == pytest.approx(area, rel=2e-3)


def test_edges_fade_over_one_pixel() -> None:
    line = stroke([(0.0, 10.0), (100.0, 10.0)], 4.0, WHITE)
    middle = line[(line["position"][:, 0] > 0.4) & (line["position"][:, 0] < 99.6)]
    rows = sorted({(round(float(y), 3), float(alpha)) for (_, y), (*_, alpha) in
                   zip(middle["position"].tolist(), middle["colour"].tolist(), strict=True)})  # fmt: skip
    assert rows == [(7.5, 0.0), (8.5, 1.0), (11.5, 1.0), (12.5, 0.0)]


def test_shapes_keep_their_order_and_bad_ones_are_left_out() -> None:
    first, second = Path(box(0, 0, 9, 9), rgba("x")), Path(box(5, 5, 20, 20), rgba("y"), 2.0, closed=True)
    broken = Path(np.array([(0.0, np.nan), (1.0, 1.0)]), WHITE, 1.0)
    single = Path(np.array([(1.0, 1.0)]), WHITE, 1.0)
    both = tessellate([first, broken, second, single])
    assert np.array_equal(both, np.concatenate([tessellate([first]), tessellate([second])]))
    assert len(tessellate([broken])) == len(tessellate([])) == 0


@pytest.mark.parametrize("points", [
    [(5.0, 5.0), (5.0, 5.0)], [(0.0, 0.0), (10.0, 0.0), (0.0, 0.0)], [(0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (2.0, 1.0)],
])  # fmt: skip
def test_lines_that_stand_still_or_turn_back_are_finite(points: list[tuple[float, float]]) -> None:
    for closed in (False, True):
        line = stroke(points, 3.0, WHITE, closed=closed)
        assert np.isfinite(line["position"]).all()
        assert np.abs(line["position"]).max() < 20.0, "corners have no spikes"


@given(seeds, st.floats(1.0, 20.0), st.floats(1.0, 20.0))
def test_dashes_lie_on_the_line(seed: int, on: float, off: float) -> None:
    start, end = np.random.default_rng(seed).uniform(0.0, 300.0, (2, 2))
    pieces = dashes(start, end, on, off)
    length = float(np.linalg.norm(end - start))
    drawn = [float(np.linalg.norm(b - a)) for a, b in pieces]
    assert all(piece == pytest.approx(on) for piece in drawn[:-1])
    assert len(pieces) == math.ceil(length / (on + off) - 1e-12)
    np.testing.assert_allclose(pieces[0][0], start)
    assert dashes(start, start, on, off) == []


@given(seeds)
def test_a_clipped_line_is_the_part_on_the_view(seed: int) -> None:
    start, end = np.random.default_rng(seed).normal(size=(2, 2)) * 800.0
    part = clipped(start, end, SIZE, 10.0)
    along = np.linspace(start, end, 2001)
    low, high = np.array([-10.0, -10.0]), np.array(SIZE) + 10.0
    on_view: Bools = np.all((along >= low) & (along <= high), axis=1)
    if part is None:
        assert not on_view[1:-1].any()
        return
    first, last = np.linalg.norm(np.array(part) - start, axis=1)
    reach = np.linalg.norm(along[on_view] - start, axis=1)
    assert reach.size == 0 or (first - 1e-6 <= reach.min() and reach.max() <= last + 1e-6)
    assert clipped(start, (np.nan, 0.0), SIZE, 10.0) is None


def test_widths_by_hand() -> None:
    assert text_width("1111", 24.0) == pytest.approx(46.0), "1150 units of 2400, four times"
    assert text_width("日本", 12.0) > text_width("ab", 12.0)
