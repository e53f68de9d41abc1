"""The timeline panel: transport, keys, auto-key, and a menu of settings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.layout import SHORT_TIMELINE
from viewer.app.panel_context import PanelContext
from viewer.app.panels.dope_sheet import BLENDS, blend_entries, draw_sheet, scrub_to
from viewer.app.panels.lanes import draw_feet, draw_lanes, lane_heights
from viewer.app.panels.panel_parts import command_button, command_toggle, explained, hint, run
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.dialogs import open_popup, popup
from viewer.app.widgets.edits import Edit, Phase, act, attempt, scrub
from viewer.app.widgets.pen import Area, Pen, Plot, gap, item, tip
from viewer.document import joint_of
from viewer.document.actions import SetClip, SetRange, SetTakeRate
from viewer.document.evaluation import Comparison, rounded_up
from viewer.document.take import MOST_FRAMES
from viewer.errors import shown
from viewer.session import Loop
from viewer.spatial.checks import Floats
from viewer.ui import number_format
from viewer.ui.keying import FARTHEST, keys_beside
from viewer.ui.timeline import SPEEDS, last_frame, played_range

_NAME, _LABEL, _FIELD = "timeline options", 150.0, 84.0
_RATE = fields.Format(decimals=2, unit=" fps", per_pixel=0.25, snap=5.0, units={}, low=0.1, high=1000.0)
_TOLERANCE = fields.Format(decimals=1, unit="°", per_pixel=0.05, snap=0.5, units={}, low=0.0, high=30.0)
_FEW = fields.Format(decimals=0, per_pixel=0.05, snap=1.0, units={}, low=1.0, high=5.0)
_STEP = fields.Format(decimals=0, per_pixel=0.2, snap=5.0, units={}, low=0.0, high=1000.0)


def _settings_button(ui: PanelContext) -> None:
    if controls.icon_button(ui, "timeline settings", fa.ICON_FA_SLIDERS, "Rate, range, recording, ghosts", size=_SMALL):
        open_popup(ui, _NAME)
    with popup(ui, _NAME, 12, 10) as opened:
        if opened:
            _take(ui)
            controls.separator(ui)
            _recording(ui)
            controls.separator(ui)
            _ghosts_and_trails(ui)


def _take(ui: PanelContext) -> None:
    document = ui.session.document
    first, last = played_range(document)
    most = float(last_frame(document) if document.clip else MOST_FRAMES - 1)
    controls.label(ui, "Range", width=_LABEL, hint="Frames that are played and exported   Alt+[ and Alt+]")
    form = fields.Format(decimals=0, per_pixel=0.2, snap=10.0, units={}, low=0.0, high=most)
    fields.edit_number(
        ui, "first frame", float(first), form, "Range",
        lambda frame: SetRange(round(frame), max(last, round(frame))), width=ui.px(_FIELD),
    )  # fmt: skip
    imgui.same_line()
    fields.edit_number(
        ui, "last frame", float(last), form, "Range",
        lambda frame: SetRange(min(first, round(frame)), round(frame)), width=ui.px(_FIELD),
    )  # fmt: skip
    controls.label(ui, "Rate", width=_LABEL, hint="Frames per second; keys stay at their frames")
    fields.edit_number(ui, "rate", 1.0 / document.frame_time, _RATE, "Rate", SetTakeRate, width=ui.px(_FIELD))


def _recording(ui: PanelContext) -> None:
    view = ui.controller.view
    controls.label(
        ui, "Key tolerance", width=_LABEL, hint="Recording drops keys that interpolation replaces within this angle"
    )
    tolerance = round(fields.number(ui, "tolerance", view.record_tolerance_deg, _TOLERANCE, width=_FIELD), 2)
    if tolerance != view.record_tolerance_deg:
        ui.session.recorder.tolerance_deg = view.record_tolerance_deg = tolerance
    if tolerance == 0.0:
        _unit("every frame")


def _unit(words: str) -> None:
    imgui.same_line()
    imgui.align_text_to_frame_padding()
    imgui.text_disabled(words)


def _integer_field(ui: PanelContext, name: str, form: fields.Format) -> int:
    value = round(fields.number(ui, name, float(getattr(ui.controller.view, name)), form, width=_FIELD))
    setattr(ui.controller.view, name, value)
    return value


def _ghosts_and_trails(ui: PanelContext) -> None:
    _switch(ui, "show.ghosts", "Ghosts")
    controls.label(ui, "  Before and after", width=_LABEL)
    _integer_field(ui, "ghosts_around", _FEW)
    controls.label(ui, "  Every", width=_LABEL, hint="Frames between ghosts; 0: at keys")
    _unit("at keys" if _integer_field(ui, "ghost_step", _STEP) == 0 else "frames")
    _switch(ui, "show.trails", "Motion trails")
    controls.label(ui, "  Frames each way", width=_LABEL, hint="0: one second")
    _unit("one second" if _integer_field(ui, "trail_frames", _STEP) == 0 else "frames")


def _switch(ui: PanelContext, command: str, words: str) -> None:
    controls.label(ui, words, width=_LABEL)
    command_toggle(ui, command, command)


_LOOPS = {
    Loop.OFF: (fa.ICON_FA_ARROW_RIGHT_TO_BRACKET, "Stops at the end", "text2"),
    Loop.LOOP: (fa.ICON_FA_REPEAT, "Loops", "accent"),
    Loop.PING_PONG: (fa.ICON_FA_RIGHT_LEFT, "Goes back and forth", "accent"),
}
_SMALL = 24.0
_SET, _AUTO, _GAP, _BLEND, _CLIP = 86.0, 104.0, 6.0, 96.0, 150.0
"""Widths of the buttons at the right and the space between them, logical pixels."""
_ROOMY, _SPEED_FROM, _NARROW, _NARROWEST = 620.0, 440.0, 340.0, 250.0
"""Logical widths of the panel below which the buttons at the right are icons, and the list of speeds, all but steps and
playing, and all but playing are left out at the left."""


def draw_timeline(ui: PanelContext) -> None:
    """Draw the panel; only the transport row if there is no room for more."""
    bare = ui.regions.short_timeline and ui.rect.h < ui.px(SHORT_TIMELINE)
    if bare:
        imgui.set_cursor_pos_y(round((imgui.get_window_height() - ui.px(_SMALL)) / 2.0))
    draw_transport(ui)
    if not bare:
        gap(ui.px(1))
        strip, layers = lane_heights(ui.session.document)
        corner = imgui.get_cursor_screen_pos()
        imgui.set_cursor_screen_pos((corner.x, corner.y + ui.px(strip)))
        sheet = draw_sheet(ui, ui.px(ui.layout.extra - strip), column=layers > 0.0 or strip > 0.0)
        if sheet is None:
            imgui.dummy((1.0, 0.0))
            return
        if strip:
            draw_feet(ui, (corner.x, corner.y), sheet.names, sheet.x)
        if layers:
            draw_lanes(ui, sheet.names, sheet.x)
        if ui.layout.extra > strip + layers:
            _difference(ui, sheet.frame)


def draw_transport(ui: PanelContext) -> None:
    """Draw the row that plays, shows the frame and sets keys."""
    playing = ui.session.clock.direction
    spacing = ui.px(4)
    buttons = (
        ("play.first", fa.ICON_FA_BACKWARD_FAST), ("play.previous", fa.ICON_FA_BACKWARD_STEP),
        ("play.forwards", fa.ICON_FA_PAUSE if playing else fa.ICON_FA_PLAY),
        ("play.next", fa.ICON_FA_FORWARD_STEP), ("play.last", fa.ICON_FA_FORWARD_FAST),
    )  # fmt: skip
    y, wide = imgui.get_cursor_screen_pos().y, ui.rect.w / ui.scale
    narrow = wide < _NARROW
    for command, icon in buttons[2:3] if wide < _NARROWEST else buttons[1:4] if narrow else buttons:
        main = command == "play.forwards"
        look = {"colour": "text" if main else "text2", "fill": "field" if main else None}
        lacks = ui.controller.bindings[command].lacks()
        about = explained(command, lacks)
        if controls.icon_button(ui, command, icon, about, size=_SMALL, enabled=not lacks, **look):  # type: ignore[arg-type]
            run(ui, "play.backwards" if main and playing < 0 else command)
        imgui.same_line(0.0, spacing)
    icon, words, tone = _LOOPS[ui.session.clock.loop]
    if not narrow:
        if controls.icon_button(ui, "loop", icon, hint("play.loop", words), size=_SMALL, colour=tone, fill=None):
            run(ui, "play.loop")
        imgui.same_line(0.0, ui.px(12))
    if wide >= _SPEED_FROM:
        _speed(ui)
        imgui.same_line(0.0, ui.px(12))
    left = imgui.get_cursor_screen_pos().x
    start = _keys(ui, y)
    imgui.set_cursor_screen_pos((left, y))
    start = _tween(ui, start, y)
    imgui.set_cursor_screen_pos((left, y))
    if wide >= _NARROWEST:
        _frame(ui, start - ui.px(12))
    imgui.set_cursor_screen_pos((imgui.get_window_pos().x + imgui.get_style().window_padding.x, y + ui.px(_SMALL)))
    imgui.dummy((1.0, 0.0))


def _keys(ui: PanelContext, y: float) -> float:
    """The buttons for keys at the right; returns their left end."""
    roomy = ui.rect.w >= ui.px(_ROOMY)
    keying, on = ui.controller.keying, ui.session.document.auto_key
    left, end = imgui.get_cursor_screen_pos().x, imgui.get_window_pos().x + imgui.get_window_width()
    x = end - imgui.get_style().window_padding.x - ui.px(_SMALL)
    imgui.set_cursor_screen_pos((x, y))
    _settings_button(ui)
    x -= ui.px(_GAP + (_AUTO if roomy else _SMALL))
    imgui.set_cursor_screen_pos((x, y))
    if _auto_key(ui, on=on, roomy=roomy):
        run(ui, "key.auto")
    x -= ui.px(_GAP + (_SET if roomy else _SMALL))
    imgui.set_cursor_screen_pos((x, y))
    if roomy:
        command_button(ui, "key.set", "Set key", icon=fa.ICON_FA_PLUS, width=ui.px(_SET))
    elif controls.icon_button(ui, "Set key", fa.ICON_FA_PLUS, hint("key.set"), size=_SMALL):
        run(ui, "key.set")
    if keying.selected and roomy:
        x -= ui.px(_GAP + _BLEND)
        imgui.set_cursor_screen_pos((x, y))
        _blend(ui)
    return _clips(ui, x, y, x - left)


_TWEEN, _RAIL = 44.0, 140.0
"""Widths of the word and of the rail of the tween slider, logical pixels."""
_FRAME = 210.0
"""Logical pixels that the frame and its seconds need to the left of it."""


def _tween(ui: PanelContext, end: float, y: float) -> float:
    """The tween slider, where there are keys and room for it; returns its left end."""
    tweening, pen = ui.controller.tweening, Pen(ui)
    left = imgui.get_cursor_screen_pos().x
    wide = pen.px(_TWEEN + _RAIL)
    between = ui.controller.can("tween.keys") or tweening.under_way
    if not between or end - left < wide + pen.px(_FRAME + _GAP):
        return end
    x = end - wide - pen.px(3.0 * _GAP)
    resting = tweening.under_way and tweening.towards == "rest"
    pen.text(x, pen.middle(y, pen.px(_SMALL)), "Relax" if resting else "Tween", "text2")
    imgui.set_cursor_screen_pos((x + pen.px(_TWEEN), y))
    it = item("tween", pen.px(_RAIL), pen.px(_SMALL))
    edit = scrub(it, 0.0, FARTHEST / (0.5 * it.w), snap=0.1, scale=ui.scale)
    if edit is not None:
        _tweened(ui, edit)
    _draw_tween(pen, it, tweening.share)
    before, after = keys_beside(ui.session.document)
    ends = " and ".join(f"frame {frame}" for frame in (before, after) if frame is not None)
    tip(hint("tween.keys", f"Drag towards the key at {ends}, or beyond"))
    return x


def _tweened(ui: PanelContext, edit: Edit) -> None:
    tweening = ui.controller.tweening
    match edit.phase:
        case Phase.BEGIN:
            tweening.begin("keys")
            attempt(ui, lambda: tweening.slide(edit.value))
        case Phase.MOVE:
            attempt(ui, lambda: tweening.slide(edit.value))
        case Phase.COMMIT | Phase.CANCEL:
            tweening.end(keep=edit.phase is Phase.COMMIT)


def _draw_tween(pen: Pen, it: Area, share: float) -> None:
    """A rail from -150 to 150 %, with ticks at the present pose and at the keys, and the share while it slides."""
    y, half = it.middle[1], pen.px(3)
    middle, per = it.middle[0], 0.5 * it.w / FARTHEST
    pen.box(it.x, y - half, it.w, 2.0 * half, "field", rounding=3)
    knob = middle + share * per
    pen.box(min(middle, knob), y - half, abs(knob - middle), 2.0 * half, "accent", rounding=0)
    for at, tall in ((-1.0, 5.0), (0.0, 7.0), (1.0, 5.0)):
        pen.upright(round(middle + at * per), y - pen.px(tall), y + pen.px(tall), "text3")
    pen.disc(knob, y, 6.5, "panel")
    pen.disc(knob, y, 5.5 if not (it.hovered or it.held) else 6.2, "effector")
    if share:
        words = f"{round(100.0 * share)} %".replace("-", number_format.MINUS)
        room = pen.width(words, SMALL) + pen.px(10)
        left = knob - pen.px(8) - room if share > 0.0 else knob + pen.px(8)
        pen.box(left, it.y + pen.px(3), room, it.h - pen.px(6), "panel", rounding=3)
        pen.text(left + pen.px(5), pen.middle(it.y, it.h, SMALL), words, "text", SMALL)


def _auto_key(ui: PanelContext, *, on: bool, roomy: bool) -> bool:
    """The auto-key button, in the colour of recording while auto-key is on."""
    words = hint("key.auto", "Every edit sets keys" if on else "Auto-key: every edit sets keys")
    if not roomy:
        tone = "record" if on else "text2"
        return controls.icon_button(ui, "Auto-key", fa.ICON_FA_KEY, words, size=_SMALL, colour=tone)
    pressed = controls.text_button(
        ui, "Auto-key", icon=fa.ICON_FA_KEY, width=ui.px(_AUTO), on=None if on else False, hint=words
    )
    if on:
        pen, low, high = Pen(ui), imgui.get_item_rect_min(), imgui.get_item_rect_max()
        pen.frame(low.x, low.y, high.x - low.x, high.y - low.y, "record")
    return pressed


def _blend(ui: PanelContext) -> None:
    """The list of interpolation modes for the selected keys."""
    there = ui.controller.keying.blends()
    words = BLENDS[next(iter(there))].partition(" ")[0] if len(there) == 1 else "Mixed"
    if controls.drop_menu(
        ui, "blend", words, width=ui.px(_BLEND), height=_SMALL, hint="Interpolation after the selected keys"
    ):
        blend_entries(ui)
        imgui.end_popup()


def _speed(ui: PanelContext) -> None:
    now, entries = ui.session.clock.speed, ((speed, _factor(speed)) for speed in SPEEDS)
    said = hint("play.faster", "Speed")
    speed = controls.drop_choice(ui, "speed", _factor(now), entries, now, width=ui.px(74), height=_SMALL, hint=said)
    if speed is not None:
        ui.session.set_speed(speed)


def _factor(speed: float) -> str:
    """Words such as ``1.0 x``, with a multiplication sign."""
    return f"{speed:.2f}".removesuffix("0") + " \N{MULTIPLICATION SIGN}"


def _frame(ui: PanelContext, end: float) -> None:
    """``Frame [202] / 278 · 1.683 s · 120 fps``, shortened to the room."""
    pen, document = Pen(ui), ui.session.document
    frame, count = document.frame, ui.controller.playback.frames
    x, y = imgui.get_cursor_screen_pos()
    h = ui.px(_SMALL)
    if end - x > ui.px(200):
        pen.text(x, pen.middle(y, h), "Frame", "text2")
        x += pen.width("Frame") + ui.px(10)
    last = count - 1
    form = fields.Format(decimals=0, per_pixel=max(0.1, last / 600.0), snap=10.0, units={}, low=0.0, high=float(last))
    width = max(ui.px(52), pen.width(str(last)) + ui.px(16))
    imgui.set_cursor_screen_pos((x, y))
    edit = fields.number_field(ui, "frame", float(frame), form, width=width, hint=hint("play.go_to"))
    if edit is not None and edit.phase is not Phase.COMMIT:
        attempt(ui, lambda: ui.controller.playback.go(round(edit.value)))
    x += width + ui.px(8)
    seconds = document.frame_time
    rate = f"{number_format.fixed(1.0 / seconds, 2).rstrip('0').rstrip('.')} fps"
    parts = [f"/ {count}", number_format.seconds(frame * seconds), rate]
    while len(parts) > 1 and pen.width(" · ".join(parts)) > end - x:
        parts.pop()
    words = pen.fit(" · ".join(parts), max(end - x, 0.0))
    if end - x > ui.px(30):
        pen.text(x, pen.middle(y, h), words, "text2")


def _clips(ui: PanelContext, x: float, y: float, room: float) -> float:
    """The list of clips if the file has several; returns its left end."""
    document = ui.session.document
    clips = document.character.clips
    several = len(clips) > 1 or (len(clips) == 1 and document.clip is None)
    if not several or room < ui.px(_CLIP + 230):
        return x
    x -= ui.px(_CLIP + _GAP)
    imgui.set_cursor_screen_pos((x, y))
    entries, words = ((name, shown(name)) for name in clips), shown(document.clip or "No clip")
    chosen = controls.drop_choice(
        ui, "clip", words, entries, document.clip, icon=fa.ICON_FA_FILM, width=ui.px(_CLIP), height=_SMALL
    )
    if chosen is not None:
        act(ui, SetClip(chosen))
    return x


# --- the lane of how much two figures differ

_MOST_POINTS = 900
"""Largest number of points of a curve; of more frames, the largest value of each group is plotted."""
_DIFFERENCE_HEAD = 17.0
"""Height of the line of words, logical pixels."""


def _difference(ui: PanelContext, frame_of: Callable[[float], float]) -> None:
    """Draw the lane into the rest of the panel, along the frames of the sheet above it: that at a pixel."""
    found = ui.controller.figures.comparison()
    room = imgui.get_content_region_avail()
    if found is None or room.y < ui.px(_DIFFERENCE_HEAD + 10):
        return
    pen, area = Pen(ui), item("difference", room.x, room.y)
    if area.held:
        scrub_to(ui, round(frame_of(imgui.get_mouse_pos().x)))
    pen.box(*area[:4], "app")
    most = rounded_up(float(found.metres.max()))
    chosen = _compared(ui, found)
    top = area.y + pen.px(_DIFFERENCE_HEAD)
    across = frame_of(area.x), frame_of(area.x + area.w)
    plot = Plot(area.x, top, area.w, area.y + area.h - pen.px(3) - top, across, (0.0, most))
    pen.draw.push_clip_rect((area.x, area.y), (area.x + area.w, area.y + area.h), True)
    for value in plot.ends:
        pen.rule(area.x, area.x + area.w, plot.at(0.0, value)[1])
    curves = [(found.most, "text3", 1.0), (found.mean, "text2", 1.4)]
    for metres, tone, weight in [*curves, (chosen[1], "accent", 2.0)] if chosen is not None else curves:
        points = _thinned(found.first + np.arange(float(len(metres))), metres)
        plot.line(pen, *points, pen.ink(tone), weight * pen.scale)
    pen.upright(plot.at(float(ui.session.document.frame), 0.0)[0], top, area.y + area.h, "accent")
    pen.draw.pop_clip_rect()
    words = _difference_words(ui, found, chosen, most)
    _draw_words(pen, (area.x + pen.px(8), area.y + pen.px(1)), words, area.w - pen.px(16))


def _compared(ui: PanelContext, found: Comparison) -> tuple[str, Floats] | None:
    """Name and distances of the selected joint, if both figures have it."""
    document = ui.session.document
    item_ = document.active_on_figure
    joint = -1 if item_ is None else joint_of(document, item_)
    metres = found.of(joint)
    return None if metres is None else (document.skeleton.names[joint], metres)


def _thinned(frames: Floats, values: Floats) -> tuple[Floats, Floats]:
    """At most `_MOST_POINTS` of the frames, each with the largest value of its group."""
    if len(frames) <= _MOST_POINTS:
        return frames, values
    edges = np.linspace(0, len(frames), _MOST_POINTS, endpoint=False).astype(int)
    return frames[edges], np.maximum.reduceat(values, edges)


def _difference_words(
    ui: PanelContext, found: Comparison, chosen: tuple[str, Floats] | None, most: float
) -> list[tuple[str, str]]:
    """The parts of the line above the curves, with their colours."""
    frame = ui.session.document.frame
    said = [(f"Difference (cm), axis to {number_format.fixed(100.0 * most, 0 if most >= 0.01 else 1)}", "text2")]
    if not found.covers(frame):
        return said
    row = frame - found.first
    if chosen is not None:
        said.append((f"{chosen[0]} {number_format.centimetres(float(chosen[1][row]))}", "accent"))
    name, _, worst = found.worst(frame)
    said.append((f"mean {number_format.centimetres(float(found.metres[row].mean()))}", "text2"))
    said.append((f"most {number_format.centimetres(worst)} {name}", "text3"))
    return said


def _draw_words(pen: Pen, at: tuple[float, float], parts: list[tuple[str, str]], room: float) -> None:
    x, end = at[0], at[0] + room
    for words, tone in parts:
        if x + pen.width(words, SMALL) > end:
            return
        pen.small(x, at[1], words, tone)
        x += pen.width(words, SMALL) + pen.px(16)
