"""Several figures: which is worked on, which are hidden, which file becomes another one, which two are compared."""

from __future__ import annotations

from pathlib import Path

from viewer.document.comparison import Comparison, compare, shared_joints
from viewer.errors import InputError
from viewer.session import Session
from viewer.ui.camera_moves import CameraMoves
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.opening import Opening
from viewer.ui.view import View


class Figures:
    """Adds, removes, hides and switches figures."""

    def __init__(self, session: Session, view: View, opening: Opening, camera_moves: CameraMoves) -> None:
        """Work on the figures of a session."""
        self._session, self._view = session, view
        self._opening, self._camera_moves = opening, camera_moves
        self._compared, self.from_root = "", False
        self._comparison: tuple[tuple[object, ...], Comparison | None] | None = None

    @property
    def active(self) -> str:
        """Name of the active figure."""
        return self._session.stage.names[self._session.stage.active]

    def add(self, path: Path | str) -> bool:
        """Add the figure of a file, or of ``sample:NAME``, beside the others; whether it could be read."""
        if not self._opening.add_file(path):
            return False
        self._camera_moves.frame_figures()
        return True

    def activate(self, name: str) -> None:
        """Make a figure active; a hidden one is shown first.

        Raises:
            InputError: no such figure.
        """
        stage = self._session.stage
        if stage.hidden[stage.index(name)]:
            self._session.figures.hide(name, hidden=False)
        self._session.figures.activate(name)

    def hover(self, name: str) -> None:
        """Light up a figure whose row in a list is under the pointer; "" for none."""
        lit = name or self._view.hovered.figure
        if lit != self._view.lit_figure:
            self._view.lit_figure = lit
            self._view.changed()

    # Comparing

    @property
    def compared(self) -> str:
        """Name of the figure with which the active one is compared; "" for none."""
        stage = self._session.stage
        there = self._compared in stage.names and self._compared != self.active
        return self._compared if there and stage.several else ""

    @property
    def comparable(self) -> tuple[str, ...]:
        """Names of the figures with motion that share joints with the active one, if that has motion."""
        stage, own = self._session.stage, self._session.document
        if not own.frames:
            return ()
        others = zip(stage.names, stage.documents, strict=True)
        return tuple(name for name, one in others if one is not own and one.frames and shared_joints(own, one))

    def compare(self, name: str, *, from_root: bool | None = None) -> None:
        """Compare the active figure with another one, "" with none; ``from_root`` as of `compare`."""
        self._compared = name
        self.from_root = self.from_root if from_root is None else from_root
        self._view.changed()

    def comparison(self) -> Comparison | None:
        """The distances to the compared figure, cached until a motion changes; None if there is none."""
        name, stage = self.compared, self._session.stage
        if not name:
            return None
        pair = self._session.document, stage.documents[stage.index(name)]
        key = (self.from_root, *(part for one in pair for part in (one.clip_data, one.take, one.skeleton)))
        kept = self._comparison
        if kept is None or any(one is not other for one, other in zip(kept[0], key, strict=True)):
            try:
                kept = key, compare(*pair, from_root=self.from_root)
            except InputError:  # meanwhile one has lost its motion
                kept = key, None
            self._comparison = kept
        return kept[1]

    def _next(self) -> None:
        stage = self._session.stage
        count = len(stage)
        following = ((stage.active + step) % count for step in range(1, count))
        self._session.figures.activate(next(stage.names[index] for index in following if not stage.hidden[index]))

    def _others_shown(self) -> bool:
        stage = self._session.stage
        return stage.several and not all(hidden for i, hidden in enumerate(stage.hidden) if i != stage.active)

    def bindings(self) -> CommandBindings:
        """How its commands are run."""
        session = self._session
        return {
            "figure.add": CommandBinding(lambda: self._view.request("add-dialog")),
            "figure.next": CommandBinding(self._next, self._others_shown),
            "figure.hide": CommandBinding(lambda: session.figures.hide(self.active), self._others_shown),
            "figure.remove": CommandBinding(lambda: session.figures.remove(self.active), lambda: session.stage.several),
        }
