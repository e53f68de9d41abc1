"""``ikviewer view``: opens the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viewer.cli import inputs, job
from viewer.cli import options as shared
from viewer.cli.job import FILES, SKELETONS, Result, argument, option, part
from viewer.cli.output import warn
from viewer.errors import InputError, ViewerError, quote
from viewer.formats.table import is_session

if TYPE_CHECKING:  # they load numpy
    from viewer.document import Document
    from viewer.session import Session
    from viewer.session.replay import Replay
    from viewer.session.session_files import Opened
    from viewer.skeleton import Character
    from viewer.ui.controller import Controller

EXAMPLES = """examples:
  ikviewer view walk.bvh
  ikviewer view sample:claw-arm --no-limits
  ikviewer view walk.bvh --frame 12 --goals reach.json --solver dls
  ikviewer view a.bvh b.bvh c.glb
  ikviewer view work.ikv.json
  ikviewer view --script reported.ikv.json
  ikviewer view demo:two-link

Without FILE the bundled biped is shown. Several stand beside each other;
the options of the beginning are the first one's. F1 in the window lists all keys."""

DEFAULT_FILE = "sample:biped"
_WINDOWS = ("glfw", "pyglet", "headless")


def _size(text: str) -> tuple[int, int]:
    from viewer.app.layout import check_size  # imported only if a size is named

    size = shared.size(text)
    if size is None:
        raise InputError(f"expected WxH such as 1280x720, found {quote(text)}")
    check_size(size)
    return size


class Beginning(job.Options, title="what to show first"):
    """The initial motion, pose, goals and solver, of the first file."""

    clip: str | None = option("NAME", "the motion to show, if a file has several")
    frame: int | None = option(
        "N", "initial frame of the clip, counted from 0 (default 0)", parse=shared.count, one_of="frames"
    )
    pose: str | None = shared.pose_option(
        "initial pose: `rest`, `relaxed`, the name of a pose in the file, or a [pose file](files.md#poses-and-goals)",
        one_of="frames",
    )
    goals: str | None = option(
        "GOALS",
        "initial goals from a [goals file](files.md#poses-and-goals), instead of holding every effector",
        completes=FILES,
        reads=True,
    )
    solver: str | None = shared.solver_option(None)
    backend: str | None = shared.backend_option(None)
    no_limits: bool = shared.no_limits_flag()


class Window(job.Options, title="the window"):
    """Window library, automation and files to write."""

    size: tuple[int, int] = option(
        "WxH", "window size (default 1280x720)", parse=shared.checked(_size), default=(1280, 720)
    )
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
        "N", "close after N frames; exit code 1 if this ends a `--script` early", parse=shared.count
    )
    screenshot: str | None = option(
        "OUT.png", "save a picture of the window with panels, once it is at rest", completes=FILES
    )


class Options(job.Options):
    """Options of ``ikviewer view``."""

    file: str = argument(
        "FILE",
        "BVH, JSON, NPZ or glTF file, a session (`.ikv.json`), `sample:NAME`, `demo:NAME` or `-` (standard input)",
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
    reading: shared.Reading = part(shared.Reading)
    beginning: Beginning = part(Beginning)
    window: Window = part(Window)


def run(options: Options) -> Result:
    """Load, open the window, run until it is closed."""
    window = options.window
    if window.screenshot is not None and Path(window.screenshot).suffix.casefold() != ".png":
        raise InputError(f"{window.screenshot}: expected a name that ends in .png")
    inputs.check_kept(window.state_file, options)
    inputs.check_kept(window.screenshot, options)
    from viewer.app.pacing import Automation
    from viewer.app.start import window_libraries

    script = None if window.script is None else _script(window.script, options)
    automation = Automation(
        None if window.state_file is None else Path(window.state_file),
        window.exit_after,
        None if window.screenshot is None else Path(window.screenshot),
        script,
    )
    session, news = (script.session, None) if script is not None else _figures(options)
    with window_libraries(window.window):
        from viewer.app.running import run_window
    code = run_window(session, size=window.size, window=window.window, automation=automation, news=news)
    if script is not None:
        warn(f"{window.script}: {note}" for note in script.notes)
        _check_done(script, window)
    return Result(code=code)


def _script(file: str, options: Options) -> Replay:
    """The replay of the recorded calls of a session file."""
    from viewer.session.replay import open_script

    given = ["FILE"] if options.file != DEFAULT_FILE or options.more else []
    values = options.beginning.values()
    given += [f"--{name.replace('_', '-')}" for name, value in values.items() if value not in {None, False}]
    if given:
        raise InputError(f"--script: expected nothing else to begin with, found {', '.join(given)}")
    return open_script(file)


def _check_done(script: Replay, window: Window) -> None:
    """Raise InputError if `--exit-after` has ended a script early, so that its outputs are incomplete."""
    if window.exit_after is not None and not script.finished:
        done, every = script.progress
        raise InputError(f"{window.script}: --exit-after {window.exit_after} ended it at call {done} of {every}")


def _figures(options: Options) -> tuple[Session, Callable[[Controller], None] | None]:
    """The session of one file or several; of several, those that cannot be read are named, and the others are shown.

    Raises:
        ViewerError: none can be read; the error is that of the first.
    """
    if not options.more:
        return _session(options)
    from viewer.session import Session
    from viewer.session.figures import abreast

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


def _figure(file: str, options: Options, *, first: bool) -> Document:
    """The document of one of several files.

    Raises:
        ViewerError: it cannot be read, or is refused.
    """
    from viewer.document import new_document

    if is_session(file):
        return _changed(inputs.open_session(file), options)
    if file.startswith(inputs.DEMO):
        from viewer.session.demos import find_demo

        return _changed(find_demo(file).build(), options)
    character = inputs.load_input(file, options.reading)
    return _changed(_document(character, options) if first else new_document(character), options)


def _session(options: Options) -> tuple[Session, Callable[[Controller], None] | None]:
    """The session to show, and a function for the window's first message or question."""
    from viewer.session import Session

    if is_session(options.file):
        return _saved_session(options)
    if options.file.startswith(inputs.DEMO):
        from viewer.session.demos import find_demo

        demo = find_demo(options.file)
        document = _changed(demo.build(), options)
        return Session(document, figures=demo.figures(document)), None
    return Session(_changed(_document(inputs.load_input(options.file, options.reading), options), options)), None


def _saved_session(options: Options) -> tuple[Session, Callable[[Controller], None] | None]:
    """A session file; if its motion is missing, a window opens without it and asks for the file."""
    from viewer.session.session_files import MotionError, open_session

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
    if headless and opened.motion is not None:
        warn([f"{options.file}: {opened.motion.words}; the session's own copy is used"])
    return _opened(opened, options, path, opened.digest), tell


def _opened(opened: Opened, options: Options, path: Path | None = None, digest: str | None = None) -> Session:
    """A session with the figures of a session file, and the settings of the command line for the active one."""
    from viewer.session import Session
    from viewer.session.figures import with_active

    document = _changed(opened.document, options)
    figures = opened.figures
    if figures is not None and document is not opened.document:
        figures = with_active(figures, document)
    return Session(document, path, digest, figures)


def _document(character: Character, options: Options) -> Document:
    """The initial document."""
    from dataclasses import replace

    from viewer.document import new_document
    from viewer.ui.contact import grounded

    skeleton = character.skeleton
    if options.beginning.frame is not None and options.beginning.clip is None:
        inputs.check_frames(inputs.motion_of(character, options.file), options.file, options.beginning.frame)
    begin = options.beginning
    given = None if begin.goals is None else inputs.asked_in(begin.goals, skeleton)
    goals, contact, ground = given or (None, None, None)
    pose = None if options.beginning.pose is None else inputs.named_pose(skeleton, options.beginning.pose)
    found = new_document(character, clip=begin.clip, frame=begin.frame, pose=pose, goals=goals, contact=contact)
    return replace(found, balance=replace(found.balance, **grounded(found, ground))) if found.balance.on else found


def _changed(document: Document, options: Options) -> Document:
    """The document with the settings of the command line."""
    from dataclasses import replace

    chosen = {"method": options.beginning.solver, "backend": options.beginning.backend}
    changes: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    if changes:
        document = replace(document, solver=replace(document.solver, **changes))
    return replace(document, limits_on=False) if options.beginning.no_limits else document
