"""How long messages stay: notes by the clock, errors until they are no longer true, any until Esc."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inside.ui import NOTE_SECONDS, OFFER_SECONDS, MessageBar
from ui_person import Person

from viewer.ui import Message

if TYPE_CHECKING:
    from pathlib import Path


def texts(person: Person) -> list[str]:
    return [message.text for message in person.controller.view.bar.messages]


def at_the_end() -> Person:
    """Somebody at the end of the walk, where nothing can be recorded."""
    person = Person("sample:walk")
    person.controller.playback.go(67)
    person.controller.run("key.record")
    assert texts(person) == ["There is nothing to record on after frame 67: go back first"]
    return person


def test_a_note_with_a_button_stays_longer_and_goes_too() -> None:
    bar = MessageBar()
    bar.post(Message("Wrote a.mp4", actions=(("Show in folder", lambda: None),)))
    bar.post(Message("Something else"))
    bar.post(Message("Wrong", "error"))
    bar.tick(0.0)
    assert bar.left == NOTE_SECONDS
    assert bar.tick(NOTE_SECONDS)
    assert [message.text for message in bar.messages] == ["Wrote a.mp4", "Wrong"]
    assert bar.left == OFFER_SECONDS - NOTE_SECONDS
    assert not bar.tick(OFFER_SECONDS - 0.1)
    assert bar.tick(OFFER_SECONDS)
    assert [message.text for message in bar.messages] == ["Wrong"]
    assert bar.left is None


def test_an_error_goes_when_what_failed_is_done() -> None:
    person = at_the_end()
    person.wait(OFFER_SECONDS + 1.0)
    assert len(texts(person)) == 1  # until then it stays
    person.controller.run("play.previous")
    assert len(texts(person)) == 1  # whatever else is done
    person.controller.playback.go(10)
    person.controller.run("key.record")
    assert person.controller.session.recorder.recording
    assert texts(person) == []


def test_an_error_about_the_same_takes_the_place_of_the_older_one(tmp_path: Path) -> None:
    person = Person()
    assert not person.controller.opening.show_file(tmp_path / "a.bvh")
    assert not person.controller.files.export_to(tmp_path / "gone" / "a.bvh")
    assert not person.controller.opening.show_file(tmp_path / "b.bvh")
    wrong = [str(tmp_path / "gone" / "a.bvh"), str(tmp_path / "b.bvh")]
    assert [text.partition(":")[0] for text in texts(person)] == wrong
    assert person.controller.files.export_to(tmp_path / "a.bvh")
    assert [text.partition(":")[0] for text in texts(person)] == [wrong[1], "Exported the pose to a.bvh"]


def test_errors_about_nothing_in_particular_stay_beside_each_other() -> None:
    bar = MessageBar()
    for text in ("One", "Two", "One"):
        bar.post(Message(text, "error"))
    bar.done("")
    assert [message.text for message in bar.messages] == ["Two", "One"]


@pytest.mark.parametrize("level", ["error", "note"])
def test_escape_closes_the_newest_message_once_nothing_is_selected(level: str) -> None:
    person = Person()
    person.select("LeftHand")
    for text in ("First", "Second"):
        person.controller.view.post(Message(text, level))  # type: ignore[arg-type]
    person.key("escape")
    assert (person.selected, texts(person)) == ([], ["First", "Second"])
    person.key("escape")
    assert texts(person) == ["First"]
    person.key("escape")
    person.key("escape")
    assert texts(person) == []


def test_escape_in_a_drag_takes_the_drag_back_and_no_message() -> None:
    person = Person()
    person.controller.view.post(Message("Wrong", "error"))
    person.pull(person.at("LeftHand"), (40.0, -30.0))
    assert person.drags()
    person.key("escape")
    assert not person.drags()
    assert "Wrong" in texts(person)
