"""Progress bars: on stderr, when it is a terminal, for what takes more than a second."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")

_DELAY = 1.0


def progress(items: Sequence[T], label: str) -> Iterable[T]:
    """The items, with a bar that appears after a second."""
    if not sys.stderr.isatty():
        return items
    from tqdm import tqdm  # only a terminal pays for its import

    bar: Iterable[T] = tqdm(items, desc=label, delay=_DELAY, leave=False, file=sys.stderr)
    return bar
