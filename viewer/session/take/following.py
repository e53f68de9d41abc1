"""While a recording runs over motion: that goes on beneath what a hand holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.session.history import State
from viewer.session.measuring import still_report
from viewer.session.standing import carried
from viewer.session.take.carrying import carried_pose, different, with_joints

if TYPE_CHECKING:
    from viewer.session.gestures import Gesture
    from viewer.session.take.recorder import Recorder
    from viewer.skeleton.pose import Pose


def followed(state: State, gesture: Gesture | None, recorder: Recorder, due: int) -> State:
    """A state with the motion beneath gone on to a frame, and what the hand has made of it on top.

    An IK drag goes on from there towards its targets; joints that are turned by hand stay as they are held, and an edit
    is carried along. What cancelling the gesture goes back to moves on, too.
    """
    before, after = recorder.beneath(recorder.frame), recorder.beneath(due)
    if before is None or after is None or before.same_as(after):
        return state
    if gesture is None:
        return _put_on(state, carried_pose(state.document.pose, before, after))
    start = gesture.start.document.pose
    gesture.start = _put_on(gesture.start, carried_pose(start, before, after))
    free = gesture.start.document
    if gesture.drag is not None:
        gesture.drag.follow(free)
        return State(gesture.drag.document, state.report)
    shown = state.document.pose
    return _put_on(state, with_joints(free.pose, shown, different(start, shown)))


def _put_on(state: State, pose: Pose) -> State:
    """A state in the pose of another frame, its holds set anew there."""
    document = carried(state.document, pose, pins=False)
    return State(document, still_report(document))
