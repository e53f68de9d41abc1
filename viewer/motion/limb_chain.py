"""Two-bone IK of all frames at once, in closed form: a hand or foot reaches a position, and the limb keeps its plane.

Twist joints between the bones keep their local rotations: each bone turns with all joints below it.

A shoulder or hip with one or two hinges cannot make every turn, but it can aim the limb (`posed_by_hinges`): the elbow
folds until the hand is as far from the shoulder as wanted, and the shoulder aims it. If the elbow is no hinge, the
upper bone is aimed. Of the two solutions, the one that is inside the limits and nearer to the wanted turn is taken; the
twist follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.motion.hinge_angles import aiming_angles, angle_about, ranges_of, turn_of
from viewer.skeleton import JointKind, Limb, Skeleton, World, find_figure
from viewer.skeleton.limbs import Figure, flexion_axis
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import (
    IDENTITY,
    angle_between,
    between,
    conjugate,
    cross,
    dot,
    from_axis_angle,
    multiply,
    norm,
    normalized,
    perpendicular,
    rotate,
    unit,
    wrapped,
)

_STRAIGHTEST = 0.9995
"""The reach of a limb in lengths of its bones, if it was not straighter already."""
_SHORTEST = 1e-3
"""The least reach of a folded limb: the difference of its bones plus this share."""
_STRAIGHT, _BENT = 0.05, 0.2
"""Sines of the bend below which the limb bends about its flexion axis alone, and above which about its own normal."""
_NEARLY, _CLEARLY = 0.35, 0.7
"""The same where that axis is the limb's own: small sideways bends, from noise or chance, stay as they are. Folding the
limb in the plane of a bend of a few degrees would enlarge it several times.
"""
_FAR = 0.5
"""Sine of a bend that is surely to the side that a limb flexes to: nothing is overstretched by 30 degrees."""
_AXIS_AGREES = 0.7
"""A flexion axis is a limb's own if the normals of frames that are bent that far have this mean cosine to it."""
_TINY = 1e-12


def limb_joints(limb: Limb) -> tuple[int, ...]:
    """The joints that `pose_limbs` turns: upper and lower bone, and the hand or foot if it is a joint."""
    return (limb.upper, limb.lower) if limb.end is None else (limb.upper, limb.lower, limb.end)


def limb_points(limb: Limb, world: World) -> tuple[Floats, Floats, Floats]:
    """World positions (F, 3) of shoulder, elbow and wrist, or hip, knee and ankle, in all frames."""
    return world.positions[:, limb.upper], world.positions[:, limb.lower], world.point(*limb.tip)


class LimbGoals(NamedTuple):
    """Where the end of a limb should be, frame by frame; numbers of frames may differ between limbs.

    Attributes:
        limb: an arm or a leg of the skeleton's figure.
        world: positions and rotations (F, J) of all joints before.
        goals: (F, 3) world positions of the wrist or ankle. Towards one out of reach the limb points nearly straight,
            or as straight as it already was.
        turns: (F, 4) world rotations of the hand or foot; None: it turns with the lower bone.
        axis: (3,) flexion axis in the frame of the lower joint, as of `flexion_axis`; None: that one, or if there is
            none, the axis that the limb bends about the most in these frames.
        own: whether the flexion axis is known to be the limb's own, as `flexes_about_own` finds it in a whole motion of
            which these are some frames. False: as these frames show it.
    """

    limb: Limb
    world: World
    goals: Floats
    turns: Floats | None = None
    axis: Floats | None = None
    own: bool = False


def flexes_about_own(skeleton: Skeleton, limb: Limb, world: World) -> bool:
    """Whether a limb bends about the flexion axis that its skeleton shows: what `pose_limbs` then does is local."""
    known = _known_axes(skeleton).get((limb.upper, limb.lower))
    if known is None or skeleton.kinds[limb.lower] is JointKind.HINGE:
        return known is not None
    shoulder, elbow, wrist = limb_points(limb, world)
    normal, steady = cross(elbow - shoulder, wrist - elbow), rotate(world.rotations[:, limb.lower], known)
    far = _bends(elbow - shoulder, wrist - elbow, normal) > _FAR
    return bool((dot(unit(normal), steady) * far).sum() >= _AXIS_AGREES * far.sum())


def _bends(upper: Floats, lower: Floats, normal: Floats) -> Floats:
    """Sines (F,) of the bends between two bones (F, 3) whose cross product is the normal; 1 beyond a right angle."""
    sine = norm(normal) / np.maximum(norm(upper) * norm(lower), _TINY)
    return np.where(dot(upper, lower) > 0.0, sine, 1.0)


def pose_limbs(skeleton: Skeleton, wanted: Sequence[LimbGoals]) -> list[Floats]:
    """Local rotations that bring the ends of limbs to goals, frame by frame; the joints above them stay.

    The elbow or knee turns about the normal of the limb, and where it is nearly straight about its flexion axis, always
    to the side that it flexes to: one that is overstretched by a degree does not flip. Then the limb swings the
    shortest way onto the goal, so that its plane is kept.

    None of the limbs hangs on another.

    Returns:
        (F, 2 or 3, 4) local rotations of the `limb_joints` of each.
    """
    if not wanted:
        return []
    shoulder, elbow, wrist = map(
        np.concatenate, zip(*(limb_points(one.limb, one.world) for one in wanted), strict=True)
    )
    bend, counts = _bend_axes(skeleton, wanted, shoulder, elbow, wrist), [len(one.goals) for one in wanted]
    to_shoulder, to_wrist = shoulder - elbow, wrist - elbow
    away = np.concatenate([one.goals for one in wanted]) - shoulder
    longest = longest_reach(norm(to_shoulder) + norm(to_wrist), norm(wrist - shoulder))
    folding = fold(bend, to_shoulder, to_wrist, norm(away), longest)
    hinges = np.repeat([skeleton.kinds[one.limb.lower] is JointKind.HINGE for one in wanted], counts)
    if not hinges.all():
        # A sideways bend keeps a limb from stretching as far as it should: the rest is made in its own plane.
        folded = rotate(folding, to_wrist)
        normal = unit(cross(folded, to_shoulder))
        own = np.where((hinges | ~normal.any(axis=1))[:, None], bend, normal)
        folding = multiply(fold(own, to_shoulder, folded, norm(away), longest), folding)
    reached = rotate(folding, to_wrist) - to_shoulder
    swing = between(_or_else(reached, to_wrist), _or_else(away, reached))
    return _locals(skeleton, wanted, swing, multiply(swing, folding))


def longest_reach(bones: Floats, now: Floats) -> Floats:
    """Metres (F,) that a limb may reach whose bones have these lengths together, and whose end is that far away now."""
    return np.maximum(bones * _STRAIGHTEST, now)


def fold(bend: Floats, to_shoulder: Floats, to_wrist: Floats, distance: Floats, longest: Floats) -> Floats:
    """Turns (F, 4) of the lower bone about an axis that bring the wrist to a distance from the shoulder.

    Args:
        bend: (F, 3) the axis, a unit vector; a positive turn flexes the limb.
        to_shoulder: (F, 3) from the elbow.
        to_wrist: (F, 3) from there, too.
        distance: (F,) wanted, metres.
        longest: (F,) that it may be.
    """
    upper, lower = norm(to_shoulder), norm(to_wrist)
    within = np.clip(distance, np.abs(upper - lower) * (1.0 + _SHORTEST), longest)
    return from_axis_angle(bend, _flexion(bend, to_shoulder, to_wrist, 0.5 * (upper**2 + lower**2 - within**2)))


def _flexion(bend: Floats, to_shoulder: Floats, to_wrist: Floats, wanted: Floats) -> Floats:
    """Radians (F,) to turn the lower bone about ``bend``, so that to_shoulder . to_wrist becomes ``wanted``.

    With n the axis, v the lower bone and u the way to the shoulder, the turned dot product is
    (u.n)(v.n) + A cos(angle) + B sin(angle). Of its two solutions this is the one on the flexed side of straight.
    """
    along, across = dot(to_shoulder, bend) * dot(to_wrist, bend), cross(bend, to_wrist)
    cosine, sine = dot(to_shoulder, to_wrist) - along, dot(to_shoulder, across)
    size = np.maximum(np.hypot(cosine, sine), _TINY)
    return wrapped(np.arctan2(sine, cosine) - np.arccos(np.clip((wanted - along) / size, -1.0, 1.0)))


def _bend_axes(
    skeleton: Skeleton, wanted: Sequence[LimbGoals], shoulder: Floats, elbow: Floats, wrist: Floats
) -> Floats:
    """Unit axes (N, 3), world frame, about which the lower bones bend: normals, but steady where a limb is straight.

    Points are (N, 3), the frames of all limbs in order.
    """
    normal = cross(elbow - shoulder, wrist - elbow)
    turn = np.concatenate([one.world.rotations[:, one.limb.lower] for one in wanted])
    axes, first = [], 0
    for one in wanted:
        frames = slice(first, first + len(one.goals))
        axis, first = one.axis, frames.stop
        if axis is None:
            axis = _flexion_axis(skeleton, one.limb, rotate(conjugate(turn[frames]), normal[frames]))
        axes.append(np.broadcast_to(axis / np.linalg.norm(axis), one.goals.shape))
    steady = rotate(turn, np.concatenate(axes))
    hinges = [skeleton.kinds[one.limb.lower] is JointKind.HINGE for one in wanted]
    if all(hinges):
        return steady
    bent = _bends(elbow - shoulder, wrist - elbow, normal)
    flexing, known = _flexing(skeleton, wanted, unit(normal), steady, bent)
    low, high = np.where(known, _NEARLY, _STRAIGHT), np.where(known, _CLEARLY, _BENT)
    part = np.clip((bent - low) / (high - low), 0.0, 1.0)[:, None]
    mixed = part * flexing + (1.0 - part) * steady
    # Perpendicular to the lower bone, which then turns in a plane: else the limb could not be stretched.
    lower = wrist - elbow
    mixed -= lower * (dot(mixed, lower) / np.maximum(dot(lower, lower), _TINY))[:, None]
    mixed /= np.maximum(norm(mixed), _TINY)[:, None]
    fixed = np.repeat(hinges, [len(one.goals) for one in wanted])
    return np.where(fixed[:, None], steady, mixed)


def _flexing(
    skeleton: Skeleton, wanted: Sequence[LimbGoals], own: Floats, steady: Floats, bent: Floats
) -> tuple[Floats, Bools]:
    """Normals (N, 3) of limbs on the side that they flex to, and whether the flexion axes are the limbs' own (N,).

    A limb that bends to the other side by less than `_FAR` is overstretched, and flexes mirrored: its sideways bend
    stays, and nothing turns over when it passes from one side to the other. If the axis is not the limb's own, as with
    thighs that spin about themselves, whole stretches decide the side.

    ``own`` (N, 3): unit normals, and ``steady`` (N, 3): flexion axes, world frame; ``bent`` (N,): sines of the bends; 1
    beyond a right angle.
    """
    counts = [len(one.goals) for one in wanted]
    limb, towards = np.repeat(np.arange(len(wanted)), counts), dot(own, steady)
    far = np.bincount(limb, bent > _FAR, len(wanted)), np.bincount(limb, (bent > _FAR) * towards, len(wanted))
    known = (np.array([one.own for one in wanted]) | (far[1] >= _AXIS_AGREES * far[0]))[limb]
    found = own + np.where(bent < _FAR, 2.0 * np.maximum(-towards, 0.0), 0.0)[:, None] * steady
    if known.all():
        return found, known
    carried = rotate(conjugate(np.concatenate([_carrying(skeleton, one) for one in wanted])), own)
    return np.where(known[:, None], found, _sides(carried, towards * bent, bent, wanted)[:, None] * own), known


def _carrying(skeleton: Skeleton, one: LimbGoals) -> Floats:
    """World rotations (F, 4) of the joint that carries a limb."""
    parent = int(skeleton.parents[one.limb.upper])
    return one.world.rotations[:, parent] if parent >= 0 else np.broadcast_to(IDENTITY, (len(one.goals), 4))


def _sides(normal: Floats, towards: Floats, sine: Floats, wanted: Sequence[LimbGoals]) -> Floats:
    """(N,) 1, or -1 where a normal points away from the flexion axis: one side for each stretch of bent frames.

    An axis that is perpendicular to the normals, as with a thigh that spins about itself, would give changing sides. So
    normals are followed through each stretch, and the whole stretch decides the side. Normals are seen from the joint
    that carries the limb: a body that spins does not turn its knees over.

    ``normal`` (N, 3): in the frame of that joint; ``towards`` (N,): dot products of normals with the flexion axis;
    ``sine`` (N,): of the bend.
    """
    bent = sine > _STRAIGHT
    starts = np.zeros(len(bent), dtype=np.bool_)
    starts[np.cumsum([0, *(len(one.goals) for one in wanted[:-1])])] = True
    starts[1:] |= bent[1:] != bent[:-1]
    stretch = np.cumsum(starts) - 1
    turns_over = np.zeros(len(bent), dtype=np.bool_)
    turns_over[1:] = (dot(normal[1:], normal[:-1]) < 0.0) & ~starts[1:]
    onward = 1.0 - 2.0 * (np.cumsum(turns_over) % 2)
    side = np.where(np.bincount(stretch, onward * towards)[stretch] < 0.0, -onward, onward)
    return np.where(bent, side, np.where(towards < 0.0, -1.0, 1.0))


def _flexion_axis(skeleton: Skeleton, limb: Limb, normals: Floats) -> Floats:
    """The limb's flexion axis (3,); where the rest pose does not show it, the mean of its normals in these frames."""
    known = _known_axes(skeleton).get((limb.upper, limb.lower))
    if known is not None:
        return known
    total = normals.sum(axis=0)
    if np.linalg.norm(total) > _TINY:
        return np.asarray(total)
    along = limb.tip[1] if limb.end is None else skeleton.offsets[limb.end]
    return perpendicular(along / max(float(np.linalg.norm(along)), _TINY))


@lru_cache(maxsize=16)
def _known_axes(skeleton: Skeleton) -> dict[tuple[int, int], Floats | None]:
    """Flexion axes (3,) by the upper and lower joint of the limbs of a skeleton's figure."""
    figure = find_figure(skeleton)
    if figure is None:
        return {}
    return {(limb.upper, limb.lower): flexion_axis(skeleton, figure, limb) for limb in figure.limbs}


def _locals(skeleton: Skeleton, wanted: Sequence[LimbGoals], swing: Floats, folded: Floats) -> list[Floats]:
    """Local rotations of `limb_joints`: upper bones turned by ``swing``, lower ones by ``folded`` (N, 4), in the world.

    Joints between two of these turn with the upper one.
    """
    carried, own, turned, above = [], [], [], []
    first = 0
    for one in wanted:
        frames = slice(first, first + len(one.goals))
        first, before = frames.stop, one.world.rotations
        still = np.broadcast_to(IDENTITY, (*one.goals.shape[:1], 4))
        turns = (swing[frames], folded[frames], folded[frames])
        for joint, turn, carrier in zip(limb_joints(one.limb), turns, (still, *turns), strict=False):
            parent = int(skeleton.parents[joint])
            given = one.turns if joint == one.limb.end else None
            turned.append(turn if given is None else still)
            own.append(before[:, joint] if given is None else given)
            carried.append(carrier if parent >= 0 else still)
            above.append(before[:, parent] if parent >= 0 else still)
    over = multiply(np.concatenate(carried), np.concatenate(above))
    now = multiply(np.concatenate(turned), np.concatenate(own))
    local, found, first = normalized(multiply(conjugate(over), now)), [], 0
    for one in wanted:
        count = len(limb_joints(one.limb))
        after = first + count * len(one.goals)
        found.append(local[first:after].reshape(count, len(one.goals), 4).swapaxes(0, 1))
        first = after
    return found


def _or_else(ways: Floats, others: Floats) -> Floats:
    """Directions (F, 3), replaced by others where they have no length."""
    known = norm(ways) > _TINY
    if known.all():
        return ways
    return np.where(known[:, None], ways, np.where(norm(others)[:, None] > _TINY, others, 1.0))


_AIMS = 0.2
"""Sine of the angle between a bone and the second axis of a universal above which that axis aims the bone."""


class Bones(NamedTuple):
    """A limb at rest.

    Attributes:
        upper: (3,) from its upper to its lower joint, in the frame of the upper one.
        lower: (3,) from its lower joint to its end, in the frame of the lower one.
        between: (4,) the frame of the lower joint in that of the upper one.
    """

    upper: Floats
    lower: Floats
    between: Floats


def bones_of(skeleton: Skeleton, limb: Limb) -> Bones:
    """The bones of a limb."""

    def seen(joint: int, above: int, place: Floats) -> tuple[Floats, Floats]:
        """Turn (4,) of a joint, and a place in it (3,), in the frame of one above."""
        turn = np.array((0.0, 0.0, 0.0, 1.0))
        while joint != above:
            turn = multiply(skeleton.rest_rotations[joint], turn)
            place = skeleton.offsets[joint] + rotate(skeleton.rest_rotations[joint], place)
            joint = int(skeleton.parents[joint])
        return turn, place

    between, upper = seen(limb.lower, limb.upper, np.zeros(3))
    joint, place = limb.tip
    return Bones(upper, seen(joint, limb.lower, np.asarray(place))[1], between)


def is_hinged(skeleton: Skeleton, limb: Limb) -> bool:
    """Whether a limb is posed by `posed_by_hinges`: its shoulder or hip is no ball, and aims it."""
    kind = skeleton.kinds[limb.upper]
    if kind is not JointKind.UNIVERSAL:
        return kind is JointKind.HINGE
    axes, way = skeleton.axes[limb.upper], bones_of(skeleton, limb).upper
    # A universal whose second axis only twists the bone gets the nearest turns instead.
    return float(norm(cross(axes[1], way))) > _AIMS * float(norm(way))


def posed_by_hinges(
    skeleton: Skeleton, figure: Figure, limb: Limb, over: Floats, elbow: Floats, wrist: Floats, wanted: Floats
) -> dict[int, Floats]:
    """Local rotations (F, 4) of a limb's upper joint, and of its lower one if that is a hinge, by joint.

    Args:
        skeleton: with the limb.
        figure: that it is.
        limb: whose upper joint is a hinge or a universal.
        over: (F, 4) world rotations of what carries it.
        elbow: (F, 3) from the shoulder to where the lower joint is to be, world frame.
        wrist: (F, 3) to where the end of the limb is to be.
        wanted: (F, 4) world rotations that the upper joint should have.
    """
    bones, found = bones_of(skeleton, limb), {}
    way, target = np.broadcast_to(bones.upper, elbow.shape), elbow
    if skeleton.kinds[limb.lower] is JointKind.HINGE:
        axis = flexion_axis(skeleton, figure, limb)
        assert axis is not None
        flexes, lower = rotate(bones.between, axis), np.broadcast_to(rotate(bones.between, bones.lower), way.shape)
        folding = fold(flexes, -way, lower, norm(wrist), norm(way) + norm(lower))
        way, target = way + rotate(folding, lower), wrist
        own = multiply(conjugate(bones.between), multiply(folding, bones.between))
        found[limb.lower] = multiply(skeleton.rest_rotations[limb.lower], own)
    found[limb.upper] = _aimed(skeleton, limb.upper, way, over, target, wanted)
    return found


def _aimed(skeleton: Skeleton, joint: int, way: Floats, over: Floats, target: Floats, wanted: Floats) -> Floats:
    """Local rotations (F, 4) of a hinge or universal that turn vectors nearest to targets.

    ``way`` (F, 3): in the joint's frame; ``over`` (F, 4): world rotations of what carries it; ``target`` (F, 3):
    directions, world frame; ``wanted`` (F, 4): world rotations that the joint should have.
    """
    rest = skeleton.rest_rotations[joint]
    standing = multiply(over, rest)
    seen, turn = rotate(conjugate(standing), target), multiply(conjugate(standing), wanted)
    axes = skeleton.axes[joint]
    if skeleton.kinds[joint] is JointKind.HINGE:
        return multiply(rest, from_axis_angle(axes[0], angle_about(axes[:1], way, seen)))
    ranges = ranges_of(skeleton, [joint])

    def cost(angles: Floats) -> Floats:
        return np.asarray(ranges.cost(angles) + angle_between(turn_of(axes, angles), turn).mean(axis=-1))

    return multiply(rest, turn_of(axes, aiming_angles(axes, way, seen, cost)))
