"""Goals across figures: the target of a goal stays at a joint of another figure, as in a handshake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from viewer.document import Document, world_of
from viewer.document.actions import MoveTargets
from viewer.errors import InputError, ViewerError, quote
from viewer.session.figures import Arrangement, Figure, Link, Placement, State
from viewer.session.solving import Solvers, applied
from viewer.session.stage import Stage
from viewer.skeleton import find_place
from viewer.spatial.checks import Floats

_AT_PLACE = 1e-9
"""Metres from its place within which a target stays as it is."""


def followed(own: Placement, other: Document, placement: Placement, name: str) -> Floats:
    """(3,) where a joint, effector or tip of another figure is, in the coordinates of the figure placed at ``own``.

    Raises:
        InputError: the other figure has no such joint or effector.
    """
    place = find_place(other.skeleton, name)
    point = world_of(other.skeleton, other.pose).point(place.joint, np.array(place.offset))
    return placement.seen_from(own).points(point)


def check_link(stage: Stage, figure: str, link: Link) -> None:
    """Raise InputError unless a goal of a figure can follow what a link names."""
    if link.figure == figure:
        raise InputError(f"{quote(link.goal)}: a goal follows another figure, not its own")
    goal = stage.documents[stage.index(figure)].goal(link.goal)
    if goal.relative:
        raise InputError(f"{quote(link.goal)}: the goal has no place of its own that could follow anything")
    find_place(stage.documents[stage.index(link.figure)].skeleton, link.joint)


def lasting(arrangement: Arrangement) -> Arrangement:
    """The same figures without links whose goals, figures or joints are gone."""
    skeletons = {one.name: one.state.document.skeleton for one in arrangement.figures}

    def holds(figure: Figure, link: Link) -> bool:
        try:
            find_place(skeletons[link.figure], link.joint)
        except (KeyError, InputError):
            return False
        return any(goal.id == link.goal for goal in figure.state.document.goals)

    figures = [
        replace(one, links=tuple(link for link in one.links if holds(one, link))) if one.links else one
        for one in arrangement.figures
    ]
    return Arrangement(tuple(figures), arrangement.active)


class Links:
    """Moves targets after the joints that they follow, and solves the figures whose goals they are."""

    def __init__(self, solvers: Solvers, stage: Stage, busy: Callable[[], bool]) -> None:
        """Follow from now on.

        Args:
            solvers: of the session.
            stage: has the figures.
            busy: whether a gesture changes the active figure, which is then left to it.
        """
        self._solvers, self._stage, self._busy = solvers, stage, busy
        stage.followers.append(self.follow)

    def follow(self) -> None:
        """Bring every target to its place, once per figure in their order; goals and joints that are gone are left."""
        stage = self._stage
        for index, links in enumerate(stage.links):
            if not links or stage.hidden[index] or (index == stage.active and self._busy()):
                continue
            state = stage.states[index]
            after = self._pulled(state, index)
            if after is not state:
                stage.put(index, after)

    def _pulled(self, state: State, index: int) -> State:
        stage, targets = self._stage, {}
        for link in stage.links[index]:
            goal = next((one for one in state.document.goals if one.id == link.goal), None)
            if goal is None or link.figure not in stage.names:
                continue
            other = stage.names.index(link.figure)
            try:
                place = followed(stage.placement[index], stage.documents[other], stage.placement[other], link.joint)
            except InputError:  # the joint is gone, or has another name
                continue
            there = goal.enabled and goal.position is not None
            if not there or np.abs(np.subtract(goal.position, place)).max() > _AT_PLACE:  # type: ignore[arg-type]
                targets[link.goal] = (place, None)
        if not targets:
            return state
        try:
            return applied(MoveTargets(targets), state, self._solvers) or state
        except ViewerError:  # goals that cannot be solved: an edit of the figure says so
            return state
