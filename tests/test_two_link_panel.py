"""The two-link method in the window: the elbow's side, the numbers of its derivation, and room for the panel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.app import Place
from inside.document import Select, SetSolver, derivation
from inside.session import find_demo
from naive import two_link_end
from panel_window import PanelWindow

import viewer
from viewer.document import Item, SolverSettings, new_document
from viewer.errors import InputError
from viewer.session import Session
from viewer.skeleton import fk

if TYPE_CHECKING:
    from viewer.document import Document


def elbow(document: Document) -> float:
    """Metres that the elbow of the two-link demo stands high."""
    return float(fk(document.skeleton, document.pose).positions[1, 1])


@pytest.fixture
def session() -> Session:
    return Session(find_demo("two-link").build())


def test_the_elbow_takes_the_side_that_is_chosen_at_once_and_undo_brings_it_back(session: Session) -> None:
    low = elbow(session.document)
    session.dispatch(SetSolver(bend="up"))
    assert elbow(session.document) > low + 0.5
    assert session.errors["tip"].reached
    session.dispatch(SetSolver(bend=None))
    assert elbow(session.document) > low + 0.5
    session.dispatch(SetSolver(bend="down"))
    assert elbow(session.document) == pytest.approx(low)
    session.undo()
    session.undo()
    session.undo()
    assert (session.document.solver.bend, elbow(session.document)) == (None, low)


def test_both_branches_of_the_derivation_lead_to_the_target(session: Session) -> None:
    for bend in ("up", "down"):
        session.dispatch(SetSolver(bend=bend))
        found = derivation(session.document)
        assert found is not None
        assert found.now == bend
        assert found.joints == ("shoulder", "elbow")
        assert found.up[1] == pytest.approx(-found.down[1])
        assert found.up[1] < 0.0
        assert math.cos(math.radians(found.down[1])) == pytest.approx(found.cosine)
        for angles in (found.up, found.down):
            one, two = (math.radians(angle) for angle in angles)
            assert two_link_end((one, two), found.lengths) == pytest.approx((0.9, 1.0))
        chosen = getattr(found, bend)
        first = session.document.pose.rotations[0]
        shown = 2.0 * math.degrees(math.atan2(first[2], first[3]))
        assert math.remainder(shown - chosen[0], 360.0) == pytest.approx(0.0, abs=1e-6)


def test_a_limb_in_space_is_derived_from_the_line_to_its_target() -> None:
    session = Session(new_document(viewer.load("sample:biped")))
    session.dispatch(Select((Item("effector", "RightHand"),)))
    found = derivation(session.document)
    assert found is not None
    assert (found.effector, found.joints) == ("RightHand", ("RightArm", "RightForeArm"))
    positions = fk(session.document.skeleton, session.document.pose).positions
    shoulder, hand = (positions[session.document.skeleton.index(name)] for name in ("RightArm", "RightHand"))
    assert found.distance == pytest.approx(float(np.linalg.norm(hand - shoulder)), abs=0.3)
    assert two_link_end((math.radians(found.up[0]), math.radians(found.up[1])), found.lengths) == pytest.approx(
        (found.distance, 0.0)
    )


def test_a_figure_without_two_links_has_no_derivation() -> None:
    assert derivation(new_document(viewer.load("sample:chain-1"))) is None


def test_settings_reach_the_solver_s_options() -> None:
    tuning = (
        SolverSettings(truncation=0.2, numeric=True, bend="down", damping=0.3, step=0.5).options(limits=True).tuning
    )
    assert (tuning.truncation, tuning.numeric, tuning.elbow, tuning.damping, tuning.step) == (0.2, True, -1, 0.3, 0.5)
    usual = SolverSettings().options(limits=True).tuning
    assert (usual.truncation, usual.numeric, usual.elbow) == (1e-3, False, 0)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("bend", "left", 'no bend "left"; there is "up", "down"'),
        ("truncation", 1.0, "truncation: expected a finite number, 0 or more and less than 1, found 1"),
        ("numeric", 1, "numeric: expected True or False, found 1"),
    ],
)
def test_what_is_no_such_setting_is_refused(name: str, value: object, said: str, session: Session) -> None:
    with pytest.raises(InputError) as caught:
        session.dispatch(SetSolver(**{name: value}))
    assert str(caught.value) == said


@pytest.mark.parametrize("method", ["pseudo-inverse", "dls", "transpose", "sdls"])
def test_numeric_rows_lead_to_the_same_pose(method: str) -> None:
    made = []
    for numeric in (False, True):
        session = Session(new_document(viewer.load("sample:claw-arm")))
        session.dispatch(SetSolver(method=method, numeric=numeric, truncation=1e-2))
        handle = session.document.goals[0]
        item = Item("effector", handle.effector)
        assert handle.position is not None
        session.begin_drag((item,))
        session.gestures.drag_to({item: (np.add(handle.position, (0.03, 0.02, 0.0)), None)})
        session.tick(1.0)
        session.tick(1.1)
        session.commit()
        made.append(session.document.pose.rotations)
    analytic, numeric_ = made
    assert not np.array_equal(analytic, numeric_)
    np.testing.assert_allclose(analytic, numeric_, atol=1e-4)


@pytest.mark.parametrize(
    ("method", "there", "absent"),
    [
        ("two-link", {"bend 0"}, {"damping", "step", "truncation", "rows 0"}),
        ("pseudo-inverse", {"step", "truncation", "rows 0"}, {"damping", "bend 0"}),
        ("dls", {"damping", "step", "rows 0", "step_cap_deg"}, {"truncation", "bend 0"}),
        ("ccd", {"step_cap_deg"}, {"damping", "step", "truncation", "rows 0", "bend 0"}),
    ],
)
def test_the_panel_has_what_the_method_takes(method: str, there: set[str], absent: set[str]) -> None:
    window = PanelWindow(viewer.load("sample:biped"))
    try:
        window.session.dispatch(SetSolver(method=method))
        window.front("solver")
        names = {box.name for box in window.boxes if box.panel == "solver"}
        assert there <= names
        assert not absent & names
    finally:
        window.close()


def test_the_panel_sets_the_side_and_shows_the_numbers() -> None:
    window = PanelWindow(viewer.load("sample:biped"), (1280, 1000))
    try:
        window.session.replace(find_demo("two-link").build())
        window.frames(4)
        words = window.words("solver")
        assert "L1 1.000 m  L2 0.800 m  d 1.345 m" in words
        assert "cos θ2 = (d² \N{MINUS SIGN} L1² \N{MINUS SIGN} L2²) / 2 L1 L2 = 0.1063" in words
        assert {"\N{MINUS SIGN}83.90°", "83.90°", "84.26°", "11.77°"} <= set(words)
        window.click("solver", "bend 1")
        assert window.session.document.solver.bend == "up"
        assert window.session.history.labels[-1] == "Solver bend"
    finally:
        window.close()


@pytest.mark.parametrize(("height", "split"), [(720, False), (799, False), (800, True), (1080, True)])
def test_the_right_column_is_one_strip_of_tabs_in_low_windows(height: int, split: bool) -> None:
    window = PanelWindow(viewer.load("sample:biped"), (1280, height))
    try:
        assert (Place.RIGHT_BOTTOM in window.ui.regions.rects) is split
        assert {box.panel for box in window.boxes} >= ({"inspector", "solver"} if split else {"inspector"})
        window.front("solver")
        shown = {box.panel for box in window.boxes}
        assert "solver" in shown
        assert ("inspector" in shown) is split
        rows = [box.bottom for box in window.boxes if box.panel == "solver"]
        assert split or max(rows) <= height  # nothing is cut
    finally:
        window.close()
