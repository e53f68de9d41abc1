"""Measures one part and prints it as JSON: ``python -m viewer.cli.bench.worker PART [options]``."""

from __future__ import annotations

import argparse
import sys

from viewer.cli.bench.options import add_options, plan_of
from viewer.cli.bench.parts import PARTS, measure
from viewer.cli.bench.plan import Source
from viewer.cli.output import print_json, progress_bars


def main(source: Source | None = None) -> int:
    """Do as the command line says, with problems from ``source``."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("part", choices=PARTS)
    add_options(parser)
    arguments = parser.parse_args()
    with progress_bars():
        result = measure(arguments.part, plan_of(arguments, source))
    print_json(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
