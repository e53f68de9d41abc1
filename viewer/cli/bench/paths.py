"""Paths that a cursor takes: out and back within reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.ik.solution import Status
from viewer.skeleton.pose import Pose

if TYPE_CHECKING:
    from viewer.cli.bench.problems import Problems
    from viewer.ik.solver import Solver
    from viewer.spatial.checks import Floats

SIZE_M = 0.3
"""How far a line goes out; how wide a loop is."""
_FRAMES = 60
_CHECKED = (_FRAMES // 4, _FRAMES // 2, 3 * _FRAMES // 4)


def out_and_back(
    solver: Solver, starts: Problems, shape: str, seed: int, tries: int
) -> list[tuple[Pose, Floats, Floats]]:
    """One path per start for which one is found.

    Args:
        solver: says what is within reach: a one-shot solve of places on the way.
        starts: whose hidden poses the drags begin at.
        shape: "line" or "loop".
        seed: of the directions, and of which effector goes.
        tries: directions that are tried for each start.

    Returns:
        Start pose, targets (F, G, 3), turns (G, 4).
    """
    random = np.random.default_rng([seed, len(shape)])
    found = []
    for places, turns, rotations, translations in zip(
        starts.targets, starts.turns, starts.rotations, starts.translations, strict=True
    ):
        start = Pose(rotations, translations)
        for _ in range(tries):
            targets = np.tile(places, (_FRAMES + 1, 1, 1))
            targets[:, random.integers(len(places))] += _walk(shape, random)
            on_the_way = (solver.solve(start, targets=targets[k], target_rotations=turns) for k in _CHECKED)
            if all(solution.status is Status.CONVERGED for solution in on_the_way):
                found.append((start, targets, turns))
                break
    return found


def _walk(shape: str, random: np.random.Generator) -> Floats:
    """(F, 3) metres from the start: eased, ending where it began."""
    first, second = np.linalg.qr(random.normal(size=(3, 2)))[0].T
    turn = np.linspace(0.0, 2.0 * np.pi, _FRAMES + 1)[:, None]
    out = 0.5 * SIZE_M * (1.0 - np.cos(turn))
    if shape == "line":
        return np.asarray(out * first)
    return np.asarray(out * first + 0.5 * SIZE_M * np.sin(turn) * second)
