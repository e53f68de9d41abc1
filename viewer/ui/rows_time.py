"""Rows of the table of keys: keys of the take, recording, what is shown of other frames."""

from __future__ import annotations

from viewer.ui.command import EDIT, TIME, WINDOW, Command, Gesture

_KEYS, _TRIM, _ECHOES = "Previous, next key", "Trim start, end", "Ghosts, trails"

KEYING = (
    Command("key.previous", "Previous key", ("down",), TIME, row=_KEYS, repeats=True),
    Command("key.next", "Next key", ("up",), TIME, row=_KEYS, repeats=True),
    Command("key.set", "Set key", ("s", "i"), TIME, menu="Pose", hint="key", row="Set, delete key"),
    Command("key.set_selected", "Set key of selected joints", (), TIME, menu="Pose"),
    Command("key.delete", "Delete key here", ("alt+i",), TIME, menu="Pose", row="Set, delete key"),
    Command("key.auto", "Auto-key", ("shift+i",), TIME, menu="Pose", row="Auto-key, record", toggle=True),
    Command("key.record", "Record", ("shift+r",), TIME, menu="Pose", row="Auto-key, record", toggle=True),
    Command("trim.start", "Start range here", ("alt+bracketleft",), TIME, menu="Pose", row=_TRIM),
    Command("trim.end", "End range here", ("alt+bracketright",), TIME, menu="Pose", row=_TRIM),
    Command("key.duplicate", "Duplicate keys", ("ctrl+d",), EDIT, menu="Edit"),
    Command("show.ghosts", "Ghosts", ("f9",), WINDOW, menu="View", row=_ECHOES, toggle=True),
    Command("show.trails", "Motion trails", ("shift+f9",), WINDOW, menu="View", row=_ECHOES, toggle=True),
)

TIME_GESTURES = (
    Gesture("Timeline: go to a frame", (("drag ruler",),), TIME),
    Gesture("Timeline: move, copy keys", (("drag key",), ("Ctrl", "drag key")), TIME),
    Gesture("Timeline: zoom, pan", (("wheel",), ("Shift", "wheel"), ("MMB",)), TIME),
)
