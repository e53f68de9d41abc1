"""Poses, clips and skins of a skeleton carried to an edited one, by the names of joints."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from viewer.skeleton.character import Character
from viewer.skeleton.clip import Clip
from viewer.skeleton.kinematics import fk, fk_arrays
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.skeleton.skin import WORLD, Skin
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import IDENTITY, conjugate, multiply, normalized, rotate, to_matrix

_SAME = 1e-9
"""Metres, or quaternion components, below which two places at rest are the same: rounding."""


class Carrier:
    """Takes motion from a skeleton to an edited one.

    A joint that has kept its parent keeps its local rotation, to the bit, and its translation relative to its offset.
    A joint with another parent keeps its rotation and place in the world; a new joint is at rest.

    Attributes:
        old, new: the skeletons.
        source: (J',) index in the old skeleton of each joint, -1 for new ones.
        direct: (J',) whether a joint has the same parent as before.
    """

    def __init__(self, old: Skeleton, new: Skeleton) -> None:
        """Match the joints by name."""
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
        before, after = fk(self.old, self.old.rest_pose()), fk(self.new, self.new.rest_pose())
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
        old_rest, new_rest = fk(old, old.rest_pose()), fk(new, new.rest_pose())
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
        before, after = fk(self.old, self.old.rest_pose()), fk(self.new, self.new.rest_pose())
        place = {here: joint for joint, here in enumerate(self.source.tolist()) if here >= 0}
        joints, transforms = skin.joints.copy(), skin.transforms.copy()
        for slot, joint in enumerate(skin.joints.tolist()):
            follows = joint
            while follows >= 0 and follows not in place:
                follows = int(self.old.parents[follows])
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
