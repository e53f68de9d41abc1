"""Rows of the dialog for exports: format, what of the motion, rate, units, axes, decimals; as `ikviewer convert`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.widgets.buttons import FIELD, SEGMENT, label, segments, text_button
from viewer.app.widgets.edits import Edit, Phase
from viewer.app.widgets.fields import Format, number_field
from viewer.app.widgets.pen import Pen
from viewer.formats.save import IN_METRES, MOST_DECIMALS, SHAPES, WITH_DECIMALS
from viewer.session import Document
from viewer.ui.files import ExportOptions, has_motion, shows_motion

HEIGHT = 100.0
"""Logical pixels that the rows take."""
FORMATS = (
    (".bvh", "BVH", "Motion capture: skeleton and motion"),
    (".glb", "GLB", "glTF in one file: for Blender, engines, browsers"),
    (".gltf", "glTF", "glTF as text"),
    (".json", "JSON", "Everything that this program knows of the figure"),
    (".npz", "NPZ", "Arrays for NumPy"),
    (".csv", "CSV", "A table of places and angles"),
    (".usda", "USD", "For Blender, Maya, Houdini, Omniverse"),
    (".obj", "OBJ", "The shape of this pose"),
    (".stl", "STL", "The shape of this pose, for printing"),
    (".ply", "PLY", "The shape of this pose"),
)
"""Suffix, word and hint of each."""
_UNITS = ("", "m", "cm", "mm", "inch")
_UPS = ("", "y", "z")
_FIELD = 76.0
_FRAME = Format(decimals=0, per_pixel=0.25, snap=10.0, units={})
_RATE = Format(decimals=2, unit=" fps", per_pixel=0.25, snap=5.0, units={}, low=0.1, high=1000.0)
_DECIMALS = Format(decimals=0, per_pixel=0.05, snap=1.0, units={}, low=0.0, high=float(MOST_DECIMALS))
_USUAL = 6


@dataclass(slots=True)
class ExportState:
    """What was chosen.

    Attributes:
        shows: 0 all that is played, 1 from one frame to another, 2 the pose that is shown.
        first: frame, for 1.
        last: likewise.
        fps: frames a second; None: as it is played.
        units: index into m, cm, mm, inch from 1 on; 0: as read.
        up: 1 Y, 2 Z; 0: as read.
        precision: decimals; None: as the format has them.
    """

    shows: int
    first: int
    last: int
    fps: float | None = None
    units: int = 0
    up: int = 0
    precision: int | None = None

    @classmethod
    def of(cls, document: Document) -> ExportState:
        """As it is before anything is chosen: the motion, unless the pose shown is none of its own."""
        return cls(0 if shows_motion(document) else 2, *document.played)

    def options(self, document: Document, path: Path) -> ExportOptions:
        """What to write to a file: what its format has no place for is left out."""
        suffix = path.suffix.casefold()
        motion = self.shows != 2 and has_motion(document) and suffix not in SHAPES
        fixed = suffix in IN_METRES
        return ExportOptions(
            motion=motion,
            frames=(self.first, self.last) if motion and self.shows == 1 else None,
            fps=self.fps if motion else None,
            units=None if fixed else _UNITS[self.units] or None,
            up=None if fixed else _UPS[self.up] or None,
            precision=self.precision if suffix in WITH_DECIMALS else None,
        )


def draw_export(ui: PanelContext, asked: ExportState, suffix: str) -> str | None:
    """Draw the rows of a file with a suffix; another suffix where one is chosen."""
    chosen = _format(ui, suffix)
    _motion(ui, asked, shape=suffix in SHAPES)
    _numbers(ui, asked, suffix)
    return chosen


def _format(ui: PanelContext, suffix: str) -> str | None:
    label(ui, "Format", height=SEGMENT)
    suffixes = [one for one, _, _ in FORMATS]
    now = suffixes.index(".usda" if suffix == ".usdc" else suffix) if suffix in {*suffixes, ".usdc"} else -1
    off = {suffixes.index(".usda")} if find_spec("pxr") is None else set()
    hints = [hint for _, _, hint in FORMATS]
    if off:
        hints[suffixes.index(".usda")] = "Needs usd-core: python3 -m pip install usd-core"
    wide = float(int(imgui.get_content_region_avail().x / len(FORMATS)))
    chosen = segments(ui, "format", [word for _, word, _ in FORMATS], now, widths=wide, hints=hints, off=off)
    return None if chosen is None else suffixes[chosen]


def _motion(ui: PanelContext, asked: ExportState, *, shape: bool) -> None:
    """What of the motion, and at which rate."""
    document = ui.session.document
    first, last = document.played
    moves = has_motion(document) and not shape
    label(ui, "Range", height=SEGMENT)
    words = (f"Frames {first} to {last}" if has_motion(document) else "Motion", "From, to", "This pose")
    shows = asked.shows if moves else 2
    chosen = segments(ui, "range", words, shows, off=() if moves else (0, 1))
    asked.shows = asked.shows if chosen is None else chosen
    if not moves or asked.shows == 2:
        return
    if asked.shows == 1:
        ends = [asked.first, asked.last]
        for index, name in enumerate(("from", "to")):
            _beside(ui)
            edit = number_field(ui, name, float(ends[index]), _FRAME, width=ui.px(_FIELD), hint=f"Frame, {name}")
            ends[index] = round(_value(edit, float(ends[index])))
        asked.first = min(max(ends[0], first), last)
        asked.last = min(max(ends[1], asked.first), last)
    _beside(ui)
    label(ui, "Rate", width=40, height=SEGMENT, hint="The motion lasts as long as before, whatever the rate")
    own = 1.0 / document.frame_time
    fps = _value(number_field(ui, "fps", asked.fps or own, _RATE, width=ui.px(_FIELD + 12)), asked.fps or own)
    asked.fps = round(fps, 3) if asked.fps is not None or abs(fps - own) > 1e-9 else None
    if asked.fps is not None:
        _beside(ui, 6.0)
        if text_button(ui, "Reset##rate", hint="As it is played"):
            asked.fps = None


def _numbers(ui: PanelContext, asked: ExportState, suffix: str) -> None:
    """Units, axes and decimals, where the format leaves them open."""
    label(ui, "Units", height=SEGMENT)
    if suffix in IN_METRES:
        pen = Pen(ui)
        x, y = imgui.get_cursor_screen_pos()
        pen.text(x, pen.middle(y, pen.px(SEGMENT)), "Metres, Y up: this format has no others", "text3")
        imgui.dummy((pen.px(300), pen.px(SEGMENT)))
    else:
        chosen = segments(ui, "units", ("As read", "m", "cm", "mm", "inch"), asked.units)
        asked.units = asked.units if chosen is None else chosen
        _beside(ui)
        label(ui, "Up", width=28, height=SEGMENT)
        chosen = segments(ui, "up", ("As read", "Y", "Z"), asked.up)
        asked.up = asked.up if chosen is None else chosen
    if suffix in WITH_DECIMALS:
        _beside(ui)
        label(ui, "Decimals", width=66, height=SEGMENT)
        shown = None if asked.precision is None else float(asked.precision)
        if shown is None:
            if text_button(ui, "All##decimals", hint="As many as the format needs", height=FIELD):
                asked.precision = _USUAL
        else:
            edit = number_field(ui, "decimals", shown, _DECIMALS, width=ui.px(44))
            asked.precision = round(_value(edit, shown))
            _beside(ui, 6.0)
            if text_button(ui, "All##decimals", hint="As many as the format needs", height=FIELD):
                asked.precision = None


def _beside(ui: PanelContext, room: float = 14.0) -> None:
    imgui.same_line(0.0, ui.px(room))


def _value(edit: Edit | None, before: float) -> float:
    """What a field asks for, at once: a dialog has no history."""
    return edit.value if edit is not None and edit.phase is not Phase.COMMIT else before
