"""Whether a figure is of a person's scale, and by how much lengths that suit people are to be multiplied else."""

from __future__ import annotations

import math

LEAST, MOST = 0.1, 30.0
"""Metres of height between which a figure is of a person's scale."""
_USUAL = 1.7


def is_usual(height: float) -> bool:
    """Whether a figure of this height (metres) is of a person's scale; one without a height that is a number is."""
    return not (0.0 < height < math.inf) or LEAST <= height < MOST


def step_scale(height: float) -> float:
    """What lengths for a person are to be multiplied by for a figure of a height: a power of ten."""
    return 1.0 if is_usual(height) else 10.0 ** round(math.log10(height / _USUAL))
