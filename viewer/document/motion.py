"""A document on another motion: what was keyed stays, at the frames at which it was keyed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from viewer.document.document import Document
from viewer.document.evaluation import motion_of
from viewer.document.pins import resolved
from viewer.document.take import Take
from viewer.errors import InputError
from viewer.skeleton.character import Character
from viewer.skeleton.clip import Clip


def with_motion(document: Document, character: Character) -> Document:
    """The document with the clips of another file, or of its own after that has changed; the pose stays.

    Clips take the place of those of their name; a file whose clips have other names lends them in their order. A clip
    that is too short for its keys is drawn out by its last frame.

    Args:
        document: whose figure, keys and goals stay.
        character: with the clips, in the same units.

    Raises:
        InputError: the file has no motion, or that of another figure.
    """
    place = character.source.path
    if not any(len(clip) for clip in character.clips.values()):
        raise InputError(f"{place}: expected motion, found a skeleton without frames")
    own, other = document.character.skeleton, character.skeleton
    if not np.array_equal(own.parents, other.parents):
        found = f"found {len(other)}" if len(own) != len(other) else "found them joined otherwise"
        raise InputError(f"{place}: expected motion of the {len(own)} joints of this figure, {found}")
    takes = [take for take in (document.take, *document.put_aside) if take is not None]
    clips = _fitting(document.character.clips, character.clips, takes)
    source = replace(document.character.source, path=place)
    changed = replace(
        document,
        character=replace(document.character, clips=MappingProxyType(clips), source=source),
        take=None if document.take is None else _cut(document.take, clips),
        put_aside=tuple(_cut(take, clips) for take in document.put_aside),
        frame=document.frame if document.clip is None else min(document.frame, len(clips[document.clip]) - 1),
    )
    take = changed.take
    return changed if take is None else replace(changed, take=resolved(changed, motion_of(changed), take))


def _fitting(ours: Mapping[str, Clip], found: Mapping[str, Clip], takes: list[Take]) -> dict[str, Clip]:
    """Clips by our names first, then those that are new; a name that nothing is left for keeps its clip."""
    usable = {name: clip for name, clip in found.items() if len(clip)}
    spare = [clip for name, clip in usable.items() if name not in ours]
    clips = {}
    for name, clip in ours.items():
        got = usable.get(name) or (spare.pop(0) if spare else clip)
        keys = [take.frames[-1] for take in takes if take.base == name and take.frames]
        clips[name] = _drawn_out(replace(got, name=name), max(keys, default=0) + 1)
    return clips | {clip.name: clip for clip in spare}


def _drawn_out(clip: Clip, frames: int) -> Clip:
    more = frames - len(clip)
    if more <= 0:
        return clip
    rotations, translations = (
        np.concatenate([array, np.repeat(array[-1:], more, axis=0)]) for array in (clip.rotations, clip.translations)
    )
    return replace(clip, rotations=rotations, translations=translations)


def _cut(take: Take, clips: Mapping[str, Clip]) -> Take:
    """The take, played no further than its clip goes."""
    if take.base is None or take.last < len(clips[take.base]):
        return take
    last = len(clips[take.base]) - 1
    return replace(take, first=min(take.first, last), last=last)
