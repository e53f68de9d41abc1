"""Session files (``*.ikv.json``): the whole document, to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from viewer.errors import FormatError
from viewer.formats.files import decode_utf8, read_bytes, write_whole
from viewer.formats.json_text import kind_of, parse
from viewer.formats.json_typed import decode_typed
from viewer.formats.json_words import found
from viewer.session.backup import backed_up
from viewer.session.storage.arrays import check_packed, plain_number
from viewer.session.storage.documents import document_data, document_of
from viewer.session.storage.structs import Kept, SessionData

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.session.script.tape import Tape

__all__ = [
    "SUFFIX", "VERSION", "Kept", "is_session", "load_session", "read_kept", "read_session", "save_session",
    "session_bytes",
]  # fmt: skip

SUFFIX = ".ikv.json"
VERSION = 1
"""The version that is written, and the newest that is read."""

_NO_OBJECT = "expected a JSON object"


def is_session(path: str | Path) -> bool:
    """Whether a file's name is that of a session."""
    return str(path).casefold().endswith(SUFFIX)


def save_session(document: Document, path: str | Path, tape: Tape | None = None) -> str:
    """Write a document, whole or not at all; what the file held before is kept as a backup beside it.

    Args:
        document: what is saved.
        path: of the file; see `viewer.session.backup.backup_of` for the backup's.
        tape: the actions that led to the document, to be saved along with it.

    Returns:
        Why no backup could be kept; "" where one is, or none is needed.

    Raises:
        OutputError: it cannot be written; whatever stood there before still does, the backup too.
    """
    content = session_bytes(document, actions=None if tape is None else tape.written(last=document))
    with backed_up(Path(path), content) as problems:
        write_whole(Path(path), content)
    return "".join(problems)


def session_bytes(document: Document, kept: Kept | None = None, actions: msgspec.Raw | None = None) -> bytes:
    """The contents of a session file; ``kept`` makes it a recovery file, ``actions`` are what led to the document."""
    data = SessionData(document_data(document), version=VERSION, kept=kept)
    if actions is not None:
        data.actions = actions
    return msgspec.json.encode(data, enc_hook=plain_number) + b"\n"


def load_session(path: str | Path) -> Document:
    """The document of a session file, equal to the one that was saved.

    Raises:
        InputError: the file cannot be read.
        FormatError: it is no session, is damaged or from a later version; a motion file that it names is gone.
    """
    place = Path(path)
    try:
        return document_of(read_session(place).document, place.resolve().parent)
    except FormatError as error:
        error.file = error.file or str(path)
        raise


def read_kept(path: Path) -> Kept:
    """What a recovery file says of itself.

    Raises:
        InputError: the file cannot be read.
        FormatError: it is no recovery file.
    """
    kept = read_session(path).kept
    if kept is None:
        raise FormatError("expected a recovery file, found a session", file=str(path))
    return kept


def read_session(path: Path) -> SessionData:
    """What a session file holds.

    Raises:
        InputError: the file cannot be read.
        FormatError: it is no session, is damaged or from a later version.
    """
    text = decode_utf8(read_bytes(path, str(path)), str(path))
    try:
        head = msgspec.json.decode(text, type=_Head)
    except (msgspec.MsgspecError, RecursionError):
        head = _Head()
    _check_version(head.version, str(path))
    if head.document is None:
        raise _no_session(text, str(path))
    data = decode_typed(text, SessionData, str(path))
    try:
        check_packed(data, len(text), "document")
    except FormatError as error:
        error.file = str(path)
        raise
    return data


def _no_session(text: str, name: str) -> FormatError:
    try:
        tree = parse(text)
        what = f"this is a {kind_of(tree)} file; expected a session file" if isinstance(tree, dict) else _NO_OBJECT
    except FormatError as error:
        error.file = name
        return error
    return FormatError(what, file=name)


def _check_version(version: object, name: str) -> None:
    """Refuse files of later programs; those from before versions were written, 0, have the form of 1."""
    if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version <= VERSION:
        later = ": the file is from a later program" if isinstance(version, int) and version > VERSION else ""
        raise FormatError(f"expected {VERSION}, found {found(version)}{later}", file=name, path="version")


class _Head(msgspec.Struct):
    version: object = 0
    document: object = None
