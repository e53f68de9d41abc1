"""Names to save under: what they mean, and which formats there are not; shapes are of the pose that is shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from ui_person import Person

from viewer.app.panels.file_state import State
from viewer.session.files import SUFFIX
from viewer.ui.documents import EXPORTS, export_to


def state(name: str, suffixes: tuple[str, ...] = EXPORTS, folder: Path = Path("/somewhere")) -> State:
    return State("Export", "Export", suffixes, lambda _: None, saving=True, folder=folder, name=name)


@pytest.mark.parametrize("name", ["w.fbx", "w.FBX", "walk.tar", "w.mp3", "walk.v1.c3d"])
def test_a_format_that_there_is_not_is_refused_with_those_that_there_are(name: str) -> None:
    suffix = Path(name).suffix
    assert state(name).refused == f'"{suffix}" is no format to save in: expected {", ".join(EXPORTS)}'


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
    assert state("shot.jpg", (".png",)).refused == '".jpg" is no format to save in: expected .png'


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
        assert export_to(person.controller, files[-1])
        assert person.controller.messages[-1].text.startswith(f"Exported the pose to {frame}{suffix}")
    first, other = (trimesh.load(file, force="mesh") for file in files)
    places = person.controller.picture.world.positions
    # The hips alone tell: they walk on, and the shape's middle with them.
    moved = other.bounds.mean(axis=0) - first.bounds.mean(axis=0)
    person.controller.playback.go(0)
    way = places[0] - person.controller.picture.world.positions[0]
    assert np.linalg.norm(way) > 0.2
    assert np.linalg.norm(moved - way) < 0.5 * np.linalg.norm(way)


def test_motion_is_exported_whole_all_the_same(tmp_path: Path) -> None:
    person = Person("sample:walk")
    assert export_to(person.controller, tmp_path / "walk.npz")
    assert person.controller.messages[-1].text.startswith("Exported 68 frames to walk.npz")
