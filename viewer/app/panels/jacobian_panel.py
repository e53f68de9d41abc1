"""The Jacobian of the laboratory: the matrix as a picture, its singular values and numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui

from viewer.app.panel_context import PanelContext
from viewer.app.theme import SMALL
from viewer.app.widgets import controls
from viewer.app.widgets.pen import Pen, gap, item, tip
from viewer.ik.jacobian import Jacobian
from viewer.spatial.checks import Floats
from viewer.ui import number_format
from viewer.ui.laboratory import Cell, Laboratory

_NAMES, _HIGH, _LEAST = 104.0, 15.0, 7.0
"""Width of the rows' names, height of a row and least width of a column, logical pixels."""
_SPOKEN, _TALL, _HEAD = 44.0, 22.0, 18.0
"""Width of a column from which its name and its numbers are written, height of a row then and of the names."""
_POSITIVE, _NEGATIVE = "method_D", "method_C"
_NOTHING = 1e-12
_MOST_VALUES = 40


class _Column(NamedTuple):
    """A column of the picture: its name, its degrees of freedom, and whether one of them is at a limit."""

    name: str
    dofs: list[int]
    frozen: bool


def draw_jacobian(ui: PanelContext) -> None:
    """Draw the matrix of the solid method at the playhead."""
    lab = ui.controller.laboratory
    trace, jacobian = lab.trace, lab.jacobian()
    if trace is None or jacobian is None:
        controls.quiet(ui, "Drag a hand or foot to see how each joint moves it")
        return
    frozen = trace.at(lab.shown_iteration).at_limit
    expanded = bool(ui.memory.get("jacobian by dof", False))
    expanded = controls.choose(ui, "columns", (False, True), ("Joints", "Degrees of freedom"), expanded)
    ui.memory["jacobian by dof"] = expanded
    gap(ui.px(6))
    columns = _columns(jacobian, frozenset(frozen), by_dof=expanded)
    if not columns:
        controls.quiet(ui, "No joint moves any goal")
        return
    jacobian = lab.in_plane(jacobian)
    _matrix(ui, lab, jacobian, columns)
    gap(ui.px(8))
    _numbers(ui, lab, jacobian)


def _columns(jacobian: Jacobian, frozen: frozenset[str], *, by_dof: bool) -> list[_Column]:
    """The columns with any number other than zero."""
    used = np.flatnonzero(np.abs(jacobian.matrix).max(axis=0, initial=0.0) > _NOTHING).tolist()
    if by_dof:
        return [_Column(jacobian.dofs[d], [d], _joint(jacobian.dofs[d]) in frozen) for d in used]
    groups: dict[str, list[int]] = {}
    for d in used:
        groups.setdefault(_joint(jacobian.dofs[d]), []).append(d)
    return [_Column(name, dofs, name in frozen) for name, dofs in groups.items()]


def _joint(dof: str) -> str:
    """The joint of a degree of freedom: names may have dots, suffixes are short."""
    name, _, part = dof.rpartition(".")
    return name if name and part in {"r0", "r1", "rx", "ry", "rz", "tx", "ty", "tz"} else dof


def _strongest(matrix: Floats, row: int, dofs: list[int]) -> tuple[float, int]:
    """The largest number of a row among some columns, with its column."""
    values = matrix[row, dofs]
    place = int(np.abs(values).argmax())
    return float(values[place]), dofs[place]


def _matrix(ui: PanelContext, lab: Laboratory, jacobian: Jacobian, columns: list[_Column]) -> None:
    pen, matrix = Pen(ui), jacobian.matrix
    left = pen.px(_NAMES)
    wide = max((imgui.get_content_region_avail().x - left) / len(columns), pen.px(_LEAST))
    spoken, most = wide >= pen.px(_SPOKEN), float(np.abs(matrix).max()) or 1.0
    high, head = (pen.px(_TALL), pen.px(_HEAD)) if spoken else (pen.px(_HIGH), 0.0)
    it = item("matrix", left + wide * len(columns), head + high * len(jacobian.rows))
    for k, column in enumerate(columns if spoken else ()):
        _centred(pen, it.x + left + k * wide, it.y, wide, head, column.name, "text2")
    mouse = imgui.get_io().mouse_pos
    under = None
    for row, name in enumerate(jacobian.rows):
        y = it.y + head + row * high
        pen.text(it.x, pen.middle(y, high, SMALL), pen.fit(name, left - pen.px(6), SMALL), "text2", SMALL)
        for k, column in enumerate(columns):
            x = it.x + left + k * wide
            value, dof = _strongest(matrix, row, column.dofs)
            strength = math.sqrt(abs(value) / most)
            tone = _POSITIVE if value > 0.0 else _NEGATIVE
            far = (x + wide - 1.0, y + high - 1.0)
            pen.draw.add_rect_filled((x, y), far, pen.ink("app"))
            pen.draw.add_rect_filled((x, y), far, pen.ink(tone, strength))
            if column.frozen:
                pen.draw.add_line((x, far[1]), (far[0], y), pen.ink("limit", 0.8), pen.scale)
            if spoken:
                _centred(pen, x, y, wide, high, number_format.fixed(value, 2), "text")
            cell = Cell(name, jacobian.dofs[dof])
            if (
                lab.cell is not None
                and lab.cell.row == name
                and any(jacobian.dofs[d] == lab.cell.dof for d in column.dofs)
            ):
                pen.draw.add_rect((x, y), far, pen.ink("hovered"), 0.0, 2.0 * pen.scale)
            if it.hovered and x <= mouse.x < x + wide and y <= mouse.y < y + high:
                under = cell, value, column
                pen.draw.add_rect((x, y), far, pen.ink("text"), 0.0, pen.scale)
    if under is None:
        return
    cell, value, column = under
    at_limit = "\nat a limit" if column.frozen else ""
    tip(f"{cell.row} by {cell.dof}: {value:.4g} {_unit(cell)}{at_limit}\nClick: light joint and goal, draw velocities")
    if it.clicked:
        lab.choose(cell)
        ui.wake()


def _centred(pen: Pen, x: float, y: float, wide: float, high: float, words: str, colour: str) -> None:
    words = pen.fit(words, wide - pen.px(4), SMALL)
    pen.text(x + (wide - pen.width(words, SMALL)) / 2.0, pen.middle(y, high, SMALL), words, colour, SMALL)


def _unit(cell: Cell) -> str:
    turns = cell.row.rpartition(".")[2] in {"rx", "ry", "rz", "angle"}
    slides = cell.dof.rpartition(".")[2] in {"tx", "ty", "tz"}
    return f"{'rad' if turns else 'm'}/{'m' if slides else 'rad'}"


def _numbers(ui: PanelContext, lab: Laboratory, jacobian: Jacobian) -> None:
    """Rank, condition, manipulability, and the singular values as bars: those below the damping are amber."""
    values, pen = jacobian.singular_values, Pen(ui)
    condition = jacobian.condition
    words = "infinite" if math.isinf(condition) or condition > 1e12 else f"{condition:.3g}"
    controls.value_rows(ui, (
        ("Size", f"{len(jacobian.rows)} x {len(jacobian.dofs)}"),
        ("Rank", f"{jacobian.rank} of {min(jacobian.matrix.shape)}"),
        ("Condition", words),
        ("Manipulability", f"{jacobian.manipulability:.3g}"),
    ))  # fmt: skip
    wide = imgui.get_content_region_avail().x
    gap(ui.px(6))
    damping = ui.session.document.solver.damping
    x, y = imgui.get_cursor_screen_pos()
    pen.strong(x, y, "Singular values")
    gap(pen.px(20))
    count, high = min(len(values), _MOST_VALUES), pen.px(64)
    it = item("singular values", wide, high)
    pen.box(*it[:4], "app", rounding=2)
    step, most = wide / max(count, 1), float(values[0]) if values.size else 1.0
    for k, value in enumerate(values[:count].tolist()):
        tall = (high - pen.px(4)) * math.sqrt(value / most) if most > 0.0 else 0.0
        weak, left = value < (damping or 1e-6), it.x + k * step
        pen.draw.add_rect_filled(
            (left + 1.0, it.y + high - max(tall, pen.px(2))),
            (left + step - 1.0, it.y + high),
            pen.ink("warn" if weak else lab.curve(lab.solid).ink),
        )
        if step >= pen.px(_SPOKEN):
            inside = tall >= pen.px(_HEAD)
            bottom = it.y + high - (0.0 if inside else pen.px(4))
            _centred(
                pen,
                left,
                bottom - pen.px(_HEAD),
                step,
                pen.px(_HEAD),
                f"{value:.3g}",
                "on_accent" if inside else "text",
            )
    tip(", ".join(f"{value:.3g}" for value in values.tolist()))
    if damping is not None:
        controls.paragraph(ui, f"Amber: below the damping {damping:g}", "text3", small=True)
