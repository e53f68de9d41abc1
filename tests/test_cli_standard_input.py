"""``-`` as a FILE: skeletons of every format that another program hands over."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest
from cli_run import FIGURE_BVH, ran
from gltf_files import GltfFile
from test_cli_main import needs_posix, process

import viewer

if TYPE_CHECKING:
    from pathlib import Path

CM = ("--units", "cm", "--up", "y")


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    """Standard input: what is written to it is what the command reads."""
    data = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    return data


def hand_over(given: io.BytesIO, data: bytes) -> None:
    given.seek(0)
    given.truncate()
    given.write(data)
    given.seek(0)


@pytest.mark.parametrize("suffix", [".bvh", ".json", ".npz", ".glb", ".gltf"])
def test_the_format_is_told_by_content(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, given: io.BytesIO, suffix: str
) -> None:
    file = tmp_path / f"walk{suffix}"
    viewer.save(viewer.load("sample:walk"), file)
    hand_over(given, file.read_bytes())
    done = ran(capsys, "info", "-", *(CM if suffix == ".bvh" else ()), "--json")
    assert (done.code, done.err) == (0, "")
    named = ran(capsys, "info", file, *(CM if suffix == ".bvh" else ()), "--json").json
    assert done.json["name"] in {"stdin", "walk"}  # JSON and NPZ say theirs
    assert done.json | {"name": "", "clips": []} == named | {"name": "", "clips": []}
    assert done.json["frames"] == 68


@pytest.mark.parametrize("start", ["", "\ufeff", "\n  "])
def test_what_stands_before_it_does_not_matter(
    capsys: pytest.CaptureFixture[str], given: io.BytesIO, start: str
) -> None:
    hand_over(given, f"{start}{FIGURE_BVH}".encode())
    assert ran(capsys, "fk", "-", *CM, "--frame", "1").code == 0
    hand_over(given, (start + GltfFile([{"name": "a"}]).text()).encode())
    assert ran(capsys, "fk", "-").code == 0


def test_it_is_taken_wherever_a_skeleton_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, given: io.BytesIO
) -> None:
    rig, goals, out = tmp_path / "rig.json", b'{"goals": [{"effector": "Knee", "pin": true}]}', tmp_path / "out.npz"
    viewer.save(viewer.load("sample:biped"), rig)
    (tmp_path / "g.json").write_bytes(goals)
    figure = FIGURE_BVH.encode()
    for data, words in (
        (figure, ("convert", "-", out)),
        (figure, ("convert", "-", "-o", tmp_path / "{stem}.glb")),
        (figure, ("solve", "-", tmp_path / "g.json")),
        (figure, ("check", "-", "sample:biped")),
        (figure, ("render", "-", "-o", tmp_path / "a.png", "--size", "40x30")),
        (rig.read_bytes(), ("info", "sample:walk", "--rig", "-")),
        (goals, ("solve", tmp_path / "stdin.glb", "-")),
    ):
        hand_over(given, data)
        done = ran(capsys, *words)
        assert (done.code, "error" in done.err) == (0, False), (words, done.err)
    assert out.exists()
    assert (tmp_path / "stdin.glb").exists()


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "-: it is empty; expected a skeleton as BVH, JSON, NPZ, GLB, glTF, URDF or MJCF"),
        (b" \n", "-: it is empty; expected a skeleton as BVH, JSON, NPZ, GLB, glTF, URDF or MJCF"),
        (b"<html>", '-: expected a skeleton as BVH, JSON, NPZ, GLB, glTF, URDF or MJCF, found "<html>"'),
        (b"\xff\xfe\x00", "-: expected a skeleton as BVH, JSON, NPZ, GLB, glTF, URDF or MJCF, found "),
        (b'{"joints": [{"name": 3}]}', "-: joints[0].name: expected text, found 3"),
        (b'{"joints": [', "-, line 1, column 13: "),
        (b"HIERARCHY\nROOT", "-, line 2"),
        (b"glTF", "-: expected a GLB header, found the end of the file"),
        (b"PK\x03\x04", "-: "),
        (b'{"goals": []}', "-: this is a goals file; expected a skeleton file"),
        (b'{"asset": {"version": "1.0"}}', '-: asset.version: expected 2.0, found "1.0"'),
    ],
)
def test_what_is_no_skeleton_is_refused_in_a_line(
    capsys: pytest.CaptureFixture[str], given: io.BytesIO, data: bytes, line: str
) -> None:
    hand_over(given, data)
    done = ran(capsys, "info", "-")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {line}")
    assert done.err.count("\n") == 1


def test_it_is_read_once(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("solve", "-", "-"), ("info", "-", "--rig", "-"), ("check", "-", "-")):
        done = ran(capsys, *words)
        assert done.code == 2
        assert done.err.splitlines()[-1].endswith(
            "standard input (-) can be read once only, and is asked for more than once"
        )


def test_a_terminal_hands_nothing_over(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.BytesIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Terminal()))
    done = ran(capsys, "info", "-")
    assert (done.code, done.err) == (1, "error: -: expected a file handed over by < or |, found the terminal\n")
    monkeypatch.setattr(sys, "stdin", None)
    done = ran(capsys, "info", "-")
    assert (done.code, done.err) == (1, "error: -: expected a file handed over by < or |, found none\n")


@needs_posix
def test_commands_can_be_piped(tmp_path: Path) -> None:
    (tmp_path / "figure.bvh").write_text(FIGURE_BVH, encoding="utf-8")
    done = process("info - --units cm --up y", tmp_path, shell="cat figure.bvh | {0}")
    assert (done.returncode, done.stderr, done.stdout.splitlines()[0]) == (0, "", "stdin: BVH")
    done = process("info - --units cm --up y", tmp_path, shell="{0} <&-")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: -: expected a file handed over by < or |")
