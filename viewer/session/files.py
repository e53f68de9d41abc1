"""Session files (``*.ikv.json``): the whole document, to the last bit."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from viewer.document.document import Document
from viewer.errors import FormatError, InputError
from viewer.formats.files import decode_utf8, read_bytes, write_whole
from viewer.formats.json_reading import decode_typed, found, kind_of, parse
from viewer.formats.table import is_session
from viewer.session.action_log import ActionLog
from viewer.session.backup import SUFFIX, backed_up
from viewer.session.storage import version_1
from viewer.session.storage.arrays import check_packed, plain_number
from viewer.session.storage.documents import Kept, SessionData, document_data, document_of
from viewer.session.storage.motion import ClipsOfFile, MotionError, MotionFile, digest_of, find

__all__ = [
    "SUFFIX", "VERSION", "Kept", "MotionError", "MotionFile", "Opened", "Saved", "digest_on_disk", "is_session",
    "load_session", "open_session", "read_kept", "read_session", "save_session", "session_bytes",
]  # fmt: skip

VERSION = 2
"""The version that is written, and the newest that is read."""

_NO_OBJECT = "expected a JSON object"


class Saved(NamedTuple):
    """What saving has led to.

    Attributes:
        digest: SHA-256 of the file's bytes.
        problem: why no backup could be kept; "" where one is, or none is needed.
    """

    digest: str
    problem: str


def save_session(document: Document, path: str | Path, log: ActionLog | None = None) -> Saved:
    """Write a document, completely or not at all; what the file held before is kept as a backup beside it.

    Args:
        document: what is saved.
        path: of the file; see `viewer.session.backup.backup_of` for the backup's.
        log: the actions that led to the document, to be saved along with it.

    Raises:
        OutputError: it cannot be written; whatever stood there before still does, the backup too.
    """
    actions = None if log is None else log.written(last=document)
    content = session_bytes(document, actions=actions, folder=Path(os.path.realpath(path)).parent)
    with backed_up(Path(path), content) as problems:
        write_whole(Path(path), content)
    return Saved(hashlib.sha256(content).hexdigest(), "".join(problems))


def session_bytes(
    document: Document, kept: Kept | None = None, actions: msgspec.Raw | None = None, folder: Path | None = None
) -> bytes:
    """The contents of a session file, the motion included unless it is very large (`LARGEST_CARRIED`).

    Args:
        document: what is saved.
        kept: makes it a recovery file.
        actions: what led to the document.
        folder: of the session file; given, the file that the motion came from is named in it.
    """
    data = SessionData(document_data(document, folder), version=VERSION, kept=kept)
    if actions is not None:
        data.actions = actions
    return msgspec.json.encode(data, enc_hook=plain_number) + b"\n"


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A session file that was opened.

    Attributes:
        document: equal to the one that was saved.
        digest: SHA-256 of the file's bytes.
        motion: the motion's own file, where it is not as it was; the document has the motion all the same, or was
            asked for without.
    """

    document: Document
    digest: str
    motion: MotionFile | None = None


def open_session(path: str | Path, *, motion: bool = True) -> Opened:
    """Open a session file.

    Args:
        path: of the file.
        motion: False: without the motion where it is not in the session and its file is gone or has changed.

    Raises:
        InputError: the file cannot be read.
        MotionError: the motion is not in it, and the motion's file is gone or has changed.
        FormatError: it is no session, is damaged or from a later version.
    """
    place = Path(path)
    folder = Path(os.path.realpath(place)).parent
    try:
        data, digest = _read(place)
        character = data.document.character
        named = character.clips if isinstance(character.clips, ClipsOfFile) else character.file
        found = None if named is None else find(named, folder)
        changed = found if found is not None and found.problem else None
        without = changed is not None and character.file is None and not motion
        document = document_of(data.document, folder, motion=not without)
    except FormatError as error:
        error.file = error.file or str(path)
        raise
    return Opened(document if changed or found is None else _moved(document, found), digest, changed)


def load_session(path: str | Path) -> Document:
    """The document of a session file; raises as `open_session` does."""
    return open_session(path).document


def digest_on_disk(path: Path) -> str | None:
    """SHA-256 of a file's bytes as they are now; None where there is none, or none that can be read."""
    try:
        return digest_of(path)
    except InputError:
        return None


def _moved(document: Document, found: MotionFile) -> Document:
    """The document with the way to its motion file as it is now."""
    character, place = document.character, found.place
    source = character.source
    if place is None or (source.path is not None and os.path.realpath(source.path) == os.path.realpath(place)):
        return document
    return replace(document, character=replace(character, source=replace(source, path=str(place))))


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
    return _read(path)[0]


def _read(path: Path) -> tuple[SessionData, str]:
    """What a session file holds, and the digest of its bytes."""
    content = read_bytes(path, str(path))
    text = decode_utf8(content, str(path))
    try:
        head = msgspec.json.decode(text, type=_Head)
    except (msgspec.MsgspecError, RecursionError):
        head = _Head()
    _check_version(head.version, str(path))
    if head.document is None:
        raise _no_session(text, str(path))
    if head.version != VERSION:
        text = version_1.session(text)
    data = decode_typed(text, SessionData, str(path))
    try:
        check_packed(data, len(text), "document")
    except FormatError as error:
        error.file = str(path)
        raise
    return data, hashlib.sha256(content).hexdigest()


def _no_session(text: str, name: str) -> FormatError:
    try:
        tree = parse(text)
        what = f"this is a {kind_of(tree)} file; expected a session file" if isinstance(tree, dict) else _NO_OBJECT
    except FormatError as error:
        error.file = name
        return error
    return FormatError(what, file=name)


def _check_version(version: object, name: str) -> None:
    """Refuse files of later programs."""
    if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version <= VERSION:
        later = ": the file is from a later program" if isinstance(version, int) and version > VERSION else ""
        raise FormatError(f"expected {VERSION}, found {found(version)}{later}", file=name, path="version")


class _Head(msgspec.Struct):
    version: object = 0
    document: object = None
