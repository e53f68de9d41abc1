"""What keys do: limits, pins, effectors, resets, nudges, playing, switches, the camera."""

from __future__ import annotations

import numpy as np
import pytest
from inside.document import AddGoal, RenameJoint, Select
from inside.ik import METHOD_NAMES
from ui_person import Person

import viewer
from viewer.document import Item, Mode, Scope
from viewer.gizmo import Space, Tool
from viewer.skeleton import limit_violation
from viewer.ui import COMMANDS, Key, KeyUp


@pytest.fixture
def person() -> Person:
    return Person()


def select(person: Person, *names: str, kind: str = "joint") -> None:
    person.controller.session.dispatch(Select(tuple(Item(kind, name) for name in names)))  # type: ignore[arg-type]


def test_every_command_has_a_handler_and_no_handler_is_idle(person: Person) -> None:
    assert set(person.controller.bindings) == {command.id for command in COMMANDS}


def test_every_toggle_says_whether_it_is_on_and_nothing_else_does(person: Person) -> None:
    for command in COMMANDS:
        assert isinstance(person.controller.checked(command.id), bool) is command.toggle, command.id


@pytest.mark.parametrize("file", ["sample:walk", "sample:two-link", "sample:chain-1"])
def test_every_command_can_be_asked_and_run_in_every_state(file: str) -> None:
    person = Person(file)
    for command in COMMANDS:
        if command.in_drag:
            person.pull(person.pixel(person.controller.scene().world.positions[-1]), (20.0, 10.0))
        before = person.document
        can = person.controller.can(command.id)
        assert person.controller.run(command.id) is can, command.id
        person.wait(0.05)
        person.controller.draw_list()
        person.controller.status()
        if can or command.in_drag:
            person = Person(file)
        else:  # and the next command finds what this one found
            assert person.document is before, command.id


def test_l_switches_all_limits_and_the_pose_follows(person: Person) -> None:
    x, y = person.at("LeftHand")
    person.drag((x, y), (260.0, -260.0))
    short = person.place("LeftHand")
    person.key("l")
    assert person.controller.checked("limits.all") is False
    assert "Limits off" in person.controller.status().modes
    assert not np.allclose(person.place("LeftHand"), short, atol=1e-3)
    person.key("l")
    assert person.document.limits_on
    assert limit_violation(person.document.skeleton, person.document.pose).max() < 1e-6
    assert person.controller.session.history.labels[1:] == ("Joint limits off", "Joint limits on")


def test_shift_l_frees_one_joint(person: Person) -> None:
    select(person, "LeftForeArm")
    person.key("shift+l")
    assert person.document.unlimited == {"LeftForeArm"}
    assert person.controller.checked("limits.joint") is False
    person.key("shift+l")
    assert person.document.unlimited == frozenset()


def test_pins_go_on_and_off(person: Person) -> None:
    person.select("LeftHand")
    person.key("p", "shift+p")
    handle = person.document.goal("LeftHand")
    assert (handle.pin_position, handle.pin_rotation) == (True, True)
    assert person.controller.checked("pin.position")
    person.key("p", "shift+p")
    handle = person.document.goal("LeftHand")
    assert (handle.pin_position, handle.pin_rotation) == (False, False)


def test_all_selected_effectors_are_pinned_in_one_step(person: Person) -> None:
    hands = (Item("effector", "LeftHand"), Item("effector", "RightHand"))
    person.controller.session.dispatch(Select(hands))
    depth = person.controller.session.history.index
    person.key("p")
    assert all(person.document.goal(name).pin_position for name in ("LeftHand", "RightHand"))
    assert person.controller.session.history.index == depth + 1
    person.key("p")
    assert not any(person.document.goal(name).pin_position for name in ("LeftHand", "RightHand"))


def test_an_effector_is_made_released_held_and_removed(person: Person) -> None:
    select(person, "LeftForeArm")
    person.key("shift+g")
    assert person.document.active == Item("effector", "LeftForeArm")
    assert not person.controller.can("effector.make")
    person.key("delete")
    assert not person.document.goal("LeftForeArm").enabled
    assert not person.controller.can("goal.remove")
    person.controller.run("effector.hold")
    assert person.document.goal("LeftForeArm").enabled
    person.controller.run("effector.remove")
    assert "LeftForeArm" not in [handle.effector for handle in person.document.goals]


def test_delete_goes_on_to_the_next_goal_of_the_effector(person: Person) -> None:
    session = person.controller.session
    for kind in ("rotation", "aim"):
        session.dispatch(AddGoal("LeftHand", kind))
    select(person, "LeftHand", kind="effector")
    for left in (["LeftHand_2", "LeftHand_3"], ["LeftHand_3"], []):
        person.key("delete")
        assert [goal.id for goal in person.document.goals_of("LeftHand") if goal.enabled] == left
        assert person.selected == [*left, "LeftHand"][:1]
    assert not person.controller.can("goal.remove")
    person.key("ctrl+z", "ctrl+z", "ctrl+z")
    assert person.selected == ["LeftHand"]
    assert len([goal for goal in person.document.goals_of("LeftHand") if goal.enabled]) == 3


def test_a_key_asks_which_goal_to_add(person: Person) -> None:
    select(person, "LeftHand", kind="effector")
    person.key("shift+a")
    assert [(one.name, one.value) for one in person.controller.view.requests] == [("add-goal", "LeftHand")]
    select(person)
    assert not person.controller.can("goal.add")


def test_several_goals_are_removed_in_one_step(person: Person) -> None:
    select(person, "LeftHand", "RightHand", kind="effector")
    depth = person.controller.session.history.index
    person.key("backspace")
    assert not person.document.goal("LeftHand").enabled
    assert not person.document.goal("RightHand").enabled
    assert person.controller.session.history.index == depth + 1


def test_undo_walks_back_to_the_start_and_redo_to_the_end(person: Person) -> None:
    start = person.document
    person.drag(person.at("LeftHand"), (30.0, -60.0))
    person.key("l", "m", "d", "p")
    end = person.document
    while person.controller.can("edit.undo"):
        person.key("ctrl+z")
    assert person.document is start
    while person.controller.can("edit.redo"):
        person.key("ctrl+y")
    assert person.document is end


def test_the_whole_pose_and_parts_of_it_are_reset(person: Person) -> None:
    home = person.document.pose
    person.drag(person.at("LeftHand"), (60.0, -90.0))
    select(person, "LeftForeArm")
    person.key("alt+r")
    joint = person.document.skeleton.index("LeftForeArm")
    np.testing.assert_allclose(person.document.pose.rotations[joint], home.rotations[joint])
    assert not np.allclose(person.document.pose.rotations, home.rotations)
    person.key("alt+shift+r")
    np.testing.assert_allclose(person.document.pose.rotations, home.rotations)


def test_the_solver_mode_scope_and_space_go_round(person: Person) -> None:
    for name in (*METHOD_NAMES[1:], METHOD_NAMES[0]):
        person.key("m")
        assert person.document.solver.method == name
    person.key("shift+m")
    assert person.document.solver.method == METHOD_NAMES[-1]
    person.key("d")
    assert person.document.mode is Mode.FK
    for scope in (Scope.LIMB, Scope.SELECTION, Scope.BODY):
        person.key("shift+d")
        assert person.document.scope is scope
    spaces = []
    for _ in Space:
        person.key("q")
        spaces.append(person.controller.view.space)
    assert spaces == [Space.LOCAL, Space.PARENT, Space.VIEW, Space.WORLD]
    person.key("shift+q")
    assert person.controller.view.space is Space.VIEW


def test_tools_are_chosen_and_put_away(person: Person) -> None:
    person.select("LeftHand")
    assert person.controller.hit_test.gizmo() is not None
    person.key("e")
    assert person.tool() is Tool.ROTATE
    person.key("e")
    assert person.tool() is Tool.ROTATE
    person.controller.run("tool.select")
    assert person.controller.hit_test.gizmo() is None
    person.key("w")
    assert person.controller.checked("tool.move")


def test_parents_children_all_and_none(person: Person) -> None:
    person.select("LeftHand")
    person.key("bracketleft")
    assert person.document.active == Item("joint", "LeftHand")
    person.key("pageup")
    assert person.document.active == Item("joint", "LeftForeArm")
    person.key("bracketright", "pagedown")
    assert person.document.active == Item("effector", "LeftHand")
    assert not person.controller.can("select.child")
    person.key("ctrl+a")
    assert set(person.selected) == {"LeftHand", "RightHand", "LeftFoot", "RightFoot", "Head"}
    person.key("ctrl+a")
    assert set(person.selected) == set(person.document.skeleton.names)
    person.key("escape")
    assert person.selected == []
    assert not person.controller.can("select.none")


@pytest.mark.parametrize(("key", "along"), [("right", "right"), ("up", "up")])
def test_nudges_by_a_pixel_a_tenth_and_a_step(person: Person, key: str, along: str) -> None:
    person.select("LeftHand")
    before, view = person.target("LeftHand"), person.controller.projection()
    pixel = 1.0 / float(view.pixels_per_metre(before))
    person.key(f"alt+{key}")
    np.testing.assert_allclose(person.target("LeftHand") - before, pixel * getattr(view, along), atol=1e-12)
    person.key(f"alt+shift+{key}")
    np.testing.assert_allclose(person.target("LeftHand") - before, 1.1 * pixel * getattr(view, along), rtol=1e-3)
    before = person.target("LeftHand")
    person.key(f"ctrl+alt+{key}")
    moved = person.target("LeftHand") - before
    assert np.count_nonzero(moved) == 1
    assert np.abs(moved).max() == pytest.approx(0.05)
    assert moved @ getattr(view, along) > 0.0


def test_nudges_of_a_key_that_stays_down_are_one_step(person: Person) -> None:
    person.select("LeftHand")
    depth, before = person.controller.session.history.index, person.target("LeftHand")
    held = frozenset({"alt"})
    for repeat in (False, True, True):
        person.controller.handle(Key("pagedown", held, repeat))
    person.controller.handle(KeyUp("pagedown", held))
    person.wait(1.2)
    assert person.controller.session.history.index == depth + 1
    assert person.controller.session.history.labels[-1] == "Nudge LeftHand"
    moved = person.target("LeftHand") - before
    assert moved @ person.controller.projection().back > 0.0
    person.key("ctrl+z")
    np.testing.assert_array_equal(person.target("LeftHand"), before)


def test_nudges_in_a_row_are_one_step_and_a_pause_begins_another(person: Person) -> None:
    person.select("LeftHand")
    depth, before = person.controller.session.history.index, person.target("LeftHand")
    for _ in range(5):
        person.key("alt+right")
    person.wait(1.2)
    assert person.controller.session.history.index == depth + 1
    after = person.target("LeftHand")
    person.key("alt+up", "alt+up")
    person.wait(1.2)
    assert person.controller.session.history.index == depth + 2
    person.key("ctrl+z")
    np.testing.assert_array_equal(person.target("LeftHand"), after)
    person.key("ctrl+z")
    np.testing.assert_array_equal(person.target("LeftHand"), before)


def test_undo_takes_back_nudges_that_no_pause_has_ended(person: Person) -> None:
    person.select("LeftHand")
    before = person.target("LeftHand")
    person.key("alt+right", "alt+right", "alt+up", "ctrl+z")
    np.testing.assert_array_equal(person.target("LeftHand"), before)


@pytest.mark.parametrize("between", ["click", "panel"])
def test_another_selection_begins_another_step_of_nudges(person: Person, between: str) -> None:
    person.select("LeftHand")
    start = len(person.controller.session.history)
    person.key("alt+right", "alt+right")
    if between == "click":
        person.select("RightHand")
    else:
        person.controller.session.dispatch(Select((Item("effector", "RightHand"),)))
    person.key("alt+right", "alt+right")
    person.wait(1.2)
    assert person.controller.session.history.labels[start:] == ("Nudge LeftHand", "Select RightHand", "Nudge RightHand")


def test_an_edit_that_stops_playing_says_so() -> None:
    person = Person("sample:walk")
    person.key("space")
    person.wait(0.3)
    person.drag(person.at("LeftHand"), (40.0, -60.0))
    frame = person.document.frame
    assert [m.text for m in person.controller.view.bar.messages] == [
        f"Playback stopped at frame {frame}: Space resumes"
    ]
    person.key("space")
    person.wait(0.2)
    person.key("space")
    assert not any("Playing stopped" in m.text for m in person.controller.view.bar.messages[1:])


def test_another_command_ends_the_nudging(person: Person) -> None:
    person.select("LeftHand")
    person.controller.handle(Key("right", frozenset({"alt"})))
    person.controller.handle(Key("l"))
    assert person.controller.session.history.labels[-2:] == ("Nudge LeftHand", "Joint limits off")


def test_keys_that_repeat_act_only_where_that_makes_sense(person: Person) -> None:
    person.controller.handle(Key("l", repeat=True))
    assert person.document.limits_on


def test_one_joint_is_copied_in_the_singular(person: Person) -> None:
    select(person, "LeftArm")
    person.key("ctrl+c", "ctrl+alt+c")
    said = [message.text for message in person.controller.view.bar.messages]
    assert said[-2:] == ["Copied the pose of 1 joint", "Copied the pose of 1 joint in the world"]


def test_a_pose_is_copied_and_pasted_flipped(person: Person) -> None:
    assert not person.controller.can("pose.paste")
    home = person.document.pose
    person.drag(person.at("LeftHand"), (40.0, -120.0))
    raised = person.place("LeftHand")
    person.key("ctrl+c", "alt+shift+r")
    assert person.document.pose.same_as(home)
    person.key("ctrl+v")
    np.testing.assert_allclose(person.place("LeftHand"), raised, atol=1e-6)
    person.key("ctrl+shift+v")
    np.testing.assert_allclose(person.place("RightHand")[1], raised[1], atol=0.02)
    assert person.place("LeftHand")[1] < raised[1] - 0.05
    person.key("ctrl+m")
    np.testing.assert_allclose(person.place("LeftHand"), raised, atol=0.02)


def test_joint_values_are_copied_as_yaml() -> None:
    """Hinges by a number, balls by three: what `coordinates` says, to the digits that are written."""
    person = Person("sample:claw-arm")
    assert person.controller.run("pose.copy_joints")
    request = person.controller.view.requests.pop()
    lines = str(request.value).splitlines()
    assert (request.name, lines[0]) == ("copy-text", "# radians, metres")
    skeleton = person.document.skeleton
    found = {name: value for name, _, value in (line.partition(": ") for line in lines[1:])}
    assert list(found) == [name for name in skeleton.names if name != "base"]  # which is fixed
    wanted = viewer.coordinates(skeleton, person.document.pose)
    numbers = [float(word) for value in found.values() for word in value.strip("[]").split(", ")]
    np.testing.assert_allclose(numbers, wanted, atol=5e-7)
    person.controller.session.dispatch(Select((Item("joint", "elbow"),)))
    person.controller.run("pose.copy_joints")
    assert person.controller.view.requests.pop().value == f"# radians, metres\nelbow: {found['elbow']}\n"


def test_the_joints_of_a_robot_are_copied_by_the_names_of_its_file_also_after_a_rename() -> None:
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/></joint>'
        for name, parent, child in (("pan", "base", "turret"), ("tilt", "turret", "head"))
    )
    links = "".join(f'<link name="{name}"/>' for name in ("base", "turret", "head"))
    person = Person(viewer.load(text=f'<robot name="r">{links}{joints}</robot>'))
    person.controller.run("pose.copy_joints")
    assert person.controller.view.requests.pop().value == "# radians, metres\npan: 0.000000\ntilt: 0.000000\n"
    person.controller.session.dispatch(RenameJoint("head", "camera"))
    person.controller.run("pose.copy_joints")
    assert "tilt: 0.000000" in str(person.controller.view.requests.pop().value)
