"""Pages that are made from the code are up to date: the examples print what they show, docstrings, keys, options."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from inside.cli import COMMANDS
from inside.formats import FORMATS
from inside.ik import KINDS, METHODS
from inside.session import DEMOS, LESSONS

from viewer.ui import MENUS, menu_commands

PAGES: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "make_pages.py"))
EXAMPLES: list[Path] = PAGES["examples"]()
RENEW = "run: python docs/make_pages.py"
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]*)?(e-?[0-9]+)?")


def shape(page: str) -> str:
    """A page without its numbers, whose last digits machines may disagree about, and the blanks that align them."""
    return re.sub(r" +", " ", _NUMBER.sub("#", page))


def test_there_are_twelve_scripts_of_10_to_40_lines() -> None:
    assert len(EXAMPLES) == 12
    for script in EXAMPLES:
        text = script.read_text(encoding="utf-8")
        assert 10 <= len(text.splitlines()) <= 40, script.name
        assert ast.get_docstring(ast.parse(text)), script.name


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_an_example_prints_what_its_page_shows(script: Path) -> None:
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    code = script.read_text(encoding="utf-8").partition('"""\n')[2].strip()
    assert code in page, RENEW
    shown = page[page.index(code) :].partition("```text\n")[2].partition("\n```")[0]
    assert shape(shown) == shape(PAGES["printed"](script).rstrip()), RENEW


def test_the_api_page_is_made_from_the_docstrings_as_they_are() -> None:
    assert (ROOT / "docs" / "api.md").read_text(encoding="utf-8") == PAGES["api_page"](), RENEW


def test_the_page_of_keys_is_made_from_the_table_of_keys() -> None:
    assert (ROOT / "docs" / "keys.md").read_text(encoding="utf-8") == PAGES["keys_page"](), RENEW


def test_the_tables_of_options_are_those_of_the_commands() -> None:
    text = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    assert text == PAGES["command_page"](), RENEW
    assert set(re.findall(r"<!-- options: (\w+) -->", text)) >= {"reading", "view", "fk", "solve", "convert", "render"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_the_command_has_a_section_for_each_that_names_its_options(name: str) -> None:
    text = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    assert f"(#{name})" in text.partition("\n## ")[0], f"a row of docs/command.md that leads to #{name}"
    section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    assert section, f'a section "## {name}" of docs/command.md'
    options = re.findall(r"^\| `(--?[\w-]+)", "\n".join(PAGES["option_rows"](name)), re.MULTILINE)
    missing = [option for option in options if option not in section]
    assert missing == [], f'a line "<!-- options: {name} -->" in its section of docs/command.md, then {RENEW}'


def test_the_table_of_file_formats_has_every_format_and_says_whether_it_is_read_and_written() -> None:
    text = (ROOT / "docs" / "files.md").read_text(encoding="utf-8").partition("\n\n##")[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| `")]
    said = {suffix: (row[1] != "no", row[2] != "no") for row in cells for suffix in re.findall(r"`(\.\w+)`", row[0])}
    for form in FORMATS:
        expected = (bool(form.reader), bool(form.writer))
        assert said.get(form.suffix) == expected, f"a row of docs/files.md: {form.suffix}, read and written: {expected}"


def test_the_table_of_goals_has_every_kind_with_its_keys() -> None:
    text = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    table = text.partition("| goal | keys |")[2].partition("\n\n")[0]
    rows = [{*re.findall(r"\w+", row)} for row in table.splitlines()]
    for kind in KINDS.values():
        keys = {*kind.keys, kind.named_by or kind.word} - {"effector"}
        told = not kind.built_in or any(keys <= row for row in rows)
        assert told, f"a row of goals in docs/files.md: {kind.word}, with the keys {', '.join(sorted(keys))}"


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("demos.md", [demo.id for demo in DEMOS if demo not in LESSONS]),
        ("lab.md", [lesson.id for lesson in LESSONS]),
        ("solver.md", [*METHODS]),
    ],
)
def test_a_table_has_a_row_for_each_demo_lesson_and_method(page: str, names: list[str]) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = set(re.findall(r"`([\w-]+)`", "\n".join(cells)))
    assert [name for name in names if name not in named] == [], f"rows of docs/{page}"


SUBMENUS = {("File", "Samples"), ("File", "Demos"), ("File", "Lessons"), ("File", "Units, axes, frame time"),
            ("Window", "Panels")}  # fmt: skip
"""Entries of menus that are not in the table of commands."""


def test_what_the_pages_name_in_a_menu_is_there() -> None:
    named = [
        (page.name, *found)
        for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
        for found in re.findall(rf"\*({'|'.join(MENUS)}) > ([^*>]+?)…?( > [^*]+)?\*", page.read_text(encoding="utf-8"))
    ]
    assert len(named) > 20
    for page, menu, entry, _ in named:
        titles = [command.title for command in menu_commands(menu)]
        found = (menu, entry) in SUBMENUS or any(title.startswith(entry) for title in titles)
        assert found, f"{page}: {menu} > {entry}"
