"""What the controller asks of the panels: each takes the requests that it serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.ui.base import Request


def taken(ui: PanelContext, *names: str) -> Request | None:
    """The first waiting request of one of these names, which is taken off; None without one."""
    for index, request in enumerate(ui.requests):
        if request.name in names:
            found: Request = ui.requests.pop(index)
            return found
    return None
