"""MuJoCo models: every MJCF file in folders beside MuJoCo, places of all bodies at random joint values.

    pip install -e '.[bench,robots]' dm-control && python benchmarks/mjcf.py [FOLDER ...]

Without folders the models that come with dm_control, if it is installed: includes, defaults, meshes, several joints of
a body, equalities. Files that MuJoCo itself cannot read are parts of others, and left out.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import mujoco
import numpy as np

import viewer
from viewer import Pose, ViewerError
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import from_axis_angle, multiply, rotate

POSES = 5
TOLERANCE_M = 1e-9
UPRIGHT = {"z": from_axis_angle(np.array((1.0, 0.0, 0.0)), np.array(-np.pi / 2)), "y": np.array((0.0, 0.0, 0.0, 1.0))}
"""From a model's axes to ours."""


def pose_of(skeleton: viewer.Skeleton, model: Any, qpos: Floats, turn: Floats) -> Pose:  # noqa: ANN401
    """Joint values as a pose: MuJoCo's joints are ours that move, in order."""
    rotations, translations = skeleton.rest_rotations.copy(), skeleton.offsets.copy()
    moving = [joint for joint, kind in enumerate(skeleton.kinds) if kind.value != "fixed"]
    for joint, here in enumerate(moving):
        first, word = int(model.jnt_qposadr[joint]), mujoco.mjtJoint(model.jnt_type[joint]).name
        value, axis = float(qpos[first] - model.qpos0[first]), skeleton.axes[here, 0]
        if word == "mjJNT_FREE":
            translations[here] = rotate(turn, qpos[first : first + 3])
            rotations[here] = multiply(turn, qpos[[first + 4, first + 5, first + 6, first + 3]])
        elif word == "mjJNT_BALL":
            rotations[here] = multiply(rotations[here], qpos[[first + 1, first + 2, first + 3, first]])
        elif word == "mjJNT_HINGE":
            rotations[here] = multiply(rotations[here], from_axis_angle(axis, np.array(value)))
        else:
            translations[here] += rotate(skeleton.rest_rotations[here], value * axis)
    return Pose(rotations, translations)


def apart(character: viewer.Character, model: Any, random: np.random.Generator) -> float:  # noqa: ANN401
    """Metres by which a named body is farthest from where MuJoCo has it, over a few poses."""
    skeleton, data, worst = character.skeleton, mujoco.MjData(model), 0.0
    turn = UPRIGHT[character.source.up]
    for _ in range(POSES):
        data.qpos[:] = model.qpos0
        mujoco.mj_integratePos(model, data.qpos, random.normal(0.0, 1.0, model.nv), 1.0)
        mujoco.mj_kinematics(model, data)
        world = viewer.fk(skeleton, pose_of(skeleton, model, data.qpos, turn))
        for body in range(1, model.nbody):
            name = model.body(body).name
            if name in skeleton.names:
                wanted = rotate(turn, data.xpos[body])
                worst = max(worst, float(np.abs(world.positions[skeleton.index(name)] - wanted).max()))
    return worst


def models(folders: list[Path]) -> Iterator[tuple[Path, Any]]:
    """The files that MuJoCo reads and that have a joint, with their models."""
    for path in sorted(path for folder in folders for path in folder.rglob("*.xml")):
        try:
            model = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            continue
        if model.njnt:
            yield path, model


def main() -> int:
    spec = find_spec("dm_control")
    installed = spec.submodule_search_locations if spec is not None else None
    folders = [Path(place).resolve() for place in sys.argv[1:] or installed or ()]
    os.chdir(tempfile.gettempdir())  # MuJoCo writes its log into the current folder
    random, worst, compared, differ, took = np.random.default_rng(1), 0.0, 0, 0, []
    for path, model in models(folders):
        began = perf_counter()
        try:
            character = viewer.load(path)
        except ViewerError as error:
            print(f"refused: {path.name}: {error.args[0] if error.args else error}")
            continue
        took.append(perf_counter() - began)
        off = apart(character, model, random)
        if not off <= TOLERANCE_M:
            print(f"differs: {path.name}: {off:.2g} m")
            differ += 1
        worst, compared = max(worst, off), compared + 1
    if not compared:
        print("no models: pip install dm-control, or name a folder")
        return 1
    print(f"{compared} models, at most {worst:.2g} m apart; read in {1e3 * np.median(took):.0f} ms (median)")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
