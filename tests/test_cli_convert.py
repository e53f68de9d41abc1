"""``ikviewer convert``: what the options do to the motion and to the file that is written.

``ikviewer convert``: one pose or one clip of many, and what the command says that it has written.
"""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
import trimesh
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


BONES = "16 triangles of 2 bones"


def two_clips(folder: Path) -> Path:
    """The figure with its three frames, and two of them as a second clip."""
    character = viewer.load(figure(folder), units="cm", up="y")
    assert character.clip is not None
    clips = {"long": replace(character.clip, name="long"), "short": replace(character.clip.frames(1, 2), name="short")}
    viewer.save(replace(character, clips=MappingProxyType(clips)), folder / "two.glb")
    return folder / "two.glb"


@pytest.mark.parametrize("suffix", [".obj", ".stl", ".ply"])
def test_a_mesh_is_of_the_frame_that_is_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str
) -> None:
    out, form = tmp_path / f"a{suffix}", suffix[1:].upper()
    done = ran(capsys, "convert", figure(tmp_path), "-o", out, *CM)
    assert done.out == f"wrote {out}: {BONES}, frame 0 of 3\n"
    warning = f"warning: {out}: {form} holds the shape of one pose: the other frames and the joints are left out\n"
    assert done.err == warning
    assert trimesh.load_mesh(out).extents[1] == pytest.approx(0.2, abs=1e-6)
    done = ran(capsys, "convert", figure(tmp_path), "-o", out, *CM, "--frame", "1")  # it lies along -x there
    assert done.out == f"wrote {out}: {BONES}, frame 1\n"
    assert done.err == f"warning: {out}: {form} holds the shape of one pose: the joints are left out\n"
    assert trimesh.load_mesh(out).extents[0] == pytest.approx(0.2, abs=1e-6)
    done = ran(capsys, "convert", figure(tmp_path), "-o", out, *CM, "--pose", "rest")
    assert done.out == f'wrote {out}: {BONES}, the pose "rest"\n'


def test_a_frame_that_is_not_there_is_refused_and_nothing_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = figure(tmp_path)
    done = ran(capsys, "convert", path, tmp_path / "a.stl", *CM, "--frame", "3")
    assert (done.code, done.out, done.err) == (1, "", f"error: {path}: no frame 3: the clip has 0 to 2\n")
    done = ran(capsys, "convert", "sample:biped", tmp_path / "a.stl", "--frame", "0")
    assert done.err == "error: sample:biped: expected motion, found a skeleton without frames\n"
    assert [file.name for file in tmp_path.iterdir()] == ["figure.bvh"]


def test_one_frame_alone_is_written_in_any_format(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for suffix in (".bvh", ".json", ".npz", ".csv", ".glb"):
        out = tmp_path / f"a{suffix}"
        assert ran(capsys, "convert", figure(tmp_path), "-o", out, *CM, "--frame", "2").out.endswith(
            ": 2 joints, frame 2\n"
        )
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 2
    clip = viewer.load(tmp_path / "a.json").clip
    assert clip is not None
    assert len(clip) == 1
    assert clip.local_translations()[0, 0] == pytest.approx([0.02, 0.9, 0.0])
    standing = viewer.load(tmp_path / "a.glb").skeleton
    assert standing.offsets[0] == pytest.approx([0.02, 0.9, 0.0])


def test_a_pose_by_name_stands_in_place_of_the_motion(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    assert ran(capsys, "convert", "sample:biped", "-o", out, "--pose", "relaxed").code == 0
    character = viewer.load(out)
    assert character.clip is not None
    names = [character.skeleton.index(name) for name in viewer.load("sample:biped").skeleton.names]
    relaxed = viewer.load("sample:biped").skeleton.relaxed_pose()
    np.testing.assert_allclose(character.clip.rotations[0, names], relaxed.rotations, rtol=0, atol=1e-12)
    done = ran(capsys, "convert", "sample:biped", "-o", out, "--pose", "relxed")
    assert (done.code, done.err) == (1, 'error: no pose "relxed"; did you mean "relaxed"?\n')


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--frame", "1", "--frames", "0:1"), "argument --frames: not allowed with argument --frame"),
        (("--pose", "rest", "--frame", "1"), "argument --frame: not allowed with argument --pose"),
        (("--frame", "1", "--fps", "30"), "argument --fps: not allowed with argument --frame: nothing moves"),
        (("--pose", "rest", "--frame-time", "1"), "argument --frame-time: not allowed with argument --pose"),
        (("--pose", "rest", "--clip", "figure"), "argument --clip: not allowed with argument --pose"),
    ],
)
def test_options_that_contradict_each_other_are_wrong_usage(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: tuple[str, ...], problem: str
) -> None:
    done = ran(capsys, "convert", figure(tmp_path), "-o", tmp_path / "a.glb", *options)
    assert (done.code, done.out) == (2, "")
    assert problem in done.err
    assert not (tmp_path / "a.glb").exists()


def test_all_clips_are_written_where_they_can_be(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, out = two_clips(tmp_path), tmp_path / "a.glb"
    for options in ((), ("--fps", "20"), ("--frame-time", "0.5")):
        done = ran(capsys, "convert", path, "-o", out, *options)
        assert (done.out, done.err) == (f'wrote {out}: 2 joints, 2 clips: "long", "short"\n', "")
    clips = viewer.load(out).clips
    assert [(len(clip), round(clip.frame_time, 6)) for clip in clips.values()] == [(3, 0.5), (2, 0.5)]


@pytest.mark.parametrize(
    ("suffix", "options"), [(".bvh", CM), (".glb", ("--frames", "0:1")), (".glb", ("--frame", "0"))]
)
def test_clips_that_are_left_out_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str, options: tuple[str, ...]
) -> None:
    path, out = two_clips(tmp_path), tmp_path / f"a{suffix}"
    done = ran(capsys, "convert", path, "-o", out, *options)
    assert f'warning: {out}: it holds one clip, "long"; left out: "short" (--clip chooses)\n' in done.err
    done = ran(capsys, "convert", path, "-o", out, "--clip", "short")
    assert done.out == f"wrote {out}: 2 joints, 2 frames at 10 fps\n"
    assert "left out" not in done.err


def test_every_command_takes_a_clip(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, goals = two_clips(tmp_path), tmp_path / "goals.json"
    goals.write_text('{"goals": [{"effector": "Knee.tip", "pin": true}]}')
    long = ran(capsys, "fk", path, "--frame", "1").out
    assert ran(capsys, "fk", path, "--clip", "short", "--frame", "0").out == long.replace("frame 1", "frame 0")
    done = ran(capsys, "fk", path, "--clip", "short", "--frame", "2")
    assert done.err == f"error: {path}: no frame 2: the clip has 0 to 1\n"
    for frame, code in (("1", 0), ("2", 1)):
        assert ran(capsys, "solve", path, goals, "--clip", "short", "--from-frame", frame).code == code
    done = ran(capsys, "fk", path, "--clip", "shrt", "--frame", "0")
    assert done.err == f'error: {path}: no clip "shrt"; did you mean "short"?\n'


def test_info_lists_all_clips(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = ran(capsys, "info", two_clips(tmp_path)).out.splitlines()
    place = lines.index('  motion     "long": 3 frames at 10 fps, 0.3 s')
    assert lines[place + 1] == '             "short": 2 frames at 10 fps, 0.2 s'


@pytest.mark.parametrize(
    ("suffix", "what"),
    [(".bvh", "the rest pose"), (".csv", "the rest pose"), (".json", "no motion"), (".npz", "no motion"),
     (".glb", "no motion")],
)  # fmt: skip
def test_a_figure_without_motion(capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str, what: str) -> None:
    out = tmp_path / f"a{suffix}"
    assert ran(capsys, "convert", "sample:two-link", out).out == f"wrote {out}: 2 joints, {what}\n"


@pytest.mark.parametrize("name", ["a.png", "a.gif", "a.mp4", "A.PNG"])
def test_pictures_are_the_business_of_another_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    out = tmp_path / name
    done = ran(capsys, "convert", tmp_path / "gone.bvh", out)  # the name is looked at before anything is read
    problem = f"pictures and films are drawn, by ikviewer render FILE -o {out}"
    assert (done.code, done.err) == (1, f"error: {out}: {problem}\n")


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".obj", ".stl", ".ply"])
def test_what_is_written_only_is_said_to_be(capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str) -> None:
    source = tmp_path / f"a{suffix}"
    source.write_bytes(b"#usda 1.0")
    done = ran(capsys, "convert", source, tmp_path / "b.glb")
    assert done.err.endswith(f'found "{suffix}", which is written only\n')
    assert done.code == 1


@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_a_robot_is_said_to_have_no_motion(suffix: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    if suffix == "xml":
        pytest.importorskip("mujoco")
    out = tmp_path / f"walk.{suffix}"
    assert ran(capsys, "convert", "sample:walk", out).out.splitlines()[-1] == f"wrote {out}: 22 joints, no motion"
    done = json.loads(ran(capsys, "convert", "sample:walk", out, "--force", "--json").out)
    assert (done["clips"], done["frames"], done["frame_time"]) == ([], 0, None)


def test_numbers_of_a_table_are_written_as_python_writes_them(tmp_path: Path) -> None:
    places = [(10.0**k, -3.7 * 10.0**k, 10.00001) for k in range(-7, 7)]
    skeleton = viewer.Builder().add("a").skeleton
    turns = np.tile((0.0, 0.0, 0.0, 1.0), (len(places), 1, 1))
    clip = viewer.Clip.from_arrays(skeleton, turns, np.array(places))
    viewer.save(viewer.Character(skeleton, {"clip": clip}), tmp_path / "a.csv")
    rows = [line.split(",")[2:5] for line in (tmp_path / "a.csv").read_bytes().decode().split("\r\n")[1:-1]]
    assert rows == [[*map(repr, place)] for place in places]
