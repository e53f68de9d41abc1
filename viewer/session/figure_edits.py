"""Changes of the figures on the stage, each one undo step; goals that follow another figure, as in a handshake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from viewer.document import Document, world_of
from viewer.document.actions import MoveTargets
from viewer.errors import InputError, ViewerError, quote
from viewer.ik.goals.kind import stand_at
from viewer.session.figures import (
    Arrangement,
    Link,
    Placement,
    Stage,
    StageFigure,
    State,
    beside,
    name_of,
)
from viewer.session.history import Step, UndoHistory
from viewer.session.solving import Solvers, applied
from viewer.skeleton import effector_of
from viewer.skeleton.names import free_name
from viewer.spatial.checks import Floats

_AT_PLACE = 1e-9
"""Metres; a target this near to its place is not moved."""


class FigureEdits:
    """Adds, removes, hides, places and links figures, and makes another one active."""

    def __init__(
        self,
        stage: Stage,
        history: UndoHistory,
        *,
        finish: Callable[[], object],
        interrupt: Callable[[], None],
        leave: Callable[[], None],
    ) -> None:
        """``finish`` ends recording, gesture and blend; ``interrupt`` stops playback because of an edit.

        ``leave`` drops the state that belongs to the active figure alone.
        """
        self._stage, self._history, self._calls = stage, history, stage.calls
        self._finish, self._interrupt, self._leave = finish, interrupt, leave
        self._placing: tuple[str, Arrangement] | None = None

    def add(self, document: Document, name: str = "", placement: Placement | None = None) -> str:
        """Add a figure, which becomes active: one undo step.

        Unless given, the name is that of its file, with a number if another figure has it; without a placement it
        stands to the right of all others. Returns its name.
        """
        stage = self._stage
        made = free_name(name or name_of(document), stage.names)
        at = (beside(document, stage) if placement is None else placement).checked()
        with self._calls("add_figure", made, at.offset, at.yaw):
            figure = StageFigure(made, State.at_rest(document), at)
            self._arrange(f"Add {made}", lambda now: Arrangement((*now.figures, figure), len(now.figures)))
        return made

    def remove(self, name: str) -> None:
        """Remove a figure: one undo step. If it was active, the nearest one becomes active.

        Raises:
            InputError: no such figure, or it is the only one.
        """
        with self._calls("remove_figure", name):
            index = self._stage.index(name)
            if not self._stage.several:
                raise InputError(f"{name} is the only figure")

            def without(now: Arrangement) -> Arrangement:
                left = tuple(_without_links_to(name, figure) for figure in now.figures if figure.name != name)
                if index != now.active:
                    return Arrangement(left, now.active - (index < now.active))
                near = _nearest_shown(left, index) or max(index - 1, 0)
                shown = replace(left[near], hidden=False)
                return Arrangement((*left[:near], shown, *left[near + 1 :]), near)

            self._arrange(f"Remove {name}", without)

    def hide(self, name: str, hidden: bool = True) -> None:
        """Hide a figure, or show it again: one undo step. A hidden figure is not drawn and does not play.

        If it was active, the nearest one that is shown becomes active.

        Raises:
            InputError: no such figure, or no other is shown.
        """
        with self._calls("hide_figure", name, hidden):
            stage = self._stage
            index = stage.index(name)
            if stage[index].hidden == hidden:
                return
            near = _nearest_shown(tuple(stage), index)
            if near is None:
                raise InputError(f"{name} is the only figure that is shown")
            change = _changed(name, hidden=hidden)

            def changed(now: Arrangement) -> Arrangement:
                active = near if hidden and now.active == index else now.active
                return Arrangement(change(now).figures, active)

            self._arrange(f"{'Hide' if hidden else 'Show'} {name}", changed)

    def place(self, name: str, placement: Placement, *, done: bool = True) -> None:
        """Move a figure to another place.

        A drag is one undo step, which ``done`` ends, as `commit` does; `cancel` takes it back.
        """
        at = placement.checked()
        with self._calls("place_figure", name, at.offset, at.yaw, done):
            stage = self._stage
            stage.index(name)
            if self._placing is None or self._placing[0] != name:
                self._finish()
                self._interrupt()
                self._placing = name, stage.arrangement
            stage.arrange(_changed(name, placement=at)(stage.arrangement), stage.names)
            if done:
                self.end_drag()

    def end_drag(self) -> None:
        """Make one undo step of the places since a figure began to be moved, if one is."""
        if self._placing is not None:
            (name, start), self._placing = self._placing, None
            self._add_step(f"Place {name}", start, self._stage.arrangement)

    def cancel_drag(self) -> None:
        """Put a figure that is being moved back to where it stood."""
        if self._placing is not None:
            (_, start), self._placing = self._placing, None
            self._stage.arrange(start, self._stage.names)

    def link(self, name: str, goal: str, other: str = "", joint: str = "") -> None:
        """Let the target of a goal follow a joint of another figure, or free it again: one undo step.

        The figure is solved whenever the other one moves. The goal's previous link is replaced.

        ``other`` is the name of the figure that it follows, "": none, and ``joint`` a joint, an effector or a tip of
        it.

        Raises:
            InputError: unknown names, a goal without a target in the world, or a figure that would follow itself.
        """
        with self._calls("link_goal", name, goal, other, joint):
            stage, made = self._stage, Link(goal, other, joint)
            index = stage.index(name)
            if other:
                check_link(stage, name, made)
            links = tuple(link for link in stage[index].links if link.goal != goal)
            links = (*links, made) if other else links
            if links != stage[index].links:
                words = f"{goal} follows {made.target}" if other else f"Free {goal}"
                self._arrange(words, _changed(name, links=links))

    def activate(self, name: str) -> None:
        """Make a figure active, on which actions then act; no undo step. Finishes what is under way.

        Raises:
            InputError: no such figure, or it is hidden.
        """
        with self._calls("activate", name):
            index = self._stage.index(name)
            if index == self._stage.active:
                return
            if self._stage[index].hidden:
                raise InputError(f"{name} is hidden: show it first")
            self._finish()
            self._leave()
            self._stage.activate(index)
            self._stage.play(self._stage.clock.direction)

    def _arrange(self, label: str, change: Callable[[Arrangement], Arrangement]) -> None:
        """Change the figures: one undo step."""
        self._finish()
        self._interrupt()
        stage, now = self._stage, self._stage.arrangement
        after = change(now)
        if after.figure.name != now.figure.name:
            self._leave()
        stage.arrange(after, stage.names)
        self._add_step(label, now, stage.arrangement)

    def _add_step(self, label: str, before: Arrangement, after: Arrangement) -> None:
        self._history.add(Step(label, before.figure.state, after.figure.state, arranged=(before, after)))


def _nearest_shown(figures: tuple[StageFigure, ...], index: int) -> int | None:
    """Index of the figure nearest to ``index``, other than it, that is shown; None without one."""
    shown = [number for number, one in enumerate(figures) if number != index and not one.hidden]
    return min(shown, key=lambda number: abs(number - index), default=None)


def _without_links_to(name: str, figure: StageFigure) -> StageFigure:
    links = tuple(link for link in figure.links if link.figure != name)
    return figure if links == figure.links else replace(figure, links=links)


def _changed(name: str, **changes: Any) -> Callable[[Arrangement], Arrangement]:  # noqa: ANN401 - fields of a figure
    """A change of one figure of an arrangement."""
    return lambda now: now.mapped(lambda one: replace(one, **changes) if one.name == name else one)


def followed(own: Placement, other: Document, placement: Placement, name: str) -> Floats:
    """(3,) where a joint, effector or tip of another figure is, in the coordinates of the figure placed at ``own``."""
    at = stand_at(other.skeleton, world_of(other.skeleton, other.pose), name)
    return placement.seen_from(own).points(at.point)


def check_link(stage: Stage, figure: str, link: Link) -> None:
    """Raise InputError unless a goal of a figure can follow what a link names."""
    if link.figure == figure:
        raise InputError(f"{quote(link.goal)}: a goal follows another figure, not its own")
    goal = stage.documents[stage.index(figure)].goal(link.goal)
    if goal.relative:
        raise InputError(f"{quote(link.goal)}: a goal between two effectors has no target that could follow a joint")
    effector_of(stage.documents[stage.index(link.figure)].skeleton, link.joint)


class Links:
    """Moves targets to the joints that they follow, and solves the figures of these goals."""

    def __init__(self, solvers: Solvers, stage: Stage, busy: Callable[[], bool]) -> None:
        self._solvers, self._stage, self._busy = solvers, stage, busy
        stage.followers.append(self.follow)

    def follow(self) -> None:
        """Move every target to its place, figure by figure; links of removed goals or joints are skipped."""
        stage = self._stage
        for index, figure in enumerate(stage.arrangement.figures):
            if not figure.links or figure.hidden or (index == stage.active and self._busy()):
                continue
            after = self._pulled(figure)
            if after is not figure.state:
                stage.put(index, after)

    def _pulled(self, figure: StageFigure) -> State:
        stage, state, targets = self._stage, figure.state, {}
        for link in figure.links:
            goal = next((one for one in state.document.goals if one.id == link.goal), None)
            if goal is None or link.figure not in stage.names:
                continue
            other = stage[stage.index(link.figure)]
            try:
                place = followed(figure.placement, other.document, other.placement, link.joint)
            except InputError:  # the joint is gone, or has another name
                continue
            there = goal.enabled and goal.position is not None
            if not there or np.abs(np.subtract(goal.position, place)).max() > _AT_PLACE:  # type: ignore[arg-type]
                targets[link.goal] = (place, None)
        if not targets:
            return state
        try:
            return applied(MoveTargets(targets), state, self._solvers) or state
        except ViewerError:  # goals that cannot be solved are reported when the figure is edited
            return state
