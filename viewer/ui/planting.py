"""Planted feet in the window (*Plant feet*): their commands, contacts, footprints and words."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from viewer.document import Action, Document
from viewer.document import actions as act
from viewer.document.evaluation import Frames
from viewer.document.take import PlantedContact, PlantedFeet, Take
from viewer.document.take_layers import (
    feet_of,
    planted,
    unplanted,
)
from viewer.errors import InputError
from viewer.motion import PlantReport, foot_places
from viewer.scene import Footprint, Ghost
from viewer.session import Session
from viewer.session.long_work import LONG, LongWork, same_motion
from viewer.skeleton import World, find_figure, fk_arrays
from viewer.spatial.checks import Floats
from viewer.ui import number_format
from viewer.ui.background import Background, Job
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

    def keep(self, take: Take, shown: ShownFeet) -> None:
        """Keep what is shown of a take on the present motion, where that is made already."""
        self._kept = (take, self._session.document.clip_data, self._session.document.skeleton), shown

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


_FINDING, _PLANTING = {"contacts": 0.2, "planting": 0.7}, {"planting": 0.9}
"""Parts of the time that planting takes, with and without finding contacts; the rest is finding what is shown of it."""

_BLENDING = {"on", "weight"}
"""Fields of planted feet on which what is shown of them does not depend: it is of the full weight."""


class Planting:
    """Commands on planted feet, and on keys under them; those of a long motion are planted while the window goes on."""

    def __init__(self, session: Session, view: View, feet: FeetView, background: Background) -> None:
        """Change a session and its view."""
        self._session, self._view, self._feet, self._background = session, view, feet, background

    def plant(self) -> None:
        """Plant the feet; if they are planted already, switch that off or on."""
        feet = feet_of(self._session.document)
        if feet is None or not feet.contacts:
            self.find_again()
        else:
            self.switch(on=not feet.on)

    def switch(self, *, on: bool) -> None:
        """Plant the feet, whose contacts are known, or let them slide as in the motion."""
        if self.do(act.SetFeet(on=on)):
            self._view.note(self.words())

    def find_again(self) -> None:
        """Find the contacts again: corrections of them are lost, which undo restores."""
        if self.do(act.PlantFeet()):
            self._view.note(self.words())

    @property
    def long(self) -> bool:
        """Whether planting takes so long that the window goes on meanwhile."""
        session = self._session
        return session.document.frames >= LONG and session.document.has_motion and not session.recorder.recording

    def do(self, action: Action) -> bool:
        """Do an action that changes planted feet or keys; returns whether it is done already.

        Raises:
            InputError: the action cannot be done, or other work is not done yet.
        """
        session = self._session
        only_blends = isinstance(action, act.SetFeet) and action.changes.keys() <= _BLENDING
        kept = self._feet.shown() if only_blends else None
        if not self.long or not self._plants(action):
            session.dispatch(action)
            if kept is not None and session.document.take is not None:
                self._feet.keep(session.document.take, kept)
            return True
        if self._background.is_under_way("planting"):
            raise InputError("feet are being planted: wait until that is done, or cancel it (Esc)")
        of_feet, before = isinstance(action, act.PlantFeet | act.SetFeet), session.document
        unchanged = f"{'Feet' if of_feet else 'Keys'} stay as they were"

        def make() -> tuple[Document, ShownFeet]:
            after = action.apply(before)
            return after, kept or _shown(after)

        def take_over(made: tuple[Document, ShownFeet]) -> None:
            after, shown = made
            if after.take is None or after.take is before.take:
                return
            session.dispatch(action, after.take)
            self._feet.keep(after.take, shown)
            if of_feet:
                self._view.note(self.words())

        self._background.start(
            "planting",
            Job(
                work=LongWork(make, _FINDING if isinstance(action, act.PlantFeet) else _PLANTING),
                title="Planting feet",
                hint=f"Leave the {'feet' if of_feet else 'keys'} as they are (Esc)",
                is_current=lambda: same_motion(before, session.document),
                take_over=take_over,
                outdated=lambda: self._view.note(f"{unchanged}: the motion has changed meanwhile"),
                failed=self._view.fail,
                cancelled=lambda: self._view.note(f"{unchanged}: cancelled"),
            ),
        )
        return False

    def _plants(self, action: Action) -> bool:
        """Whether an action plants the feet again, as keys do that they are planted on."""
        if isinstance(action, act.PlantFeet | act.SetFeet):
            return not isinstance(action, act.SetFeet) or bool(action.changes.get("on", True))
        feet = feet_of(self._session.document)
        # Recorded calls key the pose shown: it must be the one that was keyed.
        return feet is not None and feet.on and bool(feet.contacts) and self._session.action_log is None

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
        self.do(act.SetFeet(contacts=(*feet.contacts, made)))

    def bindings(self) -> CommandBindings:
        """How its commands are run."""

        def there() -> bool:
            return feet_of(self._session.document) is not None

        def planted_now() -> bool:
            feet = feet_of(self._session.document)
            return feet is not None and feet.on

        return {
            "feet.plant": CommandBinding(self.plant, checked=planted_now),
            "feet.find": CommandBinding(self.find_again, can=there),
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
