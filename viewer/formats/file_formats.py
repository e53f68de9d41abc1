"""The file formats, a line each in `FORMATS`: suffix, what the format can hold, functions that read and write it.

Loading, saving, the lists of `ikviewer convert`, the export dialog and the completion of shells are all made from this
table. It loads neither numpy nor a format's module: those are imported when a file is read or written.

Here are also the words that say how a file is read (units, axes, sources of limits), and the names and rates of films.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from viewer.errors import InputError, missing_library, quote

_GLTF = "gltf.gltf_reader:read_gltf", "gltf.gltf_writer:write_gltf"
_POSITIONS, _USD, _MESH = "positions:read_positions", "usd:write_usd", "save:write_mesh"

FormatWord = Literal["bvh", "json", "npz", "csv", "npy", "htr", "trc", "glb", "gltf", "urdf", "xacro", "xml"]
"""The suffixes of `READ` without their dots, for type checkers, which read no table; a test compares them."""

SESSION_SUFFIX = ".ikv.json"
SAMPLE = "sample:"
"""Begins the names of bundled files."""
STANDARD_INPUT = "-"
STDIN_STEM = "stdin"
"""Name of a skeleton that is read from standard input and has none of its own."""
MOST_DECIMALS = 17
"""More decimals than this add nothing to a double."""

UNIT_LENGTHS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "cmu": 0.0564444}
"""Metres per unit; "cmu" is the unit of the CMU motion captures, which is 1/0.45 inch."""
UNIT_NAMES = ("auto", "m", "cm", "mm", "inch", "raw")
UpWord = Literal["auto", "y", "z"]
UP_NAMES: tuple[UpWord, ...] = get_args(UpWord)
FIT_UPS = (*UP_NAMES, "-y")
"""Axes that may be up in positions that a figure is fitted to: images count down."""
LimitSource = Literal["file", "learned", "human+clip", "human", "clip", "none"]
"""Where the limits of a character come from; see `viewer.formats.limit_sources`."""
LIMIT_SOURCES: tuple[LimitSource, ...] = get_args(LimitSource)

FASTEST_FPS = 240.0
"""Frames per second at most."""
USUAL_FPS = {".mp4": 60.0, ".gif": 30.0}
"""Most frames per second by default; motion is often captured at 120."""
GIF_FPS = 50.0
"""Frames per second of a GIF at most; most programs play faster ones slowly."""
STILL_FPS, STILL_TURN = 30.0, 4.0
"""Defaults for a still pose: frames per second, and seconds of one turn around it."""
SLOWEST_TURN = 3600.0
"""Seconds of a turn at most."""
SAME_RATE = 1e-3
"""Relative error of a rate: files state frame times with few digits."""

_NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that no XML document can hold."""
FRAME_FIELD = re.compile(r"%\d*d")
"""The place of a frame's number in a name, such as ``walk_%04d.png``."""


class WriteOptions(NamedTuple):
    """How to write.

    Attributes:
        precision: decimals of numbers in text formats, or None for the format's own.
        pose: only a pose is written, so that no warning is due for what else is left out.
        as_read: units and axes are those of the BVH file that the character was read from.
        joints: a table holds joint values, a column per degree of freedom, and not positions in the world.
        objects: gives the objects beside the figure at a frame of the first clip, for formats that hold objects; None:
            none.
        figures: other characters in the same scene, for formats that hold objects.
    """

    precision: int | None = None
    pose: bool = False
    as_read: bool = False
    joints: bool = False
    objects: Callable[[int], Sequence[Any]] | None = None
    figures: tuple[Any, ...] = ()


class FileFormat(NamedTuple):
    """One format.

    Attributes:
        suffix: of its files, with the dot.
        name: in messages and on buttons.
        reader: ``module:function`` in this package, called as `read` says; "": none.
        writer: ``module:function``, called as `write` says; "": none.
        hint: what the format is for, in the list of exports; "": it is not listed.
        in_metres: its files are in metres, Y up, always.
        decimals: its numbers can be written with fewer decimals.
        several_clips: it holds all clips of a character; other formats with motion hold only the first.
        is_shape: it holds the shape of one pose, as a mesh.
        is_still: it holds joints without any motion.
        is_complete: it holds everything that a character has.
        always_a_frame: it holds the rest pose where there is no motion.
        points: ``module:function``, called as `read_points` says, if its files may hold positions over time, to which
            `positions:read_positions` and ``ikviewer fit`` fit a figure; "": none.
        has_joint_values: it can hold joint values, a column per degree of freedom, instead of positions.
        is_alone: such files are not taken from folders of inputs: they are programs, or the suffix has other meanings,
            too.
        has_meshes: its files hold meshes: the skin, objects beside the figure, other figures.
        has_mesh_files: its meshes are separate files, which take longer to read than everything else.
        is_xml: its files are XML, which cannot hold names with control characters.
        sign: the first bytes of its files in lower or upper case, or for XML "<" and the root element: by these the
            format of contents without a name is recognised.
    """

    suffix: str
    name: str
    reader: str = ""
    writer: str = ""
    hint: str = ""
    in_metres: bool = False
    decimals: bool = False
    several_clips: bool = False
    is_shape: bool = False
    is_still: bool = False
    is_complete: bool = False
    always_a_frame: bool = False
    points: str = ""
    has_joint_values: bool = False
    is_alone: bool = False
    has_meshes: bool = False
    has_mesh_files: bool = False
    is_xml: bool = False
    sign: bytes = b""

    def read(self, path: Path, name: str, units: str, up: str, *, meshes: bool = True) -> Any:  # noqa: ANN401 - a Character, whose module loads numpy
        """The character of a file; ``name`` is what messages call it. A library that it needs may not be installed.

        Formats in metres always give a warning for other units and axes, which are as `check_units` and `check_up`
        return them. Without ``meshes`` those in files of their own stay unread.
        """
        more = {} if meshes or not self.has_mesh_files else {"meshes": False}
        return _function(self.reader)(path, name, units=units, up=up, **more)

    def read_points(self, path: Path, name: str) -> Any:  # noqa: ANN401 - RecordedPoints, whose module loads numpy
        """The positions over time of a file; a FormatError need not name it."""
        return _function(self.points)(path, name)

    def check_names(self, names: Iterable[str]) -> None:
        """Raise InputError for a name that the format cannot hold."""
        wrong = next((name for name in names if self.is_xml and _NO_XML.search(name)), None)
        if wrong is not None:
            expected = f"expected names of printable letters, found {quote(wrong)}"
            raise InputError(f"cannot be written as {self.name}: {expected}")

    def write(self, character: Any, path: Path, options: WriteOptions) -> list[str]:  # noqa: ANN401
        """Write a character, and return warnings: what the format could not hold.

        Raises:
            OutputError: the file cannot be written.
            InputError: NaN, infinite numbers, or numbers that the format cannot hold.
            MachineError: a library that the format needs is not installed.
        """
        try:
            warnings: list[str] = _function(self.writer)(character, path, options)
        except ImportError as error:
            raise missing_library(f"writing {self.suffix if self.is_shape else self.name}", error) from error
        return warnings


def _function(place: str) -> Any:  # noqa: ANN401
    module, _, name = place.partition(":")
    return getattr(import_module(f"viewer.formats.{module}"), name)


FORMATS = (
    FileFormat(".bvh", "BVH", "bvh:read_bvh", "bvh:write_bvh",
               "Motion capture: skeleton and motion", decimals=True, always_a_frame=True, sign=b"HIERARCHY"),
    FileFormat(".json", "JSON", "skeleton_json:read_skeleton_json", "skeleton_json:write_skeleton_json",
               "All of the figure, in ikviewer's own format", decimals=True, is_complete=True, sign=b"{"),
    FileFormat(".npz", "NPZ", "positions:read_npz_file", "arrays_and_tables:write_npz",
               "Arrays for NumPy", in_metres=True, is_complete=True, points="positions:read_npz_points",
               sign=b"PK\x03\x04"),
    FileFormat(".csv", "CSV", _POSITIONS, "arrays_and_tables:write_csv",
               "A table of positions and angles", in_metres=True, decimals=True, always_a_frame=True,
               points="positions:read_csv_points", has_joint_values=True),
    FileFormat(".npy", "NPY", _POSITIONS, points="positions:read_npy_points"),
    FileFormat(".htr", "HTR", "htr:read_htr", "htr:write_htr",
               "Motion capture, for programs of Motion Analysis", decimals=True),
    FileFormat(".trc", "TRC", _POSITIONS, points="positions:read_trc_points"),
    FileFormat(".glb", "GLB", *_GLTF,
               "glTF in one file: for Blender, engines, browsers", in_metres=True, several_clips=True, has_meshes=True,
               sign=b"glTF"),
    FileFormat(".gltf", "glTF", *_GLTF, "glTF as text", in_metres=True, several_clips=True,
               has_meshes=True, sign=b"{"),
    FileFormat(".urdf", "URDF", "urdf:read_urdf", "urdf:write_urdf",
               "A robot: links, joints, limits, shapes", in_metres=True, is_still=True, has_mesh_files=True,
               is_xml=True, sign=b"<robot"),
    FileFormat(".xacro", "xacro", "urdf:read_xacro", is_alone=True, has_mesh_files=True),
    FileFormat(".usda", "USD", "", _USD, "For Blender, Maya, Houdini, Omniverse", in_metres=True),
    FileFormat(".usdc", "USD", "", _USD, in_metres=True),
    FileFormat(".xml", "MJCF", "mjcf:read_mjcf", "mjcf:write_mjcf",
               "A MuJoCo model: joints, limits, capsules, masses", in_metres=True, is_still=True, is_alone=True,
               is_xml=True, sign=b"<mujoco"),
    FileFormat(".obj", "OBJ", "", _MESH, "The shape of this pose", in_metres=True, is_shape=True),
    FileFormat(".stl", "STL", "", _MESH, "The shape of this pose, for printing", in_metres=True, is_shape=True),
    FileFormat(".ply", "PLY", "", _MESH, "The shape of this pose", in_metres=True, is_shape=True),
)  # fmt: skip
"""All formats, in the order in which messages and dialogs list them. Adding one takes its module and a line here, and
if it can be read its word in `FormatWord`."""
BY_SUFFIX = {each.suffix: each for each in FORMATS}
READ = tuple(each.suffix for each in FORMATS if each.reader)
WRITTEN = tuple(each.suffix for each in FORMATS if each.writer)
"""Suffixes of the files that can be written."""
READ_IN_FOLDERS = tuple(each.suffix for each in FORMATS if each.reader not in {"", _POSITIONS} and not each.is_alone)
"""Suffixes of the files in a folder that are inputs: tables and plain arrays may be anything."""
CHARACTER_FILES = tuple(
    dict.fromkeys("glTF" if f.name == "GLB" else f.name for f in FORMATS if f.reader not in {"", _POSITIONS})
)
"""Names of the formats that hold skeletons."""
POINT_FILES = tuple(each.suffix for each in FORMATS if each.points)
"""Suffixes of the files that may hold positions over time."""
FILMS = tuple(USUAL_FPS)
PICTURES = (".png", *FILMS)
"""Suffixes of what is drawn, not saved."""
POSES = (*(each.suffix for each in FORMATS if each.writer and not each.is_still), ".png")
"""Suffixes of the files that can show one pose."""
MESHES = (".obj", ".stl", ".ply", ".off", ".glb", ".gltf", ".3mf")
"""Suffixes of the files that can be an object beside a figure."""


def is_session(path: str | Path) -> bool:
    """Whether a name is that of a session file."""
    return str(path).casefold().endswith(SESSION_SUFFIX)


def format_of(path: Path) -> FileFormat:
    """The format of a file by its name; a format without reader and writer for an unknown suffix."""
    suffix = path.suffix.casefold()
    return BY_SUFFIX.get(suffix, FileFormat(suffix, suffix[1:].upper()))


def check_units(units: str | float) -> str:
    """The name of a unit, or a number of metres, as a string."""
    text = str(units).strip().casefold()
    if text in UNIT_NAMES or text in UNIT_LENGTHS:
        return text
    if re.fullmatch(r"[0-9.]+(e[+-]?[0-9]+)?", text) and text.count(".") <= 1 and text[0] != "e" and text != ".":
        metres = float(text)
        if math.isfinite(metres) and 1e-12 <= metres <= 1e12:
            return text
    raise InputError(f"units: expected {', '.join(UNIT_NAMES)} or metres per unit, found {quote(str(units))}")


def check_up(up: str) -> UpWord:
    """One of auto, y, z."""
    for axis in UP_NAMES:
        if axis == str(up).casefold():
            return axis
    raise InputError(f"up: expected {', '.join(UP_NAMES)}, found {quote(up)}")


def is_film(path: Path) -> bool:
    """Whether a file's name is that of a film or of a series of numbered pictures, such as ``walk_%04d.png``."""
    suffix = path.suffix.casefold()
    return suffix in USUAL_FPS or (suffix == ".png" and FRAME_FIELD.search(path.name) is not None)


def playable_fps(rate: float, most: float) -> float:
    """The largest of a clip's own rate, half of it, a third of it, ... that is not above ``most``.

    At such a rate every picture shows a frame of the clip, without interpolation.
    """
    return rate / max(1, math.ceil(rate / most - SAME_RATE))


def same_rate(fps: float, other: float) -> bool:
    """Whether two rates are equal within the precision of files."""
    return abs(fps - other) <= SAME_RATE * other


def unread(path: Path, suffixes: Iterable[str], name: str) -> InputError:
    """The error for what is no file to read whose name ends in one of these."""
    if name and path.is_dir():
        return InputError(f"{name}: expected a file, found a folder")
    if name and not os.path.exists(path):  # noqa: PTH110 - `Path.exists` raises OSError for names that are too long
        return InputError(f"{name}: no such file or folder")  # its suffix does not matter: the name is misspelt
    found = quote(path.suffix) if path.suffix else "no suffix"
    if path.suffix.casefold() in BY_SUFFIX and path.suffix.casefold() not in READ:
        found += ", which is written only"
    return InputError(f"{name or quote(name)}: expected a name that ends in {', '.join(suffixes)}, found {found}")


def wrong_suffix(path: Path, suffixes: Iterable[str], name: str = "") -> InputError:
    """The error for a file whose name, "" for its path, ends in none of these."""
    found = quote(path.suffix) if path.suffix else "no suffix"
    return InputError(f"{name or path}: expected a name that ends in {', '.join(suffixes)}, found {found}")
