"""Character -> a BVH file, in the file's own units, axes and channels."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import InputError, quote
from viewer.formats.bvh.layout import channel_values, channels_for
from viewer.formats.bvh.motion import DEFAULT_FRAME_TIME
from viewer.formats.files import write_whole
from viewer.formats.frame import (
    lengths_to_source,
    root_rotations_to_source,
    root_translations_to_source,
)
from viewer.skeleton.kinematics import depths
from viewer.skeleton.tree import depth_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from viewer.skeleton.character import Character, Source
    from viewer.skeleton.clip import Clip
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats

_DECIMALS = 6
_USUAL_DEPTH = 30
_UNSAFE_NAME = re.compile(r"[\x00-\x1f\x7f]|^[ \t]|[ \t]$|(?<=[ \t])\{|^\{$")
"""What would end a name early when it is read again."""


def write_bvh(character: Character, path: Path, *, clip: Clip | None = None, precision: int | None = None) -> list[str]:
    """Write one clip of a character (its first unless given; the rest pose where there is none).

    Args:
        character: its ``source`` says units, axes, channels and names.
        path: the file.
        clip: the motion.
        precision: decimals of all numbers; as many as keep 1e-6 of the figure's size unless given.

    Returns:
        Warnings: what the format or the layout could not hold as it was.

    Raises:
        OutputError: the file cannot be written.
    """
    text, warnings = bvh_lines(character, clip=clip, precision=precision)
    write_whole(path, lambda file: file.writelines(line.encode() for line in text))
    return warnings


def bvh_lines(
    character: Character, *, clip: Clip | None = None, precision: int | None = None
) -> tuple[Iterator[str], list[str]]:
    """The lines of the file, each with its line end, and warnings."""
    if precision is not None and not 0 <= precision <= 17:
        raise InputError(f"precision: expected 0 to 17 decimals, found {precision}")
    skeleton, source = character.skeleton, character.source
    clip = clip or character.clip
    rotations, translations, offsets = _in_source(skeleton, clip, source)
    channels, warnings = channels_for(skeleton, source.layout, rotations, translations, offsets)
    values = channel_values(channels, rotations, translations)
    lengths, angles = _decimals(skeleton, offsets, translations, precision)
    names, renamed = _names(skeleton, source)
    order = depth_first(skeleton)
    header = _hierarchy(skeleton, source, order, names, channels, f"%.{lengths}f")
    frame_time = clip.frame_time if clip is not None else DEFAULT_FRAME_TIME
    formats = [f"%.{lengths}f" if c.endswith("position") else f"%.{angles}f" for j in order for c in channels[j]]
    rows = np.concatenate([values[joint] for joint in order], axis=1)
    return _lines(header, rows, frame_time, " ".join(formats) + "\n"), warnings + renamed


def _in_source(skeleton: Skeleton, clip: Clip | None, source: Source) -> tuple[Floats, Floats, Floats]:
    """Rotations (F, J, 4), translations (F, J, 3) and offsets (J, 3) in the file's units and axes."""
    roots = skeleton.roots
    rotations = (skeleton.rest_rotations[None] if clip is None else clip.rotations).copy()
    local = skeleton.offsets[None] if clip is None else clip.local_translations()
    rotations[:, roots] = root_rotations_to_source(rotations[:, roots], source)
    offsets = lengths_to_source(skeleton.offsets, source)
    offsets[roots] = root_translations_to_source(skeleton.offsets[roots], source)
    translations = np.repeat(offsets[None], len(local), axis=0)
    # Only what moves is converted: what stands still then equals its offset to the last bit.
    moving = np.flatnonzero((local != skeleton.offsets).any(axis=(0, 2)))
    translations[:, moving] = local[:, moving] / source.metres_per_unit
    at_root = [joint for joint in moving.tolist() if skeleton.parents[joint] < 0]
    translations[:, at_root] = root_translations_to_source(local[:, at_root], source)
    return rotations, translations, offsets


def _decimals(skeleton: Skeleton, offsets: Floats, translations: Floats, precision: int | None) -> tuple[int, int]:
    """Decimals of lengths and of angles.

    Rounding errors add up along a chain; lengths are measured against the figure: one of 1e-8 units has to
    keep its digits as well as one of 100.
    """
    if precision is not None:
        return precision, precision
    depth = int(depths(skeleton.parents).max(initial=0)) + 1
    deeper = max(0, math.ceil(math.log10(depth / _USUAL_DEPTH)))
    size = float(np.linalg.norm(offsets[skeleton.parents >= 0], axis=-1).sum())
    size = size or float(np.abs(translations).max(initial=0.0)) or 1.0
    return min(17, max(_DECIMALS, _DECIMALS + deeper + 1 - math.floor(math.log10(size)))), _DECIMALS + deeper


def _names(skeleton: Skeleton, source: Source) -> tuple[list[str], list[str]]:
    """Names as they were read, and a warning for each that BVH cannot hold."""
    read = source.layout.names if source.layout is not None and len(source.layout.names) == len(skeleton) else ()
    names = list(read or skeleton.names)
    warnings: list[str] = []
    for joint, name in enumerate(names):
        safe = _UNSAFE_NAME.sub("_", name)
        if safe != name:
            warnings.append(f"joint {quote(name)} is written as {quote(safe)}: BVH cannot hold its name")
            names[joint] = safe
    return names, warnings


def _hierarchy(
    skeleton: Skeleton,
    source: Source,
    order: list[int],
    names: list[str],
    channels: tuple[tuple[str, ...], ...],
    length: str,
) -> Iterator[str]:
    depth = depths(skeleton.parents)
    offsets = lengths_to_source(skeleton.offsets, source)
    offsets[skeleton.roots] = root_translations_to_source(skeleton.offsets[skeleton.roots], source)
    tips: dict[int, list[Floats]] = {}
    for joint, tip in zip(skeleton.tip_parents.tolist(), lengths_to_source(skeleton.tip_offsets, source), strict=True):
        tips.setdefault(joint, []).append(tip)
    inner = set(skeleton.parents.tolist())
    triple = f"{length} {length} {length}"
    yield "HIERARCHY\n"
    for place, joint in enumerate(order):
        level = int(depth[joint])
        indent = "\t" * level
        yield f"{indent}{'JOINT' if level else 'ROOT'} {names[joint]}\n{indent}{{\n"
        yield f"{indent}\tOFFSET {triple % _plain(offsets[joint])}\n"
        yield f"{indent}\tCHANNELS {' '.join([str(len(channels[joint])), *channels[joint]])}\n"
        # The format wants an End Site on every leaf; a file that was read without one is written without.
        needed = [] if joint in inner or source.layout is not None else [np.zeros(3)]
        for tip in tips.get(joint, needed):
            yield f"{indent}\tEnd Site\n{indent}\t{{\n{indent}\t\tOFFSET {triple % _plain(tip)}\n{indent}\t}}\n"
        next_level = int(depth[order[place + 1]]) if place + 1 < len(order) else 0
        for closing in range(level, next_level - 1, -1):
            yield "\t" * closing + "}\n"


def _lines(header: Iterable[str], rows: Floats, frame_time: float, row_format: str) -> Iterator[str]:
    yield from header
    yield f"MOTION\nFrames: {len(rows)}\nFrame Time: {plain_decimal(frame_time)}\n"
    for row in rows:
        yield row_format % _plain(row)


def plain_decimal(value: float) -> str:
    """The shortest decimal that reads back as the same double, without an exponent."""
    text = repr(float(value))
    return text if "e" not in text else f"{value:.25f}".rstrip("0")


def _plain(values: Floats) -> tuple[float, ...]:
    """Python numbers, zeros without a sign."""
    return tuple((values + 0.0).tolist())
