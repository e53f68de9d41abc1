"""Rows of the table of keys: posing, files, and what acts while something is dragged."""

from __future__ import annotations

from viewer.ui.command import DRAG, EDIT, POSE, Command, Gesture

_NUDGES = "Nudge (Shift fine, Ctrl snap)"
_DEPTH = "Nudge in depth"
DIRECTIONS = ("left", "right", "up", "down", "nearer", "farther")
"""In which a target is nudged, as the view has them."""
_NUDGE_KEYS = dict(zip(DIRECTIONS, ("left", "right", "up", "down", "pagedown", "pageup"), strict=True))
_NUDGE_SIZES = {"": "alt", "_fine": "alt+shift", "_step": "ctrl+alt"}

EDITING = (
    Command("file.new", "New from sample", ("ctrl+n",), EDIT, menu="File"),
    Command("file.open", "Open", ("ctrl+o",), EDIT, menu="File"),
    Command("file.save", "Save", ("ctrl+s",), EDIT, menu="File"),
    Command("file.save_as", "Save as", ("ctrl+shift+s",), EDIT, menu="File"),
    Command("file.export", "Export", ("ctrl+e",), EDIT, menu="File"),
    Command("file.reload", "Reload", ("f5",), EDIT, menu="File"),
    Command("file.record_actions", "Record actions", (), EDIT, menu="File", toggle=True),
    Command("file.quit", "Quit", ("ctrl+q",), EDIT, menu="File"),
    Command("edit.undo", "Undo", ("ctrl+z",), EDIT, menu="Edit", repeats=True),
    Command("edit.redo", "Redo", ("ctrl+shift+z", "ctrl+y"), EDIT, menu="Edit", repeats=True),
    Command("pose.copy", "Copy pose", ("ctrl+c",), EDIT, menu="Edit"),
    Command("pose.paste", "Paste pose", ("ctrl+v",), EDIT, menu="Edit"),
    Command("pose.paste_flipped", "Paste pose flipped", ("ctrl+shift+v",), EDIT, menu="Edit"),
    Command("pose.mirror", "Mirror pose", ("ctrl+m",), EDIT, menu="Pose"),
    Command("joint.rename", "Rename joint", ("f2",), EDIT, menu="Edit"),
)

POSING = (
    Command("tool.select", "Select", (), POSE, toggle=True),
    Command("tool.move", "Move handles", ("w",), POSE, menu="Pose", row="Move, rotate handles", toggle=True),
    Command("tool.rotate", "Rotate handles", ("e",), POSE, menu="Pose", row="Move, rotate handles", toggle=True),
    Command("grab.move", "Grab at once", ("g",), POSE, menu="Pose", row="Grab, rotate at once", hint="grab"),
    Command("grab.rotate", "Rotate at once", ("r",), POSE, menu="Pose", row="Grab, rotate at once"),
    Command("space.next", "Next space", ("q",), POSE, menu="Pose", row="World, local, parent, view"),
    Command("space.previous", "Previous space", ("shift+q",), POSE, menu="Pose", row="World, local, parent, view"),
    Command("snap.magnet", "Snap always", (), POSE, menu="Pose", toggle=True),
    Command("mode.fk", "Turn joints by hand (FK)", ("d",), POSE, menu="Pose", row="Drag mode IK / FK", toggle=True),
    Command("scope.next", "Next scope", ("shift+d",), POSE, menu="Solver", row="Body, limb, selection"),
    Command("limits.all", "Joint limits", ("l",), POSE, menu="Pose", row="Joint limits on / off", toggle=True),
    Command("limits.joint", "Limits of this joint", ("shift+l",), POSE, menu="Pose", toggle=True),
    Command("pin.position", "Pin position", ("p",), POSE, menu="Goals", toggle=True),
    Command("pin.rotation", "Pin rotation", ("shift+p",), POSE, menu="Goals", toggle=True),
    Command("effector.make", "Make effector", ("shift+g",), POSE, menu="Goals"),
    Command("effector.hold", "Hold here", (), POSE, menu="Goals"),
    Command("goal.remove", "Remove goal", ("delete", "backspace"), POSE, menu="Goals"),
    Command("effector.remove", "Remove effector", (), POSE, menu="Goals"),
    Command("reset.position", "Reset position", ("alt+g",), POSE, menu="Pose", row="Reset position, rotation"),
    Command("reset.rotation", "Reset rotation", ("alt+r",), POSE, menu="Pose", row="Reset position, rotation"),
    Command("reset.pose", "Reset whole pose", ("alt+shift+r",), POSE, menu="Pose"),
    Command("solver.next", "Next solver", ("m",), POSE, menu="Solver", row="Next, previous solver"),
    Command("solver.previous", "Previous solver", ("shift+m",), POSE, menu="Solver", row="Next, previous solver"),
    Command("solver.escape", "Look for another way", (), POSE, menu="Solver"),
    *(
        Command(
            f"nudge.{way}{size}", f"Nudge {way}", (f"{mods}+{key}",), POSE,
            row=_NUDGES if way in DIRECTIONS[:4] else _DEPTH, repeats=True,
        )
        for way, key in _NUDGE_KEYS.items() for size, mods in _NUDGE_SIZES.items()
    ),
)  # fmt: skip

DRAGGING = (
    *(Command(f"drag.lock_{axis}", f"Lock {axis.upper()}", (axis,), DRAG, in_drag=True, row="Lock axis, again: local")
      for axis in "xyz"),
    *(Command(f"drag.plane_{axis}", f"Lock the plane across {axis.upper()}", (f"shift+{axis}",), DRAG, in_drag=True,
              row="Lock plane") for axis in "xyz"),
    *(Command(f"drag.type_{digit}", f"Type {digit}", (str(digit), f"kp{digit}"), DRAG, in_drag=True,
              row="Type a value") for digit in range(10)),
    Command("drag.type_point", "Type a point", ("period", "kpdecimal", "comma"), DRAG, in_drag=True,
            row="Type a value"),
    Command("drag.type_minus", "Change the sign", ("minus", "kpsubtract"), DRAG, in_drag=True, row="Type a value"),
    Command("drag.backspace", "Delete a digit", ("backspace",), DRAG, in_drag=True, row="Delete a digit, next value",
            repeats=True),
    Command("drag.next_field", "Next value", ("tab",), DRAG, in_drag=True, row="Delete a digit, next value"),
    Command("drag.chain_longer", "Longer chain", ("pageup",), DRAG, in_drag=True, row="Longer, shorter chain",
            repeats=True),
    Command("drag.chain_shorter", "Shorter chain", ("pagedown",), DRAG, in_drag=True, row="Longer, shorter chain",
            repeats=True),
    Command("drag.confirm", "Confirm", ("enter", "kpenter"), DRAG, in_drag=True, hint="confirm"),
    Command("drag.cancel", "Cancel exactly", ("escape",), DRAG, in_drag=True, hint="cancel"),
)  # fmt: skip

POSE_GESTURES = (
    Gesture("Move an effector or bone", (("drag it",),), POSE),
    Gesture("Menu: make effector, pin, release", (("RMB click",),), POSE),
    Gesture("Snap from the start, fine", (("Ctrl",), ("Shift",)), DRAG),
    Gesture("Cancel exactly", (("RMB",),), DRAG),
)
