"""What a reader that has to guess would make of a BVH file of ours: the format has no place for units and axes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.formats.frame import root_rotations_to_internal, root_translations_to_source
from viewer.formats.units import body_of, in_words, settle
from viewer.skeleton.extent import tip_positions
from viewer.skeleton.kinematics import fk
from viewer.spatial.quaternion import IDENTITY

if TYPE_CHECKING:
    from viewer.skeleton.character import Character
    from viewer.skeleton.skeleton import Skeleton


def misread(character: Character) -> list[str]:
    """A warning where the guess would not be the units and axes that ``source`` says, with what to read it by."""
    skeleton, source, clip = character.skeleton, character.source, character.clip
    world = fk(skeleton, clip.pose(0) if clip else skeleton.rest_pose())
    points = np.concatenate([world.positions, tip_positions(skeleton, world)])
    points = root_translations_to_source(points, source)
    body = body_of(_as_read(character), points, source.metres_per_unit)
    guess = settle("auto", "auto", points, body)
    said = {"units": source.units} if guess.metres_per_unit != source.metres_per_unit else {}
    said |= {"up": source.up} if guess.up != source.up else {}
    if not said:
        return []
    options = " ".join(f"--{name} {value}" for name, value in said.items())
    arguments = ", ".join(f'{name}="{value}"' for name, value in said.items())
    advice = f"read it with {options} (in Python {arguments})"
    return [f"BVH states no units or axes: {advice}, or it is taken for {in_words(guess)}"]


def _as_read(character: Character) -> Skeleton:
    """The skeleton with the rest rotations that a reader gives it: none, but for the turn of the roots to Y up."""
    skeleton = character.skeleton
    rest = np.tile(IDENTITY, (len(skeleton), 1))
    rest[skeleton.roots] = root_rotations_to_internal(rest[skeleton.roots], character.source)
    return replace(skeleton, rest_rotations=rest)
