"""What a click, a drag or a typed number in a panel does to the document."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from imgui_bundle import imgui
from inside.document import MoveTargets, Select, SetLimits, SetSolver
from inside.skeleton import joint_space
from panel_window import PanelWindow
from scenes import bone_ends

import viewer
from viewer.document import Item, Mode
from viewer.gizmo import Space, Tool
from viewer.session import Loop

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load("sample:walk"))
    yield made
    made.close()


def select(window: PanelWindow, *items: tuple[str, str]) -> None:
    window.session.dispatch(Select(tuple(Item(*item) for item in items)))  # type: ignore[arg-type]  # kinds are words
    window.frames(3)


def angle(window: PanelWindow, joint: str, place: int) -> float:
    document = window.session.document
    space = joint_space(document.skeleton)
    values = space.measure(document.pose.rotations, document.pose.translations)
    return math.degrees(float(values[document.skeleton.index(joint), place]))


def test_a_row_of_the_tree_selects_its_joint_and_shift_adds(window: PanelWindow) -> None:
    window.click("skeleton", "joint Spine1")
    assert window.session.document.selection == (("joint", "Spine1"),)
    window.key(imgui.Key.mod_shift, down=True)
    window.click("skeleton", "joint Neck")
    assert [item.name for item in window.session.document.selection] == ["Spine1", "Neck"]


def test_a_double_click_selects_a_joint_with_all_below_it(window: PanelWindow) -> None:
    window.double_click("skeleton", "joint LeftShoulder")
    chosen = {item.name for item in window.session.document.selection}
    assert chosen == {"LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand"}
    assert window.session.document.active == ("joint", "LeftShoulder")


def test_a_caret_folds_and_selects_nothing(window: PanelWindow) -> None:
    box = window.box("skeleton", "joint Neck")
    window.move((box.left + 4 * 11 + 4, box.middle[1]))
    window.rest()
    window.button(down=True)
    window.button(down=False)
    window.frames(2)
    assert window.session.document.selection == ()
    assert "joint Head" not in [each.name for each in window.boxes]


def test_a_row_under_the_pointer_is_hovered_in_the_view_and_leaves_it_again(window: PanelWindow) -> None:
    window.move(window.box("skeleton", "joint Spine2").middle)
    assert window.controller.view.hovered_item() == ("joint", "Spine2")
    window.move(window.box("goals", "goal Head").middle)
    assert window.controller.view.hovered_item() == ("effector", "Head")
    window.move((640.0, 300.0))
    assert window.controller.view.hovered_item() is None


def test_a_row_of_the_goals_selects_the_effector(window: PanelWindow) -> None:
    window.click("goals", "goal RightHand")
    assert window.session.document.selection == (("effector", "RightHand"),)


def test_an_angle_slider_turns_its_joint_as_one_step(window: PanelWindow) -> None:
    select(window, ("joint", "RightForeArm"))
    slider = next(
        box.name for box in window.boxes if box.panel == "inspector" and box.name.startswith(("Swing", "Angle"))
    )
    place = "XYZ".index(slider[-1]) if slider.startswith("Swing") else 0
    before, depth = angle(window, "RightForeArm", place), window.session.history.index
    window.drag("inspector", slider, 12.0)
    assert angle(window, "RightForeArm", place) != pytest.approx(before, abs=1.0)
    assert window.session.history.index == depth + 1
    window.session.undo()
    assert angle(window, "RightForeArm", place) == before


def test_escape_takes_a_slider_back_exactly(window: PanelWindow) -> None:
    select(window, ("joint", "Neck"))
    slider = next(box.name for box in window.boxes if box.panel == "inspector" and box.name.startswith("Swing"))
    document = window.session.document
    window.drag("inspector", slider, 15.0, before_release=lambda: window.tap(imgui.Key.escape))
    assert window.session.document is document


def test_limits_bind_a_slider_while_they_are_on(window: PanelWindow) -> None:
    select(window, ("joint", "RightArm"))
    document = window.session.document
    joint = document.skeleton.index("RightArm")
    place = 1
    most = math.degrees(float(joint_space(document.skeleton).upper[joint, place]))
    window.drag("inspector", "Swing Y", 60.0)
    assert angle(window, "RightArm", place) <= most + 1e-6
    window.session.dispatch(SetLimits(on=False))
    window.frames(2)
    window.drag("inspector", "Swing Y", 15.0)
    assert angle(window, "RightArm", place) > most + 5.0


def test_a_number_is_typed_after_a_double_click_with_sums_and_units(window: PanelWindow) -> None:
    select(window, ("effector", "RightHand"))
    window.double_click("inspector", "position y")
    window.write("1 + 12 cm")
    position = window.session.document.goal("RightHand").position
    assert position is not None
    assert position[1] == pytest.approx(1.12)


def test_nonsense_typed_is_a_message_and_changes_nothing(window: PanelWindow) -> None:
    select(window, ("effector", "RightHand"))
    document = window.session.document
    window.double_click("inspector", "position x")
    window.write("left a bit")
    assert window.session.document is document
    assert [message.text for message in window.controller.view.bar.messages] == [
        'Expected a number, found "left a bit"'
    ]


def test_a_weight_slider_weighs_the_goal(window: PanelWindow) -> None:
    select(window, ("effector", "Head"))
    window.drag("inspector", "weight", -60.0)
    assert 0.0 < window.session.document.goal("Head").weight < 1.0


def test_pin_buttons_pin_and_unpin(window: PanelWindow) -> None:
    select(window, ("effector", "Head"))
    window.click("inspector", "Position##pin")
    assert window.session.document.goal("Head").pin_position
    window.click("inspector", "Position##pin")
    assert not window.session.document.goal("Head").pin_position


def test_release_and_hold_switch_a_goal_off_and_on(window: PanelWindow) -> None:
    select(window, ("effector", "Head"))
    window.click("inspector", "Release")
    assert not window.session.document.goal("Head").enabled
    window.click("inspector", "Hold here")
    assert window.session.document.goal("Head").kind == "position"


def test_a_level_is_chosen_in_words_and_the_later_one_gives_way(window: PanelWindow) -> None:
    select(window, ("effector", "Head"))
    window.click("inspector", "level 0")
    assert window.session.document.goal("Head").level == 0
    window.click("inspector", "level 3")
    assert window.session.document.goal("Head").level == 3
    places = {name: np.array(window.session.document.goal(name).position) for name in ("Head", "LeftHand")}
    ways = {"Head": np.array((-0.5, 0.0, 0.0)), "LeftHand": np.array((0.6, 0.9, 0.3))}
    window.session.dispatch(MoveTargets({name: (places[name] + way, None) for name, way in ways.items()}))
    assert window.session.errors["LeftHand"].reached
    assert not window.session.errors["Head"].reached
    window.session.undo()
    window.session.undo()
    assert window.session.document.goal("Head").level == 0


def test_goals_are_added_to_an_effector_chosen_and_removed(window: PanelWindow) -> None:
    select(window, ("effector", "Head"))
    assert window.controller.can("goal.add")
    window.click("inspector", "+##add")
    assert window.popup
    window.tap(imgui.Key.escape)
    window.controller.run("goal.add_aim")
    window.frames(2)
    assert [goal.kind for goal in window.session.document.goals_of("Head")] == ["position", "aim"]
    assert window.session.history.labels[-1] == "Add aim of Head"
    assert "aim" in window.words("goals")
    window.click("inspector", "Position##Head")
    assert window.session.document.active == Item("effector", "Head")
    window.click("goals", "goal Head_2")
    assert window.session.document.active == Item("effector", "Head_2")
    window.click("inspector", "Remove")
    assert len(window.session.document.goals_of("Head")) == 1
    window.session.undo()
    window.controller.run("goal.remove")
    assert len(window.session.document.goals_of("Head")) == 1


def test_make_effector_makes_one_of_the_joint(window: PanelWindow) -> None:
    select(window, ("joint", "Spine1"))
    window.click("inspector", "Make effector")
    assert window.session.document.goal("Spine1").enabled


def test_the_length_of_a_bone_is_scrubbed_and_reset_by_a_right_click(window: PanelWindow) -> None:
    select(window, ("joint", "RightForeArm"))
    own = window.session.document.skeleton.offsets.copy()
    window.drag("inspector", "length", 40.0)
    assert (window.session.document.skeleton.offsets != own).any()
    window.click("inspector", "length", which=1)
    assert (window.session.document.skeleton.offsets == own).all()


def test_the_length_of_a_bone_to_an_end_site_is_scrubbed_and_reset_by_a_right_click(window: PanelWindow) -> None:
    select(window, ("joint", "LeftToeBase"))
    own = window.session.document.skeleton.tip_offsets
    window.drag("inspector", "length", 40.0)
    skeleton = window.session.document.skeleton
    changed = np.flatnonzero((skeleton.tip_offsets != own).any(axis=-1))
    assert [skeleton.tip_names[tip] for tip in changed] == ["LeftToeBase.tip"]
    assert window.session.history.labels[-1] == "Length of LeftToeBase"
    window.click("inspector", "length", which=1)
    assert (window.session.document.skeleton.tip_offsets == own).all()


@pytest.mark.parametrize("name", ["LeftForeArm", "RightUpLeg", "Neck", "Hips"])
def test_the_lengths_shown_and_changed_are_those_of_the_bones_that_are_lit(window: PanelWindow, name: str) -> None:
    """A bone belongs to the joint that turns it: of LeftForeArm it is the forearm."""
    select(window, ("joint", name))
    document = window.session.document
    skeleton, joint = document.skeleton, document.skeleton.index(name)
    frames = window.controller.draw_list().bones
    lit = frames[frames["outline"][:, 3] > 0.0]["frame"][:, :, 1].astype(np.float64)
    ends = bone_ends(skeleton, joint)
    assert [skeleton.parents[end] for end in ends] == [joint] * len(ends)
    lengths = np.linalg.norm(skeleton.offsets[ends], axis=-1)
    assert np.sort(np.linalg.norm(lit, axis=-1)) == pytest.approx(np.sort(lengths), rel=1e-5)
    words = window.words("inspector")
    assert all(f"{length:.3f} m" in words for length in lengths.tolist())
    field = "length" if len(ends) == 1 else f"length to {skeleton.names[ends[0]]}"
    window.drag("inspector", field, 40.0)
    changed = (window.session.document.skeleton.offsets != skeleton.offsets).any(axis=-1)
    assert np.flatnonzero(changed).tolist() == [ends[0]]
    assert window.session.history.labels[-1] == f"Length of {name}"
    window.click("inspector", field, which=1)
    assert window.session.document.skeleton.offsets.tolist() == skeleton.offsets.tolist()


@pytest.mark.parametrize(("name", "tool"), [("select", Tool.SELECT), ("move", Tool.MOVE), ("rotate", Tool.ROTATE)])
def test_the_toolbar_chooses_tools(window: PanelWindow, name: str, tool: Tool) -> None:
    window.controller.view.tool = Tool.MOVE if tool is not Tool.MOVE else Tool.SELECT
    window.click("toolbar", f"tool.{name}")
    assert window.controller.view.tool is tool


def test_the_toolbar_switches_limits_modes_and_what_is_shown(window: PanelWindow) -> None:
    window.click("toolbar", "limits")
    assert not window.session.document.limits_on
    window.click("toolbar", "mode 1")
    assert window.session.document.mode is Mode.FK
    for name in ("body", "show"):
        window.click("toolbar", name)
        assert window.popup
        window.tap(imgui.Key.escape)
        assert not window.popup


def test_undo_and_redo_buttons(window: PanelWindow) -> None:
    window.click("toolbar", "limits")
    window.click("toolbar", "edit.undo")
    assert window.session.document.limits_on
    window.click("toolbar", "edit.redo")
    assert not window.session.document.limits_on


def test_a_list_of_the_toolbar_opens_and_chooses(window: PanelWindow) -> None:
    window.click("toolbar", "space")
    assert window.popup
    window.tap(imgui.Key.down_arrow)
    window.tap(imgui.Key.enter)
    assert window.controller.view.space is Space.LOCAL


def test_settings_of_the_solver(window: PanelWindow) -> None:
    window.front("solver")
    window.click("solver", "update 1")
    assert window.session.document.solver.until_close
    window.click("solver", "update 0")
    assert not window.session.document.solver.until_close


def test_the_preferred_pose_is_chosen_in_the_solver_panel(window: PanelWindow) -> None:
    window.front("solver")
    window.move(window.box("solver", "update 0").middle)
    for _ in range(20):
        imgui.get_io().add_mouse_wheel_event(0.0, -5.0)
        window.frames(3)
    before = window.session.document.pose
    window.click("solver", "prefer 1")
    assert window.session.document.solver.prefer == "rest"
    assert not window.session.document.pose.same_as(before)
    assert all(error.reached for error in window.session.errors.values())
    window.drag("solver", "prefer_weight", -40.0)
    assert 0.0 <= window.session.document.solver.prefer_weight < 1.0


def test_a_solver_without_a_pull_offers_no_preferred_pose(window: PanelWindow) -> None:
    window.session.dispatch(SetSolver(method="dls"))
    window.front("solver")
    window.move(window.box("solver", "update 0").middle)
    for _ in range(20):
        imgui.get_io().add_mouse_wheel_event(0.0, -5.0)
        window.frames(3)
    window.click("solver", "prefer 1")
    assert window.session.document.solver.prefer == "start"


def test_a_step_of_the_history_is_gone_to(window: PanelWindow) -> None:
    window.click("toolbar", "limits")
    window.click("toolbar", "limits")
    window.click("", "history")  # the tab
    window.click("history", "step 1")
    assert not window.session.document.limits_on
    assert window.session.history.index == 1


def test_the_transport_steps_plays_and_scrubs(window: PanelWindow) -> None:
    window.click("timeline", "play.next")
    assert window.session.document.frame == 1
    window.click("timeline", "play.last")
    assert window.session.document.frame == 67
    window.click("timeline", "play.forwards")
    assert window.session.clock.direction == 1
    window.click("timeline", "ruler")
    assert not window.session.clock.direction
    assert window.session.document.frame in {33, 34}
    window.click("timeline", "loop")
    assert window.session.clock.loop is Loop.PING_PONG
    assert window.session.history.index == 0


def test_a_panel_put_away_in_the_middle_of_a_scrub_ends_the_gesture(window: PanelWindow) -> None:
    select(window, ("joint", "Neck"))
    slider = next(box.name for box in window.boxes if box.panel == "inspector" and box.name.startswith("Swing"))
    x, y = window.box("inspector", slider).middle
    window.move((x, y))
    window.button(down=True)
    window.move((x + 20.0, y))
    assert window.session.gestures.label is not None
    select(window)
    assert window.session.gestures.label is None


def test_a_root_is_moved_by_its_numbers_and_pins_stay(window: PanelWindow) -> None:
    select(window, ("joint", "Hips"))
    depth = window.session.history.index
    feet = window.session.document.goal("LeftFoot").position
    before = float(window.session.document.pose.translations[0, 1])
    window.double_click("inspector", "place y")
    window.write(f"{before - 0.05:.4f}")
    assert window.session.document.pose.translations[0, 1] == pytest.approx(before - 0.05, abs=2e-3)
    assert window.session.document.goal("LeftFoot").position == feet
    assert window.session.history.index == depth + 1
    window.drag("inspector", "place x", 30.0)
    assert window.session.history.index == depth + 2


def test_what_is_typed_into_a_field_that_goes_away_goes_with_it(window: PanelWindow) -> None:
    select(window, ("effector", "RightHand"))
    window.double_click("inspector", "position x")
    imgui.get_io().add_input_characters_utf8("5")
    window.frames(2)
    select(window, ("joint", "Neck"))
    document = window.session.document
    select(window, ("effector", "RightHand"))
    assert window.box("inspector", "position x")
    assert window.session.document.goal("RightHand") == document.goal("RightHand")


def test_escape_leaves_a_typed_number_alone(window: PanelWindow) -> None:
    select(window, ("effector", "RightHand"))
    document = window.session.document
    window.double_click("inspector", "position x")
    imgui.get_io().add_input_characters_utf8("5")
    window.frames(2)
    window.tap(imgui.Key.escape)
    window.frames(2)
    assert window.session.document is document
    assert window.box("inspector", "position x")


def test_one_of_several_clips_is_chosen() -> None:
    character = viewer.load("sample:walk")
    assert character.clip is not None
    clips = {"walk": character.clip, "first half": replace(character.clip.frames(0, 33), name="first half")}
    several = PanelWindow(replace(character, clips=clips))
    several.click("timeline", "clip")
    assert several.popup
    several.tap(imgui.Key.down_arrow)
    several.tap(imgui.Key.enter)
    several.frames(2)
    assert several.session.document.clip == "first half"
    several.close()
