"""Planted feet of a document: part of what is played and exported, switched, weighed, undone, kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.document import (
    AddProp,
    DeleteKeys,
    KeyPose,
    PlantedContact,
    PlantedFeet,
    PlantFeet,
    Prop,
    RemoveFeet,
    RemoveProp,
    RenameJoint,
    SetAutoKey,
    SetContact,
    SetCoordinate,
    SetFeet,
    SetKeyValue,
    SetLength,
    SetPin,
    SetProp,
    Shape,
    SimplifyKeys,
    TurnJoint,
    baked_clip,
    feet_of,
    frame_pose,
    known,
    motion_of,
    planted_feet,
)
from inside.motion import Contact, Contacts, FootContacts
from inside.spatial import exp, multiply
from inside.ui import dragged, room_of, split
from sessions import session
from takes import shows_motion, turn

import viewer
from viewer import JointKind
from viewer.document import new_document
from viewer.errors import InputError
from viewer.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.document import Document
    from viewer.motion import MovingFeet, PlantedFrames


def slippery() -> Session:
    """The walk with its root's path 1.15 times as long."""
    character = viewer.load("sample:walk")
    assert character.clip is not None
    places = character.clip.local_translations()
    places[:, 0, ::2] *= 1.15
    clip = character.clip.with_motion(character.clip.rotations, places)
    return Session(new_document(replace(character, clips={clip.name: clip})))


@pytest.fixture
def walking() -> Session:
    made = slippery()
    made.dispatch(PlantFeet())
    return made


def slide(document: Document) -> float:
    feet = feet_of(document)
    assert feet is not None
    by_foot: dict[str, list[Contact]] = {}
    for one in feet.contacts:
        by_foot.setdefault(one.foot, []).append(Contact(one.point, one.first, one.last))
    contacts = Contacts(tuple(FootContacts(name, "", tuple(some)) for name, some in by_foot.items()))
    return viewer.skate(document.skeleton, baked_clip(document), contacts).slide_cm_s


def test_planted_feet_are_played_and_exported_and_switching_them_off_gives_the_clip(walking: Session) -> None:
    clip = walking.document.clip_data
    assert clip is not None
    assert slide(walking.document) < 1e-3
    made = baked_clip(walking.document)
    for frame in (0, 5, 30, 67):
        assert frame_pose(walking.document, frame).same_as(made.pose(frame))
    walking.dispatch(SetFeet(on=False))
    assert slide(walking.document) > 5.0
    np.testing.assert_array_equal(baked_clip(walking.document).rotations, clip.rotations)
    np.testing.assert_array_equal(baked_clip(walking.document).translations, clip.translations)
    assert walking.history.labels[-2:] == ("Plant feet", "Planted feet off")
    walking.undo()
    np.testing.assert_array_equal(baked_clip(walking.document).rotations, made.rotations)
    walking.dispatch(RemoveFeet())
    assert feet_of(walking.document) is None
    np.testing.assert_array_equal(baked_clip(walking.document).rotations, clip.rotations)


def test_a_weight_goes_part_of_the_way(walking: Session) -> None:
    full = slide(walking.document)
    slides = []
    for weight in (0.75, 0.5, 0.25):
        walking.dispatch(SetFeet(weight=weight))
        slides.append(slide(walking.document))
    assert full < slides[0] < slides[1] < slides[2]
    walking.dispatch(SetFeet(weight=0.0))
    clip = walking.document.clip_data
    assert clip is not None
    np.testing.assert_array_equal(baked_clip(walking.document).rotations, clip.rotations)


def test_keys_below_are_planted_too(walking: Session) -> None:
    walking.seek(30)
    walking.dispatch(SetCoordinate("LeftLeg", 0, 0.2))
    walking.dispatch(KeyPose())
    assert slide(walking.document) < 1e-3


@pytest.mark.parametrize("auto_key", [False, True])
def test_what_is_keyed_under_the_feet_is_shown_as_it_is_played(walking: Session, auto_key: bool) -> None:
    walking.dispatch(SetAutoKey(on=auto_key))
    walking.seek(30)
    turn(walking, "LeftLeg", (0.3, 0.0, 0.0))
    walking.dispatch(KeyPose())
    assert shows_motion(walking)
    steps = walking.history.labels
    walking.dispatch(KeyPose())  # what is shown comes from the keys that are there
    assert walking.history.labels == steps
    shown = walking.document.pose
    walking.seek(28)
    walking.dispatch(SetKeyValue("LeftLeg", 30, 0, 0.6))
    assert shows_motion(walking)
    walking.seek(30)
    assert not walking.document.pose.is_near(shown)


def test_feet_switched_off_keep_what_was_planted(walking: Session) -> None:
    take = walking.document.take
    assert take is not None
    walking.dispatch(SetFeet(on=False))
    walking.dispatch(SetFeet(on=True))
    again = walking.document.take
    assert again is not None
    assert again.solved == take.solved


def test_a_renamed_foot_stays_planted(walking: Session) -> None:
    walking.dispatch(RenameJoint("LeftFoot", "hoof"))
    feet = feet_of(walking.document)
    assert feet is not None
    assert {one.foot for one in feet.contacts} == {"hoof", "RightFoot"}
    assert slide(walking.document) < 1e-3


def test_edited_legs_are_planted_anew(walking: Session) -> None:
    walking.dispatch(SetLength("LeftUpLeg", 0.5))
    assert slide(walking.document) < 1e-3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight": 2.0}, "feet: weight: expected a finite number, 0 to 1, found 2"),
        ({"blend": 0.0}, "feet: blend: expected a finite number, 0.01 to 10, found 0"),
        ({"pelvis": -1.0}, "feet: pelvis: expected a finite number, 0 to 1e+06, found -1"),
        ({"on": 1}, "feet: on: expected True or False, found 1"),
        ({"contacts": (PlantedContact("LeftFoot", "toe", 1, 2),)},
         'contact of "LeftFoot": expected a point "heel" or "ball", found "toe"'),
        ({"contacts": (PlantedContact("LeftFoot", "heel", 3, 2),)},
         'contact of "LeftFoot": expected frames in order, found 3 to 2'),
    ],
)  # fmt: skip
def test_numbers_out_of_range_are_refused(walking: Session, changes: dict[str, object], message: str) -> None:
    before = walking.document
    with pytest.raises(InputError) as raised:
        walking.dispatch(SetFeet(**changes))
    assert str(raised.value) == message
    assert walking.document is before


def test_without_motion_or_feet_there_is_nothing_to_plant() -> None:
    still = session("biped")
    with pytest.raises(InputError, match=r"^there is no motion whose feet could be planted: load a clip, or set keys$"):
        still.dispatch(PlantFeet())
    with pytest.raises(InputError, match=r"^no feet are planted$"):
        still.dispatch(SetFeet(on=False))
    with pytest.raises(InputError, match=r"^no feet are planted$"):
        still.dispatch(RemoveFeet())


def feet(*contacts: tuple[int, int]) -> PlantedFeet:
    return PlantedFeet(contacts=tuple(PlantedContact("LeftFoot", "heel", *ends) for ends in contacts))


def ends(contacts: tuple[PlantedContact, ...]) -> list[tuple[int, int]]:
    return [(one.first, one.last) for one in contacts]


def test_bars_stop_at_their_neighbours_and_at_the_ends_of_the_motion() -> None:
    some = feet((5, 10), (20, 30))
    assert ends(dragged(some, 0, "last", 40, 60)) == [(5, 19), (20, 30)]
    assert ends(dragged(some, 1, "first", 3, 60)) == [(5, 10), (11, 30)]
    assert ends(dragged(some, 0, "first", 40, 60)) == [(10, 10), (20, 30)]
    assert ends(dragged(some, 0, "all", -9, 60)) == [(0, 5), (20, 30)]
    assert ends(dragged(some, 1, "all", 90, 60)) == [(5, 10), (50, 60)]
    assert room_of(some, some.contacts[0], 7, 60) == (0, 19)
    other = PlantedFeet(contacts=(*some.contacts, PlantedContact("LeftFoot", "ball", 12, 15)))
    assert ends(dragged(other, 0, "last", 14, 60))[0] == (5, 14)


def test_a_split_leaves_a_frame_out() -> None:
    (one,) = feet((5, 10)).contacts
    assert ends(split(one, 7)) == [(5, 6), (8, 10)]
    assert ends(split(one, 5)) == [(6, 10)]


def test_feet_step_on_props_while_contact_counts_and_follow_them(walking: Session) -> None:
    def highest() -> float:
        clip = baked_clip(walking.document)
        return float(viewer.fk_clip(walking.document.skeleton, clip).positions[:, 0, 1].max())

    low = highest()
    box = Prop(name="box", shape=Shape.BOX, center=(0.0, 0.05, 1.2), size=(2.0, 0.1, 1.0))
    walking.dispatch(AddProp(box))
    assert highest() == low  # contact is off
    walking.dispatch(SetContact(on=True))
    assert highest() > low + 0.05
    assert slide(walking.document) < 1e-3
    walking.dispatch(SetProp("box", center=(9.0, 0.05, 1.2)))
    assert highest() == pytest.approx(low, abs=1e-9)
    walking.undo()
    assert highest() > low + 0.05
    walking.dispatch(RemoveProp("box"))
    assert highest() == low


# Planting near a change


def long_walk(name: str = "sample:walk", frames: int = 900) -> Session:
    """A motion forth and back as often as it takes, slipping, with planted feet."""
    character = viewer.load(name)
    assert character.clip is not None
    once = len(character.clip)
    there = np.arange(frames) % (2 * once - 2)
    some = np.where(there < once, there, 2 * once - 2 - there)
    places = character.clip.local_translations()[some]
    places[:, 0, ::2] *= 1.1
    clip = character.clip.with_motion(character.clip.rotations[some], places)
    made = Session(new_document(replace(character, clips={clip.name: clip})))
    made.dispatch(PlantFeet())
    return made


def noisy_walk() -> Session:
    """As `long_walk`, of a capture that shakes."""
    quiet = long_walk(frames=900)
    clip, random = quiet.document.clip_data, np.random.default_rng(5)
    assert clip is not None
    turns = multiply(clip.rotations, exp(0.006 * random.normal(size=(*clip.rotations.shape[:2], 3))))
    shaken = clip.with_motion(turns, clip.local_translations() + 0.003 * random.normal(size=(len(clip), 1, 3)))
    made = Session(new_document(replace(quiet.document.character, clips={clip.name: shaken})))
    made.dispatch(PlantFeet())
    return made


def robot_walk() -> Session:
    """A walk of a figure whose knees are hinges."""
    walk = long_walk(frames=700).document.character
    knees = [walk.skeleton.index(name) for name in ("LeftLeg", "RightLeg")]
    kinds = tuple(JointKind.HINGE if joint in knees else kind for joint, kind in enumerate(walk.skeleton.kinds))
    axes = walk.skeleton.axes.copy()
    axes[knees, 0] = 1.0, 0.0, 0.0
    rig = replace(walk.skeleton, kinds=kinds, axes=axes, limits=(None,) * len(kinds))
    made = Session(new_document(replace(walk, skeleton=rig)))
    made.dispatch(PlantFeet())
    return made


def as_planted_all(made: Session) -> None:
    """Assert that the planted frames, and what is known of them, are those of planting all frames."""
    document = made.document
    assert document.take is not None
    afresh = planted_feet._planted(planted_feet._inputs(document, motion_of(document), document.take))
    found = known(document)
    assert afresh is not None
    assert found is not None
    stretches = [one for one in document.take.solved if one.planted]
    for mine, its in zip(stretches, afresh[1], strict=True):
        assert mine.first == its.first
        np.testing.assert_allclose(mine.rotations, its.rotations, rtol=0, atol=1e-9)
        np.testing.assert_allclose(mine.translations, its.translations, rtol=0, atol=1e-9)
    whole = afresh[0]
    np.testing.assert_allclose(found.shift, whole.shift, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.missed, whole.missed, rtol=0, atol=1e-9)
    assert found.changes.keys() == whole.changes.keys()
    for key, change in found.changes.items():
        np.testing.assert_allclose(change.paths, whole.changes[key].paths, rtol=0, atol=1e-9)
        assert change.drift_cm == pytest.approx(whole.changes[key].drift_cm, abs=1e-7)
    assert found.words == whole.words


@pytest.mark.parametrize("motion", [long_walk, noisy_walk, robot_walk])
def test_planting_near_a_change_is_planting_all(motion: Callable[[], Session], monkeypatch: pytest.MonkeyPatch) -> None:
    made, random = motion(), np.random.default_rng(11)
    widths: list[int] = []
    plant = planted_feet._plant

    def counting(asked: Any, moving: MovingFeet, contacts: Contacts, *, own: bool) -> PlantedFrames:  # noqa: ANN401
        widths.append(len(moving.clip))
        return plant(asked, moving, contacts, own=own)

    monkeypatch.setattr(planted_feet, "_plant", counting)
    frames = made.document.frames
    at = int(random.integers(100, frames - 100))
    for step in range(4):
        made.seek(min(max(at + int(random.integers(-40, 40)), 0), frames - 1))
        joint = ("LeftLeg", "Hips", "RightUpLeg")[step % 3]
        made.dispatch(TurnJoint(joint, tuple(exp(0.15 * random.normal(size=3)).tolist())))
        widths.clear()
        made.dispatch(KeyPose(joints=(joint,)))
        assert widths[-1] < frames
        as_planted_all(made)
    for _ in range(3):
        feet = feet_of(made.document)
        assert feet is not None
        number = int(random.integers(0, len(feet.contacts)))
        one = feet.contacts[number]
        changed = one._replace(last=max(one.first, one.last - 2), ignored=bool(random.integers(0, 2)))
        widths.clear()
        made.dispatch(SetFeet(contacts=(*feet.contacts[:number], changed, *feet.contacts[number + 1 :])))
        assert widths[-1] < frames
        as_planted_all(made)
    take = made.document.take
    assert take is not None
    made.dispatch(DeleteKeys(take.keys_at(take.frames[0])))
    as_planted_all(made)


def test_keys_at_the_ends_and_far_from_each_other_and_all_at_once() -> None:
    made = long_walk(frames=800)
    for frame in (0, 799, 400):
        made.seek(frame)
        made.dispatch(TurnJoint("Hips", (0.05, 0.0, 0.0, 0.9987)))
        made.dispatch(KeyPose())
        as_planted_all(made)
    made.dispatch(SimplifyKeys(0.01))
    as_planted_all(made)


def test_keys_that_the_feet_do_not_depend_on_plant_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = long_walk(frames=300)
    before = known(made.document)
    monkeypatch.setattr(planted_feet, "_plant", None)
    made.seek(100)
    made.dispatch(TurnJoint("LeftArm", (0.2, 0.0, 0.0, 0.98)))
    made.dispatch(KeyPose(joints=("LeftArm",)))
    made.dispatch(SetFeet(weight=0.0))
    made.seek(250)
    made.dispatch(KeyPose())  # of legs as they are
    assert known(made.document) is before


def test_a_stretch_in_which_the_capture_is_lost_stays_lost() -> None:
    quiet = long_walk(frames=400)
    clip = quiet.document.clip_data
    assert clip is not None
    places = clip.local_translations()
    places[200:203, 0] += 5.0
    wild = clip.with_motion(clip.rotations, places)
    made = Session(new_document(replace(quiet.document.character, clips={clip.name: wild})))
    made.dispatch(PlantFeet())
    found = known(made.document)
    assert found is not None
    assert found.away[200:203].all()
    for frame in (190, 202):
        made.seek(frame)
        made.dispatch(TurnJoint("LeftLeg", (0.1, 0.0, 0.0, 0.995)))
        made.dispatch(KeyPose(joints=("LeftLeg",)))
        as_planted_all(made)


def test_keys_whose_pins_cannot_be_held_change_under_planted_feet(walking: Session) -> None:
    for foot in ("LeftFoot", "RightFoot"):
        walking.dispatch(SetPin(foot, position=True, rotation=True))
    for frame in (10, 40):  # the pins stay behind
        walking.seek(frame)
        walking.dispatch(KeyPose())
    for _ in range(2):
        turn(walking, "Hips", (0.0, 0.0, 0.1))
        walking.dispatch(KeyPose())
        as_planted_all(walking)
