"""Several figures: their rows above the tree, the place of the active one, and the lane of their differences."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.dope_sheet import scrub
from viewer.app.panels.panel_parts import command_button
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.edits import Edit, attempt, carry_gesture
from viewer.app.widgets.pen import Pen, Plot, gap, item, tip
from viewer.document import DocumentGoal, joint_of
from viewer.document.evaluation import Comparison, rounded_up
from viewer.session.figures import Placement, StageFigure
from viewer.spatial.checks import Floats
from viewer.ui import number_format

_ROW, _MOST = 22, 6
"""Height of a row, logical pixels, and rows that are seen without scrolling."""
_NONE, _NOBODY = "None", "Nobody"
_FROM_HINTS = ("Each in its own coordinates", "Both measured from their roots: another path makes no difference")
_EYE = 24
"""Width of the eye at the left of a row, and of the cross at its right, logical pixels."""


def draw_figure_rows(ui: PanelContext) -> None:
    """Draw a row for each figure, if there are several: eye, name, joints; a click makes it active."""
    stage = ui.session.stage
    if not stage.several:
        return
    tall = ui.px(_ROW) * min(len(stage), _MOST)
    pointed = ""
    with controls.no_spacing():
        imgui.begin_child("figures", (0.0, tall))
        pen = Pen(ui)
        for figure in stage:
            if _row(ui, pen, figure):
                pointed = figure.name
        imgui.end_child()
    ui.controller.figures.hover("" if pointed == ui.controller.figures.active else pointed)
    x, y = imgui.get_cursor_screen_pos()
    pen = Pen(ui)
    pen.box(x, y + ui.px(3), imgui.get_content_region_avail().x, max(1.0, ui.px(1)), "line")
    gap(ui.px(7))


def _row(ui: PanelContext, pen: Pen, figure: StageFigure) -> bool:
    """Draw a row and answer clicks; whether the pointer is over it."""
    session, stage, figures = ui.session, ui.session.stage, ui.controller.figures
    name, hidden, active = figure.name, figure.hidden, figure is stage.figure
    it = controls.list_row(
        pen, f"figure {name}", _ROW, chosen=active, lit=name == ui.controller.view.lit_figure, rounding=3
    )
    eye, cross = it.x + pen.px(_EYE), it.x + it.w - pen.px(_EYE)
    pointer = imgui.get_mouse_pos().x
    icon = fa.ICON_FA_EYE_SLASH if hidden else fa.ICON_FA_EYE
    on_eye, on_cross = it.hovered and pointer < eye, it.hovered and pointer >= cross
    pen.icon(it.x + pen.px(12), it.middle[1], icon, "text" if on_eye else "text3" if hidden else "text2", SMALL)
    joints = f"{len(figure.document.skeleton)} joints"
    right = it.x + it.w - pen.px(6)
    if it.hovered:
        pen.icon(it.x + it.w - pen.px(12), it.middle[1], fa.ICON_FA_XMARK, "text" if on_cross else "text3", SMALL)
        right = cross
    else:
        right -= pen.width(joints, SMALL)
        pen.small(right, pen.middle(it.y, it.h, SMALL), joints)
    left = eye + pen.px(4)
    room, y = right - left - pen.px(6), pen.middle(it.y, it.h)
    words = pen.fit(name, room, bold=active)
    if active:
        pen.strong(left, y, words)
    else:
        pen.text(left, y, words, "text3" if hidden else "text2")
    if on_eye:
        tip("Show" if hidden else "Hide")
    elif on_cross:
        tip("Remove")
    else:
        tip(name if words != name else "" if active else "Work on it")
    if it.clicked:
        if on_eye:
            attempt(ui, lambda: session.figures.hide(name, not hidden))
        elif on_cross:
            attempt(ui, lambda: session.figures.remove(name))
        else:
            attempt(ui, lambda: figures.activate(name))
    return it.hovered


def draw_place(ui: PanelContext) -> None:
    """Draw the position of the active figure, if there are several."""
    stage, figures = ui.session.stage, ui.controller.figures
    if not stage.several:
        return
    name, placement = figures.active, stage.figure.placement
    controls.head(ui, fa.ICON_FA_LOCATION_DOT, name, "place among the figures")
    imgui.push_id("place")
    controls.label(ui, fields.position_label(ui), hint="Of the figure's own origin, on the stage")
    changed = fields.axis_fields(ui, "offset", placement.offset)
    if changed is not None:
        index, edit = changed
        offset = list(placement.offset)
        offset[index] = edit.value
        _place(ui, name, edit, Placement((offset[0], offset[1], offset[2]), placement.yaw))
    controls.label(ui, "Yaw")
    turned = fields.number_field(ui, "yaw", math.degrees(placement.yaw), fields.ANGLE, width=ui.px(90))
    if turned is not None:
        _place(ui, name, turned, placement._replace(yaw=math.radians(turned.value)))
    controls.label(ui, "")
    command_button(ui, "figure.hide", "Hide", icon=fa.ICON_FA_EYE_SLASH)
    imgui.same_line(0.0, ui.px(6))
    command_button(ui, "figure.remove", "Remove", icon=fa.ICON_FA_XMARK)
    _draw_compare(ui)
    imgui.pop_id()


def _draw_compare(ui: PanelContext) -> None:
    """Draw the figure to compare the active one with, and how much they differ."""
    figures = ui.controller.figures
    names = figures.comparable
    if not names:
        return
    controls.label(ui, "Compare", hint="Distance of each joint from that of the same name, plotted in the timeline")
    entries, words = ((name, name or _NONE) for name in ("", *names)), figures.compared or _NONE
    chosen = controls.drop_choice(ui, "compare", words, entries, figures.compared, height=controls.SEGMENT)
    if chosen is not None:
        figures.compare(chosen)
    found = figures.comparison()
    if found is None:
        return
    controls.label(ui, "From")
    from_root = controls.choose(ui, "from", (False, True), ("Origin", "Root"), figures.from_root, hints=_FROM_HINTS)
    if from_root != figures.from_root:
        figures.compare(figures.compared, from_root=from_root)
    name, frame, metres = found.worst()
    mean = float(found.metres.mean())
    controls.quiet(ui, f"Mean {centimetres(mean)} cm, most {centimetres(metres)} cm: {name}, frame {frame}", small=True)


def draw_follow(ui: PanelContext, goal: DocumentGoal) -> None:
    """Draw which joint of another figure the target of a goal follows, if there are several."""
    stage, name = ui.session.stage, ui.controller.figures.active
    if not stage.several:
        return
    link = next((one for one in stage.figure.links if one.goal == goal.id), None)
    controls.label(ui, "Follows", hint="The target stays at a joint of another figure, as in a handshake")
    if not controls.drop_menu(ui, "follows", link.target if link else _NOBODY, height=controls.FIELD):
        return
    if imgui.menu_item_simple(_NOBODY, None, link is None):
        attempt(ui, lambda: ui.session.figures.link(name, goal.id))
    for index, other in enumerate(stage.names):
        if index == stage.active or not imgui.begin_menu(other):
            continue
        for effector in stage.documents[index].skeleton.effectors:
            on = link is not None and (link.figure, link.joint) == (other, effector.name)
            if imgui.menu_item_simple(effector.name, None, on):
                attempt(ui, lambda other=other, to=effector.name: ui.session.figures.link(name, goal.id, other, to))  # type: ignore[misc]  # bound now
        imgui.end_menu()
    imgui.end_popup()


def draw_joint_difference(ui: PanelContext, joint: int) -> None:
    """Draw how far a joint is from that of the compared figure, if there is one."""
    figures = ui.controller.figures
    found = figures.comparison() if ui.session.stage.several else None
    metres = None if found is None else found.of(joint)
    if found is None or metres is None:
        return
    frame = ui.session.document.frame
    now = f"{centimetres(float(metres[frame - found.first]))} cm now, " if found.covers(frame) else ""
    most = int(metres.argmax())
    words = f"{now}most {centimetres(float(metres[most]))} cm at {found.first + most}"
    controls.label(ui, "Differs", hint=f"From {figures.compared}")
    controls.note(ui, words, "text2", gap=0.0)


def _place(ui: PanelContext, name: str, edit: Edit, placement: Placement) -> None:
    carry_gesture(ui, edit, lambda: None, lambda: ui.session.figures.place(name, placement, done=False))


_MOST_POINTS = 900
"""Largest number of points of a curve; of more frames, the largest value of each group is plotted."""
_HEAD = 17.0
"""Height of the line of words, logical pixels."""


def draw_difference(ui: PanelContext, frame_of: Callable[[float], float]) -> None:
    """Draw the lane into the rest of the panel, along the frames of the sheet above it: that at a pixel."""
    found = ui.controller.figures.comparison()
    room = imgui.get_content_region_avail()
    if found is None or room.y < ui.px(_HEAD + 10):
        return
    pen, area = Pen(ui), item("difference", room.x, room.y)
    if area.held:
        scrub(ui, round(frame_of(imgui.get_mouse_pos().x)))
    pen.box(*area[:4], "app")
    most = rounded_up(float(found.metres.max()))
    chosen = _chosen(ui, found)
    top = area.y + pen.px(_HEAD)
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
    _draw_words(pen, (area.x + pen.px(8), area.y + pen.px(1)), _words(ui, found, chosen, most), area.w - pen.px(16))


def _chosen(ui: PanelContext, found: Comparison) -> tuple[str, Floats] | None:
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


def _words(
    ui: PanelContext, found: Comparison, chosen: tuple[str, Floats] | None, most: float
) -> list[tuple[str, str]]:
    """The parts of the line above the curves, with their colours."""
    frame = ui.session.document.frame
    said = [(f"Difference (cm), axis to {number_format.fixed(100.0 * most, 0 if most >= 0.01 else 1)}", "text2")]
    if not found.covers(frame):
        return said
    row = frame - found.first
    if chosen is not None:
        said.append((f"{chosen[0]} {centimetres(float(chosen[1][row]))}", "accent"))
    name, _, worst = found.worst(frame)
    said.append((f"mean {centimetres(float(found.metres[row].mean()))}", "text2"))
    said.append((f"most {centimetres(worst)} {name}", "text3"))
    return said


def centimetres(metres: float) -> str:
    """A distance in centimetres, without the unit."""
    return number_format.fixed(100.0 * metres, 1 if metres < 1.0 else 0)


def _draw_words(pen: Pen, at: tuple[float, float], parts: list[tuple[str, str]], room: float) -> None:
    x, end = at[0], at[0] + room
    for words, tone in parts:
        if x + pen.width(words, SMALL) > end:
            return
        pen.small(x, at[1], words, tone)
        x += pen.width(words, SMALL) + pen.px(16)
