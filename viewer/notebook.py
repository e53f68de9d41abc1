"""Pictures of values in notebooks: what IPython asks them for by ``_repr_png_``.

Values are in rooms below the drawing code, which is imported by name on first use. A value without a picture is shown
by its repr: a machine without OpenGL is no error here.
"""

from __future__ import annotations

import io
from contextlib import suppress
from importlib import import_module

SIZE = (480, 360)


def png(shown: object, pose: object = None) -> bytes | None:
    """A PNG file of a character or skeleton in a pose; None where it cannot be drawn.

    Args:
        shown: as `viewer.render` takes it.
        pose: as `viewer.render` takes it; None: that of ``shown``.
    """
    with suppress(Exception):  # the cell then shows the repr
        picture = import_module("viewer.opengl.pictures").render(shown, pose, size=SIZE)
        file = io.BytesIO()
        import_module("PIL.Image").fromarray(picture).save(file, "PNG")
        return file.getvalue()
    return None
