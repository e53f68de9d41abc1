"""What people type into a number field: sums, units, a real minus sign."""

from __future__ import annotations

import ast
import math
import operator
import re
from typing import TYPE_CHECKING, Final

from viewer.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

METRES: Final[Mapping[str, float]] = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "in": 0.0254, "ft": 0.3048}
DEGREES: Final[Mapping[str, float]] = {"°": 1.0, "deg": 1.0, "rad": 180.0 / math.pi}
PLAIN: Final[Mapping[str, float]] = {"%": 0.01}
"""Units that a field understands, and what they are worth in the field's own."""

_LONGEST = 80
_SIGNS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{MULTIPLICATION SIGN}": "*", "\N{DIVISION SIGN}": "/", "^": "**"})
_BINARY: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}
_NAMES: Final[Mapping[str, float]] = {"pi": math.pi, "π": math.pi}
_FUNCTIONS: Final[Mapping[str, Callable[[float], float]]] = {"sqrt": math.sqrt, "abs": abs}


def evaluate(text: str, units: Mapping[str, float] = PLAIN) -> float:
    """The number that a text means: ``1.2 + 5 cm``, ``360/7``, ``-12,5``.

    Args:
        text: numbers, + - * / ^, brackets, ``pi``, ``sqrt``, units behind numbers; a decimal comma is a point.
        units: the units and their worth.

    Raises:
        InputError: it means no finite number.
    """
    tidy = text.strip().translate(_SIGNS)
    tidy = re.sub(r"(?<=\d),(?=\d)", ".", tidy)
    for unit in sorted(units, key=len, reverse=True):
        tidy = re.sub(rf"(?<=[\d.)iπ])\s*{re.escape(unit)}(?![\w°%])", f"*{units[unit]!r}", tidy)
    wrong = InputError(f'expected a number, found "{text.strip()}"')
    if not tidy or len(tidy) > _LONGEST:
        raise wrong
    try:
        value = float(_value(ast.parse(tidy, mode="eval").body))
    except (SyntaxError, ArithmeticError, ValueError, TypeError, RecursionError, MemoryError):
        raise wrong from None
    if not math.isfinite(value):
        raise wrong
    return value


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(argument))
        case _:
            raise ValueError
