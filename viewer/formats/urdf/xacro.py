"""Reading robots from xacro: a process of its own carries out the macros, whose expressions are programs."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from viewer.errors import FormatError, InputError, MachineError, is_installed
from viewer.formats.bounds import MOST_TEXT_BYTES
from viewer.formats.urdf.reader import robot_of
from viewer.skeleton import Character

_SECONDS = 20.0
_RUN = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
except ImportError:  # Windows
    sys.argv.pop(1)
import xacro
xacro.main()
"""


def read_xacro(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """Read a robot; arguments are those of `viewer.formats.urdf.reader.read_urdf`.

    Raises:
        FormatError: xacro refuses it, takes too long, or makes no robot of it.
        InputError: there is no such file.
        MachineError: xacro is not installed.
    """
    if not is_installed("xacro"):
        raise MachineError(f"{name}: xacro files need: pip install 'ikviewer[robots]'")
    if not path.is_file():
        raise InputError(f"{name}: no such file")
    with tempfile.TemporaryFile() as made, tempfile.TemporaryFile() as said:
        command = [sys.executable, "-c", _RUN, str(MOST_TEXT_BYTES), str(path.resolve())]
        try:
            done = subprocess.run(  # noqa: S603 - our own Python
                command, stdout=made, stderr=said, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise FormatError(f"xacro took more than {_SECONDS:g} s", file=name) from error
        made.seek(0)
        said.seek(0)
        if done.returncode:
            lines = [line.strip() for line in said.read(1 << 16).decode("utf-8", "replace").splitlines()]
            said_last = next(
                (line for line in lines if line and not line.startswith(("Traceback", "File "))), "no reason"
            )
            raise FormatError(f"xacro refuses it: {said_last[:200]}", file=name)
        return robot_of(made.read(MOST_TEXT_BYTES + 1), path, name, units=units, up=up)
