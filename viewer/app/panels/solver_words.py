"""What the solver panel, the toolbar and the menus call solvers, states and choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa

from viewer.ik.options import METHOD_NAMES
from viewer.ik.solution import Status
from viewer.ui import numbers

if TYPE_CHECKING:
    from viewer.gizmo.units import LengthUnit
    from viewer.session.derivation import Derivation
    from viewer.session.report import Report

TITLES = {
    "default": "Default",
    "two-link": "Two-link",
    "single-bone": "Single bone",
    "ccd": "CCD",
    "ccd-from-base": "CCD from base",
    "transpose": "Transpose",
    "pseudo-inverse": "Pseudo-inverse",
    "dls": "Damped least squares",
    "sdls": "Selectively damped",
}
NOTES = {
    "default": "damped, limits inside the solve",
    "two-link": "closed form, limbs of two bones",
    "single-bone": "one joint turns",
    "ccd": "joint by joint, from the tip",
    "ccd-from-base": "joint by joint, from the base",
    "transpose": "slow, never explodes",
    "pseudo-inverse": "undamped, by SVD",
    "dls": "fixed or automatic damping",
    "sdls": "no damping to choose",
}
DAMPED = frozenset({"default", "dls"})
"""Methods that a damping can be set for."""
JACOBIAN = frozenset({"default", "transpose", "pseudo-inverse", "dls", "sdls"})
"""Methods that take rows of a Jacobian, and part of a step."""
ANGLE = "\N{GREEK SMALL LETTER THETA}"


def derived(found: Derivation, unit: LengthUnit) -> tuple[tuple[str, ...], tuple[tuple[str, str, str], ...]]:
    """Lines of the two-link derivation, and rows of what each branch has: name, up, down."""
    sizes = (*found.lengths, found.distance)
    one, two, away = (f"{numbers.fixed(size / unit.metres, unit.decimals)} {unit.name}" for size in sizes)
    squares = "(d² \N{MINUS SIGN} L1² \N{MINUS SIGN} L2²)"
    lines = (
        f"L1 {one}  L2 {two}  d {away}",
        f"cos {ANGLE}2 = {squares} / 2 L1 L2 = {numbers.fixed(found.cosine, 4)}",
    )
    rows = tuple(
        (f"{ANGLE}{link}", *(f"{numbers.fixed(branch[place], 2)}°" for branch in (found.up, found.down)))
        for place, link in ((1, 2), (0, 1))
    )
    return lines, rows  # type: ignore[return-value]  # two branches each


ICONS = {
    "check": (fa.ICON_FA_CIRCLE_CHECK, "ok"),
    "warn": (fa.ICON_FA_TRIANGLE_EXCLAMATION, "warn"),
    "cross": (fa.ICON_FA_CIRCLE_XMARK, "err"),
    "dot": (fa.ICON_FA_CIRCLE, "text3"),
}
"""Icon and colour of a state."""

_STATES = {
    Status.CONVERGED: ("check", "Converged"),
    Status.UNREACHABLE: ("warn", "Out of reach"),
    Status.STALLED: ("warn", "Stalled"),
    Status.DIVERGED: ("cross", "Diverged"),
    Status.BUDGET: ("warn", "Stopped"),
}


def title(method: str) -> str:
    """What a method is called; one that is new here by its own name."""
    return TITLES.get(method, method)


def methods() -> tuple[str, ...]:
    """All methods, the default one first."""
    return tuple(METHOD_NAMES)


def state_words(report: Report | None, *, dragging: bool) -> tuple[str, str]:
    """Name of an icon of `ICONS`, and a word."""
    if report is None:
        return "dot", "Ready"
    if dragging and report.status is Status.BUDGET:
        return "dot", "Solving"
    return _STATES[report.status]
