"""The workspace Build: its toolbar, the inspector of a joint, and the card with the uses of the mouse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import command_button, command_entry, hint, name_row
from viewer.app.widgets import controls, fields
from viewer.app.widgets.dialogs import card, close_button
from viewer.app.widgets.edits import act, attempt, carry_gesture, carry_out
from viewer.app.widgets.pen import Pen, gap
from viewer.document import Document, Item, actions
from viewer.document.remapping import lost
from viewer.errors import InputError
from viewer.skeleton import JointKind, Skeleton, rest_world
from viewer.skeleton.joint_edits import branch_of, chain_through, with_links
from viewer.spatial.quaternion import rotate
from viewer.ui.build_workspace import CLICK_A_JOINT, KIND_WORDS, PLANE_WORDS, Plane

KINDS_FROM = 1180.0
"""Logical width of the window from which the joint kinds are segments; below it they are a list."""
_KIND_HINTS = {
    JointKind.BALL: "Turns about every axis",
    JointKind.HINGE: "Turns about one axis, the normal of its two bones",
    JointKind.UNIVERSAL: "Turns about two axes across the bone",
    JointKind.SLIDE: "Slides along the bone",
    JointKind.FIXED: "Does not move",
    JointKind.FREE: "Moves and turns freely: roots",
}
_PLANE_HINTS = {
    Plane.VIEW: "Faces the eye",
    Plane.FRONT: "Upright, seen from the front",
    Plane.SIDE: "Upright, seen from the side",
    Plane.FLOOR: "Level; the first joint is on the floor",
}
_AXES = (None, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_LINKS = replace(fields.COUNT, low=1.0, high=60.0)
_ROOMY = 470.0
"""Least logical width of the view for the card."""
_CARD = (("Click", "next joint"), ("Click joint", "branch"), ("Click bone", "split"), ("Drag joint", "move"))


def draw_build_tools(ui: PanelContext, wide: bool) -> None:
    """Draw the middle of the toolbar: add or move, the joint's kind, the drawing plane."""
    building = ui.controller.building
    hints = (hint("build.tool", "A click adds a joint"), hint("build.tool", "A click selects, a drag moves"))
    adding = controls.choose(
        ui, "build tool", (True, False), ("Add", "Move"), building.adding, hints=hints, height=controls.TOOL
    )
    if adding is not building.adding:
        building.use_tool(adding=adding)
    imgui.same_line(0.0, ui.px(12))
    words = PLANE_WORDS[building.plane] if wide else ""
    said = hint("build.plane", f"Drawing plane: {PLANE_WORDS[building.plane].lower()}")
    if controls.drop_menu(
        ui, "plane", words, icon=fa.ICON_FA_VECTOR_SQUARE, width=ui.px(96 if wide else 52), hint=said
    ):
        for plane in Plane:
            if imgui.menu_item_simple(PLANE_WORDS[plane], _PLANE_HINTS[plane], plane is building.plane):
                building.plane = plane
        imgui.separator()
        command_entry(ui, "build.children")
        imgui.end_popup()


def draw_kinds(ui: PanelContext, wide: bool) -> None:
    """Draw the list of joint kinds, for the active joint and those added to it."""
    building = ui.controller.building
    document, now = building.document, building.kind
    root = bool(building.active) and document.skeleton.parents[document.skeleton.index(building.active)] < 0
    kinds = tuple(KIND_WORDS)
    off = set(range(len(kinds))) if now is None else {kinds.index(JointKind.FREE)} if not root else set()
    if wide:
        pen = Pen(ui)
        x, y = imgui.get_cursor_screen_pos()
        pen.text(x, pen.middle(y, pen.px(controls.TOOL)), "Joint", "text2")
        imgui.dummy((pen.width("Joint") + pen.px(4), pen.px(controls.TOOL)))
        imgui.same_line(0.0, ui.px(4))
        said = [_KIND_HINTS[kind] for kind in kinds]
        picked = controls.choose(
            ui, "kinds", kinds, [*KIND_WORDS.values()], now, hints=said, height=controls.TOOL, off=off
        )
    else:
        words = "Joint" if now is None else KIND_WORDS[now]
        picked = None
        if controls.drop_menu(ui, "kinds", words, width=ui.px(88), hint="How the active joint moves"):
            for index, kind in enumerate(kinds):
                if imgui.menu_item_simple(KIND_WORDS[kind], _KIND_HINTS[kind], kind is now, index not in off):
                    picked = kind
            imgui.end_popup()
    if picked is not None and picked is not now:
        attempt(ui, lambda: building.set_kind(picked.value))


def draw_build_card(ui: PanelContext) -> None:
    """Draw the card with what the mouse does, at the top left of the view; in a narrow one it would hide the figure."""
    building, view = ui.controller.building, ui.regions.viewport
    if not building.on or not building.card or view.w < ui.px(_ROOMY):
        return
    place = view.x + ui.px(14), view.y + ui.px(34)
    with card(ui, "##build card", place, (ui.px(214), ui.px(118)), padding=(10.0, 8.0), fill="panel", alpha=0.94):
        pen = Pen(ui)
        x, y = imgui.get_cursor_screen_pos()
        for keys, words in _CARD:
            wide = pen.px(84)
            pen.box(x, y + pen.px(2), wide, pen.px(20), "field")
            pen.text(x + (wide - pen.width(keys)) / 2.0, pen.middle(y + pen.px(2), pen.px(20)), keys)
            pen.text(x + wide + pen.px(10), pen.middle(y + pen.px(2), pen.px(20)), words, "text2")
            y += pen.px(26)
        if close_button(ui, place[0] + ui.px(214 - 26), place[1] + ui.px(4), size=20.0):
            building.card = False


def draw_build_inspector(ui: PanelContext) -> None:
    """Draw the active joint: name, parent, place, distance, axis, range, links."""
    building = ui.controller.building
    document = building.document
    if building.empty:
        controls.quiet(ui, "Click on the floor to place the first joint")
        return
    if not building.active:
        controls.quiet(ui, CLICK_A_JOINT)
        return
    skeleton, name = document.skeleton, building.active
    joint = skeleton.index(name)
    kind = skeleton.kinds[joint]
    imgui.push_id(name)
    controls.head(ui, fa.ICON_FA_CIRCLE_NOTCH, name, f"{KIND_WORDS[kind].lower()} · {kind.dofs} DOF", colour="accent")
    name_row(ui, name, lambda wanted: actions.RenameJoint(name, wanted))
    _parent(ui, document, joint)
    _place(ui, document, joint)
    if kind.axes:
        controls.separator(ui)
        _axis(ui, document, joint)
        _ranges(ui, document, joint)
    imgui.pop_id()
    _links(ui, document, name)  # its id stays the same if a drag of it removes the joint
    controls.separator(ui)
    _buttons(ui)


def _parent(ui: PanelContext, document: Document, joint: int) -> None:
    skeleton = document.skeleton
    above = int(skeleton.parents[joint])
    now = "" if above < 0 else skeleton.names[above]
    controls.label(ui, "Parent", hint="Its parent; the joint keeps its position")
    entries = _parents(skeleton, joint)
    chosen = controls.drop_choice(ui, "parent", now or "None", entries, now, height=controls.FIELD)
    if chosen is not None:
        act(ui, actions.Reparent(skeleton.names[joint], chosen))


def _parents(skeleton: Skeleton, joint: int) -> Iterator[tuple[str, str]]:
    below = set(branch_of(skeleton, skeleton.names[joint]))
    yield "", "None"
    yield from ((name, name) for name in skeleton.names if name not in below)


def _place(ui: PanelContext, document: Document, joint: int) -> None:
    skeleton, mirror = document.skeleton, ui.controller.view.mirror
    name, children = skeleton.names[joint], ui.controller.building.children
    places = rest_world(skeleton).positions
    controls.label(ui, "Place", hint="In the world, at rest")
    x, y, z = places[joint].tolist()
    fields.edit_vector(
        ui, "place", (x, y, z), fields.POSITION, f"Move {name}",
        lambda wanted: actions.MoveJoint(name, wanted, children=children, mirror=mirror),
    )  # fmt: skip
    above = int(skeleton.parents[joint])
    if above < 0:
        return
    way = places[joint] - places[above]
    length = float(np.linalg.norm(way))
    controls.label(ui, "Distance", hint="From its parent, along the bone that ends here; its descendants move along")
    stretch = fields.number_field(ui, "length", length, fields.LENGTH, width=ui.px(90))

    def longer(metres: float) -> actions.Action:
        wanted = places[above] + way * (metres / length)
        return actions.MoveJoint(name, tuple(wanted.tolist()), children=True, mirror=mirror)

    if length > 1e-9:
        carry_out(ui, stretch, f"Distance of {name}", longer)


def _axis(ui: PanelContext, document: Document, joint: int) -> None:
    skeleton, building = document.skeleton, ui.controller.building
    axis = rotate(rest_world(skeleton).rotations[joint], skeleton.axes[joint, 0])
    along = int(np.argmax(np.abs(axis)))
    active = along + 1 if abs(axis[along]) > 1.0 - 1e-6 else -1
    controls.label(ui, "Axis", hint="Auto: the normal of its two bones, along the bone of a slide")
    chosen = controls.choose(ui, "axis", range(4), ("Auto", "X", "Y", "Z"), active)
    if chosen != active:
        name, mirror = skeleton.names[joint], ui.controller.view.mirror
        act(ui, actions.SetAxis(name, _AXES[chosen], facing=building.facing(), mirror=mirror))


def _ranges(ui: PanelContext, document: Document, joint: int) -> None:
    limits, name = document.skeleton.limits[joint], document.skeleton.names[joint]
    turns = document.skeleton.kinds[joint] is not JointKind.SLIDE
    count = 2 if document.skeleton.kinds[joint] is JointKind.UNIVERSAL else 1
    form, worth = (fields.ANGLE, math.degrees(1.0)) if turns else (fields.POSITION, 1.0)
    for index in range(count):
        controls.label(ui, "Range" if count == 1 else f"Range {index + 1}")
        if limits is None:
            if controls.text_button(ui, f"None: set one##{index}"):
                wide = math.pi / 2.0 if turns else 0.1
                act(ui, actions.SetLimitRanges({name: ((-wide, wide),) * count}))
            return
        for side in (0, 1):
            ends = [(float(low), float(high)) for low, high in zip(limits.lower, limits.upper, strict=True)]
            edit = fields.number_field(ui, f"range {index} {side}", ends[index][side] * worth, form, width=ui.px(78))

            def ranged(
                value: float, ends: list[tuple[float, float]] = ends, index: int = index, side: int = side
            ) -> actions.Action:
                low, high = ends[index]
                value /= worth
                ends[index] = (min(value, high), high) if side == 0 else (low, max(value, low))
                return actions.SetLimitRanges({name: tuple(ends)})

            carry_out(ui, edit, f"Range of {name}", ranged)
            if side == 0:
                imgui.same_line(0.0, ui.px(6))


def _links(ui: PanelContext, document: Document, name: str) -> None:
    """The number of bones of the chain that the joint is on."""
    chain = chain_through(document.skeleton, name)
    if len(chain) < 2:
        return
    try:
        fewest = with_links(document.skeleton, name, 1)
    except InputError:  # its ends are at one place, as of a robot's first links
        return
    controls.label(ui, "Links", hint=f"Bones from {chain[0]} to {chain[-1]}, of equal length")
    if len(chain) > 2 and lost(document, fewest):
        controls.quiet(ui, f"{len(chain) - 1}: the clip would lose joints")
        return
    edit, end = fields.number_field(ui, "links", float(len(chain) - 1), _LINKS, width=ui.px(90)), chain[-1]
    if edit is None:
        return

    def update() -> None:
        ui.session.gestures.update(actions.SetLinks(end, round(edit.value)))
        if name not in ui.session.document.skeleton.names:
            ui.session.gestures.update(actions.Select((Item("joint", end),)))

    carry_gesture(ui, edit, lambda: ui.session.begin("Links"), update)


_BUTTONS = (
    (("build.duplicate", "Copy branch", fa.ICON_FA_CLONE), ("build.remove", "Remove", fa.ICON_FA_TRASH)),
    (("build.mirror", "Mirror branch", fa.ICON_FA_ARROWS_LEFT_RIGHT), ("build.remove_branch", "Remove branch", "")),
)


def _buttons(ui: PanelContext) -> None:
    gap(ui.px(4))
    for row in _BUTTONS:
        for (command, words, icon), wide in zip(row, controls.side_by_side(ui, 2), strict=True):
            command_button(ui, command, words, icon=icon, width=wide)
        gap(ui.px(2))
