"""``-`` as a FILE: a skeleton that another program hands over, its format told by how it begins."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from viewer.errors import InputError, OutputError, quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from viewer.skeleton.character import Character

SIGN = "-"
STEM = "stdin"
"""What a skeleton is called that has no name, and stands for the name of its file."""
_MOST_SHOWN = 24


def is_standard_input(file: str) -> bool:
    """Whether a name stands for what is handed over."""
    return file == SIGN


def load_standard_input(units: str = "auto", up: str = "auto") -> Character:
    """The character on standard input; ``units`` and ``up`` as `viewer.load` takes them.

    Raises:
        InputError: nothing is handed over, or nothing that has a skeleton.
        ViewerError: it is refused.
    """
    from dataclasses import replace
    from types import MappingProxyType

    from viewer.formats.load import READERS

    data = read_standard_input()
    suffix = _suffix_of(data)
    # The readers take files: what they bound, count and refuse holds here as well.
    with _in_a_file(data, STEM + suffix) as path:
        character = READERS[suffix](path, SIGN, units, up)
    skeleton = character.skeleton
    if skeleton.name == SIGN:
        skeleton = replace(skeleton, name=STEM)
    clips = {STEM if name == SIGN else name: clip for name, clip in character.clips.items()}
    clips = {name: clip if clip.name == name else replace(clip, name=name) for name, clip in clips.items()}
    source = replace(character.source, path=None)
    return replace(character, skeleton=skeleton, clips=MappingProxyType(clips), source=source)


def read_standard_input() -> bytes:
    """All that is handed over.

    Raises:
        InputError: it is a terminal, closed, or more than a file may have.
    """
    from viewer.formats.files import LARGEST_FILE, reason

    stream = getattr(sys.stdin, "buffer", None)
    if stream is None or stream.isatty():
        raise InputError(f"{SIGN}: expected a file handed over by < or |, found {'the terminal' if stream else 'none'}")
    try:
        data: bytes = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(f"{SIGN}: {reason(error)}") from error
    if len(data) > LARGEST_FILE:
        raise InputError(f"{SIGN}: expected at most {LARGEST_FILE:,} bytes, found more")
    return data


@contextlib.contextmanager
def as_file(name: str) -> Iterator[Path]:
    """The file of a name; of ``-`` one that holds, for now, what is handed over."""
    from pathlib import Path

    if not is_standard_input(name):
        yield Path(name)
        return
    with _in_a_file(read_standard_input(), STEM) as path:
        yield path


@contextlib.contextmanager
def _in_a_file(data: bytes, name: str) -> Iterator[Path]:
    import tempfile
    from pathlib import Path

    from viewer.formats.files import reason

    with contextlib.ExitStack() as stack:
        try:
            path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ikviewer-"))) / name
            path.write_bytes(data)
        except OSError as error:
            raise OutputError(f"{SIGN}: cannot be put into a temporary file: {reason(error)}") from error
        yield path


def _suffix_of(data: bytes) -> str:
    """The suffix of the format that the bytes are in."""
    if data.startswith(b"glTF"):
        return ".glb"
    if data.startswith(b"PK\x03\x04"):
        return ".npz"
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:9].upper() == b"HIERARCHY":
        return ".bvh"
    if start.startswith(b"{"):
        return ".gltf" if _is_gltf(start) else ".json"
    if not start:
        raise InputError(f"{SIGN}: it is empty; expected a skeleton as BVH, JSON, GLB or NPZ")
    found = quote(start[:_MOST_SHOWN].decode("utf-8", "replace"))
    raise InputError(f"{SIGN}: expected a skeleton as BVH, JSON, GLB or NPZ, found {found}")


def _is_gltf(data: bytes) -> bool:
    """Whether a JSON document is glTF: that has an "asset", of which no skeleton file of ours knows."""
    import msgspec

    try:
        return "asset" in msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
