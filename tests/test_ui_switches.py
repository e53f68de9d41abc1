"""Workspaces arrange panels; what is worked on stays as it is."""

from __future__ import annotations

import pytest
from inside.document import Select
from ui_person import Person

from viewer.document import Item


def state(person: Person) -> tuple[object, ...]:
    controller = person.controller
    return controller.session.document, controller.view.camera, controller.view.tool, controller.session.history.index


def test_workspaces_change_by_keys_and_leave_document_selection_and_camera_alone() -> None:
    person = Person()
    person.controller.session.dispatch(Select((Item("joint", "Spine"),)))
    before, view = state(person), person.controller.view
    assert view.workspace == "pose"
    for keys, workspace in (
        ("alt+2", "animate"),
        ("alt+2", "pose"),  # its own key again: back to the one before
        ("alt+1", "animate"),
        ("alt+1", "pose"),
        ("ctrl+pagedown", "animate"),
        ("ctrl+pagedown", "retarget"),
        ("ctrl+pagedown", "build"),
        ("ctrl+pagedown", "physics"),
        ("ctrl+pagedown", "lab"),
        ("ctrl+pagedown", "pose"),
        ("ctrl+pageup", "lab"),
        ("ctrl+pageup", "physics"),
        ("ctrl+pageup", "build"),
        ("ctrl+pageup", "retarget"),
        ("ctrl+pageup", "animate"),
    ):
        person.key(keys)
        assert view.workspace == workspace, keys
        assert state(person) == before


def test_menus_tick_the_workspace() -> None:
    person = Person()
    person.controller.run("workspace.animate")
    assert person.controller.checked("workspace.animate")
    assert not person.controller.checked("workspace.pose")
    person.controller.run("workspace.pose")
    assert person.controller.checked("workspace.pose")


def test_a_key_that_is_pressed_again_goes_back_to_pose_or_animate_and_into_no_other_workspace() -> None:
    person = Person()
    view = person.controller.view
    for left in ("alt+3", "alt+5", "alt+6"):
        person.key(left, "alt+1")
        assert view.workspace == "pose"
        person.key("alt+1")
        assert view.workspace == "pose", left
    person.key("alt+2", "alt+6", "alt+5", "alt+5")
    assert view.workspace == "animate"
    person.key("alt+2")
    assert view.workspace == "pose"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ui_scale", 1.25), ("preset", "maya"), ("two_fingers", True), ("reduce_motion", False),
        ("keep_in_view", False), ("snap_m", 0.02), ("snap_deg", 15.0), ("magnet", True),
        ("ghosts_around", 3), ("ghost_step", 4), ("trail_frames", 12), ("record_tolerance_deg", 0.5),
    ],
)  # fmt: skip
def test_another_value_of_a_preference_is_kept_and_drawn(name: str, value: object) -> None:
    view = Person().controller.view
    before = view.revision
    setattr(view, name, getattr(view, name))
    assert view.revision == before
    setattr(view, name, value)
    assert view.revision == before + 1
    kept = getattr(view.preferences, name)
    assert kept * (view.step_scale if name == "snap_m" else 1) == value
