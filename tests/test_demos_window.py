"""Demos and planes at the window: opened, looked at, clicked in, paused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.app import CARD_MARGIN, CARD_WIDTH
from inside.document import MoveTargets, SetCoordinate, actions
from inside.session import DEMOS, save_session
from ui_person import VIEW, Person, answer

import viewer
from viewer.gizmo import Stroke
from viewer.ui import Key, Rect

if TYPE_CHECKING:
    from pathlib import Path

EVERY = pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.id)


def moves(person: Person) -> bool:
    return person.controller.session.targets.running


def locked(person: Person) -> bool:
    return not person.controller.session.errors["tip"].reached


def shown(name: str) -> Person:
    person = Person()
    person.controller.view.preferences.reduce_motion = False
    person.controller.files.open(f"demo:{name}")
    return person


def test_unsaved_work_is_asked_about() -> None:
    person = Person()
    person.select("LeftHand")
    person.key("alt+left")
    person.controller.files.open("demo:claw")
    assert person.controller.view.requests[-1].name == "question"
    assert person.controller.session.modified
    assert person.controller.demos.current is None
    answer(person.controller, "Discard")
    assert person.controller.demos.current is not None


def test_a_demo_that_is_watched_is_not_modified() -> None:
    person = shown("serpent")
    person.wait(1.0)
    assert not person.controller.session.modified
    assert person.controller.session.history.index == 0


def test_space_and_escape_hold_it_still() -> None:
    person = shown("ball")
    person.wait(0.5)
    person.key("space")
    assert not moves(person)
    person.key("space")
    assert moves(person)
    person.key("escape")
    assert not moves(person)
    before = person.document
    person.wait(0.5)
    assert person.document is before


def test_the_card_can_be_closed_and_comes_back_with_the_next_demo() -> None:
    person = shown("claw")
    person.controller.demos.close()
    assert person.controller.demos.card is None
    assert person.controller.demos.current is not None
    person.controller.files.open("demo:serpent")
    assert person.controller.demos.card is not None


def test_motion_is_reduced_where_that_is_preferred() -> None:
    person = Person()
    person.controller.files.open("demo:claw")
    assert not person.controller.session.targets.running
    assert person.controller.can("demo.animate")


def test_a_click_puts_the_target_there() -> None:
    person = shown("two-link")
    x, y = person.pixel(np.array([-0.5, 1.0, 0.0]))
    person.click(x, y)
    assert np.allclose(person.target("tip"), (-0.5, 1.0, 0.0), atol=0.01)
    assert np.allclose(person.place("tip"), (-0.5, 1.0, 0.0), atol=0.01)
    assert person.controller.session.history.index == 1
    demo = person.controller.demos.current
    assert demo is not None
    person.click(*person.pixel(np.array([1.6, 1.5, 0.0])))
    says = demo.says(person.document)
    assert says is not None
    assert says.text.startswith("Too far by 0.39")


def test_the_chain_follows_the_pointer() -> None:
    person = shown("ccd-chain")
    person.move(*person.pixel(np.array([-0.5, 0.5, 0.0])))
    person.wait(2.5)
    assert np.allclose(person.place("tip"), (-0.5, 0.5, 0.0), atol=0.01)
    assert person.controller.session.history.index == 0
    person.key("space")
    person.move(*person.pixel(np.array([0.5, 0.5, 0.0])))
    person.wait(0.5)
    assert np.allclose(person.target("tip"), (-0.5, 0.5, 0.0), atol=0.01)


def test_the_solver_switch_unlocks_the_s_and_starting_over_locks_it_again() -> None:
    person = shown("s-lock")
    demos = person.controller.demos
    assert locked(person)
    demos.choose("default")
    assert not locked(person)
    person.controller.run("demo.start_over")
    assert locked(person)
    assert person.document.solver.method == "ccd"
    demos.choose("default")
    demos.choose("ccd")  # again from where it opened: the two are compared
    assert locked(person)
    demos.choose("default")
    assert person.controller.run("edit.undo")
    assert locked(person)


def test_the_s_lock_opens_solved_and_its_plot_shows_the_lock_and_the_way_out() -> None:
    person = shown("s-lock")
    session = person.controller.session
    assert session.history.index == 0
    assert not session.modified
    assert person.controller.status().state == "Stuck: tip 218 mm short"
    assert len(person.controller.scene().at_limit) == 3
    assert session.report is not None
    errors = session.report.errors_by_iteration["tip"]
    assert errors[0] == pytest.approx(0.288, abs=1e-3)
    assert errors[-1] == pytest.approx(errors[-2], abs=1e-4) == pytest.approx(0.218, abs=1e-4)
    person.controller.demos.choose("default")
    errors = session.report.errors_by_iteration["tip"]
    assert errors[-2] == pytest.approx(0.207, abs=1e-3)
    assert errors[-1] < 1e-3


def test_the_card_of_the_two_links_covers_nothing_of_their_circle() -> None:
    person = shown("two-link")
    demo = person.controller.demos.current
    assert demo is not None
    shapes = person.controller.demos.shapes(person.controller.projection(), 1.0)
    pixels = np.concatenate([shape.points for shape in shapes if isinstance(shape, Stroke)])
    assert pixels[:, 0].min() > CARD_WIDTH + 2.0 * CARD_MARGIN
    assert pixels[:, 0].max() < VIEW.w
    assert 0.0 < pixels[:, 1].min() < pixels[:, 1].max() < VIEW.h


@pytest.mark.parametrize("view", [VIEW, Rect(VIEW.x, VIEW.y, 560, 280)])
@pytest.mark.parametrize("name", ["bodies", "grip", "floor", "singular", "branches"])
def test_a_card_covers_no_figure_that_has_room_beside_it(name: str, view: Rect) -> None:
    person = shown(name)
    person.controller.viewport = view
    document, projection = person.controller.session.document, person.controller.projection()
    across = projection.project(viewer.fk(document.skeleton, document.pose).positions)[:, 0]
    assert across.min() > CARD_WIDTH + 2.0 * CARD_MARGIN - 1.0
    assert across.max() < view.w


def test_a_target_that_was_moved_is_solved_from_where_the_body_is() -> None:
    person = shown("s-lock")
    session = person.controller.session
    session.dispatch(MoveTargets({"tip": (np.array([0.3, 0.7, 0.0]), None)}))
    person.controller.demos.choose("default")
    assert np.allclose(person.target("tip"), (0.3, 0.7, 0.0))


def test_paths_of_targets_are_not_drawn_while_the_skeleton_is_built() -> None:
    person = Person()
    person.controller.files.open("demo:grab")
    person.wait(0.05)
    assert person.controller.demos.shapes(person.controller.projection(), 1.0)
    person.controller.run("workspace.build")
    person.wait(0.05)
    assert person.controller.demos.shapes(person.controller.projection(), 1.0) == []


def test_a_saved_s_lock_opens_as_it_was_saved(tmp_path: Path) -> None:
    person = shown("s-lock")
    person.controller.session.dispatch(SetCoordinate("link_1", 0, 0.1))
    path, before = tmp_path / "s.ikv.json", person.document
    save_session(before, path)
    person.controller.files.open(path)
    assert person.document.same_as(before)


def test_the_next_file_is_seen_in_perspective_again() -> None:
    person = shown("puzzle")
    person.controller.files.open("sample:biped")
    assert person.controller.demos.current is None
    assert not person.controller.camera.orthographic
    assert not person.controller.session.targets.running


@pytest.mark.parametrize(("plane", "axis"), [("xy", (0, 0, 1)), ("yz", (1, 0, 0)), ("zx", (0, 1, 0))])
def test_planes_are_looked_at_straight(plane: str, axis: tuple[int, int, int]) -> None:
    person = Person()
    controller = person.controller
    controller.run(f"view.plane_{plane}")
    assert controller.checked(f"view.plane_{plane}")
    assert (person.document.planar, controller.camera.orthographic) == (plane, True)
    assert np.allclose(controller.camera.back, axis, atol=1e-9)
    controller.run(f"view.plane_{plane}")
    assert (person.document.planar, controller.camera.orthographic) == (None, False)


def test_a_drag_in_the_plane_stays_in_it() -> None:
    person = Person()
    person.controller.run("view.plane_yz")
    before = person.joint("LeftHand")
    person.wait()
    person.drag(person.at("LeftHand"), (60.0, -50.0))
    assert person.joint("LeftHand")[0] == pytest.approx(before[0], abs=1e-9)
    assert np.linalg.norm(person.joint("LeftHand") - before) > 0.01
    assert person.controller.session.history.index == 2


def test_escape_selects_nothing_once_nothing_moves() -> None:
    person = Person()
    person.select("LeftHand")
    person.controller.handle(Key("escape"))
    assert person.selected == []


def test_a_foot_that_is_let_go_of_as_the_card_says_follows_the_body() -> None:
    person = shown("reach")
    person.key("space")
    demo = person.controller.demos.card
    assert demo is not None
    assert "press Delete to release it" in demo.words[1]
    person.select("RightFoot")
    person.key("delete")
    held, free = person.joint("LeftFoot"), person.joint("RightFoot")
    person.drag(person.at("RightHand"), (-150.0, -100.0))
    assert np.linalg.norm(person.joint("RightFoot") - free) > 0.02
    assert np.allclose(person.joint("LeftFoot"), held, atol=2e-3)
    assert person.controller.session.errors["RightHand"].reached


def test_a_demo_whose_skeleton_was_changed_starts_over_with_its_own() -> None:
    person = shown("ccd-chain")
    first = person.document
    person.controller.session.dispatch(actions.SplitBone(first.skeleton.names[1]))
    assert len(person.document.skeleton) == len(first.skeleton) + 1
    person.controller.run("demo.start_over")
    person.wait(0.1)
    assert person.document.skeleton.names == first.skeleton.names == person.document.character.skeleton.names
    person.controller.draw_list()
    person.controller.session.undo()
    person.controller.draw_list()


def test_what_a_demo_shows_is_put_back_with_the_next_document() -> None:
    person = Person()
    controller = person.controller
    for demo, bodies, balance in (("bodies", True, False), ("balance", False, True), ("s-lock", False, False)):
        controller.files.open(f"demo:{demo}")
        assert (controller.view.display.bodies, controller.view.display.balance) == (bodies, balance), demo
    controller.run("show.capsules")
    controller.files.open("demo:balance")
    controller.files.open("sample:walk")
    assert (controller.view.display.bodies, controller.view.display.balance) == (True, False)
