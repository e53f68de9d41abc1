"""The workspace Retarget: the pairs of two figures, and how the motion of one is transferred to the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import command_button, run
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.edits import attempt
from viewer.app.widgets.pen import Pen, gap, tip
from viewer.choices import FEET, HANDS
from viewer.errors import plural
from viewer.skeleton.joint_map import SURE, Reference
from viewer.skeleton.names import body_part
from viewer.ui.retargeting import NOTHING, Retargeting, Settings

T = TypeVar("T", bound=str)

_ROW, _FOOT = 22, 36
"""Height of a row and of the buttons below the list, logical pixels."""
_GROUPS = ("Trunk", "Left arm", "Right arm", "Left leg", "Right leg")
_LEG = {"knee", "upper leg", "foot", "ankle", "toe"}
CANCELS, APPLIES = "Take the motion back", "Keep the motion: one step of the history"
_FACTOR = fields.Format(decimals=2, unit=" x", per_pixel=0.005, snap=0.1, units=fields.PLAIN, low=0.01, high=100.0)


def draw_pairs(ui: PanelContext) -> None:
    """Draw the pairs, grouped by part of the body; a click selects one, its menu makes a joint have no partner."""
    retargeting = ui.controller.retargeting
    if not retargeting.running or retargeting.map is None:
        controls.quiet(ui, "No pairs yet")
        return
    imgui.begin_child("pairs", (0.0, imgui.get_content_region_avail().y - ui.px(_FOOT)))
    pen, x, y, wide, _ = controls.line(ui, 18)
    pen.small(x + pen.px(12), y, pen.fit(retargeting.source, wide / 2.0 - pen.px(20), SMALL))
    pen.small(x + wide / 2.0, y, pen.fit(retargeting.target, wide / 2.0 - pen.px(24), SMALL))
    groups = _grouped(retargeting)
    with controls.no_spacing():
        for title, names in groups.items():
            _heading(ui, title, len(names))
            for name in names:
                _pair_row(ui, name)
        _unmatched(ui, retargeting)
    imgui.end_child()
    gap(ui.px(6))
    widths = controls.side_by_side(ui, 2)
    wand = fa.ICON_FA_WAND_MAGIC_SPARKLES
    command_button(ui, "retarget.map_again", "Map again", icon=wand, width=next(widths))
    disk, said = fa.ICON_FA_FLOPPY_DISK, "Write all pairs to a map file"
    if controls.text_button(ui, "Save map", icon=disk, width=next(widths), hint=said):
        retargeting.ask_map()


def _grouped(retargeting: Retargeting) -> dict[str, list[str]]:
    assert retargeting.map is not None
    groups: dict[str, list[str]] = {title: [] for title in _GROUPS}
    for name in retargeting.map.pairs:
        part = body_part(name)
        limb = "leg" if part.part in _LEG or "leg" in name.casefold() or "hip" in name.casefold() else "arm"
        groups[f"{part.side.capitalize()} {limb}" if part.side else "Trunk"].append(name)
    return {title: names for title, names in groups.items() if names}


def _heading(ui: PanelContext, title: str, count: int, what: str = "pair") -> None:
    pen, x, y, wide, h = controls.line(ui, 20)
    top = pen.middle(y, h, SMALL)
    pen.small(x + pen.px(2), top, title)
    pen.right(x + wide - pen.px(6), top, plural(count, what), "text3", SMALL)


def _pair_row(ui: PanelContext, name: str) -> None:
    retargeting, pen = ui.controller.retargeting, Pen(ui)
    assert retargeting.map is not None
    partner, certainty = retargeting.map.pairs[name], retargeting.map.certainty.get(name, 1.0)
    it = controls.list_row(pen, f"pair {name}", _ROW, chosen=name == retargeting.selected, rounding=3)
    half = it.w / 2.0
    y = pen.middle(it.y, it.h)
    side = body_part(name).side or "centre"
    pen.box(it.x + pen.px(2), it.y + pen.px(5), pen.px(3), it.h - pen.px(10), side, rounding=1)
    pen.text(it.x + pen.px(12), y, pen.fit(name, half - pen.px(18)))
    pen.text(it.x + half, y, pen.fit(partner, half - pen.px(28)))
    by_hand, sure = name in retargeting.map.by_hand, certainty >= SURE
    icon = fa.ICON_FA_HAND if by_hand else fa.ICON_FA_CHECK if sure else fa.ICON_FA_TRIANGLE_EXCLAMATION
    pen.icon(it.x + it.w - pen.px(14), it.middle[1], icon, "accent" if by_hand else "ok" if sure else "warn", SMALL)
    said = "given by hand" if by_hand else f"{100.0 * certainty:.0f} % sure"
    tip(f"{name} to {partner}: {said}")
    if it.clicked:
        retargeting.selected = "" if retargeting.selected == name else name
        ui.controller.view.changed()
    if imgui.begin_popup_context_item(f"of {name}"):
        if imgui.menu_item_simple("No partner"):
            attempt(ui, lambda: retargeting.pair(name, None))
        imgui.end_popup()


def _unmatched(ui: PanelContext, retargeting: Retargeting) -> None:
    """The joints that keep their rest rotation."""
    assert retargeting.map is not None
    names = retargeting.map.unmatched
    if not names:
        return
    _heading(ui, "Without partner", len(names), "joint")
    pen = Pen(ui)
    for name in names:
        it = controls.list_row(pen, f"none {name}", _ROW, rounding=3)
        pen.text(it.x + it.w / 2.0, pen.middle(it.y, it.h), pen.fit(name, it.w / 2.0 - pen.px(8)), "text3")
        tip(f"{name} keeps its rest rotation: drag from a joint of {retargeting.source} to it")


def draw_retarget(ui: PanelContext) -> None:
    """Draw source and target of the motion, the choices, the result, and the buttons that end it."""
    retargeting = ui.controller.retargeting
    if not retargeting.running:
        controls.quiet(ui, NOTHING)
        gap(ui.px(6))
        command_button(ui, "retarget.open", "Open…", icon=fa.ICON_FA_FOLDER_OPEN)
        return
    for label, name, menu in (("From", "from", _source_menu), ("To", "to", _target_menu)):
        controls.label(ui, label)
        menu(ui, name, imgui.get_content_region_avail().x)
    controls.separator(ui)
    _choices(ui, retargeting)
    controls.separator(ui)
    _result(ui, retargeting)
    gap(ui.px(10))
    widths = controls.side_by_side(ui, 2)
    command_button(ui, "retarget.cancel", "Cancel", width=next(widths), said=CANCELS)
    tick, width = fa.ICON_FA_CHECK, next(widths)
    command_button(ui, "retarget.apply", "Apply", icon=tick, width=width, primary=True, said=APPLIES)


_FEET_HINTS = ("Standing feet stay where they are", "Ankles go where the source's go, scaled", "As the legs turn")
_HAND_HINTS = ("As the arms turn", "Wrists go where the source's go, scaled", "Hands stay at what they are near")


def draw_retarget_tools(ui: PanelContext, *, wide: bool) -> None:
    """Draw the middle of the toolbar: source and target of the motion, and what feet and hands keep."""
    retargeting = ui.controller.retargeting
    if not retargeting.running:
        command_button(ui, "retarget.open", "Open…", icon=fa.ICON_FA_FOLDER_OPEN, height=controls.TOOL)
        return
    pen, width = Pen(ui), ui.px(150.0 if wide else 104.0)
    _source_menu(ui, "from tool", width)
    imgui.same_line(0.0, ui.px(8))
    x, y = imgui.get_cursor_screen_pos()
    pen.icon(x + pen.px(6), y + pen.px(controls.TOOL) / 2.0, fa.ICON_FA_ARROW_RIGHT, "text2")
    imgui.dummy((pen.px(18), pen.px(controls.TOOL)))
    imgui.same_line(0.0, ui.px(4))
    _target_menu(ui, "to tool", width)
    imgui.same_line(0.0, ui.px(14))
    settings = retargeting.settings
    chosen = settings.choices
    feet = _way(ui, "Feet", fa.ICON_FA_SHOE_PRINTS, dict(zip(FEET, _FEET_HINTS, strict=True)), chosen.feet, wide=wide)
    imgui.same_line(0.0, ui.px(4))
    hands = _way(ui, "Hands", fa.ICON_FA_HAND, dict(zip(HANDS, _HAND_HINTS, strict=True)), chosen.hands, wide=wide)
    if (feet, hands) != (chosen.feet, chosen.hands):
        wanted = replace(settings, choices=replace(chosen, feet=feet, hands=hands))
        attempt(ui, lambda: retargeting.change(wanted))


def _way(ui: PanelContext, part: str, icon: str, ways: Mapping[T, str], now: T, *, wide: bool) -> T:
    """A list of what feet or hands do, with explanations; returns the choice after this frame."""
    words = f"{part}: {now}" if wide else ""
    entries, said = ((way, str(way).capitalize()) for way in ways), f"{part}: {ways[now]}"
    picked = controls.drop_choice(
        ui, f"{part} tool", words, entries, now, icon=icon, width=ui.px(128 if wide else 52), hint=said
    )
    return now if picked is None else picked


def _source_menu(ui: PanelContext, name: str, width: float) -> None:
    retargeting = ui.controller.retargeting
    if controls.drop_menu(ui, name, retargeting.source, width=width, hint="Source of the motion"):
        chosen = controls.pick([(other, other) for other in retargeting.sources], retargeting.source)
        if chosen is not None and chosen != retargeting.source:
            attempt(ui, lambda: retargeting.choose_source(chosen))
        imgui.separator()
        if imgui.menu_item_simple("Open…"):
            run(ui, "retarget.open")
        imgui.end_popup()


def _target_menu(ui: PanelContext, name: str, width: float) -> None:
    """The list of figures that may get the motion; the source only if the target has motion to give."""
    retargeting = ui.controller.retargeting
    others = [(other, other) for other in retargeting.targets]
    said = "Figure that gets the motion"
    chosen = controls.drop_choice(ui, name, retargeting.target, others, retargeting.target, width=width, hint=said)
    if chosen is not None:
        attempt(ui, lambda: retargeting.choose_target(chosen))


def _choices(ui: PanelContext, retargeting: Retargeting) -> None:
    settings = retargeting.settings
    chosen = settings.choices
    controls.label(ui, "Feet")
    feet = controls.choose(ui, "feet", FEET, [word.capitalize() for word in FEET], chosen.feet, hints=_FEET_HINTS)
    controls.label(ui, "Hands")
    hands = controls.choose(ui, "hands", HANDS, [word.capitalize() for word in HANDS], chosen.hands, hints=_HAND_HINTS)
    controls.label(ui, "Limits")
    held = controls.choose(
        ui, "limits", (False, True), ("Free", "Hold"), chosen.limits, hints=("", "Joints stay in their ranges")
    )
    controls.label(ui, "Path")
    still = controls.choose(ui, "path", (False, True), ("Scaled", "In place"), chosen.in_place)
    controls.label(ui, "Scale")
    scale = chosen.scale
    shown = scale if scale is not None else retargeting.report.scale if retargeting.report is not None else None
    entered = fields.finished_number(ui, "scale", shown, _FACTOR, width=80, hint="Of the path and the height")
    scale = scale if entered is None else entered
    imgui.same_line(0.0, ui.px(6))
    if controls.text_button(ui, "Auto", on=chosen.scale is None, hint="The ratio of the legs' lengths"):
        scale = None
    controls.quiet(ui, "Frames in which both are assumed to have the same pose:", small=True)
    source = _reference(ui, "source", settings.source_reference)
    target = _reference(ui, "target", settings.target_reference)
    wanted = Settings(replace(chosen, feet=feet, hands=hands, limits=held, in_place=still, scale=scale), source, target)
    if wanted != settings:
        attempt(ui, lambda: retargeting.change(wanted))


def _reference(ui: PanelContext, name: str, now: Reference) -> Reference:
    """Rest, auto or a frame as a skeleton's neutral pose; returns the choice after this frame."""
    controls.label(ui, name.capitalize(), hint=f"Neutral pose of the {name}")
    kinds = ("auto", "rest", "frame")
    kind = now if isinstance(now, str) else "frame"
    picked = controls.choose(ui, f"neutral {name}", kinds, [word.capitalize() for word in kinds], kind)
    wanted: Reference = now
    if picked != kind:
        wanted = 0 if picked == "frame" else picked
    if picked == "frame":
        imgui.same_line(0.0, ui.px(6))
        entered = fields.finished_number(ui, f"frame {name}", float(wanted), fields.COUNT, width=48)
        wanted = wanted if entered is None else max(0, round(entered))
    return wanted


def _result(ui: PanelContext, retargeting: Retargeting) -> None:
    if retargeting.problem:
        controls.paragraph(ui, retargeting.problem, "warn")
        return
    report, found = retargeting.report, retargeting.map
    if report is None or found is None:
        return
    doubtful = len(found.doubtful)
    check = f", {doubtful} to check" if doubtful else ""
    controls.paragraph(ui, f"{len(found.pairs) - doubtful} of {len(found.pairs)} pairs sure{check}")
    rows: list[tuple[str, str]] = []
    if report.slide_cm_s is not None:
        rows += [("Feet slid", f"{report.slide_cm_s[0]:.1f} cm/s"), ("now", f"{report.slide_cm_s[1]:.2f} cm/s")]
    if report.limbs_deg is not None:
        rows.append(("Limbs turned", f"{report.limbs_deg:.1f}° mean"))
    rows.append(("Outside limits", f"{100.0 * report.at_limits:.1f} % of frames"))
    rows.append(("Frames", f"{report.frames:,}"))
    controls.value_rows(ui, rows)
    for warning in report.warnings:
        controls.paragraph(ui, warning, "warn", small=True)
