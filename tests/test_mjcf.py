"""MuJoCo models: places by MuJoCo's own kinematics, limits, keyframes, shapes, and models that are refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inside.skeleton import joint_space
from rigs import random_skeleton

import viewer
from viewer import FormatError, Pose
from viewer.skeleton import JointKind

mujoco: Any = pytest.importorskip("mujoco")

WORD = {0: "free", 1: "ball", 2: "slide", 3: "hinge"}


def written(tmp_path: Path, text: str, name: str = "model.xml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def random_model(random: np.random.Generator, bodies: int) -> str:
    """Bodies in a random tree, up to three joints each with anchors beside the origin, some with a reference angle."""

    def numbers(count: int, size: float = 1.0) -> str:
        return " ".join(f"{value:.6f}" for value in random.normal(0.0, size, count))

    children: dict[int, list[int]] = {}
    for body in range(bodies):
        children.setdefault(int(random.integers(-1, body)) if body else -1, []).append(body)

    def body_text(body: int, root: bool) -> str:
        joints = []
        if root and random.random() < 0.4:
            joints.append(f'<freejoint name="j{body}"/>')
        elif random.random() < 0.2:
            joints.append(f'<joint name="j{body}" type="ball" pos="{numbers(3, 0.1)}"/>')
        else:
            for number in range(int(random.integers(0, 4))):
                word = str(random.choice(("hinge", "slide")))
                ref = f'ref="{random.normal(0.0, 0.4):.4f}"' if random.random() < 0.5 else ""
                place = f'pos="{numbers(3, 0.1)}"' if random.random() < 0.7 else ""
                joints.append(f'<joint name="j{body}_{number}" type="{word}" axis="{numbers(3)}" {place} {ref}/>')
        inner = "".join(body_text(child, False) for child in children.get(body, []))
        geom = '<geom type="sphere" size="0.05"/>'
        return f'<body name="b{body}" pos="{numbers(3)}" quat="{numbers(4)}">{"".join(joints)}{geom}{inner}</body>'

    world = "".join(body_text(body, True) for body in children[-1])
    return f'<mujoco><compiler angle="radian"/><worldbody>{world}</worldbody></mujoco>'


def in_pose(skeleton: viewer.Skeleton, model: Any, qpos: np.ndarray[Any, Any], up: str) -> Pose:  # noqa: ANN401
    """The pose of a read skeleton at MuJoCo's coordinates."""
    rotations, translations = skeleton.rest_rotations.copy(), skeleton.offsets.copy()
    turn = viewer.quaternions.from_axis_angle((1, 0, 0), -np.pi / 2) if up == "z" else np.array((0.0, 0.0, 0.0, 1.0))
    for joint in range(model.njnt):
        name, first = model.joint(joint).name, int(model.jnt_qposadr[joint])
        body = model.body(int(model.jnt_bodyid[joint])).name
        here = skeleton.index(name if name in skeleton.names else body)
        word = WORD[int(model.jnt_type[joint])]
        if word == "free":
            translations[here] = viewer.quaternions.rotate(turn, qpos[first : first + 3])
            rotations[here] = viewer.quaternions.multiply(turn, qpos[[first + 4, first + 5, first + 6, first + 3]])
        elif word == "ball":
            own = qpos[[first + 1, first + 2, first + 3, first]]
            rotations[here] = viewer.quaternions.multiply(rotations[here], own)
        else:
            value = float(qpos[first] - model.qpos0[first])
            axis = skeleton.axes[here, 0]
            if word == "hinge":
                own = viewer.quaternions.from_axis_angle(axis, value)
                rotations[here] = viewer.quaternions.multiply(rotations[here], own)
            else:
                translations[here] += viewer.quaternions.rotate(skeleton.rest_rotations[here], value * axis)
    return Pose(rotations, translations)


@pytest.mark.parametrize("seed", range(4))
def test_places_are_those_of_mujoco(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    path = written(tmp_path, random_model(random, int(random.integers(1, 14))))
    skeleton = viewer.load(path).skeleton
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for _ in range(3):
        velocity = random.normal(0.0, 1.0, model.nv)
        data.qpos[:] = model.qpos0
        mujoco.mj_integratePos(model, data.qpos, velocity, 1.0)
        mujoco.mj_kinematics(model, data)
        world = viewer.fk(skeleton, in_pose(skeleton, model, data.qpos, "z"))
        x, y, z = data.xpos.T
        wanted = np.stack([x, z, -y], axis=1)
        for body in range(1, model.nbody):
            place = world.positions[skeleton.index(model.body(body).name)]
            np.testing.assert_allclose(place, wanted[body], atol=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_a_skeleton_that_is_written_is_read_back(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(100 + seed)
    skeleton = random_skeleton(random, int(random.integers(2, 12)))
    viewer.save(viewer.Character(skeleton), tmp_path / "model.xml")
    read = viewer.load(tmp_path / "model.xml").skeleton
    ours, theirs = (viewer.fk(one, one.rest_pose()) for one in (skeleton, read))
    for name in skeleton.names:
        np.testing.assert_allclose(theirs.positions[read.index(name)], ours.positions[skeleton.index(name)], atol=1e-9)
    assert joint_space(read).skeleton.dof == skeleton.dof


ARM = """<mujoco model="arm">
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="upper" pos="0 0 0.5">
      <joint name="shoulder" axis="0 1 0" range="-90 45" limited="true"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.04" rgba="0.8 0.2 0.1 1"/>
      <body name="fore" pos="0 0 0.4">
        <joint name="elbow" axis="0 1 0" range="10 150" limited="true"/>
        <geom type="box" size="0.03 0.04 0.15" pos="0 0 0.15" group="1"/>
        <geom type="sphere" size="0.2" group="3"/>
        <site name="grip" pos="0 0 0.3"/>
      </body>
    </body>
  </worldbody>
  KEY
</mujoco>"""


def test_limits_tools_shapes_and_keyframes(tmp_path: Path) -> None:
    character = viewer.load(written(tmp_path, ARM.replace("KEY", "")))
    skeleton = character.skeleton
    assert skeleton.names == ("upper", "fore")
    ranges = [limits and (float(limits.lower[0]), float(limits.upper[0])) for limits in skeleton.limits]
    np.testing.assert_allclose(np.degrees(np.array(ranges, dtype=float)), [(-90, 45), (10, 150)])
    (grip,) = skeleton.effectors
    assert (grip.name, skeleton.names[grip.joint], grip.offset) == ("grip", "fore", (0.0, 0.0, 0.3))
    assert character.warnings == (
        "the zero pose is outside the limits of 1 joint: the model opens in the nearest pose inside",
    )
    assert character.skin is not None
    capsule, box = character.skin.meshes
    np.testing.assert_allclose(np.ptp(capsule.positions, axis=0), (0.08, 0.08, 0.48), atol=2e-3)
    np.testing.assert_allclose(np.ptp(box.positions, axis=0), (0.06, 0.08, 0.3), atol=1e-6)
    key = '<keyframe><key name="home" qpos="-0.5 1.2"/></keyframe>'
    skeleton = viewer.load(written(tmp_path, ARM.replace("KEY", key))).skeleton
    angles = joint_space(skeleton).measure(skeleton.relaxed_pose().rotations, skeleton.relaxed_pose().translations)
    np.testing.assert_allclose(angles[:, 0], (-0.5, 1.2), atol=1e-12)


WHEELED = """<mujoco><worldbody><body name="car">{root}
<geom type="box" size="0.2 0.1 0.05"/>
<body name="wheel" pos="0.2 0 0"><joint name="roll" axis="0 1 0"/><geom size="0.05"/></body>
{arm}
</body></worldbody></mujoco>"""
LIFT = """<body name="arm" pos="0 0 0.1"><joint name="lift" axis="0 1 0" range="-60 60"/><geom size="0.05"/></body>"""


@pytest.mark.parametrize("root", ["", "<freejoint/>"])
def test_wheels_are_off_and_last_beside_other_bodies(tmp_path: Path, root: str) -> None:
    with_arm = viewer.load(written(tmp_path, WHEELED.format(root=root, arm=LIFT))).skeleton
    assert [(one.name, str(one.goal)) for one in with_arm.effectors] == [("arm", "position"), ("wheel", "off")]
    alone = viewer.load(written(tmp_path, WHEELED.format(root=root, arm=""))).skeleton
    assert [(one.name, str(one.goal)) for one in alone.effectors] == [("wheel", "position")]


def test_the_limit_of_a_ball_bounds_its_swings_and_its_twist(tmp_path: Path) -> None:
    text = """<mujoco><worldbody><body name="a"><joint name="s" type="ball" range="0 50" limited="true"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.04"/>
    <body name="b" pos="0 0 0.4"><geom size="0.05"/></body></body></worldbody></mujoco>"""
    character = viewer.load(written(tmp_path, text))
    assert character.warnings == ('joint "a": its limit of 50 degrees is read as 50 for each swing and the twist',)
    skeleton, random = character.skeleton, np.random.default_rng(3)
    joint = skeleton.index("a")

    def outside(axis: Any, degrees: float) -> float:  # noqa: ANN401 - three numbers
        rotations = skeleton.rest_rotations.copy()
        turn = viewer.quaternions.from_axis_angle(axis / np.linalg.norm(axis), np.radians(degrees))
        rotations[joint] = viewer.quaternions.multiply(rotations[joint], turn)
        return float(viewer.limit_violation(skeleton, Pose(rotations, skeleton.offsets)).max())

    for _ in range(200):
        assert outside(random.normal(size=3), random.uniform(0.0, 50.0)) <= 1e-9
    for axis in np.eye(3):
        assert outside(axis, 53.0) == pytest.approx(np.radians(3.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujoco><worldbody/>", "line 1, column 21: expected XML, found an error: no element found"),
        ("<robot/>", "line 1: expected <mujoco>, found <robot>"),
        ("<mujoco/>", "expected a body, found none"),
        ("<mujoco><include file='none.xml'/></mujoco>",
         "MuJoCo refuses it: XML Error: Error opening file 'none.xml' Element 'include', line 1"),
        ("<mujoco><worldbody><body><joint type='screw'/></body></worldbody></mujoco>", "MuJoCo refuses it: "),
    ],
)  # fmt: skip
def test_models_that_are_refused_say_why(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FormatError) as caught:
        viewer.load(path)
    where = ": " if not message.startswith("line") else ", "
    assert str(caught.value).startswith(f"{path}{where}{message}")


def test_files_in_a_folder_beside_or_in_the_package_are_read(tmp_path: Path) -> None:
    mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    text = """<mujoco><include file='{up}parts/more.xml'/><asset><mesh name='m' file='{up}parts/m.obj'/></asset>
      <worldbody><body name='a'><joint name='j'/><geom type='mesh' mesh='m' mass='1'/></body></worldbody></mujoco>"""
    for depth in (1, 3):
        package = tmp_path / f"p{depth}"
        folder = package.joinpath(*"bcd"[:depth])
        folder.mkdir(parents=True)
        (package / "parts").mkdir()
        (package / "parts" / "m.obj").write_text(mesh)
        (package / "parts" / "more.xml").write_text("<mujocoinclude><option gravity='0 0 -9'/></mujocoinclude>")
        if depth > 1:
            path = written(folder, text.format(up="../" * depth))
            with pytest.raises(FormatError, match=r'expected included files below "c", found "[./]+/parts/more.xml"'):
                viewer.load(path)
            path.write_text(path.read_text().partition("/>")[2].join(("<mujoco>", "")))
            outside = viewer.load(path)
            assert outside.skin is None
            assert outside.warnings == (
                'not shown: "../../../parts/m.obj" (outside of the package): bones are drawn instead',
                'too light, without its meshes: "a"',
            )
            (package / "__init__.py").touch()
        character = viewer.load(written(folder, text.format(up="../" * depth)))
        assert character.skeleton.names == ("a",)
        assert character.skin is not None


@pytest.mark.parametrize("part", ["include", "model"])
def test_models_that_take_others_from_outside_of_the_package_are_refused(tmp_path: Path, part: str) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    written(tmp_path, "<mujoco><option/></mujoco>", "part.xml")
    asset = f"<{part} file='../../part.xml'/>"
    body = "<worldbody><body name='a'><joint/><geom size='.1'/></body></worldbody>"
    path = written(folder, f"<mujoco>{asset if part == 'include' else f'<asset>{asset}</asset>'}{body}</mujoco>")
    with pytest.raises(FormatError) as caught:
        viewer.load(path)
    assert str(caught.value) == f'{path}: expected included files below "a", found "../../part.xml"'


def test_a_mesh_is_looked_for_in_the_folder_of_meshes_alone(tmp_path: Path) -> None:
    """In the model's own folder the same path would be outside of the package."""
    (tmp_path / "a" / "meshes").mkdir(parents=True)
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    text = """<mujoco><compiler meshdir="meshes" texturedir="pictures"/>
      <asset><mesh name="m" file="../../m.obj"/></asset>
      <worldbody><body name="a"><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
    character = viewer.load(written(tmp_path / "a", text))
    assert character.warnings == ()
    assert character.skin is not None


def test_files_that_are_missing_are_left_out(tmp_path: Path) -> None:
    """Joints, limits and stated masses stay; a body that weighed what its mesh did weighs nothing, which is said."""
    text = """<mujoco><compiler meshdir="assets"/><asset><texture name="t" type="2d" file="t.png"/>
      <material name="wood" texture="t" rgba="1 0 0 1"/><mesh name="m" file="m.stl"/><mesh file="n.stl"/></asset>
      <worldbody><body name="a" pos="0 0 1"><joint axis="0 1 0" range="-30 60"/><inertial pos="0 0 0" mass="2"
      diaginertia="1 1 1"/><geom type="mesh" mesh="m" name="g"/>
      <body name="b" pos="1 0 0"><joint axis="0 1 0"/><geom type="mesh" mesh="n" material="wood"/>
      <body name="c" pos="1 0 0"><joint axis="0 1 0"/><geom type="box" size=".1 .1 .1" mass="1" material="wood"
      name="box"/><geom type="mesh" mesh="m" mass="0"/></body></body></body></worldbody>
      <contact><pair geom1="g" geom2="box"/></contact></mujoco>"""
    character = viewer.load(written(tmp_path, text))
    skeleton = character.skeleton
    assert skeleton.names == ("a", "b", "c")
    np.testing.assert_allclose(skeleton.offsets, [[0, 1, 0], [1, 0, 0], [1, 0, 0]], atol=1e-15)
    np.testing.assert_allclose(np.degrees(viewer.coordinate_limits(skeleton)[0]), [-30.0, -np.inf, -np.inf])
    assert [each and each.mass for each in skeleton.inertias] == [2.0, 0.0, 1.0]
    assert character.warnings == (
        'not shown: "assets/m.stl" (no such file) and 1 more: bones are drawn instead',
        'too light, without its meshes: "b"',
    )
    assert character.skin is not None
    assert set(character.skin.joints.tolist()) == {0, 1, 2}
    without = text.replace('<mesh name="m" file="m.stl"/><mesh file="n.stl"/>', "").replace('type="mesh"', 'size=".1"')
    assert viewer.load(written(tmp_path, without.replace('mesh="m"', "").replace('mesh="n"', ""))).warnings == ()


def test_hidden_shapes_are_shown_where_most_bodies_have_no_others(tmp_path: Path) -> None:
    text = """<mujoco><asset><mesh name='m' vertex='0 0 0  1 0 0  0 1 0  0 0 1'/></asset><worldbody>
      <body name='a'><joint/><geom size='.1' group='{}'/><geom type='mesh' mesh='m' group='4'/>
      <body name='b'><joint/><geom size='.2' group='3'/></body>
      <body name='c'><joint/><geom size='.3' group='3'/><geom type='mesh' mesh='m' group='5'/></body></body>
      </worldbody></mujoco>"""
    kept = viewer.load(written(tmp_path, text.replace("group='3'", "group='1'", 1).format(1))).skin
    few = viewer.load(written(tmp_path, text.format(1))).skin
    assert kept is not None
    assert few is not None
    assert set(kept.joints.tolist()) == {0, 1}
    assert set(few.joints.tolist()) == {0, 1, 2}
    corners = [sum(len(mesh.positions) for mesh in skin.meshes) for skin in (kept, few)]
    ball = corners[0] // 2
    assert corners[1] > 2 * ball  # two balls and both meshes; the third ball has a mesh beside it
    assert corners[1] < 3 * ball


LEGGED = """<mujoco><worldbody><body name="trunk"><freejoint/><geom size=".1"/>{trunk}
    <body name="hip"><joint axis="0 1 0"/><geom size=".1"/>
      <body name="foot" pos="0 0 -.5"><joint axis="0 1 0"/><geom size=".1"/>{foot}</body></body>
    <body name="chest" pos="0 0 .5"><joint axis="0 1 0"/><geom size=".1"/>
      <body name="screen" pos=".1 0 0"><geom size=".01"/></body>
      <body name="arm" pos="0 .3 0"><joint axis="0 1 0"/><geom size=".1"/>
        <body name="hand" pos="0 .3 0"><geom size=".1"/>{hand}</body></body></body></body>
  <body name="box" pos="3 0 0"><freejoint/><geom size=".1"/></body></worldbody>{more}</mujoco>"""


@pytest.mark.parametrize(
    ("sites", "found"),
    [
        # A robot whose only site is its inertial sensor, as of many makers: hand and foot are dragged all the same.
        ({"trunk": '<site name="imu"/>'}, ["box", "foot", "hand", "screen"]),
        ({"trunk": '<site name="imu"/><site name="base"/>'}, ["base", "foot", "hand"]),
        ({"foot": '<site name="sole"/>'}, ["sole", "hand"]),
        ({"foot": '<site name="sole"/>', "hand": '<site name="grip"/><site name="ft_sensor"/>'}, ["sole", "grip"]),
        # What a tendon runs through is no place that anybody drags.
        (
            {
                "foot": '<site name="sole"/>', "hand": '<site name="m1"/>', "trunk": '<site name="m2"/>',
                "more": '<tendon><spatial><site site="m1"/><site site="m2"/></spatial></tendon>',
            },
            ["sole", "hand"],
        ),
    ],
)  # fmt: skip
def test_sites_are_effectors_and_so_are_ends_of_limbs_without_any(
    tmp_path: Path, sites: dict[str, str], found: list[str]
) -> None:
    text = LEGGED.format(**{"trunk": "", "foot": "", "hand": "", "more": "", **sites})
    skeleton = viewer.load(written(tmp_path, text)).skeleton
    assert sorted(one.name for one in skeleton.effectors) == sorted(found)
    assert all(one.goal.value == "position" for one in skeleton.effectors)


@pytest.mark.parametrize("name", ["cam", "cam2", "head_cam", "imu"])
def test_last_bodies_that_are_sensors_are_no_effectors(tmp_path: Path, name: str) -> None:
    arm = """<mujoco><worldbody><body name="arm"><joint/><geom size=".1"/><body name="{}"><geom size=".1"/></body>
      {}</body></worldbody></mujoco>"""
    hand = '<body name="hand" pos="0 0 1"><geom size=".1"/></body>'
    for more, found in ((hand, ["hand"]), ("", [name])):  # nothing else could be dragged
        skeleton = viewer.load(written(tmp_path, arm.format(name, more))).skeleton
        assert [one.name for one in skeleton.effectors] == found


def test_last_bodies_end_where_their_shapes_do(tmp_path: Path) -> None:
    """A forearm whose hand is a ball, a foot of two capsules, and one that is a ball inside its ankle."""
    text = """<mujoco><worldbody><body name="body" pos="0 0 1"><freejoint/><geom type="sphere" size="0.1"/>
      <body name="forearm" pos="0.2 0 0.3"><joint axis="0 1 0"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.1 0.1 0"/>
        <geom type="sphere" size="0.04" pos="0.2 0.2 0"/></body>
      <body name="foot" pos="0 0.1 -0.4" quat="0 0 0 1"><joint axis="0 1 0"/>
        <geom type="capsule" size="0.02" fromto="-0.05 0 -0.02 0.15 0 -0.02"/>
        <geom type="capsule" size="0.02" fromto="-0.05 0.02 -0.02 0.14 0.02 -0.02"/></body>
      <body name="other" pos="0 -0.1 -0.4"><joint axis="0 1 0"/><geom type="sphere" size="0.05" pos="0 0 0.1"/></body>
      </body></worldbody></mujoco>"""
    skeleton = viewer.load(written(tmp_path, text)).skeleton
    assert [skeleton.names[joint] for joint in skeleton.tip_parents] == ["forearm", "foot"]
    np.testing.assert_allclose(skeleton.tip_offsets, [(0.2, 0.2, 0.0), (0.15, 0.0, -0.02)], atol=1e-12)


def test_joints_keep_the_names_of_a_robot_and_of_a_model(tmp_path: Path) -> None:
    """The body "arm" is moved by the joint "swing", in the file that was read and in the one written."""
    joints = "".join(
        f'<joint name="{name}" type="prismatic"><parent link="base"/><child link="{child}"/>'
        f'<limit lower="0" upper="1" effort="1" velocity="1"/>{more}</joint>'
        for name, child, more in (("grip", "left", ""), ("follow", "right", '<mimic joint="grip"/>'))
    )
    links = "".join(f'<link name="{name}"/>' for name in ("base", "left", "right"))
    robot = viewer.load(text=f'<robot name="r">{links}{joints}</robot>')
    viewer.save(robot, tmp_path / "robot.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    assert [model.joint(i).name for i in range(model.njnt)] == ["grip", "follow"]
    again = viewer.load(tmp_path / "robot.xml")
    assert again.skeleton.names == robot.skeleton.names
    assert again.source.name_of("right") == "follow"
    assert [(one.joint, one.leader) for one in again.skeleton.mimics] == [("right", "left")]


@pytest.mark.parametrize("kind", [JointKind.FIXED, JointKind.HINGE, JointKind.FREE])
def test_a_root_called_world_keeps_its_name(tmp_path: Path, kind: JointKind) -> None:
    axis = (0, 1, 0) if kind is JointKind.HINGE else None
    robot = viewer.Builder().add("world", None, (0, 0.5, 0), kind=kind, axis=axis)
    robot = robot.add("arm", "world", (0, 0.2, 0), kind="hinge", axis=(1, 0, 0)).add("hand", "arm", (0, 0.2, 0))
    viewer.save(viewer.Character(robot.skeleton), tmp_path / "robot.xml")
    again = viewer.load(tmp_path / "robot.xml")
    assert again.skeleton.names == ("world", "arm", "hand")
    assert again.skeleton.kinds == robot.skeleton.kinds
    assert again.source.name_of("world") == "world"


def test_of_two_bodies_that_stand_for_world_one_is_called_so() -> None:
    bodies = "".join(f'<body name="world/{n}"><joint type="ball"/><geom size="0.1"/></body>' for n in (0, 3))
    model = viewer.load(text=f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    assert model.skeleton.names == ("world", "world/3")


def test_a_chain_too_long_for_elements_inside_elements_is_refused(tmp_path: Path) -> None:
    with pytest.raises(viewer.InputError, match="expected shorter chains of joints: MuJoCo files hold bodies inside"):
        viewer.save(viewer.load("sample:chain-2000"), tmp_path / "chain.xml")
    assert not (tmp_path / "chain.xml").exists()


def test_models_are_read_under_a_lower_limit_of_memory(tmp_path: Path) -> None:
    """As by `ulimit -v`: the process that compiles the model can only lower its own."""
    pytest.importorskip("resource")
    path = written(tmp_path, '<mujoco><worldbody><body name="a"><joint/><geom size="0.1"/></body></worldbody></mujoco>')
    code = (
        "import resource, sys, viewer\n"
        "resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))\n"
        "print(viewer.load(sys.argv[1]).skeleton.names)\n"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert run.stdout == "('a',)\n", run.stderr
