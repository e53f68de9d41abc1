"""Ends of a joint's ranges in the view: rings on cones and arcs, which are dragged, and what the ring says."""

from __future__ import annotations

import math

import numpy as np

from viewer.document import Document, joint_of, world_of
from viewer.document.limit_ranges import coordinate_names, ends_of, held_percent, seen_in_clip
from viewer.document.report import coordinates_of
from viewer.gizmo import Fill, Shape, Stroke
from viewer.scene import Display, Hit, RangeEnd, Text, range_ends, rgba, way_of
from viewer.scene.annotations import text_width
from viewer.session import Session
from viewer.skeleton import JointKind
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.ui import numbers
from viewer.ui.events import Button, Move, Release
from viewer.ui.limit_ranges import end_action
from viewer.ui.view import View

_CONE_PX, _ARC_PX, _HELD_PX, _NEAR_PX, _LINE_PX = 6.0, 4.6, 7.5, 8.0, 2.0
"""Radii of rings on cones, at ends of arcs, and under the pointer; how near one is held; width of its line."""
_CORNERS = 24
_SNAP = math.radians(5.0)
_FINE = 0.1
_SPLIT = 16
"""Parts of the slide's rail that a snapping end stops at."""


def end_handles(document: Document, display: Display) -> tuple[RangeEnd, ...]:
    """The ends of the active joint's ranges; none unless its ranges are drawn and in force."""
    item = document.active_on_figure
    if display.limits == "none" or item is None or not document.limits_on or item.name in document.unlimited:
        return ()
    joint = joint_of(document, item)
    if document.skeleton.names[joint] in document.unlimited:
        return ()
    skeleton, pose = document.skeleton, document.pose
    return range_ends(skeleton, world_of(skeleton, pose), joint, coordinates_of(skeleton, pose))


def hit_end(
    document: Document, display: Display, projection: Projection, at: tuple[float, float], scale: float
) -> Hit | None:
    """The nearest handle at a pixel of the viewport."""
    found: list[tuple[float, Hit]] = []
    for end in end_handles(document, display):
        pixel, depth = projection.project(end.point), float(projection.depth(end.point))
        away = float(np.linalg.norm(pixel - at))
        if depth > 0.0 and away <= _NEAR_PX * scale:
            name = document.skeleton.names[end.joint]
            found.append((away, Hit("limit", name, end.joint, end.point, depth, place=end.place, upper=end.upper)))
    return min(found, key=lambda one: one[0])[1] if found else None


def end_shapes(
    ends: tuple[RangeEnd, ...], held: tuple[int, bool] | None, projection: Projection, scale: float
) -> list[Shape]:
    """Rings at the handles.

    Args:
        ends: the handles.
        held: coordinate and side of the one that is held or under the pointer.
        projection: of the camera.
        scale: physical per logical pixels.
    """
    turn = np.linspace(0.0, 2.0 * np.pi, _CORNERS, endpoint=False)
    circle = scale * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    shapes: list[Shape] = []
    for end in sorted(ends, key=lambda one: (one.place, one.upper) == held):
        pixel = projection.project(end.point)
        if projection.depth(end.point) > 0.0 and np.isfinite(pixel).all():
            lit = (end.place, end.upper) == held
            points = pixel + (_HELD_PX if lit else _CONE_PX if end.on_cone else _ARC_PX) * circle
            shapes += [
                Fill(points, "halo", 0.75),
                Stroke(points, _LINE_PX * scale, "hovered" if lit else "accent", 1.0, closed=True),
            ]
    return shapes


def end_words(document: Document, end: RangeEnd) -> tuple[str, str]:
    """``Swing Z`` and ``+148°``: the name of a coordinate, and where an end of its range is."""
    name = dict(coordinate_names(document.skeleton, end.joint))[end.place]
    limits = document.skeleton.limits[end.joint]
    assert limits is not None
    value = ends_of(limits)[end.place][end.upper]
    if document.skeleton.kinds[end.joint] is JointKind.SLIDE:
        return name, numbers.short(value)
    degrees = math.degrees(value)
    return name, f"{'+' if degrees >= 0.5 else ''}{numbers.fixed(degrees, 0)}°"


_CHIP_PX, _TALL_PX, _PAD_PX, _BESIDE_PX = 15, 26.0, 10.0, 14.0
"""Text size of the chip, its height, the margin of its text, and its distance from the ring, logical pixels."""


class RangeDrag:
    """An end of a range follows the pointer along its way: one undo step.

    The way is that of the moment when the drag began: the pose may follow the narrower range.
    """

    button: Button | None = "left"
    edits = True
    cursor = "hidden"
    grabbing = False

    def __init__(self, session: Session, view: View, hit: Hit, at: tuple[float, float]) -> None:
        """Take hold of a handle from a pixel of the viewport."""
        self._session, self._view = session, view
        document = session.document
        self.end = next(
            end for end in end_handles(document, view.display) if (end.place, end.upper) == (hit.place, hit.upper)
        )
        self._values, way = way_of(document.skeleton, world_of(document.skeleton, document.pose), self.end)
        self._pixels = np.where(view.projection().depth(way)[:, None] > 0.0, view.projection().project(way), np.inf)
        self._last = self._pointer = np.array(at)
        handle = view.projection().project(hit.point)
        self._off = handle - self._pointer
        self._at = int(np.argmin(np.abs(self._values - self._value(document))))
        self._wanted: tuple[float, bool] | None = None
        self._share = self._held(document)
        session.begin(f"Limits of {hit.name}")

    @property
    def held(self) -> tuple[int, bool]:
        """Coordinate and side."""
        return self.end.place, self.end.upper

    def _value(self, document: Document) -> float:
        limits = document.skeleton.limits[self.end.joint]
        assert limits is not None
        return ends_of(limits)[self.end.place][self.end.upper]

    def _held(self, document: Document) -> int | None:
        """Percent of the clip that the joint's limits hold."""
        seen = seen_in_clip(document, self.end.joint)
        return None if seen is None else held_percent(seen.share)

    def move(self, event: Move) -> None:
        """Follow the pointer: with Ctrl in steps, with Shift a tenth as far, with Alt both ends."""
        if self._session.gestures.label is None:
            self._view.set_gesture(None)  # a panel has changed the document and so ended the gesture
            return
        here = np.array(self._view.local(event.x, event.y))
        self._pointer = self._pointer + (here - self._last) * (_FINE if "shift" in event.mods else 1.0)
        self._last = here
        value = self._nearest(self._pointer + self._off)
        if ("ctrl" in event.mods) != self._view.magnet:
            values = self._values
            slide = self._session.document.skeleton.kinds[self.end.joint] is JointKind.SLIDE
            step = float(values[-1] - values[0]) / (3.0 * _SPLIT) if slide else _SNAP
            value = round(value / step) * step
        self._wanted = value, "alt" in event.mods
        self._view.changed()

    def _nearest(self, pixel: Floats) -> float:
        """The value at the point of the way nearest to a pixel, going on from the last one.

        A way can cross itself on the screen: it is followed downhill, never left for a nearer part of it.
        """
        starts, ends = self._pixels[:-1], self._pixels[1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            along = ends - starts
            shares = ((pixel - starts) * along).sum(axis=1) / (along * along).sum(axis=1)
            part = np.clip(np.nan_to_num(shares), 0.0, 1.0)
            away = np.linalg.norm(starts + part[:, None] * along - pixel, axis=1)
        away = np.where(np.isfinite(away), away, np.inf)
        at = min(self._at, len(away) - 1)
        for step in (-1, 1):
            while 0 <= at + step < len(away) and away[at + step] <= away[at] and np.isfinite(away[at + step]):
                at += step
        self._at = at
        values = self._values
        return float(values[at] + part[at] * (values[at + 1] - values[at]))

    def tick(self) -> None:
        """Apply the last motion of the frame."""
        if self._wanted is None or self._session.gestures.label is None:
            return
        (value, both), self._wanted = self._wanted, None
        document, end = self._session.document, self.end
        self._session.gestures.update(
            end_action(document, end.joint, end.place, value, upper=end.upper, mirror=self._view.mirror, both=both)
        )
        self._view.changed()

    def release(self, event: Release) -> None:  # noqa: ARG002 - the last move counts
        """Confirm, as the button came up."""
        self.confirm()

    def confirm(self) -> None:
        """End the drag and keep its result: one undo step."""
        self.tick()
        self._view.set_gesture(None)
        self._session.commit()

    def cancel(self) -> None:
        """End the drag and restore the ranges before it."""
        self._view.set_gesture(None)
        self._session.cancel()

    def note(self) -> str:
        """``holds 96 % of the clip, was 93``; "" without a clip."""
        share = self._held(self._session.document)
        if share is None:
            return ""
        return f"holds {share} % of the clip" + (f", was {self._share}" if share != self._share else "")


def chip(
    document: Document, end: RangeEnd, note: str, projection: Projection, size: tuple[float, float], scale: float
) -> tuple[list[Shape], tuple[Text, ...]]:
    """The words of a held end in a frame beside its ring, inside a view of this size; a note below them."""
    x, y = projection.project(end.point).tolist()
    if not (math.isfinite(x) and math.isfinite(y)):
        return [], ()
    name, value = end_words(document, end)
    text, pad, tall = _CHIP_PX * scale, _PAD_PX * scale, _TALL_PX * scale
    first = text_width(name + "  ", text)
    wide = first + text_width(value, text, bold=True) + 2.0 * pad
    most = max(wide, text_width(note, 13 * scale))
    left = x + _BESIDE_PX * scale
    if left + most > size[0] - pad:
        left = x - _BESIDE_PX * scale - most
    left = max(left, pad)
    whole = (1.8 if note else 1.0) * tall
    top = min(max(y - _BESIDE_PX * scale - whole, pad), size[1] - whole - pad)
    frame = np.array([(left, top), (left + wide, top), (left + wide, top + tall), (left, top + tall)])
    shapes: list[Shape] = [Fill(frame, "panel", 0.94), Stroke(frame, 1.5 * scale, "hovered", 1.0, closed=True)]
    middle = top + 0.5 * tall
    texts = [
        Text(name, left + pad, middle, rgba("text2"), _CHIP_PX, halo=False),
        Text(value, left + pad + first, middle, rgba("text"), _CHIP_PX, halo=False, bold=True),
    ]
    if note:
        texts.append(Text(note, left, top + 1.45 * tall, rgba("text2"), 13))
    return shapes, tuple(texts)
