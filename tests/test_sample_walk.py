"""The bundled walk: what makes a walk a walk, measured on the clip as the real loader reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.skeleton import joint_space
from inside.spatial import angle_between

from viewer import load
from viewer.skeleton import Clip, Skeleton, World, clip_violation, fk_clip

if TYPE_CHECKING:
    from inside.spatial import Floats

STRIDE_FRAMES, FRAMES = 34, 68
STRIDE = 1.5
SOLE = 0.002
"""A point of the foot lower than this stands on the floor, metres."""

Walk = tuple[Skeleton, Clip, World]


@pytest.fixture(scope="module")
def walk() -> Walk:
    """The biped, the clip put on it joint by joint, and where everything is."""
    biped, character = load("sample:biped").skeleton, load("sample:walk")
    clip = character.clip
    assert clip is not None
    assert sorted(character.skeleton.names) == sorted(biped.names)
    order = [character.skeleton.index(name) for name in biped.names]
    np.testing.assert_allclose(character.skeleton.offsets[order], biped.offsets, atol=1e-12)
    assert clip.translated.tolist() == [0]
    moved = Clip("walk", clip.frame_time, clip.rotations[:, order], clip.translated, clip.translations, biped.offsets)
    return biped, moved, fk_clip(biped, moved)


def foot_points(walk: Walk, side: str) -> list[Floats]:
    """(F, 3) each: heel, ball (its joint, moved down to the sole) and tip of the toes."""
    skeleton, _, world = walk
    foot, toes = skeleton.index(f"{side}Foot"), skeleton.index(f"{side}ToeBase")
    heel, tip = (skeleton.tip_offsets[skeleton.tip_parents.tolist().index(joint)] for joint in (foot, toes))
    ball = world.positions[:, toes] + np.array([0.0, tip[1], 0.0])
    return [world.point(foot, heel), ball, world.point(toes, tip)]


def angles(walk: Walk, joint: str) -> Floats:
    skeleton, clip, _ = walk
    measured = joint_space(skeleton).measure(clip.rotations, clip.local_translations())
    return np.asarray(np.degrees(measured[:, skeleton.index(joint), 0]))


def place(walk: Walk, joint: str) -> Floats:
    skeleton, _, world = walk
    return np.asarray(world.positions[:, skeleton.index(joint)])


def test_two_strides_at_thirty_frames_a_second(walk: Walk) -> None:
    assert len(walk[1]) == FRAMES
    assert walk[1].frame_time == pytest.approx(1 / 30, abs=1e-7)
    speed = (place(walk, "Hips")[-1, 2] - place(walk, "Hips")[0, 2]) / ((FRAMES - 1) * walk[1].frame_time)
    assert 1.25 < speed < 1.4


def test_it_loops_but_for_the_way_it_goes(walk: Walk) -> None:
    _, clip, world = walk
    ahead = world.positions[STRIDE_FRAMES:] - world.positions[:STRIDE_FRAMES]
    np.testing.assert_allclose(ahead, np.broadcast_to([0.0, 0.0, STRIDE], ahead.shape), atol=1e-5)
    steps = angle_between(clip.rotations[1:], clip.rotations[:-1])
    assert (angle_between(clip.rotations[0], clip.rotations[-1]) <= steps.max(axis=0) + 1e-5).all()


def test_right_does_what_left_did_half_a_stride_ago(walk: Walk) -> None:
    skeleton, _, world = walk
    other = [
        skeleton.index(n.replace("Left", "?").replace("Right", "Left").replace("?", "Right")) for n in skeleton.names
    ]
    half = STRIDE_FRAMES // 2
    mirrored = world.positions[:-half][:, other] * np.array([-1.0, 1.0, 1.0]) + np.array([0.0, 0.0, 0.5 * STRIDE])
    np.testing.assert_allclose(world.positions[half:], mirrored, atol=1e-5)


def test_every_frame_is_inside_the_limits_of_the_biped(walk: Walk) -> None:
    assert clip_violation(walk[0], walk[1]).max() < 1e-6


@pytest.mark.parametrize("side", ["Left", "Right"])
def test_what_stands_on_the_floor_does_not_slide(walk: Walk, side: str) -> None:
    for point in foot_points(walk, side):
        stands = point[:, 1] < SOLE
        both = stands[1:] & stands[:-1]
        assert both.sum() > FRAMES // 4
        slide = np.linalg.norm(np.diff(point[:, [0, 2]], axis=0), axis=1)[both]
        assert slide.max() < 0.0005


@pytest.mark.parametrize("side", ["Left", "Right"])
def test_no_foot_sinks_and_the_swinging_one_clears_the_floor(walk: Walk, side: str) -> None:
    lowest = np.min([point[:, 1] for point in foot_points(walk, side)], axis=0)
    assert lowest.min() > -0.0001
    assert 0.55 < (lowest < SOLE).mean() < 0.68
    assert foot_points(walk, side)[0][:, 1].max() > 0.2


def test_a_foot_is_always_down_and_now_and_then_both(walk: Walk) -> None:
    down = [np.min([point[:, 1] for point in foot_points(walk, side)], axis=0) < SOLE for side in ("Left", "Right")]
    assert (down[0] | down[1]).all()
    assert 0.1 < (down[0] & down[1]).mean() < 0.3


@pytest.mark.parametrize("side", ["Left", "Right"])
def test_knees_give_under_load_straighten_and_bend_in_the_swing(walk: Walk, side: str) -> None:
    start = 0 if side == "Left" else STRIDE_FRAMES // 2
    knee = angles(walk, f"{side}Leg")[start : start + STRIDE_FRAMES]
    assert knee.min() > 2.0
    assert 15 < knee[2:8].max() < 24
    assert knee[10:16].min() < 10
    assert 55 < knee.max() < 68
    assert 22 <= int(knee.argmax()) <= 27


def test_the_pelvis_rises_and_falls_with_every_step(walk: Walk) -> None:
    height = place(walk, "Hips")[:STRIDE_FRAMES, 1]
    assert 0.03 < np.ptp(height) < 0.05
    rising = np.diff(np.append(height, height[0])) > 0
    assert (rising & ~np.roll(rising, 1)).sum() == 2


@pytest.mark.parametrize("side", ["Left", "Right"])
def test_arms_swing_against_the_legs(walk: Walk, side: str) -> None:
    hand, foot = (place(walk, f"{side}{joint}")[:, 2] - place(walk, "Hips")[:, 2] for joint in ("Hand", "Foot"))
    assert np.corrcoef(hand, foot)[0, 1] < -0.8
    assert 0.3 < np.ptp(hand) < 0.6
    elbow = angles(walk, f"{side}ForeArm")
    assert (elbow.min(), elbow.max()) == (pytest.approx(16, abs=3), pytest.approx(38, abs=3))


def test_the_head_stays_level(walk: Walk) -> None:
    skeleton, _, world = walk
    head = world.rotations[:, skeleton.index("Head")]
    assert np.degrees(angle_between(head, [0.0, 0.0, 0.0, 1.0])).max() < 3.0
    assert np.ptp(place(walk, "Head")[:, 0]) < 0.05
