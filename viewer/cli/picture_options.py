"""Options of the commands that show: the window, pictures, films."""

from __future__ import annotations

import argparse
from typing import ClassVar

from viewer.cli import options
from viewer.cli.job import FILES, SKELETONS, Options, argument, flag, option, part
from viewer.errors import quote
from viewer.formats import file_formats

# --- view

DEFAULT_FILE = "sample:biped"
_WINDOWS = ("glfw", "pyglet", "headless")


def _window_size(text: str) -> tuple[int, int]:
    pixels = options.size(text)
    if pixels is None:
        raise argparse.ArgumentTypeError(f"expected WxH such as 1280x720, found {quote(text)}")
    return pixels


class Beginning(Options, title="what to show first"):
    """The initial motion, pose, goals and solver, of the first file."""

    clip: str | None = option("NAME", "the motion to show, if a file has several")
    frame: int | None = option(
        "N", "initial frame of the clip, counted from 0 (default 0)", parse=options.count, one_of="frames"
    )
    pose: str | None = options.pose_option(
        "initial pose: `rest`, `relaxed`, the name of a pose in the file, or a [pose file](files.md#poses-and-goals)",
        one_of="frames",
    )
    goals: str | None = option(
        "GOALS",
        "initial goals from a [goals file](files.md#poses-and-goals), instead of holding every effector",
        completes=FILES,
        reads=True,
    )
    solver: str | None = options.solver_option(None)
    backend: str | None = options.backend_option(None)
    no_limits: bool = options.NO_LIMITS


class Window(Options, title="the window"):
    """Window library, automation and files to write."""

    size: tuple[int, int] = option("WxH", "window size (default 1280x720)", parse=_window_size, default=(1280, 720))
    window: str = option(
        "",
        "window library: `glfw` (default), `pyglet`, or `headless` (no window, for scripts)",
        choices=_WINDOWS,
        default="glfw",
    )
    state_file: str | None = option("PATH", "keep a JSON document of what the window shows", completes=FILES)
    script: str | None = option(
        "SESSION",
        "replay what was done while *Record actions* was on, instead of showing FILE",
        completes=FILES,
        reads=True,
    )
    exit_after: int | None = option(
        "N", "close after N frames; exit code 1 if this ends a `--script` early", parse=options.count
    )
    screenshot: str | None = option(
        "OUT.png", "save a picture of the window with panels, once it is at rest", completes=FILES
    )


class ViewOptions(Options):
    """Options of ``ikviewer view``."""

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
        f"{options.FILE_KINDS}, a session (`.ikv.json`), `sample:NAME`, `demo:NAME` or `-` (standard input)",
        nargs="?",
        default=DEFAULT_FILE,
        completes=SKELETONS,
        reads=True,
    )
    more: list[str] = argument(
        "MORE",
        "other such files, whose figures stand beside the first one and play on the same clock",
        nargs="*",
        completes=SKELETONS,
        reads=True,
    )
    reading: options.Reading = part(options.Reading)
    beginning: Beginning = part(Beginning)
    window: Window = part(Window)


# --- render

CAMERAS = ("front", "side", "top", "three-quarter")
_LARGEST = 8192


def _picture_size(text: str) -> tuple[int, int]:
    pixels = options.size(text)
    if pixels is None or not all(1 <= number <= _LARGEST for number in pixels):
        raise argparse.ArgumentTypeError(
            f"expected WIDTHxHEIGHT, each from 1 to {_LARGEST} pixels, found {quote(text)}"
        )
    return pixels


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
    """The motion, or a pose."""

    frame: int | None = option(
        "N", "the frame of a picture, counted from 0 (default the first)", parse=options.count, one_of="frames"
    )
    frames: range | None = option(
        "A:B",
        "the frames of a film, A to B, both included (`A:B:STEP`; default all)",
        parse=options.frame_range,
        one_of="frames",
    )
    pose: str | None = options.pose_option(
        "the pose of a picture: `rest`, `relaxed`, the name of a pose in the file, or a [pose "
        "file](files.md#poses-and-goals). Default without motion the relaxed pose; for a session the saved pose",
        one_of="frames",
    )
    clip: str | None = options.CLIP
    goals: str | None = option(
        "G",
        "mark the effectors and the targets of a [goals file](files.md#poses-and-goals) and draw its objects; "
        "the pose stays ([`solve ... "
        "-o OUT.png`](#solve) changes it)",
        completes=FILES,
        reads=True,
    )
    limits: bool = flag("show joint ranges and highlight joints at a limit")
    body: str = option(
        "BODY",
        "what is drawn of the figure: `skin` (default; sticks where the file has no mesh), `sticks` or `capsules`",
        choices=("skin", "sticks", "capsules"),
        default="skin",
    )


class Look(Options, title="how pictures look"):
    """How a picture looks."""

    size: tuple[int, int] = option("WxH", "pixels (default 640x480)", parse=_picture_size, default=(640, 480))
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
        "N", "samples per pixel, for smooth edges; 0 is quickest (default 4)", parse=options.count, default=4
    )


class Film(Options, title="moving pictures"):
    """Rate of a film, and a turn round the figure."""

    fps: float | None = option(
        "N",
        "pictures a second; the motion lasts as long as before (its own rate, or a part of it: MP4 up to 60, GIF up to "
        "30)",
        parse=options.at_most(file_formats.FASTEST_FPS, "frames a second"),
    )
    turntable: float | bool = option(
        "S",
        "circle the figure once in S seconds (default the motion's duration, 4 for a pose)",
        parse=options.at_most(file_formats.SLOWEST_TURN, "seconds"),
        nargs="?",
        const=True,
        default=False,
    )


class RenderOptions(Options):
    """Options of ``ikviewer render``."""

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

    file: str = options.INPUT_FILE
    reading: options.Reading = part(options.Reading)
    output: str = options.output_option("what to write: `.png`, `.mp4`, `.gif` or `walk_%04d.png`", required=True)
    subject: Subject = part(Subject)
    look: Look = part(Look)
    film: Film = part(Film)
    spread: options.Spreading = part(options.Spreading)
    json: bool = flag("print one JSON document about what was written; of many files a list")


# --- poses


class PosesOptions(Options):
    """Options of ``ikviewer poses``."""

    examples: ClassVar[str] = """examples:
  ikviewer poses poses
  ikviewer poses poses --find "left hand"
  ikviewer poses poses --pictures
  ikviewer view hero.bvh --pose poses/Crouch.json

A library is a folder of pose files, such as `poses` beside a rig; the window keeps poses there."""

    folder: str = argument("FOLDER", "the folder", completes=FILES)
    find: str = option("TEXT", "only poses with every word of the text in their name or tags", default="")
    pictures: bool = flag("draw the pictures (PNG, 128 x 128) that are missing or older than their pose")
    json: bool = options.JSON
