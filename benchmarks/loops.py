"""Goals of several effectors: do hands that hold together stay together, and does a figure stay in balance?

    python benchmarks/loops.py [hands] [drags] [balance] [--count 200] [--seed 1] [--backend NAME]

hands: a biped stands on pinned feet, both hands on one thing before it; one hand is asked to be up to 25 cm elsewhere.
Of those that it reaches, the other hand's place and rotation in the frame of the first are measured.
drags: the same by drags of 60 frames, as the window makes them.
balance: from a balanced standing pose, feet pinned, a hand reaches half as far again as the arm is long; the hand is to
be there and the centre of mass inside the support polygon by the margin. Targets that are not met without the goal for
balance are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np

import viewer
from viewer import Goal, Solution, Solver
from viewer.choices import Backend
from viewer.ik.solver import warm_up
from viewer.skeleton import Pose, find_balance
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import angle_between, conjugate, multiply, rotate

BIPED = viewer.load("sample:biped").skeleton
FEET = (Goal.pin("LeftFoot"), Goal.pin("RightFoot"))
HAND, OTHER = BIPED.index("LeftHand"), BIPED.index("RightHand")
LEFT_OUT = np.full(3, np.nan)
MARGIN, NEAR, FRAMES = 0.03, 1e-3, 60


def main() -> None:
    """Measure, and print a line for each part."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    made.add_argument("--count", type=int, default=200, metavar="N", help="problems of each part")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--backend", default="auto", choices=("auto", "numpy", "numba"))
    given = made.parse_args()
    if given.backend != "numpy":
        warm_up()
    for part in given.parts or PARTS:
        PARTS[part](given.count, np.random.default_rng(given.seed), given.backend)


def hands(count: int, random: np.random.Generator, backend: Backend) -> None:
    """One hand is asked to be elsewhere."""
    starts = [_both_on_one_thing(random) for _ in range(min(count, 20))]
    solver = Solver(BIPED, _held_goals(), backend=backend)
    found = []
    for number in range(count):
        start = starts[number % len(starts)]
        target = _place(start, HAND) + random.uniform(-0.25, 0.25, 3)
        found.append((start, solver.solve(start, np.stack([target, LEFT_OUT, LEFT_OUT, LEFT_OUT]))))
    _print_held("hands", found)


def drags(count: int, random: np.random.Generator, backend: Backend) -> None:
    """One hand is dragged along a line, and rests at its end."""
    solver, found = Solver(BIPED, _held_goals(), backend=backend), []
    for _ in range(max(1, count // 10)):
        start = _both_on_one_thing(random)
        place, way, drag = _place(start, HAND), random.uniform(-0.25, 0.25, 3), solver.drag(start)
        for frame in range(2 * FRAMES):
            part = min(1.0, (frame + 1) / FRAMES)
            solution = drag.move(np.stack([place + part * way, LEFT_OUT, LEFT_OUT, LEFT_OUT]))
        found.append((start, solution))
    _print_held("drags", found)


def balance(count: int, random: np.random.Generator, backend: Backend) -> None:
    """A hand reaches far."""
    start = Solver(BIPED, [*FEET, Goal.balance(MARGIN)]).solve(BIPED.relaxed_pose()).pose
    goals = (Goal.position("LeftHand", (0.0, 0.0, 0.0)), *FEET)
    plain = Solver(BIPED, goals, backend=backend)
    balanced = Solver(BIPED, (*goals, Goal.balance(MARGIN)), backend=backend)
    shoulder = _place(start, BIPED.index("LeftArm"))
    reach = float(np.linalg.norm(_place(start, HAND) - shoulder))
    kept = before = tried = 0
    while tried < count:
        way = random.normal(size=3) * (1.0, 0.6, 1.0)
        target = shoulder + way * random.uniform(0.8, 1.5) * reach / float(np.linalg.norm(way))
        free = plain.solve(start, np.stack([target, LEFT_OUT, LEFT_OUT]))
        if not _met(free):
            continue
        tried += 1
        before += _inside(free.pose)
        solution = balanced.solve(start, np.stack([target, LEFT_OUT, LEFT_OUT, LEFT_OUT]))
        kept += _met(solution) and _inside(solution.pose)
    print(f"balance: {kept} of {tried} far reaches met and inside by the margin; {before} without the goal")


def _held_goals() -> tuple[Goal, ...]:
    return (Goal.position("LeftHand", (0.0, 0.0, 0.0)), Goal.relative("LeftHand", "RightHand"), *FEET)


def _both_on_one_thing(random: np.random.Generator) -> Pose:
    """A pose with both hands before the body, at random up to 50 cm apart."""
    chest = _place(BIPED.relaxed_pose(), BIPED.index("Spine1")) + random.uniform((-0.1, -0.15, 0.25), (0.1, 0.25, 0.45))
    apart = np.array((random.uniform(0.05, 0.25), 0.0, 0.0))
    goals = [Goal.position("LeftHand", chest + apart), Goal.position("RightHand", chest - apart), *FEET]
    return Solver(BIPED, goals).solve(BIPED.relaxed_pose()).pose


def _place(pose: Pose, joint: int) -> Floats:
    return np.asarray(viewer.fk(BIPED, pose).positions[joint])


def _relation(pose: Pose) -> tuple[Floats, Floats]:
    world = viewer.fk(BIPED, pose)
    back = conjugate(world.rotations[HAND])
    return rotate(back, world.positions[OTHER] - world.positions[HAND]), multiply(back, world.rotations[OTHER])


def _print_held(part: str, found: Sequence[tuple[Pose, Solution]]) -> None:
    """How far the hands are not as they were to each other, where the dragged one is met."""
    metres, degrees, used = [], [], []
    for start, solution in found:
        if not solution.errors_m[0] <= NEAR:
            continue
        (point, turn), (place, rotation) = _relation(start), _relation(solution.pose)
        metres.append(float(np.linalg.norm(point - place)))
        degrees.append(float(np.degrees(angle_between(turn, rotation))))
        used.append(solution.iterations)
    millimetres = 1000.0 * np.array(metres)
    print(
        f"{part}: {len(metres)} of {len(found)} met; apart by at most {millimetres.max():.3f} mm "
        f"(median {np.median(millimetres):.3f}), {max(degrees):.3f} degrees; "
        f"within 0.5 mm {np.mean(millimetres <= 0.5):.1%}; iterations {np.median(used):.0f}"
    )


def _met(solution: Solution) -> bool:
    return bool(np.nanmax(solution.errors_m[:3]) <= NEAR)


def _inside(pose: Pose) -> bool:
    return find_balance(BIPED, viewer.fk(BIPED, pose)).margin >= MARGIN - NEAR


PARTS: dict[str, Callable[[int, np.random.Generator, Backend], None]] = {
    "hands": hands,
    "drags": drags,
    "balance": balance,
}

if __name__ == "__main__":
    main()
