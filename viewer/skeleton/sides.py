"""Left and right of a skeleton: which joints are partners by name, and which way is across."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from viewer.skeleton.figure import find_figure
from viewer.skeleton.kinematics import fk
from viewer.skeleton.names import body_part, swapped_names
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats, Ints, frozen


@lru_cache(maxsize=16)
def partners(skeleton: Skeleton) -> Ints:
    """(J,) the joint of the same name on the other side; joints without one are their own partners."""
    places = {name: joint for joint, name in enumerate(skeleton.names)}
    found = np.arange(len(skeleton))
    for joint, name in enumerate(skeleton.names):
        others = [places[other] for other in swapped_names(name) if other in places]
        if body_part(name).side and others and others[0] != joint:
            found[joint] = others[0]
    # Partnership must be mutual.
    mutual = found[found] == np.arange(len(found))
    result: Ints = frozen(np.where(mutual, found, np.arange(len(found))), np.intp)
    return result


def across_of(skeleton: Skeleton) -> Floats:
    """(3,) unit direction from right to left at rest: of the figure, else from partner to partner."""
    figure = find_figure(skeleton)
    if figure is not None and figure.upright:
        return figure.left
    partner, places = partners(skeleton), fk(skeleton, skeleton.rest_pose()).positions
    left = [j for j, name in enumerate(skeleton.names) if partner[j] != j and body_part(name).side == "left"]
    direction = (places[left] - places[partner[left]]).sum(axis=0) if left else np.zeros(3)
    length = float(np.linalg.norm(direction))
    return direction / length if length > 0.0 else np.array([1.0, 0.0, 0.0])
