"""A simulation: a figure that is driven towards a pose, pushed, pulled, hit by balls, and recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.choices import ASSISTS, BASES, Assist, Base
from viewer.errors import InputError, and_more, listed, quote
from viewer.ik.contact import Object, Sphere
from viewer.physics.constraints import Constraints
from viewer.physics.drive import STRENGTH_HZ, WEIGHED, Drive
from viewer.physics.model import BALLS, Model, Sunk, make_model
from viewer.physics.surroundings import GRAVITY, Surroundings, freed, stood
from viewer.skeleton import Clip, Pose, Skeleton, fk
from viewer.skeleton.character import check_pose, check_skeleton
from viewer.spatial.checks import Floats, as_number, finite_floats, handed_over

STEPS_PER_SECOND = 240
FRAMES_PER_SECOND = 60
"""Frame rate of the recorded clip."""
_HELP: dict[Assist, float] = {"held": 1.0, "helped": 0.3, "off": 0.0}
"""Largest force that holds a free root at its goal, in weights of the figure."""
_ASSIST_HZ, _ASSIST_ARM = 2.0, 0.3
"""Frequency, Hz, of the pull to the goal, and lever arm of its largest torque, metres for a figure `_TALL` tall."""
_TALL = 1.75
_LASTING_S, _NEAR = 0.5, 0.002
"""An error that lasts this many seconds doubles the pull, if it exceeds this many heights of the figure or radians."""
_HAND_HZ = 4.0
"""Frequency, Hz, of the spring from a pulled point to the pointer."""
_PUSH_S = 0.1
"""Duration of a push, seconds."""
_FASTEST_PUSHED = 100.0
"""Radians (or metres) per second: the largest speed that a push gives to a joint. Lighter parts slip off the hand."""
_MOST_BACK = 100
"""Places tried for a ball that is thrown from inside something."""
_STRENGTH = "physics: strength in hertz"
_FASTEST = 1e3
"""Radians (or metres) per second above which a simulation counts as unstable."""


class Push(NamedTuple):
    """An impulse (3,), newton seconds, that is pending or under way on a joint, from ``start`` on, seconds."""

    joint: int
    impulse: Floats
    start: float


class Pull(NamedTuple):
    """A hand at ``to`` (3,) that pulls a point of the figure: ``offset`` (3,) in a joint's frame."""

    joint: int
    offset: Floats
    to: Floats


class Stuck(NamedTuple):
    """A part that cannot leave what it overlaps at the start.

    Attributes:
        joint: whose part it is.
        other: the joint or object that it is in, or "floor".
        depth: metres.
    """

    joint: str
    other: str
    depth: float

    @property
    def words(self) -> str:
        """The line for the user."""
        other = "the floor" if self.other == "floor" else self.other
        return f"{self.joint} is {_depth(self.depth)} deep in {other} and cannot leave it: it stays there"


class Frame(NamedTuple):
    """The recorded state of a moment: MuJoCo's coordinates (nq,), and how many balls were thrown until then."""

    coordinates: Floats
    thrown: int


def _sunk_words(sunk: Sunk) -> str:
    verb = "start" if len(sunk.joints) > 1 else "starts"
    return f"{listed(sunk.joints, 1)} {verb} up to {_depth(sunk.depth)} deep in the floor and will not touch it"


def _depth(metres: float) -> str:
    """A depth in words, as the window shows errors: in millimetres, from 0.1 m on in metres."""
    return f"{1e3 * metres:.3g} mm" if metres < 0.1 else f"{metres:.3g} m"


def _check_pose(pose: Pose, skeleton: Skeleton) -> None:
    check_pose(pose, "physics: ")
    if len(pose.rotations) != len(skeleton):
        raise InputError(f"physics: expected a pose of {len(skeleton)} joints, found {len(pose.rotations)}")


class Physics:
    """A simulated figure. The same calls give the same bits.

    Attributes:
        skeleton: the figure's.
        seconds: simulated so far.
        pose: the present one.
        aimed: the pose that the joints are driven to.
        strength: how quickly joints answer, hertz.
        assist: "held", "helped" or "off": what may hold a free root at its goal besides the figure's own joints.
        assist_weights: the force that held it in the last step, in weights of the figure.
        pull_force: newtons of the hand in the last step.
    """

    def __repr__(self) -> str:
        return f"<Physics {quote(self.skeleton.name)}: {len(self.skeleton)} joints, {self.seconds:.2f} s>"

    def __init__(
        self,
        skeleton: Skeleton,
        pose: Pose | None = None,
        *,
        strength: float = STRENGTH_HZ,
        assist: Assist = "held",
        surroundings: Surroundings | None = None,
        figures: Sequence[Skeleton] = (),
        base: Base = "fixed",
    ) -> None:
        """Start from a pose, at rest, which is also the first that is aimed at.

        Args:
            skeleton: any with a joint that can move.
            pose: None: the relaxed one.
            strength: how quickly joints answer, hertz.
            assist: what may hold a free root: "held" (by its weight at most), "helped" (0.3 weights) or "off".
            surroundings: gravity, floor, balls and objects; None: as usual.
            figures: of which the skeleton is made, as `viewer.physics.surroundings.Together` combines them.
            base: which roots that the file fixes are free here: those of figures with "legs", none ("fixed"), or all
                ("free"). A figure with such a root stands on the ground, below where the file has it.

        Raises:
            MachineError: MuJoCo is not installed.
            InputError: no skeleton, a pose of another one, a strength that is not above 0, an unknown assist or base,
                or nothing that could move.
        """
        check_skeleton(skeleton, "physics: ")
        start = skeleton.relaxed_pose() if pose is None else pose
        _check_pose(start, skeleton)
        if base not in BASES:
            raise InputError(f"physics: base: expected {', '.join(BASES)}, found {quote(base)}")
        self.surroundings = surroundings or Surroundings()
        skeleton, self._footings = freed(skeleton, figures or (skeleton,), base)
        self.skeleton, start = skeleton, stood(skeleton, start, self._footings, self.surroundings.ground)
        self.model: Model = make_model(skeleton, start, self.surroundings, figures=figures)
        self._mujoco = self.model.mujoco
        self._data, self._aside = self._mujoco.MjData(self.model.mj), self._mujoco.MjData(self.model.mj)
        self._strength, self.assist = as_number(strength, _STRENGTH, above=0.0), assist
        around = self.surroundings
        payload = max(around.masses.values(), default=0.0)
        self.drive = Drive(self.model, self._strength, fk(skeleton, start), around.ground, payload)
        self._constraints = Constraints(self.model)
        model = self.model
        self._root_dofs = [slice(first, first + 6) for first in model.free_dof.tolist()]
        self._root_inertia = [self.drive.inertia[dofs].copy() for dofs in self._root_dofs]
        self._near, self._most_held = [], []
        for root in model.free.tolist():
            height = float(model.heights[root])
            # A floating figure is held, too, by its weight on the ground.
            weight = float(model.masses[root]) * max(self.surroundings.gravity, GRAVITY)
            self._near.append(np.repeat([_NEAR * height, _NEAR], 3))
            self._most_held.append([weight] * 3 + [weight * _ASSIST_ARM / _TALL * height] * 3)
        self._start = start
        self.reset(start)

    @property
    def assist(self) -> Assist:
        """What may hold a free root at its goal."""
        return self._assist

    @assist.setter
    def assist(self, word: Assist) -> None:
        if word not in ASSISTS:
            raise InputError(f"physics: assist: expected {', '.join(ASSISTS)}, found {quote(word)}")
        self._assist = word

    @property
    def strength(self) -> float:
        """How quickly joints answer, hertz."""
        return self._strength

    @strength.setter
    def strength(self, hertz: float) -> None:
        self._strength = as_number(hertz, _STRENGTH, above=0.0)
        self.drive.set_strength(self._strength)

    def reset(self, pose: Pose | None = None) -> None:
        """Start again from a pose, at rest: the one of the start unless given.

        Balls, pushes and the recording are removed. Overlaps in the pose are separated first.
        """
        self._start = self._start if pose is None else self._stood(pose)
        data, mj = self._data, self.model.mj
        self._mujoco.mj_resetData(mj, data)
        data.qpos[:] = self.model.coordinates(self._start, data.qpos)
        self._target = data.qpos.copy()
        self._constraints.leave_poles(data.qpos)
        self._constraints.aim(None)
        self._constraints.part(mj, data)
        self._next, self._speed = self._target, np.zeros(mj.nv)
        self._waiting = np.zeros(mj.nv)  # the springs that keep balls where they wait
        self._waiting[self.model.thrown_dof + 1] = mj.body_mass[self.model.thrown_body] * -mj.opt.gravity[1]
        data.qvel[:] = 0.0
        self._mujoco.mj_forward(mj, data)
        data.qacc_warmstart[:] = 0.0  # not the remains of another run
        self.drive.rest(data)
        self._constraints.rest(data)
        self.aimed = self._start
        self.pose = self._start if (data.qpos == self._target).all() else self._read()
        self._target = self._next = self._out_of_floor(self._target)
        self.seconds = self.assist_weights = self.pull_force = 0.0
        self._steps, self._thrown = 0, 0
        self._lasting = np.zeros((len(self.model.free), 6))
        self._pushes: list[Push] = []
        self._pushed = False
        self._pull: Pull | None = None
        self._frames = [Frame(data.qpos.copy(), 0)]

    def aim(self, pose: Pose) -> None:
        """Drive the joints to another pose; within the next `step` the aim moves there evenly.

        Raises:
            InputError: a pose of another skeleton.
        """
        _check_pose(pose, self.skeleton)
        self.aimed = self._stood(pose)
        self._next = self._out_of_floor(self.model.coordinates(self.aimed, self._target))

    def _stood(self, pose: Pose) -> Pose:
        """The pose with robots on the ground whose base is freed."""
        return stood(self.skeleton, pose, self._footings, self.surroundings.ground)

    def _out_of_floor(self, target: Floats) -> Floats:
        """A target (nq,) with free roots raised by how deep their figures are in the floor.

        The floor holds the figure there: a target inside it would press the figure down all the time.
        """
        mujoco, mj, data = self._mujoco, self.model.mj, self._aside
        if not self.model.free.size:
            return target
        data.qpos[:] = target
        mujoco.mj_kinematics(mj, data)
        mujoco.mj_collision(mj, data)
        geoms = data.contact.geom
        floor = mj.geom_type[geoms] == mujoco.mjtGeom.mjGEOM_PLANE
        depths = -data.contact.dist - self._constraints.stuck.at(geoms)
        deep = (depths > 0.0) & floor.any(axis=1)
        if not deep.any():
            return target
        bodies = mj.body_rootid[mj.geom_bodyid[geoms[deep][~floor[deep]]]]
        lifts = np.zeros(mj.nbody)
        np.maximum.at(lifts, bodies, depths[deep])
        lifted = target.copy()
        lifted[self.model.free_qpos + 1] += lifts[self.model.body[self.model.free]]
        return lifted

    def push(self, joint: str, impulse: ArrayLike, at: float | None = None) -> None:
        """Push a joint's bone at its centre of mass, for a tenth of a second.

        Joints that are too light for the whole impulse take what gives them 100 rad/s or 100 m/s; those above the bone
        take it whole.

        Args:
            joint: its name.
            impulse: (3,) newton seconds, world frame.
            at: seconds since the start; None: now.

        Raises:
            InputError: no such joint, no three finite numbers, or a time that is over.
        """
        vector = finite_floats(impulse, (3,), "physics: push")
        start = self.seconds if at is None else as_number(at, "physics: push: seconds", least=self.seconds)
        self._pushes.append(Push(self.skeleton.index(joint), vector, start))
        self._pushed = True

    def effective_mass(self, joint: str, direction: ArrayLike) -> float:
        """Kilograms that a joint's bone moves with when it is pushed in a direction (3,); 0 if it cannot move.

        1 / (n J M^-1 J^T n), J at its centre of mass.

        Raises:
            InputError: no such joint, or no three finite numbers.
        """
        way = finite_floats(direction, (3,), "physics: direction")
        index = self.skeleton.index(joint)
        return self._inertia_of_point(index, self.model.mj.body_ipos[self.model.body[index]], way)[0]

    def pull(self, joint: int, offset: ArrayLike, to: ArrayLike) -> None:
        """Pull a point of the figure, ``offset`` (3,) in a joint's frame, to a place (3,), until `release`."""
        self._pull = Pull(joint, np.asarray(offset, dtype=np.float64), np.asarray(to, dtype=np.float64))

    def release(self) -> None:
        """Let go of what is pulled."""
        self._pull, self.pull_force = None, 0.0

    def throw(self, origin: ArrayLike, velocity: ArrayLike) -> None:
        """Throw a ball. If it starts inside something, it starts farther back, where there is room.

        Args:
            origin: (3,) metres.
            velocity: (3,) metres per second.

        Raises:
            InputError: no finite vectors.
        """
        place, speed = (finite_floats(value, (3,), "physics: ball") for value in (origin, velocity))
        index, model = self._thrown % BALLS, self.model
        place = self._free_place(index, place, speed)
        first, dof = int(model.thrown_qpos[index]), int(model.thrown_dof[index])
        self._data.qpos[first : first + 7] = [*place, 1.0, 0.0, 0.0, 0.0]
        self._data.qvel[dof : dof + 6] = [*speed, 0.0, 0.0, 0.0]
        self._waiting[dof + 1] = 0.0
        self._constraints.place(int(model.thrown_body[index]), place, speed)
        self._thrown += 1

    def _free_place(self, ball: int, place: Floats, speed: Floats) -> Floats:
        """The place (3,), or the nearest one back along a ball's way from which it touches nothing, if there is one."""
        mujoco, model, first = self._mujoco, self.model, int(self.model.thrown_qpos[ball])
        data, geom = mujoco.MjData(model.mj), int(model.mj.body_geomadr[model.thrown_body[ball]])
        data.qpos[:] = self._data.qpos
        length = float(np.linalg.norm(speed))
        back = -speed / length if length > 0.0 else np.array([0.0, 1.0, 0.0])
        tried = place
        for _ in range(_MOST_BACK):
            data.qpos[first : first + 3] = tried
            mujoco.mj_kinematics(model.mj, data)
            mujoco.mj_collision(model.mj, data)
            rooms = data.contact.dist[(data.contact.geom == geom).any(axis=1)]
            if not (rooms < 0.0).any():
                return tried
            tried = tried + back * max(-float(rooms.min()), 0.1 * model.ball_radius)
        return place

    @property
    def balls(self) -> Floats:
        """(B, 3) positions of the balls that were thrown, metres."""
        return self._balls_at(Frame(self._data.qpos, self._thrown))

    @property
    def objects(self) -> tuple[Object, ...]:
        """The objects of the surroundings at their present places."""
        return self.model.movers.placed(self._data.qpos)

    def objects_at(self, frame: int) -> tuple[Object, ...]:
        """The objects of the surroundings and the balls that were thrown, where they were at a frame of `clip`.

        Raises:
            InputError: no such frame.
        """
        if not 0 <= frame < len(self._frames):
            raise InputError(f"physics: frame: expected 0 to {len(self._frames) - 1}, found {frame}")
        then, radius = self._frames[frame], self.model.ball_radius
        balls = [Sphere(f"ball {n}", (x, y, z), radius) for n, (x, y, z) in enumerate(self._balls_at(then).tolist())]
        return (*self.model.movers.placed(then.coordinates), *balls)

    def _balls_at(self, frame: Frame) -> Floats:
        """(B, 3) the balls that were thrown until then, metres."""
        return np.asarray(frame.coordinates[self.model.thrown_qpos[: frame.thrown, None] + np.arange(3)])

    @property
    def frames(self) -> int:
        """The number of frames of `clip`."""
        return len(self._frames)

    @property
    def clip(self) -> Clip:
        """The recorded motion since the start, at 60 frames per second."""
        moved = np.stack([frame.coordinates for frame in self._frames])
        rotations, translations = self.model.motion(moved, self._start)
        return Clip.from_arrays(self.skeleton, rotations, translations, fps=FRAMES_PER_SECOND, name="physics")

    def step(self, seconds: float) -> Pose:
        """Simulate for a time; the sum of all times is rounded to steps of 1/240 s.

        Returns:
            The pose.

        Raises:
            InputError: a time that is not above 0; or it became unstable, and ``pose`` is the last good one.
        """
        if not (math.isfinite(seconds) and seconds > 0.0):
            raise InputError(f"physics: step: expected more than 0 seconds, found {seconds:g}")
        until = self.seconds + seconds
        count = max(round(until * STEPS_PER_SECOND) - self._steps, 0)
        before, after = self._target, self._next
        changed = after is not before
        if changed and count:
            self._speed = self._difference(before, after) * (STEPS_PER_SECOND / count)
            self._aside.qpos[:], self._aside.qvel[:] = after, self._speed
            self._constraints.aim(self._aside)
        for number in range(count):
            target = after
            if changed:
                target = before.copy()
                self._mujoco.mj_integratePos(self.model.mj, target, self._speed, (number + 1) / STEPS_PER_SECOND)
            self._one(target)
            self._steps += 1
            if self._steps % (STEPS_PER_SECOND // FRAMES_PER_SECOND) == 0:
                self._frames.append(Frame(self._data.qpos.copy(), self._thrown))
        if count:
            self._check(np.abs(self._data.qvel))
            self._target, self._speed = after, np.zeros(self.model.mj.nv)
            self._constraints.aim(None)
            self.pose = self._read()
        self.seconds = until
        return self.pose

    def _difference(self, start: Floats, end: Floats) -> Floats:
        """(nv,) the velocity that leads from one state to another in a second; 0 for balls that were thrown."""
        speed = np.zeros(self.model.mj.nv)
        self.model.subtract(start, end, speed)
        speed[len(self.model.dof_joint) :] = 0.0
        return speed

    def _one(self, target: Floats) -> None:
        """One step of 1/240 s: forces, positions, constraints, and MuJoCo's semi-implicit Euler."""
        mujoco, mj, data = self._mujoco, self.model.mj, self._data
        rate = np.abs(data.qvel)
        self._check(rate)
        applied = data.qfrc_applied
        applied[:] = self._waiting
        self.drive.aim(data, target, self._speed, applied)
        self._constraints.positions(mj, data, rate)
        mujoco.mj_fwdVelocity(mj, data)
        if self._pushes:
            self._push(applied)
        self._hold_root(applied)
        if self._pull is not None:
            self._pull_point(*self._pull)
        mujoco.mj_fwdAcceleration(mj, data)
        self._constraints.solve(mj, data, rate)
        if self._steps % WEIGHED == 0:
            self.drive.weigh(data, self._constraints.contacts)
        mujoco.mj_Euler(mj, data)

    @property
    def deepest(self) -> float:
        """Metres of the deepest contact since the start, except for overlaps that are `stuck`."""
        return self._constraints.deepest

    @property
    def stuck(self) -> tuple[Stuck, ...]:
        """Overlaps at the start that cannot come apart because of limits or of what the part hangs on.

        They keep their depth and get no deeper. Each has the name of a ``joint``, of the ``other`` joint,
        object or "floor", and a ``depth`` in metres.
        """
        found = []
        stuck = self._constraints.stuck
        for (a, b), depth in zip(stuck.geoms(), stuck.depths.tolist(), strict=True):
            names = self.model.name_of(a), self.model.name_of(b)
            joint, other = reversed(names) if names[0] == "floor" else names
            found.append(Stuck(joint, other, depth))
        return tuple(found)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Lines for the user on parts that do not touch although it looks so, and on motors that are too weak."""
        sunk, weak = self.model.sunk, self.drive.balanced.tolist()
        lines = [_sunk_words(sunk)] if sunk.joints else []
        if weak:
            named = self.skeleton.names[weak[0]] + and_more(len(weak))
            lines.append(
                f"{named} cannot hold what hangs on it by the effort in the file: springs are assumed to hold it"
            )
        return (*lines, *(one.words for one in self.stuck))

    def _push(self, applied: Floats) -> None:
        """Add the forces of the pushes under way, along each joint what it can take; drop those that are over."""
        mujoco, mj, data = self._mujoco, self.model.mj, self._data
        now = data.time
        most = self.drive.inertia_now(data) * (_FASTEST_PUSHED / _PUSH_S)
        for push in self._pushes:
            if push.start - 1e-9 <= now < push.start + _PUSH_S - 1e-9:
                force, body = np.zeros(mj.nv), self.model.body[push.joint]
                mujoco.mj_applyFT(mj, data, push.impulse / _PUSH_S, np.zeros(3), data.xipos[body], body, force)
                applied += np.minimum(np.maximum(force, -most), most)
        self._pushes = [push for push in self._pushes if now < push.start + _PUSH_S]

    def _hold_root(self, applied: Floats) -> None:
        """Pull free roots to their goals, critically damped and without steady-state error, by a limited force."""
        most = _HELP[self.assist]
        self.assist_weights = 0.0
        if most == 0.0:
            return
        stiff, damp = (2.0 * math.pi * _ASSIST_HZ) ** 2, 4.0 * math.pi * _ASSIST_HZ
        part = self.model.mj.opt.timestep / _LASTING_S
        for root, dofs in enumerate(self._root_dofs):
            missing, lasting = self.drive.missing[dofs], self._lasting[root]
            grown = lasting + part * (missing - np.minimum(np.maximum(missing, -self._near[root]), self._near[root]))
            force = self._root_inertia[root] * (
                stiff * (missing + grown) + damp * (self._speed[dofs] - self._data.qvel[dofs])
            )
            x, y, z, a, b, c = force.tolist()
            for half, size in ((slice(0, 3), math.hypot(x, y, z)), (slice(3, 6), math.hypot(a, b, c))):
                end = most * self._most_held[root][half.start]
                if size > end:
                    force[half] *= end / size
                else:
                    lasting[half] = grown[half]
            applied[dofs] += force
            weights = min(math.hypot(x, y, z) / self._most_held[root][0], most)
            self.assist_weights = max(self.assist_weights, weights)

    def _pull_point(self, joint: int, offset: Floats, to: Floats) -> None:
        """Pull by the hand as a critically damped spring, as stiff as its inertia in that direction requires."""
        data, body = self._data, int(self.model.body[joint])
        way = to - (data.xpos[body] + data.xmat[body].reshape(3, 3) @ offset)
        mass, jacobian = self._inertia_of_point(joint, offset, way)
        omega = 2.0 * math.pi * _HAND_HZ
        force = mass * (omega**2 * way - 2.0 * omega * (jacobian @ data.qvel))
        data.qfrc_applied[:] += jacobian.T @ force
        self.pull_force = float(np.linalg.norm(force))

    def _inertia_of_point(self, joint: int, offset: Floats, way: Floats) -> tuple[float, Floats]:
        """The mass (kg) that a point moves with in a direction (3,), and its Jacobian (3, nv)."""
        mujoco, mj, data = self._mujoco, self.model.mj, self._data
        body = int(self.model.body[joint])
        jacobian = np.zeros((3, mj.nv))
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ offset
        mujoco.mj_jac(mj, data, jacobian, None, point, body)
        length = float(np.linalg.norm(way))
        row = (way / length if length > 1e-9 else np.array([0.0, 1.0, 0.0])) @ jacobian
        inverse = float(row @ self.drive.accelerations(data, row))
        return (min(1.0 / inverse, self.model.mass) if inverse > 0.0 else 0.0), jacobian

    def _check(self, rate: Floats) -> None:
        """Stop where the state is not finite or runs away; ``rate`` (nv,) is how quickly everything moves.

        Raises:
            InputError: the simulation became unstable.
        """
        fastest = rate[: len(self.model.dof_joint)]
        if fastest.max() < _FASTEST:
            return
        worst = int(np.argmax(np.where(np.isfinite(fastest), fastest, np.inf)))
        name = self.skeleton.names[int(self.model.dof_joint[worst])]
        cures = [cure for cure, did in (("throw more slowly", self._thrown), ("push less", self._pushed)) if did]
        cure = " or ".join(cures) or "lower the strength"
        raise InputError(f"the simulation became unstable at {self._data.time:.2f} s ({name}): {cure}")

    def _read(self) -> Pose:
        return Pose.trusted(*map(handed_over, self.model.motion(self._data.qpos, self._start)))
