"""A call of the compiled solver, from given targets to the answer, with as little Python as possible.

An easy solve takes about twenty microseconds; each numpy function takes one, or five where other work has evicted it
from the processor's caches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from viewer.ik.compiled.entry import BASE, GOOD_START, KNOWN, NEW_START
from viewer.ik.system import Call, Settings, StartTables
from viewer.ik.targets import Targets, make_call
from viewer.ik.workspace import Workspace
from viewer.skeleton import Pose
from viewer.spatial.checks import Floats, frozen

_FLOAT64 = np.dtype(np.float64)


class Row(NamedTuple):
    """An answer.

    Attributes:
        code: how the solve ended.
        numbers: all of it, see `viewer.ik.compiled.entry.put_answer`.
    """

    code: int
    numbers: Floats


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
        known, (shape, turned_shape) = self._none, self._shapes
        if places is None:
            places = known[0]
        elif not _is_plain(places, shape):
            return None
        if turns is None:
            turns = known[1]
        elif not _is_plain(turns, turned_shape):
            return None
        return self._solve(pose, places, turns, settings, onward, False, unseen)  # type: ignore[arg-type]

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
        space, news = self._space, KNOWN
        if not onward and not space.begins_again(pose):
            space.forget()
            news = NEW_START if unseen else GOOD_START
        elif pose is not self._base:
            news = BASE
        if news != KNOWN:
            self._pose = frozen(pose.rotations), frozen(pose.translations)
            self._base = None
        numbers = np.empty(self._size)
        run = self._run
        if settings is not run.settings:
            run.take(settings)
        code = run.solve(*self._pose, news, onward, settled, places, turns, numbers)
        if code < 0:
            return None
        self._base = pose
        if not onward:
            space.begun_at(pose)
        return Row(code, numbers)

    def pose(self, row: Row) -> tuple[Floats, Floats]:
        """Rotations (J, 4) and translations (J, 3), read-only."""
        numbers, joints = row.numbers, self._joints
        numbers.flags.writeable = False
        return numbers[: 4 * joints].reshape(joints, 4), numbers[4 * joints : 7 * joints].reshape(joints, 3)

    def found(self, row: Row) -> tuple[Floats, Floats]:
        """Misses (G', 2) and coordinates (n,)."""
        numbers, ends = row.numbers, self._ends
        return numbers[ends[2] : ends[3]].reshape(-1, 2), numbers[ends[1] : ends[2]]

    def targets(self, row: Row) -> tuple[Floats, Floats]:
        """Settled places (G, 3) and turns (G, 4)."""
        numbers, ends = row.numbers, self._ends
        return numbers[ends[3] : ends[4]].reshape(-1, 3), numbers[ends[4] :].reshape(-1, 4)


def _is_plain(array: object, shape: tuple[int, int]) -> bool:
    """Whether compiled code can read the array as it is; other types would need another compilation."""
    return type(array) is np.ndarray and array.dtype is _FLOAT64 and array.shape == shape and bool(array.flags.carray)
