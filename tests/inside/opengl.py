"""The inside of `viewer.opengl` that tests use."""

from viewer.opengl import gpu_objects, pictures, renderer
from viewer.opengl.filming import playable_fps, swept_points
from viewer.opengl.gpu_objects import (
    RenderTarget,
    Stream,
    compile_program,
    create_context,
    key_light,
    machine_error,
    packed,
    read_picture,
    source,
)
from viewer.opengl.pictures import VIEWS, camera_of, marks_of, scene_of, write_texts
from viewer.opengl.pose_library import LibraryPose
from viewer.opengl.renderer import Renderer, hull, octahedron, shadow_bounds
