"""The timeline of a loaded clip: transport and a ruler to scrub on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.panels.commands import hint, run
from viewer.app.panels.ruler import draw_ruler
from viewer.app.widgets.buttons import drop_button, icon_button
from viewer.app.widgets.edits import Phase, act, attempt
from viewer.app.widgets.fields import Format, number_field
from viewer.app.widgets.items import gap
from viewer.app.widgets.pen import Pen
from viewer.app.widgets.rows import quiet
from viewer.session.actions import SetClip
from viewer.session.playback import Loop
from viewer.ui import numbers
from viewer.ui.playback import SPEEDS

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.skeleton.clip import Clip

NO_CLIP = "No motion in this file. Drop a BVH file to play one"

_LOOPS = {
    Loop.OFF: (fa.ICON_FA_ARROW_RIGHT_TO_BRACKET, "Stops at the end", "text2"),
    Loop.LOOP: (fa.ICON_FA_REPEAT, "Loops", "accent"),
    Loop.PING_PONG: (fa.ICON_FA_RIGHT_LEFT, "Goes back and forth", "accent"),
}
_SMALL = 24.0


def draw(ui: PanelContext) -> None:
    """Draw the panel; folded to its transport row where there is no room for more."""
    clip = ui.session.document.clip_data
    if clip is None:
        quiet(ui, NO_CLIP)
        _clips(ui)
        return
    short = ui.regions.short_timeline
    if short:
        imgui.set_cursor_pos_y(round((imgui.get_window_height() - ui.px(_SMALL)) / 2.0))
    _transport(ui, clip)
    if not short:
        gap(ui.px(1))
        draw_ruler(ui, clip)


def _transport(ui: PanelContext, clip: Clip) -> None:
    playing = ui.session.playing
    spacing = ui.px(4)
    buttons = (
        ("play.first", fa.ICON_FA_BACKWARD_FAST), ("play.previous", fa.ICON_FA_BACKWARD_STEP),
        ("play.forwards", fa.ICON_FA_PAUSE if playing else fa.ICON_FA_PLAY),
        ("play.next", fa.ICON_FA_FORWARD_STEP), ("play.last", fa.ICON_FA_FORWARD_FAST),
    )  # fmt: skip
    for command, icon in buttons:
        main = command == "play.forwards"
        colour = "text" if main else "text2"
        if icon_button(ui, command, icon, hint(command), size=_SMALL, colour=colour, fill="field" if main else None):
            run(ui, "play.backwards" if main and playing < 0 else command)
        imgui.same_line(0.0, spacing)
    icon, words, tone = _LOOPS[ui.session.loop]
    if icon_button(ui, "loop", icon, hint("play.loop", words), size=_SMALL, colour=tone, fill=None):
        run(ui, "play.loop")
    imgui.same_line(0.0, ui.px(12))
    _speed(ui)
    imgui.same_line(0.0, ui.px(12))
    _frame(ui, clip)
    _clips(ui)


def _speed(ui: PanelContext) -> None:
    if drop_button(
        ui, "speed", _factor(ui.session.speed), width=ui.px(74), height=_SMALL, hint=hint("play.faster", "Speed")
    ):
        imgui.open_popup("speeds")
    if imgui.begin_popup("speeds"):
        for speed in SPEEDS:
            if imgui.menu_item_simple(_factor(speed), None, speed == ui.session.speed):
                ui.session.speed = speed
                ui.wake()
        imgui.end_popup()


def _factor(speed: float) -> str:
    """``1.0 x``, with the sign of a factor."""
    return f"{speed:.2f}".removesuffix("0") + " \N{MULTIPLICATION SIGN}"


def _frame(ui: PanelContext, clip: Clip) -> None:
    """``Frame [202] / 278 · 1.683 s · 120 fps``."""
    pen, frame = Pen(ui), ui.session.document.frame
    last = len(clip) - 1
    x, y = imgui.get_cursor_screen_pos()
    h = ui.px(_SMALL)
    if imgui.get_content_region_avail().x > ui.px(200):
        pen.text(x, pen.middle(y, h), "Frame", "text2")
        imgui.dummy((pen.width("Frame"), h))
        imgui.same_line(0.0, ui.px(10))
    form = Format(decimals=0, per_pixel=max(0.1, last / 600.0), snap=10.0, units={}, low=0.0, high=float(last))
    width = max(ui.px(52), pen.width(str(last)) + ui.px(16))
    edit = number_field(ui, "frame", float(frame), form, width=width, hint=hint("play.go_to"))
    if edit is not None and edit.phase is not Phase.COMMIT:
        ui.session.stop()
        attempt(ui, lambda: ui.session.seek(round(edit.value)))
        ui.wake()
    imgui.same_line(0.0, ui.px(8))
    rate = f"{numbers.fixed(1.0 / clip.frame_time, 2).rstrip('0').rstrip('.')} fps"
    words = f"/ {len(clip)} · {numbers.seconds(frame * clip.frame_time)} · {rate}"
    x, y = imgui.get_cursor_screen_pos()
    words = pen.fit(words, imgui.get_content_region_avail().x)
    pen.text(x, pen.middle(y, h), words, "text2")
    imgui.dummy((pen.width(words), h))


def _clips(ui: PanelContext) -> None:
    """Which clip, where the file has several."""
    document = ui.session.document
    clips = document.character.clips
    if not clips or (len(clips) == 1 and document.clip is not None):
        return
    imgui.same_line(0.0, ui.px(16))
    room = imgui.get_content_region_avail().x
    if room < ui.px(80):
        imgui.new_line()
        return
    width = min(ui.px(200), room)
    x, y = imgui.get_cursor_screen_pos()
    imgui.set_cursor_screen_pos((x + room - width, y))
    if drop_button(ui, "clip", document.clip or "No clip", icon=fa.ICON_FA_FILM, width=width, height=_SMALL):
        imgui.open_popup("clips")
    if imgui.begin_popup("clips"):
        for name in clips:
            if imgui.menu_item_simple(name, None, name == document.clip):
                act(ui, SetClip(name))
        imgui.end_popup()
