"""A BVH file -> Character: metres, Y up, quaternions; and its channels: columns of values to rotations and back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType

import numpy as np

from viewer.errors import FormatError, of_file
from viewer.formats.bvh_text import BvhJoint, MotionRows, Words, read_hierarchy, read_motion_header
from viewer.formats.files import line_and_column, read_bytes
from viewer.formats.limit_sources import derived_limits
from viewer.formats.units import (
    body_of,
    guess_warnings,
    in_frame,
    lengths_to_internal,
    root_rotations_to_internal,
    root_translations_to_internal,
    settle,
)
from viewer.skeleton import BvhLayout, Character, Clip, JointKind, JointLimits, LimitForm, Skeleton, Source, fk_arrays
from viewer.skeleton.kinematics import frozen_result
from viewer.skeleton.names import find_effectors, unique_names
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import IDENTITY, from_axis_sequence, nearest_equivalent, rotate, to_euler

_BLOCK = 1 << 14
"""Joints times frames converted together, so that intermediate results stay in the processor's cache."""

ROTATION_KINDS = {0: JointKind.FIXED, 1: JointKind.HINGE, 2: JointKind.UNIVERSAL, 3: JointKind.BALL}

_HELD = 1e-8
"""Radians: fewer than three channels hold a rotation if their nearest one is within this, half the sixth decimal."""
_CALM = 0.5 * np.pi
"""If the angles of a joint change by less than this in sum, no equivalent ones are nearer: those differ by half a turn
in two angles."""

_FRAMES = re.compile(rb"(?i)(?:^|[\s}])Frames[ \t]*:\s*\S*")
_FRAMES_AND_TIME = re.compile(_FRAMES.pattern + rb"\s+Frame[ \t]+Time[ \t]*:\s*\S*")

LARGEST_FILE = 1 << 31
"""Most bytes of a BVH file: 2 GiB, more than two hours of 60 joints at 120 frames per second."""


def rotation_axes(channels: tuple[str, ...]) -> str:
    """The axes of the rotation channels in order, such as "zxy"."""
    return "".join(name[0].lower() for name in channels if name.endswith("rotation"))


def usual_order(limits: JointLimits | None) -> str:
    """The order of the angles of a joint that was read without channels: that of its limits, or as in most files."""
    return limits.order if limits is not None and limits.form is LimitForm.EULER else "zxy"


def position_axes(channels: tuple[str, ...]) -> str:
    """The axes of the position channels in order, such as "xyz"."""
    return "".join(name[0].lower() for name in channels if name.endswith("position"))


def first_columns(channels: tuple[tuple[str, ...], ...]) -> list[int]:
    """Per joint the column of its first channel, and at the end the number of columns."""
    return list(accumulate((len(names) for names in channels), initial=0))


def local_rotations(values: Floats, channels: tuple[tuple[str, ...], ...]) -> Floats:
    """(F, J, 4): the product of each joint's rotation channels in file order, R = R1 R2 R3.

    ``values`` (F, C) are those of the channels, rotations in degrees.
    """
    rotations = np.zeros((len(values), len(channels), 4))
    rotations[..., 3] = 1.0
    groups: dict[str, list[tuple[int, list[int]]]] = {}
    for joint, (names, first) in enumerate(zip(channels, first_columns(channels), strict=False)):
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


def local_translations(values: Floats, channels: tuple[tuple[str, ...], ...], offsets: Floats) -> tuple[Ints, Floats]:
    """(T,) the joints with position channels and (F, T, 3) their translations in the file's units.

    A position channel replaces the offset on its axis; an axis without one keeps it.
    """
    moved = [joint for joint, names in enumerate(channels) if position_axes(names)]
    translations = np.repeat(offsets[moved][None], len(values), axis=0)
    firsts = first_columns(channels)
    for place, joint in enumerate(moved):
        for i, name in enumerate(channels[joint]):
            if name.endswith("position"):
                translations[:, place, "xyz".index(name[0].lower())] = values[:, firsts[joint] + i]
    return np.array(moved, dtype=np.intp), translations


def kinds_and_axes(channels: tuple[tuple[str, ...], ...], parents: Ints) -> tuple[tuple[JointKind, ...], Floats]:
    """Kinds (J,) by number of rotation channels (3 ball, 2 universal, 1 hinge, 0 fixed; roots free), axes (J, 2, 3)."""
    kinds: list[JointKind] = []
    axes = np.zeros((len(channels), 2, 3))
    for joint, names in enumerate(channels):
        turns = rotation_axes(names)
        kinds.append(JointKind.FREE if parents[joint] < 0 else ROTATION_KINDS[len(turns)])
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


def held(rotations: Floats, axes: str) -> Bools:
    """(n,) whether angles about ``axes`` express all frames of the rotations (F, n, 4)."""
    if len(axes) == 3:
        return np.ones(rotations.shape[1], dtype=np.bool_)
    nearest = from_axis_sequence(_few_angles(rotations, axes), axes)
    same_side = np.sign(np.einsum("fni,fni->fn", nearest, rotations))[..., None]
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


@dataclass(frozen=True, slots=True, eq=False)
class BvhFile:
    """The contents of a BVH file in its own units and axes; ``values`` (F, C) of the channels as written."""

    joints: list[BvhJoint]
    frame_time: float
    values: Floats
    warnings: list[str]

    @property
    def channels(self) -> tuple[tuple[str, ...], ...]:
        """The channels of each joint, in file order."""
        return tuple(joint.channels or () for joint in self.joints)


def parse_bvh(data: bytes, file: str) -> BvhFile:
    """The joints and the channel values of a file's bytes; ``file`` begins messages."""
    with of_file(file):
        return _parsed(data)


def _parsed(data: bytes) -> BvhFile:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("expected a BVH file with HIERARCHY in UTF-8, found UTF-16", line=1, column=1)
    data = data.removeprefix(b"\xef\xbb\xbf").rstrip(b"\0\x1a")  # old programs end a file with these
    match = _FRAMES_AND_TIME.search(data) or _FRAMES.search(data)
    split = match.end() if match else len(data)
    warnings: list[str] = []
    words = Words(_header(data[:split], warnings))
    if not words.peek():
        raise FormatError("expected HIERARCHY, found an empty file", line=1, column=1)
    joints, more = read_hierarchy(words)
    warnings += more
    width = first_columns(tuple(joint.channels or () for joint in joints))[-1]
    if not words.text[words.start : words.place]:
        warnings.append("no MOTION: a skeleton without frames")
        return BvhFile(joints, 0.0, np.zeros((0, width)), warnings)
    said, frame_time = read_motion_header(words, warnings)
    rest = words.text[words.place :]
    line, column = line_and_column(words.text, words.place)
    whole, start = (rest.encode() + data[split:], 0) if rest else (data, split)
    values = MotionRows(whole, start, line, column, width).read(warnings)
    if len(values) != said:
        warnings.append(f"Frames: says {said}, found {len(values)}")
    return BvhFile(joints, frame_time, values, warnings)


def _header(header: bytes, warnings: list[str]) -> str:
    """The text of the header, with LF line ends."""
    header = header.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return header.decode()
    except UnicodeDecodeError:
        warnings.append("the file is not UTF-8: its names are read as Latin-1")
        return header.decode("latin-1")


def read_bvh(path: Path, name: str, *, units: str | float = "auto", up: str = "auto") -> Character:
    """Read a BVH file."""
    return build(parse_bvh(read_bytes(path, name, LARGEST_FILE), name), name, units=units, up=up)


def build(parsed: BvhFile, name: str, *, units: str | float, up: str) -> Character:
    """A character in metres, Y up, from the result of `parse_bvh`; ``units`` and ``up`` as in `FileFormat.read`."""
    names, warnings = unique_names([joint.name for joint in parsed.joints])
    rotations = local_rotations(parsed.values, parsed.channels)
    offsets = np.array([joint.offset for joint in parsed.joints], dtype=np.float64)
    moved, translations = local_translations(parsed.values, parsed.channels, offsets)
    tree = _Tree(parsed, offsets)
    points = tree.first_points(rotations, moved, translations)
    source = Source(
        path=name,
        format="bvh",
        joint_order=tuple(range(len(names))),
        layout=BvhLayout(tuple(joint.name for joint in parsed.joints), parsed.channels),
    )
    frame = settle(units, up, points)
    source = in_frame(source, frame)
    skeleton = tree.skeleton(Path(name).stem, names, source)
    if frame.guessed and (body := body_of(skeleton, points, source)) is not None:
        # A recognised figure gives a better guess than the extent of all points; mostly both are the same.
        frame, before = settle(units, up, points, body), source
        source = in_frame(source, frame)
        skeleton = skeleton if source == before else tree.skeleton(Path(name).stem, names, source)
    warnings = [*parsed.warnings, *warnings, *guess_warnings(frame)]
    if not len(parsed.values):
        return Character(skeleton, source=source, warnings=tuple(warnings))
    clip = _clip(skeleton, parsed.frame_time, rotations, moved, translations, source)
    clips = MappingProxyType({clip.name: clip})
    limited, limits_from = derived_limits(skeleton, [clip])
    return Character(limited, clips, source, tuple(warnings), limits_from)


class _Tree:
    """The joints of a parsed file as arrays, in the file's units and axes."""

    def __init__(self, parsed: BvhFile, offsets: Floats) -> None:
        self.offsets = offsets
        self.channels = parsed.channels
        self.parents = np.array([joint.parent for joint in parsed.joints], dtype=np.intp)
        tips = [(i, tip) for i, joint in enumerate(parsed.joints) for tip in joint.tips]
        self.tip_parents = np.array([i for i, _ in tips], dtype=np.intp)
        self.tip_offsets = np.array([tip for _, tip in tips], dtype=np.float64).reshape(-1, 3)

    def first_points(self, rotations: Floats, moved: Ints, translations: Floats) -> Floats:
        """World positions (N, 3) of joints and tips in the first frame, or at rest without frames."""
        local, first = self.offsets.copy(), np.tile(IDENTITY, (len(self.offsets), 1))
        if len(rotations):
            local[moved], first = translations[0], rotations[0]
        world = fk_arrays(self.parents, first[None], local[None])
        positions = world.positions[0]
        tips = positions[self.tip_parents] + rotate(world.rotations[0, self.tip_parents], self.tip_offsets)
        return np.concatenate([positions, tips])

    def skeleton(self, name: str, names: tuple[str, ...], source: Source) -> Skeleton:
        """The skeleton in metres, Y up."""
        kinds, axes = kinds_and_axes(self.channels, self.parents)
        roots = self.parents < 0
        offsets = lengths_to_internal(self.offsets, source)
        offsets[roots] = root_translations_to_internal(self.offsets[roots], source)
        rest = np.tile(IDENTITY, (len(names), 1))
        rest[roots] = root_rotations_to_internal(rest[roots], source)
        tip_offsets = lengths_to_internal(self.tip_offsets, source)
        return Skeleton(
            name=name,
            names=names,
            parents=self.parents,
            offsets=offsets,
            rest_rotations=rest,
            kinds=kinds,
            axes=axes,
            tip_parents=self.tip_parents,
            tip_offsets=tip_offsets,
            effectors=find_effectors(names, self.parents, self.tip_parents, tip_offsets),
        )


def _clip(
    skeleton: Skeleton, frame_time: float, rotations: Floats, moved: Ints, translations: Floats, source: Source
) -> Clip:
    """The motion in metres, Y up; the arrays are changed in place."""
    roots = skeleton.roots
    if source.up == "z":
        rotations[:, roots] = root_rotations_to_internal(rotations[:, roots], source)
    at_root = np.isin(moved, roots)
    metres = lengths_to_internal(translations, source)
    metres[:, at_root] = root_translations_to_internal(translations[:, at_root], source)
    return Clip(
        name=skeleton.name,
        frame_time=frame_time,
        rotations=frozen_result(rotations),
        translated=moved,
        translations=frozen_result(metres),
        offsets=skeleton.offsets,
    )
