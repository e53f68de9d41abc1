"""Does Blender see the files that we write as we see them?

Writes the bundled samples, figures that are hard to write and any files named as BVH, GLB and glTF, lets Blender import
them and compares: joints and tips of every frame, vertices of the bone mesh in some, hierarchy, duration, and that
nothing else comes into the scene. Places may be 1e-4 of the figure's size apart, because Blender computes in single
precision. Needs ``blender`` on the PATH, or another Python that has Blender as the package ``bpy`` (pip install bpy);
some ten seconds.

    python benchmarks/blender_check.py [--bpy PYTHON] [FILE...]
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from blender.characters import characters
from blender.compare import job, shortened, verdict

from viewer.formats.load import load
from viewer.formats.save import save

if TYPE_CHECKING:
    from viewer.skeleton import Character

TOLERANCE = 1e-4
INSIDE = Path(__file__).resolve().parent / "blender" / "inside.py"
PACKAGES = str(Path(np.__file__).resolve().parent.parent)
SUFFIXES = (".bvh", ".glb", ".gltf")


def look(jobs: list[dict[str, object]], folder: Path, bpy: str) -> None:
    """Let Blender import all files: the program, or the package of a Python."""
    listed = folder / "jobs.json"
    listed.write_text(json.dumps(jobs))
    program = ["blender", "-b", "--factory-startup", "--python-exit-code", "1", "--python", str(INSIDE)]
    command = [bpy, str(INSIDE)] if bpy else program
    done = subprocess.run([*command, "--", PACKAGES, str(listed)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"blender failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def check(all_of_them: dict[str, Character], folder: Path, bpy: str = "") -> float:
    """Print a line for each file; the worst distance, infinite where one is too large or anything else is wrong."""
    written: dict[Path, tuple[str, Character]] = {}
    for number, (name, character) in enumerate(all_of_them.items()):
        for suffix in SUFFIXES:
            if suffix != ".bvh" or character.clips:
                file = folder / f"{number}{suffix}"
                save(character, file)
                written[file] = name, character
    look([job(character, file) for file, (_, character) in written.items()], folder, bpy)
    worst = 0.0
    for file, (name, character) in written.items():
        found = verdict(character, file)
        worst = max(worst, found.apart if found.apart <= TOLERANCE and not found.faults else float("inf"))
        faults = "".join(f"; {fault}" for fault in found.faults)
        print(f"{name:34.34} {file.suffix[1:]:5} {found.places:8} places  {found.apart:.1e}{faults}")
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--bpy", default="", metavar="PYTHON", help="an interpreter that has the package bpy")
    chosen = parser.parse_args()
    files: list[str] = chosen.files
    if shutil.which(chosen.bpy or "blender") is None:
        print(f"{chosen.bpy or 'blender'} is not on the PATH: install it, or name a Python that has bpy, with --bpy")
        return 3
    named = {name: character for name, character in characters().items() if not files}
    named |= {Path(file).name: load(file) for file in files}
    with tempfile.TemporaryDirectory() as folder:
        worst = check({name: shortened(character) for name, character in named.items()}, Path(folder), chosen.bpy)
    print(f"{'worst':57} {worst:.1e} (target: at most {TOLERANCE:.0e} of the size)")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
