"""Opening a motion, and framing all of it: the whole way is in view, unless it leads far away."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from ui_person import VIEW, Person

from viewer.scene import figure_points
from viewer.session import Item, actions, new_document
from viewer.skeleton.kinematics import fk
from viewer.ui import Rect, showing
from viewer.ui.travel import FARTHEST, way_of

VIEWS = [VIEW, Rect(0, 66, 668, 396), Rect(280, 66, 1296, 1000)]


def inside(person: Person, frame: int) -> bool:
    """Whether the figure is in view at a frame."""
    document = person.document
    points = figure_points(document.skeleton, fk(document.skeleton, document.frame_pose(frame)))
    projection = person.controller.projection()
    return bool(projection.inside(projection.project(points)).all())


def strider(times: float) -> Person:
    """At the window of somebody who walks so many times as far."""
    person = Person("sample:walk")
    character = person.document.character
    (name, clip), *_ = character.clips.items()
    moved = clip.translations.copy()
    moved[..., 2] = times * (moved[..., 2] - moved[:1, :, 2]) + moved[:1, :, 2]
    clips = MappingProxyType({name: replace(clip, translations=moved)})
    showing.show(person.controller, new_document(replace(character, clips=clips)))
    return person


@pytest.mark.parametrize("view", VIEWS)
def test_every_frame_is_in_view_when_a_clip_is_opened(view: Rect) -> None:
    person = Person("sample:walk")
    person.controller.viewport = view
    assert all(inside(person, frame) for frame in range(person.document.frames))


def test_where_the_way_is_long_the_figure_is_framed() -> None:
    person = strider(10.0)
    height = person.controller.picture.height
    assert np.ptp(way_of(person.document), axis=0).max() > FARTHEST * height
    assert inside(person, 0)
    assert not inside(person, person.document.frames - 1)
    feet_to_head = person.controller.projection().project(person.controller.picture.figure_points())
    assert np.ptp(feet_to_head[:, 1]) > 0.5 * VIEW.h
    person.key("shift+right", "home")
    assert inside(person, person.document.frames - 1)


@pytest.mark.parametrize("key", ["f", "home", "a"])
def test_framing_all_is_alike_at_every_frame(key: str) -> None:
    person = Person("sample:walk")
    opened = person.controller.camera
    person.controller.camera_moves.zoom(3.0, 300.0, 200.0)
    person.key(key)
    assert np.abs(person.controller.camera.target - opened.target).max() < 1e-9
    assert person.controller.camera.distance == pytest.approx(opened.distance)
    person.key("shift+right", key)
    assert all(inside(person, frame) for frame in range(person.document.frames))


def test_what_is_selected_is_still_framed_alone() -> None:
    person = Person("sample:walk")
    far = person.controller.camera.distance
    person.controller.selecting.select(Item("joint", "Head"))
    person.key("f")
    assert person.controller.camera.distance < 0.5 * far


def test_keys_count_and_poses_without_motion_have_no_way() -> None:
    person = Person("sample:biped")
    assert len(way_of(person.document)) == 0
    session = person.controller.session
    session.dispatch(actions.KeyPose())
    session.seek(30)
    session.begin_drag((Item("joint", "Hips"),))
    session.drag_to({Item("joint", "Hips"): ((1.5, 0.95, 0.0), None)})
    person.wait(1.0)
    session.commit()
    session.dispatch(actions.KeyPose())
    person.key("home")
    assert inside(person, 0)
    assert inside(person, 30)
