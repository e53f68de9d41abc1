"""The plan of a benchmark run: parts, problems and their number. Each part runs in a separate process.

Separate processes keep parts independent, set numpy's libraries to one thread before they are loaded, and limit a crash
to one part.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import viewer
from viewer.choices import Backend
from viewer.cli.bench import bench_problems
from viewer.cli.bench.bench_problems import Problems, Rig, find_rig
from viewer.cli.job import Json, add_fields, made_from, print_json, progress_bars
from viewer.cli.solving_options import BENCH_COUNT, BENCH_SEED, BenchOptions
from viewer.errors import MachineError

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_WORKER = (sys.executable, "-P", "-c", "from viewer.cli.bench.plan import work; work()")


class Source(Protocol):
    """Source of rigs and problems: our own, or a neutral benchmark."""

    def rig(self, name: str) -> Rig:
        """A rig by name."""

    def problems(self, rig: Rig, kind: str, count: int, seed: int) -> Problems:
        """Problems of a class."""

    def drags(self, rig: Rig, sequences: int, frames: int, seed: int) -> list[Problems]:
        """Motions to follow."""


class OwnSource:
    """The bundled samples and our own problems: see `viewer.cli.bench.bench_problems`."""

    rig = staticmethod(find_rig)
    drags = staticmethod(bench_problems.drags)
    problems = staticmethod(bench_problems.problems)


@dataclass(frozen=True, slots=True)
class Plan:
    """One run of the benchmarks: ``count`` problems of each set and class; quick: a few, to see that it works."""

    source: Source = field(default_factory=OwnSource)
    seed: int = BENCH_SEED
    count: int = BENCH_COUNT
    quick: bool = False

    def at_most(self, number: int) -> int:
        """``number``, or at most 2 in a quick run."""
        return min(number, 2) if self.quick else number

    def some(self, names: Sequence[str]) -> Sequence[str]:
        """All names, or the first in a quick run."""
        return names[:1] if self.quick else names

    @property
    def backend(self) -> Backend:
        """Backend of the default solver: compiled, if numba is installed; a quick run compiles nothing for that."""
        return "numpy" if find_spec("numba") is None else "auto" if self.quick else "numba"

    @property
    def budget_s(self) -> float:
        """Seconds that one contender may use on one set and class."""
        return 0.5 if self.quick else 20.0

    def about(self) -> dict[str, Json]:
        """The machine and the parameters of the run, for reports."""
        return {"machine": machine(), "seed": self.seed, "count": self.at_most(self.count), "quick": self.quick}


def plan_of(options: BenchOptions) -> Plan:
    """The plan that a command line asks for, with our own problems."""
    return Plan(seed=options.seed, count=options.count, quick=options.quick)


def measure(part: str, plan: Plan) -> Json:
    """Measure a part, one of `viewer.cli.solving_options.BENCH_PARTS`, in this process."""
    module = import_module(f"viewer.cli.bench.{'bench_poses' if part == 'poses' else 'parts'}")
    result: Json = getattr(module, f"measure_{part}")(plan)
    return result


def measure_apart(part: str, plan: Plan, worker: Sequence[str] = _WORKER, words: Sequence[str] = ()) -> Json:
    """Measure a part in a separate process.

    The worker makes the source itself and prints one JSON document; ``words`` are for its command line.
    """
    command = [*worker, part, "--seed", str(plan.seed), "--count", str(plan.count), *words]
    command += ["--quick"] if plan.quick else []
    done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - a program of ours
    if done.returncode != 0:
        raise MachineError(f"bench {part}: the process that measured it ended with {done.returncode} (see above)")
    result: Json = json.loads(done.stdout)
    return result


def environment() -> dict[str, str]:
    """Environment of a measuring process: one thread for linear algebra, and the path of this package."""
    here = str(Path(viewer.__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    return os.environ | dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONPATH": path}


def machine() -> dict[str, Json]:
    """Processor, cores, system, and the versions that matter."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "ikviewer": viewer.__version__,
        **{package: version_of(package) for package in ("numpy", "numba")},
    }


def version_of(package: str) -> str | None:
    """The installed version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    """The processor's product name, which Linux has in a file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def work() -> None:
    """Entry point of the separate process: measure the part of the command line and print JSON."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_fields(parser, BenchOptions)
    options = made_from(BenchOptions, parser.parse_args())
    with progress_bars():
        result = measure(options.parts[0], plan_of(options))
    print_json(result)
