"""Contact: floor, bodies and objects as values, what is near in a pose, and what touches."""

from __future__ import annotations

from viewer.first_use import on_first_use
from viewer.ik.contact.values import Box, Contact, Mesh, Object, Sphere, surface_of

__all__ = ["Box", "Contact", "Mesh", "Object", "Sphere", "Touch", "contacts", "surface_of"]
# Objects are values, which need no distances.
__getattr__, __dir__ = on_first_use(__name__, {"viewer.ik.contact.touching": ("Touch", "contacts")})
