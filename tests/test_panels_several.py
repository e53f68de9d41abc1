"""The inspector of several effectors or joints: what they share, changed for all in one undo step."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from imgui_bundle import imgui
from inside.document import Select, SetCoordinate, SetStiffness
from panel_window import PanelWindow
from scenes import bone_ends

import viewer
from viewer.document import Item
from viewer.ui import Move

if TYPE_CHECKING:
    from collections.abc import Iterator

FINGERS = ("LeftHandIndex2", "LeftHandMiddle2", "LeftHandRing2")
SPINE = ("Spine", "Spine1", "Spine2")


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load("sample:biped-hands"))
    yield made
    made.close()


def select(window: PanelWindow, kind: str, *names: str) -> None:
    window.session.dispatch(Select(tuple(Item(kind, name) for name in names)))  # type: ignore[arg-type]
    window.frames(3)


def typed(window: PanelWindow, name: str, text: str) -> None:
    """A double click on a field, a number, Enter."""
    window.double_click("inspector", name)
    window.write(text)
    window.tap(imgui.Key.enter)
    window.frames(3)


def stiffness(window: PanelWindow, *names: str) -> list[float]:
    skeleton = window.session.document.skeleton
    return [float(skeleton.stiffness[skeleton.index(name)]) for name in names]


def test_joints_are_counted(window: PanelWindow) -> None:
    select(window, "joint", *SPINE)
    assert "3 joints" in window.words("inspector")


def test_a_typed_number_makes_them_equal_in_one_step(window: PanelWindow) -> None:
    window.session.dispatch(SetStiffness("Spine", 0.8))
    select(window, "joint", *SPINE)
    depth = window.session.history.index
    typed(window, "several Stiffness", "0.25")
    assert stiffness(window, *SPINE) == [0.25] * 3
    assert window.session.history.index == depth + 1
    window.session.undo()
    assert stiffness(window, "Spine") == [0.8]


def test_a_drag_changes_all_by_as_much(window: PanelWindow) -> None:
    before = [0.2, 0.3, 0.6]
    for name, value in zip(SPINE, before, strict=True):
        window.session.dispatch(SetStiffness(name, value))
    select(window, "joint", *SPINE)
    depth = window.session.history.index
    window.drag("inspector", "several Stiffness", 30.0)
    after = stiffness(window, *SPINE)
    by = after[0] - before[0]
    assert by > 0.05
    assert after == pytest.approx([value + by for value in before])
    assert window.session.history.index == depth + 1


def test_fingers_bend_together(window: PanelWindow) -> None:
    document = window.session.document
    joints = [document.skeleton.index(name) for name in FINGERS]
    start = document.pose.rotations[joints]
    select(window, "joint", *FINGERS)
    (field,) = {box.name for box in window.boxes if box.name.startswith("several Angle")}
    typed(window, field, "40")
    pose = window.session.document.pose
    apart = np.degrees(2.0 * np.arccos(np.clip(np.abs(pose.rotations[joints][:, 3]), 0.0, 1.0)))
    np.testing.assert_allclose(apart, 40.0, atol=1e-6)
    assert (start != pose.rotations[joints]).any()


def test_joints_of_other_kinds_share_no_coordinate(window: PanelWindow) -> None:
    select(window, "joint", "LeftHandIndex2", "Spine")
    names = {box.name for box in window.boxes}
    assert "several Stiffness" in names
    assert not any(name.startswith("several Angle") for name in names)


def test_lengths_are_times_those_of_the_file(window: PanelWindow) -> None:
    select(window, "joint", *FINGERS)
    typed(window, "several Length", "1.5")
    document = window.session.document
    for name in FINGERS:
        (joint,) = bone_ends(document.skeleton, document.skeleton.index(name))
        now, own = (np.linalg.norm(one.offsets[joint]) for one in (document.skeleton, document.character.skeleton))
        assert now == pytest.approx(1.5 * own)


def test_limits_of_all_are_switched(window: PanelWindow) -> None:
    select(window, "joint", *SPINE)
    window.click("inspector", "limits")
    assert window.session.document.unlimited == {*SPINE}
    window.frames(2)
    window.click("inspector", "limits")
    assert not window.session.document.unlimited


def test_targets_move_with_their_middle(window: PanelWindow) -> None:
    hands = ("LeftHand", "RightHand")
    select(window, "effector", *hands)
    before = {name: np.array(window.session.document.goal(name).position) for name in hands}
    middle = np.mean([*before.values()], axis=0)
    typed(window, "middle y", f"{middle[1] + 0.05:.6f}")
    for name in hands:
        moved = np.array(window.session.document.goal(name).position) - before[name]
        np.testing.assert_allclose(moved, (0.0, 0.05, 0.0), atol=1e-6)


def test_weights_levels_and_pins_of_several_goals(window: PanelWindow) -> None:
    hands = ("LeftHand", "RightHand")
    select(window, "effector", *hands)
    typed(window, "several Weight", "3")
    goals = [window.session.document.goal(name) for name in hands]
    assert [goal.weight for goal in goals] == [3.0, 3.0]
    window.click("inspector", "Position##pin")
    assert all(window.session.document.goal(name).pin_position for name in hands)
    window.frames(2)
    window.click("inspector", "Release")
    assert not any(window.session.document.goal(name).enabled for name in hands)
    window.frames(2)
    window.click("inspector", "Hold here")
    assert all(window.session.document.goal(name).enabled for name in hands)


def test_one_effector_beside_several_joints(window: PanelWindow) -> None:
    window.session.dispatch(Select((Item("effector", "LeftHand"), Item("joint", "Spine"), Item("joint", "Spine1"))))
    window.frames(3)
    words = window.words("inspector")
    assert "LeftHand" in words
    assert "2 joints" in words


def test_a_refused_edit_leaves_nothing_half_done(window: PanelWindow) -> None:
    document = window.session.document
    select(window, "joint", *SPINE)
    depth = window.session.history.index
    window.session.dispatch(SetCoordinate("Head", 0, 0.0))
    typed(window, "several Length", "nonsense")
    assert window.session.document.skeleton is document.skeleton
    assert window.session.history.index <= depth + 1


def test_a_click_on_the_row_of_a_figure_with_fewer_joints_shows_its_tree(window: PanelWindow) -> None:
    assert window.controller.figures.add("sample:piston")
    window.session.figures.activate("biped-hands")
    window.frames(3)
    window.click("skeleton", "figure piston")
    assert window.controller.figures.active == "piston"
    shown = [box.name for box in window.boxes if box.name.startswith("joint ")]
    assert shown == [f"joint {name}" for name in window.session.document.skeleton.names]


def test_what_was_under_the_pointer_is_forgotten_with_its_joints(window: PanelWindow) -> None:
    controller = window.controller
    names, view = window.session.document.skeleton.names, controller.viewport
    x, y = controller.projection().project(controller.scene().world.positions[names.index("Head")]).tolist()
    controller.handle(Move(x + view.x, y + view.y))
    assert controller.view.hovered_item() is not None
    assert controller.opening.show_file("sample:piston")
    assert controller.view.hovered.hit is None
    assert controller.hints()
    controller.draw_list()


def test_names_of_links_that_are_cut_differ() -> None:
    names = [f"left_hand_{finger}_link" for finger in ("thumb_2", "middle_1", "index_1", "palm")]
    joints = [{"name": name, "parent": "base", "offset": [0.1 * i, 1, 0]} for i, name in enumerate(names)]
    goals = [{"name": name, "joint": name} for name in names]
    text = json.dumps({"name": "robot", "joints": [{"name": "base", "kind": "free"}, *joints], "effectors": goals})
    window = PanelWindow(viewer.load(text=text))
    shown = [word for word in window.words("goals") if "left" in word or "\u2026" in word]
    assert len({*shown}) == len(shown) == len(names)
    assert not {*shown} & {*names}
    window.close()
