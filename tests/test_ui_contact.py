"""Contact at the window: the key, the list of parts, props that are added, dragged and removed, words and rings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from inside.document import (
    AddProp,
    ExcludePair,
    Prop,
    Select,
    SetContact,
    SetProp,
    SetRadius,
    Shape,
    capsules_of,
    touches_of,
)
from inside.ui import radius_handles
from test_document_contact import CUBE
from ui_person import EMPTY, Person

from viewer.document import Item
from viewer.scene import Mark, PropShape
from viewer.skeleton import bodies_of
from viewer.ui import Drop


@pytest.fixture
def person() -> Person:
    return Person()


def ball_of(person: Person) -> Prop:
    return person.document.contact.prop("ball")


def mark_of(person: Person, name: str) -> Mark:
    return next(mark for mark in person.controller.scene().marks if mark.prop and mark.name == name)


def test_the_key_switches_contact_and_is_one_step(person: Person) -> None:
    person.key("c")
    assert person.controller.checked("contact.all")
    assert person.controller.session.history.labels == ("Contact on",)
    person.key("c")
    assert not person.controller.checked("contact.all")
    person.key("ctrl+z")
    assert person.controller.checked("contact.all")
    person.key("ctrl+z")
    assert not person.controller.checked("contact.all")
    assert person.controller.session.history.index == 0


def test_a_part_that_is_switched_on_is_the_only_one_at_first(person: Person) -> None:
    person.controller.run("contact.bodies")
    contact = person.document.contact
    assert (contact.on, contact.floor, contact.bodies, contact.objects) == (True, False, True, False)
    person.controller.run("contact.floor")
    person.controller.run("contact.bodies")
    contact = person.document.contact
    assert (contact.on, contact.floor, contact.bodies, contact.objects) == (True, True, False, False)
    checked = [person.controller.checked(f"contact.{part}") for part in ("floor", "bodies", "objects")]
    assert checked == [True, False, False]


def test_a_hand_that_is_dragged_under_the_floor_stays_on_it(person: Person) -> None:
    person.key("c")
    person.controller.session.begin_drag((Item("effector", "LeftHand"),))
    for step in range(40):
        place = (0.3, 0.88 - 0.03 * step, 0.35)
        person.controller.session.gestures.drag_to({Item("effector", "LeftHand"): (place, None)})
        person.wait(0.02)
    rings = person.controller.scene().touches
    assert [ring.label for ring in rings if ring.label == "floor"]  # said while dragging
    person.controller.session.commit()
    document = person.document
    touches = touches_of(document.contact, document.skeleton, document.pose)
    assert max(touch.depth_m for touch in touches) < 1e-3
    assert "touches floor: " in " ".join(person.controller.status().modes)
    assert "L hand" in " ".join(person.controller.status().modes)
    rings = person.controller.scene().touches
    assert rings
    assert not any(ring.label for ring in rings)
    assert all(ring.point[1] == pytest.approx(0.0, abs=1e-3) for ring in rings if ring.normal[1] == 1.0)


def test_feet_that_stand_are_not_worth_a_word(person: Person) -> None:
    person.key("c")
    document = person.document
    assert {touch.body for touch in touches_of(document.contact, document.skeleton, document.pose)} == {
        "LeftFoot", "RightFoot", "LeftToeBase", "RightToeBase"
    }  # fmt: skip
    assert person.controller.scene().touches == ()
    assert not any("touches" in words for words in person.controller.status().modes)


def test_contact_that_is_off_says_nothing(person: Person) -> None:
    person.controller.session.dispatch(AddProp(Prop(name="ball", center=(0.0, 1.0, 0.0), radius=0.3)))
    assert person.controller.scene().touches == ()
    assert not any("touches" in words for words in person.controller.status().modes)


def test_the_ground_is_drawn_at_the_floor_that_counts(person: Person) -> None:
    assert person.controller.scene().floor == 0.0
    person.controller.session.dispatch(SetContact(on=True, height=-0.5))
    assert person.controller.scene().floor == -0.5
    person.key("c")
    assert person.controller.scene().floor == 0.0


def test_a_sphere_and_a_box_appear_apart_and_are_selected(person: Person) -> None:
    for command, name in (("prop.add_sphere", "ball"), ("prop.add_box", "box"), ("prop.add_sphere", "ball_2")):
        assert person.controller.run(command)
        assert person.document.active == Item("prop", name)
    props = person.document.contact.props
    assert [prop.shape for prop in props] == [Shape.SPHERE, Shape.BOX, Shape.SPHERE]
    places = np.array([prop.center for prop in props])
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)[np.triu_indices(3, 1)]
    assert apart.min() > 0.2
    bar = person.controller.view.bar
    assert bar.messages[-1].text == "Added ball_2: contact is off, C turns it on"
    # Each is seen in the view, and nothing of the figure is in it.
    assert all(person.controller.projection().inside(person.controller.projection().project(places)))
    person.key("c")
    assert person.controller.session.errors["LeftHand"].reached
    assert not bar.messages  # what they say of contact is no longer true
    person.controller.run("contact.objects")
    person.controller.run("prop.add_box")
    assert bar.messages[-1].text == "Added box_2: contact with props is off"


def test_a_prop_is_dragged_by_its_surface_and_gives_back_its_place(person: Person) -> None:
    person.controller.run("prop.add_sphere")
    before = person.document
    person.click(*EMPTY)
    x, y = person.pixel(np.array(ball_of(person).center))
    person.move(x + 20.0, y)  # beside the handle in its middle, on the ball
    assert person.controller.view.hovered_item() == Item("prop", "ball")
    assert person.controller.cursor == "hand"
    person.drag((x + 20.0, y), (60.0, -30.0))
    moved = np.array(ball_of(person).center)
    assert person.pixel(moved) == pytest.approx((x + 60.0, y - 30.0), abs=0.5)
    assert person.controller.session.history.labels[-1] == "Move ball"
    assert person.document.active == Item("prop", "ball")
    person.key("ctrl+z")
    assert ball_of(person).center == before.contact.prop("ball").center


def test_a_prop_has_the_gizmo_of_an_effector(person: Person) -> None:
    person.controller.run("prop.add_box")
    centre = np.array(person.document.contact.prop("box").center)
    gizmo = person.controller.hit_test.gizmo()
    assert gizmo is not None
    np.testing.assert_array_equal(gizmo.position, centre)
    person.move(*person.pixel(centre))
    person.key("g", "x", "0", "period", "2", "5", "enter")
    assert person.document.contact.prop("box").center == pytest.approx(np.add(centre, (0.25, 0.0, 0.0)))
    person.key("r", "y", "9", "0", "enter")
    half = np.sqrt(0.5)
    assert person.document.contact.prop("box").rotation == pytest.approx((0.0, half, 0.0, half))
    # FK turns joints; props are moved all the same.
    person.key("d", "g", "y", "1", "enter")
    assert person.document.contact.prop("box").center == pytest.approx(np.add(centre, (0.25, 1.0, 0.0)))


def test_a_prop_that_is_dragged_into_the_figure_pushes_it_away(person: Person) -> None:
    person.key("c")
    hand = person.place("LeftHand")
    person.controller.session.dispatch(
        AddProp(Prop(name="ball", center=tuple(np.add(hand, (0.5, 0.0, 0.0))), radius=0.1))
    )
    person.controller.session.begin("Move ball")
    for step in range(20):
        center = tuple(np.add(hand, (0.5 - 0.025 * step, 0.0, 0.0)))
        person.controller.session.gestures.update(SetProp("ball", center=center))
    person.controller.session.commit()
    document = person.document
    assert max(t.depth_m for t in touches_of(document.contact, document.skeleton, document.pose)) < 1e-3
    assert np.linalg.norm(person.place("LeftHand") - hand) > 0.05


def test_delete_removes_props_and_nothing_else(person: Person) -> None:
    goals = person.document.goals
    person.controller.run("prop.add_sphere")
    person.controller.run("prop.add_box")
    person.key("delete")
    assert [prop.name for prop in person.document.contact.props] == ["ball"]
    assert person.document.goals is goals
    person.controller.run("prop.add_box")
    person.controller.session.dispatch(Select((Item("prop", "ball"), Item("prop", "box"))))
    person.key("delete")
    assert not person.document.contact.props
    assert person.controller.session.history.labels[-1] == "Remove 2 props"
    person.key("ctrl+z")
    assert [prop.name for prop in person.document.contact.props] == ["ball", "box"]


def test_commands_on_joints_leave_a_selected_prop_alone(person: Person) -> None:
    person.controller.run("prop.add_sphere")
    for command in ("effector.make", "select.parent", "select.child", "select.children", "joint.rename", "limits.joint",
                    "reset.rotation", "key.set_selected", "pin.position"):  # fmt: skip
        assert not person.controller.can(command), command
    for command in ("view.frame_selection", "goal.remove", "grab.move", "grab.rotate"):
        assert person.controller.can(command), command
    person.key("f", "f7", "f9", "shift+f9", "alt+g")
    assert person.controller.draw_list() is not None


def test_a_dropped_mesh_becomes_a_prop(person: Person, tmp_path: Path) -> None:
    path = tmp_path / "cube.obj"
    path.write_text(CUBE, encoding="utf-8")
    person.controller.handle(Drop((path,)))
    assert [(p.name, p.shape, p.path) for p in person.document.contact.props] == [("cube", Shape.MESH, str(path))]
    assert len(person.controller.draw_list().solids) == 36
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    other = tmp_path / "open.stl"
    other.write_text("solid\nendsolid\n", encoding="utf-8")
    person.controller.handle(Drop((other,)))
    (message,) = [one.text for one in person.controller.view.bar.messages if one.level == "error"]
    assert message.startswith('Prop "open": ')
    assert len(person.document.contact.props) == 1
    # The first one's file is no volume any more: it is not drawn, its handle is grey, and contact goes on without it.
    person.key("c")
    assert person.document.contact.prop("cube").problem.startswith('prop "cube": the mesh encloses no volume')
    person.wait()
    assert len(person.controller.draw_list().solids) == 0
    assert not mark_of(person, "cube").on


def test_goals_files_bring_their_contact(person: Person, tmp_path: Path) -> None:
    path = tmp_path / "goals.json"
    contact = {
        "floor": -0.25,
        "objects": [{"name": "ball", "sphere": {"center": [0, 1, 1], "radius": 0.1}}],
        "exclude": [["LeftHand", "ball"]],
    }
    goals = [{"effector": "LeftHand", "position": [0.4, 1.0, 0.3]}]
    path.write_text(json.dumps({"version": 2, "goals": goals, "contact": contact}), encoding="utf-8")
    person.controller.handle(Drop((path,)))
    found = person.document.contact
    assert (found.on, found.floor, found.height, found.bodies) == (True, True, -0.25, False)
    assert found.props == (Prop(name="ball", center=(0.0, 1.0, 1.0), radius=0.1),)
    assert found.exclude == (("LeftHand", "ball"),)
    assert person.controller.session.history.labels == ("Goals of goals.json",)
    assert person.document.goal("LeftHand").position == (0.4, 1.0, 0.3)


def test_excluded_pairs_neither_push_nor_light_up(person: Person) -> None:
    hand = person.place("LeftHand")
    dispatch = person.controller.session.dispatch
    dispatch(AddProp(Prop(name="ball", center=tuple(hand), radius=0.08)))
    for joint in person.document.skeleton.names:
        if "Left" in joint:
            dispatch(ExcludePair(joint, "ball"))
    person.key("c")
    np.testing.assert_allclose(person.place("LeftHand"), hand, atol=1e-6)
    assert person.controller.scene().touches == ()


def test_bodies_are_shown_and_picked_by_their_width(person: Person) -> None:
    person.click(*EMPTY)
    assert len(person.controller.draw_list().capsules) == 0
    person.key("f4")
    drawn = person.controller.draw_list()
    assert len(drawn.capsules) == 28
    assert not drawn.sticks
    assert (drawn.capsules["colour"][:, 3] == 1.0).all()
    thigh = 0.5 * (person.joint("LeftUpLeg") + person.joint("LeftLeg"))
    x, y = person.pixel(thigh)
    beside = x + 0.05 * float(person.controller.projection().pixels_per_metre(thigh)), y
    person.click(*beside)
    assert person.document.active == Item("joint", "LeftUpLeg")
    assert person.controller.draw_list().capsules["outline"][:, 3].max() > 0.0
    person.key("alt+z")
    drawn = person.controller.draw_list()
    assert drawn.sticks
    assert len(drawn.capsules) == 0
    assert len(drawn.veils) == 28
    assert drawn.veils["colour"][:, 3] == pytest.approx(0.35)
    person.key("f4", "alt+z")
    assert len(person.controller.draw_list().veils) == 0


def test_an_edited_radius_is_drawn(person: Person) -> None:
    person.key("f4")
    before = person.controller.draw_list().capsules["radius"].copy()
    person.controller.session.dispatch(SetRadius("LeftHand", 0.0625))
    after = person.controller.draw_list().capsules["radius"]
    assert (before != after).sum() == 1
    assert after[before != after] == pytest.approx(0.0625)


def test_a_prop_is_lit_under_the_pointer_and_when_selected(person: Person) -> None:
    person.controller.session.dispatch(AddProp(Prop(name="ball", center=(0.6, 1.0, 0.0), radius=0.1)))
    solid = ball_of(person).solid()
    assert person.controller.scene().props == (PropShape("ball", solid, selected=True),)
    person.click(*EMPTY)
    assert person.controller.scene().props == (PropShape("ball", solid),)
    person.move(*person.pixel(np.array((0.6, 1.0, 0.0))))
    assert person.controller.scene().props == (PropShape("ball", solid, hovered=True),)
    assert mark_of(person, "ball").hovered


def test_a_session_with_a_missing_mesh_says_so(person: Person, tmp_path: Path) -> None:
    path = tmp_path / "cube.obj"
    path.write_text(CUBE, encoding="utf-8")
    person.controller.contacts.add_mesh(path)
    kept = tmp_path / "pose.ikv.json"
    assert person.controller.files.save_to(kept)
    path.unlink()
    other = Person()
    assert other.controller.opening.show_file(kept)
    (message,) = [one.text for one in other.controller.view.bar.messages if one.level == "error"]
    assert message.startswith('prop "cube": no such file: ')
    assert [prop.name for prop in other.document.contact.props] == ["cube"]
    assert replace(other.document.contact, on=True).prop("cube").path == str(path)


def test_a_radius_is_dragged_by_its_ring(person: Person) -> None:
    person.controller.session.dispatch(Select((Item("joint", "LeftArm"),)))
    display, projection = person.controller.view.display, person.controller.projection()
    assert radius_handles(person.document, display, projection) == []  # bodies are not shown
    person.key("f4")
    (handle,) = radius_handles(person.document, person.controller.view.display, projection)
    (index,) = capsules_of(bodies_of(person.document.skeleton).capsules, handle.joint)
    radius = bodies_of(person.document.skeleton).capsules[index].radius
    # On the rim: so far from the axis, across it and across the line of sight.
    arm = person.joint("LeftForeArm") - person.joint("LeftArm")
    assert np.linalg.norm(handle.point - handle.middle) == pytest.approx(radius)
    assert handle.outwards @ arm == pytest.approx(0.0, abs=1e-9)
    assert handle.outwards @ (projection.eye - handle.middle) == pytest.approx(0.0, abs=1e-9)
    pixel = person.pixel(handle.point)
    person.move(*pixel)
    assert person.controller.view.hovered.hit is not None
    assert person.controller.view.hovered.hit.kind == "radius"
    assert person.controller.cursor == "hand"
    wanted = handle.middle + 2.0 * radius * handle.outwards
    there = person.pixel(wanted)
    person.drag(pixel, (there[0] - pixel[0], there[1] - pixel[1]))
    assert bodies_of(person.document.skeleton).capsules[index].radius == pytest.approx(2.0 * radius, rel=0.02)
    assert person.controller.session.history.labels[-1] == "Radius of LeftArm"
    person.click(*person.pixel(wanted))
    assert person.document.active == Item("joint", "LeftArm")
    person.key("ctrl+z")
    assert person.document.skeleton.bodies is None
    # It never turns inside out.
    far = person.pixel(handle.middle - 3.0 * radius * handle.outwards)
    person.drag(pixel, (far[0] - pixel[0], far[1] - pixel[1]))
    assert 0.0 < bodies_of(person.document.skeleton).capsules[index].radius < 1e-3


def test_a_mesh_is_held_and_turned_by_the_middle_of_its_shape(person: Person, tmp_path: Path) -> None:
    path = tmp_path / "cube.obj"
    path.write_text(CUBE, encoding="utf-8")
    turned = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))
    far = Prop(name="cube", shape=Shape.MESH, path=str(path), center=(0.2, 1.0, 0.3), rotation=turned, scale=0.1)
    person.controller.session.dispatch(AddProp(far))
    middle = np.array((0.15, 1.05, 0.35))  # half a side along each axis, which are turned by 90 degrees about Z
    np.testing.assert_allclose(person.document.contact.prop("cube").handle, middle, atol=1e-12)
    np.testing.assert_allclose(mark_of(person, "cube").position, middle, atol=1e-12)
    gizmo = person.controller.hit_test.gizmo()
    assert gizmo is not None
    np.testing.assert_allclose(gizmo.position, middle, atol=1e-12)
    person.move(*person.pixel(middle))
    person.key("r", "y", "3", "7", "enter")
    after = person.document.contact.prop("cube")
    assert after.rotation != pytest.approx(turned)
    np.testing.assert_allclose(after.handle, middle, atol=1e-9)
    person.key("g", "x", "0", "period", "5", "enter")
    np.testing.assert_allclose(person.document.contact.prop("cube").handle, np.add(middle, (0.5, 0.0, 0.0)), atol=1e-9)


def test_what_blocks_a_hand_is_named_while_it_is_dragged_and_after(person: Person) -> None:
    person.controller.files.open("demo:floor")
    item, session = Item("effector", "RightHand"), person.controller.session
    session.begin_drag((item,))
    session.gestures.drag_to({item: ((-0.3, -0.15, 0.35), None)})
    person.wait(1.0)
    line = person.controller.status()
    assert line.state.startswith("Blocked: Right")
    assert line.state.endswith(" touches floor")
    session.commit()
    person.wait(0.2)
    line = person.controller.status()
    assert line.tone == "warn"
    assert line.state.startswith("Blocked: Right")
    assert " touches floor" in line.state


def test_two_bodies_that_touch_are_named_from_the_limb(person: Person) -> None:
    person.key("c")
    item, session = Item("effector", "LeftHand"), person.controller.session
    session.begin_drag((item,))
    for place in ((0.25, 1.1, 0.1), (0.1, 1.15, 0.0), (0.0, 1.15, -0.05)):
        session.gestures.drag_to({item: (place, None)})
        person.wait(0.7)
    (words,) = [words for words in person.controller.status().modes if "touches" in words]
    possible = {f"L {part} touches Spine{n}" for part in ("hand", "fore arm") for n in ("", 1, 2)}
    assert {*words.split("  ")} <= possible
    labels = {ring.label for ring in person.controller.scene().touches}
    assert labels
    assert labels <= {"Spine", "Spine1", "Spine2"}


def test_of_several_motions_in_a_frame_the_last_one_is_solved(person: Person) -> None:
    person.controller.run("prop.add_sphere")
    person.click(*EMPTY)
    start = np.array(ball_of(person).center)
    x, y = person.pixel(start)
    person.press(x, y)
    revision = person.controller.session.stage.revision
    for step in range(1, 30):
        person.move(x + 2.0 * step, y)
    begun = person.controller.session.stage.revision - revision
    assert begun < 5  # it is begun, and the ball selected
    assert ball_of(person).center == tuple(start)
    person.wait(0.02)
    assert person.pixel(np.array(ball_of(person).center)) == pytest.approx((x + 58.0, y), abs=0.5)
    person.move(x + 70.0, y)
    person.release(x + 70.0, y)  # what waited is not lost
    assert person.pixel(np.array(ball_of(person).center)) == pytest.approx((x + 70.0, y), abs=0.5)


def ignored(person: Person) -> tuple[tuple[str, str], ...]:
    return person.document.contact.exclude


def test_alt_click_lets_a_prop_go_through_what_it_touches_deepest(person: Person) -> None:
    person.controller.session.dispatch(SetContact(on=True, floor=False))
    hand = person.place("LeftHand")
    moved = tuple(np.add(hand, (0.14, 0.0, 0.0)))
    start = Prop(name="ball", center=tuple(np.add(hand, (0.5, 0.0, 0.0))), radius=0.12)
    person.controller.session.dispatch(AddProp(start))
    person.controller.session.begin("Move ball")
    for part in np.linspace(0.0, 1.0, 10):
        center = tuple((1.0 - part) * np.array(start.center) + part * np.array(moved))
        person.controller.session.gestures.update(SetProp("ball", center=center))
    person.controller.session.commit()
    document = person.document
    first = touches_of(document.contact, document.skeleton, document.pose)[0]
    assert first.other == "ball"
    at = person.pixel(np.array(moved))
    person.click(*at, "alt")
    assert ignored(person) == ((first.body, "ball"),)
    assert person.controller.view.bar.messages[-1].text == f"{first.body} and ball may go through each other"
    person.key("ctrl+z")
    assert not ignored(person)
    # A double click centres the view: what its first click did is taken back.
    person.click(*at, "alt")
    person.click(*at, "alt", clicks=2)
    assert not ignored(person)
    np.testing.assert_allclose(person.controller.view.camera.target, moved, atol=0.13)


def test_alt_click_says_that_nothing_is_touched(person: Person) -> None:
    person.controller.session.dispatch(AddProp(Prop(name="ball", center=(0.8, 1.2, 0.0), radius=0.12)))
    before = person.controller.session.history.labels
    at = person.pixel(np.array((0.8, 1.2, 0.0)))
    person.click(*at, "alt")
    assert person.controller.view.bar.messages == () or "touches" not in person.controller.view.bar.messages[-1].text
    person.controller.session.dispatch(SetContact(on=True))
    person.click(*at, "alt")
    assert person.controller.view.bar.messages[-1].text == "ball touches nothing"
    assert not ignored(person)
    assert len(person.controller.session.history.labels) == len(before) + 1
