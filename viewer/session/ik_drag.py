"""One IK drag, from press to release."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import InputError, quote
from viewer.ik.solution import Status
from viewer.session.actions.targets import with_handle
from viewer.session.bounds import violation
from viewer.session.checks import as_turn, as_vector
from viewer.session.drag_goals import Target, drag_goals, held_joint
from viewer.session.measuring import measured
from viewer.session.report import Report, Trace
from viewer.session.scope import joint_of, locked_joints
from viewer.session.solving import kept_pose, target_rows, tolerances
from viewer.session.standing import stand_of
from viewer.session.values import Item
from viewer.session.wanting import held
from viewer.skeleton.blend import blend_poses
from viewer.skeleton.effectors import find_place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from viewer.ik.goals import Goal
    from viewer.session.document import Document
    from viewer.session.drag_goals import Grab
    from viewer.session.solving import Solvers, SteppedDrag
    from viewer.skeleton.pose import Pose

BLEND = 0.2
"""Seconds in which a pose that was outside its limits comes inside, and an escape is blended in."""
_STILL = 1e-6
"""Of a quaternion's component, or metres: a tick that moves less has come to rest, once ..."""
_STILL_TICKS = 3
"""... so many in a row do."""
_SEEN = 1e-3
"""Radians or metres: a pose farther outside its limits would be seen to jump when it is brought inside."""
_CHUNK = 8
"""Iterations of a tick after the release."""


class IkDrag:
    """A drag of effectors, joints or a grabbed point.

    Each dragged effector's goal moves and goes first; all others stay. A dragged joint or grabbed point, a root's too,
    has a goal of its own for as long as the drag lasts. What is dragged is selected.

    Attributes:
        start: the document that it began with.
        document: as it is now.
        report: of the last step, None before the first.
    """

    def __init__(self, document: Document, items: tuple[Item, ...], grab: Grab | None, solvers: Solvers) -> None:
        """Begin.

        Raises:
            InputError: nothing to drag, unknown names, a point that is none, goals that cannot be solved.
        """
        self.start, self._solvers = document, solvers
        grabbed = () if grab is None else (held_joint(document, grab.joint, grab.point_local),)
        names = {one.item for one in grabbed}
        self._items = tuple(dict.fromkeys([*(Item(*item) for item in items), *names]))
        if not self._items:
            raise InputError("a drag needs an effector or joint to drag")
        for item in self._items:
            document.check_item(item)
        others = [item for item in self._items if item.kind == "joint" and item not in names]
        self._joints = (*grabbed, *(held_joint(document, item.name, (0.0, 0.0, 0.0)) for item in others))
        self._locked = locked_joints(document, [joint_of(document, item) for item in self._items])
        self._outside = document.pose if violation(document) > _SEEN else None
        self._began: float | None = None
        self._targets: dict[Item, Target] = {}
        self._solved: Pose | None = None
        self._still = _STILL_TICKS
        self.trace = Trace()
        self.report: Report | None = None
        self.document = _switched_on(_selecting(document, self._items), self._items)
        self._drag = self._begin(document.pose)

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Drag {self._items[0].name}" if len(self._items) == 1 else f"Drag {len(self._items)} items"

    @property
    def moved(self) -> bool:
        """Whether it was given any target."""
        return bool(self._targets)

    @property
    def pending(self) -> bool:
        """Whether another step may move anything."""
        return self.moved and self._still < _STILL_TICKS

    @property
    def stalled(self) -> bool:
        """Whether it stands short of targets that may well be in reach."""
        return self.report is not None and self.report.status is Status.STALLED

    def aim(self, targets: Mapping[Item, tuple[ArrayLike | None, ArrayLike | None]]) -> None:
        """Take new targets, world frame: position (3,) or None, rotation (4,) or None.

        Raises:
            InputError: an item that is not dragged, numbers that are none.
        """
        taken = {Item(*item): self._target(Item(*item), *target) for item, target in targets.items()}
        if all(self._targets.get(item) == target for item, target in taken.items()):
            return
        self._targets |= taken
        self._still = 0
        for item, target in taken.items():
            if item.kind == "effector":
                handle = self.document.handle(item.name).moved(target.position, target.rotation)
                self.document = with_handle(self.document, handle)
        goals = self._asked()
        if _kinds(goals) != self._kinds:
            self._drag = self._begin(self._solved or self.start.pose)

    def _target(self, item: Item, position: ArrayLike | None, rotation: ArrayLike | None) -> Target:
        if item not in self._items:
            raise InputError(f"{item.kind} {quote(item.name)} is not part of this drag")
        before, what = self._targets.get(item, Target()), f"target of {quote(item.name)}"
        place = before.position if position is None else as_vector(position, what)
        turn = before.rotation if rotation is None else as_turn(rotation, what)
        return Target(place, turn)

    def _asked(self) -> dict[str, Goal]:
        # Joints that have no target yet stay where they were at the start.
        asking = replace(self.document, pose=self.start.pose)
        effectors = {item.name for item in self._items if item.kind == "effector"}
        return drag_goals(asking, self._joints, self._targets, effectors)

    def _begin(self, pose: Pose) -> SteppedDrag:
        goals = self._asked()
        self._kinds = _kinds(goals)
        return self._solvers.drag(replace(self.document, pose=pose), tuple(goals.values()), self._locked)

    def step(self, now: float, iterations: int) -> None:
        """One tick: so many iterations at most."""
        goals = self._asked()
        solution = self._drag.step(*target_rows(tuple(goals.values())), iterations)
        self.trace.add(solution)
        self.report = Report(solution, tuple(goals), tolerances(self.start.solver), self.trace, whole=False)
        before = self._solved or self.start.pose
        pose = kept_pose(self.start, solution) or before
        still = self._solved is not None and _change(before, pose) < _STILL
        self._still = self._still + 1 if still else 0
        self._solved = pose
        self.document = replace(self.document, pose=self._blended(pose, now))

    def _blended(self, pose: Pose, now: float) -> Pose:
        """A drag that begins outside the limits does not jump inside."""
        if self._outside is None:
            return pose
        self._began = now if self._began is None else self._began
        part = (now - self._began) / BLEND
        if not 0.0 <= part < 1.0:
            self._outside = None
            return pose
        self._still = 0
        return blend_poses(self._outside, pose, part)

    def finish(self) -> Document:
        """On release: the document where the targets lead, by a bounded number of further steps."""
        self._outside = None
        left = self.start.solver.max_iterations
        while left > 0 and self.pending and (self.report is None or self.report.status is Status.BUDGET):
            self.step(0.0, min(left, _CHUNK))
            left -= max(1, self.report.iterations if self.report else 0)
        document = self.document if self._solved is None else replace(self.document, pose=self._solved)
        if not self._joints:
            return document
        return _let_go(self.start, document, [one.joint for one in self._joints])

    @property
    def temporary(self) -> bool:
        """Whether any of its goals ends with it."""
        return bool(self._joints)

    def escape(self) -> Pose | None:
        """A pose that meets all goals where the drag was caught in a trap; None if none is found."""
        found = None if self.temporary else self._drag.escape()
        return None if found is None else kept_pose(self.document, found)


def _kinds(goals: dict[str, Goal]) -> tuple[object, ...]:
    return tuple((name, goal.kind) for name, goal in goals.items())


def _change(one: Pose, other: Pose) -> float:
    turned = float(np.abs(one.rotations - other.rotations).max())
    return max(turned, float(np.abs(one.translations - other.translations).max()))


def _selecting(document: Document, items: tuple[Item, ...]) -> Document:
    """What is dragged is selected, unless it is part of what is."""
    if all(item in document.selection for item in items):
        return document
    return replace(document, selection=items)


def _switched_on(document: Document, items: tuple[Item, ...]) -> Document:
    for item in items:
        if item.kind == "effector" and not document.handle(item.name).on:
            document = with_handle(document, held(document, document.handle(item.name)))
    return document


def _let_go(start: Document, document: Document, joints: list[int]) -> Document:
    """The document after dragged joints were let go of: what gave way to them is held where it is now.

    These are the handles of those very joints, and holds that were met before and cannot be met any more. Pins stay
    where they are, and so do targets that were missed before.
    """
    before, now = ({name for name, error in measured(some).items() if not error.reached} for some in (start, document))
    for handle in document.handles:
        if not handle.stands:
            continue
        own = find_place(document.skeleton, handle.effector).joint in joints
        gave_way = handle.effector in now - before and not handle.pinned
        if own or gave_way:
            stand = stand_of(document.skeleton, document.pose, handle)
            kept = handle.rotation if own and handle.pin_rotation else None
            document = with_handle(document, handle.standing_at(stand.position, kept or stand.rotation))
    return document
