"""Where a clip takes a bone: patches on the sphere of its directions.

Inertias that files state: read, kept, simulated and written; and what becomes of those that no body has.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from cli_run import ran
from inside.document import Select
from inside.physics import Standing, Together, load_mujoco, make_model
from inside.scene import CONE_LENGTH, density_of, limited_joint
from inside.session import document_data, document_of
from inside.skeleton import inertias_of, with_rig
from inside.spatial import rotate
from ui_person import Person

import viewer
from viewer import Inertia, InputError, Surroundings
from viewer.document import Item, new_document
from viewer.scene import Camera, Display, Scene, draw_list
from viewer.skeleton import Builder, Clip, center_of_mass

if TYPE_CHECKING:
    from numpy.typing import NDArray


WALK = viewer.load("sample:walk")
SKELETON, CLIP = WALK.skeleton, next(iter(WALK.clips.values()))
SEEN = Camera(np.array((0.0, 1.0, 0.0)), distance=4.0).projection((800, 600))
CELL = 0.06


@pytest.mark.parametrize("joint", ["LeftUpLeg", "RightArm", "LeftLeg", "Spine1"])
def test_every_frame_is_in_a_patch_and_every_patch_has_a_frame(joint: str) -> None:
    index = SKELETON.index(joint)
    found = density_of(SKELETON, CLIP, index)
    assert found is not None
    assert found.shares.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(np.linalg.norm(found.ways, axis=1), 1.0)
    child = SKELETON.parents.tolist().index(index)
    parent = int(SKELETON.parents[index])
    ways = []
    for frame in range(len(CLIP)):
        world = viewer.fk(SKELETON, CLIP.pose(frame))
        rest = viewer.quaternions.multiply(world.rotations[parent], SKELETON.rest_rotations[index])
        way = world.positions[child] - world.positions[index]
        ways.append(viewer.quaternions.rotate(viewer.quaternions.conjugate(rest), way / np.linalg.norm(way)))
    apart = np.linalg.norm(np.array(ways)[:, None] - found.ways[None], axis=2)
    assert apart.min(axis=1).max() < CELL * np.sqrt(3.0)
    assert apart.min(axis=0).max() < CELL * np.sqrt(3.0)


def test_a_long_clip_is_sampled() -> None:
    index = SKELETON.index("LeftUpLeg")
    rotations = np.concatenate([CLIP.rotations] * 120)
    translations = np.concatenate([CLIP.translations] * 120)
    long = Clip("long", CLIP.frame_time, rotations, CLIP.translated, translations, CLIP.offsets)
    found = density_of(SKELETON, long, index)
    assert found is not None
    assert found.shares.min() >= 1.0 / 3000.0 - 1e-12


def test_patches_are_drawn_where_the_rim_is_while_ranges_are_shown() -> None:
    index = SKELETON.index("LeftUpLeg")
    found = density_of(SKELETON, CLIP, index)
    assert found is not None
    world = viewer.fk(SKELETON, CLIP.pose(0))
    scene = Scene(SKELETON, world, selected=frozenset([index]), display=Display(limits="selected"))
    without = len(draw_list(scene, SEEN).triangles)
    painted = draw_list(replace(scene, densities={index: found}), SEEN).triangles
    assert len(painted) == without + 6 * len(found.ways)
    far = np.linalg.norm(painted["position"][-6 * len(found.ways) :] - world.positions[index], axis=1)
    radius = CONE_LENGTH * limited_joint(SKELETON, index).length
    assert np.abs(far / radius - 1.0).max() < 0.01
    hidden = replace(scene, densities={index: found}, display=Display(limits="none"))
    assert len(draw_list(hidden, SEEN).triangles) == 0


def test_what_cannot_be_painted_is_not() -> None:
    assert density_of(viewer.load("sample:two-link").skeleton, CLIP, 0) is None  # a clip of other joints
    free = Builder().add("a").add("b", "a", (0.0, 1.0, 0.0)).skeleton
    rotations = np.tile([0.0, 0.0, 0.0, 1.0], (3, len(free), 1))
    clip = Clip("c", 0.1, rotations, np.zeros(0, dtype=np.intp), np.zeros((3, 0, 3)), free.offsets)
    assert density_of(free, clip, 0) is None  # no limits


def test_the_joint_selected_last_is_painted() -> None:
    person = Person(WALK)
    assert person.controller.scene().densities == {}
    person.controller.session.dispatch(Select((Item("joint", "LeftUpLeg"), Item("joint", "RightArm"))))
    assert list(person.controller.scene().densities) == [SKELETON.index("RightArm")]
    still = Person()  # no clip
    still.controller.session.dispatch(Select((Item("joint", "LeftUpLeg"),)))
    assert still.controller.scene().densities == {}


GRAVITY = 9.81


def stated(mass: float, moments: str, center: str = "0 0 0", turn: str = "0 0 0") -> str:
    xx, yy, zz, xy, xz, yz = moments.split()
    entries = f'ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="{xy}" ixz="{xz}" iyz="{yz}"'
    return f'<inertial><origin xyz="{center}" rpy="{turn}"/><mass value="{mass}"/><inertia {entries}/></inertial>'


def arm(*inertials: str) -> str:
    """A base and a hinge for each inertial, with a tool at the end that states nothing."""
    links = ['<link name="base"/>', *(f'<link name="l{i}">{text}</link>' for i, text in enumerate(inertials))]
    joints = []
    for i in range(len(inertials)):
        above = f"l{i - 1}" if i else "base"
        ends = f'<parent link="{above}"/><child link="l{i}"/><origin xyz="0.1 0.05 0.4" rpy="0.3 {i} -0.4"/>'
        joints.append(f'<joint name="j{i}" type="revolute">{ends}<axis xyz="{i} 1 0.5"/>'
                      '<limit lower="-2" upper="2"/></joint>')  # fmt: skip
    last = f'<parent link="l{len(inertials) - 1}"/><child link="tool0"/><origin xyz="0 0 0.2"/>'
    joints.append(f'<joint name="flange" type="fixed">{last}</joint>')
    return f'<robot name="arm">{"".join(links)}<link name="tool0"/>{"".join(joints)}</robot>'


def read(tmp_path: Path, text: str) -> viewer.Character:
    (tmp_path / "arm.urdf").write_text(text, encoding="utf-8")
    return viewer.load(tmp_path / "arm.urdf")


MOMENTS = ("0.02 0.03 0.04 0.001 -0.002 0.003", "0.01 0.012 0.013 0 0.0004 0", "0.003 0.002 0.004 0 0 -0.0005")
THREE = arm(
    stated(3.5, MOMENTS[0], "0.02 0 0.15", "0.2 0.3 -0.5"),
    stated(1.25, MOMENTS[1], "0 0.03 0.2"),
    stated(0.5, MOMENTS[2], "0.01 0 0.05", "0 1.5 0"),
)


def by_hand(skeleton: viewer.Skeleton, pose: viewer.Pose) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mass matrix and torques of gravity by the sum over links of what their points do: no code of MuJoCo's."""
    world = viewer.fk(skeleton, pose)
    hinges = [joint for joint, kind in enumerate(skeleton.kinds) if kind is viewer.JointKind.HINGE]
    inertia, gravity = np.zeros((len(hinges), len(hinges))), np.zeros(len(hinges))
    axes = {joint: rotate(world.rotations[joint], skeleton.axes[joint, 0]) for joint in hinges}
    for link, own in enumerate(inertias_of(skeleton)):
        place = world.point(link, np.array(own.center))
        turning, moving = np.zeros((3, len(hinges))), np.zeros((3, len(hinges)))
        above = link
        while above >= 0:
            if above in axes:
                column = hinges.index(above)
                turning[:, column] = axes[above]
                moving[:, column] = np.cross(axes[above], place - world.positions[above])
            above = int(skeleton.parents[above])
        columns = [rotate(world.rotations[link], axis) for axis in np.eye(3)]
        turned = np.array(columns).T @ own.matrix @ np.array(columns)
        inertia += own.mass * moving.T @ moving + turning.T @ turned @ turning
        gravity += own.mass * GRAVITY * moving[1]
    return inertia, gravity


def test_the_model_has_the_mass_matrix_and_the_weights_of_the_file(tmp_path: Path) -> None:
    skeleton = read(tmp_path, THREE).skeleton
    mujoco = load_mujoco()
    model = make_model(skeleton, skeleton.rest_pose(), Surroundings(ground=None), balls=0)
    assert model.mass == pytest.approx(5.25)
    random = np.random.default_rng(4)
    for _ in range(5):
        data = mujoco.MjData(model.mj)
        data.qpos[:] = random.uniform(-1.5, 1.5, 3)
        pose = viewer.Pose(*model.motion(data.qpos, skeleton.rest_pose()))
        mujoco.mj_forward(model.mj, data)
        full, weights = np.zeros((3, 3)), np.zeros(3)
        mujoco.mj_fullM(model.mj, data, full)
        mujoco.mj_rne(model.mj, data, 0, weights)
        inertia, gravity = by_hand(skeleton, pose)
        np.testing.assert_allclose(full, inertia, atol=1e-13)
        np.testing.assert_allclose(weights, gravity, atol=1e-12)


def test_an_inertia_of_the_file_is_in_the_frame_of_its_origin(tmp_path: Path) -> None:
    own = read(tmp_path, THREE).skeleton.inertias[1]
    assert own is not None
    assert (own.mass, own.center) == (3.5, (0.02, 0.0, 0.15))
    xx, yy, zz, xy, xz, yz = map(float, MOMENTS[0].split())
    c, s = np.cos, np.sin
    r, p, y = 0.2, 0.3, -0.5
    turn = (
        np.array([[c(y), -s(y), 0], [s(y), c(y), 0], [0, 0, 1]])
        @ np.array([[c(p), 0, s(p)], [0, 1, 0], [-s(p), 0, c(p)]])
        @ np.array([[1, 0, 0], [0, c(r), -s(r)], [0, s(r), c(r)]])
    )
    np.testing.assert_allclose(own.matrix, turn @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ turn.T, atol=1e-15)
    moments, axes = own.principal()
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, own.matrix, atol=1e-15)
    assert np.linalg.det(axes) == pytest.approx(1.0)


@pytest.mark.parametrize("suffix", ["json", "urdf", "xml"])
def test_files_keep_inertias(suffix: str, tmp_path: Path) -> None:
    character = read(tmp_path, THREE)
    viewer.save(character, tmp_path / f"again.{suffix}")
    again = viewer.load(tmp_path / f"again.{suffix}").skeleton
    assert not any("mass" in warning for warning in viewer.load(tmp_path / f"again.{suffix}").warnings)
    for before, after in zip(character.skeleton.inertias, inertias_of(again), strict=True):
        assert before is not None
        if suffix == "json":
            assert after == before
        assert after.mass == pytest.approx(before.mass, abs=1e-8)
        np.testing.assert_allclose(after.center, before.center, atol=1e-15)
        np.testing.assert_allclose(after.moments, before.moments, atol=1e-12)


def test_a_file_in_other_units_has_the_same_inertias(tmp_path: Path) -> None:
    made = Builder().add("a", inertia=Inertia(2.0, (0.1, 0.0, 0.2), (0.1, 0.2, 0.25, 0.0, 0.0, 0.01))).skeleton
    source = viewer.load("sample:biped").source
    viewer.save(viewer.Character(made, source=replace(source, units="cm", metres_per_unit=0.01)), tmp_path / "a.json")
    assert '"center": [10, 0, 20]' in (tmp_path / "a.json").read_text("utf-8")
    assert viewer.load(tmp_path / "a.json").skeleton.inertias == made.inertias


def test_a_session_keeps_inertias(tmp_path: Path) -> None:
    document = new_document(read(tmp_path, THREE))
    data = msgspec.json.encode(document_data(document))
    again = document_of(msgspec.json.decode(data, type=type(document_data(document))), tmp_path)
    assert again.skeleton.inertias == document.skeleton.inertias
    assert again.skeleton.inertias[1] is not None


def test_formats_without_a_place_for_masses_say_so(tmp_path: Path) -> None:
    warnings = viewer.save(read(tmp_path, THREE), tmp_path / "arm.bvh")
    assert any("masses" in warning for warning in warnings)


ESTIMATED = "mass and inertia are estimated"
NO_BODY = "expected those of a body, no principal one above the sum of the other two, found 1, 1, 3, 0, 0, 0"
NEAREST = 'no body has the moments of inertia of "l0": the nearest ones are taken'
NOT_FINITE = '<mass value>: expected a finite number, found "nan"'
WRONG = [
    ((-2.0, MOMENTS[0]), f'line 1: link "l0": mass: expected 0 or more kilograms, found -2: {ESTIMATED}'),
    (("nan", MOMENTS[0]), f'line 1: link "l0": {NOT_FINITE}: {ESTIMATED}'),
    (
        (1.0, "1e308 1e308 1e308 0 0 0"),
        f'line 1: link "l0": moments: expected at most 1e+100 kg m^2, found 1e+308: {ESTIMATED}',
    ),
    ((1e300, MOMENTS[0]), f'line 1: link "l0": mass: expected 0 to 1e+100 kilograms, found 1e+300: {ESTIMATED}'),
    ((1.0, "0.1 0.1 0.9 0 0 0"), NEAREST),
    ((1.0, "-0.1 -0.1 -0.1 0 0 0"), NEAREST),
    ((1.0, "0.1 0.1 0.1 0.3 0 0"), NEAREST),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_an_inertia_that_no_body_has_is_said_and_simulated_by_a_near_one(
    given: tuple[Any, str], message: str, tmp_path: Path
) -> None:
    character = read(tmp_path, arm(stated(*given), stated(1.0, MOMENTS[1])))
    assert [warning for warning in character.warnings if "inertia" in warning] == [message]
    skeleton = character.skeleton
    own = inertias_of(skeleton)[1]
    assert (skeleton.inertias[1] is None) == ("estimated" in message)
    assert own.mass == 1.0 if "nearest" in message else own.mass > 0.1
    sim = viewer.Physics(skeleton, surroundings=Surroundings(ground=None))
    for _ in range(30):
        sim.step(1.0 / 60.0)
    assert np.isfinite(sim.pose.rotations).all()


def test_the_nearest_inertia_is_the_stated_one_where_a_body_has_that() -> None:
    plate = np.diag([1.0, 1.0, 2.0])  # as thin as a body can be
    assert Inertia.nearest(1.0, (0, 0, 0), plate) == (Inertia(1.0, moments=(1.0, 1.0, 2.0, 0.0, 0.0, 0.0)), False)
    found, changed = Inertia.nearest(1.0, (0, 0, 0), np.diag([1.0, 1.0, 2.1]))
    assert changed
    assert found.moments == pytest.approx((1.05, 1.05, 2.1, 0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((-1.0,), "inertia: mass: expected 0 or more kilograms, found -1"),
        ((1.0, (0, 0, np.nan)), "inertia: center: expected finite numbers, found nan"),
        (
            (1.0, (0, 0, 0), (1.0, 1.0, 3.0, 0, 0, 0)),
            f"inertia: moments: {NO_BODY}",
        ),
    ],
)
def test_values_that_no_body_has_are_refused(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Inertia(*given)
    assert str(caught.value) == message


def test_a_skeleton_file_with_a_wrong_inertia_is_refused_with_its_place(tmp_path: Path) -> None:
    text = '{"joints": [{"name": "a", "inertia": {"mass": 1, "moments": [1, 1, 3, 0, 0, 0]}}]}'
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(viewer.FormatError) as caught:
        viewer.load(tmp_path / "a.json")
    assert str(caught.value).endswith(f'a.json: joints[0] "a".inertia: moments: {NO_BODY}')


def test_links_that_weigh_nothing_move(tmp_path: Path) -> None:
    skeleton = read(tmp_path, arm("", stated(1.0, "0 0 0 0 0 0"), stated(0.0, "0 0 0 0 0 0"))).skeleton
    assert inertias_of(skeleton)[1].mass == 0.0
    sim = viewer.Physics(skeleton, surroundings=Surroundings(ground=None))
    assert sim.model.mass == 1.0
    sim.push("l1", (0.3, 0.0, 0.1))
    for _ in range(120):
        sim.step(1.0 / 60.0)
    np.testing.assert_allclose(sim.pose.rotations, sim.aimed.rotations, atol=2e-3)


def test_a_pushed_arm_comes_back(tmp_path: Path) -> None:
    skeleton = read(tmp_path, THREE).skeleton
    tool = skeleton.index("tool0")
    for direction in np.concatenate([np.eye(3), -np.eye(3)]):
        sim = viewer.Physics(skeleton, surroundings=Surroundings(ground=None))
        start = viewer.fk(skeleton, sim.pose).positions[tool]
        sim.push("l2", 1.5 * sim.effective_mass("l2", direction) * direction)
        farthest = 0.0
        for _ in range(120):
            sim.step(1.0 / 60.0)
            away = float(np.linalg.norm(viewer.fk(skeleton, sim.pose).positions[tool] - start))
            farthest = max(farthest, away)
        assert 0.01 < farthest < 0.5
        assert away < 0.002


def test_the_centre_of_mass_is_that_of_the_file(tmp_path: Path) -> None:
    skeleton = read(tmp_path, THREE).skeleton
    world = viewer.fk(skeleton, skeleton.rest_pose())
    parts = [(own.mass, world.point(j, np.array(own.center))) for j, own in enumerate(inertias_of(skeleton))]
    expected = sum(mass * place for mass, place in parts) / 5.25
    np.testing.assert_allclose(center_of_mass(skeleton, world), expected, atol=1e-12)


def test_edits_carry_inertias_along() -> None:
    own = Inertia(2.0, (0.1, 0.2, 0.3), (0.1, 0.2, 0.25, 0.01, 0.02, 0.03))
    builder = Builder().add("root").add("LeftArm", "root", (0.5, 1.0, 0.0), inertia=own)
    made = builder.mirror("LeftArm").skeleton
    mirrored = made.inertias[made.index("RightArm")]
    assert made.inertias[:2] == (None, own)
    assert mirrored == Inertia(2.0, (-0.1, 0.2, 0.3), (0.1, 0.2, 0.25, -0.01, -0.02, 0.03))
    assert Builder(made).rename("LeftArm", "LeftHand").skeleton.inertias == made.inertias
    assert Builder(made).remove("RightArm").skeleton.inertias == (None, own)
    plain = Builder().add("root").add("LeftArm", "root", (0.5, 1.0, 0.0)).skeleton
    assert plain.inertias == ()
    assert with_rig(viewer.Character(plain), viewer.Character(made)).skeleton.inertias == (None, own)
    apart = Standing(made, np.array([3.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    alone = Standing(plain, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
    assert Together.of([alone, apart]).skeleton.inertias == (None, None, *made.inertias)


def test_info_says_what_a_robot_weighs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read(tmp_path, THREE)
    done = ran(capsys, "info", tmp_path / "arm.urdf")
    assert "  mass       5.25 kg, from the file\n" in done.out
    document = ran(capsys, "info", tmp_path / "arm.urdf", "--json").json
    assert (document["mass"], document["mass_from"]) == (5.25, "file")
    assert document["joints"][1]["inertia"]["center"] == [0.02, 0, 0.15]
    assert "kg, estimated\n" in ran(capsys, "info", "sample:claw-arm").out
    read(tmp_path, arm(stated(-1.0, MOMENTS[0]), stated(1.25, MOMENTS[1])))
    assert "kg, from the file, but estimated of 1 joint\n" in ran(capsys, "info", tmp_path / "arm.urdf").out
