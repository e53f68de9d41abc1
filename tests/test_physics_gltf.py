"""A simulation as glTF: objects and balls move beside the figure, are hidden before they come, and are no joints."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cli_run import ran
from gltf_files import arm
from inside.document import AddProp, Prop
from inside.formats import open_gltf
from inside.skeleton import placed
from inside.spatial import rotate
from inside.ui import ExportOptions
from panel_window import PanelWindow
from strangers import node

import viewer
from viewer import Box, InputError, Mesh, Physics, Sphere, Surroundings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

pytest.importorskip("mujoco")

ARM = viewer.load("sample:claw-arm")
CRATE = Box("crate", (0.4, 1.0, 0.3), (0.2, 0.3, 0.4), (0.0, 0.0, 0.6, 0.8))
STONE = Sphere("stone", (1.0, 0.2, 0.0), 0.2)
WEDGE = Mesh(
    "wedge", vertices=np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]),
    faces=np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]), center=(-0.6, 1.2, 0.2), scale=0.3,
)  # fmt: skip


def simulated() -> Physics:
    """A crate and a wedge fall, a stone stands, balls come at frames 3 and 6."""
    around = Surroundings(objects=(CRATE, STONE, WEDGE), masses={"crate": 1.0, "wedge": 0.5})
    sim = Physics(ARM.skeleton, surroundings=around)
    for frame in range(30):
        if frame in {2, 5}:
            sim.throw((0.0, 1.0, 2.0), (0.0, 1.0, -8.0))
        sim.step(1.0 / 60.0)
    return sim


def moved(sim: Physics) -> viewer.Character:
    return replace(ARM, clips=MappingProxyType({"physics": sim.clip}))


class Scene:
    """What a stranger finds in a file: nodes by name, with values over time."""

    def __init__(self, path: Path) -> None:
        self.file, buffers = open_gltf(path, path.name)
        self._data = buffers[0]
        self.nodes = {node.name: node for node in self.file.nodes}
        self.tracks: dict[tuple[str, str], tuple[Any, Any, str]] = {}
        for animation in self.file.animations[:1]:
            for channel in animation.channels:
                sampler = animation.samplers[channel.sampler]
                assert channel.target.node is not None
                key = self.file.nodes[channel.target.node].name, channel.target.path
                self.tracks[key] = self.array(sampler.input), self.array(sampler.output), sampler.interpolation

    def array(self, index: int) -> Any:  # noqa: ANN401 - numbers of any width
        accessor = self.file.accessors[index]
        assert accessor.buffer_view is not None
        view, width = self.file.buffer_views[accessor.buffer_view], {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor.type]
        values = np.frombuffer(self._data, "<f4", accessor.count * width, view.byte_offset + accessor.byte_offset)
        return values.reshape(-1, width)

    def at(self, name: str, part: str, frame: int) -> Any:  # noqa: ANN401
        if (name, part) in self.tracks:
            return self.tracks[name, part][1][frame]
        return np.array(getattr(self.nodes[name], part))

    def corners(self, name: str) -> tuple[Any, Any]:
        index = self.nodes[name].mesh
        assert index is not None
        attributes = json.loads(bytes(self.file.meshes[index]))["primitives"][0]["attributes"]
        return self.array(attributes["POSITION"]), self.array(attributes["NORMAL"])


def check(scene: Scene, there: Callable[[int], Sequence[viewer.Sphere | Box | Mesh]], frames: int) -> None:
    """Each object is where it was in each frame, and of no size where it was not."""
    names = {one.name for frame in range(frames) for one in there(frame)}
    assert {name for name, one in scene.nodes.items() if one.mark == "object"} == names
    for frame in range(frames):
        now = {one.name: one for one in there(frame)}
        for name in names:
            np.testing.assert_array_equal(scene.at(name, "scale", frame), np.full(3, float(name in now)))
            if name in now:
                np.testing.assert_allclose(scene.at(name, "translation", frame), now[name].center, atol=1e-6)
                turn = getattr(now[name], "rotation", (0.0, 0.0, 0.0, 1.0))
                assert abs(scene.at(name, "rotation", frame) @ turn) > 1.0 - 1e-6


@pytest.mark.parametrize("suffix", ["glb", "gltf"])
def test_each_object_is_a_node_that_moves_as_it_did(suffix: str, tmp_path: Path) -> None:
    sim, path = simulated(), tmp_path / f"hit.{suffix}"
    lost = viewer.save(moved(sim), path, objects=sim.objects_at)
    assert not any("objects" in line for line in lost)
    scene = Scene(path)
    check(scene, sim.objects_at, sim.frames)
    assert {name for name, _ in scene.tracks if name == "stone"} == set()  # it stands still
    times = {id(scene.tracks[key][0]): scene.tracks[key][0] for key in scene.tracks}.values()
    for each in times:
        np.testing.assert_allclose(each[:, 0], np.arange(sim.frames) / 60.0, atol=1e-6)
    assert scene.tracks["ball 0", "scale"][2] == "STEP"
    assert scene.tracks["ball 0", "translation"][2] == "LINEAR"
    assert node("validate.mjs", path) == [{"errors": 0, "warnings": 0, "messages": []}]


def test_shapes_have_their_own_sizes_and_look_outwards(tmp_path: Path) -> None:
    sim, path = simulated(), tmp_path / "hit.glb"
    viewer.save(moved(sim), path, objects=sim.objects_at)
    scene = Scene(path)
    radius = sim.model.ball_radius
    sizes = {"crate": (0.2, 0.3, 0.4), "stone": [0.4] * 3, "wedge": [0.3] * 3, "ball 0": [2.0 * radius] * 3}
    volumes = {"crate": 0.024, "stone": 4 / 3 * np.pi * 0.008, "wedge": 0.0045, "ball 0": 4 / 3 * np.pi * radius**3}
    for name, size in sizes.items():
        corners, normals = scene.corners(name)
        np.testing.assert_allclose(np.ptp(corners, axis=0), size, rtol=1e-5)
        a, b, c = corners.astype(np.float64).reshape(-1, 3, 3).swapaxes(0, 1)
        across = np.cross(b - a, c - a)
        assert (np.linalg.norm(across, axis=1) > 0.0).all()
        assert (np.einsum("vi,vi->v", np.repeat(across, 3, axis=0), normals) > 0.0).all()
        volume = float(np.einsum("fi,fi->", a, np.cross(b, c))) / 6.0
        assert 0.97 * volumes[name] < volume < 1.0001 * volumes[name]
        edges = {(tuple(p), tuple(q)) for p, q in np.stack([[a, b], [b, c], [c, a]]).swapaxes(1, 2).reshape(-1, 2, 3)}
        assert {(q, p) for p, q in edges} == edges  # it is closed
    assert scene.nodes["ball 0"].mesh == scene.nodes["ball 1"].mesh  # two of a size share a mesh


@pytest.mark.parametrize("skin", [False, True])
def test_the_figure_is_read_back_without_them(skin: bool, tmp_path: Path) -> None:
    sim, path, bare = simulated(), tmp_path / "hit.glb", tmp_path / "bare.glb"
    character = moved(sim)
    if skin:
        viewer.save(character, bare)
        character = viewer.load(bare)
    viewer.save(character, path, objects=sim.objects_at)
    viewer.save(character, bare)
    back, without = viewer.load(path), viewer.load(bare)
    assert back.skeleton.names == without.skeleton.names
    assert back.skin is without.skin is None
    assert back.clip is not None
    assert without.clip is not None
    np.testing.assert_array_equal(back.clip.rotations, without.clip.rotations)
    assert (back.source.unread, without.source.unread) == (("5 objects",), ())
    assert "left out, as only joints and motion are read: 5 objects" in viewer.save(back, tmp_path / "again.glb")


def test_a_figure_with_meshes_is_read_and_written_again_without_them(tmp_path: Path) -> None:
    file = arm()
    mesh = {"primitives": [{"attributes": {"POSITION": file.array(np.eye(3))}, "material": 0}]}
    file.tree |= {"meshes": [mesh], "materials": [{"name": "skin"}], "scene": 0, "scenes": [{"nodes": [0]}]}
    file.tree["nodes"][2]["mesh"] = 0
    character = viewer.load(file.write(tmp_path / "arm.gltf"))
    assert character.skin is not None
    path = tmp_path / "hit.gltf"
    viewer.save(character, path, objects=lambda _: (CRATE, STONE))
    back = viewer.load(path)
    assert back.skin is not None
    assert (back.skin.contents, back.source.unread) == (("1 mesh", "1 material"), ("2 objects",))
    assert [one.name for one in back.skin.meshes] == [one.name for one in character.skin.meshes]
    viewer.save(back, path)
    again = json.loads(path.read_bytes())
    assert (len(again["meshes"]), again["materials"]) == (1, [{"name": "skin"}])


@pytest.mark.parametrize("suffix", ["glb", "bvh"])
def test_what_are_no_objects_is_refused(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"hit.{suffix}"
    kinds = f"{path}: objects: expected Spheres, Boxes and Meshes at frame"
    given: tuple[tuple[Any, str], ...] = (
        ("crate", 'objects: expected a function of the frame, found "crate"'),
        (lambda _: 3, f'{kinds} 0, found "3"'),
        (lambda frame: (3,) if frame == 2 else (), f'{kinds} 2, found "(3,)"'),
    )
    for objects, message in given:
        with pytest.raises(InputError) as caught:
            viewer.save(viewer.load("sample:walk"), path, objects=objects)
        assert str(caught.value) == message
        assert not path.exists()


def test_a_pose_has_the_objects_of_its_moment(tmp_path: Path) -> None:
    sim, path = simulated(), tmp_path / "pose.glb"
    viewer.save(ARM, path, pose=sim.pose, objects=lambda _: sim.objects_at(9))
    scene = Scene(path)
    assert not scene.file.animations
    check(scene, lambda _: sim.objects_at(9), 1)
    viewer.save(moved(sim), path, objects=lambda _: ())
    assert not any(one.mark == "object" for one in Scene(path).nodes.values())


@pytest.mark.parametrize("suffix", ["bvh", "json", "npz", "csv"])
def test_other_formats_say_that_they_leave_them_out(suffix: str, tmp_path: Path) -> None:
    sim = simulated()
    form = suffix.upper()
    lost = viewer.save(moved(sim), tmp_path / f"hit.{suffix}", objects=sim.objects_at)
    assert f"{form} has no place for objects: crate, stone, wedge and 2 more left out" in lost
    lost = viewer.save(moved(sim), tmp_path / f"hit.{suffix}", objects=lambda _: ())
    assert not any("objects" in line for line in lost)


def test_the_command_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hit.glb"
    command = ["simulate", "sample:raptor", "--ball", "8@0.1", "--seconds", "0.5"]
    done = ran(capsys, *command, "--object", "box:0.2,0.2,0.2@0,0.1,1", "-o", str(path))
    assert done.code == 0
    scene = Scene(path)
    assert {name for name, one in scene.nodes.items() if one.mark == "object"} == {"object 1", "ball 0"}
    np.testing.assert_array_equal(scene.tracks["ball 0", "scale"][1][:, 0], [0.0] * 7 + [1.0] * 24)
    done = ran(capsys, *command, "-o", str(tmp_path / "hit.bvh"))
    assert f"warning: {tmp_path / 'hit.bvh'}: BVH has no place for objects: ball 0 left out\n" in done.err


def test_the_window_exports_what_it_simulated(tmp_path: Path) -> None:
    window = PanelWindow(ARM)
    try:
        controller = window.controller
        window.session.dispatch(AddProp(Prop(name="rock", center=(0.4, 1.5, 0.3), radius=0.1, mass=0.5)))
        before = window.session.document
        path = tmp_path / "window.glb"
        controller.run("physics.run")
        for frame in range(40):
            controller.tick(frame / 60.0)
            if frame == 20:
                controller.simulating.throw()
        controller.run("file.export")
        window.frames(4)
        sim = controller.simulating.sim
        assert sim is not None
        assert controller.simulating.paused  # what was seen is exported
        assert controller.files.export_to(path)
        scene = Scene(path)
        check(scene, sim.objects_at, sim.frames)
        back = viewer.load(path).clip
        assert back is not None
        assert len(back) == sim.frames
        assert window.session.document is before
        some = ExportOptions(motion=True, frames=(10, 20), fps=30.0)
        assert controller.files.export_to(path, options=some)
        check(Scene(path), lambda frame: sim.objects_at(min(10 + 2 * frame, 20)), 6)
    finally:
        window.close()


def world_places(scene: Scene, skin: int, frame: int) -> Any:  # noqa: ANN401
    """(J + T, 3) where the nodes of a skin's joints are in the scene."""
    parents = {child: index for index, one in enumerate(scene.file.nodes) for child in one.children}
    tracks: dict[tuple[int, str], Any] = {}
    for channel in scene.file.animations[0].channels:
        assert channel.target.node is not None
        values = scene.array(scene.file.animations[0].samplers[channel.sampler].output)
        tracks[channel.target.node, channel.target.path] = values[frame]

    def place(joint: int) -> Any:  # noqa: ANN401
        point, node = np.zeros(3), joint
        while True:
            one = scene.file.nodes[node]
            turn = tracks.get((node, "rotation"), one.rotation)
            point = rotate(np.array(turn), point) + tracks.get((node, "translation"), one.translation)
            if node not in parents:
                return point
            node = parents[node]

    return np.array([place(joint) for joint in scene.file.skins[skin].joints])


def walker() -> viewer.Character:
    """A walk whose first 31 frames are played, 2 m to the side and turned by 90 degrees."""
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    clip = replace(walk.clip.frames(0, 30), frame_time=1.0 / 60.0)
    return placed(replace(walk, clips=MappingProxyType({"walk": clip})), (2.0, 0.0, 0.5), (0.0, 0.6, 0.0, 0.8))


@pytest.mark.parametrize("suffix", ["glb", "gltf"])
def test_other_figures_are_skins_of_their_own_in_the_same_animation(suffix: str, tmp_path: Path) -> None:
    sim, other, path = simulated(), walker(), tmp_path / f"two.{suffix}"
    walk = viewer.load("sample:walk").clip
    assert walk is not None
    assert other.clip is not None
    figures = [other, replace(other, clips=MappingProxyType({}))]
    viewer.save(moved(sim), path, objects=sim.objects_at, figures=figures)
    scene = Scene(path)
    assert len(scene.file.animations) == 1
    check(scene, sim.objects_at, sim.frames)
    for frame in (0, 7, 30):
        for skin, character in enumerate((moved(sim), *figures)):
            clip = character.clip
            pose = character.skeleton.rest_pose() if clip is None else clip.pose(frame)
            expected = viewer.fk(character.skeleton, pose).positions
            np.testing.assert_allclose(world_places(scene, skin, frame)[: len(expected)], expected, atol=1e-5)
        there = viewer.fk(other.skeleton, other.clip.pose(frame)).positions
        here = viewer.fk(viewer.load("sample:walk").skeleton, walk.pose(frame)).positions
        np.testing.assert_allclose(
            there, np.array((2.0, 0.0, 0.5)) + rotate(np.array((0.0, 0.6, 0.0, 0.8)), here), atol=1e-9
        )
    assert node("validate.mjs", path) == [{"errors": 0, "warnings": 0, "messages": []}]


def test_a_scene_of_figures_is_read_as_the_first(tmp_path: Path) -> None:
    sim, path, bare = simulated(), tmp_path / "two.glb", tmp_path / "bare.glb"
    viewer.save(moved(sim), path, objects=sim.objects_at, figures=[walker(), walker()])
    viewer.save(moved(sim), bare)
    back, without = viewer.load(path), viewer.load(bare)
    assert back.skeleton.names == without.skeleton.names
    assert back.clip is not None
    assert without.clip is not None
    np.testing.assert_array_equal(back.clip.rotations, without.clip.rotations)
    assert list(back.clips) == ["physics"]
    assert back.skin is None
    assert back.source.unread == ("5 objects", "2 other figures")
    (line,) = viewer.save(back, tmp_path / "again.bvh", figures=[walker()])[-1:]
    assert line == "left out, as only joints and motion are read: 5 objects, 2 other figures"
    assert "BVH has one figure: 1 other figure is left out" in viewer.save(back, tmp_path / "a.bvh", figures=[walker()])


def test_what_are_no_figures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="figures: expected Characters, found"):
        viewer.save(ARM, tmp_path / "a.glb", figures=["walk"])  # type: ignore[list-item]


def test_the_window_exports_all_figures_that_it_simulated(tmp_path: Path) -> None:
    window = PanelWindow(ARM)
    try:
        controller = window.controller
        controller.opening.show_file("demo:ring")
        for frame in range(60):
            controller.tick(frame / 60.0)
        controller.run("file.export")
        window.frames(4)
        sim, path = controller.simulating.sim, tmp_path / "ring.glb"
        assert sim is not None
        assert controller.files.export_to(path)
        scene = Scene(path)
        assert len(scene.file.skins) == len(sim.model.parts) == 3
        clip = sim.clip
        for frame in (0, len(clip) // 2, len(clip) - 1):
            places = viewer.fk(sim.skeleton, clip.pose(frame)).positions
            for skin, part in enumerate(sim.model.parts):
                own = places[part.first : part.first + len(part.skeleton)]
                np.testing.assert_allclose(world_places(scene, skin, frame)[: len(own)], own, atol=1e-5)
        assert viewer.load(path).source.unread[-1] == "2 other figures"
    finally:
        window.close()
