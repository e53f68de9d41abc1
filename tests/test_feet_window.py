"""Planted feet in the window: the command, the strip above the keys, footprints and ghost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import SetFeet, feet_of
from panel_window import PanelWindow
from test_feet_document import slippery

import viewer
from viewer.scene import draw_list

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(slippery().document.character)
    yield made
    made.close()


def test_the_command_plants_says_so_and_switches(window: PanelWindow) -> None:
    assert window.controller.checked("feet.plant") is False
    assert window.controller.run("feet.plant")
    assert window.controller.checked("feet.plant") is True
    said = window.controller.view.bar.messages[-1].text
    assert said.startswith("Feet slid ")
    assert "cm/s, now 0.00; pelvis at most " in said
    window.controller.run("feet.plant")
    feet = feet_of(window.session.document)
    assert feet is not None
    assert not feet.on
    assert "cm/s, as in the motion" in window.controller.view.bar.messages[-1].text
    window.controller.run("feet.remove")
    assert feet_of(window.session.document) is None
    assert not window.controller.can("feet.remove")
    assert not window.controller.can("feet.find")


def test_footprints_are_where_the_feet_stand(window: PanelWindow) -> None:
    window.controller.run("feet.plant")
    prints = window.controller.scene().footprints
    assert len(prints) >= 3
    assert {one.side for one in prints} == {"left", "right"}
    assert all(one.planted for one in prints)
    window.session.seek(10)
    (now,) = [one for one in window.controller.scene().footprints if one.now]
    assert now.side == "left"
    skeleton, pose = window.session.document.skeleton, window.session.document.pose
    ankle = viewer.fk(skeleton, pose).positions[skeleton.index("LeftFoot")]
    np.testing.assert_allclose(now.heel, ankle, atol=1e-6)
    window.session.dispatch(SetFeet(on=False))
    assert not any(one.planted for one in window.controller.scene().footprints)


def test_with_ghosts_there_is_one_of_the_figure_before(window: PanelWindow) -> None:
    window.controller.run("feet.plant")
    assert not window.controller.scene().ghosts
    window.controller.run("show.ghosts")
    assert "before" in [ghost.label for ghost in window.controller.scene().ghosts]


def test_a_bar_is_dragged_and_the_eye_switches(window: PanelWindow) -> None:
    window.controller.run("feet.plant")
    window.ui.layout.extra = 60.0
    window.ui.regions = window.ui.layout.regions(window.size, 1.0)
    window.frames(4)
    lane, view = window.box("timeline", "contacts"), window.controller.keying.time_view
    feet = feet_of(window.session.document)
    assert feet is not None
    bar = next(one for one in feet.contacts if (one.foot, one.point) == ("LeftFoot", "ball"))
    wide = lane.right - lane.left - 28.0

    def at(frame: float) -> tuple[float, float]:
        return lane.left + 14.0 + (frame - view.start) / view.span * wide, lane.top + 2.0 + 14.0 * 1.5

    window.move(at(bar.last + 0.4))
    window.frames(3)
    window.button(down=True)
    for frame in (bar.last + 1.4, bar.last + 2.4, bar.last + 3.4):
        window.move(at(frame))
    window.button(down=False)
    window.frames(2)
    after = feet_of(window.session.document)
    assert after is not None
    assert [one.last for one in after.contacts if one[:3] == bar[:3]] == [bar.last + 3]
    assert window.session.history.labels[-1] == "Contact of a foot"
    window.move(window.box("timeline", "feet eye").middle)
    window.frames(2)
    window.button(down=True)
    window.button(down=False)
    window.frames(2)
    after = feet_of(window.session.document)
    assert after is not None
    assert not after.on


def test_soles_are_drawn_flat_on_the_floor_and_empty_where_feet_slide(window: PanelWindow) -> None:
    projection = window.controller.camera.projection((800, 600))
    bare = draw_list(window.controller.scene(), projection, 1.0)
    window.controller.run("feet.plant")
    scene = window.controller.scene()
    planted_list = draw_list(scene, projection, 1.0)
    soles = planted_list.triangles["position"][len(bare.triangles) :].reshape(-1, 3)
    assert len(soles) > 0
    assert np.ptp(soles[:, 1]) < 1e-6
    for one in scene.footprints:  # each sole is under its ankle and reaches ahead of it
        near = soles[np.linalg.norm(soles[:, ::2] - one.heel[::2], axis=1) < 0.35]
        ahead = (near[:, ::2] - one.heel[::2]) @ (one.way[::2] / np.linalg.norm(one.way))
        assert ahead.max() > np.linalg.norm(one.way) > 0.0 > ahead.min()
    window.session.dispatch(SetFeet(on=False))
    sliding = draw_list(window.controller.scene(), projection, 1.0)
    assert len(sliding.triangles) == len(bare.triangles)
    assert len(sliding.lines) > len(bare.lines)
