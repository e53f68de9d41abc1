"""The same file, goals and settings give the same bits: twice, in two processes, whatever happened before."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from conftest import ROOT
from inside.ik import MethodName, backends, compiled_engine
from inside.spatial import from_axis_angle
from method_cases import planar

import viewer
from viewer import Goal, Pose, Solver, Status

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import hashlib
import viewer
from viewer import Goal, Solver

skeleton = viewer.load("sample:biped-hands").skeleton
goals = [Goal.position("LeftHand", (0.3, 1.9, 0.2)), Goal.position("RightHand", (-0.2, 0.3, 0.5)),
         Goal.aim("Head", (1.0, 1.0, 1.0), (0, 0, 1)), Goal.pin("LeftFoot"), Goal.distance("RightFoot", 0.4, (0, 0, 0))]
solution = Solver(skeleton, goals, backend="numpy", seed=3).solve(skeleton.relaxed_pose())
bits = solution.pose.rotations.tobytes() + solution.pose.translations.tobytes()
print(hashlib.sha256(bits).hexdigest(), solution.status, solution.iterations)
"""
ARM = planar(4, 45.0)


def printed(script: str = SCRIPT, **environment: str) -> str:
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment)
    return done.stdout


def bits(pose: Pose) -> str:
    return hashlib.sha256(pose.rotations.tobytes() + pose.translations.tobytes()).hexdigest()


def test_two_processes_agree_whatever_their_hash_seed_and_threads() -> None:
    one = printed(PYTHONHASHSEED="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    assert one == printed(PYTHONHASHSEED="2", OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2")
    assert len(one.split()) == 3


MADE_BY_ANOTHER = (
    """
import shutil
import sys
from viewer.ik import backends
from viewer.ik.compiled import numba_engine as engine

def made(**_):  # by another process, which takes half a minute
    asked.append(1)
    shutil.copytree(sys.argv[1], engine.cache_folder(), dirs_exist_ok=True)
    return True

asked, backends.compile_elsewhere = [], made
"""
    + SCRIPT.replace('backend="numpy"', 'backend="numba"')
    + """
kernels = engine._called.solve
print(len(asked), sum(kernels.stats.cache_hits.values()), sum(kernels.stats.cache_misses.values()), file=sys.stderr)
"""
)


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
def test_a_process_that_finds_nothing_compiled_asks_another_and_agrees_with_those_that_load(tmp_path: Path) -> None:
    """Code that a process compiled itself would differ in the last bits."""
    backends.compile_elsewhere()
    command = [sys.executable, "-c", MADE_BY_ANOTHER, str(compiled_engine.cache_folder())]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment) for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout.split()) == 3
    assert [run.stderr.split() for run in runs] == [["1", "1", "0"], ["0", "1", "0"]]


def reached(random: np.random.Generator) -> tuple[Pose, list[np.ndarray[tuple[int], np.dtype[np.float64]]]]:
    """A start and a target that another pose reaches."""
    start, hidden = (Pose(from_axis_angle((0, 0, 1), random.uniform(-0.78, 0.78, 4)), ARM.offsets) for _ in range(2))
    return start, [viewer.fk(ARM, hidden).point(3, ARM.tip_offsets[0])]


@pytest.mark.parametrize(
    "method", ["default", "ccd", "ccd-from-base", "fabrik", "transpose", "pseudo-inverse", "dls", "sdls"]
)
def test_what_was_solved_before_does_not_matter(method: MethodName) -> None:
    random = np.random.default_rng(0)
    goals = [Goal.position("j3.tip", (1, 1, 0))]
    used = Solver(ARM, goals, backend="numpy", method=method)
    for _ in range(3):
        start, target = reached(random)
        used.drag(start).move(target, iterations=3)
        fresh = Solver(ARM, goals, backend="numpy", method=method)
        one, two = fresh.solve(start, targets=target), used.solve(start, targets=target)
        assert (bits(one.pose), one.status, one.iterations) == (bits(two.pose), two.status, two.iterations)
        assert used.solve(start, targets=target).pose.same_as(one.pose)
        np.testing.assert_array_equal(one.errors_m, two.errors_m)


def test_diagnosis_and_batches_in_between_change_nothing() -> None:
    goals = [Goal.position("j3.tip", (1, 1, 0)), Goal.position("j1", (0, -1, 0))]
    solver = Solver(ARM, goals, backend="numpy")
    first = solver.solve(ARM.rest_pose())
    lines = first.diagnosis
    solver.solve_batch([ARM.rest_pose()] * 3)
    again = solver.solve(ARM.rest_pose())
    assert again.pose.same_as(first.pose)
    assert again.diagnosis == first.diagnosis == lines
    assert lines


def test_the_seed_changes_restarts_and_nothing_else() -> None:
    random = np.random.default_rng(1)
    goals = [Goal.position("j3.tip", (1, 1, 0))]
    one, other = (Solver(ARM, goals, backend="numpy", seed=seed) for seed in (0, 1))
    plain = Solver(ARM, goals, backend="numpy", restarts=False)
    differ = restarted = 0
    for _ in range(40):
        start, target = reached(random)
        once = plain.solve(start, targets=target)
        a, b = one.solve(start, targets=target), other.solve(start, targets=target)
        assert a.status is b.status is Status.CONVERGED
        # Who may restart finishes by a second step of the same factor, and so may need an iteration less.
        if once.status is Status.CONVERGED and once.iterations - a.iterations in {0, 1}:
            assert a.pose.same_as(b.pose)
        else:
            restarted += 1
            differ += not a.pose.same_as(b.pose)
    assert restarted > 0
    assert differ > 0


def test_the_global_generator_of_numpy_is_left_alone() -> None:
    before = str(np.random.get_state())  # noqa: NPY002 - what others may use
    start, target = reached(np.random.default_rng(2))
    Solver(ARM, [Goal.position("j3.tip", (1, 1, 0))], backend="numpy").solve(start, targets=target)
    assert str(np.random.get_state()) == before  # noqa: NPY002
