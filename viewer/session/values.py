"""Small values of a document: what can be selected, how dragging works, what a handle wants."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple

ItemKind = Literal["joint", "effector"]


class Item(NamedTuple):
    """Something that can be selected and dragged.

    Attributes:
        kind: "joint" or "effector". The root joint's item is the root handle.
        name: of the joint, or of the effector.
    """

    kind: ItemKind
    name: str


class Mode(StrEnum):
    """What dragging does."""

    IK = "ik"
    """Goals are moved, the joints follow."""
    FK = "fk"
    """Joints are turned, what hangs on them follows."""


class Scope(StrEnum):
    """Which joints may move during an IK drag."""

    BODY = "body"
    """All."""
    LIMB = "limb"
    """Those of the limb that is dragged."""
    SELECTION = "selection"
    """The selected ones."""


class Wanted(StrEnum):
    """What a handle asks of its effector; the values are those of `viewer.ik.goals.GoalKind`, and "off"."""

    POSITION = "position"
    ROTATION = "rotation"
    POSE = "position+rotation"
    DISTANCE = "distance"
    AIM = "aim"
    OFF = "off"
    """Nothing: the effector follows along."""


STANDING = frozenset({Wanted.POSITION, Wanted.ROTATION, Wanted.POSE})
"""Kinds whose targets are where the effector is to be or how it is to be turned, and that can be pinned."""
