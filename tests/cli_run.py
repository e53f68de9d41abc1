"""Running the command inside the tests' own process, and a figure whose numbers are known by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from inside.cli import main
from inside.formats import FORMATS, READ_IN_FOLDERS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SIGNED = "expected a skeleton as {} or {}".format(*", ".join(f.name for f in FORMATS if f.sign).rsplit(", ", 1))
"""Of contents in no format that is known by its first bytes."""
IN_FOLDERS = f"expected files that end in {', '.join(READ_IN_FOLDERS)} in this folder"
"""Of a folder without files that are taken from folders."""
FIGURE_BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Knee
  {
    OFFSET 0 10 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 10 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.1
0 90 0 0 0 0 0 0 0
1 90 0 90 0 0 0 0 0
2 90 0 0 0 0 90 0 0
"""
"""Two links of 10: in frame 1 the hips are turned by 90 degrees about z, in frame 2 the knee is."""


class Ran(NamedTuple):
    """What a command did."""

    code: int | str | None
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - a document of any form
        """Its stdout as the one JSON document that it has to be; constants such as NaN are refused."""

        def refuse(constant: str) -> None:
            raise AssertionError(constant)

        return json.loads(self.out, parse_constant=refuse)


def ran(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Ran:
    """Run the command; usage errors, which argparse turns into an exit, have their code like all others."""
    capsys.readouterr()
    try:
        code: int | str | None = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        code = stop.code
    return Ran(code, *capsys.readouterr())


def figure(folder: Path) -> Path:
    """The figure of known numbers as a file."""
    path = folder / "figure.bvh"
    path.write_text(FIGURE_BVH, encoding="utf-8")
    return path
