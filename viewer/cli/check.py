"""``ikviewer check``: can these files be used, and what is odd about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from viewer.cli.options import add_reading, load_input, print_text
from viewer.cli.progress import progress
from viewer.errors import ViewerError
from viewer.formats.load import READERS
from viewer.skeleton.violation import clip_violation

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from viewer.skeleton.character import Character

HELP = "check files: a line per file and finding; exit 1 if any is refused"
EXAMPLES = """examples:
  ikviewer check *.bvh
  ikviewer check captures/          (every file of a known suffix in the folder and below)"""

_OUTSIDE = 1e-3
"""Radians (metres for slides) past a limit that are worth a line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="files or folders")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check every file; a refused one does not stop the others."""
    refused = 0
    for file in progress(list(_files(arguments.files)), "check"):
        try:
            character = load_input(arguments, file, quiet=True)
        except ViewerError as error:
            refused += 1
            print_text(f"refused  {error}")
            continue
        for line in _findings(character):
            print_text(f"warning  {file}: {line}")
        frames = f"{len(character.clip)} frames" if character.clip else "no motion"
        print_text(f"ok       {file}: {len(character.skeleton)} joints, {frames}")
    return 1 if refused else 0


def _files(given: list[str]) -> Iterator[str]:
    """The files given, folders replaced by the files of known suffixes in them."""
    for name in given:
        path = Path(name)
        if not path.is_dir():
            yield name
            continue
        yield from sorted(str(file) for file in path.rglob("*") if file.suffix.casefold() in READERS and file.is_file())


def _findings(character: Character) -> Iterator[str]:
    yield from character.warnings
    clip = character.clip
    if clip is None or character.limits_from != "file":
        return
    outside = np.asarray(clip_violation(character.skeleton, clip) > _OUTSIDE)
    for joint in np.flatnonzero(outside.any(axis=0)).tolist():
        frames = int(outside[:, joint].sum())
        yield f'joint "{character.skeleton.names[joint]}" is outside its limits in {frames} of {len(clip)} frames'
