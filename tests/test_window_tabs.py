"""A click on a tab shows its panel at once and completely, also in a window where nothing else moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.app import TABBED, TABS, Place
from window_pilot import Pilot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@pytest.fixture
def pilot() -> Iterator[Pilot]:
    pilot = Pilot("sample:walk")
    yield pilot
    pilot.close()


def _body(pilot: Pilot, place: Place) -> NDArray[np.uint8]:
    """The pixels of a tabbed place without its strip."""
    pilot.move(640.0, 300.0)
    pilot.settle()
    rect = pilot.app.painter.ui.regions.body(place)
    return pilot.picture()[rect.y : rect.y + rect.h, rect.x : rect.x + rect.w]


def _choose(pilot: Pilot, place: Place, title: str) -> None:
    """Click a tab; they stand side by side, so the strip is tried from the left."""
    ui, chosen = pilot.app.painter.ui, title.casefold()
    strip = ui.regions.rects[place]
    for x in range(strip.x + 12, strip.x + 200, 12):
        if ui.layout.tabs.get(place) != chosen:
            pilot.click(float(x), strip.y + TABS / 2.0)
    assert ui.layout.tabs[place] == chosen


@pytest.mark.parametrize(
    ("place", "titles"), [(Place.BOTTOM, ("Timeline", "Curves")), (Place.RIGHT_TOP, ("Solver", "History"))]
)
def test_a_tab_shows_its_own_panel_each_time_that_it_is_chosen(
    pilot: Pilot, place: Place, titles: tuple[str, str]
) -> None:
    assert place in TABBED
    _choose(pilot, place, titles[1])
    _choose(pilot, place, titles[0])
    first = _body(pilot, place)
    _choose(pilot, place, titles[1])
    second = _body(pilot, place)
    rows = min(len(first), len(second))  # a plot stands taller than keys
    assert (first[:rows] != second[:rows]).mean() > 0.01
    for title, before in ((titles[0], first), (titles[1], second)):
        _choose(pilot, place, title)
        assert np.array_equal(_body(pilot, place), before)
