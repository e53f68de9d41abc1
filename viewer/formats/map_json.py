"""Map files (JSON): which joint of a motion stands for which of another skeleton, and where both are neutral."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from viewer.errors import FormatError, quote
from viewer.formats.files import read_file_or_pipe, write_whole
from viewer.formats.json_reading import block_object, compact, decode
from viewer.formats.json_structs import MapFile
from viewer.skeleton.joint_map import Map, Reference

_WORDS = ("auto", "rest")


class StatedMap(NamedTuple):
    """What a map file states.

    Attributes:
        pairs: the target's joints by the source's; None: that joint has no partner. Joints that are not here are paired
            as without a map.
        source_reference: "auto", "rest" or a frame.
        target_reference: "auto", "rest" or a frame.
    """

    pairs: Mapping[str, str | None]
    source_reference: Reference = "auto"
    target_reference: Reference = "auto"


def read_map(path: Path, name: str, warnings: list[str] | None = None) -> StatedMap:
    """Read a map file.

    Args:
        path: the file, or a pipe.
        name: its name for messages.
        warnings: receives a line for each unknown key.

    Raises:
        ViewerError: the file cannot be read or is refused.
    """
    return map_from_text(read_file_or_pipe(path, name), name, warnings)


def map_from_text(text: str, file: str, warnings: list[str] | None = None) -> StatedMap:
    """What the text of a map file states; arguments are those of `read_map`.

    Raises:
        FormatError: not JSON, or its contents are refused.
    """
    data, unknown = decode(text, MapFile, "map", file)
    if warnings is not None:
        warnings += unknown
    references: list[Reference] = ["auto", "auto"]
    if data.reference is not None:
        for index, (side, value) in enumerate((("source", data.reference.source), ("target", data.reference.target))):
            frame = int(value) if isinstance(value, (int, float)) and value >= 0 and value == int(value) else None
            if frame is None and value not in _WORDS:
                found = quote(value) if isinstance(value, str) else value
                raise FormatError(
                    f'expected "auto", "rest" or a frame, found {found}', file=file, path=f"reference.{side}"
                )
            references[index] = str(value) if frame is None else frame
    return StatedMap(MappingProxyType(data.pairs), *references)


def map_to_json(found: Map) -> str:
    """The text of a map file with all pairs; joints that a user left without a partner have null."""
    pairs: dict[str, str | None] = dict(found.pairs)
    pairs |= dict.fromkeys(sorted(found.by_hand - found.pairs.keys()))
    items = {"version": compact(1), "type": compact("map")}
    items["pairs"] = block_object({name: compact(other) for name, other in pairs.items()}, " ")
    items["reference"] = compact({"source": found.source_reference, "target": found.target_reference})
    return block_object(items) + "\n"


def write_map(found: Map, path: Path) -> None:
    """Write a map file, whole or not at all.

    Raises:
        OutputError: it cannot be written.
    """
    write_whole(path, map_to_json(found))
