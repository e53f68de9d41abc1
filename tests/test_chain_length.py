"""How long the chain is that a drag moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scripts import same
from sessions import session
from ui_person import Person

from viewer import InputError
from viewer.document import Item

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
