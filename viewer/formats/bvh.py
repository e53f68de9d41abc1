"""BVH files and characters, both ways: channels of a file's own units and axes, and metres, Y up, quaternions.

A file is written in the units, axes and channels it was read in, with warnings of what BVH cannot hold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from viewer.errors import InputError, quote
from viewer.formats.bvh_text import DEFAULT_FRAME_TIME, BvhFile, parse_bvh
from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import read_bytes, write_whole
from viewer.formats.limit_sources import derived_limits
from viewer.formats.units import (
    body_of,
    guess_warnings,
    in_frame,
    in_words,
    lengths_to_internal,
    lengths_to_source,
    root_rotations_to_internal,
    root_rotations_to_source,
    root_translations_to_internal,
    root_translations_to_source,
    settle,
)
from viewer.progress import watched
from viewer.skeleton import (
    BvhLayout,
    Character,
    Clip,
    JointKind,
    JointLimits,
    LimitForm,
    Skeleton,
    Source,
    fk,
    fk_arrays,
)
from viewer.skeleton.kinematics import depths, frozen_result, joints_and_tips
from viewer.skeleton.names import find_effectors, unique_names
from viewer.skeleton.tree import depth_first
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import IDENTITY, dot, from_axis_sequence, nearest_equivalent, rotate, to_euler

_BLOCK = 1 << 14
"""Joints times frames converted together, so that intermediate results stay in the processor's cache."""

_ROTATION_KINDS = {0: JointKind.FIXED, 1: JointKind.HINGE, 2: JointKind.UNIVERSAL, 3: JointKind.BALL}

_HELD = 1e-8
"""Radians: fewer than three channels hold a rotation if their nearest one is within this, half the sixth decimal."""
_CALM = 0.5 * np.pi
"""If the angles of a joint change by less than this in sum, no equivalent ones are nearer: those differ by half a turn
in two angles."""

_LARGEST_FILE = 1 << 31
"""Most bytes of a BVH file: 2 GiB, more than two hours of 60 joints at 120 frames per second."""

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


# --- channels


def rotation_axes(channels: tuple[str, ...]) -> str:
    """The axes of the rotation channels in order, such as "zxy"."""
    return "".join(name[0].lower() for name in channels if name.endswith("rotation"))


def usual_order(limits: JointLimits | None) -> str:
    """The order of the angles of a joint that was read without channels: that of its limits, or as in most files."""
    return limits.order if limits is not None and limits.form is LimitForm.EULER else "zxy"


def _position_axes(channels: tuple[str, ...]) -> str:
    """The axes of the position channels in order, such as "xyz"."""
    return "".join(name[0].lower() for name in channels if name.endswith("position"))


def _first_columns(channels: Channels) -> list[int]:
    """Per joint the column of its first channel, and at the end the number of columns."""
    return list(accumulate((len(names) for names in channels), initial=0))


def _local_rotations(values: Floats, channels: Channels) -> Floats:
    """(F, J, 4): the product of each joint's rotation channels in file order, R = R1 R2 R3.

    ``values`` (F, C) are those of the channels, rotations in degrees.
    """
    rotations = np.zeros((len(values), len(channels), 4))
    rotations[..., 3] = 1.0
    groups: dict[str, list[tuple[int, list[int]]]] = {}
    for joint, (names, first) in enumerate(zip(channels, _first_columns(channels), strict=False)):
        columns = [first + i for i, name in enumerate(names) if name.endswith("rotation")]
        if columns:
            groups.setdefault(rotation_axes(names), []).append((joint, columns))
    for axes, members in groups.items():
        joints = np.array([joint for joint, _ in members])
        columns_of = np.array([columns for _, columns in members])
        step = max(1, _BLOCK // len(members))
        for start in range(0, len(values), step):
            angles = np.radians(values[start : start + step, columns_of])
            rotations[start : start + step, joints] = from_axis_sequence(angles, axes)
    return rotations


def _local_translations(values: Floats, channels: Channels, offsets: Floats) -> tuple[Ints, Floats]:
    """(T,) the joints with position channels and (F, T, 3) their translations in the file's units.

    A position channel replaces the offset on its axis; an axis without one keeps it.
    """
    moved = [joint for joint, names in enumerate(channels) if _position_axes(names)]
    translations = np.repeat(offsets[moved][None], len(values), axis=0)
    firsts = _first_columns(channels)
    for place, joint in enumerate(moved):
        for i, name in enumerate(channels[joint]):
            if name.endswith("position"):
                translations[:, place, "xyz".index(name[0].lower())] = values[:, firsts[joint] + i]
    return np.array(moved, dtype=np.intp), translations


def _kinds_and_axes(channels: Channels, parents: Ints) -> tuple[tuple[JointKind, ...], Floats]:
    """Kinds (J,) by number of rotation channels (3 ball, 2 universal, 1 hinge, 0 fixed; roots free), axes (J, 2, 3)."""
    kinds: list[JointKind] = []
    axes = np.zeros((len(channels), 2, 3))
    for joint, names in enumerate(channels):
        turns = rotation_axes(names)
        kinds.append(JointKind.FREE if parents[joint] < 0 else _ROTATION_KINDS[len(turns)])
        if kinds[-1].hinged:
            for place, axis in enumerate(turns):
                axes[joint, place, "xyz".index(axis)] = 1.0
    return tuple(kinds), axes


def channel_angles(rotations: Floats, axes: str) -> Floats:
    """Radians (F, n, len(axes)) of rotations (F, n, 4), continuous over the frames.

    Each frame takes the equivalent angles that are nearest to those of the frame before, so that no angle jumps by
    more than half a turn. Fewer than three angles give the nearest rotation that they can express.
    """
    if len(axes) < 3:
        return np.asarray(np.unwrap(_few_angles(rotations, axes), axis=0)) if len(rotations) else _none(rotations, axes)
    angles = to_euler(rotations, axes)
    direct = np.asarray(np.unwrap(angles, axis=0)) if len(angles) else angles
    rough = np.abs(np.diff(direct, axis=0)).sum(axis=-1).max(axis=0, initial=0.0) >= _CALM
    if rough.any():
        followed = angles[:, rough]
        for frame in range(1, len(followed)):
            followed[frame] = nearest_equivalent(followed[frame], followed[frame - 1])
        direct[:, rough] = followed
    return direct


def _held(rotations: Floats, axes: str) -> Bools:
    """(n,) whether angles about ``axes`` express all frames of the rotations (F, n, 4)."""
    if len(axes) == 3:
        return np.ones(rotations.shape[1], dtype=np.bool_)
    nearest = from_axis_sequence(_few_angles(rotations, axes), axes)
    same_side = np.sign(dot(nearest, rotations))[..., None]
    apart = 2.0 * np.linalg.norm(nearest * same_side - rotations, axis=-1)
    return np.asarray((apart < _HELD).all(axis=0))


def _few_angles(rotations: Floats, axes: str) -> Floats:
    """Radians (F, n, 0 to 2) of the nearest rotations to (F, n, 4) that up to two angles can express.

    R1(a) R2(b) has the quaternion w = cos a/2 cos b/2, x = sin a/2 cos b/2, y = cos a/2 sin b/2 on its axes and
    z = sin a/2 sin b/2 on their cross product: its dot product with any other is a sum of one cosine of
    (a + b) / 2 and one of (a - b) / 2, and greatest at these two arctangents.
    """
    on = ["xyz".index(axis) for axis in axes]
    w = rotations[..., 3]
    if not on:
        return _none(rotations, axes)
    if len(on) == 1:
        return 2.0 * np.arctan2(rotations[..., on], w[..., None])
    parity = 1.0 if (on[1] - on[0]) % 3 == 1 else -1.0
    x, y, z = rotations[..., on[0]], rotations[..., on[1]], parity * rotations[..., 3 - sum(on)]
    total, difference = np.arctan2(x + y, w - z), np.arctan2(x - y, w + z)
    angles = np.stack([total + difference, total - difference], axis=-1)
    return np.asarray(angles - 2.0 * np.pi * np.rint(angles / (2.0 * np.pi)))


def _none(rotations: Floats, axes: str) -> Floats:
    return np.zeros((*rotations.shape[:-1], len(axes)))


# --- reading


def read_bvh(path: Path, name: str, *, units: str | float = "auto", up: str = "auto") -> Character:
    """Read a BVH file."""
    return build(parse_bvh(read_bytes(path, name, _LARGEST_FILE), name), name, units=units, up=up)


def build(parsed: BvhFile, name: str, *, units: str | float, up: str) -> Character:
    """A character in metres, Y up, from the result of `parse_bvh`; ``units`` and ``up`` as in `FileFormat.read`."""
    names, warnings = unique_names([joint.name for joint in parsed.joints])
    parents = np.array([joint.parent for joint in parsed.joints], dtype=np.intp)
    offsets = np.array([joint.offset for joint in parsed.joints], dtype=np.float64)
    kinds, axes = _kinds_and_axes(parsed.channels, parents)
    tips = [(i, tip) for i, joint in enumerate(parsed.joints) for tip in joint.tips]
    tree = RecordedTree(
        names=names,
        parents=parents,
        offsets=offsets,
        rest_rotations=np.tile(IDENTITY, (len(names), 1)),
        kinds=kinds,
        axes=axes,
        tip_parents=np.array([i for i, _ in tips], dtype=np.intp),
        tip_offsets=np.array([tip for _, tip in tips], dtype=np.float64).reshape(-1, 3),
    )
    rotations = _local_rotations(parsed.values, parsed.channels)
    motion = RecordedMotion(parsed.frame_time, rotations, *_local_translations(parsed.values, parsed.channels, offsets))
    source = Source(
        path=name,
        format="bvh",
        joint_order=tuple(range(len(names))),
        layout=BvhLayout(tuple(joint.name for joint in parsed.joints), parsed.channels),
    )
    return character_of(tree, motion, source, (units, up), [*parsed.warnings, *warnings])


class RecordedMotion(NamedTuple):
    """Frame time, seconds, and the joints' motion in a file's units and axes.

    ``rotations`` (F, J, 4), and of the joints ``moved`` (T,) ``translations`` (F, T, 3).
    """

    frame_time: float
    rotations: Floats
    moved: Ints
    translations: Floats


class RecordedTree(NamedTuple):
    """The joints of a file, parents first, and its end sites, as in `Skeleton`, in the file's units and axes."""

    names: tuple[str, ...]
    parents: Ints
    offsets: Floats
    rest_rotations: Floats
    kinds: tuple[JointKind, ...]
    axes: Floats
    tip_parents: Ints
    tip_offsets: Floats

    def first_points(self, motion: RecordedMotion) -> Floats:
        """World positions (N, 3) of joints and tips in the first frame, or at rest without frames."""
        local, first = self.offsets.copy(), self.rest_rotations
        if len(motion.rotations):
            local[motion.moved], first = motion.translations[0], motion.rotations[0]
        world = fk_arrays(self.parents, first[None], local[None])
        positions = world.positions[0]
        tips = positions[self.tip_parents] + rotate(world.rotations[0, self.tip_parents], self.tip_offsets)
        return np.concatenate([positions, tips])

    def skeleton(self, name: str, source: Source) -> Skeleton:
        """The skeleton in metres, Y up."""
        roots = self.parents < 0
        offsets, rest = lengths_to_internal(self.offsets, source), self.rest_rotations.copy()
        offsets[roots] = root_translations_to_internal(self.offsets[roots], source)
        rest[roots] = root_rotations_to_internal(rest[roots], source)
        tips = lengths_to_internal(self.tip_offsets, source)
        effectors = find_effectors(self.names, self.parents, self.tip_parents, tips)
        own = self._replace(offsets=offsets, rest_rotations=rest, tip_offsets=tips)._asdict()
        return Skeleton(name=name, effectors=effectors, **own)


def character_of(
    tree: RecordedTree, motion: RecordedMotion, source: Source, stated: tuple[str | float, str], warnings: list[str]
) -> Character:
    """A recorded figure in metres, Y up, with limits; the arrays of its motion are changed in place.

    Units and axes are as ``stated``, as in `FileFormat.read`; where they are "auto", they are guessed, and a warning
    says so. ``source`` has neither.
    """
    points, name = tree.first_points(motion), Path(str(source.path)).stem
    frame = settle(*stated, points)
    source = in_frame(source, frame)
    skeleton = tree.skeleton(name, source)
    if frame.guessed and (body := body_of(skeleton, points, source)) is not None:
        # A recognised figure gives a better guess than the extent of all points; mostly both are the same.
        frame, before = settle(*stated, points, body), source
        source = in_frame(source, frame)
        skeleton = skeleton if source == before else tree.skeleton(name, source)
    clips = {name: _clip(skeleton, motion, source)} if len(motion.rotations) else {}
    limited, limits_from = derived_limits(skeleton, clips.values())
    said = (*warnings, *guess_warnings(frame))
    return Character(limited, MappingProxyType(clips), source, said, limits_from)


def _clip(skeleton: Skeleton, motion: RecordedMotion, source: Source) -> Clip:
    roots, rotations = skeleton.roots, motion.rotations
    if source.up == "z":
        rotations[:, roots] = root_rotations_to_internal(rotations[:, roots], source)
    at_root = np.isin(motion.moved, roots)
    metres = lengths_to_internal(motion.translations, source)
    metres[:, at_root] = root_translations_to_internal(motion.translations[:, at_root], source)
    return Clip(
        name=skeleton.name,
        frame_time=motion.frame_time,
        rotations=frozen_result(rotations),
        translated=motion.moved,
        translations=frozen_result(metres),
        offsets=skeleton.offsets,
    )


# --- writing


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
        widened, axes, has = names, rotation_axes(names), _position_axes(names)
        if any(moving and axis not in has for axis, moving in zip("xyz", moves[joint].tolist(), strict=True)):
            widened = _POSITIONS + _rotation_channels(axes)
        if not _held(rotations[:, joint : joint + 1], axes).all():
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
        from viewer.formats.save import left_out  # noqa: PLC0415 - reading needs no writers

        warnings += left_out(character, "BVH", _kinds_and_axes(channels, character.skeleton.parents)[0])
    return warnings


def bvh_lines(character: Character, *, precision: int | None = None) -> tuple[Iterator[str], list[str]]:
    """The lines of the file, each with its line end, and warnings."""
    if precision is not None and not 0 <= precision <= 17:
        raise InputError(f"precision: expected 0 to 17 decimals, found {precision}")
    skeleton, clip, source = character.skeleton, character.clip, character.source
    rotations, translations, offsets = in_source(skeleton, clip, source)
    if not (np.isfinite(translations).all() and np.isfinite(lengths_to_source(skeleton.tip_offsets, source)).all()):
        raise InputError("cannot be written as BVH: expected lengths within float range in its units")
    channels, warnings = _channels_for(skeleton, source.layout, rotations, translations, offsets)
    values = _channel_values(channels, rotations, translations)
    lengths, angles = decimals_of(skeleton, clip, source)
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


def in_source(skeleton: Skeleton, clip: Clip | None, source: Source) -> tuple[Floats, Floats, Floats]:
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


def decimals_of(skeleton: Skeleton, clip: Clip | None, source: Source) -> tuple[int, int]:
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
