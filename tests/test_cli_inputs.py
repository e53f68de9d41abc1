"""No command writes over what it reads, by whatever name; but a file may be converted in its place."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from cli_run import figure, ran

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
