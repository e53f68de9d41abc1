"""Poses by name or file, as several commands take them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from viewer.cli.output import warn
from viewer.errors import InputError, unknown_name

if TYPE_CHECKING:
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton


def named_pose(skeleton: Skeleton, name: str) -> Pose:
    """A pose of the skeleton's file by name, one that every skeleton has (rest, relaxed), or a pose file."""
    from pathlib import Path

    if name in skeleton.poses:
        return skeleton.poses[name]
    if name in {"rest", "relaxed"}:
        return skeleton.rest_pose() if name == "rest" else skeleton.relaxed_pose()
    path = Path(name)
    if path.suffix.casefold() != ".json" and not os.path.exists(path):  # noqa: PTH110 - `Path.exists` raises OSError for names that are too long
        known = dict.fromkeys([*skeleton.poses, "relaxed", "rest"])
        raise InputError(unknown_name("pose", name, known))
    from viewer.formats.pose_json import read_pose

    warnings: list[str] = []
    pose = read_pose(path, name, skeleton, warnings)
    warn(f"{name}: {warning}" for warning in warnings)
    return pose
