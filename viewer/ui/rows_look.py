"""Rows of the table of keys: looking round, selecting, playing."""

from __future__ import annotations

from viewer.ui.command import NAVIGATE, SELECT, TIME, WINDOW, Command, Gesture

_FLIPPED = "Opposite side"
_ORBIT = "Orbit by 15°"
_TAKEN = "Save picture, film"

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
    Command("select.none", "Select none", ("escape",), SELECT, menu="Edit", row="All, none"),
    Command("select.find", "Find a joint", ("ctrl+f", "f3"), SELECT, menu="Edit"),
)

PLAYING = (
    Command("play.forwards", "Play / pause", ("space",), TIME, row="Play / pause, backwards"),
    Command("play.backwards", "Play backwards", ("shift+space",), TIME, row="Play / pause, backwards"),
    Command("play.previous", "Previous frame", ("left", "comma"), TIME, row="One frame", repeats=True),
    Command("play.next", "Next frame", ("right", "period"), TIME, row="One frame", repeats=True),
    Command("play.back_ten", "Ten frames back", ("ctrl+left",), TIME, row="Ten frames", repeats=True),
    Command("play.on_ten", "Ten frames on", ("ctrl+right",), TIME, row="Ten frames", repeats=True),
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
    Command("panels.hide", "Hide panels", ("tab", "h"), WINDOW, menu="Window", toggle=True),
    Command("panels.left", "Left panel", ("t",), WINDOW, menu="Window", row="Left, right panel", toggle=True),
    Command("panels.right", "Right panel", ("n",), WINDOW, menu="Window", row="Left, right panel", toggle=True),
    Command("show.axes", "Joint axes", ("f6",), WINDOW, menu="View", row="Joint axes, names", toggle=True),
    Command("show.names", "Joint names", ("f7",), WINDOW, menu="View", row="Joint axes, names", toggle=True),
    Command("show.limits", "Limits shown", ("f8",), WINDOW, menu="View", row="Limits: selected, all, none"),
    Command("show.grid", "Grid", (), WINDOW, menu="View", toggle=True),
    Command("show.shadow", "Shadow", (), WINDOW, menu="View", toggle=True),
    Command("show.goals", "Effectors and targets", (), WINDOW, menu="View", toggle=True),
    Command("window.fullscreen", "Full screen", ("f11",), WINDOW, menu="Window", toggle=True),
    Command("window.reset_layout", "Reset layout", (), WINDOW, menu="Window"),
    Command("window.preferences", "Preferences", ("ctrl+comma",), WINDOW, menu="Edit"),
    Command("file.picture", "Save picture", ("f12",), WINDOW, menu="File", row=_TAKEN),
    Command("file.film", "Export film", ("shift+f12",), WINDOW, menu="File", row=_TAKEN),
)

_SIMPLE, _OTHERS = ("simple",), ("blender", "maya")

LOOK_GESTURES = (
    Gesture("Orbit", (("drag empty",), ("MMB",), ("Alt", "LMB")), NAVIGATE, _SIMPLE),
    Gesture("Orbit", (("MMB",), ("Alt", "LMB")), NAVIGATE, _OTHERS),
    Gesture("Pan", (("Shift", "MMB"), ("RMB drag",), ("Shift", "drag empty"), ("Alt", "MMB")), NAVIGATE, _SIMPLE),
    Gesture("Pan", (("Shift", "MMB"), ("Alt", "MMB")), NAVIGATE, _OTHERS),
    Gesture("Zoom at the pointer", (("wheel",), ("Ctrl", "MMB"), ("Alt", "RMB")), NAVIGATE),
    Gesture("Centre here", (("Alt", "MMB click"), ("Alt", "double click")), NAVIGATE),
    Gesture("Select, Shift adds", (("click",),), SELECT),
    Gesture("Box select, Shift adds", (("Ctrl", "drag"),), SELECT, _SIMPLE),
    Gesture("Box select, Shift adds", (("drag empty",), ("Ctrl", "drag")), SELECT, _OTHERS),
    Gesture("Joint with its children", (("double click",),), SELECT),
)
