"""Session files (``*.ikv.json``): the whole document, to the last bit, and the backup beside each.

Those of version 1, and those from before versions were written, are converted to the present version. There, each
effector had one goal, its "handle", whose kind was "off" if disabled; goals had no ids. The layout of a BVH file
was in two entries of the source, and mobility was called spread. Recorded actions called goals handles; their digests
of all but the pose had fewer fields and are dropped.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from viewer.document import Document
from viewer.errors import FormatError, InputError, ViewerError, of_file, reason
from viewer.formats.file_formats import SESSION_SUFFIX, is_session
from viewer.formats.files import decode_utf8, read_bytes, temporary_name, write_whole
from viewer.formats.json_reading import decode_typed, found, kind_of, parse
from viewer.session.action_log import ActionLog
from viewer.session.figures import Arrangement, with_active
from viewer.session.serialiser import check_packed, plain_number
from viewer.session.stored_characters import ClipsOfFile, MotionError, MotionFile, file_digest, find
from viewer.session.stored_documents import Kept, SessionData, arrangement_of, document_data, document_of, figures_data

__all__ = [
    "ONE_FIGURE", "SUFFIX", "VERSION", "Kept", "MotionError", "MotionFile", "Opened", "Saved", "digest_on_disk",
    "is_session", "load_session", "open_session", "read_kept", "read_session", "save_session", "session_bytes",
]  # fmt: skip

SUFFIX = SESSION_SUFFIX
BACKUP = ".backup.ikv.json"

VERSION = 3
"""The newest version that can be read; files of several figures have it."""
ONE_FIGURE = 2
"""The version of files of one figure, which programs that know no other version can read."""

_NO_OBJECT = "expected a JSON object"

_OFF = "off"
_DOCUMENTS = ("open", "leap", "put")
"""Recorded calls whose last argument is a document."""

_SKELETON = {"spreads": "mobility", "spread_matrices": "mobility_matrices"}


def backup_of(path: Path) -> Path | None:
    """Path of a session file's backup: ``walk.backup.ikv.json`` of ``walk.ikv.json``; None for backups."""
    name = path.name
    if not name.casefold().endswith(SUFFIX) or name.casefold().endswith(BACKUP):
        return None
    return path.with_name(name[: -len(SUFFIX)] + BACKUP)


@contextlib.contextmanager
def backed_up(path: Path, content: bytes) -> Iterator[list[str]]:
    """Keep a file's present contents as its backup while it is written; if the write fails, both stay as they were.

    The backup also stays if the contents are unchanged, so that saving twice does not lose the version before.

    Yields:
        A list that receives one line if no backup can be kept; the file is still saved.
    """
    problems: list[str] = []
    target = Path(os.path.realpath(path))
    backup = backup_of(target)
    kept = None
    if backup is not None and _differs(target, content):
        try:
            kept = _held(target)
        except (OSError, ViewerError) as error:
            problems.append(f"no backup could be kept: {reason(error) if isinstance(error, OSError) else error}")
    try:
        yield problems
        if kept is not None and backup is not None:
            kept.replace(backup)
    except OSError as error:
        problems.append(f"no backup could be kept: {reason(error)}")
    finally:
        if kept is not None:
            with contextlib.suppress(OSError):
                kept.unlink(missing_ok=True)


def _differs(target: Path, content: bytes) -> bool:
    """Whether the file exists with other contents; True if it cannot be read."""
    try:
        return target.is_file() and (target.stat().st_size != len(content) or target.read_bytes() != content)
    except OSError:
        return True


def _held(target: Path) -> Path:
    """A second link to the file, which takes no space, else a copy; an OSError or OutputError if neither works."""
    name = temporary_name(target.parent)
    try:
        os.link(target, name)
    except (OSError, NotImplementedError, AttributeError):
        write_whole(name, read_bytes(target, str(target)))
    return name


class Saved(NamedTuple):
    """The result of saving.

    ``digest`` is SHA-256 of the file's bytes; ``problem`` is why no backup could be kept, "" if one was, or none is
    needed.
    """

    digest: str
    problem: str


def save_session(
    document: Document, path: str | Path, log: ActionLog | None = None, figures: Arrangement | None = None
) -> Saved:
    """Write a document, completely or not at all; the previous contents become the backup.

    The recorded actions of a ``log`` are saved with it; ``figures`` are all, if there are several.

    Raises:
        OutputError: it cannot be written; the file and the backup stay as they were.
    """
    actions = None if log is None else log.written(last=document)
    content = session_bytes(document, actions=actions, folder=Path(os.path.realpath(path)).parent, figures=figures)
    with backed_up(Path(path), content) as problems:
        write_whole(Path(path), content)
    return Saved(hashlib.sha256(content).hexdigest(), "".join(problems))


def session_bytes(
    document: Document,
    kept: Kept | None = None,
    actions: msgspec.Raw | None = None,
    folder: Path | None = None,
    figures: Arrangement | None = None,
) -> bytes:
    """The contents of a session file, with the motion unless it is very large (`LARGEST_CARRIED`).

    ``kept`` makes it a recovery file. With the ``folder`` of the session file the contents also name the file that the
    motion came from. ``figures`` are all, if there are several; the document is that of the active one.
    """
    several = [] if figures is None else figures_data(figures, folder)
    version = VERSION if several else ONE_FIGURE
    data = SessionData(document_data(document, folder), version=version, figures=several, kept=kept)
    if actions is not None:
        data.actions = actions
    return msgspec.json.encode(data, enc_hook=plain_number) + b"\n"


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A session file that was opened.

    ``document`` is equal to the one that was saved, and that of the active one of ``figures``, if there are several.
    ``motion`` is the motion's own file, if it is missing or has changed; the document still has the motion, unless it
    was opened without. ``digest`` is SHA-256 of the file's bytes.
    """

    document: Document
    digest: str
    motion: MotionFile | None = None
    figures: Arrangement | None = None


def open_session(path: str | Path, *, motion: bool = True) -> Opened:
    """Open a session file.

    Without ``motion`` that is left out if it is not in the session and its file is gone or has changed.

    Raises:
        InputError: the file cannot be read.
        MotionError: the motion is not in the session, and its file is gone or has changed.
        FormatError: not a session file, damaged or of a later version.
    """
    file = Path(path)
    folder = Path(os.path.realpath(file)).parent
    with of_file(str(path)):
        data, digest = _read(file)
        character = data.document.character
        named = character.clips if isinstance(character.clips, ClipsOfFile) else character.file
        found = None if named is None else find(named, folder)
        changed = found if found is not None and found.problem else None
        without = changed is not None and character.file is None and not motion
        document = document_of(data.document, folder, motion=not without)
        figures = arrangement_of(data.figures, document, folder, motion=motion) if data.figures else None
    if changed is None and found is not None:
        document = _moved(document, found)
        figures = figures and with_active(figures, document)
    return Opened(document, digest, changed, figures)


def load_session(path: str | Path) -> Document:
    """The document of a session file; raises as `open_session` does."""
    return open_session(path).document


def digest_on_disk(path: Path) -> str | None:
    """SHA-256 of a file's present bytes; None if it cannot be read."""
    try:
        return file_digest(path)
    except InputError:
        return None


def _moved(document: Document, found: MotionFile) -> Document:
    """The document with the present path of its motion file."""
    character, location = document.character, found.location
    source = character.source
    if location is None or (source.path is not None and os.path.realpath(source.path) == os.path.realpath(location)):
        return document
    return replace(document, character=replace(character, source=replace(source, path=str(location))))


def read_kept(path: Path) -> Kept:
    """The facts stored in a recovery file."""
    kept = read_session(path).kept
    if kept is None:
        raise FormatError("expected a recovery file, found a session", file=str(path))
    return kept


def read_session(path: Path) -> SessionData:
    """What a session file holds."""
    return _read(path)[0]


def _read(path: Path) -> tuple[SessionData, str]:
    """The data of a session file, and the digest of its bytes."""
    content = read_bytes(path, str(path))
    text = decode_utf8(content, str(path))
    try:
        head = msgspec.json.decode(text, type=_Head)
    except (msgspec.MsgspecError, RecursionError):
        head = _Head()
    _check_version(head.version, str(path))
    if head.document is None:
        raise _no_session(text, str(path))
    if isinstance(head.version, int) and head.version < ONE_FIGURE:
        text = from_version_1(text)
    with of_file(str(path)):
        data = decode_typed(text, SessionData)
        check_packed(data, len(text), "document")
    return data, hashlib.sha256(content).hexdigest()


def _no_session(text: str, name: str) -> FormatError:
    try:
        kind = kind_of(parse(text))
        what = f"this is a {kind} file; expected a session file" if kind else _NO_OBJECT
        if kind == "session":
            what = 'expected "document", found none'
    except FormatError as error:
        error.file = name
        return error
    return FormatError(what, file=name)


def _check_version(version: object, name: str) -> None:
    if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version <= VERSION:
        later = ": the file is from a later program" if isinstance(version, int) and version > VERSION else ""
        raise FormatError(f"expected {VERSION}, found {found(version)}{later}", file=name, path="version")


class _Head(msgspec.Struct):
    version: object = 0
    document: object = None


def from_version_1(text: str) -> str:
    """Convert the text of a session file, except its recorded actions; other text is returned unchanged."""
    try:
        parts = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        tree = msgspec.json.decode(parts["document"])
        parts["document"] = msgspec.Raw(msgspec.json.encode(_document(tree)))
    except (msgspec.MsgspecError, RecursionError, KeyError, TypeError, ValueError):
        return text
    return msgspec.json.encode(parts).decode()


def actions_from_version_1(raw: bytes) -> bytes:
    """Convert recorded actions."""
    try:
        tree = msgspec.json.decode(raw)
        if isinstance(tree, dict):
            tree["start"] = _document(tree.get("start"))
            if isinstance(tree.get("calls"), list):
                tree["calls"] = [_call(one) for one in tree["calls"]]
        return msgspec.json.encode(tree)
    except RecursionError as error:
        raise FormatError("nested too deeply", path="actions") from error


def _call(data: Any) -> Any:  # noqa: ANN401 - decoded data
    if not isinstance(data, list) or not data:
        return data
    if data[0] == "check":
        return data[:2]
    rest = [_value(one) for one in data[1:]]
    if isinstance(data[0], str) and data[0] in _DOCUMENTS and rest:
        rest[-1] = _document(data[-1])
    return [data[0], *rest]


def _value(data: Any) -> Any:  # noqa: ANN401 - decoded data
    if isinstance(data, list):
        return [_value(one) for one in data]
    if not isinstance(data, dict):
        return data
    kind = data.get("$")
    if kind == "Character":
        return data | {"of": _character(data.get("of"))}
    if kind == "SetWanted" and _is_off(data.get("kind")):
        return {"$": "ReleaseEffector", "effector": data.get("effector")}
    made = {key: _value(one) for key, one in data.items()}
    if kind == "SetHandle":
        changes = data.get("changes")
        pairs = changes.get("of") if isinstance(changes, dict) else None
        if isinstance(pairs, list):
            made["changes"] = {"$": "map", "of": [_change(pair) for pair in pairs]}
    return made


def _change(pair: Any) -> Any:  # noqa: ANN401 - decoded data
    """Convert one changed attribute of a handle."""
    off = isinstance(pair, list) and len(pair) == 2 and pair[0] == "kind" and _is_off(pair[1])
    return ["enabled", False] if off else _value(pair)


def _is_off(kind: object) -> bool:
    return kind == _OFF or (isinstance(kind, dict) and kind.get("of") == [_OFF])


def _document(tree: Any) -> Any:  # noqa: ANN401 - decoded data
    if not isinstance(tree, dict):
        return tree
    made = {("goals" if key == "handles" else key): value for key, value in tree.items()}
    if isinstance(tree.get("handles"), list):
        made["goals"] = [_goal(one) for one in tree["handles"]]
    made |= {"character": _character(tree.get("character")), "skeleton": _skeleton(tree.get("skeleton"))}
    return made


def _goal(tree: Any) -> Any:  # noqa: ANN401 - decoded data
    if not isinstance(tree, dict) or tree.get("kind") != _OFF:
        return tree
    return {key: value for key, value in tree.items() if key != "kind"} | {"enabled": False}


def _character(tree: Any) -> Any:  # noqa: ANN401 - decoded data
    if not isinstance(tree, dict):
        return tree
    tree = tree | {"skeleton": _skeleton(tree.get("skeleton"))}
    source = tree.get("source")
    if not isinstance(source, dict) or source.get("layout_names") is None:
        return tree
    made = {key: value for key, value in source.items() if not key.startswith("layout_")}
    layout = {"names": source["layout_names"], "channels": source.get("layout_channels", [])}
    return tree | {"source": made | {"layout": layout}}


def _skeleton(tree: Any) -> Any:  # noqa: ANN401 - decoded data
    return {_SKELETON.get(key, key): value for key, value in tree.items()} if isinstance(tree, dict) else tree
