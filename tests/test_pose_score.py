"""The score of poses: a perfect solver has no error, a bad one shows it, and the relaxed start and spreads help."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from conftest import ROOT
from inside.spatial import from_axis_angle, multiply

from viewer import load
from viewer.skeleton import Pose

sys.path.insert(0, str(ROOT / "benchmarks"))
from pose_score import Given, prepare, score
from poses import LeastSquares

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pose_score import Solve, Trial

    from viewer.ik import Goal
    from viewer.skeleton import Skeleton


@pytest.fixture(scope="module")
def walk() -> Trial:
    trial = prepare(load("sample:walk"), 6)
    assert trial is not None
    return trial


def answering(poses: Iterator[Pose]) -> Solve:
    """A solver that knows the answers."""

    def solve(skeleton: Skeleton, goals: list[Goal], start: Pose, root: str) -> Pose:
        del skeleton, goals, start, root
        return next(poses)

    return solve


def test_what_is_derived_from_the_clip_is_taken_off(walk: Trial) -> None:
    character = load("sample:walk")
    assert any(limits is not None for limits in character.skeleton.limits)
    assert walk.skeleton.limits == (None,) * len(walk.skeleton)
    assert len(walk.frames) == 6
    assert walk.height == pytest.approx(1.7, abs=0.1)


@pytest.mark.parametrize("given", Given)
def test_the_hidden_pose_itself_has_no_error(walk: Trial, given: Given) -> None:
    found = score(walk, given, answering(walk.clip.pose(frame) for frame in walk.frames.tolist()))
    assert (found.position_cm, found.flips_percent, found.reach_percent) == (0.0, 0.0, 100.0)
    assert found.angle_deg < 1e-5


def test_an_error_of_a_centimetre_is_one_of_a_person_of_that_height(walk: Trial) -> None:
    def off(frame: int) -> Pose:
        pose = walk.clip.pose(frame)
        translations = pose.translations.copy()
        translations[0, 0] += 0.01
        return Pose(pose.rotations, translations)

    found = score(walk, Given.NOTHING, answering(off(frame) for frame in walk.frames.tolist()))
    assert found.position_cm == pytest.approx(1.75 / walk.height)
    assert found.reach_percent == 0.0


def test_knees_that_bend_forward_are_flips(walk: Trial) -> None:
    knees = [leg.lower for leg in walk.figure.legs]

    def broken(frame: int) -> Pose:
        pose = walk.clip.pose(frame)
        rotations = pose.rotations.copy()
        rotations[knees] = multiply(rotations[knees], from_axis_angle((1.0, 0.0, 0.0), -2.0))
        return Pose(rotations, pose.translations)

    assert score(walk, Given.NOTHING, answering(broken(frame) for frame in walk.frames.tolist())).flips_percent > 20.0


def test_the_root_is_given_or_not(walk: Trial) -> None:
    calls: list[tuple[str, int, bool]] = []

    def solve(skeleton: Skeleton, goals: list[Goal], start: Pose, root: str) -> Pose:
        del skeleton
        calls.append((root, len(goals), goals[0].target_rotation is not None))
        return start

    for given in Given:
        score(replace(walk, frames=walk.frames[:1]), given, solve)
    assert calls == [("locked", 5, False), ("free", 5, False), ("free", 5, True)]


def test_the_relaxed_start_and_the_spreads_help(walk: Trial) -> None:
    weighed, plain = (score(walk, Given.NOTHING, LeastSquares(weighed=w)) for w in (True, False))
    assert weighed.position_cm < plain.position_cm
    assert weighed.angle_deg < plain.angle_deg
    assert weighed.flips_percent == 0.0
    assert weighed.reach_percent == 100.0


def test_what_is_no_person_is_not_scored() -> None:
    assert prepare(load("sample:raptor")) is None
    assert prepare(replace(load("sample:walk"), clips={})) is None


def test_bones_that_lie_anywhere_are_scored_on_the_half_that_was_not_looked_at(shared: Path) -> None:
    trial = prepare(load(shared / "data" / "bvh" / "bandai1_bow_active_001.bvh"), 5)
    assert trial is not None
    assert trial.frames.min() == len(trial.clip) // 2
    assert trial.skeleton.limits == (None,) * len(trial.skeleton)
    assert not trial.skeleton.relaxed_pose().same_as(trial.skeleton.rest_pose())


@pytest.mark.parametrize(
    ("stem", "most"),
    [("dme_example", (2.3, 5.5, 3.3)), ("pybvh_example", (2.5, 5.5, 3.3)), ("axisneuron_test", (2.3, 5.5, 3.3))],
)
def test_real_poses_are_found_again(shared: Path, stem: str, most: tuple[float, float, float]) -> None:
    trial = prepare(load(shared / "data" / "bvh" / f"{stem}.bvh"), 5)
    assert trial is not None
    found = [score(trial, given, LeastSquares(weighed=True)) for given in Given]
    assert (np.array([s.position_cm for s in found]) <= most).all()
    assert [s.flips_percent for s in found] == [0.0, 0.0, 0.0]
