"""Writes targets into a system: the goals' own, those of a call, and those of pins without a position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError
from viewer.ik.goals import KINDS, Goal, Measure
from viewer.ik.goals.relative import relative_pose
from viewer.ik.system import Call, Settings
from viewer.skeleton import Pose, Skeleton, find_place, fk
from viewer.spatial.checks import UNIT_TOLERANCE, Bools, Floats, Ints


class Targets:
    """The targets of G goals, in the order given.

    Attributes:
        places: (G, 3) metres; NaN where a goal has none or a pin takes it from the pose.
        turns: (G, 4) the same for rotations.
    """

    def __init__(self, skeleton: Skeleton, goals: Sequence[Goal]) -> None:
        """Read the goals' own targets."""
        self.skeleton, self.goals = skeleton, tuple(goals)
        nowhere, unturned = (np.nan,) * 3, (np.nan,) * 4
        self.places = np.array([goal.target or nowhere for goal in goals]).reshape(-1, 3)
        self.turns = np.array([goal.target_rotation or unturned for goal in goals]).reshape(-1, 4)
        self.has_place = _with(goals, Measure.RELATIVE_POINT) | [KINDS[goal.kind].has_point for goal in goals]
        self.has_turn = _with(goals, Measure.RELATIVE_ROTATION) | [KINDS[goal.kind].has_rotation for goal in goals]
        self.open = [
            (i, find_place(skeleton, goal.effector))
            for i, goal in enumerate(goals)
            if goal.pinned and goal.enabled and (self._open_place(i) or self._open_turn(i))
        ]
        self.relative = [
            i
            for i, goal in enumerate(goals)
            if goal.enabled and KINDS[goal.kind].relative and None in (goal.target, goal.target_rotation)
        ]

    @property
    def opened(self) -> bool:
        """Whether some of them are taken from the start pose."""
        return bool(self.open or self.relative)

    def _open_place(self, i: int) -> bool:
        return bool(self.has_place[i] and np.isnan(self.places[i, 0]))

    def _open_turn(self, i: int) -> bool:
        return bool(self.has_turn[i] and np.isnan(self.turns[i, 0]))

    def settle(self, pose: Pose, places: ArrayLike | None, turns: ArrayLike | None) -> tuple[Floats, Floats]:
        """Targets of one call: those given, else the goals' own, else (pins) what the joint has in ``pose``.

        Args:
            pose: for open pins.
            places: (G, 3) or None; NaN rows and rows of goals without a position are ignored.
            turns: (G, 4) or None; rows that are NaN or of goals without a rotation are ignored.

        Raises:
            InputError: another shape, infinite numbers, invalid rotations.
        """
        if not self.opened and places is None and turns is None:
            return self.places, self.turns
        settled_places, settled_turns = self.places.copy(), self.turns.copy()
        if self.opened:
            world = fk(self.skeleton, pose)
            for i in self.relative:
                point, turn = relative_pose(self.goals[i], self.skeleton, world)
                settled_places[i] = point if self.goals[i].target is None else settled_places[i]
                settled_turns[i] = turn if self.goals[i].target_rotation is None else settled_turns[i]
            for i, place in self.open:
                if self._open_place(i):
                    offset = np.add(place.offset, self.goals[i].offset)
                    settled_places[i] = world.point(place.joint, offset)
                if self._open_turn(i):
                    settled_turns[i] = world.rotations[place.joint]
        if places is not None:
            self._put_places(numbers(places, (len(self.goals), 3), "targets"), settled_places)
        if turns is not None:
            self._put_turns(numbers(turns, (len(self.goals), 4), "target rotations"), settled_turns)
        return settled_places, settled_turns

    def settle_rows(self, count: int, places: Floats | None, turns: Floats | None) -> tuple[Floats, Floats]:
        """`settle` for ``count`` problems at once, of goals none of which is an open pin.

        Args:
            count: N.
            places: (N, G, 3) or None, see `settle`.
            turns: (N, G, 4) or None.

        Raises:
            InputError: infinite numbers, rotations that are none.
        """
        settled_places = np.repeat(self.places[None], count, axis=0)
        settled_turns = np.repeat(self.turns[None], count, axis=0)
        if places is not None:
            self._put_places(places, settled_places)
        if turns is not None:
            self._put_turns(turns, settled_turns)
        return settled_places, settled_turns

    def _put_places(self, given: Floats, settled: Floats) -> None:
        """Overwrite positions (..., G, 3) by those that are given."""
        refuse_odd(given, self.has_place, "targets")
        np.copyto(settled, given, where=(self.has_place & ~np.isnan(given).any(axis=-1))[..., None])

    def _put_turns(self, given: Floats, settled: Floats) -> None:
        """Overwrite turns (..., G, 4) by those that are given."""
        refuse_odd(given, self.has_turn, "target rotations")
        wanted = self.has_turn & ~np.isnan(given).any(axis=-1)
        settled[wanted] = unit_rows(given[wanted])


def _with(goals: Sequence[Goal], measure: Measure) -> Bools:
    """(G,) goals of kinds that measure this."""
    return np.array([measure in KINDS[goal.kind].measures for goal in goals], dtype=np.bool_)


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
    """Rotations (..., 4) normalised.

    Raises:
        InputError: one farther than `UNIT_TOLERANCE` from unit length.
    """
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
        rotations=np.zeros((count, 4)),
        translations=np.zeros((count, 3)),
        numbers=np.zeros(len(Settings._fields)),
    )
