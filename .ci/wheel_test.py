"""Does what is published work? Source archive -> wheel -> fresh environment -> run from another folder.

Unlike ``tests/test_packaging.py`` this installs the dependencies that the wheel names, and nothing else: one that
is used but not named is found here. It does so with the newest Python here, whose numpy may be newer than that of the
tests. Then the same wheel with the core's libraries alone, as on systems for which the others are not made. Needs the
package index. Called by ``python3 x.py gates``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import x  # the checkout is on the path of its own environment

SCRIPT = """
import viewer
from viewer.formats.files import data_dir
print(viewer.__file__)
for kind in ("shaders", "skeletons"):
    assert any(data_dir(kind).iterdir()), kind
"""


NEWER = "3.14", "3.13", "3.12"

CORE = 5
"""So many of the dependencies, the first ones, are the core's."""

GOALS = '{"goals": [{"effector": "LeftHand", "position": [0.4, 1.2, 0.3]}]}'
CORE_WORKS = (
    "info sample:walk", "fk sample:walk --frame 3 --json", "check sample:biped", "convert sample:walk walk.bvh",
    "convert sample:walk walk.glb", "convert walk.glb walk.npz", "check walk.glb walk.npz", "samples",
    "solve sample:biped goals.json --json -o pose.json",
)  # fmt: skip
CORE_LACKS = (
    "render sample:biped -o a.png", "view sample:biped --window headless", "convert sample:walk a.obj",
    "convert sample:walk a.usda", "solve sample:biped goals.json --backend numba",
)  # fmt: skip
MISSING = 3
SESSION = x.ROOT / "tests" / "recorded" / "v3" / "several-figures.ikv.json"
ALL_WORKS = "info sample:biped", "solve sample:biped goals.json --backend numba", f"check {SESSION}"


def call(*command: str | Path, folder: Path) -> str:
    """Run a program in a folder; returns what it printed, or stops with what it complained about."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def build_wheel(scratch: Path) -> Path:
    """Build the source archive, and the wheel from nothing but that archive."""
    call(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", scratch, folder=x.ROOT)
    call(sys.executable, "-m", "tarfile", "-e", next(scratch.glob("*.tar.gz")), "source", folder=scratch)
    source = next((scratch / "source").iterdir())
    call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", scratch, folder=source)
    return next(scratch.glob("*.whl"))


def newest_python() -> str:
    """The newest Python here that can make environments, on the path or among those of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for version in NEWER:
        found = [shutil.which(f"python{version}"), *map(str, pyenv.glob(f"versions/{version}.*/bin/python3"))]
        for path in filter(None, found):
            if x.run_quietly([path, "-c", "import ensurepip"])[0]:
                return path
    return sys.executable


def try_core(wheel: Path, environment: Path, folder: Path, uv: str | None) -> None:
    """Install the wheel with the core's libraries alone: what needs no other works, the rest names its cure."""
    x.make_environment(environment, uv)
    python = x.venv_python(environment)
    x.install(python, ["--no-deps", str(wheel)], uv)
    project = tomllib.loads((x.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    x.install(python, project["dependencies"][:CORE], uv)
    command = shutil.which("ikviewer", path=python.parent) or "ikviewer"
    for line in CORE_WORKS:
        call(command, *line.split(), folder=folder)
    for line in CORE_LACKS:
        done = subprocess.run([command, *line.split()], cwd=folder, capture_output=True, text=True, check=False)
        said = done.stderr.splitlines()
        if done.returncode != MISSING or not said or ": python3 -m pip install " not in said[-1]:
            sys.exit(f"ikviewer {line}: expected {MISSING} and a cure, found {done.returncode}\n{done.stderr}")
    print(f"{wheel.name}: the core works with {', '.join(sorted(project['dependencies'][:CORE]))} alone")


def main() -> None:
    """Run the whole way in a scratch folder."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name).resolve()
        wheel, environment, elsewhere = build_wheel(scratch), scratch / "environment", scratch / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "goals.json").write_text(GOALS, encoding="utf-8")
        uv, newest = x.find_uv(), newest_python()
        call(newest, "-m", "venv", environment, folder=scratch)
        python = x.venv_python(environment)
        x.install(python, [str(wheel)], uv)
        place = Path(call(python, "-c", SCRIPT, folder=elsewhere).strip())
        if environment not in place.parents:
            sys.exit(f"expected the package inside {environment}, found {place}")
        command = shutil.which("ikviewer", path=python.parent) or "ikviewer"
        for line in ALL_WORKS:
            print(call(command, *line.split(), folder=elsewhere).splitlines()[0])
        print(f"{wheel.name}: installed and run from a fresh environment of {newest}")
        try_core(wheel, scratch / "core", elsewhere, uv)


if __name__ == "__main__":
    main()
