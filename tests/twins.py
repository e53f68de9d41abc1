"""Known twins: a character whose joints have other frames, names, scale and rest pose, and the same motion."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from inside.spatial import conjugate, multiply, normalized, rotate
from numpy.typing import NDArray

import viewer

Floats = NDArray[np.float64]
NONE = np.array([0.0, 0.0, 0.0, 1.0])


def twin(
    character: viewer.Character,
    random: np.random.Generator,
    *,
    scale: float = 1.3,
    rest: str | int = "rest",
    renamed: bool = True,
    moving: bool = True,
) -> tuple[viewer.Character, viewer.Clip]:
    """A twin, and its motion, which is the character's exactly.

    Args:
        character: with a clip.
        random: of the frames: every joint gets one of its own.
        scale: of the twin.
        rest: its rest pose: "rest", "relaxed" or a frame of the clip; "none": bones point anywhere.
        renamed: its joints are called ``joint_0`` and so on.
        moving: the twin has its motion as a clip.
    """
    skeleton, clip = character.skeleton, character.clip
    assert clip is not None
    frames = normalized(random.normal(size=(len(skeleton), 4)))
    parents = skeleton.parents
    above = np.where((parents >= 0)[:, None], frames[parents], NONE)
    at_rest = skeleton.rest_rotations
    if rest == "relaxed":
        at_rest = skeleton.relaxed_pose().rotations
    elif rest == "none":
        at_rest = normalized(random.normal(size=(len(skeleton), 4)))
    elif isinstance(rest, int):
        at_rest = clip.rotations[rest]
    made = viewer.Skeleton(
        name="twin",
        names=tuple(f"joint_{joint}" for joint in range(len(skeleton))) if renamed else skeleton.names,
        parents=parents,
        offsets=scale * rotate(conjugate(above), skeleton.offsets),
        rest_rotations=normalized(multiply(multiply(conjugate(above), at_rest), frames)),
        kinds=tuple(viewer.JointKind.FREE if parent < 0 else viewer.JointKind.BALL for parent in parents.tolist()),
        axes=np.zeros((len(skeleton), 2, 3)),
        limits=(None,) * len(skeleton),
        stiffness=np.zeros(len(skeleton)),
        tip_parents=skeleton.tip_parents,
        tip_offsets=scale * rotate(conjugate(frames[skeleton.tip_parents]), skeleton.tip_offsets),
        effectors=(),
    )
    motion = viewer.Clip.from_arrays(
        made,
        normalized(multiply(multiply(conjugate(above), clip.rotations), frames)),
        scale * rotate(conjugate(above), clip.local_translations()),
        fps=clip.fps,
        name="motion",
    )
    return viewer.Character(made, MappingProxyType({"motion": motion} if moving else {})), motion


def error_cm(skeleton: viewer.Skeleton, clip: viewer.Clip, wanted: viewer.Skeleton, truth: viewer.Clip) -> float:
    """Mean distance of the joints in cm of a person of 1.75 m: as high as the tallest frame."""
    found, right = viewer.fk_clip(skeleton, clip).positions, viewer.fk_clip(wanted, truth).positions
    height = float(np.ptp(right[..., 1], axis=1).max())
    return float(175.0 * np.linalg.norm(found - right, axis=-1).mean() / height)
