"""A window of panels without OpenGL: imgui lays them out and handles its own events, nothing is painted."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from imgui_bundle import imgui
from inside.app import PANELS, Fonts, Layout, PanelContext, PanelHost, Pen, apply_theme
from inside.session import Preferences
from sessions import QUICK

from viewer.document import new_document
from viewer.session import Session
from viewer.ui import Controller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from viewer.skeleton import Character


class Box(NamedTuple):
    """Where an item is: framebuffer pixels."""

    panel: str
    name: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0


class PanelWindow:
    """All panels on one document."""

    def __init__(self, character: Character, size: tuple[int, int] = (1280, 720), scale: float = 1.0) -> None:
        self._imgui = imgui.create_context()
        imgui.set_current_context(self._imgui)
        io = imgui.get_io()
        io.set_ini_filename("")
        io.display_size = imgui.ImVec2(*size)
        io.backend_flags |= imgui.BackendFlags_.renderer_has_textures | imgui.BackendFlags_.renderer_has_vtx_offset
        io.config_flags |= imgui.ConfigFlags_.nav_enable_keyboard
        fonts = Fonts()
        apply_theme(scale)
        self.size = size
        document = new_document(character)
        document = replace(document, solver=replace(document.solver, backend=QUICK))
        self.controller = Controller(Session(document), Preferences())
        layout = Layout(panels=self.controller.view.panels)
        self.ui = PanelContext(self.controller, fonts, layout, layout.regions(size, scale), scale, panels=PANELS)
        self.controller.viewport, self.controller.view.scale = self.ui.regions.viewport, scale
        self.panels = PanelHost(self.ui)
        self.boxes: list[Box] = []
        self.lines: list[Box] = []
        self.frames(3)

    def front(self, panel: str) -> None:
        """Bring a panel's tab to the front."""
        place = next(one.place for one in PANELS if one.id == panel)
        self.ui.layout.tabs[self.ui.regions.place(place)] = panel
        self.frames(2)

    @property
    def session(self) -> Session:
        return self.controller.session

    def close(self) -> None:
        imgui.set_current_context(self._imgui)
        imgui.destroy_context(self._imgui)

    def frames(self, count: int = 1, seconds: float = 1.0 / 60.0) -> None:
        """Run frames of imgui, so many seconds each; a panel that fails is an error of the test."""
        imgui.set_current_context(self._imgui)
        for _ in range(count):
            while self.controller.view.requests:
                self.ui.requests.append(self.controller.view.requests.popleft())
            imgui.get_io().delta_time = seconds
            imgui.new_frame()
            with self._recorded():
                self.panels.run()
            imgui.render()
            for texture in imgui.get_platform_io().textures:
                texture.set_tex_id(1)
                texture.set_status(imgui.ImTextureStatus.ok)
        failed = {name: failure.trace for name, failure in self.panels.failures.items()}
        assert not failed, "\n".join(failed.values())

    def rest(self) -> None:
        """Wait, so that the next press does not make a double click with the last one."""
        self.frames(seconds=0.5)

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        """Record where every item and every line of text of ours is put."""
        self.boxes, self.lines = [], []
        text, strong = Pen.text, Pen.strong

        def here() -> str:
            return self.ui.panel.id if self.ui.panel else ""

        def noting(plain: Callable[..., bool]) -> Callable[..., bool]:
            def note(name: str, *rest: Any) -> bool:  # noqa: ANN401 - passed on
                pressed = plain(name, *rest)
                low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
                self.boxes.append(Box(here(), name, low.x, low.y, high.x, high.y))
                return pressed

            return note

        def written(write: Callable[..., None], *, bold: bool) -> Callable[..., None]:
            def note(pen: Pen, x: float, y: float, words: str, *rest: Any) -> None:  # noqa: ANN401 - passed on
                write(pen, x, y, words, *rest)
                size = rest[1] if len(rest) > 1 else 15.0
                wide = pen.width(words, size, bold=bold)
                self.lines.append(Box(here(), words, x, y, x + wide, y + size * pen.scale))

            return note

        with pytest.MonkeyPatch.context() as patch:
            for item in ("invisible_button", "menu_item_simple"):
                patch.setattr(imgui, item, noting(getattr(imgui, item)))
            patch.setattr(Pen, "text", written(text, bold=False))
            patch.setattr(Pen, "strong", written(strong, bold=True))
            yield

    def words(self, panel: str) -> list[str]:
        """The lines of text that a panel wrote with our pen, without icons, which live in a private part of Unicode."""
        return [line.name for line in self.lines if line.panel == panel and not "\ue000" <= line.name[:1] <= "\uf8ff"]

    @property
    def popup(self) -> bool:
        """Whether a list, menu or dialog is open."""
        imgui.set_current_context(self._imgui)
        either = imgui.PopupFlags_.any_popup_id | imgui.PopupFlags_.any_popup_level
        return imgui.is_popup_open("", either)

    def box(self, panel: str, name: str) -> Box:
        """Where an item is."""
        found = [box for box in self.boxes if (box.panel, box.name) == (panel, name)]
        assert found, f"{panel} has no {name}, but {[box.name for box in self.boxes if box.panel == panel]}"
        return found[-1]

    def move(self, place: tuple[float, float]) -> None:
        imgui.set_current_context(self._imgui)
        imgui.get_io().add_mouse_pos_event(*place)
        self.frames(2)

    def button(self, *, down: bool, which: int = 0) -> None:
        imgui.get_io().add_mouse_button_event(which, down)
        self.frames()

    def key(self, key: imgui.Key, *, down: bool) -> None:
        imgui.get_io().add_key_event(key, down)
        self.frames()

    def tap(self, key: imgui.Key) -> None:
        self.key(key, down=True)
        self.key(key, down=False)

    def click(self, panel: str, name: str, which: int = 0) -> None:
        """Click the middle of an item; late enough not to be a double click."""
        self.move(self.box(panel, name).middle)
        self.rest()
        self.button(down=True, which=which)
        self.button(down=False, which=which)
        self.frames(2)

    def double_click(self, panel: str, name: str) -> None:
        self.move(self.box(panel, name).middle)
        for _ in range(2):
            self.button(down=True)
            self.button(down=False)
        self.frames(2)

    def drag(self, panel: str, name: str, across: float, before_release: Callable[[], None] = lambda: None) -> None:
        """Press an item's middle, move sideways in steps, release."""
        x, y = self.box(panel, name).middle
        self.move((x, y))
        self.button(down=True)
        for part in np.linspace(0.0, 1.0, 6)[1:].tolist():
            self.move((x + part * across, y))
        before_release()
        self.button(down=False)
        self.frames(2)

    def write(self, text: str) -> None:
        """Type, and press Enter."""
        imgui.get_io().add_input_characters_utf8(text)
        self.frames(2)
        self.tap(imgui.Key.enter)
        self.frames(2)
