"""The spread of one joint: from a skeleton file's three numbers or 3 x 3 matrix to our types, and back.

Paths in errors are relative to the joint.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from viewer.errors import FormatError, InputError
from viewer.formats.frame import lengths_to_internal, lengths_to_source
from viewer.formats.json_numbers import degrees_of, numbers
from viewer.skeleton.kinds import JointKind
from viewer.skeleton.spreads import are_diagonal, checked_matrix, has_matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.formats.json_structs import Joint
    from viewer.skeleton.character import Source
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats

Row: TypeAlias = tuple[float, float, float]

_PATH = ".spread"
_TURNS = (JointKind.BALL, JointKind.FREE)
"""Kinds whose three numbers are about the axes that a matrix is about, too."""


def spread_of(joint: Joint, kind: JointKind, source: Source) -> Floats | None:
    """The spread that the file states of a joint, radians (metres of a slide); None where it states none.

    Returns:
        (3,), or (3, 3) of a matrix that three numbers could not say.

    Raises:
        FormatError: neither three numbers nor a matrix of spreads.
    """
    if joint.spread is None:
        return None
    triple, matrix = _sorted(joint.spread)
    if triple is not None:
        return _internal(triple, kind, source)
    try:
        found = _internal(checked_matrix(np.array(matrix, dtype=np.float64)), kind, source)
    except InputError as error:
        raise FormatError(str(error), path=_PATH) from None
    return np.diagonal(found).copy() if kind in _TURNS and bool(are_diagonal(found)) else found


def spread_words(skeleton: Skeleton, joint: int, source: Source) -> list[object] | None:
    """What a file says of a joint's spread; None where it is not stated."""
    slide = skeleton.kinds[joint] is JointKind.SLIDE
    if skeleton.spread_matrices is not None and has_matrix(skeleton)[joint]:
        matrix = skeleton.spread_matrices[joint]
        if skeleton.kinds[joint] in _TURNS and bool(are_diagonal(matrix)):
            return _words(np.diagonal(matrix), source, slide=slide)
        return [_words(row, source, slide=slide) for row in matrix]
    if skeleton.spreads is None or np.isnan(skeleton.spreads[joint]).any():
        return None
    return _words(skeleton.spreads[joint], source, slide=slide)


def _words(values: Floats, source: Source, *, slide: bool) -> list[object]:
    return [*numbers(lengths_to_source(values, source))] if slide else [*map(degrees_of, values.tolist())]


def _sorted(stated: Sequence[float | Row]) -> tuple[list[float] | None, list[Row]]:
    """Three numbers, or three rows."""
    rows = [row for row in stated if isinstance(row, tuple)]
    triple = [number for number in stated if not isinstance(number, tuple)]
    if len(stated) != 3 or (rows and triple):
        what = "some of each" if rows and triple else f"{len(stated)} {'rows' if rows else 'numbers'}"
        raise FormatError(f"expected three numbers, or three rows of three, found {what}", path=_PATH)
    for place, number in enumerate(triple):
        if number < 0.0:
            raise FormatError(f"expected 0 or more, found {number:g}", path=f"{_PATH}[{place}]")
    return triple or None, rows


def _internal(values: Sequence[float] | Floats, kind: JointKind, source: Source) -> Floats:
    found = np.array(values, dtype=np.float64)
    if kind is JointKind.SLIDE:
        return lengths_to_internal(found, source)
    # One by one: what is written is made to read back by this very function.
    return np.array([math.radians(value) for value in found.ravel().tolist()]).reshape(found.shape)
