"""Robots from URDF: places by the textbook formula, limits, tools, shapes, and files that are refused with a line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from inside.formats import Shape, primitive, rigid_skin
from inside.skeleton import Mesh, Skin, bodies_of, joint_space
from inside.spatial import conjugate, from_axis_angle, multiply, rotate, to_euler
from rigs import random_pose, random_skeleton

import viewer
from viewer import Builder, FormatError, JointKind, Pose

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <material name="red"><color rgba="0.8 0.1 0.1 1"/></material>
  <link name="base">
    <visual><origin xyz="0 0 0.05"/><geometry><cylinder radius="0.1" length="0.1"/></geometry></visual>
  </link>
  <link name="upper"><visual><geometry><box size="0.1 0.2 0.3"/></geometry><material name="red"/></visual></link>
  <link name="fore"/>
  <link name="slider"/>
  <link name="tool0"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/>
    <axis xyz="0 2 1"/><limit lower="-1.5" upper="1.0" effort="1" velocity="1"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="fore"/><origin xyz="0 0 0.4" rpy="0 1.2 -0.3"/><axis xyz="1 0 0"/>
  </joint>
  <joint name="lift" type="prismatic">
    <parent link="fore"/><child link="slider"/><origin xyz="0.05 0 0.3"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.25" effort="1" velocity="1"/>
  </joint>
  <joint name="flange" type="fixed">
    <parent link="slider"/><child link="tool0"/><origin xyz="0 0 0.1" rpy="0 0 1"/>
  </joint>
</robot>
"""


def loaded(tmp_path: Path, text: str, name: str = "robot.urdf") -> viewer.Character:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return viewer.load(path)


def turn(axis: int, angle: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """A rotation matrix about x, y or z."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    made = np.eye(3)
    made[i, i] = made[j, j] = c
    made[i, j], made[j, i] = -s, s
    return made


def about(axis: tuple[float, float, float], angle: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Rodrigues' formula."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k)


def rpy(roll: float, pitch: float, yaw: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.asarray(turn(2, yaw) @ turn(1, pitch) @ turn(0, roll))


def moved(skeleton: viewer.Skeleton, joint: str, value: float) -> Pose:
    """The rest pose with a joint moved from zero."""
    pose = skeleton.rest_pose()
    here = skeleton.index(joint)
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    axis = skeleton.axes[here, 0]
    if skeleton.kinds[here].value == "slide":
        translations[here] = translations[here] + viewer.quaternions.rotate(skeleton.rest_rotations[here], value * axis)
    else:
        made = np.append(np.sin(value / 2) * axis, np.cos(value / 2))
        rotations[here] = viewer.quaternions.multiply(rotations[here], made)
    return Pose(rotations, translations)


def test_places_are_those_of_the_textbook(tmp_path: Path) -> None:
    skeleton = loaded(tmp_path, ARM).skeleton
    assert skeleton.names == ("base", "upper", "fore", "slider", "tool0")
    assert [kind.value for kind in skeleton.kinds] == ["fixed", "hinge", "hinge", "slide", "fixed"]
    world = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # Z up becomes Y up
    for joint, value in (("upper", 0.7), ("fore", -2.0), ("slider", 0.2)):
        q = {"upper": 0.0, "fore": 0.0, "slider": 0.0, joint: value}
        one = rpy(0.4, -0.5, 0.6) @ about((0, 2, 1), q["upper"])
        two = one @ rpy(0, 1.2, -0.3) @ about((1, 0, 0), q["fore"])
        elbow = np.array([0.1, 0.2, 0.3]) + one @ (0, 0, 0.4)
        slider = elbow + two @ (0.05, 0, 0.3 + q["slider"])
        wanted = [(0, 0, 0), (0.1, 0.2, 0.3), elbow, slider, slider + two @ (0, 0, 0.1)]
        found = viewer.fk(skeleton, moved(skeleton, joint, value))
        np.testing.assert_allclose(found.positions, np.array(wanted) @ world.T, atol=1e-12)


def test_limits_tools_and_shapes(tmp_path: Path) -> None:
    character = loaded(tmp_path, ARM)
    skeleton = character.skeleton
    upper, fore, slider = (skeleton.limits[skeleton.index(name)] for name in ("upper", "fore", "slider"))
    assert fore is None
    assert upper is not None
    assert slider is not None
    assert (upper.lower[0], upper.upper[0]) == (-1.5, 1.0)
    assert (slider.lower[0], slider.upper[0]) == (-0.1, 0.25)
    assert [effector.name for effector in skeleton.effectors] == ["tool0"]
    assert character.warnings == ()
    assert character.limits_from == "file"
    assert character.skin is not None
    cylinder, box = character.skin.meshes
    np.testing.assert_allclose(np.ptp(box.positions, axis=0), (0.1, 0.2, 0.3), atol=1e-6)
    np.testing.assert_allclose(cylinder.positions.mean(axis=0), (0.0, 0.0, 0.05), atol=1e-6)
    assert box.material.colour == (0.8, 0.1, 0.1, 1.0)
    joints = [skeleton.names[character.skin.joints[mesh.bindings[0, 0]]] for mesh in (cylinder, box)]
    assert joints == ["base", "upper"]


@pytest.mark.parametrize(("whole", "odd"), [('size="0.1', 'size="1e100'), ('"0 0 0.05"', '"0 0 1e30"')])
def test_a_shape_beyond_all_figures_is_left_out_and_is_said(tmp_path: Path, whole: str, odd: str) -> None:
    character = loaded(tmp_path, ARM.replace(whole, odd))
    assert character.warnings == ("left out, too small or too large to be drawn: 1 shapes",)
    assert character.skin is not None
    assert len(character.skin.meshes) == 1


def test_a_zero_pose_outside_the_limits_opens_inside_and_is_said(tmp_path: Path) -> None:
    character = loaded(tmp_path, ARM.replace('lower="-1.5" upper="1.0"', 'lower="0.3" upper="1.0"'))
    assert character.warnings == (
        "the zero pose is outside the limits of 1 joint: the robot opens in the nearest pose inside",
    )
    relaxed = character.skeleton.relaxed_pose()
    assert float(viewer.limit_violation(character.skeleton, relaxed).max()) < 1e-12
    assert relaxed.same_as(moved(character.skeleton, "upper", 0.3)) or relaxed.is_near(
        moved(character.skeleton, "upper", 0.3)
    )


def test_meshes_are_found_in_packages_and_nowhere_else(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    package = tmp_path / "my_robot"
    (package / "urdf").mkdir(parents=True)
    (package / "meshes").mkdir()
    (package / "package.xml").write_text("<package/>")
    trimesh.creation.box((0.2, 0.4, 0.6)).export(package / "meshes" / "link.stl")
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "outside.stl")
    (tmp_path / "away").mkdir()
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "away" / "outside.stl")
    visual = '<visual><geometry><mesh filename="{}" scale="2 2 -2"/></geometry></visual>'

    def shown(name: str) -> viewer.Character:
        text = f'<robot name="r"><link name="a">{visual.format(name)}</link></robot>'
        return loaded(package / "urdf", text)

    for name in ("package://my_robot/meshes/link.stl", "../meshes/link.stl", "package://other/x/meshes/link.stl"):
        skin = shown(name).skin
        assert skin is not None, name
        (mesh,) = skin.meshes
        np.testing.assert_allclose(np.ptp(mesh.positions, axis=0), (0.4, 0.8, 1.2), atol=1e-6)
        assert float(np.einsum("ij,ij->i", mesh.positions[mesh.triangles[:, 0]], np.cross(
            mesh.positions[mesh.triangles[:, 1]], mesh.positions[mesh.triangles[:, 2]])).sum()) > 0.0  # fmt: skip
    for name, why in (
        ("../../outside.stl", "outside of the package"),
        (f"file://{tmp_path}/outside.stl", "outside of the package"),
        (str(tmp_path / "outside.stl"), "outside of the package"),
        ("package://my_robot/../outside.stl", "outside of the package"),
        ("package://my_robot/../away/outside.stl", "outside of the package"),
        ("package://../outside.stl", "outside of the package"),
        ("package://./../outside.stl", "outside of the package"),
        ("../meshes/gone.stl", "no such file"),
        ("https://example.com/a.stl", "not a file"),
        ("../package.xml", "meshes are .stl, .dae, .obj, .ply, .glb, .off"),
    ):
        character = shown(name)
        assert character.skin is None
        (warning,) = character.warnings
        assert warning.startswith("not shown: ")
        assert warning.endswith(f'" ({why}): bones are drawn instead')


def test_a_package_is_the_robots_own_before_one_of_the_same_name_elsewhere(tmp_path: Path) -> None:
    """By package.xml, else by the folder's name, the nearest first; without one the robot's own is a copy of it."""
    trimesh = pytest.importorskip("trimesh")

    def package(folder: str, size: float, named: str = "") -> Path:
        (tmp_path / folder / "meshes").mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "urdf").mkdir(exist_ok=True)
        trimesh.creation.box((size,) * 3).export(tmp_path / folder / "meshes" / "link.stl")
        if named:
            (tmp_path / folder / "package.xml").write_text(f"<package><name>{named}</name></package>")
        return tmp_path / folder / "urdf"

    def size_shown(folder: Path) -> float | None:
        mesh = '<mesh filename="package://arm/meshes/link.stl"/>'
        skin = loaded(
            folder, f'<robot name="r"><link name="a"><visual><geometry>{mesh}</geometry></visual></link></robot>'
        ).skin
        return None if skin is None else round(float(np.ptp(skin.meshes[0].positions)), 3)

    stray = tmp_path / "loose" / "robot" / "urdf"
    stray.mkdir(parents=True)
    package("loose", 9.0)
    assert size_shown(stray) is None  # the folder above the file bounds it, two above is another's
    copy = package("arm_edited", 1.0)
    assert size_shown(copy) == 1.0
    package("arm", 2.0)
    assert size_shown(copy) == 2.0  # it does not say that it is the package
    package("arm_edited", 1.0, named="arm")
    assert size_shown(copy) == 1.0
    assert size_shown(package("other", 3.0, named="other")) == 2.0
    package("other/arm", 4.0)
    assert size_shown(tmp_path / "other" / "urdf") == 4.0


def test_links_whose_meshes_are_missing_are_drawn_as_bones(tmp_path: Path) -> None:
    """A figure with a skin is drawn without its own bones: beside a link that has a shape, these would be invisible."""
    gone = '<visual><geometry><mesh filename="gone.stl"/></geometry></visual>'
    character = loaded(tmp_path, ARM.replace('<link name="fore"/>', f'<link name="fore">{gone}</link>'))
    assert character.warnings == ('not shown: "gone.stl" (no such file): bones are drawn instead',)
    assert character.skin is not None
    skeleton, bone = character.skeleton, character.skin.meshes[-1]
    assert skeleton.names[character.skin.joints[bone.bindings[0, 0]]] == "fore"
    children = np.flatnonzero(skeleton.parents == skeleton.index("fore"))
    assert len(children)
    for end in (np.zeros(3), *skeleton.offsets[children]):
        assert float(np.linalg.norm(bone.positions - end, axis=1).min()) < 1e-6


def test_a_colour_that_cannot_be_read_is_no_reason_to_refuse(tmp_path: Path) -> None:
    character = loaded(tmp_path, ARM.replace("0.8 0.1 0.1 1", "0.8 0.1 0.1 0 1"))
    (warning,) = character.warnings
    assert warning.endswith('<color rgba>: expected 4 finite numbers, found "0.8 0.1 0.1 0 1": drawn grey')
    assert warning.startswith("line ")
    assert character.skin is not None
    assert len(character.skin.meshes) == 2


def test_shapes_too_small_for_the_grid_are_left_out() -> None:
    """Of too many triangles: a mesh without any cannot be drawn."""
    pytest.importorskip("trimesh")
    fine, tiny = primitive("sphere", [1.0]), primitive("box", [1e-4] * 3)
    copies = 400_000 // len(fine[1]) + 1
    shapes = [Shape("a", *fine, (1.0, 1.0, 1.0, 1.0))] * copies + [Shape("a", *tiny, (1.0, 1.0, 1.0, 1.0))]
    warnings: list[str] = []
    skin = rigid_skin(shapes, [], viewer.Builder(name="r").add("a").skeleton, warnings)
    assert skin is not None
    assert len(skin.meshes) == copies
    assert len(warnings) == 1


LINKS = '<link name="a"/><link name="b"/><link name="c"/>'


def test_meshes_may_be_left_unread(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "there.stl").write_text("solid nonsense", encoding="utf-8")
    visual = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    text = '<robot name="r"><link name="a">{}</link></robot>'
    path = tmp_path / "robot.urdf"
    path.write_text(text.format(visual.format("there.stl")), encoding="utf-8")
    whole = viewer.load(path)
    assert whole.skin is None
    assert whole.warnings == ('not shown: "there.stl" (no triangles): bones are drawn instead',)
    assert viewer.load(path, meshes=False).warnings == ()
    path.write_text(text.format(visual.format("gone.stl") + BOX), encoding="utf-8")
    bare = viewer.load(path, meshes=False)
    assert bare.skin is None
    assert bare.warnings == ('not shown: "gone.stl" (no such file): bones are drawn instead',)
    path.write_text(text.format(BOX.replace("1 1 1", "1 -1 1")), encoding="utf-8")
    with pytest.raises(FormatError, match="expected 0 or more, found -1"):
        viewer.load(path, meshes=False)


BOX = '<visual><geometry><box size="1 1 1"/></geometry></visual>'


def joint(name: str, parent: str, child: str, more: str = "", word: str = "continuous") -> str:
    return f'<joint name="{name}" type="{word}"><parent link="{parent}"/><child link="{child}"/>{more}</joint>'


def robot(*parts: str) -> str:
    """Three links, and what is given, a line each."""
    return "\n".join([f"<robot name='r'>{LINKS}", *parts, "</robot>"])


FIRST = joint("i", "a", "b")
JOINT_WORDS = "revolute, continuous, prismatic, fixed, floating, planar, spherical"
REFUSED = [
    ("<robot><link name='a'></robot>", "line 1, column 25: expected XML, found an error: mismatched tag"),
    ("hello", "line 1, column 1: expected XML, found an error: syntax error"),
    ("<model/>", "line 1: expected <robot>, found <model>"),
    ("<mujoco/>", "line 1: expected a robot (<robot>), found a MuJoCo model"),
    ("<robot/>", "line 1: expected a link, found none"),
    ('<!DOCTYPE r [<!ENTITY a "b">]><robot/>', "line 1: expected no document type, found <!DOCTYPE"),
    ("<robot>" + "<a>" * 300 + "</a>" * 300 + "</robot>", "line 1: expected XML elements in at most 200 others"),
    ('<robot><link name="a"/>\n<link name="a"/></robot>', 'line 2: expected one link "a", found two'),
    (robot(FIRST), 'line 1: expected one root link, found "a", "c"'),
    (robot(FIRST, joint("j", "a", "d")), 'line 3: joint "j": no link "d"'),
    (
        robot(FIRST, joint("j", "c", "b")),
        'line 3: link "b": expected one joint that moves it, found "i" and "j"',
    ),
    (
        robot(joint("i", "b", "c"), joint("j", "c", "b")),
        'line 3: link "b": expected a way from the root, found a circle of joints',
    ),
    (
        robot(FIRST, joint("j", "b", "c", '<axis xyz="0 0 0"/>')),
        'line 3: joint "j": axis: expected a direction, found the zero vector',
    ),
    (
        robot(FIRST, joint("j", "b", "c", '<limit lower="2" upper="1"/>', "revolute")),
        'line 3: joint "j": expected lower <= upper, found 2 > 1',
    ),
    (
        robot(FIRST, joint("j", "b", "c", '<origin xyz="0 nan 0"/>')),
        'line 3: <origin xyz>: expected 3 finite numbers, found "0 nan 0"',
    ),
    (
        robot(joint("j", "a", "b", word="screw")),
        f'line 2: joint "j": expected {JOINT_WORDS}, found "screw"',
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_files_that_are_refused_say_where(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        loaded(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'robot.urdf'}, {message}")


def test_what_is_not_read_is_said(tmp_path: Path) -> None:
    mimic = joint("i", "a", "b") + joint("j", "b", "c", '<mimic joint="i"/><limit effort="1"/>', "revolute")
    character = loaded(tmp_path, f"<robot name='r'>{LINKS}{mimic}<transmission/><strange/></robot>")
    assert character.warnings == (
        'joint "j" states no limits: it has none',
        "<strange> is not read (1 time)",
    )
    fixed = mimic.replace("continuous", "fixed")
    character = loaded(tmp_path, f"<robot name='r'>{LINKS}{fixed}</robot>")
    assert character.warnings[1] == 'mimic of joint "j": joint "i" is fixed: it moves by itself'


def test_a_robot_is_recognised_by_its_content_and_converts(tmp_path: Path) -> None:
    character = viewer.load(text=ARM)
    assert character.source.format == "urdf"
    out = tmp_path / "arm.json"
    viewer.save(character, out)
    again = viewer.load(out).skeleton
    pose = moved(character.skeleton, "fore", 1.0)
    np.testing.assert_allclose(
        viewer.fk(again, Pose(pose.rotations, pose.translations)).positions,
        viewer.fk(character.skeleton, pose).positions,
        atol=1e-12,
    )


def driven(skeleton: viewer.Skeleton, pose: Pose, read: viewer.Skeleton) -> Pose:
    """The pose of a robot that was written from a skeleton, in which its links are where the skeleton's joints are."""
    rotations, translations = read.rest_rotations.copy(), read.offsets.copy()

    def drive(link: str, angle: float) -> None:
        here = read.index(link)
        rotations[here] = multiply(rotations[here], from_axis_angle(read.axes[here, 0], np.array(angle)))

    for joint, (name, kind) in enumerate(zip(skeleton.names, skeleton.kinds, strict=True)):
        rest, axes, limits = skeleton.rest_rotations[joint], skeleton.axes[joint], skeleton.limits[joint]
        turned = multiply(conjugate(rest), pose.rotations[joint])
        if kind is JointKind.FIXED and skeleton.parents[joint] < 0:
            here = read.index(name)
            rotations[here] = multiply(rotations[here], turned)
        elif kind is JointKind.FREE:
            rotations[read.index(name)], translations[read.index(name)] = (
                pose.rotations[joint],
                pose.translations[joint],
            )
        elif kind is JointKind.BALL:
            order = limits.order if limits is not None and limits.form == "euler" else "xyz"
            for link, angle in zip((f"{name}_1", f"{name}_2", name), to_euler(turned, order).tolist(), strict=True):
                drive(link, angle)
        elif kind is JointKind.SLIDE:
            moved = rotate(conjugate(rest), pose.translations[joint] - skeleton.offsets[joint]) @ axes[0]
            here = read.index(name)
            translations[here] += rotate(read.rest_rotations[here], moved * read.axes[here, 0])
        elif kind is not JointKind.FIXED:
            space = joint_space(skeleton).measure(pose.rotations, pose.translations)
            links = (f"{name}_1", name) if kind is JointKind.UNIVERSAL else (name,)
            for column, link in enumerate(links):
                drive(link, float(space[joint, column]))
    return Pose(rotations, translations)


@pytest.mark.parametrize("seed", range(10))
def test_a_skeleton_that_is_written_as_a_robot_has_its_places(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, int(random.integers(1, 14)))
    viewer.save(viewer.Character(skeleton), tmp_path / "robot.urdf")
    read = viewer.load(tmp_path / "robot.urdf").skeleton
    pose = viewer.project_pose(skeleton, random_pose(random, skeleton), limits=False)
    kinds = np.array([kind in (JointKind.FREE, JointKind.SLIDE) for kind in skeleton.kinds])
    translations = np.where(kinds[:, None], pose.translations, skeleton.offsets)
    pose = Pose(pose.rotations, translations)
    ours, theirs = viewer.fk(skeleton, pose), viewer.fk(read, driven(skeleton, pose, read))
    links = [read.index(name) for name in skeleton.names]
    np.testing.assert_allclose(theirs.positions[links], ours.positions, atol=1e-9)


def test_a_robot_that_was_read_is_written_as_it_was(tmp_path: Path) -> None:
    before = loaded(tmp_path, ARM)
    out = tmp_path / "again.urdf"
    viewer.save(before, out)
    after = viewer.load(out)
    assert after.skeleton.names == before.skeleton.names
    assert after.skeleton.kinds == before.skeleton.kinds
    assert [str(limits) for limits in after.skeleton.limits] == [str(limits) for limits in before.skeleton.limits]
    np.testing.assert_allclose(after.skeleton.offsets, before.skeleton.offsets, atol=1e-15)
    np.testing.assert_allclose(after.skeleton.axes, before.skeleton.axes, atol=1e-15)


def test_joints_keep_their_own_names(tmp_path: Path) -> None:
    """A controller knows the joints of a robot, not the links that they move."""
    arm = loaded(tmp_path, ARM)
    assert arm.source.name_of("fore") == "elbow"
    viewer.save(arm, tmp_path / "arm.csv", joints=True)
    assert (tmp_path / "arm.csv").read_text().splitlines()[0] == "frame,time,shoulder,elbow,lift"
    viewer.save(arm, tmp_path / "again.urdf")
    written = {joint.get("name") for joint in ET.parse(tmp_path / "again.urdf").getroot().iter("joint")}
    assert {"shoulder", "elbow", "lift", "flange"} <= written
    follower = robot(FIRST, joint("j", "a", "c", "<mimic joint='i'/>"))
    viewer.save(loaded(tmp_path, follower), tmp_path / "pair.urdf")
    mimic = next(ET.parse(tmp_path / "pair.urdf").getroot().iter("mimic"))
    assert mimic.get("joint") == "i"


def test_a_joint_of_another_name_is_not_taken_twice(tmp_path: Path) -> None:
    """An effector of one's own may not get a name that the file gives to a joint."""
    text = robot(joint("tool_joint", "a", "b"), joint("j", "b", "c"))
    read = loaded(tmp_path, text)
    more = viewer.Builder(read.skeleton).effector("tool", "c", (0.0, 0.0, 0.1)).skeleton
    viewer.save(viewer.Character(more, source=read.source), tmp_path / "more.urdf")
    names = [one.get("name") for one in ET.parse(tmp_path / "more.urdf").getroot().iter("joint")]
    assert len(names) == len(set(names))
    viewer.load(tmp_path / "more.urdf")


def test_with_raw_units_the_axes_are_those_of_the_file(tmp_path: Path) -> None:
    """As Pinocchio and ROS have them: the base is not turned, for goals neither."""
    path = tmp_path / "arm.urdf"
    path.write_text(ARM, encoding="utf-8")
    raw, turned = viewer.load(path, units="raw"), viewer.load(path)
    assert raw.warnings == turned.warnings
    ours, theirs = (viewer.fk(one.skeleton, one.skeleton.rest_pose()).positions for one in (turned, raw))
    np.testing.assert_allclose(theirs[1], (0.1, 0.2, 0.3), atol=1e-15)
    np.testing.assert_allclose(ours, theirs[:, [0, 2, 1]] * (1, 1, -1), atol=1e-12)
    viewer.save(raw, tmp_path / "again.urdf")
    again = viewer.load(tmp_path / "again.urdf", units="raw").skeleton
    np.testing.assert_allclose(viewer.fk(again, again.rest_pose()).positions, theirs, atol=1e-12)


def test_what_a_robot_does_not_hold_is_said(tmp_path: Path) -> None:
    warnings = viewer.save(viewer.load("sample:walk"), tmp_path / "walk.urdf")
    assert "URDF has no motion: it is left out" in warnings
    assert "URDF has hinges and slides only: 42 links without a body stand in" in warnings


def test_links_that_stand_in_have_names_of_their_own(tmp_path: Path) -> None:
    """A ball needs two; joints, and tools, may have the names that they would get, or that of the base."""
    builder = (
        viewer.Builder(name="arm")
        .add("a", kind="fixed")
        .add("b", "a", (0, 1, 0))
        .add("b_1", "b", (0, 1, 0))
        .add("world", "b_1")
    )
    builder = builder.effector("b_1_1", "world", (0, 0.1, 0))
    arm = builder.skeleton
    warnings = viewer.save(viewer.Character(arm), tmp_path / "arm.urdf")
    assert "URDF has hinges and slides only: 6 links without a body stand in" in warnings
    again = viewer.load(tmp_path / "arm.urdf").skeleton
    assert set(again.names) == {
        *arm.names,
        "b_1_1",
        "b_1_2",
        "b_2",
        "b_1_1_2",
        "b_1_2_2",
        "world_1",
        "world_2",
        "world_3",
    }
    ours, theirs = (viewer.fk(one, one.rest_pose()) for one in (arm, again))
    for name in arm.names:
        np.testing.assert_allclose(theirs.positions[again.index(name)], ours.positions[arm.index(name)], atol=1e-12)


def test_what_other_parsers_of_xml_accept_is_read(tmp_path: Path) -> None:
    """Two hyphens in a comment, a comment before the declaration, no space between attributes; lines stay right."""
    text = """<!-- licence -- of
    someone --> <?xml version="1.0"?>
    <robot name="r"><!-- <link name="off"/> -- off --><link name="a > b"/>
      <link name="c"/><joint name='it"s'type="fixed"><parent link="a > b"/><child link="c"/></joint>
    {more}</robot>"""
    file = tmp_path / "robot.urdf"
    file.write_text(text.format(more=""))
    character = viewer.load(file)
    assert character.skeleton.names == ("a > b", "c")
    assert character.source.joint_names == {"c": 'it"s'}
    file.write_text(text.format(more="<link/>"))
    with pytest.raises(FormatError, match=r"robot\.urdf, line 5: "):
        viewer.load(file)
    file.write_text("<robot>" + "<!-- " * 200_000)
    with pytest.raises(FormatError, match=r"robot\.urdf, line 1, column 17: expected XML, found an error: "):
        viewer.load(file)


def test_prefixes_need_no_declaration(tmp_path: Path) -> None:
    """As in what Gazebo's sensors had: other readers know no namespaces."""
    text = ARM.replace(
        "</robot>",
        '<gazebo reference="hand"><sensor:camera name="rgb"><hfov>50</hfov></sensor:camera></gazebo></robot>',
    )
    (tmp_path / "arm.urdf").write_text(text, encoding="utf-8")
    (tmp_path / "plain.urdf").write_text(ARM, encoding="utf-8")
    found, plain = (viewer.load(tmp_path / name) for name in ("arm.urdf", "plain.urdf"))
    assert found.skeleton.names == plain.skeleton.names
    assert found.warnings == plain.warnings


def test_the_inertia_of_a_body_is_that_of_its_points(tmp_path: Path) -> None:
    """A capsule as many equal points: mass, centre and moments agree with the file's."""
    skeleton = viewer.Builder(name="arm").add("a", kind="fixed").tip("a", (0.1, 0.4, 0.2)).skeleton
    viewer.save(viewer.Character(skeleton), tmp_path / "arm.urdf")
    (capsule,) = bodies_of(skeleton).capsules
    root = ET.parse(tmp_path / "arm.urdf").getroot()
    inertial = next(link for link in root.iter("link") if link.get("name") == "a").find("inertial")
    assert inertial is not None
    a, b, r = np.array(capsule.a), np.array(capsule.b), capsule.radius
    low, high = np.minimum(a, b) - r, np.maximum(a, b) + r
    points = np.random.default_rng(3).uniform(low, high, (400_000, 3))
    along = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)[:, None]
    inside = points[np.linalg.norm(points - a - along * (b - a), axis=1) <= r]
    mass = 1000.0 * len(inside) / len(points) * float(np.prod(high - low))
    away = inside - inside.mean(axis=0)
    moments = mass * ((away**2).sum(axis=1).mean() * np.eye(3) - away.T @ away / len(away))
    found = {name: float(value) for name, value in inertial.find("inertia").items()}  # type: ignore[union-attr]
    np.testing.assert_allclose(float(inertial.find("mass").get("value")), mass, rtol=0.02)  # type: ignore[union-attr,arg-type]
    theirs = [[found["ixx"], found["ixy"], found["ixz"]], [found["ixy"], found["iyy"], found["iyz"]],
              [found["ixz"], found["iyz"], found["izz"]]]  # fmt: skip
    np.testing.assert_allclose(theirs, moments, atol=0.03 * float(np.trace(moments)))


XACRO = """<robot name="chain" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <link name="l0"/>
  <xacro:macro name="more" params="i">
    <link name="l${i}"/>
    <joint name="j${i}" type="continuous">
      <parent link="l${i - 1}"/><child link="l${i}"/><origin xyz="0 0 ${0.1 * i}"/><axis xyz="1 0 0"/>
    </joint>
    <xacro:if value="${i &lt; 4}"><xacro:more i="${i + 1}"/></xacro:if>
  </xacro:macro>
  <xacro:more i="1"/>
</robot>
"""


def test_what_a_xacro_file_alone_lacks_is_said(tmp_path: Path) -> None:
    """Robots are often several files, of which one includes the others, with arguments."""
    pytest.importorskip("xacro")
    with pytest.raises(FormatError) as caught:
        loaded(tmp_path, XACRO.replace('<link name="l0"/>', "").replace('<xacro:more i="1"/>', ""), "part.xacro")
    assert str(caught.value) == (
        f"{tmp_path / 'part.xacro'}: expected a link, found none: macros are opened by the file that includes them"
    )
    with pytest.raises(FormatError) as caught:
        loaded(tmp_path, XACRO.replace('name="chain"', 'name="$(arg name)"'), "ur.xacro")
    assert str(caught.value) == (
        f"{tmp_path / 'ur.xacro'}: xacro refuses it: error: Undefined substitution argument name: "
        "expand it yourself, by `xacro ur.xacro name:=... -o robot.urdf`"
    )


def test_macros_are_carried_out_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xacro")
    skeleton = loaded(tmp_path, XACRO, "chain.xacro").skeleton
    assert skeleton.names == ("l0", "l1", "l2", "l3", "l4")
    np.testing.assert_allclose(viewer.fk(skeleton, skeleton.rest_pose()).positions[-1], (0.0, 1.0, 0.0), atol=1e-12)
    with pytest.raises(FormatError) as caught:
        loaded(tmp_path, XACRO.replace('xacro:more i="1"', 'xacro:mor i="1"'), "wrong.xacro")
    assert str(caught.value) == f"{tmp_path / 'wrong.xacro'}: xacro refuses it: error: unknown macro name: xacro:mor"
    with pytest.raises(FormatError) as caught:
        loaded(tmp_path, XACRO.replace('<xacro:more i="1"/>', '<link name="apart"/>', 1), "apart.xacro")
    assert ": line 8 of what xacro makes of it: expected one root link, found" in str(caught.value)
    monkeypatch.setattr("viewer.formats.urdf._SECONDS", 1.0)
    endless = XACRO.replace("0.1 * i", "0.1 * len([0 for _ in range(10**10)])")
    with pytest.raises(FormatError, match="xacro took more than 1 s"):
        loaded(tmp_path, endless, "endless.xacro")


def test_macros_that_need_too_much_memory_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    pytest.importorskip("resource")
    with pytest.raises(FormatError) as caught:
        loaded(tmp_path, XACRO.replace("0.1 * i", "len('a' * 10**10)"), "large.xacro")
    said = "xacro refuses it: it needs more than 2 GiB of memory"
    assert str(caught.value) == f"{tmp_path / 'large.xacro'}: {said}"


def test_a_broken_xacro_is_said_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that expands macros looks for modules where this one does."""
    (tmp_path / "xacro.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(FormatError) as caught:
        loaded(tmp_path, XACRO, "a.xacro")
    assert ": xacro refuses it: ModuleNotFoundError: No module named 'xacro.substitution_args'" in str(caught.value)


@pytest.mark.parametrize("place", ["arms_description", "copied", "arms"])
def test_packages_of_macros_are_found_without_ros(tmp_path: Path, place: str) -> None:
    pytest.importorskip("xacro")
    (tmp_path / place / "urdf").mkdir(parents=True)
    (tmp_path / "parts" / "more").mkdir(parents=True)
    if place == "arms":  # named by its package.xml
        (tmp_path / place / "package.xml").write_text("<package><name> arms_description </name></package>")
    include = '<xacro:include filename="$(find arms_description)/urdf/more.xacro"/>'
    begin, _, rest = XACRO.partition("  <xacro:macro")
    macro, end, last = rest.partition("</xacro:macro>\n")
    (tmp_path / place / "urdf" / "more.xacro").write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="$(find parts)/more/empty.xacro"/>'
        f"<xacro:macro{macro}{end}</robot>"
    )
    (tmp_path / "parts" / "more" / "empty.xacro").write_text("<robot/>")
    path = tmp_path / place / "urdf" / "chain.xacro"
    path.write_text(f"{begin}{include}{last}")
    assert viewer.load(path).skeleton.names == ("l0", "l1", "l2", "l3", "l4")
    path.write_text(f"{begin}{include.replace('arms_description', 'legs')}{last}".replace("more.xacro", "less.xacro"))
    with pytest.raises(FormatError) as caught:
        viewer.load(path)
    assert str(caught.value) == (
        f'{path}: xacro refuses it: package "legs": expected its folder beside or above the file, '
        "or in ROS_PACKAGE_PATH, found none"
    )


def test_what_others_pass_over_around_a_document_is_no_error(tmp_path: Path) -> None:
    text = '\n \n<?xml version="1.0"?>\n<robot name="one">\n  <link name="a"/>\n</robot>\n\0\0'
    assert loaded(tmp_path, text).skeleton.names == ("a",)
    with pytest.raises(FormatError, match="line 5: expected the attribute"):
        loaded(tmp_path, text.replace(' name="a"', ""))


def test_a_spherical_joint_is_a_ball_whose_limits_are_said_not_to_be_read(tmp_path: Path) -> None:
    joint = (
        '<joint name="neck" type="spherical"><parent link="a"/><child link="b"/><axis xyz="0 0 0"/>'
        '<limit lower="0.2" upper="0.8"/></joint>'
    )
    character = loaded(tmp_path, f'<robot name="one"><link name="a"/><link name="b"/>{joint}</robot>')
    assert character.skeleton.kinds[1] is viewer.JointKind.BALL
    assert character.skeleton.limits[1] is None
    assert 'joint "neck": limits of spherical joints are not read' in character.warnings


def test_without_xacro_the_line_that_installs_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.formats.urdf.is_installed", lambda _: False)
    with pytest.raises(viewer.MachineError, match=r"reading it needs xacro: pip install 'ikviewer\[robots\]'"):
        loaded(tmp_path, XACRO, "chain.xacro")


def test_the_shapes_of_a_robot_are_written_as_gltf_and_follow_its_joints(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    character = loaded(tmp_path, ARM)
    out = tmp_path / "arm.glb"
    assert not any("skin" in warning for warning in viewer.save(character, out))
    again = viewer.load(out)
    assert again.skin is not None
    assert character.skin is not None
    pose = moved(character.skeleton, "upper", 0.8)
    for before, after in zip(character.skin.meshes, again.skin.meshes, strict=True):
        np.testing.assert_allclose(after.material.colour, before.material.colour, atol=1e-6)
        a = skinned(character.skin, before, viewer.fk(character.skeleton, pose))[before.triangles]
        b = skinned(again.skin, after, viewer.fk(again.skeleton, Pose(pose.rotations, pose.translations)))
        np.testing.assert_allclose(b[after.triangles], a, atol=1e-6)
    scene = trimesh.load(out)
    world = viewer.fk(character.skeleton, character.skeleton.rest_pose())
    every = np.concatenate([skinned(character.skin, mesh, world) for mesh in character.skin.meshes])
    np.testing.assert_allclose(scene.bounds, [every.min(axis=0), every.max(axis=0)], atol=1e-5)


def skinned(skin: Skin, mesh: Mesh, world: viewer.World) -> np.ndarray[Any, Any]:
    """World positions (V, 3) of a mesh, vertex by vertex."""
    found = np.zeros((len(mesh.positions), 3))
    for vertex, (bindings, weights) in enumerate(zip(mesh.bindings, mesh.weights, strict=True)):
        for binding, weight in zip(bindings.tolist(), weights.tolist(), strict=True):
            joint = int(skin.joints[binding])
            local = skin.transforms[binding] @ np.append(mesh.positions[vertex], 1.0)
            found[vertex] += weight * world.point(joint, local)
    return found


WIDE = [("-6.283185307179586", "6.283185307179586"), ("-10.0", "10.0"), ("-1e+16", "1e+16"), ("-3.0", "12.0")]


def turning(lower: str, upper: str) -> str:
    limit = f'<limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/>'
    return f'<robot name="r"><link name="a"/><link name="b"/>{joint("j", "a", "b", limit, "revolute")}</robot>'


@pytest.mark.parametrize(("lower", "upper"), WIDE)
def test_ranges_that_no_pose_leaves_are_written_as_they_were(lower: str, upper: str, tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(turning(lower, upper), encoding="utf-8")
    character = viewer.load(tmp_path / "r.urdf")
    viewer.save(character, tmp_path / "again.urdf")
    made = next(ET.parse(tmp_path / "again.urdf").iter("joint"))
    limit = made.find("limit")
    assert limit is not None
    assert (made.get("type"), limit.get("lower"), limit.get("upper")) == ("revolute", lower, upper)
    limited = Builder(character.skeleton).change("b", limits=(-1.0, 1.0)).skeleton
    viewer.save(replace(character, skeleton=limited), tmp_path / "again.urdf")
    limits = viewer.load(tmp_path / "again.urdf").skeleton.limits[1]
    assert limits is not None
    assert (limits.lower.tolist(), limits.upper.tolist()) == ([-1.0], [1.0])


def test_a_range_all_around_of_other_files_is_one_of_urdf(tmp_path: Path) -> None:
    wide = viewer.JointLimits.coordinates((-np.inf, np.inf))
    builder = Builder().add("a", kind="fixed")
    builder.add("b", "a", (0, 1, 0), kind="hinge", axis=(1, 0, 0), limits=wide)
    builder.add("c", "b", (0, 1, 0), kind="hinge", axis=(1, 0, 0))
    viewer.save(viewer.Character(builder.skeleton), tmp_path / "r.urdf")
    words = [(one.get("type"), one.find("limit") is not None) for one in ET.parse(tmp_path / "r.urdf").iter("joint")]
    assert words[-2:] == [("revolute", True), ("continuous", False)]
    again = viewer.load(tmp_path / "r.urdf").skeleton
    stated = again.limits[again.index("b")]
    assert stated is not None
    assert stated.upper.tolist() == [np.inf]
    assert again.limits[again.index("c")] is None


@pytest.mark.parametrize(("suffix", "form"), [("urdf", "URDF"), ("xml", "MJCF")])
def test_names_that_xml_cannot_hold_are_refused(tmp_path: Path, suffix: str, form: str) -> None:
    skeleton = Builder(name="arm").add("up\x01per").add("lower", "up\x01per", (0, 1, 0)).skeleton
    file = tmp_path / f"arm.{suffix}"
    with pytest.raises(viewer.InputError) as caught:
        viewer.save(viewer.Character(skeleton), file)
    found = r'expected names of printable letters, found "up\x01per"'
    assert str(caught.value) == f"{file}: cannot be written as {form}: {found}"
    assert not file.exists()
