"""Writing meshes of a posed figure (OBJ, STL, PLY) with trimesh, its bones as closed octahedra.

The pose is the first frame of the motion, or the rest pose without motion.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from trimesh import Trimesh

from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import write_whole
from viewer.formats.save import check_range
from viewer.skeleton import Character, fk
from viewer.skeleton.bodies import bone_mesh


def write_mesh(character: Character, path: Path, _: WriteOptions) -> list[str]:
    """Write a .obj, .stl or .ply file: metres, Y up, 32-bit floats."""
    mesh = figure_mesh(character)
    kind = path.suffix.casefold()[1:]
    content = mesh.export(file_type=kind)
    assert isinstance(content, (bytes, str))  # only scenes have several files
    write_whole(path, content)
    clip = character.clip
    lost = "the other frames and the joints" if clip is not None and len(clip) > 1 else "the joints"
    return [f"{kind.upper()} holds the shape of one pose: {lost} are left out"]


def figure_mesh(character: Character) -> Trimesh:
    """The bones as triangles, each octahedron closed and facing outwards, in world metres.

    Raises:
        InputError: NaN or infinite numbers, or numbers past the range of 32-bit floats.
    """
    skeleton, clip = character.skeleton, character.clip
    pose = clip.pose(0) if clip is not None and len(clip) else skeleton.rest_pose()
    corners = bone_mesh(skeleton, fk(skeleton, pose)).corners
    check_range("a mesh", corners)
    mesh = Trimesh(vertices=corners, faces=np.arange(len(corners)).reshape(-1, 3), process=False)
    mesh.merge_vertices()
    return mesh
