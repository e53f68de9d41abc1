"""Physics: speed, the largest push that is withstood, recovery after a ball, random rigs under pushes and balls.

    python benchmarks/physics.py [speed|pushes|balls|random] [--rigs 500] [--first 10000] [--seconds 10]

Rigs of `random` are those of the tests, from seeds that no test uses.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from rigs import random_pose, random_skeleton

import viewer
from viewer import InputError, Physics

FIGURES = ("biped", "biped-hands", "quadruped", "raptor", "claw-arm")


def ends(skeleton: viewer.Skeleton, pose: viewer.Pose) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    world = viewer.fk(skeleton, pose)
    return np.array([world.point(one.joint, np.array(one.offset)) for one in skeleton.effectors])


def speed() -> None:
    """Seconds simulated per second, at 60 frames of 4 steps, Python included."""
    for name in FIGURES:
        sim = Physics(viewer.load(f"sample:{name}").skeleton)
        sim.step(0.1)
        found = []
        for _ in range(5):
            began = perf_counter()
            for _ in range(60):
                sim.step(1.0 / 60.0)
            found.append(1.0 / (perf_counter() - began))
        print(f"{name:<12} {statistics.median(found):6.1f} x real time")


def pushes() -> None:
    """The largest impulse at the chest after which the biped stands 5 s later, newton seconds."""
    skeleton = viewer.load("sample:biped").skeleton
    for assist in ("helped", "held"):
        row = []
        for way in ((0, 0, 1), (0, 0, -1), (1, 0, 0), (-1, 0, 0)):
            most = 0
            for impulse in range(10, 161, 10):
                sim = Physics(skeleton, assist=assist)
                start = sim.pose.translations[0][1]
                sim.push("Spine2", np.array(way) * float(impulse), at=0.5)
                for _ in range(330):
                    sim.step(1.0 / 60.0)
                if sim.pose.translations[0][1] < 0.9 * start:
                    break
                most = impulse
            row.append(most)
        print(f"{assist:<7} forward {row[0]}, back {row[1]}, left {row[2]}, right {row[3]} N s (160 is the most tried)")


def balls() -> None:
    """Seconds until all effectors are within 5 mm again after a ball of the usual mass at 8 m/s from the front."""
    for name in FIGURES:
        skeleton = viewer.load(f"sample:{name}").skeleton
        sim = Physics(skeleton)
        for _ in range(300):  # it settles on the floor
            sim.step(1.0 / 60.0)
        start = ends(skeleton, sim.pose)
        middle = viewer.fk(skeleton, sim.pose).positions.mean(axis=0)
        away = 1.2 * sim.model.height
        sim.throw(middle + np.array((0.0, 0.0, away)), (0.0, 0.5 * 9.81 * away / 8.0, -8.0))
        last, farthest = 0.0, 0.0
        for frame in range(180):
            off = float(np.linalg.norm(ends(skeleton, sim.step(1.0 / 60.0)) - start, axis=-1).max())
            farthest = max(farthest, off)
            last = (frame + 1) / 60.0 if off > 0.005 else last
        hit = away / 8.0
        print(f"{name:<12} off by {1e3 * farthest:5.0f} mm, back after {max(last - hit, 0.0):.2f} s, "
              f"contact {1e3 * sim.deepest:.1f} mm deep")  # fmt: skip


def rigs(first: int, count: int, seconds: float) -> None:
    """Random rigs, pushed every half second by 3 m/s of the joint's effective mass, hit by a ball every second."""
    bad, over, slid, deep, stuck, began = [], [], 0.0, [], [], perf_counter()
    farthest = (0.0, 0, 0)  # degrees over, seed, frame
    for seed in range(first, first + count):
        random = np.random.default_rng(seed)
        skeleton = random_skeleton(random, int(random.integers(3, 40)))
        try:
            sim = Physics(skeleton, random_pose(random, skeleton))
        except InputError as error:
            if "can move" in str(error):
                continue
            bad.append(f"{seed}: {error}")
            continue
        try:
            for frame in range(round(60 * seconds)):
                if frame % 30 == 0:
                    joint, way = str(random.choice(skeleton.names)), random.normal(size=3)
                    way /= np.linalg.norm(way)
                    sim.push(joint, 3.0 * sim.effective_mass(joint, way) * way)
                if frame % 60 == 0:
                    x, y, z = viewer.fk(skeleton, sim.pose).positions.mean(axis=0).tolist()
                    above_floor = max(y, 2.0 * sim.model.ball_radius)
                    sim.throw((x, above_floor, z + sim.model.height + 0.5), (0.0, 0.0, -8.0))
                sim.step(1.0 / 60.0)
        except InputError as error:
            bad.append(f"{seed}: {error}")
            continue
        from viewer.skeleton import clip_violation

        turning = np.array([kind.value != "slide" for kind in skeleton.kinds])
        violation = clip_violation(skeleton, sim.clip)
        degrees = np.degrees(violation[:, turning])
        over.append(degrees.ravel())
        if degrees.size:
            farthest = max(farthest, (float(degrees.max()), seed, int(degrees.max(axis=1).argmax())))
        slid = max(slid, float(violation[:, ~turning].max(initial=0.0)))
        deep.append((sim.deepest, seed))
        stuck += [f"{seed}: {one.words}" for one in sim.stuck]
    print(f"{count - len(bad)} of {count} rigs finite for {seconds:g} s; {perf_counter() - began:.0f} s")
    for line in [*bad[:10], *stuck]:
        print("  " + line)
    if not over:
        return
    every = np.concatenate(over)
    worst = ", ".join(f"{name} {value:.1f}" for name, value in (
        ("p99", np.quantile(every, 0.99)), ("p99.9", np.quantile(every, 0.999)), ("worst", every.max())))  # fmt: skip
    print(f"limits over, degrees: {worst} (rig {farthest[1]}, frame {farthest[2]}); slides {1e3 * slid:.2f} mm")
    deepest, rig = max(deep)
    middle = statistics.median(depth for depth, _ in deep)
    print(f"contacts deep, mm: median {1e3 * middle:.1f}, worst {1e3 * deepest:.1f} (rig {rig})")
    print(f"parts that overlap at the start and cannot come apart: {len(stuck)}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=["speed", "pushes", "balls", "random"])
    parser.add_argument("--rigs", type=int, default=500)
    parser.add_argument("--first", type=int, default=10_000, help="the first seed")
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, Python {sys.version.split()[0]}")
    for part in options.parts:
        print(f"\n{part}")
        if part == "random":
            rigs(options.first, options.rigs, options.seconds)
        else:
            {"speed": speed, "pushes": pushes, "balls": balls}[part]()


if __name__ == "__main__":
    main()
