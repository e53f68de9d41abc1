"""``ikviewer lab``: several methods solve the same goals, iteration by iteration."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from viewer.cli import inputs, outputs
from viewer.cli.goal_inputs import check_enabled, goals_of
from viewer.cli.job import Result
from viewer.cli.solving_options import LabOptions
from viewer.errors import one_line
from viewer.formats.files import write_whole
from viewer.formats.lab_report import amount, report_document, report_text
from viewer.formats.video import write_png
from viewer.ik.lab import Traces, checked_methods, lab
from viewer.ik.methods import Tuning
from viewer.ik.solver_options import Backend, RootMode
from viewer.skeleton import Character

OUTPUTS = (".html", ".json", ".png")
_REPEATS = 5


def run(options: LabOptions) -> Result:
    """Solve by every method; print a line for each, write the report with ``-o``."""
    checked_methods(options.methods)
    output = None if options.output is None else outputs.checked_output(options.output, OUTPUTS)
    outputs.check_kept(output, options)
    character = inputs.chosen_clip(inputs.load_input(options.file, options.reading), options.start.clip, options.file)
    traces = _traces(character, options)
    source = Path(options.file).name
    document = report_document(traces, source=source, seed=options.seed)
    lines = _lines(traces)
    if output is None:
        return Result(lines, document=document)
    if output.suffix.casefold() == ".png":
        from viewer.opengl.pictures import render_traces  # noqa: PLC0415 - only pictures need OpenGL

        write_png(render_traces(character, traces), output)
    else:
        write_whole(output, report_text(traces, output, source=source, seed=options.seed))
    return Result(notes=[*lines, one_line(f"wrote {output}")], document=document)


def _traces(character: Character, options: LabOptions) -> Traces:
    skeleton = character.skeleton
    goals, contact, ground = goals_of(options.goals, skeleton)
    check_enabled(goals, options.goals)
    return lab(
        skeleton,
        goals,
        checked_methods(options.methods),
        pose=inputs.start_of(character, options.file, options.start),
        iterations=options.iterations,
        repeats=_REPEATS,
        limits=not options.no_limits,
        root=cast("RootMode", options.root),
        backend=cast("Backend", options.backend),
        tolerance_m=options.tolerance_m,
        tolerance_deg=options.tolerance_deg,
        seed=options.seed,
        contact=contact,
        ground=ground,
        tuning=Tuning(damping=options.damping),
    )


def _lines(traces: Traces) -> list[str]:
    """A line a method, and why it did not meet the goals."""
    width = max(map(len, traces.methods))
    lines = []
    for trace in traces.each:
        miss = amount(trace.error(trace.last.iterations), metres=trace.in_metres)
        lines.append(f"{trace.method:{width}}  {miss:>9}  {1000.0 * trace.seconds[-1]:8.2f} ms  {trace.how}")
    return [*lines, *(trace.why for trace in traces.each if trace.why)]
