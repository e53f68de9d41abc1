"""Figures that are fitted to files of positions over time, or of SMPL's axis-angles (see `point_files`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from viewer.choices import PresetName
from viewer.errors import FormatError, InputError, ViewerError, of_file, quote, unknown_name
from viewer.formats.file_formats import POINT_FILES, check_units, format_of
from viewer.formats.files import read_text
from viewer.formats.limit_sources import derived_limits
from viewer.formats.npz import keys_of, read_npz
from viewer.formats.point_files import POSITION_KEYS, RecordedPoints
from viewer.formats.units import BECAUSE, GUESSES, Body, in_words, settle
from viewer.motion import (
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

UPS = ("auto", "y", "z", "-y")
"""Axes that may be up; images count down."""
FPS = 30.0
"""Frames per second where nothing states them."""
_HOW = "ikviewer fit FILE --to RIG or --names LIST"
"""The command for points of no preset: other commands have no such options."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """How positions are understood.

    Attributes:
        preset: the point set; None: by names or number.
        names: a file of names, a line each, with the parent's name behind it where the names are of no preset.
        rig: the skeleton that moves, with its name for messages; None: one is made.
        fps: frames per second; None: as the file says, else 30.
        units: as `check_units` takes them.
        up: one of `UPS`.
        height: metres of the figure for axis-angles; None: 1.7.
    """

    preset: PresetName | None = None
    names: str | None = None
    rig: tuple[str, Skeleton] | None = None
    fps: float | None = None
    units: str = "auto"
    up: str = "auto"
    height: float | None = None


def read_positions(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """The figure fitted to positions in a table or an .npy file; its preset follows from their names or number."""
    return fit_file(path, name, Fitting(units=units, up=up))


def read_npz_file(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """An .npz file: a skeleton as `read_npz`, else positions or axis-angles, to which a figure is fitted."""
    keys = set(keys_of(path, name))
    is_skeleton = bool(keys & {"skeleton_json", "parents"}) or not keys & {*POSITION_KEYS, "poses"}
    return read_npz(path, name, units=units, up=up) if is_skeleton else read_positions(path, name, units=units, up=up)


def fit_file(path: Path, name: str, how: Fitting) -> Character:
    """A figure fitted to a file.

    Args:
        path: the file.
        name: its name for messages.
        how: names, rig, rate, units and axes.

    Raises:
        ViewerError: the file cannot be read or is refused; names that do not match, too few points, no positions.
    """
    recorded = _recorded(path, name)
    stem = Path(name).stem or "fit"
    fps = how.fps or recorded.fps or FPS
    notes = [] if how.fps or recorded.fps else [f"{FPS:g} frames a second are assumed: nothing in the file says it"]
    try:
        if recorded.axis_angles is not None:
            character = _of_axis_angles(recorded, how, fps, stem)
        else:
            if how.height is not None:
                raise InputError("a height is for axis-angles (AMASS); positions say how tall a figure is")
            character, odd = _of_positions(recorded, how, fps, stem)
            notes += odd
    except FormatError:
        raise
    except ViewerError as error:
        problem = str(error).removeprefix("fit: ")
        raise InputError(f"{name}: {problem}") from error
    if how.rig is None:
        limited, limits_from = derived_limits(character.skeleton, character.clips.values())
        character = replace(character, skeleton=limited, limits_from=limits_from)
    source = Source(path=name, format=path.suffix.casefold().lstrip("."), joint_order=())
    return replace(character, source=source, warnings=(*notes, *character.warnings))


def _recorded(path: Path, name: str) -> RecordedPoints:
    """The points of a file, read as its suffix says."""
    if path.suffix.casefold() not in POINT_FILES:
        found = quote(path.suffix) if path.suffix else "no suffix"
        raise InputError(f"{name}: expected a name that ends in {', '.join(POINT_FILES)}, found {found}")
    with of_file(name):
        recorded: RecordedPoints = format_of(path).read_points(path, name)
    return recorded


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
        try:
            described = tree_set(names, parents) if parents is not None else set_of_names(names)
        except InputError as error:
            raise InputError(f"{how.names}: {error}") from error
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
        first = ", ".join(map(quote, (names or ())[:3]))
        raise InputError(f"the names {first}, ... are of no preset: {_HOW} says how they hang together")
    return described, names


def read_names(file: str) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """The names in a file of names, and their parents if it states them.

    A line is ``NAME`` or ``NAME PARENT``; the root has none. Empty lines and lines that begin with # do not count.

    Raises:
        ViewerError: the file cannot be read; a line with more words, a name twice, no names.
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
    if how.up not in UPS:
        raise InputError(f"up: expected one of {', '.join(UPS)}, found {quote(how.up)}")
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
    points = points * frame.metres_per_unit
    if up == "-y":
        points = points * (1.0, -1.0, -1.0)
    elif frame.up == "z":
        points = np.stack([points[..., 0], points[..., 2], -points[..., 1]], axis=-1)
    return points, notes


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
