"""The pose library that a window shows: which folder, its list, and its pictures as textures."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from viewer.document import Document
from viewer.opengl import LibraryPose, PoseLibrary
from viewer.opengl.pose_library import PIXELS
from viewer.session.user_files import poses_folder
from viewer.skeleton import Skeleton

BESIDE = "poses"
"""Name of the folder beside a rig's file."""

_REREAD_SECONDS = 1.0
"""Another program may change the folder: the list is read again after this time, when the panel is drawn."""
_MOST_TEXTURES = 256

_Key = tuple[Path, int]


class PoseShelf:
    """Finds the folder for a document, keeps its list up to date, and draws missing pictures on another thread.

    Attributes:
        chosen: which folder the user wants: that beside the rig, which need not exist yet, or the user's own; None:
            that beside the rig if it exists.
    """

    def __init__(self) -> None:
        self.chosen: Literal["beside", "own"] | None = None
        self._library: PoseLibrary | None = None
        self._read_at = 0.0
        self._textures: dict[_Key, imgui.ImTextureData] = {}
        self._drawn: dict[_Key, Future[NDArray[np.uint8]]] = {}
        self._artist: ThreadPoolExecutor | None = None

    def beside(self, document: Document) -> Path | None:
        """The folder ``poses`` beside the file of a document's rig; None if the document has no file."""
        path = document.character.source.path
        return None if path is None else Path(path).absolute().parent / BESIDE

    def library(self, document: Document) -> PoseLibrary:
        """The library for a document: that of the folder chosen."""
        beside = self.beside(document)
        wanted = beside is not None and self.chosen != "own" and (self.chosen == "beside" or beside.is_dir())
        folder = beside if beside is not None and wanted else poses_folder()
        now = time.monotonic()
        if self._library is None or self._library.folder != folder:
            self._library, self._read_at = PoseLibrary(folder), now
        elif now - self._read_at > _REREAD_SECONDS:
            self._library.reread()
            self._read_at = now
        return self._library

    def texture(self, pose: LibraryPose, skeleton: Skeleton, wake: Callable[[], None]) -> imgui.ImTextureRef | None:
        """The picture of a pose of the library shown last; None while it is being drawn, or if it cannot be.

        The skeleton draws poses whose file does not state one; ``wake`` is called while a picture is being drawn.
        """
        try:
            key = pose.path, pose.path.stat().st_mtime_ns
        except OSError:
            return None
        if key in self._textures:
            self._textures[key] = self._textures.pop(key)  # the least recently used one is dropped first
            return self._textures[key].get_tex_ref()
        if key not in self._drawn:
            assert self._library is not None
            self._artist = self._artist or ThreadPoolExecutor(max_workers=1, thread_name_prefix="ikviewer-poses")
            self._drawn[key] = self._artist.submit(self._library.picture, pose.name, skeleton)
        if not self._drawn[key].done():
            wake()
            return None
        if self._drawn[key].exception() is not None:
            return None
        self._textures[key] = _texture_of(self._drawn.pop(key).result())
        while len(self._textures) > _MOST_TEXTURES:
            oldest = next(iter(self._textures))
            self._textures.pop(oldest).set_status(imgui.ImTextureStatus.want_destroy)
        return self._textures[key].get_tex_ref()


def _texture_of(image: NDArray[np.uint8]) -> imgui.ImTextureData:
    """A picture (128, 128, 3) as a texture that the window's renderer makes in its next frame."""
    data = imgui.ImTextureData()
    data.create(imgui.ImTextureFormat.rgba32, PIXELS, PIXELS)
    opaque = np.full((PIXELS, PIXELS, 1), 255, np.uint8)
    data.get_pixels_array()[:] = np.concatenate([image, opaque], axis=-1).reshape(data.get_pixels_array().shape)
    data.use_colors = True
    data.set_status(imgui.ImTextureStatus.want_create)
    imgui.internal.register_user_texture(data)
    return data
