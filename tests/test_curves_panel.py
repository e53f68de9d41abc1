"""The curves: keys and tangents dragged by the mouse, and their menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from imgui_bundle import imgui
from inside.app import KeysOnPlot
from inside.document import Blend, Key, KeyOnCurves, KeyPose, SetCoordinate, Tangent
from panel_window import PanelWindow

import viewer
from viewer.document import Item

if TYPE_CHECKING:
    from collections.abc import Iterator

JOINT = "LeftForeArm"


class CurvesWindow(PanelWindow):
    """A window with the curves in front, and what was drawn on them last, in pixels."""

    keys: dict[int, tuple[float, float]]
    handles: dict[int, tuple[float, float]]


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Iterator[CurvesWindow]:
    made = CurvesWindow(viewer.load("sample:biped"))
    drawn = KeysOnPlot.draw

    def draw(self: KeysOnPlot) -> None:
        made.keys = {key.frame: self.pixels(key) for key in self.keys}
        made.handles = {handle.side: handle.at for handle in self.handles()}
        drawn(self)

    monkeypatch.setattr(KeysOnPlot, "draw", draw)
    made.ui.layout.tabs["bottom"] = "curves"
    made.ui.regions = made.ui.layout.regions(made.size, made.ui.scale)
    for frame, angle in ((10, 0.3), (40, 0.9), (80, 0.5)):
        made.session.dispatch(SetCoordinate(JOINT, 0, angle))
        made.session.dispatch(KeyPose(frame, blend=Blend.SMOOTH))
    made.controller.selecting.select(Item("joint", JOINT))
    made.frames(4)
    yield made
    made.close()


def drag(window: CurvesWindow, start: tuple[float, float], by: tuple[float, float], *, end: bool = True) -> None:
    window.move(start)
    window.rest()
    window.button(down=True)
    for part in (0.3, 0.7, 1.0):
        window.move((start[0] + part * by[0], start[1] + part * by[1]))
    if end:
        window.button(down=False)
    window.frames(3)


def joint(window: CurvesWindow) -> int:
    return window.session.document.skeleton.index(JOINT)


def at(window: CurvesWindow, frame: int) -> KeyOnCurves:
    return KeyOnCurves(window.session.document, joint(window), frame)


def take_keys(window: CurvesWindow, joint: int) -> tuple[int, ...]:
    take = window.session.document.take
    assert take is not None
    return take.keys_of(joint)


def own_frames(window: CurvesWindow) -> tuple[int, ...]:
    return take_keys(window, joint(window))


def test_a_key_is_dragged_up_in_one_step_and_others_stay(window: CurvesWindow) -> None:
    depth = window.session.history.index
    drag(window, window.keys[40], (0.0, -20.0))
    assert own_frames(window) == (10, 40, 80)
    assert at(window, 40).coordinates[0] > 0.9
    assert at(window, 10).coordinates[0] == pytest.approx(0.3)
    assert window.session.history.index == depth + 1
    assert window.controller.keying.selected == {Key(joint(window), 40)}
    window.session.undo()
    assert at(window, 40).coordinates[0] == pytest.approx(0.9)


def test_a_key_is_dragged_in_time_but_not_past_its_neighbour(window: CurvesWindow) -> None:
    far = window.keys[80][0] - window.keys[40][0]
    window.key(imgui.Key.mod_shift, down=True)
    drag(window, window.keys[40], (0.5 * far, 3.0))
    window.key(imgui.Key.mod_shift, down=False)
    assert own_frames(window) == (10, 60, 80)
    assert at(window, 60).coordinates[0] == pytest.approx(0.9)  # Shift: along one axis
    drag(window, window.keys[60], (2.0 * far, 0.0))
    assert own_frames(window) == (10, 79, 80)


def test_all_selected_keys_go_along_with_the_one_that_is_dragged(window: CurvesWindow) -> None:
    other = window.session.document.skeleton.index("Spine")
    per_frame = (window.keys[80][0] - window.keys[40][0]) / 40.0
    window.controller.keying.select({Key(joint(window), 40), Key(joint(window), 80), Key(other, 40)})
    window.frames(3)
    before = {frame: at(window, frame).coordinates[0] for frame in (40, 80)}
    depth = window.session.history.index
    drag(window, window.keys[40], (5.0 * per_frame, -15.0))
    assert own_frames(window) == (10, 45, 85)
    assert take_keys(window, other) == (10, 45, 80)
    risen = [at(window, frame + 5).coordinates[0] - before[frame] for frame in (40, 80)]
    assert risen[0] > 0.02
    assert risen[0] == pytest.approx(risen[1])
    assert window.session.history.index == depth + 1
    drag(window, window.keys[45], (60.0 * per_frame, 0.0))  # the spine's key stops below the one at 80
    assert take_keys(window, other) == (10, 79, 80)
    assert own_frames(window) == (10, 79, 119)


def test_escape_brings_a_dragged_key_back(window: CurvesWindow) -> None:
    before = window.session.document
    drag(window, window.keys[40], (30.0, -25.0), end=False)
    assert own_frames(window) != (10, 40, 80)
    window.tap(imgui.Key.escape)
    window.button(down=False)
    window.frames(2)
    assert window.session.document.same_as(before)


def test_the_end_of_a_tangent_is_dragged(window: CurvesWindow) -> None:
    assert window.handles == {}
    drag(window, window.keys[40], (0.0, 0.0))
    assert {*window.handles} == {-1, 1}
    assert window.handles[1][1] == pytest.approx(window.keys[40][1], abs=1.0)  # at a peak: level
    depth = window.session.history.index
    drag(window, window.handles[1], (0.0, -30.0))
    assert at(window, 40).tangent is Tangent.FREE
    assert at(window, 40).slopes()[0] > 0.0
    assert at(window, 40).coordinates[0] == pytest.approx(0.9)
    assert window.session.history.index == depth + 1
    assert window.handles[1][1] < window.keys[40][1] - 10.0
    assert window.handles[-1][1] > window.keys[40][1] + 10.0
    drag(window, window.handles[-1], (0.0, -60.0))
    assert at(window, 40).slopes()[0] < 0.0


def test_a_press_beside_the_keys_scrubs(window: CurvesWindow) -> None:
    x, y = window.keys[40]
    drag(window, (0.5 * (x + window.keys[80][0]), y + 40.0), (0.0, 0.0))
    assert window.session.document.frame == 60
    assert not window.controller.keying.selected


def test_the_menu_of_a_key_sets_interpolation_and_tangents(window: CurvesWindow) -> None:
    window.move(window.keys[40])
    window.frames(3)
    window.button(down=True, which=1)
    window.button(down=False, which=1)
    window.frames(3)
    assert window.popup
    assert window.controller.keying.selected == {Key(joint(window), 40)}
    window.controller.keying.set_tangent(Tangent.FLAT)
    assert at(window, 40).tangent is Tangent.FLAT
    assert window.controller.keying.tangents() == {Tangent.FLAT}
    window.controller.keying.set_blend(Blend.STEP)
    assert window.controller.keying.tangents() == frozenset()


def test_the_transport_is_there_too(window: CurvesWindow) -> None:
    window.click("curves", "play.next")
    assert window.session.document.frame == 1
