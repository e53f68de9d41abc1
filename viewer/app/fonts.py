"""The window's fonts: Roboto, the icons of Font Awesome, and a CJK font of the system if a name needs one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import imgui_bundle
from imgui_bundle import imgui

from viewer.errors import MachineError

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
