"""Commands on pose, goals and solver: limits, pins, effectors, resets, methods, tools, all solutions of a problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal, TypeVar

import numpy as np

from viewer.choices import METHOD_NAMES
from viewer.document import DocumentGoal, Item, Mode, Scope, actions as act, joint_of
from viewer.document.actions import SetPose
from viewer.document.actions.goal_actions import adding_goal
from viewer.document.posed_goals import pairs_of
from viewer.errors import InputError
from viewer.gizmo import Space, Tool
from viewer.ik.all_solutions import MOST_STARTS, all_solutions
from viewer.ik.goals import Kind
from viewer.ik.solver import Solver
from viewer.ik.solver_options import DEFAULT, keywords_of
from viewer.session import Session
from viewer.session.long_work import LabProblem, lab_problem
from viewer.skeleton import Pose
from viewer.spatial.checks import Floats
from viewer.ui.camera_moves import note_out_of_plane
from viewer.ui.commands import ADD_GOAL, DIRECTIONS, CommandBinding, CommandBindings
from viewer.ui.drag_targets import handle_of, limb_joint, selected_joints
from viewer.ui.view import Message, View, ViewPart

Size = Literal["", "_fine", "_step"]
_FINE = 0.1
PAUSE = 1.0
"""Seconds without a nudge after which the next one starts another undo step."""

_Choice = TypeVar("_Choice")

_SLOW_STARTS = 64
"""Without compiled kernels a solve takes a hundred times as long."""


class Nudging:
    """Moves targets by keys. Nudges in a row are one undo step, until a pause, another action or another selection.

    Attributes:
        gesture: label of the nudges that are one undo step so far; None: there are none, and no ticks are needed.
    """

    def __init__(self, session: Session, view: View) -> None:
        self._session, self._view = session, view
        self.gesture: str | None = None
        self._last = -math.inf

    def nudge(self, way: str, size: Size) -> None:
        """Move the targets of the selected effectors in a direction of the view."""
        session, view, items = self._session, self._view, self._effectors()
        direction = self._direction(way)
        if size == "_step":
            length = view.snap_m
            # Steps are along the world axis nearest to the direction, as snapping is.
            axis = int(np.argmax(np.abs(direction)))
            direction = np.sign(direction[axis]) * np.eye(3)[axis]
        else:
            active = handle_of(session.document, items[-1])[0]
            scale = float(view.projection().pixels_per_metre(active))
            length = (_FINE if size else 1.0) * view.scale / scale if scale > 0.0 else 0.0
        moved = {item.name: (handle_of(session.document, item)[0] + length * direction, None) for item in items}
        if not self._under_way:
            session.begin(act.MoveTargets(moved).label.replace("Move", "Nudge"))
            self.gesture = session.gestures.label
        session.gestures.update(act.MoveTargets(moved))
        self._last = view.now

    @property
    def _under_way(self) -> bool:
        """Whether the gesture of the last nudge is still open; a panel may have ended it."""
        return self.gesture is not None and self._session.gestures.label == self.gesture

    def finish(self) -> None:
        """End the nudges so far as one undo step."""
        if self._under_way:
            self._session.commit()
        self.gesture = None

    def tick(self, now: float) -> bool:
        """End the nudges after a pause; whether they are still open."""
        if self._under_way and now - self._last >= PAUSE:
            self.finish()
        return self._under_way

    def _effectors(self) -> list[Item]:
        return [item for item in self._session.document.selection if item.kind == "effector"]

    def _direction(self, way: str) -> Floats:
        """(3,) unit vector, world frame, of a direction of the view."""
        view = self._view.projection()
        return {
            "left": -view.right, "right": view.right, "up": view.up, "down": -view.up,
            "nearer": view.back, "farther": -view.back,
        }[way]  # fmt: skip

    def bindings(self) -> CommandBindings:
        sizes: tuple[Size, ...] = ("", "_fine", "_step")
        return {
            f"nudge.{way}{size}": CommandBinding(partial(self.nudge, way, size), lambda: bool(self._effectors()))
            for way in DIRECTIONS
            for size in sizes
        }


class Posing(ViewPart):
    """Commands that change pose, goals and solver."""

    # What commands are about

    def _goal(self) -> DocumentGoal | None:
        """The active goal, or that of an effector on the active joint, or None."""
        item = self._document.active_on_figure
        if item is None:
            return None
        if item.kind == "effector":
            return self._document.goal(item.name)
        joint = self._document.skeleton.index(item.name)
        found = next((e.name for e in self._document.skeleton.effectors if e.joint == joint), None)
        return None if found is None else self._document.goal(found)

    def _joint(self) -> str | None:
        """Name of the active joint or of the active effector's joint, or None."""
        item = self._document.active_on_figure
        if item is None:
            return None
        return self._document.skeleton.names[joint_of(self._document, item)]

    def _has_goal(self) -> bool:
        return self._goal() is not None

    # Tools

    def set_tool(self, tool: Tool) -> None:
        """Select the gizmo's tool; `Tool.SELECT` has no handles."""
        self._view.tool = tool
        self._view.changed()

    def _shows(self, tool: Tool) -> bool:
        return self._view.tool is tool

    def _next_space(self, steps: int) -> None:
        self._view.space = _after(tuple(Space), self._view.space, steps)
        self._view.changed()

    # Limits, pins, effectors

    def _toggle_limits(self) -> None:
        self._do(act.SetLimits(not self._document.limits_on))
        note_out_of_plane(self._session, self._view)

    def _toggle_joint_limits(self) -> None:
        joint = self._joint()
        if joint is not None:
            self._do(act.SetJointLimits(joint, joint in self._document.unlimited))

    def _can_limit_joint(self) -> bool:
        joint = self._joint()
        return joint is not None and self._document.skeleton.limits[self._document.skeleton.index(joint)] is not None

    def _pin(self, part: str) -> None:
        """Toggle the pin of the selected effectors by the active one, in one step."""
        pinned = not self._pinned(part)
        goal = self._goal()
        names = self._document.selected("effector") or (() if goal is None else (goal.id,))
        self._several([act.SetPin(name, **{part: pinned}) for name in names], "Pin" if pinned else "Unpin")

    def _pinned(self, part: str) -> bool:
        goal = self._goal()
        return goal is not None and goal.enabled and bool(getattr(goal, f"pin_{part}"))

    def _make(self) -> None:
        joint = self._joint()
        if joint is not None:
            self._do(act.MakeEffector(joint))

    def _can_make(self) -> bool:
        item, goal = self._document.active_on_figure, self._goal()
        return item is not None and item.kind == "joint" and (goal is None or not goal.enabled)

    def _hold(self) -> None:
        goal = self._goal()
        if goal is not None:
            self._do(act.HoldEffector(goal.id))

    def _add(self, kind: str | None = None) -> None:
        """Add a goal to the active effector; None: of a kind that the window asks for."""
        goal = self._goal()
        if goal is not None and kind is not None:
            self._do(act.AddGoal(goal.effector, kind))
        elif goal is not None:
            self._view.request("add-goal", goal.effector)

    def _add_to_limb(self, kind: str) -> None:
        """Add a goal to the elbow or knee of the selected limb, or to the selected joint where there is none."""
        joint = self._limb_joint()
        if joint is not None:
            self._do_all(adding_goal(self._document, joint, kind), f"Add {kind} of {joint}")

    def _limb_joint(self) -> str | None:
        document = self._document
        if document.active_on_figure is None:
            return None
        return limb_joint(document) or document.skeleton.names[joint_of(document, document.active_on_figure)]

    def _pair(self) -> tuple[str, str] | None:
        """The two selected effectors, with the one selected last second; None for any other selection."""
        names = tuple(dict.fromkeys(self._document.goal(name).effector for name in self._document.selected("effector")))
        return (names[0], names[1]) if len(names) == 2 else None

    def _pair_goals(self) -> list[str]:
        """Ids of the goals that hold the selected two together."""
        pair = {*(self._pair() or ())}
        return [goal.id for goal in pairs_of(self._document) if goal.relative and {*goal.ends} == pair]

    def _hold_together(self) -> None:
        """Make the two selected effectors hold together, or let them go."""
        pair, goals = self._pair(), self._pair_goals()
        if goals:
            self._several([act.RemoveGoal(name) for name in goals], "Let go")
        elif pair is not None:
            self._do(act.HoldTogether(*pair))

    def _add_for_two(self, kind: str) -> None:
        """Add a goal to the two selected effectors."""
        pair = self._pair()
        if pair is not None:
            self._do(act.AddGoalForTwo(*pair, kind))

    def _remove_goals(self) -> None:
        """Remove or switch off the selected goals, in one step."""
        goals = [self._document.goal(name) for name in self._document.selected("effector")]
        self._several(
            [
                act.ReleaseEffector(goal.id) if goal.id == goal.effector else act.RemoveGoal(goal.id)
                for goal in goals
                if goal.enabled or goal.id != goal.effector
            ],
            "Release",
        )

    def _can_remove_goals(self) -> bool:
        goals = [self._document.goal(name) for name in self._document.selected("effector")]
        return any(goal.enabled or goal.id != goal.effector for goal in goals)

    def _remove_effectors(self) -> None:
        effectors = dict.fromkeys(self._document.goal(name).effector for name in self._document.selected("effector"))
        self._several([act.RemoveEffector(name) for name in effectors], "Remove")

    def _several(self, actions: Sequence[act.Action], word: str) -> None:
        self._do_all(actions, f"{word} {len(actions)} effectors")

    # Pose and solver

    def _reset(self, *, position: bool, rotation: bool) -> CommandBinding:
        def run() -> None:
            self._do(act.ResetPose(selected_joints(self._document), position=position, rotation=rotation))

        return CommandBinding(run, lambda: bool(self._document.selected_on_figure))

    def _next_method(self, steps: int) -> None:
        method = _after(METHOD_NAMES, self._document.solver.method, steps)
        self._do(act.SetSolver(method=method))
        self._view.note(f"Solver: {method}")

    def _next_scope(self) -> None:
        scope = _after(tuple(Scope), self._document.scope, 1)
        self._do(act.SetScope(scope))
        self._view.note(f"Drags move: {scope}")

    def _toggle_fk(self) -> None:
        self._do(act.SetMode(Mode.IK if self._document.mode is Mode.FK else Mode.FK))

    def bindings(self) -> CommandBindings:
        return self._tool_bindings() | self._goal_bindings() | self._pose_bindings()

    def _tool_bindings(self) -> CommandBindings:
        view = self._view
        tools = {
            f"tool.{tool}": CommandBinding(partial(self.set_tool, tool), checked=partial(self._shows, tool))
            for tool in Tool
        }
        return tools | {
            "pivot.individual": view.switch(view, "individual"),
            "space.next": CommandBinding(partial(self._next_space, 1)),
            "space.previous": CommandBinding(partial(self._next_space, -1)),
            "mode.fk": CommandBinding(self._toggle_fk, checked=lambda: self._document.mode is Mode.FK),
            "scope.next": CommandBinding(self._next_scope),
            "solver.next": CommandBinding(partial(self._next_method, 1)),
            "solver.previous": CommandBinding(partial(self._next_method, -1)),
        }

    def _adding(self, kind: Kind) -> CommandBinding:
        """Adds a goal of a kind: to two effectors, to a limb's joint, or to the active effector."""
        if kind.of_two:
            return CommandBinding(partial(self._add_for_two, kind.word), lambda: self._pair() is not None)
        if kind.of_one_joint or kind.of_limb:
            return CommandBinding(partial(self._add_to_limb, kind.word), lambda: self._limb_joint() is not None)
        return CommandBinding(partial(self._add, kind.word), self._has_goal)

    def _goal_bindings(self) -> CommandBindings:
        pins = {
            f"pin.{part}": CommandBinding(partial(self._pin, part), self._has_goal, partial(self._pinned, part))
            for part in ("position", "rotation")
        }
        return pins | {
            "effector.make": CommandBinding(self._make, self._can_make),
            "effector.hold": CommandBinding(self._hold, self._has_goal),
            "effector.remove": CommandBinding(
                self._remove_effectors, lambda: bool(self._document.selected("effector"))
            ),
            "goal.add": CommandBinding(self._add, self._has_goal),
            **{command: self._adding(kind) for command, kind in ADD_GOAL.items()},
            "goal.hold_together": CommandBinding(
                self._hold_together, lambda: self._pair() is not None, lambda: bool(self._pair_goals())
            ),
            "goal.remove": CommandBinding(self._remove_goals, self._can_remove_goals),
        }

    def _pose_bindings(self) -> CommandBindings:
        return {
            "limits.all": CommandBinding(self._toggle_limits, checked=lambda: self._document.limits_on),
            "holds.firm": CommandBinding(
                lambda: self._do(act.SetSolver(firm_holds=not self._document.solver.firm_holds)),
                lambda: self._document.solver.method == DEFAULT,
                lambda: self._document.solver.firm_holds,
            ),
            "limits.joint": CommandBinding(
                self._toggle_joint_limits, self._can_limit_joint, lambda: self._joint() not in self._document.unlimited
            ),
            "reset.position": self._reset(position=True, rotation=False),
            "reset.rotation": self._reset(position=False, rotation=True),
            "reset.pose": CommandBinding(lambda: self._do(act.ResetPose())),
        }


def _after(choices: Sequence[_Choice], now: _Choice, steps: int) -> _Choice:
    """The choice a number of steps after the present one, cyclic."""
    return choices[(choices.index(now) + steps) % len(choices)]


class Solutions:
    """The commands Next and Previous solution.

    Attributes:
        note: the last message, about the pose that it was posted at; None if there is none.
    """

    def __init__(self, session: Session, view: View) -> None:
        self._session, self._view = session, view
        self._found: tuple[Pose, ...] = ()
        self._place, self._shown = 0, session.document.pose
        self.note: Message | None = None
        self._noted = self._shown

    def step(self, by: int) -> None:
        """Show the next of all poses that meet the goals, in the order of their distance from where this began.

        A message says why not, if there are infinitely many or none.
        """
        try:
            words = self._stepped(by)
        except InputError as error:
            words = self._view.sentence(str(error))
        self._close()
        self.note = Message(words)
        self._view.post(self.note)
        self._noted = self._session.document.pose

    def tick(self) -> None:
        """Close the message once another pose is shown, as after an undo."""
        if not self._session.document.pose.is_near(self._noted):
            self._close()

    def _close(self) -> None:
        if self.note is not None:
            self._view.bar.close(self.note)
            self.note = None

    def _stepped(self, by: int) -> str:
        """Show the next pose; says which.

        Raises:
            InputError: there are infinitely many, or none was found.
        """
        document = self._session.document
        if document.pose is not self._shown or not self._found:
            problem = lab_problem(document, document.pose)
            if problem is None:
                raise InputError("no goal is enabled")
            self._search(problem)
            if not self._found[0].is_near(document.pose):
                by = min(by, 0)  # forwards the nearest comes first
        self._place = (self._place + by) % len(self._found)
        count = len(self._found)
        self._session.dispatch(SetPose(self._found[self._place], f"Solution {self._place + 1} of {count}"))
        self._shown = self._session.document.pose
        return f"Solution {self._place + 1} of {count}" if count > 1 else "This is the only solution found"

    def _search(self, problem: LabProblem) -> None:
        solver = Solver(problem.skeleton, problem.goals, **keywords_of(problem.options))
        ready = self._session.kernels.state == "ready"
        found = all_solutions(solver, problem.start, starts=MOST_STARTS if ready else _SLOW_STARTS)
        if not found:
            raise InputError("no pose meets the goals")
        self._place = 0
        self._found = tuple(problem.shown(solution.pose) for solution in found)

    def bindings(self) -> CommandBindings:
        return {
            "solution.next": CommandBinding(partial(self.step, 1)),
            "solution.previous": CommandBinding(partial(self.step, -1)),
        }
