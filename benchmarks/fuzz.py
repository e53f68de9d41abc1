"""The long form of tests/test_fuzz.py: millions of damaged files, on all cores.

Prints every failure with the call that makes it again, and ends with 1 if there was one. Also keeps the slowest case,
because a reader has to be quick whatever it is given; seconds are those of the processor, machines are shared.
What was tried so far is said every minute: --first takes a run up where another was stopped.

    python benchmarks/fuzz.py [--cases 1000000] [--first 0] [--seconds S] [--format .bvh] [--jobs N]
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fuzzing import FORMATS, fault, mutant

BATCH = 250
SHOWN = 200
SLOW_S = 2.0
HUNG_S = 120
"""Seconds after which a case that does not end shows where it is."""
FRAME_EVERY = 500
"""Cases of which one is drawn in a window that nobody sees, too."""
SAID_EVERY_S = 60.0

Failure = tuple[str, int, str]


def batch(task: tuple[str, int, int]) -> tuple[int, float, list[Failure]]:
    """Try the mutants first .. first + count - 1 of a format: their number, the slowest one's seconds, failures."""
    kind, first, count = task
    warnings.simplefilter("error")  # a division by zero that numpy only mentions is a failure, too
    failures: list[Failure] = []
    slowest = 0.0
    # As the command has it: what overflows is infinite, and seen to be.
    with tempfile.TemporaryDirectory() as folder, np.errstate(over="ignore", invalid="ignore"):
        for number in range(first, first + count):
            data = mutant(kind, number)
            faulthandler.dump_traceback_later(HUNG_S)
            start = time.process_time()
            what = fault(kind, data, Path(folder), frame=number % FRAME_EVERY == FRAME_EVERY - 1)
            seconds = time.process_time() - start
            faulthandler.cancel_dump_traceback_later()
            slowest = max(slowest, seconds)
            if what is None and seconds > SLOW_S:
                what = f"{seconds:.1f} s"
            if what is not None:
                failures.append((kind, number, what))
    return count, slowest, failures


def tasks(first: int, cases: int, kinds: list[str]) -> list[tuple[str, int, int]]:
    """Batches for the formats in turn, each with the numbers from ``first`` on."""
    each = -(-cases // len(kinds))
    starts = range(first, first + each, BATCH)
    return [(kind, start, min(BATCH, first + each - start)) for start in starts for kind in kinds]


def main() -> int:
    parser = argparse.ArgumentParser(description="Damage files and see what the program makes of them.")
    parser.add_argument("--cases", type=int, default=1_000_000, help="of all formats together")
    parser.add_argument("--first", type=int, default=0, help="the number to begin with, in every format")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--format", choices=FORMATS, help="one format only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (all cores)")
    arguments = parser.parse_args()
    kinds = [arguments.format] if arguments.format else list(FORMATS)
    begin = said = time.monotonic()
    done, slowest, failures = 0, 0.0, list[Failure]()
    with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
        for count, slow, found in pool.imap(batch, tasks(arguments.first, arguments.cases, kinds)):
            done, slowest = done + count, max(slowest, slow)
            for kind, number, what in found[: max(0, SHOWN - len(failures))]:
                print(f"mutant({kind!r}, {number}): {what[:300]}", flush=True)
            failures += found
            now = time.monotonic()
            if now - said > SAID_EVERY_S:
                said = now
                print(f"{done:,} so far; go on with --first {arguments.first + done // len(kinds)}", flush=True)
            if now - begin > arguments.seconds:
                pool.terminate()
                break
    seconds = time.monotonic() - begin
    rate = done / seconds
    print(f"{done:,} cases in {seconds:.0f} s ({rate:.0f}/s), slowest {slowest:.2f} s, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
