"""Readers of other programs, run by node on the files that we write."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
READERS = Path(__file__).resolve().parent / "readers"
_MODULES = Path(os.environ.get("IKVIEWER_NODE", ROOT / ".venv" / "node"))


def node(script: str, *arguments: object) -> Any:  # noqa: ANN401 - whatever it prints as JSON
    """What a script of `readers` prints; skips where node or its packages are missing."""
    program = shutil.which("node")
    if program is None or not (_MODULES / "node_modules" / "three").is_dir():
        pytest.skip("node with gltf-validator and three is not installed: x.py test installs them where npm is")
    done = subprocess.run(
        [program, str(READERS / script), *map(str, arguments)],
        capture_output=True, text=True, check=False, env={**os.environ, "IKVIEWER_NODE": str(_MODULES)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
