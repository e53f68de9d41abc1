"""Contact beside other programs: distances by MuJoCo and by sampling, and mink with its collision limit.

    python benchmarks/contact_peers.py [distances] [mink] [--count 60] [--seed 1]

distances: our measures of thousands of random pairs against places sampled densely, against `mj_geomDistance`, and for
meshes against their triangles.
mink: the same figure (the biped, its ranges as those of stacked hinges, which mink has), the same capsules, pairs and
targets, from rest, one thread, in turns: answers that meet all goals and go through nothing, and milliseconds (median).
It is tuned on other problems, once for large steps and once for small ones.

The packages come with ``pip install '.[bench]'``; what is missing is named and left out.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from contact_distances import (
    Field,
    Floats,
    Judge,
    along_axes,
    between_axes,
    bodies_with_pairs,
    field_of,
    joint_frames,
    rotation_matrices,
    sampled_between,
)
from contact_problems import PERSON_FEET, PERSON_HANDS, beside_the_body, figure_of, free_poses
from numpy.typing import NDArray
from problem_sets import as_hinges
from rivals.contact import MinkApart, Tuning

import viewer
from viewer import Contact, Solver
from viewer.cli.bench_measures import Rig
from viewer.ik.backends import warm_up
from viewer.ik.contact.values import distance_grid
from viewer.spatial.closest import capsule_to_ball, capsule_to_box, capsule_to_capsule, capsule_to_grid

PAIRS = 4000
MET_M, MET_RAD, THROUGH_M = 1e-3, np.radians(0.5), 1e-3


def main() -> None:
    """Measure, and print a table for each part."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    made.add_argument("--count", type=int, default=60, metavar="N", help="problems of each set")
    made.add_argument("--seed", type=int, default=1)
    given = made.parse_args()
    for part in given.parts or PARTS:
        PARTS[part](given.count, given.seed)


# --- distances


class Segments(NamedTuple):
    """Axes of capsules: start (N, 3), way (N, 3), radius (N,)."""

    start: Floats
    way: Floats
    radius: Floats


def axes(random: np.random.Generator, size: float, count: int = PAIRS) -> Segments:
    """Random ones; some are points, some very short."""
    start, way = random.uniform(-size, size, (2, count, 3))
    way[::17] = 0.0
    way[2::19] *= 1e-7
    return Segments(start, way, random.uniform(0.02 * size, 0.2 * size, count))


def distances(count: int, seed: int) -> None:
    """Largest differences of our gaps from each judge, metres."""
    del count
    random = np.random.default_rng([seed, 97])
    mujoco: Any = import_module("mujoco") if find_spec("mujoco") else None
    print(
        f"distances        pairs  against sampling  against {'MuJoCo' if mujoco else 'MuJoCo (not installed)'}, apart"
    )
    one, other = axes(random, 1.0), axes(random, 1.0)
    other.way[3::11] = 2.0 * one.way[3::11]
    gaps = capsule_to_capsule(
        planes(one.start), planes(one.way), one.radius, planes(other.start), planes(other.way), other.radius
    )[0]
    judged = between_axes(one.start, one.way, other.start, other.way)
    plain = sampled_between(one.start, one.way, other.start, other.way)
    assert (judged <= plain).all()
    _print(
        "capsule, capsule", gaps, judged - one.radius - other.radius, mujoco, one, [_geom(o) for o in rows_of(other)]
    )

    center, radius = random.uniform(-1.0, 1.0, (PAIRS, 3)), random.uniform(0.05, 0.5, PAIRS)
    gaps = capsule_to_ball(planes(one.start), planes(one.way), one.radius, planes(center), radius)[0]
    balls = [viewer.Sphere("ball", c, r) for c, r in zip(center, radius.tolist(), strict=True)]
    geoms = [f'type="sphere" size="{b.radius!r}" pos="{words(b.center)}"' for b in balls]
    _print("capsule, ball", gaps, sampled(one, [field_of(b) for b in balls]), mujoco, one, geoms)

    half, turn = random.uniform(0.05, 0.5, (PAIRS, 3)), random.normal(size=(PAIRS, 4))
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    spin = (*planes(turn), turn[:, 3])
    gaps = capsule_to_box(planes(one.start), planes(one.way), one.radius, planes(center), spin, planes(half))[0]
    boxes = [viewer.Box("box", c, 2.0 * h, q) for c, h, q in zip(center, half, turn, strict=True)]
    judged = sampled(one, [field_of(b) for b in boxes])
    geoms = [
        f'type="box" size="{words(h)}" pos="{words(c)}" quat="{words(q[[3, 0, 1, 2]])}"'
        for c, h, q in zip(center, half, turn, strict=True)
    ]
    _print("capsule, box", gaps, judged, mujoco, one, geoms, judged > -one.radius)
    _meshes(random)


def _print(
    name: str,
    gaps: Floats,
    judged: Floats,
    mujoco: Any,  # noqa: ANN401 - the module, or None
    one: Segments,
    geoms: list[str],
    some: NDArray[np.bool_] | None = None,
) -> None:
    """Largest differences among ``some``: an axis inside of a box has to go farther than its deepest place says."""
    some = np.ones(len(gaps), dtype=np.bool_) if some is None else some
    text = f"{name:16} {some.sum():5}  {np.abs(gaps - judged)[some].max():16.1e}"
    if mujoco is not None:
        off = np.abs(gaps - _by_mujoco(mujoco, [_geom(axis) for axis in rows_of(one)], geoms))
        text += f"  {off[gaps > 0.0].max():21.1e}  {off[some & (gaps < 0.0)].max():11.1e}"
    print(text, flush=True)


def _by_mujoco(mujoco: Any, geoms: list[str], others: list[str]) -> Floats:  # noqa: ANN401
    """(N,) distances of geoms from others."""
    parts = [f'<geom contype="0" conaffinity="0" {geom}/>' for geom in (*geoms, *others)]
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{''.join(parts)}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    count = len(geoms)
    return np.array([mujoco.mj_geomDistance(model, data, at, count + at, 10.0, None) for at in range(count)])


def _geom(axis: Segments) -> str:
    if np.linalg.norm(axis.way) < 1e-5:  # MuJoCo wants capsules of some length
        return f'type="sphere" size="{float(axis.radius)!r}" pos="{words(axis.start)}"'
    return f'type="capsule" size="{float(axis.radius)!r}" fromto="{words([*axis.start, *(axis.start + axis.way)])}"'


def words(numbers: Any) -> str:  # noqa: ANN401 - any sequence of numbers
    return " ".join(repr(float(number)) for number in numbers)


def rows_of(table: Segments) -> list[Segments]:
    return [Segments(*row) for row in zip(*table, strict=True)]


def planes(rows: Floats) -> tuple[Floats, Floats, Floats]:
    return rows[:, 0], rows[:, 1], rows[:, 2]


def sampled(one: Segments, fields: list[Field]) -> Floats:
    """(N,) gaps of capsules from an object each."""
    gaps = [along_axes(field, p[None], u[None])[0] for field, p, u in zip(fields, one.start, one.way, strict=True)]
    return np.array(gaps) - one.radius


MESH_PAIRS = 100
STRATA_MM = (-2.0, 2.0, 10.0, 50.0)


def _meshes(random: np.random.Generator) -> None:
    """Capsules of three radii at meshes of 10 to 20 cm; by how much they are apart."""
    try:
        from contact_objects import meshes
    except ImportError as error:
        print(f"meshes: {error}")
        return
    print(f"meshes             pairs  radius mm  cell mm   mm off, largest, with a gap of {STRATA_MM} mm at most")
    for name, mesh in meshes().items():
        assert mesh.vertices is not None
        low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
        grid, field = distance_grid(mesh), field_of(mesh)
        for radius in (0.008, 0.035, 0.1):
            start = random.uniform(low - 1.5 * radius - 0.01, high + 1.5 * radius + 0.01, (MESH_PAIRS, 3))
            way = random.uniform(-3.0 * radius, 3.0 * radius, (MESH_PAIRS, 3))
            true = along_axes(field, start, way) - radius
            shape, turn = np.array([grid.values.shape], dtype=np.float64), (0.0, 0.0, 0.0, 1.0)
            gaps = capsule_to_grid(
                planes(start), planes(way), radius, (0.0, 0.0, 0.0), turn,
                grid.values.ravel(), 0, planes(shape), planes(grid.low[None]), grid.cell,
            )[0]  # fmt: skip
            off, bounds = 1e3 * np.abs(gaps - true), (-np.inf, *STRATA_MM, np.inf)
            parts = [
                f"{off[(1e3 * true > low_) & (1e3 * true <= high_)].max(initial=0.0):6.2f}"
                for low_, high_ in pairwise(bounds)
            ]
            print(
                f"{name:16} {len(gaps):7}  {1e3 * radius:9.0f}  {1e3 * grid.cell:7.2f}   {' '.join(parts)}", flush=True
            )


# --- mink

LARGE = [
    Tuning(1.0, 60, gain, least, seen, relaxation)
    for gain, least, seen, relaxation in product((0.5, 0.85), (0.0, 0.003), (0.02, 0.1), (0.0, -1e-3))
]
SMALL = [
    Tuning(task_gain, 300, 0.5, least, seen, relaxation)
    for task_gain, least, seen, relaxation in product((0.1, 0.2), (0.0, 0.003), (0.03, 0.1), (0.0, -1e-3))
]
TRIALS = 10


class Tried(NamedTuple):
    """Of one solve: whether goals are met inside the limits, the least gap in metres, seconds."""

    met: bool
    gap: float
    seconds: float

    @property
    def good(self) -> bool:
        """Whether it meets all goals and goes through nothing."""
        return self.met and self.gap >= -THROUGH_M


class Ours:
    """`viewer.Solver` with contact."""

    def __init__(self, rig: Rig, contact: Contact | None) -> None:
        """Make the solver once."""
        self.solver = Solver(rig.skeleton, rig.goals(), backend="numba", contact=contact)
        self.rest = rig.skeleton.rest_pose()

    def solve(self, targets: Floats, turns: Floats) -> viewer.Solution:
        """Solve from rest."""
        return self.solver.solve(self.rest, targets=targets, target_rotations=turns)

    def pose(self, answer: viewer.Solution) -> tuple[Floats, Floats]:
        """Rotations and translations."""
        return answer.pose.rotations, answer.pose.translations


def tried(one: Any, rig: Rig, judge: Judge, targets: Floats, turns: Floats) -> list[Tried]:  # noqa: ANN401 - contenders
    """Solve problems (N, G, 3), (N, G, 4) one after the other."""
    found = []
    for places, spins in zip(targets, turns, strict=True):
        begun = time.perf_counter()
        answer = one.solve(places, spins)
        seconds = time.perf_counter() - begun
        pose = viewer.Pose(*one.pose(answer))
        at, frames = joint_frames(rig.skeleton, pose)
        here = at[rig.joints] + np.einsum("gij,gj->gi", frames[rig.joints], rig.offsets)
        cosine = 0.5 * (np.einsum("gij,gij->g", frames[rig.joints], rotation_matrices(spins)) - 1.0)
        met = bool(
            np.linalg.norm(here - places, axis=1).max() <= MET_M
            and np.arccos(np.clip(cosine, -1.0, 1.0))[rig.turned].max(initial=0.0) <= MET_RAD
            and np.max(viewer.limit_violation(rig.skeleton, pose)) <= 1e-3
        )
        found.append(Tried(met, judge.depths(pose).bodies, seconds))
    return found


def mink(count: int, seed: int) -> None:
    """Free answers and time, with the same capsules, pairs and targets."""
    missing = [name for name in ("mujoco", "mink", "daqp") if find_spec(name) is None]
    if missing:
        print(f"mink: left out, because {', '.join(missing)} cannot be imported")
        return
    warm_up()
    skeleton = as_hinges(viewer.load("sample:biped").skeleton)
    bodies = bodies_with_pairs(skeleton)
    judge = Judge(skeleton, Contact(bodies=True))
    print("mink                               met  met and free  deepest mm      ms    times ours")
    for name, rig, make in (
        ("free poses", Rig.of("all", skeleton, [one.name for one in skeleton.effectors]), _from_free_poses),
        ("beside the body", Rig.of("hands", skeleton, [*PERSON_HANDS, *PERSON_FEET], PERSON_FEET), _beside),
    ):
        trials = make(rig, TRIALS, seed + 1000)
        contenders: dict[str, Any] = {
            "ikviewer, no contact": Ours(rig, None),
            "ikviewer": Ours(rig, Contact(bodies=True)),
            "mink, large steps": _tuned(LARGE, rig, bodies, judge, trials),
            "mink, small steps": _tuned(SMALL, rig, bodies, judge, trials),
        }
        targets, turns = make(rig, count, seed)
        found: dict[str, list[Tried]] = {label: [] for label in contenders}
        for one in contenders.values():
            tried(one, rig, judge, targets[:1], turns[:1])
        for first in range(0, count, 10):
            for label, one in contenders.items():
                found[label] += tried(one, rig, judge, targets[first : first + 10], turns[first : first + 10])
        print(f"{name}, {count} problems")
        ours = np.median([one.seconds for one in found["ikviewer"]])
        for label, answers in found.items():
            seconds = np.median([one.seconds for one in answers])
            met, good = sum(one.met for one in answers), sum(one.good for one in answers)
            deepest = -1e3 * min(0.0, *(one.gap for one in answers))
            print(
                f"  {label:28} {met:6}  {good:12}  {deepest:10.2f}  {1e3 * seconds:6.2f}  {seconds / ours:12.1f}"
                f"  {getattr(contenders[label], 'tuning', '')}",
                flush=True,
            )


def _tuned(choices: list[Tuning], rig: Rig, bodies: viewer.Bodies, judge: Judge, trials: tuple[Floats, Floats]) -> Any:  # noqa: ANN401
    """The choice with the most good answers, then the fastest."""

    def rank(tuning: Tuning) -> tuple[int, float]:
        found = tried(MinkApart(rig, bodies, tuning), rig, judge, *trials)
        return -sum(one.good for one in found), float(np.median([one.seconds for one in found]))

    return MinkApart(rig, bodies, min(choices, key=rank))


def _from_free_poses(rig: Rig, count: int, seed: int) -> tuple[Floats, Floats]:
    figure = figure_of("hinges", rig.skeleton)
    targets = np.array([figure.places(pose) for pose in free_poses(figure, count, seed)])
    return targets, np.tile([0.0, 0.0, 0.0, 1.0], (*targets.shape[:2], 1))


def _beside(rig: Rig, count: int, seed: int) -> tuple[Floats, Floats]:
    """Hands beside the body, feet where they are at rest and turned as there."""
    figure = figure_of("hands", rig.skeleton, (*PERSON_HANDS, *PERSON_FEET))
    rest = figure.places(rig.skeleton.rest_pose())
    targets = np.tile(rest, (count, 1, 1))
    targets[:, :2] = beside_the_body(rig.skeleton, count, seed)
    turns = viewer.fk(rig.skeleton, rig.skeleton.rest_pose()).rotations[rig.joints]
    return targets, np.tile(turns, (count, 1, 1))


PARTS = {"distances": distances, "mink": mink}

if __name__ == "__main__":
    main()
