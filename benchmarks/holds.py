"""Holds that yield in drags: is what is dragged met, and what does it cost the others?

    python benchmarks/holds.py [drags] [near] [reaches] [far] [--seed 1] [--sequences 30] [--rigs NAME,NAME]

Every part compares *firm* holds, which only weigh less than what is dragged, with holds that *yield*: pins are of
level 0, what is dragged of level 1, holds of level 2.

drags: one effector along a smooth path of some parts of the figure's size, among the default holds and pins, and home.
Following: frames in which it is within 1 mm of its target. Joint step: degrees that the joint which turns most turns
from frame to frame. Acceleration: millimetres a frame squared of the joint that accelerates most. Caught: frames in
which it is missed although a solve without the holds meets it (every tenth frame is asked).
near: paths of a twentieth of the size, which holds mostly allow: do they stay within 1 mm?
reaches: one effector goes to a random place that a solve without the holds meets, and back. Met: within 1 mm after it
has rested there; offered: or by the pose that a release offers there; at a limit because of a hold: joints that are at
one neither at the start nor in the same drag without the holds, which is printed as *none*.
far: a hand of the biped goes to (1.01, 1.67, 0.37) and back.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import viewer
from viewer import Goal, Solver
from viewer.cli.bench_measures import joint_steps
from viewer.ik.backends import warm_up
from viewer.ik.drag import Drag
from viewer.ik.goals.pose_goal import holds
from viewer.skeleton import Pose, Skeleton

Floats = NDArray[np.float64]
RIGS = ("biped", "biped-hands", "claw-arm", "raptor")
SIZES = (0.1, 0.25, 0.5)
SMALL = 0.05
WORDS = ("firm", "yield")
FRAMES, REST, ASKED = 240, 60, 10
MET_M, HOME_M = 1e-3, 1e-4
FAR = (1.01, 1.67, 0.37)


def main() -> None:
    """Measure, and print a table for each part."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--sequences", type=int, default=30, metavar="N", help="drags, or reaches, of each rig")
    made.add_argument("--rigs", default=",".join(RIGS), help="names of samples, with commas between them")
    given = made.parse_args()
    warm_up()
    for part in given.parts or PARTS:
        PARTS[part](given.rigs.split(","), given.sequences, given.seed)


@dataclass(frozen=True)
class Scene:
    """A sample with its default holds.

    Attributes:
        skeleton, start: the figure and its pose.
        kept: the goals of a window that has just opened it.
        free: places of those that may be dragged.
        size: metres.
    """

    skeleton: Skeleton
    start: Pose
    kept: tuple[Goal, ...]
    free: tuple[int, ...]
    size: float

    @classmethod
    def of(cls, name: str) -> Scene:
        """The scene of a sample."""
        skeleton = viewer.load(f"sample:{name}").skeleton
        start = skeleton.relaxed_pose()
        kept = holds(skeleton, start)
        free = tuple(g for g, goal in enumerate(kept) if not goal.pinned and goal.target is not None)
        return cls(skeleton, start, kept, free, float(np.ptp(viewer.fk(skeleton, start).positions, axis=0).max()))

    def solver(self, dragged: int, word: str) -> Solver:
        """The solver of a drag of one effector."""
        if word == "none":
            return self.released(dragged)
        return Solver(self.skeleton, [as_asked(goal, g == dragged, word) for g, goal in enumerate(self.kept)])

    def released(self, dragged: int) -> Solver:
        """The solver without the holds."""
        some = [replace(goal, enabled=goal.pinned or g == dragged) for g, goal in enumerate(self.kept)]
        return Solver(self.skeleton, some)

    def places(self, pose: Pose) -> Floats:
        """(J, 3) metres, of the joints."""
        return viewer.fk(self.skeleton, pose).positions


def as_asked(goal: Goal, dragged: bool, word: str) -> Goal:
    """A goal as a drag asks for it."""
    if word == "yield":
        hold = not (dragged or goal.pinned)
        return replace(goal, level=0 if goal.pinned else 2 if hold else 1, hold=hold)
    factor = 5.0 if dragged or goal.pinned else 1.0
    return replace(goal, weight=factor * goal.weight, rotation_weight=factor * goal.rotation_weight)


@dataclass
class Dragged:
    """What one drag did.

    Attributes:
        error: (F,) metres that what is dragged is off.
        steps: (F,) degrees.
        acceleration: (F,) millimetres a frame squared.
        kept: (F,) metres that the worst hold is off.
        pins: metres that the worst pin is off.
        home: metres from the start at the end.
        caught: part of the frames asked.
    """

    error: Floats
    steps: Floats
    acceleration: Floats
    kept: Floats
    pins: float
    home: float
    caught: float


def dragged(scene: Scene, held: int, path: Floats, word: str) -> Dragged:
    """Drag along a path (F, 3) of ways from the start, which ends there, and rest."""
    solver = scene.solver(held, word)
    drag, targets = solver.drag(scene.start), np.full((len(scene.kept), 3), np.nan)
    here, found = np.array(scene.kept[held].target), []
    for away in np.concatenate([path, np.zeros((REST, 3))]):
        targets[held] = here + away
        found.append(drag.move(targets))
    off = np.array([one.errors_m for one in found[: len(path)]])
    others = [g for g in range(len(scene.kept)) if g != held]
    pins = [g for g in others if scene.kept[g].pinned]
    yielding = [g for g in others if not scene.kept[g].pinned]
    places = np.array([scene.places(scene.start), *(scene.places(one.pose) for one in found)])
    second = np.diff(places, 2, axis=0)
    return Dragged(
        error=off[:, held],
        steps=joint_steps(np.array([scene.start.rotations, *(one.pose.rotations for one in found)])).max(axis=1),
        acceleration=1e3 * np.linalg.norm(second, axis=-1).max(axis=1),
        kept=np.nanmax(off[:, yielding], axis=1, initial=0.0),
        pins=float(np.nanmax(off[:, pins], initial=0.0)),
        home=float(np.linalg.norm(places[-1] - places[0], axis=1).max()),
        caught=_caught(scene, held, path, off[:, held]),
    )


def _caught(scene: Scene, held: int, path: Floats, off: Floats) -> float:
    released, here = scene.released(held), np.array(scene.kept[held].target)
    targets, missed = np.full((len(scene.kept), 3), np.nan), 0
    asked = range(0, len(path), ASKED)
    for i in asked:
        if off[i] > MET_M:
            targets[held] = here + path[i]
            missed += released.solve(scene.start, targets).status == "converged"
    return missed / len(asked)


def eased(keys: Floats, frames: int = FRAMES) -> Floats:
    """(F, 3) a path from 0 through keys (K, 3) and back, slow at each."""
    keys = np.concatenate([np.zeros((1, 3)), keys, np.zeros((1, 3))])
    place = np.linspace(0.0, len(keys) - 1.0, frames)
    before = np.minimum(place.astype(int), len(keys) - 2)
    part = (place - before)[:, None]
    part = part * part * (3.0 - 2.0 * part)
    path: Floats = keys[before] * (1.0 - part) + keys[before + 1] * part
    return path


def drags(names: Sequence[str], count: int, seed: int) -> None:
    """Following, steps and the way home, by rig, size and holds."""
    print("drags        size  holds  followed %  caught %  step p99 / max deg  accel p99 / max  pins mm  not home")
    for name in names:
        scene = Scene.of(name)
        for part in SIZES:
            for word in WORDS:
                rows = list(_sequences(scene, part, count, seed, word))
                errors, steps, acceleration = (
                    np.concatenate([getattr(row, what) for row in rows]) for what in ("error", "steps", "acceleration")
                )
                print(
                    f"{name:12} {part:4}  {word:5}  {100.0 * (errors < MET_M).mean():10.2f}"
                    f"  {100.0 * np.mean([row.caught for row in rows]):8.2f}"
                    f"  {np.percentile(steps, 99.0):10.2f} / {steps.max():5.1f}"
                    f"  {np.percentile(acceleration, 99.0):9.1f} / {acceleration.max():5.0f}"
                    f"  {1e3 * max(row.pins for row in rows):7.2f}"
                    f"  {sum(row.home > HOME_M for row in rows):8}",
                    flush=True,
                )


def _sequences(scene: Scene, part: float, count: int, seed: int, word: str) -> Iterator[Dragged]:
    random = np.random.default_rng([seed, int(1000 * part)])
    for i in range(count):
        keys = part * scene.size * random.uniform(-1.0, 1.0, (3, 3))
        yield dragged(scene, scene.free[i % len(scene.free)], eased(keys), word)


def near(names: Sequence[str], count: int, seed: int) -> None:
    """Whether drags that the holds allow leave them alone."""
    print("near         holds  followed %  kept % of frames  kept where firm holds are %  yields mm there, p99 / max")
    for name in names:
        scene = Scene.of(name)
        firm, yielding = (list(_sequences(scene, SMALL, count, seed, word)) for word in WORDS)
        allowed = np.concatenate([(row.kept < MET_M) & (row.error < MET_M) for row in firm])
        for word, rows in zip(WORDS, (firm, yielding), strict=True):
            kept = np.concatenate([row.kept for row in rows])
            there = kept[allowed]
            followed = np.concatenate([row.error for row in rows]) < MET_M
            print(
                f"{name:12} {word:5}  {100.0 * followed.mean():10.2f}  {100.0 * (kept < MET_M).mean():16.2f}"
                f"  {100.0 * (there < MET_M).mean():27.2f}"
                f"  {1e3 * np.percentile(there, 99.0):15.2f} / {1e3 * there.max():.2f}",
                flush=True,
            )


def reaches(names: Sequence[str], count: int, seed: int) -> None:
    """Random places that exist without the holds."""
    print(
        "reaches      holds  count  met %  offered %  worst mm  at a limit because of a hold: reaches, joints  not home"
    )
    for name in names:
        scene = Scene.of(name)
        found = list(_reaches(scene, count, seed))
        for word in (*WORDS, "none"):
            rows = [reached(scene, held, place, word) for held, place, _ in found]
            limits = [len(row.limits - spared) for row, (_, _, spared) in zip(rows, found, strict=True)]
            print(
                f"{name:12} {word:5}  {len(rows):5}  {100.0 * np.mean([row.error < MET_M for row in rows]):5.1f}"
                f"  {100.0 * np.mean([row.offered < MET_M for row in rows]):9.1f}"
                f"  {1e3 * max(row.error for row in rows):8.1f}  {np.count_nonzero(limits):36}, {sum(limits):6}"
                f"  {sum(row.home > HOME_M for row in rows):8}",
                flush=True,
            )


def _reaches(scene: Scene, count: int, seed: int) -> Iterator[tuple[int, Floats, set[str]]]:
    """An effector, where it can be, and joints that are at a limit there or at the start without the holds."""
    random, found = np.random.default_rng([seed, 77]), 0
    bounds = scene.places(scene.start).min(axis=0), scene.places(scene.start).max(axis=0)
    while found < count:
        held = scene.free[found % len(scene.free)]
        solver = scene.released(held)
        targets = np.full((len(scene.kept), 3), np.nan)
        targets[held] = random.uniform(bounds[0] - 0.3 * scene.size, bounds[1] + 0.3 * scene.size)
        alone = solver.solve(scene.start, targets)
        if alone.status == "converged":
            found += 1
            yield held, targets[held].copy(), _limits_without_holds(scene, solver, held, targets[held])


def _limits_without_holds(scene: Scene, solver: Solver, held: int, place: Floats) -> set[str]:
    """Joints at a limit in the start pose, and in that which the same drag without the holds ends in."""
    drag = solver.drag(scene.start)
    begun = set(drag.move().at_limit)
    return begun | set(_gone(drag, scene, held, place).at_limit)


def _gone(drag: Drag, scene: Scene, held: int, place: Floats) -> viewer.Solution:
    here, targets = np.array(scene.kept[held].target), np.full((len(scene.kept), 3), np.nan)
    for part in [*np.linspace(0.0, 1.0, 41)[1:].tolist(), *[1.0] * 60]:
        targets[held] = here + part * (place - here)
        last = drag.move(targets)
    return last


@dataclass
class Reached:
    """What a reach did.

    Attributes:
        error, offered: metres off, after the drag and in the pose that a release there offers.
        holds: (G,) metres that each goal is off.
        limits: joints at a limit.
        home: metres from the start in the end.
        status: of the drag, there.
    """

    error: float
    offered: float
    holds: Floats
    limits: set[str]
    home: float
    status: str


def reached(scene: Scene, held: int, place: Floats, word: str) -> Reached:
    """Drag an effector to a place, rest there, and come back."""
    drag = scene.solver(held, word).drag(scene.start)
    there = _gone(drag, scene, held, place)
    escape = drag.escape() or there
    here, targets = np.array(scene.kept[held].target), np.full((len(scene.kept), 3), np.nan)
    for part in [*np.linspace(1.0, 0.0, 41)[1:].tolist(), *[0.0] * 60]:
        targets[held] = here + part * (place - here)
        back = drag.move(targets)
    home = np.linalg.norm(scene.places(back.pose) - scene.places(scene.start), axis=1).max()
    off, offered = float(there.errors_m[held]), float(escape.errors_m[held])
    return Reached(off, min(off, offered), there.errors_m, set(there.at_limit), float(home), str(there.status))


def far(names: Sequence[str], count: int, seed: int) -> None:
    """The hand that the head's hold keeps from its target."""
    del names, count, seed
    scene = Scene.of("biped")
    held = next(g for g, goal in enumerate(scene.kept) if goal.effector == "LeftHand")
    spared = _limits_without_holds(scene, scene.released(held), held, np.array(FAR))
    print("far          holds  hand mm  status       home mm  holds mm; at a limit, of these because of a hold")
    for word in WORDS:
        row = reached(scene, held, np.array(FAR), word)
        yields = ", ".join(f"{1e3 * error:.0f}" for g, error in enumerate(row.holds) if g != held)
        print(
            f"biped        {word:5}  {1e3 * row.error:7.2f}  {row.status:11}  {1e3 * row.home:7.3f}  {yields};"
            f" {len(row.limits)}: {', '.join(sorted(row.limits - spared)) or 'none'}",
            flush=True,
        )


PARTS: dict[str, Callable[[Sequence[str], int, int], None]] = {
    "drags": drags,
    "near": near,
    "reaches": reaches,
    "far": far,
}

if __name__ == "__main__":
    main()
