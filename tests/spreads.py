"""A chain whose upper joint states its spread, for the tests of spreads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from inside.formats import skeleton_from_text

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.skeleton import Character, Skeleton

SLANTED = [[30, 12, 0], [12, 20, -4], [0, -4, 6]]
"""Degrees, with eigenvalues above 0 about axes that are nobody's own."""


def read(spread: object, **words: object) -> Character:
    """A chain of two joints, the upper one with this spread."""
    joint = {"name": "a", "kind": "ball", "spread": spread} | words
    joints = [joint, {"name": "b", "parent": "a", "offset": [0, 1, 0]}]
    return skeleton_from_text(json.dumps({"units": "cm", "joints": joints}), "a.json")


def stated_matrix(skeleton: Skeleton, joint: int = 0) -> Floats:
    assert skeleton.mobility_matrices is not None
    return np.asarray(skeleton.mobility_matrices[joint])
