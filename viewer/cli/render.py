"""``ikviewer render``: a picture, still or moving, without a screen."""

from __future__ import annotations

import argparse
import re
from io import BytesIO
from typing import TYPE_CHECKING

from viewer.cli.inputs import check_kept
from viewer.cli.options import add_clip, add_input, check_frames, chosen_clip, count, frame_range, load_input, motion_of
from viewer.cli.output import print_told, warn
from viewer.cli.poses import named_pose
from viewer.cli.render_moving import add_moving, check_usage, is_moving, write_movie
from viewer.cli.sessions import shown_pose
from viewer.errors import InputError, quote

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from viewer.ik.goals import Goal
    from viewer.skeleton.character import Character
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton

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
    from viewer.opengl.camera_numbers import check_camera

    try:
        return check_camera(numbers)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error).partition(": ")[2]) from error
