"""The arrays of one solve at a time; each thread needs its own.

Passing ninety arrays from Python to compiled code takes longer than an easy solve. So for compiled code all of them are
parts of one array of integers, a block, which begins with a header: where each array begins in the block, and the
lengths of its axes. Floats and booleans are views of parts of it. Compiled code finds its arrays by the header
(`viewer.ik.compiled.numba_types`).

`make_call` writes targets into it: the goals' own, those of a call, and those of pins without a position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError
from viewer.ik.assemble import Assembly
from viewer.ik.contact.values import Contact
from viewer.ik.goals import KINDS, Goal
from viewer.ik.goals.balance_goal import find_support
from viewer.ik.kernels.joints import into_limits
from viewer.ik.numpy_engine import begin, residuals
from viewer.ik.solution import Findings, findings_of
from viewer.ik.system import (
    Call,
    Settings,
    StartTables,
    State,
    System,
    Work,
    copy_state,
    make_many,
    make_state,
    make_work,
)
from viewer.skeleton import Pose, Skeleton, fk
from viewer.skeleton.character import wrong_kind
from viewer.spatial.checks import UNIT_TOLERANCE, Bools, Floats, Integers, Ints

_OF_GOALS = ("goal_target", "goal_rotation", "goal_weight", "goal_rotation_weight", "goal_force", "scale")
"""The arrays of a system that hold targets and weights."""
_CHANGED = (*_OF_GOALS, "spread", "support", "corners")
"""Those and what a solve changes."""


class Buffers:
    """A system, its scratch and the pose that is being solved."""

    def __init__(self, skeleton: Skeleton, assembly: Assembly, problems: int = 1) -> None:
        """Allocate, with room for a number of problems; goals' targets are these buffers' own."""
        self.skeleton = skeleton
        self.joints, self.goals = assembly.joints, assembly.goals
        # Where a pose has their numbers: with one index for each of these numpy takes half the time.
        self._turns, self._moves = ((width * self.joints[:, None] + np.arange(width)).ravel() for width in (4, 3))
        system = assembly.system
        self.system = system._replace(**{name: getattr(system, name).copy() for name in _CHANGED})
        self.work = make_work(system)
        self.state = make_state(system)
        self.one = make_many(system, problems)
        self._aim_at_own()
        # The pose that `work.start` is, inside its limits: its last bits depend on which code brought it there.
        self.begun: Pose | None = None
        self._begun_by_numpy: Pose | None = None
        # Set by the callers of compiled code on these arrays: `Direct` and `Prepared` of `viewer.ik.compiled.entry`.
        self.direct: Any = None
        self.prepared: Any = None

    def take_goals(self, assembly: Assembly) -> None:
        """Take targets and weights; everything else of the assembly is as in the buffers' own."""
        for name in _OF_GOALS:
            np.copyto(getattr(self.system, name), getattr(assembly.system, name))
        self._aim_at_own()

    def _aim_at_own(self) -> None:
        np.copyto(self.one.target[0], self.system.goal_target)
        np.copyto(self.one.rotation[0], self.system.goal_rotation)

    def into_block(self, call: Call, tables: StartTables) -> tuple[Integers, Call]:
        """Move all arrays, and those of a call, into a block for compiled code; constant arrays are copied there."""
        block, moved = in_block(self._groups(call, tables))
        system, self.work, self.state, self.one, call, _ = moved
        self.system = self.system._replace(**{name: getattr(system, name) for name in _CHANGED})
        return block, call

    def ndims(self, call: Call, tables: StartTables) -> list[int]:
        """How many axes each of these arrays has."""
        return [array.ndim for group in self._groups(call, tables) for array in arrays_in(group)]

    def _groups(self, call: Call, tables: StartTables) -> tuple[Any, ...]:
        return *self.arrays, self.one, call, tables

    def go_back(self, pose: Pose) -> bool:
        """Go to a pose, inside its limits, and compute the residuals; whether it was outside."""
        self.pose_at(pose.rotations, pose.translations)
        outside = self.begin()
        residuals(self.system, self.work, self.state.q, self.state.t, self.state.e)
        return outside

    @property
    def arrays(self) -> tuple[System, Work, State]:
        """The arrays of a solve, in the order that `viewer.ik.levenberg_marquardt.minimise` takes them."""
        return self.system, self.work, self.state

    def pose_at(self, rotations: Floats, translations: Floats) -> None:
        """Take a pose, (J, 4) and (J, 3), to start from."""
        self.one.again[0] = False
        self.begun_at(None)
        rotations.take(self.joints, 0, self.one.q[0], "clip")
        translations.take(self.joints, 0, self.one.t[0], "clip")

    def begin_at(self, pose: Pose) -> None:
        """Take a pose to start from in numpy, not to be brought inside its limits again if it was the last one."""
        if pose is self._begun_by_numpy:  # poses are immutable
            self.one.again[0] = True
        else:
            self.pose_at(pose.rotations, pose.translations)

    def begun_at(self, pose: Pose | None, *, numpy: Pose | None = None) -> None:
        """Remember that ``start`` is this pose, inside its limits, brought there by compiled code or by numpy."""
        self.begun, self._begun_by_numpy = pose, numpy

    def aim_at(self, places: Floats, turns: Floats) -> None:
        """Take the targets (G, 3) and (G, 4) of all goals in the order given to the solver.

        Goals without a turn keep NaN there: no kernel reads it.
        """
        # All indices are in range; "clip" skips the check.
        places.take(self.goals, 0, self.one.target[0], "clip")
        turns.take(self.goals, 0, self.one.rotation[0], "clip")

    def begin(self, *, settle: bool = False) -> bool:
        """Prepare as `viewer.ik.problems.solve_batch` does, for other methods; whether the start was outside."""
        state, one = self.state, self.one
        self.aim_now()
        np.copyto(state.q, one.q[0])
        np.copyto(state.t, one.t[0])
        outside = into_limits(self.system, self.work, state.q, state.t, state.x)
        begin(self.system, self.work, state)
        if len(self.system.mass):
            residuals(self.system, self.work, state.q, state.t, state.e)
            find_support(self.system, self.work)
        if settle:
            copy_state(self.work.anchor, state)
        self.work.since[0] = 0
        return bool(outside)

    def aim_now(self) -> None:
        """Write the targets into the system."""
        np.copyto(self.system.goal_target, self.one.target[0])
        np.copyto(self.system.goal_rotation, self.one.rotation[0])

    def pose(self, base: Pose) -> Pose:
        """The solved pose; joints that took no part as in ``base``."""
        return self.posed(base, self.state.q.ravel(), self.state.t.ravel())

    def posed(self, base: Pose, turns: Floats, moves: Floats) -> Pose:
        """A pose with other rotations (4 K,) and translations (3 K,) of the joints that take part."""
        rotations, translations = base.rotations.flatten(), base.translations.flatten()
        rotations[self._turns], translations[self._moves] = turns, moves
        rotations.flags.writeable = translations.flags.writeable = False
        return Pose.trusted(rotations.reshape(-1, 4), translations.reshape(-1, 3))

    def findings(self, count: int, contact: Contact | None, functions: Mapping[int, float]) -> Findings:
        """The findings of the last solve for ``count`` goals, copied from the scratch; |f| of functions as given."""
        last = self.work.miss.copy(), self.state.x.copy()
        of = self.system, self.joints, self.goals, self.skeleton
        return findings_of(*of, count, lambda: last, contact, functions)


def checked_start(skeleton: Skeleton, pose: Pose) -> Pose:
    """A pose to start from; an InputError without one, or for one of another skeleton."""
    found: object = pose
    if not isinstance(found, Pose):
        raise wrong_kind(found, "a pose to start from")
    if len(pose.rotations) != len(skeleton):
        raise InputError(f"pose: expected {len(skeleton)} joints as the skeleton has, found {len(pose.rotations)}")
    return pose


Group = tuple[Any, ...]
"""A named tuple of arrays, or of other such groups."""

_BYTES = 8
_LINE = 8
"""Numbers in a line of a processor's cache: arrays begin at one."""


def entries_of(group: Group) -> list[int]:
    """Offset of each field's entry in its group's part of the header; the last one is where the next group begins."""
    return [0, *accumulate(1 + one.ndim if isinstance(one, np.ndarray) else entries_of(one)[-1] for one in group)]


def arrays_in(group: Group) -> Iterator[np.ndarray[Any, Any]]:
    """All arrays of a group, and of the groups in it, in the order of the header."""
    for one in group:
        if isinstance(one, np.ndarray):
            yield one
        else:
            yield from arrays_in(one)


def remade(group: Group, arrays: Iterator[np.ndarray[Any, Any]]) -> Any:  # noqa: ANN401 - of the group's own type
    """The same group of other arrays, in the order of `arrays_in`."""
    parts = [next(arrays) if isinstance(one, np.ndarray) else remade(one, arrays) for one in group]
    return type(group)._make(parts)  # type: ignore[attr-defined]  # they are named tuples


def in_block(groups: Sequence[Group]) -> tuple[Integers, list[Any]]:
    """A new block with copies of arrays of float64, int64 and bool, and the same groups made of these copies."""
    arrays, header = [array for group in groups for array in arrays_in(group)], list[int]()
    end, spans = _lines(sum(entries_of(group)[-1] for group in groups)), []
    for array in arrays:
        header += (end, *array.shape)
        spans.append((end, end + -(-array.nbytes // _BYTES)))
        end = _lines(spans[-1][1])
    room = np.zeros(end + _LINE, dtype=np.int64)
    skip = -room.ctypes.data // _BYTES % _LINE
    block = room[skip : skip + end]
    block[: len(header)] = header
    parts = []
    for array, (first, stop) in zip(arrays, spans, strict=True):
        parts.append(block[first:stop].view(array.dtype)[: array.size].reshape(array.shape))
        parts[-1][...] = array
    following = iter(parts)
    return block, [remade(group, following) for group in groups]


def _lines(count: int) -> int:
    """Round a count of numbers up to whole cache lines."""
    return -(-count // _LINE) * _LINE


class Targets:
    """The targets of G goals, in the order given.

    Attributes:
        places: (G, 3) metres; NaN where a pin takes it from the pose, 0 where a kind has none.
        turns: (G, 4) the same for rotations.
    """

    def __init__(self, skeleton: Skeleton, goals: Sequence[Goal]) -> None:
        self.skeleton, self.goals = skeleton, tuple(goals)
        asked = [KINDS[goal.kind].targets for goal in goals]
        has = [("target" in names, "target_rotation" in names) for names in asked]
        self.has_place, self.has_turn = np.array(has, dtype=np.bool_).reshape(-1, 2).T
        origin, nowhere, unturned = (
            (0.0,) * 3,
            (np.nan,) * 3,
            (np.nan,) * 4,
        )  # shells without a target: about the origin
        places = [(goal.target or nowhere) if place else origin for goal, (place, _) in zip(goals, has, strict=True)]
        self.places = np.array(places).reshape(-1, 3)
        self.turns = np.array([goal.target_rotation or unturned for goal in goals]).reshape(-1, 4)
        self.open = [
            i
            for i, (goal, (place, turn)) in enumerate(zip(goals, has, strict=True))
            if goal.enabled and ((place and goal.target is None) or (turn and goal.target_rotation is None))
        ]

    @property
    def opened(self) -> bool:
        """Whether some of them are taken from the start pose."""
        return bool(self.open)

    def settle(self, pose: Pose, places: ArrayLike | None, turns: ArrayLike | None) -> tuple[Floats, Floats]:
        """Targets of one call: those given, else the goals' own, else what ``pose`` has.

        ``pose``: for open targets, of pins and relative goals. ``places`` (G, 3) and ``turns`` (G, 4), or None: rows
        that are NaN, or of goals without that part, are ignored.

        Raises:
            InputError: another shape, infinite numbers, invalid rotations.
        """
        if not self.opened and places is None and turns is None:
            return self.places, self.turns
        settled_places, settled_turns = self.places.copy(), self.turns.copy()
        if self.opened:
            world = fk(self.skeleton, pose)
            for i in self.open:
                _, place, turn = KINDS[self.goals[i].kind].stand(self.goals[i], self.skeleton, world)
                if self.has_place[i] and self.goals[i].target is None:
                    settled_places[i] = place
                if self.has_turn[i] and self.goals[i].target_rotation is None:
                    settled_turns[i] = turn
        given_places = None if places is None else numbers(places, (len(self.goals), 3), "targets")
        given_turns = None if turns is None else numbers(turns, (len(self.goals), 4), "target rotations")
        return self._overwritten(settled_places, settled_turns, given_places, given_turns)

    def settle_rows(self, count: int, places: Floats | None, turns: Floats | None) -> tuple[Floats, Floats]:
        """`settle` for ``count`` problems at once, of goals none of which is an open pin.

        ``count`` is N; ``places`` (N, G, 3) and ``turns`` (N, G, 4), or None, are as of `settle`.

        Raises:
            InputError: infinite numbers, rotations that are none.
        """
        own_places, own_turns = (np.repeat(own[None], count, axis=0) for own in (self.places, self.turns))
        return self._overwritten(own_places, own_turns, places, turns)

    def _overwritten(
        self, settled_places: Floats, settled_turns: Floats, places: Floats | None, turns: Floats | None
    ) -> tuple[Floats, Floats]:
        """Settled targets (..., G, 3) and (..., G, 4), in place overwritten by those that are given."""
        if places is not None:
            refuse_odd(places, self.has_place, "targets")
            wanted = self.has_place & ~np.isnan(places).any(axis=-1)
            np.copyto(settled_places, places, where=wanted[..., None])
        if turns is not None:
            refuse_odd(turns, self.has_turn, "target rotations")
            wanted = self.has_turn & ~np.isnan(turns).any(axis=-1)
            settled_turns[wanted] = unit_rows(turns[wanted])
        return settled_places, settled_turns


def numbers(value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """``value`` as float64 of a shape that ends in (G, 3) or (G, 4), a row per goal; -1 is any length.

    Raises:
        InputError: no numbers, or another shape.
    """
    wanted = f"({', '.join('N' if length < 0 else str(length) for length in shape)})"
    try:
        array = np.asarray(value)
        # Numpy would also read text, and drop imaginary parts with only a warning.
        known = array.dtype.kind in "iufO"
        array = array.astype(np.float64, copy=False) if known else array
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what}: expected numbers of shape {wanted}, a row per goal") from error
    if not known:
        raise InputError(f"{what}: expected numbers of shape {wanted}, a row per goal")
    if array.ndim != len(shape) or array.shape[-2:] != shape[-2:]:
        raise InputError(f"{what}: expected shape {wanted}, a row per goal, found {array.shape}")
    return array


def refuse_odd(rows: Floats, used: Bools, what: str) -> None:
    """Raise InputError where a row (..., G, k) of a goal that is ``used`` is infinite, or NaN in part."""
    if np.isfinite(rows).all():
        return
    asked = rows[..., used, :]
    if np.isinf(asked).any():
        raise InputError(f"{what}: expected finite numbers (or NaN: leave it), found infinity")
    unknown = np.isnan(asked)
    if (unknown.any(axis=-1) != unknown.all(axis=-1)).any():
        raise InputError(f"{what}: expected rows of numbers, or of NaN alone (leave it), found NaN beside numbers")


def unit_rows(rotations: Floats) -> Floats:
    """Rotations (..., 4) normalised; an InputError for one farther than `UNIT_TOLERANCE` from unit length."""
    with np.errstate(over="ignore"):
        x, y, z, w = np.moveaxis(rotations, -1, 0)
        length = np.sqrt(x * x + y * y + z * z + w * w)
    if (np.abs(length - 1.0) > UNIT_TOLERANCE).any():
        off = float(length[np.abs(length - 1.0) > UNIT_TOLERANCE].flat[0])
        raise InputError(f"target rotations: expected unit quaternions (x, y, z, w), found length {off:.6g}")
    return np.asarray(rotations / length[..., None])


def make_call(joints: Ints, goals: Ints, targets: Targets, count: int) -> Call:
    """The initial `Call` arrays of a solver for ``count`` joints, without a pose yet."""
    return Call(
        joints=np.array(joints, dtype=np.int64),
        goals=np.array(goals, dtype=np.int64),
        has_place=np.array(targets.has_place),
        has_turn=np.array(targets.has_turn),
        places=np.array(targets.places),
        turns=np.array(targets.turns),
        size=np.array([count], dtype=np.int64),
        numbers=np.zeros(len(Settings._fields)),
        known=np.array([id(np.ndarray), id(None)], dtype=np.int64),
    )
