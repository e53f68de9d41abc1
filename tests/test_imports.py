"""The rooms of the design hold, and importing the library stays cheap."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPENGL = ("moderngl", "moderngl_window", "glfw", "pyglet", "imgui_bundle")
HEAVY = (*OPENGL, "numba", "llvmlite", "trimesh", "mujoco", "pyrr")
LIBRARY = "import viewer, viewer.ik, viewer.formats"
LINT = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(cache_dir=None, no_cache=True))"


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the import contract of a checkout, which is imported from its own folder."""
    return subprocess.run([sys.executable, "-c", LINT], cwd=folder, capture_output=True, text=True, check=False)


def test_the_import_contract_holds() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 kept, 0 broken" in done.stdout


def import_statements(path: Path) -> Iterator[ast.Import | ast.ImportFrom]:
    """Those of a module, in functions and under conditions too; an expression has none and is not walked."""
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        for blocks in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, blocks, ())
            todo += inner if isinstance(inner, list) else ()


def test_tests_import_the_faces_of_rooms_and_their_inside_by_one_module_a_room() -> None:
    deep = []
    for path in sorted((ROOT / "tests").glob("*.py")):
        if not re.search(r"^\s*(from|import) viewer\.\w+\.", path.read_text(encoding="utf-8"), re.MULTILINE):
            continue  # far the most, and parsing takes its time
        for node in import_statements(path):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            modules = [name for name in names if name.startswith("viewer.") and name.count(".") > 1]
            deep += [f"{path.name}:{node.lineno}: {name}" for name in modules]
    cure = "import it from inside.ROOM: tests/inside/ROOM.py imports it from there"
    assert deep == [], cure


def test_the_import_contract_sees_a_lower_room_that_imports_a_higher_one_and_cycles_of_types_alone(
    tmp_path: Path,
) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "viewer", tmp_path / "viewer", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "viewer" / "errors.py").open("a", encoding="utf-8") as planted:
        planted.write("\nimport viewer.formats\n")
    with (tmp_path / "viewer" / "formats" / "files.py").open("a", encoding="utf-8") as planted:
        planted.write("\nif TYPE_CHECKING:\n    from viewer.formats import load\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "viewer.errors is not allowed to import viewer.formats" in done.stdout
    assert "- .files -> .load (1 import)" in done.stdout


def test_the_import_contract_sees_a_module_without_a_room(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "viewer", tmp_path / "viewer", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "viewer" / "shed.py").write_text('"""A module that the contract does not name."""\n')
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "viewer.shed" in done.stdout


def test_importing_the_library_loads_no_window_no_compiler_and_no_physics() -> None:
    script = f"{LIBRARY}\nimport sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("sample", ["biped", "walk"])
def test_reading_a_skeleton_loads_no_solver(sample: str) -> None:
    script = (
        f"from viewer.cli.main import main\nmain(['info', 'sample:{sample}', '--quiet'])\n"
        "import sys\nprint('loaded:', *(name for name in sys.modules if name.startswith('viewer.ik')))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_retargeting_and_planting_load_no_goals_and_no_solver() -> None:
    script = (
        "import viewer\nwalk = viewer.load('sample:walk')\nviewer.retarget(walk, viewer.load('sample:biped'))\n"
        "viewer.plant_feet(walk.skeleton, walk.clip)\n"
        "import sys\nprint(*sorted(name for name in sys.modules if name.startswith('viewer.ik')))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["viewer.ik", "viewer.ik.contact", "viewer.ik.contact.values"]


def test_measuring_feet_loads_no_retargeting_and_no_fitting() -> None:
    """The commands on motions share a module, but not what only some of them need."""
    script = (
        "from viewer.cli.main import main\nmain(['feet', 'sample:walk', '--quiet'])\nimport sys\n"
        "others = 'viewer.motion.retarget_motion', 'viewer.motion.range_of_motion', 'viewer.formats.positions'\n"
        "print('loaded:', *(name for name in (*others, 'viewer.motion.contacts') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded: viewer.motion.contacts"
