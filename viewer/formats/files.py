"""Reading and writing files: sizes are limited, reading never blocks, files are written completely or not at all.

And the package's own data, the shaders and the sample skeletons: plain folders at the top of the repository. A wheel
has them inside the package; in a checkout and an editable install they are beside the package.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from platform import node
from typing import BinaryIO

from viewer.errors import FormatError, InputError, OutputError, ViewerError, quote, reason
from viewer.formats.file_formats import BY_SUFFIX, STANDARD_INPUT

FOREIGN_AGE = 86_400.0
"""Seconds after which a temporary file counts as abandoned if it is unknown whether its program still runs: a file of
another machine in a shared folder, or of a version that did not put the process into the name."""

_NAME = re.compile(r"\.ikviewer-(?:([0-9a-f]{8})-([0-9]{1,10})-)?[0-9a-f]{16}\.tmp")
_swept: set[Path] = set()
_PACKAGE = Path(__file__).resolve().parents[1]

LARGEST_FILE = 1 << 29
"""Most bytes of a file unless its reader allows more: 512 MiB, an hour of motion at 120 frames per second."""

_GLB = BY_SUFFIX[".glb"]

_BINARY = getattr(os, "O_BINARY", 0)
# Without O_NONBLOCK, opening a pipe blocks until its other end is opened, before we can see that it is a pipe.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | _BINARY
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | _BINARY

LARGEST_TEXT = 1 << 26
"""Most bytes that are read from a pipe: 64 MiB."""


def temporary_name(folder: Path) -> Path:
    """An unused name in the folder: ``.ikviewer-MACHINE-PROCESS-RANDOM.tmp``."""
    return folder / f".ikviewer-{_machine()}-{os.getpid()}-{os.urandom(8).hex()}.tmp"


def sweep(folder: Path) -> None:
    """Remove temporary files of programs that have ended from a folder; errors are ignored."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            if match is not None and _is_left(entry, match):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)  # noqa: PTH108 - the entry is no Path


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
    # A hard link to an old file has its old modification time; st_ctime is when the link was made.
    return time.time() - max(status.st_mtime, status.st_ctime) > FOREIGN_AGE


def _runs(process: int) -> bool:
    """Whether a process with this id runs. Not for Windows, where os.kill with signal 0 ends the process."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # a process of another user
    # A process that has ended stays listed until its parent has read its exit code (on Linux a file says so).
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b") ")[2][:1] != b"Z"
    return True


@contextlib.contextmanager
def opened(path: Path, name: str, largest: int = LARGEST_FILE) -> Iterator[BinaryIO]:
    """A regular file of at most ``largest`` bytes, open for reading.

    Raises:
        InputError: missing, a folder, a pipe or device, no permission, larger.
    """
    try:
        file = open(path, "rb", opener=lambda name, _: os.open(name, _READ))  # noqa: SIM115 - closed below
    except OSError as error:
        raise InputError(f"{name}: {reason(error)}") from error
    except ValueError as error:  # a NUL in the name, or characters that cannot be encoded
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


def version_of(path: str | Path) -> tuple[int, int] | None:
    """Tells versions of a file apart without reading it; None if it cannot be found."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def read_bytes(path: Path, name: str, largest: int = LARGEST_FILE) -> bytes:
    """All bytes of a regular file; arguments and errors are those of `opened`."""
    with opened(path, name, largest) as file:
        data = file.read(os.fstat(file.fileno()).st_size + 1)
        # Some files (in /proc) state size 0 and are not empty: the bytes read are counted too.
        while more := file.read(1 << 20):
            data += more
            _check_size(len(data), name, largest)
    return data


def decode_utf8(data: bytes, name: str) -> str:
    """Text of a file, without a byte order mark; the error has the place of the first byte that is not UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("expected text in UTF-8, found UTF-16 (not UTF-8)", file=name, line=1, column=1)
    if data.startswith(_GLB.sign):
        found = f"found {_GLB.name} (binary): a skeleton or motion, which is read from names that end in {_GLB.suffix}"
        raise FormatError(f"expected text in UTF-8, {found}", file=name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        bom = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        before = data[bom : bom + error.start].decode("utf-8")
        line, column = line_and_column(before, len(before))
        problem = f"expected text in UTF-8, found the byte 0x{data[bom + error.start]:02X} (not UTF-8)"
        raise FormatError(problem, file=name, line=line, column=column) from error


def line_and_column(text: str, index: int) -> tuple[int, int]:
    """Line and column, from 1, of a character index in a text whose lines end in LF, CR LF or CR."""
    before = text[:index].replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def read_text(path: Path, name: str, largest: int = LARGEST_FILE) -> str:
    """The text of a UTF-8 file; errors are those of `read_bytes` and `decode_utf8`."""
    return decode_utf8(read_bytes(path, name, largest), name)


def write_whole(path: Path, content: bytes | str | Callable[[BinaryIO], object]) -> None:
    """Write a file atomically: even after a crash it has either its old contents or all of the new ones.

    The bytes are written to a temporary file beside it, flushed to the disk, and renamed. A symbolic link stays: the
    file that it points to is replaced. An existing file keeps its permissions. The content is bytes, a text (written as
    UTF-8), or a function that writes into an open binary file.
    """
    with _output_errors(path):
        target = Path(os.path.realpath(path))
        mode = _replaceable(target, path)
        with _temporary(target.parent) as (temporary, file):
            with file:
                if callable(content):
                    content(file)
                else:
                    file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                temporary.chmod(mode)
            temporary.replace(target)
        _sync_folder(target.parent)


def check_output(path: Path) -> None:
    """Raise OutputError if `write_whole` could not write even an empty file; for use before long work."""
    with _output_errors(path):
        target = Path(os.path.realpath(path))
        _replaceable(target, path)
        with _temporary(target.parent) as (temporary, _):
            pass
        temporary.unlink()


@contextlib.contextmanager
def _output_errors(path: Path) -> Iterator[None]:
    """Turn errors of writing into OutputErrors that name the file."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {_output_reason(error, path)}") from error
    except ValueError as error:  # a NUL in the name, a lone surrogate in the text
        raise OutputError(f"{quote(str(path))}: cannot be written: {error}") from error


def _replaceable(target: Path, path: Path) -> int | None:
    """Permissions of the file that will be replaced, or None."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise OutputError(f"{path}: cannot be written: expected a file, found {_what(mode)}")
    # The folder's permissions alone would allow replacing a file that its owner has made read-only.
    if not mode & 0o222 or not os.access(target, os.W_OK):
        raise OutputError(f"{path}: cannot be written: the file is read-only")
    return stat.S_IMODE(mode)


@contextlib.contextmanager
def _temporary(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file in the folder with default permissions; removed on an error."""
    if folder not in _swept:
        _swept.add(folder)
        sweep(folder)
    temporary = temporary_name(folder)
    try:
        with open(temporary, "wb", opener=lambda name, _: os.open(name, _WRITE, 0o666)) as file:
            yield temporary, file
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _sync_folder(folder: Path) -> None:
    """Flush the folder's entries, so that the new name survives a power cut (on POSIX systems)."""
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
    """Raise InputError unless ``found`` is a str or os.PathLike."""
    if not isinstance(found, (str, os.PathLike)):
        raise InputError(f"expected the name of a file, found {quote(found)}")


def read_file_or_pipe(path: Path, name: str) -> str:
    """The text of a UTF-8 file, of a pipe, or of standard input (``-``); this waits until the writer ends."""
    if name == STANDARD_INPUT:
        return decode_utf8(read_standard_input(), name)
    try:
        is_pipe = path.is_fifo()
    except OSError:  # the name is too long; reading it gives the error
        is_pipe = False
    if not is_pipe:
        return read_text(path, name)
    try:
        with path.open("rb") as file:
            return decode_utf8(_at_most(LARGEST_TEXT, file, name), name)
    except OSError as error:
        raise InputError(f"{name}: {reason(error)}") from error


def read_standard_input() -> bytes:
    """All bytes of standard input, unless it is a terminal, closed, or larger than a file may be."""
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None or stream.isatty():
        found = "the terminal" if stream else "none"
        raise InputError(f"{STANDARD_INPUT}: expected a file handed over by < or |, found {found}")
    try:
        return _at_most(LARGEST_FILE, stream, STANDARD_INPUT)
    except OSError as error:
        raise InputError(f"{STANDARD_INPUT}: {reason(error)}") from error


def _at_most(largest: int, stream: BinaryIO, name: str) -> bytes:
    data = stream.read(largest + 1)
    if len(data) > largest:
        raise InputError(f"{name}: expected at most {largest:,} bytes, found more")
    return data


class ResourceError(ViewerError):
    """A data folder of this package is missing: the installation is damaged."""


def data_dir(kind: str) -> Path:
    """The absolute path of a data folder of this package, ``"shaders"`` or ``"skeletons"``.

    Raises:
        ResourceError: the folder is neither inside the package nor beside it.
    """
    inside_wheel, beside_package = _PACKAGE / kind, _PACKAGE.parent / kind
    for folder in (inside_wheel, beside_package):
        if folder.is_dir():
            return folder
    raise ResourceError(
        f"expected the data folder {quote(kind)} at {inside_wheel} or {beside_package}, found neither: "
        "install ikviewer again",
    )
