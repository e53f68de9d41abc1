"""A figure that stands somewhere else: its roots are moved, and all that hangs on them with them."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from numpy.typing import ArrayLike

from viewer.skeleton.character import Character
from viewer.skeleton.clip import clip_like
from viewer.skeleton.pose import Pose
from viewer.spatial.checks import Floats, finite_floats, unit_quaternions
from viewer.spatial.quaternion import multiply, rotate


def placed(character: Character, offset: ArrayLike, rotation: ArrayLike = (0.0, 0.0, 0.0, 1.0)) -> Character:
    """The character elsewhere, in all its poses and clips.

    Args:
        character: any.
        offset: (3,) metres from the origin to where its own origin is.
        rotation: (4,) world_from_character.

    Raises:
        InputError: numbers that are not finite, no rotation.
    """
    way, turn = finite_floats(offset, (3,), "placed: offset"), unit_quaternions(rotation, (4,), "placed: rotation")
    skeleton = character.skeleton

    def moved(rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
        """Local rotations (..., J, 4) and translations (..., J, 3), whose roots are moved."""
        turns, places, roots = rotations.copy(), translations.copy(), skeleton.roots
        turns[..., roots, :] = multiply(turn, turns[..., roots, :])
        places[..., roots, :] = rotate(turn, places[..., roots, :]) + way
        return turns, places

    rests, offsets = moved(skeleton.rest_rotations, skeleton.offsets)
    poses = {name: Pose(*moved(pose.rotations, pose.translations)) for name, pose in skeleton.poses.items()}
    made = replace(skeleton, rest_rotations=rests, offsets=offsets, poses=poses)
    clips = {
        name: replace(clip_like(clip, made, *moved(clip.rotations, clip.local_translations())), keys=clip.keys)
        for name, clip in character.clips.items()
    }
    return replace(character, skeleton=made, clips=MappingProxyType(clips))
