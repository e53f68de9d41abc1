"""What acts on keys, in the window: layers (*Reach here*), planted feet (*Plant feet*), their marks and words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.document import Document, GoalLayer, Item, world_of
from viewer.document import actions as act
from viewer.document.evaluation import Frames
from viewer.document.take import PlantedContact, PlantedFeet, Take, layer_of
from viewer.document.take_layers import (
    Place,
    feet_of,
    free_id,
    has_long_layers,
    miss_of,
    planted,
    put_at,
    target_of,
    unplanted,
)
from viewer.errors import InputError, shown
from viewer.gizmo import Motion
from viewer.motion import Miss, PlantReport, foot_places
from viewer.scene import Footprint, Ghost, Mark
from viewer.session import Session
from viewer.session.long_work import LONG, LongWork, same_motion
from viewer.skeleton import World, find_figure, find_place, fk_arrays
from viewer.spatial.checks import Floats
from viewer.ui import number_format
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.view import View, ViewPart

_HOLD, _EASE = 0.1, 0.5
"""Seconds that a new layer holds before and after its frame, and that it takes on either side."""
MISSED = 2e-3, 0.5
"""Metres and degrees from which on a layer counts as missed."""


def layers_of(document: Document) -> tuple[GoalLayer, ...]:
    """The layers of the take shown."""
    return () if document.take is None else document.take.layers


def layer_marks(document: Document, hovered: Item | None) -> list[Mark]:
    """The targets of the layers that act at the frame shown, and of those selected."""
    marks = []
    for layer in layers_of(document):
        item = Item("layer", layer.id)
        acts = layer.on and layer.first <= document.frame <= layer.last
        if not (acts or item in document.selection):
            continue
        try:
            place = target_of(document, layer).position
        except InputError:  # what it names is gone
            continue
        chosen = item in document.selection
        marks.append(
            Mark(layer.id, -1, place, place, on=layer.on, selected=chosen, hovered=item == hovered, layer=True)
        )
    return marks


class LayerMover:
    """Moves or rotates the target of a layer, whose frames are solved as it moves.

    Attributes:
        layer: its id.
    """

    def __init__(self, document: Document, layer: str) -> None:
        """Start where the target is."""
        self.layer = layer
        self._start = target_of(document, layer_of(document.take, layer))

    def begin(self, session: Session) -> None:
        """Begin the gesture and select the layer."""
        session.begin(f"Target of layer {self.layer}")
        item = Item("layer", self.layer)
        if item not in session.document.selection:
            session.gestures.update(act.Select((item,)))

    def apply(self, session: Session, motion: Motion) -> None:
        """Move it by a motion from its start."""
        document = session.document
        place = Place(*motion.apply(*self._start))
        changes = put_at(document, layer_of(document.take, self.layer), *place)
        if changes:
            session.gestures.update(act.SetLayer(self.layer, **changes))


class _Times(NamedTuple):
    """Frames at which a layer begins, holds and ends, as fields of `GoalLayer`."""

    first: int
    full: tuple[int, int]
    last: int


class Layering(ViewPart):
    """Commands on layers."""

    def reach(self) -> None:
        """Have the selected effector be where it is now in this frame, and keep the motion before and after.

        A layer that already acts on it in this frame gets another target; else there is a new one.
        """
        self._keep(self._around)

    def hold(self) -> None:
        """Have the selected effector stay where it is now in all frames that are played.

        A layer that already acts on it in this frame is extended; else there is a new one.

        Raises:
            InputError: no effector, or no motion.
        """
        first, last = self._session.document.played
        self._keep(lambda: _Times(first, (first, last), last))

    def _keep(self, times: Callable[[], _Times]) -> None:
        """Have a layer keep the selected effector where it is now.

        Args:
            times: of a new layer; those of a layer that there is change only if they are all of the motion.
        """
        session, document = self._session, self._session.document
        name = self._effector()
        if name is None:
            raise InputError("select a hand, a foot or another effector that is to reach")
        if not self._has_motion():
            raise InputError("there is no motion: open a clip, or set keys, and the hand reaches while it plays")
        place = _stand(document, name)
        frame = document.frame
        layer = next((one for one in layers_of(document) if _acts(one, name, frame)), None)
        if layer is None:
            layer = _new(document, name, place, times())
            session.dispatch(act.AddLayer(layer))
        else:
            longer = {} if times == self._around else times()._asdict()
            session.dispatch(act.SetLayer(layer.id, **put_at(document, layer, *place), **longer))
        session.seek(frame)
        session.stage.lost_pose = None  # the edit that `seek` replaced is what the layer keeps
        session.dispatch(act.Select((Item("layer", layer.id),)))
        self._view.note(self.words(layer.id))

    def _around(self) -> _Times:
        """The times of a layer that holds around the frame shown."""
        document = self._session.document
        first, last = document.played
        frame, step = document.frame, document.frame_time
        hold, ease = max(round(_HOLD / step), 0), max(round(_EASE / step), 1)
        full = max(frame - hold, first), min(frame + hold, last)
        return _Times(max(full[0] - ease, first), full, min(full[1] + ease, last))

    def words(self, name: str) -> str:
        """``LeftHand reaches there from frame 12 to 47``, or how far it stays away."""
        document = self._session.document
        layer = layer_of(document.take, name)
        solving = has_long_layers(document.take, document.frames - 1)
        missed = "" if solving else miss_words(self._session, layer)
        effector = shown(layer.effector)
        if solving:
            return f"{effector} is held in frames {layer.first} to {layer.last}, which are solved while you go on"
        return (
            f"{effector} {missed}" if missed else f"{effector} reaches there, in frames {layer.first} to {layer.last}"
        )

    def bake(self) -> None:
        """Make keys of all layers."""
        self._session.dispatch(act.BakeLayers())

    def remove(self) -> None:
        """Remove the selected layers."""
        for name in self._selected():
            self._session.dispatch(act.RemoveLayer(name))

    def _selected(self) -> list[str]:
        return [item.name for item in self._session.document.selection if item.kind == "layer"]

    def _effector(self) -> str | None:
        """The effector or joint that is selected, or that the selected layer is for."""
        document = self._session.document
        item = document.active
        if item is None or item.kind == "prop":
            return None
        if item.kind == "layer":
            return layer_of(document.take, item.name).effector
        return document.goal(item.name).effector if item.kind == "effector" else item.name

    def _has_motion(self) -> bool:
        document = self._session.document
        return document.clip_data is not None or (document.take is not None and not document.take.is_empty)

    def bindings(self) -> CommandBindings:
        """How its commands are run."""
        return {
            "layer.reach": CommandBinding(self.reach),
            "layer.hold": CommandBinding(self.hold),
            "layer.bake": CommandBinding(self.bake, can=lambda: bool(layers_of(self._session.document))),
        }

    def shared(self, bindings: CommandBindings) -> CommandBindings:
        """*Remove goal* removes selected layers, too."""
        return {"goal.remove": bindings["goal.remove"].taken_over(self.remove, lambda: bool(self._selected()))}


def _new(document: Document, name: str, place: Place, times: _Times) -> GoalLayer:
    """A layer that holds an effector at a place, turned so if its goal says how it is turned."""
    goal = next((one for one in document.goals if one.id == name), None)
    turned = goal is not None and goal.enabled and goal.placed and goal.has_rotation
    x, y, z = place.position.tolist()
    a, b, c, d = place.rotation.tolist()
    rotation = (a, b, c, d) if turned else None
    name_free = free_id(document.take, name)
    return GoalLayer(id=name_free, effector=name, position=(x, y, z), rotation=rotation, **times._asdict())


def _acts(layer: GoalLayer, effector: str, frame: int) -> bool:
    return layer.on and layer.effector == effector and layer.first <= frame <= layer.last


def _stand(document: Document, name: str) -> Place:
    """Where an effector or joint is in the pose shown."""
    place, world = find_place(document.skeleton, name), world_of(document.skeleton, document.pose)
    return Place(world.point(place.joint, np.array(place.offset)), world.rotations[place.joint])


def solving_words(session: Session, layer: GoalLayer) -> str:
    """``solving, 43 %`` while the frames of a long layer are not all known, else ""."""
    part = session.layers.part
    long = layer.on and has_long_layers(session.document.take, session.document.frames - 1)
    return f"solving, {int(100.0 * part)} %" if part < 1.0 and long else ""


def miss_words(session: Session, layer: GoalLayer) -> str:
    """``stays 3.2 cm away``, or "" where the target is reached or it is not known yet."""
    document = session.document
    if document.take is None or solving_words(session, layer):
        return ""
    miss = _miss(_Asked(document, layer))
    if miss.metres > MISSED[0]:
        return f"stays {number_format.fixed(100.0 * miss.metres, 1)} cm away"
    return f"stays {number_format.fixed(miss.degrees, 0)}\N{DEGREE SIGN} away" if miss.degrees > MISSED[1] else ""


class _Asked:
    """A layer of a document: equal where its miss is, whatever frame and pose are shown."""

    def __init__(self, document: Document, layer: GoalLayer) -> None:
        self.document, self.layer = document, layer
        self._about = document.take, document.skeleton, document.clip_data, document.contact, layer

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and all(a is b for a, b in zip(self._about, other._about, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self._about)))


@lru_cache(maxsize=64)
def _miss(asked: _Asked) -> Miss:
    return miss_of(asked.document, asked.layer)


# --- planted feet


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
        """Keep what is shown of a take on the present motion, where it was made beforehand."""
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


class Planting:
    """Commands on planted feet; those of a long motion are planted while the window goes on.

    Attributes:
        work: that goes on; None while there is none.
    """

    def __init__(self, session: Session, view: View, feet: FeetView) -> None:
        """Change a session and its view."""
        self._session, self._view, self._feet = session, view, feet
        self.work: LongWork[tuple[Document, ShownFeet]] | None = None
        self._doing: tuple[act.PlantFeet | act.SetFeet, Document] | None = None

    def plant(self) -> None:
        """Plant the feet; if they are planted already, switch that off or on."""
        feet = feet_of(self._session.document)
        if feet is None or not feet.contacts:
            self.find_anew()
        else:
            self._session.dispatch(act.SetFeet(on=not feet.on))
            self._view.note(self.words())

    def find_anew(self) -> None:
        """Find the contacts again: corrections of them are lost, which undo restores."""
        if self.change(act.PlantFeet()):
            self._view.note(self.words())

    @property
    def long(self) -> bool:
        """Whether planting takes so long that the window goes on meanwhile."""
        session = self._session
        return session.document.frames >= LONG and session.document.has_motion and not session.recorder.recording

    def change(self, action: act.PlantFeet | act.SetFeet) -> bool:
        """Plant the feet, or plant them otherwise; returns whether that is done already.

        Raises:
            InputError: the action cannot be done, or other work is not done yet.
        """
        if self.work is not None:
            raise InputError("feet are being planted: wait until that is done, or cancel it (Esc)")
        if not self.long:
            self._session.dispatch(action)
            return True
        shares = _FINDING if isinstance(action, act.PlantFeet) else _PLANTING
        before = self._session.document

        def make() -> tuple[Document, ShownFeet]:
            after = action.apply(before)
            return after, _shown(after)

        self._doing, self.work = (action, before), LongWork(make, shares)
        return False

    def tick(self) -> None:
        """Take over what the work has made.

        Raises:
            ViewerError: the feet cannot be planted.
        """
        work, session = self.work, self._session
        if work is None or self._doing is None:
            return
        action, before = self._doing
        if not same_motion(before, session.document):
            self._stop("Feet stay as they were: the motion has changed meanwhile")
        elif not (work.busy or session.gestures.gesture is not None or session.recorder.recording):
            self.work = None
            if work.error is not None:
                raise work.error
            assert work.result is not None
            after, shown = work.result
            assert after.take is not None
            session.dispatch(action, after.take)
            self._feet.keep(after.take, shown)
            self._view.note(self.words())

    def cancel(self) -> None:
        """Cancel the work: nothing changes."""
        if self.work is not None:
            self._stop("Feet stay as they were: cancelled")

    def _stop(self, words: str) -> None:
        assert self.work is not None
        self.work.cancel()
        self.work = None
        self._view.note(words)

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
        self.change(act.SetFeet(contacts=(*feet.contacts, made)))

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
