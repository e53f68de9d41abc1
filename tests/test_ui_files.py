"""Opening, dropping, saving, exporting: by requests, messages and files; what is bad leaves the document alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from conftest import ROOT
from inside.ui import NOTE_SECONDS, FileQuestion, files, opening
from ui_person import Person, answer

import viewer
from viewer.scene import figure_points
from viewer.ui import Drop, Message

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.ui import Controller

WALK = ROOT / "skeletons" / "walk.bvh"


@pytest.fixture
def person() -> Person:
    return Person()


def texts(controller: Controller) -> list[str]:
    return [message.text for message in controller.view.bar.messages]


def test_a_bad_file_is_a_message_and_the_document_stays(person: Person, tmp_path: Path) -> None:
    start, camera = person.document, person.controller.camera
    bad = tmp_path / "walk.bvh"
    lines = WALK.read_text(encoding="utf-8").splitlines()
    frame = next(i for i, line in enumerate(lines) if line.startswith("Frame Time")) + 3
    lines[frame - 1] = "abc " + lines[frame - 1].split(" ", 1)[1]
    bad.write_text("\n".join(lines), encoding="utf-8")
    person.controller.handle(Drop((bad,)))
    (message,) = person.controller.view.bar.messages
    assert message.text == f'walk.bvh:{frame}:1: in a frame: expected a finite number, found "abc"'
    assert message.level == "error"
    assert [words for words, _ in message.actions] == ["Copy", "Show in folder"]
    assert person.document is start
    assert person.controller.camera is camera
    person.controller.view.bar.choose(message, 0)
    assert person.controller.view.requests.pop() == ("copy-text", message.text, 0.0, 0.0)
    assert person.controller.view.bar.messages == ()


def test_a_fault_of_the_program_is_a_message_and_the_document_stays(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = person.document
    monkeypatch.setenv("IKVIEWER_HOME", str(tmp_path))

    def reader(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("viewer.formats.bvh.read_bvh", reader)
    person.controller.handle(Drop((WALK,)))
    (message,) = person.controller.view.bar.messages
    said = 'this file brings out a fault of the program, "ZeroDivisionError"; its traceback is in'
    assert message.text == f"{WALK}: {said} {tmp_path / 'log' / 'errors.log'}"
    assert message.level == "error"
    assert person.document is start


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.json", "{", "a.json:1:2: expected"),
        ("a.ikv.json", "{}", "expected a session file"),
        ("a.txt", "hello", "expected a name that ends in .bvh, .json, .npz"),
        ("a.json", '{"joints": []}', "a.json: joints"),
    ],
)
def test_whatever_is_wrong_is_said(person: Person, tmp_path: Path, name: str, content: str, says: str) -> None:
    start = person.document
    (tmp_path / name).write_text(content, encoding="utf-8")
    person.controller.files.open(tmp_path / name)
    assert says in texts(person.controller)[0]
    assert person.document is start


def test_a_file_that_is_not_there(person: Person, tmp_path: Path) -> None:
    person.controller.files.open(tmp_path / "gone.bvh")
    (message,) = person.controller.view.bar.messages
    assert "gone.bvh" in message.text
    assert [words for words, _ in message.actions] == ["Copy"]


def test_a_dropped_file_is_shown_whole_and_remembered(person: Person) -> None:
    person.controller.handle(Drop((WALK,)))
    assert person.document.character.source.path == str(WALK)
    assert person.controller.files.title == "walk.bvh"
    assert person.controller.view.preferences.recent == [str(WALK.resolve())]
    projection = person.controller.projection()
    assert projection.inside(
        projection.project(figure_points(person.controller.scene().skeleton, person.controller.scene().world))
    ).all()
    assert person.controller.session.history.index == 0


def test_guessed_units_are_said_and_can_be_changed(person: Person) -> None:
    person.controller.handle(Drop((WALK,)))
    message = next(message for message in person.controller.view.bar.messages if message.text.startswith("Read as"))
    assert message.text == "Read as centimetres, height 1.71 m (from its leg length)"
    person.controller.view.bar.choose(message, 0)
    assert person.controller.view.requests.pop().name == "units-dialog"


STILL = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n"
BENT = """<robot name="bent"><link name="a"/><link name="b"/><joint name="turn" type="revolute">
<parent link="a"/><child link="b"/><limit lower="1" upper="2"/></joint></robot>"""


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("still.bvh", STILL, "No MOTION: a skeleton without frames"),
        ("bent.urdf", BENT, "The zero pose is outside the limits of 1 joint: "),
        ("odd.urdf", '<robot name="odd"><link name="a"/><odd/></robot>', "<odd> is not read (1 time)"),
    ],
)
def test_what_a_reader_warns_of_begins_with_a_capital(
    person: Person, tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    person.controller.handle(Drop((tmp_path / name,)))
    assert any(words.startswith(said) for words in texts(person.controller))


def test_units_in_words() -> None:
    character = viewer.load(WALK, units="0.0564444")
    assert opening.units_of(character).startswith("5.64 cm units, height ")
    assert opening.units_of(viewer.load("sample:biped")).startswith("metres, height ")


def replaced_by_a_drop(person: Person) -> None:
    """Drop a file, and choose that it replaces what is shown."""
    person.controller.handle(Drop((WALK,)))
    answers = dict(person.controller.view.bar.messages[-1].actions)
    answers["Replace"]()


def test_unsaved_changes_are_asked_about(person: Person) -> None:
    person.key("l")
    start = person.document
    assert person.controller.files.title == "biped • modified"
    replaced_by_a_drop(person)
    assert person.controller.view.requests[-1].value.words == "Save changes to biped in a session file?"  # type: ignore[attr-defined]
    assert person.document is start
    answer(person.controller, "Cancel")
    assert person.document is start
    person.key("ctrl+q")
    assert [request.name for request in person.controller.view.requests] == ["question"]
    answer(person.controller, "Discard")
    assert [request.name for request in person.controller.view.requests] == ["quit"]


def test_an_answer_goes_to_what_was_asked_last(person: Person) -> None:
    person.key("l", "ctrl+q")
    replaced_by_a_drop(person)
    answer(person.controller, "Discard")
    assert person.document.character.source.path == str(WALK)
    assert all(request.name == "question" for request in person.controller.view.requests)


def test_nothing_is_asked_where_nothing_would_be_lost(person: Person) -> None:
    person.select("LeftHand")
    person.key("ctrl+q")
    assert person.controller.view.requests.pop().name == "quit"


def test_saving_asks_for_a_name_first_and_then_does_what_waited(person: Person, tmp_path: Path) -> None:
    person.key("l", "ctrl+q")
    answer(person.controller, "Save as…")
    request = person.controller.view.requests.pop()
    assert isinstance(request.value, FileQuestion)
    assert (request.value.title, request.value.name) == ("Save as", "biped.ikv.json")
    request.value.done(tmp_path / "mine")
    assert (tmp_path / "mine.ikv.json").is_file()
    assert person.controller.view.requests.pop().name == "quit"
    assert person.controller.files.title == "mine.ikv.json"
    assert texts(person.controller) == ["Saved mine.ikv.json"]
    person.key("l", "ctrl+s")
    assert not person.controller.session.modified
    assert not person.controller.view.requests
    person.key("l", "ctrl+q")
    asked = person.controller.view.requests.pop().value
    assert (asked.words, *asked.answers) == ("Save changes to mine.ikv.json?", "Save", "Discard", "Cancel")  # type: ignore[attr-defined]


def test_what_waited_for_a_name_that_was_not_given_is_forgotten(person: Person, tmp_path: Path) -> None:
    person.key("l", "ctrl+q")
    answer(person.controller, "Save as…")
    assert person.controller.view.requests.pop().name == "file-dialog"  # which is cancelled
    person.key("ctrl+s")
    assert person.controller.view.requests.pop().name == "file-dialog"
    person.controller.files.save_to(tmp_path / "mine")
    assert not person.controller.view.requests, "the window stays open"


def test_what_was_saved_opens_again_as_it_was(person: Person, tmp_path: Path) -> None:
    person.drag(person.at("LeftHand"), (30.0, -60.0))
    person.key("l")
    saved = person.document
    person.controller.files.save_to(tmp_path / "pose.ikv.json")
    person.key("alt+shift+r", "f5")
    answer(person.controller, "Discard")
    assert person.document is not saved
    assert person.document.same_as(saved)
    assert person.controller.session.path == tmp_path / "pose.ikv.json"
    assert not person.controller.session.modified


def test_a_folder_that_cannot_be_written_is_a_message(person: Person, tmp_path: Path) -> None:
    person.key("l")
    person.controller.files.save_to(tmp_path / "no such folder" / "a.ikv.json")
    (message,) = person.controller.view.bar.messages
    assert message.level == "error"
    assert person.controller.session.modified
    assert person.controller.session.path is None


def test_exporting_the_pose_and_the_clip(tmp_path: Path) -> None:
    person = Person("sample:walk")
    frames = len(person.document.clip_data or ())
    assert person.controller.files.export_to(tmp_path / "clip.bvh")
    clip = viewer.load(tmp_path / "clip.bvh", units="cm", up="y").clip
    assert clip is not None
    assert len(clip) == frames
    person.drag(person.at("LeftHand"), (30.0, -60.0))
    assert person.controller.files.export_to(tmp_path / "pose.json")
    posed = viewer.load(tmp_path / "pose.json").clip
    assert posed is not None
    assert len(posed) == 1
    written = viewer.fk(person.document.skeleton, posed.pose(0)).positions
    np.testing.assert_allclose(written, person.controller.scene().world.positions, atol=1e-6)
    assert texts(person.controller) == [f"Exported {frames} frames to clip.bvh", "Exported the pose to pose.json"]
    assert not person.controller.files.export_to(tmp_path / "a.xyz")
    assert person.controller.view.bar.messages[-1].level == "error"
    person.controller.files.export_to(tmp_path / "a.png")
    assert person.controller.view.requests.pop() == ("picture", tmp_path / "a.png", 0.0, 0.0)


def test_a_goals_file_sets_handles_in_one_step(person: Person, tmp_path: Path) -> None:
    goals = [
        {"effector": "LeftHand", "position": [0.4, 1.2, 0.3], "weight": 2.0},
        {"effector": "RightForeArm", "position": [-0.4, 1.2, 0.2]},
        {"effector": "RightHand", "pin": True},
    ]
    path = tmp_path / "reach.json"
    path.write_text(json.dumps({"version": 1, "type": "goals", "goals": goals}), encoding="utf-8")
    person.key("l")
    person.controller.handle(Drop((path,)))
    assert texts(person.controller) == ["Goals taken from reach.json"]
    np.testing.assert_allclose(person.place("LeftHand"), (0.4, 1.2, 0.3), atol=2e-3)
    assert person.document.goal("LeftHand").weight == 2.0
    np.testing.assert_allclose(person.target("RightForeArm"), (-0.4, 1.2, 0.2))
    assert person.document.goal("RightHand").pin_position
    assert person.controller.session.history.labels == ("Joint limits off", "Goals of reach.json")


def test_the_numbers_and_the_level_of_a_goal_are_taken_from_its_file(person: Person, tmp_path: Path) -> None:
    goals = [
        {"bend": "LeftForeArm", "angle": 70},
        {"effector": "Head", "distance": 0.2, "from": [0, 1.5, 0.2], "level": 2},
    ]
    path = tmp_path / "numbers.json"
    path.write_text(json.dumps({"version": 2, "type": "goals", "goals": goals}), encoding="utf-8")
    person.controller.handle(Drop((path,)))
    assert person.document.goal("LeftForeArm").numbers["angle"] == pytest.approx(np.radians(70.0))
    assert person.document.goal("Head").numbers["distance"] == 0.2
    assert person.document.goal("Head").level == 2


def test_a_pose_file_is_taken_as_one_step(person: Person, tmp_path: Path) -> None:
    half = [0.0, 0.0, 0.25881904510252074, 0.9659258262890683]
    path = tmp_path / "lean.json"
    pose = {"version": 1, "type": "pose", "skeleton": "biped", "rotations": {"Spine": half}}
    path.write_text(json.dumps(pose), encoding="utf-8")
    person.controller.handle(Drop((path,)))
    joint = person.document.skeleton.index("Spine")
    assert person.controller.session.history.labels == ("Pose of lean.json",)
    assert person.document.pose.rotations[joint][2] > 0.1


def test_a_bad_goals_file_changes_nothing(person: Person, tmp_path: Path) -> None:
    start = person.document
    path = tmp_path / "bad.json"
    path.write_text('{"type": "goals", "goals": [{"effector": "Hnad", "position": [0, 0, 0]}]}', encoding="utf-8")
    person.controller.handle(Drop((path,)))
    assert "Hnad" in texts(person.controller)[0]
    assert person.document is start


def test_notes_go_after_six_seconds_and_errors_stay(person: Person) -> None:
    person.controller.view.note("Saved")
    person.controller.view.post(Message("broken", "error"))
    person.wait(NOTE_SECONDS - 0.5)
    assert texts(person.controller) == ["Saved", "broken"]
    waiting = [person.controller.view.bar.waiting]
    person.wait(1.0)
    assert texts(person.controller) == ["broken"]
    assert [*waiting, person.controller.view.bar.waiting] == [True, False]
    person.controller.view.bar.close(person.controller.view.bar.messages[0])
    assert person.controller.view.bar.messages == ()


def test_the_same_words_are_shown_once(person: Person) -> None:
    person.controller.view.note("Saved")
    person.controller.view.note("Saved")
    assert texts(person.controller) == ["Saved"]


def test_names_that_are_proposed() -> None:
    assert files.proposed_session("walk_02.bvh") == "walk_02.ikv.json"
    assert files.proposed_session("a.ikv.json") == "a.ikv.json"
    assert files.proposed_session("sample:biped") == "biped.ikv.json"


def test_an_empty_drop_does_nothing(person: Person) -> None:
    start = person.document
    person.controller.handle(Drop(()))
    assert person.document is start
