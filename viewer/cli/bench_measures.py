"""What `ikviewer bench` measures: problems on the bundled samples, solvers that take turns on them, and their figures.

A hidden pose reaches the targets inside the limits. near / medium / far: each coordinate of it lies uniformly in 0.15 /
0.5 / 1 of its range, seen from the rest pose; a free root is moved by up to 0.05 / 0.3 / 1 m per axis and turned by up
to 10 / 45 / 180 degrees about any axis. Chains: a point in a shell between 0.1 and 0.9 of their length. Every problem
starts from the rest pose, which lies on limits (straight elbows and knees): the hard case, and the usual one in an
editor.

Contenders take turns, so that other load on the machine affects all of them equally. A turn has several problems,
because a user runs one solver, whose code and data stay in the processor's caches. Parts are functions,
``measure_PART``; `benchmarks/compare.py` runs them on problems and with solvers of its own, and has more of them.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, Unpack

import numpy as np

import viewer
from viewer.choices import METHOD_NAMES, Backend, MethodName
from viewer.cli.job import Json
from viewer.cli.solving_options import BENCH_COUNT, BENCH_SEED
from viewer.errors import InputError
from viewer.formats.file_formats import SAMPLE
from viewer.formats.load import load, sample_names
from viewer.formats.save import save
from viewer.ik.goals import Goal
from viewer.ik.solution import Solution
from viewer.ik.solver import Solver
from viewer.ik.solver_options import SolverOptions
from viewer.progress import report, watched
from viewer.skeleton import Character, JointKind, Skeleton, effector_of, fk, fk_arrays, fk_clip, joint_space
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import angle_between, exp, rotate

NUMBA, NUMPY = "ikviewer (numba)", "ikviewer (numpy)"
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

PARTS = {"near": 0.15, "medium": 0.5, "far": 1.0}
ROOT_M = {"near": 0.05, "medium": 0.3, "far": 1.0}
ROOT_DEG = {"near": 10.0, "medium": 45.0, "far": 180.0}
_SHELL = (0.1, 0.9)
LIMBS = ("LeftHand", "RightHand", "LeftFoot", "RightFoot")
BODY = (*LIMBS, "Head")
_FINGERS = tuple(side + name for side in ("Left", "Right") for name in ("Thumb", "Index", "Middle", "Ring", "Pinky"))

_KEYS = 5
_DRAG_PART = 0.6
_DRAG_ROOT_M = 0.2
_DRAG_ROOT_RAD = 0.25
_SEQUENCES, _FRAMES, _ITERATIONS = 10, 240, 2

NEAR_ENOUGH_M = 1e-3
NEAR_ENOUGH_DEG = 0.5
"""Tolerances of goals."""
OUTSIDE_RAD = 1e-3
OUTSIDE_M = 1e-6
"""Tolerances of joint ranges and joint kinds: angles and lengths."""

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


# --- rigs and problems


@dataclass(frozen=True, slots=True, eq=False)
class Rig:
    """A skeleton with the effectors of its problems.

    Attributes:
        skeleton: its rest pose is where every problem starts.
        effectors: (G,) names as `viewer.skeleton.skeleton.effector_of` knows them.
        turned: (G,) whether the goal has a rotation besides the position.
        joints, offsets: (G,) and (G, 3) the effectors' places on the skeleton.
    """

    name: str
    skeleton: Skeleton
    effectors: tuple[str, ...]
    turned: Bools
    joints: Ints
    offsets: Floats

    @classmethod
    def of(cls, name: str, skeleton: Skeleton, effectors: Sequence[str], turned: Iterable[str] = ()) -> Rig:
        """A rig with position goals, and rotation goals too for the effectors in ``turned``."""
        places = [effector_of(skeleton, effector) for effector in effectors]
        both = set(turned)
        return cls(
            name,
            skeleton,
            tuple(effectors),
            np.array([effector in both for effector in effectors]),
            np.array([place.joint for place in places]),
            np.array([place.offset for place in places]),
        )

    def goals(self) -> list[Goal]:
        """Goals of the right kinds; each call gives their targets."""
        here, as_is = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
        return [
            Goal.pose(effector, here, as_is if turned else None)
            for effector, turned in zip(self.effectors, self.turned.tolist(), strict=True)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Problems:
    """N problems of one rig and class.

    Attributes:
        targets, turns: (N, G, 3) metres and (N, G, 4) (x, y, z, w): where each effector is to be and how turned.
        rotations, translations: (N, J, 4) and (N, J, 3) the hidden poses; they solve the problems unless these are
            unreachable or a chain's.
    """

    targets: Floats
    turns: Floats
    rotations: Floats
    translations: Floats

    def __len__(self) -> int:
        return len(self.targets)


def problems(rig: Rig, kind: str, count: int, seed: int) -> Problems:
    """``count`` problems of a class; rig, class and seed determine them."""
    random = np.random.default_rng([seed, zlib.crc32(rig.name.encode()), zlib.crc32(kind.encode())])
    if not any(rig.skeleton.limits):
        return _shell(rig, count, random)
    coordinates = PARTS[kind] * drawn(rig, count, random)
    moved = random.uniform(-ROOT_M[kind], ROOT_M[kind], (count, 3))
    turned = _directions(count, random) * np.radians(random.uniform(0.0, ROOT_DEG[kind], (count, 1)))
    return posed(rig, coordinates, moved, turned)


def drags(rig: Rig, sequences: int, frames: int, seed: int) -> list[Problems]:
    """Smooth motions through random poses, from rest, to be followed frame by frame."""
    random = np.random.default_rng([seed, zlib.crc32(rig.name.encode()), zlib.crc32(b"drag")])
    made = []
    for _ in range(sequences):
        coordinates = _DRAG_PART * drawn(rig, _KEYS, random)
        moved = random.uniform(-_DRAG_ROOT_M, _DRAG_ROOT_M, (_KEYS, 3))
        turned = random.normal(0.0, _DRAG_ROOT_RAD, (_KEYS, 3))
        for keys in (coordinates, moved, turned):
            keys[0] = 0.0
        made.append(posed(rig, *(_eased(keys, frames) for keys in (coordinates, moved, turned))))
    return made


def posed(rig: Rig, coordinates: Floats, moved: Floats, turned: Floats) -> Problems:
    """The problems whose hidden poses have these coordinates (N, J, 3), added to the rest pose's.

    Free roots are moved by (N, 3) metres and turned by (N, 3) rotation vectors.
    """
    skeleton, space = rig.skeleton, joint_space(rig.skeleton)
    count = len(coordinates)
    rotations = np.tile(skeleton.rest_rotations, (count, 1, 1))
    translations = np.tile(skeleton.offsets, (count, 1, 1))
    rotations, translations = space.rebuild(_rest(rig) + coordinates, rotations, translations)
    for joint in np.flatnonzero(skeleton.of_kind(JointKind.FREE)).tolist():
        rotations[:, joint], translations[:, joint] = exp(turned), skeleton.offsets[joint] + moved
    targets, turns = _reached(rig, rotations, translations)
    return Problems(targets, turns, rotations, translations)


def _reached(rig: Rig, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
    """(N, G, 3) and (N, G, 4): the effectors' places and rotations in the world."""
    world = fk_arrays(rig.skeleton.parents, rotations, translations)
    turns = world.rotations[:, rig.joints]
    return world.positions[:, rig.joints] + rotate(turns, rig.offsets), turns


def drawn(rig: Rig, count: int, random: np.random.Generator) -> Floats:
    """(count, J, 3) coordinates anywhere in their ranges, minus the rest pose's; 0 where there is no range."""
    space = joint_space(rig.skeleton)
    limited = np.isfinite(space.lower) & np.isfinite(space.upper)
    lower, upper = np.where(limited, space.lower, 0.0), np.where(limited, space.upper, 0.0)
    return np.where(limited, random.uniform(lower, upper, (count, *lower.shape)) - _rest(rig), 0.0)


def _rest(rig: Rig) -> Floats:
    """(J, 3) coordinates of the rest pose, brought inside the ranges."""
    space = joint_space(rig.skeleton)
    return np.clip(np.zeros_like(space.lower), space.lower, space.upper)


def _shell(rig: Rig, count: int, random: np.random.Generator) -> Problems:
    """Points about a chain's first joint, uniform by volume."""
    skeleton = rig.skeleton
    reach = float(np.linalg.norm(skeleton.offsets[1:], axis=-1).sum() + np.linalg.norm(rig.offsets[0]))
    least, most = (part**3 for part in _SHELL)
    distances = reach * np.cbrt(random.uniform(least, most, (count, 1)))
    targets = skeleton.offsets[0] + distances * _directions(count, random)
    return Problems(
        targets[:, None],
        np.tile([0.0, 0.0, 0.0, 1.0], (count, 1, 1)),
        np.tile(skeleton.rest_rotations, (count, 1, 1)),
        np.tile(skeleton.offsets, (count, 1, 1)),
    )


def _directions(count: int, random: np.random.Generator) -> Floats:
    """(count, 3) unit vectors, every direction equally likely."""
    vectors = random.normal(size=(count, 3))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _eased(keys: Floats, frames: int) -> Floats:
    """(frames, ...) values that pass through keys (K, ...) and are slow at each."""
    places = np.linspace(0.0, len(keys) - 1.0, frames)
    before = np.minimum(places.astype(np.intp), len(keys) - 2)
    part = places - before
    part = (part * part * (3.0 - 2.0 * part)).reshape(-1, *([1] * (keys.ndim - 1)))
    return np.asarray(keys[before] * (1.0 - part) + keys[before + 1] * part)


class Score(NamedTuple):
    """The scores of N poses.

    Attributes:
        metres, degrees: (N,) largest errors of goals; 0 degrees without goals for rotations.
        outside_rad, outside_m: (N,) largest violations of limits and joint kinds.
        solved: (N,) every goal is within `NEAR_ENOUGH_M` and `NEAR_ENOUGH_DEG`.
        valid: (N,) solved, and inside every limit.
    """

    metres: Floats
    degrees: Floats
    outside_rad: Floats
    outside_m: Floats
    solved: Bools
    valid: Bools

    @classmethod
    def of(cls, metres: Floats, degrees: Floats, outside_rad: Floats, outside_m: Floats) -> Score:
        """The score of these errors."""
        solved = (metres < NEAR_ENOUGH_M) & (degrees < NEAR_ENOUGH_DEG)  # false for NaN
        valid = solved & (outside_rad < OUTSIDE_RAD) & (outside_m < OUTSIDE_M)
        return cls(metres, degrees, outside_rad, outside_m, solved, valid)


def score(rig: Rig, targets: Floats, turns: Floats, rotations: Floats, translations: Floats) -> Score:
    """Score poses of a rig, with local rotations (N, J, 4) and translations (N, J, 3), metres.

    ``targets`` (N, G, 3) are in the world, metres; ``turns`` (N, G, 4) are for effectors with ``rig.turned``.
    """
    skeleton, space = rig.skeleton, joint_space(rig.skeleton)
    points, found = _reached(rig, rotations, translations)
    metres = np.linalg.norm(points - targets, axis=-1).max(axis=-1)
    degrees = np.degrees(np.where(rig.turned, angle_between(turns, found), 0.0).max(axis=-1))
    values = space.measure(rotations, translations)
    excess, slides = space.excess(values), skeleton.of_kind(JointKind.SLIDE)
    # What a joint's kind does not allow is lost when the pose is made again of its coordinates.
    turned, moved = space.rebuild(values, rotations, np.tile(skeleton.offsets, (len(values), 1, 1)))
    bound = ~skeleton.of_kind(JointKind.FREE)
    angles = np.maximum(np.where(slides, 0.0, excess), bound * angle_between(turned, rotations))
    lengths = np.maximum(np.where(slides, excess, 0.0), bound * np.linalg.norm(translations - moved, axis=-1))
    return Score.of(metres, degrees, angles.max(axis=-1), lengths.max(axis=-1))


class Source(Protocol):
    """The rigs and problems of a run, and the score of their solutions."""

    @property
    def sets(self) -> tuple[str, ...]:
        """Rigs with all classes of problems; the first one is that of batches."""

    def rig(self, name: str) -> Rig:
        """A rig by name: one of the sets, or ``chain-N``."""

    def problems(self, rig: Rig, kind: str, count: int, seed: int) -> Problems:
        """Problems of a class."""

    def drags(self, rig: Rig, sequences: int, frames: int, seed: int) -> list[Problems]:
        """Motions to follow."""

    def score(self, rig: Rig, targets: Floats, turns: Floats, rotations: Floats, translations: Floats) -> Score:
        """The score of poses, as the function `score` has it."""


class Samples:
    """The bundled samples; hands and feet of the biped with hands have rotations, too: 57 rows."""

    ends: ClassVar = {
        "biped": BODY,
        "biped-hands": (*BODY, *_FINGERS),
        "claw-arm": ("claw_a", "claw_b", "claw_c"),
    }
    sets = tuple(ends)
    problems = staticmethod(problems)
    drags = staticmethod(drags)
    score = staticmethod(score)

    def rig(self, name: str) -> Rig:
        """See `Source.rig`."""
        turned = LIMBS if name == "biped-hands" else ()
        return Rig.of(name, load(SAMPLE + name).skeleton, self.ends.get(name, ("tip",)), turned)


@dataclass(frozen=True, slots=True)
class Plan:
    """One run of the benchmarks: ``count`` problems of each set and class; quick: a few, to see that it works."""

    source: Source = field(default_factory=Samples)
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


# --- contenders


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
Tune: TypeAlias = Callable[[Source, Rig, Mapping[str, Contender], Problems, float], Mapping[str, float]]
"""Chooses dampings by name, by problems that are not measured and seconds for each contender."""


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


def judged(source: Source, rig: Rig, set_of: Problems, contender: Contender, record: Record) -> dict[str, Json]:
    """Counts, percentages and medians of a run."""
    count = len(record.answers)
    poses = [contender.pose(answer) for answer in record.answers]
    rotations, translations = (np.array(arrays) for arrays in zip(*poses, strict=True))
    found = source.score(rig, set_of.targets[:count], set_of.turns[:count], rotations, translations)
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
    for name in plan.source.sets:
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
        dampings = tune(plan.source, rig, contenders, trials, plan.budget_s / 40.0)
    records = round_robin(contenders, set_of, plan.budget_s, f"{name} {kind}")
    return {
        label: judged(plan.source, rig, set_of, contenders[label], record)
        | ({"damping": dampings[label]} if label in dampings else {})
        for label, record in records.items()
    }


# --- methods: every solver by its name


def measure_methods(plan: Plan) -> dict[str, Json]:
    """Runs by set, class and method, on the same rigs, goals and limits; one that does not serve them is left out."""
    fewer = replace(plan, count=min(plan.count, _MOST_PROBLEMS_BY_METHOD))
    return {
        name: {
            kind: _by_method(plan, name, kind, METHOD_NAMES[:1]) | _by_method(fewer, name, kind, METHOD_NAMES[1:])
            for kind in PARTS
        }
        for name in plan.some(plan.source.sets)
    }


def _by_method(plan: Plan, name: str, kind: str, methods: Sequence[MethodName]) -> dict[str, Json]:
    rig = plan.source.rig(name)
    set_of = plan.source.problems(rig, kind, plan.at_most(plan.count), plan.seed)
    served: dict[str, Contender] = {}
    for method in methods:
        ours = Ours(rig, method=method, backend=plan.backend if method == "default" else "numpy")
        if not ours.solve(set_of.targets[0], set_of.turns[0]).unserved:
            served[method] = ours
    records = round_robin(served, set_of, plan.budget_s / 4.0, f"{name} {kind} by method")
    return {method: judged(plan.source, rig, set_of, served[method], record) for method, record in records.items()}


# --- batch: ten thousand problems in one call


def measure_batch(plan: Plan) -> dict[str, Json]:
    """By class and number of threads, one and all: solves a second and valid solutions."""
    rig = plan.source.rig(plan.source.sets[0])
    cores = os.cpu_count() or 1
    classes: dict[str, Json] = {}
    for kind in watched("batches", PARTS, len(PARTS)):
        set_of = plan.source.problems(rig, kind, plan.at_most(_BATCH), plan.seed)
        found: dict[str, Json] = {}
        for threads in sorted({1, cores}):
            seconds, valid = _batch_s(plan, rig, set_of, threads)
            rate = len(set_of) / seconds
            found[f"threads_{threads}"] = {"problems": len(set_of), "valid": valid, "solves_per_s": rate}
        classes[kind] = found
    return {"rig": rig.name, "cores": cores, "classes": classes}


def _batch_s(plan: Plan, rig: Rig, set_of: Problems, threads: int) -> tuple[float, int]:
    """Seconds of one call (median), valid solutions."""
    solver = Solver(rig.skeleton, rig.goals(), backend=plan.backend)
    rest = rig.skeleton.rest_pose()
    turns = set_of.turns if rig.turned.any() else None
    call = partial(solver.solve_batch, rest, set_of.targets, target_rotations=turns, threads=threads)
    many = call()  # also loads the kernels
    found = plan.source.score(rig, set_of.targets, set_of.turns, many.rotations, many.translations)
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


# --- dragging: how close the effectors stay to the cursor, and how far joints jump


def measure_drag(plan: Plan) -> dict[str, Json]:
    """By set: smooth motions, followed from rest."""
    names = plan.some(plan.source.sets)
    return {name: _follow(plan, plan.source.rig(name)) for name in watched("dragging", names, len(names))}


def _follow(plan: Plan, rig: Rig) -> Json:
    solver = Solver(rig.skeleton, rig.goals(), backend=plan.backend)
    metres, steps, seconds, outside = [], [], [], []
    for motion in plan.source.drags(rig, plan.at_most(_SEQUENCES), 20 if plan.quick else _FRAMES, plan.seed):
        drag = solver.drag(rig.skeleton.rest_pose())
        solved = [
            drag.move(targets, target_rotations=turns, iterations=_ITERATIONS)
            for targets, turns in zip(motion.targets, motion.turns, strict=True)
        ]
        rotations = np.array([one.pose.rotations for one in solved])
        translations = np.array([one.pose.translations for one in solved])
        found = plan.source.score(rig, motion.targets, motion.turns, rotations, translations)
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
    return np.degrees(angle_between(rotations[:-1], rotations[1:]))
