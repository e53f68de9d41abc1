"""The workspace Lab: several methods solve the last drag, and every iteration of each can be looked at.

It changes nothing: the document keeps the pose that its own solver found. The view shows instead the pose of the chosen
method at the iteration of the playhead; the other methods are ghosts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from viewer.choices import MethodName
from viewer.document import Document, Item, Mode, world_of
from viewer.document.actions import Select
from viewer.document.posed_goals import Priority
from viewer.document.solve_report import StillReport
from viewer.formats.files import write_whole
from viewer.formats.lab_report import CURVES, Curve, amount, report_text
from viewer.gizmo import Shape, Stroke
from viewer.ik.findings import labels
from viewer.ik.goals import Goal
from viewer.ik.jacobian import Jacobian
from viewer.ik.lab import MOST_METHODS, Trace, Traces, farthest_goal
from viewer.ik.solution import Status
from viewer.latest import Latest
from viewer.scene import Ghost, Text
from viewer.scene.scene import effector_position, method_ghosts
from viewer.session import Session
from viewer.session.long_work import LabProblem, LabWorker, lab_problem
from viewer.skeleton import Pose
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.ui.commands import CommandBinding, CommandBindings, needs
from viewer.ui.events import FileQuestion
from viewer.ui.status import StatusLine
from viewer.ui.view import View, Workspace

PER_SECOND = 10.0
"""Iterations a second, while they are played and in films."""
FIRST_METHODS: tuple[MethodName, ...] = ("default", "dls", "sdls", "ccd", "transpose")
_ELLIPSOID, _ARROW = 0.12, 0.15
"""Longest half axis of an ellipsoid, and longest arrow, as parts of the figure's height."""
_HEAD = 9.0
"""Length of an arrow's head, logical pixels."""
_ROUND = np.linspace(0.0, 2.0 * np.pi, 49)
_THIN = 0.1
"""An axis shorter than this part of the longest is a direction in which the effector can hardly move."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of the Jacobian: the row's name and the degree of freedom's."""

    row: str
    dof: str


class Laboratory:
    """The workspace Lab.

    Attributes:
        methods: in the order of their letters.
        solid: the one whose pose is shown; the others are ghosts.
        hidden: those without ghost and curve.
        from_rest: all start from the rest pose, not from the one that the last drag began with.
        iteration: of the playhead; None: the end.
        playing: iterations go on by themselves.
        ellipsoids: manipulability is drawn at the effectors.
        cell: of the Jacobian that was clicked; its velocities are drawn.
    """

    def __init__(self, session: Session, view: View) -> None:
        self._session, self._view = session, view
        self.methods: tuple[MethodName, ...] = FIRST_METHODS
        self.solid: MethodName = FIRST_METHODS[0]
        self.hidden: frozenset[MethodName] = frozenset()
        self.from_rest, self.ellipsoids = False, False
        self.iteration: int | None = None
        self.playing = False
        self.cell: Cell | None = None
        self.worker = LabWorker()
        self._start: tuple[Document, Pose] | None = None
        self._priority: Priority | None = None
        self._last: tuple[tuple[Document, Pose] | None, Priority | None] = None, None
        self._problem = Latest[LabProblem | None]()
        self._ended: Pose | None = None
        self._dragging = False
        self._asked: tuple[LabProblem, tuple[MethodName, ...], bool] | None = None
        self._asked_of: tuple[str, ...] = ()
        self._seen, self._was_busy, self._played, self._passed = 0, False, 0.0, 0.0
        self._jacobian = Latest[Jacobian]()

    @property
    def on(self) -> bool:
        return self._view.workspace is Workspace.LAB

    @property
    def dragged(self) -> bool:
        """Whether the user drags the figure: its own pose is shown, and ghosts follow as they become ready."""
        return self._session.gestures.label is not None or self._session.document.mode is Mode.FK

    # Time

    def tick(self) -> bool:
        """Solve again when the document's problem has changed, and play; whether to go on drawing."""
        if not self.on:
            self._start, self._asked, self.playing = None, None, False
            return False
        if self.dragged:
            self.worker.ticked()
        self._ask()
        if (state := (self.worker.revision, self.worker.busy)) != (self._seen, self._was_busy):
            self._seen, self._was_busy = state
            self._view.changed()
        if self.playing:
            self._play(self._view.now)
        return self.worker.busy or self.playing

    def _ask(self) -> None:
        document = self._session.document
        start = self._start_of(document)
        problem = self._problem.of(
            lambda: lab_problem(document, start, self._priority), document, start, equal=self._priority
        )
        if problem is None:
            self._asked = None
            return
        wanted = problem, self.methods, self.dragged
        if self._asked is not None:
            same = problem.same_as(self._asked[0])
            if same and wanted[1:] == self._asked[1:]:
                return
            if not same:
                self.iteration, self.playing = None, False
        self._asked, self._asked_of = wanted, document.skeleton.names
        self.worker.solve(problem, self.methods, patient=self.dragged)
        self._view.changed()

    def _start_of(self, document: Document) -> Pose:
        """The pose in which all methods begin: the start of the last drag, or one that no solve made, as in FK."""
        gesture, drag = self._session.gestures.open_step, self._session.gestures.drag
        if drag is None and self._dragging:
            self._ended = document.pose
            if self._start is not None and self._start[0] is document:  # cancelled: the drag before it counts again
                self._start, self._priority = self._last
        elif not self._dragging:
            self._last = self._start, self._priority
        self._dragging = drag is not None
        if drag is not None and gesture is not None:
            self._start = gesture.start.document, gesture.start.document.pose
            self._priority = drag.priority if drag.effectors else None
        elif (
            self._start is None
            or self._start[0].skeleton is not document.skeleton
            or (document.pose is not self._ended and not self._is_solved())
        ):
            self._start, self._priority = (document, document.pose), None
        if drag is None:
            self._ended = document.pose
        return document.skeleton.rest_pose() if self.from_rest else self._start[1]

    @property
    def problem(self) -> LabProblem | None:
        """The problem that is solved; None without goals."""
        return None if self._asked is None else self._asked[0]

    @property
    def start(self) -> Pose | None:
        """The pose of the document's skeleton in which all methods begin; None without goals."""
        return None if self._asked is None else self._asked[0].shown(self._asked[0].start)

    def _is_solved(self) -> bool:
        """Whether a solve led to the pose."""
        report = self._session.report
        return report is not None and not isinstance(report, StillReport)

    def _play(self, now: float) -> None:
        passed = min(max(now - self._played, 0.0), 0.1)
        self._played = now
        self._passed += passed * PER_SECOND
        steps, self._passed = int(self._passed), self._passed % 1.0
        if steps:
            self.go_to(self.shown_iteration + steps)
            if self.iteration is None:
                self.playing = False

    # What was found

    @property
    def traces(self) -> dict[MethodName, Trace]:
        """By method, in the order of their letters; those that are ready."""
        found = self.worker.traces
        return {name: found[name] for name in self.methods if name in found and self._asked is not None}

    @property
    def last(self) -> int:
        """The last iteration of any method that is shown."""
        counts = [len(trace.solutions) - 1 for name, trace in self.traces.items() if name not in self.hidden]
        return max(counts, default=0)

    @property
    def shown_iteration(self) -> int:
        return self.last if self.iteration is None else min(self.iteration, self.last)

    def _pose_of(self, name: MethodName, trace: Trace) -> Pose:
        """A method's pose at the playhead; at its end the newest answer."""
        newest = self.worker.answer(name) if self.iteration is None else None
        return trace.at(self.shown_iteration).pose if newest is None else newest[1].pose

    @property
    def by_name(self) -> Mapping[str, Trace]:
        """`traces` by any name."""
        return {str(name): trace for name, trace in self.traces.items()}

    def curve(self, method: MethodName) -> Curve:
        """The letter, colour and dashes of a method."""
        return CURVES[self.methods.index(method)]

    @property
    def trace(self) -> Trace | None:
        """That of the solid method."""
        return self.traces.get(self.solid)

    def jacobian(self) -> Jacobian | None:
        """The solid method's Jacobian at the playhead."""
        trace, k = self.trace, self.shown_iteration
        if trace is None:
            return None
        return self._jacobian.of(lambda: trace.jacobian(k), trace, equal=k)

    def in_plane(self, jacobian: Jacobian) -> Jacobian:
        """Its rows within the plane of a planar document, for which numbers such as the rank are computed."""
        return jacobian if self._asked is None else self._asked[0].in_plane(jacobian)

    # What the user does

    def compare(self, methods: tuple[MethodName, ...]) -> None:
        """Open the workspace with these methods; the first is the solid one."""
        self.methods, self.solid, self.hidden, self._start = methods, methods[0], frozenset(), None
        if not self.on:
            self._view.enter(Workspace.LAB)
        self._view.changed()

    def add(self, method: MethodName) -> None:
        if method not in self.methods and len(self.methods) < MOST_METHODS:
            self.methods = (*self.methods, method)
            self._view.changed()

    def remove(self, method: MethodName) -> None:
        """Compare one method less; the last one stays."""
        if len(self.methods) > 1:
            self.methods = tuple(name for name in self.methods if name != method)
            self.hidden -= {method}
            if self.solid == method:
                self.solid = self.methods[0]
            self._view.changed()

    def show(self, method: MethodName) -> None:
        """Make a method the solid one."""
        self.solid, self.hidden = method, self.hidden - {method}
        self._view.changed()

    def hide(self, method: MethodName) -> None:
        """Hide a method, or show it again."""
        self.hidden ^= {method}
        self._view.changed()

    def go_to(self, iteration: int) -> None:
        wanted = None if iteration >= self.last else max(iteration, 0)
        if wanted != self.iteration:
            self.iteration = wanted
            self._view.changed()

    def play(self) -> None:
        """Play from the playhead, from the start if it is at the end; or stop."""
        self.playing = not self.playing
        if self.playing:
            self._played, self._passed = math.inf, 0.0
            if self.iteration is None:
                self.go_to(0)
        self._view.changed()

    def choose(self, cell: Cell) -> None:
        """Highlight a number of the Jacobian: select its joint and goal, draw its velocities; a second time, stop."""
        self.cell = None if cell == self.cell else cell
        trace = self.trace
        if self.cell is not None and trace is not None:
            names = trace.solver.skeleton.names
            joint = next((name for name in names if cell.dof == name or cell.dof.startswith(f"{name}.")), "")
            document = self._session.document
            items = [Item("joint", joint)] if joint in document.skeleton.names else []
            goal = self._goal_of(cell.row.rpartition(".")[0])
            if goal is not None:
                same = (one for one in document.goals if one.enabled and one.effector == goal.effector)
                items += [Item("effector", one.id) for one in same if not goal.id or one.id == goal.id]
            if items:
                self._session.dispatch(Select(tuple(items[:2])))
        self._view.changed()

    def save_report(self, path: Path) -> bool:
        """Save the report of what is shown; whether it could be written."""
        asked, document = self._asked, self._session.document
        if asked is None or not self.traces:
            return False
        shown = tuple(trace for name, trace in self.traces.items() if name not in self.hidden)
        problem = asked[0]
        traces = Traces(problem.skeleton, problem.goals, problem.start, shown or tuple(self.traces.values()))
        source = Path(document.character.source.path or "skeleton").name
        text = partial(report_text, traces, path, source=source, seed=problem.options.seed)
        written = self._view.attempt(lambda: write_whole(path, text()), "report")
        if written:
            self._view.note(f"Saved {path.name}")
        return written

    # What is shown

    @property
    def pose(self) -> Pose | None:
        """The pose shown instead of the document's; None during drags and outside the workspace."""
        trace, asked = self.trace, self._asked
        if not self.on or self.dragged or trace is None or asked is None or self.worker.problem is None:
            return None
        if trace.solver.skeleton is not asked[0].skeleton or not self._is_of_figure:
            return None
        return asked[0].shown(self._pose_of(self.solid, trace))

    @property
    def _is_of_figure(self) -> bool:
        """Whether the problem is that of the figure shown, not of an earlier one."""
        return self._asked_of == self._session.document.skeleton.names

    @property
    def shown_key(self) -> object:
        """Changes whenever pose or ghosts do."""
        if not self.on:
            return None
        return self.solid, self.hidden, self.shown_iteration, self.methods, self.worker.revision, self.dragged

    def ghosts(self) -> tuple[Ghost, ...]:
        """The other methods' figures, with their letters at the goal that is farthest from its start."""
        asked, document = self._asked, self._session.document
        if not self.on or asked is None or not self._is_of_figure:
            return ()
        skeleton, problem = document.skeleton, asked[0]
        worlds = [
            (self.curve(name), world_of(skeleton, problem.shown(self._pose_of(name, trace))))
            for name, trace in self.others.items()
        ]
        return method_ghosts(
            skeleton, world_of(skeleton, self.pose or document.pose), worlds, self.lettered, self._view.height
        )

    @property
    def others(self) -> dict[MethodName, Trace]:
        """The methods that are shown as ghosts."""
        if self._asked is None:
            return {}
        return {
            name: trace
            for name, trace in self.traces.items()
            if name not in self.hidden
            and (name != self.solid or self.dragged)
            and trace.solver.skeleton is self._asked[0].skeleton
        }

    def poses(self) -> tuple[Pose, ...]:
        """The poses that are drawn: the solid method's and those of the ghosts; () outside the laboratory."""
        asked = self._asked
        if not self.on or asked is None or self.pose is None or not self._is_of_figure:
            return ()
        others = self.others.items()
        return (self.pose, *(asked[0].shown(self._pose_of(name, trace)) for name, trace in others))

    @property
    def lettered(self) -> Goal | None:
        """The goal at which the letters of ghosts are."""
        return next((farthest_goal(trace) for trace in self.traces.values()), None)

    def shapes(self, projection: Projection, scale: float) -> list[Shape]:
        """Ellipsoids, and the velocities of the cell that was clicked."""
        jacobian = self.jacobian() if self.on and not self.dragged and (self.ellipsoids or self.cell) else None
        if jacobian is None:
            return []
        document = self._session.document
        world, height = world_of(document.skeleton, self.pose or document.pose), self._view.height
        places = {}
        for name, rows in jacobian.places().items():
            goal = self._goal_of(name)
            at = None if goal is None else effector_position(document.skeleton, world, goal)
            if at is not None:
                places[name] = at, rows
        shapes: list[Shape] = []
        if self.ellipsoids:
            sizes = [jacobian.ellipsoid(rows) for _, rows in places.values()]
            most = max((float(axes[0]) for _, axes in sizes), default=0.0)
            for (at, _), (directions, axes) in zip(places.values(), sizes, strict=True):
                if most > 0.0:
                    shapes += _ellipsoid(at, directions, axes * (_ELLIPSOID * height / most), projection, scale)
        if self.cell is not None and self.cell.dof in jacobian.dofs:
            column = jacobian.matrix[:, jacobian.dofs.index(self.cell.dof)]
            ways = [(at, column[rows]) for at, rows in places.values()]
            most = max((float(np.linalg.norm(way)) for _, way in ways), default=0.0)
            for at, way in ways:
                if most > 0.0:
                    shapes += _arrow(at, at + way * (_ARROW * height / most), projection, scale)
        return shapes

    def _goal_of(self, label: str) -> Goal | None:
        """The goal with this name in the rows of the Jacobian."""
        goals = () if self.trace is None else self.trace.solver.goals
        return dict(zip(labels(goals), goals, strict=True)).get(label)

    def texts(self, projection: Projection, scale: float) -> tuple[Text, ...]:  # noqa: ARG002 - as of all workspaces
        """No texts of its own: letters are those of the ghosts."""
        return ()

    def status(self, usual: Callable[[], StatusLine]) -> StatusLine:
        """The usual status line, about the solid method where its pose is shown."""
        trace, line = self.trace, usual()
        if trace is None or self.pose is None:
            return line
        miss = amount(trace.error(self.shown_iteration), metres=trace.in_metres)
        state, goals = f"Lab, iteration {self.shown_iteration} of {self.last}", f"{self.solid} {miss}"
        if trace.last.status is Status.CONVERGED:
            return line._replace(icon="check", tone="ok", state=state, goals=goals, figures=trace.how, yields="")
        return line._replace(icon="dot", tone="idle", state=state, goals=goals, figures=trace.how, yields="")

    # Commands

    def _jacobian_panel(self) -> None:
        if not self.on:
            self._view.enter(Workspace.LAB)
        self._view.request("show-panel", "jacobian")

    def bindings(self) -> CommandBindings:
        suffixes, ending = (".html", ".json"), ".lab.html"
        report = FileQuestion("Save report", "Save", suffixes, self.save_report, saving=True, ending=ending)
        does: dict[str, Callable[[], None]] = {
            "play.forwards": self.play,
            "play.next": lambda: self._step(1),
            "play.previous": lambda: self._step(-1),
            "play.on_ten": lambda: self._step(10),
            "play.back_ten": lambda: self._step(-10),
            "play.first": lambda: self._step(-self.shown_iteration),
            "play.last": lambda: self._step(self.last),
        }
        on = needs("only in the workspace Lab", lambda: self.on)
        solved = needs("nothing is solved yet: drag a goal", lambda: self.traces)
        return {name: CommandBinding(run, solved, when=lambda: self.on) for name, run in does.items()} | {
            "lab.open": CommandBinding(lambda: self._view.enter(Workspace.LAB), checked=lambda: self.on),
            "lab.jacobian": CommandBinding(self._jacobian_panel),
            "lab.ellipsoids": self._view.switch(self, "ellipsoids", on),
            "lab.report": CommandBinding(partial(self._view.ask, report), lambda: on() or solved()),
        }

    def _step(self, by: int) -> None:
        if self.playing:
            self.playing = False
            self._view.changed()
        self.go_to(self.shown_iteration + by)


def _ellipsoid(at: Floats, directions: Floats, axes: Floats, projection: Projection, scale: float) -> list[Shape]:
    """Three ellipses about a point, and a line along an axis that is nearly 0."""
    shapes: list[Shape] = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        points = (
            at + np.outer(np.cos(_ROUND) * axes[i], directions[i]) + np.outer(np.sin(_ROUND) * axes[j], directions[j])
        )
        pixels = projection.project(points)
        if np.isfinite(pixels).all():
            shapes.append(Stroke(pixels, (1.6 if (i, j) == (0, 1) else 1.0) * scale, "ok", 0.9))
    if axes[2] < _THIN * axes[0]:
        ends = projection.project(np.array([at - directions[2] * axes[0], at + directions[2] * axes[0]]))
        if np.isfinite(ends).all():
            shapes.append(Stroke(ends, 2.0 * scale, "warn"))
    return shapes


def _arrow(start: Floats, end: Floats, projection: Projection, scale: float) -> list[Shape]:
    ends = projection.project(np.array([start, end]))
    along = ends[1] - ends[0]
    length = float(np.linalg.norm(along))
    if not np.isfinite(ends).all() or length < 1.0:
        return []
    along /= length
    across = np.array([-along[1], along[0]])
    back = ends[1] - along * min(_HEAD * scale, length)
    head = np.array([back + 0.5 * _HEAD * scale * across, ends[1], back - 0.5 * _HEAD * scale * across])
    return [Stroke(ends, 2.4 * scale, "hovered"), Stroke(head, 2.4 * scale, "hovered")]
