"""Shaders from their files to programs on the graphics card."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from viewer.errors import MachineError
from viewer.resources import ResourceError, data_dir

if TYPE_CHECKING:
    from pathlib import Path

    import moderngl

NAMES = (
    "background", "bones", "flat", "ground", "lines", "outline", "shadow", "shadow_map", "spheres", "triangles",
)  # fmt: skip
"""Pairs ``NAME.vert``, ``NAME.frag`` that draw the scene."""

VIEW_BINDING = 0
"""Where all programs find the block of `viewer.opengl.view_block`."""

_INCLUDE = re.compile(r'^#include "([a-z_]+\.glsl)"$', re.MULTILINE)
_NUMBERED = re.compile(r"0[:(](\d+)\)?")


def compile_program(ctx: moderngl.Context, name: str) -> moderngl.Program:
    """Compile and link ``shaders/NAME.vert`` and ``shaders/NAME.frag``.

    Args:
        ctx: the context, current on this thread.
        name: one of `NAMES`.

    Raises:
        MachineError: the driver refuses them; the line names the file and what the driver said first.
        ResourceError: a file is missing.
    """
    folder = data_dir("shaders")
    vertex = source(folder / f"{name}.vert")
    fragment = source(folder / f"{name}.frag")
    try:
        program = ctx.program(vertex_shader=vertex, fragment_shader=fragment)
    except Exception as error:
        raise _refused(name, str(error), {"vert": vertex, "frag": fragment}) from error
    if "View" in program:
        program["View"].binding = VIEW_BINDING  # type: ignore[union-attr]  # it is a block, by its declaration
    return program


def source(path: Path) -> str:
    """Text of a shader, with the files that it includes in their places.

    Raises:
        ResourceError: it, or one of them, is missing.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ResourceError(f"expected the shader {path}, found none: install ikviewer again") from error
    return _INCLUDE.sub(lambda match: source(path.parent / match.group(1)), text)


def _refused(name: str, message: str, sources: dict[str, str]) -> MachineError:
    """The driver's first words on the shader that it refused, with the line they point to."""
    kind = "vert" if "vertex_shader" in message else "frag" if "fragment_shader" in message else ""
    lines = [line.strip() for line in message.splitlines()]
    said = next((line for line in lines if "error" in line.casefold() and ":" in line), lines[0] if lines else "")
    number = _NUMBERED.search(said)
    text = sources[kind].splitlines() if kind else []
    place = f', at "{text[int(number.group(1)) - 1].strip()}"' if number and int(number.group(1)) <= len(text) else ""
    file = f"shaders/{name}.{kind}" if kind else f"shaders/{name}.vert and {name}.frag"
    return MachineError(f"{file}: the graphics driver refuses this shader ({said}){place}: update the driver")
