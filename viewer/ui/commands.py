"""The table of commands and keys: window, help page and docs/keys.md are made from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from viewer.ik.goals import KINDS
from viewer.ui.events import Chord, Mods, chord
from viewer.ui.number_format import MINUS

__all__ = ["BY_ID", "COMMANDS", "GESTURES", "MENUS", "Command", "HelpRow", "command_for", "help_rows", "menu_commands"]

NAVIGATE, SELECT, EDIT, POSE = "Navigate", "Select", "File and edit", "Pose"
DRAG, TIME, WINDOW, BUILD = "While dragging", "Time", "Window", "In the workspace Build"
GROUPS = (NAVIGATE, SELECT, EDIT, POSE, DRAG, TIME, WINDOW, BUILD)
"""Headings of the help page, in order."""

MENUS = ("File", "Edit", "View", "Pose", "Goals", "Motion", "Solver", "Window", "Help")
"""Titles of the menu bar, in order."""

_FLIPPED = "Opposite side"
_ORBIT = "Orbit by 15°"
_BODY = "Sticks, capsules, skin; see through"
_PICTURES = "Save picture, film"
_WORKSPACES = "Workspaces in order, Build"
_REMOVE = "Remove joint, with all below it"
_BONE_FIELDS = "Delete a digit, next value"

_SIMPLE, _OTHERS = ("simple",), ("blender", "maya")

_NUDGES = "Nudge (Shift fine, Ctrl snap)"
_DEPTH = "Nudge in depth"
DIRECTIONS = ("left", "right", "up", "down", "nearer", "farther")
"""Directions of nudging, relative to the view."""
_NUDGE_KEYS = dict(zip(DIRECTIONS, ("left", "right", "up", "down", "pagedown", "pageup"), strict=True))
_NUDGE_SIZES = {"": "alt", "_fine": "alt+shift", "_step": "ctrl+alt"}

_KEYS, _TRIM, _ONION_SKIN = "Previous, next key", "Trim start, end", "Ghosts, trails"
_MARKERS = "Previous, next marker"

ADD_GOAL = {
    f"goal.add_{kind.command or kind.word}": kind for kind in KINDS.values() if kind.of_documents and not kind.relative
}
"""Commands that add a goal to what is selected, and its kind; *Hold together* adds relative ones."""

_SHORT_CAPS: dict[str, tuple[tuple[str, ...], ...]] = {
    "nudge.left": (("Alt", "← → ↑ ↓"),),
    "nudge.nearer": (("Alt", "PgUp"), ("Alt", "PgDn")),
    "drag.type_0": (("0 … 9",), (".",), (MINUS,)),
    "build.type_0": (("0 … 9",), (".",), (MINUS,)),
    "view.orbit_left": (("Num 4 6 8 2",),),
    "view.back": (("Ctrl", "1 3 7"),),
    "drag.plane_x": (("Shift", "X Y Z"),),
    "workspace.pose": (("Alt", "1 … 6"), ("Ctrl", "B")),
}
"""Short key caps of long rows of the help page, by the first command of the row."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a key, menu entry or button.

    Attributes:
        id: such as ``view.front``.
        title: of its menu entry and tooltip.
        keys: chords such as ``ctrl+shift+z``; menus show the first.
        group: heading on the help page.
        in_drag: works only during a drag or grab; the others only outside.
        menu: the menu that lists it, or None.
        hint: short text for the status line.
        row: text of its row of the help page; neighbours with the same text share a row.
        toggle: is on or off; menus show a tick.
        repeats: repeats while its key stays down.
        room: the only workspace in which its keys apply; "": all.
    """

    id: str
    title: str
    keys: tuple[str, ...] = ()
    group: str = WINDOW
    in_drag: bool = False
    menu: str | None = None
    hint: str = ""
    row: str = ""
    toggle: bool = False
    repeats: bool = False
    room: str = ""

    @property
    def chords(self) -> tuple[Chord, ...]:
        return tuple(chord(text) for text in self.keys)

    @property
    def words(self) -> str:
        return self.row or self.title

    @property
    def shortcut(self) -> str:
        """The key that menus show: ``Ctrl+Shift+Z``, or ""."""
        return self.chords[0].text if self.keys else ""


@dataclass(frozen=True, slots=True)
class MouseHelp:
    """A mouse gesture, for the help page: what it does, and alternatives, each a row of keys and buttons.

    It stands under the heading of a group, and in some mouse presets; empty: in all.
    """

    words: str
    caps: tuple[tuple[str, ...], ...]
    group: str
    presets: tuple[str, ...] = ()


T = TypeVar("T")

Lacks = Callable[[], str]
"""Why a command would have no effect now, as a clause without a capital or a full stop; "" where it would have one."""


def needs(words: str, there: Callable[[], object]) -> Lacks:
    """What a command lacks, in words, unless it is there."""
    return lambda: "" if there() else words


class CommandBinding(NamedTuple):
    """How a command is run.

    Attributes:
        run: runs the command.
        lacks: why it would have no effect now. Then menus and buttons are grey, with this as their tooltip; a key makes
            the status line say it.
        checked: whether it is on; None if it is no toggle.
        when: whether the part is in charge of a command that another part is in charge of else; None: always.
    """

    run: Callable[[], object]
    lacks: Lacks = str
    checked: Callable[[], bool] | None = None
    when: Callable[[], bool] | None = None

    def over(self, other: CommandBinding | None) -> CommandBinding:
        """The binding that runs the other one of its command, if there is one, unless this is in charge."""
        when = self.when
        if when is None or other is None:
            return self
        return other._replace(
            run=lambda: self.run() if when() else other.run(), lacks=lambda: self.lacks() if when() else other.lacks()
        )


CommandBindings = dict[str, CommandBinding]


def on_found(
    words: str, find: Callable[[], T | None], do: Callable[[T], object], checked: Callable[[], bool] | None = None
) -> CommandBinding:
    """The binding of a command that does something with what is found, and else lacks it, in words."""

    def run() -> None:
        found = find()
        if found is not None:
            do(found)

    return CommandBinding(run, needs(words, lambda: find() is not None), checked)


LOOKING = (
    Command("view.frame_selection", "Frame selection", ("f",), NAVIGATE, menu="View", hint="frame"),
    Command("view.frame_all", "Frame all", ("a", "home"), NAVIGATE, menu="View"),
    Command("view.follow", "Follow selection", ("shift+f",), NAVIGATE, menu="View", toggle=True),
    Command("view.front", "Front", ("1", "kp1"), NAVIGATE, menu="View", row="Front, right, top"),
    Command("view.right", "Right", ("3", "kp3"), NAVIGATE, menu="View", row="Front, right, top"),
    Command("view.top", "Top", ("7", "kp7"), NAVIGATE, menu="View", row="Front, right, top"),
    Command("view.opposite", "Opposite side", ("9", "kp9"), NAVIGATE, menu="View", row=_FLIPPED),
    Command("view.back", "Back", ("ctrl+1", "ctrl+kp1"), NAVIGATE, menu="View", row="Back, left, bottom"),
    Command("view.left", "Left", ("ctrl+3", "ctrl+kp3"), NAVIGATE, menu="View", row="Back, left, bottom"),
    Command("view.bottom", "Bottom", ("ctrl+7", "ctrl+kp7"), NAVIGATE, menu="View", row="Back, left, bottom"),
    Command("view.three_quarter", "Three-quarter view", ("0", "kp0"), NAVIGATE, menu="View"),
    Command(
        "view.orthographic", "Orthographic", ("5", "o", "kp5"), NAVIGATE,
        menu="View", row="Perspective / orthographic", toggle=True,
    ),
    Command("view.plane_xy", "Plane XY (front)", (), NAVIGATE, menu="View", toggle=True),
    Command("view.plane_yz", "Plane YZ (side)", (), NAVIGATE, menu="View", toggle=True),
    Command("view.plane_zx", "Plane ZX (top)", (), NAVIGATE, menu="View", toggle=True),
    Command("view.orbit_left", "Orbit left by 15°", ("kp4",), NAVIGATE, row=_ORBIT, repeats=True),
    Command("view.orbit_right", "Orbit right by 15°", ("kp6",), NAVIGATE, row=_ORBIT, repeats=True),
    Command("view.orbit_up", "Orbit up by 15°", ("kp8",), NAVIGATE, row=_ORBIT, repeats=True),
    Command("view.orbit_down", "Orbit down by 15°", ("kp2",), NAVIGATE, row=_ORBIT, repeats=True),
)  # fmt: skip

SELECTING = (
    Command("select.parent", "Select parent", ("bracketleft", "pageup"), SELECT, menu="Edit", row="Parent, child"),
    Command("select.child", "Select child", ("bracketright", "pagedown"), SELECT, menu="Edit", row="Parent, child"),
    Command("select.children", "Select with children", (), SELECT, menu="Edit"),
    Command("select.all", "Select all", ("ctrl+a",), SELECT, menu="Edit", row="All, none"),
    Command("select.box", "Box select", ("b",), SELECT, menu="Edit", row="Box select, Shift adds"),
    Command("select.none", "Select none", ("escape",), SELECT, menu="Edit", row="All, none"),
    Command("figure.next", "Next figure", ("shift+pagedown",), SELECT, menu="Edit"),
    Command("figure.hide", "Hide figure", (), SELECT, menu="Edit"),
    Command("figure.remove", "Remove figure", (), SELECT, menu="Edit"),
    Command("select.find", "Find a joint", ("ctrl+f",), SELECT, menu="Edit"),
    Command("find.all", "Find a command, lesson or joint", ("f3",), SELECT, menu="Edit"),
)

PLAYING = (
    Command("play.forwards", "Play / pause", ("space",), TIME, row="Play / pause, backwards"),
    Command("play.backwards", "Play backwards", ("shift+space",), TIME, row="Play / pause, backwards"),
    Command("play.previous", "Previous frame", ("left", "comma"), TIME, row="One frame", repeats=True),
    Command("play.next", "Next frame", ("right", "period"), TIME, row="One frame", repeats=True),
    Command("play.back_ten", "Ten frames back", ("ctrl+left",), TIME, row="Ten frames", repeats=True),
    Command("play.on_ten", "Ten frames forward", ("ctrl+right",), TIME, row="Ten frames", repeats=True),
    Command("play.first", "First frame", ("shift+left", "ctrl+home"), TIME, row="First, last frame"),
    Command("play.last", "Last frame", ("shift+right", "ctrl+end"), TIME, row="First, last frame"),
    Command("play.go_to", "Go to frame", ("ctrl+g",), TIME),
    Command("play.loop", "Loop mode", ("ctrl+l",), TIME),
    Command("play.slower", "Slower", ("minus",), TIME, row="Slower, faster"),
    Command("play.faster", "Faster", ("equal",), TIME, row="Slower, faster"),
    Command("demo.animate", "Moving targets", (), TIME, menu="Goals", toggle=True),
    Command("demo.start_over", "Start the demo over", (), TIME, menu="Goals"),
)

WINDOWS = (
    Command("help.keys", "Keyboard and mouse", ("f1",), WINDOW, menu="Help", row="This help", hint="help"),
    Command("workspace.pose", "Pose", ("alt+1",), WINDOW, menu="Window", row=_WORKSPACES, toggle=True),
    Command("workspace.animate", "Animate", ("alt+2",), WINDOW, menu="Window", row=_WORKSPACES, toggle=True),
    Command("workspace.retarget", "Retarget", ("alt+3",), WINDOW, menu="Window", row=_WORKSPACES, toggle=True),
    Command("workspace.build", "Build", ("alt+4", "ctrl+b"), WINDOW, menu="Window", row=_WORKSPACES, toggle=True),
    Command("workspace.physics", "Physics", ("alt+5",), WINDOW, menu="Window", row=_WORKSPACES, toggle=True),
    Command("workspace.lab", "Lab", ("alt+6",), WINDOW, menu="Window", row=_WORKSPACES, toggle=True),
    Command("lab.open", "Laboratory", ("u",), WINDOW, menu="Solver", row="Laboratory: compare methods", toggle=True),
    Command("lab.jacobian", "Jacobian", ("j",), WINDOW, menu="Solver"),
    Command("lab.ellipsoids", "Manipulability ellipsoids", (), WINDOW, menu="Solver", toggle=True),
    Command("lab.report", "Save report of the laboratory", (), WINDOW, menu="Solver"),
    Command("physics.run", "Run physics", ("k",), WINDOW, menu="Motion", row="Start, stop physics", toggle=True),
    Command("physics.throw", "Throw a ball", ("shift+k",), WINDOW, menu="Motion", row="Throw a ball (physics)"),
    Command("physics.pause", "Pause physics", (), WINDOW, menu="Motion", toggle=True),
    Command("physics.reset", "Reset physics", (), WINDOW, menu="Motion"),
    Command("physics.keep_pose", "Keep simulated pose", (), WINDOW, menu="Motion"),
    Command("physics.keep_clip", "Keep simulation as clip", (), WINDOW, menu="Motion"),
    Command("retarget.apply", "Apply retargeted motion", ("ctrl+enter",), WINDOW, menu="Motion"),
    Command("retarget.cancel", "Drop retargeted motion", (), WINDOW, menu="Motion"),
    Command("retarget.map_again", "Map joints again", (), WINDOW, menu="Motion"),
    Command("workspace.next", "Next workspace", ("ctrl+pagedown",), WINDOW, row="Next, previous workspace"),
    Command("workspace.previous", "Previous workspace", ("ctrl+pageup",), WINDOW, row="Next, previous workspace"),
    Command("panels.hide", "Hide panels", ("tab", "h"), WINDOW, menu="Window", toggle=True),
    Command("panels.left", "Left panel", ("t",), WINDOW, menu="Window", row="Left, right panel", toggle=True),
    Command("panels.right", "Right panel", ("n",), WINDOW, menu="Window", row="Left, right panel", toggle=True),
    Command("show.axes", "Joint axes", ("f6",), WINDOW, menu="View", row="Joint axes, names", toggle=True),
    Command("show.names", "Joint names", ("f7",), WINDOW, menu="View", row="Joint axes, names", toggle=True),
    Command("show.limits", "Show limits", ("f8",), WINDOW, menu="View", row="Limits: selected, all, none"),
    Command("show.body", "Sticks, capsules, skin", ("f4",), WINDOW, row=_BODY),
    Command("show.sticks", "Sticks", (), WINDOW, menu="View", toggle=True),
    Command("show.capsules", "Capsules", (), WINDOW, menu="View", toggle=True),
    Command("show.skin", "Skin", (), WINDOW, menu="View", toggle=True),
    Command("show.see_through", "See through", ("alt+z",), WINDOW, menu="View", row=_BODY, toggle=True),
    Command("show.grid", "Grid", (), WINDOW, menu="View", toggle=True),
    Command("show.shadow", "Shadow", (), WINDOW, menu="View", toggle=True),
    Command("show.balance", "Centre of mass", (), WINDOW, menu="View", toggle=True),
    Command("show.goals", "Effectors and targets", (), WINDOW, menu="View", toggle=True),
    Command("window.fullscreen", "Full screen", ("f11",), WINDOW, menu="Window", toggle=True),
    Command("window.reset_layout", "Reset layout", (), WINDOW, menu="Window"),
    Command("window.preferences", "Preferences", ("ctrl+comma",), WINDOW, menu="Edit"),
    Command("file.picture", "Save picture", ("f12",), WINDOW, menu="File", row=_PICTURES),
    Command("file.film", "Export film", ("shift+f12",), WINDOW, menu="File", row=_PICTURES),
)

LOOK_GESTURES = (
    MouseHelp("Orbit", (("drag empty",), ("MMB",), ("Alt", "LMB")), NAVIGATE, _SIMPLE),
    MouseHelp("Orbit", (("MMB",), ("Alt", "LMB")), NAVIGATE, _OTHERS),
    MouseHelp("Pan", (("Shift", "MMB"), ("RMB drag",), ("Shift", "drag empty"), ("Alt", "MMB")), NAVIGATE, _SIMPLE),
    MouseHelp("Pan", (("Shift", "MMB"), ("Alt", "MMB")), NAVIGATE, _OTHERS),
    MouseHelp("Zoom at the pointer", (("wheel",), ("Ctrl", "MMB"), ("Alt", "RMB")), NAVIGATE),
    MouseHelp("Centre here", (("Alt", "MMB click"), ("Alt", "double click")), NAVIGATE),
    MouseHelp("Select, Shift adds", (("click",),), SELECT),
    MouseHelp("Box select, Shift adds", (("Ctrl", "drag"),), SELECT, _SIMPLE),
    MouseHelp("Box select, Shift adds", (("drag empty",), ("Ctrl", "drag")), SELECT, _OTHERS),
    MouseHelp("Joint with its children", (("double click",),), SELECT),
    MouseHelp("Ignore what it touches", (("Alt", "click"),), SELECT),
)

EDITING = (
    Command("file.new", "New from sample", ("ctrl+n",), EDIT, menu="File"),
    Command("file.new_skeleton", "New skeleton", (), EDIT, menu="File"),
    Command("file.open", "Open", ("ctrl+o",), EDIT, menu="File"),
    Command("figure.add", "Add figure", ("ctrl+shift+o",), EDIT, menu="File"),
    Command("retarget.open", "Retarget motion from", (), EDIT, menu="File"),
    Command("file.save", "Save", ("ctrl+s",), EDIT, menu="File"),
    Command("file.save_as", "Save as", ("ctrl+shift+s",), EDIT, menu="File"),
    Command("file.save_goals", "Save goals", (), EDIT, menu="File"),
    Command("file.export", "Export", ("ctrl+e",), EDIT, menu="File"),
    Command("file.reload", "Reload", ("f5",), EDIT, menu="File"),
    Command("file.record_actions", "Record actions", (), EDIT, menu="File", toggle=True),
    Command("file.quit", "Quit", ("ctrl+q",), EDIT, menu="File"),
    Command("edit.undo", "Undo", ("ctrl+z",), EDIT, menu="Edit", repeats=True),
    Command("edit.redo", "Redo", ("ctrl+shift+z", "ctrl+y"), EDIT, menu="Edit", repeats=True),
    Command("pose.copy", "Copy pose", ("ctrl+c",), EDIT, menu="Edit"),
    Command("pose.copy_world", "Copy pose in the world", ("ctrl+alt+c",), EDIT, menu="Edit"),
    Command("pose.copy_joints", "Copy joint values (YAML)", (), EDIT, menu="Edit"),
    Command("pose.paste", "Paste pose", ("ctrl+v",), EDIT, menu="Edit"),
    Command("pose.paste_flipped", "Paste pose flipped", ("ctrl+shift+v",), EDIT, menu="Edit"),
    Command("pose.mirror", "Mirror pose", ("ctrl+m",), EDIT, menu="Pose"),
    Command("pose.keep", "Keep this pose", ("ctrl+shift+c",), EDIT, menu="Pose"),
    Command("joint.rename", "Rename joint", ("f2",), EDIT, menu="Edit"),
)

POSING = (
    Command("tool.select", "Select", (), POSE, toggle=True),
    Command("tool.move", "Move handles", ("w",), POSE, menu="Pose", row="Move, rotate handles", toggle=True),
    Command("tool.rotate", "Rotate handles", ("e",), POSE, menu="Pose", row="Move, rotate handles", toggle=True),
    Command("grab.move", "Move with pointer", ("g",), POSE, menu="Pose", row="Move, rotate with pointer", hint="grab"),
    Command("grab.rotate", "Rotate with pointer", ("r",), POSE, menu="Pose", row="Move, rotate with pointer"),
    Command("pivot.individual", "Individual pivots", ("shift+period",), POSE, menu="Pose", toggle=True),
    Command("space.next", "Next space", ("q",), POSE, menu="Pose", row="World, local, parent, view"),
    Command("space.previous", "Previous space", ("shift+q",), POSE, menu="Pose", row="World, local, parent, view"),
    Command("snap.magnet", "Snap always", (), POSE, menu="Pose", toggle=True),
    Command("edit.mirror", "Mirror edits", ("alt+m",), POSE, menu="Pose", row="Mirror edits: both sides", toggle=True),
    Command("mode.fk", "Rotate joints (FK)", ("d",), POSE, menu="Pose", row="Drag mode IK / FK", toggle=True),
    Command("scope.next", "Next scope", ("shift+d",), POSE, menu="Solver", row="Body, limb, selection"),
    Command("limits.all", "Joint limits", ("l",), POSE, menu="Pose", row="Joint limits on / off", toggle=True),
    Command("limits.joint", "Limits of this joint", ("shift+l",), POSE, menu="Pose", toggle=True),
    Command("limits.widen", "Widen limits in the way", (), POSE, menu="Pose"),
    Command("limits.fit", "Fit limits to the clip", (), POSE, menu="Pose"),
    Command("limits.restore", "Restore limits", (), POSE, menu="Pose"),
    Command("contact.all", "Contact", ("c",), POSE, menu="Pose", row="Contact on / off", toggle=True),
    Command("contact.floor", "Contact with the floor", (), POSE, menu="Pose", toggle=True),
    Command("contact.bodies", "Contact of bodies", (), POSE, menu="Pose", toggle=True),
    Command("contact.objects", "Contact with props", (), POSE, menu="Pose", toggle=True),
    Command("balance.keep", "Balance", ("shift+b",), POSE, menu="Pose", row="Balance on / off", toggle=True),
    Command("prop.add_sphere", "Add sphere", (), POSE, menu="Pose"),
    Command("prop.add_box", "Add box", (), POSE, menu="Pose"),
    Command("prop.add_mesh", "Add mesh", (), POSE, menu="Pose"),
    Command("pin.position", "Pin position", ("p",), POSE, menu="Goals", toggle=True),
    Command("pin.rotation", "Pin rotation", ("shift+p",), POSE, menu="Goals", toggle=True),
    Command("holds.firm", "Firm holds", (), POSE, menu="Goals", toggle=True),
    Command("effector.make", "Make effector", ("shift+g",), POSE, menu="Goals"),
    Command("effector.hold", "Hold here", (), POSE, menu="Goals"),
    Command("goal.add", "Add goal", ("shift+a",), POSE, menu="Goals"),
    *(
        Command(name, f"Add {kind.command or kind.word} goal", (), POSE, menu="Goals")
        for name, kind in ADD_GOAL.items()
    ),
    Command("goal.hold_together", "Hold together", ("shift+h",), POSE, menu="Goals", toggle=True),
    Command("contact.grip", "Grip", ("ctrl+shift+g",), POSE, menu="Goals", row="Hand grips a prop", toggle=True),
    Command("goal.remove", "Remove goal", ("delete", "backspace"), POSE, menu="Goals"),
    Command("effector.remove", "Remove effector", (), POSE, menu="Goals"),
    Command("reset.position", "Reset position", ("alt+g",), POSE, menu="Pose", row="Reset position, rotation"),
    Command("reset.rotation", "Reset rotation", ("alt+r",), POSE, menu="Pose", row="Reset position, rotation"),
    Command("reset.pose", "Reset whole pose", ("alt+shift+r",), POSE, menu="Pose"),
    Command("solver.next", "Next solver", ("m",), POSE, menu="Solver", row="Next, previous solver"),
    Command("solver.previous", "Previous solver", ("shift+m",), POSE, menu="Solver", row="Next, previous solver"),
    Command("solver.escape", "Find another solution", (), POSE, menu="Solver"),
    Command("solution.next", "Next solution", ("alt+n",), POSE, menu="Solver", row="Next, previous solution"),
    Command(
        "solution.previous", "Previous solution", ("alt+shift+n",), POSE, menu="Solver", row="Next, previous solution"
    ),
    *(
        Command(
            f"nudge.{way}{size}", f"Nudge {way}", (f"{mods}+{key}",), POSE,
            row=_NUDGES if way in DIRECTIONS[:4] else _DEPTH, repeats=True,
        )
        for way, key in _NUDGE_KEYS.items() for size, mods in _NUDGE_SIZES.items()
    ),
)  # fmt: skip

TYPED = {**{str(digit): str(digit) for digit in range(10)}, "point": ".", "minus": "-"}
"""What is typed where numbers are typed, by the last words of the commands that type it."""


def _typing(part: str, group: str, row: str, *, in_drag: bool = False, room: str = "") -> tuple[Command, ...]:
    """The commands of a part that type a number."""
    keys = {"point": ("period", "kpdecimal", "comma"), "minus": ("minus", "kpsubtract")}
    titles = {"point": "Type a decimal point", "minus": "Change the sign"}
    return tuple(
        Command(
            f"{part}.type_{name}", titles.get(name, f"Type {name}"), keys.get(name, (name, f"kp{name}")), group,
            in_drag=in_drag, row=row, room=room,
        )
        for name in TYPED
    )  # fmt: skip


DRAGGING = (
    *(Command(f"drag.lock_{axis}", f"Lock {axis.upper()}", (axis,), DRAG, in_drag=True, row="Lock axis, again: local")
      for axis in "xyz"),
    *(Command(f"drag.plane_{axis}", f"Lock the plane normal to {axis.upper()}", (f"shift+{axis}",), DRAG, in_drag=True,
              row="Lock plane") for axis in "xyz"),
    *_typing("drag", DRAG, "Type a value", in_drag=True),
    Command("drag.backspace", "Delete a digit", ("backspace",), DRAG, in_drag=True, row="Delete a digit, next value",
            repeats=True),
    Command("drag.next_field", "Next value", ("tab",), DRAG, in_drag=True, row="Delete a digit, next value"),
    Command("drag.chain_longer", "Longer chain", ("pageup",), DRAG, in_drag=True, row="Longer, shorter chain",
            repeats=True),
    Command("drag.chain_shorter", "Shorter chain", ("pagedown",), DRAG, in_drag=True, row="Longer, shorter chain",
            repeats=True),
    Command("drag.confirm", "Confirm", ("enter", "kpenter"), DRAG, in_drag=True, hint="confirm"),
    Command("drag.cancel", "Cancel", ("escape",), DRAG, in_drag=True, hint="cancel"),
)  # fmt: skip

POSE_GESTURES = (
    MouseHelp("Move an effector or bone", (("drag it",),), POSE),
    MouseHelp("Menu: make effector, pin, release", (("RMB click",),), POSE),
    MouseHelp("Range of a joint, both its ends", (("drag ring",), ("drag ring", "Alt")), POSE),
    MouseHelp("Snap, fine", (("Ctrl",), ("Shift",)), DRAG),
    MouseHelp("Cancel", (("RMB",),), DRAG),
)

BUILDING = (
    Command("build.done", "Done, pose", ("ctrl+enter",), BUILD, room="build", hint="done"),
    Command("build.end", "End the chain, or place the joint", ("enter", "kpenter"), BUILD, room="build"),
    Command("build.escape", "End the chain", ("escape",), BUILD, room="build"),
    Command("build.remove", "Remove joint, its children stay", ("delete",), BUILD, room="build", row=_REMOVE),
    Command("build.remove_branch", "Remove joint with all below it", ("shift+delete",), BUILD, room="build",
            row=_REMOVE),
    Command("build.mirror", "Mirror branch", ("ctrl+m",), BUILD, room="build"),
    Command("build.duplicate", "Duplicate branch", ("ctrl+d",), BUILD, room="build"),
    Command("build.plane", "Next plane: view, front, side, floor", ("q",), BUILD, room="build"),
    Command("build.tool", "Add joints, or move them only", ("w",), BUILD, room="build"),
    Command("build.children", "Move children along", (), BUILD, toggle=True, room="build"),
    *_typing("build", BUILD, "Type a length, an angle", room="build"),
    Command("build.erase", "Delete a digit", ("backspace",), BUILD, room="build", row=_BONE_FIELDS, repeats=True),
    Command("build.next_field", "Length, angle", ("tab",), BUILD, room="build", row=_BONE_FIELDS),
)  # fmt: skip

BUILD_GESTURES = (
    MouseHelp("Next joint, at the end of a new bone", (("click",),), BUILD),
    MouseHelp("Branch from a joint", (("click joint",),), BUILD),
    MouseHelp("Split a bone", (("click bone",),), BUILD),
    MouseHelp("Move a joint, Ctrl snaps", (("drag joint",),), BUILD),
)

KEYING = (
    Command("key.previous", "Previous key", ("down",), TIME, row=_KEYS, repeats=True),
    Command("key.next", "Next key", ("up",), TIME, row=_KEYS, repeats=True),
    Command("marker.previous", "Previous marker", ("shift+down",), TIME, row=_MARKERS, repeats=True),
    Command("marker.next", "Next marker", ("shift+up",), TIME, row=_MARKERS, repeats=True),
    Command("marker.set", "Set marker", ("shift+s",), TIME, menu="Motion"),
    Command("key.set", "Set key", ("s", "i"), TIME, menu="Motion", hint="key", row="Set, delete key"),
    Command("key.set_selected", "Set key of selected joints", (), TIME, menu="Motion"),
    Command("key.delete", "Delete key here", ("alt+i",), TIME, menu="Motion", row="Set, delete key"),
    Command("tween.keys", "Tween between keys", ("shift+e",), TIME, menu="Motion"),
    Command("tween.rest", "Relax to rest, push away", ("alt+e",), TIME, menu="Motion"),
    Command("layer.reach", "Reach here", ("v",), TIME, menu="Motion", row="Reach here while the clip plays"),
    Command("layer.hold", "Hold through the motion", ("shift+v",), TIME, menu="Motion"),
    Command("layer.bake", "Make keys of layers", (), TIME, menu="Motion"),
    Command("feet.plant", "Plant feet", ("ctrl+shift+f",), TIME, menu="Motion", row="Plant feet", toggle=True),
    Command("feet.find", "Find foot contacts again", (), TIME, menu="Motion"),
    Command("feet.remove", "Remove planted feet", (), TIME, menu="Motion"),
    Command("key.auto", "Auto-key", ("shift+i",), TIME, menu="Motion", row="Auto-key, record", toggle=True),
    Command("key.record", "Record", ("shift+r",), TIME, menu="Motion", row="Auto-key, record", toggle=True),
    Command("trim.start", "Start range here", ("alt+bracketleft",), TIME, menu="Motion", row=_TRIM),
    Command("trim.end", "End range here", ("alt+bracketright",), TIME, menu="Motion", row=_TRIM),
    Command("key.duplicate", "Duplicate keys", ("ctrl+d",), EDIT, menu="Edit"),
    Command("show.ghosts", "Ghosts", ("f9",), WINDOW, menu="View", row=_ONION_SKIN, toggle=True),
    Command("show.trails", "Motion trails", ("shift+f9",), WINDOW, menu="View", row=_ONION_SKIN, toggle=True),
)

TIME_GESTURES = (
    MouseHelp("Timeline: go to a frame", (("drag ruler",),), TIME),
    MouseHelp("Timeline: move, copy keys", (("drag key",), ("Ctrl", "drag key")), TIME),
    MouseHelp("Trail: move a frame, go to it", (("drag dot",), ("click dot",)), TIME),
    MouseHelp("Trail: frames that follow the drag", (("wheel",), ("PgUp",), ("PgDn",)), TIME),
    MouseHelp("Timeline: zoom, pan", (("wheel",), ("Shift", "wheel"), ("MMB",)), TIME),
)

COMMANDS: tuple[Command, ...] = (
    *LOOKING,
    *SELECTING,
    *EDITING,
    *POSING,
    *DRAGGING,
    *PLAYING,
    *KEYING,
    *WINDOWS,
    *BUILDING,
)
"""Every command, in the order of menus and of the help page."""

GESTURES: tuple[MouseHelp, ...] = (*LOOK_GESTURES, *POSE_GESTURES, *TIME_GESTURES, *BUILD_GESTURES)

BY_ID: dict[str, Command] = {command.id: command for command in COMMANDS}

_BY_CHORD: dict[tuple[bool, str, Chord], Command] = {
    (command.in_drag, command.room, chord): command for command in COMMANDS for chord in command.chords
}


class HelpRow(NamedTuple):
    """A row of the help page: alternatives, each a row of key caps, and what they do.

    ``ids`` are the commands of the row; empty for mouse gestures.
    """

    caps: tuple[tuple[str, ...], ...]
    words: str
    ids: tuple[str, ...] = ()


def command_for(key: str, mods: Mods, *, dragging: bool, room: str = "") -> Command | None:
    """The command of a key, or None; with ``room`` one of a workspace alone.

    During a drag, Ctrl (snaps) may be held with any key, and Shift (fine) with keys that have no other meaning with
    Shift. With Alt, keys do nothing: Alt+4, which leaves the workspace outside of drags, must not type a 4.
    """
    if not dragging:
        return _BY_CHORD.get((False, room, Chord(key, mods)))
    if "alt" in mods:
        return None
    held = mods & {"shift"}
    return _BY_CHORD.get((True, "", Chord(key, held))) or _BY_CHORD.get((True, "", Chord(key, frozenset())))


def menu_commands(menu: str) -> tuple[Command, ...]:
    """The entries of a menu, in order."""
    return tuple(command for command in COMMANDS if command.menu == menu)


def help_rows(preset: str = "simple") -> dict[str, tuple[HelpRow, ...]]:
    """The rows of the help page by heading, for a mouse preset."""
    return {group: _joined([*_gesture_rows(group, preset), *_command_rows(group)]) for group in GROUPS}


def _joined(rows: list[HelpRow]) -> tuple[HelpRow, ...]:
    """Join rows with the same text."""
    found: dict[str, HelpRow] = {}
    for row in rows:
        other = found.get(row.words)
        found[row.words] = row if other is None else HelpRow(other.caps + row.caps, row.words, other.ids + row.ids)
    return tuple(found.values())


def _gesture_rows(group: str, preset: str) -> list[HelpRow]:
    shown = [g for g in GESTURES if g.group == group and (not g.presets or preset in g.presets)]
    return [HelpRow(gesture.caps, gesture.words) for gesture in shown]


def _command_rows(group: str) -> list[HelpRow]:
    """Rows of commands with keys; commands with the same text share a row."""
    joined: dict[str, list[Command]] = {}
    for command in COMMANDS:
        if command.group == group and command.keys:
            joined.setdefault(command.words, []).append(command)
    return [HelpRow(_caps(some), words, tuple(c.id for c in some)) for words, some in joined.items()]


def _caps(commands: list[Command]) -> tuple[tuple[str, ...], ...]:
    short = _SHORT_CAPS.get(commands[0].id)
    if short is not None:
        return short
    # Leave out equivalent keypad keys, which would only make the page longer.
    every = [chord for command in commands for chord in command.chords]
    main = [chord for chord in every if not chord.key.startswith("kp")]
    return tuple(chord.caps for chord in main or every)
