"""Demos of physics: they open in their workspace, what happens in them does, and the figures come back."""

from __future__ import annotations

import numpy as np
import pytest
from inside.session import DEMOS, Demo, Push, Throw, Trial
from panel_window import PanelWindow

import viewer

pytest.importorskip("mujoco")

TRIALS = [demo for demo in DEMOS if demo.trial is not None]


def watched(demo: Demo, seconds: float) -> PanelWindow:
    """A window on a demo after so many seconds of it."""
    window = PanelWindow(viewer.load("sample:two-link"))
    window.controller.files.open(f"demo:{demo.id}")
    for frame in range(round(60 * seconds)):
        window.controller.tick(frame / 60.0)
    return window


@pytest.mark.parametrize("demo", TRIALS, ids=lambda demo: demo.id)
def test_it_opens_in_the_workspace_and_stays_stable(demo: Demo) -> None:
    window = watched(demo, 2.5)
    try:
        part = window.controller.simulating
        assert window.controller.view.workspace.value == "physics"
        assert part.problem == ""
        assert part.sim is not None
        assert part.sim.seconds == pytest.approx(2.5, abs=0.1)
        assert demo.trial is not None
        assert (part.forces.strength, part.forces.assist) == (demo.trial.strength, demo.trial.assist)
        thrown = len(demo.trial.within(0.0, 2.4)) - sum(one.at < 2.4 for one in demo.trial.pushes)
        assert len(part.balls) == thrown
    finally:
        window.close()


def test_the_pushed_person_stays_on_its_feet_and_the_crate_does_not_stay_on_the_table() -> None:
    (pushed,) = [demo for demo in TRIALS if demo.id == "pushed"]
    window = watched(pushed, 13.0)
    try:
        sim = window.controller.simulating.sim
        assert sim is not None
        assert sim.pose.translations[0][1] > 0.9 * window.session.document.pose.translations[0][1]
    finally:
        window.close()
    (smack,) = [demo for demo in TRIALS if demo.id == "smack"]
    window = watched(smack, 4.0)
    try:
        there = {one.name: np.array(one.center) for one in window.controller.simulating.objects}
        table, crate = window.session.document.contact.props
        assert there["crate"][1] < 0.2 < crate.center[1]
        np.testing.assert_array_equal(there["table"], table.center)
    finally:
        window.close()


def test_the_claw_lifts_half_a_kilogram_and_puts_it_back() -> None:
    (grab,) = [demo for demo in TRIALS if demo.id == "grab"]
    window = PanelWindow(viewer.load("sample:two-link"))
    heights = []
    try:
        window.controller.files.open(f"demo:{grab.id}")
        assert [prop.mass for prop in window.session.document.contact.props if prop.name == "ball"] == [0.5]
        for frame in range(60 * 9):
            window.controller.tick(frame / 60.0)
            (ball,) = [one for one in window.controller.simulating.objects if one.name == "ball"]
            heights.append(ball.center[1])
    finally:
        window.close()
    assert heights[60] == pytest.approx(0.1655, abs=0.003)
    assert min(heights[4 * 60 : 5 * 60]) > 0.23
    assert heights[-1] == pytest.approx(0.1655, abs=0.01)


def test_events_come_once_in_each_period() -> None:
    push, throw = Push(1.0, "Hips", (0.0, 0.0, 1.0)), Throw(0.0, (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    trial = Trial(pushes=(push,), throws=(throw,), period=2.5)
    found = [(k / 60.0, one) for k in range(-1, 600) for one in trial.within(k / 60.0, (k + 1) / 60.0)]
    assert [round(at + 1 / 60.0, 1) for at, one in found if one is push] == [1.0, 3.5, 6.0, 8.5]
    assert [round(at + 1 / 60.0, 1) for at, one in found if one is throw] == [0.0, 2.5, 5.0, 7.5, 10.0]
    assert Trial(pushes=(push,)).within(1.5, 100.0) == ()
