"""Limits on the screen: every point of a cone's rim is a pose exactly at the limit, and states have their colours."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from inside.scene import CONE_LENGTH, Swing, Travel, Twist, edge_coordinates, limited_joint, ranges_of, turns_of
from inside.skeleton import UNLIMITED, joint_space
from inside.spatial import EULER_ORDERS, EulerOrder, multiply, normalized, perpendicular, rotate
from scenes import seen
from strategies import seeds

from viewer.scene import PALETTE, Display, Scene, draw_list
from viewer.skeleton import JointKind, JointLimits, Pose, Skeleton, fk, limit_violation, project_pose

if TYPE_CHECKING:
    from inside.spatial import Floats

FORMS = ("twist x", "twist y", "twist z", *EULER_ORDERS, "hinge", "universal")
BONE = 0.4


def rig(kind: JointKind, limits: JointLimits | None, bone: Floats, seed: int = 0) -> Skeleton:
    """A parent, a joint with limits and a bone, a child, all turned anyhow at rest."""
    random = np.random.default_rng(seed)
    axes = np.zeros((3, 2, 3))
    if kind in (JointKind.HINGE, JointKind.UNIVERSAL, JointKind.SLIDE):
        axes[1, 0] = perpendicular(bone / np.linalg.norm(bone))
        axes[1, 1] = np.cross(axes[1, 0], bone / np.linalg.norm(bone)) if kind is JointKind.UNIVERSAL else 0.0
    return Skeleton(
        name="rig",
        names=("a", "b", "c"),
        parents=np.array([-1, 0, 1]),
        offsets=np.array([(0.1, 0.9, 0.2), (0.0, 0.3, 0.0), bone]),
        rest_rotations=normalized(random.normal(size=(3, 4))),
        kinds=(JointKind.FREE, kind, JointKind.BALL),
        axes=axes,
        limits=(None, limits, None),
        stiffness=np.zeros(3),
        tip_parents=np.array([2]),
        tip_offsets=np.array([[0.0, 0.1, 0.0]]),
    )


def limited_rig(form: str, seed: int) -> Skeleton:
    """A joint of a form with random ranges, its bone in any direction."""
    random = np.random.default_rng(seed)
    low = random.uniform(-1.4, -0.1, 3)
    ranges = [(float(a), float(b)) for a, b in zip(low, random.uniform(0.1, 1.4, 3), strict=True)]
    bone = random.normal(size=3)
    bone *= BONE / np.linalg.norm(bone)
    if form == "hinge":
        return rig(JointKind.HINGE, JointLimits.coordinates(ranges[0]), bone, seed)
    if form == "universal":
        return rig(JointKind.UNIVERSAL, JointLimits.coordinates(*ranges[:2]), bone, seed)
    if form.startswith("twist"):
        return rig(JointKind.BALL, JointLimits.swing_twist("xyz".index(form[-1]), *ranges), bone, seed)
    return rig(JointKind.BALL, JointLimits.euler(cast("EulerOrder", form), *ranges), bone, seed)


def inside(skeleton: Skeleton, seed: int) -> Pose:
    """A pose within the limits."""
    random = np.random.default_rng(seed + 1)
    return project_pose(skeleton, Pose(normalized(random.normal(size=(3, 4))), skeleton.offsets))


def with_joint(pose: Pose, skeleton: Skeleton, turn: Floats) -> Pose:
    """The pose, joint b turned by ``turn`` (4,) from its rest."""
    rotations = pose.rotations.copy()
    rotations[1] = multiply(skeleton.rest_rotations[1], turn)
    return Pose(rotations, pose.translations)


def only(shapes: tuple[object, ...], kind: type) -> object:
    (found,) = (shape for shape in shapes if isinstance(shape, kind))
    return found


@given(st.sampled_from(FORMS), seeds)
def test_every_point_of_a_rim_is_where_the_bone_is_exactly_at_a_limit(form: str, seed: int) -> None:
    skeleton = limited_rig(form, seed)
    pose = inside(skeleton, seed)
    world = fk(skeleton, pose)
    rim = only(ranges_of(skeleton, world, [1])[1], Swing)
    assert isinstance(rim, Swing)
    joint, now = limited_joint(skeleton, 1), joint_space(skeleton).measure(pose.rotations, pose.translations)[1]
    if form == "hinge":
        coordinates = np.zeros((49, 3))
        coordinates[:, 0] = np.linspace(joint.lower[0], joint.upper[0], 49)
        ends, step = [0, 48], 0.01 * (coordinates[[0, 48]] - coordinates[24])
    else:
        coordinates = edge_coordinates(joint, now)
        ends = list(range(0, 96, 7))
        centre = now.copy()
        centre[list(joint.free)] = 0.0
        step = 0.01 * (coordinates[ends] - centre)
    assert len(rim.rim) == len(coordinates)
    for at, turn, out in zip(
        ends, turns_of(joint, coordinates[ends]), turns_of(joint, coordinates[ends] + step), strict=True
    ):
        moved = with_joint(pose, skeleton, turn)
        tail = fk(skeleton, moved).positions[2] - world.positions[1]
        np.testing.assert_allclose(rim.rim[at], world.positions[1] + CONE_LENGTH * tail, atol=1e-9)
        assert limit_violation(skeleton, moved)[1] < 1e-7
        assert limit_violation(skeleton, with_joint(pose, skeleton, out))[1] > 1e-4
    np.testing.assert_allclose(np.linalg.norm(rim.rim - rim.apex, axis=1), CONE_LENGTH * BONE, rtol=1e-9)


@given(st.sampled_from(FORMS[:9]), seeds)
def test_the_needle_and_the_arc_are_the_twist_and_its_range(form: str, seed: int) -> None:
    """Turning the held coordinate by an angle turns the needle by that angle about the ring's normal."""
    skeleton = limited_rig(form, seed)
    pose = inside(skeleton, seed)
    ring = only(ranges_of(skeleton, fk(skeleton, pose), [1])[1], Twist)
    assert isinstance(ring, Twist)
    joint, now = limited_joint(skeleton, 1), joint_space(skeleton).measure(pose.rotations, pose.translations)[1]
    assert (ring.lower, ring.upper) == (joint.lower[joint.held], joint.upper[joint.held])
    assert ring.angle == pytest.approx(now[joint.held], abs=1e-12)
    assert abs(ring.across @ ring.over) < 1e-9
    normal = np.cross(ring.across, ring.over)
    turned = now.copy()
    turned[joint.held] += 0.05
    after = fk(skeleton, with_joint(pose, skeleton, turns_of(joint, turned[None])[0]))
    before = fk(skeleton, pose)
    tail, then = (world.positions[2] - world.positions[1] for world in (before, after))
    along = normal * (tail @ normal)
    aside, then_aside = tail - along, then - along
    np.testing.assert_allclose(then @ normal, tail @ normal, atol=1e-9)
    expected = math.cos(0.05) * aside + math.sin(0.05) * np.cross(normal, aside)
    np.testing.assert_allclose(then_aside, expected, atol=1e-9)


@given(st.floats(-0.2, 0.1), seeds)
def test_a_slides_rail_is_its_range(value: float, seed: int) -> None:
    skeleton = rig(JointKind.SLIDE, JointLimits.coordinates((-0.2, 0.1)), np.array([0.0, BONE, 0.0]), seed)
    way = rotate(skeleton.rest_rotations[1], skeleton.axes[1, 0])
    translations = np.array([skeleton.offsets + np.where(np.arange(3) == 1, d, 0.0)[:, None] * way for d in
                             (value, -0.2, 0.1)])  # fmt: skip
    now, low, high = (fk(skeleton, Pose(skeleton.rest_rotations, moved)).positions[1] for moved in translations)
    world = fk(skeleton, Pose(skeleton.rest_rotations, translations[0]))
    rail = only(ranges_of(skeleton, world, [1])[1], Travel)
    assert isinstance(rail, Travel)
    np.testing.assert_allclose([rail.lower, rail.upper, rail.now], [low, high, now], atol=1e-9)


def test_a_hinge_along_its_bone_has_a_ring_and_no_fan() -> None:
    skeleton = rig(JointKind.HINGE, JointLimits.coordinates((-0.5, 1.0)), np.array([0.0, BONE, 0.0]))
    axes = skeleton.axes.copy()
    axes[1, 0] = (0.0, 1.0, 0.0)
    skeleton = replace(skeleton, axes=axes)
    (ring,) = ranges_of(skeleton, fk(skeleton, skeleton.rest_pose()), [1])[1]
    assert isinstance(ring, Twist)
    assert (ring.lower, ring.upper, ring.angle) == pytest.approx((-0.5, 1.0, 0.0))


@pytest.mark.parametrize("limits", [
    JointLimits.swing_twist(1, UNLIMITED, (-1.0, 1.0), UNLIMITED),
    JointLimits.euler("xyz", UNLIMITED, UNLIMITED, UNLIMITED),
    JointLimits.swing_twist(1, (0.2, 0.2), UNLIMITED, (0.1, 0.1)),
])  # fmt: skip
def test_no_cone_where_a_bone_may_go_anywhere_or_nowhere(limits: JointLimits) -> None:
    skeleton = rig(JointKind.BALL, limits, np.array([0.0, BONE, 0.0]))
    shapes = ranges_of(skeleton, fk(skeleton, skeleton.rest_pose()), [1])[1]
    assert [type(shape) for shape in shapes] == [Twist]


@given(seeds)
def test_swing_ranges_that_are_more_than_half_a_turn_together_end_there(seed: int) -> None:
    random = np.random.default_rng(seed)
    wide = (-float(random.uniform(2.0, math.pi)), float(random.uniform(2.0, math.pi)))
    limits = JointLimits.swing_twist(1, wide, UNLIMITED, UNLIMITED if seed % 2 else wide)
    skeleton = rig(JointKind.BALL, limits, np.array([0.0, BONE, 0.0]), seed)
    joint = limited_joint(skeleton, 1)
    edge = edge_coordinates(joint, np.zeros(3))
    assert np.isfinite(edge).all()
    assert np.linalg.norm(edge, axis=1).max() <= math.pi + 1e-9
    pose = skeleton.rest_pose()
    for turn in turns_of(joint, edge)[::9]:
        assert limit_violation(skeleton, with_joint(pose, skeleton, turn))[1] < 1e-5


def scene_of(form: str = "twist y", **changes: object) -> Scene:
    skeleton = limited_rig(form, 4)
    return replace(Scene(skeleton, fk(skeleton, inside(skeleton, 4)), selected=frozenset([1])), **changes)  # type: ignore[arg-type]


def colours(scene: Scene) -> set[str]:
    """Names of the colours of a scene's lines."""
    found = {tuple(np.round(row, 4)) for row in draw_list(scene, seen(scene)).lines["colour"][:, :3].tolist()}
    return {
        name for name in ("accent", "limit", "text2", "text3", "effector") if tuple(np.round(PALETTE[name], 4)) in found
    }


def test_colours_say_selected_at_the_limit_other_and_off() -> None:
    ring = {"text3", "effector"}
    assert colours(scene_of()) == {"accent", *ring}
    assert colours(scene_of(at_limit=frozenset([1]))) == {"limit", *ring}
    assert colours(scene_of(outside=frozenset([1]))) == {"limit", *ring}
    everything = Display(limits="all")
    assert colours(scene_of(selected=frozenset(), display=everything)) == {"text2", *ring}
    assert colours(scene_of(limits_on=False, at_limit=frozenset([1]))) == ring
    assert colours(scene_of(unlimited=frozenset(["b"]))) == ring
    assert colours(scene_of(selected=frozenset())) == set()
    assert colours(scene_of(display=Display(limits="none"))) == set()


@pytest.mark.parametrize("form", FORMS)
def test_limits_that_are_off_have_dashes_and_no_faces(form: str) -> None:
    on, off = (draw_list(scene_of(form, limits_on=bound), seen(scene_of(form))) for bound in (True, False))
    assert len(on.triangles) == 3 * (48 if form == "hinge" else 96)
    assert len(off.triangles) == 0
    assert 0 < len(off.lines) < len(on.lines)


def test_faces_are_fainter_at_the_apex() -> None:
    scene = scene_of()
    faces = draw_list(scene, seen(scene)).triangles.reshape(-1, 3)
    np.testing.assert_allclose(faces["colour"][:, :, 3], np.tile([0.04, 0.15, 0.15], (96, 1)), rtol=1e-6)
    np.testing.assert_allclose(faces["position"][:, 0], np.tile(scene.world.positions[1], (96, 1)), atol=1e-6)


@given(seeds)
def test_symmetric_limits_have_a_symmetric_rim(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, c = random.uniform(0.1, 1.5, 2).tolist()
    assume(abs(a - c) > 1e-3)
    limits = JointLimits.swing_twist(1, (-a, a), (-1.0, 1.0), (-c, c))
    skeleton = replace(
        rig(JointKind.BALL, limits, np.array([0.0, BONE, 0.0])), rest_rotations=np.tile([0.0, 0.0, 0.0, 1.0], (3, 1))
    )
    rim = only(ranges_of(skeleton, fk(skeleton, skeleton.rest_pose()), [1])[1], Swing)
    assert isinstance(rim, Swing)
    points = rim.rim - rim.apex
    for mirror in ((-1.0, 1.0, 1.0), (1.0, 1.0, -1.0)):
        apart = np.linalg.norm(points[:, None] - (points * mirror)[None], axis=2).min(axis=1)
        assert apart.max() < 1e-9
    reach = {math.sin(a): 2, math.sin(c): 0}
    for most, axis in reach.items():
        assert abs(points[list(rim.meridians), axis]).max() == pytest.approx(CONE_LENGTH * BONE * most, abs=1e-9)
