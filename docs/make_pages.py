"""Makes the pages that follow from the code: ``python docs/make_pages.py``.

docs/api.md is made from the docstrings, docs/examples.md from docs/examples, docs/keys.md from the table of keys, and
the tables in docs/command.md from the options of the commands.

Nothing is written if a page is up to date; ``--check`` only says whether they are.
"""

from __future__ import annotations

import contextlib
import enum
import inspect
import io
import os
import re
import runpy
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args, get_origin, is_typeddict

import viewer
from viewer.cli.job import Options, fields_of
from viewer.cli.main import options_of
from viewer.cli.options import Reading
from viewer.ui.commands import HelpRow, help_rows

HERE = Path(__file__).parent
WIDTH = 100
"""Calls longer than this have a line per argument."""
API_HEAD = """# API

Every public name of `import viewer`, from its docstring. [The library](library.md) introduces them,
[examples](examples.md) shows them at work.
"""
TYPES_HEAD = """# Types

What the signatures above name. `Floats`, `Ints` and `Bools` are arrays of numpy, `Vector` is three numbers and
`Quaternion` four, (x, y, z, w). Lists of words come first, then the classes.
"""
INTERNAL = {"BvhLayout", "CapsuleTable", "Findings", "Options", "Prepared", "Projection", "Ray", "Session", "Sizes"}
"""Classes of the program itself, which annotations name and this page leaves out."""
EXAMPLES_HEAD = """# Examples

Twelve scripts, in [docs/examples](examples), each with what it prints.
"""


def api_page() -> str:
    """docs/api.md."""
    parts = [API_HEAD]
    for name in viewer.__all__:
        value = getattr(viewer, name)
        parts.append(f"## {name}\n")
        if name == "ik":
            parts.append(
                "`viewer.ik.warm_up()` compiles the kernels in another process; see [speed](library.md#speed).\n"
            )
        elif isinstance(value, ModuleType):
            parts += [text(value.__doc__), *(entry(f"{name}.{own}", getattr(value, own)) for own in value.__all__)]
        elif inspect.isclass(value):
            parts += [signature(name, value), text(value.__doc__), *members(name, value)]
        else:
            parts += [signature(name, value), text(value.__doc__)]
    public = {name: getattr(viewer, name) for name in viewer.__all__}
    named = named_types(public)
    parts.append(TYPES_HEAD)
    parts += [words_line(name, value) for name, value in sorted(named.items()) if not inspect.isclass(value)]
    for name, kind in sorted(named.items()):
        if inspect.isclass(kind):
            parts += [
                f"## {name}\n",
                fields_of_dict(kind) or signature(name, kind),
                text(kind.__doc__),
                *members(name, kind),
            ]
    return "\n".join(part for part in parts if part)


def named_types(public: dict[str, object]) -> dict[str, object]:
    """Our classes and lists of words that annotations of public things name, and so on from these classes."""
    found: dict[str, object] = {}
    left: list[Any] = [value for value in public.values() if callable(value)]
    while left:
        value = left.pop()
        own = [value, *vars(value).values()] if inspect.isclass(value) else [value]
        for part in own:
            for name, named in annotated(part, sys.modules[value.__module__]):
                if name not in public and name not in found and name not in INTERNAL:
                    found[name] = named
                    left += [named] if inspect.isclass(named) else []
    return found


def words_line(name: str, words: object) -> str:
    """A list of words as a line."""
    return f"`{name}`: {', '.join(f'`{word!r}`' for word in get_args(words))}\n"


def fields_of_dict(kind: type) -> str:
    """The keys of a dictionary type; nothing for other classes."""
    if not is_typeddict(kind):
        return ""
    keys = "".join(f"    {name}: {plain(one.__forward_arg__)}\n" for name, one in kind.__annotations__.items())
    return f"```py\n{keys}```\n"


def annotated(value: object, module: ModuleType) -> Iterator[tuple[str, object]]:
    """The classes of ours and the lists of words that a signature names, or the return annotation of a property."""
    called = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    if not callable(called) or getattr(called, "__name__", "_").startswith("_"):
        return
    texts = [str(part) for part in getattr(called, "__annotations__", {}).values()]
    for name in re.findall(r"[A-Z]\w+", " ".join(texts)):
        named = getattr(module, name, None)
        ours = inspect.isclass(named) and named.__module__.startswith("viewer.")
        if ours or get_origin(named) is Literal:
            yield name, named


def members(name: str, kind: type) -> Iterator[str]:
    """The methods and properties that a class documents itself, and the words of an enumeration."""
    if issubclass(kind, enum.Enum):
        yield f"Words: {', '.join(f'`{word.value}`' for word in kind)}.\n"
        return
    if issubclass(kind, Exception):
        return
    for own, value in vars(kind).items():
        found = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if not own.startswith("_") and (inspect.isfunction(found) or isinstance(found, property)):
            yield entry(f"{name}.{own}", found)


def entry(name: str, value: object) -> str:
    """A function, method or property."""
    if isinstance(value, property):
        return f"### {name}\n\n{text(value.__doc__)}"
    return f"### {name}\n\n{signature(name, value)}\n{text(value.__doc__)}"


def signature(name: str, value: object) -> str:
    """The call; nothing for what is not called by users."""
    if inspect.isclass(value) and issubclass(value, enum.Enum | Exception):
        return ""
    try:
        found = inspect.signature(value)  # type: ignore[arg-type]  # what cannot be called is caught
    except (TypeError, ValueError):
        return ""
    parts: list[str] = []
    last: object = None
    marks: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    for parameter in found.parameters.values():
        if parameter.name in {"self", "cls"}:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and last not in {parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL}:
            parts.append("*")
        part = f"{marks.get(parameter.kind, '')}{parameter.name}: {plain(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            part += f" = {default(parameter.default)}"
        parts.append(part)
        last = parameter.kind
    result = "" if found.return_annotation in {found.empty, "None"} else f" -> {plain(found.return_annotation)}"
    line = f"{name}({', '.join(parts)}){result}"
    if len(line) > WIDTH:
        line = f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){result}"
    return f"```py\n{line}\n```\n"


def plain(annotation: object) -> str:
    """An annotation as it stands in the source."""
    annotation = getattr(annotation, "__forward_arg__", annotation)  # those of named tuples
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def default(value: object) -> str:
    """A default value; ``...`` for one without a short form."""
    if isinstance(value, enum.StrEnum):
        return repr(value.value)
    return (
        repr(value) if isinstance(value, str | int | float | tuple | None) and not hasattr(value, "_fields") else "..."
    )


def text(doc: str | None) -> str:
    """A docstring as Markdown: sections as tables of contents have them, names as code."""
    lines, section = [], ""
    for line in inspect.cleandoc(doc or "").split("\n"):
        head = re.fullmatch(r"(Args|Attributes|Returns|Raises):", line)
        field = re.match(r"    ([\w, ]+): (.*)", line)
        if head:
            section = head[1]
            lines += ["", f"{section}:", ""]
        elif section in {"Args", "Attributes", "Raises"} and field:
            lines.append(f"- `{field[1]}`: {field[2]}")
        elif section and line.startswith("    "):
            lines.append(("  " if section != "Returns" else "") + line.strip())
        else:
            section = section if not line else ""
            lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).replace("``", "`") + "\n"


def examples() -> list[Path]:
    """The scripts, in their order."""
    return sorted((HERE / "examples").glob("*.py"))


def printed(script: Path) -> str:
    """What a script prints, run in an empty folder."""
    screen, here = io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(screen):
        os.chdir(folder)
        try:
            runpy.run_path(str(script))
        finally:
            os.chdir(here)
    return screen.getvalue()


def examples_page(outputs: list[str]) -> str:
    """docs/examples.md."""
    parts = [EXAMPLES_HEAD]
    for script, output in zip(examples(), outputs, strict=True):
        title, _, code = script.read_text(encoding="utf-8").removeprefix('"""').partition('"""\n')
        number, _, name = script.stem.partition("_")
        parts.append(
            f"## {int(number)}. {name.replace('_', ' ').capitalize()}\n\n{title}\n\n"
            f"```py\n{code.strip()}\n```\n\n```text\n{output.rstrip()}\n```\n"
        )
    return "\n".join(parts)


KEYS_HEAD = """# Keyboard and mouse

<!-- Made from the table in viewer/ui by: python docs/make_pages.py -->

F1 shows this page in the window. LMB, MMB and RMB are the left, middle and right mouse buttons; on macOS Ctrl is Cmd.
Keys act unless a text field has the focus. While something is dragged or grabbed only the keys under "While dragging"
act, so that X, digits and the minus sign have one meaning at a time.

The mouse preset decides what the mouse does beside the figure: Simple (the default), Blender or Maya. The F1 page and
the preferences switch it.
"""
PRESETS = {"simple": "Simple", "blender": "Blender", "maya": "Maya"}


def keys_page() -> str:
    """docs/keys.md."""
    pages = {preset: help_rows(preset) for preset in PRESETS}
    parts = [KEYS_HEAD]
    for group in pages["simple"]:
        parts.append(f"\n## {group}\n\n| keys | what they do |\n|---|---|\n")
        rows: dict[HelpRow, list[str]] = {}
        for preset, groups in pages.items():
            for row in groups[group]:
                rows.setdefault(row, []).append(PRESETS[preset])
        parts += [key_line(row, presets) for row, presets in rows.items()]
    return "".join(parts)


def key_line(row: HelpRow, presets: list[str]) -> str:
    """The row of the table for a row of the help."""
    chords = ", ".join("+".join(f"`{cap}`" for cap in caps) for caps in row.caps)
    note = "" if len(presets) == len(PRESETS) else f" ({', '.join(presets)})"
    return f"| {chords} | {row.words}{note} |\n"


TABLE = re.compile(r"^<!-- options: (\w+) -->\n(?:\|.*\n)*", re.MULTILINE)
"""Marks the table of a command; ``reading`` means the options that describe an input, which other tables omit."""


def command_page() -> str:
    """docs/command.md with its tables of options made again."""
    text = (HERE / "command.md").read_text(encoding="utf-8")
    return TABLE.sub(lambda match: "\n".join([f"<!-- options: {match[1]} -->", *option_rows(match[1]), ""]), text)


def option_rows(name: str) -> list[str]:
    """The table of a command's options."""
    cls: type[Options] = Reading if name == "reading" else options_of(name)
    left_out = {field.name for field in fields_of(Reading)} if cls is not Reading else set()
    rows = ["| option | |", "|---|---|"]
    for field in fields_of(cls):
        if not field.is_option or field.name in left_out:
            continue
        value = "" if field.is_flag else f" {field.metavar or '|'.join(field.choices)}"
        shown = f" [{value.strip()}]" if field.nargs == "?" else value
        names = ", ".join(f"`{name}{shown}`".replace("|", "\\|") for name in field.names)
        rows.append(f"| {names} | {field.help} |")
    return rows


if __name__ == "__main__":
    stale = 0
    pages = {
        "api.md": api_page(),
        "examples.md": examples_page([printed(script) for script in examples()]),
        "keys.md": keys_page(),
        "command.md": command_page(),
    }
    for name, page in pages.items():
        file = HERE / name
        if not file.exists() or file.read_text(encoding="utf-8") != page:
            stale += 1
            if "--check" in sys.argv:
                print(f"{name}: out of date")
            else:
                file.write_text(page, encoding="utf-8")
                print(f"{name}: rewritten")
    raise SystemExit(stale if "--check" in sys.argv else 0)
