"""Where robots are taken hold of: tools, hands and feet, not jaws and cameras."""

from __future__ import annotations

import pytest

import viewer

ARM = [("l1", "base", "y"), ("l2", "l1", "y"), ("l3", "l2", "y"), ("l4", "l3", "y"), ("l5", "l4", "y")]
SIX = [*ARM, ("wrist", "l5", "y")]


def effectors(links: list[tuple[str, str, str]], mimics: dict[str, str] | None = None) -> dict[str, str]:
    """The effectors of a robot of links (name, parent, whether it moves: y, n), and their goals."""
    text = ['<robot name="r"><link name="base"/>']
    for name, parent, moves in links:
        word = "continuous" if moves == "y" else "fixed"
        leader = (mimics or {}).get(name)
        follows = f'<mimic joint="j_{leader}"/>' if leader else ""
        text.append(
            f'<link name="{name}"/><joint name="j_{name}" type="{word}"><parent link="{parent}"/><child link="{name}"/>'
            f'<origin xyz="0 0 0.1"/>{follows}</joint>'
        )
    skeleton = viewer.load(text="".join([*text, "</robot>"])).skeleton
    return {one.name: one.goal.value for one in skeleton.effectors}


@pytest.mark.parametrize(
    ("hand", "jaw"), [("gripperStator", "gripperMover"), ("gripper_base", "gripper_jaw"), ("hand", "moving_jaw")]
)
def test_a_gripper_is_held_by_what_carries_its_jaw(hand: str, jaw: str) -> None:
    """The joint of a jaw does not move what it holds: with it a six-axis arm would have seven joints."""
    assert effectors([*SIX, (hand, "wrist", "n"), (jaw, hand, "y")]) == {hand: "position+rotation"}


def test_wheels_and_rotors_on_the_base_come_last_and_are_off() -> None:
    """A link that turns about its own origin is where it is, however it turns; a tip beside its axis is moved."""
    wheels = [("left_wheel", "base", "y"), ("right_wheel", "base", "y")]
    assert effectors(wheels) == {"left_wheel": "off", "right_wheel": "off"}
    found = effectors([*wheels, *SIX, ("tool", "wrist", "n")])
    assert list(found.items()) == [("tool", "position+rotation"), ("left_wheel", "off"), ("right_wheel", "off")]
    assert effectors([("table", "base", "y"), ("far_end", "table", "n")]) == {"far_end": "position"}
    assert effectors([("leg", "base", "y"), ("wheel", "leg", "y")]) == {"wheel": "position"}


def test_a_grasp_frame_is_held_and_not_its_jaws() -> None:
    links = [("grasp_base", "wrist", "n"), ("link7", "grasp_base", "y"), ("link8", "grasp_base", "y")]
    assert effectors([*SIX, *links]) == {"grasp_base": "position+rotation"}


def test_a_gripper_that_turns_itself_is_held_too() -> None:
    assert effectors([*ARM, ("gripper", "l5", "y"), ("jaw", "gripper", "y")]) == {"gripper": "position+rotation"}


def test_linked_fingers_are_one_gripper() -> None:
    links = [("gripper_left_base_link", "wrist", "n")]
    names = "motor_double", "inner_double", "fingertip_1", "motor_single", "fingertip_3"
    parents = "base_link", "base_link", "inner_double", "base_link", "motor_single"
    links += [(f"gripper_left_{a}", f"gripper_left_{b}", "y") for a, b in zip(names, parents, strict=True)]
    mimics = {f"gripper_left_{name}": "gripper_left_motor_double" for name in names[1:]}
    assert effectors([*SIX, *links], mimics) == {"gripper_left_base_link": "position+rotation"}
    still = [(name, parent, "n") for name, parent, _ in links]
    assert effectors([*SIX, *still]) == {"gripper_left_base_link": "position+rotation"}
    ends = [("gripper_left_tool", "gripper_left_base_link", "n")]
    assert effectors([*SIX, *still, *ends]) == {"gripper_left_tool": "position+rotation"}


def test_fingers_of_several_joints_are_held_beside_the_palm() -> None:
    fingers = [
        (f"hand_{name}_{number}", f"hand_{name}_{number - 1}" if number else "hand_palm", "y")
        for name in ("thumb", "index") for number in (0, 1)
    ]  # fmt: skip
    found = effectors([*SIX, ("hand_palm", "wrist", "n"), *fingers])
    assert list(found) == ["hand_palm", "hand_thumb_1", "hand_index_1"]


def test_a_simple_hand_has_its_fingers_off() -> None:
    fingers = [(f"{name}_finger", "hand_palm", "y") for name in ("first", "second", "third")]
    found = effectors([*SIX, ("hand_palm", "wrist", "n"), *fingers])
    assert found == {"hand_palm": "position+rotation"} | {name: "off" for name, _, _ in fingers}


def test_cameras_and_other_sensors_are_not_held() -> None:
    names = "gripper_tool_frame", "gripper_led_frame", "gripper_camera_optical_frame"
    frames = [(name, "wrist", "n") for name in names]
    assert effectors([*SIX, *frames]) == {"gripper_tool_frame": "position+rotation"}
    assert list(effectors([*ARM, ("LEFT_FOOT", "l5", "n"), ("LEFT_FOOT_IMU", "LEFT_FOOT", "n")])) == ["LEFT_FOOT"]


def test_axes_of_a_wrist_are_no_hand() -> None:
    assert list(effectors([*ARM, ("LeftGripperYawLink", "l5", "y"), ("leftNub", "LeftGripperYawLink", "n")])) == [
        "leftNub"
    ]


def test_the_poses_of_an_arm_with_a_gripper_are_counted_without_it() -> None:
    """A two-link arm has an elbow up and an elbow down, whatever its jaw does."""
    text = """<robot name="r"><link name="base"/><link name="upper"/><link name="fore"/><link name="gripper"/>
    <link name="jaw"/>
    <joint name="a" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/></joint>
    <joint name="b" type="continuous"><parent link="upper"/><child link="fore"/><origin xyz="0.5 0 0"/>
    <axis xyz="0 0 1"/></joint>
    <joint name="c" type="fixed"><parent link="fore"/><child link="gripper"/><origin xyz="0.4 0 0"/></joint>
    <joint name="d" type="continuous"><parent link="gripper"/><child link="jaw"/><axis xyz="0 1 0"/></joint></robot>"""
    robot = viewer.load(text=text, units="raw").skeleton
    goals = [viewer.Goal.position(robot.effectors[0].name, (0.6, 0.3, 0.0))]
    assert len(viewer.all_solutions(viewer.Solver(robot, goals, backend="numpy"), robot.rest_pose())) == 2
