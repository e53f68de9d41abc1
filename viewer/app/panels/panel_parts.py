"""Parts of several panels: entries for commands, selecting by a row, marks of goals, rotations, joints in degrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.edits import act, carry_out
from viewer.app.widgets.pen import Pen, item, tip
from viewer.document import Action, Document, DocumentGoal, Item, actions
from viewer.document.actions import Select
from viewer.document.edit_skeleton import coordinate_names
from viewer.document.motion_curves import EULER
from viewer.skeleton import JointKind, Skeleton, coordinates_of, effector_of, joint_space
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import from_euler, to_euler
from viewer.ui.commands import BY_ID


def hint(command: str, words: str = "") -> str:
    """A tooltip: what a command does (``words`` instead of its title), and its key."""
    row = BY_ID[command]
    return f"{words or row.title}   {row.shortcut}".rstrip()


def explained(command: str, lacks: str, words: str = "") -> str:
    """`hint`, and on a line of its own what the command ``lacks``, as of its binding, if anything."""
    return "\n".join(filter(None, (hint(command, words), _sentence(lacks))))


def _sentence(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}"


def run(ui: PanelContext, command: str) -> None:
    """Run a command."""
    ui.controller.run(command)


def command_entry(ui: PanelContext, command: str, words: str = "", said: str = "") -> None:
    """A menu entry for a command, ticked and enabled as its state demands.

    ``words`` are instead of its title, ``said`` beside it where the command has no key.
    """
    row = BY_ID[command]
    ticked, lacks = bool(ui.controller.checked(command)), ui.controller.lacks(command)
    chosen = imgui.menu_item_simple(words or row.title, row.shortcut or said, ticked, not lacks)
    tip(_sentence(lacks))
    if chosen:
        run(ui, command)


def entry(
    ui: PanelContext, words: str, action: Action, shortcut: str = "", *, ticked: bool = False, enabled: bool = True
) -> None:
    """A menu entry that does an action."""
    if imgui.menu_item_simple(words, shortcut, ticked, enabled):
        act(ui, action)


def action_button(
    ui: PanelContext, label: str, action: Action, *,
    icon: str = "", width: float | None = None, on: bool | None = None, hint: str = "",
) -> None:  # fmt: skip
    """A `controls.text_button` that does an action."""
    if controls.text_button(ui, label, icon=icon, width=width, on=on, hint=hint):
        act(ui, action)


def command_button(
    ui: PanelContext, command: str, label: str, *, icon: str = "", width: float | None = None,
    height: float = controls.FIELD, primary: bool = False, on: bool | None = None, said: str = "",
) -> None:  # fmt: skip
    """A `controls.text_button` that runs a command; ``said`` instead of its title in the tooltip."""
    lacks = ui.controller.bindings[command].lacks()
    if controls.text_button(
        ui, label, icon=icon, width=width, height=height, primary=primary, on=on, enabled=not lacks,
        hint=explained(command, lacks, said),
    ):  # fmt: skip
        run(ui, command)


def command_tool(
    ui: PanelContext, command: str, icon: str, words: str = "", width: float = 0.0, *,
    said: str = "", on: bool | None = None,
) -> None:  # fmt: skip
    """A `controls.tool_button` that runs a command; ``said`` instead of its title in the tooltip."""
    about = explained(command, ui.controller.bindings[command].lacks(), said)
    if controls.tool_button(ui, command, words, icon, width, about, on=on):
        run(ui, command)


def command_toggle(ui: PanelContext, command: str, name: str) -> None:
    """A `controls.toggle` of a command, with its state."""
    if controls.toggle(ui, name, on=bool(ui.controller.checked(command)), hint=hint(command)):
        run(ui, command)


FINISH = 112.0
"""Width of a workspace's last button, logical pixels."""


def finish_button(ui: PanelContext, command: str, words: str, *, icon: str = fa.ICON_FA_CHECK, said: str = "") -> None:
    """The one solid button of a workspace, at the right end of its toolbar: its command keeps the result."""
    lacks = ui.controller.lacks(command)
    enabled = not lacks
    imgui.begin_disabled(not enabled)
    pen = Pen(ui)
    it = item("finish", pen.px(FINISH), pen.px(controls.TOOL))
    pen.box(*it[:4], "field" if not enabled else "accent_dk" if it.held else "accent")
    if it.hovered:
        pen.frame(*it[:4], "text")
    tone = "on_accent" if enabled else "text3"
    x = it.x + (it.w - pen.width(words, bold=True) - pen.px(20)) / 2.0
    pen.icon(x + pen.px(7), it.middle[1], icon, tone)
    pen.strong(x + pen.px(20), pen.middle(it.y, it.h), words, tone)
    imgui.end_disabled()
    tip(explained(command, lacks, said))
    if it.clicked and enabled:
        run(ui, command)


def ask(ui: PanelContext, name: str, value: object = None, x: float = 0.0, y: float = 0.0) -> None:
    """Send a request that the window or another panel serves, at a position in framebuffer pixels."""
    ui.controller.view.request(name, value, x, y)


EYE = 22.0
"""Width of an eye, logical pixels."""


def eye_switch(pen: Pen, name: str, at: tuple[float, float, float], *, on: bool, hint: str) -> bool:
    """Draw an eye at (x, y, height) that switches something; whether it was clicked. ``name``: of imgui's item."""
    x, y, tall = at
    imgui.set_cursor_screen_pos((x, y))
    eye = item(name, pen.px(EYE), tall)
    tip(hint)
    icon = fa.ICON_FA_EYE if on else fa.ICON_FA_EYE_SLASH
    pen.icon(*eye.middle, icon, "text" if eye.hovered else "text2" if on else "text3", SMALL)
    return eye.clicked


def select_by_click(ui: PanelContext, here: Item) -> None:
    """Select the item of a clicked row, with Shift or Ctrl along with others; the right button opens its menu."""
    io = imgui.get_io()
    if not imgui.is_mouse_released(imgui.MouseButton_.right):
        act(ui, Select((here,), "add" if io.key_shift else "toggle" if io.key_ctrl else "set"))
        return
    if here not in ui.session.document.selection:
        act(ui, Select((here,)))
    ask(ui, "context-menu", here, io.mouse_pos.x, io.mouse_pos.y)


def highlight(ui: PanelContext, row: Item | None) -> None:
    """Highlight in the view the item whose row is under the pointer; None: no row of this panel is."""
    before = ui.memory.get("pointed")
    if row is not None or (before is not None and ui.controller.view.hovered_item() == before):
        ui.controller.view.hover_row(row)
    ui.memory["pointed"] = row


def shown_goal_and_joint(document: Document) -> tuple[DocumentGoal | None, int]:
    """The goal and the joint that panels show; None and -1 for none.

    Each is the last one selected; a selected effector shows its joint too, and a joint the effector on it.
    """
    skeleton = document.skeleton
    effector = next(reversed(document.selected("effector")), None)
    name = next(reversed(document.selected("joint")), None)
    joint = -1 if name is None else skeleton.index(name)
    if effector is not None:
        goal = document.goal(effector)
        return goal, joint if joint >= 0 else effector_of(skeleton, goal.effector).joint
    on_it = next((e.name for e in skeleton.effectors if e.joint == joint), None)
    goal_on_it = document.goal(on_it) if on_it is not None else None
    return goal_on_it if goal_on_it is not None and goal_on_it.enabled else None, joint


_SIZE, _STROKE, _DOT = 5.0, 1.5, 1.4


def effector_mark(pen: Pen, x: float, y: float, goal: DocumentGoal, *, reached: bool) -> None:
    """The state of a goal: a faint diamond (off), an amber one (missed), a pin, or a diamond with a dot (reached)."""
    if goal.enabled and reached and goal.pinned:
        pen.icon(x, y, fa.ICON_FA_THUMBTACK, "pinned", SMALL)
        return
    colour = "line_hi" if not goal.enabled else "target" if reached else "unreached"
    half = _SIZE * pen.scale
    corners: list[imgui.ImVec2Like] = [(x, y - half), (x + half, y), (x, y + half), (x - half, y)]
    pen.draw.add_polyline(corners, pen.ink(colour), _STROKE * pen.scale, imgui.ImDrawFlags_.closed)
    if goal.enabled and reached:
        pen.disc(x, y, _DOT, "effector")


class Angles:
    """Euler angles of a rotation, as last typed or scrubbed, because one rotation has several such triples."""

    def __init__(self) -> None:
        self._key: object = None
        self._turn: tuple[float, ...] = ()
        self._angles: tuple[float, ...] = ()

    def of(self, key: object, turn: Sequence[float]) -> tuple[float, ...]:
        """Degrees about x, y, z of a rotation (x, y, z, w); ``key`` identifies what is rotated."""
        now = tuple(float(part) for part in turn)
        same = key == self._key and abs(abs(sum(a * b for a, b in zip(now, self._turn, strict=True))) - 1.0) < 1e-9
        if not same:
            self._key, self._turn = key, now
            self._angles = tuple(np.degrees(to_euler(np.array(now), EULER)).tolist())
        return self._angles

    def turned(self, index: int, degrees: float) -> Floats:
        """The rotation (4,) after one of the last angles was replaced."""
        angles = list(self._angles)
        angles[index] = degrees
        turn = from_euler(np.radians(angles), EULER)
        self._angles, self._turn = tuple(angles), tuple(turn.tolist())
        return turn


def name_row(ui: PanelContext, name: str, rename: Callable[[str], Action]) -> None:
    """A line that renames something when Enter is pressed or the line is left, but for Esc."""
    controls.label(ui, "Name")
    memory = ui.memory
    if memory.get("name of") != name:
        memory["name of"], memory["name"] = name, name
    memory["name"], entered = fields.text_line(ui, "name", memory["name"], chosen=True)
    left = imgui.is_item_deactivated() and not imgui.is_key_pressed(imgui.Key.escape)
    if (entered or left) and memory["name"] != name:
        act(ui, rename(memory["name"]))
        memory.pop("name of")


def rotation_fields(
    ui: PanelContext, name: str, key: object, turn: Sequence[float], label: str, make: Callable[[Floats], Action]
) -> None:
    """Three Euler angles of a rotation (x, y, z, w) in the document; ``key`` identifies what is rotated.

    ``label`` names the undo step, ``make`` returns the action that sets the rotation (4,).
    """
    angles: Angles = ui.memory.setdefault(f"angles of {name}", Angles())
    changed = fields.axis_fields(ui, name, angles.of(key, turn), fields.ANGLE)
    if changed is not None:
        index, edit = changed
        carry_out(ui, edit, label, lambda value: make(angles.turned(index, value)))


_AT_END = 1e-4
"""Distance from a limit, radians or metres, within which a coordinate is at it."""


class Coordinate(NamedTuple):
    """A coordinate of a joint as a slider shows it.

    Attributes:
        place: its index, as in `SetCoordinate`.
        name: its label.
        value: degrees, or metres for a slide.
        bounds: in the same unit.
        form: how it is written.
        per_unit: radians or metres per shown unit.
    """

    place: int
    name: str
    value: float
    bounds: fields.Range
    form: fields.Format
    per_unit: float

    def turned(self, joint: str, value: float) -> actions.SetCoordinate:
        """The action that sets this coordinate of a joint to a value in the unit shown."""
        return actions.SetCoordinate(joint, self.place, value * self.per_unit)


def coordinates(document: Document, joint: int) -> list[Coordinate]:
    """The coordinates of a joint; none for fixed and free joints and for balls without limits."""
    skeleton = document.skeleton
    named = coordinate_names(skeleton, joint)
    if not named:
        return []
    space = joint_space(skeleton)
    values = coordinates_of(skeleton, document.pose)[joint]
    lower, upper = space.lower[joint], space.upper[joint]
    off = not document.limits_on or skeleton.names[joint] in document.unlimited
    slide = skeleton.kinds[joint] is JointKind.SLIDE
    worth, form = (1.0, fields.POSITION) if slide else (math.degrees(1.0), fields.ANGLE)
    made = []
    for index, name in named:
        at_end = not off and bool(min(values[index] - lower[index], upper[index] - values[index]) <= _AT_END)
        value, low, high = (worth * float(some[index]) for some in (values, lower, upper))
        least, most = (end if math.isfinite(end) else None for end in (low, high))
        rail = _rail(value, least, most) if slide else (-180.0, 180.0)
        bounds = fields.Range(*rail, least, most, min(max(0.0, low), high), at_end, off)
        made.append(Coordinate(index, name, value, bounds, form, 1.0 / worth))
    return made


def _rail(value: float, least: float | None, most: float | None) -> tuple[float, float]:
    """The ends of a slide's rail: around its range and value, in metres."""
    known = [end for end in (least, most, value, 0.0) if end is not None]
    margin = 0.15 * (max(known) - min(known)) or 0.5
    return min(known) - margin, max(known) + margin


def is_robot(document: Document) -> bool:
    """Whether two or more joints move, and all of them are hinges and slides; the root may be free."""
    return _is_robot(document.skeleton)


@lru_cache(maxsize=8)
def _is_robot(skeleton: Skeleton) -> bool:
    dofs = [kind.dofs for kind in skeleton.kinds if kind is not JointKind.FREE]
    return sum(dofs) > 1 and max(dofs) == 1
