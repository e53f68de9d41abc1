"""Actions on settings: of the solver, of balance, the clip and frame shown, units, the selection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from viewer.document.document import Action, Document, Item, Mode, Scope, SettingsAction
from viewer.document.evaluation import frame_pose
from viewer.document.posed_goals import carried
from viewer.document.remapping import reread, with_motion
from viewer.errors import InputError, unknown_name
from viewer.formats.file_formats import UpWord
from viewer.formats.load import load
from viewer.skeleton import Character, Clip
from viewer.spatial.checks import as_number, member, whole, with_changes

_WAYS = ("set", "add", "toggle")


@dataclass(frozen=True, slots=True, init=False)
class SetSolver(SettingsAction):
    """Change attributes of `SolverSettings`: ``SetSolver(method="dls", damping=0.1)``."""

    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        if set(self.changes) == {"method"}:
            return f"Solver {self.changes['method']}"
        return f"Solver {', '.join(name.replace('_', ' ') for name in self.changes)}"

    def apply(self, document: Document) -> Document:
        return document.changed(solver=with_changes(document.solver, self.changes, "solver setting"))


@dataclass(frozen=True, slots=True, init=False)
class SetBalance(SettingsAction):
    """Change attributes of `DocumentBalance`: ``SetBalance(on=True, margin=0.05)``."""

    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        if "on" in self.changes:
            return f"Balance {'on' if self.changes['on'] else 'off'}"
        return f"{next(iter(self.changes), 'settings').capitalize()} of balance"

    def apply(self, document: Document) -> Document:
        return document.changed(balance=with_changes(document.balance, self.changes, "setting of balance"))


def at_frame(document: Document, frame: int, **changes: Any) -> Document:  # noqa: ANN401 - fields of a document
    """The document at a frame of its clip or take: limits do not bind, holds are set again, pins stay."""
    frame = whole(frame, "frame")
    return carried(document, frame_pose(document, frame), pins=False, frame=frame, **changes)


@dataclass(frozen=True, slots=True)
class SetFrame(Action):
    """Show a frame of the clip or take."""

    frame: int
    saved: ClassVar[bool] = False
    words: ClassVar[str] = "Frame {0.frame}"

    def apply(self, document: Document) -> Document:
        return at_frame(document, self.frame)


@dataclass(frozen=True, slots=True)
class SetClip(Action):
    """Show another clip, from its first frame, with its own keys; None: no clip, the pose stays."""

    name: str | None

    @property
    def label(self) -> str:
        return "No clip" if self.name is None else f"Clip {self.name}"

    def apply(self, document: Document) -> Document:
        if self.name is None:
            return document if document.clip is None else _on_clip(document, None)
        if self.name not in document.character.clips:
            raise InputError(unknown_name("clip", self.name, document.character.clips))
        return at_frame(_on_clip(document, self.name), 0)


@dataclass(frozen=True, slots=True)
class AddClip(Action):
    """Add a clip to the figure, or replace that of the same name, and show it from its first frame.

    It is the first clip of ``character``, which has the same joints.
    """

    character: Character

    @classmethod
    def of(cls, document: Document, clip: Clip) -> AddClip:
        """The action that adds a clip of the document's own skeleton."""
        clips = MappingProxyType({clip.name: clip})
        return cls(replace(document.character, skeleton=document.skeleton, clips=clips, skin=None))

    @property
    def label(self) -> str:
        return f"Motion {next(iter(self.character.clips), '')}".rstrip()

    def apply(self, document: Document) -> Document:
        clip, joints = self.character.clip, len(document.skeleton)
        if clip is None or len(clip.offsets) != joints:
            found = "no motion" if clip is None else f"{len(clip.offsets)}"
            raise InputError(f"expected motion of the {joints} joints of this figure, found {found}")
        clips = {**document.character.clips, clip.name: clip.on(document.character.skeleton.offsets)}
        character = replace(document.character, clips=MappingProxyType(clips))
        changed = replace(document, character=character, clip=None if document.clip == clip.name else document.clip)
        return at_frame(_on_clip(changed, clip.name), 0)


def _on_clip(document: Document, name: str | None) -> Document:
    """The document on another clip, with that clip's keys."""
    if name == document.clip:
        return document
    own = next((take for take in document.takes if take.base == name), None)
    others = tuple(take for take in document.takes if take is not own)
    return replace(document, clip=name, frame=0, take=own, put_aside=others)


@dataclass(frozen=True, slots=True)
class SetFrameTime(Action):
    """Correct the clip's frame time; the frames stay."""

    seconds: float
    words: ClassVar[str] = "Frame time {0.seconds:g} s"

    def apply(self, document: Document) -> Document:
        clip = document.clip_data
        if clip is None or document.clip is None:
            raise InputError("no clip is loaded")
        seconds = as_number(self.seconds, "frame time")
        if seconds == clip.frame_time:
            return document
        clips = {**document.character.clips, document.clip: replace(clip, frame_time=seconds)}
        return replace(document, character=replace(document.character, clips=MappingProxyType(clips)))


@dataclass(frozen=True, slots=True)
class SetUnits(Action):
    """Read the file in other units or with another up axis; edits are kept, scaled and rotated to match.

    ``units`` and ``up`` are as of `viewer.formats.load.load`. ``character`` is the file as read; None: `apply` reads
    it.
    """

    units: str | float = "auto"
    up: UpWord = "auto"
    character: Character | None = None
    words: ClassVar[str] = "Units {0.units}, {0.up} up"

    def apply(self, document: Document) -> Document:
        """Read the file, if `character` is not it, and apply the edits to it."""
        character = self.character
        if character is None:
            path = document.character.source.path
            if path is None:
                raise InputError("the figure was made in code: there is no file to read again")
            character = load(path, units=self.units, up=self.up)
        return reread(document, character)


@dataclass(frozen=True, slots=True)
class UseMotion(Action):
    """Use the motion of another file; figure, keys and goals stay.

    ``character`` is the file, read in the document's units.
    """

    character: Character
    words: ClassVar[str] = "Motion of another file"

    def apply(self, document: Document) -> Document:
        """The document with that motion; a pose that was not edited since its frame was shown follows it."""
        shows = document.clip is not None and document.pose.same_as(frame_pose(document, document.frame))
        changed = with_motion(document, self.character)
        return at_frame(changed, changed.frame) if shows else changed


@dataclass(frozen=True, slots=True)
class Select(Action):
    """Select items; the last one becomes active.

    ``items`` are joints and effectors; duplicates count once. ``mode``: "set" replaces the selection, "add" adds to it,
    "toggle" toggles each item.
    """

    items: tuple[Item, ...]
    mode: Literal["set", "add", "toggle"] = "set"
    saved: ClassVar[bool] = False

    @property
    def label(self) -> str:
        if not self.items:
            return "Select nothing"
        return f"Select {self.items[0][1]}" if len(self.items) == 1 else f"Select {len(self.items)} items"

    def apply(self, document: Document) -> Document:
        if self.mode not in _WAYS:
            raise InputError(unknown_name("way to select", str(self.mode), _WAYS))
        items = tuple(dict.fromkeys(Item(*item) for item in self.items))
        for item in items:
            document.check_item(item)
        before = () if self.mode == "set" else document.selection
        kept = tuple(item for item in before if item not in items)
        fresh = items if self.mode != "toggle" else tuple(item for item in items if item not in before)
        return document.changed(selection=(*kept, *fresh))


@dataclass(frozen=True, slots=True)
class SetMode(Action):
    """Set whether dragging moves goals (IK) or rotates joints (FK)."""

    mode: Mode
    saved: ClassVar[bool] = False

    @property
    def label(self) -> str:
        return f"Drag mode {str(self.mode).upper()}"

    def apply(self, document: Document) -> Document:
        return document.changed(mode=member(Mode, self.mode, "drag mode"))


@dataclass(frozen=True, slots=True)
class SetScope(Action):
    """Set which joints an IK drag may move."""

    scope: Scope
    saved: ClassVar[bool] = False
    words: ClassVar[str] = "Drag scope {0.scope}"

    def apply(self, document: Document) -> Document:
        return document.changed(scope=member(Scope, self.scope, "drag scope"))
