"""Compiling the kernels in a process of its own, which leaves them in the cache on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from viewer.errors import is_installed

# What a compiler makes lives as long as the process: to look for garbage in it takes a sixth of the time.
_CHILD = "import gc; gc.disable(); from viewer.ik.warming import compile_all; compile_all()"
_QUIETLY = "import os; os.nice(10) if hasattr(os, 'nice') else None; "


def compile_elsewhere(*, quietly: bool = False) -> bool:
    """Compile the kernels in another process, ``quietly`` at low priority; whether it succeeded."""
    if not is_installed("numba"):  # numpy solves then; do not start a process only to find that out
        return False
    # It looks for modules where this process does, and nowhere else (-P): in no folder that it happens to stand in.
    places = os.pathsep.join(place or str(Path.cwd()) for place in sys.path)
    environment = {**os.environ, "PYTHONPATH": places}
    command = [sys.executable, "-P", "-c", (_QUIETLY if quietly else "") + _CHILD]
    try:
        child = subprocess.run(command, check=False, capture_output=True, env=environment, stdin=subprocess.DEVNULL)
    except OSError:  # no Python of its own: part of another program
        return False
    return child.returncode == 0
