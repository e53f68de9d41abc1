"""What GLFW reports reaches `Inputs` as it happened: at the places of the events, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from imgui_bundle import imgui
from inside.app import GLFW_NAMES, IMGUI_SHAPES, SHAPES, Callbacks, Capture, Inputs

from viewer.ui import Event, Move, Press, Rect, Release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Glfw:
    """The library, as far as `Callbacks` uses it; the pointer is always ahead of the events."""

    PRESS, RELEASE, REPEAT = 1, 0, 2
    MOD_SHIFT, MOD_CONTROL, MOD_ALT, MOD_SUPER = 1, 2, 4, 8

    def __init__(self) -> None:
        self.callbacks: dict[str, Callable[..., None]] = {}
        self.pointer = (700.0, 500.0)

    def get_cursor_pos(self, _window: object) -> tuple[float, float]:
        return self.pointer

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a constant or a setter
        if name.startswith("KEY_"):
            return list(GLFW_NAMES).index(name.removeprefix("KEY_"))
        what = name.removeprefix("set_").removesuffix("_callback")
        return lambda _window, call: self.callbacks.update({what: call})


class Device:
    """A window with two framebuffer pixels to each of its own units."""

    def to_pixels(self, x: float, y: float) -> tuple[float, float]:
        return 2.0 * x, 2.0 * y


class NoBorders:
    def move(self, _x: float, _y: float) -> bool:
        return False

    press = move

    def release(self) -> bool:
        return False


@pytest.fixture
def desk() -> Iterator[tuple[Glfw, list[Event]]]:
    context = imgui.create_context()
    events: list[Event] = []
    inputs = Inputs(events.append, NoBorders(), Capture(Rect(0, 0, 2000, 2000)))  # type: ignore[arg-type]  # none
    glfw = Glfw()
    Callbacks(glfw, None, inputs, Device()).install()  # type: ignore[arg-type]  # two stand-ins
    yield glfw, events
    imgui.destroy_context(context)


def test_a_press_is_where_the_move_before_it_went(desk: tuple[Glfw, list[Event]]) -> None:
    glfw, events = desk
    # One batch of a slow frame: the pointer has gone on long before the press is told.
    glfw.callbacks["cursor_pos"](None, 100.0, 100.0)
    glfw.callbacks["mouse_button"](None, 0, glfw.PRESS, 0)
    glfw.callbacks["cursor_pos"](None, 300.0, 200.0)
    glfw.callbacks["mouse_button"](None, 0, glfw.RELEASE, 0)
    assert events == [
        Move(200.0, 200.0), Press("left", 200.0, 200.0), Move(600.0, 400.0), Release("left", 600.0, 400.0),
    ]  # fmt: skip


def test_a_press_before_any_move_is_where_the_pointer_is(desk: tuple[Glfw, list[Event]]) -> None:
    glfw, events = desk
    glfw.callbacks["mouse_button"](None, 0, glfw.PRESS, 0)
    assert events == [Move(1400.0, 1000.0), Press("left", 1400.0, 1000.0)]


def test_a_press_after_the_pointer_left_is_where_the_pointer_is(desk: tuple[Glfw, list[Event]]) -> None:
    glfw, events = desk
    glfw.callbacks["cursor_pos"](None, 100.0, 100.0)
    glfw.callbacks["cursor_enter"](None, 0)
    events.clear()
    glfw.callbacks["mouse_button"](None, 0, glfw.PRESS, 0)
    assert events == [Move(1400.0, 1000.0), Press("left", 1400.0, 1000.0)]


def test_every_shape_of_the_pointer_that_panels_ask_for_is_known_to_both_libraries() -> None:
    assert set(IMGUI_SHAPES.values()) <= set(SHAPES)
    assert all(glfw and pyglet for name, (glfw, pyglet) in SHAPES.items() if name != "arrow")
