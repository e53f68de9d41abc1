"""Recorded actions out of a session file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from viewer.errors import FormatError, quote, unknown_name
from viewer.formats.json_typed import decode_typed
from viewer.session.files import read_session
from viewer.session.script.calls import CHECK, DOCUMENTS, DOERS, FAILED, REFUSED
from viewer.session.script.codec import decoded
from viewer.session.script.tape import Machine  # noqa: TC001 - the decoder reads it
from viewer.session.storage.arrays import check_packed
from viewer.session.storage.documents import document_of
from viewer.session.storage.structs import DocumentData

if TYPE_CHECKING:
    from viewer.session.document import Document

_REMARKS = (CHECK, REFUSED, FAILED)


class _Data(msgspec.Struct):
    machine: Machine
    start: DocumentData
    calls: list[list[Any]]


@dataclass(frozen=True, slots=True)
class Actions:
    """What was recorded.

    Attributes:
        path: the file.
        machine: what it was recorded on.
        start: the document that it begins with.
        calls: name and data of each, remarks included.
    """

    path: Path
    machine: Machine
    start: Document
    calls: tuple[tuple[Any, ...], ...]

    def given(self, place: int) -> list[Any]:
        """What a call is given.

        Raises:
            FormatError: what is no value that a call can be given.
        """
        name, *data = self.calls[place]
        path, folder = f"actions.calls[{place}]", self.path.resolve().parent
        late = DOCUMENTS.get(name)
        found = []
        try:
            for number, one in enumerate(data):
                is_document = late is not None and number == len(data) - 1
                found.append(_document(one, folder) if is_document else decoded(one, folder, path))
        except FormatError as error:
            error.file, error.path = error.file or str(self.path), error.path or path
            raise
        except RecursionError as error:
            raise FormatError("nested too deeply", file=str(self.path), path=path) from error
        return found


def read_actions(path: str | Path) -> Actions:
    """The actions that a session file holds.

    Raises:
        InputError: the file cannot be read.
        FormatError: it is no session, or holds no actions, or calls that there are not.
    """
    place, name = Path(path), str(path)
    raw = bytes(read_session(place).actions)
    if not raw:
        raise FormatError(
            'the session holds no actions: it was saved while "Record actions" was off', file=name, path="actions"
        )
    try:
        data = decode_typed(raw.decode(), _Data, name)
        check_packed(data, len(raw), "calls")
        _check(data.calls)
        start = document_of(data.start, place.resolve().parent)
    except FormatError as error:
        error.file = name
        error.path = ".".join(part for part in ("actions", error.path) if part)
        error.line = error.column = None
        raise
    return Actions(place, data.machine, start, tuple(map(tuple, data.calls)))


def _check(calls: list[list[Any]]) -> None:
    for place, call in enumerate(calls):
        if not call or not isinstance(call[0], str):
            raise FormatError("expected the name of a call and its data", path=f"calls[{place}]")
        if call[0] not in DOERS and call[0] not in _REMARKS:
            raise FormatError(unknown_name("call", call[0], [*DOERS, *_REMARKS]), path=f"calls[{place}]")


def _document(data: object, folder: Path) -> Document:
    try:
        return document_of(msgspec.convert(data, DocumentData), folder)
    except msgspec.ValidationError as error:
        raise FormatError(f"expected a document, found {quote(data)}") from error
