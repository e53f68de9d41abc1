"""A hidden window and a user of it: its own input and loop, and a clock that tests advance."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from inside.app import FRAME, open_window
from inside.opengl import Renderer, read_picture
from inside.session import Preferences
from sessions import QUICK

import viewer
from viewer.document import new_document
from viewer.session import Session
from viewer.ui import state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from inside.app import Inputs, Panel
    from inside.ui import Button
    from numpy.typing import NDArray

MODIFIERS = ("ctrl", "shift", "alt")


def _plainly(renderer: Renderer, *what: Any, **how: Any) -> None:  # noqa: ANN401 - passed on
    Renderer.draw(renderer, *what, **{**how, "samples": 0})


class Pilot:
    """A user at a window of 1280x720."""

    def __init__(
        self, file: str = "sample:biped", panels: Sequence[Panel] | None = None, *, smooth: bool = False
    ) -> None:
        document = new_document(viewer.load(file))
        self.session = Session(replace(document, solver=replace(document.solver, backend=QUICK)))
        self.app = open_window(self.session, Preferences(), panels=panels)
        self.now = 100.0
        self.app.clock = self.app.inputs.clock = lambda: self.now
        # Smooth edges would take half of the time that a window needs here, and no test looks at them.
        if not smooth:
            renderer = self.app.painter.scene_buffer._renderer
            renderer.draw = partial(_plainly, renderer)  # type: ignore[method-assign]
        self.settle()

    @property
    def inputs(self) -> Inputs:
        return self.app.inputs

    @property
    def state(self) -> dict[str, Any]:
        return state_of(self.app.controller, self.app.device.window_size)

    def effector(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(entry for entry in self.state["effectors"] if entry["name"] == name)
        return found

    def step(self, count: int = 1, seconds: float = FRAME) -> None:
        for _ in range(count):
            self.now += seconds
            self.app.step(self.now)

    def settle(self) -> None:
        """Run frames until nothing changes any more."""
        for _ in range(400):
            at = max(self.app.pace.next_wakeup(self.now), self.now + 1e-3)
            if at - self.now > 0.2 and self.app.pace.still:
                return
            self.now = at
            self.app.step(self.now)
        raise AssertionError("the window never comes to rest")

    def move(self, x: float, y: float) -> None:
        self.inputs.move(x, y)
        self.step()

    def button(self, button: Button, *, down: bool) -> None:
        self.inputs.button(button, down=down)
        self.step()

    def click(self, x: float, y: float, button: Button = "left") -> None:
        self.move(x, y)
        self.button(button, down=True)
        self.button(button, down=False)
        self.step(2)

    def drag(self, start: Sequence[float], end: Sequence[float], button: Button = "left", steps: int = 20) -> None:
        self.move(*start)
        self.button(button, down=True)
        for i in range(1, steps + 1):
            part = i / steps
            self.move(*(a + part * (b - a) for a, b in zip(start, end, strict=True)))
        self.button(button, down=False)

    def key(self, chord: str) -> None:
        *held, name = chord.split("+")
        for modifier in held:
            self.inputs.key(modifier, down=True)
        self.inputs.key(name, down=True)
        self.inputs.key(name, down=False)
        for modifier in reversed(held):
            self.inputs.key(modifier, down=False)
        self.step(3)

    def answer(self, words: str) -> None:
        """Press a button of the question that is asked."""
        self.app.painter.ui.memory_of("questions")["question"].answers[words]()

    def picture(self) -> NDArray[np.uint8]:
        return read_picture(self.app.device.target)

    def close(self) -> None:
        self.app.close()
