"""Draws draw lists by OpenGL, in a window or without a screen.

Importing this loads no OpenGL: `viewer.opengl.pictures` loads it for the first picture and reports what is missing, and
a window imports `viewer.opengl.renderer`.
"""

from viewer.opengl.comparisons import film_traces, render_traces
from viewer.opengl.filming import Film, Filming, make_film
from viewer.opengl.machine import claim_drawing, machine_error
from viewer.opengl.pictures import CameraName, check_camera, render, render_image
from viewer.opengl.pose_library import LibraryPose, PoseLibrary

__all__ = [
    "CameraName",
    "Film",
    "Filming",
    "LibraryPose",
    "PoseLibrary",
    "check_camera",
    "claim_drawing",
    "film_traces",
    "machine_error",
    "make_film",
    "render",
    "render_image",
    "render_traces",
]  # fmt: skip
