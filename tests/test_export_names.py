"""File names to save under: which format they mean, and unknown formats; shapes are of the pose that is shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
import trimesh
from inside.app import State
from inside.document import actions as act
from inside.session import SUFFIX
from inside.ui import EXPORTS, ExportOptions, FileQuestion
from ui_person import Person

import viewer
from viewer.document import new_document


def state(name: str, suffixes: tuple[str, ...] = EXPORTS, folder: Path = Path("/somewhere")) -> State:
    return State(FileQuestion("Export", "Export", suffixes, lambda _: None, saving=True, name=name), folder=folder)


@pytest.mark.parametrize("name", ["w.fbx", "w.FBX", "walk.tar", "w.mp3", "walk.v1.c3d"])
def test_a_format_that_there_is_not_is_refused_with_those_that_there_are(name: str) -> None:
    suffix = Path(name).suffix
    assert state(name).refused == f'"{suffix}" is not a format to save in: expected {", ".join(EXPORTS)}'


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("walk", "walk.bvh"), ("walk v1.2", "walk v1.2.bvh"), ("w.glb", "w.glb"), ("W.GLB", "W.GLB"),
        ("film.mp4", "film.mp4"), ("walk.v2.csv", "walk.v2.csv"), ("...", "....bvh"),
    ],
)  # fmt: skip
def test_other_names_are_taken_with_the_first_suffix_where_they_have_none(name: str, saved: str) -> None:
    assert state(name).refused == ""
    assert state(name).path == Path("/somewhere") / saved


def test_a_session_takes_any_name_and_a_picture_its_own_suffix_alone() -> None:
    assert state("act.json", (SUFFIX,)).refused == ""
    assert state("act.final", (SUFFIX,)).path.name == f"act.final{SUFFIX}"
    assert state("shot.jpg", (".png",)).refused == '".jpg" is not a format to save in: expected .png'


def test_a_folder_is_no_name(tmp_path: Path) -> None:
    (tmp_path / "takes.old").mkdir()
    assert state("takes.old", folder=tmp_path).refused == ""


@pytest.mark.parametrize("suffix", [".obj", ".stl", ".ply"])
def test_a_shape_is_of_the_pose_on_screen(tmp_path: Path, suffix: str) -> None:
    person = Person("sample:walk")
    files = []
    for frame in (0, 30):
        person.controller.playback.go(frame)
        files.append(tmp_path / f"{frame}{suffix}")
        assert person.controller.files.export_to(files[-1])
        assert person.controller.view.bar.messages[-1].text.startswith(f"Exported the pose to {frame}{suffix}")
    first, other = (trimesh.load(file, force="mesh") for file in files)
    places = person.controller.scene().world.positions
    # The hips alone tell: they walk on, and the shape's middle with them.
    moved = other.bounds.mean(axis=0) - first.bounds.mean(axis=0)
    person.controller.playback.go(0)
    way = places[0] - person.controller.scene().world.positions[0]
    assert np.linalg.norm(way) > 0.2
    assert np.linalg.norm(moved - way) < 0.5 * np.linalg.norm(way)


def test_motion_is_exported_whole_all_the_same(tmp_path: Path) -> None:
    person = Person("sample:walk")
    assert person.controller.files.export_to(tmp_path / "walk.npz")
    assert person.controller.view.bar.messages[-1].text.startswith("Exported 68 frames to walk.npz")


def _three_clips() -> Person:
    """Somebody at the walk, in the middle one of three clips, who has keyed an arm."""
    person = Person("sample:walk")
    character = person.document.character
    walk = character.clip
    assert walk is not None
    clips = {name: replace(walk.frames(0, last), name=name) for name, last in (("Look", 20), ("Walk", 67), ("Run", 9))}
    person.controller.session.replace(new_document(replace(character, clips=MappingProxyType(clips))))
    person.controller.session.dispatch(act.SetClip("Walk"))
    person.controller.session.dispatch(act.TurnJoint("LeftArm", (0.0, 0.0, 0.6, 0.8)))
    person.controller.session.dispatch(act.KeyPose(0))
    return person


def test_the_other_clips_go_along_where_the_format_holds_them(tmp_path: Path) -> None:
    person = _three_clips()
    assert person.controller.files.export_to(tmp_path / "three.glb")
    assert person.controller.view.bar.messages[-1].text.startswith("Exported 3 clips to three.glb")
    assert "without" not in person.controller.view.bar.messages[-1].text
    read = viewer.load(tmp_path / "three.glb")
    assert {name: len(clip) for name, clip in read.clips.items()} == {"Walk": 68, "Look": 21, "Run": 10}
    assert next(iter(read.clips)) == "Walk"  # the one that was shown is shown first
    turned = read.skeleton.index("LeftArm")
    now, before = (read.clips[name].rotations[0, turned] for name in ("Walk", "Look"))
    assert abs(abs(float(now @ before)) - 1.0) > 1e-3


def test_keys_on_another_clip_are_in_the_file_too(tmp_path: Path) -> None:
    person = _three_clips()
    person.controller.session.dispatch(act.SetClip("Run"))
    assert person.controller.files.export_to(tmp_path / "three.glb")
    read = viewer.load(tmp_path / "three.glb")
    assert list(read.clips) == ["Run", "Look", "Walk"]
    arm = read.skeleton.index("LeftArm")
    keyed, plain = read.clips["Walk"].rotations[0, arm], read.clips["Run"].rotations[0, arm]
    assert abs(abs(float(keyed @ plain)) - 1.0) > 1e-3


@pytest.mark.parametrize("name", ["one.bvh", "one.npz", "one.json"])
def test_clips_that_a_format_does_not_hold_are_named(name: str, tmp_path: Path) -> None:
    person = _three_clips()
    assert person.controller.files.export_to(tmp_path / name)
    said = person.controller.view.bar.messages[-1].text
    assert said == f'Exported 68 frames to {name}: it holds one clip, without "Look", "Run"'


def test_of_a_pose_no_clip_is_missed(tmp_path: Path) -> None:
    person = _three_clips()
    assert person.controller.files.export_to(tmp_path / "pose.glb", ExportOptions(motion=False))
    assert person.controller.view.bar.messages[-1].text == "Exported the pose to pose.glb"
