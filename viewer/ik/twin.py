"""One source, several backends: a module's own functions, run with other functions and wrappers around them."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def twins(
    modules: Sequence[types.ModuleType],
    others: Mapping[str, object],
    wrap: Callable[[Any], Any] = lambda function: function,
) -> dict[str, Any]:
    """Copies of all functions that the modules define, which look up each other and ``others`` by name.

    Args:
        modules: where the functions are; what else they define or import can be looked up, too.
        others: what stands in for names that the modules import from elsewhere.
        wrap: made of each copy, such as a compiler.

    Returns:
        The name space in which all copies look up names.
    """
    space: dict[str, Any] = {}
    for module in modules:
        space |= vars(module)
    space |= {"__name__": __name__, **others}
    for module in modules:
        for name, value in vars(module).items():
            own = isinstance(value, types.FunctionType) and value.__module__ == module.__name__
            if own and name not in others:
                twin = types.FunctionType(value.__code__, space, name, value.__defaults__)
                twin.__module__, twin.__qualname__ = value.__module__, value.__qualname__
                space[name] = wrap(twin)
    return space
