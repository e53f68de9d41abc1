"""Keys: setting, removing, copying and stepping between them, poses between two, auto-key and recording."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from viewer.document import Document, Item, Take, actions as act, frame_pose
from viewer.document.motion_curves import Tangent, tangents_of
from viewer.document.take import BLENDS, Blend, Key
from viewer.errors import plural
from viewer.session import Session
from viewer.skeleton import Pose, blend_poses
from viewer.ui.commands import CommandBinding, CommandBindings, needs, on_found
from viewer.ui.drag_targets import selected_joints
from viewer.ui.dragging import Dragging
from viewer.ui.events import Message, Move
from viewer.ui.planting import Planting
from viewer.ui.posing import Clipboard
from viewer.ui.timeline import Playback, TimeView, key_frames, last_frame, played_range
from viewer.ui.view import EditGesture, View, ViewPart

_AFTER = 1.0 / 3.0
"""Seconds between the last key and its duplicates, if the playhead is on the first."""

FARTHEST = 1.5
"""Largest share to either side: half as far again as the pose there."""
Towards = Literal["keys", "rest"]
_TITLES: dict[Towards, str] = {"keys": "Tween", "rest": "Relax or push"}

_FULL = 200.0
"""Logical pixels from the present pose to 100 %, while the pointer slides."""
_STEP = 0.1
"""Step of the share while Ctrl is held."""


class SelectedKeys(NamedTuple):
    """The selected keys that exist in a take.

    Attributes:
        version: of the take.
        frames: of the keys by joint; under -1 of all joints.
        blends: interpolations after them.
        tangents: how their slopes are determined.
    """

    version: int = -1
    keys: frozenset[Key] = frozenset()
    frames: Mapping[int, frozenset[int]] = MappingProxyType({})
    blends: frozenset[Blend] = frozenset()
    tangents: frozenset[Tangent] = frozenset()


def existing_keys(take: Take, wanted: frozenset[Key]) -> SelectedKeys:
    """The wanted keys that exist in a take."""
    by_joint: dict[int, set[int]] = {}
    for joint, frame in wanted:
        by_joint.setdefault(joint, set()).add(frame)
    frames: dict[int, frozenset[int]] = {}
    codes: set[int] = set()
    tangents: set[Tangent] = set()
    for track in take.tracks:
        if track.joint in by_joint:
            some = np.isin(track.frames, list(by_joint[track.joint]))
            frames[track.joint] = frozenset(track.frames[some].tolist())
            codes.update(track.blends[some].tolist())
            tangents |= tangents_of(track, some)
    keys = frozenset(Key(joint, frame) for joint, found in frames.items() for frame in found)
    frames[-1] = frozenset().union(*frames.values())
    blends = frozenset(BLENDS[code] for code in codes)
    return SelectedKeys(take.version, keys, frames, blends, frozenset(tangents))


def keys_beside(document: Document) -> tuple[int | None, int | None]:
    """The frames of the keys before and after the frame shown."""
    frames = key_frames(document)
    before, after = bisect_left(frames, document.frame), bisect_right(frames, document.frame)
    return frames[before - 1] if before else None, frames[after] if after < len(frames) else None


class Keying(ViewPart):
    """Selects, sets and moves keys, and records motion.

    Attributes:
        time_view: frames visible in the timeline.
        lost_pose: the pose that is offered to be keyed.
    """

    def __init__(
        self,
        session: Session,
        view: View,
        playback: Playback,
        drags: Dragging,
        planting: Planting,
        clipboard: Clipboard,
    ) -> None:
        super().__init__(session, view)
        self._playback, self._drags, self._planting, self._clipboard = playback, drags, planting, clipboard
        self.time_view = TimeView()
        self._chosen: frozenset[Key] = frozenset()
        self._chosen_of, self._beside = self._document.character, tuple[Item, ...]()
        self._known = SelectedKeys()
        self.lost_pose = session.stage.lost_pose
        self._offer: Message | None = None
        session.recorder.tolerance_deg = view.record_tolerance_deg

    @property
    def take(self) -> Take | None:
        """The document's take, if it has keys."""
        take = self._document.take
        return None if take is None or take.is_empty else take

    # What is selected

    @property
    def selected(self) -> frozenset[Key]:
        """The selected keys; none of another figure or file, or after the selection in the view has changed."""
        take, document = self.take, self._document
        same = self._chosen_of is document.character and self._beside == document.selection
        if not self._chosen or take is None or not same:
            return frozenset()
        if self._known.version != take.version:
            self._known = existing_keys(take, self._chosen)
        return self._known.keys

    def frames_of(self, joint: int) -> frozenset[int]:
        """Frames with selected keys of a joint; -1: of any joint."""
        return self._known.frames.get(joint, frozenset()) if self.selected else frozenset()

    def blends(self) -> frozenset[Blend]:
        """Interpolations after the selected keys."""
        return self._known.blends if self.selected else frozenset()

    def tangents(self) -> frozenset[Tangent]:
        """How the slopes at the selected keys are determined, where any of them is smooth."""
        return self._known.tangents if self.selected and Blend.SMOOTH in self._known.blends else frozenset()

    def select(self, keys: Iterable[Key]) -> None:
        self._chosen, document = frozenset(keys), self._document
        self._chosen_of, self._beside = document.character, document.selection
        self._known = SelectedKeys()
        self._view.changed()

    def select_all(self) -> None:
        take = self.take
        if take is not None:
            self.select(Key(track.joint, frame) for track in take.tracks for frame in track.frames.tolist())

    # Setting, removing, moving

    def _here(self) -> tuple[Key, ...]:
        take = self.take
        return () if take is None else take.keys_at(self._document.frame)

    def delete(self) -> None:
        self._planting.do(act.DeleteKeys(tuple(sorted(self.selected))))

    def within(self, by: int) -> int:
        """``by``, clamped to the frames by which the selected keys can move."""
        frames = [key.frame for key in self.selected]
        if not frames:
            return 0
        by = max(by, -min(frames))
        most = None if self._document.clip is None else last_frame(self._document)
        return by if most is None else min(by, most - max(frames))

    def shift(self, by: int, *, copy: bool = False) -> None:
        """Move the selected keys, or copy them, by a number of frames, and select the result."""
        keys, by = tuple(sorted(self.selected)), self.within(by)
        if keys and by:
            self._planting.do(act.CopyKeys(keys, by) if copy else act.MoveKeys(keys, by))
            self.select(Key(key.joint, key.frame + by) for key in keys)

    def _duplicate(self) -> None:
        """Duplicate to the frame shown; if the keys are on it, a little after the last of them."""
        if not self.selected:
            self.select(self._here())
        frames, now = [key.frame for key in self.selected], self._document.frame
        first, last = min(frames), max(frames)
        step = max(1, round(_AFTER / self._document.frame_time))
        self.shift(now - first if now != first else last - first + step, copy=True)

    def set_blend(self, blend: Blend) -> None:
        """Set the interpolation after the selected keys, or after those at the frame shown."""
        keys = tuple(sorted(self.selected)) or self._here()
        if keys:
            self._planting.do(act.SetBlend(keys, blend))

    def set_tangent(self, tangent: Tangent) -> None:
        """Set how the slopes at the selected keys, or at those at the frame shown, are determined."""
        keys = tuple(sorted(self.selected)) or self._here()
        if keys:
            self._planting.do(act.SetTangents(keys, tangent))

    def simplify(self, tolerance_deg: float) -> None:
        """Remove the keys that the others reproduce."""
        self._planting.do(act.SimplifyKeys(tolerance_deg))

    # Frames

    def _trim(self, *, start: bool) -> None:
        first, last = played_range(self._document)
        frame = self._document.frame
        self._do(act.SetRange(frame, max(last, frame)) if start else act.SetRange(min(first, frame), frame))

    # Recording

    def record(self) -> None:
        session = self._session
        if not session.recorder.recording:
            session.record()
            return
        session.stop_recording()
        self._note_recorded()

    def tick(self) -> None:
        """Post notes about playback or a recording that ended by itself, and about a pose that was lost."""
        session = self._session
        events, session.events = session.events, set()
        if "interrupted" in events:
            self._view.note(f"Playback stopped at frame {self._document.frame}: Space resumes")
        if session.stage.lost_pose is not self.lost_pose:
            self.lost_pose = session.stage.lost_pose
            self._offer_key()
        if "recording ended" in events:
            self._drags.let_go()
            self._note_recorded()

    def _offer_key(self) -> None:
        """Post a note about a lost pose with an offer to key it; an older offer is closed."""
        if self._offer is not None:
            self._view.bar.close(self._offer)
        left = self.lost_pose
        if left is not None:
            self._offer = Message(f"Pose of frame {left.frame} was not keyed", "note", (("Key it", self._key_left),))
            self._view.post(self._offer)

    def _key_left(self) -> None:
        left = self.lost_pose
        if left is None or left.clip != self._document.clip:
            return
        with self._view.errors_shown():
            self._planting.do(act.KeyPose(left.frame, pose=left.pose))

    def _note_recorded(self) -> None:
        seconds = self._session.recorder.last_seconds
        nothing = "Nothing was recorded: drag while recording"
        self._view.note(nothing if seconds is None else f"Recorded {seconds:.1f} s")

    # Copying

    def _copy(self) -> None:
        self._clipboard.copied = act.copied_keys(self._document, tuple(sorted(self.selected)))
        count = len({key.frame for key in self.selected})
        self._view.note(f"Copied {plural(len(self.selected), 'key')} at {plural(count, 'frame')}")

    def _paste(self) -> None:
        if isinstance(self._clipboard.copied, act.CopiedKeys):
            self._planting.do(act.PasteKeys(self._clipboard.copied))

    def bindings(self) -> CommandBindings:
        session = self._session

        def document() -> Document:
            return self._document

        def chosen() -> bool:
            return bool(self.selected)

        go = self._playback.go
        return {
            "key.set": CommandBinding(lambda: self._planting.do(act.KeyPose())),
            "key.set_selected": CommandBinding(
                lambda: self._planting.do(act.KeyPose(joints=selected_joints(document()))),
                needs("select a joint or an effector", lambda: document().selected_on_figure),
            ),
            "key.delete": CommandBinding(
                lambda: self._planting.do(act.DeleteKeys()), needs("there is no key at this frame", self._here)
            ),
            "key.auto": CommandBinding(
                lambda: self._do(act.SetAutoKey(not document().auto_key)), checked=lambda: document().auto_key
            ),
            "key.record": CommandBinding(self.record, checked=lambda: session.recorder.recording is not None),
            "key.previous": on_found("no key is before this frame", lambda: keys_beside(document())[0], go),
            "key.next": on_found("no key is after this frame", lambda: keys_beside(document())[1], go),
            "key.duplicate": CommandBinding(
                self._duplicate, needs("no key is selected or at this frame", lambda: self.selected or self._here())
            ),
            "trim.start": CommandBinding(lambda: self._trim(start=True)),
            "trim.end": CommandBinding(lambda: self._trim(start=False)),
            "goal.remove": CommandBinding(self.delete, when=chosen),
            "select.none": CommandBinding(lambda: self.select(()), when=chosen),
            "pose.copy": CommandBinding(self._copy, when=chosen),
            "pose.paste": CommandBinding(self._paste, when=lambda: isinstance(self._clipboard.copied, act.CopiedKeys)),
        }


class Tweening:
    """Slides the pose of the selected joints, or of all: each slide is one undo step.

    Attributes:
        share: of the slide under way, -1.5 to 1.5; 0 without one.
        towards: the goal of the slide under way, or of the last one.
    """

    def __init__(self, session: Session, view: View) -> None:
        self._session, self._view = session, view
        self.share = 0.0
        self.towards: Towards = "keys"
        self._start: Pose | None = None
        self._ends: tuple[Pose | None, Pose | None] = None, None

    def begin(self, towards: Towards) -> None:
        """Begin a slide: `slide` sets its share, the session's ``commit`` or ``cancel`` ends it."""
        document = self._session.document
        if towards == "keys":
            before, after = keys_beside(document)
            self._ends = tuple(None if at is None else frame_pose(document, at) for at in (before, after))  # type: ignore[assignment]
        else:
            rest = document.skeleton.relaxed_pose()
            # The body stays where it is: only its bending changes.
            roots = document.skeleton.roots
            translations = rest.translations.copy()
            translations[roots] = document.pose.translations[roots]
            rotations = rest.rotations.copy()
            rotations[roots] = document.pose.rotations[roots]
            self._ends = None, Pose(rotations, translations)
        self.towards, self.share = towards, 0.0
        self._session.begin(_TITLES[towards])
        self._start = document.pose

    @property
    def under_way(self) -> bool:
        """Whether a slide is under way; something else may have ended it."""
        return self._start is not None and self._session.gestures.label == _TITLES[self.towards]

    def slide(self, share: float) -> None:
        """Set the share: 1 is the next key or the rest pose, -1 the previous key or as far away from the rest pose."""
        if not self.under_way or self._start is None:
            return
        share = min(max(share, -FARTHEST), FARTHEST)
        before, after = self._ends
        if self.towards == "keys":
            end, part = (after, share) if share > 0.0 else (before, -share)
            share = 0.0 if end is None else share
        else:
            end, part = after, share
        pose = self._start if end is None else blend_poses(self._start, end, part)
        self.share = share
        self._session.gestures.update(act.PastePose(pose, self._joints(), title=_TITLES[self.towards]))
        self._view.changed()

    def end(self, *, keep: bool) -> None:
        """End the slide: as one undo step, or cancelled."""
        if self.under_way:
            (self._session.commit if keep else self._session.cancel)()
        self._start, self.share = None, 0.0
        self._view.changed()

    def _joints(self) -> tuple[str, ...] | None:
        return selected_joints(self._session.document) or None

    # By the pointer

    def start(self, towards: Towards) -> None:
        """Let the pointer slide the pose until a click or Enter; Esc cancels."""
        self.begin(towards)
        self._view.set_gesture(Slide(self._session, self._view, self))

    def bindings(self) -> CommandBindings:
        between = needs(
            "no key is before or after this frame", lambda: keys_beside(self._session.document) != (None, None)
        )
        return {
            "tween.keys": CommandBinding(partial(self.start, "keys"), between),
            "tween.rest": CommandBinding(partial(self.start, "rest")),
        }


class Slide(EditGesture):
    """A tween that follows the pointer sideways, without a button, until a click."""

    cursor = "ew"

    def __init__(self, session: Session, view: View, tweening: Tweening) -> None:
        super().__init__(session, view)
        self._tweening = tweening
        self._from = view.pointer.x

    def move(self, event: Move) -> None:
        """Follow the pointer; Ctrl snaps to tenths."""
        if not self._tweening.under_way:
            self.confirm()
            return
        share = (event.x - self._from) / (_FULL * self._view.scale)
        self._tweening.slide(float(np.round(share / _STEP)) * _STEP if "ctrl" in event.mods else share)

    def confirm(self) -> None:
        self._view.set_gesture(None)
        self._tweening.end(keep=True)

    def cancel(self) -> None:
        self._view.set_gesture(None)
        self._tweening.end(keep=False)
