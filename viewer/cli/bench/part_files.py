"""Forward kinematics and loading: frames a second, and milliseconds a file, beside other readers of BVH."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from viewer.cli.bench.contender import version_of
from viewer.cli.bench.plan import Plan
from viewer.cli.output import Json
from viewer.formats.load import SAMPLE, load, sample_names
from viewer.formats.progress import watched
from viewer.formats.save import save
from viewer.skeleton.character import Character
from viewer.skeleton.clip import Clip
from viewer.skeleton.kinematics import fk, fk_clip

_RUNS = 9
_LONG_FRAMES = 4000
_CHAIN = SAMPLE + "chain-1000"


def measure(plan: Plan) -> Json:
    """Forward kinematics of one pose and of a long clip; loading of every sample and of a long BVH file."""
    runs = plan.at_most(_RUNS)
    long = _long(load(SAMPLE + "walk"), 100 if plan.quick else _LONG_FRAMES)
    assert long.clip is not None
    clip, chain = long.clip, load(_CHAIN).skeleton
    pose, straight = clip.pose(0), chain.rest_pose()
    whole = _median_s(lambda: fk_clip(long.skeleton, clip), runs)
    kinematics: dict[str, Json] = {
        "joints": len(long.skeleton),
        "clip_frames": len(clip),
        "clip_frames_per_s": len(clip) / whole,
        "pose_us": 1e6 * _median_s(lambda: fk(long.skeleton, pose), 20 * runs),
        "chain_1000_us": 1e6 * _median_s(lambda: fk(chain, straight), 20 * runs),
    }
    names = [SAMPLE + name for name in sample_names()]
    loading: dict[str, Json] = {
        name: 1e3 * _median_s(lambda name=name: load(name), runs)  # type: ignore[misc]  # a default binds it now
        for name in watched("loading", names, len(names))
    }
    return {"forward_kinematics": kinematics, "load_ms": loading, "long_bvh": _long_bvh(long, runs)}


def _long(walk: Character, frames: int) -> Character:
    """The walk, over and over."""
    clip = walk.clip
    assert clip is not None
    again = np.arange(frames) % len(clip)
    longer = Clip(
        name=clip.name,
        frame_time=clip.frame_time,
        rotations=clip.rotations[again],
        translated=clip.translated,
        translations=clip.translations[again],
        offsets=clip.offsets,
    )
    return replace(walk, clips={clip.name: longer})


def _long_bvh(long: Character, runs: int) -> Json:
    """One file, read by us and by whoever else is there, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "long.bvh")
        save(long, file)
        readers: dict[str, Callable[[], object]] = {"ikviewer": lambda: load(file, units="cm", up="y")}
        versions: dict[str, Json] = {}
        for package, make in _OTHERS.items():
            try:
                readers[package] = make(str(file))
            except ImportError:
                continue
            versions[package] = version_of(package)
        times: dict[str, list[float]] = {name: [] for name in readers}
        for _ in watched("a long BVH file", range(runs), runs):
            for name, reader in readers.items():
                times[name].append(_median_s(reader, 1))
        medians: dict[str, Json] = {name: 1e3 * statistics.median(seconds) for name, seconds in times.items()}
        return {"megabytes": file.stat().st_size / 1e6, "ms": medians, "versions": versions}


def _pybvh(file: str) -> Callable[[], object]:
    library: Any = import_module("pybvh")
    return lambda: library.read_bvh_file(file)


def _pymotion(file: str) -> Callable[[], object]:
    reader: Any = import_module("pymotion.io.bvh").BVH
    return lambda: reader().load(file)


_OTHERS: dict[str, Callable[[str], Callable[[], object]]] = {"pybvh": _pybvh, "upc-pymotion": _pymotion}


def _median_s(call: Callable[[], object], runs: int) -> float:
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)
