"""Several figures as the data of a session file, and of the action log."""

from __future__ import annotations

from pathlib import Path

from viewer.document import Document, still_report
from viewer.errors import FormatError, InputError, unknown_name
from viewer.session.figures import Arrangement, Figure, Link, Placement, State
from viewer.session.links import lasting
from viewer.session.storage.documents import DocumentData, FigureData, document_data, document_of
from viewer.skeleton import find_place


def figures_data(arrangement: Arrangement, folder: Path | None = None) -> list[FigureData]:
    """The data of several figures, for `arrangement_of`.

    Args:
        arrangement: the figures.
        folder: of the session file, as of `document_data`.
    """
    return [
        FigureData(
            one.name, one.placement.offset, one.placement.yaw, one.hidden, [*one.links],
            None if index == arrangement.active else document_data(one.state.document, folder),
        )
        for index, one in enumerate(lasting(arrangement).figures)
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
        links = tuple(Link(*link) for link in one.links)
        document = active if one.document is None else _document_at(one.document, folder, path, motion=motion)
        figures.append(Figure(one.name, State(document, still_report(document)), placement, one.hidden, links))
    _check_links(figures)
    return Arrangement(tuple(figures), without[0])


def _check_links(figures: list[Figure]) -> None:
    names = [figure.name for figure in figures]
    for index, figure in enumerate(figures):
        goals = [goal.id for goal in figure.state.document.goals]
        for number, link in enumerate(figure.links):
            path = f"figures[{index}].links[{number}]"
            if link.goal not in goals:
                raise FormatError(unknown_name("goal", link.goal, goals), path=path)
            if link.figure not in names or link.figure == figure.name:
                others = [name for name in names if name != figure.name]
                raise FormatError(unknown_name("other figure", link.figure, others), path=path)
            try:
                find_place(figures[names.index(link.figure)].state.document.skeleton, link.joint)
            except InputError as error:
                raise FormatError(str(error), path=path) from error


def _document_at(data: DocumentData, folder: Path, path: str, *, motion: bool) -> Document:
    try:
        return document_of(data, folder, motion=motion)
    except FormatError as error:
        if error.path and error.path.startswith("document"):
            error.path = f"{path}.{error.path}"
        raise
