"""Animated GIFs: one palette for all frames, so that nothing flickers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from viewer.formats.files import write_whole

COUNT = 255
"""Colours of a palette; one is left for what stays as it was."""
_FRAMES, _PIXELS = 16, 1 << 18
"""What the colours are chosen from, at most."""
_ROUNDS = 6
_BLOCK = 1 << 12


def chosen_colours(frames: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """(255, 3) red, green, blue that serve frames (H, W, 3) well, at least one of them.

    Begun by median cut, then moved to the middle of what they stand for. Large even areas, such as a background, count
    by their root: a figure needs its colours, too.
    """
    picked = [frames[number] for number in np.unique(np.linspace(0, len(frames) - 1, _FRAMES).astype(int))]
    step = max(1, round((sum(frame.size // 3 for frame in picked) / _PIXELS) ** 0.5))
    pixels = np.concatenate([frame[::step, ::step].reshape(-1, 3) for frame in picked])
    found = Image.fromarray(pixels[None]).quantize(COUNT, method=Image.Quantize.MEDIANCUT).getpalette() or []
    colours = np.resize(np.array(found, dtype=np.float64), 3 * COUNT).reshape(COUNT, 3)
    keys, counts = np.unique(_keys(pixels), return_counts=True)
    drawn, weights = _colours(keys).astype(np.float64), np.sqrt(counts)
    for _ in range(_ROUNDS):
        nearest = _nearest(drawn, colours)
        total = np.bincount(nearest, weights, minlength=COUNT)
        used = total > 0.0
        for part in range(3):
            sums = np.bincount(nearest, weights * drawn[:, part], minlength=COUNT)
            colours[used, part] = sums[used] / total[used]
    return np.rint(colours).astype(np.uint8)


class Colours:
    """A palette, and of every colour met so far the nearest in it."""

    def __init__(self, palette: NDArray[np.uint8]) -> None:
        """``palette``: (N, 3) red, green, blue, at most 256."""
        self._palette = palette
        self._table = np.full(1 << 24, -1, dtype=np.int16)

    def image(self, frame: NDArray[np.uint8]) -> Image.Image:
        """A picture (H, W, 3) in the palette's colours."""
        keys = _keys(frame)
        numbers = self._table[keys]
        new = np.unique(keys[numbers < 0])
        if len(new):
            self._table[new] = _nearest(_colours(new).astype(np.float64), self._palette.astype(np.float64))
            numbers = self._table[keys]
        image = Image.fromarray(numbers.astype(np.uint8))
        image.putpalette(self._palette.tobytes())
        return image


def _keys(pixels: NDArray[np.uint8]) -> NDArray[np.int32]:
    """One number per colour (..., 3)."""
    red, green, blue = (pixels[..., part].astype(np.int32) for part in range(3))
    return (red << 16) | (green << 8) | blue


def _colours(keys: NDArray[np.int32]) -> NDArray[np.int32]:
    """(N, 3) of numbers (N,) that `_keys` gives."""
    return np.stack([keys >> 16, (keys >> 8) & 255, keys & 255], axis=1)


def _nearest(drawn: NDArray[np.float64], palette: NDArray[np.float64]) -> NDArray[np.intp]:
    """(N,) which colour (M, 3) of the palette is nearest to each of (N, 3)."""
    squares = np.einsum("mi,mi->m", palette, palette)
    blocks = [drawn[first : first + _BLOCK] for first in range(0, len(drawn), _BLOCK)]
    return np.concatenate([np.argmin(squares - 2.0 * (block @ palette.T), axis=1) for block in blocks])


_KEPT = 1 << 26
"""Bytes of frames that are kept in memory to choose the colours from, at least one frame: all of a short film, so that
what lights up at its end has its colour, too."""


def write_gif(frames: Iterable[NDArray[np.uint8]], path: Path, fps: float) -> int:
    """Write a GIF that loops without end; returns the number of pictures.

    Times in it are hundredths of a second: frames take turns at being shorter and longer, so that the whole lasts as
    long as it should. Players show frames of under two hundredths slowly.
    """
    pictures = iter(frames)
    first = _first(pictures)
    colours = Colours(chosen_colours(first))
    count = 0

    def quantized() -> Iterable[Image.Image]:
        nonlocal count
        for frame in itertools.chain(_popped(first), pictures):
            count += 1
            yield colours.image(frame)

    def fill(file: BinaryIO) -> None:
        images = iter(quantized())
        start = next(images)
        start.save(
            file, format="GIF", save_all=True, append_images=images, loop=0, duration=_Durations(fps), disposal=1
        )

    write_whole(path, fill)
    return count


class _Durations(list[int]):
    """Milliseconds of frame after frame, whole hundredths that add up; as long a list as it is asked for."""

    def __init__(self, fps: float) -> None:
        super().__init__()
        self._fps = fps

    def __getitem__(self, frame: int) -> int:  # type: ignore[override]
        begin, end = (round(100.0 * number / self._fps) for number in (frame, frame + 1))
        return 10 * max(end - begin, 1)


def _first(pictures: Iterator[NDArray[np.uint8]]) -> list[NDArray[np.uint8]]:
    """The first pictures, as many as are kept."""
    kept = [next(pictures)]
    while len(kept) * kept[0].nbytes < _KEPT and (frame := next(pictures, None)) is not None:
        kept.append(frame)
    return kept


def _popped(pictures: list[NDArray[np.uint8]]) -> Iterator[NDArray[np.uint8]]:
    """The pictures from the first to the last, each given up as it is taken."""
    pictures.reverse()
    while pictures:
        yield pictures.pop()
