"""All demos."""

from __future__ import annotations

from viewer.document import Document
from viewer.errors import InputError, unknown_name
from viewer.session.body_demos import BODIES
from viewer.session.chain_demos import FLAT
from viewer.session.demo import PREFIX, Demo, Push, Ring, Says, SolveAfresh, StartOver, Throw, Trial
from viewer.session.lessons import LESSONS
from viewer.session.moving_targets import Chase, FigureEight, Motion, Orbit, Pointer
from viewer.session.physics_demos import PHYSICS

DEMOS: tuple[Demo, ...] = (*FLAT, *BODIES, *PHYSICS, *LESSONS)
"""All demos, in the order of the menu."""


def find_demo(name: str) -> Demo:
    """The demo with a name such as ``two-link`` or ``demo:two-link``.

    Raises:
        InputError: no such demo; the message offers similar names.
    """
    wanted = name.removeprefix(PREFIX)
    found = next((demo for demo in DEMOS if demo.id == wanted), None)
    if found is None:
        raise InputError(unknown_name("demo", wanted, [demo.id for demo in DEMOS]))
    return found


def demo_of(document: Document) -> Demo | None:
    """The demo that a document was opened from, also after saving; or None."""
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
    "Push",
    "Ring",
    "Says",
    "SolveAfresh",
    "StartOver",
    "Throw",
    "Trial",
    "demo_of",
    "find_demo",
]
