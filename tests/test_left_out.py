"""What a format has no place for is said; what reading finds again is not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gltf_files import GltfFile
from inside.formats import left_out, nodes_only
from inside.skeleton import with_rig

import viewer
from viewer.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.skeleton import Character

EVERYTHING = "joint limits, joint kinds, stiffness, effectors, named poses"


def said(character: Character) -> list[str]:
    return left_out(character, "glTF", nodes_only(character.skeleton))


def bare() -> Character:
    """A biped of balls, without anything that is not in every file."""
    character = viewer.load("sample:walk")
    assert said(character) == []  # derived limits and effectors that were found count for nothing
    return character


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".gltf"])
def test_a_rich_figure_loses_a_lot(suffix: str, tmp_path: Path) -> None:
    form = "BVH" if suffix == ".bvh" else "glTF"
    lines = viewer.save(viewer.load("sample:biped"), tmp_path / f"a{suffix}")
    assert lines == [f"{form} has no place for {EVERYTHING}: left out"]


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_formats_that_hold_everything_lose_nothing(suffix: str, tmp_path: Path) -> None:
    assert viewer.save(viewer.load("sample:biped"), tmp_path / f"a{suffix}") == []


def test_a_pose_is_no_loss_of_the_rest(tmp_path: Path) -> None:
    character = viewer.load("sample:biped")
    for suffix in (".bvh", ".glb"):
        assert viewer.save(character, tmp_path / f"a{suffix}", pose=character.skeleton.relaxed_pose()) == []


def test_each_thing_is_named_by_itself() -> None:
    character = bare()
    skeleton = character.skeleton
    rest = skeleton.rest_pose()
    changed = {
        "stiffness": replace(skeleton, stiffness=np.full(len(skeleton), 0.5)),
        "spreads": replace(skeleton, mobility=np.full((len(skeleton), 3), 0.5)),
        "effectors": replace(skeleton, effectors=skeleton.effectors[1:]),
        "named poses": replace(skeleton, poses={"one": rest}),
    }
    for word, other in changed.items():
        assert said(replace(character, skeleton=other)) == [f"glTF has no place for {word}: left out"]
    stated = replace(character, limits_from="file")
    assert said(stated) == ["glTF has no place for joint limits: left out"]


def dressed(folder: Path, **more: object) -> Path:
    """Two joints of a skin, with a mesh that wears a material with a texture."""
    file = GltfFile([{"name": "a", "children": [1]}, {"name": "b", "translation": [0, 1, 0]}, {"mesh": 0, "skin": 0}])
    file.tree |= {
        "skins": [{"joints": [0, 1]}],
        "meshes": [{"primitives": []}, {"primitives": []}],
        "materials": [{}],
        "textures": [{}],
        "images": [{}],
    }
    file.tree |= more
    path = folder / "dressed.gltf"
    path.write_text(file.text(), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", [".glb", ".gltf", ".bvh", ".json", ".npz", ".csv", ".obj"])
def test_what_is_not_read_of_a_file_is_said_with_its_count(suffix: str, tmp_path: Path) -> None:
    lines = viewer.save(viewer.load(dressed(tmp_path)), tmp_path / f"a{suffix}")
    said = "left out, as only joints and motion are read: 2 meshes, 1 skin, 1 material, 1 texture, 1 image"
    assert lines[-1] == said


def test_the_bones_that_we_drew_are_no_loss(tmp_path: Path) -> None:
    viewer.save(bare(), tmp_path / "a.glb")
    assert viewer.save(viewer.load(tmp_path / "a.glb"), tmp_path / "b.glb") == []
    ours = {"version": "2.0", "generator": "ikviewer"}
    assert viewer.load(dressed(tmp_path, asset=ours)).source.unread == ()
    odd = {"version": "2.0", "generator": ["ikviewer"]}
    assert len(viewer.load(dressed(tmp_path, asset=odd)).source.unread) == 5


def test_joints_alone_are_read_whole(tmp_path: Path) -> None:
    bones: dict[str, object] = {key: [] for key in ("skins", "meshes", "materials", "textures", "images")}
    character = viewer.load(dressed(tmp_path, **bones, cameras=[{}, {}]))
    assert character.source.unread == ("2 cameras",)


def test_bvh_keeps_the_kinds_that_its_channels_say(tmp_path: Path) -> None:
    text = (
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nJOINT b\n{\nOFFSET 0 1 0\n"
        "CHANNELS 1 Xrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0 45\n"
    )
    (tmp_path / "a.bvh").write_text(text)
    character = viewer.load(tmp_path / "a.bvh", units="m", up="y")
    assert viewer.save(character, tmp_path / "b.bvh") == []
    assert viewer.save(character, tmp_path / "b.glb") == ["glTF has no place for joint kinds: left out"]


def test_a_lent_rig_is_lost_again() -> None:
    rigged = with_rig(bare(), viewer.load("sample:biped"))
    words = EVERYTHING.removesuffix(", named poses")
    assert said(rigged) == [f"glTF has no place for {words}: left out"]


@pytest.mark.parametrize("suffix", [".glb", ".usda", ".stl", ".obj", ".ply"])
def test_numbers_past_32_bits_are_refused_where_files_have_no_more(suffix: str, tmp_path: Path) -> None:
    if suffix == ".usda":
        pytest.importorskip("pxr", reason="usd-core is not installed")
    character = bare()
    huge = replace(character, skeleton=replace(character.skeleton, offsets=character.skeleton.offsets + 1e39))
    out = tmp_path / f"a{suffix}"
    with pytest.raises(InputError, match=r"a\.\w+: cannot be written as .*: expected finite numbers within the range"):
        viewer.save(replace(huge, clips={}), out)
    assert not out.exists()
