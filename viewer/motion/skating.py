"""How much the feet of a figure slide while they touch the ground: per contact, per foot and over a clip.

Also as others publish it. Heights are then above the ground under each point, which is as high as the lower one of its
contacts before and after. Frames between which the body jumps, as after a calibration pose, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from viewer.motion.contacts import (
    POINTS,
    WANDERS,
    Contact,
    Contacts,
    FootContacts,
    FootPlaces,
    MovingFeet,
    contacts_of,
    moving_feet,
    paired,
)
from viewer.skeleton import Clip, Skeleton
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import norm
from viewer.spatial.smoothing import median

_MANN_HEIGHT = 0.025
_NEAR, _FAR_STEP = 0.05, 0.025


class ContactSkate(NamedTuple):
    """How much one contact slides.

    Attributes:
        contact: its point and frames.
        slide_cm_s: its path by its duration, in cm/s.
        drift_cm: its largest distance from the median of its positions, in cm.
        wanders: it drifts by more than `WANDERS`, and may be a turn, a step or a slide.
    """

    contact: Contact
    slide_cm_s: float
    drift_cm: float
    wanders: bool


class FootSkate(NamedTuple):
    """How much one foot slides.

    Attributes:
        name: of its joint.
        side: "left" or "right".
        contacts: those that are not ignored.
        slide_cm_s: path in contact by time in contact, in cm/s.
        drift_cm: the largest of its contacts', in cm.
    """

    name: str
    side: str
    contacts: tuple[ContactSkate, ...]
    slide_cm_s: float
    drift_cm: float


@dataclass(frozen=True, slots=True)
class Skate:
    """How much the feet of a clip slide.

    Attributes:
        feet: left, then right.
        slide_cm_s: path of all contacts by their time, in cm/s.
        drift_cm: the largest drift of a contact, in cm.
        mann: mean of v (2 - 2^(h / 2.5 cm)) over frames and points lower than 2.5 cm, v in cm a frame, level (Zhang et
            al., "Mode-adaptive neural networks for quadruped motion control", SIGGRAPH 2018).
        skate_ratio: share of the frames in which a point within 5 cm of the ground moves by more than 2.5 cm
            (Karunratanakul et al., "Guided motion diffusion", ICCV 2023).
        penetration_mm: the greatest depth of a point below its ground, in mm.
    """

    feet: tuple[FootSkate, ...]
    slide_cm_s: float
    drift_cm: float
    mann: float
    skate_ratio: float
    penetration_mm: float

    def __repr__(self) -> str:
        return f"<Skate: slides {self.slide_cm_s:.2f} cm/s, drifts {self.drift_cm:.1f} cm, MANN {self.mann:.2f} cm>"


def skate(skeleton: Skeleton, clip: Clip, contacts: Contacts | None = None) -> Skate:
    """How much the feet of a clip slide while they touch the ground.

    Args:
        skeleton: a figure with legs.
        clip: its motion.
        contacts: when they touch; None: as `foot_contacts` finds it.

    Raises:
        InputError: no figure with legs; contacts of other feet or beyond the clip.
    """
    moving = moving_feet(skeleton, clip)
    return skate_of(moving, contacts_of(moving) if contacts is None else contacts)


def skate_of(moving: MovingFeet, contacts: Contacts) -> Skate:
    """How much feet slide in contacts; an InputError for contacts of other feet or beyond the clip."""
    feet = paired(contacts, moving.feet, len(moving.clip))
    slides = [slides_of_foot(*foot, moving) for foot in feet]
    rows = [_foot(foot, own, moving.length) for (foot, _), own in zip(feet, slides, strict=True)]
    mann, ratio, depth = _published(_levels(feet), moving.pieces)
    return Skate(
        feet=tuple(rows),
        slide_cm_s=_cm_s([slide for own in slides for slide in own]),
        drift_cm=max((row.drift_cm for row in rows), default=0.0),
        mann=mann,
        skate_ratio=ratio,
        penetration_mm=depth,
    )


def slide_of(moving: MovingFeet, contacts: Contacts) -> float:
    """`Skate.slide_cm_s` alone; errors are those of `skate_of`."""
    feet = paired(contacts, moving.feet, len(moving.clip))
    return _cm_s([slide for foot in feet for slide in slides_of_foot(*foot, moving)])


class Slide(NamedTuple):
    """The positions (F, 3) of a point in one contact, the length of their path in metres, and its time in seconds."""

    contact: Contact
    places: Floats
    path: float
    seconds: float

    @property
    def drift(self) -> float:
        """Metres of its largest distance from the median of its positions."""
        return float(norm(self.places - median(self.places)).max())


def slides_of_foot(foot: FootContacts, places: FootPlaces, moving: MovingFeet) -> list[Slide]:
    """The contacts of a foot that are not ignored, without lost frames."""
    sound, step, found = ~moving.away, moving.clip.frame_time, []
    for contact in foot.contacts:
        here = places.places[contact.point][contact.frames][sound[contact.frames]]
        if not contact.ignored and len(here):
            path = float(norm(here[1:] - here[:-1]).sum())
            found.append(Slide(contact, here, path, (len(here) - 1) * step))
    return found


def _cm_s(slides: Sequence[Slide]) -> float:
    """Path of contacts by their time, cm/s; 0 without any."""
    seconds = sum(slide.seconds for slide in slides)
    return 100.0 * sum(slide.path for slide in slides) / seconds if seconds else 0.0


def _foot(foot: FootContacts, slides: list[Slide], length: float) -> FootSkate:
    """How much a foot slides; ``length``: of the leg, metres."""
    rows = []
    for slide in slides:
        drift = slide.drift
        rows.append(ContactSkate(slide.contact, _cm_s([slide]), 100.0 * drift, drift > WANDERS * length))
    drift_cm = max((row.drift_cm for row in rows), default=0.0)
    return FootSkate(foot.name, foot.side, tuple(rows), _cm_s(slides), drift_cm)


def _levels(feet: list[tuple[FootContacts, FootPlaces]]) -> list[tuple[Floats, Floats]]:
    """Per point with contacts its positions (F, 3) and the height (F,) of the ground under it.

    Before its first contact and after its last one the ground is as high as at that contact if all contacts of heels,
    or of balls, are equally high. On stairs it is unknown there: minus infinity.
    """
    found = []
    for point in POINTS:
        standing: list[tuple[Floats, list[tuple[int, int]], Floats]] = []
        for foot, places in feet:
            runs = sorted((start, end) for one, start, end, ignored in foot.contacts if one == point and not ignored)
            if runs:
                path = places.places[point]
                standing.append((path, runs, np.array([median(path[start : end + 1, 1]) for start, end in runs])))
        is_flat = bool(standing) and np.ptp(np.concatenate([heights for *_, heights in standing])) < _NEAR
        for path, runs, heights in standing:
            around = heights[[0, -1]] if is_flat else np.full(2, -np.inf)
            known = np.concatenate([around[:1], heights, around[1:]])
            frames = np.arange(len(path))
            before = np.searchsorted([start for start, _ in runs], frames, side="right")
            after = np.searchsorted([end for _, end in runs], frames) + 1
            found.append((path, np.minimum(known[before], known[after])))
    return found


def _published(points: list[tuple[Floats, Floats]], pieces: list[slice]) -> tuple[float, float, float]:
    """MANN's measure in cm a frame, GMD's ratio, and the penetration in mm."""
    weighed: list[Floats] = []
    slid, count, depth = 0, 0, 0.0
    for piece in pieces:
        if piece.stop - piece.start < 2 or not points:
            continue
        slides = np.zeros(piece.stop - piece.start - 1, dtype=bool)
        for path, ground in points:
            step = norm(np.diff(path[piece][:, ::2], axis=0))
            height = (path[:, 1] - ground)[piece]
            depth = max(depth, -float(height.min()))
            low = height[1:] < _MANN_HEIGHT
            weighed.append(100.0 * step[low] * (2.0 - 2.0 ** (np.maximum(height[1:][low], 0.0) / _MANN_HEIGHT)))
            slides |= (step > _FAR_STEP) & (np.maximum(height[1:], height[:-1]) < _NEAR)
        slid, count = slid + int(slides.sum()), count + len(slides)
    every = np.concatenate(weighed) if weighed else np.zeros(0)
    return float(every.mean()) if every.size else 0.0, slid / count if count else 0.0, 1000.0 * depth
