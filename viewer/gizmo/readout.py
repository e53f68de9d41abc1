"""How far a drag has gone, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from viewer.gizmo.units import METRE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.gizmo.units import LengthUnit

MINUS = "\N{MINUS SIGN}"

_MOST_DECIMALS = 9


def decimals_for(metre: float, unit: LengthUnit = METRE) -> int:
    """Decimals that tell one pixel from the next, where a pixel is this many metres; at least the unit's."""
    if not (math.isfinite(metre) and metre > 0.0):
        return unit.decimals
    return min(max(math.ceil(-math.log10(metre / unit.metres)), unit.decimals), _MOST_DECIMALS)


def number(value: float, decimals: int) -> str:
    """With a real minus, and none before a zero."""
    text = f"{value:.{decimals}f}"
    return text.replace("-", "" if float(text) == 0.0 else MINUS)


def in_lengths(names: Sequence[str], numbers: Sequence[str], unit: LengthUnit = METRE) -> str:
    """``ΔX 0.124  ΔY 0.010 m``."""
    parts = (f"{name} {text}" for name, text in zip(names, numbers, strict=True))
    return f"{'  '.join(parts)} {unit.name}"


def in_degrees(name: str, text: str) -> str:
    """``ΔX 35.0°``."""
    return f"{name} {text}°"


def while_typed(texts: Sequence[str]) -> list[str]:
    """Numbers as they are being typed: to the letter, 0 for none."""
    return [text.replace("-", MINUS) or "0" for text in texts]
