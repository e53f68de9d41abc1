"""Generalised coordinates, the Jacobian and the trace of a solver, clips from arrays: laws and bad input."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from inside.ik import MethodName
from strategies import quickly, random_clip, random_pose, random_skeleton, seeds

import viewer
from viewer import clip_at, coordinate_limits, coordinates, pose_at

WALK = viewer.load("sample:walk")
CHAIN = viewer.load("sample:chain-3").skeleton
BIPED = viewer.load("sample:biped").skeleton


@quickly
@given(seeds)
def test_a_pose_comes_back_from_its_coordinates(seed: int) -> None:
    skeleton = random_skeleton(seed, 1 + seed % 9)
    pose = viewer.project_pose(skeleton, random_pose(seed, skeleton))
    values = coordinates(skeleton, pose)
    assert values.shape == (skeleton.dof,) == (len(skeleton.dof_names),)
    again = pose_at(skeleton, values, pose)
    dots = np.abs(np.einsum("ji,ji->j", again.rotations, pose.rotations))
    np.testing.assert_allclose(dots, 1.0, atol=1e-9)
    np.testing.assert_allclose(again.translations, pose.translations, atol=1e-9)
    lower, upper = coordinate_limits(skeleton)
    assert (values >= lower - 1e-9).all()
    assert (values <= upper + 1e-9).all()


def test_a_clip_comes_back_from_its_coordinates() -> None:
    skeleton, clip = WALK.skeleton, WALK.clip
    assert clip is not None
    values = coordinates(skeleton, clip)
    assert values.shape == (len(clip), skeleton.dof)
    np.testing.assert_array_equal(values[7], coordinates(skeleton, clip.pose(7)))
    again = clip_at(skeleton, values, fps=clip.fps)
    assert again.fps == pytest.approx(clip.fps)
    np.testing.assert_allclose(
        viewer.fk_clip(skeleton, again).positions, viewer.fk_clip(skeleton, clip).positions, atol=1e-9
    )


def test_names_say_the_kind() -> None:
    both = viewer.Builder().add("r", kind="free").add("h", "r", kind="hinge", axis=(1, 0, 0)).add("b", "h").skeleton
    assert both.dof_names == ("r.tx", "r.ty", "r.tz", "r.rx", "r.ry", "r.rz", "h", "b.rx", "b.ry", "b.rz")


def goals(seed: int) -> list[viewer.Goal]:
    random = np.random.default_rng(seed)
    turn = viewer.quaternions.from_rotation_vector(random.normal(size=3))
    return [
        viewer.Goal.pose("LeftHand", random.normal(size=3), turn, weight=3.0),
        viewer.Goal.rotation("RightHand", turn, rotation_weight=0.1),
        viewer.Goal.aim("Head", random.normal(size=3) * 3.0, (0, 0, 1)),
        viewer.Goal.distance("LeftFoot", 0.2, random.normal(size=3)),
        viewer.Goal.position("RightFoot", random.normal(size=3), offset=(0.1, 0, 0), enabled=bool(seed % 2)),
        viewer.Goal.function(lambda world: world.positions[3] * world.positions[5], weight=2.0),
    ]


@settings(max_examples=3)
@given(seeds)
def test_the_jacobian_is_the_derivative_of_the_residuals_by_the_coordinates(seed: int) -> None:
    pose = viewer.project_pose(BIPED, random_pose(seed, BIPED))
    solver = viewer.Solver(BIPED, goals(seed), limits=False)
    found = solver.jacobian(pose)
    assert found.matrix.shape == (len(found.rows), BIPED.dof)
    assert found.dofs == BIPED.dof_names
    assert np.asarray(found) is found.matrix
    values, step = coordinates(BIPED, pose), 1e-6
    for column in np.random.default_rng(seed).integers(BIPED.dof, size=4).tolist():
        change = step * np.eye(BIPED.dof)[column]
        ends = [solver.jacobian(pose_at(BIPED, values + sign * change, pose)).residuals for sign in (1, -1)]
        numeric = -(ends[0] - ends[1]) / (2.0 * step)
        np.testing.assert_allclose(found.matrix[:, column], numeric, atol=2e-4 * (1.0 + np.abs(numeric).max()))


def test_rows_are_plain_metres_and_radians() -> None:
    start = BIPED.relaxed_pose()
    hand = viewer.fk(BIPED, start).positions[BIPED.index("LeftHand")]
    above = hand + np.array([0, 0.1, 0])
    solver = viewer.Solver(BIPED, [viewer.Goal.position("LeftHand", above, weight=7.0)])
    found = solver.jacobian(start)
    assert found.rows == ("LeftHand.x", "LeftHand.y", "LeftHand.z")
    np.testing.assert_allclose(found.residuals, (0, 0.1, 0), atol=1e-9)
    np.testing.assert_allclose(found.matrix[:, :3], np.eye(3), atol=1e-12)  # the root carries the hand along
    moved = solver.jacobian(start, targets=[hand])
    np.testing.assert_allclose(moved.residuals, 0.0, atol=1e-9)
    locked = viewer.Solver(BIPED, solver.goals, root="locked").jacobian(start)
    np.testing.assert_array_equal(locked.matrix[:, :6], 0.0)


@pytest.mark.parametrize("method", ["default", "ccd", "dls", "transpose"])
def test_a_trace_begins_at_the_start_and_ends_where_the_solve_does(method: MethodName) -> None:
    start = BIPED.relaxed_pose()
    solver = viewer.Solver(
        BIPED, [viewer.Goal.position("LeftHand", (0.5, 1.2, 0.3))], method=method, max_iterations=12, backend="numpy"
    )
    trace, solution = solver.trace(start), solver.solve(start)
    assert len(trace) == solution.iterations + 1
    assert trace[-1].pose.same_as(solution.pose)
    assert trace[-1].status == solution.status
    assert [step.iterations for step in trace] == list(range(len(trace)))
    np.testing.assert_allclose(viewer.fk(BIPED, trace[0].pose).positions, viewer.fk(BIPED, start).positions, atol=1e-9)
    assert trace[-1].errors_m[0] <= trace[0].errors_m[0]


def test_a_clip_from_arrays_and_its_slices() -> None:
    skeleton, clip = WALK.skeleton, WALK.clip
    assert clip is not None
    again = viewer.Clip.from_arrays(skeleton, clip.rotations, clip.local_translations(), fps=clip.fps, name="w")
    np.testing.assert_array_equal(again.local_translations(), clip.local_translations())
    assert again.fps == pytest.approx(clip.fps)
    root = viewer.Clip.from_arrays(skeleton, clip.rotations, clip.local_translations()[:, 0])
    assert root.translated.tolist() == [0]
    assert root.frame_time == pytest.approx(1 / 30)
    still = viewer.Clip.from_arrays(skeleton, clip.rotations.tolist()[:2], fps=10)
    assert (len(still), still.translated.size) == (2, 0)
    part = clip[10:20]
    assert len(part) == 10
    assert part.pose(3).same_as(clip.pose(13))
    assert part.fps == clip.fps
    assert clip[-1].same_as(clip.pose(len(clip) - 1))
    assert len(clip[::2]) == (len(clip) + 1) // 2
    assert clip[::2].fps == pytest.approx(clip.fps / 2)
    assert clip[::-1].pose(0).same_as(clip[-1])
    assert sum(1 for _ in clip) == len(clip)


@quickly
@given(seeds)
def test_a_slice_has_the_poses_of_a_list(seed: int) -> None:
    clip = random_clip(seed, random_skeleton(seed, 3), 9)
    random = np.random.default_rng(seed)
    ends = random.integers(-12, 12, size=2).tolist()
    own = slice(ends[0], ends[1], int(random.choice([-2, -1, 1, 3])))
    expected = list(clip)[own]
    if not expected:
        with pytest.raises(viewer.InputError, match="expected at least one of 0 to 8"):
            _ = clip[own]
        return
    assert all(a.same_as(b) for a, b in zip(clip[own], expected, strict=True))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pose_at(BIPED, np.zeros(3)), r"coordinates: expected shape \(57,\), found \(3,\)"),
        (lambda: pose_at(BIPED, np.full(57, np.nan)), r"coordinates of Hips.tx: expected finite numbers, found nan"),
        (lambda: clip_at(BIPED, np.zeros((2, 3))), r"coordinates: expected shape \(any, 57\), found \(2, 3\)"),
        (lambda: coordinates(BIPED, BIPED), "expected a pose or clip, found a Skeleton"),  # type: ignore[arg-type]  # that is the point
        (lambda: coordinates(WALK, WALK.clip), "expected a skeleton, found a Character: pass character.skeleton"),  # type: ignore[arg-type]  # that is the point
        (lambda: coordinates(CHAIN, BIPED.rest_pose()), "expected rotations of 3 joints"),
        (lambda: viewer.Clip.from_arrays(BIPED, np.zeros((2, 3, 4))), 'clip "clip": rotations: expected shape'),
        (lambda: viewer.Clip.from_arrays(BIPED, np.zeros((2, 22, 4))), "expected a unit quaternion"),
        (lambda: viewer.Clip.from_arrays(BIPED, [BIPED.rest_rotations], fps=0), "fps: expected more than 0 frames per"),
        (lambda: viewer.Clip.from_arrays(BIPED, [BIPED.rest_rotations], [[0, 0]]), r"translations: expected shape"),
        (lambda: viewer.load("sample:walk").clip[1000], "no frame 1000: the clip has 0 to"),  # type: ignore[index]  # it has one
        (lambda: viewer.load("sample:walk").clip["a"], "clip frame: expected a whole number"),  # type: ignore[index,call-overload]  # that is the point
        (lambda: viewer.load("sample:walk").clip[::0], "clip frames: expected whole numbers and a step other than 0"),  # type: ignore[index]  # it has one
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(call: Callable[[], object], message: str) -> None:
    with pytest.raises(viewer.InputError, match=message):
        call()


def test_forward_kinematics_of_plain_arrays_and_what_it_refuses() -> None:
    skeleton, clip = WALK.skeleton, WALK.clip
    assert clip is not None
    plain = viewer.fk_arrays(skeleton.parents, clip.rotations, clip.local_translations())
    np.testing.assert_array_equal(plain.positions, viewer.fk_clip(skeleton, clip).positions)
    identity = viewer.quaternions.identity(1, 2)
    for parents, rotations, translations, message in (
        ([-1, 0], identity, np.zeros((1, 3, 3)), "translations: expected shape"),
        ([-1, 0, 1], identity, np.zeros((1, 2, 3)), "expected rotations of 3 joints, found 2"),
        ([1, -1], identity, np.zeros((1, 2, 3)), "parents: expected each parent before its children"),
        ([-1, 0], identity[0], np.zeros((1, 2, 3)), "rotations: expected shape"),
        ([-1, 0], identity, np.zeros((2, 2, 3)), "translations: expected 1 frames or 1, found 2"),
    ):
        with pytest.raises(viewer.InputError, match=message):
            viewer.fk_arrays(np.array(parents), rotations, translations)
