"""Loading: a path or ``sample:NAME`` -> Character, the reader chosen by the file's suffix."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from viewer.errors import FormatError, InputError, one_line, quote, unknown_name
from viewer.formats.bounds import check_character
from viewer.formats.files import check_file
from viewer.formats.units import check_units, check_up
from viewer.resources import data_dir
from viewer.skeleton.character import Character, Source
from viewer.skeleton.tree import chain

SAMPLE = "sample:"
SAMPLE_UNITS = "cm"
"""Units of the bundled BVH files; Y is up in them."""


def _bvh(path: Path, name: str, units: str, up: str) -> Character:
    from viewer.formats.bvh.reader import read_bvh

    return read_bvh(path, name, units=units, up=up)


def _json(path: Path, name: str, units: str, up: str) -> Character:
    from viewer.formats.skeleton_json import read_skeleton_json

    return read_skeleton_json(path, name, units=units, up=up)


def _npz(path: Path, name: str, _units: str, _up: str) -> Character:
    from viewer.formats.npz import read_npz

    return read_npz(path, name)


def _gltf(path: Path, name: str, units: str, up: str) -> Character:
    from viewer.formats.gltf.read import read_gltf

    return read_gltf(path, name, units=units, up=up)


# The readers are imported when they are needed: a BVH file does not pay for the JSON validator.
READERS: dict[str, Callable[[Path, str, str, str], Character]] = {
    ".bvh": _bvh,
    ".json": _json,
    ".npz": _npz,
    ".glb": _gltf,
    ".gltf": _gltf,
}
"""Readers by suffix: (path, name for messages, units, up) -> Character. A new format is a line here."""
WRITTEN_ONLY = (".csv", ".usda", ".usdc", ".obj", ".stl", ".ply")
"""Suffixes of files that cannot be read back: they lack what makes a skeleton, or hold it in another way."""


def load(file: str | os.PathLike[str], *, units: str | float = "auto", up: str = "auto") -> Character:
    """Load a skeleton with its motion.

    Args:
        file: a BVH, JSON, NPZ or glTF file, or ``sample:NAME`` for a bundled one (``sample:chain-N``: N links).
        units: what one unit of the file is: "auto" (JSON says it, BVH is guessed from the figure's size), "m", "cm",
            "mm", "inch", "raw" (one unit is one metre, the axes stay) or metres per unit.
        up: which axis is up in the file: "auto", "y" or "z".

    Returns:
        Metres, Y up; ``source`` remembers the file's own units, axes and channels.

    Raises:
        ViewerError: the file cannot be read, or is refused; the message says where and why.
    """
    check_file(file)
    name = str(file)
    units, up = check_units(units), check_up(up)
    if name.startswith(SAMPLE):
        return _sample(name, units, up)
    path = Path(file)
    reader = READERS.get(path.suffix.casefold())
    if reader is None:
        if name and path.is_dir():
            raise InputError(f"{name}: expected a file, found a folder")
        found = quote(path.suffix) if path.suffix else "no suffix"
        if path.suffix.casefold() in WRITTEN_ONLY:
            found += ", which is written only"
        raise InputError(f"{name or quote(name)}: expected a name that ends in {', '.join(READERS)}, found {found}")
    try:
        character = check_character(reader(path, name, units, up), name)
    except InputError as error:
        if str(error).startswith(f"{name}: "):  # of the file, not of what is in it
            raise
        raise FormatError(str(error), file=name) from error
    return replace(character, warnings=tuple(one_line(warning) for warning in character.warnings))


def sample_names() -> list[str]:
    """Names of the bundled samples, without ``sample:``; `chain-N` is not among them."""
    return sorted(path.stem for path in _sample_files())


def _sample_files() -> list[Path]:
    files = data_dir("skeletons").iterdir()
    return [path for path in files if path.suffix in READERS and not path.name.endswith(".schema.json")]


def _sample(name: str, units: str, up: str) -> Character:
    wanted = name.removeprefix(SAMPLE)
    links = re.fullmatch(r"chain-([0-9]{1,9})", wanted)
    if links:
        skeleton = chain(int(links.group(1)))
        return Character(skeleton, source=Source(path=name, joint_order=tuple(range(len(skeleton)))))
    path = next((path for path in _sample_files() if path.stem == wanted), None)
    if path is None:
        raise InputError(unknown_name("sample", wanted, [*sample_names(), "chain-N"]))
    if path.suffix == ".bvh":  # the format does not say, we do: nothing is to be guessed of files of ours
        units, up = SAMPLE_UNITS if units == "auto" else units, "y" if up == "auto" else up
    character = check_character(READERS[path.suffix](path, wanted, units, up), wanted)
    return replace(character, source=replace(character.source, path=name))
