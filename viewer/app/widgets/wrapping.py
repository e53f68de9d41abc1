"""Text in several lines of a width."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_KEPT = "\N{NO-BREAK SPACE}"
_UNIT = re.compile(r"(?<=\d) (?=(?:[kcmµ]?m|m?s|min|inch|frames?)\b)")
"""Blanks between a number and its unit: a line does not end there."""


def wrapped(text: str, width: float, measure: Callable[[str], float], most: int) -> list[str]:
    """Lines of a text, broken between words, and within a word that is wider than a line.

    Args:
        text: one line.
        width: that no line exceeds.
        measure: the width of a text.
        most: lines; what is left over is cut off, and said to be by an ellipsis.
    """
    lines, line = list[str](), ""
    for word in _UNIT.sub(_KEPT, text).split(" "):
        longer = f"{line} {word}" if line else word
        if measure(longer) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        *full, line = _broken(word, width, measure)
        lines += full
    lines.append(line)
    if len(lines) > most:
        lines = [*lines[: most - 1], _cut(lines[most - 1], width, measure)]
    return [one.replace(_KEPT, " ") for one in lines]


def _broken(word: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """Parts of a word, none wider than a line; at least a letter each."""
    parts = [""]
    for letter in word:
        if parts[-1] and measure(parts[-1] + letter) > width:
            parts.append("")
        parts[-1] += letter
    return parts


def _cut(line: str, width: float, measure: Callable[[str], float]) -> str:
    while line and measure(f"{line}…") > width:
        line = line[:-1]
    return f"{line}…"
