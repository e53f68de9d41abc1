"""The bundled biped: an adult's proportions, limbs that bend the right way, a relaxed pose that stands."""

from __future__ import annotations

import numpy as np
import pytest
from inside.skeleton import joint_space
from inside.spatial import angle_between
from sample_poses import bent, place, skeleton_of, tips

from viewer.skeleton import fk


def test_the_biped_has_the_proportions_of_an_adult() -> None:
    skeleton = skeleton_of("biped")
    pose = skeleton.rest_pose()
    fractions = {"LeftUpLeg": 0.530, "LeftLeg": 0.285, "LeftFoot": 0.039, "LeftArm": 0.81, "Neck": 0.85}
    for joint, fraction in fractions.items():
        assert place(skeleton, pose, joint)[1] / 1.75 == pytest.approx(fraction, abs=0.005)
    span = np.ptp(tips(skeleton, pose)[:, 0])
    assert 1.0 < span / 1.75 < 1.08
    np.testing.assert_array_equal(skeleton.rest_rotations, np.tile([0.0, 0.0, 0.0, 1.0], (22, 1)))


def test_the_relaxed_biped_hangs_its_arms_and_bends_its_limbs() -> None:
    skeleton = skeleton_of("biped")
    space, relaxed = joint_space(skeleton), skeleton.relaxed_pose()
    degrees = np.degrees(space.measure(relaxed.rotations, relaxed.translations))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        assert degrees[skeleton.index(f"{side}Arm"), 2] == pytest.approx(-70 * sign, abs=1e-4)
        assert degrees[skeleton.index(f"{side}ForeArm"), 0] == pytest.approx(25, abs=1e-4)
        assert degrees[skeleton.index(f"{side}UpLeg"), 0] == pytest.approx(-15, abs=1e-4)
        assert degrees[skeleton.index(f"{side}Leg"), 0] == pytest.approx(20, abs=1e-4)
        foot = fk(skeleton, relaxed).rotations[skeleton.index(f"{side}Foot")]
        assert angle_between(foot, [0, 0, 0, 1]) < 1e-6


@pytest.mark.parametrize("side", ["Left", "Right"])
@pytest.mark.parametrize("angle", [5.0, 60.0, 120.0])
def test_knees_bend_back_and_elbows_forward(side: str, angle: float) -> None:
    skeleton = skeleton_of("biped")
    pose = bent(skeleton, {f"{side}Leg": (angle,), f"{side}ForeArm": (angle,)})
    knee, ankle = (place(skeleton, pose, f"{side}{joint}") for joint in ("Leg", "Foot"))
    assert ankle[2] < knee[2] - 0.03
    elbow, wrist = (place(skeleton, pose, f"{side}{joint}") for joint in ("ForeArm", "Hand"))
    assert wrist[2] > elbow[2] + 0.02
    assert wrist[1] == pytest.approx(elbow[1])


@pytest.mark.parametrize("side", ["Left", "Right"])
def test_thighs_lift_forward_farther_than_back_and_feet_point_down_farther_than_up(side: str) -> None:
    skeleton = skeleton_of("biped")
    space = joint_space(skeleton)
    for joint, axis, lower, upper in (("UpLeg", 0, -120, 30), ("Foot", 0, -30, 50), ("Leg", 0, 0, 140)):
        found = np.degrees([bound[skeleton.index(f"{side}{joint}"), axis] for bound in (space.lower, space.upper)])
        np.testing.assert_allclose(found, [lower, upper])
    lifted = bent(skeleton, {f"{side}UpLeg": (-90,)})
    assert place(skeleton, lifted, f"{side}Leg")[2] > 0.4
    down = bent(skeleton, {f"{side}Foot": (50,)})
    assert place(skeleton, down, f"{side}ToeBase")[1] < -0.05


@pytest.mark.parametrize("finger", ["Index", "Middle", "Ring", "Pinky"])
def test_fingers_curl_into_the_palm_without_leaving_their_plane(finger: str) -> None:
    skeleton = skeleton_of("biped-hands")
    joints = [f"LeftHand{finger}{number}" for number in (1, 2, 3)]
    pose = bent(skeleton, dict.fromkeys(joints, (60.0,)))
    tip = fk(skeleton, pose).point(skeleton.index(joints[2]), np.array([0.02, 0.0, 0.0]))
    knuckle = place(skeleton, pose, joints[0])
    assert tip[1] < knuckle[1] - 0.03
    assert tip[2] == pytest.approx(knuckle[2])
