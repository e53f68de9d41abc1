"""``ikviewer view``: opens the window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from viewer.app import window_libraries
from viewer.app.layout import check_size
from viewer.cli import inputs
from viewer.cli.goal_inputs import goals_of
from viewer.cli.job import Result, UsageError, warn
from viewer.cli.options import DEFAULT_FILE, ViewOptions, Window, usage_of
from viewer.cli.session_inputs import read_document
from viewer.document import Document, new_document
from viewer.errors import InputError, ViewerError
from viewer.formats.file_formats import is_session
from viewer.session import Session
from viewer.session.demos import find_demo
from viewer.session.figures import abreast, with_active
from viewer.session.replay import Replay, open_script
from viewer.session.session_files import MotionError, Opened, open_session
from viewer.skeleton import Character
from viewer.ui.automation import Automation
from viewer.ui.contact import grounded
from viewer.ui.controller import Controller


def run_view(options: ViewOptions) -> Result:
    """Load, open the window, run until it is closed."""
    window = options.window
    with usage_of("--size"):
        check_size(window.size)
    if window.screenshot is not None:
        inputs.checked_output(window.screenshot, (".png",))
    script = None if window.script is None else _script(window.script, options)
    automation = Automation(
        None if window.state_file is None else Path(window.state_file),
        window.exit_after,
        None if window.screenshot is None else Path(window.screenshot),
        script,
    )
    session, news = (script.session, None) if script is not None else _figures(options)
    with window_libraries(window.window):
        from viewer.app.application import run_window  # noqa: PLC0415 - it needs the libraries
    code = run_window(session, size=window.size, window=window.window, automation=automation, news=news)
    if script is not None:
        warn(f"{window.script}: {note}" for note in script.notes)
        _check_done(script, window)
    return Result(code=code)


def _script(file: str, options: ViewOptions) -> Replay:
    """The replay of the recorded calls of a session file."""
    given = ["FILE"] if options.file != DEFAULT_FILE or options.more else []
    values = options.beginning.values()
    given += [f"--{name.replace('_', '-')}" for name, value in values.items() if value not in {None, False}]
    if given:
        raise UsageError(f"argument --script: expected nothing else to begin with, found {', '.join(given)}")
    return open_script(file)


def _check_done(script: Replay, window: Window) -> None:
    """Raise the error of a recorded call, or one if `--exit-after` has ended a script early: outputs are incomplete."""
    if script.error is not None:
        raise script.error
    if window.exit_after is not None and not script.finished:
        done, every = script.progress
        raise InputError(f"{window.script}: --exit-after {window.exit_after} ended it at call {done} of {every}")


def _figures(options: ViewOptions) -> tuple[Session, Callable[[Controller], None] | None]:
    """The session of one file or several, and a function for the window's first message or question.

    Of several files, those that cannot be read are named, and the others are shown.
    """
    if not options.more:
        if is_session(options.file):
            return _saved_session(options)
        document = _figure(options.file, options, first=True)
        demo = find_demo(options.file) if options.file.startswith(inputs.DEMO) else None
        return Session(document, figures=None if demo is None else demo.figures(document)), None
    found: list[tuple[str, Document]] = []
    errors: list[ViewerError] = []
    for index, file in enumerate([options.file, *options.more]):
        try:
            found.append(("", _figure(file, options, first=index == 0)))
        except ViewerError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    arrangement = abreast(found)

    def tell(shown: Controller) -> None:
        for error in errors:
            shown.view.fail(error)

    if options.window.window == "headless":
        warn(map(str, errors))
    return Session(found[0][1], figures=arrangement if len(found) > 1 else None), tell if errors else None


def _figure(file: str, options: ViewOptions, *, first: bool) -> Document:
    """The document of a file; ``first``: as the options of the beginning ask."""
    if is_session(file):
        return _changed(read_document(file), options)
    if file.startswith(inputs.DEMO):
        return _changed(find_demo(file).build(), options)
    character = inputs.load_input(file, options.reading)
    return _changed(_document(character, options) if first else new_document(character), options)


def _saved_session(options: ViewOptions) -> tuple[Session, Callable[[Controller], None] | None]:
    """A session file; if its motion is missing, a window opens without it and asks for the file."""
    path, headless = Path(options.file), options.window.window == "headless"
    try:
        opened = open_session(path)
    except MotionError:
        if headless:
            raise
        bare = open_session(path, motion=False)
        return _opened(bare, options), lambda shown: shown.opening.ask_motion_of(path, bare)
    motion = opened.motion
    tell = None if motion is None else (lambda shown: shown.opening.note_motion(motion))
    if headless and motion is not None:
        warn([f"{options.file}: {motion.words}; the session's own copy is used"])
    return _opened(opened, options, path, opened.digest), tell


def _opened(opened: Opened, options: ViewOptions, path: Path | None = None, digest: str | None = None) -> Session:
    """A session with the figures of a session file, and the settings of the command line for the active one."""
    document = _changed(opened.document, options)
    figures = opened.figures
    if figures is not None and document is not opened.document:
        figures = with_active(figures, document)
    return Session(document, path, digest, figures)


def _document(character: Character, options: ViewOptions) -> Document:
    skeleton = character.skeleton
    begin = options.beginning
    if begin.frame is not None and begin.clip is None:
        inputs.check_frames(inputs.motion_of(character, options.file), options.file, begin.frame)
    given = None if begin.goals is None else goals_of(begin.goals, skeleton)
    goals, contact, ground = given or (None, None, None)
    pose = None if begin.pose is None else inputs.named_pose(skeleton, begin.pose)
    found = new_document(character, clip=begin.clip, frame=begin.frame, pose=pose, goals=goals, contact=contact)
    return replace(found, balance=replace(found.balance, **grounded(found, ground))) if found.balance.on else found


def _changed(document: Document, options: ViewOptions) -> Document:
    """The document with the settings of the command line."""
    chosen = {"method": options.beginning.solver, "backend": options.beginning.backend}
    changes: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    if changes:
        document = replace(document, solver=replace(document.solver, **changes))
    return replace(document, limits_on=False) if options.beginning.no_limits else document
