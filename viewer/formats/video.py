"""Writing films, completely or not at all: MP4 by ffmpeg, GIF with one palette for all frames, numbered PNG files.

ffmpeg is the one on PATH, or that of the extra ``video``.
"""

from __future__ import annotations

import io
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from viewer.errors import InputError, MachineError, OutputError
from viewer.formats.file_formats import FASTEST_FPS, FILMS, FRAME_FIELD, wrong_suffix
from viewer.formats.files import check_output, write_whole

SUFFIXES = (*FILMS, ".png")

_CURE = (
    "MP4 needs ffmpeg: python3 -m pip install imageio-ffmpeg, "
    "or your system's ffmpeg (Debian, Ubuntu: apt install ffmpeg)"
)
_H264 = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "18"]
_MPEG4 = ["-c:v", "mpeg4", "-q:v", "3"]
"""For builds of ffmpeg without H.264."""
_BLOCK = 1 << 20

COUNT = 255
"""Colours of a palette; one of 256 is left for unchanged pixels."""
_FRAMES, _PIXELS = 16, 1 << 18
"""Most frames and pixels from which the colours are chosen."""
_COLOUR_BLOCK = 1 << 12

_KEPT = 1 << 26
"""Bytes of frames, at least one frame, from which the colours are chosen: all of a short film, so that colours that
appear late are included."""


def write_pngs(frames: Iterable[NDArray[np.uint8]], path: Path) -> int:
    """Write ``walk_0000.png``, ``walk_0001.png``, ... for ``walk_%04d.png``; returns the number of pictures.

    Each file is written completely or not at all; files written before an error stay.
    """
    count = 0
    for count, frame in enumerate(frames, start=1):
        write_png(frame, path.with_name(path.name % (count - 1)))
    return count


def write_png(image: NDArray[np.uint8], path: Path, compress_level: int = 3) -> None:
    """Write an image (H, W, 3); a failure leaves the old file as it was."""
    file = io.BytesIO()
    Image.fromarray(image).save(file, format="PNG", compress_level=compress_level)
    write_whole(path, file.getvalue())


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
        raise wrong_suffix(path, SUFFIXES, str(file))
    if not 0.0 < fps <= FASTEST_FPS:
        raise InputError(f"frames per second: expected more than 0 and at most {FASTEST_FPS:g}, found {fps:g}")
    if suffix == ".png":
        if not is_numbered(path):
            bare = FRAME_FIELD.sub("", path.stem).strip("_%") or "film"
            raise InputError(f"{file}: expected one place for the frame's number, as in {bare}_%04d.png")
        check_output(path.with_name(path.name % 0))
        return write_pngs(checked(frames), path)
    check_output(path)
    return write_gif(checked(frames), path, fps) if suffix == ".gif" else write_mp4(checked(frames), path, fps)


def is_numbered(path: Path) -> bool:
    """Whether a file's name has exactly one field for a number, as in ``walk_%04d.png``."""
    return len(FRAME_FIELD.findall(path.name)) == 1 and path.name.count("%") == 1


def checked(frames: Iterable[NDArray[np.uint8]]) -> Iterable[NDArray[np.uint8]]:
    """The same pictures, checked as they pass: there is one, and all have the size of the first."""
    first = None
    for frame in frames:
        if first is None:
            first = frame.shape
        if frame.shape != first or frame.ndim != 3 or frame.shape[2] != 3:
            raise InputError(f"pictures: expected all of size {first}, found {frame.shape}")
        yield frame
    if first is None:
        raise InputError("pictures: expected at least one, found none")


# --- MP4


def find_ffmpeg() -> str:
    """The path of ffmpeg; a MachineError if it is not installed."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        import imageio_ffmpeg  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MachineError(_CURE) from error
    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:  # no binary for this machine in the package
        raise MachineError(_CURE) from error


def write_mp4(frames: Iterable[NDArray[np.uint8]], path: Path, fps: float) -> int:
    """Write an MP4; returns the number of pictures. Of odd sizes the last row or column is cut off."""
    ffmpeg = find_ffmpeg()
    pictures = iter(frames)
    first = next(pictures)
    with tempfile.TemporaryDirectory(prefix="ikviewer-") as folder:
        place = Path(folder) / "video.mp4"
        count = _encode(_command(ffmpeg, first, fps, place), first, pictures)
        with place.open("rb") as source:
            write_whole(path, lambda file: shutil.copyfileobj(source, file, _BLOCK))
    return count


def _command(ffmpeg: str, first: NDArray[np.uint8], fps: float, place: Path) -> list[str]:
    height, width = first.shape[:2]
    if height < 2 or width < 2:
        raise InputError(f"MP4: expected pictures of 2 x 2 pixels at least, found {width} x {height}")
    encoders = subprocess.run([ffmpeg, "-hide_banner", "-encoders"], capture_output=True, check=False).stdout
    return [
        ffmpeg, "-hide_banner", "-loglevel", "error", "-y",
        "-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", f"{width}x{height}", "-framerate", f"{fps:.9g}",
        "-i", "-", "-an", "-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2:0:0",
        *(_H264 if b"libx264" in encoders else _MPEG4),
        "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(place),
    ]  # fmt: skip


def _encode(command: list[str], first: NDArray[np.uint8], others: Iterator[NDArray[np.uint8]]) -> int:
    with (
        tempfile.TemporaryFile() as words,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=words, stderr=words) as encoder,
    ):
        assert encoder.stdin is not None
        count = 0
        try:
            for frame in itertools.chain([first], others):
                encoder.stdin.write(frame.tobytes())
                count += 1
            encoder.stdin.close()
        except BrokenPipeError:
            count = 0
        except BaseException:
            encoder.kill()
            raise
        if encoder.wait() != 0 or count == 0:
            words.seek(0)
            said = words.read().decode(errors="replace").strip().splitlines()
            raise OutputError(f"MP4: ffmpeg failed: {said[0] if said else _silence()}")
    return count


def _silence() -> str:
    """A cause for the message when ffmpeg printed nothing: its output goes to the same disk as the film."""
    folder = tempfile.gettempdir()
    full = shutil.disk_usage(folder).free < _BLOCK
    return f"the disk is full: {folder}" if full else "it said nothing"


# --- GIF


def chosen_colours(frames: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """(255, 3) red, green, blue: a palette for frames (H, W, 3), of which there is at least one.

    Median cut gives the first colours, k-means improves them. Pixels of a colour count by the root of their number, so
    that a large background leaves colours for the figure.
    """
    picked = [frames[number] for number in np.unique(np.linspace(0, len(frames) - 1, _FRAMES).astype(int))]
    step = max(1, round((sum(frame.size // 3 for frame in picked) / _PIXELS) ** 0.5))
    pixels = np.concatenate([frame[::step, ::step].reshape(-1, 3) for frame in picked])
    keys, counts = np.unique(_keys(pixels), return_counts=True)
    counted = np.repeat(_colours(keys).astype(np.uint8), np.rint(np.sqrt(counts)).astype(int), axis=0)
    chosen = Image.fromarray(counted[None]).quantize(COUNT, method=Image.Quantize.MEDIANCUT, kmeans=1)
    return np.resize(np.array(chosen.getpalette(), dtype=np.uint8), (COUNT, 3))


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
    blocks = [drawn[first : first + _COLOUR_BLOCK] for first in range(0, len(drawn), _COLOUR_BLOCK)]
    return np.concatenate([np.argmin(squares - 2.0 * (block @ palette.T), axis=1) for block in blocks])


def write_gif(frames: Iterable[NDArray[np.uint8]], path: Path, fps: float) -> int:
    """Write a GIF that loops without end; returns the number of pictures.

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
