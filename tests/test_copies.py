"""Values and solvers by `pickle` and `copy.deepcopy`: equal to the last bit, checked and read-only again."""

from __future__ import annotations

import copy
import pickle
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pytest
from sessions import QUICK

import viewer
from viewer import Goal, Solver, Status

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

WALK = viewer.load("sample:walk")
BIPED = viewer.load("sample:biped").skeleton
START = BIPED.relaxed_pose()
NEAR = [Goal.position("LeftHand", (0.4, 1.2, 0.3)), Goal.pin("RightFoot"), Goal.aim("Head", (0, 1, 2), (0, 0, 1))]
FAR = [Goal.position("LeftHand", (0.4, 9.2, 0.3)), Goal.pin("RightFoot"), Goal.pin("Head", enabled=False)]


def pickled(value: T) -> T:
    again: T = pickle.loads(pickle.dumps(value))
    return again


COPIES = pytest.mark.parametrize("copied", [pickled, copy.deepcopy, copy.copy])


@COPIES
def test_a_copied_skeleton_solves_to_the_same_bits(copied: Callable[[Any], Any]) -> None:
    skeleton: viewer.Skeleton = copied(BIPED)
    for goals in (NEAR, FAR):
        mine, theirs = (Solver(bones, goals, backend=QUICK).solve(START) for bones in (BIPED, skeleton))
        assert theirs.pose.same_as(mine.pose)
        assert (theirs.status, theirs.iterations) == (mine.status, mine.iterations)
    assert isinstance(skeleton.poses, MappingProxyType)
    assert list(skeleton.poses) == list(BIPED.poses)
    for limits, own in zip(skeleton.limits, BIPED.limits, strict=True):
        assert (limits is own is None) or (limits is not None and limits.same_as(own))


@COPIES
def test_copies_are_read_only(copied: Callable[[Any], Any]) -> None:
    character: viewer.Character = copied(WALK)
    assert isinstance(character.clips, MappingProxyType)
    assert WALK.clip is not None
    assert character.clip is not None
    np.testing.assert_array_equal(character.clip.rotations, WALK.clip.rotations)
    assert (character.source, character.warnings, character.limits_from) == (WALK.source, WALK.warnings, "human+clip")
    pose: viewer.Pose = copied(START)
    limits = character.skeleton.limits[1]
    assert limits is not None
    for array in (
        character.clip.rotations, character.clip.translated, character.skeleton.offsets, character.skeleton.parents,
        limits.lower, pose.rotations, pose.translations,
    ):  # fmt: skip
        assert not array.flags.writeable
    assert pose.same_as(START)


@COPIES
@pytest.mark.parametrize("goals", [NEAR, FAR])
def test_a_copied_solution_says_the_same(copied: Callable[[Any], Any], goals: list[Goal]) -> None:
    solution = Solver(BIPED, goals, backend=QUICK).solve(START)
    again: viewer.Solution = copied(copied(solution))
    assert again.pose.same_as(solution.pose)
    assert again.report == solution.report
    np.testing.assert_array_equal(again.errors_m, solution.errors_m)
    np.testing.assert_array_equal(again.errors_deg, solution.errors_deg)
    assert (again.at_limit, again.diagnosis) == (solution.at_limit, solution.diagnosis)
    assert repr(again) == repr(solution)
    assert bool(again.diagnosis) is (solution.status is not Status.CONVERGED)


@COPIES
def test_a_copied_solver_is_the_same_solver(copied: Callable[[Any], Any]) -> None:
    solver = Solver(BIPED, NEAR, backend=QUICK, method="dls", max_iterations=40, preferred=START)
    again: Solver = copied(solver)
    assert again.goals == solver.goals
    assert (again.options.method, again.options.max_iterations) == ("dls", 40)
    assert again.solve(START).pose.same_as(solver.solve(START).pose)
    kept = solver.goals
    again.goals = FAR
    assert solver.goals == kept


@COPIES
def test_goals_are_equal_to_their_copies(copied: Callable[[Any], Any]) -> None:
    assert copied(NEAR + FAR) == NEAR + FAR


def test_what_is_printed_is_short() -> None:
    solver = Solver(BIPED, FAR, backend=QUICK)
    assert repr(solver) == "<Solver: default, 2 goals (1 more off), 22 joints>"
    assert repr(Solver(BIPED, NEAR[:1], method="dls")) == "<Solver: dls, 1 goal, 22 joints>"
    far = solver.solve(START)
    assert repr(far) == f"<Solution: unreachable, {far._findings.met[0]} of 2 goals met, {far.iterations} iterations>"
    near = Solver(BIPED, NEAR, backend=QUICK).solve(START)
    assert repr(near) == f"<Solution: converged, 3 of 3 goals met, {near.iterations} iterations>"
    assert repr(BIPED) == '<Skeleton "biped": 22 joints, 57 degrees of freedom>'
    assert repr(WALK) == '<Character "walk": 22 joints, "walk">'
    assert repr(WALK.clip) == '<Clip "walk": 68 frames of 22 joints, 2.27 s>'
    assert repr(START) == "<Pose: 22 joints>"


@pytest.mark.parametrize("goals", [NEAR, FAR])
def test_goals_are_counted_as_met_within_their_tolerances(goals: list[Goal]) -> None:
    solution = Solver(BIPED, goals, backend=QUICK, root="locked").solve(START)
    metres, degrees = solution.errors_m, solution.errors_deg
    asked = ~(np.isnan(metres) & np.isnan(degrees))
    near = ~((metres > 1e-3) | (degrees > 0.5))
    assert solution._findings.met == ((asked & near).sum(), asked.sum())
