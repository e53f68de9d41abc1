"""One-shot solves, by problem set, method and in bulk; kinematics, loading and cold starts: times and valid solutions.

Contenders take turns, so that other load on the machine affects all of them equally. A turn has several problems,
because a user runs one solver, whose code and data stay in the processor's caches.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, Unpack

import numpy as np

from viewer.choices import METHOD_NAMES, MethodName
from viewer.cli.bench.bench_problems import PARTS, Problems, score
from viewer.cli.bench.plan import Plan, environment
from viewer.cli.bench.rigs import Rig
from viewer.cli.job import Json
from viewer.errors import InputError
from viewer.formats.file_formats import SAMPLE
from viewer.formats.load import load, sample_names
from viewer.formats.save import save
from viewer.ik.solution import Solution
from viewer.ik.solver import Solver
from viewer.ik.solver_options import SolverOptions
from viewer.progress import report, watched
from viewer.skeleton import Character, fk, fk_clip
from viewer.spatial.checks import Floats

NUMBA, NUMPY = "ikviewer (numba)", "ikviewer (numpy)"
SETS = ("humanoid", "claw", "fingers")
NATIVE = ("biped", "biped-hands")
"""Sets with swing-twist limits."""
CHAINS = (10, 100, 1000)
CHAIN = "any"
"""The only class of problems for chains."""
TURN = 20
"""Problems that a contender solves in a row."""
LONGEST_FOR_ALL = 100
"""Links of the longest chain for all contenders; longer chains are only for our own solvers."""
_MOST_CHAIN_PROBLEMS = 50
_MOST_PROBLEMS_BY_METHOD = 50
"""For methods for comparison, which are slow when they fail."""
_WARM_UPS = 2
"""Calls before measuring, which fill caches and load kernels."""
_TRIALS = 30
"""Problems, of another seed, on which a contender may be tuned."""

BATCH_RIG = "humanoid"
_BATCH, _REPEATS = 10_000, 3

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


class Contender(Protocol):
    """A solver prepared for one rig; every solve starts from the rig's rest pose."""

    def solve(self, targets: Floats, turns: Floats) -> Any:  # noqa: ANN401 - each has an answer of its own
        """Reach targets (G, 3), metres, and turns (G, 4), (x, y, z, w). The whole call is timed."""

    def pose(self, answer: Any) -> tuple[Floats, Floats]:  # noqa: ANN401
        """Local rotations (J, 4) and translations (J, 3) of an answer; not timed."""

    def iterations(self, answer: Any) -> int:  # noqa: ANN401
        """Iterations of the answer."""


Maker: TypeAlias = Callable[[Rig], Contender]
"""Makes a contender; raises InputError for a rig that it cannot serve."""
Tune: TypeAlias = Callable[[Rig, Mapping[str, Contender], Problems, float], Mapping[str, float]]
"""Chooses dampings by name, from contenders, problems that are not measured, and seconds for each contender."""


class Ours:
    """`viewer.Solver` as a contender, with its defaults except for the options given."""

    def __init__(self, rig: Rig, **options: Unpack[SolverOptions]) -> None:
        """Make the solver once; new targets rebuild nothing."""
        self.solver = Solver(rig.skeleton, rig.goals(), **options)
        self.rest = rig.skeleton.rest_pose()
        self.turns = bool(rig.turned.any())

    def solve(self, targets: Floats, turns: Floats) -> Solution:
        """See `Contender.solve`."""
        return self.solver.solve(self.rest, targets=targets, target_rotations=turns if self.turns else None)

    def pose(self, answer: Solution) -> tuple[Floats, Floats]:
        """See `Contender.pose`."""
        return answer.pose.rotations, answer.pose.translations

    def iterations(self, answer: Solution) -> int:
        """See `Contender.iterations`."""
        return answer.iterations


def our_makers(plan: Plan) -> dict[str, Maker]:
    """The default solver on each backend; a quick run leaves out numba, whose compilation takes long."""
    makers: dict[str, Maker] = {}
    if not plan.quick and find_spec("numba") is not None:
        makers[NUMBA] = lambda rig: Ours(rig, backend="numba")
    makers[NUMPY] = lambda rig: Ours(rig, backend="numpy")
    return makers


@dataclass(slots=True)
class Record:
    """One contender's run: seconds of each call, those that it had the processor, and the answers."""

    seconds: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)

    @property
    def median_ms(self) -> float:
        """Median of the calls."""
        return float(np.median(self.seconds)) * 1e3


def round_robin(contenders: Mapping[str, Contender], set_of: Problems, budget_s: float, what: str) -> dict[str, Record]:
    """Solve the problems, a few by each contender at a time; it skips the rest after ``budget_s`` seconds."""
    records = {name: Record() for name in contenders}
    for contender in contenders.values():
        for _ in range(_WARM_UPS):
            contender.solve(set_of.targets[0], set_of.turns[0])
    gc.collect()
    gc.disable()
    try:
        for first in range(0, len(set_of), TURN):
            report(what, first, len(set_of))
            for name, contender in contenders.items():
                for targets, turns in zip(set_of.targets[first : first + TURN], set_of.turns[first:], strict=False):
                    if sum(records[name].seconds) > budget_s:
                        break
                    _timed(contender, targets, turns, records[name])
    finally:
        gc.enable()
    report(what, len(set_of), len(set_of))
    return records


def _timed(contender: Contender, targets: Floats, turns: Floats, record: Record) -> None:
    busy, started = time.thread_time(), time.perf_counter()
    answer = contender.solve(targets, turns)
    record.seconds.append(time.perf_counter() - started)
    record.busy.append(time.thread_time() - busy)
    record.answers.append(answer)


def judged(rig: Rig, set_of: Problems, contender: Contender, record: Record) -> dict[str, Json]:
    """Counts, percentages and medians of a run."""
    count = len(record.answers)
    poses = [contender.pose(answer) for answer in record.answers]
    rotations, translations = (np.array(arrays) for arrays in zip(*poses, strict=True))
    found = score(rig, set_of.targets[:count], set_of.turns[:count], rotations, translations)
    steps = np.array([contender.iterations(answer) for answer in record.answers])
    return {
        "problems": count,
        "valid": int(found.valid.sum()),
        "solved": int(found.solved.sum()),
        "ms": record.median_ms,
        "cpu_ms": float(np.median(record.busy)) * 1e3,
        "ms_mean": float(np.mean(record.seconds)) * 1e3,
        "ms_p95": float(np.percentile(record.seconds, 95.0)) * 1e3,
        "iterations": float(np.median(steps)),
        "iterations_mean": float(np.mean(steps)),
        "worst_outside_deg": float(np.degrees(found.outside_rad.max())),
    }


# --- speed: every set and class


def measure_speed(plan: Plan) -> dict[str, Json]:
    """Runs of the default solver by set, class and backend."""
    return {"sets": speed_runs(plan, our_makers(plan))}


def speed_runs(plan: Plan, makers: Mapping[str, Maker], tune: Tune | None = None) -> dict[str, Json]:
    """Runs by set, class and contender; ours have the names `NUMBA` and `NUMPY`.

    ``tune`` chooses the dampings of contenders that have one.
    """
    runs: dict[str, Json] = {}
    for name in SETS:
        runs[name] = {kind: _side_by_side(plan, makers, (name, kind), plan.count, tune) for kind in PARTS}
    ours = {name: make for name, make in makers.items() if name in (NUMBA, NUMPY)}
    for links in CHAINS:
        name, count = f"chain-{links}", min(plan.count, _MOST_CHAIN_PROBLEMS)
        taking_part = makers if links <= LONGEST_FOR_ALL else ours
        runs[name] = {CHAIN: _side_by_side(plan, taking_part, (name, CHAIN), count, tune)}
    return runs


def _side_by_side(
    plan: Plan, makers: Mapping[str, Maker], which: tuple[str, str], count: int, tune: Tune | None
) -> dict[str, Json]:
    name, kind = which
    rig = plan.source.rig(name)
    set_of = plan.source.problems(rig, kind, plan.at_most(count), plan.seed)
    contenders: dict[str, Contender] = {}
    for label, make in makers.items():
        try:
            contenders[label] = make(rig)
        except InputError:  # it cannot serve this rig
            continue
    dampings: Mapping[str, float] = {}
    if tune is not None:
        trials = plan.source.problems(rig, kind, plan.at_most(_TRIALS), plan.seed + 1)
        dampings = tune(rig, contenders, trials, plan.budget_s / 40.0)
    records = round_robin(contenders, set_of, plan.budget_s, f"{name} {kind}")
    return {
        label: judged(rig, set_of, contenders[label], record)
        | ({"damping": dampings[label]} if label in dampings else {})
        for label, record in records.items()
    }


# --- methods: every solver by its name


def measure_methods(plan: Plan) -> dict[str, Json]:
    """Runs by set, class and method, on the same rigs, goals and limits."""
    sets: dict[str, Json] = {}
    for name in plan.some((*SETS, *NATIVE)):
        kinds: dict[str, Json] = {}
        for kind in PARTS:
            found = _by_method(plan, name, kind, ("default",), plan.count)
            if name not in NATIVE:
                found |= _by_method(plan, name, kind, METHOD_NAMES[1:], min(plan.count, _MOST_PROBLEMS_BY_METHOD))
            kinds[kind] = found
        sets[name] = kinds
    return sets


def _by_method(plan: Plan, name: str, kind: str, methods: Sequence[MethodName], count: int) -> dict[str, Json]:
    source = plan.source if name not in NATIVE else type(plan)().source
    rig = source.rig(name)
    set_of = source.problems(rig, kind, plan.at_most(count), plan.seed)
    served: dict[str, Contender] = {}
    for method in methods:
        ours = Ours(rig, method=method, backend=plan.backend if method == "default" else "numpy")
        if not ours.solve(set_of.targets[0], set_of.turns[0]).unserved:
            served[method] = ours
    records = round_robin(served, set_of, plan.budget_s / 4.0, f"{name} {kind} by method")
    return {method: judged(rig, set_of, served[method], record) for method, record in records.items()}


# --- batch: ten thousand problems in one call


def batch_problems(plan: Plan, rig: Rig, kind: str) -> Problems:
    """The problems of one call."""
    return plan.source.problems(rig, kind, plan.at_most(_BATCH), plan.seed)


def measure_batch(plan: Plan) -> dict[str, Json]:
    """By class and number of threads, one and all: solves a second and valid solutions."""
    rig = plan.source.rig(BATCH_RIG)
    cores = os.cpu_count() or 1
    classes: dict[str, Json] = {}
    for kind in watched("batches", PARTS, len(PARTS)):
        set_of = batch_problems(plan, rig, kind)
        found: dict[str, Json] = {}
        for threads in sorted({1, cores}):
            seconds, valid = _batch_s(plan, rig, set_of, threads)
            rate = len(set_of) / seconds
            found[f"threads_{threads}"] = {"problems": len(set_of), "valid": valid, "solves_per_s": rate}
        classes[kind] = found
    return {"rig": BATCH_RIG, "cores": cores, "classes": classes}


def _batch_s(plan: Plan, rig: Rig, set_of: Problems, threads: int) -> tuple[float, int]:
    """Seconds of one call (median), valid solutions."""
    solver = Solver(rig.skeleton, rig.goals(), backend=plan.backend)
    rest = rig.skeleton.rest_pose()
    turns = set_of.turns if rig.turned.any() else None
    call = partial(solver.solve_batch, rest, set_of.targets, target_rotations=turns, threads=threads)
    many = call()  # also loads the kernels
    found = score(rig, set_of.targets, set_of.turns, many.rotations, many.translations)
    return _median_s(call, _REPEATS), int(found.valid.sum())


def measure_files(plan: Plan, others: Mapping[str, Reader] = MappingProxyType({})) -> dict[str, Json]:
    """Forward kinematics of one pose and of a long clip; loading of every sample and of a long BVH file.

    ``others`` are readers that read the long one alternately with ours.
    """
    runs = plan.at_most(_RUNS)
    long = _long(load(SAMPLE + "walk"), 100 if plan.quick else _LONG_FRAMES)
    assert long.clip is not None
    clip, chain = long.clip, load(_CHAIN).skeleton
    pose, straight = clip.pose(0), chain.rest_pose()
    seconds = _median_s(partial(fk_clip, long.skeleton, clip), runs)
    kinematics: dict[str, Json] = {
        "joints": len(long.skeleton),
        "clip_frames": len(clip),
        "clip_frames_per_s": len(clip) / seconds,
        "pose_us": 1e6 * _median_s(partial(fk, long.skeleton, pose), 20 * runs),
        "chain_1000_us": 1e6 * _median_s(partial(fk, chain, straight), 20 * runs),
    }
    names = [SAMPLE + name for name in sample_names()]
    loading: dict[str, Json] = {
        name: 1e3 * _median_s(partial(load, name), runs) for name in watched("loading", names, len(names))
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
        readers: dict[str, Reader] = {"ikviewer": partial(load, units="cm", up="y"), **others}
        medians = _medians_s(
            {name: partial(read, str(file)) for name, read in readers.items()},
            watched("a long BVH file", range(runs), runs),
        )
        return {
            "megabytes": file.stat().st_size / 1e6,
            "ms": {name: 1e3 * seconds for name, seconds in medians.items()},
        }


def _median_s(call: Callable[[], object], runs: int) -> float:
    return _medians_s({"": call}, range(runs))[""]


def _medians_s(calls: Mapping[str, Callable[[], object]], rounds: Iterable[int]) -> dict[str, float]:
    """Median seconds of calls that take turns, one of each a round."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in rounds:
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - started)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


# --- cold starts: processes, from nothing to the first solved pose


def measure_start(plan: Plan) -> dict[str, Json]:
    """Median seconds of processes that are run alternately; the first compilation once, into an empty cache."""
    runs = plan.at_most(_STARTS)
    with tempfile.TemporaryDirectory() as cache:
        variables = environment() | {"NUMBA_CACHE_DIR": cache}
        starts = {name: partial(_run, program, variables) for name, program in _PROGRAMS.items()}
        result: dict[str, Json] = {}
        if find_spec("numba") is not None and not plan.quick:
            compiled = partial(_run, _COMPILED, variables)
            result["first_numba_solve_empty_cache"] = _median_s(compiled, 1)
            starts["first_numba_solve_warm_cache"] = compiled
        for start in starts.values():
            start()  # brings the files into the system's cache
        return result | _medians_s(starts, watched("starts", range(runs), runs))


def _run(program: str, variables: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-P", "-c", program], env=variables, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - programs of ours
