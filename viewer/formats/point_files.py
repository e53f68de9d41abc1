"""Files of positions over time (.npy, .npz, .csv) and of SMPL's axis-angles (AMASS .npz).

=========  ========================================================================================================
file       holds
=========  ========================================================================================================
.npy       positions (F, K, 3), or (F, 3 K)
.npz       positions (F, K, 3) as ``positions``, ``joints`` or ``keypoints``; perhaps ``names`` (K,), and ``fps`` or
           ``frame_time``. AMASS: ``poses`` (F, 66 or more), ``trans`` (F, 3), ``mocap_framerate``
.csv       a header with ``NAME.x, NAME.y, NAME.z``, and perhaps ``time``, then a line for each frame
=========  ========================================================================================================

Places that are not known are NaN, or empty cells. A reader of another format passes its points through `known_points`;
`FileFormat.points` says where it is. `viewer.formats.positions` fits a figure to them.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.errors import FormatError, quote
from viewer.formats.bounds import MOST_FRAMES, MOST_JOINTS
from viewer.formats.files import read_text
from viewer.formats.npz import keys_of, read_array, read_arrays
from viewer.motion import BODY_JOINTS, set_of_count
from viewer.spatial.checks import Floats

POSITION_KEYS = ("positions", "joints", "keypoints")
_RATES = ("fps", "mocap_framerate", "mocap_frame_rate")
_LARGEST = 1e12
_MOST_SMPL = 1e6
"""Largest number of an angle or a place in motion of SMPL."""


@dataclass(frozen=True, slots=True)
class RecordedPoints:
    """The positions over time of a file.

    Attributes:
        points: (F, K, 3) in the file's units and axes.
        names: of the points, if the file has them.
        fps: if the file says it.
        axis_angles: (F, 22, 3) of SMPL, or None; ``points`` then hold the place of the body (F, 1, 3).
    """

    points: Floats
    names: tuple[str, ...] | None = None
    fps: float | None = None
    axis_angles: Floats | None = None


def read_npy_points(path: Path, name: str) -> RecordedPoints:
    """The positions in an .npy file, without names and rate.

    Raises:
        InputError: the file cannot be opened.
        FormatError: it holds something else.
    """
    return RecordedPoints(_positions(read_array(path, name), ""))


def read_npz_points(path: Path, name: str) -> RecordedPoints:
    """The positions or axis-angles in an .npz file; errors are those of `read_npy_points`."""
    keys = keys_of(path, name)
    wanted = (*POSITION_KEYS, *_RATES, "names", "frame_time", "poses", "trans")
    arrays = read_arrays(path, name, tuple(key for key in wanted if key in keys))
    fps = next((_number(arrays[key], key) for key in _RATES if key in arrays), None)
    if fps is None and "frame_time" in arrays:
        fps = 1.0 / _number(arrays["frame_time"], "frame_time")
    key = next((key for key in POSITION_KEYS if key in arrays), None)
    if key is None and "poses" in arrays:
        return _amass(arrays, fps)
    if key is None:
        found = ", ".join(map(quote, keys[:5])) or "none"
        raise FormatError(
            f'expected an array {" or ".join(map(quote, POSITION_KEYS))}, or AMASS\'s "poses", found {found}'
        )
    names = None
    if "names" in arrays:
        if arrays["names"].dtype.kind != "U":
            raise FormatError(f"expected texts, found {arrays['names'].dtype}", path="names")
        names = tuple(str(each) for each in arrays["names"].ravel().tolist())
    return RecordedPoints(_positions(arrays[key], key), names, fps)


def _number(array: NDArray[Any], key: str) -> float:
    if array.size != 1 or array.dtype.kind not in "if":
        raise FormatError(f"expected one number, found {array.dtype} of shape {array.shape}", path=key)
    value = float(array.ravel()[0])
    if not 0.0 < value < math.inf:
        raise FormatError(f"expected a number above 0, found {value:g}", path=key)
    return value


def _positions(array: NDArray[Any], key: str) -> Floats:
    """(F, K, 3) of an array (F, K, 3) or (F, 3 K)."""
    if array.dtype.kind not in "if":
        raise FormatError(f"expected positions, found {array.dtype}", path=key or None)
    shape = array.shape
    if array.ndim == 2 and shape[1] % 3 == 0 and set_of_count(shape[1] // 3) is not None:
        array = array.reshape(shape[0], -1, 3)
    if array.ndim != 3 or array.shape[2] != 3:
        raise FormatError(f"expected positions of the shape (frames, joints, 3), found {shape}", path=key or None)
    return known_points(array.astype(np.float64))


def known_points(points: Floats) -> Floats:
    """The points (F, K, 3) with NaN where a place is not known or infinite.

    Raises:
        FormatError: no frame, too many points, or numbers so large that no unit makes them places.
    """
    _check_size(*points.shape[:2])
    known = np.where(np.isfinite(points).all(axis=-1, keepdims=True), points, np.nan)
    largest = float(np.nanmax(np.abs(known))) if np.isfinite(known).any() else 0.0
    if largest > _LARGEST:
        raise FormatError(f"expected places, found the number {largest:.3g}")
    return known


def _check_size(frames: int, points: int) -> None:
    if not frames:
        raise FormatError("expected at least one frame, found none")
    if points > MOST_JOINTS:
        raise FormatError(f"expected at most {MOST_JOINTS:,} joints, found {points:,}")
    if frames > MOST_FRAMES:
        raise FormatError(f"expected at most {MOST_FRAMES:,} frames, found {frames:,}")


def _amass(arrays: dict[str, NDArray[Any]], fps: float | None) -> RecordedPoints:
    poses, places = arrays["poses"], arrays.get("trans")
    if poses.ndim != 2 or poses.dtype.kind != "f" or poses.shape[1] < 3 * BODY_JOINTS:
        found = f"found {poses.dtype} of shape {poses.shape}"
        raise FormatError(f"expected axis-angles (frames, {3 * BODY_JOINTS} or more), {found}", path="poses")
    if places is None:
        raise FormatError('expected an array "trans" with the places of the body, found none')
    if places.shape != (len(poses), 3) or places.dtype.kind not in "if":
        raise FormatError(f"expected shape {(len(poses), 3)}, found {places.shape}", path="trans")
    _check_size(len(poses), BODY_JOINTS)
    angles = poses[:, : 3 * BODY_JOINTS].reshape(-1, BODY_JOINTS, 3).astype(np.float64)
    for key, values in (("poses", angles), ("trans", places)):
        if not np.isfinite(values).all():
            raise FormatError("expected finite numbers, found NaN or infinity", path=key)
        if float(np.abs(values).max(initial=0.0)) > _MOST_SMPL:
            raise FormatError(f"expected numbers up to {_MOST_SMPL:g}, found {np.abs(values).max():.3g}", path=key)
    return RecordedPoints(places[:, None].astype(np.float64), None, fps, angles)


def read_csv_points(path: Path, name: str) -> RecordedPoints:
    """The positions in a table; errors are those of `read_npy_points`."""
    lines = csv.reader(read_text(path, name).splitlines(), strict=True)
    try:
        header = [cell.strip() for cell in next(lines, [])]
        names, columns = _columns(header)
        rows, times = [], []
        time = header.index("time") if "time" in header else None
        for cells in lines:
            if not cells:
                continue
            if len(cells) != len(header):
                raise FormatError(
                    f"expected {len(header)} cells as in the header, found {len(cells)}", line=lines.line_num
                )
            rows.append([_cell(cells[column], lines.line_num, column) for column in columns])
            if time is not None:
                times.append(_cell(cells[time], lines.line_num, time))
    except csv.Error as error:
        raise FormatError(f"expected a table (CSV): {error}", line=lines.line_num) from error
    if not rows:
        raise FormatError("expected a line for each frame under the header, found none")
    points = known_points(np.array(rows).reshape(len(rows), len(names), 3))
    steps = np.diff(np.array(times)) if len(times) > 1 else np.zeros(0)
    step = float(np.median(steps)) if steps.size and np.isfinite(steps).all() else 0.0
    fps = 1.0 / step if step > 0.0 else None
    return RecordedPoints(points, names, fps)


def _columns(header: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """The names of the points of a table, and their columns: x, y, z of the first, of the second, ..."""
    place = {cell.casefold(): column for column, cell in reversed(list(enumerate(header)))}
    names = [cell[:-2] for cell in header if cell.casefold().endswith(".x")]
    if not names:
        found = ", ".join(map(quote, header[:3])) or "an empty line"
        raise FormatError(f"expected a header with NAME.x, NAME.y, NAME.z, found {found}", line=1)
    columns = []
    for name in names:
        for axis in "xyz":
            column = place.get(f"{name}.{axis}".casefold())
            if column is None:
                raise FormatError(f"expected a column {quote(f'{name}.{axis}')} beside {quote(f'{name}.x')}", line=1)
            columns.append(column)
    # An apostrophe keeps spreadsheets from taking a name for a formula.
    return tuple(name.removeprefix("'") for name in names), columns


def _cell(text: str, line: int, column: int) -> float:
    if not text.strip():
        return math.nan
    try:
        return float(text)
    except ValueError:
        problem = f"expected a number, found {quote(text)}"
        raise FormatError(problem, line=line, path=f"cell {column + 1}") from None
