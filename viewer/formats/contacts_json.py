"""Contacts files (JSON): when a figure's feet touch the ground, as ``ikviewer feet --json`` prints it.

Frames count from 0, and the last frame of a contact belongs to it. What the meter adds (slides, sums) may stay in the
file and is not read.
"""

from __future__ import annotations

from pathlib import Path

from viewer.errors import FormatError
from viewer.formats.files import read_file_or_pipe
from viewer.formats.json_reading import Json, decode
from viewer.formats.json_structs import ContactsFile
from viewer.motion.contacts import Contact, Contacts, FootContacts
from viewer.motion.skate import FootSkate, Skate


def read_contacts(path: Path, name: str, warnings: list[str] | None = None) -> Contacts:
    """Read a contacts file.

    Args:
        path: the file, or a pipe.
        name: its name for messages.
        warnings: receives a line for each unknown key.

    Raises:
        ViewerError: the file cannot be read or is refused.
    """
    data, unknown = decode(read_file_or_pipe(path, name), ContactsFile, "contacts", name)
    if warnings is not None:
        warnings += unknown
    feet = []
    for foot, entry in data.feet.items():
        rows = []
        for index, row in enumerate(entry.contacts):
            if row.end < row.start:
                problem = f"expected an end from {row.start} on, found {row.end}"
                raise FormatError(problem, file=name, path=f"feet.{foot}.contacts[{index}]")
            rows.append(Contact(row.point, row.start, row.end, row.ignored))
        feet.append(FootContacts(foot, entry.side or "", tuple(rows)))
    return Contacts(tuple(feet))


def skate_words(skate: Skate) -> dict[str, Json]:
    """The document that ``ikviewer feet --json`` prints; it is a contacts file, too."""
    return {
        "version": 1,
        "type": "contacts",
        "feet": {foot.name: _foot(foot) for foot in skate.feet},
        "slide_cm_s": skate.slide_cm_s,
        "drift_cm": skate.drift_cm,
        "mann": skate.mann,
        "skate_ratio": skate.skate_ratio,
        "penetration_mm": skate.penetration_mm,
    }


def _foot(foot: FootSkate) -> dict[str, Json]:
    rows: list[Json] = []
    for point, start, end, slide, drift, wanders in (
        (*row.contact[:3], row.slide_cm_s, row.drift_cm, row.wanders) for row in foot.contacts
    ):
        rows.append(
            {"point": point, "start": start, "end": end, "slide_cm_s": slide, "drift_cm": drift, "wanders": wanders}
        )
    return {"side": foot.side, "slide_cm_s": foot.slide_cm_s, "drift_cm": foot.drift_cm, "contacts": rows}
