"""Keys that actions are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.errors import InputError, quote
from viewer.session.take.values import Key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.session.document import Document
    from viewer.session.take.values import Take

    Keys = tuple[Key, ...]


def present_take(document: Document) -> Take:
    """The document's take.

    Raises:
        InputError: there are no keys.
    """
    if document.take is None or document.take.is_empty:
        raise InputError("there are no keys")
    return document.take


def checked_keys(document: Document, keys: Sequence[tuple[int, int]]) -> Keys:
    """Keys that there are, each once.

    Raises:
        InputError: what is no key, or is not there.
    """
    take, found = present_take(document), []
    for entry in keys:
        try:
            joint, frame = (int(number) for number in entry)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"key: expected a joint's index and a frame, found {quote(entry)}") from None
        key = Key(joint, frame)
        if not take.has(key):
            known = 0 <= joint < len(document.skeleton)
            name = quote(document.skeleton.names[joint]) if known else f"number {joint}"
            raise InputError(f"no key of joint {name} at frame {frame}")
        found.append(key)
    return tuple(dict.fromkeys(found))


def counted(keys: Sequence[object], verb: str) -> str:
    """``Move key``, ``Move 3 keys``."""
    return f"{verb} key" if len(keys) == 1 else f"{verb} {len(keys)} keys"


def last_frame(document: Document) -> int | None:
    """The last frame that can have a key; None: a take on no clip grows."""
    return None if document.clip_data is None else len(document.clip_data) - 1
