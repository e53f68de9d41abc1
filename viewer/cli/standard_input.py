"""``-`` as a FILE: a skeleton on standard input, its format found from how it begins."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from viewer.skeleton.character import Character

SIGN = "-"
STEM = "stdin"
"""Stands for the name of the file that a skeleton on standard input is from."""


def is_standard_input(file: str) -> bool:
    """Whether a FILE is standard input."""
    return file == SIGN


def load_standard_input(units: str = "auto", up: str = "auto") -> Character:
    """The character on standard input; arguments and errors are those of `viewer.load`."""
    from viewer.formats.load import load

    return load(SIGN, units=units, up=up)


@contextlib.contextmanager
def as_file(name: str) -> Iterator[Path]:
    """The path of a FILE; of ``-`` that of a temporary file with what is on standard input.

    Raises:
        InputError: nothing is on standard input.
    """
    from pathlib import Path

    from viewer.formats.load import in_a_file, read_standard_input

    if not is_standard_input(name):
        yield Path(name)
        return
    with in_a_file(read_standard_input(), STEM) as path:
        yield path
