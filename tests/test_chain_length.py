"""How long the chain is that a drag moves.

The chain of any number of links.

Rigs of millimetres and of hundreds of metres: what is shown, typed and snapped to goes with their size.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import LEAST, MOST, step_scale
from inside.session import Preferences
from inside.skeleton import MOST_LINKS, chain, tip_positions
from inside.spatial import angle_between
from inside.ui import error_decimals, numbers, unit_for
from panel_window import PanelWindow
from scripts import same
from sessions import session
from ui_person import VIEW, Person

import viewer
from viewer import InputError
from viewer.document import Item, new_document
from viewer.gizmo import METRE
from viewer.session import Session
from viewer.skeleton import JointKind, fk
from viewer.ui import Controller

if TYPE_CHECKING:
    from pathlib import Path


HAND = Item("effector", "LeftHand")


def moved(person: Person, before: object) -> set[str]:
    """Names of the joints that were turned or moved."""
    now = person.document.pose
    turned = np.abs(now.rotations - before.rotations).max(axis=1)  # type: ignore[attr-defined]
    shifted = np.abs(now.translations - before.translations).max(axis=1)  # type: ignore[attr-defined]
    names = person.document.skeleton.names
    return {names[joint] for joint in np.flatnonzero(np.maximum(turned, shifted) > 1e-9).tolist()}


def words(person: Person) -> list[str]:
    return [hint.words for hint in person.controller.hints()]


def test_fewer_joints_take_part_and_the_others_go_back() -> None:
    person = Person()
    before = person.document.pose
    person.pull(person.at("LeftHand"), (150.0, -120.0))
    assert words(person)[-1] == "chain"
    assert "Spine" in moved(person, before)
    person.key(*["pagedown"] * 5)
    assert words(person)[0] == "chain 2"
    person.wait(0.5)
    assert moved(person, before) <= {"LeftForeArm", "LeftArm", "LeftHand"}
    assert "LeftArm" in moved(person, before)
    person.key("pagedown", "pagedown", "pagedown")
    person.wait(0.5)
    assert words(person)[0] == "chain 1"
    assert moved(person, before) <= {"LeftForeArm", "LeftHand"}


def test_a_chain_that_is_long_again_reaches_what_the_short_one_did_not() -> None:
    person = Person()
    person.pull(person.at("LeftHand"), (40.0, -60.0))
    person.key(*["pagedown"] * 6)
    person.wait(1.0)
    assert np.linalg.norm(person.place("LeftHand") - person.target("LeftHand")) > 1e-2
    person.key(*["pageup"] * 9)
    person.wait(1.0)
    assert words(person)[-1] == "chain"
    assert np.linalg.norm(person.place("LeftHand") - person.target("LeftHand")) < 1e-3


def test_cancelling_restores_all_and_the_next_drag_has_the_whole_chain() -> None:
    person = Person()
    before = person.document
    person.pull(person.at("LeftHand"), (90.0, -60.0))
    person.key(*["pagedown"] * 5)
    person.key("escape")
    assert person.document is before
    person.pull(person.at("LeftHand"), (90.0, -60.0))
    assert words(person)[-1] == "chain"


def test_one_step_is_undone() -> None:
    person = Person()
    before = person.document
    person.pull(person.at("LeftHand"), (90.0, -60.0))
    person.key(*["pagedown"] * 5)
    person.release(0.0, 0.0)
    person.wait()
    person.key("ctrl+z")
    assert person.document is before


def test_where_there_is_no_chain_the_keys_do_nothing() -> None:
    made = session()
    assert made.gestures.chain == (0, 0)
    with pytest.raises(InputError, match="no drag was begun"):
        made.gestures.set_chain(2)
    root = Item("joint", "Hips")
    made.begin_drag((root,))
    made.gestures.set_chain(3)
    assert made.gestures.chain == (0, 0)
    made.cancel()
    person = Person()
    person.key("d")
    person.pull(person.pixel(person.joint("LeftForeArm")), (30.0, 0.0))
    person.key("pagedown")
    assert "chain" not in " ".join(words(person))


def test_the_length_is_recorded_and_replayed_alike(tmp_path: Path) -> None:
    made = session()
    made.record_actions()
    made.begin_drag((HAND,))
    made.gestures.drag_to({HAND: ((0.5, 1.5, 0.4), None)})
    for tick in range(10):
        made.tick(tick / 60)
    made.gestures.set_chain(2)
    for tick in range(10, 40):
        made.tick(tick / 60)
    made.commit()
    same(made, tmp_path)


@pytest.mark.parametrize("links", [1, 2, 7, 1000])
def test_a_chain_stands_upright_one_metre_tall_on_equal_links(links: int) -> None:
    skeleton = chain(links)
    world = fk(skeleton, skeleton.rest_pose())
    expected = np.zeros((links, 3))
    expected[:, 1] = np.arange(links) / links
    np.testing.assert_allclose(world.positions, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(tip_positions(skeleton, world), [[0, 1, 0]], rtol=0, atol=1e-12)
    assert skeleton.parents.tolist() == list(range(-1, links - 1))
    assert set(skeleton.kinds) == {JointKind.BALL}
    assert set(skeleton.limits) == {None}
    assert skeleton.name == f"chain-{links}"
    assert skeleton.names[-1] == f"link_{links}"


@pytest.mark.parametrize("links", [1, 7, 1000])
def test_its_one_effector_is_its_tip(links: int) -> None:
    skeleton = chain(links)
    (effector,) = skeleton.effectors
    assert (effector.name, effector.joint) == ("tip", links - 1)
    np.testing.assert_array_equal(effector.offset, skeleton.tip_offsets[0])


@pytest.mark.parametrize("links", [1, 2, 7, 1000])
def test_relaxed_it_bends_by_60_degrees_in_equal_parts_and_keeps_its_lengths(links: int) -> None:
    skeleton = chain(links)
    pose = skeleton.relaxed_pose()
    world = fk(skeleton, pose)
    whole = angle_between([0.0, 0.0, 0.0, 1.0], world.rotations[-1])
    assert math.isclose(whole, math.radians(60.0), abs_tol=1e-12)
    np.testing.assert_array_equal(pose.translations, skeleton.offsets)
    np.testing.assert_array_equal(pose.rotations, np.tile(pose.rotations[0], (links, 1)))
    assert tip_positions(skeleton, world)[0, 0] > 0.0


@pytest.mark.parametrize("links", [0, -1, MOST_LINKS + 1])
def test_numbers_of_links_that_make_no_chain_are_refused(links: int) -> None:
    message = f"a chain has 1 to 10000 links, found {links}"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        chain(links)


def test_the_longest_chain_is_made() -> None:
    assert len(chain(MOST_LINKS)) == MOST_LINKS


SMALL, LARGE = 0.0012, 180.0
"""Metres per unit that make the biped 2 mm and 300 m high."""


class Scaled(Person):
    """At the window of a biped of another size."""

    def __init__(self, units: float, folder: Path) -> None:
        path = folder / "biped.json"
        viewer.save(viewer.load("sample:biped"), path)
        self.controller = Controller(
            Session(new_document(viewer.load(path, units=units))), Preferences(reduce_motion=True)
        )
        self.controller.viewport = VIEW
        self.now = 0.0
        self.wait()


@pytest.mark.parametrize("height", [LEAST, 0.3, 1.7, 3.0, 12.0, 0.999 * MOST, float("nan"), 0.0])
def test_figures_of_a_persons_size_are_in_metres_with_three_decimals(height: float) -> None:
    assert unit_for(height) == METRE == ("m", 1.0, 3)
    assert step_scale(height) == 1.0
    assert error_decimals(height) == 1


def test_the_smallest_step_shown_is_a_small_part_of_the_figure() -> None:
    for height in np.geomspace(1e-5, 1e5, 61).tolist():
        unit = unit_for(height)
        least = unit.metres * 10.0**-unit.decimals
        assert least <= height / 99.0, height
        assert unit.decimals <= 9, height
        assert 0.0015 < 0.05 * step_scale(height) / height < 0.6, height


def test_typed_numbers_and_the_readout_are_in_the_unit(tmp_path: Path) -> None:
    for units, text, metres, name in ((SMALL, "0.2", 0.0002, "mm"), (LARGE, "20", 20.0, "m")):
        person = Scaled(units, tmp_path)
        person.select("LeftHand")
        before = person.target("LeftHand")
        person.key("g", "y", *("period" if letter == "." else letter for letter in text))
        drag = person.controller.view.gesture
        assert drag is not None
        assert drag.readout == f"ΔY {text} {name}"  # type: ignore[attr-defined]
        person.key("enter")
        np.testing.assert_allclose(person.target("LeftHand") - before, (0.0, metres, 0.0), atol=1e-9 * units)


def test_steps_go_with_the_size(tmp_path: Path) -> None:
    for units, metres, words in ((SMALL, 5e-5, "0.05 mm"), (1.0, 0.05, "5 cm"), (LARGE, 5.0, "5 m")):
        person = Scaled(units, tmp_path)
        assert person.controller.view.snap_m == pytest.approx(metres)
        assert numbers.step(person.controller.view.snap_m) == words
        person.select("LeftHand")
        before = person.target("LeftHand")
        person.key("ctrl+alt+up")
        assert np.abs(person.target("LeftHand") - before).max() == pytest.approx(metres)
        person.controller.view.snap_m = 2.0 * metres
        assert person.controller.view.preferences.snap_m == pytest.approx(0.1)


def test_goals_are_met_to_a_small_part_of_the_figure(tmp_path: Path) -> None:
    for units in (SMALL, LARGE):
        person = Scaled(units, tmp_path)
        tolerance = person.document.solver.tolerance_m
        assert 1e-4 < tolerance / person.controller.view.height < 2e-3
        person.drag(person.at("LeftHand"), (30.0, -20.0))
        missed = np.linalg.norm(person.place("LeftHand") - person.target("LeftHand"))
        assert missed <= 0.01 * person.controller.view.height


def test_the_grid_is_named_without_powers_of_ten(tmp_path: Path) -> None:
    for units, words in ((SMALL, "Grid 0.1 mm"), (LARGE, "Grid 10 m")):
        drawn = Scaled(units, tmp_path).controller.draw_list()
        assert words in [text.text for text in drawn.texts]


@pytest.mark.parametrize(
    ("metres", "words"),
    [(1e-7, "0.1 µm"), (5e-6, "5 µm"), (2e-5, "0.02 mm"), (0.25, "0.25 m"), (50.0, "50 m"), (2500.0, "2.5 km")],
)
def test_steps_in_words(metres: float, words: str) -> None:
    assert numbers.step(metres) == words


@pytest.mark.parametrize(("units", "label", "place"), [(SMALL, "Pos. mm", 3), (LARGE, "Position", 1)])
def test_fields_show_and_take_the_unit(tmp_path: Path, units: float, label: str, place: int) -> None:
    path = tmp_path / "biped.json"
    viewer.save(viewer.load("sample:biped"), path)
    window = PanelWindow(viewer.load(path, units=units), (1920, 1200))
    try:
        window.controller.selecting.select(Item("effector", "LeftHand"))
        window.frames(3)
        assert label in window.words("inspector")
        shown = window.words("inspector")
        assert f"tol. {'0.001' if units == SMALL else '100.0'} mm" in window.words("solver")
        x = window.session.document.goal("LeftHand").position[0]  # type: ignore[index]
        assert numbers.fixed(x / window.controller.view.unit.metres, place) in shown
        window.double_click("inspector", "position x")
        window.write("0.25 mm" if units == SMALL else "25")
        moved = window.session.document.goal("LeftHand").position[0]  # type: ignore[index]
        assert moved == pytest.approx(0.00025 if units == SMALL else 25.0)
    finally:
        window.close()
