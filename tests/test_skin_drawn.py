"""Skins as they come out: where their joints take them, in their colours, over the bones; and F4."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gl_drawing import SIZE, at, camera, drawn
from gltf_files import GltfFile
from inside.document import Select
from inside.scene import skin_draws
from inside.session import Preferences, load_session, save_session
from inside.skeleton import Material, Mesh, Skin
from skinned_files import painted, png, strip

import viewer
from viewer.document import Item, new_document
from viewer.errors import InputError
from viewer.scene import Display, OtherFigure, Scene, draw_list, figure_height
from viewer.session import Session
from viewer.skeleton import Character, Pose, World, fk
from viewer.ui import Controller

if TYPE_CHECKING:
    from pathlib import Path

    from inside.scene import SkinDraw

PROJECTION = camera(distance=6.0).projection(SIZE)


def wide(joints: int, influences: int = 4, **material: Any) -> Skin:  # noqa: ANN401 - of a material
    """A square of two triangles, whose corners follow the last of so many joints."""
    corners = np.array([(-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (0.5, 0.5, 0.0), (-0.5, 0.5, 0.0)], dtype=np.float32)
    bindings = np.zeros((4, influences), dtype=np.uint16)
    bindings[:, -1 if influences > 1 else 0] = joints - 1
    weights = np.zeros((4, influences), dtype=np.float32)
    weights[:, -1] = 1.0
    faces = np.array([(0, 1, 2), (0, 2, 3)], dtype=np.uint32)
    mesh = Mesh("square", corners, faces, bindings, weights, material=Material(**material))
    return Skin((mesh,), np.arange(joints), np.tile(np.eye(3, 4), (joints, 1, 1)), joints)


def placed(skin: Skin, offset: tuple[float, float, float], **more: Any) -> SkinDraw:  # noqa: ANN401 - of a skin's draw
    """The skin with all joints at one place."""
    count = len(skin.joints)
    world = World(np.tile(offset, (count, 1)).astype(float), np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)))
    skeleton = viewer.load("sample:two-link").skeleton
    (draw,) = skin_draws(Scene(skeleton, world, skin=skin))
    return replace(draw, **more)


@pytest.mark.parametrize("influences", [1, 4, 8])
@pytest.mark.parametrize("joints", [1, 24, 129, 700])
def test_a_vertex_is_where_its_joint_takes_it(joints: int, influences: int) -> None:
    skin = wide(joints, influences, colour=(1.0, 0.0, 0.0, 1.0))
    picture = drawn(PROJECTION, skins=(placed(skin, (1.0, 0.5, 0.0)),))
    red, green, _ = at(picture, PROJECTION, np.array([1.0, 0.5, 0.0]))
    assert red > 120
    assert green < 60
    middle = at(picture, PROJECTION, np.zeros(3))
    np.testing.assert_array_equal(middle, at(drawn(PROJECTION), PROJECTION, np.zeros(3)))
    for corner in (-0.45, 0.45):
        assert at(picture, PROJECTION, np.array([1.0 + corner, 0.5 + corner, 0.0]))[0] > 120


def test_the_inside_is_seen_only_if_the_material_says_so() -> None:
    behind = camera(distance=6.0, yaw=np.pi).projection(SIZE)
    empty = at(drawn(behind), behind, np.zeros(3))
    for both in (False, True):
        skin = wide(1, 1, colour=(1.0, 0.0, 0.0, 1.0), double_sided=both)
        found = at(drawn(behind, skins=(placed(skin, (0.0, 0.0, 0.0)),)), behind, np.zeros(3))
        assert (found != empty) is both


def test_what_is_too_transparent_is_left_out() -> None:
    empty = at(drawn(PROJECTION), PROJECTION, np.zeros(3))
    for alpha, seen in ((0.4, False), (0.6, True)):
        skin = wide(1, 1, colour=(1.0, 0.0, 0.0, alpha), alpha="mask", cutoff=0.5)
        found = at(drawn(PROJECTION, skins=(placed(skin, (0.0, 0.0, 0.0)),)), PROJECTION, np.zeros(3))
        assert (found != empty) is seen
    skin = wide(1, 1, colour=(1.0, 0.0, 0.0, 0.5), alpha="blend")
    half = at(drawn(PROJECTION, skins=(placed(skin, (0.0, 0.0, 0.0)),)), PROJECTION, np.zeros(3))
    full = at(
        drawn(PROJECTION, skins=(placed(wide(1, 1, colour=(1.0, 0, 0, 1)), (0.0, 0.0, 0.0)),)), PROJECTION, [0, 0, 0]
    )
    np.testing.assert_allclose(half, 0.5 * (np.array(full) + np.array(empty)), atol=2)


def test_a_seen_through_skin_is_one_layer() -> None:
    skin = wide(1, 1, colour=(1.0, 0.0, 0.0, 1.0))
    one = placed(skin, (0.0, 0.0, 0.0), opacity=0.35)
    behind = replace(skin.meshes[0], positions=skin.meshes[0].positions * 0.5 - np.array([0.0, 0.0, 1.0]))
    twice = Skin((behind, *skin.meshes), skin.joints, skin.transforms, 1)
    double = placed(twice, (0.0, 0.0, 0.0), opacity=0.35)
    np.testing.assert_array_equal(drawn(PROJECTION, skins=(one,)), drawn(PROJECTION, skins=(double,)))


def test_pictures_and_their_edges(tmp_path: Path) -> None:
    places = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.5], [1.0, 0.5], [0.0, 1.0], [1.0, 1.0]]
    character = viewer.load(painted(strip(TEXCOORD_0=places), png(8, 8, (0, 0, 255))).write(tmp_path / "a.gltf"))
    picture = viewer.render(character, size=(200, 200), camera="front", samples=0)
    red, _, blue = picture[100, 100].tolist()
    assert blue > 120
    assert red < 40


def selected(character: Character, joint: int) -> Scene:
    skeleton = character.skeleton
    world = fk(skeleton, skeleton.rest_pose())
    return Scene(skeleton, world, selected=frozenset([joint]), height=figure_height(skeleton), skin=character.skin)


def test_what_follows_a_selected_joint_is_tinted(tmp_path: Path) -> None:
    character = viewer.load(strip().write(tmp_path / "a.gltf"))
    (draw,) = skin_draws(selected(character, 1))
    assert draw.accents.tolist() == pytest.approx([0.0, 0.12])


@pytest.mark.parametrize(
    ("body", "sticks", "skins", "capsules"),
    [("skin", False, 1, False), ("sticks", True, 0, False), ("capsules", False, 0, True)],
)
def test_one_of_three_bodies_is_drawn(body: Any, sticks: bool, skins: int, capsules: bool, tmp_path: Path) -> None:  # noqa: ANN401
    scene = selected(viewer.load(strip().write(tmp_path / "a.gltf")), 0)
    shown_so = replace(scene, display=Display().with_body(body))
    drawn_so = draw_list(shown_so, PROJECTION)
    shows_sticks = drawn_so.sticks and len(drawn_so.bones) > 0
    assert (shows_sticks, len(drawn_so.skins), bool(len(drawn_so.capsules))) == (sticks, skins, capsules)
    through = draw_list(replace(scene, display=replace(shown_so.display, see_through=True)), PROJECTION)
    assert through.sticks
    assert [draw.opacity for draw in through.skins] == [0.35] * skins


def test_the_balls_of_a_skin_hold_all_of_it(tmp_path: Path) -> None:
    character = viewer.load(strip().write(tmp_path / "a.gltf"))
    rest = character.skeleton.rest_pose()
    turned = Pose(np.array([[0.0, 0.0, 0.6, 0.8], [0.6, 0.0, 0.0, 0.8]]), rest.translations)
    world = fk(character.skeleton, turned)
    scene = replace(selected(character, 0), world=world)
    (draw,) = skin_draws(scene)
    assert character.skin is not None
    points = character.skin.posed(world.positions, world.rotations)
    off = np.linalg.norm(points[:, None] - draw.spheres[:, :3], axis=-1) - draw.spheres[:, 3]
    # The middle corners are between both joints: within the hull of both balls.
    assert (off.min(axis=1)[[0, 1, 4, 5]] <= 1e-6).all()


def test_render_has_all_of_the_skin_in_view(tmp_path: Path) -> None:
    file = strip(POSITION=np.array([(x, y, 0.0) for y in (-3.0, 1.0, 5.0) for x in (-2.0, 2.0)]))
    character = viewer.load(file.write(tmp_path / "a.gltf"))
    background = viewer.render(viewer.load("sample:two-link"), size=(160, 120), samples=0)
    assert background.shape == (120, 160, 3)
    bare = viewer.render(character, size=(160, 120), camera="front", samples=0, body="sticks")
    dressed = viewer.render(character, size=(160, 120), camera="front", samples=0)
    assert (bare != dressed).any()
    bright = np.asarray((dressed > 110).all(axis=2))
    assert bright.any()
    assert not bright[[0, -1]].any()
    assert not bright[:, [0, -1]].any()


def test_an_unknown_body_is_refused(tmp_path: Path) -> None:
    character = viewer.load(strip().write(tmp_path / "a.gltf"))
    with pytest.raises(InputError, match='body: expected sticks, capsules, skin, found "fur"'):
        viewer.render(character, body="fur")  # type: ignore[arg-type]


def controller_of(character: Character) -> Controller:
    return Controller(Session(new_document(character)), Preferences())


def body_of(controller: Controller) -> str:
    names = ("show.sticks", "show.capsules", "show.skin")
    bindings = {name: controller.bindings[name] for name in names}
    (checked,) = [name for name, one in bindings.items() if one.checked is not None and one.checked()]
    return checked.removeprefix("show.")


def test_f4_goes_round_what_the_figure_has(tmp_path: Path) -> None:
    controller = controller_of(viewer.load(strip().write(tmp_path / "a.gltf")))
    seen = []
    for _ in range(4):
        seen.append(body_of(controller))
        controller.run("show.body")
    assert seen == ["skin", "sticks", "capsules", "skin"]
    bare = controller_of(viewer.load("sample:two-link"))
    seen = []
    for _ in range(3):
        seen.append(body_of(bare))
        bare.run("show.body")
    assert seen == ["sticks", "capsules", "sticks"]
    assert bare.view.display.skin  # the next file with a skin shows it
    assert bare.bindings["show.skin"].lacks() == "the figure has no skin"


def test_the_scene_of_a_window_has_the_skin_and_the_selection_in_it(tmp_path: Path) -> None:
    controller = controller_of(viewer.load(strip().write(tmp_path / "a.gltf")))
    controller.session.dispatch(Select((Item("joint", "high"),)))
    (draw,) = skin_draws(controller.scene())
    assert draw.accents.tolist() == pytest.approx([0.0, 0.12])
    controller.run("show.sticks")
    assert not controller.scene().shows_skin


def test_a_session_refers_to_the_file_of_the_skin(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    character = viewer.load(strip().write(tmp_path / "a" / "strip.gltf"))
    save_session(new_document(character), tmp_path / "a" / "one.ikv.json")
    (tmp_path / "a").rename(tmp_path / "b")
    again = load_session(tmp_path / "b" / "one.ikv.json").character
    assert again.skin is not None
    np.testing.assert_array_equal(again.skin.meshes[0].positions, character.skin.meshes[0].positions)  # type: ignore[union-attr]
    (tmp_path / "b" / "strip.gltf").unlink()
    bare = load_session(tmp_path / "b" / "one.ikv.json").character
    assert bare.skin is None
    assert bare.warnings == ('the skin is not shown: its file "strip.gltf" is missing',)
    GltfFile([{"name": "other"}]).write(tmp_path / "b" / "strip.gltf")
    other = load_session(tmp_path / "b" / "one.ikv.json").character
    assert other.warnings == ('the skin is not shown: its file "strip.gltf" has no skin',)


def test_figures_that_are_not_active_have_their_skins_or_their_sticks(tmp_path: Path) -> None:
    dressed = viewer.load(strip().write(tmp_path / "a.gltf"))
    bare = viewer.load("sample:biped").skeleton
    scene = selected(dressed, 0)
    others = (
        OtherFigure("dressed", dressed.skeleton, scene.world, skin=dressed.skin),
        OtherFigure("bare", bare, viewer.fk(bare, bare.rest_pose())),
    )
    drawn_so = draw_list(replace(scene, others=others), PROJECTION)
    assert len(drawn_so.skins) == 2
    assert drawn_so.sticks
    assert len(drawn_so.bones) == len(draw_list(Scene(bare, others[1].world), PROJECTION).bones)
    shown_so = replace(scene, others=others, display=Display().with_body("sticks"))
    assert len(draw_list(shown_so, PROJECTION).skins) == 0
