"""Motion of the body model SMPL: 22 axis-angles a frame, on a figure of its own proportions in SMPL's T-pose.

The model's own bone lengths are in a licensed file. The figure here has the proportions of Drillis and Contini, "Body
segment parameters" (1966), where these name them.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from viewer.motion.point_sets import point_set
from viewer.skeleton import Character, Clip, Effector, JointKind, Skeleton, fk_clip
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import exp, multiply

HEIGHT = 1.7
"""Metres of the figure, unless another height is asked for."""
BODY_JOINTS = 22
_PLACES = {
    "pelvis": (0.0, 0.0, 0.0), "hip": (0.05, -0.045, 0.0), "knee": (0.01, -0.23, 0.0), "ankle": (-0.005, -0.246, -0.02),
    "foot": (0.01, -0.03, 0.075), "spine1": (0.0, 0.065, -0.015), "spine2": (0.0, 0.08, 0.0),
    "spine3": (0.0, 0.03, 0.0), "neck": (0.0, 0.125, -0.02), "head": (0.0, 0.05, 0.03), "collar": (0.045, 0.065, -0.01),
    "shoulder": (0.065, 0.02, -0.01), "elbow": (0.16, 0.0, 0.0), "wrist": (0.15, 0.0, 0.0),
}  # fmt: skip
"""Offsets from the parent in the T-pose in parts of the height; of the left side."""
_CROWN, _HAND, _TOE = (0.0, 0.105, 0.0), (0.108, 0.0, 0.0), (0.0, -0.009, 0.04)
_SOLE = 0.05
"""Quantile of the lowest places of all frames that is the floor."""


def smpl_figure(height: float = HEIGHT) -> Skeleton:
    """The figure in SMPL's T-pose (Y up, facing Z), metres, its pelvis at the height at which it stands."""
    described = point_set("humanml3d")
    names = described.points
    offsets = np.array([_of_side(name, _PLACES[name.rpartition("_")[2]]) for name in names])
    parents = [names.index(node.parent) if node.parent else -1 for node in described.nodes]
    tips = {"head": _CROWN, "left_wrist": _HAND, "right_wrist": _HAND, "left_foot": _TOE, "right_foot": _TOE}
    held = sorted(tips, key=names.index)
    # From the pelvis to the sole, with the toes' end site.
    down = sum(_PLACES[part][1] for part in ("hip", "knee", "ankle", "foot")) + _TOE[1]
    offsets[0] = (0.0, -down, 0.0)
    return Skeleton(
        name="smpl",
        names=names,
        parents=np.array(parents, dtype=np.intp),
        offsets=offsets * height,
        rest_rotations=np.tile((0.0, 0.0, 0.0, 1.0), (len(names), 1)),
        kinds=(JointKind.FREE, *(JointKind.BALL for _ in names[1:])),
        axes=np.zeros((len(names), 2, 3)),
        limits=(None,) * len(names),
        stiffness=np.zeros(len(names)),
        tip_parents=np.array([names.index(name) for name in held], dtype=np.intp),
        tip_offsets=np.array([_of_side(name, tips[name]) for name in held]) * height,
        effectors=tuple(Effector(end, names.index(end)) for end in described.ends),
    )


def smpl_motion(axis_angles: Floats, places: Floats, *, fps: float, height: float = HEIGHT, name: str) -> Character:
    """The figure in motion.

    Args:
        axis_angles: (F, 22, 3) radians, the pelvis first, Z up as AMASS has them.
        places: (F, 3) metres of the pelvis up to a constant, Z up.
        fps: frames per second.
        height: metres.
        name: of the clip.

    Returns:
        Y up. The model's place is known up to a constant that depends on the body: the figure stands on the floor.
    """
    skeleton = smpl_figure(height)
    rotations = exp(axis_angles)
    up = np.array([-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    rotations[:, 0] = multiply(up, rotations[:, 0])
    moved = np.stack([places[:, 0], places[:, 2], -places[:, 1]], axis=-1)
    clip = Clip.from_arrays(skeleton, rotations, moved, fps=fps, name=name)
    toes = [skeleton.index(f"{side}_foot") for side in ("left", "right")]
    world = fk_clip(skeleton, clip).positions[:, toes, 1].min(axis=1)
    moved[:, 1] -= float(np.quantile(world, _SOLE)) + _TOE[1] * height
    clip = Clip.from_arrays(skeleton, rotations, moved, fps=fps, name=name)
    return Character(skeleton, MappingProxyType({name: clip}))


def _of_side(name: str, offset: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = offset
    return (-x, y, z) if name.startswith("right") else offset
