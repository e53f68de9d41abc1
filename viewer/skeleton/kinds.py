"""The joint kinds: in which way a joint may move."""

from __future__ import annotations

from enum import StrEnum


class JointKind(StrEnum):
    """How a joint moves relative to its parent; the values are the words of the skeleton file."""

    BALL = "ball"
    """Three rotations about one point."""
    HINGE = "hinge"
    """One rotation: q = rest * R(axis, angle)."""
    UNIVERSAL = "universal"
    """Two rotations: q = rest * R(axes[0], a) * R(axes[1], b), the axes perpendicular."""
    SLIDE = "slide"
    """One translation: t = offset + R(rest) * axis * distance."""
    FIXED = "fixed"
    """None."""
    FREE = "free"
    """Six: roots only, unlimited."""


FREEDOMS: dict[JointKind, int] = {
    JointKind.BALL: 3,
    JointKind.HINGE: 1,
    JointKind.UNIVERSAL: 2,
    JointKind.SLIDE: 1,
    JointKind.FIXED: 0,
    JointKind.FREE: 6,
}
"""Degrees of freedom of each kind."""
