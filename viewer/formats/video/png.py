"""Numbered PNG files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from PIL import Image

from viewer.formats.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


def write_pngs(frames: Iterable[NDArray[np.uint8]], path: Path) -> int:
    """Write ``walk_0000.png``, ``walk_0001.png``, ... for ``walk_%04d.png``; returns the number of pictures.

    Each file is whole or not there; those that were written before something failed stay.
    """
    count = 0
    for count, frame in enumerate(frames, start=1):
        write_whole(path.with_name(path.name % (count - 1)), png_bytes(frame))
    return count


def png_bytes(image: NDArray[np.uint8]) -> bytes:
    """A picture (H, W, 3) as the contents of a PNG file."""
    file = io.BytesIO()
    Image.fromarray(image).save(file, format="PNG", compress_level=3)
    return file.getvalue()
