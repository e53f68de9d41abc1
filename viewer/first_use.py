"""Names of a package that are imported on first use, so that importing the package loads only what is needed.

The package's ``__init__.pyi`` states them once, as imports, for type checkers and for Python, as in `lazy_loader`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

_IMPORT = re.compile(r"^from ([\w.]+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)
_ALL = re.compile(r"^__all__ = \[([^]]*)\]", re.MULTILINE)


def on_first_use(file: str, package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a package that imports a module once a name of it is used.

    No module of the package may have one of the names that come from elsewhere, which it would replace.

    Args:
        file: its ``__file__``.
        package: its ``__name__``.
    """
    stub = Path(file).with_name("__init__.pyi").read_text(encoding="utf-8")
    module_of: dict[str, str] = {}
    for module, many, few in _IMPORT.findall(stub):
        module_of |= {name.split()[0]: module for name in (many or few).split(",") if name.strip()}
    (listed,) = _ALL.findall(stub)
    public = sorted(re.findall(r'"(\w+)"', listed))

    def get(name: str) -> object:
        """A name, or an AttributeError as of any module."""
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if module_of[name] == package:
            return import_module(f"{package}.{name}")
        found: object = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, found)  # the next time it is as quick as any other
        return found

    def names() -> list[str]:
        """The public names, imported or not."""
        return sorted({*public, *(name for name in vars(sys.modules[package]) if name.startswith("__"))})

    return get, names, public
