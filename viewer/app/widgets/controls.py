"""Buttons, segmented controls, lists, rows and switches; the labels, notes, headings and paragraphs of forms.

Buttons and switches return whether they were pressed in this frame.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.theme import SMALL, paint
from viewer.app.widgets.pen import Area, Pen, item, tip
from viewer.errors import visible

T = TypeVar("T")

TOOL, FIELD, SEGMENT = 28, 24, 26
"""Heights, logical pixels: buttons of the toolbar, fields and buttons of forms, segmented controls."""


def icon_button(
    ui: PanelContext, name: str, icon: str, hint: str, *,
    size: float = TOOL, colour: str = "text2", fill: str | None = "field", enabled: bool = True,
) -> bool:  # fmt: skip
    """A square button with an icon of Font Awesome, ``size`` logical pixels large; ``hint`` is its tooltip.

    ``colour`` is the icon's, ``fill`` the background's; None: there is none unless the pointer is over the button.
    """
    imgui.begin_disabled(not enabled)
    pen = Pen(ui)
    it = item(name, pen.px(size), pen.px(size))
    if it.held or it.hovered:
        pen.box(*it[:4], it.fill if fill in (None, "field") else fill)
    elif fill is not None:
        pen.box(*it[:4], fill)
    pen.icon(*it.middle, icon, "text" if it.hovered and colour == "text2" else colour)
    imgui.end_disabled()
    tip(hint)
    return it.clicked


def text_button(
    ui: PanelContext, label: str, *, icon: str = "", width: float | None = None, height: float = FIELD,
    primary: bool = False, on: bool | None = None, enabled: bool = True, hint: str = "",
) -> bool:  # fmt: skip
    """A button with an icon and words; ``##`` and what follows in its label only make the imgui id unique.

    ``width`` is as of `room`, None fits the words; ``height`` in logical pixels. It is highlighted if ``primary``, as
    what Enter presses; ``on`` is the state of a toggle, None of a button without state.
    """
    imgui.begin_disabled(not enabled)
    pen = Pen(ui)
    words = label.partition("##")[0]
    lead = pen.px(20) if icon else 0.0
    w = pen.width(words) + lead + pen.px(20) if width is None else room(width)
    it = item(label, w, pen.px(height))
    strong = "accent_dk" if primary or on else None
    pen.box(*it[:4], strong if strong and not it.hovered else it.fill)
    if strong and it.hovered:
        pen.frame(*it[:4], "accent")
    words = pen.fit(words, w - lead - pen.px(8))
    x = it.x + (w - lead - pen.width(words)) / 2.0
    if icon:
        pen.icon(x + pen.px(7), it.middle[1], icon, "accent" if on else "text2")
    pen.text(x + lead, pen.middle(it.y, it.h), words, "text" if on is not False or it.hovered else "text2")
    imgui.end_disabled()
    tip(hint)
    return it.clicked


def choose(
    ui: PanelContext, name: str, values: Sequence[T], words: Sequence[str], now: T, *,
    widths: float | None = None, hints: Sequence[str] = (), height: float = SEGMENT, off: Collection[int] = (),
) -> T:  # fmt: skip
    """A segmented control; returns the value chosen after this frame, which is ``now`` unless another was pressed.

    ``words`` are on the segments; those with an index in ``off`` cannot be chosen. ``widths`` of each are framebuffer
    pixels, None fits the words; ``height`` is in logical ones.
    """
    pen = Pen(ui)
    chosen, active = now, values.index(now) if now in values else -1
    x, y = imgui.get_cursor_screen_pos()
    sizes = [pen.width(label) + pen.px(24) if widths is None else widths for label in words]
    h = pen.px(height)
    pen.box(x, y, sum(sizes), h, "field")
    for index, (label, w) in enumerate(zip(words, sizes, strict=True)):
        imgui.set_cursor_screen_pos((x, y))
        imgui.begin_disabled(index in off)
        it = item(f"{name} {index}", w, h)
        if index == active:
            pen.box(*it[:4], "accent_dk")
        elif it.hovered:
            pen.box(*it[:4], it.fill)
        shown = pen.fit(label, w - pen.px(6))
        colour = "text" if index == active or it.hovered else "text2"
        pen.text(x + (w - pen.width(shown)) / 2.0, pen.middle(y, h), shown, colour)
        imgui.end_disabled()
        tip(hints[index] if index < len(hints) else "")
        if it.clicked and index != active:
            chosen = values[index]
        x += w
    return chosen


def room(width: float) -> float:
    """A width in framebuffer pixels: the rest of the line for 0, less so much for a negative one."""
    return width if width > 0.0 else imgui.get_content_region_avail().x + width


def tool_button(
    ui: PanelContext, name: str, words: str, icon: str, width: float, hint: str, *, on: bool | None = None
) -> bool:
    """A button of the toolbar, ``width`` logical pixels wide with words; without any it is its icon alone.

    ``on`` is as in `text_button`.
    """
    if not words:
        tone, fill = ("accent", "accent_dk") if on else ("text2", "field")
        return icon_button(ui, name, icon, hint, colour=tone, fill=fill)
    return text_button(ui, f"{words}##{name}", icon=icon, width=ui.px(width), height=TOOL, hint=hint, on=on)


def drop_menu(
    ui: PanelContext, name: str, label: str, *,
    icon: str = "", width: float = 0.0, height: float = TOOL, hint: str = "", colour: str = "text",
) -> bool:  # fmt: skip
    """A button with icon, words and caret that opens a list; its ``width`` is as of `room`.

    Returns whether that is open: then entries and ``end_popup`` must follow.
    """
    pen = Pen(ui)
    lead = pen.px(22) if icon else 0.0
    it = item(name, room(width), pen.px(height))
    pen.box(*it[:4], it.fill)
    x, middle = it.x + pen.px(9), it.middle[1]
    if icon:
        pen.icon(x + pen.px(7), middle, icon)
    full = pen.fitted(x + lead, pen.middle(it.y, it.h), label, it.w - lead - pen.px(32), colour)
    pen.icon(it.x + it.w - pen.px(13), middle, fa.ICON_FA_CARET_DOWN, "text3", SMALL)
    tip(hint or full)
    if it.clicked:
        imgui.open_popup(f"{name} list")
    return imgui.begin_popup(f"{name} list")


def pick(entries: Iterable[tuple[T, str]], now: T | None) -> T | None:
    """Entries of an open menu, with a tick at ``now``; returns the value pressed in this frame, or None."""
    pressed = [value for value, words in entries if imgui.menu_item_simple(words, None, value == now)]
    return pressed[0] if pressed else None


def drop_choice(
    ui: PanelContext, name: str, label: str, entries: Iterable[tuple[T, str]], now: T | None, *,
    icon: str = "", width: float = 0.0, height: float = TOOL, hint: str = "",
) -> T | None:  # fmt: skip
    """`drop_menu` with the entries of `pick`; returns the value pressed in this frame if it is not ``now``."""
    if not drop_menu(ui, name, label, icon=icon, width=width, height=height, hint=hint):
        return None
    pressed = pick(entries, now)
    imgui.end_popup()
    return None if pressed == now else pressed


def toggle(ui: PanelContext, name: str, *, on: bool, hint: str = "") -> bool:
    """A switch, `FIELD` high."""
    pen = Pen(ui)
    it = item(name, pen.px(28), pen.px(FIELD))
    h = pen.px(16)
    y = it.y + (it.h - h) / 2.0
    pen.box(it.x, y, it.w, h, "accent_dk" if on else "field_hi" if it.hovered else "field", rounding=8)
    x = it.x + it.w - h / 2.0 if on else it.x + h / 2.0
    pen.disc(x, y + h / 2.0, 6.0, "accent" if on else "text3")
    tip(hint)
    return it.clicked


def cap_width(pen: Pen, words: str) -> float:
    """Width of a `key_cap`, framebuffer pixels."""
    return max(pen.width(words, SMALL) + pen.px(10), pen.px(18))


def key_cap(pen: Pen, x: float, y: float, words: str) -> float:
    """Draw a key of the keyboard, 18 logical pixels high, at (x, y); returns its width in framebuffer pixels."""
    wide = pen.width(words, SMALL)
    w, h = cap_width(pen, words), pen.px(18)
    pen.box(x, y, w, h, "line_hi", rounding=3)
    pen.box(x, y, w, h - pen.px(2), "field", rounding=3)
    pen.text(x + (w - wide) / 2.0, pen.middle(y, h - pen.px(2), SMALL), words, "text", SMALL)
    return w


LABEL = 58
"""Width of the label column, logical pixels."""


def label(ui: PanelContext, words: str, *, height: float = FIELD, width: float = LABEL, hint: str = "") -> None:
    """Write the label of a form's row; imgui's cursor is then where the control starts."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    w = pen.px(width)
    full = pen.fitted(x, pen.middle(y, pen.px(height)), words, w - pen.px(4), "text2")
    imgui.dummy((w, pen.px(height)))
    tip(hint or full)
    imgui.same_line(0.0, 0.0)


def note(ui: PanelContext, words: str, colour: str = "text3", height: float = FIELD, *, gap: float = 10.0) -> None:
    """Words after a control, in its row; shortened in the middle where they do not fit."""
    imgui.same_line(0.0, ui.px(gap))
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    wide = imgui.get_content_region_avail().x
    full = pen.fitted(x, pen.middle(y, pen.px(height)), words, wide, colour)
    imgui.dummy((pen.width(pen.fit(words, wide)), pen.px(height)))
    tip(full)


def head(ui: PanelContext, icon: str, title: str, note: str, *, colour: str = "text2") -> None:
    """The head of a section: an icon, a title in bold, which is shortened to fit, and a note in small letters."""
    pen, x, y, wide, h = line(ui, FIELD)
    pen.icon(x + pen.px(6), y + h / 2.0, icon, colour)
    start = x + pen.px(22)
    noted = pen.width(note, SMALL) + pen.px(8) if note else 0.0
    shown = pen.fit(title, max(wide - pen.px(22) - noted, pen.px(60)), bold=True)
    pen.strong(start, pen.middle(y, h), shown)
    after = start + pen.width(shown, bold=True) + pen.px(8)
    pen.small(after, pen.middle(y, h, SMALL), pen.fit(note, x + wide - after, SMALL))
    tip(title if shown != title else "")


def line(ui: PanelContext, height: float) -> tuple[Pen, float, float, float, float]:
    """Take a line of the window, ``height`` logical pixels high; a pen, and the line's x, y, w, h (framebuffer)."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    wide = imgui.get_content_region_avail().x
    imgui.dummy((wide, pen.px(height)))
    return pen, x, y, wide, pen.px(height)


def small_line(ui: PanelContext, words: str, colour: str, *, height: float) -> None:
    """A line of small text as wide as the window, ``height`` logical pixels high; the tooltip has a shortened one."""
    pen, x, y, wide, _ = line(ui, height)
    tip(pen.fitted(x, y, words, wide, colour, SMALL))


def value_rows(ui: PanelContext, rows: Iterable[tuple[str, str]]) -> None:
    """Rows of a name at the left and a value at the right."""
    for words, value in rows:
        pen, x, y, wide, h = line(ui, 20)
        pen.text(x, pen.middle(y, h), words, "text2")
        pen.right(x + wide, pen.middle(y, h), pen.fit(value, wide - pen.width(words) - pen.px(12)))


def separator(ui: PanelContext) -> None:
    """A line across the panel, with space above and below."""
    pen, x, y, wide, _ = line(ui, 9)
    inset = imgui.get_style().window_padding.x
    pen.rule(x - inset, x + wide + inset, y + pen.px(5))


def paragraph(ui: PanelContext, words: str, colour: str = "text", *, small: bool = False) -> None:
    """Draw text that wraps at the window's edge."""
    imgui.push_style_color(imgui.Col_.text, paint(colour))
    imgui.push_text_wrap_pos(0.0)
    with ui.fonts.small() if small else ui.fonts.base():
        imgui.text_unformatted(visible(words, icons=True))
    imgui.pop_text_wrap_pos()
    imgui.pop_style_color()


def quiet(ui: PanelContext, words: str, *, small: bool = False) -> None:
    """A paragraph in a faint colour, where a panel has nothing to show."""
    paragraph(ui, words, "text3", small=small)


def rows_within(widths: Iterable[float], room: float, space: float) -> list[list[int]]:
    """Numbers of items that stand ``space`` apart, in rows no wider than ``room`` unless an item alone is."""
    rows, end = list[list[int]](), 0.0
    for number, wide in enumerate(widths):
        if not rows or end + wide > room:
            rows.append([])
            end = 0.0
        rows[-1].append(number)
        end += wide + space
    return rows


@contextmanager
def no_spacing() -> Iterator[None]:
    """A context without gaps between the items drawn in it."""
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (0.0, 0.0))
    yield
    imgui.pop_style_var()


def side_by_side(ui: PanelContext, count: int, space: float = 6.0) -> Iterator[float]:
    """Put ``count`` items of one width in the rest of the line, ``space`` logical pixels apart; yields the width."""
    between = ui.px(space)
    wide = float(int((imgui.get_content_region_avail().x - (count - 1) * between) / count))
    for index in range(count):
        if index:
            imgui.same_line(0.0, between)
        yield wide


def rows_in_view(count: int, height: float, always: int = -1) -> Iterator[int]:
    """Indices of the rows to draw: of ``count``, ``height`` framebuffer pixels each, those in view.

    The row ``always``, unless it is negative, is drawn even out of view: it may have an open text field.
    """
    clipper = imgui.ListClipper()
    clipper.begin(count, height)
    if always >= 0:
        clipper.include_item_by_index(always)
    while clipper.step():
        yield from range(clipper.display_start, clipper.display_end)


def list_row(
    pen: Pen, name: str, height: float, *, chosen: bool = False, lit: bool = False, rounding: float = 4.0
) -> Area:
    """A row as wide as the window, which both mouse buttons click; drawn with its background only.

    ``height`` and ``rounding`` are logical pixels. It is ``chosen``, or ``lit`` as if the pointer were over it.
    """
    it = item(name, imgui.get_content_region_avail().x, pen.px(height), right_too=True)
    if chosen:
        pen.box(*it[:4], "accent_dk", rounding=rounding)
    elif it.hovered or lit:
        pen.box(*it[:4], "field", rounding=rounding)
    return it


def scroll_to_row(index: int, height: float, *, centre: bool = True, margin: float = 0.0) -> None:
    """Scroll the current window until a row, ``height`` framebuffer pixels high, is in view; not if it is negative.

    A row out of view, or within ``margin`` pixels of the lower edge, comes to the middle with ``centre``, else just in.
    """
    top, room, y = imgui.get_scroll_y(), imgui.get_window_height(), index * height
    if index < 0 or top <= y <= top + room - height - margin:
        return
    nearest = y if y < top else y + height - room
    imgui.set_scroll_y(max(0.0, y - (room - height) / 2.0 if centre else nearest))
