"""The solver panel: the last solve, its convergence plot, and the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.lab_panel import Line, chart
from viewer.app.panels.panel_parts import action_button, entry, shown_goal_and_joint
from viewer.app.theme import BASE, SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.edits import Edit, Phase, act, attempt, carry_out
from viewer.app.widgets.pen import Pen, gap, tip
from viewer.document import Report, SolverSettings
from viewer.document.actions import SetSolver
from viewer.document.document import BENDS, PREFERRED, prefers
from viewer.document.solve_report import Derivation, derivation
from viewer.errors import plural
from viewer.gizmo import LengthUnit
from viewer.ik.methods import EVERY_METHOD
from viewer.ik.solution import Status
from viewer.ik.solver_options import DEFAULT
from viewer.ui import number_format

_WORST = 1e6
"""Metres that stand for an infinite error in the plot."""
_FEWEST = 10.0
"""Least number of iterations on its axis."""


def _convergence(ui: PanelContext, height: float) -> None:
    """Draw the plot, as wide as the panel and ``height`` framebuffer pixels high; empty without a solve."""
    report, pen, session = ui.session.report, Pen(ui), ui.session
    x, y = imgui.get_cursor_screen_pos()
    wide = imgui.get_content_region_avail().x
    if report is None or not report.steps:
        pen.box(x, y, wide, height, "app")
        words = "No iterations yet"
        pen.small(x + (wide - pen.width(words, SMALL)) / 2.0, pen.middle(y, height, SMALL), words)
        imgui.dummy((wide, height))
        return
    errors = {name: np.nan_to_num(found, posinf=_WORST).tolist() for name, found in report.errors_by_iteration.items()}
    goal, _ = shown_goal_and_joint(session.document)
    chosen = goal.id if goal is not None else next(iter(errors)) if len(errors) == 1 else ""
    error = session.errors.get(chosen)
    missed = error is not None and not error.reached and chosen not in session.yields
    tone = "unreached" if missed else "accent"
    lines = [
        Line(report.steps, errors[name], tone if name == chosen else "text3", weight=2.0 if name == chosen else 1.0)
        for name in sorted(errors, key=lambda name: name == chosen)
    ]
    made = chart(
        ui, "error by iteration", height, lines, session.document.solver.tolerance_m, metres=True, most=_FEWEST
    )
    if chosen in errors:
        plot = made.plot
        name = pen.fit(chosen, plot.w - pen.px(16), SMALL)
        pen.right(plot.x + plot.w - pen.px(5), plot.y + pen.px(3), name, tone, SMALL)


ANGLE = "\N{GREEK SMALL LETTER THETA}"


def derived(found: Derivation, unit: LengthUnit) -> tuple[tuple[str, ...], tuple[tuple[str, str, str], ...]]:
    """Lines of the two-link derivation, and rows (name, up, down) of the angles in both solutions."""
    sizes = (*found.lengths, found.distance)
    one, two, away = (f"{number_format.fixed(size / unit.metres, unit.decimals)} {unit.name}" for size in sizes)
    squares = "(d² \N{MINUS SIGN} L1² \N{MINUS SIGN} L2²)"
    lines = (
        f"L1 {one}  L2 {two}  d {away}",
        f"cos {ANGLE}2 = {squares} / 2 L1 L2 = {number_format.fixed(found.cosine, 4)}",
    )
    rows = tuple(
        (f"{ANGLE}{link}", *(f"{number_format.fixed(branch[place], 2)}°" for branch in (found.up, found.down)))
        for place, link in ((1, 2), (0, 1))
    )
    return lines, rows  # type: ignore[return-value]  # two branches each


ICONS = {
    "check": (fa.ICON_FA_CIRCLE_CHECK, "ok"),
    "warn": (fa.ICON_FA_TRIANGLE_EXCLAMATION, "warn"),
    "cross": (fa.ICON_FA_CIRCLE_XMARK, "err"),
    "dot": (fa.ICON_FA_CIRCLE, "text3"),
    "build": (fa.ICON_FA_BONE, "accent"),
    "refused": (fa.ICON_FA_BAN, "text2"),
}
"""Icon and colour of a state."""

_STATES = {
    Status.CONVERGED: ("check", "Converged"),
    Status.UNREACHABLE: ("warn", "Out of reach"),
    Status.STALLED: ("warn", "Stalled"),
    Status.DIVERGED: ("cross", "Diverged"),
    Status.BUDGET: ("warn", "Stopped"),
}


def state_words(report: Report | None, *, dragging: bool) -> tuple[str, str]:
    """The key of `ICONS` and the word for the state of the last solve."""
    if report is None:
        return "dot", "Ready"
    if dragging and report.status is Status.BUDGET:
        return "dot", "Solving"
    return _STATES[report.status]


_TOLERANCE = fields.Format(
    decimals=2, unit=" mm", per_pixel=1e-5, snap=1e-4, units=fields.metres_in(0.001), low=1e-7, high=1.0, worth=0.001
)
_TURN = fields.Format(decimals=2, unit="°", per_pixel=0.01, snap=0.1, units={"°": 1.0}, low=1e-4, high=180.0)
_CAP = fields.Format(decimals=1, unit="°", per_pixel=0.2, snap=5.0, units={"°": 1.0}, low=0.1, high=180.0)
_DAMPING = fields.Format(decimals=3, per_pixel=0.002, snap=0.05, units={}, low=1e-4, high=100.0)
_STEP = fields.Format(decimals=2, per_pixel=0.005, snap=0.1, units={}, low=0.01, high=2.0)
_ITERATIONS = fields.Format(decimals=0, per_pixel=fields.COUNT.per_pixel, snap=10.0, units={}, low=1, high=10000)

_LEAST_PLOT, _GOOD_PLOT = 84.0, 130.0
"""Heights of the plot, logical pixels."""
_STRENGTH = fields.Format(decimals=2, per_pixel=0.005, snap=0.1, units={}, low=0.0, high=1.0)
_PREFER = "The pose that joints return to where the goals leave them free"
_TRUNCATION = fields.Format(decimals=4, per_pixel=0.0005, snap=0.01, units={}, low=0.0, high=0.99)


class _Choice(NamedTuple):
    """A row of segments for a setting: label, name of the setting, its values, their words, tooltips."""

    label: str
    setting: str
    values: Sequence[object]
    words: tuple[str, ...]
    hint: str = ""
    hints: tuple[str, ...] = ()


_CHOICES = {
    "update": _Choice(
        "Update", "until_close", (False, True), ("Track", "Until close"),
        hints=("A few steps per frame follow the pointer", "Each frame iterates until the goals are met"),
    ),
    "rows": _Choice(
        "Rows", "numeric", (False, True), ("Analytic", "Numeric"), "How the rows of the Jacobian are computed",
        ("By formulas", "By finite differences: slower, NumPy only"),
    ),
    "bend": _Choice(
        "Elbow", "bend", (None, *BENDS), ("As it is", "Up", "Down"),
        f"Which of the two solutions: {ANGLE}2 below or above 0",
    ),
    "missed": _Choice(
        "Missed", "exact", (False, True), ("Closest", "Exact or nothing"), "What is shown when a goal cannot be met",
        ("Come as close as possible", "Show no pose that misses a goal"),
    ),
    "root": _Choice(
        "Root", "root", ("free", "translate", "locked"), ("Free", "No rotation", "Locked"),
        "Whether the root moves to reach the goals",
    ),
    "prefer": _Choice("Prefer", "prefer", PREFERRED, ("Start", "Rest", "Relaxed"), _PREFER),
    "backend": _Choice(
        "Backend", "backend", ("auto", "numpy", "numba"), ("Auto", "NumPy", "Numba"),
        "Compiled kernels (Numba) or NumPy",
    ),
}  # fmt: skip
"""Rows of segments, by imgui id."""


def draw_solver(ui: PanelContext) -> None:
    """Draw the panel."""
    settings = ui.session.document.solver
    top, room = imgui.get_cursor_pos_y(), imgui.get_content_region_avail().y
    _state(ui)
    # The plot gets the height that the rows leave; theirs is known from the last frame.
    height = max(ui.px(_LEAST_PLOT), room - ui.memory.get("rows", room))
    _convergence(ui, height)
    gap(ui.px(3))
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (imgui.get_style().item_spacing.x, ui.px(4)))
    _update(ui, settings)
    _method(ui, settings)
    if "bend" in EVERY_METHOD[settings.method].takes:
        _two_link(ui)
    _numbers(ui, settings)
    _choices(ui, settings)
    imgui.pop_style_var()
    ui.memory["rows"] = imgui.get_cursor_pos_y() - top - height


def _state(ui: PanelContext) -> None:
    """The state of the last solve, and at the right its iterations, time and backend."""
    report = ui.session.report
    pen, x, y, wide, h = controls.line(ui, 24)
    kind, word = state_words(report, dragging=ui.controller.dragging)
    icon, tone = ICONS[kind]
    pen.icon(x + pen.px(6), y + h / 2.0, icon, tone)
    pen.strong(x + pen.px(22), pen.middle(y, h), word)
    start = x + pen.px(30) + pen.width(word, bold=True)
    if report is not None:
        count = plural(report.iterations, "iteration")
        parts = [count, number_format.milliseconds(report.seconds), report.backend]
        size = BASE if pen.width(" · ".join(parts)) < x + wide - start else SMALL
        words = pen.fit(" · ".join(parts), x + wide - start, size)
        pen.right(x + wide, pen.middle(y, h, size), words, "text2", size)
    if report is not None and not ui.controller.dragging and imgui.is_item_hovered():
        tip("\n".join(reason.text for reason in report.reasons))


def _update(ui: PanelContext, settings: SolverSettings) -> None:
    left, wide = imgui.get_cursor_screen_pos().x, imgui.get_content_region_avail().x
    _choice(ui, "update")
    pen = Pen(ui)
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    words = f"tol. {number_format.error(settings.tolerance_m, ui.controller.view.error_decimals)}"
    right = left + wide
    if right - high.x > pen.width(words) + pen.px(8):
        pen.right(right, pen.middle(low.y, high.y - low.y), words, "text2")


def _method(ui: PanelContext, settings: SolverSettings) -> None:
    controls.label(ui, "Method")
    method = EVERY_METHOD[settings.method]
    if controls.drop_menu(ui, "method", method.title, height=24, hint=method.hint):
        method_menu(ui, settings.method)
        imgui.end_popup()


def method_menu(ui: PanelContext, now: str) -> None:
    """Entries of an open menu that choose the method, with a tick at ``now``."""
    for name, method in EVERY_METHOD.items():
        entry(ui, method.title, SetSolver(method=name), method.hint, ticked=name == now)


def _numbers(ui: PanelContext, settings: SolverSettings) -> None:
    scale, decimals = ui.controller.view.step_scale, max(_TOLERANCE.decimals, ui.controller.view.error_decimals)
    form = replace(_TOLERANCE, decimals=decimals, per_pixel=_TOLERANCE.per_pixel * scale, snap=_TOLERANCE.snap * scale)
    _pair(ui, "Within", {"tolerance_m": form, "tolerance_deg": _TURN})
    steps = {"iterations": _ITERATIONS, "max_iterations": _ITERATIONS}
    _pair(ui, "Steps", steps, hint="Iterations per frame while tracking, and at most per solve")
    takes = EVERY_METHOD[settings.method].takes
    for name, row in _OPTIONAL.items():
        if name in takes:
            _optional(ui, name, *row)
    if "numeric" in takes:
        _choice(ui, "rows")


def _two_link(ui: PanelContext) -> None:
    """The choice of the solution, and the derivation of both."""
    _choice(ui, "bend")
    found = derivation(ui.session.document)
    if found is None:
        controls.quiet(ui, "No position goal on a two-bone limb")
        return
    pen = Pen(ui)
    lines, rows = derived(found, ui.controller.view.unit)
    x, y = imgui.get_cursor_screen_pos()
    wide, high = imgui.get_content_region_avail().x, pen.px(19)
    title = f"{found.effector}: {found.joints[0]}, {found.joints[1]}"
    for words, tint in ((title, "text3"), *((line, "text2") for line in lines)):
        size = BASE if pen.width(words) <= wide else SMALL
        pen.text(x, pen.middle(y, high, size), pen.fit(words, wide, size), tint, size)
        y += high
    columns = x + 0.5 * wide, x + wide
    for words, *values in (("", "up", "down"), *rows):
        pen.text(x, pen.middle(y, high), words, "text2")
        for value, branch, right in zip(values, ("up", "down"), columns, strict=True):
            pen.right(right, pen.middle(y, high), value, "accent" if branch == found.now else "text2")
        y += high
    imgui.dummy((wide, y - imgui.get_cursor_screen_pos().y))


def _setting(
    ui: PanelContext, name: str, form: fields.Format, width: float, usual: float = 0.0, hint: str = ""
) -> Edit | None:
    """The field of a setting, ``width`` framebuffer pixels wide; a click on an empty one makes it ``usual``."""
    value = getattr(ui.session.document.solver, name)
    edit = fields.number_field(ui, name, value, form, width=width, hint=hint)
    if value is None and imgui.is_item_clicked():
        edit = Edit(Phase.SET, usual)

    def put(wanted: float) -> SetSolver:
        return SetSolver(**{name: wanted if form.decimals else round(wanted)})

    carry_out(ui, edit, f"Solver {name.replace('_', ' ')}", put)
    return edit


_OPTIONAL = {
    "damping": ("Damping", _DAMPING, 0.1),
    "step": ("Step", _STEP, 1.0),
    "step_cap_deg": ("Step cap", _CAP, 20.0),
    "truncation": ("Truncate", _TRUNCATION, 1e-3),
}
"""Settings that only some methods take, with the value that a click on an empty field gives them."""


def _pair(ui: PanelContext, words: str, forms: dict[str, fields.Format], hint: str = "") -> None:
    controls.label(ui, words, hint=hint)
    for (name, form), width in zip(forms.items(), controls.side_by_side(ui, 2, 4.0), strict=True):
        _setting(ui, name, form, width, hint=name.replace("_", " "))


def _optional(ui: PanelContext, name: str, words: str, form: fields.Format, usual: float) -> None:
    """A setting that the method chooses by itself unless it is given."""
    controls.label(ui, words)
    width, automatic = next(controls.side_by_side(ui, 2, 4.0)), getattr(ui.session.document.solver, name) is None
    switch = SetSolver(**{name: usual if automatic else None})
    action_button(ui, f"Automatic##{name}", switch, width=width, on=automatic, hint="Chosen by the method")
    imgui.same_line(0.0, ui.px(4))
    _setting(ui, name, form, width, usual)


def _choice(ui: PanelContext, name: str, restriction: str = "") -> bool:
    """A row of segments for a setting; returns whether another value was chosen."""
    row = _CHOICES[name]
    now = getattr(ui.session.document.solver, row.setting)
    controls.label(ui, row.label, hint=f"{row.hint}{restriction}")
    chosen = controls.choose(ui, name, row.values, row.words, now, hints=row.hints)
    return chosen != now and act(ui, SetSolver(**{row.setting: chosen}))


def _choices(ui: PanelContext, settings: SolverSettings) -> None:
    _choice(ui, "missed")
    _choice(ui, "root")
    _preferred(ui, settings)
    _choice(ui, "backend")
    controls.label(ui, "Escape", hint="Ways out of a local minimum")
    if controls.text_button(ui, "Restarts", on=settings.restarts, hint="Restart from another pose when stuck"):
        act(ui, SetSolver(restarts=not settings.restarts))
    imgui.same_line(0.0, ui.px(4))
    if controls.text_button(ui, "Natural", on=settings.natural, hint="Joints move as easily as in a living body"):
        act(ui, SetSolver(natural=not settings.natural))


def _preferred(ui: PanelContext, settings: SolverSettings) -> None:
    available = settings.method == DEFAULT
    imgui.begin_disabled(not available)
    if _choice(ui, "prefer", "" if available else ": default solver only"):
        _solve_again(ui)
    imgui.end_disabled()
    imgui.begin_disabled(not prefers(settings))
    controls.label(ui, "Strength", hint="How strongly joints return to it, 0 to 1")
    edit = _setting(ui, "prefer_weight", _STRENGTH, ui.px(60))
    if edit is not None and edit.phase in {Phase.SET, Phase.COMMIT}:
        _solve_again(ui)
    imgui.end_disabled()


def _solve_again(ui: PanelContext) -> None:
    """Move joints that the goals leave free to the preferred pose, unless a goal is missed: the figure would jump."""
    session = ui.session
    if prefers(session.document.solver) and all(error.reached for error in session.errors.values()):
        attempt(ui, session.solve)
