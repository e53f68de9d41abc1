"""Takes as the data of a session file, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from viewer.document import Take
from viewer.document.argument_checks import as_vector
from viewer.document.take import MOST_FRAMES, Pin, Stretch, Track
from viewer.errors import FormatError, at_path
from viewer.ik.goals.numbers import as_rotation
from viewer.session.storage.characters import VALUES
from viewer.session.storage.serialiser import Stored, pack, unpack
from viewer.skeleton import Character
from viewer.spatial.checks import Ints

PinData: Any = VALUES.struct(Pin)


class TracksData(msgspec.Struct):
    """Tracks of joints with keys at the same frames, with the fields of `viewer.document.take.Track`.

    Frames and blends are (K,), rotations (joints, K, 4), translations (joints, K, 3) or null, tangents (joints, K, 6),
    NaN where they follow from the neighbouring keys.
    """

    joints: Stored
    frames: Stored
    blends: Stored
    rotations: Stored
    translations: Stored | None = None
    tangents: Stored | None = None


class PinnedData(msgspec.Struct):
    """Key frames with the same pins."""

    frames: Stored
    pins: list[PinData]


TakeData: Any = VALUES.struct(Take, tracks=list[TracksData], pins=list[PinnedData])


def take_data(take: Take) -> Any:  # noqa: ANN401 - TakeData
    """The data of a take, for `take_of`."""
    return VALUES.data(take, tracks=[_tracks_data(group) for group in _grouped(take)], pins=_pins_data(take))


def take_of(data: Any, character: Character, path: str) -> Take:  # noqa: ANN401 - TakeData
    """Make a take.

    Args:
        data: from a session file.
        character: of the take.
        path: of the data in the file, for messages.

    Raises:
        FormatError: not a take of this character; with the path of the error.
    """
    clip = None if data.base is None else character.clips.get(data.base)
    if data.base is not None and clip is None:
        raise FormatError(f"expected the name of a clip, found {data.base!r}", path=f"{path}.base")
    joints, most = len(character.skeleton), MOST_FRAMES - 1 if clip is None else len(clip) - 1
    tracks = [t for i, some in enumerate(data.tracks) for t in _tracks_of(some, joints, f"{path}.tracks[{i}]")]
    last = max([data.last, *(int(track.frames[-1]) for track in tracks)])
    if last > most:
        raise FormatError(f"expected frames from 0 to {most}, found {last}", path=path)
    made: Take = VALUES.read(
        Take, data, path, {"J": joints},
        tracks=tuple(sorted(tracks, key=lambda track: track.joint)),
        pins=_pins_of(data.pins, f"{path}.pins"),
        solved=tuple(_stretch_of(some, joints, f"{path}.solved[{i}]") for i, some in enumerate(data.solved)),
    )  # fmt: skip
    return made


def _grouped(take: Take) -> list[list[Track]]:
    """Tracks in groups with shared arrays of frames and blends."""
    groups: dict[tuple[int, int, bool, bool], list[Track]] = {}
    for track in take.tracks:
        groups.setdefault(track.alike, []).append(track)
    return [*groups.values()]


def _tracks_data(group: list[Track]) -> TracksData:
    moved = [track.translations for track in group if track.translations is not None]
    tangents = [track.tangents for track in group if track.tangents is not None]
    return TracksData(
        joints=pack(np.array([track.joint for track in group])),
        frames=pack(group[0].frames),
        blends=pack(group[0].blends),
        rotations=pack(np.stack([track.rotations for track in group])),
        translations=pack(np.stack(moved)) if moved else None,
        tangents=pack(np.stack(tangents)) if tangents else None,
    )


def _tracks_of(data: TracksData, count: int, path: str) -> Iterator[Track]:
    joints = _joints_of(data.joints, count, f"{path}.joints")
    frames = unpack(data.frames, (-1,), f"{path}.frames", whole=True)
    blends = unpack(data.blends, (len(frames),), f"{path}.blends", whole=True)
    rotations = unpack(data.rotations, (len(joints), len(frames), 4), f"{path}.rotations")
    moved = tangents = None
    if data.translations is not None:
        moved = unpack(data.translations, (len(joints), len(frames), 3), f"{path}.translations")
    if data.tangents is not None:
        tangents = unpack(data.tangents, (len(joints), len(frames), 6), f"{path}.tangents")
    for index, joint in enumerate(joints.tolist()):
        place, tangent = (None if some is None else some[index] for some in (moved, tangents))
        with at_path(path):
            yield Track(joint, frames, rotations[index], place, blends, tangent)


def _joints_of(stored: Stored, count: int, path: str) -> Ints:
    joints = unpack(stored, (-1,), path, whole=True)
    if joints.size and (joints.min() < 0 or joints.max() >= count or (np.diff(joints) <= 0).any()):
        raise FormatError(f"expected joints from 0 to {count - 1}, ascending", path=path)
    return joints


def _pins_data(take: Take) -> list[PinnedData]:
    frames: dict[tuple[Pin, ...], list[int]] = {}
    for frame, pins in take.pins.items():
        frames.setdefault(pins, []).append(frame)
    return [
        PinnedData(pack(np.array(some, dtype=np.intp)), [VALUES.data(pin) for pin in pins])
        for pins, some in frames.items()
    ]


def _pins_of(data: list[PinnedData], path: str) -> dict[int, tuple[Pin, ...]]:
    found: dict[int, tuple[Pin, ...]] = {}
    for i, some in enumerate(data):
        where = f"{path}[{i}]"
        pins = tuple(_pin_of(pin, f"{where}.pins[{k}]") for k, pin in enumerate(some.pins))
        frames = unpack(some.frames, (-1,), f"{where}.frames", whole=True)
        if frames.size > MOST_FRAMES or (frames.size and not 0 <= frames.min() <= frames.max() < MOST_FRAMES):
            raise FormatError(f"expected frames from 0 to {MOST_FRAMES - 1}", path=f"{where}.frames")
        found |= dict.fromkeys(frames.tolist(), pins)
    return found


def _pin_of(data: Any, path: str) -> Pin:  # noqa: ANN401 - PinData
    pin: Pin = VALUES.read(Pin, data, path)
    with at_path(path):
        return pin._replace(
            position=None if pin.position is None else as_vector(pin.position, "position"),
            rotation=None if pin.rotation is None else as_rotation(pin.rotation, "rotation"),
            offset=as_vector(pin.offset, "offset"),
        )


def _stretch_of(data: Any, count: int, path: str) -> Stretch:  # noqa: ANN401 - the data of a stretch
    for name in ("joints", "moved"):
        _joints_of(getattr(data, name), count, f"{path}.{name}")
    made: Stretch = VALUES.read(Stretch, data, path)
    if made.first < 0 or not np.isfinite(made.translations).all():
        raise FormatError("expected finite numbers and frames from 0", path=path)
    return made
