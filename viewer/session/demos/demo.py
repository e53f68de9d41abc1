"""What a demo is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from viewer.document.actions.base import Action
from viewer.document.document import Document
from viewer.session.moving_targets import Motion, Triple

Tone = Literal["ok", "warn", "idle"]
View = Literal["planar", "front", "right", "left", "three-quarter"]


class Says(NamedTuple):
    """What a demo says of the document as it is.

    Attributes:
        text: one line.
        tone: whether that is good.
    """

    text: str
    tone: Tone = "idle"


class Ring(NamedTuple):
    """A circle to look at: a ball, or where something is to be brought.

    Attributes:
        centre: (3,) metres, world frame.
        radius: metres.
        filled: a ball.
        tone: "ok" once it holds what it is for.
    """

    centre: Triple
    radius: float
    filled: bool = False
    tone: Tone = "idle"


def _no_rings(_: Document) -> tuple[Ring, ...]:
    return ()


def _says_nothing(_: Document) -> Says | None:
    return None


@dataclass(frozen=True, slots=True)
class Demo:
    """A scene that shows one thing.

    Attributes:
        id: such as ``two-link``: it is opened as ``demo:two-link``.
        title: of its menu entry and card.
        words: two sentences: what it shows, and what to try.
        build: the document that it opens with, always the same.
        view: how it is looked at; "planar": at right angles to its plane.
        motions: targets that move.
        follows: the effector whose target follows the pointer; "": none.
        click_moves: the effector whose target goes where the view is clicked; "": none.
        methods: solvers to choose from on its card.
        rings: circles to look at, of the document as it is.
        says: what it says of the document as it is.
        room: points that the view has room for besides the figure.
        solves: it opens with its first solve, which the plot shows, and so does each method that is chosen on its card.
    """

    id: str
    title: str
    words: tuple[str, str]
    build: Callable[[], Document]
    view: View = "three-quarter"
    motions: tuple[Motion, ...] = ()
    follows: str = ""
    click_moves: str = ""
    methods: tuple[str, ...] = ()
    rings: Callable[[Document], tuple[Ring, ...]] = _no_rings
    says: Callable[[Document], Says | None] = _says_nothing
    room: tuple[Triple, ...] = ()
    solves: bool = False


@dataclass(frozen=True, slots=True)
class StartOver(Action):
    """Take a demo's document as it opens, under the solver that was chosen."""

    document: Document

    @property
    def label(self) -> str:
        """The same for every demo."""
        return "Start over"

    def apply(self, document: Document) -> Document:  # noqa: ARG002 - whatever it was
        """The document of the demo."""
        return self.document


@dataclass(frozen=True, slots=True)
class SolveAfresh(StartOver):
    """Take a demo's document as it opens, and solve it from there."""

    solves: ClassVar[bool] = True
    restarts: ClassVar[bool] = True
