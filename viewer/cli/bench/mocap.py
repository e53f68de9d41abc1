"""The bundled biped with the joints that motion captures have besides: 31 in all, as in CMU's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from viewer.skeleton.limits import JointKind, JointLimits
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats


class _Row(NamedTuple):
    """One joint; it moves as ``limits`` say about ``axes``."""

    name: str
    parent: str
    offset: Floats
    kind: JointKind
    limits: JointLimits | None
    axes: Floats


def _ball(name: str, parent: str, offset: tuple[float, float, float], *degrees: float) -> _Row:
    """A ball joint that turns so far either way about x, y and z."""
    ranges = [(-turn, turn) for turn in np.radians(degrees).tolist()]
    limits = JointLimits.swing_twist(1, *ranges)
    return _Row(name, parent, np.array(offset), JointKind.BALL, limits, np.zeros((2, 3)))


_BETWEEN = {
    "Head": _ball("Neck1", "Neck", (0.0, 0.05, 0.01), 15, 20, 12),
    "LeftUpLeg": _ball("LeftHipJoint", "Hips", (0.0, 0.0, 0.0), 5, 5, 5),
    "RightUpLeg": _ball("RightHipJoint", "Hips", (0.0, 0.0, 0.0), 5, 5, 5),
}
"""By the name of the joint that comes to hang on them."""

_BEYOND = tuple(
    row
    for side, sign in (("Left", 1.0), ("Right", -1.0))
    for row in (
        _ball(f"{side}FingerBase", f"{side}Hand", (sign * 0.06, 0.0, 0.0), 5, 5, 30),
        _ball(f"{side}HandIndex1", f"{side}FingerBase", (sign * 0.05, 0.0, 0.0), 5, 15, 80),
        _ball(f"{side}Thumb", f"{side}Hand", (sign * 0.03, -0.01, 0.03), 20, 35, 35),
    )
)


def with_mocap_joints(biped: Skeleton) -> Skeleton:
    """The biped with hip joints, a second neck joint, bases of fingers, index fingers and thumbs."""
    rows: list[_Row] = []
    for joint, name in enumerate(biped.names):
        parent = int(biped.parents[joint])
        above, offset = biped.names[parent] if parent >= 0 else "", biped.offsets[joint]
        between = _BETWEEN.get(name)
        if between is not None:
            rows.append(between)
            above, offset = between.name, offset - between.offset
        rows.append(_Row(name, above, offset, biped.kinds[joint], biped.limits[joint], biped.axes[joint]))
    rows += _BEYOND
    names = tuple(row.name for row in rows)
    return Skeleton(
        name="humanoid",
        names=names,
        parents=np.array([names.index(row.parent) if row.parent else -1 for row in rows]),
        offsets=np.array([row.offset for row in rows]),
        rest_rotations=np.tile([0.0, 0.0, 0.0, 1.0], (len(rows), 1)),
        kinds=tuple(row.kind for row in rows),
        axes=np.array([row.axes for row in rows]),
        limits=tuple(row.limits for row in rows),
        stiffness=np.zeros(len(rows)),
        tip_parents=np.zeros(0, dtype=np.intp),
        tip_offsets=np.zeros((0, 3)),
    )
