"""The motion of a joint as curves of its coordinates: values and slopes at keys, and the tangents that make them so.

A curve shows one coordinate, a key stores a rotation and a translation. With c the coordinates, v = J(c) dc/dt is the
velocity that a tangent states: angular in the joint's own frame, and of the translation. J is found by central
differences of the map from coordinates to rotation.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

import numpy as np

from viewer.document.document import Document
from viewer.document.edit_skeleton import coordinate_names
from viewer.document.evaluation import Frames, base_pose, keyed_frames, motion_of, still
from viewer.document.key_editing import with_entries
from viewer.document.sampling import velocities
from viewer.document.scope import inside_at
from viewer.document.take import Take, Track
from viewer.errors import InputError, quote
from viewer.skeleton import JointKind, Pose, Skeleton, joint_space
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import conjugate, from_euler, log, multiply, normalized, rotate, to_euler

EULER = "xyz"
"""Order of the angles of joints without limits."""
_STEP = 1e-5
"""Radians, or metres, of the central differences."""


class Tangent(StrEnum):
    """How the slope of a curve at a key is determined."""

    AUTO = "auto"
    """From the neighbouring keys; zero at peaks."""
    FLAT = "flat"
    """Zero."""
    FREE = "free"
    """Set by hand."""


def places(skeleton: Skeleton, joint: int) -> tuple[int, ...]:
    """Indices of the coordinates of a joint that are curves."""
    return tuple(place for place, _ in coordinate_names(skeleton, joint)) or (0, 1, 2)


def is_euler(skeleton: Skeleton, joint: int) -> bool:
    """Whether a joint's curves are Euler angles, because it has no coordinates of its own."""
    return not coordinate_names(skeleton, joint)


def curve_values(document: Document, joint: int, motion: Frames) -> Floats:
    """(N, 3) coordinates of a joint, radians or metres, from its rotations (N, 4) and translations (N, 3)."""
    skeleton = document.skeleton
    if is_euler(skeleton, joint):
        return to_euler(motion.rotations, EULER)
    # Only this joint's coordinates are used: the others keep the current pose.
    rotations, translations = still(document.pose, len(motion.rotations))
    rotations[:, joint], translations[:, joint] = motion
    return joint_space(skeleton).measure(rotations, translations)[:, joint]


def posed(document: Document, joint: int, coordinates: Floats, motion: Frames) -> Frames:
    """Rotations and translations of a joint with coordinates (N, 3); all else stays as in ``motion``."""
    skeleton = document.skeleton
    if is_euler(skeleton, joint):
        return Frames(from_euler(coordinates, EULER), motion.translations)
    every = np.zeros((len(coordinates), len(skeleton), 3))
    every[:, joint] = coordinates
    rotations, translations = still(document.pose, len(coordinates))
    rotations[:, joint], translations[:, joint] = motion
    turned, moved = joint_space(skeleton).rebuild(every, rotations, translations)
    return Frames(turned[:, joint], moved[:, joint])


def velocity_columns(document: Document, joint: int, coordinates: Floats, motion: Frames) -> Floats:
    """(6, 3) the velocity by each coordinate (3,), at the rotation and translation ``motion`` (of one frame)."""
    steps = _STEP * np.concatenate([np.eye(3), -np.eye(3)])
    around = Frames(np.repeat(motion.rotations, 6, axis=0), np.repeat(motion.translations, 6, axis=0))
    found = posed(document, joint, coordinates + steps, around)
    turned = log(multiply(conjugate(found.rotations[3:]), found.rotations[:3]))
    moved = found.translations[:3] - found.translations[3:]
    return np.concatenate([turned, moved], axis=-1).T / (2.0 * _STEP)


class KeyOnCurves:
    """A key of a joint as its curves show it.

    ``index`` is that of the key in the ``track`` that has it. ``motion`` is the joint's rotation (1, 4) and translation
    (1, 3) at the key, layers and planted feet left out; ``coordinates`` (3,) are radians or metres.
    """

    def __init__(self, document: Document, joint: int, frame: int) -> None:
        track = None if document.take is None else document.take.track(joint)
        index = None if track is None else track.index(frame)
        if track is None or index is None:
            raise InputError(f"no key of joint {quote(document.skeleton.names[joint])} at frame {frame}")
        self._document, self._motion = document, motion_of(document)
        self.joint, self.frame, self.track, self.index = joint, frame, track, index
        self.motion = keyed_frames(self._motion, joint, np.array([frame]))
        self.coordinates: Floats = curve_values(document, joint, self.motion)[0]

    @property
    def tangent(self) -> Tangent:
        """How its slope is determined."""
        return next(iter(tangents_of(self.track, [self.index])))

    @property
    def velocity(self) -> Floats:
        """(6,) of the key's own values, per frame, as `Track.tangents`: what smooth interpolation uses."""
        return np.asarray(_velocities(self._document, self.track)[self.index])

    def slopes(self) -> Floats:
        """(3,) how fast each curve rises at the key, radians or metres per frame; with the clip below the keys."""
        columns = velocity_columns(self._document, self.joint, self.coordinates, self.motion)
        return np.asarray(np.linalg.lstsq(columns, self.velocity + self._below(), rcond=None)[0])

    def with_slope(self, index: int, slope: float) -> Floats:
        """(6,) the tangent with which one coordinate's curve rises by ``slope`` and the others as before."""
        columns = velocity_columns(self._document, self.joint, self.coordinates, self.motion)
        velocity = np.asarray(self.velocity + columns[:, index] * (slope - self.slopes()[index]))
        if self.track.translations is None:
            velocity[3:] = np.nan
        return velocity

    def _below(self) -> Floats:
        """(6,) the velocity of the clip below the key, in the key's frame."""
        clip = self._motion.clip
        if clip is None or len(clip) < 2:
            return np.zeros(6)
        low, high = max(self.frame - 1, 0), min(self.frame + 1, len(clip) - 1)
        turned = log(multiply(conjugate(clip.rotations[low, self.joint]), clip.rotations[high, self.joint]))
        moved = np.diff(clip.local_translations(np.array([low, high]))[:, self.joint], axis=0)[0]
        turned = rotate(conjugate(self.track.rotations[self.index]), turned)
        return np.concatenate([turned, moved]) / (high - low)


def _velocities(document: Document, track: Track) -> Floats:
    """(K, 6) the velocities at the keys of a track, which fade on a clip."""
    return velocities(track, fade=motion_of(document).fade)


def tangents_of(track: Track, keys: Bools | list[int]) -> set[Tangent]:
    """How the slopes at some keys of a track are determined; keys by mask or indices."""
    if track.tangents is None:
        return {Tangent.AUTO}
    own = track.tangents[keys]
    kinds = np.where(np.isnan(own).all(axis=-1), 0, np.where(np.nan_to_num(own).any(axis=-1), 2, 1))
    return {(Tangent.AUTO, Tangent.FLAT, Tangent.FREE)[kind] for kind in kinds.tolist()}


def with_tangents(document: Document, track: Track, frames: list[int], tangent: Tangent) -> Floats:
    """(K, 6) the tangents of a track after some of its keys got another: free ones keep the slope that they have."""
    values = track.all_tangents
    some = np.isin(track.frames, frames)
    chosen = {Tangent.AUTO: np.nan, Tangent.FLAT: 0.0}.get(tangent)
    values[some] = _velocities(document, track)[some] if chosen is None else chosen
    if track.translations is None:
        values[:, 3:] = np.nan
    return values


def with_value(document: Document, key: KeyOnCurves, index: int, value: float) -> Take:
    """The take with another value of one coordinate at a key: radians or metres, inside the limits if these are on."""
    skeleton, joint, take = document.skeleton, key.joint, document.take
    assert take is not None
    coordinates = key.coordinates.copy()
    coordinates[index] = value
    found = posed(document, joint, coordinates[None], key.motion)
    pose = document.pose
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    rotations[joint], translations[joint] = found.rotations[0], found.translations[0]
    within = inside_at(document, Pose(rotations, translations), [joint])
    turned, moved = within.rotations[joint], within.translations[joint]
    if take.base is not None:
        base = base_pose(document, take, key.frame)
        turned = normalized(multiply(conjugate(base.rotations[joint]), turned))
        moved = moved - base.translations[joint]
    track, here = key.track, slice(key.index, key.index + 1)
    placed = skeleton.kinds[joint] is JointKind.SLIDE or track.translations is not None
    entry = replace(track.some(here), rotations=turned[None], translations=moved[None] if placed else None)
    return with_entries(take, [entry], base_pose(document, take, 0))
