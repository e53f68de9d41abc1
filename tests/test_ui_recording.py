"""What a person at the window is told of a recording, and of poses that no key holds."""

from __future__ import annotations

import numpy as np
import pytest
from inside.document import actions as act, frame_pose
from ui_person import Person

NOTHING = "Nothing was recorded: drag while recording"


def said(person: Person) -> str:
    return person.controller.view.bar.messages[-1].text


def near_the_end(frames: int) -> Person:
    """A person at a walk, so many frames before its last."""
    person = Person("sample:walk")
    person.controller.playback.go(person.document.frames - 1 - frames)
    person.key("a")  # the camera has opened on the first frame, and the figure has walked on
    person.wait(1.0)
    return person


def test_a_recording_that_ends_by_itself_says_what_one_ended_by_hand_says() -> None:
    by_hand, by_itself = Person(), near_the_end(6)
    by_hand.key("shift+r", "shift+r")
    by_itself.key("shift+r")
    by_itself.wait(1.0)
    assert not by_itself.controller.session.recorder.recording
    assert said(by_itself) == said(by_hand) == NOTHING


def test_at_the_end_of_the_clip_the_hand_lets_go_and_nothing_jumps() -> None:
    person = near_the_end(12)
    start = person.at("LeftHand")
    person.key("shift+r")
    person.press(*start)
    for step in range(1, 50):
        person.move(start[0] + 2.0 * min(step, 30), start[1] - 3.0 * min(step, 30))
        person.wait(1 / 60)
    session, last = person.controller.session, person.document.frames - 1
    assert not session.recorder.recording
    assert not person.drags()
    assert person.document.frame == last
    assert said(person) == "Recorded 0.4 s"
    shown = person.document.pose
    assert np.abs(shown.rotations - frame_pose(person.document, last).rotations).max() < 1e-12
    assert session.document.clip_data is not None
    assert np.abs(shown.rotations - session.document.clip_data.pose(last).rotations).max() > 1e-2
    person.move(start[0] + 200.0, start[1])
    person.release(start[0] + 200.0, start[1])
    person.wait(0.3)
    assert person.document.pose.same_as(shown)
    assert session.history.index == 1


def test_what_is_changed_on_a_clip_without_keys_is_said_to_be_unkeyed() -> None:
    person = Person("sample:walk")
    person.controller.playback.go(20)
    assert "Pose not keyed" not in person.controller.status().modes
    person.drag(person.at("LeftHand"), (40.0, -60.0))
    assert "Pose not keyed" in person.controller.status().modes
    person.key("s")
    assert "Pose not keyed" not in person.controller.status().modes


def test_without_clip_and_keys_nothing_is_lost_and_nothing_said() -> None:
    person = Person()
    person.drag(person.at("LeftHand"), (40.0, -60.0))
    assert "Pose not keyed" not in person.controller.status().modes


@pytest.mark.parametrize("sample", ["sample:biped", "sample:walk"])
def test_a_key_leaves_the_status_of_the_last_solve(sample: str) -> None:
    person = Person(sample)
    hand = person.document.goal("LeftHand")
    assert hand.position is not None
    person.controller.session.dispatch(act.MoveTargets({"LeftHand": (np.add(hand.position, (3.0, 0.0, 0.0)), None)}))
    before = person.controller.status()
    assert before.tone == "warn"
    person.key("s")
    after = person.controller.status()
    assert (after.icon, after.state, after.tone, after.goals) == (
        before.icon, before.state, before.tone, before.goals,
    )  # fmt: skip
