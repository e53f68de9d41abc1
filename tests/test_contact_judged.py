"""Answers with contact, judged by measures that share no code with the solver: figures of all sorts, closing hands.

`benchmarks/contact.py` and `benchmarks/grip.py` run thousands.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from conftest import ROOT

import viewer
from viewer import Contact, Solver, Sphere

sys.path.insert(0, str(ROOT / "benchmarks"))
from contact_distances import Judge
from contact_problems import Figure, free_poses, random_figures, sample

THROUGH_M, MET_M = 1e-3, 1e-3


def met_and_deepest(figure: Figure, count: int) -> tuple[int, float]:
    """How many problems made from free poses are met, and the deepest overlap of any answer, metres."""
    contact = Contact(bodies=True)
    solver = Solver(figure.skeleton, figure.goals(), contact=contact, backend="numpy")
    judge, rest = Judge(figure.skeleton, contact), figure.skeleton.rest_pose()
    met, deepest = 0, 0.0
    for hidden in free_poses(figure, count, 3):
        assert judge.depths(hidden).bodies > 0.0
        targets = figure.places(hidden)
        pose = solver.solve(rest, targets).pose
        met += bool(np.linalg.norm(figure.places(pose) - targets, axis=-1).max() <= MET_M)
        deepest = max(deepest, -judge.depths(pose).bodies)
        assert np.max(viewer.limit_violation(figure.skeleton, pose)) < 1e-3
    return met, deepest


def test_random_figures_meet_what_a_free_pose_meets_and_go_through_nothing() -> None:
    found = [met_and_deepest(figure, 4) for figure in random_figures(10, 3)]
    assert sum(met for met, _ in found) >= 39
    assert max(deepest for _, deepest in found) < THROUGH_M


def test_a_raptor_meets_what_a_free_pose_meets_and_goes_through_nothing() -> None:
    met, deepest = met_and_deepest(sample("raptor"), 6)
    assert met == 6
    assert deepest < THROUGH_M


def test_a_hand_closes_on_a_box_and_does_not_go_into_it() -> None:
    pytest.importorskip("trimesh")
    import grip  # noqa: PLC0415 - it needs trimesh

    grasp = next(one for one in grip.grasps() if one.name == "box")
    found = grip.gripped(grasp, "numpy", 0)
    assert found.states == ["on"] * 5
    assert found.depths.least > -THROUGH_M
    assert found.outside < 1e-3
    assert found.moved < 1e-3


def test_the_judge_sees_what_goes_through() -> None:
    """An object put where a hand is, and an arm put through the trunk."""
    biped = sample("biped")
    relaxed = biped.skeleton.relaxed_pose()
    hand, chest = (
        viewer.fk(biped.skeleton, relaxed).positions[biped.skeleton.index(name)] for name in ("LeftHand", "Spine1")
    )
    held = Judge(biped.skeleton, Contact(objects=[Sphere("ball", hand, 0.05)]))
    assert held.depths(relaxed).objects < -0.05
    solver = Solver(biped.skeleton, [viewer.Goal.position("LeftHand", chest)], backend="numpy", root="locked")
    through = Judge(biped.skeleton, Contact(bodies=True)).depths(solver.solve(relaxed).pose)
    assert through.bodies < -0.03
    assert Judge(biped.skeleton, Contact(floor=0.5)).depths(relaxed).floor == pytest.approx(-0.5, abs=1e-3)
