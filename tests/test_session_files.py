"""Session files: saved and opened again a document is the same; what is damaged is refused in one line."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.session import ONE_FIGURE, Autosave, Kept, is_session, load_session, recoveries, save_session, session_bytes

import viewer
from viewer.document import Item, Mode, Scope, SolverSettings, new_document
from viewer.errors import FormatError, InputError, OutputError, ViewerError

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.document import Document


KEPT = Kept(at=60.0, since=30.0)


@pytest.fixture
def document() -> Document:
    return new_document(viewer.load("sample:biped"))


def edited(document: Document) -> Document:
    """Every field another than at the start."""
    hand = document.goals[0]
    moved = hand.moved((0.123456789012345, 1.0 / 3.0, 1e-17), None)
    skeleton = replace(document.skeleton, stiffness=document.skeleton.stiffness + 0.125)
    return replace(
        document,
        skeleton=skeleton,
        pose=skeleton.rest_pose(),
        goals=(moved, *document.goals[1:]),
        limits_on=False,
        unlimited=frozenset(document.skeleton.names[:2]),
        solver=SolverSettings(
            method="sdls",
            tolerance_m=0.01,
            damping=0.1,
            until_close=True,
            step_cap_deg=3.0,
            prefer="rest",
            truncation=0.25,
            numeric=True,
            bend="up",
        ),
        selection=(Item("joint", document.skeleton.names[1]), Item("effector", hand.effector)),
        mode=Mode.FK,
        scope=Scope.LIMB,
    )


@pytest.mark.parametrize("sample", ["biped", "biped-hands", "claw-arm", "walk", "chain-400"])
def test_a_new_document_comes_back_the_same(sample: str, tmp_path: Path) -> None:
    document = new_document(viewer.load(f"sample:{sample}"))
    save_session(document, tmp_path / "a.ikv.json")
    assert load_session(tmp_path / "a.ikv.json").same_as(document)


def test_an_edited_document_comes_back_the_same(document: Document, tmp_path: Path) -> None:
    changed = edited(document)
    assert not changed.same_as(document)
    save_session(changed, tmp_path / "a.ikv.json")
    again = load_session(tmp_path / "a.ikv.json")
    assert again.same_as(changed)
    assert again.solver == changed.solver


def test_saving_what_was_opened_gives_the_same_bytes(document: Document, tmp_path: Path) -> None:
    first, second = tmp_path / "a.ikv.json", tmp_path / "b.ikv.json"
    save_session(edited(document), first)
    save_session(load_session(first), second)
    assert first.read_bytes() == second.read_bytes()


def test_names_of_sessions() -> None:
    assert is_session("x/Walk.IKV.JSON")
    assert not is_session("walk.json")


def test_a_folder_that_is_not_there(document: Document, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written: its folder does not exist"):
        save_session(document, tmp_path / "none" / "a.ikv.json")


def test_the_version_is_written_and_files_from_before_that_are_read(document: Document, tmp_path: Path) -> None:
    tree = json.loads(session_bytes(document))
    assert tree.pop("version") == ONE_FIGURE
    file = tmp_path / "early.ikv.json"
    file.write_text(json.dumps(tree))
    assert load_session(file).same_as(document)


def test_mobility_and_layout_of_version_1_are_read(tmp_path: Path) -> None:
    character = viewer.load("sample:walk")
    mobility = np.full((len(character.skeleton), 3), 0.5)
    made = new_document(replace(character, skeleton=replace(character.skeleton, mobility=mobility)))
    tree = json.loads(session_bytes(made)) | {"version": 1}
    old = tree["document"]["character"]
    old["skeleton"]["spreads"] = old["skeleton"].pop("mobility")
    layout = old["source"].pop("layout")
    old["source"] |= {"layout_names": layout["names"], "layout_channels": layout["channels"]}
    file = tmp_path / "early.ikv.json"
    file.write_text(json.dumps(tree))
    assert load_session(file).same_as(made)


def _set(path: list[object], value: object) -> object:
    def change(tree: dict[str, object]) -> None:
        place: object = tree
        for step in path[:-1]:
            place = place[step]  # type: ignore[index]
        place[path[-1]] = value  # type: ignore[index]

    return change


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["version"], 4, "version: expected 3, found 4: the file is from a later program"),
        (["version"], -1, "version: expected 3, found -1"),
        (["version"], "1", 'version: expected 3, found the text "1"'),
        (["document", "frame"], "x", "document.frame: expected int, found str"),
        (["document", "mode"], "xx", "document.mode: expected one of ik, fk, found 'xx'"),
        (["document", "solver", "method"], "magic", 'document.solver: no method "magic"'),
        (["document", "solver", "tolerance_m"], -1, "document.solver: tolerance_m: expected a finite number above 0"),
        (["document", "goals"], [], "document.goals: expected one goal for each effector of the skeleton"),
        (["document", "goals", 0, "weight"], 0, "document.goals[0]: "),
        (["document", "selection"], [["joint", "Nobody"]], 'document.selection[0]: no joint "Nobody"'),
        (["document", "selection"], [["wheel", "x"]], 'document.selection[0]: no kind of item "wheel"'),
        (["document", "unlimited"], ["Nobody"], "document.unlimited: expected names of joints, found 'Nobody'"),
        (["document", "clip"], "dance", "document.clip: expected the name of a clip, found 'dance'"),
        (["document", "pose", "rotations"], [], "document.pose.rotations: expected an array of shape (22, 4)"),
        (
            ["document", "character", "skeleton", "names", 1],
            5,
            "document.character.skeleton.names[1]: expected str, found int",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    path: list[object], value: object, words: str, document: Document, tmp_path: Path
) -> None:
    tree = json.loads(session_bytes(document))
    _set(path, value)(tree)  # type: ignore[operator]
    file = tmp_path / "a.ikv.json"
    file.write_text(json.dumps(tree))
    with pytest.raises(FormatError) as raised:
        load_session(file)
    assert str(raised.value).startswith(f"{file}: {words}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty; expected a JSON object"),
        ("[]", "expected a JSON object"),
        ('{"joints": []}', "this is a skeleton file; expected a session file"),
        ('{"goals": []}', "this is a goals file; expected a session file"),
        ('{"document": 1', "not valid JSON"),
        ('{"document": 1}', "document: expected object, found int"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_other_files_are_refused(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "a.ikv.json"
    file.write_text(text)
    with pytest.raises(FormatError) as raised:
        load_session(file)
    assert words in str(raised.value)
    assert str(raised.value).startswith(str(file))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_session(tmp_path / "none.ikv.json")


def test_a_session_cut_anywhere_is_refused(document: Document, tmp_path: Path) -> None:
    content, file = session_bytes(document), tmp_path / "a.ikv.json"
    for length in range(0, len(content) - 2, len(content) // 40):
        file.write_bytes(content[:length])
        with pytest.raises(ViewerError):
            load_session(file)


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20.0
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert path.exists()


def test_autosave_writes_the_newest_and_leaves_nothing_behind(document: Document, tmp_path: Path) -> None:
    autosave = Autosave(tmp_path, seconds=0.05)
    autosave.keep(document, KEPT)
    _wait_for(autosave.path)
    changed = edited(document)
    autosave.keep(changed, KEPT)
    deadline = time.monotonic() + 20.0
    while not load_session(autosave.path).same_as(changed) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert load_session(autosave.path).same_as(changed)
    assert recoveries(tmp_path) == ()  # its window is open still
    autosave.close()
    assert list(tmp_path.iterdir()) == []


def test_saving_makes_the_recovery_file_superfluous(document: Document, tmp_path: Path) -> None:
    autosave = Autosave(tmp_path, seconds=0.0)
    autosave.keep(document, KEPT)
    _wait_for(autosave.path)
    autosave.saved()
    assert not autosave.path.exists()
    autosave.keep(document, KEPT)
    _wait_for(autosave.path)
    autosave.close()


def test_a_folder_that_cannot_be_written_is_said_and_stops_nobody(document: Document, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    autosave = Autosave(tmp_path / "file" / "folder", seconds=0.0)
    autosave.keep(document, KEPT)
    deadline = time.monotonic() + 20.0
    while not autosave.problem and time.monotonic() < deadline:
        time.sleep(0.01)
    wrong = f"{tmp_path / 'file' / 'folder'}: a part of the path is not a folder"
    assert autosave.problem == f"nothing can be saved by itself: {wrong}"
    autosave.close()


KILLED = """
import sys, time
from pathlib import Path
import viewer
from viewer.session.autosave import Autosave
from viewer.session.session_files import Kept
from viewer.document.import_export import new_document
autosave = Autosave(Path(sys.argv[1]), seconds=0.0)
autosave.keep(new_document(viewer.load("sample:biped")), Kept(at=60.0, since=30.0, path="mine.ikv.json"))
while not autosave.path.exists():
    time.sleep(0.01)
print("kept", flush=True)
time.sleep(60)
"""


def test_what_a_killed_window_leaves_is_found_and_can_be_given_up(document: Document, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "kept\n"
        assert recoveries(tmp_path) == ()
        child.kill()
    (found,) = recoveries(tmp_path)
    assert found.kept.path == "mine.ikv.json"
    assert 0.0 <= found.minutes < 1.0
    assert load_session(found.path).same_as(document)
    found.discard()
    assert recoveries(tmp_path) == ()
    assert list(tmp_path.iterdir()) == []


def test_strange_files_among_the_recoveries_are_left_alone(document: Document, tmp_path: Path) -> None:
    (tmp_path / "x.ikv.json").write_text("{")
    (tmp_path / "y.ikv.json").write_bytes(session_bytes(document))
    (tmp_path / "old.ikv.json").write_bytes(session_bytes(document, Kept(at=5.0, since=2.0)))
    (tmp_path / "new.ikv.json").write_bytes(session_bytes(document, Kept(at=125.0, since=5.0)))
    assert [(r.path.name, r.minutes) for r in recoveries(tmp_path)] == [("new.ikv.json", 2.0), ("old.ikv.json", 0.05)]


@pytest.mark.parametrize(
    ("part", "rows"),
    [
        ("character", "offsets"),
        ("skeleton", "offsets"),
        ("skeleton", "translations"),
    ],
)
def test_numbers_past_all_reach_are_refused(tmp_path: Path, part: str, rows: str) -> None:
    """Finite each, but no window can show them."""
    path = tmp_path / "a.ikv.json"
    tree = json.loads(session_bytes(edited(new_document(viewer.load("sample:two-link")))))
    own = tree["document"]
    place = own["pose"] if rows == "translations" else own[part]["skeleton"] if part == "character" else own[part]
    place[rows][1] = [1e300, 0.0, 0.0]
    path.write_text(json.dumps(tree), encoding="utf-8")
    with pytest.raises(FormatError) as raised:
        load_session(path)
    problem = 'joint "elbow": expected lengths that keep it within 1e+07 m of the origin, found 1e+300'
    assert str(raised.value) == f"{path}: document.{part}: {problem}"
