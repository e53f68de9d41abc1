"""A window that changes its size, what is drawn at which scale, and fast typing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from imgui_bundle import imgui
from inside.app import Capture, Inputs, Screen
from inside.opengl import Renderer, create_context
from window_pilot import Pilot

from viewer.ui import Rect

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def pilot() -> Iterator[Pilot]:
    pilot = Pilot()
    yield pilot
    pilot.close()


def test_the_framebuffer_of_a_window_is_as_large_as_the_window_is_now() -> None:
    context = create_context()
    opened = context.simple_framebuffer((640, 480))
    screen = Screen(SimpleNamespace(screen=opened))  # type: ignore[arg-type]  # no window here: one of moderngl's own
    for size in ((960, 600), (1280, 720)):
        shown = screen.sized(size)
        assert shown.size == size
        assert shown.viewport == (0, 0, *size)
        assert shown.glo == opened.glo
    context.release()


def test_the_scene_is_drawn_at_the_scale_that_its_list_was_made_with(
    pilot: Pilot, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    real = Renderer.draw

    def noting(self: Renderer, *rest: Any, **named: Any) -> None:  # noqa: ANN401 - passed on
        drawn.append(named.get("scale"))
        real(self, *rest, **named)

    monkeypatch.setattr(Renderer, "draw", noting)
    pilot.app.controller.view.preferences.ui_scale = 1.5
    pilot.step(3)
    assert drawn
    assert set(drawn) == {pilot.app.painter.ui.scale}
    assert drawn[0] == 1.5


def test_all_that_is_typed_within_a_frame_is_taken_without_another_event(pilot: Pilot) -> None:
    pilot.key("ctrl+f")
    pilot.step(4)
    for letter in "forearm":
        pilot.inputs.key(letter, down=True)
        pilot.inputs.text(letter)
        pilot.inputs.key(letter, down=False)
    for name in ("backspace", "backspace", "backspace"):
        pilot.inputs.key(name, down=True)
        pilot.inputs.key(name, down=False)
    pilot.step()  # the frame that they come with
    pilot.settle()
    imgui.set_current_context(pilot.app.painter._imgui)
    assert imgui.get_current_context().input_events_queue.size() == 0


def test_letters_reach_a_text_field_as_text_alone() -> None:
    context = imgui.create_context()
    try:
        capture = Capture(Rect(230, 66, 756, 514))
        capture.typing = True
        inputs = Inputs(lambda _: None, None, capture)  # type: ignore[arg-type]  # no borders here
        queue = imgui.get_current_context().input_events_queue
        inputs.key("a", down=True)
        inputs.text("a")
        assert queue.size() == 1
        inputs.key("ctrl", down=True)
        before = queue.size()
        inputs.key("a", down=True)
        assert queue.size() == before + 3  # and the modifier up and down before it: see `Inputs._hold_modifiers`
    finally:
        imgui.destroy_context(context)
