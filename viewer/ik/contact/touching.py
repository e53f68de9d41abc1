"""What a figure touches in a pose, without a solver."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, quote
from viewer.ik.contact.values import FLOOR, Contact
from viewer.ik.contact.vectorised import find_near
from viewer.ik.contact.volumes import ON_FLOOR, Near, Volumes, make_near, make_volumes
from viewer.skeleton import Pose, Skeleton, fk
from viewer.skeleton.arguments import check_pose, check_skeleton

_HERE = "contacts: "


class Touch(NamedTuple):
    """One contact.

    Attributes:
        body: name of the joint whose body it is.
        other: name of the joint whose body it touches, of an object, or "floor".
        depth_m: metres that they overlap; just below 0 where a small gap is left between them.
        point: (3,) metres, world frame: the middle between the two surfaces.
    """

    body: str
    other: str
    depth_m: float
    point: tuple[float, float, float]


def contacts(skeleton: Skeleton, pose: Pose, contact: Contact) -> list[Touch]:
    """What the figure touches or overlaps with in a pose, deepest first; each pair of names once, at its deepest.

    Raises:
        InputError: no skeleton, a pose of another one, no contact, names in it that there are not.
    """
    check_skeleton(skeleton, _HERE)
    check_pose(pose, _HERE)
    given: object = contact
    if not isinstance(given, Contact):
        raise InputError(f"{_HERE}expected a Contact, found {quote(given)}")
    world = fk(skeleton, pose)
    volumes = volumes_of(skeleton, contact)
    near = make_near(volumes)
    find_near(volumes, near, world.positions, world.rotations, float(volumes.near[0]))
    return touches(skeleton, contact, volumes, near)


@lru_cache(maxsize=4)
def volumes_of(skeleton: Skeleton, contact: Contact) -> Volumes:
    """What can touch what, by the skeleton's own numbers of joints; the last few are kept."""
    return make_volumes(skeleton, contact)


def touches(skeleton: Skeleton, contact: Contact, volumes: Volumes, near: Near) -> list[Touch]:
    """The rows that touch, by name; arguments as `find_near` has left them, joints by the skeleton's own numbers."""
    rows = np.flatnonzero(near.gap[: near.rows[0]] <= volumes.slack[0])
    found: dict[tuple[str, str], Touch] = {}
    for row in rows[np.argsort(near.gap[rows], kind="stable")].tolist():
        second = int(near.second[row])
        body = skeleton.names[volumes.joint[near.first[row]]]
        if second >= 0:
            other = skeleton.names[volumes.joint[second]]
        else:
            other = FLOOR if second == ON_FLOOR else contact.objects[-2 - second].name
        x, y, z = (0.5 * (near.p[row] + near.q[row])).tolist()
        found.setdefault((body, other), Touch(body, other, -float(near.gap[row]), (x, y, z)))
    return list(found.values())
