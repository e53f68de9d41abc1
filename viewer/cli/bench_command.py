"""``ikviewer bench``: measures solver, kinematics and readers on this machine, and compares with earlier runs."""

from __future__ import annotations

from pathlib import Path

from viewer.cli.bench import PARTS
from viewer.cli.bench import bench_report as history
from viewer.cli.bench.bench_report import as_text, heading, tables
from viewer.cli.bench.plan import Plan, measure_apart
from viewer.cli.job import Result
from viewer.cli.output import Json, print_text, warn
from viewer.cli.solving_options import BenchOptions
from viewer.errors import OutputError


def run(options: BenchOptions) -> Result:
    """Measure part by part, or show earlier figures."""
    file = history.usual_file() if options.history_file is None else Path(options.history_file)
    earlier = history.read(file)
    if options.history:
        lines = [history.as_text(history.over_time(earlier)) if earlier else f"{file}: no run yet"]
        return Result(lines, document=[*earlier])
    found = _measured(options)
    if options.quick:
        return Result(document=found)
    before = history.comparable(earlier, found)
    try:
        history.add(file, found)
    except OutputError as error:  # the figures themselves are printed
        warn([str(error)])
    return Result(() if before is None else ["", history.as_text(history.changes(before, found))], document=found)


def _measured(options: BenchOptions) -> dict[str, Json]:
    """The figures of the chosen parts; each table is printed when its part is done."""
    chosen = [name for name in PARTS if name in options.parts] or list(PARTS)
    plan = Plan(seed=options.seed, count=options.count, quick=options.quick)
    about = plan.about()
    if not options.json:
        print_text(heading(about))
    parts: dict[str, Json] = {}
    for name in chosen:
        parts[name] = measure_apart(name, plan)
        if not options.json:
            print_text("\n" + "\n\n".join(as_text(table) for table in tables(name, parts[name])))
    return about | {"parts": parts}
