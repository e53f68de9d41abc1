"""Options declared as fields: what the parser, the help and other processes make of them.

``--json`` of the commands that write files: counts of what is in the file, and the warnings as stderr has them.
"""

from __future__ import annotations

import argparse
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from cli_run import figure, ran
from gl_drawing import context
from inside.cli import (
    COMMANDS,
    ConvertMotion,
    ConvertOptions,
    Options,
    SolveOptions,
    add_fields,
    argument,
    command_parser,
    count,
    fields_of,
    flag,
    made_from,
    option,
    options_of,
    part,
    written as json_text,
)
from PIL import Image

import viewer


class Inner(Options, title="inside"):
    """A part."""

    max_count: int = option("N", "how many, of [some](here.md) `things` (50 %)", parse=count, default=3, short="-m")
    fast: bool = flag("at once")


class Outer(Options):
    """Options with a part."""

    names: list[str] = argument("NAME", "names", nargs="*")
    inner: Inner = part(Inner)
    kind: str = option("", "which", choices=("big", "small"), default="big")


def parse(*words: str) -> Outer:
    parser = argparse.ArgumentParser()
    add_fields(parser, Outer)
    return made_from(Outer, parser.parse_args(words))


def test_fields_become_options_and_parts_become_groups() -> None:
    chosen = parse("a", "-m", "7", "--fast", "--kind", "small")
    assert chosen.values() == {"names": ["a"], "max_count": 7, "fast": True, "kind": "small"}
    assert (chosen.inner.max_count, chosen.inner.fast) == (7, True)
    assert parse().values() == {"names": [], "max_count": 3, "fast": False, "kind": "big"}
    parser = argparse.ArgumentParser()
    add_fields(parser, Outer)
    text = " ".join(parser.format_help().split())
    # Python 3.13 says the metavar once.
    assert "inside: -m, --max-count N how many, of some things (50 %) --fast at once" in text.replace("-m N,", "-m,")


def test_options_do_not_change_and_unknown_ones_are_refused() -> None:
    with pytest.raises(AttributeError):
        parse().kind = "small"  # type: ignore[misc]
    with pytest.raises(TypeError, match="Outer has no option colour"):
        Outer(colour=1)  # type: ignore[call-arg]


def test_options_reach_other_processes() -> None:
    values: dict[str, Any] = {"paths": ["a.bvh"], "motion": ConvertMotion(frame=3)}
    again = pickle.loads(pickle.dumps(ConvertOptions(**values)))
    assert again.values() == ConvertOptions(**values).values()
    assert again.motion.frame == 3


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_starts_from_the_defaults_of_its_fields(command: str) -> None:
    cls: type[Options] = options_of(command)
    names = [field.name for field in fields_of(cls)]
    assert len(names) == len(set(names))
    parser = command_parser(command)
    given = [field.choices[0] if field.choices else "x" for field in fields_of(cls) if not field.is_option]
    needed = [word for field in fields_of(cls) if field.required for word in (field.names[-1], "1")]
    words = [] if command in {"view", "bench"} else [*given, *needed]
    chosen = made_from(cls, parser.parse_args(words)).values()
    for field in fields_of(cls):
        if field.is_option and not field.required:
            assert chosen[field.name] == (list(field.default) if field.repeats else field.default)


def test_a_field_says_which_values_are_files_that_are_read() -> None:
    reads = {field.name for field in fields_of(SolveOptions) if field.reads}
    assert reads == {"file", "rig", "goals", "goals_from", "from_pose", "prefer"}


CAPS = pytest.CaptureFixture[str]


def written(capsys: CAPS, *words: str | Path) -> dict[str, Any]:
    """The document of a command that writes one file; its size and warnings are checked."""
    done = ran(capsys, *words, "--json")
    assert done.code == 0, done.err
    document: dict[str, Any] = done.json
    assert document["warnings"] == [line.removeprefix("warning: ") for line in done.err.splitlines()]
    assert document["bytes"] == Path(document["output"]).stat().st_size
    return document


@pytest.mark.parametrize("name", ["all.bvh", "all.json", "all.glb", "all.csv", "all.npz"])
def test_convert_counts_what_is_in_the_file(capsys: CAPS, tmp_path: Path, name: str) -> None:
    document = written(capsys, "convert", "sample:walk", tmp_path / name)
    read = viewer.load("sample:walk")
    assert read.clip is not None
    assert document["file"] == "sample:walk"
    assert (document["joints"], document["frames"], document["clips"]) == (22, 68, ["walk"])
    assert document["frame_time"] == read.clip.frame_time


def test_convert_says_what_a_shape_and_a_still_figure_lose(capsys: CAPS, tmp_path: Path) -> None:
    shape = written(capsys, "convert", figure(tmp_path), tmp_path / "a.stl")
    assert (shape["joints"], shape["frames"], shape["frame_time"], shape["clips"]) == (0, 0, None, [])
    assert shape["warnings"][-1].startswith(f"{tmp_path / 'a.stl'}: STL holds the shape of one pose")
    assert len(shape["warnings"]) == 2  # before it, the units that are guessed
    assert written(capsys, "convert", "sample:biped", tmp_path / "b.bvh")["frames"] == 1
    assert written(capsys, "convert", "sample:biped", tmp_path / "b.glb")["frames"] == 0


def test_many_files_are_one_list_and_those_that_fail_are_in_it(capsys: CAPS, tmp_path: Path) -> None:
    (tmp_path / "bad.bvh").write_text("HIERARCHY\n", encoding="utf-8")
    good = figure(tmp_path)
    done = ran(capsys, "convert", tmp_path / "bad.bvh", good, "-o", tmp_path / "out/{stem}.json", "--json", "--quiet")
    bad, made, total = done.json
    assert done.code == 1
    assert bad == {"file": str(tmp_path / "bad.bvh"), "error": done.err.strip().removeprefix("error: ")}
    assert (made["file"], made["output"], made["frames"]) == (str(good), str(tmp_path / "out/figure.json"), 3)
    assert total == {"files": 2, "done_before": 0, "failed": 1}


def test_build_and_edit_say_what_they_made_and_whose_motion_is_gone(capsys: CAPS, tmp_path: Path) -> None:
    built = written(capsys, "build", "--chain", "3", "-o", tmp_path / "arm.json")
    assert (built["joints"], built["frames"], "file" in built) == (3, 0, False)
    cut = written(capsys, "edit", "sample:walk", "--remove-branch", "RightLeg", "-o", tmp_path / "cut.bvh")
    gone = ["RightLeg", "RightFoot", "RightToeBase"]
    assert (cut["file"], cut["joints_before"], cut["joints"], cut["motion_dropped"]) == ("sample:walk", 22, 19, gone)
    still = written(capsys, "edit", "sample:biped", "--remove-branch", "RightLeg", "-o", tmp_path / "still.json")
    assert still["motion_dropped"] == []


def test_render_says_the_size_and_the_rate(capsys: CAPS, tmp_path: Path) -> None:
    context()
    small = ("--size", "64x48", "--samples", "0")
    picture = written(capsys, "render", "sample:biped", "-o", tmp_path / "a.png", *small)
    assert (picture["pictures"], picture["width"], picture["height"]) == (1, 64, 48)
    film = written(capsys, "render", figure(tmp_path), "-o", tmp_path / "a.gif", *small, "--fps", "100")
    with Image.open(tmp_path / "a.gif") as image:
        assert (film["width"], film["height"]) == image.size
    assert (film["pictures"], film["fps"], film["seconds"]) == (30, 100, 0.3)
    numbered = ran(capsys, "render", figure(tmp_path), "-o", tmp_path / "p_%d.png", *small, "--json").json
    assert (numbered["pictures"], numbered["bytes"]) == (len(list(tmp_path.glob("p_*.png"))), None)


@pytest.mark.parametrize("width", [98, 99])
def test_json_that_fits_on_a_line_is_on_one(width: int) -> None:
    row: list[Any] = ["a" * (width - 4)]  # two brackets and two quotation marks
    assert json_text([row, {}, {"b": None}]) == f'[\n {json_text(row, " ")},\n {{}},\n {{"b": null}}\n]'
    assert json_text({"k": row[:0], "x": [1.5, [True]]}) == '{"k": [], "x": [1.5, [true]]}'
    assert ("\n" in json_text(row, "  ")) is (width == 99)
    assert json.loads(json_text([row, [row, [row]]])) == [row, [row, [row]]]
