"""``ikviewer convert``: what the options do to the motion and to the file that is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from cli_run import figure, ran

import viewer

if TYPE_CHECKING:
    from pathlib import Path

CM = ("--units", "cm", "--up", "y")


def clip_of(path: Path, *, units: str = "auto", up: Literal["auto", "y", "z"] = "auto") -> viewer.Clip:
    clip = viewer.load(path, units=units, up=up).clip
    assert clip is not None
    return clip


@pytest.mark.parametrize("suffix", [".bvh", ".json", ".npz"])
def test_every_format_keeps_the_motion(capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out{suffix}"
    done = ran(capsys, "convert", "sample:walk", out)
    assert (done.code, done.out) == (0, f"wrote {out}: 22 joints, 68 frames at 30 fps\n")
    before = viewer.load("sample:walk")
    after = viewer.load(out, units="cm", up="y") if suffix == ".bvh" else viewer.load(out)
    assert before.clip is not None
    assert after.clip is not None
    assert after.clip.frame_time == before.clip.frame_time
    names = [after.skeleton.index(name) for name in before.skeleton.names]
    places = viewer.fk_clip(after.skeleton, after.clip).positions[:, names]
    assert np.abs(places - viewer.fk_clip(before.skeleton, before.clip).positions).max() < 1e-6


def test_csv_is_written_and_says_what_it_cannot_hold(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    done = ran(capsys, "convert", figure(tmp_path), out, *CM)
    assert done.code == 0
    assert f"warning: {out}: CSV holds positions and angles only: no skeleton, limits or effectors\n" in done.err
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines[0].split(",")[:5] == ["frame", "time", "Hips.x", "Hips.y", "Hips.z"]
    assert len(lines) == 4


def test_frames_are_kept_both_ends_included(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    for text, hips in (("1:2", [0.01, 0.02]), ("2", [0.02]), ("0:2:2", [0.0, 0.02])):
        assert ran(capsys, "convert", figure(tmp_path), "-o", out, *CM, "--frames", text).code == 0
        clip = clip_of(out, units="cm", up="y")
        assert clip.local_translations()[:, 0, 0] == pytest.approx(hips)


def test_a_step_of_frames_keeps_the_pace(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    ran(capsys, "convert", figure(tmp_path), out, *CM, "--frames", "0:2:2")
    assert clip_of(out, units="cm").frame_time == pytest.approx(0.2)


def test_fps_resamples_and_keeps_the_duration(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = ran(capsys, "convert", figure(tmp_path), out, *CM, "--fps", "20")
    assert done.out == f"wrote {out}: 2 joints, 6 frames at 20 fps\n"
    clip = clip_of(out)
    assert clip.duration == pytest.approx(0.3)
    half_way = clip.local_translations()[1, 0]
    assert half_way == pytest.approx([0.005, 0.9, 0.0])
    turned = viewer.fk(viewer.load(out).skeleton, clip.pose(1)).rotations[0]
    assert turned == pytest.approx([0, 0, np.sin(np.pi / 8), np.cos(np.pi / 8)])


def test_frame_time_corrects_and_keeps_the_frames(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    ran(capsys, "convert", figure(tmp_path), out, *CM, "--frame-time", "0.05")
    clip = clip_of(out, units="cm")
    assert (len(clip), clip.frame_time) == (3, 0.05)


def test_a_corrected_time_comes_before_the_resampling(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    ran(capsys, "convert", figure(tmp_path), out, *CM, "--frames", "1:2", "--frame-time", "1", "--fps", "4")
    clip = clip_of(out)
    assert (len(clip), clip.frame_time) == (8, 0.25)
    assert clip.local_translations()[0, 0, 0] == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("options", "hips", "knee"),
    [
        ((), "0.0 90.0 0.0", "0.0 10.0 0.0"),
        (("--to-units", "m"), "0.0 0.9 0.0", "0.0 0.1 0.0"),
        (("--to-units", "mm"), "0.0 900.0 0.0", "0.0 100.0 0.0"),
        (("--to-units", "0.05"), "0.0 18.0 0.0", "0.0 2.0 0.0"),
        (("--to-up", "z"), "0.0 0.0 90.0", "0.0 10.0 0.0"),
        (("--to-up", "z", "--to-units", "m"), "0.0 0.0 0.9", "0.0 0.1 0.0"),
    ],
)
def test_output_units_and_axes_touch_lengths_and_roots_only(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: tuple[str, ...], hips: str, knee: str
) -> None:
    out = tmp_path / "out.bvh"
    assert ran(capsys, "convert", figure(tmp_path), out, *CM, *options, "--precision", "1").code == 0
    lines = [line.split() for line in out.read_text(encoding="utf-8").splitlines()]
    offsets = [" ".join(words[1:]) for words in lines if words[0] == "OFFSET"]
    assert offsets[1:] == [knee, knee]
    assert " ".join(lines[-3][:3]) == hips


def test_units_and_axes_that_were_read_are_those_that_are_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out.bvh"
    ran(capsys, "convert", figure(tmp_path), out, "--units", "inch", "--up", "z", "--precision", "3")
    written = [line.split() for line in out.read_text(encoding="utf-8").splitlines()]
    read = [line.split() for line in figure(tmp_path).read_text(encoding="utf-8").splitlines()]
    assert len(written) == len(read)
    channels = [[words for words in lines if words[0] == "CHANNELS"] for lines in (written, read)]
    assert channels[0] == channels[1]
    for after, before in zip(written[-3:], read[-3:], strict=True):
        assert [float(word) for word in after] == [float(word) for word in before]


def test_to_units_of_a_json_file_are_stated_in_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    ran(capsys, "convert", "sample:biped", out, "--to-units", "cm", "--to-up", "z")
    document = json.loads(out.read_text(encoding="utf-8"))
    assert (document["units"], document["up"]) == ("cm", "z")
    before, after = viewer.load("sample:biped").skeleton, viewer.load(out).skeleton
    assert np.abs(before.offsets - after.offsets).max() < 1e-12


def test_what_a_format_has_no_place_for_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.npz"
    done = ran(capsys, "convert", "sample:biped", out, "--to-units", "cm", "--precision", "3")
    assert done.err.splitlines() == [
        f"warning: {out}: NPZ is in metres, Y up, always: --to-units and --to-up change nothing",
        f"warning: {out}: NPZ holds numbers whole: --precision changes nothing",
    ]


def test_a_rig_is_written_with_the_motion(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert ran(capsys, "convert", "sample:walk", out, "--rig", "sample:biped").code == 0
    knees = {joint["name"]: joint for joint in json.loads(out.read_text(encoding="utf-8"))["joints"]}
    assert knees["LeftLeg"]["kind"] == "hinge"


def test_a_fox_does_not_lose_its_fur_in_silence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, shared: Path
) -> None:
    fox, lost = shared / "data" / "gltf" / "Fox.glb", "1 mesh, 1 skin, 1 material, 1 texture, 1 image"
    kept = ran(capsys, "convert", fox, tmp_path / "out.glb")
    assert kept.err.splitlines() == [f'warning: {fox}: clip "Run" has keys at uneven times: read at 30 frames a second']
    out = tmp_path / "out.bvh"
    said = ran(capsys, "convert", fox, out).err.splitlines()
    assert f"warning: {out}: BVH has no place for the skin: {lost} left out" in said


def test_quiet_prints_errors_only(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for words in (("-q", "convert"), ("convert", "--quiet")):
        assert ran(capsys, *words, figure(tmp_path), "-o", tmp_path / "out.csv") == (0, "", "")
    assert ran(capsys, "convert", "--quiet", figure(tmp_path), tmp_path / "out.csv").err.startswith("error: ")
    assert ran(capsys, "convert", figure(tmp_path), "-o", tmp_path / "out.csv").err.startswith("warning: ")


def test_a_clip_is_chosen_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    assert ran(capsys, "convert", figure(tmp_path), out, *CM, "--clip", "figure").code == 0
    done = ran(capsys, "convert", figure(tmp_path), tmp_path / "no.bvh", *CM, "--clip", "figur")
    assert (done.code, done.err) == (
        1, f'error: {tmp_path / "figure.bvh"}: no clip "figur"; did you mean "figure"?\n',
    )  # fmt: skip


def test_a_file_may_be_converted_onto_itself(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = figure(tmp_path)
    assert ran(capsys, "convert", path, path, "--force", *CM, "--frames", "0:1").code == 0
    assert len(clip_of(path, units="cm")) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["figure.bvh"]


def test_the_frames_that_resampling_makes_are_bounded(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    done = ran(capsys, "convert", figure(tmp_path), tmp_path / "out.json", *CM, "--fps", "1e300")
    assert (done.code, done.out) == (1, "")
    assert done.err == "error: 1e+300 frames per second make 3e+299 frames: expected at most 100,000,000\n"
