"""IK drags: a drag from press to release, and the one by which the body follows targets that move along paths.

A drag has a chain of joints that take part, targets and steps; a path is a position as a function of time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from viewer.document import Document, Grab, Item, Report, measured, stand_of
from viewer.document.document import shares
from viewer.document.key_editing import carried_pose
from viewer.document.posed_goals import (
    DraggedJoint,
    DragTarget,
    drag_goals,
    dragged_joint,
    followers_off,
    held,
    linked_items,
    with_goal,
)
from viewer.document.scope import joints_of, locked_joints, violation
from viewer.document.solve_report import Trace
from viewer.errors import InputError, ViewerError, quote
from viewer.ik.goals.goal import as_rotation
from viewer.ik.solution import Status
from viewer.session.figures import Stage, State
from viewer.session.solving import SettleDetector, Solvers, kept_pose, target_rows, tolerances
from viewer.skeleton import Pose, Skeleton, above, at_or_below, blend_poses, effector_of, point_of
from viewer.spatial.checks import Floats, Vector, as_number, as_vector

BLEND = 0.2
"""Seconds of the blend from a pose outside its limits to one inside, and of an escape."""
_SEEN = 1e-3
"""Radians or metres outside the limits from which the jump inside would be visible."""
_CHUNK = 8
"""Iterations per step after the release."""
_PIN_OFF, _FOR_PINS = 0.5, 4
"""A tick continues while a pin is off by more than this part of the tolerance, for at most this many steps."""

_NO_TARGET = DragTarget()

LONGEST_STEP = 0.05
"""Seconds that targets advance in one tick at most: after a pause of the program they do not jump."""
EASE = 0.8
"""Seconds in which a target that is off its path returns to it."""

_COMPARED = tuple(field.name for field in fields(Document) if field.name not in ("frame", "take"))
"""Fields whose change means that something else has changed the document; a recording changes the others."""


class _Way(NamedTuple):
    """The chain of joints that can bring a dragged item to its target, nearest first.

    ``movers`` are its joints; without ``joint``, that the item is fixed to, if it is at its centre, which rotating does
    not move.
    """

    joint: int
    movers: tuple[int, ...]


def _ways_of(document: Document, items: Iterable[Item], held: Iterable[DraggedJoint]) -> tuple[_Way, ...]:
    """The chain of each item: of an effector by its point, of a joint by the dragged point; two of a goal for two."""
    skeleton, points = document.skeleton, {one.item: one.point for one in held}
    ways = []
    for item in items:
        if item.kind == "effector":
            goal = document.goal(item.name)
            others = [point_of(skeleton, name) for name in goal.ends[1:]]
            ends = [point_of(skeleton, goal.effector, goal.offset), *others]
        else:
            ends = [(skeleton.index(item.name), points[item])]
        for joint, point in ends:
            path = above(skeleton, joint)
            ways.append(_Way(joint, tuple(path if any(point) else path[1:])))
    return tuple(ways)


def _longest(ways: Sequence[_Way], skeleton: Skeleton, locked: frozenset[str]) -> int:
    """Number of joints of the longest chain, without locked ones."""
    return max((sum(skeleton.names[joint] not in locked for joint in way.movers) for way in ways), default=0)


def _locked_beyond(skeleton: Skeleton, ways: Sequence[_Way], length: int, locked: frozenset[str]) -> frozenset[str]:
    """Names of the joints that may not move if chains are limited to ``length`` joints.

    Descendants of joints that move may move, too: they may have goals of their own.
    """
    tops = []
    for way in ways:
        free = [joint for joint in way.movers if skeleton.names[joint] not in locked][:length]
        tops.append(free[-1] if free else way.joint)
    moves = at_or_below(skeleton, *tops)
    return locked | {name for name, free in zip(skeleton.names, moves.tolist(), strict=True) if not free}


def _taken_up(document: Document, items: tuple[Item, ...]) -> Document:
    """Select dragged items that are not selected and enable their goals; what they are held together with follows."""
    if not all(item in document.selection for item in items):
        document = replace(document, selection=items)
    for item in items:
        if item.kind == "effector" and not document.goal(item.name).enabled:
            document = with_goal(document, held(document, document.goal(item.name)))
    joints = [document.skeleton.index(item.name) for item in items if item.kind == "joint"]
    goals = [item.name for item in items if item.kind == "effector"]
    return followers_off(document, (one.name for one in document.skeleton.effectors if one.joint in joints), goals)


def _let_go(start: Document, document: Document, joints: list[int]) -> Document:
    """The document after dragged joints are released: goals that gave way are set to where their effectors are.

    These are the goals of the dragged joints, and holds that were met before the drag and are not now. Pins stay, and
    so do targets that were missed before.
    """
    before, now = ({name for name, error in measured(some).items() if not error.reached} for some in (start, document))
    for goal in document.goals:
        if not goal.sets_pose:
            continue
        own = effector_of(document.skeleton, goal.effector).joint in joints
        gave_way = goal.id in now - before and not goal.pinned
        if own or gave_way:
            stand = stand_of(document, goal)
            kept = goal.rotation if own and goal.pin_rotation else None
            document = with_goal(document, goal.met_at(stand.point, kept or stand.rotation))
    return document


class IkDrag:
    """An IK drag of effectors, joints or a grabbed point.

    Dragged goals move and have priority; all others stay. A dragged joint or grabbed point, a root's too, has a
    temporary goal. Dragged items become selected.

    Attributes:
        start: the document before the drag.
        document: the present document.
        report: of the last step; None before the first.
        chain: how many joints above the dragged items take part.
        longest_chain: how many can take part.
        aimed: whether it was given other targets, or another chain, since the last step.
        priority: of the dragged goals among all.
    """

    def __init__(
        self, document: Document, items: tuple[Item, ...], grabs: Iterable[Grab | None], solvers: Solvers
    ) -> None:
        """Begin; an InputError for no items, unknown names, an invalid point, or goals that cannot be solved."""
        self.start, self._solvers, self._iterations = document, solvers, document.solver.tick_iterations
        held = [grab for grab in grabs if grab is not None]
        grabbed = tuple(dragged_joint(document, grab.joint, grab.point_local) for grab in held)
        names = [one.item for one in grabbed]
        self._items = tuple(dict.fromkeys([*(Item(*item) for item in items), *names]))
        if not self._items:
            raise InputError("a drag needs an effector or joint to drag")
        for item in self._items:
            document.check_item(item)
        self._given = self._items
        self._along = linked_items(document, self._given)
        self._items = tuple(dict.fromkeys([*self._given, *(item for along in self._along.values() for item in along)]))
        others = [item for item in self._items if item.kind == "joint" and item not in names]
        self._joints = (*grabbed, *(dragged_joint(document, item.name, (0.0, 0.0, 0.0)) for item in others))
        self._called = {item: f"target of {quote(item.name)}" for item in self._items}
        dragged = [joint for item in self._items for joint in joints_of(document, item)]
        self._fixed = self._locked = locked_joints(document, dragged)
        self._ways = _ways_of(document, self._items, self._joints)
        self.longest_chain = self.chain = _longest(self._ways, document.skeleton, self._fixed)
        self._outside = document.pose if violation(document) > _SEEN else None
        self._began: float | None = None
        self.aimed = False
        self._targets: dict[Item, DragTarget] = {}
        self._solved: Pose | None = None
        self._rest = SettleDetector()
        self.trace = Trace()
        self.report: Report | None = None
        self.document = _taken_up(document, self._given)
        self._kinds: tuple[object, ...] = ()
        self._ask()
        self._begin(document.pose)

    @property
    def effectors(self) -> frozenset[str]:
        """Ids of the dragged goals."""
        return frozenset(item.name for item in self._items if item.kind == "effector")

    @property
    def label(self) -> str:
        """Label of its undo step."""
        return f"Drag {self._given[0].name}" if len(self._given) == 1 else f"Drag {len(self._given)} items"

    @property
    def moved(self) -> bool:
        """Whether it has been given any target."""
        return bool(self._targets)

    @property
    def pending(self) -> bool:
        """Whether another step may move anything."""
        return self.moved and not self._rest.reached

    @property
    def stalled(self) -> bool:
        """Whether it is stuck short of targets that may be reachable."""
        return self.report is not None and self.report.status is Status.STALLED

    def aim(self, targets: Mapping[Item, tuple[ArrayLike | None, ArrayLike | None]]) -> None:
        """Set new targets, world frame: position (3,) or None, rotation (4,) or None."""
        places = {Item(*item): target for item, target in targets.items()}
        along = {other: (place, None) for item, (place, _) in places.items() for other in self._along.get(item, ())}
        taken = {item: self._target(item, *target) for item, target in (along | places).items()}
        if all(self._targets.get(item) == target for item, target in taken.items()):
            return
        only_moved = all(item in self._rows and _only_moves(self._targets.get(item), to) for item, to in taken.items())
        self._targets |= taken
        self.aimed = True
        self._rest.disturb()
        for item, target in taken.items():
            if item.kind == "effector":
                self.document = _aimed(self.document, item.name, target)
        if only_moved:
            self._move_rows(taken)
        elif self._ask():
            self._begin(self._solved or self.start.pose)

    def set_chain(self, length: int) -> None:
        """Limit the chain to ``length`` joints, at least one; the others return to the start."""
        length = int(as_number(length, "length of the chain"))
        length = min(max(length, 1), self.longest_chain)
        if length == self.chain:
            return
        self.chain = length
        whole = length == self.longest_chain
        self._locked = self._fixed if whole else _locked_beyond(self.start.skeleton, self._ways, length, self._fixed)
        self._ask()
        self._begin(self.start.pose)
        self._solved = None
        self.aimed = True
        self._rest.disturb()

    def _target(self, item: Item, position: ArrayLike | None, rotation: ArrayLike | None) -> DragTarget:
        if item not in self._items:
            raise InputError(f"{item.kind} {quote(item.name)} is not part of this drag")
        before, what = self._targets.get(item, _NO_TARGET), self._called[item]
        place = before.position if position is None else as_vector(position, what)
        turn = before.rotation if rotation is None else as_rotation(rotation, what)
        return DragTarget(place, turn)

    def _ask(self) -> bool:
        """Make the goals of the drag again; whether their kinds have changed."""
        # Joints without a target yet stay where they were at the start.
        asking = replace(self.document, pose=self.start.pose)
        effectors = self.effectors
        goals, strict, self.priority = drag_goals(asking, self._joints, self._targets, effectors)
        kinds, self._names = tuple((name, goal.kind) for name, goal in goals.items()), tuple(goals)
        changed, self._kinds, self._goals = kinds != self._kinds, kinds, tuple(goals.values())
        self._holds = frozenset(name for name, goal in goals.items() if goal.hold)
        self._places, self._turns = target_rows(self._goals)
        self._pins = [row for row, name in enumerate(goals) if name in strict]
        joints = {one.joint for one in self._joints}
        self._rows = {
            Item("effector", name): row
            for row, (name, goal) in enumerate(goals.items())
            if name in effectors and effector_of(asking.skeleton, goal.effector).joint not in joints
        }
        return changed

    def _move_rows(self, taken: Iterable[Item]) -> None:
        """Update the target rows of moved effectors, and nothing else of their goals."""
        for item in taken:
            row, goal = self._rows[item], self.document.goal(item.name)
            if goal.has_position:
                self._places[row] = goal.position
            if goal.has_rotation:
                self._turns[row] = goal.rotation

    def _begin(self, pose: Pose) -> None:
        self._drag = self._solvers.drag(replace(self.document, pose=pose), self._goals, self._locked)

    def step(self, now: float, iterations: int | None = None) -> None:
        """Make one tick of at most ``iterations`` iterations; None: the number that the settings give.

        While a pin is drawn off, as when the pointer jumps, further steps follow in the same tick.
        """
        iterations = self._iterations if iterations is None else iterations
        self.aimed = False
        solution = self._drag.step(self._places, self._turns, iterations)
        for _ in range(_FOR_PINS):
            if not (solution.errors_m[self._pins] > _PIN_OFF * self.start.solver.tolerance_m).any():
                break
            solution = self._drag.step(self._places, self._turns, iterations)
        self.trace.add(solution)
        self.report = Report(
            solution, self._names, tolerances(self.start.solver), self.trace, holds=self._holds, whole=False
        )
        before = self._solved or self.start.pose
        pose = kept_pose(self.start, solution) or before
        self._rest.note(None if self._solved is None else (before, pose), *self.trace.steps[-1][1:])
        self._solved = pose
        self.document = self.document.with_pose(self._blended(pose, now))

    def _blended(self, pose: Pose, now: float) -> Pose:
        """Blend from a start outside the limits, which would jump inside."""
        if self._outside is None:
            return pose
        self._began = now if self._began is None else self._began
        part = (now - self._began) / BLEND
        if not 0.0 <= part < 1.0:
            self._outside = None
            return pose
        self._rest.keep_going()
        return blend_poses(self._outside, pose, part)

    def follow(self, start: Document) -> None:
        """Continue from another start, because the motion below the drag has advanced."""
        before, after = self.start.pose, start.pose
        self.start, self._iterations = start, start.solver.tick_iterations
        document = _taken_up(replace(start, selection=self.document.selection), self._given)
        for item, target in self._targets.items():
            if item.kind == "effector":
                document = _aimed(document, item.name, target)
        if self._outside is not None:
            self._outside = carried_pose(self._outside, before, after)
        if self._solved is not None:
            self._solved = carried_pose(self._solved, before, after)
        pose = self._solved or after
        self.document = replace(document, pose=pose)
        if self._ask() or not self._drag.carry(after, pose):
            self._begin(pose)
        self._rest.disturb()

    def finish(self) -> Document:
        """The document after release, solved by a bounded number of further steps."""
        self._run_out()
        if not self._joints:
            return self.document
        return _let_go(self.start, self.document, [one.joint for one in self._joints])

    def _run_out(self) -> None:
        """Make a bounded number of further steps; ``document`` and ``report`` are those of the last one."""
        self._outside = None
        left = self.start.solver.max_iterations
        while left > 0 and self.pending and self._under_way:
            self.step(0.0, min(left, _CHUNK))
            left -= max(1, self.report.iterations if self.report else 0)
        if self._solved is not None:
            self.document = replace(self.document, pose=self._solved)

    def without_limits_of(self, joints: frozenset[str]) -> IkDrag:
        """The result of the same drag to the same targets if the limits of these joints do not bind."""
        start = replace(self.start, unlimited=self.start.unlimited | joints)
        grabs = [Grab(self.start.skeleton.names[one.joint], one.point) for one in self._joints]
        again = IkDrag(start, self._given, grabs, self._solvers)
        again.set_chain(self.chain)
        again.aim({item: (target.position, target.rotation) for item, target in self._targets.items()})
        again._run_out()
        return again

    @property
    def _under_way(self) -> bool:
        """Whether more iterations may bring goals nearer: of holds that give way also where these cannot be met."""
        if self.report is None or self.aimed or self.report.status is Status.BUDGET:
            return True
        yields = self.report.status in {Status.CONVERGED, Status.UNREACHABLE} and self.report.yielding_holds
        return bool(self._holds and yields)

    @property
    def temporary(self) -> bool:
        """Whether it has temporary goals."""
        return bool(self._joints)

    def escape(self) -> Pose | None:
        """A pose that meets all goals after a drag that ended in a local minimum; None if none is found."""
        found = None if self.temporary else self._drag.escape()
        return None if found is None else kept_pose(self.document, found)


def _aimed(document: Document, name: str, target: DragTarget) -> Document:
    """The document with a goal's target moved, kept in the plane if there is one."""
    goal = document.goal(name).retargeted(target.position, target.rotation)
    return document.with_goal(goal) if document.planar is None else with_goal(document, goal)


def _only_moves(before: DragTarget | None, target: DragTarget) -> bool:
    """Whether an item's target has the same parts as before."""
    if before is None:
        return False
    return (before.position is None, before.rotation is None) == (target.position is None, target.rotation is None)


# --- targets that move by themselves


class Path(Protocol):
    """A position as a continuous function of time in seconds."""

    @property
    def period(self) -> float:
        """Seconds of one cycle; 0: no cycle, and no path is drawn."""

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""


@dataclass(frozen=True, slots=True)
class Orbit:
    """An ellipse.

    Vectors from the centre, metres, lead to the start (``first``) and to the point a quarter of a cycle later
    (``second``); the period is in seconds.
    """

    centre: Vector
    first: Vector
    second: Vector
    period: float = 6.0

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""
        angle = math.tau * seconds / self.period
        return np.array(self.centre) + math.cos(angle) * np.array(self.first) + math.sin(angle) * np.array(self.second)


@dataclass(frozen=True, slots=True)
class FigureEight:
    """A horizontal figure of eight that starts in the middle.

    Vectors, metres, lead from the middle to the end of a loop (``first``) and from the middle line to its top
    (``second``); the period is in seconds.
    """

    centre: Vector
    first: Vector
    second: Vector
    period: float = 8.0

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""
        angle = math.tau * seconds / self.period
        along, up = math.sin(angle), math.sin(2.0 * angle)
        return np.array(self.centre) + along * np.array(self.first) + up * np.array(self.second)


@dataclass(frozen=True, slots=True)
class Chase:
    """Follows another path with a delay.

    ``prey`` is the path, ``late`` the delay in seconds, ``aside`` an offset from that path, metres.
    """

    prey: Path
    late: float
    aside: Vector = (0.0, 0.0, 0.0)

    @property
    def period(self) -> float:
        """The period of the path that it follows."""
        return self.prey.period

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""
        return np.asarray(self.prey(seconds - self.late) + np.array(self.aside))


@dataclass(frozen=True, slots=True)
class Made:
    """A path made from any function of time."""

    position: Callable[[float], Floats]
    period: float

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""
        return self.position(seconds)


class Pointer:
    """A position that is set from outside, such as the pointer's."""

    period = 0.0

    def __init__(self, position: Floats) -> None:
        self.position = position

    def __call__(self, seconds: float) -> Floats:  # noqa: ARG002 - of `Path`
        """(3,) metres, world frame."""
        return self.position


@dataclass(frozen=True, slots=True)
class TargetMotion:
    """A target that moves along a path.

    ``effector`` is the id of its goal, ``path`` its position over time; ``shown``: the path is drawn.
    """

    effector: str
    path: Path
    shown: bool = True


class MovingTargets:
    """Targets that move along paths, and the IK drag by which the body follows them.

    They stop while something else moves the body, and then continue from its result.

    ``motions`` are the targets that move, or would if they were not ``running``; ``seconds`` is the time along the
    paths.
    """

    def __init__(self, solvers: Solvers, stage: Stage) -> None:
        self.motions: tuple[TargetMotion, ...] = ()
        self.running = False
        self.seconds = 0.0
        self._solvers, self._stage, self._calls = solvers, stage, stage.calls
        self._drag: IkDrag | None = None
        self._eased = 0.0
        self._last: float | None = None
        self._offsets: dict[str, Floats] = {}

    def animate(self, motions: tuple[TargetMotion, ...]) -> None:
        """Move targets from now on, from the start of their paths; () stops all."""
        with self._calls("animate", motions):
            for motion in motions:
                self._stage.document.goal(motion.effector)
            self.motions, self.seconds, self._drag = tuple(motions), 0.0, None
            self._run(bool(motions))

    def restart(self) -> None:
        """Start the paths again; targets that are paused stay paused."""
        if self.motions:
            running = self.running
            self.animate(self.motions)
            if not running:
                self.pause()

    def pause(self) -> None:
        """Stop the targets where they are."""
        with self._calls("pause"):
            self._run(False)

    def resume(self) -> None:
        """Move the targets again after `pause`."""
        with self._calls("resume"):
            self._run(True)

    def toggle(self) -> None:
        """Pause or resume."""
        if self.running:
            self.pause()
        else:
            self.resume()

    def _run(self, running: bool) -> None:
        self.running = running and bool(self.motions)
        self.wait()
        self._stage.changed()

    def wait(self) -> None:
        """Do not count the time until the next `step`."""
        self._last = None

    @property
    def easing(self) -> bool:
        """Whether targets that were off their paths are still returning to them."""
        return self._eased < EASE

    def step(self, now: float) -> State | None:
        """The state after a bounded number of iterations towards the targets at time ``now``; None if at rest.

        Raises:
            ViewerError: goals that cannot be solved; the targets are paused.
        """
        passed = 0.0 if self._last is None else min(max(now - self._last, 0.0), LONGEST_STEP)
        self._last = now
        self.seconds += passed
        self._eased += passed
        try:
            drag = self._drag_from(self._stage.document)
            drag.aim({Item("effector", motion.effector): (self._position(motion), None) for motion in self.motions})
            if not drag.pending:
                return None
            drag.step(now)
        except ViewerError:
            self.pause()  # the next step would raise the same error
            raise
        return State(drag.document, drag.report)

    def _drag_from(self, document: Document) -> IkDrag:
        """The drag that the body follows; a new one if something else has changed the document."""
        drag = self._drag
        if drag is not None and (drag.document is document or shares(drag.document, document, _COMPARED)):
            drag.document = document
            return drag
        names = [motion.effector for motion in self.motions]
        drag = IkDrag(document, tuple(Item("effector", name) for name in names), (), self._solvers)
        drag.document = replace(drag.document, selection=document.selection)  # the selection is the user's
        on_paths = {motion.effector: motion.path(self.seconds) for motion in self.motions}
        self._offsets = {name: np.array(drag.document.goal(name).position) - on_paths[name] for name in names}
        self._drag, self._eased = drag, 0.0
        return drag

    def _position(self, motion: TargetMotion) -> Floats:
        """(3,) the target's position: on its path, or returning to it."""
        part = min(self._eased / EASE, 1.0)
        left = 1.0 - part * part * (3.0 - 2.0 * part)
        return np.asarray(motion.path(self.seconds) + left * self._offsets[motion.effector])
