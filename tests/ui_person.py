"""A person at the window, without a window: events in, controller out."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from inside.ik import Backend
from inside.session import Preferences
from inside.ui import chord
from sessions import QUICK, character

import viewer
from viewer.document import new_document
from viewer.session import Session
from viewer.ui import Controller, Key, KeyUp, Move, Press, Rect, Release, Scroll

if TYPE_CHECKING:
    from inside.spatial import Floats
    from inside.ui import Button, Mods

    from viewer.document import Document
    from viewer.gizmo import Tool

VIEW = Rect(228, 66, 756, 514)
EMPTY = (260.0, 560.0)
"""A pixel of the background."""


def answer(controller: Controller, words: str) -> None:
    """Press a button of the question that was asked last."""
    asked = next(request for request in reversed(controller.view.requests) if request.name == "question")
    controller.view.requests.remove(asked)
    asked.value.answers[words]()  # type: ignore[attr-defined]


class Person:
    """Moves the mouse and types; time passes by itself. Compiled code solves, where there can be any."""

    def __init__(
        self, file: str | viewer.Character = "sample:biped", *, backend: Backend = QUICK, **liked: object
    ) -> None:
        if isinstance(file, str):
            file = character(file.removeprefix("sample:")) if "sample:" in file else viewer.load(file)
        document = new_document(file)
        document = replace(document, solver=replace(document.solver, backend=backend))
        self.controller = Controller(Session(document), Preferences(reduce_motion=True, **liked))  # type: ignore[arg-type]
        self.controller.viewport = VIEW
        self.now = 0.0

    @property
    def document(self) -> Document:
        return self.controller.session.document

    def wait(self, seconds: float = 0.1) -> None:
        for _ in range(max(1, round(seconds * 60))):
            self.now += 1 / 60
            self.controller.tick(self.now)

    def rest(self) -> None:
        """Let time pass until nothing moves and it is known why a resting drag misses its goals."""
        for _ in range(1000):
            self.now += 1 / 60
            if not self.controller.tick(self.now):
                return
            time.sleep(0.005)
        raise AssertionError("the window does not come to rest")

    def pixel(self, point: Floats) -> tuple[float, float]:
        """Where a point of the world is seen in the window."""
        x, y = self.controller.projection().project(point).tolist()
        return x + VIEW.x, y + VIEW.y

    def at(self, effector: str) -> tuple[float, float]:
        return self.pixel(self.place(effector))

    def place(self, effector: str) -> Floats:
        """Where an effector is in the world."""
        return self.controller.scene().world.point(*self._fixed(effector))

    def target(self, effector: str) -> Floats:
        return np.array(self.document.goal(effector).position)

    def _fixed(self, effector: str) -> tuple[int, Floats]:
        found = next(e for e in self.document.skeleton.effectors if e.name == effector)
        return found.joint, np.array(found.offset)

    def joint(self, name: str) -> Floats:
        """Where a joint is in the world."""
        return np.array(self.controller.scene().world.positions[self.document.skeleton.index(name)])

    def move(self, x: float, y: float, *held: str) -> None:
        self.controller.handle(Move(x, y, frozenset(held)))

    def press(self, x: float, y: float, *held: str, button: Button = "left", clicks: int = 1) -> None:
        mods: Mods = frozenset(held)
        self.controller.handle(Move(x, y, mods))
        self.controller.handle(Press(button, x, y, mods, clicks))

    def release(self, x: float, y: float, *held: str, button: Button = "left") -> None:
        self.controller.handle(Release(button, x, y, frozenset(held)))

    def click(self, x: float, y: float, *held: str, button: Button = "left", clicks: int = 1) -> None:
        self.press(x, y, *held, button=button, clicks=clicks)
        self.release(x, y, *held, button=button)

    def pull(self, start: tuple[float, float], by: tuple[float, float], *held: str, button: Button = "left") -> None:
        """Press and move, and let time pass; the button stays down."""
        self.press(*start, *held, button=button)
        for part in (0.25, 0.5, 0.75, 1.0):
            self.move(start[0] + part * by[0], start[1] + part * by[1], *held)
            self.wait(0.03)
        self.wait(0.3)

    def drag(self, start: tuple[float, float], by: tuple[float, float], *held: str, button: Button = "left") -> None:
        """Press, move, release."""
        self.pull(start, by, *held, button=button)
        self.release(start[0] + by[0], start[1] + by[1], *held, button=button)
        self.wait()

    def key(self, *texts: str) -> None:
        """Strike keys, such as ``ctrl+z``."""
        for text in texts:
            key, mods = chord(text)
            self.controller.handle(Key(key, mods))
            self.controller.handle(KeyUp(key, mods))
        self.wait(0.05)

    def scroll(self, steps: float, x: float, y: float, *held: str) -> None:
        self.controller.handle(Scroll(0.0, steps, x, y, frozenset(held)))

    def select(self, name: str) -> None:
        """Select an effector by a click on it."""
        self.click(*self.at(name))

    @property
    def selected(self) -> list[str]:
        return [item.name for item in self.document.selection]

    def drags(self) -> bool:
        return self.controller.dragging

    def tool(self) -> Tool:
        return self.controller.view.tool
