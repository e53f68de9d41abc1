"""Characters as the data of a session file."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import FormatError, InputError
from viewer.session.storage.arrays import check_unit, pack, unpack
from viewer.session.storage.motion import carried, clips_data, clips_of, reference
from viewer.session.storage.skeletons import skeleton_data, skeleton_of
from viewer.session.storage.structs import CharacterData, ClipData, ClipsOfFile, SourceData
from viewer.skeleton.character import BvhLayout, Character, Source
from viewer.skeleton.clip import Clip
from viewer.spatial.checks import handed_over

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def character_data(character: Character, folder: Path | None = None) -> CharacterData:
    """What `character_of` makes an equal character from.

    Args:
        character: with its clips, which are carried along unless they are very large and a file has just the same.
        folder: the session file's; given, the file that the clips came from is named beside them.
    """
    clips = carried(character)
    large = reference(character, folder) if clips is None else None
    return CharacterData(
        skeleton=skeleton_data(character.skeleton),
        source=_source_data(character.source),
        clips=clips or large or clips_data(character.clips),
        warnings=list(character.warnings),
        limits_from=character.limits_from,
        file=reference(character, folder) if clips and folder is not None else None,
    )


def character_of(data: CharacterData, folder: Path, path: str, clips: Mapping[str, Clip] | None = None) -> Character:
    """The character.

    Args:
        data: from a session file.
        folder: the session file's: a clip's file that has moved along with it is found there.
        path: where the data stand in the file, for messages.
        clips: instead of those of the data.

    Raises:
        MotionError: the clips are not in the data, and their file is gone or has changed.
        FormatError: what is no character.
    """
    skeleton = skeleton_of(data.skeleton, f"{path}.skeleton")
    if clips is not None:
        pass
    elif isinstance(data.clips, ClipsOfFile):
        clips = clips_of(data.clips, folder, f"{path}.clips")
    else:
        clips = {clip.name: _clip_of(clip, f"{path}.clips[{i}]") for i, clip in enumerate(data.clips)}
    if any(clip.rotations.shape[1] != len(skeleton) for clip in clips.values()):
        raise FormatError(f"expected motion of {len(skeleton)} joints", path=f"{path}.clips")
    source = _source_of(data.source, len(skeleton), f"{path}.source")
    return Character(skeleton, MappingProxyType(dict(clips)), source, tuple(data.warnings), data.limits_from)


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
