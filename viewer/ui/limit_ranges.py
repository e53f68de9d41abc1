"""Ranges of limits in the window: changed on both sides, fitted to the clip, widened where they are in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from viewer.document import Document, Report, joints_at_limit
from viewer.document import actions as act
from viewer.document.limit_ranges import Ends, ends_of, farthest, fitted, mirrored_ranges, source_limits
from viewer.errors import shown
from viewer.formats.limit_sources import BOTH, CLIP, FILE, HUMAN, LEARNED, with_limits
from viewer.ik.solution import Status
from viewer.session import Session
from viewer.session.figures import State
from viewer.session.solving import Solvers, settle
from viewer.skeleton import Character, JointKind, Pose, Skeleton, find_place, joint_space
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.drag_targets import selected_joints
from viewer.ui.status import chain_of, limit_words, stuck_joints
from viewer.ui.view import View

_SPARE = np.radians(5.0)
"""A widened range goes so much beyond what the goal needs."""
_MOST = 12
"""Joints whose limits are widened at once."""
_FROM = {
    CLIP: ", from the clip",
    FILE: ", from the file",
    BOTH: ", from human + clip",
    HUMAN: ", from human anatomy",
    LEARNED: ", learned from motion",
}


def range_action(document: Document, joint: int, ranges: Sequence[Ends], *, mirror: bool) -> act.SetLimitRanges:
    """The action that gives a joint, and while edits are mirrored that of the other side, these ranges."""
    changed = {document.skeleton.names[joint]: tuple(ranges)}
    other = mirrored_ranges(document.skeleton, joint, ranges) if mirror else None
    return act.SetLimitRanges(changed if other is None else changed | {other[0]: other[1]})


def end_action(
    document: Document, joint: int, place: int, end: float, *, upper: bool, mirror: bool, both: bool = False
) -> act.SetLimitRanges:
    """The action that puts one end of a range elsewhere, where it stops at the other.

    Args:
        document: with the joint.
        joint: its index; it has limits.
        place: of the coordinate.
        end: radians, metres of a slide; it stops where the joint can go no farther.
        upper: the upper end, not the lower.
        mirror: the other side changes with it.
        both: both ends become as far from rest as this one.
    """
    limits = document.skeleton.limits[joint]
    assert limits is not None
    ranges = [*ends_of(limits)]
    (low, high), most = ranges[place], farthest(document.skeleton.kinds[joint], limits, place)
    end = min(max(end, -most), most)
    if both:  # the ends keep their distance from rest, as far as they had the same
        ranges[place] = (-abs(end), abs(end))
    else:
        ranges[place] = (low, max(end, low)) if upper else (min(end, high), high)
    return range_action(document, joint, ranges, mirror=mirror)


def in_the_way(document: Document, report: Report | None) -> list[int]:
    """Joints whose limits keep goals from being met: first those of the worst one, nearest to it first."""
    if report is None or report.status is Status.CONVERGED or not document.limits_on:
        return []
    skeleton, found = document.skeleton, stuck_joints(document, report)
    limited = {skeleton.index(name) for name in joints_at_limit(document)}
    gave_way = report.yielding_holds
    missed = [name for name, error in report.errors.items() if not error.reached and name not in gave_way]
    goals = [goal for goal in document.goals if goal.id in missed]
    chains = (chain_of(skeleton, find_place(skeleton, goal.effector).joint) for goal in goals)
    return [*dict.fromkeys([*found, *(joint for chain in chains for joint in chain if joint in limited)])]


class LimitRanges:
    """Commands on ranges of limits."""

    def __init__(self, session: Session, view: View) -> None:
        """Change a session."""
        self._session, self._view = session, view
        self._loaded: tuple[Character, str, Skeleton] | None = None

    def words(self) -> str:
        """``LeftLeg at its limit 37°, from the clip``; "" where no limit is in the way, or something is under way."""
        session = self._session
        if session.gestures.gesture is not None or session.clock.playing or session.recorder.recording:
            return ""
        document, joints = self._blocked()
        if not joints:
            return ""
        said = limit_words(document.skeleton, document.pose, joints[0])
        return said + self._origin(document, joints[0])

    def _origin(self, document: Document, joint: int) -> str:
        """``, from the clip``: where the range of a joint comes from."""
        character, source = document.character, document.limits_from
        if self._loaded is None or self._loaded[0] is not character or self._loaded[1] != source:
            taken = with_limits(character, source).skeleton if source else character.skeleton
            self._loaded = (character, source, taken)
        limits = document.skeleton.limits[joint]
        if limits is None or not limits.same_as(self._loaded[2].limits[joint]):
            return ", set by hand"
        return _FROM.get(document.limits_source or "", "")

    def _blocked(self) -> tuple[Document, list[int]]:
        """A document short of a goal, and the joints whose limits keep it from it: the present one, else ...

        ... where a dragged joint was let go short of its target, that at the end of the drag.
        """
        session, drag = self._session, self._session.gestures.fell_short
        joints = in_the_way(session.document, session.report)
        if joints or drag is None:
            return session.document, joints
        return drag.document, in_the_way(drag.document, drag.report)

    def widen(self) -> None:
        """Widen the ranges that are in the way by what the goal needs of them."""
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
        """Joints whose limits are in the way, those too that are once the first ones are wider; and a pose without."""
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
            found = fitted(document, joint)
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
        """How its commands are run."""
        has_clip = lambda: self._session.document.clip_data is not None and bool(self._joints())  # noqa: E731
        return {
            "limits.widen": CommandBinding(self.widen, can=lambda: bool(self.words())),
            "limits.fit": CommandBinding(self.fit, can=has_clip),
            "limits.restore": CommandBinding(self.restore, can=lambda: bool(self._joints())),
        }


def _widened(ends: Ends, value: float, spare: float) -> Ends:
    """A range that holds a value, with room beyond it; as it is where it does."""
    low, high = ends
    if low <= value <= high:
        return ends
    return (max(value - spare, -np.pi), high) if value < low else (low, min(value + spare, np.pi))
