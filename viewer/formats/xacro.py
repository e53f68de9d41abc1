"""xacro: URDF with macros, which another process expands, because their expressions are programs."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from viewer.errors import FormatError, InputError, MachineError, is_installed
from viewer.formats.bounds import MOST_TEXT_BYTES
from viewer.formats.robot_meshes import package_places
from viewer.formats.urdf_reader import NO_LINK, robot_of
from viewer.skeleton import Character

_SECONDS = 20.0
_RUN = """
import sys
try:
    import resource
    for kind, most in ((resource.RLIMIT_AS, 2 << 30), (resource.RLIMIT_FSIZE, int(sys.argv.pop(1)))):
        hard = resource.getrlimit(kind)[1]  # it can only be lowered
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard),) * 2)
except ImportError:  # Windows
    sys.argv.pop(1)
import json, pathlib, re
places, own = json.loads(sys.argv.pop(1)), sys.argv.pop(1)
import xacro, xacro.substitution_args


def named(folder):
    try:
        text = (folder / "package.xml").read_text(encoding="utf-8", errors="replace")[:100_000]
    except OSError:
        return folder.name
    return next(iter(re.findall(r"<name>\\s*(.*?)\\s*</name>", text)), folder.name)


def found(package):
    for place in map(pathlib.Path, places):
        if place.is_dir() and named(place) == package:
            return str(place)
        if (place / package).is_dir():
            return str(place / package)
    try:
        return in_ros(package)
    except Exception:
        print(f'package "{package}": expected its folder beside or above the file, or in ROS_PACKAGE_PATH, found none',
              file=sys.stderr)
    return own  # a copy under another name has the same files


in_ros, xacro.substitution_args._eval_find = xacro.substitution_args._eval_find, found
xacro.main()
"""
"""Without ROS, xacro has no way to find the packages that `$(find PACKAGE)` names."""
_LOST, _NO_FILE, _NO_ARGUMENT = 'package "', "No such file", "Undefined substitution argument "
"""Its messages about a package that is not found, about a file, and about an argument without a value."""


def read_xacro(path: Path, name: str, *, units: str = "auto", up: str = "auto", meshes: bool = True) -> Character:
    """Read a robot as `read_urdf` does, once xacro has expanded its macros.

    Raises:
        FormatError: xacro refuses it, takes too long, or makes no robot of it.
        MachineError: xacro is not installed.
    """
    if not is_installed("xacro"):
        raise MachineError(f"{name}: xacro files need: pip install 'ikviewer[robots]'")
    if not path.is_file():
        raise InputError(f"{name}: no such file")
    with tempfile.TemporaryFile() as made, tempfile.TemporaryFile() as said:
        folder = path.resolve().parent
        places = json.dumps([str(base) for base in package_places(folder)])
        command = [sys.executable, "-c", _RUN, str(MOST_TEXT_BYTES), places, str(folder.parent), str(path.resolve())]
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
            reasons = [line for line in lines if line and not line.startswith(("Traceback", "File "))] or ["no reason"]
            lost = [line for line in reasons if line.startswith(_LOST)]
            first = next((line for line in reasons if line not in lost), reasons[0])
            # A missing package may be a copy under another name, whose files exist.
            reason = (lost[0] if lost and _NO_FILE in first else first)[:200]
            missing = reason.partition(_NO_ARGUMENT)[2].split()
            if missing:
                reason += f": expand it yourself, by `xacro {path.name} {missing[0]}:=... -o robot.urdf`"
            raise FormatError(f"xacro refuses it: {reason}", file=name)
        try:
            return robot_of(made.read(MOST_TEXT_BYTES + 1), path, name, units=units, up=up, meshes=meshes)
        except FormatError as error:
            if error.problem == NO_LINK:
                raise FormatError(f"{NO_LINK}: macros are opened by the file that includes them", file=name) from error
            if error.line is None:
                raise
            raise FormatError(f"line {error.line} of what xacro makes of it: {error.problem}", file=name) from error
