"""The parts of the benchmarks: each is measured in a process of its own, with one thread for linear algebra.

So none meets what another has left behind, numpy's libraries are told of the thread before they are loaded, and a rival
that crashes takes one part along and no more.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import viewer
from viewer.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.cli.bench.plan import Plan
    from viewer.cli.output import Json

PARTS = {
    "speed": "one-shot solves beside the rivals: milliseconds, honest success, ratios",
    "methods": "success and iterations of every solver by its name",
    "drag": "following a cursor: closeness, joint steps, out and back",
    "unreachable": "targets out of reach: motion per further iteration",
    "lockup": "the S-lock: how often each solver gets stuck",
    "poses": "how much like a person solved poses look, on real motion",
    "batch": "10,000 problems in one call",
    "start": "cold starts: from nothing to the first solved pose",
    "files": "forward kinematics, loading",
}
"""Names and what they measure; `viewer.cli.bench.part_NAME.measure` does it."""

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
WORKER = (sys.executable, "-P", "-m", "viewer.cli.bench.worker")


def measure(part: str, plan: Plan) -> Json:
    """Measure a part in this process."""
    module: Any = import_module(f"viewer.cli.bench.part_{part}")
    result: Json = module.measure(plan)
    return result


def environment() -> dict[str, str]:
    """Of a process that measures: one thread for linear algebra, and this very package."""
    from pathlib import Path

    here = str(Path(viewer.__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    return os.environ | dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONPATH": path}


def measure_apart(part: str, options: Sequence[str], worker: Sequence[str] = WORKER) -> Json:
    """Measure a part in a process of its own.

    Args:
        part: one of `PARTS`.
        options: of the worker, as `viewer.cli.bench.options` reads them.
        worker: the program; it prints one JSON document.

    Raises:
        MachineError: it ended without one.
    """
    import json
    import subprocess

    done = subprocess.run([*worker, part, *options], env=environment(), stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - a program of ours
    if done.returncode != 0:
        raise MachineError(f"bench {part}: the process that measured it ended with {done.returncode} (see above)")
    result: Json = json.loads(done.stdout)
    return result
