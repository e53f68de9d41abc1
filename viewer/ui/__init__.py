"""User interface without OpenGL: events and commands in; changes of session, camera and view out."""

from __future__ import annotations

from viewer.ui.automation import state_of
from viewer.ui.commands import BY_ID, COMMANDS, MENUS, command_for, help_rows, menu_commands
from viewer.ui.controller import Controller
from viewer.ui.events import Drop, Event, Key, KeyUp, Leave, Message, Move, Press, Rect, Release, Scroll
from viewer.ui.view import View, Workspace

__all__ = [
    "BY_ID",
    "COMMANDS",
    "MENUS",
    "Controller",
    "Drop",
    "Event",
    "Key",
    "KeyUp",
    "Leave",
    "Message",
    "Move",
    "Press",
    "Rect",
    "Release",
    "Scroll",
    "View",
    "Workspace",
    "command_for",
    "help_rows",
    "menu_commands",
    "state_of",
]
