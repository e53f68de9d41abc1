"""Contact of a document, as values: the floor, the figure's own bodies, props, and the hands that grip them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from viewer.errors import InputError, MachineError, ViewerError, quote, unknown_name
from viewer.formats.files import version_of
from viewer.ik.contact import Box, Contact, Mesh, Object, Sphere, Touch, contacts
from viewer.ik.contact.values import FLOOR, MOST_OBJECTS
from viewer.ik.goals import KINDS, Goal, Quaternion, Vector
from viewer.ik.goals.goal import as_rotation
from viewer.ik.goals.grip import fingers_of
from viewer.skeleton import Pose, Skeleton, above, effector_of, find_figure
from viewer.spatial.checks import FARTHEST, Floats, as_flag, as_name, as_number, as_vector, member, put
from viewer.spatial.quaternion import rotate

THINNEST = 1e-6
"""Metres: the least radius or side of a prop, and the least radius of a capsule."""
HEAVIEST = 1e6
"""Kilograms of a prop."""
_UNTURNED: Quaternion = (0.0, 0.0, 0.0, 1.0)

GRIP_LEVEL = 2
"""Level of goals for grips: fingers come after holds, so that holds keep the hand where it is."""


class Shape(StrEnum):
    """What a prop looks like."""

    SPHERE = "sphere"
    BOX = "box"
    MESH = "mesh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prop:
    """An object that the figure may touch.

    A mesh is kept by its path: a document whose file is gone can still be opened, and the prop then touches nothing.

    Attributes:
        name: unique among the props of a document and the joints of its figure.
        shape: decides which of ``radius``, ``size``, and ``path`` with ``scale`` are used.
        center: (3,) metres, world frame; of a mesh its origin.
        rotation: (x, y, z, w), world_from_prop.
        radius: of a sphere, metres.
        size: (3,) metres along a box's own axes.
        path: of a mesh's file.
        scale: of a mesh, metres per unit of the file.
        mass: kilograms; 0: physics does not move it.
    """

    name: str
    shape: Shape = Shape.SPHERE
    center: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = _UNTURNED
    radius: float = 0.1
    size: Vector = (0.2, 0.2, 0.2)
    path: str = ""
    scale: float = 1.0
    mass: float = 0.0

    def __post_init__(self) -> None:
        if as_name(self.name, "prop") == FLOOR:
            raise InputError(f"prop: expected another name than that of the floor, found {quote(self.name)}")
        what = f"prop {quote(self.name)}"
        put(
            self,
            shape=member(Shape, self.shape, f"{what}: shape"),
            center=as_vector(self.center, f"{what}: center"),
            rotation=as_rotation(self.rotation, f"{what}: rotation"),
            radius=as_size(self.radius, f"{what}: radius"),
            size=tuple(as_size(side, f"{what}: size") for side in as_vector(self.size, f"{what}: size")),
            scale=as_size(self.scale, f"{what}: scale"),
            mass=as_number(self.mass, f"{what}: mass", least=0.0, most=HEAVIEST),
        )
        if self.shape is Shape.MESH and not self.path:
            raise InputError(f"{what}: expected the path of a mesh, found none")

    def solid(self) -> Object:
        """The prop as the solver takes it.

        Raises:
            InputError: the file of a mesh cannot be read, or encloses no volume.
            MachineError: there is a mesh, and trimesh is not installed.
        """
        if self.shape is Shape.SPHERE:
            return Sphere(self.name, self.center, self.radius)
        if self.shape is Shape.BOX:
            return Box(self.name, self.center, self.size, self.rotation)
        found = _read(self.path, version_of(self.path))
        if isinstance(found, _Unreadable):
            raise found.error(self.name)
        return found.placed(self.name, self.center, self.rotation, self.scale)

    @property
    def middle(self) -> Vector:
        """(3,) the middle of the shape in the prop's own frame, metres: 0 except for a mesh that can be read."""
        if self.shape is not Shape.MESH or self.problem:
            return (0.0, 0.0, 0.0)
        solid = self.solid()
        assert isinstance(solid, Mesh)
        assert solid.vertices is not None
        x, y, z = (0.5 * self.scale * (solid.vertices.min(axis=0) + solid.vertices.max(axis=0))).tolist()
        return x, y, z

    @property
    def handle(self) -> Vector:
        """(3,) the middle of the shape, metres, world frame."""
        x, y, z = (rotate(np.array(self.rotation), np.array(self.middle)) + self.center).tolist()
        return x, y, z

    @property
    def problem(self) -> str:
        """Why the prop cannot be touched, in one line; "" if it can."""
        try:
            self.solid()
        except ViewerError as error:
            return str(error)
        return ""


def as_size(value: object, what: str) -> float:
    """A length above 0."""
    number = as_number(value, what, most=FARTHEST)
    if not number >= THINNEST:
        raise InputError(f"{what}: expected more than 0, found {number:g}")
    return number


class _Unreadable:
    """Why a file has no mesh; cached, so that it is not read again in every frame."""

    def __init__(self, error: ViewerError, name: str) -> None:
        self._kind, self._words, self._name = type(error), str(error), f"mesh {quote(name)}"

    def error(self, prop: str) -> ViewerError:
        """The error of a prop of some name."""
        return self._kind(self._words.replace(self._name, f"prop {quote(prop)}", 1))


@lru_cache(maxsize=32)
def _read(path: str, stamp: tuple[int, int] | None) -> Mesh | _Unreadable:  # noqa: ARG001 - another version of the file
    name = Path(path).stem or "mesh"
    try:
        return Mesh(name, path=path)
    except (InputError, MachineError) as error:
        return _Unreadable(error, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentContact:
    """Contact of a document. Each part keeps its settings while it is off.

    Attributes:
        on: whether there is contact at all.
        floor: whether with the floor.
        height: of the floor, metres.
        bodies: whether between the figure's own bodies.
        objects: whether with the props.
        props: objects; they are shown in any case.
        exclude: pairs of names of joints, props or "floor" that may go through each other, in the order of their
            exclusion.
        grips: pairs of a hand's joint and the prop on which its fingers close; a hand has one at most.
    """

    on: bool = False
    floor: bool = True
    height: float = 0.0
    bodies: bool = True
    objects: bool = True
    props: tuple[Prop, ...] = ()
    exclude: tuple[tuple[str, str], ...] = ()
    grips: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for name in ("on", "floor", "bodies", "objects"):
            put(self, **{name: as_flag(getattr(self, name), f"contact: {name}")})
        put(self, height=as_number(self.height, "contact: floor", least=-FARTHEST, most=FARTHEST))
        put(self, props=tuple(self.props))
        names = [prop.name for prop in self.props]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"contact: expected props of different names, found {quote(twice)} twice")
        if len(names) > MOST_OBJECTS:
            raise InputError(f"contact: expected at most {MOST_OBJECTS} props, found {len(names)}")
        put(self, exclude=tuple(_pair(pair, "exclude") for pair in self.exclude))
        put(self, grips=tuple(_pair(pair, "grips") for pair in self.grips))
        hands = [hand for hand, _ in self.grips]
        if len(set(hands)) < len(hands):
            raise InputError(
                f"contact: grips: expected one of each hand, found {quote(max(hands, key=hands.count))} twice"
            )

    def prop(self, name: str) -> Prop:
        """The prop of a name."""
        for prop in self.props:
            if prop.name == name:
                return prop
        raise InputError(unknown_name("prop", name, [prop.name for prop in self.props]))

    def with_prop(self, prop: Prop) -> DocumentContact:
        """With the prop of that name replaced."""
        return replace(self, props=tuple(prop if own.name == prop.name else own for own in self.props))

    def excludes(self, first: str, second: str) -> bool:
        """Whether two names may go through each other."""
        return any({first, second} == set(pair) for pair in self.exclude)

    def renamed(self, new: Callable[[str], str]) -> DocumentContact:
        """With other names in the excluded pairs and the grips."""
        exclude, grips = (tuple((new(a), new(b)) for a, b in pairs) for pairs in (self.exclude, self.grips))
        return replace(self, exclude=exclude, grips=grips)

    def gripped(self, hand: str) -> str | None:
        """The prop that a hand grips, or None."""
        return dict(self.grips).get(hand)

    def with_paths(self, path: Callable[[str], str]) -> DocumentContact:
        """With other paths of meshes."""
        if not any(prop.path for prop in self.props):
            return self
        return replace(self, props=tuple(replace(p, path=path(p.path)) if p.path else p for p in self.props))


NO_CONTACT = DocumentContact()
"""The contact of a new document."""


def _pair(names: object, what: str) -> tuple[str, str]:
    if not isinstance(names, (tuple, list)) or len(names) != 2 or not all(isinstance(n, str) and n for n in names):
        raise InputError(f"contact: {what}: expected two names, found {quote(names)}")
    return names[0], names[1]


def solver_contact(contact: DocumentContact, skeleton: Skeleton) -> Contact | None:
    """The solver's contact, the same object for the same values; None if nothing can be touched.

    Meshes that cannot be read, props with the name of a joint, and pairs with unknown names are left out.
    """
    stamps = tuple(version_of(prop.path) for prop in contact.props if prop.path)
    return _solver_contact(contact, skeleton, stamps) if contact.on else None


@lru_cache(maxsize=64)
def _solver_contact(contact: DocumentContact, skeleton: Skeleton, stamps: tuple[object, ...]) -> Contact | None:  # noqa: ARG001
    objects = tuple(_solids(contact, skeleton)) if contact.objects else ()
    known = {*skeleton.names, *(one.name for one in objects), FLOOR}
    found = Contact(
        floor=contact.height if contact.floor else None,
        bodies=contact.bodies,
        objects=objects,
        exclude=tuple(pair for pair in contact.exclude if known.issuperset(pair)),
    )
    return found or None


def _solids(contact: DocumentContact, skeleton: Skeleton) -> list[Object]:
    return [prop.solid() for prop in contact.props if prop.name not in skeleton.names and not prop.problem]


def standing_props(contact: DocumentContact) -> tuple[Prop, ...]:
    """The props that feet can step on: those with contact that no hand holds."""
    held = {prop for _, prop in contact.grips}
    if not (contact.on and contact.objects):
        return ()
    return tuple(prop for prop in contact.props if prop.name not in held and not prop.problem)


@lru_cache(maxsize=8)
def touches_of(contact: DocumentContact, skeleton: Skeleton, pose: Pose) -> tuple[Touch, ...]:
    """The touches of the figure in a pose, deepest first."""
    asked = solver_contact(contact, skeleton)
    return () if asked is None else tuple(contacts(skeleton, pose, asked))


def check_names(contact: DocumentContact, skeleton: Skeleton) -> None:
    """Check that props, excluded pairs and grips are named by what is there.

    Raises:
        InputError: a prop is called as a joint, or a name is that of nothing.
    """
    for prop in contact.props:
        if prop.name in skeleton.names:
            raise InputError(f"prop {quote(prop.name)}: a joint has this name")
    check_known(contact, skeleton, *contact.exclude)
    for hand, gripped in contact.grips:
        skeleton.index(hand)
        contact.prop(gripped)


def check_known(contact: DocumentContact, skeleton: Skeleton, *pairs: tuple[str, str]) -> None:
    """Raise InputError unless pairs name joints, props or the floor."""
    known = dict.fromkeys([*skeleton.names, *(prop.name for prop in contact.props), FLOOR])
    for unknown in (name for pair in pairs for name in pair if name not in known):
        raise InputError(f"contact: {unknown_name('joint or prop', unknown, known)}")


def contact_of(contact: Contact, before: DocumentContact) -> DocumentContact:
    """The document's contact equal to a solver's: parts that it lacks are off, and keep their settings.

    Raises:
        InputError: a mesh without a file, which no document can hold.
    """
    return replace(
        before,
        on=True,
        floor=contact.floor is not None,
        height=before.height if contact.floor is None else contact.floor,
        bodies=contact.bodies,
        objects=bool(contact.objects) or before.objects,
        props=tuple(prop_of(one) for one in contact.objects),
        exclude=tuple(contact.exclude),
        grips=tuple(pair for pair in before.grips if pair[1] in {one.name for one in contact.objects}),
    )


def prop_of(one: Object) -> Prop:
    """The document's prop that is equal to an object of a solver's contact."""
    if isinstance(one, Sphere):
        return Prop(name=one.name, center=one.center, radius=one.radius)
    if isinstance(one, Box):
        return Prop(name=one.name, shape=Shape.BOX, center=one.center, rotation=one.rotation, size=one.size)
    return Prop(
        name=one.name,
        shape=Shape.MESH,
        center=one.center,
        rotation=one.rotation,
        path=str(Path(one.path).absolute()) if one.path else "",
        scale=one.scale,
    )


def grip_id(hand: str) -> str:
    """The id of the goal for a hand's grip."""
    return f"{hand} grip"


@lru_cache(maxsize=16)
def solver_grips(contact: DocumentContact, skeleton: Skeleton) -> Mapping[str, Goal]:
    """The solver's goals for grips, by id; none for props without contact."""
    found = solver_contact(contact, skeleton) if contact.grips else None
    there = {one.name for one in found.objects} if found is not None else set()
    goals = {
        grip_id(hand): Goal.grip(hand, prop, level=GRIP_LEVEL, id=grip_id(hand))
        for hand, prop in contact.grips
        if prop in there and is_hand(skeleton, hand)
    }
    return MappingProxyType(goals)


def grips(goal: Goal) -> bool:
    """Whether a goal is a grip, which is not among a document's goals of effectors."""
    return KINDS[goal.kind].grips


def grips_from(goals: Iterable[Goal], skeleton: Skeleton) -> tuple[tuple[str, str], ...]:
    """Hands and props of the enabled grips among some goals; the last one of each hand."""
    pairs: dict[str, str] = {}
    for goal in filter(grips, goals):
        fingers_of(skeleton, goal.effector)
        if goal.enabled:
            pairs[skeleton.names[effector_of(skeleton, goal.effector).joint]] = goal.to
    return tuple(pairs.items())


@lru_cache(maxsize=64)
def is_hand(skeleton: Skeleton, name: str) -> bool:
    """Whether a joint has fingers that can close; hips, whose branches are legs, are not a hand."""
    figure = find_figure(skeleton)
    if figure is not None and name in {skeleton.names[joint] for joint in (figure.pelvis, figure.trunk, figure.chest)}:
        return False
    try:
        fingers_of(skeleton, name)
    except InputError:
        return False
    return True


def hand_above(skeleton: Skeleton, joint: int) -> str | None:
    """The nearest hand among a joint and its ancestors, or None."""
    names = [skeleton.names[one] for one in above(skeleton, joint)]
    return next((name for name in names if is_hand(skeleton, name)), None)


def nearest_prop(contact: DocumentContact, place: Floats) -> Prop | None:
    """The prop whose middle is nearest to a place (3,), metres; None without props."""
    return min(contact.props, key=lambda prop: float(np.linalg.norm(np.subtract(prop.handle, place))), default=None)
