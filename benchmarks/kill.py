"""The long form of the kills in tests/test_lost.py: work is killed at random moments, and the loss is counted.

Half of the workers record their actions; those must lead to what was recovered. Ends with 1 if a kill took more than
five seconds of work, or left what cannot be opened.

    python benchmarks/kill.py [--kills 50] [--seed 0] [--longest 8]
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from killing import MOST_LOST, kill_one, replays

from viewer.errors import ViewerError

SHORTEST = 0.1


def one_kill(seed: int, after: float) -> tuple[float, str]:
    """Seconds lost, and what is wrong, if anything."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            left = kill_one(Path(folder), seed, after)
            wrong = "" if left.lost <= MOST_LOST else "too much is lost"
            if left.path is not None and seed % 2 and not replays(left):
                wrong = "the recorded actions lead elsewhere"
        except (ViewerError, AssertionError) as error:
            return float("nan"), str(error)
    return left.lost, wrong


def main() -> int:
    """Kill so many."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=8.0, help="seconds that one may work at most")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    lost, failures = list[float](), 0
    for number in range(options.kills):
        after = chance.uniform(SHORTEST, options.longest)
        seconds, wrong = one_kill(1000 * options.seed + number, after)
        lost.append(seconds)
        failures += bool(wrong)
        print(f"{number + 1:3}  killed after {after:4.1f} s, lost {seconds:4.2f} s  {wrong}".rstrip(), flush=True)
    print(f"{options.kills} kills, most lost {max(lost):.2f} s, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
