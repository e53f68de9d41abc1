"""Pictures and tables of values in notebooks, which IPython requests by ``_repr_png_`` and ``_repr_html_``.

Values are in rooms below the drawing code, which is imported by name on first use. A value without a picture is shown
by its repr: a machine without OpenGL is no error here.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module

SIZE = (480, 360)


def png(shown: object, pose: object = None) -> bytes | None:
    """A PNG file of a character or skeleton in a pose; None where it cannot be drawn.

    Args:
        shown: as `viewer.render` takes it.
        pose: as `viewer.render` takes it; None: that of ``shown``.
    """
    return _file("pictures", "render", shown, pose, size=SIZE)


def comparison_png(skeleton: object, traces: object) -> bytes | None:
    """A PNG file of the answers of several methods side by side; None where it cannot be drawn."""
    return _file("filming", "render_traces", skeleton, traces)


def _file(module: str, name: str, *arguments: object, **more: object) -> bytes | None:
    with suppress(Exception):  # the cell then shows the repr
        picture = getattr(import_module(f"viewer.opengl.{module}"), name)(*arguments, **more)
        file = io.BytesIO()
        import_module("PIL.Image").fromarray(picture).save(file, "PNG")
        return file.getvalue()
    return None


def table(head: Sequence[str], rows: Mapping[str, Sequence[float]]) -> str:
    """An HTML table of numbers with three digits, with a name for each column and each row."""
    escape = import_module("html").escape
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = (
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{value:.3g}</td>' for value in numbers)}</tr>"
        for name, numbers in rows.items()
    )
    return f"<table><tr><th></th>{names}</tr>{''.join(lines)}</table>"
