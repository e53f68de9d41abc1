"""``ikviewer render``: a picture, still or moving, without a screen."""

from __future__ import annotations

import argparse
import re
from io import BytesIO
from typing import TYPE_CHECKING

from viewer.cli.inputs import check_kept, named_pose, shown_pose
from viewer.cli.options import (
    add_clip,
    add_input,
    check_frames,
    chosen_clip,
    count,
    frame_range,
    load_input,
    motion_of,
    positive,
)
from viewer.cli.output import print_told, warn
from viewer.errors import InputError, quote
from viewer.formats import film_rates
from viewer.formats.progress import report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from viewer.ik.goals import Goal
    from viewer.opengl.moving import Movie
    from viewer.skeleton.character import Character
    from viewer.skeleton.clip import Clip
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton

FASTEST, SLOWEST_TURN = film_rates.FASTEST, film_rates.SLOWEST_TURN
_MOST_FPS, _GIF_FPS = film_rates.USUAL, film_rates.GIF_FPS
_NUMBER = re.compile(r"%\d*d")


def add_moving(parser: argparse.ArgumentParser) -> None:
    """Options of moving pictures."""
    group = parser.add_argument_group("moving pictures")
    group.add_argument(
        "--fps",
        type=_at_most(FASTEST, "frames a second"),
        metavar="N",
        help="pictures a second; the motion lasts as long as before (its own rate, or a part of it: MP4 up to 60, "
        "GIF up to 30)",
    )
    group.add_argument(
        "--turntable",
        type=_at_most(SLOWEST_TURN, "seconds"),
        nargs="?",
        const=True,
        default=False,
        metavar="S",
        help="go round the figure once, in S seconds (while the motion lasts; 4 for a pose)",
    )


def is_moving(path: Path) -> bool:
    """Whether a file of this name holds, or is one of, several pictures."""
    return path.suffix.casefold() in _MOST_FPS or _NUMBER.search(path.name) is not None


def check_usage(arguments: argparse.Namespace, path: Path) -> None:
    """End with wrong usage (exit 2) where options contradict each other or the kind of output."""
    still = next((name for name in ("frame", "pose") if getattr(arguments, name) is not None), None)
    if not is_moving(path):
        for name in ("frames", "fps", "turntable"):
            if getattr(arguments, name) not in {None, False}:
                arguments.refuse(
                    f"argument --{name}: {path} is one picture: expected .mp4, .gif or a numbered name such as "
                    f"{path.stem}_%04d.png"
                )
    elif still is not None and not arguments.turntable:
        arguments.refuse(f"argument --{still}: nothing moves in it: expected --turntable with it, or a .png")


def write_movie(
    path: Path, character: Character, pose: Pose | None, goals: tuple[Goal, ...], arguments: argparse.Namespace
) -> str:
    """Draw and write; returns what to tell of it.

    Raises:
        InputError: no motion to show, frames that there are not.
        MachineError: the machine cannot draw, or has no ffmpeg.
        OutputError: the file cannot be written; whatever stood there before still does.
    """
    from viewer.opengl.filming import Filming

    film = _movie(path, character, pose, goals, arguments)
    if path.suffix.casefold() == ".gif" and film.fps > _GIF_FPS:
        warn([f"{path}: most programs show at most {_GIF_FPS:g} pictures a second of a GIF"])
    width, height = film.size
    if path.suffix.casefold() == ".mp4":  # it has whole blocks of 2 x 2
        width, height = width - width % 2, height - height % 2
    with Filming(film, path) as filming:
        while filming.step():
            report("drawing", min(filming.done, filming.total - 1), filming.total)
        report("drawing", filming.total, filming.total)
    return f"{filming.written} pictures of {width} x {height}, {film.fps:.4g} a second, {film.seconds:.2f} s"


def _movie(
    path: Path, character: Character, pose: Pose | None, goals: tuple[Goal, ...], arguments: argparse.Namespace
) -> Movie:
    from viewer.opengl.moving import movie

    clip = None if pose is not None else _motion(character, arguments)
    return movie(
        character,
        pose,
        frames=arguments.frames,
        fps=arguments.fps if clip is None else _rate(path, clip, arguments),
        size=arguments.size,
        camera=arguments.camera,
        goals=goals,
        limits=arguments.limits,
        turntable=arguments.turntable,
        samples=arguments.samples,
    )


def _motion(character: Character, arguments: argparse.Namespace) -> Clip | None:
    """What is played, None for a pose that is turned round; frames asked for are checked."""
    if not arguments.turntable and not character.clip:
        raise InputError(
            f"{arguments.file}: expected motion, found a skeleton without frames: --turntable turns it round"
        )
    if arguments.frames is not None:
        check_frames(motion_of(character, arguments.file), arguments.file, arguments.frames[0], arguments.frames[-1])
    return character.clip or None


def _rate(path: Path, clip: Clip, arguments: argparse.Namespace) -> float | None:
    """Pictures a second; None for every frame as it is."""
    most = _MOST_FPS.get(path.suffix.casefold())
    if arguments.fps is not None or most is None:
        fps: float | None = arguments.fps
        return fps
    step = 1 if arguments.frames is None else arguments.frames.step
    return film_rates.playable_fps(1.0 / (clip.frame_time * step), most)


def _at_most(most: float, what: str) -> Callable[[str], float]:
    """A number of argparse's: above 0, and not above ``most``."""

    def convert(text: str) -> float:
        number = positive(text)
        if number > most:
            raise argparse.ArgumentTypeError(f"expected at most {most:g} {what}, found {quote(text)}")
        return number

    return convert


EXAMPLES = """examples:
  ikviewer render walk.bvh -o walk.png --frame 12
  ikviewer render sample:biped -o biped.png --size 1920x1080 --camera front --limits
  ikviewer render sample:claw-arm -o arm.png --goals grip.json --camera 30,20,1.5
  ikviewer render walk.bvh -o walk.mp4 --size 1280x720
  ikviewer render walk.bvh -o stride.gif --frames 0:33 --fps 15 --camera side
  ikviewer render sample:biped -o biped.mp4 --turntable

A .png without --frame or --pose shows the first frame of FILE, the relaxed pose if it has none; of a
session the pose in which it was saved. .mp4, .gif and
numbered pictures (walk_%04d.png) show all of its motion, or its pose turned round by --turntable."""

OUTPUTS = (".png", ".mp4", ".gif")
_CAMERAS = ("front", "side", "top", "three-quarter")
_SIZE = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")
_LARGEST = 8192


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    add_input(parser)
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="what to write: .png, .mp4, .gif or walk_%%04d.png"
    )
    which = parser.add_argument_group("what to show")
    one = which.add_mutually_exclusive_group()
    one.add_argument("--frame", type=count, metavar="N", help="a frame of the motion, counted from 0")
    one.add_argument(
        "--frames", type=frame_range, metavar="A:B", help="frames A to B, both included (A:B:STEP), in a moving picture"
    )
    one.add_argument("--pose", metavar="P", help="rest, relaxed, another pose of FILE by name, or a pose file")
    add_clip(which)
    which.add_argument(
        "--goals", metavar="G", help="goals file: mark where effectors are and should be (the pose stays as it is)"
    )
    which.add_argument("--limits", action="store_true", help="show how far joints can turn, light those at a limit")
    how = parser.add_argument_group("how")
    how.add_argument("--size", type=_size, default=(640, 480), metavar="WxH", help="pixels (default 640x480)")
    how.add_argument(
        "--camera",
        type=_camera,
        default="three-quarter",
        metavar="C",
        help=f"{', '.join(_CAMERAS)} (default), or yaw,pitch,distance: degrees off its front to its left, "
        "degrees up, metres (all of the figure is in view without); --camera=-30,20 if it starts with a minus",
    )
    how.add_argument(
        "--samples", type=count, default=4, metavar="N", help="per pixel, for smooth edges; 0 is quickest (default 4)"
    )
    add_moving(parser)
    parser.set_defaults(refuse=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Draw, and write the picture or pictures."""
    output = checked_output(arguments.output)
    check_usage(arguments, output)
    check_kept(output, arguments)
    character = chosen_clip(load_input(arguments, arguments.file), arguments.clip, arguments.file)
    pose = _pose(character, arguments)
    goals = _goals(arguments.goals, character.skeleton)
    if is_moving(output):
        told = write_movie(output, character, pose, goals, arguments)
    else:
        told = _write_picture(output, character, pose, goals, arguments)
    print_told(f"wrote {output}: {told}")
    return 0


def _write_picture(
    output: Path, character: Character, pose: Pose | None, goals: tuple[Goal, ...], arguments: argparse.Namespace
) -> str:
    """Draw and write one picture; returns what to tell of it."""
    from viewer.opengl.picture import render

    picture = render(
        character,
        pose,
        size=arguments.size,
        camera=arguments.camera,
        goals=goals,
        limits=arguments.limits,
        samples=arguments.samples,
    )
    write_png(output, picture)
    height, width = picture.shape[:2]
    return f"{width} x {height} pixels"


def checked_output(name: str) -> Path:
    """The path of a picture to write.

    Raises:
        InputError: its suffix is of no kind that can be written.
    """
    from pathlib import Path

    path = Path(name)
    if path.suffix.casefold() not in OUTPUTS:
        found = quote(path.suffix) if path.suffix else "no suffix"
        raise InputError(f"{name}: expected a name that ends in {', '.join(OUTPUTS)}, found {found}")
    return path


def write_png(path: Path, picture: NDArray[np.uint8]) -> None:
    """Write a picture (H, W, 3), whole or not at all.

    Raises:
        OutputError: it cannot be written.
    """
    from PIL import Image

    from viewer.formats.files import write_whole

    data = BytesIO()
    Image.fromarray(picture).save(data, format="PNG")
    write_whole(path, data.getvalue())


def _pose(character: Character, arguments: argparse.Namespace) -> Pose | None:
    """The pose asked for; None for the usual one."""
    from pathlib import Path

    if arguments.pose is not None:
        return named_pose(character.skeleton, arguments.pose)
    if arguments.frame is None:
        turned = character.clip is None and arguments.turntable
        still = turned or not is_moving(Path(arguments.output))
        return shown_pose(character, arguments.file) if still else None
    clip = motion_of(character, arguments.file)
    check_frames(clip, arguments.file, arguments.frame)
    return clip.pose(arguments.frame)


def _goals(name: str | None, skeleton: Skeleton) -> tuple[Goal, ...]:
    from pathlib import Path

    if name is None:
        return ()
    from viewer.formats.goals_json import read_goals

    warnings: list[str] = []
    goals = read_goals(Path(name), name, skeleton, warnings)
    warn(f"{name}: {warning}" for warning in warnings)
    return goals


def _size(text: str) -> tuple[int, int]:
    match = _SIZE.fullmatch(text.strip().casefold())
    size = (int(match.group(1)), int(match.group(2))) if match else (0, 0)
    if not all(1 <= pixels <= _LARGEST for pixels in size):
        raise argparse.ArgumentTypeError(
            f"expected WIDTHxHEIGHT, each from 1 to {_LARGEST} pixels, found {quote(text)}"
        )
    return size


def _camera(text: str) -> str | tuple[float, ...]:
    """A camera by name, or numbers."""
    name = text.strip().casefold()
    if name in _CAMERAS:
        return name
    expected = f"expected {', '.join(_CAMERAS)} or yaw,pitch,distance, found {quote(text)}"
    try:
        numbers = tuple(float(part) for part in name.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(expected) from None
    from viewer.opengl.picture import check_camera

    try:
        return check_camera(numbers)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error).partition(": ")[2]) from error
