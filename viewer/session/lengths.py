"""Bones that are made longer or shorter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats

_SHORTEST = 1e-9
"""Metres; a bone below this has no direction of its own."""


def relengthened(translations: Floats, before: Floats, after: Floats) -> Floats:
    """Local translations (..., J, 3) on a skeleton's offsets ``before`` (J, 3) as they are on the offsets ``after``.

    What stands at its offset stands at the new one, to the bit; what an animation or a slide has moved off it is moved
    in the same proportion.
    """
    old, new = np.linalg.norm(before, axis=-1), np.linalg.norm(after, axis=-1)
    ratio = np.where(old > _SHORTEST, new / np.where(old > _SHORTEST, old, 1.0), 1.0)
    changed = (before != after).any(axis=-1)
    at_offset = (translations == before).all(axis=-1)
    result = np.where(changed[:, None], translations * ratio[:, None], translations)
    return np.asarray(np.where((changed & at_offset)[..., None], after, result))
