"""Robots: every URDF file of `example-robot-data` beside Pinocchio, places of all links at random joint values.

pip install -e '.[bench,robots]' && python benchmarks/robots.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pinocchio as pin

import viewer
from viewer import Pose, ViewerError
from viewer.spatial.quaternion import from_axis_angle, multiply, rotate

Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def moved(skeleton: viewer.Skeleton, random: np.random.Generator) -> tuple[Pose, dict[str, float]]:
    """A random pose, and the value of each link's joint."""
    rotations, translations = skeleton.rest_rotations.copy(), skeleton.offsets.copy()
    values = {}
    for joint, kind in enumerate(skeleton.kinds):
        value, axis = float(random.uniform(-1.0, 1.0)), skeleton.axes[joint, 0]
        if kind.value == "hinge":
            rotations[joint] = multiply(rotations[joint], from_axis_angle(axis, np.array(value)))
        elif kind.value == "slide":
            translations[joint] = translations[joint] + value * rotate(skeleton.rest_rotations[joint], axis)
        else:
            continue
        values[skeleton.names[joint]] = value
    return Pose(rotations, translations), values


def theirs(path: Path, values: dict[str, float]) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Places of links by Pinocchio, metres, Y up."""
    model = pin.buildModelFromUrdf(str(path))
    data, q = model.createData(), pin.neutral(model)
    bodies = [(i, frame) for i, frame in enumerate(model.frames) if frame.type == pin.FrameType.BODY]
    for _, frame in bodies:
        joint = model.joints[frame.parentJoint]
        if frame.parentJoint and frame.name in values and frame.placement.isIdentity(1e-12):
            value = values[frame.name]
            q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
    pin.framesForwardKinematics(model, data, q)
    return {frame.name: Y_UP @ data.oMf[i].translation for i, frame in bodies}


def main() -> None:
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
    else:
        folder = Path(pin.__file__).resolve().parents[4] / "share" / "example-robot-data" / "robots"
    random, worst, compared, took = np.random.default_rng(1), 0.0, 0, []
    for path in sorted(folder.rglob("*.urdf")):
        began = perf_counter()
        try:
            skeleton = viewer.load(path).skeleton
        except ViewerError as error:
            print(f"refused: {path.name}: {error.args[0] if error.args else error}")
            continue
        took.append(perf_counter() - began)
        pose, values = moved(skeleton, random)
        try:
            known = theirs(path, values)
        except ValueError:
            print(f"only we read it: {path.name}")
            continue
        ours = viewer.fk(skeleton, pose)
        off = max(
            float(np.abs(ours.positions[skeleton.index(name)] - place).max())
            for name, place in known.items() if name in skeleton.names
        )  # fmt: skip
        if off > 1e-9:
            print(f"differs: {path.name}: {off:.2g} m")
        worst, compared = max(worst, off), compared + 1
    print(
        f"{compared} robots, at most {worst:.2g} m apart; read with meshes in {1e3 * np.median(took):.0f} ms (median)"
    )


if __name__ == "__main__":
    main()
