"""The one family of exceptions that this package raises for problems that a user can fix.

Every message is one line: where, what was expected, what was found. The command prints it behind
``error: `` and exits with the class's ``exit_code``.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import ClassVar

LONGEST_NAME = 60
LONGEST_MESSAGE = 500
"""Letters of a message: a name or a path in it may be of any length."""
_ICONS = range(0xE000, 0xF900)
"""Private letters, where the window's font has its icons."""

PACKAGES = {
    "PIL": "pillow",
    "imageio_ffmpeg": "imageio-ffmpeg",
    "imgui_bundle": "imgui-bundle",
    "moderngl_window": "moderngl-window",
    "pxr": "usd-core",
}
"""The names that pip has for modules with another name."""

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

_MOST_LISTED, _FEW = 10, 8
"""If there are more names than the first number, messages list those up to the second and count the others."""

_MOST_NEAR = 3
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
"""A word of a name such as ``LeftForeArm2``, ``upper_arm.L`` or ``LHand``."""
_SIDES = {"l": "left", "left": "left", "r": "right", "right": "right"}


class ViewerError(Exception):
    """Base of all errors of this package: input or output that cannot be used."""

    exit_code: ClassVar[int] = 1

    def __str__(self) -> str:
        """The message: one printable line of at most `LONGEST_MESSAGE` letters, even if names in it are not."""
        return one_line(self._whole())

    def _whole(self) -> str:
        return super().__str__()


class FormatError(ViewerError):
    """A file whose contents cannot be used.

    Attributes:
        file: the file as the user named it, or None where it is not known yet.
        line: line in the file, counted from 1, or None.
        column: column in the line, counted from 1 in characters, or None.
        path: place inside a JSON document, such as ``joints[1] "b".offset``, or None.
        problem: what was expected and what was found.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        path: str | None = None,
    ) -> None:
        """Keep the place and the problem apart, so that a window can show them apart."""
        self.problem = problem
        self.file = file
        self.line = line
        self.column = column
        self.path = path
        super().__init__(problem)

    def _whole(self) -> str:
        """``FILE, line L, column C: problem`` or ``FILE: JSON PATH: problem``."""
        place = self.file or ""
        if self.line is not None:
            place += f"{', ' if place else ''}line {self.line}"
        if self.column is not None:
            place += f", column {self.column}"
        parts = [place, self.path or "", self.problem]
        return ": ".join(part for part in parts if part)


class InputError(ViewerError):
    """An argument, name or value that cannot be used, in the library or the command."""


class OutputError(ViewerError):
    """A file that could not be written; an existing file is unchanged."""


class MachineError(ViewerError):
    """The machine lacks something: a display, OpenGL, ffmpeg. The message names the cure."""

    exit_code: ClassVar[int] = 3


@contextmanager
def of_file(file: str | None) -> Iterator[None]:
    """Make `FormatError`s in the block that do not name a file name this one."""
    try:
        yield
    except FormatError as error:
        error.file = error.file or file
        raise


@contextmanager
def at_path(
    path: str | None = None, *, file: str | None = None, line: int | None = None, but: str = ""
) -> Iterator[None]:
    """Turn `InputError`s in the block, of values from a file, into `FormatError`s at their path in it, without ``but``.

    ``but`` is the beginning of messages, such as "builder: ", that says less than the path.
    """
    try:
        yield
    except InputError as error:
        raise FormatError(str(error).removeprefix(but), file=file, line=line, path=path) from error


@contextmanager
def prefixed(where: object, *, but: str = "") -> Iterator[None]:
    """Make the messages of `InputError`s in the block begin with ``where``, in place of ``but``."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {str(error).removeprefix(but)}") from error


@contextmanager
def writing(name: object) -> Iterator[None]:
    """Turn `OSError`s in the block into an `OutputError` that names the file, or what is written to."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{name}: cannot be written: {reason(error)}") from error


def missing_library(what: str, error: ImportError, *others: str) -> MachineError:
    """The message where something needs a library that is not installed, or that cannot be loaded.

    Args:
        what: that needs it, as the line begins: ``drawing``.
        error: what importing it raised.
        others: modules that it needs besides: those that are missing, too, are installed by the same line.

    Raises:
        ImportError: the given one, if a module of this program is at fault and not a library.
    """
    if is_own(error):
        raise error
    name = (error.name or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and name:
        missing = dict.fromkeys([name, *(other for other in others if not is_installed(other))])
        packages = [PACKAGES.get(module, module) for module in missing]
        return MachineError(f"{what} needs {', '.join(packages)}: python3 -m pip install {' '.join(packages)}")
    said = " ".join(str(error).split()) or "no reason given"
    return MachineError(f"{what}: a library that it needs cannot be loaded ({said})")


def is_own(error: ImportError) -> bool:
    """Whether what cannot be imported is part of this program, which is a fault of it."""
    return (error.name or "").partition(".")[0] == "viewer"


def is_installed(module: str) -> bool:
    """Whether a module can be found; it is not loaded."""
    try:
        return find_spec(module) is not None
    except ImportError:
        return False


if hasattr(errno, "EDQUOT"):
    _REASONS[errno.EDQUOT] = "the disk quota is used up"


def reason(error: OSError) -> str:
    """The cause of an error: plain words for common causes, else the system's text."""
    return _REASONS.get(error.errno or 0, error.strerror or str(error))


def means_full(message: str) -> bool:
    """Whether the message of an OutputError says that the disk or its quota is full."""
    full = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
    return any(message.endswith(_REASONS[number]) for number in full)


def visible(text: str, *, icons: bool = False) -> str:
    """The text with invisible characters, and those that control a terminal, escaped as Python does.

    Args:
        text: of any letters; printable ones of any script stay.
        icons: letters of the private use area stay, too: the window's font draws them.
    """
    if text.isprintable():
        return text
    kept = _ICONS if icons else ()
    return "".join(c if c.isprintable() or ord(c) in kept else c.encode("unicode_escape").decode("ascii") for c in text)


def shortened(text: str, longest: int) -> str:
    """The text, or as many letters of its two ends: names differ at their ends."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"


def one_line(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """A text as one printable line of at most ``longest`` letters."""
    return shortened(visible(shortened(text, longest)), longest)


def shown(name: str) -> str:
    """A name as people see it in a table or a list: printable, on one line, of at most `LONGEST_NAME` letters."""
    return one_line(name, LONGEST_NAME)


def quote(found: object) -> str:
    """What was found, as `shown`, in quotation marks: for use in a message."""
    return f'"{shown(found if isinstance(found, str) else repr(found))}"'


def plural(count: int, noun: str) -> str:
    """``1 frame``, ``2 frames``, ``2 meshes``."""
    ending = "" if count == 1 else "es" if noun.endswith("h") else "s"
    return f"{count} {noun}{ending}"


def and_more(count: int, shown: int = 1) -> str:
    """The end of a list of which only some are shown: `` and 3 more``, or nothing."""
    return f" and {count - shown} more" if count > shown else ""


def more_such(count: int) -> str:
    """The end of a line that tells the first of several findings: ``, and 3 more such``, or nothing."""
    return f", and {count - 1} more such" if count > 1 else ""


def listed(names: Sequence[str], most: int) -> str:
    """``a, b, c and 4 more``: names, of many the first ones and the number of the rest."""
    return ", ".join(names[:most]) + and_more(len(names), most)


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Message for a name that is not there, with the nearest ones that are.

    Example: ``no joint "LeftHnad"; did you mean "LeftHand"?``
    """
    known = list(known)
    near = _near(name, known)
    message = f"no {kind} {quote(name)}"
    if near:
        return f"{message}; did you mean {' or '.join(quote(n) for n in near)}?"
    shown = len(known) if len(known) <= _MOST_LISTED else _FEW
    return f"{message}; there is {listed([*map(quote, known)], shown)}" if known else f"{message}: there is none"


def _near(name: str, known: list[str]) -> list[str]:
    """The known names that are most like it, three at most; where some differ only in how a side is written, these."""
    sided = _with_side(name)
    by_side = {_with_side(n) or n.casefold(): n for n in reversed(known)} if sided else {}
    if sided in by_side and by_side[sided] != name:
        return [by_side[sided]]
    import difflib  # noqa: PLC0415 - only a mistyped name waits for it

    near: dict[str, None] = {}
    for spelled, names in ((sided, by_side), (name.casefold(), {n.casefold(): n for n in reversed(known)})):
        matches = difflib.get_close_matches(spelled, names, n=_MOST_NEAR, cutoff=0.6)
        near |= dict.fromkeys(names[match] for match in matches)
    return list(near)[:_MOST_NEAR]


def _with_side(name: str) -> str:
    """The words of a name in small letters, its side first and in full: "lefthand" of hand_l, Hand.L, LHand and others.

    A prefix that a program gives all names (``mixamorig:``) is left out. "" where no side is named.
    """
    words = [word.casefold() for word in WORD.findall(name.rpartition(":")[2])]
    sides = [_SIDES[word] for word in words if word in _SIDES]
    return "".join([*sides, *(word for word in words if word not in _SIDES)]) if len(sides) == 1 else ""
