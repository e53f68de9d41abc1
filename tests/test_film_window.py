"""A film made in the window: what is in the file, what the window does meanwhile, giving up, closing, mishaps."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.app import BUDGET, WINDOW_SHARE, Films, film_of
from inside.document import actions as act, baked_character
from inside.ui import FilmOrder, FilmPlan, FilmScenes, OnionSettings, ShownMotion
from PIL import Image
from test_video import decoded
from window_pilot import Pilot

import viewer
from viewer.opengl import Filming, make_film

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from viewer.ui import Message

SMALL = (64, 36)
FEW = (0, 11)
"""Frames of a film whose length does not matter."""
EMPTY = (300.0, 500.0)
"""A pixel of the view without figure."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where films of samples go to unless another folder is named."""
    place = tmp_path / "films"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def opened(file: str = "sample:walk", form: str = "png") -> Pilot:
    pilot = Pilot(file)
    pilot.app.controller.view.preferences.film = {"format": form, "size": "own", "own": f"{SMALL[0]}x{SMALL[1]}"}
    pilot.move(*EMPTY)
    return pilot


@pytest.fixture
def pilot(folder: Path) -> Iterator[Pilot]:  # noqa: ARG001 - the folder comes first
    made = opened()
    yield made
    made.close()


def plan(pilot: Pilot, **changes: object) -> FilmPlan:
    document = pilot.session.document
    return replace(FilmPlan(SMALL, document.played, 1.0 / document.frame_time), **changes)  # type: ignore[arg-type]


def begin(pilot: Pilot, path: Path, **changes: object) -> None:
    """Ask for a film, without the dialog."""
    pilot.app.controller.view.request("film", FilmOrder(plan(pilot, **changes), path))
    pilot.step()


def until_done(pilot: Pilot) -> None:
    for _ in range(4000):
        if not pilot.app.films.busy:
            return
        pilot.step()
    raise AssertionError("the film is never done")


def last(pilot: Pilot) -> Message:
    return pilot.app.controller.view.bar.messages[-1]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def picture(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as image:
        return np.asarray(image)


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "ikviewer-filming"]


def test_two_keys_make_a_film(pilot: Pilot, folder: Path) -> None:
    pilot.key("home")  # all of the way is in view: the film is taken from there
    pilot.settle()
    camera = pilot.app.controller.camera
    pilot.key("shift+f12")
    pilot.settle()
    pilot.key("enter")
    assert pilot.app.films.busy
    until_done(pilot)
    assert last(pilot).text == "Wrote walk_####.png: 68 pictures of 64 \N{MULTIPLICATION SIGN} 36, 2.27 s"
    assert names(folder) == [f"walk_{number:04d}.png" for number in range(68)]
    film = make_film(viewer.load("sample:walk"), size=SMALL, camera=camera)
    for number in (0, 30, 67):
        assert (picture(folder / f"walk_{number:04d}.png") == film.picture(number)).all()


@pytest.mark.parametrize("turntable", [False, True])
def test_with_all_in_view_it_is_the_film_that_the_command_makes(pilot: Pilot, folder: Path, *, turntable: bool) -> None:
    begin(pilot, folder / "a%d.png", frames=FEW, whole=True, turntable=turntable)
    until_done(pilot)
    film = make_film(viewer.load("sample:walk"), frames=range(12), size=SMALL, turntable=turntable)
    for number in (0, 5, 11):
        assert (picture(folder / f"a{number}.png") == film.picture(number)).all()


@pytest.mark.parametrize("form", ["mp4", "gif"])
def test_a_film_is_a_video_with_its_pictures(form: str, folder: Path) -> None:
    pilot = opened(form=form)
    pilot.session.dispatch(act.SetRange(10, 21))
    pilot.key("shift+f12")
    pilot.settle()
    pilot.key("enter")
    until_done(pilot)
    assert last(pilot).text.startswith(f"Wrote walk.{form}: 12 pictures of 64")
    path = folder / f"walk.{form}"
    if form == "mp4":
        assert len(decoded(path, *SMALL)) == 12
    else:
        with Image.open(path) as image:
            assert image.n_frames == 12  # type: ignore[attr-defined]
    pilot.app.controller.view.bar.choose(last(pilot), 0)
    assert pilot.app.controller.view.requests.pop()[:2] == ("show-in-folder", str(path))
    pilot.close()


def test_the_view_is_filmed_as_it_is_keys_and_all(pilot: Pilot, folder: Path) -> None:
    session = pilot.session
    session.dispatch(act.TurnJoint("LeftArm", (0.0, 0.0, 0.6, 0.8)))
    session.dispatch(act.KeyPose(0))
    pilot.drag(EMPTY, (EMPTY[0] + 80, EMPTY[1] - 30))
    pilot.settle()
    camera = pilot.app.controller.camera
    begin(pilot, folder / "a%d.png", size=(80, 45), frames=FEW)
    until_done(pilot)
    film = make_film(baked_character(session.document), frames=range(12), size=(80, 45), camera=camera)
    assert (picture(folder / "a0.png") == film.picture(0)).all()
    assert (picture(folder / "a5.png") == film.picture(5)).all()
    plain = make_film(viewer.load("sample:walk"), frames=range(12), size=(80, 45), camera=camera)
    assert (picture(folder / "a0.png") != plain.picture(0)).any()


def test_the_film_is_of_the_moment_at_which_it_was_begun(pilot: Pilot, folder: Path) -> None:
    camera = pilot.app.controller.camera
    begin(pilot, folder / "a%d.png", size=(80, 45), frames=FEW)
    pilot.app.films.step = lambda **_: False  # type: ignore[method-assign]  # nothing is drawn meanwhile
    x, y = pilot.effector("LeftHand")["screen"]
    pilot.drag((x, y), (x + 30, y - 20))
    pilot.drag(EMPTY, (EMPTY[0] + 80, EMPTY[1]))
    assert pilot.state["undo_depth"] == 1
    assert pilot.app.films.busy
    del pilot.app.films.step
    until_done(pilot)
    film = make_film(viewer.load("sample:walk"), frames=range(12), size=(80, 45), camera=camera)
    assert (picture(folder / "a11.png") == film.picture(11)).all()


def test_a_pose_is_turned_round_once(folder: Path) -> None:
    pilot = opened("sample:biped")
    pilot.key("shift+f12")
    pilot.settle()
    pilot.key("escape")
    pilot.settle()
    assert not pilot.app.films.busy
    begin(pilot, folder / "a%d.png", frames=None, fps=5.0, seconds=2.0, turntable=True, whole=True)
    until_done(pilot)
    assert last(pilot).text.endswith("10 pictures of 64 \N{MULTIPLICATION SIGN} 36, 2.00 s")
    film = make_film(pilot.session.document.character, pilot.session.document.pose, size=SMALL, fps=5.0, turntable=2.0)
    assert (picture(folder / "a7.png") == film.picture(7)).all()
    pilot.close()


def test_the_selection_stays_in_the_middle_where_the_view_follows_it(pilot: Pilot) -> None:
    pilot.app.controller.run("select.all")
    reel = FilmScenes(ShownMotion(pilot.session.document), plan(pilot), OnionSettings())
    camera = pilot.app.controller.camera
    film = film_of(reel, camera, (756, 514), follow=True)
    middle = reel.selected(40)
    assert middle is not None
    at = film.camera(40).projection(SMALL).project(middle)[:2]
    np.testing.assert_allclose(at, (SMALL[0] / 2, SMALL[1] / 2), atol=1e-6)
    assert film_of(reel, camera, (756, 514)).camera(40).same_as(camera)


@pytest.mark.parametrize(("plane", "floor"), [(None, True), ("zx", True), ("xy", False), ("yz", False)])
def test_a_body_in_a_plane_has_the_views_grid(plane: str | None, pilot: Pilot, *, floor: bool) -> None:
    document = replace(pilot.session.document, planar=plane)
    film = film_of(
        FilmScenes(ShownMotion(document), plan(pilot), OnionSettings()), pilot.app.controller.camera, (756, 514)
    )
    assert film.scene(3).plane == plane
    assert (film.disc is not None) == floor


def test_the_window_says_how_far_it_is(pilot: Pilot, folder: Path) -> None:
    begin(pilot, folder / "a.gif")
    told = pilot.app.painter.ui.film
    assert told is not None
    assert (told.name, told.total) == ("a.gif", 68)
    pilot.app.films._shown = -1.0
    for _ in range(400):
        pilot.step()
        if told.done:
            break
    assert 0 < told.done < 68
    until_done(pilot)
    pilot.step()
    assert pilot.app.painter.ui.film is None


@pytest.mark.parametrize("name", ["a.mp4", "a.gif"])
def test_a_film_that_is_given_up_leaves_the_old_file(name: str, pilot: Pilot, folder: Path) -> None:
    (folder / name).write_bytes(b"old")
    begin(pilot, folder / name)
    pilot.step(2)
    pilot.app.controller.view.request("film-cancel")
    pilot.step()
    assert not pilot.app.films.busy
    assert last(pilot).text == f"Film cancelled: {name} was not changed"
    assert (names(folder), (folder / name).read_bytes(), threads()) == ([name], b"old", [])
    (folder / name).unlink()
    begin(pilot, folder / name)
    pilot.app.controller.view.request("film-cancel")
    pilot.step()
    assert last(pilot).text == "Film cancelled: nothing was written"
    assert names(folder) == []


def test_pictures_that_are_finished_stay(pilot: Pilot, folder: Path) -> None:
    begin(pilot, folder / "a%d.png")
    for _ in range(3):
        pilot.app.films.step(moving=False)
    pilot.app.controller.view.request("film-cancel")
    pilot.step()
    written = len(names(folder))
    assert 0 < written < 68
    assert last(pilot).text == f"Film cancelled: {written} of 68 pictures were written"
    for path in folder.iterdir():
        assert picture(path).shape == (36, 64, 3)


def test_escape_gives_up_nothing(pilot: Pilot, folder: Path) -> None:
    begin(pilot, folder / "a.gif")
    pilot.key("escape")
    pilot.key("escape")
    assert pilot.app.films.busy


def test_one_film_at_a_time(pilot: Pilot, folder: Path) -> None:
    begin(pilot, folder / "a.gif")
    begin(pilot, folder / "b.gif")
    assert last(pilot).text.startswith("a.gif is being filmed: ")
    assert last(pilot).text.endswith(" of 68 pictures. One film at a time")
    pilot.app.controller.run("file.film")
    pilot.step(3)
    assert not pilot.app.painter.capture.modal
    until_done(pilot)
    assert names(folder) == ["a.gif"]


def test_closing_the_window_is_asked_about_and_may_wait(pilot: Pilot, folder: Path) -> None:
    begin(pilot, folder / "a.gif", frames=FEW)
    pilot.app.device.closing = True
    pilot.step(3)
    ended = [pilot.app.finished]
    assert pilot.app.painter.capture.modal
    pilot.key("enter")  # close when it is done
    until_done(pilot)
    pilot.step(2)
    ended.append(pilot.app.finished)
    assert ended == [False, True]
    assert names(folder) == ["a.gif"]


def unsaved(pilot: Pilot) -> None:
    pilot.session.dispatch(act.TurnJoint("LeftArm", (0.0, 0.0, 0.6, 0.8)))


def discard_and_film(pilot: Pilot, path: Path) -> None:
    """Film what is not saved, close the window and give the changes up: the question about the film is open."""
    unsaved(pilot)
    begin(pilot, path, frames=FEW)
    pilot.app.films.step = lambda **_: False  # type: ignore[method-assign]  # nothing is drawn meanwhile
    pilot.key("ctrl+q")
    pilot.answer("Discard")
    pilot.app.painter.ui.requests.clear()
    pilot.step(3)
    del pilot.app.films.step


def test_what_was_given_up_is_not_asked_about_again(pilot: Pilot, folder: Path) -> None:
    discard_and_film(pilot, folder / "a.gif")
    pilot.answer("Close when done")
    pilot.step(2)
    assert pilot.app.films.progress is not None
    assert pilot.app.films.progress.closes
    ended = [pilot.app.finished]
    until_done(pilot)
    pilot.step(2)
    ended.append(pilot.app.finished)
    assert ended == [False, True]
    assert names(folder) == ["a.gif"]


def test_what_is_changed_meanwhile_is_asked_about(pilot: Pilot, folder: Path) -> None:
    discard_and_film(pilot, folder / "a.gif")
    pilot.answer("Close when done")
    pilot.step(2)
    pilot.session.dispatch(act.TurnJoint("LeftArm", (0.0, 0.6, 0.0, 0.8)))
    until_done(pilot)
    pilot.step(3)
    assert not pilot.app.finished
    assert pilot.app.painter.capture.modal


@pytest.mark.parametrize("answer", ["", "Keep open"])
def test_a_film_that_ends_before_the_answer_keeps_no_window_open(answer: str, pilot: Pilot, folder: Path) -> None:
    begin(pilot, folder / "a.gif", frames=FEW)
    pilot.app.device.closing = True
    pilot.step(3)
    if answer:
        pilot.answer(answer)
    until_done(pilot)
    pilot.step(3)
    assert pilot.app.finished == (not answer)


def test_a_window_that_closes_leaves_nothing_half_written(folder: Path) -> None:
    pilot = opened()
    (folder / "a.mp4").write_bytes(b"old")
    begin(pilot, folder / "a.mp4")
    pilot.app.device.closing = True
    pilot.step(3)
    pilot.answer("Stop and close")
    pilot.step(2)
    assert pilot.app.finished
    pilot.close()
    assert ((folder / "a.mp4").read_bytes(), names(folder), threads()) == (b"old", ["a.mp4"], [])
    other = opened()
    begin(other, folder / "b.gif")
    other.close()  # whatever ended it
    assert (names(folder), threads()) == (["a.mp4"], [])


@pytest.mark.parametrize("name", ["a.mp4", "a.gif"])
def test_a_folder_that_goes_meanwhile_is_said(name: str, pilot: Pilot, folder: Path) -> None:
    begin(pilot, folder / "deep" / name, frames=FEW)
    until_done(pilot)
    assert last(pilot).level == "error"
    assert last(pilot).text == f"{folder / 'deep' / name}: cannot be written: its folder does not exist"
    (folder / "deep").mkdir()
    begin(pilot, folder / "deep" / name, frames=FEW)
    pilot.step()
    shutil.rmtree(folder / "deep")
    until_done(pilot)
    assert last(pilot).text == f"{folder / 'deep' / name}: cannot be written: its folder does not exist"
    pilot.step(3)
    assert pilot.app.painter.ui.film is None


def test_what_nobody_foresaw_is_a_message_and_the_window_lives(
    pilot: Pilot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Filming) -> bool:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Filming, "step", full)
    begin(pilot, folder / "a.gif")
    pilot.step(2)
    assert not pilot.app.films.busy
    assert last(pilot).text == "a.gif cannot be filmed: [Errno 28] No space left on device"
    monkeypatch.undo()
    assert (names(folder), threads()) == ([], [])


def test_frames_that_are_gone_are_refused(pilot: Pilot, folder: Path) -> None:
    begin(pilot, folder / "a.gif", frames=(60, 70))
    assert last(pilot).level == "error"
    assert not pilot.app.films.busy


def test_what_a_person_does_comes_first(pilot: Pilot, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[float] = []
    now = [0.0]

    def took(_: Filming) -> bool:
        steps.append(now[0])
        now[0] += 0.01
        return True

    monkeypatch.setattr(Filming, "step", took)
    films = Films(pilot.app.controller, lambda: now[0])
    films.start(FilmOrder(plan(pilot), folder / "a.gif"))
    films.step(moving=False)
    assert len(steps) == round(BUDGET / 0.01)
    steps.clear()
    now[0] += 10.0
    for _ in range(300):
        films.step(moving=True)
        now[0] += 0.001
    assert len(steps) > 3
    assert np.diff(steps).min() > (1.0 + WINDOW_SHARE) * 0.01 - 1e-9
    assert films.wait(moving=False) == 0.0
    assert films.wait(moving=True) > 0.0
    films.close()
    assert films.wait(moving=False) == float("inf")


def test_pointing_typing_and_turning_the_wheel_come_first_and_rest_does_not(pilot: Pilot, folder: Path) -> None:
    begin(pilot, folder / "a.gif")
    told: list[bool] = []

    def noted(*, moving: bool) -> bool:
        told.append(moving)
        return False

    pilot.app.films.step = noted  # type: ignore[method-assign]
    pilot.step(60)
    told.clear()
    pilot.step(10)
    assert told == [False] * 10
    over_a_panel = partial(pilot.inputs.move, 100.0, 200.0)
    for does in (over_a_panel, partial(pilot.key, "right"), partial(pilot.inputs.scroll, 0, 1)):
        does()
        told.clear()
        pilot.step(3)
        assert told == [True] * 3
        pilot.step(60)
        assert told[-1] is False
    pilot.move(*EMPTY)
    pilot.button("left", down=True)
    pilot.step(60)
    assert told[-1] is True  # as long as it is held


def test_the_question_goes_with_the_film(pilot: Pilot, folder: Path) -> None:
    begin(pilot, folder / "a.gif", frames=FEW)
    pilot.app.device.closing = True
    pilot.step(3)
    asks = [pilot.app.painter.capture.modal]
    pilot.app.films.cancel()
    pilot.step(3)
    asks.append(pilot.app.painter.capture.modal)
    assert asks == [True, False]
    assert not pilot.app.finished
