"""Workspaces arrange panels; what is worked on stays as it is."""

from __future__ import annotations

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
