"""Moving pictures: other programs read as many frames of that size and rate; nothing is left half-written."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.formats import find_ffmpeg, video, write_video
from PIL import Image

from viewer.errors import InputError, MachineError, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray


def pictures(count: int, width: int = 64, height: int = 48) -> Iterator[NDArray[np.uint8]]:
    """A white square that moves to the right over dark grey."""
    for number in range(count):
        image = np.full((height, width, 3), 40, dtype=np.uint8)
        left = 4 * number % (width - 8)
        image[8:16, left : left + 8] = 255
        yield image


def decoded(path: Path, width: int, height: int) -> NDArray[np.uint8]:
    done = subprocess.run(
        [find_ffmpeg(), "-loglevel", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True, check=True,
    )  # fmt: skip
    return np.frombuffer(done.stdout, dtype=np.uint8).reshape(-1, height, width, 3)


@pytest.mark.parametrize(("width", "height"), [(64, 48), (65, 49)])
def test_an_mp4_has_the_pictures_that_went_in(width: int, height: int, tmp_path: Path) -> None:
    assert write_video(pictures(20, width, height), tmp_path / "a.mp4", fps=25) == 20
    found = decoded(tmp_path / "a.mp4", 64, 48)
    expected = np.array(list(pictures(20, width, height)))[:, :48, :64]
    assert found.shape == expected.shape
    assert np.abs(found.astype(int) - expected).mean() < 6.0


def test_an_mp4_lasts_as_long_as_it_should(tmp_path: Path) -> None:
    write_video(pictures(30), tmp_path / "a.mp4", fps=12.5)
    done = subprocess.run([find_ffmpeg(), "-i", str(tmp_path / "a.mp4")], capture_output=True, text=True, check=False)
    assert "Duration: 00:00:02.40" in done.stderr
    assert "yuv420p" in done.stderr


def test_without_h264_another_encoder_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video, "_H264", ["-c:v", "mpeg4", "-q:v", "2"])
    write_video(pictures(5), tmp_path / "a.mp4", fps=25)
    assert len(decoded(tmp_path / "a.mp4", 64, 48)) == 5


@pytest.mark.parametrize("fps", [10.0, 30.0, 24.0])
def test_a_gif_lasts_as_long_as_it_should(fps: float, tmp_path: Path) -> None:
    assert write_video(pictures(30), tmp_path / "a.gif", fps=fps) == 30
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == 30  # type: ignore[attr-defined]
        assert image.info["loop"] == 0
        total = 0
        for frame, expected in enumerate(pictures(30)):
            image.seek(frame)
            total += image.info["duration"]
            assert np.abs(np.array(image.convert("RGB")).astype(int) - expected).max() <= 8
    assert total == pytest.approx(1000 * 30 / fps, abs=10)


def test_pngs_are_numbered(tmp_path: Path) -> None:
    assert write_video(pictures(3), tmp_path / "walk_%03d.png", fps=25) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["walk_000.png", "walk_001.png", "walk_002.png"]
    with Image.open(tmp_path / "walk_002.png") as image:
        np.testing.assert_array_equal(np.array(image), list(pictures(3))[2])


@pytest.mark.parametrize("name", ["a.mp4", "a.gif"])
def test_a_drawing_that_fails_leaves_the_old_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"old")

    def fails() -> Iterator[NDArray[np.uint8]]:
        yield from pictures(12)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_video(fails(), tmp_path / name, fps=25)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, b"old")]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.avi", 'a.avi: expected a name that ends in .mp4, .gif, .png, found ".avi"'),
        ("a", "a: expected a name that ends in .mp4, .gif, .png, found no suffix"),
        ("a.png", "a.png: expected a place for the frame's number, as in a_%04d.png"),
        ("a%d%d.png", "expected a place for the frame's number"),
        ("a%s.png", "expected a place for the frame's number"),
    ],
)
def test_names_that_will_not_do(name: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        write_video(pictures(2), name, fps=25)
    assert words in str(raised.value)


@pytest.mark.parametrize("fps", [0.0, -1.0, float("nan"), 1000.0])
def test_rates_that_are_none(fps: float, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="frames per second: expected more than 0 and at most 240"):
        write_video(pictures(2), tmp_path / "a.gif", fps=fps)


@pytest.mark.parametrize("name", ["a.mp4", "a.gif", "a_%d.png"])
def test_no_pictures_and_pictures_of_two_sizes(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected at least one, found none"):
        write_video(pictures(0), tmp_path / name, fps=25)
    with pytest.raises(InputError, match="expected all of size"):
        write_video(iter([*pictures(1), *pictures(1, 32)]), tmp_path / "b.gif", fps=25)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    for name in ("a.mp4", "a.gif", "a_%d.png"):
        with pytest.raises(OutputError, match="its folder does not exist"):
            write_video(pictures(2), tmp_path / "none" / name, fps=25)


def test_without_ffmpeg_the_cure_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(MachineError, match="MP4 needs ffmpeg: python3 -m pip install imageio-ffmpeg"):
        write_video(pictures(2), tmp_path / "a.mp4", fps=25)


def test_ffmpegs_own_words_are_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(video, "_H264", ["-c:v", "nothing"])
    with pytest.raises(OutputError, match=r"MP4: ffmpeg failed: .*nothing"):
        write_video(pictures(2), tmp_path / "a.mp4", fps=25)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("free", "words"), [(0, "the disk is full: /scratch"), (1 << 30, "it said nothing")])
def test_why_ffmpeg_may_have_said_nothing(free: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/scratch")
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    assert video._silence() == words
