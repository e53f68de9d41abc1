"""Moving pictures: frames in, MP4, GIF or numbered PNG files out."""

from __future__ import annotations

from viewer.formats.video.write import SUFFIXES, write_video

__all__ = ["SUFFIXES", "write_video"]
