"""``ikviewer view``: the window."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from viewer.cli.inputs import DEMO, check_kept, is_session, named_pose
from viewer.cli.options import add_choice, add_reading, add_solver, check_frames, checked, count, load_input, motion_of
from viewer.cli.output import warn
from viewer.errors import InputError, quote

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from viewer.document.document import Document
    from viewer.session import Session
    from viewer.session.script.player import Replay
    from viewer.skeleton.character import Character
    from viewer.ui.controller import Controller

EXAMPLES = """examples:
  ikviewer view walk.bvh
  ikviewer view sample:claw-arm --no-limits
  ikviewer view walk.bvh --frame 12 --goals reach.json --solver dls
  ikviewer view work.ikv.json
  ikviewer view --script reported.ikv.json
  ikviewer view demo:two-link

Without FILE the bundled biped is shown. F1 in the window lists all keys."""

DEFAULT_FILE = "sample:biped"
_WINDOWS = ("glfw", "pyglet", "headless")
_BEGINNINGS = ("clip", "frame", "pose", "goals", "solver", "backend")
_SIZE = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        default=DEFAULT_FILE,
        help="BVH, JSON, NPZ or glTF file, a session (.ikv.json), sample:NAME, demo:NAME or - (stdin)",
    )
    add_reading(parser)
    start = parser.add_argument_group("what it begins with")
    start.add_argument("--clip", metavar="NAME", help="the clip to show, where there are several")
    where = start.add_mutually_exclusive_group()
    where.add_argument("--frame", type=count, metavar="N", help="frame of the clip, counted from 0 (default 0)")
    where.add_argument("--pose", metavar="P", help="rest, relaxed, another pose of FILE by name, or a pose file")
    start.add_argument("--goals", metavar="GOALS", help="goals file (JSON), instead of holding every effector")
    add_solver(start)
    window = parser.add_argument_group("the window")
    window.add_argument("--size", type=checked(_size), default=(1280, 720), metavar="WxH", help="default 1280x720")
    add_choice(
        window,
        "--window",
        _WINDOWS,
        told="the library that opens it: glfw (default), pyglet, or headless: none",
        default="glfw",
    )
    window.add_argument("--state-file", metavar="PATH", help="rewrite PATH with the state whenever something changes")
    window.add_argument("--script", metavar="SESSION", help="do again what the session has recorded, instead of FILE")
    window.add_argument(
        "--exit-after",
        type=count,
        metavar="N",
        help="close after N frames; a script must be done by then",
    )
    window.add_argument("--screenshot", metavar="OUT.png", help="save a picture of the window once it is at rest")


def run(arguments: argparse.Namespace) -> int:
    """Load, open the window, run until it is closed."""
    from pathlib import Path

    if arguments.screenshot is not None and Path(arguments.screenshot).suffix.casefold() != ".png":
        raise InputError(f"{arguments.screenshot}: expected a name that ends in .png")
    check_kept(arguments.state_file, arguments)
    check_kept(arguments.screenshot, arguments)
    from viewer.app.notifications import Automation
    from viewer.app.start import run_window

    script = None if arguments.script is None else _script(arguments)
    automation = Automation(
        None if arguments.state_file is None else Path(arguments.state_file),
        arguments.exit_after,
        None if arguments.screenshot is None else Path(arguments.screenshot),
        script,
    )
    session, news = (script, None) if script is not None else _session(arguments)
    code = run_window(session, size=arguments.size, window=arguments.window, automation=automation, news=news)
    if script is not None:
        warn(f"{arguments.script}: {note}" for note in script.notes)
        _check_done(script, arguments)
    return code


def _script(arguments: argparse.Namespace) -> Replay:
    """The session that recorded actions are done in again."""
    from viewer.session.script import open_script

    given = ["FILE"] if arguments.file != DEFAULT_FILE else []
    given += [f"--{name}" for name in _BEGINNINGS if getattr(arguments, name) is not None]
    given += ["--no-limits"] if arguments.no_limits else []
    if given:
        raise InputError(f"--script: expected nothing else to begin with, found {', '.join(given)}")
    return open_script(arguments.script)


def _check_done(script: Replay, arguments: argparse.Namespace) -> None:
    """Refuse to call a script done that `--exit-after` has cut short: what was written is of its middle."""
    if arguments.exit_after is not None and not script.finished:
        done, every = script.progress
        raise InputError(f"{arguments.script}: --exit-after {arguments.exit_after} ended it at call {done} of {every}")


def _session(arguments: argparse.Namespace) -> tuple[Session, Callable[[Controller], None] | None]:
    """What is shown, and what the window says or asks first."""
    from viewer.session import Session

    if is_session(arguments.file):
        return _saved_session(arguments)
    if arguments.file.startswith(DEMO):
        from viewer.session.demos import find_demo

        return Session(_changed(find_demo(arguments.file).build(), arguments)), None
    return Session(_changed(_document(load_input(arguments, arguments.file), arguments), arguments)), None


def _saved_session(arguments: argparse.Namespace) -> tuple[Session, Callable[[Controller], None] | None]:
    """A session file; where its motion is gone, a window opens without it and asks."""
    from pathlib import Path

    from viewer.session import Session
    from viewer.session.files import MotionError, open_session

    path, headless = Path(arguments.file), arguments.window == "headless"
    try:
        opened = open_session(path)
    except MotionError:
        if headless:
            raise
        bare = open_session(path, motion=False)
        return Session(_changed(bare.document, arguments)), lambda shown: shown.opening.ask_motion_of(path, bare)
    motion = opened.motion
    tell = None if motion is None else (lambda shown: shown.opening.note_motion(motion))
    if headless and opened.motion is not None:
        warn([f"{arguments.file}: {opened.motion.words}; the session's own copy is used"])
    return Session(_changed(opened.document, arguments), path, opened.digest), tell


def _document(character: Character, arguments: argparse.Namespace) -> Document:
    """What the window begins with."""
    from pathlib import Path

    from viewer.session import new_document

    skeleton = character.skeleton
    if arguments.frame is not None and arguments.clip is None:
        check_frames(motion_of(character, arguments.file), arguments.file, arguments.frame)
    goals = None
    if arguments.goals is not None:
        from viewer.formats.goals_json import read_goals

        warnings: list[str] = []
        goals = read_goals(Path(arguments.goals), arguments.goals, skeleton, warnings)
        warn(f"{arguments.goals}: {warning}" for warning in warnings)
    pose = None if arguments.pose is None else named_pose(skeleton, arguments.pose)
    return new_document(character, clip=arguments.clip, frame=arguments.frame, pose=pose, goals=goals)


def _changed(document: Document, arguments: argparse.Namespace) -> Document:
    """A document with the settings that the command line asks for."""
    from dataclasses import replace

    wanted = {"method": arguments.solver, "backend": arguments.backend}
    changes = {name: value for name, value in wanted.items() if value is not None}
    if changes:
        document = replace(document, solver=replace(document.solver, **changes))
    return replace(document, limits_on=False) if arguments.no_limits else document


def _size(text: str) -> tuple[int, int]:
    """``1280x720``."""
    from viewer.app.start import check_size  # only who names one waits for the import

    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise InputError(f"expected WxH such as 1280x720, found {quote(text)}")
    size = int(match.group(1)), int(match.group(2))
    check_size(size)
    return size
