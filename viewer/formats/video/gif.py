"""Animated GIFs: few colours, the same ones in all frames, so that nothing flickers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from viewer.formats.files import write_whole
from viewer.formats.video.colours import Colours, chosen_colours

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

_KEPT = 1 << 26
"""Bytes of frames that are kept in memory to choose the colours from, at least one frame: all of a short film, so that
what lights up at its end has its colour, too."""


def write_gif(frames: Iterable[NDArray[np.uint8]], path: Path, fps: float) -> int:
    """Write a GIF that loops for ever; returns the number of pictures.

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
