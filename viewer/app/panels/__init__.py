"""The panels of the window, each a file with ``draw(ui)``."""

from __future__ import annotations

from viewer.app.context import Panel
from viewer.app.layout import Place
from viewer.app.panels import (
    angle_plot,
    chips,
    context_menu,
    demo_card,
    file_dialog,
    film_bar,
    film_dialog,
    find,
    goals,
    help_keys,
    history,
    inspector,
    menu_bar,
    messages,
    new_dialog,
    preferences,
    questions,
    rename,
    skeleton_tree,
    solver,
    status_line,
    timeline,
    toolbar,
    units,
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
    Panel("angles", "Angles", Place.BOTTOM, angle_plot.draw),
    Panel("chips", "View", Place.VIEWPORT, chips.draw),
    Panel("demo", "Demo", Place.FLOATING, demo_card.draw),
    Panel("messages", "Messages", Place.FLOATING, messages.draw),
    Panel("context", "Context menu", Place.FLOATING, context_menu.draw),
    Panel("files", "Files", Place.FLOATING, file_dialog.draw),
    Panel("film", "Export film", Place.FLOATING, film_dialog.draw),
    Panel("filming", "Film", Place.FLOATING, film_bar.draw),
    Panel("new", "New", Place.FLOATING, new_dialog.draw),
    Panel("units", "Units", Place.FLOATING, units.draw),
    Panel("preferences", "Preferences", Place.FLOATING, preferences.draw),
    Panel("help", "Help", Place.FLOATING, help_keys.draw),
    Panel("questions", "Questions", Place.FLOATING, questions.draw),
    Panel("rename", "Rename", Place.FLOATING, rename.draw),
    Panel("find", "Find", Place.FLOATING, find.draw),
    Panel("status", "Status line", Place.STATUS, status_line.draw, live=True, padded=False),
)
"""All of them; those that share a place are its tabs, in this order."""

__all__ = ["PANELS"]
