"""Motion on another skeleton: exact on known twins, human on other rigs, one clear line for what cannot be done."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cli_run import ran
from figures import person
from inside.formats import map_from_text, map_to_json
from inside.motion import touching_share
from inside.skeleton import SURE, find_slots, is_same_tree, joint_space
from inside.spatial import angle_between, conjugate, exp, from_axis_angle, log, multiply, normalized, rotate
from sessions import character
from twins import error_cm, twin

import viewer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inside.spatial import Floats

    from viewer.choices import Feet, Hands


@pytest.fixture(scope="module")
def walk() -> viewer.Character:
    return character("walk")


def moved(made: viewer.Retargeted) -> viewer.Clip:
    clip = made.character.clip
    assert clip is not None
    return clip


# --- twins


@pytest.mark.parametrize("moving", [True, False])
@pytest.mark.parametrize("rest", ["rest", "relaxed", 20, "none"])
@pytest.mark.parametrize("renamed", [True, False])
def test_a_twin_with_other_frames_names_scale_and_rest_moves_alike(
    walk: viewer.Character, *, rest: str | int, renamed: bool, moving: bool
) -> None:
    random = np.random.default_rng(hash((rest, renamed, moving)) % 1000)
    other, motion = twin(walk, random, scale=1.3, rest=rest, renamed=renamed, moving=moving)
    there = viewer.retarget(walk, other, feet="follow")
    assert error_cm(other.skeleton, moved(there), other.skeleton, motion) < 1e-3
    assert there.report.scale == pytest.approx(1.3)
    whole = viewer.Character(other.skeleton, MappingProxyType({"motion": motion}))
    back = viewer.retarget(whole, walk if moving else viewer.Character(walk.skeleton), feet="follow")
    clip = walk.clip
    assert clip is not None
    assert error_cm(walk.skeleton, moved(back), walk.skeleton, clip) < 1e-3


def test_a_still_twin_whose_rest_is_no_pose_gives_its_motion_to_one_like_it(walk: viewer.Character) -> None:
    """No pose of one is a pose of the other: their bones alone show what frames their joints have."""
    random = np.random.default_rng(5)
    (one, its), (other, motion) = (twin(walk, random, scale=scale, rest="none", moving=False) for scale in (0.8, 1.4))
    there = viewer.retarget(viewer.Character(one.skeleton, {"motion": its}), other, feet="follow")
    assert error_cm(other.skeleton, moved(there), other.skeleton, motion) < 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_a_rest_pose_on_its_head_does_not_take_arms_for_legs(walk: viewer.Character, seed: int) -> None:
    clip = walk.clip
    assert clip is not None
    turns, places = clip.rotations.copy(), clip.local_translations()
    wheel = viewer.quaternions.from_axis_angle((0.0, 0.0, 1.0), 2.0 * np.pi * np.arange(len(clip)) / len(clip))
    turns[:, 0] = viewer.quaternions.multiply(wheel, turns[:, 0])
    for side, sign in (("Left", 1.0), ("Right", -1.0)):  # as in a handstand: arms in line with the body
        arm = walk.skeleton.index(f"{side}Arm")
        up = viewer.quaternions.from_axis_angle((0.0, 0.0, 1.0), np.radians(sign * 140.0))
        turns[:, arm] = viewer.quaternions.multiply(up, turns[:, arm])
    wheeling = viewer.Character(walk.skeleton, {"wheel": clip.with_motion(turns, places)})
    random = np.random.default_rng(seed)
    other, motion = twin(wheeling, random, rest=len(clip) // 2)
    there = viewer.retarget(wheeling, other, feet="follow")
    assert error_cm(other.skeleton, moved(there), other.skeleton, motion) < 1e-3
    back = viewer.retarget(viewer.Character(other.skeleton, {"motion": motion}), wheeling, feet="follow")
    assert wheeling.clip is not None
    assert error_cm(walk.skeleton, moved(back), walk.skeleton, wheeling.clip) < 1e-3


def turned_part(walk: viewer.Character, *, top: str, degrees: float) -> viewer.Character:
    """The walk with one joint, and all that hangs on it, turned about the line from right to left in all frames."""
    clip, joint = walk.clip, walk.skeleton.index(top)
    assert clip is not None
    turns = clip.rotations.copy()
    turn = viewer.quaternions.from_axis_angle((1.0, 0.0, 0.0), np.radians(degrees))
    turns[:, joint] = viewer.quaternions.multiply(turns[:, joint], turn)
    return viewer.Character(walk.skeleton, {"turned": clip.with_motion(turns)})


@pytest.mark.parametrize("top", ["Head", "Neck", "Spine1", "Spine2"])
def test_there_and_back_over_a_rig_whose_rest_is_no_pose(walk: viewer.Character, top: str) -> None:
    """Its clip shows how it stands: its own one when it gets the motion, and the one that it got when it gives it."""
    rig = viewer.retarget(walk, character("biped-hands")).character
    bare, _ = twin(rig, np.random.default_rng(3), rest="none", renamed=False)
    given = turned_part(walk, top=top, degrees=15.0)
    there = viewer.retarget(given, bare, feet="follow").character
    back = viewer.retarget(there, given, feet="follow")
    clip = given.clip
    assert clip is not None
    assert error_cm(given.skeleton, moved(back), given.skeleton, clip) < 1.0


@pytest.mark.parametrize("degrees", [20.0, -20.0])
def test_feet_whose_frames_lean_with_legs_that_are_apart_at_rest_stand_flat(
    walk: viewer.Character, degrees: float
) -> None:
    rest = walk.skeleton.rest_rotations.copy()
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        joint = walk.skeleton.index(f"{side}UpLeg")
        apart = viewer.quaternions.from_axis_angle((0.0, 0.0, 1.0), np.radians(sign * degrees))
        rest[joint] = viewer.quaternions.multiply(rest[joint], apart)
    leaning = viewer.Character(replace(walk.skeleton, rest_rotations=rest, limits=(None,) * len(rest)), walk.clips)
    figure = viewer.retarget(leaning, character("biped"))
    skeleton, clip = figure.character.skeleton, moved(figure)
    assert figure.report.source_reference == "rest"
    world = viewer.fk_clip(skeleton, clip)
    for foot in viewer.foot_contacts(skeleton, clip).feet:
        frames = np.unique(np.concatenate([np.arange(one.start, one.end + 1) for one in foot.contacts]))
        left = viewer.quaternions.rotate(world.rotations[frames, skeleton.index(foot.name)], np.array([1.0, 0.0, 0.0]))
        assert np.degrees(np.arcsin(np.abs(left[:, 1]))).max() < 5.0


def test_there_and_back_over_a_rig_with_hinges(walk: viewer.Character) -> None:
    rig = character("biped-hands")
    there = viewer.retarget(walk, rig, feet="follow").character
    back = viewer.retarget(there, walk, feet="follow")
    clip = walk.clip
    assert clip is not None
    assert error_cm(walk.skeleton, moved(back), walk.skeleton, clip) < 0.1


def test_hinges_stay_hinges_and_feet_stand_still(walk: viewer.Character) -> None:
    rig = character("biped-hands")
    made = viewer.retarget(walk, rig)
    assert made.report.feet == "plant"
    assert made.report.slide_cm_s is not None
    assert made.report.slide_cm_s[1] < 0.05
    assert made.report.limbs_deg is not None
    assert made.report.limbs_deg < 1.0
    clip = moved(made)
    knee = rig.skeleton.index("LeftLeg")
    assert rig.skeleton.kinds[knee] is viewer.JointKind.HINGE
    axis = rig.skeleton.axes[knee, 0]
    turned = clip.rotations[:, knee, :3]
    assert np.abs(np.cross(turned, axis)).max() < 1e-6


def bending(bends: Floats, aside: Floats) -> viewer.Character:
    """A person whose knees, balls, bend by angles (F,) about axes turned (F,) from across the body; in degrees."""
    skeleton = person()
    turns = np.repeat(skeleton.rest_rotations[None], len(bends), axis=0)
    angle = np.radians(aside)
    axis = np.stack([np.cos(angle), np.zeros_like(angle), np.sin(angle)], axis=-1)
    for knee in ("LeftLeg", "RightLeg"):
        turns[:, skeleton.index(knee)] = exp(np.radians(bends)[:, None] * axis)
    clip = viewer.Clip.from_arrays(skeleton, turns, fps=60.0)
    return viewer.Character(skeleton, MappingProxyType({"bending": clip}))


def test_knees_that_bend_a_little_aside_do_not_twist_thighs_whose_knees_are_hinges() -> None:
    """As markerless captures bend them, to any side; once round there is no jump either."""
    rig = character("biped")
    aside = np.arange(0.0, 361.0)
    clip = moved(viewer.retarget(bending(np.full(len(aside), 12.0), aside), rig, feet="off"))
    for thigh in ("LeftUpLeg", "RightUpLeg"):
        turns = clip.rotations[:, rig.skeleton.index(thigh)]
        away = np.degrees(angle_between(turns, rig.skeleton.relaxed_pose().rotations[rig.skeleton.index(thigh)]))
        assert away.max() < 20.0
        assert np.degrees(angle_between(turns[1:], turns[:-1])).max() < 1.0


def test_knees_that_bend_far_aside_are_followed_by_the_twist_of_thighs_whose_knees_are_hinges() -> None:
    rig, given = character("biped").skeleton, bending(np.full(9, 80.0), np.linspace(-40.0, 40.0, 9))
    clip = moved(viewer.retarget(given, character("biped"), feet="off"))
    ways = []
    for skeleton, motion in ((given.skeleton, given.clip), (rig, clip)):
        assert motion is not None
        world = viewer.fk_clip(skeleton, motion)
        shin = world.positions[:, skeleton.index("LeftFoot")] - world.positions[:, skeleton.index("LeftLeg")]
        ways.append(shin / np.linalg.norm(shin, axis=1, keepdims=True))
    assert np.degrees(np.arccos(np.einsum("fi,fi->f", *ways))).max() < 8.0


def jerk(rotations: Floats) -> float:
    """The 99.9 % point of the angular acceleration of joints (F, J, 4), radians per frame and frame."""
    steps = log(multiply(conjugate(rotations[:-1]), rotations[1:]))
    return float(np.percentile(np.linalg.norm(np.diff(steps, axis=0), axis=-1), 99.9))


def with_noise(clip: viewer.Clip, seed: int) -> viewer.Clip:
    """A clip whose joints are turned by 1 degree about each axis in each frame."""
    shake = np.radians(1.0) * np.random.default_rng(seed).normal(size=(*clip.rotations.shape[:2], 3))
    return clip.with_motion(multiply(clip.rotations, exp(shake)))


@pytest.mark.parametrize("seed", range(3))
def test_noise_at_knees_and_elbows_is_not_magnified_by_hinges(seed: int) -> None:
    given = bending(np.full(300, 10.0), np.zeros(300))
    clip = given.clip
    assert clip is not None
    shaken = with_noise(clip, seed)
    noisy = viewer.Character(given.skeleton, MappingProxyType({"noisy": shaken}))
    made = moved(viewer.retarget(noisy, character("biped"), feet="off"))
    assert jerk(made.rotations) < 1.4 * jerk(shaken.rotations)


def test_inside_limits_the_feet_stay_planted(walk: viewer.Character) -> None:
    rig = character("biped")
    clip = walk.clip
    assert clip is not None
    foot = walk.skeleton.index("LeftFoot")
    turns = clip.rotations.copy()
    turns[:, foot] = viewer.quaternions.multiply(
        turns[:, foot], viewer.quaternions.from_axis_angle((0.0, 0.0, 1.0), np.full(len(clip), np.radians(50.0)))
    )
    rolled = viewer.Character(walk.skeleton, {"rolled": clip.with_motion(turns)})
    free, held = viewer.retarget(rolled, rig), viewer.retarget(rolled, rig, limits=True)
    ankle = rig.skeleton.index("LeftFoot")
    assert np.degrees(viewer.clip_violation(rig.skeleton, moved(free))[:, ankle]).min() > 5.0
    assert viewer.clip_violation(rig.skeleton, moved(held)).max() < 1e-6
    ways = [viewer.fk_clip(rig.skeleton, moved(each)).positions[:, ankle] for each in (free, held)]
    assert np.linalg.norm(ways[0] - ways[1], axis=1).max() < 1e-3


def test_limits_hold_when_asked(walk: viewer.Character) -> None:
    rig = character("biped")
    clip = walk.clip
    assert clip is not None
    shake = viewer.quaternions.from_axis_angle((1.0, 0.0, 0.0), np.full(clip.rotations.shape[:2], 0.6))
    bent = viewer.Character(
        walk.skeleton, {"bent": clip.with_motion(viewer.quaternions.multiply(clip.rotations, shake))}
    )
    held = viewer.retarget(bent, rig, limits=True)
    assert viewer.clip_violation(rig.skeleton, moved(held)).max() < 1e-6
    assert held.report.at_limits == 0.0
    assert held.report.slide_cm_s is not None
    assert held.report.slide_cm_s[1] < 0.05
    free = viewer.retarget(bent, rig)
    assert free.report.at_limits > 0.5
    assert viewer.clip_violation(rig.skeleton, moved(free)).max() > 1e-3


def test_the_path_is_scaled_and_stays_in_place(walk: viewer.Character) -> None:
    rig, hips = character("biped"), 0
    path = moved(viewer.retarget(walk, rig, scale=2.0, feet="follow")).local_translations()[:, hips]
    there = moved(viewer.retarget(walk, rig, scale=1.0, feet="follow")).local_translations()[:, hips]
    assert np.ptp(path[:, 2]) == pytest.approx(2.0 * np.ptp(there[:, 2]), rel=1e-3)
    on_the_spot = viewer.retarget(walk, rig, in_place=True)
    assert on_the_spot.report.feet == "follow"
    still = moved(on_the_spot)
    hip = viewer.fk_clip(rig.skeleton, still).positions[:, [rig.skeleton.index(f"{s}UpLeg") for s in ("Left", "Right")]]
    assert np.ptp(hip.mean(axis=1)[:, [0, 2]], axis=0).max() < 1e-9


def test_hands_that_reach_are_where_the_motions_hands_are(walk: viewer.Character) -> None:
    rig = character("biped")
    half: dict[str, Any] = {"offsets": 0.5 * rig.skeleton.offsets, "tip_offsets": 0.5 * rig.skeleton.tip_offsets}
    small = replace(rig, skeleton=replace(rig.skeleton, **half, poses=MappingProxyType({})))
    made = viewer.retarget(walk, small, hands="reach", feet="follow")
    clip = walk.clip
    assert clip is not None
    wanted = made.report.scale * viewer.fk_clip(walk.skeleton, clip).positions[:, walk.skeleton.index("LeftHand")]
    found = viewer.fk_clip(small.skeleton, moved(made)).positions[:, small.skeleton.index("LeftHand")]
    assert np.linalg.norm(found - wanted, axis=1).max() < 2e-3


# --- maps


def test_parts_are_found_by_what_they_are_not_by_what_they_are_called() -> None:
    """A joint called shoulder is an upper arm in one file and a collarbone in another."""
    rig = character("biped-hands").skeleton
    names = {
        "LeftShoulder": "LeftCollar", "LeftArm": "LeftShoulder", "LeftForeArm": "LeftElbow", "LeftHand": "LeftWrist",
        "RightShoulder": "RightCollar", "RightArm": "RightShoulder", "RightForeArm": "RightElbow",
        "RightHand": "RightWrist", "LeftHandIndex1": "index_01_l", "LeftHandThumb2": "thumb_02_l",
    }  # fmt: skip
    # Half as long hands: another tree, not the same one under other names.
    offsets = rig.offsets.copy()
    offsets[[rig.index("LeftForeArm"), rig.index("RightForeArm")]] *= 0.8
    other = replace(
        rig, names=tuple(names.get(n, n) for n in rig.names), offsets=offsets, effectors=(), poses=MappingProxyType({})
    )
    assert not is_same_tree(rig, other)
    found = viewer.find_map(rig, other)
    assert found.pairs == {name: names.get(name, name) for name in rig.names}
    assert found.unmatched == ()
    assert min(found.certainty.values()) >= SURE


def test_slots_name_fingers_by_word_and_by_order() -> None:
    rig = character("biped-hands").skeleton
    slots = find_slots(rig)
    assert rig.names[slots["left index 2"]] == "LeftHandIndex2"
    assert rig.names[slots["right pinky 3"]] == "RightHandPinky3"
    nameless = replace(
        rig,
        names=tuple(f"f{j}" if "Hand" in n and n[-1].isdigit() else n for j, n in enumerate(rig.names)),
        effectors=(),
        poses=MappingProxyType({}),
    )
    assert dict(find_slots(nameless)) == dict(slots)


def test_a_spine_of_other_length_is_doubtful_and_follows_a_curve() -> None:
    rig, source = character("biped"), character("walk")
    longer = source.skeleton
    assert viewer.find_map(source, rig).doubtful == ()
    at = longer.index("Spine1")
    names = (*longer.names[:at], "Extra", *longer.names[at:])
    parents = [p if p < at else p + 1 for p in longer.parents.tolist()]
    parents = [*parents[:at], at - 1, *parents[at:]]
    parents[at + 1] = at
    offsets = np.insert(longer.offsets, at, 0.5 * longer.offsets[at], axis=0)
    offsets[at + 1] *= 0.5
    rest = np.insert(longer.rest_rotations, at, [0.0, 0.0, 0.0, 1.0], axis=0)
    made = viewer.Skeleton(
        name="longer", names=names, parents=np.array(parents), offsets=offsets, rest_rotations=rest,
        kinds=(viewer.JointKind.FREE, *[viewer.JointKind.BALL] * (len(names) - 1)), axes=np.zeros((len(names), 2, 3)),
        limits=(None,) * len(names), stiffness=np.zeros(len(names)), tip_parents=np.zeros(0, dtype=int),
        tip_offsets=np.zeros((0, 3)), effectors=(),
    )  # fmt: skip
    there = viewer.retarget(source, viewer.Character(made), feet="follow")
    assert set(there.map.doubtful) <= {"Spine", "Spine1", "Spine2"}
    assert there.map.doubtful
    before, after = source.clip, moved(there)
    assert before is not None
    head = [
        viewer.fk_clip(s, c).rotations[:, s.index("Head")] for s, c in ((longer, before), (made, after))
    ]  # fmt: skip
    assert np.abs(np.einsum("fi,fi->f", *head)).min() > 1.0 - 1e-9


def test_a_map_replaces_what_is_found(walk: viewer.Character) -> None:
    rig = character("biped")
    found = viewer.find_map(walk, rig, {"LeftForeArm": None, "Head": "Neck", "Neck": "Head"} | {"Neck": None})
    assert "LeftForeArm" not in found.pairs
    assert found.pairs["Head"] == "Neck"
    assert "LeftForeArm" in found.unmatched
    made = viewer.retarget(walk, rig, found)
    turns = moved(made).rotations[:, rig.skeleton.index("LeftForeArm")]
    assert np.abs(turns - rig.skeleton.rest_rotations[rig.skeleton.index("LeftForeArm")]).max() < 1e-9


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"LeftAm": "LeftArm"}, r'map: source: no joint "LeftAm"; did you mean'),
        ({"LeftArm": "LeftAm"}, r'map: target: no joint "LeftAm"; did you mean'),
        ({"LeftArm": "Head", "RightArm": "Head"}, r'map: "LeftArm" and "RightArm" are both mapped to "Head"'),
        (
            {"LeftArm": "LeftHand", "LeftHand": "LeftArm"},
            r'map: "LeftHand" is below "LeftArm", but its partner "LeftArm" is above "LeftHand": expected the same',
        ),
    ],
)
def test_maps_that_cannot_be_are_refused(walk: viewer.Character, given: Mapping[str, str | None], line: str) -> None:
    with pytest.raises(viewer.InputError, match=line):
        viewer.find_map(walk, character("biped"), given)


def test_map_files_come_back_as_they_were(walk: viewer.Character) -> None:
    found = replace(viewer.find_map(walk, character("biped"), {"Head": None}), source_reference=12)
    stated = map_from_text(map_to_json(found), "m.json")
    assert stated.pairs == {**found.pairs, "Head": None}
    assert (stated.source_reference, stated.target_reference) == (12, "auto")
    with pytest.raises(viewer.FormatError, match=r'm\.json: reference\.source: expected "auto", "rest" or a frame'):
        map_from_text('{"pairs": {}, "reference": {"source": -3}}', "m.json")
    with pytest.raises(viewer.FormatError, match="this is a goals file; expected a map file"):
        map_from_text('{"goals": []}', "m.json")


# --- what cannot be done


def test_what_cannot_be_retargeted_is_said(walk: viewer.Character) -> None:
    rig, link = character("biped"), character("two-link")
    with pytest.raises(viewer.InputError, match="source: expected motion, found a skeleton without frames"):
        viewer.retarget(rig, rig)
    with pytest.raises(viewer.InputError, match="expected a figure with arms or legs, found none"):
        viewer.retarget(walk, link)
    with pytest.raises(viewer.InputError, match=r'hands: expected free, reach or touch, found "grab"'):
        viewer.retarget(walk, rig, hands="grab")  # type: ignore[arg-type]
    with pytest.raises(viewer.InputError, match="source reference: no frame 99: the clip has 0 to 67"):
        viewer.retarget(walk, rig, reference=99)
    with pytest.raises(viewer.InputError, match="target reference: expected rest, found frame 3: there is no motion"):
        viewer.retarget(walk, rig, target_reference=3)


@pytest.mark.parametrize(("words", "line"), [
    ({"scale": 0.0}, "scale: expected a finite number above 0, found 0"),
    ({"scale": "2"}, 'scale: expected a number, found "2"'),
    ({"scale": True}, "scale: expected a number, found True"),
    ({"limits": "no"}, 'limits: expected True or False, found "no"'),
    ({"in_place": 1}, "in_place: expected True or False, found 1"),
])  # fmt: skip
def test_wrong_choices_are_said(walk: viewer.Character, words: dict[str, Any], line: str) -> None:
    with pytest.raises(viewer.InputError) as error:
        viewer.retarget(walk, character("biped"), **words)
    assert str(error.value) == f"retarget: {line}"


def test_animals_are_paired_by_name_and_keep_their_feet() -> None:
    dog = character("quadruped")
    pose = dog.skeleton.relaxed_pose()
    turned = np.repeat(pose.rotations[None], 5, axis=0)
    moving = viewer.Character(dog.skeleton, {"c": viewer.Clip.from_arrays(dog.skeleton, turned)})
    made = viewer.retarget(moving, dog)
    assert made.report.feet == "off"
    assert len(made.map.pairs) == len(dog.skeleton)
    np.testing.assert_allclose(
        viewer.fk_clip(dog.skeleton, moved(made)).positions,
        viewer.fk_clip(dog.skeleton, moving.clips["c"]).positions,
        atol=1e-6,
    )


# --- the command


def test_the_command_writes_the_motion_and_the_map(capsys: Any, tmp_path: Path) -> None:  # noqa: ANN401 - pytest's
    out, saved = tmp_path / "out.glb", tmp_path / "map.json"
    done = ran(
        capsys,
        "retarget",
        "sample:walk",
        "--to",
        "sample:biped-hands",
        "-o",
        str(out),
        "--save-map",
        str(saved),
        "--json",
    )
    assert done.code == 0
    told = json.loads(done.out)
    assert told["pairs"]["LeftArm"] == "LeftArm"
    assert told["frames"] == 68
    assert told["reference"] == {"source": "rest", "target": "rest"}
    made = viewer.load(out)
    assert len(made.skeleton) >= 52
    assert len(moved(viewer.Retargeted(made, viewer.Map({}), None))) == 68  # type: ignore[arg-type]
    stated = json.loads(saved.read_text("utf-8"))
    assert stated["type"] == "map"
    stated["pairs"]["Head"] = None
    saved.write_text(json.dumps(stated), "utf-8")
    again = ran(capsys, "retarget", "sample:walk", "--to", "sample:biped-hands", "--map", str(saved), "--json")
    assert "Head" in json.loads(again.out)["without_partner"]


def test_a_folder_is_retargeted_file_by_file(capsys: Any, tmp_path: Path) -> None:  # noqa: ANN401
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    walk = character("walk")
    viewer.save(walk, folder / "a.bvh")
    (folder / "b.bvh").write_text("HIERARCHY\n", "utf-8")
    words = ["retarget", str(folder), "--to", "sample:biped", "-o", str(out), "--suffix", ".json"]
    done = ran(capsys, *words)
    assert done.code == 1
    assert f"wrote {out / 'a.json'}: 68 frames, 22 pairs" in done.out
    assert "b.bvh, line 2, column 1: expected ROOT" in done.err
    assert done.out.splitlines()[-1] == "1 of 2 motions retargeted, 1 failed"
    again = ran(capsys, *words, "--resume")
    assert again.code == 1
    assert again.out.splitlines()[-1] == "0 of 2 motions retargeted, 1 done before, 1 failed"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["sample:walk"], "the following arguments are required: --to RIG"),
        (["sample:walk", "sample:walk", "--to", "sample:biped"], "2 motions need -o FOLDER or -o '{stem}.glb'"),
        (["sample:walk", "--to", "sample:biped", "--reference", "x"], 'expected auto, rest or a frame, found "x"'),
        (["sample:walk", "--to", "sample:biped", "--scale", "0"], 'expected auto or a number above 0, found "0"'),
        (["sample:walk", "--to", "sample:biped", "--suffix", ".glb"], "argument --suffix: expected -o FOLDER with it"),
        (
            ["sample:walk", "--to", "sample:two-link"],
            "sample:two-link: expected a figure with arms or legs, found none",
        ),
        (["sample:biped", "--to", "sample:walk"], "sample:biped: expected motion, found a skeleton without frames"),
    ],
)
def test_wrong_usage_is_one_line(capsys: Any, words: list[str], line: str) -> None:  # noqa: ANN401
    done = ran(capsys, "retarget", *words)
    assert done.code != 0
    assert line in done.err


def test_a_single_frame_keeps_the_targets_bones() -> None:
    walk, rig = viewer.load("sample:walk"), viewer.load("sample:biped-hands")
    assert walk.clip is not None
    alone = replace(walk, clips=MappingProxyType({"walk": walk.clip[:1]}))
    made = viewer.retarget(alone, rig).character
    assert made.clip is not None
    bones = made.skeleton.offsets[1:]
    np.testing.assert_allclose(made.clip.local_translations(slice(None))[0, 1:], bones, atol=1e-12)


def test_joints_at_one_place_are_retargeted_by_name() -> None:
    turns = [[[0, 0, 0, 1], [0, 0, 0, 1]], [[0, 0, 0, 1], [0, 0.6, 0, 0.8]]]
    joints = [{"name": "a"}, {"name": "b", "parent": "a"}]
    dot = viewer.load(text=json.dumps({"joints": joints, "motion": {"frame_time": 0.1, "frames": turns}}))
    made = viewer.retarget(dot, dot).character
    assert made.clip is not None
    assert dot.clip is not None
    np.testing.assert_allclose(made.clip.rotations, dot.clip.rotations, atol=1e-9)


@pytest.mark.parametrize("rate", [24.0, 30.0, 60.0, 120.0])
def test_hands_begin_and_end_to_touch_without_a_leap(rate: float) -> None:
    """Also where noise takes them over the distance at which they touch, to and fro, in every frame."""
    time = np.arange(round(6.0 * rate)) / rate
    clear = np.interp(time, [0.0, 2.0, 2.5, 3.5, 4.0, 6.0], [3.0, 3.0, 0.5, 0.5, 3.0, 3.0])
    share = touching_share(clear, rate)
    assert share[(time > 2.6) & (time < 3.4)].min() > 0.99
    assert share[(time < 1.8) | (time > 4.2)].max() < 0.01
    hovering = 1.0 + 0.1 * np.random.default_rng(2).normal(size=len(time))
    for gaps in (clear, hovering):
        steps = np.diff(touching_share(gaps, rate)) * rate
        assert np.abs(steps).max() < 8.0  # a quarter of a second from one end to the other, no less
        assert np.abs(np.diff(steps)).max() * rate < 150.0


@pytest.mark.parametrize("rig", ["sample:walk", "sample:biped", "sample:biped-hands"])
def test_hands_that_touch_do_not_jerk(rig: str) -> None:
    """Elbows of the walk are overstretched by two degrees now and then: posed in some frames alone they turned over."""
    walk = viewer.load("sample:walk")

    def jerk(clip: viewer.Clip | None) -> float:
        assert clip is not None
        steps = log(multiply(conjugate(clip.rotations[:-1]), clip.rotations[1:]))
        return float(np.linalg.norm(np.diff(steps, axis=0), axis=-1).max())

    found = viewer.retarget(walk, viewer.load(rig), hands="touch").character
    assert jerk(found.clip) < 1.1 * jerk(walk.clip)


def test_noise_does_not_make_a_nearly_straight_arm_that_touches_jerk() -> None:
    """By the last millimetres of its reach an elbow turns as far as by centimetres before."""
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    noisy = with_noise(walk.clip.resampled(120.0), 1)
    source = replace(walk, clips=MappingProxyType({"noisy": noisy}))
    made = moved(viewer.retarget(source, viewer.load("sample:walk"), hands="touch"))
    arms = [walk.skeleton.index(side + bone) for side in ("Left", "Right") for bone in ("Arm", "ForeArm", "Hand")]
    assert jerk(made.rotations[:, arms]) < 1.5 * jerk(noisy.rotations)


@pytest.mark.parametrize("hands", ["free", "reach", "touch"])
def test_what_hands_make_up_for_does_not_magnify_noise(walk: viewer.Character, hands: Hands) -> None:
    """Elbows of hinges leave to the hand what they cannot do, and hands that reach bend nearly straight arms."""
    noisy = with_noise(walk.clips["walk"], 31)
    source = replace(walk, clips=MappingProxyType({"noisy": noisy}))
    made = moved(viewer.retarget(source, viewer.load("sample:biped"), hands=hands))
    assert jerk(made.rotations) < 1.35 * jerk(noisy.rotations)


def test_hands_that_reach_are_in_their_places_after_a_leap(walk: viewer.Character) -> None:
    """As after the first frame of a capture, which often is a calibration pose."""
    skeleton, clip = walk.skeleton, walk.clips["walk"].resampled(120.0)
    offsets = skeleton.offsets.copy()
    offsets[[skeleton.index(f"{side}Hand") for side in ("Left", "Right")]] *= 1.5
    target = viewer.Character(replace(skeleton, offsets=offsets, effectors=(), poses=MappingProxyType({})))
    turns = clip.rotations.copy()
    turns[0] = skeleton.rest_rotations
    found = []
    for each in (clip, clip.with_motion(turns)):
        source = replace(walk, clips=MappingProxyType({"walk": each}))
        made = moved(viewer.retarget(source, target, hands="reach", feet="off", reference="rest"))
        world = viewer.fk_clip(target.skeleton, made)
        found.append(world.positions[1:, [skeleton.index("LeftHand"), skeleton.index("RightHand")]])
    np.testing.assert_allclose(found[0], found[1], atol=5e-3)


def test_a_hand_touches_nothing_before_a_leap_because_it_does_after_it() -> None:
    """Arms spread in a calibration pose hang beside the thighs in the next frame."""
    biped = character("biped").skeleton
    turns = np.tile(biped.rest_rotations, (30, 1, 1))
    for name, side in (("LeftArm", -1.0), ("RightArm", 1.0)):
        turns[1:, biped.index(name)] = from_axis_angle(np.array([0.0, 0.0, 1.0]), side * np.radians(95.0))
    clip = viewer.Clip.from_arrays(biped, turns, np.tile(biped.offsets, (30, 1, 1)), fps=60)
    source = viewer.Character(biped, MappingProxyType({"hangs": clip}))
    offsets = biped.offsets.copy()
    offsets[[biped.index(f"{side}Hand") for side in ("Left", "Right")]] *= 1.5
    target = viewer.Character(replace(biped, offsets=offsets, effectors=(), poses=MappingProxyType({})))
    free, touching = (moved(viewer.retarget(source, target, hands=hands)) for hands in ("free", "touch"))
    np.testing.assert_allclose(touching.rotations[0], free.rotations[0], atol=1e-6)
    assert angle_between(touching.rotations[1], free.rotations[1]).max() > np.radians(5.0)


@pytest.mark.parametrize("up", [0.0, 90.0, 150.0])
def test_a_finger_without_a_tip_bends_as_its_partner_against_the_bone_above_it(up: float) -> None:
    """However the finger points at rest: a hinge cannot make up for that, and its angle would be mere noise."""
    given = character("biped-hands")
    skeleton = given.skeleton
    names = [skeleton.index(f"LeftHandIndex{number}") for number in (1, 2, 3)]
    turns = np.tile(skeleton.rest_rotations, (30, 1, 1))
    bend = np.radians(np.linspace(0.0, 40.0, 30))
    turns[:, names[2]] = multiply(turns[:, names[2]], from_axis_angle(skeleton.axes[names[2], 0], bend))
    clip = viewer.Clip.from_arrays(skeleton, turns, np.tile(skeleton.offsets, (30, 1, 1)), fps=30)
    kept, rests = skeleton.tip_parents != names[2], skeleton.rest_rotations.copy()
    rests[names[0]] = multiply(rests[names[0]], from_axis_angle(np.array([0.0, 0.0, 1.0]), np.radians(up)))
    offsets = skeleton.offsets.copy()
    offsets[skeleton.index("Spine")] *= 1.5  # which makes it another tree
    robot = viewer.Skeleton(
        "robot", skeleton.names, skeleton.parents, offsets, rests, skeleton.kinds, skeleton.axes,
        tip_parents=skeleton.tip_parents[kept], tip_offsets=skeleton.tip_offsets[kept],
    )  # fmt: skip
    source = viewer.Character(skeleton, MappingProxyType({"bend": clip}))
    made = moved(viewer.retarget(source, viewer.Character(robot), feet="off")).rotations[:, names[2]]
    turned = log(multiply(conjugate(robot.rest_rotations[names[2]]), made)) @ robot.axes[names[2], 0]
    np.testing.assert_allclose(turned, bend, atol=np.radians(0.1))


def test_hands_that_touch_shake_no_more_than_free_ones(walk: viewer.Character) -> None:
    """They need not make up for all noise of their arms."""
    noisy = with_noise(walk.clips["walk"], 2)
    source = replace(walk, clips=MappingProxyType({"noisy": noisy}))
    palms = [walk.skeleton.index(f"{side}Hand") for side in ("Left", "Right")]

    def shakes(hands: Hands) -> float:
        made = viewer.retarget(source, walk, hands=hands).character.clip
        assert made is not None
        turns = made.rotations[:, palms]
        steps = log(multiply(conjugate(turns[:-1]), turns[1:]))
        return float(np.sqrt((np.diff(steps, axis=0) ** 2).mean()))

    assert shakes("touch") < 1.1 * shakes("free")


def test_hands_whose_places_are_out_of_reach_are_said(walk: viewer.Character) -> None:
    """The walk's hands pass near its thighs: arms of half the length do not get there."""
    short = walk.skeleton.offsets.copy()
    short[[walk.skeleton.index(side + bone) for side in ("Left", "Right") for bone in ("ForeArm", "Hand")]] *= 0.5
    rig = viewer.Character(replace(walk.skeleton, offsets=short, poses={}))
    found = viewer.retarget(walk, rig, hands="touch").report.warnings
    (line,) = [line for line in found if line.startswith("hands: ")]
    told = re.fullmatch(r"hands: what they touch is out of reach in (\d+) of 68 frames, by up to (\d+\.\d) cm", line)
    assert told is not None
    assert 0 < int(told[1]) <= 68
    assert 1.0 < float(told[2]) < 50.0
    assert not viewer.retarget(walk, walk, hands="touch").report.warnings
    assert not viewer.retarget(walk, rig, hands="free").report.warnings


_LEG = """<body name="{side}_thigh" pos="0 {y} -0.2"><joint type="hinge" axis="0 1 0"/>
<geom size="0.05" fromto="0 0 0 0 0 -0.45" type="capsule"/>
<body name="{side}_shin" pos="0 0 -0.45"><joint type="hinge" axis="0 -1 0" range="-150 0"/>
<geom size="0.05" fromto="0 0 0 0 0 -0.5" type="capsule"/>
<body name="{side}_foot" pos="0 0 -0.5"><joint type="hinge" axis="0 1 0"/>
<geom size="0.05" fromto="-0.05 0 0 0.2 0 0" type="capsule"/></body></body></body>"""
_PLANAR = """<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>"""


def walker(folder: Path, *, planar: bool) -> viewer.Character:
    """A biped of hinges, whose root moves in a plane or freely."""
    file = folder / "walker.xml"
    legs = _LEG.format(side="left", y=0.05) + _LEG.format(side="right", y=-0.05)
    root = _PLANAR if planar else "<freejoint/>"
    body = f'<body name="torso" pos="0 0 1.25">{root}<geom size="0.05" fromto="0 0 0 0 0 0.4" type="capsule"/>{legs}'
    file.write_text(f"<mujoco><worldbody>{body}</body></worldbody></mujoco>")
    return viewer.load(file)


def bent(walk: viewer.Character, degrees: float) -> viewer.Character:
    """The walk along an arc: each frame is turned, and each step with it."""
    clip = walk.clips["walk"]
    turn = from_axis_angle((0.0, 1.0, 0.0), np.radians(np.linspace(0.0, degrees, len(clip))))
    moved, rotations = clip.local_translations(), clip.rotations.copy()
    steps = rotate(normalized(turn[1:] + turn[:-1]), np.diff(moved[:, 0], axis=0))
    moved[1:, 0] = moved[0, 0] + np.cumsum(steps, axis=0)
    rotations[:, 0] = multiply(turn, rotations[:, 0])
    return replace(walk, clips=MappingProxyType({"walk": clip.with_motion(rotations, moved)}))


@pytest.mark.parametrize("degrees", [0.0, 120.0])
@pytest.mark.parametrize("feet", ["plant", "follow"])
def test_a_planar_walker_walks_on_in_its_plane(
    walk: viewer.Character, tmp_path: Path, feet: Feet, degrees: float
) -> None:
    rig, source = walker(tmp_path, planar=True), bent(walk, degrees)
    found = viewer.retarget(source, rig, feet=feet)
    line = '"torso" moves in a plane: the motion goes straight on in it, as far as it goes ahead'
    assert found.report.warnings == (line,)
    skeleton, clip = rig.skeleton, found.character.clip
    assert clip is not None
    world = viewer.fk_clip(skeleton, clip)
    assert np.ptp(world.positions[..., 2], axis=0).max() < 1e-9
    space, own = joint_space(skeleton), (clip.rotations, clip.local_translations())
    turned, moved = space.rebuild(space.measure(*own), *own)
    assert np.allclose(moved, own[1], atol=1e-9)
    assert np.abs(angle_between(turned, own[0])).max() < 1e-6
    torso, hips = (np.array([one.index(name)]) for one, name in ((skeleton, "torso"), (walk.skeleton, "Hips")))
    gone = world.positions[-1, torso, 0] - world.positions[0, torso, 0]
    straight = walk.clips["walk"].local_translations()[:, hips]
    walked = found.report.scale * np.linalg.norm(straight[-1, 0] - straight[0, 0])
    assert gone == pytest.approx(walked, rel=0.03)
    if feet == "plant":
        assert found.report.feet == "plant"
        assert found.report.slide_cm_s is not None
        assert found.report.slide_cm_s[1] < 1e-3


def test_feet_of_a_planar_walker_are_planted_by_its_slides(walk: viewer.Character, tmp_path: Path) -> None:
    """Planting moves the body, too, and no joint that cannot be moved."""
    made = viewer.retarget(bent(walk, 120.0), walker(tmp_path, planar=True), feet="follow").character
    assert made.clip is not None
    planted = viewer.plant_feet(made.skeleton, made.clip)
    assert planted.report.pelvis_cm > 0.0
    assert set(planted.clip.translated) <= {0, 1}
    world = viewer.fk_clip(made.skeleton, planted.clip)
    assert np.ptp(world.positions[..., 2], axis=0).max() < 1e-9


def test_a_walker_that_moves_freely_keeps_its_path(walk: viewer.Character, tmp_path: Path) -> None:
    assert viewer.retarget(walk, walker(tmp_path, planar=False)).report.warnings == ()
