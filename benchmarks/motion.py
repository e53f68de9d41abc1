"""Whole clips changed: how well, on real clips and on spoiled copies of them.

    python benchmarks/motion.py [feet | failures | retarget | hands | robots | layers | fit | limits] [CLIP ...]

Without clips: the bundled walk, and every file with legs in $IKVIEWER_SHARED/data/bvh or ../shared/data/bvh.
Times are of the processor, all threads together, so that other programs disturb them little.

feet: slide in contacts before and after planting (cm/s), the largest drift (cm), pops (99.9 % point of the angular
acceleration of all joints, in degrees per (1/60 s)^2) as a multiple of the clip's own, of all joints and of the legs',
how far the pelvis moved (cm), what a leg was too short (mm), the mean change of joints' places (cm), and frames a
second. Then the same clip spoiled: *skate*, the root's path 1.15 times as long; *noise*, every joint turned by 1 degree
(a normal number about each axis, in each frame).
Contacts: F1 over frames and points. The planted clips are spoiled, and contacts found there are compared with those
that were planted: *skate*, *noise*, *root*, 5 mm of noise on the root, and *30 fps*, of the clips of 60 fps and more.

failures: a capture that fails at a random moment, ten times of each kind: *spike*, a leg turned by 4 to 40 degrees for
one frame; *leg*, for one to five frames within 0.1 s; *body*, thrown by 0.1 to 10 leg lengths; *swap*, left and right
leg exchanged; *zero*, no rotation and no place; *random* rotations. In how many the feet touch as often as without it;
F1 of the contacts over all other frames.

retarget: the worst mean error of joints, in cm of a person of 1.75 m, to a twin (random joint frames, scale and
names) and from it: with a rest pose that can be trusted, with any frame as rest pose, and the same where only one side
has the motion; from the clip to three rigs and back, and over the rigs of the other clips and back; the mean angle
between limbs; slide in the clip's contacts before and after planting; pairs; frames a second with planted feet.

hands: onto three rigs with planted feet and hands that are free, reach and touch, as they are and with *noise* of forty
seeds: the worst pops as a multiple of the clip's own; the mean and the 95 % point of what palms are off (mm) in frames
in which they touch. It takes three minutes.

robots: onto the humanoids of the package example-robot-data (with the extra `bench`): frames a second with planted
feet, the middle one of five; slide in contacts after planting; degrees a second by which a hinge of a shoulder of three
turns faster than the upper arm, at most; pops as a multiple of the clip's own, with hands that are free, reach and
touch, then the same, at most, with *noise* of two seeds. It takes some minutes.

layers: a hand reaches for 20 random places within its arm's length of where the clip has it, in 2 s with a hold of
0.2 s: the most that the hand misses in the hold and that a foot leaves its place (mm), of the places that were reached
and their share; whether frames outside keep their bits; pops of the frames inside as a multiple of the clip's own, and
of the same goals solved frame by frame, which cannot be less than the clip's own where that is large; so then of what
the layer changes in the clip, in degrees per (1/60 s)^2, and of what the goals solved frame by frame change;
milliseconds for 200 frames.

fit: positions of all joints, made from each clip at 30 frames a second, back to the clip's own skeleton: the largest
error of a joint (mm) of exact positions, and frames a second; then the mean and the 95 % point of the errors (mm) with
1 cm of noise (the length of its standard deviation, and 1 cm on each axis), without and with a fifth of all places
missing.

limits: ranges learned on the biped from all clips but one, and the share of its frames that are inside, for each clip;
the mean range in degrees. Clips that are named are judged by what is learned from those that are there without.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import viewer
from viewer.motion.contacts import Contacts, foot_contacts, legged, measured
from viewer.motion.layer_solve import solve_layers, standing, with_windows
from viewer.motion.limb_chain import limb_joints
from viewer.motion.plant import plant_feet
from viewer.motion.range_of_motion import learned, on_rig
from viewer.skeleton.figure import find_slots
from viewer.spatial.quaternion import conjugate, exp, log, multiply, normalized

Floats = NDArray[np.float64]
Spoil = Callable[[viewer.Clip, np.random.Generator], viewer.Clip]


def main() -> None:
    """Measure, and print a table for each part."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("part", nargs="?", choices=[*PARTS], default="feet")
    made.add_argument("clips", nargs="*", metavar="CLIP")
    made.add_argument("--seed", type=int, default=1)
    given = made.parse_args()
    PARTS[given.part](given.clips or shared_clips(), given.seed)


def shared_clips() -> list[str]:
    """The bundled walk, and real files where they are there."""
    folder = Path(os.environ.get("IKVIEWER_SHARED", "../shared"), "data", "bvh")
    return ["sample:walk", *map(str, sorted(folder.glob("*.bvh")))]


def figures(files: list[str]) -> Iterator[tuple[str, viewer.Skeleton, viewer.Clip]]:
    """Name, skeleton and motion of every file that has legs and some motion."""
    for file in files:
        try:
            character = viewer.load(file)
            legged(character.skeleton)
        except viewer.ViewerError:
            continue
        if character.clip is not None and len(character.clip) > 2:
            yield Path(file).stem[:24], character.skeleton, character.clip


def skating(clip: viewer.Clip, _: np.random.Generator) -> viewer.Clip:
    places = clip.local_translations()
    places[:, 0, ::2] *= 1.15
    return clip.with_motion(clip.rotations, places)


def noisy(clip: viewer.Clip, random: np.random.Generator) -> viewer.Clip:
    shake = np.radians(1.0) * random.normal(size=(*clip.rotations.shape[:2], 3))
    return clip.with_motion(multiply(clip.rotations, exp(shake)))


def shaken(clip: viewer.Clip, random: np.random.Generator) -> viewer.Clip:
    places = clip.local_translations()
    places[:, 0] += 0.005 * random.normal(size=(len(clip), 3))
    return clip.with_motion(clip.rotations, places)


Moving = tuple[str, viewer.Skeleton, list[viewer.Clip]]
"""A name, and motions of a skeleton."""
_SEEDS = 40
SPOILS: dict[str, Spoil] = {"skate": skating, "noise": noisy}


def pops(clip: viewer.Clip, joints: list[int]) -> float:
    """99.9 % point of the angular acceleration of some joints, in degrees per (1/60 s)^2."""
    turns = clip.rotations[:, joints]
    steps = log(multiply(conjugate(turns[:-1]), turns[1:]))
    size = np.linalg.norm(np.diff(steps, axis=0), axis=-1)
    return float(np.degrees(np.percentile(size, 99.9)) / (60.0 * clip.frame_time) ** 2)


def feet(files: list[str], seed: int) -> None:
    """Planting and contacts."""
    print(f"{'clip':26} {'slide cm/s':>16} {'drift cm':>13} {'pops':>5} {'legs':>5} {'pelvis':>6} {'short':>5} "
          f"{'change':>6} {'frames/s':>8}")  # fmt: skip
    scores: dict[str, list[float]] = {}
    for name, skeleton, clip in figures(files):
        contacts = planting(name, skeleton, clip)
        planted = plant_feet(skeleton, clip, contacts).clip
        for word, spoil in SPOILS.items():
            planting(f"  {word}", skeleton, spoil(clip, np.random.default_rng(seed)))
        for word, score in robustness(skeleton, planted, contacts, seed):
            scores.setdefault(word, []).append(score)
    print("\ncontacts found again (F1): " + ", ".join(
        f"{word} {np.mean(found):.3f} (worst {min(found):.2f})" for word, found in scores.items()
    ))  # fmt: skip


def planting(name: str, skeleton: viewer.Skeleton, clip: viewer.Clip) -> Contacts:
    """Plant, and print a row."""
    start = time.process_time()
    planted = plant_feet(skeleton, clip)
    seconds, report = time.process_time() - start, planted.report
    legs = [joint for leg in legged(skeleton).legs for joint in limb_joints(leg)]
    ratios = [
        pops(planted.clip, joints) / before if (before := pops(clip, joints)) > 0.01 else 1.0
        for joints in (list(range(len(skeleton))), legs)
    ]
    print(f"{name:26} {report.before.slide_cm_s:7.2f} {report.after.slide_cm_s:8.4f} {report.before.drift_cm:6.1f} "
          f"{report.after.drift_cm:6.3f} {ratios[0]:5.2f} {ratios[1]:5.2f} {report.pelvis_cm:6.1f} "
          f"{report.short_mm:5.2f} {report.mean_change_cm:6.2f} {len(clip) / seconds:8.0f}")  # fmt: skip
    return planted.contacts


def robustness(
    skeleton: viewer.Skeleton, clip: viewer.Clip, contacts: Contacts, seed: int
) -> Iterator[tuple[str, float]]:
    """F1 of the contacts found on spoiled copies of a planted clip."""
    truth = touching(contacts, len(clip))
    if not truth.any() or truth.all():
        return
    for word, spoil in {"clean": lambda clip, _: clip, **SPOILS, "root": shaken}.items():
        spoiled = spoil(clip, np.random.default_rng(seed))
        yield word, f1(truth, touching(foot_contacts(skeleton, spoiled), len(clip)))
    if clip.fps > 55:
        step = round(clip.fps / 30.0)
        yield "30 fps", f1(truth[:, ::step], touching(foot_contacts(skeleton, clip[::step]), len(clip[::step])))


def touching(contacts: Contacts, frames: int) -> NDArray[np.bool_]:
    """(points, F) whether each point of each foot touches."""
    touches = np.zeros((2 * len(contacts.feet), frames), dtype=bool)
    for number, foot in enumerate(contacts.feet):
        for contact in foot.contacts:
            touches[2 * number + (contact.point == "ball"), contact.frames] = True
    return touches


def f1(truth: NDArray[np.bool_], found: NDArray[np.bool_]) -> float:
    right = float((truth & found).sum())
    return 2.0 * right / max(1.0, float(truth.sum() + found.sum()))


def failures(files: list[str], seed: int) -> None:
    """Contacts of captures that fail for a moment."""
    kinds, random = ("spike", "leg", "body", "swap", "zero", "random"), np.random.default_rng(seed)
    print(f"{'clip':26} as many contacts, F1 of other frames: " + ", ".join(kinds))
    every: dict[str, list[tuple[bool, float]]] = {kind: [] for kind in kinds}
    for name, skeleton, clip in figures(files):
        whole, row = foot_contacts(skeleton, clip), []
        for kind in kinds:
            found = []
            for _ in range(10):
                given, frames = failing(kind, skeleton, clip, random)
                contacts = foot_contacts(skeleton, given)
                truth, seen = (np.delete(touching(one, len(clip)), frames, axis=1) for one in (whole, contacts))
                found.append((len(contacts) == len(whole), f1(truth, seen) if truth.any() or seen.any() else 1.0))
            every[kind] += found
            row.append(f"{sum(same for same, _ in found):4} {np.mean([score for _, score in found]):.3f}")
        print(f"{name:26} " + " ".join(row))
    print(
        "all".ljust(26), *(f"{kind} {sum(same for same, _ in found)} of {len(found)}," for kind, found in every.items())
    )


def failing(
    kind: str, skeleton: viewer.Skeleton, clip: viewer.Clip, random: np.random.Generator
) -> tuple[viewer.Clip, slice]:
    """The clip with a failure, and its frames."""
    most = 1 if kind == "spike" else min(5, max(1, round(0.1 * clip.fps)))
    count = int(random.integers(1, most + 1))
    first = int(random.integers(3, len(clip) - count - 3))
    frames = slice(first, first + count)
    turns, places, legs = clip.rotations.copy(), clip.local_translations(), legged(skeleton).legs
    if kind in ("spike", "leg"):
        way = random.normal(size=3)
        turn = exp(np.radians(random.uniform(4.0, 40.0)) * way / np.linalg.norm(way))
        upper = legs[int(random.integers(2))].upper
        turns[frames, upper] = multiply(turns[frames, upper], turn)
    elif kind == "body":
        way = random.normal(size=3)
        far = 10.0 ** random.uniform(-1.0, 1.0) * measured(skeleton, clip)[1]
        places[frames, 0] += far * way / np.linalg.norm(way)
    elif kind == "swap":
        left, right = ([leg.upper, leg.lower] for leg in legs)
        turns[frames, left], turns[frames, right] = turns[frames][:, right], turns[frames][:, left]
    elif kind == "zero":
        turns[frames], places[frames] = (0.0, 0.0, 0.0, 1.0), skeleton.offsets
        places[frames, 0] = 0.0
    else:
        turns[frames, 1:] = normalized(random.normal(size=(count, len(skeleton) - 1, 4)))
    return clip.with_motion(turns, places), frames


def retarget(files: list[str], seed: int) -> None:
    """Known twins, there and back, speed."""
    from retargeting import retargeting

    retargeting(figures(files), seed)


def hands(files: list[str], seed: int) -> None:
    """Hands that touch."""
    from retargeting import touching_hands

    def with_noise(name: str, skeleton: viewer.Skeleton, clip: viewer.Clip) -> Iterator[Moving]:
        yield name, skeleton, [clip]
        seeds = range(seed, seed + _SEEDS)
        yield "  noise", skeleton, [noisy(clip, np.random.default_rng(each)) for each in seeds]

    touching_hands((each for figure in figures(files) for each in with_noise(*figure)), pops)


def robots(files: list[str], seed: int) -> None:
    """Robots whose hips and shoulders are of hinges."""
    from retargeting import onto_robots

    def with_noise(clip: viewer.Clip) -> list[viewer.Clip]:
        return [clip, *(noisy(clip, np.random.default_rng(each)) for each in (seed, seed + 1))]

    onto_robots(((name, skeleton, with_noise(clip)) for name, skeleton, clip in figures(files)), pops)


def layers(files: list[str], seed: int) -> None:
    """A hand that reaches while the clip plays."""
    print("clip                      reached %  hand mm  foot mm  bits  pops x clip  one by one  of changes  one by one"
          "  ms for 200")  # fmt: skip
    for name, skeleton, clip in figures(files):
        random = np.random.default_rng(seed)
        arms = [limb for limb in find_slots(skeleton) if limb.endswith(" hand")]
        if not arms or clip.duration < 1.0:
            continue
        found = [_reach(skeleton, clip, find_slots(skeleton)[str(random.choice(arms))], random) for _ in range(20)]
        met = np.array([one for one in found if one[0] < 2.0])
        share = 100.0 * len(met) / len(found)
        worst, middle = met.max(axis=0), np.median(met, axis=0)
        print(
            f"{name:24} {share:10.0f}  {worst[0]:7.3f}  {worst[1]:7.3f}  {'same' if met[:, 2].all() else 'no':4}"
            f"  {middle[3]:11.2f}  {middle[4]:10.2f}  {middle[5]:10.2f}  {middle[6]:10.2f}  {middle[7]:10.1f}",
            flush=True,
        )


def _reach(skeleton: viewer.Skeleton, clip: viewer.Clip, hand: int, random: np.random.Generator) -> tuple[float, ...]:
    """Millimetres that hand and feet miss, whether other frames are the same, pops, milliseconds.

    Pops are of both as multiples of the clip's own, then of what both change in it, in degrees per (1/60 s)^2.
    """
    world = viewer.fk_clip(skeleton, clip)
    long = float(np.linalg.norm(skeleton.offsets[hand]) + np.linalg.norm(skeleton.offsets[skeleton.parents[hand]]))
    half = min(1.0, 0.45 * clip.duration)
    middle = random.uniform(half, clip.duration - half - clip.frame_time)
    way = random.normal(size=3)
    place = world.positions[round(middle / clip.frame_time), hand]
    place = place + 0.8 * long * random.uniform() ** (1.0 / 3.0) * way / np.linalg.norm(way)
    goal = viewer.Goal.position(skeleton.names[hand], place)
    layer = viewer.Layer(goal, middle - half, (middle - 0.1, middle + 0.1), middle + half)
    begun = time.process_time()
    (window,) = solve_layers(skeleton, clip, [layer], backend="numba")
    seconds = time.process_time() - begun
    made = with_windows(clip, [window])
    inside = slice(window.first, window.first + len(window.rotations))
    after = viewer.fk_clip(skeleton, made)
    feet = [skeleton.index(one) for one in standing(skeleton)]
    slid = float(np.linalg.norm(after.positions[:, feet] - world.positions[:, feet], axis=-1).max())
    outside = np.ones(len(clip), dtype=np.bool_)
    outside[inside] = False
    same = bool(np.array_equal(made.rotations[outside], clip.rotations[outside]))
    own, every = clip[inside], list(range(len(skeleton)))
    share = layer.share(np.arange(float(len(clip))) * clip.frame_time)[inside, None]
    points = np.stack([world.positions[inside, joint] for joint in (hand, *feet)], axis=1)
    points[:, 0] += share * (place - points[:, 0])
    turns = np.stack([world.rotations[inside, joint] for joint in (hand, *feet)], axis=1)
    goals = [goal, *(viewer.Goal.pose(skeleton.names[one], place, turns[0, 0], level=0) for one in feet)]
    solver = viewer.Solver(
        skeleton, goals, restarts=False, tolerance_m=1e-5, tolerance_deg=1e-3, max_iterations=60, backend="numba"
    )
    alone = solver.solve_batch([own.pose(frame) for frame in range(len(own))], points, turns)
    one_by_one = own.with_motion(alone.rotations, alone.translations)
    whole = [pops(one, every) / pops(own, every) for one in (made[inside], one_by_one)]
    changes = [one.with_motion(multiply(conjugate(own.rotations), one.rotations)) for one in (made[inside], one_by_one)]
    return (
        1e3 * window.misses[0].metres, 1e3 * slid, same, *whole, *(pops(one, every) for one in changes),
        1e3 * seconds * 200.0 / len(own),
    )  # fmt: skip


def fit(files: list[str], seed: int) -> None:
    """Print how well positions give the motion back."""
    print(
        f"{'clip':24} {'exact mm':>9} {'frames/s':>9}   1 cm in all: mean, 95 %   with gaps   1 cm an axis   with gaps"
    )
    for name, skeleton, clip in figures(files):
        slow = clip.resampled(30.0) if clip.fps > 30.0 else clip
        wanted = viewer.fk_clip(skeleton, slow).positions
        since = time.process_time()
        exact = _misses(skeleton, wanted, wanted)
        rate = len(slow) / (time.process_time() - since)
        row = f"{name:24} {exact.max():9.2g} {rate:9.0f}  "
        for noise in (0.01 / np.sqrt(3.0), 0.01):
            for gaps in (0.0, 0.2):
                random = np.random.default_rng(seed)
                given = wanted + random.normal(0.0, noise, wanted.shape)
                given[random.random(given.shape[:2]) < gaps] = np.nan
                missed = _misses(skeleton, given, wanted)
                row += f" {missed.mean():8.2f} {np.quantile(missed, 0.95):5.1f}"
        print(row)


def _misses(skeleton: viewer.Skeleton, given: Floats, wanted: Floats) -> Floats:
    """(F, J) millimetres."""
    made = viewer.fit(skeleton, given, fps=30)
    assert made.clip is not None
    return np.asarray(1e3 * np.linalg.norm(viewer.fk_clip(made.skeleton, made.clip).positions - wanted, axis=-1))


def limits(files: list[str], _: int) -> None:
    """Print how much of each clip the ranges learned from the others hold."""
    rig = viewer.load("sample:biped").skeleton
    clips, shown = _on_rig(rig, files), shared_clips()
    learned_from = {} if files == shown else _on_rig(rig, shown)
    total, inside, width = 0, 0.0, 0.0
    shares = []
    for name, clip in clips.items():
        found = learned(rig, [each for other, each in (learned_from or clips).items() if other != name])
        share = float((viewer.clip_violation(found.skeleton, clip) <= np.radians(2.0)).all(axis=1).mean())
        degrees = float(np.degrees(found.mean_range))
        shares.append(share)
        total, inside, width = total + len(clip), inside + share * len(clip), width + degrees * len(clip)
        print(f"{name:24} {len(clip):6} frames, {100.0 * share:5.1f} % inside, {degrees:4.0f} degrees")
    mean = f"mean of clips {100.0 * np.mean(shares):5.1f} %"
    print(f"{'all':24} {total:6} frames, {100.0 * inside / total:5.1f} % inside, {width / total:4.0f} degrees; {mean}")


def _on_rig(rig: viewer.Skeleton, files: list[str]) -> dict[str, viewer.Clip]:
    """The clips on a rig by name, of the files that go onto it."""
    clips = {}
    for file in files:
        try:
            clips[Path(file).stem[:24]] = on_rig(rig, viewer.load(file))
        except viewer.ViewerError:
            continue
    return clips


PARTS: dict[str, Callable[[list[str], int], None]] = {
    "feet": feet,
    "failures": failures,
    "retarget": retarget,
    "hands": hands,
    "robots": robots,
    "layers": layers,
    "fit": fit,
    "limits": limits,
}

if __name__ == "__main__":
    main()
