"""``ikviewer fk``: numbers known by hand, and which frames and poses are evaluated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cli_run import figure, ran

import viewer

if TYPE_CHECKING:
    from pathlib import Path

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


def test_sums_past_float_range_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    joints = [{"name": "a", "offset": [1e308, 0, 0]}, {"name": "b", "parent": "a", "offset": [1e308, 0, 0]}]
    path.write_text(json.dumps({"joints": joints}), encoding="utf-8")
    done = ran(capsys, "fk", path, "--json")
    expected = "expected lengths that keep it within 1e+07 m of the origin, found inf"
    assert (done.code, done.out, done.err) == (1, "", f'error: {path}: joint "a": {expected}\n')
