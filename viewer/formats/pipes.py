"""Texts that another program hands over through a pipe: ``<(program)`` of a shell, ``/dev/stdin``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.errors import InputError
from viewer.formats.files import decode_utf8, read_text, reason

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_TEXT = 1 << 26
"""Bytes that are taken from a pipe: 64 MiB, goals without number."""


def read_file_or_pipe(path: Path, name: str) -> str:
    """The text of a UTF-8 file, or all that comes through a pipe: whoever names one is ready to wait for its writer.

    Args:
        path: the file or pipe.
        name: what the user called it, for messages.

    Raises:
        InputError: missing, a folder or device, no permission, too large.
        FormatError: not UTF-8.
    """
    try:
        is_pipe = path.is_fifo()
    except OSError:  # a name that is too long: reading it says so
        is_pipe = False
    if not is_pipe:
        return read_text(path, name)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_TEXT + 1)
    except OSError as error:
        raise InputError(f"{name}: {reason(error)}") from error
    if len(data) > LARGEST_TEXT:
        raise InputError(f"{name}: expected at most {LARGEST_TEXT:,} bytes, found more")
    return decode_utf8(data, name)
