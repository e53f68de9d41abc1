"""Moving pictures: other programs read as many frames of that size and rate; nothing is left half-written.

The colours of animated GIFs: near to what was drawn, for all of a short film.
"""

from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.formats import COUNT, Colours, chosen_colours, find_ffmpeg, video, write_video
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
        ("a.png", "a.png: expected one place for the frame's number, as in a_%04d.png"),
        ("a%d%d.png", "expected one place for the frame's number"),
        ("a%s.png", "expected one place for the frame's number"),
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


def fading(height: int = 90, width: int = 120) -> NDArray[np.uint8]:
    """Dark, fading from top to bottom as the background of a view does."""
    down = np.linspace(0.0, 1.0, height)[:, None, None]
    rows = (1.0 - down) * (46, 51, 60) + down * (24, 26, 30)
    return np.broadcast_to(np.rint(rows), (height, width, 3)).astype(np.uint8)


def off(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> int:
    return int(np.abs(first.astype(int) - second).max())


def test_few_colours_are_kept_as_they_are() -> None:
    frame = fading()
    assert len(np.unique(frame.reshape(-1, 3), axis=0)) < COUNT
    shown = np.asarray(Colours(chosen_colours([frame])).image(frame).convert("RGB"))
    assert off(shown, frame) == 0


def test_every_colour_is_shown_by_the_nearest() -> None:
    palette = np.random.default_rng(3).integers(0, 256, (COUNT, 3)).astype(np.uint8)
    frame = np.random.default_rng(4).integers(0, 256, (20, 30, 3)).astype(np.uint8)
    colours = Colours(palette)
    for _ in range(2):  # the second time from memory
        shown = np.asarray(colours.image(frame).convert("RGB")).astype(int)
        found = ((shown - frame) ** 2).sum(axis=-1)
        best = ((frame[:, :, None].astype(int) - palette) ** 2).sum(axis=-1).min(axis=-1)
        np.testing.assert_array_equal(found, best)


@pytest.mark.parametrize("count", [1, 2, 40])
def test_there_are_always_as_many_colours(count: int) -> None:
    assert chosen_colours([np.full((2, 3, 3), 7, np.uint8)] * count).shape == (COUNT, 3)


def test_what_lights_up_late_has_its_colour(tmp_path: Path) -> None:
    frames = [fading() for _ in range(30)]
    frames[-1] = frames[-1].copy()
    frames[-1][40:44, 50:54] = (255, 90, 60)
    write_video(frames, tmp_path / "a.gif", fps=10)
    with Image.open(tmp_path / "a.gif") as image:
        image.seek(image.n_frames - 1)  # type: ignore[attr-defined]  # equal frames are one
        assert off(np.asarray(image.convert("RGB")), frames[-1]) <= 2


def test_a_few_bright_pixels_keep_their_colours_beside_many_dark_ones() -> None:
    steps = np.linspace(0.0, 1.0, 300)
    dark = np.rint(20.0 + 40.0 * np.stack([steps, steps**2, np.sqrt(steps)], axis=-1)).astype(np.uint8)
    frame = np.broadcast_to(dark, (200, 300, 3)).copy()
    bright = np.array([(90, 215, 242), (173, 224, 143), (189, 134, 66), (88, 146, 225)], np.uint8)
    frame[100:102, 20:28] = np.repeat(bright, 2, axis=0)
    shown = np.asarray(Colours(chosen_colours([frame])).image(frame).convert("RGB"))
    assert off(shown[100:102, 20:28], frame[100:102, 20:28]) <= 8


def test_a_long_film_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video, "_KEPT", 5 * fading().nbytes)
    most = 0

    class Counted:
        """Says how many of its pictures are taken before the first is written."""

        taken = 0

        def __iter__(self) -> Counted:
            return self

        def __next__(self) -> NDArray[np.uint8]:
            if self.taken == 30:
                raise StopIteration
            self.taken += 1
            return fading()

    frames = Counted()

    def image(self: Colours, frame: NDArray[np.uint8]) -> Image.Image:
        nonlocal most
        most = most or frames.taken
        return kept(self, frame)

    kept = Colours.image
    monkeypatch.setattr(Colours, "image", image)
    assert write_video(frames, tmp_path / "a.gif", fps=10) == 30
    assert most == 5
