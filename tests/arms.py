"""An arm whose reach and limits are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from characters import rig

if TYPE_CHECKING:
    from viewer.skeleton import Skeleton

X = (1.0, 0.0, 0.0)
BALL: dict[str, Any] = {"kind": "ball"}
FIXED: dict[str, Any] = {"kind": "fixed"}
FREE: dict[str, Any] = {"kind": "free"}
FOREARM: dict[str, Any] = {"kind": "fixed", "offset": [0, 0.341, 0]}


def arm(shoulder: dict[str, Any], *limits: float) -> Skeleton:
    """Shoulder a at (0, 1, 0), elbow b 400 mm above it that turns about x, hand c 341 mm above that."""
    elbow: dict[str, Any] = {"kind": "hinge", "axis": X, "offset": [0, 0.4, 0]}
    return rig(shoulder, elbow | ({"limits": {"angle": limits}} if limits else {}), FOREARM).skeleton
