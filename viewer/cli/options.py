"""Options that several commands share, among them those of what is shown, and checks of their values.

A wrong value is wrong usage (exit code 2).
"""

from __future__ import annotations

import argparse
import contextlib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeVar

from viewer.choices import BACKENDS, METHOD_NAMES, ROOT_MODES
from viewer.cli.job import FILES, SKELETONS, Options, UsageError, argument, flag, option, part, repeated
from viewer.errors import InputError, ViewerError, quote
from viewer.formats import file_formats
from viewer.formats.file_formats import LIMIT_SOURCES, UNIT_NAMES, UP_NAMES, UpWord, check_units, check_up

T = TypeVar("T")
V = TypeVar("V")

SESSION_POSE = "session"
"""Name of the pose in which a session was saved."""

_COUNT = re.compile(r"[0-9]{1,9}")
_SIZE = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")
_OBJECT = re.compile(r"(sphere|box|mesh):(.+?)(?:@([^@]*))?")
OBJECT_FORM = "sphere:RADIUS@X,Y,Z, box:WIDTH,HEIGHT,DEPTH@X,Y,Z or mesh:FILE[@X,Y,Z]"
_FRAMES = re.compile(r"([0-9]{1,9})(?::([0-9]{1,9})(?::([0-9]{1,9}))?)?")

*_FIRST, _LAST = file_formats.CHARACTER_FILES
FILE_KINDS = f"{', '.join(_FIRST)} or {_LAST} file"
INPUT_FILE: Any = argument(
    "FILE", f"{FILE_KINDS}, a session (`.ikv.json`), `sample:NAME`, or `-` (standard input)",
    completes=SKELETONS,
)  # fmt: skip
"""The one input of a command."""
JSON: Any = flag("print one JSON document")
CLIP: Any = option("NAME", "the motion, if a file has several")

SCHEDULER: Any = option(
    "ADDRESS", "do the work on the Dask cluster of this scheduler, such as `tcp://host:8786` (extra `cluster`)"
)
NO_LIMITS: Any = flag("ignore joint limits")
ROOT: Any = option(
    "", "what a free root may do: `free` (default), `translate` or `locked`", choices=ROOT_MODES, default="free"
)

DEFAULT_FILE = "sample:biped"
_WINDOWS = ("glfw", "pyglet", "headless")

CAMERAS = ("front", "side", "top", "three-quarter")
_LARGEST = 8192


# --- checks


def checked(check: Callable[[str], T]) -> Callable[[str], T]:
    """A check of the library as a converter for argparse."""

    def convert(text: str) -> T:
        try:
            return check(text)
        except ViewerError as error:
            message = str(error)  # "units: expected ..."; argparse names the option
            raise argparse.ArgumentTypeError(message[message.find("expected") :]) from error

    return convert


@contextlib.contextmanager
def usage_of(name: str) -> Iterator[None]:
    """Within the block an InputError is wrong usage of an option: for checks whose modules only the work loads."""
    try:
        yield
    except InputError as error:
        raise UsageError(f"argument {name}: {str(error).removeprefix(f'{name[2:]}: ')}") from error


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def finite(text: str) -> float:
    """A finite number."""
    number = _number(text)
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"expected a finite number, found {quote(text)}")
    return number


def positive(text: str) -> float:
    """A finite number above 0."""
    number = _number(text)
    if not (number > 0 and math.isfinite(number)):
        raise argparse.ArgumentTypeError(f"expected a number above 0, found {quote(text)}")
    return number


def at_most(most: float, what: str) -> Callable[[str], float]:
    """A converter for a number above 0 and not above ``most``."""

    def convert(text: str) -> float:
        number = positive(text)
        if number > most:
            raise argparse.ArgumentTypeError(f"expected at most {most:g} {what}, found {quote(text)}")
        return number

    return convert


def within(low: float, high: float, what: str = "a number") -> Callable[[str], float]:
    """A converter for a number in a range, both ends included."""

    def convert(text: str) -> float:
        number = _number(text)
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"expected {what} from {low:g} to {high:g}, found {quote(text)}")
        return number

    return convert


fraction = within(0.0, 1.0)
"""A number from 0 to 1."""


def count(text: str, least: int = 0) -> int:
    """A whole number, not below ``least``."""
    if _COUNT.fullmatch(text.strip()) is None or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected a whole number, {least} or more, found {quote(text)}")
    return int(text)


def size_of(expected: str, least: int = 0, most: int = 99_999) -> Callable[[str], tuple[int, int]]:
    """A converter for a width and height such as ``640x480``, each in a range."""

    def convert(text: str) -> tuple[int, int]:
        match = _SIZE.fullmatch(text.strip().casefold())
        width, height = (-1, -1) if match is None else map(int, match.groups())
        if not (least <= width <= most and least <= height <= most):
            raise argparse.ArgumentTypeError(f"expected {expected}, found {quote(text)}")
        return width, height

    return convert


def or_word(words: Mapping[str, T], convert: Callable[[str], V], expected: str) -> Callable[[str], T | V]:
    """A converter for one of some words, or for what another one converts."""

    def either(text: str) -> T | V:
        try:
            return words[text] if text in words else convert(text)
        except argparse.ArgumentTypeError:
            raise argparse.ArgumentTypeError(f"expected {expected}, found {quote(text)}") from None

    return either


def frame_range(text: str) -> range:
    """``A``, ``A:B`` or ``A:B:STEP``, counted from 0, both ends included."""
    match = _FRAMES.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"expected A, A:B or A:B:STEP, counted from 0, found {quote(text)}")
    first = int(match.group(1))
    last = int(match.group(2)) if match.group(2) else first
    step = int(match.group(3)) if match.group(3) else 1
    if first > last or step < 1:
        raise argparse.ArgumentTypeError(f"expected A <= B and a step of 1 or more, found {quote(text)}")
    return range(first, last + 1, step)


def frame_list(text: str) -> list[range]:
    """Frames such as ``0,10,20:30``."""
    return [frame_range(piece) for piece in text.split(",")]


# --- options


class Reading(Options, title="describing the input"):
    units: str = option(
        "U",
        "what one unit of the file is: `auto` (default: stated, or guessed), `m`, `cm`, `mm`, `inch`, a number of "
        "metres, or `raw`: metres, axes unchanged",
        parse=checked(check_units),
        default="auto",
        words=UNIT_NAMES,
    )
    up: UpWord = option(
        "AXIS",
        "the up axis of the file: `auto` (default), `y` or `z`",
        parse=checked(check_up),
        default="auto",
        words=UP_NAMES,
    )
    limits_from: str = option(
        "SOURCE",
        "where limits come from: `auto` (default: the file, else `human+clip` for a person, else `clip`), `file`, "
        "`human+clip` (what either allows), `human` (anatomical), `clip` (the motion's ranges, widened) or `none`",
        default="auto",
        choices=("auto", *LIMIT_SOURCES),
        kind="source",
    )
    rig: str | None = option(
        "FILE",
        "a skeleton file that supplies joint kinds, limits, stiffness and effectors by joint name",
        completes=SKELETONS,
    )


JOBS: Any = option("N", "number of processes (default {default})", short="-j", parse=partial(count, least=1), default=1)
TOLERANCE_M: Any = option("M", "tolerance of positions, metres (default {default})", parse=positive, default=1e-3)
TOLERANCE_DEG: Any = option("D", "tolerance of rotations, degrees (default {default})", parse=positive, default=0.5)


def pose_option(text: str, **rest: Any) -> Any:  # noqa: ANN401 - a field of type str | None
    """Declare an option that takes a pose by name, or a pose file: ``POSE`` in its text says so."""
    poses = "`rest`, `relaxed`, the name of a pose in the file, or a [pose file](files.md#poses-and-goals)"
    words = text.replace("POSE", poses)
    return option("P", words, words=("rest", "relaxed"), completes=FILES, **rest)


def output_option(text: str, **rest: Any) -> Any:  # noqa: ANN401 - a field of type str or str | None
    """Declare ``-o`` and ``--output``."""
    return option("OUT", text, short="-o", completes=FILES, writes=True, **rest)


class ShapeText(NamedTuple):
    """An object as ``--object`` states it: sphere, box or mesh (of a file), its centre, metres.

    ``sizes`` are a radius, or width, height, depth, metres; objects with ``kilograms`` move.
    """

    shape: str
    sizes: tuple[float, ...]
    file: str
    center: tuple[float, float, float]
    kilograms: float | None = None


def shape_text(text: str) -> ShapeText:
    """A fixed object: a text such as ``sphere:0.1@0,1,0.4``."""
    found = _OBJECT.fullmatch(text)
    shape, size, place = ("", "", "") if found is None else found.groups()
    numbers = [_number(part) for part in (place or ("0,0,0" if shape == "mesh" else "")).split(",")]
    sizes = [] if shape == "mesh" else [_number(part) for part in size.split(",")]
    many = {"sphere": 1, "box": 3, "mesh": 0}.get(shape)
    if len(sizes) != many or len(numbers) != 3 or not all(map(math.isfinite, (*sizes, *numbers))):
        raise argparse.ArgumentTypeError(f"expected {OBJECT_FORM}, found {quote(text)}")
    if any(each <= 0.0 for each in sizes):
        raise argparse.ArgumentTypeError(f"expected sizes above 0, found {quote(text)}")
    return ShapeText(shape, tuple(sizes), size if shape == "mesh" else "", (numbers[0], numbers[1], numbers[2]))


def moving_shape_text(text: str) -> ShapeText:
    """An object that is fixed, or has a mass: ``sphere:0.1@0,1,0.4=2``."""
    shape, found, mass = text.rpartition("=")
    if not found or "," in mass or "@" in mass:  # = in the name of a mesh's file
        return shape_text(text)
    kilograms = _number(mass)
    if not (kilograms > 0.0 and math.isfinite(kilograms)):
        raise argparse.ArgumentTypeError(f"expected kilograms above 0 after =, found {quote(text)}")
    return shape_text(shape)._replace(kilograms=kilograms)


def objects_option(text: str) -> Any:  # noqa: ANN401 - a field of type list[ShapeText]
    """Declare ``--object``; ``text`` says what the objects are."""
    words = f"{text}, metres: {OBJECT_FORM}. May be given several times"
    return repeated("SHAPE", words, parse=shape_text)


def goals_argument(**rest: Any) -> Any:  # noqa: ANN401 - a field of type str or str | None
    """Declare GOALS."""
    return argument("GOALS", "goals file (JSON), or `-` (standard input)", completes=FILES, **rest)


def solver_option(default: str | None) -> Any:  # noqa: ANN401 - a field of type str or str | None
    """Declare ``--solver``."""
    text = "`default`, or another method: " + ", ".join(f"`{name}`" for name in METHOD_NAMES[1:])
    return option("NAME", text, choices=METHOD_NAMES, default=default)


def backend_option(default: str | None) -> Any:  # noqa: ANN401 - a field of type str or str | None
    """Declare ``--backend``."""
    text = "`numpy`, `numba` (compiled; the first time takes about 20 seconds) or `auto` (default)"
    return option("", text, choices=BACKENDS, default=default)


class Spreading(Options, title="many inputs"):
    resume: bool = flag(
        "skip inputs that an earlier call has done: unchanged since, same options, output of the same size; needs "
        "`-o`. `.batch.jsonl` in the output folder logs a line of JSON per input"
    )
    jobs: int = JOBS
    scheduler: str | None = SCHEDULER


class Beginning(Options, title="what to show first"):
    clip: str | None = option("NAME", "the motion to show, if a file has several")
    frame: int | None = option(
        "N", "initial frame of the clip, counted from 0 (default 0)", parse=count, one_of="frames"
    )
    pose: str | None = pose_option("initial pose: POSE", one_of="frames")
    goals: str | None = option(
        "GOALS",
        "initial goals from a [goals file](files.md#poses-and-goals), instead of holding every effector",
        completes=FILES,
    )
    solver: str | None = solver_option(None)
    backend: str | None = backend_option(None)
    no_limits: bool = NO_LIMITS


class Window(Options, title="the window"):
    size: tuple[int, int] = option(
        "WxH", "window size (default {default})", parse=size_of("WxH such as 1280x720"), default=(1280, 720)
    )
    window: str = option(
        "",
        "window library: `glfw` (default), `pyglet`, or `headless` (no window, for scripts)",
        choices=_WINDOWS,
        default="glfw",
    )
    state_file: str | None = option(
        "PATH", "keep a JSON document of what the window shows", completes=FILES, writes=True
    )
    script: str | None = option(
        "SESSION", "replay what was done while *Record actions* was on, instead of showing FILE", completes=FILES
    )
    exit_after: int | None = option(
        "N", "close after N frames; exit code 1 if this ends a `--script` early", parse=count
    )
    screenshot: str | None = option(
        "OUT.png", "save a picture of the window with panels, once it is at rest", completes=FILES, writes=True
    )


class ViewOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer view walk.bvh
  ikviewer view sample:claw-arm --no-limits
  ikviewer view walk.bvh --frame 12 --goals reach.json --solver dls
  ikviewer view a.bvh b.bvh c.glb
  ikviewer view work.ikv.json
  ikviewer view --script reported.ikv.json
  ikviewer view demo:two-link

Without FILE the bundled biped is shown. Several stand beside each other;
the options of the beginning are the first one's. F1 in the window lists all keys."""

    file: str = argument(
        "FILE",
        f"{FILE_KINDS}, a session (`.ikv.json`), `sample:NAME`, `demo:NAME` or `-` (standard input)",
        nargs="?",
        default=DEFAULT_FILE,
        completes=SKELETONS,
    )
    more: list[str] = argument(
        "MORE",
        "other such files, whose figures stand beside the first one and play on the same clock",
        nargs="*",
        completes=SKELETONS,
    )
    reading: Reading = part(Reading)
    beginning: Beginning = part(Beginning)
    window: Window = part(Window)


def _camera(text: str) -> str | tuple[float, ...]:
    """The name of a camera, or (yaw, pitch) or (yaw, pitch, distance)."""
    name = text.strip().casefold()
    if name in CAMERAS:
        return name
    expected = f"expected {', '.join(CAMERAS)} or yaw,pitch,distance, found {quote(text)}"
    try:
        return tuple(float(part) for part in name.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(expected) from None


class Subject(Options, title="what to show"):
    frame: int | None = option(
        "N", "the frame of a picture, counted from 0 (default the first)", parse=count, one_of="frames"
    )
    frames: range | None = option(
        "A:B",
        "the frames of a film, A to B, both included (`A:B:STEP`; default all)",
        parse=frame_range,
        one_of="frames",
    )
    pose: str | None = pose_option(
        "the pose of a picture: POSE. Default without motion the relaxed pose; for a session the saved pose",
        one_of="frames",
    )
    clip: str | None = CLIP
    goals: str | None = option(
        "G",
        "mark the effectors and the targets of a [goals file](files.md#poses-and-goals) and draw its objects; "
        "the pose stays ([`solve ... "
        "-o OUT.png`](#solve) changes it)",
        completes=FILES,
    )
    limits: bool = flag("show joint ranges and highlight joints at a limit")
    body: str = option(
        "BODY",
        "what is drawn of the figure: `skin` (default; sticks where the file has no mesh), `sticks` or `capsules`",
        choices=("skin", "sticks", "capsules"),
        default="skin",
    )


class Look(Options, title="how pictures look"):
    size: tuple[int, int] = option(
        "WxH",
        "pixels (default {default})",
        parse=size_of(f"WIDTHxHEIGHT, each from 1 to {_LARGEST} pixels", 1, _LARGEST),
        default=(640, 480),
    )
    camera: str | tuple[float, ...] = option(
        "C",
        f"{', '.join(f'`{name}`' for name in CAMERAS)} (default), or `YAW,PITCH`: degrees off the figure's front to "
        "its left, and up; a third number is the distance in metres (all of the figure is in view without). "
        "`--camera=-30,20` if it starts with a minus",
        parse=_camera,
        default="three-quarter",
        words=CAMERAS,
    )
    samples: int = option(
        "N", "samples per pixel, for smooth edges; 0 is quickest (default {default})", parse=count, default=4
    )


class Film(Options, title="moving pictures"):
    fps: float | None = option(
        "N",
        "pictures a second; the motion lasts as long as before (its own rate, or a part of it: MP4 up to 60, GIF up to "
        "30)",
        parse=at_most(file_formats.FASTEST_FPS, "frames a second"),
    )
    turntable: float | bool = option(
        "S",
        "circle the figure once in S seconds (default the motion's duration, 4 for a pose)",
        parse=at_most(file_formats.SLOWEST_TURN, "seconds"),
        nargs="?",
        const=True,
        default=False,
    )


class RenderOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer render walk.bvh -o walk.png --frame 12
  ikviewer render sample:biped -o biped.png --size 1920x1080 --camera front --limits
  ikviewer render sample:claw-arm -o arm.png --goals grip.json --camera 30,20,1.5
  ikviewer render walk.bvh -o walk.mp4 --size 1280x720
  ikviewer render walk.bvh -o stride.gif --frames 0:33 --fps 15 --camera side
  ikviewer render sample:biped -o biped.mp4 --turntable
  ikviewer render captures/ -o 'pictures/{stem}.png' --jobs 4

A .png without --frame or --pose shows the first frame of FILE, the relaxed pose if it has none; of a
session the pose in which it was saved. .mp4, .gif and
numbered pictures (walk_%04d.png) show all of its motion, or its pose turned round by --turntable."""

    file: str = INPUT_FILE
    reading: Reading = part(Reading)
    output: str = output_option("what to write: `.png`, `.mp4`, `.gif` or `walk_%04d.png`", required=True)
    subject: Subject = part(Subject)
    look: Look = part(Look)
    film: Film = part(Film)
    spread: Spreading = part(Spreading)
    json: bool = flag("print one JSON document about what was written; of many files a list")


class PosesOptions(Options):
    examples: ClassVar[str] = """examples:
  ikviewer poses poses
  ikviewer poses poses --find "left hand"
  ikviewer poses poses --pictures
  ikviewer view hero.bvh --pose poses/Crouch.json

A library is a folder of pose files, such as `poses` beside a rig; the window keeps poses there."""

    folder: str = argument("FOLDER", "the folder", completes=FILES)
    find: str = option("TEXT", "only poses with every word of the text in their name or tags", default="")
    pictures: bool = flag("draw the pictures (PNG, 128 x 128) that are missing or older than their pose")
    json: bool = JSON
