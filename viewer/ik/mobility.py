"""Mobility: how far each joint commonly turns, which makes solved poses look like a person's.

The solver weighs each dof by W = (spread / `REFERENCE`)^2 in J W J^T, so that a knee bends before it twists and a
shoulder moves before the collarbone does. Nothing here is fitted to recorded motion: the numbers are about a sixth of
people's common ranges of motion (American Academy of Orthopaedic Surgeons, "Joint Motion", 1965), and less for wrists,
collarbones and spines, which move where shoulders and hips cannot.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from viewer.ik.assemble import lengths_above, unit_near
from viewer.skeleton import Figure, JointKind, Limb, Skeleton, at_or_below, find_figure, joint_space, rest_world
from viewer.skeleton.limbs import ARM, flexion_axis, limb_places
from viewer.skeleton.limits import are_diagonal
from viewer.spatial.checks import Bools, Floats, frozen
from viewer.spatial.quaternion import IDENTITY, conjugate, from_matrix, multiply, rotate, unit

Degrees = tuple[float, float, float]

REFERENCE = np.radians(20.0)
"""The spread of weight 1: the default of joints without a prior."""
LEAST = np.radians(1.0)
"""The least spread: the metric stays invertible."""
MOST = np.pi
"""The largest spread: half a turn is the largest rotation."""
_SLIDES = 1e-3, 1e3
"""The same of slides, in the figure's units of length."""

_OF_RANGE = 1.0 / 6.0
"""Standard deviation per range of motion: three deviations on either side."""
_SLIDE = 0.05
"""Spread of an unlimited slide, in the figure's units of length."""

# Degrees about: the bending axis, the axis across it and the bone, the bone.
_SHOULDER, _ELBOW, _WRIST = (40.0, 30.0, 27.0), (30.0, 6.0, 8.0), (10.0, 8.0, 6.0)
_HIP, _KNEE, _ANKLE, _TOE = (25.0, 12.0, 15.0), (25.0, 4.0, 6.0), (12.0, 6.0, 6.0), (8.0, 3.0, 3.0)
_CLAVICLE, _HIP_GIRDLE = (6.0, 6.0, 4.0), (2.0, 2.0, 2.0)
# Degrees of the whole spine and neck, shared out among their joints as variances are.
_SPINE, _NECK, _HEAD = 15.0, 10.0, 10.0
# Degrees about forward, left and up: a body turns before it tilts.
_BODY = (7.0, 7.0, 60.0)


@lru_cache(maxsize=16)
def spreads(skeleton: Skeleton) -> Floats:
    """Typical standard deviation (J, 3) of every joint's dofs, radians (metres of a slide); never 0.

    Columns are the coordinates of hinges, universals and slides, else the axes x, y, z of the joint's own frame, which
    at rest is its rest frame. In this order: what the skeleton's file states; the limbs of a recognised
    figure, within their limits; a sixth of the limits' range; `REFERENCE`.
    """
    result = _by_limits(skeleton)
    figure = find_figure(skeleton)
    if figure is not None:
        known = _by_figure(skeleton, figure)
        space = joint_space(skeleton)
        half = 0.5 * _ranges(space.upper - space.lower)
        result = np.where(np.isnan(known), result, np.fmin(known, half))
    stated = stated_spreads(skeleton)
    result = np.where(np.isnan(stated), result, stated)
    least, most = (
        np.where(_slides(skeleton), slid * _unit(skeleton), turned)
        for slid, turned in zip(_SLIDES, (LEAST, MOST), strict=True)
    )
    return frozen(np.clip(result, least, most))


def _slides(skeleton: Skeleton) -> Bools:
    """(J, 1) which joints slide."""
    return np.array([[kind is JointKind.SLIDE] for kind in skeleton.kinds])


def _unit(skeleton: Skeleton) -> float:
    """The unit of length of a figure of this size, metres."""
    return unit_near(float(lengths_above(skeleton.parents, skeleton.offsets).max(initial=0.0)))


def _ranges(widths: Floats) -> Floats:
    """Widths (J, 3) of the ranges, NaN where unlimited."""
    return np.where(np.isfinite(widths), widths, np.nan)


def _by_limits(skeleton: Skeleton) -> Floats:
    """(J, 3) a sixth of each range, at most `REFERENCE` for turns; where there is none the default."""
    space = joint_space(skeleton)
    of_range = _OF_RANGE * _ranges(space.upper - space.lower)
    slides = _slides(skeleton)
    default = np.where(slides, _SLIDE * _unit(skeleton), REFERENCE)
    return np.where(np.isnan(of_range), default, np.where(slides, of_range, np.minimum(of_range, REFERENCE)))


@lru_cache(maxsize=16)
def principal(skeleton: Skeleton) -> tuple[Floats, Floats]:
    """Axes (J, 4) of joints that turn without limits, and how readily they turn about them (J, 3), 1 = `REFERENCE`.

    The axes are those of the limb, not of the joint's own frame: a knee's are the bending axis, the one across and
    the bone. A quaternion turns them into the joint's own. Where the file states three spreads, or those of their
    limits differ, they are about the joint's own axes; where it states a matrix, about that one's.
    """
    bases, table = np.tile(IDENTITY, (len(skeleton), 1)), np.array(spreads(skeleton))
    figure = find_figure(skeleton)
    if figure is not None:
        from_world = conjugate(rest_world(skeleton).rotations)
        stated = skeleton.states_mobility
        alike = (table == table[:, :1]).all(axis=-1) & ~stated
        bases[alike] = from_world[alike]
        for joint, (axes, degrees) in _by_axes(skeleton, figure).items():
            if not stated[joint]:
                bases[joint] = multiply(from_world[joint], from_matrix(axes.T))
                table[joint] = np.radians(degrees)
    for joint, (basis, widths) in stated_axes(skeleton).items():
        bases[joint], table[joint] = basis, widths
    return frozen(bases), frozen(np.clip(table, LEAST, MOST) / REFERENCE)


def _by_figure(skeleton: Skeleton, figure: Figure) -> Floats:
    """(J, 3) radians of the joints of a figure, NaN of others."""
    table = np.full((len(skeleton), 3), np.nan)
    table[list(figure.spine)] = _SPINE / np.sqrt(max(1, len(figure.spine)))
    table[list(figure.neck)] = _NECK / np.sqrt(max(1, len(figure.neck)))
    if figure.head is not None:
        table[figure.head] = _HEAD
    for joint, (axes, degrees) in _by_axes(skeleton, figure).items():
        table[joint] = _about(skeleton, joint, axes, degrees)
    return np.asarray(np.radians(table))


def _by_axes(skeleton: Skeleton, figure: Figure) -> dict[int, tuple[Floats, Degrees]]:
    """By joint: world axes at rest in rows, right-handed, and degrees about them."""
    found: dict[int, tuple[Floats, Degrees]] = {}
    if figure.upright:
        found[figure.root] = np.stack([figure.forward, figure.left, figure.up]), _BODY
    for limb in figure.limbs:
        limb_axes = _limb_axes(skeleton, figure, limb)
        if limb_axes is None:
            continue
        whole, lower = limb_axes
        arm = limb.kind == ARM
        for joint in limb.girdle:
            found[joint] = whole, _CLAVICLE if arm else _HIP_GIRDLE
        found[limb.upper] = whole, _SHOULDER if arm else _HIP
        found[limb.lower] = lower, _ELBOW if arm else _KNEE
        if limb.end is not None:
            found[limb.end] = lower, _WRIST if arm else _ANKLE
        if limb.toe is not None:
            found[limb.toe] = lower, _TOE
    return found


def _limb_axes(skeleton: Skeleton, figure: Figure, limb: Limb) -> tuple[Floats, Floats] | None:
    """World axes (3, 3) at rest in rows (bending, across, along the bone) of the upper and of the lower bone."""
    bending = flexion_axis(skeleton, figure, limb)
    if bending is None:
        return None
    world = rest_world(skeleton)
    axis = rotate(world.rotations[limb.lower], bending)
    shoulder, elbow, wrist = limb_places(world, limb)
    frames = []
    for bone in (unit(elbow - shoulder), unit(wrist - elbow)):
        across = unit(np.cross(bone, axis))
        frames.append(np.stack([np.cross(across, bone), across, bone]))
    return frames[0], frames[1]


def _about(skeleton: Skeleton, joint: int, axes: Floats, degrees: Degrees) -> Floats:
    """(3,) degrees about the joint's own dofs, of spreads about three right-angled world axes (rows) at rest.

    The variance about a direction u is the sum of (spread_i axis_i . u)^2.
    """
    own = _own_axes(skeleton, joint)
    in_joint = rotate(conjugate(rest_world(skeleton).rotations[joint]), axes)
    result = np.full(3, np.nan)
    result[: len(own)] = np.linalg.norm(np.array(degrees)[:, None] * (in_joint @ own.T), axis=0)
    return result


def metric(skeleton: Skeleton) -> Floats:
    """(J, 3) how readily each dof moves, 1 = `REFERENCE`, slides in units of length: the root of W's diagonal."""
    return frozen(spreads(skeleton) / np.where(_slides(skeleton), REFERENCE * _unit(skeleton), REFERENCE))


@lru_cache(maxsize=16)
def arm_joints(skeleton: Skeleton) -> frozenset[int]:
    """Joints of a recognised figure's arms, from the upper arm outwards; none where there is no figure."""
    figure = find_figure(skeleton)
    if figure is None:
        return frozenset()
    return frozenset(np.flatnonzero(at_or_below(skeleton, *(limb.upper for limb in figure.arms))).tolist())


@lru_cache(maxsize=16)
def stands(skeleton: Skeleton) -> bool:
    """Whether it is a figure with a free root: one-shot solves may then move the body to the goals first."""
    figure = find_figure(skeleton)
    return figure is not None and skeleton.kinds[figure.root] is JointKind.FREE


def stated_spreads(skeleton: Skeleton) -> Floats:
    """(J, 3) radians (metres of slides) of each dof; NaN where none. Columns: `viewer.ik.mobility.spreads`.

    Of a matrix S a coordinate about, or along, a unit axis u takes |S u|: of a diagonal one its numbers, to the bit.
    """
    result = np.full((len(skeleton), 3), np.nan) if skeleton.mobility is None else skeleton.mobility.copy()
    if skeleton.mobility_matrices is None:
        return result
    for joint in np.flatnonzero(skeleton.has_mobility_matrix).tolist():
        axes = _own_axes(skeleton, joint)
        result[joint] = 0.0
        result[joint, : len(axes)] = spread_about(skeleton.mobility_matrices[joint], axes)
    return result


def _own_axes(skeleton: Skeleton, joint: int) -> Floats:
    """The axes that a joint's dofs are about or along, in its rest frame: its own, or x, y and z."""
    count = skeleton.kinds[joint].axes
    return skeleton.axes[joint, :count] if count else np.eye(3)


def spread_about(matrix: Floats, axes: Floats) -> Floats:
    """|S u| of a matrix S (3, 3) for unit directions u (..., 3)."""
    size, unit = _scaled(matrix)
    with np.errstate(over="ignore"):
        return np.asarray(size * np.linalg.norm(axes @ unit, axis=-1))


def stated_axes(skeleton: Skeleton) -> dict[int, tuple[Floats, Floats]]:
    """By joint: principal axes and the spreads about them, where these are not the joint's own axes.

    Returns:
        (4,) rotations that turn x, y, z into the principal axes, and (3,) radians.
    """
    found: dict[int, tuple[Floats, Floats]] = {}
    if skeleton.mobility_matrices is None:
        return found
    for joint in np.flatnonzero(skeleton.has_mobility_matrix).tolist():
        matrix = skeleton.mobility_matrices[joint]
        if skeleton.kinds[joint].axes or bool(are_diagonal(matrix)):
            continue
        size, unit = _scaled(matrix)
        widths, axes = np.linalg.eigh(unit)
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] = -axes[:, 0]
        found[joint] = from_matrix(axes), size * np.maximum(widths, 0.0)
    return found


def _scaled(matrix: Floats) -> tuple[float, Floats]:
    """A power of two, and the matrix in its units: squares of its numbers, however large, are numbers."""
    size = math.ldexp(1.0, math.frexp(float(np.abs(matrix).max()))[1] - 1) if matrix.any() else 1.0
    return size, matrix / size
