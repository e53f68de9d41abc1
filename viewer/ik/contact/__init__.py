"""Contact: floor, bodies and objects as values, what is near in a pose, and what touches."""

from __future__ import annotations

from viewer.ik.contact.touching import Touch, contacts
from viewer.ik.contact.values import Box, Contact, Mesh, Object, Sphere

__all__ = ["Box", "Contact", "Mesh", "Object", "Sphere", "Touch", "contacts"]
