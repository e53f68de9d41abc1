"""Demos in the window: opening, pausing, clicks and drawing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viewer.choices import MethodName
from viewer.document.actions import MoveTargets, SetSolver
from viewer.gizmo import Fill, Shape, Stroke
from viewer.session import Session
from viewer.session.demo_parts import Demo, DemoText, Ring, SolveAfresh, StartOver
from viewer.session.demos import demo_of
from viewer.session.ik_drag import Pointer, TargetMotion
from viewer.skeleton import Character
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.ui.camera_moves import CameraMoves
from viewer.ui.commands import CommandBinding, CommandBindings, needs
from viewer.ui.events import Move, Press
from viewer.ui.laboratory import Laboratory
from viewer.ui.view import View, ViewPart, Workspace, item_of

_ROUND = 144
"""Corners of a drawn circle."""
_WAY = 96
"""Points of a drawn path."""
_LAB_LEFT = DemoText("Press U: the laboratory compares the methods")
"""The line of a lesson while another workspace is open."""


class Demos(ViewPart):
    """The behaviour of demos in the window."""

    def __init__(self, session: Session, view: View, camera_moves: CameraMoves, laboratory: Laboratory) -> None:
        super().__init__(session, view)
        self._camera_moves = camera_moves
        self._laboratory = laboratory
        self._closed: Character | None = None
        self._pointer: Pointer | None = None

    @property
    def current(self) -> Demo | None:
        return demo_of(self._document)

    @property
    def card(self) -> Demo | None:
        """The demo whose card is shown; None after the card was closed."""
        return None if self._closed is self._document.character else self.current

    @property
    def says(self) -> DemoText | None:
        """The demo's line about the present document, or a lesson's about what the methods did."""
        demo = self.current
        if demo is None:
            return None
        if not demo.lab:
            return demo.says(self._document)
        return demo.check(self._laboratory.by_name) if self._laboratory.on else _LAB_LEFT

    def close(self) -> None:
        self._closed = self._document.character
        self._view.changed()

    # Opening

    def opened(self) -> None:
        """Start the moving targets of a demo that was just opened, unless motion is reduced."""
        demo, session = self.current, self._session
        self._closed = self._pointer = None
        kept = self._view.preferences.display
        bodies = (demo is not None and demo.shows_bodies) or kept.get("bodies") is True
        balance = (demo is not None and demo.shows_balance) or kept.get("balance") is True
        self._view.display = replace(self._view.display, bodies=bodies, balance=balance)
        if demo is None:
            return
        if demo.trial is not None and self._view.workspace is not Workspace.PHYSICS:
            self._view.enter(Workspace.PHYSICS)
        if demo.lab:
            self._laboratory.compare(demo.lab)
            self._view.request("show-panel", demo.panel or "convergence")
        alone = session.path is None and not session.stage.several
        if demo.solves and alone and session.document.pose.same_as(demo.build().pose):
            session.replace(session.document, solve=True)
        if demo.follows:
            self._pointer = Pointer(np.array(session.document.goal(demo.follows).position))
            session.targets.animate((TargetMotion(demo.follows, self._pointer, shown=False),))
        else:
            session.targets.animate(demo.motions)
            if self._view.reduce_motion:
                session.targets.pause()

    # While it is shown

    @property
    def has_motions(self) -> bool:
        """Whether any targets move or are paused."""
        return bool(self._session.targets.motions)

    def start_over(self) -> None:
        """Restore the demo's initial document and view: one undo step. The solver stays if the demo compares none."""
        demo = self.current
        if demo is None:
            return
        session = self._session
        method = demo.build().solver.method if demo.solves else self._document.solver.method
        session.dispatch(self._as_opened(demo, method))
        self._camera_moves.start()
        if session.targets.motions:
            session.targets.animate(session.targets.motions)

    def _as_opened(self, demo: Demo, method: MethodName) -> StartOver:
        built, solver = demo.build(), replace(self._document.solver, method=method)
        document = replace(built, solver=solver)
        return (SolveAfresh if demo.solves else StartOver)(document)

    def choose(self, method: MethodName) -> None:
        """Solve by another method, with restarts if that misses a goal.

        A demo that compares solves starts from its initial pose, unless its target was moved; others from the present.
        """
        session, demo = self._session, self.current
        if demo is not None and demo.solves and self._document.goals == demo.build().goals:
            session.dispatch(self._as_opened(demo, method))
            return
        session.dispatch(SetSolver(method=method))
        if not session.targets.running and not all(error.reached for error in session.errors.values()):
            session.solve()

    def clicked(self, event: Press) -> bool:
        """Move the demo's target to a click in the view, if the demo has that; whether it was moved."""
        demo, hover = self.current, self._view.hovered
        name = "" if demo is None else demo.click_moves
        on_effector = hover.hit is not None and item_of(hover.hit).kind == "effector"
        if not name or event.mods or hover.part is not None or on_effector:
            return False
        goal = self._document.goal(name)
        if goal.position is None:
            return False
        point = self._under(event.x, event.y, np.array(goal.position))
        if point is None:
            return False
        self._session.dispatch(MoveTargets({name: (point, None)}))
        return True

    def pointed(self, event: Move) -> None:
        """Move a target that follows the pointer."""
        pointer, view = self._pointer, self._view
        if pointer is None or not self._session.targets.running or not view.viewport.contains(event.x, event.y):
            return
        point = self._under(event.x, event.y, pointer.position)
        if point is not None:
            pointer.position = point
            view.changed()

    def _under(self, x: float, y: float, level: Floats) -> Floats | None:
        point = self._view.projection().under(*self._view.local(x, y), level)
        return point if np.isfinite(point).all() else None

    # What is drawn

    def shapes(self, projection: Projection, scale: float) -> list[Shape]:
        demo, session = self.current, self._session
        if demo is None or self._view.workspace is Workspace.BUILD:
            return []
        shapes: list[Shape] = []
        for motion in session.targets.motions:
            if motion.shown and motion.path.period > 0.0:
                times = np.linspace(0.0, motion.path.period, _WAY, endpoint=False)
                path = np.array([motion.path(seconds) for seconds in times])
                if projection.inside(projection.project(path), margin=1e4).all():
                    shapes.append(Stroke(projection.project(path), scale, "text3", 0.4, closed=True))
        for ring in demo.rings(self._document):
            shapes += _round(ring, projection, scale)
        return shapes

    # Commands

    def bindings(self) -> CommandBindings:
        session = self._session
        return {
            "demo.animate": CommandBinding(
                session.targets.toggle,
                needs("no demo with moving targets is open", lambda: self.has_motions),
                lambda: session.targets.running,
            ),
            "demo.start_over": CommandBinding(self.start_over, needs("no demo is open", lambda: self.current)),
        }


def _round(ring: Ring, projection: Projection, scale: float) -> list[Shape]:
    """A circle that faces the viewer."""
    angles = np.linspace(0.0, 2.0 * np.pi, _ROUND, endpoint=False)[:, None]
    edge = np.array(ring.centre) + ring.radius * (np.cos(angles) * projection.right + np.sin(angles) * projection.up)
    points = projection.project(edge)
    if not np.isfinite(points).all():
        return []
    colour = "ok" if ring.tone == "ok" else "effector"
    fill = Fill(points, colour, 0.28 if ring.filled else 0.10)
    return [fill, Stroke(points, (1.0 if ring.filled else 2.0) * scale, colour, 0.7, closed=True)]
