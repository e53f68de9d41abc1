"""Planted feet in the window: the command, the strip above the keys, footprints and ghost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import KeyPose, PlantFeet, SetFeet, TurnJoint, feet_of, frame_pose, known, planted_feet
from inside.session import load_session, save_session
from inside.ui import FeetView, planting
from panel_window import PanelWindow
from sessions import place as placed
from test_feet_document import long_walk, slippery
from ui_person import Person

import viewer
from viewer.document import new_document
from viewer.scene import draw_list
from viewer.session import Session
from viewer.ui import Key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from inside.document import PlantedContact


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(slippery().document.character)
    yield made
    made.close()


def test_the_command_plants_says_so_and_switches(window: PanelWindow) -> None:
    assert window.controller.checked("feet.plant") is False
    assert window.controller.run("feet.plant")
    assert window.controller.checked("feet.plant") is True
    said = window.controller.view.bar.messages[-1].text
    assert said.startswith("Feet slid ")
    assert "cm/s, now 0.00; pelvis at most " in said
    window.controller.run("feet.plant")
    feet = feet_of(window.session.document)
    assert feet is not None
    assert not feet.on
    assert "cm/s, as in the motion" in window.controller.view.bar.messages[-1].text
    window.controller.run("feet.remove")
    assert feet_of(window.session.document) is None
    assert not window.controller.can("feet.remove")
    assert not window.controller.can("feet.find")


def test_footprints_are_where_the_feet_stand(window: PanelWindow) -> None:
    window.controller.run("feet.plant")
    prints = window.controller.scene().footprints
    assert len(prints) >= 3
    assert {one.side for one in prints} == {"left", "right"}
    assert all(one.planted for one in prints)
    window.session.seek(10)
    (now,) = [one for one in window.controller.scene().footprints if one.now]
    assert now.side == "left"
    skeleton, pose = window.session.document.skeleton, window.session.document.pose
    ankle = viewer.fk(skeleton, pose).positions[skeleton.index("LeftFoot")]
    np.testing.assert_allclose(now.heel, ankle, atol=1e-6)
    window.session.dispatch(SetFeet(on=False))
    assert not any(one.planted for one in window.controller.scene().footprints)


def test_with_ghosts_there_is_one_of_the_figure_before(window: PanelWindow) -> None:
    window.controller.run("feet.plant")
    assert not window.controller.scene().ghosts
    window.controller.run("show.ghosts")
    assert "before" in [ghost.label for ghost in window.controller.scene().ghosts]


def drag_a_bar(window: PanelWindow, frames: int) -> PlantedContact:
    """Drag the end of a bar by so many frames; its contact before."""
    window.ui.layout.extra = 60.0
    window.ui.regions = window.ui.layout.regions(window.size, 1.0)
    window.frames(4)
    lane, view = window.box("timeline", "contacts"), window.controller.keying.time_view
    feet = feet_of(window.session.document)
    assert feet is not None
    bar = next(one for one in feet.contacts if (one.foot, one.point) == ("LeftFoot", "ball"))
    wide = lane.right - lane.left - 28.0

    def at(frame: float) -> tuple[float, float]:
        return lane.left + 14.0 + (frame - view.start) / view.span * wide, lane.top + 2.0 + 14.0 * 1.5

    window.move(at(bar.last + 0.4))
    window.frames(3)
    window.button(down=True)
    for moved in range(1, frames + 1):
        window.move(at(bar.last + moved + 0.4))
    window.button(down=False)
    window.frames(2)
    return bar


def test_a_bar_is_dragged_and_the_eye_switches(window: PanelWindow) -> None:
    window.controller.run("feet.plant")
    bar = drag_a_bar(window, 3)
    after = feet_of(window.session.document)
    assert after is not None
    assert [one.last for one in after.contacts if one[:3] == bar[:3]] == [bar.last + 3]
    assert window.session.history.labels[-1] == "Contact of a foot"
    window.move(window.box("timeline", "feet eye").middle)
    window.frames(2)
    window.button(down=True)
    window.button(down=False)
    window.frames(2)
    after = feet_of(window.session.document)
    assert after is not None
    assert not after.on


def test_soles_are_drawn_flat_on_the_floor_and_empty_where_feet_slide(window: PanelWindow) -> None:
    projection = window.controller.camera.projection((800, 600))
    bare = draw_list(window.controller.scene(), projection, 1.0)
    window.controller.run("feet.plant")
    scene = window.controller.scene()
    planted_list = draw_list(scene, projection, 1.0)
    soles = planted_list.triangles["position"][len(bare.triangles) :].reshape(-1, 3)
    assert len(soles) > 0
    assert np.ptp(soles[:, 1]) < 1e-6
    for one in scene.footprints:  # each sole is under its ankle and reaches ahead of it
        near = soles[np.linalg.norm(soles[:, ::2] - one.heel[::2], axis=1) < 0.35]
        ahead = (near[:, ::2] - one.heel[::2]) @ (one.way[::2] / np.linalg.norm(one.way))
        assert ahead.max() > np.linalg.norm(one.way) > 0.0 > ahead.min()
    window.session.dispatch(SetFeet(on=False))
    sliding = draw_list(window.controller.scene(), projection, 1.0)
    assert len(sliding.triangles) == len(bare.triangles)
    assert len(sliding.lines) > len(bare.lines)


def lift(person: Person) -> None:
    """Press the button of the message about a foot that stays."""
    (message,) = [one for one in person.controller.view.bar.messages if one.actions]
    assert message.text == "LeftFoot is planted here and stays"
    assert [words for words, _ in message.actions] == ["Lift it"]
    person.controller.view.bar.choose(message, 0)


@pytest.mark.parametrize("fk", [False, True])
def test_a_planted_foot_is_not_dragged_to_where_its_key_would_not_show_it_until_it_is_lifted(fk: bool) -> None:
    person = Person("sample:walk")
    person.controller.run("feet.plant")
    person.controller.run("key.auto")
    person.controller.playback.go(44)
    person.controller.run("view.frame_all")
    person.wait()
    before, at = person.document, person.at("LeftFoot")
    if fk:
        person.key("d")
    person.drag(at, (60.0, -40.0))
    assert person.document.pose is before.pose
    assert person.document.take is before.take
    lift(person)
    before = person.document
    person.drag(person.at("LeftFoot"), (60.0, -40.0))
    assert person.controller.session.history.labels[-1].startswith("Turn" if fk else "Drag")
    moved = np.linalg.norm(person.place("LeftFoot") - placed(before, "LeftFoot"))
    assert moved > 0.02
    person.controller.playback.go(40)
    person.controller.playback.go(44)
    assert np.linalg.norm(person.place("LeftFoot") - placed(before, "LeftFoot")) == pytest.approx(moved, abs=1e-4)


def test_a_mirrored_drag_moves_no_planted_foot_of_the_other_side() -> None:
    person = Person("sample:walk")
    person.controller.run("feet.plant")
    person.controller.run("key.auto")
    person.controller.playback.go(44)  # the left foot stands, the right one swings
    person.controller.run("view.frame_all")
    person.wait()
    person.controller.run("edit.mirror")
    before = person.document
    person.drag(person.at("RightFoot"), (30.0, -30.0))
    assert person.document.take is before.take
    lift(person)


def test_what_planting_overrules_of_a_key_is_said_and_lifting_shows_it() -> None:
    person = Person("sample:walk")
    person.controller.run("feet.plant")
    person.controller.playback.go(44)
    person.controller.run("view.frame_all")
    person.wait()
    person.drag(person.at("LeftFoot"), (60.0, -40.0))
    dragged = person.place("LeftFoot")
    person.key("s")
    assert np.linalg.norm(person.place("LeftFoot") - dragged) > 0.01
    lift(person)
    person.wait()
    assert np.linalg.norm(person.place("LeftFoot") - dragged) < 1e-4
    person.key("s")  # nothing is overruled now
    assert not [one for one in person.controller.view.bar.messages if one.actions]


# Long motions


@pytest.fixture
def long(window: PanelWindow, monkeypatch: pytest.MonkeyPatch) -> PanelWindow:
    """A window whose motion counts as long."""
    monkeypatch.setattr(planting, "LONG", 2)
    return window


def wait(window: PanelWindow) -> None:
    """Until the feet are planted."""
    background = window.controller.background
    background.jobs["planting"].work.wait()
    window.controller.tick(1.0)
    assert not background.jobs


def test_a_key_that_starts_long_work_has_an_effect(long: PanelWindow) -> None:
    long.controller.handle(Key("f", frozenset({"ctrl", "shift"})))
    assert long.controller.view.refusal is None
    wait(long)


def test_the_feet_of_a_long_motion_are_planted_while_the_window_goes_on(long: PanelWindow) -> None:
    before = long.session.document
    assert long.controller.run("feet.plant")
    assert long.session.document is before
    long.session.seek(7)  # any frame may be looked at meanwhile
    wait(long)
    assert long.session.history.labels == ("Plant feet",)
    assert "cm/s, now 0.00; pelvis at most " in long.controller.view.bar.messages[-1].text
    other = Session(before)
    other.seek(7)
    other.dispatch(PlantFeet())
    assert long.session.document.same_as(other.document)
    long.frames(3)  # the strip is drawn
    long.session.undo()
    assert long.session.document.take == before.take


def test_escape_and_the_card_cancel_and_nothing_changes(long: PanelWindow) -> None:
    before = long.session.document
    ways: list[Callable[[], object]] = [
        lambda: long.controller.handle(Key("escape")),
        lambda: long.click("filming", "Cancel"),
    ]
    for cancel in ways:
        long.controller.run("feet.plant")
        work = long.controller.background.jobs["planting"].work
        long.frames(3)
        assert {"Planting feet", "Cancel"} <= set(long.words("filming"))
        cancel()
        long.controller.tick(1.0)
        work.wait()
        long.controller.tick(2.0)
        assert long.session.document is before
        assert not long.session.history.labels
        assert long.controller.view.bar.messages[-1].text == "Feet stay as they were: cancelled"
        long.frames(3)
        assert "Planting feet" not in long.words("filming")


def test_another_motion_is_not_overwritten(long: PanelWindow) -> None:
    long.controller.run("feet.plant")
    work = long.controller.background.jobs["planting"].work
    long.session.replace(new_document(viewer.load("sample:walk")))
    after = long.session.document
    work.wait()
    long.controller.tick(1.0)
    assert long.session.document is after
    assert not long.controller.background.jobs
    assert long.controller.view.bar.messages[-1].text == "Feet stay as they were: the motion has changed meanwhile"


def test_feet_that_never_touch_are_told_of_after_the_work(long: PanelWindow) -> None:
    skeleton = long.session.document.skeleton
    clip = long.session.document.character.clip
    assert clip is not None
    flying = replace(clip, translations=clip.translations + np.linspace(0.0, 900.0, len(clip))[:, None, None])
    long.session.replace(new_document(viewer.Character(skeleton, {"flying": flying})))
    long.controller.run("feet.plant")
    wait(long)
    message = long.controller.view.bar.messages[-1]
    assert message.level == "error"
    assert message.text.startswith("No contact of the feet with the ground was found")


@pytest.fixture
def planted_once(window: PanelWindow, monkeypatch: pytest.MonkeyPatch) -> PanelWindow:
    """A window with planted feet of a motion that counts as long, in which planting all frames again fails."""
    window.session.replace(long_walk(frames=900).document)
    monkeypatch.setattr(planting, "LONG", 600)
    monkeypatch.setattr(planted_feet, "_planted", None)
    return window


def test_weight_and_switch_plant_nothing(planted_once: PanelWindow) -> None:
    session = planted_once.session
    full = session.document
    session.dispatch(SetFeet(weight=0.5))
    half = session.document
    session.dispatch(SetFeet(on=False))
    session.dispatch(SetFeet(on=True))
    assert session.document.same_as(half)
    session.dispatch(SetFeet(weight=1.0))
    assert session.document.same_as(full)


def test_a_bar_follows_the_mouse_and_what_is_shown_is_what_planting_all_finds(window: PanelWindow) -> None:
    window.session.dispatch(PlantFeet())
    before = window.session.document
    drag_a_bar(window, 3)
    assert window.session.history.labels == ("Plant feet", "Contact of a foot")
    feet, after = feet_of(before), feet_of(window.session.document)
    assert feet is not None
    assert after is not None
    changed = [(old, new) for old, new in zip(feet.contacts, after.contacts, strict=True) if old != new]
    assert [(old.last + 3, old.first) for old, _ in changed] == [(new.last, new.first) for _, new in changed]
    assert len(changed) == 1
    afresh = new_document(before.character)
    other = Session(afresh)
    other.dispatch(PlantFeet())
    other.dispatch(SetFeet(blend=0.2))
    other.dispatch(SetFeet(contacts=after.contacts, blend=feet.blend))
    mine, its = (FeetView(session).contacts(0, 1e4) for session in (window.session, other))
    assert [one[:3] for one in mine] == [one[:3] for one in its]
    for one, same in zip(mine, its, strict=True):
        assert one.drift_cm == pytest.approx(same.drift_cm, abs=1e-9)
        assert one.wanders == same.wanders
    made, same_made = known(window.session.document), known(other.document)
    assert made is not None
    assert same_made is not None
    assert made.words == same_made.words


def test_a_key_under_the_feet_of_a_long_motion_is_set_at_once(planted_once: PanelWindow) -> None:
    session = planted_once.session
    session.seek(9)
    session.dispatch(TurnJoint("Spine", (0.0, 0.2, 0.0, 0.98)))
    assert planted_once.controller.run("key.set")
    assert session.history.labels == ("Turn Spine", "Key pose")
    planted_once.controller.run("key.set")  # they are there already
    assert session.history.labels == ("Turn Spine", "Key pose")
    assert not planted_once.controller.background.jobs


def test_keys_are_set_while_the_feet_are_planted(long: PanelWindow) -> None:
    """What is planted then is planted on them, as if they had been there."""
    session = long.session
    session.dispatch(KeyPose(60))
    long.controller.run("feet.plant")
    work = long.controller.background.jobs["planting"].work
    session.seek(9)
    session.dispatch(TurnJoint("LeftLeg", (0.1, 0.0, 0.0, 0.995)))
    session.dispatch(KeyPose())
    keyed = session.document
    work.wait()
    long.controller.tick(1.0)
    assert session.history.labels[-1] == "Plant feet"
    other = Session(keyed)
    feet = feet_of(session.document)
    assert feet is not None
    other.dispatch(PlantFeet())
    other.dispatch(SetFeet(contacts=feet.contacts))
    for frame in (0, 9, 20, 67):
        assert frame_pose(session.document, frame).is_near(frame_pose(other.document, frame))


def test_what_a_file_does_not_have_is_found_while_the_window_goes_on(long: PanelWindow, tmp_path: Path) -> None:
    long.session.dispatch(PlantFeet())
    words, path = long.controller.planting.words(), tmp_path / "long.ikv.json"
    save_session(long.session.document, path)
    document = load_session(path)
    long.session.replace(document)
    assert known(document) is None
    long.controller.tick(1.0)
    assert long.controller.planting.words() == "Feet are planted"
    wait(long)
    assert long.session.document is document
    assert long.controller.planting.words() == words


def test_another_blend_of_a_long_motion_is_planted_while_the_window_goes_on(long: PanelWindow) -> None:
    long.session.dispatch(PlantFeet())
    before = long.session.document
    long.controller.planting.do(SetFeet(blend=0.2))
    assert long.session.document is before
    wait(long)
    other = Session(before)
    other.dispatch(SetFeet(blend=0.2))
    assert long.session.document.same_as(other.document)
