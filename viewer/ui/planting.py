"""Planted feet in the window: *Plant feet*, what the strip and the footprints show, and changes of contacts."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from viewer.document import Document
from viewer.document import actions as act
from viewer.document.evaluation import Frames
from viewer.document.take import PlantedContact, PlantedFeet
from viewer.document.take_layers import feet_of, planted, unplanted
from viewer.errors import InputError
from viewer.motion import PlantReport, foot_places
from viewer.scene import Footprint, Ghost
from viewer.session import Session
from viewer.skeleton import World, find_figure, fk_arrays
from viewer.spatial.checks import Floats
from viewer.ui import number_format
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.view import View

_NEW = 0.1
"""Seconds that a contact which is added lasts on either side of its frame."""
_MOST_PRINTS = 80
_GHOST = 0.3


class ShownContact(NamedTuple):
    """A contact as the strip shows it.

    Attributes:
        number: its place among the contacts of the planted feet.
        contact: itself.
        row: 0 and 1: heel and ball of the left foot; 2 and 3 of the right one.
        drift_cm: how far it drifts in the motion, before it is planted.
        wanders: it may be a turn or a step rather than a stance.
    """

    number: int
    contact: PlantedContact
    row: int
    drift_cm: float
    wanders: bool


class ShownFeet(NamedTuple):
    """What is shown of planted feet.

    Attributes:
        contacts: in the strip.
        report: what planting does; None where the figure has lost its feet.
        prints: on the floor, with the frames of their stance.
        before: all frames without planting.
    """

    contacts: tuple[ShownContact, ...] = ()
    report: PlantReport | None = None
    prints: tuple[tuple[int, int, Footprint], ...] = ()
    before: Frames | None = None


class FeetView:
    """What is shown of planted feet, kept until the take changes."""

    def __init__(self, session: Session) -> None:
        """Show those of a session's document."""
        self._session = session
        self._kept: tuple[tuple[object, ...], ShownFeet] | None = None

    def shown(self) -> ShownFeet:
        """What is shown of the planted feet; nothing where there are none."""
        document = self._session.document
        if feet_of(document) is None or document.take is None:
            return ShownFeet()
        key = (document.take, document.clip_data, document.skeleton)
        if self._kept is None or any(one is not other for one, other in zip(self._kept[0], key, strict=True)):
            self._kept = key, _shown(document)
        return self._kept[1]

    def footprints(self) -> tuple[Footprint, ...]:
        """The soles on the floor, of the stances nearest to the frame shown."""
        now, feet = self._session.document.frame, feet_of(self._session.document)
        if feet is None:
            return ()
        near = sorted(self.shown().prints, key=lambda one: max(one[0] - now, now - one[1]))[:_MOST_PRINTS]
        on = feet.on and feet.weight > 0.0
        return tuple(replace(one, now=first <= now <= last, planted=one.planted and on) for first, last, one in near)

    def before(self) -> tuple[Ghost, ...]:
        """The figure as it is at the frame shown where its feet are not planted."""
        document, feet = self._session.document, feet_of(self._session.document)
        frames = self.shown().before
        if feet is None or not feet.on or frames is None or document.frame >= len(frames.rotations):
            return ()
        at = slice(document.frame, document.frame + 1)
        world = fk_arrays(document.skeleton.parents, frames.rotations[at], frames.translations[at])
        return (Ghost(World(world.positions[0], world.rotations[0]), _GHOST, "before"),)


class Planting:
    """Commands on planted feet."""

    def __init__(self, session: Session, view: View, feet: FeetView) -> None:
        """Change a session and its view."""
        self._session, self._view, self._feet = session, view, feet

    def plant(self) -> None:
        """Plant the feet; if they are planted already, switch that off or on."""
        feet = feet_of(self._session.document)
        if feet is None or not feet.contacts:
            self._session.dispatch(act.PlantFeet())
        else:
            self._session.dispatch(act.SetFeet(on=not feet.on))
        self._view.note(self.words())

    def find_anew(self) -> None:
        """Find the contacts again: corrections of them are lost, which undo restores."""
        self._session.dispatch(act.PlantFeet())
        self._view.note(self.words())

    def remove(self) -> None:
        """Leave the feet as the motion has them."""
        self._session.dispatch(act.RemoveFeet())

    def words(self) -> str:
        """``Feet slid 7.5 cm/s, now 0.00; pelvis at most 4.6 cm``."""
        feet, shown = feet_of(self._session.document), self.shown()
        if feet is None or shown.report is None:
            return "No feet are planted"
        if not feet.on:
            return f"Feet slide by {number_format.fixed(shown.report.before.slide_cm_s, 1)} cm/s, as in the motion"
        short = shown.report.short_mm
        return f"Feet {shown.report.words}" + (f"; {short:.0f} mm short" if short >= 1.0 else "")

    def shown(self) -> ShownFeet:
        """What is shown of the planted feet."""
        return self._feet.shown()

    def add(self, foot: str, point: str, frame: int) -> None:
        """Add a contact around a frame, as long as its neighbours leave room."""
        document = self._session.document
        feet = feet_of(document)
        if feet is None:
            raise InputError("no feet are planted")
        reach = max(1, round(_NEW / document.frame_time))
        made = PlantedContact(foot, point, max(frame - reach, 0), min(frame + reach, document.frames - 1))
        low, high = room_of(feet, made, frame, document.frames - 1)
        made = made._replace(first=max(made.first, low), last=min(made.last, high))
        self._session.dispatch(act.SetFeet(contacts=(*feet.contacts, made)))

    def bindings(self) -> CommandBindings:
        """How its commands are run."""

        def there() -> bool:
            return feet_of(self._session.document) is not None

        def planted_now() -> bool:
            feet = feet_of(self._session.document)
            return feet is not None and feet.on

        return {
            "feet.plant": CommandBinding(self.plant, checked=planted_now),
            "feet.find": CommandBinding(self.find_anew, can=there),
            "feet.remove": CommandBinding(self.remove, can=there),
        }


def room_of(feet: PlantedFeet, contact: PlantedContact, frame: int, last: int) -> tuple[int, int]:
    """The frames around one that no other contact of the same point has: a contact may fill them."""
    others = [
        one for one in feet.contacts if one is not contact and (one.foot, one.point) == (contact.foot, contact.point)
    ]
    low = max((one.last + 1 for one in others if one.last < frame), default=0)
    high = min((one.first - 1 for one in others if one.first > frame), default=last)
    return low, high


def with_contact(feet: PlantedFeet, index: int, *changed: PlantedContact) -> tuple[PlantedContact, ...]:
    """The contacts with others in place of one; with none it is removed."""
    return (*feet.contacts[:index], *changed, *feet.contacts[index + 1 :])


def split(contact: PlantedContact, frame: int) -> tuple[PlantedContact, ...]:
    """A contact in two, without the frame between them."""
    parts = (contact._replace(last=frame - 1), contact._replace(first=frame + 1))
    return tuple(part for part in parts if part.first <= part.last)


def dragged(feet: PlantedFeet, index: int, part: str, frame: int, last: int) -> tuple[PlantedContact, ...]:
    """The contacts with one edge ("first", "last") of one, or all of it ("all", its start), brought to a frame."""
    own = feet.contacts[index]
    low, high = room_of(feet, own, own.first, last)
    if part == "all":
        first = min(max(frame, low), high - (own.last - own.first))
        moved = own._replace(first=first, last=first + own.last - own.first)
    elif part == "first":
        moved = own._replace(first=min(max(frame, low), own.last))
    else:
        moved = own._replace(last=max(min(frame, high), own.first))
    return with_contact(feet, index, moved)


def _shown(document: Document) -> ShownFeet:
    feet, done = feet_of(document), planted(document)
    if feet is None or done is None:
        return ShownFeet()
    measured = {(foot.name, *row.contact[:3]): row for foot in done.report.before.feet for row in foot.contacts}
    rows = {foot.name: 2 * (foot.side == "right") for foot in done.report.before.feet}
    contacts = []
    for index, one in enumerate(feet.contacts):
        if one.foot in rows:
            found = measured.get((one.foot, one.point, one.first, min(one.last, document.frames - 1)))
            drift, wanders = (found.drift_cm, found.wanders) if found is not None else (0.0, False)
            contacts.append(ShownContact(index, one, rows[one.foot] + (one.point == "ball"), drift, wanders))
    return ShownFeet(tuple(contacts), done.report, _prints(document, tuple(contacts)), unplanted(document))


def _prints(document: Document, contacts: tuple[ShownContact, ...]) -> tuple[tuple[int, int, Footprint], ...]:
    """A sole for each stance of a foot, with its frames."""
    done = planted(document)
    if done is None or find_figure(document.skeleton) is None:
        return ()
    clip = done.clip
    world = fk_arrays(document.skeleton.parents, clip.rotations, clip.local_translations())
    found = []
    for foot in foot_places(document.skeleton, world):
        heel, ball = foot.places["heel"], foot.places.get("ball")
        own = [one for one in contacts if one.contact.foot == foot.name]
        ground = min((float(heel[one.contact.first, 1]) for one in own if one.contact.point == "heel"), default=0.0)
        for first, last, some in _stances(own):
            at = min((first + last) // 2, len(heel) - 1)
            flat = [one for one in some if one.contact.point == "heel"]
            if flat:
                at = min((flat[0].contact.first + flat[0].contact.last) // 2, len(heel) - 1)
            way = np.zeros(3) if ball is None else ball[at] - heel[at]
            slides = [one for one in some if one.contact.ignored]
            print_ = Footprint(
                heel=heel[at],
                way=_level(way),
                rise=float(heel[at, 1]) - ground if flat else 0.0,
                side=foot.side,
                slides_cm=max((one.drift_cm for one in some), default=0.0),
                planted=not slides,
            )
            found.append((first, last, print_))
    return tuple(found)


def _stances(contacts: list[ShownContact]) -> list[tuple[int, int, list[ShownContact]]]:
    """Contacts of one foot that overlap or follow each other at once, together."""
    groups: list[tuple[int, int, list[ShownContact]]] = []
    for one in sorted(contacts, key=lambda shown: shown.contact.first):
        first, last = one.contact.first, one.contact.last
        if groups and first <= groups[-1][1] + 1:
            start, end, some = groups[-1]
            groups[-1] = start, max(end, last), [*some, one]
        else:
            groups.append((first, last, [one]))
    return groups


def _level(way: Floats) -> Floats:
    return np.array([way[0], 0.0, way[2]])
