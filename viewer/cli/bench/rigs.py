"""The rigs of the benchmarks: the bundled samples, some with limits that robotics libraries support.

Robotics libraries support only hinges with ranges. So `humanoid`, `fingers` and `claw` use the ranges of their balls as
those of three stacked hinges ("order": "xyz"), which gives every solver the same constraint. `biped` and `biped-hands`
keep the samples' swing-twist ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, unknown_name
from viewer.formats.file_formats import SAMPLE
from viewer.formats.load import load
from viewer.ik.goals import Goal
from viewer.skeleton import JointKind, JointLimits, LimitForm, Skeleton, find_place
from viewer.spatial.checks import Bools, Floats, Ints

_MIDDLE = np.radians(85.0)
"""Limit of the middle one of three hinges, which avoids gimbal lock."""

LIMBS = ("LeftHand", "RightHand", "LeftFoot", "RightFoot")
FINGERS = tuple(side + finger for side in ("Left", "Right") for finger in ("Thumb", "Index", "Middle", "Ring", "Pinky"))


class _Row(NamedTuple):
    """One joint; it moves as ``limits`` say about ``axes``."""

    name: str
    parent: str
    offset: Floats
    kind: JointKind
    limits: JointLimits | None
    axes: Floats


def _ball(name: str, parent: str, offset: tuple[float, float, float], *degrees: float) -> _Row:
    """A ball joint that turns by up to these angles either way about x, y and z."""
    ranges = [(-turn, turn) for turn in np.radians(degrees).tolist()]
    limits = JointLimits.swing_twist(1, *ranges)
    return _Row(name, parent, np.array(offset), JointKind.BALL, limits, np.zeros((2, 3)))


_BETWEEN = {
    "Head": _ball("Neck1", "Neck", (0.0, 0.05, 0.01), 15, 20, 12),
    "LeftUpLeg": _ball("LeftHipJoint", "Hips", (0.0, 0.0, 0.0), 5, 5, 5),
    "RightUpLeg": _ball("RightHipJoint", "Hips", (0.0, 0.0, 0.0), 5, 5, 5),
}
"""Joints inserted above a joint, by the name of that joint."""

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
        kinds=tuple(row.kind for row in rows),
        axes=np.array([row.axes for row in rows]),
        limits=tuple(row.limits for row in rows),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Rig:
    """A skeleton with the effectors of its problems.

    Attributes:
        name: of the problem set.
        skeleton: its rest pose is where every problem starts.
        effectors: (G,) names as `viewer.skeleton.skeleton.find_place` knows them.
        turned: (G,) whether the goal has a rotation besides the position.
        joints, offsets: (G,) and (G, 3) the effectors' places on the skeleton.
    """

    name: str
    skeleton: Skeleton
    effectors: tuple[str, ...]
    turned: Bools
    joints: Ints
    offsets: Floats

    @classmethod
    def of(cls, name: str, skeleton: Skeleton, effectors: Sequence[str], turned: Iterable[str] = ()) -> Rig:
        """A rig with position goals, and rotation goals too for the effectors in ``turned``."""
        places = [find_place(skeleton, effector) for effector in effectors]
        both = set(turned)
        return cls(
            name,
            skeleton,
            tuple(effectors),
            np.array([effector in both for effector in effectors]),
            np.array([place.joint for place in places]),
            np.array([place.offset for place in places]),
        )

    def goals(self) -> list[Goal]:
        """Goals of the right kinds; each call gives their targets."""
        here, as_is = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
        return [
            Goal.pose(effector, here, as_is if turned else None)
            for effector, turned in zip(self.effectors, self.turned.tolist(), strict=True)
        ]


def find_rig(name: str) -> Rig:
    """One of `RIGS`, or ``chain-N``."""
    if name.startswith("chain-"):
        return Rig.of(name, _sample(name), ["tip"])
    if name not in RIGS:
        raise InputError(unknown_name("rig", name, [*RIGS, "chain-N"]))
    return RIGS[name]()


def _sample(name: str) -> Skeleton:
    return load(SAMPLE + name).skeleton


def _planar() -> Skeleton:
    """Four links in a plane, 45 degrees either way: where CCD with limits locks up in an S."""
    axes = np.zeros((4, 2, 3))
    axes[:, 0, 2] = 1.0
    limits = (JointLimits.coordinates((-np.pi / 4, np.pi / 4)),) * 4
    return replace(_sample("chain-4"), name="planar", kinds=(JointKind.HINGE,) * 4, axes=axes, limits=limits, poses={})


_BODY = (*LIMBS, "Head")
RIGS: dict[str, Callable[[], Rig]] = {
    # 31 joints, as in CMU's motion captures; five positions
    "humanoid": lambda: Rig.of("humanoid", as_hinges(with_mocap_joints(_sample("biped"))), _BODY),
    # an arm on a fixed base, three claws of three hinges
    "claw": lambda: Rig.of("claw", as_hinges(_sample("claw-arm")), ["claw_a", "claw_b", "claw_c"]),
    # hands and feet with their turns, the head, ten fingertips: 57 rows
    "fingers": lambda: Rig.of("fingers", as_hinges(_sample("biped-hands")), [*_BODY, *FINGERS], LIMBS),
    "biped": lambda: Rig.of("biped", _sample("biped"), _BODY),
    "biped-hands": lambda: Rig.of("biped-hands", _sample("biped-hands"), [*_BODY, *FINGERS], LIMBS),
    "planar": lambda: Rig.of("planar", _planar(), ["tip"]),
}


def as_hinges(skeleton: Skeleton) -> Skeleton:
    """The skeleton with its swing-twist ranges read as those of three hinges x, y, z."""
    return replace(skeleton, limits=tuple(_stacked(limits) for limits in skeleton.limits))


def _stacked(limits: JointLimits | None) -> JointLimits | None:
    if limits is None or limits.form is not LimitForm.SWING_TWIST:
        return limits
    lower, upper = limits.lower.copy(), limits.upper.copy()
    lower[1], upper[1] = max(lower[1], -_MIDDLE), min(upper[1], _MIDDLE)
    return JointLimits(LimitForm.EULER, lower, upper, order="xyz")
