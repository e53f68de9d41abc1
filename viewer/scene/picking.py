"""Picking: effectors before joints before bones, the nearest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.ik.contact import Object, Sphere
from viewer.scene.look import look_of
from viewer.scene.scene import Mark, OtherFigure, Scene, Trail
from viewer.scene.solids import Bones, measure, triangles_of
from viewer.skeleton import Skin, bodies_of
from viewer.skeleton.attached import WORLD, Singles
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.projection import Projection, Ray, hit_capsules, hit_sphere, hit_triangles
from viewer.spatial.quaternion import nearest_on_segments, perpendicular

EFFECTOR_PX, JOINT_PX, BONE_PX, OTHER_PX = 14.0, 6.0, 4.0, 5.0
"""Largest distance in pixels from the pointer to a handle, a joint's centre, a bone's axis, that of another figure."""


@dataclass(frozen=True, slots=True, eq=False)
class Hit:
    """A thing under the pointer.

    Attributes:
        name: of the effector, joint or prop; for a bone, of the joint at its head, which rotates it.
        index: of that joint; -1 for a prop.
        point: (3,) metres, the point that was hit.
        depth: metres in front of the eye.
        mark: the handle, for effectors; the root's has ``mark.root``.
        place: of the body among those of the joint, for the handle of its radius; of the coordinate, for the end of its
            range; frame of a trail's point.
        upper: it is the upper end of a range.
        trail: whose point it is.
    """

    kind: Literal["effector", "joint", "bone", "prop", "layer", "radius", "limit", "trail"]
    name: str
    index: int
    point: Floats
    depth: float
    mark: Mark | None = None
    place: int = 0
    upper: bool = False
    trail: Trail | None = None


def pick(scene: Scene, projection: Projection, x: float, y: float, scale: float = 1.0) -> Hit | None:
    """The thing that a click at pixel (x, y) selects, None for the background."""
    return next(iter(hits(scene, projection, x, y, scale)), None)


def hits(scene: Scene, projection: Projection, x: float, y: float, scale: float = 1.0) -> list[Hit]:
    """All things at pixel (x, y), best first: repeated clicks cycle through them, including joints at one place."""
    measured = measure(scene.skeleton, scene.world, scene.height)
    bones = _bones(scene, projection, measured, (x, y), scale)
    props = _props(scene, projection, (x, y))
    front = min((hit.depth for hit in [*bones[:1], *props]), default=np.inf)
    joints = _joints(scene, projection, measured, (x, y), scale)
    radii = measured.sizes.joints
    slack = {hit.index: 3.0 * float(radii[hit.index]) for hit in joints}
    seen = [hit for hit in joints if hit.depth <= front + slack[hit.index]]
    hidden = [hit for hit in joints if hit not in seen]
    nearer = [hit for hit in props if not bones or hit.depth <= bones[0].depth]
    farther = [hit for hit in props if hit not in nearer]
    return [*_effectors(scene, projection, (x, y), scale), *seen, *nearer, *bones, *farther, *hidden]


def box(scene: Scene, projection: Projection, x0: float, y0: float, x1: float, y1: float) -> list[Hit]:
    """Effectors and joints inside a rectangle of pixels, by any two of its corners; effectors first."""
    low, high = (min(x0, x1), min(y0, y1)), (max(x0, x1), max(y0, y1))
    places = scene.world.positions
    found = [_mark_hit(projection, mark, mark.position) for mark in _shown(scene) if not mark.free_pole]
    inside = [hit for hit in found if _within(projection.project(hit.point), low, high).all()]
    depths = projection.depth(places)
    joints = np.flatnonzero(_within(projection.project(places), low, high)).tolist()
    inside += [
        Hit("joint", scene.skeleton.names[joint], joint, places[joint], float(depths[joint])) for joint in joints
    ]
    return inside


def _within(pixels: Floats, low: tuple[float, float], high: tuple[float, float]) -> Bools:
    with np.errstate(invalid="ignore"):
        return np.asarray(((pixels >= low) & (pixels <= high)).all(axis=-1))


def _shown(scene: Scene) -> list[Mark]:
    return list(scene.marks) if scene.display.goals else []


def _mark_hit(projection: Projection, mark: Mark, place: Floats) -> Hit:
    kind: Literal["joint", "effector", "prop", "layer"]
    kind = "joint" if mark.free_pole else "prop" if mark.prop else "layer" if mark.layer else "effector"
    return Hit(kind, mark.name, mark.joint, place, float(projection.depth(place)), mark)


def _effectors(scene: Scene, projection: Projection, at: tuple[float, float], scale: float) -> list[Hit]:
    """Handles whose target or effector is near the pointer, sorted by distance on the screen, then by depth."""
    places = [
        (mark, place)
        for mark in _shown(scene)
        for place in (mark.target, None if mark.free_pole else mark.position)
        if place is not None
    ]
    if not places:
        return []
    pixels = projection.project(np.array([place for _, place in places]))
    away = np.linalg.norm(pixels - at, axis=1)
    best: dict[int, tuple[float, Hit]] = {}
    for (mark, place), distance in zip(places, away.tolist(), strict=True):
        if distance <= EFFECTOR_PX * scale and distance < best.get(id(mark), (np.inf,))[0]:
            best[id(mark)] = (distance, _mark_hit(projection, mark, place))
    # Within a pixel, handles with a goal have priority, then those in front.
    return [hit for _, hit in sorted(best.values(), key=_nearness)]


def _nearness(found: tuple[float, Hit]) -> tuple[int, bool, float]:
    away, hit = found
    holds = hit.mark is not None and (hit.mark.on or hit.mark.root)
    return round(away), not holds, hit.depth


def _joints(scene: Scene, projection: Projection, bones: Bones, at: tuple[float, float], scale: float) -> list[Hit]:
    places = scene.world.positions
    away = np.linalg.norm(projection.project(places) - at, axis=1)
    radius = bones.sizes.joints * projection.pixels_per_metre(places)
    with np.errstate(invalid="ignore"):
        near = np.flatnonzero(away <= np.maximum(radius, JOINT_PX * scale))
    depths = projection.depth(places)
    near = near[np.lexsort((near, np.round(away[near]), depths[near]))]
    return [
        Hit("joint", scene.skeleton.names[joint], joint, places[joint], float(depths[joint])) for joint in near.tolist()
    ]


def _bones(scene: Scene, projection: Projection, bones: Bones, at: tuple[float, float], scale: float) -> list[Hit]:
    """Bones near the pointer's ray: first those that it hits, then others, each from front to back.

    Where bodies or the skin hide the bones, these are hit instead.
    """
    ray = projection.ray(*at)
    if scene.skin is not None and scene.shows_skin and not scene.display.see_through:
        return [_bone_hit(scene, projection, joint, ray.at(along)) for along, joint in _on_skin(scene, scene.skin, ray)]
    if scene.display.bodies and not scene.display.see_through:
        table = bodies_of(scene.skeleton).table
        (heads, tails), radii, owners = (
            table.ends(scene.world.positions, scene.world.rotations),
            table.radius,
            table.joint,
        )
    else:
        some = np.flatnonzero(bones.sizes.shown)
        heads, tails, radii, owners = bones.heads[some], bones.tails[some], bones.sizes.radii[some], bones.owners[some]
    along = hit_capsules(ray, heads, tails, np.inf)
    points = ray.at(along)
    with np.errstate(divide="ignore"):
        thin = BONE_PX * scale / projection.pixels_per_metre(points)
    aside = _aside(points, heads, tails)
    near = np.flatnonzero((along > 0.0) & (aside <= np.maximum(radii, thin)))
    order = near[np.lexsort((along[near], aside[near] > radii[near]))]
    return [_bone_hit(scene, projection, int(owners[bone]), points[bone]) for bone in order.tolist()]


class _Part(NamedTuple):
    """The triangles (T, 3) of a mesh with vertices (V, 3) that follow one binding of a skin most."""

    binding: int
    positions: Singles
    triangles: NDArray[np.uint32]


@lru_cache(maxsize=4)
def _parts(skin: Skin) -> tuple[list[_Part], Floats]:
    """The P parts of a skin that follow joints, and (P, 8, 4) the corners of boxes around them, with a 1 at the end."""
    parts, boxes = [], []
    for mesh in skin.meshes:
        first = mesh.triangles[:, 0]
        most = mesh.weights[first].argmax(axis=1) if mesh.weights.shape[1] > 1 else 0
        of_triangle = mesh.bindings[first, most]
        for binding in np.flatnonzero(np.bincount(of_triangle)).tolist():
            if skin.joints[binding] == WORLD:
                continue
            own = of_triangle == binding
            part = _Part(binding, mesh.positions, mesh.triangles if own.all() else mesh.triangles[own])
            parts.append(part)
            # Column by column: numpy takes ten times as long for the least of rows of three.
            columns = (mesh.positions if own.all() else mesh.positions[part.triangles.ravel()]).T
            ends = np.array([[column.min() for column in columns], [column.max() for column in columns]])
            boxes.append(ends[_BOX, range(3)])
    corners = np.array(boxes, dtype=np.float64).reshape(-1, 8, 3)
    return parts, np.concatenate([corners, np.ones((len(corners), 8, 1))], axis=2)


_BOX = np.indices((2, 2, 2)).reshape(3, 8).T
"""(8, 3) which end of each side a corner of a box is at."""


def _on_skin(scene: Scene, skin: Skin, ray: Ray) -> list[tuple[float, int]]:
    """How far along a ray it meets a skin, and the joint that it follows there, from front to back.

    Where several joints move a triangle, it is taken to be where the one that moves it most has it.
    """
    side = perpendicular(ray.direction)
    across = np.stack([side, np.cross(ray.direction, side)])
    matrices = skin.matrices(scene.world.positions, scene.world.rotations, scene.size)
    flat = across @ matrices  # from a mesh onto a plane across the ray, which meets it at 0
    flat[:, :, 3] -= across @ ray.origin
    parts, boxes = _parts(skin)
    seen = np.einsum("pij,pcj->pci", flat[[part.binding for part in parts]], boxes)
    found: dict[int, float] = {}
    for number in np.flatnonzero(((seen.min(axis=1) <= 0.0) & (seen.max(axis=1) >= 0.0)).all(axis=1)).tolist():
        binding, positions, triangles = parts[number]
        plane = positions @ flat[binding, :, :3].T + flat[binding, :, 3]
        a, b, c = plane.view(np.complex128)[:, 0].take(triangles.T)
        turns = np.stack([(one.conj() * other).imag for one, other in ((a, b), (b, c), (c, a))])
        around = triangles[(turns >= 0.0).all(axis=0) | (turns <= 0.0).all(axis=0)]
        corners = positions[around] @ matrices[binding, :, :3].T + matrices[binding, :, 3]
        joint, along = int(skin.joints[binding]), float(hit_triangles(ray, corners).min(initial=np.inf))
        if along < np.inf:
            found[joint] = min(along, found.get(joint, np.inf))
    return sorted((along, joint) for joint, along in found.items())


def _bone_hit(scene: Scene, projection: Projection, owner: int, point: Floats) -> Hit:
    return Hit("bone", scene.skeleton.names[owner], owner, point, float(projection.depth(point)))


def _props(scene: Scene, projection: Projection, at: tuple[float, float]) -> list[Hit]:
    """Props that the pointer's ray hits, from front to back."""
    ray = projection.ray(*at)
    found = []
    for prop in scene.props:
        along = np.inf if prop.solid is None else _to_solid(ray, prop.solid)
        if along < np.inf:
            point = ray.at(along)
            found.append(Hit("prop", prop.name, -1, point, float(projection.depth(point))))
    return sorted(found, key=lambda hit: hit.depth)


def _to_solid(ray: Ray, solid: Object) -> float:
    """Metres along a ray to a solid; infinite where it misses."""
    if isinstance(solid, Sphere):
        return float(hit_sphere(ray, np.array(solid.center), solid.radius))
    corners = triangles_of(solid)
    return float(np.min(hit_triangles(ray, corners), initial=np.inf))


def _aside(points: Floats, starts: Floats, ends: Floats) -> Floats:
    """(B,) metres from points to the segments beside them."""
    return np.asarray(np.linalg.norm(points - nearest_on_segments(points, starts, ends - starts), axis=1))


def other_at(
    others: Sequence[OtherFigure], projection: Projection, x: float, y: float, scale: float = 1.0
) -> tuple[OtherFigure, float] | None:
    """The figure at pixel (x, y) that is nearest to the eye, and metres to it; None without one."""
    ray, found = projection.ray(x, y), []
    for other in others:
        bones = measure(other.skeleton, other.world, look_of(other.skeleton).height)
        shown = bones.sizes.shown
        heads, tails = bones.heads[shown], bones.tails[shown]
        points = ray.at(hit_capsules(ray, heads, tails, np.inf))
        with np.errstate(divide="ignore"):
            thin = OTHER_PX * scale / projection.pixels_per_metre(points)
        depths = projection.depth(points)
        near = (depths > 0.0) & (_aside(points, heads, tails) <= np.maximum(bones.sizes.radii[shown], thin))
        if near.any():
            found.append((other, float(depths[near].min())))
    return min(found, key=lambda one: one[1], default=None)


TRAIL_PX, _NOW_PX = 7.0, 12.0
"""Largest distance in pixels from the pointer to a trail's dot; dots nearer than this to the current frame's point are
under the effector itself, which is dragged there."""


def pick_trail(trails: Sequence[Trail], projection: Projection, x: float, y: float, scale: float = 1.0) -> Hit | None:
    """The dot of a selected trail at pixel (x, y), nearest to it; None without one."""
    best: tuple[float, Hit] | None = None
    for trail in trails:
        some = [index for index in trail.dotted if index != trail.now]
        if not some or trail.item is None:
            continue
        points = trail.points[some]
        pixels, depths = projection.project(points), projection.depth(points)
        now = projection.project(trail.points[trail.now])
        away = np.linalg.norm(pixels - (x, y), axis=1)
        free = (depths > 0.0) & ~(np.linalg.norm(pixels - now, axis=1) < _NOW_PX * scale)
        for place in np.flatnonzero(free & (away <= TRAIL_PX * scale)).tolist():
            if best is None or away[place] < best[0]:
                frame = trail.first + some[place]
                hit = Hit("trail", trail.item.name, -1, points[place], float(depths[place]), place=frame, trail=trail)
                best = float(away[place]), hit
    return None if best is None else best[1]
