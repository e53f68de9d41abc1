"""Which way a figure faces, and on what it stands: what standard views start from."""

from __future__ import annotations

import numpy as np

from viewer.scene.look import figure_height, figure_points
from viewer.skeleton.character import Character
from viewer.skeleton.figure import find_figure
from viewer.skeleton.kinematics import World, fk
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats

_LEVEL = 0.05
"""A figure whose lowest place is within this part of its height of 0 stands on 0."""


def facing(subject: Character | Skeleton, world: World | None = None) -> Floats:
    """(3,) level unit vector in which a figure faces.

    A person's is at right angles to the line through the hips (shoulders where there are no legs); anything else is
    taken to face +Z.

    Args:
        subject: a character (its first frame counts if it has motion) or a skeleton (its rest pose does).
        world: (J, ...) where its joints are, if not there.
    """
    skeleton = subject.skeleton if isinstance(subject, Character) else subject
    ahead = np.array([0.0, 0.0, 1.0])
    figure = find_figure(skeleton)
    if figure is None:
        return ahead
    place = (world or _first(subject)).positions
    left, right = (figure.legs or figure.arms)[:2]
    x, _, z = (place[left.upper] - place[right.upper]).tolist()
    across = np.hypot(x, z)
    return np.array([-z, 0.0, x]) / across if across > 1e-9 * figure_height(skeleton) else ahead


def floor_of(subject: Character | Skeleton) -> float:
    """Metres: height of the ground, 0 for figures that stand on or above it, else of the lowest joint or tip."""
    skeleton = subject.skeleton if isinstance(subject, Character) else subject
    lowest = float(figure_points(skeleton, _first(subject))[:, 1].min())
    return lowest if lowest < -_LEVEL * figure_height(skeleton) else 0.0


def _first(subject: Character | Skeleton) -> World:
    """Where the joints are in the first frame, at rest without motion."""
    if not isinstance(subject, Character):
        return fk(subject, subject.rest_pose())
    clip = subject.clip
    moving = clip is not None and len(clip) > 0
    return fk(subject.skeleton, clip.pose(0) if clip is not None and moving else subject.skeleton.rest_pose())
