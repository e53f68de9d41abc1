"""The selected keys, looked up once for each take."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.session.take.values import BLENDS, Key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from viewer.session.take.values import Blend, Take


class Chosen(NamedTuple):
    """The selected keys that there are in a take.

    Attributes:
        version: of the take.
        keys: of it.
        frames: of the keys, by joint; of all of them under -1.
        blends: how the stretches after them run.
    """

    version: int = -1
    keys: frozenset[Key] = frozenset()
    frames: Mapping[int, frozenset[int]] = MappingProxyType({})
    blends: frozenset[Blend] = frozenset()


def chosen_in(take: Take, wanted: frozenset[Key]) -> Chosen:
    """Those of the wanted keys that there are."""
    by_joint: dict[int, set[int]] = {}
    for joint, frame in wanted:
        by_joint.setdefault(joint, set()).add(frame)
    frames: dict[int, frozenset[int]] = {}
    codes: set[int] = set()
    for track in take.tracks:
        if track.joint in by_joint:
            some = np.isin(track.frames, list(by_joint[track.joint]))
            frames[track.joint] = frozenset(track.frames[some].tolist())
            codes.update(track.blends[some].tolist())
    keys = frozenset(Key(joint, frame) for joint, found in frames.items() for frame in found)
    frames[-1] = frozenset().union(*frames.values())
    return Chosen(take.version, keys, frames, frozenset(BLENDS[code] for code in codes))
