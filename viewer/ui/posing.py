"""Commands on the pose and its goals: limits, pins, effectors, resets, solver, tools."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from viewer.document import actions as act
from viewer.document.actions import MoveTargets
from viewer.document.goal import KINDS
from viewer.gizmo import Space, Tool
from viewer.ik.goals import GoalKind
from viewer.ik.solver_options import METHOD_NAMES
from viewer.session import Document, DocumentGoal, Item, Mode, Scope
from viewer.spatial.checks import Floats
from viewer.ui.commands import DIRECTIONS, Handler, Handlers

if TYPE_CHECKING:
    from viewer.ui.controller import Controller

Size = Literal["", "_fine", "_step"]
_FINE = 0.1
PAUSE = 1.0
"""Seconds without a nudge after which the next one is another step."""


class Nudging:
    """Of one controller. Nudges in a row are one undo step, until a pause, another action or another selection."""

    def __init__(self, controller: Controller) -> None:
        """Nothing is nudged."""
        self._controller = controller
        self._gesture: str | None = None
        self._now, self._last = 0.0, -math.inf

    def nudge(self, way: str, size: Size) -> None:
        """Move the targets of the selected effectors in a direction of the view."""
        controller, items = self._controller, self._effectors()
        direction = self._direction(way)
        if size == "_step":
            length = controller.snap_m
            # Steps go along the world's axes, as snapping does: the one that looks most like the direction.
            axis = int(np.argmax(np.abs(direction)))
            direction = np.sign(direction[axis]) * np.eye(3)[axis]
        else:
            active = controller.picture.grip(items[-1])[0]
            scale = float(controller.projection().pixels_per_metre(active))
            length = (_FINE if size else 1.0) * controller.scale / scale if scale > 0.0 else 0.0
        moved = {item.name: (controller.picture.grip(item)[0] + length * direction, None) for item in items}
        if not self._under_way:
            controller.session.begin(MoveTargets(moved).label.replace("Move", "Nudge"))
            self._gesture = controller.session.gesture
        controller.session.update(MoveTargets(moved))
        self._last = self._now

    @property
    def _under_way(self) -> bool:
        """Whether the step of the last nudge is open: what a panel does ends it without a word to us."""
        return self._gesture is not None and self._controller.session.gesture == self._gesture

    def finish(self) -> None:
        """Something else is done: the nudges so far are one step."""
        if self._under_way:
            self._controller.session.commit()
        self._gesture = None

    def tick(self, now: float) -> bool:
        """End them after a pause; whether that is still to come."""
        self._now = now
        if self._under_way and now - self._last >= PAUSE:
            self.finish()
        return self._under_way

    def _effectors(self) -> list[Item]:
        return [item for item in self._controller.session.document.selection if item.kind == "effector"]

    def _direction(self, way: str) -> Floats:
        """(3,) unit vector in the world of a direction of the view."""
        view = self._controller.projection()
        return {
            "left": -view.right, "right": view.right, "up": view.up, "down": -view.up,
            "nearer": view.back, "farther": -view.back,
        }[way]  # fmt: skip

    def handlers(self) -> Handlers:
        """Of the nudges."""
        sizes: tuple[Size, ...] = ("", "_fine", "_step")
        return {f"nudge.{way}{size}": self._handler(way, size) for way in DIRECTIONS for size in sizes}

    def _handler(self, way: str, size: Size) -> Handler:
        return Handler(lambda: self.nudge(way, size), lambda: bool(self._effectors()))


_Choice = TypeVar("_Choice")


class Posing:
    """Of one controller."""

    def __init__(self, controller: Controller) -> None:
        """For its session."""
        self._controller = controller

    @property
    def _document(self) -> Document:
        return self._controller.session.document

    def _do(self, action: act.Action) -> None:
        self._controller.session.dispatch(action)

    # What commands are about

    def _goal(self) -> DocumentGoal | None:
        """The active effector's, or that of an effector on the active joint."""
        item = self._document.active
        if item is None:
            return None
        if item.kind == "effector":
            return self._document.goal(item.name)
        joint = self._document.skeleton.index(item.name)
        found = next((e.name for e in self._document.skeleton.effectors if e.joint == joint), None)
        return None if found is None else self._document.goal(found)

    def _joint(self) -> str | None:
        """The active joint's name, or that of the active effector's joint."""
        item = self._document.active
        if item is None:
            return None
        return self._document.skeleton.names[self._controller.picture.joint_of(item)]

    def joints(self) -> tuple[str, ...]:
        """Names of the selected joints, and of those that selected effectors are on."""
        picture, names = self._controller.picture, self._document.skeleton.names
        return tuple(dict.fromkeys(names[picture.joint_of(item)] for item in self._document.selection))

    def _has_goal(self) -> bool:
        return self._goal() is not None

    # Tools

    def set_tool(self, tool: Tool) -> None:
        """Show other handles, or with `Tool.SELECT` none."""
        self._controller.tool = tool
        self._controller.changed()

    def _shows(self, tool: Tool) -> bool:
        return self._controller.tool is tool

    def set_space(self, space: Space) -> None:
        """Give the handles other axes."""
        self._controller.space = space
        self._controller.changed()

    def _turn_space(self, steps: int) -> None:
        self.set_space(_after(tuple(Space), self._controller.space, steps))

    # Limits, pins, effectors

    def _toggle_limits(self) -> None:
        self._do(act.SetLimits(not self._document.limits_on))
        self._controller.planes.say_who_stands_out()

    def _toggle_joint_limits(self) -> None:
        joint = self._joint()
        if joint is not None:
            self._do(act.SetJointLimits(joint, joint in self._document.unlimited))

    def _can_limit_joint(self) -> bool:
        joint = self._joint()
        return joint is not None and self._document.skeleton.limits[self._document.skeleton.index(joint)] is not None

    def _joint_limited(self) -> bool:
        return self._joint() not in self._document.unlimited

    def _pin(self, part: str) -> None:
        """Pin the selected effectors as the active one is not pinned now, in one step."""
        pinned = not self._pinned(part)
        goal = self._goal()
        names = self._effectors() or ([] if goal is None else [goal.id])
        self._several([act.SetPin(name, **{part: pinned}) for name in names], "Pin" if pinned else "Unpin")

    def _pinned(self, part: str) -> bool:
        goal = self._goal()
        return goal is not None and goal.enabled and bool(getattr(goal, f"pin_{part}"))

    def _make(self) -> None:
        joint = self._joint()
        if joint is not None:
            self._do(act.MakeEffector(joint))

    def _can_make(self) -> bool:
        item, goal = self._document.active, self._goal()
        return item is not None and item.kind == "joint" and (goal is None or not goal.enabled)

    def _hold(self) -> None:
        goal = self._goal()
        if goal is not None:
            self._do(act.HoldEffector(goal.id))

    def _effectors(self) -> list[str]:
        """Ids of the selected goals: of those that every effector has, the effectors' names."""
        return [item.name for item in self._document.selection if item.kind == "effector"]

    def _add(self, kind: GoalKind | None = None) -> None:
        """Ask one thing more of the active effector; None: of a kind that the window asks for."""
        goal = self._goal()
        if goal is not None and kind is not None:
            self._do(act.AddGoal(goal.effector, kind))
        elif goal is not None:
            self._controller.request("add-goal", goal.effector)

    def _remove_goals(self) -> None:
        """Take the goals off the selected effectors, in one step."""
        goals = [self._document.goal(name) for name in self._effectors()]
        self._several(
            [
                act.ReleaseEffector(goal.id) if goal.id == goal.effector else act.RemoveGoal(goal.id)
                for goal in goals
                if goal.enabled or goal.id != goal.effector
            ],
            "Release",
        )

    def _can_remove_goals(self) -> bool:
        goals = [self._document.goal(name) for name in self._effectors()]
        return any(goal.enabled or goal.id != goal.effector for goal in goals)

    def _remove_effectors(self) -> None:
        effectors = dict.fromkeys(self._document.goal(name).effector for name in self._effectors())
        self._several([act.RemoveEffector(name) for name in effectors], "Remove")

    def _several(self, actions: Sequence[act.Action], word: str) -> None:
        if len(actions) == 1:
            self._do(actions[0])
        elif actions:
            session = self._controller.session
            session.begin(f"{word} {len(actions)} effectors")
            for action in actions:
                session.update(action)
            session.commit()

    # Pose and solver

    def _reset(self, *, position: bool, rotation: bool) -> Handler:
        def run() -> None:
            self._do(act.ResetPose(self.joints(), position=position, rotation=rotation))

        return Handler(run, lambda: bool(self._document.selection))

    def _next_method(self, steps: int) -> None:
        method = _after(METHOD_NAMES, self._document.solver.method, steps)
        self._do(act.SetSolver(method=method))
        self._controller.note(f"Solver: {method}")

    def _next_scope(self) -> None:
        scope = _after(tuple(Scope), self._document.scope, 1)
        self._do(act.SetScope(scope))
        self._controller.note(f"Drags move: {scope}")

    def _toggle_fk(self) -> None:
        self._do(act.SetMode(Mode.IK if self._document.mode is Mode.FK else Mode.FK))

    def handlers(self) -> Handlers:
        """Of all of these."""
        return self._tool_handlers() | self._goal_handlers() | self._pose_handlers()

    def _tool_handlers(self) -> Handlers:
        tools = {
            f"tool.{tool}": Handler(partial(self.set_tool, tool), checked=partial(self._shows, tool)) for tool in Tool
        }
        return tools | {
            "space.next": Handler(lambda: self._turn_space(1)),
            "space.previous": Handler(lambda: self._turn_space(-1)),
            "mode.fk": Handler(self._toggle_fk, checked=lambda: self._document.mode is Mode.FK),
            "scope.next": Handler(self._next_scope),
            "solver.next": Handler(lambda: self._next_method(1)),
            "solver.previous": Handler(lambda: self._next_method(-1)),
        }

    def _goal_handlers(self) -> Handlers:
        pins = {
            f"pin.{part}": Handler(partial(self._pin, part), self._has_goal, partial(self._pinned, part))
            for part in ("position", "rotation")
        }
        return pins | {
            "effector.make": Handler(self._make, self._can_make),
            "effector.hold": Handler(self._hold, self._has_goal),
            "effector.remove": Handler(self._remove_effectors, lambda: bool(self._effectors())),
            "goal.add": Handler(self._add, self._has_goal),
            **{f"goal.add_{kind.name.lower()}": Handler(partial(self._add, kind), self._has_goal) for kind in KINDS},
            "goal.remove": Handler(self._remove_goals, self._can_remove_goals),
        }

    def _pose_handlers(self) -> Handlers:
        return {
            "limits.all": Handler(self._toggle_limits, checked=lambda: self._document.limits_on),
            "limits.joint": Handler(self._toggle_joint_limits, self._can_limit_joint, self._joint_limited),
            "reset.position": self._reset(position=True, rotation=False),
            "reset.rotation": self._reset(position=False, rotation=True),
            "reset.pose": Handler(lambda: self._do(act.ResetPose())),
        }


def _after(choices: Sequence[_Choice], now: _Choice, steps: int) -> _Choice:
    """The choice so many steps after the one made now; after the last comes the first."""
    return choices[(choices.index(now) + steps) % len(choices)]
