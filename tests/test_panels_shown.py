"""Tabs of panels: the submenu Window > Panels closes them and brings them to the front, requests find their place."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from characters import every_kind
from imgui_bundle import imgui
from inside.app import MENU, PANELS, TABBED, TOOLBAR, Panel, menus
from inside.session import DEMOS
from panel_window import PanelWindow

from viewer import load
from viewer.ui import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(every_kind(), size=(1600, 1000))
    yield made
    made.close()


def tabs(window: PanelWindow) -> set[str]:
    """The ids of the panels that have tabs on the screen."""
    window.frames(2)
    known = {panel.id for panel in PANELS}
    return {box.name for box in window.boxes if box.panel == "" and box.name in known}


@pytest.mark.parametrize("workspace", Workspace)
@pytest.mark.parametrize(("size", "scale"), [((900, 600), 1.0), ((1280, 720), 1.5)])
def test_tabs_stay_inside_the_window(workspace: Workspace, size: tuple[int, int], scale: float) -> None:
    window = PanelWindow(every_kind(), size, scale)
    window.controller.view.enter(workspace)
    shown = tabs(window)
    boxes = [box for box in window.boxes if box.panel == "" and box.name in shown]
    assert boxes
    assert all(box.right <= size[0] and box.right - box.left >= 24 * scale for box in boxes)
    fronts = [window.ui.front(place) for place in TABBED if place in window.ui.regions.rects]
    whole = {panel.id: imgui.calc_text_size(panel.title).x for panel in fronts if panel}
    assert all(box.right - box.left >= whole.get(box.name, 0.0) for box in boxes)  # only those behind are cut
    window.close()


SCALES = (1.0, 1.5, 2.0)


@pytest.mark.parametrize("workspace", Workspace)
@pytest.mark.parametrize("scale", SCALES)
def test_buttons_of_the_toolbar_stand_side_by_side_inside_the_window(workspace: Workspace, scale: float) -> None:
    window = PanelWindow(load("sample:walk"), (1280, 720), scale)
    window.controller.run(f"workspace.{workspace}")
    window.frames(3)
    buttons = sorted((box for box in window.boxes if box.panel == "toolbar"), key=lambda box: box.left)
    window.close()
    assert {"edit.undo", "edit.redo"} <= {box.name for box in buttons}
    assert all(one.right <= next_one.left for one, next_one in pairwise(buttons))
    assert buttons[-1].right <= 1280
    assert {one.top + one.bottom for one in buttons} == {2 * (MENU + TOOLBAR / 2.0) * scale}


@pytest.mark.parametrize("scale", SCALES[:2])
def test_the_timeline_has_its_ruler_wherever_it_has_a_tab(scale: float) -> None:
    window = PanelWindow(load("sample:walk"), (1280, 720), scale)
    for workspace in (Workspace.POSE, Workspace.ANIMATE):
        window.controller.run(f"workspace.{workspace}")
        window.frames(3)
        ruler = window.box("timeline", "ruler")
        assert ruler.bottom - ruler.top >= 30 * scale
    window.close()


def entries(window: PanelWindow, click: str = "") -> dict[str, tuple[bool, bool]]:
    """The submenu's entries: whether each is ticked, and can be chosen; ``click`` chooses one that can."""
    found: dict[str, tuple[bool, bool]] = {}

    def entry(title: str, _: str, ticked: bool, able: bool) -> tuple[bool, bool]:
        found[title] = ticked, able
        return able and title == click, ticked

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imgui, "begin_menu", lambda name: name == "Panels")
        patch.setattr(imgui, "end_menu", lambda: None)
        patch.setattr(imgui, "menu_item", entry)
        menus.draw_panel_entries(window.ui)
    return found


def test_the_submenu_has_the_panels_with_tabs_of_the_workspace(window: PanelWindow) -> None:
    here = [panel.title for panel in window.ui.fitting() if panel.place in TABBED]
    assert [*entries(window)] == here
    assert {"Skeleton", "Goals", "Inspector", "Solver", "History", "Timeline", "Curves"} <= {*here}
    assert "Convergence" not in here
    window.controller.view.enter(Workspace.LAB)
    assert "Convergence" in entries(window)


def test_a_panel_in_front_is_closed_and_others_are_brought_to_the_front(window: PanelWindow) -> None:
    assert {"solver", "history"} <= tabs(window)
    history = next(panel for panel in PANELS if panel.id == "history")
    for panel in window.ui.fitting():
        if panel.place is history.place and panel.id not in {"solver", "history"}:
            window.ui.close_panel(panel.id)
    entries(window, "History")
    assert window.ui.layout.tabs["right-bottom"] == "history"
    entries(window, "History")
    assert "history" not in tabs(window)
    assert entries(window)["History"] == (False, True)
    assert entries(window)["Solver"] == (True, False), "the last panel of a place stays"
    entries(window, "History")
    assert {"solver", "history"} <= tabs(window)
    assert window.ui.layout.tabs["right-bottom"] == "history"
    entries(window, "History")
    window.ui.layout.reset()
    assert "history" in tabs(window)


@pytest.mark.parametrize("panel", [panel for panel in PANELS if panel.place in TABBED], ids=lambda panel: panel.id)
def test_a_panel_is_shown_at_its_own_place(window: PanelWindow, panel: Panel) -> None:
    view, ui = window.controller.view, window.ui
    view.enter(panel.workspace or next(each for each in Workspace if each not in panel.hidden_in))
    view.panels.hidden = True
    view.panels.left = view.panels.right = False
    ui.close_panel(panel.id)
    ui.show_panel(panel.id)
    ui.layout.workspace = view.workspace
    ui.regions = ui.layout.regions(window.size, 1.0)
    if panel in ui.fitting():  # some need a robot
        assert ui.front(ui.regions.place(panel.place)) is panel
    assert not view.panels.hidden


def test_switches_in_the_menu_bar_close_and_open_the_panels_of_a_side(window: PanelWindow) -> None:
    panels = window.controller.view.panels
    for side in ("left", "right"):
        window.click("menu", f"panels {side}")
        assert not panels.shows(side)
        window.click("menu", f"panels {side}")
        assert panels.shows(side)


def test_panels_that_demos_ask_for_are_there() -> None:
    assert {demo.panel for demo in DEMOS if demo.panel} <= {panel.id for panel in PANELS}


def test_the_card_of_a_demo_stays_inside_a_low_view() -> None:
    window = PanelWindow(load("sample:biped"), scale=2.0)
    window.controller.files.open("demo:s-lock")
    window.frames(4)
    card, view = imgui.internal.find_window_by_name("##demo card"), window.ui.regions.viewport
    assert card is not None
    assert card.pos.y >= view.y
    assert card.pos.y + card.size.y <= view.y + view.h
    window.close()


@pytest.mark.parametrize("scale", [1.0, 1.5])
@pytest.mark.parametrize("width", [800, 820, 840, 1000, 1024, 1050])
def test_every_button_of_the_toolbars_is_whole_inside_the_window(width: int, scale: float) -> None:
    window = PanelWindow(load("sample:biped"), (int(scale * width), int(scale * 640)), scale)
    for workspace in Workspace:
        window.controller.view.enter(workspace)
        window.frames(3)
        ends = {box.name: box.right for box in window.boxes if box.panel == "toolbar"}
        assert max(ends.values()) <= scale * (width - 6), (workspace, ends)
        own = workspace in {Workspace.POSE, Workspace.ANIMATE}
        assert "solver" in ends or not own, workspace
        assert {"body", "show"} <= ends.keys() or (own and width <= 820), workspace
    window.close()
