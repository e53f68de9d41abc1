"""Robots' hips, shoulders and wrists of several hinges get a motion as balls do.

Three hinges whose bone passes near the first of their axes: slow, and off by little.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
import pytest
from inside.motion import Ranges, Size, nearest_two, path_angles, three_angles, turn_of, without_stacks
from inside.skeleton import find_figure
from inside.spatial import Floats, conjugate, exp, from_axis_angle, log, multiply, normalized, rotate, vectors

import viewer
from viewer import Clip, JointKind, Skeleton
from viewer.motion import retarget
from viewer.skeleton import World, fk_clip

unit = vectors.unit


def of_hinges(skeleton: Skeleton, apart: float = 0.0, *, toes: bool = True) -> Skeleton:
    """The skeleton with three hinges in place of each ball below the root: the last has its name.

    The third is away from where the axes meet, along its own.
    """
    builder = viewer.Builder(name="robot")
    beyond = dict.fromkeys(skeleton.names, 0.0)
    for joint, name in enumerate(skeleton.names):
        if "Toe" in name and not toes:
            continue
        parent = int(skeleton.parents[joint])
        above = skeleton.names[parent] if parent >= 0 else None
        offset, rotation = np.array(skeleton.offsets[joint]), skeleton.rest_rotations[joint]
        if above is not None:
            offset[1] -= beyond[above]
        kind = skeleton.kinds[joint]
        if kind is not JointKind.BALL:
            axis = skeleton.axes[joint, 0] if kind is JointKind.HINGE else None
            builder.add(name, above, offset, kind=kind, axis=axis, rotation=rotation)
            continue
        builder.add(f"{name}_1", above, offset, kind="hinge", axis=(0.0, 0.0, 1.0), rotation=rotation)
        builder.add(f"{name}_2", f"{name}_1", kind="hinge", axis=(1.0, 0.0, 0.0))
        builder.add(name, f"{name}_2", (0.0, apart, 0.0), kind="hinge", axis=(0.0, 1.0, 0.0))
        beyond[name] = apart
    for joint, offset in zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True):
        if "Toe" not in skeleton.names[joint] or toes:
            builder.tip(skeleton.names[joint], offset - (0.0, beyond[skeleton.names[joint]], 0.0))
    return builder.skeleton


def moved(character: viewer.Character) -> World:
    assert character.clip is not None
    return fk_clip(character.skeleton, character.clip)


@pytest.mark.parametrize("apart", [0.0, 0.05])
@pytest.mark.parametrize("feet", ["plant", "follow", "off"])
def test_a_motion_on_hinges_is_that_on_balls(apart: float, feet: Literal["plant", "follow", "off"]) -> None:
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped").skeleton
    balls = dataclasses.replace(biped, limits=(None,) * len(biped), effectors=(), poses={}, mobility=None)
    hinges = of_hinges(balls, apart)
    wanted = retarget(walk, viewer.Character(balls), feet=feet)
    found = retarget(walk, viewer.Character(hinges), feet=feet)
    assert dict(found.map.pairs) == dict(wanted.map.pairs)
    assert found.report.feet == feet
    one, other = (moved(each.character) for each in (wanted, found))
    for joint, name in enumerate(balls.names):
        place = other.positions[:, hinges.index(name)]
        if balls.kinds[joint] is JointKind.BALL:
            place = other.point(hinges.index(name), np.array((0.0, -apart, 0.0)))
        np.testing.assert_allclose(place, one.positions[:, joint], atol=1e-6, err_msg=name)


def test_a_map_may_name_any_hinge_of_a_stack() -> None:
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped").skeleton
    hinges = of_hinges(dataclasses.replace(biped, limits=(None,) * len(biped), effectors=(), poses={}, mobility=None))
    found = retarget(walk, viewer.Character(hinges), {"LeftUpLeg": "LeftUpLeg_1", "Head": None})
    assert found.map.pairs["LeftUpLeg"] == "LeftUpLeg"
    assert "Head" not in found.map.pairs


def test_balls_stand_where_axes_meet_and_take_motions_both_ways() -> None:
    random = np.random.default_rng(2)
    skeleton = of_hinges(viewer.load("sample:biped").skeleton, 0.05)
    stacks = without_stacks(skeleton)
    assert stacks is not None
    count = 7
    rotations, translations = (np.tile(part, (count, 1, 1)) for part in (skeleton.rest_rotations, skeleton.offsets))
    for joint, kind in enumerate(skeleton.kinds):
        if kind is JointKind.HINGE:
            turn = from_axis_angle(skeleton.axes[joint, 0], random.uniform(-0.7, 0.7, count))
            rotations[:, joint] = multiply(rotations[:, joint], turn)
    clip = Clip.from_arrays(skeleton, rotations, translations, fps=30)
    gathered = stacks.gather(clip)
    again = Clip.from_arrays(skeleton, *stacks.spread(gathered), fps=30)
    whole, balls, back = (fk_clip(*each) for each in ((skeleton, clip), (stacks.skeleton, gathered), (skeleton, again)))
    np.testing.assert_allclose(back.positions, whole.positions, atol=1e-9)
    for joint, members in enumerate(stacks.members):
        there = whole.point(members[-1], stacks.points[joint])
        np.testing.assert_allclose(balls.positions[:, joint], there, atol=1e-9)


def arm_of_hinges(last: float) -> Skeleton:
    """An arm that hangs down; the last hinge of its shoulder is some metres below it."""
    builder = viewer.Builder(name="arm")
    builder.add("body", None, kind="free")
    builder.add("pitch", "body", kind="hinge", axis=(1, 0, 0))
    builder.add("roll", "pitch", kind="hinge", axis=(0, 0, 1))
    builder.add("yaw", "roll", (0, -last, 0), kind="hinge", axis=(0, 1, 0))
    builder.add("elbow", "yaw", (0, last - 0.3, 0), kind="hinge", axis=(1, 0, 0))
    builder.tip("elbow", (0, -0.3, 0))
    return builder.skeleton


def test_the_last_hinge_of_three_may_be_anywhere_along_the_bone_that_it_turns() -> None:
    """Many robots turn the upper arm about itself near the elbow."""
    turns = exp(np.random.default_rng(3).normal(0.0, 0.3, (20, 3)))
    found = []
    for last in (0.0, 0.2, 0.3):
        stacks = without_stacks(arm_of_hinges(last))
        assert stacks is not None
        assert [kind.value for kind in stacks.skeleton.kinds] == ["free", "ball", "hinge"]
        np.testing.assert_allclose(stacks.skeleton.offsets, [(0, 0, 0), (0, 0, 0), (0, -0.3, 0)], atol=1e-12)
        rotations = np.tile(stacks.skeleton.rest_rotations, (20, 1, 1))
        rotations[:, 1] = turns
        clip = Clip.from_arrays(stacks.skeleton, rotations, np.tile(stacks.skeleton.offsets, (20, 1, 1)), fps=30)
        found.append(stacks.spread(clip)[0])
    np.testing.assert_allclose(found[1:], [found[0]] * 2, atol=1e-12)


@pytest.mark.parametrize("axes", [((1, 0, 0), (1, 0, 0)), ((1, 0, 0), (0.95, 0.3122499, 0))])
def test_hinges_that_turn_about_nearly_the_same_axis_stay_hinges(axes: tuple[tuple[float, ...], ...]) -> None:
    builder = viewer.Builder(name="finger")
    builder.add("palm", None, kind="free")
    builder.add("a", "palm", (0, 0.1, 0), kind="hinge", axis=axes[0])
    builder.add("b", "a", (0, 0.001, 0), kind="hinge", axis=axes[1])
    builder.tip("b", (0, 0.1, 0))
    assert without_stacks(builder.skeleton) is None


def test_knees_and_mimics_stay_as_they_are() -> None:
    builder = viewer.Builder(name="leg")
    builder.add("body", None, kind="free")
    builder.add("hip", "body", (0, -0.1, 0), kind="hinge", axis=(0, 0, 1))
    builder.add("thigh", "hip", kind="hinge", axis=(1, 0, 0))
    builder.add("shin", "thigh", (0, -0.4, 0), kind="hinge", axis=(1, 0, 0))
    builder.add("pan", "shin", (0, -0.4, 0), kind="hinge", axis=(1, 0, 0))
    builder.add("tilt", "pan", kind="hinge", axis=(0, 0, 1))
    builder.mimic("tilt", "pan", 1.0, 0.0)
    stacks = without_stacks(builder.skeleton)
    assert stacks is not None
    assert stacks.skeleton.names == ("body", "thigh", "shin", "pan", "tilt")
    assert [kind.value for kind in stacks.skeleton.kinds] == ["free", "universal", "hinge", "hinge", "hinge"]


def test_a_spine_that_hangs_on_the_chest_is_not_paired_against_its_order() -> None:
    builder = viewer.Builder(name="upside down")
    builder.add("chest", None, (0, 1.3, 0), kind="free")
    builder.add("spine1", "chest", (0, -0.1, 0))
    builder.add("spine", "spine1", (0, -0.1, 0))
    builder.add("pelvis", "spine", (0, -0.1, 0))
    for side, x in (("left", 0.1), ("right", -0.1)):
        for part, above, offset in (
            ("thigh", "pelvis", (x, -0.1, 0)), ("shin", "thigh", (0, -0.4, 0.01)), ("foot", "shin", (0, -0.4, -0.01)),
            ("upper_arm", "chest", (2 * x, 0.1, 0)), ("forearm", "upper_arm", (2.5 * x, 0, -0.01)),
            ("hand", "forearm", (2.5 * x, 0, 0.01)),
        ):  # fmt: skip
            builder.add(f"{side}_{part}", above if above in ("pelvis", "chest") else f"{side}_{above}", offset)
    builder.add("head", "chest", (0, 0.25, 0))
    skeleton = builder.skeleton
    walk = viewer.load("sample:walk")
    found = retarget(walk, viewer.Character(skeleton))
    assert found.map.pairs["Hips"] == "pelvis"
    again = retarget(walk, viewer.Character(skeleton), found.map)
    assert dict(again.map.pairs) == dict(found.map.pairs)


@pytest.mark.parametrize("link", [False, True])
def test_a_robot_whose_base_is_fixed_walks_off_and_says_so(link: bool) -> None:
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped").skeleton
    free = of_hinges(dataclasses.replace(biped, limits=(None,) * len(biped), effectors=(), poses={}, mobility=None))
    fixed = dataclasses.replace(free, kinds=(JointKind.FIXED, *free.kinds[1:]))
    if link:  # the pelvis is a link of its own on the base
        fixed = dataclasses.replace(
            fixed, names=("base", *fixed.names), parents=np.array([-1, *(fixed.parents + 1)]),
            offsets=np.array([(0.0, 0.0, 0.0), *fixed.offsets]), kinds=(JointKind.FIXED, *fixed.kinds),
            rest_rotations=np.array([(0.0, 0.0, 0.0, 1.0), *fixed.rest_rotations]), limits=(None, *fixed.limits),
            axes=np.concatenate([np.zeros((1, 2, 3)), fixed.axes]), stiffness=np.array([0.0, *fixed.stiffness]),
            tip_parents=fixed.tip_parents + 1,
        )  # fmt: skip
    wanted, found = (retarget(walk, viewer.Character(each)) for each in (free, fixed))
    base = "base" if link else "Hips"
    assert found.report.warnings == (f'"{base}" is fixed: it is free here, so that the figure can move about',)
    kinds = found.character.skeleton.kinds
    assert kinds == (JointKind.FREE, *fixed.kinds[1:])
    one, other = moved(wanted.character), moved(found.character)
    np.testing.assert_allclose(other.positions[:, int(link) :], one.positions, atol=1e-6)


def test_an_arm_on_a_table_stays_there() -> None:
    walk = viewer.load("sample:walk")
    builder = viewer.Builder(name="arm")
    builder.add("table", None, (0, 0.8, 0), kind="fixed")
    builder.add("LeftArm", "table", (0, 0.2, 0))
    builder.add("LeftForeArm", "LeftArm", (0, 0.3, 0.01))
    builder.add("LeftHand", "LeftForeArm", (0, 0.3, -0.01))
    found = retarget(walk, viewer.Character(builder.skeleton))
    assert found.character.skeleton.kinds[0] is JointKind.FIXED
    assert not any("is fixed" in warning for warning in found.report.warnings)


def test_feet_that_are_ankles_alone_stand_by_them() -> None:
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped").skeleton
    plain = dataclasses.replace(biped, limits=(None,) * len(biped), effectors=(), poses={}, mobility=None)
    found = retarget(walk, viewer.Character(of_hinges(plain, toes=False)))
    assert found.report.feet == "plant"
    assert found.report.warnings == ()
    assert found.report.slide_cm_s is not None
    assert found.report.slide_cm_s[1] < 0.001
    ankle = found.character.skeleton.index("LeftFoot")
    steps = vectors.norm(np.diff(moved(found.character).positions[:, ankle], axis=0))
    assert (steps < 1e-6).sum() > 10


def test_limits_that_hold_feet_back_are_said() -> None:
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped").skeleton
    hinges = of_hinges(dataclasses.replace(biped, limits=(None,) * len(biped), effectors=(), poses={}, mobility=None))
    stiff = viewer.JointLimits.coordinates((-0.05, 0.05))
    limits = tuple(stiff if "Leg" in name and kind is JointKind.HINGE else None
                   for name, kind in zip(hinges.names, hinges.kinds, strict=True))  # fmt: skip
    found = retarget(walk, viewer.Character(dataclasses.replace(hinges, limits=limits)), limits=True)
    (said,) = found.report.warnings
    assert said.startswith("hands or feet are up to ")
    assert said.endswith(" cm off: hinges and limits allow no more")


def test_the_report_is_of_the_motion_on_the_hinges() -> None:
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped").skeleton
    stiff = viewer.JointLimits.coordinates((-0.02, 0.02))
    free = of_hinges(dataclasses.replace(biped, limits=(None,) * len(biped), effectors=(), poses={}, mobility=None))
    limits = tuple(stiff if kind is JointKind.HINGE else None for kind in free.kinds)
    found = retarget(walk, viewer.Character(dataclasses.replace(free, limits=limits)), limits=True)
    # Legs that hardly move slide, and do not point where the source's point: on balls they did.
    assert found.report.slide_cm_s is not None
    assert found.report.slide_cm_s[1] > 10.0
    assert found.report.limbs_deg is not None
    assert found.report.limbs_deg > 5.0
    assert found.report.at_limits == 0.0


ARM_AXES = {
    "three": ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
    "three, the first again": ((0, 1, 0), (1, 0, 0), (0, 1, 0)),
    "two": ((0.8, 0.4, -0.447), (0.0, 0.745, 0.667)),
    "one": ((0, 0, 1),),
}


def slanted(axes: tuple[tuple[float, ...], ...]) -> Skeleton:
    """A biped whose shoulders are of hinges about some axes, mirrored at the right, and whose elbows are hinges."""
    biped = viewer.load("sample:biped").skeleton
    builder = viewer.Builder(name="robot")
    for joint, name in enumerate(biped.names):
        parent = int(biped.parents[joint])
        above = biped.names[parent] if parent >= 0 else None
        offset = np.array(biped.offsets[joint])
        if name not in ("LeftArm", "RightArm"):
            kind = biped.kinds[joint] if joint else JointKind.FREE
            axis = biped.axes[joint, 0] if kind is JointKind.HINGE else None
            builder.add(name, above, offset, kind=kind, axis=axis, rotation=biped.rest_rotations[joint])
            continue
        mirrored = np.array((1.0, 1.0, 1.0) if name == "LeftArm" else (1.0, -1.0, -1.0))
        for place, axis in enumerate(axes):
            own = name if place == len(axes) - 1 else f"{name}_{place}"
            rotation = biped.rest_rotations[joint] if place == 0 else (0.0, 0.0, 0.0, 1.0)
            builder.add(own, above, offset, kind="hinge", axis=unit(mirrored * axis), rotation=rotation)
            above, offset = own, np.zeros(3)
    return builder.skeleton


@pytest.mark.parametrize(("axes", "elbow_deg", "wrist_cm"), [
    ("three", 2.0, 1.0), ("three, the first again", 2.0, 1.0), ("two", 90.0, 10.0), ("one", 60.0, 40.0),
])  # fmt: skip
def test_shoulders_of_any_hinges_aim_first(axes: str, elbow_deg: float, wrist_cm: float) -> None:
    """Three hinges do all, two bring the hand to its place where they can turn it there, one as near as it can."""
    walk, skeleton = viewer.load("sample:walk"), slanted(ARM_AXES[axes])
    found = retarget(walk, viewer.Character(skeleton)).character
    biped = viewer.load("sample:biped").skeleton
    wanted = retarget(walk, viewer.Character(dataclasses.replace(biped, limits=(None,) * len(biped)))).character
    one, other = moved(wanted), moved(found)
    for side in ("Left", "Right"):
        arms = [
            [world.positions[:, c.skeleton.index(f"{side}{part}")] for part in ("Arm", "ForeArm", "Hand")]
            for world, c in ((one, wanted), (other, found))
        ]
        upper, hand = ([unit(arm[to] - arm[0]) for arm in arms] for to in (1, 2))
        assert np.degrees(np.arccos(np.clip(vectors.dot(*upper), -1.0, 1.0))).max() < elbow_deg
        length = vectors.norm(arms[0][2] - arms[0][0])
        assert 100.0 * (length * vectors.norm(hand[1] - hand[0])).max() < wrist_cm
    assert found.clip is not None
    steps = vectors.norm(log(multiply(conjugate(found.clip.rotations[:-1]), found.clip.rotations[1:])))
    assert np.degrees(steps.max()) < 25.0


def test_two_solutions_are_followed_and_the_one_inside_the_limits_is_taken() -> None:
    axes = np.eye(3)[[1, 0, 1]]
    wanted = np.stack([np.linspace(-1.2, 1.2, 61), np.linspace(0.6, -0.6, 61), np.linspace(0.3, 0.5, 61)], axis=1)
    turns = turn_of(axes, wanted)
    for middle in (0.0, np.pi):
        ranges = Ranges(np.array((middle, 0.0, middle)), np.full(3, 2.0))
        found = three_angles(axes, turns, ranges.cost)
        np.testing.assert_allclose(np.abs((turn_of(axes, found) * turns).sum(axis=1)), 1.0, atol=1e-12)
        # Through the frame in which the first and the third axis lie on one line nothing turns over.
        assert np.abs(np.diff(found, axis=0)).max() < 0.1
        off = (found[:, 0] - middle + np.pi) % (2.0 * np.pi) - np.pi
        assert np.abs(off).max() < 1.3


def test_two_hinges_take_the_nearest_turn() -> None:
    random = np.random.default_rng(4)
    axes = unit(random.normal(size=(2, 3)))
    turns = normalized(random.normal(size=(40, 4)))
    found = nearest_two(axes, turns)
    best = np.abs((turn_of(axes, found) * turns).sum(axis=1))
    for _ in range(50):
        other = found + random.normal(scale=0.3, size=found.shape)
        assert (np.abs((turn_of(axes, other) * turns).sum(axis=1)) <= best + 1e-12).all()


def test_what_is_fixed_to_the_base_goes_with_it() -> None:
    """The pelvis hangs on a base that has a lamp, too: the base goes, and both are where they are on it."""
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped").skeleton
    builder = viewer.Builder(name="robot")
    builder.add("base", None, (0.0, 0.9, 0.0), kind="fixed")
    builder.add("lamp", "base", (0.1, 0.2, 0.3), kind="fixed")
    for joint, name in enumerate(biped.names):
        above = biped.names[int(biped.parents[joint])] if joint else "base"
        kind = biped.kinds[joint] if joint else JointKind.FIXED
        axis = biped.axes[joint, 0] if kind is JointKind.HINGE else None
        builder.add(name, above, biped.offsets[joint], kind=kind, axis=axis, rotation=biped.rest_rotations[joint])
    found = retarget(walk, viewer.Character(builder.skeleton)).character
    world = moved(found)
    apart = [vectors.norm(world.positions[:, 0] - world.positions[:, joint]) for joint in (1, 2)]
    assert max(np.ptp(each) for each in apart) < 1e-9
    assert np.ptp(world.positions[:, 0, 2]) > 1.0


def test_a_body_that_hangs_on_its_chest_turns_with_it() -> None:
    """As MuJoCo's humanoids: torso, waist of hinges, pelvis, which is fixed to the last of them."""
    builder = viewer.Builder(name="torso first")
    builder.add("torso", None, (0, 1.3, 0), kind="free")
    builder.add("abdomen_z", "torso", (0, -0.15, 0), kind="hinge", axis=(0, 1, 0))
    builder.add("abdomen_y", "abdomen_z", kind="hinge", axis=(1, 0, 0))
    builder.add("abdomen_x", "abdomen_y", (0, -0.1, 0), kind="hinge", axis=(0, 0, 1))
    builder.add("pelvis", "abdomen_x", (0, -0.05, 0), kind="fixed")
    builder.add("head", "torso", (0, 0.3, 0), kind="fixed")
    for side, x in (("left", 0.1), ("right", -0.1)):
        for part, above, offset in (
            ("thigh", "pelvis", (x, -0.1, 0)), ("shin", "left_thigh", (0, -0.4, 0.01)),
            ("foot", "left_shin", (0, -0.4, -0.01)),
            ("upper_arm", "torso", (2 * x, 0.1, 0)), ("forearm", "left_upper_arm", (2.5 * x, 0, -0.01)),
            ("hand", "left_forearm", (2.5 * x, 0, 0.01)),
        ):  # fmt: skip
            builder.add(f"{side}_{part}", above.replace("left", side), offset)
    turned = viewer.load("sample:walk")
    assert turned.clip is not None
    quarter = from_axis_angle(np.array((0.0, 1.0, 0.0)), np.array(0.5 * np.pi))
    rotations, places = turned.clip.rotations.copy(), turned.clip.local_translations()
    rotations[:, 0], places[:, 0] = multiply(quarter, rotations[:, 0]), rotate(quarter, places[:, 0])
    clip = turned.clip.with_motion(rotations, places)
    found = retarget(dataclasses.replace(turned, clips={clip.name: clip}), viewer.Character(builder.skeleton))
    world, skeleton = moved(found.character), found.character.skeleton
    for one, other in (("left_thigh", "right_thigh"), ("left_upper_arm", "right_upper_arm")):
        across = world.positions[:, skeleton.index(one)] - world.positions[:, skeleton.index(other)]
        assert unit(across.mean(axis=0)) @ (0.0, 0.0, -1.0) > 0.95
    kinds = found.character.skeleton.kinds
    assert kinds == builder.skeleton.kinds
    assert found.report.limbs_deg is not None
    assert found.report.limbs_deg < 2.0


def test_ankles_whose_last_hinge_rolls_are_ankles() -> None:
    """As of small robots, whose arms have only two bones with an end between them, so that names tell the legs."""
    builder = viewer.Builder(name="small")
    builder.add("body", None, (0, 0.3, 0), kind="free")
    for side, x in (("l", 0.04), ("r", -0.04)):
        builder.add(f"{side}_hip_yaw", "body", (x, -0.03, 0), kind="hinge", axis=(0, 1, 0))
        builder.add(f"{side}_hip_pitch", f"{side}_hip_yaw", kind="hinge", axis=(1, 0, 0))
        builder.add(f"{side}_knee", f"{side}_hip_pitch", (0, -0.11, 0), kind="hinge", axis=(1, 0, 0))
        builder.add(f"{side}_ank_pitch", f"{side}_knee", (0, -0.11, 0), kind="hinge", axis=(1, 0, 0))
        builder.add(f"{side}_ank_roll", f"{side}_ank_pitch", kind="hinge", axis=(0, 0, 1))
        builder.add(f"{side}_sho_pitch", "body", (1.5 * x, 0.1, 0), kind="hinge", axis=(1, 0, 0))
        builder.add(f"{side}_el", f"{side}_sho_pitch", (2 * x, 0, 0), kind="hinge", axis=(0, 1, 0))
    stacks = without_stacks(builder.skeleton)
    assert stacks is not None
    figure = find_figure(stacks.skeleton)
    assert figure is not None
    ends = [stacks.skeleton.names[leg.end] for leg in figure.legs if leg.end is not None]
    assert ends == ["l_ank_pitch", "r_ank_pitch"]


def test_a_shoulder_whose_last_hinge_is_called_elbow_is_a_shoulder() -> None:
    builder = viewer.Builder(name="two arms")
    builder.add("base", None, (0, 1.0, 0), kind="fixed")
    for side, x in (("left", 0.2), ("right", -0.2)):
        above = "base"
        for name, offset, axis in (
            ("upper_shoulder", (x, 0.3, 0), (0, 0, 1)), ("lower_shoulder", (0, 0, 0), (1, 0, 0)),
            ("upper_elbow", (0, -0.05, 0), (0, 1, 0)), ("lower_elbow", (0, -0.3, 0), (1, 0, 0)),
            ("forearm_roll", (0, -0.1, 0), (0, 1, 0)), ("wrist", (0, -0.2, 0), (1, 0, 0)),
        ):  # fmt: skip
            builder.add(f"{side}_{name}", above, offset, kind="hinge", axis=axis)
            above = f"{side}_{name}"
        builder.tip(above, (0, -0.1, 0))
    stacks = without_stacks(builder.skeleton)
    assert stacks is not None
    figure = find_figure(stacks.skeleton)
    assert figure is not None
    for arm in figure.arms:
        names = stacks.skeleton.names
        assert (names[arm.upper], names[arm.lower]) == (f"{arm.side}_upper_shoulder", f"{arm.side}_lower_elbow")
        whole = stacks.limb_of(arm)
        assert stacks.whole.names[whole.upper] == f"{arm.side}_upper_elbow"


@pytest.mark.parametrize("feet", ["off", "follow", "plant"])
def test_a_robot_takes_the_motion_of_its_like(feet: Literal["plant", "follow", "off"]) -> None:
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped").skeleton
    balls = dataclasses.replace(biped, limits=(None,) * len(biped), effectors=(), poses={}, mobility=None)
    robot = of_hinges(balls, 0.05)
    there = retarget(walk, viewer.Character(robot)).character
    again = retarget(there, viewer.Character(robot), feet=feet)
    assert again.report.warnings == ()
    one, other = moved(there), moved(again.character)
    np.testing.assert_allclose(other.positions, one.positions, atol=1e-9 if feet == "off" else 1e-3)
    # A map that was made with planted feet names one joint of each stack.
    planted = retarget(there, viewer.Character(robot)).map
    by_map = retarget(there, viewer.Character(robot), planted, feet=feet)
    np.testing.assert_allclose(moved(by_map.character).positions, other.positions, atol=1e-9)
    pairs = {name: partner for name, partner in planted.pairs.items() if name != "LeftArm"}
    without = dataclasses.replace(planted, pairs=pairs, by_hand=frozenset({"LeftArm"}))
    left = retarget(there, viewer.Character(robot), without, feet=feet).character.clip
    assert left is not None
    for name in ("LeftArm_1", "LeftArm_2", "LeftArm"):
        turns = left.rotations[:, robot.index(name)]
        np.testing.assert_allclose(np.abs(turns @ robot.rest_rotations[robot.index(name)]), 1.0, atol=1e-9)


def test_what_is_known_of_a_robot_is_found_once() -> None:
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped").skeleton
    fixed = of_hinges(dataclasses.replace(biped, kinds=(JointKind.FIXED, *biped.kinds[1:]), poses={}))
    one, other = (retarget(walk, viewer.Character(fixed)).character.skeleton for _ in range(2))
    assert one is other
    assert one is not fixed


def test_the_rate_of_a_robots_motion_stays_to_the_bit() -> None:
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped")
    robot = viewer.Character(of_hinges(biped.skeleton))
    there = retarget(walk, robot).character
    assert there.clip is not None
    slow = dataclasses.replace(there.clip, frame_time=0.022500000000000003)
    assert 1.0 / slow.fps != slow.frame_time
    back = retarget(dataclasses.replace(there, clips={slow.name: slow}), biped).character
    assert back.clip is not None
    assert back.clip.frame_time == slow.frame_time


def test_motions_go_over_robots_and_back() -> None:
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped").skeleton
    balls = dataclasses.replace(biped, limits=(None,) * len(biped), effectors=(), poses={}, mobility=None)
    there = retarget(walk, viewer.Character(of_hinges(balls)), feet="follow").character
    back = retarget(there, viewer.Character(balls), feet="follow")
    wanted = retarget(walk, viewer.Character(balls), feet="follow")
    assert set(back.map.pairs.values()) == set(wanted.map.pairs.values())
    np.testing.assert_allclose(moved(back.character).positions, moved(wanted.character).positions, atol=1e-3)


def test_planted_legs_of_hinges_turn_about_their_axes() -> None:
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped").skeleton
    balls = dataclasses.replace(biped, limits=(None,) * len(biped), effectors=(), poses={}, mobility=None)
    robot = of_hinges(balls, 0.02)
    there = retarget(walk, viewer.Character(robot), feet="follow", scale=1.1).character
    assert there.clip is not None
    planted = viewer.plant_feet(robot, there.clip)
    assert planted.report.before.slide_cm_s > 2.0
    assert planted.report.after.slide_cm_s < 0.2
    for joint, kind in enumerate(robot.kinds):
        if kind is JointKind.HINGE:
            turn = log(multiply(conjugate(robot.rest_rotations[joint]), planted.clip.rotations[:, joint]))
            across = turn - vectors.dot(turn, robot.axes[joint, 0])[:, None] * robot.axes[joint, 0]
            assert vectors.norm(across).max() < 1e-6, robot.names[joint]


AXES = np.eye(3)
LENGTH = 0.6
FREE = Ranges(np.zeros(3), np.full(3, np.inf))
RATE = 60.0


def passing(degrees: float, frames: int = 120) -> Floats:
    """Turns (F, 4) in which the bone, along +Z, swings from one side of the first axis to the other, past it."""
    swing = from_axis_angle(np.array([0.0, 0.0, 1.0]), np.radians(np.linspace(-60.0, 60.0, frames)))
    aside = from_axis_angle(np.array([0.0, 1.0, 0.0]), np.full(frames, np.radians(90.0 - degrees)))
    return multiply(swing, aside)


def angles_of(turns: Floats, ranges: Ranges, lever: float = 0.0) -> Floats:
    """`path_angles` (F, 3) of one row of hinges, in one of two, the other one of which turns otherwise."""
    both = np.stack([turns, turns[::-1]])
    twice = Ranges(*(np.stack([each, each]) for each in ranges))
    size = Size(np.full(2, LENGTH), np.full(2, lever))
    return np.asarray(path_angles(np.stack([AXES, AXES]), both, twice, RATE, size)[0])


def speed(angles: Floats) -> float:
    """Degrees a second of the first hinge, at most."""
    return float(np.degrees(np.abs(np.diff(angles[:, 0])).max()) * RATE)


def off(angles: Floats, turns: Floats) -> Floats:
    """(F,) metres that the end of the limb is off."""
    bone = np.array([0.0, 0.0, LENGTH])
    return vectors.norm(rotate(turn_of(AXES, angles), bone) - rotate(turns, bone))


@pytest.mark.parametrize("degrees", [0.1, 1.0, -1.0, 3.0])
def test_a_bone_that_passes_the_first_axis_does_not_spin_the_hinges(degrees: float) -> None:
    turns = passing(degrees)
    angles, exact = angles_of(turns, FREE), three_angles(AXES, turns, FREE.cost)
    assert off(exact, turns).max() < 1e-9
    assert speed(angles) < min(0.3 * speed(exact), 300.0)
    missed = off(angles, turns)
    assert missed.max() < 0.035
    assert missed[vectors.norm(np.cross(rotate(turns, AXES[2]), AXES[0])) > 0.5].max() < 1e-3


def test_a_bone_on_the_first_axis_keeps_its_angles() -> None:
    """No first angle is better than another there: the nearest to the middle of the range is taken."""
    turns = np.tile(from_axis_angle(np.array([0.0, 1.0, 0.0]), np.radians(90.0)), (30, 1))
    angles = angles_of(turns, FREE)
    np.testing.assert_allclose(angles[:, 0], 0.0, atol=1e-9)
    assert off(angles, turns).max() < 1e-9


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_few_frames_have_angles_too(frames: int) -> None:
    turns = passing(5.0)[60 : 60 + frames]
    angles = angles_of(turns, FREE)
    assert angles.shape == (frames, 3)
    assert off(angles, turns).max() < 0.011


def test_the_solution_is_taken_whose_angles_are_in_their_ranges() -> None:
    turns = passing(5.0)
    for middle in (0.0, np.pi):
        ranges = Ranges(np.array([0.0, middle, 0.0]), np.array([np.inf, 1.57, np.inf]))
        angles = angles_of(turns, ranges)
        assert (np.cos(angles[:, 1] - middle) > -1e-3).all()


def test_a_limb_that_the_first_hinge_carries_away_is_carried_less() -> None:
    """Of two solutions, half a turn of the first hinge apart, one carries the shoulder across its axis."""
    turns = passing(10.0)
    angles = angles_of(turns, FREE, lever=0.15)
    assert np.abs(angles[[0, -1], 0]).max() < np.pi / 2.0 + 0.2
