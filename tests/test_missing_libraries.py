"""Without the window's, the compiler's and the extras' libraries the core does all of its work; what needs one says so.

An environment that really lacks them is made by `.ci/wheel_test.py`; here the libraries are hidden.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from conftest import ROOT
from inside.app import app
from inside.cli import main

import viewer
from viewer.errors import MachineError, missing_library

if TYPE_CHECKING:
    from pathlib import Path

HIDDEN = (
    "glcontext", "glfw", "imageio_ffmpeg", "imgui_bundle", "llvmlite", "moderngl", "moderngl_window", "mujoco", "numba",
    "pxr", "pyglet", "pygltflib", "pyrr", "trimesh",
)  # fmt: skip
HIDE = f"""
import contextlib, io, json, os, sys
sys.modules.update(dict.fromkeys({HIDDEN!r}))
os.environ["PATH"] = ""  # no ffmpeg
"""
COMMANDS = (
    HIDE
    + """
from viewer.cli.main import main
told = {}
for line in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(line.split())
    told[line] = code, out.getvalue(), err.getvalue()
print(json.dumps(told))
"""
)
GOALS = {"goals": [{"effector": "LeftHand", "position": [0.4, 1.2, 0.3]}]}
WORKS = (
    "info sample:walk",
    "fk sample:walk --frame 3 --json",
    "check sample:walk sample:biped",
    "samples",
    "solve sample:biped goals.json --json -o pose.json",
    *(f"convert sample:walk walk.{suffix}" for suffix in ("bvh", "json", "npz", "csv", "glb", "gltf")),
    "info walk.glb",
    "check walk.gltf walk.npz",
)
REFUSED = {
    "solve sample:biped goals.json --backend numba": 'backend "numba" needs numba: python3 -m pip install numba',
    "render sample:biped -o a.png": "drawing needs pyrr, moderngl: python3 -m pip install pyrr moderngl",
    "render sample:walk -o a.mp4": "MP4 needs ffmpeg: python3 -m pip install imageio-ffmpeg, "
    "or your system's ffmpeg (Debian, Ubuntu: apt install ffmpeg)",
    "solve sample:biped goals.json -o a.png": "drawing needs pyrr, moderngl: python3 -m pip install pyrr moderngl",
    "convert sample:walk a.obj": "writing .obj needs trimesh: python3 -m pip install trimesh",
    "convert sample:walk a.stl": "writing .stl needs trimesh: python3 -m pip install trimesh",
    "convert sample:walk a.usda": "writing USD needs usd-core: python3 -m pip install usd-core",
    "simulate sample:biped": "physics needs MuJoCo: pip install 'ikviewer[physics]'",
    "convert sample:biped a.xml": "physics needs MuJoCo: pip install 'ikviewer[physics]'",
    "view sample:biped": "the window needs moderngl, imgui-bundle, pyrr, moderngl-window, glfw: "
    'python3 -m pip install moderngl "imgui-bundle>=1.93" pyrr moderngl-window glfw',
    "view sample:biped --window headless": "the window needs moderngl, imgui-bundle, pyrr: "
    'python3 -m pip install moderngl "imgui-bundle>=1.93" pyrr',
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    """What each command gives: exit code, stdout and stderr."""
    folder = tmp_path_factory.mktemp("core")
    (folder / "goals.json").write_text(json.dumps(GOALS))
    lines: dict[str, tuple[int, str, str]] = json.loads(ran(COMMANDS, folder, json.dumps([*WORKS, *REFUSED])))
    assert not list(folder.glob("a.*"))  # of what was refused nothing is written
    return lines


def ran(script: str, folder: Path, given: str = "") -> str:
    """What a script prints, run by a Python of its own in a folder."""
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{script}"
    done = subprocess.run(
        [sys.executable, "-c", script], input=given, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("line", WORKS)
def test_the_core_works_without_the_others(line: str, told: dict[str, tuple[int, str, str]]) -> None:
    code, _, error = told[line]
    assert code == 0, error


@pytest.mark.skipif(platform.machine() == "x86_64" and sys.platform == "darwin", reason="no window there: said so")
@pytest.mark.parametrize("line", REFUSED)
def test_what_needs_a_missing_library_ends_with_3_and_one_line_that_cures_it(
    line: str, told: dict[str, tuple[int, str, str]]
) -> None:
    code, output, error = told[line]
    assert (code, output) == (3, "")
    assert error.splitlines()[-1] == f"error: {REFUSED[line]}"
    assert not [other for other in error.splitlines()[:-1] if not other.startswith("warning: ")]


def test_the_library_says_the_same_and_auto_takes_numpy(tmp_path: Path) -> None:
    script = (
        HIDE
        + """
import viewer
character = viewer.load("sample:biped")
goals = [viewer.Goal.position("LeftHand", (0.4, 1.2, 0.3))]
start = character.skeleton.relaxed_pose()
viewer.ik.warm_up()  # does nothing, and says nothing
found = viewer.Solver(character.skeleton, goals, backend="auto").solve(start)
said = [found.backend, str(found.status)]
for call in (
    lambda: viewer.Solver(character.skeleton, goals, backend="numba").solve(start),
    lambda: viewer.render(character),
    lambda: viewer.view(character),
    lambda: viewer.save(character, "a.ply"),
):
    try:
        call()
    except viewer.MachineError as error:
        said.append(str(error).partition(":")[0])
print(json.dumps(said))
"""
    )
    assert json.loads(ran("import viewer.ik\n" + script, tmp_path)) == [
        "numpy",
        "converged",
        'backend "numba" needs numba',
        "drawing needs pyrr, moderngl",
        "the window needs moderngl, imgui-bundle, pyrr, moderngl-window, glfw",
        "writing .ply needs trimesh",
    ]


def test_drawing_without_moderngl_or_what_it_loads_is_refused(tmp_path: Path) -> None:
    for name in ("moderngl", "glcontext"):
        script = f"""
import sys, viewer
sys.modules[{name!r}] = None
try:
    viewer.render(viewer.load("sample:two-link"))
except viewer.MachineError as error:
    print(error)
"""
        assert ran(script, tmp_path) == f"drawing needs {name}: python3 -m pip install {name}\n"


def test_a_library_that_cannot_be_loaded_is_told_in_its_own_words() -> None:
    error = missing_library("drawing", ImportError("libX11.so.6: cannot open\n shared object file"))
    said = "drawing: a library that it needs cannot be loaded (libX11.so.6: cannot open shared object file)"
    assert (str(error), error.exit_code) == (said, 3)


@pytest.mark.parametrize(("found", "fits"), [("1.92.5", False), ("1.92.900", False), ("1.93.0", True), ("2.0", True)])
def test_the_window_says_that_imgui_is_too_old(found: str, fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "version", lambda _: found)
    monkeypatch.setattr(app, "is_installed", lambda _: True)
    monkeypatch.setattr("viewer.app.sys.platform", "linux")
    if fits:
        app.check_libraries("headless")
        return
    with pytest.raises(MachineError) as caught:
        viewer.view(viewer.load("sample:two-link"), window="headless")
    line = f'the window needs imgui-bundle 1.93 or newer, found {found}: python3 -m pip install "imgui-bundle>=1.93"'
    assert str(caught.value) == line


@pytest.mark.parametrize("found", ["1.92.5", None])
def test_macs_with_intel_processors_are_told_that_there_is_no_window(
    found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "version", lambda _: found)
    monkeypatch.setattr(app, "is_installed", lambda name: name != "imgui_bundle" or found is not None)
    monkeypatch.setattr("viewer.app.sys.platform", "darwin")
    monkeypatch.setattr("viewer.app.platform.machine", lambda: "x86_64")
    with pytest.raises(MachineError) as caught:
        app.check_libraries("glfw")
    assert str(caught.value) == (
        "the window needs imgui-bundle 1.93 or newer, which is not made for Macs with Intel processors: "
        "use ikviewer render"
    )


def test_a_fault_of_our_own_is_not_taken_for_a_missing_library(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(_: Any) -> int:  # noqa: ANN401
        raise ModuleNotFoundError("No module named 'viewer.shed'", name="viewer.shed")

    monkeypatch.setattr("viewer.cli.file_commands.run_samples", broken)
    monkeypatch.setenv("IKVIEWER_HOME", str(tmp_path))
    assert main(["samples"]) == 1
    fault = "this command brings out a fault of the program, \"ModuleNotFoundError: No module named 'viewer.shed'\""
    log = tmp_path / "log" / "errors.log"
    assert capsys.readouterr().err == f"error: ikviewer samples: {fault}; its traceback is in {log}\n"
    assert "viewer.shed" in log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "line",
    [
        "from viewer.formats.meshes import write_nothing",  # ImportError: the name is missing
        "import viewer.formats.shed",  # ModuleNotFoundError
    ],
)
def test_an_import_that_fails_within_the_program_is_no_missing_library(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:  # noqa: ANN401
        exec(line)

    monkeypatch.setattr("viewer.formats.arrays_and_tables.write_npz", broken)
    with pytest.raises(ImportError, match=r"viewer\.formats\."):
        viewer.save(viewer.load("sample:two-link"), "a.npz")
    with pytest.raises(ImportError, match=r"viewer\.formats\."), app.window_libraries("headless"):
        exec(line)


def test_a_library_that_nobody_thought_of_is_told_by_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacking(_: Any) -> int:  # noqa: ANN401
        raise ModuleNotFoundError("No module named 'PIL.Image'", name="PIL.Image")

    monkeypatch.setattr("viewer.cli.file_commands.run_samples", lacking)
    assert main(["samples"]) == 3
    assert capsys.readouterr().err == "error: ikviewer samples needs pillow: python3 -m pip install pillow\n"
