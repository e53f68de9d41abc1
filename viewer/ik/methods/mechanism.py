"""A system and its pose as Python tuples, for methods that move joints one by one, and the best motion of one joint.

For single vectors and quaternions, tuples are several times faster than numpy's arrays.

A joint is turned so that the effectors below it come as near to their goals as possible. Every goal is read as pairs of
vectors from the joint's pivot: to a point of the effector, r, and to its target, d. A turn R of the joint then costs
the sum over pairs of w |R r - d|^2, which has closed-form minima: about an axis, and for a ball joint (the orthogonal
Procrustes problem).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeAlias

import numpy as np

from viewer.ik import algebra
from viewer.ik.algebra import exponential, logarithm, product, short_way, turned
from viewer.ik.goals.kind import nearest_in_shell
from viewer.ik.kernels import joints
from viewer.ik.kernels.joints import sets_place, sets_turn
from viewer.ik.methods.common import Problem
from viewer.ik.system import State
from viewer.spatial import closest
from viewer.spatial.checks import Floats, Quaternion, Vector
from viewer.spatial.quaternion import from_matrix, perpendicular

_ROUNDING = 1e-9
_BALLS = (algebra.TURNS, algebra.SWING_TWIST, algebra.EULER)
_BY_AXIS = (algebra.HINGE, algebra.UNIVERSAL, algebra.EULER)


class Mechanism:
    """The joints of a solve, their pose, and the goals. K joints, n dofs, G goals; names as in `System`.

    Attributes:
        angle: (K,) the first dof of each joint after its translations.
        ball: (K,) whether a joint has three rotational dofs.
        angles: (K,) the coordinates of a joint that turn it about one axis.
        basis: (K,) of ball joints, the rotation from the axes of their dofs to the joint's frame.
        ready: (n,) part of a computed motion that a dof makes: 1 - stiffness.
        x, q, t: the pose: coordinates (n,), local rotations and translations (K,).
        turn, place: (K,) world rotations and positions of the joints.
        point: (G,) world positions of the effectors.
        cap: the largest turn (radians) or move (metres) of a joint in one step.
        least_arm: metres: a point nearer than this to a joint counts as at it.
    """

    def __init__(self, problem: Problem) -> None:
        s = problem.s
        self.cap = problem.settings.step_cap
        self.parent: list[int] = s.parent.tolist()
        self.form, self.moves = s.form.tolist(), s.moves.tolist()
        self.first, self.order = s.first.tolist(), s.order.tolist()
        self.rest, self.offset = _quaternions(s.rest), _vectors(s.offset)
        self.basis = _quaternions(s.basis)
        self.axes = [_vectors(pair) for pair in s.axes]
        # Scalar kernels take arrays; these hold Python numbers, several times faster than numpy's scalars.
        self._axes = s.axes.astype(object)
        self.lower, self.upper = s.lower.tolist(), s.upper.tolist()
        ready = np.minimum(s.spread / s.unit, 1.0)
        ready[[*s.leader, *s.follower]] = 0.0  # these methods cannot turn a joint that others follow
        self.turning, self.ready = s.turning.tolist(), ready.tolist()
        self.below = [range(*ends) for ends in zip(s.goals_from.tolist(), s.goals_to.tolist(), strict=True)]
        self.kind, self.goal_joint = s.goal_kind.tolist(), s.goal_joint.tolist()
        self.goal_has_shell: list[bool] = s.goal_has_shell.tolist()
        self.goal_aims: list[bool] = s.goal_aims.tolist()
        self.goal_places = [sets_place(s, g) for g in range(len(self.kind))]
        self.goal_turns = [sets_turn(s, g) for g in range(len(self.kind))]
        self.goal_offset, self.numbers = _vectors(s.goal_offset), s.goal_numbers.tolist()
        self.target, self.rotation = _vectors(s.goal_target), _quaternions(s.goal_rotation)
        self.shell, self.along = s.goal_shell.tolist(), _vectors(s.goal_along)
        self.weight, self.turn_weight = s.goal_weight.tolist(), s.goal_rotation_weight.tolist()
        self.tolerance: float = s.tolerance.tolist()[0]
        self.least_arm = _ROUNDING * sum(length(v) for v in (*self.offset, *self.goal_offset))
        joints = range(len(self.parent))
        self.angle = [self.first[k] + self.moves[k] for k in joints]
        self.ball = [self._is_ball(k) for k in joints]
        self.angles = [self._angles_of(k) for k in joints]
        self.load(problem.state)

    def _is_ball(self, k: int) -> bool:
        dofs = range(self.angle[k], self.first[k + 1])
        return self.form[k] in _BALLS and any(self.ready[d] > 0.0 for d in dofs)

    def _angles_of(self, k: int) -> list[int]:
        angles = range(self.first[k + 1] - self.angle[k])
        if self.form[k] == algebra.SWING_TWIST:
            angles = angles[2:]  # a swing has no fixed axis
        elif self.form[k] not in _BY_AXIS:
            angles = range(0)
        return [i for i in angles if self.ready[self.angle[k] + i] > 0.0]

    def moved_by_others(self, g: int, joints: Collection[int]) -> bool:
        """Whether any joint above goal g other than the given ones can move."""
        k = self.goal_joint[g]
        while k >= 0:
            live = (self.ready[d] > 0.0 and self.upper[d] > self.lower[d] for d in range(*self.first[k : k + 2]))
            if k not in joints and any(live):
                return True
            k = self.parent[k]
        return False

    def load(self, state: State) -> None:
        """Load a pose of the system."""
        self.x: list[float] = state.x.tolist()
        self.q, self.t = _quaternions(state.q), _vectors(state.t)
        self.refresh()

    def store(self, state: State) -> None:
        """Store the pose in the system's arrays."""
        state.x[:], state.q[:], state.t[:] = self.x, self.q, self.t

    def refresh(self) -> None:
        """Compute the world motion of all joints and effectors from the pose."""
        self.turn, self.place = list(self.q), list(self.t)
        for k in range(len(self.parent)):
            self.follow(k)
        self.point = [
            plus(self.place[k], rotate(self.turn[k], offset))
            for k, offset in zip(self.goal_joint, self.goal_offset, strict=True)
        ]

    def follow(self, k: int) -> None:
        """Compute the world motion of joint k from its parent's and the pose."""
        above = self.parent[k]
        if above < 0:
            self.turn[k], self.place[k] = self.q[k], self.t[k]
        else:
            self.turn[k] = multiply(self.turn[above], self.q[k])
            self.place[k] = plus(self.place[above], rotate(self.turn[above], self.t[k]))

    def set_joint(self, k: int) -> None:
        """Compute joint k's local motion from its coordinates; it must have some."""
        d = self.first[k]
        if self.form[k] == algebra.SLIDE:
            self.t[k] = plus(self.offset[k], scaled(rotate(self.rest[k], self.axes[k][0]), self.x[d]))
            return
        x, y, z = (*self.x[d : self.first[k + 1]], 0.0, 0.0)[:3]
        moved = joints.relative_rotation(self.form[k], self._axes[k], self.order[k], x, y, z)
        self.q[k] = multiply(self.rest[k], moved)

    def read_ball(self, k: int) -> Vector:
        """Coordinates of a limited ball joint's local rotation; of equivalent ones, the nearest to the current ones."""
        r = multiply(inverse(self.rest[k]), self.q[k])
        read = joints.coordinates_of(self.form[k], self._axes[k], self.order[k], *r)
        if self.form[k] == algebra.SWING_TWIST:
            return read
        # The second set of Euler angles for the same rotation.
        other = read[0] + math.pi, math.pi - read[1], read[2] + math.pi
        now = self.x[self.angle[k] : self.angle[k] + 3]
        return min(read, other, key=lambda way: sum(abs(wrapped(a - b)) for a, b in zip(way, now, strict=True)))

    def angle_axis(self, k: int, i: int) -> Vector:
        """The world axis that joint k's i-th coordinate turns it about, or slides it along."""
        form = self.form[k]
        ordered = form in (algebra.EULER, algebra.SWING_TWIST)
        axis = UNITS[self.order[k][i]] if ordered else self.axes[k][i]
        if i == 2 or form == algebra.HINGE or (form == algebra.UNIVERSAL and i == 1):
            return rotate(self.turn[k], axis)
        if form == algebra.EULER and i == 1:
            axis = rotate(exp(scaled(UNITS[self.order[k][0]], self.x[self.angle[k]])), axis)
        # The frame before the joint's own motion.
        above = self.parent[k]
        return rotate(self.rest[k] if above < 0 else multiply(self.turn[above], self.rest[k]), axis)

    def within_reach(self, d: int, change: float) -> float:
        """A change of coordinate d; the same turn the other way round if only that stays inside the limits."""
        if self.turning[d] and not self.lower[d] <= self.x[d] + change <= self.upper[d]:
            for other in (change - 2.0 * math.pi, change + 2.0 * math.pi):
                if self.lower[d] <= self.x[d] + other <= self.upper[d]:
                    return other
        return change

    def change(self, d: int, by: float) -> None:
        """Change coordinate d, clamped to its limits and scaled by its stiffness."""
        by = self.ready[d] * self.within_reach(d, by)
        self.x[d] = min(max(self.x[d] + by, self.lower[d]), self.upper[d])


def wrapped(angle: float) -> float:
    """The same angle within half a turn."""
    return math.remainder(angle, 2.0 * math.pi)


def _vectors(array: Floats) -> list[Vector]:
    return [vector(row) for row in array.tolist()]


def _quaternions(array: Floats) -> list[Quaternion]:
    return [quaternion(row) for row in array.tolist()]


UNTURNED: Quaternion = (0.0, 0.0, 0.0, 1.0)
UNITS: tuple[Vector, Vector, Vector] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


minus: Callable[[Vector, Vector], Vector] = closest.minus
cross: Callable[[Vector, Vector], Vector] = closest.cross
dot: Callable[[Vector, Vector], float] = closest.dot
"""The arithmetic of that module on numbers."""


def plus(a: Vector, b: Vector) -> Vector:
    """Sum."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def scaled(a: Vector, by: float) -> Vector:
    """Multiple."""
    return a[0] * by, a[1] * by, a[2] * by


def length(a: Vector) -> float:
    """Euclidean length."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def unit(a: Vector) -> Vector:
    """The direction of a vector that is not zero."""
    return scaled(a, 1.0 / length(a))


def across(a: Vector) -> Vector:
    """A unit vector at right angles to a vector that is not zero."""
    return vector(perpendicular(unit(a)).tolist())


def vector(values: list[float]) -> Vector:
    """Three numbers as a tuple."""
    x, y, z = values
    return x, y, z


def quaternion(values: list[float]) -> Quaternion:
    """Four numbers as a tuple."""
    x, y, z, w = values
    return x, y, z, w


def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    """The rotation q, then p."""
    return product(*p, *q)


def inverse(q: Quaternion) -> Quaternion:
    """The opposite rotation."""
    return -q[0], -q[1], -q[2], q[3]


def rotate(q: Quaternion, v: Vector) -> Vector:
    """A vector turned by q."""
    return turned(*q, *v)


def exp(v: Vector) -> Quaternion:
    """The rotation by a rotation vector."""
    return exponential(*v)


def log(q: Quaternion) -> Vector:
    """The rotation vector of q, the short way."""
    x, y, z, _ = logarithm(*q)
    return x, y, z


def shortest_turn(a: Vector, b: Vector) -> Quaternion:
    """The smallest rotation from direction a to direction b, not zero."""
    return short_way(*unit(a), *unit(b))


def axes_of(q: Quaternion) -> tuple[Vector, Vector, Vector]:
    """The three turned coordinate axes: the columns of the rotation's matrix."""
    return rotate(q, UNITS[0]), rotate(q, UNITS[1]), rotate(q, UNITS[2])


def freed(problem: Problem) -> Problem:
    """The problem without step cap and partial stiffness."""
    spread = np.where(problem.s.spread > 0.0, problem.s.unit, 0.0)
    settings = problem.settings._replace(step_cap=math.inf)
    return problem._replace(s=problem.s._replace(spread=spread), settings=settings)


Pair: TypeAlias = tuple[Vector, Vector, float]
"""r, d (world frame, metres) and w."""

_NO_LEVER = 1e-12
"""Below this part of the largest possible lever a joint cannot move its effectors towards their targets."""
_ONE_LINE = 1e-6
"""Below this ratio of their singular values pairs lie on one line and leave the rotation about it open ..."""
_LEAST_TWIST = 1e-9
"""... which this weight of no rotation, relative to the pairs' own weight, then makes as small as possible."""
_FRACTIONS = (1.0, 0.5, 0.25)


def cost(pairs: list[Pair], turn: Quaternion) -> float:
    """Sum of w |R r - d|^2."""
    total = 0.0
    for r, d, weight in pairs:
        miss = minus(rotate(turn, r), d)
        total += weight * dot(miss, miss)
    return total


def best_angle(pairs: list[Pair], axis: Vector) -> float:
    """The angle about a unit axis of least cost, -pi .. pi: tan = sum w a.(r x d) / sum w (r.d - a.r a.d).

    Also right at 180 degrees. 0 where no turn is better than another.
    """
    sine = cosine = most = 0.0
    for r, d, weight in pairs:
        sine += weight * dot(axis, cross(r, d))
        cosine += weight * (dot(r, d) - dot(axis, r) * dot(axis, d))
        most += weight * length(r) * length(d)
    return math.atan2(sine, cosine) if math.hypot(sine, cosine) > _NO_LEVER * most else 0.0


def best_turn(pairs: list[Pair]) -> Quaternion:
    """The rotation of least cost; of several the smallest.

    One pair: the shortest turn from r to d. More: R = U diag(1, 1, det U V^T) V^T with sum w d r^T = U S V^T (Umeyama,
    "Least-squares estimation of transformation parameters between two point patterns", IEEE PAMI 13, 1991, eq. 40-43).
    """
    pairs = [pair for pair in pairs if length(pair[0]) > 0.0 and length(pair[1]) > 0.0]
    if not pairs:
        return UNTURNED
    if len(pairs) == 1:
        return shortest_turn(*pairs[0][:2])
    r, d = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    weight = np.array([pair[2] for pair in pairs])
    product = (d * weight[:, None]).T @ r
    u, sizes, v_transposed = np.linalg.svd(product)
    if sizes[1] <= _ONE_LINE * sizes[0]:
        u, _, v_transposed = np.linalg.svd(product + _LEAST_TWIST * sizes[0] * np.eye(3))
    mirrored = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ v_transposed))])
    return quaternion(from_matrix(u @ mirrored @ v_transposed).tolist())


def turn_ball(mechanism: Mechanism, k: int, turn: Quaternion) -> Quaternion:
    """Rotate a ball joint in the world; returns the rotation that limits and stiffness allowed."""
    before, here = mechanism.turn[k], log(turn)
    angle = length(here)
    if angle > mechanism.cap:
        here = scaled(here, mechanism.cap / angle)
    here = rotate(inverse(before), here)
    first = mechanism.angle[k]
    if mechanism.form[k] == algebra.TURNS:
        a, b, c = mechanism.ready[first : first + 3]
        x, y, z = rotate(inverse(mechanism.basis[k]), here)
        x, y, z, w = multiply(mechanism.q[k], exp(rotate(mechanism.basis[k], (a * x, b * y, c * z))))
        size = math.sqrt(x * x + y * y + z * z + w * w)
        mechanism.q[k] = (x / size, y / size, z / size, w / size)
    else:
        mechanism.q[k] = multiply(mechanism.q[k], exp(here))
        for d, x in enumerate(mechanism.read_ball(k), first):
            mechanism.change(d, x - mechanism.x[d])
        mechanism.set_joint(k)
    mechanism.follow(k)
    return multiply(mechanism.turn[k], inverse(before))


def turn_axis(mechanism: Mechanism, k: int, i: int, angle: float) -> Quaternion:
    """Change joint k's i-th angle within its limits; returns the resulting world rotation."""
    before = mechanism.turn[k]
    mechanism.change(mechanism.angle[k] + i, min(max(angle, -mechanism.cap), mechanism.cap))
    mechanism.set_joint(k)
    mechanism.follow(k)
    return multiply(mechanism.turn[k], inverse(before))


def fit_ball(mechanism: Mechanism, k: int, pairs: list[Pair]) -> Quaternion:
    """Rotate a ball joint to the least cost of its pairs, within limits; returns the world rotation.

    Limits bend the way to the best turn: if the full turn makes it worse, half or a quarter of it is tried.
    """
    local, before = mechanism.q[k], mechanism.turn[k]
    first, last = mechanism.first[k], mechanism.first[k + 1]
    coordinates = mechanism.x[first:last]
    wanted, here = log(best_turn(pairs)), cost(pairs, UNTURNED)
    for part in _FRACTIONS:
        made = turn_ball(mechanism, k, exp(scaled(wanted, part)))
        if cost(pairs, made) <= here:
            return made
        mechanism.q[k], mechanism.turn[k], mechanism.x[first:last] = local, before, coordinates
    return UNTURNED


def fit_axis(mechanism: Mechanism, k: int, i: int, pairs: list[Pair]) -> Quaternion:
    """Change joint k's i-th angle to the least cost of its pairs; returns the world rotation.

    The cost is a sinusoid of the angle: from here to its minimum it only falls, so a limit on the way does no harm.
    """
    return turn_axis(mechanism, k, i, best_angle(pairs, mechanism.angle_axis(k, i)))


def fits(mechanism: Mechanism, k: int, pairs: Callable[[], list[Pair]]) -> Iterator[Quaternion]:
    """Turn a joint to the least cost of its pairs, freely or about one axis after the other; yields each turn."""
    if mechanism.ball[k]:
        yield fit_ball(mechanism, k, pairs())
    for i in mechanism.angles[k]:
        yield fit_axis(mechanism, k, i, pairs())


_SMALL = 1e-9


def pairs_for(mechanism: Mechanism, goals: Iterable[int], pivot: Vector) -> list[Pair]:
    """Pairs of all these goals as seen from a pivot.

    shell: the effector and the nearest place in it; that of a position is the target.
    rotation: the three axes as they are and should be. Their squared chords are 2 phi^2 for a small angle phi,
        so half the weight is used.
    aim: the point of the axis, drawn out as a ray, that is as far from the pivot as the target is: a turn that brings
        it to the target points the ray at it. Seen from the effector a miss of 1 m is 1 / distance radians.
    """
    pairs: list[Pair] = []
    for g in goals:
        turn = mechanism.turn_weight[g] * mechanism.turn_weight[g]
        if mechanism.goal_has_shell[g]:
            r = minus(mechanism.point[g], pivot)
            if length(r) > mechanism.least_arm:
                pairs.append((r, minus(wanted_point(mechanism, g), pivot), mechanism.weight[g] * mechanism.weight[g]))
        if mechanism.goal_turns[g]:
            pairs += axis_pairs(mechanism.turn[mechanism.goal_joint[g]], mechanism.rotation[g], 0.5 * turn)
        if mechanism.goal_aims[g]:
            pairs.append(_ray_pair(mechanism, g, pivot, turn))
    return pairs


def axis_pairs(turn: Quaternion, wanted: Quaternion, weight: float) -> list[Pair]:
    """The pairs of a frame's three axes as they are and as they should be."""
    return [(r, d, weight) for r, d in zip(axes_of(turn), axes_of(wanted), strict=True)]


def wanted_point(mechanism: Mechanism, g: int) -> Vector:
    """The place in a goal's shell that is nearest to its effector."""
    return nearest_in_shell(mechanism.point[g], mechanism.target[g], mechanism.along[g], *mechanism.shell[g])


def _ray_pair(mechanism: Mechanism, g: int, pivot: Vector, weight: float) -> Pair:
    """The point p + a u of an aim's ray with |p + a u| = |t|, all from the pivot, and the target t.

    Where the target is nearer to the pivot than the ray ever gets, the ray's nearest point is taken.
    """
    p, t = minus(mechanism.point[g], pivot), minus(mechanism.target[g], pivot)
    x, y, z = mechanism.numbers[g][:3]
    u = rotate(mechanism.turn[mechanism.goal_joint[g]], (x, y, z))
    along = dot(p, u)
    square = along * along - dot(p, p) + dot(t, t)
    a = max(math.sqrt(max(square, 0.0)) - along, 0.0)
    distance = max(length(minus(t, p)), _SMALL)
    return plus(p, scaled(u, a)), t, weight / (distance * distance)
