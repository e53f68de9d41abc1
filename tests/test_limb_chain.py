"""Limbs of all frames at once: places are reached, planes kept, knees never flip, twist joints go along."""

from __future__ import annotations

import numpy as np
import pytest
from figures import inserted, person, random_turns, reframed
from hypothesis import given, strategies as st
from inside.motion import LimbGoals, limb_joints, limb_points, pose_limbs
from inside.skeleton import Figure, find_figure, flexion_axis
from inside.spatial import Floats, angle_between, exp, multiply, rotate
from strategies import quickly, seeds

from viewer import load
from viewer.skeleton import Clip, Skeleton, World, fk_clip


def figure_of(skeleton: Skeleton) -> Figure:
    figure = find_figure(skeleton)
    assert figure is not None
    return figure


def twisted() -> Skeleton:
    """A person with twist joints in the right thigh, in the left shin and in the left forearm."""
    skeleton = inserted(person(), "RightLeg", "RightUpLegTwist", 0.5)
    skeleton = inserted(skeleton, "LeftFoot", "LeftLegTwist", 0.4)
    return inserted(skeleton, "LeftHand", "LeftForeArmTwist", 0.6)


RIGS = {"person": person(), "twisted": twisted(), "reframed": reframed(person(), random_turns(len(person()), 5))}


def moving(skeleton: Skeleton, seed: int, frames: int = 12, size: float = 0.4) -> Clip:
    random = np.random.default_rng(seed)
    pose = skeleton.relaxed_pose()
    turns = multiply(pose.rotations, exp(size * random.normal(size=(frames, len(skeleton), 3))))
    places = np.repeat(pose.translations[None], frames, axis=0)
    places[:, 0] += random.normal(size=(frames, 3))
    return Clip.from_arrays(skeleton, turns, places, fps=60.0)


def posed(skeleton: Skeleton, clip: Clip, number: int, goals: Floats, turns: Floats | None = None) -> World:
    limb = figure_of(skeleton).limbs[number]
    found = pose_limbs(skeleton, [LimbGoals(limb, fk_clip(skeleton, clip), goals, turns)])[0]
    rotations = clip.rotations.copy()
    rotations[:, limb_joints(limb)] = found
    return fk_clip(skeleton, clip.with_motion(rotations))


@pytest.mark.parametrize("rig", RIGS)
@quickly
@given(seeds, st.integers(0, 3))
def test_what_can_be_reached_is_reached_and_the_foot_is_turned_as_asked(rig: str, seed: int, number: int) -> None:
    skeleton = RIGS[rig]
    clip, random = moving(skeleton, seed), np.random.default_rng(seed)
    limb, world = figure_of(skeleton).limbs[number], fk_clip(skeleton, clip)
    top, middle, end = limb_points(limb, world)
    upper, lower = np.linalg.norm(middle - top, axis=1), np.linalg.norm(end - middle, axis=1)
    way = random.normal(size=(len(clip), 3))
    reach = random.uniform(0.3, 0.98, size=len(clip)) * (upper + lower)
    goals = top + way * (reach / np.linalg.norm(way, axis=1))[:, None]
    turns = random_turns(len(clip), seed)
    after = posed(skeleton, clip, number, goals, turns)
    np.testing.assert_allclose(limb_points(limb, after)[2], goals, rtol=0, atol=1e-9)
    assert limb.end is not None
    np.testing.assert_allclose(angle_between(after.rotations[:, limb.end], turns), 0.0, atol=1e-6)
    rest = [joint for joint in range(len(skeleton)) if not {limb.upper, limb.lower} & set(ancestors(skeleton, joint))]
    np.testing.assert_array_equal(after.positions[:, rest], world.positions[:, rest])


def ancestors(skeleton: Skeleton, joint: int) -> list[int]:
    found = []
    while joint >= 0:
        found.append(joint)
        joint = int(skeleton.parents[joint])
    return found


@pytest.mark.parametrize("rig", RIGS)
@quickly
@given(seeds, st.integers(0, 3), st.floats(0.9, 1.0))
def test_along_its_own_line_a_bent_limb_keeps_its_plane(rig: str, seed: int, number: int, part: float) -> None:
    skeleton = RIGS[rig]
    clip = moving(skeleton, seed, size=0.7)
    limb, world = figure_of(skeleton).limbs[number], fk_clip(skeleton, clip)
    top, middle, end = limb_points(limb, world)
    after = posed(skeleton, clip, number, top + part * (end - top))
    normal = np.cross(middle - top, end - middle)
    bent = np.linalg.norm(normal, axis=1) > 0.7 * np.linalg.norm(middle - top, axis=1) * np.linalg.norm(
        end - middle, axis=1
    )
    axis = flexion_axis(skeleton, figure_of(skeleton), limb)
    assert axis is not None
    # A limb that is overstretched is flexed as in a mirror: its plane cannot stay without a jump.
    bent &= np.einsum("fi,fi->f", normal, rotate(world.rotations[:, limb.lower], axis)) > 0.0
    knee = limb_points(limb, after)[1]
    off = np.einsum("fi,fi->f", knee - top, normal) / np.maximum(np.linalg.norm(normal, axis=1), 1e-12)
    np.testing.assert_allclose(off[bent], 0.0, atol=1e-9)


@pytest.mark.parametrize("number", [2, 3])
def test_a_limb_at_its_own_place_stays_as_it_is(number: int) -> None:
    character = load("sample:walk")
    assert character.clip is not None
    skeleton, clip = character.skeleton, character.clip
    limb, world = figure_of(skeleton).limbs[number], fk_clip(skeleton, clip)
    after = posed(skeleton, clip, number, limb_points(limb, world)[2])
    np.testing.assert_allclose(after.positions, world.positions, rtol=0, atol=1e-9)
    assert angle_between(after.rotations, world.rotations).max() < 1e-6


@pytest.mark.parametrize("number", [2, 3])
def test_a_limb_at_its_own_place_stays_as_it_is_however_fast_the_body_spins(number: int) -> None:
    """Also in some of the frames: what the other frames do does not tell the side to which a knee bends."""
    character = load("sample:walk")
    assert character.clip is not None
    skeleton, clip = character.skeleton, character.clip
    limb, turns = figure_of(skeleton).limbs[number], clip.rotations.copy()
    turns[:, 0] = multiply(exp(2.0 * np.arange(len(clip))[:, None] * [0.0, 1.0, 0.0]), turns[:, 0])
    for frames in (slice(None), slice(None, None, 3), slice(2, 5)):
        spun = clip.with_motion(turns)[frames]
        world = fk_clip(skeleton, spun)
        after = posed(skeleton, spun, number, limb_points(limb, world)[2])
        np.testing.assert_allclose(after.positions, world.positions, rtol=0, atol=1e-9)


def straightening(degrees: Floats) -> tuple[Skeleton, Clip, int]:
    """A person whose right knee bends by so many degrees, frame by frame; negative: overstretched."""
    skeleton = person()
    limb = figure_of(skeleton).legs[1]
    turns = np.repeat(skeleton.rest_rotations[None], len(degrees), axis=0)
    turns[:, limb.lower] = multiply(turns[:, limb.lower], exp(np.radians(degrees)[:, None] * [1.0, 0.0, 0.0]))
    return skeleton, Clip.from_arrays(skeleton, turns, fps=60.0), limb.lower


def test_a_knee_overstretched_by_a_degree_does_not_flip() -> None:
    skeleton, clip, knee = straightening(3.0 * np.cos(np.linspace(0.0, 12.0, 200)))
    limb, world = figure_of(skeleton).legs[1], fk_clip(skeleton, clip)
    hip, middle, ankle = limb_points(limb, world)
    length = np.linalg.norm(middle - hip, axis=1) + np.linalg.norm(ankle - middle, axis=1)
    goals = hip + (0.98 * length / np.linalg.norm(ankle - hip, axis=1))[:, None] * (ankle - hip)
    found = pose_limbs(skeleton, [LimbGoals(limb, world, goals)])[0]
    bends = angle_between(found[:, 1], skeleton.rest_rotations[knee])
    assert np.degrees(np.ptp(bends)) < 1e-4  # the same bend in all frames, whatever the captured knee does
    forward = found[:, 1, :3] @ np.array([1.0, 0.0, 0.0])
    assert (forward > 0.0).all()  # and all to the side that knees bend to


@pytest.mark.parametrize("sideways", [2.0, 6.0, 11.0])
@pytest.mark.parametrize("over", [2.0, 8.0, 13.0, 20.0])
def test_a_knee_that_is_overstretched_and_bends_to_all_sides_flexes_forward(over: float, sideways: float) -> None:
    """As markerless captures have it, of legs that are nearly straight."""
    skeleton, still, knee = straightening(np.zeros(300))
    angle = np.linspace(0.0, 4.0 * np.pi, 300)
    bend = np.stack([4.0 - (4.0 + over) * np.sin(angle), np.zeros(300), sideways * np.cos(angle)], axis=1)
    turns = still.rotations.copy()
    turns[:, knee] = multiply(turns[:, knee], exp(np.radians(bend)))
    clip = still.with_motion(turns)
    limb, world = figure_of(skeleton).legs[1], fk_clip(skeleton, clip)
    hip, middle, ankle = limb_points(limb, world)
    length = np.linalg.norm(middle - hip, axis=1) + np.linalg.norm(ankle - middle, axis=1)
    goals = hip + (0.96 * length / np.linalg.norm(ankle - hip, axis=1))[:, None] * (ankle - hip)
    found = pose_limbs(skeleton, [LimbGoals(limb, world, goals)])[0][:, 1]
    assert (found[:, :3] @ np.array([1.0, 0.0, 0.0]) > 0.0).all()
    assert np.degrees(angle_between(found[1:], found[:-1]).max()) < 4.0


def test_out_of_reach_it_points_there_nearly_straight() -> None:
    skeleton = person()
    clip = moving(skeleton, 1, frames=3, size=0.1)
    limb, world = figure_of(skeleton).legs[0], fk_clip(skeleton, clip)
    hip, middle, ankle = limb_points(limb, world)
    length = np.linalg.norm(middle - hip, axis=1) + np.linalg.norm(ankle - middle, axis=1)
    way = np.array([0.0, -0.6, 0.8])
    reached = limb_points(limb, posed(skeleton, clip, 2, hip + 3.0 * way))[2]
    np.testing.assert_allclose(reached, hip + 0.9995 * length[:, None] * way, rtol=0, atol=1e-9)
    folded = limb_points(limb, posed(skeleton, clip, 2, hip))[2]
    assert np.isfinite(folded).all()
