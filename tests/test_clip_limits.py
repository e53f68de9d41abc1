"""Limits derived from a clip: all of it inside, a margin around it, and knees and elbows that keep their side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from inside.skeleton import clip_limits, limits_from_clip, twist_axes
from inside.spatial import IDENTITY, from_swing_twist, multiply, to_swing_twist
from strategies import clips, quickly, random_clip, random_skeleton

from viewer.skeleton import Clip, JointKind, LimitForm, Skeleton, clip_violation, project_pose

if TYPE_CHECKING:
    from inside.spatial import Floats

NAMES = ("Hips", "LeftUpLeg", "LeftLeg", "LeftForeArm", "bone")


def figure(names: tuple[str, ...] = NAMES, kind: JointKind = JointKind.BALL) -> Skeleton:
    """Joints in a row along y, resting unturned; the first is free."""
    count = len(names)
    return Skeleton(
        name="figure",
        names=names,
        parents=np.arange(-1, count - 1),
        offsets=np.tile([0.0, 1.0, 0.0], (count, 1)),
        rest_rotations=np.tile(IDENTITY, (count, 1)),
        kinds=(JointKind.FREE, *[kind] * (count - 1)),
        axes=np.tile([[1.0, 0, 0], [0, 1.0, 0]], (count, 1, 1)),
        limits=(None,) * count,
        stiffness=np.zeros(count),
        tip_parents=np.array([count - 1]),
        tip_offsets=np.array([[0.0, 1.0, 0.0]]),
    )


def moved(degrees: dict[str, list[tuple[float, float, float]]]) -> tuple[Skeleton, Clip]:
    """A clip in which the named joints take swings x, z and twists y one after the other; the others rest."""
    skeleton = figure()
    frames = max(map(len, degrees.values()))
    rotations = np.tile(IDENTITY, (frames, len(skeleton), 1))
    for name, angles in degrees.items():
        rotations[: len(angles), skeleton.index(name)] = from_swing_twist(np.radians(angles), 1)
    none = np.array([], dtype=np.intp)
    return skeleton, Clip("moved", 1 / 30, rotations, none, np.zeros((frames, 0, 3)), skeleton.offsets)


def ranges(skeleton: Skeleton, name: str) -> list[tuple[float, float]]:
    limits = skeleton.limits[skeleton.index(name)]
    assert limits is not None
    pairs = np.degrees([limits.lower, limits.upper]).T
    return [(round(float(low), 9), round(float(high), 9)) for low, high in pairs]


@quickly
@given(clips(frames=12))
def test_every_frame_is_inside_and_stays_as_it_is(taken: tuple[Skeleton, Clip]) -> None:
    skeleton, clip = taken
    limited = limits_from_clip(skeleton, clip)
    assert not clip_violation(limited, clip).any()
    for frame in range(len(clip)):
        pose, projected = clip.pose(frame), project_pose(limited, clip.pose(frame))
        balls = [j for j, kind in enumerate(skeleton.kinds) if kind is JointKind.BALL]
        np.testing.assert_array_equal(projected.rotations[balls], pose.rotations[balls])


@quickly
@given(clips())
def test_only_what_turns_gets_limits_and_nothing_else_of_the_skeleton_changes(taken: tuple[Skeleton, Clip]) -> None:
    skeleton, clip = taken
    limited = limits_from_clip(skeleton, clip)
    for kind, limits in zip(skeleton.kinds, limited.limits, strict=True):
        if kind in (JointKind.FREE, JointKind.FIXED, JointKind.SLIDE):
            assert limits is None
        else:
            assert limits is not None
            assert limits.form is (LimitForm.SWING_TWIST if kind is JointKind.BALL else LimitForm.COORDINATES)
            assert len(limits.lower) == {JointKind.BALL: 3, JointKind.HINGE: 1, JointKind.UNIVERSAL: 2}[kind]
            assert (limits.lower >= -np.pi).all()
            assert (limits.upper <= np.pi).all()
    same = replace(limited, limits=skeleton.limits)
    assert (same.names, same.kinds, same.effectors) == (skeleton.names, skeleton.kinds, skeleton.effectors)
    np.testing.assert_array_equal(same.offsets, skeleton.offsets)


@quickly
@given(clips(frames=5))
def test_ranges_are_the_clips_widened_by_20_degrees_and_to_15_on_either_side(taken: tuple[Skeleton, Clip]) -> None:
    skeleton, clip = taken
    limited = limits_from_clip(skeleton, clip)
    for joint, limits in enumerate(limited.limits):
        if skeleton.kinds[joint] is JointKind.BALL and limits is not None:
            back = skeleton.rest_rotations[joint] * [-1, -1, -1, 1]
            seen = to_swing_twist(multiply(back, clip.rotations[:, joint]), limits.twist_axis)
            low = np.maximum(np.minimum(seen.min(axis=0) - np.radians(20), -np.radians(15)), -np.pi)
            high = np.minimum(np.maximum(seen.max(axis=0) + np.radians(20), np.radians(15)), np.pi)
            # Where a joint was seen to bend to one side, that end is nearer.
            kept = np.isclose(limits.lower, low, atol=1e-12) & np.isclose(limits.upper, high, atol=1e-12)
            assert kept.sum() >= 2
            assert (limits.lower >= low - 1e-12).all()
            assert (limits.upper <= high + 1e-12).all()


def test_an_ordinary_joint() -> None:
    limited = limits_from_clip(*moved({"LeftUpLeg": [(-40.0, 5.0, 30.0), (-10.0, -3.0, 25.0), (50.0, 2.0, 165.0)]}))
    assert ranges(limited, "LeftUpLeg") == [(-60, 70), (-23, 25), (-15, 180)]


def test_a_joint_that_does_not_move_has_15_degrees_on_either_side_and_20_around_where_it_stands() -> None:
    limited = limits_from_clip(
        *moved({"LeftUpLeg": [(0.0, 0.0, 0.0), (0.0, 0.0, 0.0)], "bone": [(-30.0, 3.0, 4.0)] * 2})
    )
    assert ranges(limited, "LeftUpLeg") == [(-20, 20)] * 3
    assert ranges(limited, "bone") == [(-50, 15), (-17, 23), (-16, 24)]


@pytest.mark.parametrize("name", ["LeftLeg", "LeftForeArm"])
@pytest.mark.parametrize(
    ("low", "high", "lower", "upper"),
    [
        (0.0, 120.0, -5.0, 140.0),
        (20.0, 120.0, -5.0, 140.0),
        (-3.0, 120.0, -5.0, 140.0),
        (-9.0, 120.0, -9.0, 140.0),  # no frame may be outside, not even one that bends back
        (0.0, 6.0, -5.0, 26.0),
        (0.0, 4.0, -20.0, 24.0),  # too little to tell the side
        (-120.0, 0.0, -140.0, 5.0),
        (-120.0, 9.0, -140.0, 9.0),
        (-120.0, -100.0, -140.0, 5.0),
    ],
)
def test_a_knee_or_elbow_by_name_keeps_its_side(name: str, low: float, high: float, lower: float, upper: float) -> None:
    # Bent about x while twisting and leaning more than a hinge would.
    limited = limits_from_clip(*moved({name: [(low, 0.0, 0.0), (high, 0.0, 0.0)]}))
    assert ranges(limited, name) == [(lower, upper), (-20, 20), (-20, 20)]


def test_a_knee_bends_about_the_axis_of_its_larger_swing_and_twists_freely() -> None:
    limited = limits_from_clip(*moved({"LeftLeg": [(0.0, 0.0, 0.0), (10.0, -80.0, -60.0)]}))
    assert ranges(limited, "LeftLeg") == [(-20, 30), (-100, 20), (-80, 5)]


@pytest.mark.parametrize(
    ("bent", "expected"),
    [
        ((40.0, 0.0, 0.0), [(-5, 60), (-20, 20), (-20, 20)]),
        ((0.0, 0.0, -40.0), [(-20, 20), (-20, 20), (-60, 5)]),
        ((40.0, 9.0, 9.0), [(-5, 60), (-20, 29), (-20, 29)]),
        ((40.0, 11.0, 0.0), [(-20, 60), (-20, 31), (-20, 20)]),  # twists too much for a hinge
        ((40.0, 0.0, 11.0), [(-20, 60), (-20, 20), (-20, 31)]),
        ((29.0, 0.0, 0.0), [(-20, 49), (-20, 20), (-20, 20)]),  # too little to tell
        ((0.0, 90.0, 0.0), [(-20, 20), (-20, 110), (-20, 20)]),  # a twist is no bend
    ],
)
def test_a_joint_of_any_name_seen_to_bend_about_one_axis_keeps_its_side(
    bent: tuple[float, float, float], expected: list[tuple[float, float]]
) -> None:
    limited = limits_from_clip(*moved({"bone": [(0.0, 0.0, 0.0), bent]}))
    assert ranges(limited, "bone") == expected


def test_a_joint_that_bends_to_both_sides_is_no_hinge() -> None:
    limited = limits_from_clip(*moved({"bone": [(-6.0, 0.0, 0.0), (60.0, 0.0, 0.0)]}))
    assert ranges(limited, "bone") == [(-26, 80), (-20, 20), (-20, 20)]


@pytest.mark.parametrize("kind", [JointKind.HINGE, JointKind.UNIVERSAL])
def test_hinges_and_universals_of_the_file_are_limited_in_their_own_angles(kind: JointKind) -> None:
    skeleton, clip = moved({"LeftUpLeg": [(-20.0, 0.0, 0.0), (25.0, 0.0, 0.0)], "LeftLeg": [(70.0, 0.0, 0.0)]})
    limited = limits_from_clip(replace(figure(kind=kind), offsets=skeleton.offsets), clip)
    assert ranges(limited, "LeftUpLeg")[0] == (-40, 45)
    assert ranges(limited, "LeftLeg")[0] == (-5, 90)
    assert not clip_violation(limited, clip).any()


def test_twist_axes_follow_the_first_bone_that_has_a_length() -> None:
    def lies(*offsets: tuple[float, float, float]) -> Floats:
        return np.array(offsets, dtype=np.float64)

    skeleton = replace(
        random_skeleton(0, 5, [JointKind.BALL]),
        parents=np.array([-1, 0, 0, 2, 2]),
        offsets=lies((9, 0, 0), (0, 0, 0), (0, 1, -3), (0, 0, 0), (0, 0, 0)),
        tip_parents=np.array([2, 3, 4]),
        tip_offsets=lies((-2, 1, 0), (0, 0, 0), (0, 0.5, 0)),
    )
    assert twist_axes(skeleton) == [2, 1, 0, 1, 1]


def test_long_clips_are_measured_in_blocks_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    skeleton = random_skeleton(3, 5)
    clip = random_clip(4, skeleton, 30)
    whole = limits_from_clip(skeleton, clip)
    monkeypatch.setattr(clip_limits, "_BLOCK", 35)
    parts = limits_from_clip(skeleton, clip)
    for one, other in zip(whole.limits, parts.limits, strict=True):
        assert (one is None and other is None) or (one is not None and one.same_as(other))
