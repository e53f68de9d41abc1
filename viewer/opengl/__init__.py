"""Draws draw lists by OpenGL, in a window or without a screen."""

from __future__ import annotations

from importlib import import_module

from viewer.opengl.context import create_context, machine_error
from viewer.opengl.movies import Filming, Movie, movie
from viewer.opengl.offscreen import render_image
from viewer.opengl.renderer import Renderer

# Imported on first use: a window draws without Pillow.
_LATER = {
    "Filming": "viewer.opengl.movies",
    "Movie": "viewer.opengl.movies",
    "movie": "viewer.opengl.movies",
    "render_image": "viewer.opengl.offscreen",
}


def __getattr__(name: str) -> object:
    """Import the modules of `_LATER` on first use."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


__all__ = ["Filming", "Movie", "Renderer", "create_context", "machine_error", "movie", "render_image"]
