"""The colours of animated GIFs: near to what was drawn, for all of a short film."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.formats import COUNT, Colours, chosen_colours, video, write_video
from PIL import Image

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


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
