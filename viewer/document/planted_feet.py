"""Planted feet of a document: contacts, and the frames that they change, planted again only near what changes.

Planting is local. Where a foot stands follows from the frames of its stance; between stances corrections fade; the
pelvis gives way within a second of legs that are too short. So of frames or contacts that change, the stances that they
touch and those beside them are planted in a window of the motion. What comes out is compared with what was planted
before: it must be the same before and after the change, else the window was too narrow and is widened.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import groupby
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from viewer.document.document import Document
from viewer.document.document_contact import Prop, standing_props
from viewer.document.evaluation import (
    Motion,
    Span,
    baked_frames,
    changed_frames,
    frame_count,
    frames_from,
    joined,
    motion_of,
)
from viewer.document.take import PlantedContact, PlantedFeet, Stretch, Take
from viewer.errors import InputError
from viewer.motion import (
    Contact,
    ContactChange,
    Contacts,
    FootContacts,
    MovingFeet,
    PlantedFrames,
    contact_changes,
    flexes_about_own,
    foot_contacts,
    legged,
    moving_feet,
    plant_moving,
    plant_words,
)
from viewer.progress import report
from viewer.skeleton import Clip, Skeleton, above, at_or_below, find_figure, fk_arrays
from viewer.skeleton.limbs import Limb
from viewer.spatial.checks import Bools, Floats, Ints, handed_over
from viewer.spatial.quaternion import norm

_BLOCK = 4096
"""Frames of a stretch of planted feet: those of others are shared between takes."""
_NEAR = 0.25
"""Seconds around a stance, or a change, that what is found of a stance depends on."""
_SETTLES = 0.5
"""Seconds in which the pelvis forgets where a window of the motion begins or ends."""
_AROUND, _BORDER = 0.8, 0.3
"""Seconds beside the stances of a change that are planted again at first, and at whose ends nothing may change."""
_SAME = 1e-10
"""Metres and components of quaternions: what differs by less has not changed."""
_SOME = 2000
"""Frames of a clip that tell how its knees bend."""
_APART = 4.0
"""Seconds between changes that are planted by themselves."""

_MADE: WeakKeyDictionary[Stretch, PlantedMotion] = WeakKeyDictionary()
"""By the first stretch of planted feet of a take, for as long as that take is kept."""


def feet_of(document: Document) -> PlantedFeet | None:
    """The planted feet of the take shown."""
    return None if document.take is None else document.take.feet


def found_contacts(document: Document) -> tuple[PlantedContact, ...]:
    """When the feet of the motion shown touch the ground, before anything is planted.

    Raises:
        InputError: no motion, or no figure with legs.
    """
    if not document.has_motion:
        raise InputError("there is no motion whose feet could be planted: load a clip, or set keys")
    below = below_feet(motion_of(document))
    found = foot_contacts(document.skeleton, _clip(below, document.frame_time, 0, frame_count(below)))
    return tuple(
        PlantedContact(foot.name, one.point, one.start, one.end, one.ignored)
        for foot in found.feet
        for one in foot.contacts
    )


def planted_legs(document: Document, frame: int | None = None) -> dict[str, Limb]:
    """The legs whose feet are planted in a frame, default the one shown, by the names of the feet."""
    feet, figure, now = feet_of(document), find_figure(document.skeleton), document.frame if frame is None else frame
    if feet is None or not feet.on or figure is None:
        return {}
    here = [feet.contacts[number] for number in contact_times(feet.contacts).between(now, now + 1)]
    names, standing = document.skeleton.names, {one.foot for one in here if not one.ignored}
    legs = {names[leg.last]: leg for leg in figure.legs}
    return {name: leg for name, leg in legs.items() if name in standing}


class ContactKey(NamedTuple):
    """A contact, however its foot is called: the row of its foot in `feet_rows`, the others as `PlantedContact`."""

    row: int
    point: str
    first: int
    last: int
    ignored: bool


@lru_cache(maxsize=4)
def feet_rows(skeleton: Skeleton) -> dict[str, int]:
    """Numbers of the feet of a figure by their names: 0 of the left one, 2 of the right one."""
    figure = find_figure(skeleton)
    legs = () if figure is None else figure.legs
    return {skeleton.names[leg.last]: 2 * (leg.side == "right") for leg in legs}


def key_of(skeleton: Skeleton, contact: PlantedContact) -> ContactKey:
    """The key of a contact of a skeleton's foot."""
    return ContactKey(feet_rows(skeleton).get(contact.foot, -1), *contact[1:])


def below_feet(motion: Motion) -> Motion:
    """A motion without its planted feet and layers: what feet are planted on."""
    take = motion.take
    if take is None:
        return motion
    own = tuple(one for one in take.solved if not (one.layered or one.planted))
    return motion._replace(take=replace(take, feet=None, layers=(), solved=own))


class ContactTimes:
    """When contacts are, to find those near some frames among thousands.

    Attributes:
        firsts: (N,) first frames.
        stops: (N,) the frames after the last ones.
        stances: of each foot, (S, 2) when it stands, in order: contacts that overlap, or follow each other at once,
            together; ignored ones are left out.
    """

    def __init__(self, contacts: tuple[PlantedContact, ...]) -> None:
        self.firsts = np.array([one.first for one in contacts], dtype=np.intp)
        self.stops = np.array([one.last for one in contacts], dtype=np.intp) + 1
        names = sorted({one.foot for one in contacts})
        foot = np.array([-1 if one.ignored else names.index(one.foot) for one in contacts], dtype=np.intp)
        self.stances = [
            _stances(self.firsts[foot == number], self.stops[foot == number]) for number in set(foot) - {-1}
        ]

    def between(self, start: int, stop: int) -> list[int]:
        """The numbers of the contacts that have frames from ``start`` up to ``stop``."""
        found: list[int] = np.flatnonzero((self.firsts < stop) & (self.stops > start)).tolist()
        return found

    def nearest(self, frame: int, most: int) -> list[int]:
        """The numbers of the contacts nearest to a frame, ``most`` at most."""
        away = np.maximum(self.firsts - frame, frame + 1 - self.stops)
        found: list[int] = np.argsort(away, kind="stable")[:most].tolist()
        return found


def _stances(firsts: Ints, stops: Ints) -> Ints:
    """(S, 2) frames covered by some (N,), as spans in order."""
    order = np.argsort(firsts, kind="stable")
    firsts, ends = firsts[order], np.maximum.accumulate(stops[order])
    starts = np.flatnonzero(np.r_[True, firsts[1:] > ends[:-1]])
    return np.stack([firsts[starts], ends[np.r_[starts[1:] - 1, len(ends) - 1]]], axis=1)


class _Identity(NamedTuple):
    """Contacts as a key by which object they are: comparing thousands would take longer than what is kept of them."""

    contacts: tuple[PlantedContact, ...]

    def __hash__(self) -> int:
        return id(self.contacts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.contacts is other.contacts


@lru_cache(maxsize=8)
def _times(key: _Identity) -> ContactTimes:
    return ContactTimes(key.contacts)


def contact_times(contacts: tuple[PlantedContact, ...]) -> ContactTimes:
    """When contacts are; found once."""
    return _times(_Identity(contacts))


class _Inputs(NamedTuple):
    """What is to be planted, on which motion, with the props that feet stand on.

    Switch and weight of the feet do not matter.
    """

    below: Motion
    feet: PlantedFeet
    frame_time: float
    props: tuple[Prop, ...]


@dataclass(frozen=True, eq=False)
class PlantedMotion:
    """A motion whose feet are planted, and what planting found.

    Attributes:
        changes: what planting does to each contact.
        shift: (F,) metres that the pelvis is moved.
        missed: (F,) metres that planted points stay from their places.
        away: (F,) frames in which the capture is lost.
        own: whether the knees flex about axes of their own.
    """

    inputs: _Inputs
    changes: dict[ContactKey, ContactChange]
    shift: Floats
    missed: Floats
    away: Bools
    own: bool

    @cached_property
    def slides_cm_s(self) -> tuple[float, float]:
        """How much the feet slide in their contacts, before and after: as `Skate.slide_cm_s`."""
        some = self.changes.values()
        seconds = sum(one.seconds for one in some)
        before, after = (100.0 * sum(one.paths[k] for one in some) / seconds if seconds else 0.0 for k in (0, 1))
        return before, after

    @cached_property
    def lowest(self) -> dict[int, float]:
        """Heights of the lowest stances of heels, by the rows of their feet."""
        found: dict[int, float] = {}
        for key, one in self.changes.items():
            found[key.row] = min(found.get(key.row, np.inf), float(one.heel[1]))
        return found

    @cached_property
    def short_mm(self) -> float:
        """As `PlantReport.short_mm`."""
        return 1000.0 * float(self.missed.max(initial=0.0))

    @cached_property
    def words(self) -> str:
        """As `PlantReport.words`."""
        return plant_words(*self.slides_cm_s, 100.0 * float(self.shift.max(initial=0.0)))


def _known(take: Take | None) -> PlantedMotion | None:
    first = next((one for one in take.solved if one.planted), None) if take is not None else None
    return None if first is None else _MADE.get(first)


def known(document: Document) -> PlantedMotion | None:
    """What planting found, as of when the feet were on; None: nothing is planted, or a file has the frames alone."""
    return _known(document.take)


def planted(document: Document) -> PlantedMotion | None:
    """As `known`, but planted again where only the frames are known; None: nothing is planted."""
    feet, take, made = feet_of(document), document.take, _known(document.take)
    if made is None and feet is not None and take is not None and feet.contacts:
        found = _planted(_inputs(document, motion_of(document), take))
        first = next((one for one in take.solved if one.planted), None)
        made = None if found is None else found[0]
        if made is not None and first is not None:
            _MADE[first] = made
    return made


def planted_stretches(document: Document, motion: Motion, take: Take, known: Take) -> tuple[Stretch, ...]:
    """The frames that a take's planted feet change, on its keys and the frames solved between them.

    Feet that are off keep the frames of when they were on, which are not shown.

    The document provides frame time and props; its own take is not used. Of ``take`` the frames between keys are up to
    date; ``known`` has those that were planted before.
    """
    feet = take.feet
    before = tuple(one for one in known.solved if one.planted)
    if feet is None or not feet.contacts:
        return ()
    if not feet.on:
        return before
    inputs, made = _inputs(document, motion, take), _known(known)
    found = None if made is None else _planted_near(made, before, inputs)
    if found is None:
        found = _planted(inputs)
    if found is None:
        return ()
    now, stretches = found
    if made is now:
        return before
    _MADE[stretches[0]] = now
    return stretches


_Found = tuple[PlantedMotion, tuple[Stretch, ...]]


def _inputs(document: Document, motion: Motion, take: Take) -> _Inputs:
    assert take.feet is not None
    below = below_feet(motion._replace(take=take))
    return _Inputs(below, take.feet, document.frame_time, standing_props(document.contact))


# --- All of a motion


def _planted(inputs: _Inputs) -> _Found | None:
    """All frames planted; None where the figure that the contacts are of has been edited away."""
    count, skeleton = frame_count(inputs.below), inputs.below.edited
    try:
        clip = _clip(inputs.below, inputs.frame_time, 0, count)
        moving = moving_feet(skeleton, clip)
        contacts = _contacts(inputs.feet, 0, count)
        own = _bend_about_own(skeleton, clip if inputs.below.clip is None else inputs.below.clip)
        done = _plant(inputs, moving, contacts, own=own)
        report("planting", 1, 1)
        changes = _changes(inputs, done, 0)
    except InputError:
        return None
    moved = _movable(skeleton)
    rotations, translations = done.after.clip.rotations, done.after.clip.local_translations()
    turned = _bearing(skeleton)
    stretches = tuple(
        Stretch(
            start, "", turned, rotations[start : start + _BLOCK, turned],
            moved, translations[start : start + _BLOCK, moved], planted=True,
        )
        for start in range(0, count, _BLOCK)
    )  # fmt: skip
    made = PlantedMotion(inputs, changes, norm(done.shift), done.missed, moving.away, own)
    return made, stretches


def _plant(inputs: _Inputs, moving: MovingFeet, contacts: Contacts, *, own: bool = False) -> PlantedFrames:
    report("planting", 0, len(moving.clip))
    objects = [prop.solid() for prop in inputs.props]
    return plant_moving(moving, contacts, inputs.feet.blend, pelvis=inputs.feet.pelvis, objects=objects, own=own)


def _clip(below: Motion, frame_time: float, start: int, stop: int) -> Clip:
    """Frames as a clip of the bones as edited, with the translations of the joints that may move."""
    skeleton = below.edited
    whole = start == 0 and stop == frame_count(below)
    frames = baked_frames(below, start, stop - 1) if whole else frames_from(below, start, stop - start)
    moved = np.array(_translated(below), dtype=np.intp)
    return Clip(
        "", frame_time, handed_over(frames.rotations), moved, frames.translations[:, moved], skeleton.offsets
    )  # fmt: skip


def _translated(motion: Motion) -> tuple[int, ...]:
    """The joints that a motion may translate."""
    take, joints = motion.take, set[int]()
    if motion.clip is not None:
        joints.update(_moved_in(motion.clip))
    else:
        joints.update(np.flatnonzero((motion.rest.translations != motion.own.offsets).any(axis=1)).tolist())
    if take is not None:
        joints.update(track.joint for track in take.tracks if track.translations is not None)
        joints.update(joint for one in take.solved for joint in one.moved.tolist())
    return tuple(sorted(joints))


@lru_cache(maxsize=4)
def _moved_in(clip: Clip) -> tuple[int, ...]:
    moves = (clip.translations != clip.offsets[clip.translated]).any(axis=(0, 2))
    return tuple(clip.translated[moves].tolist())


@lru_cache(maxsize=4)
def _bend_about_own(skeleton: Skeleton, clip: Clip) -> bool:
    """Whether the knees flex about axes of their own in a clip, whatever keys are on it."""
    some = slice(None, None, 1 + len(clip) // _SOME)
    world = fk_arrays(skeleton.parents, clip.rotations[some], clip.local_translations(some))
    return all(flexes_about_own(skeleton, leg, world) for leg in legged(skeleton).legs)


@lru_cache(maxsize=4)
def _bearing(skeleton: Skeleton) -> Ints:
    """The joints that may be turned to plant feet: from the roots to the feet."""
    legs = legged(skeleton).legs
    return np.array(sorted({joint for leg in legs for joint in above(skeleton, leg.last)}))


@lru_cache(maxsize=4)
def _movable(skeleton: Skeleton) -> Ints:
    """The joints that may be moved to plant feet: from the root to the trunk."""
    return np.array(sorted(above(skeleton, legged(skeleton).trunk)))


@lru_cache(maxsize=4)
def _read(skeleton: Skeleton) -> frozenset[int]:
    """The joints that planting depends on: those that it may turn, and what is below the feet."""
    if skeleton.mimics:
        return frozenset(range(len(skeleton)))
    found = set(_bearing(skeleton).tolist())
    for leg in legged(skeleton).legs:
        found.update(np.flatnonzero(at_or_below(skeleton, leg.last)).tolist())
    return frozenset(found)


def _contacts(feet: PlantedFeet, start: int, stop: int) -> Contacts:
    """The contacts within some frames, which then count from 0."""
    some = contact_times(feet.contacts).between(start, stop)
    kept = sorted((feet.contacts[number] for number in some), key=lambda one: one.foot)
    return Contacts(
        tuple(
            FootContacts(
                name,
                "",
                tuple(
                    Contact(one.point, max(one.first, start) - start, min(one.last + 1, stop) - 1 - start, one.ignored)
                    for one in some
                ),
            )
            for name, some in groupby(kept, key=lambda one: one.foot)
        )
    )


def _changes(inputs: _Inputs, done: PlantedFrames, start: int) -> dict[ContactKey, ContactChange]:
    """What planting does to the contacts that are whole within the frames from ``start``."""
    by_place = contact_changes(done)
    count, last = len(done.missed), start + len(done.missed) - 1
    found = {}
    contacts = inputs.feet.contacts
    for number in contact_times(contacts).between(start, last + 1):
        one = contacts[number]
        place = one.foot, one.point, one.first - start, min(one.last, last) - start
        if 0 <= place[2] < count and place in by_place:
            found[key_of(inputs.below.edited, one)] = by_place[place]
    return found


# --- Near a change


def _planted_near(made: PlantedMotion, before: tuple[Stretch, ...], inputs: _Inputs) -> _Found | None:
    """As `_planted`, from what was planted before; None where all of it must be planted."""
    was, feet = made.inputs, inputs.feet
    if (feet.blend, feet.pelvis, inputs.frame_time) != (was.feet.blend, was.feet.pelvis, was.frame_time):
        return None
    changed = changed_frames(was.below, inputs.below, _read(inputs.below.edited))
    if changed is None or inputs.props != was.props:
        return None
    sides = (was.below.edited, was.feet.contacts), (inputs.below.edited, feet.contacts)
    for one in _others(*sides) + _others(*reversed(sides)):
        changed.append((one.first, min(one.last + 1, len(made.shift))))
    changed = [span for span in changed if span[0] < span[1]]
    if not changed:
        if feet.contacts is was.feet.contacts:
            return made, before
        return replace(made, inputs=inputs), (replace(before[0]), *before[1:])
    if not made.own or was.props or _translated(was.below) != _translated(inputs.below):
        return None
    try:
        return _Patch(made, before, inputs, joined(changed, round(_APART / inputs.frame_time))).found()
    except InputError:
        return None


class _Patch:
    """Frames planted again near what changes."""

    def __init__(self, made: PlantedMotion, before: tuple[Stretch, ...], inputs: _Inputs, changed: list[Span]) -> None:
        self._made, self._inputs, self._changed = made, inputs, changed
        self._count, self._rate = len(made.shift), 1.0 / inputs.frame_time
        sides = made.inputs.feet.contacts, inputs.feet.contacts
        self._stances = [stances for side in sides[sides[0] is sides[1] :] for stances in contact_times(side).stances]
        self._stretches = list(before)
        self._shift, self._missed, self._away = made.shift.copy(), made.missed.copy(), made.away.copy()
        self._changes = dict(made.changes)
        for one in _others((made.inputs.below.edited, sides[0]), (inputs.below.edited, sides[1])):
            self._changes.pop(one, None)

    def found(self) -> _Found | None:
        """The motion; None where all of it must be planted."""
        for span in self._changed:
            # Planting a long change twice costs more than seeing a little more of it.
            around = max(_AROUND, 0.1 * (span[1] - span[0]) / self._rate)
            while not self._plant(span, around):
                around *= 2.0
                if around > 60.0:
                    return None
        self._stretches[0] = replace(self._stretches[0])  # `_MADE` knows takes by it
        shift, missed, away = map(handed_over, (self._shift, self._missed, self._away))
        now = PlantedMotion(self._inputs, self._changes, shift, missed, away, self._made.own)
        return now, tuple(self._stretches)

    def _plant(self, changed: Span, around: float) -> bool:
        """Plant near a change; False if that reaches farther than was seen of it."""
        inner = self._touched(changed)
        wide = round(around * self._rate)
        seen = max(inner[0] - wide, 0), min(inner[1] + wide, self._count)
        start, stop = self._needed(seen)
        inputs, skeleton = self._inputs, self._inputs.below.edited
        clip = _clip(inputs.below, inputs.frame_time, start, stop)
        moving = moving_feet(skeleton, clip)
        lost = self._lost(moving.away, changed, start)
        if (lost != moving.away).any():
            moving = moving_feet(skeleton, clip, None, lost)
        done = _plant(inputs, moving, _contacts(inputs.feet, start, stop), own=True)
        turned, moved = _bearing(skeleton), _movable(skeleton)
        rotations, translations = done.after.clip.rotations[:, turned], done.after.clip.local_translations()[:, moved]
        differs = np.zeros(stop - start, dtype=np.bool_)
        differs[changed[0] - start : changed[1] - start] = True
        for stretch, here, there in self._over(start, stop):
            off = np.abs(stretch.rotations[there] - rotations[here]).max(axis=(1, 2)) > _SAME
            off |= np.abs(stretch.translations[there] - translations[here]).max(axis=(1, 2)) > _SAME
            differs[here] |= off
        outside = np.ones(stop - start, dtype=np.bool_)
        outside[seen[0] - start : seen[1] - start] = False
        differs &= ~outside
        border = round(_BORDER * self._rate)
        some = np.flatnonzero(differs) + start
        first, last = int(some[0]), int(some[-1])
        if (seen[0] > 0 and first < seen[0] + border) or (seen[1] < self._count and last >= seen[1] - border):
            return False
        self._take_over((first, last + 1), start, done, rotations, translations)
        return True

    def _touched(self, changed: Span) -> Span:
        """The frames whose feet may go elsewhere: stances that a change touches, and what is beside these."""
        near, fade = self._reach
        low, high = self._with_stances(changed, near)
        ends = [(low, high)]
        for stances in self._stances:
            before = int(stances[stances[:, 0] < low, 1].max(initial=low - fade))
            after = int(stances[stances[:, 1] > high, 0].min(initial=high + fade))
            ends.append((before, after))
        return max(min(end[0] for end in ends), 0), min(max(end[1] for end in ends), self._count)

    def _needed(self, seen: Span) -> Span:
        """The frames that what is seen follows from: whole stances, and those that corrections come from."""
        near, fade = self._reach
        low, high = self._with_stances(seen, fade)
        more = near + round(_SETTLES * self._rate)
        return max(low - more, 0), min(high + more, self._count)

    def _with_stances(self, span: Span, by: int) -> Span:
        """A span with all stances that have frames in it, or within ``by`` frames of it."""
        low, high = span
        for stances in self._stances:
            some = stances[(stances[:, 0] < span[1] + by) & (stances[:, 1] > span[0] - by)]
            low, high = min([low, *some[:1, 0].tolist()]), max([high, *some[-1:, 1].tolist()])
        return low, high

    @property
    def _reach(self) -> Span:
        """Frames by which a stance depends on what is beside it, and across which corrections go on."""
        return round(_NEAR * self._rate), 2 * max(2, round(self._inputs.feet.blend * self._rate))

    def _lost(self, found: Bools, changed: Span, start: int) -> Bools:
        """(N,) frames from ``start`` in which the capture is lost: as found near the change, else as before."""
        lost = self._away[start : start + len(found)].copy()
        near = round(_NEAR * self._rate)
        here = slice(max(changed[0] - near - start, 0), changed[1] + near - start)
        lost[here] = found[here]
        return lost

    def _over(self, start: int, stop: int) -> Iterable[tuple[Stretch, slice, slice]]:
        """Stretches that have some frames, with these frames counted from the first one, and within the stretch."""
        for number in range(start // _BLOCK, (stop - 1) // _BLOCK + 1):
            stretch = self._stretches[number]
            low, high = max(start, stretch.first), min(stop, stretch.first + len(stretch))
            yield stretch, slice(low - start, high - start), slice(low - stretch.first, high - stretch.first)

    def _take_over(self, span: Span, start: int, done: PlantedFrames, rotations: Floats, translations: Floats) -> None:
        """Put planted frames in place of those before."""
        some, here = slice(*span), slice(span[0] - start, span[1] - start)
        for stretch, inside, there in list(self._over(*span)):
            turns, places = stretch.rotations.copy(), stretch.translations.copy()
            turns[there], places[there] = rotations[here][inside], translations[here][inside]
            changed = replace(stretch, rotations=handed_over(turns), translations=handed_over(places))
            self._stretches[stretch.first // _BLOCK] = changed
        self._shift[some], self._missed[some] = norm(done.shift[here]), done.missed[here]
        self._away[some] = done.before.away[here]
        for key, change in _changes(self._inputs, done, start).items():
            if (key.first < span[1] and key.last >= span[0]) or key not in self._changes:
                self._changes[key] = change


def _others(
    some: tuple[Skeleton, tuple[PlantedContact, ...]], those: tuple[Skeleton, tuple[PlantedContact, ...]]
) -> list[ContactKey]:
    """The contacts of a skeleton's feet that are not among those of another one, where feet may have other names."""
    if some[1] is those[1]:
        return []
    there = set(map(id, those[1]))
    left = [key_of(some[0], one) for one in some[1] if id(one) not in there]
    if not left:
        return []
    keys = {key_of(those[0], one) for one in those[1]}
    return [key for key in left if key not in keys]
