"""However a recording ends, and whatever is changed while it runs: one step that undo takes back whole, or none."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inside.document import actions as act
from inside.session import find_demo
from sessions import HAND, place, session
from ui_person import Person

from viewer import InputError
from viewer.document import Mode, Scope
from viewer.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from inside.spatial import Floats

Doing = tuple[str, "Callable[[Session], object]"]

MEANWHILE: tuple[Doing, ...] = (
    ("limits", lambda made: made.dispatch(act.SetLimits(on=not made.document.limits_on))),
    ("planar", lambda made: made.dispatch(act.SetPlanar("yz"))),
    ("undo", lambda made: made.undo()),
    ("redo", lambda made: made.redo()),
    ("start of the history", lambda made: made.go_to(0)),
    ("end of the history", lambda made: made.go_to(len(made.history))),
    ("scrub", lambda made: made.seek(3) if made.document.take is not None and made.document.take.frames else None),
    ("trim", lambda made: made.dispatch(act.SetRange(2, 30))),
    ("rate", lambda made: made.dispatch(act.SetTakeRate(25.0))),
    ("play", lambda made: made.play() if made.document.take is not None and made.document.take.frames else None),
    ("mode", lambda made: made.dispatch(act.SetMode(Mode.FK))),
    ("scope", lambda made: made.dispatch(act.SetScope(Scope.LIMB))),
    ("pin", lambda made: made.dispatch(act.SetPin("RightHand", position=True))),
    ("no effector", lambda made: made.dispatch(act.RemoveEffector("Head"))),
    ("longer", lambda made: made.dispatch(act.SetLength("LeftUpLeg", 0.5))),
    ("key", lambda made: made.dispatch(act.KeyPose())),
    ("auto-key", lambda made: made.dispatch(act.SetAutoKey(on=True))),
    ("other clip", lambda made: made.dispatch(act.SetClip(None))),
    ("select", lambda made: made.dispatch(act.Select((HAND,)))),
    ("solve", lambda made: made.solve()),
    ("actions", lambda made: made.record_actions()),
    ("saved", lambda made: made.mark_saved()),
    ("reset", lambda made: made.dispatch(act.ResetPose())),
)
MOVES: tuple[Doing, ...] = (
    ("nothing", lambda _: None),
    ("press", lambda made: made.begin_drag((HAND,))),
    ("drag", lambda made: _drag(made, let_go=True)),
    ("drag under way", lambda made: _drag(made, let_go=False)),
)


def _drag(made: Session, *, let_go: bool = True) -> None:
    start = place(made.document, HAND.name)
    made.begin_drag((HAND,))
    for tick in range(1, 5):
        made.gestures.drag_to({HAND: (start + np.array([0.0, 0.02 * tick, 0.0]), None)})
        made.tick((10 + tick) * made.document.frame_time)
    if let_go:
        made.commit()


def worked_on(name: str) -> Session:
    """A session with two steps done and one undone."""
    made = session(name)
    for stiffness in (0.1, 0.2, 0.3):
        made.dispatch(act.SetStiffness("Spine", stiffness))
    made.undo()
    return made


@pytest.mark.parametrize(
    ("name", "moves", "meanwhile"),
    [("walk", moves, meanwhile) for moves in MOVES for meanwhile in MEANWHILE]
    + [("biped", MOVES[2], meanwhile) for meanwhile in MEANWHILE]  # without a clip
    + [("biped", moves, MEANWHILE[0]) for moves in MOVES if moves is not MOVES[2]],
    ids=lambda one: one if isinstance(one, str) else one[0],
)
def test_one_step_or_none(name: str, moves: Doing, meanwhile: Doing) -> None:
    made = worked_on(name)
    before, depth = made.document, made.history.index
    made.record()
    for tick in range(11):
        made.tick(tick * made.document.frame_time)
    moves[1](made)
    meanwhile[1](made)
    made.tick(20 * before.frame_time)
    made.stop_recording()
    made.commit()
    made.stop()
    assert not made.recorder.recording
    labels = made.history.labels[depth:]
    assert sum(label.startswith("Record ") for label in labels) <= 1
    while made.history.index > depth:
        assert made.undo()
    if labels and labels[0].startswith("Record"):
        assert made.history.index != depth or made.document is before
    while made.undo():
        pass
    assert made.document.skeleton is made.document.character.skeleton
    assert made.document.take is None
    assert made.document.limits_on
    while made.redo():
        pass
    assert np.isfinite(made.document.pose.rotations).all()


def test_the_end_of_the_clip_ends_the_drag_and_the_recording_in_one_step() -> None:
    made = session("walk")
    last = made.document.frames - 1
    made.seek(last - 3)
    before = made.document
    start = place(before, HAND.name)
    made.record()
    made.begin_drag((HAND,))
    for tick in range(4):
        assert made.recorder.recording
        made.gestures.drag_to({HAND: (start + np.array([0.0, 0.02 * tick, 0.0]), None)})
        made.tick(tick * before.frame_time)
    assert not made.recorder.recording
    assert made.document.frame == last
    with pytest.raises(InputError, match=r"^no drag was begun$"):
        made.gestures.drag_to({HAND: (start, None)})
    assert not made.stop_recording()
    assert made.history.labels == ("Record 0.1 s",)
    assert made.undo()
    assert made.document is before


@pytest.mark.parametrize("name", ["biped", "walk"])
def test_what_is_set_while_nothing_is_recorded_is_one_step(name: str) -> None:
    made = session(name)
    before = made.document
    made.record()
    made.tick(0.0)
    made.dispatch(act.SetLimits(on=False))
    made.dispatch(act.SetScope(Scope.LIMB))
    made.tick(5 * before.frame_time)
    made.stop_recording()
    assert made.history.labels == ("Record",)
    assert made.modified
    assert not made.document.limits_on
    assert made.undo()
    assert made.document is before


def test_what_is_selected_while_nothing_is_recorded_does_not_make_a_file_old() -> None:
    made = session("walk")
    made.record()
    made.dispatch(act.Select((HAND,)))
    made.tick(0.0)
    made.tick(0.2)
    made.stop_recording()
    assert made.history.labels == ("Select LeftHand",)
    assert not made.modified


def test_what_was_moved_but_not_yet_sampled_is_recorded() -> None:
    made = session()
    made.dispatch(act.SetLimits(on=False))
    made.replace(made.document)
    made.record()
    made.tick(0.0)
    made.tick(0.1)
    made.dispatch(act.TurnJoint("LeftArm", (0.0, 0.0, 0.6, 0.8)))
    made.stop_recording()
    arm = made.document.skeleton.index("LeftArm")
    assert made.document.take is not None
    assert made.document.take.keys_of(arm) == (3, 4)  # as it stood, and as it was turned
    np.testing.assert_allclose(made.document.pose.rotations[arm], (0.0, 0.0, 0.6, 0.8), atol=1e-12)


def test_a_pose_that_is_not_keyed_is_there_still_when_a_recording_was_a_mistake() -> None:
    made = session("walk")
    made.seek(5)
    made.dispatch(act.TurnJoint("LeftArm", (0.0, 0.0, 0.6, 0.8)))
    pose = made.document.pose
    made.record()
    made.tick(0.0)
    made.stop_recording()
    assert made.document.pose.same_as(pose)


def test_what_is_recorded_is_not_saved_yet() -> None:
    made = session("walk")
    made.record()
    made.tick(0.0)
    assert not made.modified
    _drag(made)
    modified = [made.modified]
    made.undo()
    assert [*modified, made.modified] == [True, False]


def test_another_demo_ends_a_recording_and_forgets_it() -> None:
    made = session()
    made.record()
    _drag(made, let_go=False)
    demo = find_demo("ball")
    made.replace(demo.build())
    made.targets.animate(demo.motions)
    assert not made.recorder.recording
    assert made.history.labels == ()
    made.tick(1.0)
    assert made.document.take is None


def test_moving_targets_keep_their_pace_while_they_are_recorded() -> None:
    ways = []
    for recorded in (False, True):
        demo = find_demo("ball")
        made = Session(demo.build())
        made.dispatch(act.SetSolver(backend="numpy"))
        made.targets.animate(demo.motions)
        if recorded:
            made.record()
        for tick in range(90):
            made.tick(tick / 60.0)
        ways.append(target(made, demo.motions[0].effector))
        if recorded:
            made.stop_recording()
            assert made.document.take is not None
            assert made.document.take.frames[-1] == 44
    np.testing.assert_array_equal(ways[0], ways[1])


def target(made: Session, effector: str) -> Floats:
    return np.array(made.document.goal(effector).position)


# What a person may press while it records; nothing that opens another file.
COMMANDS = (
    "key.record", "key.record", "limits.all", "key.auto", "key.set", "key.delete", "trim.start", "trim.end",
    "edit.undo", "edit.redo", "play.next", "play.first", "play.forwards", "view.plane_xy", "mode.fk", "scope.next",
    "pose.mirror", "pose.copy", "pose.paste", "show.ghosts", "show.trails", "select.all", "select.none",
)  # fmt: skip


@given(st.integers(0, 2**32), st.sampled_from(["sample:walk", "sample:biped"]))
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_is_pressed_while_it_records_can_be_undone(seed: int, file: str) -> None:
    chance, person = Random(seed), Person(file)
    start, controller = person.document, person.controller
    controller.run("key.record")
    for _ in range(12):
        if chance.random() < 0.5:
            person.pull(person.at("LeftHand"), (chance.uniform(-90, 90), chance.uniform(-90, 90)))
            if chance.random() < 0.7:
                person.release(0.0, 0.0)
        else:
            controller.run(chance.choice([name for name in COMMANDS if name in controller.bindings]))
        person.wait(chance.choice((0.02, 0.1, 0.3)))
        controller.draw_list()
        np.testing.assert_allclose(np.linalg.norm(person.document.pose.rotations, axis=-1), 1.0, atol=1e-9)
    controller.drags.cancel()
    while controller.can("edit.undo"):
        assert controller.run("edit.undo")
    assert not controller.session.recorder.recording
    now = person.document
    assert (now.take, now.planar, now.limits_on, now.scope, now.mode) == (
        None, None, start.limits_on, start.scope, start.mode,
    )  # fmt: skip
    assert now.skeleton is start.skeleton
