"""Options of a run, shared by the command, the workers and the scripts in ``benchmarks/``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from viewer.errors import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.cli.bench.plan import Plan, Source
    from viewer.cli.output import Json

SEED = 20_261_121
"""Nothing was tuned on it."""
COUNT = 200


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--quick``, ``--seed``, ``--count``."""
    parser.add_argument("--quick", action="store_true", help="a few of everything, to see that it works: no figures")
    parser.add_argument("--seed", type=_at_least(0), default=SEED, metavar="S", help="of the problems")
    parser.add_argument(
        "--count", type=_at_least(1), default=COUNT, metavar="N", help=f"problems of each kind (default {COUNT})"
    )


def as_words(arguments: argparse.Namespace) -> list[str]:
    """The options again, for a worker's command line."""
    words = ["--seed", str(arguments.seed), "--count", str(arguments.count)]
    return [*words, "--quick"] if arguments.quick else words


def plan_of(arguments: argparse.Namespace, source: Source | None = None) -> Plan:
    """The plan that the options describe."""
    from viewer.cli.bench.plan import OwnSource, Plan

    return Plan(source or OwnSource(), seed=arguments.seed, count=arguments.count, quick=arguments.quick)


def _at_least(least: int) -> Callable[[str], int]:
    def convert(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= 9 and int(text) >= least):
            raise argparse.ArgumentTypeError(f"expected a whole number, {least} or more, found {quote(text)}")
        return int(text)

    return convert


def about(arguments: argparse.Namespace) -> dict[str, Json]:
    """What a report says of the run: the machine, and how many of which problems."""
    from viewer.cli.bench.machine import machine

    count = plan_of(arguments).at_most(arguments.count)
    return {"machine": machine(), "seed": arguments.seed, "count": count, "quick": arguments.quick}
