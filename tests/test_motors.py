"""Efforts and velocities that files state: read, kept, written, obeyed in a simulation, and what bad ones become."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import msgspec
import numpy as np
import pytest
from cli_run import ran
from inside.physics import Standing, Together, load_mujoco
from inside.session import document_data, document_of
from inside.skeleton import joint_edits, with_rig

import viewer
from viewer import Builder, InputError, Motor, Surroundings
from viewer.document import new_document

if TYPE_CHECKING:
    from viewer import Skeleton

INERTIAL = (
    '<inertial><origin xyz="0.2 0 0"/><mass value="2"/>'
    '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def robot(*limits: str, word: str = "revolute") -> str:
    """A base and a row of horizontal joints, each with these attributes of its limit, and 2 kg 0.2 m along x."""
    text = '<link name="base"/>'
    for i, limit in enumerate(limits):
        above = f"l{i - 1}" if i else "base"
        text += (
            f'<link name="l{i}">{INERTIAL}</link>\n<joint name="j{i}" type="{word}"><parent link="{above}"/>'
            f'<child link="l{i}"/><origin xyz="{0.4 if i else 0.0} 0 0"/><axis xyz="0 1 0"/>'
            f'<limit lower="-3" upper="3" {limit}/></joint>'
        )
    return f'<robot name="arm">{text}</robot>'


def read(tmp_path: Path, text: str, name: str = "arm.urdf") -> viewer.Character:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return viewer.load(tmp_path / name)


TWO = robot('effort="40" velocity="2.5"', 'effort="12.5"')
MOTORS = (None, Motor(40.0, 2.5), Motor(12.5))


def test_a_file_states_motors(tmp_path: Path) -> None:
    assert read(tmp_path, TWO).skeleton.motors == MOTORS
    assert read(tmp_path, robot("", "")).skeleton.motors == ()


@pytest.mark.parametrize("word", ["revolute", "continuous", "prismatic"])
def test_urdf_is_written_with_them(word: str, tmp_path: Path) -> None:
    character = read(tmp_path, robot('effort="40" velocity="2.5"', 'effort="0.3"', "", word=word))
    viewer.save(character, tmp_path / "again.urdf")
    assert viewer.load(tmp_path / "again.urdf").skeleton.motors == character.skeleton.motors
    limits = [joint.find("limit") for joint in ET.parse(tmp_path / "again.urdf").iter("joint")]
    stated = [None if one is None else (float(one.get("effort", "")), float(one.get("velocity", ""))) for one in limits]
    assert stated[-3:] == [(40.0, 2.5), (0.3, 1e9), None if word == "continuous" else (1e9, 1e9)]


def test_skeleton_files_and_sessions_keep_them(tmp_path: Path) -> None:
    character = read(tmp_path, TWO)
    viewer.save(character, tmp_path / "arm.json")
    assert '"motor": {"effort": 12.5}' in (tmp_path / "arm.json").read_text("utf-8")
    for before, after in zip(MOTORS, viewer.load(tmp_path / "arm.json").skeleton.motors, strict=True):
        assert (before is None) == (after is None)
        if before is not None and after is not None:
            assert after.effort == before.effort
            assert after.velocity == pytest.approx(before.velocity)
    data = document_data(new_document(character))
    again = document_of(msgspec.json.decode(msgspec.json.encode(data), type=type(data)), tmp_path)
    assert again.skeleton.motors == MOTORS


def test_files_say_speeds_in_degrees_and_their_own_units(tmp_path: Path) -> None:
    builder = Builder().add("a", kind="hinge", axis=(1, 0, 0), motor=Motor(velocity=np.pi))
    made = builder.add("b", "a", kind="slide", axis=(1, 0, 0), motor=Motor(20.0, 0.5)).skeleton
    source = replace(viewer.load("sample:biped").source, units="cm", metres_per_unit=0.01)
    viewer.save(viewer.Character(made, source=source), tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text("utf-8")
    assert '"motor": {"velocity": 180}' in text
    assert '"motor": {"effort": 20, "velocity": 50}' in text
    assert viewer.load(tmp_path / "a.json").skeleton.motors == made.motors


def test_a_motor_without_strength_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"joints": [{"name": "a", "motor": {"effort": 0}}]}', encoding="utf-8")
    with pytest.raises(viewer.FormatError) as caught:
        viewer.load(tmp_path / "a.json")
    assert str(caught.value).endswith('a.json: joints[0] "a".motor.effort: expected more than 0, found 0')


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((0.0,), "motor: effort: expected a number above 0, found 0"),
        ((-1.0,), "motor: effort: expected a number above 0, found -1"),
        ((1.0, np.inf), "motor: velocity: expected finite numbers, found inf"),
    ],
)
def test_numbers_that_no_motor_has_are_refused(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Motor(*given)
    assert str(caught.value) == message


ZERO = "states an effort of 0: physics estimates it"
WRONG = [
    ('effort="nan" velocity="1"', Motor(velocity=1.0),
     'line 2: joint "j0": <limit effort>: expected a finite number, found "nan": it is not known'),
    ('effort="strong" velocity="1"', Motor(velocity=1.0),
     'line 2: joint "j0": <limit effort>: expected a finite number, found "strong": it is not known'),
    ('effort="-5" velocity="1"', Motor(velocity=1.0),
     'line 2: joint "j0": <limit effort>: expected 0 or more, found -5: it is not known'),
    ('effort="5" velocity=""', Motor(5.0),
     'line 2: joint "j0": expected the attribute "velocity" of <limit>, found none: it is not known'),
    ('effort="-5" velocity="x"', None,
     'line 2: joint "j0": <limit effort>: expected 0 or more, found -5: it is not known, and 1 more such'),
    ('effort="0" velocity="1"', Motor(velocity=1.0), f'joint "j0" {ZERO}'),
    ('effort="1e9" velocity="1e16"', None, None),
]  # fmt: skip


@pytest.mark.parametrize(("given", "motor", "message"), WRONG)
def test_what_no_motor_has_is_said_in_one_line(
    given: str, motor: Motor | None, message: str | None, tmp_path: Path
) -> None:
    character = read(tmp_path, robot(given))
    assert (character.skeleton.motors[1] if character.skeleton.motors else None) == motor
    assert list(character.warnings) == ([] if message is None else [message])


def test_several_efforts_of_0_are_one_line(tmp_path: Path) -> None:
    zero = 'effort="0" velocity="0"'
    words = 'joint "j0" and 2 more state an effort of 0: physics estimates it'
    assert read(tmp_path, robot(zero, zero, zero)).warnings == (words,)


MODEL = """<mujoco><worldbody><body name="a"><joint name="ja" axis="0 1 0" range="-90 90" {joint}/>
<geom type="sphere" size="0.1"/><body name="b" pos="0.5 0 0"><joint name="jb" axis="0 1 0"/>
<geom type="sphere" size="0.1"/></body></body></worldbody><actuator>{actuators}</actuator></mujoco>"""
ACTUATED = [
    ('<motor joint="ja" gear="100" ctrlrange="-1 1"/>', "", 100.0),
    ('<motor joint="ja" gear="100" ctrlrange="0 1"/>', "", None),
    ('<motor joint="ja" gear="-2" ctrlrange="-50 50" forcerange="-20 20"/>', "", 40.0),
    ('<position joint="ja" kp="100" ctrlrange="-1 1"/>', "", None),
    ('<position joint="ja" kp="100" forcerange="-87 87"/>', "", 87.0),
    ('<position joint="ja" forcerange="-10 10"/><velocity joint="ja" forcerange="-3 3"/>', "", 13.0),
    ('<motor joint="ja"/>', 'actuatorfrcrange="-8 8"', 8.0),
    ("", 'actuatorfrcrange="-8 5"', None),
]


@pytest.mark.parametrize(("actuators", "joint", "effort"), ACTUATED)
def test_a_mujoco_model_states_efforts_by_ranges(
    actuators: str, joint: str, effort: float | None, tmp_path: Path
) -> None:
    skeleton = read(tmp_path, MODEL.format(actuators=actuators, joint=joint), "a.xml").skeleton
    assert skeleton.motors == (() if effort is None else (Motor(effort), None))


def test_mujoco_reads_the_efforts_that_are_written(tmp_path: Path) -> None:
    viewer.save(read(tmp_path, TWO), tmp_path / "arm.xml")
    model = load_mujoco().MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    assert model.jnt_actfrclimited.all()
    assert model.jnt_actfrcrange.tolist() == [[-40.0, 40.0], [-12.5, 12.5]]
    assert viewer.load(tmp_path / "arm.xml").skeleton.motors == (None, Motor(40.0), Motor(12.5))


def test_formats_without_a_place_for_motors_say_so(tmp_path: Path) -> None:
    assert any("masses, motors: left out" in line for line in viewer.save(read(tmp_path, TWO), tmp_path / "arm.bvh"))


def test_edits_carry_motors_along() -> None:
    own = Motor(3.0)
    builder = Builder().add("root").add("LeftArm", "root", (0.5, 1.0, 0.0), kind="hinge", axis=(1, 0, 0), motor=own)
    made = builder.mirror("LeftArm").skeleton
    assert made.motors == (None, own, own)
    assert Builder(made).rename("LeftArm", "LeftHand").change("RightArm", limits=(0, 1)).skeleton.motors == made.motors
    assert Builder(made).change("LeftArm", kind="ball").skeleton.motors == (None, None, own)
    plain = Builder().add("root").add("LeftArm", "root", (0.5, 1.0, 0.0)).skeleton
    assert plain.motors == ()
    assert with_rig(viewer.Character(plain), viewer.Character(made)).skeleton.motors == (None, own)
    still = np.array([0.0, 0.0, 0.0, 1.0])
    both = [Standing(plain, np.zeros(3), still), Standing(made, np.array([3.0, 0.0, 0.0]), still)]
    assert Together.of(both).skeleton.motors == (None, None, *made.motors)
    with pytest.raises(InputError, match=r'^skeleton motors of "root": expected Motor or None, found "3"$'):
        replace(made, motors=(3, None, None))  # type: ignore[arg-type]


def test_info_says_how_strong_a_robot_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read(tmp_path, TWO)
    assert "  motors     effort of 2, velocity of 1 of 2 joints, from the file\n" in ran(
        capsys, "info", tmp_path / "arm.urdf"
    ).out  # fmt: skip
    joints = ran(capsys, "info", tmp_path / "arm.urdf", "--json").json["joints"]
    assert joints[2]["motor"] == {"effort": 12.5}
    assert "motor" not in joints[0]
    assert "motors" not in ran(capsys, "info", "sample:claw-arm").out


# --- physics


def simulated(skeleton: Skeleton, strength: float = 6.0) -> viewer.Physics:
    return viewer.Physics(skeleton, surroundings=Surroundings(ground=None), strength=strength)


def turned(angle: float, skeleton: Skeleton) -> viewer.Pose:
    pose = skeleton.rest_pose()
    rotations = pose.rotations.copy()
    rotations[1] = [0.0, np.sin(0.5 * angle), 0.0, np.cos(0.5 * angle)]
    return viewer.Pose(rotations, pose.translations)


@pytest.mark.parametrize("strength", [3.0, 6.0, 10.0])
def test_a_motor_drives_and_carries_with_its_effort(strength: float, tmp_path: Path) -> None:
    """Its load, 2 kg at 0.2 m, takes 3.92 N m: what is left of 10 N m turns it, faster downwards than upwards."""
    skeleton = read(tmp_path, robot('effort="10"')).skeleton
    speeds = {}
    for way in (-2.0, 2.0):
        sim = simulated(skeleton, strength)
        sim.aim(turned(way, skeleton))
        sim.step(0.02)
        sim.step(0.02)
        speeds[way] = float(sim._data.qvel[0])
        applied = float(sim._data.qfrc_applied[0])
        assert abs(applied) <= 10.0 + 1e-9
        assert abs(applied) == pytest.approx(10.0)
    inertia = 0.02 + 2.0 * 0.2**2
    up, down = (10.0 - 3.924) / inertia, (10.0 + 3.924) / inertia
    assert sorted(abs(one) for one in speeds.values()) == pytest.approx([0.04 * up, 0.04 * down], rel=0.1)


def test_a_motor_that_cannot_hold_its_load_at_the_start_is_helped_by_springs(tmp_path: Path) -> None:
    skeleton = read(tmp_path, robot('effort="2"', 'effort="40"')).skeleton
    sim = simulated(skeleton)
    words = "l0 cannot hold what hangs on it by the effort in the file: springs are assumed to hold it"
    assert sim.warnings == (words,)
    for _ in range(60):
        sim.step(1.0 / 60.0)
    np.testing.assert_allclose(sim.pose.rotations, sim.aimed.rotations, atol=1e-6)
    for way in (-2.0, 2.0):  # the motor has its effort for all else, and no more to let go what springs hold
        sim = simulated(skeleton)
        sim.aim(turned(way, skeleton))
        sim.step(0.02)
        assert abs(float(sim.drive.torques[0])) == pytest.approx(2.0)
    assert simulated(read(tmp_path, robot('effort="40"')).skeleton).warnings == ()


def test_a_motor_that_gets_too_weak_sinks(tmp_path: Path) -> None:
    """Upright it carries nothing; it holds 3 N m, and its load asks for 3.92 where it is level."""
    skeleton = read(tmp_path, robot('effort="3"')).skeleton
    sim = viewer.Physics(skeleton, turned(-0.5 * np.pi, skeleton), surroundings=Surroundings(ground=None))
    assert sim.warnings == ()
    sim.step(1.0 / 60.0)
    assert sim.drive.at_full_effort.tolist() == []
    for angle in np.linspace(-0.5 * np.pi, 0.0, 60).tolist():
        sim.aim(turned(angle, skeleton))
        sim.step(1.0 / 60.0)
    heights = []
    for _ in range(120):
        pose = sim.step(1.0 / 60.0)
        heights.append(float(viewer.fk(skeleton, pose).point(1, np.array([0.2, 0.0, 0.0]))[1]))
    assert [skeleton.names[joint] for joint in sim.drive.at_full_effort] == ["l0"]
    assert min(heights) < -0.1
    assert np.mean(heights) < -0.05


def test_efforts_of_0_leave_no_robot_limp(tmp_path: Path) -> None:
    zero, none = (read(tmp_path, robot(limit)).skeleton for limit in ('effort="0" velocity="0"', ""))
    for skeleton in (zero, none):
        sim = simulated(skeleton)
        sim.push("l0", (0.0, 2.0, 0.0))
        for _ in range(90):
            sim.step(1.0 / 60.0)
        np.testing.assert_allclose(sim.pose.rotations, sim.aimed.rotations, atol=1e-3)


# --- speed


def moved(skeleton: Skeleton, rates: tuple[float, ...]) -> viewer.Clip:
    """A second at 10 fps in which the joints move at such speeds from frame 3 to 4, and at half of them else."""
    times = np.cumsum([0.0, 0.05, 0.05, 0.05, 0.1, *(0.05,) * 6])
    return viewer.clip_at(skeleton, times[:, None] * rates, fps=10.0, name="go")


def test_a_motion_that_is_too_fast_is_said_where_it_is_checked_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = 'effort="9" velocity="2"'
    character = read(tmp_path, robot(limits, limits, limits))
    words = 'joint "l1" moves at 171.9 deg/s in frame 4, its motor at 114.6 at most; 1 more joint is too fast'
    fast = replace(character, clips={"go": moved(character.skeleton, (2.5, 3.0, 2.0))})
    assert viewer.save(fast, tmp_path / "fast.csv", joints=True)[1:] == [words]
    assert len(viewer.save(fast, tmp_path / "places.csv")) == 1
    viewer.save(fast, tmp_path / "fast.json")
    assert f"fast.json: {words}\n" in ran(capsys, "check", tmp_path / "fast.json").out
    slow = replace(character, clips={"go": moved(character.skeleton, (2.0, -2.0, 2.0))})
    assert len(viewer.save(slow, tmp_path / "slow.csv", joints=True)) == 1


def test_speeds_are_those_of_the_short_way_round_and_of_slides_in_metres(tmp_path: Path) -> None:
    around = read(tmp_path, robot('effort="9" velocity="20"', word="continuous"))
    spun = replace(around, clips={"go": moved(around.skeleton, (12.0,))})  # beyond half a turn
    assert len(viewer.save(spun, tmp_path / "spun.csv", joints=True)) == 1
    slides = read(tmp_path, robot('effort="9" velocity="0.5"', word="prismatic"))
    slid = replace(slides, clips={"go": moved(slides.skeleton, (0.75,))})
    words = 'joint "l0" moves at 0.75 m/s in frame 4, its motor at 0.5 at most'
    assert viewer.save(slid, tmp_path / "slid.csv", joints=True)[1:] == [words]


def test_a_retarget_onto_slow_motors_is_said() -> None:
    walk = viewer.load("sample:walk")
    hinge = viewer.load("sample:biped").skeleton
    slow = replace(hinge, motors=tuple(Motor(velocity=0.2) for _ in hinge.names))
    report = viewer.retarget(walk, viewer.Character(slow)).report
    singles = [name for name, kind in zip(slow.names, slow.kinds, strict=True) if kind is viewer.JointKind.HINGE]
    found = [line for line in report.warnings if "its motor at 11.46 at most" in line]
    assert len(found) == 1
    assert any(f'joint "{name}" moves at' in found[0] for name in singles)


def test_a_copy_of_a_branch_has_its_motors_and_inertias() -> None:
    inertia, motor = viewer.Inertia(2.0), Motor(5.0, 3.0)
    builder = Builder(name="arm").add("base").add("arm", "base", (0, 1, 0), inertia=inertia, motor=motor)
    made, copy = joint_edits.duplicated(builder.skeleton, "arm", (1.0, 0.0, 0.0))
    assert made.motors == (None, motor, motor)
    assert made.inertias[made.index(copy)] == inertia


def test_a_copy_of_a_branch_has_its_bodies_mobility_and_poses() -> None:
    skeleton = Builder(name="arm").add("base").add("arm", "base", (0, 1, 0)).tip("arm", (0, 0.5, 0)).skeleton
    half_turn = np.array([[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    skeleton = replace(
        skeleton,
        bodies=viewer.Bodies((viewer.Capsule(1, (0, 0, 0), (0, 0.5, 0), 0.1),)),
        mobility=np.array([[1.0, 1.0, 1.0], [0.2, 0.3, 0.4]]),
        poses={"bent": viewer.Pose(half_turn, skeleton.offsets)},
    )
    made, copy = joint_edits.duplicated(skeleton, "arm", (1.0, 0.0, 0.0))
    place = made.index(copy)
    assert made.bodies is not None
    assert made.bodies.capsules[1] == replace(made.bodies.capsules[0], joint=place)
    assert made.mobility is not None
    assert made.mobility[place].tolist() == [0.2, 0.3, 0.4]
    assert made.poses["bent"].rotations[place].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert made.poses["bent"].translations[place].tolist() == [1.0, 1.0, 0.0]
    assert made.tip_offsets.tolist() == [[0.0, 0.5, 0.0]] * 2
