"""What is pinned at keys, and the stretches between keys that hold the same pins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.errors import InputError
from viewer.session.standing import above
from viewer.session.take.evaluate import layered
from viewer.session.take.solving import solved_between
from viewer.session.take.values import CODES, Blend, Pin, Stretch
from viewer.skeleton.effectors import find_place
from viewer.skeleton.kinematics import fk_arrays
from viewer.spatial.quaternion import angle_between

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.session.take.evaluate import Motion
    from viewer.session.take.values import Take, Track
    from viewer.skeleton.effectors import Effector
    from viewer.spatial.checks import Floats

_MET = 2e-3, np.radians(1.0)
"""Metres and radians within which a key holds its pin; one that it does not stand at is not held between keys."""
_SMOOTH = CODES[Blend.SMOOTH]
LONGEST = 10_000
"""Frames from key to key beyond which nothing is solved between them."""


class Span(NamedTuple):
    """Two keys that hold the same pin.

    Attributes:
        first, last: their frames.
        pin: that they hold.
        place: where its effector is defined.
    """

    first: int
    last: int
    pin: Pin
    place: Effector


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Where a pin's effector stands at the keys at both ends of a span.

    Attributes:
        span: the pin and the frames.
        positions: two of (3,) metres, world frame.
        rotations: two of (4,).
    """

    span: Span
    positions: Floats
    rotations: Floats


def pins_held(document: Document) -> tuple[Pin, ...]:
    """What is pinned now."""
    found = []
    for handle in document.handles:
        if handle.pinned:
            position = handle.position if handle.has_position and handle.pin_position else None
            rotation = handle.rotation if handle.has_rotation and handle.pin_rotation else None
            found.append(Pin(handle.effector, position, rotation, handle.offset))
    return tuple(found)


def resolved(document: Document, motion: Motion, take: Take) -> Take:
    """The take with all stretches between keys solved that need it; those that depend on nothing new are kept.

    Args:
        document: gives limits and solver; its own take does not count.
        motion: of the take, on the document's clip and bones.
        take: with new keys or pins.
    """
    motion = motion._replace(take=replace(take, solved=()))
    known = {stretch.digest: stretch for stretch in take.solved}
    found = []
    for spans in _joined(_spans(motion)):
        digest = _digest(motion, spans)
        found.append(known.get(digest) or _solved(document, motion, spans, digest))
    if [id(stretch) for stretch in found] == [id(stretch) for stretch in take.solved]:
        return take
    return replace(take, solved=tuple(found))


def _spans(motion: Motion) -> list[Span]:
    """Of every pin, from key to key; a key between, of a joint that bears on the pin, ends a span."""
    assert motion.take is not None
    by_effector: dict[str, list[tuple[int, Pin]]] = {}
    for frame, pins in motion.take.pins.items():
        for pin in pins:
            by_effector.setdefault(pin.effector, []).append((frame, pin))
    spans = []
    for effector, every in by_effector.items():
        try:
            place = find_place(motion.edited, effector)
        except InputError:  # it was removed since
            continue
        keys = _bearing(motion, place)
        # A key of an arm alone says nothing of a foot.
        pinned = [one for one, there in zip(every, np.isin([f for f, _ in every], keys), strict=True) if there]
        for (first, pin), (last, other) in pairwise(pinned):
            between = np.searchsorted(keys, last) - np.searchsorted(keys, first, side="right")
            if 1 < last - first <= LONGEST and not between and pin.is_near(other):
                spans.append(Span(first, last, pin, place))
    return sorted(spans, key=lambda span: (span.first, span.last, span.pin.effector))


def _bearing(motion: Motion, place: Effector) -> Floats:
    """Frames of the keys of joints between the root and an effector."""
    assert motion.take is not None
    on_the_way = set(above(motion.edited, place.joint))
    frames = {id(track.frames): track.frames for track in motion.take.tracks if track.joint in on_the_way}
    return np.unique(np.concatenate([np.empty(0, np.intp), *frames.values()]))


def _joined(spans: list[Span]) -> list[list[Span]]:
    """Spans that have frames between keys in common are solved together."""
    groups: list[list[Span]] = []
    for span in spans:
        if groups and span.first < max(other.last for other in groups[-1]):
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def _digest(motion: Motion, spans: list[Span]) -> str:
    """Of all that the frames depend on: keys nearby, bones, the clip's own frames, pins; of nothing computed."""
    take, clip = motion.take, motion.clip
    assert take is not None
    first, last = spans[0].first, max(span.last for span in spans)
    bearing = {joint for span in spans for joint in above(motion.edited, span.place.joint)}
    digest = blake2b(digest_size=12)
    for track in take.tracks:
        if track.joint not in bearing:
            continue
        some = _nearby(track, first, last)
        moved = b"" if track.translations is None else track.translations[some].tobytes()
        parts = (track.frames[some].astype("<i8"), track.blends[some].astype("<i8"), track.rotations[some])
        digest.update(b"%d" % track.joint + b"".join(part.tobytes() for part in parts) + moved)
    if take.rest is not None:
        digest.update(take.rest.rotations.tobytes() + take.rest.translations.tobytes())
    if clip is not None:
        digest.update(clip.rotations[first : last + 1].tobytes() + clip.translations[first : last + 1].tobytes())
    digest.update(motion.edited.offsets.tobytes())
    digest.update(repr([(s.first, s.last, tuple(s.pin), s.place.joint, s.place.offset) for s in spans]).encode())
    return digest.hexdigest()


def _nearby(track: Track, first: int, last: int) -> slice:
    """The keys that the frames between depend on: smooth ways ask for one more at either end."""
    low = max(int(np.searchsorted(track.frames, first, side="right")) - 1, 0)
    high = min(int(np.searchsorted(track.frames, last, side="left")), len(track) - 1)
    before, after = (int(track.blends[place] == _SMOOTH) for place in (low, max(high - 1, 0)))
    return slice(max(low - before, 0), high + 1 + after)


def _solved(document: Document, motion: Motion, spans: list[Span], digest: str) -> Stretch:
    """A stretch, solved; an empty one where no pin is held at both of its keys."""
    first, last = spans[0].first, max(span.last for span in spans)
    frames = layered(motion, first, last - first + 1)
    world = fk_arrays(motion.edited.parents, frames.rotations, frames.translations)
    held = []
    for span in spans:
        ends = np.array([span.first - first, span.last - first])
        offset = np.add(span.place.offset, span.pin.offset)
        stand = Held(span, world.point(span.place.joint, offset)[ends], world.rotations[ends, span.place.joint])
        if _is_met(stand):
            held.append(stand)
    nothing = np.empty(0, np.intp)
    if not held:
        return Stretch(first + 1, digest, nothing, np.empty((0, 0, 4)), nothing, np.empty((0, 0, 3)))
    return solved_between(document, first, frames, held, digest)


def _is_met(held: Held) -> bool:
    pin = held.span.pin
    far = turned = 0.0
    if pin.position is not None:
        far = float(np.linalg.norm(held.positions - np.array(pin.position), axis=-1).max())
    if pin.rotation is not None:
        turned = float(angle_between(held.rotations, np.array(pin.rotation)).max())
    return far <= _MET[0] and turned <= _MET[1]
