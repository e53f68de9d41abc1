"""The status line: state, errors, figures and modes from the left, what keys and buttons do now at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.fonts import BASE, SMALL
from viewer.app.panels.solver_words import ICONS
from viewer.app.widgets.buttons import key_cap
from viewer.app.widgets.edits import settle
from viewer.app.widgets.pen import Pen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.app.context import PanelContext
    from viewer.ui.status import StatusLine

_TONES = {"ok": "text", "warn": "warn", "err": "err", "idle": "text"}
_GAP = 10.0
"""Logical pixels on either side of a line between parts."""


def draw(ui: PanelContext) -> None:
    """Draw the line; what has no room is left out, from the right."""
    settle(ui)
    pen, rect, status = Pen(ui), ui.rect, ui.controller.status()
    pen.draw.push_clip_rect((rect.x, rect.y), (rect.x + rect.w, rect.y + rect.h))
    end = rect.x + rect.w - pen.px(8)
    x = _state(pen, rect.x + pen.px(8), end, status, rect)
    x = _parts(ui, pen, x, end, status)
    _hints(ui, pen, x + pen.px(24), end)
    pen.draw.pop_clip_rect()
    imgui.dummy((1.0, 1.0))


def _state(pen: Pen, x: float, end: float, status: StatusLine, rect: tuple[float, ...]) -> float:
    """Icon and state in bold; returns where they end."""
    y, h = rect[1], rect[3]
    icon, tone = ICONS[status.icon]
    pen.icon(x + pen.px(7), y + h / 2.0, icon, tone)
    words = pen.fit(status.state, end - x - pen.px(20), bold=True)
    pen.strong(x + pen.px(20), pen.middle(y, h), words, _TONES[status.tone])
    return x + pen.px(20) + pen.width(words, bold=True)


def _parts(ui: PanelContext, pen: Pen, x: float, end: float, status: StatusLine) -> float:
    """Errors, figures, modes; each keeps the place that its longest words of late asked for."""
    y, h = ui.rect.y, ui.rect.h
    middle = pen.middle(y, h)
    kept: dict[str, float] = ui.memory.setdefault("widths", {})
    key = (status.state, status.tone, ui.session.document.skeleton.names, ui.scale)
    if ui.memory.get("state") != key:
        ui.memory["state"] = key
        kept.clear()
    modes = " · ".join((*status.modes, *ui.notes))
    for name, words in (("goals", status.goals), ("figures", status.figures), ("modes", modes)):
        if not words:
            continue
        lead = pen.px(20) if name == "modes" and "Limits off" in status.modes else 0.0
        first = name == "goals" and status.tone in {"warn", "err"}
        gap = pen.px(_GAP)
        room = end - x - 2.0 * gap - lead
        if room < pen.px(60):
            return x
        if not first:
            pen.upright(x + gap, y + pen.px(6), y + h - pen.px(6), "line_hi")
        shown = pen.fit(words, room)
        at = x + (gap if first else 2.0 * gap)
        tone = "warn" if lead else "text2"
        if lead:
            pen.icon(at + pen.px(7), y + h / 2.0, fa.ICON_FA_LOCK_OPEN, "warn", SMALL)
        pen.text(at + lead, middle, shown, tone)
        kept[name] = max(kept.get(name, 0.0), pen.width(shown) + lead)
        x = at + min(kept[name], room)
    return x


def _hints(ui: PanelContext, pen: Pen, start: float, end: float) -> None:
    """``[Ctrl] snap  [Esc] cancel``, as many as there is room for, at the right end."""
    hints: list[tuple[str, str]] = [(hint.keys, hint.words) for hint in ui.controller.hints()]
    while hints and sum(_width(pen, hint) for hint in hints) > end - start:
        hints.pop()
    y, h = ui.rect.y, ui.rect.h
    x = end - sum(_width(pen, hint) for hint in hints) + pen.px(14)
    for keys, words in hints:
        x += key_cap(pen, x, y + round((h - pen.px(18)) / 2.0), keys) + pen.px(8)
        pen.text(x, pen.middle(y, h, BASE), words, "text2")
        x += pen.width(words) + pen.px(14)


def _width(pen: Pen, hint: Sequence[str]) -> float:
    keys, words = hint
    return max(pen.width(keys, SMALL) + pen.px(10), pen.px(18)) + pen.px(22) + pen.width(words)
