"""What the view shows of other frames: ghosts and motion trails; and which frames the timeline shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.document import actions as act, frame_pose
from inside.ui import ALPHAS, FEWEST, OnionSettings, TimeView, ghost_frames, keys_in, rows_of
from ui_person import Person

from viewer.document import Item
from viewer.scene import PALETTE
from viewer.skeleton import fk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from inside.spatial import Floats


@pytest.fixture
def person() -> Person:
    """Keys at 0, 20, 40, 60, the second of another pose; frame 40 is shown."""
    made = Person()
    key_at(made, (0, 20, 40, 60))
    made.controller.playback.go(40)
    return made


def key_at(person: Person, frames: Iterable[int]) -> None:
    for frame in frames:
        person.controller.playback.go(frame)
        if frame == 20:
            person.drag(person.at("RightHand"), (-40.0, -60.0))
        person.key("s")


@pytest.mark.parametrize(("which", "least"), [(0, 2.0), (1, 1.5)])
def test_ghosts_stand_out_from_the_background_and_less_than_the_figure(which: int, least: float) -> None:
    behind, ghost = np.array(PALETTE["bg_top"]), np.array(PALETTE["ghost"])
    seen = behind + ALPHAS[which] * (ghost - behind)
    contrast = (luminance(seen) + 0.05) / (luminance(behind) + 0.05)
    assert contrast >= least
    assert all(luminance(seen) < 0.6 * luminance(np.array(PALETTE[side])) for side in ("left", "right", "centre"))


def luminance(colour: Floats) -> float:
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def test_ghosts_stand_at_keys_two_before_and_two_after_fainter_with_distance(person: Person) -> None:
    assert person.controller.scene().ghosts == ()
    person.key("f9")
    ghosts = person.controller.scene().ghosts
    assert [(ghost.label, ghost.alpha) for ghost in ghosts] == [
        ("\u221240", ALPHAS[1]), ("\u221220", ALPHAS[0]), ("+20", ALPHAS[0]),
    ]  # fmt: skip
    skeleton = person.document.skeleton
    expected = fk(skeleton, frame_pose(person.document, 20)).positions
    assert np.array_equal(ghosts[1].world.positions, expected)
    assert len(person.controller.draw_list().ghosts) > 0
    person.key("f9")
    assert person.controller.scene().ghosts == ()


def test_ghosts_stand_at_steps_where_there_are_no_keys_or_the_user_likes_it() -> None:
    person = Person("sample:walk")
    document = person.document
    person.controller.playback.go(10)
    step = round(0.3 / document.frame_time)
    assert ghost_frames(person.document, OnionSettings(around=1)) == tuple(f for f in (10 - step, 10 + step) if f >= 0)
    assert ghost_frames(person.document, OnionSettings(around=2, step=4)) == (2, 6, 14, 18)


def test_ghosts_of_a_recording_do_not_stand_in_one_another() -> None:
    person = Person()
    key_at(person, range(12))
    person.controller.playback.go(6)
    assert ghost_frames(person.document, OnionSettings(around=2)) == (2, 10)


def test_ghosts_follow_the_keys(person: Person) -> None:
    person.key("f9")
    before = person.controller.scene().ghosts
    assert person.controller.scene().ghosts is before
    person.controller.playback.go(20)
    person.key("alt+i")
    person.controller.playback.go(40)
    assert [ghost.label for ghost in person.controller.scene().ghosts] == ["\u221240", "+20"]


def test_a_trail_goes_through_the_effectors_places(person: Person) -> None:
    person.controller.selecting.select(Item("effector", "RightHand"))
    person.key("shift+f9")
    (trail,) = person.controller.scene().trails
    assert trail.selected
    assert (len(trail.points), trail.now, trail.keys) == (61, 30, (10, 30, 50))
    assert trail.points[30] == pytest.approx(person.place("RightHand"), abs=1e-12)
    person.controller.playback.go(20)
    assert trail.points[10] == pytest.approx(person.place("RightHand"), abs=1e-12)
    assert len(person.controller.draw_list().lines) > 0


def test_without_a_selection_there_are_trails_of_all_effectors(person: Person) -> None:
    person.controller.run("select.none")
    lines = len(person.controller.draw_list().lines)
    person.key("shift+f9")
    trails = person.controller.scene().trails
    assert len(trails) == sum(1 for handle in person.document.goals if handle.enabled)
    assert not any(trail.selected for trail in trails)
    assert len(person.controller.draw_list().lines) > lines


@pytest.mark.parametrize("kind", ["midpoint", "relative"])
def test_a_goal_for_two_effectors_has_the_trails_of_both(person: Person, kind: str) -> None:
    hands = "LeftHand", "RightHand"
    person.controller.session.dispatch(act.AddGoalForTwo(*hands, kind))
    assert person.document.selection == (Item("effector", "LeftHand_2"),)
    person.key("shift+f9")
    trails = person.controller.scene().trails
    assert [trail.item for trail in trails] == [Item("effector", name) for name in hands]
    for trail, name in zip(trails, hands, strict=True):
        assert trail.selected
        assert trail.points[trail.now] == pytest.approx(person.place(name), abs=1e-12)


def test_while_it_records_there_are_neither(person: Person) -> None:
    person.key("f9", "shift+f9", "shift+r")
    scene = person.controller.scene()
    assert (scene.ghosts, scene.trails) == ((), ())


def test_rows_are_of_all_then_of_what_is_selected(person: Person) -> None:
    person.controller.selecting.select(Item("joint", "Neck"))
    rows = rows_of(person.document)
    assert [row.name for row in rows[:2]] == ["All", "Neck"]
    assert all(row.frames.tolist() == [0, 20, 40, 60] for row in rows)
    every = keys_in(person.document, rows[0], 15, 45)
    assert {key.frame for key in every} == {20, 40}
    assert len(every) == 2 * (len(rows) - 1)
    assert keys_in(person.document, rows[1], 15, 25) == ((person.document.skeleton.index("Neck"), 20),)


def test_a_view_shows_all_until_it_is_zoomed_and_follows() -> None:
    view = TimeView(total=120)
    assert (view.start, view.span) == (0.0, 119.0)
    view.total = 200
    assert view.span == 199.0
    view.zoom(5, at=100.0)
    assert view.span < 100.0
    view.follow(199.0)
    assert view.start <= 199.0 <= view.start + view.span
    view.fit()
    assert (view.start, view.span) == (0.0, 199.0)


@given(st.lists(st.tuples(st.floats(-30, 30), st.floats(0, 1)), max_size=20), st.integers(1, 100_000))
def test_zooming_keeps_the_frame_under_the_pointer_and_never_loses_the_frames(
    steps: list[tuple[float, float]], total: int
) -> None:
    view = TimeView(total=total)
    for notches, part in steps:
        at = view.start + part * view.span
        view.zoom(notches, at)
        assert view.span >= min(FEWEST, max(total - 1.0, 1.0))
        assert view.start <= total - 1.0
        assert view.start + view.span >= 0.0
    view = TimeView(total=1000)
    view.zoom(3, at=400.0)
    part = (400.0 - view.start) / view.span
    view.zoom(2, at=400.0)
    assert (400.0 - view.start) / view.span == pytest.approx(part)
