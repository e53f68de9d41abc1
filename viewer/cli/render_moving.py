"""The moving half of ``ikviewer render``: MP4, GIF and numbered pictures."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from viewer.cli.options import check_frames, motion_of, positive
from viewer.cli.output import warn
from viewer.errors import InputError, quote
from viewer.formats import film_rates
from viewer.formats.watch import report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from viewer.ik.goals import Goal
    from viewer.opengl.moving import Movie
    from viewer.skeleton.character import Character
    from viewer.skeleton.clip import Clip
    from viewer.skeleton.pose import Pose

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
