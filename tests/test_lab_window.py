"""The workspace Lab: ghosts, cards, iterations, the Jacobian, lessons; the document stays as it is."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.app import TABBED, Place
from inside.document import MoveTargets, SetCoordinate, SetMode, SetSolver, current_errors
from inside.ik import keywords_of
from inside.scene import text_width
from inside.session import DEMOS, Demo, LabWorker, lab_problem
from inside.spatial import from_axis_angle
from inside.ui import Cell, FilmPlan, FilmScenes, OnionSettings, numbers
from panel_window import PanelWindow
from sessions import QUICK
from ui_person import Person

import viewer
from viewer.document import Mode, new_document
from viewer.ui import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from viewer.document import Document

LESSONS = [demo for demo in DEMOS if demo.lab]
LONG = 60.0


def solved(person: Person) -> None:
    """Wait until every method has solved the present problem."""
    person.wait(0.05)
    assert person.controller.laboratory.worker.wait(LONG)
    person.wait(0.05)


def dragged(person: Person, dx: float = -60.0, dy: float = -70.0) -> None:
    """Drag the left hand."""
    person.drag(person.at("LeftHand"), (dx, dy))


@pytest.fixture
def person() -> Person:
    made = Person()
    made.controller.laboratory.methods = ("default", "ccd", "transpose")
    made.controller.laboratory.worker.iterations = 12  # the transpose would take all that there are
    made.key("u")
    return made


def test_methods_solve_the_drag_from_where_it_began_and_nothing_is_edited(person: Person) -> None:
    lab, session = person.controller.laboratory, person.controller.session
    begun = person.document.pose
    dragged(person)
    solved(person)
    depth, document = session.history.index, person.document
    assert list(lab.traces) == ["default", "ccd", "transpose"]
    for trace in lab.traces.values():
        assert trace.start.same_as(begun)
        asked = document.solver_goals()
        for name, goal, given in zip(asked, trace.solver.goals, asked.values(), strict=True):
            assert goal.hold == (name != "LeftHand" and not goal.pinned)
            assert replace(goal, hold=False, level=1, weight=1.0, rotation_weight=1.0) == replace(
                given, hold=False, level=1, weight=1.0, rotation_weight=1.0
            )
    assert lab.trace is not None
    assert lab.trace.error(0) > 0.05
    scene = person.controller.scene()
    letters = {ghost.label for ghost in scene.ghosts}
    assert letters <= {"B", "C"}
    assert "C" in letters  # the transpose hardly moves: its ghost is far from the figure
    person.key("comma")
    person.key("u")
    person.wait(0.05)
    assert person.controller.view.workspace == "pose"
    assert person.controller.scene().ghosts == ()
    assert session.history.index == depth
    assert person.document is document


def test_after_a_cancelled_drag_the_one_before_it_is_compared_again(person: Person) -> None:
    lab = person.controller.laboratory
    dragged(person)
    solved(person)
    start, errors = lab.start, {name: trace.error(0) for name, trace in lab.traces.items()}
    person.pull(person.at("RightHand"), (-60.0, -80.0))
    person.key("escape")
    person.release(10.0, 10.0)
    solved(person)
    assert lab.start is not None
    assert start is not None
    assert lab.start.same_as(start)
    assert {name: trace.error(0) for name, trace in lab.traces.items()} == errors
    assert min(errors.values()) > 0.05


def test_the_default_method_brings_the_hand_where_the_drag_did_and_holds_give_way(person: Person) -> None:
    lab = person.controller.laboratory
    lab.worker.iterations = 60
    dragged(person, -60.0, 100.0)
    solved(person)
    lab.add("dls")
    solved(person)
    default, dls = lab.traces["default"], lab.traces["dls"]
    goals = default.solver.goals
    hand = [goal.effector for goal in goals].index("LeftHand")
    firm = [not goal.hold for goal in goals]
    moved = current_errors(person.document)
    assert (moved["LeftHand"].metres or 0.0) < 1e-3
    assert max(error.metres or 0.0 for error in moved.values()) > 0.02  # a hold gives way
    assert default.last.errors_m[hand] < 1e-3
    near = [k for k in range(lab.last + 1) if default.error(k) <= 1e-3]
    assert default.how == f"met after {near[0]}"
    assert near[0] < default.last.iterations  # in the others the hold comes nearer
    assert default.error(lab.last) == pytest.approx(default.last.errors_m[firm].max(), abs=0.0)
    assert dls.error(lab.last) == pytest.approx(dls.last.errors_m[firm].max(), abs=0.0)
    assert dls.error(lab.last) > 1e-3
    assert dls.why.endswith("All goals count alike: it does not distinguish levels.")


def test_the_playhead_steps_scrubs_and_plays(person: Person) -> None:
    lab = person.controller.laboratory
    dragged(person)
    solved(person)
    last = lab.last
    assert (lab.shown_iteration, last) == (last, last)
    person.key("ctrl+home")
    assert lab.shown_iteration == 0
    start = person.controller.scene().world.positions
    assert lab.trace is not None
    np.testing.assert_allclose(start, viewer.fk(person.document.skeleton, lab.trace.at(0).pose).positions, atol=1e-12)
    person.key("period")
    person.key("period")
    person.key("comma")
    assert lab.shown_iteration == 1
    line = person.controller.status()
    assert line.state == f"Lab, iteration 1 of {last}"
    assert line.goals.startswith("default ")
    person.key("space")
    person.wait(0.55)
    assert 5 <= lab.shown_iteration <= 8 or lab.shown_iteration == last
    person.key("space")
    here = lab.shown_iteration
    person.wait(0.3)
    assert lab.shown_iteration == here
    person.key("ctrl+end")
    assert lab.shown_iteration == last


def test_a_film_shows_the_iterations_with_the_other_methods_and_the_targets_where_they_are(person: Person) -> None:
    controller, lab = person.controller, person.controller.laboratory
    dragged(person)
    solved(person)
    document, filmed = person.document, controller.filmed()
    assert controller.filmed().document is filmed.document  # the dialog asks in every frame
    assert person.document is document
    last = filmed.document.frames - 1
    assert (last, filmed.document.frame_time) == (lab.last + 9, 0.1)  # the last one lasts a second
    plan = FilmPlan((64, 48), (0, last), 10.0, parts=frozenset({"goals"}))
    reel = FilmScenes(filmed, plan, OnionSettings())
    person.key("ctrl+home")
    lab.show("ccd")  # the film stays what it was
    for frame in (0, 2, last):
        scene = reel.scene(frame)
        pose = lab.traces["default"].at(frame).pose
        np.testing.assert_allclose(scene.world.positions, viewer.fk(document.skeleton, pose).positions, atol=1e-12)
        targets = {mark.name: mark.target for mark in scene.marks}
        np.testing.assert_array_equal(targets["LeftHand"], document.goal("LeftHand").position)
    assert {ghost.label for ghost in reel.scene(last).ghosts} == {"B", "C"}  # they end in other poses
    assert reel.scene(0).ghosts == ()  # all begin together
    assert controller.shown_motion().document is document  # exports are of the figure's own motion
    person.key("u")
    assert controller.filmed().document is document


def test_another_method_can_be_the_solid_one_hidden_added_and_removed(person: Person) -> None:
    lab = person.controller.laboratory
    dragged(person)
    solved(person)
    before = person.controller.scene().world.positions.copy()
    lab.show("transpose")
    person.wait(0.05)
    assert np.abs(person.controller.scene().world.positions - before).max() > 0.01
    lab.hide("transpose")
    lab.add("dls")
    solved(person)
    assert lab.curve("dls").letter == "D"
    assert "dls" in lab.traces
    lab.remove("transpose")
    assert (lab.methods, lab.solid, lab.hidden) == (("default", "ccd", "dls"), "default", frozenset())
    for name in ("default", "ccd", "dls"):
        lab.remove(name)
    assert lab.methods == ("dls",)  # the last one stays


def test_from_rest_all_begin_in_the_rest_pose(person: Person) -> None:
    lab = person.controller.laboratory
    dragged(person)
    solved(person)
    lab.from_rest = True
    solved(person)
    rest = person.document.skeleton.rest_pose()
    assert all(trace.start.same_as(rest) for trace in lab.traces.values())


def test_a_cell_of_the_jacobian_lights_joint_and_goal_and_draws_velocities(person: Person) -> None:
    lab, session = person.controller.laboratory, person.controller.session
    dragged(person)
    solved(person)
    jacobian = lab.jacobian()
    assert jacobian is not None
    row = jacobian.rows.index("LeftHand.x")
    dof = int(np.abs(jacobian.matrix[row]).argmax())
    projection = person.controller.projection()
    assert lab.shapes(projection, 1.0) == []
    dof = jacobian.dofs.index("LeftForeArm") if "LeftForeArm" in jacobian.dofs else dof
    lab.choose(Cell("LeftHand.x", jacobian.dofs[dof]))
    assert {item.name for item in session.document.selection} == {"LeftForeArm", "LeftHand"}
    person.wait(0.05)
    arrows = lab.shapes(projection, 1.0)
    assert len(arrows) == 2  # a line and its head: only the left hand moves
    lab.choose(Cell("LeftHand.x", jacobian.dofs[dof]))
    assert lab.cell is None
    person.controller.run("lab.ellipsoids")
    assert len(lab.shapes(projection, 1.0)) >= 3 * len(jacobian.places())


@pytest.mark.parametrize("sample", ["two-link", "piston", "chain-1"])
def test_ellipsoids_of_few_freedoms_are_flat(sample: str) -> None:
    person = Person(f"sample:{sample}", backend="numpy")
    person.controller.run("workspace.lab")
    person.controller.run("lab.ellipsoids")
    person.wait(2.0)
    person.controller.draw_list()
    assert person.controller.laboratory.ellipsoids


def test_the_report_is_saved_and_a_folder_that_is_not_there_is_said(person: Person, tmp_path: Path) -> None:
    lab = person.controller.laboratory
    dragged(person)
    solved(person)
    assert lab.save_report(tmp_path / "r.json")
    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [one["method"] for one in document["methods"]] == ["default", "ccd", "transpose"]
    assert lab.save_report(tmp_path / "r.html")
    assert not lab.save_report(tmp_path / "none" / "r.html")
    assert "none" in person.controller.view.bar.messages[-1].text


def test_without_goals_there_is_nothing_to_solve() -> None:
    person = Person("sample:biped", backend="numpy")
    session = person.controller.session
    session.replace(replace(session.document, goals=tuple(replace(g, enabled=False) for g in session.document.goals)))
    person.key("u")
    person.wait(0.05)
    assert person.controller.laboratory.traces == {}
    assert not person.controller.laboratory.worker.busy
    person.key("period")  # and nothing to step through
    assert person.controller.laboratory.shown_iteration == 0


def traces_of(document: Document, lesson: Demo) -> dict[str, viewer.Trace]:
    problem = lab_problem(document, document.pose)
    assert problem is not None
    worker = LabWorker()
    worker.solve(problem, lesson.lab)
    assert worker.wait(LONG)
    return {str(name): trace for name, trace in worker.traces.items()}


def test_a_problem_that_was_left_half_solved_is_solved_anew() -> None:
    lesson = next(one for one in LESSONS if one.id == "sweeps")
    document = replace(lesson.build(), solver=replace(lesson.build().solver, backend="numpy"))
    moved = replace(MoveTargets({"tip": ((0.5, -0.3, 0.0), None)}).apply(document), pose=document.pose)
    first, second = lab_problem(document, document.pose), lab_problem(moved, moved.pose)
    assert first is not None
    assert second is not None
    worker = LabWorker()
    worker.solve(first, ("ccd", "transpose"))
    assert worker.wait(LONG)
    worker.solve(second, ("ccd",))  # the transpose keeps what it had
    assert worker.wait(LONG)
    worker.solve(second, ("ccd", "transpose"))
    assert worker.wait(LONG)
    for trace in worker.traces.values():
        assert trace.solver.goals == second.goals


def test_in_a_drag_compiled_methods_answer_the_newest_goals_while_slow_ones_work() -> None:
    document = new_document(viewer.load("sample:biped"))
    document = replace(document, solver=replace(document.solver, backend=QUICK))
    problems = []
    for k in range(30):
        moved = MoveTargets({"LeftHand": ((0.5 + 0.01 * k, 1.3, 0.4), None)}).apply(document)
        problem = lab_problem(moved, document.pose)
        assert problem is not None
        problems.append(problem)
    worker, seen = LabWorker(), 0
    for problem in problems:
        worker.solve(problem, ("default", "ccd"), patient=True)
        until = time.monotonic() + LONG
        while worker.traced.get("default") is not problem and time.monotonic() < until:
            found = worker.answer("default")
            if found is not None and found[0] is problem:
                options = keywords_of(replace(problem.options, max_iterations=60))
                fresh = viewer.Solver(problem.skeleton, problem.goals, **options)
                assert found[1].pose.is_near(fresh.solve(problem.start).pose)
                seen += 1
                break
            time.sleep(0.001)
    assert seen
    worker.solve(problems[-1], ("default", "ccd"))
    assert worker.wait(LONG)
    assert worker.answer("default") is None
    assert worker.traces["ccd"].solver.goals == problems[-1].goals


def test_the_condition_of_a_planar_arm_is_that_of_its_plane() -> None:
    person = Person()
    person.controller.files.open("demo:singular")
    solved(person)
    lab = person.controller.laboratory
    lab.go_to(0)
    jacobian, says = lab.jacobian(), person.controller.demos.says
    assert jacobian is not None
    assert says is not None
    assert jacobian.condition > 1e12  # of three rows, one is across the plane
    flat = lab.in_plane(jacobian)
    assert flat.rows == ("tip.x", "tip.y")
    assert says.text.startswith(f"Condition {flat.condition:.3g};")


def test_a_lesson_leads_back_to_the_laboratory() -> None:
    person = Person()
    person.controller.files.open("demo:singular")
    solved(person)
    person.controller.run("workspace.pose")
    person.wait(0.05)
    says = person.controller.demos.says
    assert says is not None
    assert says.text == "Press U: the laboratory compares the methods"
    person.controller.run("workspace.lab")
    solved(person)
    says = person.controller.demos.says
    assert says is not None
    assert says.text.startswith("Condition ")


ANSWERS: dict[str, object] = {
    "joint": MoveTargets({"tip": ((0.3, -0.85, 0.0), None)}),
    "branches": MoveTargets({"tip": ((1.2, 1.34, 0.0), None)}),
    "sweeps": MoveTargets({"tip": ((0.5, -0.3, 0.0), None)}),
    "transpose": MoveTargets({"tip": ((-0.75, 0.3, 0.0), None)}),
    "damping": SetSolver(damping=0.27),
    "selective": MoveTargets({"tip": ((0.0, -0.8, 0.0), None)}),
    "lock": MoveTargets({"tip": ((0.3, 0.8, 0.0), None)}),
}
"""What solves each exercise."""


@pytest.mark.parametrize("lesson", [one for one in LESSONS if one.id in ANSWERS], ids=lambda lesson: lesson.id)
def test_each_exercise_is_open_at_first_and_its_answer_is_seen(lesson: Demo) -> None:
    document = replace(lesson.build(), solver=replace(lesson.build().solver, backend="numpy"))
    says = lesson.check(traces_of(document, lesson))
    assert says is not None
    assert says.tone != "ok"
    answered = replace(ANSWERS[lesson.id].apply(document), pose=document.pose)  # type: ignore[attr-defined]
    says = lesson.check(traces_of(answered, lesson))
    assert says is not None
    assert says.tone == "ok", says.text


def test_a_bent_arm_is_far_from_singular() -> None:
    lesson = next(one for one in LESSONS if one.id == "singular")
    document = replace(lesson.build(), solver=replace(lesson.build().solver, backend="numpy"))
    says = lesson.check(traces_of(document, lesson))
    assert says is not None
    assert says.tone == "warn"
    turns = from_axis_angle(np.array([0.0, 0.0, 1.0]), np.radians([40.0, 60.0, 50.0]))
    bent = replace(document, pose=viewer.Pose(turns, document.pose.translations))
    says = lesson.check(traces_of(bent, lesson))
    assert says is not None
    assert says.tone == "ok", says.text


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_a_lesson_opens_in_the_lab_with_its_methods(lesson: Demo) -> None:
    person = Person()
    person.controller.files.open(f"demo:{lesson.id}")
    lab = person.controller.laboratory
    assert person.controller.view.workspace == "lab"
    assert lab.methods == lesson.lab
    solved(person)
    assert set(lab.traces) == set(lesson.lab)
    if lesson.id in ANSWERS:
        assert person.controller.demos.says == lesson.check(lab.by_name)


def test_a_click_moves_the_target_and_the_start_stays_until_the_lesson_starts_over() -> None:
    person = Person()
    person.controller.files.open("demo:joint")
    solved(person)
    lab, start = person.controller.laboratory, person.document.pose
    person.click(*person.pixel(np.array([0.3, -0.85, 0.0])))
    solved(person)
    assert lab.traces["single-bone"].turns(99).max() > np.radians(170.0)
    says = person.controller.demos.says
    assert says is not None
    assert says.tone == "ok"
    assert not person.document.pose.same_as(start)
    assert lab.start is not None
    assert lab.start.is_near(start)
    person.controller.demos.start_over()
    solved(person)
    says = person.controller.demos.says
    assert says is not None
    assert says == LESSONS[0].check(lab.by_name)
    assert says.tone != "ok"


def test_a_joint_bent_by_hand_is_another_start() -> None:
    person = Person()
    person.controller.files.open("demo:singular")
    solved(person)
    skeleton = person.document.skeleton
    person.controller.session.dispatch(SetMode(Mode.FK))
    for joint, angle in enumerate((40.0, 60.0, 50.0)):
        person.controller.session.dispatch(SetCoordinate(skeleton.names[joint], 0, np.radians(angle)))
    person.wait(0.05)
    bent = person.document.pose
    person.controller.session.dispatch(SetMode(Mode.IK))
    person.click(*person.pixel(np.array([0.1, 0.7, 0.0])))
    solved(person)
    assert person.controller.laboratory.start is not None
    assert person.controller.laboratory.start.is_near(bent)
    says = person.controller.demos.says
    assert says is not None
    assert says.tone == "ok", says.text


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load("sample:biped"))
    yield made
    made.close()


def test_the_panels_show_cards_curves_and_numbers(window: PanelWindow) -> None:
    controller = window.controller
    controller.laboratory.methods = ("dls", "transpose")
    controller.laboratory.solid = "dls"
    controller.run("lab.open")
    window.frames(2)
    controller.session.dispatch(MoveTargets({"LeftHand": ((0.5, 1.3, 0.4), None)}))
    controller.laboratory.from_rest = True
    controller.tick(1.0)
    assert controller.laboratory.worker.wait(LONG)
    controller.tick(2.0)
    window.frames(3)
    words = window.words("methods")
    assert "dls" in words
    assert controller.laboratory.traces["dls"].how in words
    assert "Largest error by iteration" in window.words("convergence")
    assert "0" in window.words("iterations")
    window.ui.layout.tabs["right-top"] = "jacobian"
    window.frames(3)
    words = window.words("jacobian")
    assert "LeftHand.x" in words
    assert "Singular values" in words
    assert "misprints" not in [panel.id for panel in window.ui.fitting()]


def test_misprints_are_shown_for_an_arm_of_two_links() -> None:
    window = PanelWindow(viewer.load("sample:two-link"))
    window.controller.run("workspace.lab")
    window.ui.layout.tabs["right-top"] = "misprints"
    window.frames(3)
    assert "Lander, eq. 6" in window.words("misprints")
    window.close()


def test_titles_of_tabs_are_whole_in_the_narrowest_window() -> None:
    window = PanelWindow(viewer.load("sample:walk"), (960, 600))
    for workspace in Workspace:
        window.controller.run(f"workspace.{workspace}")
        window.frames(4)
        for place, panels in window.ui.placed().items():
            if place in TABBED and place in window.ui.regions.rects:
                wide = sum(text_width(panel.title, 15.0) + 4.0 for panel in panels)
                assert wide <= window.ui.regions.rects[place].w - 8.0, (workspace, [panel.title for panel in panels])
    window.close()


def test_a_jacobian_of_many_degrees_of_freedom_fits_its_panel() -> None:
    window = PanelWindow(viewer.load("sample:biped-hands"), (960, 600))
    controller = window.controller
    controller.session.dispatch(SetSolver(method="dls"))
    controller.run("lab.open")
    controller.session.dispatch(MoveTargets({"LeftHand": ((0.5, 1.3, 0.4), None)}))
    controller.laboratory.from_rest = True
    controller.tick(1.0)
    assert controller.laboratory.worker.wait(LONG)
    controller.tick(2.0)
    window.front("jacobian")
    window.click("jacobian", "columns 1")
    matrix, panel = window.box("jacobian", "matrix"), window.ui.regions.rects[Place.RIGHT_TOP]
    assert matrix.right <= panel.x + panel.w
    window.close()


def test_a_jacobian_of_few_joints_has_its_numbers_written_in_it() -> None:
    window = PanelWindow(viewer.load("sample:two-link"))
    controller = window.controller
    controller.session.dispatch(SetSolver(method="dls"))
    controller.run("lab.open")
    controller.tick(1.0)
    controller.session.dispatch(MoveTargets({"tip": ((0.9, 1.0, 0.0), None)}))
    controller.tick(2.0)
    assert controller.laboratory.worker.wait(LONG)
    controller.tick(3.0)
    window.front("jacobian")
    jacobian, words = controller.laboratory.jacobian(), window.words("jacobian")
    assert jacobian is not None
    assert {"shoulder", "elbow"} <= set(words)
    flat = controller.laboratory.in_plane(jacobian)
    written = [numbers.fixed(value, 2) for value in flat.matrix.ravel().tolist()]
    assert [word for word in words if word in written] == written
    assert {f"{value:.3g}" for value in flat.singular_values.tolist()} <= set(words)
    window.close()


def test_the_toolbar_chooses_the_start_and_shows_ellipsoids_and_the_jacobian(window: PanelWindow) -> None:
    controller = window.controller
    controller.run("lab.open")
    window.frames(2)
    assert controller.laboratory.worker.wait(LONG)
    window.click("toolbar", "start tool 1")
    assert controller.laboratory.from_rest
    window.click("toolbar", "Ellipsoids##lab.ellipsoids")
    assert controller.laboratory.ellipsoids
    window.click("toolbar", "Jacobian##lab.jacobian")
    assert "jacobian" in str(window.ui.requests[-1])
    assert window.box("toolbar", "finish")


def test_a_file_that_is_opened_in_the_laboratory_is_drawn_before_it_is_solved(person: Person) -> None:
    dragged(person)
    solved(person)
    person.controller.draw_list()
    assert person.controller.opening.show_file("sample:two-link")
    assert len(person.controller.scene().world.positions) == 2
    person.controller.draw_list()


def test_all_that_is_drawn_comes_into_view() -> None:
    """The methods' answers, which may be far from the pose in which the drag began."""
    person = Person()
    person.controller.files.open("demo:singular")
    solved(person)
    lab = person.controller.laboratory
    assert len(lab.poses()) == len(lab.methods)
    person.controller.run("view.frame_all")
    person.wait(1.0)
    skeleton, viewport = person.document.skeleton, person.controller.viewport
    for pose in lab.poses():
        pixels = person.controller.projection().project(viewer.fk(skeleton, pose).positions)
        assert (pixels > 0.0).all()
        assert (pixels < (viewport.w, viewport.h)).all()
