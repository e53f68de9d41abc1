"""``ikviewer lab``: several methods solve the same goals, iteration by iteration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from viewer.cli import inputs, job
from viewer.cli import options as shared
from viewer.cli.job import FILES, Result, argument, option, part
from viewer.cli.solve_command import Start, start_of
from viewer.errors import InputError, one_line, quote

if TYPE_CHECKING:  # they load numpy
    from viewer.ik.lab import Traces
    from viewer.ik.solver_options import Backend, RootMode
    from viewer.skeleton import Character

EXAMPLES = """examples:
  ikviewer lab sample:biped reach.json
  ikviewer lab sample:biped reach.json --methods default,sdls,ccd --iterations 40 -o report.html
  ikviewer lab sample:two-link tip.json --methods pseudo-inverse,dls --damping 0.1 --json

All methods start from the same pose (the relaxed one, unless asked otherwise) and have the same goals, limits and
tolerances. Times are the least of five runs."""

OUTPUTS = (".html", ".json", ".png")
_REPEATS = 5


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


class Options(job.Options):
    """Options of ``ikviewer lab``."""

    file: str = shared.input_file()
    reading: shared.Reading = part(shared.Reading)
    goals: str = argument("GOALS", "goals file (JSON), or `-` (standard input)", completes=FILES, reads=True)
    methods: tuple[str, ...] = option(
        "A,B,...",
        "one to eight methods (default: default,dls,sdls,ccd,fabrik,transpose)",
        parse=_names,
        default=("default", "dls", "sdls", "ccd", "fabrik", "transpose"),
    )
    iterations: int = option("N", "iterations of each at most (default 60)", parse=shared.count, default=60)
    output: str | None = option(
        "OUT",
        "write the report: a page (`.html`) that needs nothing else, its numbers (`.json`), or a picture of all "
        "answers (`.png`)",
        short="-o",
        completes=FILES,
    )
    start: Start = part(Start)
    no_limits: bool = shared.no_limits_flag()
    root: str = shared.root_option()
    damping: float | None = option(
        "X", "constant damping lambda for `dls` (default: by the error)", parse=shared.positive
    )
    tolerance_m: float = shared.tolerance_m_option()
    tolerance_deg: float = shared.tolerance_deg_option()
    seed: int = option("N", "seed of the restart poses of `default`", parse=shared.count, default=0)
    backend: str = shared.backend_option("auto")
    json: bool = shared.json_flag()


def run(options: Options) -> Result:
    """Solve by every method; print a line for each, write the report if asked."""
    from viewer.formats.lab_report import report_document, report_text
    from viewer.ik.lab import checked_methods

    checked_methods(options.methods)
    output = None if options.output is None else _checked_output(options.output)
    inputs.check_kept(output, options)
    character = inputs.chosen_clip(inputs.load_input(options.file, options.reading), options.start.clip, options.file)
    traces = _traces(character, options)
    source = Path(options.file).name
    document = report_document(traces, source=source, seed=options.seed)
    lines = _lines(traces)
    if output is None:
        return Result(lines, document=document)
    if output.suffix.casefold() == ".png":
        from viewer.formats.video import write_png
        from viewer.opengl.pictures import render_traces

        write_png(render_traces(character, traces), output)
    else:
        from viewer.formats.files import write_whole

        write_whole(output, report_text(traces, output, source=source, seed=options.seed))
    return Result(notes=[*lines, one_line(f"wrote {output}")], document=document)


def _traces(character: Character, options: Options) -> Traces:
    from viewer.ik.lab import lab
    from viewer.ik.methods import Tuning

    skeleton = character.skeleton
    goals, contact, ground = inputs.asked_in(options.goals, skeleton)
    if not any(goal.enabled for goal in goals):
        raise InputError(f"{options.goals}: a solver needs at least one goal that is enabled")
    return lab(
        skeleton,
        goals,
        options.methods,
        pose=start_of(character, options.file, options.start),
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


def _checked_output(name: str) -> Path:
    path = Path(name)
    if path.suffix.casefold() not in OUTPUTS:
        found = quote(path.suffix) if path.suffix else "no suffix"
        raise InputError(f"{name}: expected a name that ends in {', '.join(OUTPUTS)}, found {found}")
    return path


def _lines(traces: Traces) -> list[str]:
    """A line a method, and why it did not meet the goals."""
    from viewer.formats.lab_report import amount

    width = max(map(len, traces.methods))
    lines = []
    for trace in traces.each:
        miss = amount(trace.error(trace.last.iterations), metres=trace.in_metres)
        lines.append(f"{trace.method:{width}}  {miss:>9}  {1000.0 * trace.seconds[-1]:8.2f} ms  {trace.how}")
    return [*lines, *(trace.why for trace in traces.each if trace.why)]
