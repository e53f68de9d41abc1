"""How fast are BVH files read, and in how much memory, beside pybvh and three.js?

All readers in turn in one run, medians. Without ``--file`` a take of 3.8 MB is made of the bundled walk, and one nine
times as long. The targets: the channel array no slower than pybvh, the whole load within 1.5 times pybvh and at least
4 times faster than three.js, time in proportion to the length, peak memory at most 6 times the array.

    python benchmarks/load.py [--file FILE] [--runs N] [--three FOLDER]

FOLDER is where ``npm install three`` was run.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.formats.bvh_text import parse_bvh
from viewer.formats.load import load
from viewer.formats.save import save

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHORT_BYTES, LONGER = 3_800_000, 9
THREE = """
import {readFileSync} from "node:fs";
import {createInterface} from "node:readline";
import {BVHLoader} from "three/addons/loaders/BVHLoader.js";
for await (const file of createInterface({input: process.stdin})) {
  const start = performance.now();
  new BVHLoader().parse(readFileSync(file, "utf8"));
  console.log((performance.now() - start) / 1000);
}
"""


def machine() -> str:
    """The processor, its cores and the versions that matter."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        name = models[0] if models else name
    return f"{name}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def take(path: Path, size: int) -> Path:
    """A file of about so many bytes: the bundled walk, its rows again and again."""
    save(load("sample:walk"), path)
    head, label, tail = path.read_text(encoding="utf-8").partition("MOTION\n")
    lines = tail.splitlines(keepends=True)
    rows = lines[2:]
    count = max(1, size // sum(map(len, rows)))
    text = "".join([head, label, f"Frames: {count * len(rows)}\n", lines[1], *rows * count])
    path.write_text(text, encoding="utf-8")
    return path


def readers(path: Path, three: Callable[[Path], float] | None) -> dict[str, Callable[[], float]]:
    """What is timed, by name: each reads the file once and gives the seconds."""
    found = {
        "channel array": timed(lambda: parse_bvh(path.read_bytes(), path.name)),
        "whole load": timed(lambda: load(path)),
    }
    if importlib.util.find_spec("pybvh"):
        import pybvh

        found["pybvh"] = timed(lambda: pybvh.read_bvh_file(path, world_up="+y"))
    if three is not None:
        found["three.js"] = lambda: three(path)
    return found


def timed(read: Callable[[], object]) -> Callable[[], float]:
    """The reader with a clock around it."""

    def run() -> float:
        start = time.perf_counter()
        read()
        return time.perf_counter() - start

    return run


@contextlib.contextmanager
def three_reader(folder: Path) -> Iterator[Callable[[Path], float] | None]:
    """three.js's BVHLoader in a node that waits for files; None where one of them is missing."""
    if shutil.which("node") is None or not (folder / "node_modules" / "three").is_dir():
        yield None
        return
    script = folder / "ikviewer-load.mjs"
    script.write_text(THREE)
    with subprocess.Popen(["node", str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:
        assert node.stdin is not None
        assert node.stdout is not None
        requests, answers = node.stdin, node.stdout

        def read(path: Path) -> float:
            print(path.resolve(), file=requests, flush=True)
            return float(answers.readline())

        yield read
        requests.close()
    script.unlink()


def medians(found: dict[str, Callable[[], float]], runs: int) -> dict[str, float]:
    """Seconds; alternating, so that other load on the machine affects all equally. The first round only warms up."""
    rounds = [{name: read() for name, read in found.items()} for _ in range(runs + 1)]
    return {name: statistics.median(each[name] for each in rounds[1:]) for name in found}


def memory(path: Path) -> float:
    """Peak memory of the whole load as a multiple of the channel array."""
    array = parse_bvh(path.read_bytes(), path.name).values.nbytes
    tracemalloc.start()
    try:
        load(path)
        return tracemalloc.get_traced_memory()[1] / array
    finally:
        tracemalloc.stop()


def report(path: Path, runs: int, three: Callable[[Path], float] | None) -> list[bool]:
    """Print one file's table; whether each target that could be measured is met."""
    size = path.stat().st_size
    seconds = medians(readers(path, three), runs)
    print(f"\n{path.name}: {size / 1e6:.1f} MB")
    for name, median in seconds.items():
        print(f"  {name:16} {median * 1000:8.1f} ms  {size / median / 1e6:7.1f} MB/s")
    part = memory(path)
    ours = {"array": seconds["channel array"], "load": seconds["whole load"]}
    checks = [("peak memory", part, "at most", 6.0, "channel arrays")]
    if "pybvh" in seconds:
        checks.append(("channel array", ours["array"] / seconds["pybvh"], "at most", 1.0, "times pybvh"))
        checks.append(("whole load", ours["load"] / seconds["pybvh"], "at most", 1.5, "times pybvh"))
    if "three.js" in seconds:
        checks.append(("whole load", seconds["three.js"] / ours["load"], "at least", 4.0, "times faster than three.js"))
    met = [value <= bound if word == "at most" else value >= bound for _, value, word, bound, _ in checks]
    for good, (what, value, word, bound, unit) in zip(met, checks, strict=True):
        print(f"  {what:16} {value:8.2f} {unit} (target: {word} {bound:g}){'' if good else '  MISSED'}")
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description="Time BVH readers beside each other.")
    parser.add_argument("--file", type=Path, help="a BVH file to read instead of a made one")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--three", type=Path, default=Path(), help="folder with node_modules/three")
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        if arguments.file:
            files = [arguments.file]
        else:
            files = [take(Path(folder, "short.bvh"), SHORT_BYTES), take(Path(folder, "long.bvh"), SHORT_BYTES * LONGER)]
        with three_reader(arguments.three) as three:
            met = [good for path in files for good in report(path, arguments.runs, three)]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
