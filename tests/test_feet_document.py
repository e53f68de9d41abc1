"""Planted feet of a document: part of what is played and exported, switched, weighed, undone, kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import (
    AddProp,
    KeyPose,
    PlantedContact,
    PlantedFeet,
    PlantFeet,
    Prop,
    RemoveFeet,
    RemoveProp,
    RenameJoint,
    SetContact,
    SetCoordinate,
    SetFeet,
    SetLength,
    SetProp,
    Shape,
    baked_clip,
    feet_of,
    frame_pose,
    planted,
)
from inside.ui import dragged, room_of, split
from sessions import session

import viewer
from viewer.document import new_document
from viewer.errors import InputError
from viewer.session import Session

if TYPE_CHECKING:
    from viewer.document import Document


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
    done = planted(document)
    assert done is not None
    return viewer.skate(document.skeleton, baked_clip(document), done.contacts).slide_cm_s


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


def test_only_what_changes_is_planted_again(walking: Session) -> None:
    take = walking.document.take
    assert take is not None
    walking.dispatch(SetFeet(on=False))
    walking.dispatch(SetFeet(on=True))
    again = walking.document.take
    assert again is not None
    np.testing.assert_array_equal(again.solved[0].rotations, take.solved[0].rotations)
    assert [one.planted for one in again.solved] == [True]


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
        ({"weight": 2.0}, "feet: weight: expected 0 to 1, found 2.0"),
        ({"blend": 0.0}, "feet: blend: expected 0.01 to 10, found 0.0"),
        ({"pelvis": -1.0}, "feet: pelvis: expected 0 to 1e+06, found -1.0"),
        ({"on": 1}, "feet: on: expected true or false, found 1"),
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
