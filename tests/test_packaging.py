"""The package finds its data wherever it is installed, and what is published is whole. No network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT
from inside.formats import files
from packaging.requirements import Requirement

import x
from viewer.errors import ViewerError

KINDS = ("shaders", "skeletons")
LOCATE = """
import json, viewer.formats.files as r
print(json.dumps([r.__file__, *(str(r.data_dir(kind)) for kind in ("shaders", "skeletons"))]))
"""


def call(*command: str | Path, folder: Path, **variables: str) -> str:
    """Run a program as a user would, from a folder that is not the checkout."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env={**clean, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def located(python: Path | str, folder: Path, **variables: str) -> list[Path]:
    """Where an interpreter finds viewer/formats/files.py, shaders/ and skeletons/."""
    return [Path(place) for place in json.loads(call(python, "-c", LOCATE, folder=folder, **variables))]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packaging").resolve()


@pytest.fixture(scope="module")
def sdist(scratch: Path) -> Path:
    call(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", scratch, folder=ROOT)
    return next(scratch.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def source(sdist: Path, scratch: Path) -> Path:
    """The source archive, unpacked: everything below is made from it alone."""
    call(sys.executable, "-m", "tarfile", "-e", sdist, scratch / "source", folder=scratch)
    return next((scratch / "source").iterdir())


@pytest.fixture(scope="module")
def wheel(source: Path, scratch: Path) -> Path:
    call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", scratch, folder=source)
    return next(scratch.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(scratch: Path) -> Path:
    """A fresh environment without this project; the dependencies are lent to it by this one."""
    folder = scratch / "environment"
    if x.find_uv():
        x.make_environment(folder, x.find_uv())
    else:  # this environment's pip serves: to install one takes longer than all else here
        venv.create(folder)
    packages = "Lib/site-packages" if os.name == "nt" else f"lib/python{sysconfig.get_python_version()}/site-packages"
    # A path named in a .pth file is added as it is: editable installs that lie in it are not followed.
    (folder / packages / "lent.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module", params=["wheel", "editable"])
def installed(request: pytest.FixtureRequest, environment: Path, wheel: Path, source: Path) -> tuple[Path, Path]:
    """The fresh environment's interpreter, and the folder in which its shaders/ and skeletons/ must be."""
    python = x.venv_python(environment)
    way = [str(wheel)] if request.param == "wheel" else ["--no-build-isolation", "-e", str(source)]
    again = ["--reinstall" if x.find_uv() else "--force-reinstall"]
    with pytest.MonkeyPatch.context() as few_modules_are_used:
        few_modules_are_used.setenv("PIP_NO_COMPILE", "1")
        few_modules_are_used.setenv("PIP_PYTHON", str(python))
        installing = python if x.find_uv() else Path(sys.executable)
        x.install(installing, ["--no-index", "--no-deps", *again, *way], x.find_uv())
    inside = call(python, "-c", "import sysconfig as s; print(s.get_path('purelib'))", folder=environment)
    return python, Path(inside.strip()) / "viewer" if request.param == "wheel" else source


def test_an_installed_package_finds_its_data_from_another_folder(installed: tuple[Path, Path], tmp_path: Path) -> None:
    python, home = installed
    module, *folders = located(python, tmp_path)
    assert home in module.parents
    assert folders == [home / kind for kind in KINDS]
    for kind, folder in zip(KINDS, folders, strict=True):
        assert files_below(folder) == files_below(ROOT / kind)


def test_an_installed_command_shows_a_bundled_skeleton_from_another_folder(
    installed: tuple[Path, Path], tmp_path: Path
) -> None:
    command = shutil.which("ikviewer", path=installed[0].parent)
    assert command is not None
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert version in call(command, "--version", folder=tmp_path)
    assert len(json.loads(call(command, "info", "sample:biped", "--json", folder=tmp_path))["joints"]) > 10


def test_a_checkout_finds_its_data_without_being_installed(source: Path, tmp_path: Path) -> None:
    module, *folders = located(sys.executable, tmp_path, PYTHONPATH=str(source))
    assert module == source / "viewer" / "formats" / "files.py"
    assert folders == [source / kind for kind in KINDS]


def test_a_missing_data_folder_is_named_with_both_places_and_the_cure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "viewer"
    monkeypatch.setattr(files, "_PACKAGE", package)
    with pytest.raises(files.ResourceError) as caught:
        files.data_dir("shaders")
    assert isinstance(caught.value, ViewerError)
    assert str(caught.value) == (
        f'expected the data folder "shaders" at {package / "shaders"} or {tmp_path / "shaders"}, '
        "found neither: install ikviewer again"
    )


def test_a_file_in_place_of_a_data_folder_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "_PACKAGE", tmp_path / "viewer")
    (tmp_path / "shaders").write_text("a file")
    with pytest.raises(files.ResourceError):
        files.data_dir("shaders")


def test_the_citation_is_of_this_version_and_licence() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    said = dict(line.split(": ", 1) for line in lines if line[:1].isalpha() and ": " in line)
    wanted = {"title": "name", "version": "version", "license": "license"}
    assert {key: said[key] for key in wanted} == {key: project[name] for key, name in wanted.items()}
    assert [f"  - name: {author['name']}" for author in project["authors"]] == [
        line for line in lines if line.startswith("  - name: ")
    ]


def test_the_wheel_holds_the_package_its_data_its_types_and_its_licence_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    metadata = {name for name in names if name.split("/")[0].endswith(".dist-info")}
    package = {f"viewer/{name}" for name in files_below(ROOT / "viewer")}
    data = {f"viewer/{kind}/{name}" for kind in KINDS for name in files_below(ROOT / kind)}
    assert "viewer/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in metadata)
    assert names - metadata == package | data


def test_the_source_archive_can_run_the_tests_and_x_py(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    wanted = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "x.py", ".ci/wheel_test.py"}
    assert wanted <= names
    assert {f"tests/{name}" for name in files_below(ROOT / "tests")} <= names
    assert not [name for name in names if name.startswith((".venv", ".git/"))]


CORE = {"numpy", "msgspec", "platformdirs", "tqdm", "pillow"}
PURE = {"pyrr", "trimesh"}
WINDOW = {"numba", "moderngl", "moderngl-window", "glfw", "imgui-bundle"}


@pytest.mark.parametrize(
    ("system", "machine", "python", "others"),
    [
        ("linux", "x86_64", "3.11", WINDOW),
        ("darwin", "arm64", "3.14", WINDOW),
        ("win32", "AMD64", "3.13", WINDOW),
        ("linux", "aarch64", "3.12", {"numba"}),
        ("win32", "ARM64", "3.12", {"numba"}),
        ("win32", "ARM64", "3.11", set()),
        ("darwin", "x86_64", "3.13", {"numba", "moderngl", "glcontext"}),
        ("darwin", "x86_64", "3.14", set()),
        ("linux", "riscv64", "3.13", set()),
        ("freebsd14", "amd64", "3.12", set()),
    ],
)
def test_a_system_is_asked_only_for_what_has_wheels_there(
    system: str, machine: str, python: str, others: set[str]
) -> None:
    place = {"sys_platform": system, "platform_machine": machine, "python_version": python}
    asked = [one.name for one in dependencies() if one.marker is None or one.marker.evaluate(place)]
    assert sorted(asked) == sorted(CORE | PURE | others)


def test_the_core_is_named_on_the_page_for_systems_that_no_marker_tells() -> None:
    line = f"python3 -m pip install {' '.join(one.name for one in dependencies()[: len(CORE)])}\n"
    assert line in (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    assert {one.name for one in dependencies()[: len(CORE)]} == CORE


def dependencies() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(line) for line in project["dependencies"]]


def files_below(folder: Path) -> set[str]:
    """Names of the files below a folder, with / between, less what Python leaves behind."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if "__pycache__" not in path.parts}
