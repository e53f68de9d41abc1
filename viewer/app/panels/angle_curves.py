"""How the angles of a joint go over the frames, as the sliders of the inspector read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.app.panels.joint_readings import EULER, coordinates
from viewer.session.take.one_joint import joint_at
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.kinds import JointKind
from viewer.spatial.euler import to_euler

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.spatial.checks import Floats, Ints

MOST = 480
"""Frames that are looked at; of more some are left out."""


class Curve(NamedTuple):
    """One coordinate of a joint.

    Attributes:
        name: ``Swing X``.
        values: (N,) in degrees, metres of a slide.
        limits: ends of its range, likewise; infinite where it has none.
    """

    name: str
    values: Floats
    limits: tuple[float, float] = (-np.inf, np.inf)


class Curves(NamedTuple):
    """Those of a joint.

    Attributes:
        frames: (N,) ascending.
        curves: at most three.
        unit: "°" or " m".
    """

    frames: Ints
    curves: tuple[Curve, ...]
    unit: str


def curves_of(document: Document, joint: int, first: int, last: int) -> Curves:
    """The coordinates of a joint from one frame to another, both included."""
    frames = np.unique(np.linspace(first, last, min(last - first + 1, MOST)).round().astype(np.intp))
    found = joint_at(document, joint, frames)
    slide = document.skeleton.kinds[joint] is JointKind.SLIDE
    named = coordinates(document, joint, stuck=False)
    if not named:
        angles = _continuous(to_euler(found.rotations, EULER))
        return Curves(frames, tuple(Curve(f"Angle {axis}", angles[:, i]) for i, axis in enumerate("XYZ")), "°")
    # The others' angles are not asked for: any pose will do for them.
    turns = np.repeat(document.pose.rotations[None], len(frames), axis=0)
    moved = np.repeat(document.pose.translations[None], len(frames), axis=0)
    turns[:, joint], moved[:, joint] = found
    values = joint_space(document.skeleton).measure(turns, moved)[:, joint]
    values = values if slide else _continuous(values)
    curves = []
    for one in named:
        low, high = one.bounds.least, one.bounds.most
        ends = (-np.inf if low is None else low, np.inf if high is None else high)
        curves.append(Curve(one.name, values[:, one.place], ends))
    return Curves(frames, tuple(curves), " m" if slide else "°")


def _continuous(radians: Floats) -> Floats:
    """Degrees (N, 3) without jumps of a whole turn."""
    turned: Floats = np.degrees(np.unwrap(radians, axis=0))
    return turned
