"""The options of an export in the file dialog: format, range of frames, rate, units, decimals."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from imgui_bundle import imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.joint_inspector import is_robot
from viewer.app.widgets import controls, fields
from viewer.document import Document
from viewer.formats import file_formats
from viewer.formats.file_formats import MOST_DECIMALS, FileFormat, format_of
from viewer.ui.file_menu import ExportOptions, shows_motion

EXPORT_HEIGHT = 100.0
"""Height of the export options, logical pixels."""
LISTED = tuple((form.suffix, form.name, form.hint) for form in file_formats.FORMATS if form.writer and form.hint)
"""Suffix, word and tooltip of each export format."""
_UNITS = ("", "m", "cm", "mm", "inch")
_UPS = ("", "y", "z")
_FIELD = 76.0
_FRAME = fields.Format(decimals=0, per_pixel=0.25, snap=10.0, units={})
_RATE = fields.Format(decimals=2, unit=" fps", per_pixel=0.25, snap=5.0, units={}, low=0.1, high=1000.0)
_DECIMALS = fields.Format(decimals=0, per_pixel=0.05, snap=1.0, units={}, low=0.0, high=float(MOST_DECIMALS))
_USUAL_DECIMALS = 6


@dataclass(slots=True)
class ExportState:
    """The choices for an export.

    Attributes:
        shows: 0 the played range, 1 frames ``first`` to ``last``, 2 the current pose.
        first: frame.
        last: frame.
        fps: frames per second; None: as it is played.
        units: index into `_UNITS`; 0: as read.
        up: index into `_UPS`; 0: as read.
        precision: decimals; None: as many as the format needs.
        joints: a table holds joint positions, as robots are driven, and not places in the world.
    """

    shows: int
    first: int
    last: int
    fps: float | None = None
    units: int = 0
    up: int = 0
    precision: int | None = None
    joints: bool = False

    @classmethod
    def of(cls, document: Document) -> ExportState:
        """The first choices: the motion, or the pose if it is not part of the motion."""
        return cls(0 if shows_motion(document) else 2, *document.played, joints=is_robot(document))

    def options(self, document: Document, path: Path) -> ExportOptions:
        """The options for a file, without those that its format cannot store."""
        form = format_of(path)
        motion = self.shows != 2 and document.has_motion and not form.is_shape
        return ExportOptions(
            motion=motion,
            frames=(self.first, self.last) if motion and self.shows == 1 else None,
            fps=self.fps if motion else None,
            units=None if form.in_metres else _UNITS[self.units] or None,
            up=None if form.in_metres else _UPS[self.up] or None,
            precision=self.precision if form.decimals else None,
            joints=self.joints and form.is_table,
        )


def draw_export(ui: PanelContext, asked: ExportState, suffix: str) -> str:
    """Draw the options for a file with a suffix; returns the suffix of the format chosen in this frame, or ""."""
    chosen = _format(ui, suffix)
    form = format_of(Path(f"name{suffix}"))
    _motion(ui, asked, shape=form.is_shape)
    _numbers(ui, asked, form)
    return chosen


def _format(ui: PanelContext, suffix: str) -> str:
    controls.label(ui, "Format", height=controls.SEGMENT)
    suffixes = [one for one, _, _ in LISTED]
    usd = suffixes.index(".usda")
    now = ".usda" if suffix == ".usdc" else suffix
    hints = [hint for _, _, hint in LISTED]
    off = set[int]()
    if find_spec("pxr") is None:
        off, hints[usd] = {usd}, "Needs usd-core: python3 -m pip install usd-core"
    wide = float(int(imgui.get_content_region_avail().x / len(LISTED)))
    words = [word for _, word, _ in LISTED]
    chosen = controls.choose(ui, "format", suffixes, words, now, widths=wide, hints=hints, off=off)
    return "" if chosen == now else chosen


def _motion(ui: PanelContext, asked: ExportState, *, shape: bool) -> None:
    """The range of frames and their rate; neither for a format of shapes."""
    document = ui.controller.shown_motion().document
    first, last = document.played
    controls.label(ui, "Range", height=controls.SEGMENT)
    words = (f"Frames {first} to {last}" if document.has_motion else "Motion", "From, to", "This pose")
    if not document.has_motion or shape:
        controls.choose(ui, "range", range(3), words, 2, off=(0, 1))
        return
    asked.shows = controls.choose(ui, "range", range(3), words, asked.shows)
    if asked.shows == 2:
        return
    if asked.shows == 1:
        ends = [asked.first, asked.last]
        for index, name in enumerate(("from", "to")):
            _beside(ui)
            ends[index] = round(
                fields.number(ui, name, float(ends[index]), _FRAME, width=_FIELD, hint=f"Frame, {name}")
            )
        asked.first = min(max(ends[0], first), last)
        asked.last = min(max(ends[1], asked.first), last)
    _beside(ui)
    controls.label(ui, "Rate", width=40, height=controls.SEGMENT, hint="The duration stays the same at any rate")
    own = 1.0 / document.frame_time
    fps = fields.number(ui, "fps", asked.fps or own, _RATE, width=_FIELD + 12)
    asked.fps = round(fps, 3) if asked.fps is not None or abs(fps - own) > 1e-9 else None
    if asked.fps is not None:
        _beside(ui, 6.0)
        if controls.text_button(ui, "Reset##rate", hint="Same as playback"):
            asked.fps = None


def _numbers(ui: PanelContext, asked: ExportState, form: FileFormat) -> None:
    """Units, up axis and decimals, where the format leaves a choice."""
    controls.label(ui, "Units", height=controls.SEGMENT)
    if form.in_metres:
        words = "Radians, metres" if form.is_table and asked.joints else "Metres, Y up: fixed by this format"
        controls.note(ui, words, height=controls.SEGMENT, gap=0.0)
        if form.is_table:
            _beside(ui)
            controls.label(
                ui,
                "Columns",
                width=62,
                height=controls.SEGMENT,
                hint="Places and angles of all joints, or what moves each",
            )
            asked.joints = controls.choose(ui, "columns", (False, True), ("Places", "Joint positions"), asked.joints)
    else:
        asked.units = controls.choose(ui, "units", range(5), ("As read", "m", "cm", "mm", "inch"), asked.units)
        _beside(ui)
        controls.label(ui, "Up", width=28, height=controls.SEGMENT)
        asked.up = controls.choose(ui, "up", range(3), ("As read", "Y", "Z"), asked.up)
    if form.decimals:
        _beside(ui)
        controls.label(ui, "Decimals", width=66, height=controls.SEGMENT)
        if asked.precision is not None:
            asked.precision = round(fields.number(ui, "decimals", float(asked.precision), _DECIMALS, width=44))
            _beside(ui, 6.0)
        if controls.text_button(ui, "All##decimals", hint="All that the format needs", height=controls.FIELD):
            asked.precision = _USUAL_DECIMALS if asked.precision is None else None


def _beside(ui: PanelContext, room: float = 14.0) -> None:
    imgui.same_line(0.0, ui.px(room))
