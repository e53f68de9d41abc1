"""How numbers in fields are shown, scrubbed and typed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from viewer.app.widgets.arithmetic import DEGREES, METRES, PLAIN
from viewer.gizmo import METRE
from viewer.ui import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from viewer.app.context import PanelContext
    from viewer.app.widgets.edits import Edit


@dataclass(frozen=True, slots=True)
class Format:
    """How a number is shown, scrubbed and typed.

    Attributes:
        decimals: that are shown; typed numbers are taken whole.
        unit: behind the number.
        per_pixel: change of the value per logical pixel of a scrub.
        snap: step of the value while Ctrl is held.
        units: that may be typed, and what they are worth in the one shown.
        worth: of the value, what one of what is shown is.
        low, high: the number stays between these.
    """

    decimals: int = 3
    unit: str = ""
    per_pixel: float = 0.002
    snap: float = 0.05
    units: Mapping[str, float] = field(default_factory=lambda: METRES)
    low: float = -1e9
    high: float = 1e9
    worth: float = 1.0

    def words(self, value: float) -> str:
        """The number with its unit."""
        return numbers.fixed(value / self.worth, self.decimals) + self.unit

    def kept(self, edit: Edit | None) -> Edit | None:
        """An edit within the bounds."""
        return edit and edit._replace(value=min(max(edit.value, self.low), self.high))


PLACE = Format()
TURN = Format(decimals=1, unit="°", per_pixel=0.5, snap=5.0, units=DEGREES)
LENGTH = Format(unit=" m", low=1e-6)
COUNT = Format(decimals=0, per_pixel=0.2, snap=10.0, units={})
PART = Format(decimals=2, per_pixel=0.005, snap=0.1, units=PLAIN)


def place_label(ui: PanelContext) -> str:
    """What stands before three fields of a place, which are too narrow for the unit."""
    unit = ui.controller.unit
    return "Position" if unit.name == METRE.name else f"Pos. {unit.name}"


def in_lengths(ui: PanelContext, form: Format) -> Format:
    """A format for lengths (`PLACE`, `LENGTH`) as the figure's size asks for them."""
    unit, scale = ui.controller.unit, ui.controller.step_scale
    if (unit, scale) == (METRE, 1.0):
        return form
    return replace(
        form,
        decimals=unit.decimals,
        unit=f" {unit.name}" if form.unit else "",
        per_pixel=form.per_pixel * scale,
        snap=form.snap * scale,
        units={name: metres / unit.metres for name, metres in METRES.items()},
        low=form.low if form.low < 0.0 else form.low * scale,
        worth=unit.metres,
    )
