"""What shows the table of commands: the menus, the page of keys (F1), and the dialog that finds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.layout import SIDES, TABBED
from viewer.app.panel_context import PanelContext
from viewer.app.panels.goals_panel import add_entries, kind_entries
from viewer.app.panels.lanes import layer_entries
from viewer.app.panels.panel_parts import ask, command_entry, entry, hint, run
from viewer.app.panels.skeleton_tree import found_rows, is_shown
from viewer.app.panels.solver_panel import method_menu
from viewer.app.theme import SMALL, TITLE, paint
from viewer.app.widgets import controls, fields
from viewer.app.widgets.dialogs import close_button, dialog, escape_pressed, open_popup, popup
from viewer.app.widgets.edits import act
from viewer.app.widgets.pen import Pen, item, tip
from viewer.document import Item, actions, joint_of
from viewer.document.actions import Select
from viewer.document.take import layer_of
from viewer.errors import plural, shown, visible
from viewer.formats.file_formats import SAMPLE
from viewer.formats.load import sample_names
from viewer.session.demo_parts import PREFIX
from viewer.session.demos import DEMOS
from viewer.session.user_files import Preset
from viewer.skeleton.joint_edits import unplaced
from viewer.ui.commands import (
    ADD_GOAL,
    BY_ID,
    COMMANDS,
    MENUS,
    SELECT,
    WINDOW,
    Command,
    HelpRow,
    help_rows,
    menu_commands,
)
from viewer.ui.events import Request
from viewer.ui.view import Workspace

_SECTIONS = {
    "file.save", "file.export", "file.quit", "pose.copy", "select.parent", "figure.next", "window.preferences",
    "view.front",
    "view.orthographic", "show.ghosts", "grab.move", "space.next", "mode.fk", "limits.all", "reset.position",
    "contact.all", "balance.keep", "prop.add_sphere",
    "effector.make", "goal.remove", "scope.next", "solver.escape", "window.fullscreen", "panels.hide",
    "tween.keys", "layer.reach", "feet.plant", "key.auto", "trim.start", "physics.run",
    "retarget.apply", "lab.open", "demo.animate",
}  # fmt: skip
"""Commands with a separator above them."""
_ORDER = {SELECT: 1, WINDOW: 2, "file.quit": 3}
"""Groups, and a command, that are lower in a menu than in the table."""
_DIALOGS = {
    "file.new", "file.open", "figure.add", "file.save_as", "file.save_goals", "file.export", "file.picture",
    "file.film", "window.preferences", "prop.add_mesh", "retarget.open", "pose.keep", "find.all", "joint.rename",
    "lab.report",
}  # fmt: skip
"""Commands that open a dialog, and end in an ellipsis."""


def draw_menu_bar(ui: PanelContext) -> None:
    """Draw the menus, the workspaces, the file's name and the counts, and the switches of the panels."""
    # The padding when the bar begins centres the titles.
    above = (ui.rect.h - imgui.get_font_size()) / 2.0
    imgui.push_style_var(imgui.StyleVar_.frame_padding, (imgui.get_style().frame_padding.x, above))
    opened = imgui.begin_menu_bar()
    imgui.pop_style_var()
    if not opened:
        return
    for menu in MENUS:
        if imgui.begin_menu(menu):
            _entries(ui, menu)
            imgui.end_menu()
    ends = _workspaces(ui, imgui.get_cursor_screen_pos().x)
    _file_title(ui, ends, _panel_switches(ui, ends))
    imgui.end_menu_bar()


_WORKSPACES = {
    Workspace.POSE: "Drag hands and feet",
    Workspace.ANIMATE: "Keys, curves and the dope sheet",
    Workspace.RETARGET: "Motion onto another skeleton",
    Workspace.BUILD: "Make or change a skeleton",
    Workspace.PHYSICS: "Push the figure and see it recover",
    Workspace.LAB: "Compare solvers on one drag",
}
_TABS_FROM = 1180.0
"""Least logical width of the window for tabs of the workspaces; below it they are a list."""


def _workspaces(ui: PanelContext, left: float) -> float:
    """Tabs in the middle of the bar, or a list; returns where they end."""
    if ui.rect.w < ui.px(_TABS_FROM):
        imgui.set_cursor_screen_pos((left + ui.px(12), imgui.get_cursor_screen_pos().y))
        now = ui.controller.view.workspace
        if imgui.begin_menu(f"{now.capitalize()}  {fa.ICON_FA_CHEVRON_DOWN}##workspace"):
            for each in Workspace:
                command_entry(ui, f"workspace.{each}")
            imgui.end_menu()
        return imgui.get_cursor_screen_pos().x
    pen = Pen(ui)
    widths = [pen.width(each.capitalize()) + pen.px(24) for each in Workspace]
    x = max(ui.rect.x + (ui.rect.w - sum(widths)) / 2.0, left + pen.px(16))
    for each, width in zip(Workspace, widths, strict=True):
        _workspace_tab(ui, each, x, width)
        x += width
    return x


def _workspace_tab(ui: PanelContext, each: Workspace, x: float, width: float) -> None:
    pen, rect = Pen(ui), ui.rect
    imgui.set_cursor_screen_pos((x, rect.y))
    it = item(f"workspace {each}", width, rect.h)
    here = ui.controller.view.workspace is each
    if here or it.hovered:
        pen.box(x, rect.y, width, rect.h, "panel" if here else "raised", rounding=0)
    if here:
        pen.box(x, rect.y, width, pen.px(2), "accent", rounding=0)
    pen.text(x + pen.px(12), pen.middle(rect.y, rect.h), each.capitalize(), "text" if here else "text2")
    tip(hint(f"workspace.{each}", _WORKSPACES[each]))
    if it.clicked and not here:
        run(ui, f"workspace.{each}")


def _entries(ui: PanelContext, menu: str) -> None:
    if menu == "Solver":
        method_menu(ui, ui.session.document.solver.method)
    for command in entries(menu):
        if command.id in _SECTIONS:
            imgui.separator()
        command_entry(ui, command.id, f"{command.title}…" if command.id in _DIALOGS else "")
        if command.id == "file.open":
            _files(ui)
        elif command.id == "panels.right":
            draw_panel_entries(ui)
        elif command.id == "file.reload" and imgui.menu_item_simple("Units, axes, frame time…"):
            ask(ui, "units-dialog")


def entries(menu: str) -> list[Command]:
    """The commands of a menu in order: editing before selecting, quitting last."""
    return sorted(menu_commands(menu), key=lambda command: _ORDER.get(command.id, _ORDER.get(command.group, 0)))


def _shipped() -> dict[str, list[tuple[str, str]]]:
    """Words and names of what can be opened without a file, by kind."""
    return {
        "Sample": [(name, f"{SAMPLE}{name}") for name in sample_names()],
        "Demo": [(demo.title, f"{PREFIX}{demo.id}") for demo in DEMOS if not demo.lab],
        "Lesson": [(demo.title, f"{PREFIX}{demo.id}") for demo in DEMOS if demo.lab],
    }


def _files(ui: PanelContext) -> None:
    """Submenus of recent files, samples, demos and lessons."""
    recent = [Path(path) for path in ui.controller.view.preferences.recent]
    menus: dict[str, list[tuple[str, str, Path | str]]] = {
        "Open recent": [(shown(path.name), visible(str(path.parent)), path) for path in recent]
    }
    menus |= {f"{kind}s": [(words, "", name) for words, name in files] for kind, files in _shipped().items()}
    for title, files in menus.items():
        if imgui.begin_menu(title, enabled=bool(files)):
            for words, note, path in files:
                if imgui.menu_item_simple(words, note):
                    ui.controller.files.open(path)
            imgui.end_menu()


def draw_panel_entries(ui: PanelContext) -> None:
    """A submenu of the panels that have tabs: one that is in front is closed, others are brought to the front."""
    if not imgui.begin_menu("Panels"):
        return
    there = ui.placed()
    for panel in ui.fitting():
        if panel.place not in TABBED:
            continue
        place = ui.regions.place(panel.place)
        open_ones = there[place] if place in ui.regions.rects else []
        chosen, _ = imgui.menu_item(panel.title, "", panel in open_ones, open_ones != [panel])
        if chosen and ui.front(place) is panel:
            ui.close_panel(panel.id)
        elif chosen:
            ui.show_panel(panel.id)
    imgui.end_menu()


def counts(ui: PanelContext) -> str:
    """``31 joints · 96 DOF · 278 frames``; "" before a first joint is placed."""
    document = ui.session.document
    skeleton, clip = document.skeleton, document.clip_data
    if unplaced(skeleton):
        return ""
    figures = len(ui.session.stage)
    parts = [plural(len(skeleton), "joint"), f"{skeleton.dof} DOF"]
    if clip is not None:
        parts.append(plural(len(clip), "frame"))
    if figures > 1:
        parts.append(plural(figures, "figure"))
    return " · ".join(parts)


_SWITCH, _PICTURE, _COLUMN = 24.0, (15.0, 12.0), 5.0
"""Width of a switch of panels; size of its picture of a window, and width of the column in it, logical pixels."""


def _panel_switches(ui: PanelContext, menus_end: float) -> float:
    """Small pictures of the window, each with its left or right panels filled, where menus leave room; their left."""
    pen, rect = Pen(ui), ui.rect
    x = rect.x + rect.w - pen.px(4)
    if x - 2.0 * pen.px(_SWITCH) < menus_end:
        return x
    for side in reversed(SIDES):
        x -= pen.px(_SWITCH)
        imgui.set_cursor_screen_pos((x, rect.y))
        it = item(f"panels {side}", pen.px(_SWITCH), rect.h)
        on, (wide, tall) = ui.controller.view.panels.shows(side), map(pen.px, _PICTURE)
        left, top = round(it.middle[0] - wide / 2.0), round(it.middle[1] - tall / 2.0)
        tone = "text" if it.hovered else "text2" if on else "text3"
        pen.frame(left, top, wide, tall, tone, rounding=2)
        column = left if side == "left" else left + wide - pen.px(_COLUMN)
        if on:
            pen.box(column, top, pen.px(_COLUMN), tall, tone, rounding=2)
        else:
            at = column + pen.px(_COLUMN) if side == "left" else column
            pen.upright(at, top, top + tall, tone)
        titles = [panel.title for panel in ui.fitting() if panel.place in SIDES[side]]
        tip(hint(f"panels.{side}", f"{'Hide' if on else 'Show'} {', '.join(titles)}"))
        if it.clicked:
            run(ui, f"panels.{side}")
    return x


def _file_title(ui: PanelContext, menus_end: float, right: float) -> None:
    """The file's name and the counts left of ``right``, where menus and workspaces leave room for them."""
    pen, rect = Pen(ui), ui.rect
    name = ui.controller.files.title
    said = counts(ui)
    right -= pen.px(6)
    left = menus_end + pen.px(16)
    counted = pen.width(said, SMALL)
    if right - counted - left > pen.px(60):
        pen.small(right - counted, pen.middle(rect.y, rect.h, SMALL), said)
        right -= counted + pen.px(16)
    room = right - left
    if room < pen.px(20):
        return
    shown = pen.fit(name if pen.width(name) <= room else name.removesuffix(" modified"), room)
    wide = pen.width(shown)
    pen.text(right - wide, pen.middle(rect.y, rect.h), shown, "text2")


_CONTEXT_POPUP = "##context"


def draw_context_menu(ui: PanelContext) -> None:
    """Open a menu where it is requested, and draw it."""
    request = ui.take("context-menu")
    if request is not None:
        open_popup(ui, _CONTEXT_POPUP, request.value)
        ui.memory["at"] = request.x, request.y
        imgui.set_nav_cursor_visible(False)  # the mouse opened it
    imgui.set_next_window_pos(ui.memory.get("at", (0.0, 0.0)), imgui.Cond_.appearing)
    with popup(ui, _CONTEXT_POPUP) as opened:
        wanted = ui.memory.get(_CONTEXT_POPUP)
        if opened and isinstance(wanted, Item) and ui.session.document.has(wanted):
            _item_title(ui, wanted.name)
            if wanted.kind == "layer":
                layer_entries(ui, layer_of(ui.session.document.take, wanted.name))
            else:
                {"effector": _effector, "joint": _joint, "prop": _prop}[wanted.kind](ui, wanted.name)
        elif opened:  # nothing was under the pointer
            _commands(ui, "view.frame_all", "view.three_quarter", "view.orthographic", "")
            _commands(ui, "show.grid", "show.names", "show.axes", "reset.pose")
    _draw_adding(ui)


_ADD_POPUP = "##add goal"


def _draw_adding(ui: PanelContext) -> None:
    """The menu that a key opens under the pointer, which adds a goal to an effector."""
    request = ui.take("add-goal")
    if request is not None:
        open_popup(ui, _ADD_POPUP, request.value)
        imgui.set_nav_cursor_visible(True)  # Enter takes the first entry
    with popup(ui, _ADD_POPUP) as opened:
        effector = str(ui.memory.get(_ADD_POPUP))
        if opened and any(goal.id == effector for goal in ui.session.document.goals):
            _item_title(ui, f"Add goal to {effector}")
            add_entries(ui, effector)


def _item_title(ui: PanelContext, name: str) -> None:
    imgui.push_style_color(imgui.Col_.text, paint("text3"))
    with ui.fonts.small():
        imgui.text_unformatted(shown(name))
    imgui.pop_style_color()
    imgui.separator()


def _joint(ui: PanelContext, name: str) -> None:
    document = ui.session.document
    skeleton = document.skeleton
    joint = skeleton.index(name)
    on_it = next((e.name for e in skeleton.effectors if e.joint == joint), None)
    goal = document.goal(on_it) if on_it is not None else None
    if goal is None or not goal.enabled:
        make = actions.MakeEffector(name) if goal is None else actions.HoldEffector(goal.effector)
        entry(ui, "Make effector", make, BY_ID["effector.make"].shortcut)
    else:
        _effector_entries(ui, goal.effector)
    _commands(ui, *(("contact.grip",) if ui.controller.can("contact.grip") else ()), "")
    limited, own = skeleton.limits[joint] is not None, name not in document.unlimited
    switch, key = actions.SetJointLimits(name, not own), BY_ID["limits.joint"].shortcut
    entry(ui, "Limits of this joint", switch, key, ticked=limited and own, enabled=limited)
    _commands(ui, "reset.rotation", "reset.position", "")
    _commands(ui, "joint.rename", "select.children", "select.parent", "view.frame_selection")


def _commands(ui: PanelContext, *commands: str) -> None:
    """Entries for commands; "": a separator."""
    for command in commands:
        if command:
            command_entry(ui, command)
        else:
            imgui.separator()


def _effector(ui: PanelContext, name: str) -> None:
    if ui.controller.can("goal.hold_together"):
        _commands(ui, "goal.hold_together", *(name for name, kind in ADD_GOAL.items() if kind.of_two), "")
    _effector_entries(ui, name)
    _commands(ui, *(("contact.grip",) if ui.controller.can("contact.grip") else ()), "")
    document = ui.session.document
    joint = document.skeleton.names[joint_of(document, Item("effector", name))]
    entry(ui, "Select its joint", actions.Select((Item("joint", joint),)))
    command_entry(ui, "view.frame_selection")


def _prop(ui: PanelContext, name: str) -> None:
    entry(ui, "Remove", actions.RemoveProp(name), BY_ID["goal.remove"].shortcut)
    _commands(ui, "", "contact.all", "contact.objects", "view.frame_selection")


def _effector_entries(ui: PanelContext, name: str) -> None:
    goal, delete = ui.session.document.goal(name), BY_ID["goal.remove"].shortcut
    if goal.relative:
        entry(ui, "Let go", actions.RemoveGoal(name), delete)
        return
    for part in () if goal.of_two else ("position", "rotation"):
        pinned, key = getattr(goal, f"pin_{part}"), BY_ID[f"pin.{part}"].shortcut
        entry(ui, f"Pin {part}", actions.SetPin(name, **{part: not pinned}), key, ticked=goal.enabled and pinned)
    entry(ui, "Hold here", actions.HoldEffector(name))
    if imgui.begin_menu("Goal"):
        kind_entries(ui, goal)
        imgui.end_menu()
    if imgui.begin_menu("Add goal"):
        add_entries(ui, goal.effector)
        imgui.end_menu()
    first = goal.id == goal.effector
    entry(ui, "Release", actions.ReleaseEffector(name), delete if first else "", enabled=goal.enabled)
    if not first:
        entry(ui, "Remove goal", actions.RemoveGoal(name), delete)
    else:
        entry(ui, "Remove effector", actions.RemoveEffector(name))


_HELP_POPUP = "##help"
_PRESETS: tuple[Preset, ...] = ("simple", "blender", "maya")

_HELP_WIDTH, _LOWEST, _HEAD = 1560.0, 300.0, 52.0
_ROW, _GROUP, _BELOW, _CAPS = 19.0, 23.0, 5.0, 174.0
"""Heights of a row, of a heading and of the space below a group, width of the column of keys; logical pixels."""
_MARGIN = 6.0
_NARROWEST = 330.0
"""Least width of a column, logical pixels."""

Groups = list[tuple[str, tuple["HelpRow", ...]]]


@dataclass(slots=True)
class _Help:
    """State of the help: filter text, key of the arrangement, columns of groups, height in logical pixels."""

    query: str = ""
    key: object = None
    columns: list[Groups] = field(default_factory=list)
    deepest: float = 640.0


def draw_help(ui: PanelContext) -> None:
    """Open the page of keys when it is requested, close it when it is requested again, and draw it."""
    state: _Help = ui.memory.setdefault("state", _Help())
    asked = ui.take("help") is not None
    if asked and not imgui.is_popup_open(_HELP_POPUP):
        imgui.open_popup(_HELP_POPUP)
        state.query, asked = "", False
    with dialog(
        ui, _HELP_POPUP, width=_HELP_WIDTH, height=max(state.deepest + _HEAD + 32.0, _LOWEST), margin=_MARGIN
    ) as shown:
        if shown is None:
            return
        closed = _help_head(ui, state)
        imgui.begin_child("rows", (0.0, 0.0))
        _help_rows(ui, state)
        imgui.end_child()
        shown.closed = asked or closed or escape_pressed()


def _help_head(ui: PanelContext, state: _Help) -> bool:
    """Title, filter, mouse preset, close button; returns whether that was pressed."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    wide, h = imgui.get_content_region_avail().x, pen.px(26)
    pen.strong(x, pen.middle(y, h, TITLE), "Keyboard and mouse", "text", TITLE)
    after = x + pen.width("Keyboard and mouse", TITLE, bold=True) + pen.px(40)
    closed = close_button(ui, x + wide - pen.px(24), y, hint="Close   Esc")
    end = _presets(ui, pen, (after + pen.px(140), y), x + wide - pen.px(40))
    imgui.set_cursor_screen_pos((after, y))
    imgui.begin_child("filter", (max(min(pen.px(260), end - after - pen.px(20)), pen.px(60)), h))
    fresh = imgui.is_window_appearing()
    state.query = fields.search_field(ui, "filter", state.query, "Type to filter", focus=fresh).text
    imgui.end_child()
    pen.rule(x - pen.px(16), x + wide + pen.px(16), y + pen.px(_HEAD - 14))
    imgui.set_cursor_screen_pos((x, y + pen.px(_HEAD)))
    return closed


def choose_preset(ui: PanelContext, widths: float | None = None) -> None:
    """The choice of the mouse preset; widths of its segments in framebuffer pixels, None fits the words."""
    view = ui.controller.view
    words = [name.capitalize() for name in _PRESETS]
    view.preset = controls.choose(ui, "preset", _PRESETS, words, view.preset, widths=widths)


def _presets(ui: PanelContext, pen: Pen, start: tuple[float, float], end: float) -> float:
    """The mouse presets, ending at ``end``, with a label if there is room for it; returns where they begin."""
    each, y = pen.px(70), start[1]
    left = end - len(_PRESETS) * each
    imgui.set_cursor_screen_pos((left, y))
    choose_preset(ui, each)
    label_x = left - pen.width("Mouse preset") - pen.px(12)
    if label_x < start[0]:
        return left
    pen.text(label_x, pen.middle(y, pen.px(26)), "Mouse preset", "text2")
    return label_x


def _help_rows(ui: PanelContext, state: _Help) -> None:
    wide = imgui.get_content_region_avail().x
    count = max(1, min(4, int(wide / ui.px(_NARROWEST))))
    key = (state.query, ui.controller.view.preset, count)
    if state.key != key:
        state.key = key
        state.columns = arranged(found_keys(state.query, ui.controller.view.preset), count)
    pen = Pen(ui)
    x, top = imgui.get_cursor_screen_pos()
    across, deepest = wide / count, 0.0
    for index, groups in enumerate(state.columns):
        y = top
        for heading, rows in groups:
            pen.strong(x + index * across, y, heading, "accent")
            y += pen.px(_GROUP)
            for row in rows:
                y += _help_row(pen, row, x + index * across, y, across - pen.px(10))
            y += pen.px(_BELOW)
        deepest = max(deepest, y - top)
    if not state.columns or not any(state.columns):
        pen.text(x, top, f'No key or action matches "{state.query}"', "text3")
    if not state.query:
        state.deepest = deepest / ui.scale
    imgui.dummy((1.0, deepest - pen.px(_BELOW)))


def _help_row(pen: Pen, row: HelpRow, x: float, y: float, room: float) -> float:
    """Draw keys in lines of one column, and what they do in the next; returns the height of the row."""
    plus, space = pen.px(11), pen.px(9)
    widths = (sum(controls.cap_width(pen, cap) for cap in caps) + plus * (len(caps) - 1) for caps in row.caps)
    lines = controls.rows_within(widths, pen.px(_CAPS) - space, space)
    for number, line in enumerate(lines):
        at, low = x, y + number * pen.px(_ROW)
        for caps in (row.caps[place] for place in line):
            for index, cap in enumerate(caps):
                if index:
                    pen.small(at + pen.px(3), low + pen.px(2), "+")
                    at += plus
                at += controls.key_cap(pen, at, low, cap)
            at += space
    words = pen.fit(row.words, room - pen.px(_CAPS))
    pen.text(x + pen.px(_CAPS), pen.middle(y, pen.px(18)), words, "text2")
    return len(lines) * pen.px(_ROW)


def found_keys(query: str, preset: str) -> Groups:
    """The rows that contain every word of a filter, by heading."""
    words = query.casefold().split()

    def fits(heading: str, row: HelpRow) -> bool:
        text = " ".join((heading, row.words, *("+".join(caps) for caps in row.caps))).casefold()
        return all(word in text for word in words)

    kept = ((heading, tuple(row for row in rows if fits(heading, row))) for heading, rows in help_rows(preset).items())
    return [(heading, rows) for heading, rows in kept if rows]


def arranged(groups: Groups, count: int) -> list[Groups]:
    """The groups in ``count`` columns, in order in each, with the least possible height."""
    heights = [len(rows) * _ROW + _GROUP + _BELOW for _, rows in groups]

    def depth(way: tuple[int, ...]) -> float:
        return max(sum(h for h, column in zip(heights, way, strict=True) if column == c) for c in range(count))

    # Columns are numbered in the order of their first groups: other numberings give the same page.
    ways: list[tuple[int, ...]] = [()]
    for _ in groups:
        ways = [(*way, column) for way in ways for column in range(min(max(way, default=-1) + 2, count))]
    best = min(ways, key=depth)
    columns = [[g for g, column in zip(groups, best, strict=True) if column == c] for c in range(count)]
    return [column for column in columns if column]


_MOST_FOUND, _FOUND_ROW, _FIND = 10, 24, 400.0
"""Rows shown at once, the height of one, and that of the dialog, which keeps its field in place; logical pixels."""
_NOT_OFFERED = frozenset({"find.all", "select.find"})


class Found(NamedTuple):
    """A row of the dialog: a joint, or the command that it runs, or the sample, demo or lesson that it opens.

    Attributes:
        words: such as the title.
        note: the command's menu and key, or the kind of what is opened.
        command: its id, or "".
        file: its name, or "".
    """

    words: str
    note: str = ""
    command: str = ""
    file: str = ""


def found_commands(query: str) -> list[Found]:
    """The commands outside drags whose title or menu contains every word of a query; none without one."""
    every = []
    for command in COMMANDS:
        if not command.in_drag and command.id not in _NOT_OFFERED:
            note = "   ".join(part for part in (command.menu or "", command.shortcut) if part)
            every.append((f"{command.row} {command.menu or ''}", Found(command.title, note, command=command.id)))
    return _matching(query, every)


def found_files(query: str) -> list[Found]:
    """The samples, demos and lessons whose title, name or kind contains every word of a query; none without one."""
    files = ((kind, title, name) for kind, some in _shipped().items() for title, name in some)
    return _matching(query, [(f"{kind} {name}", Found(title, kind, file=name)) for kind, title, name in files])


def _matching(query: str, every: Sequence[tuple[str, Found]]) -> list[Found]:
    """The rows that contain every word of a query, in their title or in the words given with them.

    Those whose title begins with the first word come first, then those whose title contains all words.
    """
    words, ranked = query.casefold().split(), []
    for more, one in every if words else ():
        title = one.words.casefold()
        if all(word in f"{title} {more.casefold()}" for word in words):
            ranked.append(((not title.startswith(words[0]), not all(word in title for word in words)), one))
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]


def draw_find_dialog(ui: PanelContext) -> None:
    """Open the dialog when it is requested, also by the search of the tree while that is hidden, and draw it."""
    if not is_shown(ui) and ui.take("find-joint") is not None:
        ui.requests.append(Request("find-dialog"))
    with dialog(ui, "find-dialog", width=420.0, height=_FIND, title="Find") as shown:
        if shown is None:
            return
        if shown.asked:
            ui.memory["query"], ui.memory["mark"] = "", 0
        before = ui.memory["query"]
        search = fields.search_field(
            ui, "query", before, "A command, lesson or joint", focus=imgui.is_window_appearing()
        )
        ui.memory["query"] = search.text
        if search.text != before:
            ui.memory["mark"] = 0
        chosen = _chosen(ui, search)
        if chosen is not None:
            shown.closed = True
            if chosen.command:
                run(ui, chosen.command)
            elif chosen.file:
                ui.controller.files.open(chosen.file)
            else:
                act(ui, Select((Item("joint", chosen.words),)))


def _chosen(ui: PanelContext, search: fields.Search) -> Found | None:
    """Draw what is found, with one row marked: arrow keys move the mark, Enter and a click choose."""
    query = search.text.strip()
    skeleton = ui.session.document.skeleton
    found = [one for one in found_commands(query) if ui.controller.can(one.command)]
    found += [Found(skeleton.names[row.joint]) for row in found_rows(skeleton, query)]  # without a query all joints
    found += found_files(query)
    mark = ui.memory["mark"] = max(0, min(ui.memory["mark"] + search.step, len(found) - 1))
    first = max(0, mark - _MOST_FOUND + 1)
    chosen = found[mark] if search.entered and found else None
    for index, one in enumerate(found[first : first + _MOST_FOUND], first):
        chosen = one if _found_row(ui, one, marked=index == mark) else chosen
    if not found:
        controls.quiet(ui, f'Nothing matches "{query}"')
    elif len(found) > first + _MOST_FOUND:
        controls.quiet(ui, f"{len(found) - first - _MOST_FOUND} more")
    return chosen


def _found_row(ui: PanelContext, one: Found, *, marked: bool) -> bool:
    """Draw a row; returns whether it was clicked."""
    pen = Pen(ui)
    it = controls.list_row(pen, f"found {one.command or one.file or one.words}", _FOUND_ROW, chosen=marked)
    icon = fa.ICON_FA_BOLT if one.command else fa.ICON_FA_PERSON if one.file else fa.ICON_FA_BONE
    pen.icon(it.x + pen.px(14), it.middle[1], icon, "text3", SMALL)
    noted = pen.width(one.note, SMALL) + pen.px(16) if one.note else 0.0
    tip(pen.fitted(it.x + pen.px(28), pen.middle(it.y, it.h), one.words, it.w - pen.px(36) - noted))
    if one.note:
        pen.right(it.x + it.w - pen.px(8), pen.middle(it.y, it.h, SMALL), one.note, "text3", SMALL)
    return it.clicked
