"""The inside of `viewer.opengl` that tests use."""

from viewer.opengl import captions, offscreen
from viewer.opengl.captions import write_texts
from viewer.opengl.floor import shadow_bounds
from viewer.opengl.framebuffers import Stream, Target, read_picture
from viewer.opengl.geometry import hull, octahedron
from viewer.opengl.moving import playable_fps, swept_points
from viewer.opengl.picture import VIEWS, camera_of, marks_of, scene_of
from viewer.opengl.pose_library import LibraryPose
from viewer.opengl.programs import NAMES, compile_program, key_light, packed, source

__all__ = [
    "NAMES",
    "VIEWS",
    "LibraryPose",
    "Stream",
    "Target",
    "camera_of",
    "captions",
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
