"""Names of films: the suffix says the format, numbered pictures have a place for their number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from viewer.ui.film import form_of

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.ui.film import FilmFormat

DIGITS = 4
"""Of the numbers of pictures, unless the name says how many."""

_HASHES = re.compile(r"#+")
_PLACE = re.compile(r"%0?(\d*)d")


def film_name(typed: str, form: FilmFormat) -> str:
    """A name with the suffix of a format; for pictures with a place for the number, in C's way: ``walk_%04d.png``.

    A row of ``#`` is such a place, too; where there is none, four digits go to the end.
    """
    stem = without_suffix(typed.strip())
    if form != "png":
        return f"{stem}.{form}"
    if len(_PLACE.findall(stem)) != 1 or stem.count("%") != 1:
        rows = _HASHES.findall(stem)
        stem = stem.replace("%", "%%")
        stem = stem.replace(rows[-1], f"%0{len(rows[-1])}d", 1) if len(rows) == 1 else f"{stem}_%0{DIGITS}d"
    return f"{stem}.{form}"


def without_suffix(name: str) -> str:
    """A name without the suffix of a film, if it has one."""
    form = form_of(name)
    return name[: -len(form) - 1] if form else name


def shown_name(name: str, form: FilmFormat) -> str:
    """What a person reads and types: ``walk.mp4``, ``walk_####.png``; from a name with or without a suffix."""
    whole = film_name(name, form)
    if form != "png":
        return whole
    return _PLACE.sub(lambda found: "#" * int(found.group(1) or 1), whole).replace("%%", "%")


def renamed(typed: str, form: FilmFormat) -> str:
    """What was typed, for another format: the numbers' place comes and goes with it."""
    stem = without_suffix(typed.strip())
    if form == "png":
        return shown_name(stem, form)
    return f"{re.sub(r'[_.-]?#+$', '', stem)}.{form}"


def files_of(path: Path, pictures: int) -> list[Path]:
    """The files that a film is written to."""
    if not path.name.casefold().endswith(".png"):
        return [path]
    return [path.with_name(path.name % number) for number in range(pictures)]


def there_already(path: Path, pictures: int) -> str:
    """Of a film's files those that exist, as a question: ``walk.mp4 exists. Replace it?``; "" where none does."""
    if not path.name.casefold().endswith(".png"):
        return f"{path.name} exists. Replace it?" if path.exists() else ""
    try:
        here = {entry.name for entry in path.parent.iterdir()}
    except OSError:  # what is wrong with the folder is said by the writing
        return ""
    found = [file.name for file in files_of(path, pictures) if file.name in here]
    if len(found) == 1:
        return f"{found[0]} exists. Replace it?"
    return f"{len(found)} of these {pictures} pictures exist. Replace them?" if found else ""
