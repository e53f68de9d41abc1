"""The numpy backend: holds do not push joints to their limits; see `viewer.ik.backends.compiled.ease`."""

from __future__ import annotations

import numpy as np

from viewer.ik.backends.compiled.ease import STIFFNESS
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats


def put_excess(s: System, x: Floats, home: Floats, out: Floats) -> None:
    """How far dofs (n,) are beyond their ease, signed, into ``out``; ``home``: where the drag began."""
    upper, lower = np.maximum(s.upper - s.ease, home), np.minimum(s.lower + s.ease, home)
    excess = np.maximum(x - upper, 0.0) + np.minimum(x - lower, 0.0)
    out[...] = np.where((s.ease > 0.0) & (s.spread > 0.0), excess, 0.0)


def excess_loss(w: Work, out: Floats) -> float:
    """The loss of such excesses."""
    some = out != 0.0
    return STIFFNESS * float(((out[some] / w.mobility[some]) ** 2).sum())


def stiffen(s: System, w: Work, damping: float) -> None:
    """See `viewer.ik.backends.compiled.ease.stiffen`."""
    w.pull[...] = w.posture
    some = w.excess != 0.0
    if some.any():
        share = damping / (damping + STIFFNESS)
        w.pull[some] = share * w.posture[some] - (1.0 - share) * w.excess[some]
        mobility = np.sqrt(share) * w.mobility[some]
        factor = (mobility / s.spread[some])[:, None]
        w.jacobian[some] *= factor
        if w.contact.rows[0] > 0:
            w.contact.twist[some] *= factor
        s.spread[some] = mobility


def predicted_ease(w: Work) -> float:
    """By how much ``w.step`` lowers the loss of the excesses, as long as they stay excesses."""
    some = w.excess != 0.0
    before, step = w.excess[some], w.step[some]
    return STIFFNESS * float(((before**2 - (before + step) ** 2) / w.mobility[some] ** 2).sum())
