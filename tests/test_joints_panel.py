"""The panel Joints: there for robots alone, a slider a joint, which turns it as one undo step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import Select
from panel_window import PanelWindow
from test_urdf import ARM

import viewer
from viewer.document import Item

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def robot(tmp_path: Path) -> Iterator[PanelWindow]:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM, encoding="utf-8")
    made = PanelWindow(viewer.load(path))
    made.front("joints")
    yield made
    made.close()


def test_it_has_a_row_for_each_joint_that_moves(robot: PanelWindow) -> None:
    """By the file's names of joints, as its controller knows them; of other figures by ours."""
    words = robot.words("joints")
    assert [word for word in words if word in {"base", "shoulder", "elbow", "lift", "flange", "upper", "fore"}] == [
        "shoulder", "elbow", "lift",
    ]  # fmt: skip
    assert any(word.endswith("°") for word in words)


def test_names_that_all_end_alike_are_shown_without_their_end(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace('joint name="shoulder"', 'joint name="shoulder_joint"'), encoding="utf-8")
    window = PanelWindow(viewer.load(path))
    window.front("joints")
    words = window.words("joints")
    assert "shoulder" in words
    assert words.index("Copy") < words.index("shoulder")  # in sight, however many joints there are
    window.close()


def test_a_slider_turns_its_joint(robot: PanelWindow) -> None:
    skeleton, before = robot.session.document.skeleton, robot.session.document.pose
    name = next(n for n, kind in zip(skeleton.names, skeleton.kinds, strict=True) if kind.value == "hinge")
    robot.drag("joints", name, 30.0)
    after = robot.session.document.pose
    joint = skeleton.index(name)
    assert np.abs(after.rotations[joint] - before.rotations[joint]).max() > 0.01
    assert robot.session.history.labels[-1] == f"Turn {name}"


def test_the_button_that_restores_ranges_stands_below_them() -> None:
    window = PanelWindow(viewer.load("sample:biped"))
    window.session.dispatch(Select((Item("joint", "LeftForeArm"),)))
    window.frames(3)
    assert window.box("inspector", "As loaded").left == window.box("inspector", "Angle Y from").left
    window.close()


def test_people_have_none() -> None:
    window = PanelWindow(viewer.load("sample:biped"))
    window.frames(2)
    assert window.words("joints") == []
    window.ui.layout.tabs["left-bottom"] = "joints"
    window.frames(2)
    assert window.words("joints") == []
    assert window.words("goals")
    window.close()
