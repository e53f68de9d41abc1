"""``ikviewer render`` and ``ikviewer solve -o OUT.png``: what they draw, write and refuse."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from cli_run import Ran, figure, ran
from conftest import ROOT
from gl_drawing import context
from inside.opengl import renderer
from PIL import Image

import viewer
from viewer.errors import MachineError

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ("--size", "160x120", "--samples", "0")


class Renders:
    """Runs the command for the bundled biped unless told otherwise."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        context()
        self.capsys, self.out = capsys, folder / "out.png"

    def __call__(self, *options: str | Path, file: str | Path = "sample:biped") -> Ran:
        return ran(self.capsys, "render", file, "-o", self.out, *options)

    def picture(self, *options: str | Path, file: str | Path = "sample:biped") -> np.ndarray:
        done = self(*options, file=file)
        assert done.code == 0, done.err
        with Image.open(self.out) as image:
            assert (image.format, image.mode) == ("PNG", "RGB")
            assert done.out == f"wrote {self.out}: {image.width} x {image.height} pixels\n"
            return np.asarray(image).astype(int)

    def refused(self, *options: str | Path, file: str | Path = "sample:biped", code: int = 1) -> str:
        done = self(*options, file=file)
        assert (done.code, done.out) == (code, "")
        assert not self.out.exists()
        assert list(self.out.parent.glob(".ikviewer-*")) == []
        return done.err.splitlines()[-1]


@pytest.fixture
def renders(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Renders:
    return Renders(capsys, tmp_path)


def test_the_picture_is_that_of_the_library(renders: Renders) -> None:
    assert renders.picture().shape == (480, 640, 3)
    picture = renders.picture(*SMALL, "--camera", "front")
    biped = viewer.load("sample:biped")
    assert (picture == viewer.render(biped, size=(160, 120), camera="front", samples=0)).all()


def test_frames_and_poses(renders: Renders, tmp_path: Path) -> None:
    path = figure(tmp_path)
    clip = viewer.load(str(path), units="cm").clip
    assert clip is not None
    pictures = {frame: renders.picture(*SMALL, "--units", "cm", "--frame", str(frame), file=path) for frame in range(3)}
    assert (pictures[0] != pictures[1]).any()
    assert (renders.picture(*SMALL, "--units", "cm", file=path) == pictures[0]).all()
    rest, relaxed = renders.picture(*SMALL, "--pose", "rest"), renders.picture(*SMALL, "--pose", "relaxed")
    assert (rest != relaxed).any()
    assert (renders.picture(*SMALL) == relaxed).all()


@pytest.mark.parametrize("size", ["1x1", "7x300", "300x7", "64X48"])
def test_sizes(renders: Renders, size: str) -> None:
    width, height = (int(part) for part in size.lower().split("x"))
    assert renders.picture("--size", size).shape == (height, width, 3)


def test_cameras(renders: Renders) -> None:
    names = ("front", "side", "top", "three-quarter")
    pictures = [renders.picture(*SMALL, "--camera", name) for name in names]
    assert len({picture.tobytes() for picture in pictures}) == 4
    assert (renders.picture(*SMALL, "--camera", "0,90") == pictures[2]).all()
    assert (renders.picture(*SMALL, "--camera=-90,0") == pictures[1]).all()
    near, far = (renders.picture(*SMALL, "--camera", f"0,0,{metres}") for metres in ("3", "12.5"))
    assert (near.max(axis=-1) > 110).sum() > 2 * (far.max(axis=-1) > 110).sum()


def test_goals_and_limits_are_shown_when_asked(renders: Renders, tmp_path: Path) -> None:
    plain = renders.picture(*SMALL)
    assert (renders.picture(*SMALL, "--limits") != plain).any()
    goals = tmp_path / "g.json"
    goals.write_text(json.dumps({"goals": [{"effector": "LeftHand", "position": [0.6, 1.4, 0.2]}], "colour": 1}))
    done = renders(*SMALL, "--goals", goals)
    assert done.code == 0
    assert done.err.startswith(f"warning: {goals}: unknown key")
    with Image.open(renders.out) as image:
        amber = np.abs(np.asarray(image).astype(int) - (255, 178, 36)).max(axis=-1) < 8
    assert amber.sum() > 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--size", "640"), 'argument --size: expected WIDTHxHEIGHT, each from 1 to 8192 pixels, found "640"'),
        (("--size", "0x10"), 'argument --size: expected WIDTHxHEIGHT, each from 1 to 8192 pixels, found "0x10"'),
        (("--size", "10x8193"), 'argument --size: expected WIDTHxHEIGHT, each from 1 to 8192 pixels, found "10x8193"'),
        (("--size", "-4x4"), "argument --size: expected one argument"),
        (
            ("--camera", "behind"),
            'argument --camera: expected front, side, top, three-quarter or yaw,pitch,distance, found "behind"',
        ),
        (
            ("--camera", "10,95"),
            'argument --camera: expected yaw, a pitch of -90 to 90 and a distance above 0, found "10,95"',
        ),
        (
            ("--camera", "1,2,3,4"),
            'argument --camera: expected yaw, a pitch of -90 to 90 and a distance above 0, found "1,2,3,4"',
        ),
        (
            ("--camera", "nan,2"),
            'argument --camera: expected yaw, a pitch of -90 to 90 and a distance above 0, found "nan,2"',
        ),
        (("--camera", "1e300,0,1e300"), "argument --camera: expected a distance of at most 1e+07 m, found 1e+300"),
        (("--samples", "-1"), 'argument --samples: expected a whole number, 0 or more, found "-1"'),
        (("--frame", "1", "--pose", "rest"), "argument --pose: not allowed with argument --frame"),
    ],
)
def test_wrong_usage(renders: Renders, options: tuple[str, ...], message: str) -> None:
    assert renders.refused(*options, code=2).endswith(f"error: {message}")


def test_without_an_output_it_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    done = ran(capsys, "render", "sample:biped")
    assert done.code == 2
    assert done.err.endswith("the following arguments are required: -o/--output\n")


def test_what_cannot_be_read_or_shown_is_refused(renders: Renders, tmp_path: Path) -> None:
    assert renders.refused(file="gone.bvh") == "error: gone.bvh: no such file or folder"
    line = renders.refused("--frame", "3")
    assert line == "error: sample:biped: expected motion, found a skeleton without frames"
    path = figure(tmp_path)
    assert renders.refused("--frame", "3", "--units", "cm", file=path).startswith(f"error: {path}: ")
    assert renders.refused("--pose", "relaxd") == 'error: no pose "relaxd"; did you mean "relaxed"?'
    assert renders.refused("--goals", "gone.json") == "error: gone.json: no such file or folder"


def test_outputs_that_cannot_be_written_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    context()
    for name, found in (("a.jpg", '".jpg"'), ("a", "no suffix"), ("a.avi", '".avi"')):
        out = tmp_path / name
        # Before anything is read or drawn.
        done = ran(capsys, "render", "gone.bvh", "-o", out)
        assert done == (1, "", f"error: {out}: expected a name that ends in .png, .mp4, .gif, found {found}\n")
    gone = tmp_path / "gone" / "a.png"
    done = ran(capsys, "render", "sample:biped", "-o", gone, *SMALL)
    assert done == (1, "", f"error: {gone}: cannot be written: its folder does not exist\n")
    folder = tmp_path / "folder.png"
    folder.mkdir()
    done = ran(capsys, "render", "sample:biped", "-o", folder, *SMALL)
    assert done == (1, "", f"error: {folder}: cannot be written: expected a file, found a folder\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.png"]


def test_a_picture_that_fails_leaves_the_old_one(
    renders: Renders, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    renders.out.write_bytes(b"the old one")

    def refused() -> None:
        raise MachineError("OpenGL is missing (libGL): sudo apt install libgl1")

    renderer.offscreen.cache_clear()
    monkeypatch.setattr(renderer, "create_context", refused)
    done = renders(*SMALL)
    assert done == (3, "", "error: OpenGL is missing (libGL): sudo apt install libgl1\n")
    assert renders.out.read_bytes() == b"the old one"
    assert [path.name for path in tmp_path.iterdir()] == ["out.png"]


def test_it_needs_no_display_and_loads_neither_window_nor_panels(tmp_path: Path) -> None:
    context()
    script = (
        "import sys; from viewer.cli.main import main; code = main(sys.argv[1:]); "
        "print(*(m for m in ('glfw', 'imgui_bundle', 'moderngl_window', 'numba', 'pyglet') if m in sys.modules)); "
        "sys.exit(code)"
    )
    out = tmp_path / "a.png"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, "render", "sample:two-link", "-o", str(out), *SMALL],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "DISPLAY"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, f"wrote {out}: 160 x 120 pixels\n\n"), done.stderr


def test_solve_draws_what_it_found(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    context()
    goals, out = tmp_path / "g.json", tmp_path / "solved.png"
    wanted = [{"effector": "LeftHand", "position": [0.4, 1.2, 0.3]}, {"effector": "RightFoot", "pin": True}]
    goals.write_text(json.dumps({"goals": wanted}))
    done = ran(capsys, "solve", "sample:biped", goals, "--backend", "numpy", "-o", out)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(f"wrote {out}\n")
    with Image.open(out) as image:
        picture = np.asarray(image).astype(int)
    # Reached, so there is no amber and there is the goals' violet.
    assert (np.abs(picture - (166, 120, 255)).max(axis=-1) < 8).sum() > 20
    assert (np.abs(picture - (255, 178, 36)).max(axis=-1) < 8).sum() == 0
