"""How long do commands take to start, beside the floor that numpy sets?

Runs all in turn and prints the medians. The target of ``ikviewer info`` is at most 0.4 s more than ``import numpy``;
``--version``, ``--help`` and ``completion`` load no numpy.

    python benchmarks/startup.py [RUNS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

TARGET_S = 0.4
_IKVIEWER = [sys.executable, "-P", "-m", "viewer"]
COMMANDS = {
    "import numpy": [sys.executable, "-c", "import numpy"],
    "ikviewer info sample:biped": [*_IKVIEWER, "info", "sample:biped"],
    "ikviewer --version": [*_IKVIEWER, "--version"],
    "ikviewer --help": [*_IKVIEWER, "--help"],
    "ikviewer solve --help": [*_IKVIEWER, "solve", "--help"],
    "ikviewer completion bash": [*_IKVIEWER, "completion", "bash"],
}


def seconds(command: list[str]) -> float:
    """Wall time of one run of a program."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main(runs: int) -> int:
    for command in COMMANDS.values():
        seconds(command)  # fills the file cache and writes the bytecode
    # Alternating, so that other load on the machine affects all equally.
    times = [[seconds(command) for command in COMMANDS.values()] for _ in range(runs)]
    medians = [statistics.median(column) for column in zip(*times, strict=True)]
    floor, ours, *_ = medians
    for name, median in zip(COMMANDS, medians, strict=True):
        print(f"{name:30} {median * 1000:6.0f} ms  (median of {runs})")
    print(f"{'difference':30} {(ours - floor) * 1000:6.0f} ms  (target: at most {TARGET_S * 1000:.0f})")
    return 0 if ours - floor <= TARGET_S else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 11))
