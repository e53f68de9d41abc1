"""Loops: do linkages and hands that hold together stay together, and does a figure stay in balance?

    python benchmarks/loops.py [gripper] [hands] [drags] [balance] [--count 200] [--seed 1] [--backend NAME]

gripper: a gripper in the manner of Robotiq's 2F-85, alone and on an arm of six axes: two four-bars, whose drivers mimic
each other. A finger is dragged, evenly and by leaps, within reach and beyond; it is solved for; and sliders are moved.
In every pose shown, the ends of each loop are to be within 0.1 mm.

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
from viewer.document import new_document
from viewer.document.actions import SetCoordinate
from viewer.ik.backends import warm_up
from viewer.session import Session
from viewer.skeleton import Pose, effector_of, find_balance
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


def gripper(count: int, random: np.random.Generator, backend: Backend) -> None:
    """Fingers are dragged, solved for, and moved by sliders."""
    for name, axes in (("gripper", 0), ("gripper on an arm", 6)):
        skeleton = _gripper(axes)
        drags, leaps, solves, sliders = list[float](), list[float](), list[float](), list[float]()
        solver = Solver(skeleton, [Goal.position("right pad", (0.0, 0.0, 0.0))], backend=backend)
        start = skeleton.relaxed_pose()
        pad = next(one for one in skeleton.effectors if one.name == "right pad")
        place = viewer.fk(skeleton, start).point(pad.joint, np.array(pad.offset))
        far = 0.3 if axes else 0.08
        for _ in range(max(1, count // 10)):
            way, drag, leap = random.uniform(-far, far, 3), solver.drag(start), solver.drag(start)
            for frame in range(2 * FRAMES):
                drags.append(_gap(skeleton, drag.move([place + min(1.0, (frame + 1) / FRAMES) * way]).pose))
                leaps.append(_gap(skeleton, leap.move([place + random.uniform(-far, far, 3)]).pose))
        for _ in range(count):
            solves.append(_gap(skeleton, solver.solve(start, [place + random.uniform(-far, far, 3)]).pose))
        session = Session(new_document(viewer.Character(skeleton)))
        moving = [joint for joint, kind in zip(skeleton.names, skeleton.kinds, strict=True) if kind.value == "hinge"]
        for _ in range(count):
            session.dispatch(SetCoordinate(str(random.choice(moving)), 0, float(random.uniform(-1.0, 1.0))))
            sliders.append(_gap(skeleton, session.document.pose))
        for part, found in (("drags", drags), ("leaps", leaps), ("solves", solves), ("sliders", sliders)):
            metres = np.array(found)
            print(f"{name}, {part}: {len(metres)} poses, loops open by at most {1e3 * metres.max():.4f} mm "
                  f"(median {1e3 * np.median(metres):.4f}), within 0.1 mm {np.mean(metres <= 1e-4):.2%}")  # fmt: skip


def _gripper(axes: int) -> viewer.Skeleton:
    """Two fingers that close in x, above an arm with so many axes; metres."""
    made, below = viewer.Builder(name="gripper").add("foot", None, kind="fixed"), "foot"
    for number in range(axes):
        axis = ((0, 1, 0), (1, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0))[number]
        limits = viewer.JointLimits.coordinates((-2.9, 2.9))
        made.add(f"axis {number + 1}", below, (0, 0.15, 0), kind="hinge", axis=axis, limits=limits)
        below = f"axis {number + 1}"
    made.add("palm", below, (0, 0.05, 0), kind="fixed")
    for side, s in (("right", 1.0), ("left", -1.0)):
        for name, on, offset, low, high in (
            ("driver", "palm", (0.0306, 0.0549), 0.0, 0.8),
            ("coupler", f"{side} driver", (0.0315, -0.0041), -1.57, 1.57),
            ("spring link", "palm", (0.0132, 0.0609), -0.3, 0.9),
            ("follower", f"{side} spring link", (0.0375, 0.0555), -0.9, 0.9),
        ):
            limits = viewer.JointLimits.coordinates((low, high))
            place = (s * offset[0], offset[1], 0.0)
            made.add(f"{side} {name}", on, place, kind="hinge", axis=(0, 0, s), limits=limits)
        made.effector(f"{side} pad", f"{side} follower", (-s * 0.0189, 0.0335, 0.0))
        made.effector(f"{side} a", f"{side} coupler", (s * 0.0068, 0.0595, 0.0), "off")
        made.effector(f"{side} b", f"{side} follower", (s * 0.0182, -0.0061, 0.0), "off")
        made.loop(f"{side} a", f"{side} b")
    return made.mimic("left driver", "right driver").skeleton


def _gap(skeleton: viewer.Skeleton, pose: Pose) -> float:
    """Metres between the ends of a skeleton's loops, the largest."""
    world, found = viewer.fk(skeleton, pose), []
    for loop in skeleton.loops:
        a, b = (effector_of(skeleton, name) for name in (loop.a, loop.b))
        found.append(
            np.linalg.norm(world.point(a.joint, np.array(a.offset)) - world.point(b.joint, np.array(b.offset)))
        )
    return float(max(found))


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
    "gripper": gripper,
    "hands": hands,
    "drags": drags,
    "balance": balance,
}

if __name__ == "__main__":
    main()
