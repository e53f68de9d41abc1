"""Names of a package that are imported on first use, so that importing the package loads only what is needed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module


def on_first_use(
    package: str, names: Mapping[str, Iterable[str]], modules: Iterable[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package that import a module once a name of it is used.

    ``__init__.pyi`` of the package says the same to type checkers. No module of the package may have one of the names,
    which it would replace.

    Args:
        package: its ``__name__``.
        names: that the package gives, by the module that each comes from.
        modules: of the package, which are names of it, too.
    """
    module_of = {name: module for module, own in names.items() for name in own}
    known = {*modules}

    def get(name: str) -> object:
        """A name, or an AttributeError as of any module."""
        if name in known:
            return import_module(f"{package}.{name}")
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: object = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, found)  # the next time it is as quick as any other
        return found

    def listed() -> list[str]:
        """The public names, imported or not."""
        module = sys.modules[package]
        return sorted({*module.__all__, *(name for name in vars(module) if name.startswith("__"))})

    return get, listed
