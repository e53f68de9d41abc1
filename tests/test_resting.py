"""A body comes to rest, whatever the method: in the hand, after the release, and where the target is out of reach."""

from __future__ import annotations

import pytest
from inside.document import actions
from inside.ik import METHOD_NAMES
from inside.session import SettleDetector
from sessions import session, shifted
from ui_person import Person

from viewer.document import Item

MOST_TICKS = 700
"""Twelve seconds."""
FAR = {
    "biped": ("LeftHand", (3.0, 1.0, 2.0)),
    "claw-arm": ("wrist", (4.0, 0.1, 0.0)),
    "two-link": ("tip", (9.0, 9.0, 9.0)),
}
NEAR = {"biped": (-0.1, 0.1, 0.1), "claw-arm": (0.05, -0.05, 0.0), "two-link": (-0.2, -0.1, 0.0)}


def ticks_until_idle(made: object, now: int = 0) -> int:
    """Ticks until the session has no more to do, and says so ten times."""
    idle = 0
    for tick in range(now, now + MOST_TICKS + 10):
        idle = 0 if made.tick(tick / 60.0) else idle + 1  # type: ignore[attr-defined]
        if idle == 10:
            return tick - now - 9
    raise AssertionError(f"it moves after {MOST_TICKS} ticks")


@pytest.mark.parametrize("sample", FAR)
@pytest.mark.parametrize("method", METHOD_NAMES)
def test_every_method_comes_to_rest_out_of_reach_and_in_reach(method: str, sample: str) -> None:
    made = session(sample)
    made.dispatch(actions.SetSolver(method=method))
    name, far = FAR[sample]
    item = Item("effector", name)
    near = shifted(made.document, name, NEAR[sample])
    for target in (far,) if sample == "biped" else (far, near):  # some methods take their time with a biped
        made.begin_drag((item,))
        made.gestures.drag_to({item: (target, None)})
        assert ticks_until_idle(made) <= MOST_TICKS
        shown, revision = made.document, made.stage.revision
        assert not made.tick(MOST_TICKS)
        assert (made.document, made.stage.revision) == (shown, revision)
        made.commit()
        assert ticks_until_idle(made, MOST_TICKS + 20) == 0


@pytest.mark.parametrize("method", ["default", "transpose"])
def test_the_window_draws_nothing_more_while_a_far_target_is_held(method: str) -> None:
    person = Person("sample:biped")
    person.controller.session.dispatch(actions.SetSolver(method=method, backend="numpy"))
    person.pull(person.at("LeftHand"), (320.0, -260.0))
    person.wait(12.0)
    drawn = person.controller.draw_list()
    person.wait(0.5)
    assert person.controller.draw_list() is drawn
    person.move(0.0, 0.0)
    assert person.controller.tick(person.now + 0.02)


def test_rest_is_reached_by_standing_still_by_gaining_nothing_or_in_the_end() -> None:
    still, circling, creeping = SettleDetector(), SettleDetector(), SettleDetector()
    for rest in (still, circling, creeping):
        assert rest.reached
        rest.disturb()
        assert not rest.reached
    for tick in range(1000):
        if still.reached and circling.reached and creeping.reached:
            break
        if not still.reached:
            still.count(0.0, 1.0)
        if not circling.reached:
            circling.count(0.1, 1.0 + tick % 2)
        if not creeping.reached:
            creeping.count(0.1, 0.99**tick)
    assert (still.ticks, creeping.ticks) == (3, 600)
    assert 50 < circling.ticks < 70


def test_what_still_gains_goes_on() -> None:
    rest = SettleDetector()
    rest.disturb()
    for tick in range(300):
        rest.count(1e-3, 0.99**tick)
        assert not rest.reached


def test_a_pose_that_is_blended_in_is_not_at_rest() -> None:
    rest = SettleDetector()
    rest.disturb()
    for _ in range(5):
        rest.count(0.0, 1.0)
    assert rest.reached
    rest.keep_going()
    assert not rest.reached
