"""A pose of one skeleton on another: joints are matched by name and part of the body, rotations copied in the world.

Two skeletons with the same joints, tree and rest pose share their poses unchanged. Otherwise a joint k of the target
rotates away from its rest as its counterpart j does from its own: with R the world rotations at rest, W the posed ones,
F the rotation between the directions in which both figures stand, and B the rotation from the target's bone at rest to
the source's (arms that hang and arms that point sideways are different rest poses),
W_k = F (W_j R_j^-1) F^-1 B R_k.

Poses, clips and skins of a skeleton are carried to an edited one by the names of joints alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from viewer.errors import InputError, shown
from viewer.skeleton.attached import WORLD, Bodies, Capsule, Skin
from viewer.skeleton.character import Character
from viewer.skeleton.clip import Clip
from viewer.skeleton.figure import find_figure
from viewer.skeleton.joint_map import counterparts
from viewer.skeleton.kinematics import fk, fk_arrays
from viewer.skeleton.limbs import Figure, Limb, limb_places
from viewer.skeleton.limits import JointKind, kept_mimics
from viewer.skeleton.names import Effector
from viewer.skeleton.skeleton import Pose, Skeleton
from viewer.skeleton.tree import nearest_among, rest_tree, rest_world
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import (
    IDENTITY,
    between,
    conjugate,
    from_matrix,
    multiply,
    normalized,
    rotate,
    to_matrix,
    unit,
)

T = TypeVar("T")
A = TypeVar("A", Capsule, Effector)
_SAME = 1e-9
"""Metres, or quaternion components, below which two places at rest are the same: rounding."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """A pose that came from another skeleton.

    ``pose`` is of the target: joints without a counterpart are as they were. ``joints`` are indices of those that were
    posed, ascending.
    """

    pose: Pose
    joints: tuple[int, ...]


def has_same_rest(one: Skeleton, other: Skeleton) -> bool:
    """Whether two skeletons have the same names, tree and rest pose, so that they can share poses as they are."""
    return one is other or (
        one.names == other.names
        and np.array_equal(one.parents, other.parents)
        and np.allclose(one.rest_rotations, other.rest_rotations, rtol=0.0, atol=_SAME)
        and np.allclose(one.offsets, other.offsets, rtol=0.0, atol=_SAME)
    )


def transferred(source: Skeleton, pose: Pose, target: Skeleton, now: Pose) -> Transfer:
    """A pose of a skeleton for another one.

    ``now`` is the present pose of the target, which joints without a counterpart keep.
    """
    if has_same_rest(source, target):
        return Transfer(pose, tuple(range(len(target))))
    match = counterparts(source, target)
    joints = _with_those_between(target, np.flatnonzero(match >= 0).tolist())
    frame, scale = frame_between(source, target), leg_ratio(source, target)
    turned, posed = _turned(source, pose, target, match, frame), fk(source, pose)
    rotations, translations = now.rotations.copy(), now.translations.copy()
    world = np.empty((len(target), 4))
    chosen = set(joints)
    for joint, parent in enumerate(target.parents.tolist()):
        above = world[parent] if parent >= 0 else IDENTITY
        if match[joint] >= 0:
            rotations[joint] = multiply(conjugate(above), turned[joint])
        elif joint in chosen:
            rotations[joint] = target.rest_rotations[joint]
        if joint in chosen and parent >= 0:
            translations[joint] = target.offsets[joint]
        elif match[joint] >= 0:
            translations[joint] = scale * rotate(frame, posed.positions[match[joint]])
        rotations[joint] /= np.linalg.norm(rotations[joint])
        world[joint] = multiply(above, rotations[joint])
    made = Pose(rotations, translations)
    top = next((joint for joint in joints if match[joint] >= 0), -1)
    root = rest_tree(target).above(top)[-1] if top >= 0 else -1
    if root == top:
        return Transfer(made, tuple(joints))
    # The body may hang on joints without a counterpart: the topmost one carries it to its height.
    wanted = scale * rotate(frame, posed.positions[match[top]])
    translations = made.translations.copy()
    translations[root] += wanted - fk(target, made).positions[top]
    return Transfer(Pose(made.rotations, translations), tuple(sorted({root, *joints})))


def _with_those_between(target: Skeleton, matched: list[int]) -> list[int]:
    """The matched joints, and the joints between one of them and another further up."""
    chosen, known = set(matched), set(matched)
    for joint in matched:
        way, above = [], int(target.parents[joint])
        while above >= 0 and above not in known:
            way.append(above)
            above = int(target.parents[above])
        chosen.update(way if above >= 0 else ())
    return sorted(chosen)


def _turned(source: Skeleton, pose: Pose, target: Skeleton, match: Ints, frame: Floats) -> Floats:
    """(J, 4) world rotations of the target's joints that have a counterpart; the others are at rest."""
    rest, posed, own = rest_world(source), fk(source, pose), rest_world(target)
    turned = own.rotations.copy()
    for joint in np.flatnonzero(match >= 0).tolist():
        other = int(match[joint])
        away = multiply(posed.rotations[other], conjugate(rest.rotations[other]))
        turned[joint] = multiply(multiply(multiply(frame, away), conjugate(frame)), own.rotations[joint])
    mine, its = find_figure(target), find_figure(source)
    if mine is None or its is None:
        return turned
    for limbs, others in ((mine.arms, its.arms), (mine.legs, its.legs)):
        for limb, other_limb in zip(limbs, others, strict=False):
            for joint, bone in _bones(target, limb).items():
                wanted = _bones(source, other_limb).get(_counterpart(joint, limb, other_limb))
                if wanted is not None and match[joint] == _counterpart(joint, limb, other_limb):
                    away = multiply(turned[joint], conjugate(own.rotations[joint]))
                    aligned = multiply(between(bone, rotate(frame, wanted)), own.rotations[joint])
                    turned[joint] = multiply(away, aligned)
    return turned


def _counterpart(joint: int, limb: Limb, other: Limb) -> int:
    return {limb.upper: other.upper, limb.lower: other.lower}.get(joint, -1)


def _bones(skeleton: Skeleton, limb: Limb) -> dict[int, Floats]:
    """(3,) world directions at rest of a limb's two bones, by joint."""
    upper, middle, end = limb_places(rest_world(skeleton), limb)
    return {limb.upper: unit(middle - upper), limb.lower: unit(end - middle)}


def frame_between(source: Skeleton, target: Skeleton) -> Floats:
    """(4,) the rotation from the rest orientation of the source's figure to that of the target's."""
    mine, its = find_figure(target), find_figure(source)
    if mine is None or its is None:
        return IDENTITY
    return from_matrix(_axes(mine) @ _axes(its).T)


def _axes(figure: Figure) -> Floats:
    return np.stack([figure.left, figure.up, figure.forward], axis=1)


def leg_ratio(source: Skeleton, target: Skeleton) -> float:
    """How many times as long the target's legs are as the source's; without legs, its longest way from a root."""
    mine, its = _reach(target), _reach(source)
    return mine / its if mine > 0.0 and its > 0.0 else 1.0


def _reach(skeleton: Skeleton) -> float:
    figure = find_figure(skeleton)
    lengths = np.linalg.norm(skeleton.offsets, axis=-1)
    if figure is not None and figure.legs:
        way = limb_places(rest_world(skeleton), figure.legs[0])
        return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
    depth = np.zeros(len(skeleton))
    for joint, parent in enumerate(skeleton.parents.tolist()):
        depth[joint] = 0.0 if parent < 0 else depth[parent] + lengths[joint]
    return float(depth.max(initial=0.0))


def with_rig(character: Character, rig: Character) -> Character:
    """The character with kinds, limits, effectors and bodies of a rig's joints of the same names.

    Offsets, rest rotations and motion stay; frames that a kind from the rig cannot express are kept. Joints that
    are not in the rig stay as they are, except that limits derived from the clip are removed.

    Raises:
        InputError: no joint name is in the rig.
    """
    skeleton, lent = character.skeleton, rig.skeleton
    place = {name: joint for joint, name in enumerate(lent.names)}
    pairs = [(joint, place[name]) for joint, name in enumerate(skeleton.names) if name in place]
    if not pairs:
        raise InputError(f"the rig {shown(lent.name)} and {shown(skeleton.name)} have no joint name in common")
    kinds = list(skeleton.kinds)
    axes, stiffness = skeleton.axes.copy(), skeleton.stiffness.copy()
    derived = character.limits_derived
    limits = [None if derived else own for own in skeleton.limits]
    for joint, other in pairs:
        loose = lent.kinds[other] is JointKind.FREE and skeleton.parents[joint] >= 0
        kinds[joint] = JointKind.BALL if loose else lent.kinds[other]
        axes[joint], limits[joint], stiffness[joint] = lent.axes[other], lent.limits[other], lent.stiffness[other]
    mobility, matrices = _mobility(skeleton, lent, pairs)
    here = {other: joint for joint, other in pairs}
    capsules = _carried(() if lent.bodies is None else lent.bodies.capsules, here)
    missing = [name for name in lent.names if name not in skeleton.names]
    warnings = [f"the rig's joints {', '.join(missing)} are not in this file"] if missing else []
    rigged = replace(
        skeleton,
        kinds=tuple(kinds),
        axes=axes,
        limits=tuple(limits),
        stiffness=stiffness,
        mobility=mobility,
        mobility_matrices=matrices,
        effectors=_carried(lent.effectors, here) or skeleton.effectors,
        bodies=Bodies(capsules) if capsules else skeleton.bodies,
        inertias=_lent(skeleton.inertias, lent.inertias, len(skeleton), pairs),
        motors=_lent(skeleton.motors, lent.motors, len(skeleton), pairs),
        mimics=kept_mimics(lent.mimics or skeleton.mimics, skeleton.names, kinds),
    )
    limited = any(limit is not None for limit in limits)
    return replace(
        character,
        skeleton=rigged,
        warnings=(*character.warnings, *warnings),
        limits_from="file" if limited else None,
    )


def _mobility(skeleton: Skeleton, lent: Skeleton, pairs: list[tuple[int, int]]) -> tuple[Floats | None, Floats | None]:
    """Mobility (J, 3) and (J, 3, 3) of the rig where it states one, else of the skeleton."""
    here, there = map(list, zip(*pairs, strict=True))
    theirs = lent.states_mobility[there]
    if not theirs.any():
        return skeleton.mobility, skeleton.mobility_matrices
    found: list[Floats | None] = []
    for own, other, shape in (
        (skeleton.mobility, lent.mobility, (3,)),
        (skeleton.mobility_matrices, lent.mobility_matrices, (3, 3)),
    ):
        table = np.full((len(skeleton), *shape), np.nan) if own is None else own.copy()
        nothing = np.full((len(pairs), *shape), np.nan)
        some = nothing if other is None else other[there]
        table[here] = np.where(theirs.reshape(-1, *(1,) * len(shape)), some, table[here])
        found.append(None if np.isnan(table).all() else table)
    return found[0], found[1]


def _carried(stated: Iterable[A], here: Mapping[int, int]) -> tuple[A, ...]:
    """The rig's capsules or effectors whose joint the skeleton has; ``here`` is its index by that of the rig."""
    return tuple(replace(one, joint=here[one.joint]) for one in stated if one.joint in here)


def _lent(
    own: Sequence[T | None], lent: Sequence[T | None], count: int, pairs: list[tuple[int, int]]
) -> tuple[T | None, ...]:
    """What the rig states about joints, or, where it states nothing, the skeleton."""
    found = list(own or (None,) * count)
    for joint, other in pairs if lent else ():
        found[joint] = lent[other] or found[joint]
    return tuple(found)


class Carrier:
    """Takes motion from a skeleton to an edited one.

    A joint that has kept its parent keeps its local rotation, to the bit, and its translation relative to its offset.
    A joint with another parent keeps its rotation and place in the world; a new joint is at rest.

    ``source`` (J',) is the index in the ``old`` skeleton of each joint of the ``new`` one, -1 for new joints;
    ``direct`` (J',): the joint has the same parent as before.
    """

    def __init__(self, old: Skeleton, new: Skeleton) -> None:
        self.old, self.new = old, new
        index = {name: joint for joint, name in enumerate(old.names)}
        self.source: Ints = np.array([index.get(name, -1) for name in new.names], dtype=np.intp)
        source, before = self.source.tolist(), old.parents.tolist()
        self.direct: Bools = np.array(
            [
                here >= 0 and before[here] == (source[parent] if parent >= 0 else -1)
                and (parent < 0 or source[parent] >= 0)
                for here, parent in zip(source, new.parents.tolist(), strict=True)
            ]
        )  # fmt: skip
        self._kept = self.source >= 0
        self._axes = self._changed_axes()

    def _changed_axes(self) -> Floats | None:
        """(J', 4) rotations from a joint's old rest axes to its new ones; None if no axes have changed."""
        kept, here = self._kept, self.source[self._kept]
        same = np.array_equal(self.old.rest_rotations[here], self.new.rest_rotations[kept])
        if same and self.direct[kept].all():
            return None
        before, after = rest_world(self.old), rest_world(self.new)
        axes = np.tile((0.0, 0.0, 0.0, 1.0), (len(self.new), 1))
        turned = multiply(conjugate(before.rotations[here]), after.rotations[kept])
        turned *= np.where(turned[:, 3:] < 0.0, -1.0, 1.0)
        axes[kept] = np.where((np.abs(turned[:, :3]).max(axis=-1) > _SAME)[:, None], turned, axes[kept])
        return axes if (axes[:, :3] != 0.0).any() else None

    @property
    def lost(self) -> tuple[str, ...]:
        """Names of joints that the new skeleton does not have."""
        known = set(self.new.names)
        return tuple(name for name in self.old.names if name not in known)

    def arrays(self, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
        """Local rotations (F, J', 4) and translations (F, J', 3) of the new skeleton, from those of the old one."""
        old, new, kept, here = self.old, self.new, self._kept, self.source[self._kept]
        turned = np.tile(new.rest_rotations, (len(rotations), 1, 1))
        moved = np.tile(new.offsets, (len(rotations), 1, 1))
        turned[:, kept] = rotations[:, here]
        before, after = old.offsets[here], new.offsets[kept]
        own = translations[:, here]
        at_rest = (own == before).all(axis=-1)[..., None]
        shifted = np.where((before == after).all(axis=-1)[:, None], own, own + (after - before))
        moved[:, kept] = np.where(at_rest, after, shifted)
        if self._axes is None and self.direct[kept].all():
            return turned, moved
        return self._through_the_world(rotations, translations, turned, moved)

    def _through_the_world(
        self, rotations: Floats, translations: Floats, turned: Floats, moved: Floats
    ) -> tuple[Floats, Floats]:
        """Joints that do not keep their local rotation, parents first; ``turned`` and ``moved`` are changed."""
        old, new = self.old, self.new
        old_rest, new_rest = rest_world(old), rest_world(new)
        world = fk_arrays(old.parents, rotations, translations)
        axes = self._axes
        places, turns = np.empty_like(moved), np.empty_like(turned)
        for joint, (parent, here) in enumerate(zip(new.parents.tolist(), self.source.tolist(), strict=True)):
            above_turn = IDENTITY if parent < 0 else turns[:, parent]
            above = np.zeros(3) if parent < 0 else places[:, parent]
            reaxed = axes is not None and (axes[joint, :3].any() or (parent >= 0 and axes[parent, :3].any()))
            if here >= 0 and (reaxed or not self.direct[joint]):
                wanted = world.rotations[:, here]
                wanted = wanted if axes is None else multiply(wanted, axes[joint])
                turned[:, joint] = normalized(multiply(conjugate(above_turn), wanted))
                # A change of the rest position is applied in the new parent's frame.
                rest_above = np.zeros(3) if parent < 0 else new_rest.positions[parent]
                back = IDENTITY if parent < 0 else conjugate(new_rest.rotations[parent])
                shift = new.offsets[joint] - rotate(back, old_rest.positions[here] - rest_above)
                shift = shift if np.abs(shift).max() > _SAME else np.zeros(3)
                place = rotate(conjugate(above_turn), world.positions[:, here] - above) + shift
                near = (np.abs(place - new.offsets[joint]).max(axis=-1) <= _SAME)[..., None]
                moved[:, joint] = np.where(near, new.offsets[joint], place)
            turns[:, joint] = multiply(above_turn, turned[:, joint])
            places[:, joint] = above + rotate(above_turn, moved[:, joint])
        return turned, moved

    def pose(self, pose: Pose) -> Pose:
        """A pose of the new skeleton."""
        turned, moved = self.arrays(pose.rotations[None], pose.translations[None])
        return Pose(turned[0], moved[0])

    def clip(self, clip: Clip) -> Clip:
        """A clip of the new skeleton's joints."""
        turned, moved = self.arrays(clip.rotations, np.asarray(clip.local_translations()))
        travels = (moved != self.new.offsets).any(axis=(0, 2))
        travels[self._kept] |= np.isin(self.source[self._kept], clip.translated)
        translated = np.flatnonzero(travels)
        return replace(
            clip, rotations=turned, translated=translated, translations=moved[:, translated], offsets=self.new.offsets
        )

    def skin(self, skin: Skin) -> Skin:
        """The skin, unchanged at rest: vertices of a removed joint follow the nearest joint above it."""
        before, after = rest_world(self.old), rest_world(self.new)
        place = {here: joint for joint, here in enumerate(self.source.tolist()) if here >= 0}
        joints, transforms = skin.joints.copy(), skin.transforms.copy()
        for slot, joint in enumerate(skin.joints.tolist()):
            follows = nearest_among(self.old, joint, place)
            joints[slot] = WORLD if follows < 0 else place[follows]
            if joint < 0:
                continue
            turn = to_matrix(before.rotations[joint])
            linear, shift = turn @ transforms[slot, :, :3], turn @ transforms[slot, :, 3] + before.positions[joint]
            if follows >= 0:
                back = to_matrix(after.rotations[place[follows]]).T
                linear, shift = back @ linear, back @ (shift - after.positions[place[follows]])
            transforms[slot] = np.column_stack([linear, shift])
        sizes = {
            clip: one._replace(
                joints=np.array([place[j] for j in one.joints.tolist() if j in place], dtype=np.intp),
                changes=one.changes[:, [k for k, j in enumerate(one.joints.tolist()) if j in place]],
            )
            for clip, one in skin.sizes.items()
        }
        return replace(
            skin, joints=joints, transforms=transforms, skeleton_joints=len(self.new), sizes=sizes, parts=None
        )

    def character(self, character: Character) -> Character:
        """Its clips, skin and source on the edited skeleton; BVH channels are those of the joints in the file alone."""
        same = self.old.names == self.new.names and np.array_equal(self.old.parents, self.new.parents)
        source = character.source if same else replace(character.source, layout=None, joint_order=())
        return replace(
            character,
            skeleton=self.new,
            clips=MappingProxyType({name: self.clip(clip) for name, clip in character.clips.items()}),
            source=source,
            skin=None if character.skin is None else self.skin(character.skin),
        )
