"""Does what is published work? Source archive -> wheel -> fresh environment -> run from another folder.

Unlike ``tests/test_packaging.py`` this installs the dependencies that the wheel names, and nothing else: one that
is used but not named is found here. Needs the package index. Called by ``python3 x.py gates``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import x  # the checkout is on the path of its own environment

SCRIPT = """
import viewer.resources
print(viewer.__file__)
for kind in ("shaders", "skeletons"):
    assert any(viewer.resources.data_dir(kind).iterdir()), kind
"""


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


def main() -> None:
    """Run the whole way in a scratch folder."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name).resolve()
        wheel, environment, elsewhere = build_wheel(scratch), scratch / "environment", scratch / "elsewhere"
        elsewhere.mkdir()
        uv = x.find_uv()
        x.make_environment(environment, uv)
        python = x.venv_python(environment)
        x.install(python, [str(wheel)], uv)
        place = Path(call(python, "-c", SCRIPT, folder=elsewhere).strip())
        if environment not in place.parents:
            sys.exit(f"expected the package inside {environment}, found {place}")
        command = shutil.which("ikviewer", path=python.parent)
        print(call(command or "ikviewer", "info", "sample:biped", folder=elsewhere).splitlines()[0])
        print(f"{wheel.name}: installed and run from a fresh environment")


if __name__ == "__main__":
    main()
