"""A random user: does anything that a session can do, the same for the same seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from inside.document import PLANES, Blend, Key, actions as act, binding, frame_pose, kinds_for
from inside.skeleton import joint_space

from viewer.document import Grab, Item, Mode, Scope
from viewer.errors import ViewerError
from viewer.session import Loop, Session
from viewer.skeleton import limit_violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from inside.document import Action
    from inside.spatial import Floats

    from viewer.document import Document
    from viewer.skeleton import Pose

METHODS = ("default", "dls", "sdls", "ccd", "transpose", "pseudo-inverse")
TICK = 1.0 / 60.0
FARTHEST = 1.0
"""Metres that a target is moved at a time, some way beyond reach."""
ASIDE = 0.05
OUTSIDE = 1e-6
"""Radians, metres of a slide, by which limits may be exceeded."""
CHEST = (0.0, 0.8, 0.0)

T = TypeVar("T")


class Restless:
    """A random user of a session.

    Attributes:
        session: what they work on.
        now: seconds of the clock that they tick it by.
        refused: what could not be done, in words, by how often.
    """

    def __init__(self, session: Session, seed: int) -> None:
        self.session, self.now = session, 1000.0
        self.random = np.random.default_rng(seed)
        self.refused: dict[str, int] = {}
        self._copied: act.CopiedKeys | None = None
        self._pose = session.document.pose
        doings: dict[Callable[[], None], float] = {
            self._edit: 8, self._drag: 4, self._slide: 2, self._grab: 1, self._history: 5, self._play: 2,
            self._record: 1, self._keys: 4, self._solve: 0.5, self._escape: 0.5,
        }  # fmt: skip
        self._doings = list(doings)
        self._odds = np.array(list(doings.values())) / sum(doings.values())

    @property
    def document(self) -> Document:
        return self.session.document

    def act(self) -> None:
        """Do one random thing; an action that is refused changes nothing and is counted."""
        doing = self._doings[self.random.choice(len(self._doings), p=self._odds)]
        try:
            doing()
        except ViewerError as error:
            text = str(error).split(":")[0][:40]
            self.refused[text] = self.refused.get(text, 0) + 1
        self.ticks(int(self.random.integers(3)))

    def ticks(self, count: int) -> None:
        for _ in range(count):
            self.now += TICK
            self.session.tick(self.now)

    # Choosing

    def one(self, some: Iterable[T]) -> T:
        choices = list(some)
        return choices[int(self.random.integers(len(choices)))]

    def often(self, part: float) -> bool:
        return bool(self.random.random() < part)

    def joint(self) -> str:
        return str(self.one(self.document.skeleton.names))

    def effector(self) -> str:
        names = [handle.effector for handle in self.document.goals]
        return str(self.one(names)) if names else "none"

    def item(self) -> Item:
        return Item("joint", self.joint()) if self.often(0.4) else Item("effector", self.effector())

    def place(self, scale: float = FARTHEST) -> Floats:
        return np.asarray(self.random.uniform(-scale, scale, 3) + np.array(CHEST))

    def turn(self) -> Floats:
        turn = self.random.normal(size=4)
        return np.asarray(turn / np.linalg.norm(turn))

    def key(self) -> Key:
        take = self.document.take
        if take is None or take.is_empty:
            return Key(0, 0)
        track = self.one(take.tracks)
        return Key(track.joint, int(self.one(track.frames)))

    def copied(self) -> Pose:
        """A pose of this skeleton that was shown some time ago: with other limits, in another plane."""
        earlier = self._pose
        if self.often(0.5):
            self._pose = self.document.pose
        return earlier

    # Doing

    def edit(self) -> Action:
        """Any action that poses or sets something."""
        makers: tuple[Callable[[], Action], ...] = (
            lambda: act.Select((self.item(),), self.one(("set", "add", "toggle"))),
            lambda: act.MoveTargets({self.effector(): (self.place(), self.turn() if self.often(0.3) else None)}),
            lambda: act.SetGoal(self.effector(), weight=float(self.random.uniform(0.1, 5.0))),
            lambda: act.SetGoalKind(self.effector(), self.one(kinds_for(1))),
            lambda: act.SetWeight(self.effector(), 2.0, float(self.random.uniform(0.1, 2.0))),
            lambda: act.SetPin(self.effector(), self.often(0.5), self.often(0.5)),
            lambda: act.ReleaseEffector(self.effector()),
            lambda: act.HoldEffector(self.effector()),
            lambda: act.MakeEffector(self.joint()),
            lambda: act.RemoveEffector(self.effector()),
            lambda: act.TurnJoint(self.joint(), self.turn()),
            lambda: act.SetCoordinate(self.joint(), int(self.random.integers(3)), float(self.random.normal())),
            lambda: act.SetLength(self.joint(), float(self.random.uniform(0.05, 0.6))),
            lambda: act.SetStiffness(self.joint(), float(self.random.random())),
            lambda: act.SetLimits(self.often(0.7)),
            lambda: act.SetJointLimits(self.joint(), self.often(0.7)),
            lambda: act.ResetPose(None if self.often(0.5) else (self.joint(), self.joint())),
            lambda: act.SetPose(self.document.skeleton.relaxed_pose()),
            lambda: act.PastePose(self.copied(), (self.joint(),), flipped=self.often(0.5)),
            lambda: act.PastePose(self.copied(), flipped=self.often(0.5)),
            act.MirrorPose,
            lambda: act.SetSolver(method=self.one(METHODS), iterations=int(self.random.integers(1, 9))),
            lambda: act.SetSolver(root=self.one(("free", "translate", "locked")), natural=self.often(0.5)),
            lambda: act.SetMode(self.one(Mode)),
            lambda: act.SetScope(self.one(Scope)),
            lambda: act.SetFrame(int(self.random.integers(80))),
            lambda: act.SetAutoKey(self.often(0.3)),
            lambda: act.SetPlanar(self.one((*PLANES, None, None, None))),
        )
        return self.one(makers)()

    def _edit(self) -> None:
        self.session.dispatch(self.edit())

    def _drag(self) -> None:
        items = tuple(dict.fromkeys(self.item() for _ in range(self.one((1, 1, 2)))))
        self.session.begin_drag(items)
        self._pull(items, {item: self.place(0.6) for item in items})

    def _grab(self) -> None:
        joint = self.joint()
        self.session.begin_drag((), Grab(joint, self.place(ASIDE) - np.array(CHEST)))
        item = Item("joint", joint)
        self._pull((item,), {item: self.place(0.6)})

    def _pull(self, items: tuple[Item, ...], ends: dict[Item, Floats]) -> None:
        steps = int(self.random.integers(3, 20))
        for step in range(steps):
            part = (step + 1) / steps
            self.session.gestures.drag_to(
                {item: (part * ends[item] + (1.0 - part) * self.place(ASIDE), None) for item in items}
            )
            self.ticks(1)
        if self.often(0.1):
            return  # left under way: what comes next must bring it to its end
        if self.often(0.2):
            self.session.cancel()
        else:
            self.session.commit()

    def _slide(self) -> None:
        joint = self.joint()
        self.session.begin(f"Turn {joint}")
        for value in np.linspace(-0.5, 0.5, 5):
            self.session.gestures.update(act.SetCoordinate(joint, 0, float(value)))
        self.one((self.session.commit, self.session.commit, self.session.cancel))()

    def _history(self) -> None:
        doing = self.one(("undo", "undo", "undo", "redo", "redo", "go"))
        if doing == "go":
            self.session.go_to(int(self.random.integers(len(self.session.history) + 1)))
        else:
            getattr(self.session, doing)()

    def _play(self) -> None:
        self.session.clock.loop = self.one(Loop)
        self.session.set_speed(float(self.one((0.5, 1.0, 4.0))))
        self.session.play(self.one((1, 1, -1)))
        self.ticks(int(self.random.integers(1, 20)))
        if self.often(0.7):
            self.session.stop()
        if self.often(0.5):
            self.session.seek(int(self.random.integers(60)))

    def _record(self) -> None:
        self.session.recorder.tolerance_deg = self.one((0.0, 0.5))
        self.session.record()
        for _ in range(self.one((1, 2))):
            self._drag()
        if self.often(0.9):
            self.session.stop_recording()

    def _keys(self) -> None:
        makers: tuple[Callable[[], Action], ...] = (
            lambda: act.KeyPose(int(self.random.integers(60))),
            lambda: act.KeyPose(None, (self.joint(), self.joint()), self.one(Blend)),
            lambda: act.DeleteKeys((self.key(),)),
            lambda: act.MoveKeys((self.key(), self.key()), int(self.random.integers(-10, 10))),
            lambda: act.CopyKeys((self.key(),), int(self.random.integers(1, 10))),
            lambda: act.SetBlend((self.key(),), self.one(Blend)),
            lambda: act.SetRange(*sorted(self.random.integers(0, 60, 2).tolist())),
            lambda: act.SetTakeRate(float(self.one((24, 30, 60)))),
            lambda: act.SimplifyKeys(float(self.random.uniform(0.1, 5.0))),
        )
        if self._copied is not None and self.often(0.2):
            self.session.dispatch(act.PasteKeys(self._copied, int(self.random.integers(40))))
            return
        self.session.dispatch(self.one(makers)())
        if self.often(0.3):
            self._copied = act.copied_keys(self.document, (self.key(),))

    def _solve(self) -> None:
        self.session.solve()

    def _escape(self) -> None:
        if self.session.escape.offered:
            self.session.accept_escape()
        self.ticks(5)


def left_outside(document: Document) -> list[str]:
    """Joints that stand outside limits that bind, though no frame that is played has them so."""
    if not document.limits_on:
        return []
    pose = document.pose
    beyond = limit_violation(binding(document), pose)
    if document.frames:
        shown = frame_pose(document, min(document.frame, document.frames - 1))
        beyond = np.where(pose.differs(shown), beyond, 0.0)
    names = document.skeleton.names
    return [f"{names[joint]} by {beyond[joint]:.1e}" for joint in np.flatnonzero(beyond > OUTSIDE).tolist()]


def faults(document: Document) -> list[str]:
    """What must never be in a document: numbers that are not finite, rotations that are not unit quaternions."""
    pose, found = document.pose, []
    if not (np.isfinite(pose.rotations).all() and np.isfinite(pose.translations).all()):
        found.append("the pose is not finite")
    away = float(np.abs(np.linalg.norm(pose.rotations, axis=-1) - 1.0).max())
    if away > 1e-9:
        found.append(f"a rotation's length is 1 {away:+.1e}")
    measured = joint_space(document.skeleton).measure(pose.rotations, pose.translations)
    if not np.isfinite(measured).all():
        found.append("a joint has no angles")
    if [handle.effector for handle in document.goals] != [e.name for e in document.skeleton.effectors]:
        found.append("handles and effectors are not the same")
    return found
