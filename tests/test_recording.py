"""Recording while the body is moved: what was seen is what is played.

However a recording ends, and whatever is changed while it runs: one step that undo takes back whole, or none.
"""

from __future__ import annotations

import itertools
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from inside.document import actions as act, frame_pose
from inside.session import find_demo, load_session, save_session
from inside.spatial import exp, multiply
from sessions import HAND, place, session
from takes import apart, loose, take_of, turn
from ui_person import Person

from viewer import InputError
from viewer.document import Mode, Scope
from viewer.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inside.spatial import Floats

    from viewer.skeleton import Pose


RATE = 1.0 / 30.0


def records(made: Session) -> bool:
    return made.recorder.recording is not None


def wave(made: Session, ticks: int, *, start: float = 0.0, step: float = RATE) -> dict[int, Pose]:
    """Record a hand that goes round, a tick every ``step`` seconds; what was seen at each frame."""
    begin, seen = place(made.document, HAND.name), {}
    made.tick(start)
    made.begin_drag((HAND,))
    for tick in range(ticks):
        angle = 0.15 * tick * step / RATE
        way = 0.15 * np.array([np.sin(angle), 1.0 - np.cos(angle), 0.5 * np.sin(angle)])
        made.gestures.drag_to({HAND: (begin + way, None)})
        made.tick(start + tick * step)
        seen[made.document.frame] = made.document.pose
    return seen


def test_what_was_seen_is_played() -> None:
    made = session()
    before = made.document
    made.record()
    assert records(made)
    seen = wave(made, 45)
    assert made.document.frame == 44
    assert made.recorder.seconds == pytest.approx(44 * RATE)
    assert made.history.index == 0
    made.commit()
    made.stop_recording()
    assert not records(made)
    assert made.recorder.seconds == 0.0
    assert made.history.labels == ("Record 1.5 s",)
    assert take_of(made.document).frames == tuple(range(45))
    for frame, pose in seen.items():
        assert apart(frame_pose(made.document, frame), pose) < 1e-9
    assert apart(seen[10], seen[30]) > 0.05  # it did move
    assert made.document.played == (0, 119)
    made.undo()
    assert made.document is before
    made.redo()
    made.seek(20)
    assert apart(made.document.pose, seen[20]) < 1e-9


@pytest.mark.parametrize("step", [RATE / 3.1, RATE * 2.3])
def test_the_rate_is_that_of_the_take_whatever_that_of_the_ticks(step: float) -> None:
    made = loose()
    made.dispatch(act.HoldEffector(HAND.name))
    made.record()
    seen = wave(made, round(1.0 / step) + 1, step=step)
    made.stop_recording()
    frames = take_of(made.document).frames
    assert frames == tuple(range(len(frames)))
    assert len(frames) in (30, 31)
    poses = [frame_pose(made.document, frame) for frame in frames]
    steps = [apart(a, b) for a, b in itertools.pairwise(poses)]
    assert max(steps) < 0.2
    assert sum(step > 1e-4 for step in steps) > 25  # between two ticks it moves, too
    last = max(seen)
    assert apart(frame_pose(made.document, last), seen[last]) < 0.1


def test_a_recording_can_be_simplified() -> None:
    made = loose()
    made.dispatch(act.HoldEffector(HAND.name))
    made.recorder.tolerance_deg = 1.0
    made.record()
    seen = wave(made, 60)
    made.stop_recording()
    frames = take_of(made.document).frames
    assert 3 < len(frames) < 40
    assert (frames[0], frames[-1]) == (0, 59)
    worst = max(apart(frame_pose(made.document, frame), pose) for frame, pose in seen.items())
    assert worst <= np.radians(1.0) + 1e-9


def test_only_joints_that_moved_have_keys() -> None:
    made = loose()
    made.record()
    made.begin("Turn LeftArm")
    rotation = made.document.pose.rotations[made.document.skeleton.index("LeftArm")]
    for tick in range(10):
        made.gestures.update(act.TurnJoint("LeftArm", multiply(rotation, exp(np.array([0.0, 0.0, 0.01 * tick])))))
        made.tick(tick * RATE)
    made.stop_recording()
    assert [made.document.skeleton.names[track.joint] for track in take_of(made.document).tracks] == ["LeftArm"]


def test_pauses_between_movements_are_not_recorded() -> None:
    made = session()
    made.record()
    first = wave(made, 10)
    made.commit()
    for tick in range(10, 30):
        made.tick(tick * RATE)
    second = wave(made, 10, start=30 * RATE)
    made.commit()
    made.stop_recording()
    assert take_of(made.document).frames == (*range(10), *range(30, 40))
    for frame, pose in {**first, **second}.items():
        if frame not in (0, 30):  # where the hand was taken it stands as it stood
            assert apart(frame_pose(made.document, frame), pose) < 1e-9
    assert apart(frame_pose(made.document, 30), frame_pose(made.document, 9)) < 1e-9


def test_a_recording_replaces_the_keys_that_it_passes_and_no_others() -> None:
    made = loose()
    turn(made, "LeftArm", (0.0, 0.0, 0.2))
    for frame in (0, 5, 60):
        made.dispatch(act.KeyPose(frame))
    made.seek(2)
    made.dispatch(act.HoldEffector(HAND.name))
    made.record()
    wave(made, 10)
    made.stop_recording()
    arm = made.document.skeleton.index("LeftArm")
    assert take_of(made.document).keys_of(arm) == (0, *range(2, 12), 60)


def test_on_a_clip_it_goes_on_playing_until_the_hand_is_taken() -> None:
    made = session("walk")
    clip = made.document.clip_data
    assert clip is not None
    made.seek(2)
    made.record()
    made.tick(0.0)
    made.tick(3 * clip.frame_time)
    assert made.document.frame == 5
    assert made.document.pose.same_as(clip.pose(5))
    seen = wave(made, 5, start=3 * clip.frame_time, step=clip.frame_time)
    made.commit()
    made.tick(9 * clip.frame_time)
    made.stop_recording()
    assert take_of(made.document).frames == tuple(range(5, 10))
    assert take_of(made.document).base == made.document.clip
    for frame in range(6, 10):
        assert apart(frame_pose(made.document, frame), seen[frame]) < 1e-9
    assert made.document.clip_data is clip


def test_at_the_end_of_a_clip_a_recording_ends() -> None:
    made = session("walk")
    last = made.document.frames - 1
    made.seek(last - 3)
    made.record()
    seen = wave(made, 4, step=made.document.frame_time)
    assert not records(made)
    assert made.gestures.label is None
    assert made.recorder.last_seconds == pytest.approx(3 * made.document.frame_time)
    assert apart(made.document.pose, frame_pose(made.document, last)) < 1e-12
    assert apart(made.document.pose, seen[last]) < 1e-12
    assert made.history.labels == ("Record 0.1 s",)
    assert made.document.frame == last
    assert take_of(made.document).frames[-1] == last
    with pytest.raises(InputError, match=f"there is nothing to record on after frame {last}: go back first"):
        made.record()


def test_without_a_clip_the_take_grows() -> None:
    made = session()
    made.dispatch(act.SetRange(0, 10))
    made.record()
    wave(made, 80)
    assert made.document.frames > 80
    made.stop_recording()
    assert made.document.played == (0, 79)


def test_nothing_moved_is_nothing_recorded() -> None:
    made = session()
    before = made.document
    made.record()
    for tick in range(20):
        assert made.tick(tick * RATE)
    assert made.document.frame == 19
    made.stop_recording()
    assert made.history.index == 0
    assert made.document.same_as(before)
    made.stop_recording()


def test_undo_takes_a_recording_back_as_a_whole() -> None:
    made = session()
    before = made.document
    made.record()
    wave(made, 10)
    made.commit()
    wave(made, 10, start=10 * RATE)
    assert made.undo()
    assert not records(made)
    assert made.document is before
    assert made.history.index == 0


def test_a_movement_that_is_cancelled_is_not_recorded() -> None:
    made = session()
    pose = made.document.pose
    made.record()
    wave(made, 10)
    made.cancel()
    assert records(made)
    assert made.document.pose.same_as(pose)
    made.stop_recording()
    assert made.history.index == 0


ENDS: tuple[Callable[[Session], object], ...] = (
    lambda made: made.seek(0),
    lambda made: made.play(),
    lambda made: made.dispatch(act.KeyPose()),
    lambda made: made.dispatch(act.SetRange(0, 50)),
    lambda made: made.redo(),
)


@pytest.mark.parametrize("end", ENDS)
def test_what_is_no_posing_ends_a_recording(end: Callable[[Session], object]) -> None:
    made = session()
    made.dispatch(act.SetRange(0, 90))
    made.record()
    wave(made, 10)
    made.commit()
    made.dispatch(act.SetLimits(on=False))
    assert records(made)
    end(made)
    assert not records(made)
    assert "Record 0.3 s" in made.history.labels


def test_sliders_and_single_edits_are_recorded_too() -> None:
    made = loose()
    made.record()
    made.tick(0.0)
    poses = {}
    for tick in range(1, 10):
        turn(made, "Spine", (0.02, 0.0, 0.0))
        made.tick(tick * RATE)
        poses[made.document.frame] = made.document.pose
    made.stop_recording()
    assert made.history.labels == ("Record 0.3 s",)
    for frame, pose in poses.items():
        assert apart(frame_pose(made.document, frame), pose) < 1e-9


def test_all_but_the_last_second_is_in_the_document_meanwhile(tmp_path: Path) -> None:
    made = session()
    made.record()
    seen = wave(made, 75)
    save_session(made.document, tmp_path / "a.ikv.json")
    kept = load_session(tmp_path / "a.ikv.json")
    assert len(take_of(kept).frames) >= 45
    assert kept.frame == 74
    for frame in take_of(kept).frames:
        assert apart(frame_pose(kept, frame), seen[frame]) < 1e-9


def test_a_long_silence_is_no_slow_movement() -> None:
    made = loose()
    made.record()
    made.tick(0.0)
    made.begin("Turn Spine")
    start = made.document.pose
    made.tick(RATE)
    turned = multiply(start.rotations[made.document.skeleton.index("Spine")], exp(np.array([0.3, 0.0, 0.0])))
    made.gestures.update(act.TurnJoint("Spine", turned))
    made.tick(61 * RATE)
    made.stop_recording()
    assert apart(frame_pose(made.document, 50), start) < 1e-9
    assert apart(frame_pose(made.document, 61), start) > 0.2


@pytest.mark.parametrize("waited", [0, 45])
def test_before_the_hand_is_taken_the_figure_stands_as_it_stood(waited: int) -> None:
    made = session()
    stood = made.document.pose
    made.record()
    for tick in range(waited + 1):
        made.tick(tick * RATE)
    begin = place(made.document, HAND.name)
    made.begin_drag((HAND,))
    for tick in range(1, 10):
        made.gestures.drag_to({HAND: (begin + np.array([0.1, 0.2, 0.0]), None)})
        made.tick((waited + tick) * RATE)
    made.commit()
    made.stop_recording()
    assert take_of(made.document).frames[0] == waited
    for frame in range(waited + 1):
        assert apart(frame_pose(made.document, frame), stood) < 1e-9
    assert apart(frame_pose(made.document, waited + 3), stood) > 0.05


def test_what_is_moved_within_a_frame_is_kept_at_the_next() -> None:
    made = loose()
    stood = made.document.pose
    made.record()
    made.tick(0.0)
    turn(made, "Spine", (0.3, 0.0, 0.0))
    turned = made.document.pose
    made.tick(0.1 * RATE)
    made.tick(0.2 * RATE)
    made.stop_recording()
    assert take_of(made.document).frames == (0, 1)
    assert apart(frame_pose(made.document, 0), stood) < 1e-9
    assert apart(frame_pose(made.document, 1), turned) < 1e-9
    assert apart(made.document.pose, turned) < 1e-9


@pytest.mark.parametrize("speed", [0.25, 2.0])
def test_it_runs_as_fast_as_it_is_played(speed: float) -> None:
    made = session("walk")
    made.set_speed(speed)
    made.record()
    step = made.document.frame_time
    for tick in range(21):
        made.tick(5.0 + tick * step)
    assert made.document.frame == round(20 * speed)
    made.set_speed(1.0)
    made.tick(5.0 + 24 * step)
    assert made.document.frame == round(20 * speed) + 4
    assert made.recorder.seconds == pytest.approx(made.document.frame * step)


def test_pinned_feet_are_held_in_a_simplified_recording() -> None:
    made = session()
    made.recorder.tolerance_deg = 3.0
    made.record()
    wave(made, 40)
    made.commit()
    made.stop_recording()
    take = take_of(made.document)
    assert len(take.frames) < 40
    handle = made.document.goal("LeftFoot")
    assert handle.position is not None
    for frame in range(40):
        feet = place_at(made, frame, "LeftFoot")
        assert np.linalg.norm(feet - np.array(handle.position)) < 2.5e-3


def place_at(made: Session, frame: int, effector: str) -> Floats:
    made.seek(frame)
    return place(made.document, effector)


def test_a_tolerance_that_is_none() -> None:
    made = session()
    with pytest.raises(InputError, match="recording tolerance: expected a finite number, 0 to 180, found -1"):
        made.recorder.tolerance_deg = -1.0


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
