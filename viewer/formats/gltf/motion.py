"""Clips as glTF animations: a sampler for each joint that moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.formats.gltf.structs import Animation, Channel, Sampler, Target
from viewer.spatial.quaternion import hemisphere_continuous

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.formats.gltf.buffer import BufferWriter
    from viewer.skeleton.clip import Clip
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats


class Track(NamedTuple):
    """What one property of one joint does in a clip: (F, 3) or (F, 4), and its value at rest."""

    path: str
    joint: int
    values: Floats
    rest: Floats


def animations(skeleton: Skeleton, clips: Sequence[Clip], buffer: BufferWriter) -> list[Animation]:
    """An animation for each clip, joint j being node j.

    What rests in all clips is left out. What moves in any is written in all: a program that goes from one to the other
    would keep it as it stood. A clip in which nothing moves has one joint that rests, or it would have no length.
    """
    played = [clip for clip in clips if len(clip)]
    tracks = [_tracks(skeleton, clip) for clip in played]
    moving = {place for own in tracks for place, track in own.items() if not _stands(track)} or {("rotation", 0)}
    return [
        _animation(clip, [_track(skeleton, clip, own, place) for place in sorted(moving)], buffer)
        for clip, own in zip(played, tracks, strict=True)
    ]


def _tracks(skeleton: Skeleton, clip: Clip) -> dict[tuple[str, int], Track]:
    """By path and joint."""
    turns = hemisphere_continuous(clip.rotations)
    tracks = [Track("rotation", j, turns[:, j], skeleton.rest_rotations[j]) for j in range(len(skeleton))]
    moved = enumerate(clip.translated.tolist())
    tracks += [Track("translation", j, clip.translations[:, i], skeleton.offsets[j]) for i, j in moved]
    return {(track.path, track.joint): track for track in tracks}


def _track(skeleton: Skeleton, clip: Clip, tracks: dict[tuple[str, int], Track], place: tuple[str, int]) -> Track:
    """A clip's own track; the offset where it has none."""
    path, joint = place
    offset = skeleton.offsets[joint]
    return tracks.get(place) or Track(path, joint, np.repeat(offset[None], len(clip), axis=0), offset)


def _animation(clip: Clip, tracks: list[Track], buffer: BufferWriter) -> Animation:
    result = Animation(name=clip.name, channels=[], samplers=[])
    times = buffer.add((np.arange(len(clip)) * clip.frame_time).astype("<f4"), bounds=True)
    for sampler, track in enumerate(tracks):
        output = buffer.add(track.values.astype("<f4"))
        result.channels.append(Channel(sampler=sampler, target=Target(node=track.joint, path=track.path)))
        result.samplers.append(Sampler(input=times, output=output))
    return result


def _stands(track: Track) -> bool:
    """Whether all frames are the rest value, as exactly as the file could tell them apart."""
    stored, still = track.values.astype(np.float32), track.rest.astype(np.float32)
    return bool((stored == still).all() or (len(still) == 4 and (stored == -still).all()))
