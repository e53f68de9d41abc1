"""Libraries that a file can lead anywhere: each reads it in a process of its own, within bytes and seconds.

`run_apart` starts the process; ``python -m viewer.formats.apart`` is what it runs, so nothing large is imported here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from viewer.errors import FormatError, quote

_LEAST_MASS = 1e-14
"""Kilograms, and kg m^2: just enough for MuJoCo."""
_KINDS = frozenset({"actuator", "body", "eq", "geom", "jnt", "mat", "site", "wrap"})
_NAMED = frozenset(
    {"key_qpos", "mesh_face", "mesh_faceadr", "mesh_facenum", "mesh_vert", "mesh_vertadr", "mesh_vertnum", "qpos0"}
)
"""The arrays of a model that are wanted: all of these kinds, and single ones."""


def run_apart(
    program: str, words: Sequence[str], *, memory: int, size: int, seconds: float
) -> tuple[bytes | None, list[str]]:
    """Run one of `PROGRAMS` in a folder of its own, with at most so many bytes of memory and of output.

    Its output, None if it failed; and the lines that it printed to stderr. Windows has no limit of memory.
    """
    # It looks for modules only where this process does: -P leaves out the current folder.
    places = os.pathsep.join(place or str(Path.cwd()) for place in sys.path)
    command = [sys.executable, "-P", "-m", __name__, program, str(memory), str(size), *words]
    with (
        tempfile.TemporaryDirectory(prefix="ikviewer-") as folder,
        tempfile.TemporaryFile() as made,
        tempfile.TemporaryFile() as said,
    ):
        try:
            done = subprocess.run(  # noqa: S603 - our own Python
                command, stdout=made, stderr=said, timeout=seconds, check=False, cwd=folder,
                env=os.environ | {"PYTHONPATH": places},
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise FormatError(f"{program} took more than {seconds:g} s") from error
        made.seek(0)
        said.seek(0)
        lines = [line.strip() for line in said.read(1 << 16).decode("utf-8", "replace").splitlines()]
        return None if done.returncode else made.read(size + 1), [line for line in lines if line]


# --- in the other process


def _limit(memory: int, size: int) -> None:
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, size)):
        hard = resource.getrlimit(kind)[1]  # it can only be lowered
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard),) * 2)


def expand_xacro(places: str, own: str, path: str) -> None:
    """Print what xacro makes of a file.

    Without ROS, xacro cannot find the packages that ``$(find PACKAGE)`` names: ``places`` are folders and their names
    as packages, as JSON. A package that none of them has is ``own``: a copy under another name has the same files.
    """
    import xacro  # noqa: PLC0415 - an extra
    import xacro.substitution_args  # noqa: PLC0415

    in_ros = xacro.substitution_args._eval_find  # noqa: SLF001 - there is no public way

    def found(package: str) -> Any:  # noqa: ANN401 - what xacro returns
        for place, name in json.loads(places):
            for folder in [Path(place)] * (name == package) + [Path(place, package)]:
                if folder.is_dir():
                    return str(folder)
        try:
            return in_ros(package)
        except Exception:  # noqa: BLE001 - of its own kinds
            expected = "expected its folder beside or above the file, or in ROS_PACKAGE_PATH, found none"
            sys.stderr.write(f'package "{package}": {expected}\n')
        return own

    xacro.substitution_args._eval_find = found  # noqa: SLF001
    sys.argv[1:] = [path]
    xacro.main()


def compile_mjcf(path: str, package: str) -> None:
    """Print the arrays of a MuJoCo model as an .npz file.

    Meshes, height fields and skins that are missing, or outside of the folder ``package``, are left out with their
    shapes: (N, 2) ``left_out`` has each of these files and why; ``bare`` are the bodies of the shapes, ``light`` those
    that weighed what the shapes did. Textures are not read.
    """
    made = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what MuJoCo may print is no part of the arrays
    import mujoco  # noqa: PLC0415 - an extra
    import numpy as np  # noqa: PLC0415

    mujoco.set_mju_user_warning(lambda _: None)
    try:
        model, names = _compiled(mujoco, path, package)
    except (ValueError, mujoco.FatalError) as error:
        sys.exit(f"MuJoCo refuses it: {' '.join(str(error).split())[:200]}")
    every = {name: getattr(model, name) for name in dir(model) if name in _NAMED or name.partition("_")[0] in _KINDS}
    arrays = {name: value for name, value in every.items() if isinstance(value, np.ndarray)}
    for kind, count in (("body", model.nbody), ("jnt", model.njnt), ("site", model.nsite)):
        names[f"{kind}_names"] = [getattr(model, kind)(number).name for number in range(count)]
    arrays |= {"gravity": model.opt.gravity, **{key: np.array(value, dtype=str) for key, value in names.items()}}
    np.savez(made, allow_pickle=False, **arrays)


def _compiled(mujoco: Any, path: str, package: str) -> tuple[Any, dict[str, list[Any]]]:  # noqa: ANN401
    """The model, and the names of what is left out of it."""
    spec = mujoco.MjSpec.from_file(path)
    files = sorted(map(Path, mujoco.mju_getXMLDependencies(path)))
    outside = [file for file in files if not Path(os.path.realpath(file)).is_relative_to(package)]
    known = [*spec.meshes, *spec.hfields, *spec.skins, *spec.textures]
    assets = {Path(file).name for one in known for file in (one.file, *getattr(one, "cubefiles", ()))}
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for texture in spec.textures:
        spec.delete(texture)
    names: dict[str, list[Any]] = {"left_out": [], "bare": [], "light": []}
    for file in outside:
        shown = os.path.relpath(file, Path(path).parent)
        if file.name not in assets:
            sys.exit(f"expected included files below {quote(Path(package).name)}, found {quote(shown)}")
        _leave_out(spec, shown, "outside of the package", names)
    while True:
        try:
            model = spec.compile()
            break
        except ValueError as error:
            _, missing, rest = str(error).partition("opening file '")
            if not missing or not _leave_out(spec, rest.partition("'")[0], "no such file", names):
                raise
    if names["left_out"]:
        weightless = model.body_mass <= _LEAST_MASS
        model.body_inertia[weightless] = model.body_mass[weightless] = 0.0
    return model, names


def _leave_out(spec: Any, file: str, why: str, names: dict[str, list[Any]]) -> bool:  # noqa: ANN401
    """Delete what a file would be, with its shapes; whether there was any."""
    gone = [one for one in (*spec.meshes, *spec.hfields, *spec.skins) if Path(one.file).name == Path(file).name]
    if not gone:
        return False
    assets = {one.name for one in gone}
    shapes = [geom for geom in spec.geoms if assets & {geom.meshname, geom.hfieldname}]
    called = {geom.name for geom in shapes}
    pairs = [pair for pair in spec.pairs if called & {pair.geomname1, pair.geomname2}]
    weighed = [geom for geom in shapes if geom.mass != 0.0 and geom.density and not geom.parent.explicitinertial]
    names["left_out"].append((file, why))
    names["bare"] += [geom.parent.name for geom in shapes]
    names["light"] += [geom.parent.name for geom in weighed if geom.parent.name != "world"]
    for one in (*pairs, *shapes, *gone):
        spec.delete(one)
    spec.compiler.boundmass = spec.compiler.boundinertia = _LEAST_MASS
    return True


if __name__ == "__main__":
    PROGRAMS: dict[str, Callable[..., None]] = {"MuJoCo": compile_mjcf, "xacro": expand_xacro}
    _limit(int(sys.argv[2]), int(sys.argv[3]))
    PROGRAMS[sys.argv[1]](*sys.argv[4:])
