"""What a drag does to selection and handles when it begins and when it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from viewer.session.actions.targets import with_handle
from viewer.session.measuring import measured
from viewer.session.standing import stand_of
from viewer.session.wanting import held
from viewer.skeleton.effectors import find_place

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.session.values import Item


def taken_up(document: Document, items: tuple[Item, ...]) -> Document:
    """What is dragged is selected, unless it is part of what is; effectors that are off are switched on."""
    if not all(item in document.selection for item in items):
        document = replace(document, selection=items)
    for item in items:
        if item.kind == "effector" and not document.handle(item.name).on:
            document = with_handle(document, held(document, document.handle(item.name)))
    return document


def let_go(start: Document, document: Document, joints: list[int]) -> Document:
    """The document after dragged joints were let go of: what gave way to them is held where it is now.

    These are the handles of those very joints, and holds that were met before and cannot be met any more. Pins stay
    where they are, and so do targets that were missed before.
    """
    before, now = ({name for name, error in measured(some).items() if not error.reached} for some in (start, document))
    for handle in document.handles:
        if not handle.stands:
            continue
        own = find_place(document.skeleton, handle.effector).joint in joints
        gave_way = handle.effector in now - before and not handle.pinned
        if own or gave_way:
            stand = stand_of(document.skeleton, document.pose, handle)
            kept = handle.rotation if own and handle.pin_rotation else None
            document = with_handle(document, handle.standing_at(stand.position, kept or stand.rotation))
    return document
