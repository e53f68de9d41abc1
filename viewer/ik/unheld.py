"""Frames that a joint's kind cannot hold, as a hinge turned about another axis: solves begin at their projection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.kinds import JointKind
from viewer.spatial.quaternion import multiply, rotate

if TYPE_CHECKING:
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Bools, Floats, Ints

_OFF = 1e-6
"""Quaternion components, or parts of the offsets' lengths: less is rounding, that of single-precision files, too."""


class Unheld:
    """Finds the joints of one skeleton that stand as their kinds cannot.

    A rotation of few freedoms is linear in its quaternion but for universals: the parts of rest^-1 q along the
    directions that a hinge does not turn about are 0, and so are all three of fixed joints and slides.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        """Note the directions that the kinds leave out."""
        self._skeleton, self._space = skeleton, joint_space(skeleton)
        space, axes = self._space, skeleton.axes
        still = np.concatenate([space.fixed, space.slides])
        joints, directions = [np.repeat(still, 3)], [np.tile(np.eye(3), (len(still), 1))]
        for joint in space.hinges.tolist():
            joints.append(np.array([joint, joint]))
            directions.append(_across(axes[joint, 0]))
        self._joints = np.concatenate(joints)
        self._rows = _rows_of(skeleton, self._joints, np.concatenate(directions))
        universals, pair = space.universals, axes[space.universals]
        along = (pair[:, 0], pair[:, 1], np.cross(pair[:, 0], pair[:, 1]))
        self._parts = [_rows_of(skeleton, universals, direction) for direction in along]
        self._real = skeleton.rest_rotations[universals]
        self._slid = rotate(skeleton.rest_rotations[space.slides], axes[space.slides, 0])
        kinds = set(skeleton.kinds)
        self._any = bool(kinds & {JointKind.FIXED, JointKind.HINGE, JointKind.UNIVERSAL, JointKind.SLIDE})

    def held(self, rotations: Floats, translations: Floats) -> tuple[Floats, Floats, Bools | None]:
        """Local rotations (..., J, 4) and translations (..., J, 3), each as its joint can hold it.

        Returns:
            Both, themselves where nothing was to be done, and (..., J) which joints were not held; None: all were.
        """
        if not self._any:
            return rotations, translations, None
        off = np.abs(np.einsum("...ij,ij->...i", rotations.take(self._joints, -2), self._rows))
        parts = [(self._joints, off)]
        if self._space.universals.size:
            parts.append((self._space.universals, self._universals_off(rotations)))
        if self._space.slides.size:
            parts.append((self._space.slides, self._slides_off(translations)))
        if not any(part.max(initial=0.0) > _OFF for _, part in parts):
            return rotations, translations, None
        unheld = np.zeros(rotations.shape[:-1], dtype=np.bool_)
        for joints, part in parts:
            for column, joint in enumerate(joints.tolist()):
                unheld[..., joint] |= part[..., column] > _OFF
        turns, moves = self._space.rebuild(self._space.measure(rotations, translations), rotations, translations)
        chosen = unheld[..., None]
        return np.where(chosen, turns, rotations), np.where(chosen, moves, translations), unheld

    def _universals_off(self, rotations: Floats) -> Floats:
        """(..., U) w n - x y of rest^-1 q with parts x, y, n along both axes and across, and w: 0 of R(a) R(b)."""
        q = rotations.take(self._space.universals, -2)
        a, b, n, w = (np.einsum("...ij,ij->...i", q, rows) for rows in (*self._parts, self._real))
        return np.asarray(np.abs(w * n - a * b))

    def _slides_off(self, translations: Floats) -> Floats:
        """(..., S) how far slides are beside their axes, in parts of the offsets' lengths."""
        slides = self._space.slides
        offsets = self._skeleton.offsets
        moved = translations.take(slides, -2) - offsets[slides]
        along = np.einsum("...ij,ij->...i", moved, self._slid)
        beside = np.linalg.norm(moved - along[..., None] * self._slid, axis=-1)
        return np.asarray(beside / max(float(np.abs(offsets).max()), 1e-12))


def _rows_of(skeleton: Skeleton, joints: Ints, directions: Floats) -> Floats:
    """(R, 4) whose dot product with a joint's q is the part of rest^-1 q along a direction: rest d, as quaternions."""
    pure = np.concatenate([directions, np.zeros((len(directions), 1))], axis=1)
    return np.asarray(multiply(skeleton.rest_rotations[joints], pure))


def _across(axis: Floats) -> Floats:
    """(2, 3) unit vectors at right angles to an axis and to each other."""
    first = np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first)])
