"""Radii of bodies in the view: a ring at the rim of each body of the active joint, and dragging it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viewer.document import Document, joint_of, world_of
from viewer.document.actions import SetRadius
from viewer.document.actions.contact import capsules_of
from viewer.document.contact import THINNEST
from viewer.gizmo import Fill, Motion, Shape, Stroke
from viewer.scene import Display, Hit
from viewer.session import Session
from viewer.skeleton import bodies_of
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection

_RING_PX, _NEAR_PX, _LINE_PX = 6.0, 9.0, 2.0
"""Radius of a ring, how near to its centre the pointer holds it, and width of its line, logical pixels."""
_CORNERS = 24
_ACROSS = 1e-3
"""An axis that is seen from nearer than this to its end (sine of the angle) has no rim beside it."""


@dataclass(frozen=True, slots=True, eq=False)
class RadiusHandle:
    """The place where the radius of a body is dragged.

    Attributes:
        joint: index of its joint.
        place: of the body among those of the joint.
        middle: (3,) of the body's axis, metres, world frame.
        outwards: (3,) unit vector from there to the rim, as seen.
        point: (3,) on the rim.
    """

    joint: int
    place: int
    middle: Floats
    outwards: Floats
    point: Floats


def radius_handles(document: Document, display: Display, projection: Projection) -> list[RadiusHandle]:
    """The handles of the active joint's bodies; none unless bodies are shown."""
    item = document.active_on_figure
    if not display.bodies or item is None:
        return []
    joint, bodies = joint_of(document, item), bodies_of(document.skeleton)
    world = world_of(document.skeleton, document.pose)
    a, b = bodies.table.ends(world.positions, world.rotations)
    handles = []
    for place, index in enumerate(capsules_of(bodies.capsules, joint)):
        middle = 0.5 * (a[index] + b[index])
        sight = projection.back if projection.orthographic else projection.eye - middle
        across = np.cross(b[index] - a[index], sight)
        length = float(np.linalg.norm(across))
        seen = float(np.linalg.norm(b[index] - a[index]) * np.linalg.norm(sight))
        outwards = across / length if length > _ACROSS * seen else projection.right
        radius = bodies.capsules[index].radius
        handles.append(RadiusHandle(joint, place, middle, outwards, middle + radius * outwards))
    return handles


def hit_radius(
    document: Document, display: Display, projection: Projection, at: tuple[float, float], scale: float
) -> Hit | None:
    """The handle at a pixel of the viewport."""
    for handle in radius_handles(document, display, projection):
        pixel, depth = projection.project(handle.point), float(projection.depth(handle.point))
        if depth > 0.0 and np.linalg.norm(pixel - at) <= _NEAR_PX * scale:
            name = document.skeleton.names[handle.joint]
            return Hit("radius", name, handle.joint, handle.point, depth, place=handle.place)
    return None


def radius_shapes(
    document: Document, display: Display, projection: Projection, scale: float, hovered: Hit | None
) -> list[Shape]:
    """Rings at the handles."""
    turn = np.linspace(0.0, 2.0 * np.pi, _CORNERS, endpoint=False)
    ring = _RING_PX * scale * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    shapes: list[Shape] = []
    for handle in radius_handles(document, display, projection):
        pixel = projection.project(handle.point)
        if projection.depth(handle.point) > 0.0 and np.isfinite(pixel).all():
            held = hovered is not None and hovered.kind == "radius" and hovered.place == handle.place
            points = pixel + (1.25 if held else 1.0) * ring
            shapes += [
                Fill(points, "halo", 0.5),
                Stroke(points, _LINE_PX * scale, "hovered" if held else "accent", 1.0, closed=True),
            ]
    return shapes


@dataclass(slots=True, eq=False)
class RadiusMover:
    """Makes a body thicker or thinner.

    Attributes:
        joint: its name.
        handle: as it was pressed.
        other: the joint of the other side that changes with it, or None.
    """

    joint: str
    handle: RadiusHandle
    other: str | None = None

    @classmethod
    def at(cls, document: Document, hit: Hit) -> RadiusMover:
        """Of the handle that was hit."""
        bodies, world = bodies_of(document.skeleton), world_of(document.skeleton, document.pose)
        index = capsules_of(bodies.capsules, hit.index)[hit.place]
        a, b = bodies.table.ends(world.positions, world.rotations)
        middle = 0.5 * (a[index] + b[index])
        outwards = (hit.point - middle) / float(np.linalg.norm(hit.point - middle))
        return cls(hit.name, RadiusHandle(hit.index, hit.place, middle, outwards, hit.point))

    def begin(self, session: Session) -> None:
        """Begin the gesture."""
        session.begin(f"Radius of {self.joint}")

    def apply(self, session: Session, motion: Motion) -> None:
        """Set the radius so that the rim is under the pointer."""
        point, _ = motion.apply(self.handle.point, None)
        radius = float((point - self.handle.middle) @ self.handle.outwards)
        session.gestures.update(SetRadius(self.joint, max(radius, THINNEST), self.handle.place, self.other))
