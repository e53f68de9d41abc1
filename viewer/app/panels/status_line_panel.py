"""The status line: state, errors, numbers and modes, and hints at its right end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.solver_panel import ICONS
from viewer.app.theme import BASE, SMALL
from viewer.app.widgets import controls
from viewer.app.widgets.edits import settle
from viewer.app.widgets.pen import Pen
from viewer.ui.status import StatusLine

_TONES = {"ok": "text", "warn": "warn", "err": "err", "idle": "text"}
_STATUS_GAP = 10.0
"""Logical pixels on each side of a line between parts."""


def draw_status_line(ui: PanelContext) -> None:
    """Draw the status line; parts that do not fit are omitted from the right, except hints that must stay."""
    settle(ui)
    pen, rect, status = Pen(ui), ui.rect, ui.controller.status()
    kept = sum(_hint_width(pen, (hint.keys, hint.words)) for hint in ui.controller.hints() if hint.kept)
    pen.draw.push_clip_rect((rect.x, rect.y), (rect.x + rect.w, rect.y + rect.h))
    end = rect.x + rect.w - pen.px(8)
    room = end - kept - pen.px(24) if kept else end
    x = _status_state(pen, rect.x + pen.px(8), room, status, rect)
    x = _status_parts(ui, pen, x, room, status)
    _status_hints(ui, pen, x + pen.px(24), end)
    pen.draw.pop_clip_rect()
    imgui.dummy((1.0, 1.0))


def _status_state(pen: Pen, x: float, end: float, status: StatusLine, rect: tuple[float, ...]) -> float:
    """Draw icon and state; returns their right end."""
    y, h = rect[1], rect[3]
    icon, tone = ICONS[status.icon]
    pen.icon(x + pen.px(7), y + h / 2.0, icon, tone)
    words = pen.fit(status.state, end - x - pen.px(20), bold=True)
    pen.strong(x + pen.px(20), pen.middle(y, h), words, _TONES[status.tone])
    return x + pen.px(20) + pen.width(words, bold=True)


def _status_parts(ui: PanelContext, pen: Pen, x: float, end: float, status: StatusLine) -> float:
    """Draw errors, numbers and modes; returns their right end."""
    key = (status.state, status.tone, ui.session.document.skeleton.names, ui.scale)
    if ui.memory.get("state") != key:
        ui.memory["state"], ui.memory["widths"] = key, {}
    off = "Limits off" if "Limits off" in status.modes else ""
    modes = " · ".join((*(mode for mode in status.modes if mode != off), *ui.notes))
    joined = status.tone in {"warn", "err"}
    goals = _StatusPart("goals", status.goals, line=not joined)
    for part in (
        goals,
        _StatusPart("yields", status.yields),
        _StatusPart("figures", status.figures),
        _StatusPart("limits", off, lock=True),
        _StatusPart("modes", modes),
    ):
        if part.words:
            after = _status_part(ui, pen, x, end, part)
            if after is None:
                break
            x = after
    return x


class _StatusPart(NamedTuple):
    """A part of the status line: its name, words, and whether a separator or an amber lock precedes it."""

    name: str
    words: str
    line: bool = True
    lock: bool = False


def _status_part(ui: PanelContext, pen: Pen, x: float, end: float, part: _StatusPart) -> float | None:
    """Draw a part, as wide as its longest words in this state; returns its right end, or None if it has no room."""
    (_, y, _, h), gap = ui.rect, pen.px(_STATUS_GAP)
    lead = pen.px(20) if part.lock else 0.0
    at = x + (2.0 * gap if part.line else gap)
    room = end - at - lead
    if room < pen.px(60):
        return None
    if part.line:
        pen.upright(x + gap, y + pen.px(6), y + h - pen.px(6), "line_hi")
    if part.lock:
        pen.icon(at + pen.px(7), y + h / 2.0, fa.ICON_FA_LOCK_OPEN, "warn", SMALL)
    shown = pen.fit(part.words, room)
    pen.text(at + lead, pen.middle(y, h), shown, "warn" if part.lock else "text2")
    kept: dict[str, float] = ui.memory["widths"]
    kept[part.name] = max(kept.get(part.name, 0.0), pen.width(shown) + lead)
    return at + min(kept[part.name], room + lead)


def _status_hints(ui: PanelContext, pen: Pen, start: float, end: float) -> None:
    """Draw hints such as ``[Ctrl] snap  [Esc] cancel`` at the right; those without room are omitted."""
    hints: list[tuple[str, str]] = [(hint.keys, hint.words) for hint in ui.controller.hints()]
    least = 1 if any(hint.kept for hint in ui.controller.hints()) else 0  # hints that must stay come first
    while len(hints) > least and sum(_hint_width(pen, hint) for hint in hints) > end - start:
        # Esc, if it is the last, is removed last: it tells how to leave the mode.
        hints.pop(-2 if len(hints) > least + 1 and hints[-1][0] == "Esc" else -1)
    y, h = ui.rect.y, ui.rect.h
    x = end - sum(_hint_width(pen, hint) for hint in hints) + pen.px(14)
    for keys, words in hints:
        x += controls.key_cap(pen, x, y + round((h - pen.px(18)) / 2.0), keys) + pen.px(8)
        pen.text(x, pen.middle(y, h, BASE), words, "text2")
        x += pen.width(words) + pen.px(14)


def _hint_width(pen: Pen, hint: Sequence[str]) -> float:
    keys, words = hint
    return max(pen.width(keys, SMALL) + pen.px(10), pen.px(18)) + pen.px(22) + pen.width(words)
