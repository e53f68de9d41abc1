"""Loops of the skeleton, closed again where a pose has opened them: a joint moved by hand, a pose from a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from viewer.document.document import Document
from viewer.document.scope import bound_skeleton
from viewer.ik.grips import loop_goals
from viewer.ik.solution import Status
from viewer.ik.solver import Solver
from viewer.skeleton import Pose

_CLOSED = 1e-5
"""Metres."""


def with_loops_closed(document: Document, pose: Pose, moved: Iterable[int]) -> Pose:
    """A pose with the skeleton's loops closed by the joints that were not moved; where these cannot, by all.

    Without loops it is the pose itself.
    """
    skeleton = document.skeleton
    if not skeleton.loops:
        return pose
    names = frozenset(skeleton.names[joint] for joint in moved)
    found = pose
    for locked in (names, frozenset[str]()):
        bound = replace(bound_skeleton(skeleton, document.unlimited, locked), loops=())
        chosen = document.solver.options(limits=document.limits_on)
        solver = Solver(
            bound, loop_goals(skeleton), limits=chosen.limits, backend=chosen.backend, root="locked", restarts=False,
            tolerance_m=_CLOSED,
        )  # fmt: skip
        solution = solver.solve(pose)
        found = solution.pose
        if solution.status is Status.CONVERGED:
            break
    return found
