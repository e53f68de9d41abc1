"""Paths that a cursor takes: out and back within reach."""

from __future__ import annotations

import numpy as np

from viewer.cli.bench.problems import Problems
from viewer.ik.solution import Status
from viewer.ik.solver import Solver
from viewer.skeleton.pose import Pose
from viewer.spatial.checks import Floats

SIZES_M = (0.3, 0.15, 0.075)
"""How far a line goes out; how wide a loop is: the first that is within reach of half of the starts or more."""
BEYOND_M = 1.2
"""How far a path out of reach goes."""
_WAY_FRAMES, _STAY_FRAMES = 120, 30
_FRAMES = 60
_CHECKED = (_FRAMES // 4, _FRAMES // 2, 3 * _FRAMES // 4)


def out_and_back(
    solver: Solver, starts: Problems, shape: str, seed: int, tries: int, size_m: float
) -> list[tuple[Pose, Floats, Floats]]:
    """One path per start for which one is found.

    Args:
        solver: says what is within reach: a one-shot solve of places on the way.
        starts: whose hidden poses the drags begin at.
        shape: "line" or "loop".
        seed: of the directions, and of which effector goes.
        tries: directions that are tried for each start.
        size_m: see `SIZES_M`.

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
            targets[:, random.integers(len(places))] += size_m * _walk(shape, random)
            on_the_way = (solver.solve(start, targets=targets[k], target_rotations=turns) for k in _CHECKED)
            if all(solution.status is Status.CONVERGED for solution in on_the_way):
                found.append((start, targets, turns))
                break
    return found


def beyond(starts: Problems, seed: int) -> list[tuple[Pose, Floats, Floats]]:
    """One path per start: one effector goes `BEYOND_M` out, farther than it reaches, stays there and comes back.

    Returns:
        Start pose, targets (F, G, 3), turns (G, 4).
    """
    random = np.random.default_rng([seed, 1])
    there = np.linspace(0.0, 1.0, _WAY_FRAMES + 1)
    parts = np.concatenate([there, np.ones(_STAY_FRAMES), there[::-1]])
    paths = []
    for places, turns, rotations, translations in zip(
        starts.targets, starts.turns, starts.rotations, starts.translations, strict=True
    ):
        way = random.normal(size=3)
        targets = np.tile(places, (len(parts), 1, 1))
        targets[:, random.integers(len(places))] += BEYOND_M * parts[:, None] * way / np.linalg.norm(way)
        paths.append((Pose(rotations, translations), targets, turns))
    return paths


def _walk(shape: str, random: np.random.Generator) -> Floats:
    """(F, 3) places of a path one metre in size, seen from its start: eased, ending where it began."""
    first, second = np.linalg.qr(random.normal(size=(3, 2)))[0].T
    turn = np.linspace(0.0, 2.0 * np.pi, _FRAMES + 1)[:, None]
    out = 0.5 * (1.0 - np.cos(turn))
    if shape == "line":
        return np.asarray(out * first)
    return np.asarray(out * first + 0.5 * np.sin(turn) * second)
