"""Takes as immutable values: keys, pins and tracks of joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import count
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np

from viewer.errors import InputError, quote, unknown_name
from viewer.ik.goals import Quaternion, Vector
from viewer.ik.goals.goal import as_level, as_rotation
from viewer.skeleton import Character, Pose
from viewer.spatial.checks import (
    Bools,
    Floats,
    Ints,
    as_flag,
    as_number,
    finite_floats,
    frozen,
    put,
    triple,
    unit_quaternions,
    whole,
)

_SAME = 1e-5
"""Metres, or quaternion components: pins nearer to each other are the same."""

FRAME_TIME = 1.0 / 30.0
"""Seconds per frame of a take without a clip."""
FRAMES = 120
"""Initial length in frames of a take without a clip."""
MOST_FRAMES = 1_000_000
"""Longest take, frames: nine hours at 30 per second."""

Name = TypeVar("Name")
Value = TypeVar("Value")

_versions = count(1)


class Blend(StrEnum):
    """Interpolation after a key."""

    STEP = "step"
    """Constant until the next key."""
    LINEAR = "slerp"
    """Constant speed along the shortest arc; translations linearly."""
    SMOOTH = "smooth"
    """Continuous velocity: a quaternion spline; translations by cubics."""


BLENDS = tuple(Blend)
"""Blends by their code."""
CODES = {blend: code for code, blend in enumerate(BLENDS)}


class Key(NamedTuple):
    """A key: of a joint, by index, at a frame."""

    joint: int
    frame: int


def grouped(pairs: Iterable[tuple[Name, Value]]) -> dict[Name, list[Value]]:
    """The values that have the same key, by key."""
    groups: dict[Name, list[Value]] = {}
    for name, value in pairs:
        groups.setdefault(name, []).append(value)
    return groups


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """The keys of one joint.

    On a clip, values are differences: rotations d with new = base * d, translations new - base. Else they are local.
    Translations refer to the file's bones, before any was edited.

    Attributes:
        joint: its index.
        frames: (K,) ascending, from 0; K is 1 or more.
        rotations: (K, 4) unit quaternions (x, y, z, w).
        translations: (K, 3) metres in the parent's frame; None: those of the clip or of the take's rest pose.
        blends: (K,) `CODES` of the interpolation after each key.
        tangents: (K, 6) velocities at the keys, for smooth interpolation on both sides: three angular ones in the
            key's own frame, radians per frame, and three of the translation, metres per frame; NaN in either three:
            they follow from the neighbouring keys. None: all do.
    """

    joint: int
    frames: Ints
    rotations: Floats
    translations: Floats | None
    blends: Ints
    tangents: Floats | None = None

    def __post_init__(self) -> None:
        what = f"track of joint {self.joint}"
        frames, blends = frozen(self.frames, np.intp), frozen(self.blends, np.intp)
        keys = len(frames)
        if frames.shape != (keys,) or keys == 0 or frames[0] < 0 or (np.diff(frames) <= 0).any():
            raise InputError(f"{what}: expected frames from 0 in ascending order")
        if blends.shape != (keys,) or blends.min() < 0 or blends.max() >= len(BLENDS):
            raise InputError(f"{what}: expected one blend from 0 to {len(BLENDS) - 1} for each key")
        rotations = frozen(self.rotations)
        unit_quaternions(rotations, (keys, 4), f"{what}: rotations")
        put(self, frames=frames, rotations=rotations, blends=blends)
        if self.translations is not None:
            put(self, translations=frozen(finite_floats(self.translations, (keys, 3), f"{what}: translations")))
        if self.tangents is not None:
            put(self, tangents=_checked_tangents(self.tangents, keys, what))

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def all_tangents(self) -> Floats:
        """(K, 6) the tangents, all NaN if none is set; a copy."""
        return np.full((len(self), 6), np.nan) if self.tangents is None else self.tangents.copy()

    @property
    def alike(self) -> tuple[int, int, bool, bool]:
        """Key by which tracks are grouped, to be interpolated and stored together."""
        return id(self.frames), id(self.blends), self.translations is None, self.tangents is None

    def some(self, keep: Ints | Bools | slice) -> Track:
        """A track of some of the keys, by mask, ascending indices or slice."""
        moved = None if self.translations is None else self.translations[keep]
        tangents = None if self.tangents is None else self.tangents[keep]
        return Track(self.joint, self.frames[keep], self.rotations[keep], moved, self.blends[keep], tangents)

    def index(self, frame: int) -> int | None:
        """Index of the key at a frame, or None."""
        index = int(np.searchsorted(self.frames, frame))
        return index if index < len(self.frames) and self.frames[index] == frame else None


def _checked_tangents(tangents: Floats, keys: int, what: str) -> Floats | None:
    """The tangents of a track, read-only; None if all follow from the neighbours."""
    values = frozen(tangents)
    if values.shape != (keys, 6):
        raise InputError(f"{what}: expected tangents of shape ({keys}, 6), found {values.shape}")
    free = np.isnan(values).reshape(keys, 2, 3)
    if np.isinf(values).any() or (free.any(axis=-1) != free.all(axis=-1)).any():
        raise InputError(f"{what}: tangents: expected three numbers, or three NaN, for rotation and for translation")
    return None if free.all() else values


class Pin(NamedTuple):
    """A pin at the time a key was set.

    Attributes:
        effector: its name.
        position: metres, world frame; None if not pinned.
        rotation: world_from_joint; None if not pinned.
        offset: metres in the joint's frame, added to the effector's own.
        goal: id of the goal; "" for the effector's first goal.
    """

    effector: str
    position: Vector | None
    rotation: Quaternion | None
    offset: Vector = (0.0, 0.0, 0.0)
    goal: str = ""

    def is_near(self, other: Pin) -> bool:
        """Whether it pins the same parts at the same position and rotation, within rounding."""
        for mine, its in zip(self[1:4], other[1:4], strict=True):
            if (mine is None) != (its is None):
                return False
            if mine is not None and np.abs(np.subtract(mine, its)).max() > _SAME:  # type: ignore[arg-type]
                return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalLayer:
    """A goal over time: an effector leaves the motion for a target, and returns.

    Attributes:
        id: unique in a take.
        effector: name of an effector, joint or tip.
        first: frame at which it begins to act.
        full: frames between which it acts with all its weight.
        last: frame at which it ceases to act.
        position: metres in the space; None: free.
        rotation: (x, y, z, w) in the space; None: free.
        space: name of the joint, effector or prop that carries the target; "": the world.
        weight: 0 to 1.
        level: 0 to 3; layers of a lower number come first.
        on: whether it acts.
    """

    id: str
    effector: str
    first: int
    full: tuple[int, int]
    last: int
    position: Vector | None = None
    rotation: Quaternion | None = None
    space: str = ""
    weight: float = 1.0
    level: int = 1
    on: bool = True

    def __post_init__(self) -> None:
        what = f"layer {quote(self.id)}"
        frames = (self.first, *self.full, self.last)
        for frame in frames:
            check_frame(frame, f"{what}: frame")
        if tuple(sorted(frames)) != frames:
            found = ", ".join(map(str, frames))
            raise InputError(f"{what}: expected first <= full from <= full to <= last, found {found}")
        if self.position is None and self.rotation is None:
            raise InputError(f"{what}: expected a position or a rotation, found neither")
        as_flag(self.on, f"{what}: on")
        weight = as_number(self.weight, f"{what}: weight", least=0.0, most=1.0)
        put(self, weight=weight, level=as_level(self.level, f"{what}: level"))
        if self.position is not None:
            put(self, position=triple(self.position, f"{what}: position"))
        if self.rotation is not None:
            put(self, rotation=as_rotation(self.rotation, f"{what}: rotation"))


class PlantedContact(NamedTuple):
    """Frames in which a point of a foot stands still.

    ``foot`` is the name of its joint, ``point`` "heel" (the ankle) or "ball"; ``first`` and ``last`` are included;
    ``ignored``: it is not planted.
    """

    foot: str
    point: str
    first: int
    last: int
    ignored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFeet:
    """Feet that stand still while they touch the ground: on the keys, below the goals over time.

    Attributes:
        contacts: when they touch, in any order.
        blend: seconds in which corrections come and go.
        pelvis: metres that the pelvis may move at most; None: as far as the legs need.
        weight: 0 to 1, from the motion to the planted one.
        on: whether they are planted.
    """

    contacts: tuple[PlantedContact, ...] = ()
    blend: float = 0.3
    pelvis: float | None = None
    weight: float = 1.0
    on: bool = True

    def __post_init__(self) -> None:
        for one in self.contacts:
            if not (type(one.first) is type(one.last) is int and 0 <= one.first <= one.last < MOST_FRAMES):
                what = f"contact of {quote(one.foot)}"
                check_frame(one.first, f"{what}: first frame")
                check_frame(one.last, f"{what}: last frame")
                if one.first > one.last:
                    raise InputError(f"{what}: expected frames in order, found {one.first} to {one.last}")
            if one.point not in {"heel", "ball"}:
                found = f'expected a point "heel" or "ball", found {quote(one.point)}'
                raise InputError(f"contact of {quote(one.foot)}: {found}")
        as_flag(self.on, "feet: on")
        for name, least, most in (("weight", 0.0, 1.0), ("blend", 0.01, 10.0), ("pelvis", 0.0, 1e6)):
            value = getattr(self, name)
            if value is not None or name != "pelvis":
                put(self, **{name: as_number(value, f"feet: {name}", least=least, most=most)})


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Stretch:
    """Frames between keys with the same pins, of planted feet or of layers, solved once and cached.

    Attributes:
        first: the first of these frames.
        digest: of the input of the solve: while that is unchanged, the frames are kept; "" of planted feet.
        joints: (J',) whose rotations were solved; empty if the pins could not be held.
        rotations: (N, J', 4) local.
        moved: (M,) joints whose translations were solved.
        translations: (N, M, 3) metres, on bones as edited.
        layered: whether they are of layers.
        planted: whether they are of planted feet.
    """

    first: int
    digest: str
    joints: Ints
    rotations: Floats
    moved: Ints
    translations: Floats
    layered: bool = False
    planted: bool = False

    def __post_init__(self) -> None:
        put(self, rotations=frozen(self.rotations), translations=frozen(self.translations))
        put(self, joints=frozen(self.joints, np.intp), moved=frozen(self.moved, np.intp))
        shapes = (len(self.rotations), len(self.joints), 4), (len(self.rotations), len(self.moved), 3)
        if (self.rotations.shape, self.translations.shape) != shapes:
            raise InputError("solved frames: expected rotations (N, J, 4) and translations (N, M, 3)")

    def __len__(self) -> int:
        return len(self.rotations)


@dataclass(frozen=True, slots=True, eq=False)
class Take:
    """The keys of a document, on one clip or without a clip.

    Attributes:
        base: name of the clip below the keys, or None.
        frame_time: seconds per frame; with a clip, the clip's frame time is used instead.
        first, last: the played and exported range, both included.
        rest: the pose of joints without keys if there is no clip; None on a clip, and before the first key.
        tracks: by joint, ascending.
        pins: by key frame; frames without pins are absent.
        layers: goals over time, in order: of two for one effector the later acts on the result of the earlier.
        feet: planted feet, or None.
        solved: frames solved between keys, in order; then those of planted feet, then of layers.
        version: unique for every take of this process.
    """

    base: str | None = None
    frame_time: float = FRAME_TIME
    first: int = 0
    last: int = FRAMES - 1
    rest: Pose | None = None
    tracks: tuple[Track, ...] = ()
    pins: Mapping[int, tuple[Pin, ...]] = field(default_factory=dict)
    layers: tuple[GoalLayer, ...] = ()
    feet: PlantedFeet | None = None
    solved: tuple[Stretch, ...] = ()
    version: int = field(init=False, compare=False, default_factory=_versions.__next__)

    def __post_init__(self) -> None:
        """Check the range, and let tracks of the same frames share their arrays."""
        check_range(self.first, self.last)
        if not 0.0 < self.frame_time < float("inf"):
            raise InputError(f"frame time: expected more than 0 seconds, found {self.frame_time}")
        joints = [track.joint for track in self.tracks]
        if sorted(set(joints)) != joints:
            raise InputError("take: expected one track for each joint, in order")
        if self.tracks and self.base is None and self.rest is None:
            raise InputError("take: expected a rest pose for keys that are on no clip")
        ids = [layer.id for layer in self.layers]
        if len(set(ids)) != len(ids):
            raise InputError(f"take: expected layers of different ids, found {', '.join(map(quote, ids))}")
        put(self, tracks=sharing(self.tracks), pins=MappingProxyType(dict(sorted(self.pins.items()))))

    @property
    def frames(self) -> tuple[int, ...]:
        """Frames with keys, ascending."""
        return _frames(self)

    @property
    def is_empty(self) -> bool:
        """Whether it has no keys."""
        return not self.tracks

    @property
    def is_plain(self) -> bool:
        """Whether it has neither keys nor layers nor planted feet, and so leaves the motion below unchanged."""
        return not self.tracks and not self.layers and self.feet is None

    @property
    def end(self) -> int:
        """Last frame that is played or has a key."""
        return max(self.last, *self.frames[-1:]) if self.tracks else self.last

    @property
    def is_trimmed(self) -> bool:
        """Whether it has keys after the played range, which new keys then do not extend."""
        return self.end > self.last

    def track(self, joint: int) -> Track | None:
        """The track of a joint, or None."""
        return _by_joint(self).get(joint)

    def keys_of(self, joint: int) -> tuple[int, ...]:
        """Frames with keys of a joint, ascending."""
        track = self.track(joint)
        return () if track is None else tuple(track.frames.tolist())

    def keys_at(self, frame: int) -> tuple[Key, ...]:
        """All keys at a frame."""
        return tuple(Key(track.joint, frame) for track in self.tracks if track.index(frame) is not None)

    def has(self, key: Key) -> bool:
        """Whether a key exists."""
        track = self.track(key.joint)
        return track is not None and track.index(key.frame) is not None

    def same_as(self, other: Take) -> bool:
        """Whether all fields but the version are equal, numbers to the last bit."""
        return same(self, other)


@lru_cache(maxsize=4)
def _by_joint(take: Take) -> dict[int, Track]:
    return {track.joint: track for track in take.tracks}


def layer_of(take: Take | None, name: str) -> GoalLayer:
    """The layer with an id."""
    layers = () if take is None else take.layers
    for layer in layers:
        if layer.id == name:
            return layer
    raise InputError(unknown_name("layer", name, [layer.id for layer in layers]))


def check_range(first: int, last: int) -> None:
    """Raise InputError unless these are frames in order."""
    for name, frame in (("first", first), ("last", last)):
        check_frame(frame, f"{name} frame")
    if first > last:
        raise InputError(f"range: expected the first frame not after the last, found {first} to {last}")


def check_frame(frame: object, what: str = "frame") -> None:
    """Raise InputError unless this is a valid frame."""
    whole(frame, what, most=MOST_FRAMES - 1)


@lru_cache(maxsize=16)
def _frames(take: Take) -> tuple[int, ...]:
    different = {id(track.frames): track.frames for track in take.tracks}
    if not different:
        return ()
    return tuple(np.unique(np.concatenate([*different.values()])).tolist())


def sharing(tracks: tuple[Track, ...]) -> tuple[Track, ...]:
    """The tracks, sharing equal arrays of frames and blends, so that they are interpolated together."""
    known: dict[bytes, Ints] = {}
    seen: dict[int, Ints] = {}

    def one_of_all(array: Ints) -> Ints:
        if id(array) not in seen:
            seen[id(array)] = known.setdefault(array.tobytes(), array)
        return seen[id(array)]

    for track in tracks:
        put(track, frames=one_of_all(track.frames), blends=one_of_all(track.blends))
    return tuple(tracks)


def same(one: object, other: object) -> bool:
    """Whether two values are equal in all that they are made of, numbers to the last bit; NaN equals NaN.

    Of a character, the reader's warnings and the skin do not count.
    """
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    if one is other or one == other:
        return True
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    if not is_dataclass(one) or type(one) is not type(other):
        return False
    skip = {"warnings", "skin"} if isinstance(one, Character) else set()
    names = [field.name for field in fields(one) if field.compare and field.name not in skip]
    return all(same(getattr(one, name), getattr(other, name)) for name in names)
