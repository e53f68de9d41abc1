"""Shaders compile everywhere they must; a machine that cannot draw says in one line what to do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import types
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from conftest import ROOT
from gl_drawing import context
from inside.formats import ResourceError, data_dir
from inside.opengl import compile_program, create_context, gpu_objects, hull, machine_error, octahedron, source

import viewer
from viewer.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = sorted(path.stem for path in data_dir("shaders").glob("*.vert"))
SCRIPT = """
import hashlib, sys
import numpy as np
import viewer
from viewer.opengl.gpu_objects import create_context
character = viewer.load("sample:biped")
picture = viewer.render(character, size=(160, 120), limits=True, samples=0)
np.save(sys.argv[1], picture)
print(create_context().version_code)
"""


@pytest.mark.parametrize("name", NAMES)
def test_every_shader_compiles(name: str) -> None:
    with context() as ctx:
        program = compile_program(ctx, name)
        assert ctx.error == "GL_NO_ERROR"
        assert ("View" in program) == ("view.glsl" in (data_dir("shaders") / f"{name}.vert").read_text())


def test_no_shader_of_the_scene_is_left_out_or_newer_than_330() -> None:
    assert {path.stem for path in data_dir("shaders").glob("*.frag")} == set(NAMES)
    for path in data_dir("shaders").glob("*.[vf]*"):
        text = source(path)
        assert text.startswith("#version 330 core\n"), path
        assert "#include" not in text, path
        assert re.search(r"\bbinding\s*=", text) is None, path  # of 4.2


@pytest.mark.parametrize("version", ["3.3", "4.1"])
def test_old_opengl_draws_the_same_picture(version: str, tmp_path: Path) -> None:
    context()  # or this machine draws nothing at all
    code = version.replace(".", "")
    emulated = {"MESA_GL_VERSION_OVERRIDE": version, "MESA_GLSL_VERSION_OVERRIDE": f"{code}0"}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "old.npy")]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **emulated}, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == f"{code}0"
    now = viewer.render(viewer.load("sample:biped"), size=(160, 120), limits=True, samples=0)
    assert np.abs(np.load(tmp_path / "old.npy").astype(int) - now).max() <= 1


def test_too_old_opengl_is_named_with_its_cure() -> None:
    context()
    command = [sys.executable, "-m", "viewer", "render", "sample:two-link", "-o", os.devnull + ".png"]
    old = {"MESA_GL_VERSION_OVERRIDE": "3.1", "MESA_GLSL_VERSION_OVERRIDE": "140", "DISPLAY": ""}
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **old}, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr.splitlines()[-1] == (
        "error: expected OpenGL 3.3 or newer, found an older one: "
        "update the graphics driver, or draw in software with LIBGL_ALWAYS_SOFTWARE=1"
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("said", "cure"),
    [
        ("libGL.so not loaded", "sudo apt install libgl1"),
        ("libGL.so not found in /lib, /usr/lib or LD_LIBRARY_PATH", "sudo apt install libgl1"),
        ("libX11.so.6: cannot open shared object file: No such file or directory", "sudo apt install libgl1"),
        ("libEGL.so not loaded", "sudo apt install libegl1"),
        ("libEGL.so not found in /lib, /usr/lib or LD_LIBRARY_PATH", "sudo apt install libegl1"),
        ("Requested OpenGL version 330, got version 310", "LIBGL_ALWAYS_SOFTWARE=1"),
        ("eglCreateContext failed (0x3009)", "LIBGL_ALWAYS_SOFTWARE=1"),
        ("(standalone) cannot create context", "LIBGL_ALWAYS_SOFTWARE=1"),
        ("eglInitialize failed (0x3001)", "sudo apt install libegl1 libgl1-mesa-dri"),
        ("requested device index 0, but found 0 devices", "sudo apt install libegl1 libgl1-mesa-dri"),
        ("eglQueryDevicesEXT failed (0x3008)", "sudo apt install libegl1 libgl1-mesa-dri"),
        ("(standalone) XOpenDisplay: cannot open display", "sudo apt install libgl1 libegl1"),
        ("something\nnobody has seen", "OpenGL cannot be started (something nobody has seen)"),
    ],
)
def test_what_the_loaders_say_becomes_one_line_with_a_cure(
    monkeypatch: pytest.MonkeyPatch, said: str, cure: str
) -> None:
    def refused(**_settings: object) -> None:
        raise Exception(said)  # noqa: TRY002 - the loaders raise nothing better

    monkeypatch.setattr(gpu_objects, "moderngl", _fake(refused))
    with pytest.raises(MachineError) as caught:
        create_context()
    assert cure in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3


def _fake(create: Callable[..., Any]) -> types.ModuleType:
    module = types.ModuleType("moderngl")
    module.create_context = create  # type: ignore[attr-defined]
    return module


def test_without_moderngl_the_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "moderngl", None)
    monkeypatch.delitem(sys.modules, "viewer.opengl.gpu_objects")
    with pytest.raises(MachineError, match="python3 -m pip install moderngl"):
        viewer.render(viewer.load("sample:two-link"))


@pytest.mark.parametrize(("display", "ways"), [("", ["egl"]), (":7", ["egl", None])])
def test_x11_is_tried_only_where_there_is_a_display(
    monkeypatch: pytest.MonkeyPatch, display: str, ways: list[str | None]
) -> None:
    tried: list[object] = []

    def refused(*, standalone: bool, require: int, **settings: object) -> None:
        assert (standalone, require) == (True, 330)
        tried.append(settings.get("backend"))
        raise Exception("libEGL.so not loaded")  # noqa: TRY002 - as above

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setattr(gpu_objects, "moderngl", _fake(refused))
    with pytest.raises(MachineError):
        create_context()
    assert tried == ways


def test_on_other_systems_their_own_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[dict[str, object]] = []
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(gpu_objects, "moderngl", _fake(lambda **settings: tried.append(settings)))
    create_context()
    assert tried == [{"standalone": True, "require": 330}]


def test_without_any_problem_there_is_still_a_line() -> None:
    assert str(machine_error([])).startswith("OpenGL cannot be started")


def test_a_refused_shader_is_named_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("view.glsl", "flat.vert", "flat.frag"):
        (tmp_path / name).write_text((data_dir("shaders") / name).read_text())
    (tmp_path / "flat.frag").write_text("#version 330 core\nout vec4 painted;\nvoid main() { painted = nonsense; }\n")
    monkeypatch.setattr("viewer.opengl.gpu_objects.data_dir", lambda _kind: tmp_path)
    with context() as ctx, pytest.raises(MachineError) as caught:
        compile_program(ctx, "flat")
    assert str(caught.value).startswith("shaders/flat.frag: the graphics driver refuses this shader (")
    assert "nonsense" in str(caught.value)
    assert "\n" not in str(caught.value)
    (tmp_path / "flat.vert").unlink()
    with context() as ctx, pytest.raises(ResourceError, match=r"flat\.vert, found none: install ikviewer again"):
        compile_program(ctx, "flat")


@pytest.mark.parametrize("mesh", [octahedron(), hull()])
def test_meshes_are_closed_and_face_outwards(mesh: bytes) -> None:
    wide = 9 if len(mesh) % (24 * 36) == 0 and len(mesh) == 24 * 36 else 4
    corners = np.frombuffer(mesh, np.float32).reshape(-1, wide)
    places = corners[:, :3].astype(float)
    if wide == 4:  # its ends have no width of their own until the shader gives them one
        places[:, [0, 2]] *= np.where(corners[:, 3:] > 0, 1.0, 0.2)
    faces = places.reshape(-1, 3, 3)
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    outwards = faces.mean(axis=1) - (0.0, 0.3, 0.0)
    assert (np.einsum("fi,fi->f", normals, outwards) > 0).all()
    edges = [
        tuple(map(tuple, pair.tolist()))
        for face in faces.round(6)
        for pair in (face[[0, 1]], face[[1, 2]], face[[2, 0]])
    ]
    assert sorted(edges) == sorted((b, a) for a, b in edges)


def test_importing_the_library_loads_no_opengl_until_a_picture_is_asked_for() -> None:
    script = "import sys, viewer; print('moderngl' in sys.modules, 'viewer.opengl' in sys.modules); viewer.render"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
    assert "render" in viewer.__all__


FORK = """
import json, os, sys, warnings
import viewer
warnings.simplefilter("ignore")  # Python 3.12 and later warn of any fork beside threads
skeleton = viewer.load("sample:two-link").skeleton
def draw():
    try:
        return str(viewer.render(skeleton, size=(32, 24)).shape)
    except viewer.MachineError as error:
        return str(error)
def forked():
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, draw().encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    return os.read(reader, 1000).decode()
before = forked()
print(json.dumps([before, draw(), forked(), draw()]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork there")
@pytest.mark.skipif(sys.platform == "darwin", reason="the system's own libraries end a fork that draws")
def test_a_fork_draws_if_nothing_was_drawn_before_and_else_says_what_to_do() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    cure = (
        "cannot draw in a process forked from one that has drawn: "
        'start processes by "spawn", multiprocessing.get_context("spawn")'
    )
    assert json.loads(done.stdout) == ["(24, 32, 3)", "(24, 32, 3)", cure, "(24, 32, 3)"]
