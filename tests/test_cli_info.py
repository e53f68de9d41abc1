"""``ikviewer info``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from cli_run import figure, ran

if TYPE_CHECKING:
    from pathlib import Path

KEYS = (
    "name", "format", "joints", "dof", "effectors", "frames", "frame_time", "duration", "clips", "units", "up",
    "height", "mass", "mass_from", "limits_from", "warnings",
)  # fmt: skip


def test_json_has_the_keys_of_the_contract_and_numbers_in_the_files_own_units(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    done = ran(capsys, "info", figure(tmp_path), "--json", "--units", "cm", "--up", "y")
    assert (done.code, done.err) == (0, "")
    assert tuple(done.json) == KEYS
    joints = done.json.pop("joints")
    assert [tuple(joint) for joint in joints] == [
        ("name", "parent", "kind", "offset", "rotation", "limits", "limits_from", "tips")
    ] * 2
    hips, knee = joints
    assert hips == {
        "name": "Hips", "parent": None, "kind": "free", "offset": [0.0, 0.0, 0.0],
        "rotation": [0.0, 0.0, 0.0, 1.0], "limits": None, "limits_from": None, "tips": [],
    }  # fmt: skip
    assert (knee["parent"], knee["kind"], knee["offset"]) == ("Hips", "ball", [0.0, 10.0, 0.0])
    assert knee["tips"] == [[0.0, 10.0, 0.0]]
    rest = done.json
    assert (rest["name"], rest["format"], rest["dof"]) == ("figure", "bvh", 9)
    assert (rest["frames"], rest["frame_time"], rest["clips"]) == (3, 0.1, ["figure"])
    assert rest["duration"] == pytest.approx(0.3)
    assert (rest["units"], rest["up"], rest["limits_from"], rest["warnings"]) == ("cm", "y", "clip", [])
    assert rest["height"] == pytest.approx(0.2)
    assert all(tuple(effector) == ("name", "joint", "offset", "goal") for effector in rest["effectors"])


def test_the_guess_of_units_is_in_the_document_and_on_stderr(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = figure(tmp_path)
    done = ran(capsys, "info", path, "--json")
    warning = "units and axes are guessed: units of 0.0564444 m (cmu), Y up, height 1.13 m; from its size"
    assert done.json["warnings"] == [warning]
    assert done.err == f"warning: {path}: {warning}\n"
    assert done.json["units"] == "cmu"


def test_a_z_up_file_keeps_its_own_axes_in_the_document(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = figure(tmp_path)
    text = path.read_text(encoding="utf-8").replace("OFFSET 0 0 0", "OFFSET 1 2 3")
    path.write_text(text, encoding="utf-8")
    hips = ran(capsys, "info", path, "--json", "--units", "mm", "--up", "z").json["joints"][0]
    assert hips["offset"] == [1.0, 2.0, 3.0]
    assert hips["rotation"] == [0.0, 0.0, 0.0, 1.0]


def test_without_motion_frames_are_0_and_times_null(capsys: pytest.CaptureFixture[str]) -> None:
    told = ran(capsys, "info", "sample:biped", "--json").json
    assert (told["frames"], told["frame_time"], told["duration"], told["clips"]) == (0, None, None, [])
    assert (told["format"], told["limits_from"]) == ("json", "file")
    assert ran(capsys, "info", "sample:chain-3", "--json").json["limits_from"] is None


def test_joints_are_in_the_files_order_also_where_children_come_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "backwards.json"
    joints = [{"name": "hand", "parent": "arm", "offset": [0, 1, 0]}, {"name": "arm", "offset": [0, 0, 0]}]
    path.write_text(json.dumps({"joints": joints}), encoding="utf-8")
    assert [joint["name"] for joint in ran(capsys, "info", path, "--json").json["joints"]] == ["hand", "arm"]


def test_limits_and_kinds_are_said_as_the_file_says_them(capsys: pytest.CaptureFixture[str]) -> None:
    told = ran(capsys, "info", "sample:piston", "--json").json
    kinds = {joint["name"]: joint for joint in told["joints"]}
    assert {joint["kind"] for joint in told["joints"]} == {"fixed", "hinge", "slide"}
    assert list(kinds["turntable"]["limits"]) == ["angle"]
    assert list(kinds["section1"]["limits"]) == ["distance"]


def test_a_rig_lends_its_limits_and_effectors(capsys: pytest.CaptureFixture[str]) -> None:
    alone = ran(capsys, "info", "sample:walk", "--json").json
    rigged = ran(capsys, "info", "sample:walk", "--rig", "sample:biped", "--json").json
    assert (alone["limits_from"], rigged["limits_from"]) == ("human+clip", "file")
    kinds = {joint["name"]: joint["kind"] for joint in rigged["joints"]}
    assert (kinds["LeftLeg"], kinds["LeftForeArm"]) == ("hinge", "hinge")


def test_what_is_odd_about_a_rig_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rig = tmp_path / "rig.json"
    rig.write_text('{"joints": [{"name": "Hips", "colour": 3}]}', encoding="utf-8")
    told = ran(capsys, "info", "sample:walk", "--rig", rig, "--json").json
    assert told["warnings"] == [f'{rig}: joints[0] "Hips": unknown key "colour", ignored']


def test_a_figure_may_be_thousands_of_kilometres_tall(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "tall.json"
    joints = [{"name": "a"}, {"name": "b", "parent": "a", "offset": [0, 9e6, 0]}]
    path.write_text(json.dumps({"joints": joints}), encoding="utf-8")
    done = ran(capsys, "info", path, "--json")
    assert (done.code, done.err, done.json["height"]) == (0, "", 9e6)


def test_the_text_says_what_a_person_wants_to_know(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = figure(tmp_path)
    done = ran(capsys, "info", path)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "figure: BVH"
    assert "  joints     2, 9 degrees of freedom" in lines
    assert "  units      1 unit = 0.0564444 m, Y up, guessed" in lines
    assert "  motion     3 frames at 10 fps, 0.3 s" in lines
    assert "  limits     derived from the motion" in lines
    assert any(line.startswith("  warning    units and axes are guessed") for line in lines)
    assert lines[-1].startswith("    Knee ")


def test_a_long_skeleton_is_listed_in_part(capsys: pytest.CaptureFixture[str]) -> None:
    done = ran(capsys, "info", "sample:chain-300")
    assert done.out.splitlines()[-1] == "  ... and 100 more (--json lists all)"
