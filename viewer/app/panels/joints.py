"""The panel Joints of robots: a slider for every joint, in degrees and lengths."""

from __future__ import annotations

from functools import lru_cache, partial

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.limit_inspector import coordinates, turned
from viewer.app.panels.panel_parts import hint, run
from viewer.app.widgets.buttons import text_button
from viewer.app.widgets.edits import carry_out
from viewer.app.widgets.fields import POSITION, angle_slider, in_lengths
from viewer.app.widgets.lists import no_spacing
from viewer.app.widgets.pen import Pen
from viewer.document import Document
from viewer.skeleton import JointKind, Skeleton

_NAME, _ROW = 92.0, 24.0
_MOVED = (JointKind.HINGE, JointKind.SLIDE)


def is_robot(document: Document) -> bool:
    """Whether all joints that move are hinges and slides, two or more; a root that is placed in the world may be."""
    return _is_robot(document.skeleton)


@lru_cache(maxsize=8)
def _is_robot(skeleton: Skeleton) -> bool:
    inner = [kind for kind, parent in zip(skeleton.kinds, skeleton.parents.tolist(), strict=True) if parent >= 0]
    roots = [kind for kind, parent in zip(skeleton.kinds, skeleton.parents.tolist(), strict=True) if parent < 0]
    if any(kind not in (*_MOVED, JointKind.FREE, JointKind.FIXED) for kind in roots):
        return False
    moving = [kind for kind in (*roots, *inner) if kind in _MOVED]
    return len(moving) > 1 and all(kind in (*_MOVED, JointKind.FIXED) for kind in inner)


def draw_joints(ui: PanelContext) -> None:
    """Draw a row for each joint that moves: its name, a slider with its range, its value."""
    document = ui.session.document
    pen, leaders = Pen(ui), {one.joint: one.leader for one in document.skeleton.mimics}
    with no_spacing():
        for joint, (name, kind) in enumerate(zip(document.skeleton.names, document.skeleton.kinds, strict=True)):
            if kind not in _MOVED:
                continue
            x, y = imgui.get_cursor_screen_pos()
            leader = leaders.get(name)
            indent, ink = (10.0, "text3") if leader else (0.0, "text2")
            pen.fitted(
                x + pen.px(indent), pen.middle(y, pen.px(_ROW), SMALL), name, pen.px(_NAME - 6.0 - indent), ink, SMALL
            )
            imgui.set_cursor_screen_pos((x + pen.px(_NAME), y))
            for one in coordinates(document, joint, stuck=False):
                form = in_lengths(ui, POSITION) if one.form is POSITION else one.form
                edit = angle_slider(
                    ui, name, one.value, one.bounds, form, hint=f"{name} follows {leader}" if leader else name
                )
                carry_out(ui, edit, f"Turn {name}", partial(turned, name, one))
            imgui.set_cursor_screen_pos((x, y + pen.px(_ROW)))
            imgui.dummy((1.0, 0.0))
        imgui.dummy((1.0, ui.px(4)))
    if text_button(ui, "Copy", icon=fa.ICON_FA_COPY, hint=hint("pose.copy_joints")):
        run(ui, "pose.copy_joints")
