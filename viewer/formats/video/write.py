"""Writing films by the file's suffix, numbered PNG files included; written completely or not at all."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from viewer.errors import InputError, quote
from viewer.formats.files import check_output, write_whole
from viewer.formats.video import FASTEST
from viewer.formats.video.gif import write_gif
from viewer.formats.video.mp4 import write_mp4


def write_pngs(frames: Iterable[NDArray[np.uint8]], path: Path) -> int:
    """Write ``walk_0000.png``, ``walk_0001.png``, ... for ``walk_%04d.png``; returns the number of pictures.

    Each file is written completely or not at all; files written before an error stay.
    """
    count = 0
    for count, frame in enumerate(frames, start=1):
        write_png(frame, path.with_name(path.name % (count - 1)))
    return count


def write_png(image: NDArray[np.uint8], path: Path) -> None:
    """Write an image (H, W, 3); a failure leaves the old file as it was.

    Raises:
        OutputError: the file cannot be written.
    """
    file = io.BytesIO()
    Image.fromarray(image).save(file, format="PNG", compress_level=3)
    write_whole(path, file.getvalue())


SUFFIXES = (".mp4", ".gif", ".png")
_NUMBER = re.compile(r"%0?\d*d")


def write_video(frames: Iterable[NDArray[np.uint8]], file: str | os.PathLike[str], *, fps: float) -> int:
    """Write pictures one after the other; each is requested when it is needed, so they may be drawn meanwhile.

    Args:
        frames: (H, W, 3) each, all of one size, at least one. If the iterator raises, nothing is written.
        file: .mp4, .gif, or .png with a field for the frame's number as in ``walk_%04d.png``.
        fps: frames per second.

    Returns:
        How many pictures there were.

    Raises:
        InputError: another suffix, an invalid rate, no pictures, pictures of several sizes.
        MachineError: MP4 without ffmpeg.
        OutputError: the file cannot be written; an old file stays as it was.
    """
    path = Path(file)
    suffix = path.suffix.casefold()
    if suffix not in SUFFIXES:
        found = quote(path.suffix) if path.suffix else "no suffix"
        raise InputError(f"{file}: expected a name that ends in {', '.join(SUFFIXES)}, found {found}")
    if not 0.0 < fps <= FASTEST:
        raise InputError(f"frames per second: expected more than 0 and at most {FASTEST:g}, found {fps:g}")
    if suffix == ".png":
        if not is_numbered(path):
            raise InputError(f"{file}: expected a place for the frame's number, as in {path.stem}_%04d.png")
        check_output(path.with_name(path.name % 0))
        return write_pngs(checked(frames), path)
    check_output(path)
    return write_gif(checked(frames), path, fps) if suffix == ".gif" else write_mp4(checked(frames), path, fps)


def is_numbered(path: Path) -> bool:
    """Whether a file's name has exactly one field for a number, as in ``walk_%04d.png``."""
    return len(_NUMBER.findall(path.name)) == 1 and path.name.count("%") == 1


def checked(frames: Iterable[NDArray[np.uint8]]) -> Iterable[NDArray[np.uint8]]:
    """The same pictures, checked as they pass.

    Raises:
        InputError: a picture of another size than the first, or no pictures.
    """
    first = None
    for frame in frames:
        if first is None:
            first = frame.shape
        if frame.shape != first or frame.ndim != 3 or frame.shape[2] != 3:
            raise InputError(f"pictures: expected all of size {first}, found {frame.shape}")
        yield frame
    if first is None:
        raise InputError("pictures: expected at least one, found none")
