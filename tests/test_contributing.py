"""The plan of the house that contributors read names what is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / ".github/CONTRIBUTING.md").read_text(encoding="utf-8")
NAMED = sorted({name for name in re.findall(r"`([\w./-]+)`", PAGE) if "/" in name and not name.startswith(("..", "/"))})


def test_many_files_are_named() -> None:
    assert len(NAMED) > 40


def test_every_file_that_is_named_is_there() -> None:
    assert [name for name in NAMED if not (ROOT / name).exists()] == ["tests/test_TOPIC.py"]


PLACED = [*re.findall(r"`(\w+)` (?:of|in) `([\w./-]+\.pyi?)`", PAGE), *(
    (name, file) for file, name in re.findall(r"`([\w./-]+\.pyi?)` \(`(\w+)`", PAGE)
)]  # fmt: skip


@pytest.mark.parametrize(("name", "file"), PLACED)
def test_what_is_said_to_be_in_a_file_is_there(name: str, file: str) -> None:
    (path,) = [ROOT / file] if "/" in file else (ROOT / "viewer").rglob(file)
    assert re.search(rf"\b{name}\b", path.read_text(encoding="utf-8"))


FILES = {path.name for folder in ("viewer", "tests") for path in (ROOT / folder).rglob("*.py")}
BARE = sorted(set(re.findall(r"`(\w+\.py)`", PAGE)))


@pytest.mark.parametrize("name", BARE)
def test_every_module_that_is_named_without_its_folder_is_there(name: str) -> None:
    assert name in FILES


def test_every_room_is_described() -> None:
    rooms = {folder.name for folder in (ROOT / "viewer").iterdir() if (folder / "__init__.py").exists()}
    table = PAGE.split("## The rooms")[1].split("\n## ")[0]
    assert {room for room in rooms if f"`{room}`" not in table} == set()
