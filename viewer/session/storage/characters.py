"""Characters as the data of a session file; a clip that its file still has is kept by reference."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.errors import FormatError, InputError, ViewerError, quote
from viewer.formats.files import read_bytes
from viewer.formats.load import load
from viewer.session.storage.arrays import check_unit, pack, unpack
from viewer.session.storage.skeletons import skeleton_data, skeleton_of
from viewer.session.storage.structs import CharacterData, ClipData, ClipsOfFile, SourceData
from viewer.skeleton.character import BvhLayout, Character, Source
from viewer.skeleton.clip import Clip
from viewer.spatial.checks import handed_over

if TYPE_CHECKING:
    from collections.abc import Mapping

_SAMPLE = "sample:"


class _Found(NamedTuple):
    clips: Mapping[str, Clip]
    stamp: tuple[int, int, str] | None
    reference: ClipsOfFile | None


_found: list[_Found] = []
"""What was found last: reading a long take again at every autosave would take longer than all the rest."""


def character_data(character: Character) -> CharacterData:
    """What `character_of` makes an equal character from."""
    return CharacterData(
        skeleton=skeleton_data(character.skeleton),
        source=_source_data(character.source),
        clips=_reference(character) or [_clip_data(name, clip) for name, clip in character.clips.items()],
        warnings=list(character.warnings),
        limits_from=character.limits_from,
    )


def character_of(data: CharacterData, folder: Path, path: str) -> Character:
    """The character.

    Args:
        data: from a session file.
        folder: the session file's: a clip's file that has moved along with it is found there.
        path: where the data stand in the file, for messages.

    Raises:
        FormatError: what is no character; a clip's file that is gone or has changed.
    """
    skeleton = skeleton_of(data.skeleton, f"{path}.skeleton")
    if isinstance(data.clips, ClipsOfFile):
        clips = _referenced(data.clips, folder, f"{path}.clips")
    else:
        clips = {clip.name: _clip_of(clip, f"{path}.clips[{i}]") for i, clip in enumerate(data.clips)}
    if any(clip.rotations.shape[1] != len(skeleton) for clip in clips.values()):
        raise FormatError(f"expected motion of {len(skeleton)} joints", path=f"{path}.clips")
    source = _source_of(data.source, len(skeleton), f"{path}.source")
    return Character(skeleton, MappingProxyType(dict(clips)), source, tuple(data.warnings), data.limits_from)


def _reference(character: Character) -> ClipsOfFile | None:
    """The file that has just these clips; None where there is none, and they must be written out."""
    source = character.source
    if source.path is None or source.path.startswith(_SAMPLE) or not character.clips:
        return None
    place = Path(source.path).resolve()
    seen = _stamp(place)
    if _found and _found[0].clips is character.clips and _found[0].stamp == seen and seen is not None:
        return _found[0].reference
    reference = _looked_up(character, place)
    _found[:] = [_Found(character.clips, seen, reference)]
    return reference


def _stamp(place: Path) -> tuple[int, int, str] | None:
    """What tells a file from what it was before, without reading it."""
    try:
        status = place.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, str(place)


def _looked_up(character: Character, place: Path) -> ClipsOfFile | None:
    source = character.source
    units = source.units if source.units == "raw" else source.metres_per_unit
    try:
        digest = hashlib.sha256(read_bytes(place, str(source.path))).hexdigest()
        found = load(place, units=units, up=source.up)
    except ViewerError:
        return None
    times = {clip.frame_time for clip in character.clips.values()}
    corrected = times.pop() if len(times) == 1 else None
    reference = ClipsOfFile(str(place), digest, units, source.up, corrected)
    return reference if _same_clips(character.clips, _timed(found.clips, corrected)) else None


def _referenced(data: ClipsOfFile, folder: Path, path: str) -> Mapping[str, Clip]:
    named = Path(data.path)
    place = next((p for p in (named, folder / named.name) if p.is_file()), None)
    if place is None:
        raise FormatError(
            f"the motion file {quote(named.name)} is missing: expected it as {data.path} or beside this file", path=path
        )
    try:
        if hashlib.sha256(read_bytes(place, data.path)).hexdigest() != data.sha256:
            raise FormatError(f"the motion file {quote(named.name)} has changed since this was saved", path=path)
        return _timed(load(place, units=data.units, up=data.up).clips, data.frame_time)
    except InputError as error:
        raise FormatError(f"the motion file cannot be used: {error}", path=path) from error


def _timed(clips: Mapping[str, Clip], frame_time: float | None) -> Mapping[str, Clip]:
    if frame_time is None:
        return clips
    return {name: replace(clip, frame_time=frame_time) for name, clip in clips.items()}


def _same_clips(ours: Mapping[str, Clip], others: Mapping[str, Clip]) -> bool:
    return list(ours) == list(others) and all(_same_clip(clip, others[name]) for name, clip in ours.items())


def _same_clip(a: Clip, b: Clip) -> bool:
    arrays = ("rotations", "translated", "translations", "offsets")
    same_rest = (a.name, a.frame_time, a.keys) == (b.name, b.frame_time, b.keys)
    return same_rest and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in arrays)


def _clip_data(name: str, clip: Clip) -> ClipData:
    return ClipData(
        name=name,
        frame_time=clip.frame_time,
        rotations=pack(clip.rotations),
        translated=pack(clip.translated),
        translations=pack(clip.translations),
        offsets=pack(clip.offsets),
        keys=list(clip.keys),
    )


def _clip_of(data: ClipData, path: str) -> Clip:
    rotations = unpack(data.rotations, (-1, -1, 4), f"{path}.rotations")
    check_unit(rotations, f"{path}.rotations")
    joints = rotations.shape[1]
    translated = unpack(data.translated, (-1,), f"{path}.translated", whole=True)
    if translated.size and not (
        translated.min() >= 0 and translated.max() < joints and (np.diff(translated) > 0).all()
    ):
        raise FormatError(f"expected joints from 0 to {joints - 1}, ascending", path=f"{path}.translated")
    translations = unpack(data.translations, (len(rotations), len(translated), 3), f"{path}.translations")
    offsets = unpack(data.offsets, (joints, 3), f"{path}.offsets")
    if not (np.isfinite(translations).all() and np.isfinite(offsets).all()):
        raise FormatError("expected finite numbers, found NaN or infinity", path=path)
    if any(not 0 <= key < len(rotations) for key in data.keys):
        raise FormatError(f"expected frames from 0 to {len(rotations) - 1}", path=f"{path}.keys")
    try:
        return Clip(
            data.name, data.frame_time, handed_over(rotations), translated, translations, offsets, tuple(data.keys)
        )
    except InputError as error:
        raise FormatError(str(error), path=path) from error


def _source_data(source: Source) -> SourceData:
    layout = source.layout
    return SourceData(
        path=source.path,
        format=source.format,
        metres_per_unit=source.metres_per_unit,
        units=source.units,
        up=source.up,
        guessed=source.guessed,
        joint_order=pack(np.array(source.joint_order, dtype=np.intp)),
        layout_names=None if layout is None else list(layout.names),
        layout_channels=[] if layout is None else [list(channels) for channels in layout.channels],
        license=source.license,
    )


def _source_of(data: SourceData, joints: int, path: str) -> Source:
    if data.up not in ("y", "z") or not 0.0 < data.metres_per_unit < float("inf"):
        raise FormatError("expected metres per unit above 0 and y or z up", path=path)
    layout = None
    if data.layout_names is not None:
        layout = BvhLayout(tuple(data.layout_names), tuple(tuple(channels) for channels in data.layout_channels))
    order = unpack(data.joint_order, (-1,), f"{path}.joint_order", whole=True)
    if order.size and not np.array_equal(np.sort(order), np.arange(joints)):
        raise FormatError(f"expected each joint from 0 to {joints - 1} once", path=f"{path}.joint_order")
    return Source(
        data.path, data.format, data.metres_per_unit, data.units, data.up, data.guessed, tuple(order.tolist()),
        layout, data.license,
    )  # fmt: skip
