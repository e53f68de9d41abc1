"""Which targets are missed because they are too near: there an arm is not short of anything."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from viewer.ik.solution import Status
from viewer.session.standing import above, stand_of, world_of
from viewer.session.values import STANDING, Wanted
from viewer.skeleton.kinds import JointKind
from viewer.ui.movable import can_follow

if TYPE_CHECKING:
    from viewer.session import Document, Handle, Report

_SAID = re.compile(r"(?P<name>.+) is (?:(?:over )?\S+ \S+ )?too near:")


def too_near(document: Document, report: Report | None) -> frozenset[str]:
    """Names of the effectors whose targets are nearer than their chains fold.

    What was found out about the last solve says so; in a drag, where there is no time to find out, the lengths do.
    """
    if report is None or report.status is Status.CONVERGED:
        return frozenset()
    said = (_SAID.match(line) for line in report.diagnosis)
    names = {found["name"] for found in said if found is not None}
    errors = report.errors
    missed = [one for one in document.handles if one.effector in errors and not errors[one.effector].reached]
    names |= {handle.effector for handle in missed if _folds_too_far(document, handle)}
    return frozenset(names)


def _folds_too_far(document: Document, handle: Handle) -> bool:
    """Whether a target is surely too near: the longest of the chain's parts is more than all others and the way to it.

    The parts are stiff: from one joint that turns to the next. A chain whose base can move has no such bound.
    """
    if handle.kind not in STANDING or handle.kind is Wanted.ROTATION or handle.position is None:
        return False
    skeleton, world = document.skeleton, world_of(document.skeleton, document.pose)
    stand = stand_of(skeleton, document.pose, handle)
    path = above(skeleton, stand.joint)
    turning = [joint for joint in path if skeleton.kinds[joint] is not JointKind.FIXED]
    if not turning or can_follow(document, turning[-1]) or JointKind.SLIDE in {skeleton.kinds[j] for j in turning}:
        return False
    points = np.array([stand.position, *(world.positions[joint] for joint in turning)])
    parts = np.linalg.norm(np.diff(points, axis=0), axis=1)
    away = float(np.linalg.norm(np.array(handle.position) - points[-1]))
    return bool(2.0 * parts.max() - parts.sum() > away + document.solver.tolerance_m)
