"""Takes as the data of a session file, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from viewer.errors import FormatError, InputError
from viewer.session.checks import as_turn, as_vector
from viewer.session.storage.arrays import check_unit, pack, unpack
from viewer.session.storage.skeletons import pose_data, pose_of
from viewer.session.storage.structs import PinData, PinnedData, StretchData, TakeData, TracksData
from viewer.session.take.values import MOST_FRAMES, Pin, Stretch, Take, Track

if TYPE_CHECKING:
    from collections.abc import Iterator

    from viewer.session.storage.structs import Array
    from viewer.skeleton.character import Character
    from viewer.spatial.checks import Ints


def take_data(take: Take) -> TakeData:
    """What `take_of` makes an equal take from."""
    return TakeData(
        base=take.base,
        frame_time=take.frame_time,
        first=take.first,
        last=take.last,
        rest=None if take.rest is None else pose_data(take.rest),
        tracks=[_tracks_data(group) for group in _alike(take)],
        pins=_pins_data(take),
        solved=[_stretch_data(stretch) for stretch in take.solved],
    )


def take_of(data: TakeData, character: Character, path: str) -> Take:
    """The take.

    Args:
        data: from a session file.
        character: that it is of.
        path: where the data stand in the file, for messages.

    Raises:
        FormatError: what is no take of this character; it says where.
    """
    clip = None if data.base is None else character.clips.get(data.base)
    if data.base is not None and clip is None:
        raise FormatError(f"expected the name of a clip, found {data.base!r}", path=f"{path}.base")
    joints, most = len(character.skeleton), MOST_FRAMES - 1 if clip is None else len(clip) - 1
    tracks = [t for i, some in enumerate(data.tracks) for t in _tracks_of(some, joints, f"{path}.tracks[{i}]")]
    last = max([data.last, *(int(track.frames[-1]) for track in tracks)])
    if last > most:
        raise FormatError(f"expected frames from 0 to {most}, found {last}", path=path)
    try:
        return Take(
            base=data.base,
            frame_time=data.frame_time,
            first=data.first,
            last=data.last,
            rest=None if data.rest is None else pose_of(data.rest, joints, f"{path}.rest"),
            tracks=tuple(sorted(tracks, key=lambda track: track.joint)),
            pins=_pins_of(data.pins, f"{path}.pins"),
            solved=tuple(_stretch_of(some, joints, f"{path}.solved[{i}]") for i, some in enumerate(data.solved)),
        )
    except InputError as error:
        raise FormatError(str(error), path=path) from error


def _alike(take: Take) -> list[list[Track]]:
    """Tracks in groups that share frames and blends, which `Take` has made one array each."""
    groups: dict[tuple[int, int, bool], list[Track]] = {}
    for track in take.tracks:
        groups.setdefault((id(track.frames), id(track.blends), track.translations is None), []).append(track)
    return [*groups.values()]


def _tracks_data(group: list[Track]) -> TracksData:
    moved = [track.translations for track in group if track.translations is not None]
    return TracksData(
        joints=pack(np.array([track.joint for track in group])),
        frames=pack(group[0].frames),
        blends=pack(group[0].blends),
        rotations=pack(np.stack([track.rotations for track in group])),
        translations=pack(np.stack(moved)) if moved else None,
    )


def _tracks_of(data: TracksData, count: int, path: str) -> Iterator[Track]:
    joints = _joints_of(data.joints, count, f"{path}.joints")
    frames = unpack(data.frames, (-1,), f"{path}.frames", whole=True)
    blends = unpack(data.blends, (len(frames),), f"{path}.blends", whole=True)
    rotations = unpack(data.rotations, (len(joints), len(frames), 4), f"{path}.rotations")
    moved = None
    if data.translations is not None:
        moved = unpack(data.translations, (len(joints), len(frames), 3), f"{path}.translations")
    for place, joint in enumerate(joints.tolist()):
        try:
            yield Track(joint, frames, rotations[place], None if moved is None else moved[place], blends)
        except InputError as error:
            raise FormatError(str(error), path=path) from error


def _joints_of(stored: Array, count: int, path: str) -> Ints:
    joints = unpack(stored, (-1,), path, whole=True)
    if joints.size and (joints.min() < 0 or joints.max() >= count or (np.diff(joints) <= 0).any()):
        raise FormatError(f"expected joints from 0 to {count - 1}, ascending", path=path)
    return joints


def _pins_data(take: Take) -> list[PinnedData]:
    frames: dict[tuple[Pin, ...], list[int]] = {}
    for frame, pins in take.pins.items():
        frames.setdefault(pins, []).append(frame)
    return [
        PinnedData(pack(np.array(some, dtype=np.intp)), [PinData(*pin) for pin in pins])
        for pins, some in frames.items()
    ]


def _pins_of(data: list[PinnedData], path: str) -> dict[int, tuple[Pin, ...]]:
    found: dict[int, tuple[Pin, ...]] = {}
    for i, some in enumerate(data):
        place = f"{path}[{i}]"
        pins = tuple(_pin_of(pin, f"{place}.pins[{k}]") for k, pin in enumerate(some.pins))
        frames = unpack(some.frames, (-1,), f"{place}.frames", whole=True)
        if frames.size > MOST_FRAMES or (frames.size and not 0 <= frames.min() <= frames.max() < MOST_FRAMES):
            raise FormatError(f"expected frames from 0 to {MOST_FRAMES - 1}", path=f"{place}.frames")
        found |= dict.fromkeys(frames.tolist(), pins)
    return found


def _pin_of(data: PinData, path: str) -> Pin:
    effector, position, rotation, offset = msgspec.structs.astuple(data)
    try:
        return Pin(
            effector,
            None if position is None else as_vector(position, "position"),
            None if rotation is None else as_turn(rotation, "rotation"),
            as_vector(offset, "offset"),
        )
    except InputError as error:
        raise FormatError(str(error), path=path) from error


def _stretch_data(stretch: Stretch) -> StretchData:
    return StretchData(
        stretch.first, stretch.digest, pack(stretch.joints), pack(stretch.rotations), pack(stretch.moved),
        pack(stretch.translations),
    )  # fmt: skip


def _stretch_of(data: StretchData, count: int, path: str) -> Stretch:
    joints, moved = (_joints_of(getattr(data, n), count, f"{path}.{n}") for n in ("joints", "moved"))
    rotations = unpack(data.rotations, (-1, len(joints), 4), f"{path}.rotations")
    translations = unpack(data.translations, (len(rotations), len(moved), 3), f"{path}.translations")
    check_unit(rotations, f"{path}.rotations")
    if data.first < 0 or not np.isfinite(translations).all():
        raise FormatError("expected finite numbers and frames from 0", path=path)
    return Stretch(data.first, data.digest, joints, rotations, moved, translations)
