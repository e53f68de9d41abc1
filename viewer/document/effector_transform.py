"""How far the goals of a document are from being met, by forward kinematics."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from viewer.document.default_goals import world_of
from viewer.document.document import Document
from viewer.document.report import GoalError, StillReport, goal_errors
from viewer.document.scope import binding
from viewer.ik.backends import engine_for
from viewer.ik.goals import KINDS, Goal
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats

_AT_LIMIT = 1e-6
"""Radians or metres."""


def measured(document: Document, goals: Mapping[str, Goal] | None = None) -> dict[str, GoalError]:
    """By goal how far it is missed, in the document's pose."""
    asked = document.solver_goals() if goals is None else goals
    pairs = np.array([_miss(document, goal) for goal in asked.values()]).reshape(-1, 2)
    settings = document.solver
    return goal_errors(tuple(asked), pairs[:, 0], pairs[:, 1], (settings.tolerance_m, settings.tolerance_deg))


def still_report(document: Document) -> StillReport | None:
    """What is said of a document that needs no solve; None if a goal is missed."""
    errors = measured(document)
    if not all(error.reached for error in errors.values()):
        return None
    backend = engine_for(document.solver.backend)[1]
    return StillReport(errors, joints_at_limit(document), document.solver.method, backend)


def joints_at_limit(document: Document) -> tuple[str, ...]:
    """Names of the joints that stand at a limit that binds, or outside, in the pose shown: solved, played or pasted."""
    return _at_limit(binding(document), document.pose) if document.limits_on else ()


@lru_cache(maxsize=8)
def coordinates_of(skeleton: Skeleton, pose: Pose) -> Floats:
    """Joint coordinates (J, 3), kept for the poses in use, which are immutable."""
    return joint_space(skeleton).measure(pose.rotations, pose.translations)


@lru_cache(maxsize=8)
def _at_limit(skeleton: Skeleton, pose: Pose) -> tuple[str, ...]:
    space, coordinates = joint_space(skeleton), coordinates_of(skeleton, pose)
    near = ((coordinates - space.lower < _AT_LIMIT) | (space.upper - coordinates < _AT_LIMIT)).any(axis=-1)
    return tuple(skeleton.names[joint] for joint in np.flatnonzero(near).tolist())


def _miss(document: Document, goal: Goal) -> tuple[float, float]:
    """Metres and degrees; NaN for what is not asked."""
    return KINDS[goal.kind].miss(goal, document.skeleton, world_of(document.skeleton, document.pose))
