"""New from sample: the bundled figures as small drawings, and files opened last."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.panel_parts import run
from viewer.app.widgets.buttons import text_button
from viewer.app.widgets.dialogs import begin_dialog, dialog_title, end_dialog
from viewer.app.widgets.pen import Pen, item, tip
from viewer.errors import ViewerError
from viewer.formats.load import load, sample_names
from viewer.skeleton.kinematics import fk, tip_positions

Segment = tuple[tuple[float, float], tuple[float, float]]


@lru_cache(maxsize=32)
def outline(name: str) -> tuple[Segment, ...]:
    """The bones of a sample from half the front, as lines in a unit square, y down; none if it cannot be read."""
    try:
        character = load(f"sample:{name}")
    except ViewerError:
        return ()
    skeleton = character.skeleton
    pose = character.clip.pose(0) if character.clip is not None else skeleton.relaxed_pose()
    world = fk(skeleton, pose)
    tips = tip_positions(skeleton, world)
    turn = np.radians(30.0)
    across = np.array([np.cos(turn), 0.0, -np.sin(turn)])
    points = np.concatenate([world.positions, tips])
    flat = np.stack([points @ across, -points[:, 1]], axis=1)
    low, high = flat.min(axis=0), flat.max(axis=0)
    size = float((high - low).max()) or 1.0
    placed = (flat - (low + high) / 2.0) / size + 0.5
    ends = [(int(parent), joint) for joint, parent in enumerate(skeleton.parents.tolist()) if parent >= 0]
    ends += [(int(parent), len(skeleton) + index) for index, parent in enumerate(skeleton.tip_parents.tolist())]
    return tuple(
        ((float(placed[a, 0]), float(placed[a, 1])), (float(placed[b, 0]), float(placed[b, 1]))) for a, b in ends
    )


NAME = "##new dialog"
DROP = "Drop a BVH or JSON skeleton here"

_WIDTH, _CARD, _SPACE = 660.0, 148.0, 8.0
_RECENT = 6
"""Files opened last that are shown."""


def draw(ui: PanelContext) -> None:
    """Open, draw and close the dialog."""
    if ui.take("new-dialog") is not None:
        imgui.open_popup(NAME)
    if not begin_dialog(ui, NAME, width=_WIDTH):
        return
    done = dialog_title(ui, "New from sample")
    done = _samples(ui) or done
    done = _recent(ui) or done
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    button = "Open…"
    if text_button(ui, button, icon=fa.ICON_FA_FOLDER_OPEN, height=28):
        run(ui, "file.open")
        done = True
    pen.text(x + pen.px(112), pen.middle(y, pen.px(28)), f"or {DROP[0].lower()}{DROP[1:]}", "text3")
    if done:
        imgui.close_current_popup()
    end_dialog()


def _samples(ui: PanelContext) -> bool:
    """A card for each; whether one was chosen."""
    room, space = imgui.get_content_region_avail().x, ui.px(_SPACE)
    across = max(1, int((room + space) / (ui.px(_CARD) + space)))
    wide = (room - space * (across - 1)) / across
    chosen = ""
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (space, space))
    for index, name in enumerate(sample_names()):
        if index % across:
            imgui.same_line()
        if _card(ui, name, wide):
            chosen = name
    imgui.pop_style_var()
    if chosen:
        ui.controller.files.open(f"sample:{chosen}")
        ui.wake()
    return bool(chosen)


def _card(ui: PanelContext, name: str, wide: float) -> bool:
    pen = Pen(ui)
    tall, caption = pen.px(124), pen.px(26)
    it = item(name, wide, tall)
    pen.box(*it[:4], "field" if it.hovered else "raised")
    if it.hovered:
        pen.frame(*it[:4], "accent")
    size = tall - caption - pen.px(16)
    x, y = it.x + (wide - size) / 2.0, it.y + pen.px(10)
    ink, line = pen.ink("text" if it.hovered else "text2"), 1.5 * pen.scale
    for (x0, y0), (x1, y1) in outline(name):
        pen.draw.add_line((x + x0 * size, y + y0 * size), (x + x1 * size, y + y1 * size), ink, line)
    words = pen.fit(name, wide - pen.px(12))
    left = it.x + (wide - pen.width(words)) / 2.0
    pen.text(left, pen.middle(it.y + tall - caption, caption), words, "text" if it.hovered else "text2")
    return it.clicked


def _recent(ui: PanelContext) -> bool:
    """Files opened last; whether one was chosen."""
    recent = ui.controller.view.preferences.recent[:_RECENT]
    if not recent:
        return False
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    pen.small(x, y + pen.px(6), "Recent")
    imgui.dummy((1.0, pen.px(22)))
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (0.0, 0.0))
    chosen = [place for place in recent if _recent_row(pen, place)]
    imgui.pop_style_var()
    imgui.dummy((1.0, pen.px(6)))
    if chosen:
        ui.controller.files.open(Path(chosen[0]))
        ui.wake()
    return bool(chosen)


def _recent_row(pen: Pen, place: str) -> bool:
    it, path = item(place, imgui.get_content_region_avail().x, pen.px(24)), Path(place)
    if it.hovered:
        pen.box(*it[:4], "field")
    name = pen.fit(path.name, it.w * 0.5)
    pen.text(it.x + pen.px(6), pen.middle(it.y, it.h), name, "text" if it.hovered else "text2")
    folder = pen.fit(str(path.parent), it.w - pen.width(name) - pen.px(28), SMALL)
    pen.right(it.x + it.w - pen.px(6), pen.middle(it.y, it.h, SMALL), folder, "text3", SMALL)
    tip(place)
    return it.clicked
