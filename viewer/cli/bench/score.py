"""An independent score of solved poses: kinematics and limits, implemented again from the file format's definitions.

No code is shared with the solver or `viewer.skeleton`, so that bugs there cannot hide here. Rotations are 3x3 matrices;
N poses are scored together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viewer.cli.bench.rigs import Rig
from viewer.skeleton import JointKind, JointLimits, LimitForm, Skeleton
from viewer.spatial.checks import Bools, Floats

NEAR_ENOUGH_M = 1e-3
NEAR_ENOUGH_DEG = 0.5
"""Tolerances of goals."""
OUTSIDE_RAD = 1e-3
OUTSIDE_M = 1e-6
"""Tolerances of joint ranges and joint kinds: angles and lengths."""


@dataclass(frozen=True, slots=True, eq=False)
class Score:
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


def score(rig: Rig, targets: Floats, turns: Floats, rotations: Floats, translations: Floats) -> Score:
    """Score poses of a rig.

    Args:
        rig: the skeleton and its effectors.
        targets: (N, G, 3) target positions, metres, world frame.
        turns: (N, G, 4) target rotations, (x, y, z, w), for effectors with ``rig.turned``.
        rotations: (N, J, 4) of the poses, local.
        translations: (N, J, 3) of the poses, local, metres.
    """
    places, frames = world(rig.skeleton, rotations, translations)
    points = places[:, rig.joints] + np.einsum("ngij,gj->ngi", frames[:, rig.joints], rig.offsets)
    metres = np.linalg.norm(points - targets, axis=-1).max(axis=-1)
    apart = angle_between(matrices(turns), frames[:, rig.joints])
    degrees = np.degrees(np.where(rig.turned, apart, 0.0).max(axis=-1))
    outside_rad, outside_m = outside(rig.skeleton, rotations, translations)
    solved = (metres < NEAR_ENOUGH_M) & (degrees < NEAR_ENOUGH_DEG)  # false for NaN
    valid = solved & (outside_rad < OUTSIDE_RAD) & (outside_m < OUTSIDE_M)
    return Score(metres, degrees, outside_rad, outside_m, solved, valid)


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
