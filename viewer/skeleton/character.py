"""A character: a skeleton with its motion and how its file stated them; moving a character to another place.

Checks of arguments have messages that say what to pass instead: a common mistake is a solution instead of a pose, or a
character instead of a skeleton.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from types import MappingProxyType
from typing import Literal

from numpy.typing import ArrayLike

from viewer.errors import InputError, quote
from viewer.notebook import png
from viewer.skeleton.attached import Skin
from viewer.skeleton.clip import Clip, clip_like
from viewer.skeleton.skeleton import Pose, Skeleton, moved_roots
from viewer.spatial.checks import Floats, Reduced, check_type, finite_floats, put, reduced, text, unit_quaternions

_INSTEAD = {
    ("skeleton", "Character"): "character.skeleton",
    ("pose", "Solution"): "solution.pose",
    ("pose", "BatchSolution"): "solution.pose(index)",
    ("pose", "Drag"): "drag.solution.pose",
    ("pose", "Clip"): "clip.pose(frame)",
    ("pose", "Skeleton"): "skeleton.relaxed_pose()",
    ("clip", "Character"): "character.clip",
    ("character", "Skeleton"): "viewer.Character(skeleton)",
    ("character", "Clip"): "viewer.Character(skeleton, {clip.name: clip})",
    ("character", "Retargeted"): "retargeted.character",
    ("character", "str"): "viewer.load(file)",
    ("skeleton", "str"): "viewer.load(file).skeleton",
}
"""What to pass, by the expected kind and the type that was found."""


@dataclass(frozen=True, slots=True)
class BvhLayout:
    """Names and channels of a BVH file's joints, with which it is written again.

    Attributes:
        names: per joint as in the file, with repeated names.
        channels: per joint, in file order: "Xposition" .. "Zposition", "Xrotation" .. "Zrotation".
    """

    names: tuple[str, ...]
    channels: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Source:
    """The file's own units, axes and joint order, in which BVH and JSON are written again.

    Attributes:
        path: as the user named it ("sample:biped" too), or None for one built in code.
        format: "bvh", "json", "npz", ...
        metres_per_unit: length of one unit of the file.
        units: its name: m, cm, mm, inch, cmu, raw or the number.
        up: "y" or "z".
        guessed: units or up axis were guessed, not stated by the file or the user.
        joint_order: per joint of the file, the index in the skeleton (files may list children first).
        layout: the BVH channels, or None for other formats.
        license: as the file states it, or "".
        unread: counts of other contents of the file ("1 mesh"), which are left out, with a warning, on writing.
        joint_names: what the file calls the joints, where they have the names of the bodies that they move (robots).
        ranges: those that the file states of hinges, radians, where they limit nothing: no pose is outside two turns.
    """

    path: str | None = None
    format: str = ""
    metres_per_unit: float = 1.0
    units: str = "m"
    up: Literal["y", "z"] = "y"
    guessed: bool = False
    joint_order: tuple[int, ...] = ()
    layout: BvhLayout | None = None
    license: str = ""
    unread: tuple[str, ...] = ()
    joint_names: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __repr__(self) -> str:
        """The file, its format, units and axis: its joints and channels would fill pages."""
        file = f" {quote(self.path)}" if self.path else ""
        guessed = ", guessed" if self.guessed else ""
        return f"<Source{file}: {self.format or 'no file'}, {self.units}, {self.up} up{guessed}>"

    def name_of(self, joint: str) -> str:
        """What the file calls a joint; its own name where the file does not say."""
        return self.joint_names.get(joint, joint)

    def __post_init__(self) -> None:
        scale: object = self.metres_per_unit
        if isinstance(scale, bool) or not isinstance(scale, Real) or not 0.0 < float(scale) < math.inf:
            raise InputError(f"source metres_per_unit: expected a finite number above 0, found {quote(scale)}")
        if self.up not in ("y", "z"):
            raise InputError(f"source up: expected y or z, found {quote(self.up)}")
        for name in ("format", "units", "license"):
            text(getattr(self, name), f"source {name}")


@dataclass(frozen=True, slots=True)
class Character:
    """A skeleton with its motion.

    Attributes:
        skeleton: the joints.
        clips: motion by name, in the file's order.
        source: the file, with its units and axes.
        warnings: what was guessed, repaired or ignored while reading, a line each.
        limits_from: "file"; "learned": from a folder of motion, as the file says;
            "clip": derived from the motion; "human": anatomical; "human+clip": the union of both;
            None: there are no limits.
        skin: meshes that follow the joints, or None; dropped if a skeleton with another number of joints is set.
    """

    skeleton: Skeleton
    clips: Mapping[str, Clip] = field(default_factory=lambda: MappingProxyType({}))
    source: Source = field(default_factory=Source)
    warnings: tuple[str, ...] = ()
    limits_from: str | None = None
    skin: Skin | None = None

    def __post_init__(self) -> None:
        """Check that the parts belong together; clips take the names under which they are listed."""
        check_type(self.skeleton, Skeleton, "character skeleton: expected a Skeleton")
        if not hasattr(self.clips, "items"):
            raise InputError(f"character clips: expected clips by name, found {quote(self.clips)}")
        joints = len(self.skeleton)
        for name, clip in self.clips.items():
            check_type(clip, Clip, f"character clips: {quote(name)}: expected a Clip")
            if len(clip.offsets) != joints:
                found = f"expected motion of {joints} joints, found {len(clip.offsets)}"
                raise InputError(f"character clips: {quote(name)}: {found}")
        check_type(self.source, Source, "character source: expected a Source")
        order = self.source.joint_order
        if order and sorted(order) != list(range(joints)):  # another skeleton does not have the file's layout
            put(self, source=replace(self.source, joint_order=(), layout=None))
        if self.skin is not None and self.skin.skeleton_joints != joints:
            put(self, skin=None)
        lines: object = self.warnings
        if isinstance(lines, str) or not isinstance(lines, Iterable):
            raise InputError(f"character warnings: expected a list of texts, found {quote(lines)}")
        named = {n: clip if clip.name == n else replace(clip, name=n) for n, clip in self.clips.items()}
        if not isinstance(self.clips, MappingProxyType) or any(named[n] is not self.clips[n] for n in named):
            put(self, clips=MappingProxyType(named))
        put(self, warnings=tuple(text(line, "character warnings") for line in self.warnings))
        if self.limits_from is not None:
            put(self, limits_from=text(self.limits_from, "character limits_from"))

    @property
    def limits_derived(self) -> bool:
        """Whether its limits are from no file: they are derived from its motion, or anatomical."""
        return self.limits_from not in (None, "file", "learned")

    def __repr__(self) -> str:
        skeleton, clips = self.skeleton, ", ".join(map(quote, self.clips)) or "no motion"
        return f"<Character {quote(skeleton.name)}: {len(skeleton)} joints, {clips}>"

    def _repr_png_(self) -> bytes | None:
        """The picture that notebooks show: the first frame, or the relaxed pose."""
        return png(self)

    def __reduce__(self) -> Reduced:
        return reduced(self)

    @property
    def clip(self) -> Clip | None:
        """The first clip, or None."""
        return next(iter(self.clips.values()), None)


def placed(character: Character, offset: ArrayLike, rotation: ArrayLike = (0.0, 0.0, 0.0, 1.0)) -> Character:
    """The character at another place, in all its poses and clips.

    Args:
        character: any.
        offset: (3,) metres from the origin to where its own origin is.
        rotation: (4,) world_from_character.
    """
    way, turn = finite_floats(offset, (3,), "placed: offset"), unit_quaternions(rotation, (4,), "placed: rotation")
    skeleton = character.skeleton

    def moved(rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
        return moved_roots(skeleton.roots, rotations, translations, turn, way)

    rests, offsets = moved(skeleton.rest_rotations, skeleton.offsets)
    poses = {name: Pose(*moved(pose.rotations, pose.translations)) for name, pose in skeleton.poses.items()}
    made = replace(skeleton, rest_rotations=rests, offsets=offsets, poses=poses)
    clips = {
        name: replace(clip_like(clip, made, *moved(clip.rotations, clip.local_translations())), keys=clip.keys)
        for name, clip in character.clips.items()
    }
    return replace(character, skeleton=made, clips=MappingProxyType(clips))


def _check(kind: type, found: object, where: str = "") -> None:
    if not isinstance(found, kind):
        raise wrong_kind(found, f"a {kind.__name__.lower()}", where)


check_skeleton, check_pose, check_clip, check_character = (
    partial(_check, kind) for kind in (Skeleton, Pose, Clip, Character)
)
"""Raise InputError unless what is given is one; ``where`` begins the message."""


def check_characters(found: object) -> list[Character]:
    """A character, or a sequence of them, as a list; raises InputError unless it is one or the other, with entries."""
    if not isinstance(found, (list, tuple)):
        check_character(found)
        return [found]  # type: ignore[list-item]  # checked
    if not found:
        raise InputError("characters: expected at least one, found none")
    for index, one in enumerate(found):
        check_character(one, f"characters[{index}]: ")
    return list(found)


def wrong_kind(found: object, expected: str, where: str = "") -> InputError:
    """The error for an argument of the wrong type.

    ``expected`` is the expected kind with its article, such as "a pose"; ``where`` the beginning of the message.
    """
    kind = type(found).__name__
    is_file = isinstance(found, (str, os.PathLike))
    instead = _INSTEAD.get((expected.split()[1], "str" if is_file else kind))
    is_ours = type(found).__module__.startswith("viewer.")
    what = f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind}" if is_ours else quote(found)
    hint = f": pass {instead}" if instead else ""
    return InputError(f"{where}expected {expected}, found {what}{hint}")
