"""A file dialog that is open: the folder that it lists, the name that is typed, and what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.app.panels.folder import Entry, listed, means_folder, meant, places
from viewer.app.widgets.fields import FOCUS
from viewer.errors import quote
from viewer.session.files import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.app.panels.export_rows import ExportState

NO_NAME = "Give the file a name"
_SUFFIX = re.compile(r"\.(?=.*[A-Za-z])[A-Za-z0-9_-]+")
"""What is meant as a suffix: that of ``walk v1.2`` is none."""


def has_suffix(name: str) -> bool:
    """Whether what stands after the last point of a name is meant as a suffix."""
    return _SUFFIX.fullmatch(Path(name).suffix) is not None


@dataclass(slots=True)
class State:
    """An open file dialog.

    Attributes:
        title: what it is for.
        action: the word on its button.
        suffixes: of the files listed; the first is added to a name without one.
        done: gets the path that was chosen; False: that did not work, and why is in the last message.
        saving: a name is asked for; else a file that exists.
        samples: recent files and samples are at hand, too.
        folder: whose contents are listed.
        typed: in the path field.
        name: of the file.
        entries: of the folder.
        problem: why the folder, or the name, will not do.
        replacing: the file that was asked about because it exists.
        places: folders that are always at hand.
        fresh: the field of the name is to take the keyboard: see `take_keyboard`.
        export: what to write and how, where a figure is exported.
        stepped: the arrow keys have marked another entry.
        asks: what is asked before a file that exists is replaced.
    """

    title: str
    action: str
    suffixes: tuple[str, ...]
    done: Callable[[Path], object]
    saving: bool = False
    samples: bool = False
    folder: Path = field(default_factory=Path.cwd)
    typed: str = ""
    name: str = ""
    entries: list[Entry] = field(default_factory=list)
    problem: str = ""
    replacing: Path | None = None
    places: list[tuple[str, Path]] = field(default_factory=places)
    fresh: int = FOCUS
    asks: Callable[[Path], str] = lambda path: f"{path.name} exists. Replace it?"
    export: ExportState | None = None
    stepped: bool = False

    def step(self, by: int) -> str:
        """Mark the entry so many rows further down, from the first on; its name. To save, names of files alone."""
        names = [entry.name for entry in self.entries if not (self.saving and entry.folder)]
        if names:
            place = names.index(self.name) + by if self.name in names else 0
            self.name = names[min(max(place, 0), len(names) - 1)]
            self.replacing, self.problem, self.stepped = None, "", True
        return self.name

    def go(self, folder: Path) -> None:
        """List a folder."""
        if not self.saving:
            self.name, self.fresh = "", FOCUS
        self.folder = folder
        self.typed = str(folder)
        self.entries, self.problem = listed(folder, self.suffixes)
        self.replacing = None

    @property
    def path(self) -> Path:
        """What is chosen; a name to save under gets the first suffix if it has none of them."""
        path = meant(self.name, self.folder)
        whole = not self.saving or self._named(path) or means_folder(self.name)
        return path if whole else path.with_name(path.name + self.suffixes[0])

    @property
    def unnamed(self) -> bool:
        """Whether there is no name yet to save under."""
        return self.saving and not self.name.strip().strip('"')

    @property
    def refused(self) -> str:
        """Why nothing can be saved under the name: it is none, or its suffix asks for a format that there is not."""
        if self.unnamed:
            return NO_NAME
        path = meant(self.name, self.folder)
        if self.saving and means_folder(self.name):
            return "" if path.is_dir() else f"{path}: no such folder"
        known = not self.saving or self.suffixes == (SUFFIX,) or self._named(path)
        if known or path.is_dir() or not has_suffix(path.name):
            return ""
        return f"{quote(path.suffix)} is no format to save in: expected {', '.join(self.suffixes)}"

    def _named(self, path: Path) -> bool:
        return path.name.casefold().endswith(self.suffixes)
