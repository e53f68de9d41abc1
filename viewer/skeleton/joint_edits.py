"""Edits of skeletons as pure functions: they take a skeleton and return another one.

Other joints stay where they are at rest. Places are metres in the world at rest. Poses and bodies of the skeleton are
carried along; those of documents are carried by `viewer.document.remapping`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, quote
from viewer.skeleton.attached import with_ends
from viewer.skeleton.builder import Builder, KindWord, Limits
from viewer.skeleton.limits import JointKind
from viewer.skeleton.names import FreeNames, body_part, swapped_names
from viewer.skeleton.skeleton import Pose, Skeleton, effector_names
from viewer.skeleton.transfer import Carrier
from viewer.skeleton.tree import at_or_below, rest_world
from viewer.spatial.checks import Floats, finite_floats, whole
from viewer.spatial.quaternion import conjugate, multiply, normalized, perpendicular, rotate

SHORTEST = 1e-6
"""Metres: a shorter bone has no direction and is refused."""
MIDDLE = 1e-6
"""Metres from the mirror plane within which a joint is on it."""
_HINGE = (-np.pi / 2.0, np.pi / 2.0)
_STRAIGHT = 0.05
"""Sine of the angle between two bones below which they count as one line, without a normal."""

Kind = JointKind | KindWord


def begun(name: str, place: ArrayLike, *, title: str = "untitled") -> Skeleton:
    """A new skeleton of one free joint."""
    return Builder(name=title).add(name, offset=_place(place, name), kind="free").skeleton


def unplaced(skeleton: Skeleton) -> bool:
    """Whether it is the skeleton of an empty document: one fixed joint, a placeholder for the first one."""
    return len(skeleton) == 1 and skeleton.kinds[0] is JointKind.FIXED and not skeleton.effectors


def new_joint_name(skeleton: Skeleton, taken: Iterable[str] = ()) -> str:
    """``joint1``, ``joint2``, ...: the first that neither the skeleton nor ``taken`` has, also with a side."""
    known = effector_names(skeleton).union(taken)
    known |= {name[:-2] for name in known if name.endswith(("_l", "_r"))}
    return next(name for number in range(1, len(known) + 2) if (name := f"joint{number}") not in known)


def children_of(skeleton: Skeleton, joint: str) -> tuple[str, ...]:
    """Names of the children of a joint."""
    here = skeleton.index(joint)
    return tuple(skeleton.names[child] for child in np.flatnonzero(skeleton.parents == here).tolist())


def branch_of(skeleton: Skeleton, joint: str) -> tuple[str, ...]:
    """A joint and all below it, parents first."""
    inside = at_or_below(skeleton, skeleton.index(joint))
    return tuple(skeleton.names[index] for index in np.flatnonzero(inside).tolist())


def leaves_of(skeleton: Skeleton) -> tuple[str, ...]:
    """Joints without children that have a parent: the ends of chains."""
    inner = set(skeleton.parents.tolist())
    return tuple(name for j, name in enumerate(skeleton.names) if j not in inner and skeleton.parents[j] >= 0)


def _place(place: ArrayLike, joint: str) -> Floats:
    return finite_floats(place, (3,), f"place of {quote(joint)}")


def _finished(before: Skeleton, built: Skeleton, *apart: str) -> Skeleton:
    """The built skeleton with the poses of the one before, and its bodies, whose ends at a child stay at it.

    Raises:
        InputError: one of the joints ``apart`` is where its parent is.
    """
    for name in apart:
        place = built.index(name)
        if built.parents[place] >= 0 and not np.linalg.norm(built.offsets[place]) > SHORTEST:
            above = quote(built.names[built.parents[place]])
            raise InputError(f"joint {quote(name)}: expected a place away from its parent {above}")
    carrier, poses = Carrier(before, built), {}
    for name, pose in before.poses.items():
        own, new = carrier.pose(pose), carrier.source[:, None] < 0
        made = built.poses[name]
        rotations = np.where(new, made.rotations, own.rotations)
        poses[name] = Pose(rotations, np.where(new, made.translations, own.translations))
    built = replace(built, poses=poses) if poses else built
    if built.bodies is None:
        return built
    moved = {}
    for joint, (here, parent) in enumerate(zip(carrier.source.tolist(), built.parents.tolist(), strict=True)):
        if here >= 0 and carrier.direct[joint] and parent >= 0:
            ends = tuple(before.offsets[here].tolist()), tuple(built.offsets[joint].tolist())
            moved[(parent, *ends[0])] = ends[1]
    return replace(built, bodies=with_ends(built.bodies, moved))


# Joints added and removed


def added(
    skeleton: Skeleton,
    name: str,
    parent: str,
    place: ArrayLike,
    *,
    kind: Kind = "ball",
    facing: ArrayLike = (0.0, 0.0, 1.0),
) -> Skeleton:
    """Add a joint at the end of a new bone.

    ``place`` and ``facing`` (3,) are in the world at rest, metres. A parent that is a hinge without children gets the
    normal of its two bones as axis; hinges for which two bones do not give one get ``facing``: towards the eye. Axis
    and limits are as `with_kind` chooses them.
    """
    world, above = rest_world(skeleton), skeleton.index(parent)
    offset = rotate(conjugate(world.rotations[above]), _place(place, name) - world.positions[above])
    was_leaf = not children_of(skeleton, parent)
    made = _finished(skeleton, Builder(skeleton).add(name, parent, offset).skeleton, name)
    if was_leaf and made.kinds[above] is JointKind.HINGE:
        made = with_kind(made, parent, "hinge", axis=axis_for(made, parent, facing), limits=skeleton.limits[above])
    return made if kind == "ball" else with_kind(made, name, kind, facing=facing)


def split(skeleton: Skeleton, joint: str, name: str, part: float = 0.5) -> Skeleton:
    """Split the bone that ends at a joint, with a new ball joint in between.

    ``part`` of the bone, above 0 and below 1, is where it is split.
    """
    here = skeleton.index(joint)
    if skeleton.parents[here] < 0:
        raise InputError(f"joint {quote(joint)} is a root: it has no bone to split")
    if not 0.0 < part < 1.0:
        raise InputError(f"split of {quote(joint)}: expected a part between 0 and 1, found {part:g}")
    parent, offset = skeleton.names[skeleton.parents[here]], skeleton.offsets[here]
    builder = Builder(skeleton).add(name, parent, part * offset).move(joint, (1.0 - part) * offset, name)
    return _finished(skeleton, builder.skeleton, name)


def removed(skeleton: Skeleton, joint: str, *, branch: bool = False) -> Skeleton:
    """Remove a joint: its children move to its parent and stay where they are, or (``branch``) are removed, too."""
    gone = branch_of(skeleton, joint) if branch else (joint,)
    if len(gone) == len(skeleton):
        what = "the last joint" if len(skeleton) == 1 else f"{quote(joint)} with all joints below it"
        raise InputError(f"{what} cannot be removed: a skeleton needs one")
    builder, here = Builder(skeleton), skeleton.index(joint)
    if not branch:
        parent = int(skeleton.parents[here])
        for child in children_of(skeleton, joint):
            builder.reparent(child, None if parent < 0 else skeleton.names[parent])
            if parent < 0 and skeleton.kinds[here] is JointKind.FREE:
                builder.change(child, kind="free")
    return _finished(skeleton, builder.remove(joint).skeleton)


def reparented(skeleton: Skeleton, joint: str, parent: str | None) -> Skeleton:
    """Hang a joint, with all below it, on another parent, or make it a root; it stays where it is."""
    return _finished(skeleton, Builder(skeleton).reparent(joint, parent).skeleton, joint)


def duplicated(skeleton: Skeleton, joint: str, shift: ArrayLike, taken: Iterable[str] = ()) -> tuple[Skeleton, str]:
    """Copy a joint and all below it onto the same parent; also returns the copy's name.

    ``shift`` (3,) is in metres in the world at rest; the copies do not get names that are ``taken``, or in the
    skeleton.
    """
    here = skeleton.index(joint)
    free, above = FreeNames(effector_names(skeleton).union(taken)), int(skeleton.parents[here])
    by = _place(shift, joint)
    by = by if above < 0 else rotate(conjugate(rest_world(skeleton).rotations[above]), by)
    other = {name: free.numbered(name) for name in branch_of(skeleton, joint)}
    built = Builder(skeleton).copy(joint, other, by).skeleton
    return _finished(skeleton, built, other[joint]), other[joint]


# Joints moved


def moved(skeleton: Skeleton, joint: str, place: ArrayLike, *, children: bool = False) -> Skeleton:
    """Move a joint to another place.

    ``place`` (3,) is in metres in the world at rest. Unless its ``children`` move along, they stay where they are, with
    the joint's end sites.
    """
    world, here = rest_world(skeleton), skeleton.index(joint)
    parent = int(skeleton.parents[here])
    delta = _place(place, joint) - world.positions[here]
    offsets, tips = skeleton.offsets.copy(), skeleton.tip_offsets.copy()
    offsets[here] += delta if parent < 0 else rotate(conjugate(world.rotations[parent]), delta)
    if not children:
        back = rotate(conjugate(world.rotations[here]), delta)
        offsets[skeleton.parents == here] -= back
        tips[skeleton.tip_parents == here] -= back
    made = replace(skeleton, offsets=offsets, tip_offsets=tips)
    return _finished(skeleton, made, joint, *(() if children else children_of(skeleton, joint)))


def chain_through(skeleton: Skeleton, joint: str) -> tuple[str, ...]:
    """The chain that a joint is on: from the root or a joint where branches part to a leaf or the next such joint."""
    child_count = np.bincount(skeleton.parents + 1, minlength=len(skeleton) + 1)[1:]
    here = skeleton.index(joint)
    chain = [here]
    while child_count[chain[-1]] == 1:
        chain.append(int(np.flatnonzero(skeleton.parents == chain[-1])[0]))
    while (parent := int(skeleton.parents[chain[0]])) >= 0:
        chain.insert(0, parent)
        if child_count[parent] != 1:
            break
    return tuple(skeleton.names[index] for index in chain)


def with_links(skeleton: Skeleton, joint: str, count: int, taken: Iterable[str] = ()) -> Skeleton:
    """Give the chain that a joint is on another number of bones, of equal length, on the line where it was.

    Its first and last joint stay; joints between them keep their names in order, and others are removed or get new
    names.
    """
    chain = chain_through(skeleton, joint)
    if len(chain) < 2:
        raise InputError(f"joint {quote(joint)} is on no chain: it has neither bone nor child")
    whole(count, f"links of {quote(joint)}", least=1, most=1000)
    world = rest_world(skeleton)
    line = world.positions[[skeleton.index(name) for name in chain]]
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    at = np.linspace(0.0, along[-1], count + 1)[1:]
    points = np.stack([np.interp(at, along, line[:, axis]) for axis in range(3)], axis=1)
    points[-1] = line[-1]
    builder, inner = Builder(skeleton), list(chain[1:-1])
    names, like = inner[: count - 1], skeleton.index(inner[-1] if inner else chain[-1])
    known = {*taken}
    while len(names) < count - 1:
        names.append(new_joint_name(skeleton, known))
        known.add(names[-1])
    parent, before = chain[0], world.positions[skeleton.index(chain[0])]
    turn = world.rotations[skeleton.index(chain[0])]
    kind = skeleton.kinds[like]
    for name, point in zip([*names, chain[-1]], points, strict=True):
        offset = rotate(conjugate(turn), point - before)
        if name in skeleton.names:
            own = world.rotations[skeleton.index(name)]
            builder.move(name, offset, parent).change(name, rotation=normalized(multiply(conjugate(turn), own)))
            turn = own
        else:
            axis = rotate(conjugate(turn), rotate(world.rotations[like], skeleton.axes[like]))[: kind.axes]
            builder.add(name, parent, offset, kind=kind, axis=axis, limits=skeleton.limits[like])
        parent, before = name, point
    if len(inner) > count - 1:
        builder.remove(inner[max(count - 1, 0)])
    return _finished(skeleton, builder.skeleton, chain[-1])


# Kinds and axes


def axis_for(skeleton: Skeleton, joint: str, facing: ArrayLike) -> Floats:
    """(3,) unit axis of a hinge in the joint's rest frame: the normal of its two bones.

    Bones in one line, or a single one, have no normal: the axis is then ``facing``, a direction in the world, made
    perpendicular to the bone.
    """
    world, here = rest_world(skeleton), skeleton.index(joint)
    parent, children = int(skeleton.parents[here]), np.flatnonzero(skeleton.parents == here)
    eye = finite_floats(facing, (3,), "facing")
    bones = []
    if children.size:
        bones.append(world.positions[children].mean(axis=0) - world.positions[here])
    if parent >= 0:
        bones.append(world.positions[here] - world.positions[parent])
    bones = [bone / length for bone in bones if (length := float(np.linalg.norm(bone))) > SHORTEST]
    axis = np.cross(bones[1], bones[0]) if len(bones) == 2 else np.zeros(3)
    if np.linalg.norm(axis) < _STRAIGHT:
        bone = bones[0] if bones else np.zeros(3)
        axis = eye - (eye @ bone) * bone
        if np.linalg.norm(axis) < _STRAIGHT:
            axis = perpendicular(bone)
    elif axis @ eye < 0.0:
        axis = -axis
    axis = rotate(conjugate(world.rotations[here]), axis / np.linalg.norm(axis))
    return np.asarray(np.where(np.abs(axis) < 1e-12, 0.0, axis))


def with_kind(
    skeleton: Skeleton,
    joint: str,
    kind: Kind,
    *,
    axis: ArrayLike | None = None,
    limits: Limits | Literal["usual"] = "usual",
    facing: ArrayLike = (0.0, 0.0, 1.0),
) -> Skeleton:
    """Give a joint another kind, axes and limits.

    Args:
        skeleton: with the joint.
        joint: its name.
        kind: "free" is for roots.
        axis: (3,) of a hinge or slide, (2, 3) of a universal, in the joint's rest frame. None: that of `axis_for`; the
            two of a universal are perpendicular to the bone, that of a slide is along it.
        limits: as of `viewer.Builder.add`; "usual": a quarter turn both ways for a hinge, none for others.
        facing: as of `axis_for`.
    """
    word = JointKind(kind) if kind in set(JointKind) else kind
    if axis is None and word in set(JointKind):
        axis = _usual_axes(skeleton, joint, JointKind(word), facing)
    if isinstance(limits, str):
        limits = _HINGE if word == JointKind.HINGE else None
    return _finished(skeleton, Builder(skeleton).change(joint, kind=word, axis=axis, limits=limits).skeleton)


def _usual_axes(skeleton: Skeleton, joint: str, kind: JointKind, facing: ArrayLike) -> Floats:
    count, hinge = kind.axes, axis_for(skeleton, joint, facing)
    if count == 0 or kind is JointKind.HINGE:
        return hinge[None][:count]
    here = skeleton.index(joint)
    children = np.flatnonzero(skeleton.parents == here)
    bone = skeleton.offsets[children].mean(axis=0) if children.size else np.cross(hinge, perpendicular(hinge))
    length = float(np.linalg.norm(bone))
    bone = bone / length if length > SHORTEST else perpendicular(hinge)
    if kind is JointKind.SLIDE:
        return bone[None]
    across = hinge - (hinge @ bone) * bone
    across = across / np.linalg.norm(across) if np.linalg.norm(across) > _STRAIGHT else perpendicular(bone)
    return np.stack([across, np.cross(bone, across)])


# Left and right


def twin_of(skeleton: Skeleton, joint: str) -> str | None:
    """The joint with the same name on the other side, or None."""
    if not body_part(joint).side:
        return None
    return next((name for name in swapped_names(joint) if name in skeleton.names), None)


def sided_names(skeleton: Skeleton, joint: str, taken: Iterable[str] = ()) -> dict[int, str]:
    """New names for joints of a branch whose name has no side, by joint: ``arm_l`` where x > 0, else ``arm_r``."""
    world, here = rest_world(skeleton), skeleton.index(joint)
    x = float(world.positions[here, 0])
    if abs(x) <= MIDDLE:
        raise InputError(f"joint {quote(joint)} is in the middle: mirror a branch at one side")
    names = (*skeleton.names, *skeleton.tip_names, *taken)
    free, end = FreeNames(names), "l" if x > 0.0 else "r"
    plain = [name for name in branch_of(skeleton, joint) if not swapped_names(name)]
    return {skeleton.index(name): free.take(f"{name}_{end}") for name in plain}


def mirrored(skeleton: Skeleton, joint: str) -> Skeleton:
    """Mirror a branch to the other side, at x = 0 in the world; a branch that is there already is replaced.

    Names in the branch have a side, as after `sided_names`.
    """
    builder, branch = Builder(skeleton), branch_of(skeleton, joint)
    twin = twin_of(skeleton, joint)
    if twin is not None:
        if twin in branch or joint in branch_of(skeleton, twin):
            raise InputError(f"joint {quote(joint)}: its other side {quote(twin)} is on the same branch")
        builder.remove(twin)
    known = FreeNames((*skeleton.names, *(effector.name for effector in skeleton.effectors)))
    plain = [
        effector.name
        for effector in skeleton.effectors
        if skeleton.names[effector.joint] in branch and not swapped_names(effector.name)
    ]
    return _finished(skeleton, builder.mirror(joint, {name: known.numbered(name) for name in plain}).skeleton)
