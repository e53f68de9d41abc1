"""Demos: small scenes, one idea each, that open from the menu or as ``demo:NAME``."""

from __future__ import annotations

from viewer.document.document import Document
from viewer.errors import InputError, unknown_name
from viewer.session.demos.demo import Demo, Ring, Says, SolveAfresh, StartOver
from viewer.session.demos.scenes import BODIES, FLAT, PREFIX
from viewer.session.moving_targets import Chase, FigureEight, Motion, Orbit, Pointer

DEMOS: tuple[Demo, ...] = (*FLAT, *BODIES)
"""All of them, in the order of the menu."""


def find_demo(name: str) -> Demo:
    """The demo of a name such as ``two-link`` or ``demo:two-link``.

    Raises:
        InputError: there is none; near names are offered.
    """
    wanted = name.removeprefix(PREFIX)
    found = next((demo for demo in DEMOS if demo.id == wanted), None)
    if found is None:
        raise InputError(unknown_name("demo", wanted, [demo.id for demo in DEMOS]))
    return found


def demo_of(document: Document) -> Demo | None:
    """The demo that a document is of, saved and opened again or not."""
    path = document.character.source.path
    if path is None or not path.startswith(PREFIX):
        return None
    return next((demo for demo in DEMOS if PREFIX + demo.id == path), None)


__all__ = [
    "DEMOS",
    "PREFIX",
    "Chase",
    "Demo",
    "FigureEight",
    "Motion",
    "Orbit",
    "Pointer",
    "Ring",
    "Says",
    "SolveAfresh",
    "StartOver",
    "demo_of",
    "find_demo",
]
