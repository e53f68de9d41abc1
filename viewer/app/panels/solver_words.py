"""What the solver panel, the toolbar and the menus call solvers, states and choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa

from viewer.ik.options import METHOD_NAMES
from viewer.ik.solution import Status

if TYPE_CHECKING:
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
