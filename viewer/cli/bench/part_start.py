"""Cold starts: whole processes, from nothing to the first solved pose."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec

from viewer.cli.bench.parts import environment
from viewer.cli.bench.plan import Plan
from viewer.cli.output import Json
from viewer.formats.progress import watched

_RUNS = 7
_SOLVE = """
import viewer
skeleton = viewer.load("sample:biped").skeleton
goals = [viewer.Goal.position("LeftHand", (0.4, 1.2, 0.3)), viewer.Goal.position("RightHand", (-0.4, 1.2, 0.3))]
viewer.Solver(skeleton, goals, backend={backend!r}).solve(skeleton.relaxed_pose())
"""
PYTHON, NUMPY, VIEWER, FIRST = "pass", "import numpy", "import viewer", _SOLVE.format(backend="numpy")
COMPILED = _SOLVE.format(backend="numba")


def measure(plan: Plan) -> Json:
    """Wall seconds of processes, medians in turn; the first compilation once, into an empty cache."""
    runs = plan.at_most(_RUNS)
    with tempfile.TemporaryDirectory() as cache:
        surroundings = environment() | {"NUMBA_CACHE_DIR": cache}
        programs = {"python": PYTHON, "import_numpy": NUMPY, "import_viewer": VIEWER, "first_numpy_solve": FIRST}
        result: dict[str, Json] = {}
        if find_spec("numba") is not None and not plan.quick:
            result["first_numba_solve_empty_cache"] = _seconds(COMPILED, surroundings)
            programs["first_numba_solve_warm_cache"] = COMPILED
        for program in programs.values():
            _seconds(program, surroundings)  # files come into the system's cache
        times: dict[str, list[float]] = {name: [] for name in programs}
        for _ in watched("starts", range(runs), runs):
            for name, program in programs.items():
                times[name].append(_seconds(program, surroundings))
    return result | {name: statistics.median(seconds) for name, seconds in times.items()}


def _seconds(program: str, surroundings: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-P", "-c", program], env=surroundings, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - programs of ours
    return time.perf_counter() - started
