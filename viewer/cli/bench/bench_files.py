"""Kinematics, loading and cold starts: frames a second, milliseconds a file, seconds a process."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from viewer.cli.bench.plan import Plan, environment
from viewer.cli.job import Json
from viewer.formats.file_formats import SAMPLE
from viewer.formats.load import load, sample_names
from viewer.formats.save import save
from viewer.progress import watched
from viewer.skeleton import Character, fk, fk_clip

Reader: TypeAlias = Callable[[str], object]
"""Reads the BVH file of that name."""

_RUNS = 9
_LONG_FRAMES = 4000
_CHAIN = SAMPLE + "chain-1000"

_STARTS = 7
_SOLVE = """
import viewer
skeleton = viewer.load("sample:biped").skeleton
goals = [viewer.Goal.position("LeftHand", (0.4, 1.2, 0.3)), viewer.Goal.position("RightHand", (-0.4, 1.2, 0.3))]
viewer.Solver(skeleton, goals, backend={backend!r}).solve(skeleton.relaxed_pose())
"""
_PROGRAMS = {
    "python": "pass",
    "import_numpy": "import numpy",
    "import_viewer": "import viewer",
    "first_numpy_solve": _SOLVE.format(backend="numpy"),
}
_COMPILED = _SOLVE.format(backend="numba")


def measure_files(plan: Plan, others: Mapping[str, Reader] = MappingProxyType({})) -> dict[str, Json]:
    """Forward kinematics of one pose and of a long clip; loading of every sample and of a long BVH file.

    Args:
        plan: how much is measured.
        others: readers of BVH files that read the long one alternately with ours, by name.
    """
    runs = plan.at_most(_RUNS)
    long = _long(load(SAMPLE + "walk"), 100 if plan.quick else _LONG_FRAMES)
    assert long.clip is not None
    clip, chain = long.clip, load(_CHAIN).skeleton
    pose, straight = clip.pose(0), chain.rest_pose()
    seconds = _median_s(lambda: fk_clip(long.skeleton, clip), runs)
    kinematics: dict[str, Json] = {
        "joints": len(long.skeleton),
        "clip_frames": len(clip),
        "clip_frames_per_s": len(clip) / seconds,
        "pose_us": 1e6 * _median_s(lambda: fk(long.skeleton, pose), 20 * runs),
        "chain_1000_us": 1e6 * _median_s(lambda: fk(chain, straight), 20 * runs),
    }
    names = [SAMPLE + name for name in sample_names()]
    loading: dict[str, Json] = {
        name: 1e3 * _median_s(lambda name=name: load(name), runs)  # type: ignore[misc]  # a default binds it now
        for name in watched("loading", names, len(names))
    }
    return {"forward_kinematics": kinematics, "load_ms": loading, "long_bvh": _long_bvh(long, runs, others)}


def _long(walk: Character, frames: int) -> Character:
    """The walk, repeated many times."""
    clip = walk.clip
    assert clip is not None
    again = np.arange(frames) % len(clip)
    longer = clip.with_motion(clip.rotations[again], clip.local_translations(again))
    return replace(walk, clips={clip.name: longer})


def _long_bvh(long: Character, runs: int, others: Mapping[str, Reader]) -> Json:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "long.bvh")
        save(long, file)
        readers: dict[str, Reader] = {"ikviewer": lambda name: load(name, units="cm", up="y"), **others}
        times: dict[str, list[float]] = {name: [] for name in readers}
        for _ in watched("a long BVH file", range(runs), runs):
            for name, reader in readers.items():
                times[name].append(_median_s(lambda read=reader: read(str(file)), 1))  # type: ignore[misc]
        medians: dict[str, Json] = {name: 1e3 * statistics.median(seconds) for name, seconds in times.items()}
        return {"megabytes": file.stat().st_size / 1e6, "ms": medians}


def _median_s(call: Callable[[], object], runs: int) -> float:
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


# --- cold starts: processes, from nothing to the first solved pose


def measure_start(plan: Plan) -> dict[str, Json]:
    """Median seconds of processes that are run alternately; the first compilation once, into an empty cache."""
    runs = plan.at_most(_STARTS)
    with tempfile.TemporaryDirectory() as cache:
        variables = environment() | {"NUMBA_CACHE_DIR": cache}
        programs = dict(_PROGRAMS)
        result: dict[str, Json] = {}
        if find_spec("numba") is not None and not plan.quick:
            result["first_numba_solve_empty_cache"] = _process_s(_COMPILED, variables)
            programs["first_numba_solve_warm_cache"] = _COMPILED
        for program in programs.values():
            _process_s(program, variables)  # brings the files into the system's cache
        times: dict[str, list[float]] = {name: [] for name in programs}
        for _ in watched("starts", range(runs), runs):
            for name, program in programs.items():
                times[name].append(_process_s(program, variables))
    return result | {name: statistics.median(seconds) for name, seconds in times.items()}


def _process_s(program: str, variables: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-P", "-c", program], env=variables, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - programs of ours
    return time.perf_counter() - started
