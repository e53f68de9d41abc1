"""Retargeting measured: known twins, there and back, parts mapped, speed. Run by `benchmarks/motion.py retarget`.

Hands that touch, and robots: `benchmarks/motion.py hands` and `robots`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

import viewer
from viewer.choices import Hands
from viewer.motion.hinge_stacks import without_stacks
from viewer.motion.posed_body import Choices, posed_body, touching_goals
from viewer.motion.reference import bodies_of
from viewer.skeleton import find_figure
from viewer.skeleton.names import body_part
from viewer.spatial.quaternion import angle_between, conjugate, multiply, norm

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from twins import error_cm, twin

_RIGS = ("sample:biped", "sample:biped-hands", "sample:walk")
_ROBOTS = {
    "G1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "Talos": "talos_data/robots/talos_reduced.urdf",
    "iCub": "icub_description/robots/icub.urdf",
    "G1 hands": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "Romeo": "romeo_description/urdf/romeo_small.urdf",
    "Alex": "alex_description/urdf/alex_nub_hands.urdf",
    "human": "human_description/robots/human.urdf",
    "simple": "simple_humanoid_description/urdf/simple_humanoid.urdf",
}
_HANDS: tuple[Hands, ...] = ("free", "reach", "touch")
_TOUCHES = 0.99
"""Of a hand that is taken for one that touches: its share."""
_RESTS = ("rest", "relaxed", "frame", "frame")


def retargeting(clips: Iterable[tuple[str, viewer.Skeleton, viewer.Clip]], seed: int) -> None:
    """Print a line for each clip, and what all of them come to."""
    clips, random = list(clips), np.random.default_rng(seed)
    others = [(name, viewer.Character(skeleton, MappingProxyType({clip.name: clip}))) for name, skeleton, clip in clips]
    rigs = [viewer.load(rig) for rig in _RIGS]
    print(
        f"{'clip':26} {'trusted rest':>12} {'any rest':>9} {'same, still':>11} {'and back':>9} {'by others':>9} "
        f"{'limbs deg':>9} {'slide cm/s':>16} {'mapped':>7} {'frames/s':>8}"
    )
    trusted, paired, right = [], 0, 0
    for name, skeleton, clip in clips:
        character = viewer.Character(skeleton, MappingProxyType({clip.name: clip}))
        exact, odd, still = _twins(character, random)
        trusted += exact
        limbs = []
        slide, mapped, agree = (0.0, 0.0), 0, 0
        began = time.process_time()
        for rig in rigs:
            made = viewer.retarget(character, rig)
            limbs.append(made.report.limbs_deg or 0.0)
            slide = made.report.slide_cm_s or slide
            mapped += len(made.map.pairs)
            agree += sum(_same_part(one, other) for one, other in made.map.pairs.items())
        seconds = time.process_time() - began
        back = [_there_and_back(character, rig) for rig in rigs]
        by_others = [_there_and_back(character, other) for their_name, other in others if their_name != name]
        paired, right = paired + mapped, right + agree
        print(
            f"{name:26} {max(exact):12.6f} {max(odd):9.3f} {max(still):11.3f} {max(back):9.2f} "
            f"{max(by_others, default=0.0):9.2f} {np.mean(limbs):9.1f} "
            f"{slide[0]:7.2f} -> {slide[1]:5.3f} {mapped:7d} {len(rigs) * len(clip) / seconds:8.0f}",
            flush=True,
        )
    good = sum(each < 0.1 for each in trusted)
    print(f"\ntwins with a rest pose that can be trusted: {good} of {len(trusted)} within 0.1 cm")
    print(f"pairs whose names say the same side and part: {right} of {paired}")


def touching_hands(
    motions: Iterable[tuple[str, viewer.Skeleton, list[viewer.Clip]]], pops: Callable[[viewer.Clip, list[int]], float]
) -> None:
    """Print a line for each clip and its noisy copies."""
    rigs = [viewer.load(rig) for rig in _RIGS]
    print(f"{'clip':26} pops {'  '.join(f'{hands:>5}' for hands in _HANDS)}  mm off: mean, 95 %")
    for name, skeleton, clips in motions:
        worst, off = dict.fromkeys(_HANDS, 0.0), [np.empty(0)]
        for clip in clips:
            character = viewer.Character(skeleton, MappingProxyType({clip.name: clip}))
            own = pops(clip, [*range(len(skeleton))])
            for rig in rigs:
                for hands in _HANDS:
                    made = viewer.retarget(character, rig, hands=hands).character.clip
                    assert made is not None
                    worst[hands] = max(worst[hands], pops(made, [*range(len(rig.skeleton))]) / own)
                off += _off_touched(character, rig)
        missed = 1e3 * np.concatenate(off)
        told = f"{missed.mean():14.1f} {np.quantile(missed, 0.95):5.1f}" if len(missed) else "no touch".rjust(20)
        print(f"{name:26}    ", *(f"{each:6.2f}" for each in worst.values()), told, flush=True)


def _off_touched(source: viewer.Character, rig: viewer.Character) -> list[NDArray[np.float64]]:
    """Metres that each palm is off in the frames in which it touches something."""
    its, mine = bodies_of((source.skeleton, source.clip), (rig.skeleton, rig.clip))
    posed = posed_body(its, mine, viewer.find_map(source, rig), Choices("plant", "touch", limits=False))
    goals = touching_goals(posed.pairing, posed.world)
    return [norm(goal - posed.world.point(*arm.tip))[share > _TOUCHES]
            for goal, share, (_, arm) in zip(*goals, posed.pairing.arms, strict=True)]  # fmt: skip


def onto_robots(
    clips: Iterable[tuple[str, viewer.Skeleton, list[viewer.Clip]]], pops: Callable[[viewer.Clip, list[int]], float]
) -> None:
    """Print a line for each robot and clip with its noisy copies, of which the worst pops are shown."""
    import pinocchio

    folder = Path(pinocchio.__file__).resolve().parents[4] / "share" / "example-robot-data" / "robots"
    clips = list(clips)
    words = f"pops {', '.join(_HANDS)}; noise"
    print(f"{'robot':12} {'clip':26} {'frames/s':>8} {'slide cm/s':>10} {'spin deg/s':>10} {words}")
    for name, file in _ROBOTS.items():
        robot = viewer.load(str(folder / file))
        for clip_name, skeleton, (clip, *copies) in clips:
            character, times = viewer.Character(skeleton, MappingProxyType({clip.name: clip})), []
            for _ in range(5):
                began = time.process_time()
                made = viewer.retarget(character, robot)
                times.append(time.process_time() - began)
            _, slide = made.report.slide_cm_s or (0.0, 0.0)
            speed = len(clip) / sorted(times)[2]
            told = " ".join(
                f"{most:9.2f}" for some in ([clip], copies) for most in _pops_on(robot, skeleton, some, pops)
            )
            print(
                f"{name:12} {clip_name:26} {speed:8.0f} {slide:10.6f} {_spin(made.character):10.0f} {told}", flush=True
            )


def _pops_on(
    robot: viewer.Character,
    skeleton: viewer.Skeleton,
    clips: list[viewer.Clip],
    pops: Callable[[viewer.Clip, list[int]], float],
) -> list[float]:
    """The worst pops of clips on a robot as a multiple of their own, by what hands do."""
    worst = dict.fromkeys(_HANDS, 0.0)
    for clip in clips:
        source, own = (
            viewer.Character(skeleton, MappingProxyType({clip.name: clip})),
            pops(clip, [*range(len(skeleton))]),
        )
        for hands in _HANDS:
            made = viewer.retarget(source, robot, hands=hands).character
            assert made.clip is not None
            worst[hands] = max(worst[hands], pops(made.clip, [*range(len(made.skeleton))]) / own)
    return [*worst.values()]


def _spin(character: viewer.Character) -> float:
    """Degrees a second by which a hinge of a shoulder of three turns faster than the upper arm, at most."""
    skeleton, clip = character.skeleton, character.clip
    assert clip is not None
    world, most = viewer.fk_clip(skeleton, clip), 0.0
    for joints in _shoulders(skeleton):
        above = int(skeleton.parents[joints[0]])
        arm = _speeds(multiply(conjugate(world.rotations[:, above]), world.rotations[:, joints[-1]]))
        hinges = np.stack([_speeds(clip.rotations[:, joint]) for joint in joints]).max(axis=0)
        most = max(most, float((hinges - arm).max()) / clip.frame_time)
    return most


def _shoulders(skeleton: viewer.Skeleton) -> list[tuple[int, ...]]:
    """The hinges of shoulders of three."""
    stacks = without_stacks(skeleton)
    figure = None if stacks is None else find_figure(stacks.skeleton)
    if stacks is None or figure is None:
        return []
    rows = [stacks.members[arm.upper] for arm in figure.arms]
    found = [tuple(joint for joint in row if skeleton.kinds[joint] is viewer.JointKind.HINGE) for row in rows]
    return [row for row in found if len(row) == 3]


def _speeds(turns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Degrees from frame to frame."""
    return np.degrees(angle_between(turns[:-1], turns[1:]))


def _there_and_back(character: viewer.Character, rig: viewer.Character) -> float:
    """Error in cm of a motion that went over another rig."""
    there = viewer.retarget(character, rig, feet="follow").character
    again = viewer.retarget(there, character, feet="follow").character
    assert again.clip is not None
    assert character.clip is not None
    return error_cm(character.skeleton, again.clip, character.skeleton, character.clip)


def _twins(character: viewer.Character, random: np.random.Generator) -> tuple[list[float], list[float], list[float]]:
    """Errors in cm, to a twin and from it: with trusted rest poses, with any frame as rest, and that without motion."""
    clip = character.clip
    assert clip is not None
    exact: list[float] = []
    odd: list[float] = []
    still: list[float] = []
    figure = find_figure(character.skeleton)
    trusted = figure is not None and figure.upright
    for rest in _RESTS:
        at = int(random.integers(len(clip))) if rest == "frame" else rest
        for moving in (True, False):
            other, motion = twin(
                character, random, scale=float(random.uniform(0.6, 1.7)), rest=at, moving=moving, renamed=moving
            )
            whole = viewer.Character(other.skeleton, MappingProxyType({"motion": motion}))
            there = viewer.retarget(character, other, feet="follow").character
            alone = character if moving else viewer.Character(character.skeleton)
            again = viewer.retarget(whole, alone, feet="follow").character
            assert there.clip is not None
            assert again.clip is not None
            errors = [
                error_cm(other.skeleton, there.clip, other.skeleton, motion),
                error_cm(character.skeleton, again.clip, character.skeleton, clip),
            ]
            (exact if rest != "frame" and (trusted or moving) else odd if moving else still).extend(errors)
    return exact, odd, still


def _same_part(one: str, other: str) -> bool:
    """Whether two names say the same, as far as both say anything."""
    a, b = body_part(one), body_part(other)
    return a.side == b.side and (not a.part or not b.part or a.part == b.part or {a.part, b.part} <= _ALIKE)


_ALIKE = {"hand", "wrist", "finger"}
