"""Make the recorded sessions of this folder: ``PYTHONPATH=. python tests/recorded/make.py [NAME...]``.

Each function below is one session, done as somebody at the window does it, and recorded by the program itself. Goals
files (`GOALS` of tests/recordings.py) are written beside them.

What is there stays as it is, since files must always open: without names only what is missing is made. A session that
is named is made again. By the same libraries on the same kind of processor it has the same bytes, unless the program
behaves otherwise. Files of version 1 are of earlier programs: no name makes them.
"""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from inside.document import Blend, GoalLayer, Key, Prop, Shape, Tangent, actions as act
from inside.formats import goals_to_json
from inside.session import (
    ONE_FIGURE,
    VERSION,
    Placement,
    Pointer,
    SolveAfresh,
    StartOver,
    TargetMotion,
    abreast,
    find_demo,
)
from recordings import FOLDER, GOALS, SUFFIX, recordings, store

import viewer
from viewer.document import Grab, Item, Mode, Scope, new_document, stand_of, world_of
from viewer.errors import InputError
from viewer.session import Loop, Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from viewer.document import Document

TICK = 1.0 / 60.0
FRAMES = np.repeat((0, 6), 6)
"""Of a walk, each pose held for six frames: files stay small."""
QUARTER = (0.0, 0.0, 0.38268343236508984, 0.9238795325112867)
"""45 degrees about Z."""


class Hand:
    """Somebody at a session, and the clock.

    Attributes:
        session: what is worked on, recorded.
        now: seconds.
    """

    def __init__(self, document: Document, before: Callable[[Session], object] | None = None) -> None:
        self.session, self.now = Session(document), 0.0
        if before is not None:
            before(self.session)
        self.session.record_actions()

    @property
    def document(self) -> Document:
        return self.session.document

    def do(self, *actions: act.Action) -> None:
        for action in actions:
            self.session.dispatch(action)

    def refused(self, action: act.Action) -> None:
        with contextlib.suppress(InputError):
            self.session.dispatch(action)
            raise AssertionError(f"{action} is not refused")

    def wait(self, ticks: int) -> None:
        for _ in range(ticks):
            self.now += TICK
            self.session.tick(self.now)

    def place(self, item: Item) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        document = self.document
        if item.kind == "effector":
            return stand_of(document, document.goal(item.name)).point
        positions = world_of(document.skeleton, document.pose).positions
        return np.asarray(positions[document.skeleton.index(item.name)])

    def pull(
        self, by: dict[Item, ArrayLike], ticks: int = 7, grab: Grab | None = None, opposite: Grab | None = None
    ) -> None:
        """Press, move in a straight line, rest a little; the button stays down."""
        starts = {item: self.place(item) for item in by}
        self.session.begin_drag(() if grab else tuple(by), grab, opposite)
        for tick in range(ticks):
            part = min(1.0, 1.4 * (tick + 1) / ticks)
            targets = {item: np.round(starts[item] + part * np.asarray(by[item]), 3) for item in by}
            self.session.gestures.drag_to({item: (place, None) for item, place in targets.items()})
            self.wait(1)

    def drag(self, by: dict[Item, ArrayLike], ticks: int = 7) -> None:
        self.pull(by, ticks)
        self.session.commit()


def effector(name: str) -> Item:
    return Item("effector", name)


def joint(name: str) -> Item:
    return Item("joint", name)


def sample(name: str) -> Document:
    return new_document(viewer.load(f"sample:{name}"))


def short_walk(first: int = 0) -> viewer.Character:
    """Some frames of the walk."""
    character = viewer.load("sample:walk")
    (name, clip) = next(iter(character.clips.items()))
    frames = first + FRAMES
    cut = replace(clip, rotations=clip.rotations[frames], translations=clip.translations[frames])
    return replace(character, clips=MappingProxyType({name: cut}))


def drags_of_the_body() -> Hand:
    """A hand near and out of reach, both hands, the hips, a bone that is grabbed; a drag that is given up."""
    hand = Hand(sample("biped"))
    hand.drag({effector("LeftHand"): (0.1, 0.5, 0.2)})
    hand.drag({effector("LeftHand"): (1.2, 0.6, 0.3)})
    hand.drag({effector("LeftHand"): (0.0, -0.1, 0.1), effector("RightHand"): (0.0, 0.2, 0.2)}, 8)
    hand.drag({joint("Hips"): (0.05, -0.2, 0.0)})
    hand.pull({joint("Spine2"): (0.0, -0.05, 0.15)}, 8, Grab("Spine2", (0.0, 0.1, 0.0)))
    hand.session.commit()
    hand.pull({effector("RightHand"): (0.3, 0.3, 0.0)}, 4)
    hand.session.cancel()
    return hand


def scopes() -> Hand:
    """What may move: a limb, what is selected, so many joints above the hand."""
    hand = Hand(sample("biped"))
    hand.do(act.SetScope(Scope.LIMB))
    hand.drag({effector("RightHand"): (-0.1, 0.3, 0.3)}, 8)
    hand.do(act.SetScope(Scope.SELECTION))
    hand.do(act.Select((joint("LeftForeArm"),)), act.Select((joint("LeftArm"), joint("LeftHand")), "add"))
    hand.do(act.Select((joint("LeftHand"),), "toggle"))
    hand.drag({effector("LeftHand"): (0.1, 0.2, 0.2)}, 8)
    hand.do(act.SetScope(Scope.BODY))
    hand.pull({effector("LeftHand"): (0.0, 0.1, 0.2)}, 3)
    hand.session.gestures.set_chain(2)
    hand.session.gestures.drag_to({effector("LeftHand"): ((0.3, 1.3, 0.3), QUARTER)})
    hand.wait(5)
    hand.session.commit()
    hand.do(act.SetScope(Scope.SELECTION))
    return hand


def turned_by_hand() -> Hand:
    """FK: joints turned, sliders, a pose reset in part, the root moved."""
    hand = Hand(sample("claw-arm"))
    first, second, third, fourth = hand.document.skeleton.names[:4]
    hand.do(act.SetMode(Mode.FK), act.TurnJoint(second, QUARTER))
    hand.session.begin(f"Turn {third}")
    for value in np.linspace(0.0, 0.9, 5):
        hand.session.gestures.update(act.SetCoordinate(third, 0, float(value)))
    hand.session.commit()
    hand.session.begin(f"Turn {fourth}")
    hand.session.gestures.update(act.TurnJoint(fourth, QUARTER))
    hand.session.cancel()
    hand.do(act.TurnJoint(fourth, (0.0, 0.6, 0.0, 0.8)), act.ResetPose((second,), position=False))
    pose = hand.document.pose
    moved = replace(pose, translations=pose.translations + np.eye(1, len(pose.translations)).T * (0.1, 0.0, 0.3))
    hand.do(act.SetPose(moved, "Move the figure"), act.TurnJoint(first, QUARTER))
    hand.do(act.SetLimits(on=False))
    hand.refused(act.TurnJoint("Nobody", QUARTER))
    return hand


def pins_and_holds() -> Hand:
    """Feet and a hand pinned in place, turned, let go; a crouch above them."""
    hand = Hand(sample("biped"))
    hand.do(act.SetPin("LeftHand", position=True), act.SetPin("Head", rotation=True))
    hand.drag({joint("Hips"): (0.1, -0.3, 0.05)})
    hand.do(act.SetPin("RightFoot", position=False, rotation=False), act.SetPin("LeftFoot", rotation=False))
    hand.drag({effector("RightFoot"): (0.0, 0.3, 0.3)})
    hand.do(act.HoldEffector("RightFoot"), act.ReleaseEffector("RightHand"), act.HoldEffector("LeftToes"))
    hand.drag({effector("RightHand"): (-0.2, 0.2, 0.2)}, 6)
    return hand


def goals_of_a_claw() -> Hand:
    """Every kind of goal, weights, an effector made and another taken away."""
    hand = Hand(sample("claw-arm"))
    hand.do(act.SetGoalKind("claw_a", "distance"), act.SetGoal("claw_a", distance=0.05))
    hand.do(act.SetGoalKind("claw_b", "aim"), act.SetGoal("claw_b", axis=(0.0, 1.0, 0.0)))
    hand.do(act.SetGoalKind("claw_c", "position+rotation"), act.SetGoalKind("wrist", "rotation"))
    hand.do(act.SetWeight("claw_c", 3.0, 0.25), act.SetGoal("claw_c", offset=(0.0, 0.01, 0.0)))
    hand.do(act.SetGoal("claw_b", position=(0.2, 0.5, 0.3), automatic=False))
    hand.do(act.MoveTargets({"claw_c": ((0.1, 0.55, 0.1), None), "wrist": (None, QUARTER)}))
    hand.session.solve()
    bones = hand.document.skeleton.names
    hand.do(act.MakeEffector(bones[2]), act.RemoveEffector("claw_a"))
    hand.refused(act.SetGoal("claw_b", colour="red"))
    return hand


def several_goals_of_one_effector() -> Hand:
    """A hand that aims, keeps a distance and has a second point at a place; pinned, keyed, renamed, removed."""
    hand = Hand(sample("biped"))
    hand.do(act.AddGoal("LeftHand", "aim"), act.AddGoal("LeftHand", "distance"))
    hand.do(act.MoveTargets({"LeftHand_2": ((0.6, 1.2, 1.0), None)}), act.SetWeight("LeftHand_3", 0.5))
    hand.do(
        act.AddGoal("RightHand"), act.SetGoal("RightHand_2", offset=(0.0, 0.0, 0.1)), act.SetPin("RightHand_2", True)
    )
    hand.drag({effector("LeftHand_2"): (0.2, 0.1, 0.0)})
    hand.drag({effector("LeftHand"): (0.1, 0.2, 0.1)})
    hand.do(act.KeyPose(3), act.RenameJoint("LeftHand", "Paw"), act.SetGoalKind("LeftHand_3", "rotation"))
    hand.do(act.MakeEffector("RightForeArm"), act.SetGoalKind("RightForeArm", "bend"))
    hand.do(act.SetGoal("RightForeArm", angle=0.75))
    hand.do(act.MakeEffector("LeftForeArm"), act.SetGoalKind("LeftForeArm", "pole"))
    hand.do(act.AddGoal("LeftToes", "position+rotation"), act.RemoveGoal("LeftHand_2"))
    hand.do(act.ReleaseEffector("Head", select_next=True))  # the file has RemoveGoal, as it was called
    hand.session.undo()
    return hand


def goals_set_by_hand() -> Hand:
    """Every attribute of a goal, typed."""
    hand = Hand(sample("chain-5"))
    bones = hand.document.skeleton.names
    hand.do(act.MakeEffector(bones[1]), act.MakeEffector(bones[2]), act.MakeEffector(bones[3]))
    place = tuple(np.round(hand.place(effector("tip")), 3).tolist())
    hand.do(act.SetGoal("tip", kind="position+rotation", position=place, rotation=QUARTER, weight=2.0))
    hand.do(act.SetGoal("tip", pin_rotation=True, rotation_weight=0.5))
    hand.do(act.SetGoal(bones[1], pin_position=True, automatic=True))
    hand.do(act.SetGoal(bones[2], kind="distance", distance=0.1))
    hand.do(act.SetGoal(bones[3], kind="aim", axis=(1.0, 0.0, 0.0), offset=(0.0, 0.02, 0.0)))
    hand.session.undo()
    hand.session.redo()
    return hand


def levels_of_goals() -> Hand:
    """A goal that comes after the others, and as they do again."""
    hand = Hand(sample("chain-5"))
    hand.do(act.MakeEffector(hand.document.skeleton.names[2]), act.SetGoal("tip", level=2))
    hand.refused(act.SetGoal("tip", level=4))
    hand.do(act.SetGoal(hand.document.skeleton.names[2], level=3), act.SetGoal("tip", level=1))
    return hand


def holds_that_yield() -> Hand:
    """A hand goes where the holds of head and other hand do not let it, with holds that yield and with firm ones."""
    hand = Hand(sample("biped"))
    hand.drag({effector("LeftHand"): (0.6, 0.3, 0.3)}, 12)
    hand.do(act.SetSolver(firm_holds=True))
    hand.session.undo()
    hand.drag({effector("LeftHand"): (-0.6, -0.3, -0.3)}, 12)
    hand.pull({joint("Spine2"): (0.0, -0.3, 0.3)}, 8, Grab("Spine2", (0.0, 0.1, 0.0)))
    hand.session.commit()
    return hand


def limits() -> Hand:
    """Limits off and on, of all joints and of one; stiffness."""
    hand = Hand(sample("claw-arm"))
    bones = hand.document.skeleton.names
    hand.do(act.SetLimits(on=False))
    hand.drag({effector("claw_a"): (0.1, -0.3, 0.3)}, 6)
    hand.do(act.SetLimits(on=True), act.SetJointLimits(bones[1], on=False), act.SetJointLimits(bones[2], on=False))
    hand.do(act.SetJointLimits(bones[1], on=True), act.SetStiffness(bones[1], 0.75), act.SetStiffness(bones[3], 1.0))
    hand.drag({effector("claw_b"): (-0.2, -0.2, 0.2)}, 6)
    return hand


def every_setting_of_the_solver() -> Hand:
    """Method after method on a chain, and all that can be set."""
    hand = Hand(sample("chain-20"))
    methods = "dls", "sdls", "pseudo-inverse", "transpose", "ccd", "ccd-from-base", "default"
    target = hand.place(effector("tip"))
    for number, method in enumerate(methods):
        hand.do(act.SetSolver(method=method))
        hand.do(act.MoveTargets({"tip": (target + np.array([0.02 * number, -0.03, 0.01 * number]), None)}))
    hand.do(act.SetSolver(backend="numpy", root="locked", tolerance_m=0.002, tolerance_deg=1.0, max_iterations=50))
    hand.do(act.SetSolver(restarts=False, natural=False, prefer="rest", prefer_weight=0.5, iterations=2))
    hand.do(act.SetSolver(method="dls", damping=0.2, step=0.5, step_cap_deg=5.0, numeric=True))
    hand.do(act.SetSolver(method="pseudo-inverse", truncation=0.02))
    hand.session.solve()
    hand.do(act.SetSolver(until_close=True, exact=True))
    hand.drag({effector("tip"): (0.1, -0.2, 0.1)}, 4)
    hand.refused(act.SetSolver(damping=-1.0))
    return hand


def two_links() -> Hand:
    """The arm in closed form: elbow up and down, too far, and as a click puts the target."""
    hand = Hand(find_demo("two-link").build())
    hand.do(act.SetSolver(bend="down"), act.SetSolver(bend="up"))
    hand.do(act.MoveTargets({"tip": ((-0.5, 0.9, 0.0), None)}), act.MoveTargets({"tip": ((3.0, 1.0, 0.0), None)}))
    hand.drag({effector("tip"): (-1.0, 0.3, 0.0)}, 6)
    hand.session.undo()
    return hand


def sources_of_limits() -> Hand:
    """Limits from the motion, of a human, from both and none, while a hand is dragged and the file is read again."""
    hand = Hand(new_document(short_walk()))
    hand.do(act.SetLimitsFrom("clip"))
    hand.drag({effector("LeftHand"): (0.1, 0.4, 0.2)}, 5)
    hand.do(act.SetLimitsFrom("human"))
    hand.refused(act.SetLimitsFrom("file"))
    hand.drag({joint("Hips"): (0.0, -0.3, 0.0)}, 5)
    hand.do(act.SetLimitsFrom("human+clip"), act.SetLimitRanges({"LeftForeArm": ((-0.5, 0.5),) * 3}, title="Tight"))
    hand.refused(act.SetLimitRanges({"LeftForeArm": ((0.5, -0.5),) * 3}))
    hand.do(act.SetLimitsFrom("none"))
    hand.session.undo()
    hand.do(act.SetLimitsFrom("clip"))
    return hand


def names() -> Hand:
    """Joints renamed: keys, goals, pins and limits follow."""
    hand = Hand(sample("chain-5"))
    first, second, third = hand.document.skeleton.names[:3]
    hand.do(act.KeyPose(0), act.SetPin("tip", position=True), act.SetJointLimits(third, on=False))
    hand.do(act.Select((joint(third),)), act.RenameJoint(third, "Ellbogen"), act.RenameJoint(first, "根"))
    hand.refused(act.RenameJoint(second, "Ellbogen"))
    hand.do(act.RenameJoint(second, "shoulder two"), act.MakeEffector("Ellbogen"))
    hand.session.undo()
    return hand


def left_and_right() -> Hand:
    """A pose mirrored, copied and pasted, flipped."""
    hand = Hand(sample("biped"))
    hand.drag({effector("LeftHand"): (0.2, 0.6, 0.1)}, 6)
    copied = hand.document.pose
    hand.do(act.MirrorPose(), act.ResetPose())
    hand.do(act.PastePose(copied, ("LeftArm", "LeftForeArm"), flipped=True), act.PastePose(copied, ("Spine",)))
    hand.do(act.SetScope(Scope.LIMB))
    hand.do(act.PastePose(copied, title="Pose Reach"))
    arms: dict[Item, ArrayLike] = {joint("LeftForeArm"): (0.1, 0.1, 0.1), joint("RightForeArm"): (-0.1, 0.1, 0.1)}
    hand.pull(arms, 7, Grab("LeftForeArm", (0.1, 0.0, 0.0)), Grab("RightForeArm", (-0.1, 0.0, 0.0)))
    hand.session.commit()
    return hand


def keys() -> Hand:
    """Keys set, moved, copied, pasted, taken away, blended otherwise; the range and the rate."""
    hand = Hand(sample("claw-arm"))
    bones = hand.document.skeleton.names
    hand.do(act.KeyPose(0))
    for frame in (8, 16):
        hand.session.seek(frame)
        hand.drag({effector("claw_b"): (0.03, 0.02 * frame / 8, -0.02)}, 4)
        hand.do(act.KeyPose())
    hand.do(act.SetBlend((Key(2, 0), Key(2, 8)), Blend.STEP), act.SetBlend((Key(1, 8),), Blend.LINEAR))
    hand.do(act.MoveKeys((Key(1, 8), Key(2, 8)), 3), act.CopyKeys((Key(1, 11),), 9))
    copied = act.copied_keys(hand.document, (Key(1, 11), Key(2, 16)))
    hand.do(act.PasteKeys(copied, 24), act.DeleteKeys((Key(2, 0),)), act.DeleteKeys(frame=8))
    hand.do(act.KeyPose(30, bones[1:3], Blend.LINEAR), act.KeyPose(32, pose=hand.document.skeleton.relaxed_pose()))
    hand.do(act.SetRange(2, 28), act.SetTakeRate(24.0), act.SetFrame(12))
    hand.refused(act.DeleteKeys(frame=9))
    return hand


def curves() -> Hand:
    """Keys moved on the curves of two joints, their slopes set, flattened, kept, left to the neighbours; markers."""
    hand = Hand(sample("claw-arm"))
    names = hand.document.skeleton.names
    hand.do(act.KeyPose(0), act.KeyPose(8), act.KeyPose(16), act.KeyPose(24))
    hand.do(act.SetKeyValue(names[1], 8, 0, 0.25), act.SetKeyValue(names[2], 16, 0, 0.5))
    hand.do(act.SetSlope(names[1], 8, 0, 0.03), act.SetTangents((Key(1, 16), Key(2, 8)), Tangent.FLAT))
    hand.session.begin("Tangent")
    for slope in (0.01, 0.02):
        hand.session.gestures.update(act.SetSlope(names[2], 16, 0, slope))
    hand.session.commit()
    hand.do(act.SetTangents((Key(2, 24),), Tangent.FREE), act.SetTangents((Key(2, 8),), Tangent.AUTO))
    hand.do(act.MoveKeys((Key(1, 8),), 2), act.KeyPose(16))
    copied = act.copied_keys(hand.document, (Key(1, 10),))
    hand.do(act.PasteKeys(copied, 30), act.SetFrame(12))
    hand.refused(act.SetSlope(names[1], 9, 0, 0.0))
    hand.do(act.SetMarker(), act.SetMarker(20, "Grab"), act.SetMarker(5), act.SetMarker(5, "Open"))
    hand.do(act.MoveMarker(20, 22), act.RemoveMarker(12))
    hand.refused(act.MoveMarker(5, 22))
    return hand


def pinned_between_keys() -> Hand:
    """Auto-key on pinned feet: frames between are solved."""
    hand = Hand(sample("biped"))
    hand.do(act.KeyPose(0), act.SetAutoKey(on=True))
    hand.session.seek(4)
    hand.drag({joint("Hips"): (0.05, -0.2, 0.0)}, 6)
    hand.do(act.SetMode(Mode.FK), act.TurnJoint("Head", QUARTER))
    hand.session.seek(2)
    return hand


def recorded_motion() -> Hand:
    """A hand is followed while the clock runs; twice, the second time simplified."""
    hand = Hand(sample("claw-arm"))
    hand.session.record()
    hand.wait(2)
    hand.drag({effector("claw_a"): (0.1, -0.05, 0.1)}, 12)
    hand.wait(2)
    hand.session.stop_recording()
    hand.session.seek(2)
    hand.session.recorder.tolerance_deg = 1.0
    hand.session.record()
    hand.drag({effector("claw_c"): (-0.05, 0.05, 0.0)}, 10)
    hand.session.stop_recording()
    hand.do(act.SimplifyKeys(2.0))
    return hand


def layers_on_a_clip() -> Hand:
    """A walk played, keyed, left for keys on no clip, and come back to."""
    hand = Hand(new_document(short_walk()))
    clip = hand.document.clip
    hand.session.clock.loop = Loop.PING_PONG
    hand.session.set_speed(2.0)
    hand.session.play()
    hand.wait(20)
    hand.session.stop()
    hand.session.seek(6)
    hand.drag({effector("LeftHand"): (0.0, 0.3, 0.1)}, 6)
    hand.do(act.KeyPose(joints=("LeftArm", "LeftForeArm")), act.SetFrameTime(0.04))
    hand.do(act.SetClip(None), act.KeyPose(0, ("Spine",)), act.SetRange(0, 9), act.SetClip(clip))
    hand.do(act.SetFrame(7))
    hand.session.play(-1)
    hand.wait(6)
    hand.session.stop()
    hand.do(act.SetClip(None))
    return hand


def another_motion() -> Hand:
    """The motion of another file under keys that stay, and the file in other units."""
    hand = Hand(new_document(short_walk()))
    hand.session.seek(3)
    hand.do(act.TurnJoint(hand.document.skeleton.names[2], QUARTER), act.KeyPose())
    hand.do(act.UseMotion(short_walk(20)), act.SetTakeRate(25.0))
    hand.session.seek(5)
    return hand


def units_and_lengths() -> Hand:
    """The figure read in inches, its bones made longer, a slide set."""
    hand = Hand(sample("piston"))
    bones = hand.document.skeleton.names
    slide = bones[hand.document.skeleton.kinds.index(viewer.JointKind.SLIDE)]
    hand.do(act.SetCoordinate(slide, 0, 0.1), act.SetLength("", 0.7, bones[-1]))
    hand.do(act.SetUnits("inch", "z"), act.SetStiffness(slide, 0.5))
    hand.drag({effector("hook"): (0.0, 0.003, 0.001)}, 5)
    hand.refused(act.SetLength("", 1.0, bones[0]))
    return hand


def in_a_plane() -> Hand:
    """A chain brought into a plane, dragged there and keyed."""
    hand = Hand(sample("chain-5"))
    hand.do(act.SetPlanar("xy"), act.KeyPose(0))
    hand.session.seek(6)
    hand.drag({effector("tip"): (0.1, -0.1, 0.2)}, 6)
    hand.do(act.KeyPose(), act.SetPlanar(None), act.SetPlanar("yz"))
    return hand


def demos() -> Hand:
    """Targets that move, by a way and by the pointer; a scene that starts over; the way out of a trap."""
    hand = Hand(find_demo("ball").build())
    hand.session.targets.animate(find_demo("ball").motions)
    hand.wait(8)
    hand.session.targets.pause()
    hand.wait(1)
    hand.session.targets.resume()
    hand.wait(4)
    lock = find_demo("s-lock")
    hand.session.replace(lock.build(), solve=True)
    hand.do(SolveAfresh(replace(lock.build(), solver=replace(lock.build().solver, method="default"))))
    hand.do(StartOver(lock.build()), act.SetSolver(method="default", until_close=False, iterations=3))
    pointer = Pointer(hand.place(effector("tip")))
    hand.session.targets.animate((TargetMotion("tip", pointer, shown=False),))
    for _ in range(6):
        pointer.position = pointer.position + np.array([-0.02, 0.03, 0.0])
        hand.wait(1)
    hand.session.targets.animate(())
    hand.do(StartOver(lock.build()), act.SetSolver(method="default"))
    target = hand.document.goal("tip").position
    hand.session.begin_drag((effector("tip"),))
    hand.session.gestures.drag_to({effector("tip"): (target, None)})
    hand.wait(30)
    hand.session.commit()
    assert hand.session.escape.offered
    hand.session.accept_escape()
    hand.wait(15)
    return hand


def undone_and_done_again() -> Hand:
    """Steps from before the recording, jumps in the history, another document, a save."""

    def before(session: Session) -> None:
        session.dispatch(act.SetSolver(method="dls"))
        session.dispatch(act.SetLimits(on=False))

    hand = Hand(sample("two-link"), before)
    hand.session.undo()
    hand.session.undo()
    hand.session.redo()
    hand.do(act.SetSolver(damping=0.3), act.MoveTargets({"tip": ((0.2, 0.3, 0.0), None)}))
    hand.session.go_to(2)
    hand.session.go_to(3)
    hand.session.undo()
    hand.session.replace(new_document(viewer.load("sample:two-link")))
    hand.do(act.MoveTargets({"tip": ((0.3, 0.2, 0.0), None)}), act.SetWeight("tip", 2.0))
    hand.session.mark_saved()
    hand.session.undo()
    hand.do(act.ReleaseEffector("tip"))
    hand.session.undo()
    with contextlib.suppress(InputError):
        hand.session.go_to(99)
    return hand


def timeline_without_keys() -> Hand:
    """A figure without motion goes to frames before anything is keyed, and is keyed there."""
    hand = Hand(sample("two-link"))
    hand.do(act.OpenTimeline(20), act.MoveTargets({"tip": ((0.4, 0.9, 0.0), None)}), act.KeyPose(), act.SetFrame(5))
    hand.session.undo()
    return hand


def contact_and_props() -> Hand:
    """An arm kept from the floor and from props that come, move, change their names and go; radii and pairs."""
    hand = Hand(sample("claw-arm"))
    bones = hand.document.skeleton.names
    hand.do(act.SetContact(on=True, height=0.1), act.AddProp(Prop(name="ball", center=(0.5, 0.6, 0.3), radius=0.05)))
    hand.do(act.AddProp(Prop(name="box", shape=Shape.BOX, center=(0.0, 0.2, 0.6), size=(0.2, 0.4, 0.2))))
    hand.refused(act.AddProp(Prop(name="mug", shape=Shape.MESH, path="no-such-mug.obj")))
    hand.do(act.RenameProp("ball", "fruit"), act.SetProp("fruit", center=(0.3, 0.5, 0.3), rotation=QUARTER))
    hand.do(act.SetProp("box", size=(0.3, 0.4, 0.2)), act.SetRadius(bones[1], 0.05), act.ExcludePair(bones[1], "floor"))
    hand.refused(act.SetRadius(bones[1], 0.0))
    hand.drag({effector("claw_a"): (0.0, -0.3, 0.1)}, 5)
    hand.do(act.Select((Item("prop", "fruit"),)), act.RemoveProp("fruit"), act.SetContact(bodies=False))
    hand.session.begin("Move box")
    for step in range(3):
        hand.session.gestures.update(act.SetProp("box", center=(0.0, 0.2, 0.6 - 0.05 * step)))
        hand.wait(1)
    hand.session.commit()
    hand.do(act.ExcludePair(bones[2], "box"))
    hand.session.undo()
    return hand


def held_together() -> Hand:
    """Two hands that hold together: each leads in turn, by drags and by typed targets; a name, parts, undo, the end."""
    hand = Hand(sample("biped"))
    hand.do(act.HoldTogether("LeftHand", "RightHand"))
    hand.refused(act.HoldTogether("RightHand", "LeftHand"))
    hand.drag({effector("LeftHand"): (0.0, 0.2, 0.2)})
    hand.drag({effector("RightHand"): (0.1, 0.0, 0.1)})
    hand.do(act.SetGoalKind("LeftHand_2", "relative position"), act.RenameJoint("RightHand", "Paw"))
    hand.do(act.MoveTargets({"LeftHand": ((0.3, 1.1, 0.3), None)}))
    hand.do(act.SetGoalKind("LeftHand_2", "relative rotation"), act.SetGoalKind("LeftHand_2", "relative"))
    hand.drag({effector("Paw"): (0.0, 0.0, 0.1)})
    hand.do(act.RemoveGoal("LeftHand_2"))
    hand.session.undo()
    hand.do(act.HoldTogether("LeftFoot", "RightFoot"))
    hand.do(act.SetGoalKind(hand.session.document.goals[-1].id, "relative position"))
    hand.do(act.HoldTogether("Head", "LeftFoot"))
    hand.do(act.SetGoalKind(hand.session.document.goals[-1].id, "relative rotation"))
    return hand


def let_go() -> Hand:
    """Hands that let go of each other: holds come back that were off for that, not one that was released before."""
    hand = Hand(sample("biped"))
    hand.do(act.HoldTogether("LeftHand", "RightHand"), act.RemoveGoal("LeftHand_2"))
    hand.drag({effector("RightHand"): (0.0, 0.1, 0.1)})
    hand.do(act.ReleaseEffector("RightHand"), act.HoldTogether("LeftHand", "RightHand"), act.RemoveGoal("LeftHand_2"))
    hand.do(act.AddGoalForTwo("LeftHand", "Head", "midpoint"))
    return hand


def point_between_hands() -> Hand:
    """The point between two hands is dragged, typed, held where it is, mirrored; a hand leads; other kinds, undo."""
    hand = Hand(sample("biped"))
    hand.do(act.AddGoalForTwo("LeftHand", "RightHand", "midpoint"))
    hand.refused(act.SetPin("LeftHand_2", position=True))
    hand.drag({effector("LeftHand_2"): (0.1, 0.3, 0.2)})
    hand.drag({effector("RightHand"): (0.0, 0.1, 0.1)})
    hand.do(act.MoveTargets({"LeftHand_2": ((0.0, 1.1, 0.3), None)}), act.RenameJoint("RightHand", "Paw"))
    hand.do(act.SetGoalKind("LeftHand_2", "relative"), act.SetGoalKind("LeftHand_2", "midpoint"), act.MirrorPose())
    hand.do(act.SetGoal("LeftHand_2", position=(0.3, 2.5, 0.0)), act.HoldEffector("LeftHand_2"))
    hand.do(act.RemoveGoal("LeftHand_2"))
    hand.session.undo()
    return hand


def goals_for_two() -> Hand:
    """A goal for two effectors is added, dragged with, switched off and on; its second effector goes and comes back."""
    hand = Hand(sample("claw-arm"))
    hand.do(act.AddGoalForTwo("claw_a", "claw_b", "relative position"))
    hand.drag({effector("claw_a"): (0.0, -0.05, 0.05)}, 4)
    hand.do(act.ReleaseEffector("claw_a_2"), act.SetGoalKind("claw_a_2", "relative position"))
    hand.do(act.RemoveEffector("claw_b"))
    hand.session.undo()
    return hand


def several_figures() -> Hand:
    """Figures come, go, are hidden and moved, and are worked on in turn; undo from before the recording began."""
    walk, claw = new_document(short_walk()), sample("claw-arm")
    hand = Hand(walk, lambda session: session.figures.add(claw, "claw"))
    session = hand.session
    hand.drag({effector("claw_a"): (0.0, -0.1, 0.1)}, 4)
    session.figures.activate("walk")
    hand.drag({effector("LeftHand"): (0.0, 0.1, 0.1)}, 4)
    twin = session.figures.add(walk)
    session.play()
    hand.wait(9)
    session.stop()
    for metres in (0.2, 0.4):
        session.figures.place(twin, Placement((1.0 + metres, 0.0, metres), 0.5), done=False)
    session.commit()
    session.figures.hide("claw")
    session.figures.activate("walk")
    hand.do(act.MirrorPose())
    session.figures.remove("walk")
    session.undo()
    session.go_to(1)
    session.undo()
    session.go_to(0)
    session.redo()
    with contextlib.suppress(InputError):
        session.figures.activate("nobody")
        raise AssertionError
    session.replace(walk, figures=abreast([("", walk), ("", claw), ("", walk)]))
    session.seek(5)
    hand.drag({effector("RightHand"): (0.1, 0.1, 0.1)}, 4)
    session.figures.activate("claw-arm")
    session.figures.place("walk 2", Placement((3.0, 0.0, 0.0), -1.0))
    session.figures.link("walk", "LeftHand", "claw-arm", "claw_a")
    hand.drag({effector("claw_a"): (0.0, 0.1, 0.1)}, 4)
    return hand


def balance() -> Hand:
    """A body that keeps its balance: far drags of a hand and of the head, margin, level, undo, off again."""
    hand = Hand(sample("biped"))
    hand.drag({effector("LeftHand"): (0.1, -0.4, 0.6)})
    hand.do(act.SetBalance(on=True))
    hand.refused(act.SetBalance(margin=-0.01))
    hand.drag({effector("RightHand"): (-0.6, 0.2, 0.1)})
    hand.do(act.SetBalance(margin=0.05), act.SetBalance(level=0), act.SetBalance(level=1, weight=2.0))
    hand.drag({effector("Head"): (0.0, -0.3, 0.4)})
    hand.session.undo()
    hand.do(act.RenameJoint("Head", "balance"), act.SetContact(on=True, bodies=False))
    hand.drag({effector("balance"): (0.2, -0.2, 0.2)})
    hand.do(act.SetBalance(on=False))
    return hand


def moved_trails() -> Hand:
    """A hand and a joint moved at frames of a clip, with frames around them; a drag of a trail, and one given up."""
    hand = Hand(new_document(short_walk()))
    place = hand.place(effector("LeftHand"))
    hand.do(act.MovePoint(effector("LeftHand"), 4, tuple(np.add(place, (0.1, 0.2, 0.2)).tolist()), 2))
    hand.refused(act.MovePoint(effector("LeftHand"), 90, (0.0, 1.0, 0.0)))
    for reach in (1, 3):
        hand.session.begin("Move LeftForeArm at frame 6")
        for step in (0.05, 0.1):
            to = tuple(np.add(place, (0.05, 0.2 + step, 0.1)).tolist())
            hand.session.gestures.update(act.MovePoint(joint("LeftForeArm"), 6, to, reach))
        (hand.session.cancel if reach == 1 else hand.session.commit)()
    hand.session.seek(6)
    hand.session.undo()
    return hand


def goals_over_time() -> Hand:
    """Layers on a clip: made, moved, in the space of a prop that moves, reordered, off, made keys, removed, undone."""
    hand = Hand(new_document(short_walk()))
    place = hand.place(effector("LeftHand"))
    reach = GoalLayer(
        id="reach",
        effector="LeftHand",
        first=1,
        full=(4, 6),
        last=9,
        position=tuple(np.add(place, (0.1, 0.2, 0.2)).tolist()),
    )
    hand.do(act.AddLayer(reach), act.SetLayer("reach", weight=0.75), act.SetLayer("reach", full=(4, 7), last=10))
    other = GoalLayer(id="hold", effector="RightHand", first=2, full=(5, 5), last=8, rotation=QUARTER, level=2)
    hand.do(act.AddLayer(other), act.MoveLayer("hold", 0))
    hand.refused(act.AddLayer(other))
    hand.refused(act.SetLayer("reach", last=40))
    hand.do(act.AddProp(Prop(name="button", shape=Shape.BOX, center=tuple(np.add(place, (0.0, 0.2, 0.3)).tolist()))))
    hand.do(act.SetLayer("reach", space="button", position=(0.0, 0.0, -0.1), weight=1.0))
    hand.do(act.SetProp("button", center=np.add(place, (0.1, 0.25, 0.3))), act.RenameProp("button", "switch"))
    hand.session.seek(5)
    hand.do(act.Select((Item("layer", "reach"),)), act.SetLayer("hold", on=False), act.RenameJoint("LeftHand", "hand"))
    hand.do(act.KeyPose(3), act.RemoveProp("switch"), act.BakeLayers())
    hand.session.undo()
    hand.do(act.RemoveLayer("hold"))
    hand.session.seek(8)
    return hand


def planted_feet() -> Hand:
    """Feet planted on a walk: weighed, switched, their contacts moved, split and left out, removed, found again."""
    hand = Hand(new_document(short_walk()))
    hand.refused(act.SetFeet(on=False))
    hand.refused(act.RemoveFeet())
    hand.do(act.PlantFeet())
    first, *rest = hand.document.take.feet.contacts if hand.document.take and hand.document.take.feet else ()
    hand.do(act.SetFeet(weight=0.5), act.SetFeet(blend=0.2, pelvis=0.03), act.SetFeet(on=False), act.SetFeet(on=True))
    hand.do(act.SetFeet(contacts=(first._replace(last=first.last - 1), *(one._replace(ignored=True) for one in rest))))
    hand.session.seek(6)
    hand.do(act.TurnJoint("Spine", QUARTER), act.KeyPose(), act.RenameJoint("LeftFoot", "hoof"))
    hand.refused(act.SetFeet(weight=2.0))
    hand.do(act.RemoveFeet())
    hand.session.undo()
    hand.do(act.PlantFeet(), act.SetFeet(weight=1.0, pelvis=None))
    hand.session.seek(10)
    return hand


def grips() -> Hand:
    """Fingers that close on a ball: the ball moves, is renamed, let go, gripped by another hand, removed."""
    hand = Hand(sample("biped-hands"))
    hand.refused(act.SetGrip("RightHand", "ball"))
    hand.do(act.AddProp(Prop(name="ball", center=(-0.3, 1.0, 0.35), radius=0.045)))
    hand.refused(act.SetGrip("Head", "ball"))
    hand.do(act.ReleaseEffector("RightHand"), act.SetGrip("RightHand", "ball"))
    hand.do(act.SetProp("ball", center=(-0.35, 1.2, 0.3)), act.RenameProp("ball", "apple"))
    hand.do(act.RenameJoint("RightHand", "Paw"), act.SetGrip("Paw", None), act.SetGrip("LeftHand", "apple"))
    hand.session.undo()
    hand.drag({effector("Head"): (0.0, -0.1, 0.1)})
    hand.do(act.SetGrip("Paw", "apple"), act.RemoveProp("apple"))
    return hand


def retargeted_motion() -> Hand:
    """The motion of another figure becomes a clip of the one beside it, is replaced, undone, done again."""
    hand = Hand(sample("biped"))
    name = hand.session.figures.add(new_document(short_walk()))
    hand.session.figures.activate(hand.session.stage[0].name)
    made = [viewer.retarget(short_walk(count), sample("biped").character, feet="follow") for count in (8, 6)]
    hand.do(act.AddClip(made[0].character))
    hand.session.undo()
    hand.do(act.AddClip(made[1].character), act.KeyPose(2))
    hand.refused(act.AddClip(sample("two-link").character))
    hand.session.seek(4)
    hand.session.figures.remove(name)
    return hand


def built_by_hand() -> Hand:
    """A figure that is made, changed, mirrored and posed; and joints added below and taken from one that has keys."""
    hand = Hand(sample("two-link"))
    top = hand.document.skeleton.names[0]
    hand.do(act.AddJoint(top, (0.3, 0.4, 0.0), name="arm_L", kind="hinge"))
    hand.do(act.AddJoint("arm_L", (0.6, 0.5, 0.1), name="hand_L"), act.SplitBone("hand_L", 0.5, name="elbow_L"))
    hand.do(act.SetKind("elbow_L", "hinge"), act.SetAxis("elbow_L", (0.0, 0.0, 1.0)), act.MirrorBranch("arm_L"))
    hand.do(act.MoveJoint("hand_L", (0.7, 0.4, 0.2), mirror=True), act.DuplicateBranch("elbow_L", (0.0, 0.2, 0.0)))
    hand.do(act.SetLinks("hand_R", 3), act.ReadyToPose())
    name = hand.document.skeleton.effectors[-1].name
    hand.drag({effector(name): (0.1, 0.2, 0.1)}, 8)
    hand.do(act.Reparent("elbow_L", top), act.RemoveJoint("hand_R", branch=True, mirror=True))
    hand.session.undo()
    hand.refused(act.Reparent(top, "elbow_L"))
    return hand


RECORDINGS = [make for make in [*vars().values()] if getattr(make, "__annotations__", None) == {"return": "Hand"}]
"""The functions above that take nothing and return a `Hand`."""


def main() -> None:
    """Make those that are named, and all that are missing."""
    for place, goals in GOALS.items():
        if not (file := FOLDER / f"{place}.json").exists():
            file.write_text(goals_to_json(goals), encoding="utf-8")
            sys.stdout.write(f"{file.stat().st_size:8,} {place}\n")
    there = {path.name.removesuffix(SUFFIX) for path in recordings()}
    for make in RECORDINGS:
        name = make.__name__.replace("_", "-")
        if name in sys.argv[1:] or name not in there:
            session = make().session
            folder = FOLDER / f"v{ONE_FIGURE if session.stage.figures is None else VERSION}"
            folder.mkdir(exist_ok=True)
            path = folder / f"{name}{SUFFIX}"
            store(session, path)
            sys.stdout.write(f"{path.stat().st_size:8,} {name}\n")


if __name__ == "__main__":
    main()
