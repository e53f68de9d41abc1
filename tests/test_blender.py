"""Blender sees the files that we write as we see them, where it is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from conftest import ROOT
from inside.spatial import hemisphere_continuous

sys.path.insert(0, str(ROOT / "benchmarks"))
import blender_check
from blender.characters import characters

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("blender") is None, reason="blender is not on the PATH")

HARD = ("sample:piston", "every order of rotations", "all roots of a cut biped", "two clips", "walk with keys",
        "relaxed, no motion")  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def numpy_in_blender() -> None:
    """Skip where Blender has no numpy, and this environment's is for another Python."""
    script = f"import sys; sys.path.append({blender_check.PACKAGES!r}); import numpy"
    command = ["blender", "-b", "--factory-startup", "--python-exit-code", "1", "--python-expr", script]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("Blender's Python cannot import numpy")


def test_blender_has_every_joint_tip_and_vertex_where_we_have_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = characters()
    worst = blender_check.check({name: found[name] for name in HARD}, tmp_path)
    assert worst <= blender_check.TOLERANCE, capsys.readouterr().out
    assert len(capsys.readouterr().out.splitlines()) == 3 * len(HARD)


def test_the_check_finds_a_file_that_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "viewer.formats.gltf.gltf_writer.hemisphere_continuous",
        lambda turns: hemisphere_continuous(turns) * (-1, 1, 1, 1),
    )
    assert blender_check.check({"walk with keys": characters()["walk with keys"]}, tmp_path) == np.inf
    bvh, glb, gltf = (float(line.split()[6]) for line in capsys.readouterr().out.splitlines())
    assert bvh <= blender_check.TOLERANCE < min(glb, gltf)
