"""The inside of `viewer.opengl` that tests use."""

from viewer.opengl import offscreen, pictures
from viewer.opengl.filming import playable_fps, swept_points
from viewer.opengl.floor import shadow_bounds
from viewer.opengl.gpu_objects import RenderTarget, Stream, compile_program, key_light, packed, read_picture, source
from viewer.opengl.offscreen import create_context, machine_error
from viewer.opengl.pictures import VIEWS, camera_of, marks_of, scene_of, write_texts
from viewer.opengl.pose_library import LibraryPose
from viewer.opengl.renderer import Renderer, hull, octahedron
