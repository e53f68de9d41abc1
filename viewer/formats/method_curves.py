"""How methods are told from each other in the laboratory: letter, colour and dashes of each."""

from __future__ import annotations

from typing import NamedTuple


class Curve(NamedTuple):
    """The look of one method.

    Attributes:
        letter: stands in a disc of the colour.
        colour: "#RRGGBB".
        dash: lengths of dashes and gaps in turn, logical pixels; empty: a solid line.
    """

    letter: str
    colour: str
    dash: tuple[int, ...]

    @property
    def ink(self) -> str:
        """The name of the colour in the window's palette."""
        return f"method_{self.letter}"


CURVES = (
    Curve("A", "#5AD7F2", ()),
    Curve("B", "#ADE08F", ()),
    Curve("C", "#BD8642", (8, 4)),
    Curve("D", "#5892E1", (2, 3)),
    Curve("E", "#F1C7CC", (8, 3, 2, 3)),
    Curve("F", "#A08AA1", (12, 4)),
    Curve("G", "#7F9780", (4, 3)),
    Curve("H", "#D6CBFC", (12, 3, 2, 3, 2, 3)),
)
"""In the order of the methods. Two colours are 14 CIEDE2000 apart in all four kinds of sight; dashes serve in print."""
