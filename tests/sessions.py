"""Sessions on the bundled samples, and drags as a pointer makes them."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from inside.document import SetSolver
from inside.ik import Backend

import viewer
from viewer.document import Item, new_document, stand_of
from viewer.session import Session

if TYPE_CHECKING:
    from inside.spatial import Floats
    from numpy.typing import ArrayLike

    from viewer.document import Document
    from viewer.skeleton import Character

QUICK: Backend = "numpy" if find_spec("numba") is None else "numba"
HAND, FOOT = Item("effector", "LeftHand"), Item("effector", "LeftFoot")


@cache
def character(name: str) -> Character:
    """A bundled sample, loaded once."""
    return viewer.load(f"sample:{name}")


def session(name: str = "biped", backend: Backend = QUICK) -> Session:
    """A session on a bundled sample, with one backend: what is under test does not depend on kernels being ready."""
    made = Session(new_document(character(name)))
    made.dispatch(SetSolver(backend=backend))
    made.replace(made.document)
    return made


def place(document: Document, effector: str) -> Floats:
    """(3,) where an effector is."""
    return stand_of(document, document.goal(effector)).point


def shifted(document: Document, effector: str, way: ArrayLike) -> Floats:
    """(3,) a place beside an effector."""
    return np.asarray(place(document, effector) + np.asarray(way))


def target_of(document: Document, effector: str) -> Floats:
    """(3,) where an effector's target is."""
    position = document.goal(effector).position
    assert position is not None
    return np.array(position)


def drag(made: Session, item: Item, to: ArrayLike, *, ticks: int = 40) -> None:
    """Press, a straight line, and a rest at its end; without the release."""
    start = item_place(made.document, item)
    made.begin_drag((item,))
    for tick in range(ticks):
        part = min(1.0, 2.0 * (tick + 1) / ticks)
        made.gestures.drag_to({item: (start + part * (np.asarray(to) - start), None)})
        made.tick(tick / 60.0)


def item_place(document: Document, item: Item) -> Floats:
    """(3,) where an item is."""
    if item.kind == "effector":
        return place(document, item.name)
    return np.asarray(viewer.fk(document.skeleton, document.pose).positions[document.skeleton.index(item.name)])


def settled(made: Session, most: int = 200) -> int:
    """Tick until nothing moves; how many ticks that took."""
    for tick in range(most):
        if not made.tick(10.0 + tick / 60.0):
            return tick
    raise AssertionError(f"still moving after {most} ticks")
