"""Moving pictures: how many, what of, from where; and on their way into a file."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gl_drawing import context
from inside.formats import write_video
from inside.opengl import VIEWS, playable_fps, swept_points
from PIL import Image

import viewer
from viewer.errors import InputError, MachineError, OutputError
from viewer.opengl import Filming, make_film
from viewer.scene import Camera, figure_points
from viewer.skeleton import fk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from viewer.opengl import Film
    from viewer.skeleton import Character, Clip

SMALL = (160, 120)
BIPED, WALK = viewer.load("sample:biped"), viewer.load("sample:walk")


def walk_clip() -> Clip:
    assert WALK.clip is not None
    return WALK.clip


def swept(clip: Clip, step: int = 1) -> np.ndarray:
    """(N, 3) all joints and end sites in all frames."""
    worlds = [fk(WALK.skeleton, clip.pose(frame)) for frame in range(0, len(clip), step)]
    return np.concatenate([figure_points(WALK.skeleton, world) for world in worlds])


def far_walk(metres: float) -> Character:
    """The walk with the root carried so far ahead in the course of it."""
    clip = walk_clip()
    translations = clip.translations.copy()
    translations[:, 0, 2] += np.linspace(0.0, metres, len(clip))
    return replace(WALK, clips=MappingProxyType({"far": replace(clip, translations=translations)}))


@pytest.fixture(autouse=True)
def _a_machine_that_draws() -> None:
    context()


def test_there_is_a_picture_for_every_frame_at_the_clips_rate() -> None:
    film = make_film(WALK, size=SMALL, samples=0)
    assert len(film) == 68
    assert film.seconds == pytest.approx(walk_clip().duration)
    assert film.fps == pytest.approx(30.0, rel=1e-5)
    pose = walk_clip().pose(33)
    np.testing.assert_array_equal(film.scene(33).world.positions, fk(WALK.skeleton, pose).positions)
    picture = film.picture(33)
    assert picture.shape == (120, 160, 3)
    assert picture.dtype == np.uint8
    assert (picture != film.picture(0)).any()
    assert (film.picture(33) == picture).all()


@pytest.mark.parametrize(("fps", "count"), [(15, 34), (60, 136), (7.5, 17), (240, 544)])
def test_another_rate_keeps_the_duration(fps: float, count: int) -> None:
    film = make_film(WALK, fps=fps)
    assert (len(film), film.fps) == (count, fps)
    assert film.seconds == pytest.approx(walk_clip().duration, abs=0.5 / fps)
    number = count // 2
    frame = round(number / fps * 30)  # all of these are whole
    there = make_film(WALK).scene(frame).world.positions
    np.testing.assert_allclose(film.scene(number).world.positions, there, atol=1e-4)


def test_some_of_the_frames() -> None:
    film = make_film(WALK, frames=range(10, 21, 5))
    assert len(film) == 3
    assert film.fps == pytest.approx(6.0, rel=1e-5)
    np.testing.assert_array_equal(film.scene(1).world.positions, make_film(WALK).scene(15).world.positions)


def test_pictures_are_drawn_as_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def picture(_: Film, number: int) -> np.ndarray:
        drawn.append(number)
        return np.zeros((1, 1, 3), np.uint8)

    monkeypatch.setattr("viewer.opengl.filming.Film.picture", picture)
    pictures = iter(make_film(WALK))
    assert drawn == []
    next(pictures)
    next(pictures)
    assert drawn == [0, 1]


@pytest.mark.parametrize("camera", ["front", "side", "top", "three-quarter", (30.0, -20.0)])
@pytest.mark.parametrize("size", [(320, 180), (90, 160)])
@pytest.mark.parametrize("turntable", [False, True])
def test_all_of_the_motion_is_in_view_and_no_smaller_than_needed(
    camera: str | tuple[float, float], size: tuple[int, int], turntable: bool
) -> None:
    for character in (WALK, far_walk(25.0)):
        assert character.clip is not None
        film = make_film(character, size=size, camera=camera, turntable=turntable)
        places = swept(character.clip)
        edges = []
        for number in range(0, len(film), 9) if turntable else (0,):
            at = film.camera(number).projection(size).project(places)[..., :2] / size
            assert at.min() > 0.0
            assert at.max() < 1.0
            edges.append(np.concatenate([at.min(axis=0), 1.0 - at.max(axis=0)]))
        left, top, right, bottom = np.min(edges, axis=0)
        assert min(left, right, top, bottom) < 0.1
        if not turntable:
            assert left == pytest.approx(right, abs=0.04)
            assert top == pytest.approx(bottom, abs=0.04)


def test_the_camera_stands_still_and_so_does_the_ground() -> None:
    film = make_film(far_walk(12.0), size=(320, 180), camera="side", samples=0)
    assert all(film.camera(number).same_as(film.camera(0)) for number in range(len(film)))
    first, last = (film.picture(number).astype(int) for number in (0, 67))
    columns = np.flatnonzero(np.abs(first - last).max(axis=(0, 2)) > 2)
    # Nothing is other than it was but where it stands at first and at last, with its shadow.
    between = (columns > 90) & (columns < 230)
    assert not between.any()
    assert len(columns) > 20


def test_a_camera_may_say_how_far_away_it_is() -> None:
    assert make_film(WALK, camera=(0.0, 10.0, 9.0)).camera(5).distance == 9.0
    own = Camera(np.array([0.0, 1.0, 0.0]), distance=7.0)
    assert make_film(WALK, camera=own).camera(30).same_as(own)


def test_a_pose_is_turned_round_once() -> None:
    film = make_film(BIPED, size=SMALL, turntable=True)
    assert (len(film), film.fps, film.seconds) == (120, 30.0, 4.0)
    yaws = np.array([film.camera(number).yaw for number in range(len(film) + 1)])
    np.testing.assert_allclose(np.diff(yaws), 2.0 * np.pi / 120)
    assert film.scene(0) is film.scene(77)
    assert len({film.camera(number).distance for number in range(120)}) == 1
    relaxed = fk(BIPED.skeleton, BIPED.skeleton.relaxed_pose())
    np.testing.assert_array_equal(film.scene(3).world.positions, relaxed.positions)
    assert len(make_film(BIPED.skeleton, turntable=2.5, fps=12)) == 30
    stood = make_film(WALK, walk_clip().pose(9), turntable=1.0)
    np.testing.assert_array_equal(stood.scene(4).world.positions, make_film(WALK).scene(9).world.positions)


def test_a_motion_is_turned_round_while_it_lasts_or_as_fast_as_one_likes() -> None:
    film = make_film(WALK, turntable=True)
    assert len(film) == 68
    assert film.camera(68).yaw - film.camera(0).yaw == pytest.approx(2.0 * np.pi)
    quick = make_film(WALK, turntable=1.0)
    assert len(quick) == 68
    assert quick.camera(30).yaw - quick.camera(0).yaw == pytest.approx(2.0 * np.pi, rel=1e-4)


def test_goals_and_limits_are_shown_in_all_pictures() -> None:
    goals = [viewer.Goal.position("LeftHand", (3.0, 1.0, 0.0))]
    film = make_film(WALK, goals=iter(goals), limits=True)
    assert [len(film.scene(number).marks) for number in (0, 40)] == [1, 1]
    assert film.scene(40).display.limits == "all"
    at = film.camera(0).projection(film.size).project(np.array([[3.0, 1.0, 0.0]]))[0, :2]
    assert (at > 0).all()
    assert (at < film.size).all()


@pytest.mark.parametrize(
    ("subject", "more", "message"),
    [
        (BIPED, {}, "expected a motion or a turntable, found a still pose"),
        (BIPED, {"frames": range(3)}, "expected frames of a motion, found a pose that stands still"),
        (WALK, {"frames": range(60, 70)}, "no frame 69: the clip has 0 to 67"),
        (WALK, {"frames": range(0)}, "frames: expected at least one, found none"),
        (WALK, {"fps": 0}, "frames per second: expected more than 0 and at most 240, found 0"),
        (WALK, {"fps": 241.0}, "frames per second: expected more than 0 and at most 240, found 241"),
        (WALK, {"turntable": 0.0}, "turntable: expected more than 0 and at most 3600 seconds, found 0"),
        (WALK, {"turntable": float("nan")}, "turntable: expected more than 0 and at most 3600 seconds, found nan"),
        (WALK, {"size": (0, 5)}, "size: expected 1 to 8192 pixels either way, found 0 x 5"),
        (WALK, {"camera": "behind"}, f'camera: expected {", ".join(VIEWS)} or (yaw, pitch, distance), found "behind"'),
    ],
)  # fmt: skip
def test_what_is_no_film_is_refused_before_anything_is_drawn(
    subject: Character, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as raised:
        make_film(subject, **more)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("rate", "most", "expected"),
    [
        (30, 60, 30),
        (60, 60, 60),
        (120, 60, 60),
        (119.88, 60, 59.94),
        (100, 30, 25),
        (240, 30, 30),
        (0.1, 30, 0.1),
        (1 / 0.033333, 30, 1 / 0.033333),
    ],
)
def test_a_rate_that_can_be_played_takes_frames_as_they_are(rate: float, most: float, expected: float) -> None:
    assert playable_fps(rate, most) == pytest.approx(expected)


def test_the_outermost_places_of_a_motion_are_few_and_miss_little() -> None:
    clip = far_walk(25.0).clip
    assert clip is not None
    every = swept(clip)
    few = swept_points(WALK.skeleton, clip)
    assert len(few) <= 206
    np.testing.assert_array_equal(few.min(axis=0), every.min(axis=0))
    np.testing.assert_array_equal(few.max(axis=0), every.max(axis=0))
    directions = np.random.default_rng(7).normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    directions /= np.ptp(every, axis=0)  # so that all sides count alike
    missed = (every @ directions.T).max(axis=0) - (few @ directions.T).max(axis=0)
    assert missed.min() >= 0.0
    assert missed.max() < 0.03


def test_a_contexts_own_thread_may_ask_for_pictures() -> None:
    film = make_film(WALK, size=SMALL, samples=0)
    with context() as ctx:
        buffer = ctx.buffer(b"kept")
        pictures = [picture for _, picture in zip(range(2), film, strict=False)]
        assert buffer.read() == b"kept"
        assert ctx.error == "GL_NO_ERROR"
    assert (pictures[1] == film.picture(1)).all()


@pytest.mark.parametrize("name", ["a.gif", "a.mp4", "a_%d.png"])
def test_filming_a_step_at_a_time_writes_the_same(name: str, tmp_path: Path) -> None:
    film = make_film(WALK, frames=range(9), size=SMALL, samples=0)
    steps = [0]
    with Filming(film, tmp_path / name) as filming:
        while filming.step():
            steps.append(filming.done)
    assert (filming.done, filming.total, filming.written) == (9, 9, 9)
    assert sorted(set(steps)) == steps[:1] + list(range(1, 10))
    assert not filming.step()
    (tmp_path / "other").mkdir()
    write_video(film, tmp_path / "other" / name, fps=film.fps)
    for path in (tmp_path / "other").iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["a.gif", "a.mp4"])
def test_filming_that_is_given_up_leaves_the_old_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"old")
    film = make_film(WALK, size=SMALL, samples=0)
    with Filming(film, tmp_path / name) as filming:
        for _ in range(6):
            assert filming.step()
        filming.cancel()
        assert not filming.step()
    with Filming(film, tmp_path / name) as filming:
        filming.step()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, b"old")]
    assert not any(thread.name == "ikviewer-filming" for thread in threading.enumerate())


def test_what_cannot_be_written_is_said_before_anything_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    film = make_film(WALK, size=SMALL)
    monkeypatch.setattr("viewer.opengl.filming.render_image", never)
    with pytest.raises(InputError, match=r"a\.avi: expected a name that ends in"):
        Filming(film, "a.avi").step()
    for name in ("a.mp4", "a.gif", "a_%d.png"):
        with pytest.raises(OutputError, match="cannot be written: its folder does not exist"):
            Filming(film, tmp_path / "gone" / name).step()
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_drawn_for_a_writer_that_has_failed_and_takes_its_time_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(threading.Thread):
        def run(self) -> None:
            super().run()
            time.sleep(0.2)  # a busy machine may leave it alone here

    monkeypatch.setattr("viewer.opengl.filming.threading.Thread", Slow)
    film = make_film(WALK, size=SMALL)
    monkeypatch.setattr("viewer.opengl.filming.render_image", None)
    with pytest.raises(OutputError, match="cannot be written: its folder does not exist"):
        Filming(film, tmp_path / "gone" / "a.gif").step()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers of POSIX systems")
def test_an_interrupt_while_the_last_pictures_are_written_waits_for_the_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()

    def slowly(pictures: Iterator[object], *_: object, **__: object) -> int:
        count = len(list(pictures))
        time.sleep(0.5)
        ended.set()
        return count

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def filmed() -> None:
        with Filming(make_film(still, size=(16, 12), samples=0), tmp_path / "a.gif") as filming:
            while filming.done < filming.total:
                filming.step()
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            filming.step()

    monkeypatch.setattr("viewer.opengl.filming.write_video", slowly)
    monkeypatch.setattr("viewer.opengl.filming._PAUSE", 1.0)
    before = signal.signal(signal.SIGALRM, interrupt)
    still = replace(WALK, clips=MappingProxyType({"still": walk_clip().frames(0, 1)}))
    try:
        with pytest.raises(KeyboardInterrupt):
            filmed()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert ended.is_set()


def test_a_machine_that_cannot_draw_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise MachineError("OpenGL is missing")

    film = make_film(WALK, size=SMALL)
    monkeypatch.setattr("viewer.opengl.filming.render_image", refused)
    with pytest.raises(MachineError, match=r"^OpenGL is missing$"), Filming(film, tmp_path / "a.gif") as filming:
        filming.step()
    assert list(tmp_path.iterdir()) == []


def test_numbered_pictures_have_no_rate_that_is_too_high(tmp_path: Path) -> None:
    fast = replace(WALK, clips=MappingProxyType({"fast": replace(walk_clip().frames(0, 1), frame_time=0.001)}))
    with Filming(make_film(fast, size=(16, 12), samples=0), tmp_path / "a%d.png") as filming:
        while filming.step():
            pass
    assert filming.written == 2
    with Image.open(tmp_path / "a1.png") as image:
        assert image.size == (16, 12)
