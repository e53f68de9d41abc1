"""The running window: events in, time to the session, frames out."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from viewer.app.autosave_service import Keeper
from viewer.app.context import Borders, Panel
from viewer.app.films import Films
from viewer.app.input import Inputs
from viewer.app.layout import Layout
from viewer.app.notifications import Notifications, show_in_folder
from viewer.app.pacing import Automation, Pace
from viewer.app.painter import Painter, read_picture, save_picture
from viewer.app.stage import Quality
from viewer.app.window import Device
from viewer.errors import ViewerError
from viewer.ui.controller import Controller
from viewer.ui.state import state_of, write_state

_BACKGROUND_WAIT = 0.1
_LONGEST_QUEUE = 8
"""Requests that no panel takes are dropped, oldest first."""
_AFTERWARDS = 0.3
"""Seconds after an answer in which the next thing that a person does is likely."""


class Application:
    """One window.

    Attributes:
        device: the window itself.
        controller: answers events.
        painter: draws frames.
        inputs: takes raw input.
        pace: says when to draw.
        quality: says how much.
        keeper: of recovery files and preferences, or None: nothing is kept.
        films: makes the film that was asked for.
        wanted_pictures: files to write the scene to when it is next drawn at rest.
        finished: the loop is to end.
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
        """Connect a window with a controller.

        Raises:
            MachineError: fonts are missing, or the driver refuses a shader.
        """
        self.device, self.controller = device, controller
        self.automation = automation or Automation()
        self.clock = clock
        self.painter = Painter(device, controller, panels, Layout.from_dict(controller.view.preferences.layout))
        self.borders = Borders(self.painter.ui)
        self.inputs = Inputs(
            controller.handle, self.borders, self.painter.capture, lambda: controller.dragging, clock, self._asked
        )
        self.pace, self.quality = Pace(), Quality()
        self.keeper: Keeper | None = None
        self.films = Films(controller)
        self.wanted_pictures: list[Path] = []
        self.finished = False
        self._seen, self._stirred = -1, float("-inf")
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
                self.turn()
            if self.keeper is not None:
                self.keeper.close()
        except ViewerError:
            raise
        except Exception:  # noqa: BLE001 - whatever it is, the work must not be lost with it
            traceback.print_exc(file=sys.stderr)
            rescued = self.keeper.rescue() if self.keeper is not None else None
            if rescued is not None:
                print(f"error: ikviewer stopped; the work is kept in {rescued}", file=sys.stderr)  # noqa: T201
            return 1
        finally:
            self.close()
        return 0

    def turn(self) -> None:
        """Wait for what comes next and answer it."""
        now = self.clock()
        hurried = self.automation.ends
        wait = 0.0 if hurried else max(0.0, self.pace.slot(now) - now)
        self.device.wait(min(wait, self.films.wait(moving=self._stirs(now))))
        # What comes until the next frame's time is answered by that frame: one solve, however fast the mouse reports.
        while not hurried and (early := self.pace.earliest - self.clock()) > 0.0:
            self.device.wait(early)
        if self.device.minimised and not self.films.busy:
            self.device.wait(_BACKGROUND_WAIT)
        self.step(self.clock())

    def step(self, now: float) -> None:
        """Let the session work, and draw a frame if one is due."""
        controller = self.controller
        self.inputs.catch_up()
        if self.inputs.waiting:
            self.pace.wake(now)
        busy = controller.tick(now)
        self._notifications.script()
        self.pace.busy(busy)
        self._serve_requests()
        if self.keeper is not None:
            self.keeper.tick()
        self._notifications.letters()
        rearranged = self.painter.arrange()
        seen = controller.view.revision
        if seen != self._seen or self.inputs.for_imgui:
            self._stirred = now
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
        if self.films.step(moving=self._stirs(now)):
            self.pace.wake(now)
        self.painter.ui.film = self.films.progress

    def _serve_requests(self) -> None:
        """Serve what the window serves; leave the rest to the panels."""
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
                panels.hidden, panels.left, panels.right = False, True, True
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
        ui.layout.show_left, ui.layout.show_right, ui.layout.hidden = panels.left, panels.right, panels.hidden

    def draw(self, now: float) -> None:
        """Draw a frame and show it."""
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
            self.quality.took(time.perf_counter() - start, ghosts=self.controller.draw_list().ghosts.size > 0)
        self._last_frame = now
        pace.drawn(now, full=full, still=self.painter.stage.still)
        wished = ui.take_wake()
        if wished is not None:
            pace.wake(now + wished)
        self._write_state()
        self.finished = self.finished or last

    def cursor(self) -> str:
        """The pointer's shape."""
        x, y = self.inputs.pointer
        if not self.painter.capture.modal and not self.inputs.busy and (shape := self.borders.cursor(x, y)):
            return shape
        if self.painter.capture.pointer(x, y) and not self.inputs.busy:
            return self.painter.cursor
        return self.controller.cursor

    def close(self) -> None:
        """End the window."""
        self.films.close()
        self.painter.close()
        self.device.close()

    def _asked(self) -> bool:
        """Whether a field or dialog was asked for that the panels do not know of yet."""
        return self.controller.view.find_requested or bool(self.controller.view.requests)

    @property
    def _in_motion(self) -> bool:
        """Whether only the view changes: a drag, an orbit, a clip that plays, with no panel in use."""
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

    def _stirs(self, now: float) -> bool:
        """Whether the person does something, or did just now, or watches something being played."""
        held = self.painter.capture.active or bool(self.borders.held)
        return held or self._in_motion or now - self._stirred < _AFTERWARDS

    def _picture(self, *, still: bool, last: bool) -> None:
        path = self.automation.screenshot
        wanted = last if self.automation.ends else still
        if path is not None and wanted and not self._pictured:
            self._pictured = True
            save_picture(path, read_picture(self.device.target))
        while still and self.wanted_pictures:
            self._save_scene(self.wanted_pictures.pop(0))

    def _save_scene(self, path: Path) -> None:
        try:
            save_picture(path, self.painter.picture())
        except ViewerError as error:
            self.controller.view.fail(error, "picture")
        else:
            self.controller.view.bar.done("picture")
            self.controller.view.note(f"Saved {path.name}")

    def _write_state(self) -> None:
        path = self.automation.state_file
        if path is not None:
            write_state(path, state_of(self.controller, self.device.window_size, self.pace.fps))
