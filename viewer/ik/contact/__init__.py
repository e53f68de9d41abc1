"""Contact: floor, bodies and objects as values, what is near in a pose, and what touches."""

from __future__ import annotations

from importlib import import_module

from viewer.ik.contact.values import Box, Contact, Mesh, Object, Sphere, surface_of

__all__ = ["Box", "Contact", "Mesh", "Object", "Sphere", "Touch", "contacts", "surface_of"]

# Imported on first use: objects are values, which need no distances. `__init__.pyi` says the same to type checkers.
_LATER = {"Touch": "viewer.ik.contact.touching", "contacts": "viewer.ik.contact.touching"}


def __getattr__(name: str) -> object:
    """What touches, on first use."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_LATER[name]), name)
    globals()[name] = found  # the next time it is as quick as any other
    return found
