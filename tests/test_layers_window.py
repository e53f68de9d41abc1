"""Layers in the window: *Reach here*, the lanes of the timeline, and their targets in the view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.app import moved
from inside.document import GoalLayer, Select, SetLayer, frame_pose
from panel_window import PanelWindow

import viewer
from viewer.document import Item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from viewer.session import Session


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load("sample:walk"))
    yield made
    made.close()


def select(window: PanelWindow, kind: str, name: str) -> None:
    window.session.dispatch(Select((Item(kind, name),)))  # type: ignore[arg-type]


def pull(session: Session, by: tuple[float, float, float]) -> np.ndarray:
    """Drag the left hand, and where it is then."""
    start = np.array(session.document.goal("LeftHand").position)
    session.begin_drag((Item("effector", "LeftHand"),))
    session.gestures.drag_to({Item("effector", "LeftHand"): (start + by, None)})
    for tick in range(60):
        session.tick(tick / 60.0)
    session.commit()
    world = viewer.fk(session.document.skeleton, session.document.pose)
    return np.asarray(world.positions[session.document.skeleton.index("LeftHand")])


def layers(window: PanelWindow) -> tuple[GoalLayer, ...]:
    take = window.session.document.take
    return () if take is None else take.layers


def test_reach_here_keeps_what_was_dragged_at_a_frame(window: PanelWindow) -> None:
    session = window.session
    session.seek(30)
    place = pull(session, (0.1, 0.2, 0.1))
    select(window, "effector", "LeftHand")
    steps = len(session.history)
    assert window.controller.run("layer.reach")
    (made,) = layers(window)
    assert (made.effector, made.first, made.full, made.last) == ("LeftHand", 12, (27, 33), 48)
    world = viewer.fk(session.document.skeleton, frame_pose(session.document, 30))
    np.testing.assert_allclose(world.positions[session.document.skeleton.index("LeftHand")], place, atol=1e-3)
    assert session.document.pose.is_near(frame_pose(session.document, 30))
    assert session.document.active == Item("layer", made.id)
    assert session.history.labels[steps:] == ("Layer for LeftHand",)
    # Again, from another frame inside: the same layer, another target.
    session.seek(32)
    other = pull(session, (0.0, -0.2, 0.0))
    select(window, "effector", "LeftHand")
    steps = len(session.history)
    window.controller.run("layer.reach")
    assert session.history.labels[steps:] == ("Target of layer LeftHand",)
    (again,) = layers(window)
    assert again.id == made.id
    np.testing.assert_allclose(np.array(again.position), other, atol=1e-6)


def test_delete_removes_the_selected_layer(window: PanelWindow) -> None:
    window.session.seek(30)
    select(window, "effector", "LeftHand")
    window.controller.run("layer.reach")
    assert window.controller.can("goal.remove")
    window.controller.run("goal.remove")
    assert layers(window) == ()
    window.session.undo()
    assert len(layers(window)) == 1


def test_several_layers_are_removed_in_one_step(window: PanelWindow) -> None:
    for hand in ("LeftHand", "RightHand"):
        window.session.seek(30)
        select(window, "effector", hand)
        window.controller.run("layer.reach")
    there = layers(window)
    assert len(there) == 2
    window.session.dispatch(Select(tuple(Item("layer", layer.id) for layer in there)))
    window.controller.run("goal.remove")
    assert layers(window) == ()
    assert window.session.history.steps[-1].label == "Remove 2 layers"
    window.session.undo()
    assert layers(window) == there


def test_edges_push_each_other_and_stay_inside_the_motion() -> None:
    layer = GoalLayer(id="a", effector="LeftHand", first=10, full=(20, 25), last=40, position=(0, 1, 0))
    assert moved(layer, "first", 22, 60) == {"first": 22, "full": (22, 25), "last": 40}
    assert moved(layer, "full to", 5, 60) == {"first": 5, "full": (5, 5), "last": 40}
    assert moved(layer, "last", 90, 60) == {"first": 10, "full": (20, 25), "last": 60}
    assert moved(layer, "all", -9, 60) == {"first": 0, "full": (10, 15), "last": 30}
    assert moved(layer, "all", 50, 60) == {"first": 30, "full": (40, 45), "last": 60}


def test_a_lane_is_dragged_switched_and_selected(window: PanelWindow) -> None:
    window.session.seek(30)
    select(window, "effector", "LeftHand")
    window.controller.run("layer.reach")
    window.ui.layout.extra = 26.0
    window.ui.regions = window.ui.layout.regions(window.size, 1.0)
    window.frames(4)
    lane, view = window.box("timeline", "lane"), window.controller.keying.time_view
    wide = lane.right - lane.left - 28.0

    def at(frame: float) -> tuple[float, float]:
        return lane.left + 14.0 + (frame - view.start) / view.span * wide, lane.middle[1]

    window.move(at(48))
    window.frames(3)
    window.button(down=True)
    for frame in (50, 53, 56):
        window.move(at(frame))
    window.button(down=False)
    window.frames(2)
    assert layers(window)[0].last == 56
    assert window.session.history.labels[-1] == "Time of layer LeftHand"
    window.session.dispatch(SetLayer("LeftHand", weight=0.5))
    window.frames(2)
    eye = window.box("timeline", "eye")
    window.move(eye.middle)
    window.frames(2)
    window.button(down=True)
    window.button(down=False)
    window.frames(2)
    assert not layers(window)[0].on


def test_a_hand_is_held_through_the_motion(window: PanelWindow) -> None:
    session = window.session
    session.seek(30)
    select(window, "effector", "LeftHand")
    window.controller.run("layer.hold")
    (made,) = layers(window)
    assert (made.first, made.full, made.last) == (0, (0, 67), 67)
    document = session.document
    index = document.skeleton.index("LeftHand")
    for frame in (10, 20, 30, 40):
        place = viewer.fk(document.skeleton, frame_pose(document, frame)).positions[index]
        assert np.linalg.norm(place - made.position) < 1e-3


@pytest.mark.parametrize("command", ["layer.reach", "layer.hold"])
@pytest.mark.parametrize(
    ("sample", "said"),
    [
        ("walk", "select a hand, a foot or another effector"),
        ("biped", "there is no motion: open a clip, or set keys"),
    ],
)
def test_what_a_layer_lacks(command: str, sample: str, said: str) -> None:
    window = PanelWindow(viewer.load(f"sample:{sample}"))
    if sample == "biped":
        select(window, "effector", "LeftHand")
    assert not window.controller.run(command)
    assert window.controller.lacks(command) == said
    assert layers(window) == ()
    window.close()
