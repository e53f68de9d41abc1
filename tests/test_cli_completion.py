"""``ikviewer completion``: what it offers, asked of a real bash where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, get_args

import pytest
from cli_run import figure, ran
from conftest import ROOT
from inside.cli import COMMANDS, SHELLS, actions_of, command_parser, completion
from inside.formats import READ, FormatWord, sample_names

if TYPE_CHECKING:
    from pathlib import Path

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None or sys.platform == "win32", reason="bash is not installed")
ASK = """
source "$1"
COMP_LINE=$2; COMP_POINT=${#2}
_ikviewer
printf '%s\\n' "${COMPREPLY[@]}"
"""
"""Completes the line as bash does when TAB is pressed at its end."""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("bash") / "ikviewer"
    file.write_text(completion.bash(completion.commands(), completion.samples()), encoding="utf-8")
    return file


def offered(script: Path, folder: Path, line: str) -> list[str]:
    assert BASH is not None
    words = [BASH, "--norc", "-c", ASK, "bash", str(script), line]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1] if done.stdout != "\n" else []


@needs_bash
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ikviewer con", ["convert"]),
        ("ikviewer help sol", ["solve"]),
        ("ikviewer --quiet inf", ["info"]),
        ("ikviewer solve --solv", ["--solver"]),
        ("ikviewer solve a.bvh g.json --solver two", ["two-link"]),
        ("ikviewer solve a.bvh --bend ", ["up", "down"]),
        ("ikviewer solve --units c", ["cm"]),
        ("ikviewer view --window h", ["headless"]),
        ("ikviewer info sample:wa", ["walk"]),
        ("ikviewer info sampl", ["sample:" + name for name in sample_names()]),
        ("ikviewer info fig", ["figure.bvh"]),
        ("ikviewer info ", ["with\\ blank.bvh", "figure.bvh", "deep/", "UP.BVH"]),
        ("ikviewer info deep/", ["deep/inner.glb"]),
        ("ikviewer info figure.bvh --rig U", ["UP.BVH"]),
        ("ikviewer convert figure.bvh deep/in", ["deep/inner.glb"]),
        ("ikviewer solve figure.bvh not", ["notes.txt"]),
        ("ikviewer fk figure.bvh --pose re", ["rest", "relaxed"]),
        ("ikviewer render a.bvh --camera three", ["three-quarter"]),
        ("ikviewer completion z", ["zsh"]),
        ("ikviewer bench spe", ["speed"]),
        ("ikviewer fig", ["figure.bvh"]),
        ("ikviewer figure.bvh --no-l", ["--no-limits"]),
        ("ikviewer --siz", []),
        ("ikviewer fk --frame ", []),
        ("ikviewer info nothing-like-it", []),
    ],
)
def test_bash_offers(script: Path, tmp_path: Path, line: str, words: list[str]) -> None:
    figure(tmp_path)
    for name in ("with blank.bvh", "notes.txt", "UP.BVH", "deep/inner.glb", "deep/picture.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert sorted(offered(script, tmp_path, line)) == sorted(words)


@needs_bash
@pytest.mark.parametrize("command", COMMANDS)
def test_bash_offers_every_option_of_every_command(script: Path, tmp_path: Path, command: str) -> None:
    known = {name for action in actions_of(command_parser(command)) for name in action.option_strings}
    assert set(offered(script, tmp_path, f"ikviewer {command} --")) == {name for name in known if name[:2] == "--"}


@needs_bash
def test_the_functions_leave_no_variables_behind(script: Path) -> None:
    assert BASH is not None
    asked = 'source "$1"; COMP_LINE="ikviewer solve --sol"; COMP_POINT=20; was=; was=$(compgen -v); _ikviewer'
    line = f'{asked}; compgen -v | grep -vxF "$was"'
    done = subprocess.run([BASH, "--norc", "-c", line, "b", str(script)], capture_output=True, text=True, check=False)
    assert set(done.stdout.split()) <= {"COMPREPLY", "PIPESTATUS", "BASH_REMATCH"}


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_all_commands_options_and_samples(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    done = ran(capsys, "completion", shell)
    assert (done.code, done.err) == (0, "")
    for command in completion.commands():
        assert command.name in done.out
        for option in command.options:
            for name in option.names:
                spelled = name if shell != "fish" else f"-l {name[2:]}" if name[:2] == "--" else f"-s {name[1:]}"
                assert re.search(rf"(?<![-\w]){re.escape(spelled)}(?![-\w])", done.out), (command.name, name)
    assert all(f"sample:{name}" in done.out for name in sample_names())


def test_another_shell_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    done = ran(capsys, "completion", "fsh")
    assert done.code == 2
    assert 'argument SHELL: no shell "fsh"; did you mean "fish" or "zsh"?' in done.err


def test_names_are_those_of_the_library() -> None:
    assert set(completion.SUFFIXES) == {suffix[1:] for suffix in READ}
    words = tuple(suffix[1:] for suffix in READ)
    assert get_args(FormatWord) == words, "correct FormatWord of viewer/formats/file_formats.py: it has these words"
    assert completion.samples() == [f"sample:{name}" for name in sample_names()]


def test_version_help_and_completion_load_no_numpy() -> None:
    lines = [["--version"], ["help"], ["--help"], ["completion", "bash"], ["dance"]]
    lines += [[command, "--help"] for command in COMMANDS]
    asked = f"""
import contextlib, io, sys
from viewer.cli.main import main
for words in {lines!r}:
    screen = io.StringIO()
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        main(words)
    heavy = {{"numpy", "msgspec", "PIL", "tqdm", "dataclasses"}} & set(sys.modules)
    assert not heavy, (words, heavy)
"""
    done = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
