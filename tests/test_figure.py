"""Recognising a figure: by the names of every convention, by shape where names say nothing, and what is none.

What is no figure: machines, animals, claws, spiders, points; and two people in one file are not mixed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from figures import JOINTS, inserted, nameless, person, random_turns, reframed, renamed, turned, without
from inside.skeleton import Figure, chain, find_figure, flexion_axis
from inside.spatial import IDENTITY, from_axis_angle, rotate

from viewer import Builder, JointKind, JointLimits, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inside.spatial import Floats

    from viewer.skeleton import Skeleton


PARTS = ("Shoulder", "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot", "Toe")
CONVENTIONS: dict[str, tuple[str, str]] = {
    # Convention: how a left limb's joints are called, and the trunk's.
    "Mixamo": ("mixamorig:Left*", "Shoulder Arm ForeArm Hand UpLeg Leg Foot ToeBase; Hips Spine Spine1 Neck Head"),
    "studio": ("Left*", "Collar Shoulder Elbow Wrist Hip Knee Ankle Toe; Hips Chest Chest2 Neck Head"),
    "Blender": ("*.L", "shoulder upper_arm forearm hand thigh shin foot toe; pelvis spine chest neck head"),
    "Unreal": ("*_l", "clavicle upperarm lowerarm hand thigh calf foot ball; pelvis spine_01 spine_02 neck_01 head"),
    "SMPL": ("L_*", "Collar Shoulder Elbow Wrist Hip Knee Ankle Foot; Pelvis Spine1 Spine3 Neck Head"),
    "3ds Max": (
        "Bip01 L *", "Clavicle UpperArm Forearm Hand Thigh Calf Foot Toe0; Bip01 Spine Spine1 Bip01_Neck Bip01_Head"
    ),
    "VRM": ("J_Bip_L_*", "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot ToeBase; Hips Spine Chest Neck Head"),
    "ASF": ("l*", "clavicle humerus radius hand femur tibia foot toes; root lowerback thorax lowerneck head"),
    "Bandai": ("*_L", "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot Toes; Hips Spine Chest Neck Head"),
}  # fmt: skip
SIDES = {"Left": "Right", ".L": ".R", "_l": "_r", "L_": "R_", " L ": " R ", "_L_": "_R_", "l": "r", "_L": "_R"}


def translation(convention: str) -> dict[str, str]:
    """From our person's names to a convention's."""
    pattern, words = CONVENTIONS[convention]
    limbs, trunk = (part.split() for part in words.split(";"))
    mark = next(mark for mark in sorted(SIDES, key=len, reverse=True) if mark in pattern.replace("*", ""))
    names = dict(zip(JOINTS[:5], trunk, strict=True))
    for part, word in zip(PARTS, limbs, strict=True):
        names[f"Left{part}"] = pattern.replace("*", word)
        names[f"Right{part}"] = pattern.replace(mark, SIDES[mark]).replace("*", word)
    return names


def described(skeleton: Skeleton, figure: Figure, back: Callable[[str], str]) -> dict[str, list[str | None]]:
    """A figure in our person's names."""

    def name(joint: int | None) -> str | None:
        return None if joint is None else back(skeleton.names[joint])

    result: dict[str, list[str | None]] = {
        "trunk": [name(joint) for joint in (figure.root, figure.pelvis, figure.chest, figure.head)],
        "spine": [name(joint) for joint in figure.spine],
        "neck": [name(joint) for joint in figure.neck],
    }
    for limb in figure.limbs:
        line = [*limb.girdle, limb.upper, limb.lower, limb.end, *([limb.toe] if limb.toe is not None else [])]
        result[f"{limb.side} {limb.kind}"] = [name(joint) for joint in line]
    return result


OURS: dict[str, list[str | None]] = {
    "trunk": ["Hips", "Hips", "Chest", "Head"],
    "spine": ["Spine", "Chest"],
    "neck": ["Neck"],
    "left arm": ["LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand"],
    "right arm": ["RightShoulder", "RightArm", "RightForeArm", "RightHand"],
    "left leg": ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToe"],
    "right leg": ["RightUpLeg", "RightLeg", "RightFoot", "RightToe"],
}


def found(skeleton: Skeleton) -> Figure:
    figure = find_figure(skeleton)
    assert figure is not None
    return figure


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_convention_names_the_same_figure(convention: str) -> None:
    words = translation(convention)
    skeleton = renamed(person(), words.__getitem__)
    back = {word: name for name, word in words.items()}
    figure = found(skeleton)
    assert described(skeleton, figure, back.__getitem__) == OURS
    assert all(limb.named for limb in figure.limbs)


@pytest.mark.parametrize("arms_down", [0.0, 45.0, 90.0])
def test_without_names_the_shape_tells_the_same(arms_down: float) -> None:
    named = person(arms_down)
    skeleton = nameless(named)
    figure = found(skeleton)
    back = dict(zip(skeleton.names, named.names, strict=True))
    assert described(skeleton, figure, back.__getitem__) == OURS
    assert not any(limb.named for limb in figure.limbs)
    np.testing.assert_allclose([figure.left, figure.up, figure.forward], np.eye(3), atol=1e-12)


def test_legs_by_name_and_arms_by_shape() -> None:
    def half(name: str) -> str:
        return name if "Leg" in name or "Foot" in name else f"part{JOINTS.index(name)}"

    skeleton = renamed(person(), half)
    figure = found(skeleton)
    assert [limb.named for limb in figure.limbs] == [False, False, True, True]
    assert described(skeleton, figure, dict(zip(skeleton.names, JOINTS, strict=True)).__getitem__) == OURS


def test_joint_frames_do_not_matter() -> None:
    for seed in range(5):
        skeleton = reframed(nameless(person()), random_turns(len(JOINTS), seed))
        figure = found(skeleton)
        assert described(skeleton, figure, dict(zip(skeleton.names, JOINTS, strict=True)).__getitem__) == OURS


@pytest.mark.parametrize("axis", np.eye(3).tolist())
@pytest.mark.parametrize("quarter_turns", [1, 2, 3])
def test_the_axes_turn_with_the_figure(axis: list[float], quarter_turns: int) -> None:
    turn = from_axis_angle(axis, quarter_turns * np.pi / 2)
    expected = rotate(turn, np.eye(3))
    on_its_head = expected[1, 1] < -0.5  # then what hangs lowest are the arms: only names can tell
    for skeleton in (person(),) if on_its_head else (person(), nameless(person())):
        figure = found(turned(skeleton, turn))
        np.testing.assert_allclose([figure.left, figure.up, figure.forward], expected, atol=1e-12)
        assert figure.upright


def test_a_lean_is_not_another_up() -> None:
    leaning = turned(person(), from_axis_angle((1.0, 0.0, 0.0), np.radians(12.0)))
    np.testing.assert_allclose(found(leaning).up, (0.0, 1.0, 0.0), atol=1e-12)


def test_feet_tell_where_a_figure_faces_whatever_its_sides_are_called() -> None:
    swapped = renamed(person(), lambda name: name if name in JOINTS[:5] else _other(name))
    figure = found(swapped)
    np.testing.assert_allclose(figure.forward, (0.0, 0.0, 1.0), atol=1e-12)
    assert {limb.side for limb in figure.legs} == {"left", "right"}


def _other(name: str) -> str:
    return name.replace("Left", "X").replace("Right", "Left").replace("X", "Right")


def test_legs_alone_and_arms_alone_are_figures() -> None:
    legs = found(without(person(), "Shoulder", "Arm", "Hand"))
    assert [limb.kind for limb in legs.limbs] == ["leg", "leg"]
    arms = found(without(person(), "Leg", "Foot", "Toe"))
    assert [limb.kind for limb in arms.limbs] == ["arm", "arm"]
    assert arms.head is not None
    bare = found(nameless(without(person(), "Shoulder", "Arm", "Hand", "Neck", "Head")))
    assert [limb.kind for limb in bare.limbs] == ["leg", "leg"]


def test_a_head_is_found_by_name_or_on_top() -> None:
    assert found(without(person(), "Head")).head is not None
    assert found(without(person(), "Neck", "Head")).head is None
    assert found(nameless(person())).head == JOINTS.index("Head")


def test_lower_bones_may_end_in_end_sites() -> None:
    skeleton = without(person(), "Foot", "Toe", "Hand")
    knees = [skeleton.index(name) for name in ("LeftForeArm", "LeftLeg", "RightForeArm", "RightLeg")]
    tips = np.array([[0.26, 0, 0], [0, -0.42, 0], [-0.26, 0, 0], [0, -0.42, 0]])
    parents = np.concatenate([skeleton.tip_parents, knees])
    order = np.argsort(parents, kind="stable")
    offsets = np.concatenate([skeleton.tip_offsets, tips])[order]
    skeleton = replace(skeleton, tip_parents=parents[order], tip_offsets=offsets)
    for figure in (found(skeleton), found(nameless(skeleton))):
        assert [limb.end for limb in figure.limbs] == [None] * 4
        assert [skeleton.names[limb.lower] for limb in figure.legs] == ["LeftLeg", "RightLeg"]


def test_joints_of_no_length_and_twist_bones_are_passed_over() -> None:
    skeleton = person()
    for side in ("Left", "Right"):
        skeleton = inserted(skeleton, f"{side}UpLeg", f"{side[0]}HipJoint", 0.0)
        skeleton = inserted(skeleton, f"{side}Hand", f"{side}ForeArmRoll", 0.5)
        skeleton = inserted(skeleton, f"{side}Leg", f"{side}UpLegTwist", 0.5)
    ours = OURS.copy()
    for side in ("left", "right"):
        ours[f"{side} leg"] = [f"{side[0].upper()}HipJoint", *OURS[f"{side} leg"]]
    assert described(skeleton, found(skeleton), str) == ours


def test_fingers_and_weapons_do_not_mislead_the_shape() -> None:
    named = load("sample:biped-hands").skeleton
    skeleton = replace(nameless(named), poses={})
    back = dict(zip(skeleton.names, named.names, strict=True))
    by_shape, by_name = found(skeleton), found(named)
    assert described(skeleton, by_shape, back.__getitem__) == described(named, by_name, str)


FACTS = {
    "aitviewer_sample": "LeftShoulder LeftElbow LeftWrist LeftHip LeftKnee LeftAnkle",
    "assimp_cmu_01_01": "LeftArm LeftForeArm LeftHand LeftUpLeg LeftLeg LeftFoot",
    "axisneuron_test": "LeftArm LeftForeArm LeftHand LeftUpLeg LeftLeg LeftFoot",
    "bandai1_bow_active_001": "UpperArm_L LowerArm_L Hand_L UpperLeg_L LowerLeg_L Foot_L",
    "blender_cmu_native": "LeftArm LeftForeArm LeftHand LeftUpLeg LeftLeg LeftFoot",
    "bvhio_example": "LeftUpArm LeftLowArm LeftHand LeftUpLeg LeftLowLeg LeftFoot",
    "bvhpython_mocapbank": "LeftShoulder LeftElbow LeftWrist LeftHip LeftKnee LeftAnkle",
    "pybvh_example": "LeftArm LeftForeArm LeftHand LeftUpLeg LeftLeg LeftFoot",
    "blender_two_roots_unicode": "",
    "fairmotion_sinusoidal": "",
    "pybvh_rotation_first_root": "",
}


@pytest.mark.parametrize("stem", FACTS)
def test_the_limbs_of_real_files(shared: Path, stem: str) -> None:
    skeleton = load(shared / "data" / "bvh" / f"{stem}.bvh").skeleton
    figure = find_figure(skeleton)
    if not FACTS[stem]:
        assert figure is None
        return
    assert figure is not None
    left = [limb for limb in figure.limbs if limb.side == "left"]
    line = [skeleton.names[j] for limb in left for j in (limb.upper, limb.lower, limb.end) if j is not None]
    assert line == FACTS[stem].split()
    assert figure.upright == (stem != "bandai1_bow_active_001")
    by_shape = find_figure(nameless(skeleton))
    if figure.upright:
        assert by_shape is not None
        assert [(limb.upper, limb.lower, limb.end) for limb in by_shape.limbs] == [
            (limb.upper, limb.lower, limb.end) for limb in figure.limbs
        ]


def robot(imu: float = 0.0, names: tuple[str, ...] = ("hand",)) -> Skeleton:
    """A person of plain names who faces Z, with a sensor so far behind each ankle, and links at the ends of arms."""
    builder = Builder(name="robot")
    builder.add("pelvis", None, (0, 0.9, 0), kind="free")
    builder.add("chest", "pelvis", (0, 0.4, 0))
    builder.add("head", "chest", (0, 0.3, 0))
    for side, x in (("left", 0.1), ("right", -0.1)):
        builder.add(f"{side}_thigh", "pelvis", (x, -0.05, 0))
        builder.add(f"{side}_shin", f"{side}_thigh", (0, -0.4, 0))
        builder.add(f"{side}_foot", f"{side}_shin", (0, -0.4, 0))
        builder.add(f"{side}_imu", f"{side}_foot", (0, 0, -imu))
        builder.add(f"{side}_arm_1", "chest", (2 * x, 0.1, 0))
        builder.add(f"{side}_arm_2", f"{side}_arm_1", (0, -0.3, 0))
        above, offset = f"{side}_arm_2", (0.0, -0.25, 0.0)
        for name in names:
            builder.add(f"{side}_{name}", above, offset)
            above, offset = f"{side}_{name}", (0.0, -0.04, 0.0)
    return builder.skeleton


@pytest.mark.parametrize(("imu", "faces"), [(0.03, 1.0), (0.15, -1.0)])
def test_a_sensor_in_a_foot_does_not_show_where_it_points(imu: float, faces: float) -> None:
    figure = find_figure(robot(imu))
    assert figure is not None
    np.testing.assert_allclose(figure.forward, (0.0, 0.0, faces), atol=1e-12)


def test_what_is_between_two_links_of_a_wrist_is_no_forearm() -> None:
    skeleton = robot(names=("arm_3", "arm_4", "wrist"))
    figure = find_figure(skeleton)
    assert figure is not None
    for arm in figure.arms:
        assert skeleton.names[arm.upper] == f"{arm.side}_arm_1"
        assert skeleton.names[arm.lower] == f"{arm.side}_arm_2"


def test_twin_legs_without_names_stand_on_the_sides_that_they_say() -> None:
    builder = Builder(name="robot")
    builder.add("base", None, (0, 0.9, 0), kind="free")
    for side, x in (("right", -0.1), ("left", 0.1)):
        for number, offset in enumerate(((x, -0.05, 0), (0, -0.4, 0), (0, -0.4, 0))):
            builder.add(f"{side}_link_{number}", f"{side}_link_{number - 1}" if number else "base", offset)
        for number, offset in enumerate(((2 * x, 0.5, 0), (0, -0.3, 0), (0, -0.3, 0))):
            name = f"{side}_arm_{number}" if number < 2 else f"{side}_wrist"
            builder.add(name, f"{side}_arm_{number - 1}" if number else "base", offset)
    figure = find_figure(builder.skeleton)
    assert figure is not None
    assert [builder.skeleton.names[leg.upper] for leg in figure.legs] == ["left_link_0", "right_link_0"]
    np.testing.assert_allclose(figure.left, (1.0, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(figure.forward, (0.0, 0.0, 1.0), atol=1e-12)


@pytest.mark.parametrize("bent", [-100.0, -30.0, 0.0, 60.0, 100.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_hinges_flex_to_the_longer_side_of_straight_however_they_are_bent_at_rest(bent: float, sign: float) -> None:
    """By the limits, which count from the rest pose: an elbow that is bent there by a right angle can be stretched."""
    skeleton = robot()
    turns, limits, kinds = skeleton.rest_rotations.copy(), list(skeleton.limits), list(skeleton.kinds)
    axes = skeleton.axes.copy()
    for side in ("left", "right"):
        elbow = skeleton.index(f"{side}_arm_2")
        # Forearms that hang and are turned about -X go forward.
        turns[elbow] = from_axis_angle(np.array((-1.0, 0.0, 0.0)), np.radians(bent))
        kinds[elbow], axes[elbow, 0] = JointKind.HINGE, (-sign, 0.0, 0.0)
        ends = sorted(sign * np.radians((-5.0 - bent, 140.0 - bent)))
        limits[elbow] = JointLimits.coordinates((float(ends[0]), float(ends[1])))
    skeleton = replace(skeleton, rest_rotations=turns, limits=tuple(limits), kinds=tuple(kinds), axes=axes)
    figure = find_figure(skeleton)
    assert figure is not None
    for arm in figure.arms:
        axis = flexion_axis(skeleton, figure, arm)
        assert axis is not None
        np.testing.assert_allclose(axis, (-1.0, 0.0, 0.0), atol=1e-12)


@pytest.mark.parametrize("sample", ["claw-arm", "two-link", "piston", "serpent", "raptor", "quadruped", "chain-40"])
def test_machines_and_animals_are_none(sample: str) -> None:
    skeleton = load(f"sample:{sample}").skeleton
    assert find_figure(skeleton) is None
    assert find_figure(nameless(skeleton)) is None


def test_a_quadruped_with_the_names_of_a_person_is_none() -> None:
    skeleton = person(90.0)
    offsets = skeleton.offsets.copy()
    for name in ("Spine", "Chest", "Neck"):
        offsets[skeleton.index(name)] = (0.0, 0.0, 0.25)
    assert find_figure(replace(skeleton, offsets=offsets)) is None


def test_a_waist_that_turns_in_the_place_of_the_pelvis_makes_no_quadruped() -> None:
    """As of robots whose chest turns above a pelvis: its spine has no length, so shoulders and hips tell which way."""
    skeleton = person(90.0)
    offsets = skeleton.offsets.copy()
    for name in ("Spine", "Chest"):
        offsets[skeleton.index(name)] = 0.0
    for side in ("Left", "Right"):
        offsets[skeleton.index(f"{side}Shoulder"), 1] += 0.4
    figure = find_figure(replace(skeleton, offsets=offsets))
    assert figure is not None
    assert len(figure.legs) == 2


def test_a_spider_a_lone_joint_and_a_point_are_none() -> None:
    legs = [rotate(from_axis_angle((0, 1, 0), k * np.pi / 4), (0.2, 0.0, 0.0)) for k in range(8)]
    offsets = [np.zeros(3)]
    parents = [-1]
    for leg in legs:
        parents += [0, len(parents), len(parents) + 1]
        offsets += [leg, leg, np.add(leg, (0.0, -0.2, 0.0))]
    spider = _bare(parents, np.array(offsets))
    assert find_figure(spider) is None
    assert find_figure(_bare([-1], np.zeros((1, 3)))) is None
    assert find_figure(replace(person(), offsets=np.zeros((len(JOINTS), 3)), tip_offsets=np.zeros((5, 3)))) is None


def test_a_gripper_on_an_arm_is_none_and_a_torso_is() -> None:
    finger = [(0.05, 0.1, 0.0), (0.0, 0.12, 0.0), (0.0, 0.1, 0.0)]
    mirrored = [(-x, y, z) for x, y, z in finger]
    parents = [-1, 0, 1, 2, 3, 4, 2, 6, 7]
    gripper = _bare(parents, np.array([(0, 0, 0), (0, 0.4, 0), (0, 0.35, 0), *finger, *mirrored], dtype=np.float64))
    assert find_figure(gripper) is None
    arms = _bare(parents, np.array([(0, 0, 0), (0, 0.1, 0), (0, 0.05, 0), *finger, *mirrored], dtype=np.float64))
    assert find_figure(arms) is not None


def _bare(parents: list[int], offsets: Floats) -> Skeleton:
    count = len(parents)
    return replace(
        chain(1),
        names=tuple(f"joint{joint}" for joint in range(count)),
        parents=np.array(parents),
        offsets=offsets,
        rest_rotations=np.tile(IDENTITY, (count, 1)),
        kinds=(JointKind.BALL,) * count,
        axes=np.zeros((count, 2, 3)),
        limits=(None,) * count,
        stiffness=np.zeros(count),
        tip_parents=np.zeros(0, dtype=np.intp),
        tip_offsets=np.zeros((0, 3)),
        effectors=(),
        poses={},
    )


def test_two_people_in_one_file_are_not_mixed() -> None:
    # Left limbs of one and right limbs of the other have no joint in common.
    one = person()
    count = len(one)
    first = tuple(name.replace("Right", "Other") for name in one.names)
    second = tuple(name.replace("Left", "Another") + "_b" for name in one.names)
    both = replace(
        one,
        names=(*first, *second),
        parents=np.concatenate([one.parents, np.where(one.parents < 0, -1, one.parents + count)]),
        offsets=np.tile(one.offsets, (2, 1)),
        rest_rotations=np.tile(one.rest_rotations, (2, 1)),
        axes=np.tile(one.axes, (2, 1, 1)),
        stiffness=np.tile(one.stiffness, 2),
        kinds=one.kinds * 2,
        limits=one.limits * 2,
        tip_parents=np.concatenate([one.tip_parents, one.tip_parents + count]),
        tip_offsets=np.tile(one.tip_offsets, (2, 1)),
    )
    figure = find_figure(both)
    assert figure is None or len({limb.upper // count for limb in figure.limbs}) == 1


def test_deep_chains_are_measured_at_once() -> None:
    assert find_figure(chain(5000)) is None
