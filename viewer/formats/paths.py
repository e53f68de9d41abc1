"""Names of files as they are given to us."""

from __future__ import annotations

import os
from pathlib import Path

from viewer.errors import InputError, quote


def check_file(found: object) -> None:
    """Raise InputError unless it can be the name of a file."""
    if not isinstance(found, (str, os.PathLike)):
        raise InputError(f"expected the name of a file, found {quote(found)}")


def leads_to(output: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether what is written to ``output`` replaces the file ``other``: by a link, or in another case, too."""
    try:
        # `write_whole` resolves the name before it looks: GONE/../NAME is NAME to it.
        return Path(os.path.realpath(output)).samefile(other)
    except (OSError, ValueError):  # one of them is not there, or is no name of a file
        return False
