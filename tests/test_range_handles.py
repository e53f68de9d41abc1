"""Ends of ranges in the view: where they are, and dragging them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.document import Select, SetJointLimits, with_ranges
from inside.scene import range_ends, way_of
from inside.skeleton import joint_space
from inside.ui import end_handles
from strategies import seeds
from test_scene_limits import FORMS, inside, limited_rig, rig
from ui_person import Person

from viewer.document import Item
from viewer.scene import Display
from viewer.skeleton import JointKind, JointLimits, fk

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.scene import RangeEnd
    from viewer.skeleton import Skeleton

COUNTS = {"hinge": 2, "universal": 4}


def ranges(skeleton: Skeleton, joint: int) -> list[tuple[float, float]]:
    limits = skeleton.limits[joint]
    assert limits is not None
    return [*zip(limits.lower.tolist(), limits.upper.tolist(), strict=True)]


@given(st.sampled_from(FORMS), seeds)
def test_an_end_moves_along_its_way(form: str, seed: int) -> None:
    skeleton, random = limited_rig(form, seed), np.random.default_rng(seed)
    pose = inside(skeleton, seed)
    world, at_now = fk(skeleton, pose), joint_space(skeleton).measure(pose.rotations, pose.translations)
    ends = range_ends(skeleton, world, 1)
    assert len(ends) == COUNTS.get(form, 6)
    assert len({(end.place, end.upper) for end in ends}) == len(ends)
    for end in ends:
        values, way = way_of(skeleton, world, end)
        at = int(random.integers(len(values)))
        low, high = ranges(skeleton, 1)[end.place]
        if not (low <= values[at] if end.upper else values[at] <= high):
            continue
        changed = ranges(skeleton, 1)
        changed[end.place] = (low, float(values[at])) if end.upper else (float(values[at]), high)
        if abs(values[at]) > 3.0 or changed[end.place][1] - changed[end.place][0] < 1e-6:
            continue
        moved = range_ends(with_ranges(skeleton, {"b": changed}), world, 1, at_now)
        (same,) = (one for one in moved if (one.place, one.upper) == (end.place, end.upper))
        np.testing.assert_allclose(same.point, way[at], atol=1e-6)


def test_a_slides_ends_go_along_its_rail_and_unlimited_ranges_have_none() -> None:
    skeleton = rig(JointKind.SLIDE, JointLimits.coordinates((-0.1, 0.2)), np.array((0.0, 0.4, 0.0)))
    world = fk(skeleton, skeleton.rest_pose())
    low, high = range_ends(skeleton, world, 1)
    assert np.linalg.norm(high.point - low.point) == pytest.approx(0.3)
    values, way = way_of(skeleton, world, high)
    np.testing.assert_allclose(way[0] + (0.2 - values[0]) / (values[1] - values[0]) * (way[1] - way[0]), high.point)
    endless = JointLimits.swing_twist(1, (-1.0, 1.0), (-math.inf, math.inf), (-math.inf, math.inf))
    ball = rig(JointKind.BALL, endless, np.array((0.0, 0.4, 0.0)))
    assert {(end.place, end.upper) for end in range_ends(ball, fk(ball, ball.rest_pose()), 1)} == {
        (0, False),
        (0, True),
    }
    assert range_ends(ball, fk(ball, ball.rest_pose()), 0) == ()


@pytest.fixture
def person() -> Person:
    made = Person("sample:walk")
    made.controller.session.dispatch(Select((Item("joint", "RightArm"),)))
    made.key("f")
    made.wait(1.0)
    return made


def handles(person: Person) -> dict[tuple[int, bool], RangeEnd]:
    found = end_handles(person.document, person.controller.view.display)
    return {(end.place, end.upper): end for end in found}


def arm(person: Person, name: str = "RightArm") -> list[tuple[float, float]]:
    return ranges(person.document.skeleton, person.document.skeleton.index(name))


def towards(person: Person, key: tuple[int, bool], degrees: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The pixel of an end, and by how many pixels it is to go to change by an angle."""
    end = handles(person)[key]
    world = person.controller.scene().world
    values, way = way_of(person.document.skeleton, world, end)
    wanted = arm(person)[key[0]][key[1]] + math.radians(degrees)
    point: Floats = way[int(np.argmin(np.abs(values - wanted)))]
    start, there = person.pixel(end.point), person.pixel(point)
    return start, (there[0] - start[0], there[1] - start[1])


@pytest.mark.parametrize("key", [(0, False), (0, True), (1, False), (1, True), (2, False), (2, True)])
def test_each_end_is_dragged_alone_in_one_step(person: Person, key: tuple[int, bool]) -> None:
    before, steps = arm(person), person.controller.session.history.index
    start, by = towards(person, key, 20.0 if key[1] else -20.0)
    person.move(*start)
    hit = person.controller.view.hovered.hit
    assert hit is not None
    assert (hit.kind, hit.name, hit.place, hit.upper) == ("limit", "RightArm", *key)
    person.drag(start, by)
    after = arm(person)
    assert abs(after[key[0]][key[1]] - before[key[0]][key[1]]) == pytest.approx(math.radians(20.0), abs=0.02)
    after[key[0]] = before[key[0]]
    assert after == before
    assert person.controller.session.history.index == steps + 1
    assert person.controller.session.history.labels[-1] == "Limits of RightArm"
    person.key("ctrl+z")
    assert arm(person) == before


def test_the_other_side_follows_while_edits_are_mirrored(person: Person) -> None:
    left, steps = arm(person, "LeftArm"), person.controller.session.history.index
    person.drag(*towards(person, (0, True), 20.0))
    assert arm(person, "LeftArm") == left
    person.key("ctrl+z")
    person.controller.view.mirror = True
    person.drag(*towards(person, (0, True), 20.0))
    changed = arm(person, "LeftArm")[0]
    assert changed != left[0]
    assert sorted(map(abs, changed)) == pytest.approx(sorted(map(abs, arm(person)[0])))
    assert person.controller.session.history.index == steps + 1


def test_it_snaps_stops_at_the_other_end_and_takes_both(person: Person) -> None:
    before = arm(person)
    start, by = towards(person, (0, True), 18.0)
    person.drag(start, by, "ctrl")
    degrees = math.degrees(arm(person)[0][1])
    assert degrees == pytest.approx(round(degrees / 5.0) * 5.0)
    assert arm(person)[0][1] != before[0][1]
    person.key("ctrl+z")
    person.pull(start, by)
    person.move(start[0] + by[0], start[1] + by[1], "alt")
    person.wait()
    low, high = arm(person)[0]
    assert low == -high
    person.key("escape")
    assert arm(person) == before
    assert not person.drags()
    person.release(*start)
    pull_along(person, (1, True), before[1][0] - 0.5)
    person.release(0.0, 0.0)
    low, high = arm(person)[1]
    assert low == high == before[1][0]


def pull_along(person: Person, key: tuple[int, bool], wanted: float) -> None:
    """Press an end and move it along its way to an angle; the button stays down."""
    end = handles(person)[key]
    values, way = way_of(person.document.skeleton, person.controller.scene().world, end)
    now = arm(person)[key[0]][key[1]]
    person.press(*person.pixel(end.point))
    for value in np.linspace(now, wanted, 40):
        person.move(*person.pixel(way[int(np.argmin(np.abs(values - value)))]))
        person.wait(0.02)


def test_the_ring_says_what_it_is_and_what_the_clip_loses(person: Person) -> None:
    start = person.pixel(handles(person)[1, True].point)
    person.move(*start)
    person.wait()

    def words() -> list[str]:
        return [text.text for text in person.controller.draw_list().texts]

    assert "Swing Y" in words()
    assert f"+{math.degrees(arm(person)[1][1]):.0f}°" in words()
    pull_along(person, (1, True), -0.2)
    (said,) = [text for text in words() if text.startswith("holds")]
    assert said.endswith(" % of the clip, was 100")
    person.release(*start)
    person.move(500.0, 90.0)
    assert not any(text.startswith("holds") for text in words())


def test_rings_are_there_only_where_ranges_are_drawn_and_in_force(person: Person) -> None:
    document, session = person.document, person.controller.session
    assert len(end_handles(document, Display())) == 6
    assert end_handles(document, Display(limits="none")) == ()
    assert end_handles(replace(document, limits_on=False), Display()) == ()
    session.dispatch(SetJointLimits("RightArm", False))
    assert end_handles(person.document, Display()) == ()
    session.undo()
    pixel = person.pixel(handles(person)[0, True].point)
    person.click(*pixel)  # a click on a ring leaves the selection alone
    assert person.document.active == Item("joint", "RightArm")
    person.controller.run("play.forwards")
    person.move(*pixel)
    hit = person.controller.view.hovered.hit
    assert hit is None or hit.kind != "limit"
