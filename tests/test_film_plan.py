"""What a film of the window shows, how long it is, what its files are called. Nothing is drawn."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.cli import RenderOptions, fields_of
from inside.document import actions as act, frame_pose
from inside.formats import file_formats
from inside.session import Placement, StageFigure, State
from inside.ui import (
    FilmPlan,
    FilmProgress,
    FilmScenes,
    OnionSettings,
    ShownMotion,
    files_of,
    film,
    film_name,
    leaves_view,
    renamed,
    replace_question,
    shown_name,
    widened_camera,
)
from sessions import session
from takes import apart, keyed

from viewer.document import Item
from viewer.scene import Camera, Display

if TYPE_CHECKING:
    from pathlib import Path

    from inside.ui import FilmFormat

    from viewer.document import Document

WALK = session("walk", "numpy").document
STILL = session("biped", "numpy").document


def plan(document: Document, **changes: object) -> FilmPlan:
    frames = film.ranges(document)[0]
    made = FilmPlan(size=(320, 180), frames=frames, fps=film.default_rate(document, frames, "mp4"))
    return replace(made, **changes)  # type: ignore[arg-type]


def reel(document: Document, **changes: object) -> FilmScenes:
    return FilmScenes(ShownMotion(document), plan(document, **changes), OnionSettings())


def trimmed(first: int, last: int) -> Document:
    made = session("walk")
    made.dispatch(act.SetRange(first, last))
    return made.document


def test_what_can_be_filmed() -> None:
    assert film.ranges(WALK) == ((0, 67), None)
    assert film.ranges(trimmed(10, 40)) == ((10, 40), (0, 67), None)
    assert film.ranges(STILL) == (None,)
    assert film.ranges(keyed([0, 30]).document) == ((0, 119), None)


@pytest.mark.parametrize(
    ("rate", "form", "expected", "words"),
    [
        (30.0, "mp4", 30.0, "the take's own"),
        (120.0, "mp4", 60.0, "every 2nd frame of 120 fps"),
        (120.0, "gif", 30.0, "every 4th frame of 120 fps"),
        (50.0, "gif", 25.0, "every 2nd frame of 50 fps"),
        (1000.0, "png", 1000.0, "the take's own"),
        (1000.0, "gif", 1000.0 / 34.0, "every 34th frame of 1000 fps"),
    ],
)
def test_the_rate_is_the_takes_or_a_part_of_it(rate: float, form: FilmFormat, expected: float, words: str) -> None:
    document = session("walk").document
    clip = document.clip_data
    assert clip is not None
    clips = {clip.name: replace(clip, frame_time=1.0 / rate)}
    fast = replace(document, character=replace(document.character, clips=clips))
    assert film.default_rate(fast, (0, 67), form) == pytest.approx(expected)
    assert film.rate_words(fast, plan(fast, fps=film.default_rate(fast, (0, 67), form)), form) == words


def test_another_rate_is_said_to_be_one() -> None:
    assert film.rate_words(WALK, plan(WALK, fps=24.0), "mp4") == "resampled from 30 fps"
    assert film.rate_words(STILL, plan(STILL), "gif") == "GIF: 50 at most"
    assert [film.fastest(form) for form in film.FILM_FORMATS] == [240.0, 50.0, 240.0]
    assert [film.ordinal(n) for n in (2, 3, 4, 11, 12, 21, 112)] == [
        "2nd",
        "3rd",
        "4th",
        "11th",
        "12th",
        "21st",
        "112th",
    ]


def test_the_command_has_the_same_rates() -> None:
    checks = {field.name: field.parse for field in fields_of(RenderOptions)}
    for name, most in (("fps", file_formats.FASTEST_FPS), ("turntable", file_formats.SLOWEST_TURN)):
        check = checks[name]
        assert check is not None
        assert check(f"{most}") == most
        with pytest.raises(argparse.ArgumentTypeError):
            check(f"{most + 0.001}")


@pytest.mark.parametrize(
    ("fps", "frames"), [(30.0, (0, 67)), (24.0, (0, 67)), (60.0, (5, 9)), (7.0, (3, 3)), (0.1, (0, 3))]
)
def test_as_many_pictures_as_were_foretold(fps: float, frames: tuple[int, int]) -> None:
    wanted = plan(WALK, fps=fps, frames=frames)
    made = FilmScenes(ShownMotion(WALK), wanted, OnionSettings())
    assert made.count == film.count(WALK, wanted)
    assert made.clip is not None
    assert len(made.clip) == made.count
    lasts = (frames[1] - frames[0] + 1) / 30.0
    assert made.count / fps == pytest.approx(lasts, abs=max(0.5 / fps, 1.0 / fps if made.count == 1 else 0.0))


def test_words_of_lengths() -> None:
    assert film.length_words(68, 30.0) == "68 pictures, 2.27 s"
    assert film.length_words(1, 30.0) == "1 picture, 0.03 s"
    assert film.length_words(68, 30.0, (1280, 720)) == "68 pictures of 1280 \N{MULTIPLICATION SIGN} 720, 2.27 s"
    said = [FilmProgress("a", 9, 3, left).left_words for left in (None, 0.2, 12.4, 119.0, 200.0)]
    assert said == ["", "1 s left", "12 s left", "119 s left", "3 min left"]
    assert FilmProgress("a", 9, 9, 0.0).left_words == "writing the file"
    assert FilmProgress("a", 9, 3).words == "3 of 9"


@pytest.mark.parametrize(
    ("typed", "form", "file", "shown"),
    [
        ("walk", "mp4", "walk.mp4", "walk.mp4"),
        (" walk.gif ", "mp4", "walk.mp4", "walk.mp4"),
        ("100%.GIF", "gif", "100%.gif", "100%.gif"),
        ("a.b", "gif", "a.b.gif", "a.b.gif"),
        ("walk", "png", "walk_%04d.png", "walk_####.png"),
        ("walk.png", "png", "walk_%04d.png", "walk_####.png"),
        ("w##.png", "png", "w%02d.png", "w##.png"),
        ("w.%03d.png", "png", "w.%03d.png", "w.###.png"),
        ("50%", "png", "50%%_%04d.png", "50%_####.png"),
        ("a#b#", "png", "a#b#_%04d.png", "a#b#_####.png"),
    ],
)
def test_names(typed: str, form: FilmFormat, file: str, shown: str) -> None:
    assert film_name(typed, form) == file
    assert shown_name(typed, form) == shown
    assert film_name(shown, form) == file or "#" in typed


def test_a_name_for_another_format() -> None:
    assert renamed("walk.mp4", "png") == "walk_####.png"
    assert renamed("walk_####.png", "gif") == "walk.gif"
    assert renamed("walk.gif", "mp4") == "walk.mp4"
    assert film.form_of("A.MP4") == "mp4"
    assert film.form_of("walk") is None


def test_what_is_there_already_is_asked_about(tmp_path: Path) -> None:
    one, many = tmp_path / "a.mp4", tmp_path / "a_%02d.png"
    assert [path.name for path in files_of(many, 3)] == ["a_00.png", "a_01.png", "a_02.png"]
    assert (
        replace_question(one, 3)
        == replace_question(many, 3)
        == replace_question(tmp_path / "gone" / "a%d.png", 3)
        == ""
    )
    one.touch()
    (tmp_path / "a_02.png").touch()
    assert replace_question(one, 3) == "a.mp4 exists. Replace it?"
    assert replace_question(many, 2) == ""
    assert replace_question(many, 3) == "a_02.png exists. Replace it?"
    (tmp_path / "a_00.png").touch()
    assert replace_question(many, 3) == "2 of these 3 pictures exist. Replace them?"


def test_a_film_has_the_frames_as_they_are_played_keys_and_all() -> None:
    made = session("walk")
    made.seek(20)
    made.dispatch(act.TurnJoint("LeftArm", (0.0, 0.0, 0.6, 0.8)))
    made.dispatch(act.KeyPose(20))
    document = made.document
    shown = reel(document)
    for frame in (0, 15, 20, 25, 67):
        assert shown.pose(frame).same_as(frame_pose(document, frame))
        assert shown.scene(frame).display.goals is False
    assert apart(shown.pose(20), frame_pose(WALK, 20)) > 0.1


def test_a_part_of_the_take_begins_with_its_first_frame() -> None:
    document = trimmed(10, 40)
    assert reel(document).pose(0).same_as(frame_pose(WALK, 10))
    assert reel(document).count == 31
    every = reel(document, frames=(0, 67))
    assert every.count == 68
    assert every.pose(67).same_as(frame_pose(WALK, 67))


def test_a_reel_stays_what_it_was_when_the_session_goes_on() -> None:
    made = session("walk")
    shown, before = reel(made.document), frame_pose(made.document, 30)
    made.seek(30)
    made.dispatch(act.TurnJoint("Spine", (0.0, 0.0, 0.6, 0.8)))
    made.dispatch(act.KeyPose(30))
    assert shown.pose(30).same_as(before)


def test_a_pose_stands_still() -> None:
    shown = reel(STILL, seconds=2.0, fps=12.0)
    assert shown.count == 24
    assert shown.pose(0) is shown.pose(23) is STILL.pose


def test_nothing_but_the_figure_and_the_grid_unless_more_is_asked_for() -> None:
    made = session("walk")
    made.dispatch(act.Select((Item("joint", "Head"),)))
    plain = reel(made.document).scene(5)
    assert (plain.marks, plain.ghosts, plain.trails, plain.at_limit, plain.selected) == (
        (),
        (),
        (),
        frozenset(),
        frozenset(),
    )
    assert (plain.display.grid, plain.display.names, plain.display.goals, plain.display.limits) == (
        True,
        False,
        False,
        "none",
    )
    assert not plain.display.view_axes
    bare = reel(made.document, parts=frozenset()).scene(5)
    assert not bare.display.grid


def test_goals_ghosts_and_trails_are_those_of_the_pictures_time() -> None:
    made = session("walk")
    made.dispatch(act.Select((Item("joint", "Head"),)))
    shown = reel(made.document, parts=frozenset({"goals", "ghosts", "trails", "names"}))
    scene = shown.scene(30)
    assert {mark.name for mark in scene.marks} == {handle.effector for handle in made.document.goals}
    assert not any(mark.selected for mark in scene.marks)
    hand = next(mark for mark in scene.marks if mark.name == "LeftHand")
    assert hand.target is not None
    np.testing.assert_allclose(hand.target, hand.position, atol=1e-9)
    assert [ghost.label for ghost in scene.ghosts] == ["\N{MINUS SIGN}18", "\N{MINUS SIGN}9", "+9", "+18"]
    (trail,) = scene.trails
    head = made.document.skeleton.index("Head")
    np.testing.assert_allclose(trail.points[trail.now], scene.world.positions[head], atol=1e-9)
    assert scene.display.names


def test_between_two_frames_goals_stand_where_the_figure_does() -> None:
    scene = reel(WALK, parts=frozenset({"goals"}), fps=45.0).scene(1)
    hand = next(mark for mark in scene.marks if mark.name == "LeftHand")
    assert hand.target is not None
    np.testing.assert_allclose(hand.target, hand.position, atol=1e-9)


def test_joints_at_a_limit_are_lit_with_the_limits() -> None:
    made = session("biped")
    made.dispatch(act.SetLimits(on=True))
    lit = reel(made.document, parts=frozenset({"limits"})).scene(0)
    assert lit.display.limits == "all"
    assert {made.document.skeleton.names[joint] for joint in lit.at_limit} <= set(made.document.skeleton.names)
    assert reel(made.document).scene(0).at_limit == frozenset()


def test_the_middle_of_the_selection_is_followed() -> None:
    made = session("walk")
    assert reel(made.document).selected(3) is None
    made.dispatch(act.Select((Item("joint", "Head"),)))
    shown = reel(made.document)
    head = made.document.skeleton.index("Head")
    at = shown.selected(40)
    assert at is not None
    np.testing.assert_allclose(at, shown.scene(40).world.positions[head], atol=1e-9)


@pytest.mark.parametrize("size", [(1280, 720), (720, 1280), (300, 300)])
@pytest.mark.parametrize("flat", [False, True])
def test_a_picture_of_another_shape_has_all_that_the_view_has(size: tuple[int, int], *, flat: bool) -> None:
    view = (800, 500)
    camera = Camera(np.zeros(3), yaw=0.3, pitch=0.2, orthographic=flat)
    seen_by = widened_camera(camera, view, size)
    across = 0.98 * math.tan(0.5 * camera.fov_y) * camera.distance
    corners = np.array([x * across * 1.6 * camera.right + y * across * camera.up for x in (-1, 1) for y in (-1, 1)])
    for looked, shape in ((camera, view), (seen_by, size)):
        at = looked.projection(shape).project(corners)[..., :2] / shape
        assert at.min() > 0.0
        assert at.max() < 1.0
    edge = (seen_by.projection(size).project(corners)[..., :2] / size).min(axis=0)
    assert edge.min() < 0.02


def test_a_figure_that_walks_out_of_the_view_is_noticed_one_that_is_out_already_is_meant() -> None:
    camera = Camera(np.array([0.0, 0.9, 0.0]), distance=3.6)
    assert leaves_view(WALK, (0, 67), camera, (800, 500))
    assert not leaves_view(WALK, (0, 1), camera, (800, 500))
    assert not leaves_view(WALK, (0, 67), replace(camera, distance=60.0), (800, 500))
    assert not leaves_view(WALK, (0, 67), replace(camera, distance=0.5), (800, 500))


def test_a_film_draws_the_figure_as_the_window_does() -> None:
    veiled = Display(bodies=True, see_through=True)
    styles = (Display(), Display(skin=False), Display(bodies=True, shadow=False), veiled)
    for style in styles:
        shown = FilmScenes(ShownMotion(WALK), plan(WALK), OnionSettings(), style).scene(0).display
        assert (shown.body, shown.see_through, shown.shadow) == (style.body, style.see_through, style.shadow)


def test_figures_beside_are_filmed_at_the_same_time_and_where_they_stand() -> None:
    place, walk = Placement((1.5, 0.0, -0.5), 0.7), session("walk").document
    shown = FilmScenes(
        ShownMotion(walk, (StageFigure("other", State(session("walk").document), place),)), plan(walk), OnionSettings()
    )
    for number in (0, 7, 30):
        scene = shown.scene(number)
        (other,) = scene.others
        assert other.name == "other"
        np.testing.assert_allclose(other.world.positions, place.points(scene.world.positions), atol=1e-9)
