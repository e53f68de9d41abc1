"""A call of the compiled solver, from given targets to the answer, with as little Python as possible.

An easy solve takes about twenty microseconds; each numpy function takes one, or five where other work has evicted it
from the processor's caches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np

from viewer.ik.compiled.entry import BASE, CODES, GOOD_START, KNOWN, NEW_START, OUTSIDE, STEPS
from viewer.ik.system import Call, Settings, StartTables
from viewer.ik.targets import Targets, make_call
from viewer.ik.workspace import Workspace
from viewer.skeleton import Pose
from viewer.spatial.checks import Floats, frozen

_FLOAT64 = np.dtype(np.float64)


Row: TypeAlias = tuple[int, Floats]
"""An answer: how the solve ended, see `ended`, and all numbers of it, see `viewer.ik.compiled.entry.put_answer`."""


class PreparedCalls(Protocol):
    """`viewer.ik.compiled.numba_engine.Prepared`, whose module needs numba.

    Attributes:
        call: the arrays that calls begin with.
        settings: that the next call solves by.
        solve: the compiled function.
    """

    call: Call
    settings: Settings | None
    solve: Callable[..., int]

    def take(self, settings: Settings) -> None:
        """Solve by other settings from now on."""


class Direct:
    """Calls on one workspace.

    Args:
        prepare: makes the call.
        workspace: whose arrays are solved on.
        targets: the solver's.
        tables: for looking at start poses.
    """

    def __init__(
        self,
        prepare: Callable[[Workspace, Call, StartTables], PreparedCalls],
        workspace: Workspace,
        targets: Targets,
        tables: StartTables,
    ) -> None:
        """Move all arrays into the block of compiled code."""
        self._joints, goals = len(workspace.skeleton), len(targets.goals)
        joints = self._joints
        self._space, self._open = workspace, bool(targets.opened)
        self._run = prepare(workspace, make_call(workspace.joints, workspace.goals, targets, joints), tables)
        workspace.prepared = self._run
        self._base: Pose | None = None
        self._pose = frozen(np.empty((0, 4))), frozen(np.empty((0, 3)))
        self._shapes = (goals, 3), (goals, 4)
        self._none = np.empty((0, 3)), np.empty((0, 4))
        ends = np.cumsum([4 * joints, 3 * joints, len(workspace.system.lower), 2 * len(workspace.goals), 3 * goals])
        self._ends: list[int] = ends.tolist()
        self._size = self._ends[-1] + 4 * goals

    def take_targets(self, targets: Targets) -> None:
        """Take other targets of the same goals."""
        self._open = bool(targets.opened)
        np.copyto(self._run.call.places, targets.places)
        np.copyto(self._run.call.turns, targets.turns)

    def given(
        self, pose: Pose, places: object, turns: object, settings: Settings, *, onward: bool, unseen: bool = False
    ) -> Row | None:
        """Solve for the targets given; None, without effect, where Python has to check them first.

        With ``unseen`` the pose may need a check, too: its joints have not been projected to what their kinds allow.
        """
        if self._open:
            return None
        (shape, turned_shape), none = self._shapes, self._none
        if places is None:
            places = none[0]
        elif not _is_plain(places, shape):
            return None
        if turns is None:
            turns = none[1]
        elif not _is_plain(turns, turned_shape):
            return None
        return self._solve(pose, places, turns, settings, onward, False, unseen)  # type: ignore[arg-type]

    def begins_at(self, pose: Pose) -> bool:
        """Whether the last solve did: then nothing of the pose is read again."""
        return pose is self._base and self._space.begins_at(pose)

    def settled(self, pose: Pose, targets: tuple[Floats, Floats], settings: Settings, *, onward: bool) -> Row:
        """Solve for settled targets (G, 3) and (G, 4)."""
        places, turns = (np.require(array, np.float64, ("C", "A", "W")) for array in targets)
        row = self._solve(pose, places, turns, settings, onward, True, False)
        assert row is not None  # only given targets may need a check
        return row

    def _solve(
        self,
        pose: Pose,
        places: Floats,
        turns: Floats,
        settings: Settings,
        onward: bool,
        settled: bool,
        unseen: bool,
    ) -> Row | None:
        space, news, run = self._space, KNOWN, self._run
        if not onward and not space.begins_at(pose):
            space.forget()
            news = NEW_START if unseen else GOOD_START
        elif pose is not self._base:
            news = BASE
        if news != KNOWN:
            self._pose = frozen(pose.rotations), frozen(pose.translations)
            self._base = None
        if settings is not run.settings:
            run.take(settings)
        numbers = np.empty(self._size)
        ended = run.solve(*self._pose, news, onward, settled, places, turns, numbers)
        if ended < 0:
            return None
        if news != KNOWN:
            self._base = pose
            if not onward:
                space.begun_at(pose)
        return ended, numbers

    def pose(self, numbers: Floats) -> Pose:
        """The pose of an answer."""
        joints = self._joints
        numbers.flags.writeable = False
        rotations, translations = numbers[: 4 * joints], numbers[4 * joints : 7 * joints]
        return Pose.trusted(rotations.reshape(joints, 4), translations.reshape(joints, 3))

    def found(self, numbers: Floats) -> tuple[Floats, Floats]:
        """Misses (G', 2) and coordinates (n,)."""
        ends = self._ends
        return numbers[ends[2] : ends[3]].reshape(-1, 2), numbers[ends[1] : ends[2]]

    def targets(self, numbers: Floats) -> tuple[Floats, Floats]:
        """Settled places (G, 3) and turns (G, 4)."""
        ends = self._ends
        return numbers[ends[3] : ends[4]].reshape(-1, 3), numbers[ends[4] :].reshape(-1, 4)


def how_ended(ended: int) -> tuple[int, int, bool]:
    """The code, the iterations, and whether the start was outside its limits, of what a call returned."""
    return ended % CODES, ended // STEPS, ended % STEPS >= OUTSIDE


_PLAIN = 0x101
"""Numpy's flags C_CONTIGUOUS and ALIGNED."""


def _is_plain(array: object, shape: tuple[int, int]) -> bool:
    """Whether compiled code can read the array as it is: it does not look at types itself."""
    return (
        type(array) is np.ndarray
        and array.dtype is _FLOAT64
        and array.shape == shape
        and array.flags.num & _PLAIN == _PLAIN
    )
