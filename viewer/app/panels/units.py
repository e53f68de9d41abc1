"""Units, axes and frame time of a file, changed after loading: what is not in the file can only be guessed."""

from __future__ import annotations

from dataclasses import dataclass

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.widgets.buttons import label, quiet, segments
from viewer.app.widgets.dialogs import Choice, begin_dialog, choices, dialog_title, end_dialog
from viewer.app.widgets.edits import attempt
from viewer.app.widgets.fields import evaluate, text_line
from viewer.app.widgets.pen import gap
from viewer.document.actions import SetFrameTime, SetUnits
from viewer.errors import InputError
from viewer.ui.opening import units_of

NAME = "##units"

_WIDTH, _LABEL = 500.0, 110.0
_UNITS = ("auto", "m", "cm", "mm", "inch", "cmu", "other")
_WORDS = ("Auto", "m", "cm", "mm", "inch", "CMU", "Other")
_UPS = ("auto", "y", "z")


@dataclass(slots=True)
class _State:
    """What is being chosen.

    Attributes:
        units: index into `_UNITS`.
        metres: of one unit, typed, for "other".
        up: index into `_UPS`.
        rate: frames a second, typed; nothing leaves it.
    """

    units: int = 0
    metres: str = "1"
    up: int = 0
    rate: str = ""


def draw(ui: PanelContext) -> None:
    """Open, draw and close the dialog."""
    if ui.take("units-dialog") is not None:
        ui.memory["state"] = _now(ui)
        imgui.open_popup(NAME)
    if not begin_dialog(ui, NAME, width=_WIDTH):
        return
    state: _State = ui.memory["state"]
    done = dialog_title(ui, "Units, axes, frame time")
    quiet(ui, f"Read as {units_of(ui.session.document.character)}")
    gap(ui.px(4))
    _choices(ui, state)
    gap(ui.px(8))
    pressed = choices(ui, Choice("Cancel"), Choice("Apply", primary=True))
    if pressed == "Apply":
        done = attempt(ui, lambda: _apply(ui, state))
        ui.wake()
    if done or pressed == "Cancel":
        imgui.close_current_popup()
    end_dialog()


def _now(ui: PanelContext) -> _State:
    document = ui.session.document
    source, clip = document.character.source, document.clip_data
    known = source.units in _UNITS
    return _State(
        units=_UNITS.index(source.units) if known else len(_UNITS) - 1,
        metres=f"{source.metres_per_unit:g}",
        up=_UPS.index(source.up),
        rate=f"{1.0 / clip.frame_time:.6g}" if clip is not None else "",
    )


def _choices(ui: PanelContext, state: _State) -> None:
    label(ui, "One unit is", width=_LABEL, height=26)
    room = imgui.get_content_region_avail().x
    chosen = segments(ui, "units", _WORDS, state.units, widths=float(int(room / len(_WORDS))))
    state.units = state.units if chosen is None else chosen
    if _UNITS[state.units] == "other":
        label(ui, "Metres per unit", width=_LABEL)
        state.metres, _ = text_line(ui, "metres", state.metres, width=ui.px(140))
    label(ui, "Up", width=_LABEL, height=26)
    chosen = segments(ui, "up", ("Auto", "Y", "Z"), state.up, widths=ui.px(60))
    state.up = state.up if chosen is None else chosen
    if ui.session.document.clip_data is not None:
        label(ui, "Frames a second", width=_LABEL, hint="The frames stay, they are shown faster or slower")
        state.rate, _ = text_line(ui, "rate", state.rate, width=ui.px(140))


def _apply(ui: PanelContext, state: _State) -> None:
    """Do what was changed, and nothing else: each change is a step of the history."""
    session, before = ui.session, _now(ui)
    if (state.units, state.up) != (before.units, before.up) or state.metres != before.metres:
        units: str | float = _UNITS[state.units]
        session.dispatch(SetUnits(evaluate(state.metres) if units == "other" else units, _UPS[state.up]))
    if state.rate != before.rate and session.document.clip_data is not None:
        rate = evaluate(state.rate)
        if rate <= 0.0:
            raise InputError(f'frames a second: expected a number above 0, found "{state.rate}"')
        session.dispatch(SetFrameTime(1.0 / rate))
