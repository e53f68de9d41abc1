"""The report of a laboratory: a JSON document, and one HTML page that shows its numbers and fetches nothing.

It also defines how error curves look wherever they are drawn: letter, colour and dashes of each method, and the scale.
"""

from __future__ import annotations

import html
import json
import math
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

import viewer
from viewer.ik.goals import KINDS
from viewer.ik.jacobian import Jacobian
from viewer.ik.lab import Trace, Traces
from viewer.skeleton import Pose, Skeleton, fk, limit_violation
from viewer.spatial.checks import Floats

Document: TypeAlias = dict[str, Any]

_VIEW = np.array([[0.82, 0.0, -0.57], [-0.12, 0.98, -0.17]])
"""Rows: the directions to the right and up of a view from the front left, slightly from above."""
_WIDTH, _HEIGHT, _MARGIN = 220.0, 240.0, 14.0

_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 700.0, 16.0, 260.0

_MOST_CELLS = 20_000

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ background: #1A1D20; color: #E8EAED; font: 15px/1.5 system-ui, sans-serif; margin: 24px auto; max-width: 1080px;
 padding: 0 20px; }}
h1 {{ font-size: 22px; }} h2 {{ font-size: 17px; margin: 28px 0 8px; }}
.about, small, td, summary {{ color: #ABB2BB; }}
.cards {{ display: flex; flex-wrap: wrap; gap: 12px; }}
figure {{ background: #24282D; border-radius: 6px; margin: 0; padding: 10px 12px; width: 224px; }}
.error {{ float: right; }}
.disc {{ border-radius: 50%; color: #081318; display: inline-block; font-size: 12px; height: 20px; line-height: 20px;
 text-align: center; width: 20px; }}
svg text {{ fill: #ABB2BB; font-size: 12px; }} svg .letter {{ fill: #081318; font-weight: 700; }}
svg .met {{ fill: #5CCB8A; }} .matrix text {{ font-size: 10px; }}
.grid {{ stroke: #33383E; }} .tolerance {{ stroke: #5CCB8A; stroke-dasharray: 6 4; }}
.chart {{ max-width: 760px; width: 100%; }}
table {{ border-collapse: collapse; }} th, td {{ padding: 4px 14px 4px 0; text-align: left; white-space: nowrap; }}
ul {{ list-style: none; padding: 0; }} details {{ margin: 8px 0; overflow-x: auto; }} .wide {{ overflow-x: auto; }}
</style></head><body>
<h1>{title}</h1>
<p class="about">{about}</p>
<div class="cards">{cards}</div>
{why}
{iterations}
{time}
<p class="about">Times are the least of several runs on this machine.</p>
<div class="wide">{table}</div>
<h2>Jacobian at the end</h2>
<p class="about">Rows: goals, metres and radians. Columns: degrees of freedom that move any goal. Blue: positive,
brown: negative, by the square root of the size. Nothing is weighed.</p>
{jacobians}
</body></html>
"""

_BELOW = 2
"""Powers of ten below the tolerance that a scale shows at least."""


def report_document(traces: Traces, *, source: str, seed: int) -> Document:
    """The numbers of a report as plain data; values that a goal does not have, or that are not finite, are null.

    ``source`` is the name of the file with the skeleton, ``seed`` that of the restarts.
    """
    methods = []
    for trace in traces.each:
        last, jacobian = trace.last, trace.jacobian(trace.last.iterations)
        methods.append(
            {
                "method": trace.method,
                "status": str(last.status),
                "how": trace.how,
                "why": trace.why,
                "iterations": last.iterations,
                "backend": last.backend,
                "unserved": list(last.unserved),
                "at_limit": list(last.at_limit),
                "seconds": list(trace.seconds),
                "errors_m": [_numbers(one.errors_m) for one in trace.solutions],
                "errors_deg": [_numbers(one.errors_deg) for one in trace.solutions],
                "error": [trace.error(k) for k in range(len(trace.solutions))],
                "over_limits_deg": math.degrees(float(limit_violation(traces.skeleton, last.pose).max(initial=0.0))),
                "turned_deg": np.degrees(trace.turns(last.iterations)).tolist(),
                "jacobian": _jacobian_document(jacobian),
            }
        )
    return {
        "version": 1,
        "type": "lab",
        "source": source,
        "seed": seed,
        "ikviewer": viewer.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "unit": "m" if traces.each[0].in_metres else "deg",
        "tolerance_m": traces.each[0].solver.options.tolerance_m,
        "tolerance_deg": traces.each[0].solver.options.tolerance_deg,
        "joints": list(traces.skeleton.names),
        "goals": list(traces.labels),
        "methods": methods,
    }


def _jacobian_document(jacobian: Jacobian) -> Document:
    condition = jacobian.condition
    return {
        "rows": list(jacobian.rows),
        "dofs": list(jacobian.dofs),
        "matrix": jacobian.matrix.tolist(),
        "singular_values": jacobian.singular_values.tolist(),
        "rank": jacobian.rank,
        "condition": condition if math.isfinite(condition) else None,
        "manipulability": jacobian.manipulability,
    }


def _numbers(values: Floats) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]


def report_text(traces: Traces, path: Path, *, source: str, seed: int) -> str:
    """The contents of a report file; its suffix decides: ".json", else a page. Arguments as of `report_document`."""
    document = report_document(traces, source=source, seed=seed)
    if path.suffix.casefold() == ".json":
        return json.dumps(document, indent=1, allow_nan=False) + "\n"
    return html_page(document, traces)


# The page


def html_page(document: Document, traces: Traces) -> str:
    """The page: cards with the poses, curves, a table, and the Jacobian of each method at its end."""
    methods = document["methods"]
    curves = CURVES[: len(methods)]
    cards = "".join(
        _card(curve, method, trace) for curve, method, trace in zip(curves, methods, traces.each, strict=True)
    )
    unit = document["unit"]
    tolerance = document["tolerance_m" if unit == "m" else "tolerance_deg"]
    by_iteration = [list(range(len(method["error"]))) for method in methods]
    by_time = [[1000.0 * second for second in method["seconds"]] for method in methods]
    errors = [method["error"] for method in methods]
    why = "".join(
        f"<li>{_disc(curve)} {html.escape(method['why'])}</li>"
        for curve, method in zip(curves, methods, strict=True)
        if method["why"]
    )
    return _PAGE.format(
        title=html.escape(f"{', '.join(method['method'] for method in methods)} on {document['source']}"),
        about=html.escape(
            f"{document['source']}: {len(document['joints'])} joints, {len(document['goals'])} goals "
            f"({', '.join(document['goals'])}). ikviewer {document['ikviewer']}, numpy {document['numpy']}, "
            f"Python {document['python']}, {document['machine']}, seed {document['seed']}."
        ),
        cards=cards,
        why=f"<h2>Why</h2><ul>{why}</ul>" if why else "",
        iterations=_chart("Largest error by iteration", "iteration", by_iteration, errors, unit, tolerance),
        time=_chart("Largest error by time, this machine", "ms", by_time, errors, unit, tolerance),
        table=_table(document),
        jacobians="".join(_jacobian(curve, method) for curve, method in zip(curves, methods, strict=True)),
    )


def amount(value: float, *, metres: bool) -> str:
    """An error in words: millimetres or degrees."""
    if not metres:
        return f"{value:.2f}°"
    return f"{1000.0 * value:.0f} mm" if value >= 0.1 else f"{1000.0 * value:.1f} mm"


def _disc(curve: Curve) -> str:
    return f'<b class="disc" style="background:{curve.colour}">{curve.letter}</b>'


def _card(curve: Curve, method: Document, trace: Trace) -> str:
    miss = amount(method["error"][-1], metres=trace.in_metres)
    return (
        f"<figure><figcaption>{_disc(curve)} <b>{method['method']}</b>"
        f'<span class="error">{miss}</span><br><small>{html.escape(method["how"])}</small>'
        f"</figcaption>{_figure(trace, curve.colour)}</figure>"
    )


def _figure(trace: Trace, colour: str) -> str:
    """The pose at the end over the one at the start, with the goals' targets, as lines."""
    skeleton = trace.solver.skeleton
    targets = [
        np.array(goal.target)
        for goal in trace.solver.goals
        if goal.enabled and KINDS[goal.kind].sets_position and goal.target is not None
    ]
    figures = [_bones(skeleton, pose) for pose in (trace.start, trace.last.pose)]
    points = [*(end for bones in figures for bone in bones for end in bone), *targets]
    flat = np.array(points) @ _VIEW.T
    low, high = flat.min(axis=0), flat.max(axis=0)
    size = float(max((high - low) / (_WIDTH - 2 * _MARGIN, _HEIGHT - 2 * _MARGIN), default=0.0)) or 1.0
    middle = 0.5 * (low + high)

    def at(point: Floats) -> tuple[float, float]:
        x, y = (_VIEW @ point - middle) / size
        return 0.5 * _WIDTH + float(x), 0.5 * _HEIGHT - float(y)

    lines = []
    for bones, ink, width in zip(figures, ("#4b525a", colour), (3, 4), strict=True):
        for start, end in bones:
            (x, y), (u, v) = at(start), at(end)
            lines.append(
                f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}" stroke="{ink}" stroke-width="{width}"/>'
            )
    for target in targets:
        x, y = at(target)
        lines.append(f'<path d="M{x:.1f} {y - 7:.1f}l7 7l-7 7l-7-7z" fill="none" stroke="#B79CFF" stroke-width="2"/>')
    return f'<svg viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" stroke-linecap="round">{"".join(lines)}</svg>'


def _bones(skeleton: Skeleton, pose: Pose) -> list[tuple[Floats, Floats]]:
    """Start and end of each bone: from every joint to its parent, and to its tips."""
    world = fk(skeleton, pose)
    bones = [
        (world.positions[parent], world.positions[joint])
        for joint, parent in enumerate(skeleton.parents.tolist())
        if parent >= 0
    ]
    tips = [
        (world.positions[joint], world.point(joint, offset))
        for joint, offset in zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True)
    ]
    return bones + tips


def _chart(
    title: str,
    across: str,
    xs: Sequence[Sequence[float]],
    errors: Sequence[Sequence[float]],
    unit: str,
    tolerance: float,
) -> str:
    """Curves over a logarithmic scale of errors, with the tolerance as a line."""
    scale = ErrorScale.of((error for curve in errors for error in curve), tolerance, metres=unit != "deg")
    most = max((curve[-1] for curve in xs), default=1.0) or 1.0

    def across_at(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * value / most

    def down_at(value: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * scale.part(value)

    parts = []
    for error, words in scale.ticks:
        y = down_at(error)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{words}</text>')
    for part in range(5):
        value = most * part / 4
        parts.append(f'<text x="{across_at(value):.1f}" y="{_BOTTOM + 18}" text-anchor="middle">{value:.3g}</text>')
    y = down_at(tolerance)
    parts.append(f'<line class="tolerance" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
    parts.append(f'<text class="met" x="{_RIGHT}" y="{y - 5:.1f}" text-anchor="end">tolerance</text>')
    for curve, x, missed in zip(CURVES, xs, errors, strict=False):
        points = " ".join(f"{across_at(a):.1f},{down_at(b):.1f}" for a, b in zip(x, missed, strict=True))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{curve.colour}" stroke-width="2.4" '
            f'stroke-dasharray="{" ".join(map(str, curve.dash))}"/>'
        )
        u, v = across_at(x[-1]), down_at(missed[-1])
        parts.append(f'<circle cx="{u:.1f}" cy="{v:.1f}" r="9" fill="{curve.colour}"/>')
        parts.append(f'<text class="letter" x="{u:.1f}" y="{v + 4:.1f}" text-anchor="middle">{curve.letter}</text>')
    parts.append(f'<text x="{_RIGHT}" y="{_BOTTOM + 34}" text-anchor="end">{across}</text>')
    return f'<h2>{title}</h2><svg class="chart" viewBox="0 0 740 300">{"".join(parts)}</svg>'


def _table(document: Document) -> str:
    unit = document["unit"]
    rows = []
    for curve, method in zip(CURVES, document["methods"], strict=False):
        turned = method["turned_deg"]
        cells = (
            str(method["iterations"]),
            f"{1000.0 * method['seconds'][-1]:.2f}",
            amount(method["error"][-1], metres=unit == "m"),
            method["status"],
            f"{method['over_limits_deg']:.2f}°",
            f"{sum(turned) / max(len(turned), 1):.1f}°",
            html.escape(", ".join(method["unserved"])) or "-",
        )
        numbers = "".join(f"<td>{cell}</td>" for cell in cells)
        rows.append(f"<tr><th>{_disc(curve)} {method['method']}</th>{numbers}</tr>")
    heads = (
        "method",
        "iterations",
        "ms",
        "largest error",
        "status",
        "over limits",
        "turned a joint, mean",
        "not served",
    )
    head = "".join(f"<th>{word}</th>" for word in heads)
    return f"<h2>Answers</h2><table><tr>{head}</tr>{''.join(rows)}</table>"


def _jacobian(curve: Curve, method: Document) -> str:
    """The matrix as coloured cells, and its singular values, folded."""
    jacobian = method["jacobian"]
    matrix = np.array(jacobian["matrix"])
    used = np.flatnonzero(np.abs(matrix).max(axis=0, initial=0.0) > 0.0)
    most = float(np.abs(matrix).max(initial=0.0)) or 1.0
    wide, high, left, top = 14.0, 14.0, 130.0, 120.0
    parts = []
    if matrix.shape[0] * len(used) <= _MOST_CELLS:
        for row, name in enumerate(jacobian["rows"]):
            y = top + row * high
            parts.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{html.escape(name)}</text>')
            for column, dof in enumerate(used.tolist()):
                value = float(matrix[row, dof])
                if value == 0.0:
                    continue
                ink = "#5892E1" if value > 0.0 else "#BD8642"
                strength = math.sqrt(abs(value) / most)
                where = f'x="{left + column * wide:.0f}" y="{y:.0f}" width="{wide - 1}" height="{high - 1}"'
                words = f"{html.escape(name)} by {html.escape(jacobian['dofs'][dof])}: {value:.4g}"
                parts.append(f'<rect {where} fill="{ink}" fill-opacity="{strength:.2f}"><title>{words}</title></rect>')
        for column, dof in enumerate(used.tolist()):
            x = left + (column + 0.75) * wide
            name = html.escape(jacobian["dofs"][dof])
            parts.append(f'<text transform="translate({x:.0f} {top - 6}) rotate(-60)">{name}</text>')
    values = ", ".join(f"{value:.3g}" for value in jacobian["singular_values"])
    condition = "infinite" if jacobian["condition"] is None else f"{jacobian['condition']:.3g}"
    width, height = left + len(used) * wide + 60, top + len(jacobian["rows"]) * high + 8
    drawing = f'<svg class="matrix" width="{width:.0f}" height="{height:.0f}">{"".join(parts)}</svg>'
    return (
        f"<details><summary>{_disc(curve)} {method['method']}: {matrix.shape[0]} rows, {matrix.shape[1]} degrees of "
        f"freedom, rank {jacobian['rank']}, condition {condition}, manipulability {jacobian['manipulability']:.3g}"
        f"</summary><p>Singular values: {values}</p>{drawing}</details>"
    )


# --- curves of errors


class Curve(NamedTuple):
    """The look of one method: a letter in a disc of the colour "#RRGGBB".

    ``dash`` are alternating lengths of dashes and gaps, logical pixels; empty: a solid line.
    """

    letter: str
    colour: str
    dash: tuple[int, ...]

    @property
    def ink(self) -> str:
        """The name of the colour in the window's palette."""
        return f"method_{self.letter}"


CURVES = (
    Curve("A", "#5AD7F2", ()),
    Curve("B", "#ADE08F", ()),
    Curve("C", "#BD8642", (8, 4)),
    Curve("D", "#5892E1", (2, 3)),
    Curve("E", "#F1C7CC", (8, 3, 2, 3)),
    Curve("F", "#A08AA1", (12, 4)),
    Curve("G", "#7F9780", (4, 3)),
    Curve("H", "#D6CBFC", (12, 3, 2, 3, 2, 3)),
)
"""In the order of the methods. Two colours are 14 CIEDE2000 apart in all four kinds of sight; dashes serve in print."""


class ErrorScale(NamedTuple):
    """A logarithmic scale of errors between two powers of ten; in metres, otherwise in degrees."""

    low: int
    high: int
    metres: bool

    @classmethod
    def of(cls, errors: Iterable[float], tolerance: float, *, metres: bool) -> Self:
        """The scale that shows errors and the tolerance, metres or degrees."""
        most = max(max(errors, default=tolerance), 10.0 * tolerance)
        return cls(math.floor(math.log10(tolerance)) - _BELOW, math.ceil(math.log10(most)), metres)

    def part(self, error: float) -> float:
        """Where an error is on the scale: 0 at its lower end or below, 1 at its upper end."""
        return (math.log10(max(error, 10.0**self.low)) - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """The errors at its powers of ten, and their words: ``10 mm``, ``1 m``, ``0.1°``."""
        return [(10.0**power, self._words(power)) for power in range(self.low, self.high + 1)]

    def _words(self, power: int) -> str:
        if not self.metres:
            return f"{10.0**power:g}°"
        return f"{10.0 ** (power + 3):g} mm" if power < 0 else f"{10.0**power:g} m"
