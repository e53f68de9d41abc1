"""Names of files as they are given to us."""

from __future__ import annotations

import os
from pathlib import Path

from viewer.errors import InputError, quote


def check_file(found: object) -> None:
    """Raise InputError unless it can be the name of a file."""
    if not isinstance(found, (str, os.PathLike)):
        raise InputError(f"expected the name of a file, found {quote(found)}")


def same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two names lead to one file that is there: by links, or in another case where that is the same, too."""
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):  # one of them is not there, or is no name of a file
        return False
