"""Motion trails that are dragged: an effector moves at a frame of the motion, and the frames around it follow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import (
    GoalLayer,
    Select,
    SetFrame,
    SetSolver,
    actions as act,
    falloff,
    feet_of,
    frame_pose,
    touched_frames,
)
from inside.session import load_session, save_session
from inside.spatial import angle_between
from sessions import HAND, session
from takes import keyed, take_of
from ui_person import Person

from viewer.document import Item
from viewer.errors import InputError
from viewer.scene import pick_trail
from viewer.session import Session
from viewer.skeleton import fk, limit_violation

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Floats

    from viewer.document import Document

FRAME, BY = 20, (0.08, 0.12, 0.05)


def path(document: Document, name: str = "LeftHand") -> Floats:
    """(F, 3) metres: where a joint is in each frame."""
    joint, skeleton = document.skeleton.index(name), document.skeleton
    frames = range(document.frames)
    return np.array([fk(skeleton, frame_pose(document, frame)).positions[joint] for frame in frames])


def moved(document: Document, reach: int, by: tuple[float, float, float] = BY, item: Item = HAND) -> Document:
    """The document with the left hand moved at a frame."""
    place = tuple((path(document)[FRAME] + by).tolist())
    return act.MovePoint(item, FRAME, place, reach).apply(document)


def far(before: Document, after: Document, name: str = "LeftHand") -> Floats:
    """(F,) metres by which a joint is elsewhere."""
    return np.asarray(np.linalg.norm(path(after, name) - path(before, name), axis=1))


@pytest.fixture(scope="module")
def walk() -> Document:
    return session("walk").document


def test_falloff_is_whole_at_the_frame_and_ends_beyond_the_reach() -> None:
    for reach in (0, 1, 7):
        shares = falloff(np.arange(-reach - 2, reach + 3), reach)
        assert shares[reach + 2] == 1.0
        assert (shares[:2] == 0.0).all()
        assert (shares[2:-2] > 0.0).all()
        assert (np.diff(shares[: reach + 3]) >= 0.0).all()
        np.testing.assert_allclose(shares, shares[::-1], atol=1e-15)


@pytest.mark.parametrize("reach", [1, 4, 9])
def test_frames_of_a_clip_follow_by_the_falloff_and_others_stay(walk: Document, reach: int) -> None:
    after = moved(walk, reach)
    length = float(np.linalg.norm(BY))
    expected = length * falloff(np.arange(walk.frames) - FRAME, reach)
    np.testing.assert_allclose(far(walk, after), expected, atol=2e-4)
    outside = [frame for frame in range(walk.frames) if abs(frame - FRAME) > reach]
    for frame in outside:
        assert frame_pose(after, frame).same_as(frame_pose(walk, frame)), frame
    assert take_of(after).frames == tuple(range(FRAME - reach - 1, FRAME + reach + 2))


def test_what_else_is_held_stays_in_its_place(walk: Document) -> None:
    after = moved(walk, 6)
    for name in ("RightHand", "LeftFoot", "RightFoot", "Head"):
        assert far(walk, after, name).max() < 1e-3, name


def test_without_reach_only_that_frame_gets_keys(walk: Document) -> None:
    after = moved(walk, 0)
    assert take_of(after).frames == (FRAME,)
    assert far(walk, after)[FRAME] == pytest.approx(float(np.linalg.norm(BY)), abs=2e-4)


def test_a_take_of_few_keys_keeps_to_them() -> None:
    document = keyed((0, 12, 24, 40)).document
    before = take_of(document).frames
    assert touched_frames(document, FRAME, 8).tolist() == [12, FRAME, 24]
    after = moved(document, 8)
    assert take_of(after).frames == tuple(sorted({*before, FRAME}))
    change = far(document, after)
    assert change[FRAME] == pytest.approx(float(np.linalg.norm(BY)), abs=2e-4)
    assert change[12] == pytest.approx(float(np.linalg.norm(BY) * falloff(8, 8)), abs=2e-4)
    assert change[0] == change[40] == 0.0


def test_feet_that_are_pinned_between_keys_stay_pinned() -> None:
    made = session("biped")
    made.dispatch(act.KeyPose(0))
    made.dispatch(SetFrame(40))
    hips = Item("joint", "Hips")
    made.begin_drag((hips,))
    low = fk(made.document.skeleton, made.document.pose).positions[0] - (0.0, 0.25, 0.05)
    made.gestures.drag_to({hips: (low, None)})
    for tick in range(90):
        made.tick(tick / 60.0)
    made.commit()
    made.dispatch(act.KeyPose(40))
    before = made.document
    assert before.take is not None
    assert [len(pins) for pins in before.take.pins.values()] == [2, 2]
    after = moved(before, 0, (0.0, 0.3, 0.2))
    assert take_of(after).frames == (0, FRAME, 40)
    assert far(before, after)[FRAME] > 0.2
    for foot in ("LeftFoot", "RightFoot"):
        assert far(before, after, foot).max() < 3e-3, foot
    # Without its pin, a foot that is dragged itself leaves the floor.
    lifted = act.MovePoint(
        Item("effector", "LeftFoot"), FRAME, tuple((path(before, "LeftFoot")[FRAME] + (0.0, 0.2, 0.0)).tolist())
    ).apply(before)
    assert far(before, lifted, "LeftFoot")[FRAME] == pytest.approx(0.2, abs=2e-3)
    assert far(before, lifted, "RightFoot").max() < 3e-3


def test_joints_and_the_frame_shown_are_moved_too(walk: Document) -> None:
    shown = SetFrame(FRAME).apply(walk)
    after = moved(shown, 3, item=Item("joint", "LeftHand"))
    assert after.pose.same_as(frame_pose(after, FRAME))
    assert far(walk, after)[FRAME] == pytest.approx(float(np.linalg.norm(BY)), abs=2e-4)


def test_joints_that_the_motion_has_outside_their_limits_stay_there(walk: Document) -> None:
    knee = walk.skeleton.index("RightLeg")
    own = walk.skeleton.limits[knee]
    assert own is not None
    narrow = replace(own, lower=1e-3 * np.asarray(own.lower), upper=1e-3 * np.asarray(own.upper))
    limits = tuple(narrow if joint == knee else one for joint, one in enumerate(walk.skeleton.limits))
    tight = replace(walk, skeleton=replace(walk.skeleton, limits=limits))
    assert limit_violation(tight.skeleton, frame_pose(tight, FRAME))[knee] > 0.05
    after = moved(tight, 4)
    for frame in range(FRAME - 4, FRAME + 5):
        turns = (frame_pose(one, frame).rotations[knee] for one in (tight, after))
        assert angle_between(*turns) < 0.02, frame
    assert far(tight, after)[FRAME] == pytest.approx(float(np.linalg.norm(BY)), abs=2e-4)


@pytest.mark.parametrize(
    ("frame", "reach", "position", "message"),
    [
        (900, 0, (0.0, 1.0, 0.0), "no frame 900"),
        (20, -1, (0.0, 1.0, 0.0), "reach: expected a whole number, 0 to 500, found -1"),
        (20, 501, (0.0, 1.0, 0.0), "reach: expected a whole number, 0 to 500, found 501"),
        (20, 0, (0.0, float("nan"), 0.0), 'position of "LeftHand": expected finite numbers, found nan'),
        (-1, 0, (0.0, 1.0, 0.0), "frame: expected a whole number, 0 to 999999, found -1"),
    ],
)
def test_bad_input_is_refused(
    walk: Document, frame: int, reach: int, position: tuple[float, float, float], message: str
) -> None:
    with pytest.raises(InputError) as error:
        act.MovePoint(HAND, frame, position, reach).apply(walk)
    assert message in str(error.value)


def test_it_is_said_why_a_point_cannot_be_moved(walk: Document) -> None:
    with pytest.raises(InputError, match="there is no motion: open a clip, or set keys, and drag its trail"):
        act.MovePoint(HAND, 0, (0.0, 1.0, 0.0)).apply(session("biped").document)
    locked = SetSolver(root="locked").apply(walk)
    with pytest.raises(InputError, match="cannot be moved at frame 20: no joint above it may move"):
        act.MovePoint(Item("joint", "Hips"), 20, (0.0, 1.0, 0.0)).apply(locked)
    layer = GoalLayer(id="reach", effector="LeftHand", first=10, full=(15, 25), last=30, position=(0.0, 1.2, 0.5))
    layered = act.AddLayer(layer).apply(walk)
    with pytest.raises(InputError, match=r'is placed by layer "reach" at frame 20: drag the layer.s target'):
        moved(layered, 0)
    # Elsewhere the layer acts on what the keys make of it.
    other = act.MovePoint(HAND, 40, tuple((path(walk)[40] + BY).tolist()), 3).apply(layered)
    assert far(layered, other)[40] == pytest.approx(float(np.linalg.norm(BY)), abs=2e-4)
    assert far(layered, other)[:36].max() < 1e-9


def test_it_is_one_step_and_kept_in_files(walk: Document, tmp_path: Path) -> None:
    made = Session(walk)
    made.dispatch(act.MovePoint(HAND, FRAME, tuple((path(walk)[FRAME] + BY).tolist()), 3))
    assert made.history.labels[-1] == "Move LeftHand at frame 20"
    save_session(made.document, tmp_path / "a.ikv.json")
    assert take_of(load_session(tmp_path / "a.ikv.json")).same_as(take_of(made.document))


# In the view


@pytest.fixture
def person() -> Person:
    made = Person("sample:walk")
    made.controller.session.dispatch(SetSolver(backend="numpy"))
    made.controller.session.seek(FRAME - 8)
    made.controller.session.dispatch(Select((HAND,)))
    made.controller.run("show.trails")
    made.wait()
    return made


def dot(person: Person, frame: int, name: str = "LeftHand") -> tuple[float, float]:
    """The pixel of a frame's dot."""
    return person.pixel(path(person.document, name)[frame])


def test_a_dot_under_the_pointer_is_dragged_and_frames_follow(person: Person) -> None:
    before, steps = person.document, len(person.controller.session.history)
    x, y = dot(person, FRAME)
    person.move(x, y)
    hit = person.controller.view.hovered.hit
    assert hit is not None
    assert (hit.kind, hit.place) == ("trail", FRAME)
    assert [hint.words for hint in person.controller.hints()] == ["move at frame 20", "go to frame 20"]
    person.pull((x, y), (0.0, -40.0))
    assert person.controller.session.gestures.label == "Move LeftHand at frame 20"
    near = far(before, person.document)
    person.scroll(3.0, x, y - 40.0)
    person.key("pageup")
    person.wait()
    wide = far(before, person.document)
    assert wide[FRAME] == pytest.approx(near[FRAME], abs=1e-4)
    assert near[FRAME - 5] < 1e-9
    assert wide[FRAME - 5] > 1e-3
    assert any(ghost.label == "+8" for ghost in person.controller.scene().ghosts)
    person.release(x, y - 40.0)
    person.wait()
    assert len(person.controller.session.history) == steps + 1
    assert person.pixel(path(person.document)[FRAME]) == pytest.approx((x, y - 40.0), abs=1.0)
    assert person.controller.scene().ghosts == ()
    person.key("ctrl+z")
    assert far(before, person.document).max() == 0.0
    assert person.document.frame == FRAME - 8


def test_escape_gives_the_motion_back(person: Person) -> None:
    before, steps = person.document, len(person.controller.session.history)
    person.pull(dot(person, FRAME), (20.0, -40.0))
    assert person.document.take is not before.take
    person.key("escape")
    assert person.document.take is before.take
    assert len(person.controller.session.history) == steps
    assert not person.controller.dragging


def test_a_click_goes_to_the_frame(person: Person) -> None:
    person.click(*dot(person, FRAME))
    assert person.document.frame == FRAME
    assert person.document.selection == (HAND,)


def test_no_dot_is_under_the_effector_itself_or_of_what_is_not_selected(person: Person) -> None:
    trails, projection = person.controller.scene().trails, person.controller.projection()
    at = person.controller.view.local(*dot(person, person.document.frame))
    assert pick_trail(trails, projection, *at) is None
    person.controller.session.dispatch(Select(()))
    person.wait()
    x, y = person.controller.view.local(*dot(person, FRAME))
    assert pick_trail(person.controller.scene().trails, projection, x, y) is None


def test_a_trail_is_not_dragged_where_its_foot_is_planted(person: Person) -> None:
    person.controller.run("feet.plant")
    feet = feet_of(person.document)
    assert feet is not None
    standing = {k for one in feet.contacts if one.foot == "LeftFoot" for k in range(one.first, one.last + 1)}
    person.controller.selecting.select(Item("effector", "LeftFoot"))
    person.controller.playback.go(28)  # it swings, and stands again from frame 38 on
    person.controller.run("view.frame_all")
    person.wait()
    now, take = person.document.frame, person.document.take
    for frame in sorted(standing):
        at = dot(person, frame, "LeftFoot")
        person.move(*at)
        hit = person.controller.view.hovered.hit
        if hit is not None and hit.kind == "trail" and hit.place in standing - {now}:
            break
    assert hit is not None
    person.drag(at, (20.0, -40.0))
    assert person.document.take is take
    (message,) = [one for one in person.controller.view.bar.messages if one.actions]
    assert message.text == f"LeftFoot is planted at frame {hit.place} and stays"
    person.controller.playback.go(now + 1)
    person.wait()
    assert message not in person.controller.view.bar.messages  # it is about the drag in the frame left


def test_a_locked_point_says_so_in_the_view(person: Person) -> None:
    session = person.controller.session
    session.dispatch(SetSolver(root="locked"))
    session.dispatch(Select((Item("joint", "Hips"),)))
    person.wait()
    hips = path(person.document, "Hips")[FRAME]
    before = person.document.take
    person.drag(person.pixel(hips), (0.0, -40.0))
    assert "cannot be moved at frame 20" in person.controller.view.bar.messages[-1].text
    assert person.document.take is before
    assert session.gestures.label is None
