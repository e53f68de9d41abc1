"""Several figures as the data of a session file, and of the action log."""

from __future__ import annotations

from pathlib import Path

from viewer.document.document import Document
from viewer.document.report import still_report
from viewer.errors import FormatError, InputError
from viewer.session.figures import Arrangement, Figure, Placement, State
from viewer.session.storage.documents import DocumentData, FigureData, document_data, document_of


def figures_data(arrangement: Arrangement, folder: Path | None = None) -> list[FigureData]:
    """The data of several figures, for `arrangement_of`.

    Args:
        arrangement: the figures.
        folder: of the session file, as of `document_data`.
    """
    return [
        FigureData(
            one.name, one.placement.offset, one.placement.yaw, one.hidden,
            None if index == arrangement.active else document_data(one.state.document, folder),
        )
        for index, one in enumerate(arrangement.figures)
    ]  # fmt: skip


def arrangement_of(data: list[FigureData], active: Document, folder: Path, *, motion: bool = True) -> Arrangement:
    """Make the figures of a session.

    Args:
        data: of the figures.
        active: the document of the active one.
        folder: of the session file.
        motion: as of `document_of`.

    Raises:
        FormatError: two figures of one name, none or several without a document, numbers that are not finite.
    """
    without = [index for index, one in enumerate(data) if one.document is None]
    if len(without) != 1:
        raise FormatError(f"expected one figure without a document, found {len(without)}", path="figures")
    figures: list[Figure] = []
    for index, one in enumerate(data):
        path = f"figures[{index}]"
        if not one.name or one.name in {figure.name for figure in figures}:
            found = "two of one name" if one.name else "an empty name"
            raise FormatError(f"expected figures of different names, found {found}", path=f"{path}.name")
        try:
            placement = Placement(one.offset, one.yaw).checked()
        except InputError as error:
            raise FormatError(str(error), path=path) from error
        if one.document is None and one.hidden:
            raise FormatError("expected the active figure to be shown, found a hidden one", path=f"{path}.hidden")
        document = active if one.document is None else _document_at(one.document, folder, path, motion=motion)
        figures.append(Figure(one.name, State(document, still_report(document)), placement, one.hidden))
    return Arrangement(tuple(figures), without[0])


def _document_at(data: DocumentData, folder: Path, path: str, *, motion: bool) -> Document:
    try:
        return document_of(data, folder, motion=motion)
    except FormatError as error:
        if error.path and error.path.startswith("document"):
            error.path = f"{path}.{error.path}"
        raise
