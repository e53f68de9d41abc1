"""The parts of `ikviewer bench`, each measured by a function, ``measure_PART``; poses are measured in `bench_poses`.

One-shot solves, by problem set, method and in bulk: contenders take turns, so that other load on the machine affects
all of them equally. A turn has several problems, because a user runs one solver, whose code and data stay in the
processor's caches. Then kinematics, loading, cold starts; and a solver over many frames: dragging, targets out of
reach, lock-ups.

Lock-ups are measured on four links in a plane, limited to 45 degrees either way, with 300 reachable goals. Cyclic
coordinate descent with limits locks up there, bent in an S, because every single joint can only increase the error. A
pose counts as stuck if its tip is more than a millimetre off. One-shot: every goal from rest. Dragging: the target
moves from goal to goal, always within reach, and rests on each. Released: a one-shot solve from the end of the drag, as
when the mouse button is released.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, Unpack

import numpy as np

import viewer
from viewer.choices import METHOD_NAMES, MethodName
from viewer.cli.bench_problems import (
    NEAR_ENOUGH_M,
    PARTS,
    SIZES_M,
    UNREACHABLE,
    Plan,
    Problems,
    Rig,
    angle_between,
    beyond,
    drawn,
    find_rig,
    matrices,
    out_and_back,
    posed,
    score,
)
from viewer.cli.job import Json
from viewer.errors import InputError
from viewer.formats.file_formats import SAMPLE
from viewer.formats.load import load, sample_names
from viewer.formats.save import save
from viewer.ik.drag import DEFAULT_ITERATIONS, Drag
from viewer.ik.solution import Solution, Status
from viewer.ik.solver import Solver
from viewer.ik.solver_options import SolverOptions
from viewer.progress import report, watched
from viewer.skeleton import Character, Pose, fk, fk_clip
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

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
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


# --- files: kinematics and loading


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


def environment() -> dict[str, str]:
    """Environment of a measuring process: one thread for linear algebra, and the path of this package."""
    here = str(Path(viewer.__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    return os.environ | dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONPATH": path}


def _run(program: str, variables: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-P", "-c", program], env=variables, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - programs of ours


# --- dragging: how close the hand stays to the cursor, how far joints jump, whether out and back comes back

_ITERATIONS = (2, 4, 8)
_RETURN_ITERATIONS = {"humanoid": 2, "claw": 2, "fingers": 4}
_SEQUENCES, _FRAMES = 10, 240
_PATHS, _TRIES = 20, 30
_STILL_FRAMES = 30
_FROZEN_DEG, _SHORT_M, _FROZEN_FRAMES = 0.01, 0.02, 5
"""A frame is frozen if all joints rotate by less than this although the cursor moves and a reachable target is farther
away than this; a drag is frozen if it has more such frames than this."""

_SETTLING = 100
"""Iterations, frame by frame, for which a drag stays at its target before its motion is measured."""
_WATCHED = 20
_MOST_UNREACHABLE = 50

_LOCK_UP_GOALS = 300
_CARRIED, _RESTING, _CARRY_ITERATIONS = 20, 20, 5
"""Frames from goal to goal, frames on it, iterations a frame."""


def measure_drag(plan: Plan) -> Json:
    """By set: following by iterations a frame, and the way back."""
    result: dict[str, Json] = {}
    for name in plan.some(SETS):
        rig = plan.source.rig(name)
        motions = plan.source.drags(rig, plan.at_most(_SEQUENCES), _FRAMES if not plan.quick else 20, plan.seed)
        solver = Solver(rig.skeleton, rig.goals(), backend=plan.backend)
        following: dict[str, Json] = {}
        for iterations in watched(f"dragging {name}", _ITERATIONS, len(_ITERATIONS)):
            following[str(iterations)] = _follow(rig, solver, motions, iterations)
        result[name] = {
            "following": following,
            "return": _returns(plan, rig, solver),
            "beyond": _beyond(plan, rig, solver),
        }
    return result


def _follow(rig: Rig, solver: Solver, motions: list[Problems], iterations: int) -> Json:
    metres, steps, seconds, outside = [], [], [], []
    for motion in motions:
        drag = solver.drag(rig.skeleton.rest_pose())
        solved = [
            drag.move(targets, target_rotations=turns, iterations=iterations)
            for targets, turns in zip(motion.targets, motion.turns, strict=True)
        ]
        rotations = np.array([one.pose.rotations for one in solved])
        translations = np.array([one.pose.translations for one in solved])
        found = score(rig, motion.targets, motion.turns, rotations, translations)
        metres.append(found.metres)
        outside.append(found.outside_rad)
        steps.append(joint_steps(rotations).max(axis=1))
        seconds += [one.seconds for one in solved]
    return {
        "frames": int(np.size(metres)),
        "below_1_mm_percent": float(100.0 * (np.concatenate(metres) < NEAR_ENOUGH_M).mean()),
        "error_mm_p99": float(1e3 * np.percentile(np.concatenate(metres), 99.0)),
        "joint_step_deg_p99": float(np.percentile(np.concatenate(steps), 99.0)),
        "joint_step_deg_max": float(np.concatenate(steps).max()),
        "ms": float(np.median(seconds)) * 1e3,
        "worst_outside_deg": float(np.degrees(np.concatenate(outside).max())),
    }


def joint_steps(rotations: Floats) -> Floats:
    """(F - 1, J) degrees that each joint turns from frame to frame of rotations (F, J, 4)."""
    frames = matrices(rotations)
    return np.degrees(angle_between(frames[:-1], frames[1:]))


def _returns(plan: Plan, rig: Rig, solver: Solver) -> Json:
    """Move one effector out and back within reach, on a line or in a loop; the others hold."""
    by_shape: dict[str, Json] = {}
    starts = plan.source.problems(rig, "near", plan.at_most(_PATHS), plan.seed + 1)
    for shape in ("line", "loop"):
        size_m, paths = 0.0, []
        for size_m in SIZES_M:
            paths = out_and_back(solver, starts, shape, plan.seed, plan.at_most(_TRIES), size_m)
            if 2 * len(paths) >= len(starts):
                break
        degrees = [_apart_after(solver.drag(start), targets, turns, rig) for start, targets, turns in paths]
        by_shape[shape] = {
            "trials": len(degrees),
            "size_m": size_m,
            "degrees_median": float(np.median(degrees)) if degrees else None,
            "degrees_p90": float(np.percentile(degrees, 90.0)) if degrees else None,
        }
    return by_shape


def _apart_after(drag: Drag, targets: Floats, turns: Floats, rig: Rig) -> float:
    """Degrees between start and end of the joint that differs most."""
    for place in [*targets, *[targets[-1]] * _STILL_FRAMES]:
        drag.move(place, target_rotations=turns, iterations=_iterations(rig))
    assert drag.solution is not None
    end = matrices(drag.solution.pose.rotations)
    return float(np.degrees(angle_between(matrices(drag.start.rotations), end).max()))


def _iterations(rig: Rig) -> int:
    return _RETURN_ITERATIONS.get(rig.name, max(_RETURN_ITERATIONS.values()))


def _beyond(plan: Plan, rig: Rig, solver: Solver) -> Json:
    """Move one effector out of reach and back; the others hold."""
    starts = plan.source.problems(rig, "near", plan.at_most(_PATHS), plan.seed + 2)
    largest, frozen = [], 0
    for start, targets, turns in beyond(starts, plan.seed):
        steps, still = _out_of_reach(solver, start, targets, turns, _iterations(rig))
        largest.append(max(steps))
        frozen += still > _FROZEN_FRAMES
    return {
        "trials": len(largest),
        "frozen": frozen,
        "joint_step_deg_median": float(np.median(largest)),
        "joint_step_deg_max": float(max(largest)),
    }


def _out_of_reach(
    solver: Solver, start: Pose, targets: Floats, turns: Floats, iterations: int
) -> tuple[list[float], int]:
    """Largest joint step in degrees, frame by frame, and the number of frozen frames."""
    drag, before, steps, frozen = solver.drag(start), start.rotations, [], 0
    for k, places in enumerate(targets):
        one = drag.move(places, target_rotations=turns, iterations=iterations)
        steps.append(float(joint_steps(np.array([before, one.pose.rotations])).max()))
        before = one.pose.rotations
        moves = k > 0 and not np.array_equal(places, targets[k - 1])
        if moves and steps[-1] < _FROZEN_DEG and np.nanmax(one.errors_m) > _SHORT_M:
            reached = solver.solve(start, targets=places, target_rotations=turns)
            frozen += reached.status is Status.CONVERGED
    return steps, frozen


# --- targets out of reach: does the pose stand still, is it reported, how near does it get


def measure_unreachable(plan: Plan) -> Json:
    """By set: motion per further iteration, statuses of one-shot solves."""
    result: dict[str, Json] = {}
    for name in plan.some(SETS):
        rig = plan.source.rig(name)
        count = plan.at_most(min(plan.count, _MOST_UNREACHABLE))
        set_of = plan.source.problems(rig, UNREACHABLE, count, plan.seed)
        solver = Solver(rig.skeleton, rig.goals(), backend=plan.backend)
        statuses: Counter[str] = Counter()
        motion, outside, errors = [], [], []
        for targets, turns in watched(
            f"{name} out of reach", list(zip(set_of.targets, set_of.turns, strict=True)), count
        ):
            solution = solver.solve(rig.skeleton.rest_pose(), targets=targets, target_rotations=turns)
            statuses[solution.status.value] += 1
            pose = solution.pose
            found = score(rig, targets[None], turns[None], pose.rotations[None], pose.translations[None])
            outside.append(found.outside_rad[0])
            errors.append(np.sqrt(np.nansum(solution.errors_m**2)))
            motion.append(_restlessness(rig, solver, targets, turns))
        result[name] = {
            "problems": len(motion),
            "statuses": dict(statuses),
            "error_m_median": float(np.median(errors)),
            "deg_per_iteration_median": float(np.median(motion)),
            "deg_per_iteration_p90": float(np.percentile(motion, 90.0)),
            "deg_per_iteration_max": float(np.max(motion)),
            "worst_outside_deg": float(np.degrees(np.max(outside))),
        }
    return result


def _restlessness(rig: Rig, solver: Solver, targets: Floats, turns: Floats) -> float:
    """Largest joint step in degrees per iteration, long after the drag reached its target."""
    drag = solver.drag(rig.skeleton.rest_pose())
    for _ in range(_SETTLING // DEFAULT_ITERATIONS):
        drag.move(targets, target_rotations=turns)
    poses = [drag.move(targets, target_rotations=turns, iterations=1).pose.rotations for _ in range(_WATCHED)]
    return float(joint_steps(np.array(poses)).max())


# --- lock-ups


def measure_lockup(plan: Plan) -> Json:
    """By solver: percent stuck."""
    rig = find_rig("planar")
    random = np.random.default_rng([plan.seed, _LOCK_UP_GOALS])
    hidden = PARTS["far"] * drawn(rig, plan.at_most(_LOCK_UP_GOALS), random)
    goals = _at(rig, hidden)
    result: dict[str, Json] = {}
    for method in watched("lock-ups", METHOD_NAMES, len(METHOD_NAMES)):
        solver = Solver(rig.skeleton, rig.goals(), method=method, backend="numpy")
        rest = rig.skeleton.rest_pose()
        if solver.solve(rest, targets=goals.targets[0]).unserved:
            continue
        dragged = _dragged(rig, solver.drag(rest), hidden)
        # As `Drag.escape` does, but without changing the drag.
        released = [solver.solve(pose, targets=place).pose for pose, place in zip(dragged, goals.targets, strict=True)]
        result[method] = {
            "goals": len(goals),
            "one_shot_percent": _stuck(rig, goals, [solver.solve(rest, targets=place).pose for place in goals.targets]),
            "dragging_percent": _stuck(rig, goals, dragged),
            "released_percent": _stuck(rig, goals, released),
        }
    return result


def _at(rig: Rig, hidden: Floats) -> Problems:
    """Targets of hidden coordinates (N, J, 3)."""
    still = np.zeros((len(hidden), 3))
    return posed(rig, hidden, still, still)


def _dragged(rig: Rig, drag: Drag, hidden: Floats) -> list[Pose]:
    """The pose at every goal of one long drag."""
    poses = []
    before = np.zeros_like(hidden[0])
    parts = np.minimum(np.arange(1, _CARRIED + _RESTING + 1) / _CARRIED, 1.0)[:, None, None]
    for after in hidden:
        for target in _at(rig, before + parts * (after - before)).targets:
            solution = drag.move(target, iterations=_CARRY_ITERATIONS)
        poses.append(solution.pose)
        before = after
    return poses


def _stuck(rig: Rig, goals: Problems, poses: list[Pose]) -> float:
    rotations = np.array([pose.rotations for pose in poses])
    translations = np.array([pose.translations for pose in poses])
    found = score(rig, goals.targets, goals.turns, rotations, translations)
    return float(100.0 * (~found.valid).mean())
