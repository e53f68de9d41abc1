"""The calls of compiled code: from a start pose and targets to an answer, and from a pose to its coordinates.

Its entries do for single numbers what `viewer.ik.buffers`, `viewer.ik.prepared` and `viewer.skeleton.coordinates` do
with arrays, because a handful of numpy calls takes longer than an easy solve.

A call takes as little Python as possible. An easy solve takes about ten microseconds; each numpy function takes one,
or five where other work has evicted it from the processor's caches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from viewer.ik.algebra import (
    EULER,
    FIXED,
    HINGE,
    SLIDE,
    SWING_TWIST,
    TURNS,
    UNIVERSAL,
    product,
    put_flat,
    put_row,
    turned,
)
from viewer.ik.buffers import Buffers, Targets, make_call
from viewer.ik.kernels.joints import ROUNDING, coordinates_of, counted, excess, swing_excess
from viewer.ik.problems import solve_batch
from viewer.ik.system import Call, Many, Settings, StartTables, State, Work
from viewer.skeleton import Pose
from viewer.spatial.checks import UNIT_TOLERANCE, Floats, Integers

UNSETTLED, ODD_START = -1, -2
"""Codes in place of a status, with nothing solved: numpy has to check the targets, or the start pose."""
CODES, OUTSIDE, STEPS = 8, 8, 16
"""What a call returns: the code, `OUTSIDE` if the start was outside its limits, and `STEPS` for each iteration."""


def groups_in(block: int) -> tuple[Any, ...]:
    """The groups of arrays in the block at an address; compiled code has an intrinsic function in place of this."""
    raise NotImplementedError


def table_of(given: object, known: Integers, rows: int, columns: int) -> Floats:
    """An array that is given; of None no rows, of all but contiguous float64 of this shape -1: see `groups_in`."""
    raise NotImplementedError


def row_of(given: object, known: Integers, length: int) -> Floats:
    """`table_of` with one axis."""
    raise NotImplementedError


def solve_in_block(
    block: int,
    rotations: object,
    translations: object,
    looks: bool,
    onward: bool,
    settled: bool,
    places: object,
    turns: object,
    answer: object,
) -> int:
    """`solve_batch` on the arrays in a block. Python calls this.

    Args:
        block: its address, see `groups_in`.
        rotations: (J, 4) of the start pose; None: that of the last call.
        translations: (J, 3) of it, or None.
        looks: whether to look at a pose that is given: its joints' kinds may not allow it.
        onward: as in `solve_batch`.
        settled: take the targets as they are.
        places: (G, 3) targets, or None.
        turns: (G, 4) target rotations, or None.
        answer: for one problem room for its answer, see `put_answer`; the targets are then settled before. Else None.

    Returns:
        How the (last) solve ended, see `STEPS`; `UNSETTLED` or `ODD_START`, with nothing solved.
    """
    s, w, state, many, call, tables = groups_in(block)
    joints, goals = call.size[0], len(call.has_place)
    q, t = table_of(rotations, call.known, joints, 4), table_of(translations, call.known, joints, 3)
    if len(q) < 0 or len(t) < 0 or (looks and len(q) > 0 and needs_projection(tables, q, t)):
        return ODD_START
    if len(q) > 0:
        take_start(call, many, q, t)
    n = call.numbers
    settings = Settings(
        int(n[0]), int(n[1]), n[2], n[3], n[4], int(n[5]), n[6], n[7], n[8], int(n[9]), n[10],
        n[11] != 0.0, n[12] != 0.0, n[13] != 0.0, n[14] != 0.0,
    )  # fmt: skip
    row = row_of(answer, call.known, 7 * len(call.joints) + len(state.x) + 2 * len(w.miss) + 7 * goals)
    if len(row) > 0:
        many.again[0] = len(q) == 0
        given, turned_to = table_of(places, call.known, goals, 3), table_of(turns, call.known, goals, 4)
        if len(given) < 0 or len(turned_to) < 0 or not take_targets(call, many, given, turned_to, settled, row):
            return UNSETTLED
    solve_batch(s, w, state, settings, many, onward)
    if len(row) > 0:
        put_answer(w, state, row)
    last = len(many.code) - 1
    ended = many.code[last] + STEPS * many.iterations[last]
    return int(ended + OUTSIDE if many.outside[last] else ended)


def take_start(call: Call, many: Many, rotations: Floats, translations: Floats) -> None:
    """Start where a pose (J, 4) and (J, 3) has the joints that take part."""
    for k in range(len(call.joints)):
        j = call.joints[k]
        for i in range(4):
            many.q[0, k, i] = rotations[j, i]
        for i in range(3):
            many.t[0, k, i] = translations[j, i]


def needs_projection(p: StartTables, rotations: Floats, translations: Floats) -> bool:
    """Whether joints are where their kinds do not allow, or idle joints seem to be outside their limits."""
    most = p.tolerances[0]
    for r in range(len(p.row_joint)):
        if not abs(dot_row(rotations, p.row_joint[r], p.rows, r)) <= most:
            return True
    for u in range(len(p.universal)):
        j, parts = p.universal[u], p.parts[u]
        x, y = dot_row(rotations, j, parts, 0), dot_row(rotations, j, parts, 1)
        n, w = dot_row(rotations, j, parts, 2), dot_row(rotations, j, parts, 3)
        if not abs(w * n - x * y) <= most:
            return True
    for i in range(len(p.slide)):
        j = p.slide[i]
        x, y, z = (
            translations[j, 0] - p.offset[i, 0],
            translations[j, 1] - p.offset[i, 1],
            translations[j, 2] - p.offset[i, 2],
        )
        along = x * p.along[i, 0] + y * p.along[i, 1] + z * p.along[i, 2]
        x, y, z = x - along * p.along[i, 0], y - along * p.along[i, 1], z - along * p.along[i, 2]
        if not math.sqrt(x * x + y * y + z * z) <= p.tolerances[1]:
            return True
    for i in range(len(p.idle)):  # noqa: SIM110 - compiled code takes a loop
        if not idle_excess(p, i, rotations, translations) <= p.tolerances[2]:
            return True
    return False


def dot_row(table: Floats, j: int, others: Floats, r: int) -> float:
    """The dot product of two rows (4,)."""
    total = 0.0
    for i in range(4):
        total += table[j, i] * others[r, i]
    return total


def idle_excess(p: StartTables, i: int, rotations: Floats, translations: Floats) -> float:
    """How far outside its limits joint ``p.idle[i]`` is, by the first reading of its coordinates."""
    j, form, lower, upper = p.idle[i], p.form[i], p.lower[i], p.upper[i]
    rx, ry, rz, rw = p.rest[i, 0], p.rest[i, 1], p.rest[i, 2], p.rest[i, 3]
    if form == SLIDE:
        x, y, z = turned(rx, ry, rz, rw, p.axes[i, 0, 0], p.axes[i, 0, 1], p.axes[i, 0, 2])
        x *= translations[j, 0] - p.home[i, 0]
        y *= translations[j, 1] - p.home[i, 1]
        z *= translations[j, 2] - p.home[i, 2]
        return excess(x + y + z, lower[0], upper[0])
    rx, ry, rz, rw = product(-rx, -ry, -rz, rw, rotations[j, 0], rotations[j, 1], rotations[j, 2], rotations[j, 3])
    x, y, z = coordinates_of(form, p.axes[i], p.order[i], rx, ry, rz, rw)
    if p.turning[i, 0]:
        x = counted(x, lower[0], upper[0])
    if p.turning[i, 1]:
        y = counted(y, lower[1], upper[1])
    if p.turning[i, 2]:
        z = counted(z, lower[2], upper[2])
    worst = max(excess(x, lower[0], upper[0]), excess(y, lower[1], upper[1]), excess(z, lower[2], upper[2]))
    if form == SWING_TWIST:
        worst = max(worst, swing_excess(lower, upper, x, y))
    return worst


def take_targets(call: Call, many: Many, places: Floats, turns: Floats, settled: bool, answer: Floats) -> bool:
    """Settle the targets given, (G, 3) and (G, 4), into the end of ``answer`` and into the one problem in ``many``.

    Args:
        call: has the values where nothing is given.
        many: one problem.
        places: NaN rows, and rows of goals without a place, are left as they are; so are all if it is empty.
        turns: the same for rotations.
        settled: take them as they are.
        answer: see `put_answer`.

    Returns:
        False for numbers that `viewer.ik.buffers.Targets.settle` has to check.
    """
    goals = len(call.has_place)
    at = len(answer) - 7 * goals
    by = at + 3 * goals
    for g in range(goals):
        x, y, z = call.places[g, 0], call.places[g, 1], call.places[g, 2]
        if len(places) > 0 and (settled or call.has_place[g]):
            u, v, w = places[g, 0], places[g, 1], places[g, 2]
            if not settled and (abs(u) == math.inf or abs(v) == math.inf or abs(w) == math.inf):
                return False
            unknown = int(math.isnan(u)) + int(math.isnan(v)) + int(math.isnan(w))
            if settled or unknown == 0:
                x, y, z = u, v, w
            elif unknown < 3:
                return False
        answer[at + 3 * g], answer[at + 3 * g + 1], answer[at + 3 * g + 2] = x, y, z
        x, y, z, r = call.turns[g, 0], call.turns[g, 1], call.turns[g, 2], call.turns[g, 3]
        if len(turns) > 0 and (settled or call.has_turn[g]):
            u, v, w, c = turns[g, 0], turns[g, 1], turns[g, 2], turns[g, 3]
            if settled:
                x, y, z, r = u, v, w, c
            elif abs(u) == math.inf or abs(v) == math.inf or abs(w) == math.inf or abs(c) == math.inf:
                return False
            elif math.isnan(u) and math.isnan(v) and math.isnan(w) and math.isnan(c):
                pass
            else:
                # In the order in which numpy adds them, and not fused: the same bits.
                length = math.sqrt(u * u + v * v + w * w + c * c)
                if not abs(length - 1.0) <= UNIT_TOLERANCE:  # a row that is NaN in part has to be checked, too
                    return False
                x, y, z, r = u / length, v / length, w / length, c / length
        answer[by + 4 * g], answer[by + 4 * g + 1], answer[by + 4 * g + 2], answer[by + 4 * g + 3] = x, y, z, r
    for g in range(len(call.goals)):
        for i in range(3):
            many.target[0, g, i] = answer[at + 3 * call.goals[g] + i]
        for i in range(4):
            many.rotation[0, g, i] = answer[by + 4 * call.goals[g] + i]
    return True


def put_answer(w: Work, state: State, answer: Floats) -> None:
    """The answer as one row of numbers.

    That is, one after the other: of the joints that take part rotations (K, 4) and translations (K, 3); coordinates
    (n,); misses (G', 2) of the goals that are enabled; then, by `take_targets`, settled places (G, 3) and turns (G, 4).
    """
    by = 4 * len(state.q)
    at = by + 3 * len(state.t)
    end = at + len(state.x)
    put_flat(state.q, answer)
    put_flat(state.t, answer[by:at])
    put_row(state.x, answer[at:end])
    put_flat(w.miss, answer[end : len(answer)])


def measure_pose(
    form: Integers,
    order: Integers,
    rest: Floats,
    axes: Floats,
    offsets: Floats,
    ranges: Floats,
    rotations: Floats,
    translations: Floats,
    coordinates: Floats,
    room: Floats,
) -> bool:
    """The coordinates of a pose, as `viewer.skeleton.coordinates.JointSpace.measure` has them. Python calls this.

    Args:
        form: (J,) as in `viewer.ik.assemble.DofTable`, as are the order (J, 3) and axes (J, 2, 3).
        order: of the axes of balls.
        rest: (J, 4) rotations at rest.
        axes: of hinges, universals and slides.
        offsets: (J, 3) metres.
        ranges: (4, J, 3) lower and upper ends, the middles from which angles are counted, and their periods.
        rotations: (J, 4) of the pose.
        translations: (J, 3) of it.
        coordinates: (J, 3) gets the coordinates; of those that are equivalent not yet the ones least outside.
        room: (J,) gets by how much each joint is inside its ranges.

    Returns:
        Whether any joint is outside, past rounding.
    """
    outside = False
    for j in range(len(form)):
        kind = form[j]
        x, y, z = 0.0, 0.0, 0.0
        first, second, third = 0, 1, 2
        if kind == SLIDE:
            rx, ry, rz, rw = rest[j, 0], rest[j, 1], rest[j, 2], rest[j, 3]
            vx, vy, vz = turned(rx, ry, rz, rw, axes[j, 0, 0], axes[j, 0, 1], axes[j, 0, 2])
            x = vx * (translations[j, 0] - offsets[j, 0])
            x += vy * (translations[j, 1] - offsets[j, 1]) + vz * (translations[j, 2] - offsets[j, 2])
        elif kind not in (FIXED, TURNS):
            rx, ry, rz, rw = product(
                -rest[j, 0], -rest[j, 1], -rest[j, 2], rest[j, 3],
                rotations[j, 0], rotations[j, 1], rotations[j, 2], rotations[j, 3],
            )  # fmt: skip
            x, y, z = coordinates_of(kind, axes[j], order[j], rx, ry, rz, rw)
            if kind in (EULER, HINGE, UNIVERSAL):
                x = wrapped(x)
            if kind == UNIVERSAL:
                y = wrapped(y)
            if kind in (EULER, SWING_TWIST):
                z = wrapped(z)
                first, second, third = order[j, 0], order[j, 1], order[j, 2]
        coordinates[j, first], coordinates[j, second], coordinates[j, third] = x, y, z
        least = math.inf
        for i in range(3):
            if ranges[3, j, i] > 0.0:
                turns = round((coordinates[j, i] - ranges[2, j, i]) / ranges[3, j, i])
                coordinates[j, i] -= ranges[3, j, i] * turns
            least = min(least, coordinates[j, i] - ranges[0, j, i], ranges[1, j, i] - coordinates[j, i])
        room[j] = least
        outside = outside or least < -ROUNDING
    return outside


def wrapped(angle: float) -> float:
    """An angle counted in (-pi, pi]."""
    near = angle - 2.0 * math.pi * round(angle / (2.0 * math.pi))
    if near > math.pi:
        return near - 2.0 * math.pi
    return near + 2.0 * math.pi if near <= -math.pi else near


Row: TypeAlias = tuple[int, Floats]
"""An answer: how the solve ended, see `STEPS`, and all numbers of it, see `viewer.ik.compiled.entry.put_answer`."""


Prepared: TypeAlias = tuple[Callable[..., int], int, Call]
"""`solve_in_block`, compiled; the address of the buffers' block; and the arrays in it that calls begin with."""

_MOST_ITERATIONS = 2**53
"""Exact as a float64, and more than any solve needs."""


def put_settings(call: Call, settings: Settings) -> None:
    """Solve by these settings from now on."""
    call.numbers[:] = settings._replace(max_iterations=min(settings.max_iterations, _MOST_ITERATIONS))


class Direct:
    """Calls on one set of ``buffers``.

    ``prepare`` makes the call, ``targets`` are the solver's, and ``tables`` serve to look at start poses.
    """

    def __init__(
        self,
        prepare: Callable[[Buffers, Call, StartTables], Prepared],
        buffers: Buffers,
        targets: Targets,
        tables: StartTables,
    ) -> None:
        """Move all arrays into the block of compiled code."""
        joints, goals = len(buffers.joints), len(targets.goals)
        self.buffers, self._open = buffers, bool(targets.opened)
        call = make_call(buffers.joints, buffers.goals, targets, len(buffers.skeleton))
        buffers.prepared = prepare(buffers, call, tables)
        self._run, self._address, self._call = buffers.prepared
        self._settings: Settings | None = None
        ends = np.cumsum([4 * joints, 3 * joints, len(buffers.system.lower), 2 * len(buffers.goals), 3 * goals])
        self._ends: list[int] = ends.tolist()
        self._size = self._ends[-1] + 4 * goals

    def take_targets(self, targets: Targets) -> None:
        """Take other targets of the same goals."""
        self._open = bool(targets.opened)
        np.copyto(self._call.places, targets.places)
        np.copyto(self._call.turns, targets.turns)

    def settled(self, pose: Pose, targets: tuple[Floats, Floats], settings: Settings, *, onward: bool) -> Row:
        """Solve for settled targets (G, 3) and (G, 4), from a pose that is inside its limits."""
        places, turns = map(_plain, targets)
        row = self.solve(self.start(pose, onward), places, turns, settings, False, onward, True)
        assert row is not None  # only given targets and poses may need a check
        return row

    def start(self, pose: Pose, onward: bool) -> Pose | None:
        """The pose, if the next call has to read it."""
        return None if onward or pose is self.buffers.begun else pose

    def solve(
        self,
        start: Pose | None,
        places: object,
        turns: object,
        settings: Settings,
        looks: bool,
        onward: bool,
        settled: bool,
    ) -> Row | None:
        """Solve for the targets given; None, without effect, where numpy has to look at them or at the pose.

        Arguments are those of `solve_in_block`, and ``start``: the start pose; None: that of the last call. They are
        passed by position: by name they take as long as an iteration.
        """
        if self._open and not settled:
            return None
        rotations, translations = None, None
        if start is not None:
            rotations, translations = start.rotations, start.translations
            if settled:
                rotations, translations = _plain(rotations), _plain(translations)
            self.buffers.begun_at(None)
        if settings is not self._settings:
            put_settings(self._call, settings)
            self._settings = settings
        numbers = np.empty(self._size)
        ended = self._run(self._address, rotations, translations, looks, onward, settled, places, turns, numbers)
        if ended < 0:
            return None
        if start is not None:
            self.buffers.begun_at(start)
        return ended, numbers

    def pose(self, base: Pose, numbers: Floats) -> Pose:
        """The pose of an answer; joints that took no part as in ``base``."""
        by, at = self._ends[:2]
        return self.buffers.posed(base, numbers[:by], numbers[by:at])

    def found(self, numbers: Floats) -> tuple[Floats, Floats]:
        """Misses (G', 2) and coordinates (n,)."""
        ends = self._ends
        return numbers[ends[2] : ends[3]].reshape(-1, 2), numbers[ends[1] : ends[2]]

    def targets(self, numbers: Floats) -> tuple[Floats, Floats]:
        """Settled places (G, 3) and turns (G, 4)."""
        ends = self._ends
        return numbers[ends[3] : ends[4]].reshape(-1, 3), numbers[ends[4] :].reshape(-1, 4)


def _plain(array: Floats) -> Floats:
    """The array, or a copy that compiled code can read."""
    return np.require(array, np.float64, ("C", "A"))
