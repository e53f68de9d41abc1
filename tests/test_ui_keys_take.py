"""Keys of the take by key strokes: setting, stepping, removing, copying, recording, the range, export."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import Blend, Key
from inside.ui import key_frames, played_range
from ui_person import Person

import viewer
from viewer.document import Item
from viewer.ui import state_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def person() -> Person:
    return Person()


def frames(person: Person) -> tuple[int, ...]:
    return key_frames(person.document)


def go(person: Person, frame: int) -> None:
    person.controller.playback.go(frame)


def pose(person: Person, effector: str = "RightHand", by: tuple[float, float] = (-30.0, -60.0)) -> None:
    person.drag(person.at(effector), by)


def animate(person: Person) -> None:
    """Three different poses, at 0, 20 and 40."""
    person.key("s")
    for frame in (20, 40):
        go(person, frame)
        pose(person)
        person.key("i")


def hand(person: Person) -> list[float]:
    found: list[float] = person.place("RightHand").tolist()
    return found


def test_poses_are_keyed_shown_again_and_undone_one_by_one(person: Person) -> None:
    animate(person)
    assert frames(person) == (0, 20, 40)
    last = hand(person)
    person.key("down")
    assert person.document.frame == 20
    assert hand(person) != last
    person.key("up")
    assert person.document.frame == 40
    assert hand(person) == pytest.approx(last, abs=1e-9)
    person.key("ctrl+z")
    assert frames(person) == (0, 20)


def test_a_figure_without_motion_has_a_timeline_and_looking_at_it_is_no_change(person: Person) -> None:
    controller = person.controller
    assert controller.playback.frames == 120
    assert played_range(person.document) == (0, 119)
    before = person.document.pose
    person.key("right", "ctrl+right")
    assert person.document.frame == 11
    assert person.document.pose is before
    assert not controller.session.modified
    person.key("shift+right")
    assert person.document.frame == 119
    assert not controller.can("play.forwards")
    person.key("s")
    assert controller.can("play.forwards")
    assert controller.session.modified


def test_only_the_selected_joints_are_keyed_by_the_menus_command(person: Person) -> None:
    person.controller.selecting.select(Item("joint", "Spine"), Item("joint", "Neck"))
    person.controller.run("key.set_selected")
    take = person.document.take
    assert take is not None
    assert {person.document.skeleton.names[track.joint] for track in take.tracks} == {"Spine", "Neck"}


def test_the_key_here_is_removed(person: Person) -> None:
    animate(person)
    go(person, 20)
    person.key("alt+i")
    assert frames(person) == (0, 40)
    assert not person.controller.can("key.delete")


def test_delete_removes_selected_keys_and_goals_again_once_something_else_is_selected(person: Person) -> None:
    animate(person)
    keying = person.controller.keying
    take = person.document.take
    assert take is not None
    keying.select(take.keys_at(20))
    person.key("delete")
    assert frames(person) == (0, 40)
    assert not keying.selected
    keying.select(take.keys_at(40))
    assert keying.selected
    person.select("LeftHand")
    assert not keying.selected
    person.key("delete")
    assert frames(person) == (0, 40)
    assert not person.document.goal("LeftHand").enabled


def test_keys_move_and_copies_are_made_within_the_frames_that_there_are() -> None:
    person = Person("sample:walk")
    go(person, 10)
    pose(person)
    person.key("s")
    keying, last = person.controller.keying, person.document.frames - 1
    keying.select_all()
    keying.shift(-100)
    assert frames(person) == (0,)
    keying.shift(10**6, copy=True)
    assert frames(person) == (0, last)
    assert {key.frame for key in keying.selected} == {last}
    person.key("ctrl+z")
    assert frames(person) == (0,)


def test_duplicates_go_to_the_playhead_or_else_a_little_after(person: Person) -> None:
    person.key("s", "ctrl+d")
    assert frames(person) == (0, 10)
    assert {key.frame for key in person.controller.keying.selected} == {10}
    go(person, 50)
    person.key("ctrl+d")
    assert frames(person) == (0, 10, 50)


def test_copied_keys_are_pasted_as_keys_and_a_copied_pose_as_a_pose(person: Person) -> None:
    animate(person)
    take = person.document.take
    assert take is not None
    person.controller.keying.select((*take.keys_at(0), *take.keys_at(20)))
    person.key("ctrl+c")
    go(person, 60)
    person.key("ctrl+v")
    assert frames(person) == (0, 20, 40, 60, 80)
    person.key("escape", "ctrl+c")
    go(person, 100)
    person.key("ctrl+v")
    assert frames(person) == (0, 20, 40, 60, 80)


def test_interpolation_of_the_selected_keys(person: Person) -> None:
    animate(person)
    keying, take = person.controller.keying, person.document.take
    assert take is not None
    keying.select(take.keys_at(20))
    assert keying.blends() == {Blend.SMOOTH}
    keying.set_blend(Blend.STEP)
    assert keying.blends() == {Blend.STEP}
    go(person, 20)
    held = hand(person)
    go(person, 39)
    assert hand(person) == held


def test_auto_key_keys_what_an_edit_has_changed(person: Person) -> None:
    person.key("shift+i")
    assert person.controller.checked("key.auto")
    go(person, 30)
    pose(person)
    assert frames(person) == (30,)
    person.key("shift+i")
    pose(person, "LeftHand", (30.0, -60.0))
    assert frames(person) == (30,)


def test_a_pose_that_no_key_holds_is_said(person: Person) -> None:
    animate(person)
    assert "Pose not keyed" not in person.controller.status().modes
    pose(person)
    assert "Pose not keyed" in person.controller.status().modes
    person.key("s")
    assert "Pose not keyed" not in person.controller.status().modes


def test_a_drag_is_recorded_as_one_step(person: Person) -> None:
    depth = person.controller.session.history.index
    person.key("shift+r")
    assert person.controller.session.recorder.recording
    assert [hint.words for hint in person.controller.hints()] == ["record", "stop"]
    person.pull(person.at("RightHand"), (-40.0, -80.0))
    person.wait(1.0)
    assert person.controller.status().modes[0] == "Recording 0:01"
    assert state_of(person.controller, (1280, 720))["recording"]
    person.release(*person.controller.view.pointer_at)
    person.key("shift+r")
    session = person.controller.session
    assert not session.recorder.recording
    assert session.history.index == depth + 1
    found = frames(person)
    assert len(found) > 20
    assert np.diff(found).max() == 1
    assert person.controller.view.bar.messages[-1].text.startswith("Recorded 1.")
    person.key("ctrl+z")
    assert frames(person) == ()


def test_recording_nothing_leaves_nothing(person: Person) -> None:
    before = person.document.pose
    person.key("shift+r")
    person.wait(0.5)
    person.key("shift+r")
    assert person.controller.view.bar.messages[-1].text == "Nothing was recorded: drag while recording"
    assert person.controller.session.history.index == 0
    assert person.document.pose is before


def test_recordings_are_simplified_as_the_user_likes() -> None:
    person = Person(record_tolerance_deg=2.0)
    person.key("shift+r")
    person.pull(person.at("RightHand"), (-40.0, -80.0))
    person.wait(1.0)
    person.release(*person.controller.view.pointer_at)
    person.key("shift+r")
    take = person.document.take
    assert take is not None
    assert max(len(track) for track in take.tracks) < 20


def test_the_range_is_trimmed_and_played(person: Person) -> None:
    animate(person)
    go(person, 10)
    person.key("alt+bracketleft")
    go(person, 30)
    person.key("alt+bracketright")
    assert played_range(person.document) == (10, 30)
    person.key("shift+left")
    assert person.document.frame == 10
    person.key("left")
    assert person.document.frame == 30
    person.key("shift+right")
    assert person.document.frame == 40  # at the range's end already: the last frame that there is


def test_what_is_exported_is_what_is_played(person: Person, tmp_path: Path) -> None:
    animate(person)
    go(person, 30)
    shown = person.document.pose
    person.key("alt+bracketright")
    for suffix in (".bvh", ".json", ".npz", ".csv", ".glb", ".gltf"):
        assert person.controller.files.export_to(tmp_path / f"take{suffix}")
        assert person.controller.view.bar.messages[-1].text.startswith(f"Exported 31 frames to take{suffix}")
    clip = viewer.load(str(tmp_path / "take.npz")).clip
    assert clip is not None
    assert len(clip) == 31
    assert clip.rotations[30].tobytes() == shown.rotations.tobytes()


def test_the_state_file_tells_of_keys_and_frames(person: Person) -> None:
    state = state_of(person.controller, (1280, 720))
    assert (state["keys"], state["frames"], state["frame"], state["recording"]) == (0, 0, None, False)
    animate(person)
    state = state_of(person.controller, (1280, 720))
    assert (state["keys"], state["frames"], state["frame"]) == (3, 120, 40)
    assert state["time"] == pytest.approx(40 / 30)


def test_keys_that_are_gone_are_not_selected(person: Person) -> None:
    animate(person)
    keying = person.controller.keying
    keying.select([Key(1, 20), Key(1, 21)])
    assert keying.selected == {Key(1, 20)}
    go(person, 20)
    person.key("alt+i")
    assert keying.selected == frozenset()
    person.key("ctrl+z")
    assert keying.selected == {Key(1, 20)}


def test_keys_selected_in_one_file_are_not_selected_in_the_next(person: Person) -> None:
    animate(person)
    keying, chosen = person.controller.keying, Key(1, 20)
    keying.select([chosen])
    other = replace(person.document, character=replace(person.document.character))
    person.controller.opening.show(other)
    assert other.take is not None
    assert chosen in other.take.keys_at(20)
    assert keying.selected == frozenset()
    assert keying.frames_of(1) == frozenset()
