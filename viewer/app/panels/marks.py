"""The small marks of effectors, pins and joints that lists and heads share with the scene."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.fonts import SMALL

if TYPE_CHECKING:
    from viewer.app.widgets.pen import Pen
    from viewer.session.document import Handle

_SIZE, _STROKE, _DOT = 5.0, 1.5, 1.4


def diamond(pen: Pen, x: float, y: float, colour: str, *, dot: bool = False, size: float = _SIZE) -> None:
    """The outline of a diamond around (x, y), as a target is drawn in the scene; with a dot: it is reached."""
    half = size * pen.scale
    corners: list[imgui.ImVec2Like] = [(x, y - half), (x + half, y), (x, y + half), (x - half, y)]
    pen.draw.add_polyline(corners, pen.ink(colour), _STROKE * pen.scale, imgui.ImDrawFlags_.closed)
    if dot:
        pen.disc(x, y, _DOT, "effector")


def effector_mark(pen: Pen, x: float, y: float, handle: Handle, *, reached: bool) -> None:
    """What an effector is doing: amber diamond, pin, diamond with its dot, or a faint diamond when it is off."""
    if not handle.on:
        diamond(pen, x, y, "line_hi")
    elif not reached:
        diamond(pen, x, y, "unreached")
    elif handle.pinned:
        pen.icon(x, y, fa.ICON_FA_THUMBTACK, "pinned", SMALL)
    else:
        diamond(pen, x, y, "target", dot=True)
