"""glTF files that others wrote: every joint where their matrices put it; what is damaged is refused in one line."""

from __future__ import annotations

import math
import random
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gltf_files import GltfFile, Tree, arm
from inside.formats import Accessors, bake, find_tree, local_motion, open_gltf, tracks_of
from inside.spatial import from_axis_angle

import viewer
from viewer.errors import FormatError, ViewerError
from viewer.skeleton import JointKind, fk, fk_arrays, fk_clip

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.skeleton import Clip

SHARED = ["01_cs_rotate.gltf", "03_animated_cube.gltf", "03_skinned_cylinder.gltf", "Fox.glb", "SimpleSkin.gltf",
          "blender_tail.glb"]  # fmt: skip
QUARTER: list[float] = [0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)]


def only_clip(path: Path) -> Clip:
    clip = viewer.load(path).clip
    assert clip is not None
    return clip


@pytest.mark.parametrize("name", SHARED)
def test_real_files_agree_with_the_oracle_at_any_time(name: str, shared: Path) -> None:
    path = shared / "data" / "gltf" / name
    oracle = np.load(shared / "data" / "oracle" / f"{path.stem}.gltf.npz")
    file, buffers = open_gltf(path, name)
    tree, accessors = find_tree(file), Accessors(file, buffers)
    names = viewer.load(path).skeleton.names
    columns = [oracle["names"].tolist().index(joint) for joint in names]
    world = oracle["world"][:, columns]
    size = np.ptp(world[..., :3, 3].reshape(-1, 3), axis=0).max() or 1.0
    for row, (clip, time) in enumerate(zip(oracle["clip"], oracle["time"], strict=True)):
        tracks = tracks_of(file.animations[clip], tree, accessors, "") if file.animations else []
        baked, _ = bake(tree, local_motion(tree, tracks, np.array([time])))
        found = fk_arrays(tree.parents, baked.rotations, baked.translations)
        places = found.positions[0, len(tree.nodes) - len(names) :]
        np.testing.assert_allclose(places, world[row, :, :3, 3], rtol=0, atol=1e-6 * size)


@pytest.mark.parametrize("name", SHARED)
def test_frames_of_real_files_agree_with_the_oracle(name: str, shared: Path) -> None:
    path = shared / "data" / "gltf" / name
    oracle = np.load(shared / "data" / "oracle" / f"{path.stem}.gltf.npz")
    character = viewer.load(path)
    columns = [oracle["names"].tolist().index(joint) for joint in character.skeleton.names]
    world = oracle["world"][:, columns][..., :3, 3]
    size = np.ptp(world.reshape(-1, 3), axis=0).max() or 1.0
    for clip, place in zip(oracle["clip"], range(len(world)), strict=True):
        motion = list(character.clips.values())[clip]
        found = fk_clip(character.skeleton, motion.sample([oracle["time"][place]])).positions[0]
        # Between frames our clips turn evenly, splines and uneven keys do not.
        np.testing.assert_allclose(found, world[place], rtol=0, atol=0.01 * size)


def test_joints_are_the_skins_and_the_first_has_the_body_on_it(tmp_path: Path) -> None:
    skeleton = viewer.load(arm().write(tmp_path / "a.gltf")).skeleton
    assert skeleton.names == ("upper", "lower")
    assert skeleton.kinds == (JointKind.FREE, JointKind.BALL)
    world = fk(skeleton, skeleton.rest_pose())
    np.testing.assert_allclose(world.positions, np.array([[0, 1, 0], [-1.92, 1.56, 0]]), atol=1e-15)


def test_what_carries_the_body_is_part_of_its_motion(tmp_path: Path) -> None:
    file = arm()
    file.tree["nodes"][0] |= {"rotation": QUARTER, "scale": [2, 2, 2]}
    file.tree["nodes"].append({"name": "yard", "children": [0], "translation": [5, 0, 0], "rotation": QUARTER})
    file.move(1, "translation", [0.0, 1.0], [[1, 0, 0], [0, 2, 0]])
    character = viewer.load(file.write(tmp_path / "a.gltf"))
    skeleton = character.skeleton
    assert skeleton.names == ("upper", "lower")
    # A quarter turn twice about z is a half turn: (x, y) of the armature, twice as large, ends at (-2x, -2y), from
    # (5, 0) less the turned (0, 1).
    np.testing.assert_allclose(skeleton.offsets, [[4, 0, 0], [0, 4, 0]], atol=1e-14)
    clip = only_clip(tmp_path / "a.gltf")
    np.testing.assert_allclose(clip.translations[[0, -1], 0], [[2, 0, 0], [4, -4, 0]], atol=1e-14)
    np.testing.assert_allclose(clip.rotations[0, 0], [0, 0, 0.8, -0.6], atol=1e-14)


def test_a_body_on_a_carrier_can_be_put_elsewhere(tmp_path: Path) -> None:
    skeleton = viewer.load(arm().write(tmp_path / "a.gltf")).skeleton
    solution = viewer.Solver(skeleton, [viewer.Goal.position("upper", (3.0, 2.0, 1.0))]).solve(skeleton.rest_pose())
    assert solution.status == "converged"


def test_a_carrier_that_moves_is_a_joint_and_so_is_one_of_several_bodies(tmp_path: Path) -> None:
    file = arm()
    file.move(0, "translation", [0.0, 1.0], [[0, 1, 0], [0, 1, 5]])
    skeleton = viewer.load(file.write(tmp_path / "moves.gltf")).skeleton
    assert skeleton.names == ("armature", "upper", "lower")
    assert skeleton.kinds == (JointKind.FREE, JointKind.BALL, JointKind.BALL)
    file = arm()
    file.tree["nodes"][0]["children"].append(3)
    file.tree["nodes"].append({"name": "other"})
    file.tree["skins"].append({"joints": [3]})
    skeleton = viewer.load(file.write(tmp_path / "two.gltf")).skeleton
    assert skeleton.names == ("armature", "upper", "lower", "other")
    assert skeleton.kinds == (JointKind.FREE, JointKind.BALL, JointKind.BALL, JointKind.BALL)


def test_ancestors_between_joints_are_fixed(tmp_path: Path) -> None:
    file = GltfFile([{"name": "a", "children": [1]}, {"name": "spacer", "children": [2]}, {"name": "b"}])
    file.tree["skins"] = [{"joints": [0, 2]}]
    skeleton = viewer.load(file.write(tmp_path / "a.gltf")).skeleton
    assert skeleton.kinds == (JointKind.FREE, JointKind.FIXED, JointKind.BALL)


def test_both_forms_hold_the_same(tmp_path: Path) -> None:
    file = arm()
    file.move(1, "rotation", [0.0, 1.0], [[0, 0, 0, 1], QUARTER])
    file.write(tmp_path / "a.gltf")
    (tmp_path / "a.glb").write_bytes(file.glb())
    a, b = viewer.load(tmp_path / "a.gltf"), viewer.load(tmp_path / "a.glb")
    assert a.skeleton.names == b.skeleton.names
    assert a.clip is not None
    assert b.clip is not None
    assert np.array_equal(a.clip.rotations, b.clip.rotations)


def test_without_a_skin_the_animated_nodes_are_joints(tmp_path: Path) -> None:
    file = GltfFile([{"children": [1, 2]}, {"name": "moves"}, {"name": "stands"}])
    file.move(1, "translation", [0.0, 0.5], [[0, 0, 0], [0, 3, 0]])
    skeleton = viewer.load(file.write(tmp_path / "a.gltf")).skeleton
    assert skeleton.names == ("moves",)
    assert skeleton.kinds == (JointKind.FREE,)


def test_names_that_repeat_are_told_apart(tmp_path: Path) -> None:
    character = viewer.load(GltfFile([{"name": "a", "children": [1]}, {"name": "a"}, {}]).write(tmp_path / "a.gltf"))
    assert character.skeleton.names == ("a", "a_2", "node2")
    assert any("a_2" in line for line in character.warnings)


def test_a_root_that_is_a_joint_moves_freely(tmp_path: Path) -> None:
    file = arm()
    file.tree["skins"] = [{"joints": [0, 1, 2]}]
    assert viewer.load(file.write(tmp_path / "a.gltf")).skeleton.kinds[0] is JointKind.FREE


def test_scale_goes_into_the_places_of_children(tmp_path: Path) -> None:
    file = arm()
    file.tree["nodes"][0]["scale"] = [0.01, 0.01, 0.01]
    file.tree["nodes"][1]["scale"] = [2, 2, 2]
    character = viewer.load(file.write(tmp_path / "a.gltf"))
    world = fk(character.skeleton, character.skeleton.rest_pose())
    np.testing.assert_allclose(world.positions[1], [-0.0384, 1.0112, 0], atol=1e-15)
    assert character.warnings == ()


def test_animated_scale_moves_what_hangs_on_it(tmp_path: Path) -> None:
    file = arm()
    file.move(1, "scale", [0.0, 1.0], [[1, 1, 1], [3, 3, 3]])
    character = viewer.load(file.write(tmp_path / "a.gltf"))
    assert character.clip is not None
    assert character.clip.translated.tolist() == [1]
    np.testing.assert_allclose(character.clip.translations[:, 0], [[0, 2, 0], [0, 6, 0]], atol=1e-15)


def test_shear_is_said_and_places_are_right_all_the_same(tmp_path: Path) -> None:
    file = GltfFile(
        [
            {"name": "wide", "children": [1], "scale": [2, 1, 1]},
            {"name": "turned", "children": [2], "rotation": QUARTER},
            {"name": "end", "translation": [0, 1, 0]},
        ]
    )
    character = viewer.load(file.write(tmp_path / "a.gltf"))
    world = fk(character.skeleton, character.skeleton.rest_pose())
    np.testing.assert_allclose(world.positions[2], [-2, 0, 0], atol=1e-15)
    assert character.warnings == (
        "scale that differs between axes shears what hangs on wide: places are right, shapes are not",
    )


def test_a_matrix_is_taken_apart(tmp_path: Path) -> None:
    matrix = np.eye(4)
    matrix[:3, :3] = [[0, -2, 0], [2, 0, 0], [0, 0, 2]]
    matrix[:3, 3] = [1, 2, 3]
    file = GltfFile([{"matrix": matrix.T.ravel().tolist(), "children": [1]}, {"translation": [1, 0, 0]}])
    skeleton = viewer.load(file.write(tmp_path / "a.gltf")).skeleton
    world = fk(skeleton, skeleton.rest_pose())
    np.testing.assert_allclose(world.positions, [[1, 2, 3], [1, 4, 3]], atol=1e-15)
    np.testing.assert_allclose(world.rotations[0], QUARTER, atol=1e-15)


def test_cubic_splines_follow_their_tangents(tmp_path: Path) -> None:
    file = arm()
    # x(t) = t^3 on [0, 1]: tangents 0 and 3.
    file.move(2, "translation", [0.0, 1.0], [[0, 0, 0], [0, 0, 0], [0, 0, 0], [3, 0, 0], [1, 0, 0], [0, 0, 0]],
              "CUBICSPLINE")  # fmt: skip
    clip = only_clip(file.write(tmp_path / "a.gltf"))
    times = np.arange(len(clip)) * clip.frame_time
    assert clip.frame_time <= 1 / 30 + 1e-9
    assert times[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(clip.translations[:, 0, 0], times**3, atol=1e-12)


def test_steps_stand_until_the_next_key(tmp_path: Path) -> None:
    file = arm()
    file.move(2, "translation", [0.0, 0.5, 1.0], [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "STEP")
    clip = only_clip(file.write(tmp_path / "a.gltf"))
    times = np.arange(len(clip)) * clip.frame_time
    expected = np.where(times >= 1.0 - 1e-9, 2.0, np.where(times >= 0.5 - 1e-9, 1.0, 0.0))
    np.testing.assert_array_equal(clip.translations[:, 0, 0], expected)


def test_linear_rotations_turn_evenly_and_the_short_way(tmp_path: Path) -> None:
    file = arm()
    far = from_axis_angle([0, 0, 1], 1.2)
    file.move(1, "rotation", [0.0, 1.0], [[0, 0, 0, 1], (-far).tolist()])
    clip = only_clip(file.write(tmp_path / "a.gltf"))
    middle = clip.sample([0.5]).rotations[0, 0]
    np.testing.assert_allclose(np.abs(middle), np.abs(from_axis_angle([0, 0, 1], 0.6)), atol=1e-7)


@pytest.mark.parametrize(("rate", "skip"), [(24, 1), (30, 0), (60, 7), (120, 3), (29.97, 0)])
def test_frame_times_are_those_of_the_keys(rate: float, skip: int, tmp_path: Path) -> None:
    file = arm()
    times = (skip + np.arange(20)) / rate
    file.move(2, "translation", times.tolist(), np.arange(60).reshape(20, 3))
    clip = only_clip(file.write(tmp_path / "a.gltf"))
    assert clip.frame_time == pytest.approx(1 / rate, rel=1e-6)
    assert len(clip) == 20 + skip
    np.testing.assert_array_equal(clip.translations[skip:, 0], np.arange(60).reshape(20, 3))
    np.testing.assert_array_equal(clip.translations[: skip + 1, 0], np.repeat([[0, 1, 2]], skip + 1, axis=0))


def test_keys_without_a_rhythm_are_read_at_the_usual_rate(tmp_path: Path) -> None:
    file = arm()
    file.move(2, "translation", [0.0, 0.1, 0.1717, 1.0], np.arange(12).reshape(4, 3))
    character = viewer.load(file.write(tmp_path / "a.gltf"))
    assert character.warnings == ('clip "move" has keys at uneven times: read at 30 frames a second',)
    assert character.clip is not None
    assert len(character.clip) == 31


def test_whole_numbers_stand_for_fractions(tmp_path: Path) -> None:
    file = arm()
    file.move(1, "rotation", [0.0], [QUARTER])
    output = file.array([[0, 0, 23170, 23170]], "<i2", normalized=True)
    file.tree["animations"][0]["samplers"][0]["output"] = output
    clip = only_clip(file.write(tmp_path / "a.gltf"))
    np.testing.assert_allclose(clip.rotations[0, 0], QUARTER, atol=1e-4)


def test_sparse_arrays_replace_some_values(tmp_path: Path) -> None:
    file = arm()
    file.move(2, "translation", [0.0, 1.0, 2.0], np.ones((3, 3)))
    rows, values = file.array([1], "<u2"), file.array([[7, 8, 9]])
    file.tree["accessors"][1]["sparse"] = {
        "count": 1, "indices": {"bufferView": rows, "componentType": 5123}, "values": {"bufferView": values},
    }  # fmt: skip
    clip = only_clip(file.write(tmp_path / "a.gltf"))
    np.testing.assert_array_equal(clip.translations[:, 0], [[1, 1, 1], [7, 8, 9], [1, 1, 1]])


def test_a_buffer_beside_the_file_is_found(tmp_path: Path) -> None:
    file = arm()
    file.move(1, "rotation", [0.0, 1.0], [[0, 0, 0, 1], QUARTER])
    (tmp_path / "my data.bin").write_bytes(file.data)
    data, file.data = file.data, b""
    file.tree["buffers"] = [{"byteLength": len(data), "uri": "my%20data.bin"}]
    assert len(only_clip(file.write(tmp_path / "a.gltf"))) == 2


def _change(*path: object, to: object) -> tuple[tuple[object, ...], object]:
    return path, to


@pytest.mark.parametrize(("version", "found"), [('"1.0"', "1.0"), ("1", "1")])
def test_files_of_the_first_version_are_named_as_such(tmp_path: Path, version: str, found: str) -> None:
    path = tmp_path / "old.gltf"
    path.write_text(f'{{"asset": {{"version": {version}}}, "accessors": {{"a": {{"type": "SCALAR"}}}}, "nodes": {{}}}}')
    with pytest.raises(FormatError) as caught:
        viewer.load(path)
    assert str(caught.value) == f'{path}: asset.version: expected 2.0, found "{found}"'


DAMAGED = [
    (_change("asset", "version", to="1.0"), 'asset.version: expected 2.0, found "1.0"'),
    (_change("asset", to=3), "asset: expected object, found int"),
    (_change("nodes", 0, "children", to=[9]), "nodes[0].children: expected children with one parent each, found 9"),
    (_change("nodes", 2, "children", to=[1]), "nodes[2].children: expected children with one parent each, found 1"),
    (_change("nodes", 0, "children", to=[-1]), "nodes[0].children[0]: expected int >= 0"),
    (_change("nodes", 1, "rotation", to=[0, 0, 0, 0]), "nodes[1]: expected rotations, found a quaternion without"),
    (_change("nodes", 1, "rotation", to=[0, 0, 1]), "nodes[1].rotation: expected array of length 4"),
    (_change("skins", 0, "joints", to=[7]), "skins[0].joints: expected one of 3 nodes, found 7"),
    (_change("extensionsRequired", to=["EXT_x"]), "extensionsRequired: needs EXT_x, which is not supported"),
    (_change("animations", 0, "channels", 0, "sampler", to=5), "animations[0].channels[0].sampler: expected one of 1"),
    (_change("animations", 0, "samplers", 0, "input", to=99), "animations[0].samplers[0].input: expected one of 2"),
    (_change("animations", 0, "samplers", 0, "input", to=1), 'accessors[1]: expected 1 components each, found "VEC4"'),
    (_change("animations", 0, "samplers", 0, "interpolation", to="X"), "expected STEP, LINEAR or CUBICSPLINE, found"),
    (_change("animations", 0, "samplers", 0, "interpolation", to="CUBICSPLINE"), "expected 6 values, found 2"),
    (_change("accessors", 0, "count", to=1000), "accessors[0]: expected its numbers within its buffer view, found"),
    (_change("accessors", 0, "bufferView", to=9), "accessors[0]: expected one of 2 buffer views, found 9"),
    (_change("bufferViews", 0, "buffer", to=4), "bufferViews[0]: expected one of 1 buffers, found 4"),
    (
        _change("bufferViews", 0, "byteLength", to=1 << 40),
        "bufferViews[0]: expected bytes within its buffer, found them",
    ),
]


@pytest.mark.parametrize(("change", "words"), DAMAGED, ids=[words[:40] for _, words in DAMAGED])
def test_damaged_files_are_refused(change: tuple[tuple[object, ...], object], words: str, tmp_path: Path) -> None:
    file = arm()
    file.move(1, "rotation", [0.0, 1.0], [[0, 0, 0, 1], QUARTER])
    (*steps, last), value = change
    place: object = file.tree
    for step in steps:
        place = place[step]  # type: ignore[index]
    place[last] = value  # type: ignore[index]
    path = file.write(tmp_path / "a.gltf")
    with pytest.raises(FormatError) as raised:
        viewer.load(path)
    assert words in str(raised.value)
    assert str(raised.value).startswith(f"{path}: ")


def test_a_ring_of_nodes_is_refused(tmp_path: Path) -> None:
    file = GltfFile([{"children": [1]}, {"children": [0]}])
    with pytest.raises(FormatError, match="expected a tree, found a node that is its own ancestor"):
        viewer.load(file.write(tmp_path / "a.gltf"))


@pytest.mark.parametrize("way", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_of_keys_at_one_time_the_last_counts(tmp_path: Path, way: str) -> None:
    """Sketchfab writes every key twice; a track with one key is constant."""
    file = arm()
    places = [0.0, 1.0, 2.0, 4.0, 5.0]
    once = [[0.0, y, 0.0] for y in places]
    slope = [0.0, 7.0, 0.0]
    spline = way == "CUBICSPLINE"
    keys = [row for place in once for row in ((slope, place, slope) if spline else (place,))]
    file.move(2, "translation", [0.0, 1.0, 1.0, 2.0, 2.0], keys, way)
    file.move(1, "translation", [0.0], [slope, once[1], slope] if spline else [once[1]], way)
    clip = next(iter(viewer.load(file.write(tmp_path / "a.gltf")).clips.values()))
    places_of = clip.local_translations()[:, :, 1]
    np.testing.assert_allclose(places_of[[0, -1], 1], [0.0, 5.0])
    np.testing.assert_allclose(places_of[len(clip) // 2, 1], 2.0)
    np.testing.assert_allclose(places_of[:, 0], 2.0)  # 1 above the parent, which stands at 1


def test_times_must_ascend_and_values_be_numbers(tmp_path: Path) -> None:
    file = arm()
    file.move(1, "rotation", [1.0, 0.0], [[0, 0, 0, 1], QUARTER])
    with pytest.raises(FormatError, match=r"samplers\[0\]\.input: expected ascending times, found 0 after 1$"):
        viewer.load(file.write(tmp_path / "a.gltf"))
    file = arm()
    file.move(2, "translation", [0.0], [[0, np.nan, 0]])
    with pytest.raises(FormatError, match="expected finite numbers, found NaN or infinity"):
        viewer.load(file.write(tmp_path / "b.gltf"))


@pytest.mark.parametrize("uri", ["/etc/passwd", "../a.bin", "http://example.org/a.bin", "C:\\a.bin", "x/../../a.bin"])
def test_nothing_is_read_from_elsewhere(uri: str, tmp_path: Path) -> None:
    file = arm()
    file.tree["buffers"] = [{"byteLength": 4, "uri": uri}]
    with pytest.raises(FormatError, match="expected a file beside this one"):
        viewer.load(file.write(tmp_path / "a.gltf"))


def test_endless_times_ask_for_no_memory(tmp_path: Path) -> None:
    file = arm()
    file.move(2, "translation", [0.0, 0.001, 1e9], np.zeros((3, 3)))
    with pytest.raises(FormatError, match="expected at most 1,000,000 frames"):
        viewer.load(file.write(tmp_path / "a.gltf"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"glTF", "expected a GLB header, found the end of the file"),
        (struct.pack("<4sII", b"glTF", 1, 20) + bytes(8), "expected GLB version 2, found 1"),
        (struct.pack("<4sII", b"glTF", 2, 99) + bytes(8), "expected 99 bytes, found 20: the file was cut off"),
        (struct.pack("<4sIIII", b"glTF", 2, 20, 0, 7), "expected a JSON chunk, found none"),
        (struct.pack("<4sIIII", b"glTF", 2, 20, 9, 7), "expected whole chunks, found one that is longer"),
        (b"[]", "expected object, found array"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_other_bytes_are_refused(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "a.glb"
    path.write_bytes(data)
    with pytest.raises(ViewerError) as raised:
        viewer.load(path)
    assert words in str(raised.value)


def test_no_mutation_lets_anything_out_but_our_errors(tmp_path: Path) -> None:
    viewer.save(viewer.load("sample:walk"), tmp_path / "a.glb")
    whole = bytearray((tmp_path / "a.glb").read_bytes())
    text_end = 20 + struct.unpack_from("<I", whole, 12)[0]
    chance = random.Random(7)
    refused = 0
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 1, 3, 20])):
            data[chance.randrange(chance.choice([20, text_end, len(data)]))] = chance.randrange(256)
        (tmp_path / "b.glb").write_bytes(data[: chance.choice([len(data)] * 5 + [chance.randrange(len(data))])])
        try:
            viewer.load(tmp_path / "b.glb")
        except ViewerError:
            refused += 1
    assert 25 < refused < 150


def refusal(file: GltfFile, tmp_path: Path) -> str:
    """Why it is refused, behind its name."""
    path = file.write(tmp_path / "a.gltf")
    with pytest.raises(FormatError) as raised:
        viewer.load(path)
    return str(raised.value).removeprefix(f"{path}: ")


def test_letters_beyond_ascii_are_no_base64(tmp_path: Path) -> None:
    path = tmp_path / "a.gltf"
    file = arm()
    file.move(1, "translation", [0.0, 1.0], np.zeros((2, 3)))
    path.write_text(file.text().replace(";base64,", ";base64,é"), encoding="utf-8")
    with pytest.raises(FormatError) as raised:
        viewer.load(path)
    expected = "expected base64 data: string argument should contain only ASCII characters"
    assert str(raised.value) == f"{path}: buffers[0].uri: {expected}"


@pytest.mark.parametrize("interpolation", ["STEP", "CUBICSPLINE"])
def test_keys_closer_than_frames_are_frames_of_their_own(tmp_path: Path, interpolation: str) -> None:
    """Half a millisecond is no part of a usual frame: nothing is put between."""
    file, times = arm(), [0.0, 0.0005, 0.001]
    per_key = 3 if interpolation == "CUBICSPLINE" else 1
    file.move(1, "translation", times, np.zeros((per_key * 3, 3)), interpolation)
    clip = only_clip(file.write(tmp_path / "a.gltf"))
    assert len(clip) == 3
    assert clip.frame_time == pytest.approx(0.0005)


def test_scales_that_overflow_are_refused(tmp_path: Path) -> None:
    """Each number is finite, what they make together is not."""
    nodes = [
        {"name": "a", "children": [1], "scale": [1e300, 1e300, 1e300]},
        {"name": "b", "children": [2], "translation": [1e300, 1, 1]},
        {"name": "c", "translation": [0, 1, 0]},
    ]
    assert refusal(GltfFile(nodes), tmp_path) == 'skeleton offsets of "b": expected finite numbers, found nan'


def test_a_skin_of_end_sites_alone_has_no_joints(tmp_path: Path) -> None:
    file = GltfFile([{"name": "a", "children": [1]}, {"name": "a.tip"}])
    file.tree["skins"] = [{"joints": [1]}]
    assert refusal(file, tmp_path) == "skins[0].joints: expected joints, found end sites only"


def test_a_property_moved_twice_moves_as_the_last_channel_says(tmp_path: Path) -> None:
    file = arm()
    file.move(1, "translation", [0.0, 1.0], [[0, 0, 0], [1, 0, 0]])
    file.move(1, "translation", [0.0, 1.0], [[0, 0, 0], [0, 2, 0]])
    assert only_clip(file.write(tmp_path / "a.gltf")).translations[-1, 0].tolist() == [0.0, 3.0, 0.0]


def test_a_file_beside_is_read_once_for_all_that_name_it(tmp_path: Path) -> None:
    file = arm()
    file.move(1, "translation", [0.0, 1.0], [[0, 0, 0], [1, 0, 0]])
    (tmp_path / "a.bin").write_bytes(file.data)
    file.tree["buffers"] = [{"byteLength": len(file.data), "uri": "a.bin"}] * 3
    file.tree["bufferViews"][1]["buffer"] = 2
    file.data = b""
    path = file.write(tmp_path / "a.gltf")
    assert only_clip(path).translations[-1, 0].tolist() == [1.0, 1.0, 0.0]
    _, buffers = open_gltf(path, "a.gltf")
    assert buffers[0] is buffers[1] is buffers[2]


LAMP = {"extensions": {"KHR_lights_punctual": {"light": 0}}}


def test_cameras_and_lights_beside_a_figure_are_no_joints(tmp_path: Path) -> None:
    """By what a node holds; by its name, for empties at the top that Blender writes without either."""
    nodes: list[Tree] = [
        {"name": "base", "children": [1]},
        {"name": "arm", "children": [2, 3]},
        {"name": "eye", "camera": 0},
        {"name": "torch", **LAMP},
        {"name": "Sun 3", **LAMP},
        {"name": "Camera", "children": [6]},
        {"name": "Camera_Orientation", "camera": 0},
        {"name": "Light.001"},
        {"name": "Lamp", "children": [9]},
        {"name": "shade"},
    ]
    path = tmp_path / "a.gltf"
    still = viewer.load(GltfFile(nodes).write(path)).skeleton
    assert still.names == ("base", "arm", "Lamp", "shade")
    file = GltfFile(nodes)
    for node in (1, 2, 4, 5, 7):
        file.move(node, "translation", [0.0, 1.0], [[0, 0, 0], [1, 0, 0]])
    moving = viewer.load(file.write(path))
    assert moving.skeleton.names == ("arm",)
    assert moving.clip is not None


def test_a_camera_alone_is_what_there_is(tmp_path: Path) -> None:
    file = GltfFile([{"name": "Camera", "camera": 0}])
    file.move(0, "translation", [0.0, 1.0], [[0, 0, 0], [1, 0, 0]])
    assert viewer.load(file.write(tmp_path / "a.gltf")).skeleton.names == ("Camera",)
