"""The window's colours and sizes as Dear ImGui's style: dark grey, in which colours show states."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import imgui_bundle
from imgui_bundle import imgui

from viewer.errors import MachineError
from viewer.scene import PALETTE

_COLOURS: tuple[tuple[str, str, float], ...] = (
    ("text", "text", 1.0),
    ("text_disabled", "text3", 1.0),
    ("window_bg", "panel", 1.0),
    ("child_bg", "panel", 0.0),
    ("popup_bg", "raised", 1.0),
    ("border", "line_hi", 1.0),
    ("border_shadow", "app", 0.0),
    ("frame_bg", "field", 1.0),
    ("frame_bg_hovered", "field_hi", 1.0),
    ("frame_bg_active", "field_on", 1.0),
    ("title_bg", "app", 1.0),
    ("title_bg_active", "app", 1.0),
    ("title_bg_collapsed", "app", 1.0),
    ("menu_bar_bg", "app", 1.0),
    ("scrollbar_bg", "panel", 0.0),
    ("scrollbar_grab", "field_hi", 1.0),
    ("scrollbar_grab_hovered", "field_on", 1.0),
    ("scrollbar_grab_active", "field_on", 1.0),
    ("check_mark", "accent", 1.0),
    ("checkbox_selected_bg", "field", 1.0),
    ("slider_grab", "text", 1.0),
    ("slider_grab_active", "accent", 1.0),
    ("button", "field", 1.0),
    ("button_hovered", "field_hi", 1.0),
    ("button_active", "field_on", 1.0),
    ("header", "accent_dk", 1.0),
    ("header_hovered", "field", 1.0),
    ("header_active", "field_hi", 1.0),
    ("separator", "line", 1.0),
    ("separator_hovered", "line_hi", 1.0),
    ("separator_active", "accent", 1.0),
    ("resize_grip", "line", 0.0),
    ("resize_grip_hovered", "line_hi", 1.0),
    ("resize_grip_active", "accent", 1.0),
    ("input_text_cursor", "text", 1.0),
    ("tab", "app", 1.0),
    ("tab_hovered", "raised", 1.0),
    ("tab_selected", "panel", 1.0),
    ("tab_selected_overline", "accent", 1.0),
    ("tab_dimmed", "app", 1.0),
    ("tab_dimmed_selected", "panel", 1.0),
    ("tab_dimmed_selected_overline", "field_hi", 1.0),
    ("plot_lines", "text3", 1.0),
    ("plot_lines_hovered", "accent", 1.0),
    ("plot_histogram", "accent", 1.0),
    ("plot_histogram_hovered", "hovered", 1.0),
    ("table_header_bg", "raised", 1.0),
    ("table_border_strong", "line", 1.0),
    ("table_border_light", "line", 1.0),
    ("table_row_bg", "panel", 0.0),
    ("table_row_bg_alt", "raised", 0.0),
    ("text_link", "accent", 1.0),
    ("text_selected_bg", "accent_dk", 1.0),
    ("tree_lines", "line_hi", 1.0),
    ("drag_drop_target", "accent", 1.0),
    ("drag_drop_target_bg", "accent_dk", 0.4),
    ("unsaved_marker", "text2", 1.0),
    ("nav_cursor", "accent", 1.0),
    ("nav_windowing_highlight", "accent", 0.7),
    ("nav_windowing_dim_bg", "app", 0.6),
    ("modal_window_dim_bg", "app", 0.72),
)
"""(imgui's name, the palette's name, alpha)."""

_PAIRS: tuple[tuple[str, float, float], ...] = (
    ("window_padding", 8, 8),
    ("frame_padding", 6, 3),
    ("item_spacing", 8, 5),
    ("item_inner_spacing", 6, 4),
    ("cell_padding", 6, 2),
    ("window_min_size", 16, 16),
)

_NUMBERS: tuple[tuple[str, float], ...] = (
    ("indent_spacing", 14),
    ("scrollbar_size", 10),
    ("grab_min_size", 8),
    ("window_rounding", 0),
    ("child_rounding", 4),
    ("frame_rounding", 4),
    ("grab_rounding", 3),
    ("tab_rounding", 4),
    ("popup_rounding", 6),
    ("scrollbar_rounding", 5),
    ("menu_item_rounding", 4),
    ("tab_bar_overline_size", 2),
    ("docking_separator_size", 2),
    ("separator_size", 1),
    ("input_text_cursor_size", 1),
)

_BORDERS: tuple[tuple[str, float], ...] = (
    ("popup_border_size", 1),
    ("window_border_size", 0),
    ("child_border_size", 0),
    ("frame_border_size", 0),
    ("tab_border_size", 0),
)

_TOOLTIP_DELAY = 0.5
_DISABLED_ALPHA = 0.45


def apply_theme(scale: float) -> None:
    """Apply the theme to imgui's current context at a scale in framebuffer pixels per logical pixel.

    All sizes are set from unscaled ones, so that the function can be called again with another scale.
    """
    style = imgui.get_style()
    size = style.font_size_base
    fresh = imgui.Style()
    for name, across, down in _PAIRS:
        setattr(style, name, imgui.ImVec2(round(across * scale), round(down * scale)))
    for name, value in _NUMBERS:
        setattr(style, name, round(value * scale))
    for name, value in _BORDERS:
        setattr(style, name, max(1.0, round(scale)) if value else 0.0)
    style.separator_text_padding = imgui.ImVec2(round(fresh.separator_text_padding.x * scale), round(3 * scale))
    style.mouse_cursor_scale = scale
    style.disabled_alpha = _DISABLED_ALPHA
    style.window_menu_button_position = imgui.Dir.none
    style.hover_delay_normal = style.hover_delay_short = _TOOLTIP_DELAY
    style.hover_stationary_delay = 0.0
    style.hover_flags_for_tooltip_mouse = imgui.HoveredFlags_.delay_normal | imgui.HoveredFlags_.allow_when_disabled
    style.font_size_base = size
    style.font_scale_dpi = scale
    for ours, theirs, alpha in _COLOURS:
        style.set_color_(getattr(imgui.Col_, ours), colour(theirs, alpha))


def colour(name: str, alpha: float = 1.0) -> imgui.ImVec4:
    """A colour of the palette in the form of imgui's widgets."""
    return imgui.ImVec4(*PALETTE[name], alpha)


def paint(name: str, alpha: float = 1.0) -> int:
    """A colour of the palette in the form of imgui's draw lists."""
    return _packed(name, round(255.0 * alpha))


@lru_cache(maxsize=512)
def _packed(name: str, alpha: int) -> int:
    red, green, blue = (round(255.0 * part) for part in PALETTE[name])
    return alpha << 24 | blue << 16 | green << 8 | red


BASE, SMALL, TITLE = 15.0, 13.0, 18.0
"""Sizes in logical pixels: text; units, hints and ticks; titles in bold."""

CJK_ADVICE = "Some joint names need a CJK font. Debian/Ubuntu: apt install fonts-noto-cjk"

_ICON_SCALE = 0.86
_CJK_NAMES = (
    "NotoSansCJK",
    "NotoSansJP",
    "NotoSansSC",
    "SourceHanSans",
    "wqy-",
    "DroidSansFallback",
    "msyh",
    "YuGoth",
    "malgun",
    "PingFang",
    "Hiragino",
)
_FONT_SUFFIXES = {".ttf", ".otf", ".ttc"}
_FIRST_CJK = 0x2E80
"""First code point of the East Asian scripts; Roboto has most letters below it."""


class Fonts:
    """The regular and the bold font, with icons. Needs a current imgui context."""

    def __init__(self) -> None:
        """Load the bundled fonts; imgui makes glyphs when they are first drawn.

        Raises:
            MachineError: imgui-bundle lacks its fonts.
        """
        folder = Path(imgui_bundle.__file__).parent / "assets" / "fonts"
        files = [folder / "Roboto" / f"Roboto-{weight}.ttf" for weight in ("Regular", "Bold")]
        icons = folder / "Font_Awesome_6_Free-Solid-900.otf"
        missing = [str(file) for file in (*files, icons) if not file.is_file()]
        if missing:
            raise MachineError(f"imgui-bundle lacks {missing[0]}: pip install --force-reinstall imgui-bundle")
        imgui.get_style().font_size_base = BASE
        self.regular = _face(files[0], icons)
        self.bold = _face(files[1], icons)
        self._cjk: bool | None = None

    @contextmanager
    def base(self) -> Iterator[None]:
        """Set imgui's font to regular text of size `BASE`."""
        with _pushed(self.regular, BASE):
            yield

    @contextmanager
    def small(self) -> Iterator[None]:
        """Set imgui's font to regular text of size `SMALL`, for units, hints and ticks."""
        with _pushed(self.regular, SMALL):
            yield

    def load_for(self, text: str) -> str | None:
        """Load a CJK font if a text needs one; call it between frames.

        Returns:
            Advice to show, once in a run, if a CJK font is needed and the system has none.
        """
        if self._cjk is not None or not any(ord(letter) >= _FIRST_CJK for letter in text if letter.isalpha()):
            return None
        file = cjk_font()
        self._cjk = file is not None
        if file is None:
            return CJK_ADVICE
        for face in (self.regular, self.bold):
            _merge(face, file, 1.0)
        return None


def cjk_font(folders: list[Path] | None = None) -> Path | None:
    """The preferred CJK font of the system; None without one. ``folders`` replace those of the system."""
    found: dict[str, Path] = {}
    for folder in font_folders() if folders is None else folders:
        for base, _, names in os.walk(folder):
            for name in names:
                folded = name.replace(" ", "").casefold()
                for known in _CJK_NAMES:
                    if Path(folded).suffix in _FONT_SUFFIXES and folded.startswith(known.casefold()):
                        found.setdefault(known, Path(base, name))
    return next((found[known] for known in _CJK_NAMES if known in found), None)


def font_folders() -> list[Path]:
    """The folders in which this system keeps fonts."""
    home = Path.home()
    if sys.platform == "win32":
        return [Path(os.environ.get("WINDIR", "C:/Windows"), "Fonts")]
    if sys.platform == "darwin":
        return [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library/Fonts"]
    return [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), home / ".local/share/fonts", home / ".fonts"]


def _face(file: Path, icons: Path) -> imgui.ImFont:
    # Font Awesome has Latin letters, too. imgui takes a letter from the first font that has it, so it comes second.
    face = imgui.get_io().fonts.add_font_from_file_ttf(str(file), BASE)
    _merge(face, icons, _ICON_SCALE, imgui.ImVec2(0.0, 1.0))
    return face


def _merge(face: imgui.ImFont, file: Path, scale: float, offset: imgui.ImVec2 | None = None) -> None:
    config = imgui.ImFontConfig()
    config.merge_mode = True
    config.dst_font = face
    config.size_pixels = BASE * scale
    if offset is not None:
        config.glyph_offset = offset
    imgui.get_io().fonts.add_font_from_file_ttf(str(file), BASE * scale, config)


@contextmanager
def _pushed(face: imgui.ImFont, size: float) -> Iterator[None]:
    imgui.push_font(face, size)
    try:
        yield
    finally:
        imgui.pop_font()
