"""The dialogs for saving and exporting: invalid names and places, Esc, and that nothing is drawn outside of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from imgui_bundle import imgui
from inside.app import NO_NAME, State
from inside.ui import FileQuestion
from panel_window import PanelWindow

import viewer
from viewer.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DIALOGS = ["file.save_as", "file.save_goals", "file.export", "file.picture", "file.film"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "parent" / "chosen"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def window(folder: Path) -> Iterator[PanelWindow]:  # noqa: ARG001 - the folder comes first
    made = PanelWindow(viewer.load("sample:walk"))
    yield made
    made.close()


def ask(window: PanelWindow, command: str) -> Any:  # noqa: ANN401 - the panel's own
    window.controller.run(command)
    window.frames(6)
    assert window.popup
    return window.ui._memories["files"]["state"]


def closed(window: PanelWindow) -> bool:
    return not window.popup


def named(window: PanelWindow, name: str) -> None:
    """Put another name into the field, and press Enter."""
    io = imgui.get_io()
    io.add_key_event(imgui.Key.mod_ctrl, True)
    window.tap(imgui.Key.a)
    io.add_key_event(imgui.Key.mod_ctrl, False)
    window.tap(imgui.Key.backspace)
    window.write(name)
    window.frames(4)


@pytest.mark.parametrize("command", DIALOGS)
def test_without_a_name_nothing_is_written_anywhere(command: str, window: PanelWindow, folder: Path) -> None:
    state = ask(window, command)
    named(window, "")
    assert window.popup
    assert state.name == ""
    assert NO_NAME in window.words("files")
    window.tap(imgui.Key.enter)
    assert window.popup
    assert [*folder.parent.iterdir()] == [folder]
    assert [*folder.iterdir()] == []
    assert not window.controller.view.bar.messages
    assert not window.ui.requests


@pytest.mark.parametrize("name", ["", "  ", '""'])
def test_blanks_are_no_name(name: str, folder: Path) -> None:
    state = State(FileQuestion("Export", "Export", (".bvh",), lambda _: None, saving=True, name=name), folder=folder)
    assert state.refused == NO_NAME
    assert state.path == folder


@pytest.mark.parametrize(("name", "there"), [("..", "parent"), ("../", "parent"), (".", "chosen"), ("deep/", "")])
def test_what_can_only_be_a_folder_is_gone_to(name: str, there: str, window: PanelWindow, folder: Path) -> None:
    state = ask(window, "file.export")
    named(window, name)
    assert window.popup
    if there:
        assert state.folder.resolve().name == there
    else:
        assert state.problem == f"{folder / 'deep'}: no such folder"
    assert [*folder.parent.rglob("*")] == [folder]


@pytest.mark.parametrize("command", DIALOGS)
def test_a_folder_that_is_not_there_is_said_where_the_name_is(command: str, window: PanelWindow, folder: Path) -> None:
    state = ask(window, command)
    named(window, "nodir/x")
    assert window.popup
    path = folder / "nodir" / f"x{state.suffixes[0]}"
    assert state.problem == f"{path}: cannot be written: its folder does not exist"
    assert state.name == "nodir/x"
    assert not window.controller.view.bar.messages
    (folder / "nodir").mkdir()
    window.tap(imgui.Key.enter)
    window.frames(4)
    assert closed(window)
    assert path.exists() == (command not in {"file.picture", "file.film"})  # which the window itself draws


def test_what_goes_wrong_in_writing_is_said_where_the_name_is(
    window: PanelWindow, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OutputError("x.bvh: cannot be written: no space left on the device")

    state = ask(window, "file.export")
    monkeypatch.setattr("viewer.ui.file_menu.save", full)
    named(window, "x")
    assert window.popup
    assert state.problem == "x.bvh: cannot be written: no space left on the device"
    assert not window.controller.view.bar.messages
    monkeypatch.undo()
    window.tap(imgui.Key.enter)
    window.frames(4)
    assert closed(window)
    assert (folder / "x.bvh").exists()


@pytest.mark.parametrize("command", [*DIALOGS, "file.open", "play.go_to"])
def test_one_escape_closes(command: str, window: PanelWindow) -> None:
    window.controller.run(command)
    window.frames(6)
    assert window.popup
    window.tap(imgui.Key.escape)
    window.frames(2)
    assert closed(window)


def test_escape_leaves_a_number_that_is_typed_before_the_dialog(window: PanelWindow) -> None:
    window.controller.run("file.film")
    window.frames(6)
    window.double_click("files", "fps")
    window.tap(imgui.Key.escape)
    window.frames(2)
    assert window.popup
    window.tap(imgui.Key.escape)
    window.frames(2)
    assert closed(window)


def test_the_next_dialog_begins_in_the_folder_of_a_typed_path(window: PanelWindow, folder: Path) -> None:
    ask(window, "file.export")
    named(window, str(folder.parent / "walk.bvh"))
    assert (folder.parent / "walk.bvh").is_file()
    assert ask(window, "file.export").folder == folder.parent
    window.tap(imgui.Key.escape)
    window.frames(3)
    assert ask(window, "file.film").folder == folder.parent


def test_a_file_is_saved_beside_its_own_and_not_where_another_was_opened(folder: Path, tmp_path: Path) -> None:
    viewer.save(viewer.load("sample:walk"), folder / "hero.bvh")
    window = PanelWindow(viewer.load(folder / "hero.bvh"))
    ask(window, "retarget.open").go(tmp_path)
    window.tap(imgui.Key.escape)
    window.frames(3)
    for command in DIALOGS:
        assert ask(window, command).folder == folder
        window.tap(imgui.Key.escape)
        window.frames(3)
    assert ask(window, "file.open").folder == tmp_path
    window.close()


@pytest.mark.parametrize(
    ("file", "name"), [("hero.glb", "hero.glb"), ("hero.gltf", "hero.glb"), ("hero.json", "hero.bvh")]
)
def test_figures_of_gltf_files_are_exported_as_such_if_nothing_else_is_asked(
    folder: Path, file: str, name: str
) -> None:
    viewer.save(viewer.load("sample:walk"), folder / file)
    window = PanelWindow(viewer.load(folder / file))
    assert ask(window, "file.export").name == name
    window.close()


@pytest.mark.parametrize("command", DIALOGS)
def test_a_name_that_the_system_refuses_is_refused_in_a_line(command: str, window: PanelWindow, folder: Path) -> None:
    state = ask(window, command)
    named(window, "x" * 300)
    assert window.popup
    assert "cannot be written" in state.problem
    assert [*folder.iterdir()] == []


def test_the_list_has_files_of_the_chosen_format(window: PanelWindow, folder: Path) -> None:
    for name in ("a.mp4", "b.gif", "c.png", "d.bvh"):
        (folder / name).touch()
    (folder / "old").mkdir()
    state = ask(window, "file.film")
    for number, name in ((1, "b.gif"), (2, "c.png"), (0, "a.mp4")):
        window.click("files", f"format {number}")
        window.frames(2)
        assert [entry.name for entry in state.entries] == ["old", name]
        assert name in window.words("files")
    state.rename("a")
    assert [entry.name for entry in state.entries] == ["old", "a.mp4", "b.gif", "c.png"]


def test_files_are_looked_for_when_name_or_options_change_and_twice_a_second(
    window: PanelWindow, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, looked = [100.0], list[object]()
    monkeypatch.setattr("viewer.app.panels.file_dialog.time.monotonic", lambda: now[0])
    (folder / "walk.gif").touch()
    state = ask(window, "file.film")
    window.click("files", "format 1")
    asks: Callable[[Path], str] = state.asks

    def look(path: Path) -> str:
        looked.append(path)
        return asks(path)

    state.asks = look
    window.tap(imgui.Key.enter)
    window.frames(4)
    assert state.question == "walk.gif exists. Replace it?"
    looked.clear()
    window.frames(30)
    assert looked == []
    now[0] += 0.6
    window.frames(30)
    assert looked == [folder / "walk.gif"]
    (folder / "walk.gif").unlink()
    now[0] += 0.6
    window.frames(2)
    assert state.question == ""


@pytest.mark.parametrize("own", [False, True])
def test_where_there_is_no_room_for_both_the_folder_is_shown_in_place_of_the_options(folder: Path, own: bool) -> None:
    (folder / "a.mp4").touch()
    window = PanelWindow(viewer.load("sample:walk"), scale=2.0)
    ask(window, "file.film")
    window.click("files", "size 4" if own else "size 2")
    window.frames(3)
    assert {"Rate", "Name", "Film", "Options", "Folder"} <= {*window.words("files")}
    assert "a.mp4" not in window.words("files")
    window.click("files", "part 1")
    window.frames(3)
    assert {"a.mp4", "Name", "Film"} <= {*window.words("files")}
    assert "Rate" not in window.words("files")
    for line in window.lines:
        assert line.panel != "files" or line.bottom <= 720.0, line
    window.close()
