"""A solution where a pose is wanted, a character where a skeleton is: one line that says what to pass instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import viewer
from viewer import Goal, Solver

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
