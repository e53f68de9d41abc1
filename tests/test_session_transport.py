"""Playing a clip, and the kernels that get ready meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import actions as act
from inside.ik import backends
from inside.session import solving
from sessions import HAND, drag, place, session, shifted, target_of

from viewer import InputError
from viewer.session import Loop
from viewer.skeleton import limit_violation

if TYPE_CHECKING:
    from collections.abc import Callable


def test_pins_that_nobody_set_go_along_with_the_frame() -> None:
    made = session("walk")
    made.seek(40)
    for foot in ("LeftFoot", "RightFoot"):
        np.testing.assert_array_equal(target_of(made.document, foot), place(made.document, foot))
        assert made.document.goal(foot).pinned
    hips = made.document.pose.translations[0]
    drag(made, HAND, shifted(made.document, "LeftHand", (0.02, 0.02, 0.0)))
    assert np.linalg.norm(made.document.pose.translations[0] - hips) < 0.1


def test_frames_are_played_as_they_are_holds_follow_and_pins_stay() -> None:
    made = session("walk")
    clip = made.document.clip_data
    assert clip is not None
    made.dispatch(act.SetPin("LeftFoot", position=True, rotation=True))
    made.replace(made.document)
    pins = made.document.goal("LeftFoot")
    made.seek(7)
    assert made.document.pose.same_as(clip.pose(7))
    assert made.document.frame == 7
    assert made.document.goal("LeftFoot") == pins
    np.testing.assert_array_equal(target_of(made.document, "LeftHand"), place(made.document, "LeftHand"))
    assert made.history.index == 0
    made.dispatch(act.SetFrame(9))
    assert made.history.labels == ("Frame 9",)


def played(loop: Loop, seconds: float, *, start: int = 0, direction: int = 1, speed: float = 1.0) -> list[int]:
    made = session("walk")
    clip = made.document.clip_data
    assert clip is not None
    made.seek(start)
    made.clock.loop = loop
    made.set_speed(speed)
    made.play(direction)
    frames = []
    for tick in range(round(seconds / clip.frame_time * 2)):
        made.tick(100.0 + 0.5 * tick * clip.frame_time)
        frames.append(made.document.frame)
        if not made.clock.direction:
            break
    return frames


def test_time_passes_as_the_clip_says() -> None:
    frames = played(Loop.LOOP, 0.5)
    assert frames == [tick // 2 for tick in range(len(frames))]
    assert played(Loop.LOOP, 0.25, speed=2.0)[:4] == [0, 1, 2, 3]


def test_the_ends_of_the_clip() -> None:
    made = session("walk")
    clip = made.document.clip_data
    assert clip is not None
    last = len(clip) - 1
    assert played(Loop.OFF, 1.0, start=last - 2)[-1] == last
    assert played(Loop.OFF, 1.0, start=2, direction=-1)[-1] == 0
    assert 0 in played(Loop.LOOP, 1.0, start=last - 2)
    assert last in played(Loop.LOOP, 1.0, start=2, direction=-1)
    back = played(Loop.PING_PONG, 1.0, start=last - 2)
    assert last in back
    assert back[-1] < last - 2
    made.clock.loop = Loop.OFF
    made.seek(last)
    made.play()
    assert made.document.frame == 0


def test_a_drag_stops_the_clip_and_starts_from_the_frame_shown() -> None:
    made = session("walk")
    made.play()
    made.tick(0.0)
    made.tick(0.3)
    frame = made.document.frame
    assert frame > 0
    drag(made, HAND, shifted(made.document, "LeftHand", (0.0, 0.1, 0.0)), ticks=10)
    assert made.clock.direction == 0
    assert made.document.frame == frame
    made.commit()
    edited = made.document
    made.seek(0)
    made.undo()
    assert made.document.frame == frame
    made.redo()
    assert made.document is edited


def test_limits_do_not_bind_a_clip_but_a_drag_from_it() -> None:
    made = session("walk")
    joint = made.document.skeleton.index("LeftLeg")
    made.dispatch(act.SetStiffness("Head", 0.5))
    made.seek(3)
    assert np.isfinite(limit_violation(made.document.skeleton, made.document.pose)[joint])
    drag(made, HAND, shifted(made.document, "LeftHand", (0.0, 0.05, 0.0)), ticks=30)
    assert limit_violation(made.document.skeleton, made.document.pose).max() <= 1e-3


def test_bad_requests_are_refused() -> None:
    made = session()
    with pytest.raises(InputError, match="no clip is loaded"):
        made.play()
    with pytest.raises(InputError, match="no clip is loaded"):
        made.seek(0)
    walk = session("walk")
    with pytest.raises(InputError, match="no frame 100000: the clip has 0 to"):
        walk.seek(100_000)
    with pytest.raises(InputError, match="direction: expected 1 or -1, found 2"):
        walk.play(2)
    with pytest.raises(InputError, match="speed: expected a finite number above 0"):
        walk.set_speed(0.0)


def test_kernels_get_ready_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[Callable[[], None]] = []

    def warm_up(*, wait: bool, then: Callable[[], None]) -> None:
        assert not wait
        waiting.append(then)

    monkeypatch.setattr(solving, "warm_up", warm_up)
    monkeypatch.setattr(solving, "engine_for", lambda _: (None, "numba" if ready else "numpy"))
    ready: list[bool] = []
    made = session(backend="auto")
    assert made.kernels.state == "numpy"
    woken: list[bool] = []
    made.kernels.start(lambda: woken.append(True))
    made.kernels.start()
    assert len(waiting) == 1
    assert made.kernels.state == "compiling"
    seen = made.stage.revision
    assert not made.tick(0.0)
    ready.append(True)
    waiting[0]()
    assert woken == [True]
    assert made.tick(0.1)
    assert made.stage.revision > seen
    assert made.kernels.state == "ready"


def test_kernels_are_compiled_once_another_backend_than_numpy_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bool] = []
    monkeypatch.setattr(solving, "warm_up", lambda *, wait, then: begun.append(wait))  # noqa: ARG005
    monkeypatch.setattr(solving, "engine_for", lambda _: (None, "numpy"))
    made = session(backend="numpy")
    made.kernels.start()
    made.tick(0.0)
    assert (begun, made.kernels.state, made.kernels.compiling) == ([], "numpy", False)
    made.dispatch(act.SetSolver(backend="auto"))
    seen = made.stage.revision
    assert made.tick(0.1)
    assert (begun, made.kernels.state, made.kernels.compiling) == ([False], "compiling", True)
    assert made.stage.revision > seen
    made.dispatch(act.SetSolver(backend="numpy"))
    made.tick(0.2)
    assert made.kernels.compiling is False  # nothing is waited for
    made.dispatch(act.SetSolver(backend="auto"))
    made.tick(0.3)
    assert (begun, made.kernels.compiling) == ([False], True)  # once


def test_kernels_that_cannot_be_compiled_leave_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "warm_up", lambda *, wait, then: None if wait else then())
    monkeypatch.setattr(solving, "engine_for", lambda _: (None, "numpy"))
    made = session(backend="auto")
    made.kernels.start()
    assert made.kernels.state == "numpy"


def test_a_drag_switches_to_the_kernels_while_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    made = session()
    made.dispatch(act.SetSolver(backend="auto"))
    monkeypatch.setattr(backends, "_ready", type(backends._ready)())
    made.begin_drag((HAND,))
    start, served = place(made.document, "LeftHand"), []
    for tick in range(20):
        made.gestures.drag_to({HAND: (start + np.array([0.0, 0.01 * tick, 0.0]), None)})
        if tick == 10:
            before = made.document.pose
            backends.compiled_is_ready()
        made.tick(tick / 60)
        assert made.report is not None
        served.append(made.report.backend)
        if tick == 10:
            assert np.abs(made.document.pose.rotations - before.rotations).max() < 0.05
    assert served == ["numpy"] * 10 + ["numba"] * 10
    made.commit()
    assert all(error.reached for error in made.errors.values())
