"""Whether two skeletons, clips or characters are equal, numbers to the last bit."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.session.take.values import Take
    from viewer.skeleton.character import Character
    from viewer.skeleton.clip import Clip
    from viewer.skeleton.skeleton import Skeleton


def same_skeleton(one: Skeleton, other: Skeleton) -> bool:
    """Equal in every joint, limit, effector and named pose."""
    if one is other:
        return True
    if not _same_fields(one, other, skip=("limits", "poses")) or one.poses.keys() != other.poses.keys():
        return False
    limits = zip(one.limits, other.limits, strict=True)
    return all(a is b or (a is not None and b is not None and a.same_as(b)) for a, b in limits) and all(
        pose.same_as(other.poses[name]) for name, pose in one.poses.items()
    )


def same_clip(one: Clip, other: Clip) -> bool:
    """Equal in every frame."""
    return one is other or _same_fields(one, other)


def same_character(one: Character, other: Character) -> bool:
    """Equal in skeleton, clips and source; what was said while reading does not count."""
    if one is other:
        return True
    return (
        one.source == other.source
        and one.limits_from == other.limits_from
        and tuple(one.clips) == tuple(other.clips)
        and all(same_clip(clip, other.clips[name]) for name, clip in one.clips.items())
        and same_skeleton(one.skeleton, other.skeleton)
    )


def same_takes(some: Sequence[Take | None], others: Sequence[Take | None]) -> bool:
    """Equal in every key, and in what was solved between them."""
    if len(some) != len(others):
        return False
    pairs = zip(some, others, strict=True)
    return all(a is b or (a is not None and b is not None and a.same_as(b)) for a, b in pairs)


def _same_fields(one: object, other: object, skip: tuple[str, ...] = ()) -> bool:
    """Equal in all fields of a dataclass; NaN equals NaN."""
    for place in fields(one):  # type: ignore[arg-type]
        a, b = getattr(one, place.name), getattr(other, place.name)
        if place.name in skip or a is b:
            continue
        if isinstance(a, np.ndarray):
            if not isinstance(b, np.ndarray) or not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
                return False
        elif a != b:
            return False
    return True
