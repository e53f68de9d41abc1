"""Loading: a path or ``sample:NAME`` -> Character, the reader chosen by the file's suffix."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from viewer.errors import FormatError, InputError, OutputError, one_line, quote, reason, unknown_name
from viewer.formats.bounds import check_character
from viewer.formats.file_formats import (
    FORMATS,
    READ,
    SAMPLE,
    STANDARD_INPUT,
    STDIN_STEM,
    FormatWord,
    LimitSource,
    UpWord,
    check_units,
    check_up,
    format_of,
    unread,
)
from viewer.formats.files import LARGEST_FILE, check_file, data_dir, read_standard_input
from viewer.formats.limit_sources import AUTO, with_limits
from viewer.skeleton import Character, Source
from viewer.skeleton.tree import chain

_HEAD = 1 << 16
"""Bytes of a file in which its first element is."""
_MOST_SHOWN = 24
"""Bytes of unknown contents that a message shows."""
SAMPLE_UNITS = "cm"
"""Units of the bundled BVH files; Y is up in them."""


def load(
    file: str | os.PathLike[str] | None = None,
    *,
    text: str | bytes | None = None,
    format: FormatWord | None = None,  # noqa: A002 - the word that users look for
    units: str | float = "auto",
    up: UpWord = "auto",
    limits: Literal["auto"] | LimitSource = "auto",
    meshes: bool = True,
) -> Character:
    """Load a skeleton with its motion.

    Args:
        file: its suffix says the format, as docs/files.md lists them; ``sample:NAME`` for a bundled one
            (``sample:chain-N``: N links); ``-`` for standard input.
        text: the contents of such a file, instead of ``file``.
        format: a suffix without its dot, such as "bvh", of ``text`` or standard input; found from their first bytes
            unless given.
        units: what one unit of the file is: "auto" (JSON says it, BVH is guessed from the figure's size), "m", "cm",
            "mm", "inch", "raw" (one unit is one metre, the axes stay) or metres per unit.
        up: which axis is up in the file: "auto", "y" or "z".
        limits: where the limits of the joints come from: "auto" (the file, else "human+clip" for a recognised human,
            else "clip"), "file", "human+clip" (what either allows), "human" (anatomical ones), "clip" (the ranges of
            the motion, widened by 20 degrees) or "none".
        meshes: False leaves the mesh files of a robot (URDF, xacro) unread: it has no skin, and loads in milliseconds.

    Returns:
        Metres, Y up; ``source`` remembers the file's own units, axes and channels.

    Raises:
        ViewerError: the file cannot be read, or is refused; the message says where and why.
    """
    character = _load(file, text, format, units, up, meshes=meshes)
    return character if limits == AUTO else with_limits(character, limits)


def _load(
    file: str | os.PathLike[str] | None,
    text: str | bytes | None,
    form: str | None,
    units: str | float,
    up: str,
    *,
    meshes: bool,
) -> Character:
    units, up = check_units(units), check_up(up)
    if text is not None:
        if file is not None:
            raise InputError("load: expected a file or a text, found both")
        if not isinstance(text, str | bytes | bytearray):
            raise InputError(f"load: text: expected str or bytes, found {quote(text)}")
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
        return load_data(data, "text", form, units=units, up=up)
    if file is None:
        raise InputError("load: expected a file or a text, found neither")
    check_file(file)
    name = str(file).encode("utf-8", "replace").decode()  # a name that is not UTF-8 has halves of surrogate pairs
    if name == STANDARD_INPUT:
        return load_data(read_standard_input(), name, form, units=units, up=up)
    if form is not None:
        raise InputError(f"load: format: expected none with a file, whose name says it, found {quote(form)}")
    if name.startswith(SAMPLE):
        return _sample(name, units, up)
    path = Path(file)
    if path.suffix.casefold() not in READ:
        raise unread(path, READ, name)
    return _read(path, name, units, up, meshes=meshes)


def _read(path: Path, name: str, units: str, up: str, *, meshes: bool = True) -> Character:
    """The character of a file whose suffix is known; ``name`` is the file's in messages."""
    try:
        character = check_character(format_of(path).read(path, name, units, up, meshes=meshes), name)
    except InputError as error:
        if str(error).startswith(f"{one_line(name)}: "):  # the message is about the file, not its contents
            raise
        raise FormatError(str(error), file=name) from error
    return replace(character, warnings=tuple(one_line(warning) for warning in character.warnings))


def load_data(data: bytes, name: str, form: str | None, *, units: str, up: str) -> Character:
    """Load the contents of a file; of standard input, skeletons without a name are called `STDIN_STEM`.

    ``form`` is a suffix of `READ` without its dot; None: found from the first bytes.
    """
    if form is not None and f".{form}" not in READ:
        known = ", ".join(suffix[1:] for suffix in READ)
        raise InputError(f"load: format: expected one of {known}, found {quote(form)}")
    if len(data) > LARGEST_FILE:
        raise InputError(f"{name}: expected at most {LARGEST_FILE:,} bytes, found more")
    suffix = suffix_of(data, name) if form is None else f".{form}"
    stem = STDIN_STEM if name == STANDARD_INPUT else name
    # The readers take files, so their checks of size and contents apply here too.
    with in_a_file(data, stem + suffix, name) as path:
        character = _read(path, name, units, up)
    skeleton = character.skeleton
    if skeleton.name == name != stem:
        skeleton = replace(skeleton, name=stem)
    clips = {stem if own == name else own: clip for own, clip in character.clips.items()}
    return replace(character, skeleton=skeleton, clips=clips, source=replace(character.source, path=None))


@contextmanager
def in_a_file(data: bytes, file: str, name: str) -> Iterator[Path]:
    """Write contents to a temporary file of that name, which is deleted afterwards; ``name`` begins messages."""
    with ExitStack() as stack:
        try:
            path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ikviewer-"))) / file
            path.write_bytes(data)
        except OSError as error:
            raise OutputError(f"{name}: cannot be put into a temporary file: {reason(error)}") from error
        yield path


def suffix_of(data: bytes, name: str) -> str:
    """The suffix of the format that the first bytes of a file show; ``name`` begins messages."""
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"{"):
        return ".gltf" if _is_gltf(start) else ".json"
    signed = [form for form in FORMATS if form.sign]
    for form in signed:
        if start.startswith(b"<") and form.sign.startswith(b"<"):
            if form.sign in start[:_HEAD]:
                return form.suffix
        elif start[: len(form.sign)].upper() == form.sign.upper():
            return form.suffix
    *names, last = (form.name for form in signed)
    expected = f"expected a skeleton as {', '.join(names)} or {last}"
    if not start:
        raise InputError(f"{name}: it is empty; {expected}")
    raise InputError(f"{name}: {expected}, found {quote(start[:_MOST_SHOWN].decode('utf-8', 'replace'))}")


def _is_gltf(data: bytes) -> bool:
    """Whether a JSON document is glTF: glTF requires the key "asset", which skeleton files do not have."""
    import msgspec  # noqa: PLC0415 - only text without a suffix needs it

    try:
        return "asset" in msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False


def sample_names() -> list[str]:
    """Names of the bundled samples, without ``sample:`` and without `chain-N`, which is made on demand."""
    return sorted(path.stem for path in _sample_files())


def _sample_files() -> list[Path]:
    files = data_dir("skeletons").iterdir()
    return [path for path in files if path.suffix in READ and not path.name.endswith(".schema.json")]


def _sample(name: str, units: str, up: str) -> Character:
    wanted = name.removeprefix(SAMPLE)
    links = re.fullmatch(r"chain-([0-9]{1,9})", wanted)
    if links:
        skeleton = chain(int(links.group(1)))
        return Character(skeleton, source=Source(path=name, joint_order=tuple(range(len(skeleton)))))
    path = next((path for path in _sample_files() if path.stem == wanted), None)
    if path is None:
        raise InputError(unknown_name("sample", wanted, [*sample_names(), "chain-100"]))
    if path.suffix == ".bvh":  # BVH states no units, but those of the bundled files are known
        units, up = SAMPLE_UNITS if units == "auto" else units, "y" if up == "auto" else up
    character = _read(path, wanted, units, up)
    return replace(character, source=replace(character.source, path=name))
