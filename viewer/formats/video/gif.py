"""Animated GIFs: few colours, the same ones in all frames, so that nothing flickers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from viewer.formats.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray

_SAMPLED = 8
"""Frames that the colours are chosen from; they are kept in memory meanwhile."""
_COLOURS = 255


def write_gif(frames: Iterable[NDArray[np.uint8]], path: Path, fps: float) -> int:
    """Write a GIF that loops for ever; returns the number of pictures.

    Times in it are hundredths of a second: frames take turns at being shorter and longer, so that the whole lasts as
    long as it should. Players show frames of under two hundredths slowly.
    """
    pictures = iter(frames)
    first = list(itertools.islice(pictures, _SAMPLED))
    palette = _palette(first)
    count = 0

    def quantized() -> Iterable[Image.Image]:
        nonlocal count
        for frame in itertools.chain(first, pictures):
            count += 1
            yield Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE)

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


def _palette(frames: list[NDArray[np.uint8]]) -> Image.Image:
    """An image whose colours serve all these frames."""
    height = max(1, 240 // max(1, len(frames)))
    rows = [frame[:: max(1, frame.shape[0] // height)] for frame in frames]
    return Image.fromarray(np.concatenate(rows)).quantize(_COLOURS, method=Image.Quantize.MEDIANCUT)
