"""Markers on the ruler: flags with names, a menu, and the dialog that asks for a name."""

from __future__ import annotations

from collections.abc import Callable

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.widgets.dialogs import ask_name, dialog, popup
from viewer.app.widgets.edits import attempt
from viewer.app.widgets.pen import Pen
from viewer.document.markers import Marker, marker_at

LANE = 17.0
"""Height of the lane of markers below the frame numbers, logical pixels."""
_FLAG, _INDENT, _APART = 4.5, 8.0, 6.0
"""Half a flag's width, where its name begins, and least space between a name and the next flag."""
_NAME, _MENU = "marker name", "marker menu"


def lane_height(ui: PanelContext) -> float:
    """Logical pixels that the lane takes: none without markers."""
    return LANE if ui.session.document.markers else 0.0


def draw_flags(pen: Pen, markers: tuple[Marker, ...], x: Callable[[float], float], top: float, bottom: float) -> None:
    """Draw flags with names in a lane from ``top``, and thin lines down to ``bottom``; framebuffer pixels."""
    places = [x(marker.frame) for marker in markers]
    lane, half, line, thick = pen.px(LANE), pen.px(_FLAG), pen.ink("warn", 0.35), max(1.0, pen.px(1))
    for index, (marker, at) in enumerate(zip(markers, places, strict=True)):
        pen.draw.add_rect_filled((round(at), top + lane), (round(at) + thick, bottom), line)
        y, left, right = top + 0.5 * lane, at - half, at + half
        pen.shape([(left, y - half), (right, y - half), (right, y), (at, y + half), (left, y)], "warn")
        room = (places[index + 1] if index + 1 < len(places) else float("inf")) - at - pen.px(_INDENT + _APART)
        words = pen.fit(marker.name, room, SMALL) if room < pen.width(marker.name, SMALL) else marker.name
        pen.text(at + pen.px(_INDENT), pen.middle(top, lane, SMALL), words, "text2", SMALL)


def marker_near(markers: tuple[Marker, ...], x: Callable[[float], float], at: float, reach: float) -> int | None:
    """The frame of the marker whose flag is within reach of a pixel, or None."""
    near = min(((abs(x(marker.frame) - at), marker.frame) for marker in markers), default=None)
    return near[1] if near is not None and near[0] <= reach else None


def open_marker_menu(ui: PanelContext, frame: int) -> None:
    """Open the menu of a marker."""
    ui.memory["marker"] = frame
    imgui.open_popup(_MENU)


def draw_marker_menu(ui: PanelContext) -> None:
    """Draw the menu of a marker, and the dialog that asks for its name, if they are open."""
    markers = ui.controller.markers
    with popup(ui, _MENU) as opened:
        if opened:
            frame = ui.memory["marker"]
            if imgui.menu_item_simple("Rename marker"):
                markers.rename(frame)
            if imgui.menu_item_simple("Remove marker"):
                attempt(ui, lambda: markers.remove(frame))
                ui.wake()
    _draw_name(ui)


def _draw_name(ui: PanelContext) -> None:
    markers = ui.controller.markers
    marker = None if markers.renamed is None else marker_at(markers.all, markers.renamed)
    if marker is not None and not imgui.is_popup_open(_NAME):
        ui.memory["marker name"] = marker.name
        imgui.open_popup(_NAME)
    with dialog(ui, _NAME, width=340.0, title="Marker") as shown:
        if shown is None:
            return
        if marker is None:
            shown.closed = True
            return
        ask_name(ui, shown, f"Frame {marker.frame}", "marker name", "Name", markers.name)
        if shown.closed:
            markers.renamed = None
