"""Animated GIFs with one palette for all frames, so that colours do not flicker."""

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
"""Colours of a palette; one of 256 is left for unchanged pixels."""
_FRAMES, _PIXELS = 16, 1 << 18
"""Most frames and pixels from which the colours are chosen."""
_ROUNDS = 6
_BLOCK = 1 << 12


def chosen_colours(frames: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """(255, 3) red, green, blue: a palette for frames (H, W, 3), of which there is at least one.

    Median cut gives the first colours, k-means improves them. Pixels of a colour count by the root of their number, so
    that a large background leaves colours for the figure.
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
    """A palette, with a cache of the nearest palette colour for every colour seen so far."""

    def __init__(self, palette: NDArray[np.uint8]) -> None:
        """``palette``: (N, 3) red, green, blue, at most 256."""
        self._palette = palette
        self._table = np.full(1 << 24, -1, dtype=np.int16)

    def image(self, frame: NDArray[np.uint8]) -> Image.Image:
        """An image (H, W, 3) in the palette's colours."""
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
    """Colours (..., 3) as one integer each (...)."""
    red, green, blue = (pixels[..., part].astype(np.int32) for part in range(3))
    return (red << 16) | (green << 8) | blue


def _colours(keys: NDArray[np.int32]) -> NDArray[np.int32]:
    """The inverse of `_keys`: (N,) -> (N, 3)."""
    return np.stack([keys >> 16, (keys >> 8) & 255, keys & 255], axis=1)


def _nearest(drawn: NDArray[np.float64], palette: NDArray[np.float64]) -> NDArray[np.intp]:
    """(N,) index of the palette's (M, 3) nearest colour to each of (N, 3)."""
    squares = np.einsum("mi,mi->m", palette, palette)
    blocks = [drawn[first : first + _BLOCK] for first in range(0, len(drawn), _BLOCK)]
    return np.concatenate([np.argmin(squares - 2.0 * (block @ palette.T), axis=1) for block in blocks])


_KEPT = 1 << 26
"""Bytes of frames, at least one frame, from which the colours are chosen: all of a short film, so that colours that
appear late are included."""


def write_gif(frames: Iterable[NDArray[np.uint8]], path: Path, fps: float) -> int:
    """Write a GIF that loops for ever; returns the number of pictures.

    GIF times are hundredths of a second: the durations of frames alternate, such that the film has the right length.
    Players show frames of less than two hundredths slowly.
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
    """Milliseconds of each frame, in hundredths of a second that add up; Pillow may ask for any index."""

    def __init__(self, fps: float) -> None:
        super().__init__()
        self._fps = fps

    def __getitem__(self, frame: int) -> int:  # type: ignore[override]
        begin, end = (round(100.0 * number / self._fps) for number in (frame, frame + 1))
        return 10 * max(end - begin, 1)


def _first(pictures: Iterator[NDArray[np.uint8]]) -> list[NDArray[np.uint8]]:
    """The first pictures, up to `_KEPT` bytes."""
    kept = [next(pictures)]
    while len(kept) * kept[0].nbytes < _KEPT and (frame := next(pictures, None)) is not None:
        kept.append(frame)
    return kept


def _popped(pictures: list[NDArray[np.uint8]]) -> Iterator[NDArray[np.uint8]]:
    """The pictures from first to last; each is dropped from the list when it is taken."""
    pictures.reverse()
    while pictures:
        yield pictures.pop()
