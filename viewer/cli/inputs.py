"""What a command reads stays as it is: no output takes the place of an input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.errors import InputError
from viewer.formats.paths import leads_to

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

READ = ("file", "goals", "rig", "pose", "from_pose", "prefer", "script")
"""The arguments of all commands that name, or may name, a file that is read."""


def check_kept(output: str | Path | None, arguments: argparse.Namespace) -> None:
    """Refuse to write over what the same command reads, by whatever name: it would be gone, and nobody asked for that.

    Args:
        output: what is to be written, if anything.
        arguments: of the command; those called as in `READ` are looked at.

    Raises:
        InputError: the output is one of them.
    """
    if output is None:
        return
    for name in READ:
        read = getattr(arguments, name, None)
        if read is not None and leads_to(output, read):
            leads = "" if str(output) == read else f"leads to {read}, which "
            problem = "is read by this command and would be replaced: give the output another name"
            raise InputError(f"{output}: {leads}{problem}")
