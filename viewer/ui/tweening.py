"""Tweens: the pose slides to the keys beside the frame shown, or to the rest pose and away from it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import partial
from typing import Literal

import numpy as np

from viewer.document import actions as act
from viewer.document import frame_pose
from viewer.session import Session
from viewer.skeleton import Pose
from viewer.skeleton.transfer import blended
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.drag_targets import selected_joints
from viewer.ui.events import Button, Move, Release
from viewer.ui.timeline import key_frames
from viewer.ui.view import View

FARTHEST = 1.5
"""Largest share to either side: half as far again as the pose there."""
Towards = Literal["keys", "rest"]
_TITLES: dict[Towards, str] = {"keys": "Tween", "rest": "Relax or push"}

_FULL = 200.0
"""Logical pixels from the present pose to 100 %, while the pointer slides."""
_STEP = 0.1
"""Step of the share while Ctrl is held."""


class Tweening:
    """Slides the pose of the selected joints, or of all: each slide is one undo step.

    Attributes:
        share: of the slide under way, -1.5 to 1.5; 0 without one.
        towards: the goal of the slide under way, or of the last one.
    """

    def __init__(self, session: Session, view: View) -> None:
        """Start without a slide."""
        self._session, self._view = session, view
        self.share = 0.0
        self.towards: Towards = "keys"
        self._start: Pose | None = None
        self._ends: tuple[Pose | None, Pose | None] = None, None

    def neighbours(self) -> tuple[int | None, int | None]:
        """The frames of the keys before and after the frame shown."""
        document = self._session.document
        frames = key_frames(document)
        before, after = bisect_left(frames, document.frame), bisect_right(frames, document.frame)
        return frames[before - 1] if before else None, frames[after] if after < len(frames) else None

    def can(self, towards: Towards) -> bool:
        """Whether there is anything to slide to."""
        return towards == "rest" or self.neighbours() != (None, None)

    def begin(self, towards: Towards) -> None:
        """Begin a slide: `slide` sets its share, the session's ``commit`` or ``cancel`` ends it."""
        document = self._session.document
        if towards == "keys":
            before, after = self.neighbours()
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
        pose = self._start if end is None else blended(self._start, end, part)
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
        self._view.set_gesture(Slide(self, self._view))

    @property
    def _gesture(self) -> Slide | None:
        gesture = self._view.gesture
        return gesture if isinstance(gesture, Slide) else None

    def bindings(self) -> CommandBindings:
        """How its commands are run."""
        ways: tuple[Towards, ...] = ("keys", "rest")
        return {f"tween.{way}": CommandBinding(partial(self.start, way), partial(self.can, way)) for way in ways}

    def shared(self, others: CommandBindings) -> CommandBindings:
        """Commands of drags that end a slide, too."""

        def ends(name: str, *, keep: bool) -> CommandBinding:
            other = others[name]

            def run() -> None:
                gesture = self._gesture
                if gesture is None:
                    other.run()
                else:
                    gesture.end(keep=keep)

            return other._replace(run=run)

        return {"drag.confirm": ends("drag.confirm", keep=True), "drag.cancel": ends("drag.cancel", keep=False)}


class Slide:
    """A tween that follows the pointer sideways, without a button, until a click."""

    button: Button | None = None
    edits = True
    cursor = "ew"

    def __init__(self, tweening: Tweening, view: View) -> None:
        """Begin where the pointer is."""
        self._tweening, self._view = tweening, view
        self._from = view.pointer.x

    def move(self, event: Move) -> None:
        """Follow the pointer; Ctrl snaps to tenths."""
        if not self._tweening.under_way:
            self.end(keep=True)
            return
        share = (event.x - self._from) / (_FULL * self._view.scale)
        self._tweening.slide(float(np.round(share / _STEP)) * _STEP if "ctrl" in event.mods else share)

    def release(self, event: Release) -> None:
        """Do nothing: it has no button."""

    def end(self, *, keep: bool) -> None:
        """End the slide."""
        self._view.set_gesture(None)
        self._tweening.end(keep=keep)
