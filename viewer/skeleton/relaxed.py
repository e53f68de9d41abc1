"""The relaxed pose of a recognised figure, and blends of two poses.

One-shot IK starts from it: limbs that are already bent the right way rarely end up bent the wrong way. Bones are aimed
at directions in the world, so that the rest pose may be a T-pose, an A-pose or anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from viewer.skeleton.clip_limits import LEAST, MARGIN
from viewer.skeleton.coordinates import joint_space, project_pose
from viewer.skeleton.figure import find_figure
from viewer.skeleton.kinematics import World, fk, tip_positions
from viewer.skeleton.limbs import ARM, Figure, Limb, bends_towards, flexion_axis, limb_places
from viewer.skeleton.limits import JointKind
from viewer.skeleton.skeleton import DERIVED_POSES, Pose, Skeleton
from viewer.skeleton.tree import at_or_below, rest_world
from viewer.spatial.checks import Floats, handed_over
from viewer.spatial.quaternion import between, conjugate, from_axis_angle, from_matrix, multiply, rotate, slerp, unit

ARM_DOWN = np.radians(70.0)
"""Upper arms point this far below the horizontal."""
_ARM_AHEAD = np.radians(15.0)
"""... and their horizontal part is rotated this far forward."""
_ARM_INWARD = np.radians(15.0)
"""The forearms' plane is turned this far inward from straight ahead."""
ELBOW = np.radians(25.0)
THIGH = np.radians(10.0)
"""Half of `KNEE`: the feet stay under the hips, as in balanced standing."""
_ACROSS = 1e-6
"""A bone lies along an axis if less than this part of its length is perpendicular to it."""
_LEG_APART = np.radians(2.0)
KNEE = np.radians(20.0)
_FOOT_DOWN = np.radians(25.0)
"""Slope from the ankle to the toes, where the rest pose does not show it."""


@lru_cache(maxsize=16)
def derived_pose(skeleton: Skeleton) -> Pose:
    """The relaxed pose of a recognised figure, inside its limits; the rest pose of any other skeleton.

    A skeleton with loops has its rest pose, too: posing limb by limb would open them.
    """
    figure = find_figure(skeleton)
    rest = skeleton.rest_pose()
    if figure is None or skeleton.loops:
        return rest
    axes = [flexion_axis(skeleton, figure, limb) for limb in figure.limbs]
    if not figure.upright and any(axis is None for axis in axes):
        return rest
    body = _Body(skeleton, figure, rest)
    if not figure.upright:
        body.stand()
    limbs = [*zip(figure.limbs, axes, strict=True)]
    body.turn({limb.upper: body.hung(limb, axis) for limb, axis in limbs})
    body.turn({limb.lower: body.bent(limb, axis) for limb, axis in limbs})
    legs = limbs[len(figure.arms) :]
    body.turn({limb.end: body.levelled(limb, axis) for limb, axis in legs if limb.end is not None})
    return body.on_the_floor()


class _Body:
    """A figure that is posed step by step, inside its limits."""

    def __init__(self, skeleton: Skeleton, figure: Figure, pose: Pose) -> None:
        self.skeleton, self.figure = skeleton, figure
        self.pose = pose
        self.world = World(np.empty(0), np.empty(0))
        self._settle(pose)

    def _settle(self, pose: Pose) -> None:
        self.pose = project_pose(self.skeleton, pose)
        self.world = fk(self.skeleton, self.pose)

    def turn(self, turns: dict[int, Floats | None]) -> None:
        """Rotate joints, none of them below another, with all joints below them, by world rotations (4,)."""
        rotations = self.pose.rotations.copy()
        for joint, turn in turns.items():
            if turn is None:
                continue
            parent = int(self.skeleton.parents[joint])
            wanted = multiply(turn, self.world.rotations[joint])
            rotations[joint] = wanted if parent < 0 else multiply(conjugate(self.world.rotations[parent]), wanted)
        self._settle(Pose(rotations, self.pose.translations))

    def _axis(self, limb: Limb, axis: Floats | None) -> Floats:
        """The current bending axis in the world; a horizontal axis if it is unknown."""
        return self.figure.left if axis is None else rotate(self.world.rotations[limb.lower], axis)

    def stand(self) -> None:
        """Rotate the trunk upright, for rest poses without an upright trunk."""
        figure = self.figure
        trunk = [*figure.spine, *figure.neck, *(joint for limb in figure.limbs for joint in limb.girdle)]
        self._settle(_likely(self.skeleton, self.pose, trunk))
        places = self.world.positions
        pair = figure.legs or figure.arms
        across = places[pair[0].upper] - places[pair[1].upper]
        above = [*figure.spine, *figure.neck] + ([figure.head] if figure.head is not None else [])
        rising = next((v for j in above if (v := places[j] - places[figure.pelvis]).any()), figure.up)
        self.turn({figure.pelvis: _turn_between(rising, across, figure.up, figure.left)})

    def hung(self, limb: Limb, axis: Floats | None) -> Floats:
        """The turn that points the upper bone down, the limb's plane of bending forward."""
        figure = self.figure
        outward = figure.left if limb.side == "left" else -figure.left
        if limb.kind == ARM:
            level = np.cos(_ARM_AHEAD) * outward + np.sin(_ARM_AHEAD) * figure.forward
            wanted = np.cos(ARM_DOWN) * level - np.sin(ARM_DOWN) * figure.up
            plane = np.cos(_ARM_INWARD) * figure.forward - np.sin(_ARM_INWARD) * outward
        else:
            wanted = np.sin(THIGH) * figure.forward - np.cos(THIGH) * figure.up + np.tan(_LEG_APART) * outward
            plane = bends_towards(figure, limb, -figure.up)
        shoulder, elbow, _ = limb_places(self.world, limb)
        to_axis = np.cross(wanted, plane)
        return _turn_between(elbow - shoulder, self._axis(limb, axis), wanted, to_axis)

    def bent(self, limb: Limb, axis: Floats | None) -> Floats | None:
        """The turn that bends elbow or knee; None where nothing does."""
        about = unit(self._axis(limb, axis))
        shoulder, elbow, wrist = limb_places(self.world, limb)
        angle = ELBOW if limb.kind == ARM else KNEE
        wanted = rotate(from_axis_angle(about, angle), elbow - shoulder)
        lower = wrist - elbow
        least = _ACROSS * min(float(np.linalg.norm(v)) for v in (lower, wanted))
        if self.skeleton.kinds[limb.lower].hinged:
            lower, wanted = (v - (v @ about) * about for v in (lower, wanted))
        # A hinge does not bend a bone that lies along its axis.
        bends = min(float(np.linalg.norm(v)) for v in (lower, wanted)) > least
        return between(lower, wanted) if bends else None

    def levelled(self, leg: Limb, axis: Floats | None) -> Floats | None:
        """The turn that makes the foot flat: as at rest, or pointing forward if the rest pose does not show it."""
        foot, figure = leg.last, self.figure
        if figure.upright:
            return multiply(rest_world(self.skeleton).rotations[foot], conjugate(self.world.rotations[foot]))
        toes = self._foot_points(foot) - self.world.positions[foot]
        longest = toes[int(np.argmax(np.linalg.norm(toes, axis=1)))]
        if not longest.any():
            return None
        wanted = np.cos(_FOOT_DOWN) * figure.forward - np.sin(_FOOT_DOWN) * figure.up
        return _turn_between(longest, self._axis(leg, axis), wanted, figure.left)

    def _foot_points(self, foot: int, world: World | None = None) -> Floats:
        """World places (N, 3) of a foot's joint, the joints below it and their end sites."""
        world = self.world if world is None else world
        below = at_or_below(self.skeleton, foot)
        tips = tip_positions(self.skeleton, world)[below[self.skeleton.tip_parents]]
        return np.concatenate([world.positions[below], tips])

    def on_the_floor(self) -> Pose:
        """The pose with the root moved so that the lowest point of the feet is where it stood at rest."""
        figure, root = self.figure, self.figure.root
        feet = [leg.last for leg in figure.legs]
        if not feet or self.skeleton.kinds[root] is not JointKind.FREE:
            return self.pose
        now, before = (
            min(float((self._foot_points(foot, world) @ figure.up).min()) for foot in feet)
            for world in (self.world, rest_world(self.skeleton))
        )
        floor = before if figure.upright else 0.0
        translations = self.pose.translations.copy()
        translations[root] += (floor - now) * figure.up
        return Pose(self.pose.rotations, translations)


def _turn_between(bone: Floats, axis: Floats, to_bone: Floats, to_axis: Floats) -> Floats:
    """The rotation (4,) that takes a bone's direction to another and, as nearly, an axis across it to another."""
    return multiply(from_matrix(_frame(to_bone, to_axis)), conjugate(from_matrix(_frame(bone, axis))))


def _frame(bone: Floats, axis: Floats) -> Floats:
    """Rotation matrix (3, 3): columns along the bone, the axis made perpendicular to it, and their cross product."""
    along = unit(bone)
    across = unit(axis - (axis @ along) * along)
    return np.stack([along, across, np.cross(along, across)], axis=1)


def _likely(skeleton: Skeleton, pose: Pose, joints: list[int]) -> Pose:
    """The pose with joints in the middle of asymmetric limits, which is where they mostly are.

    Limits derived from a clip reach `MARGIN` past what was seen and at least `LEAST` to either side of rest: a side
    at `LEAST` was not seen, and the clip was near the other one.
    """
    space = joint_space(skeleton)
    lower, upper = space.lower, space.upper
    limited = np.isfinite(lower) & np.isfinite(upper)
    lower, upper = np.where(limited, lower, 0.0), np.where(limited, upper, 0.0)
    likely = 0.5 * (lower + upper)
    likely = np.where(lower >= -LEAST - 1e-9, np.maximum(upper - MARGIN, 0.0), likely)
    likely = np.where(upper <= LEAST + 1e-9, np.minimum(lower + MARGIN, 0.0), likely)
    wanted = space.measure(pose.rotations, pose.translations)
    wanted[joints] = np.where(limited, likely, wanted)[joints]
    rotations, translations = space.rebuild(wanted, pose.rotations, pose.translations)
    return Pose(rotations, translations)


DERIVED_POSES["relaxed"] = derived_pose


def blend_poses(a: Pose, b: Pose, part: float, joints: Sequence[int] | None = None) -> Pose:
    """From a (part 0) to b (part 1), both to the last bit: rotations by slerp the short way, translations linearly.

    Args:
        a: of a skeleton.
        b: of the same one.
        part: any number; beyond 0 and 1 the rotations and translations go on.
        joints: indices of the joints that change; None: all.
    """
    chosen = slice(None) if joints is None else list(joints)
    if part in {0.0, 1.0}:
        return a.with_joints(b, chosen) if part else a
    rotations, translations = a.rotations.copy(), a.translations.copy()
    rotations[chosen] = slerp(a.rotations[chosen], b.rotations[chosen], part)
    translations[chosen] += part * (b.translations[chosen] - a.translations[chosen])
    return Pose.trusted(handed_over(rotations), handed_over(translations))
