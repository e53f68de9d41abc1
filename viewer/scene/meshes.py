"""Solid meshes of what a view draws by records: a bone, a joint, and a whole figure, for exports.

trimesh does the work; it is loaded when the first mesh is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.scene import bones as figure
from viewer.scene.bones import BELT

if TYPE_CHECKING:
    from trimesh import Trimesh

    from viewer.scene.scene import Scene
    from viewer.spatial.checks import Ints

_CORNERS = np.array(
    [[0.0, 0.0, 0.0], [1.0, BELT, 0.0], [0.0, BELT, 1.0], [-1.0, BELT, 0.0], [0.0, BELT, -1.0], [0.0, 1.0, 0.0]]
)
_FACES = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1], [5, 2, 1], [5, 3, 2], [5, 4, 3], [5, 1, 4]])
_ROUND = 1
"""Subdivisions of a joint's sphere: 80 triangles."""


def bone_mesh() -> Trimesh:
    """The unit octahedron of BONE records: 8 faces, each with vertices and a normal of its own, facing outwards."""
    from trimesh import Trimesh  # noqa: PLC0415 - a tenth of a second that a window need not wait for

    return Trimesh(vertices=_CORNERS[_FACES].reshape(-1, 3), faces=np.arange(24).reshape(8, 3), process=False)


def joint_mesh() -> Trimesh:
    """A sphere of radius 1."""
    from trimesh.creation import icosphere  # noqa: PLC0415 - as above

    sphere: Trimesh = icosphere(subdivisions=_ROUND)
    return sphere


def figure_mesh(scene: Scene) -> Trimesh:
    """Bones and joints of a scene as one mesh, metres in the world, a colour to each face."""
    from trimesh import Trimesh  # noqa: PLC0415 - as above

    measured = figure.measure(scene.skeleton, scene.world, scene.height)
    bones, spheres = figure.bone_records(scene, measured, 1.0), figure.sphere_records(scene, measured, 1.0)
    spheres = spheres[spheres["radius"] > 0.0]
    bone, joint = bone_mesh(), joint_mesh()
    frames = bones["frame"].astype(np.float64)
    points = np.einsum("bij,vj->bvi", frames[:, :, :3], bone.vertices) + frames[:, None, :, 3]
    balls = spheres["centre"][:, None] + spheres["radius"][:, None, None] * np.asarray(joint.vertices)
    faces = [_repeated(bone.faces, len(bones), 0, points.shape[1])]
    faces.append(_repeated(joint.faces, len(spheres), points.shape[0] * points.shape[1], balls.shape[1]))
    colours = [np.repeat(rows["colour"], len(mesh.faces), axis=0) for rows, mesh in ((bones, bone), (spheres, joint))]
    return Trimesh(
        vertices=np.concatenate([points.reshape(-1, 3), balls.reshape(-1, 3)]),
        faces=np.concatenate(faces),
        face_colors=np.rint(255.0 * np.concatenate(colours)).astype(np.uint8),
        process=False,
    )


def _repeated(faces: Ints, count: int, first: int, step: int) -> Ints:
    """(count * F, 3) faces (F, 3) of copies that have ``step`` vertices each, one after the other from ``first`` on."""
    starts = first + step * np.arange(count)
    return np.asarray((starts[:, None, None] + np.asarray(faces)).reshape(-1, 3))
