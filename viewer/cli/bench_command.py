"""``ikviewer bench``: measures solver, kinematics and readers on this machine, and compares with earlier runs."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from viewer.cli import job
from viewer.cli.bench import COUNT, PARTS, SEED
from viewer.cli.job import FILES, Result, argument, flag, option
from viewer.cli.options import count, json_flag
from viewer.cli.output import Json, print_text, warn
from viewer.errors import OutputError, unknown_name

EXAMPLES = (
    "parts:\n"
    + "\n".join(f"  {name:<12} {what}" for name, what in PARTS.items())
    + """

examples:
  ikviewer bench                        (all parts: some minutes; a quiet machine gives true figures)
  ikviewer bench speed lockup
  ikviewer bench --json > figures.json
  ikviewer bench --history              (the figures of earlier runs)

Every run but a quick one is kept, a line of JSON in one file, and compared with the last one on this machine."""
)


def _part(name: str) -> str:
    if name not in PARTS:
        raise argparse.ArgumentTypeError(unknown_name("part", name, PARTS))
    return name


class Options(job.Options):
    """Options of ``ikviewer bench``."""

    # argparse checks a default of nargs="*" against choices as one value: hence a check.
    parts: list[str] = argument(
        "NAME", f"parts to measure: {', '.join(PARTS)}", nargs="*", parse=_part, words=tuple(PARTS)
    )
    quick: bool = flag("a few of everything, to see that it works: no figures")
    seed: int = option("S", "seed of the problems", parse=count, default=SEED)
    count: int = option("N", f"problems of each kind (default {COUNT})", parse=partial(count, least=1), default=COUNT)
    history: bool = flag("show the figures of earlier runs, side by side; nothing is measured")
    history_file: str | None = option(
        "PATH", "where they are kept; `bench.jsonl` in ikviewer's folder of log files unless given", completes=FILES
    )
    json: bool = json_flag("print one JSON document; with `--history` a list of all runs")


def run(options: Options) -> Result:
    """Measure part by part, or show earlier figures."""
    from viewer.cli.bench import bench_report as history

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


def _measured(options: Options) -> dict[str, Json]:
    """The figures of the chosen parts; each table is printed when its part is done."""
    from viewer.cli.bench.bench_report import as_text, heading, tables
    from viewer.cli.bench.plan import Plan, measure_apart

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
