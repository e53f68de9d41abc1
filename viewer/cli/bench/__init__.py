"""``ikviewer bench``: what the solver, kinematics and readers achieve on this machine, beside the rivals installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.cli.bench.options import about, add_options, as_words
from viewer.cli.bench.parts import PARTS, measure_apart
from viewer.cli.options import add_json
from viewer.cli.output import Json, print_json, print_text

if TYPE_CHECKING:
    import argparse

EXAMPLES = (
    "parts:\n"
    + "\n".join(f"  {name:<12} {what}" for name, what in PARTS.items())
    + """

examples:
  ikviewer bench                        (all parts: some minutes; a quiet machine gives true figures)
  ikviewer bench speed lockup
  ikviewer bench --json > figures.json
  python3 -m pip install pybvh upc-pymotion pin mujoco mink daqp        (the rivals)"""
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    # argparse checks a default of nargs="*" against the choices as a whole: hence a type and no choices.
    parser.add_argument("parts", metavar="NAME", nargs="*", type=_part, help=f"parts to measure: {', '.join(PARTS)}")
    add_options(parser)
    add_json(parser)


def _part(name: str) -> str:
    import argparse

    from viewer.errors import unknown_name

    if name not in PARTS:
        raise argparse.ArgumentTypeError(unknown_name("part", name, PARTS))
    return name


def run(arguments: argparse.Namespace) -> int:
    """Measure part by part, and print what came of it."""
    from viewer.cli.bench.report import as_text, heading, tables

    chosen = [name for name in PARTS if name in arguments.parts] or list(PARTS)
    run_of = about(arguments)
    if not arguments.json:
        print_text(heading(run_of))
    parts: dict[str, Json] = {}
    for name in chosen:
        parts[name] = measure_apart(name, as_words(arguments))
        if not arguments.json:
            print_text("\n" + "\n\n".join(as_text(table) for table in tables(name, parts[name])))
    if arguments.json:
        print_json(run_of | {"parts": parts})
    return 0
