"""The section of the inspector about a layer: its target, what carries it, when it acts and how much."""

from __future__ import annotations

from functools import partial

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.panels.goal_inspector import draw_level
from viewer.app.panels.layer_lanes import moved
from viewer.app.widgets.buttons import drop_menu, head, label, paragraph, pick, text_button, toggle
from viewer.app.widgets.edits import act, carry_out
from viewer.app.widgets.fields import (
    POSITION,
    Format,
    axis_fields,
    in_lengths,
    number_field,
    part_slider,
    position_label,
)
from viewer.document import GoalLayer
from viewer.document.actions import RemoveLayer, SetLayer
from viewer.document.layers import in_other_space
from viewer.errors import shown
from viewer.ui.layering import miss_words, solving_words
from viewer.ui.timeline import last_frame

_FIELD = 72.0
"""Width of a number of a frame, logical pixels."""
_WORLD = "World"


def draw_layer(ui: PanelContext, layer: GoalLayer) -> None:
    """Draw the section."""
    missed = miss_words(ui.session, layer)
    head(ui, fa.ICON_FA_LAYER_GROUP, shown(layer.id), f"layer \N{MIDDLE DOT} {shown(layer.effector)}", colour="accent")
    if missed:
        paragraph(ui, f"{shown(layer.effector)} {missed}", "warn", small=True)
    solving = solving_words(ui.session, layer)
    if solving:
        paragraph(ui, f"{shown(layer.effector)}: {solving}", "text2", small=True)
    label(ui, "Acts")
    if toggle(ui, "acts", on=layer.on):
        act(ui, SetLayer(layer.id, on=not layer.on))
    if layer.position is not None:
        _position(ui, layer, layer.position)
    _carrier(ui, layer)
    _times(ui, layer)
    label(ui, "Weight")
    edit = part_slider(ui, "weight", layer.weight, hint="How much of the way the effector goes")
    carry_out(ui, edit, f"Weight of layer {layer.id}", lambda part: SetLayer(layer.id, weight=min(max(part, 0.0), 1.0)))
    chosen = draw_level(ui, layer.level)
    if chosen is not None:
        act(ui, SetLayer(layer.id, level=chosen))
    label(ui, "")
    if text_button(ui, "Remove", icon=fa.ICON_FA_TRASH, hint="Delete"):
        act(ui, RemoveLayer(layer.id))


def _position(ui: PanelContext, layer: GoalLayer, place: tuple[float, float, float]) -> None:
    label(ui, position_label(ui), hint="Along the axes of what carries it" if layer.space else "")
    changed = axis_fields(ui, "target", place, in_lengths(ui, POSITION))
    if changed is None:
        return
    index, edit = changed
    numbers = list(place)

    def put(value: float) -> SetLayer:
        numbers[index] = value
        return SetLayer(layer.id, position=tuple(numbers))

    carry_out(ui, edit, f"Target of layer {layer.id}", put)


def _carrier(ui: PanelContext, layer: GoalLayer) -> None:
    """A list of what carries the target: nothing, props, joints."""
    label(ui, "Fixed to", hint="What carries the target along; it stays where it is now")
    document = ui.session.document
    wide = imgui.get_content_region_avail().x
    if drop_menu(ui, "carrier", shown(layer.space or _WORLD), width=wide, height=24):
        spaces = [("", _WORLD), *((prop.name, shown(prop.name)) for prop in document.contact.props)]
        spaces += [(name, shown(name)) for name in document.skeleton.names if name != layer.effector]
        chosen = pick(spaces, layer.space)
        if chosen is not None and chosen != layer.space:
            act(ui, SetLayer(layer.id, **in_other_space(document, layer, chosen)))
        imgui.end_popup()


def _times(ui: PanelContext, layer: GoalLayer) -> None:
    """Frames of the start, of the hold and of the end."""
    last = last_frame(ui.session.document)
    form = Format(decimals=0, per_pixel=0.2, snap=5.0, units={}, low=0.0, high=float(last))
    rows = (
        ("From, to", "Frames between which it acts", ("first", layer.first), ("last", layer.last)),
        ("Holds", "Frames at full weight", ("full from", layer.full[0]), ("full to", layer.full[1])),
    )  # fmt: skip
    for words, said, *parts in rows:
        label(ui, words, hint=said)
        for number, (part, frame) in enumerate(parts):
            if number:
                imgui.same_line(0.0, ui.px(6))
            edit = number_field(ui, part, float(frame), form, width=ui.px(_FIELD))
            carry_out(ui, edit, f"Time of layer {layer.id}", partial(_at_frame, layer, part, last))


def _at_frame(layer: GoalLayer, part: str, last: int, frame: float) -> SetLayer:
    return SetLayer(layer.id, **moved(layer, part, round(frame), last))
