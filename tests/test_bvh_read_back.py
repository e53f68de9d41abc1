"""BVH states no units: where others would be guessed than were written, the writer says what to read it by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from cli_run import figure, ran

import viewer

if TYPE_CHECKING:
    from pathlib import Path

SAY = "BVH states no units or axes: read it with "
PISTON, BIPED = viewer.load("sample:piston"), viewer.load("sample:biped")


def told(lost: list[str]) -> list[str]:
    return [line for line in lost if line.startswith("BVH states no units")]


def height(character: viewer.Character) -> float:
    return float(np.ptp(viewer.fk(character.skeleton, character.skeleton.rest_pose()).positions, axis=0).max())


def test_a_file_that_would_be_guessed_wrongly_says_how_to_read_it(tmp_path: Path) -> None:
    path = tmp_path / "piston.bvh"
    (line,) = told(viewer.save(PISTON, path))
    assert line == f'{SAY}--units m (in Python units="m"), or it is taken for units of 0.0564444 m (cmu), Y up'
    stated = viewer.load(path, units="m")
    assert height(stated) == pytest.approx(height(PISTON), abs=1e-6)
    assert stated.warnings == ()
    assert height(viewer.load(path)) != pytest.approx(height(PISTON), rel=0.5)


@pytest.mark.parametrize(("units", "up"), [("m", "y"), ("cm", "y"), ("m", "z"), ("cm", "z")])
def test_one_that_is_guessed_rightly_says_nothing(tmp_path: Path, units: str, up: Literal["y", "z"]) -> None:
    path = tmp_path / "biped.bvh"
    assert told(viewer.save(BIPED, path, units=units, up=up)) == []
    again = viewer.load(path)
    assert (again.source.units, again.source.up) == (units, up)
    assert height(again) == pytest.approx(height(BIPED), abs=1e-5)


def test_the_axis_is_told_where_that_alone_is_guessed_wrongly(tmp_path: Path) -> None:
    path, rest = tmp_path / "lying.bvh", BIPED.skeleton.rest_pose()
    # On its back with its arms out, head along z: taken for a figure that stands, Z up.
    turns = rest.rotations.copy()
    turns[0] = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
    (line,) = told(viewer.save(BIPED, path, pose=viewer.Pose(turns, rest.translations)))
    assert line == f'{SAY}--up y (in Python up="y"), or it is taken for metres, Z up'
    assert viewer.load(path).source.up == "z"
    assert viewer.load(path, up="y").source.units == "m"
    # Walking, it is deeper than it is wide: Z is not seen to be up.
    (line,) = told(viewer.save(viewer.load("sample:walk"), path, up="z"))
    assert line == f'{SAY}--up z (in Python up="z"), or it is taken for units of 0.01 m (cm), Y up'


def test_who_read_it_by_these_units_knows_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, out = figure(tmp_path), tmp_path / "out.bvh"
    assert ran(capsys, "convert", path, out, "--units", "cm", "--up", "y").err == ""
    said = ran(capsys, "convert", path, "-o", out, "--units", "cm", "--up", "y", "--to-units", "mm").err
    guess = "units of 0.01 m (cm), Y up"
    assert said == f'warning: {out}: {SAY}--units mm (in Python units="mm"), or it is taken for {guess}\n'


def test_the_command_warns_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    goals, out = tmp_path / "goals.json", tmp_path / "out.bvh"
    name = PISTON.skeleton.effectors[0].name
    goals.write_text(f'{{"goals": [{{"effector": "{name}", "pin": true}}]}}', encoding="utf-8")
    done = ran(capsys, "solve", "sample:piston", goals, "-o", out)
    assert f"warning: {out}: {SAY}--units m " in done.err
    assert ran(capsys, "info", out, "--units", "m").err == ""
