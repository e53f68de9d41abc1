"""How a row of the skeleton tree looks: fold, side, name, effectors, limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.fonts import SMALL
from viewer.app.panels.marks import effector_mark
from viewer.app.panels.tree_rows import deepest
from viewer.app.widgets.items import item, tip
from viewer.app.widgets.pen import Pen
from viewer.scene.look import SIDES, look_of
from viewer.session.measuring import joints_at_limit

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.app.panels.tree_rows import Row
    from viewer.app.widgets.items import Item
    from viewer.session.document import Document, Handle

INDENT = 11
"""Logical pixels that a child stands to the right of its parent."""
_LEAST_INDENT = 4.0
"""Of trees too deep for that; where even this takes too much room, what is deeper stands no farther to the right."""
_NAME, _BESIDE = 88.0, 26.0
"""Logical pixels that a name has at least, and that stand before it: fold and side."""
_MOST_MARKS = 3


@dataclass(slots=True)
class RowPainter:
    """What the rows of one frame share.

    Attributes:
        ui: what panels draw from.
        pen: of the window that the rows are in.
        document: whose joints they are.
        sides: per joint, index into `SIDES`.
        handles: of the effectors on a joint.
        selected: names of joints.
        hovered: name of the joint under the pointer, here or in the view.
        stuck: names of joints at a limit.
        missed: names of effectors whose goals are missed.
        flat: rows are what a search found: they name their parents.
        indent: framebuffer pixels that a child stands to the right of its parent ...
        most: ... and that any row stands to the right of a root at most.
    """

    ui: PanelContext
    pen: Pen
    document: Document
    sides: list[int]
    handles: dict[int, list[Handle]]
    selected: set[str]
    hovered: str
    stuck: frozenset[str]
    missed: frozenset[str]
    flat: bool
    indent: float
    most: float

    @classmethod
    def of(cls, ui: PanelContext, *, flat: bool) -> RowPainter:
        """For the document as it is now, in the current imgui window."""
        document = ui.session.document
        handles: dict[int, list[Handle]] = {}
        for effector, handle in zip(document.skeleton.effectors, document.handles, strict=True):
            handles.setdefault(effector.joint, []).append(handle)
        hovered = ui.controller.hovered_item()
        most = max(imgui.get_content_region_avail().x - ui.px(_NAME + _BESIDE), 0.0)
        indent = min(ui.px(INDENT), max(most / max(deepest(document.skeleton), 1), _LEAST_INDENT * ui.scale))
        return cls(
            ui=ui,
            pen=Pen(ui),
            document=document,
            sides=look_of(document.skeleton).sides.tolist(),
            handles=handles,
            selected={chosen.name for chosen in document.selection if chosen.kind == "joint"},
            hovered=hovered.name if hovered is not None and hovered.kind == "joint" else "",
            stuck=frozenset(joints_at_limit(document)),
            missed=frozenset(name for name, error in ui.session.errors.items() if not error.reached),
            flat=flat,
            indent=indent,
            most=most,
        )

    def name_at(self, left: float, row: Row) -> float:
        """Where the field for a row's name starts, in a row that starts at ``left``."""
        return self._fold_at(left, row) + self.pen.px(15)

    def _fold_at(self, left: float, row: Row) -> float:
        return left + self.pen.px(4) + round(min(row.depth * self.indent, self.most))

    def draw(self, row: Row, h: float) -> tuple[Item, bool]:
        """Draw a row, framebuffer pixels high; the item, and whether the pointer is on its fold."""
        pen, name = self.pen, self.document.skeleton.names[row.joint]
        imgui.push_id(row.joint)
        it = item(f"joint {name}", imgui.get_content_region_avail().x, h, right_too=True)
        imgui.pop_id()
        self._back(it, name)
        x = self._fold_at(it.x, row)
        if row.parent:
            caret = fa.ICON_FA_CARET_RIGHT if row.folded else fa.ICON_FA_CARET_DOWN
            pen.icon(x, it.middle[1], caret, "text3", SMALL)
        tick = x + pen.px(10)
        pen.box(tick, it.y + pen.px(6), pen.px(3), h - pen.px(12), SIDES[self.sides[row.joint]], rounding=1)
        right = self._marks(row.joint, it)
        shown = pen.fit(name, right - tick - pen.px(9))
        right = self._notes(row.joint, name, it, (tick + pen.px(9) + pen.width(shown), right))
        shown = pen.fit(name, right - tick - pen.px(9))
        strong = name in self.selected or any(handle.on for handle in self.handles.get(row.joint, ()))
        pen.text(tick + pen.px(9), pen.middle(it.y, h), shown, "text" if strong else "text2")
        tip(name if shown != name else "")
        return it, row.parent and imgui.get_mouse_pos().x < tick

    def _back(self, it: Item, name: str) -> None:
        chosen = name in self.selected
        if chosen:
            self.pen.box(*it[:4], "accent_dk", rounding=3)
        elif it.hovered or name == self.hovered:
            self.pen.box(*it[:4], "field", rounding=3)
        if name == self.hovered or (it.hovered and chosen):
            self.pen.upright(it.x, it.y, it.y + it.h, "hovered")

    def _marks(self, joint: int, it: Item) -> float:
        """The effectors on the joint, at the right end; returns where the room left of them ends."""
        pen, right = self.pen, it.x + it.w - self.pen.px(6)
        for handle in self.handles.get(joint, ())[:_MOST_MARKS]:
            reached = handle.effector not in self.missed
            effector_mark(pen, right - pen.px(6), it.middle[1], handle, reached=reached)
            right -= pen.px(15)
        return right

    def _notes(self, joint: int, name: str, it: Item, room: tuple[float, float]) -> float:
        """``limit``, or the parent of a joint that was searched for; returns where the room left of it ends."""
        pen, (left, right) = self.pen, room
        y = pen.middle(it.y, it.h, SMALL)
        if name in self.stuck:
            right -= pen.width("limit", SMALL)
            pen.small(right, y, "limit", "text" if name in self.selected else "limit")
            return right - pen.px(6)
        parent = int(self.document.skeleton.parents[joint])
        if self.flat and parent >= 0 and right - left > pen.px(52):
            words = pen.fit(self.document.skeleton.names[parent], right - left - pen.px(12), SMALL)
            pen.small(right - pen.width(words, SMALL), y, words)
        return right
