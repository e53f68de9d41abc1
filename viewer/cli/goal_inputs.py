"""Goals as inputs of commands, and what belongs to them: layers, contacts of feet, objects to collide with."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import count

from viewer.cli.inputs import as_file
from viewer.cli.output import warn
from viewer.cli.solving_options import Touching
from viewer.errors import InputError, quote
from viewer.formats.companion_json import read_contacts, read_layers
from viewer.formats.goals_json import Asked, read_goals_file
from viewer.ik.contact import Box, Contact, Mesh, Object, Sphere
from viewer.ik.contact.volumes import check_names
from viewer.ik.goals import Goal
from viewer.motion import Contacts, Layer
from viewer.skeleton import Skeleton

_OBJECT = re.compile(r"(sphere|box|mesh):(.+?)(?:@([^@]*))?")
_FORM = "sphere:RADIUS@X,Y,Z, box:WIDTH,HEIGHT,DEPTH@X,Y,Z or mesh:FILE[@X,Y,Z]"


def goals_of(name: str, skeleton: Skeleton) -> Asked:
    """The goals, contact and ground of a goals file, or of standard input; its warnings go to stderr."""
    warnings: list[str] = []
    with as_file(name) as path:
        found = read_goals_file(path, name, skeleton, warnings)
    warn(f"{name}: {warning}" for warning in warnings)
    return found


def check_enabled(goals: Iterable[Goal], name: str | None) -> None:
    """Raise InputError, which names the file, unless a goal is enabled."""
    if not any(goal.enabled for goal in goals):
        raise InputError(f"{name}: a solver needs at least one goal that is enabled")


def layers_of(name: str, skeleton: Skeleton) -> tuple[Layer, ...]:
    """The layers of a layers file, or of standard input; its warnings go to stderr."""
    warnings: list[str] = []
    with as_file(name) as path:
        found = read_layers(path, name, skeleton, warnings)
    warn(f"{name}: {warning}" for warning in warnings)
    return found


def contacts_of(name: str) -> Contacts:
    """The contacts of a contacts file, or of standard input; its warnings go to stderr."""
    warnings: list[str] = []
    with as_file(name) as path:
        found = read_contacts(path, name, warnings)
    warn(f"{name}: {warning}" for warning in warnings)
    return found


# --- contact: a floor, the figure's own body, objects


def contact_of(options: Touching, given: Contact | None, skeleton: Skeleton) -> Contact | None:
    """The contact of these options and of the goals file together; the options take precedence.

    Args:
        options: of the command.
        given: what the goals file says.
        skeleton: no object may have the name of one of its joints.

    Raises:
        InputError: an object that cannot be read, or has a size that none has.
    """
    if options.floor is None and not options.bodies and not options.object:
        return given
    given = given or Contact()
    objects = [*given.objects, *objects_of(options.object, {one.name for one in given.objects})]
    floor = given.floor if options.floor is None else options.floor
    contact = Contact(floor, given.bodies or options.bodies, objects, given.exclude)
    check_names(skeleton, contact)
    return contact


def objects_of(texts: Sequence[str], taken: Collection[str] = ()) -> list[Object]:
    """The objects of `--object`, under names that are not taken.

    Raises:
        InputError: an object that cannot be read, or has a size that none has.
    """
    names = (name for i in count(1) if (name := f"object {i}") not in taken)
    return [_object(text, next(names)) for text in texts]


def _object(text: str, name: str) -> Object:
    found = _OBJECT.fullmatch(text)
    if found is None:
        raise InputError(f"--object: expected {_FORM}, found {quote(text)}")
    shape, size, place = found.groups()
    try:
        if shape == "mesh":
            return Mesh(name, path=size, center=_vector(place or "0,0,0"))
        if shape == "box":
            return Box(name, _vector(place or ""), _vector(size))
        return Sphere(name, _vector(place or ""), float(size))
    except ValueError as error:
        raise InputError(f"--object: expected {_FORM}, found {quote(text)}") from error
    except InputError as error:
        raise InputError(f"--object {quote(text)}: {error}") from error


def _vector(text: str) -> tuple[float, float, float]:
    """Three numbers.

    Raises:
        ValueError: other ones.
    """
    x, y, z = map(float, text.split(","))
    return x, y, z
