"""The skin of a session's figure: it stays in the file that it was read from, to which the session refers."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from viewer.errors import ViewerError, quote
from viewer.formats.load import load
from viewer.session.storage.motion_file import relative_path
from viewer.skeleton import Character, Skin

_SUFFIXES = (".glb", ".gltf", ".urdf", ".xml")
"""Not .xacro: opening a session carries out no program."""


class SkinOfFile(msgspec.Struct):
    """Reference to a file with a skin.

    Attributes:
        path: absolute path.
        relative: path from the session file's folder, with slashes.
    """

    path: str
    relative: str | None = None


def skin_reference(character: Character, folder: Path | None) -> SkinOfFile | None:
    """Reference to the file of a character's skin; None without a skin.

    Args:
        character: as read from its file.
        folder: of the session file: the reference has the relative path, too, so that both files can be moved together.
    """
    path = character.source.path
    if character.skin is None or path is None:
        return None
    location = Path(os.path.realpath(path))
    return SkinOfFile(str(location), None if folder is None else relative_path(location, folder))


def skin_of(named: SkinOfFile, folder: Path, names: tuple[str, ...]) -> tuple[Skin | None, tuple[str, ...]]:
    """The skin of a session's figure.

    Args:
        named: the session's reference.
        folder: of the session file.
        names: of the figure's joints, which the file has to have.

    Returns:
        The skin, or None and why there is none.
    """
    absolute = Path(named.path)
    candidates = ([] if named.relative is None else [folder / named.relative]) + [absolute, folder / absolute.name]
    problem = "is missing"
    for location in dict.fromkeys(Path(os.path.normpath(path)) for path in candidates):
        try:
            if location.suffix.casefold() not in _SUFFIXES or not location.is_file():
                continue
            found = load(location)
        except (ViewerError, OSError, ValueError) as error:
            problem = f"cannot be used: {error}"
            continue
        if found.skin is not None and found.skeleton.names == names:
            return found.skin, ()
        problem = "has other joints" if found.skin is not None else "has no skin"
    return None, (f"the skin is not shown: its file {quote(absolute.name)} {problem}",)
