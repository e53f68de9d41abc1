"""What cannot be read or written: one clear line, exit 1, nothing half-written, no traceback."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from cli_run import FIGURE_BVH, figure, ran
from conftest import ROOT
from inside.formats import READ, WRITTEN

NO_MOTION = "expected motion, found a skeleton without frames"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one line of a command that is refused, without ``error: ``."""
    done = ran(capsys, *arguments)
    assert (done.code, done.out) == (1, "")
    lines = [line for line in done.err.splitlines() if not line.startswith("warning: ")]
    assert len(lines) == 1, done.err
    assert lines[0].startswith("error: ")
    return lines[0].removeprefix("error: ")


SUFFIXES = ", ".join(READ)


@pytest.mark.parametrize("command", ["info", "fk"])
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gone.bvh", "{}: no such file or folder"),
        ("gone", "{}: no such file or folder"),
        ("figure.bv", "{}: no such file or folder"),
        ("gone/too.json", "{}: no such file or folder"),
        ("a.txt", f'{{}}: expected a name that ends in {SUFFIXES}, found ".txt"'),
        ("plain", f"{{}}: expected a name that ends in {SUFFIXES}, found no suffix"),
        ("folder", "{}: expected a file, found a folder"),
        ("folder.bvh", "{}: expected a file, found a folder"),
        ("figure.bvh/x.bvh", "{}: a part of the path is not a folder"),
        ("empty.bvh", "{}, line 1, column 1: expected HIERARCHY, found an empty file"),
        ("empty.json", "{}: the file is empty; expected a JSON object"),
        ("empty.npy", "{}: the file is empty; expected an array (.npy)"),
        ("empty.npz", "{}: the file is empty; expected an .npz file (a zip of arrays)"),
        ("empty.urdf", "{}: the file is empty; expected XML"),
        ("empty.xml", "{}: the file is empty; expected XML"),
    ],
)
def test_files_that_cannot_be_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, name: str, problem: str
) -> None:
    figure(tmp_path)
    for folder in ("folder", "folder.bvh"):
        (tmp_path / folder).mkdir()
    for file in (*(f"empty{suffix}" for suffix in READ), "a.txt", "plain"):
        (tmp_path / file).write_bytes(b"")
    path = tmp_path / name
    assert refused(capsys, command, path) == problem.format(path)


def test_binary_gltf_where_text_is_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, table = tmp_path / "walk.glb", tmp_path / "walk.csv"
    assert ran(capsys, "convert", "sample:walk", path).code == 0
    table.write_bytes(path.read_bytes())
    what = "found GLB (binary): a skeleton or motion, which is read from names that end in .glb"
    for file, words in ((path, ("solve", "sample:biped", path)), (table, ("info", table))):
        assert refused(capsys, *words) == f"{file}: expected text in UTF-8, {what}"


@pytest.mark.parametrize("suffix", [".bvh", ".json", ".npz"])
def test_a_picture_by_another_name(capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"picture{suffix}"
    path.write_bytes(PNG)
    line = refused(capsys, "info", path)
    assert line.startswith(str(path))
    assert "expected" in line
    assert line.isprintable()


def test_a_download_that_was_cut_short(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "cut.bvh"
    for end in range(len(FIGURE_BVH.rstrip()) - 2):
        path.write_text(FIGURE_BVH[:end], encoding="utf-8")
        done = ran(capsys, "fk", path, "--json")
        assert done.code in {0, 1}
        if done.code == 1:
            assert done.err.count("\n") == 1
            assert done.err.startswith(f"error: {path}")
    path.write_text(FIGURE_BVH[: FIGURE_BVH.index("End Site")], encoding="utf-8")
    assert refused(capsys, "info", path).startswith(f"{path}, line 10, column ")


def test_the_place_of_a_fault_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.bvh"
    path.write_text(FIGURE_BVH.replace("1 90 0 90", "1 90 oh 90"), encoding="utf-8")
    assert refused(capsys, "info", path) == (
        f'{path}, line 20, column 6: in a frame: expected a finite number, found "oh"'
    )
    path = tmp_path / "bad.json"
    path.write_text('{"joints": [{"name": "a"}, {"name": "b", "parent": "a", "offset": [1, 2]}]}', encoding="utf-8")
    line = refused(capsys, "info", path)
    assert line.startswith(f'{path}: joints[1] "b".offset: expected')
    path.write_text('{"joints": [\n {"name" "a"}]}', encoding="utf-8")
    assert refused(capsys, "info", path).startswith(f"{path}, line 2, column 10: expected a colon, found")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["info", "sample:wlak"], 'no sample "wlak"; did you mean "walk"?'),
        (["info", "sample:chain-0"], "a chain has 1 to 10000 links, found 0"),
        (["fk", "sample:biped", "--pose", "relaxd"], 'no pose "relaxd"; did you mean "relaxed"?'),
        (["fk", "sample:biped", "--pose", "gone.json"], "gone.json: no such file or folder"),
        (["fk", "sample:walk", "--frame", "68"], "sample:walk: no frame 68: the clip has 0 to 67"),
        (["fk", "sample:walk", "--frames", "0,60:70"], "sample:walk: no frame 70: the clip has 0 to 67"),
        (["fk", "sample:walk", "--frames", "0:999999999"], "sample:walk: no frame 999999999: the clip has 0 to 67"),
        (["fk", "sample:biped", "--frame", "0"], f"sample:biped: {NO_MOTION}"),
        (["convert", "sample:piston", "o.bvh", "--fps", "9"], f"sample:piston: {NO_MOTION}"),
        (["convert", "sample:walk", "o.bvh", "--frames", "0:68"], "sample:walk: no frame 68: the clip has 0 to 67"),
        (["convert", "sample:walk", "o.bvh", "--clip", "run"], 'sample:walk: no clip "run"; there is "walk"'),
        (["info", "sample:walk", "--rig", "gone.json"], "gone.json: no such file or folder"),
        (["info", "sample:chain-N"], 'no sample "chain-N"; did you mean "chain-100"?'),
        (["fk", "sample:walk", "--npz", "o.csv"], 'o.csv: expected a name that ends in .npz, found ".csv"'),
        (["info", "sample:walk", "--rig", "sample:piston"], "the rig piston and walk have no joint name in common"),
    ],
)  # fmt: skip
def test_names_and_frames_that_there_are_not(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(capsys, *arguments) == line
    assert list(tmp_path.iterdir()) == []


def test_a_pose_of_a_joint_that_there_is_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "pose.json"
    path.write_text('{"type": "pose", "rotations": {"LeftHnad": [0, 0, 0, 1]}}', encoding="utf-8")
    line = refused(capsys, "fk", "sample:biped", "--pose", path)
    assert line.startswith(f'{path}: rotations "LeftHnad": no joint "LeftHnad"; did you mean "LeftHand"')


def test_no_permission(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = figure(tmp_path)
    if os.name == "posix" and os.geteuid() != 0:
        path.chmod(0)
    else:  # root reads everything: the system's answer is played

        def closed(*_: object) -> NoReturn:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr("viewer.formats.files.os.open", closed)
    assert refused(capsys, "info", path) == f"{path}: no permission"


@pytest.mark.parametrize("suffix", [".bvh", ".json", ".npz", ".csv"])
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gone/out", "its folder does not exist"),
        ("taken", "expected a file, found a folder"),
        ("kept", "the file is read-only"),
    ],
)
def test_places_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str, name: str, problem: str
) -> None:
    (tmp_path / f"taken{suffix}").mkdir()
    kept = tmp_path / f"kept{suffix}"
    kept.write_text("old", encoding="utf-8")
    kept.chmod(0o444)
    before = sorted(tmp_path.rglob("*"))
    out = tmp_path / (name + suffix)
    line = f"{out}: cannot be written: {problem}"
    hint = f" (-o {out} writes into it)" if name == "taken" else ""
    assert refused(capsys, "convert", "sample:walk", out, "--force") == line + hint
    assert kept.read_text(encoding="utf-8") == "old"
    assert sorted(tmp_path.rglob("*")) == before
    if suffix == ".npz":
        assert refused(capsys, "fk", "sample:walk", "--npz", out) == line


@pytest.mark.parametrize("suffix", [".bvh", ".json", ".npz", ".csv"])
@pytest.mark.parametrize(
    ("code", "problem"),
    [(errno.ENOSPC, "the disk is full"), (errno.EROFS, "the file system is read-only")],
)
def test_a_disk_that_fails_while_writing_leaves_the_old_file(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
    code: int,
    problem: str,
) -> None:
    def full(_: int) -> NoReturn:
        raise OSError(code, os.strerror(code))

    out = tmp_path / f"out{suffix}"
    out.write_text("old", encoding="utf-8")
    monkeypatch.setattr("viewer.formats.files.os.fsync", full)
    assert refused(capsys, "convert", "sample:walk", "-o", out) == f"{out}: cannot be written: {problem}"
    assert [file.name for file in tmp_path.iterdir()] == [out.name]
    assert out.read_text(encoding="utf-8") == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_device_is_no_place_to_write_to(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "full.npz"
    out.symlink_to("/dev/full")
    line = refused(capsys, "fk", "sample:biped", "--npz", out)
    assert line == f"{out}: cannot be written: expected a file, found a device"


LAYER = {
    "goal": {"effector": "LeftHand", "position": [0.4, 1.2, 1.2]}, "start": 0.3, "full": [0.8, 1.0], "end": 1.6,
}  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="resource limits of POSIX systems")
@pytest.mark.parametrize(
    "call",
    [
        "convert sample:walk out.bvh",
        "layer sample:walk layers.json -o out.bvh",
        f"limits {'sample:walk ' * 5}--to sample:biped -o out.json",
    ],
)
def test_a_file_that_may_not_grow_so_large(tmp_path: Path, call: str) -> None:
    layers = tmp_path / "layers.json"
    layers.write_text(json.dumps({"version": 1, "type": "layers", "layers": [LAYER]}), encoding="utf-8")
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        f"from viewer.cli.main import main; sys.exit(main({call.split()}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    _, _, out = call.rpartition(" ")
    problem = f"{out}: cannot be written: the disk is full, or files this large are not allowed"
    assert done.stderr == f"error: {problem}\n"
    assert list(tmp_path.iterdir()) == [layers]


def test_output_suffixes_that_there_are_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, found in (("out.fbx", '".fbx"'), ("out", "no suffix")):
        out = tmp_path / name
        line = refused(capsys, "convert", "sample:walk", out)
        assert line == f"{out}: expected a name that ends in {', '.join(WRITTEN)}, found {found}"


def test_a_character_that_no_command_could_read_again_is_not_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "far.bvh"
    done = ran(capsys, "retarget", "sample:walk", "--to", "sample:biped", "--scale", "1e30", "-o", out)
    assert done.code == 1
    last = done.err.splitlines()[-1]
    assert last.startswith(f'error: {out}: joint "Hips": expected lengths that keep it within 1e+07 m of the origin')
    assert not out.exists()


def test_the_name_of_a_folder_is_none_of_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = f"{tmp_path / 'out.bvh'}/"
    line = refused(capsys, "convert", "sample:walk", out)
    assert line == f"{out}: cannot be written: expected a file, found a folder (-o {out} writes into it)"
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="the working folder cannot be removed")
def test_a_working_folder_that_is_gone_is_no_fault_of_the_program(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    gone = "the working folder does not exist any more: change to another one"
    assert refused(capsys, "convert", "sample:walk", "out.bvh") == gone
