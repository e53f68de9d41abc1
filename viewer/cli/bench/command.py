"""``ikviewer bench``: what the solver, kinematics and readers achieve on this machine, and how that changes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from viewer.cli.bench import COUNT, PARTS, SEED
from viewer.cli.options import add_json
from viewer.cli.output import Json, print_json, print_text, warn
from viewer.errors import OutputError, quote, unknown_name

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    # argparse checks a default of nargs="*" against the choices as a whole: hence a type and no choices.
    parser.add_argument("parts", metavar="NAME", nargs="*", type=_part, help=f"parts to measure: {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="a few of everything, to see that it works: no figures")
    parser.add_argument("--seed", type=_at_least(0), default=SEED, metavar="S", help="of the problems")
    parser.add_argument(
        "--count", type=_at_least(1), default=COUNT, metavar="N", help=f"problems of each kind (default {COUNT})"
    )
    parser.add_argument("--history", action="store_true", help="show the figures of earlier runs, measure nothing")
    parser.add_argument("--history-file", metavar="PATH", help="keep them there (default: with ikviewer's log files)")
    add_json(parser)


def _part(name: str) -> str:
    if name not in PARTS:
        raise argparse.ArgumentTypeError(unknown_name("part", name, PARTS))
    return name


def _at_least(least: int) -> Callable[[str], int]:
    def convert(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= 9 and int(text) >= least):
            raise argparse.ArgumentTypeError(f"expected a whole number, {least} or more, found {quote(text)}")
        return int(text)

    return convert


def run(arguments: argparse.Namespace) -> int:
    """Measure part by part, and print the figures."""
    from viewer.cli.bench import history
    from viewer.cli.bench.plan import Plan, measure_apart
    from viewer.cli.bench.report import as_text, heading, tables

    file = history.usual_file() if arguments.history_file is None else Path(arguments.history_file)
    earlier = history.read(file)
    if arguments.history:
        if arguments.json:
            print_json(list(earlier))
        else:
            print_text(as_text(history.over_time(earlier)) if earlier else f"{file}: no run yet")
        return 0
    chosen = [name for name in PARTS if name in arguments.parts] or list(PARTS)
    plan = Plan(seed=arguments.seed, count=arguments.count, quick=arguments.quick)
    about = plan.about()
    if not arguments.json:
        print_text(heading(about))
    parts: dict[str, Json] = {}
    for name in chosen:
        parts[name] = measure_apart(name, plan)
        if not arguments.json:
            print_text("\n" + "\n\n".join(as_text(table) for table in tables(name, parts[name])))
    found = about | {"parts": parts}
    if arguments.json:
        print_json(found)
    if not arguments.quick:
        try:
            found = history.add(file, found)
        except OutputError as error:  # the figures themselves are printed
            warn([str(error)])
        before = history.comparable(earlier, found)
        if before is not None and not arguments.json:
            print_text("\n" + as_text(history.changes(before, found)))
    return 0
