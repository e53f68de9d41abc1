"""Where messages are shown: beside the figure and beside one another, all their words within them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest
from imgui_bundle import imgui
from inside.app import wrapped
from inside.document import SetLimits
from inside.ui import MessageBar
from panel_window import PanelWindow

import viewer
from viewer.scene import figure_points
from viewer.ui import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = [((960, 600), 1.0), ((1280, 720), 1.0), ((1920, 1200), 1.0), ((2560, 1440), 2.0)]
Frame = tuple[float, float, float, float]


@contextmanager
def shown(size: tuple[int, int], scale: float, sample: str = "biped") -> Iterator[PanelWindow]:
    window = PanelWindow(viewer.load(f"sample:{sample}"), size, scale)
    try:
        yield window
    finally:
        window.close()


def frames(window: PanelWindow) -> list[Frame]:
    """Left, top, right, bottom of each message that is shown."""
    found = []
    for index in range(len(window.controller.view.bar.messages)):
        box = imgui.internal.find_window_by_name(f"##message {index}")
        if box is not None and box.was_active:  # type: ignore[redundant-expr]  # the stub leaves None out
            found.append((box.pos.x, box.pos.y, box.pos.x + box.size.x, box.pos.y + box.size.y))
    return found


def overlap(one: Frame, other: Frame) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def post(window: PanelWindow, count: int) -> None:
    for number in range(count):
        action = (("Copy", lambda: None), ("Show in folder", lambda: None)) if number % 2 else ()
        text = f"walk_{number}.bvh:412:17: expected a number in the offset of a joint, found {number} words"
        window.controller.view.post(Message(text, "error", action))
    window.frames(3)


@pytest.mark.parametrize("sample", ["biped", "raptor", "walk", "claw-arm"])
@pytest.mark.parametrize(("size", "scale"), SIZES)
def test_messages_cover_neither_the_figure_nor_one_another(size: tuple[int, int], scale: float, sample: str) -> None:
    with shown(size, scale, sample) as window:
        count = 1 if sample == "raptor" else 2  # it is as long as the view is wide
        post(window, count)
        view, found = window.ui.regions.viewport, frames(window)
        assert len(found) == count
        points = figure_points(window.controller.scene().skeleton, window.controller.scene().world)
        pixels = window.controller.projection().project(points) + np.array([view.x, view.y])
        inside = [(pixels > frame[:2]) & (pixels < frame[2:]) for frame in found]
        assert not any(covered.all(axis=1).any() for covered in inside)
        assert not any(overlap(a, b) for i, a in enumerate(found) for b in found[:i])
        for left, top, right, bottom in found:
            assert view.x <= left
            assert view.y <= top
            assert right <= view.x + view.w
            assert bottom <= view.y + view.h


@pytest.mark.parametrize(("size", "scale"), SIZES)
def test_what_has_no_room_waits_and_comes_when_others_are_closed(size: tuple[int, int], scale: float) -> None:
    with shown(size, scale) as window:
        post(window, 12)
        few = len(frames(window))
        assert 1 <= few < 12
        for message in window.controller.view.bar.messages[-11:]:
            window.controller.view.bar.close(message)
        window.frames(2)
        assert len(frames(window)) == 1


@pytest.mark.parametrize(("size", "scale"), SIZES)
def test_chips_cover_neither_the_figure_nor_messages(size: tuple[int, int], scale: float) -> None:
    with shown(size, scale) as window:
        window.session.dispatch(SetLimits(False))
        post(window, 4)
        chip = [line for line in window.lines if line.panel == "chips"]
        assert "Joint limits off" in [line.name for line in chip]
        edge = 8.0 * scale
        lines = [(line.left - edge, line.top - edge, line.right + edge, line.bottom + edge) for line in chip]
        view = window.ui.regions.viewport
        points = window.controller.projection().project(
            figure_points(window.controller.scene().skeleton, window.controller.scene().world)
        )
        pixels = points + np.array([view.x, view.y])
        body = (*pixels.min(axis=0).tolist(), *pixels.max(axis=0).tolist())
        assert not any(overlap(line, other) for line in lines for other in (body, *frames(window)))


def test_messages_stay_in_their_corner_until_all_are_closed() -> None:
    with shown((1280, 720), 1.0, "raptor") as window:
        view = window.ui.regions.viewport
        post(window, 1)
        assert frames(window)[0][0] == view.x + 12.0
        window.controller.camera_moves.orbit(450.0, 0.0)
        post(window, 2)
        assert {frame[0] for frame in frames(window)} == {view.x + 12.0}
        window.controller.view.bar.clear()
        window.frames(2)
        post(window, 1)
        assert frames(window)[0][2] == view.x + view.w - 12.0


def test_lines_hold_all_words_and_none_is_too_wide() -> None:
    random = np.random.default_rng(4)
    for _ in range(200):
        words = ["x" * int(n) for n in random.integers(1, 15, size=int(random.integers(1, 12)))]
        lines = wrapped(" ".join(words), 10.0, len, 99)
        assert "".join(lines).replace(" ", "") == "".join(words)
        assert max(map(len, lines)) <= 10
        assert all(lines)


def test_a_number_keeps_its_unit() -> None:
    assert wrapped("height 1.71 m", 11.0, len, 9) == ["height", "1.71 m"]
    assert wrapped("12 frames", 9.0, len, 9) == ["12 frames"]
    assert wrapped("as 3 more", 6.0, len, 9) == ["as 3", "more"]


def test_what_is_cut_off_ends_with_an_ellipsis() -> None:
    assert wrapped("one two three four", 5.0, len, 2) == ["one", "two…"]
    assert wrapped("one two", 5.0, len, 2) == ["one", "two"]
    assert wrapped("abcdefgh", 3.0, len, 2) == ["abc", "de…"]


def test_a_later_note_of_the_same_thing_replaces_the_earlier_one() -> None:
    bar = MessageBar()
    for text in ("Solver: dls", "Saved a.ikv.json", "Solver: ccd"):
        bar.post(Message(text))
    assert [message.text for message in bar.messages] == ["Saved a.ikv.json", "Solver: ccd"]
    bar.post(Message("Solver: none", "error"))
    assert len(bar.messages) == 3
