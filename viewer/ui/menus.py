"""What the context menu of the view offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.ui.commands import BY_ID

if TYPE_CHECKING:
    from viewer.session import Item
    from viewer.ui.command import Command

_OF_JOINT = (
    "effector.make", "limits.joint", "reset.rotation", "reset.position", "select.children", "view.frame_selection",
)  # fmt: skip
_OF_EFFECTOR = (
    "pin.position", "pin.rotation", "effector.hold", "goal.remove", "effector.remove", "select.parent",
    "view.frame_selection",
)  # fmt: skip
_OF_NOTHING = ("select.all", "limits.all", "reset.pose", "pose.mirror", "view.frame_all", "view.three_quarter")


def context_commands(item: Item | None) -> tuple[Command, ...]:
    """The entries of the menu of an item, or of the background; what cannot be done now is shown grey."""
    if item is None:
        return tuple(BY_ID[name] for name in _OF_NOTHING)
    return tuple(BY_ID[name] for name in (_OF_EFFECTOR if item.kind == "effector" else _OF_JOINT))
