"""Run by Blender: imports files and writes down where it has their bones and vertices.

    blender -b --factory-startup --python-exit-code 1 --python inside.py -- PACKAGES JOBS.json

PACKAGES is a folder with numpy for the same Python, for a Blender that comes without it (as Debian's does).

JOBS.json is a list of ``{"file", "out", "clips", "skinned"}``: for each clip its times in seconds, or null for every
frame that the file has (BVH); none for a pose. The mesh is looked at in the frames ``skinned``. ``out`` becomes an NPZ
archive, in Blender's world (Z up).
"""

from __future__ import annotations

import builtins
import json
import sys
from pathlib import Path
from typing import Any, TypeAlias

sys.path.append(sys.argv[-2])

import bpy  # type: ignore[import-not-found]
import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

# Blender 3.4 of Debian 12 was written for an older Python and an older numpy.
for _gone, _now in (("bool", bool), ("object", object)):
    if _gone not in np.__dict__:
        setattr(np, _gone, _now)
_open: Any = builtins.open
builtins.open = lambda file, mode="r", *rest, **more: _open(file, mode.replace("U", ""), *rest, **more)


def in_world(obj: Any, points: Floats) -> Floats:  # noqa: ANN401
    """Points (..., 3) of an object in the world."""
    matrix = np.array(obj.matrix_world)
    return np.asarray(points @ matrix[:3, :3].T + matrix[:3, 3])


def of_importer(obj: Any) -> bool:  # noqa: ANN401
    """Whether the importer of glTF made it for itself: Blender 4 draws bones by a ball in a hidden collection."""
    return any(collection.name == "glTF_not_exported" for collection in obj.users_collection)


def bone_places(armature: Any) -> Floats:  # noqa: ANN401
    """(B, 2, 3) heads and tails."""
    return in_world(armature, np.array([[bone.head, bone.tail] for bone in armature.pose.bones]))


def vertex_places(meshes: list[Any]) -> Floats:
    """(V, 3) vertices of the meshes as the armature moves them."""
    graph = bpy.context.evaluated_depsgraph_get()
    places = [np.zeros((0, 3))]
    for obj in meshes:
        moved = obj.evaluated_get(graph)
        mesh = moved.to_mesh()
        flat = np.empty(3 * len(mesh.vertices))
        mesh.vertices.foreach_get("co", flat)
        places.append(in_world(moved, flat.reshape(-1, 3)))
        moved.to_mesh_clear()
    return np.concatenate(places)


def show(frame: float) -> None:
    """Go to a frame, which may lie between two whole ones."""
    whole = int(np.floor(frame + 1e-6))
    bpy.context.scene.frame_set(whole, subframe=min(max(frame - whole, 0.0), 0.999999))


def looked_at(armature: Any, meshes: list[Any], frames: Floats, skinned: set[int]) -> tuple[Floats, Floats]:  # noqa: ANN401
    """Bones of all frames (F, B, 2, 3), vertices (S, V, 3) of those whose index is in ``skinned``."""
    bones, vertices = [], []
    for index, frame in enumerate(frames.tolist()):
        show(frame)
        bones.append(bone_places(armature))
        if index in skinned:
            vertices.append(vertex_places(meshes))
    return np.array(bones), np.array(vertices)


def read(path: str) -> None:
    """Import a file into an empty scene."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if path.endswith(".bvh"):  # in Blender's own axes nothing is turned
        bpy.ops.import_anim.bvh(
            filepath=path, rotate_mode="NATIVE", axis_forward="Y", axis_up="Z", update_scene_fps=True
        )
    else:
        bpy.ops.import_scene.gltf(filepath=path)


def chosen(armature: Any, clip: str) -> Floats:  # noqa: ANN401
    """Make a clip the one that is played; the frames of its keys."""
    data = armature.animation_data
    if data is None:
        return np.zeros(1)
    for track in data.nla_tracks:
        if track.name == clip:
            data.action = track.strips[0].action
    return np.array([key.co[0] for key in data.action.fcurves[0].keyframe_points])


def seen(job: dict[str, Any]) -> dict[str, Any]:
    """Everything that is looked at in one file."""
    read(job["file"])
    scene = bpy.context.scene
    armature = next(obj for obj in scene.objects if obj.type == "ARMATURE")
    meshes = [obj for obj in scene.objects if obj.type == "MESH" and obj.visible_get() and not obj.hide_render]
    fps = scene.render.fps / scene.render.fps_base
    found: dict[str, Any] = {
        "objects": [f"{obj.type} {obj.name}" for obj in scene.objects if not of_importer(obj)],
        "bones": [bone.name for bone in armature.pose.bones],
        "parents": [bone.parent.name if bone.parent else "" for bone in armature.pose.bones],
        "fps": fps,
        "clips": [track.name for track in armature.animation_data.nla_tracks] if armature.animation_data else [],
    }
    for number, (clip, times) in enumerate(job["clips"].items() or [("", [0.0])]):
        keys = chosen(armature, clip)
        frames = keys if times is None else np.array(times) * fps
        bones, vertices = looked_at(armature, meshes, frames, set(job["skinned"]))
        found |= {f"keys{number}": keys, f"bones{number}": bones, f"vertices{number}": vertices}
    return found


def main(jobs: str) -> None:
    for job in json.loads(Path(jobs).read_text(encoding="utf-8")):
        np.savez(job["out"], **seen(job))


main(sys.argv[-1])
