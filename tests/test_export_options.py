"""What the dialog for exports offers: the same files as `ikviewer convert` writes with these options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_run import ran
from imgui_bundle import imgui
from inside.app import LISTED
from inside.formats import WRITTEN
from inside.ui import ExportOptions
from panel_window import PanelWindow
from ui_person import Person

import viewer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """walk.bvh in the current folder."""
    monkeypatch.chdir(tmp_path)
    viewer.save(viewer.load("sample:walk"), "walk.bvh")
    return Path("walk.bvh")


@pytest.fixture
def window(walk: Path) -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load(walk))
    made.controller.run("file.export")
    made.frames(6)
    yield made
    made.close()


def asked(window: PanelWindow) -> Any:  # noqa: ANN401 - the panel's own
    return window.ui._memories["files"]["state"]


def is_open(window: PanelWindow) -> bool:
    return window.popup


@pytest.mark.parametrize(
    ("suffix", "options", "given"),
    [
        (".bvh", ExportOptions(motion=True), []),
        (".bvh", ExportOptions(frames=(10, 20), fps=60.0), ["--frames", "10:20", "--fps", "60"]),
        (
            ".bvh",
            ExportOptions(units="cm", up="z", precision=3),
            ["--to-units", "cm", "--to-up", "z", "--precision", "3"],
        ),
        (
            ".json",
            ExportOptions(fps=12.5, units="mm", precision=4),
            ["--fps", "12.5", "--to-units", "mm", "--precision", "4"],
        ),
        (".csv", ExportOptions(joints=True), ["--joints"]),
        (".csv", ExportOptions(frames=(5, 5), precision=2), ["--frames", "5:5", "--precision", "2"]),
        (".glb", ExportOptions(frames=(0, 30)), ["--frames", "0:30"]),
        (".npz", ExportOptions(fps=120.0), ["--fps", "120"]),
        (".obj", ExportOptions(), ["--frame", "0"]),
    ],
)
def test_the_window_writes_what_convert_writes(
    suffix: str, options: ExportOptions, given: list[str], walk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    person = Person(str(walk))
    assert person.controller.files.export_to(Path(f"window{suffix}"), options=options)
    assert ran(capsys, "convert", str(walk), f"command{suffix}", *given).code == 0
    if suffix == ".npz":
        one, other = (viewer.load(f"{name}.npz").clip for name in ("window", "command"))
        assert one is not None
        assert other is not None
        assert (len(one), one.frame_time) == (len(other), other.frame_time)
        assert all(one.pose(i).same_as(other.pose(i)) for i in range(len(one)))
    else:
        assert Path(f"window{suffix}").read_bytes() == Path(f"command{suffix}").read_bytes()


def test_every_format_that_can_be_written_is_offered() -> None:
    assert {suffix for suffix, _, _ in LISTED} == set(WRITTEN) - {".usdc"}


def test_a_format_that_is_chosen_is_the_name_s_suffix_and_the_other_way_round(window: PanelWindow) -> None:
    suffixes = [suffix for suffix, _, _ in LISTED]
    window.click("files", f"format {suffixes.index('.csv')}")
    assert asked(window).name == "walk.csv"
    assert asked(window).path.suffix == ".csv"
    asked(window).name = "v1.2"
    window.click("files", f"format {suffixes.index('.glb')}")
    assert asked(window).name == "v1.2.glb"
    window.frames(2)
    assert "Metres, Y up: fixed by this format" in window.words("files")
    asked(window).name = "walk.bvh"
    window.frames(2)
    assert "Metres, Y up: fixed by this format" not in window.words("files")


def test_range_rate_and_units_of_the_dialog_reach_the_file(window: PanelWindow) -> None:
    window.click("files", "range 1")
    window.double_click("files", "from")
    window.frames(3)
    window.write("60")
    assert is_open(window)  # Enter was the number's
    assert (asked(window).options.first, asked(window).options.last) == (60, 67)
    window.click("files", "units 2")
    window.click("files", "up 2")
    asked(window).name = "part.bvh"
    window.frames(2)
    window.tap(imgui.Key.enter)
    window.frames(4)
    assert not is_open(window)
    part = viewer.load("part.bvh", units="cm", up="z")
    assert part.clip is not None
    assert len(part.clip) == 8
    assert window.controller.view.bar.messages[-1].text == "Exported 8 frames to part.bvh"
    assert viewer.load("part.bvh").source.up == "z"


def test_this_pose_is_one_frame_and_shapes_are_nothing_else(window: PanelWindow) -> None:
    window.click("files", "range 2")
    assert asked(window).options.options(window.session.document, Path("a.bvh")).motion is False
    window.click("files", "range 0")
    assert asked(window).options.options(window.session.document, Path("a.bvh")).motion is True
    assert asked(window).options.options(window.session.document, Path("a.stl")).motion is False


def test_what_a_format_has_no_place_for_is_not_asked_of_it(window: PanelWindow) -> None:
    state = asked(window).options
    state.units, state.up, state.precision, state.fps = 2, 2, 3, 60.0
    document = window.session.document
    assert state.options(document, Path("a.glb")) == ExportOptions(motion=True, fps=60.0)
    assert state.options(document, Path("a.csv")) == ExportOptions(motion=True, fps=60.0, precision=3)
    assert state.options(document, Path("a.json")) == ExportOptions(
        motion=True, fps=60.0, units="cm", up="z", precision=3
    )


def test_a_table_of_a_robot_has_its_joint_values_unless_positions_are_chosen(window: PanelWindow) -> None:
    document = window.session.document
    assert asked(window).options.options(document, Path("a.csv")).joints is False  # of a person positions
    robot = PanelWindow(viewer.load("sample:piston"))
    robot.controller.run("file.export")
    robot.frames(6)
    state = asked(robot).options
    assert state.options(robot.session.document, Path("a.csv")).joints is True
    assert state.options(robot.session.document, Path("a.bvh")).joints is False
    robot.click("files", f"format {[suffix for suffix, _, _ in LISTED].index('.csv')}")
    robot.frames(3)
    assert {"Radians, metres", "Joint values"} <= set(robot.words("files"))
    robot.click("files", "columns 0")
    assert state.options(robot.session.document, Path("a.csv")).joints is False
    robot.close()


def test_every_choice_can_be_reached_in_the_narrowest_window(walk: Path) -> None:
    window = PanelWindow(viewer.load(walk), (960, 600), 1.5)
    window.controller.run("file.export")
    window.frames(6)
    export, first = asked(window).options, asked(window).rows
    export.shows, export.fps, export.precision = 1, 24.0, 6
    window.frames(6)
    assert asked(window).rows > first, "three rows are enough at first"
    end = window.box("files", "Export").right
    for name in ("to", "fps", "Reset##rate", "up 2", "decimals", "All##decimals"):
        assert window.box("files", name).right <= end, name
    assert window.box("files", "fps").top > window.box("files", "to").bottom
    assert window.box("files", "Export").bottom < 600.0
    window.close()
