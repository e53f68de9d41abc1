"""Ease: holds do not push joints to their limits.

A dof is at ease unless it is nearer a limit than a part of its range, and nearer than where the drag began. Beyond that
a spring draws it back: k (excess / spread)^2, stronger than holds pull and weaker than what is dragged does. So a joint
comes to its limit where the dragged goal needs it, and where a hold alone would bring it there, the hold gives way.
Its Hessian is diagonal: it stiffens the dofs, which is as if they were less mobile by a factor.
"""

from __future__ import annotations

import math

from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats

STIFFNESS = 1e-1
"""K: the loss of a dof that is beyond its ease by its own spread."""


def put_excess(s: System, x: Floats, home: Floats, out: Floats) -> None:
    """How far dofs (n,) are beyond their ease, signed, into ``out``; ``home``: where the drag began."""
    for d in range(len(x)):
        out[d] = 0.0
        if s.ease[d] > 0.0 and s.spread[d] > 0.0:
            upper, lower = max(s.upper[d] - s.ease[d], home[d]), min(s.lower[d] + s.ease[d], home[d])
            out[d] = max(x[d] - upper, 0.0) + min(x[d] - lower, 0.0)


def excess_loss(w: Work, out: Floats) -> float:
    """The loss of such excesses."""
    total = 0.0
    for d in range(len(out)):
        if out[d] != 0.0:
            total += (out[d] / w.mobility[d]) ** 2
    return STIFFNESS * total


def stiffen(s: System, w: Work, damping: float) -> None:
    """Scale spreads, and rows of Jacobian and twists, of dofs beyond their ease; draw these back by ``w.pull``.

    The damped step with K = damping + k instead of damping is that of dofs less mobile by sqrt(damping / K).
    """
    for d in range(len(w.excess)):
        w.pull[d] = w.posture[d]
        if w.excess[d] == 0.0:
            continue
        share = damping / (damping + STIFFNESS)
        w.pull[d] = share * w.posture[d] - (1.0 - share) * w.excess[d]
        mobility = math.sqrt(share) * w.mobility[d]
        factor = mobility / s.spread[d]
        s.spread[d] = mobility
        for r in range(w.jacobian.shape[1]):
            w.jacobian[d, r] *= factor
        if w.contact.rows[0] > 0:
            for i in range(6):
                w.contact.twist[d, i] *= factor


def predicted_ease(w: Work) -> float:
    """By how much ``w.step`` lowers the loss of the excesses, as long as they stay excesses."""
    gain = 0.0
    for d in range(len(w.excess)):
        if w.excess[d] != 0.0:
            gain += (w.excess[d] ** 2 - (w.excess[d] + w.step[d]) ** 2) / w.mobility[d] ** 2
    return STIFFNESS * gain
