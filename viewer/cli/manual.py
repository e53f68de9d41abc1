"""The tables of options in docs/command.md, made from the options: ``python -m viewer.cli.manual docs/command.md``.

A line ``<!-- options: NAME -->`` in the page marks the table of a command; ``reading`` means the options that
describe an input, which the other tables omit.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from viewer.cli.job import Options, fields_of
from viewer.cli.options import Reading
from viewer.cli.parsers import options_of

_TABLE = re.compile(r"^<!-- options: (\w+) -->\n(?:\|.*\n)*", re.MULTILINE)


def page(text: str) -> str:
    """The page with every table generated again."""
    return _TABLE.sub(lambda match: "\n".join([f"<!-- options: {match[1]} -->", *_rows(match[1]), ""]), text)


def _rows(name: str) -> list[str]:
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


def _main() -> None:
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    _main()
