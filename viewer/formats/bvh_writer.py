"""Character -> a BVH file in the units, axes and channels it was read in, with warnings of what BVH cannot hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from viewer.errors import InputError, quote
from viewer.formats.bvh_reader import channel_angles, held, kinds_and_axes, position_axes, rotation_axes, usual_order
from viewer.formats.bvh_text import DEFAULT_FRAME_TIME
from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import write_whole
from viewer.formats.save import left_out
from viewer.formats.units import (
    body_of,
    in_words,
    lengths_to_source,
    root_rotations_to_internal,
    root_rotations_to_source,
    root_translations_to_source,
    settle,
)
from viewer.progress import watched
from viewer.skeleton import BvhLayout, Character, Clip, JointKind, Skeleton, Source, fk
from viewer.skeleton.kinematics import depths, joints_and_tips
from viewer.skeleton.tree import depth_first
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import IDENTITY

_POSITIONS = ("Xposition", "Yposition", "Zposition")
_NOISE = 1e-12

_DECIMALS = 6
_DEEPEST_INDENT = 40
"""Tabs at most: full indentation of a chain of 5,000 joints would be 200 times the rest of its file."""
_ERROR = 5e-7
"""How far rounded lengths, and again rounded angles, may move a joint, as a fraction of the figure's size."""
_LENGTH_ERROR = 0.5 * math.sqrt(3.0)
"""Rounding error of an offset, in units of its last decimal: half a unit on each of three axes."""
_ANGLE_ERROR = 0.5 * 3.0 * math.radians(1.0)
"""Rounding error of a joint's rotation, radians per unit of the last decimal: half a unit on each of three channels."""
_UNSAFE_NAME = re.compile(r"[\x00-\x1f\x7f]|^[ \t]|[ \t]$|(?<=[ \t])\{|^\{(?=[ \t]|$)")
"""Characters at which a reader would end a name."""
_BRACES = re.compile(r"[{}]")
"""If one of these has to be replaced, all are: braces stay in pairs."""


Channels: TypeAlias = tuple[tuple[str, ...], ...]
"""The channels of each joint, in file order."""


def _rotation_channels(order: str) -> tuple[str, ...]:
    return tuple(f"{axis.upper()}rotation" for axis in order)


def _default_channels(skeleton: Skeleton) -> Channels:
    """Rotations ZXY, or in the order of the joint's Euler limits; roots and slides have positions XYZ before them."""
    channels: list[tuple[str, ...]] = []
    for kind, limits, parent in zip(skeleton.kinds, skeleton.limits, skeleton.parents.tolist(), strict=True):
        positions = _POSITIONS if parent < 0 or kind is JointKind.SLIDE else ()
        channels.append(positions + _rotation_channels(usual_order(limits)))
    return tuple(channels)


def _own_channels(skeleton: Skeleton, layout: BvhLayout | None) -> Channels:
    """The channels that the joints were read with; default channels without a layout that fits the skeleton."""
    fits = layout is not None and len(layout.channels) == len(skeleton)
    return layout.channels if layout is not None and fits else _default_channels(skeleton)


def _channels_for(
    skeleton: Skeleton, layout: BvhLayout | None, rotations: Floats, translations: Floats, offsets: Floats
) -> tuple[Channels, list[str]]:
    """The channels of every joint, with channels added where the motion needs them, and a warning for each of these.

    Rotations (F, J, 4), translations (F, J, 3) and offsets (J, 3) are local, in the units and axes of the file.
    """
    channels = list(_own_channels(skeleton, layout))
    # Converting units there and back changes last digits: such differences are not motion.
    noise = _NOISE * np.maximum(np.abs(offsets), np.abs(translations))
    moves = np.any(np.abs(translations - offsets) > noise, axis=0)
    warnings: list[str] = []
    for joint, names in enumerate(channels):
        widened, axes, has = names, rotation_axes(names), position_axes(names)
        if any(moving and axis not in has for axis, moving in zip("xyz", moves[joint].tolist(), strict=True)):
            widened = _POSITIONS + _rotation_channels(axes)
        if not held(rotations[:, joint : joint + 1], axes).all():
            widened += _rotation_channels("".join(axis for axis in usual_order(None) if axis not in axes))
        if widened != names:
            added = ", ".join(name for name in widened if name not in names)
            warnings.append(f"joint {quote(skeleton.names[joint])}: its channels cannot hold the motion; added {added}")
            channels[joint] = widened
    return tuple(channels), warnings


def _channel_values(channels: Channels, rotations: Floats, translations: Floats) -> list[Floats]:
    """Per joint (F, n) the values of its channels, rotations in degrees; computed by groups of one rotation order."""
    values = [np.zeros((len(rotations), len(names))) for names in channels]
    groups: dict[str, list[int]] = {}
    for joint, names in enumerate(channels):
        groups.setdefault(rotation_axes(names), []).append(joint)
        for column, name in enumerate(names):
            if name.endswith("position"):
                values[joint][:, column] = translations[:, joint, "xyz".index(name[0].lower())]
    for axes, joints in groups.items():
        angles = np.degrees(channel_angles(rotations[:, joints], axes))
        for place, joint in enumerate(joints):
            columns = [i for i, name in enumerate(channels[joint]) if name.endswith("rotation")]
            values[joint][:, columns] = angles[:, place]
    return values


def write_bvh(character: Character, path: Path, options: WriteOptions) -> list[str]:
    """Write the first clip of a character, or its rest pose if it has none.

    Units, axes, channels and names are those of its ``source``. Without a precision, lengths and angles have the
    decimals that keep 1e-6 of the figure's size. A warning also says how the file has to be read.
    """
    text, warnings = bvh_lines(character, precision=options.precision)
    write_whole(path, lambda file: file.writelines(line.encode() for line in text))
    if not options.as_read or character.source.guessed:  # a different motion may lead to a different guess
        warnings += _misread(character)
    if not options.pose:
        channels = _own_channels(character.skeleton, character.source.layout)
        warnings += left_out(character, "BVH", kinds_and_axes(channels, character.skeleton.parents)[0])
    return warnings


def bvh_lines(character: Character, *, precision: int | None = None) -> tuple[Iterator[str], list[str]]:
    """The lines of the file, each with its line end, and warnings."""
    if precision is not None and not 0 <= precision <= 17:
        raise InputError(f"precision: expected 0 to 17 decimals, found {precision}")
    skeleton, clip, source = character.skeleton, character.clip, character.source
    rotations, translations, offsets = _in_source(skeleton, clip, source)
    if not (np.isfinite(translations).all() and np.isfinite(lengths_to_source(skeleton.tip_offsets, source)).all()):
        raise InputError("cannot be written as BVH: expected lengths within float range in its units")
    channels, warnings = _channels_for(skeleton, source.layout, rotations, translations, offsets)
    values = _channel_values(channels, rotations, translations)
    lengths, angles = _decimals(skeleton, clip, source)
    if precision is not None:
        lengths = angles = precision
    names, renamed = _names(skeleton, source)
    order = depth_first(skeleton)
    header = _hierarchy(skeleton, source, offsets, order, names, channels, f"{{:z.{lengths}f}}")
    frame_time = clip.frame_time if clip is not None else DEFAULT_FRAME_TIME
    decimals = [lengths if c.endswith("position") else angles for joint in order for c in channels[joint]]
    rows = np.concatenate([values[joint] for joint in order], axis=1)
    rows = rows if decimals else rows[:0]  # no reader finds a row without numbers
    # "z" drops the minus sign of a number that is rounded to zero.
    row_format = " ".join(f"{{:z.{count}f}}" for count in decimals) + "\n"
    return _lines(header, rows, frame_time, row_format), warnings + renamed


def _in_source(skeleton: Skeleton, clip: Clip | None, source: Source) -> tuple[Floats, Floats, Floats]:
    """Rotations (F, J, 4), translations (F, J, 3) and offsets (J, 3) in the file's units and axes."""
    roots = skeleton.roots
    rotations = (skeleton.rest_rotations[None] if clip is None else clip.rotations).copy()
    local = skeleton.offsets[None] if clip is None else clip.local_translations()
    rotations[:, roots] = root_rotations_to_source(rotations[:, roots], source)
    offsets = np.array(lengths_to_source(skeleton.offsets, source))
    offsets[roots] = root_translations_to_source(skeleton.offsets[roots], source)
    translations = np.repeat(offsets[None], len(local), axis=0)
    # Only moving joints are converted: a joint that does not move then equals its offset to the last bit.
    moving = np.flatnonzero((local != skeleton.offsets).any(axis=(0, 2)))
    translations[:, moving] = local[:, moving] / source.metres_per_unit
    at_root = [joint for joint in moving.tolist() if skeleton.parents[joint] < 0]
    translations[:, at_root] = root_translations_to_source(local[:, at_root], source)
    return rotations, translations, offsets


def _decimals(skeleton: Skeleton, clip: Clip | None, source: Source) -> tuple[int, int]:
    """Decimals of lengths and of angles that keep every position to 1e-6 of the figure's size.

    Rounding errors of all joints add up along a chain in the worst case. Lengths are relative to the figure's size,
    because a figure of 1e-8 units has to keep its digits as well as one of 100.
    """
    poses = [skeleton.rest_pose()] if clip is None or not len(clip) else [skeleton.rest_pose(), clip.pose(0)]
    extents = [float(np.ptp(joints_and_tips(skeleton, fk(skeleton, pose)), axis=0).max()) for pose in poses]
    # A single point has no size: its distance from the origin is taken instead.
    lengths = skeleton.offsets if clip is None else np.append(skeleton.offsets, clip.translations)
    away = float(np.abs(lengths).max()) or 1.0
    size = min((extent for extent in extents if extent > 0.0), default=away) / source.metres_per_unit
    if not (0.0 < size < math.inf and math.isfinite(max(extents) / source.metres_per_unit)):
        raise InputError("cannot be written as BVH: expected lengths within float range in its units")
    depth = int(depths(skeleton.parents).max(initial=0)) + 1
    of_lengths = math.ceil(math.log10(_LENGTH_ERROR * depth / _ERROR) - math.log10(size))
    of_angles = math.ceil(math.log10(_ANGLE_ERROR * depth / _ERROR))
    return max(_DECIMALS, of_lengths), max(_DECIMALS, of_angles)


def _names(skeleton: Skeleton, source: Source) -> tuple[list[str], list[str]]:
    """The joints' names as they were read, and a warning for each that BVH cannot hold."""
    read = source.layout.names if source.layout is not None and len(source.layout.names) == len(skeleton) else ()
    names = list(read or skeleton.names)
    warnings: list[str] = []
    for joint, name in enumerate(names):
        safe = _UNSAFE_NAME.sub("_", name)
        if safe != name:
            safe = _BRACES.sub("_", safe)
            warnings.append(f"joint {quote(name)} is written as {quote(safe)}: BVH cannot hold its name")
            names[joint] = safe
    return names, warnings


def _hierarchy(
    skeleton: Skeleton,
    source: Source,
    offsets: Floats,
    order: list[int],
    names: list[str],
    channels: Channels,
    length: str,
) -> Iterator[str]:
    depth = depths(skeleton.parents)
    tips: dict[int, list[Floats]] = {}
    for joint, tip in zip(skeleton.tip_parents.tolist(), lengths_to_source(skeleton.tip_offsets, source), strict=True):
        tips.setdefault(joint, []).append(tip)
    inner = set(skeleton.parents.tolist())
    triple = f"{length} {length} {length}"
    yield "HIERARCHY\n"
    for place, joint in enumerate(order):
        level = int(depth[joint])
        indent = "\t" * min(level, _DEEPEST_INDENT)
        yield f"{indent}{'JOINT' if level else 'ROOT'} {names[joint]}\n{indent}{{\n"
        yield f"{indent}\tOFFSET {triple.format(*offsets[joint].tolist())}\n"
        yield f"{indent}\tCHANNELS {' '.join([str(len(channels[joint])), *channels[joint]])}\n"
        # The format requires an End Site on every leaf; a file that was read without one is written without.
        needed = [] if joint in inner or source.layout is not None else [np.zeros(3)]
        for tip in tips.get(joint, needed):
            yield f"{indent}\tEnd Site\n{indent}\t{{\n{indent}\t\tOFFSET {triple.format(*tip.tolist())}\n{indent}\t}}\n"
        next_level = int(depth[order[place + 1]]) if place + 1 < len(order) else 0
        for closing in range(level, next_level - 1, -1):
            yield "\t" * min(closing, _DEEPEST_INDENT) + "}\n"


def _lines(header: Iterable[str], rows: Floats, frame_time: float, row_format: str) -> Iterator[str]:
    yield from header
    yield f"MOTION\nFrames: {len(rows)}\nFrame Time: {plain_decimal(frame_time)}\n"
    for row in watched("writing", rows, len(rows)):
        yield row_format.format(*row.tolist())


def plain_decimal(value: float) -> str:
    """The shortest decimal that reads back as the same double, without an exponent."""
    return np.format_float_positional(value, trim="-")


def _misread(character: Character) -> list[str]:
    """A warning if a reader would guess other units or axes than those written, with the options that state them."""
    skeleton, source, clip = character.skeleton, character.source, character.clip
    points = joints_and_tips(skeleton, fk(skeleton, clip.pose(0) if clip else skeleton.rest_pose()))
    points = root_translations_to_source(points, source)
    body = body_of(_as_read(character), points, source)
    guess = settle("auto", "auto", points, body)
    said = {"units": source.units} if guess.metres_per_unit != source.metres_per_unit else {}
    said |= {"up": source.up} if guess.up != source.up else {}
    if not said:
        return []
    options = " ".join(f"--{name} {value}" for name, value in said.items())
    arguments = ", ".join(f'{name}="{value}"' for name, value in said.items())
    advice = f"read it with {options} (in Python {arguments})"
    return [f"BVH states no units or axes: {advice}, or it is taken for {in_words(guess)}"]


def _as_read(character: Character) -> Skeleton:
    """The skeleton with the rest rotations that a reader gives it: only the roots' rotation to Y up."""
    skeleton = character.skeleton
    rest = np.tile(IDENTITY, (len(skeleton), 1))
    rest[skeleton.roots] = root_rotations_to_internal(rest[skeleton.roots], character.source)
    return replace(skeleton, rest_rotations=rest)
