"""Draws a frame of the window: runs the panels, draws the scene, and composes both."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import moderngl
import numpy as np
from imgui_bundle import imgui, implot
from numpy.typing import NDArray

from viewer.app.context import Panel, PanelContext
from viewer.app.fonts import Fonts
from viewer.app.frame import Frame
from viewer.app.imgui_renderer import ImguiRenderer, Painted, copy_list
from viewer.app.input import Capture
from viewer.app.layers import Layers, write_texts
from viewer.app.layout import LANE, Layout
from viewer.app.panels.feet_lane import feet_height
from viewer.app.panels.layer_lanes import lanes_height
from viewer.app.stage import Level, Stage
from viewer.app.theme import apply_theme
from viewer.app.widgets.fields import awaiting_focus
from viewer.app.window import Device
from viewer.document.feet import feet_of
from viewer.formats.files import write_whole
from viewer.ui.controller import Controller
from viewer.ui.layering import layers_of
from viewer.ui.numbers import Rect


def read_picture(target: moderngl.Framebuffer) -> NDArray[np.uint8]:
    """The pixels of a framebuffer, (H, W, 3), rows from the top."""
    width, height = target.size
    data = target.read(viewport=(0, 0, width, height), components=3, alignment=1)
    return np.frombuffer(data, np.uint8).reshape(height, width, 3)[::-1].copy()


def save_picture(path: Path, image: NDArray[np.uint8]) -> None:
    """Write a picture (H, W, 3) as a PNG file.

    Raises:
        OutputError: the file cannot be written.
    """
    from PIL import Image  # noqa: PLC0415 - only saved pictures need it

    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    write_whole(path, file.getvalue())


_LARGE = 3200
"""Width in pixels from which a window is on a screen of high density, even if the system reports a scale of 1."""

_TRANSPARENT = ("##Tooltip", "##Background", "##Foreground", "##panel:")
"""Beginnings of the names of imgui windows over the scene that ignore the mouse."""


def ui_scale(content_scale: float, width: int, wanted: float | None) -> float:
    """Framebuffer pixels per logical pixel.

    Args:
        content_scale: of the monitor.
        width: of the framebuffer, pixels.
        wanted: the user's preference; None chooses automatically.
    """
    if wanted is not None:
        return wanted
    return 2.0 if content_scale <= 1.0 and width >= _LARGE else max(content_scale, 0.75)


class Painter:
    """Owns imgui, the layers and the scene's framebuffer of one window.

    Attributes:
        ui: the context that panels get.
        frame: runs the panels.
        layers: keeps their pixels.
        stage: draws the scene.
        capture: state of imgui in its last frame.
    """

    def __init__(self, device: Device, controller: Controller, panels: Sequence[Panel], layout: Layout) -> None:
        """Create imgui's context, and load fonts and shaders.

        Raises:
            MachineError: fonts are missing, or the driver refuses a shader.
        """
        self._device = device
        self._imgui = imgui.create_context()
        imgui.set_current_context(self._imgui)
        self._plots = implot.create_context()
        # After a panel has raised, its own traceback is printed: imgui's log adds nothing.
        self._imgui.debug_log_flags &= ~imgui.internal.DebugLogFlags_.output_to_tty
        self._set_up_io()
        fonts = Fonts()
        regions = layout.regions(device.size, 1.0)
        self.ui = PanelContext(controller, fonts, layout, regions)
        self.frame = Frame(self.ui, panels)
        self._renderer = ImguiRenderer(device.context)
        self.layers = Layers(device.context, self._renderer)
        self.stage = Stage(device.context, self.layers.blit)
        self.capture = Capture()
        self._themed = 0.0
        self._texts: list[Painted] = []
        self.arrange()

    def arrange(self) -> bool:
        """Update the regions for the current size, scale and layout; returns whether they changed."""
        device, ui = self._device, self.ui
        wanted = ui.controller.view.preferences.ui_scale
        scale = ui_scale(device.content_scale, device.size[0], wanted)
        imgui.set_current_context(self._imgui)
        if scale != self._themed:
            apply_theme(scale)
            self._themed = scale
        compares = ui.session.stage.several and bool(ui.controller.figures.compared)
        document = ui.session.document
        lanes = feet_height(feet_of(document)) + lanes_height(len(layers_of(document)))
        ui.layout.extra = lanes + (LANE if compares else 0.0)
        regions = ui.layout.regions(device.size, scale)
        changed = regions != ui.regions or ui.scale != scale
        ui.regions, ui.scale = regions, scale
        ui.controller.viewport, ui.controller.view.scale = regions.viewport, scale
        ui.controller.view.pixel_ratio = device.size[0] / device.window_size[0]
        if changed:
            ui.controller.view.changed()
            self.layers.forget()
        return changed

    def paint(self, seconds: float, level: Level, *, full: bool = True, still: bool = False) -> None:
        """Draw a frame into the device's target.

        Args:
            seconds: since the last frame.
            level: what of the scene is omitted in motion.
            full: draw all panels, not only the live ones.
            still: draw all of the scene, with 4 samples per pixel.
        """
        panels, floating = self._run_panels(seconds, full=full)
        self.layers.paint(self._device.size, panels)
        controller = self.ui.controller
        shown = controller.draw_list(), controller.projection()
        scene = self.stage.draw(*shown, level, still=still, scale=self.ui.scale)
        self.layers.compose(self._device.target, (scene, self.ui.regions.viewport), floating)

    def picture(self) -> NDArray[np.uint8]:
        """The scene and its texts without panels, (H, W, 3), as `paint` drew them last."""
        regions = self.ui.regions
        size, viewport = regions.size, regions.viewport
        canvas = self._device.context.simple_framebuffer(size)
        self.layers.blit(self.stage.shown, canvas, at=viewport)
        self._renderer.draw(self._texts, canvas)
        image = read_picture(canvas)
        canvas.release()
        return image[viewport.y : viewport.y + viewport.h, viewport.x : viewport.x + viewport.w]

    @property
    def cursor(self) -> str:
        """The pointer's shape that imgui requests."""
        imgui.set_current_context(self._imgui)
        return _SHAPES.get(imgui.MouseCursor_(imgui.get_mouse_cursor()), "arrow")

    def close(self) -> None:
        """Release imgui's context; the device releases OpenGL's."""
        imgui.set_current_context(self._imgui)
        self._renderer.release()
        implot.destroy_context(self._plots)
        imgui.destroy_context(self._imgui)

    def _set_up_io(self) -> None:
        io = imgui.get_io()
        io.set_ini_filename("")
        io.set_log_filename("")
        io.config_flags |= imgui.ConfigFlags_.nav_enable_keyboard | imgui.ConfigFlags_.no_mouse_cursor_change
        io.config_nav_capture_keyboard = False
        io.config_input_text_cursor_blink = False  # so that a window at rest draws no frames
        io.config_error_recovery = True
        io.config_error_recovery_enable_assert = False
        io.config_error_recovery_enable_tooltip = False
        io.config_error_recovery_enable_debug_log = True
        device, platform = self._device, imgui.get_platform_io()
        platform.platform_get_clipboard_text_fn = lambda _: device.clipboard()
        platform.platform_set_clipboard_text_fn = lambda _, text: device.set_clipboard(text)

    def _run_panels(self, seconds: float, *, full: bool) -> tuple[dict[str, list[Painted]], list[Painted]]:
        """Run a frame of imgui; returns the draw lists of panels by layer, and those of floating windows."""
        imgui.set_current_context(self._imgui)
        io = imgui.get_io()
        io.delta_time = max(seconds, 1e-4)
        io.display_size = imgui.ImVec2(*self._device.size)
        imgui.new_frame()
        # imgui would dim the window behind a dialog gradually, over frames that may never be drawn.
        self._imgui.dim_bg_ratio = 0.0 if imgui.internal.get_top_most_popup_modal() is None else 1.0
        controller, regions = self.ui.controller, self.ui.regions
        self.frame.run(live_only=not full)
        write_texts(controller.draw_list().texts, regions.viewport, self.ui.fonts, self.ui.scale)
        imgui.render()
        self._renderer.update_textures()
        if imgui.get_current_context().input_events_queue.size():
            self.ui.wake()  # imgui takes one typed key per frame: the others must not wait for the next event
        panels: dict[str, list[Painted]] = {}
        floating: list[Painted] = []
        for draw_list in imgui.get_draw_data().cmd_lists:
            painted = copy_list(draw_list)
            layer = self.frame.opaque(painted.name)
            (floating if layer is None else panels.setdefault(layer, [])).append(painted)
        self._texts = [painted for painted in floating if painted.name.startswith("##Background")]
        self._note_capture(floating)
        return panels, floating

    def _note_capture(self, floating: list[Painted]) -> None:
        io, capture = imgui.get_io(), self.capture
        capture.viewport = self.ui.regions.viewport
        capture.modal = imgui.is_popup_open("", imgui.PopupFlags_.any_popup)
        capture.typing = io.want_text_input
        capture.active = imgui.is_any_item_active()
        capture.awaited = awaiting_focus()
        capture.frames += 1
        if capture.awaited:
            self.ui.wake()
        rects = []
        for name in dict.fromkeys(painted.name.split("/", 1)[0] for painted in floating):
            window = None if name.startswith(_TRANSPARENT) else imgui.internal.find_window_by_name(name)
            if window is not None:
                rects.append(Rect(round(window.pos.x), round(window.pos.y), round(window.size.x), round(window.size.y)))
        capture.floating = tuple(rects)


_SHAPES: dict[imgui.MouseCursor_, str] = {
    imgui.MouseCursor_.text_input: "text",
    imgui.MouseCursor_.resize_all: "move",
    imgui.MouseCursor_.resize_ns: "ns",
    imgui.MouseCursor_.resize_ew: "ew",
    imgui.MouseCursor_.hand: "hand",
    imgui.MouseCursor_.not_allowed: "not-allowed",
}
