"""``ikviewer info``.

``ikviewer fk``: numbers known by hand, and which frames and poses are evaluated.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cli_run import figure, ran

import viewer

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
    assert "  limits     clip" in lines
    assert any(line.startswith("  warning    units and axes are guessed") for line in lines)
    assert lines[-1].startswith("    Knee ")


@pytest.mark.parametrize(("links", "pairs"), [(2, "0 pairs are"), (3, "1 pair is"), (4, "3 pairs are")])
def test_one_pair_of_bodies_is_one(capsys: pytest.CaptureFixture[str], links: int, pairs: str) -> None:
    lines = ran(capsys, "info", f"sample:chain-{links}").out.splitlines()
    assert f"  bodies     {links} fitted to the bones, {pairs} tested" in lines


def test_a_long_skeleton_is_listed_in_part(capsys: pytest.CaptureFixture[str]) -> None:
    done = ran(capsys, "info", "sample:chain-300")
    assert done.out.splitlines()[-1] == "  ... and 100 more (--json lists all)"


HALF = 0.7071067811865476


def places(document: Any) -> dict[str, Any]:  # noqa: ANN401 - parsed JSON
    return {name: pytest.approx(joint["position"], abs=1e-12) for name, joint in document["joints"].items()}


def test_a_frame_in_metres(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    done = ran(capsys, "fk", figure(tmp_path), "--units", "cm", "--up", "y", "--frame", "1", "--json")
    assert (done.code, done.err) == (0, "")
    assert tuple(done.json) == ("frame", "joints", "tips")
    assert done.json["frame"] == 1
    assert list(done.json["joints"]) == ["Hips", "Knee"]
    assert places(done.json) == {"Hips": [0.01, 0.9, 0.0], "Knee": [-0.09, 0.9, 0.0]}
    assert done.json["joints"]["Knee"]["rotation"] == pytest.approx([0, 0, HALF, HALF], abs=1e-12)
    (tip,) = done.json["tips"]
    assert tip == {"parent": "Knee", "position": pytest.approx([-0.19, 0.9, 0.0], abs=1e-12)}


def test_without_a_frame_it_is_the_rest_pose(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rest = ran(capsys, "fk", figure(tmp_path), "--units", "cm", "--json").json
    assert rest["frame"] is None
    assert places(rest) == {"Hips": [0.0, 0.0, 0.0], "Knee": [0.0, 0.1, 0.0]}
    assert ran(capsys, "fk", figure(tmp_path), "--units", "cm", "--json", "--pose", "rest").json == rest


def test_z_up_is_turned_and_raw_is_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = figure(tmp_path)
    turned = ran(capsys, "fk", path, "--units", "cm", "--up", "z", "--frame", "2", "--json").json
    assert places(turned) == {"Hips": [0.02, 0.0, -0.9], "Knee": [0.02, 0.0, -1.0]}
    raw = ran(capsys, "fk", path, "--units", "raw", "--frame", "2", "--json").json
    assert places(raw) == {"Hips": [2.0, 90.0, 0.0], "Knee": [2.0, 100.0, 0.0]}
    number = ran(capsys, "fk", path, "--units", "0.5", "--up", "y", "--frame", "2", "--json").json
    assert places(number) == {"Hips": [1.0, 45.0, 0.0], "Knee": [1.0, 50.0, 0.0]}


@pytest.mark.parametrize(
    ("text", "frames"),
    [("0", [0]), ("0:2", [0, 1, 2]), ("0:2:2", [0, 2]), ("0:1:2", [0]), ("2,0:1,2", [2, 0, 1, 2])],
)
def test_frames_make_a_list_in_the_order_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, frames: list[int]
) -> None:
    documents = ran(capsys, "fk", figure(tmp_path), "--units", "cm", "--frames", text, "--json").json
    assert [document["frame"] for document in documents] == frames
    assert [document["joints"]["Hips"]["position"][0] for document in documents] == pytest.approx(
        [0.01 * frame for frame in frames]
    )


def test_npz_holds_the_files_joint_order(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, out = tmp_path / "backwards.json", tmp_path / "out.npz"
    joints = [{"name": "hand", "parent": "arm", "offset": [0, 1, 0]}, {"name": "arm", "offset": [3, 0, 0]}]
    path.write_text(json.dumps({"joints": joints}), encoding="utf-8")
    assert ran(capsys, "fk", path, "--npz", out) == (0, f"wrote {out}: 2 joints, 1 frame\n", "")
    with np.load(out) as arrays:
        assert sorted(arrays) == ["names", "positions", "rotations"]
        assert arrays["names"].tolist() == ["hand", "arm"]
        assert arrays["positions"].tolist() == [[[3.0, 1.0, 0.0], [3.0, 0.0, 0.0]]]
        assert arrays["rotations"].tolist() == [[[0.0, 0.0, 0.0, 1.0]] * 2]
    assert list(ran(capsys, "fk", path, "--json").json["joints"]) == ["hand", "arm"]


def test_npz_beside_json_gives_both(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.npz"
    done = ran(capsys, "fk", "sample:walk", "--frames", "0:9", "--npz", out, "--json")
    with np.load(out) as arrays:
        assert arrays["positions"].shape == (10, 22, 3)
        names, places_of_9 = arrays["names"].tolist(), arrays["positions"][9]
    assert list(done.json[9]["joints"]) == names
    assert [joint["position"] for joint in done.json[9]["joints"].values()] == places_of_9.tolist()


def test_poses_by_name_and_from_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    skeleton = viewer.load("sample:biped").skeleton
    relaxed = viewer.fk(skeleton, skeleton.relaxed_pose()).positions[skeleton.index("LeftHand")]
    named = ran(capsys, "fk", "sample:biped", "--pose", "relaxed", "--json").json
    assert named["joints"]["LeftHand"]["position"] == pytest.approx(relaxed.tolist())
    path = tmp_path / "bow.json"
    pose = {"type": "pose", "skeleton": "other", "rotations": {"Knee": [0, 0, HALF, HALF]}}
    path.write_text(json.dumps(pose), encoding="utf-8")
    bowed = ran(capsys, "fk", figure(tmp_path), "--units", "cm", "--up", "y", "--pose", path, "--json")
    assert bowed.json["tips"][0]["position"] == pytest.approx([-0.1, 0.1, 0.0], abs=1e-6)
    assert bowed.err == f'warning: {path}: skeleton: the pose was made for "other", not for "figure"\n'


def test_a_rig_changes_no_place(capsys: pytest.CaptureFixture[str]) -> None:
    alone = ran(capsys, "fk", "sample:walk", "--frame", "7", "--json").json
    assert ran(capsys, "fk", "sample:walk", "--frame", "7", "--json", "--rig", "sample:biped").json == alone


def test_the_table_has_a_line_per_joint_and_no_minus_zero(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    done = ran(capsys, "fk", figure(tmp_path), "--units", "cm", "--up", "y", "--frames", "1,2")
    assert done.out.splitlines() == [
        "frame 1               x         y         z  (m)",
        "Hips             0.0100    0.9000    0.0000",
        "Knee            -0.0900    0.9000    0.0000",
        "frame 2               x         y         z  (m)",
        "Hips             0.0200    0.9000    0.0000",
        "Knee             0.0200    1.0000    0.0000",
    ]


@pytest.mark.parametrize(("length", "found"), [(1e308, "1e+308"), (6e6, "1.2e+07")])
def test_places_too_far_off_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, length: float, found: str
) -> None:
    path = tmp_path / "huge.json"
    joints = [{"name": "a", "offset": [length, 0, 0]}, {"name": "b", "parent": "a", "offset": [length, 0, 0]}]
    path.write_text(json.dumps({"joints": joints}), encoding="utf-8")
    done = ran(capsys, "fk", path, "--json")
    name = "a" if length > 1e7 else "b"
    said = f'error: {path}: joint "{name}": expected lengths that keep it within 1e+07 m of the origin, found {found}\n'
    assert (done.code, done.out, done.err) == (1, "", said)
