"""Character -> a BVH file in the file's own units, axes and channels, and what a reader would guess of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from viewer.errors import InputError, quote
from viewer.formats.bvh.channels import channel_angles, held, kinds_and_axes, position_axes, rotation_axes
from viewer.formats.bvh.motion import DEFAULT_FRAME_TIME
from viewer.formats.files import write_whole
from viewer.formats.progress import watched
from viewer.formats.units import (
    body_of,
    in_words,
    lengths_to_source,
    root_rotations_to_internal,
    root_rotations_to_source,
    root_translations_to_source,
    settle,
)
from viewer.skeleton.character import BvhLayout, Character, Source
from viewer.skeleton.clip import Clip
from viewer.skeleton.kinematics import depths, fk, tip_positions
from viewer.skeleton.limits import JointKind, LimitForm
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.skeleton.tree import depth_first
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import IDENTITY

_POSITIONS = ("Xposition", "Yposition", "Zposition")
_USUAL_ORDER = "zxy"
_NOISE = 1e-12


def rotation_channels(order: str) -> tuple[str, ...]:
    """Channel names of an order such as "zxy"."""
    return tuple(f"{axis.upper()}rotation" for axis in order)


def usual_channels(skeleton: Skeleton) -> tuple[tuple[str, ...], ...]:
    """Roots: positions XYZ and rotations ZXY; others ZXY, or the order of their limits; slides positions as well."""
    channels: list[tuple[str, ...]] = []
    for kind, limits, parent in zip(skeleton.kinds, skeleton.limits, skeleton.parents.tolist(), strict=True):
        order = limits.order if limits is not None and limits.form is LimitForm.EULER else _USUAL_ORDER
        positions = _POSITIONS if parent < 0 or kind is JointKind.SLIDE else ()
        channels.append(positions + rotation_channels(order))
    return tuple(channels)


def own_channels(skeleton: Skeleton, layout: BvhLayout | None) -> tuple[tuple[str, ...], ...]:
    """Those that the joints were read with; the usual ones where there is no layout, or one of another skeleton."""
    fits = layout is not None and len(layout.channels) == len(skeleton)
    return layout.channels if layout is not None and fits else usual_channels(skeleton)


def own_kinds(skeleton: Skeleton, layout: BvhLayout | None) -> tuple[JointKind, ...]:
    """(J,) the joints' kinds as they come back from those channels."""
    return kinds_and_axes(own_channels(skeleton, layout), skeleton.parents)[0]


def channels_for(
    skeleton: Skeleton, layout: BvhLayout | None, rotations: Floats, translations: Floats, offsets: Floats
) -> tuple[tuple[tuple[str, ...], ...], list[str]]:
    """The channels of every joint, able to hold the motion, and a warning for each that had to be widened.

    Args:
        skeleton: the joints.
        layout: how they were read, or None.
        rotations: (F, J, 4) local, in the axes that are written.
        translations: (F, J, 3) local, in the units and axes that are written.
        offsets: (J, 3) as written in the hierarchy.
    """
    channels = list(own_channels(skeleton, layout))
    # Units were converted there and back: differences in the last digits are no motion.
    noise = _NOISE * np.maximum(np.abs(offsets), np.abs(translations))
    moves = np.any(np.abs(translations - offsets) > noise, axis=0)
    warnings: list[str] = []
    for joint, names in enumerate(channels):
        widened = _with_positions(names, moves[joint].tolist())
        widened = _with_rotations(widened, rotations[:, joint : joint + 1])
        if widened != names:
            added = ", ".join(name for name in widened if name not in names)
            warnings.append(f"joint {quote(skeleton.names[joint])}: its channels cannot hold the motion; added {added}")
            channels[joint] = widened
    return tuple(channels), warnings


def _with_positions(names: tuple[str, ...], moves: list[bool]) -> tuple[str, ...]:
    has = position_axes(names)
    if not any(moving and axis not in has for axis, moving in zip("xyz", moves, strict=True)):
        return names
    return _POSITIONS + rotation_channels(rotation_axes(names))


def _with_rotations(names: tuple[str, ...], rotations: Floats) -> tuple[str, ...]:
    axes = rotation_axes(names)
    if held(rotations, axes).all():
        return names
    return names + rotation_channels("".join(axis for axis in _USUAL_ORDER if axis not in axes))


def channel_values(channels: tuple[tuple[str, ...], ...], rotations: Floats, translations: Floats) -> list[Floats]:
    """Per joint (F, n): its channels' values, rotations in degrees; joints of one rotation order are done together."""
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


_DECIMALS = 6
_DEEPEST_INDENT = 40
"""Tabs: the indentation of a chain of 5,000 joints would be 200 times the rest of its file."""
_ERROR = 5e-7
"""What rounding lengths may move a joint by, and rounding angles again, as a part of the figure's size."""
_LENGTH_ERROR = 0.5 * math.sqrt(3.0)
"""Of one offset, in units of its last decimal: half of it on each of three axes."""
_ANGLE_ERROR = 0.5 * 3.0 * math.radians(1.0)
"""Radians of one joint, in units of the last decimal of its degrees: half of it on each of three channels."""
_UNSAFE_NAME = re.compile(r"[\x00-\x1f\x7f]|^[ \t]|[ \t]$|(?<=[ \t])\{|^\{(?=[ \t]|$)")
"""What would end a name early when it is read again."""
_BRACES = re.compile(r"[{}]")
"""Replaced together, where one has to be: no half of a pair is left."""


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
    clip = character.clip if clip is None else clip
    rotations, translations, offsets = _in_source(skeleton, clip, source)
    if not (np.isfinite(translations).all() and np.isfinite(lengths_to_source(skeleton.tip_offsets, source)).all()):
        raise InputError("cannot be written as BVH: expected lengths within float range in its units")
    channels, warnings = channels_for(skeleton, source.layout, rotations, translations, offsets)
    values = channel_values(channels, rotations, translations)
    lengths, angles = _decimals(skeleton, clip, source)
    if precision is not None:
        lengths = angles = precision
    names, renamed = _names(skeleton, source)
    order = depth_first(skeleton)
    header = _hierarchy(skeleton, source, order, names, channels, f"{{:z.{lengths}f}}")
    frame_time = clip.frame_time if clip is not None else DEFAULT_FRAME_TIME
    decimals = [lengths if c.endswith("position") else angles for joint in order for c in channels[joint]]
    rows = np.concatenate([values[joint] for joint in order], axis=1)
    rows = rows if decimals else rows[:0]  # nobody finds a row without numbers
    # "z": no minus sign before a number that is rounded to zero.
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
    # Only what moves is converted: what stands still then equals its offset to the last bit.
    moving = np.flatnonzero((local != skeleton.offsets).any(axis=(0, 2)))
    translations[:, moving] = local[:, moving] / source.metres_per_unit
    at_root = [joint for joint in moving.tolist() if skeleton.parents[joint] < 0]
    translations[:, at_root] = root_translations_to_source(local[:, at_root], source)
    return rotations, translations, offsets


def _decimals(skeleton: Skeleton, clip: Clip | None, source: Source) -> tuple[int, int]:
    """Decimals of lengths and of angles that keep every place to 1e-6 of the figure's size.

    Rounding errors add up along a chain: at worst by one joint's for each joint on the way. Lengths are measured
    against the figure, whose 1e-8 units have to keep their digits as well as 100.
    """
    poses = [skeleton.rest_pose()] if clip is None or not len(clip) else [skeleton.rest_pose(), clip.pose(0)]
    extents = [_extent(skeleton, pose) for pose in poses]
    # A single point has no size: how far it is from the origin stands for it.
    lengths = skeleton.offsets if clip is None else np.append(skeleton.offsets, clip.translations)
    away = float(np.abs(lengths).max()) or 1.0
    size = min((extent for extent in extents if extent > 0.0), default=away) / source.metres_per_unit
    if not (0.0 < size < math.inf and math.isfinite(max(extents) / source.metres_per_unit)):
        raise InputError("cannot be written as BVH: expected lengths within float range in its units")
    depth = int(depths(skeleton.parents).max(initial=0)) + 1
    of_lengths = math.ceil(math.log10(_LENGTH_ERROR * depth / _ERROR) - math.log10(size))
    of_angles = math.ceil(math.log10(_ANGLE_ERROR * depth / _ERROR))
    return max(_DECIMALS, of_lengths), max(_DECIMALS, of_angles)


def _extent(skeleton: Skeleton, pose: Pose) -> float:
    """Metres: the longest side of the box around joints and tips."""
    world = fk(skeleton, pose)
    points = np.concatenate([world.positions, tip_positions(skeleton, world)])
    return float(np.ptp(points, axis=0).max())


def _names(skeleton: Skeleton, source: Source) -> tuple[list[str], list[str]]:
    """Names as they were read, and a warning for each that BVH cannot hold."""
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
    order: list[int],
    names: list[str],
    channels: tuple[tuple[str, ...], ...],
    length: str,
) -> Iterator[str]:
    depth = depths(skeleton.parents)
    offsets = np.array(lengths_to_source(skeleton.offsets, source))
    offsets[skeleton.roots] = root_translations_to_source(skeleton.offsets[skeleton.roots], source)
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
        # The format wants an End Site on every leaf; a file that was read without one is written without.
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


def misread(character: Character) -> list[str]:
    """A warning where the guess would not be the units and axes that ``source`` says, with what to read it by."""
    skeleton, source, clip = character.skeleton, character.source, character.clip
    world = fk(skeleton, clip.pose(0) if clip else skeleton.rest_pose())
    points = np.concatenate([world.positions, tip_positions(skeleton, world)])
    points = root_translations_to_source(points, source)
    body = body_of(_as_read(character), points, source.metres_per_unit)
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
    """The skeleton with the rest rotations that a reader gives it: none, but for the turn of the roots to Y up."""
    skeleton = character.skeleton
    rest = np.tile(IDENTITY, (len(skeleton), 1))
    rest[skeleton.roots] = root_rotations_to_internal(rest[skeleton.roots], character.source)
    return replace(skeleton, rest_rotations=rest)
