"""Session files: saved and opened again a document is the same; what is damaged is refused in one line.

What a session file holds is equal to the last bit, and what is damaged is refused in words.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
import zlib
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from inside.app import Autosave, recoveries
from inside.session import (
    LONGEST_PLAIN,
    ONE_FIGURE,
    CharacterData,
    ClipsOfFile,
    Kept,
    Packed,
    Stored,
    character_data,
    character_of,
    is_session,
    load_session,
    pack,
    save_session,
    session_bytes,
    stored_characters,
    unpack,
)

import viewer
from viewer.document import Item, Mode, Scope, SolverSettings, new_document
from viewer.errors import FormatError, InputError, OutputError, ViewerError

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.document import Document
    from viewer.skeleton import Character, Clip, Pose, Skeleton


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
        (["document", "mode"], "xx", 'document.mode: expected one of "ik", "fk", found "xx"'),
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
        ('{"type": "session"}', 'expected "document", found none'),
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
    assert autosave.problem == f"the recovery file cannot be written: {wrong}"
    autosave.close()


KILLED = """
import sys, time
from pathlib import Path
import viewer
from viewer.app.autosave_service import Autosave
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
    assert found.words.startswith("1 min of work")
    assert load_session(found.path).same_as(document)
    found.discard()
    assert recoveries(tmp_path) == ()
    assert list(tmp_path.iterdir()) == []


def test_strange_files_among_the_recoveries_are_left_alone(document: Document, tmp_path: Path) -> None:
    (tmp_path / "x.ikv.json").write_text("{")
    (tmp_path / "y.ikv.json").write_bytes(session_bytes(document))
    (tmp_path / "old.ikv.json").write_bytes(session_bytes(document, Kept(at=5.0, since=2.0)))
    (tmp_path / "new.ikv.json").write_bytes(session_bytes(document, Kept(at=125.0, since=5.0)))
    assert [(r.path.name, r.words[:5]) for r in recoveries(tmp_path)] == [
        ("new.ikv.json", "2 min"),
        ("old.ikv.json", "1 min"),
    ]


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


SAMPLES = ["biped-hands", "claw-arm", "piston", "quadruped", "two-link", "walk", "chain-30"]


def there_and_back(character: Character, folder: Path) -> Character:
    text = msgspec.json.encode(character_data(character))
    return character_of(msgspec.json.decode(text, type=CharacterData), folder, "character")


def same_skeleton(a: Skeleton, b: Skeleton) -> bool:
    plain = ("name", "names", "kinds", "effectors")
    numbers = ("parents", "offsets", "rest_rotations", "axes", "stiffness", "tip_parents", "tip_offsets")
    limits = all(
        (x is None and y is None) or (x is not None and x.same_as(y)) for x, y in zip(a.limits, b.limits, strict=True)
    )
    poses = a.poses.keys() == b.poses.keys() and all(same_pose(a.poses[k], b.poses[k]) for k in a.poses)
    spreads = (a.mobility is None) == (b.mobility is None) and (
        a.mobility is None or b.mobility is None or np.array_equal(a.mobility, b.mobility, equal_nan=True)
    )
    return (
        all(getattr(a, name) == getattr(b, name) for name in plain)
        and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in numbers)
        and limits
        and poses
        and spreads
    )


def same_pose(a: Pose, b: Pose) -> bool:
    return a.same_as(b)


def same_clip(a: Clip, b: Clip) -> bool:
    return all(np.array_equal(getattr(a, field.name), getattr(b, field.name)) for field in fields(a))


@given(arrays(np.float64, array_shapes(max_dims=3, max_side=12), elements=st.floats(allow_nan=False)))
def test_any_array_comes_back_to_the_bit(array: np.ndarray) -> None:
    encoded = msgspec.json.encode(pack(array))
    stored = msgspec.json.decode(encoded, type=list[object] | Packed)
    assert unpack(stored, array.shape, "a").tobytes() == array.tobytes()


@pytest.mark.parametrize("size", [LONGEST_PLAIN, LONGEST_PLAIN + 1])
def test_only_long_arrays_are_packed(size: int) -> None:
    array = np.linspace(0.0, 1.0, size)
    assert isinstance(pack(array), Packed) == (size > LONGEST_PLAIN)
    assert np.array_equal(unpack(pack(array), (-1,), "a"), array)


def test_empty_arrays_keep_their_shape() -> None:
    assert unpack([], (0, 3), "a").shape == (0, 3)
    assert unpack([], (-1,), "a", whole=True).dtype == np.intp


def _packed(data: bytes, shape: list[int], kind: str = "f8") -> Packed:
    return Packed(shape, base64.b64encode(zlib.compress(data)).decode(), kind)


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ([1.0, 2.0], "expected an array of shape (3,), found (2,)"),
        ([[1.0], [2.0, 3.0]], "expected an array of shape (3,), found rows of different lengths"),
        (["a", "b", "c"], "expected numbers, found something else"),
        ([True, False, True], "expected numbers, found something else"),
        (_packed(b"\0" * 16, [3]), "expected 24 bytes of numbers, found 16"),
        (_packed(b"\0" * 800, [3]), "expected 24 bytes of numbers, found 25"),
        (_packed(b"\0" * 24, [3], "c16"), "expected type f8 or i8, found c16"),
        (_packed(b"", [1 << 20, 1 << 20]), "expected at most 29,360,128 numbers, found shape [1048576, 1048576]"),
        (_packed(b"", [-3]), 'expected an array\'s shape, found "[-3]"'),
    ],
)
def test_damaged_arrays_are_refused(stored: Stored, words: str) -> None:
    with pytest.raises(FormatError) as raised:
        unpack(stored, (3,), "document.a")
    assert str(raised.value) == f"document.a: {words}"


def test_what_is_not_base64_or_not_deflated_is_refused() -> None:
    for text in ("!!!", base64.b64encode(b"plain").decode()):
        with pytest.raises(FormatError, match="expected deflated numbers, found damaged data"):
            unpack(Packed([3], text), (3,), "a")


def test_a_small_text_cannot_ask_for_much_memory() -> None:
    bomb = _packed(b"\0" * 50_000_000, [3])
    with pytest.raises(FormatError, match="expected 24 bytes of numbers, found 25"):
        unpack(bomb, (3,), "a")


def test_fractions_are_no_indices() -> None:
    with pytest.raises(FormatError, match="parents: expected whole numbers"):
        unpack([0.5], (1,), "parents", whole=True)


@pytest.mark.parametrize("sample", SAMPLES)
def test_samples_come_back_equal(sample: str, tmp_path: Path) -> None:
    character = viewer.load(f"sample:{sample}")
    again = there_and_back(character, tmp_path)
    assert same_skeleton(character.skeleton, again.skeleton)
    assert (again.source, again.warnings, again.limits_from) == (
        character.source,
        character.warnings,
        character.limits_from,
    )
    assert list(again.clips) == list(character.clips)
    assert all(same_clip(clip, again.clips[name]) for name, clip in character.clips.items())


def _bvh(folder: Path) -> Path:
    path = folder / "walk.bvh"
    viewer.save(viewer.load("sample:walk"), path)
    return path


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every motion is too large to be carried."""
    monkeypatch.setattr(stored_characters, "LARGEST_CARRIED", 0)


def test_clips_are_carried_and_their_file_is_named_by_its_way_from_the_session(tmp_path: Path) -> None:
    character = viewer.load(_bvh(tmp_path), units="cm")
    data = character_data(character, tmp_path / "sessions" / "new")
    assert isinstance(data.clips, list)
    assert data.file is not None
    assert (data.file.path, data.file.relative) == (str(tmp_path / "walk.bvh"), "../../walk.bvh")
    assert character_data(character).file is None
    assert character_data(viewer.load("sample:walk"), tmp_path).file is None
    shorter = replace(character, clips={"walk": character.clips["walk"].frames(0, 9)})
    assert character_data(shorter, tmp_path).file is None


@pytest.mark.usefixtures("small")
def test_a_large_clip_that_is_as_its_file_has_it_is_kept_by_reference(tmp_path: Path) -> None:
    character = viewer.load(_bvh(tmp_path), units="cm")
    assert isinstance(character_data(character).clips, ClipsOfFile)
    again = there_and_back(character, tmp_path)
    assert character.clip is not None
    assert again.clip is not None
    assert same_clip(character.clip, again.clip)


@pytest.mark.usefixtures("small")
def test_a_corrected_frame_time_is_kept_beside_the_reference(tmp_path: Path) -> None:
    character = viewer.load(_bvh(tmp_path), units="cm")
    assert character.clip is not None
    slower = replace(character, clips={character.clip.name: replace(character.clip, frame_time=0.25)})
    assert isinstance(character_data(slower).clips, ClipsOfFile)
    again = there_and_back(slower, tmp_path)
    assert again.clip is not None
    assert again.clip.frame_time == 0.25


@pytest.mark.usefixtures("small")
def test_a_clip_that_was_changed_is_written_out(tmp_path: Path) -> None:
    character = viewer.load(_bvh(tmp_path), units="cm")
    assert character.clip is not None
    shorter = replace(character, clips={character.clip.name: character.clip.frames(0, 9)})
    data = character_data(shorter)
    assert isinstance(data.clips, list)
    again = there_and_back(shorter, tmp_path)
    assert again.clip is not None
    assert len(again.clip) == 10


@pytest.mark.usefixtures("small")
def test_a_motion_file_may_move_along_with_the_session(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    path = _bvh(tmp_path / "old")
    data = character_data(viewer.load(path, units="cm"))
    (tmp_path / "new").mkdir()
    path.rename(tmp_path / "new" / "walk.bvh")
    assert character_of(data, tmp_path / "new", "character").clip is not None
    with pytest.raises(FormatError, match=r'character\.clips: the motion file "walk\.bvh" is missing: expected it'):
        character_of(data, tmp_path, "character")


@pytest.mark.usefixtures("small")
def test_a_motion_file_that_has_changed_is_said_to_have(tmp_path: Path) -> None:
    path = _bvh(tmp_path)
    data = character_data(viewer.load(path, units="cm"))
    path.write_text(path.read_text().replace("0.0", "0.1", 1))
    with pytest.raises(FormatError, match="has changed since this was saved"):
        character_of(data, tmp_path, "character")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kinds": ["ball"]}, "character.skeleton: expected 2 kinds and limits, one for each name"),
        ({"kinds": ["ball", "wheel"]}, 'character.skeleton.kinds[1]: expected one of "ball", "hinge"'),
        (
            {"parents": [-1, 7]},
            'character.skeleton: skeleton parents of "elbow": expected each parent before its children',
        ),
        ({"names": ["a", "a"]}, "character.skeleton: joint names must be unique"),
        ({"rest_rotations": [[0, 0, 0, 1], [0, 0, 0, 2]]}, "expected a unit quaternion (x, y, z, w), found length 2"),
        ({"offsets": [[0, 0, 0]]}, "character.skeleton.offsets: expected an array of shape (2, 3), found (1, 3)"),
    ],
)
def test_a_skeleton_that_is_none_is_refused(change: dict[str, object], words: str, tmp_path: Path) -> None:
    data = character_data(viewer.load("sample:two-link"))
    broken = msgspec.structs.replace(data, skeleton=msgspec.structs.replace(data.skeleton, **change))
    with pytest.raises(FormatError) as raised:
        character_of(broken, tmp_path, "character")
    assert words in str(raised.value)
