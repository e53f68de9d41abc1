"""No command writes over what it reads, by whatever name; but a file may be converted in its place.

``-`` as a FILE: skeletons of every format that another program hands over.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING

import pytest
from cli_run import FIGURE_BVH, SIGNED, figure, ran
from gltf_files import GltfFile
from test_cli_main import needs_posix, process

import viewer

if TYPE_CHECKING:
    from pathlib import Path


READ_HERE = "is read by this command and would be replaced: give the output another name"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a motion, goals, a pose, and links to them."""
    biped = viewer.load("sample:biped")
    figure(tmp_path).rename(tmp_path / "walk.bvh")
    (tmp_path / "goals.json").write_text('{"goals": [{"effector": "Knee", "pin": true}]}', encoding="utf-8")
    (tmp_path / "pose.json").write_text('{"type": "pose", "rotations": {}}', encoding="utf-8")
    viewer.save(biped, tmp_path / "rig.json")
    viewer.save(viewer.load("sample:walk"), tmp_path / "walk.npz")
    viewer.save(viewer.load("sample:walk"), tmp_path / "walk.glb")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("solve walk.bvh goals.json -o goals.json --units cm", "goals.json"),
        ("solve walk.bvh goals.json -o walk.bvh --units cm", "walk.bvh"),
        ("solve walk.bvh goals.json -o pose.json --units cm --from-pose pose.json", "pose.json"),
        ("solve walk.bvh goals.json -o pose.json --units cm --prefer pose.json", "pose.json"),
        ("solve walk.bvh goals.json -o rig.json --units cm --rig rig.json", "rig.json"),
        ("fk walk.npz --npz walk.npz", "walk.npz"),
        ("convert walk.bvh rig.json --rig rig.json", "rig.json"),
        ("convert walk.bvh pose.json --pose pose.json", "pose.json"),
        ("convert walk.bvh rig.json --rig rig.json --force", "rig.json"),
        ("edit rig.json --rename Hips=Pelvis -o rig.json", "rig.json"),
        ("edit walk.bvh --rename Hips=Pelvis -o rig.json --rig rig.json", "rig.json"),
        ("layer walk.bvh goals.json -o goals.json --units cm", "goals.json"),
        ("simulate walk.bvh --goals goals.json -o goals.json --units cm", "goals.json"),
        ("view walk.bvh --window headless --state-file walk.bvh", "walk.bvh"),
    ],
)
def test_an_input_is_not_written_over(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch, line: str, output: str
) -> None:
    monkeypatch.chdir(folder)
    before = contents(folder)
    done = ran(capsys, *line.split())
    assert (done.code, done.out, done.err) == (1, "", f"error: {output}: {READ_HERE}\n")
    assert contents(folder) == before


def test_nor_is_one_that_goes_by_another_name(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    goals, walk = folder / "goals.json", folder / "walk.bvh"
    symbolic, hard, picture = folder / "out.json", folder / "hard.json", folder / "out.png"
    symbolic.symlink_to(goals)
    os.link(goals, hard)
    picture.symlink_to(walk)
    before = contents(folder)
    for out in (symbolic, hard, folder / "gone" / ".." / "goals.json"):
        done = ran(capsys, "solve", walk, goals, "-o", out, "--units", "cm")
        assert (done.code, done.err) == (1, f"error: {out}: leads to {goals}, which {READ_HERE}\n")
    done = ran(capsys, "render", walk, "-o", picture)
    assert (done.code, done.err) == (1, f"error: {picture}: leads to {walk}, which {READ_HERE}\n")
    assert contents(folder) == before


def test_a_file_may_be_converted_in_its_place(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    path = folder / "walk.bvh"
    before = viewer.load(path, units="cm", up="y")
    assert ran(capsys, "convert", path, path, "--force", "--fps", "20", "--units", "cm", "--up", "y").code == 0
    after = viewer.load(path, units="cm", up="y")
    assert before.clip is not None
    assert after.clip is not None
    assert len(after.clip) == 6
    assert after.clip.duration == pytest.approx(before.clip.duration)


def test_but_not_unasked_and_by_no_other_name(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    path, link = folder / "walk.glb", folder / "link.bvh"
    link.symlink_to(path)
    before = contents(folder)
    for out, leads in ((path, ""), (link, f"leads to {path}, which ")):
        for words in ((out,), ("-o", out)):
            done = ran(capsys, "convert", path, *words, "--fps", "20")
            refused = f"{out}: {leads}is read by this command and would be replaced"
            assert (done.code, done.err) == (1, f"error: {refused}: --force does so, another name keeps it\n")
    assert contents(folder) == before


def test_samples_and_poses_by_name_are_no_files(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    goals = {"goals": [{"effector": "LeftHand", "position": [0.4, 1.2, 0.3]}]}
    (folder / "goals.json").write_text(json.dumps(goals), encoding="utf-8")
    (folder / "new.json").write_text("old", encoding="utf-8")
    for out in ("new.json", "new.json"):
        assert ran(capsys, "solve", "sample:biped", "goals.json", "-o", out, "--from-pose", "rest").code == 0


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
        (b"", f"-: it is empty; {SIGNED}"),
        (b" \n", f"-: it is empty; {SIGNED}"),
        (b"<html>", f'-: {SIGNED}, found "<html>"'),
        (b"\xff\xfe\x00", f"-: {SIGNED}, found "),
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
