"""Short digests of documents, to compare the results of two runs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np

from viewer.document import Document, Take
from viewer.skeleton import Character, Pose, Skeleton

_LETTERS = 12
_SHARED = (Skeleton, Take, Pose)
"""Types of values that documents share."""
_UNCHANGED: dict[object, tuple[str, ...]] = {
    Skeleton: (
        "rest_rotations", "kinds", "axes", "limits", "tip_parents", "tip_offsets", "poses", "mobility",
        "mobility_matrices",
    )
}  # fmt: skip
"""Fields that only actions that read a file change; machines may read them with other last bits."""


class Digest(NamedTuple):
    """The digest of a document.

    Attributes:
        pose: of all numbers of the pose.
        rest: of all other fields; of the character only what actions change.
    """

    pose: str
    rest: str


class Digester:
    """Makes digests; shared values are hashed once."""

    def __init__(self) -> None:
        """Start without cached digests."""
        self._read: dict[str, tuple[object, bytes]] = {}

    def digest(self, document: Document) -> Digest:
        """The digest of a document; those of different documents hardly ever collide."""
        rest = hashlib.sha256()
        for field in fields(document):
            value = getattr(document, field.name)
            if field.name != "pose" and _is_set(field, value):
                rest.update(field.name.encode())
                self._add(rest, field.name, value)
        pose = hashlib.sha256(document.pose.rotations.tobytes())
        pose.update(document.pose.translations.tobytes())
        return Digest(pose.hexdigest()[:_LETTERS], rest.hexdigest()[:_LETTERS])

    def _add(self, digest: Any, name: str, value: Any) -> None:  # noqa: ANN401 - a hash, any value
        """Hash a value by its fields."""
        if isinstance(value, np.ndarray):
            digest.update(value.tobytes())
        elif isinstance(value, Character):
            clips = [[clip.name, clip.frame_time, len(clip)] for clip in value.clips.values()]
            digest.update(_data([clips, value.source.metres_per_unit, value.source.up]))
        elif isinstance(value, _SHARED) and name:
            seen = self._read.get(name)
            if seen is None or seen[0] is not value:
                own = hashlib.sha256()
                self._add(own, "", value)
                seen = self._read[name] = value, own.digest()
            digest.update(seen[1])
        elif is_dataclass(value):
            for field in fields(value):
                one = getattr(value, field.name)
                if field.init and field.name not in _UNCHANGED.get(type(value), ()) and _is_set(field, one):
                    digest.update(field.name.encode())
                    self._add(digest, "", one)
        elif isinstance(value, Mapping):
            self._add(digest, name, [*value.items()])
        elif isinstance(value, (tuple, list)):
            for number, one in enumerate(value):
                digest.update(b",")
                self._add(digest, f"{name} {number}" if name else "", one)
        else:
            digest.update(_data(sorted(value) if isinstance(value, frozenset) else value))


def _is_set(field: Field[Any], value: object) -> bool:
    """Whether a value is not the field's default, so that a field added later leaves earlier digests unchanged."""
    return isinstance(value, np.ndarray) or not (value is field.default or value == field.default)


def _data(value: object) -> bytes:
    # Numbers of numpy hash as plain ones do.
    return msgspec.json.encode(value, enc_hook=float)


def digest_of(document: Document) -> str:
    """The digest of one document as text, for programs that compare what two windows show."""
    return "-".join(Digester().digest(document))
