"""A drag goes at one pace at any frame rate, and the body rests soon after the pointer does."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from inside.document import actions as act

import viewer
from viewer.document import Item, new_document
from viewer.session import Session
from viewer.skeleton import Pose
from viewer.ui import Controller

HAND = Item("effector", "LeftHand")
REST = 0.15
"""Seconds after the last event of the pointer."""
STILL = 2e-4
"""Of a quaternion's component: less is not seen."""


def dragged(fps: float, by: tuple[float, float, float], backend: str = "numba") -> tuple[list[Pose], Session]:
    """Poses of the frames after the hand was dragged for a third of a second and the pointer stopped."""
    session = Session(new_document(viewer.load("sample:biped")))
    session.dispatch(act.SetSolver(backend=backend))
    controller = Controller(session)
    start = np.array(session.document.goal("LeftHand").position)
    session.begin_drag((HAND,))
    moves, now = round(fps / 3.0), 0.0
    for move in range(moves):
        session.gestures.drag_to({HAND: (start + np.array(by) * (move + 1) / moves, None)})
        now += 1.0 / fps
        controller.tick(now)
    poses = [session.document.pose]
    for _ in range(round(fps)):
        now += 1.0 / fps
        controller.tick(now)
        poses.append(session.document.pose)
    return poses, session


@pytest.mark.parametrize("by", [(0.1, 0.3, 0.2), (2.0, 0.5, 0.0), (0.0, -3.0, 1.0)])
@pytest.mark.parametrize("fps", [120.0, 60.0, 30.0, 15.0])
def test_the_body_rests_soon_after_the_pointer(fps: float, by: tuple[float, float, float]) -> None:
    poses, _ = dragged(fps, by)
    changes = [np.abs(b.rotations - a.rotations).max() for a, b in pairwise(poses)]
    moving = [frame for frame, change in enumerate(changes, 1) if change > STILL]
    assert max(moving, default=0) <= int(np.ceil(REST * fps)) + 1


def test_it_rests_in_the_same_pose_at_any_rate() -> None:
    ends = [dragged(fps, (0.1, 0.3, 0.2))[0][-1] for fps in (120.0, 60.0, 15.0)]
    for end in ends[1:]:
        assert np.abs(end.rotations - ends[0].rotations).max() < 0.02


def test_without_the_compiler_it_rests_sooner_than_by_one_tick_a_frame() -> None:
    poses, session = dragged(60.0, (0.1, 0.3, 0.2), "numpy")
    assert session.report is not None
    assert session.report.backend == "numpy"
    assert np.abs(poses[-1].rotations - poses[45].rotations).max() < STILL


def test_a_pause_is_no_reason_for_a_long_frame() -> None:
    session = Session(new_document(viewer.load("sample:biped")))
    controller = Controller(session)
    session.begin_drag((HAND,))
    controller.tick(0.0)
    start = np.array(session.document.goal("LeftHand").position)
    session.gestures.drag_to({HAND: (start + 0.1, None)})
    controller.tick(1.0)
    ticks = 0
    tick = session.tick

    def counted(now: float) -> bool:
        nonlocal ticks
        ticks += 1
        return tick(now)

    session.tick = counted  # type: ignore[method-assign]
    session.gestures.drag_to({HAND: (start + 0.2, None)})
    controller.tick(3600.0)
    assert 1 <= ticks <= 8
