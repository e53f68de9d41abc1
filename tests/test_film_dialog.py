"""The dialog for films: choices, questions, what is remembered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from imgui_bundle import imgui
from inside.document import actions as act
from inside.formats import video
from inside.session import Preferences, load_preferences, save_preferences
from panel_window import PanelWindow

import viewer
from viewer.errors import MachineError
from viewer.scene import Camera

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from inside.ui import FilmOrder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def make(folder: Path) -> Iterator[Callable[..., PanelWindow]]:  # noqa: ARG001 - the folder comes first
    """Opens windows, each with the dialog open."""
    made: list[PanelWindow] = []

    def open_one(name: str = "walk", *, size: tuple[int, int] = (1280, 720), scale: float = 1.0) -> PanelWindow:
        window = PanelWindow(viewer.load(f"sample:{name}"), size, scale)
        made.append(window)
        ask(window)
        return window

    yield open_one
    for window in made:
        window.close()


def put_away(window: PanelWindow) -> None:
    """Close the dialog: one Esc is enough, though the name has the keyboard."""
    window.tap(imgui.Key.escape)
    window.frames(2)


@pytest.fixture
def window(make: Callable[..., PanelWindow]) -> PanelWindow:
    return make()


def ask(window: PanelWindow) -> None:
    window.controller.run("file.film")
    window.frames(6)


def enter(window: PanelWindow) -> None:
    window.tap(imgui.Key.enter)
    window.frames(6)


def ordered(window: PanelWindow) -> list[FilmOrder]:
    """The films that were asked for."""
    asked = [request.value for request in window.ui.requests if request.name == "film"]
    window.ui.requests.clear()
    return asked


def state(window: PanelWindow) -> Any:  # noqa: ANN401 - the panel's own
    return window.ui._memories["files"]["film"]


def choices(window: PanelWindow) -> Any:  # noqa: ANN401 - the panel's own
    return state(window).options


def length(pictures: int, seconds: str, size: tuple[int, int] = (1280, 720)) -> str:
    """What is said at the bottom."""
    return f"{pictures} pictures of {size[0]} \N{MULTIPLICATION SIGN} {size[1]}, {seconds} s"


def pick(window: PanelWindow, name: str) -> None:
    window.click("files", name)
    window.frames(2)


def test_enter_alone_films_what_is_played_as_it_is_seen(window: PanelWindow, folder: Path) -> None:
    enter(window)
    assert not window.popup
    (order,) = ordered(window)
    assert order.path == folder / "walk.mp4"
    plan = order.plan
    assert (plan.size, plan.frames, plan.turntable, plan.parts) == ((1280, 720), (0, 67), False, frozenset({"grid"}))
    assert plan.fps == pytest.approx(30.0, rel=1e-5)


def test_escape_films_nothing(window: PanelWindow) -> None:
    put_away(window)
    assert not window.popup
    assert ordered(window) == []


def test_the_buttons_choose(window: PanelWindow, folder: Path) -> None:
    for name in ("format 1", "size 3", "whole 1", "camera 1", "Names##part", "Grid##part"):
        pick(window, name)
    assert length(68, "2.27", (1920, 1080)) in window.words("files")
    pick(window, "Film")
    (order,) = ordered(window)
    assert order.path == folder / "walk.gif"
    assert (order.plan.size, order.plan.whole, order.plan.turntable) == ((1920, 1080), True, True)
    assert order.plan.parts == {"names"}


def test_the_range_is_the_one_that_is_played_unless_all_of_it_is_wanted(make: Callable[..., PanelWindow]) -> None:
    window = make()
    put_away(window)
    window.session.dispatch(act.SetRange(10, 40))
    ask(window)
    assert {"Frames 10 to 40", "Frames 0 to 67", "This pose", length(31, "1.03")} <= set(window.words("files"))
    pick(window, "shows 1")
    assert length(68, "2.27") in window.words("files")
    pick(window, "shows 2")
    assert length(120, "4.00") in window.words("files")
    pick(window, "Film")
    (order,) = ordered(window)
    assert (order.plan.frames, order.plan.turntable) == (None, True)


def test_a_pose_that_is_not_keyed_is_said_to_be_left_out(window: PanelWindow) -> None:
    assert "pose not keyed" not in window.words("files")
    put_away(window)
    window.session.dispatch(act.TurnJoint("LeftArm", (0.0, 0.0, 0.6, 0.8)))
    ask(window)
    assert "pose not keyed" in window.words("files")
    pick(window, "shows 1")
    assert "pose not keyed" not in window.words("files")


def test_a_pose_can_only_be_turned_round(make: Callable[..., PanelWindow]) -> None:
    window = make("biped")
    assert "Duration" in window.words("files")
    assert length(120, "4.00") in window.words("files")
    pick(window, "camera 0")
    pick(window, "Trails##part")
    enter(window)
    (order,) = ordered(window)
    assert (order.plan.frames, order.plan.seconds, order.plan.turntable) == (None, 4.0, True)
    assert order.plan.parts == {"grid"}


def test_that_moving_targets_are_not_filmed_is_said(make: Callable[..., PanelWindow]) -> None:
    window = make("biped")
    said = "Moving targets will not move: record them first with Shift+R"
    assert said not in window.words("files")
    put_away(window)
    assert window.controller.opening.show_file("demo:ball")
    ask(window)
    assert said in window.words("files")
    put_away(window)
    window.session.dispatch(act.KeyPose(0))  # what is recorded is filmed as it moves
    ask(window)
    assert said not in window.words("files")


def test_numbers_can_be_typed_and_enter_in_them_films_nothing(window: PanelWindow) -> None:
    pick(window, "size 4")
    for name, typed in (("width", "321"), ("height", "200"), ("fps", "12.5")):
        window.double_click("files", name)
        window.write(typed)
    assert window.popup
    assert ordered(window) == []
    assert "resampled from 30 fps" in window.words("files")
    assert "pixels; MP4 needs even numbers" in window.words("files")
    assert length(28, "2.24", (321, 200)) in window.words("files")
    pick(window, "Film")
    (order,) = ordered(window)
    assert (order.plan.size, order.plan.fps) == ((321, 200), 12.5)


def test_a_gif_has_no_more_pictures_a_second_than_are_shown(window: PanelWindow) -> None:
    pick(window, "format 1")
    window.double_click("files", "fps")
    window.write("120")
    assert choices(window).fps == 50.0
    pick(window, "Reset##rate")
    assert choices(window).fps is None


def test_a_gif_is_smaller_unless_a_size_was_chosen(window: PanelWindow) -> None:
    pick(window, "format 1")
    assert length(68, "2.27", (640, 360)) in window.words("files")
    pick(window, "format 2")
    assert length(68, "2.27") in window.words("files")
    pick(window, "size 3")
    pick(window, "format 1")
    assert length(68, "2.27", (1920, 1080)) in window.words("files")
    pick(window, "size 0")
    assert length(68, "2.27", window.ui.regions.viewport.size) in window.words("files")


def test_the_name_says_the_format_too(window: PanelWindow, folder: Path) -> None:
    window.write("stride.gif")
    (order,) = ordered(window)
    assert order.path == folder / "stride.gif"
    ask(window)
    pick(window, "format 2")
    assert state(window).name == "stride_####.png"
    # A long path is shortened in its middle.
    assert any(word.startswith("To /") and word.endswith(" to stride_0067.png") for word in window.words("files"))
    pick(window, "Film")
    assert ordered(window)[0].path == folder / "stride_%04d.png"


def test_what_is_there_is_replaced_after_a_question(window: PanelWindow, folder: Path) -> None:
    (folder / "walk.mp4").touch()
    enter(window)
    assert window.popup
    assert ordered(window) == []
    assert "walk.mp4 exists. Replace it?" in window.words("files")
    assert "Replace" in window.words("files")
    enter(window)
    assert [order.path.name for order in ordered(window)] == ["walk.mp4"]


def test_another_name_is_another_question(window: PanelWindow, folder: Path) -> None:
    (folder / "walk.mp4").touch()
    enter(window)
    imgui.get_io().add_input_characters_utf8("run")
    window.frames(3)
    assert "Film" in window.words("files")
    enter(window)
    assert [order.path.name for order in ordered(window)] == ["run.mp4"]


def test_a_folder_that_is_not_there_is_said_before_anything_is_drawn(window: PanelWindow, folder: Path) -> None:
    window.write("gone/walk.mp4")
    assert window.popup
    assert ordered(window) == []
    assert state(window).problem == f"{folder / 'gone' / 'walk.mp4'}: cannot be written: its folder does not exist"
    (folder / "gone").mkdir()
    enter(window)
    assert [order.path.parent.name for order in ordered(window)] == ["gone"]


def test_the_place_can_be_chosen_in_the_list_of_files(window: PanelWindow, folder: Path) -> None:
    put_away(window)
    (folder / "old.mp4").touch()
    (folder / "old.bvh").touch()
    ask(window)
    assert "Export film" in window.words("files")
    assert "old.bvh" not in window.words("files")
    pick(window, "old.mp4")
    assert state(window).name == "old.mp4"
    enter(window)  # it is there
    assert window.popup
    enter(window)  # and may be replaced: that is asked once
    assert [order.path for order in ordered(window)] == [folder / "old.mp4"]


def test_without_ffmpeg_the_cure_is_named_and_the_others_work(
    make: Callable[..., PanelWindow], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> str:
        raise MachineError("MP4 needs ffmpeg: get it")

    monkeypatch.setattr(video, "find_ffmpeg", none)
    window = make()
    assert choices(window).lacks == "MP4 needs ffmpeg: get it"
    assert state(window).name == "walk.gif"
    pick(window, "format 0")
    assert state(window).name == "walk.gif"
    window.write("")
    assert [order.path.name for order in ordered(window)] == ["walk.gif"]
    ask(window)
    window.write("a.mp4")
    assert ordered(window) == []
    assert state(window).problem == "MP4 needs ffmpeg: get it"


def test_a_motion_that_leaves_the_view_is_brought_into_it(make: Callable[..., PanelWindow]) -> None:
    window = make()
    near = window.controller.camera
    put_away(window)
    window.controller.camera = Camera(near.target * (1.0, 1.0, 0.0), near.yaw, near.pitch, 3.6)
    ask(window)
    assert "it would leave the view" in window.words("files")
    pick(window, "whole 0")
    assert "it leaves the view" in window.words("files")
    pick(window, "Film")
    assert not ordered(window)[0].plan.whole
    ask(window)
    pick(window, "whole 1")
    pick(window, "Film")
    assert ordered(window)[0].plan.whole


def test_choices_are_remembered_from_one_start_to_the_next(make: Callable[..., PanelWindow], tmp_path: Path) -> None:
    window = make()
    for name in ("format 1", "size 4", "Names##part", "Ghosts##part"):
        pick(window, name)
    pick(window, "Film")
    liked = window.controller.view.preferences
    assert liked.film == {"format": "gif", "size": "own", "own": "640x360", "parts": "grid names"}
    save_preferences(liked, tmp_path / "preferences.json")
    other = make("biped")
    put_away(other)
    other.controller.view.preferences = load_preferences(tmp_path / "preferences.json")
    other.ui._memories["files"].clear()
    ask(other)
    assert state(other).name == "biped.gif"
    assert (choices(other).size, choices(other).parts) == ("own", {"grid", "names"})


@pytest.mark.parametrize("film", [{"format": "avi", "size": "huge", "own": "0x", "parts": "x"}, {"own": "9999999x1"}])
def test_preferences_that_make_no_sense_are_passed_over(film: dict[str, str], make: Callable[..., PanelWindow]) -> None:
    window = make()
    put_away(window)
    window.controller.view.preferences = Preferences(film=film)
    window.ui._memories["files"].clear()
    ask(window)
    assert (state(window).name, choices(window).sized("mp4")) == ("walk.mp4", "720")
    assert all(2 <= pixels <= 8192 for pixels in choices(window).own)


@pytest.mark.parametrize(("size", "scale"), [((960, 600), 1.0), ((1280, 720), 1.5), ((1920, 1200), 2.0)])
def test_nothing_of_the_dialog_is_cut_off(
    size: tuple[int, int], scale: float, make: Callable[..., PanelWindow]
) -> None:
    window = make(size=size, scale=scale)
    window.controller.camera = replace(window.controller.camera, distance=3.0)
    pick(window, "size 4")
    for line in (line for line in window.lines if line.panel == "files"):
        assert line.left >= 0, line
        assert line.right <= size[0], line
        assert line.bottom <= size[1], line
    ends = [box.right for box in window.boxes if box.panel == "files"]
    assert max(ends) == pytest.approx(window.box("files", "Film").right, abs=1.0)


def test_a_film_can_be_asked_for_as_an_export(window: PanelWindow, folder: Path) -> None:
    put_away(window)
    (folder / "stride.gif").touch()  # and may be replaced: that was asked where the name was given
    assert window.controller.files.export_to(folder / "stride.gif")
    window.frames(6)
    assert window.popup
    enter(window)
    assert [order.path for order in ordered(window)] == [folder / "stride.gif"]


@pytest.mark.parametrize("name", ["walk.avi", "walk.webm", "films/walk.mov"])
def test_a_format_that_there_is_not_is_refused_with_those_that_there_are(
    name: str, window: PanelWindow, folder: Path
) -> None:
    (folder / "films").mkdir()
    window.write(name)
    assert window.popup
    assert ordered(window) == []
    suffix = name[name.index(".") :]
    assert state(window).problem == f'"{suffix}" is not a format to save in: expected .mp4, .gif, .png'
    window.write(".gif")  # goes on where the name ends
    assert [order.path for order in ordered(window)] == [folder / f"{name}.gif"]


def test_a_name_may_lead_to_another_folder(window: PanelWindow, folder: Path) -> None:
    (folder / "films").mkdir()
    window.write("films/stride")
    assert [order.path for order in ordered(window)] == [folder / "films" / "stride.mp4"]


@pytest.mark.parametrize("typed", ["/", ".", "..", "~", "films/"])
def test_a_name_that_is_only_a_folder_is_gone_to(typed: str, window: PanelWindow, folder: Path) -> None:
    (folder / "films").mkdir()
    imgui.get_io().add_input_characters_utf8(typed)
    window.frames(4)
    assert state(window).name == typed
    enter(window)
    assert window.popup
    assert ordered(window) == []
    assert (state(window).folder, state(window).name) == ((folder / Path(typed).expanduser()).absolute(), "")


def test_a_whole_path_can_be_typed_as_name_letter_by_letter(window: PanelWindow, folder: Path) -> None:
    for letter in str(folder / "stride"):
        imgui.get_io().add_input_characters_utf8(letter)
        window.frames(2)
    enter(window)
    assert [order.path for order in ordered(window)] == [folder / "stride.mp4"]
