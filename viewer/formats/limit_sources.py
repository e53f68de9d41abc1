"""Where the limits of a character come from: its file, its motion, or human anatomy.

Files that state none get those of their motion; a recognised human gets the union of these and of anatomical ones, so
that a clip of a bow, in which no knee bends, does not keep the figure from crouching.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from viewer.errors import InputError, unknown_name
from viewer.formats.file_formats import LIMIT_SOURCES
from viewer.formats.skeleton_json import read_skeleton_json
from viewer.resources import data_dir
from viewer.skeleton import Character, Clip, JointLimits, Skeleton
from viewer.skeleton.clip_limits import limits_from_clip
from viewer.skeleton.human_limits import human_limits, union

AUTO = "auto"
SOURCES = LIMIT_SOURCES
FILE, LEARNED, BOTH, HUMAN, CLIP, NONE = SOURCES
WORDS: dict[str, str] = {
    FILE: "File",
    LEARNED: "Learned",
    BOTH: "Human + clip",
    HUMAN: "Human",
    CLIP: "Clip",
    NONE: "None",
}
"""The sources as they are shown."""
_MODEL = "biped-hands.json"


def derived_limits(skeleton: Skeleton, clips: Iterable[Clip]) -> tuple[Skeleton, str | None]:
    """The skeleton of a file that states no limits with those that its motion and its shape give, and their source."""
    every = [*clips]
    if not every:
        return skeleton, None
    seen = limits_from_clip(skeleton, _joined(every))
    human = human_limits(seen, _model())
    if not human:
        return seen, CLIP
    return replace(seen, limits=_united(seen, human)), BOTH


def sources_of(character: Character) -> tuple[str, ...]:
    """The sources that a character has."""
    found = {character.limits_from, *_made_anew(character)}
    return tuple(source for source in SOURCES if source in found)


def _made_anew(character: Character) -> set[str]:
    """The sources that do not need the limits that it was loaded with; a skeleton file may hold no motion."""
    found: set[str] = {NONE}
    if character.clips:
        found.add(CLIP)
    if human_limits(_by_clip(character), _model()):
        found |= {HUMAN, BOTH} if character.clips else {HUMAN}
    return found


def with_limits(character: Character, source: str) -> Character:
    """A character with the limits of another source.

    Args:
        character: as loaded: what its file states is known only as long as its limits are the file's.
        source: "file"; "learned": the file's, which says that they were learned from a folder of motion;
            "human+clip": what either allows; "human": anatomical ones; "clip": the ranges of all its
            motion, widened by 20 degrees; "none".

    Raises:
        InputError: no such source, or one that the character does not have.
    """
    if source not in SOURCES:
        raise InputError(f"limits: {unknown_name('source', str(source), SOURCES)}")
    known = sources_of(character)
    if source not in known:
        listed = ", ".join(known)
        raise InputError(f"limits: {character.skeleton.name or 'the skeleton'} has {listed}; found {source}")
    if source not in _made_anew(character):
        return character
    seen = _by_clip(character)
    limits: tuple[JointLimits | None, ...] = (None,) * len(seen)
    if source == CLIP:
        limits = seen.limits
    elif source in (BOTH, HUMAN):
        human = human_limits(seen, _model())
        limits = _united(seen, human) if source == BOTH else tuple(human.get(joint) for joint in range(len(seen)))
    chosen = None if source == NONE else source
    return replace(character, skeleton=replace(character.skeleton, limits=limits), limits_from=chosen)


def joint_sources(character: Character) -> tuple[str | None, ...]:
    """Per joint the source of its limits; None where it has none."""
    source, skeleton = character.limits_from, character.skeleton
    human = human_limits(_by_clip(character), _model()) if source == BOTH else {}
    return tuple(
        None if limits is None else source if source != BOTH or joint in human else CLIP
        for joint, limits in enumerate(skeleton.limits)
    )


def _by_clip(character: Character) -> Skeleton:
    """The skeleton with the limits of the motion alone, without motion with none."""
    bare = replace(character.skeleton, limits=(None,) * len(character.skeleton))
    return limits_from_clip(bare, _joined([*character.clips.values()])) if character.clips else bare


def _united(seen: Skeleton, human: dict[int, JointLimits]) -> tuple[JointLimits | None, ...]:
    return tuple(
        own if own is None or joint not in human else union(own, human[joint]) for joint, own in enumerate(seen.limits)
    )


def _joined(every: list[Clip]) -> Clip:
    """All frames of all clips as one clip, for limits that hold in each of them."""
    first = every[0]
    if len(every) == 1:
        return first
    rotations = np.concatenate([clip.rotations for clip in every])
    nothing = np.zeros((len(rotations), 0, 3))
    return Clip("all", first.frame_time, rotations, np.zeros(0, dtype=np.intp), nothing, first.offsets)


@lru_cache(maxsize=1)
def _model() -> Skeleton:
    """The human whose joints have anatomical limits."""
    return read_skeleton_json(data_dir("skeletons") / _MODEL, _MODEL).skeleton
