"""The goals panel: goals stand under their levels, and a row that is dragged under another level gets it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from imgui_bundle import imgui
from inside.document import AddGoal, Select, SetBalance, SetGoal, SetPin
from panel_window import PanelWindow

import viewer
from viewer.document import Item


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load("sample:biped"), (1280, 1000))
    made.frames(2)
    yield made
    made.close()


def names(window: PanelWindow) -> list[str]:
    """Headings and goals from top to bottom, without numbers."""
    shown = [*(goal.id for goal in window.session.document.goals), "Balance", "Must", "Want", "Keep", "Maybe", "Off"]
    return [word for word in window.words("goals") if word in shown]


def test_goals_stand_under_their_levels_and_levels_without_goals_are_absent(window: PanelWindow) -> None:
    shown = names(window)
    assert shown[:7] == ["Must", "LeftFoot", "RightFoot", "Want", "LeftHand", "RightHand", "Head"]
    assert shown[7] == "Off"
    window.session.dispatch(SetGoal("Head", level=3))
    window.session.dispatch(SetBalance(on=True))
    window.frames(2)
    assert names(window)[:9] == [
        "Must", "LeftFoot", "RightFoot", "Want", "Balance", "LeftHand", "RightHand", "Maybe", "Head",
    ]  # fmt: skip


def dragged(window: PanelWindow, name: str, over: str) -> None:
    window.move(window.box("goals", name).middle)
    window.button(down=True)
    window.move((window.box("goals", name).middle[0] + 10.0, window.box("goals", name).middle[1] - 10.0))
    window.move(window.box("goals", over).middle)
    window.button(down=False)
    window.frames(2)


def test_long_names_in_rows_keep_side_and_pair() -> None:
    window = PanelWindow(viewer.load("sample:quadruped"))
    words = window.words("goals")
    assert {"L front paw", "R front paw", "L hind paw", "R hind paw"} <= {*words}
    window.close()


def test_a_row_dragged_under_another_level_gets_it_in_one_step(window: PanelWindow) -> None:
    steps = window.session.history.index
    dragged(window, "goal Head", "level 0")
    assert window.session.document.goal("Head").level == 0
    assert window.session.history.index == steps + 1
    assert "Head" in names(window)[1:4]
    dragged(window, "goal Head", "goal RightHand")
    assert window.session.document.goal("Head").level == 1


def test_pins_and_goals_that_are_off_are_not_dragged_to_a_level(window: PanelWindow) -> None:
    before = window.session.document
    dragged(window, "goal LeftFoot", "level 1")
    dragged(window, "goal LeftHand", "level 4")
    assert window.session.document.goals == before.goals


def test_the_level_of_a_pin_cannot_be_chosen(window: PanelWindow) -> None:
    window.session.dispatch(Select((Item("effector", "LeftFoot"),)))
    window.frames(3)
    before = window.session.document
    window.click("inspector", "level 3")
    assert window.session.document is before
    window.session.dispatch(SetPin("LeftFoot", position=False, rotation=False))
    window.frames(3)
    window.click("inspector", "level 3")
    assert window.session.document.goal("LeftFoot").level == 3


def test_goals_of_one_effector_stand_together_and_the_effector_is_named_under_each_level(window: PanelWindow) -> None:
    window.session.dispatch(AddGoal("LeftHand", "rotation"))
    window.frames(2)
    shown = [word for word in window.words("goals") if not word[0].isdigit()]
    assert shown[shown.index("Want") :][:5] == ["Want", "LeftHand", "rotation", "RightHand", "Head"]
    window.session.dispatch(SetGoal("LeftHand_2", level=3))
    window.frames(2)
    shown = [word for word in window.words("goals") if not word[0].isdigit()]
    assert shown[shown.index("Maybe") :][:2] == ["Maybe", "LeftHand"]
    assert not {"LeftHand_2"} & {*window.words("inspector")}


def test_the_menu_of_a_key_is_used_by_keys_and_says_what_each_goal_does(window: PanelWindow) -> None:
    window.session.dispatch(Select((Item("effector", "LeftHand"), Item("effector", "RightHand"))))
    window.controller.run("goal.add")
    with pytest.MonkeyPatch.context() as patch:
        seen: dict[str, str] = {}
        plain = imgui.menu_item_simple

        def noted(words: str, shortcut: str = "", *rest: bool) -> bool:
            seen[words] = shortcut
            return plain(words, shortcut, *rest)

        patch.setattr(imgui, "menu_item_simple", noted)
        window.frames(3)
    assert seen["Midpoint"] == "Keep the point midway between two effectors at a place"
    before = {goal.id for goal in window.session.document.goals}
    window.tap(imgui.Key.enter)
    window.frames(2)
    (added,) = [goal for goal in window.session.document.goals if goal.id not in before]
    assert (added.kind, added.effector) == ("position", "RightHand")
    assert not window.popup


def test_the_tree_counts_the_goals_of_a_joint_that_are_on(window: PanelWindow) -> None:
    for kind in ("rotation", "aim"):
        window.session.dispatch(AddGoal("LeftHand", kind))
    window.frames(3)
    assert "3" in window.words("skeleton")
    window.session.dispatch(Select((Item("effector", "LeftHand"),)))
    window.controller.run("goal.remove")
    window.frames(3)
    assert "2" in window.words("skeleton")
    window.controller.run("goal.remove")
    window.frames(3)
    assert not {"1", "2", "3"} & {*window.words("skeleton")}
