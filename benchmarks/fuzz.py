"""The long form of tests/test_fuzz.py: damaged files by the million, on all cores.

Prints every failure with the number that makes it again, and ends with 1 if there was one. Also keeps the slowest
case, because a reader has to be quick whatever it is given.

    python benchmarks/fuzz.py [--cases 1000000] [--seed 0] [--seconds S] [--format .bvh]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from mutations import fault, mutant, seeds

BATCH = 500
SHOWN = 20
SLOW_S = 1.0

Failure = tuple[str, int, str]


def batch(task: tuple[str, int, int]) -> tuple[int, float, list[Failure]]:
    """Try the mutants first .. first + count - 1 of a suffix: their number, the slowest one's seconds, failures."""
    suffix, first, count = task
    warnings.simplefilter("error")  # a division by zero that numpy only mentions is a failure, too
    failures: list[Failure] = []
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            data = mutant(suffix, number)
            start = time.perf_counter()
            what = fault(suffix, data, Path(folder))
            seconds = time.perf_counter() - start
            slowest = max(slowest, seconds)
            if what is None and seconds > SLOW_S:
                what = f"{seconds:.1f} s"
            if what is not None:
                failures.append((suffix, number, what))
    return count, slowest, failures


def tasks(cases: int, seed: int, suffixes: list[str]) -> list[tuple[str, int, int]]:
    """Batches for the formats in turn; every seed has numbers of its own."""
    first = seed * 1_000_000_000
    starts = range(0, cases, BATCH)
    return [(suffixes[i % len(suffixes)], first + s, min(BATCH, cases - s)) for i, s in enumerate(starts)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Damage files and see what the readers make of them.")
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--format", choices=list(seeds()), help="one format only")
    arguments = parser.parse_args()
    suffixes = [arguments.format] if arguments.format else list(seeds())
    begin = time.monotonic()
    done, slowest, failures = 0, 0.0, list[Failure]()
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for count, slow, found in pool.imap_unordered(batch, tasks(arguments.cases, arguments.seed, suffixes)):
            done, slowest = done + count, max(slowest, slow)
            for suffix, number, what in found[: max(0, SHOWN - len(failures))]:
                print(f"mutant({suffix!r}, {number}): {what[:300]}")
            failures += found
            if time.monotonic() - begin > arguments.seconds:
                pool.terminate()
                break
    seconds = time.monotonic() - begin
    rate = done / seconds
    print(f"{done:,} cases in {seconds:.0f} s ({rate:.0f}/s), slowest {slowest:.2f} s, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
