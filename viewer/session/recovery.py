"""What windows that ended without closing have left behind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from viewer.errors import ViewerError
from viewer.session.autosave import SUFFIX, lock, recovery_folder, remove, remove_if_free
from viewer.session.files import Kept, read_kept


@dataclass(frozen=True, slots=True)
class Recovery:
    """A document that was being worked on when its window ended.

    Attributes:
        path: the recovery file; `viewer.session.files.load_session` reads it.
        kept: when it was written, since when there was unsaved work, and the file that the user had it in.
    """

    path: Path
    kept: Kept

    @property
    def minutes(self) -> float:
        """Minutes of work in it."""
        return max(0.0, self.kept.at - self.kept.since) / 60.0

    def discard(self) -> None:
        """Give it up, or have done with it once it is open again."""
        for path in (self.path, self.path.with_suffix(".lock")):
            remove(path)


def recoveries(folder: Path | None = None) -> tuple[Recovery, ...]:
    """What there is to recover, newest first; what windows that are still open keep is not among it."""
    place = folder or recovery_folder()
    found = []
    for path in sorted(place.glob(f"*{SUFFIX}")) if place.is_dir() else []:
        if not _is_left(path):
            continue
        try:
            found.append(Recovery(path, read_kept(path)))
        except ViewerError:
            # Not one of ours: it stays where it is and keeps nobody from working.
            continue
    return tuple(sorted(found, key=lambda recovery: -recovery.kept.at))


def sweep_locks(folder: Path) -> None:
    """Remove the lock files of windows that are gone and have left nothing."""
    for path in folder.glob("*.lock") if folder.is_dir() else []:
        if not path.with_suffix(".json").exists():  # of a.ikv.json it is a.ikv.lock
            remove_if_free(path)


def _is_left(path: Path) -> bool:
    """Whether the window that wrote it is gone."""
    try:
        held = lock(path.with_suffix(".lock"))
    except OSError:
        return False
    if held is None:
        return False
    held.close()
    return True
