"""Commands that change the pose or what holds it, without a drag.

They nudge targets, set limits, pins, effectors and goals, reset, copy and mirror poses, take them from the library,
rename joints, choose methods and tools, and step through all solutions.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Sequence
from functools import partial
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from viewer.choices import METHOD_NAMES
from viewer.document import DocumentGoal, Item, Mode, Scope, actions as act, joint_of
from viewer.document.actions.goal_actions import adding_goal, removing
from viewer.document.actions.pose_actions import fitted_pose, mirrored_pose
from viewer.document.posed_goals import pairs_of
from viewer.errors import InputError, ViewerError, plural, quote, shown
from viewer.gizmo import Space, Tool
from viewer.ik.all_solutions import MOST_STARTS, all_solutions
from viewer.ik.goals import Kind
from viewer.ik.solver import Solver
from viewer.ik.solver_options import DEFAULT, keywords_of
from viewer.session import Session
from viewer.session.long_work import LabProblem, lab_problem
from viewer.skeleton import Character, JointKind, Pose, Skeleton, blend_poses, fk, joint_space
from viewer.skeleton.figure import partners
from viewer.skeleton.transfer import Transfer
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import IDENTITY, conjugate, multiply
from viewer.ui.camera_moves import note_out_of_plane
from viewer.ui.commands import ADD_GOAL, DIRECTIONS, CommandBinding, CommandBindings, needs, on_found
from viewer.ui.drag_targets import handle_of, limb_joint, selected_joints
from viewer.ui.events import Message
from viewer.ui.view import View, ViewPart

Size = Literal["", "_fine", "_step"]
_FINE = 0.1
PAUSE = 1.0
"""Seconds without a nudge after which the next one starts another undo step."""

_ONE, _TWO = "select an effector, or a joint with one", "select two effectors"
"""What commands on goals need."""

_Choice = TypeVar("_Choice")


class Nudging(ViewPart):
    """Moves targets by keys. Nudges in a row are one undo step, until a pause, another action or another selection.

    Attributes:
        gesture: label of the nudges that are one undo step so far; None: there are none, and no ticks are needed.
    """

    def __init__(self, session: Session, view: View) -> None:
        super().__init__(session, view)
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
        return [item for item in self._document.selection if item.kind == "effector"]

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
            f"nudge.{way}{size}": CommandBinding(
                partial(self.nudge, way, size), needs("select an effector", self._effectors)
            )
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

    # Tools

    def set_tool(self, tool: Tool) -> None:
        """Select the gizmo's tool; `Tool.SELECT` has no handles."""
        if tool is not self._view.tool:
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

    def _lacks_limits(self) -> str:
        joint, skeleton = self._joint(), self._document.skeleton
        if joint is None:
            return "select a joint"
        return "" if skeleton.limits[skeleton.index(joint)] is not None else f"{shown(joint)} has no limits"

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

    def _lacks_to_make(self) -> str:
        item, goal = self._document.active_on_figure, self._goal()
        if item is None:
            return "select a joint"
        return "it is an effector already" if item.kind == "effector" or (goal is not None and goal.enabled) else ""

    def _limb_joint(self) -> str | None:
        """The elbow or knee of the selected limb, or the selected joint where there is none."""
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

    def _remove_goals(self) -> None:
        """Remove or switch off the selected goals, in one step."""
        goals = [self._document.goal(name) for name in self._document.selected("effector")]
        on = (goal for goal in goals if goal.enabled or len(self._document.goals_of(goal.effector)) > 1)
        self._several([removing(goal) for goal in on], "Release")

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

        return CommandBinding(run, needs("select a joint or an effector", lambda: self._document.selected_on_figure))

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
        word = kind.word
        if kind.of_two:
            return on_found(_TWO, self._pair, lambda pair: self._do(act.AddGoalForTwo(*pair, word)))
        if kind.of_one_joint or kind.of_limb:
            return on_found(
                "select a joint",
                self._limb_joint,
                lambda joint: self._do_all(adding_goal(self._document, joint, word), f"Add {word} of {joint}"),
            )
        return on_found(_ONE, self._goal, lambda goal: self._do(act.AddGoal(goal.effector, word)))

    def _goal_bindings(self) -> CommandBindings:
        pins = {
            f"pin.{part}": CommandBinding(
                partial(self._pin, part), needs(_ONE, self._goal), partial(self._pinned, part)
            )
            for part in ("position", "rotation")
        }
        return pins | {
            "effector.make": CommandBinding(self._make, self._lacks_to_make),
            "effector.hold": on_found(_ONE, self._goal, lambda goal: self._do(act.HoldEffector(goal.id))),
            "effector.remove": CommandBinding(
                self._remove_effectors, needs("select an effector", lambda: self._document.selected("effector"))
            ),
            "goal.add": on_found(_ONE, self._goal, lambda goal: self._view.request("add-goal", goal.effector)),
            **{command: self._adding(kind) for command, kind in ADD_GOAL.items()},
            "goal.hold_together": CommandBinding(
                self._hold_together, needs(_TWO, self._pair), lambda: bool(self._pair_goals())
            ),
            "goal.remove": CommandBinding(
                self._remove_goals, needs("no effector with a goal is selected", self._can_remove_goals)
            ),
        }

    def _pose_bindings(self) -> CommandBindings:
        return {
            "limits.all": CommandBinding(self._toggle_limits, checked=lambda: self._document.limits_on),
            "holds.firm": CommandBinding(
                lambda: self._do(act.SetSolver(firm_holds=not self._document.solver.firm_holds)),
                needs("only the default solver has them", lambda: self._document.solver.method == DEFAULT),
                lambda: self._document.solver.firm_holds,
            ),
            "limits.joint": CommandBinding(
                self._toggle_joint_limits, self._lacks_limits, lambda: self._joint() not in self._document.unlimited
            ),
            "reset.position": self._reset(position=True, rotation=False),
            "reset.rotation": self._reset(position=False, rotation=True),
            "reset.pose": CommandBinding(lambda: self._do(act.ResetPose())),
        }


def _after(choices: Sequence[_Choice], now: _Choice, steps: int) -> _Choice:
    """The choice a number of steps after the present one, cyclic."""
    return choices[(choices.index(now) + steps) % len(choices)]


class Copied(NamedTuple):
    """A copied pose.

    Attributes:
        pose: of all joints.
        joints: names of the joints selected when copying; None: all.
        names: of the skeleton's joints; skeletons with the same names can take it.
        world: joints keep their rotation in the world, and roots their place; else their rotation to their parents.
    """

    pose: Pose
    joints: tuple[str, ...] | None
    names: tuple[str, ...]
    world: bool = False


def joint_values(character: Character, pose: Pose, chosen: Collection[str] = ()) -> tuple[str, int]:
    """Joint values as YAML, radians and metres, by the names of the file; and how many joints they are of.

    Hinges and slides have a number each, others a list of their coordinates; joints that cannot move are left out, and
    those that are not ``chosen`` if any are.
    """
    skeleton, called = character.skeleton, character.source.name_of
    values = joint_space(skeleton).measure(pose.rotations, pose.translations)
    lines = ["# radians, metres"]
    for joint, (name, kind) in enumerate(zip(skeleton.names, skeleton.kinds, strict=True)):
        count = 0 if kind is JointKind.FREE else kind.dofs
        if count and (not chosen or name in chosen):
            words = [f"{value + 0.0:.6f}" for value in values[joint, :count].tolist()]
            key = called(name)
            key = key if re.fullmatch(r"[A-Za-z_][\w.-]*", key) else json.dumps(key)
            lines.append(f"{key}: {words[0] if count == 1 else '[' + ', '.join(words) + ']'}")
    return "\n".join(lines) + "\n", len(lines) - 1


class Clipboard(ViewPart):
    """Commands for copying and pasting poses, undo and redo.

    Attributes:
        copied: a pose, or keys, whichever was copied last.
    """

    def __init__(self, session: Session, view: View) -> None:
        super().__init__(session, view)
        self.copied: Copied | act.CopiedKeys | None = None

    def copy(self, *, world: bool = False) -> None:
        """Copy the pose of the selected joints; of all if none is selected.

        Pasting one of the ``world`` gives the joints their rotations in the world, independent of their parents.
        """
        document = self._document
        joints = document.selected("joint")
        self.copied = Copied(document.pose, joints or None, document.skeleton.names, world)
        where = " in the world" if world else ""
        of = f" of {plural(len(joints), 'joint')}" if joints else ""
        self._view.note(f"Copied the pose{of}{where}")

    def copy_joints(self) -> None:
        """Put the joint values into the system's clipboard: of the selected joints, of all if none is selected."""
        document = self._document
        chosen = set(document.selected("joint"))
        text, count = joint_values(document.character, document.pose, chosen)
        self._view.request("copy-text", text)
        self._view.note(f"Copied the values of {plural(count, 'joint')}")

    def paste(self, *, flipped: bool) -> None:
        copied = self.copied
        if not isinstance(copied, Copied):
            return
        if not copied.world:
            self._do(act.PastePose(copied.pose, copied.joints, flipped))
            return
        document = self._document
        pose, joints = copied.pose, copied.joints
        if flipped:
            pose = mirrored_pose(document.skeleton, pose)
            partner, names = partners(document.skeleton), document.skeleton.names
            joints = joints and tuple(names[partner[document.skeleton.index(name)]] for name in joints)
        pose = with_world_rotations(document.skeleton, document.pose, pose, joints)
        title = "Paste pose in the world, flipped" if flipped else "Paste pose in the world"
        self._do(act.PastePose(pose, joints, title=title))

    def _lacks_copy(self) -> str:
        if not isinstance(self.copied, Copied):
            return "no pose was copied"
        return "" if self.copied.names == self._document.skeleton.names else "the copied pose is of another skeleton"

    def bindings(self) -> CommandBindings:
        session = self._session
        return {
            "pose.copy": CommandBinding(self.copy),
            "pose.copy_world": CommandBinding(lambda: self.copy(world=True)),
            "pose.copy_joints": CommandBinding(self.copy_joints),
            "pose.paste": CommandBinding(lambda: self.paste(flipped=False), self._lacks_copy),
            "pose.paste_flipped": CommandBinding(lambda: self.paste(flipped=True), self._lacks_copy),
            "pose.mirror": CommandBinding(lambda: session.dispatch(act.MirrorPose())),
            "edit.undo": CommandBinding(
                session.undo,
                needs(
                    "there is nothing to undo", lambda: session.history.index or session.recorder.recording is not None
                ),
            ),
            "edit.redo": CommandBinding(
                session.redo, needs("there is nothing to redo", lambda: session.history.index < len(session.history))
            ),
        }


def with_world_rotations(skeleton: Skeleton, now: Pose, pose: Pose, joints: Collection[str] | None) -> Pose:
    """A present pose in which some joints have the world rotations, and roots the places, that another pose gives them.

    Without joints (None) it is that pose itself.
    """
    if joints is None:
        return pose
    chosen, wanted = {skeleton.index(name) for name in joints}, fk(skeleton, pose).rotations
    rotations, translations = now.rotations.copy(), now.translations.copy()
    world = np.empty_like(rotations)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        above = world[parent] if parent >= 0 else IDENTITY
        if joint in chosen:
            rotations[joint] = multiply(conjugate(above), wanted[joint])
            translations[joint] = pose.translations[joint]
        world[joint] = multiply(above, rotations[joint])
    return Pose(rotations, translations)


class LibraryPoses(ViewPart):
    """Applies poses to the selected joints, or to all if none is selected."""

    def __init__(self, session: Session, view: View) -> None:
        super().__init__(session, view)
        self._blend: tuple[str, Pose, Transfer] | None = None

    def apply(self, name: str, source: Skeleton, pose: Pose, *, flipped: bool = False) -> None:
        """Apply a pose of a skeleton as one undo step, ``flipped`` with left and right swapped.

        Raises:
            InputError: no joint of it fits, or it cannot be flipped.
        """
        found = self._fitted(source, pose, flipped=flipped)
        title = _title(name, flipped=flipped)
        self._do(act.PastePose(found.pose, self._names(found), title=title))

    def begin(self, name: str, source: Skeleton, pose: Pose) -> None:
        """Begin to blend a pose in; `blend` sets its share, the session's ``commit`` or ``cancel`` ends it.

        Raises:
            InputError: as of `apply`; nothing is begun.
        """
        found = self._fitted(source, pose, flipped=False)
        title = _title(name, flipped=False)
        self._session.begin(title)
        self._blend = title, self._document.pose, found

    def blend(self, share: float) -> None:
        """Pose the figure a part of the way, 0 to 1, from where the blend began to the library's pose."""
        if self._blend is None or self._session.gestures.label != self._blend[0]:
            return
        title, start, found = self._blend
        share = min(max(share, 0.0), 1.0)
        pose = blend_poses(start, found.pose, share, found.joints)
        try:
            self._session.gestures.update(act.PastePose(pose, self._names(found), title=title))
        except ViewerError:
            self._session.cancel()
            raise

    def _fitted(self, source: Skeleton, pose: Pose, *, flipped: bool) -> Transfer:
        return fitted_pose(self._document, source, pose, flipped=flipped)

    def _names(self, found: Transfer) -> tuple[str, ...] | None:
        """The joints that change; None: all."""
        names = self._document.skeleton.names
        fitting = tuple(names[joint] for joint in found.joints)
        chosen = self._document.selected("joint")
        if not chosen:
            return None if len(fitting) == len(names) else fitting
        return tuple(name for name in fitting if name in chosen)

    def bindings(self) -> CommandBindings:
        return {"pose.keep": CommandBinding(partial(self._view.request, "keep-pose"))}


def _title(name: str, *, flipped: bool) -> str:
    return f"Pose {name}{' flipped' if flipped else ''}"


class Renaming(ViewPart):
    """Renames the active joint: the command opens a text field in the window.

    Attributes:
        joint: index of the joint being renamed, -1 for none; panels reset it.
    """

    def __init__(self, session: Session, view: View) -> None:
        super().__init__(session, view)
        self.joint = -1

    def _begin(self, joint: int) -> None:
        self.joint = joint
        self._view.changed()

    def end(self) -> None:
        self._begin(-1)

    def rename(self, joint: int, name: str) -> None:
        """Rename a joint; an InputError for an invalid name, or one that a moving target uses."""
        document, session = self._document, self._session
        own = document.skeleton.names[joint]
        moved = {motion.effector for motion in session.targets.motions}
        if any(e.joint == joint and e.name in moved for e in document.skeleton.effectors):
            raise InputError(f"joint {quote(own)}: a moving target uses its name")
        session.dispatch(act.RenameJoint(own, name))

    def bindings(self) -> CommandBindings:
        active = lambda: self._document.active_on_figure  # noqa: E731 - as of all bindings
        begin = lambda item: self._begin(joint_of(self._document, item))  # noqa: E731
        return {"joint.rename": on_found("select a joint", active, begin)}


_SLOW_STARTS = 64
"""Without compiled kernels a solve takes a hundred times as long."""


class Solutions(ViewPart):
    """The commands Next and Previous solution.

    Attributes:
        note: the last message, about the pose that it was posted at; None if there is none.
    """

    def __init__(self, session: Session, view: View) -> None:
        super().__init__(session, view)
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
        self._noted = self._document.pose

    def tick(self) -> None:
        """Close the message once another pose is shown, as after an undo."""
        if not self._document.pose.is_near(self._noted):
            self._close()

    def _close(self) -> None:
        if self.note is not None:
            self._view.bar.close(self.note)
            self.note = None

    def _stepped(self, by: int) -> str:
        """Show the next pose, and say which; an InputError if there are infinitely many, or none."""
        document = self._document
        if document.pose is not self._shown or not self._found:
            problem = lab_problem(document, document.pose)
            if problem is None:
                raise InputError("no goal is enabled")
            self._search(problem)
            if not self._found[0].is_near(document.pose):
                by = min(by, 0)  # forwards the nearest comes first
        self._place = (self._place + by) % len(self._found)
        count = len(self._found)
        self._do(act.SetPose(self._found[self._place], f"Solution {self._place + 1} of {count}"))
        self._shown = self._document.pose
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
