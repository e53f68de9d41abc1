"""A pose that was edited and not keyed goes with its frame: that is said, and it can be keyed after all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from inside.document import KeyPose, frame_pose
from inside.session import decoded, encoded
from inside.ui import key_frames
from ui_person import Person, answer

from viewer.session import Session

HAND = "RightHand"


@pytest.fixture
def person() -> Person:
    """At frame 30 of a clip, nothing edited."""
    person = Person("sample:walk")
    person.controller.playback.go(30)
    person.key("a")  # all of the way is in view
    person.wait(1.0)
    return person


def offers(person: Person) -> list[str]:
    person.wait(0.05)
    return [m.text for m in person.controller.view.bar.messages if m.text.endswith("not keyed")]


def pose(person: Person) -> None:
    person.drag(person.at(HAND), (-40.0, -50.0))


def accept(person: Person) -> None:
    (message,) = [m for m in person.controller.view.bar.messages if m.text.endswith("not keyed")]
    assert [words for words, _ in message.actions] == ["Key it"]
    person.controller.view.bar.choose(message, 0)


@pytest.mark.parametrize("leave", ["right", "shift+right", "space", "shift+space", "ctrl+home"])
def test_a_pose_that_goes_with_its_frame_is_said_and_can_be_keyed(person: Person, leave: str) -> None:
    pose(person)
    edited = person.document.pose
    person.key(leave)
    person.controller.session.stop()
    assert offers(person) == ["Pose of frame 30 was not keyed"]
    depth, shown = person.controller.session.history.index, person.document.frame
    accept(person)
    assert person.controller.session.history.index == depth + 1
    assert person.document.frame == shown
    assert key_frames(person.document) == (30,)
    person.controller.playback.go(30)
    np.testing.assert_allclose(person.document.pose.rotations, edited.rotations, atol=1e-9)
    np.testing.assert_allclose(person.document.pose.translations, edited.translations, atol=1e-9)
    person.key("ctrl+z")
    assert key_frames(person.document) == ()


def test_the_frame_shown_takes_part_in_what_is_keyed_elsewhere(person: Person) -> None:
    person.controller.playback.go(20)
    person.key("s")
    person.controller.playback.go(40)
    person.key("s")
    person.controller.playback.go(30)
    pose(person)
    person.controller.playback.go(35)
    before = person.place(HAND)
    assert offers(person) == ["Pose of frame 30 was not keyed"]
    accept(person)
    assert np.linalg.norm(person.place(HAND) - before) > 0.005
    assert person.document.pose.same_as(frame_pose(person.document, 35))


def test_an_edit_of_the_frame_shown_stays_when_another_frame_is_keyed(person: Person) -> None:
    pose(person)
    person.controller.playback.go(35)
    pose(person)
    edited = person.document.pose
    accept(person)
    assert person.document.pose is edited
    assert key_frames(person.document) == (30,)


def test_only_the_last_pose_is_offered(person: Person) -> None:
    for frame in (30, 40, 50):
        person.controller.playback.go(frame)
        pose(person)
    person.controller.playback.go(60)
    assert offers(person) == ["Pose of frame 50 was not keyed"]


@pytest.mark.parametrize("work", ["look", "key", "auto", "undo", "record", "still"])
def test_nothing_is_said_where_nothing_is_lost(person: Person, work: str) -> None:
    if work == "auto":
        person.key("shift+i")
    if work == "record":
        person.key("shift+r")
        person.wait(0.1)
    if work != "look":
        pose(person)
    if work == "key":
        person.key("s")
    elif work == "undo":
        person.key("ctrl+z")
    elif work == "record":
        person.key("shift+r")
    if work != "still":
        person.controller.playback.go(5)
        person.key("right", "left", "space")
        person.wait(0.3)
        person.key("space")
        person.controller.playback.go(7)
    assert offers(person) == []


def test_a_pose_without_a_timeline_is_never_lost() -> None:
    person = Person()
    pose(person)
    before = person.document.pose
    person.controller.playback.go(10)
    assert person.document.pose is before
    assert offers(person) == []


def test_another_document_takes_the_offer_away(person: Person) -> None:
    pose(person)
    person.controller.playback.go(35)
    assert offers(person)
    person.controller.files.open("sample:walk")
    answer(person.controller, "Discard")
    assert offers(person) == []
    assert person.controller.session.stage.lost_pose is None


def test_the_step_is_recorded_and_replays(person: Person) -> None:
    pose(person)
    action = KeyPose(30, pose=person.document.pose)
    again = decoded(encoded(action), Path(), "action")
    assert isinstance(again, KeyPose)
    session = Session(person.document)
    session.seek(5)
    session.dispatch(again)
    assert session.document.take is not None
    assert session.document.take.frames == (30,)
