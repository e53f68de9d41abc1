"""Files of positions over time and of SMPL's axis-angles (AMASS .npz), and figures fitted to them.

docs/files.md says what they hold. Places that are not known are NaN, or empty cells. A reader of another format passes
its points through `known_points`; `FileFormat.points` says where it is.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.choices import PresetName
from viewer.errors import FormatError, InputError, at_path, listed, of_file, prefixed, quote, unknown_name
from viewer.formats.arrays_and_tables import keys_of, read_array, read_arrays, read_npz, take_texts
from viewer.formats.bounds import MOST_FRAMES, MOST_JOINTS, UNMEASURED
from viewer.formats.file_formats import FIT_UPS, POINT_FILES, check_units, format_of, unread
from viewer.formats.files import read_text
from viewer.formats.limit_sources import derived_limits
from viewer.formats.units import BECAUSE, GUESSES, Body, in_frame, in_words, root_translations_to_internal, settle
from viewer.motion import (
    BODY_JOINTS,
    HEIGHT,
    PointSet,
    counts_of_sets,
    fit,
    fit_points,
    point_set,
    retargeted,
    set_of_count,
    set_of_names,
    smpl_motion,
    tree_set,
)
from viewer.skeleton import Character, Skeleton, Source
from viewer.spatial.checks import Bools, Floats

POSITION_KEYS = ("positions", "joints", "keypoints")
_RATES = ("fps", "mocap_framerate", "mocap_frame_rate")
_LARGEST = 1e12
_MARKS = ",;\t"
"""Between cells: spreadsheets write semicolons where the comma is that of decimals."""
_MOST_SMPL = 1e6
"""Largest number of an angle or a place in motion of SMPL."""

FPS = 30.0
"""Frames per second where nothing states them."""
_HOW = "ikviewer fit FILE --to RIG or --names LIST"
"""The command for points of no preset: other commands have no such options."""


@dataclass(frozen=True, slots=True)
class RecordedPoints:
    """The positions (F, K, 3) over time of a file, in its units and axes; names, rate and units if the file has them.

    With ``axis_angles`` (F, 22, 3) of SMPL the points are the place of the body (F, 1, 3).
    """

    points: Floats
    names: tuple[str, ...] | None = None
    fps: float | None = None
    axis_angles: Floats | None = None
    units: str | None = None


def read_npy_points(path: Path, name: str) -> RecordedPoints:
    """The positions in an .npy file, without names and rate."""
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
        names = tuple(take_texts(arrays, "names", arrays["names"].shape))
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
    """The points (F, K, 3) with NaN where a place is not known or infinite; too many and too large ones are refused."""
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
    text = read_text(path, name).splitlines()
    mark = max(_MARKS, key=text[0].count) if text else ","
    if mark != ",":
        text[1:] = [line.replace(",", ".") for line in text[1:]]
    lines = csv.reader(text, delimiter=mark, strict=True)
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


def read_trc_points(path: Path, name: str) -> RecordedPoints:
    """The markers of a TRC file, as OpenSim and Pose2Sim write it; errors are those of `read_npy_points`.

    Cells are between tabs. Three lines have the file's facts, one has the markers' names, each above the first of its
    three columns, and one the axes; then each line has a frame, its time and the places. Cells at the end of a line may
    be left out.
    """
    lines = read_text(path, name).splitlines()
    head = [_tabbed(line) for line in lines[:5]]
    if len(head) < 5 or head[0][0].casefold() != "pathfiletype":
        found = quote(head[0][0]) if head else "an empty file"
        raise FormatError(f"expected a table of markers (TRC), which begins with PathFileType, found {found}", line=1)
    facts = {key.casefold(): (value, column) for column, (key, value) in enumerate(zip(head[1], head[2], strict=False))}
    rate, stated = (
        _cell(text, 3, column) for text, column in (facts.get(key, ("", 0)) for key in ("datarate", "nummarkers"))
    )
    with at_path(line=3):
        units = check_units(facts.get("units", ("auto", 0))[0])
    names = tuple(cell for cell in head[3][2:] if cell)
    if not names or (math.isfinite(stated) and stated != len(names)):
        count = f"{stated:g}" if math.isfinite(stated) else "one or more"
        raise FormatError(f"expected the names of {count} markers, found {len(names)}", line=4)
    twice = next((each for each, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise FormatError(f"expected each marker once, found {quote(twice)} again", line=4)
    width, rows = 2 + 3 * len(names), []
    for number, line in enumerate(lines[5:], start=6):
        cells = _tabbed(line)
        if any(cells[width:]):
            raise FormatError(f"expected at most {width} cells, found {len(cells)}", line=number)
        if any(cells):
            places = [_cell(cell, number, column) for column, cell in enumerate(cells[2:width], start=2)]
            rows.append(places + [math.nan] * (width - 2 - len(places)))
    if not rows:
        raise FormatError("expected a line for each frame under the header, found none")
    markers = np.array(rows).reshape(len(rows), -1, 3)
    points = known_points(np.where(np.abs(markers) < UNMEASURED, markers, math.nan))
    return RecordedPoints(points, names, rate if 0.0 < rate < math.inf else None, units=units)


def _tabbed(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")]


def _cell(text: str, line: int, column: int) -> float:
    if not text.strip():
        return math.nan
    try:
        return float(text)
    except ValueError:
        problem = f"expected a number, found {quote(text)}"
        raise FormatError(problem, line=line, path=f"cell {column + 1}") from None


@dataclass(frozen=True, slots=True)
class Fitting:
    """How positions are understood.

    Attributes:
        preset: the point set; None: by names or number.
        names: a file of names, a line each, with the parent's name behind it where the names are of no preset.
        rig: the skeleton that moves, with its name for messages; None: one is made.
        fps: frames per second; None: as the file says, else 30.
        units: as `check_units` takes them.
        up: one of `FIT_UPS`.
        height: metres of the figure for axis-angles; None: 1.7.
    """

    preset: PresetName | None = None
    names: str | None = None
    rig: tuple[str, Skeleton] | None = None
    fps: float | None = None
    units: str = "auto"
    up: str = "auto"
    height: float | None = None


def read_positions(path: Path, name: str, *, units: str, up: str) -> Character:
    """The figure fitted to positions in a table or an .npy file; its preset follows from their names or number."""
    return fit_file(path, name, Fitting(units=units, up=up))


def read_npz_file(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """An .npz file: a skeleton as `read_npz`, else positions or axis-angles, to which a figure is fitted."""
    keys = set(keys_of(path, name))
    is_skeleton = bool(keys & {"skeleton_json", "parents"}) or not keys & {*POSITION_KEYS, "poses"}
    return read_npz(path, name, units=units, up=up) if is_skeleton else read_positions(path, name, units=units, up=up)


def fit_file(path: Path, name: str, how: Fitting) -> Character:
    """A figure fitted to the positions or axis-angles of a file."""
    if path.suffix.casefold() not in POINT_FILES:
        raise unread(path, POINT_FILES, name)
    with of_file(name):
        recorded: RecordedPoints = format_of(path).read_points(path, name)
    how = replace(how, units=recorded.units) if recorded.units is not None and how.units == "auto" else how
    stem = Path(name).stem or "fit"
    fps = how.fps or recorded.fps or FPS
    notes = [] if how.fps or recorded.fps else [f"{FPS:g} frames a second are assumed: nothing in the file says it"]
    with prefixed(name, but="fit: "):
        if recorded.axis_angles is not None:
            character = _of_axis_angles(recorded, how, fps, stem)
        else:
            if how.height is not None:
                raise InputError("a height is for axis-angles (AMASS); positions say how tall a figure is")
            character, odd = _of_positions(recorded, how, fps, stem)
            notes += odd
    if how.rig is None:
        limited, limits_from = derived_limits(character.skeleton, character.clips.values())
        character = replace(character, skeleton=limited, limits_from=limits_from)
    source = Source(path=name, format=path.suffix.casefold().lstrip("."), joint_order=())
    return replace(character, source=source, warnings=(*notes, *character.warnings))


def _of_axis_angles(recorded: RecordedPoints, how: Fitting, fps: float, name: str) -> Character:
    for given, option in ((how.preset, "a preset"), (how.names, "names"), (how.rig, "a rig")):
        if given is not None:
            raise InputError(f"{option} is for positions; this file has axis-angles of SMPL (AMASS)")
    assert recorded.axis_angles is not None
    height = how.height or HEIGHT
    made = smpl_motion(recorded.axis_angles, recorded.points[:, 0], fps=fps, height=height, name=name)
    note = (
        f"a figure {height:g} m tall with proportions of its own, on the floor: the file has the body's shape only as "
    )
    return replace(made, warnings=(f"{note}numbers of a licensed model",))


def _of_positions(recorded: RecordedPoints, how: Fitting, fps: float, name: str) -> tuple[Character, list[str]]:
    points, names = recorded.points, recorded.names
    described, names = _named(points.shape[1], names, how)
    points, notes = _in_metres(points, names, described, how)
    if how.rig is not None:
        file, rig = how.rig
        missing = next((each for each in names or () if each not in rig.names), None)
        if missing is not None and described is not None:
            return retargeted(fit_points(described, points, names, fps=fps, name=name), rig), notes
        if missing is not None:
            raise InputError(f"{file}: {unknown_name('joint', missing, rig.names)}")
        return fit(rig, points, names, fps=fps, name=name), notes
    assert described is not None
    return fit_points(described, points, names, fps=fps, name=name), notes


def _named(count: int, names: tuple[str, ...] | None, how: Fitting) -> tuple[PointSet | None, tuple[str, ...] | None]:
    """The point set, if the names are of one, and the names of the points."""
    described = None
    if how.preset is not None:
        described = point_set(how.preset)
        if names is None:
            names = described.points
    if how.names is not None:
        names, parents = read_names(how.names)
        with prefixed(how.names):
            described = tree_set(names, parents) if parents is not None else set_of_names(names)
        if described is None and how.rig is None:
            cure = "write each joint's parent behind its name, or say the rig (--to)"
            raise InputError(f"{how.names}: these names are of no preset: {cure}")
    if names is not None and len(names) != count:
        raise InputError(f"expected positions of {len(names)} joints, found {count}")
    if how.rig is not None:
        if names is None and count != len(how.rig[1]):
            found = f"expected positions of the {len(how.rig[1])} joints of {how.rig[0]}, found {count}"
            raise InputError(f"{found}: --names says which they are")
        return described, names
    if described is None:
        described = set_of_count(count) if names is None else set_of_names(names)
    if described is None and names is None:
        raise InputError(f"expected {counts_of_sets()} joints, found {count}: {_HOW} says what they are")
    if described is None:
        some = listed([*map(quote, names or ())], 3)
        raise InputError(f"expected the joints of a preset, found {some}: {_HOW} says how they hang together")
    return described, names


def read_names(file: str) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """The names in a file of names, and their parents if it states them.

    A line is ``NAME`` or ``NAME PARENT``; the root has none. Empty lines and lines that begin with # do not count.
    """
    names: list[str] = []
    parents: list[str] = []
    for number, line in enumerate(read_text(Path(file), file).splitlines(), start=1):
        words = line.replace(",", " ").split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) > 2:
            raise FormatError(f"expected NAME or NAME PARENT, found {quote(line)}", file=file, line=number)
        if words[0] in names:
            raise FormatError(f"expected each name once, found {quote(words[0])} again", file=file, line=number)
        names.append(words[0])
        parents.append(words[1] if len(words) == 2 else "")
    if not names:
        raise FormatError("expected a name on each line, found none", file=file)
    return tuple(names), tuple(parents) if any(parents) else None


def _in_metres(
    points: Floats, names: tuple[str, ...] | None, described: PointSet | None, how: Fitting
) -> tuple[Floats, list[str]]:
    """Points in metres, Y up, and what was guessed."""
    if how.up not in FIT_UPS:
        raise InputError(f"up: expected one of {', '.join(FIT_UPS)}, found {quote(how.up)}")
    units = check_units(how.units)
    listed = names if names is not None else described.points if described is not None else ()
    column = {name: place for place, name in enumerate(listed)}
    up = how.up if how.up != "auto" or units == "raw" else _standing(points, column)
    frame_points = _first_frame(points)
    body = _body(points, frame_points, column)
    frame = settle(units, {"-y": "y"}.get(up, up), frame_points, body)
    notes = []
    if how.up == "auto" and up not in {"auto", "y"}:
        notes.append(f"{GUESSES[2]}: {'Y down' if up == '-y' else 'Z up'}{BECAUSE}head and feet")
    if frame.guessed_units and frame.units != "m":
        notes.append(f"{GUESSES[1]}: {in_words(frame).partition(',')[0]}, height {frame.height:.2f} m")
    points = root_translations_to_internal(points, in_frame(Source(), frame))
    return points * (1.0, -1.0, -1.0) if up == "-y" else points, notes


def _first_frame(points: Floats) -> Floats:
    """(N, 3) the known points of the first frame in which most are known."""
    known: Bools = np.asarray(np.isfinite(points).all(axis=-1))
    frame = int(np.argmax(known.sum(axis=1)))
    return np.asarray(points[frame, known[frame]])


def _standing(points: Floats, column: dict[str, int]) -> str:
    """The axis along which the head is away from the feet; "auto" without them."""
    head = next((column[name] for name in ("head", "nose") if name in column), None)
    feet = [column[name] for name in ("left_ankle", "right_ankle") if name in column]
    if head is None or len(feet) < 2:
        return "auto"
    way = (points[:, head] - points[:, feet].mean(axis=1))[np.isfinite(points[:, [head, *feet]]).all(axis=(1, 2))]
    if not len(way):
        return "auto"
    usual = np.median(way, axis=0)
    axis = int(np.argmax(np.abs(usual)))
    return {(1, True): "y", (1, False): "-y", (2, True): "z"}.get((axis, bool(usual[axis] > 0.0)), "auto")


def _body(points: Floats, frame: Floats, column: dict[str, int]) -> Body | None:
    """The figure among points that have the names of legs."""
    legs = []
    for side in ("left", "right"):
        names = [f"{side}_{part}" for part in ("hip", "knee", "ankle")]
        if all(name in column for name in names):
            way = np.diff(points[:, [column[name] for name in names]], axis=1)
            length = np.linalg.norm(way, axis=-1).sum(axis=-1)
            if np.isfinite(length).any():
                legs.append(float(np.nanmedian(length)))
    return Body(frame, float(np.mean(legs))) if legs else None
