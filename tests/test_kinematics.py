"""Forward kinematics, against one 4x4 matrix at a time, and the laws of rigid bodies."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.skeleton import chain, extent, height, kinematics, tip_positions
from inside.spatial import conjugate, from_axis_angle, multiply, rotate, to_matrix
from naive import world_matrices
from strategies import (
    clips,
    posed_skeletons,
    quickly,
    random_clip,
    random_pose,
    random_quaternions,
    random_skeleton,
    seeds,
    unit_quaternions,
    vectors,
)

from viewer.errors import InputError
from viewer.skeleton import Character, Clip, JointKind, Pose, Skeleton, fk, fk_clip

if TYPE_CHECKING:
    from inside.spatial import Floats


@quickly
@given(posed_skeletons())
def test_world_places_are_the_products_of_the_matrices_on_the_way_up(posed: tuple[Skeleton, Pose]) -> None:
    skeleton, pose = posed
    world = fk(skeleton, pose)
    expected = world_matrices(skeleton.parents.tolist(), pose.rotations, pose.translations)
    for joint, matrix in enumerate(expected):
        np.testing.assert_allclose(world.positions[joint], matrix[:3, 3], rtol=0, atol=1e-13)
        np.testing.assert_allclose(to_matrix(world.rotations[joint]), matrix[:3, :3], rtol=0, atol=1e-13)
    assert not world.positions.flags.writeable
    assert not world.rotations.flags.writeable


@quickly
@given(posed_skeletons())
def test_bones_are_as_long_as_their_translations_whatever_the_pose(posed: tuple[Skeleton, Pose]) -> None:
    skeleton, pose = posed
    places = fk(skeleton, pose).positions
    below = np.flatnonzero(skeleton.parents >= 0)
    found = np.linalg.norm(places[below] - places[skeleton.parents[below]], axis=-1)
    expected = np.linalg.norm(pose.translations[below], axis=-1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(places[skeleton.roots], pose.translations[skeleton.roots])


@quickly
@given(posed_skeletons(), unit_quaternions(), st.data())
def test_turning_a_joint_turns_what_hangs_on_it_as_one_body_and_nothing_else(
    posed: tuple[Skeleton, Pose], q: Floats, data: st.DataObject
) -> None:
    skeleton, pose = posed
    joint = data.draw(st.integers(0, len(skeleton) - 1))
    turned = pose.rotations.copy()
    turned[joint] = multiply(turned[joint], q)
    before, after = fk(skeleton, pose), fk(skeleton, Pose(turned, pose.translations))
    moves = {joint}
    for other, parent in enumerate(skeleton.parents.tolist()):
        if parent in moves:
            moves.add(other)
    inside = sorted(moves)
    outside = sorted(set(range(len(skeleton))) - moves)
    np.testing.assert_array_equal(after.positions[outside], before.positions[outside])
    np.testing.assert_array_equal(after.rotations[outside], before.rotations[outside])
    # Seen from the joint, everything below stays where it is.
    back = [conjugate(world.rotations[joint]) for world in (before, after)]
    places = [world.positions[inside] - world.positions[joint] for world in (before, after)]
    np.testing.assert_allclose(rotate(back[0], places[0]), rotate(back[1], places[1]), rtol=0, atol=1e-12)
    seen = [multiply(q_back, world.rotations[inside]) for q_back, world in zip(back, (before, after), strict=True)]
    np.testing.assert_allclose(seen[0], seen[1], rtol=0, atol=1e-13)
    np.testing.assert_array_equal(after.positions[joint], before.positions[joint])


@quickly
@given(posed_skeletons(), unit_quaternions(), vectors())
def test_moving_the_roots_moves_the_figure_as_one_body(posed: tuple[Skeleton, Pose], q: Floats, v: Floats) -> None:
    skeleton, pose = posed
    rotations, translations, roots = pose.rotations.copy(), pose.translations.copy(), skeleton.roots
    rotations[roots], translations[roots] = multiply(q, rotations[roots]), rotate(q, translations[roots]) + v
    before, after = fk(skeleton, pose), fk(skeleton, Pose(rotations, translations))
    np.testing.assert_allclose(after.positions, rotate(q, before.positions) + v, rtol=0, atol=1e-12)
    np.testing.assert_allclose(after.rotations, multiply(q, before.rotations), rtol=0, atol=1e-13)


@quickly
@given(clips())
def test_a_clip_is_its_frames_one_by_one(taken: tuple[Skeleton, Clip]) -> None:
    skeleton, clip = taken
    world = fk_clip(skeleton, clip)
    assert world.positions.shape == (len(clip), len(skeleton), 3)
    for frame in range(len(clip)):
        single = fk(skeleton, clip.pose(frame))
        np.testing.assert_array_equal(world.positions[frame], single.positions)
        np.testing.assert_array_equal(world.rotations[frame], single.rotations)
    some = fk_clip(skeleton, clip, slice(0, None, 2))
    np.testing.assert_array_equal(some.positions, world.positions[::2])
    chosen = fk_clip(skeleton, clip, np.array([len(clip) - 1, 0]))
    np.testing.assert_array_equal(chosen.rotations, world.rotations[[len(clip) - 1, 0]])


def test_long_clips_are_worked_on_in_blocks_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    skeleton = random_skeleton(5, 7)
    clip = random_clip(6, skeleton, 50)
    whole = fk_clip(skeleton, clip)
    monkeypatch.setattr(kinematics, "_BLOCK", 20)
    parts = fk_clip(skeleton, clip)
    np.testing.assert_array_equal(parts.positions, whole.positions)
    np.testing.assert_array_equal(parts.rotations, whole.rotations)
    monkeypatch.setattr(kinematics, "_BLOCK", 1)
    np.testing.assert_array_equal(fk_clip(skeleton, clip).positions, whole.positions)


def test_translations_that_do_not_change_may_be_given_once_and_no_frames_are_none() -> None:
    skeleton = random_skeleton(7, 6)
    rotations = random_quaternions(np.random.default_rng(8), 9, 6)
    once = kinematics.fk_arrays(skeleton.parents, rotations, skeleton.offsets[None])
    each = kinematics.fk_arrays(skeleton.parents, rotations, np.tile(skeleton.offsets, (9, 1, 1)))
    np.testing.assert_array_equal(once.positions, each.positions)
    assert kinematics.fk_arrays(skeleton.parents, rotations[:0], skeleton.offsets[None]).positions.shape == (0, 6, 3)


def test_a_chain_of_5000_links_is_bent_into_the_arc_that_it_should_be() -> None:
    skeleton, links = chain(5000), 5000
    turn = 2.0 * math.pi / links
    bent = Pose(np.tile(from_axis_angle((0.0, 0.0, 1.0), turn), (links, 1)), skeleton.offsets)
    world = fk(skeleton, bent)
    # Joint k stands after k links, of which link i leans by i turns.
    leans = turn * np.arange(1, links)
    steps = np.stack([-np.sin(leans), np.cos(leans), 0.0 * leans], axis=-1) / links
    expected = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    np.testing.assert_allclose(world.positions, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.abs(world.rotations[-1, 3]), 1.0, rtol=0, atol=1e-12)


@given(seeds, st.integers(1, 40))
def test_walking_level_by_level_and_doubling_pointers_agree(seed: int, count: int) -> None:
    skeleton = random_skeleton(seed, count)
    pose = random_pose(seed, skeleton)
    by_level = fk(skeleton, pose)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinematics, "_DEEP", 0)
        doubled = fk(skeleton, pose)
    np.testing.assert_allclose(doubled.positions, by_level.positions, rtol=0, atol=1e-12)
    np.testing.assert_allclose(doubled.rotations, by_level.rotations, rtol=0, atol=1e-13)


@pytest.mark.parametrize("count", [64, 65, 66, 129, 700])
def test_deep_trees_agree_with_shallow_ones_on_either_side_of_the_switch(count: int) -> None:
    random = np.random.default_rng(count)
    skeleton = replace(
        random_skeleton(count, count, [JointKind.BALL, JointKind.HINGE]),
        parents=np.maximum(np.arange(count) - random.integers(1, 3, count), -1),
    )
    pose = random_pose(1, skeleton)
    world = fk(skeleton, pose)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinematics, "_DEEP", 10_000)
        by_level = fk(skeleton, pose)
    np.testing.assert_allclose(world.positions, by_level.positions, rtol=0, atol=1e-11)
    np.testing.assert_allclose(world.rotations, by_level.rotations, rtol=0, atol=1e-12)


def test_doubling_takes_few_rounds() -> None:
    assert len(kinematics.schedule(np.arange(-1, 4999))) == 13
    assert kinematics.schedule(np.array([-1, -1, -1])) == []
    np.testing.assert_array_equal(kinematics.depths(np.array([-1, 0, 0, 2, -1, 4])), [0, 1, 1, 2, 0, 1])


@quickly
@given(posed_skeletons(), vectors())
def test_points_fixed_to_joints_go_with_them(posed: tuple[Skeleton, Pose], offset: Floats) -> None:
    skeleton, pose = posed
    world = fk(skeleton, pose)
    expected = world_matrices(skeleton.parents.tolist(), pose.rotations, pose.translations)[-1] @ [*offset, 1.0]
    np.testing.assert_allclose(world.point(-1, offset), expected[:3], rtol=0, atol=1e-12)
    tips = [world.point(j, o) for j, o in zip(skeleton.tip_parents, skeleton.tip_offsets, strict=True)]
    np.testing.assert_array_equal(tip_positions(skeleton, world), np.reshape(tips, (-1, 3)))


def test_the_extent_is_that_of_joints_and_tips_in_the_first_frame_or_at_rest() -> None:
    skeleton = chain(4)
    assert height(Character(skeleton)) == 1.0
    np.testing.assert_array_equal(extent(Character(skeleton)), [0.0, 1.0, 0.0])
    lying = np.tile([0.0, 0.0, 0.0, 1.0], (2, 4, 1))
    lying[0, 0] = from_axis_angle((0.0, 0.0, 1.0), 0.5 * math.pi)
    clip = Clip("lies down", 1.0, lying, np.array([], dtype=np.intp), np.zeros((2, 0, 3)), skeleton.offsets)
    np.testing.assert_allclose(extent(Character(skeleton, {"clip": clip})), [1.0, 0.0, 0.0], rtol=0, atol=1e-15)


@pytest.mark.parametrize("count", [2, 4])
def test_a_pose_of_another_skeleton_is_refused(count: int) -> None:
    message = f"forward kinematics: expected rotations of 3 joints, found {count}"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        fk(chain(3), chain(count).rest_pose())


def test_what_is_no_pose_is_refused() -> None:
    with pytest.raises(InputError, match=r'^forward kinematics: expected a pose, found "None"$'):
        fk(chain(2), None)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(6))
def test_a_single_pose_gives_the_bits_of_a_clip(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    skeleton = random_skeleton(seed, 12)
    pose = random_pose(seed, skeleton)
    expected = kinematics.fk_arrays(skeleton.parents, pose.rotations[None], pose.translations[None])
    for small in (0, 100):
        monkeypatch.setattr(kinematics, "_SMALL", small)
        found = kinematics.fk(skeleton, pose)
        np.testing.assert_array_equal(found.rotations, expected.rotations[0])
        np.testing.assert_array_equal(found.positions, expected.positions[0])
        assert not found.positions.flags.writeable
    monkeypatch.setattr(kinematics.COMPILED, "walk", kinematics.walk)  # as it is, not compiled
    found = kinematics.fk(skeleton, pose)
    np.testing.assert_array_equal(found.rotations, expected.rotations[0])
    np.testing.assert_array_equal(found.positions, expected.positions[0])
