"""Names of a package that are imported on first use, so that importing the package loads only what is needed.

The package's ``__init__.pyi`` states them once, as imports, for type checkers and for Python, as in `lazy_loader`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module


def on_first_use(file: str, package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a package that imports a module once a name of it is used.

    ``file`` and ``package`` are its ``__file__`` and ``__name__``. No module of it may have one of these names, which
    it would replace.
    """
    # `re` and `pathlib` would be half of the time that the import of `viewer` takes.
    with open(f"{file.rpartition('.')[0]}.pyi", encoding="utf-8") as lines:  # noqa: PTH123
        stub = lines.read()
    module_of: dict[str, str] = {}
    for statement in stub.split("\nfrom ")[1:]:
        module, _, names = statement.partition(" import ")
        many = names.startswith("(")
        found = names[1:].partition(")")[0] if many else names.partition("\n")[0]
        module_of |= {name.split()[0]: module for name in found.split(",") if name.strip()}
    listed = stub.partition("\n__all__ = [")[2].partition("]")[0]
    public = sorted(name.strip().strip('"') for name in listed.split(",") if name.strip())

    def get(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if module_of[name] == package:
            return import_module(f"{package}.{name}")
        value: object = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)  # the next time it is as quick as any other
        return value

    def public_names() -> list[str]:
        return sorted({*public, *(name for name in vars(sys.modules[package]) if name.startswith("__"))})

    return get, public_names, public
