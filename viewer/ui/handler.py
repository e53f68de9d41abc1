"""What runs a command, and when it can."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


def always() -> bool:
    """A command that can run at any time."""
    return True


class Handler(NamedTuple):
    """How a command is run.

    Attributes:
        run: does it.
        can: whether it would do something now: menus and buttons are grey where it would not.
        checked: whether it is on; None for what is no toggle.
    """

    run: Callable[[], object]
    can: Callable[[], bool] = always
    checked: Callable[[], bool] | None = None


Handlers = dict[str, Handler]
