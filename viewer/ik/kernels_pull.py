"""Loops that numba compiles: how much of its pull a drag follows."""

from __future__ import annotations

from viewer.ik.system import System, Work

SWING, SWINGING = 3e-4, 0.5
"""Radians or units of length that freedoms swing back; and that part, at least, of what others go on (both squared)."""
LESS, MORE, LEAST = 0.5, 1.1, 0.02


def yield_swings(s: System, w: Work) -> None:
    """Let the pull be less where a step takes back the last one, and little by little all of it where none does.

    What the goals leave free is a curve; where it is narrow, as that of a knee that is nearly straight, a pull of some
    length steps to and fro across the place where it would rest. (Signs that change tell of steps that are too long:
    Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning: the RPROP algorithm", 1993.)
    """
    back, on = 0.0, 0.0
    for d in range(len(w.step)):
        product = w.step[d] * w.before[d] / s.unit[d] ** 2
        if product < 0.0:
            back -= product
        else:
            on += product
        w.before[d] = w.step[d]
    swings = back > SWING**2 and back > SWINGING * on
    w.yielding[0] = max(LEAST, LESS * w.yielding[0]) if swings else min(1.0, MORE * w.yielding[0])
