"""The workspace Physics: what drives the figure, its surroundings, and what is kept of a simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import command_button, command_tool
from viewer.app.widgets import controls, fields
from viewer.app.widgets.pen import gap
from viewer.choices import ASSISTS
from viewer.errors import listed
from viewer.skeleton import JointKind
from viewer.ui.simulating import Forces, Simulating

_HERTZ = fields.Format(decimals=1, unit=" Hz", per_pixel=0.05, snap=1.0, units=fields.PLAIN, low=0.5, high=12.0)
_PART = fields.Format(decimals=2, per_pixel=0.01, snap=0.1, units=fields.PLAIN, low=0.0, high=3.0)
_MASS = fields.Format(decimals=2, unit=" kg", per_pixel=0.01, snap=0.5, units=fields.PLAIN, low=1e-6, high=1e6)
_SPEED = fields.Format(decimals=1, unit=" m/s", per_pixel=0.05, snap=1.0, units=fields.PLAIN, low=0.1, high=100.0)
_RADIUS = fields.Format(decimals=3, unit=" m", per_pixel=0.001, snap=0.01, low=1e-6, high=1e6)
_BASES = ("It stays where the file has it", "It falls or stands: robots with legs begin so")
_RESET, _STRENGTH = "Back to the pose, at rest  Ctrl Home", "Strength: how quickly joints answer"
_SAYS = (
    "A force of at most the figure's weight holds the root at its goal",
    "A force of at most 0.3 times its weight holds it",
    "It falls",
)


def draw_physics(ui: PanelContext) -> None:
    """Draw the state, the choices, and the buttons that keep a result."""
    part = ui.controller.simulating
    if part.sim is None:
        _cannot(ui, part)
        return
    _state(ui, part)
    controls.separator(ui)
    forces = _around(ui, part, _figure(ui, part))
    if forces != part.forces:
        part.change(forces)
    gap(ui.px(10))
    widths = controls.side_by_side(ui, 2)
    command_button(ui, "physics.keep_clip", "Keep as clip", icon=fa.ICON_FA_FILM, width=next(widths))
    command_button(ui, "physics.keep_pose", "Keep pose", icon=fa.ICON_FA_CHECK, width=next(widths), primary=True)


def draw_physics_tools(ui: PanelContext, *, wide: bool) -> None:
    """Draw the middle of the toolbar: pause, reset, balance, strength, a ball."""
    part = ui.controller.simulating
    if part.sim is None:
        imgui.dummy((1.0, ui.px(controls.TOOL)))  # what follows is on its line
        return
    words, icon = ("Resume", fa.ICON_FA_PLAY) if part.paused else ("Pause", fa.ICON_FA_PAUSE)
    command_tool(ui, "physics.pause", icon, words if wide else "", 86.0, said="Space")
    imgui.same_line(0.0, ui.px(4))
    command_tool(ui, "physics.reset", fa.ICON_FA_ROTATE_LEFT, "Reset" if wide else "", 86.0, said=_RESET)
    imgui.same_line(0.0, ui.px(12))
    forces = part.forces
    if len(part.sim.model.free):
        forces = _assist(ui, "assist tool", forces, height=controls.TOOL, width=ui.px(60))
        imgui.same_line(0.0, ui.px(12))
    x, y = imgui.get_cursor_screen_pos()
    imgui.set_cursor_screen_pos((x, y + ui.px(controls.TOOL - controls.FIELD) / 2.0))
    edit = fields.number_field(ui, "strength tool", forces.strength, _HERTZ, width=ui.px(64), hint=_STRENGTH)
    if edit is not None:
        forces = replace(forces, strength=edit.value)
    if forces != part.forces:
        part.change(forces)
    imgui.same_line(0.0, ui.px(12))
    imgui.set_cursor_screen_pos((imgui.get_cursor_screen_pos().x, y))
    command_tool(ui, "physics.throw", fa.ICON_FA_BASEBALL, "Throw ball" if wide else "", 112.0)


def _assist(
    ui: PanelContext, name: str, forces: Forces, height: float = controls.SEGMENT, width: float | None = None
) -> Forces:
    ways, words = tuple(ASSISTS), [word.capitalize() for word in ASSISTS]
    way = controls.choose(ui, name, ways, words, forces.assist, hints=_SAYS, height=height, widths=width)
    return replace(forces, assist=way)


def _cannot(ui: PanelContext, part: Simulating) -> None:
    if not part.problem:
        return
    controls.paragraph(ui, part.problem, "warn")
    _, command, install = part.problem.partition("pip install ")
    if command:
        gap(ui.px(6))
        if controls.text_button(ui, "Copy", icon=fa.ICON_FA_COPY, hint="Copy the line that installs it"):
            ui.controller.view.request("copy-text", command + install)


def _state(ui: PanelContext, part: Simulating) -> None:
    """Time, speed, and what supports the figure."""
    sim = part.sim
    assert sim is not None
    rows = [("Time", f"{sim.seconds:.2f} s"), ("Pace", part.speed_words)]
    if len(sim.model.free) and sim.assist != "off":
        rows.append((part.assist_words, f"{100.0 * sim.assist_weights:.0f} % of its weight"))
    rows.append(("Mass", f"{sim.model.mass:.3g} kg"))
    if any(motor is not None and motor.effort is not None for motor in sim.skeleton.motors):
        names = [sim.skeleton.names[joint] for joint in sim.drive.at_full_effort.tolist()]
        rows.append(("At full effort", listed(names, 1) if names else "none"))
    controls.value_rows(ui, rows)
    if part.problem:
        controls.paragraph(ui, part.problem, "warn", small=True)
    for line in sim.warnings:
        controls.paragraph(ui, line, "warn", small=True)
    gap(ui.px(4))
    words, icon = ("Resume", fa.ICON_FA_PLAY) if part.paused else ("Pause", fa.ICON_FA_PAUSE)
    widths = controls.side_by_side(ui, 3)
    command_button(ui, "physics.pause", words, icon=icon, width=next(widths), said="Space")
    command_button(ui, "physics.reset", "Reset", icon=fa.ICON_FA_ROTATE_LEFT, width=next(widths), said=_RESET)
    command_button(ui, "physics.throw", "Throw", icon=fa.ICON_FA_BASEBALL, width=next(widths))


def _figure(ui: PanelContext, part: Simulating) -> Forces:
    """What drives the figure."""
    forces, sim = part.forces, part.sim
    assert sim is not None
    controls.label(ui, "Strength", hint=_STRENGTH)
    edit = fields.part_slider(ui, "strength", forces.strength, low=1.0, high=10.0, rest=6.0, form=_HERTZ)
    if edit is not None:
        forces = replace(forces, strength=edit.value)
    stated = sum(motor is not None and motor.effort is not None for motor in sim.skeleton.motors)
    if stated and not sim.drive.balanced.size:  # a warning says what is so where they are too weak
        of = f"the motors of {stated} joints give" if stated > 1 else "the motor of a joint gives"
        controls.paragraph(ui, f"At any strength {of} at most the effort in the file", "text2", small=True)
    if len(sim.model.free):
        controls.label(ui, "Balance", hint="What holds the figure besides its own feet")
        forces = _assist(ui, "assist", forces)
    fixed = JointKind.FIXED in [ui.session.document.skeleton.kinds[j] for j in ui.session.document.skeleton.roots]
    if fixed:
        controls.label(ui, "Base", hint="Whether the root that the file fixes is free here")
        free = bool(len(sim.model.free))
        wanted = controls.choose(ui, "base", (False, True), ("Fixed", "Free"), free, hints=_BASES)
        if wanted != free:
            forces = replace(forces, base="free" if wanted else "fixed")
    controls.label(ui, "Itself", hint="Whether its capsules touch each other")
    touches = forces.self_contact if forces.self_contact is not None else bool(sim.model.touches_itself)
    chosen = controls.choose(ui, "self", (True, False), ("Touches", "Passes"), touches)
    return forces if chosen == touches else replace(forces, self_contact=chosen)


def _around(ui: PanelContext, part: Simulating, forces: Forces) -> Forces:
    """Gravity, surroundings, and the balls."""
    sim = part.sim
    assert sim is not None
    controls.label(ui, "Gravity", hint="Relative to the earth's")
    forces = _entered(ui, forces, "gravity", forces.gravity, _PART)
    controls.label(ui, "Ground")
    forces = replace(forces, ground=controls.choose(ui, "ground", (True, False), ("Floor", "None"), forces.ground))
    controls.label(ui, "Friction")
    forces = _entered(ui, forces, "friction", forces.friction, _PART)
    controls.separator(ui)
    controls.label(ui, "Ball", hint="Mass and radius of balls that are thrown")
    mass = forces.ball_mass if forces.ball_mass is not None else min(sim.model.mass / 70.0, 1.0)
    forces = _entered(ui, forces, "ball_mass", mass, _MASS)
    imgui.same_line(0.0, ui.px(6))
    forces = _entered(ui, forces, "ball_radius", sim.model.ball_radius, fields.in_lengths(ui, _RADIUS))
    controls.label(ui, "Speed")
    edit = fields.number_field(ui, "ball speed", forces.ball_speed, _SPEED, width=ui.px(80))
    return forces if edit is None else replace(forces, ball_speed=edit.value)


def _entered(ui: PanelContext, forces: Forces, name: str, value: float, form: fields.Format) -> Forces:
    """A number that needs another simulation, which begins once it is entered."""
    entered = fields.finished_number(ui, name.replace("_", " "), value, form, width=80)
    changes: dict[str, Any] = {} if entered is None else {name: entered}
    return replace(forces, **changes)
