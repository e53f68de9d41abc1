"""MP4 by ffmpeg: the one on PATH, or that of the extra ``video``."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO

import numpy as np
from numpy.typing import NDArray

from viewer.errors import InputError, MachineError, OutputError
from viewer.formats.files import write_whole

_CURE = (
    "MP4 needs ffmpeg: python3 -m pip install imageio-ffmpeg, "
    "or your system's ffmpeg (Debian, Ubuntu: apt install ffmpeg)"
)
_H264 = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "18"]
_MPEG4 = ["-c:v", "mpeg4", "-q:v", "3"]
"""For builds of ffmpeg without H.264."""
_BLOCK = 1 << 20


def find_ffmpeg() -> str:
    """The path of ffmpeg.

    Raises:
        MachineError: ffmpeg is not installed.
    """
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        import imageio_ffmpeg
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
        write_whole(path, lambda file: _copy(place, file))
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
        try:
            count = _feed(encoder.stdin, first, others)
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


def _feed(pipe: IO[bytes], first: NDArray[np.uint8], others: Iterator[NDArray[np.uint8]]) -> int:
    pipe.write(first.tobytes())
    count = 1
    for frame in others:
        pipe.write(frame.tobytes())
        count += 1
    return count


def _copy(place: Path, file: BinaryIO) -> None:
    with place.open("rb") as source:
        shutil.copyfileobj(source, file, _BLOCK)
