"""The workspace Lab: methods, curves of their errors, iterations, misprinted formulas; the Jacobian and its numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import command_button, command_toggle, command_tool, eye_switch, run
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.dialogs import wrapped
from viewer.app.widgets.pen import Area, Pen, Plot, gap, item, number_step, tip
from viewer.choices import METHOD_NAMES, MethodName
from viewer.document.actions import SetSolver
from viewer.formats.lab_report import Curve, ErrorScale, amount
from viewer.ik.jacobian import Jacobian
from viewer.ik.lab import MOST_METHODS, Trace
from viewer.ik.methods import EVERY_METHOD
from viewer.ik.solution import Status
from viewer.session.lessons import MISPRINTS, arm_of
from viewer.spatial.checks import Floats
from viewer.ui import number_format
from viewer.ui.laboratory import Cell, Laboratory

_CARD, _GAP, _EYE = 46.0, 6.0, 24.0
_DAMPING = fields.Format(decimals=3, per_pixel=0.002, snap=0.05, units=fields.PLAIN, low=1e-4, high=100.0)
_CHART, _LEFT, _BELOW = 168.0, 50.0, 18.0
"""Height of a chart, and of the space for its scales, logical pixels."""
_FULL, _FEW = 0.95, 3
"""The part of a chart's height that the scale takes; least number of points drawn as a line alone."""
_BARS = 8
_STARTS = ("Same drag", "From rest")
_START_HINTS = ("The pose that the last drag began with", "The rest pose")
_UNSERVED = (5.0, 4.0)
"""Dashes round the card of a method that does not serve a goal."""


def draw_methods(ui: PanelContext) -> None:
    """Draw the cards, and the settings of all methods."""
    lab = ui.controller.laboratory
    if not any(goal.enabled for goal in ui.session.document.goals):
        controls.quiet(ui, "Drag a hand or foot: all methods solve the same drag")
        return
    with controls.no_spacing():
        for method in lab.methods:
            _card(ui, lab, method)
            imgui.dummy((1.0, ui.px(_GAP)))
    _add(ui, lab)
    if len(lab.methods) == 1:
        controls.paragraph(ui, "Choose a second method to compare", "text3", small=True)
    controls.separator(ui)
    wide = imgui.get_content_region_avail().x / 2.0
    lab.from_rest = controls.choose(ui, "start", (False, True), _STARTS, lab.from_rest, widths=wide, hints=_START_HINTS)
    controls.label(ui, "Damping", hint="Constant lambda of dls; empty: by the error", width=66)
    damping = ui.session.document.solver.damping
    fields.edit_number(
        ui, "damping", 0.1 if damping is None else damping, _DAMPING, "Damping",
        lambda value: SetSolver(damping=value), width=ui.px(70),
    )  # fmt: skip
    imgui.same_line(0.0, ui.px(6))
    if controls.text_button(ui, "Auto", on=damping is None, hint="Damping follows the error") and damping is not None:
        ui.session.dispatch(SetSolver(damping=None))
    controls.label(ui, "Ellipsoids", hint="How far each effector moves in every direction", width=66)
    command_toggle(ui, "lab.ellipsoids", "ellipsoids")
    gap(ui.px(6))
    command_button(ui, "lab.report", "Report…", icon=fa.ICON_FA_FILE_LINES, width=0.0)


def draw_lab_tools(ui: PanelContext, *, wide: bool) -> None:
    """Draw the middle of the toolbar: start pose, ellipsoids, the Jacobian."""
    lab = ui.controller.laboratory
    lab.from_rest = controls.choose(
        ui, "start tool", (False, True), _STARTS, lab.from_rest, hints=_START_HINTS, height=controls.TOOL
    )
    imgui.same_line(0.0, ui.px(12))
    words = ("Ellipsoids", "Jacobian") if wide else ("", "")
    command_tool(ui, "lab.ellipsoids", fa.ICON_FA_CIRCLE_NODES, words[0], 104.0, on=lab.ellipsoids)
    imgui.same_line(0.0, ui.px(4))
    command_tool(ui, "lab.jacobian", fa.ICON_FA_TABLE_CELLS, words[1], 96.0)
    imgui.same_line(0.0, ui.px(4))


def _card(ui: PanelContext, lab: Laboratory, method: MethodName) -> None:
    """One method: letter, error at the playhead, result; a click makes it the solid one."""
    pen, curve, trace = Pen(ui), lab.curve(method), lab.traces.get(method)
    wide, high = imgui.get_content_region_avail().x, pen.px(_CARD)
    imgui.set_next_item_allow_overlap()
    it = item(f"card {method}", wide, high, right_too=True)
    solid, hidden = method == lab.solid, method in lab.hidden
    pen.box(*it[:4], "accent_dk" if solid else "field_hi" if it.hovered else "raised")
    x, y = it.x + pen.px(10), it.y + pen.px(6)
    tone = "text3" if hidden else "text"
    disc(pen, x + pen.px(8), y + pen.px(9), curve, faint=hidden)
    pen.strong(x + pen.px(24), y + pen.px(2), method, tone)
    miss = "" if trace is None else amount(trace.error(lab.shown_iteration), metres=trace.in_metres)
    pen.right(it.x + wide - pen.px(10), y + pen.px(2), miss, tone)
    _polyline(pen, [(x, y + pen.px(30)), (x + pen.px(18), y + pen.px(30))], curve.ink, curve.dash, 2.0)
    refused = lab.worker.failed.get(method, "")
    how = refused or ("solving" if trace is None else trace.how)
    tone = "warn" if refused or (trace is not None and trace.last.unserved) else "text2"
    said = [f"{EVERY_METHOD[method].title}: {EVERY_METHOD[method].hint}"]
    said.append(pen.fitted(x + pen.px(26), y + pen.px(22), how, wide - pen.px(70), tone))
    if trace is not None:
        served = f"Does not serve {', '.join(trace.last.unserved)}. " if trace.last.unserved else ""
        said.append(f"{served}{1000.0 * trace.seconds[-1]:.2f} ms in all. Right click: remove")
    tip("\n".join(filter(None, said)))
    if trace is not None and trace.last.unserved:
        x, y, u, v = it.x + 1.0, it.y + 1.0, it.x + it.w - 1.0, it.y + it.h - 1.0
        _dashed(pen, [(x, y), (u, y), (u, v), (x, v), (x, y)], "warn", _UNSERVED, 1.4)
    after, tall = imgui.get_cursor_screen_pos(), pen.px(_EYE)
    corner = it.x + wide - tall - pen.px(1), it.y + high - tall
    if eye_switch(pen, f"eye {method}", (*corner, tall), on=not hidden, hint="Show" if hidden else "Hide"):
        lab.hide(method)
    imgui.set_cursor_screen_pos(after)
    if it.clicked:
        if imgui.is_mouse_released(imgui.MouseButton_.right):
            imgui.open_popup(f"method {method}")
        else:
            lab.show(method)
    if imgui.begin_popup(f"method {method}"):
        if imgui.menu_item_simple("Remove", "", selected=False, enabled=len(lab.methods) > 1):
            lab.remove(method)
        imgui.end_popup()


def _add(ui: PanelContext, lab: Laboratory) -> None:
    others = [name for name in METHOD_NAMES if name not in lab.methods]
    if len(lab.methods) >= MOST_METHODS or not others:
        return
    entries = ((name, EVERY_METHOD[name].title) for name in others)
    chosen = controls.drop_choice(ui, "add method", "Add a method", entries, None, icon=fa.ICON_FA_PLUS)
    if chosen is not None:
        lab.add(chosen)


def disc(pen: Pen, x: float, y: float, curve: Curve, *, faint: bool = False) -> None:
    """A method's letter in its disc."""
    pen.disc(x, y, 8.0, "field_on" if faint else curve.ink)
    wide = pen.width(curve.letter, SMALL, bold=True)
    top = round(y - SMALL * pen.scale / 2.0)
    pen.draw.add_text(pen.bold, SMALL * pen.scale, (round(x - wide / 2.0), top), pen.ink("on_accent"), curve.letter)


def _polyline(pen: Pen, points: Sequence[tuple[float, float]], ink: str, dash: Sequence[float], weight: float) -> None:
    """A line, with dashes if there are any."""
    if dash:
        _dashed(pen, points, ink, dash, weight)
    else:
        pen.draw.add_polyline(list(points), pen.ink(ink), weight * pen.scale, 0)


def _dashed(pen: Pen, points: Sequence[tuple[float, float]], tone: str, dash: Sequence[float], weight: float) -> None:
    """A line of dashes, which continue from one point to the next; alternating lengths and gaps, logical pixels."""
    ink, weight = pen.ink(tone), weight * pen.scale
    lengths = [part * pen.scale for part in dash]
    part, left = 0, lengths[0]
    for (x, y), (u, v) in pairwise(points):
        size = math.hypot(u - x, v - y)
        done = 0.0
        while done < size:
            step = min(left, size - done)
            if part % 2 == 0:
                a, b = done / size, (done + step) / size
                pen.draw.add_line((x + a * (u - x), y + a * (v - y)), (x + b * (u - x), y + b * (v - y)), ink, weight)
            done, left = done + step, left - step
            if left <= 0.0:
                part = (part + 1) % len(lengths)
                left = lengths[part]


# Convergence


class Line(NamedTuple):
    """A curve of a chart: abscissae (N,) and errors (N,), and how it is drawn."""

    across: Sequence[float]
    errors: Sequence[float]
    ink: str
    dash: Sequence[float] = ()
    weight: float = 1.8


class Chart(NamedTuple):
    """A chart of errors that was drawn: where the pointer answers, its frame, and its scale."""

    area: Area
    plot: Plot
    scale: ErrorScale

    def place(self, across: float, error: float) -> tuple[float, float]:
        """The pixel of a point."""
        return self.plot.at(across, self.scale.part(error))


def chart(
    ui: PanelContext, name: str, high: float, lines: Sequence[Line], tolerance: float, *,
    metres: bool, unit: str = "", most: float = 0.0,
) -> Chart:  # fmt: skip
    """Draw errors over a logarithmic scale, ``high`` framebuffer pixels high; abscissae are at least to ``most``."""
    pen = Pen(ui)
    it = item(name, imgui.get_content_region_avail().x, high)
    scale = ErrorScale.of((error for line in lines for error in line.errors), tolerance, metres=metres)
    most = max((most, *(line.across[-1] for line in lines)))
    left, above, below = pen.px(_LEFT), pen.px(4), pen.px(_BELOW)
    frame = it.x + left, it.y + above, it.w - left - pen.px(10), it.h - above - below
    plot = Plot(*frame, (0.0, most or 1.0), (0.0, 1.0 / _FULL))
    made = Chart(it, plot, scale)
    ticks = scale.ticks[:: 1 + int(len(scale.ticks) * pen.px(17) / plot.h)]
    parts = (0.0, 0.5, 1.0) if unit or most % 2 == 0 else (0.0, 1.0)
    along = [(plot.across[1] * part, f"{plot.across[1] * part:.3g}{unit}") for part in parts]
    plot.axes(pen, [(scale.part(error), words) for error, words in ticks], along)
    plot.dashes(pen, scale.part(tolerance), "ok")
    for line in lines:
        points = [made.place(a, b) for a, b in zip(line.across, line.errors, strict=True)]
        _polyline(pen, points, line.ink, line.dash, line.weight)
        for x, y in points if len(points) < _FEW else ():  # a solve in closed form has one point only
            pen.disc(x, y, line.weight, line.ink)
    # Left of the discs at the ends of curves.
    wide, right, met = pen.width("tolerance", SMALL), plot.x + plot.w - pen.px(14), made.place(0.0, tolerance)[1]
    pen.box(right - wide - pen.px(6), met - pen.px(16), wide + pen.px(4), pen.px(15), "app")
    pen.right(right - pen.px(4), met - pen.px(15), "tolerance", "ok", SMALL)
    return made


def draw_convergence(ui: PanelContext) -> None:
    """Draw the largest error by iteration and by time, why methods stopped, and how far joints turned."""
    lab = ui.controller.laboratory
    shown = {name: trace for name, trace in lab.traces.items() if name not in lab.hidden}
    if all(len(trace.solutions) < 2 for trace in shown.values()):
        controls.quiet(ui, "Drag a hand or foot to see its error by iteration and by time")
        return
    # The solid one is drawn last, over the others.
    order = sorted(shown, key=lambda name: name == lab.solid)
    trace = shown[order[-1]]
    errors = {name: [trace.error(k) for k in range(len(trace.solutions))] for name, trace in shown.items()}
    _chart(ui, "Largest error by iteration", {name: range(len(errors[name])) for name in order}, errors, trace)
    times = {name: [1000.0 * second for second in shown[name].seconds] for name in order}
    _chart(ui, "Largest error by time, this machine", times, errors, trace, unit=" ms")
    _why(ui, lab, shown)
    _turns(ui, lab)


def _chart(
    ui: PanelContext, title: str, across: Mapping[MethodName, Sequence[float]],
    errors: Mapping[MethodName, Sequence[float]], trace: Trace, *, unit: str = "",
) -> None:  # fmt: skip
    """The curves of methods; a click makes the nearest curve's method the solid one, a drag moves the playhead."""
    pen, lab, options = Pen(ui), ui.controller.laboratory, trace.solver.options
    x, y = imgui.get_cursor_screen_pos()
    pen.strong(x, y, title)
    gap(pen.px(22))
    lines = {
        name: Line(xs, errors[name], lab.curve(name).ink, lab.curve(name).dash, 2.6 if name == lab.solid else 1.8)
        for name, xs in across.items()
    }
    tolerance = options.tolerance_m if trace.in_metres else options.tolerance_deg
    high = pen.px(_CHART + _BELOW)
    made = chart(ui, title, high, [*lines.values()], tolerance, metres=trace.in_metres, unit=unit)
    plot, near = made.plot, pen.px(9)
    for name, line in lines.items():
        u, v = made.place(line.across[-1], line.errors[-1])
        disc(pen, min(u, plot.x + plot.w - near), min(max(v, plot.y + near), plot.y + plot.h - near), lab.curve(name))
    if not unit:
        pen.upright(made.place(lab.shown_iteration, tolerance)[0], plot.y, plot.y + plot.h, "accent")
    if made.area.clicked:
        _pick(ui, lines, made)
    elif not unit and made.area.held and imgui.is_mouse_dragging(imgui.MouseButton_.left):
        lab.go_to(round(max(plot.values(imgui.get_io().mouse_pos.x, 0.0)[0], 0.0)))
    gap(pen.px(8))


def _pick(ui: PanelContext, lines: Mapping[MethodName, Line], made: Chart) -> None:
    """Make the method whose curve is nearest to the pointer the solid one."""
    mouse = imgui.get_io().mouse_pos

    def away(name: MethodName) -> float:
        points = np.array([made.place(a, b) for a, b in zip(lines[name].across, lines[name].errors, strict=True)])
        return float(np.hypot(points[:, 0] - mouse.x, points[:, 1] - mouse.y).min())

    nearest = min(lines, key=away)
    if away(nearest) < ui.px(14):
        ui.controller.laboratory.show(nearest)


def _why(ui: PanelContext, lab: Laboratory, shown: dict[MethodName, Trace]) -> None:
    reasons = [(lab.curve(name), trace.why) for name, trace in shown.items() if trace.why]
    if not reasons:
        return
    controls.separator(ui)
    pen = Pen(ui)
    for curve, words in reasons:
        x, y = imgui.get_cursor_screen_pos()
        wide = imgui.get_content_region_avail().x - pen.px(24)
        disc(pen, x + pen.px(8), y + pen.px(9), curve)
        rows = wrapped(words, wide, lambda text: pen.width(text, SMALL), 4)
        for row, line in enumerate(rows):
            pen.text(x + pen.px(24), y + pen.px(2 + 16 * row), line, "text2", SMALL)
        imgui.dummy((wide, pen.px(16 * max(len(rows), 1) + 6)))


def _turns(ui: PanelContext, lab: Laboratory) -> None:
    """Bars of the joints that have turned most, of the solid method at the playhead."""
    trace = lab.trace
    if trace is None:
        return
    degrees = np.degrees(trace.turns(lab.shown_iteration))
    order = [k for k in np.argsort(-degrees)[:_BARS].tolist() if degrees[k] >= 0.05]
    if not order:
        return
    controls.separator(ui)
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    disc(pen, x + pen.px(8), y + pen.px(9), lab.curve(lab.solid))
    pen.strong(x + pen.px(24), y + pen.px(1), "Turned since the start")
    gap(pen.px(22))
    names, most = trace.solver.skeleton.names, float(degrees[order[0]])
    for k in order:
        pen, x, y, wide, h = controls.line(ui, 18)
        pen.fitted(x, pen.middle(y, h, SMALL), names[k], pen.px(104), "text2", SMALL)
        full = wide - pen.px(110 + 52)
        pen.box(x + pen.px(110), y + pen.px(5), full * float(degrees[k]) / most, pen.px(8), lab.curve(lab.solid).ink)
        pen.right(x + wide, pen.middle(y, h, SMALL), f"{degrees[k]:.1f}°", "text", SMALL)


_BUTTONS = (
    ("play.first", fa.ICON_FA_BACKWARD_FAST, "Start   Ctrl Home"),
    ("play.previous", fa.ICON_FA_BACKWARD_STEP, "One iteration back   ,"),
    ("play.forwards", fa.ICON_FA_PLAY, "Run, 10 a second   Space"),
    ("play.next", fa.ICON_FA_FORWARD_STEP, "One iteration forward   ."),
    ("play.last", fa.ICON_FA_FORWARD_FAST, "End   Ctrl End"),
)
_SMALL, _INSET = 24.0, 12.0
_APART = 46.0
"""Least logical pixels between two numbers on the ruler."""


def draw_iterations(ui: PanelContext) -> None:
    """Draw the panel; only the transport row if there is no room for more."""
    lab = ui.controller.laboratory
    last = lab.last
    for command, icon, words in _BUTTONS:
        shown = fa.ICON_FA_PAUSE if command == "play.forwards" and lab.playing else icon
        if controls.icon_button(ui, command, shown, words, size=_SMALL, fill=None, enabled=bool(lab.traces)):
            run(ui, command)
        imgui.same_line(0.0, ui.px(4))
    imgui.same_line(0.0, ui.px(12))
    imgui.align_text_to_frame_padding()
    imgui.text("Iteration")
    imgui.same_line(0.0, ui.px(8))
    form = fields.Format(decimals=0, per_pixel=0.1, snap=5.0, units={}, low=0.0, high=float(max(last, 1)))
    edit = fields.number_field(ui, "iteration", float(lab.shown_iteration), form, width=ui.px(56))
    if edit is not None:
        lab.go_to(round(edit.value))
    imgui.same_line(0.0, ui.px(8))
    imgui.align_text_to_frame_padding()
    imgui.text_disabled(f"/ {last}")
    if not ui.regions.short_timeline:
        gap(ui.px(4))
        _ruler(ui, last)


def _ruler(ui: PanelContext, last: int) -> None:
    """Numbers, the letters of methods where they met their goals, and the playhead, which is dragged."""
    lab, pen = ui.controller.laboratory, Pen(ui)
    wide, high = imgui.get_content_region_avail().x, max(imgui.get_content_region_avail().y, pen.px(36))
    it = item("ruler", wide, high)
    pen.box(*it[:4], "app", rounding=3)
    left, right = it.x + pen.px(_INSET), it.x + wide - pen.px(_INSET)
    each = (right - left) / max(last, 1)
    step = number_step(pen.px(_APART) / each)
    pen.rule(left, right, it.y + pen.px(20), "line_hi")
    for k in range(0, last + 1, step):
        x = left + k * each
        words = str(k)
        pen.upright(x, it.y + pen.px(16), it.y + pen.px(20), "line_hi")
        pen.text(x - pen.width(words, SMALL) / 2.0, it.y + pen.px(2), words, "text3", SMALL)
    x = left + lab.shown_iteration * each
    pen.upright(x, it.y + pen.px(16), it.y + it.h, "accent")  # below the numbers, under the letters
    pen.disc(x, it.y + pen.px(20), 5.0, "accent")
    _letters(ui, lab, pen, (left, right, it.y), each)
    if it.held:
        lab.playing = False
        lab.go_to(round((imgui.get_io().mouse_pos.x - left) / each))


def _letters(ui: PanelContext, lab: Laboratory, pen: Pen, ends: tuple[float, float, float], each: float) -> None:
    """The letters of methods where they met their goals; letters at one place are side by side."""
    left, right, top = ends
    size, wide = pen.px(18), pen.width("met", SMALL) + pen.px(12)
    met = sorted(
        (trace.ended, name)
        for name, trace in lab.traces.items()
        if name not in lab.hidden and trace.last.status is Status.CONVERGED
    )
    places: list[float] = []
    for iterations, name in met:
        x = max(left + iterations * each, places[-1] + size if places else left)
        places.append(x)
        disc(pen, x, top + ui.px(33), lab.curve(name))
    for x, after in pairwise([*places, right + wide]):
        if after - x > wide:
            pen.text(x + pen.px(12), pen.middle(top + pen.px(25), pen.px(16), SMALL), "met", "text2", SMALL)


def draw_misprints(ui: PanelContext) -> None:
    """Draw every entry: the source, both formulas, and their results for an arm of two links."""
    start = ui.controller.laboratory.start
    arm = None if start is None else arm_of(ui.session.document, start)
    for entry in MISPRINTS:
        controls.separator(ui)
        pen, x, y, *_ = controls.line(ui, 16)
        pen.strong(x, y, entry.source)
        tried = ("", "") if arm is None else entry.tried(arm)
        for formula, found, tone in ((entry.printed, tried[0], "warn"), (entry.right, tried[1], "ok")):
            controls.paragraph(ui, formula, "text2", small=True)
            if found:
                pen, x, y, *_ = controls.line(ui, 14)
                pen.text(x + pen.px(12), y, found, tone, SMALL)


_NAMES, _HIGH, _APART_FROM = 104.0, 15.0, 5.0
"""Width of the rows' names, height of a row and least width of columns with gaps, logical pixels."""
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
    values = matrix[row, dofs]
    place = int(np.abs(values).argmax())
    return float(values[place]), dofs[place]


def _matrix(ui: PanelContext, lab: Laboratory, jacobian: Jacobian, columns: list[_Column]) -> None:
    pen, matrix = Pen(ui), jacobian.matrix
    left = pen.px(_NAMES)
    wide = (imgui.get_content_region_avail().x - left) / len(columns)
    between = 1.0 if wide >= pen.px(_APART_FROM) else 0.0
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
            far = (x + wide - between, y + high - 1.0)
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
    said = f"{cell.row} by {cell.dof}: {value:.4g} {_unit(cell)}{at_limit}"
    tip(f"{said}\nClick: highlight joint and goal, draw velocities")
    if it.clicked:
        lab.choose(cell)


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
