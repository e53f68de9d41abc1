"""Meshes of glTF files: every vertex is where other programs have it; what cannot be shown is said.

What is read of a glTF file's meshes is written again: posed, animated, and with all that it wears.
"""

from __future__ import annotations

import base64
import io
import json
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pygltflib
import pytest
from gltf_files import GltfFile
from inside.skeleton import WORLD, Skin
from PIL import Image
from skinned_files import CORNERS, JOINTS, WEIGHTS, Tree, painted, png, strip
from strangers import node

import viewer
from viewer.skeleton import Character, Pose, fk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray


TEXT = np.zeros((6, 2))
SHARED = ["01_cs_rotate.gltf", "03_animated_cube.gltf", "03_skinned_cylinder.gltf", "Fox.glb", "SimpleSkin.gltf",
          "blender_tail.glb"]  # fmt: skip


def read(file: GltfFile, folder: Path) -> Character:
    return viewer.load(file.write(folder / "a.gltf"))


def skin_of(character: Character) -> Skin:
    assert character.skin is not None
    return character.skin


def posed(character: Character, pose: Pose | None = None, size: NDArray[Any] | None = None) -> NDArray[Any]:
    world = fk(character.skeleton, character.skeleton.rest_pose() if pose is None else pose)
    return skin_of(character).posed(world.positions, world.rotations, size=size)


def bent(character: Character, joint: str, quaternion: tuple[float, ...]) -> Pose:
    rest = character.skeleton.rest_pose()
    rotations = rest.rotations.copy()
    rotations[character.skeleton.index(joint)] = quaternion
    return Pose(rotations, rest.translations)


@pytest.mark.parametrize("name", SHARED)
def test_three_has_every_vertex_where_we_have_it(name: str, shared: Path) -> None:
    path = shared / "data" / "gltf" / name
    character = viewer.load(path)
    for number, clip in enumerate(character.clips.values()):
        frames = np.linspace(0, len(clip) - 1, 10).round().astype(int)
        theirs = node("three_vertices.mjs", path, number, *(frames * clip.frame_time))
        for place, frame in enumerate(frames.tolist()):
            expected = np.concatenate([np.array(one[place]).reshape(-1, 3) for one in theirs.values()])
            found = posed(character, clip.pose(frame), skin_of(character).size_at(clip.name, frame))
            np.testing.assert_allclose(found, expected, atol=1e-6 * np.ptp(expected))


def test_a_vertex_is_the_mean_of_where_its_joints_take_it(tmp_path: Path) -> None:
    character = read(strip(), tmp_path)
    np.testing.assert_allclose(posed(character), CORNERS, atol=1e-12)
    quarter = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))
    found = posed(character, bent(character, "high", quarter))
    # About (0, 1, 0): (x, y) goes to (1 - y, 1 + x); the middle corners go half of the way.
    turned = np.stack([1.0 - CORNERS[:, 1], 1.0 + CORNERS[:, 0], CORNERS[:, 2]], axis=1)
    expected = np.concatenate([CORNERS[:2], 0.5 * (CORNERS[2:4] + turned[2:4]), turned[4:]])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_eight_joints_count_and_of_more_the_largest(tmp_path: Path) -> None:
    second = {"JOINTS_1": JOINTS[::-1], "WEIGHTS_1": np.array(WEIGHTS)[::-1] * 0.5}
    mesh = skin_of(read(strip(**second), tmp_path)).meshes[0]
    assert mesh.bindings.shape == (6, 8)
    np.testing.assert_allclose(mesh.weights.sum(axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(mesh.weights[0], [2 / 3, 0, 0, 0, 1 / 3, 0, 0, 0], atol=1e-6)
    file = strip(**second, WEIGHTS_2=np.array(WEIGHTS) * 0.1)
    attributes = file.tree["meshes"][0]["primitives"][0]["attributes"]
    attributes["JOINTS_2"] = attributes["JOINTS_0"]
    assert skin_of(read(file, tmp_path)).meshes[0].bindings.shape == (6, 8)


def test_scales_of_joints_and_of_their_ancestors_count(tmp_path: Path) -> None:
    file = strip(inverse=None)
    file.tree["nodes"][0] |= {"scale": [2, 2, 2], "translation": [0, 0, 5]}
    file.tree["nodes"] += [{"name": "above", "scale": [0.5, 0.5, 0.5], "children": [0]}]
    character = read(file, tmp_path)
    # Without inverse bind matrices these are identities (glTF 2.0, 3.7.3.1).
    expected = CORNERS + np.array([0, 0, 2.5])
    expected[2:4] += [0, 0.5, 0]
    expected[4:] += [0, 1, 0]
    np.testing.assert_allclose(posed(character), expected, atol=1e-12)


def test_mirrored_joints_mirror_what_follows_them(tmp_path: Path) -> None:
    file = strip()
    file.tree["nodes"][0]["scale"] = [-1, 1, 1]
    character = read(file, tmp_path)
    np.testing.assert_allclose(posed(character), CORNERS * [-1, 1, 1], atol=1e-12)


def test_two_skins_and_meshes_without_one(tmp_path: Path) -> None:
    file = strip()
    file.tree["skins"].append({"joints": [1]})
    file.tree["nodes"] += [
        {"name": "hat", "mesh": 1, "translation": [0, 0.5, 0], "scale": [2, 2, 2]},
        {"name": "tree", "mesh": 1, "translation": [7, 0, 0]},
        {"name": "again", "mesh": 2, "skin": 1},
    ]
    file.tree["nodes"][1]["children"] = [3]
    plain = {"POSITION": file.array(CORNERS)}
    alone = {**plain, "JOINTS_0": file.array(np.zeros((6, 4)), "|u1"), "WEIGHTS_0": file.array(WEIGHTS)}
    file.tree["meshes"] += [{"primitives": [{"attributes": plain}]}, {"primitives": [{"attributes": alone}]}]
    character = read(file, tmp_path)
    skin = skin_of(character)
    assert [mesh.name for mesh in skin.meshes] == ["strip", "hat", "tree", "again"]
    assert skin.joints.tolist() == [0, 1, 1, WORLD, 1]
    places = np.split(posed(character), 4)
    np.testing.assert_allclose(places[1], 2.0 * CORNERS + np.array([0, 1.5, 0]), atol=1e-12)
    np.testing.assert_allclose(places[2], CORNERS + np.array([7, 0, 0]), atol=1e-12)
    np.testing.assert_allclose(places[3], CORNERS + np.array([0, 1, 0]), atol=1e-12)
    assert len(character.skeleton) == 2


def test_morph_targets_stand_as_at_rest(tmp_path: Path) -> None:
    file = strip()
    mesh = file.tree["meshes"][0]
    mesh["primitives"][0]["targets"] = [{"POSITION": file.array(np.ones((6, 3)))}]
    mesh["weights"] = [0.5]
    np.testing.assert_allclose(posed(read(file, tmp_path)), CORNERS + 0.5, atol=1e-6)
    file.tree["nodes"][2]["weights"] = [0.25]
    np.testing.assert_allclose(posed(read(file, tmp_path)), CORNERS + 0.25, atol=1e-6)


@pytest.mark.parametrize(
    ("mode", "expected"), [(5, [[0, 1, 2], [2, 1, 3], [2, 3, 4]]), (6, [[0, 1, 2], [0, 2, 3], [0, 3, 4]])]
)
def test_strips_and_fans_are_triangles(mode: int, expected: list[list[int]], tmp_path: Path) -> None:
    file = strip(indices=[0, 1, 2, 3, 4])
    file.tree["meshes"][0]["primitives"][0]["mode"] = mode
    assert skin_of(read(file, tmp_path)).meshes[0].triangles.tolist() == expected


def test_colours_are_as_displayed(tmp_path: Path) -> None:
    file = strip(COLOR_0=[[0.5, 0.0, 1.0]] * 6)
    file.tree["materials"] = [{"pbrMetallicRoughness": {"baseColorFactor": [0.2140, 1.0, 0.0, 0.5]}}]
    file.tree["meshes"][0]["primitives"][0]["material"] = 0
    mesh = skin_of(read(file, tmp_path)).meshes[0]
    assert mesh.material.colour == pytest.approx((0.5, 1.0, 0.0, 0.5), abs=1e-3)
    assert mesh.colours is not None
    assert mesh.colours[0].tolist() == [188, 0, 255, 255]


def test_a_transform_of_the_picture_moves_its_places(tmp_path: Path) -> None:
    file = painted(strip(TEXCOORD_0=[[1.0, 0.0]] * 6), png(4, 4))
    use = file.tree["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]
    use["extensions"] = {"KHR_texture_transform": {"offset": [0.25, 0.5], "rotation": np.pi / 2, "scale": [2, 1]}}
    mesh = skin_of(read(file, tmp_path)).meshes[0]
    assert mesh.places is not None
    np.testing.assert_allclose(mesh.places[0], [0.25, -1.5], atol=1e-6)


# --- what cannot be shown


def left_out(file: GltfFile, folder: Path) -> str:
    """The only warning about a file whose skeleton opens, and which shows nothing else."""
    character = read(file, folder)
    assert len(character.skeleton) == 2
    assert character.skin is None
    (line,) = character.warnings
    return line


def test_a_joint_out_of_range_leaves_the_mesh_out(tmp_path: Path) -> None:
    file = strip(JOINTS_0=[[9, 0, 0, 0]] * 6)
    said = left_out(file, tmp_path)
    where = "meshes[0].primitives[0].attributes.JOINTS_0"
    assert said == f"mesh strip is not shown: {where}: expected joints below 2, found 9"


def test_joints_of_no_weight_may_be_any(tmp_path: Path) -> None:
    file = strip(JOINTS_0=[[0, 99, 0, 0]] * 6, WEIGHTS_0=[[1, 0, 0, 0]] * 6)
    assert skin_of(read(file, tmp_path)).meshes[0].bindings.max() == 0


def test_vertices_without_weight_follow_their_first_joint_and_it_is_said(tmp_path: Path) -> None:
    weights = np.array(WEIGHTS)
    weights[4] = 0.0
    character = read(strip(WEIGHTS_0=weights), tmp_path)
    assert character.warnings == ("mesh strip: a vertex has no weight: it follows its first joint",)
    weights[5] = [-1.0, 0.0, 0.0, 0.0]
    character = read(strip(WEIGHTS_0=weights), tmp_path)
    assert character.warnings == ("mesh strip: 2 vertices have no weight: they follow their first joints",)
    mesh = skin_of(character).meshes[0]
    assert mesh.bindings[4:, 0].tolist() == [1, 1]
    assert mesh.weights[4:, 0].tolist() == [1.0, 1.0]


def test_draco_and_meshopt_are_named(tmp_path: Path) -> None:
    file = strip()
    name = "KHR_draco_mesh_compression"
    file.tree["extensionsRequired"] = [name]
    file.tree["meshes"][0]["primitives"][0]["extensions"] = {name: {"bufferView": 0, "attributes": {}}}
    said = left_out(file, tmp_path)
    assert said == f"mesh strip is not shown: meshes[0].primitives[0]: it needs {name}, which is not supported"


def test_motion_in_meshopt_is_named_and_the_joints_open(tmp_path: Path) -> None:
    file = strip()
    file.move(1, "rotation", [0.0, 1.0], [[0, 0, 0, 1], [0, 0, 1, 0]])
    name = "EXT_meshopt_compression"
    tree = file.tree
    tree["extensionsRequired"] = [name]
    for view in tree["bufferViews"]:
        view["extensions"] = {name: {"buffer": 0, "byteLength": 4, "byteStride": 4, "mode": "ATTRIBUTES", "count": 1}}
        view["buffer"] = 1
    (tmp_path / "a.glb").write_bytes(_with_fallback(file))
    character = viewer.load(tmp_path / "a.glb")
    assert character.skeleton.names == ("low", "high")
    assert character.clips == {}
    lines = character.warnings
    assert lines[0] == f'clip "move" is not read: it needs {name}, which is not supported'
    assert lines[1] == f"mesh strip is not shown: accessors[4]: it needs {name}, which is not supported"
    assert len(lines) == 2


def _with_fallback(file: GltfFile) -> bytes:
    tree = dict(file.tree)
    fallback = {"EXT_meshopt_compression": {"fallback": True}}
    tree["buffers"] = [{"byteLength": 4}, {"byteLength": len(file.data), "extensions": fallback}]
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", 4, 0x004E4942) + b"\0" * 4
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ({"uri": "missing.png"}, "images[0].uri: missing.png: no such file or folder"),
        (
            {"uri": "data:image/png;base64,AAAA"},
            "images[0]: expected a PNG, JPEG or WebP picture, found something else",
        ),
        ({}, "images[0]: expected a uri or a buffer view, found neither"),
        ({"uri": "../secret.png"}, 'images[0].uri: expected a file beside this one, found "../secret.png"'),
        (
            png(20_000, 1),
            "images[0]: expected at most 16,384 pixels along a side and 67,108,864 in all, found 20,000 x 1",
        ),
        ({"bufferView": 77}, "images[0]: expected one of 6 buffer views, found 77"),
    ],
)
def test_a_picture_that_cannot_be_shown_is_said_once_and_the_mesh_stays(image: Tree, said: str, tmp_path: Path) -> None:
    file = painted(strip(TEXCOORD_0=TEXT), image)
    file.tree["meshes"][0]["primitives"] *= 2
    character = read(file, tmp_path)
    assert len(skin_of(character).meshes) == 2
    assert all(mesh.material.picture is None for mesh in skin_of(character).meshes)
    assert character.warnings == (f"a texture is not shown: {said}",)


def test_a_texture_of_an_unknown_kind_is_named(tmp_path: Path) -> None:
    file = painted(strip(TEXCOORD_0=TEXT), {})
    file.tree["extensionsRequired"] = ["KHR_texture_basisu"]
    file.tree["textures"] = [{"extensions": {"KHR_texture_basisu": {"source": 0}}}]
    expected = "a texture is not shown: textures[0]: it needs KHR_texture_basisu, which is not supported"
    assert read(file, tmp_path).warnings == (expected,)


def test_bytes_that_are_not_there_are_refused_before_memory_is_taken(tmp_path: Path) -> None:
    file = strip()
    file.tree["accessors"][0]["count"] = 1 << 40
    said = left_out(file, tmp_path)
    assert said.startswith(
        "mesh strip is not shown: accessors[0].count: expected fewer numbers than the file has bytes"
    )
    file = strip()
    del file.tree["accessors"][0]["bufferView"]
    assert skin_of(read(file, tmp_path)).meshes[0].positions.max() == 0.0  # as the standard says of such accessors


def test_sparse_positions(tmp_path: Path) -> None:
    file = strip()
    rows = file.array([5], "<u2")
    values = file.array([[3.0, 3.0, 3.0]])
    views = [file.tree["accessors"][i]["bufferView"] for i in (rows, values)]
    file.tree["accessors"][0]["sparse"] = {
        "count": 1, "indices": {"bufferView": views[0], "componentType": 5123}, "values": {"bufferView": views[1]},
    }  # fmt: skip
    positions = skin_of(read(file, tmp_path)).meshes[0].positions
    assert positions[5].tolist() == [3.0, 3.0, 3.0]
    assert positions[4].tolist() == CORNERS[4].tolist()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tree: tree["nodes"][2].update(mesh=5), "meshes: expected one of 1 meshes, found 5"),
        (lambda tree: tree["nodes"][2].update(skin=5), "skins: expected one of 1 skins, found 5"),
        (lambda tree: tree["meshes"][0].update(primitives=3), "meshes[0].primitives: expected array, found int"),
        (lambda tree: tree["meshes"][0]["primitives"][0].update(mode=1),
         "meshes[0].primitives[0].mode: expected triangles, found points or lines"),
        (lambda tree: tree["meshes"][0]["primitives"][0]["attributes"].pop("WEIGHTS_0"),
         "meshes[0].primitives[0].attributes: expected JOINTS_0 and WEIGHTS_0, found none"),
        (lambda tree: tree["meshes"][0]["primitives"][0].update(material=4),
         "materials: expected one of 0 materials, found 4"),
    ],
)  # fmt: skip
def test_a_mesh_that_cannot_be_read_leaves_the_joints(
    change: Callable[[Tree], object], said: str, tmp_path: Path
) -> None:
    file = strip()
    change(file.tree)
    assert left_out(file, tmp_path) == f"mesh strip is not shown: {said}"


def test_the_mesh_of_our_bones_is_no_skin(tmp_path: Path) -> None:
    viewer.save(viewer.load("sample:biped"), tmp_path / "a.glb")
    assert viewer.load(tmp_path / "a.glb").skin is None


def test_sizes_that_a_clip_changes_are_shown_and_it_is_said_that_they_are_not_kept(tmp_path: Path) -> None:
    file = strip()
    file.move(1, "scale", [0.0, 1.0], [[1, 1, 1], [2, 2, 2]])
    character = read(file, tmp_path)
    assert character.warnings == ('clip "move" changes the size of high: shown while it plays, but not written again',)
    skin, clip = skin_of(character), character.clips["move"]
    last = len(clip) - 1
    found = posed(character, clip.pose(last), skin.size_at("move", last))
    np.testing.assert_allclose(found[4:], [[-1, 3, 0], [1, 3, 0]], atol=1e-6)
    np.testing.assert_allclose(found[:2], CORNERS[:2], atol=1e-6)
    assert skin.size_at("move", last + 1) is None
    assert skin.size_at("move", None) is None
    assert skin.size_at(None, 0) is None
    grown = viewer.render(character, frame=last, camera="front", size=(80, 60), samples=0)
    usual = viewer.render(character, pose=clip.pose(last), camera="front", size=(80, 60), samples=0)
    assert (grown != usual).any()


def test_another_skeleton_drops_the_skin(tmp_path: Path) -> None:
    character = read(strip(), tmp_path)
    assert replace(character, skeleton=viewer.load("sample:biped").skeleton, clips={}).skin is None


PLACES = np.linspace(0.0, 1.0, 12).reshape(6, 2)


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
