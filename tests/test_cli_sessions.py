"""Session files in the commands: the take as the window plays it, the pose in which it was saved."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from cli_run import ran
from gl_drawing import context
from inside.document import actions as act, frame_pose
from inside.session import save_session
from sessions import session
from takes import loose, turn

import viewer

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.document import Document

FIRST, LAST, KEY = 5, 50, 20


@cache
def recorded() -> Document:
    """The walk with one arm raised by a key, trimmed."""
    made = session("walk")
    made.seek(KEY)
    turn(made, "LeftArm", (0.2, 0.9, 0.4))
    made.dispatch(act.KeyPose())
    made.dispatch(act.SetRange(FIRST, LAST))
    return made.document


@cache
def posed() -> Document:
    """The biped with one arm raised; nothing was recorded."""
    made = loose("biped")
    turn(made, "LeftArm", (0.2, 0.9, 0.4))
    return made.document


def saved(document: Document, folder: Path, name: str = "work.ikv.json") -> Path:
    save_session(document, folder / name)
    return folder / name


@pytest.mark.parametrize("suffix", [".glb", ".bvh", ".json", ".npz"])
def test_the_take_is_written_as_it_is_played(capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"take{suffix}"
    done = ran(capsys, "convert", saved(recorded(), tmp_path), out)
    assert (done.code, done.out) == (0, f"wrote {out}: 22 joints, 46 frames at 30 fps\n")
    assert "guessed" not in done.err
    again = viewer.load(out, units="cm", up="y") if suffix == ".bvh" else viewer.load(out)
    assert again.clip is not None
    names = [again.skeleton.index(name) for name in recorded().skeleton.names]
    places = viewer.fk_clip(again.skeleton, again.clip).positions[:, names]
    for frame in (FIRST, KEY, LAST):
        shown = viewer.fk(recorded().skeleton, frame_pose(recorded(), frame)).positions
        np.testing.assert_allclose(places[frame - FIRST], shown, rtol=0, atol=2e-6)
    base = recorded().clip_data
    assert base is not None
    arm = recorded().skeleton.index("LeftForeArm")
    unkeyed = viewer.fk(recorded().skeleton, base.pose(KEY)).positions[arm]
    assert np.linalg.norm(places[KEY - FIRST, arm] - unkeyed) > 0.05


def test_frames_count_from_the_first_that_is_played(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = saved(recorded(), tmp_path)
    found = ran(capsys, "fk", path, "--frame", str(KEY - FIRST), "--json").json["joints"]
    shown = viewer.fk(recorded().skeleton, frame_pose(recorded(), KEY)).positions
    for name, place in zip(recorded().skeleton.names, shown, strict=True):
        np.testing.assert_allclose(found[name]["position"], place, rtol=0, atol=1e-9)
    done = ran(capsys, "fk", path, "--frame", "46")
    assert (done.code, done.err) == (1, f"error: {path}: no frame 46: the clip has 0 to 45\n")


def test_without_motion_it_is_the_pose(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, out = saved(posed(), tmp_path), tmp_path / "pose.bvh"
    assert ran(capsys, "convert", path, out).out == f"wrote {out}: 22 joints, the pose of the session\n"
    again = viewer.load(out, units="m", up="y")
    assert again.clip is not None
    shown = viewer.fk(posed().skeleton, posed().pose).positions
    found = viewer.fk(again.skeleton, again.clip.pose(0)).positions
    names = [again.skeleton.index(name) for name in posed().skeleton.names]
    np.testing.assert_allclose(found[names], shown, rtol=0, atol=2e-6)
    for option in (("--frame", "0"), ("--fps", "30")):
        done = ran(capsys, "convert", path, "-o", out, *option)
        assert (done.code, done.err) == (1, f"error: {path}: expected motion, found a skeleton without frames\n")


def test_fk_is_of_the_pose_unless_told_otherwise(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = saved(posed(), tmp_path)
    plain, rest = ran(capsys, "fk", path), ran(capsys, "fk", path, "--pose", "rest")
    assert plain.out == ran(capsys, "fk", path, "--pose", "session").out != rest.out
    assert rest.out == ran(capsys, "fk", "sample:biped").out


def test_info_says_what_is_in_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = saved(recorded(), tmp_path)
    lines = ran(capsys, "info", path).out.splitlines()
    assert lines[0] == "walk: session (BVH)"
    for line in (
        "  motion     46 frames at 30 fps, 1.53 s",
        '  played     frames 5 to 50 of clip "walk", standing at 20',
        "  keys       20",
        "  goals      LeftHand, RightHand, LeftFoot, RightFoot, Head; pinned: LeftFoot, RightFoot",
        "  solver     default, limits on",
    ):
        assert line in lines
    assert ran(capsys, "info", path, "--json").json["session"] == {
        "clip": "walk", "frame": 20, "played": [5, 50], "keys": [20],
        "goals": ["LeftHand", "RightHand", "LeftFoot", "RightFoot", "Head"], "pins": ["LeftFoot", "RightFoot"],
        "limits_on": True, "solver": "default",
    }  # fmt: skip


def test_info_of_a_pose_says_nothing_of_keys(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = saved(posed(), tmp_path)
    out = ran(capsys, "info", path).out
    assert "  goals      none\n  solver     default, limits off\n" in out
    assert "played" not in out
    assert "keys" not in out
    found = ran(capsys, "info", path, "--json").json["session"]
    assert (found["frame"], found["played"], found["keys"]) == (None, None, [])


def test_solving_starts_from_its_pose(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    goals = tmp_path / "goals.json"
    goals.write_text('{"goals": [{"effector": "RightFoot", "pin": true}]}')
    pose = ran(capsys, "solve", saved(posed(), tmp_path), goals, "--no-limits", "--json").json["pose"]
    for joint, name in enumerate(posed().skeleton.names):
        np.testing.assert_allclose(pose["rotations"][name], posed().pose.rotations[joint], rtol=0, atol=1e-9)


def test_a_picture_shows_its_pose_and_a_film_what_is_played(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    context()
    small = ("--size", "64x64", "--samples", "0")
    path, out = saved(recorded(), tmp_path), tmp_path / "a.png"
    pictures = {}
    for options in ((), ("--pose", "session"), ("--frame", str(KEY - FIRST)), ("--frame", "0")):
        assert ran(capsys, "render", path, "-o", out, *small, *options).code == 0
        pictures[options] = out.read_bytes()
    assert pictures[()] == pictures["--pose", "session"] == pictures["--frame", str(KEY - FIRST)]
    assert pictures[()] != pictures["--frame", "0"]
    done = ran(capsys, "render", path, "-o", tmp_path / "a.gif", *small, "--fps", "10")
    assert done.out == f"wrote {tmp_path / 'a.gif'}: 15 pictures of 64 x 64, 10 a second, 1.50 s\n"
    still = saved(posed(), tmp_path, "still.ikv.json")
    done = ran(capsys, "render", still, "-o", tmp_path / "b.gif", *small)
    problem = "expected motion, found a skeleton without frames: --turntable turns it round"
    assert (done.code, done.err) == (1, f"error: {still}: {problem}\n")
    assert ran(capsys, "render", still, "-o", tmp_path / "b.gif", *small, "--turntable", "0.2").code == 0


def test_it_lends_a_rig_and_is_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = saved(posed(), tmp_path)
    assert ran(capsys, "info", "sample:walk", "--rig", path).code == 0
    assert ran(capsys, "check", tmp_path).out == f"ok       {path}: 22 joints, no motion\n"


def test_its_units_are_known(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, out = saved(recorded(), tmp_path), tmp_path / "a.bvh"
    done = ran(capsys, "convert", path, out, "--units", "mm")
    assert done.err == f"warning: {path}: a session knows its units and axes: nothing was converted\n"
    assert ran(capsys, "convert", path, tmp_path / "b.bvh").code == 0
    assert out.read_bytes() == (tmp_path / "b.bvh").read_bytes()


@pytest.mark.parametrize("arguments", [("convert", "sample:walk"), ("solve", "sample:walk", "goals.json", "-o")])
def test_no_command_writes_a_session(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    out = tmp_path / "a.ikv.json"
    done = ran(capsys, *arguments, out)
    problem = "a session holds what was done in the window: save it there, by Ctrl+S"
    assert (done.code, done.out, done.err) == (1, "", f"error: {out}: {problem}\n")
    assert not out.exists()


@pytest.mark.parametrize("command", ["info", "fk", "check"])
def test_one_that_is_damaged_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str) -> None:
    path = tmp_path / "cut.ikv.json"
    path.write_bytes(saved(posed(), tmp_path).read_bytes()[:5000])
    done = ran(capsys, command, path)
    assert done.code == 1
    assert str(path) in (done.out if command == "check" else done.err)
    assert "Traceback" not in done.err


def test_a_demo_is_for_the_window(capsys: pytest.CaptureFixture[str]) -> None:
    done = ran(capsys, "info", "demo:two-link")
    assert done.err == "error: demo:two-link: a demo is for the window: ikviewer view demo:two-link\n"
