"""``ikviewer render`` of films: what is drawn, written, refused and given up."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from cli_run import FIGURE_BVH, Ran, figure, ran
from conftest import ROOT
from gl_drawing import context
from inside.cli import job
from inside.formats import find_ffmpeg
from PIL import Image

import viewer
from viewer.errors import MachineError
from viewer.opengl import make_film

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ("--size", "80x60", "--samples", "0")
CM = ("--units", "cm", "--up", "y")


class Renders:
    """Runs the command in a folder that is empty at first."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        context()
        self.capsys, self.folder = capsys, folder / "out"
        self.folder.mkdir()

    def __call__(self, name: str, *options: str | Path, file: str | Path = "sample:walk") -> Ran:
        return ran(self.capsys, "render", file, "-o", self.folder / name, *SMALL, *options)

    def told(self, name: str, *options: str | Path, file: str | Path = "sample:walk") -> str:
        """What it says of a file that it wrote without a warning."""
        done = self(name, *options, file=file)
        assert (done.code, done.err) == (0, "")
        start = f"wrote {self.folder / name}: "
        assert done.out.startswith(start)
        return done.out[len(start) : -1]

    def refused(self, name: str, *options: str | Path, code: int, file: str | Path = "sample:walk") -> str:
        """The last line of what it says of what it did not write."""
        done = self(name, *options, file=file)
        assert (done.code, done.out, self.names()) == (code, "", [])
        return done.err.splitlines()[-1]

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def renders(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Renders:
    return Renders(capsys, tmp_path)


def mp4_says(path: Path) -> str:
    done = subprocess.run([find_ffmpeg(), "-i", str(path)], capture_output=True, text=True, check=False)
    return done.stderr


def gif_frames(path: Path) -> tuple[int, int]:
    """How many pictures, and how many milliseconds they last."""
    with Image.open(path) as image:
        count = image.n_frames  # type: ignore[attr-defined]
        total = 0
        for frame in range(count):
            image.seek(frame)
            total += image.info["duration"]
        return count, total


def test_an_mp4_of_all_of_the_motion(renders: Renders) -> None:
    assert renders.told("walk.mp4") == "68 pictures of 80 x 60, 30 a second, 2.27 s"
    said = mp4_says(renders.folder / "walk.mp4")
    assert "80x60" in said
    assert "30 fps" in said
    assert "Duration: 00:00:02.27" in said
    assert renders.names() == ["walk.mp4"]


def test_mp4_of_an_odd_size_says_the_size_that_it_has(renders: Renders) -> None:
    told = renders.told("a.mp4", "--size", "81x61", "--frames", "0:5")
    assert told == "6 pictures of 80 x 60, 30 a second, 0.20 s"
    assert "80x60" in mp4_says(renders.folder / "a.mp4")


@pytest.mark.parametrize(
    ("options", "count", "milliseconds"),
    [
        ((), 68, 2270),
        (("--fps", "15"), 34, 2270),
        (("--frames", "10:29"), 20, 670),
        (("--frames", "10:29", "--fps", "10"), 7, 700),
        (("--frames", "0:20:10"), 3, 1000),
        (("--turntable", "--frames", "10:29"), 20, 670),
        (("--turntable", "1", "--frames", "10:29"), 20, 670),
        (("--frame", "3", "--turntable", "0.5"), 15, 500),
        (("--pose", "rest", "--turntable", "--fps", "5"), 20, 4000),
    ],
)
def test_what_a_film_shows_and_how_long_it_lasts(
    renders: Renders, options: tuple[str, ...], count: int, milliseconds: int
) -> None:
    assert renders.told("a.gif", *options).startswith(f"{count} pictures of 80 x 60, ")
    found = gif_frames(renders.folder / "a.gif")
    assert found == (count, pytest.approx(milliseconds, abs=10))  # type: ignore[comparison-overlap]


def test_numbered_pictures_are_those_of_the_library(renders: Renders) -> None:
    told = renders.told("walk_%03d.png", "--frames", "5:9", "--camera", "side", "--limits")
    assert told == "5 pictures of 80 x 60, 30 a second, 0.17 s"
    assert renders.names() == [f"walk_{number:03d}.png" for number in range(5)]
    film = make_film(
        viewer.load("sample:walk"), frames=range(5, 10), size=(80, 60), camera="side", limits=True, samples=0
    )
    for number, expected in enumerate(film):
        with Image.open(renders.folder / f"walk_{number:03d}.png") as image:
            np.testing.assert_array_equal(np.asarray(image), expected)


def test_fast_motion_is_played_at_a_part_of_its_rate(renders: Renders, tmp_path: Path) -> None:
    path = tmp_path / "fast.bvh"
    path.write_text(FIGURE_BVH.replace("Frame Time: 0.1", "Frame Time: 0.008333333333"), encoding="utf-8")
    for name, rate in (("a.mp4", 60), ("a.gif", 30), ("a%d.png", 120)):
        assert f", {rate} a second, " in renders.told(name, *CM, file=path)
    assert ", 120 a second, " in renders.told("b.mp4", "--fps", "120", *CM, file=path)
    done = renders("b.gif", "--fps", "100", *CM, file=path)
    assert done.code == 0
    assert (
        done.err == f"warning: {renders.folder / 'b.gif'}: most programs show at most 50 pictures a second of a GIF\n"
    )


def test_another_clip_of_the_file(renders: Renders, tmp_path: Path) -> None:
    path = tmp_path / "two.glb"
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    short = replace(walk.clip.frames(0, 9), name="b")
    viewer.save(replace(walk, clips={"walk": walk.clip, "b": short}), path)
    assert renders.told("b.gif", "--clip", "b", file=path).startswith("10 pictures")
    assert renders.told("b.png", "--clip", "b", "--frame", "9", file=path) == "80 x 60 pixels"
    assert "no frame 10: the clip has 0 to 9" in renders("c.png", "--clip", "b", "--frame", "10", file=path).err
    assert renders("c.png", "--clip", "d", file=path).err == f'error: {path}: no clip "d"; there is "walk", "b"\n'


ONE = "{out} is one picture: expected .mp4, .gif or a numbered name such as a_%04d.png"
NOTHING = "nothing moves in it: expected --turntable with it, or a .png"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a.png", ("--frames", "0:3"), f"argument --frames: {ONE}"),
        ("a.png", ("--fps", "30"), f"argument --fps: {ONE}"),
        ("a.png", ("--turntable",), f"argument --turntable: {ONE}"),
        ("a.gif", ("--frame", "3"), f"argument --frame: {NOTHING}"),
        ("a%d.png", ("--pose", "rest"), f"argument --pose: {NOTHING}"),
        ("a.gif", ("--frames", "0:3", "--frame", "3"), "argument --frame: not allowed with argument --frames"),
        ("a.gif", ("--frames", "3:0"), 'argument --frames: expected A <= B and a step of 1 or more, found "3:0"'),
        ("a.gif", ("--fps", "0"), 'argument --fps: expected a number above 0, found "0"'),
        ("a.gif", ("--fps", "241"), 'argument --fps: expected at most 240 frames a second, found "241"'),
        ("a.gif", ("--turntable", "-1"), 'argument --turntable: expected a number above 0, found "-1"'),
        ("a.gif", ("--turntable", "1e9"), 'argument --turntable: expected at most 3600 seconds, found "1e9"'),
    ],
)  # fmt: skip
def test_options_that_make_no_sense_together(
    renders: Renders, name: str, options: tuple[str, ...], message: str
) -> None:
    # Before the file is read, whatever it is.
    line = renders.refused(name, *options, code=2, file="gone.bvh")
    assert line == "ikviewer render: error: " + message.format(out=renders.folder / name)


def test_what_has_no_motion_or_no_such_frames_is_refused(renders: Renders, tmp_path: Path) -> None:
    still = "sample:biped: expected motion, found a skeleton without frames"
    assert renders.refused("a.gif", code=1, file="sample:biped") == f"error: {still}: --turntable turns it round"
    assert renders.refused("a.gif", "--turntable", "--frames", "0:1", code=1, file="sample:biped") == f"error: {still}"
    path = figure(tmp_path)
    line = renders.refused("a.gif", "--frames", "0:3", *CM, code=1, file=path)
    assert line == f"error: {path}: no frame 3: the clip has 0 to 2"
    line = renders.refused("a%d_%d.png", code=1)
    assert line.endswith("expected one place for the frame's number, as in a_%04d.png")


def test_what_cannot_be_written_is_said_before_anything_is_drawn(
    renders: Renders, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    def without() -> None:
        raise MachineError("MP4 needs ffmpeg")

    monkeypatch.setattr("viewer.opengl.filming.render_image", never)
    for name in ("gone/a.mp4", "gone/a.gif", "gone/a%d.png"):
        line = renders.refused(name, code=1)
        assert line.endswith("cannot be written: its folder does not exist")
    monkeypatch.setattr("viewer.formats.video.find_ffmpeg", without)
    assert renders.refused("a.mp4", code=3) == "error: MP4 needs ffmpeg"


def test_a_machine_that_cannot_draw_leaves_the_old_film(renders: Renders, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise MachineError("OpenGL is missing")

    monkeypatch.setattr("viewer.opengl.filming.render_image", refused)
    for name in ("a.mp4", "a.gif"):
        (renders.folder / name).write_bytes(b"old")
        assert renders(name) == (3, "", "error: OpenGL is missing\n")
        assert (renders.folder / name).read_bytes() == b"old"
    assert renders.names() == ["a.gif", "a.mp4"]


@pytest.mark.skipif(os.name != "posix", reason="Ctrl+C is sent as a signal to a group of processes")
@pytest.mark.parametrize("name", ["a.mp4", "a.gif"])
def test_ctrl_c_leaves_the_old_film_and_nothing_else(name: str, tmp_path: Path) -> None:
    context()
    out, temporary = tmp_path / "out", tmp_path / "temporary"
    out.mkdir()
    temporary.mkdir()
    (out / name).write_bytes(b"old")
    command = ("render", "sample:walk", "-o", str(out / name), "--turntable", "3600", "--pose", "rest")
    # ffmpeg, in the same group, is told to stop as well: as it is on a terminal.
    running = subprocess.Popen(
        [sys.executable, "-c", FIVE_PICTURES, *command],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stdout is not None
    try:
        assert running.stdout.readline() == "five\n"
        time.sleep(0.1)
        os.killpg(running.pid, signal.SIGINT)
        said, complained = running.communicate(timeout=60)
    finally:
        running.kill()
    assert (running.returncode, said, complained) == (130, "", "interrupted\n")
    assert [(path.name, path.read_bytes()) for path in out.iterdir()] == [(name, b"old")]
    assert list(temporary.iterdir()) == []


# What a shell starts in the background ignores Ctrl+C, and so does all that it starts.
FIVE_PICTURES = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from viewer.cli.main import main
from viewer.opengl.filming import Film
drawn = Film.picture
def picture(film, number):
    if number == 5:
        print("five", flush=True)
    return drawn(film, number)
Film.picture = picture
sys.exit(main(sys.argv[1:]))
"""


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_bar_is_shown_on_a_terminal_alone(renders: Renders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_DELAY", 0.0)
    with redirect_stderr(Terminal()) as screen:
        assert renders("a.gif").code == 0
    assert re.search(r"drawing: +[0-9]+%\|", screen.getvalue())
    assert screen.getvalue().endswith("\r")
    assert renders("a.gif").err == ""
