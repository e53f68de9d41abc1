"""Draws draw lists by OpenGL, in a window or without a screen.

Importing this loads no OpenGL: `viewer.opengl.pictures` loads it for the first picture and reports what is missing, and
a window imports `viewer.opengl.renderer`.
"""

from viewer.opengl.filming import Film, Filming, film_traces, make_film
from viewer.opengl.pictures import render_image
from viewer.opengl.pose_library import LibraryPose, PoseLibrary

__all__ = [
    "Film",
    "Filming",
    "LibraryPose",
    "PoseLibrary",
    "film_traces",
    "make_film",
    "render_image",
]  # fmt: skip
