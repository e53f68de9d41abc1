"""A pose library (`viewer.PoseLibrary`): a folder of pose files, each with a small picture beside it."""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viewer.errors import InputError, OutputError, ViewerError, quote, reason, unknown_name
from viewer.formats.files import check_file, read_bytes, write_whole
from viewer.formats.skeleton_json import KeptPose, pose_to_json, read_kept_pose
from viewer.opengl.pictures import render_image, scene_of, seen_points
from viewer.scene import Camera, Display, draw_list, facing, figure_height
from viewer.skeleton import Pose, Skeleton
from viewer.skeleton.character import check_pose, check_skeleton
from viewer.skeleton.transfer import transferred

PIXELS = 128
"""Width and height of the pictures."""

_SUFFIX, _PICTURE = ".json", ".png"
_DRAWN = 2
"""Pictures are drawn this many times as large and reduced: thin bones keep their shape."""
_YAW, _PITCH = math.radians(30.0), math.radians(8.0)
"""Directions from the figure's front from which pictures show it."""
_FIT = 1.12
"""Size of a picture relative to the figure in it."""
_LEAST = 0.4
"""A folded figure fills less of its picture: the picture shows at least this part of the figure's height."""
_LARGEST_PICTURE = 1 << 22
_FORBIDDEN = re.compile(r'[\x00-\x1f/\\:*?"<>|]')
_LONGEST_NAME = 80
_MOST = 5000
"""Largest number of poses that a library shows."""
_WITHOUT_BONES = 'the file does not hold the bones of its skeleton ("rest")'


@dataclass(frozen=True, slots=True)
class LibraryPose:
    """A pose in the list of a library.

    Attributes:
        name: the file's name without its suffix.
        path: of the file.
        tags: words that find it.
        joints: how many joints it poses.
        skeleton: name of the skeleton that it was made for; "" if the file does not state it.
    """

    name: str
    path: Path
    tags: tuple[str, ...]
    joints: int
    skeleton: str

    def matches(self, text: str) -> bool:
        """Whether every word of a text is part of the name or of a tag."""
        whole = " ".join((self.name, *self.tags)).casefold()
        return all(word in whole for word in text.casefold().split())


class PoseLibrary:
    """The poses of a folder. Other programs may change the folder at any time; `reread` notices that.

    Attributes:
        folder: it need not exist: `keep` makes it.
        poses: those of the last `reread`, by name.
        problems: a line for each file that is refused, and for a folder that cannot be read.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Read the list of poses; problems with it do not raise, see `problems`.

        Raises:
            InputError: no name of a folder.
        """
        check_file(folder)
        self.folder = Path(folder)
        self.poses: tuple[LibraryPose, ...] = ()
        self.problems: tuple[str, ...] = ()
        self._known: dict[Path, tuple[tuple[int, int], LibraryPose | str]] = {}
        self.reread()

    def __repr__(self) -> str:
        return f"<PoseLibrary {quote(str(self.folder))}: {len(self.poses)} poses>"

    def __len__(self) -> int:
        return len(self.poses)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all poses, in alphabetical order."""
        return tuple(one.name for one in self.poses)

    def reread(self) -> bool:
        """Read the list again, but only the files that have changed; whether anything has."""
        before = self.poses, self.problems
        try:
            files = sorted(_files(self.folder), key=lambda found: (found[0].name.casefold(), found[0].name))
            problems = [] if len(files) <= _MOST else [f"{self.folder}: only the first {_MOST} poses are listed"]
        except FileNotFoundError:
            files, problems = [], []
        except OSError as error:
            files, problems = [], [f"{self.folder}: cannot be read: {reason(error)}"]
        known, self._known = self._known, {}
        for path, stamp in files[:_MOST]:
            old = known.get(path)
            self._known[path] = old if old is not None and old[0] == stamp else (stamp, _listed(path))
        found = [entry for _, entry in self._known.values()]
        self.poses = tuple(entry for entry in found if isinstance(entry, LibraryPose))
        self.problems = (*problems, *(entry for entry in found if isinstance(entry, str)))
        return before != (self.poses, self.problems)

    def find(self, text: str) -> tuple[LibraryPose, ...]:
        """The poses whose name or tags have every word of a text, in any case."""
        return tuple(one for one in self.poses if one.matches(text))

    def read(self, name: str) -> KeptPose:
        """The pose of a name, as its file states it.

        Raises:
            ViewerError: no such pose, or its file cannot be read.
        """
        return read_kept_pose(self._pose(name).path)

    def pose(self, name: str, skeleton: Skeleton, now: Pose | None = None) -> Pose:
        """A pose for a skeleton: joints are matched by name and by part of the body, see `viewer.skeleton.transfer`.

        Args:
            name: of the pose.
            skeleton: any.
            now: for joints that the library's pose does not contain; default the relaxed pose.

        Raises:
            ViewerError: no such pose, its file cannot be read, or no joint of it is one of the skeleton's.
        """
        source, pose = self.read(name).on(skeleton)
        done = transferred(source, pose, skeleton, skeleton.relaxed_pose() if now is None else now)
        if not done.joints:
            raise InputError(f"pose {quote(name)}: no joint of it is a joint of {quote(skeleton.name)}")
        return done.pose

    def keep(self, skeleton: Skeleton, pose: Pose, name: str = "Pose", tags: Iterable[str] = ()) -> str:
        """Write a pose and its picture into the folder.

        Args:
            skeleton: of the pose.
            pose: to be kept.
            name: of the file; if it is taken, a number is added.
            tags: words that find it.

        Returns:
            The name under which it was kept.

        Raises:
            InputError: an invalid pose or name.
            OutputError: the folder or the file cannot be written; nothing was.
            MachineError: the machine cannot draw; the pose was kept without a picture.
        """
        check_skeleton(skeleton)
        check_pose(pose)
        free = self._free(_checked(name))
        path = self.folder / f"{free}{_SUFFIX}"
        text = pose_to_json(skeleton, pose, tags=tags)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self.folder}: cannot be made: {reason(error)}") from error
        write_whole(path, text)
        self.reread()
        self._write_picture(path, draw_pose(skeleton, pose))
        return free

    def rename(self, name: str, wanted: str) -> str:
        """Give a pose another name; returns the one that it got, with a number if the wanted one was taken.

        Raises:
            ViewerError: no such pose, an invalid name, or the folder cannot be written.
        """
        pose = self._pose(name)
        if wanted.strip() == name:
            return name
        free = self._free(_checked(wanted), but=name)
        self._move(pose.path, self.folder / f"{free}{_SUFFIX}")
        if pose.path.with_suffix(_PICTURE).exists():
            self._move(_picture_of(pose.path), self.folder / f"{free}{_PICTURE}")
        self.reread()
        return free

    def set_tags(self, name: str, tags: Iterable[str]) -> None:
        """Give a pose other tags.

        Raises:
            ViewerError: no such pose, one without a skeleton in its file, or the file cannot be written.
        """
        kept = self.read(name)
        if kept.skeleton is None or kept.pose is None:
            raise InputError(f"{kept.file}: {_WITHOUT_BONES}; keep the pose again to give it tags")
        text = pose_to_json(kept.skeleton, kept.pose, tags=dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
        write_whole(self._pose(name).path, text)
        self.reread()

    def remove(self, name: str) -> None:
        """Delete a pose and its picture.

        Raises:
            ViewerError: no such pose, or the folder cannot be written.
        """
        path = self._pose(name).path
        try:
            path.unlink()
            if _is_ours(_picture_of(path)):
                _picture_of(path).unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{path}: cannot be deleted: {reason(error)}") from error
        self.reread()

    def picture(self, name: str, skeleton: Skeleton | None = None) -> NDArray[np.uint8]:
        """The picture of a pose, (128, 128, 3), the top row first; drawn and written where there is none yet.

        Args:
            name: of the pose.
            skeleton: draws poses whose file does not state a skeleton.

        Raises:
            ViewerError: no such pose, its file cannot be read or does not fit, or the machine cannot draw.
        """
        path = self._pose(name).path
        found = _read_picture(_picture_of(path), newer_than=path)
        if found is not None:
            return found
        kept = read_kept_pose(path)
        source = kept.skeleton or skeleton
        if source is None:
            raise InputError(f"{path}: {_WITHOUT_BONES}, so that it cannot be drawn: keep the pose in a library again")
        image = draw_pose(*kept.on(source))
        if not _picture_of(path).exists() or _is_ours(_picture_of(path)):
            with contextlib.suppress(OutputError):  # a library that cannot be written is still shown
                self._write_picture(path, image)
        return image

    def _pose(self, name: str) -> LibraryPose:
        for one in self.poses:
            if one.name == name:
                return one
        raise InputError(unknown_name("pose", name, self.names))

    def _free(self, name: str, but: str = "") -> str:
        """The name, with a number if it is taken; names that differ in case only are the same on some systems."""
        try:
            there = {path.stem.casefold() for path, _ in _files(self.folder, every=True)}
        except OSError:
            there = set()
        there -= {but.casefold()}
        number, free = 2, name
        while free.casefold() in there:
            free, number = f"{name} {number}", number + 1
        return free

    def _move(self, old: Path, new: Path) -> None:
        try:
            old.rename(new)
        except OSError as error:
            raise OutputError(f"{old}: cannot be renamed: {reason(error)}") from error

    def _write_picture(self, path: Path, image: NDArray[np.uint8]) -> None:
        from PIL import Image  # noqa: PLC0415 - only pictures need it

        file = io.BytesIO()
        Image.fromarray(image).save(file, "PNG")
        write_whole(_picture_of(path), file.getvalue())


def draw_pose(skeleton: Skeleton, pose: Pose) -> NDArray[np.uint8]:
    """The picture of a pose, (128, 128, 3), drawn without a screen; a MachineError where the machine cannot draw."""
    size = (_DRAWN * PIXELS, _DRAWN * PIXELS)
    scene = replace(scene_of(skeleton, pose), display=Display(grid=False, bodies=True, limits="none"))
    turned = Camera(np.zeros(3)).looking("front", facing(skeleton, scene.world)).turned(_YAW, _PITCH)
    points, least = seen_points(scene), _LEAST * figure_height(skeleton)
    projection = turned.frame(points, size, fit=_FIT, raised=0.0, least=least).projection(size)
    large = render_image(draw_list(scene, projection, _DRAWN), projection, 4, _DRAWN).astype(np.uint16)
    small = large.reshape(PIXELS, _DRAWN, PIXELS, _DRAWN, 3).sum(axis=(1, 3)) // _DRAWN**2
    return np.asarray(small, dtype=np.uint8)


def _picture_of(path: Path) -> Path:
    return path.with_name(f"{path.name.removesuffix(_SUFFIX)}{_PICTURE}")


def _files(folder: Path, *, every: bool = False) -> list[tuple[Path, tuple[int, int]]]:
    """The pose files of a folder with time and size; ``every``: pictures, too; an OSError if it cannot be read."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            suffix = Path(entry.name).suffix
            if suffix not in ({_SUFFIX, _PICTURE} if every else {_SUFFIX}) or entry.name.startswith("."):
                continue
            try:
                state = entry.stat()
            except OSError:
                continue  # it vanished, or is a broken link
            found.append((Path(entry.path), (state.st_mtime_ns, state.st_size)))
    return found


def _listed(path: Path) -> LibraryPose | str:
    """A pose for the list, or why its file is refused."""
    try:
        kept = read_kept_pose(path)
    except ViewerError as error:
        return str(error)
    return LibraryPose(path.name.removesuffix(_SUFFIX), path, kept.tags, kept.joints, kept.made_for)


def _checked(name: str) -> str:
    """A name without blanks around it; an InputError if it cannot be a file's name everywhere."""
    name = name.strip()
    wrong = _FORBIDDEN.search(name)
    if not name or name.startswith("."):
        raise InputError(f"expected a name for the pose, found {quote(name)}")
    if wrong or len(name) > _LONGEST_NAME:
        why = f"without {quote(wrong.group())}" if wrong else f"of at most {_LONGEST_NAME} letters"
        raise InputError(f"expected a name {why}, found {quote(name)}")
    return name


def _is_ours(path: Path) -> bool:
    """Whether a picture is one of a library: others that happen to have the name stay as they are."""
    return _read_picture(path) is not None


def _read_picture(path: Path, newer_than: Path | None = None) -> NDArray[np.uint8] | None:
    """The picture of a PNG file of the right size; None for anything else, or if it is older than a file."""
    from PIL import Image  # noqa: PLC0415 - only pictures need it

    try:
        if newer_than is not None and path.stat().st_mtime_ns < newer_than.stat().st_mtime_ns:
            return None
        with Image.open(io.BytesIO(read_bytes(path, str(path), _LARGEST_PICTURE)), formats=["PNG"]) as image:
            if image.size != (PIXELS, PIXELS):
                return None
            return np.array(image.convert("RGB"), dtype=np.uint8)
    except (OSError, ViewerError, ValueError, SyntaxError):
        return None
