"""The words of the choices that the library and the command line share.

They stand apart from what they choose between: that takes longer to import than a command line takes to parse.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

MethodName: TypeAlias = Literal[
    "default", "two-link", "single-bone", "ccd", "ccd-from-base", "fabrik", "transpose", "pseudo-inverse", "dls", "sdls"
]
METHOD_NAMES: tuple[MethodName, ...] = get_args(MethodName)
Backend: TypeAlias = Literal["auto", "numpy", "numba"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
RootMode: TypeAlias = Literal["free", "translate", "locked"]
ROOT_MODES: tuple[RootMode, ...] = get_args(RootMode)

PresetName: TypeAlias = Literal["humanml3d", "smpl", "mediapipe", "coco", "halpe26", "body25"]
PRESETS: tuple[PresetName, ...] = get_args(PresetName)
"""Sets of points that a figure is fitted to."""

Feet: TypeAlias = Literal["plant", "follow", "off"]
FEET: tuple[Feet, ...] = get_args(Feet)
Hands: TypeAlias = Literal["free", "reach", "touch"]
HANDS: tuple[Hands, ...] = get_args(Hands)
"""What feet and hands do in a retargeted motion."""
LONGEST_BLEND = 10.0
"""Seconds that planted feet blend over at most."""

Assist: TypeAlias = Literal["held", "helped", "off"]
ASSISTS: tuple[Assist, ...] = get_args(Assist)
"""How much a simulated figure is helped to follow its motion."""
Base: TypeAlias = Literal["legs", "fixed", "free"]
BASES: tuple[Base, ...] = get_args(Base)
"""Which of the bases that files fix are free in a simulation: those of figures with legs, none, all."""
