"""``ikviewer render``: draws pictures and films without a screen."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from viewer.cli import inputs, job
from viewer.cli import options as shared
from viewer.cli.batch import Kind, Pair, Spreading, check_destination, is_many, on_each
from viewer.cli.job import FILES, Result, UsageError, flag, option, part
from viewer.cli.output import warn
from viewer.errors import InputError, quote
from viewer.formats import film_rates
from viewer.formats.progress import report

if TYPE_CHECKING:  # they load numpy
    from viewer.ik.contact import Contact
    from viewer.ik.goals import Goal
    from viewer.opengl.movies import Movie
    from viewer.opengl.pictures import CameraName
    from viewer.scene.scene import Body
    from viewer.skeleton import Character, Clip, Pose

EXAMPLES = """examples:
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

OUTPUTS = (".png", ".mp4", ".gif")
_NUMBER = re.compile(r"%\d*d")
_CAMERAS = ("front", "side", "top", "three-quarter")
_LARGEST = 8192


def _size(text: str) -> tuple[int, int]:
    pixels = shared.size(text)
    if pixels is None or not all(1 <= number <= _LARGEST for number in pixels):
        raise argparse.ArgumentTypeError(
            f"expected WIDTHxHEIGHT, each from 1 to {_LARGEST} pixels, found {quote(text)}"
        )
    return pixels


def _camera(text: str) -> str | tuple[float, ...]:
    """The name of a camera, or (yaw, pitch) or (yaw, pitch, distance)."""
    name = text.strip().casefold()
    if name in _CAMERAS:
        return name
    expected = f"expected {', '.join(_CAMERAS)} or yaw,pitch,distance, found {quote(text)}"
    try:
        numbers = tuple(float(part) for part in name.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(expected) from None
    from viewer.opengl.pictures import check_camera

    try:
        return check_camera(numbers)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error).partition(": ")[2]) from error


class What(job.Options, title="what to show"):
    """The motion, or a pose."""

    frame: int | None = option(
        "N", "the frame of a picture, counted from 0 (default the first)", parse=shared.count, one_of="frames"
    )
    frames: range | None = option(
        "A:B",
        "the frames of a film, A to B, both included (`A:B:STEP`; default all)",
        parse=shared.frame_range,
        one_of="frames",
    )
    pose: str | None = shared.pose_option(
        "the pose of a picture: `rest`, `relaxed`, the name of a pose in the file, or a [pose "
        "file](files.md#poses-and-goals). Default without motion the relaxed pose; for a session the saved pose",
        one_of="frames",
    )
    clip: str | None = shared.clip_option()
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


class How(job.Options, title="how"):
    """How a picture looks."""

    size: tuple[int, int] = option("WxH", "pixels (default 640x480)", parse=_size, default=(640, 480))
    camera: str | tuple[float, ...] = option(
        "C",
        f"{', '.join(f'`{name}`' for name in _CAMERAS)} (default), or `YAW,PITCH`: degrees off the figure's front to "
        "its left, and up; a third number is the distance in metres (all of the figure is in view without). "
        "`--camera=-30,20` if it starts with a minus",
        parse=_camera,
        default="three-quarter",
        words=_CAMERAS,
    )
    samples: int = option(
        "N", "samples per pixel, for smooth edges; 0 is quickest (default 4)", parse=shared.count, default=4
    )


class Moving(job.Options, title="moving pictures"):
    """Rate of a film, and a turn round the figure."""

    fps: float | None = option(
        "N",
        "pictures a second; the motion lasts as long as before (its own rate, or a part of it: MP4 up to 60, GIF up to "
        "30)",
        parse=shared.at_most(film_rates.FASTEST, "frames a second"),
    )
    turntable: float | bool = option(
        "S",
        "circle the figure once in S seconds (default the motion's duration, 4 for a pose)",
        parse=shared.at_most(film_rates.SLOWEST_TURN, "seconds"),
        nargs="?",
        const=True,
        default=False,
    )


class Options(job.Options):
    """Options of ``ikviewer render``."""

    file: str = shared.input_file()
    reading: shared.Reading = part(shared.Reading)
    output: str = option(
        "OUT", "what to write: `.png`, `.mp4`, `.gif` or `walk_%04d.png`", short="-o", required=True, completes=FILES
    )
    what: What = part(What)
    how: How = part(How)
    moving: Moving = part(Moving)
    spread: Spreading = part(Spreading)


def run(options: Options) -> Result | Iterator[Result]:
    """Draw, and write the picture or pictures; of many files each."""
    if not is_many([options.file], options.output):
        return _render(options)
    destination = check_destination(options.output, "ikviewer render")
    kind = Kind("drawing", "drawn", suffix=".png", check=lambda path: _check_picture(path, options))
    return on_each(kind, _render_into, options, [options.file], destination.pattern, options.spread)


def _render_into(options: Options, pair: Pair) -> Result:
    return _render(options.replaced(file=pair[0].file, output=str(pair[1])))


def _check_picture(output: Path, options: Options) -> None:
    _check_usage(options, _checked_output(str(output)))
    inputs.check_kept(output, options)


def _render(options: Options) -> Result:
    output = _checked_output(options.output)
    _check_usage(options, output)
    inputs.check_kept(output, options)
    character = inputs.chosen_clip(inputs.load_input(options.file, options.reading), options.what.clip, options.file)
    pose = _pose(character, options)
    marked: tuple[tuple[Goal, ...], Contact | None] = (), None
    if options.what.goals is not None:
        asked = inputs.asked_in(options.what.goals, character.skeleton)
        marked = asked.goals, asked.contact
    write = _write_movie if _is_moving(output) else _write_picture
    return Result(notes=[f"wrote {output}: {write(output, character, pose, *marked, options)}"])


def _write_picture(
    output: Path,
    character: Character,
    pose: Pose | None,
    goals: tuple[Goal, ...],
    contact: Contact | None,
    options: Options,
) -> str:
    """Draw and write one picture; returns its description."""
    from viewer.formats.video import write_png
    from viewer.opengl.pictures import render

    frame = options.what.frame
    picture = render(
        character,
        pose if frame is None else None,
        frame=frame,
        size=options.how.size,
        camera=cast("CameraName", options.how.camera),  # the parser has checked it
        goals=goals,
        limits=options.what.limits,
        body=cast("Body", options.what.body),
        contact=contact,
        samples=options.how.samples,
    )
    write_png(picture, output)
    height, width = picture.shape[:2]
    return f"{width} x {height} pixels"


def _checked_output(name: str) -> Path:
    """The path of a picture to write.

    Raises:
        InputError: an unknown suffix.
    """
    path = Path(name)
    if path.suffix.casefold() not in OUTPUTS:
        found = quote(path.suffix) if path.suffix else "no suffix"
        raise InputError(f"{name}: expected a name that ends in {', '.join(OUTPUTS)}, found {found}")
    return path


def _pose(character: Character, options: Options) -> Pose | None:
    """The chosen pose; None for the default."""
    if options.what.pose is not None:
        return inputs.named_pose(character.skeleton, options.what.pose)
    if options.what.frame is None:
        turned = character.clip is None and options.moving.turntable
        still = turned or not _is_moving(Path(options.output))
        return inputs.shown_pose(character, options.file) if still else None
    clip = inputs.motion_of(character, options.file)
    inputs.check_frames(clip, options.file, options.what.frame)
    return clip.pose(options.what.frame)


# --- moving pictures


def _is_moving(path: Path) -> bool:
    """Whether the output is a film or a series of numbered pictures."""
    return path.suffix.casefold() in film_rates.USUAL or _NUMBER.search(path.name) is not None


def _check_usage(options: Options, path: Path) -> None:
    """Raise UsageError where options contradict each other or the kind of output."""
    what, moving = options.what, options.moving
    if not _is_moving(path):
        given = {"frames": what.frames, "fps": moving.fps, "turntable": moving.turntable or None}
        for name, value in given.items():
            if value is not None:
                raise UsageError(
                    f"argument --{name}: {path} is one picture: expected .mp4, .gif or a numbered name such as "
                    f"{path.stem}_%04d.png"
                )
    still = "frame" if what.frame is not None else "pose" if what.pose is not None else None
    if _is_moving(path) and still is not None and not moving.turntable:
        raise UsageError(f"argument --{still}: nothing moves in it: expected --turntable with it, or a .png")


def _write_movie(
    path: Path,
    character: Character,
    pose: Pose | None,
    goals: tuple[Goal, ...],
    contact: Contact | None,
    options: Options,
) -> str:
    """Draw and write a film; returns its description.

    Raises:
        InputError: no motion, or frames that it does not have.
        MachineError: the machine cannot draw, or has no ffmpeg.
        OutputError: the file cannot be written; an old file stays as it was.
    """
    from viewer.opengl.movies import Filming

    film = _movie(path, character, pose, goals, contact, options)
    if path.suffix.casefold() == ".gif" and film.fps > film_rates.GIF_FPS:
        warn([f"{path}: most programs show at most {film_rates.GIF_FPS:g} pictures a second of a GIF"])
    width, height = film.size
    if path.suffix.casefold() == ".mp4":  # its blocks are 2 x 2
        width, height = width - width % 2, height - height % 2
    with Filming(film, path) as filming:
        while filming.step():
            report("drawing", min(filming.done, filming.total - 1), filming.total)
        report("drawing", filming.total, filming.total)
    return f"{filming.written} pictures of {width} x {height}, {film.fps:.4g} a second, {film.seconds:.2f} s"


def _movie(
    path: Path,
    character: Character,
    pose: Pose | None,
    goals: tuple[Goal, ...],
    contact: Contact | None,
    options: Options,
) -> Movie:
    from viewer.opengl.movies import movie

    clip = None if pose is not None else _motion(character, options)
    return movie(
        character,
        pose,
        frames=options.what.frames,
        fps=options.moving.fps if clip is None else _rate(path, clip, options),
        size=options.how.size,
        camera=options.how.camera,
        goals=goals,
        limits=options.what.limits,
        body=cast("Body", options.what.body),
        contact=contact,
        turntable=options.moving.turntable,
        samples=options.how.samples,
    )


def _motion(character: Character, options: Options) -> Clip | None:
    """The clip to play, after a check of the chosen frames; None for a turntable of a pose."""
    if not options.moving.turntable and not character.clip:
        raise InputError(
            f"{options.file}: expected motion, found a skeleton without frames: --turntable turns it round"
        )
    if options.what.frames is not None:
        inputs.check_frames(
            inputs.motion_of(character, options.file), options.file, options.what.frames[0], options.what.frames[-1]
        )
    return character.clip or None


def _rate(path: Path, clip: Clip, options: Options) -> float | None:
    """Frames per second; None for every frame of the clip."""
    most = film_rates.USUAL.get(path.suffix.casefold())
    if options.moving.fps is not None or most is None:
        return options.moving.fps
    step = 1 if options.what.frames is None else options.what.frames.step
    return film_rates.playable_fps(1.0 / (clip.frame_time * step), most)
