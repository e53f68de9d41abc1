"""The workspace Build by clicks in pixels: a claw, a person with both sides, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from inside.document import Select
from inside.skeleton import joint_edits as make, rest_world
from panel_window import PanelWindow
from ui_person import Person

import viewer
from viewer.document import Item

CLAW = {
    "shoulder": ((0.0, 0.0), (0.0, 0.15), (0.0, 0.45), (0.05, 0.65)),
    "left": ((-0.05, 0.7), (-0.04, 0.78)),
    "middle": ((0.06, 0.74), (0.05, 0.83)),
    "right": ((0.16, 0.68), (0.17, 0.76)),
}
"""Chains of the claw, in the plane z = 0, metres; all but the first begin at the wrist."""


def builder() -> Person:
    """Somebody at an empty skeleton, who draws on the front plane."""
    person = Person()
    assert person.controller.run("file.new_skeleton")
    person.wait(0.5)
    while "front" not in person.controller.building.caption():
        person.key("q")
    return person


def clicks(person: Person, place: tuple[float, ...]) -> None:
    """Click where a point of the front plane is seen."""
    person.click(*person.pixel(np.array((*place, 0.0)[:3])))
    person.wait(0.05)


def places(person: Person) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.asarray(rest_world(person.document.skeleton).positions)


def test_a_claw_is_built_by_clicks_and_posed() -> None:
    person, count = builder(), 0
    for place in CLAW["shoulder"]:
        clicks(person, place)
        count += 1
    wrist = person.document.skeleton.names[-1]
    for finger in ("left", "middle", "right"):
        person.click(*person.pixel(places(person)[person.document.skeleton.index(wrist)]))
        for place in CLAW[finger]:
            clicks(person, place)
        count += 3
    wanted = [place for chain in CLAW.values() for place in chain]
    assert len(person.document.skeleton) == len(wanted) == 10
    np.testing.assert_allclose(places(person)[:, :2], wanted, atol=2e-3)
    assert len(person.controller.session.history) <= count
    person.key("ctrl+enter")
    person.wait(0.3)
    assert person.controller.view.workspace.value == "pose"
    skeleton = person.document.skeleton
    assert [skeleton.names[effector.joint] for effector in skeleton.effectors] == list(make.leaves_of(skeleton))
    tip = skeleton.effectors[0].name
    start = person.at(tip)
    before = person.place(tip)
    person.pull(start, (-30.0, 20.0))
    person.release(start[0] - 30.0, start[1] + 20.0)
    person.wait(0.3)
    assert np.linalg.norm(person.place(tip) - before) > 0.01
    assert np.linalg.norm(person.place(tip) - person.target(tip)) < 1e-3


def test_a_person_of_22_joints_needs_at_most_30_clicks() -> None:
    """One side is clicked; with symmetry on, the other side is made with it."""
    person, done = builder(), 0

    def chain(start: str, *points: tuple[float, float]) -> None:
        nonlocal done
        if start:
            person.click(*person.pixel(places(person)[person.document.skeleton.index(start)]))
            done += 1
        for x, y in points:
            clicks(person, (x, y))
            done += 1

    chain("", (0.0, 1.0), (0.0, 1.12), (0.0, 1.25), (0.0, 1.4), (0.0, 1.52), (0.0, 1.6))
    hips, _, _, chest, _, _ = person.document.skeleton.names
    person.controller.view.mirror = True
    chain(hips, (0.1, 0.95), (0.1, 0.52), (0.1, 0.1), (0.2, 0.04))
    chain(chest, (0.09, 1.42), (0.18, 1.38), (0.45, 1.38), (0.7, 1.38))
    assert len(person.document.skeleton) == 22
    assert done <= 30
    found = places(person)
    mirrored = found * (-1.0, 1.0, 1.0)
    away = np.linalg.norm(found[:, None] - mirrored[None], axis=-1).min(axis=1)
    assert away.max() < 1e-9


def test_a_bone_is_split_and_a_joint_dragged_with_one_undo_step_each() -> None:
    person = builder()
    for place in CLAW["shoulder"]:
        clicks(person, place)
    steps = len(person.controller.session.history)
    clicks(person, (0.0, 0.3))  # on the bone
    assert len(person.document.skeleton) == 5
    assert len(person.controller.session.history) == steps + 1
    start = person.pixel(np.array((0.0, 0.45, 0.0)))
    person.pull(start, (25.0, 0.0))
    person.release(start[0] + 25.0, start[1])
    assert len(person.controller.session.history) == steps + 2
    end = person.document.skeleton.names[-1]
    assert places(person)[person.document.skeleton.index(end)][:2] == pytest.approx((0.05, 0.65), abs=2e-3)
    for _ in range(2):
        person.key("ctrl+z")
    np.testing.assert_allclose(places(person)[:, :2], CLAW["shoulder"], atol=2e-3)


@pytest.mark.parametrize("how", ["escape", "right"])
def test_a_dragged_joint_is_brought_back_and_keys_remove_nothing_meanwhile(how: str) -> None:
    person = builder()
    for place in CLAW["shoulder"]:
        clicks(person, place)
    before, steps = person.document, len(person.controller.session.history)
    start = person.pixel(np.array((0.0, 0.45, 0.0)))
    person.pull(start, (25.0, 0.0))
    person.key("delete")
    assert len(person.document.skeleton) == 4
    assert not person.document.same_as(before)
    if how == "escape":
        person.key("escape")
    else:
        person.press(*start, button="right")
    person.release(*start)
    np.testing.assert_allclose(places(person)[:, :2], CLAW["shoulder"], atol=2e-3)
    assert len(person.controller.session.history) == steps


def test_a_length_is_typed() -> None:
    person = builder()
    for place in CLAW["shoulder"][:2]:
        clicks(person, place)
    person.move(*person.pixel(np.array((0.0, 0.3, 0.0))))
    for key in ("0", "period", "5", "enter"):
        person.key(key)
    assert places(person)[2] == pytest.approx((0.0, 0.65, 0.0), abs=2e-3)


def test_leaving_with_one_joint_is_refused_and_nothing_is_lost() -> None:
    person = builder()
    clicks(person, (0.0, 0.0))
    person.key("alt+1")
    person.wait(0.2)
    assert person.controller.view.workspace.value == "build"
    assert "A skeleton needs two joints" in [message.text for message in person.controller.view.bar.messages]


def test_what_a_clip_loses_is_said_before_it_is_lost() -> None:
    person = Person(viewer.load("sample:walk"))
    person.key("ctrl+b")
    person.wait(0.2)
    before = person.document
    person.controller.session.dispatch(Select((Item("joint", "LeftFoot"),)))
    person.key("shift+delete")
    (message,) = [one for one in person.controller.view.bar.messages if one.text.startswith("The clip loses")]
    assert message.text == "The clip loses 2 joints"
    assert person.document.skeleton is before.skeleton
    person.controller.view.bar.choose(message, 0)
    assert len(person.document.skeleton) == len(before.skeleton) - 2
    assert person.document.clip_data is not None
    assert len(person.document.clip_data) == len(viewer.load("sample:walk").clip or ())


def test_what_is_said_of_building_goes_with_it() -> None:
    person = Person()
    person.key("ctrl+b")
    person.wait(0.2)
    viewport = person.controller.viewport
    person.click(viewport.x + 20.0, viewport.y + 0.9 * viewport.h)
    said = "Click a joint to continue from it"
    assert [one.text for one in person.controller.view.bar.messages] == [said]
    person.key("ctrl+b")
    person.wait(0.2)
    assert not person.controller.view.bar.messages


def test_entering_and_leaving_changes_nothing() -> None:
    person = Person()
    before = person.document
    person.key("ctrl+b")
    person.wait(0.2)
    person.key("ctrl+b")
    person.wait(0.2)
    assert person.document is before


def test_a_drag_of_links_that_removes_the_active_joint_goes_on_and_is_one_step() -> None:
    window = PanelWindow(viewer.load("sample:serpent"))
    window.controller.run("workspace.build")
    window.session.dispatch(Select((Item("joint", "Back10"),)))
    window.ui.layout.tabs["right-top"] = "inspector"
    window.frames(3)
    before = window.session.history.labels
    window.drag("inspector", "links", -20.0)
    assert window.session.history.labels == (*before, "Links")
    names = window.session.document.skeleton.names
    assert len(names) == 25 - 4
    assert "Back10" not in names
    assert window.controller.building.active == "Back12"
    window.session.undo()
    assert window.controller.building.active == "Back10"
    window.close()


def test_the_inspector_shows_joints_whose_bone_has_no_length_as_the_first_links_of_robots() -> None:
    base, arm = {"parent": "world", "kind": "fixed"}, {"parent": "base_link", "kind": "hinge"}
    turning = {**arm, "axis": [0, 0, 1], "tips": [[0, 1, 0]]}
    joints = [{"name": "world"}, {"name": "base_link", **base}, {"name": "arm", **turning}]
    window = PanelWindow(viewer.load(text=json.dumps({"joints": joints})))
    window.controller.run("workspace.build")
    for name in ("world", "base_link", "arm"):
        window.session.dispatch(Select((Item("joint", name),)))
        window.frames(3)  # a panel that fails is an error
        assert name in window.words("inspector")
    window.close()


def test_a_typed_length_that_ends_behind_the_camera_is_not_written() -> None:
    person = builder()
    while "floor" not in person.controller.building.caption():
        person.key("q")
    clicks(person, (0.0, 0.0))
    person.controller.view.camera = replace(person.controller.view.camera, distance=10.0)
    x, y = person.pixel(np.zeros(3))
    person.move(x, y + 60.0)  # towards the camera
    person.wait(0.05)
    shown = [text.text for text in person.controller.draw_list().texts]
    for key in "50":
        person.key(key)
    drawn = person.controller.draw_list()
    assert np.isfinite([(text.x, text.y) for text in drawn.texts]).all()
    assert len(drawn.texts) < len(shown)
