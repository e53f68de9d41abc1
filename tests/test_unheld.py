"""Frames that a kind cannot hold: solves begin at their projection, in joints that goals move and in all others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import rigs
from characters import rig
from hypothesis import given, settings
from hypothesis import strategies as st
from inside.ik import KindProjection
from inside.skeleton import joint_space
from inside.spatial import angle_between, from_axis_angle

from viewer.ik import Goal, Solver
from viewer.skeleton import Pose, project_pose

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
KINDS: tuple[dict[str, Any], ...] = (
    {"kind": "hinge", "axis": X},
    {"kind": "hinge", "axis": X, "limits": {"angle": [-90, 90]}},
    {"kind": "universal", "axes": [X, Y]},
    {"kind": "slide", "axis": Y},
    {"kind": "fixed"},
)


@pytest.mark.parametrize("limits", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_that_no_goal_moves_stands_as_its_kind_can(kind: dict[str, Any], limits: bool) -> None:
    # b has a goal, c has none.
    skeleton = rig({"kind": "fixed"}, {"kind": "hinge", "axis": X}, kind | {"parent": "a"}).skeleton
    rotations = skeleton.rest_rotations.copy()
    rotations[2] = from_axis_angle(Z, 1.0)
    turned = Pose(rotations, skeleton.offsets)
    solver = Solver(skeleton, [Goal.position("b", (0, 1, 0), offset=(0, 1, 0))], limits=limits, backend="numpy")
    ought = project_pose(skeleton, turned, limits=limits)
    for solution in (solver.solve(turned), solver.drag(turned).move()):
        assert solution.start_outside
        np.testing.assert_allclose(angle_between(solution.pose.rotations[2], ought.rotations[2]), 0.0, atol=1e-7)
    many = solver.solve_batch([turned, skeleton.rest_pose()])
    np.testing.assert_allclose(angle_between(many.rotations[0, 2], ought.rotations[2]), 0.0, atol=1e-7)
    assert not solver.solve(ought).start_outside


@pytest.mark.parametrize("kind", KINDS[:3])
def test_a_joint_of_a_chain_that_stands_as_its_kind_cannot_is_said_to(kind: dict[str, Any]) -> None:
    skeleton = rig({"kind": "fixed"}, kind).skeleton
    rotations = skeleton.rest_rotations.copy()
    rotations[1] = from_axis_angle(Z, 0.5)
    solver = Solver(skeleton, [Goal.position("b", (0, 1, 1), offset=(0, 1, 0))], backend="numpy")
    assert solver.solve(Pose(rotations, skeleton.offsets)).start_outside
    assert not solver.solve(skeleton.rest_pose()).start_outside


def test_a_slide_beside_its_axis_comes_back_to_it() -> None:
    skeleton = rig({"kind": "fixed"}, {"kind": "slide", "axis": Y}).skeleton
    moved = skeleton.offsets.copy()
    moved[1] += (0.0, 0.3, 0.2)
    _, places, unheld = KindProjection(skeleton).held(skeleton.rest_rotations, moved)
    assert unheld is not None
    assert unheld.tolist() == [False, True]
    np.testing.assert_allclose(places[1] - skeleton.offsets[1], (0.0, 0.3, 0.0), atol=1e-12)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_just_what_kinds_cannot_hold_is_found(seed: int) -> None:
    random = np.random.default_rng(seed)
    skeleton = rigs.random_skeleton(random, int(random.integers(1, 10)))
    space, unheld = joint_space(skeleton), KindProjection(skeleton)
    any_pose = rigs.random_pose(random, skeleton)
    turns, places = space.rebuild(
        space.measure(any_pose.rotations, any_pose.translations), any_pose.rotations, any_pose.translations
    )
    kept, _, off = unheld.held(turns, places)
    assert off is None
    assert kept is turns
    odd = turns.copy()
    joint = int(random.integers(len(skeleton)))
    turn = random.normal(size=4)
    odd[joint] = turn / np.linalg.norm(turn)
    measured = space.rebuild(space.measure(odd, places), odd, places)[0]
    wrong = bool(angle_between(measured[joint], odd[joint]) > 1e-4)
    found, _, off = unheld.held(odd, places)
    assert (off is not None) is wrong
    np.testing.assert_allclose(angle_between(found[joint], measured[joint]), 0.0, atol=1e-5)
    assert np.delete(found, joint, axis=0).tolist() == np.delete(odd, joint, axis=0).tolist()
