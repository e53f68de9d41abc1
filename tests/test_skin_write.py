"""What is read of a glTF file's meshes is written again: posed, animated, and with all that it wears."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pygltflib
import pytest
from inside.skeleton import Skin
from PIL import Image
from skinned_files import CORNERS, painted, png, strip
from strangers import node

import viewer
from viewer.skeleton import Character, Pose, fk

if TYPE_CHECKING:
    from pathlib import Path

SHARED = ["01_cs_rotate.gltf", "03_animated_cube.gltf", "03_skinned_cylinder.gltf", "Fox.glb", "SimpleSkin.gltf",
          "blender_tail.glb"]  # fmt: skip
PLACES = np.linspace(0.0, 1.0, 12).reshape(6, 2)


def skin_of(character: Character) -> Skin:
    assert character.skin is not None
    return character.skin


def vertices(character: Character, pose: Pose) -> np.ndarray[Any, Any]:
    world = fk(character.skeleton, pose)
    return skin_of(character).posed(world.positions, world.rotations)


def rewritten(character: Character, path: Path, **options: Any) -> Character:  # noqa: ANN401 - options of `save`
    assert viewer.save(character, path, **options) == []
    return viewer.load(path)


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
@pytest.mark.parametrize("name", SHARED)
def test_every_vertex_comes_back_in_every_clip(name: str, suffix: str, shared: Path, tmp_path: Path) -> None:
    character = viewer.load(shared / "data" / "gltf" / name)
    again = rewritten(character, tmp_path / f"a{suffix}")
    assert again.skeleton.names == character.skeleton.names
    assert list(again.clips) == list(character.clips)
    for mine, other in zip(skin_of(character).meshes, skin_of(again).meshes, strict=True):
        np.testing.assert_array_equal(mine.positions, other.positions)
        np.testing.assert_array_equal(mine.weights, other.weights)
        np.testing.assert_array_equal(mine.triangles, other.triangles)
        assert (mine.material.picture is None) == (other.material.picture is None)
        if mine.material.picture is not None and other.material.picture is not None:
            assert mine.material.picture.data == other.material.picture.data
    for clip, copy in zip(character.clips.values(), again.clips.values(), strict=True):
        for frame in np.linspace(0, len(clip) - 1, 4).round().astype(int).tolist():
            expected = vertices(character, clip.pose(frame))
            np.testing.assert_allclose(vertices(again, copy.pose(frame)), expected, atol=1e-6 * np.ptp(expected))


def test_khronos_and_pygltflib_read_a_fox(shared: Path, tmp_path: Path) -> None:
    viewer.save(viewer.load(shared / "data" / "gltf" / "Fox.glb"), tmp_path / "fox.glb")
    read = pygltflib.GLTF2().load(str(tmp_path / "fox.glb"))
    assert [mesh.name for mesh in read.meshes] == ["fox1"]
    assert len(read.skins[0].joints) == 24
    assert read.materials[0].name == "fox_material"
    assert [animation.name for animation in read.animations] == ["Survey", "Walk", "Run"]
    view = read.bufferViews[read.images[0].bufferView]
    start = view.byteOffset or 0
    picture = Image.open(io.BytesIO(read.binary_blob()[start : start + view.byteLength]))
    assert picture.size == (1024, 1024)
    (verdict,) = node("validate.mjs", tmp_path / "fox.glb")
    assert verdict == {"errors": 0, "warnings": 0, "messages": []}


def test_three_sees_the_posed_fox(shared: Path, tmp_path: Path) -> None:
    character = viewer.load(shared / "data" / "gltf" / "Fox.glb")
    pose = character.clips["Run"].pose(7)
    viewer.save(character, tmp_path / "posed.glb", pose=pose)
    (places,) = node("three_vertices.mjs", tmp_path / "posed.glb", -1).values()
    expected = vertices(character, pose)
    np.testing.assert_allclose(np.array(places[0]).reshape(-1, 3), expected, atol=1e-5 * np.ptp(expected))


def test_all_that_materials_say_is_kept(tmp_path: Path) -> None:
    shiny = {"KHR_materials_clearcoat": {"clearcoatFactor": 0.5, "clearcoatTexture": {"index": 0}}}
    file = painted(strip(TEXCOORD_0=PLACES, TANGENT=np.tile([1.0, 0, 0, 1], (6, 1))), png(2, 2),
                   name="skin", alphaMode="MASK", alphaCutoff=0.25, normalTexture={"index": 0}, extensions=shiny,
                   extras={"mine": [1]})  # fmt: skip
    file.tree |= {"samplers": [{"wrapS": 33071}], "extensionsUsed": ["KHR_materials_clearcoat", "KHR_unused"]}
    file.tree["textures"][0]["sampler"] = 0
    viewer.save(viewer.load(file.write(tmp_path / "a.gltf")), tmp_path / "b.glb")
    read = pygltflib.GLTF2().load(str(tmp_path / "b.glb"))
    material = read.materials[0]
    assert (material.name, material.alphaMode, material.alphaCutoff) == ("skin", "MASK", 0.25)
    assert material.extensions == shiny
    assert material.extras == {"mine": [1]}
    assert material.normalTexture.index == 0
    assert read.samplers[0].wrapS == 33071
    assert read.extensionsUsed == ["KHR_materials_clearcoat"]
    assert read.meshes[0].primitives[0].attributes.TANGENT is not None
    assert read.images[0].mimeType == "image/png"
    picture = skin_of(viewer.load(tmp_path / "b.glb")).meshes[0].material.picture
    assert picture is not None
    assert picture.wrap == ("clamp", "repeat")


def test_pictures_beside_the_file_are_taken_in(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    data = base64.b64decode(png(3, 5)["uri"].partition(",")[2])
    (tmp_path / "from" / "a b.png").write_bytes(data)
    file = painted(strip(TEXCOORD_0=PLACES), {"uri": "a%20b.png"})
    character = viewer.load(file.write(tmp_path / "from" / "a.gltf"))
    again = rewritten(character, tmp_path / "a.glb")
    picture = skin_of(again).meshes[0].material.picture
    assert picture is not None
    assert picture.data == data


def test_morph_targets_and_sparse_arrays_are_kept(tmp_path: Path) -> None:
    file = strip()
    file.tree["meshes"][0]["weights"] = [0.5]
    file.tree["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": file.array(np.ones((6, 3)))}]
    views = [file.tree["accessors"][i]["bufferView"] for i in (file.array([5], "<u2"), file.array([[3.0, 3.0, 3.0]]))]
    file.tree["accessors"][0]["sparse"] = {
        "count": 1, "indices": {"bufferView": views[0], "componentType": 5123}, "values": {"bufferView": views[1]},
    }  # fmt: skip
    character = viewer.load(file.write(tmp_path / "a.gltf"))
    again = rewritten(character, tmp_path / "b.glb")
    np.testing.assert_array_equal(skin_of(again).meshes[0].positions, skin_of(character).meshes[0].positions)
    read = pygltflib.GLTF2().load(str(tmp_path / "b.glb"))
    assert read.meshes[0].weights == [0.5]
    assert len(read.meshes[0].primitives[0].targets) == 1


def test_meshes_on_joints_and_in_the_world_stay_there(tmp_path: Path) -> None:
    file = strip()
    file.tree["nodes"] += [
        {"name": "hat", "mesh": 1, "translation": [0, 0.5, 0], "scale": [2, 2, 2]},
        {"name": "tree", "mesh": 1, "translation": [7, 0, 0]},
    ]
    file.tree["nodes"][1]["children"] = [3]
    file.tree["meshes"].append({"primitives": [{"attributes": {"POSITION": file.array(CORNERS)}}]})
    character = viewer.load(file.write(tmp_path / "a.gltf"))
    again = rewritten(character, tmp_path / "b.glb")
    assert again.skeleton.names == ("low", "high")
    rest = character.skeleton.rest_pose()
    turned = Pose(np.roll(rest.rotations, 1, axis=1), rest.translations)
    for pose in (rest, turned):
        np.testing.assert_allclose(vertices(again, pose), vertices(character, pose), atol=1e-6)


def test_a_fox_as_bvh_loses_its_skin_and_it_is_said(tmp_path: Path) -> None:
    character = viewer.load(strip().write(tmp_path / "a.gltf"))
    for suffix, name in ((".bvh", "BVH"), (".json", "JSON"), (".npz", "NPZ")):
        lines = viewer.save(character, tmp_path / f"a{suffix}")
        assert lines[-1] == f"{name} has no place for the skin: 1 mesh, 1 skin left out"


def test_bones_of_another_length_carry_the_skin_along(tmp_path: Path) -> None:
    character = viewer.load(strip().write(tmp_path / "a.gltf"))
    offsets = character.skeleton.offsets * 2.0
    longer = replace(character, skeleton=replace(character.skeleton, offsets=offsets))
    again = rewritten(longer, tmp_path / "b.glb")
    found = vertices(again, again.skeleton.rest_pose())
    np.testing.assert_allclose(found[4:], CORNERS[4:] + np.array([0, 1, 0]), atol=1e-6)
    np.testing.assert_allclose(found[:2], CORNERS[:2], atol=1e-6)


@pytest.mark.parametrize("image", [{}, [1], "a.png", {"uri": 7}, {"bufferView": -1}, {"bufferView": 99}])
def test_an_image_that_is_none_becomes_a_white_pixel(image: Any, tmp_path: Path) -> None:  # noqa: ANN401 - any JSON
    character = viewer.load(painted(strip(TEXCOORD_0=PLACES), image).write(tmp_path / "a.gltf"))
    (line,) = character.warnings
    assert line.startswith("a texture is not shown: images[0]")
    again = rewritten(character, tmp_path / "b.glb")
    assert again.warnings == ()
    picture = skin_of(again).meshes[0].material.picture
    assert picture is not None
    with Image.open(io.BytesIO(picture.data)) as pixel:
        assert (pixel.size, pixel.convert("RGB").getpixel((0, 0))) == ((1, 1), (255, 255, 255))
