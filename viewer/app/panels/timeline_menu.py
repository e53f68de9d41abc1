"""What can be set of the timeline: rate and range, recording, ghosts and trails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.panels.commands import hint, run
from viewer.app.widgets.buttons import icon_button, toggle
from viewer.app.widgets.edits import Phase, carry_out
from viewer.app.widgets.fields import Format, number_field
from viewer.app.widgets.rows import label, separator
from viewer.session.actions import SetRange, SetTakeRate
from viewer.session.take.values import MOST_FRAMES
from viewer.ui.frames import last_frame, played_range

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.app.widgets.edits import Edit

_NAME, _LABEL, _FIELD = "timeline options", 150.0, 84.0
_RATE = Format(decimals=2, unit=" fps", per_pixel=0.25, snap=5.0, units={}, low=0.1, high=1000.0)
_TOLERANCE = Format(decimals=1, unit="°", per_pixel=0.05, snap=0.5, units={}, low=0.0, high=30.0)
_FEW = Format(decimals=0, per_pixel=0.05, snap=1.0, units={}, low=1.0, high=5.0)
_STEP = Format(decimals=0, per_pixel=0.2, snap=5.0, units={}, low=0.0, high=1000.0)


def settings_button(ui: PanelContext, size: float) -> None:
    """A button that opens them."""
    if icon_button(ui, "timeline settings", fa.ICON_FA_SLIDERS, "Rate, range, recording, ghosts", size=size):
        imgui.open_popup(_NAME)
    imgui.push_style_var(imgui.StyleVar_.window_padding, (ui.px(12), ui.px(10)))
    if imgui.begin_popup(_NAME):
        _take(ui)
        separator(ui)
        _recording(ui)
        separator(ui)
        _echoes(ui)
        imgui.end_popup()
    imgui.pop_style_var()


def _done(edit: Edit | None) -> float | None:
    """The value of what is no document's, at once."""
    return edit.value if edit is not None and edit.phase in {Phase.SET, Phase.MOVE, Phase.BEGIN} else None


def _take(ui: PanelContext) -> None:
    document = ui.session.document
    first, last = played_range(document)
    most = float(last_frame(document) if document.clip else MOST_FRAMES - 1)
    label(ui, "Range", width=_LABEL, hint="Frames that are played and exported   Alt+[ and Alt+]")
    form = Format(decimals=0, per_pixel=0.2, snap=10.0, units={}, low=0.0, high=most)
    edit = number_field(ui, "first frame", float(first), form, width=ui.px(_FIELD))
    carry_out(ui, edit, "Range", lambda frame: SetRange(round(frame), max(last, round(frame))))
    imgui.same_line()
    edit = number_field(ui, "last frame", float(last), form, width=ui.px(_FIELD))
    carry_out(ui, edit, "Range", lambda frame: SetRange(min(first, round(frame)), round(frame)))
    label(ui, "Rate", width=_LABEL, hint="Frames per second; keys stay at their frames")
    edit = number_field(ui, "rate", 1.0 / document.frame_time, _RATE, width=ui.px(_FIELD))
    carry_out(ui, edit, "Rate", SetTakeRate)


def _recording(ui: PanelContext) -> None:
    liked = ui.controller.preferences
    label(
        ui, "Recording keeps", width=_LABEL, hint="Keys that the others say as well, to so many degrees, are left out"
    )
    edit = _done(number_field(ui, "tolerance", liked.record_tolerance_deg, _TOLERANCE, width=ui.px(_FIELD)))
    if edit is not None:
        liked.record_tolerance_deg = round(edit, 2)
        ui.session.record_tolerance_deg = liked.record_tolerance_deg
        ui.controller.changed()
    imgui.same_line()
    imgui.align_text_to_frame_padding()
    imgui.text_disabled("every frame" if liked.record_tolerance_deg == 0.0 else "off by at most")


def _echoes(ui: PanelContext) -> None:
    liked, changed = ui.controller.preferences, ui.controller.changed
    _switch(ui, "show.ghosts")
    label(ui, "  Before and after", width=_LABEL)
    count = _done(number_field(ui, "ghosts", float(liked.ghosts_around), _FEW, width=ui.px(_FIELD)))
    if count is not None:
        liked.ghosts_around = round(count)
        changed()
    label(ui, "  Every", width=_LABEL, hint="Frames from ghost to ghost; 0: at keys")
    step = _done(number_field(ui, "ghost step", float(liked.ghost_step), _STEP, width=ui.px(_FIELD)))
    if step is not None:
        liked.ghost_step = round(step)
        changed()
    imgui.same_line()
    imgui.align_text_to_frame_padding()
    imgui.text_disabled("at keys" if liked.ghost_step == 0 else "frames")
    _switch(ui, "show.trails")
    label(ui, "  Frames each way", width=_LABEL, hint="0: a second")
    reach = _done(number_field(ui, "trail", float(liked.trail_frames), _STEP, width=ui.px(_FIELD)))
    if reach is not None:
        liked.trail_frames = round(reach)
        changed()
    imgui.same_line()
    imgui.align_text_to_frame_padding()
    imgui.text_disabled("one second" if liked.trail_frames == 0 else "frames")


def _switch(ui: PanelContext, command: str) -> None:
    words = {"show.ghosts": "Ghosts", "show.trails": "Motion trails"}[command]
    label(ui, words, width=_LABEL)
    if toggle(ui, command, on=bool(ui.controller.checked(command)), hint=hint(command)):
        run(ui, command)
