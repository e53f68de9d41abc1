"""Ranges of joints: the commands that change them, and the ends in the view, rings that are dragged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from viewer.document import Document, Report, actions as act, joint_of, world_of
from viewer.document.edit_skeleton import (
    Ends,
    coordinate_names,
    ends_of,
    farthest,
    fitted_ranges,
    held_percent,
    mirrored_ranges,
    seen_in_clip,
    source_limits,
)
from viewer.document.scope import at_limit
from viewer.errors import shown
from viewer.formats.limit_sources import BOTH, CLIP, FILE, HUMAN, LEARNED, with_limits
from viewer.gizmo import Fill, Shape, Stroke
from viewer.ik.solution import Status
from viewer.latest import Latest
from viewer.scene import Display, Hit, RangeEnd, Text, range_ends, rgba, text_width, way_of
from viewer.scene.flat import box, ring
from viewer.session import Session
from viewer.session.figures import State
from viewer.session.solving import Solvers, settle
from viewer.skeleton import JointKind, Pose, Skeleton, above, coordinates_of, effector_of, joint_space
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.ui import number_format
from viewer.ui.commands import CommandBinding, CommandBindings, needs
from viewer.ui.drag_targets import selected_joints
from viewer.ui.events import Move
from viewer.ui.status import limit_words, limiting_joints
from viewer.ui.view import EditGesture, View

_CONE_PX, _ARC_PX, _HELD_PX, _NEAR_PX, _LINE_PX = 6.0, 4.6, 7.5, 8.0, 2.0
"""Radii of rings on cones, at ends of arcs, and under the pointer; how near one is held; width of its line."""
_SNAP = math.radians(5.0)
_FINE = 0.1
_SPLIT = 16
"""Parts of the slide's rail that a snapping end stops at."""

_CHIP_PX, _TALL_PX, _PAD_PX, _BESIDE_PX = 15, 26.0, 10.0, 14.0
"""Text size of the chip, its height, the margin of its text, and its distance from the ring, logical pixels."""

_SPARE = np.radians(5.0)
"""How much wider than the goal needs a widened range is."""
_MOST = 12
"""Joints whose limits are widened at once."""
_FROM: dict[str, str] = {
    CLIP: ", from the clip",
    FILE: ", from the file",
    BOTH: ", from human + clip",
    HUMAN: ", from human anatomy",
    LEARNED: ", learned from motion",
}


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


def end_of_hit(document: Document, display: Display, hit: Hit) -> RangeEnd | None:
    """The handle that was hit; None if it no longer exists, for instance because its joint is no longer selected."""
    ends = end_handles(document, display)
    own = (end for end in ends if document.skeleton.names[end.joint] == hit.name)
    return next((end for end in own if (end.place, end.upper) == (hit.place, hit.upper)), None)


def end_shapes(
    ends: tuple[RangeEnd, ...], held: tuple[int, bool] | None, projection: Projection, scale: float
) -> list[Shape]:
    """Rings at the handles; ``held``: coordinate and side of the one that is held or under the pointer."""
    shapes: list[Shape] = []
    for end in sorted(ends, key=lambda one: (one.place, one.upper) == held):
        if projection.depth(end.point) > 0.0:
            lit = (end.place, end.upper) == held
            radius = (_HELD_PX if lit else _CONE_PX if end.on_cone else _ARC_PX) * scale
            colour = "hovered" if lit else "accent"
            shapes += ring(projection.project(end.point), radius, _LINE_PX * scale, colour, 0.75)
    return shapes


def end_words(document: Document, end: RangeEnd) -> tuple[str, str]:
    """``Swing Z`` and ``+148°``: the name of a coordinate, and where an end of its range is."""
    name = dict(coordinate_names(document.skeleton, end.joint))[end.place]
    limits = document.skeleton.limits[end.joint]
    assert limits is not None
    value = ends_of(limits)[end.place][end.upper]
    if document.skeleton.kinds[end.joint] is JointKind.SLIDE:
        return name, number_format.short(value)
    degrees = math.degrees(value)
    return name, f"{'+' if degrees >= 0.5 else ''}{number_format.fixed(degrees, 0)}°"


class RangeDrag(EditGesture):
    """An end of a range follows the pointer along its way: one undo step.

    The way is kept from the beginning of the drag, because the pose may follow the narrower range.
    """

    button = "left"
    cursor = "hidden"

    def __init__(self, session: Session, view: View, hit: Hit, end: RangeEnd, at: tuple[float, float]) -> None:
        """Take hold of a handle, which was hit, from a pixel of the viewport."""
        super().__init__(session, view)
        document, self.end = session.document, end
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

        A way can cross itself on the screen, so the search goes downhill from there and never jumps to a nearer part.
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
    frame = box(left, top, left + wide, top + tall)
    shapes: list[Shape] = [Fill(frame, "panel", 0.94), Stroke(frame, 1.5 * scale, "hovered", 1.0, closed=True)]
    middle = top + 0.5 * tall
    texts = [
        Text(name, left + pad, middle, rgba("text2"), _CHIP_PX, halo=False),
        Text(value, left + pad + first, middle, rgba("text"), _CHIP_PX, halo=False, bold=True),
    ]
    if note:
        texts.append(Text(note, left, top + 1.45 * tall, rgba("text2"), 13))
    return shapes, tuple(texts)


def range_action(document: Document, joint: int, ranges: Sequence[Ends], *, mirror: bool) -> act.SetLimitRanges:
    """The action that gives these ranges to a joint and, while edits are mirrored, to that of the other side."""
    changed = {document.skeleton.names[joint]: tuple(ranges)}
    other = mirrored_ranges(document.skeleton, joint, ranges) if mirror else None
    return act.SetLimitRanges(changed if other is None else changed | {other[0]: other[1]})


def end_action(
    document: Document, joint: int, place: int, end: float, *, upper: bool, mirror: bool, both: bool = False
) -> act.SetLimitRanges:
    """The action that moves one end of a range of a joint with limits, the upper or lower, at most to the other end.

    ``end`` is in radians, metres of a slide; it stops where the joint can go no farther. With ``mirror`` the other side
    changes, too; with ``both`` both ends become as far from rest as this one.
    """
    limits = document.skeleton.limits[joint]
    assert limits is not None
    ranges = [*ends_of(limits)]
    (low, high), most = ranges[place], farthest(document.skeleton.kinds[joint], limits, place)
    end = min(max(end, -most), most)
    if both:  # keep both ends equally far from rest, if they were
        ranges[place] = (-abs(end), abs(end))
    else:
        ranges[place] = (low, max(end, low)) if upper else (min(end, high), high)
    return range_action(document, joint, ranges, mirror=mirror)


def in_the_way(document: Document, report: Report | None) -> list[int]:
    """Joints whose limits keep goals from being met: those of the worst goal first, nearest to it first."""
    if report is None or report.status is Status.CONVERGED or not document.limits_on:
        return []
    skeleton, found = document.skeleton, limiting_joints(document, report)
    limited = at_limit(document)
    gave_way = report.yielding_holds
    missed = [name for name, error in report.errors.items() if not error.reached and name not in gave_way]
    goals = [goal for goal in document.goals if goal.id in missed]
    chains = (above(skeleton, effector_of(skeleton, goal.effector).joint) for goal in goals)
    return [*dict.fromkeys([*found, *(joint for chain in chains for joint in chain if joint in limited)])]


class LimitRanges:
    """Commands on ranges of limits."""

    def __init__(self, session: Session, view: View) -> None:
        self._session, self._view = session, view
        self._loaded = Latest[Skeleton]()

    def words(self) -> str:
        """``LeftLeg at its limit 37°, from the clip``; "" where no limit is in the way, or something is under way."""
        session = self._session
        if session.gestures.open_step is not None or session.clock.playing or session.recorder.recording:
            return ""
        document, joints = self._blocked()
        if not joints:
            return ""
        said = limit_words(document.skeleton, document.pose, joints[0])
        return said + self._origin(document, joints[0])

    def _origin(self, document: Document, joint: int) -> str:
        """``, from the clip``: where the range of a joint comes from."""
        character, source = document.character, document.limits_from
        loaded = self._loaded.of(
            lambda: with_limits(character, source).skeleton if source else character.skeleton, character, equal=source
        )
        limits = document.skeleton.limits[joint]
        if limits is None or not limits.same_as(loaded.limits[joint]):
            return ", set by hand"
        return _FROM.get(document.limits_source or "", "")

    def _blocked(self) -> tuple[Document, list[int]]:
        """A document that misses a goal, and the joints whose limits are the reason: the present document, else ...

        ... if a dragged joint was released short of its target, the document at the end of the drag.
        """
        session, drag = self._session, self._session.gestures.fell_short
        joints = in_the_way(session.document, session.report)
        if joints or drag is None:
            return session.document, joints
        return drag.document, in_the_way(drag.document, drag.report)

    def widen(self) -> None:
        """Widen the ranges that are in the way by as much as the goal needs."""
        session, document = self._session, self._session.document
        joints, pose = self._freed(document, session.report)
        values = joint_space(document.skeleton).measure(pose.rotations, pose.translations)
        ranges: dict[str, Sequence[Ends]] = {}
        for joint in joints:
            limits = document.skeleton.limits[joint]
            assert limits is not None
            spare = 0.0 if document.skeleton.kinds[joint] is JointKind.SLIDE else float(_SPARE)
            pairs = zip(ends_of(limits), values[joint].tolist(), strict=False)
            wanted = tuple(_widened(ends, value, spare) for ends, value in pairs)
            if wanted != ends_of(limits):
                ranges |= range_action(document, joint, wanted, mirror=self._view.mirror).ranges
        if not ranges:
            self._view.note("Wider limits would not help: the goal is out of reach")
            return
        dragged = session.gestures.fell_short is not None and not in_the_way(document, session.report)
        session.dispatch(act.SetLimitRanges(ranges, title="Widen limits"))
        if dragged:
            self._view.note(f"Wider: {', '.join(map(shown, ranges))}. Drag again")

    def _freed(self, document: Document, report: Report | None) -> tuple[list[int], Pose]:
        """Joints whose limits are in the way, also once the first ones are widened; and a pose without these limits."""
        found, drag = in_the_way(document, report), None
        state = State(document, report)
        if not found and (drag := self._session.gestures.fell_short) is not None:
            state = State(drag.document, drag.report)
            found = in_the_way(state.document, state.report)
        joints = [*found]
        while found and len(joints) <= _MOST:
            free = frozenset(document.skeleton.names[joint] for joint in joints)
            if drag is None:
                state = settle(replace(document, unlimited=document.unlimited | free), Solvers(), restarts=True)
            else:
                again = drag.without_limits_of(free)
                state = State(again.document, again.report)
            found = [joint for joint in in_the_way(state.document, state.report) if joint not in joints]
            joints += found
        return joints, state.document.pose

    def fit(self) -> None:
        """Give the selected joints the ranges of the clip."""
        document, ranges = self._session.document, dict[str, Sequence[Ends]]()
        for joint in self._joints():
            found = fitted_ranges(document, joint)
            if found is not None:
                ranges |= range_action(document, joint, found, mirror=self._view.mirror).ranges
        self._session.dispatch(act.SetLimitRanges(ranges, title="Fit limits to the clip"))

    def restore(self) -> None:
        """Give the selected joints back the ranges that they were loaded with."""
        document, ranges = self._session.document, dict[str, Sequence[Ends]]()
        for joint in self._joints():
            limits = source_limits(document, joint)
            if limits is not None:
                ranges[document.skeleton.names[joint]] = ends_of(limits)
        self._session.dispatch(act.SetLimitRanges(ranges, title="Restore limits"))

    def _joints(self) -> list[int]:
        skeleton = self._session.document.skeleton
        chosen = [skeleton.index(name) for name in selected_joints(self._session.document)]
        return [joint for joint in chosen if skeleton.limits[joint] is not None]

    def bindings(self) -> CommandBindings:
        limited = needs("select a joint with limits", self._joints)
        has_clip = needs("there is no clip", lambda: self._session.document.clip_data is not None)
        return {
            "limits.widen": CommandBinding(self.widen, needs("no limit is in the way", self.words)),
            "limits.fit": CommandBinding(self.fit, lambda: has_clip() or limited()),
            "limits.restore": CommandBinding(self.restore, limited),
        }


def _widened(ends: Ends, value: float, spare: float) -> Ends:
    """The range widened to hold a value with room beyond it; unchanged if it holds the value already."""
    low, high = ends
    if low <= value <= high:
        return ends
    return (max(value - spare, -np.pi), high) if value < low else (low, min(value + spare, np.pi))
