"""The long form of tests/test_soak.py: random work for many minutes, everything undone after each round.

Prints the memory of each round, ends with 1 if a document was bad, could not be undone, or memory grew.

    python benchmarks/soak.py [--minutes 20] [--seed 0] [--things 300]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from soaking import SAMPLES, Round, rounds, wear

RESIDENT = 1.25
"""Factor by which the process may be larger in the last rounds than in the first, at most."""


def grown(seen: list[Round]) -> list[str]:
    """What grew, in words."""
    found = wear(seen)
    # The first rounds load what everybody needs: code, caches.
    early, late = seen[len(SAMPLES) : 2 * len(SAMPLES)], seen[-len(SAMPLES) :]
    sizes = [max((one.resident for one in some), default=0) for some in (early, late)]
    if sizes[1] > RESIDENT * sizes[0] > 0:
        found.append(f"memory: {sizes[0] / 1e6:.0f} MB early, {sizes[1] / 1e6:.0f} MB late")
    return found


def main() -> int:
    """Work until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--things", type=int, default=300, help="things done in a round")
    options = parser.parse_args()
    end, seen = time.monotonic() + 60.0 * options.minutes, list[Round]()
    for one in rounds(options.seed, options.things):
        seen.append(one)
        print(
            f"round {one.number}: {one.done} done, {one.refused} of them refused, {one.documents} documents,"
            f" {one.objects:,} objects, {one.resident / 1e6:.0f} MB",
            flush=True,
        )
        if time.monotonic() >= end:
            break
    problems = grown(seen)
    print(*problems or ["steady, all documents good, all undone to the start"], sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
