"""Robots: every URDF file of `example-robot-data` beside Pinocchio and MuJoCo.

Places of all links at random joint values; and of the model that is simulated the mass of all that moves, its centre of
mass, the torques that gravity asks for, and the mass matrix. MuJoCo reads the model that is written, too; and Pinocchio
the URDF: efforts, velocities and ranges of its joints.
Then each is pushed.

pip install -e '.[bench,robots]' && python benchmarks/robots.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import viewer
from viewer import Physics, Pose, Surroundings, ViewerError
from viewer.physics.model import make_model
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


Floats = NDArray[np.float64]


class Dynamics(NamedTuple):
    """Of what moves: kilograms, centre of mass (3,) in metres, torques of gravity (D,) and mass matrix (D, D)."""

    mass: float
    center: Floats
    gravity: Floats
    inertia: Floats


class Theirs:
    """A robot as Pinocchio reads it."""

    def __init__(self, path: Path, values: dict[str, float]) -> None:
        """Read it, and set the joints of links by their values."""
        self.model = pin.buildModelFromUrdf(str(path))
        self.data, self.q = self.model.createData(), pin.neutral(self.model)
        self.dofs: dict[str, int] = {}
        for frame in self.model.frames:
            joint = self.model.joints[frame.parentJoint]
            moved = frame.type == pin.FrameType.BODY and frame.parentJoint and frame.placement.isIdentity(1e-12)
            if moved and frame.name in values:
                value = values[frame.name]
                self.q[joint.idx_q : joint.idx_q + joint.nq] = (
                    value if joint.nq == 1 else (np.cos(value), np.sin(value))
                )
                self.dofs[frame.name] = joint.idx_v

    def places(self) -> dict[str, Floats]:
        """Of links, metres, Y up."""
        pin.framesForwardKinematics(self.model, self.data, self.q)
        frames = enumerate(self.model.frames)
        return {f.name: Y_UP @ self.data.oMf[i].translation for i, f in frames if f.type == pin.FrameType.BODY}

    def dynamics(self, links: list[str]) -> Dynamics:
        """Of the degrees of freedom of these links."""
        rows = [self.dofs[link] for link in links]
        center = pin.centerOfMass(self.model, self.data, self.q)
        gravity = pin.computeGeneralizedGravity(self.model, self.data, self.q)
        inertia = pin.crba(self.model, self.data, self.q)
        inertia = np.triu(inertia) + np.triu(inertia, 1).T
        return Dynamics(pin.computeTotalMass(self.model), Y_UP @ center, gravity[rows], inertia[np.ix_(rows, rows)])


def ours(mj: Any, qpos: Floats, dofs: list[int]) -> Dynamics:  # noqa: ANN401
    """Of a MuJoCo model and some degrees of freedom; ``mj`` is an `MjModel`."""
    data = mujoco.MjData(mj)
    data.qpos[:] = qpos
    mujoco.mj_forward(mj, data)
    moves = mj.body_weldid != 0
    mass = mj.body_mass[moves]
    gravity, inertia = np.zeros(mj.nv), np.zeros((mj.nv, mj.nv))
    data.qvel[:] = 0.0
    mujoco.mj_rne(mj, data, 0, gravity)
    mujoco.mj_fullM(mj, data, inertia)
    center = mass @ data.xipos[moves] / mass.sum() if mass.sum() else np.zeros(3)
    return Dynamics(float(mass.sum()), center, gravity[dofs], inertia[np.ix_(dofs, dofs)])


def written(skeleton: viewer.Skeleton) -> Any:  # noqa: ANN401
    """The model that is exported, as MuJoCo reads it."""
    with TemporaryDirectory() as folder:
        viewer.save(viewer.Character(skeleton), Path(folder) / "robot.xml")
        return mujoco.MjModel.from_xml_path(str(Path(folder) / "robot.xml"))


def difference(a: Dynamics, b: Dynamics) -> Floats:
    """(4,) largest of each, as parts of the largest number, the centre in metres."""
    scale = [b.mass, 1.0, np.abs(b.gravity).max(initial=1e-3 * 9.81 * b.mass), np.abs(b.inertia).max(initial=1e-9)]
    apart = [abs(a.mass - b.mass), *(np.abs(x - y).max(initial=0.0) for x, y in zip(a[1:], b[1:], strict=True))]
    return np.array(apart) / np.maximum(scale, 1e-9)


def compare_dynamics(name: str, skeleton: viewer.Skeleton, pose: Pose, known: Theirs, warned: bool) -> Floats | None:
    """(4,) how far what is simulated is from Pinocchio's; None where it cannot be simulated."""
    try:
        model = make_model(skeleton, skeleton.rest_pose(), Surroundings(ground=None), balls=0)
    except ViewerError as error:
        print(f"not simulated: {name}: {error}")
        return None
    links = [skeleton.names[joint] for joint in model.scalars.tolist()]
    dofs = [int(dof) for dof, link in zip(model.scalar_dof, links, strict=True) if link in known.dofs]
    links = [link for link in links if link in known.dofs]
    mine = ours(model.mj, model.coordinates(pose, np.zeros(model.mj.nq)), dofs)
    file = written(skeleton)
    exported = difference(ours(file, model.coordinates(pose, np.zeros(file.nq)), dofs), mine)
    if exported.max() > 1e-9:
        print(f"exported model differs: {name}: {exported}")
    found = difference(mine, known.dynamics(links))
    if found.max() > 1e-9:
        why = " (impossible moments in the file)" if warned else ""
        weights = model.mj.body_mass[model.body] - [0.0 if one is None else one.mass for one in skeleton.inertias]
        given = weights > 1e-8
        if given.any():
            why += (
                f" ({given.sum()} links move and weigh nothing in the file; ours weigh {weights[given].sum():.2g} kg)"
            )
        print(f"differs: {name}: mass {found[0]:.1g}, centre {found[1]:.1g} m, gravity {found[2]:.1g}, "
              f"mass matrix {found[3]:.1g}{why}")  # fmt: skip
    return found


_NONE_STATED = 1e6
"""Efforts and velocities from here on, and 0, say that none is known."""


def limits_kept(path: Path, character: viewer.Character) -> tuple[int, int]:
    """Of how many numbers that the file states of its joints Pinocchio reads the same ones, and how many there are.

    Efforts, velocities, and both ends of ranges, of the URDF that we write. A revolute joint that states no range has
    none with us, and [0, 0] with Pinocchio.
    """
    with TemporaryDirectory() as folder:
        viewer.save(character, Path(folder) / "robot.urdf")
        theirs, again = (pin.buildModelFromUrdf(str(file)) for file in (path, Path(folder) / "robot.urdf"))
    kept, stated = 0, 0
    for joint in range(1, theirs.njoints):
        other = again.getJointId(theirs.names[joint])
        at, there = theirs.idx_vs[joint], again.idx_vs[other]
        for key in ("effortLimit", "velocityLimit"):
            number = float(getattr(theirs, key)[at])
            if 0.0 < number < _NONE_STATED and theirs.nvs[joint] == 1:
                stated, kept = stated + 1, kept + (float(getattr(again, key)[there]) == number)
        at, there = theirs.idx_qs[joint], again.idx_qs[other]
        ends = float(theirs.lowerPositionLimit[at]), float(theirs.upperPositionLimit[at])
        if theirs.nqs[joint] == 1 and ends != (0.0, 0.0):
            found = float(again.lowerPositionLimit[there]), float(again.upperPositionLimit[there])
            stated, kept = (
                stated + 2,
                kept + sum(abs(one - two) < 1e-12 * max(1.0, abs(one)) for one, two in zip(ends, found, strict=True)),
            )
    return kept, stated


_AWAY = 0.01
"""Metres off its aim from which on a robot counts as away."""


def simulated(name: str, skeleton: viewer.Skeleton, random: np.random.Generator) -> float:
    """Metres that a robot is off its aim 2 s after three pushes to 2 m/s; infinite where it became unstable.

    Of one that stands on the ground its base: feet that slipped stand where they are.
    """
    low = float(viewer.fk(skeleton, skeleton.relaxed_pose()).positions[:, 1].min())
    sim = Physics(skeleton, surroundings=Surroundings(ground=min(low, 0.0)), base="legs")
    moving = [joint for joint, kind in enumerate(skeleton.kinds) if kind.value != "fixed"]
    try:
        for _ in range(60):
            sim.step(1.0 / 60.0)
        for joint in random.choice(moving, min(3, len(moving)), replace=False).tolist():
            way = random.normal(size=3)
            way /= np.linalg.norm(way)
            sim.push(skeleton.names[joint], 2.0 * sim.effective_mass(skeleton.names[joint], way) * way)
        for _ in range(120):
            sim.step(1.0 / 60.0)
    except ViewerError as error:
        print(f"unstable: {name}: {error}")
        return np.inf
    off = off_aim(sim)
    if off > _AWAY:
        weak, seconds = set[int](), 2.0
        while off_aim(sim) > _AWAY and seconds < 10.0:
            sim.step(1.0 / 60.0)
            seconds += 1.0 / 60.0
            weak |= set(sim.drive.at_full_effort.tolist())
        named = ", ".join(sim.skeleton.names[joint] for joint in sorted(weak)) or "none"
        until = f"back after {seconds:.1f} s" if off_aim(sim) <= _AWAY else "not back after 10 s"
        print(f"away: {name}: {off:.3f} m, {until}; at full effort meanwhile: {named}")
    return off


def off_aim(sim: Physics) -> float:
    """Metres; of a robot that stands on the ground its base."""
    here, aimed = (viewer.fk(sim.skeleton, pose).positions for pose in (sim.pose, sim.aimed))
    counted = sim.model.free if sim.model.free.size else np.arange(len(sim.skeleton))
    return float(np.linalg.norm(here - aimed, axis=1)[counted].max())


def main() -> None:
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
    else:
        folder = Path(pin.__file__).resolve().parents[4] / "share" / "example-robot-data" / "robots"
    random, worst, compared, took = np.random.default_rng(1), 0.0, 0, []
    dynamics: list[Floats] = []
    away: list[float] = []
    limits = 0, 0
    for path in sorted(folder.rglob("*.urdf")):
        began = perf_counter()
        try:
            character = viewer.load(path)
        except ViewerError as error:
            print(f"refused: {path.name}: {error.args[0] if error.args else error}")
            continue
        took.append(perf_counter() - began)
        skeleton = character.skeleton
        pose, values = moved(skeleton, random)
        try:
            known = Theirs(path, values)
        except ValueError:
            print(f"only we read it: {path.name}")
            continue
        found = viewer.fk(skeleton, pose)
        off = max(
            float(np.abs(found.positions[skeleton.index(name)] - place).max())
            for name, place in known.places().items() if name in skeleton.names
        )  # fmt: skip
        if off > 1e-9:
            print(f"differs: {path.name}: {off:.2g} m")
        worst, compared = max(worst, off), compared + 1
        kept = limits_kept(path, character)
        if kept[0] < kept[1]:
            print(f"limits differ: {path.name}: {kept[1] - kept[0]} of {kept[1]}")
        limits = limits[0] + kept[0], limits[1] + kept[1]
        warned = any("moments of inertia" in warning for warning in character.warnings)
        apart = compare_dynamics(path.name, skeleton, pose, known, warned)
        if apart is not None:
            dynamics.append(apart)
            away.append(simulated(path.name, skeleton, random))
    print(
        f"{compared} robots, at most {worst:.2g} m apart; read with meshes in {1e3 * np.median(took):.0f} ms (median)"
    )
    print(f"efforts, velocities and ranges as written: {limits[0]} of {limits[1]} the same")
    parts = np.array(dynamics)
    for column, word in enumerate(("mass", "centre of mass", "torques of gravity", "mass matrix")):
        same = parts[:, column] < 1e-9
        print(f"{word}: {same.sum()} of {len(parts)} the same; those within {parts[same, column].max():.2g}, "
              f"at most {parts[:, column].max():.2g} apart")  # fmt: skip
    print(f"pushed: {np.isfinite(away).sum()} of {len(away)} finite, {np.less(away, 0.01).sum()} back within 1 cm")


if __name__ == "__main__":
    main()
