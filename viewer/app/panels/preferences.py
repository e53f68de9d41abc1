"""Preferences: scale, mouse, motion, snapping, what is shown."""

from __future__ import annotations

from collections.abc import Callable

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.panels.help_keys import PRESETS
from viewer.app.widgets.buttons import label, segments, separator, text_button, toggle
from viewer.app.widgets.dialogs import Choice, begin_dialog, choices, dialog_title, end_dialog
from viewer.app.widgets.edits import Phase
from viewer.app.widgets.fields import METRES, TURN, Format, in_lengths, number_field
from viewer.app.widgets.pen import Pen, gap
from viewer.session.preferences import LARGEST_SCALE, SMALLEST_SCALE

NAME = "##preferences"

_WIDTH, _LABEL = 520.0, 150.0
_SCALES = (1.0, 1.25, 1.5, 2.0, 3.0)
_SNAP = Format(decimals=3, unit=" m", per_pixel=0.001, snap=0.01, units=METRES, low=1e-4, high=1000.0)
_ANGLE = Format(decimals=1, unit="°", per_pixel=0.1, snap=1.0, units=TURN.units, low=0.1, high=180.0)


def draw(ui: PanelContext) -> None:
    """Open, draw and close the dialog; what is changed acts at once."""
    if ui.take("preferences") is not None:
        imgui.open_popup(NAME)
    if not begin_dialog(ui, NAME, width=_WIDTH):
        return
    done = dialog_title(ui, "Preferences")
    _scale(ui)
    separator(ui)
    _mouse(ui)
    separator(ui)
    _snapping(ui)
    gap(ui.px(6))
    if choices(ui, Choice("Close", primary=True)) or done:
        imgui.close_current_popup()
    end_dialog()


def _scale(ui: PanelContext) -> None:
    preferences = ui.controller.view.preferences
    label(ui, "Interface scale", width=_LABEL)
    words = ["Auto", *(f"{100.0 * scale:.0f} %" for scale in _SCALES)]
    now = preferences.ui_scale
    active = 0 if now is None else 1 + _SCALES.index(now) if now in _SCALES else -1
    each = float(int(imgui.get_content_region_avail().x / len(words)))
    chosen = segments(ui, "scale", words, active, widths=each)
    if chosen is not None:
        preferences.ui_scale = None if chosen == 0 else _SCALES[chosen - 1]
        ui.controller.view.changed()
    label(ui, "", width=_LABEL)
    if text_button(ui, "Smaller", enabled=ui.scale > SMALLEST_SCALE):
        _set_scale(ui, ui.scale - 0.05)
    imgui.same_line()
    if text_button(ui, "Larger", enabled=ui.scale < LARGEST_SCALE):
        _set_scale(ui, ui.scale + 0.05)
    imgui.same_line()
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    pen.text(x, pen.middle(y, pen.px(24)), f"{100.0 * ui.scale:.0f} % now", "text3")
    imgui.dummy((1.0, pen.px(24)))


def _set_scale(ui: PanelContext, scale: float) -> None:
    wanted = round(20.0 * min(max(scale, SMALLEST_SCALE), LARGEST_SCALE)) / 20.0
    ui.controller.view.preferences.ui_scale = wanted
    ui.controller.view.changed()
    ui.wake()


def _mouse(ui: PanelContext) -> None:
    controller = ui.controller
    label(ui, "Mouse", width=_LABEL, height=26, hint="Which buttons move the camera; F1 lists them")
    chosen = segments(ui, "preset", [name.capitalize() for name in PRESETS], PRESETS.index(controller.view.preset))
    if chosen is not None:
        controller.view.preset = PRESETS[chosen]
    preferences = controller.view.preferences
    _switch(
        ui,
        "Trackpad",
        "Two fingers orbit, Shift pans, Ctrl zooms",
        preferences.two_fingers,
        _toggler(ui, "two_fingers"),
    )
    _switch(ui, "Reduce motion", "The camera jumps at once", preferences.reduce_motion, _toggler(ui, "reduce_motion"))


def _toggler(ui: PanelContext, name: str) -> Callable[[], None]:
    def turn() -> None:
        setattr(ui.controller.view.preferences, name, not getattr(ui.controller.view.preferences, name))
        ui.controller.view.changed()

    return turn


def _switch(ui: PanelContext, words: str, note: str, on: bool, turn: Callable[[], None]) -> None:
    label(ui, words, width=_LABEL)
    if toggle(ui, words, on=on):
        turn()
    imgui.same_line()
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    pen.text(x, pen.middle(y, pen.px(24)), pen.fit(note, imgui.get_content_region_avail().x), "text3")
    imgui.dummy((1.0, pen.px(24)))


def _snapping(ui: PanelContext) -> None:
    controller = ui.controller

    def magnet() -> None:
        controller.view.magnet = not controller.view.magnet

    _switch(ui, "Magnet", "Drags snap, Ctrl lets them go freely", controller.view.magnet, magnet)
    label(ui, "Snap steps", width=_LABEL)
    width = ui.px(110)
    edit = number_field(ui, "snap m", controller.view.snap_m, in_lengths(ui, _SNAP), width=width, hint="Moving")
    if edit is not None and edit.phase is not Phase.COMMIT:
        controller.view.snap_m = edit.value
    imgui.same_line()
    edit = number_field(ui, "snap deg", controller.view.snap_deg, _ANGLE, width=width, hint="Turning")
    if edit is not None and edit.phase is not Phase.COMMIT:
        controller.view.snap_deg = edit.value
