"""``ikviewer bench``: measures solver, kinematics and readers on this machine, and compares with earlier runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from viewer.cli.bench import PARTS
from viewer.cli.bench import bench_report as history
from viewer.cli.bench.bench_report import as_text, heading, tables
from viewer.cli.bench.plan import Plan, measure_apart
from viewer.cli.job import Result
from viewer.cli.output import Json, warn
from viewer.cli.solving_options import BenchOptions
from viewer.errors import OutputError


def run(options: BenchOptions) -> Result | Iterator[Result]:
    """Measure part by part, or show earlier figures."""
    file = history.usual_file() if options.history_file is None else Path(options.history_file)
    earlier = history.read(file)
    if options.history:
        lines = [history.as_text(history.over_time(earlier)) if earlier else f"{file}: no run yet"]
        return Result(lines, document=[*earlier])
    return _measured(options, file, earlier)


def _measured(options: BenchOptions, file: Path, earlier: list[dict[str, Json]]) -> Iterator[Result]:
    """The tables of each chosen part when it is done, then the changes since the last run, and all figures."""
    plan = Plan(seed=options.seed, count=options.count, quick=options.quick)
    about = plan.about()
    yield Result([heading(about)])
    parts: dict[str, Json] = {}
    for name in [name for name in PARTS if name in options.parts] or list(PARTS):
        parts[name] = measure_apart(name, plan)
        yield Result(["", "\n\n".join(as_text(table) for table in tables(name, parts[name]))])
    found = about | {"parts": parts}
    before = None if options.quick else history.comparable(earlier, found)
    if not options.quick:
        try:
            history.add(file, found)
        except OutputError as error:  # the figures themselves are printed
            warn([str(error)])
    changes = () if before is None else ["", history.as_text(history.changes(before, found))]
    yield Result(changes, document=found, is_whole=True)
