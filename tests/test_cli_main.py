"""The command as a whole: usage, help, version, exit codes, streams."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from cli_run import figure, ran
from conftest import ROOT
from inside.cli import COMMANDS, Result, ViewOptions, job
from inside.session import DEMOS

import viewer
from viewer.errors import MachineError

if TYPE_CHECKING:
    from pathlib import Path

needs_posix = pytest.mark.skipif(os.name != "posix", reason="shell plumbing of POSIX systems")


def process(arguments: str, folder: Path, *, shell: str = "{}") -> subprocess.CompletedProcess[str]:
    """Run the command as a program of its own, in a folder, plumbed as ``shell`` says."""
    line = shell.format(f'"{sys.executable}" -m viewer {arguments}')
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        ([], "sample:biped"),
        (["walk.bvh"], "walk.bvh"),
        (["sample:walk", "--no-limits"], "sample:walk"),
        (["--size", "1000x700"], "sample:biped"),
        (["--size", "1000x700", "walk.bvh"], "walk.bvh"),
        (["--debug", "walk.bvh"], "walk.bvh"),
        (["view", "walk.bvh"], "walk.bvh"),
    ],
)
def test_without_a_command_it_opens_the_window(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], file: str
) -> None:
    shown: list[str] = []

    def showing(options: ViewOptions) -> Result:
        shown.append(options.file)
        return Result()

    monkeypatch.setattr("viewer.cli.view_command.run_view", showing)
    assert ran(capsys, *arguments) == (0, "", "")
    assert shown == [file]


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    done = ran(capsys, "--help")
    assert done.code == 0
    assert all(f"\n    {command} " in done.out for command in COMMANDS)


def test_help_is_a_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "help") == ran(capsys, "--help") == ran(capsys, "--quiet", "help")
    for command in COMMANDS:
        assert ran(capsys, "help", command) == ran(capsys, command, "--help")
    done = ran(capsys, "help", "cnvert")
    assert done.code == 2
    assert done.err.splitlines()[-1] == 'ikviewer: error: no command "cnvert"; did you mean "convert"?'


@pytest.mark.parametrize(
    ("words", "usage", "line"),
    [
        (
            "covert a.bvh b.bvh",
            "ikviewer [FILE]",
            'ikviewer: error: no command or file "covert"; did you mean "convert"?',
        ),
        ("pose --help", "ikviewer [FILE]", 'ikviewer: error: no command or file "pose"; did you mean "poses"'),
        ("--help pose", "ikviewer [FILE]", 'ikviewer: error: no command or file "pose"; did you mean "poses"'),
        ("--debug inof", "ikviewer [FILE]", 'ikviewer: error: no command or file "inof"; did you mean "info"?'),
        (
            "solve a g --sovler dls",
            "ikviewer solve ",
            'ikviewer solve: error: no option "--sovler"; did you mean "--solver"?',
        ),
        ("fk a.bvh --frmae=3", "ikviewer fk ", 'ikviewer fk: error: no option "--frmae"; did you mean "--frame" or '),
        (
            "solve a g --from 3",
            "ikviewer solve ",
            'ikviewer solve: error: no option "--from"; did you mean "--from-rest" ',
        ),
        (
            "info a.bvh --feathers",
            "ikviewer info ",
            'ikviewer info: error: no option "--feathers"; "ikviewer info --help" li',
        ),
        ("info a.bvh b.bvh", "ikviewer info ", 'ikviewer info: error: expected no more arguments, found "b.bvh"'),
        (
            "convert a b --tofps 3",
            "ikviewer convert ",
            'ikviewer convert: error: no option "--tofps"; did you mean "--',
        ),
        (
            "a.bvh --no-limit",
            "ikviewer view ",
            'ikviewer view: error: no option "--no-limit"; did you mean "--no-limits"?',
        ),
        (
            "solve a g --backend nunpy",
            "ikviewer solve ",
            'ikviewer solve: error: argument --backend: no backend "nunpy"; ',
        ),
    ],
)
def test_what_is_mistyped_is_answered_by_what_is_near(
    capsys: pytest.CaptureFixture[str], words: str, usage: str, line: str
) -> None:
    done = ran(capsys, *words.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"usage: {usage}")
    assert done.err.splitlines()[-1].startswith(line)


@pytest.mark.parametrize("words", [["solve", "sample:two-link", "g.json"], ["fk", "sample:two-link"], ["samples"]])
def test_quiet_keeps_what_was_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.json").write_text('{"goals": [{"effector": "tip", "pin": true}], "colour": 1}', encoding="utf-8")
    done = ran(capsys, *words, "--quiet")
    assert (done.code, done.err) == (0, "")
    assert done.out
    assert not ran(capsys, "info", "nowhere.bvh", "--quiet").err.startswith("warning")
    assert ran(capsys, "info", "nowhere.bvh", "--quiet").code == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples_and_a_version(capsys: pytest.CaptureFixture[str], command: str) -> None:
    done = ran(capsys, command, "--help")
    assert done.code == 0
    assert "examples:\n" in done.out
    assert f"\n  ikviewer {command}" in done.out
    assert ran(capsys, command, "--version") == (0, f"ikviewer {viewer.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dance"], 'no command or file "dance"; there is "view", "info", "fk", '),
        (["info"], "the following arguments are required: FILE"),
        (["edit"], "the following arguments are required: FILE, -o/--output"),
        (["edit", "--add", "a", "in.bvh"], "the following arguments are required: -o/--output"),
        (["edit", "-o", "out.bvh"], "the following arguments are required: FILE"),
        (["build", "--chian", "5", "-o", "a.json"], 'no option "--chian"; did you mean "--chain"?'),
        (["edit", "--", "--jsn"], "the following arguments are required: -o/--output"),
        (["info", "a.bvh", "--jsn"], 'no option "--jsn"; did you mean "--json"?'),
        (["info", "a.bvh", "--js"], 'no option "--js"; did you mean "--json"?'),
        (["info", "a.bvh", "--units", "feet"], "argument --units: expected auto, m, cm, mm, inch, raw or metres per "),
        (["info", "a.bvh", "--units", "-1"], "argument --units: expected"),
        (["check", "a.bvh", "--up", "x"], 'argument --up: expected auto, y, z, found "x"'),
        (["fk", "a.bvh", "--frame", "1.5"], 'argument --frame: expected a whole number, 0 or more, found "1.5"'),
        (["fk", "a.bvh", "--frame", "-1"], 'argument --frame: expected a whole number, 0 or more, found "-1"'),
        (["render", "a.bvh", "-o", "a.png", "--frame", "-1"], "argument --frame: expected a whole number, 0 or more"),
        (["convert", "a.bvh", "b.bvh", "--frame", "-1"], "argument --frame: expected a whole number, 0 or more"),
        (["view", "a.bvh", "--frame", "-1"], "argument --frame: expected a whole number, 0 or more, found"),
        (["view", "a.bvh", "--size", "10x10"], "argument --size: expected 960x600 to 16384x16384, found 10x10"),
        (["view", "a.bvh", "--size", "10"], 'argument --size: expected WxH such as 1280x720, found "10"'),
        (
            ["solve", "a.bvh", "g.json", "--prefer-weight", "2"],
            'argument --prefer-weight: expected a number from 0 to 1, found "2"',
        ),
        (["fk", "a.bvh", "--frames", "1:"], 'argument --frames: expected A, A:B or A:B:STEP, counted from 0, found "1'),
        (["fk", "a.bvh", "--frames", "5:3"], 'argument --frames: expected A <= B and a step of 1 or more, found "5:3"'),
        (["fk", "a.bvh", "--frames", "0:4:0"], "argument --frames: expected A <= B and a step of 1 or more"),
        (["fk", "a.bvh", "--frame", "1", "--pose", "rest"], "argument --pose: not allowed with argument --frame"),
        (["convert", "a.bvh", "b.bvh", "--fps", "0"], 'argument --fps: expected a number above 0, found "0"'),
        (["convert", "a.bvh", "b.bvh", "--fps", "nan"], 'argument --fps: expected a number above 0, found "nan"'),
        (["convert", "a.bvh", "b.bvh", "--frame-time", "inf"], "argument --frame-time: expected a number above 0"),
        (["convert", "a.bvh", "b.bvh", "--frames", "0,3"], "argument --frames: expected A, A:B or A:B:STEP"),
        (["convert", "a.bvh", "b.bvh", "--to-units", "raw"], "argument --to-units: expected m, cm, mm, inch or metres"),
        (["convert", "a.bvh", "b.bvh", "--to-units", "ell"], "argument --to-units: expected m, cm, mm, inch or metres"),
        (["convert", "a.bvh", "b.bvh", "--to-up", "x"], 'argument --to-up: no axis "x"; there is "y", "z"'),
        (
            ["convert", "a.bvh", "b.bvh", "--precision", "18"],
            "argument --precision: expected a whole number from 0 to ",
        ),
        (["convert", "a.bvh"], "the following arguments are required: OUT"),
        (["build", "--chain", "3", "-o", ""], 'expected the name of a file to write, found ""'),
        (["fk", "a.bvh", "--clip", "run"], "argument --clip: expected --frame or --frames with it"),
    ],
)
def test_wrong_usage_exits_with_2(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    done = ran(capsys, *arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("usage: ikviewer")
    assert message in done.err.splitlines()[-1]


def test_debug_shows_a_traceback_wherever_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    plain = ran(capsys, "info", "nowhere.bvh")
    assert plain == (1, "", "error: nowhere.bvh: no such file or folder\n")
    for arguments in (["--debug", "info", "nowhere.bvh"], ["info", "nowhere.bvh", "--debug"]):
        done = ran(capsys, *arguments)
        assert done.code == 1
        assert done.err.startswith("Traceback ")
        assert done.err.endswith("error: nowhere.bvh: no such file or folder\n")


def test_what_the_machine_lacks_exits_with_3(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(_: object) -> int:
        raise MachineError("no display: run under xvfb-run")

    monkeypatch.setattr("viewer.cli.file_commands.run_samples", lacking)
    assert ran(capsys, "samples") == (3, "", "error: no display: run under xvfb-run\n")


@pytest.mark.parametrize(
    ("failure", "code", "line"),
    [(MemoryError, 1, "error: not enough memory for this\n"), (KeyboardInterrupt, 130, "interrupted\n")],
)
def test_memory_and_interrupts_end_in_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    failure: type[BaseException],
    code: int,
    line: str,
) -> None:
    def failing(_: object) -> int:
        raise failure

    monkeypatch.setattr("viewer.cli.file_commands.run_samples", failing)
    assert ran(capsys, "samples") == (code, "", line)


def test_an_interrupt_of_a_library_that_loads_is_an_interrupt(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_: object) -> int:
        raise MachineError("MuJoCo cannot be loaded: initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr("viewer.cli.file_commands.run_samples", failing)
    assert ran(capsys, "samples") == (130, "", "interrupted\n")


@pytest.mark.parametrize("arguments", [["poses"], ["check"], ["info"], ["simulate", "sample:biped", "--object"]])
def test_a_name_that_is_too_long_is_no_fault_of_the_program(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    name = "a" * 300 + ".obj"
    done = ran(capsys, *arguments, f"mesh:{name}" if "--object" in arguments else name)
    assert done.code == 1
    assert len((done.out + done.err).splitlines()) == 1
    assert "fault" not in done.out + done.err


@pytest.mark.parametrize("words", ["info", "fk", "solve --from-rest", "render -o out.png", "view --window headless"])
def test_a_fault_of_the_program_is_one_line_that_names_the_log(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setenv("IKVIEWER_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("viewer.formats.bvh.read_bvh", failing)
    file, log = figure(tmp_path), tmp_path / "home" / "log" / "errors.log"
    command, *options = words.split()
    arguments = [command, str(file), *(["goals.json"] if command == "solve" else []), *options]
    line = f'error: {file}: this file brings out a fault of the program, "ZeroDivisionError: by zero"'
    assert ran(capsys, *arguments) == (1, "", f"{line}; its traceback is in {log}\n")
    assert "raise ZeroDivisionError" in log.read_text(encoding="utf-8")
    done = ran(capsys, *arguments, "--debug")
    assert done.err.startswith("Traceback (most recent call last)")
    assert done.err.splitlines()[-1].startswith(line)


def test_python_m_viewer_is_the_command(tmp_path: Path) -> None:
    done = process("--version", tmp_path)
    assert (done.returncode, done.stdout) == (0, f"ikviewer {viewer.__version__}\n")
    done = process("info gone.bvh", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "error: gone.bvh: no such file or folder\n")


@needs_posix
@pytest.mark.parametrize(
    ("plumbing", "code", "error"),
    [
        ("{{ {0}; echo $? >code; }} | head -n 1; exit $(cat code)", 0, ""),
        ("{0} >&-", 0, ""),
        ("{0} 2>&-", 0, ""),
    ],
)
def test_a_reader_that_has_gone_and_closed_streams_are_no_failure(
    tmp_path: Path, plumbing: str, code: int, error: str
) -> None:
    done = process("fk sample:walk --frames 0:67 --json", tmp_path, shell=plumbing)
    assert (done.returncode, done.stderr) == (code, error)


@needs_posix
def test_files_are_written_although_the_reader_of_the_output_has_gone(tmp_path: Path) -> None:
    names = [f"{place}.bvh" for place in range(4)]
    for name in names:
        figure(tmp_path).rename(tmp_path / name)
    gone = "{{ {0}; echo $? >code; }} | true; exit $(cat code)"
    done = process(f"convert {' '.join(names)} -o out --units cm --up y", tmp_path, shell=gone)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "out").glob("*.bvh")) == names
    (tmp_path / "1.bvh").write_text("no skeleton", encoding="utf-8")
    assert process(f"convert {' '.join(names)} -o again --units cm --up y --json", tmp_path, shell=gone).returncode == 1


@needs_posix
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")  # noqa: PTH110 - no Path at import
@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    [
        ("samples", ""),
        ("fk sample:walk --frames 0:67 --json", "1"),
        ("--help", ""),
        ("help solve", "1"),
        ("--version", ""),
        ("--version", "1"),
    ],
)
def test_a_full_disk_behind_stdout_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, unbuffered: str
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)  # empty counts as unset
    done = process(arguments, tmp_path, shell="{} >/dev/full")
    assert (done.returncode, done.stderr) == (1, "error: standard output: cannot be written: the disk is full\n")


@needs_posix
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")  # noqa: PTH110 - no Path at import
@pytest.mark.parametrize(("arguments", "code"), [("info gone.bvh", 1), ("nosuch", 2), ("convert figure.bvh a.bvh", 0)])
def test_a_full_disk_behind_stderr_does_not_change_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, code: int
) -> None:
    figure(tmp_path)
    monkeypatch.setenv("PYTHONUNBUFFERED", "")
    assert process(arguments, tmp_path, shell="{} 2>/dev/full").returncode == code


@needs_posix
@pytest.mark.parametrize("arguments", ["--help", "solve --help", "--version"])
def test_help_for_a_reader_that_has_gone_is_no_failure(tmp_path: Path, arguments: str) -> None:
    gone = "{{ {0}; echo $? >code; }} | true; exit $(cat code)"
    done = process(arguments, tmp_path, shell=gone)
    assert (done.returncode, done.stderr) == (0, "")


def test_names_that_the_terminal_cannot_show_are_escaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = figure(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("Knee", "膝"), encoding="utf-8")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = process("fk figure.bvh --units cm", tmp_path)
    assert done.returncode == 0
    assert "\\u819d" in done.stdout


def test_json_keeps_vectors_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    document: job.Json = {"a": [0.1, 0.2, 0.3], "long": [[1.5] * 12, [2.5] * 12], "none": {}, "name": "é"}
    assert job.written([1.0, 2.0]) == "[1.0, 2.0]"
    job.print_json(document)
    printed = capsys.readouterr().out
    assert json.loads(printed) == document
    assert printed.splitlines()[:3] == ["{", ' "a": [0.1, 0.2, 0.3],', ' "long": [']
    assert "  [" + ", ".join(["1.5"] * 12) + "]," in printed.splitlines()


def test_json_has_null_for_what_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    job.print_json({"a": [math.nan, 1.0], "b": {"c": -math.inf}})
    assert capsys.readouterr().out == '{"a": [null, 1.0], "b": {"c": null}}\n'


def test_samples_lists_every_bundled_skeleton_and_demo(capsys: pytest.CaptureFixture[str]) -> None:
    done = ran(capsys, "samples")
    assert (done.code, done.err) == (0, "")
    names = {"biped", "biped-hands", "claw-arm", "quadruped", "raptor", "serpent", "two-link", "piston", "walk"}
    demos = {f"demo:{demo.id}" for demo in DEMOS}
    shown = {f"sample:{name}" for name in names | {"chain-N"}} | demos
    assert {line.split()[0] for line in done.out.splitlines()} == shown
    listed = ran(capsys, "samples", "--json").json
    assert {entry["name"] for entry in listed} == {f"sample:{name}" for name in names}
    walk = next(entry for entry in listed if entry["name"] == "sample:walk")
    assert walk["frames"] > 0
    assert 1.5 < walk["size"] < 2.0
