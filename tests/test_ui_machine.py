"""Random users: nothing raises, poses stay valid, and undoing everything leads back to the start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st
from inside.ui import frame_count
from restless import left_outside
from ui_person import VIEW, Person

from viewer.ui import COMMANDS, Key, KeyUp, Leave, Move, Press, Release, Scroll

if TYPE_CHECKING:
    from inside.ui import Button, Chord, Mods

EFFECTORS = ("LeftHand", "RightHand", "LeftFoot", "Head")
BUTTONS: tuple[Button, ...] = ("left", "left", "left", "middle", "right")
STRUCK = sorted({chord for command in COMMANDS for chord in command.chords if not command.in_drag})
WHILE_DRAGGING = sorted({chord for command in COMMANDS for chord in command.chords if command.in_drag})

Step = Callable[[Person], None]


def _on(x: float, y: float) -> tuple[float, float]:
    return VIEW.x + x, VIEW.y + y


def _press(at: tuple[float, float], button: Button, held: Mods, clicks: int) -> Step:
    return lambda person: person.controller.handle(Press(button, *_on(*at), held, clicks))


def _move(at: tuple[float, float], held: Mods) -> Step:
    return lambda person: person.controller.handle(Move(*_on(*at), held))


def _release(at: tuple[float, float], button: Button, held: Mods) -> Step:
    return lambda person: person.controller.handle(Release(button, *_on(*at), held))


def _pull(name: str | int, by: tuple[float, float], held: Mods) -> Step:
    """Press on an effector, or on a joint, and move."""

    def run(person: Person) -> None:
        positions = person.controller.scene().world.positions
        if isinstance(name, int):
            x, y = person.pixel(positions[name % len(positions)])
        elif _has(person, name):
            x, y = person.at(name)
        else:
            return
        if np.isfinite([x, y]).all():
            person.controller.handle(Press("left", x, y, held))
            person.controller.handle(Move(x + 0.2 * by[0], y + 0.2 * by[1], held))

    return run


def _keys(chords: list[Chord], *, up: bool) -> Step:
    def run(person: Person) -> None:
        for key, held in chords:
            person.controller.handle(Key(key, held))
            if up:
                person.controller.handle(KeyUp(key, held))

    return run


def _click(name: str | int, held: Mods) -> Step:
    def run(person: Person) -> None:
        _pull(name, (0.0, 0.0), held)(person)
        person.release(0.0, 0.0, *held)

    return run


def _scroll(at: tuple[float, float], amount: float, held: Mods) -> Step:
    return lambda person: person.controller.handle(Scroll(0.0, amount, *_on(*at), held))


def _wait(frames: int) -> Step:
    return lambda person: person.wait(frames / 60)


def _leave(person: Person) -> None:
    person.controller.handle(Leave())


def plan_of(chance: Random, length: int) -> Iterator[Step]:
    """What a random user does: mostly drags and keys."""
    ways: list[Callable[[], Step]] = [
        lambda: _press(at(), chance.choice(BUTTONS), held(), chance.choice((1, 1, 2))),
        lambda: _pull(chance.choice(EFFECTORS), at(), held()),
        lambda: _pull(chance.choice(EFFECTORS), at(), frozenset()),
        lambda: _pull(chance.randrange(22), at(), held()),
        lambda: _click(chance.choice((*EFFECTORS, *range(22))), held()),
        lambda: _move(at(), held()),
        lambda: _release(at(), chance.choice(BUTTONS), held()),
        lambda: _release(at(), "left", held()),
        *[lambda: _keys(chance.choices(STRUCK, k=chance.randint(1, 3)), up=chance.random() < 0.7)] * 6,
        *[lambda: _keys(chance.choices(WHILE_DRAGGING, k=chance.randint(1, 4)), up=True)] * 2,
        lambda: _scroll(at(), chance.uniform(-3, 3), held()),
        lambda: _wait(chance.randint(1, 5)),
        lambda: _leave,
    ]

    def at() -> tuple[float, float]:
        return chance.uniform(-40, 800), chance.uniform(-40, 560)

    def held() -> Mods:
        return frozenset(chance.choices(("ctrl", "shift", "alt"), k=chance.choice((0, 0, 0, 1, 2))))

    return (chance.choice(ways)() for _ in range(length))


def _has(person: Person, name: str) -> bool:
    return any(effector.name == name for effector in person.document.skeleton.effectors)


def check(person: Person) -> None:
    controller = person.controller
    pose = person.document.pose
    np.testing.assert_allclose(np.linalg.norm(pose.rotations, axis=1), 1.0, atol=1e-9)
    assert np.isfinite(pose.translations).all()
    assert left_outside(person.document) == []
    for command in COMMANDS:
        controller.can(command.id)
        controller.checked(command.id)
    controller.draw_list()
    controller.status()
    controller.hints()
    assert isinstance(controller.cursor, str)


@given(st.integers(0, 2**32))
@settings(max_examples=7, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_that_a_person_does_raises_and_all_of_it_can_be_undone(seed: int) -> None:
    person = Person()
    start = person.document
    for step in plan_of(Random(seed), 40):
        step(person)
        check(person)
    person.controller.drags.cancel()
    person.controller.view.set_gesture(None)
    while person.controller.can("edit.undo"):
        assert person.controller.run("edit.undo")
    # A sample that was opened again has the usual backend.
    now = person.document
    assert replace(now, solver=replace(now.solver, backend=start.solver.backend)).same_as(start)


@given(st.lists(st.sampled_from([command.id for command in COMMANDS]), max_size=12))
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
def test_a_clip_can_be_played_with_in_any_order(commands: list[str]) -> None:
    person = Person("sample:walk")
    for command in commands:
        can = person.controller.can(command)
        assert person.controller.run(command) is can
        person.wait(0.05)
        assert 0 <= person.document.frame < frame_count(person.document)
    check(person)
