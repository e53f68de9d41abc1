"""The choices for a retargeting, and the report of what it did, measured on the resulting motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from viewer.choices import FEET, HANDS, Feet, Hands
from viewer.errors import InputError, quote
from viewer.motion.contacts import Contacts, MovingFeet
from viewer.motion.limb_chain import limb_points
from viewer.motion.pairing import Pairing
from viewer.motion.skate_meter import slide_of
from viewer.skeleton import Clip, Skeleton, World
from viewer.skeleton.clip_limits import too_fast
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.joint_map import Map, Reference
from viewer.spatial.checks import check_flag, check_range
from viewer.spatial.vectors import cross, dot, norm

_OUTSIDE = np.radians(0.5)
"""A joint is outside its limits if it is beyond them by more than this."""


@dataclass(frozen=True, slots=True)
class Choices:
    """How a motion is retargeted.

    Attributes:
        feet: "plant": feet stand still while they touch; "follow": ankles go where the source's go, scaled; "off".
        hands: "free": as the arms turn; "reach": wrists go where the source's go, scaled, as far as arms reach;
            "touch": wrists keep their places near the other hand, head, chest and thighs while they are close.
        limits: joints are kept inside their limits.
        scale: of the path; None: the ratio of the legs' lengths.
        in_place: the hips stay above their first position.
    """

    feet: Feet = "plant"
    hands: Hands = "free"
    limits: bool = False
    scale: float | None = None
    in_place: bool = False

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InputError: one that is not listed, a scale that is not above 0, flags that are not True or False.
        """
        for name, value, known in (("feet", self.feet, FEET), ("hands", self.hands, HANDS)):
            if value not in known:
                listed = f"{', '.join(known[:-1])} or {known[-1]}"
                raise InputError(f"retarget: {name}: expected {listed}, found {quote(value)}")
        if self.scale is not None:
            check_range("retarget: scale", self.scale, above=0.0)
        for name, flag in (("limits", self.limits), ("in_place", self.in_place)):
            check_flag(f"retarget: {name}", flag)


@dataclass(frozen=True, slots=True)
class RetargetReport:
    """What retargeting found and did.

    Attributes:
        frames: in the result.
        scale: how many times as far the target's hips go as the source's.
        pairs, unsure: number of pairs, and of those whose certainty is low.
        source_reference, target_reference: the neutral pose: "rest" or a frame.
        limbs_deg: mean angle between the limbs' bones of source and target, degrees; None without limbs.
        at_limits: share of frames in which a joint of the result is outside its limits.
        feet: "plant", "follow" or "off": what was done.
        slide_cm_s: how fast feet slide while they touch the ground, in the motion and in the result, cm/s; None:
            unknown.
        warnings: a line for each choice that could not be carried out, and one on joints that are too fast.
    """

    frames: int
    scale: float
    pairs: int
    unsure: int
    source_reference: Reference
    target_reference: Reference
    limbs_deg: float | None
    at_limits: float
    feet: str
    slide_cm_s: tuple[float, float] | None = None
    warnings: tuple[str, ...] = ()


class Stands(NamedTuple):
    """Where feet stand: the target's, its contacts, and how fast the source's slide in theirs, cm/s."""

    feet: MovingFeet
    contacts: Contacts
    slide_cm_s: float


def report_of(
    pairing: Pairing,
    used: Map,
    handed: tuple[Skeleton, Clip, World],
    feet: str,
    stands: Stands | None,
    warnings: tuple[str, ...],
) -> RetargetReport:
    """The report of a motion.

    Args:
        pairing: both bodies.
        used: the pairs.
        handed: the skeleton and the motion that the user gets; and where the joints of the pairing's target are in it,
            which stand for several ones of a robot.
        feet: what was done.
        stands: None where feet were not planted.
        warnings: what could not be done.
    """
    skeleton, clip, world = handed
    limbs = (*pairing.arms, *pairing.legs)
    angles = np.zeros(0)
    if limbs:
        points = [
            np.stack([limb_points(pair[side], seen) for pair in limbs])
            for side, seen in enumerate((pairing.moving, world))
        ]
        a, b = (np.diff(each, axis=1) for each in points)
        angles = np.arctan2(norm(cross(a, b)), dot(a, b))
    limited = any(limits is not None for limits in skeleton.limits)
    space = joint_space(skeleton)
    coordinates = space.measure(clip.rotations, clip.local_translations()) if limited else None
    outside = np.zeros(1) if coordinates is None else space.excess(coordinates).max(axis=-1)
    slide = None if stands is None else (stands.slide_cm_s, slide_of(stands.feet.in_world(world), stands.contacts))
    return RetargetReport(
        frames=len(clip),
        scale=pairing.scale,
        pairs=len(used.pairs),
        unsure=len(used.doubtful),
        source_reference=pairing.source.reference,
        target_reference=pairing.target.reference,
        limbs_deg=float(np.degrees(angles.mean())) if limbs else None,
        at_limits=float((outside > _OUTSIDE).mean()),
        feet=feet,
        slide_cm_s=slide,
        warnings=(*warnings, *too_fast(skeleton, clip, coordinates)),
    )
