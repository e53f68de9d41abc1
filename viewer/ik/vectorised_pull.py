"""The numpy backend: how much of its pull a drag follows."""

from __future__ import annotations

import numpy as np

from viewer.ik.kernels_pull import LEAST, LESS, MORE, SWING, SWINGING
from viewer.ik.system import System, Work


def yield_swings(s: System, w: Work) -> None:
    """Let the pull be less where a step takes back the last one: see `kernels_pull.yield_swings`."""
    product = w.step * w.before / s.unit**2
    back, on = -float(product[product < 0.0].sum()), float(product[product > 0.0].sum())
    swings = back > SWING**2 and back > SWINGING * on
    w.yielding[0] = max(LEAST, LESS * w.yielding[0]) if swings else min(1.0, MORE * w.yielding[0])
    np.copyto(w.before, w.step)
