"""What a reader that has to guess would make of a BVH file of ours: the format has no place for units and axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.formats.frame import root_translations_to_source
from viewer.formats.units import in_words, settle
from viewer.skeleton.extent import tip_positions
from viewer.skeleton.kinematics import fk

if TYPE_CHECKING:
    from viewer.skeleton.character import Character


def misread(character: Character) -> list[str]:
    """A warning where the guess would not be the units and axes that ``source`` says, with what to read it by."""
    skeleton, source, clip = character.skeleton, character.source, character.clip
    world = fk(skeleton, clip.pose(0) if clip else skeleton.rest_pose())
    points = np.concatenate([world.positions, tip_positions(skeleton, world)])
    guess = settle("auto", "auto", root_translations_to_source(points, source))
    said = {"units": source.units} if guess.metres_per_unit != source.metres_per_unit else {}
    said |= {"up": source.up} if guess.up != source.up else {}
    if not said:
        return []
    options = " ".join(f"--{name} {value}" for name, value in said.items())
    arguments = ", ".join(f'{name}="{value}"' for name, value in said.items())
    advice = f"read it with {options} (in Python {arguments})"
    return [f"BVH states no units or axes: {advice}, or it is taken for {in_words(guess)}"]
