"""Reading and writing files: bounded, never hanging, written completely or not at all; file names and pipes."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from platform import node
from typing import BinaryIO

from viewer.errors import FormatError, InputError, OutputError, quote

FOREIGN_AGE = 86_400.0
"""Seconds after which a temporary file is taken for left if it is unknown whether its program still runs: one of
another machine on a shared folder, or of a version whose names said nothing."""

_NAME = re.compile(r"\.ikviewer-(?:([0-9a-f]{8})-([0-9]{1,10})-)?[0-9a-f]{16}\.tmp")
_swept: set[Path] = set()


def temporary_name(folder: Path) -> Path:
    """A name in the folder that no file has: ``.ikviewer-MACHINE-PROCESS-RANDOM.tmp``."""
    return folder / f".ikviewer-{_machine()}-{os.getpid()}-{secrets.token_hex(8)}.tmp"


def sweep(folder: Path) -> None:
    """Remove what programs that are gone have left in a folder; nothing of those that run. Nothing is raised."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            if match is not None and _is_left(entry, match):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)  # noqa: PTH108 - the entry is no Path


def sweep_once(folder: Path) -> None:
    """`sweep` where this program has not been yet."""
    if folder not in _swept:
        _swept.add(folder)
        sweep(folder)


def _machine() -> str:
    return f"{zlib.crc32(node().encode()):08x}"


def _is_left(entry: os.DirEntry[str], match: re.Match[str]) -> bool:
    machine, process = match.groups()
    if machine == _machine() and sys.platform != "win32":
        return not _runs(int(process))
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    # A second name of an old file is as old as that; when it was made is the time of the last change of its entry.
    return time.time() - max(status.st_mtime, status.st_ctime) > FOREIGN_AGE


def _runs(process: int) -> bool:
    """Whether there is a process of that number (not on Windows, where asking would end it)."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # somebody else's
    return True


LARGEST_FILE = 1 << 29
"""Bytes a file may have unless its reader says otherwise: 512 MiB, an hour of motion at 120 frames a second."""

_BINARY = getattr(os, "O_BINARY", 0)
# A pipe opened without O_NONBLOCK waits for its other end without limit, before it can be seen to be a pipe.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | _BINARY
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | _BINARY

_REASONS = {
    errno.ENOENT: "no such file or folder",
    errno.ENOTDIR: "a part of the path is not a folder",
    errno.EISDIR: "expected a file, found a folder",
    errno.EACCES: "no permission",
    errno.EPERM: "no permission",
    errno.EROFS: "the file system is read-only",
    errno.ENOSPC: "the disk is full",
    errno.EFBIG: "the disk is full, or files this large are not allowed",
    errno.ELOOP: "the links lead in a circle",
    errno.ENAMETOOLONG: "the name is too long",
}
if hasattr(errno, "EDQUOT"):
    _REASONS[errno.EDQUOT] = "the disk quota is used up"


@contextlib.contextmanager
def opened(path: Path, name: str, largest: int = LARGEST_FILE) -> Iterator[BinaryIO]:
    """A regular file, open for reading bytes.

    Args:
        path: the file.
        name: what the user called it, for messages.
        largest: bytes that it may have.

    Raises:
        InputError: missing, a folder, a pipe or device, no permission, larger than ``largest``.
    """
    try:
        file = open(path, "rb", opener=lambda place, _: os.open(place, _READ))  # noqa: SIM115 - closed below
    except OSError as error:
        raise InputError(f"{name}: {reason(error)}") from error
    except ValueError as error:  # a NUL in the name, or what no file system can spell
        raise InputError(f"{quote(name)}: not a file name: {error}") from error
    try:
        with file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{name}: expected a file, found {_what(status.st_mode)}")
            _check_size(status.st_size, name, largest)
            yield file
    except OSError as error:
        raise InputError(f"{name}: {reason(error)}") from error


def read_bytes(path: Path, name: str, largest: int = LARGEST_FILE) -> bytes:
    """All bytes of a regular file; arguments and errors as of `opened`."""
    with opened(path, name, largest) as file:
        data = file.read(os.fstat(file.fileno()).st_size + 1)
        # Some files (in /proc) state size 0 and are not empty: what comes is counted, too.
        while more := file.read(1 << 20):
            data += more
            _check_size(len(data), name, largest)
    return data


def decode_utf8(data: bytes, name: str) -> str:
    """Text of a file, without a byte order mark.

    Raises:
        FormatError: not UTF-8, with the line and column of the first wrong byte.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("expected text in UTF-8, found UTF-16 (not UTF-8)", file=name, line=1, column=1)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        bom = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        before = data[bom : bom + error.start].decode("utf-8")
        line, column = line_and_column(before, len(before))
        problem = f"expected text in UTF-8, found the byte 0x{data[bom + error.start]:02X} (not UTF-8)"
        raise FormatError(problem, file=name, line=line, column=column) from error


def line_and_column(text: str, place: int) -> tuple[int, int]:
    """Line and column, from 1, of a place in a text whose lines end in LF, CR LF or CR."""
    before = text[:place].replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def read_text(path: Path, name: str, largest: int = LARGEST_FILE) -> str:
    """The text of a UTF-8 file; raises as `read_bytes` and `decode_utf8` do."""
    return decode_utf8(read_bytes(path, name, largest), name)


def write_whole(path: Path, content: bytes | str | Callable[[BinaryIO], object]) -> None:
    """Write a file so that it has either its old contents or all of the new ones, whatever happens.

    The bytes go to a temporary file beside it, to the disk, and take its name then. A link stays a link: the file
    that it leads to is replaced. Permissions of a file that is there already are kept.

    Args:
        path: the file.
        content: its bytes, its text (written as UTF-8), or a function that writes into an open binary file.

    Raises:
        OutputError: no such folder, no permission, a read-only or full disk, a folder or device of that name.
    """
    with _told(path):
        target = Path(os.path.realpath(path))
        mode = _replaceable(target, path)
        with _temporary(target.parent) as (temporary, file):
            with file:
                _fill(file, content)
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                temporary.chmod(mode)
            temporary.replace(target)
        _sync_folder(target.parent)


def check_output(path: Path) -> None:
    """Raise OutputError if `write_whole` could not write even an empty file: before long work, not after it."""
    with _told(path):
        target = Path(os.path.realpath(path))
        _replaceable(target, path)
        with _temporary(target.parent) as (temporary, _):
            pass
        temporary.unlink()


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """What goes wrong in writing becomes an OutputError that names the file."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {_output_reason(error, path)}") from error
    except ValueError as error:  # a NUL in the name, a lone surrogate in the text
        raise OutputError(f"{quote(str(path))}: cannot be written: {error}") from error


def reason(error: OSError) -> str:
    """What went wrong, in words of ours where it is something a user meets."""
    return _REASONS.get(error.errno or 0, error.strerror or str(error))


def _fill(file: BinaryIO, content: bytes | str | Callable[[BinaryIO], object]) -> None:
    if callable(content):
        content(file)
    else:
        file.write(content.encode() if isinstance(content, str) else content)


def _replaceable(target: Path, path: Path) -> int | None:
    """Permissions of the file that is to be replaced, None where there is none."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise OutputError(f"{path}: cannot be written: expected a file, found {_what(mode)}")
    # The folder's permissions would allow the replacing; the file's say that its owner does not want it.
    if not mode & 0o222 or not os.access(target, os.W_OK):
        raise OutputError(f"{path}: cannot be written: the file is read-only")
    return stat.S_IMODE(mode)


@contextlib.contextmanager
def _temporary(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file in the folder, with the user's usual permissions; gone afterwards unless it was renamed."""
    sweep_once(folder)
    temporary = temporary_name(folder)
    try:
        with open(temporary, "wb", opener=lambda place, _: os.open(place, _WRITE, 0o666)) as file:
            yield temporary, file
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can."""
    if os.name == "posix":
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _output_reason(error: OSError, path: Path) -> str:
    if error.errno != errno.ENOENT:
        return reason(error)
    there = Path(os.path.realpath(path)).parent.is_dir()
    return "no file can be made in its folder" if there else "its folder does not exist"


def _check_size(size: int, name: str, largest: int) -> None:
    if size > largest:
        raise InputError(f"{name}: expected at most {largest:,} bytes, found {size:,}")


def _what(mode: int) -> str:
    kinds = (
        (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
    )  # fmt: skip
    return next((name for test, name in kinds if test(mode)), "something else")


def check_file(found: object) -> None:
    """Raise InputError unless it can be the name of a file."""
    if not isinstance(found, (str, os.PathLike)):
        raise InputError(f"expected the name of a file, found {quote(found)}")


def leads_to(output: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether what is written to ``output`` replaces the file ``other``: by a link, or in another case, too."""
    try:
        # `write_whole` resolves the name before it looks: GONE/../NAME is NAME to it.
        return Path(os.path.realpath(output)).samefile(other)
    except (OSError, ValueError):  # one of them is not there, or is no name of a file
        return False


LARGEST_TEXT = 1 << 26
"""Bytes that are taken from a pipe: 64 MiB, goals without number."""


def read_file_or_pipe(path: Path, name: str) -> str:
    """The text of a UTF-8 file, or all that comes through a pipe: its writer is waited for.

    Args:
        path: the file or pipe.
        name: what the user called it, for messages.

    Raises:
        InputError: missing, a folder or device, no permission, too large.
        FormatError: not UTF-8.
    """
    try:
        is_pipe = path.is_fifo()
    except OSError:  # a name that is too long: reading it says so
        is_pipe = False
    if not is_pipe:
        return read_text(path, name)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_TEXT + 1)
    except OSError as error:
        raise InputError(f"{name}: {reason(error)}") from error
    if len(data) > LARGEST_TEXT:
        raise InputError(f"{name}: expected at most {LARGEST_TEXT:,} bytes, found more")
    return decode_utf8(data, name)
