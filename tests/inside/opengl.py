"""The inside of `viewer.opengl` that tests use."""

from viewer.opengl import offscreen
from viewer.opengl.floor import shadow_bounds
from viewer.opengl.geometry import hull, octahedron
from viewer.opengl.gpu_objects import NAMES, Stream, Target, compile_program, key_light, packed, read_picture, source
from viewer.opengl.movies import playable_fps, swept_points
from viewer.opengl.offscreen import write_texts
from viewer.opengl.pictures import VIEWS, camera_of, marks_of, scene_of
from viewer.opengl.pose_library import LibraryPose

__all__ = [
    "NAMES",
    "VIEWS",
    "LibraryPose",
    "Stream",
    "Target",
    "camera_of",
    "compile_program",
    "hull",
    "key_light",
    "marks_of",
    "octahedron",
    "offscreen",
    "packed",
    "playable_fps",
    "read_picture",
    "scene_of",
    "shadow_bounds",
    "source",
    "swept_points",
    "write_texts",
]
