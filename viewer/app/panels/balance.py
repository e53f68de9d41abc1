"""The section of the inspector about the balance of the figure."""

from __future__ import annotations

from dataclasses import replace

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.panels.goal_inspector import draw_level
from viewer.app.panels.panel_parts import hint, run
from viewer.app.widgets.buttons import head, label, note, toggle
from viewer.app.widgets.edits import act, carry_out
from viewer.app.widgets.fields import LENGTH, METRES, Format, in_lengths, number_field
from viewer.document.actions import SetBalance
from viewer.gizmo import METRE
from viewer.ui.balance import spare_words

_CENTIMETRES = Format(
    decimals=1, unit=" cm", per_pixel=0.0005, snap=0.005, low=0.0, worth=0.01,
    units={name: metres / 0.01 for name, metres in METRES.items()},
)  # fmt: skip
_FIELD = 72.0
"""Width of the margin, logical pixels."""


def draw_balance(ui: PanelContext) -> None:
    """Draw whether balance is kept, how well the figure stands, the margin and the level."""
    balance = ui.session.document.balance
    if not balance.on:
        label(ui, "Balance", hint="The centre of mass stays above what the figure stands on")
        if toggle(ui, "balance", on=False, hint=hint("balance.keep")):
            run(ui, "balance.keep")
        return
    head(ui, fa.ICON_FA_SCALE_BALANCED, "Balance", spare_words(ui.session.document), colour="accent")
    label(ui, "Keep", hint="The centre of mass stays above what the figure stands on")
    if toggle(ui, "balance", on=True, hint=hint("balance.keep")):
        run(ui, "balance.keep")
    imgui.same_line(0.0, ui.px(8))
    form = _CENTIMETRES if ui.controller.view.unit.name == METRE.name else in_lengths(ui, replace(LENGTH, low=0.0))
    edit = number_field(
        ui, "margin", balance.margin, form,
        width=ui.px(_FIELD), hint="How far inside the support polygon the centre of mass stays",
    )  # fmt: skip
    carry_out(ui, edit, "Margin of balance", lambda margin: SetBalance(margin=margin))
    note(ui, "inside the edge")
    chosen = draw_level(ui, balance.level)
    if chosen is not None:
        act(ui, SetBalance(level=chosen))
