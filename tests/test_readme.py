"""What README and docs show is true: their Python runs, their commands succeed (or fail) and print what stands there.

In a document's order, in a folder of its own: blocks ``json NAME`` are written to NAME, ``python`` blocks are executed
(one module a document), and of ``console`` blocks every line ``$ ikviewer ...`` is run. No window needs a screen.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from functools import partial
from typing import TYPE_CHECKING

import pytest
from conftest import ROOT
from inside.cli import COMMANDS, main

import viewer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DOCUMENTS = (
    "README.md", "docs/command.md", "docs/demos.md", "docs/files.md", "docs/lab.md", "docs/library.md",
    "docs/limits.md", "docs/make-a-skeleton.md", "docs/physics.md", "docs/pictures.md", "docs/record.md",
    "docs/retarget.md", "docs/solver.md", "docs/troubleshooting.md", "docs/window.md",
)  # fmt: skip
OTHERS = (
    ".github/CONTRIBUTING.md",
    "docs/api.md",
    "docs/benchmarks.md",
    "docs/examples.md",
    "docs/keys.md",
    "skeletons/README.md",
)
"""Pages without anything to run."""
_BLOCK = re.compile(r"^```(\w*) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?")


def blocks(document: str) -> list[tuple[str, str, str]]:
    """Language, name and text of every fenced block."""
    return [match.groups() for match in _BLOCK.finditer((ROOT / document).read_text(encoding="utf-8"))]  # type: ignore[misc]  # three groups


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Command lines of a console block, each with the lines that stand below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, *output = part.rstrip("\n").split("\n")
        yield line, output


def printed(line: str, code: int) -> list[str]:
    """What a command line prints, warnings and all; it has to end with that exit code."""
    program, *arguments = shlex.split(line)
    assert program == "ikviewer", line
    if arguments[0] == "view" and "--window" not in arguments:
        arguments += ["--window", "headless"]  # which waits for nobody
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        assert main(arguments) == code, line
    return screen.getvalue().splitlines()


def skeletal(lines: list[str]) -> list[str]:
    """Lines without what may differ in a last digit: figures, and the blanks that align them."""
    return [re.sub(r"\s+", " ", _NUMBER.sub("#", line)).strip() for line in lines]


def assert_shown(shown: list[str], actual: list[str], line: str) -> None:
    """The lines shown are those printed; ``...`` stands for any number of them."""
    rest = skeletal(actual)
    parts = "\n".join(skeletal(shown)).split("...")
    for number, part in enumerate(parts):
        wanted = [text for text in part.split("\n") if text]
        starts = range(len(rest) - len(wanted) + 1)
        place = next((i for i in starts if rest[i : i + len(wanted)] == wanted), None)
        assert place is not None, f"{line}\nprints\n" + "\n".join(actual)
        assert number > 0 or place == 0, f"{line}\nprints before: {rest[:place]}"
        rest = rest[place + len(wanted) :]
    assert not rest or shown[-1] == "...", f"{line}\nprints after: {rest}"


@pytest.mark.usefixtures("kernels_not_ready")
@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_shows_is_true(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(viewer, "view", partial(viewer.view, window="headless"))
    module: dict[str, object] = {}
    for language, name, text in blocks(document):
        if language == "json":
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif language == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, document, "exec"), module)
        elif language == "console":
            for line, output in commands(text):
                refused = any(shown.startswith(("error: ", "refused ")) for shown in output)
                assert_shown(output, printed(line, int(refused)), line)


@pytest.mark.parametrize("document", [*DOCUMENTS, *OTHERS])
def test_links_inside_the_repository_lead_somewhere(document: str) -> None:
    here = ROOT / document
    for target, heading in _LINK.findall(here.read_text(encoding="utf-8")):
        file = (here.parent / target) if target else here
        assert file.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
            assert heading in anchors, f"{target}#{heading}"


def test_a_document_that_shows_something_else_is_noticed() -> None:
    actual = ["wrote a.bvh: 2 joints", "ok a.bvh", "done"]
    assert_shown(["wrote a.bvh: 3 joints", "...", "done"], actual, "x")
    for shown in (["wrote b.bvh: 2 joints", "..."], ["wrote a.bvh: 2 joints"], ["...", "gone"], ["ok a.bvh", "done"]):
        with pytest.raises(AssertionError):
            assert_shown(shown, actual, "x")


def test_every_command_and_option_is_in_the_manual() -> None:
    manual = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        screen = io.StringIO()
        with contextlib.redirect_stdout(screen), pytest.raises(SystemExit):
            main([command, "--help"])
        for option in set(re.findall(r"--[a-z-]+", screen.getvalue())):
            assert f"`{option}" in manual, f"{command} {option}"
