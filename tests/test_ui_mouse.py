"""The mouse beside drags: selecting, the camera, the presets, menus."""

from __future__ import annotations

import math

import numpy as np
import pytest
from ui_person import EMPTY, VIEW, Person

from viewer.document import Item
from viewer.ui import Key, KeyUp, Leave, Rect


@pytest.fixture
def person() -> Person:
    return Person()


def nearly(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def test_a_click_selects_and_a_click_beside_selects_nothing(person: Person) -> None:
    person.select("LeftHand")
    assert person.document.selection == (Item("effector", "LeftHand"),)
    person.select("RightFoot")
    assert person.selected == ["RightFoot"]
    person.click(*EMPTY)
    assert person.selected == []


def test_a_click_on_a_bone_selects_the_joint_that_turns_it(person: Person) -> None:
    middle = 0.5 * (person.joint("LeftArm") + person.joint("LeftForeArm"))
    person.click(*person.pixel(middle))
    assert person.document.selection == (Item("joint", "LeftArm"),)


def test_shift_adds_and_takes_away(person: Person) -> None:
    person.select("LeftHand")
    person.click(*person.at("RightHand"), "shift")
    assert person.selected == ["LeftHand", "RightHand"]
    person.click(*person.at("LeftHand"), "shift")
    assert person.selected == ["RightHand"]


def test_clicking_again_goes_through_what_is_at_that_place(person: Person) -> None:
    place = person.at("LeftHand")
    seen = set()
    for _ in range(4):
        person.click(*place)
        seen.add(person.document.active)
    assert {Item("effector", "LeftHand"), Item("joint", "LeftHand")} <= seen


def test_a_double_click_selects_a_joint_with_all_below(person: Person) -> None:
    person.controller.view.tool = person.controller.view.tool.__class__.SELECT
    place = person.pixel(0.5 * (person.joint("LeftArm") + person.joint("LeftForeArm")))
    person.click(*place)
    person.click(*place, clicks=2)
    assert person.document.active == Item("joint", "LeftArm")
    assert set(person.selected) >= {"LeftArm", "LeftForeArm", "LeftHand"}
    assert "RightArm" not in person.selected


def test_a_box_selects_the_effectors_inside(person: Person) -> None:
    feet = [person.at("LeftFoot"), person.at("RightFoot")]
    low = np.min(feet, axis=0) - 18
    high = np.max(feet, axis=0) + 18
    person.pull(tuple(low), tuple(high - low), "ctrl")
    assert person.controller.cursor == "crosshair"
    assert person.document.selection == ()
    person.release(*high, "ctrl")
    assert set(person.selected) == {"LeftFoot", "RightFoot"}
    person.drag((EMPTY[0], 100.0), (700.0, 200.0), "ctrl", "shift")
    assert set(person.selected) >= {"LeftFoot", "RightFoot", "Head"}


def test_a_key_begins_a_box_where_a_drag_would_orbit(person: Person) -> None:
    feet = [person.at("LeftFoot"), person.at("RightFoot")]
    low, high = np.min(feet, axis=0) - 18, np.max(feet, axis=0) + 18
    camera = person.controller.camera
    person.key("b")
    person.move(*low)
    assert person.controller.cursor == "crosshair"
    person.drag(tuple(low), tuple(high - low))
    assert set(person.selected) == {"LeftFoot", "RightFoot"}
    assert person.controller.camera is camera
    for leave in ("escape", "right"):
        person.key("b")
        person.key(leave) if leave == "escape" else person.click(*EMPTY, button="right")
        assert person.controller.view.gesture is None
    assert set(person.selected) == {"LeftFoot", "RightFoot"}


def test_escape_gives_a_box_up(person: Person) -> None:
    person.pull((240.0, 80.0), (720.0, 490.0), "ctrl")
    person.key("escape")
    person.move(900.0, 500.0)
    person.release(900.0, 500.0, "ctrl")
    assert person.selected == []


def test_orbiting_panning_and_zooming_change_no_document(person: Person) -> None:
    start, camera = person.document, person.controller.camera
    person.drag(EMPTY, (80.0, 30.0))
    orbited = person.controller.camera
    assert not nearly(orbited.yaw, camera.yaw)
    assert not nearly(orbited.pitch, camera.pitch)
    np.testing.assert_array_equal(orbited.target, camera.target)
    person.drag(EMPTY, (80.0, 30.0), button="right")
    panned = person.controller.camera
    assert (panned.yaw, panned.distance) == (orbited.yaw, orbited.distance)
    assert np.linalg.norm(panned.target - orbited.target) > 0.1
    person.scroll(2.0, *EMPTY)
    assert person.controller.camera.distance < panned.distance
    assert person.document is start
    assert person.controller.session.history.index == 0
    assert not person.controller.view.requests


def test_zooming_keeps_what_is_under_the_pointer(person: Person) -> None:
    x, y = 700.0, 200.0
    local = person.controller.view.local(x, y)
    point = person.controller.projection().under(*local, person.controller.camera.target)
    person.scroll(3.0, x, y)
    assert person.pixel(point) == pytest.approx((x, y), abs=1e-6)


@pytest.mark.parametrize(
    ("button", "held", "changes"),
    [
        ("middle", (), "yaw"), ("middle", ("shift",), "target"), ("middle", ("ctrl",), "distance"),
        ("left", ("alt",), "yaw"), ("middle", ("alt",), "target"), ("right", ("alt",), "distance"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("preset", ["simple", "blender", "maya"])
def test_every_preset_moves_the_camera_over_the_figure_too(
    button: str, held: tuple[str, ...], changes: str, preset: str
) -> None:
    person = Person(preset=preset)
    start, camera = person.document, person.controller.camera
    person.drag(person.at("LeftHand"), (40.0, 25.0), *held, button=button)  # type: ignore[arg-type]
    after = person.controller.camera
    changed = {
        "yaw": not nearly(after.yaw, camera.yaw), "distance": not nearly(after.distance, camera.distance),
        "target": not np.allclose(after.target, camera.target),
    }  # fmt: skip
    assert changed == {"yaw": False, "distance": False, "target": False} | {changes: True} | (
        {"target": changed["target"]} if changes == "distance" else {}
    )
    assert person.document is start


@pytest.mark.parametrize("preset", ["blender", "maya"])
def test_elsewhere_dragging_beside_the_figure_selects_a_box(preset: str) -> None:
    person = Person(preset=preset)
    camera = person.controller.camera
    person.drag((240.0, 80.0), (720.0, 490.0))
    assert set(person.selected) == {"LeftHand", "RightHand", "LeftFoot", "RightFoot", "Head"}
    person.drag(EMPTY, (90.0, 10.0), button="right")
    assert person.controller.camera is camera


def test_a_right_click_selects_and_asks_for_a_menu(person: Person) -> None:
    x, y = person.at("LeftHand")
    person.click(x, y, button="right")
    request = person.controller.view.requests.pop()
    assert (request.name, request.value, request.x, request.y) == (
        "context-menu", Item("effector", "LeftHand"), x, y,
    )  # fmt: skip
    assert person.selected == ["LeftHand"]
    person.click(*EMPTY, button="right")
    assert person.controller.view.requests.pop().value is None
    assert person.selected == ["LeftHand"]


def test_alt_double_click_orbits_about_what_is_there(person: Person) -> None:
    person.click(*person.at("Head"), "alt", clicks=2)
    np.testing.assert_allclose(person.controller.camera.target, person.place("Head"), atol=0.05)
    assert person.selected == []


def test_the_disc_of_view_axes_turns_the_view(person: Person) -> None:
    centre = (VIEW.x + VIEW.w - 52.0, VIEW.y + 52.0)
    projection = person.controller.projection()
    x, y = centre[0] + 33.0 * projection.right[1], centre[1] - 33.0 * projection.up[1]
    person.move(x, y)
    assert person.controller.view.hovered.axis == "y"
    person.click(x, y)
    np.testing.assert_allclose(person.controller.camera.back, (0.0, 1.0, 0.0), atol=1e-9)
    yaw = person.controller.camera.yaw
    person.drag(centre, (50.0, 0.0))
    assert not nearly(person.controller.camera.yaw, yaw)
    assert person.selected == []


def test_what_is_hovered_lights_up_and_the_pointer_says_so(person: Person) -> None:
    person.move(*EMPTY)
    assert person.controller.cursor == "arrow"
    before = person.controller.view.revision
    person.move(*person.at("LeftHand"))
    assert person.controller.cursor == "hand"
    assert person.controller.view.revision > before
    assert [mark.name for mark in person.controller.scene().marks if mark.hovered] == ["LeftHand"]
    before = person.controller.view.revision
    person.move(*np.add(person.at("LeftHand"), 1.0))
    assert person.controller.view.revision == before  # nothing new to see
    person.controller.handle(Leave())
    assert person.controller.view.hovered_item() is None


def test_a_row_under_the_pointer_lights_up_its_joint(person: Person) -> None:
    person.controller.view.hover_row(Item("joint", "Hips"))
    assert person.controller.scene().hovered == person.document.skeleton.index("Hips")
    person.controller.view.hover_row(Item("joint", "no such joint"))
    assert person.controller.scene().hovered == -1


@pytest.mark.parametrize("key", ["t", "n", "tab"])
def test_a_row_that_is_put_away_with_its_panel_lights_nothing(person: Person, key: str) -> None:
    person.controller.view.hover_row(Item("joint", "Hips"))
    person.key(key)
    assert person.controller.scene().hovered == -1


def test_what_is_outside_the_view_is_not_touched(person: Person) -> None:
    person.press(20.0, 300.0)
    person.move(100.0, 300.0)
    person.release(100.0, 300.0)
    person.scroll(3.0, 20.0, 300.0)
    assert person.controller.camera is person.controller.camera_moves._started
    assert person.controller.view.hovered_item() is None


def test_a_view_that_nobody_touched_is_fitted_to_a_new_size(person: Person) -> None:
    before = person.controller.camera.distance
    person.controller.viewport = Rect(0, 0, 300, 900)
    assert person.controller.camera.distance > before
    person.drag((20.0, 850.0), (10.0, 0.0))
    touched = person.controller.camera
    person.controller.viewport = Rect(0, 0, 900, 900)
    assert person.controller.camera is touched


def test_the_draw_list_is_kept_until_something_changes(person: Person) -> None:
    drawn = person.controller.draw_list()
    person.wait()
    assert person.controller.draw_list() is drawn
    assert person.controller.tick(person.now + 1.0) is False
    person.move(*person.at("LeftHand"))
    assert person.controller.draw_list() is not drawn


def test_ctrl_that_comes_while_dragging_snaps_without_the_pointer_moving(person: Person) -> None:
    before = person.target("LeftHand")
    person.pull(person.at("LeftHand"), (33.0, -47.0))
    free = person.target("LeftHand")
    person.controller.handle(Key("ctrl", frozenset({"ctrl"})))
    snapped = person.target("LeftHand")
    assert not np.array_equal(free, snapped)
    person.controller.handle(KeyUp("ctrl"))
    np.testing.assert_allclose(person.target("LeftHand"), free, atol=1e-12)
    assert not np.array_equal(before, free)


def test_the_magnet_snaps_and_ctrl_then_does_not() -> None:
    free, magnet, both = Person(), Person(magnet=True), Person(magnet=True)
    free.pull(free.at("LeftHand"), (33.0, -47.0))
    magnet.pull(magnet.at("LeftHand"), (33.0, -47.0))
    both.pull(both.at("LeftHand"), (33.0, -47.0), "ctrl")
    np.testing.assert_array_equal(both.target("LeftHand"), free.target("LeftHand"))
    assert not np.array_equal(magnet.target("LeftHand"), free.target("LeftHand"))


def test_two_fingers_orbit_pan_and_zoom_if_one_likes() -> None:
    person = Person(two_fingers=True)
    camera = person.controller.camera
    person.scroll(1.0, *EMPTY)
    assert not nearly(person.controller.camera.pitch, camera.pitch)
    assert person.controller.camera.distance == camera.distance
    person.scroll(1.0, *EMPTY, "ctrl")
    assert person.controller.camera.distance < camera.distance
