"""What a session is made of, each part alone: stage, history, clock, gestures, recorder, action log."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from inside.document import SetLimits, SetSolver
from inside.session import (
    ActionLog,
    CallRecorder,
    GestureManager,
    MovingTargets,
    Placement,
    PlaybackClock,
    Solvers,
    Stage,
    State,
    Step,
    TakeRecorder,
    UndoHistory,
)
from sessions import HAND, character, shifted

from viewer.document import new_document
from viewer.errors import InputError
from viewer.session import Loop

if TYPE_CHECKING:
    from viewer.document import Document

SECOND = 1.0 / 30.0


def shown(name: str = "biped") -> State:
    return State(SetSolver(backend="numpy").apply(new_document(character(name))))


def off(state: State) -> State:
    return State(replace(state.document, limits_on=not state.document.limits_on))


def test_the_stage_shows_one_document_and_keeps_a_pose_that_was_not_keyed() -> None:
    stage = Stage(shown("walk"))
    assert stage.documents == (stage.document,)
    assert [one.placement for one in stage] == [Placement((0.0, 0.0, 0.0), 0.0)]
    stage.show(stage.at_frame(3))
    stage.show(stage.at_frame(4))
    assert (stage.document.frame, stage.lost_pose) == (4, None)
    edited = stage.document.skeleton.rest_pose()
    stage.show(State(replace(stage.document, pose=edited)))
    stage.show(stage.at_frame(5))
    assert stage.lost_pose is not None
    assert (stage.lost_pose.frame, stage.lost_pose.pose) == (4, edited)
    with pytest.raises(InputError, match="no frame"):
        stage.at_frame(100_000)


def test_the_stage_plays_until_the_end() -> None:
    stage = Stage(shown("walk"))
    stage.clock.loop = Loop.OFF
    assert stage.tick(0.0) is None
    last = stage.document.frames - 1
    stage.show(stage.at_frame(last - 1))
    assert stage.first_frame(1) == last - 1
    stage.play(1)
    for tick in range(4):
        state = stage.tick(tick * stage.document.frame_time)
        if state is not None:
            stage.show(state)
    assert (stage.document.frame, stage.clock.direction) == (last, 0)
    assert stage.first_frame(1) == 0


def test_the_clock_turns_round_or_begins_again() -> None:
    clock = PlaybackClock()
    for loop, frames in ((Loop.LOOP, [2, 0, 1, 2]), (Loop.PING_PONG, [2, 1, 0, 1])):
        clock.loop = loop
        clock.start(2, 1)
        assert [clock.due(tick * SECOND, 3, SECOND) for tick in range(4)] == [(frame, True) for frame in frames]
    clock.speed = 2.0
    clock.start(0, 1)
    assert [clock.due(tick * SECOND, 9, SECOND)[0] for tick in range(3)] == [0, 2, 4]
    assert clock.stop()
    assert not clock.stop()
    with pytest.raises(InputError, match="speed"):
        clock.speed = 0.0


def test_the_history_knows_what_a_file_holds() -> None:
    history, states = UndoHistory(), [shown()]
    for label, saved in (("one", True), ("look", False)):
        states.append(off(states[-1]))
        history.add(Step(label, states[-2], states[-1], saved=saved))
    modified = [history.modified]
    history.mark_saved()
    modified.append(history.modified)
    assert history.undo() is history.steps[1]
    modified.append(history.modified)  # looking is in no file
    (undone,) = history.go_to(0)
    assert undone.before is states[0]
    modified.append(history.modified)
    history.clear()
    assert (len(history), [*modified, history.modified]) == (0, [True, False, False, True, False])


def test_a_gesture_is_one_step_or_none() -> None:
    start = shown()
    stage = Stage(start)
    gestures = GestureManager(Solvers(), stage)
    with pytest.raises(InputError, match="no gesture was begun"):
        gestures.update(SetLimits(on=False))
    gestures.begin("Slide")
    gestures.update(SetLimits(on=False))
    after = stage.state
    assert after is not start
    step = gestures.commit()
    assert step is not None
    assert (step.label, step.before, step.after, step.saved) == ("Slide", start, after, True)
    assert gestures.commit() is None
    stage.show(start)
    gestures.begin_drag((HAND,), None)
    gestures.drag_to({HAND: (shifted(start.document, "LeftHand", (0.0, 0.1, 0.1)), None)})
    assert gestures.step(0.0) is not None
    assert gestures.cancel()
    assert stage.state is start
    with pytest.raises(InputError, match="no drag was begun"):
        gestures.drag_to({})


def _turned(document: Document) -> Document:
    turns = document.pose.rotations.copy()
    turns[3] = (0.0, 0.0, np.sin(0.2), np.cos(0.2))
    return replace(document, pose=replace(document.pose, rotations=turns))


def test_the_recorder_makes_one_step_of_what_was_moved() -> None:
    recorder, state = TakeRecorder(CallRecorder()), shown()
    recorder.begin(state, state.document)
    start, state = state, recorder.at_its_frame(state)
    assert state.document.take is not None
    for tick in range(12):
        state = recorder.before_tick(tick * SECOND, 1.0, state, None)
        if tick == 4:
            state = State(_turned(state.document))
        state = recorder.after_tick(state, in_gesture=False) or state
        state = recorder.at_its_frame(state)
        recorder.saw(state.document)
    assert recorder.recording is not None
    assert recorder.recording.has_samples
    after, step = recorder.end(state.document)
    assert step is not None
    assert (step.before, step.after) == (start, after)
    assert recorder.last_seconds == pytest.approx(11.0 * SECOND)
    assert recorder.recording is None


def test_the_action_log_writes_calls_from_outside_alone() -> None:
    stage, history = Stage(shown()), UndoHistory()
    calls = stage.calls
    log = ActionLog(stage, history, MovingTargets(Solvers(), stage), TakeRecorder(calls))
    with log.record("dispatch", SetLimits(on=False)), log.record("stop"):
        stage.show(off(stage.state))
    with log.record("tick", 1.0) as call:
        call.idle = True
    with pytest.raises(InputError), log.record("seek", 12):
        raise InputError("no frame 12")
    written = msgspec.json.decode(log.written())
    assert [entry[0] for entry in written["calls"]] == ["backend", "dispatch", "check", "seek", "refused"]
