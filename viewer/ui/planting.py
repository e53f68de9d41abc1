"""Planted feet in the window (*Plant feet*): their commands, contacts, footprints and words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from viewer.document import Action, Document, Take, actions as act, world_of
from viewer.document.document import same_motion
from viewer.document.evaluation import frames_from, motion_of
from viewer.document.key_editing import with_feet_of
from viewer.document.planted_feet import (
    PlantedMotion,
    below_feet,
    contact_times,
    feet_of,
    key_of,
    known,
    planted,
    planted_legs,
)
from viewer.document.take import PlantedContact, PlantedFeet
from viewer.errors import InputError, shown
from viewer.latest import Latest
from viewer.motion import ContactChange
from viewer.progress import watched_by
from viewer.scene import Footprint, Ghost
from viewer.session import Session
from viewer.session.long_work import LONG, Background, Job, LongWork
from viewer.skeleton import Pose, fk
from viewer.spatial.checks import Floats
from viewer.ui import number_format
from viewer.ui.commands import CommandBinding, CommandBindings, needs
from viewer.ui.events import Message
from viewer.ui.view import View

_NEW = 0.1
"""Seconds that a contact which is added lasts on either side of its frame."""
_MOST_CONTACTS = 240
"""Contacts whose soles are on the floor: those of about 80 stances."""
_RETURNS = 1e-3
"""Metres from its place to which a key may bring a planted foot before a message says that it stays."""
_GHOST = 0.3
_LIFT = "lift"

_SHARES = {"contacts": 0.2, "planting": 0.8}
"""Parts of the time that planting all of a motion takes."""


class ShownContact(NamedTuple):
    """A contact as the strip shows it.

    Attributes:
        number: its place among the contacts of the planted feet.
        row: 0 and 1: heel and ball of the left foot; 2 and 3 of the right one.
        change: what planting does to it; None: that is not known.
    """

    number: int
    contact: PlantedContact
    row: int
    change: ContactChange | None

    @property
    def drift_cm(self) -> float:
        """How far it drifts in the motion, before it is planted."""
        return 0.0 if self.change is None else self.change.drift_cm

    @property
    def wanders(self) -> bool:
        """Whether it may be a turn or a step rather than a stance."""
        return self.change is not None and self.change.wanders


class FeetView:
    """What is shown of planted feet, as planting found it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._contacts = Latest[list[ShownContact]]()

    @property
    def made(self) -> PlantedMotion | None:
        """What planting found; None: nothing is planted, or it is not known yet."""
        document = self._session.document
        return known(document) if document.frames >= LONG else planted(document)

    def contacts(self, first: float, last: float) -> list[ShownContact]:
        """The contacts that have frames from ``first`` to ``last``."""
        document = self._session.document
        feet, made = feet_of(document), self.made
        if feet is None:
            return []
        ends = math.floor(first), math.ceil(last) + 1
        return self._contacts.of(
            lambda: self._shown(feet, contact_times(feet.contacts).between(*ends), made),
            feet.contacts, made, document.skeleton, equal=ends,
        )  # fmt: skip

    def _shown(self, feet: PlantedFeet, some: Iterable[int], made: PlantedMotion | None) -> list[ShownContact]:
        skeleton, found = self._session.document.skeleton, []
        for number in some:
            one = feet.contacts[number]
            key = key_of(skeleton, one)
            if key.row >= 0:
                change = None if made is None else made.changes.get(key)
                found.append(ShownContact(number, one, key.row + (one.point == "ball"), change))
        return found

    def footprints(self) -> tuple[Footprint, ...]:
        """The soles on the floor, of the stances nearest to the frame shown."""
        now, feet, made = self._session.document.frame, feet_of(self._session.document), self.made
        if feet is None or made is None:
            return ()
        near = contact_times(feet.contacts).nearest(now, _MOST_CONTACTS)
        on, found = feet.on and feet.weight > 0.0, []
        for first, last, some in _stances(self._shown(feet, near, made)):
            sole = _footprint(some, made)
            if sole is not None:
                found.append(replace(sole, now=first <= now <= last, planted=sole.planted and on))
        return tuple(found)

    def before(self) -> tuple[Ghost, ...]:
        """The figure as it is at the frame shown where its feet are not planted."""
        document, feet = self._session.document, feet_of(self._session.document)
        if feet is None or not feet.on or document.frame >= document.frames:
            return ()
        frames = frames_from(below_feet(motion_of(document)), document.frame, 1)
        world = fk(document.skeleton, Pose(frames.rotations[0], frames.translations[0]))
        return (Ghost(world, _GHOST, "before"),)


class _LongError(Exception):
    """Planting would take long."""


def _stop_if_long(what: str, done: int, total: int) -> None:
    """Raise `_LongError` before `LONG` frames or more are planted; called as `viewer.progress` reports."""
    if not done and what == "planting" and total >= LONG:
        raise _LongError


class Planting:
    """Commands on planted feet, and on keys under them; what takes long is planted in a thread."""

    def __init__(self, session: Session, view: View, feet: FeetView, background: Background) -> None:
        self._session, self._view, self._feet, self._background = session, view, feet, background
        self.contacts = feet.contacts
        self._asked: Take | None = None
        self._offered: int | None = None

    @property
    def made(self) -> PlantedMotion | None:
        return self._feet.made

    def plant(self) -> None:
        """Plant the feet; if they are planted already, switch that off or on."""
        feet = feet_of(self._session.document)
        if feet is None or not feet.contacts:
            self.find_again()
        else:
            self.do(act.SetFeet(on=not feet.on))

    def find_again(self) -> None:
        """Find the contacts again: corrections of them are lost, which undo restores."""
        self.do(act.PlantFeet())

    def do(self, action: Action) -> None:
        """Do an action that changes planted feet or keys; an InputError if it cannot be done."""
        session = self._session
        before = session.document
        of_feet = isinstance(action, act.PlantFeet | act.SetFeet)
        # Recorded calls key the pose shown: it must be the one that was keyed.
        at_once = session.recorder.recording or (session.action_log is not None and not of_feet)
        if at_once or before.frames < LONG or not (of_feet or feet_of(before)):
            session.dispatch(action)
            self._say(action, before)
            return
        if isinstance(action, act.PlantFeet):
            self._start(action, before)
            return
        try:
            with watched_by(_stop_if_long):
                after = action.apply(before)
        except _LongError:
            self._start(action, before)
            return
        if after.take is not before.take:
            session.dispatch(action, after.take)
        self._say(action, before)

    def _start(self, action: Action, before: Document) -> None:
        """Do an action in a thread of its own. While it plants feet, keys may be set: they are kept."""
        session, of_feet = self._session, isinstance(action, act.PlantFeet | act.SetFeet)
        unchanged = f"{'Feet' if of_feet else 'Keys'} stay as they were"

        def take_over(after: Document) -> None:
            if after.take is before.take:
                return
            session.dispatch(action, with_feet_of(session.document, after) if of_feet else after.take)
            self._say(action, before)

        def is_current() -> bool:
            now = session.document
            if not of_feet or before.take is None:
                return same_motion(before, now)
            return now.clip_data is before.clip_data and now.skeleton is before.skeleton and now.take is not None

        self._background.start(
            "planting",
            Job(
                work=LongWork(lambda: action.apply(before), _SHARES),
                title="Planting feet",
                hint=f"Leave the {'feet' if of_feet else 'keys'} as they are (Esc)",
                is_current=is_current,
                take_over=take_over,
                outdated=lambda: self._view.note(f"{unchanged}: the motion has changed meanwhile"),
                failed=self._view.fail,
                cancelled=lambda: self._view.note(f"{unchanged}: cancelled"),
            ),
        )

    def tick(self) -> None:
        """Find out what planting found, where a file has the planted frames of a long motion alone.

        An offer to lift a foot ends with the frame that it was made in.
        """
        document = self._session.document
        if self._offered is not None and self._offered != document.frame:
            self.withdraw_offer()
        unknown = feet_of(document) is not None and document.frames >= LONG and known(document) is None
        if not unknown or document.take is self._asked or self._background.is_under_way("planting"):
            return
        self._asked = document.take
        self._background.start(
            "planting",
            Job(
                work=LongWork(lambda: planted(document), _SHARES),
                title="Measuring planted feet",
                hint="Show no slides and soles of the feet (Esc)",
                is_current=lambda: self._session.document.take is document.take,
                take_over=lambda _: self._view.changed(),
                outdated=lambda: None,
                failed=self._view.fail,
                cancelled=lambda: None,
            ),
        )

    def _say(self, action: Action, before: Document) -> None:
        """Say what planting did, or that it overrules a key."""
        now = self._session.document
        if isinstance(action, act.KeyPose) and now.frame == before.frame:
            for foot in planted_legs(now):
                was, is_ = (world_of(one.skeleton, one.pose).positions for one in (before, now))
                joint = now.skeleton.index(foot)
                if np.linalg.norm(is_[joint] - was[joint]) > _RETURNS:
                    self.offer_to_lift(foot)
        if isinstance(action, act.PlantFeet) or (isinstance(action, act.SetFeet) and "on" in action.changes):
            self._view.note(self.words())

    def offer_to_lift(self, foot: str, frame: int | None = None) -> None:
        """Say that a foot stays where it is planted in a frame, default the one shown; offer to leave it as keyed."""
        now = self._session.document.frame
        at = now if frame is None else frame

        def lift() -> None:
            feet = feet_of(self._session.document)
            if feet is not None:
                lifted = (
                    one._replace(ignored=True) if one.foot == foot and one.first <= at <= one.last else one
                    for one in feet.contacts
                )
                self.do(act.SetFeet(contacts=tuple(lifted)))

        said = f"{shown(foot)} is planted {'here' if at == now else f'at frame {at}'} and stays"
        self._offered = now
        self._view.post(Message(said, actions=(("Lift it", lift),), about=_LIFT))

    def withdraw_offer(self) -> None:
        """Close the offer to lift a foot, which is about the last drag."""
        self._offered = None
        self._view.bar.done(_LIFT)

    def remove(self) -> None:
        """Leave the feet as the motion has them."""
        self._session.dispatch(act.RemoveFeet())

    def words(self) -> str:
        """``Feet slid 7.5 cm/s, now 0.00; pelvis at most 4.6 cm``."""
        feet, made = feet_of(self._session.document), self._feet.made
        if feet is None:
            return "No feet are planted"
        if made is None:
            return f"Feet are{'' if feet.on else ' not'} planted"
        if not feet.on:
            return f"Feet slide by {number_format.fixed(made.slides_cm_s[0], 1)} cm/s, as in the motion"
        return f"Feet {made.words}" + (f"; {made.short_mm:.0f} mm short" if made.short_mm >= 1.0 else "")

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
        there = needs("no feet are planted", lambda: feet_of(self._session.document) is not None)

        def planted_now() -> bool:
            feet = feet_of(self._session.document)
            return feet is not None and feet.on

        return {
            "feet.plant": CommandBinding(self.plant, checked=planted_now),
            "feet.find": CommandBinding(self.find_again, there),
            "feet.remove": CommandBinding(self.remove, there),
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


def _footprint(some: Sequence[ShownContact], made: PlantedMotion) -> Footprint | None:
    """The sole of a stance, by the first contact of its heel, else of its ball; None where that is not known."""
    heels = [one for one in some if one.contact.point == "heel"]
    shown = (heels or some)[0]
    change, foot = shown.change, shown.row - shown.row % 2
    if change is None:
        return None
    return Footprint(
        heel=change.heel,
        way=_level(np.zeros(3) if change.ball is None else change.ball - change.heel),
        rise=float(change.heel[1]) - made.lowest[foot] if heels else 0.0,
        side="right" if foot else "left",
        slides_cm=max(one.drift_cm for one in some),
        planted=not any(one.contact.ignored for one in some),
    )


def _stances(contacts: Sequence[ShownContact]) -> list[tuple[int, int, list[ShownContact]]]:
    """Contacts of one foot that overlap or follow each other at once, together, with their first and last frames."""
    groups: list[tuple[int, int, list[ShownContact]]] = []
    for one in sorted(contacts, key=lambda shown: (shown.contact.foot, shown.contact.first)):
        first, last = one.contact.first, one.contact.last
        if groups and groups[-1][2][0].contact.foot == one.contact.foot and first <= groups[-1][1] + 1:
            start, end, some = groups[-1]
            groups[-1] = start, max(end, last), [*some, one]
        else:
            groups.append((first, last, [one]))
    return groups


def _level(way: Floats) -> Floats:
    return np.array([way[0], 0.0, way[2]])
