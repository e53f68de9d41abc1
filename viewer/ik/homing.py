"""The last part of a drag's way back: to the very pose in which it began.

The pull towards that pose leads there only downhill. After a loop a chain may have folded the other way, and the pose
stands where every small change of what the goals leave free leads farther from the start. When the targets are back
where the drag began, and stay there, the pose is blended into the start's, frame by frame; each frame's solve brings
the goals back.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from viewer.ik.system import copy_state, make_state
from viewer.ik.vectorised_forward import residuals
from viewer.ik.vectorised_joints import difference, move

if TYPE_CHECKING:
    from viewer.ik.workspace import Workspace
    from viewer.spatial.checks import Floats

_A_FRAME = math.radians(5.0)
"""Radians (or metres) that a freedom goes in a frame at most, before the goals have their say."""
_HOME = 2e-3
"""Radians or metres: nearer than that it is home, and the pull does the rest."""


class WayHome:
    """A straight way, in the joints' coordinates, from where a workspace's last solve ended to where its drag began."""

    def __init__(self, workspace: Workspace) -> None:
        """Begin where the workspace stands."""
        self._from = make_state(workspace.system)
        copy_state(workspace.state, self._from)
        self._step = _to_anchor(workspace)
        self._frames = math.ceil(float(np.abs(self._step).max(initial=0.0)) / _A_FRAME)
        self._frame = 0

    @property
    def over(self) -> bool:
        """Whether it has arrived."""
        return self._frame >= self._frames

    def go_on(self, workspace: Workspace) -> None:
        """Stand one frame farther on the way; the goals may be missed there until the frame is solved."""
        self._frame += 1
        state = workspace.state
        if self.over:
            copy_state(workspace.anchor, state)
            return
        copy_state(self._from, state)
        part = self._frame / self._frames
        move(workspace.system, workspace.work, part * self._step, state.x, state.q, state.t)


def way_home(workspace: Workspace) -> WayHome | None:
    """The way to the pose that a drag began at; None if it is there, or if the goals are not met there.

    The scratch is used.
    """
    system, anchor = workspace.system, workspace.anchor
    if np.abs(_to_anchor(workspace)).max(initial=0.0) <= _HOME:
        return None
    _, worst = residuals(system, workspace.work, anchor.q, anchor.t, anchor.e)
    return WayHome(workspace) if worst <= 1.0 else None


def _to_anchor(workspace: Workspace) -> Floats:
    """(n,) the step from where it stands to where the drag began."""
    state, anchor = workspace.state, workspace.anchor
    step = np.zeros(len(state.x))
    difference(workspace.system, workspace.work, state.x, state.q, state.t, anchor.x, anchor.q, anchor.t, step)
    return step
