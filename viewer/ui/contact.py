"""Contact in the window: what touches, props and radii of bodies as they are drawn and dragged, and balance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from viewer.document import Document, DocumentContact, Item, Prop, Shape, actions as act, joint_of, world_of
from viewer.document.actions import SetRadius
from viewer.document.actions.setting_actions import capsules_of
from viewer.document.document_contact import THINNEST, hand_above, nearest_prop, touches_of
from viewer.document.document_goal import balance_words
from viewer.document.solve_report import standing
from viewer.errors import listed
from viewer.formats.file_formats import MESHES
from viewer.gizmo import RigidMotion, Shape as GizmoShape
from viewer.ik.contact import Touch
from viewer.ik.contact.values import FLOOR
from viewer.scene import Display, Hit, Mark, PropShape, TouchRing, figure_points, floor_of
from viewer.scene.flat import ring
from viewer.session import Session
from viewer.skeleton import FreeNames, Skeleton, above, at_or_below, bodies_of, find_figure
from viewer.spatial.checks import Floats
from viewer.spatial.closest import planes, segment_point
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import rotate
from viewer.ui.commands import CommandBinding, CommandBindings, on_found
from viewer.ui.events import FileQuestion, Message
from viewer.ui.view import Mover, ViewPart

_RING = 1.5
"""Radius of the ring around a touched place, in radii of the body."""
_BALL, _SIDE, _BESIDE, _NEXT = 0.05, 0.12, 0.36, 0.2
"""Radius of a new sphere, side of a new box, how far beside the figure they appear, and how far from each other: parts
of its height."""
_MOST_TOUCHED, _MOST_BODIES = 2, 3
"""Most touched things, and most bodies on each, that the status line names."""

_RING_PX, _NEAR_PX, _LINE_PX = 6.0, 9.0, 2.0
"""Radius of a ring, how near to its centre the pointer holds it, and width of its line, logical pixels."""
_ACROSS = 1e-3
"""Sine of the angle between view and axis below which the axis is seen end-on and has no rim beside it."""


@lru_cache(maxsize=8)
def _stands_on(skeleton: Skeleton) -> frozenset[str]:
    """Names of the joints on which a figure stands: feet and the joints below them."""
    figure = find_figure(skeleton)
    ends = [] if figure is None else [limb.end for limb in figure.limbs if limb.kind == "leg" and limb.end is not None]
    return frozenset(skeleton.names[joint] for joint in np.flatnonzero(at_or_below(skeleton, *ends)).tolist())


def notable_touches(document: Document) -> list[Touch]:
    """The touches to mention: all except those of feet on the floor."""
    feet = _stands_on(document.skeleton)
    touches = touches_of(document.contact, document.skeleton, document.pose)
    return [touch for touch in touches if touch.other != FLOOR or touch.body not in feet]


def named(document: Document, touch: Touch) -> tuple[str, str]:
    """The names of the two that touch, the one farther from the root first."""
    skeleton = document.skeleton
    if touch.other not in skeleton.names:
        return touch.body, touch.other
    depths = [len(above(skeleton, skeleton.index(name))) for name in (touch.body, touch.other)]
    return (touch.body, touch.other) if depths[0] >= depths[1] else (touch.other, touch.body)


def deepest_pair(document: Document, name: str) -> tuple[str, str] | None:
    """A joint or prop and what it touches deepest, among the contacts that count; None if it touches nothing."""
    touches = touches_of(document.contact, document.skeleton, document.pose)
    return next(((one.body, one.other) for one in touches if name in (one.body, one.other)), None)


def touch_words(document: Document, short: Callable[[str], str]) -> str:
    """``touches floor: R hand  L hand touches Spine2``; "" if there are none to mention; ``short`` shortens names."""
    joints, groups = document.skeleton.names, dict[str, list[str]]()
    for touch in notable_touches(document):
        first, second = named(document, touch)
        words = f"{short(first)} touches {short(second)}" if second in joints else f"touches {second}: "
        groups.setdefault(words, []).extend([] if second in joints else [short(first)])
    said = []
    for words, bodies in list(groups.items())[:_MOST_TOUCHED]:
        said.append(words + listed(bodies, _MOST_BODIES))
    return "  ".join(said)


def touch_rings(document: Document, *, labelled: bool) -> tuple[TouchRing, ...]:
    """Rings at the touched places, with what is touched if ``labelled``."""
    skeleton = document.skeleton
    spoken = notable_touches(document)
    if not spoken:
        return ()
    table, world = bodies_of(skeleton).table, world_of(skeleton, document.pose)
    a, b = table.ends(world.positions, world.rotations)
    rings = []
    for touch in spoken:
        own = np.flatnonzero(table.joint == skeleton.index(touch.body))
        point = np.array(touch.point)
        along = segment_point(planes(a[own]), planes(b[own] - a[own]), (point[0], point[1], point[2]))
        on_axis = a[own] + np.asarray(along)[:, None] * (b[own] - a[own])
        away = np.linalg.norm(point - on_axis, axis=1) - table.radius[own]
        nearest = int(np.argmin(np.abs(away)))
        normal = np.array((0.0, 1.0, 0.0)) if touch.other == FLOOR else on_axis[nearest] - point
        length = float(np.linalg.norm(normal))
        if length > 0.0:
            label = named(document, touch)[1] if labelled else ""
            radius = _RING * min(float(table.radius[own][nearest]), _thickness(document, touch.other))
            rings.append(TouchRing(point, normal / length, radius, label))
    return tuple(rings)


def _thickness(document: Document, name: str) -> float:
    """Radius of the thinnest body of a joint; infinite of the floor and of props."""
    if name not in document.skeleton.names:
        return math.inf
    table = bodies_of(document.skeleton).table
    return float(table.radius[table.joint == document.skeleton.index(name)].min())


def ground_of(document: Document) -> float:
    """Height at which the ground is drawn: of the floor that counts, else below the figure as loaded."""
    contact = document.contact
    return contact.height if contact.on and contact.floor else floor_of(document.character)


def prop_shapes(document: Document, hovered: Item | None) -> tuple[PropShape, ...]:
    """The props as they are drawn and picked."""
    chosen = set(document.selected("prop"))
    lit = hovered.name if hovered is not None and hovered.kind == "prop" else None
    return tuple(
        PropShape(prop.name, None if prop.problem else prop.solid(), prop.name in chosen, prop.name == lit)
        for prop in document.contact.props
    )


def prop_marks(document: Document, hovered: Item | None) -> list[Mark]:
    """The handles of the props: a diamond in the middle of each."""
    marks = []
    for prop in document.contact.props:
        item, centre = Item("prop", prop.name), np.array(prop.handle)
        chosen, there = item in document.selection, not prop.problem
        marks.append(Mark(prop.name, -1, centre, centre, on=there, selected=chosen, hovered=item == hovered, prop=True))
    return marks


class PropMover(Mover):
    """Moves or rotates a prop, by its name."""

    once_a_frame = True

    def __init__(self, prop: Prop) -> None:
        self.prop = prop.name
        self._start, self._middle = (np.array(prop.handle), np.array(prop.rotation)), np.array(prop.middle)

    def begin(self, session: Session) -> None:
        session.begin(f"Move {self.prop}")
        item = Item("prop", self.prop)
        if item not in session.document.selection:
            session.gestures.update(act.Select((item,)))

    def apply(self, session: Session, motion: RigidMotion) -> None:
        position, rotation = motion.apply(*self._start)
        center = position - rotate(rotation, self._middle)
        session.gestures.update(act.SetProp(self.prop, center=center, rotation=rotation))


class Contacts(ViewPart):
    """Commands on contact, balance and props."""

    # Grips

    def _grip(self) -> tuple[str, str] | None:
        """The hand of the selection, and the prop to grip: the selected one, else the one nearest to the hand."""
        document, active = self._document, self._document.active_on_figure
        hand = None if active is None else hand_above(document.skeleton, joint_of(document, active))
        if hand is None:
            return None
        selected = document.selected("prop")
        place = world_of(document.skeleton, document.pose).positions[document.skeleton.index(hand)]
        prop = document.contact.prop(selected[-1]) if selected else nearest_prop(document.contact, place)
        return None if prop is None else (hand, prop.name)

    def _toggle_grip(self, found: tuple[str, str]) -> None:
        """Let the hand grip the prop, or release what it grips."""
        hand, prop = found
        self._do(act.SetGrip(hand, None if self._is_gripping() else prop))

    def _is_gripping(self) -> bool:
        found = self._grip()
        return found is not None and self._document.contact.gripped(found[0]) is not None

    # Switches

    def toggle(self) -> None:
        """Switch contact on or off; the first time its floor is the ground that is drawn."""
        contact = self._document.contact
        changes: dict[str, object] = {"on": not contact.on}
        ground = floor_of(self._document.character)
        if not contact.on and contact == DocumentContact(props=contact.props) and ground != contact.height:
            changes["height"] = ground
        self._session.dispatch(act.SetContact(**changes))

    def toggle_part(self, part: str) -> None:
        """Switch the floor, the bodies or the props; switching one on switches contact on."""
        contact = self._document.contact
        on = not (contact.on and getattr(contact, part))
        if on and not contact.on:
            others = {name: False for name in ("floor", "bodies", "objects") if name != part}
            self._session.dispatch(act.SetContact(on=True, **{part: True}, **others))
        else:
            self._session.dispatch(act.SetContact(**{part: on}))

    def _part_is_on(self, part: str) -> bool:
        contact = self._document.contact
        return contact.on and bool(getattr(contact, part))

    def toggle_balance(self) -> None:
        on = not self._document.balance.on
        self._do(act.SetBalance(on=on, **(grounded(self._document) if on else {})))

    # Props

    def add(self, shape: Shape) -> None:
        """Add a sphere or box beside the figure, and select it."""
        size = self._view.height
        sides = {"radius": _BALL * size, "size": (_SIDE * size,) * 3}
        center = self._place()
        name = self._free_name("ball" if shape is Shape.SPHERE else "box")
        self._session.dispatch(act.AddProp(Prop(name=name, shape=shape, center=center, **sides)))  # type: ignore[arg-type]
        self._said(name)

    def add_mesh(self, path: Path) -> None:
        """Add a mesh file as a prop, where the file puts it, and select it; errors become messages."""
        name = self._free_name(path.stem or "mesh")
        prop = Prop(name=name, shape=Shape.MESH, path=str(path.absolute()))
        if self._view.attempt(lambda: self._session.dispatch(act.AddProp(prop)), "open"):
            self._said(name)

    def _said(self, name: str) -> None:
        contact = self._document.contact
        if not contact.on:
            self._view.post(Message(f"Added {name}: contact is off, C turns it on", about="contact.all"))
        elif not contact.objects:
            self._view.post(Message(f"Added {name}: contact with props is off", about="contact.objects"))
        else:
            self._view.note(f"Added {name}")

    def _free_name(self, word: str) -> str:
        taken = [*self._document.skeleton.names, *(prop.name for prop in self._document.contact.props), FLOOR]
        return FreeNames(taken).take(word)

    def _place(self) -> tuple[float, float, float]:
        """Right of the figure as seen, at two thirds of its height, and clear of other props."""
        document, size = self._document, self._view.height
        points = figure_points(document.skeleton, world_of(document.skeleton, document.pose))
        low, high = points.min(axis=0), points.max(axis=0)
        place = 0.5 * (low + high)
        place[1] = low[1] + 0.67 * (high[1] - low[1])
        right = self._view.projection().right
        place = place + _BESIDE * size * right
        there = [np.array(prop.handle) for prop in document.contact.props]
        while any(np.linalg.norm(place - one) < 0.5 * _NEXT * size for one in there):
            place = place + _NEXT * size * right
        x, y, z = place.tolist()
        return x, y, z

    def remove(self) -> None:
        names = self._document.selected("prop")
        self._do_all([act.RemoveProp(name) for name in names], f"Remove {len(names)} props")

    def bindings(self) -> CommandBindings:
        parts = {
            f"contact.{part}": CommandBinding(partial(self.toggle_part, part), checked=partial(self._part_is_on, part))
            for part in ("floor", "bodies", "objects")
        }
        return parts | {
            "balance.keep": CommandBinding(self.toggle_balance, checked=lambda: self._document.balance.on),
            "contact.all": CommandBinding(self.toggle, checked=lambda: self._document.contact.on),
            "contact.grip": on_found(
                "select a hand; there must be a prop", self._grip, self._toggle_grip, self._is_gripping
            ),
            "goal.remove": CommandBinding(self.remove, when=lambda: bool(self._document.selected("prop"))),
            "prop.add_sphere": CommandBinding(partial(self.add, Shape.SPHERE)),
            "prop.add_box": CommandBinding(partial(self.add, Shape.BOX)),
            "prop.add_mesh": CommandBinding(
                partial(self._view.ask, FileQuestion("Add mesh", "Add", MESHES, self.add_mesh))
            ),
        }


def problems(document: Document) -> Iterable[str]:
    """A line for each prop that cannot be touched."""
    return (prop.problem for prop in document.contact.props if prop.problem)


@dataclass(frozen=True, slots=True, eq=False)
class RadiusHandle:
    """The place where the radius of a body is dragged.

    Attributes:
        joint: index of its joint.
        place: of the body among those of the joint.
        middle: (3,) of the body's axis, metres, world frame.
        outwards: (3,) unit vector from there to the rim, as seen.
        point: (3,) on the rim.
    """

    joint: int
    place: int
    middle: Floats
    outwards: Floats
    point: Floats


def radius_handles(document: Document, display: Display, projection: Projection) -> list[RadiusHandle]:
    """The handles of the active joint's bodies; none unless bodies are shown."""
    item = document.active_on_figure
    if not display.bodies or item is None:
        return []
    joint, bodies = joint_of(document, item), bodies_of(document.skeleton)
    world = world_of(document.skeleton, document.pose)
    a, b = bodies.table.ends(world.positions, world.rotations)
    handles = []
    for place, index in enumerate(capsules_of(bodies.capsules, joint)):
        middle = 0.5 * (a[index] + b[index])
        sight = projection.back if projection.orthographic else projection.eye - middle
        across = np.cross(b[index] - a[index], sight)
        length = float(np.linalg.norm(across))
        seen = float(np.linalg.norm(b[index] - a[index]) * np.linalg.norm(sight))
        outwards = across / length if length > _ACROSS * seen else projection.right
        radius = bodies.capsules[index].radius
        handles.append(RadiusHandle(joint, place, middle, outwards, middle + radius * outwards))
    return handles


def hit_radius(
    document: Document, display: Display, projection: Projection, at: tuple[float, float], scale: float
) -> Hit | None:
    """The handle at a pixel of the viewport."""
    for handle in radius_handles(document, display, projection):
        pixel, depth = projection.project(handle.point), float(projection.depth(handle.point))
        if depth > 0.0 and np.linalg.norm(pixel - at) <= _NEAR_PX * scale:
            name = document.skeleton.names[handle.joint]
            return Hit("radius", name, handle.joint, handle.point, depth, place=handle.place)
    return None


def radius_shapes(
    document: Document, display: Display, projection: Projection, scale: float, hovered: Hit | None
) -> list[GizmoShape]:
    """Rings at the handles."""
    shapes: list[GizmoShape] = []
    for handle in radius_handles(document, display, projection):
        if projection.depth(handle.point) > 0.0:
            held = hovered is not None and hovered.kind == "radius" and hovered.place == handle.place
            radius, colour = (1.25 if held else 1.0) * _RING_PX * scale, "hovered" if held else "accent"
            shapes += ring(projection.project(handle.point), radius, _LINE_PX * scale, colour, 0.5)
    return shapes


@dataclass(slots=True, eq=False)
class RadiusMover(Mover):
    """Makes a body thicker or thinner by a handle, and that of the joint of the ``other`` side, if any, with it."""

    once_a_frame: ClassVar[bool] = True
    joint: str
    handle: RadiusHandle
    other: str | None = None

    @classmethod
    def at(cls, document: Document, hit: Hit) -> RadiusMover:
        bodies, world = bodies_of(document.skeleton), world_of(document.skeleton, document.pose)
        index = capsules_of(bodies.capsules, hit.index)[hit.place]
        a, b = bodies.table.ends(world.positions, world.rotations)
        middle = 0.5 * (a[index] + b[index])
        outwards = (hit.point - middle) / float(np.linalg.norm(hit.point - middle))
        return cls(hit.name, RadiusHandle(hit.index, hit.place, middle, outwards, hit.point))

    def begin(self, session: Session) -> None:
        session.begin(f"Radius of {self.joint}")

    def apply(self, session: Session, motion: RigidMotion) -> None:
        """Set the radius so that the rim is under the pointer."""
        point, _ = motion.apply(self.handle.point, None)
        radius = float((point - self.handle.middle) @ self.handle.outwards)
        session.gestures.update(SetRadius(self.joint, max(radius, THINNEST), self.handle.place, self.other))


def spare_words(document: Document) -> str:
    """How far the figure is from falling: ``balanced, 13 cm to spare``."""
    return balance_words(standing(document))


def grounded(document: Document, ground: float | None = None) -> dict[str, Any]:
    """The change of balance that makes the figure stand on a height; None: that of the ground that is drawn."""
    ground = floor_of(document.character) if ground is None else ground
    return {} if ground == document.balance.height else {"height": ground}
