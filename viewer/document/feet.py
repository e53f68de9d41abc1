"""Planted feet of a take: their contacts, the frames that they change, and what is said of them."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby

import numpy as np

from viewer.document.contact import Prop, standing_props
from viewer.document.document import Document
from viewer.document.evaluation import Frames, Motion, baked_frames, motion_of
from viewer.document.take import PlantedContact, PlantedFeet, Stretch, Take
from viewer.errors import InputError
from viewer.motion.contacts import Contact, Contacts, FootContacts, foot_contacts
from viewer.motion.plant import Planted, plant_feet
from viewer.skeleton import Clip, Skeleton
from viewer.spatial.checks import handed_over
from viewer.spatial.quaternion import slerp


def feet_of(document: Document) -> PlantedFeet | None:
    """The planted feet of the take shown."""
    return None if document.take is None else document.take.feet


def found_contacts(document: Document) -> tuple[PlantedContact, ...]:
    """When the feet of the motion shown touch the ground, before anything is planted.

    Raises:
        InputError: no motion, no figure with legs.
    """
    if document.clip_data is None and (document.take is None or document.take.is_empty):
        raise InputError("there is no motion whose feet could be planted: load a clip, or set keys")
    found = foot_contacts(document.skeleton, _clip(document, unplanted(document)))
    return tuple(
        PlantedContact(foot.name, one.point, one.start, one.end, one.ignored)
        for foot in found.feet
        for one in foot.contacts
    )


def planted(document: Document) -> Planted | None:
    """What planting does with all its weight; None where nothing is planted or the figure has lost its feet."""
    feet = feet_of(document)
    if feet is None or document.take is None:
        return None
    frames = unplanted(document)
    return _planted(_work(document, frames, feet))


def unplanted(document: Document) -> Frames:
    """All frames of the motion without planted feet and layers."""
    take = document.take
    if take is None:
        return baked_frames(motion_of(document), 0, document.frames - 1)
    own = tuple(one for one in take.solved if not (one.layered or one.planted))
    return _frames(motion_of(document), replace(take, solved=own))


def planted_stretches(document: Document, motion: Motion, take: Take, known: dict[str, Stretch]) -> tuple[Stretch, ...]:
    """The frames that a take's planted feet change, on its keys and the frames solved between them.

    Args:
        document: provides the frame time; its own take is not used.
        motion: on the document's clip and bones.
        take: the take, of whose solved frames those between keys are up to date.
        known: frames solved before, by their digest.
    """
    feet = take.feet
    if feet is None or not feet.on or feet.weight == 0.0 or not feet.contacts:
        return ()
    frames = _frames(motion, take)
    work = _work(document, frames, feet)
    if work.digest in known:
        return (known[work.digest],)
    done = _planted(work)
    if done is None:
        return ()
    rotations, translations = done.clip.rotations, done.clip.local_translations()
    turned = np.flatnonzero((rotations != frames.rotations).any(axis=(0, 2)))
    moved = np.flatnonzero((translations != frames.translations).any(axis=(0, 2)))
    turns, places = rotations[:, turned], translations[:, moved]
    if feet.weight < 1.0:
        turns = slerp(frames.rotations[:, turned], turns, feet.weight)
        places = frames.translations[:, moved] + feet.weight * (places - frames.translations[:, moved])
    return (Stretch(0, work.digest, turned, turns, moved, places, planted=True),)


class _Work:
    """What planting depends on, as a key."""

    __slots__ = ("clip", "digest", "feet", "props", "skeleton")

    def __init__(self, skeleton: Skeleton, clip: Clip, feet: PlantedFeet, props: tuple[Prop, ...], digest: str) -> None:
        self.skeleton, self.clip, self.feet, self.props, self.digest = skeleton, clip, feet, props, digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Work) and self.digest == other.digest


@lru_cache(maxsize=4)
def _planted(work: _Work) -> Planted | None:
    feet, last = work.feet, len(work.clip) - 1
    kept = sorted((one for one in feet.contacts if one.first <= last), key=lambda one: one.foot)
    contacts = Contacts(
        tuple(
            FootContacts(
                name, "", tuple(Contact(one.point, one.first, min(one.last, last), one.ignored) for one in some)
            )
            for name, some in groupby(kept, key=lambda one: one.foot)
        )
    )
    try:
        objects = [prop.solid() for prop in work.props]
        return plant_feet(work.skeleton, work.clip, contacts, feet.blend, pelvis=feet.pelvis, objects=objects)
    except InputError:  # the figure that the contacts are of has been edited away
        return None


def _frames(motion: Motion, take: Take) -> Frames:
    end = take.end if motion.clip is None else len(motion.clip) - 1
    return baked_frames(motion._replace(take=replace(take, feet=None, layers=())), 0, end)


def _clip(document: Document, frames: Frames) -> Clip:
    """Frames as a clip of the document's skeleton, whose roots are translated and other joints as far as they move."""
    skeleton = document.skeleton
    moved = np.flatnonzero((frames.translations != skeleton.offsets).any(axis=(0, 2)))
    return Clip(
        "", document.frame_time, handed_over(frames.rotations), moved, frames.translations[:, moved], skeleton.offsets
    )


def _work(document: Document, frames: Frames, feet: PlantedFeet) -> _Work:
    props = standing_props(document.contact)
    digest = blake2b(frames.rotations.tobytes() + frames.translations.tobytes(), digest_size=16)
    digest.update(repr((feet, document.frame_time, props)).encode() + document.skeleton.offsets.tobytes())
    return _Work(document.skeleton, _clip(document, frames), feet, props, digest.hexdigest())
