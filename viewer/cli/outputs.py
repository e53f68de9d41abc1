"""The outputs of commands: names that may be written, characters saved, and what ``--json`` says of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from viewer.cli.console import Json, warn
from viewer.cli.job import Options, fields_of
from viewer.errors import InputError, quote
from viewer.formats.file_formats import format_of
from viewer.formats.files import leads_to
from viewer.formats.save import check_suffix, save
from viewer.skeleton import Character


def checked_output(name: str, suffixes: Sequence[str]) -> Path:
    """The path of a file to write.

    Raises:
        InputError: its suffix is not one of these.
    """
    path = Path(name)
    if path.suffix.casefold() not in suffixes:
        found = quote(path.suffix) if path.suffix else "no suffix"
        raise InputError(f"{name}: expected a name that ends in {', '.join(suffixes)}, found {found}")
    return path


def check_kept(output: str | Path | None, options: Options) -> None:
    """Refuse an output that would replace a file that the same command reads, also through links.

    Args:
        output: the file to be written, or None.
        options: of the command; its fields with `reads` name the inputs.

    Raises:
        InputError: the output is one of the inputs.
    """
    if output is None:
        return
    values = options.values()
    for field in fields_of(type(options)):
        read = values[field.name]
        files = read if isinstance(read, list) else [read] if isinstance(read, str) else []
        for file in files if field.reads else []:
            if leads_to(output, file):
                leads = "" if str(output) == file else f"leads to {file}, which "
                problem = "is read by this command and would be replaced: give the output another name"
                raise InputError(f"{output}: {leads}{problem}")


def character_output(name: str | Path, options: Options) -> Path:
    """The path of a file for a character.

    Raises:
        InputError: its suffix is not that of a format that can be written; the command reads the file.
    """
    output = Path(name)
    check_suffix(output)
    check_kept(output, options)
    return output


def saved(character: Character, output: Path, **how: Any) -> list[str]:  # noqa: ANN401 - arguments of `save`
    """Write a character; its warnings go to stderr, and are returned as they are printed."""
    warnings = [f"{output}: {warning}" for warning in save(character, output, **how)]
    warn(warnings)
    return warnings


def file_size(path: Path) -> int | None:
    """Bytes of a file that was written; None for a pipe or numbered pictures, which have no size."""
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None


def character_document(character: Character, output: Path, warnings: Sequence[str]) -> dict[str, Json]:
    """What ``--json`` says of a character that was written: the counts of `ikviewer info`, and the file's size."""
    form, clip = format_of(output), character.clip
    clips = [] if form.is_shape else list(character.clips)[: None if form.several_clips else 1]
    return {
        "output": str(output),
        "bytes": file_size(output),
        "joints": 0 if form.is_shape else len(character.skeleton),
        "frames": len(clip) if clip and clips else int(form.always_a_frame),
        "frame_time": clip.frame_time if clip and clips else None,
        "clips": [*clips],
        "warnings": list(warnings),
    }
