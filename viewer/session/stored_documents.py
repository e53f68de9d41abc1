"""Documents, their takes and figures as the data of a session file, exactly."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from viewer.document import Document, Take
from viewer.document.document_contact import check_names
from viewer.document.planar import PLANES
from viewer.document.take import FRAME_TIME, MOST_FRAMES, Pin, Stretch, Track, grouped
from viewer.errors import FormatError, at_path, unknown_name
from viewer.formats.bounds import check_character, check_skeleton
from viewer.ik.goals.goal import as_rotation
from viewer.session.figures import Arrangement, Link, Placement, StageFigure, State, lasting
from viewer.session.serialiser import Stored, pack, unpack
from viewer.session.stored_characters import (
    VALUES,
    CharacterData,
    SkeletonData,
    character_data,
    character_of,
    pose_of,
    relative_path,
    skeleton_of,
)
from viewer.skeleton import Character, Clip, Pose, Skeleton, effector_of
from viewer.spatial.checks import Ints, as_vector

PinData: Any = VALUES.struct(Pin)

_NONE = msgspec.Raw(b"")

_WHERE = "document"

_MOST_STILL = 1 << 22
"""Most rotations in clips that replace a lost motion: 128 MiB of them."""


class TracksData(msgspec.Struct):
    """Tracks of joints with keys at the same frames, with the fields of `viewer.document.take.Track`.

    Frames and blends are (K,), rotations (joints, K, 4), translations (joints, K, 3) or null, tangents (joints, K, 6),
    NaN where they follow from the neighbouring keys.
    """

    joints: Stored
    frames: Stored
    blends: Stored
    rotations: Stored
    translations: Stored | None = None
    tangents: Stored | None = None


class PinnedData(msgspec.Struct):
    """Key frames with the same pins."""

    frames: Stored
    pins: list[PinData]


TakeData: Any = VALUES.struct(Take, tracks=list[TracksData], pins=list[PinnedData])


def take_data(take: Take) -> Any:  # noqa: ANN401 - TakeData
    """The data of a take, for `take_of`."""
    groups = grouped((track.alike, track) for track in take.tracks).values()
    return VALUES.data(take, tracks=[_tracks_data(group) for group in groups], pins=_pins_data(take))


def take_of(data: Any, character: Character, path: str) -> Take:  # noqa: ANN401 - TakeData
    """Make a take."""
    clip = None if data.base is None else character.clips.get(data.base)
    if data.base is not None and clip is None:
        raise FormatError(f"expected the name of a clip, found {data.base!r}", path=f"{path}.base")
    joints, most = len(character.skeleton), MOST_FRAMES - 1 if clip is None else len(clip) - 1
    tracks = [t for i, some in enumerate(data.tracks) for t in _tracks_of(some, joints, f"{path}.tracks[{i}]")]
    last = max([data.last, *(int(track.frames[-1]) for track in tracks)])
    if last > most:
        raise FormatError(f"expected frames from 0 to {most}, found {last}", path=path)
    made: Take = VALUES.read(
        Take, data, path, {"J": joints},
        tracks=tuple(sorted(tracks, key=lambda track: track.joint)),
        pins=_pins_of(data.pins, f"{path}.pins"),
        solved=tuple(_stretch_of(some, joints, f"{path}.solved[{i}]") for i, some in enumerate(data.solved)),
    )  # fmt: skip
    return made


def _tracks_data(group: list[Track]) -> TracksData:
    moved = [track.translations for track in group if track.translations is not None]
    tangents = [track.tangents for track in group if track.tangents is not None]
    return TracksData(
        joints=pack(np.array([track.joint for track in group])),
        frames=pack(group[0].frames),
        blends=pack(group[0].blends),
        rotations=pack(np.stack([track.rotations for track in group])),
        translations=pack(np.stack(moved)) if moved else None,
        tangents=pack(np.stack(tangents)) if tangents else None,
    )


def _tracks_of(data: TracksData, count: int, path: str) -> Iterator[Track]:
    joints = _joints_of(data.joints, count, f"{path}.joints")
    frames = unpack(data.frames, (-1,), f"{path}.frames", whole=True)
    blends = unpack(data.blends, (len(frames),), f"{path}.blends", whole=True)
    rotations = unpack(data.rotations, (len(joints), len(frames), 4), f"{path}.rotations")
    moved = tangents = None
    if data.translations is not None:
        moved = unpack(data.translations, (len(joints), len(frames), 3), f"{path}.translations")
    if data.tangents is not None:
        tangents = unpack(data.tangents, (len(joints), len(frames), 6), f"{path}.tangents")
    for index, joint in enumerate(joints.tolist()):
        place, tangent = (None if some is None else some[index] for some in (moved, tangents))
        with at_path(path):
            yield Track(joint, frames, rotations[index], place, blends, tangent)


def _joints_of(stored: Stored, count: int, path: str) -> Ints:
    joints = unpack(stored, (-1,), path, whole=True)
    if joints.size and (joints.min() < 0 or joints.max() >= count or (np.diff(joints) <= 0).any()):
        raise FormatError(f"expected joints from 0 to {count - 1}, ascending", path=path)
    return joints


def _pins_data(take: Take) -> list[PinnedData]:
    return [
        PinnedData(pack(np.array(frames, dtype=np.intp)), [VALUES.data(pin) for pin in pins])
        for pins, frames in grouped((pins, frame) for frame, pins in take.pins.items()).items()
    ]


def _pins_of(data: list[PinnedData], path: str) -> dict[int, tuple[Pin, ...]]:
    found: dict[int, tuple[Pin, ...]] = {}
    for i, some in enumerate(data):
        where = f"{path}[{i}]"
        pins = tuple(_pin_of(pin, f"{where}.pins[{k}]") for k, pin in enumerate(some.pins))
        frames = unpack(some.frames, (-1,), f"{where}.frames", whole=True)
        if frames.size > MOST_FRAMES or (frames.size and not 0 <= frames.min() <= frames.max() < MOST_FRAMES):
            raise FormatError(f"expected frames from 0 to {MOST_FRAMES - 1}", path=f"{where}.frames")
        found |= dict.fromkeys(frames.tolist(), pins)
    return found


def _pin_of(data: Any, path: str) -> Pin:  # noqa: ANN401 - PinData
    pin: Pin = VALUES.read(Pin, data, path)
    with at_path(path):
        return pin._replace(
            position=None if pin.position is None else as_vector(pin.position, "position"),
            rotation=None if pin.rotation is None else as_rotation(pin.rotation, "rotation"),
            offset=as_vector(pin.offset, "offset"),
        )


def _stretch_of(data: Any, count: int, path: str) -> Stretch:  # noqa: ANN401 - the data of a stretch
    for name in ("joints", "moved"):
        _joints_of(getattr(data, name), count, f"{path}.{name}")
    made: Stretch = VALUES.read(Stretch, data, path)
    if made.first < 0 or not np.isfinite(made.translations).all():
        raise FormatError("expected finite numbers and frames from 0", path=path)
    return made


DocumentData: Any = VALUES.struct(
    Document, character=CharacterData, skeleton=SkeletonData | None, take=TakeData | None, put_aside=list[TakeData]
)
"""A document; a skeleton of null means the character's own."""


class Kept(msgspec.Struct, frozen=True):
    """Facts stored in a recovery file.

    Attributes:
        at: when the document was handed over, seconds since 1970.
        since: start of the unsaved work, seconds since 1970.
        path: the user's session file, if any.
        sha256: of that file's bytes when it was opened or saved.
        name: of the document in the window.
    """

    at: float
    since: float
    path: str | None = None
    sha256: str | None = None
    name: str = ""


class FigureData(msgspec.Struct, omit_defaults=True):
    """One of several figures: metres, radians; without a document the active one, whose document the session has.

    ``links``: goal, figure and joint that it follows.
    """

    name: str
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    yaw: float = 0.0
    hidden: bool = False
    links: list[tuple[str, str, str]] = []
    document: DocumentData | None = None


class SessionData(msgspec.Struct, omit_defaults=True):
    """A session file; its recorded actions stay text until they are needed.

    ``figures`` is empty if there is one figure, at the origin: such a file is of version 2.

    The default version is 0, so that the version is always written.
    """

    document: DocumentData
    version: int = 0
    type: str = "session"
    figures: list[FigureData] = []
    kept: Kept | None = None
    actions: msgspec.Raw = _NONE


def document_data(document: Document, folder: Path | None = None) -> Any:  # noqa: ANN401 - DocumentData
    """The data of a document, for `document_of`; ``folder`` as of `character_data`."""
    own = document.skeleton is document.character.skeleton
    if folder is not None:
        # Meshes by paths relative to the session's folder, if there are such, else by absolute ones.
        beside = document.contact.with_paths(lambda path: relative_path(Path(path), folder) or path)
        document = replace(document, contact=beside)
    return VALUES.data(
        document,
        character=character_data(document.character, folder),
        skeleton=None if own else VALUES.data(document.skeleton),
        take=None if document.take is None else take_data(document.take),
        put_aside=[take_data(take) for take in document.put_aside],
    )


def document_of(data: Any, folder: Path, *, motion: bool = True) -> Document:  # noqa: ANN401 - DocumentData
    """Make a document.

    Without ``motion`` the figure stands still instead of the motion of its motion file, and its keys are on that.

    Raises:
        MotionError: the motion is not in the session, and its file is gone or has changed.
        FormatError: invalid data; with the path of the error.
    """
    clips = None if motion else _still(data)
    character = character_of(data.character, folder, f"{_WHERE}.character", clips)
    skeleton = character.skeleton
    if data.skeleton is not None:
        skeleton = skeleton_of(data.skeleton, f"{_WHERE}.skeleton")
        if skeleton.names != character.skeleton.names:
            raise FormatError("expected the joints of the character's skeleton", path=f"{_WHERE}.skeleton.names")
    pose = pose_of(data.pose, len(skeleton), f"{_WHERE}.pose")
    _check_numbers(character, skeleton, pose)
    document: Document = VALUES.read(
        Document, data, _WHERE,
        character=character,
        skeleton=skeleton,
        pose=pose,
        unlimited=frozenset(data.unlimited),
        take=None if data.take is None else take_of(data.take, character, f"{_WHERE}.take"),
        put_aside=tuple(take_of(take, character, f"{_WHERE}.put_aside[{i}]") for i, take in enumerate(data.put_aside)),
    )  # fmt: skip
    document = replace(document, contact=document.contact.with_paths(lambda path: os.path.normpath(folder / path)))
    _check(document)
    return document


def _check_numbers(character: Character, skeleton: Skeleton, pose: Pose) -> None:
    """Check sizes and numbers as for every reader's result."""
    for what, check in (
        ("character", lambda: check_character(character)),
        ("skeleton", lambda: check_skeleton(skeleton, poses=[pose])),
    ):
        try:
            check()
        except FormatError as error:
            error.path = error.path or f"{_WHERE}.{what}"
            raise


def _check(document: Document) -> None:
    """Check that the parts of a document fit each other."""
    _check_goals(document)
    clip = document.clip_data
    if document.clip is not None and clip is None:
        raise FormatError(f"expected the name of a clip, found {document.clip!r}", path=f"{_WHERE}.clip")
    take, last = document.take, max(document.frames - 1, 0)
    if (clip is not None or take is not None) and not 0 <= document.frame <= last:
        raise FormatError(f"expected a frame from 0 to {last}, found {document.frame}", path=f"{_WHERE}.frame")
    if take is not None and take.base != document.clip:
        raise FormatError(f"expected keys on clip {document.clip!r}, found {take.base!r}", path=f"{_WHERE}.take.base")
    if document.planar is not None and document.planar not in PLANES:
        found = f"expected one of {', '.join(PLANES)} or null, found {document.planar!r}"
        raise FormatError(found, path=f"{_WHERE}.planar")
    with at_path(f"{_WHERE}.contact", but="contact: "):
        check_names(document.contact, document.skeleton)
    for index, item in enumerate(document.selection):
        with at_path(f"{_WHERE}.selection[{index}]"):
            document.check_item(item)
    unknown = document.unlimited.difference(document.skeleton.names)
    if unknown:
        raise FormatError(f"expected names of joints, found {min(unknown)!r}", path=f"{_WHERE}.unlimited")


def _still(data: Any) -> Mapping[str, Clip]:  # noqa: ANN401 - DocumentData
    """Clips in place of missing ones, long enough for all keys: the rest pose where the figure stood."""
    skeleton = skeleton_of(data.character.skeleton, f"{_WHERE}.character.skeleton")
    takes = [take for take in (data.take, *data.put_aside) if take is not None]
    lengths = {} if data.clip is None else {data.clip: data.frame + 1}
    for number, take in enumerate(takes):
        if take.base is not None:
            frames = [unpack(t.frames, (-1,), f"{_WHERE}.take {number}.tracks", whole=True) for t in take.tracks]
            last = max([take.last, *(int(some.max(initial=0)) for some in frames)])
            lengths[take.base] = max(lengths.get(take.base, 1), last + 1)
    if sum(lengths.values()) * len(skeleton) > _MOST_STILL:
        raise FormatError("the motion is too long to be opened without its file", path=f"{_WHERE}.take")
    pose = pose_of(data.pose, len(skeleton), f"{_WHERE}.pose")
    offsets = skeleton.offsets.copy()
    offsets[skeleton.roots] = pose.translations[skeleton.roots]
    nothing = np.empty(0, np.intp)
    return {
        name: Clip(
            name,
            next((take.frame_time for take in takes if take.base == name), FRAME_TIME),
            np.repeat(skeleton.rest_rotations[None], max(length, 1), axis=0),
            nothing,
            np.empty((max(length, 1), 0, 3)),
            offsets,
        )
        for name, length in lengths.items()
    }


def _check_goals(document: Document) -> None:
    path, effectors = f"{_WHERE}.goals", [effector.name for effector in document.skeleton.effectors]
    if [goal.id for goal in document.goals[: len(effectors)]] != effectors:
        raise FormatError("expected one goal for each effector of the skeleton, in its order", path=path)
    seen: set[str] = set()
    for index, goal in enumerate(document.goals):
        if goal.effector not in effectors or (goal.id in effectors and goal.id != goal.effector):
            raise FormatError(f"expected the name of an effector, found {goal.effector!r}", path=f"{path}[{index}]")
        if goal.to and goal.to not in effectors:
            raise FormatError(f"expected the name of an effector, found {goal.to!r}", path=f"{path}[{index}].to")
        if goal.id in seen:
            raise FormatError(f"expected goals of different ids, found {goal.id!r} twice", path=f"{path}[{index}]")
        seen.add(goal.id)


def figures_data(arrangement: Arrangement, folder: Path | None = None) -> list[FigureData]:
    """The data of several figures, for `arrangement_of`."""
    return [
        FigureData(
            one.name, one.placement.offset, one.placement.yaw, one.hidden, [*one.links],
            None if index == arrangement.active else document_data(one.document, folder),
        )
        for index, one in enumerate(lasting(arrangement).figures)
    ]  # fmt: skip


def arrangement_of(data: list[FigureData], active: Document, folder: Path, *, motion: bool = True) -> Arrangement:
    """Make the figures of a session. ``active`` is the document of the active one."""
    without = [index for index, one in enumerate(data) if one.document is None]
    if len(without) != 1:
        raise FormatError(f"expected one figure without a document, found {len(without)}", path="figures")
    figures: list[StageFigure] = []
    for index, one in enumerate(data):
        path = f"figures[{index}]"
        if not one.name or one.name in {figure.name for figure in figures}:
            found = "two of one name" if one.name else "an empty name"
            raise FormatError(f"expected figures of different names, found {found}", path=f"{path}.name")
        with at_path(path):
            placement = Placement(one.offset, one.yaw).checked()
        if one.document is None and one.hidden:
            raise FormatError("expected the active figure to be shown, found a hidden one", path=f"{path}.hidden")
        links = tuple(Link(*link) for link in one.links)
        document = active if one.document is None else _document_at(one.document, folder, path, motion=motion)
        figures.append(StageFigure(one.name, State.at_rest(document), placement, one.hidden, links))
    _check_links(figures)
    return Arrangement(tuple(figures), without[0])


def _check_links(figures: list[StageFigure]) -> None:
    names = [figure.name for figure in figures]
    for index, figure in enumerate(figures):
        goals = [goal.id for goal in figure.document.goals]
        for number, link in enumerate(figure.links):
            path = f"figures[{index}].links[{number}]"
            if link.goal not in goals:
                raise FormatError(unknown_name("goal", link.goal, goals), path=path)
            if link.figure not in names or link.figure == figure.name:
                others = [name for name in names if name != figure.name]
                raise FormatError(unknown_name("other figure", link.figure, others), path=path)
            with at_path(path):
                effector_of(figures[names.index(link.figure)].document.skeleton, link.joint)


def _document_at(data: DocumentData, folder: Path, path: str, *, motion: bool) -> Document:
    try:
        return document_of(data, folder, motion=motion)
    except FormatError as error:
        if error.path and error.path.startswith("document"):
            error.path = f"{path}.{error.path}"
        raise
