"""Many inputs: every one has an output of its own, nothing is written over unasked, one that fails stops no other."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from cli_run import FIGURE_BVH, IN_FOLDERS, figure, ran
from inside.cli import many_files
from test_cli_main import process

import viewer
from viewer.errors import MachineError

if TYPE_CHECKING:
    from pathlib import Path

CM = ("--units", "cm", "--up", "y")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a.bvh, b.bvh of 3 frames and deep/a.bvh; the current one."""
    (tmp_path / "deep").mkdir()
    for name in ("a.bvh", "b.bvh", "deep/a.bvh"):
        (tmp_path / name).write_text(FIGURE_BVH, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != many_files.JOURNAL)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def journal(folder: Path) -> list[tuple[str, bool]]:
    lines = (folder / many_files.JOURNAL).read_text(encoding="utf-8").splitlines()
    return sorted((entry["file"], entry["ok"]) for entry in map(json.loads, lines))


def test_the_second_of_two_files_is_not_written_over(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    before = files(folder)
    done = ran(capsys, "convert", "a.bvh", "b.bvh")
    said = "error: b.bvh: is there already: --force replaces it (several inputs need -o FOLDER)\n"
    assert (done.code, done.out, done.err) == (1, "", said)
    done = ran(capsys, "convert", "a.bvh", "b.bvh", "deep/a.bvh")
    assert done.code == 2
    assert done.err.splitlines()[-1].endswith("several inputs need -o FOLDER or -o '{stem}.glb' (or another suffix)")
    done = ran(capsys, "convert", "a.bvh", "deep")
    assert done.err == "error: deep: cannot be written: expected a file, found a folder (-o deep writes into it)\n"
    assert files(folder) == before
    assert ran(capsys, "convert", "a.bvh", "b.bvh", "--force", *CM, "--frames", "0:1").code == 0
    assert "Frames: 2" in (folder / "b.bvh").read_text(encoding="utf-8")


def test_an_output_behind_o_is_replaced(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert ran(capsys, "convert", "a.bvh", "-o", "b.bvh", *CM, "--frame", "0").code == 0
    assert "Frames: 1" in (folder / "b.bvh").read_text(encoding="utf-8")
    done = ran(capsys, "convert", "a.bvh", "b.bvh", "-o", "c.glb")
    assert done.code == 2
    assert done.err.endswith("error: c.glb: one file for 2 inputs: expected -o FOLDER or -o '{stem}.glb'\n")


@pytest.mark.parametrize(
    ("out", "outputs", "jobs"),
    [
        ("out", ["out/a.bvh", "out/b.bvh"], "1"),
        ("out", ["out/a.bvh", "out/b.bvh"], "2"),
        ("out/", ["out/a.bvh", "out/b.bvh"], "1"),
        ("new/er/{stem}.glb", ["new/er/a.glb", "new/er/b.glb"], "1"),
        ("{stem}_slow.bvh", ["a_slow.bvh", "b_slow.bvh"], "1"),
        ("by/{stem}/take.glb", ["by/a/take.glb", "by/b/take.glb"], "1"),
    ],
)
def test_every_input_has_its_output(
    capsys: pytest.CaptureFixture[str], folder: Path, out: str, outputs: list[str], jobs: str
) -> None:
    before = files(folder)
    done = ran(capsys, "convert", "a.bvh", "b.bvh", "-o", out, *CM, "--jobs", jobs)
    told = [f"wrote {name}: 2 joints, 3 frames at 10 fps" for name in outputs]
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [*told, "2 of 2 files converted"]
    after = files(folder)
    assert set(after) - set(before) == set(outputs)
    assert before.items() <= after.items()
    assert journal(folder / out.partition("{")[0]) == [("a.bvh", True), ("b.bvh", True)]


def test_a_folder_keeps_its_shape_and_its_outputs_are_no_inputs(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    for _ in range(2):
        done = ran(capsys, "convert", ".", "-o", "out", *CM)
        assert (done.code, done.out.splitlines()[-1]) == (0, "3 of 3 files converted")
    assert {name for name in files(folder) if name.startswith("out")} == {"out/a.bvh", "out/b.bvh", "out/deep/a.bvh"}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_one_that_fails_stops_no_other(capsys: pytest.CaptureFixture[str], folder: Path, jobs: str) -> None:
    (folder / "bad.bvh").write_text(FIGURE_BVH.replace("2 90 0", "2 90 x"), encoding="utf-8")
    names = ("bad.bvh", "a.bvh", "gone.bvh", "b.bvh")
    done = ran(capsys, "convert", *names, "-o", "out", *CM, "--jobs", jobs)
    assert done.code == 1
    assert done.err.splitlines() == [
        'error: bad.bvh, line 21, column 6: in a frame: expected a finite number, found "x"',
        "error: gone.bvh: no such file or folder",
    ]
    assert done.out.splitlines()[-1] == "2 of 4 files converted, 2 failed"
    assert set(files(folder / "out")) == {"a.bvh", "b.bvh"}
    assert journal(folder / "out") == [("a.bvh", True), ("b.bvh", True), ("bad.bvh", False), ("gone.bvh", False)]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_is_said_of_many_files_is_said_once(capsys: pytest.CaptureFixture[str], folder: Path, jobs: str) -> None:
    for name, frames in (("a.bvh", 9), ("b.bvh", 9), ("c.bvh", 8), ("d.bvh", 9)):
        odd = FIGURE_BVH.replace("Frames: 3", f"Frames: {frames}")
        (folder / name).write_text(odd, encoding="utf-8")
    done = ran(capsys, "convert", "a.bvh", "b.bvh", "c.bvh", "d.bvh", "-o", "out", *CM, "--jobs", jobs)
    assert done.err.splitlines() == [
        "warning: a.bvh: Frames: says 9, found 3",
        "warning: c.bvh: Frames: says 8, found 3",
        "warning: 2 more files: Frames: says 9, found 3",
    ]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_other_numbers_are_said_of_three_files(capsys: pytest.CaptureFixture[str], folder: Path, jobs: str) -> None:
    for name in "abcdef":
        odd = FIGURE_BVH.replace("Frames: 3", f"Frames: {ord(name)}")
        (folder / f"{name}.bvh").write_text(odd, encoding="utf-8")
    done = ran(capsys, "convert", *(f"{name}.bvh" for name in "abcdef"), "-o", "out", *CM, "--jobs", jobs)
    assert done.err.splitlines() == [
        *(f"warning: {name}.bvh: Frames: says {ord(name)}, found 3" for name in "abc"),
        "warning: 3 more files, with other numbers: Frames: says 97, found 3",
    ]


@pytest.mark.usefixtures("folder")
def test_joints_whose_names_differ_in_digits_are_not_alike(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [f'joint "Hand{number}" turned by {number}0.5 degrees' for number in range(1, 6)]
    made += [f"link_{number} turned by 3 degrees" for number in range(1, 6)]
    monkeypatch.setattr("viewer.formats.save.save", lambda *_, **__: made)
    done = ran(capsys, "convert", "a.bvh", "b.bvh", "-o", "out", *CM)
    assert done.err.splitlines() == [
        *(f"warning: out/a.bvh: {line}" for line in made),
        *(f"warning: 1 more file: {line}" for line in made),
    ]


def test_what_went_wrong_inside_is_one_line_too(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr("viewer.formats.save.save", failing)
    home = folder.parent / "home"
    monkeypatch.setenv("IKVIEWER_HOME", str(home))
    done = ran(capsys, "convert", "a.bvh", "b.bvh", "-o", "out", *CM)
    assert done.code == 1
    log = home / "log" / "errors.log"
    fault = f'this file brings out a fault of the program, "ZeroDivisionError: a defect"; its traceback is in {log}'
    assert done.err.splitlines() == [f"error: {name}: {fault}" for name in ("a.bvh", "b.bvh")]
    assert "raise ZeroDivisionError" in log.read_text(encoding="utf-8")
    done = ran(capsys, "convert", "a.bvh", "b.bvh", "-o", "out", *CM, "--debug")
    assert done.err.count("Traceback (most recent call last)") == 2
    assert files(folder / "out") == {}


def test_what_the_machine_lacks_ends_all(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(*_: object, **__: object) -> None:
        raise MachineError("writing USD needs usd-core")

    monkeypatch.setattr("viewer.formats.save.save", lacking)
    done = ran(capsys, "convert", "a.bvh", "b.bvh", "-o", "{stem}.usda", *CM)
    assert (done.code, done.err) == (3, "error: writing USD needs usd-core\n")
    assert not list(folder.glob("*.usda"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("a.bvh deep/a.bvh -o out", "out/a.bvh: would be written from a.bvh and deep/a.bvh: rename one, or "),
        (
            "a.bvh a.bvh -o out",
            "a.bvh: expected each input once, found it twice",
        ),
        (
            "a.bvh b.bvh -o .",
            "a.bvh: is read by this command and would be replaced: --force does so, another name keeps ",
        ),
        (
            "a.bvh b.bvh -o {stem}.bvh",
            "a.bvh: is read by this command and would be replaced: --force does so, another ",
        ),
        (
            "a.bvh b.bvh -o x/../{stem}.bvh",
            "x/../a.bvh: leads to a.bvh, which is read by this command and would be rep",
        ),
        ("a.bvh b.bvh -o LICENSE", "LICENSE: expected a folder for the outputs, found a file"),
        ("a.bvh b.bvh -o {stem}.doc", "a.doc: expected a name that ends in .bvh, .json, "),
        ("a.bvh b.bvh -o {stem}.ikv.json", "a.ikv.json: a session holds what was done in the window"),
        (
            "empty b.bvh -o out",
            f"empty: {IN_FOLDERS}, found",
        ),
        ("a.bvh b.bvh -o out --rig out/a.bvh", "out/a.bvh: is read by this command and would be replaced: give the "),
    ],
)
def test_nothing_is_written_where_one_output_cannot_be(
    capsys: pytest.CaptureFixture[str], folder: Path, words: str, said: str
) -> None:
    for name in ("empty", "out"):
        (folder / name).mkdir()
    (folder / "out" / "a.bvh").write_text(FIGURE_BVH, encoding="utf-8")
    (folder / "LICENSE").write_text("MIT", encoding="utf-8")
    before = files(folder)
    done = ran(capsys, "convert", *words.split(), *CM)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {said}")
    assert files(folder) == before
    assert not (folder / "out" / many_files.JOURNAL).exists()


def test_inputs_are_replaced_when_that_is_asked_for(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert ran(capsys, "convert", "a.bvh", "b.bvh", "-o", "{stem}.bvh", "--force", *CM, "--frame", "1").code == 0
    assert all("Frames: 1" in (folder / name).read_text(encoding="utf-8") for name in ("a.bvh", "b.bvh"))


def test_files_that_accompany_figures_are_left_out_of_a_folder(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    others = {
        "goals": {"type": "goals", "goals": []}, "layers": {"layers": []}, "feet": {"feet": {}}, "map": {"pairs": {}},
        "pose": {"type": "pose", "rotations": {}},
    }  # fmt: skip
    (folder / "in").mkdir()
    for name, tree in others.items():
        (folder / "in" / f"{name}.json").write_text(json.dumps(tree), encoding="utf-8")
    shutil.copy(folder / "a.bvh", folder / "in" / "a.bvh")
    done = ran(capsys, "convert", "in", "-o", "out", *CM)
    assert (done.code, done.err) == (0, "in: left out 5 files of goals, layers or such\n")
    assert done.out.splitlines()[-1] == "1 of 1 file converted"
    # Files that could be anything are tried, and so is one that is named.
    (folder / "in" / "odd.json").write_text('{"type": "screw"}', encoding="utf-8")
    done = ran(capsys, "convert", "in", "-o", "out", *CM)
    assert (done.code, done.out.splitlines()[-1]) == (1, "1 of 2 files converted, 1 failed")
    done = ran(capsys, "convert", "in/goals.json", "-o", "out")
    assert done.err == "error: in/goals.json: this is a goals file; expected a skeleton file\n"


def test_resume_does_what_is_not_done(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    names, out = ("a.bvh", "b.bvh", "gone.bvh"), folder / "out"
    assert ran(capsys, "convert", *names, "-o", "out", *CM).code == 1
    done = ran(capsys, "convert", *names, "-o", "out", *CM, "--resume")
    assert (done.code, done.out) == (1, "0 of 3 files converted, 2 done before, 1 failed\n")
    (folder / "gone.bvh").write_text(FIGURE_BVH, encoding="utf-8")
    (out / "a.bvh").unlink()
    (folder / "b.bvh").write_text(FIGURE_BVH.replace("Frame Time: 0.1", "Frame Time: 0.2"), encoding="utf-8")
    with (out / many_files.JOURNAL).open("a", encoding="utf-8") as broken:
        broken.write('{"file": "a.bv')
    done = ran(capsys, "convert", *names, "-o", "out", *CM, "--resume")
    assert (done.code, done.out.splitlines()[-1]) == (0, "3 of 3 files converted")
    done = ran(capsys, "convert", *names, "-o", "out", *CM, "--resume", "--fps", "5")
    assert done.out.splitlines()[-1] == "3 of 3 files converted"
    done = ran(capsys, "convert", *names, "-o", "out", *CM, "--resume", "--fps", "5")
    assert done.out == "0 of 3 files converted, 3 done before\n"
    whole = (out / "a.bvh").read_bytes()
    (out / "a.bvh").write_bytes(whole[: len(whole) // 2])
    done = ran(capsys, "convert", *names, "-o", "out", *CM, "--resume", "--fps", "5")
    assert done.out.splitlines()[-1] == "1 of 3 files converted, 2 done before"
    assert (out / "a.bvh").read_bytes() == whole
    assert journal(out) == [(name, True) for name in names]
    for single in (("convert", "a.bvh", "c.bvh"), ("solve", "a.bvh", "g.json"), ("feet", ".")):
        done = ran(capsys, *single, "--resume")
        assert done.code == 2
        assert "argument --resume: expected -o FOLDER" in done.err


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions of a POSIX user who is not root")
def test_a_folder_that_cannot_be_written_is_said_once(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "out").mkdir(mode=0o500)
    done = ran(capsys, "convert", "a.bvh", "b.bvh", "-o", "out", *CM)
    assert (done.code, done.err) == (1, "error: out/.batch.jsonl: cannot be written: no permission\n")


def test_a_file_in_the_way_of_the_folder_is_said_once(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "out").write_text("mine", encoding="utf-8")
    done = ran(capsys, "convert", "a.bvh", "b.bvh", "-o", "out/", *CM)
    assert done.code == 1
    assert done.err.splitlines()[0] == "error: out: expected a folder for the outputs, found a file"
    assert done.err.count("\n") == 1
    assert (folder / "out").read_text(encoding="utf-8") == "mine"


def test_samples_and_sessions_have_names_for_their_outputs() -> None:
    names = ["sample:walk", "work.ikv.json", "-", "folder/x.y.BVH"]
    found = many_files.inputs_of(names)
    assert [(each.stem, each.suffix) for each in found] == [
        ("walk", ""), ("work", ".ikv.json"), ("stdin", ""), ("x.y", ".BVH"),
    ]  # fmt: skip
    destination = many_files.Destination("out")
    outputs = [destination.output_of(each, (".bvh", ".json"), ".json").name for each in found]
    assert outputs == ["walk.json", "work.json", "stdin.json", "x.y.BVH"]


def test_check_does_many_at_a_time_and_gives_one_document(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "bad.bvh").write_text("HIERARCHY\n", encoding="utf-8")
    (folder / "odd.bvh").write_text(FIGURE_BVH.replace("Frames: 3", "Frames: 9"), encoding="utf-8")
    names = ("a.bvh", "bad.bvh", "odd.bvh")
    lines = ran(capsys, "check", *names, *CM)
    assert ran(capsys, "check", *names, *CM, "-j", "2") == lines
    found = ran(capsys, "check", *names, *CM, "--json")
    assert (found.code, found.err) == (1, "")
    good, bad, odd = found.json
    assert good == {"file": "a.bvh", "ok": True, "errors": [], "warnings": []}
    assert odd == {"file": "odd.bvh", "ok": True, "errors": [], "warnings": ["Frames: says 9, found 3"]}
    assert (bad["file"], bad["ok"], len(bad["errors"]), bad["warnings"]) == ("bad.bvh", False, 1, [])
    assert f"refused  {bad['errors'][0]}" in lines.out.splitlines()
    quiet = ran(capsys, "check", *names, *CM, "--quiet")
    assert (quiet.code, quiet.out.splitlines()) == (1, [f"refused  {bad['errors'][0]}"])


def test_the_command_itself_starts_processes(folder: Path) -> None:
    done = process("convert a.bvh b.bvh -o out --units cm --up y --jobs 2 --quiet", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    clip = viewer.load(folder / "out" / "b.bvh", units="cm", up="y").clip
    assert clip is not None
    assert len(clip) == 3


def test_options_may_stand_between_the_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = ran(capsys, "convert", figure(tmp_path), "--units", "cm", out, "--up", "y")
    assert done.out == f"wrote {out}: 2 joints, 3 frames at 10 fps\n"


@pytest.mark.skipif(os.name != "posix", reason="how long a name may be there")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("convert {0}.bvh o.json", "the name is too long"),
        ("convert a.bvh {0}.json", "cannot be written: the name is too long"),
        ("convert a.bvh -o {0}.json", "cannot be written: the name is too long"),
        ("convert a.bvh -o {0}/", "cannot be written: the name is too long"),
        ("convert a.bvh o.json --pose {0}.json", "the name is too long"),
        ("solve a.bvh {0}.json", "the name is too long"),
        ("solve a.bvh --goals-from {0}.py:f", "no such file or folder"),
        ("fk a.bvh --pose {0}", "no pose "),
        ("info a.bvh --rig {0}.json", "the name is too long"),
    ],
)
def test_names_that_are_too_long_are_refused_in_a_line(
    capsys: pytest.CaptureFixture[str], folder: Path, words: str, said: str
) -> None:
    before = files(folder)
    done = ran(capsys, *words.format("x" * 300).split(), *CM)
    assert (done.code, done.out) == (1, "")
    assert said in done.err.splitlines()[-1]
    assert done.err.splitlines()[-1].startswith("error: ")
    assert files(folder) == before
    assert ran(capsys, "check", "x" * 300 + ".bvh").code == 1


def test_behind_two_dashes_all_are_files(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "a.bvh").rename("-a.bvh")
    assert ran(capsys, "convert", *CM, "--", "-a.bvh", "-b.bvh").out.startswith("wrote -b.bvh: ")
