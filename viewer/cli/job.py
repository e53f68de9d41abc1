"""The parts of a command: options declared as fields, a function from options to a result, and their output.

The fields of a command's `Options` declare its options and arguments. The parser, the help, the completion of shells
and the tables of docs/command.md are all made from them; `viewer.cli.main` calls the command's ``run`` with an instance
and prints the `Result`. `dataclasses` are not used, because importing them takes longer than parsing a command line.

Lines and JSON go to stdout, warnings and progress bars to stderr.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self, TextIO, TypeAlias, TypeVar, dataclass_transform

from viewer.errors import InputError, OutputError, one_line, plural, reason, unknown_name, visible
from viewer.progress import watched_by

P = TypeVar("P", bound="Options")

SKELETONS, FILES = "skeletons", "files"
"""What completion offers for a value: files with skeletons and samples, or any file."""

_state = {"quiet": False, "debug": False}

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | int | bool | None"

_WIDTH = 100
"""Most columns of a JSON list or object on one line."""

_ALIKE = 3
"""Warnings of many files that are printed though they differ only in numbers."""
_NAME_OR_NUMBER = re.compile(r"""("[^"]*")|(?<!\w)\d+(\.\d+)?(e[-+]?\d+)?(?!\w)""")
"""What is quoted, or a number that stands alone: digits inside quotation marks or words belong to names."""
_counts: dict[str, dict[str, int]] | None = None
"""How often each warning was raised about any file; None: they are not counted."""

_DELAY = 1.0
"""Seconds of work before a bar is shown for it."""

_BAR_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {remaining} left"

_works: dict[str, _Work] = {}


class UsageError(Exception):
    """Options that contradict each other, or a missing one: wrong usage (exit code 2)."""


class Result(NamedTuple):
    """The output of a command, or of each part of its work.

    Attributes:
        lines: text, printed even with ``--quiet``.
        notes: text that reports work done; ``--quiet`` omits it.
        document: what ``--json`` prints instead.
        code: the exit code.
        is_whole: whether the document is about all parts of the work, and is printed without theirs.
    """

    lines: Sequence[str] = ()
    notes: Sequence[str] = ()
    document: Json = None
    code: int = 0
    is_whole: bool = False


class Field(NamedTuple):
    """One option or argument.

    Attributes:
        name: of the attribute with its value.
        help: its description, as Markdown; `{default}` in it stands for its default.
        names: as typed, ``--name`` and perhaps ``-n``; empty for a positional argument.
        default: its value if it is not given.
        metavar: name of its value in the help; "" for a flag.
        parse: checks and converts the text; raises argparse.ArgumentTypeError.
        choices: all values that are allowed, or empty.
        kind: what messages call such a value.
        words: some possible values, for completion.
        completes: `SKELETONS`, `FILES` or "".
        writes: whether the files that it completes are written; others are read.
        one_of: of the fields of a class with the same word here at most one may be given.
        nargs, const: as in argparse.
        repeats: whether it may be given several times; its value is a list.
        required: whether it must be given.
        is_option: whether it is an option, not a positional argument.
        part: the class of options that the field holds; everything else is empty then.
    """

    name: str = ""
    help: str = ""
    names: tuple[str, ...] = ()
    default: Any = None
    metavar: str = ""
    parse: Callable[[str], Any] | None = None
    choices: tuple[str, ...] = ()
    kind: str = ""
    words: tuple[str, ...] = ()
    completes: str = ""
    writes: bool = False
    one_of: str = ""
    nargs: str | None = None
    const: Any = None
    repeats: bool = False
    required: bool = False
    is_option: bool = False
    part: Any = None

    @property
    def is_flag(self) -> bool:
        """Whether it has no value."""
        return self.is_option and not self.metavar and not self.choices

    @property
    def reads(self) -> bool:
        """Whether its value is, or may be, a file that is read."""
        return bool(self.completes) and not self.writes

    def plain_help(self) -> str:
        """The help as plain text."""
        unlinked = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", self.help)
        return re.sub(r"\*(\S[^*]*)\*", r"\1", unlinked).replace("`", "")


def option(metavar: str, text: str, *, short: str = "", **rest: Any) -> Any:  # noqa: ANN401 - of the field's own type
    """Declare an option with a value: ``--name METAVAR``; ``rest`` are attributes of `Field`."""
    return Field(help=text, metavar=metavar, names=(short,) if short else (), is_option=True, **rest)


def repeated(metavar: str, text: str, **rest: Any) -> Any:  # noqa: ANN401
    """Declare an option that may be given several times: its value is a list."""
    return option(metavar, text, repeats=True, default=(), **rest)


def flag(text: str, **rest: Any) -> Any:  # noqa: ANN401
    """Declare an option without a value: ``--name``."""
    return Field(help=text, default=False, is_option=True, **rest)


def argument(metavar: str, text: str, **rest: Any) -> Any:  # noqa: ANN401
    """Declare a positional argument."""
    return Field(help=text, metavar=metavar, **rest)


def part(cls: type[P]) -> P:
    """Declare a field that holds the options of another class."""
    made: Any = Field(part=cls)
    field: P = made
    return field


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Options:
    """Base of classes whose fields are options; a ``title`` makes a part of other options a group of the help.

    Attributes:
        declared: the fields, in order.
        heading: the title.
        examples: of a command, for the end of its help.
        usage: of a command whose arguments depend on each other; None: made from the fields.
    """

    declared: ClassVar[tuple[Field, ...]] = ()
    heading: ClassVar[str] = ""
    examples: ClassVar[str] = ""
    usage: ClassVar[str | None] = None

    def __init_subclass__(cls, title: str = "") -> None:
        cls.heading = title
        cls.declared = tuple(_named(name, field) for name, field in vars(cls).items() if isinstance(field, Field))

    def __init__(self, **values: Any) -> None:  # noqa: ANN401 - of the fields' own types
        """Values by name; all other fields have their defaults."""
        for field in self.declared:
            default = field.default if field.part is None else field.part()
            self.__dict__[field.name] = values.pop(field.name, default)
        if values:
            raise TypeError(f"{type(self).__name__} has no option {', '.join(values)}")

    def __setattr__(self, name: str, value: object) -> None:
        """Raise AttributeError: options do not change."""
        raise AttributeError(f"options do not change: {name}")

    def replaced(self, **values: Any) -> Self:  # noqa: ANN401 - of the fields' own types
        """These options with other values of some of its fields (parts are fields, too)."""
        return type(self)(**({field.name: getattr(self, field.name) for field in self.declared} | values))

    def values(self) -> dict[str, Any]:
        """The values of all fields by name, including those of parts."""
        found: dict[str, Any] = {}
        for field in self.declared:
            value = getattr(self, field.name)
            found |= {field.name: value} if field.part is None else value.values()
        return found


def _named(name: str, field: Field) -> Field:
    """The field with its name: ``max_count`` is typed ``--max-count``; its help says its default for ``{default}``."""
    names = (*field.names, f"--{name.replace('_', '-')}") if field.is_option else ()
    usual = "x".join(map(str, field.default)) if isinstance(field.default, tuple) else str(field.default)
    usual = f"{field.default:g}" if isinstance(field.default, float) else usual
    return field._replace(name=name, names=names, help=field.help.replace("{default}", usual))


def fields_of(cls: type[Options]) -> Iterator[Field]:
    """All options and arguments of a class and its parts, in order."""
    for field in cls.declared:
        if field.part is None:
            yield field
        else:
            yield from fields_of(field.part)


def add_fields(parser: argparse.ArgumentParser | argparse._ArgumentGroup, cls: type[Options]) -> None:
    """Add the options and arguments of a class to a parser; parts with a title become groups."""
    alternatives: dict[str, argparse._MutuallyExclusiveGroup] = {}
    for field in cls.declared:
        if field.part is not None:
            title = field.part.heading
            is_group = title and isinstance(parser, argparse.ArgumentParser)
            add_fields(parser.add_argument_group(title) if is_group else parser, field.part)
            continue
        to: Any = parser
        if field.one_of:
            if field.one_of not in alternatives:
                alternatives[field.one_of] = parser.add_mutually_exclusive_group()
            to = alternatives[field.one_of]
        _add(to, field)


def _add(parser: argparse._ActionsContainer, field: Field) -> None:
    words: dict[str, Any] = {"help": field.plain_help().replace("%", "%%")}
    if field.is_flag:
        parser.add_argument(*field.names, dest=field.name, action="store_true", **words)
        return
    words |= {"default": field.default, "metavar": field.metavar or None, "type": _parse_of(field)}
    if field.choices:
        words["choices"] = field.choices
    if field.nargs is not None:
        words |= {"nargs": field.nargs, "const": field.const}
    if field.nargs in {"+", "*"}:
        del words["const"]
    if field.repeats:
        words |= {"action": "append", "default": list(field.default or ())}
    if field.is_option:
        parser.add_argument(*field.names, dest=field.name, required=field.required, **words)
    else:
        parser.add_argument(field.name, **words)


def _parse_of(field: Field) -> Callable[[str], Any]:
    if not field.choices:
        return field.parse or str

    def one_of(text: str) -> str:
        if text not in field.choices:
            kind = field.kind or (field.names[-1].strip("-") if field.names else field.name)
            raise argparse.ArgumentTypeError(unknown_name(kind, text, field.choices))
        return text

    return one_of


def made_from(cls: type[P], parsed: argparse.Namespace) -> P:
    """The options that a parser made by `add_fields` has read."""
    return cls(**{
        field.name: getattr(parsed, field.name) if field.part is None else made_from(field.part, parsed)
        for field in cls.declared
    })  # fmt: skip


OTHER_NAME = "give the output another name"


def check_kept(outputs: Iterable[str | os.PathLike[str]], read: Iterable[str], hint: str = OTHER_NAME) -> None:
    """Raise InputError, which ``hint`` ends, if an output would replace a file that is read, also through links."""
    files = {_place_of(file): file for file in read}
    for out in outputs:
        # The file is written where its name leads: GONE/../NAME is NAME.
        place = _place_of(out, written=True)
        file = None if place is None else files.get(place)
        if file is not None:
            leads = "" if str(out) == file else f"leads to {file}, which "
            raise InputError(f"{out}: {leads}is read by this command and would be replaced: {hint}")


def _place_of(file: str | os.PathLike[str], *, written: bool = False) -> tuple[int, int] | None:
    """Device and inode of a file, which identify it under any name; None if there is no such file, or a folder."""
    try:
        status = os.stat(os.path.realpath(file) if written else file)  # noqa: PTH116 - `pathlib` takes long to import
    except (OSError, ValueError):
        return None
    return None if stat.S_ISDIR(status.st_mode) else (status.st_dev, status.st_ino)


def named_files(options: Options, *, written: bool) -> list[str]:
    """The files that options name to be written, or to be read; an argument that may be either is neither."""
    values, found = options.values(), list[str]()
    for field in fields_of(type(options)):
        value = values[field.name]
        if written and field.writes and isinstance(value, str):
            found.append(value)
        elif field.reads and not written:
            found += [file for file in (value if isinstance(value, list) else [value]) if isinstance(file, str)]
    return found


def print_results(results: Result | Iterable[Result], *, as_json: bool, writes: bool = False) -> int:
    """Print the results of a command as they come, or their documents; returns the highest exit code.

    The documents of several are printed as one list unless one `is_whole`. A command that ``writes`` files goes on
    when the reader of its output has gone (``| head``): the files are what was asked for.

    Raises:
        BrokenPipeError: the reader has gone, and nothing else is written.
    """
    if isinstance(results, Result):
        results = (results._replace(is_whole=True),)
    code, documents = 0, []
    whole: Json = None
    for result in results:
        code = max(code, result.code)
        lines = [*result.lines, *(() if is_quiet() else result.notes)]
        if as_json:
            documents.append(result.document)
            whole = result.document if result.is_whole else whole
        elif lines:
            with _reader_may_go(writes):
                print_text("\n".join(lines))
    if as_json:
        with _reader_may_go(writes):
            print_json(documents if whole is None else whole)
    return code


@contextlib.contextmanager
def _reader_may_go(writes: bool) -> Iterator[None]:
    try:
        yield
        flush()
    except BrokenPipeError:
        if not writes:
            raise
        drop(sys.stdout)


def make_streams_safe() -> None:
    """Make stdout and stderr accept any character, and replace streams that the shell has closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - lives as long as we do
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def be_quiet(quiet: bool, *, debug: bool = False) -> None:
    """Set whether warnings and notes are omitted (``quiet``) and tracebacks are shown (``debug``)."""
    _state["quiet"], _state["debug"] = quiet, debug


def is_quiet() -> bool:
    """Whether warnings and notes are omitted."""
    return _state["quiet"]


def is_debug() -> bool:
    """Whether tracebacks are shown."""
    return _state["debug"]


def print_traceback(error: BaseException) -> None:
    """Print the traceback of an error to stderr."""
    import traceback  # noqa: PLC0415 - only with --debug

    with contextlib.suppress(OSError):
        traceback.print_exception(error)


def print_text(text: str) -> None:
    """Print lines to stdout, with control characters made visible.

    Raises:
        OutputError: stdout cannot be written, as on a full disk.
        BrokenPipeError: the reader of a pipe has closed it.
    """
    with stdout_errors():
        clear_bars()
        lines = text.split("\n")
        sys.stdout.write("".join(f"{line if line.isprintable() else visible(line)}\n" for line in lines))


def flush() -> None:
    """Flush stdout; raises as `print_text` does."""
    with stdout_errors():
        sys.stdout.flush()


def drop(stream: TextIO) -> None:
    """Discard the rest of stdout or stderr, because Python flushes it again when it exits."""
    with contextlib.suppress(OSError, ValueError):  # a replaced stream may have no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_json(document: Json) -> None:
    """Print one JSON document to stdout; NaN and infinite numbers become null."""
    print_text(written(_finite(document)))


def written(document: Json, indent: str = "") -> str:
    """JSON text; a list or object that fits is on one line, so that vectors stay readable."""
    import json  # noqa: PLC0415 - only for JSON

    if not document or not isinstance(document, (dict, list)):
        return json.dumps(document)
    values = document.values() if isinstance(document, dict) else document
    if not any(isinstance(value, (dict, list)) for value in values):
        line = json.dumps(document)
        if len(indent) + len(line) <= _WIDTH:
            return line
    inner = indent + " "
    items = [written(value, inner) for value in values]
    if isinstance(document, dict):
        items = [f"{json.dumps(key)}: {item}" for key, item in zip(document, items, strict=True)]
    opening, closing = "{}" if isinstance(document, dict) else "[]"
    line = f"{opening}{', '.join(items)}{closing}"
    if len(indent) + len(line) <= _WIDTH and "\n" not in line:
        return line
    return f"{opening}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{closing}"


def warn(lines: Iterable[str]) -> None:
    """Print warnings to stderr, a line each, unless quiet."""
    for line in lines:
        print_note(f"warning: {line}")


def print_note(line: str) -> None:
    """Print a line to stderr unless quiet."""
    if not is_quiet():
        print_error(line)


@contextlib.contextmanager
def warnings_once(*, on: bool = True) -> Iterator[None]:
    """Within the block, a warning that was already printed about another file is counted, and the counts come last.

    So is one that differs only in numbers from `_ALIKE` others. With ``on`` False all are printed, also within another
    such block.
    """
    global _counts
    before, _counts = _counts, {} if on else None
    try:
        yield
    finally:
        found, _counts = _counts or {}, before
        for texts in found.values():
            shown, unshown = [*texts.items()][:_ALIKE], sum([*texts.values()][_ALIKE:])
            rest = [(count - 1, "", text) for text, count in shown]
            for count, others, text in [*rest, (unshown, ", with other numbers", shown[0][0])]:
                if count:
                    print_note(f"warning: {plural(count, 'more file')}{others}: {text}")


def _is_repeated(line: str) -> bool:
    word, _, rest = line.partition(": ")
    _, _, text = rest.partition(": ")
    if _counts is None or word != "warning" or not text:
        return False
    alike = _counts.setdefault(_NAME_OR_NUMBER.sub(lambda found: found[1] or "#", text), {})
    alike[text] = alike.get(text, 0) + 1
    return alike[text] > 1 or len(alike) > _ALIKE


def print_error(line: str) -> None:
    """Print a line to stderr."""
    if _is_repeated(line):
        return
    clear_bars()
    write_error(f"{one_line(line)}\n")


def write_error(text: str) -> None:
    """Write to stderr; if that cannot be written, it is no error of the command."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        drop(sys.stderr)


def _finite(document: Json) -> Json:
    if isinstance(document, dict):
        return {key: _finite(value) for key, value in document.items()}
    if isinstance(document, list):
        return [_finite(value) for value in document]
    return None if isinstance(document, float) and not math.isfinite(document) else document


@contextlib.contextmanager
def stdout_errors() -> Iterator[None]:
    """Within the block, an error of writing is an OutputError, except that the reader of a pipe has gone."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"standard output: cannot be written: {reason(error)}") from error


class _Work:
    """One piece of work: its start, its progress and its bar, once that is shown."""

    def __init__(self, total: int) -> None:
        self.total, self.since, self.done = total, time.monotonic(), 0
        self.bar: Any = None

    def update(self, what: str, done: int) -> None:
        if self.bar is None and time.monotonic() - self.since >= _DELAY:
            from tqdm import tqdm  # noqa: PLC0415 - only for long work

            self.bar = tqdm(
                desc=what, total=self.total, initial=done, leave=False, file=sys.stderr, bar_format=_BAR_FORMAT
            )
        if self.bar is not None:
            self.bar.update(done - self.bar.n)
        self.done = done

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


@contextlib.contextmanager
def progress_bars() -> Iterator[None]:
    """Within the block, show bars for long work if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    try:
        with watched_by(_watch):
            yield
    finally:
        for what in list(_works):
            _works.pop(what).close()


def clear_bars() -> None:
    """Remove the bars from the terminal before a line is printed; the next progress draws them again."""
    for work in _works.values():
        if work.bar is not None:
            work.bar.clear()


def _watch(what: str, done: int, total: int) -> None:
    work = _works.get(what)
    if work is not None and (done < work.done or total != work.total):  # earlier work of that name was abandoned
        _works.pop(what).close()
        work = None
    if work is None:
        work = _works[what] = _Work(total)
    work.update(what, done)
    if done >= total:
        _works.pop(what).close()
