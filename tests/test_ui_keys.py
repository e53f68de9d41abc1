"""What keys do to the view, the clip and the window."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from inside.document import Select, SetUnits
from inside.ui import REFUSED_SECONDS
from ui_person import EMPTY, Person

from viewer.document import Item
from viewer.session import Loop
from viewer.ui import COMMANDS, Workspace


@pytest.fixture
def person() -> Person:
    return Person()


def select(person: Person, *names: str, kind: str = "joint") -> None:
    person.controller.session.dispatch(Select(tuple(Item(kind, name) for name in names)))  # type: ignore[arg-type]


def test_a_clip_is_played_stepped_and_looped() -> None:
    person = Person("sample:walk")
    last = len(person.document.clip_data or ()) - 1
    person.key("right", "period", "ctrl+right")
    assert person.document.frame == 12
    person.key("left", "comma", "ctrl+left")
    assert person.document.frame == 0
    person.key("left")  # the clip loops
    assert person.document.frame == last
    person.key("shift+left")
    assert person.document.frame == 0
    person.key("shift+right")
    assert person.document.frame == last
    person.key("shift+left", "space")
    person.wait(0.5)
    assert person.controller.session.clock.direction == 1
    assert 10 <= person.document.frame <= 20
    person.key("shift+space")
    assert person.controller.session.clock.direction == -1
    person.key("shift+space")
    assert person.controller.session.clock.direction == 0
    assert person.controller.session.history.index == 0
    person.key("ctrl+l")
    assert person.controller.session.clock.loop is Loop.PING_PONG
    person.key("equal")
    assert person.controller.session.clock.speed == 1.5
    person.key("minus", "minus")
    assert person.controller.session.clock.speed == 0.5


def test_without_a_clip_nothing_is_played(person: Person) -> None:
    assert not person.controller.can("play.forwards")
    assert person.controller.run("play.forwards") is False


def test_what_only_the_window_can_do_is_asked_of_it(person: Person) -> None:
    keys = {
        "f1": "help",
        "f11": "fullscreen",
        "ctrl+comma": "preferences",
        "f12": "file-dialog",
        "ctrl+o": "file-dialog",
        "ctrl+f": "find-joint",
    }
    for key, name in keys.items():
        person.key(key)
        assert person.controller.view.requests.popleft().name == name
    assert not person.controller.view.requests


def test_panels_and_what_is_shown(person: Person) -> None:
    panels = person.controller.view.panels
    person.key("tab")
    assert (panels.hidden, panels.left) == (True, True)
    person.key("t")  # shows what is hidden
    assert (panels.hidden, panels.left) == (False, True)
    person.key("t")
    assert (panels.hidden, panels.left) == (False, False)
    panels.folded = frozenset({"right"})  # by the window, for lack of room
    person.key("n")
    assert (panels.right, panels.opened) == (True, "right")
    person.key("f6", "f7", "f8")
    display = person.controller.view.display
    assert (display.axes, display.names, display.limits) == (True, True, "all")
    assert person.controller.view.preferences.display == {"axes": True, "names": True, "limits": "all"}
    assert person.controller.scene().display is display


def test_what_was_shown_is_shown_again() -> None:
    kept: dict[str, object] = {"names": True, "limits": "none", "grid": "yes", "nonsense": 1}
    person = Person(display=kept)
    assert (person.controller.view.display.names, person.controller.view.display.limits) == (True, "none")
    assert person.controller.view.display.grid is True


def test_standard_views(person: Person) -> None:
    for key, back in (
        ("1", (0, 0, 1)),
        ("7", (0, 1, 0)),
        ("9", (0, -1, 0)),
        ("kp1", (0, 0, 1)),
        ("ctrl+1", (0, 0, -1)),
    ):
        person.key(key)
        np.testing.assert_allclose(person.controller.camera.back, back, atol=1e-9)
    yaw = person.controller.camera.yaw
    person.key("kp6")
    assert abs(person.controller.camera.yaw - yaw) == pytest.approx(np.radians(15.0))
    person.key("o")
    assert person.controller.camera.orthographic
    assert person.controller.checked("view.orthographic")


def test_framing_the_selection_and_all(person: Person) -> None:
    person.key("a")
    whole = person.controller.camera
    person.select("Head")
    person.key("f")
    assert person.controller.camera.distance < 0.5 * whole.distance
    np.testing.assert_allclose(person.controller.camera.target, person.place("Head"), atol=0.1)
    person.key("home")
    np.testing.assert_allclose(person.controller.camera.target, whole.target)


def test_following_the_selection(person: Person) -> None:
    person.select("LeftHand")
    person.key("shift+f")
    np.testing.assert_allclose(person.controller.camera.target, person.place("LeftHand"), atol=1e-6)
    person.key("alt+up")
    np.testing.assert_allclose(person.controller.camera.target, person.target("LeftHand"), atol=1e-3)


def test_a_figure_in_other_units_is_looked_at_anew() -> None:
    person = Person("sample:walk")
    distance = person.controller.camera.distance
    person.drag((300.0, 500.0), (40.0, 0.0))
    person.controller.session.dispatch(SetUnits("inch", "y"))
    person.wait()
    assert person.controller.camera.distance == pytest.approx(2.54 * distance, rel=0.2)


def test_jumps_glide_unless_motion_is_reduced() -> None:
    person = Person()
    person.controller.view.preferences.reduce_motion = False
    start = person.controller.camera
    person.controller.run("view.top")
    assert person.controller.camera is start
    assert person.controller.tick(10.0)
    assert person.controller.tick(10.1)
    half = person.controller.camera
    assert start.pitch < half.pitch < 0.5 * np.pi
    assert person.controller.tick(10.2)
    np.testing.assert_allclose(person.controller.camera.back, (0.0, 1.0, 0.0), atol=1e-9)
    assert person.controller.camera_moves.heading_for is person.controller.camera
    # A drag takes over at once.
    person.controller.run("view.front")
    person.controller.tick(11.0)
    person.controller.tick(11.05)
    person.controller.camera_moves.orbit(5.0, 0.0)
    assert person.controller.camera_moves.heading_for is person.controller.camera


# Keys without an effect


def told(person: Person) -> tuple[str, str]:
    """The title and the reason that the status line gives."""
    line = person.controller.status()
    assert (line.icon, line.tone, line.figures, line.yields) == ("refused", "idle", "", "")
    return line.state, line.goals


def shown(person: Person) -> list[object]:
    """What keys may change; not what passes by itself."""
    control, view, session = person.controller, person.controller.view, person.controller.session
    clock, building, sim = session.clock, control.building, control.simulating.sim
    return [
        session.document, session.recorder.recording is None, clock.direction, clock.loop, clock.speed,
        view.workspace, view.tool, view.space, view.display, replace(view.panels), view.magnet, view.mirror,
        view.individual, view.gesture, view.finding, len(view.requests), len(view.bar.messages),
        control.camera, control.camera_moves.follow, control.renaming.joint, control.laboratory.shown_iteration,
        control.laboratory.playing, control.simulating.paused, None if sim is None else sim.seconds,
        building.plane, building.adding, building.typed.texts,
    ]  # fmt: skip


@pytest.mark.parametrize("workspace", list(Workspace))
def test_a_key_has_an_effect_or_the_status_line_says_why_not(workspace: Workspace) -> None:
    person = Person()
    control = person.controller
    for command in (one for one in COMMANDS if one.keys and not one.in_drag):
        if control.dragging:
            person.key("escape")
        if control.view.workspace is not workspace:
            control.view.enter(workspace)
        control.laboratory.playing, control.simulating.paused = False, True
        person.wait(0.05)
        for message in control.view.bar.messages:
            control.view.bar.close(message)
        before = shown(person)
        person.key(command.keys[0])
        refused = control.view.refusal is not None
        assert refused != any(a is not b and a != b for a, b in zip(before, shown(person), strict=True)), command.id


@pytest.mark.parametrize(
    ("key", "title", "why"),
    [
        ("ctrl+z", "Undo", "there is nothing to undo"),
        ("ctrl+v", "Paste pose", "no pose was copied"),
        ("g", "Move with pointer", "select what is to move"),
        ("alt+shift+r", "Reset whole pose", "nothing changes"),
        ("shift+delete", "Remove joint with all below it", "only in the workspace Build"),
        ("ctrl+enter", "Apply retargeted motion", "only in the workspace Retarget"),
        ("v", "Reach here", "select a hand, a foot or another effector"),
        ("shift+k", "Throw a ball", "physics does not run: K runs it"),
    ],
)
def test_why_a_key_has_no_effect(person: Person, key: str, title: str, why: str) -> None:
    document = person.document
    person.key(key)
    assert told(person) == (title, why)
    assert person.document is document


def test_a_refusal_gives_way_after_some_seconds_to_another_key_and_to_a_click(person: Person) -> None:
    usual = person.controller.status().state
    person.key("ctrl+z")
    person.wait(REFUSED_SECONDS - 0.2)
    assert told(person)[0] == "Undo"
    person.wait(0.3)
    assert person.controller.status().state == usual
    person.key("ctrl+z", "ctrl+z")
    assert told(person)[0] == "Undo"
    person.key("l")
    assert person.controller.status().state == usual
    person.key("ctrl+shift+z")
    assert told(person)[0] == "Redo"
    person.click(*EMPTY)
    assert person.controller.status().state == usual


def test_keys_of_the_window_wait_for_the_end_of_a_drag(person: Person) -> None:
    person.select("LeftHand")
    person.key("g", "l")
    assert told(person) == ("Joint limits", "end the drag first")
    assert person.document.limits_on
    person.key("x")
    assert person.controller.view.refusal is None


def test_the_first_meaning_of_a_key_says_what_it_lacks(person: Person) -> None:
    person.key("ctrl+b", "delete")
    assert told(person) == ("Remove joint, its children stay", "no joint is selected")
