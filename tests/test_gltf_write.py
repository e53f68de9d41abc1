"""glTF files that we write: valid, and other programs find every joint where we have it."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.skeleton import bone_mesh, tip_positions
from skinned_files import strip
from strangers import node

import viewer
from viewer.errors import InputError
from viewer.skeleton import Character, Clip, fk, fk_clip

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = ["biped", "biped-hands", "claw-arm", "piston", "quadruped", "walk", "chain-300", "two-link"]


def two_roots() -> Character:
    character = viewer.load("sample:biped")
    skeleton = character.skeleton
    parents = skeleton.parents.copy()
    parents[skeleton.index("Spine")] = -1
    return replace(character, skeleton=replace(skeleton, parents=parents))


def turning(character: Character, frames: int = 40) -> Character:
    """Three quarters of a turn about a slanting axis per joint, so that signs of quaternions matter."""
    joints = len(character.skeleton)
    angle = np.linspace(0.0, 9.0, frames)[:, None] * np.linspace(0.5, 1.0, joints)
    axis = np.array([0.6, 0.0, 0.8])
    turns = np.concatenate([np.sin(angle / 2)[..., None] * axis, np.cos(angle / 2)[..., None]], axis=-1)
    turns[::3] *= -1.0
    moved = np.arange(joints)
    places = character.skeleton.offsets + 0.1 * np.sin(angle)[..., None] * (1.0, 2.0, 0.5)
    clip = Clip("turning", 1 / 24, turns, moved, places, character.skeleton.offsets)
    return replace(character, clips=MappingProxyType({"turning": clip}))


def size(places: np.ndarray) -> float:
    return float(np.ptp(places.reshape(-1, 3), axis=0).max())


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_khronos_finds_no_fault(suffix: str, tmp_path: Path) -> None:
    characters = {name: viewer.load(f"sample:{name}") for name in SAMPLES}
    characters |= {"roots": two_roots(), "turning": turning(characters["biped"])}
    alone = characters["chain-300"].skeleton
    one = replace(
        alone, names=alone.names[:1], parents=alone.parents[:1], offsets=alone.offsets[:1],
        rest_rotations=alone.rest_rotations[:1], kinds=alone.kinds[:1], axes=alone.axes[:1], limits=alone.limits[:1],
        stiffness=alone.stiffness[:1], tip_parents=alone.tip_parents[:0], tip_offsets=alone.tip_offsets[:0],
        effectors=(), poses={},
    )  # fmt: skip
    characters["alone"] = Character(one)
    files = [tmp_path / f"{name}{suffix}" for name in characters]
    for file, character in zip(files, characters.values(), strict=True):
        viewer.save(character, file)
    for file, verdict in zip(files, node("validate.mjs", *files), strict=True):
        assert (verdict["errors"], verdict["warnings"]) == (0, 0), (file.name, verdict["messages"])


@pytest.mark.parametrize("character", [viewer.load("sample:walk"), turning(two_roots())], ids=["walk", "turning"])
def test_three_js_has_every_joint_and_tip_where_we_have_it(character: Character, tmp_path: Path) -> None:
    clip, skeleton = character.clip, character.skeleton
    assert clip is not None
    viewer.save(character, tmp_path / "a.glb")
    frames = np.array([0, 1, 7, len(clip) - 1])
    found = node("three_positions.mjs", tmp_path / "a.glb", 0, *(frames * clip.frame_time))
    world = fk_clip(skeleton, clip, frames)
    tips = tip_positions(skeleton, world)
    for index, name in enumerate(skeleton.names):
        np.testing.assert_allclose(found[name], world.positions[:, index], rtol=0, atol=1e-5 * size(world.positions))
    for index, name in enumerate(skeleton.tip_names):
        np.testing.assert_allclose(found[name], tips[:, index], rtol=0, atol=1e-5 * size(world.positions))


def test_a_pose_is_written_standing(tmp_path: Path) -> None:
    character = viewer.load("sample:biped")
    pose = character.skeleton.relaxed_pose()
    viewer.save(character, tmp_path / "a.glb", pose=pose)
    found = node("three_positions.mjs", tmp_path / "a.glb", -1)
    world = fk(character.skeleton, pose)
    for index, name in enumerate(character.skeleton.names):
        np.testing.assert_allclose(found[name][0], world.positions[index], rtol=0, atol=2e-5)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_what_we_write_we_read(sample: str, suffix: str, tmp_path: Path) -> None:
    character = viewer.load(f"sample:{sample}")
    viewer.save(character, tmp_path / f"a{suffix}")
    again = viewer.load(tmp_path / f"a{suffix}")
    skeleton = character.skeleton
    assert again.skeleton.names == skeleton.names
    assert again.skeleton.tip_names == skeleton.tip_names
    rest, rest_again = fk(skeleton, skeleton.rest_pose()), fk(again.skeleton, again.skeleton.rest_pose())
    tolerance = 1e-6 * max(size(rest.positions), 1.0)
    np.testing.assert_allclose(rest_again.positions, rest.positions, rtol=0, atol=tolerance)
    tips = tip_positions(skeleton, rest)
    np.testing.assert_allclose(tip_positions(again.skeleton, rest_again), tips, rtol=0, atol=tolerance)
    assert list(again.clips) == list(character.clips)
    for name, clip in character.clips.items():
        assert again.clips[name].frame_time == pytest.approx(clip.frame_time, rel=2e-6)
        ours, theirs = fk_clip(skeleton, clip), fk_clip(again.skeleton, again.clips[name])
        np.testing.assert_allclose(theirs.positions, ours.positions, rtol=0, atol=2e-6 * size(ours.positions))


def test_neighbouring_frames_are_in_one_hemisphere(tmp_path: Path) -> None:
    viewer.save(turning(viewer.load("sample:biped")), tmp_path / "a.glb")
    again = viewer.load(tmp_path / "a.glb").clip
    assert again is not None
    assert (np.einsum("fji,fji->fj", again.rotations[1:], again.rotations[:-1]) > 0.0).all()


def test_bones_are_closed_and_face_outwards() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    mesh = bone_mesh(skeleton, fk(skeleton, skeleton.rest_pose()))
    bones = mesh.corners.reshape(-1, 8, 3, 3)
    normals = mesh.normals.reshape(-1, 8, 3, 3)[:, :, 0]
    middles = bones.reshape(len(bones), -1, 3).mean(axis=1)
    outwards = np.einsum("bfi,bfi->bf", normals, bones.mean(axis=2) - middles[:, None])
    assert (outwards > 0.0).all()
    areas = np.cross(bones[:, :, 1] - bones[:, :, 0], bones[:, :, 2] - bones[:, :, 0])
    np.testing.assert_allclose(areas.sum(axis=1), 0.0, atol=1e-15)


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    lines = viewer.save(viewer.load("sample:piston"), tmp_path / "a.glb")
    assert lines == ["glTF has no place for joint limits, joint kinds, stiffness, effectors, named poses: left out"]
    assert viewer.save(viewer.load("sample:walk"), tmp_path / "a.glb") == []  # what it has is found again


def test_what_32_bit_numbers_cannot_hold_is_refused(tmp_path: Path) -> None:
    character = viewer.load("sample:two-link")
    huge = replace(character, skeleton=replace(character.skeleton, offsets=character.skeleton.offsets + 1e39))
    with pytest.raises(InputError, match="within the range of 32-bit floats"):
        viewer.save(huge, tmp_path / "a.glb")
    assert not list(tmp_path.iterdir())


def test_the_gltf_form_is_one_file(tmp_path: Path) -> None:
    viewer.save(viewer.load("sample:two-link"), tmp_path / "a.gltf")
    tree = json.loads((tmp_path / "a.gltf").read_text())
    assert [buffer["uri"][:5] for buffer in tree["buffers"]] == ["data:"]
    assert tree["asset"]["version"] == "2.0"


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_another_reader_finds_what_we_stated_and_the_same_file_is_written_twice(suffix: str, tmp_path: Path) -> None:
    pygltflib = pytest.importorskip("pygltflib")
    character, file = viewer.load("sample:walk"), tmp_path / f"a{suffix}"
    viewer.save(character, file)
    found = pygltflib.GLTF2().load(str(file))
    skeleton = character.skeleton
    count = len(skeleton) + len(skeleton.tip_names)
    assert (found.asset.version, found.asset.generator, found.scene) == ("2.0", "ikviewer", 0)
    assert [node.name for node in found.nodes[:count]] == [*skeleton.names, *skeleton.tip_names]
    assert found.skins[0].joints == list(range(count))
    assert [node.mesh for node in found.nodes[count:]] == [0]
    assert [animation.name for animation in found.animations] == list(character.clips)
    assert {sampler.interpolation for sampler in found.animations[0].samplers} == {"LINEAR"}
    data = found.binary_blob() if suffix == ".glb" else found.get_data_from_buffer_uri(found.buffers[0].uri)
    assert len(data) == found.buffers[0].byteLength == sum(-(-view.byteLength // 4) * 4 for view in found.bufferViews)
    matrices = found.accessors[found.skins[0].inverseBindMatrices]
    view = found.bufferViews[matrices.bufferView]
    inverse = np.frombuffer(data, "<f4", matrices.count * 16, view.byteOffset).reshape(-1, 4, 4)
    rest = fk(skeleton, skeleton.rest_pose())
    places = np.einsum("ji,jik->jk", np.c_[rest.positions, np.ones(len(skeleton))], inverse[: len(skeleton)])
    np.testing.assert_allclose(places, [[0.0, 0.0, 0.0, 1.0]] * len(skeleton), atol=1e-6 * size(rest.positions))
    before = file.read_bytes()
    viewer.save(character, file)
    assert file.read_bytes() == before


def test_a_glb_file_is_a_header_and_two_chunks_of_whole_words(tmp_path: Path) -> None:
    character = viewer.load("sample:two-link")
    for length in range(4):  # of a name, so that the JSON ends at each place in a word
        named = replace(character, skeleton=replace(character.skeleton, name="n" * (length + 1)))
        viewer.save(named, tmp_path / "a.glb")
        data = (tmp_path / "a.glb").read_bytes()
        assert struct.unpack_from("<4sIII4s", data)[::2] == (b"glTF", len(data), b"JSON")
        text = struct.unpack_from("<I", data, 12)[0]
        binary, kind = struct.unpack_from("<I4s", data, 20 + text)
        assert (kind, text % 4, 20 + text + 8 + binary) == (b"BIN\0", 0, len(data))
        assert json.loads(data[20 : 20 + text])["buffers"] == [{"byteLength": binary}]


def round_trip(character: Character, folder: Path) -> Character:
    viewer.save(character, folder / "a.glb")
    return viewer.load(folder / "a.glb")


def test_ends_are_bones_of_the_skin_to_others_and_ends_to_us(tmp_path: Path) -> None:
    character = viewer.load("sample:biped")
    viewer.save(character, tmp_path / "a.gltf")
    tree = json.loads((tmp_path / "a.gltf").read_text())
    names = [tree["nodes"][joint]["name"] for joint in tree["skins"][0]["joints"]]
    assert names == [*character.skeleton.names, *character.skeleton.tip_names]
    beside = {node["name"] for index, node in enumerate(tree["nodes"]) if index not in tree["skins"][0]["joints"]}
    assert beside == {"biped bones"}


def test_ends_beside_the_skin_are_ends_too(tmp_path: Path) -> None:
    character = viewer.load("sample:biped")
    viewer.save(character, tmp_path / "a.gltf")
    tree = json.loads((tmp_path / "a.gltf").read_text())
    tree["skins"][0]["joints"] = tree["skins"][0]["joints"][: len(character.skeleton)]
    (tmp_path / "a.gltf").write_text(json.dumps(tree))
    again = viewer.load(tmp_path / "a.gltf").skeleton
    assert (again.names, again.tip_names) == (character.skeleton.names, character.skeleton.tip_names)


def test_a_joint_that_is_called_like_an_end_stays_a_joint(tmp_path: Path) -> None:
    character = viewer.load("sample:two-link")
    names = ("shoulder", "shoulder.tip")
    called = replace(character, skeleton=replace(character.skeleton, names=names, effectors=(), poses={}))
    again = round_trip(called, tmp_path).skeleton
    assert again.names == names
    assert again.tip_names == ("shoulder.tip.tip",)


def test_several_roots_come_back_without_the_node_above_them(tmp_path: Path) -> None:
    character = two_roots()
    again = round_trip(character, tmp_path).skeleton
    assert again.names == character.skeleton.names
    assert again.parents.tolist() == character.skeleton.parents.tolist()


def test_what_moves_in_one_clip_is_written_in_all(tmp_path: Path) -> None:
    character = viewer.load("sample:two-link")
    still = np.repeat(character.skeleton.rest_rotations[None], 13, axis=0)
    offsets, nothing = character.skeleton.offsets, np.zeros(0, dtype=np.intp)
    clips = {"still": Clip("still", 0.25, still, nothing, np.zeros((13, 0, 3)), offsets)}
    clips["turning"] = replace(next(iter(turning(character).clips.values())), name="turning")
    viewer.save(replace(character, clips=MappingProxyType(clips)), tmp_path / "a.gltf")
    tree = json.loads((tmp_path / "a.gltf").read_text())
    every = [[channel["target"] for channel in a["channels"]] for a in tree["animations"]]
    targets = [[(target["node"], target["path"]) for target in own] for own in every]
    assert [a["name"] for a in tree["animations"]] == ["still", "turning"]
    assert targets[0] == targets[1] == [(0, "rotation"), (1, "rotation"), (0, "translation"), (1, "translation")]


def test_a_motion_in_which_nothing_moves_keeps_its_length(tmp_path: Path) -> None:
    character = viewer.load("sample:two-link")
    still = np.repeat(character.skeleton.rest_rotations[None], 13, axis=0)
    nothing = np.zeros(0, dtype=np.intp)
    clip = Clip("still", 0.25, still, nothing, np.zeros((13, 0, 3)), character.skeleton.offsets)
    again = round_trip(replace(character, clips=MappingProxyType({"still": clip})), tmp_path).clip
    assert again is not None
    assert (again.name, len(again), again.frame_time) == ("still", 13, 0.25)


def test_joints_outside_of_the_skins_that_are_written_come_back(tmp_path: Path) -> None:
    file = strip()
    file.tree["nodes"] += [
        {"name": "carrier", "children": [4]},
        {"name": "tail", "children": [5], "translation": [3, 0, 0]},
        {"name": "end of tail", "translation": [0, 0, 1]},
    ]
    file.tree["skins"].append({"joints": [4, 5]})  # of no mesh
    read = viewer.load(file.write(tmp_path / "two.gltf"))
    again = round_trip(read, tmp_path)
    assert again.skeleton.names == read.skeleton.names == ("low", "high", "carrier", "tail", "end of tail")
    assert again.skeleton.kinds == read.skeleton.kinds
