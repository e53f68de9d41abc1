"""The figures beside the active one, as they are drawn and filmed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from viewer.document import Document, world_of
from viewer.scene import OtherFigure
from viewer.session import Session
from viewer.session.figures import Placement
from viewer.spatial.checks import Floats


class Beside(NamedTuple):
    """A figure that is filmed beside the active one, from which its placement is seen, as the film starts."""

    name: str
    document: Document
    placement: Placement


def other_figure(name: str, document: Document, placement: Placement, *, lit: bool = False) -> OtherFigure:
    """A figure at its placement as seen from the active one, in the pose shown."""
    world, skin = placement.world(world_of(document.skeleton, document.pose)), document.character.skin
    size = None if skin is None else skin.size_at(document.clip, document.frame)
    return OtherFigure(name, document.skeleton, world, lit, skin, size)


class Others:
    """The figures beside the active one, in its coordinates, cached until one changes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kept: dict[str, tuple[tuple[Document, Placement, bool], OtherFigure]] = {}

    def figures(self, hovered: str = "") -> tuple[OtherFigure, ...]:
        """Those that are not hidden; ``hovered`` is the name of the one under the pointer."""
        stage = self._session.stage
        if not stage.several:
            return ()
        own, found, kept = stage.placement[stage.active], [], self._kept
        self._kept = {}
        for index, document in enumerate(stage.documents):
            if index == stage.active or stage.hidden[index]:
                continue
            name = stage.names[index]
            placed, lit = stage.placement[index].seen_from(own), name == hovered
            key = (document, placed, lit)
            known = kept.get(name)
            if known is None or known[0][0] is not document or known[0][1:] != key[1:]:
                known = key, other_figure(name, document, placed, lit=lit)
            self._kept[name] = known
            found.append(known[1])
        return tuple(found)

    def beside(self) -> tuple[Beside, ...]:
        """Those that are not hidden, for a film."""
        stage = self._session.stage
        own = stage.placement[stage.active]
        return tuple(
            Beside(stage.names[index], document, stage.placement[index].seen_from(own))
            for index, document in enumerate(stage.documents)
            if index != stage.active and not stage.hidden[index]
        )

    def points(self) -> Floats:
        """(N, 3) joints and tips of all of them."""
        return np.concatenate([np.empty((0, 3)), *(other.points for other in self.figures())])
