"""The panels of the window, each a file with ``draw(ui)``."""

from __future__ import annotations

from viewer.app.context import Panel
from viewer.app.layout import Place
from viewer.app.panels import (
    goals,
    history,
    inspector,
    menu_bar,
    skeleton_tree,
    solver,
    status_line,
    timeline,
    toolbar,
)

PANELS: tuple[Panel, ...] = (
    Panel("menu", "Menu", Place.MENU, menu_bar.draw, padded=False),
    Panel("toolbar", "Toolbar", Place.TOOLBAR, toolbar.draw, padded=False),
    Panel("skeleton", "Skeleton", Place.LEFT_TOP, skeleton_tree.draw),
    Panel("goals", "Goals", Place.LEFT_BOTTOM, goals.draw),
    Panel("inspector", "Inspector", Place.RIGHT_TOP, inspector.draw, scrolls=True),
    Panel("solver", "Solver", Place.RIGHT_BOTTOM, solver.draw, scrolls=True),
    Panel("history", "History", Place.RIGHT_BOTTOM, history.draw, scrolls=True),
    Panel("timeline", "Timeline", Place.BOTTOM, timeline.draw),
    Panel("status", "Status line", Place.STATUS, status_line.draw, live=True, padded=False),
)
"""All of them; those that share a place are its tabs, in this order."""

__all__ = ["PANELS"]
