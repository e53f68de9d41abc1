"""Opening a motion, and framing it: the figure is large; its whole way is in view where that is asked for."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from inside.document import actions, frame_pose
from inside.ui import motion_points
from ui_person import VIEW, Person

from viewer.document import Item, new_document
from viewer.scene import figure_points
from viewer.skeleton import fk, rest_world
from viewer.ui import Rect, Workspace

VIEWS = [VIEW, Rect(0, 66, 668, 396), Rect(280, 66, 1296, 1000)]


def inside(person: Person, frame: int) -> bool:
    """Whether the figure is in view at a frame."""
    document = person.document
    points = figure_points(document.skeleton, fk(document.skeleton, frame_pose(document, frame)))
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
    person.controller.opening.show(new_document(replace(character, clips=clips)))
    return person


def tall(person: Person) -> float:
    """Part of the view's height that the figure has now."""
    pixels = person.controller.projection().project(
        figure_points(person.controller.scene().skeleton, person.controller.scene().world)
    )
    return float(np.ptp(pixels[:, 1])) / person.controller.viewport.h


def margin(person: Person) -> float:
    """Pixels between the figure, tips and all, and the nearest edge of the view."""
    pixels = person.controller.projection().project(
        figure_points(person.controller.scene().skeleton, person.controller.scene().world)
    )
    return float(min(pixels.min(), (np.array(person.controller.viewport.size) - pixels).min()))


@pytest.mark.parametrize("times", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("view", VIEWS)
def test_a_clip_opens_with_its_figure_large_and_whole(view: Rect, times: float) -> None:
    person = strider(times)
    person.controller.viewport = view
    assert tall(person) >= 0.55
    assert inside(person, 0)


def test_a_motion_in_place_opens_with_every_frame_in_view() -> None:
    person = strider(0.0)
    assert all(inside(person, frame) for frame in range(person.document.frames))


def test_a_view_that_shrinks_while_somebody_bows_still_has_every_frame_in_view() -> None:
    person = strider(0.0)
    character = person.document.character
    (name, clip), *_ = character.clips.items()
    rotations, half = clip.rotations.copy(), math.sqrt(0.5)
    rotations[30:, character.skeleton.index("Spine")] = half, 0.0, 0.0, half
    clips = MappingProxyType({name: replace(clip, rotations=rotations)})
    person.controller.opening.show(new_document(replace(character, clips=clips)))
    person.controller.playback.go(40)
    person.controller.viewport = Rect(VIEW.x, VIEW.y, VIEW.w, VIEW.h - 100)
    assert tall(person) < 0.55
    assert all(inside(person, frame) for frame in range(person.document.frames))


@pytest.mark.parametrize("key", ["home", "a"])
@pytest.mark.parametrize("times", [1.0, 10.0])
def test_framing_all_shows_the_whole_way_alike_at_every_frame(key: str, times: float) -> None:
    person = strider(times)
    person.key(key)
    first = person.controller.camera
    assert all(inside(person, frame) for frame in range(person.document.frames))
    person.key("shift+right", key)
    assert np.abs(person.controller.camera.target - first.target).max() < 1e-9
    assert person.controller.camera.distance == pytest.approx(first.distance)


def test_f_frames_the_figure_where_it_is_now() -> None:
    person = strider(10.0)
    person.key("shift+right", "f")
    assert inside(person, person.document.frames - 1)
    assert not inside(person, 0)
    assert tall(person) >= 0.55


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("keys", [("f",), ("ctrl+a", "f"), ("a",)])
def test_tips_and_toes_have_room_for_rings(view: Rect, keys: tuple[str, ...]) -> None:
    person = Person()
    person.controller.viewport = view
    person.key(*keys)
    assert margin(person) >= 19.0


def test_what_is_selected_is_still_framed_alone() -> None:
    person = Person("sample:walk")
    far = person.controller.camera.distance
    person.controller.selecting.select(Item("joint", "Head"))
    person.key("f")
    assert person.controller.camera.distance < 0.5 * far


def test_keys_count_and_poses_without_motion_have_no_way() -> None:
    person = Person("sample:biped")
    assert len(motion_points(person.document)) == 0
    session = person.controller.session
    session.dispatch(actions.KeyPose())
    session.seek(30)
    session.begin_drag((Item("joint", "Hips"),))
    session.gestures.drag_to({Item("joint", "Hips"): ((1.5, 0.95, 0.0), None)})
    person.wait(1.0)
    session.commit()
    session.dispatch(actions.KeyPose())
    person.key("home")
    assert inside(person, 0)
    assert inside(person, 30)


def seen(person: Person) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest pixel of the joints in the viewport."""
    document = person.document
    world = fk(document.skeleton, document.pose).positions
    pixels = person.controller.projection().project(world)
    return pixels.min(axis=0), pixels.max(axis=0)


def walked() -> Person:
    """A walk that leaves the view that it is opened in, seen large."""
    made = Person("sample:walk")
    made.key("f")
    made.wait(0.5)
    return made


def test_the_camera_goes_along_with_a_motion_that_would_leave_the_view() -> None:
    person = walked()
    size = np.array(person.controller.view.viewport.size)
    for frame in range(0, 68, 3):
        person.controller.playback.go(frame)
        person.wait(0.05)
        low, high = seen(person)
        assert (low >= -20.0).all()  # an arm may swing a little beyond the edge
        assert (high <= size + 20.0).all()
    person.controller.playback.go(0)
    person.wait(0.05)
    low, high = seen(person)
    assert (low >= 0.0).all()
    assert (high <= size).all()


def test_toes_and_the_marks_on_them_stay_in_view_too() -> None:
    person = walked()
    size = np.array(person.controller.view.viewport.size)
    for frame in range(0, 68, 3):
        person.controller.playback.go(frame)
        person.wait(0.05)
        document = person.document
        world = fk(document.skeleton, document.pose)
        pixels = person.controller.projection().project(figure_points(document.skeleton, world))
        assert (pixels >= 5.0).all()
        assert (pixels <= size - 5.0).all()


def test_a_camera_stays_where_the_preferences_or_the_user_want_it() -> None:
    person = walked()
    person.controller.view.preferences.keep_in_view = False
    before = person.controller.view.camera
    for frame in (20, 40, 67):
        person.controller.playback.go(frame)
        person.wait(0.05)
    assert person.controller.view.camera is before
    person = walked()
    close = replace(person.controller.view.camera, distance=0.2 * person.controller.view.camera.distance)
    person.controller.camera_moves.set(close)  # a part of the figure fills the view: it was not all in it
    for frame in (20, 40, 67):
        person.controller.playback.go(frame)
        person.wait(0.05)
    assert person.controller.view.camera is close


def test_the_figure_at_rest_is_in_view_while_its_skeleton_is_built() -> None:
    person = walked()
    person.controller.playback.go(67)
    person.key("f")
    size = np.array(person.controller.view.viewport.size)
    skeleton = person.document.skeleton
    for workspace in ("build", "build"):  # and back
        person.controller.run(f"workspace.{workspace}")
        person.wait(0.05)
        built = person.controller.view.workspace is Workspace.BUILD
        world = rest_world(skeleton) if built else fk(skeleton, person.document.pose)
        pixels = person.controller.projection().project(figure_points(skeleton, world))
        assert (pixels >= 0.0).all()
        assert (pixels <= size).all()
