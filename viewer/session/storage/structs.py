"""The parts of a session file as data types: what is written, and what is accepted."""

from __future__ import annotations

from typing import Any

import msgspec

from viewer.session.storage.arrays import Packed

Array = list[Any] | Packed
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


class LimitsData(msgspec.Struct, omit_defaults=True):
    """Ranges of one joint: radians, metres of a slide; a bound of null is none."""

    form: str
    lower: list[float | None]
    upper: list[float | None]
    twist_axis: int = 1
    order: str = "xyz"


class EffectorData(msgspec.Struct):
    """An effector definition; metres in the frame of the joint of that number."""

    name: str
    joint: int
    offset: Vector
    goal: str


class PoseData(msgspec.Struct):
    """A pose: (J, 4) and (J, 3)."""

    rotations: Array
    translations: Array


class SkeletonData(msgspec.Struct, omit_defaults=True):
    """A skeleton: the fields of `viewer.skeleton.Skeleton`."""

    name: str
    names: list[str]
    parents: Array
    offsets: Array
    rest_rotations: Array
    kinds: list[str]
    axes: Array
    limits: list[LimitsData | None]
    stiffness: Array
    tip_parents: Array
    tip_offsets: Array
    effectors: list[EffectorData] = []
    poses: dict[str, PoseData] = {}
    spreads: Array | None = None
    spread_matrices: Array | None = None


class ClipData(msgspec.Struct):
    """A clip whose frames stand in the session file."""

    name: str
    frame_time: float
    rotations: Array
    translated: Array
    translations: Array
    offsets: Array
    keys: list[int]


class ClipsOfFile(msgspec.Struct):
    """Clips that are as a file has them: where it lies, and what it must hold still.

    Attributes:
        path: the absolute one.
        sha256: of the file's bytes.
        units, up: how it was read.
        frame_time: of all its clips, corrected perhaps; None: they differ.
        relative: the way to it from the session file's folder, with slashes.
    """

    path: str
    sha256: str
    units: str | float
    up: str
    frame_time: float | None = None
    relative: str | None = None


class SourceData(msgspec.Struct, omit_defaults=True):
    """Where a character came from: the fields of `viewer.skeleton.Source`."""

    path: str | None = None
    format: str = ""
    metres_per_unit: float = 1.0
    units: str = "m"
    up: str = "y"
    guessed: bool = False
    joint_order: Array = []
    layout_names: list[str] | None = None
    layout_channels: list[list[str]] = []
    license: str = ""


class CharacterData(msgspec.Struct, omit_defaults=True):
    """A character; its clips are here or, of old and of very large sessions, in the file that they came from.

    Attributes:
        file: the file that clips which are here came from, if it still had them when this was saved.
    """

    skeleton: SkeletonData
    source: SourceData
    clips: list[ClipData] | ClipsOfFile
    warnings: list[str]
    limits_from: str | None
    file: ClipsOfFile | None = None


class HandleData(msgspec.Struct, omit_defaults=True):
    """A handle: the fields of `viewer.document.handle.Handle`."""

    effector: str
    kind: str
    position: Vector | None = None
    rotation: Quaternion | None = None
    distance: float | None = None
    axis: Vector | None = None
    weight: float = 1.0
    rotation_weight: float = 1.0
    pin_position: bool = False
    pin_rotation: bool = False
    offset: Vector = (0.0, 0.0, 0.0)
    automatic: bool = False


class SolverData(msgspec.Struct, omit_defaults=True):
    """Settings: the fields of `viewer.document.solver_settings.SolverSettings`."""

    method: str = "default"
    backend: str = "auto"
    root: str = "free"
    tolerance_m: float = 1e-3
    tolerance_deg: float = 0.5
    max_iterations: int = 200
    restarts: bool = True
    natural: bool = True
    exact: bool = False
    prefer: str = "start"
    prefer_weight: float = 1.0
    until_close: bool = False
    iterations: int = 4
    damping: float | None = None
    step: float | None = None
    step_cap_deg: float | None = None
    truncation: float | None = None
    numeric: bool = False
    bend: str | None = None


class TracksData(msgspec.Struct):
    """Tracks of joints that have keys at the same frames: the fields of `viewer.document.take.Track`.

    Frames and blends are (K,), rotations (joints, K, 4), translations (joints, K, 3) or null.
    """

    joints: Array
    frames: Array
    blends: Array
    rotations: Array
    translations: Array | None = None


class PinData(msgspec.Struct, omit_defaults=True):
    """What was pinned: the fields of `viewer.document.take.Pin`."""

    effector: str
    position: Vector | None = None
    rotation: Quaternion | None = None
    offset: Vector = (0.0, 0.0, 0.0)


class PinnedData(msgspec.Struct):
    """Key frames that had the same pins."""

    frames: Array
    pins: list[PinData]


class StretchData(msgspec.Struct):
    """Frames solved between keys: the fields of `viewer.document.take.Stretch`."""

    first: int
    digest: str
    joints: Array
    rotations: Array
    moved: Array
    translations: Array


class TakeData(msgspec.Struct, omit_defaults=True):
    """A take: the fields of `viewer.document.take.Take`."""

    base: str | None
    frame_time: float
    first: int
    last: int
    rest: PoseData | None = None
    tracks: list[TracksData] = []
    pins: list[PinnedData] = []
    solved: list[StretchData] = []


class DocumentData(msgspec.Struct):
    """A document; a skeleton of null is the character's own."""

    character: CharacterData
    skeleton: SkeletonData | None
    pose: PoseData
    handles: list[HandleData]
    limits_on: bool
    unlimited: list[str]
    solver: SolverData
    selection: list[tuple[str, str]]
    mode: str
    scope: str
    clip: str | None
    frame: int
    planar: str | None = None
    take: TakeData | None = None
    put_aside: list[TakeData] = []
    auto_key: bool = False


class Kept(msgspec.Struct, frozen=True):
    """What a recovery file says of itself.

    Attributes:
        at: when its document was handed over, seconds since 1970.
        since: since when there was unsaved work.
        path: the session file that the user had it in, if any.
        sha256: of that file's bytes when the user opened or saved it.
        name: what the window called it.
    """

    at: float
    since: float
    path: str | None = None
    sha256: str | None = None
    name: str = ""


_NONE = msgspec.Raw(b"")


class SessionData(msgspec.Struct, omit_defaults=True):
    """A session file; its recorded actions are left as text until somebody wants them.

    The version is always written: what is as its default is left out.
    """

    document: DocumentData
    version: int = 0
    type: str = "session"
    kept: Kept | None = None
    actions: msgspec.Raw = _NONE
