"""Short digests of documents: whether another run, on another machine perhaps, has come to the same one."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import msgspec

from viewer.document.document import Document
from viewer.document.take import Take
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats, Ints

Array = Floats | Ints

_LETTERS = 12


class Digest(NamedTuple):
    """Of one document.

    Attributes:
        pose: of every number of the pose.
        rest: of handles, settings, selection, keys and edited bones.
    """

    pose: str
    rest: str


class Digester:
    """Makes digests; what documents share is read once."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._read: dict[str, tuple[object, bytes]] = {}

    def digest(self, document: Document) -> Digest:
        """The digest of a document: equal for equal ones, and for others hardly ever."""
        pose = hashlib.sha256(document.pose.rotations.tobytes())
        pose.update(document.pose.translations.tobytes())
        rest = hashlib.sha256(_data(_settings(document)))
        rest.update(self._once("skeleton", document.skeleton, _skeleton))
        for place, take in enumerate((document.take, *document.put_aside)):
            rest.update(self._once(f"take {place}", take, _take))
        return Digest(pose.hexdigest()[:_LETTERS], rest.hexdigest()[:_LETTERS])

    def _once(self, name: str, value: Any, read: Any) -> bytes:  # noqa: ANN401 - a value and its reader
        seen = self._read.get(name)
        if seen is None or seen[0] is not value:
            seen = self._read[name] = value, read(value)
        return seen[1]


def _settings(document: Document) -> list[object]:
    """What is said in a few words."""
    character = document.character
    return [
        document.handles, document.limits_on, sorted(document.unlimited), document.solver, document.selection,
        document.mode, document.scope, document.clip, document.frame, document.auto_key, document.planar,
        [[name, clip.frame_time, len(clip)] for name, clip in character.clips.items()],
        [character.source.metres_per_unit, character.source.up],
    ]  # fmt: skip


def _skeleton(skeleton: Skeleton) -> bytes:
    digest = hashlib.sha256(_data([skeleton.names, skeleton.effectors]))
    for array in (skeleton.parents, skeleton.offsets, skeleton.stiffness):
        digest.update(array.tobytes())
    return digest.digest()


def _take(take: Take | None) -> bytes:
    if take is None:
        return b"none"
    digest = hashlib.sha256(_data([take.base, take.frame_time, take.first, take.last, [*take.pins.items()]]))
    arrays: list[Array] = [] if take.rest is None else [take.rest.rotations, take.rest.translations]
    for track in take.tracks:
        moved: list[Array] = [] if track.translations is None else [track.translations]
        arrays += [track.frames, track.rotations, track.blends, *moved]
        digest.update(_data(track.joint))
    for stretch in take.solved:
        arrays += [stretch.joints, stretch.rotations, stretch.moved, stretch.translations]
        digest.update(_data([stretch.first, stretch.digest]))
    for array in arrays:
        digest.update(array.tobytes())
    return digest.digest()


def _data(value: object) -> bytes:
    # Numbers of numpy say the same as plain ones.
    return msgspec.json.encode(value, enc_hook=float)


def digest_of(document: Document) -> str:
    """The digest of one document, as a word: for programs that compare what two windows show."""
    return "-".join(Digester().digest(document))
