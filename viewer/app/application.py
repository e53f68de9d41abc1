"""The main loop of a window: it passes events and time on, serves requests, draws frames, and posts notifications.

It draws at most 60 times a second, only after changes, and once more in high quality at rest. It needs the window's
libraries: import this module within `viewer.app.window_libraries`.
"""

from __future__ import annotations

import subprocess
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viewer.app.autosave_service import AutosaveService
from viewer.app.compositing import Quality
from viewer.app.films import PROGRESS_INTERVAL, Films
from viewer.app.input import Inputs
from viewer.app.layout import DEFAULT_SIZE, Layout, check_size
from viewer.app.painter import Painter
from viewer.app.panel_context import Borders, Panel
from viewer.app.panels import PANELS
from viewer.app.theme import Fonts
from viewer.app.window import Device, GlfwDevice, HeadlessDevice, PygletDevice
from viewer.errors import ViewerError
from viewer.opengl.gpu_objects import read_picture
from viewer.session import Session
from viewer.session.user_files import Preferences, load_preferences
from viewer.ui.automation import Automation, state_of, write_state
from viewer.ui.controller import Controller
from viewer.ui.events import Message

_BACKGROUND_WAIT = 0.1
_LONGEST_QUEUE = 8
"""Most requests that wait for a panel; older ones are dropped."""
_STAYS_ACTIVE = 0.3
"""Seconds after the last input during which the user counts as active."""

FRAME = 1.0 / 60.0
PANEL_INTERVAL = 1.0 / 15.0
"""Seconds between two redraws of the panels during a drag."""

STILL_AFTER = 0.2
"""Seconds without change after which a still picture is drawn with more samples."""

LONGEST_WAIT = 0.25
"""Longest time in seconds between two calls of the session, which may change by itself: kernels get compiled."""

_SETTLING = 2
"""Frames after a change that imgui needs for sizes and hover states."""
_FPS_SPAN = 0.5
_LONGEST_GAP = 0.1


@dataclass(slots=True)
class Pace:
    """Decides when to draw the next frame. All times are seconds of one clock.

    Attributes:
        fps: frames per second in motion; the last value stays at rest.
        frames: number of frames drawn.
        still: the picture shown has high quality.
    """

    fps: float = 0.0
    frames: int = 0
    _dirty: bool = True
    _busy: bool = False
    _settling: int = _SETTLING
    _last: float = float("-inf")
    _last_full: float = float("-inf")
    _last_change: float = float("-inf")
    still: bool = False
    _wake: float | None = None
    _times: deque[float] = field(default_factory=deque)
    _fps_at: float = float("-inf")

    def changed(self, now: float, *, settle: bool = False) -> None:
        """Note a visible change; with ``settle``, imgui needs some more frames for it."""
        self._dirty, self.still, self._last_change = True, False, now
        if settle:
            self._settling = _SETTLING

    def busy(self, busy: bool) -> None:
        """Set whether the session continues to work without events."""
        self._busy = busy

    def wake(self, at: float) -> None:
        """Request a frame at a time."""
        if self._wake is None or at < self._wake:
            self._wake = at

    def next_wakeup(self, now: float) -> float:
        """The time of the next frame, or of the next call of the session."""
        if self._dirty or self._busy or self._settling:
            return self._last + FRAME
        times = [now + LONGEST_WAIT]
        if not self.still:
            times.append(self._last_change + STILL_AFTER)
        if self._wake is not None:
            times.append(self._wake)
        return max(min(times), self._last + FRAME)

    @property
    def earliest(self) -> float:
        """The earliest time of the next frame."""
        return self._last + FRAME

    def due(self, now: float) -> bool:
        """Whether a frame is due."""
        if self._wake is not None and now >= self._wake:
            self._wake = None
            self._dirty = True
            self._settling = max(self._settling, 1)
        return self._dirty or self._settling > 0 or self.still_due(now)

    def still_due(self, now: float) -> bool:
        """Whether the frame of high quality is due."""
        rests = not (self._dirty or self._busy or self._settling)
        return rests and not self.still and now >= self._last_change + STILL_AFTER

    def full_due(self, now: float) -> bool:
        """Whether all panels are due in a drag."""
        return now - self._last_full >= PANEL_INTERVAL - 0.5 * FRAME

    def drawn(self, now: float, *, full: bool, still: bool) -> None:
        """Note that a frame began to be drawn at ``now``: ``full`` with all panels, ``still`` in high quality."""
        self.frames += 1
        if full:
            self._last_full = now
            self._settling = max(0, self._settling - 1)
        self._dirty = not full  # the other panels follow
        self.still = still
        if self._times and now - self._times[-1] > _LONGEST_GAP:
            self._times.clear()
        self._last = now
        self._times.append(now)
        while now - self._times[0] > 2 * _FPS_SPAN:
            self._times.popleft()
        # Measured over a while in motion: single frames after key presses do not show the possible rate.
        if now - self._fps_at >= _FPS_SPAN and now - self._times[0] >= _FPS_SPAN:
            self.fps = (len(self._times) - 1) / (now - self._times[0])
            self._fps_at = now


class Application:
    """One window.

    Attributes:
        device: the window and its OpenGL context.
        quality: decides what to leave out in motion.
        autosave: writes recovery files and preferences; None: nothing is saved.
        wanted_pictures: files to write the scene to when it is next drawn at rest.
        finished: the loop ends.
    """

    def __init__(
        self,
        device: Device,
        controller: Controller,
        panels: Sequence[Panel],
        automation: Automation | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Connect a window with a controller; a MachineError for missing fonts or a refused shader."""
        self.device, self.controller = device, controller
        self.automation = automation or Automation()
        self.clock = clock
        preferences = controller.view.preferences
        layout = Layout.of(preferences.layout, preferences.closed_panels, controller.view.panels)
        self.painter = Painter(device, controller, panels, layout)
        self.borders = Borders(self.painter.ui)
        self.inputs = Inputs(
            controller.handle,
            self.borders,
            self.painter.capture,
            grabbing=lambda: controller.dragging,
            clock=clock,
            requested=lambda: bool(controller.view.requests),
        )
        self.pace, self.quality = Pace(), Quality()
        self.autosave: AutosaveService | None = None
        self.films = Films(controller)
        self.wanted_pictures: list[Path] = []
        self.finished = False
        self._seen, self._active_at = -1, float("-inf")
        self._notifications = Notifications(device, controller, self.painter.ui.fonts, self.automation)
        self._pictured = False
        self._last_frame = clock()
        device.connect(self.inputs)

    def run(self) -> int:
        """Run until the window is closed; returns the exit code.

        Raises:
            OutputError: a file that `Automation` asks for cannot be written.
        """
        try:
            while not self.finished:
                self.iterate()
            if self.autosave is not None:
                self.autosave.close()
        except ViewerError:
            raise
        except Exception:  # noqa: BLE001 - no fault of the program may lose the user's work
            traceback.print_exc(file=sys.stderr)
            rescued = self.autosave.rescue() if self.autosave is not None else None
            if rescued is not None:
                print(f"error: ikviewer stopped; the work is kept in {rescued}", file=sys.stderr)  # noqa: T201
            return 1
        finally:
            self.close()
        return 0

    def iterate(self) -> None:
        """Wait for events or the next frame, and handle them."""
        now = self.clock()
        unattended = self.automation.ends
        wait = 0.0 if unattended else max(0.0, self.pace.next_wakeup(now) - now)
        self.device.wait(min(wait, self.films.wait(moving=self._user_active(now))))
        # Events before the next frame are handled with that frame: one solve for any number of mouse events.
        while not unattended and (early := self.pace.earliest - self.clock()) > 0.0:
            self.device.wait(early)
        if self.device.minimised and not self.films.busy:
            self.device.wait(_BACKGROUND_WAIT)
        self.step(self.clock())

    def step(self, now: float) -> None:
        """Advance the session to ``now`` (seconds), serve requests, and draw a frame if one is due."""
        controller = self.controller
        self.inputs.deliver_held_keys()
        if self.inputs.waiting:
            self.pace.wake(now)
        busy = controller.tick(now)
        self._notifications.script()
        self.pace.busy(busy)
        self._serve_requests()
        if self.autosave is not None:
            self.autosave.tick()
        self._notifications.fonts()
        rearranged = self.painter.arrange()
        self._notifications.folded()
        seen = controller.view.revision
        if seen != self._seen or self.inputs.for_imgui:
            self._active_at = now
        if seen != self._seen or busy:
            self.pace.changed(now, settle=seen != self._seen and not self._in_motion)
            self._seen = seen
        if self.inputs.for_imgui or rearranged:
            self.inputs.for_imgui = False
            self.pace.changed(now, settle=True)
        self._notifications.title()
        self.device.set_cursor(self.cursor())
        forced = self.automation.ends
        if (self.pace.due(now) or forced) and not self.device.minimised:
            self.draw(now)
        if self.films.step(moving=self._user_active(now)):
            self.pace.wake(now)
        self.painter.ui.film = self.films.progress
        if controller.background.jobs:
            self.pace.wake(now + PROGRESS_INTERVAL)

    def _serve_requests(self) -> None:
        """Serve requests to the window, and pass the others to the panels."""
        ui, controller, panels = self.painter.ui, self.controller, self.controller.view.panels
        if self.device.closing:
            self.device.closing = False
            controller.run("file.quit")
        while controller.view.requests:
            request = controller.view.requests.popleft()
            if self.films.serve(request):
                self.pace.wake(self.clock())
            elif request.name == "quit":
                self.finished = True
            elif request.name == "fullscreen":
                panels.fullscreen = not panels.fullscreen
                self.device.set_fullscreen(on=panels.fullscreen)
            elif request.name == "reset-layout":
                ui.layout.reset()
            elif request.name == "show-panel":
                ui.show_panel(str(request.value))
            elif request.name == "copy-text":
                self.device.set_clipboard(str(request.value))
            elif request.name == "show-in-folder":
                show_in_folder(Path(str(request.value)))
            elif request.name == "picture":
                self.wanted_pictures.append(Path(str(request.value)))
                self.pace.changed(self.clock())
            else:
                ui.requests.append(request)
                del ui.requests[:-_LONGEST_QUEUE]
                ui.wake()
                self.inputs.for_imgui = True
                self.inputs.expect()
        ui.layout.workspace = controller.view.workspace

    def draw(self, now: float) -> None:
        """Draw a frame, show it, and write the files that `Automation` asks for."""
        pace, ui = self.pace, self.painter.ui
        last = self.automation.is_last(pace.frames)
        still = pace.still_due(now) or last
        full = still or not self._in_motion or pace.full_due(now)
        ui.fps = pace.fps
        self.controller.view.fps = pace.fps or None
        ui.notes[:] = [self.quality.note] if self.quality.note and self._in_motion and not still else []
        start = time.perf_counter()
        self.painter.paint(now - self._last_frame, self.quality.level, full=full, still=still)
        self._picture(still=still, last=last)
        self.device.swap()
        if not still and self._in_motion:
            drawn = self.controller.draw_list()
            self.quality.took(
                time.perf_counter() - start, ghosts=drawn.ghosts.size > 0, shading=drawn.capsules.size > 1
            )
        self._last_frame = now
        pace.drawn(now, full=full, still=self.painter.scene_buffer.still)
        requested = ui.take_wake()
        if requested is not None:
            pace.wake(now + requested)
        if self.automation.state_file is not None:
            state = state_of(self.controller, self.device.window_size, pace.fps, still=pace.still)
            write_state(self.automation.state_file, state)
        self.finished = self.finished or last

    def cursor(self) -> str:
        """The pointer's shape, as `Device.set_cursor` takes it."""
        x, y = self.inputs.pointer
        if not self.painter.capture.modal and not self.inputs.busy and (shape := self.borders.cursor(x, y)):
            return shape
        if self.painter.capture.pointer(x, y) and not self.inputs.busy:
            return self.painter.cursor
        return self.controller.cursor

    def close(self) -> None:
        """Cancel a film and other long work, and close the window and its context."""
        self.films.close()
        self.controller.background.close()
        self.painter.close()
        self.device.close()

    @property
    def _in_motion(self) -> bool:
        """Whether only the view changes, as in a drag, an orbit or playback, and no panel is used."""
        capture = self.painter.capture
        if capture.modal or capture.typing or capture.active or self.borders.held:
            return False
        moving = self.inputs.busy or self.controller.dragging
        x, y = self.inputs.pointer
        session = self.controller.session
        playing = (
            session.clock.playing or session.targets.running or session.recorder.recording
        ) and not capture.pointer(x, y)
        return bool(moving or playing)

    def _user_active(self, now: float) -> bool:
        """Whether the user drags, plays, or has used the window within the last `_STAYS_ACTIVE` seconds."""
        held = self.painter.capture.active or bool(self.borders.held)
        return held or self._in_motion or now - self._active_at < _STAYS_ACTIVE

    def _picture(self, *, still: bool, last: bool) -> None:
        path = self.automation.screenshot
        wanted = last if self.automation.ends else still
        if path is not None and wanted and not self._pictured:
            self._pictured = True
            _save(read_picture(self.device.target), path)
        while still and self.wanted_pictures:
            self._save_scene(self.wanted_pictures.pop(0))

    def _save_scene(self, path: Path) -> None:
        try:
            _save(self.painter.picture(), path)
        except ViewerError as error:
            self.controller.view.fail(error, "picture")
        else:
            self.controller.view.bar.done("picture")
            self.controller.view.note(f"Saved {path.name}")


class Notifications:
    """Posts each notification once."""

    def __init__(self, device: Device, controller: Controller, fonts: Fonts, automation: Automation) -> None:
        self._device, self._controller, self._fonts, self._automation = device, controller, fonts, automation
        self._names: tuple[object, str] = (None, "")
        self._title = ""
        self._notes_posted = 0
        self._folded: Message | None = None

    def script(self) -> None:
        """Post the differences between the replay of a script and its recording."""
        script = self._automation.script
        while script is not None and self._notes_posted < len(script.notes):
            self._controller.view.post(Message(script.notes[self._notes_posted], "error"))
            self._notes_posted += 1

    def folded(self) -> None:
        """Say once how panels are opened, if there is no room for them, until one is."""
        view = self._controller.view
        panels = view.panels
        if self._folded is not None:
            if panels.opened:
                view.bar.close(self._folded)
            return
        wanted = panels.left and panels.right and not panels.hidden and not self._automation.ends
        if wanted and len(panels.folded) > 1:
            self._folded = Message("Panels are folded to make room: T and N open them")
            view.post(self._folded)

    def title(self) -> None:
        """Set the window's title to the name of the file."""
        title = f"{self._controller.files.title} - ikviewer"
        if title != self._title:
            self._title = title
            self._device.set_title(title)

    def fonts(self) -> None:
        """Load the fonts that the names of a new figure and its file need."""
        names, file = self._controller.session.document.skeleton.names, self._controller.files.name
        if names is not self._names[0] or file != self._names[1]:
            self._names = names, file
            advice = self._fonts.load_for("".join((*names, file)))
            if advice:
                self._controller.view.post(Message(advice))


def show_in_folder(path: Path) -> None:
    """Open the folder of a file in the desktop's file manager, if there is one."""
    folder = path.resolve().parent
    command = {"darwin": ["open", "-R", str(path)], "win32": ["explorer", "/select,", str(path)]}
    try:
        subprocess.Popen(command.get(sys.platform, ["xdg-open", str(folder)]))  # noqa: S603 - a path, no shell
    except OSError:
        return


def _save(image: NDArray[np.uint8], path: Path) -> None:
    from viewer.formats.video import write_png  # noqa: PLC0415 - only saved pictures need Pillow

    write_png(image, path, compress_level=6)


def run_window(
    session: Session,
    *,
    size: tuple[int, int] = DEFAULT_SIZE,
    window: str = "glfw",
    automation: Automation | None = None,
    news: Callable[[Controller], None] | None = None,
) -> int:
    """Show a session in a window until it is closed; returns the exit code.

    ``automation``: options for tests and scripts; ``news``: called with the controller before the first frame, to post
    messages and questions.

    Raises:
        InputError: the size is invalid.
        MachineError: there is no display or no OpenGL 3.3; the message says how to fix it.
    """
    check_size(size)
    asked = automation or Automation()
    if window == "headless" and asked.exit_after is None:
        asked = replace(asked, exit_after=None if asked.script else 1, until_done=asked.script is not None)
    preferences = load_preferences()
    app = open_window(session, preferences, size=size, window=window, automation=asked)
    if news is not None:
        news(app.controller)
    if session.path is None and asked.script is None:
        app.controller.opening.note_reading()
    app.controller.opening.note_props()
    if window != "headless":
        app.autosave = AutosaveService(app.controller, app.painter.ui.layout)
        app.autosave.offer()
        app.autosave.sweep()
    if not asked.until_done:  # a script contains the results of its solves
        session.kernels.start()
    return app.run()


def open_window(
    session: Session,
    preferences: Preferences,
    *,
    size: tuple[int, int] = DEFAULT_SIZE,
    window: str = "headless",
    automation: Automation | None = None,
    panels: Sequence[Panel] | None = None,
) -> Application:
    """Open a window on a session, without running it, with all panels unless ``panels`` are given.

    Arguments and errors are those of `run_window`.
    """
    return Application(
        open_device(window, size),
        Controller(session, preferences, None if automation is None else automation.script),
        PANELS if panels is None else panels,
        automation,
    )


def open_device(kind: str, size: tuple[int, int]) -> Device:
    """Open a window, of the kind "glfw", "pyglet" or "headless".

    Raises:
        MachineError: there is no display or no OpenGL 3.3; the message says how to fix it.
    """
    if kind == "glfw":
        return GlfwDevice(size, "ikviewer")
    if kind == "pyglet":
        return PygletDevice(size, "ikviewer")
    return HeadlessDevice(size)
