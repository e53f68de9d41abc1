# The names of the package, for type checkers and, by `viewer.first_use`, for Python, which imports them on first use.

from viewer.ik.contact.values import Box, Contact, Mesh, Object, Sphere, surface_of
from viewer.ik.contact.volumes import Touch, contacts

__all__ = ["Box", "Contact", "Mesh", "Object", "Sphere", "Touch", "contacts", "surface_of"]
