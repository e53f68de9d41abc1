"""The problem sets of the comparisons, and their score, which shares no code with what it scores.

Robotics libraries support only hinges with ranges. So `humanoid`, `fingers` and `claw` use the ranges of the samples'
balls as those of three stacked hinges ("order": "xyz"), which gives every solver the same constraint. `biped` and
`biped-hands` keep the samples' swing-twist ranges. Problems are those of `viewer.cli.bench_measures`; unreachable: as
medium, but every target is pushed 0.5 m away from the root.

The score shares no code with the solver or `viewer.skeleton`, so that bugs there cannot hide here. Kinematics and
limits are implemented again from the file format's definitions. Rotations are 3x3 matrices; N poses are scored
together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from viewer.cli import bench_measures
from viewer.cli.bench_measures import BODY, Problems, Rig, Samples, Score, drags
from viewer.errors import InputError, unknown_name
from viewer.formats.file_formats import SAMPLE
from viewer.formats.load import load
from viewer.ik.solution import Status
from viewer.ik.solver import Solver
from viewer.skeleton import JointKind, JointLimits, LimitForm, Pose, Skeleton
from viewer.spatial.checks import Floats

SETS = ("humanoid", "claw", "fingers")
"""Those that every solver can be given."""

# --- rigs

_MIDDLE = np.radians(85.0)
"""Limit of the middle one of three hinges, which avoids gimbal lock."""


class _Row(NamedTuple):
    """One joint; it moves as ``limits`` say about ``axes``."""

    name: str
    parent: str
    offset: Floats
    kind: JointKind
    limits: JointLimits | None
    axes: Floats


def _ball(name: str, parent: str, offset: tuple[float, float, float], *degrees: float) -> _Row:
    """A ball joint that turns by up to these angles either way about x, y and z."""
    ranges = [(-turn, turn) for turn in np.radians(degrees).tolist()]
    limits = JointLimits.swing_twist(1, *ranges)
    return _Row(name, parent, np.array(offset), JointKind.BALL, limits, np.zeros((2, 3)))


_BETWEEN = {
    "Head": _ball("Neck1", "Neck", (0.0, 0.05, 0.01), 15, 20, 12),
    "LeftUpLeg": _ball("LeftHipJoint", "Hips", (0.0, 0.0, 0.0), 5, 5, 5),
    "RightUpLeg": _ball("RightHipJoint", "Hips", (0.0, 0.0, 0.0), 5, 5, 5),
}
"""Joints inserted above a joint, by the name of that joint."""

_BEYOND = tuple(
    row
    for side, sign in (("Left", 1.0), ("Right", -1.0))
    for row in (
        _ball(f"{side}FingerBase", f"{side}Hand", (sign * 0.06, 0.0, 0.0), 5, 5, 30),
        _ball(f"{side}HandIndex1", f"{side}FingerBase", (sign * 0.05, 0.0, 0.0), 5, 15, 80),
        _ball(f"{side}Thumb", f"{side}Hand", (sign * 0.03, -0.01, 0.03), 20, 35, 35),
    )
)


def with_mocap_joints(biped: Skeleton) -> Skeleton:
    """The biped with hip joints, a second neck joint, bases of fingers, index fingers and thumbs."""
    rows: list[_Row] = []
    for joint, name in enumerate(biped.names):
        parent = int(biped.parents[joint])
        above, offset = biped.names[parent] if parent >= 0 else "", biped.offsets[joint]
        between = _BETWEEN.get(name)
        if between is not None:
            rows.append(between)
            above, offset = between.name, offset - between.offset
        rows.append(_Row(name, above, offset, biped.kinds[joint], biped.limits[joint], biped.axes[joint]))
    rows += _BEYOND
    names = tuple(row.name for row in rows)
    return Skeleton(
        name="humanoid",
        names=names,
        parents=np.array([names.index(row.parent) if row.parent else -1 for row in rows]),
        offsets=np.array([row.offset for row in rows]),
        kinds=tuple(row.kind for row in rows),
        axes=np.array([row.axes for row in rows]),
        limits=tuple(row.limits for row in rows),
    )


def find_rig(name: str) -> Rig:
    """One of `RIGS`, or ``chain-N``."""
    if name.startswith("chain-"):
        return Samples().rig(name)
    if name not in RIGS:
        raise InputError(unknown_name("rig", name, [*RIGS, "chain-N"]))
    return RIGS[name]()


def _sample(name: str) -> Skeleton:
    return load(SAMPLE + name).skeleton


def _planar() -> Skeleton:
    """Four links in a plane, 45 degrees either way: where CCD with limits locks up in an S."""
    axes = np.zeros((4, 2, 3))
    axes[:, 0, 2] = 1.0
    limits = (JointLimits.coordinates((-np.pi / 4, np.pi / 4)),) * 4
    return replace(_sample("chain-4"), name="planar", kinds=(JointKind.HINGE,) * 4, axes=axes, limits=limits, poses={})


RIGS: dict[str, Callable[[], Rig]] = {
    # 31 joints, as in CMU's motion captures; five positions
    "humanoid": lambda: Rig.of("humanoid", as_hinges(with_mocap_joints(_sample("biped"))), BODY),
    # an arm on a fixed base, three claws of three hinges
    "claw": lambda: _hinged("claw", "claw-arm"),
    "fingers": lambda: _hinged("fingers", "biped-hands"),
    "biped": lambda: Samples().rig("biped"),
    "biped-hands": lambda: Samples().rig("biped-hands"),
    "planar": lambda: Rig.of("planar", _planar(), ["tip"]),
}


def _hinged(name: str, sample: str) -> Rig:
    rig = Samples().rig(sample)
    return replace(rig, name=name, skeleton=as_hinges(rig.skeleton))


def as_hinges(skeleton: Skeleton) -> Skeleton:
    """The skeleton with its swing-twist ranges read as those of three hinges x, y, z."""
    return replace(skeleton, limits=tuple(_stacked(limits) for limits in skeleton.limits))


def _stacked(limits: JointLimits | None) -> JointLimits | None:
    if limits is None or limits.form is not LimitForm.SWING_TWIST:
        return limits
    lower, upper = limits.lower.copy(), limits.upper.copy()
    lower[1], upper[1] = max(lower[1], -_MIDDLE), min(upper[1], _MIDDLE)
    return JointLimits(LimitForm.EULER, lower, upper, order="xyz")


# --- problems

UNREACHABLE = "unreachable"
_PUSHED_M = 0.5


def problems(rig: Rig, kind: str, count: int, seed: int) -> Problems:
    """``count`` problems of a class, unreachable ones included; rig, class and seed determine them."""
    if kind != UNREACHABLE:
        return bench_measures.problems(rig, kind, count, seed)
    found = bench_measures.problems(rig, "medium", count, seed)
    outward = found.targets - found.translations[:, :1]
    found.targets[:] += _PUSHED_M * outward / np.linalg.norm(outward, axis=-1, keepdims=True)
    return found


# --- paths of a cursor

SIZES_M = (0.3, 0.15, 0.075)
"""Lengths of lines and widths of loops, of which the first that at least half of the starts can reach is used."""
BEYOND_M = 1.2
"""Length of a path out of reach."""
_WAY_FRAMES, _STAY_FRAMES = 120, 30
_PATH_FRAMES = 60
_CHECKED = (_PATH_FRAMES // 4, _PATH_FRAMES // 2, 3 * _PATH_FRAMES // 4)


def out_and_back(
    solver: Solver, starts: Problems, shape: str, seed: int, tries: int, size_m: float
) -> list[tuple[Pose, Floats, Floats]]:
    """Start pose, targets (F, G, 3) and turns (G, 4) of one path, a "line" or "loop", per start for which one is found.

    The solver says what is within reach: a one-shot solve of places on the way. ``tries`` directions are tried for each
    start; ``size_m`` is one of `SIZES_M`.
    """
    random = np.random.default_rng([seed, len(shape)])
    found = []
    for places, turns, rotations, translations in zip(
        starts.targets, starts.turns, starts.rotations, starts.translations, strict=True
    ):
        start = Pose(rotations, translations)
        for _ in range(tries):
            targets = np.tile(places, (_PATH_FRAMES + 1, 1, 1))
            targets[:, random.integers(len(places))] += size_m * _walk(shape, random)
            on_the_way = (solver.solve(start, targets=targets[k], target_rotations=turns) for k in _CHECKED)
            if all(solution.status is Status.CONVERGED for solution in on_the_way):
                found.append((start, targets, turns))
                break
    return found


def beyond(starts: Problems, seed: int) -> list[tuple[Pose, Floats, Floats]]:
    """Start pose, targets (F, G, 3) and turns (G, 4) of one path per start.

    One effector goes `BEYOND_M` out, farther than it reaches, stays there and comes back.
    """
    random = np.random.default_rng([seed, 1])
    there = np.linspace(0.0, 1.0, _WAY_FRAMES + 1)
    parts = np.concatenate([there, np.ones(_STAY_FRAMES), there[::-1]])
    paths = []
    for places, turns, rotations, translations in zip(
        starts.targets, starts.turns, starts.rotations, starts.translations, strict=True
    ):
        way = random.normal(size=3)
        targets = np.tile(places, (len(parts), 1, 1))
        targets[:, random.integers(len(places))] += BEYOND_M * parts[:, None] * way / np.linalg.norm(way)
        paths.append((Pose(rotations, translations), targets, turns))
    return paths


def _walk(shape: str, random: np.random.Generator) -> Floats:
    """(F, 3) places of a path one metre in size, seen from its start: eased, ending where it began."""
    first, second = np.linalg.qr(random.normal(size=(3, 2)))[0].T
    turn = np.linspace(0.0, 2.0 * np.pi, _PATH_FRAMES + 1)[:, None]
    out = 0.5 * (1.0 - np.cos(turn))
    if shape == "line":
        return np.asarray(out * first)
    return np.asarray(out * first + 0.5 * np.sin(turn) * second)


# --- the score


def score(rig: Rig, targets: Floats, turns: Floats, rotations: Floats, translations: Floats) -> Score:
    """Score poses of a rig, with local rotations (N, J, 4) and translations (N, J, 3), metres.

    ``targets`` (N, G, 3) are in the world, metres; ``turns`` (N, G, 4) are for effectors with ``rig.turned``.
    """
    places, frames = world(rig.skeleton, rotations, translations)
    points = places[:, rig.joints] + np.einsum("ngij,gj->ngi", frames[:, rig.joints], rig.offsets)
    metres = np.linalg.norm(points - targets, axis=-1).max(axis=-1)
    apart = angle_between(matrices(turns), frames[:, rig.joints])
    degrees = np.degrees(np.where(rig.turned, apart, 0.0).max(axis=-1))
    outside_rad, outside_m = outside(rig.skeleton, rotations, translations)
    return Score.of(metres, degrees, outside_rad, outside_m)


def matrices(quaternions: Floats) -> Floats:
    """(..., 3, 3) of quaternions (..., 4), (x, y, z, w), of any length but 0."""
    x, y, z, w = np.moveaxis(quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def angle_between(a: Floats, b: Floats) -> Floats:
    """Radians (...) between rotations (..., 3, 3): exact for small angles, unlike the arc cosine of the trace."""
    d = np.swapaxes(a, -1, -2) @ b
    sine = 0.5 * np.linalg.norm(_vee(d), axis=-1)
    return np.asarray(np.arctan2(sine, 0.5 * (np.trace(d, axis1=-2, axis2=-1) - 1.0)))


def world(skeleton: Skeleton, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
    """Places (N, J, 3) and frames (N, J, 3, 3), world: W_j = W_parent q_j, p_j = p_parent + W_parent t_j."""
    local = matrices(rotations)
    frames, places = np.empty_like(local), np.empty_like(translations)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent < 0:
            frames[:, joint], places[:, joint] = local[:, joint], translations[:, joint]
        else:
            frames[:, joint] = frames[:, parent] @ local[:, joint]
            moved = np.einsum("nij,nj->ni", frames[:, parent], translations[:, joint])
            places[:, joint] = places[:, parent] + moved
    return places, frames


def outside(skeleton: Skeleton, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
    """(N,) radians and (N,) metres of the largest violation of a limit or a joint's kind."""
    turned = np.swapaxes(matrices(skeleton.rest_rotations), -1, -2) @ matrices(rotations)
    moved = translations - skeleton.offsets
    angles, lengths = np.zeros(len(rotations)), np.zeros(len(rotations))
    for joint, kind in enumerate(skeleton.kinds):
        if kind is JointKind.FREE:
            continue
        d, t = turned[:, joint], moved[:, joint]
        limits = skeleton.limits[joint]
        if kind is JointKind.SLIDE:
            direction = matrices(skeleton.rest_rotations[joint]) @ skeleton.axes[joint, 0]
            distance = t @ direction
            t = t - distance[:, None] * direction
            lengths = np.maximum(lengths, _excess(distance[:, None], limits))
        lengths = np.maximum(lengths, np.linalg.norm(t, axis=-1))
        angles = np.maximum(angles, _turned_outside(kind, skeleton.axes[joint], limits, d))
    return angles, lengths


def _turned_outside(kind: JointKind, axes: Floats, limits: JointLimits | None, d: Floats) -> Floats:
    """(N,) radians that rotations d (N, 3, 3) from rest are outside; ``axes`` (2, 3) are the joint's."""
    if kind is JointKind.BALL:
        return np.zeros(len(d)) if limits is None else _excess(_ball_angles(limits, d), limits, turns=True)
    if kind is JointKind.HINGE:
        angle = np.arctan2(0.5 * _vee(d) @ axes[0], 0.5 * (np.trace(d, axis1=1, axis2=2) - 1.0))
        other = angle_between(_about(axes[0], angle), d)
        return np.maximum(other, _excess(angle[:, None], limits, turns=True))
    if kind is JointKind.UNIVERSAL:
        # The first turn carries the second axis; seen from the joint, the second turn carries the first axis.
        second, first = d @ axes[1], np.swapaxes(d, 1, 2) @ axes[0]
        a = np.arctan2(second @ np.cross(axes[0], axes[1]), second @ axes[1])
        b = np.arctan2(first @ np.cross(axes[0], axes[1]), first @ axes[0])
        other = angle_between(_about(axes[0], a) @ _about(axes[1], b), d)
        return np.maximum(other, _excess(np.stack([a, b], axis=-1), limits, turns=True))
    return angle_between(np.eye(3), d)


def _ball_angles(limits: JointLimits, d: Floats) -> Floats:
    """(N, 3) the angles that a ball's limits are about, per axis x, y, z."""
    result = np.empty((len(d), 3))
    if limits.form is LimitForm.EULER:
        i, j, k = ("xyz".index(axis) for axis in limits.order)
        sign = 1.0 if (j - i) % 3 == 1 else -1.0
        result[:, i] = np.arctan2(-sign * d[:, j, k], d[:, k, k])
        result[:, j] = np.arcsin(np.clip(sign * d[:, i, k], -1.0, 1.0))
        result[:, k] = np.arctan2(-sign * d[:, i, j], d[:, i, i])
        return result
    axis = np.eye(3)[limits.twist_axis]
    carried = d @ axis
    normal = np.cross(axis, carried)
    sine = np.linalg.norm(normal, axis=-1)
    swing = np.arctan2(sine, carried @ axis)
    direction = normal / np.where(sine > 0.0, sine, 1.0)[:, None]
    twist = np.swapaxes(_about(direction, swing), 1, 2) @ d
    result[:] = direction * swing[:, None]
    result[:, limits.twist_axis] = np.arctan2(0.5 * _vee(twist) @ axis, 0.5 * (np.trace(twist, axis1=1, axis2=2) - 1.0))
    return result


def _excess(values: Floats, limits: JointLimits | None, *, turns: bool = False) -> Floats:
    """(N,) largest violation of ranges by values (N, k); ``turns``: they are angles with period 2 pi."""
    if limits is None:
        return np.zeros(len(values))
    full_turns = np.array([-2.0, 0.0, 2.0] if turns else [0.0]) * np.pi
    shifted = values[..., None] + full_turns
    over = np.maximum(limits.lower[:, None] - shifted, shifted - limits.upper[:, None]).min(axis=-1)
    return np.asarray(np.maximum(over, 0.0).max(axis=-1))


def _about(axes: Floats, angles: Floats) -> Floats:
    """(N, 3, 3) rotations by angles (N,) about one axis (3,) or N (N, 3): Rodrigues' formula."""
    x, y, z = np.moveaxis(np.broadcast_to(axes, (len(angles), 3)), -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(-1, 3, 3)
    sine, cosine = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    return np.asarray(np.eye(3) + sine * cross + (1.0 - cosine) * (cross @ cross))


def _vee(d: Floats) -> Floats:
    """(..., 3) twice the axis of rotations (..., 3, 3) times the sine of their angles."""
    return np.stack([d[..., 2, 1] - d[..., 1, 2], d[..., 0, 2] - d[..., 2, 0], d[..., 1, 0] - d[..., 0, 1]], axis=-1)


class OwnSource:
    """The problem sets as a source of `viewer.cli.bench_measures`."""

    sets = SETS
    rig = staticmethod(find_rig)
    problems = staticmethod(problems)
    drags = staticmethod(drags)
    score = staticmethod(score)
