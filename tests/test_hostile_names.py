"""Names that would steer a terminal, break a table or fill a screen: shown spelled out and short, kept as they are."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from cli_run import ran
from conftest import shared_dir
from window_pilot import Pilot

import viewer
from viewer.errors import LONGEST_MESSAGE, LONGEST_NAME, FormatError, InputError, one_line, quote, shown, visible
from viewer.scene import Text
from viewer.ui import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ESCAPE, NEWLINE, BIDI = "\x1b]0;pwned\x07\x1b[2J", "a\nb\r\tc", "\u202egnp.exe\u2066"
HOSTILE = (
    ESCAPE,
    NEWLINE,
    BIDI,
    "\x9b31m",
    "\u2028line",
    "\u200b",
    "\x00",
    "\x7f",
    "\ufeff",
    "##hidden",
    "%s%n",
    "x" * 5000,
)
SCRIPTS = ("手首", "Hüfte", "зап", "يد", "👋", "mixamorig:LeftHand", "hand.L")
FOLDER = shared_dir()
_LONGEST_LINE = 2000
"""Letters of a line of a table: several names may stand in it."""


def skeleton_of(names: Sequence[str]) -> dict[str, Any]:
    """A chain of joints of these names, with a goal for each and a pose, a clip and limits."""
    joints: list[dict[str, Any]] = [
        {"name": name, "parent": names[index - 1] if index else None, "offset": [0, 0.1, 0], "colour": 1}
        for index, name in enumerate(names)
    ]
    turns = [[0, 0, 0, 1]] * len(names)
    for joint in joints[1:]:
        joint["limits"] = {"x": [-1, 1]}
    return {
        "name": ESCAPE + NEWLINE,
        "joints": joints,
        "effectors": [{"name": name, "joint": name} for name in names[1:]],
        "poses": {ESCAPE: {"rotations": {}}},
        "motion": {"frame_time": 0.1, "frames": [turns, [[1, 0, 0, 0]] * len(names)]},
    }


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A skeleton file of hostile names in a folder of a hostile name."""
    if os.name == "nt":
        pytest.skip("this system has no such file names")
    folder = tmp_path / "\x1b[31mred\u202e"
    folder.mkdir()
    path = folder / "bad\x07name.json"
    path.write_text(json.dumps(skeleton_of(HOSTILE)), encoding="utf-8")
    return path


def goals_of(names: Sequence[str], folder: Path) -> Path:
    path = folder / "goals.json"
    goals = [{"effector": name, "position": [9, 9, 9]} for name in names]
    path.write_text(json.dumps({"goals": goals}), encoding="utf-8")
    return path


def assert_plain(text: str) -> None:
    """Lines of printable letters, none without end."""
    for line in text.split("\n"):
        assert line.isprintable(), ascii(line)[:200]
        assert len(line) <= _LONGEST_LINE, line[:200]


def assert_one_line(text: str) -> None:
    assert text.isprintable()
    assert len(text) <= LONGEST_MESSAGE


@pytest.mark.parametrize("name", SCRIPTS)
def test_printable_names_of_any_script_stay(name: str) -> None:
    assert shown(name) == name
    assert quote(name) == f'"{name}"'
    assert one_line(f"no joint {name}") == f"no joint {name}"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_shown_on_one_short_line(name: str) -> None:
    assert shown(name).isprintable()
    assert len(shown(name)) <= LONGEST_NAME
    for error in (InputError(name), InputError(f"no {name}"), FormatError(name, file=name, path=name)):
        assert_one_line(str(error))


def test_what_is_spelled_out_and_what_is_left_out() -> None:
    assert shown(ESCAPE) == r"\x1b]0;pwned\x07\x1b[2J"
    assert shown(NEWLINE) == r"a\nb\r\tc"
    assert shown(BIDI) == r"\u202egnp.exe\u2066"
    assert shown("L" * 40 + "R" * 40) == "L" * 30 + "…" + "R" * 29
    assert len(shown("\x1b" * 10_000)) == LONGEST_NAME
    # The window's font has icons there; a terminal's has not.
    assert (visible("\uf00c ok\n", icons=True), visible("\uf00c")) == ("\uf00c ok\\n", r"\uf00c")


@pytest.mark.parametrize(
    "words",
    [
        ["info"], ["check"], ["fk"], ["fk", "--frames", "0,1"], ["fk", "--pose", ESCAPE],
        ["fk", "--pose", "no\x1b\npose"],
        ["convert", "out.csv"], ["convert", "out\x1b.bvh"], ["convert", "no\x1b.such"],
        ["render", "--camera", "\x1b\n"],
        ["render", "-o", "\x1b.jpg"], ["info", "--rig", "\x1b.json"], ["convert", "out.bvh", "--clip", "\x1b"],
    ],
)  # fmt: skip
def test_no_command_prints_what_steers_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, hostile: Path, words: list[str]
) -> None:
    monkeypatch.chdir(hostile.parent)
    for file in (hostile.name, str(hostile)):
        done = ran(capsys, words[0], file, *words[1:])
        assert done.out + done.err
        assert_plain(done.out)
        for line in done.err.splitlines():
            assert_one_line(line)


def test_a_table_has_a_row_for_each_joint(capsys: pytest.CaptureFixture[str], hostile: Path) -> None:
    done = ran(capsys, "fk", hostile)
    head, *rows = done.out.splitlines()
    assert len(rows) == len(HOSTILE)
    assert {len(row) for row in rows} == {len(head) - len("  (m)")}
    assert rows[1].startswith(r"a\nb\r\tc ")


def test_a_solve_says_which_goals_were_missed(capsys: pytest.CaptureFixture[str], hostile: Path) -> None:
    names = [name for name in HOSTILE[1:] if name]
    done = ran(capsys, "solve", hostile, goals_of(names, hostile.parent), "--max-iterations", "3")
    assert done.code == 0
    assert_plain(done.out)
    assert r"a\nb\r\tc position: " in done.out
    refused = ran(capsys, "solve", hostile, goals_of(["\x1b[2J\n"], hostile.parent))
    assert refused.code == 1
    assert r'no effector, joint or tip "\x1b[2J\n"' in refused.err
    assert_plain(refused.err)


def test_a_file_is_named_once_whatever_its_name_is(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        viewer.load(tmp_path / "a\nb.bvh")
    assert str(caught.value) == f"{tmp_path}/a\\nb.bvh: no such file or folder"


def test_json_and_files_keep_the_names(capsys: pytest.CaptureFixture[str], hostile: Path, tmp_path: Path) -> None:
    info = ran(capsys, "info", hostile, "--json")
    assert [joint["name"] for joint in info.json["joints"]] == list(HOSTILE)
    assert info.out.replace("\n", "").isprintable()
    assert list(ran(capsys, "fk", hostile, "--json").json["joints"]) == list(HOSTILE)
    names = list(HOSTILE[1:])
    solved = ran(capsys, "solve", hostile, goals_of(names, hostile.parent), "--max-iterations", "2", "--json")
    assert [goal["effector"] for goal in solved.json["goals"]] == names
    viewer.save(viewer.load(hostile), tmp_path / "again.json")
    assert viewer.load(tmp_path / "again.json").skeleton.names == HOSTILE


def test_warnings_of_the_library_are_lines(hostile: Path) -> None:
    character = viewer.load(hostile)
    assert character.warnings
    for warning in character.warnings:
        assert_one_line(warning)
    assert repr(character.skeleton).isprintable()


def test_a_window_shows_them_too(hostile: Path) -> None:
    pilot = Pilot(str(hostile))
    try:
        pilot.step(3)
        assert pilot.app.device.title == "bad\\x07name.json - ikviewer"  # type: ignore[attr-defined]
        for message in pilot.app.controller.view.bar.messages:
            assert_one_line(message.text)
        pilot.app.controller.view.fail(InputError(f"no {ESCAPE}{NEWLINE}"), "open")
        assert pilot.app.controller.view.bar.messages[-1].text == r"No \x1b]0;pwned\x07\x1b[2Ja\nb\r\tc"
        pilot.step(3)
    finally:
        pilot.close()


def test_texts_on_a_picture_and_messages_are_one_line() -> None:
    assert Text("a\nb\uf00c", 0, 0, (1, 1, 1, 1)).text == "a\\nb\uf00c"
    assert Message("a\nb").text == r"a\nb"
    assert len(Message("x" * 10_000).text) == LONGEST_MESSAGE


@pytest.mark.skipif(FOLDER is None, reason="shared data not beside the checkout")
@pytest.mark.parametrize(
    "file",
    ["findings/terminal_escape.bvh", "findings/odd_names.json", "findings/msg_newline.gltf",
     "findings/msg_unbounded.gltf",
     "malformed/ok_name_odd.bvh", "malformed/bad_name_surrogate.json", "malformed/bad_nul_bytes.bvh",
     "malformed/bad_png.bvh", "malformed/bad_html.bvh", "malformed/ok_unicode.json"],
)  # fmt: skip
def test_files_that_showed_it(capsys: pytest.CaptureFixture[str], tmp_path: Path, shared: Path, file: str) -> None:
    path = shared / "data" / file
    for words in (["info"], ["check"], ["fk"], ["convert", str(tmp_path / "out.bvh")], ["info", "--json"]):
        done = ran(capsys, words[0], path, *words[1:])
        assert_plain(done.err if "--json" in words else done.out + done.err)
        for line in done.err.splitlines():
            assert_one_line(line)
