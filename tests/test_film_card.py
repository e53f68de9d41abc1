"""The card of a film that is being made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inside.ui import FilmProgress
from panel_window import PanelWindow

import viewer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load("sample:walk"))
    yield made
    made.close()


def test_the_card_says_how_far_it_is_and_gives_up_when_told(window: PanelWindow) -> None:
    window.ui.film = FilmProgress("a_rather_long_name_of_a_film_that_nobody_would_type.mp4", 6800, 23, 12.0)
    window.frames(3)
    assert {"23 of 6800", "12 s left"} <= set(window.words("filming"))
    places = [line.right for line in window.lines if line.name == "23 of 6800"]
    window.ui.film.done = 6799
    window.frames()
    assert [line.right for line in window.lines if line.name == "6799 of 6800"] == places
    view = window.ui.regions.viewport
    for line in (line for line in window.lines if line.panel == "filming"):
        assert view.x <= line.left < line.right <= view.x + view.w
    window.click("filming", "Cancel")
    assert [request.name for request in window.ui.requests] == ["film-cancel"]


def test_the_card_says_that_the_window_closes_with_the_film(window: PanelWindow) -> None:
    window.ui.film = FilmProgress("a_rather_long_name_of_a_film_that_nobody_would_type.mp4", 68, 23)
    window.frames(3)
    assert "closes when done" not in window.words("filming")
    window.ui.film.closes = True
    window.frames(3)
    said = next(line for line in window.lines if line.name == "closes when done")
    name = next(line for line in window.lines if line.name.startswith("Filming a"))
    assert name.right < said.left
    view = window.ui.regions.viewport
    assert said.right <= view.x + view.w


def test_messages_stand_above_the_card(window: PanelWindow) -> None:
    window.ui.film = FilmProgress("a.mp4", 68)
    window.controller.view.note("Something else")
    window.frames(3)
    said = next(line for line in window.lines if line.name == "Something else")
    card = next(line for line in window.lines if line.name == "Filming a.mp4")
    assert said.bottom < card.top
