"""x.py: sets up once, notices changes, repairs what is incomplete, and passes the job's exit code on."""

from __future__ import annotations

import ast
import os
import signal
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import x


class FakeSetup:
    """A checkout whose environments and installations are only written down."""

    def __init__(self) -> None:
        self.made = 0
        self.installed: list[list[str]] = []
        self.fails = False

    def make_environment(self, folder: Path, _uv: str | None) -> None:
        self.made += 1
        python = x.venv_python(folder)
        python.parent.mkdir(parents=True, exist_ok=True)
        python.write_text("an interpreter")

    def install(self, _python: Path, what: list[str], _uv: str | None) -> None:
        self.installed.append(what)
        if self.fails:
            raise x.SetupError("no network")


def use_checkout(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(x, "ROOT", folder)
    monkeypatch.setattr(x, "VENV", folder / ".venv")
    monkeypatch.setattr(x, "STAMP", folder / ".venv" / "x.py-stamp")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeSetup:
    setup = FakeSetup()
    (tmp_path / "pyproject.toml").write_text("first")
    use_checkout(monkeypatch, tmp_path)
    monkeypatch.setattr(x, "find_uv", lambda: "uv")
    monkeypatch.setattr(x, "missing_packages", lambda _extra, _uv: [])
    monkeypatch.setattr(x, "is_usable", lambda python, _uv: python.exists())
    monkeypatch.setattr(x, "make_environment", setup.make_environment)
    monkeypatch.setattr(x, "install", setup.install)
    return setup


def test_the_script_is_readable_to_python_3_8_which_must_be_able_to_say_that_it_is_too_old() -> None:
    ast.parse((ROOT / "x.py").read_text(encoding="utf-8"), feature_version=(3, 8))


def test_an_old_python_is_told_which_one_is_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 9))
    assert x.main(["run"]) == 1
    assert capsys.readouterr().err.startswith("x.py: Python 3.11 or newer is needed; this is ")


def test_the_minimum_python_is_the_one_of_the_project() -> None:
    oldest = ".".join(map(str, x.OLDEST_PYTHON))
    assert f'requires-python = ">={oldest}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_first_call_makes_and_installs_and_the_second_does_neither(fake: FakeSetup) -> None:
    x.environment()
    x.environment()
    assert (fake.made, fake.installed) == (1, [["-e", "."]])


def test_the_tests_need_an_installation_of_their_own_which_serves_run_as_well(fake: FakeSetup) -> None:
    x.environment()
    x.environment("test")
    x.environment()
    x.environment("test")
    assert (fake.made, fake.installed) == (1, [["-e", "."], ["-e", ".[test]"]])


def test_a_changed_pyproject_installs_again_into_the_same_environment(fake: FakeSetup) -> None:
    x.environment()
    (x.ROOT / "pyproject.toml").write_text("second")
    x.environment()
    assert (fake.made, len(fake.installed)) == (1, 2)


def test_a_moved_checkout_gets_a_new_environment(
    fake: FakeSetup, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    x.environment()
    moved = tmp_path.with_name(f"{tmp_path.name}-moved")
    tmp_path.rename(moved)
    use_checkout(monkeypatch, moved)
    x.environment()
    assert (fake.made, len(fake.installed)) == (2, 2)


def test_an_installation_that_failed_is_tried_again(fake: FakeSetup) -> None:
    x.environment()
    fake.fails = True
    with pytest.raises(x.SetupError, match="no network"):
        x.environment("test")
    fake.fails = False
    x.environment()
    assert fake.installed == [["-e", "."], ["-e", ".[test]"], ["-e", "."]]


def test_an_environment_whose_interpreter_is_gone_is_made_again(fake: FakeSetup) -> None:
    x.environment()
    x.venv_python(x.VENV).unlink()
    x.environment()
    assert (fake.made, len(fake.installed)) == (2, 2)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], ["sample:biped"]),
        (["walk.bvh", "--json"], ["walk.bvh", "--json"]),
        (["--json"], ["sample:biped", "--json"]),
    ],
)
def test_run_shows_the_file_or_the_bundled_biped(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], shown: list[str]
) -> None:
    jobs: list[list[str]] = []

    def write_down(command: list[str]) -> int:
        jobs.append(command)
        return 5

    monkeypatch.setattr(x, "environment", lambda: Path("python"))
    monkeypatch.setattr(x, "run_job", write_down)
    assert x.main(["run", *arguments]) == 5
    assert jobs == [["python", "-P", "-m", "viewer", x.RUN_COMMAND, *shown]]


def test_processes_that_tests_start_keep_their_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: list[str | None] = []

    def look(_command: list[str], _folder: Path) -> int:
        settings.append(os.environ.get("PYTHONDONTWRITEBYTECODE"))
        return 0

    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(x, "environment", lambda _extra: Path(sys.executable))
    monkeypatch.setattr(x, "see_to_readers", lambda: None)
    monkeypatch.setattr(x, "run_job", look)
    assert x.main(["test"]) == 0
    assert settings == [None]


def test_the_exit_code_of_the_job_is_passed_on() -> None:
    assert x.run_job([sys.executable, "-c", "raise SystemExit(7)"]) == 7


@pytest.mark.skipif(os.name == "nt", reason="no signals there")
def test_a_job_that_dies_by_a_signal_is_told_as_shells_tell_it() -> None:
    script = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert x.run_job([sys.executable, "-c", script]) == 128 + signal.SIGTERM


def test_every_gate_is_run_and_the_failed_ones_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(x, "environment", lambda _extra: Path("python"))
    monkeypatch.setattr(x, "run_quietly", lambda command: ("mypy" not in command and "ruff" not in command, ""))
    assert x.main(["gates"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "x.py: gates failed: style, format, types"


def test_an_unknown_command_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert x.main(["tset"]) == 2
    assert capsys.readouterr().err == 'x.py: no command "tset"; there is run, test, gates\n'


@pytest.mark.parametrize(
    ("output", "names_the_compiler"),
    [
        ("error: [Errno 2] No such file or directory: 'x86_64-linux-gnu-g++'\nFailed to build glcontext", True),
        ("error: command 'gcc' failed: No such file or directory", True),
        ("error: Microsoft Visual C++ 14.0 or greater is required.", True),
        ("fatal error: Python.h: No such file or directory", True),
        ("ERROR: No matching distribution found for imgui-bundle<2,>=1.92.5", False),
        ("OSError: Readme file does not exist: README.md", False),
    ],
)
def test_a_failed_installation_says_so_and_names_the_compiler_where_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, output: str, names_the_compiler: bool
) -> None:
    monkeypatch.setattr(x, "run_quietly", lambda _command: (False, output))
    with pytest.raises(x.SetupError) as caught:
        x.install(Path("python"), ["-e", "."], None)
    assert str(caught.value).startswith(f"could not install -e .:\n{output}")
    assert ("build-essential" in str(caught.value)) is names_the_compiler


def test_without_ensurepip_the_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(x.SetupError, match="apt-get install python3-venv"):
        x.make_environment(tmp_path / "new", None)
    assert "python3-venv" in x.missing_packages("", None)
    assert "python3-venv" not in x.missing_packages("", "uv")
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="system packages are seen to on Linux only")
@pytest.mark.parametrize(
    ("tool", "told"),
    [
        ("/usr/bin/apt-get", "missing: libgl1 xvfb. Run: sudo apt-get install -y libgl1 xvfb"),
        (None, "missing: what Debian calls libgl1 xvfb; install your system's packages for it"),
    ],
)
def test_missing_system_packages_are_told_in_one_line_where_they_may_not_be_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tool: str | None, told: str
) -> None:
    monkeypatch.setattr(x, "missing_packages", lambda _extra, _uv: ["libgl1", "xvfb"])
    monkeypatch.setattr("shutil.which", lambda name: tool if name == "apt-get" else None)
    monkeypatch.setattr(x, "root_prefix", lambda: None)
    x.see_to_packages("test", "uv", may_install=True)
    assert capsys.readouterr().err == f"x.py: {told}\n"
