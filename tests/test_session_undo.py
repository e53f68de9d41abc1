"""Undo and redo: any actions in any order, all taken back, all done again; files that are out of date."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from inside.document import Blend, actions as act, kinds_for, violation
from inside.session import MOST_STEPS
from inside.spatial import exp, multiply
from sessions import HAND, character, drag, item_place, place, session

from viewer import InputError
from viewer.document import Grab, Item, new_document
from viewer.session import Session

EFFECTORS = ("LeftHand", "RightHand", "LeftFoot", "RightFoot", "Head")
JOINTS = ("Hips", "Spine", "LeftArm", "LeftForeArm", "RightUpLeg", "RightLeg", "Neck")
vectors = st.tuples(*[st.floats(-0.3, 0.3)] * 3)
flags = st.booleans()


class Hand(RuleBasedStateMachine):
    """A person at the window."""

    def __init__(self) -> None:
        super().__init__()
        self.made = Session(new_document(character("walk")))
        self.made.dispatch(act.SetSolver(backend="numpy", max_iterations=24))
        self.made.replace(self.made.document)
        self.start = self.made.document
        self.now = 0.0

    def clock(self) -> float:
        self.now += 1.0 / 60.0
        return self.now

    def do(self, action: act.Action) -> None:
        self.made.commit()  # an action brings an open gesture to its end, even if it is refused itself
        before = self.made.document
        try:
            self.made.dispatch(action)
        except InputError:
            assert self.made.document is before

    @rule(effector=st.sampled_from(EFFECTORS), way=vectors)
    def nudge(self, effector: str, way: tuple[float, float, float]) -> None:
        if effector not in [handle.effector for handle in self.made.document.goals]:
            return
        at = np.array(place(self.made.document, effector)) + way
        self.do(act.MoveTargets({effector: (at, None)}))

    @rule(
        item=st.sampled_from([Item("effector", name) for name in EFFECTORS] + [Item("joint", name) for name in JOINTS]),
        way=vectors,
        ticks=st.integers(0, 6),
        end=st.sampled_from(["commit", "cancel", "undo", "left open"]),
    )
    def drag(self, item: Item, way: tuple[float, float, float], ticks: int, end: str) -> None:
        made = self.made
        if made.document.clip is not None and made.clock.direction:
            made.stop()
        if item.kind == "effector" and item.name not in [handle.effector for handle in made.document.goals]:
            return
        made.begin_drag((item,))
        before, depth = made.document, made.history.index
        start = item_place(before, item)
        for tick in range(ticks):
            made.gestures.drag_to({item: (start + (tick + 1) / ticks * np.array(way), None)})
            made.tick(self.clock())
        if end == "commit":
            made.commit()
            assert made.history.index == depth + (ticks > 0)
        elif end != "left open":
            getattr(made, end)()
            assert made.document is before
            assert made.history.index == depth

    @rule(joint=st.sampled_from(JOINTS), turn=vectors, times=st.integers(1, 3))
    def turn(self, joint: str, turn: tuple[float, float, float], times: int) -> None:
        made = self.made
        made.begin(f"Turn {joint}")
        depth = made.history.index
        index = made.document.skeleton.index(joint)
        for _ in range(times):
            made.gestures.update(
                act.TurnJoint(joint, multiply(made.document.pose.rotations[index], exp(np.array(turn))))
            )
        made.commit()
        assert made.history.index <= depth + 1

    @rule(action=st.one_of(
        st.builds(act.SetLimits, flags),
        st.builds(act.SetJointLimits, st.sampled_from(JOINTS), flags),
        st.builds(act.SetCoordinate, st.sampled_from(JOINTS), st.integers(0, 2), st.floats(-4, 4)),
        st.builds(act.SetLength, st.sampled_from(JOINTS), st.floats(0.01, 0.6)),
        st.builds(act.SetStiffness, st.sampled_from(JOINTS), st.floats(0, 1)),
        st.builds(act.SetPin, st.sampled_from(EFFECTORS), flags, flags),
        st.builds(act.SetWeight, st.sampled_from(EFFECTORS), st.floats(0.1, 10)),
        st.builds(act.SetGoalKind, st.sampled_from(EFFECTORS), st.sampled_from(kinds_for(1))),
        st.builds(act.ReleaseEffector, st.sampled_from(EFFECTORS)),
        st.builds(act.HoldEffector, st.sampled_from(EFFECTORS)),
        st.builds(act.MakeEffector, st.sampled_from(JOINTS)),
        st.builds(act.RemoveEffector, st.sampled_from([*EFFECTORS, *JOINTS])),
        st.builds(act.ResetPose, st.sampled_from([None, ("LeftArm",), ("Hips", "Spine")]), flags, flags),
        st.builds(act.MirrorPose),
        st.builds(act.SetMode, st.sampled_from(["ik", "fk"])),
        st.builds(act.SetScope, st.sampled_from(["body", "limb", "selection"])),
        st.builds(lambda joint: act.Select((Item("joint", joint),), "toggle"), st.sampled_from(JOINTS)),
        st.builds(act.SetFrame, st.integers(-1, 30)),
        st.builds(act.SetClip, st.sampled_from([None, "run"])),
        st.builds(act.SetFrameTime, st.floats(0.001, 0.1)),
        st.builds(act.KeyPose, st.one_of(st.none(), st.integers(0, 30)), st.sampled_from([None, ("LeftArm",)])),
        st.builds(act.DeleteKeys),
        st.builds(act.SetBlend, st.none(), st.sampled_from(Blend)),
        st.builds(act.SetRange, st.integers(0, 10), st.integers(8, 20)),
        st.builds(act.SimplifyKeys, st.floats(0.1, 90.0)),
        st.builds(act.SetAutoKey, flags),
    ))  # fmt: skip
    def do_something(self, action: act.Action) -> None:
        self.do(action)

    @precondition(lambda self: self.made.document.take)
    @rule(by=st.integers(-9, 9), copy=flags)
    def move_keys(self, by: int, copy: bool) -> None:
        take = self.made.document.take
        assert take is not None
        keys = take.keys_at(self.made.document.frame)
        self.do(act.CopyKeys(keys, by) if copy else act.MoveKeys(keys, by))

    @rule(joint=st.sampled_from(JOINTS), ticks=st.integers(0, 6), end=st.sampled_from(["stop", "undo"]))
    def record(self, joint: str, ticks: int, end: str) -> None:
        made, item = self.made, Item("joint", joint)
        made.commit()
        before, depth = made.document, made.history.index
        try:
            made.record()
        except InputError:
            assert made.document is before
            return
        made.begin_drag((item,))
        start = item_place(made.document, item)
        for tick in range(ticks):
            made.gestures.drag_to({item: (start + np.array([0.0, 0.02 * tick, 0.01]), None)})
            self.now += 0.03
            made.tick(self.now)
            if not made.recorder.recording:  # at the end of the clip, which ends the drag, too
                assert made.document.frame == made.document.frames - 1
                assert made.gestures.open_step is None
                break
        if end == "undo":
            made.undo()
            assert made.document is before
        else:
            made.stop_recording()
        assert not made.recorder.recording
        assert made.history.index == depth + (end != "undo" and ticks > 0)

    @rule(joint=st.sampled_from(JOINTS))
    def grab(self, joint: str) -> None:
        self.made.begin_drag((), Grab(joint, (0.0, 0.1, 0.0)))

    @rule(steps=st.integers(1, 4))
    def undo_and_redo(self, steps: int) -> None:
        made = self.made
        made.commit()
        end, index = made.document, made.history.index
        back = sum(made.undo() for _ in range(steps))
        for _ in range(back):
            assert made.redo()
        assert made.history.index == index
        assert back == 0 or made.document.same_as(end)

    @precondition(lambda self: self.made.history.index < len(self.made.history))
    @rule()
    def redo(self) -> None:
        self.made.redo()

    @rule()
    def undo(self) -> None:
        self.made.undo()

    @invariant()
    def the_pose_is_one(self) -> None:
        pose = self.made.document.pose
        assert np.isfinite(pose.rotations).all()
        assert np.isfinite(pose.translations).all()
        np.testing.assert_allclose(np.linalg.norm(pose.rotations, axis=-1), 1.0, atol=1e-6)
        assert len(self.made.document.goals) == len(self.made.document.skeleton.effectors)

    def teardown(self) -> None:
        made = self.made
        made.commit()
        end, done = made.document, made.history.index
        labels = made.history.labels
        while made.undo():
            pass
        assert made.document.same_as(self.start)
        assert not made.modified
        while made.history.index < len(made.history) and made.history.index < done:
            made.redo()
        assert made.document.same_as(end)
        assert made.history.labels == labels
        made.go_to(0)
        assert made.document.same_as(self.start)


Hand.TestCase.settings = settings(max_examples=6, stateful_step_count=16, deadline=None)
TestHand = Hand.TestCase


def test_a_new_step_forgets_those_that_were_undone() -> None:
    made = session()
    for on in (False, True, False):
        made.dispatch(act.SetLimits(on))
    made.go_to(1)
    assert made.document.limits_on is False
    assert (made.history.index, (len(made.history) - made.history.index)) == (1, 2)
    made.dispatch(act.SetSolver(method="dls"))
    assert made.history.labels == ("Joint limits off", "Solver dls")
    assert not made.redo()
    with pytest.raises(InputError, match="no step 3: the history has 0 to 2"):
        made.go_to(3)


def test_what_changes_nothing_is_no_step() -> None:
    made = session()
    shown = made.document
    for action in (
        act.SetLimits(True),
        act.SetSolver(method="default"),
        act.SetMode("ik"),  # type: ignore[arg-type]
        act.Select(()),
        act.SetWeight("LeftHand", 1.0),
        act.ResetPose(),
    ):
        made.dispatch(action)
        assert made.document is shown, action
    assert made.history.labels == ()


def test_selecting_and_playing_do_not_make_a_file_out_of_date() -> None:
    made = session("walk")
    seen = []

    def then(act_on: object) -> None:
        assert callable(act_on)
        act_on()
        seen.append(made.modified)

    then(lambda: made.dispatch(act.Select((Item("joint", "Hips"),))))
    then(lambda: made.seek(3))
    then(lambda: made.dispatch(act.SetLimits(False)))
    then(made.mark_saved)
    then(lambda: made.dispatch(act.Select(())))
    then(made.undo)
    then(made.undo)
    then(made.redo)
    assert seen == [False, False, True, False, False, False, True, False]


def test_history_is_bounded_and_still_knows_what_was_saved() -> None:
    made = session()
    made.dispatch(act.SetLimits(False))
    made.mark_saved()
    for count in range(MOST_STEPS + 5):
        made.dispatch(act.Select((Item("joint", "Hips"),) if count % 2 else ()) if count else act.Select((HAND,)))
    assert made.history.index == MOST_STEPS
    assert not made.modified


def test_sliders_are_one_step_and_a_cancelled_one_is_none() -> None:
    made = session()
    start = made.document
    made.begin("Turn LeftForeArm")
    for angle in np.linspace(0.0, 1.0, 7).tolist():
        made.gestures.update(act.SetCoordinate("LeftForeArm", 0, angle))
    made.commit()
    assert made.history.labels == ("Turn LeftForeArm",)
    made.begin("Weight")
    made.gestures.update(act.SetWeight("LeftHand", 3.0))
    made.cancel()
    assert made.history.labels == ("Turn LeftForeArm",)
    made.undo()
    assert made.document is start
    with pytest.raises(InputError, match="Weight of LeftHand: no gesture was begun"):
        made.gestures.update(act.SetWeight("LeftHand", 3.0))


def test_what_is_under_way_is_committed_by_the_next_action() -> None:
    made = session()
    drag(made, HAND, (0.4, 1.0, 0.3), ticks=6)
    made.dispatch(act.SetLimits(False))
    assert made.history.labels == ("Drag LeftHand", "Joint limits off")
    assert violation(made.document) == 0.0


def test_revision_counts_what_is_to_be_seen() -> None:
    made = session()
    seen = made.stage.revision
    made.dispatch(act.SetLimits(False))
    assert made.stage.revision > seen
    seen = made.stage.revision
    assert not made.tick(0.0)
    assert made.stage.revision == seen
    made.undo()
    assert made.stage.revision > seen


def test_a_session_says_its_figure_and_how_many_steps_can_be_undone() -> None:
    made = session()
    assert repr(made) == '<Session "biped": 0 steps done>'
    made.dispatch(act.SetSolver(max_iterations=24))
    assert repr(made) == '<Session "biped": 1 step done>'
