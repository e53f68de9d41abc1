"""A solution where a pose is wanted, a character where a skeleton is: one line that says what to pass instead.

A goal that all restarts miss is searched for from other seeds before it is called unreachable.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.ik import Backend

import viewer
from viewer import Goal, Solver, Status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


FILE = viewer.load("sample:walk")
BIPED = viewer.load("sample:biped").skeleton
START = BIPED.relaxed_pose()
SOLVER = Solver(BIPED, [Goal.position("LeftHand", (0.4, 1.2, 0.3))], backend="numpy")
SOLUTION: Any = SOLVER.solve(START)
FK = "forward kinematics: "
NO_SKELETON = "expected a skeleton, found a Character: pass character.skeleton"
NO_POSE = "expected a pose, found a Solution: pass solution.pose"
NO_CHARACTER = "expected a character, found a Skeleton: pass viewer.Character(skeleton)"
NO_CLIP = "expected a clip, found a Character: pass character.clip"
OTHER: Any = FILE
BONES: Any = BIPED
NAME: Any = "walk.bvh"
PLACES: Any = np.zeros((1, 1, 3))
CLIP: Any = FILE.clip
MOVED: Any = viewer.retarget(FILE, viewer.Character(BIPED))


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(viewer.InputError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: viewer.fk(OTHER, START), FK + NO_SKELETON),
        (lambda: viewer.fk(BIPED, SOLUTION), FK + NO_POSE),
        (lambda: viewer.fk_clip(OTHER, OTHER), FK + NO_SKELETON),
        (lambda: viewer.fk_clip(FILE.skeleton, OTHER), FK + NO_CLIP),
        (lambda: viewer.limit_violation(OTHER, START), NO_SKELETON),
        (lambda: viewer.limit_violation(BIPED, SOLUTION), NO_POSE),
        (lambda: viewer.clip_violation(OTHER, OTHER), NO_SKELETON),
        (lambda: viewer.clip_violation(FILE.skeleton, OTHER), NO_CLIP),
        (lambda: viewer.project_pose(OTHER, START), NO_SKELETON),
        (lambda: viewer.project_pose(BIPED, SOLUTION), NO_POSE),
        (lambda: viewer.render(BIPED, SOLUTION), NO_POSE),
        (lambda: viewer.render(SOLUTION), "expected a skeleton, found a Solution"),
        (lambda: viewer.view(BONES, window="headless"), NO_CHARACTER),
        (lambda: Solver(OTHER, []), NO_SKELETON),
        (lambda: viewer.fit(PLACES, BONES), 'fit: expected a skeleton or None, found "array([[[0., 0., 0.]]])"'),
        (
            lambda: viewer.retarget(NAME, FILE),
            'retarget: source: expected a character, found "walk.bvh": pass viewer.load(file)',
        ),
        (lambda: viewer.fk(NAME, START), FK + 'expected a skeleton, found "walk.bvh": pass viewer.load(file).skeleton'),
        (lambda: viewer.save(MOVED, "x.bvh"), "expected a character, found a Retargeted: pass retargeted.character"),
        (
            lambda: viewer.save(CLIP, "x.bvh"),
            "expected a character, found a Clip: pass viewer.Character(skeleton, {clip.name: clip})",
        ),
        (lambda: SOLVER.solve(SOLUTION), "expected a pose to start from, found a Solution: pass solution.pose"),
        (lambda: SOLVER.drag(SOLUTION), "expected a pose to start from, found a Solution: pass solution.pose"),
        (
            lambda: SOLVER.solve_batch(SOLUTION),
            "solve_batch: expected a pose or a list of poses, found a Solution: pass solution.pose",
        ),
        (
            lambda: Solver(BIPED, SOLVER.goals, preferred=SOLUTION),
            "preferred: expected a pose or None, found a Solution: pass solution.pose",
        ),
    ],
)
def test_what_is_of_another_kind_is_named_with_the_way_out(call: Callable[[], object], message: str) -> None:
    assert refused(call) == message


def test_what_the_messages_say_to_pass_is_taken() -> None:
    assert viewer.fk(FILE.skeleton, FILE.skeleton.rest_pose()).positions.shape == (22, 3)
    assert viewer.project_pose(BIPED, SOLUTION.pose).same_as(SOLUTION.pose)
    assert viewer.Character(BIPED).skeleton is BIPED


def test_saving_refuses_in_one_line_and_writes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    shorter: Any = viewer.load("sample:two-link").skeleton.rest_pose()
    for call, message in (
        (lambda: viewer.save(FILE, out, pose=SOLUTION), NO_POSE),
        (lambda: viewer.save(BONES, out), NO_CHARACTER),
        (lambda: viewer.save(FILE, None), 'expected the name of a file, found "None"'),  # type: ignore[arg-type]
        (lambda: viewer.save(FILE, out, pose=shorter), "pose: expected 22 joints as the skeleton has, found 2"),
        (lambda: viewer.save(FILE, out, up=1), 'up: expected auto, y, z, found "1"'),  # type: ignore[arg-type]
        (
            lambda: viewer.save(FILE, out, precision="3"),  # type: ignore[arg-type]
            'precision: expected a whole number from 0 to 17 or None, found "3"',
        ),
    ):
        assert refused(call) == message
    assert not list(tmp_path.iterdir())
    assert viewer.save(viewer.Character(BIPED), out, pose=SOLUTION.pose, precision=8) == []
    read = viewer.load(out)
    assert read.clip is not None
    there = viewer.fk(read.skeleton, read.clip.pose(0)).positions
    here = viewer.fk(BIPED, SOLUTION.pose).positions[[BIPED.index(name) for name in read.skeleton.names]]
    np.testing.assert_allclose(there, here, atol=1e-6)


def test_a_joint_is_asked_for_by_its_name() -> None:
    number: Any = 3
    assert refused(lambda: BIPED.index(number)) == 'expected the name of a joint, found "3"'
    arm = viewer.load("sample:claw-arm").skeleton
    assert refused(lambda: arm.index("claw_a")) == 'no joint "claw_a": it is an effector of "finger_a3"'


def test_an_effector_a_joint_and_the_end_of_a_bone_have_their_places_by_name() -> None:
    world = viewer.fk(BIPED, START)
    for name in ("LeftHand", "LeftForeArm", "Head.tip"):
        found = BIPED.effector(name)
        solver = Solver(BIPED, [Goal.position(name, world.point(found.joint, found.offset))], backend="numpy")
        assert found.name == name
        assert solver.solve(START).errors_m.max() < 1e-12
    assert refused(lambda: BIPED.effector("LeftHandd")).startswith(
        'no effector, joint or tip "LeftHandd"; did you mean'
    )


def test_the_motion_of_a_retargeting_is_its_clip() -> None:
    assert MOVED.clip is MOVED.character.clip
    assert viewer.coordinates(BIPED, MOVED.clip).shape == (68, BIPED.dof)


PLACE = np.array([[0.0837, -0.1454, 0.8324]])
TURN = np.array([[-0.1053, -0.16907, -0.51511, -0.83366]])
TURN /= np.linalg.norm(TURN)
"""Of the tool: few of the arm's branches lead there."""


def arm() -> viewer.Skeleton:
    """Six hinges without limits, of no family that is solved in closed form: the third leans away from the second."""
    builder = viewer.Builder(name="arm")
    builder.add("base", None, (0, 0, 0), kind="fixed")
    above, x, y = "base", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    leaning = (math.cos(0.1), 0.0, math.sin(0.1))
    joints = (
        ((0.0, 0.1, 0.0), y), ((0.14, 0.0, 0.0), x), ((-0.12, 0.43, 0.0), leaning), ((0.0, 0.39, 0.0), x),
        ((0.09, 0.0, 0.0), y), ((0.0, 0.09, 0.0), x),
    )  # fmt: skip
    for number, (offset, axis) in enumerate(joints):
        builder.add(f"j{number}", above, offset, kind="hinge", axis=axis)
        above = f"j{number}"
    builder.effector("tool", above, (0.08, 0.0, 0.0))
    return builder.skeleton


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_what_can_be_met_is_not_called_unreachable(backend: Backend) -> None:
    skeleton = arm()
    solver = Solver(skeleton, [Goal.pose("tool", (0, 0, 0), (0, 0, 0, 1))], backend=backend)
    start = skeleton.rest_pose()
    solution = solver.solve(start, PLACE, TURN)
    assert solution.status is Status.CONVERGED
    assert solution.iterations > solver.options.max_iterations
    world = viewer.fk(skeleton, solution.pose)
    tool = world.point(skeleton.index("j5"), np.array((0.08, 0.0, 0.0)))
    assert np.linalg.norm(tool - PLACE[0]) < 1e-3
    batch = solver.solve_batch(start, np.stack([PLACE] * 3), np.stack([TURN] * 3))
    for i in range(3):
        assert batch.status[i] is Status.CONVERGED
        assert batch.iterations[i] == solution.iterations
        np.testing.assert_array_equal(batch.rotations[i], solution.pose.rotations)


def limited_arm() -> viewer.Skeleton:
    """Seven hinges of 1.2 radians to both sides."""
    builder = viewer.Builder(name="arm")
    builder.add("base", None, (0, 0, 0), kind="fixed")
    above, places = "base", ((0, 0.1), (0, 0.2), (0, 0.2), (0.08, 0.2), (-0.08, 0.2), (0, 0.2), (0.09, 0))
    for number, (x, y) in enumerate(places):
        axis = (1.0, 0.0, 0.0) if number % 2 else (0.0, 1.0, 0.0)
        builder.add(f"j{number}", above, (x, y, 0), kind="hinge", axis=axis, limits=(-1.2, 1.2))
        above = f"j{number}"
    builder.effector("tool", above, (0.05, 0, 0))
    return builder.skeleton


def test_limited_arm_with_a_freedom_left_meets_every_pose_inside_its_limits() -> None:
    skeleton = limited_arm()
    start, random = skeleton.rest_pose(), np.random.default_rng(5)
    solver = Solver(skeleton, [Goal.pose("tool", (0, 0, 0), (0, 0, 0, 1))], backend="numba")
    places, turns = [], []
    for _ in range(150):
        rotations = start.rotations.copy()
        for joint, angle in enumerate(random.uniform(-1.2, 1.2, 7), 1):
            axis = (0.0, 1.0) if joint % 2 else (1.0, 0.0)
            rotations[joint] = [*(np.sin(angle / 2) * np.array((*axis, 0.0))), np.cos(angle / 2)]
        world = viewer.fk(skeleton, viewer.Pose(rotations, start.translations))
        places.append(world.point(7, np.array((0.05, 0.0, 0.0)))[None])
        turns.append(world.rotations[7][None])
    found = [solver.solve(start, *one).status for one in zip(places, turns, strict=True)]
    assert set(found) == {Status.CONVERGED}
    assert set(solver.solve_batch(start, np.stack(places), np.stack(turns)).status) == {Status.CONVERGED}


def test_what_geometry_excludes_is_not_searched_for() -> None:
    skeleton = arm()
    solution = Solver(skeleton, [Goal.pose("tool", (2.0, 0.0, 0.0), (0, 0, 0, 1))]).solve(skeleton.rest_pose())
    assert solution.status is Status.UNREACHABLE
    assert solution.iterations <= 200
